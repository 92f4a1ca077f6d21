"""What a solution's rows leave undetermined of its free variables, and the middle of that.

Pieces of a path are looked at many at a time: rows, then pieces are the last axes of arrays.

A row that the walk holds at a knot is on a segment where its dual is the segment's slope, but for
the rounding of the balance: what the data's rounding may make flat is flat.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..compilation import read_only
from ..homotopy.statement import Statement, dense
from ..homotopy.tolerances import SINGULAR
from ..homotopy.track import Track
from ..problem import Line
from ..problem.maps import absolute, row_lengths
from ..validation import Floats
from .envelopes import FLAT, boxes, on_segments, rooms
from .points import Places, Points
from .polytopes import Bounds, TooMany, cleared, is_clear, middle

FEW = 8  # free variables that are looked at one by one
MARGIN = 1.0 + 2.0**-20  # of how far a row can move, for rounding
CELLS = 2**18  # unknowns of pieces that are looked at together: arrays of 4 MB
MANY = 2**12  # pieces of which only some rows are looked at
LOOKS = 8  # unknowns of them for each row, which is what finding them costs


class Nodes(NamedTuple):
    """Values v (k, r) of free variables at places t (k,) of pieces, in order.

    ``of`` (k,) are the points at which the pieces begin; each has two nodes or more.
    """

    of: Places
    t: Floats
    v: Floats

    @property
    def first(self) -> NDArray[np.bool_]:
        """Which of them are the first ones of their pieces."""
        return np.diff(self.of, prepend=-1) != 0

    @property
    def last(self) -> NDArray[np.bool_]:
        """Which of them are the last ones of their pieces."""
        return np.diff(self.of, append=-1) != 0


@dataclass(frozen=True, eq=False)
class _Pieces:
    """Some pieces of a path, P, and what rows say there.

    Attributes
    ----------
    of : (P,) of int
        The points at which they begin.
    t : (2, P)
        Both ends.
    endless, single : (P,) of bool
        Whether a piece goes on for ever, and whether it is a point alone.
    held : (m, P) of bool
        Whether rows are on no straight segment.
    v, own : (r, 2, P)
        The lines of free variables, and what they are where nothing bounds them.
    low, high : (2, m, P)
        The lines between which free variables' part of values is.
    rounding : (2, P)
        By how much all these may be off.
    """

    of: Places
    t: Floats
    endless: NDArray[np.bool_]
    single: NDArray[np.bool_]
    held: NDArray[np.bool_]
    v: Floats
    own: Floats
    low: Floats
    high: Floats
    rounding: Floats


class _Left:
    """Pieces, P, on which free variables are basis @ s and something fixed: chosen ones are s.

    Lines are (..., 2, P), those of rows (2, m, P).
    """

    def __init__(
        self, pieces: _Pieces, which: Places, free: Floats, chosen: Places, basis: Floats
    ) -> None:
        self.pieces, self.which, self.free, self.basis = pieces, which, free, basis
        v, own = pieces.v[..., which], pieces.own[..., which]
        self.walked, self.single = own[:, 0], pieces.single[which]
        self.own, self.fixed = own[chosen], v - np.einsum("rq,qcp->rcp", basis, v[chosen])
        self.begin, self.end = pieces.t[:, which]
        self.endless, self.rounding = pieces.endless[which], pieces.rounding[:, which]
        self.length = np.where(self.endless, np.inf, self.end - self.begin)
        terms = np.abs(free).sum(axis=1, keepdims=True) * np.abs(basis).max()
        self.directions = cleared(free @ basis, terms)
        count = np.count_nonzero(self.directions, axis=1)
        self.rows = [np.flatnonzero(own * (count == 1)) for own in self.directions.T]
        self.several = np.flatnonzero(count > 1)

    def nodes(self) -> Iterator[Nodes]:
        """Yield where the middles begin, bend and end.

        Pieces on which rows tie variables to each other are looked at one by one.
        """
        rows, begins = np.concatenate(self.rows), np.cumsum([0, *map(len, self.rows)])
        c = self.directions[rows].sum(axis=1)
        least = np.empty((len(self.rows), 2, 2, len(self.which)))
        fixed = self.fixed if self.fixed.any() else self.fixed[:0]
        lines = self.pieces.low, self.pieces.high, self.free, fixed
        given = *lines, self.which, rows, c, begins, self.own, self.length, self.rounding
        of, tau, s = boxes(*read_only(*given), least)
        tied = self._tied(least)
        alone = ~tied[of]
        yield self._nodes(of[alone], tau[alone], s[alone])
        for k in np.flatnonzero(tied).tolist():
            way = 0.0, float(self.length[k]), self.rounding[:, k]
            try:
                tau, s = middle(self._bounds(k), self.own[..., k], *way)
            except TooMany:
                continue
            yield self._nodes(np.full(len(tau), k), tau, s)

    def _rooms(self, rows: Places, which: Places) -> tuple[Floats, Floats]:
        """Return lines between which directions @ s of rows are, on some of these pieces."""
        own = slice(None), rows[:, None], self.which[which]
        shift = np.tensordot(self.free[rows], self.fixed[..., which], 1).swapaxes(0, 1)
        return self.pieces.low[own] - shift, self.pieces.high[own] - shift

    def _tied(self, least: Floats) -> NDArray[np.bool_]:
        """Tell on which pieces rows that bound several variables may say more than others do.

        These are ``least`` (q, 2, 2, P) where pieces begin: above and, negative, below.
        """
        found, directions = np.zeros(len(self.which), dtype=bool), self.directions[self.several]
        if not len(directions):
            return found
        rounding = self.rounding * (1.0 + np.abs(directions).sum(axis=1).max())
        rooms = self._rooms(self.several, np.arange(len(self.which)))
        for sign, room in zip((-1.0, 1.0), rooms, strict=True):
            bound, room = np.isfinite(room[0]), np.where(np.isfinite(room[0]), sign * room, 0.0)
            for c, (up, down) in zip(sign * directions.T[..., None], least, strict=True):
                most = np.zeros(room.shape)
                np.multiply(c, up[:, None], out=most, where=c > 0)
                np.multiply(-c, down[:, None], out=most, where=c < 0)
                room -= most
            found |= (bound & ~is_clear(room, self.length, rounding)).any(axis=0)
        return found

    def _bounds(self, k: int) -> Bounds:
        """Return all bounds on one piece, but those of one variable that others hide."""
        piece = np.array([k])

        def between(rows: Places) -> Bounds:
            lines = (own[..., 0].T for own in self._rooms(rows, piece))
            return Bounds.between(self.directions[rows], *lines)

        found = [between(self.several)]
        for j, rows in enumerate(self.rows):
            own = between(rows)
            for sign in (1.0, -1.0):
                found.append(own.nearest(j, sign, float(self.length[k]), self.rounding[:, k]))
        return Bounds(*(np.concatenate(parts) for parts in zip(*found, strict=True)))

    def _nodes(self, of: Places, tau: Floats, s: Floats) -> Nodes:
        """Return where free variables begin, bend and end on some pieces.

        Lines of s (K, q, 2) follow each other from tau (K,) on. An endless piece ends beyond the
        last bend.
        """
        lines = self.fixed[..., of] + np.einsum("rq,kqc->rck", self.basis, s)
        first = np.diff(of, prepend=-1) != 0
        apart = np.abs(self.free @ (lines[:, 0, first] - self.walked[:, of[first]])).max(axis=0)
        kept = ~self.single
        kept[of[first]] |= apart > self.rounding[0, of[first]]
        begin, end, endless = self.begin[of], self.end[of], self.endless[of]
        where = begin + tau
        begun = where <= begin
        passed = np.append(begun[1:] & ~first[1:], False) & begun  # the next one begins there, too
        inside = kept[of] & ~passed & (begun | endless | (where < end))
        of, tau, where, lines = of[inside], tau[inside], where[inside], lines[..., inside]
        last = np.flatnonzero(np.diff(of, append=-1) != 0)
        begin, end = self.begin[of[last]], self.end[of[last]]
        size = np.abs(where[last])
        beyond = tau[last] + np.where(size > 0, size, 1.0)
        moved = self.endless[of[last]] & (where[last] >= end)
        t = np.append(where, np.where(moved, begin + beyond, end))
        tau = np.append(tau, np.where(moved, beyond, end - begin))
        k = np.append(np.arange(len(of)), last)
        flat = np.ascontiguousarray(lines[..., k].transpose(2, 0, 1))
        return Nodes(self.pieces.of[self.which[of[k]]], t, _along(flat, tau))


class Rows:
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
        self.maps = [group.X for group in line.start.losses]
        # the sum of the sizes of duals of rows that are left out, a line between two parameters
        self.others = np.array([0.0, 1.0]), np.zeros(2)
        self._spaces: dict[bytes, tuple[Places, Floats]] = {}  # what rows held leave undetermined
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

    @cached_property
    def _kinds(self) -> tuple[Places, Places, Places]:
        """The first rows of those alike, all rows in this order, and where these begin there."""
        _, first, kinds = np.unique(self.free, axis=0, return_index=True, return_inverse=True)
        kinds, first = first[kinds.ravel()], np.sort(first)
        order = np.argsort(kinds, kind="stable")
        return first, order, np.searchsorted(kinds[order], first)

    def loose(self, points: Points, pairs: Places) -> Places:
        """Return those of pairs of points (k, 2) between which variables may be undetermined.

        A solved row whose dual is no segment's slope holds its value. Few variables are determined
        by so many held rows as span them; many are so if all solved rows are held.
        """
        track, at, r = self.track, self.track.entry_at, self.free.shape[1]
        ends = self._walked(pairs)
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
            ends_of, size = t[:, left, None], most[left, None]
            held = self._segments(row, a[..., None], ends_of, size)[0][:, 0] < 0
            if r <= FEW:
                span.add(left, np.where(held[:, None], self.free[row], 0.0))
            else:
                found[left] = ~held
            now[left] += 1
            done = span.full if r <= FEW else found
            left = left[(now[left] < until[left]) & ~done[left]]
        return np.asarray(pairs[~span.full if r <= FEW else found])

    def _walked(self, places: Places) -> Places:
        """Return which points of the walk, that may have gone downwards, points are."""
        t = self.track.t
        return len(t) - 1 - places if t[-1, 0] < t[0, 0] else places

    def _segments(
        self, rows: Places, a: Floats, t: Floats, size: Floats, branch: Any = None
    ) -> tuple[Places, Places]:
        """Return the first and the last straight segment on which rows may be: `on_segments`."""
        first, last = np.empty((2, *a.shape[1:]), dtype=np.int64)
        of, own = np.zeros((2, 0, 0), dtype=np.int64)
        if branch is not None and self.branch is not None:
            of, own = (np.asarray(x, dtype=np.int64) for x in (self.branch, branch))
        given = read_only(self.slopes, self.straight, rows, a, t, size, of, own)
        on_segments(*given, first, last)
        return first, last

    # -- many pieces ---------------------------------------------------------------------------

    def middles(
        self,
        points: Points,
        pairs: Places,
        known: Floats | None = None,
        endless: int = -1,
        branch: NDArray[np.int8] | None = None,
    ) -> Nodes:
        """Return where between pairs of points (k, 2) the middle begins, bends and ends.

        Left out are pieces where free variables are determined, and points already there. The
        piece that ends at point ``endless`` ends beyond its last bend. What nothing bounds stays as
        it is, or is ``known`` (k, r), if that isn't nan. Samples on a ``branch`` (k, n) stay there.
        """
        nothing = np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros((0, self.free.shape[1]))
        found, k = [Nodes(*nothing)], 0
        while k < len(pairs):
            rows, count = self._near(points, pairs[k:], endless)
            own = slice(k, k + count)
            others = None if known is None else known[own]
            where = None if branch is None else branch[own].T
            pieces = rows._pieces(points, pairs[own], endless, others, where)
            for left in rows._left(pieces):
                found += left.nodes()
            k += count
        of, t, v = (np.concatenate(own) for own in zip(*found, strict=True))
        order = np.argsort(of, kind="stable")
        return Nodes(of[order], t[order], v[order])

    def _near(self, points: Points, pairs: Places, endless: int) -> tuple[Rows, int]:
        """Return rows, and of how many of the first pairs others can't bound the free variable.

        On these pieces the weights move so little that most rows stay beyond those which bound it.
        All rows are looked at where that can't be told at once, or saves nothing.
        """
        n, p = self.statement.rows_and_variables
        several = self.free.shape[1] > 1 or len(self.maps) > 1 or len(self.own) > n
        plain = self.statement.held == slice(n, n + p) and self.line.start.kernel is None
        plain &= all(isinstance(X, np.ndarray) or sp.issparse(X) for X in self.maps)
        all_of, some = max(1, CELLS // self.statement.size), pairs[:MANY]
        # slopes that differ elsewhere may be equal at the ends of the path, and one may be infinite
        at_end = (some == (0, 0)).all(axis=1) | (some[:, 0] == len(points) - 1)
        at_end |= some[:, 1] == endless
        count = int(at_end.argmax()) if at_end.any() else len(some)
        if several or not plain or self.branch is not None or count <= 2 * all_of:
            return self, all_of
        first = self._pieces(points, pairs[:1], -1, None, None)
        while count > all_of:
            rows = self._candidates(first, points, pairs[:count])
            if len(rows) * count <= max(CELLS, LOOKS * self.statement.size):
                ends = pairs[[0, count - 1], [0, 1]]
                return self._some(rows, points.t[ends], points.at(ends, self.own)), count
            count //= 2
        return self, all_of

    def _candidates(self, first: _Pieces, points: Points, pairs: Places) -> Places:
        """Return the rows that may bound the free variable on some of these pieces.

        ``first`` are all rows at the first of them. A row whose place changes is one, and one whose
        bound, as far as weights and knots move, isn't beyond the nearest one.
        """
        nodes, t0 = np.unique(pairs), first.t[0, 0]
        w, _ = self.statement.variables(points.at(nodes, self.statement.held))
        far = self.statement.scale * np.linalg.norm(w - w[0], axis=1).max()
        time = np.abs(points.t[nodes] - t0).max()
        changed = np.zeros(len(self.own), dtype=bool)
        moved = self.track.moved_between(*self._walked(nodes[[0, -1]]))
        changed[moved[moved < len(changed)]] = True
        c = self.free[:, 0]
        bounds = (c != 0.0) & ~first.held[:, 0]
        unit = np.where(bounds, np.abs(c), 1.0)
        move = MARGIN * (far * self._lengths + time * self._drifts) / unit
        low, high = (lines[0, :, 0] / unit for lines in (first.low, first.high))
        up, down = np.where(c > 0.0, high, -low), np.where(c > 0.0, -low, high)
        found = changed | first.held[:, 0]
        for side in (up, down):  # the bounds of the variable and, below, of its negative
            near = np.min((side + move)[bounds & ~changed], initial=np.inf)
            found |= bounds & np.isfinite(side) & (side - move <= near)
        return np.flatnonzero(found)

    @cached_property
    def _lengths(self) -> Floats:
        """The lengths of the rows of the map."""
        return row_lengths(self.maps[0])

    @cached_property
    def _drifts(self) -> Floats:
        """How fast the fastest knot of each row moves."""
        tables = (np.where(np.isfinite(own[0]), own[1], 0.0) for own in (self.low, self.high))
        return np.asarray(np.maximum(*(np.abs(own).max(axis=0) for own in tables)))

    def _some(self, rows: Places, ends: Floats, duals: Floats) -> Rows:
        """Return what some rows say alone, where all have duals (2, m) at both ends (2,)."""
        part = copy.copy(self)
        part.others = ends, np.abs(np.delete(duals, rows, axis=1)).sum(axis=1)
        for name in ("_kinds", "_absolute", "_lengths", "_drifts"):
            part.__dict__.pop(name, None)
        part.maps, part._spaces = [X[rows] for X in self.maps], {}
        part.own, part.free = self.own[rows], self.free[rows]
        part.straight = np.ascontiguousarray(self.straight[:, rows])
        tables = (
            np.ascontiguousarray(own[..., rows]) for own in (self.slopes, self.low, self.high)
        )
        part.slopes, part.low, part.high = tables
        return part

    def _pieces(
        self,
        points: Points,
        pairs: Places,
        endless: int,
        known: Floats | None,
        branch: NDArray[np.int8] | None,
    ) -> _Pieces:
        """Return what rows say between pairs of points."""
        statement, t = self.statement, points.t[pairs.T]
        since = t - self.origin
        nodes, shape = pairs.ravel(), (len(pairs), 2, -1)
        a = points.at(nodes, self.own).reshape(shape)
        a = np.ascontiguousarray(a.transpose(1, 2, 0))
        most = (np.abs(a).sum(axis=1) + np.interp(t, *self.others)).max(axis=0)
        rows = np.arange(len(self.own))
        first, last = self._segments(rows, a, since[:, None], most[None], branch)
        held = points.at(nodes, statement.held).reshape(shape)
        v = own = _lines(held[..., held.shape[-1] - statement.free :], t)
        if known is not None:
            own = np.where(np.isnan(known.T[:, None]), v, _lines(np.stack([known, known], 1), t))
        rest, size = self._values(statement.variables(held)[0], t)
        low, high = np.empty((2, 2, *first.shape))
        knots = np.zeros(size.shape)
        given = read_only(self.low, self.high, first, last, since[0], rest)
        rooms(*given, low, high, knots)
        of, until = pairs.T
        ends = until == endless, of == until
        return _Pieces(of, t, *ends, first < 0, v, own, low, high, FLAT * (size + knots))

    def _values(self, w: Floats, t: Floats) -> tuple[Floats, Floats]:
        """Return lines (2, m, P) of what weights w (P, 2, d) add to rows, and their terms' sizes.

        The sizes are (2, P), those of the largest.
        """
        problem, scale = self.line.start, self.statement.scale
        own = _lines(w, t)
        lengths, own = own.shape[1:], own.reshape(len(own), -1)
        sizes = np.abs(own)
        if problem.kernel is not None:
            own, sizes = problem.kernel @ own, self._largest @ sizes
            sizes = np.tile(sizes, (len(own), 1))
        lines = [scale * np.asarray(X @ own) for X in self.maps]
        size = [scale * np.asarray(X @ sizes).max(axis=0) for X in self._absolute]
        if self.statement.constrained:
            lines.append(_lines(np.abs(w).sum(axis=-1, keepdims=True), t).reshape(1, -1))
        found = np.concatenate(lines).reshape(-1, *lengths).swapaxes(0, 1)
        return found, np.max(size, axis=0).reshape(lengths)

    def _left(self, pieces: _Pieces) -> Iterator[_Left]:
        """Yield those of pieces that leave the same undetermined: the `null_space` of rows held."""
        first, order, begins = self._kinds
        held = np.logical_or.reduceat(pieces.held[order], begins, axis=0)
        held[~self.free[first].any(axis=1)] = True  # such rows say nothing
        alike: dict[bytes, list[int]] = {}
        for k, own in enumerate(np.ascontiguousarray(held.T)):
            alike.setdefault(own.tobytes(), []).append(k)
        for pattern, which in alike.items():
            if pattern not in self._spaces:
                self._spaces[pattern] = null_space(self.free[first[held[:, which[0]]]])
            chosen, basis = self._spaces[pattern]
            if len(chosen):
                yield _Left(pieces, np.array(which), self.free, chosen, basis)

    @cached_property
    def _absolute(self) -> list[Any]:
        return [absolute(X) for X in self.maps]

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


def _lines(ends: Floats, t: Floats) -> Floats:
    """Return lines (k, 2, P) of what is known at both ends (P, 2, k) of pieces, t (2, P)."""
    length, (first, last) = t[1] - t[0], ends.transpose(1, 2, 0)
    rate = np.divide(last - first, length, out=np.zeros(first.shape), where=length > 0)
    return np.stack([first, rate], axis=1)


def _along(lines: Floats, tau: Floats) -> Floats:
    """Return values of lines (P, r, 2) at tau (P,)."""
    return np.asarray((lines @ np.stack([np.ones(len(tau)), tau], axis=1)[..., None])[..., 0])
