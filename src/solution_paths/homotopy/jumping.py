"""Walks through local optima, which change between convex branches of the losses.

Within the branches of a partition the walk is an ordinary one; it stops where a value reaches a
wall. There the sample changes to the branch on the other side with its dual unchanged. At fixed t
the slope of its segment then moves from this dual to its value in the statement. This is an
ordinary walk, in a parameter from -1 to 0, in which walls are ordinary knots. Samples that are at
walls at its end change sides in turn, as long as that lowers the objective.

A value may also come to a wall together with another event and stay there. A piece on which one
does ends where the sample begins to change sides for a lower objective.

A jump leaves one event for each coordinate whose place it changed, between two points at one t.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..errors import PathError
from . import loop
from .operations import DUALS, LINE, PRESENT, TOUCH, operate
from .run import Homotopy
from .statement import ParametricKKT
from .track import PLACES, Track
from .walls import Walled

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
NUMERICAL_ERRORS = (np.linalg.LinAlgError, ArithmeticError)
NEIGHBOURS = np.array([-1, 1])  # offsets to the places next to a segment
MOST_IDLE = 50  # rounds in a row, at one t, that do not lower the objective
COINCIDENT = 1e-12  # of t, or of knots: nearer jumps are at one t, nearer values at a wall


class JumpingWalk:
    """A walk between walls and across them, with one record.

    Parameters
    ----------
    statement : ParametricKKT
    graphs : Walled
    place : (N,) of int
        Places at t, whose system is regular.
    t, end : float
    improve : callable
        Maps (values, duals, branches, t) of a solution with values at walls to the samples that
        change sides for a lower objective near by, None if there are none.
    objective : callable
        Maps the same to the objective there.
    lasts : callable
        Maps values and duals (2, n) at both ends of a straight piece, its branches (n,) and both t
        to the share of it on which no samples at walls change sides for a lower objective, and to
        those that do beyond, or None.

    Attributes
    ----------
    counts : dict
        Numbers of jumps, of rounds of changes of sides, of events in jumps, and of jumps that were
        omitted, because they would have led to a cycle.
    """

    def __init__(
        self,
        statement: ParametricKKT,
        graphs: Walled,
        place: Places,
        t: float,
        end: float,
        improve: Callable[[Floats, Floats, NDArray[np.int64], float], Places | None],
        objective: Callable[[Floats, Floats, NDArray[np.int64], float], float],
        lasts: Callable[
            [Floats, Floats, NDArray[np.int64], tuple[float, float]], tuple[float, Places | None]
        ],
    ):
        self.graphs, self.end = graphs, end
        self.improve, self.objective, self.lasts = improve, objective, lasts
        self.counts = {"jumps": 0, "rounds": 0, "jump_events": 0, "stays": 0}
        self.homotopy = Homotopy(statement, graphs, place, t, end)
        self.homotopy.walk.now.walled = 1
        self._rows = np.arange(graphs.n)
        # The last t with jumps, the changes of sides there with their places, the least objective
        # so far, and how many changes in a row haven't lowered it.
        self._at, self._least, self._idle = np.nan, np.inf, 0
        self._seen: set[tuple[int, bytes]] = set()
        # Those that change sides at an end before the last, if places are as their key says.
        self._leaving: tuple[int, Places] | None = None

    def run(self, callback: Callable[[float, int], object] | None = None) -> None:
        """Walk to the end.

        Raises
        ------
        PathError, LinAlgError, ArithmeticError
            See `Homotopy.run`; `track` has the path up to there.
        """
        now = self.homotopy.walk.now
        while True:
            ending = self.homotopy.advance(callback)
            leaving, self._leaving, now.end = self._leaving, None, self.end
            go, chosen = False, None
            if leaving is not None and ending == loop.DONE:
                ending, chosen = loop.TOUCHING, leaving[1]
                go = leaving[0] == now.key and not self._repeats(chosen)
            elif ending != loop.TOUCHING:
                go, chosen = self._next(ending == loop.WALL)
            else:
                self._end_where_sides_change()
            if go:
                self._leap(chosen)
            elif ending == loop.WALL and now.staying:
                raise PathError(
                    f"The path stops at {self._t:.12g}: rows that depend on each other are held "
                    "between thresholds; move the data by less than they are known to.",
                    None,
                )
            if self._t == self.end if go else ending == loop.DONE:
                break
        if not self.homotopy.walk.now.nodes:  # a path of length 0
            self.homotopy.note_after_jump()

    def track(self) -> Track:
        """Return the record of the walk."""
        return self.homotopy.track()

    @property
    def _t(self) -> float:
        return float(self.homotopy.walk.now.t)

    def _end_where_sides_change(self) -> None:
        """End the next piece where a value that stays at a wall on it begins to change sides."""
        now, t = self.homotopy.walk.now, (self._t, self.end)
        a, z = self._ends()
        share, leaving = self.lasts(z, a, self._branches, t)
        if leaving is not None:
            now.end, self._leaving = t[0] + share * (t[1] - t[0]), (int(now.key), leaving)

    def _leap(self, chosen: Places | None) -> None:
        """Jump: let samples at walls, or the chosen ones, change sides until none does."""
        now, t = self.homotopy.walk.now, self._t
        events, place = int(now.events), self.homotopy.place.copy()
        self.counts["jumps"] += 1
        go = True
        while go:
            try:
                self._change_sides(self._at_walls() if chosen is None else chosen)
            except (PathError, *NUMERICAL_ERRORS) as error:
                now.events, self.homotopy.place[:] = events, place
                raise PathError(f"The path can't jump at {t:.12g} ({error}).", None) from error
            self.counts["rounds"] += 1
            go, chosen = self._next(len(self._at_walls()) > 0)
        self._log_changes(events, place)
        self.homotopy.note_after_jump()

    def _change_sides(self, rows: Places) -> None:
        """Put samples on the branches across their walls, and move their slopes to their values."""
        homotopy, walls = self.homotopy, self._walls_of(rows)
        rows, walls = rows[walls >= 0], walls[walls >= 0]
        place = np.array([self.graphs.beyond(*at) for at in zip(rows, walls, strict=True)], int)
        duals, now = np.empty(len(homotopy.place)), homotopy.walk.now
        self._solve(DUALS, duals)
        at = float(now.t), float(now.t_low)
        homotopy.begin_jump(rows, self.graphs.jump_graphs(rows, place, duals[rows], at))
        for i, new in zip(rows.tolist(), place.tolist(), strict=True):
            if not homotopy.put(i, new):
                raise np.linalg.LinAlgError("rows there are dependent to within rounding")
        before = int(now.events)
        homotopy.advance()
        self.counts["jump_events"] += int(now.events) - before
        homotopy.end_jump()

    def _walls_of(self, rows: Places) -> Places:
        """Return each sample's wall, or the nearest one next to its segment, or -1."""
        place = self.homotopy.place[rows]
        at_wall = np.where(self.graphs.walls[rows, place], place, -1)
        if (place % 2).all():
            return at_wall
        beside = np.clip(place[:, None] + NEIGHBOURS, 0, self.graphs.walls.shape[1] - 1)
        walls = self.graphs.walls[rows[:, None], beside]
        knots = self.graphs.knots(self._t, rows[:, None], beside)
        distance = np.where(walls, np.abs(knots - self._point()[1][rows, None]), np.inf)
        nearest = beside[np.arange(len(rows)), distance.argmin(axis=1)]
        return np.where(place % 2 == 1, at_wall, np.where(walls.any(axis=1), nearest, -1))

    def _log_changes(self, events: int, place: Places) -> None:
        """Record one event for each coordinate whose place the jump has changed."""
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
        """Return whether samples change sides, and which ones: None for all at walls.

        At first all do; if that leads to a cycle, those that do for a lower objective near by.
        """
        if all_do and not self._repeats(None):
            return True, None
        if not len(self._at_walls()) and not self._touches():
            return False, None
        chosen = self.improve(*self._solution())
        return chosen is not None and not self._repeats(chosen), chosen

    def _solution(self) -> tuple[Floats, Floats, NDArray[np.int64], float]:
        """Return values, duals and branches of samples, and t."""
        a, z = self._point()
        return z, a, self._branches, self._t

    @property
    def _branches(self) -> NDArray[np.int64]:
        return self.graphs.branch[self._rows, self.homotopy.place[: self.graphs.n]]

    def _point(self) -> tuple[Floats, Floats]:
        """Return duals (n,) and values (n,) of samples at t, in the statement's scale."""
        numbers = np.empty(len(self.homotopy.place))
        self._solve(PRESENT, numbers)
        return self._duals_and_values(numbers, self._t)

    def _ends(self) -> tuple[Floats, Floats]:
        """Return duals and values (2, n) at t, and at the end if no place changes before."""
        t, size = self._t, len(self.homotopy.place)
        numbers = np.empty(2 * size)
        self._solve(LINE, numbers, near=self.end - t)
        a, z = self._duals_and_values(numbers[:size], t)
        last_a, last_z = self._duals_and_values(numbers[size:], self.end)
        return np.stack([a, last_a]), np.stack([z, last_z])

    def _solve(self, operation: int, out: Floats, **options: float) -> None:
        if not self.homotopy.solve(operation, out=out, **options):
            raise np.linalg.LinAlgError("the system there can't be solved")

    def _duals_and_values(self, numbers: Floats, t: float) -> tuple[Floats, Floats]:
        """Return duals and values of samples at some t from the numbers that places limit."""
        graphs = self.graphs
        place, numbers = self.homotopy.place[: graphs.n], numbers[: graphs.n]
        equation = graphs.equation[self._rows, place]
        known, at_knot = equation[:, 0] + t * equation[:, 2], place % 2 == 1
        return np.where(at_knot, numbers, known), np.where(at_knot, known, numbers)

    def _touches(self) -> bool:
        """Tell whether any value on a segment is at a wall."""
        near = COINCIDENT * self.graphs.reach(self._t)
        if not operate(self.homotopy.walk, TOUCH, near=2.0 * near):
            return False
        place = self.homotopy.place[: self.graphs.n, None]
        beside = np.clip(place + NEIGHBOURS, 0, self.graphs.walls.shape[1] - 1)
        walls = self.graphs.walls[self._rows[:, None], beside] & (place % 2 == 0)
        knots = self.graphs.knots(self._t, self._rows[:, None], beside)
        return bool((walls & (np.abs(self._point()[1][:, None] - knots) <= near)).any())

    def _repeats(self, chosen: Places | None) -> bool:
        """Tell whether a change of sides would lead to a cycle, and note it.

        At one t the places determine the solution if the rows at knots are linearly independent.
        Dependent rows may compensate any change of a slope without a change of values, and where
        many tie at walls all their partitions may be optimal: then samples change sides a few times
        in vain.
        """
        t = self._t
        if not abs(t - self._at) <= COINCIDENT * max(1.0, abs(t)):
            self._at, self._least, self._idle, self._seen = t, np.inf, 0, set()
        change = int(self.homotopy.walk.now.key), b"" if chosen is None else chosen.tobytes()
        circle = change in self._seen or self._is_idle()
        self._seen.add(change)
        self.counts["stays"] += circle
        return circle

    def _is_idle(self) -> bool:
        """Tell whether the last changes of sides at this t haven't lowered the objective.

        It isn't computed for the first ones: most jumps end before.
        """
        if len(self._seen) < MOST_IDLE:
            return False
        value = self.objective(*self._solution())
        lowered = np.isinf(self._least) or value < self._least - COINCIDENT * abs(self._least)
        self._least, self._idle = (value, 0) if lowered else (self._least, self._idle + 1)
        return self._idle >= MOST_IDLE
