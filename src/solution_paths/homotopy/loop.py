"""The homotopy: one loop for every statement.

The state is the parameter t and a place, knot or segment, for each coordinate; all else is computed
from it. Between two breakpoints the point (z, a) moves on a straight line. Where the system is
singular, t stands still and the point moves along a null vector, turned so that the coordinate that
changed last moves into its new place. This one rule is the exchange of dependent rows, the pivot of
a linear programme, the empty margin set, and the start at an optimum that is not unique.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import PathError
from . import tolerances
from .graphs import Graphs
from .ratio import first_exit, recorded
from .state import State
from .statement import Statement
from .systems import Direction, System
from .track import Track
from .twofold import total

Array = NDArray[np.float64]
Pair = tuple[float, float]
Point = tuple[Pair, Array]  # t, and the unknowns in two parts
FOREVER = (np.inf, 0.0)


class NoOptimum(PathError):
    """The objective falls for ever, or constraints can't be met, beyond some parameter."""

    def __init__(self, where: str):
        super().__init__(
            f"There is no optimum {where}: the objective falls for ever, or constraints contradict "
            "each other; choose a range of the parameter with an optimum everywhere.",
            None,
        )

    def __reduce__(self) -> Any:
        return PathError, (self.args[0], None, None)


class Homotopy:
    """A walk through the optima of a statement along its parameter.

    Parameters
    ----------
    statement : Statement
    graphs : Graphs
        Of the same coordinates; the walk moves along the rates of their numbers.
    place : (N,) of int
        Places of an optimum at t, whose system is regular.
    t, end : float
        Where the walk begins and where it ends; it goes upwards or downwards.
    origin : float
        What is added to t where it is reported.
    updated : bool
        Whether the factor of the system is updated, or computed afresh at each change.
    face : str
        "saddle" keeps rows on curved segments in the system.
    """

    def __init__(
        self,
        statement: Statement,
        graphs: Graphs,
        place: NDArray[np.int64],
        t: float,
        end: float,
        origin: float = 0.0,
        updated: bool = True,
        face: str = "auto",
    ):
        self.statement, self.graphs, self.origin = statement, graphs, origin
        self.end, self.sign, self.length = float(end), float(np.sign(end - t)), abs(end - t)
        self.state = State(statement, graphs, (float(t), 0.0), place.copy())
        self.system = System(self.state, updated, face)
        self.points: list[Point] = []  # both ends of each straight piece
        self.seen: dict[bytes, int] = {}
        self.by_index = False

    def run(self, limit: int = 100_000) -> Track:
        """Walk to the end; return both ends of each straight piece."""
        state, system, u = self.state, self.system, np.zeros((2, len(self.state.place)))
        for _ in range(limit):
            # 1. The point afresh, and its rate.
            (point, u), (rate, du) = system.point(state.t, u), system.rate()

            # 2. The first coordinate that leaves its place.
            left = self.distance_left()
            i, side, step = self.first_exit(point, rate, self.sign, left)
            if left[0] - step[0] <= tolerances.NOISE * self.length:  # the rest is rounding
                i, step = -1, left

            # 3. Record both ends of the straight piece.
            if step[0] > 0.0:
                self.record(point)
                state.t = self.moved_by(step) if i >= 0 else (self.end, 0.0)
                point, u = system.point(state.t, u + self.sign * step[0] * du)
                self.record(point)
                self.seen.clear()
            if i < 0:
                t, u = zip(*self.points, strict=True)
                return Track(np.array(t), np.array(u))

            # 4. That coordinate changes its place; along a null vector another one follows.
            null = system.change(i, self.next_place(i, side))
            if null is not None:
                self.exchange(point, null)
            self.watch_for_cycles()
        raise PathError(
            f"The path stopped at {self.reported()} after {limit} changes; follow it in shorter "
            "parts.",
            None,
        )

    def exchange(self, point: Direction, null: Direction) -> None:
        """Move along the null vector, t standing still, until a coordinate leaves its place."""
        while True:
            k, side, _ = self.first_exit(point, null, 0.0, FOREVER)
            if k < 0:
                raise NoOptimum(f"beyond {self.reported()}")
            old, new = int(self.state.place[k]), self.next_place(k, side)
            if abs(new - old) == 2 and self.graphs.still[k, (old + new) // 2]:
                self.system.move(k, new)  # nothing changes there
                continue
            return self.system.complete(k, new)

    # ------------------------------------------------------------------ the stages
    def first_exit(
        self, point: Direction, motion: Direction, sign: float, left: Pair
    ) -> tuple[int, int, Pair]:
        """Return the coordinate that leaves first, the limit that it reaches, and the step."""
        weights, system = self.statement.widened, self.system.map
        widened = (0, 0) if weights is None else (weights.start, weights.stop)
        here, t = self.state.here, self.state.t
        return first_exit(
            here, system.is_row, system.scale, widened, point, motion, t, sign, left, self.by_index
        )

    def next_place(self, i: int, side: int) -> int:
        """Return where i goes from that limit; hollow knots are passed through."""
        old = int(self.state.place[i])
        way = 1 - 2 * side if old % 2 else 2 * side - 1
        new = old + way
        return new + way if new % 2 and self.graphs.hollow[i, new] else new

    def record(self, point: Direction) -> None:
        """Keep a point of the path."""
        u = recorded(self.state.here, self.statement.is_row, point, self.state.t)
        self.points.append((self.state.t, u))

    def watch_for_cycles(self) -> None:
        """Where places repeat at the same t, break ties by the smallest index (Bland)."""
        key = self.state.key()
        self.by_index = key in self.seen or (self.by_index and bool(self.seen))
        self.seen[key] = self.seen.get(key, 0) + 1
        if self.seen[key] > 4:
            raise PathError(
                f"The walk cycles at {self.reported()}: ties there can't be resolved; end the path "
                "before, or move the data by less than they are known to.",
                None,
            )

    # ------------------------------------------------------------------ numbers
    def distance_left(self) -> Pair:
        """Return how far the end is."""
        t, s = self.state.t, self.sign
        return total(s * self.end, 0.0, -s * t[0], -s * t[1])

    def moved_by(self, step: Pair) -> Pair:
        """Return t after a step."""
        return total(*self.state.t, self.sign * step[0], self.sign * step[1])

    def reported(self) -> str:
        """Return the parameter as the user knows it."""
        return f"{self.state.t[0] + self.origin:.12g}"
