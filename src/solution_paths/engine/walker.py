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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compilation import cached_njit
from . import factor
from .compiled import LINE, entry, inline, lean
from .events import enter, exchange, hold_at_kink, leave, place
from .operators import DENSE, Operator, distance, is_ridge
from .pinned import hold_system, join, schur
from .staircase import Staircases
from .state import (
    AT_LEG,
    AT_RETURN,
    AT_START,
    DONE,
    ENTERED,
    FAR,
    GROW,
    LOST,
    NONE,
    NOTED,
    ON_WAY,
    PAUSE,
    RAY,
    STALLED,
    UNBOUNDED,
    WALL,
    Log,
    checkpoint_every,
    empty_log,
    empty_state,
    level_at,
    new_lines,
    stairs_like,
    widened,
)
from .steps import aim, is_long, is_open, is_rough, patience, ratio_test, refine, take_step, tie_of
from .tolerances import DEFAULT, Tolerances
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

STANDSTILL = 1e-14  # of t: a shorter step may be none
LAST_EVENT, LAST_NODE, ENDING = (NOTED.index(f) for f in ("last_event", "last_node", "ending"))
BUDGET = 2000  # events after which Python is told of progress
SOME = 16  # events after which it looks whether they are enough: they take far longer
MUCH = 2**14  # recorded duals (320 KiB) that are not copied
NUMERICAL = (np.linalg.LinAlgError, ArithmeticError)

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
        if is_open(s, tol):
            refine(op, st, s, tol)
        pending, happened, moved, late = s.pending.kind != NONE, False, False, False
        overdue = False
        began = s.clock.t
        while not happened:  # again when what was chosen turns out to be noise
            if moved and not _room(s, log):  # each try may record a node
                return GROW
            # Ratio test
            met = False
            chosen = ratio_test(op, st, s, tol, dt, size, lazy)
            h = _ahead(s, chosen)
            if is_rough(s, h):
                refine(op, st, s, tol)
                continue
            if dt > 0 and not late and is_long(s, h):
                # A piece is as exact as its ends are, and its far end may feel more of them.
                settle(op, st, s, tol, tol.outside, True)
                record(s, log, 1)
            if chosen < 0:
                return _arrive(op, st, s, log, tol, dt, size)
            i, down = s.hit_index[chosen] % N, s.hit_index[chosen] >= N
            before, rate = s.state[i], s.hit_rate[chosen]

            # Step
            take_step(op, s, dt, size, h)
            if late or _is_move(op, st, s, tol, dt, i, h, rate, began):
                moved = True
                if not pending:
                    if not hold(op, st, s, tol):
                        return LOST
                    near = approach(op, st, s, tol, size, i, down, h, rate, began)
                    if not near and not late:
                        late = True  # what seemed to come first is further away than it seemed
                        continue
                    record(s, log, 0)
                    met = True
            elif began == 0.0:
                take_step(op, s, dt, size, -h)  # or the next tie would be a move beside this one

            # Event
            happened = _event(op, st, s, tol, i, down, dt, rate, moved)
            if before % 2 == 0 and not met:
                s.accuracy.slip = FAR  # nobody has looked how near its kink it is
                # Beyond it, where values move further in the last digit of t than a tie.
                overdue = s.hit_slack[chosen] < -tie_of(op, st, s, tol, i)

        # Record and refresh
        log_event(s, log, i, before, moved and s.clock.t - began > STANDSTILL * abs(s.clock.t))
        if s.pending.kind == NONE:
            exchanged, unsure = pending and moved, s.last.unsure > 0
            if (exchanged or unsure or overdue) and not hold(op, st, s, tol):
                return LOST
            s.last.unsure = 0
            if exchanged or overdue:
                record(s, log, 0)
            elif unsure and moved and before % 2 == 0:
                record(s, log, 1)  # what entered is at its kink now
            elif unsure and moved and not is_ridge(op):
                record(s, log, 0)  # what left is at its level
            if not maintain(op, st, s, tol):
                return LOST

        # Stop?
        if s.state[i] % 2 == 1 and (st.wall[i] >> (s.state[i] // 2)) & 1:
            return WALL
        if max(s.counts.zeros, s.counts.returns) > 100 * patience(s, tol):
            return STALLED
        s.counts.budget -= 1
        if s.counts.budget <= 0 and s.pending.kind == NONE:
            return PAUSE
    return GROW


@inline
def _room(s, log):
    """Tell whether the next event fits into the arrays, with a node on either side of it."""
    m = s.sizes.pinned
    events = s.sizes.events + 1
    return (
        m + 2 < s.P.shape[0]
        and s.sizes.nodes + 2 < log.start.shape[0]
        and s.sizes.duals + 2 * m + 4 < log.P.shape[0]
        and events < log.coordinate.shape[0]
        and events // checkpoint_every(s.state.shape[0]) < log.checkpoint.shape[0]
    )


@inline
def _ahead(s, chosen):
    """Return how far away the next event is, or the walk's end."""
    if chosen < 0:
        return s.clock.end - s.clock.t
    return max(s.hit_slack[chosen], 0.0) / s.hit_rate[chosen]


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
    if (
        not moved
        and i != s.last.held
        and i == s.last.coordinate
        and 2 * (state // 2 + down) == s.last.came
    ):
        # It only just came from there: that is rounding noise, if a better velocity says the same.
        if s.direction.off > 0.0:
            refine(op, st, s, tol)
        else:
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
    settle(op, st, s, tol, tol.outside, True)  # what can't be mended there is the judge's to tell
    snap_to_levels(op, st, s)
    record(s, log, 0)
    return DONE


@inline
def _is_move(op, st, s, tol, dt, i, h, rate, began):
    """Tell whether a step is more than rounding.

    Without a ridge duals may do in it what t is too coarse for, and at 0 t has no size to tell by.
    """
    least = 1e-13 * st.scale[i] if is_ridge(op) else 10.0 * tie_of(op, st, s, tol, i)
    if dt > 0:
        # A slack within a tie is no step, unless it is approached so slowly that t changes.
        tie = s.state[i] % 2 == 0 and h * rate <= tie_of(op, st, s, tol, i)
        if tie and began != 0.0:
            return h > 1e-12 * abs(s.clock.t)
        if not tie and (is_ridge(op) or h > STANDSTILL * abs(s.clock.t)):
            return s.state[i] % 2 == 0 or h > STANDSTILL * abs(s.clock.t)
    return h * s.direction.gross * op.norm[i] > least


# ---------------------------------------------------------------------------------------------
# Line after line
# ---------------------------------------------------------------------------------------------


@entry
def _walk_lines(op, st, s, log, tol, lazy, lines):
    """Walk the present line and those behind it; return DONE, or why Python is to see to it."""
    now = lines.now
    while now.number < lines.tally.shape[0]:
        if now.stage != ON_WAY:
            _open_log(s, log, lines)
            if now.stage == AT_START:
                _gather(st, s, lines)
            if not _room(s, log):
                return GROW
            if now.stage != AT_LEG:
                _forget(s)
                for r in range(s.sizes.pinned):
                    place(op, s, r, s.P[r])
            begin_leg(op, st, s, log, tol, now.begin, now.stage == AT_START)
            now.stage = ON_WAY
            if s.counts.budget <= 0:
                return PAUSE
        ending = _walk(op, st, s, log, tol, lazy)
        if ending in (GROW, PAUSE):
            return ending
        end_line(st, s, lines, ending)
    return DONE


@lean
def _open_log(s, log, lines):
    """Let the log go on behind the lines before, where all states can be kept."""
    now, k, every = lines.now, lines.now.number, checkpoint_every(s.state.shape[0])
    log.start[0] = now.events = now.nodes = 0
    if k > 0:
        now.events = every * (lines.tally[k - 1, LAST_EVENT] // every + 1)
        now.nodes = lines.tally[k - 1, LAST_NODE]
    s.sizes.events, s.sizes.nodes, s.sizes.duals = now.events, now.nodes, log.start[now.nodes]


@lean
def _gather(st, s, lines):
    """Take over the softness, states and pinned duals of the present line."""
    k, m = lines.now.number, 0
    s.slot[:] = -1
    for i in range(s.state.shape[0]):
        st.soft[i], s.state[i] = lines.soft[k, i], lines.state[k, i]
        if s.state[i] % 2 == 1:
            s.P[m], s.a[m] = i, lines.dual[k, i]
            m += 1
    s.sizes.pinned = m


@lean
def _forget(s):
    """Let all counts begin anew, and what the last events left."""
    s.pending.kind = NONE
    s.last.came = s.last.unsure = 0
    s.search.first, s.search.random = 0, 1
    s.counts.zero_steps = s.counts.looked = s.counts.exchanges = 0
    s.counts.span = s.counts.since_kept = s.counts.returns = 0
    s.counts.refactored = s.counts.rebuilt = s.counts.since_factored = 0


@entry
def note_line(st, s, lines, k):
    """Note where line k stands, as `Lines` has it."""
    N, m, now, counts, t = s.state.shape[0], s.sizes.pinned, lines.now, s.counts, s.clock.t
    lines.t[k] = t
    noted = (  # in the order of NOTED
        now.events,
        s.sizes.events,
        now.nodes,
        s.sizes.nodes,
        lines.tally[k, ENDING],
        counts.zero_steps,
        counts.exchanges,
        counts.refactored,
        counts.rebuilt,
        counts.looked,
    )
    for j, number in enumerate(noted):
        lines.tally[k, j] = number
    for i in range(N):
        q, state = s.state[i] // 2, s.state[i]
        lines.state[k, i] = state
        lines.dual[k, i] = level_at(st, i, q, t) if state % 2 == 0 else 0.0
        lines.ray[k, i] = st.level1[i, q] if np.isfinite(st.level1[i, q]) else 0.0
    for r in range(m):
        lines.dual[k, s.P[r]], lines.ray[k, s.P[r]] = s.a[r], s.regular[r]
    if s.pending.kind == ENTERED:
        lines.dual[k, s.P[m]] = s.a[m]


@entry
def end_line(st, s, lines, ending):
    """Note how and where the present line has ended, and go to the next."""
    note_line(st, s, lines, lines.now.number)
    lines.tally[lines.now.number, ENDING] = ending
    lines.now.number += 1
    lines.now.stage = AT_START


# ---------------------------------------------------------------------------------------------
# A start from any feasible duals
# ---------------------------------------------------------------------------------------------


@entry
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
    if not singular and op.sign[i] * pivot > tol.dependent * op.norm[i] ** 2:
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


@cached_njit
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
    STALLED: "the same steps repeat without progress (cycling)",
    LOST: "rounding errors grew beyond the tolerance 'lost'",
}


class WalkError(RuntimeError):
    """The walk ended before its goal; ``trace`` holds the part of the path that is exact."""

    def __init__(self, message: str, trace: Trace):
        super().__init__(message)
        self.trace = trace


class Line(NamedTuple):
    """What became of one of several lines: its trace, its end, and what broke it off, or None."""

    trace: Trace
    ending: int
    error: WalkError | None
    statistics: dict[str, int]
    state: NDArray[np.int8]
    duals: NDArray[np.float64]


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
    tolerances : Tolerances, optional
    soft : (K, N) array, optional
        The softness of K lines, in place of that of ``stairs``, for `walk_lines`. Then ``state``
        and ``duals`` are what all begin with, or (K, N).
    walls : (N,) int array, optional
        See `begin`.
    """

    def __init__(
        self,
        op: Operator,
        stairs: Staircases,
        state: NDArray[np.int8],
        duals: NDArray[np.float64],
        t: float = 0.0,
        tolerances: Tolerances | None = None,
        soft: NDArray[np.float64] | None = None,
        walls: NDArray[np.int64] | None = None,
    ):
        N = len(stairs)
        self.op = op
        self.tolerances = tolerances or DEFAULT
        self.lines = new_lines(stairs.soft[None] if soft is None else soft, state, duals)
        pinned = int((self.lines.state % 2).sum(axis=1).max())
        ridge = op.kind == DENSE or op.n_ridge > 0
        # No more rows than columns can be independent; of a kernel's there may be few or many.
        # Without a ridge there are as many features as samples.
        most = len(op.now.c) if ridge else min(len(op.now.c), 2 * op.n + 2)
        cap = _lines(min(N, max(256 if op.kind == DENSE else 64, most, 2 * pinned)) + 4)
        self.s = empty_state(N, op.n, cap, op.kind == DENSE, ridge)
        self.log, self._handed_over = self._new_log(), False
        self.st = stairs_like(stairs)
        if soft is None:
            self._begin(stairs, t, walls, AT_START)
        else:
            self._stand(replace(stairs, soft=soft[0]), t, walls)

    def begin(self, stairs: Staircases, t: float, walls: NDArray[np.int64] | None = None) -> None:
        """Start a leg at t with new staircases, from the present states, duals and factor.

        Bit q of ``walls`` is set where the walk stops once that coordinate is pinned at kink q.
        """
        self._begin(stairs, t, walls, AT_LEG)

    def _begin(
        self, stairs: Staircases, t: float, walls: NDArray[np.int64] | None, stage: int
    ) -> None:
        self._stand(stairs, t, walls)
        if self._handed_over:  # a trace has its arrays
            self.log, self._handed_over = self._new_log(), False
        now, s = self.lines.now, self.s
        now.number, now.stage, s.counts.budget = 0, stage, 0
        while self._step(True) == GROW:
            self.grow()

    def _new_log(self) -> Log:
        most = len(self.s.state) // 2 if self.op.kind == DENSE else len(self.op.now.c)
        return empty_log(len(self.s.state), most)

    def _stand(self, stairs: Staircases, t: float, walls: NDArray[np.int64] | None) -> None:
        """Stand at t on staircases, before a leg."""
        self.stairs, self.lines.now.begin = stairs, t
        if self.st.kink0.shape != stairs.kink0.shape:
            self.st = stairs_like(stairs)
        for name, numbers in vars(stairs).items():
            getattr(self.st, name)[:] = numbers
        self.st.wall[:] = 0 if walls is None else walls

    def _step(self, lazy: bool) -> int:
        return _walk_lines(
            self.op, self.st, self.s, self.log, self.tolerances, bool(lazy), self.lines
        )

    def snapshot(self) -> tuple:
        """Return a copy of where the walk stands, for `restore`."""
        s = self.s
        m = int(s.sizes.pinned)
        names = ("state", "slot", "P", "a", "order", "rank")
        arrays = {name: getattr(s, name).copy() for name in names}
        arrays |= {name: getattr(s, name)[:m, :m].copy() for name in ("J", "G", "R")}
        arrays["W"] = s.W[:m].copy()
        return arrays, m, int(s.sizes.factored)

    def restore(
        self,
        snapshot: tuple,
        stairs: Staircases,
        t: float,
        walls: NDArray[np.int64] | None = None,
    ) -> None:
        """Go back to a snapshot, and start a leg there; counts start anew."""
        arrays, m, factored = snapshot
        s = self.s
        for name, kept in arrays.items():  # the walk's own may have grown since
            getattr(s, name)[tuple(slice(size) for size in kept.shape)] = kept
        s.sizes.pinned, s.sizes.factored = m, factored
        self._begin(stairs, t, walls, AT_RETURN)

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

    def walk(self, t_end: float, lazy: bool = True, callback=None, enough: float = np.inf) -> int:
        """Walk on to t_end; return how it ended (DONE, RAY or WALL).

        It also ends some events after t = ``enough``, unless there are none.

        Raises
        ------
        WalkError
            The path could not be followed to its end; the exact part comes with the error.
        """
        self.lines.now.number, self.lines.now.stage = 0, ON_WAY
        cause = None
        try:
            self._go(t_end, lazy, callback, enough)
        except NUMERICAL as error:
            cause = error
            end_line(self.st, self.s, self.lines, LOST)
        ending = int(self.lines.tally[0, ENDING])
        if ending not in ENDINGS:
            return ending
        raise self._broken(0) from cause

    def walk_lines(self, t_end: float, lazy: bool = True, callback=None) -> list[Line]:
        """Walk all lines to t_end, each from its own start; return what became of them."""
        failed = {}
        while self.lines.now.number < len(self.lines.soft):
            try:
                self._go(t_end, lazy, callback)
            except NUMERICAL as error:  # which costs this line alone
                failed[int(self.lines.now.number)] = error
                end_line(self.st, self.s, self.lines, LOST)
        return [self._line(k, failed.get(k)) for k in range(len(self.lines.soft))]

    def _go(self, t_end: float, lazy: bool, callback, enough: float = np.inf) -> None:
        """Walk to t_end, until all lines have ended."""
        begin, lines, budget = self.lines.now.begin, self.lines, BUDGET
        if enough < np.inf:
            budget = SOME
        self.s.clock.end = t_end
        self.s.counts.budget = budget
        while True:
            ending = self._step(lazy)
            if ending == GROW:
                self.grow()
            elif ending == PAUSE:
                s, k = self.s, int(lines.now.number)
                s.counts.budget = budget
                if s.clock.t >= enough:
                    end_line(self.st, s, lines, DONE)
                    return
                if callback is not None:
                    done = (s.clock.t - begin) / (t_end - begin)
                    events = s.sizes.events - lines.now.events
                    events += sum(self._counts(j)["events"] for j in range(k))
                    callback((k + done) / len(lines.soft), events)
            else:
                return

    def _line(self, k: int, failed: Exception | None) -> Line:
        """Return what became of a line that has ended."""
        stairs = replace(self.stairs, soft=self.lines.soft[k])
        trace, ending, error = self._trace(k, stairs), int(self.lines.tally[k, ENDING]), None
        if failed is not None and not len(trace.t):
            error = WalkError(f"{type(failed).__name__}: {failed}", trace)
        elif ending in ENDINGS:
            error = self._broken(k, trace)
        state, duals = self.lines.state[k], self.lines.dual[k]
        return Line(trace, ending, error, self._counts(k), state, duals)

    def _broken(self, k: int, trace: Trace | None = None) -> WalkError:
        """Return the error of a line that has ended before its goal."""
        return WalkError(
            f"the path stops at t = {self.lines.t[k]:.17g} after {self._counts(k)['events']} "
            f"events: {ENDINGS[int(self.lines.tally[k, ENDING])]}; the exact part up to there is "
            "kept with this error.",
            self.trace() if trace is None else trace,
        )

    def grow(self, events: int = 1) -> None:
        """Make whichever arrays are full longer, until so many events, and two nodes, fit in."""
        s = self.s
        m, every = s.sizes.pinned, checkpoint_every(len(self.stairs))
        if m + 2 >= len(s.P):
            self.s = widened(s, _lines(min(2 * len(s.P), len(self.stairs) + 4)))
        self._lengthen(s.sizes.nodes + 2, "t", "event", "start")
        self._lengthen(s.sizes.duals + 2 * m + 4, "P", "a", "low")
        self._lengthen(s.sizes.events + events, "coordinate", "state")
        self._lengthen((s.sizes.events + events) // every, "checkpoint")

    def _lengthen(self, last: int, *names: str) -> None:
        """Make fields of the log four times as long until they have a place ``last``."""
        while last >= len(getattr(self.log, names[-1])):
            longer = {name: _longer(getattr(self.log, name)) for name in names}
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
        note_line(self.st, self.s, self.lines, 0)
        return self._trace(0, self.stairs)

    def _trace(self, k: int, stairs: Staircases) -> Trace:
        """Return what was recorded of a line: copies, or the log's own arrays where that is much.

        So a short path keeps little, and of a long one nothing is held twice.
        """
        log, every = self.log, checkpoint_every(len(stairs))
        event, last_event, node, last_node = self.lines.tally[k, :4].tolist()
        first, last = log.start[[node, last_node]].tolist()
        parts = (
            log.t[node:last_node],
            log.event[node:last_node] - event,
            log.start[node : last_node + 1] - first,
            log.P[first:last],
            log.a[first:last],
            log.low[first:last],
            log.coordinate[event:last_event],
            log.state[event:last_event],
            log.checkpoint[event // every : last_event // every + 1],
        )
        if last > min(len(log.P) // 2, MUCH):
            self._handed_over = True
        elif not self._handed_over:
            parts = tuple(part.copy() for part in parts)
        return Trace(stairs, *parts, every, self.lines.ray[k].copy())

    @property
    def events(self) -> int:
        """Count the events since `begin`."""
        return int(self.s.sizes.events - self.lines.now.events)

    def statistics(self) -> dict[str, int]:
        """Return counts since the walker was made (events: since `begin`)."""
        note_line(self.st, self.s, self.lines, 0)
        return self._counts(0)

    def _counts(self, k: int) -> dict[str, int]:
        noted = dict(zip(NOTED, self.lines.tally[k].tolist(), strict=True))
        events = noted["last_event"] - noted["first_event"]
        return {"events": events} | {name: noted[name] for name in NOTED[5:]}


def _lines(size: int) -> int:
    """Return a length of rows that is an odd number of cache lines."""
    return LINE * (-(-size // LINE) | 1)


def _longer(array: NDArray) -> NDArray:
    out = np.empty((4 * len(array), *array.shape[1:]), dtype=array.dtype)
    out[: len(array)] = array
    return out
