"""Free variables that the rows of a solution leave undetermined, and their middle.

Many pieces of a path are treated at once: rows, then pieces are the last axes of arrays.

A row that the walk holds at a knot counts as being on a segment if its dual equals the segment's
slope within the rounding error of the balance: a set that rounding of the data may make flat is
flat.
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
from ..homotopy.statement import ParametricKKT, dense
from ..homotopy.tolerances import SINGULAR
from ..homotopy.track import Track
from ..problem import Line
from ..problem.maps import absolute, row_lengths
from ..validation import Floats
from .envelopes import boxes, on_segments, value_bounds
from .points import Places, Points
from .polytopes import Bounds, TooMany, cleared, is_clear, middle
from .tolerances import ROUNDED

MAX_SPANNED = 8  # free variables up to which the span of held rows is computed
MOTION_MARGIN = 1.0 + 2.0**-20  # factor for rounding of the distance that a row can move
PIECE_UNKNOWNS = 2**18  # unknowns, or weights, of pieces that are treated at once: arrays of 4 MB
MAX_PIECES_RESTRICTED = 2**12  # pieces that are treated at once with some rows only
UNKNOWNS_PER_ROW = 8  # unknowns of such pieces for each row: what the choice of rows costs


class Nodes(NamedTuple):
    """Values v (k, r) of free variables at parameters t (k,) on pieces, in order.

    ``of`` (k,) are the points at which the pieces begin; each piece has two nodes or more.
    """

    of: Places
    t: Floats
    v: Floats

    @property
    def first(self) -> NDArray[np.bool_]:
        """Whether each node is the first one of its piece."""
        return np.diff(self.of, prepend=-1) != 0

    @property
    def last(self) -> NDArray[np.bool_]:
        """Whether each node is the last one of its piece."""
        return np.diff(self.of, append=-1) != 0


@dataclass(frozen=True, eq=False)
class _Pieces:
    """Some pieces of a path, P, with the bounds that rows impose on free variables.

    Attributes
    ----------
    of : (P,) of int
        The points at which they begin.
    t : (2, P)
        Both ends.
    endless, single : (P,) of bool
        Whether a piece is a ray, and whether it is a single point.
    held : (m, P) of bool
        Whether rows are not on a straight segment.
    v, fallback : (r, 2, P)
        The lines of free variables, and those without bounds.
    low, high : (2, m, P)
        Lines that bound the contribution of free variables to values.
    rounding : (2, P)
        The rounding errors of all these.
    """

    of: Places
    t: Floats
    endless: NDArray[np.bool_]
    single: NDArray[np.bool_]
    held: NDArray[np.bool_]
    v: Floats
    fallback: Floats
    low: Floats
    high: Floats
    rounding: Floats


class _Undetermined:
    """Pieces, P, on which free variables are basis @ s + fixed; s are the ``chosen`` ones.

    Lines are (..., 2, P), those of rows (2, m, P).
    """

    def __init__(
        self, pieces: _Pieces, which: Places, free: Floats, chosen: Places, basis: Floats
    ) -> None:
        self.pieces, self.which, self.free, self.basis = pieces, which, free, basis
        v, fallback = pieces.v[..., which], pieces.fallback[..., which]
        self.walked, self.single = fallback[:, 0], pieces.single[which]
        self.fallback, self.fixed = fallback[chosen], v - np.einsum("rq,qcp->rcp", basis, v[chosen])
        self.begin, self.end = pieces.t[:, which]
        self.endless, self.rounding = pieces.endless[which], pieces.rounding[:, which]
        self.length = np.where(self.endless, np.inf, self.end - self.begin)
        terms = np.abs(free).sum(axis=1, keepdims=True) * np.abs(basis).max()
        self.directions = cleared(free @ basis, terms)
        count = np.count_nonzero(self.directions, axis=1)
        self.rows = [np.flatnonzero(column * (count == 1)) for column in self.directions.T]
        self.several = np.flatnonzero(count > 1)

    def nodes(self) -> Iterator[Nodes]:
        """Yield the nodes at which the middles begin, bend and end.

        Pieces on which rows couple variables are treated one by one.
        """
        rows, begins = np.concatenate(self.rows), np.cumsum([0, *map(len, self.rows)])
        c = self.directions[rows].sum(axis=1)
        least = np.empty((len(self.rows), 2, 2, len(self.which)))
        fixed = self.fixed if self.fixed.any() else self.fixed[:0]
        lines = self.pieces.low, self.pieces.high, self.free, fixed
        arguments = *lines, self.which, rows, c, begins, self.fallback, self.length, self.rounding
        piece, tau, s = boxes(*read_only(*arguments), least)
        tied = self._tied(least)
        uncoupled = ~tied[piece]
        yield self._nodes(piece[uncoupled], tau[uncoupled], s[uncoupled])
        for k in np.flatnonzero(tied).tolist():
            range_of_tau = 0.0, float(self.length[k]), self.rounding[:, k]
            try:
                tau, s = middle(self._bounds(k), self.fallback[..., k], *range_of_tau)
            except TooMany:
                continue
            yield self._nodes(np.full(len(tau), k), tau, s)

    def _value_bounds(self, rows: Places, which: Places) -> tuple[Floats, Floats]:
        """Return lines that bound directions @ s of rows, on some of these pieces."""
        index = slice(None), rows[:, None], self.which[which]
        shift = np.tensordot(self.free[rows], self.fixed[..., which], 1).swapaxes(0, 1)
        return self.pieces.low[index] - shift, self.pieces.high[index] - shift

    def _tied(self, least: Floats) -> NDArray[np.bool_]:
        """Tell on which pieces rows that bound several variables may be tighter than the others.

        ``least`` (q, 2, 2, P) are the others' bounds at the begin: upper, and negative lower ones.
        """
        tied, directions = np.zeros(len(self.which), dtype=bool), self.directions[self.several]
        if not len(directions):
            return tied
        rounding = self.rounding * (1.0 + np.abs(directions).sum(axis=1).max())
        rooms = self._value_bounds(self.several, np.arange(len(self.which)))
        for sign, room in zip((-1.0, 1.0), rooms, strict=True):
            bound, room = np.isfinite(room[0]), np.where(np.isfinite(room[0]), sign * room, 0.0)
            for c, (up, down) in zip(sign * directions.T[..., None], least, strict=True):
                reach = np.zeros(room.shape)
                np.multiply(c, up[:, None], out=reach, where=c > 0)
                np.multiply(-c, down[:, None], out=reach, where=c < 0)
                room -= reach
            tied |= (bound & ~is_clear(room, self.length, rounding)).any(axis=0)
        return tied

    def _bounds(self, k: int) -> Bounds:
        """Return all bounds on one piece, without redundant ones of single variables."""
        piece = np.array([k])

        def between(rows: Places) -> Bounds:
            lines = (lines_of_row[..., 0].T for lines_of_row in self._value_bounds(rows, piece))
            return Bounds.between(self.directions[rows], *lines)

        bounds_found = [between(self.several)]
        for j, rows in enumerate(self.rows):
            bounds = between(rows)
            for sign in (1.0, -1.0):
                bounds_found.append(
                    bounds.nearest(j, sign, float(self.length[k]), self.rounding[:, k])
                )
        return Bounds(*(np.concatenate(parts) for parts in zip(*bounds_found, strict=True)))

    def _nodes(self, piece: Places, tau: Floats, s: Floats) -> Nodes:
        """Return the nodes at which free variables begin, bend and end on some pieces.

        Lines of s (K, q, 2) begin at tau (K,). A ray ends beyond its last bend.
        """
        lines = self.fixed[..., piece] + np.einsum("rq,kqc->rck", self.basis, s)
        lines[np.abs(lines) <= self.rounding[:, piece]] = 0.0  # far along a ray a rate is seen
        first = np.diff(piece, prepend=-1) != 0
        distance = np.abs(self.free @ (lines[:, 0, first] - self.walked[:, piece[first]])).max(
            axis=0
        )
        kept = ~self.single
        kept[piece[first]] |= distance > self.rounding[0, piece[first]]
        begin, end, endless = self.begin[piece], self.end[piece], self.endless[piece]
        where = begin + tau
        begun = where <= begin
        passed = np.append(begun[1:] & ~first[1:], False) & begun  # the next line begins there, too
        inside = kept[piece] & ~passed & (begun | endless | (where < end))
        piece, tau, where, lines = piece[inside], tau[inside], where[inside], lines[..., inside]
        last = np.flatnonzero(np.diff(piece, append=-1) != 0)
        begin, end = self.begin[piece[last]], self.end[piece[last]]
        size = np.abs(where[last])
        beyond = tau[last] + np.where(size > 0, size, 1.0)
        moved = self.endless[piece[last]] & (where[last] >= end)
        t = np.append(where, np.where(moved, begin + beyond, end))
        tau = np.append(tau, np.where(moved, beyond, end - begin))
        k = np.append(np.arange(len(piece)), last)
        flat = np.ascontiguousarray(lines[..., k].transpose(2, 0, 1))
        return Nodes(self.pieces.of[self.which[piece[k]]], t, _along(flat, tau))


class Rows:
    """The bounds that a statement's rows (losses and the l1 constraint) impose on free variables.

    All numbers are in the statement's units; lines are functions of the distance from a parameter.
    """

    def __init__(
        self,
        line: Line,
        statement: ParametricKKT,
        track: Track,
        origin: float,
        branch: Places | None = None,
    ) -> None:
        self.line, self.statement, self.track, self.origin = line, statement, track, origin
        self.maps = [group.X for group in line.start.losses]
        # the sum of |dual| over rows that are left out, a line between two parameters
        self.others = np.array([0.0, 1.0]), np.zeros(2)
        self._spaces: dict[bytes, tuple[Places, Floats]] = {}  # null spaces of held rows
        n, p = statement.rows_and_variables
        self.free = dense(statement.R[:, p - statement.free :])
        if statement.widening is not None:
            self.free = np.vstack([self.free, -statement.widening])
        graphs, self.coordinates = track.graphs, np.flatnonzero(statement.is_row)
        segments = self.coordinates[:, None], np.arange(0, graphs.equation.shape[1], 2)
        tables = graphs.equation, graphs.lower, graphs.upper
        self.slopes, self.low, self.high = (_values_and_rates(table[segments]) for table in tables)
        straight = graphs.exists[segments] & (graphs.curvature[segments] == 0.0)
        self.straight = np.ascontiguousarray(straight.T)  # (S, m), as all tables
        self.branch, first = None if branch is None else branch[:, ::2].T, 0
        for shape in statement.shapes if branch is None else ():
            if first < n or first == n + p:  # no segments beyond the ends of domains
                rows = slice(min(first, n), min(first, n) + len(shape))
                self.straight[0, rows] &= ~shape.closed[:, 0]
                self.straight[shape.curvature.shape[1] - 1, rows] &= ~shape.closed[:, 1]
            first += len(shape)

    @cached_property
    def _distinct_rows(self) -> tuple[Places, Places, Places]:
        """The first of each group of equal rows, all rows by group, and where groups begin."""
        _, first, kinds = np.unique(self.free, axis=0, return_index=True, return_inverse=True)
        kinds, first = first[kinds.ravel()], np.sort(first)
        order = np.argsort(kinds, kind="stable")
        return first, order, np.searchsorted(kinds[order], first)

    def undetermined_pairs(self, points: Points, pairs: Places) -> Places:
        """Return the pairs of points (k, 2) between which free variables may be undetermined.

        A solved row is held if its dual equals no segment's slope. A few variables are determined
        if held rows span their space; many count as determined if all solved rows are held.
        """
        track, at, r = self.track, self.track.entry_at, self.free.shape[1]
        ends = self._walked(pairs)
        first, other = ends.T
        solved = np.flatnonzero(track.is_row[track.entry])
        entry_now, entry_end = (np.searchsorted(solved, at[k]) for k in (first, first + 1))
        t = track.t.sum(axis=1)[ends.T]
        steepest = np.where(self.straight, np.abs(self.slopes), 0.0).max(axis=1).sum(axis=1)
        dual_sums = (steepest[0] + steepest[1] * np.abs(t)).max(axis=0)
        span, undetermined = (
            _Span(len(ends), r if r <= MAX_SPANNED else 0),
            np.zeros(len(ends), dtype=bool),
        )
        remaining = np.flatnonzero(entry_now < entry_end)
        while len(remaining):
            entry = solved[entry_now[remaining]]
            # the same unknown at the other end
            other_entry = entry + (at[other] - at[first])[remaining]
            a = track.entries[np.stack([entry, other_entry])].sum(axis=2)
            row = np.searchsorted(self.coordinates, track.entry[entry])
            ends_of, size = t[:, remaining, None], dual_sums[remaining, None]
            held = self._segments(row, a[..., None], ends_of, size)[0][:, 0] < 0
            if r <= MAX_SPANNED:
                span.add(remaining, np.where(held[:, None], self.free[row], 0.0))
            else:
                undetermined[remaining] = ~held
            entry_now[remaining] += 1
            done = span.full if r <= MAX_SPANNED else undetermined
            remaining = remaining[(entry_now[remaining] < entry_end[remaining]) & ~done[remaining]]
        return np.asarray(pairs[~span.full if r <= MAX_SPANNED else undetermined])

    def _walked(self, places: Places) -> Places:
        """Return the walk's indices of points; the walk may be descending."""
        t = self.track.t
        return len(t) - 1 - places if t[-1, 0] < t[0, 0] else places

    def _segments(
        self, rows: Places, a: Floats, t: Floats, size: Floats, branch: Any = None
    ) -> tuple[Places, Places]:
        """Return the first and the last straight segment of rows: see `on_segments`."""
        first, last = np.empty((2, *a.shape[1:]), dtype=np.int64)
        segment_branch, row_branch = np.zeros((2, 0, 0), dtype=np.int64)
        if branch is not None and self.branch is not None:
            segment_branch, row_branch = (
                np.asarray(x, dtype=np.int64) for x in (self.branch, branch)
            )
        arguments = read_only(
            self.slopes, self.straight, rows, a, t, size, segment_branch, row_branch
        )
        on_segments(*arguments, first, last)
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
        """Return the nodes between pairs of points (k, 2) at which the middle bends, and the ends.

        Pieces on which free variables are determined are left out, and points that are the middle
        already. The piece that ends at point ``endless`` ends beyond its last bend. A variable
        without bounds keeps its value, or is ``known`` (k, r), if that isn't nan. Samples stay on
        their ``branch`` (k, n).
        """
        no_nodes = np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros((0, self.free.shape[1]))
        nodes, k = [Nodes(*no_nodes)], 0
        while k < len(pairs):
            rows, count = self._relevant_rows(points, pairs[k:], endless)
            block = slice(k, k + count)
            others = None if known is None else known[block]
            block_branch = None if branch is None else branch[block].T
            pieces = rows._pieces(points, pairs[block], endless, others, block_branch)
            for left in rows._undetermined(pieces):
                nodes += left.nodes()
            k += count
        begins, t, v = (np.concatenate(arrays) for arrays in zip(*nodes, strict=True))
        order = np.argsort(begins, kind="stable")
        return Nodes(begins[order], t[order], v[order])

    def _relevant_rows(self, points: Points, pairs: Places, endless: int) -> tuple[Rows, int]:
        """Return the relevant rows, and the number of first pairs for which the others aren't.

        On these pieces the weights move so little that most rows can't become the tightest bound of
        the free variable. All rows are returned where this test doesn't apply, or saves nothing.
        """
        n, p = self.statement.rows_and_variables
        several = self.free.shape[1] > 1 or len(self.maps) > 1 or len(self.coordinates) > n
        plain = self.statement.held == slice(n, n + p) and self.line.start.kernel is None
        plain &= all(isinstance(X, np.ndarray) or sp.issparse(X) for X in self.maps)
        default_count, first_pairs = (
            max(1, PIECE_UNKNOWNS // self.statement.solution_size),
            pairs[:MAX_PIECES_RESTRICTED],
        )
        # slopes may be equal only at the ends of the path, and one piece may be infinite
        at_end = (first_pairs == (0, 0)).all(axis=1) | (first_pairs[:, 0] == len(points) - 1)
        at_end |= first_pairs[:, 1] == endless
        count = int(at_end.argmax()) if at_end.any() else len(first_pairs)
        if several or not plain or self.branch is not None or count <= 2 * default_count:
            return self, default_count
        first = self._pieces(points, pairs[:1], -1, None, None)
        while count > default_count:
            rows = self._candidates(first, points, pairs[:count])
            if len(rows) * count <= max(PIECE_UNKNOWNS, UNKNOWNS_PER_ROW * self.statement.size):
                ends = pairs[[0, count - 1], [0, 1]]
                return self._restricted(
                    rows, points.t[ends], points.at(ends, self.coordinates)
                ), count
            count //= 2
        return self, default_count

    def _candidates(self, first: _Pieces, points: Points, pairs: Places) -> Places:
        """Return the rows that may be the tightest bound of the free variable on some piece.

        ``first`` has all rows on the first piece. A row is a candidate if its place changes, or if
        its bound may become the tightest one within the motion of weights and knots.
        """
        nodes, t0 = np.unique(pairs), first.t[0, 0]
        w, _ = self.statement.variables(points.at(nodes, self.statement.held))
        weight_distance = self.statement.scale * np.linalg.norm(w - w[0], axis=1).max()
        time = np.abs(points.t[nodes] - t0).max()
        changed = np.zeros(len(self.coordinates), dtype=bool)
        moved = self.track.moved_between(*self._walked(nodes[[0, -1]]))
        changed[moved[moved < len(changed)]] = True
        c = self.free[:, 0]
        bounds = (c != 0.0) & ~first.held[:, 0]
        unit = np.where(bounds, np.abs(c), 1.0)
        move = MOTION_MARGIN * (weight_distance * self._lengths + time * self._drifts) / unit
        low, high = (lines[0, :, 0] / unit for lines in (first.low, first.high))
        up, down = np.where(c > 0.0, high, -low), np.where(c > 0.0, -low, high)
        candidates = changed | first.held[:, 0]
        for side in (up, down):  # the bounds of the variable and, below, of its negative
            near = np.min((side + move)[bounds & ~changed], initial=np.inf)
            candidates |= bounds & np.isfinite(side) & (side - move <= near)
        return np.flatnonzero(candidates)

    @cached_property
    def _lengths(self) -> Floats:
        """The lengths of the rows of X."""
        return row_lengths(self.maps[0])

    @cached_property
    def _drifts(self) -> Floats:
        """The largest speed of a knot of each row."""
        tables = (np.where(np.isfinite(table[0]), table[1], 0.0) for table in (self.low, self.high))
        return np.asarray(np.maximum(*(np.abs(table).max(axis=0) for table in tables)))

    def _restricted(self, rows: Places, ends: Floats, duals: Floats) -> Rows:
        """Return an object with some rows only; all have duals (2, m) at both ``ends`` (2,)."""
        part = copy.copy(self)
        part.others = ends, np.abs(np.delete(duals, rows, axis=1)).sum(axis=1)
        for name in ("_distinct_rows", "_absolute", "_lengths", "_drifts"):
            part.__dict__.pop(name, None)
        part.maps, part._spaces = [X[rows] for X in self.maps], {}
        part.coordinates, part.free = self.coordinates[rows], self.free[rows]
        part.straight = np.ascontiguousarray(self.straight[:, rows])
        tables = (
            np.ascontiguousarray(table[..., rows]) for table in (self.slopes, self.low, self.high)
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
        """Return the bounds by rows on the pieces between pairs of points."""
        statement, t = self.statement, points.t[pairs.T]
        since = t - self.origin
        nodes, shape = pairs.ravel(), (len(pairs), 2, -1)
        a = points.at(nodes, self.coordinates).reshape(shape)
        a = np.ascontiguousarray(a.transpose(1, 2, 0))
        dual_sums = (np.abs(a).sum(axis=1) + np.interp(t, *self.others)).max(axis=0)
        rows = np.arange(len(self.coordinates))
        first, last = self._segments(rows, a, since[:, None], dual_sums[None], branch)
        held = points.at(nodes, statement.held).reshape(shape)
        v = fallback = _lines(held[..., held.shape[-1] - statement.free :], t)
        if known is not None:
            fallback = np.where(
                np.isnan(known.T[:, None]), v, _lines(np.stack([known, known], 1), t)
            )
        rest, size = self._values(statement.variables(held)[0], t)
        low, high = np.empty((2, 2, *first.shape))
        knots = np.zeros(size.shape)
        arguments = read_only(self.low, self.high, first, last, since[0], rest)
        value_bounds(*arguments, low, high, knots)
        begins, ends_at = pairs.T
        ends = ends_at == endless, begins == ends_at
        return _Pieces(
            begins, t, *ends, first < 0, v, fallback, low, high, ROUNDED * (size + knots)
        )

    def _values(self, w: Floats, t: Floats) -> tuple[Floats, Floats]:
        """Return lines (2, m, P) of the contributions of weights w (P, 2, d) to rows' values.

        Also return the largest sums of absolute terms, (2, P).
        """
        problem, scale = self.line.start, self.statement.scale
        values = _lines(w, t)
        lengths, values = values.shape[1:], values.reshape(len(values), -1)
        sizes = np.abs(values)
        if problem.kernel is not None:
            values, sizes = problem.kernel @ values, self._largest @ sizes
            sizes = np.tile(sizes, (len(values), 1))
        lines = [scale * np.asarray(X @ values) for X in self.maps]
        size = [scale * np.asarray(X @ sizes).max(axis=0) for X in self._absolute]
        if self.statement.constrained:
            lines.append(_lines(np.abs(w).sum(axis=-1, keepdims=True), t).reshape(1, -1))
        lines_of_rows = np.concatenate(lines).reshape(-1, *lengths).swapaxes(0, 1)
        return lines_of_rows, np.max(size, axis=0).reshape(lengths)

    def _undetermined(self, pieces: _Pieces) -> Iterator[_Undetermined]:
        """Yield groups of pieces with the same held rows, and so the same `null_space`."""
        first, order, begins = self._distinct_rows
        held = np.logical_or.reduceat(pieces.held[order], begins, axis=0)
        held[~self.free[first].any(axis=1)] = True  # rows of zeros have no effect
        alike: dict[bytes, list[int]] = {}
        for k, pattern_of_piece in enumerate(np.ascontiguousarray(held.T)):
            alike.setdefault(pattern_of_piece.tobytes(), []).append(k)
        for pattern, members in alike.items():
            if pattern not in self._spaces:
                self._spaces[pattern] = null_space(self.free[first[held[:, members[0]]]])
            chosen, basis = self._spaces[pattern]
            if len(chosen):
                yield _Undetermined(pieces, np.array(members), self.free, chosen, basis)

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
    """The spans of rows (r,) of many problems, to which rows can be added."""

    def __init__(self, count: int, r: int) -> None:
        self.basis, self.rank = np.zeros((count, r, r)), np.zeros(count, dtype=np.int64)

    def add(self, problems: Places, rows: Floats) -> None:
        """Add a row to each of some problems."""
        basis = self.basis[problems]
        rest = rows - np.einsum("pij,pi->pj", basis, np.einsum("pij,pj->pi", basis, rows))
        rest_length, length = np.linalg.norm(rest, axis=1), np.linalg.norm(rows, axis=1)
        independent = rest_length > SINGULAR * length
        self.basis[problems[independent], self.rank[problems[independent]]] = (
            rest[independent] / rest_length[independent, None]
        )
        self.rank[problems[independent]] += 1

    @property
    def full(self) -> NDArray[np.bool_]:
        """Whether the rows of each problem span the whole space."""
        return np.asarray(self.rank == self.basis.shape[1])


def null_space(rows: Floats) -> tuple[Places, Floats]:
    """Return the variables that parametrise the null space of rows (m, r), and its basis (r, q).

    The first possible variables are chosen; all variables are basis @ chosen + fixed.
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
    pivot_columns = np.array(pivots, dtype=np.int64)
    chosen = np.setdiff1d(np.arange(r), pivot_columns)[::-1]
    basis = np.zeros((r, len(chosen)))
    basis[chosen, np.arange(len(chosen))] = 1.0
    basis[pivot_columns] = -A[: len(pivot_columns), chosen]
    return r - 1 - chosen, basis[::-1]


def _values_and_rates(numbers: Floats) -> Floats:
    """Return values and rates (2, S, m) of numbers (m, S, 4), which have two parts each."""
    return np.ascontiguousarray((numbers[..., ::2] + numbers[..., 1::2]).T)


def _lines(ends: Floats, t: Floats) -> Floats:
    """Return lines (k, 2, P) from values (P, 2, k) at both ends t (2, P) of pieces."""
    length, (first, last) = t[1] - t[0], ends.transpose(1, 2, 0)
    rate = np.divide(last - first, length, out=np.zeros(first.shape), where=length > 0)
    return np.stack([first, rate], axis=1)


def _along(lines: Floats, tau: Floats) -> Floats:
    """Return values of lines (P, r, 2) at tau (P,)."""
    return np.asarray((lines @ np.stack([np.ones(len(tau)), tau], axis=1)[..., None])[..., 0])
