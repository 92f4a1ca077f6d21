"""Support vector machine: every cost C (that is, every 1 / lambda)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..engine.staircase import equality, hinge, stack
from ..engine.starts import balanced_guess, start_from_guess
from ..engine.state import DONE, RAY
from ..engine.tolerances import Tolerances
from ..objectives import Hinge
from ..path import Leg, Path
from ..validation import check_number
from .common import (
    Progress,
    check_walk,
    finish,
    labelled,
    operator_of,
    total,
    walk_leg,
    with_kernel,
)

# Below this share of the C where the walk begins, and above this multiple of 1 / mean(K_ii), duals
# are so small, or so large, that rounding would decide where breakpoints are.
NEARLY_ZERO = 1e-5
LARGEST = 1e10


def svm_path(
    X,
    y: ArrayLike,
    *,
    C_max: float = np.inf,
    kernel: str = "linear",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    lazy: bool = True,
    tolerances: Tolerances | None = None,
    callback=None,
) -> Path:
    """Compute the support vector machine for every cost C from 0 up.

    Minimises, for all C at once,

        1/2 ||w||^2 + C sum_i max(0, 1 - y_i (w.x_i + b)),

    with a free bias b. After the last breakpoint the solution is linear in C for ever (constant,
    when the classes are separable).

    Parameters
    ----------
    X : (n, d) array or CSR matrix, or (n, n) Gram matrix with ``kernel="precomputed"``
        Rows are samples.
    y : (n,) array
        Two labels; the larger one is +1.
    C_max : float
        Where to stop; by default after the last breakpoint. Breakpoints above 1e10 / mean(K_ii)
        can't be told from rounding and are not looked for.
    kernel, gamma, degree, coef0
        See `quantile_svm_path`.
    lazy : bool
        Look at a row only when it may have reached its margin; the result is the same.
    tolerances : Tolerances, optional
    callback : callable, optional
        See `quantile_svm_path`; done is a share of C_max, so that without one it leaps at the end.

    Returns
    -------
    Path
        In ``C``; ``dual`` gives 0 <= alpha_i <= C, and w = sum_i alpha_i y_i x_i.

    Raises
    ------
    ValueError
        For bad input; the message names the argument and the remedy.
    PathError
        When the path can't be followed to its end; ``error.path`` is the exact part.

    References
    ----------
    Hastie, Rosset, Tibshirani and Zhu (2004), "The entire regularization path for the support
    vector machine", JMLR 5. Their start, an outside solver at small C when the classes are
    unbalanced, is replaced by a walk from a balanced guess at a small C, from which the path goes
    down to 0 and up.
    """
    check_walk(lazy, tolerances, callback)
    C_max = check_number(C_max, "C_max", above=0, infinite=True)
    samples = with_kernel(labelled(X, y), kernel, gamma, degree, coef0)
    objective = Hinge(**samples, cost0=0.0, cost1=1.0, bias="free")
    y, n, one = objective.y, objective.n, objective.cost1
    op = operator_of(objective)
    stairs = stack(hinge(y, 0.0 * one, one), equality())
    begin = min(0.1 / max(op.diagonal[:n].sum(), 1e-300), C_max)
    guess, anchor = balanced_guess(op, y, begin * one)
    progress = Progress(callback, 3 if begin < C_max else 2)
    told = {"callback": progress, "anchor": anchor}
    walker = start_from_guess(op, stairs, begin, guess, tolerances, lazy, **told)
    start_events = walker.start_events
    progress.next(start_events)
    here = walker.snapshot()
    walker.restore(here, stairs.substitute(0.0, -1.0), -begin)
    down, _, error = walk_leg(walker, -NEARLY_ZERO * begin, 0.0, -1.0, lazy, progress)
    if error is None:
        down = Leg(down.trace.down_to_zero(n), 0.0, -1.0)
    counts = [walker.statistics()]
    legs = [down]
    ray = False
    if error is None and begin < C_max:
        walker.restore(here, stairs, begin)
        last = min(C_max, LARGEST / max(op.diagonal[:n].mean(), 1e-300))
        up, ending, error = walk_leg(walker, last, 0.0, 1.0, lazy, progress)
        ray = ending == RAY
        if ending == DONE and last < C_max:
            up, ray = Leg(up.trace.without_last(), 0.0, 1.0), True
        legs.append(up)
        counts.append(walker.statistics())
    diagnostics = total(*counts) | {"start_events": start_events, "ray": ray}
    return finish("C", legs, objective, diagnostics, error)
