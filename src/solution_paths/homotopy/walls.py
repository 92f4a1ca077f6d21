"""The graphs of losses with several convex branches: the places of all branches in one table.

Where the domain of a branch ends there is a *wall*, a knot at which the walk stops. Between the two
walls of a threshold lie three unused places, so that knots keep odd numbers::

    segments and knots of a branch, wall, (unused, unused, unused), wall, those of the next one
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..twofold import Twofold
from .graphs import Graphs, Shape, tables
from .state import WALL_MARK

Array = NDArray[np.float64]
Places = NDArray[np.int64]
Flags = NDArray[np.bool_]
ACROSS = 5  # places from a wall to the segment on the other side
TABLES = "equation", "lower", "upper"


class Walled:
    """The graphs of a statement's coordinates where its losses have several branches.

    Parameters
    ----------
    shapes : sequence of Shape
        The piecewise linear losses of each branch, from low to high values.
    others : list of Shape
        Functions of the statement's other coordinates.
    still : (n,) of bool
        Samples whose values are always 0.

    Attributes
    ----------
    equation, lower, upper, curvature, exists, still
        See `Graphs`.
    hollow : (N, P) of int
        1 for a hollow knot, `WALL_MARK` for a wall.
    branch : (n, P) of int
        The branch of each place of a sample; -1 between branches.
    walls : (N, P) of bool
    """

    def __init__(self, shapes: Sequence[Shape], others: list[Shape], still: Flags):
        if any(shape.curvature.any() for shape in shapes):
            raise ValueError("Losses with several branches must be piecewise linear.")
        last = len(shapes) - 1
        parts = [_BranchPlaces.of(shape, k, (k > 0, k < last)) for k, shape in enumerate(shapes)]
        self.n = len(shapes[0])
        branch_places, others_graphs = _BranchPlaces.beside(parts), Graphs(others)
        N, P = (
            self.n + len(others_graphs.exists),
            max(branch_places.exists.shape[1], others_graphs.exists.shape[1]),
        )
        self.equation, self.lower, self.upper = np.zeros((3, N, P, 4))
        self.lower[..., 0], self.upper[..., 0] = -np.inf, np.inf
        self.exists, self.still = np.zeros((2, N, P), dtype=bool)
        self.curvature, self.hollow = np.zeros((N, P)), np.zeros((N, P), dtype=np.int8)
        for name in (*TABLES, "exists", "hollow"):
            getattr(self, name)[: self.n, : branch_places.exists.shape[1]] = getattr(
                branch_places, name
            )
        for name in (*TABLES, "exists", "hollow", "still", "curvature"):
            getattr(self, name)[self.n :, : others_graphs.exists.shape[1]] = getattr(
                others_graphs, name
            )
        self.branch = np.full((self.n, P), -1)
        self.branch[:, : branch_places.exists.shape[1]] = np.where(
            branch_places.exists, branch_places.branch, -1
        )
        rows = np.flatnonzero(still)
        for side, end in ((self.lower, -np.inf), (self.upper, np.inf)):
            side[rows, ::2] = [end, 0.0, 0.0, 0.0]
        self.walls: Flags = self.hollow == WALL_MARK
        knots = np.abs(self.equation[: self.n, 1::2])
        self._reach = float(knots[..., 0].max()), float(knots[..., 2].max())

    def beyond(self, i: int, wall: int) -> int:
        """Return the segment on the other side of a sample's wall."""
        inside_is_above = self.exists[i, wall + 1]
        return wall - ACROSS if inside_is_above else wall + ACROSS

    def reach(self, t: float) -> float:
        """Return a bound of the sizes of samples' knots at t."""
        return max(self._reach[0] + abs(t) * self._reach[1], 1e-300)

    def knots(self, t: float, rows: Places, places: Places) -> Array:
        """Return the positions of some knots of samples at t."""
        equation = self.equation[rows, places]
        return np.asarray(equation[..., 0] + t * equation[..., 2])

    def on(
        self, branch: NDArray[np.int8], z: Array, a: Array, held: Flags, t: float
    ) -> tuple[Places, Array]:
        """Return the places of samples with values z and duals a (n,) at t, on given branches.

        Samples that are ``held`` are at the knot nearest to their value, others on the segment
        nearest to their dual. The second array is the distance of the dual from that segment.
        """
        on_branch = self.branch == branch[:, None]
        known = self.equation[: self.n, :, 0] + t * self.equation[: self.n, :, 2]
        inner = (on_branch & ~self.walls[: self.n])[:, 1::2]
        distance = np.where(inner, np.abs(known[:, 1::2] - z[:, None]), np.inf)
        difference = np.where(on_branch[:, ::2], np.abs(known[:, ::2] - a[:, None]), np.inf)
        places = np.where(held, 2 * distance.argmin(axis=1) + 1, 2 * difference.argmin(axis=1))
        return places, np.where(held, 0.0, difference.min(axis=1))

    def jump_graphs(
        self, rows: Places, place: Places, duals: Array, t: tuple[float, float]
    ) -> JumpGraphs:
        """Return graphs at t, a sum, whose slopes move with a parameter from -1 to 0.

        The dual of a sample's segment ``place`` goes from the given one to its value in the
        statement. Segments that it would pass move with it, so that graphs stay monotone.
        """
        equation, lower, upper = (_frozen_at(getattr(self, name)[rows], t) for name in TABLES)
        graphs = JumpGraphs(
            equation, lower, upper, np.where(self.walls[rows], 0, self.hollow[rows])
        )
        segments = np.arange(0, self.exists.shape[1], 2)
        goal, dual = graphs.equation[:, ::2, 0], duals[:, None]
        begin = np.where(segments < place[:, None], np.maximum(goal, dual), np.minimum(goal, dual))
        begin = np.where(segments == place[:, None], dual, begin)
        inside = self.exists[rows]
        graphs.equation[:, ::2, 2] = np.where(inside[:, ::2], goal - begin, 0.0)
        for side, beside in ((graphs.lower, slice(2, None, 2)), (graphs.upper, slice(0, -1, 2))):
            moves = inside[:, 1::2] & inside[:, beside]
            side[:, 1::2][moves] = graphs.equation[:, beside][moves]
        return graphs


