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
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .compiled import entry, lean
from .events import frame, hold_at_kink, rest, take_out
from .operators import (
    DENSE,
    add_exactly,
    add_product,
    distance,
    hold_level,
    let_levels_stand,
    move_level,
    sum_up,
    value,
)
from .staircase import Staircases
from .state import (
    BLOCK,
    ENTERED,
    FAR,
    NONE,
    WALL,
    State,
    empty_log,
    forget_last,
    kink_at,
    level_at,
)
from .upkeep import hold, log_state, rebuild_sums, record
from .walker import Walker, WalkError

STANDING = 1000  # jumps at one t, after which something is wrong
SAME = 1e-12  # jumps so near to each other in t, relative, count as at one t
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


@entry
def _freeze(op, st, jump, s):
    """Let all kinks and levels of a jump stand where those of ``st`` are, and begin it at -1."""
    t = s.clock.t
    for i in range(st.soft.shape[0]):
        for q in range(st.n_kinks[i]):
            jump.kink0[i, q] = kink_at(st, i, q, t)
        for q in range(st.n_kinks[i] + 1):
            jump.level0[i, q] = level_at(st, i, q, t)
            jump.level1[i, q] = 0.0
    for k in range(op.now.base0.shape[0]):
        total, lost = add_product(op.now.base0[k], op.now.lost0[k], t, op.now.base1[k])
        op.now.base0[k], op.now.lost0[k] = total, lost + t * op.now.lost1[k]
    let_levels_stand(op)
    s.clock.t, s.accuracy.drift = -1.0, 0.0


@entry
def _freeze_again(op, jump, s):
    """Begin another round of a jump, at -1."""
    jump.level1[:] = 0.0
    let_levels_stand(op)
    s.clock.t = -1.0


@lean
def _begin_at(jump, i, piece, dual):
    """Let the level of a piece move from a dual, at -1, to where it belongs.

    A sample from beyond a wall may bring any dual. Its neighbours' levels start there as well where
    this one would pass them: the staircase stays one.
    """
    for k in range(jump.n_kinks[i] + 1):
        goal = jump.level0[i, k]
        if abs(goal) < np.inf:
            begin = max(goal, dual) if k < piece else min(goal, dual)
            jump.level1[i, k] = goal - (dual if k == piece else begin)


