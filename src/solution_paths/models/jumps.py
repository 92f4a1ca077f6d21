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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..engine.compiled import lean
from ..engine.events import _rest, _take_out, frame, hold_at_kink
from ..engine.operators import (
    add_exactly,
    add_product,
    hold_level,
    move_level,
    value,
)
from ..engine.staircase import Staircases
from ..engine.state import (
    DRIFT,
    ENTERED,
    EVENTS,
    FLAT,
    HELD,
    KIND,
    LAST,
    NODES,
    NONE,
    PENDING,
    UNSURE,
    WALL,
    ZEROS,
    M,
    Stairs,
    T,
    checkpoint_every,
    kink_at,
    level_at,
)
from ..engine.upkeep import rebuild_sums, record
from ..engine.walker import Walker, WalkError, _empty_log, _longer_fields

ROUNDS = 1000  # of a jump, after which something is wrong
STANDING = 1000  # jumps at one t, after which something is wrong
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
def _change_sides(op, jump, s, beyond):
    """Put all coordinates that are at walls on the pieces beyond; return how many they are."""
    changed = 0
    last = s.count[M] + (1 if s.count[KIND] == ENTERED else 0) - 1
    for r in range(last, -1, -1):
        i = s.P[r]
        if s.state[i] % 2 == 0 or beyond[i, s.state[i] // 2] < 0:
            continue
        changed += 1
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
    return changed


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
                if state % 2 == 0 and st.level1[i, state // 2] != 0.0:
                    hold_level(op, i, 0.0, st.level1[i, state // 2], sign, t)
    for k in range(op.base0.shape[0]):
        total, lost = add_product(op.base0[k], op.lost0[k], -t, op.base1[k])
        op.base0[k], op.lost0[k] = add_exactly(total, lost - t * op.lost1[k], 0.0)
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
    """

    def __init__(
        self,
        walker: Walker,
        walls: Walls,
        t: float,
        energy: Callable[[NDArray[np.float64], NDArray[np.float64], float], float],
    ):
        self.walker, self.walls, self.energy = walker, walls, energy
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
        self._standing, self._stood_at = 0, np.nan

    def walk(self, t_end: float, lazy: bool, callback: Any) -> int:
        """Walk to t_end; return how it ended (DONE).

        Raises
        ------
        WalkError
            See `Walker.walk`.
        """
        while True:
            ending = self.walker.walk(t_end, lazy=lazy, callback=callback)
            if ending != WALL:
                return ending
            self._leap(lazy)

    def _leap(self, lazy: bool) -> None:
        """Jump: change sides until no coordinate is at a wall, or until nothing changes."""
        walker = self.walker
        op, s, t = walker.op, walker.s, walker.s.number[T]
        self._count(t)
        record(s, walker.log, 1 if walker.log.t[s.count[NODES] - 1] == t else 0)
        before = s.state.copy()
        main, counts = walker.log, s.count[[EVENTS, NODES, FLAT]].copy()
        kept = op.base1.copy(), op.lost1.copy(), op.quadratic.copy(), int(op.moving[0])
        drift = s.number[DRIFT]
        _freeze(op, self._st, self._jump, s)
        walker.log, walker.st = self._log, self._jump
        try:
            self._rounds(lazy, t)
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
        self._make_room(int((before != s.state).sum()))
        _log_changes(s, walker.log, before)
        record(s, walker.log, 0)

    def _count(self, t: float) -> None:
        self.counts["jumps"] += 1
        self._standing = self._standing + 1 if t == self._stood_at else 0
        self._stood_at = t
        if self._standing > STANDING:
            raise WalkError(
                f"the path stops at t = {t:.17g}: more than {STANDING} jumps follow each other "
                "there; the exact part up to there is kept with this error.",
                self.walker.trace(),
            )

    def _rounds(self, lazy: bool, t: float) -> None:
        """Change sides, and move levels where they belong, until that is enough."""
        walker, jump, beyond = self.walker, self._jump, self.walls.beyond
        seen, energy = set(), np.inf
        for number in range(ROUNDS):
            s = walker.s
            if number:
                now = self._energy(t)
                if now < energy - 1e-13 * abs(energy):
                    seen, energy = set(), now
                states = s.state.tobytes()
                if states in seen:  # changing sides again would lead in a circle
                    self.counts["stays"] += 1
                    return
                seen.add(states)
                _freeze_again(walker.op, jump, s)
            s.count[[EVENTS, NODES, FLAT]] = 0
            self._log.start[0] = 0
            _change_sides(walker.op, jump, s, beyond)
            _begin(walker.op, jump, s)
            while len(walker.log.P) <= s.count[M]:
                walker._grow()
            walker.walk(0.0, lazy=lazy)
            self.counts["rounds"] += 1
            if not _at_walls(walker.s, beyond):
                return
        raise WalkError("sides change again and again without end", walker.trace())

    def _energy(self, t: float) -> float:
        """Return the objective where the walk stands."""
        walker = self.walker
        stairs = self._jump
        rows, piece = np.arange(len(stairs.soft)), walker.s.state.astype(np.int64) // 2
        duals = np.where(walker.s.state % 2 == 0, stairs.level0[rows, piece], 0.0)
        m = walker.s.count[M]
        duals[walker.s.P[:m]] = walker.s.a[:m]
        return self.energy(values_of(walker), duals, t)

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
            walker.log = _longer_fields(walker.log, list(vars(walker.log)))
