"""Walks through local optima, which leave one convex branch of the losses for another.

Within the branches of a partition the walk is as always; it stops where a value reaches a wall.
There the sample goes to the branch on the other side, with its dual where it is, and the slope of
its segment there is moved, at fixed t, from this dual to where it belongs. This is a walk like any
other, in its own parameter from -1 to 0, in which all walls hold. Where some samples are at walls
at its end, they change sides in turn.

A jump leaves one event for each coordinate whose place it changed, between two points at one t.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..errors import PathError
from . import jump
from .operations import DUALS, PRESENT, TOUCH, operate
from .run import Homotopy
from .statement import Statement
from .track import PLACES, Track
from .walls import Walled

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
NUMERICAL = (np.linalg.LinAlgError, ArithmeticError)
BESIDE = np.array([-1, 1])  # places next to a segment
STANDING = 1000  # jumps at one t, after which something is wrong
SAME = 1e-12  # of t, or of the knots' scale: jumps so near are at one t, values so near at a wall


class JumpingWalk:
    """A walk between walls and across them, in one record.

    Parameters
    ----------
    statement : Statement
    graphs : Walled
    place : (N,) of int
        Places at t, whose system is regular.
    t, end : float
    improve : callable
        Maps (values, duals, branches, t) of a solution with values at walls to the samples that
        must change sides so that there is a better one near by, None if there is none.

    Attributes
    ----------
    counts : dict
        Of jumps, of the rounds in which sides changed, of events in jumps, and of jumps that were
        left out, because they would have led in a circle.
    """

    def __init__(
        self,
        statement: Statement,
        graphs: Walled,
        place: Places,
        t: float,
        end: float,
        improve: Callable[[Floats, Floats, NDArray[np.int64], float], Places | None],
    ):
        self.graphs, self.improve, self.end = graphs, improve, end
        self.counts = {"jumps": 0, "rounds": 0, "jump_events": 0, "stays": 0}
        self.homotopy = Homotopy(statement, graphs, place, t, end)
        self._rows = np.arange(graphs.n)
        # Of the jumps at one t: where that is, how many, and what changed sides in which places.
        self._at, self._number = np.nan, 0
        self._seen: set[tuple[int, bytes]] = set()

    def run(self, callback: Callable[[float, int], object] | None = None) -> None:
        """Walk to the end.

        Raises
        ------
        PathError, LinAlgError, ArithmeticError
            See `Homotopy.run`; `track` has what was walked.
        """
        while True:
            stopped = self.homotopy.go(callback)
            jump.round_t(self.homotopy.walk)
            go, chosen = self._next(stopped)
            if go:
                self._leap(chosen)
            elif stopped and self.homotopy.walk.now.staying:
                raise PathError(
                    f"The path stops at {self._t:.12g}: rows that depend on each other are held "
                    "between thresholds; move the data by less than they are known to.",
                    None,
                )
            if self._t == self.end if go else not stopped:
                break
        if not self.homotopy.walk.now.nodes:  # there was no way to go
            self.homotopy.note_after_jump()

    def track(self) -> Track:
        """Return what was recorded."""
        return self.homotopy.track()

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
            except (PathError, *NUMERICAL) as error:
                now.events, self.homotopy.place[:] = events, place
                raise PathError(f"The path can't jump at {t:.12g} ({error}).", None) from error
            self.counts["rounds"] += 1
            go, chosen = self._next(len(self._at_walls()) > 0)
        self._log_changes(events, place)
        self.homotopy.note_after_jump()

    def _change_sides(self, who: Places) -> None:
        """Put samples on the branches beyond, and move their slopes there to where they belong."""
        homotopy, walls = self.homotopy, self._walls_of(who)
        who, walls = who[walls >= 0], walls[walls >= 0]
        place = np.array([self.graphs.beyond(*at) for at in zip(who, walls, strict=True)], int)
        duals = np.empty(len(homotopy.place))
        if not operate(homotopy.walk, DUALS, out=duals):
            raise np.linalg.LinAlgError("the system there can't be solved")
        homotopy.begin_jump(who, self.graphs.brought(who, place, duals[who], self._t))
        for i, new in zip(who.tolist(), place.tolist(), strict=True):
            if not homotopy.put(i, new):
                raise np.linalg.LinAlgError("rows there are dependent to within rounding")
        before = int(homotopy.walk.now.events)
        homotopy.go()
        self.counts["jump_events"] += int(homotopy.walk.now.events) - before
        homotopy.end_jump()

    def _walls_of(self, who: Places) -> Places:
        """Return the wall that each sample is at, or the nearest one beside its segment, or -1."""
        place = self.homotopy.place[who]
        own = np.where(self.graphs.walls[who, place], place, -1)
        if (place % 2).all():
            return own
        beside = np.clip(place[:, None] + BESIDE, 0, self.graphs.walls.shape[1] - 1)
        walls = self.graphs.walls[who[:, None], beside]
        knots = self.graphs.knots(self._t, who[:, None], beside)
        off = np.where(walls, np.abs(knots - self._point()[1][who, None]), np.inf)
        nearest = beside[np.arange(len(who)), off.argmin(axis=1)]
        return np.where(place % 2 == 1, own, np.where(walls.any(axis=1), nearest, -1))

    def _log_changes(self, events: int, place: Places) -> None:
        """Let the record hold one event for each coordinate that the jump has put elsewhere."""
        w, now = self.homotopy.walk, self.homotopy.walk.now
        changed = np.unique(w.event[events : now.events] // PLACES)
        changed = changed[w.place[changed] != place[changed]]
        now.events = events + len(changed)
        w.event[events : now.events] = changed * PLACES + w.place[changed]

    def _at_walls(self) -> Places:
        """Return the samples that are held at walls."""
        w = self.homotopy.walk
        held = w.solved[: w.now.solved]
        held = held[held < self.graphs.n]
        return np.sort(held[self.graphs.walls[held, w.place[held]]])

    def _next(self, all_do: bool) -> tuple[bool, Places | None]:
        """Return whether sides change, and whose: None for all that are held at walls.

        All do first; where that leads in a circle, those who must for a better solution near by.
        """
        if all_do and not self._repeats(None):
            return True, None
        if not len(self._at_walls()) and not self._touches():
            return False, None
        place = self.homotopy.place[: self.graphs.n]
        a, z = self._point()
        chosen = self.improve(z, a, self.graphs.branch[self._rows, place], self._t)
        return chosen is not None and not self._repeats(chosen), chosen

    def _point(self) -> tuple[Floats, Floats]:
        """Return duals (n,) and values (n,) of samples, these as the statement scales them."""
        found, graphs, t = np.empty(len(self.homotopy.place)), self.graphs, self._t
        if not operate(self.homotopy.walk, PRESENT, out=found):
            raise np.linalg.LinAlgError("the system there can't be solved")
        place, own = self.homotopy.place[: graphs.n], found[: graphs.n]
        equation = graphs.equation[self._rows, place]
        known, at_knot = equation[:, 0] + t * equation[:, 2], place % 2 == 1
        return np.where(at_knot, own, known), np.where(at_knot, known, own)

    def _touches(self) -> bool:
        """Tell whether any value on a segment is at a wall."""
        near = SAME * self.graphs.reach(self._t)
        if not operate(self.homotopy.walk, TOUCH, near=2.0 * near):
            return False
        place = self.homotopy.place[: self.graphs.n, None]
        beside = np.clip(place + BESIDE, 0, self.graphs.walls.shape[1] - 1)
        walls = self.graphs.walls[self._rows[:, None], beside] & (place % 2 == 0)
        knots = self.graphs.knots(self._t, self._rows[:, None], beside)
        return bool((walls & (np.abs(self._point()[1][:, None] - knots) <= near)).any())

    def _repeats(self, chosen: Places | None) -> bool:
        """Tell whether a change of sides would lead in a circle, and note it.

        At one t the places determine the solution, as the held rows are independent. Rows that
        depend on each other may take up any change of a slope, and the values stay what they are.
        """
        t = self._t
        if not abs(t - self._at) <= SAME * max(1.0, abs(t)):
            self._at, self._number, self._seen = t, 0, set()
        self._number += 1
        if self._number > STANDING:
            raise PathError(
                f"The path stops at {t:.12g}: samples change sides more than {STANDING} times; "
                "move the data by less than they are known to.",
                None,
            )
        change = int(self.homotopy.walk.now.key), b"" if chosen is None else chosen.tobytes()
        circle = change in self._seen
        self._seen.add(change)
        self.counts["stays"] += circle
        return circle
