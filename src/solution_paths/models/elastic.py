"""What models with an elastic net share: their map, staircases, starts and legs.

Samples and features are coordinates of one saddle map, the ridge is the features' softness, and a
bias is a free column. An l1 ball ||w||_1 <= s is one more row: w = u - v with u, v >= 0 makes its
left-hand side linear, so that the ball is a sample of value sum(u) + sum(v), whose kink is s and
whose dual is minus the multiplier theta. So s is a kink that moves, or stands still.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..inverse import InversePath
from ..objectives import ElasticNet
from ..objectives.centring import uncorrelated
from ..path import Leg, Path
from ..validation import Floats
from ..walks.map import Map, rows_map
from ..walks.staircase import Staircases, equality, stack, staircases
from ..walks.trace import Trace
from ..walks.walker import Walker, WalkError, start
from .common import (
    NEARLY_ZERO,
    Callback,
    Progress,
    Uncorrelated,
    finish,
    nothing_below,
    to_zero,
    total,
    walk_down,
    walk_leg,
    without_loss,
)

States = NDArray[np.int8]
FAR = 1e15  # times the s that moves values by their range
AGAIN = 1e3  # times t: then a new leg begins
QUIET = 2  # such legs without an event and without a motion of values: there will be none
EPSILON = float(np.finfo(np.float64).eps)
FARTHEST = 1e20  # times the 1 / lam2 at which values begin to move: what is behind that is rounding


def elastic_operator(objective: ElasticNet) -> Map:
    """Return the saddle map: samples, the ball's row, the features (two for each), the bias.

    Columns are centred, and divided by powers of two, which is exact: the pinned system hasn't
    their units.
    """
    units = objective.own_units
    X = objective.varying / units
    n = len(X)
    ones = np.ones((n, 1))
    if not objective.balled:
        return rows_map(np.empty((n, 0)), np.hstack([X, ones]))
    ball = np.append(np.tile(objective.unit / units, 2), 0.0)
    return rows_map(np.empty((n + 1, 0)), np.vstack([np.hstack([X, -X, ones]), ball]))


def elastic_staircases(objective: ElasticNet) -> Staircases:
    """Return the staircases of all coordinates in the objective's own parameter."""
    p, d, units = objective, len(objective.used), objective.own_units
    levels = list(p.dual_unit * p.levels.T)
    price0, price1, soft = (p.dual_unit * own for own in (p.lam10, p.lam11, -p.ridge))
    samples = staircases(
        list(p.walked_corners.T),
        [p.cost0 * level for level in levels],
        level_rates=[p.cost1 * level for level in levels],
        size=p.n,
    )
    if not p.balled and p.lam10 == p.lam11 == 0.0:
        return stack(
            samples,
            staircases([0.0], [np.inf, -np.inf], soft=soft / units**2, size=d),
            equality(),
        )
    if not p.balled:
        features = staircases(
            [-price0 / units, price0 / units],
            [np.inf, 0.0, -np.inf],
            kink_rates=[-price1 / units, price1 / units],
            soft=soft / units**2,
            size=d,
        )
        return stack(samples, features, equality())
    ball = staircases([p.unit * p.s0], [0.0, -np.inf], kink_rates=[p.unit * p.s1], size=1)
    units = np.tile(units, 2)
    parts = staircases(
        [price0 / units],
        [0.0, -np.inf],
        kink_rates=[price1 / units],
        soft=soft / units**2,
        size=2 * d,
    )
    return stack(samples, ball, parts, equality())