@entry
def _change_sides(op, jump, s, beyond, chosen):
    """Put coordinates that are pinned at walls, if chosen, on the pieces beyond."""
    last = s.sizes.pinned + (1 if s.pending.kind == ENTERED else 0) - 1
    for r in range(last, -1, -1):
        i = s.P[r]
        if not chosen[i] or s.state[i] % 2 == 0 or beyond[i, s.state[i] // 2] < 0:
            continue
        piece, dual = beyond[i, s.state[i] // 2], s.a[r]
        _begin_at(jump, i, piece, dual)
        s.state[i] = 2 * piece
        move_level(op, i, (level_at(jump, i, piece, -1.0) - dual) - s.lost[r])
        if s.pending.kind == ENTERED and s.pending.coordinate == i:
            rest(op, jump, s, i)
            s.pending.kind = NONE
        else:
            take_out(op, jump, s, r)


@entry
def _touches(op, st, s, beyond):
    """Tell whether any value on a piece is at a wall."""
    t = s.clock.t
    for i in range(op.n):
        if s.slot[i] >= 0:
            continue
        q = s.state[i] // 2
        for kink in range(max(q - 1, 0), min(q + 1, st.n_kinks[i])):
            if beyond[i, kink] >= 0 and s.due[i] <= s.clock.odometer:
                off = distance(
                    op,
                    i,
                    t,
                    st.kink0[i, kink],
                    st.kink1[i, kink],
                    s.Q,
                    s.P,
                    s.sizes.pinned,
                    s.a,
                    s.lost,
                )
                if abs(off) <= TOUCHING * st.scale[i]:
                    return True
    return False


@entry
def _cross(op, jump, s, beyond, i):
    """Put coordinate i, which is on a piece at a wall, on the piece beyond."""
    q, piece, nearest = s.state[i] // 2, -1, np.inf
    for kink in range(max(q - 1, 0), min(q + 1, jump.n_kinks[i])):
        if beyond[i, kink] >= 0:
            at, size = jump.kink0[i, kink], s.sizes.pinned
            off = abs(distance(op, i, -1.0, at, 0.0, s.Q, s.P, size, s.a, s.lost))
            if off < nearest:
                nearest, piece = off, beyond[i, kink]
    dual = jump.level0[i, q]
    hold_level(op, i, dual, 0.0, -1)
    _begin_at(jump, i, piece, dual)
    s.state[i] = 2 * piece
    hold_level(op, i, jump.level0[i, piece], jump.level1[i, piece], 1)
    move_level(op, i, level_at(jump, i, piece, -1.0) - dual)
    s.due[i] = -FAR
    s.block[i // BLOCK] = -FAR


@entry
def _begin(op, st, s):
    """Bring windows, spans and counts up to date with other staircases for the same states."""
    for i in range(s.state.shape[0]):
        if s.slot[i] < 0:
            frame(st, s, i)
        else:
            hold_at_kink(st, s, i, s.state[i] // 2)
    forget_last(s)
    s.last.unsure = 0
    s.accuracy.slip, s.direction.carried = FAR, 0


@entry
def _thaw(op, st, s, before, t, base1, lost1, square, central, moving):
    """Go back to ``st`` at t, whose sums of rates were put aside when the jump began.

    ``before`` are the states then.
    """
    for k in range(base1.shape[0]):
        op.now.base1[k], op.now.lost1[k] = base1[k], lost1[k]
    op.now.levels.square, op.now.levels.central = square, central
    op.now.levels.moving = moving
    s.clock.t = t
    for i in range(before.shape[0]):
        if s.state[i] != before[i]:
            for state, sign in ((before[i], -1), (s.state[i], 1)):
                q = state // 2
                if state % 2 == 0 and st.level1[i, q] != 0.0:
                    hold_level(op, i, 0.0, st.level1[i, q], sign)
                    # in the jump its level was rounded
                    level, lost = add_product(st.level0[i, q], 0.0, t, st.level1[i, q])
                    lost += level - level_at(st, i, q, t)
                    hold_level(op, i, lost, 0.0, sign)
    for k in range(op.now.base0.shape[0]):
        total, lost = add_product(op.now.base0[k], op.now.lost0[k], -t, op.now.base1[k])
        op.now.base0[k], op.now.lost0[k] = add_exactly(total, lost - t * op.now.lost1[k], 0.0)
    if op.kind != DENSE:
        sum_up(op, t, s.P, s.sizes.pinned, s.a, s.lost)
        s.accuracy.worn = 0.0


@entry
def _log_changes(s, log, before):
    """Log an event for each coordinate whose state changed; ``before`` becomes what it is now."""
    for i in range(before.shape[0]):
        if before[i] != s.state[i]:
            before[i] = s.state[i]
            log_state(s, log, i, before)


@entry
def _at_walls(s, beyond):
    """Return how many coordinates are pinned at walls."""
    found = 0
    for r in range(s.sizes.pinned):
        i = s.P[r]
        if s.state[i] % 2 == 1 and beyond[i, s.state[i] // 2] >= 0:
            found += 1
    return found


@entry
def _values(op, s, out):
    """Write the values of all samples."""
    size = s.sizes.pinned + (1 if s.pending.kind == ENTERED else 0)
    for i in range(op.n):
        out[i] = value(op, i, s.clock.t, s.Q, size, s.a)


def values_of(walker: Walker) -> NDArray[np.float64]:
    """Return the (n,) values of the samples where a walk stands."""
    values = np.empty(walker.op.n)
    _values(walker.op, walker.s, values)
    return values


def _lengths(s: State) -> tuple[int, int, int]:
    return int(s.sizes.events), int(s.sizes.nodes), int(s.sizes.duals)


def _set_lengths(s: State, lengths: tuple[int, int, int]) -> None:
    s.sizes.events, s.sizes.nodes, s.sizes.duals = lengths


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
    improve : callable
        Maps (duals, t) of a solution with values at walls to the coordinates that must change sides
        so that there is a better one near by, None if there is none.
    """

    def __init__(
        self,
        walker: Walker,
        walls: Walls,
        t: float,
        improve: Callable[[NDArray[np.float64], float], NDArray[np.int64] | None],
    ):
        self.walker, self.walls = walker, walls
        self.improve = improve
        walker.begin(walls.stairs, t, walls=walls.bits)
        own = walls.stairs
        self._own = own, walker.st
        moved = {name: getattr(own, name).copy() for name in ("kink0", "level0")}
        moved |= {name: np.zeros_like(getattr(own, name)) for name in ("kink1", "level1")}
        no_walls = np.zeros(len(own), dtype=np.int64)
        self._jump = replace(own, **moved), replace(walker.st, **moved, wall=no_walls)
        self._log = empty_log(len(own))
        self.counts = {"jumps": 0, "rounds": 0, "jump_events": 0, "stays": 0}
        # Of the jumps at one t: where that is, how many, and what changed sides in which states.
        self._at, self._number = np.nan, 0
        self._seen: set[tuple[bytes, bytes]] = set()

    def walk(self, t_end: float, lazy: bool, callback: Any) -> int:
        """Walk to t_end; return how it ended (DONE).

        Raises
        ------
        WalkError
            See `Walker.walk`.
        """
        while True:
            ending = self.walker.walk(t_end, lazy=lazy, callback=callback)
            t = float(self.walker.s.clock.t)
            go, chosen = self._next(t, ending == WALL)
            if go:
                self._leap(lazy, t, chosen)
            elif ending != WALL:
                return ending

    def _leap(self, lazy: bool, t: float, chosen: NDArray[np.int64] | None) -> None:
        """Jump: change sides, those at walls or those chosen, until that leads no further."""
        walker = self.walker
        op, s = walker.op, walker.s
        self.counts["jumps"] += 1
        if walker.log.t[s.sizes.nodes - 1] != t:  # else it was recorded before the last event
            if s.pending.kind == NONE:
                self._hold(t)
            walker.grow()
            s = walker.s
            record(s, walker.log, 0)
        before, rebuilt = s.state.copy(), int(s.counts.rebuilt)
        main, lengths = walker.log, _lengths(s)
        rates = op.now.levels
        kept = op.now.base1.copy(), op.now.lost1.copy()
        kept += float(rates.square), float(rates.central), int(rates.moving)
        drift = s.accuracy.drift
        _freeze(op, walker.st, self._jump[1], s)
        walker.log, (walker.stairs, walker.st) = self._log, self._jump
        try:
            self._rounds(lazy, t, chosen)
        except WalkError as error:
            walker.log, (walker.stairs, walker.st) = main, self._own
            _set_lengths(walker.s, lengths)
            raise WalkError(f"in a jump at t = {t:.17g}: {error}", walker.trace()) from error
        self._log, walker.log, (walker.stairs, walker.st) = walker.log, main, self._own
        s, st = walker.s, walker.st
        self.counts["jump_events"] += int(s.sizes.events)
        _set_lengths(s, lengths)
        _thaw(op, st, s, before, t, *kept)
        s.accuracy.drift = drift
        _begin(op, st, s)
        # Sums renewed in the jump are of its levels: roundings of those that moved before it.
        if s.counts.rebuilt != rebuilt or self.counts["jumps"] % FRESH == 0:
            rebuild_sums(op, st, s)
        self._hold(t)
        walker.grow(int((before != s.state).sum()))
        s = walker.s
        _log_changes(s, walker.log, before)
        record(s, walker.log, 0)
        self._gather()

    def _gather(self) -> None:
        """Let the nodes of jumps that follow each other but for rounding have the same t."""
        t, nodes = self.walker.log.t, self.walker.s.sizes.nodes
        first = int(np.searchsorted(t[:nodes], self._at))
        t[first:nodes] = self._at

    def _hold(self, t: float) -> None:
        """Make the pinned equations hold where a jump begins or ends."""
        walker = self.walker
        if not hold(walker.op, walker.st, walker.s, walker.tolerances):
            raise WalkError(
                f"the path stops at a jump at t = {t:.17g}: rounding errors grew beyond the "
                "tolerance 'lost'; the exact part up to there is kept with this error.",
                walker.trace(),
            )

    def _next(self, t: float, all_do: bool) -> tuple[bool, NDArray[np.int64] | None]:
        """Return whether sides change at t, and whose: None for all that are pinned at walls.

        All do first; where that leads in a circle, those who must for a better solution near by.
        """
        if all_do and not self._repeats(t, None):
            return True, None
        walker, beyond = self.walker, self.walls.beyond
        op, st, s = walker.op, walker.st, walker.s
        at_walls = _at_walls(s, beyond) > 0 or _touches(op, st, s, beyond)
        if not at_walls or s.pending.kind != NONE:
            return False, None
        chosen = self.improve(walker.duals(), t)
        return chosen is not None and not self._repeats(t, chosen), chosen

    def _repeats(self, t: float, chosen: NDArray[np.int64] | None) -> bool:
        """Tell whether a change of sides would lead in a circle, and note it.

        At one t the states determine the solution, as the pinned rows are independent. Rows that
        depend on each other may take up any change of a level, and the values stay what they are.
        """
        if not abs(t - self._at) <= SAME * max(1.0, abs(t)):
            self._at, self._number, self._seen = t, 0, set()
        self._number += 1
        if self._number > STANDING:
            raise WalkError(
                f"the path stops at t = {t:.17g}: sides change more than {STANDING} times; the "
                "exact part up to there is kept with this error.",
                self.walker.trace(),
            )
        change = self.walker.s.state.tobytes(), b"" if chosen is None else chosen.tobytes()
        circle = change in self._seen
        self._seen.add(change)
        self.counts["stays"] += circle
        return circle

    def _rounds(self, lazy: bool, t: float, chosen: NDArray[np.int64] | None) -> None:
        """Change sides, and move levels where they belong, until that is enough."""
        walker, jump, beyond = self.walker, self.walker.st, self.walls.beyond
        while True:
            s = walker.s
            _set_lengths(s, (0, 0, 0))
            who = np.full(len(s.state), chosen is None)
            if chosen is not None:
                who[chosen] = True
                for i in chosen[s.slot[chosen] < 0]:
                    _cross(walker.op, jump, s, beyond, i)
            _change_sides(walker.op, jump, s, beyond, who)
            _begin(walker.op, jump, s)
            # A level that begins at a dual does so but for its rounding, which values may feel.
            self._hold(t)
            walker.grow()
            walker.walk(0.0, lazy=lazy)
            self.counts["rounds"] += 1
            go, chosen = self._next(t, _at_walls(walker.s, beyond) > 0)
            if not go:
                return
            _freeze_again(walker.op, jump, walker.s)
