"""Distributionally robust regression: any convex piecewise-linear loss under an elastic net."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..objectives import ElasticNet
from ..path import Path
from ..surface import Surface
from ..validation import Floats, Rows, check_number, check_vector, shown
from .common import (
    Callback,
    check_varied,
    check_walk,
    dense,
    grid_values,
    path_function,
    surface_of,
    targeted,
)
from .elastic import Options, ball_lines, ball_path, inverse_path, penalty_path

Loss: TypeAlias = str | tuple[str, float] | tuple[Sequence[float], Sequence[float]]
VARIED = ("s", "lam1", "lam2")


@path_function
def dr_regression_path(
    X: Rows,
    y: ArrayLike,
    loss: Loss = "absolute",
    *,
    vary: str = "s",
    s: float | None = None,
    lam1: float | None = None,
    lam2: float | None = None,
    lam2_min: float = 0.0,
    lazy: bool = True,
    callback: Callback | None = None,
    check: str = "warn",
) -> Path:
    """Compute distributionally robust regression for every radius s, or every lam1, or every lam2.

    Minimises, for all values of one of them at once, ::

        1/n sum_i loss(y_i - w.x_i - b) + lam2/2 ||w||^2    where ||w||_1 <= s,         or
        1/n sum_i loss(y_i - w.x_i - b) + lam2/2 ||w||^2 + lam1 ||w||_1,

    with a free bias b. For a loss whose steepest slope is L, lam1 / L is the radius of the
    Wasserstein ball of distributions around the data within which the worst expected loss is
    minimised, when moving x costs its largest change and moving y is forbidden. Each s stands for
    the lam1 that is the multiplier of its constraint.

    Parameters
    ----------
    X : (n, d) array
    y : (n,) array
        Real targets.
    loss : "absolute", ("quantile", tau), ("epsilon_insensitive", epsilon) or (kinks, slopes)
        A convex piecewise-linear loss of the residual r = y - w.x - b: ``|r|``,
        ``max(tau r, (tau - 1) r)`` with 0 < tau < 1, ``max(0, |r| - epsilon)``, or that of q
        ascending kinks and q + 1 ascending slopes, the first below zero and the last above, whose
        least value is 0.
    vary : {"s", "lam1", "lam2"}
        The path's parameter. Of s and lam1 the other one isn't given.
    s : float, optional
        Radius of the l1 ball, > 0: with ``vary="lam2"``.
    lam1 : float, optional
        Weight of ||w||_1, >= 0: with ``vary="lam2"``, instead of s.
    lam2 : float, optional
        Weight of ||w||^2 / 2, >= 0: with ``vary="s"`` and ``vary="lam1"``, 0 if not given. There 0
        makes the problem a linear programme: duals jump between breakpoints in s, and w does in
        lam1; where it does any point between both ends is optimal.
    lam2_min : float, default 0.0
        Where a path in lam2 ends, >= 0.
    lazy, callback, check
        See `quantile_svm_path`.

    Returns
    -------
    Path
        In ``s`` from 0 for ever: where the ball no longer binds nothing changes any more. In
        ``lam1`` from 0 to just above the least value at which w = 0. In ``lam2`` (an `InversePath`)
        from infinity down to lam2_min; w and b are linear in 1 / lam2 between breakpoints.
        ``dual`` gives the slopes a_i of the losses over n, with sum_i a_i = 0.

    Raises
    ------
    ValueError, TypeError
        For bad input; the message names the argument and the remedy.
    PathError
        When the path can't be followed to its end; ``error.path`` is the certified part.

    References
    ----------
    Tang, G. (2023). Solution Path Algorithms for Distributionally Robust Regression and
    Classification. Doctoral dissertation, University of Arizona: chapter 3, (3.4), (3.6),
    Theorems 3.1 and 3.2. Its equations leave the elbow as it is; here they follow from one saddle
    map in which the ball is a row, see ``docs/engine.md``.

    Examples
    --------
    >>> from solution_paths import dr_regression_path
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0], [4.0, 0.0]]
    >>> path = dr_regression_path(X, [0.0, 1.0, 2.0, 3.0, 9.0], ("quantile", 0.4), lam2=0.1)
    >>> path.coef([0.5, 2.0]).round(6).tolist()  # the ball binds up to s = 1
    [[0.5, 1.0], [0.0, 0.0]]
    >>> path.certify().ok
    True
    """
    check_walk(lazy, callback)
    samples = _samples(X, y, loss, "dr_regression_path")
    options = Options(lazy, callback, check)
    return elastic_net_path(samples, vary, s, lam1, lam2, lam2_min, options)


@path_function
def drlad_path(
    X: Rows,
    y: ArrayLike,
    *,
    vary: str = "s",
    s: float | None = None,
    lam1: float | None = None,
    lam2: float | None = None,
    lam2_min: float = 0.0,
    lazy: bool = True,
    callback: Callback | None = None,
    check: str = "warn",
) -> Path:
    """Compute doubly regularised least absolute deviations for every s, lam1 or lam2.

    Minimises, for all values of one of them at once, ::

        1/n sum_i |y_i - w.x_i - b| + lam2/2 ||w||^2    where ||w||_1 <= s,         or
        1/n sum_i |y_i - w.x_i - b| + lam2/2 ||w||^2 + lam1 ||w||_1,

    with a free bias b. lam1 is the radius of the Wasserstein ball, see `dr_regression_path`.
    Special cases: LAD (the end of a path in s with lam2 = 0), l1-LAD (lam2 = 0), l2-LAD (the path
    in lam2 with lam1 = 0).

    Parameters
    ----------
    X : (n, d) array
    y : (n,) array
        Real targets.
    vary, s, lam1, lam2, lam2_min, lazy, callback, check
        See `dr_regression_path`.

    Returns
    -------
    Path
        See `dr_regression_path`.

    Raises
    ------
    ValueError, TypeError
        For bad input; the message names the argument and the remedy.
    PathError
        When the path can't be followed to its end; ``error.path`` is the certified part.

    References
    ----------
    Tang, G. (2023). Solution Path Algorithms for Distributionally Robust Regression and
    Classification. Doctoral dissertation, University of Arizona: (3.5) and (3.16), Algorithms 3.1
    and 3.2.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from solution_paths import drlad_path
    >>> X, y = load_diabetes(return_X_y=True)
    >>> path = drlad_path(X[:80], y[:80], lam2=1e-3)
    >>> path.certify().ok
    True
    >>> first = path.coef(10.0)  # the columns that matter most come first
    >>> int((first != 0).sum()), float(abs(first).sum().round(9))
    (3, 10.0)
    """
    check_walk(lazy, callback)
    samples = _samples(X, y, "absolute", "drlad_path")
    options = Options(lazy, callback, check)
    return elastic_net_path(samples, vary, s, lam1, lam2, lam2_min, options)


@path_function
def drlad_grid(
    X: Rows,
    y: ArrayLike,
    s_values: ArrayLike,
    lam2_values: ArrayLike,
    *,
    lazy: bool = True,
    callback: Callback | None = None,
    check: str = "warn",
) -> Surface:
    """Compute doubly regularised least absolute deviations on a grid of s and lam2.

    One path in s for each lam2, so that between the values of s, too, everything is exact; see
    `drlad_path` for the objective.

    Parameters
    ----------
    X : (n, d) array
    y : (n,) array
        Real targets.
    s_values : (m,) array
        Radii of the l1 ball, >= 0; paths go from 0 to the largest.
    lam2_values : (k,) array
        Weights of ||w||^2 / 2, >= 0.
    lazy, callback, check
        See `quantile_svm_path`.

    Returns
    -------
    Surface
        k lines in ``s``.

    Raises
    ------
    ValueError, TypeError
        For bad input; the message names the argument and the remedy.
    PathError
        When a line can't be followed to its end; ``error.path`` is its certified part, and
        ``error.surface`` has the other lines.

    References
    ----------
    Tang, G. (2023). Solution Path Algorithms for Distributionally Robust Regression and
    Classification. Doctoral dissertation, University of Arizona: Algorithm 3.3.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from solution_paths import drlad_grid
    >>> X, y = load_diabetes(return_X_y=True)
    >>> surface = drlad_grid(X[:60], y[:60], [100.0, 200.0, 400.0], [0.0, 1e-3, 1e-2])
    >>> surface.coefs().shape, surface.certify().ok
    ((3, 3, 10), True)
    >>> path = surface.paths[1]  # lam2 = 1e-3
    >>> path.certify().ok
    True
    >>> best = surface.best(X[60:], y[60:])
    >>> bool(best.value <= min(curve([100.0, 200.0, 400.0]).min() for curve in
    ...                        surface.error(X[60:], y[60:])))
    True
    """
    check_walk(lazy, callback)
    samples = _samples(X, y, "absolute", "drlad_grid")
    radii, ridges = grid_values(s_values, "s_values"), grid_values(lam2_values, "lam2_values")
    objective = ElasticNet(**samples, cost0=1.0 / len(samples["y"]), s0=0.0, s1=1.0)
    options = Options(lazy, callback, check)
    line = ball_lines(objective, ridges, options, float(radii.max()))
    return surface_of(line, radii, "lam2", ridges)


def elastic_net_path(
    samples: dict[str, object],
    vary: str,
    s: float | None,
    lam1: float | None,
    lam2: float | None,
    lam2_min: float,
    options: Options,
) -> Path:
    """Return the path of a loss under an elastic net in one of its parameters."""
    given = {"s": s, "lam1": lam1, "lam2": lam2}
    check_varied(vary, given, VARIED)
    if vary != "lam2":
        other = "lam1" if vary == "s" else "s"
        if given[other] is not None:
            raise ValueError(f"vary={vary!r} takes no {other}: leave it out, or vary lam2.")
        return _at_ridge(samples, vary, check_number(lam2 or 0.0, "lam2", least=0), options)
    if (s is None) == (lam1 is None):
        raise ValueError('vary="lam2" needs either s or lam1: give one of them.')
    least = check_number(lam2_min, "lam2_min", least=0)
    weight = 1.0 / len(samples["y"])  # type: ignore[arg-type]
    held = {"ridge": 1.0, "cost1": weight, "inverse": 1.0}
    if s is not None:
        held["s0"] = check_number(s, "s", above=0)
    else:
        held["lam11"] = check_number(lam1, "lam1", least=0)
    return inverse_path(ElasticNet(**samples, **held), least, options)  # type: ignore[arg-type]


def _at_ridge(samples: dict[str, object], vary: str, lam2: float, options: Options) -> Path:
    """Return the path in s or lam1."""
    weight = 1.0 / len(samples["y"])  # type: ignore[arg-type]
    held = {"ridge": lam2, "cost0": weight}
    if vary == "s":
        objective = ElasticNet(**samples, **held, s0=0.0, s1=1.0)  # type: ignore[arg-type]
        return ball_path(objective, options)
    objective = ElasticNet(**samples, **held, lam11=1.0)  # type: ignore[arg-type]
    return penalty_path(objective, options)


def _samples(X: Rows, y: ArrayLike, loss: Loss, function: str) -> dict[str, Any]:
    """Return the data of a function, checked, and the kinks and slopes of its loss."""
    samples = dense(targeted(X, y), function)
    samples["kinks"], samples["slopes"] = _loss(loss)
    return samples


def _loss(loss: Loss) -> tuple[Floats, Floats]:
    """Return the kinks and slopes of a loss."""
    wanted = (
        'loss must be "absolute", ("quantile", tau), ("epsilon_insensitive", epsilon) or a pair '
        f"(kinks, slopes), not {shown(loss)}."
    )
    if isinstance(loss, str):
        if loss != "absolute":
            raise ValueError(wanted)
        return np.zeros(1), np.array([-1.0, 1.0])
    if not isinstance(loss, tuple | list) or len(loss) != 2:
        raise ValueError(wanted)
    name, value = loss
    if name == "quantile":
        tau = check_number(value, "tau", above=0)
        if not tau < 1:
            raise ValueError(f"tau must be < 1, not {tau:g}: choose a quantile inside (0, 1).")
        return np.zeros(1), np.array([tau - 1.0, tau])
    if name == "epsilon_insensitive":
        width = check_number(value, "epsilon", least=0)
        if width == 0:
            return np.zeros(1), np.array([-1.0, 1.0])
        return np.array([-width, width]), np.array([-1.0, 0.0, 1.0])
    if isinstance(name, str):
        raise ValueError(wanted)
    return _own_loss(name, value)


def _own_loss(kinks: Any, slopes: Any) -> tuple[Floats, Floats]:
    """Check the kinks and slopes of a loss."""
    kinks = check_vector(kinks, np.size(kinks), "kinks", scalar=False, of="the loss")
    slopes = check_vector(slopes, len(kinks) + 1, "slopes", scalar=False, of="the kinks")
    if not (np.diff(kinks) > 0).all() or not (np.diff(slopes) > 0).all():
        raise ValueError("kinks and slopes of the loss must ascend strictly: sort and merge them.")
    if not slopes[0] < 0 < slopes[-1]:
        raise ValueError(
            "The loss's first slope must be < 0 and its last > 0, so that it has a least value; "
            f"they are {slopes[0]:g} and {slopes[-1]:g}."
        )
    return kinks, slopes
