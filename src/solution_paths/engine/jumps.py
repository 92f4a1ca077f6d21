"""Jumps: paths of local optima, which leave one convex piece of an objective for another.

Some kinks are *walls*: beyond one a coordinate's staircase is another one. Within walls the walk
is as always; it stops where a value reaches one. There the coordinate goes to the piece on the
other side, with its dual where it is, and the level of that piece is moved, at fixed t, from this
dual to where it belongs. This is a walk like any other, in its own parameter from -1 to 0, in which
all walls hold. Where some coordinates are at walls at its end, they change sides in turn.

All staircases of a coordinate are one table, in which the walls of both sides are kinks of
their own: so states and the log mean the same everywhere, and a jump leaves one event for each
coordinate whose state it changed, between two nodes at the same t.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .compiled import lean
from .events import _rest, _take_out, frame, hold_at_kink
from .operators import (
    DENSE,
    add_exactly,
    add_product,
    distance,
    hold_level,
    move_level,
    sum_up,
    value,
)
from .staircase import Staircases
from .state import (
    BLOCK,
    DRIFT,
    ENTERED,
    EVENTS,
    FAR,
    FLAT,
    HELD,
    KIND,
    LAST,
    NODES,
    NONE,
    ODOMETER,
    PENDING,
    UNSURE,
    WALL,
    WORN,
    ZEROS,
    Log,
    M,
    Stairs,
    T,
    checkpoint_every,
    kink_at,
    level_at,
)
from .upkeep import hold, rebuild_sums, record
from .walker import Walker, WalkError, _empty_log, _longer_fields

STANDING = 1000  # jumps at one t, after which something is wrong
SAME = 1e-12  # jumps so near to each other in t, relative, count as at one t
FALL = 1e-13  # what counts as a fall of the objective, relative
TOUCHING = 1e-12  # of the kinks' scale: as near to a wall a value is at it
FRESH = 64  # jumps between two computations of all sums from nothing


class Walls(NamedTuple):
    """Staircases with walls.

    Attributes
    ----------
    stairs : Staircases
    beyond : (N, Q) int8 array
        The piece on the other side of each wall, -1 for other kinks.
    """

    stairs: Staircases
    beyond: NDArray[np.int8]

    @property
    def bits(self) -> NDArray[np.int64]:
        """(N,) ints whose bit q is set where kink q is a wall."""
        return ((self.beyond >= 0) << np.arange(self.beyond.shape[1])).sum(axis=1)


# -- compiled ---------------------------------------------------------------------------------


@lean
def _freeze(op, st, jump, s):
    """Let all kinks and levels of a jump stand where those of ``st`` are, and begin it at -1."""
    t = s.number[T]
    for i in range(st.soft.shape[0]):
        for q in range(st.n_kinks[i]):
            jump.kink0[i, q] = kink_at(st, i, q, t)
        for q in range(st.n_kinks[i] + 1):
            jump.level0[i, q] = level_at(st, i, q, t)
            jump.level1[i, q] = 0.0
    for k in range(op.base0.shape[0]):
        total, lost = add_product(op.base0[k], op.lost0[k], t, op.base1[k])
        op.base0[k], op.lost0[k] = total, lost + t * op.lost1[k]
    _let_levels_stand(op)
    op.size[0] += t * op.size[1]
    op.size[1] = 0.0
    s.number[T], s.number[DRIFT] = -1.0, 0.0


@lean
def _freeze_again(op, jump, s):
    """Begin another round of a jump, at -1."""
    jump.level1[:] = 0.0
    _let_levels_stand(op)
    op.size[1] = 0.0
    s.number[T] = -1.0


@lean
def _let_levels_stand(op):
    op.base1[:] = 0.0
    op.lost1[:] = 0.0
    op.quadratic[:] = 0.0
    op.moving[0] = 0


@lean
def _change_sides(op, jump, s, beyond, chosen):
    """Put coordinates that are pinned at walls, if chosen, on the pieces beyond."""
    last = s.count[M] + (1 if s.count[KIND] == ENTERED else 0) - 1
    for r in range(last, -1, -1):
        i = s.P[r]
        if not chosen[i] or s.state[i] % 2 == 0 or beyond[i, s.state[i] // 2] < 0:
            continue
        piece = beyond[i, s.state[i] // 2]
        goal, dual = jump.level0[i, piece], s.a[r]
        jump.level1[i, piece] = goal - dual  # from -1, where it is the dual, to 0
        s.state[i] = 2 * piece
        move_level(op, i, (level_at(jump, i, piece, -1.0) - dual) - s.lost[r])
        if s.count[KIND] == ENTERED and s.count[PENDING] == i:
            _rest(op, jump, s, i)
            s.count[KIND] = NONE
        else:
            _take_out(op, jump, s, r)


@lean
def _touches(op, st, s, beyond):
    """Tell whether any value on a piece is at a wall."""
    t = s.number[T]
    for i in range(op.n):
        if s.slot[i] >= 0:
            continue
        q = s.state[i] // 2
        for kink in range(max(q - 1, 0), min(q + 1, st.n_kinks[i])):
            if beyond[i, kink] >= 0 and s.due[i] <= s.number[ODOMETER]:
                off = distance(
                    op,
                    i,
                    t,
                    st.kink0[i, kink],
                    st.kink1[i, kink],
                    s.Q,
                    s.P,
                    s.count[M],
                    s.a,
                    s.lost,
                )
                if abs(off) <= TOUCHING * st.scale[i]:
                    return True
    return False


@lean
def _cross(op, jump, s, beyond, i):
    """Put coordinate i, which is on a piece at a wall, on the piece beyond."""
    q, piece, nearest = s.state[i] // 2, -1, np.inf
    for kink in range(max(q - 1, 0), min(q + 1, jump.n_kinks[i])):
        if beyond[i, kink] >= 0:
            at, size = jump.kink0[i, kink], s.count[M]
            off = abs(distance(op, i, -1.0, at, 0.0, s.Q, s.P, size, s.a, s.lost))
            if off < nearest:
                nearest, piece = off, beyond[i, kink]
    dual, goal = jump.level0[i, q], jump.level0[i, piece]
    hold_level(op, i, dual, 0.0, -1, -1.0)
    jump.level1[i, piece] = goal - dual
    s.state[i] = 2 * piece
    hold_level(op, i, goal, goal - dual, 1, -1.0)
    move_level(op, i, level_at(jump, i, piece, -1.0) - dual)
    s.due[i] = -FAR
    s.block[i // BLOCK] = -FAR


@lean
def _begin(op, st, s):
    """Bring windows, spans and counts up to date with other staircases for the same states."""
    for i in range(s.state.shape[0]):
        if s.slot[i] < 0:
            frame(st, s, i)
        else:
            hold_at_kink(st, s, i, s.state[i] // 2)
    s.count[LAST] = s.count[HELD] = -1
    s.count[ZEROS] = s.count[UNSURE] = 0


@lean
def _thaw(op, st, s, before, t, base1, lost1, quadratic, moving):
    """Go back to ``st`` at t, whose sums of rates were put aside when the jump began.

    ``before`` are the states then.
    """
    for k in range(base1.shape[0]):
        op.base1[k], op.lost1[k] = base1[k], lost1[k]
    op.quadratic[0], op.quadratic[1] = quadratic[0], quadratic[1]
    op.moving[0] = moving
    s.number[T] = t
    for i in range(before.shape[0]):
        if s.state[i] != before[i]:
            for state, sign in ((before[i], -1), (s.state[i], 1)):
                q = state // 2
                if state % 2 == 0 and st.level1[i, q] != 0.0:
                    hold_level(op, i, 0.0, st.level1[i, q], sign, t)
                    # in the jump its level was rounded
                    level, lost = add_product(st.level0[i, q], 0.0, t, st.level1[i, q])
                    lost += level - level_at(st, i, q, t)
                    hold_level(op, i, lost, 0.0, sign, t)
    for k in range(op.base0.shape[0]):
        total, lost = add_product(op.base0[k], op.lost0[k], -t, op.base1[k])
        op.base0[k], op.lost0[k] = add_exactly(total, lost - t * op.lost1[k], 0.0)
    if op.kind != DENSE:
        sum_up(op, t, s.P, s.count[M], s.a, s.lost)
        s.number[WORN] = 0.0
    _measure_levels(op, st, s, t)


@lean
def _measure_levels(op, st, s, t):
    """Set the sums of the sizes of levels afresh."""
    op.size[:] = 0.0
    for i in range(op.n):
        if s.slot[i] < 0:
            q = s.state[i] // 2
            level = level_at(st, i, q, t)
            up = level > 0.0 or (level == 0.0 and st.level1[i, q] > 0.0)
            weight = op.norm[i] if up else -op.norm[i]
            op.size[0] += weight * st.level0[i, q]
            op.size[1] += weight * st.level1[i, q]


@lean
def _log_changes(s, log, before):
    """Log an event for each coordinate whose state changed; ``before`` becomes what it is now."""
    every = checkpoint_every(before.shape[0])
    for i in range(before.shape[0]):
        if before[i] != s.state[i]:
            before[i] = s.state[i]
            e = s.count[EVENTS]
            log.coordinate[e] = i
            log.state[e] = before[i]
            s.count[EVENTS] = e + 1
            if (e + 1) % every == 0:
                copy = log.checkpoint[(e + 1) // every]
                for k in range(before.shape[0]):
                    copy[k] = before[k]


@lean
def _at_walls(s, beyond):
    """Return how many coordinates are pinned at walls."""
    found = 0
    for r in range(s.count[M]):
        i = s.P[r]
        if s.state[i] % 2 == 1 and beyond[i, s.state[i] // 2] >= 0:
            found += 1
    return found


@lean
def _values(op, s, out):
    """Write the values of all samples."""
    size = s.count[M] + (1 if s.count[KIND] == ENTERED else 0)
    for i in range(op.n):
        out[i] = value(op, i, s.number[T], s.Q, size, s.a)


def values_of(walker: Walker) -> NDArray[np.float64]:
    """Return the (n,) values of the samples where a walk stands."""
    values = np.empty(walker.op.n)
    _values(walker.op, walker.s, values)
    return values


# -- the walk ---------------------------------------------------------------------------------


class JumpingWalk:
    """A walk between walls and across them, in one log.

    Parameters
    ----------
    walker : Walker
        It stands at the start, with the states of ``walls.stairs``.
    walls : Walls
    t : float
        Where it begins.
    energy : callable
        Maps (values, duals, t) of the samples to the objective: tells whether a round of a jump
        that ends at walls has changed anything.
    improve : callable
        Maps (duals, t) of a solution with values at walls to the coordinates that must change sides
        so that there is a better one near by, None if there is none.
    """

    def __init__(
        self,
        walker: Walker,
        walls: Walls,
        t: float,
        energy: Callable[[NDArray[np.float64], NDArray[np.float64], float], float],
        improve: Callable[[NDArray[np.float64], float], NDArray[np.int64] | None],
    ):
        self.walker, self.walls = walker, walls
        self.energy, self.improve = energy, improve
        walker.begin(walls.stairs, t, walls=walls.bits)
        own = walls.stairs
        self._st = walker.st
        self._jump = Stairs(
            own.kink0.copy(),
            np.zeros_like(own.kink1),
            own.level0.copy(),
            np.zeros_like(own.level1),
            own.soft,
            own.n_kinks,
            walker.st.scale,
            np.zeros(len(own), dtype=np.int64),
        )
        self._log = _empty_log(len(own))
        self.counts = {"jumps": 0, "rounds": 0, "jump_events": 0, "stays": 0}
        # Of the jumps at one t: where that is, how many, states before changes of sides, and the
        # objective since which they were noted.
        self._at, self._number = np.nan, 0
        self._seen: set[bytes] = set()
        self._least = np.inf

    def walk(self, t_end: float, lazy: bool, callback: Any) -> int:
        """Walk to t_end; return how it ended (DONE).

        Raises
        ------
        WalkError
            See `Walker.walk`.
        """
        while True:
            ending = self.walker.walk(t_end, lazy=lazy, callback=callback)
            if ending == WALL:
                self._leap(lazy)
                continue
            better = self._better(self._st, self.walker.duals, t_end)
            if better is None:
                return ending
            self._leap(lazy, better)

    def _leap(self, lazy: bool, chosen: NDArray[np.int64] | None = None) -> None:
        """Jump: change sides until no coordinate is at a wall, or until nothing changes.

        Who changes sides first: those at walls, or those chosen.
        """
        walker = self.walker
        op, s, t = walker.op, walker.s, float(walker.s.number[T])
        if self._repeats(walker.duals, t):
            return
        self.counts["jumps"] += 1
        if walker.log.t[s.count[NODES] - 1] != t:  # else it was recorded before the last event
            if s.count[KIND] == NONE:
                self._hold(t)
            record(s, walker.log, 0)
        before = s.state.copy()
        main, counts = walker.log, s.count[[EVENTS, NODES, FLAT]].copy()
        kept = op.base1.copy(), op.lost1.copy(), op.quadratic.copy(), int(op.moving[0])
        drift = s.number[DRIFT]
        _freeze(op, self._st, self._jump, s)
        walker.log, walker.st = self._log, self._jump
        try:
            self._rounds(lazy, t, chosen)
        except WalkError as error:
            walker.log = main
            walker.s.count[[EVENTS, NODES, FLAT]] = counts
            raise WalkError(f"in a jump at t = {t:.17g}: {error}", walker.trace()) from error
        s = walker.s
        self._log, walker.log, walker.st = walker.log, main, self._st
        self.counts["jump_events"] += int(s.count[EVENTS])
        s.count[[EVENTS, NODES, FLAT]] = counts
        _thaw(op, self._st, s, before, t, *kept)
        s.number[DRIFT] = drift
        _begin(op, self._st, s)
        if self.counts["jumps"] % FRESH == 0:
            rebuild_sums(op, self._st, s)
        self._hold(t)
        self._make_room(int((before != s.state).sum()))
        _log_changes(s, walker.log, before)
        record(s, walker.log, 0)
        self._gather()

    def _gather(self) -> None:
        """Let the nodes of jumps that follow each other but for rounding have the same t."""
        t, nodes = self.walker.log.t, self.walker.s.count[NODES]
        first = int(np.searchsorted(t[:nodes], self._at))
        t[first:nodes] = self._at

    def _hold(self, t: float) -> None:
        """Make the pinned equations hold where a jump begins or ends."""
        walker = self.walker
        if not hold(walker.op, self._st, walker.s, walker.tolerances):
            raise WalkError(
                f"the path stops at a jump at t = {t:.17g}: rounding errors grew beyond the "
                "tolerance 'lost'; the exact part up to there is kept with this error.",
                walker.trace(),
            )

    def _repeats(self, duals: Callable[[], NDArray[np.float64]], t: float) -> bool:
        """Tell whether changing sides would lead in a circle, and note the present states.

        Where the pinned rows depend on each other, their duals may take up any change of a level,
        and the values stay what they are.
        """
        states = self.walker.s.state.tobytes()
        if not abs(t - self._at) <= SAME * max(1.0, abs(t)):
            self._at, self._number, self._seen, self._least = t, 0, {states}, np.inf
            return False
        self._number += 1
        if self._number > STANDING:
            raise WalkError(
                f"the path stops at t = {t:.17g}: sides change more than {STANDING} times; the "
                "exact part up to there is kept with this error.",
                self.walker.trace(),
            )
        energy = self.energy(values_of(self.walker), duals(), t)
        if not energy >= self._least - FALL * abs(self._least):
            self._seen, self._least = set(), energy
        circle = states in self._seen
        self._seen.add(states)
        self.counts["stays"] += circle
        return circle

    def _rounds(self, lazy: bool, t: float, chosen: NDArray[np.int64] | None) -> None:
        """Change sides, and move levels where they belong, until that is enough."""
        walker, jump, beyond = self.walker, self._jump, self.walls.beyond
        while True:
            s = walker.s
            s.count[[EVENTS, NODES, FLAT]] = 0
            self._log.start[0] = 0
            who = np.full(len(s.state), chosen is None)
            if chosen is not None:
                who[chosen] = True
                for i in chosen[s.slot[chosen] < 0]:
                    _cross(walker.op, jump, s, beyond, i)
            _change_sides(walker.op, jump, s, beyond, who)
            _begin(walker.op, jump, s)
            while len(walker.log.P) <= s.count[M]:
                walker._grow()
            walker.walk(0.0, lazy=lazy)
            self.counts["rounds"] += 1
            chosen = None
            if not _at_walls(walker.s, beyond) or self._repeats(self._duals, t):
                chosen = self._better(jump, self._duals, t)
                if chosen is None or self._repeats(self._duals, t):
                    return
            _freeze_again(walker.op, jump, walker.s)

    def _better(
        self, st: Stairs, duals: Callable[[], NDArray[np.float64]], t: float
    ) -> NDArray[np.int64] | None:
        """Return who must change sides where values at walls leave a better solution, else None."""
        walker, beyond = self.walker, self.walls.beyond
        if _at_walls(walker.s, beyond) or _touches(walker.op, st, walker.s, beyond):
            return self.improve(duals(), t)
        return None

    def _duals(self) -> NDArray[np.float64]:
        """Return the duals at the end of a round."""
        s, jump = self.walker.s, self._jump
        piece = s.state.astype(np.int64) // 2
        duals = np.where(s.state % 2 == 0, jump.level0[np.arange(len(piece)), piece], 0.0)
        m = s.count[M]
        duals[s.P[:m]] = s.a[:m]
        return duals

    def _make_room(self, events: int) -> None:
        """Let the log grow until so many events, and a node, fit into it."""
        walker, s = self.walker, self.walker.s
        every = checkpoint_every(len(s.state))
        while (
            s.count[EVENTS] + events + 1 >= len(walker.log.coordinate)
            or (s.count[EVENTS] + events + 1) // every >= len(walker.log.checkpoint)
            or s.count[NODES] + 2 >= len(walker.log.start)
            or s.count[FLAT] + s.count[M] + 2 >= len(walker.log.P)
        ):
            walker.log = _longer_fields(walker.log, [field.name for field in fields(Log)])
