"""The walker: the one event loop behind every path.

A coordinate is *pinned* (at a kink) or on a *piece*. For given states everything moves linearly in
t; `_walk` follows the line to the next event, changes the state of one coordinate, and goes on.
Its stages: direction, ratio test, step (`steps`), event (`events`), record, refresh (`upkeep`).

The pinned system (`pinned`) may become singular when a coordinate joins or leaves. Then that one is
*pending*: the inverse stays that of the last regular system, t stands still (dt = 0), and the walk
moves along the null vector until a second coordinate changes state; one 2 x 2 pivot takes in both.
This is the exchange of Best (1996) and qpOASES, and the pivot of a parametric linear programme.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numba import njit
from numpy.typing import NDArray

from . import factor
from .compiled import clear, inline, lean
from .events import enter, exchange, hold_at_kink, leave, place
from .operators import DENSE, Operator, distance, is_ridge
from .pinned import hold_system, join, refactor, schur
from .staircase import Staircases
from .state import (
    DONE,
    ENTERED,
    GROW,
    LOST,
    NONE,
    PAUSE,
    RAY,
    STALLED,
    UNBOUNDED,
    WALL,
    Log,
    Stairs,
    checkpoint_every,
    empty_state,
    kink_at,
    level_at,
    widened,
)
from .steps import aim, patience, ratio_test, take_step, tie_of
from .tolerances import Tolerances
from .trace import Trace
from .upkeep import (
    approach,
    begin_leg,
    hold,
    log_event,
    maintain,
    rebuild_sums,
    record,
    settle,
    snap_to_levels,
)

EPSILON = np.finfo(np.float64).eps

# ---------------------------------------------------------------------------------------------
# The loop
# ---------------------------------------------------------------------------------------------


@lean
def _walk(op, st, s, log, tol, lazy):
    """Follow the path until T_END, or until something else ends the walk; return why."""
    N = s.state.shape[0]
    while _room(s, log):
        # Direction
        dt, size = aim(op, st, s, tol)
        pending, happened, moved, late = s.pending.kind != NONE, False, False, False
        began = s.clock.t
        while not happened:  # again when what was chosen turns out to be noise
            # Ratio test
            chosen = ratio_test(op, st, s, tol, dt, size, lazy)
            if dt > 0 and not late and _is_far(s, chosen):
                settle(op, st, s, tol, tol.outside, True)
                record(s, log, 1)
            if chosen < 0:
                return _arrive(op, st, s, log, tol, dt, size)
            i, down = s.hit_index[chosen] % N, s.hit_index[chosen] >= N
            before, rate = s.state[i], s.hit_rate[chosen]

            # Step
            h = max(s.hit_slack[chosen], 0.0) / rate
            take_step(op, s, dt, size, h)
            if late or _is_move(op, st, s, tol, dt, i, h, rate):
                moved = True
                if not pending:
                    if not hold(op, st, s, tol):
                        return LOST
                    if not approach(op, st, s, tol, size, i, down, h, rate) and not late:
                        late = True  # what seemed to come first is further away than it seemed
                        continue
                    record(s, log, 0)

            # Event
            happened = _event(op, st, s, tol, i, down, dt, rate, moved)

        # Record and refresh
        log_event(s, log, i, before, moved and s.clock.t - began > 1e-14 * abs(s.clock.t))
        if s.pending.kind == NONE:
            exchanged, unsure = pending and moved, s.last.unsure > 0
            if (exchanged or unsure) and not hold(op, st, s, tol):
                return LOST
            s.last.unsure = 0
            if exchanged:
                record(s, log, 0)
            elif unsure and moved and before % 2 == 0:
                record(s, log, 1)  # what entered is at its kink now
            if not maintain(op, st, s, tol):
                return LOST

        # Stop?
        if s.state[i] % 2 == 1 and (st.wall[i] >> (s.state[i] // 2)) & 1:
            return WALL
        if s.counts.zeros > 100 * patience(s, tol):
            return STALLED
        s.counts.budget -= 1
        if s.counts.budget <= 0 and s.pending.kind == NONE:
            return PAUSE
    return GROW


@inline
def _room(s, log):
    """Tell whether the next event fits into the arrays."""
    m = s.sizes.pinned
    events = s.sizes.events + 1
    return (
        m + 2 < s.P.shape[0]
        and s.sizes.nodes + 2 < log.start.shape[0]
        and s.sizes.duals + m + 2 < log.P.shape[0]
        and events < log.coordinate.shape[0]
        and events // checkpoint_every(s.state.shape[0]) < log.checkpoint.shape[0]
    )


@inline
def _is_far(s, chosen):
    """Tell whether the next event, or the walk's end, is further away than t is from 0.

    A piece is as exact as its ends are; where levels grow with t its far end feels more of them.
    """
    ahead = s.clock.end - s.clock.t
    if chosen >= 0:
        ahead = max(s.hit_slack[chosen], 0.0) / s.hit_rate[chosen]
    return ahead > abs(s.clock.t) > 0.0


@lean
def _event(op, st, s, tol, i, down, dt, rate, moved):
    """Change the state of coordinate i; return whether it happened."""
    state = s.state[i]
    if state % 2 == 0:
        happened = enter(op, st, s, tol, i, down, dt)
        if not happened:
            # Its velocity was noise: believe less of the others'.
            s.direction.noise = max(s.direction.noise, 4.0 * rate / op.norm[i])
        return happened
    if not moved and i == s.last.coordinate and 2 * (state // 2 + down) == s.last.came:
        # It only just came from there: its velocity is rounding noise.
        s.last.held = i
        return False
    leave(op, st, s, tol, i, down)
    return True


@lean
def _arrive(op, st, s, log, tol, dt, size):
    """Go to the walk's end, where there is one, as no event comes before; return the ending."""
    left = s.clock.end - s.clock.t
    if dt == 0:
        return UNBOUNDED
    if left == np.inf:
        return RAY
    take_step(op, s, dt, size, left)
    s.clock.t = s.clock.end
    settle(op, st, s, tol, tol.outside, True)
    snap_to_levels(op, st, s)
    record(s, log, 0)
    return DONE


