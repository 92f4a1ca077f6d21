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
from .ratio import first_exit
from .state import State
from .statement import Statement
from .systems import Direction, System
from .twofold import add

Array = NDArray[np.float64]
Point = tuple[tuple[float, float], Array]  # t, and the unknowns in two parts
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
    """

    def __init__(
        self,
        statement: Statement,
        graphs: Graphs,
        place: NDArray[np.int64],
        t: float,
        end: float,
        origin: float = 0.0,
    ):
        self.origin = origin
        self.statement, self.graphs = statement, graphs
        self.length = abs(end - t)
        self.state, self.end, self.sign = State((t, 0.0), place.copy()), end, np.sign(end - t)
        self.system = System(statement, graphs)
        self.system.load(place)
        self.points: list[Point] = []  # both ends of each straight piece
        self.breakpoints = 0
        self.seen: dict[bytes, int] = {}

    def run(self, limit: int = 100_000) -> list[Point]:
        """Walk to the end; return both ends of each straight piece."""
        state, system = self.state, self.system
        for _ in range(limit):
            # 1. The point afresh, and its rate.
            point = system.solve(self.graphs.targets(state.place, state.t))
            rate = system.solve(self.sign * self.graphs.targets(state.place, None))

            # 2. The first coordinate that leaves its place.
            left = add(self.sign * self.end, 0.0, -self.sign * state.t[0], -self.sign * state.t[1])
            i, side, step = self.first_exit(point, rate, left)
            if left[0] - step[0] <= tolerances.NOISE * self.length:  # the rest is rounding
                i, step = -1, left

            # 3. Record both ends of the straight piece.
            if step[0] > 0.0:
                self.record(point)
                state.t = add(*state.t, self.sign * step[0], self.sign * step[1])
                state.t = state.t if i >= 0 else (self.end, 0.0)
                point = system.solve(
                    self.graphs.targets(state.place, state.t),
                    self.statement.unknowns(point.z, point.a)
                    + step[0] * self.statement.unknowns(rate.z, rate.a),
                )
                self.record(point)
                self.breakpoints += i >= 0
                self.seen.clear()
            if i < 0:
                return self.points

            # 4. That coordinate changes its place; along a null vector another one follows.
            null = self.move(i, side)
            while null is not None:
                k, side, _ = self.first_exit(point, null, FOREVER)
                if k < 0:
                    raise NoOptimum(f"beyond {state.t[0] + self.origin:.12g}")
                if not self.move_along(k, side):
                    null = None
            system.load(state.place)
            self.watch_for_cycles()
        raise PathError(
            f"The path stopped at {state.t[0] + self.origin:.12g} after {limit} changes; follow it "
            "in shorter parts.",
            None,
        )

    # ------------------------------------------------------------------ the stages
    def first_exit(
        self, point: Direction, motion: Direction, left: tuple[float, float]
    ) -> tuple[int, int, tuple[float, float]]:
        """Return the coordinate that leaves first, the limit that it reaches, and the step."""
        state, graphs, rows = self.state, self.graphs, self.statement.is_row
        at_knot = state.at_knot
        limits, moving = graphs.limits(state.place, state.t), np.isfinite(left[0])
        drift = self.sign * graphs.limits(state.place, None) if moving else np.zeros_like(limits)
        error, noise = 2.0**-96 * np.abs(limits[:, 0]), 2.0**-96 * np.abs(drift[:, 0])
        error, noise = np.where(np.isfinite(error), error, 0.0).max(axis=0), noise.max(axis=0)
        if self.statement.constrained:
            widen(limits, point, self.statement.widened, at_knot)
            widen(drift, motion, self.statement.widened, at_knot)
        x, x_error = point.watched(at_knot)
        dx, dx_error = motion.watched(at_knot)
        scale = self.system.scale
        weight = np.where(at_knot == rows, 1.0 / scale, scale)
        return first_exit(
            x, dx, limits, drift, error + x_error, noise + dx_error, weight, left, self.by_index
        )

    def move(self, i: int, side: int) -> Direction | None:
        """Change the place of i; return the null vector if its system is singular."""
        new = self.next_place(i, side)
        null = self.system.respond(i, new)
        self.state.place[i] = new
        return null

    def move_along(self, k: int, side: int) -> bool:
        """Change the place of k; return whether the system is still singular."""
        old, new = self.state.place[k], self.next_place(k, side)
        self.state.place[k] = new
        return abs(new - old) == 2 and bool(self.graphs.still[k, (old + new) // 2])

    def next_place(self, i: int, side: int) -> int:
        """Return where i goes from that limit; hollow knots are passed through."""
        old = self.state.place[i]
        way = 1 - 2 * side if old % 2 else 2 * side - 1
        new = old + way
        return int(new + way if new % 2 and self.graphs.hollow[i, new] else new)

    def record(self, point: Direction) -> None:
        """Keep a point of the path; rounding takes no unknown beyond the limits of its place."""
        state, u = self.state, self.statement.unknowns(point.z, point.a)
        lower, upper = self.graphs.limits(state.place, state.t)
        own = state.at_knot == self.statement.is_row  # others' limits are not those of u
        for limit, way in ((lower, 1.0), (upper, -1.0)):
            with np.errstate(invalid="ignore"):
                beyond = way * ((u[0] - limit[0]) + (u[1] - limit[1])) < 0.0
            u = np.where(own & beyond, limit, u)
        self.points.append((state.t, u))

    by_index = False

    def watch_for_cycles(self) -> None:
        """Where places repeat at the same t, break ties by the smallest index (Bland)."""
        key = self.state.key()
        self.seen[key] = self.seen.get(key, 0) + 1
        self.by_index = (self.by_index and len(self.seen) > 1) or self.seen[key] > 1
        if self.seen[key] > 4:
            raise PathError(
                f"The walk cycles at {self.state.t[0] + self.origin:.12g}: ties there can't be "
                "resolved; end the path before, or move the data by less than they are known to.",
                None,
            )


def widen(
    limits: Array, point: Direction, weights: slice | None, at_knot: NDArray[np.bool_]
) -> None:
    """Add the multiplier of the l1 constraint, -a of the last coordinate, to knots' limits."""
    active = np.arange(at_knot.size)[weights][at_knot[weights]]
    for side, sign in ((0, 1.0), (1, -1.0)):
        for i in active:
            limits[side, :, i] = add(
                limits[side, 0, i], limits[side, 1, i], sign * point.a[0, -1], sign * point.a[1, -1]
            )
