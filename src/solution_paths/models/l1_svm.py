"""l1-penalised support vector machine: every penalty lam.

Samples and features are coordinates of one staircase system, tied by a saddle map without any
ridge. The pinned system is regular only with as many samples as features, so that every breakpoint
is a pair: a step in lam, and an exchange at fixed lam, which is the pivot of a parametric linear
programme. The path is piecewise constant in lam, with jumps.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ..objectives import L1Hinge
from ..path import Path
from ..validation import Floats, Rows
from ..walks.map import rows_map
from ..walks.staircase import equality, hinge, stack, staircases
from ..walks.walker import start
from .common import (
    Callback,
    Progress,
    check_walk,
    finish,
    labelled,
    path_function,
    scaled,
    to_zero,
    walk_leg,
)

LEAST = 1e-12  # of the terms of a correlation: what it is known to


@path_function
def l1_svm_path(
    X: Rows,
    y: ArrayLike,
    *,
    lazy: bool = True,
    callback: Callback | None = None,
    check: str = "warn",
) -> Path:
    """Compute the l1-penalised support vector machine for every lam.

    Minimises, for all lam at once, ::

        sum_i max(0, 1 - y_i (w.x_i + b)) + lam ||w||_1.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
        A CSR matrix is never made dense.
    y : (n,) array
        Two labels; the larger one is +1.
    lazy, callback, check
        See `quantile_svm_path`.

    Returns
    -------
    Path
        In ``lam``, from 0 to just above the least lam at which w = 0. At a jump any point between
        its two ends is optimal.

    Raises
    ------
    ValueError, TypeError
        For bad input; the message names the argument and the remedy.
    PathError
        When the path can't be followed to lam = 0; ``error.path`` is the certified part.

    References
    ----------
    Zhu, Rosset, Hastie and Tibshirani (2003), "1-norm support vector machines".

    Examples
    --------
    >>> from solution_paths import l1_svm_path
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [4.0, 1.0], [5.0, 0.0]]
    >>> y = ["no", "no", "yes", "no", "yes", "yes"]
    >>> path = l1_svm_path(X, y)
    >>> [path.coef(lam).round(3).tolist() for lam in (0.1, 0.9, 3.0)]  # one feature is left
    [[1.0, 3.0], [0.5, 0.5], [0.4, 0.0]]
    >>> path.certify().ok
    True
    """
    check_walk(lazy, callback)
    objective = L1Hinge(**scaled(labelled(X, y)))
    y, (n, d) = objective.y, objective.X.shape
    unit = objective.unit  # of columns, which all share the penalty, and of lam
    X = objective.centred / unit
    state, duals = _start(y, d)
    largest = float(np.abs(X.T @ duals[:n]).max())
    # where all columns are balanced, a penalty that is as good as none holds w = 0
    least = LEAST * float((abs(X).T @ np.abs(duals[:n])).max())
    largest = max(largest, least) or 1.0
    features = staircases(
        [0.0, 0.0],
        [np.inf, 0.0, -np.inf],
        kink_rates=[1.0, -1.0],  # in t = -lam / unit
        size=d,
    )
    stairs = stack(hinge(y, 1.0), features, equality())
    ones = np.ones((n, 1))
    op = rows_map(
        np.empty((n, 0)), sp.hstack([X, ones]) if sp.issparse(X) else np.hstack([X, ones])
    )
    walker = start(op, stairs, -1.001 * largest, state, -duals[n:], lazy)
    # The last stretch is linear; nearer to zero rounding would decide where breakpoints are.
    leg, _, error = walk_leg(
        walker, -max(1e-12 * largest, 1e-6 * least), 0.0, -unit, Progress(callback, 1)
    )
    if error is None:
        leg = to_zero(leg, n)
    return finish("lam", [leg], objective, walker.statistics(), error, check=check)


def _start(y: Floats, d: int) -> tuple[NDArray[np.int8], Floats]:
    """Return states and duals for a large lam: w = 0 and b = the label of the larger class.

    The smaller class is at full level and so are as many of the larger one, all of which tie at
    their kink; the next of these is pinned, together with the bias.
    """
    n = len(y)
    larger = 1.0 if (y > 0).sum() >= (y < 0).sum() else -1.0
    smaller_class, larger_class = np.flatnonzero(y != larger), np.flatnonzero(y == larger)
    full = np.concatenate([smaller_class, larger_class[: len(smaller_class)]])
    anchor = larger_class[min(len(smaller_class), len(larger_class) - 1)]
    state = np.full(n + d + 1, 2, dtype=np.int8)  # features: w = 0
    state[:n] = np.where(y > 0, 2, 0)
    state[full] = np.where(y[full] > 0, 0, 2)
    state[anchor] = state[-1] = 1
    duals = np.zeros(n + d + 1)
    duals[full] = y[full]
    duals[-1] = -larger
    return state, duals
