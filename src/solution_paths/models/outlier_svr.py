"""Robust support vector regression: from least absolute deviations to bounded errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..objectives.robust import RobustTube
from ..outliers import OutlierPath
from ..validation import Floats, Rows, check_choice, check_number
from ..walks.jumps import Walls
from ..walks.map import Map
from ..walks.staircase import staircases
from .common import Callback, Progress, check_walk, path_function, regression
from .outlier import HOMOTOPIES, convex_start, outlier_path, set_aside

LAST = 0.2  # of s_R: where the path in s ends
BEFORE_SR = 1.1  # times s_R: where it begins
ROUNDING = 1e-6  # of the targets' range: residuals below count as none
LEAST = 1e-7  # of the targets' range: no threshold may be smaller
# Pieces from low to high values: an outlier below its target, no places, an inlier on either side
# of its target, no places, an outlier above its target.
ABOVE, UP, DOWN, BELOW = 0, 3, 4, 7
NOWHERE = -1


def robust_tube(
    X: Rows, y: Floats, C: float, homotopy: str = "theta", s: float = 1.0, **options: Any
) -> RobustTube:
    """Return the robust SVR's objective, in t = theta (with s fixed) or in t = s (with theta = 0).

    Parameters
    ----------
    X : (n, d) array or CSR matrix, or (n, n) Gram matrix
    y : (n,) array
        Targets.
    C : float
        Cost of each sample, > 0.
    homotopy : {"theta", "s"}
    s : float
        The threshold of absolute residuals, > 0, in the units of y.
    options
        Others of `RobustTube`.
    """
    C = check_number(C, "C", above=0)
    theta = homotopy == "theta"
    moved: dict[str, Any] = {"theta1": 1.0, "s0": s} if theta else {"s1": 1.0}
    return RobustTube(X, y, cost0=C, theta0=0.0, **moved, **options)


@path_function
def outlier_svr_path(
    X: Rows,
    y: ArrayLike,
    C: float,
    *,
    homotopy: str = "theta",
    s: float | None = None,
    kernel: str = "linear",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    lazy: bool = True,
    callback: Callback | None = None,
    check: str = "warn",
) -> OutlierPath:
    """Compute a path of local optima of robust regression, as outliers lose their influence.

    Minimises ::

        1/2 ||w||^2 + C sum_i l(y_i - w.x_i),
        l(r) = |r| where |r| < s, else (|r| - s) theta + s,

    without a bias, for every theta from 1 to 0 with s fixed, or for s from where it matters down to
    some s > 0 with theta = 0. A sample with a residual above s is an outlier. The path begins at
    least absolute deviations with a ridge penalty; see `outlier_svm_path` for what it follows.

    Parameters
    ----------
    X : (n, d) array or CSR matrix, or (n, n) Gram matrix with ``kernel="precomputed"``
        Rows are samples.
    y : (n,) array
        Targets.
    C : float
        Cost of each sample, > 0.
    homotopy : {"theta", "s"}
        What moves.
    s : float, optional
        With ``homotopy="theta"`` the threshold, > 0, in the units of y (default 1); with "s" where
        the path ends (default a fifth of s_R, the largest residual of the standard machine).
    kernel, gamma, degree, coef0
        See `quantile_svm_path`.
    lazy : bool, default True
        Look at a row only when it may have reached its margin; the result is the same.
    callback, check
        See `quantile_svm_path`.

    Returns
    -------
    OutlierPath
        In ``theta`` on [0, 1], or in ``s`` from its end to 1.1 s_R; ``dual`` is signed, at most C
        or, for outliers, C theta in size.

    Raises
    ------
    ValueError, TypeError
        For bad input; the message names the argument and the remedy.
    PathError
        When the path can't be followed to its end; ``error.path`` is the certified part.

    References
    ----------
    Suzumura et al. (see `outlier_svm_path`), equations (6), (9) and (23), Theorem 5.

    Examples
    --------
    The outlier at 3 loses its influence:

    >>> from solution_paths import outlier_svr_path
    >>> X = [[-2.0], [-1.0], [1.0], [2.0], [3.0]]
    >>> y = [-2.0, -1.0, 1.0, 2.0, 9.0]
    >>> path = outlier_svr_path(X, y, C=0.3, s=2.0)
    >>> path.predict([[1.0]], 1.0).round(3).tolist(), path.predict([[1.0]], 0.0).round(3).tolist()
    ([1.0], [1.0])
    >>> path.certify().ok
    True
    """
    check_walk(lazy, callback)
    check_choice(homotopy, "homotopy", HOMOTOPIES)
    if s is not None:
        s = check_number(s, "s", above=0)
    samples = regression(X, y, kernel, gamma, degree, coef0)
    objective = robust_tube(**samples, C=C, homotopy=homotopy, s=1.0 if s is None else s)
    return robust_svr_path(
        objective,
        s,
        lazy=lazy,
        callback=callback,
        check=check,
    )


def robust_svr_path(
    objective: RobustTube,
    s: float | None = None,
    *,
    op: Map | None = None,
    guess: Floats | None = None,
    lazy: bool = True,
    callback: Callback | None = None,
    check: str = "warn",
) -> OutlierPath:
    """Return the path of an objective in theta or s; see `outlier_svr_path`.

    Parameters
    ----------
    objective : RobustTube
        From `robust_tube`.
    s : float, optional
        Where a path in s ends.
    op, guess, lazy, callback, check
        See `robust_svm_path`.
    """
    y, C, theta = objective.y, objective.C, bool(objective.theta1)
    threshold = objective.s0 if theta else s
    if threshold is not None and threshold < LEAST * objective.scale:
        raise ValueError(
            f"s = {threshold:g} is within the rounding of targets whose range is "
            f"{objective.scale:g}; take a larger threshold."
        )
    progress = Progress(callback, 2)
    standard = staircases([y], [C, -C], size=len(y))
    walker = convex_start(objective, standard, op, guess, lazy, progress)
    residual = np.abs(y - walker.values())
    if theta:
        walls, span = _walls(y, C, objective.s0, -C, 0.0), (-1.0, 0.0)
        outlier = residual > objective.s0
    else:
        largest = max(residual.max(), ROUNDING * objective.scale)
        end = LAST * largest if s is None else s
        walls, span = _walls(y, C, 0.0, 0.0, -1.0), (-max(BEFORE_SR * largest, 2.0 * end), -end)
        outlier = np.zeros(len(y), dtype=bool)
    still = walker.op.diagonal[: len(y)] == 0.0
    state = _recode(walker.state, outlier & ~still)
    state[still] = 0
    set_aside(walls, still, np.where(y >= 0, UP, DOWN))
    walker.stand(state)
    return outlier_path(walker, objective, walls, span, -1.0, progress, check)


def _walls(y: Floats, C: float, s0: float, cost1: float, s1: float) -> Walls:
    """Return staircases with walls at y -+ (s0 + t s1); an outlier's cost is t cost1."""
    low, high, inf = y - s0, y + s0, np.inf
    stairs = staircases(
        [low, low, low, y, high, high, high],
        [0.0, -inf, inf, C, -C, -inf, inf, 0.0],
        [-s1, -s1, -s1, 0.0, s1, s1, s1],
        [cost1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -cost1],
        size=len(y),
    )
    beyond = [UP, NOWHERE, ABOVE, NOWHERE, BELOW, NOWHERE, DOWN]
    return Walls(stairs, np.tile(np.array(beyond, dtype=np.int8), (len(y), 1)))


def _recode(state: NDArray[Any], outlier: NDArray[np.bool_]) -> NDArray[np.int8]:
    """Return the states among walls of those of the absolute value, whose kink is the target."""
    inner = 2 * UP + state
    outer = np.where(state == 0, 2 * ABOVE, 2 * BELOW)
    return np.where(outlier & (state != 1), outer, inner).astype(np.int8)