class JumpGraphs(NamedTuple):
    """Graphs of some samples during a jump."""

    equation: Array
    lower: Array
    upper: Array
    hollow: NDArray[np.int8]


class _BranchPlaces(NamedTuple):
    """The places of samples on some branches; ``kept`` marks those that exist."""

    equation: Array
    lower: Array
    upper: Array
    exists: Flags
    hollow: NDArray[np.int8]
    branch: NDArray[np.int64]
    kept: Flags

    @classmethod
    def of(cls, shape: Shape, number: int, walled: tuple[bool, bool]) -> _BranchPlaces:
        """Return the places of one branch, with walls where its domain meets a neighbour's."""
        equation, lower, upper, _, _, narrow, *_ = tables([shape])
        n, P = equation.shape[:2]
        exists, kept = np.ones((2, n, P), dtype=bool)
        exists[:, 0], exists[:, -1] = ~shape.closed.T
        hollow = narrow.astype(np.int8)
        for end, knot in ((0, 1), (1, P - 2)):
            hollow[shape.closed[:, end] & walled[end], knot] = WALL_MARK
        for k in range(2, P - 1, 2):  # drop a segment without width, and the inner one of its knots
            same = np.all(equation[:, k - 1] == equation[:, k + 1], axis=1)
            ends = same & shape.closed[:, 1] & (k == P - 3)
            kept[same, k] = kept[ends, k - 1] = kept[same & ~ends, k + 1] = False
        return cls(equation, lower, upper, exists, hollow, np.full((n, P), number), kept)

    @classmethod
    def beside(cls, branches: Sequence[_BranchPlaces]) -> _BranchPlaces:
        """Concatenate the places of several branches, without those that don't exist."""
        n, columns = len(branches[0].exists), []
        zeros, low, high = np.zeros((3, n, 1, 4))
        low[..., 0], high[..., 0] = -np.inf, np.inf
        none = np.zeros((n, 1), dtype=bool)
        for branch in branches:
            columns += [branch, cls(zeros, low, high, none, none.astype(np.int8), none - 1, ~none)]
        joined = cls(
            *(np.concatenate(arrays, axis=1) for arrays in zip(*columns[:-1], strict=True))
        )
        order = np.argsort(~joined.kept, axis=1, kind="stable")
        order = order[:, : joined.kept.sum(axis=1).max()]

        def taken(array: Any) -> Any:
            axes = order.reshape(*order.shape, *[1] * (array.ndim - 2))
            return np.take_along_axis(array, axes, 1)

        ordered = cls(*map(taken, joined))
        return ordered._replace(exists=ordered.exists & ordered.kept)


def _frozen_at(numbers: Array, t: tuple[float, float]) -> Array:
    """Return numbers (k, P, 4) with their values at t, a sum, in two parts, and rates of 0."""
    out, finite = np.zeros_like(numbers), np.isfinite(numbers[..., 0])
    out[~finite, 0] = numbers[~finite, 0]
    moving = numbers[finite]
    value = Twofold(moving[:, 0], moving[:, 1] + moving[:, 2] * t[1])
    moved = value.plus(Twofold(moving[:, 2], moving[:, 3]).by(t[0]))
    out[finite, 0], out[finite, 1] = moved
    return out
