"""Robust support vector machine: from the standard machine to one that ignores outliers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..objectives.robust import RobustHinge
from ..outliers import OutlierPath
from ..validation import Floats, Rows, check_choice, check_number
from ..walks.jumps import Walls
from ..walks.map import Map
from ..walks.staircase import hinge, staircases
from .common import Callback, Progress, check_walk, classification, path_function
from .outlier import HOMOTOPIES, convex_start, outlier_path, set_aside

NOWHERE = -1
# Pieces and kinks of y = +1, from low to high values: an outlier, its wall, no place, an inlier's
# wall, its cost, the margin, beyond. Those of y = -1 are in the opposite order.
OUT, COST, BEYOND = 0, 3, 4
BEFORE_SC = 1.0  # units of margin before s_C, where the path in s begins


def robust_hinge(
    X: Rows, y: Floats, C: float, homotopy: str = "theta", **options: Any
) -> RobustHinge:
    """Return the robust SVM's objective, in t = theta (with s = 0) or in t = s (with theta = 0).

    Parameters
    ----------
    X : (n, d) array or CSR matrix, or (n, n) Gram matrix
    y : (n,) array
        Labels -1 and +1.
    C : float
        Cost of each sample, > 0.
    homotopy : {"theta", "s"}
    options
        Others of `RobustHinge`.
    """
    C = check_number(C, "C", above=0)
    moved: dict[str, Any] = (
        {"theta0": 0.0, "theta1": 1.0} if homotopy == "theta" else {"theta0": 0.0, "s1": 1.0}
    )
    return RobustHinge(X, y, cost0=C, **moved, **options)


@path_function
def outlier_svm_path(
    X: Rows,
    y: ArrayLike,
    C: float,
    *,
    homotopy: str = "theta",
    kernel: str = "linear",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    lazy: bool = True,
    callback: Callback | None = None,
    check: str = "warn",
) -> OutlierPath:
    """Compute a path of local optima of the robust SVM, as outliers lose their influence.

    Minimises ::

        1/2 ||w||^2 + C sum_i l(y_i w.x_i),
        l(m) = max(0, 1 - m) where m >= s, else 1 - theta m - s,

    without a bias, for every theta from 1 to 0 with s = 0, or for every s up to 0 with theta = 0.
    A sample with a margin below s is an outlier. At theta = 1, and at s below the least margin
    s_C, this is the standard SVM; at theta = 0 and s = 0 outliers don't count.

    The objective isn't convex. The path begins at the optimum of the standard SVM and follows the
    local optimum that it turns into. Where a margin reaches s this optimum ends, and the path
    *jumps* to a better one. Samples whose row is zero have f = 0 for ever and are left alone.

    Parameters
    ----------
    X : (n, d) array or CSR matrix, or (n, n) Gram matrix with ``kernel="precomputed"``
        Rows are samples.
    y : (n,) array
        Two labels; the larger one is +1.
    C : float
        Cost of each sample, > 0.
    homotopy : {"theta", "s"}
        What moves.
    kernel, gamma, degree, coef0
        See `quantile_svm_path`.
    lazy : bool, default True
        Look at a row only when it may have reached its margin; the result is the same.
    callback, check
        See `quantile_svm_path`.

    Returns
    -------
    OutlierPath
        In ``theta`` on [0, 1], or in ``s`` from one unit before s_C (or -1) to 0; ``dual`` gives
        0 <= alpha_i <= C, or C theta for outliers.

    Raises
    ------
    ValueError, TypeError
        For bad input; the message names the argument and the remedy.
    PathError
        When the path can't be followed to its end; ``error.path`` is the certified part.

    References
    ----------
    Suzumura, Ogawa, Sugiyama, Karasuyama and Takeuchi, "Homotopy Continuation Approaches for Robust
    SV Classification and Regression", equations (2), (5) and (14), Theorems 3 and 4, Algorithms 1
    to 3. Theorem 3 needs a regular kernel matrix: otherwise samples may stay at the threshold, and
    a jump may change nothing but sides.

    Examples
    --------
    The label of the last sample is wrong:

    >>> from solution_paths import outlier_svm_path
    >>> X, y = [[-2.0], [-1.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes", "no"]
    >>> path = outlier_svm_path(X, y, C=1.0)
    >>> path.outliers(1.0).tolist(), path.outliers(0.0).tolist()
    ([False, False, False, False, True], [False, False, False, False, True])
    >>> path.coef(1.0).round(3).tolist(), path.coef(0.0).round(3).tolist()
    ([0.5], [1.0])
    >>> path.certify().ok
    True
    """
    check_walk(lazy, callback)
    check_choice(homotopy, "homotopy", HOMOTOPIES)
    objective = robust_hinge(
        **classification(X, y, kernel, gamma, degree, coef0), C=C, homotopy=homotopy
    )
    return robust_svm_path(
        objective,
        lazy=lazy,
        callback=callback,
        check=check,
    )


def robust_svm_path(
    objective: RobustHinge,
    *,
    op: Map | None = None,
    guess: Floats | None = None,
    lazy: bool = True,
    callback: Callback | None = None,
    check: str = "warn",
) -> OutlierPath:
    """Return the path of an objective in theta or s; see `outlier_svm_path`.

    Parameters
    ----------
    objective : RobustHinge
        From `robust_hinge`.
    op : Operator, optional
        Its map, from `operator_of`: objectives of the same rows can share one.
    guess : (n,) array, optional
        Signed duals near the optimum of the standard machine: the nearer, the faster the start.
    lazy, callback, check
        See `quantile_svm_path`.
    """
    y, C = objective.y, objective.C
    progress = Progress(callback, 2)
    walker = convex_start(objective, hinge(y, C), op, guess, lazy, progress)
    margins = y * walker.values()
    if objective.theta1:
        walls, begin, factor = _walls(y, C, -C, 0.0), -1.0, -1.0
        outlier = margins < 0
    else:
        walls, begin, factor = _walls(y, C, 0.0, 1.0), min(margins.min(), 0.0) - BEFORE_SC, 1.0
        outlier = np.zeros(len(y), dtype=bool)
    still = walker.op.diagonal[: len(y)] == 0.0
    state = _recode(walker.state, y, outlier & ~still)
    state[still] = 0
    set_aside(walls, still, np.where(y > 0, COST, BEYOND - COST))
    walker.stand(state)
    return outlier_path(walker, objective, walls, (begin, 0.0), factor, progress, check)


def _walls(y: Floats, C: float, cost1: float, rate: float) -> Walls:
    """Return staircases with walls at y times rate * t; an outlier's cost is t cost1."""
    n, inf = len(y), np.inf
    kinks, rates = [0.0, 0.0, 0.0, 1.0], [rate, rate, rate, 0.0]
    levels, level_rates = [0.0, -inf, inf, C, 0.0], [cost1, 0.0, 0.0, 0.0, 0.0]
    beyond = [COST, NOWHERE, OUT, NOWHERE]

    def both(values: list[float], sign: float) -> list[Floats]:
        """Return columns: the values for y = +1, in the opposite order and with sign for -1."""
        mirrored = [sign * v for v in values[::-1]]
        return [np.where(y > 0, up, down) for up, down in zip(values, mirrored, strict=True)]

    stairs = staircases(
        both(kinks, -1.0), both(levels, -1.0), both(rates, -1.0), both(level_rates, -1.0), size=n
    )
    mirror = [BEYOND - piece if piece != NOWHERE else NOWHERE for piece in beyond[::-1]]
    table = np.where(y[:, None] > 0, np.array(beyond), np.array(mirror))
    return Walls(stairs, table.astype(np.int8))


def _recode(state: NDArray[Any], y: Floats, outlier: NDArray[np.bool_]) -> NDArray[np.int8]:
    """Return the states among walls of those of the hinge, whose kink is the margin."""
    up = np.where(state <= 1, 2 * COST + state, 2 * BEYOND)
    up = np.where((state == 0) & outlier, 2 * OUT, up)
    down = np.where((state == 2) & outlier, 2 * BEYOND, state)
    return np.where(y > 0, up, down).astype(np.int8)