@inline
def _is_move(op, st, s, tol, dt, i, h, rate):
    """Tell whether a step is more than rounding.

    Without a ridge duals may do in it what t is too coarse for.
    """
    least = 1e-13 * st.scale[i] if is_ridge(op) else 10.0 * tie_of(op, st, s, tol, i)
    if dt > 0:
        # A slack within a tie is no step, unless it is approached so slowly that t changes.
        tie = s.state[i] % 2 == 0 and h * rate <= tie_of(op, st, s, tol, i)
        if tie or is_ridge(op) or h > 1e-14 * abs(s.clock.t):
            return h > (1e-12 if tie else 1e-14) * abs(s.clock.t)
    return h * s.direction.gross * op.norm[i] > least


# ---------------------------------------------------------------------------------------------
# A start from any feasible duals
# ---------------------------------------------------------------------------------------------


@lean
def _pin_all(op, st, s, tol, coordinates, kinks, duals):
    """Pin one coordinate after the other until the arrays are full; return how many were."""
    for k in range(coordinates.shape[0]):
        if s.sizes.pinned + 2 >= s.P.shape[0]:
            return k
        _pin(op, st, s, tol, coordinates[k], kinks[k], duals[k])
    return coordinates.shape[0]


@lean
def _pin(op, st, s, tol, i, kink, dual):
    """Pin coordinate i with a dual between two levels.

    When it depends on the pinned ones, move along the null vector, which changes no value, until
    one of them, or i itself, reaches a level, and leave that one out.
    """
    m = s.sizes.pinned
    pivot, singular = schur(op, st, s, tol, i)
    if not singular and op.sign[i] * pivot > tol.start * op.norm[i] ** 2:
        if not is_ridge(op):
            factor.append(s.G, m, s.u, pivot)
        _take(op, st, s, i, m, kink, dual)
        if is_ridge(op):
            join(op, st, s, i, pivot)
        s.sizes.pinned = m + 1
        hold_system(op, st, s, i)
        return
    step, out, down = _null_step(st, s, tol, i, kink, dual)
    for r in range(m):
        s.a[r] -= step * s.u[r]
    if out < 0:
        s.state[i] = 2 * (kink + down)
        return
    p = s.P[out]
    s.state[p] = 2 * (s.state[p] // 2 + down)
    s.slot[p] = -1
    exchange(op, st, s, tol, out, i)
    rank = s.rank[out]
    _take(op, st, s, i, out, kink, dual + step)
    s.rank[out] = rank
    hold_system(op, st, s, i)


@lean
def _take(op, st, s, i, r, kink, dual):
    """Put coordinate i into slot r, at a kink."""
    place(op, s, r, i)
    s.rank[r] = -1
    s.a[r] = dual
    hold_at_kink(st, s, i, kink)


@lean
def _null_step(st, s, tol, i, kink, dual):
    """Return the step along the null vector to a level, whose slot (-1: i), and which level."""
    t = s.clock.t
    up, low = level_at(st, i, kink, t) - dual, dual - level_at(st, i, kink + 1, t)
    step, out, down = (up, -1, 0) if up < low else (-low, -1, 1)
    largest = 0.0
    for r in range(s.sizes.pinned):
        largest = max(largest, abs(s.u[r]))
    for r in range(s.sizes.pinned):
        if abs(s.u[r]) <= tol.null_noise * largest:
            continue
        p = s.P[r]
        q = s.state[p] // 2
        for lower in range(2):
            level = level_at(st, p, q + lower, t)
            if abs(level) == np.inf:
                continue
            reach = (s.a[r] - level) / s.u[r]
            if reach * step >= 0 and abs(reach) < abs(step):
                step, out, down = reach, r, lower
    return step, out, down


@njit(cache=True)
def _distances(op, st, s):
    """Return how far every z_i - delta_i a_i is above its own kink or the one below, and above it.

    Both are the distance from the kink where i is pinned.
    """
    N, m, t = s.state.shape[0], s.sizes.pinned, s.clock.t
    below, above = np.full(N, np.inf), np.full(N, np.inf)
    for i in range(N):
        q = s.state[i] // 2
        pinned = s.slot[i] >= 0
        dual = s.a[s.slot[i]] if pinned else level_at(st, i, q, t)
        for k in range(max(q - 1, 0), min(q + 1, st.n_kinks[i])):
            off = distance(op, i, t, st.kink0[i, k], st.kink1[i, k], s.Q, s.P, m, s.a, s.lost)
            if st.soft[i] != 0.0:
                off -= st.soft[i] * dual
            if k == q and pinned:
                below[i] = above[i] = off
            elif k == q:
                above[i] = -off
            elif not pinned:
                below[i] = off
    return below, above


# ---------------------------------------------------------------------------------------------
# From Python
# ---------------------------------------------------------------------------------------------

ENDINGS = {
    UNBOUNDED: "no event ends the exchange at this point, so the problem is unbounded there",
    STALLED: "zero-length steps repeat without progress (cycling)",
    LOST: "rounding errors grew beyond the tolerance 'lost'",
}


class WalkError(RuntimeError):
    """The walk ended before its goal; ``trace`` holds the part of the path that is exact."""

    def __init__(self, message: str, trace: Trace):
        super().__init__(message)
        self.trace = trace


class Walker:
    """A walk in progress: an operator, staircases, states, and the inverse of the pinned system.

    Parameters
    ----------
    op : Operator
        The map; its working arrays are this walker's from now on.
    stairs : Staircases
        Staircases of the N coordinates at ``t``.
    state : (N,) int8 array
        States at ``t``: 2r on piece r, 2r + 1 at kink r.
    duals : (N,) array
        Duals of the coordinates at kinks (others are not read).
    t : float
        Where the walk begins.
    """

    def __init__(
        self,
        op: Operator,
        stairs: Staircases,
        state: NDArray[np.int8],
        duals: NDArray[np.float64],
        t: float = 0.0,
        tolerances: Tolerances | None = None,
    ):
        N = len(stairs)
        self.op = op
        self.tolerances = tolerances or Tolerances()
        self._base_norm, self._base_radius = op.norm.copy(), op.radius.copy()
        pinned = np.flatnonzero(state % 2)
        # No more rows than columns can be independent; of a kernel's there may be few or many.
        cap = min(N, max(64, len(op.now.c), 2 * len(pinned))) + 4
        ridge = op.kind == DENSE or op.n_ridge > 0
        self.s = empty_state(state, op.n, cap, op.kind == DENSE, ridge)
        self.log = empty_log(N)
        self._handed_over = False
        self.begin(stairs, t, pinned=pinned, duals=duals[pinned])

    def begin(
        self,
        stairs: Staircases,
        t: float,
        pinned: NDArray[np.int64] | None = None,
        duals: NDArray[np.float64] | None = None,
        walls: NDArray[np.int64] | None = None,
    ) -> None:
        """Start a leg at t with new staircases, from the present states and duals.

        With ``pinned`` given the inverse is computed from scratch; otherwise it is carried on.
        Bit q of ``walls`` is set where the walk stops once that coordinate is pinned at kink q.
        """
        s, op = self.s, self.op
        self.stairs = stairs
        wall = np.zeros(len(stairs), dtype=np.int64) if walls is None else walls
        self.st = Stairs(**vars(stairs), scale=np.ones(len(stairs)), wall=wall)
        drift = _measure(self.st, op.n, t, self._base_norm)
        scale = self.st.scale
        s.accuracy.drift = float(drift.any())
        for bound, still in ((op.norm, self._base_norm), (op.radius, self._base_radius)):
            bound[:] = np.maximum(np.hypot(still, drift), 1e-300)
        # What rounding makes of a value that is summed up from products of unit size.
        s.accuracy.unit = EPSILON * op.norm[: op.n].max() / scale[0]
        s.accuracy.spread = _spread(stairs.kinks(t)[: op.n], stairs.n_kinks[: op.n]) / scale[0]
        # The length that w may travel before a sample's value moves by more than 'residual'.
        reach = self.tolerances.residual * scale[0] / op.radius[: op.n].max()
        s.accuracy.reach = reach if op.n == len(scale) else -1.0
        s.clock.t = t
        s.last.coordinate = s.last.held = -1
        if pinned is not None:
            m = len(pinned)
            s.P[:m], s.a[:m] = pinned, duals
            s.slot[:] = -1
            s.slot[pinned] = np.arange(m)
            s.sizes.pinned = m
            self._pack()
            s.pending.kind = NONE
            refactor(op, self.st, s, self.tolerances)
        self._renew()

    def snapshot(self) -> tuple:
        """Return a copy of where the walk stands, for `restore`."""
        s = self.s
        names = ("state", "slot", "P", "a", "J", "G", "R", "W", "order", "rank")
        arrays = {name: getattr(s, name).copy() for name in names}
        return arrays, int(s.sizes.pinned), int(s.sizes.factored)

    def restore(self, snapshot: tuple, stairs: Staircases, t: float) -> None:
        """Go back to a snapshot, and start a leg there; counts start anew."""
        arrays, m, factored = snapshot
        s = self.s
        for name, kept in arrays.items():  # the walk's own may have grown since
            getattr(s, name)[tuple(slice(size) for size in kept.shape)] = kept
        for part in (s.pending, s.last, s.search, s.sizes, s.counts):
            clear(part)
        s.sizes.pinned, s.sizes.factored, s.search.random = m, factored, 1
        self._pack()
        self.begin(stairs, t)

    def _pack(self) -> None:
        """Copy the pinned columns of a dense map, or the codes of pinned rows."""
        pinned = self.s.P[: self.s.sizes.pinned]
        if self.op.kind == DENSE:
            self.s.Q[:, : len(pinned)] = self.op.H[:, pinned]
        if len(self.op.codes) > 0:
            samples = pinned < self.op.n
            self.op.now.packed[: len(pinned)] = samples[:, None] * self.op.codes[pinned * samples]

    def _renew(self) -> None:
        """Empty the log; its arrays stay, unless a trace has them."""
        s = self.s
        if self._handed_over:
            self.log, self._handed_over = empty_log(len(self.stairs)), False
        s.sizes.events = s.sizes.nodes = s.sizes.duals = s.counts.zeros = 0
        self.log.start[0] = 0
        self.log.checkpoint[0] = s.state
        self.grow()
        begin_leg(self.op, self.st, s, self.log, self.tolerances)

    def pin(self, coordinates: NDArray[np.int64], kinks: NDArray[np.int64], duals) -> None:
        """Pin coordinates at the given kinks with duals between two levels.

        Those that depend on others are brought to a level without changing any value. Call
        `begin` afterwards: values and directions are not kept up to date here.
        """
        tolerances, done = self.tolerances, 0
        while done < len(coordinates):
            rest = (coordinates[done:], kinks[done:], duals[done:])
            done += _pin_all(self.op, self.st, self.s, tolerances, *rest)
            if done < len(coordinates):
                self.grow()

    def distances(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return how far each z_i is from the kinks below and above it, negative where beyond.

        Of a pinned coordinate both are z_i minus its kink. Everything is computed afresh.
        """
        rebuild_sums(self.op, self.st, self.s)
        return _distances(self.op, self.st, self.s)

    def walk(self, t_end: float, lazy: bool = True, callback=None, budget: int = 2000) -> int:
        """Walk on to t_end; return how it ended (DONE, RAY or WALL).

        Raises
        ------
        WalkError
            The path could not be followed to its end; the exact part comes with the error.
        """
        s = self.s
        tolerances = self.tolerances
        begin = s.clock.t
        s.clock.end = t_end
        s.counts.budget = budget
        while True:
            try:
                ending = _walk(self.op, self.st, s, self.log, tolerances, lazy)
            except (np.linalg.LinAlgError, ArithmeticError):
                ending = LOST
            if ending == GROW:
                self.grow()
                s = self.s
            elif ending == PAUSE:
                s.counts.budget = budget
                if callback is not None:
                    callback((s.clock.t - begin) / (t_end - begin), int(s.sizes.events))
            elif ending in (DONE, RAY, WALL):
                return ending
            else:
                raise WalkError(
                    f"the path stops at t = {s.clock.t:.17g} after {s.sizes.events} events: "
                    f"{ENDINGS[ending]}; the exact part up to there is kept with this error.",
                    self.trace(),
                )

    def grow(self, events: int = 1) -> None:
        """Double whichever arrays are full, until so many events, and a node, fit in."""
        s = self.s
        m, every = s.sizes.pinned, checkpoint_every(len(self.stairs))
        if m + 2 >= len(s.P):
            self.s = widened(s, min(2 * len(s.P), len(self.stairs) + 4))
        self._lengthen(s.sizes.nodes + 2, "t", "event", "start")
        self._lengthen(s.sizes.duals + m + 2, "P", "a", "low")
        self._lengthen(s.sizes.events + events, "coordinate", "state")
        self._lengthen((s.sizes.events + events) // every, "checkpoint")

    def _lengthen(self, last: int, *names: str) -> None:
        """Double fields of the log until they have a place ``last``."""
        while last >= len(getattr(self.log, names[-1])):
            longer = {name: _twice(getattr(self.log, name)) for name in names}
            self.log = replace(self.log, **longer)

    def duals(self) -> NDArray[np.float64]:
        """Return the (N,) duals where the walk stands."""
        s = self.s
        a = self.stairs.duals(s.state, s.clock.t)
        size = s.sizes.pinned + (s.pending.kind == ENTERED)
        a[s.P[:size]] = s.a[:size]
        return a

    def trace(self) -> Trace:
        """Return what was recorded since `begin`, in the log's own arrays."""
        s, log = self.s, self.log
        self._handed_over = True
        nodes, events = s.sizes.nodes, s.sizes.events
        every = checkpoint_every(len(self.stairs))
        ray = np.zeros(len(self.stairs))
        rows = np.arange(len(ray))
        ray[:] = _finite(self.stairs.level1[rows, s.state.astype(np.int64) // 2])
        ray[s.P[: s.sizes.pinned]] = s.regular[: s.sizes.pinned]
        return Trace(
            self.stairs,
            log.t[:nodes],
            log.event[:nodes],
            log.start[: nodes + 1],
            log.P[: s.sizes.duals],
            log.a[: s.sizes.duals],
            log.low[: s.sizes.duals],
            log.coordinate[:events],
            log.state[:events],
            log.checkpoint[: events // every + 1],
            every,
            ray,
        )

    def statistics(self) -> dict[str, int]:
        """Return counts since the walker was made (events: since `begin`)."""
        counts = self.s.counts
        return {
            "events": int(self.s.sizes.events),
            "zero_steps": int(counts.zero_steps),
            "exchanges": int(counts.exchanges),
            "refactorisations": int(counts.refactored),
            "rebuilds": int(counts.rebuilt),
            "rows_looked_at": int(counts.looked),
        }


def empty_log(N: int) -> Log:
    """Return a log of N coordinates with room for some thousand events."""
    rooms = 4096
    return Log(
        np.zeros(rooms),
        np.zeros(rooms, dtype=np.int64),
        np.zeros(rooms, dtype=np.int64),
        np.zeros(rooms * 8, dtype=np.int32),
        np.zeros(rooms * 8),
        np.zeros(rooms * 8),
        np.zeros(rooms, dtype=np.int32),
        np.zeros(rooms, dtype=np.int8),
        np.zeros((rooms // checkpoint_every(N) + 2, N), dtype=np.int8),
    )


@njit(cache=True)
def _measure(st, n, t, norm):
    """Set what residuals are relative to at t; return how fast kinks move.

    Residuals are relative to the largest kink of the samples or of the features, or to what the
    correlation of a feature with duals at their levels is like; the balance of a bias, which has
    infinite levels, to the largest dual.
    """
    N = st.soft.shape[0]
    group, drift = np.zeros(N, dtype=np.int64), np.zeros(N)
    size, widest = np.zeros(3), 0.0
    for i in range(N):
        if i >= n:
            group[i] = 2 if np.isinf(st.level0[i, 0]) and np.isinf(st.level0[i, 1]) else 1
        for q in range(st.n_kinks[i]):
            if group[i] < 2:
                size[group[i]] = max(size[group[i]], abs(kink_at(st, i, q, t)))
            drift[i] = max(drift[i], abs(st.kink1[i, q]))
        for q in range(st.n_kinks[i] + 1):
            if np.isinf(st.level0[i, q]):
                continue
            if i < n:
                size[2] = max(size[2], abs(st.level0[i, q]) + abs(st.level1[i, q]))
                widest = max(widest, abs(level_at(st, i, q, t)))
            shift = st.soft[i] * st.level1[i, q]
            for k in range(max(q - 1, 0), min(q + 1, st.n_kinks[i])):
                drift[i] = max(drift[i], abs(st.kink1[i, k] + shift))
    for i in range(N):
        if group[i] == 1:  # a feature's norm is like the root mean square of its column
            size[1] = max(size[1], widest * norm[i] * np.sqrt(n))
    for i in range(N):
        if size[group[i]] > 0:
            st.scale[i] = size[group[i]]
    return drift


def _spread(kinks: NDArray[np.float64], n_kinks: NDArray[np.int64]) -> float:
    """Return half the range of the kinks."""
    own = kinks[np.arange(kinks.shape[1]) < n_kinks[:, None]]
    return 0.5 * float(own.max() - own.min()) if len(own) else 1.0


def _finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isfinite(values), values, 0.0)


def _twice(array: NDArray) -> NDArray:
    out = np.zeros((2 * len(array), *array.shape[1:]), dtype=array.dtype)
    out[: len(array)] = array
    return out
