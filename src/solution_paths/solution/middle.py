"""Free variables in the middle of their optimal values, where more than one is optimal.

With the weights of a solution an optimal free variable v is one at which each row's value z is
where its dual a allows it: at a knot or on a curved segment z is fixed, on a straight segment, of
which a is the slope, it is anywhere between two knots. So the optimal v are a point or a polytope,
between two breakpoints one whose bounds move along straight lines. The walk leaves v at a corner;
what is handed out is the middle, which bends where another row becomes the bound: there are
breakpoints, too.

A row that the walk holds at a knot is on a segment where its dual is the segment's slope, but for
the rounding of the balance: what the data's rounding may make flat is flat.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..homotopy.statement import Statement, dense
from ..homotopy.tolerances import SINGULAR
from ..homotopy.track import Track
from ..problem import Line
from ..problem.maps import absolute
from ..validation import Floats
from .outliers import Partitions
from .points import ALL, Places, Points
from .polytopes import Bounds, TooMany, cleared, middle

FLAT = 2.0**-50  # of the sum of all duals, or of a value's terms: what is less is rounding
FEW = 8  # free variables that are looked at one by one


def in_the_middle(
    points: Points, line: Line, statement: Statement, track: Track, ray: bool
) -> Points:
    """Return the points of a walk with free variables in the middle of their optimal values.

    At a breakpoint more may be optimal than on both sides: there it is that of the breakpoint.
    """
    if not statement.free or statement.parabolas is not None or len(points) < 2:
        return points
    rows, made = _Rows(line, statement, track, line.t0), _Nodes(points, statement)
    last = 2 * (len(points) // 2) - 1
    for i, j in rows.loose(points, _pieces(points)):
        found = rows.nodes(points, i, j, ray and j == last)
        if found is not None:
            made.bend(i, *found)
    for i, _ in rows.loose(points, np.repeat(_ends(points, ray)[:, None], 2, axis=1)):
        found = rows.nodes(points, i, i, False, made.known(i))
        if found is not None:
            made.stand(i, found[1][0])
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
    rows, made = _Rows(line, statement, track, 0.0, branch), _Nodes(points, statement)
    for i, j in rows.loose(points, _pieces(points)):
        found = rows.nodes(points, i, j, False, branch=partitions.at(i))
        if found is not None:
            made.bend(i, *found)
    jumps = points.t[1:][np.diff(partitions.of) != 0]  # with two solutions each
    own = _ends(points, False)
    own = own[~np.isin(points.t[own], jumps)]
    for i, _ in rows.loose(points, np.repeat(own[:, None], 2, axis=1)):
        found = rows.nodes(points, i, i, False, made.known(i), partitions.at(i))
        if found is not None:
            made.stand(i, found[1][0])
    return made.points, partitions.some(made.places)


def _pieces(points: Points) -> Places:
    """Return the first and the last point of each piece."""
    return np.arange(2 * (len(points) // 2)).reshape(-1, 2)


def _ends(points: Points, ray: bool) -> Places:
    """Return the points at which pieces meet, or the path ends."""
    own = np.arange(0, len(points) + 1, 2)
    own[-1] -= 1
    return own[:-1] if ray else own


class _Rows:
    """What a statement's rows, losses and the l1 constraint, say of its free variables.

    All is in the statement's units; lines are of how far the parameter is from somewhere.
    """

    def __init__(
        self,
        line: Line,
        statement: Statement,
        track: Track,
        origin: float,
        branch: Places | None = None,
    ) -> None:
        self.line, self.statement, self.track, self.origin = line, statement, track, origin
        n, p = statement.rows_and_variables
        self.free = dense(statement.R[:, p - statement.free :])
        if statement.widening is not None:
            self.free = np.vstack([self.free, -statement.widening])
        graphs, self.own = track.graphs, np.flatnonzero(statement.is_row)
        segments = self.own[:, None], np.arange(0, graphs.equation.shape[1], 2)
        tables = graphs.equation, graphs.lower, graphs.upper
        self.slopes, self.low, self.high = (_two(own[segments]) for own in tables)
        straight = graphs.exists[segments] & (graphs.curvature[segments] == 0.0)
        self.straight = np.ascontiguousarray(straight.T)  # (S, m), as all tables
        self.branch, first = None if branch is None else branch[:, ::2].T, 0
        for shape in statement.shapes if branch is None else ():
            if first < n or first == n + p:  # beyond the ends of domains there is nothing
                of = slice(min(first, n), min(first, n) + len(shape))
                self.straight[0, of] &= ~shape.closed[:, 0]
                self.straight[shape.curvature.shape[1] - 1, of] &= ~shape.closed[:, 1]
            first += len(shape)

    def loose(self, points: Points, pairs: Places) -> list[list[int]]:
        """Return those of pairs of points (k, 2) between which variables may be undetermined.

        A solved row whose dual is no segment's slope holds its value. Few variables are determined
        by so many held rows as span them; many are so if all solved rows are held.
        """
        track, at, r = self.track, self.track.entry_at, self.free.shape[1]
        back = track.t[-1, 0] < track.t[0, 0]
        ends = len(track) - 1 - pairs if back else pairs
        first, other = ends.T
        solved = np.flatnonzero(track.is_row[track.entry])
        now, until = (np.searchsorted(solved, at[k]) for k in (first, first + 1))
        t = track.t.sum(axis=1)[ends.T]
        steepest = np.where(self.straight, np.abs(self.slopes), 0.0).max(axis=1).sum(axis=1)
        most = (steepest[0] + steepest[1] * np.abs(t)).max(axis=0)
        span, found = _Span(len(ends), r if r <= FEW else 0), np.zeros(len(ends), dtype=bool)
        left = np.flatnonzero(now < until)
        while len(left):
            entry = solved[now[left]]
            there = entry + (at[other] - at[first])[left]  # the same unknown at the other end
            a = track.entries[np.stack([entry, there])].sum(axis=2)
            row = np.searchsorted(self.own, track.entry[entry])
            held = np.logical_not(self._segments(row, a, t[:, left], most[left]).any(axis=0))
            if r <= FEW:
                span.add(left, np.where(held[:, None], self.free[row], 0.0))
            else:
                found[left] = ~held
            now[left] += 1
            done = span.full if r <= FEW else found
            left = left[(now[left] < until[left]) & ~done[left]]
        chosen: list[list[int]] = pairs[~span.full if r <= FEW else found].tolist()
        return chosen

    def _segments(
        self, rows: Any, a: Floats, t: Floats, size: Any, branch: Any = None
    ) -> NDArray[np.bool_]:
        """Tell whose slopes the duals (2, m) of m rows are of straight segments, (S, m).

        They are so at both ends of a piece, t (2, 1) or (2, m), but for rounding of what is of
        some size. Of slopes that differ, but can't be told apart, none is meant.
        """
        value, rate = self.slopes[..., rows]
        slopes = value + rate * t[:, None]
        near = (np.abs(slopes - a[:, None]) <= FLAT * size).all(axis=0)
        found = self.straight[:, rows] & near
        if branch is not None and self.branch is not None:
            found &= self.branch[:, rows] == branch
        least = np.where(found, slopes, np.inf).min(axis=1)
        most = np.where(found, slopes, -np.inf).max(axis=1)
        same = most - least <= FLAT * np.maximum(np.abs(most), np.abs(least))
        return np.asarray(found & same.all(axis=0))

    # -- one piece -----------------------------------------------------------------------------

    def nodes(
        self,
        points: Points,
        i: int,
        j: int,
        endless: bool,
        known: Floats | None = None,
        branch: Any = None,
    ) -> tuple[Floats, Floats] | None:
        """Return where between two points the middle begins, bends and ends, and what it is there.

        None: the free variables are determined or, at one point, already in the middle. An endless
        piece ends beyond the last bend. What nothing bounds stays as it is, or is what is known at
        the first point. Samples on a ``branch`` (n,) stay there.
        """
        t, u = points.t[[i, j]], points.at(np.array([i, j]))
        a, moved = u[:, self.own], (t - self.origin)[:, None]
        found = self._segments(ALL, a, moved, np.abs(a).sum(axis=1).max(), branch)
        chosen, basis = null_space(self.free[~found.any(axis=0)])
        if not len(chosen):
            return None
        n, p = self.statement.rows_and_variables
        length, own = float(t[1] - t[0]), _line(u[:, n + p - self.statement.free : n + p].T, t)
        fixed = own - basis @ own[chosen]
        own = own if known is None else _line(np.stack([known, known], axis=1), t)
        bounds, rounding = self._bounds(u, t, found, basis, fixed)
        try:
            tau, s = middle(bounds, own[chosen], 0.0, np.inf if endless else length, rounding)
        except TooMany:
            return None
        where, lines = t[0] + tau, fixed + np.einsum("ij,kjc->kic", basis, s)
        apart = np.abs(self.free @ (lines[0] - own)[:, 0]).max()
        if i == j and apart <= rounding[0]:
            return None
        inside = (where > t[0]) & (endless | (where < t[1]))
        inside[np.count_nonzero(where <= t[0]) - 1] = True  # the line that goes on from there
        where, tau, lines = where[inside], tau[inside], lines[inside]
        if endless and where[-1] >= t[1]:
            length = float(tau[-1] + (abs(where[-1]) or 1.0))
        end = t[1] if length == t[1] - t[0] else t[0] + length
        values = [_along(ln, at) for ln, at in zip(lines, tau, strict=True)]
        return np.append(where, end), np.stack([*values, _along(lines[-1], length)])

    def _bounds(
        self,
        u: Floats,
        t: Floats,
        found: NDArray[np.bool_],
        basis: Floats,
        fixed: Floats,
    ) -> tuple[Bounds, Floats]:
        """Return between which lines rows on segments are, and by how much these may be off."""
        w = self.statement.variables(u[:, self.statement.held])[0].T
        rest, size = self._values(w, t)
        rows = np.flatnonzero(found.any(axis=0))
        free, found = self.free[rows], found[:, rows]
        rest = rest[rows] + free @ fixed
        first, last = found.argmax(axis=0), len(found) - 1 - found[::-1].argmax(axis=0)
        since, low, high = t[0] - self.origin, self.low[:, first, rows], self.high[:, last, rows]
        for line in (low, high):
            line[0] += line[1] * since
        knots = np.concatenate([low, high], axis=1)
        knots = np.abs(knots[:, np.isfinite(knots[0])]).max(axis=1, initial=0.0)
        terms = np.abs(free).sum(axis=1, keepdims=True) * np.abs(basis).max()
        directions = cleared(free @ basis, terms)
        bounds = Bounds.between(directions, low.T - rest, high.T - rest)
        return bounds, FLAT * (size + knots)

    def _values(self, w: Floats, t: Floats) -> tuple[Floats, Floats]:
        """Return lines of what weights w (d, 2) add to rows, and how large their terms are."""
        problem, scale, own = self.line.start, self.statement.scale, _line(w, t)
        sizes = np.abs(own)
        if problem.kernel is not None:
            own, sizes = problem.kernel @ own, np.tile(self._largest @ sizes, (len(own), 1))
        lines = [scale * np.asarray(group.X @ own) for group in problem.losses]
        size = [scale * np.asarray(X @ sizes).max(axis=0) for X in self._absolute]
        if self.statement.constrained:
            lines.append(_line(np.abs(w).sum(axis=0)[None], t))
        return np.concatenate(lines), np.max(size, axis=0)

    @cached_property
    def _absolute(self) -> list[Any]:
        return [absolute(group.X) for group in self.line.start.losses]

    @cached_property
    def _largest(self) -> Floats:
        """The largest kernel value of each column."""
        K = self.line.start.kernel
        assert K is not None
        return np.maximum(K.max(axis=0), -K.min(axis=0))


class _Span:
    """What rows (r,) of many problems span, as far as they have been added."""

    def __init__(self, count: int, r: int) -> None:
        self.basis, self.rank = np.zeros((count, r, r)), np.zeros(count, dtype=np.int64)

    def add(self, which: Places, rows: Floats) -> None:
        """Add a row to each of some problems."""
        own = self.basis[which]
        rest = rows - np.einsum("pij,pi->pj", own, np.einsum("pij,pj->pi", own, rows))
        left, length = np.linalg.norm(rest, axis=1), np.linalg.norm(rows, axis=1)
        new = left > SINGULAR * length
        self.basis[which[new], self.rank[which[new]]] = rest[new] / left[new, None]
        self.rank[which[new]] += 1

    @property
    def full(self) -> NDArray[np.bool_]:
        """Which problems have rows that span all."""
        return np.asarray(self.rank == self.basis.shape[1])


def null_space(rows: Floats) -> tuple[Places, Floats]:
    """Return which of r variables may be chosen where rows (m, r) of them are fixed, and a basis.

    The first ones are chosen that can be; all are basis @ chosen, (r, q), and something fixed.
    """
    r = rows.shape[1]
    A = rows[np.linalg.norm(rows, axis=1) > 0.0][:, ::-1]
    A, pivots = A / np.linalg.norm(A, axis=1)[:, None], list[int]()
    for column in range(r):
        k = len(pivots)
        if k == len(A):
            break
        best = k + int(np.abs(A[k:, column]).argmax())
        if abs(A[best, column]) <= SINGULAR:
            continue
        A[[k, best]] = A[[best, k]]
        A[k] /= A[k, column]
        others = np.arange(len(A)) != k
        A[others] -= A[others, column, None] * A[k]
        pivots.append(column)
    own = np.array(pivots, dtype=np.int64)
    chosen = np.setdiff1d(np.arange(r), own)[::-1]
    basis = np.zeros((r, len(chosen)))
    basis[chosen, np.arange(len(chosen))] = 1.0
    basis[own] = -A[: len(own), chosen]
    return r - 1 - chosen, basis[::-1]


def _two(numbers: Floats) -> Floats:
    """Return values and rates (2, S, m) of numbers (m, S, 4) in two parts each."""
    return np.ascontiguousarray((numbers[..., ::2] + numbers[..., 1::2]).T)


def _line(ends: Floats, t: Floats) -> Floats:
    """Return values and rates (k, 2) of what is known at both ends (k, 2) of a piece."""
    length = t[1] - t[0]
    rate = (ends[:, 1] - ends[:, 0]) / length if length > 0 else np.zeros(len(ends))
    return np.stack([ends[:, 0], rate], axis=1)


def _along(lines: Floats, tau: float) -> Floats:
    return np.asarray(lines @ (1.0, tau))


class _Nodes:
    """Points as they were walked, and what is to be handed out in their place."""

    def __init__(self, points: Points, statement: Statement) -> None:
        n, p = statement.rows_and_variables
        self.walked, self.columns = points, slice(n + p - statement.free, n + p)
        self.size = statement.size
        self.t, self.source = points.t.copy(), np.arange(len(points))
        self.row = np.full(len(points), -1)  # of what free variables are instead
        self.v: list[Floats] = []
        self.before: list[int] = []  # the point before which a new one is, ...
        self.new: list[tuple[float, int, int, bool]] = []  # ... its t, source, row; if it stands

    def known(self, i: int) -> Floats | None:
        """Return what the free variables at a point are instead, if they are something else."""
        return self.v[self.row[i]] if self.row[i] >= 0 else None

    def bend(self, i: int, where: Floats, values: Floats) -> None:
        """Let free variables have values (k, r) at k places, from point i to the next one."""
        first = len(self.v)
        self.v += list(values)
        self.row[[i, i + 1]] = first, first + len(values) - 1
        for k, t in enumerate(where[1:-1].tolist(), first + 1):
            self._insert(i + 1, t, -1, k, False)
        if where[-1] != self.t[i + 1]:
            self.t[i + 1], self.source[i + 1] = where[-1], -1

    def stand(self, i: int, value: Floats) -> None:
        """Let free variables have values (r,) at the parameter of point i itself."""
        self.v.append(value)
        before = i if i % 2 == 0 else i + 1  # the last point ends a piece
        self._insert(before, float(self.t[i]), i, len(self.v) - 1, True)

    def _insert(self, before: int, *new: Any) -> None:
        self.before += [before] * 2
        self.new += [new] * 2  # as the end of a piece, and as the begin of the next one

    @property
    def places(self) -> Places:
        """Of each of these points, which one it was, or after which one of its piece it is."""
        before = np.array(self.before, dtype=np.int64)
        source = np.array([new[1] for new in self.new], dtype=np.int64)
        new = np.where(source < 0, before - 1, source)
        return np.insert(np.arange(len(self.t)), before, new)

    @property
    def points(self) -> Points:
        """The points with all that."""
        if not self.v:
            return self.walked
        t, source, row, stands = np.array(self.new).reshape(-1, 4).T
        more = {"t": t, "source": source.astype(np.int64), "row": row.astype(np.int64)}
        t, source, row = (np.insert(getattr(self, k), self.before, v) for k, v in more.items())
        low = np.insert(self.walked.low, self.before, 0.0)
        alone = np.insert(np.zeros(len(self.t)), self.before, stands)
        own = _Midway(self.walked, t, source, row, np.array(self.v), self.columns.start, self.size)
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
