"""Double-margin doubly regularised support vector machine.

The loss max(0, 1 - m, 1 + m - kappa rho) is two hinges as long as kappa rho >= 2. Below it is
1 - h + |m - h| with h = kappa rho / 2. With rho = rho+ - r, rho+ >= 2 / kappa and r >= 0, both are

    (1 - m - kappa r / 2)^+ + (1 + m - kappa rho+ + kappa r / 2)^+ + kappa r / 2,

which is jointly convex, and at an optimum r = 0 or rho+ = 2 / kappa: taking the same from both
lowers the sum by kappa / 2 times what is taken and raises at most one of the hinges by as much. So
each sample is two rows of the saddle map with plain hinges, rho+ and r are features with a price,
the ball ||w||_1 <= rho a row more, and nothing distinguishes the three regimes but the states of
two coordinates: rho+ moves, r moves, or neither, while rho is held at 2 / kappa.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import PathWarning
from ..objectives import DoubleMarginNet
from ..path import Leg, Path
from ..surface import Surface
from ..validation import Floats, Rows, check_number
from ..walks.map import Map, rows_map
from ..walks.staircase import Staircases, equality, stack, staircases, walls_at
from ..walks.trace import Trace, between, joined
from ..walks.walker import WALL, start
from .common import (
    Callback,
    check_varied,
    check_walk,
    dense,
    finish,
    grid_values,
    labelled,
    level_of_caller,
    path_function,
    surface_of,
    total,
    walk_leg,
)
from .elastic import Options, constant_fit, inverse_legs

LEAST = 1e-9  # of 2 / kappa: below that rho goes straight to zero
LEAST_REACH = 1e-5  # of a column, in predictions: below that accuracy is lost
LOWEST = 2.0**-60  # of the lam1 where a path begins: below it nothing happens any more
BEHIND = 1.001  # how far a path in lam1 goes beyond the value from which all is zero


@path_function
def dm_drsvm_path(
    X: Rows,
    y: ArrayLike,
    kappa: float,
    *,
    vary: str = "lam2",
    lam1: float | None = None,
    lam2: float | None = None,
    lam2_min: float = 0.0,
    lazy: bool = True,
    callback: Callback | None = None,
    check: str = "warn",
) -> Path:
    """Compute the double-margin doubly regularised machine for every lam2, or every lam1.

    Minimises, for all values of one of them at once, over w, b and rho >= ||w||_1, ::

        lam2/2 ||w||^2 + lam1 rho + 1/n sum_i max(0, 1 - m_i, 1 + m_i - kappa rho),

    with margins m_i = y_i (w.x_i + b). lam1 is the radius of the Wasserstein ball of distributions
    around the data when moving x costs its largest change, and changing a label kappa. With
    kappa = inf it would be `drsvm_path`. What holds for kappa rho < 2 (there the outer margin lies
    inside the inner one) is part of the path.

    Parameters
    ----------
    X : (n, d) array
    y : (n,) array
        Two labels; the larger one is +1.
    kappa : float
        What changing a label costs, > 0.
    vary : {"lam2", "lam1"}
        The path's parameter.
    lam1 : float, optional
        With ``vary="lam2"``: > 0.
    lam2 : float, optional
        With ``vary="lam1"``: > 0.
    lam2_min : float, default 0.0
        Where a path in lam2 ends, >= 0.
    lazy, callback, check
        See `quantile_svm_path`.

    Returns
    -------
    Path
        In ``lam2`` (an `InversePath`) from infinity down to lam2_min, or in ``lam1`` from 0 to just
        above the least value at which w, b and rho are zero, as for all larger ones. ``dual`` gives
        alpha_i - mu_i in [-1/n, 1/n]. ``path.objective`` knows rho: it is the last entry of the
        w of a solution.

    Raises
    ------
    ValueError, TypeError
        For bad input; the message names the argument and the remedy.
    PathError
        When the path can't be followed to its end; ``error.path`` is the certified part.

    References
    ----------
    Tang, G. (2023). Solution Path Algorithms for Distributionally Robust Regression and
    Classification. Doctoral dissertation, University of Arizona: (4.2), Algorithms 4.1 and 4.2,
    which assume kappa rho >= 2 throughout.

    Examples
    --------
    >>> from solution_paths import dm_drsvm_path
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [4.0, 1.0], [5.0, 0.0]]
    >>> y = ["no", "no", "yes", "no", "yes", "yes"]
    >>> path = dm_drsvm_path(X, y, 2.0, vary="lam1", lam2=0.1)
    >>> path.certify().ok
    True
    >>> bool(abs(path.coef(path.range[1])).max() < 1e-12)
    True
    """
    check_walk(lazy, callback)
    check_varied(vary, {"lam1": lam1, "lam2": lam2}, ("lam1", "lam2"))
    samples = _samples(X, y, kappa, "dm_drsvm_path")
    options = Options(lazy, callback, check)
    weight = 1.0 / len(samples["y"])
    if vary == "lam1":
        ridge = check_number(lam2, "lam2", above=0)
        objective = DoubleMarginNet(**samples, cost0=weight, lam11=1.0)
        return _lines_in_lam1(objective, np.array([ridge]), options)(0)
    lam1 = check_number(lam1, "lam1", above=0)
    least = check_number(lam2_min, "lam2_min", least=0)
    held: dict[str, Any] = {"ridge": 1.0, "cost1": weight, "lam11": lam1, "inverse": 1.0}
    return _in_lam2(DoubleMarginNet(**samples, **held), least, options)


@path_function
def dm_drsvm_grid(
    X: Rows,
    y: ArrayLike,
    kappa: float,
    lam1_values: ArrayLike,
    lam2_values: ArrayLike,
    *,
    lazy: bool = True,
    callback: Callback | None = None,
    check: str = "warn",
) -> Surface:
    """Compute the double-margin doubly regularised machine on a grid of lam1 and lam2.

    One path in lam1 for each lam2, so that between the values of lam1, too, everything is exact;
    see `dm_drsvm_path` for the objective.

    Parameters
    ----------
    X : (n, d) array
    y : (n,) array
        Two labels; the larger one is +1.
    kappa : float
        What changing a label costs, > 0.
    lam1_values : (m,) array
        >= 0; paths go from 0 to where all is zero.
    lam2_values : (k,) array
        > 0.
    lazy, callback, check
        See `quantile_svm_path`.

    Returns
    -------
    Surface
        k lines in ``lam1``.

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
    Classification. Doctoral dissertation, University of Arizona: Algorithm 4.3.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from solution_paths import dm_drsvm_grid
    >>> X, y = load_iris(return_X_y=True)
    >>> surface = dm_drsvm_grid(X[50:], y[50:], 2.0, [0.01, 0.1], [0.01, 0.1, 1.0])
    >>> surface.coefs().shape, surface.certify().ok
    ((3, 2, 4), True)
    >>> path = surface.paths[1]  # lam2 = 0.1
    >>> path.certify().ok
    True
    """
    check_walk(lazy, callback)
    samples = _samples(X, y, kappa, "dm_drsvm_grid")
    prices, ridges = (
        grid_values(lam1_values, "lam1_values"),
        grid_values(lam2_values, "lam2_values"),
    )
    for lam2 in ridges:
        check_number(lam2, "lam2_values", above=0)
    options, weight = Options(lazy, callback, check), 1.0 / len(samples["y"])
    objective = DoubleMarginNet(**samples, cost0=weight, lam11=1.0)
    return surface_of(_lines_in_lam1(objective, ridges, options), prices, "lam2", ridges)


def _samples(X: Rows, y: ArrayLike, kappa: float, function: str) -> dict[str, Any]:
    """Check data and kappa; warn where ||w||_1 <= rho lets no column change a decision."""
    samples = dense(labelled(X, y), function)
    samples["kappa"] = check_number(kappa, "kappa", above=0)
    reach = float(np.ptp(samples["X"], axis=0).max()) * 2.0 / samples["kappa"]
    if 0.0 < reach < LEAST_REACH:
        warnings.warn(
            "With ||w||_1 <= rho, about 2 / kappa, the columns of X change predictions by "
            f"{reach:.0e} at most, beside margins of 1, and accuracy is lost; scale them up, or "
            "take a smaller kappa.",
            PathWarning,
            stacklevel=level_of_caller(),
        )
    return samples


def _operator(p: DoubleMarginNet) -> Map:
    """Return the saddle map.

    Rows: inner and outer hinge of each sample, the ball, rho. Columns: u and v (w = u - v), rho+,
    r, and the bias.
    """
    X = p.y[:, None] * p.varying / p.own_units
    n, d = X.shape
    half, none, y = np.full((n, 1), p.kappa / 2), np.zeros((n, 1)), p.y[:, None]
    inner = np.hstack([X, -X, none, half, y])
    outer = np.hstack([-X, X, 2 * half, -half, -y])
    ball = np.concatenate([np.tile(1.0 / p.own_units, 2), [-1.0, 1.0, 0.0]])
    rho = np.concatenate([np.zeros(2 * d), [1.0, -1.0, 0.0]])
    rows = np.vstack([inner, outer, ball, rho])
    return rows_map(np.empty((len(rows), 0)), rows)


def _staircases(p: DoubleMarginNet, stop: bool) -> Staircases:
    """Return the staircases of all coordinates in the objective's own parameter.

    With ``stop`` rho's row has a kink just above zero, at which a wall stops the walk.
    """
    n, d, half = p.n, len(p.used), p.kappa / 2
    cost0, cost1, lam0, lam1, ridge = (
        p.dual_unit * own for own in (p.cost0, p.cost1, p.lam10, p.lam11, p.ridge)
    )
    hinges = staircases([1.0], [cost0, 0.0], level_rates=[cost1, 0.0], size=2 * n)
    ball = staircases([0.0], [0.0, -np.inf], size=1)
    rho = staircases([LEAST * 2 / p.kappa], [float(stop), 0.0], size=1)
    soft = -ridge / np.tile(p.own_units, 2) ** 2
    parts = staircases([0.0], [0.0, -np.inf], soft=soft, size=2 * d)
    above = staircases([lam0], [-2 / p.kappa, -np.inf], kink_rates=[lam1], size=1)
    price = n * cost0 * half - lam0, n * cost1 * half - lam1
    below = staircases([price[0]], [0.0, -np.inf], kink_rates=[price[1]], size=1)
    return stack(hinges, ball, rho, parts, above, below, equality())


def _at(p: DoubleMarginNet) -> Floats:
    """Return values of features and bias where w = 0."""
    kinks, levels = p.y[:, None], np.where(p.y[:, None] > 0, [1.0, 0.0], [0.0, -1.0])
    *_, bias = constant_fit(kinks, levels)
    return np.append(np.zeros(2 * len(p.used) + 2), bias)


def _lines_in_lam1(p: DoubleMarginNet, ridges: Floats, options: Options) -> Callable[[int], Path]:
    """Return what builds the paths in lam1 = t, by number, for each of the ridges.

    Each goes down, and up, from one lam1 at which rho > 0.
    """
    begin, op, at = 0.1 * _certain_gain(p), _operator(p), _at(p)
    progress = options.stages(3 * len(ridges))

    def path(k: int) -> Path:
        own = p.at_ridge(ridges[k])
        stairs = _staircases(own, stop=True)
        walker = start(op, stairs, begin, at=at, lazy=options.lazy, callback=progress)
        events = walker.start_events
        progress.next(events)
        here = walker.snapshot()
        walker.restore(here, stairs.substitute(0.0, -1.0), -begin)
        down, _, error = walk_leg(walker, -LOWEST * begin, 0.0, -1.0, progress)
        counts = [walker.statistics()]
        legs = [down if error else Leg(down.trace.down_to_zero(0), 0.0, -1.0)]
        if error is None:
            walker.restore(here, stairs, begin)
            walker.walls = walls_at(len(stairs), 2 * p.n + 1, 0)
            up, ending, error = walk_leg(walker, np.inf, 0.0, 1.0, progress)
            if ending == WALL:
                up = Leg(_without_rho(joined([up.trace, walker.standing()], stairs), p), 0.0, 1.0)
            legs.append(up)
            counts.append(walker.statistics())
        diagnostics = total(*counts) | {"start_events": events, "ray": False}
        return finish("lam1", legs, own, diagnostics, error, check=options.check)

    return path


def _without_rho(trace: Trace, p: DoubleMarginNet) -> Trace:
    """Return the trace up to the wall, its last node moved on to where all vanishes.

    One more node just behind it says that all is zero from there on. A piece may end below the
    wall, where t is too coarse for rho; then the nodes behind that, at the wall, say no more.
    """
    n, d, last = p.n, len(p.used), len(trace.t) - 1

    def rho(duals: Floats) -> float:
        return float(duals[-2] - duals[-3])

    here = trace.duals(last)
    while last > 0 and rho(trace.duals(last - 1)) <= rho(here):
        last -= 1
        here = trace.duals(last)
    trace = trace.cut(last + 1)
    ahead, fall, before = rho(here), 0.0, last
    # rho may have fallen at one t; or it stands below the wall, and is rounding already
    while fall <= ahead and ahead > LEAST / p.kappa and before > 0:
        before -= 1
        fall = rho(trace.duals(before)) - ahead
    share = ahead / fall if fall > ahead > 0.0 else 0.0
    ends, own = trace.parts(np.array([last, before])), np.zeros(1, dtype=np.int64)
    found, rest = (part[0] for part in between(*ends, own, own + 1, np.array([-share])))
    found[2 * n + 2 : 2 * n + 2 + 2 * d] = found[-1] = 0.0
    found[-2] = -2 / p.kappa
    rest[2 * n + 2 :] = 0.0
    first = trace.start[last]
    P, kept = trace.P[first:], trace.a[:first]
    end = trace.t[last] + share * (trace.t[last] - trace.t[before])
    return trace._replace(
        t=np.concatenate([trace.t[:last], [end, BEHIND * end]]),
        t_low=np.concatenate([trace.t_low[:last], np.zeros(2)]),
        event=np.append(trace.event, trace.event[last]),
        start=np.append(trace.start, trace.start[-1] + len(P)),
        P=np.concatenate([trace.P, P]),
        a=np.concatenate([kept, found[P], found[P]]),
        low=np.concatenate([trace.low[:first], rest[P], rest[P]]),
    )


def _in_lam2(p: DoubleMarginNet, least: float, options: Options) -> Path:
    """Return the path in lam2 = 1 / t."""
    stairs = _staircases(p, stop=False).substitute(0.0, 1.0 / p.dual_unit)
    end = p.dual_unit / least if least > 0 else np.inf
    away = np.abs(p.varying - np.median(p.varying, axis=0))
    reach = float((away @ away.sum(axis=0)).max()) / p.n or 1.0  # no column varies: any will do
    begin = min(0.1 * min(1.0, p.kappa / 2) / reach * p.dual_unit, end)
    progress = options.stages(3 if begin < end else 2)
    walker = start(_operator(p), stairs, begin, at=_at(p), lazy=options.lazy, callback=progress)
    return inverse_legs(walker, p, stairs, (0.5 * begin, begin, end), options, progress, free=3)


def _certain_gain(p: DoubleMarginNet) -> float:
    """Return a lam1 at which rho > 0 pays, whatever lam2.

    Towards a constant of the larger class, or along one column as far as no sample's outer margin
    is reached.
    """
    smaller = min((p.y > 0).mean(), (p.y < 0).mean())
    X = p.varying - p.varying.mean(axis=0)
    way = np.minimum(1.0, p.kappa / 2 / np.maximum(np.abs(X).max(axis=0), 1e-300))
    return float(max(p.kappa * (0.5 - smaller), (way * np.abs(p.y @ X) / p.n).max(initial=0.0)))
