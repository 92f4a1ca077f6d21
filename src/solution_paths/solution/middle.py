"""Free variables in the middle of their optimal values, where more than one is optimal.

For given weights and duals, free variables v are optimal if each row's value z agrees with its dual
a: at a knot or on a quadratic segment z is fixed; on a straight segment, whose slope is a, it may
be anywhere between two knots. So the optimal v are a point or a polytope. Between two breakpoints
the bounds of the polytope move along straight lines. The walk leaves v at a vertex; the path
returns the middle. The middle bends where another row becomes the bound, so these parameters are
breakpoints, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..homotopy.statement import ParametricKKT
from ..homotopy.track import Track
from ..problem import Line
from ..validation import Floats
from .outliers import Partitions
from .points import ALL_COLUMNS, Places, Points
from .undetermined import Nodes, Rows


def in_the_middle(
    points: Points, line: Line, statement: ParametricKKT, track: Track, ray: bool
) -> Points:
    """Return the points of a walk with free variables in the middle of their optimal values.

    At a breakpoint more values may be optimal than on both sides; their middle is taken.
    """
    if not statement.free or statement.parabolas is not None or len(points) < 2:
        return points
    rows, nodes = Rows(line, statement, track, line.t0), _Nodes(points, statement)
    last = 2 * (len(points) // 2) - 1
    pairs = rows.undetermined_pairs(points, _pieces(points))
    nodes.bend(rows.middles(points, pairs, endless=last if ray else -1))
    pairs = rows.undetermined_pairs(points, np.repeat(_ends(points, ray)[:, None], 2, axis=1))
    nodes.stand(rows.middles(points, pairs, nodes.known(pairs[:, 0])))
    return nodes.points


def on_branches(
    points: Points,
    line: Line,
    statement: ParametricKKT,
    track: Track,
    branch: Places,
    partitions: Partitions,
) -> tuple[Points, Partitions]:
    """Return the points of a walk on branches of losses, and their partitions.

    ``branch`` (n, P) is the branch to which each place of a sample belongs.
    """
    if not statement.free or len(points) < 2:
        return points, partitions
    rows, nodes = Rows(line, statement, track, 0.0, branch), _Nodes(points, statement)
    pairs = rows.undetermined_pairs(points, _pieces(points))
    nodes.bend(rows.middles(points, pairs, branch=partitions.at(pairs[:, 0])))
    jumps = points.t[1:][np.diff(partitions.of) != 0]  # two solutions at each
    ends = _ends(points, False)
    ends = ends[~np.isin(points.t[ends], jumps)]
    pairs = rows.undetermined_pairs(points, np.repeat(ends[:, None], 2, axis=1))
    known, branch = nodes.known(pairs[:, 0]), partitions.at(pairs[:, 0])
    nodes.stand(rows.middles(points, pairs, known, branch=branch))
    return nodes.points, partitions.some(nodes.places)


def _pieces(points: Points) -> Places:
    """Return the first and the last point of each piece."""
    return np.arange(2 * (len(points) // 2)).reshape(-1, 2)


def _ends(points: Points, ray: bool) -> Places:
    """Return one point for each parameter at which pieces meet, or the path ends.

    It is on the piece that contains the parameter's double.
    """
    ends = np.arange(0, len(points) + 1, 2)
    ends[-1] -= 1
    ends[1:-1] -= points.low[ends[1:-1]] > 0.0
    return ends[:-1] if ray else ends


class _New(NamedTuple):
    """New points, each twice: as the end of a piece, and as the begin of the next one.

    For each: place, parameter, source, row of the free variables, and whether it counts alone.
    """

    before: Places
    t: Floats
    source: Places
    row: Places
    alone: NDArray[np.bool_]

    @classmethod
    def of(cls, before: Places, t: Floats, source: Places, row: Places, alone: bool) -> _New:
        """Return new points, each of them twice."""
        arrays = before, t, source, row, np.full(len(t), alone)
        return cls(*(np.repeat(part, 2) for part in arrays))


class _Nodes:
    """The points of a walk, and changes of their free variables."""

    def __init__(self, points: Points, statement: ParametricKKT) -> None:
        n, p = statement.rows_and_variables
        self.walked, self.columns = points, slice(n + p - statement.free, n + p)
        self.size = statement.size
        self.t, self.source = points.t.copy(), np.arange(len(points))
        self.row = np.full(len(points), -1)  # row of v, or -1 for the values of the walk
        self.v = np.zeros((0, statement.free))
        self.new: list[_New] = []

    def known(self, nodes: Places) -> Floats:
        """Return the changed free variables at points, nan where they are those of the walk."""
        row = self.row[nodes]
        values = np.full((len(row), self.v.shape[1]), np.nan)
        values[row >= 0] = self.v[row[row >= 0]]
        return values

    def bend(self, nodes: Nodes) -> None:
        """Set the free variables on pieces, at nodes from each piece's begin to its end."""
        piece, row, first, last = nodes.of, self._added(nodes.v), nodes.first, nodes.last
        self.row[piece[first]], self.row[piece[last] + 1] = row[first], row[last]
        end, moved = piece[last] + 1, nodes.t[last] != self.t[piece[last] + 1]
        self.t[end], self.source[end[moved]] = nodes.t[last], -1
        inner = ~(first | last)
        nowhere = np.full(np.count_nonzero(inner), -1)
        self.new.append(_New.of(piece[inner] + 1, nodes.t[inner], nowhere, row[inner], False))

    def stand(self, nodes: Nodes) -> None:
        """Set the free variables at the parameters of points themselves."""
        piece, row = nodes.of[nodes.first], self._added(nodes.v[nodes.first])
        before = piece + piece % 2  # the last point ends a piece
        self.new.append(_New.of(before, self.t[piece], piece, row, True))

    def _added(self, v: Floats) -> Places:
        """Append values of the free variables; return their row numbers."""
        self.v = np.concatenate([self.v, v])
        return np.arange(len(self.v) - len(v), len(self.v))

    @property
    def _new(self) -> _New:
        return _New(*(np.concatenate(parts) for parts in zip(*self.new, strict=True)))

    @property
    def places(self) -> Places:
        """For each resulting point, the point of the walk that it is, or that precedes it."""
        new = self._new
        source = np.where(new.source < 0, new.before - 1, new.source)
        return np.insert(np.arange(len(self.t)), new.before, source)

    @property
    def points(self) -> Points:
        """The points with all changes."""
        if not len(self.v):
            return self.walked
        before, *new = self._new
        walked = self.t, self.source, self.row, np.zeros(len(self.t), dtype=bool)
        parts = zip(walked, new, strict=True)
        t, source, row, alone = (np.insert(array, before, added) for array, added in parts)
        low = np.insert(self.walked.low, before, 0.0)
        unknowns = _Midway(self.walked, t, source, row, self.v, self.columns.start, self.size)
        return replace(self.walked, t=t, low=low, at=unknowns, alone=np.flatnonzero(alone)[::2])