def constant_fit(corners: Floats, levels: Floats) -> tuple[States, Floats, tuple[int, int], float]:
    """Return the optimum over constants b: states, duals, the pinned (sample, kink), and b.

    b stands at the kink where the sum of the duals changes sign; of the samples with that kink the
    first ones have the lower level, as many as the balance asks for.
    """
    n = len(corners)
    sample, kink = np.nonzero(levels[:, :-1] > levels[:, 1:])
    at, width = corners[sample, kink], levels[sample, kink] - levels[sample, kink + 1]
    order = np.argsort(at, kind="stable")
    surplus = levels[:, 0].sum() - np.cumsum(width[order])
    bias = at[order[int(np.argmax(surplus <= 1e-12 * width.sum()))]]
    piece = np.zeros(n, dtype=np.int64)
    before = at < bias
    np.maximum.at(piece, sample[before], kink[before] + 1)
    duals = levels[np.arange(n), piece]
    tied = np.flatnonzero(at == bias)
    behind = np.cumsum(width[tied]) - width[tied]
    fill = np.clip(duals.sum() - behind, 0.0, width[tied])
    fill[fill <= 1e-12 * width.sum()] = 0.0
    last = tied[max(int((fill > 0.0).sum()) - 1, 0)]
    np.subtract.at(duals, sample[tied], fill)
    full = tied[(fill > 0.0) & (tied != last)]
    piece[sample[full]] = kink[full] + 1
    states = (2 * piece).astype(np.int8)
    states[sample[last]] = 2 * kink[last] + 1
    return states, duals, (int(sample[last]), int(kink[last])), float(bias)


def penalty_path(objective: ElasticNet, options: Options) -> Path:
    """Return the path in lam1 = t, from 0 to just above the least one at which w = 0."""
    p, d = objective, len(objective.used)
    samples, duals, _, bias = constant_fit(p.walked_corners, p.cost0 * p.levels)
    largest = _largest_correlation(p, duals) / p.unit
    stairs = elastic_staircases(p).substitute(0.0, -p.unit)
    states = np.concatenate([samples, np.full(d, 2), [1]]).astype(np.int8)
    begin, lazy = -1.001 * largest, options.lazy
    walker = start(elastic_operator(p), stairs, begin, states, bias_of(p, bias), lazy)
    # The last stretch is linear; nearer to zero rounding would decide where breakpoints are.
    end, progress = -1e-12 * largest, options.stages(1)
    leg, _, error = walk_leg(walker, end, 0.0, -p.unit, progress)
    if error is None:
        leg = to_zero(leg, p.n if p.ridge == 0.0 else 0)
    return finish("lam1", [leg], p, walker.statistics(), error, check=options.check)


def ball_path(objective: ElasticNet, options: Options) -> Path:
    """Return the path in the radius s = t, from 0 for ever."""
    p, (states, duals, far) = objective, _ball_start(objective)
    radius = 1.0 / p.unit  # moves values as much as the walk's t
    stairs = elastic_staircases(p).substitute(0.0, radius)
    walker = start(elastic_operator(p), stairs, 0.0, states, bias_of(p, -duals[-1]), options.lazy)
    progress = options.stages(1)
    leg, _, error = walk_leg(walker, far / radius, 0.0, radius, progress)
    return _ball_path(p, leg, error, walker.statistics(), duals[p.n], options)


def ball_lines(
    objective: ElasticNet, ridges: Floats, options: Options, end: float
) -> Callable[[int], Path]:
    """Return what builds the paths in s = t from 0 to end, by number, for each of the ridges."""
    p, (states, duals, far) = objective, _ball_start(objective)
    radius = 1.0 / p.unit
    op, last = elastic_operator(p), min(far, end) / radius
    progress = options.stages(len(ridges))

    def path(k: int) -> Path:
        own = p.at_ridge(ridges[k])
        stairs = elastic_staircases(own).substitute(0.0, radius)
        walker = start(op, stairs, 0.0, states, bias_of(p, -duals[-1]), options.lazy)
        leg, _, error = walk_leg(walker, last, 0.0, radius, progress)
        return _ball_path(own, leg, error, walker.statistics(), duals[p.n], options)

    return path


