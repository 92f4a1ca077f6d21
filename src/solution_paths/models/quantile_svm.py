"""Quantile SVM: every quantile tau of the asymmetric hinge loss."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..kernels import LINEAR, Kernel
from ..objectives import Hinge
from ..path import Path
from ..validation import Floats, Rows
from ..walks.staircase import hinge
from ..walks.walker import start
from .common import (
    Callback,
    Progress,
    check_walk,
    classification,
    finish,
    labelled,
    operator_of,
    path_function,
    total,
    walk_leg,
)
from .weighted_svm import check_sample_weight


def quantile_hinge(
    X: Rows, y: ArrayLike, lam: float, *, kernel: Kernel = LINEAR, intercept_scaling: float = 1.0
) -> Hinge:
    """Return the quantile SVM's objective, in t = tau; ``.at(tau)`` is that of one quantile.

    Its costs are equation (4) of the paper; see `quantile_svm_path`. X isn't copied: solvers reuse
    what they built for the very same rows.

    Parameters
    ----------
    X : (n, d) array or CSR matrix, or (n, n) Gram matrix
    y : (n,) array
        Two labels; the larger one is +1.
    lam : float
        Weight of the penalty, > 0.
    kernel : Kernel
    intercept_scaling : float
        Value of the appended feature; 0 means no bias.
    """
    samples = labelled(X, y, own=False) | {"kernel": kernel}
    return _hinge(
        samples, lam, intercept_scaling, np.full(len(samples["y"]), 1.0 / len(samples["y"]))
    )


def _hinge(samples: dict[str, Any], lam: float, intercept_scaling: float, shares: Floats) -> Hinge:
    y = samples["y"]
    return Hinge(
        **samples,
        lam=lam,
        bias="feature",
        intercept_scaling=intercept_scaling,
        cost0=np.where(y > 0, 2.0 * shares, 0.0),
        cost1=np.where(y > 0, -2.0 * shares, 2.0 * shares),
    )


@path_function
def quantile_svm_path(
    X: Rows,
    y: ArrayLike,
    lam: float,
    *,
    sample_weight: ArrayLike | None = None,
    kernel: str = "linear",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    intercept_scaling: float = 1.0,
    lazy: bool = True,
    callback: Callback | None = None,
    check: str = "warn",
) -> Path:
    """Compute the quantile SVM for every quantile tau from 0 to 1.

    Minimises, for all tau at once, ::

        lam/2 ||w||^2 + sum_i c_i max(0, 1 - y_i w.x_i),
        c_i = 2 (1 - tau) / n where y_i = +1, and 2 tau / n where y_i = -1,

    whose decision sign(w.x) estimates sign(P(Y = +1 | x) - tau). The bias is the weight of an
    appended feature of constant value, so it is under the penalty. With sample weights s_i their
    share s_i / sum_j s_j stands for 1/n.

    Parameters
    ----------
    X : (n, d) array or CSR matrix, or (n, n) Gram matrix with ``kernel="precomputed"``
        Rows are samples; units are the user's, scale columns alike. The path keeps a copy of its
        own (8 bytes an entry), or X itself if nobody can write to it: set
        ``X.flags.writeable = False`` to save the memory of a large Gram matrix. The columns of a
        DataFrame are remembered by name.
    y : (n,) array
        Two labels, booleans, numbers or strings; the larger one is +1.
    lam : float
        Weight of the penalty, > 0.
    sample_weight : (n,) array, optional
        Weights s_i >= 0, some of them positive in both classes; all alike by default.
    kernel : {"linear", "rbf", "poly", "precomputed"}
        rbf is ``exp(-gamma ||x - x'||^2)``, poly is ``(gamma x.x' + coef0)^degree``.
    gamma : float, "scale" or "auto", optional
        "scale" is 1 / (d Var(X)) with the variance of all entries, "auto" and the default 1 / d.
    degree : int, default 3
        Of poly, >= 1.
    coef0 : float, default 0.0
        Of poly, >= 0.
    intercept_scaling : float, default 1.0
        Value of the appended feature; 0 means no bias.
    lazy : bool, default True
        Look at a row only when it may have reached its margin. Off, every row is looked at for
        each breakpoint; the result is the same.
    callback : callable, optional
        Called now and then as ``callback(done, n_events)``, and at the end: neither ever goes
        back over the whole call, and done ends at 1.
    check : {"warn", "raise", "ignore"}
        What to do where the path is not reliable (see `Certificate`): a solution at its ends, or at
        some places between where a walk may go wrong, may be off by more than 1e-6. Warn
        (`PathWarning`), raise a `PathError` with the part that is exact, or don't look.

    Returns
    -------
    Path
        In ``tau``; ``dual`` gives 0 <= alpha_i <= c_i, and w = (1/lam) sum_i alpha_i y_i x_i.

    Raises
    ------
    ValueError, TypeError
        For bad input; the message names the argument and the remedy.
    PathError
        When the path can't be followed to its ends; ``error.path`` is the certified part.

    References
    ----------
    Yu, Vishwanathan and Zhang, "The Entire Quantile Path of a Risk-Agnostic SVM Classifier",
    equations (3), (4) and (8), Algorithm 1. Theirs starts at tau = 0, from an outside solver; this
    one starts itself at tau = 1/2 and walks both ways, so that it ends, and never begins, where
    all positives (tau = 0) or negatives (tau = 1) share the margin.

    Examples
    --------
    >>> from solution_paths import quantile_svm_path
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> y = ["no", "no", "yes", "no", "yes", "yes"]
    >>> path = quantile_svm_path(X, y, lam=0.1)
    >>> [decision.round(3).tolist() for decision in path.crossings([[3.2]])]  # where it flips
    [[0.743]]
    >>> path.predict([[3.2]], 0.73).tolist(), path.predict([[3.2]], 0.75).tolist()
    (['yes'], ['no'])
    >>> path.certify().ok
    True
    """
    check_walk(lazy, callback)
    samples = classification(X, y, kernel, gamma, degree, coef0)
    weights = check_sample_weight(sample_weight, X, samples)
    shares = weights / weights.sum()
    objective = _hinge(samples, lam, intercept_scaling, shares)
    op = operator_of(objective)
    stairs = hinge(objective.y, objective.cost0, objective.cost1)
    progress = Progress(callback, 3)
    walker = start(op, stairs, 0.5, lazy=lazy, callback=progress)
    progress.next(walker.start_events)
    start_events = walker.start_events
    legs, errors, counts = [], [], []
    begin = walker.snapshot()
    # With t = -(distance to the end), levels that vanish there keep their relative accuracy.
    for end, factor in ((1.0, 1.0), (0.0, -1.0)):
        walker.restore(begin, stairs.substitute(end, factor), -0.5)
        leg, _, error = walk_leg(walker, 0.0, end, factor, progress)
        legs.append(leg)
        errors += [error] if error else []
        counts.append(walker.statistics())
    diagnostics = total(*counts) | {"start_events": start_events}
    return finish("tau", legs, objective, diagnostics, errors[0] if errors else None, check=check)
