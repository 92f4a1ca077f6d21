"""Free variables in the middle of their optimal values, where more than one is optimal.

With the weights of a solution an optimal free variable v is one at which each row's value z is
where its dual a allows it: at a knot or on a curved segment z is fixed, on a straight segment, of
which a is the slope, it is anywhere between two knots. So the optimal v are a point or a polytope,
between two breakpoints one whose bounds move along straight lines. The walk leaves v at a corner;
what is handed out is the middle, which bends where another row becomes the bound: there are
breakpoints, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..homotopy.statement import Statement
from ..homotopy.track import Track
from ..problem import Line
from ..validation import Floats
from .outliers import Partitions
from .points import ALL, Places, Points
from .undetermined import Nodes, Rows


def in_the_middle(
    points: Points, line: Line, statement: Statement, track: Track, ray: bool
) -> Points:
    """Return the points of a walk with free variables in the middle of their optimal values.

    At a breakpoint more may be optimal than on both sides: there it is that of the breakpoint.
    """
    if not statement.free or statement.parabolas is not None or len(points) < 2:
        return points
    rows, made = Rows(line, statement, track, line.t0), _Nodes(points, statement)
    last = 2 * (len(points) // 2) - 1
    pairs = rows.loose(points, _pieces(points))
    made.bend(rows.middles(points, pairs, endless=last if ray else -1))
    pairs = rows.loose(points, np.repeat(_ends(points, ray)[:, None], 2, axis=1))
    made.stand(rows.middles(points, pairs, made.known(pairs[:, 0])))
    return made.points


def on_branches(
    points: Points,
    line: Line,
    statement: Statement,
    track: Track,
    branch: Places,
    partitions: Partitions,
) -> tuple[Points, Partitions]:
    """Return the points of a walk on branches of losses, and their partitions.

    ``branch`` (n, P) says which branch each place of a sample belongs to.
    """
    if not statement.free or len(points) < 2:
        return points, partitions
    rows, made = Rows(line, statement, track, 0.0, branch), _Nodes(points, statement)
    pairs = rows.loose(points, _pieces(points))
    made.bend(rows.middles(points, pairs, branch=partitions.at(pairs[:, 0])))
    jumps = points.t[1:][np.diff(partitions.of) != 0]  # with two solutions each
    own = _ends(points, False)
    own = own[~np.isin(points.t[own], jumps)]
    pairs = rows.loose(points, np.repeat(own[:, None], 2, axis=1))
    known, branch = made.known(pairs[:, 0]), partitions.at(pairs[:, 0])
    made.stand(rows.middles(points, pairs, known, branch=branch))
    return made.points, partitions.some(made.places)


def _pieces(points: Points) -> Places:
    """Return the first and the last point of each piece."""
    return np.arange(2 * (len(points) // 2)).reshape(-1, 2)


def _ends(points: Points, ray: bool) -> Places:
    """Return the points at which pieces meet, or the path ends: on the piece of the double."""
    own = np.arange(0, len(points) + 1, 2)
    own[-1] -= 1
    own[1:-1] -= points.low[own[1:-1]] > 0.0
    return own[:-1] if ray else own


class _New(NamedTuple):
    """New points, twice each: as the ends of pieces, and as the begins of the next ones.

    Each one's place, parameter, source, the free variables' row, and whether it counts alone.
    """

    before: Places
    t: Floats
    source: Places
    row: Places
    alone: NDArray[np.bool_]

    @classmethod
    def of(cls, before: Places, t: Floats, source: Places, row: Places, alone: bool) -> _New:
        """Return such points of places and so on."""
        own = before, t, source, row, np.full(len(t), alone)
        return cls(*(np.repeat(part, 2) for part in own))


class _Nodes:
    """Points as they were walked, and what is to be handed out in their place."""

    def __init__(self, points: Points, statement: Statement) -> None:
        n, p = statement.rows_and_variables
        self.walked, self.columns = points, slice(n + p - statement.free, n + p)
        self.size = statement.size
        self.t, self.source = points.t.copy(), np.arange(len(points))
        self.row = np.full(len(points), -1)  # of what free variables are instead
        self.v = np.zeros((0, statement.free))
        self.new: list[_New] = []

    def known(self, which: Places) -> Floats:
        """Return what the free variables at points are instead, nan where as they were walked."""
        row = self.row[which]
        found = np.full((len(row), self.v.shape[1]), np.nan)
        found[row >= 0] = self.v[row[row >= 0]]
        return found

    def bend(self, nodes: Nodes) -> None:
        """Let free variables have values at places of pieces, from each one's begin to its end."""
        of, row, first, last = nodes.of, self._added(nodes.v), nodes.first, nodes.last
        self.row[of[first]], self.row[of[last] + 1] = row[first], row[last]
        end, moved = of[last] + 1, nodes.t[last] != self.t[of[last] + 1]
        self.t[end], self.source[end[moved]] = nodes.t[last], -1
        inner = ~(first | last)
        nowhere = np.full(np.count_nonzero(inner), -1)
        self.new.append(_New.of(of[inner] + 1, nodes.t[inner], nowhere, row[inner], False))

    def stand(self, nodes: Nodes) -> None:
        """Let free variables have values at the parameters of points themselves."""
        of, row = nodes.of[nodes.first], self._added(nodes.v[nodes.first])
        before = of + of % 2  # the last point ends a piece
        self.new.append(_New.of(before, self.t[of], of, row, True))

    def _added(self, v: Floats) -> Places:
        """Add values of the free variables; return which ones they are."""
        self.v = np.concatenate([self.v, v])
        return np.arange(len(self.v) - len(v), len(self.v))

    @property
    def _new(self) -> _New:
        return _New(*(np.concatenate(parts) for parts in zip(*self.new, strict=True)))

    @property
    def places(self) -> Places:
        """Of each of these points, which one it was, or after which one of its piece it is."""
        new = self._new
        source = np.where(new.source < 0, new.before - 1, new.source)
        return np.insert(np.arange(len(self.t)), new.before, source)

    @property
    def points(self) -> Points:
        """The points with all that."""
        if not len(self.v):
            return self.walked
        before, *new = self._new
        also = self.t, self.source, self.row, np.zeros(len(self.t), dtype=bool)
        parts = zip(also, new, strict=True)
        t, source, row, alone = (np.insert(own, before, other) for own, other in parts)
        low = np.insert(self.walked.low, before, 0.0)
        own = _Midway(self.walked, t, source, row, self.v, self.columns.start, self.size)
        return replace(self.walked, t=t, low=low, at=own, alone=np.flatnonzero(alone)[::2])


@dataclass(frozen=True, eq=False)
class _Midway:
    """Unknowns of points, some of them new ones between others, with other free variables.

    Attributes
    ----------
    points : Points
        As they were walked.
    t : (K,)
    source : (K,) of int
        Which of these points each is, or -1 for a new one, at t.
    row : (K,) of int
        Which of v the free variables are, or -1 for those of the source.
    v : (k, r)
    first, size : int
        The first of the unknowns that are free variables, and how many unknowns there are.
    """

    points: Points
    t: Floats
    source: Places
    row: Places
    v: Floats
    first: int
    size: int

    def __call__(self, which: Places, columns: slice = ALL) -> Floats:
        which = np.asarray(which)
        source, row = self.source[which], self.row[which]
        found, new = self.points.at(np.maximum(source, 0), columns), source < 0
        if new.any():
            found[new] = self.points.unknowns(self.t[which[new]], columns)
        begin, end, _ = columns.indices(self.size)
        own = np.arange(self.first, self.first + self.v.shape[1])
        inside, other = (begin <= own) & (own < end), np.flatnonzero(row >= 0)
        found[np.ix_(other, own[inside] - begin)] = self.v[row[other]][:, inside]
        return found