def _ball_start(p: ElasticNet) -> tuple[States, Floats, float]:
    """Return states and duals at s = 0, and where a path ends at last.

    A ray from t = 0 has no unit, so the end is far, not infinite.
    """
    d = len(p.used)
    samples, duals, _, bias = constant_fit(p.walked_corners, p.cost0 * p.levels)
    c = p.varying.T @ duals
    theta = _largest_correlation(p, duals) / p.unit
    first = int(np.argmax(np.abs(c)))
    parts = np.zeros(2 * d)
    states = np.concatenate([samples, [1], parts, [1]]).astype(np.int8)
    states[p.n + 1 + first + (d if c[first] < 0 else 0)] = 1
    found = np.concatenate([duals, [-theta], parts, [-bias]])
    return states, found, FAR * p.scale / _typical_move(p)


def _ball_path(
    p: ElasticNet,
    leg: Leg,
    error: WalkError | None,
    statistics: dict[str, int],
    start: float,
    options: Options,
) -> Path:
    """Return the path of a leg, until the ball no longer binds.

    ``start`` is the ball's dual at s = 0. A walk that was lost behind that is none the worse.
    """
    leg = _without_w(leg, p.n)
    kept = _binding(leg.trace, p.n, 1e-12 * abs(start))
    free = kept < len(leg.trace.t)
    if free:
        error = None
        still = leg.trace._replace(ray=np.zeros(len(leg.trace.stairs)))
        leg = Leg(still, 0.0, leg.factor).cut(kept + 1)
        if p.ridge == 0.0 and without_loss(leg.trace, kept, p.n):
            leg = _let_go(leg, p.n + 1)
    diagnostics = statistics | {"ray": bool(free)}
    return finish("s", [leg], p, diagnostics, error, check=options.check)


def _without_w(leg: Leg, n: int) -> Leg:
    """Return a leg at whose nodes at s = 0 w is zero, and not what rounding leaves of it."""
    trace = leg.trace
    here = np.repeat(trace.t == 0.0, np.diff(trace.start))
    return _vanishing(leg, here & (n < trace.P) & (len(trace.stairs) - 1 > trace.P))


def _let_go(leg: Leg, n: int) -> Leg:
    """Return a leg at whose last node the duals of the first n coordinates are zero."""
    trace = leg.trace
    return _vanishing(leg, (np.arange(len(trace.P)) >= trace.start[-2]) & (n > trace.P))


def _vanishing(leg: Leg, gone: NDArray[np.bool_]) -> Leg:
    """Return a leg some of whose recorded duals are zero."""
    a, low = (np.where(gone, 0.0, part) for part in (leg.trace.a, leg.trace.low))
    return Leg(leg.trace._replace(a=a, low=low), leg.offset, leg.factor)


def _binding(trace: Trace, ball: int, least: float) -> int:
    """Return the number of nodes before the ball's multiplier is zero for good.

    There the ball may stay at its kink, when the same can be added to both parts of w.
    """
    count = len(trace.t)
    while count > 0 and abs(trace.duals(count - 1)[ball]) <= least:
        count -= 1
    return count


def inverse_path(objective: ElasticNet, least: float, options: Options) -> Path:
    """Return the path in lam2 = 1 / t, from infinity down to ``least``, 0 for ever."""
    p, op = objective, elastic_operator(objective)
    stairs = elastic_staircases(p).substitute(0.0, 1.0 / p.dual_unit)
    *_, bias = constant_fit(p.walked_corners, p.levels)
    end = p.dual_unit / least if least > 0 else np.inf
    reach = _reach(p)  # 0 where no column varies: then any t will do
    begin = min(0.1 * p.scale / reach * p.dual_unit if reach > 0.0 else 1.0, end)
    progress = options.stages(3 if begin < end else 2)
    near = bias_of(p, bias)
    walker = start(op, stairs, begin, at=near, lazy=options.lazy, callback=progress)
    # A ball may cease to bind anywhere.
    still = NEARLY_ZERO * begin if p.balled else nothing_below(begin, p.walked_corners, p.scale)
    return inverse_legs(walker, p, stairs, (still, begin, end), options, progress)