@dataclass(frozen=True, eq=False)
class _Midway:
    """Unknowns of the points of a walk and of new points between them, with other free variables.

    Attributes
    ----------
    points : Points
        The points of the walk.
    t : (K,)
    source : (K,) of int
        Index of each point in ``points``, or -1 for a new one at t.
    row : (K,) of int
        The row of v that holds the free variables, or -1 for those of the source.
    v : (k, r)
    first, size : int
        The first column of the free variables, and the number of unknowns.
    """

    points: Points
    t: Floats
    source: Places
    row: Places
    v: Floats
    first: int
    size: int

    def __call__(self, nodes: Places, columns: slice = ALL_COLUMNS) -> Floats:
        nodes = np.asarray(nodes)
        source, row = self.source[nodes], self.row[nodes]
        unknowns, new = self.points.at(np.maximum(source, 0), columns), source < 0
        if new.any():
            unknowns[new] = self.points.unknowns(self.t[nodes[new]], columns)
        begin, end, _ = columns.indices(self.size)
        columns_of_v = np.arange(self.first, self.first + self.v.shape[1])
        selected, replaced = (
            (begin <= columns_of_v) & (columns_of_v < end),
            np.flatnonzero(row >= 0),
        )
        unknowns[np.ix_(replaced, columns_of_v[selected] - begin)] = self.v[row[replaced]][
            :, selected
        ]
        return unknowns
