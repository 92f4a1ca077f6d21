"""Jumps: paths of local optima, which leave one convex piece of an objective for another.

Some kinks are *walls*: beyond one a sample's staircase is another one. Within walls the walk is as
always; it stops where a value reaches one. There the sample goes to the piece on the other side,
with its dual where it is, and the level of that piece is moved, at fixed t, from this dual to where
it belongs. This is a walk like any other, in its own parameter from -1 to 0, in which all walls
hold. Where some samples are at walls at its end, they change sides in turn.

All staircases of a sample are one table, in which the walls of both sides are kinks of their own:
so states and the log mean the same everywhere, and a jump leaves one event for each coordinate
whose state it changed, between two nodes at the same t.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..homotopy import jump, loop
from ..homotopy.track import PLACES
from .staircase import Staircases
from .trace import Trace, trace_of
from .walker import DONE, NUMERICAL, WALL, Walker, WalkError

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
        Of samples.
    t, t_end : float
        Where it begins and ends.
    improve : callable
        Maps (duals, t) of a solution with values at walls to the samples that must change sides so
        that there is a better one near by, None if there is none.
    """

    def __init__(
        self,
        walker: Walker,
        walls: Walls,
        t: float,
        t_end: float,
        improve: Callable[[Floats, float], Places | None],
    ):
        self.walker, self.walls, self.improve = walker, walls, improve
        self.counts = {"jumps": 0, "rounds": 0, "jump_events": 0, "stays": 0}
        walker.begin(walls.stairs, t)
        walker.walls = walls.bits
        self.homotopy, self._end = walker.set_out(t_end), t_end
        kinks = np.abs(walls.stairs.kink0).max() + abs(t) * np.abs(walls.stairs.kink1).max()
        self._near = 2.0 * TOUCHING * max(float(kinks), 1e-300) * walker.layout.unit
        # Of the jumps at one t: where that is, how many, and what changed sides in which states.
        self._at, self._number = np.nan, 0
        self._seen: set[tuple[int, bytes]] = set()

    def walk(self, callback: Any) -> int:
        """Walk to the end; return how it ended (DONE).

        Raises
        ------
        WalkError
            See `Walker.walk`.
        """
        while True:
            ending = self.walker.go(self.homotopy, callback)
            jump.halt(self.homotopy.walk)
            go, chosen = self._next(ending == WALL)
            if go:
                self._leap(chosen)
            if self._t == self._end if go else ending != WALL:
                break
        if not self.homotopy.walk.now.nodes:  # there was no way to go
            self.homotopy.note_after_jump()
        return DONE

    def trace(self) -> Trace:
        """Return what was recorded, with the jumps as events between two nodes."""
        return trace_of(self.walker, self.homotopy)

    @property
    def _t(self) -> float:
        return float(self.homotopy.walk.now.t)

    def _leap(self, chosen: Places | None) -> None:
        """Jump: change sides, those at walls or those chosen, until that leads no further."""
        now, t = self.homotopy.walk.now, self._t
        events, place = int(now.events), self.homotopy.place.copy()
        self.counts["jumps"] += 1
        go = True
        while go:
            try:
                self._change_sides(self._at_walls() if chosen is None else chosen)
            except (WalkError, *NUMERICAL) as error:
                now.events, self.homotopy.place[:] = events, place
                raise WalkError(f"in a jump at t = {t:.17g}: {error}", self.trace()) from error
            self.counts["rounds"] += 1
            go, chosen = self._next(len(self._at_walls()) > 0)
        self._log_changes(events, place)
        self.homotopy.note_after_jump()

    def _change_sides(self, who: Places) -> None:
        """Put samples on the pieces beyond, and move the levels there to where they belong."""
        homotopy = self.homotopy
        who, stairs, place = self._beyond(who)
        homotopy.begin_jump(who, self.walker.layout.samples(stairs, homotopy.graphs))
        for i, new in zip(who.tolist(), place.tolist(), strict=True):
            if not homotopy.put(i, new):
                raise np.linalg.LinAlgError("rows there are dependent to within rounding")
        before = int(homotopy.walk.now.events)
        self.walker.go(homotopy)
        self.counts["jump_events"] += int(homotopy.walk.now.events) - before
        homotopy.end_jump()

    def _beyond(self, who: Places) -> tuple[Places, Staircases, Places]:
        """Return which samples are next to walls, how levels move, and their places beyond.

        Each level begins, at -1, at the dual that the sample brings, and ends, at 0, where it
        belongs. Its neighbours' levels start there as well where this one would pass them: the
        staircase stays one.
        """
        w, walls = self.homotopy.walk, self.walls
        kink = self._kinks(who)
        who, kink = who[kink >= 0], kink[kink >= 0]
        duals = np.empty(len(who))
        if not jump.duals_of(w, who, duals):
            raise np.linalg.LinAlgError("the system there can't be solved")
        stairs = Staircases(*(own[who] for own in vars(walls.stairs).values()))
        still = stairs.substitute(self._t, 0.0)
        piece, level1 = walls.beyond[who, kink].astype(np.int64), np.zeros_like(still.level0)
        for k, dual in enumerate(duals.tolist()):
            for q in range(still.n_kinks[k] + 1):
                goal = still.level0[k, q]
                if np.isfinite(goal):
                    begin = max(goal, dual) if q < piece[k] else min(goal, dual)
                    level1[k, q] = goal - (dual if q == piece[k] else begin)
        still = replace(still, level1=level1, kink1=np.zeros_like(still.kink1))
        return who, still, 2 * piece

    def _kinks(self, who: Places) -> Places:
        """Return the wall that each sample is at, or the one nearest to its piece, or -1."""
        walls = self.walls
        place = self.homotopy.place[who]
        on_piece = place % 2 == 0
        values = self._point()[1][who] if on_piece.any() else np.full(len(who), np.nan)
        kinks = walls.stairs.kink0[who] + self._t * walls.stairs.kink1[who]
        chosen = np.full(len(who), -1)
        for k, i in enumerate(who.tolist()):
            beside = [place[k] // 2] if not on_piece[k] else [place[k] // 2 - 1, place[k] // 2]
            beside = [q for q in beside if 0 <= q < walls.stairs.n_kinks[i]]
            beside = [q for q in beside if walls.beyond[i, q] >= 0]
            if beside:
                chosen[k] = min(beside, key=lambda q: abs(values[k] - kinks[k, q]))
        return chosen

    def _log_changes(self, events: int, place: Places) -> None:
        """Let the log hold one event for each coordinate that the jump has put elsewhere."""
        w, now = self.homotopy.walk, self.homotopy.walk.now
        changed = np.unique(w.event[events : now.events] // PLACES)
        changed = changed[w.place[changed] != place[changed]]
        now.events = events + len(changed)
        w.event[events : now.events] = changed * PLACES + w.place[changed]

    def _at_walls(self) -> Places:
        """Return the samples that are pinned at walls."""
        w = self.homotopy.walk
        unknown = w.solved[: w.now.solved]
        return np.sort(unknown[w.graph.hollow[unknown, w.place[unknown]] == loop.WALL_MARK])

    def _next(self, all_do: bool) -> tuple[bool, Places | None]:
        """Return whether sides change, and whose: None for all that are pinned at walls.

        All do first; where that leads in a circle, those who must for a better solution near by.
        """
        if all_do and not self._repeats(None):
            return True, None
        if not len(self._at_walls()) and not self._touches():
            return False, None
        chosen = self.improve(self._point()[0], self._t)
        return chosen is not None and not self._repeats(chosen), chosen

    def _point(self) -> tuple[Floats, Floats]:
        """Return all duals, and the values of samples on pieces."""
        values = np.empty(len(self.homotopy.place))
        if not loop.present(self.homotopy.walk, values):
            raise np.linalg.LinAlgError("the system there can't be solved")
        return self.walker.parted(values, self.homotopy.place, self._t)

    def _touches(self) -> bool:
        """Tell whether any value on a piece is at a wall."""
        if not jump.may_touch(self.homotopy.walk, self._near):
            return False
        stairs, beyond = self.walls.stairs, self.walls.beyond
        _, values = self._point()
        state = self.walker.layout.states(self.homotopy.place).astype(np.int64)
        kinks, own = stairs.kinks(self._t), np.arange(len(state))
        scale = max(float(np.abs(kinks).max(initial=0.0)), 1e-300)
        for beside in (state // 2 - 1, state // 2):
            q = np.clip(beside, 0, beyond.shape[1] - 1)
            wall = (beside == q) & (beside < stairs.n_kinks) & (beyond[own, q] >= 0)
            off = np.abs(values - kinks[own, q])
            if (wall & (state % 2 == 0) & (off <= TOUCHING * scale)).any():
                return True
        return False

    def _repeats(self, chosen: Places | None) -> bool:
        """Tell whether a change of sides would lead in a circle, and note it.

        At one t the states determine the solution, as the pinned rows are independent. Rows that
        depend on each other may take up any change of a level, and the values stay what they are.
        """
        t = self._t
        if not abs(t - self._at) <= SAME * max(1.0, abs(t)):
            self._at, self._number, self._seen = t, 0, set()
        self._number += 1
        if self._number > STANDING:
            raise WalkError(
                f"the path stops at t = {t:.17g}: sides change more than {STANDING} times; the "
                "exact part up to there is kept with this error.",
                self.trace(),
            )
        change = int(self.homotopy.walk.now.key), b"" if chosen is None else chosen.tobytes()
        circle = change in self._seen
        self._seen.add(change)
        self.counts["stays"] += circle
        return circle