def inverse_legs(
    walker: Walker,
    objective: Any,
    stairs: Staircases,
    times: tuple[float, float, float],
    options: Options,
    progress: Progress,
    free: int = 1,
) -> Path:
    """Return the path in lam2 from a walker at t = begin: down to t = 0, and up to end.

    t is ``dual_unit`` / lam2, and ``times`` are (still, begin, end): below still nothing happens
    any more. All duals but those of the last ``free`` coordinates vanish at t = 0.
    """
    (still, begin, end), unit = times, 1.0 / objective.dual_unit
    start_events = walker.start_events
    progress.next(start_events)
    here = walker.snapshot()
    vanish = len(stairs) - free
    down, error = walk_down(walker, here, stairs, begin, still, vanish, progress, unit)
    counts, legs, ray = [walker.statistics()], [down], False
    if error is None and begin < end:
        walker.restore(here, stairs, begin)
        far, events, quiet = min(FARTHEST * begin, end), 0, 0
        while error is None and walker.t < far and quiet < QUIET:
            # What is small is measured anew now and then, since all levels grow with t.
            stop = min(far, AGAIN * walker.t)
            up, _, error = walk_leg(walker, stop, 0.0, unit, progress)
            own = walker.events
            events += own
            quiet = quiet + 1 if own == 0 and _rests(up, walker.op) else 0
            if error is None and stop < far:
                up = up.cut(len(up.trace.t) - 1)
                walker.begin(stairs, stop)
            legs.append(up)
        ray = error is None and quiet == QUIET
        counts.append(walker.statistics() | {"events": events})
    diagnostics = total(*counts) | {"start_events": start_events, "ray": ray}
    return finish(
        "lam2", legs, objective, diagnostics, error, check=options.check, kind=InversePath
    )


def _rests(leg: Leg, op: Map) -> bool:
    """Tell whether no value moves along a leg but for the rounding of its terms.

    w itself may: along columns that are collinear but for rounding.
    """
    ends, _ = leg.trace.parts(np.array([0, len(leg.trace.t) - 1]))
    w = ends[:, op.n :]
    terms = np.abs(op.B) @ np.abs(w[1])
    return bool(np.abs(op.B @ (w[1] - w[0])).max() <= EPSILON * terms.max())


def bias_of(p: Any, bias: float) -> Floats:
    """Return values of features and bias where w = 0."""
    size = 2 * len(p.used) if p.balled else len(p.used)
    return np.append(np.zeros(size), bias)


class Options:
    """What a path function is told about its walk."""

    def __init__(self, lazy: bool, callback: Callback | None, check: str):
        self.lazy, self.callback, self.check = lazy, callback, check

    def stages(self, number: int) -> Progress:
        """Return the progress of a walk in so many stages."""
        return Progress(self.callback, number)


def _largest_correlation(p: ElasticNet, duals: Floats) -> float:
    """Return max |X'a|, which must not vanish."""
    X = p.varying
    largest = float(np.abs(X.T @ duals).max(initial=0.0))
    if uncorrelated(X, duals):
        raise Uncorrelated(
            "No column of X correlates with the loss's slopes at the best constant, so that w = 0 "
            "is optimal for every penalty; check X and y."
        )
    return largest


def _typical_move(p: ElasticNet) -> float:
    """Return how far values move, about, with a coefficient."""
    return max(float(np.ptp(p.X, axis=0).max()), 1e-300)


def _reach(p: ElasticNet) -> float:
    """Return a bound on how far values are from b at 1 / lam2 = 1."""
    away = np.abs(p.varying - np.median(p.varying, axis=0))
    duals = p.cost1 * float(np.abs(p.slopes).max())
    return float((away @ away.sum(axis=0)).max()) * duals
