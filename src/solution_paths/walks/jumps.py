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

from .staircase import Staircases
from .trace import Trace, joined
from .walker import DONE, WALL, Walker, WalkError

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
STANDING = 1000  # jumps at one t, after which something is wrong
SAME = 1e-12  # jumps so near to each other in t, relative, count as at one t
TOUCHING = 1e-12  # of the kinks' scale: as near to a wall a value is at it


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
    def bits(self) -> Places:
        """(N,) ints whose bit q is set where kink q is a wall."""
        return np.asarray(((self.beyond >= 0) << np.arange(self.beyond.shape[1])).sum(axis=1))


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
        improve: Callable[[Floats, float], Places | None],
    ):
        self.walker, self.walls, self.improve = walker, walls, improve
        self.counts = {"jumps": 0, "rounds": 0, "jump_events": 0, "stays": 0}
        self.traces: list[Trace] = []
        walker.keeps_point = True
        self._begin(t)
        # Of the jumps at one t: where that is, how many, and what changed sides in which states.
        self._at, self._number = np.nan, 0
        self._seen: set[tuple[bytes, bytes]] = set()

    def walk(self, t_end: float, callback: Any) -> int:
        """Walk to t_end; return how it ended (DONE).

        Raises
        ------
        WalkError
            See `Walker.walk`.
        """
        while True:
            ending = self.walker.walk(t_end, callback)
            t = self.walker.t
            trace = self.walker.trace()
            go, chosen = self._next(t, ending == WALL)
            self.traces.append(trace.ending_at_a_double() if go else trace)
            if go:
                self._leap(t, chosen)
                if t == t_end:
                    return DONE
            elif ending != WALL:
                return ending
            else:
                self._begin(t)

    def trace(self) -> Trace:
        """Return what was recorded, with the jumps as events between two nodes."""
        return joined(self.traces, self.walls.stairs)

    def _begin(self, t: float) -> None:
        self.walker.begin(self.walls.stairs, t)
        self.walker.walls = self.walls.bits

    def _leap(self, t: float, chosen: Places | None) -> None:
        """Jump: change sides, those at walls or those chosen, until that leads no further."""
        walker = self.walker
        self.counts["jumps"] += 1
        still = self.walls.stairs.substitute(t, 0.0)
        go = True
        while go:
            walker.begin(still, t, same=True)
            walker.alter(*self._changed(still, chosen))
            try:
                walker.walk(0.0)
            except WalkError as error:
                raise WalkError(f"in a jump at t = {t:.17g}: {error}", self.trace()) from error
            self.counts["jump_events"] += walker.events
            self.counts["rounds"] += 1
            walker.begin(still, t, same=True)
            go, chosen = self._next(t, bool(self._at_walls().any()))
        self._begin(t)
        self.traces.append(walker.standing())

    def _at_walls(self) -> NDArray[np.bool_]:
        """Tell which coordinates are pinned at walls."""
        state = self.walker.state.astype(np.int64)
        kink = np.minimum(state // 2, self.walls.beyond.shape[1] - 1)
        return (state % 2 == 1) & (self.walls.beyond[np.arange(len(state)), kink] >= 0)

    def _changed(
        self, still: Staircases, chosen: Places | None
    ) -> tuple[Staircases, float, Places]:
        """Put coordinates at walls, if chosen, on the pieces beyond; return how levels move there.

        Returned are staircases, where their parameter begins, and whose they are.
        Each level begins, at -1, at the dual that the coordinate brings, and ends, at 0, where it
        belongs. Its neighbours' levels start there as well where this one would pass them: the
        staircase stays one.
        """
        walker, beyond = self.walker, self.walls.beyond
        duals, values = walker.point()
        state, pinned = walker.state.astype(np.int64), self._at_walls()
        who = np.flatnonzero(pinned) if chosen is None else chosen
        level1 = np.zeros_like(still.level0)
        for i in who.tolist():
            kink = state[i] // 2
            if not pinned[i]:
                kinks = [q for q in (kink - 1, kink) if 0 <= q < still.n_kinks[i]]
                kinks = [q for q in kinks if beyond[i, q] >= 0]
                if state[i] % 2 or not kinks:
                    continue
                kink = min(kinks, key=lambda q: abs(values[i] - still.kink0[i, q]))
            piece, dual = int(beyond[i, kink]), duals[i]
            for k in range(still.n_kinks[i] + 1):
                goal = still.level0[i, k]
                if np.isfinite(goal):
                    begin = max(goal, dual) if k < piece else min(goal, dual)
                    level1[i, k] = goal - (dual if k == piece else begin)
            state[i] = 2 * piece
        walker.stand(state)
        return replace(still, level1=level1, kink1=np.zeros_like(still.kink1)), -1.0, who

    def _next(self, t: float, all_do: bool) -> tuple[bool, Places | None]:
        """Return whether sides change at t, and whose: None for all that are pinned at walls.

        All do first; where that leads in a circle, those who must for a better solution near by.
        """
        if all_do and not self._repeats(t, None):
            return True, None
        if not self._at_walls().any() and not self._touches(t):
            return False, None
        chosen = self.improve(self.walker.point()[0], t)
        return chosen is not None and not self._repeats(t, chosen), chosen

    def _touches(self, t: float) -> bool:
        """Tell whether any value on a piece is at a wall."""
        stairs, beyond = self.walls.stairs, self.walls.beyond
        _, values = self.walker.point()
        state = self.walker.state.astype(np.int64)
        kinks, own = stairs.kinks(t), np.arange(len(state))
        scale = max(float(np.abs(kinks).max(initial=0.0)), 1e-300)
        for beside in (state // 2 - 1, state // 2):
            q = np.clip(beside, 0, beyond.shape[1] - 1)
            wall = (beside == q) & (beside < stairs.n_kinks) & (beyond[own, q] >= 0)
            off = np.abs(values - kinks[own, q])
            if (wall & (state % 2 == 0) & (off <= TOUCHING * scale)).any():
                return True
        return False

    def _repeats(self, t: float, chosen: Places | None) -> bool:
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
                self.trace(),
            )
        change = self.walker.state.tobytes(), b"" if chosen is None else chosen.tobytes()
        circle = change in self._seen
        self._seen.add(change)
        self.counts["stays"] += circle
        return circle
