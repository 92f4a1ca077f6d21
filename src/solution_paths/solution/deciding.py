"""Labels from decisions: one rule for predictions, error curves and crossings.

A decision is zero, or two decisions are equal, if their difference is below the rounding error of
their terms, including those of the training rows that determine the bias. Where double precision
leaves this open, decisions are computed in twofold precision at the neighbouring recorded points.
Between recorded points decisions are linear. A label changes at the first double beyond a crossing;
at a crossing itself the label is that of a tie.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..homotopy.statement import ParametricKKT
from ..homotopy.tolerances import BLUR
from ..validation import Floats
from .curves import EPSILON, Labels, between, changes, winners
from .reading import NUMBERS, Reading
from .recorded import RecordedPath
from .sums import by_rows, weights_of
from .tolerances import CLEARANCE, ROUNDED, SAME

SHORT_LENGTH = 2.0**-4  # least length, by the longest: rounding near a kernel's origin is no less
MAX_ROUNDED_VALUES = 8  # at most so many doubles on one side are read as the same breakpoint
Places = NDArray[np.int64]
Mask = NDArray[np.bool_]


def places(path: RecordedPath) -> Floats:
    """Return the parameters of recorded points, without a ray on which solutions are constant."""
    t = path.points.t
    return t[:-1] if len(t) > 1 and t[-1] > path.settled else t


class _Solutions(NamedTuple):
    """Weights and free variables at recorded points, and bounds of their rounding errors."""

    w: Floats  # (k, b D)
    v: Floats  # (k, r)
    w_sizes: Floats  # (k, b D), sums of absolute terms of weights
    held: Floats  # (1, o, k), rounding errors of free variables
    terms: int


class Deciding:
    """The decisions of rows at recorded points of a path.

    Parameters
    ----------
    path : RecordedPath
    nodes : (k,) int array
        Consecutive recorded points, with all points at the same parameters.
    """

    def __init__(self, path: RecordedPath, nodes: Places) -> None:
        self.path, self.reading, self.nodes = path, path.reading, nodes
        self.t, self.low = path.points.t[nodes], path.points.low[nodes]
        self.lengths = None if self.reading.linear else _lengths(path)
        self.unit = ROUNDED if self.reading.linear else BLUR

    @cached_property
    def _solutions(self) -> _Solutions:
        """Weights and free variables, read when decisions are needed; labels don't need them."""
        w, v = self.path.variables_at(self.nodes)
        u = self.path.points.at(self.nodes, self.path.statement.held)
        w_sizes = _absolute(self.path.statement, u, w)
        free = v.shape[1] > 0  # a free variable has the rounding error of a training row's sum
        sizes = self._sums(self._longest(), w_sizes, v)
        if self.reading.kind == "order":  # decisions are compared to these
            v = v.copy()
            self._join_sides(v.T, sizes[0, 0])
        return _Solutions(w, v, w_sizes, self.unit * free * sizes, u.shape[1])

    @property
    def w(self) -> Floats:
        """Weights (k, b D)."""
        return self._solutions.w

    @property
    def v(self) -> Floats:
        """Free variables (k, r)."""
        return self._solutions.v

    def _longest(self) -> Floats:
        """Return the largest absolute entries of training rows or, with a kernel, their length."""
        return self.path._largest if self.lengths is None else self.lengths.max(keepdims=True)

    def term_bounds(self, rows: Any) -> Floats:
        """Return upper bounds of the rows' sums of absolute terms, (1, o, k)."""
        return self._sums(self._largest(rows), self._solutions.w_sizes, self.v)

    def _largest(self, rows: Any) -> Floats:
        """Return the largest absolute entries, or the largest length, of rows."""
        if self.lengths is not None:
            return self._own_lengths(rows).max(keepdims=True)
        largest = abs(rows).max(axis=0)
        return np.atleast_2d(largest.toarray() if sp.issparse(largest) else largest)

    def _sums(self, of: Any, w_sizes: Floats, v: Floats) -> Floats:
        """Return the sums of absolute terms (m, o, k) for rows or, with a kernel, for lengths."""
        if self.lengths is not None:
            of = of[:, None] * self.lengths
        return self.reading.sizes(of, w_sizes, v)

    def _own_lengths(self, rows: Any) -> Floats:
        """Return lower bounds of rows' lengths by their kernel values (m, n) (Cauchy-Schwarz)."""
        assert self.lengths is not None
        values = np.abs(rows + self.reading.feature**2)
        scale = np.where(self.lengths > 0.0, self.lengths, np.inf)
        return np.maximum((values / scale).max(axis=1), SHORT_LENGTH * self.lengths.max())

    def doubt(self, rows: Any) -> Floats:
        """Return the bounds (1, o, k) below which double precision can't tell decisions from 0."""
        terms = rows.shape[1] + self._solutions.terms + 4
        relative = self.unit + terms * EPSILON / 2
        return CLEARANCE * (relative * self.term_bounds(rows) + self._solutions.held)

    def doubt_between(self, rows: Any, left: Places, right: Places) -> Floats:
        """Return these bounds for decisions on pieces, with rounded parameters: (1, o, k)."""
        begin, end = np.searchsorted(self.nodes, left), np.searchsorted(self.nodes, right)
        doubt, step = self.doubt(rows), self.t[end] - self.t[begin]
        relative = CLEARANCE * EPSILON * np.abs(self.t[end]) / np.where(step > 0.0, step, np.inf)
        moves = self._sums(
            self._largest(rows), self.w[end] - self.w[begin], self.v[end] - self.v[begin]
        )
        return np.maximum(doubt[..., begin], doubt[..., end]) + relative * moves

    def decisions(self, rows: Any) -> Floats:
        """Return decisions (m, o, k) with exact ties; both sides of a breakpoint agree."""
        f = self.reading.decisions(rows, self.w, self.v)
        if self.reading.kind in (*NUMBERS, "nearest"):
            sizes_of = rows if self.lengths is None else self._own_lengths(rows)
            f[np.abs(f) <= self.unit * self._sums(sizes_of, self._solutions.w_sizes, self.v)] = 0.0
            self._join_sides(f, self.term_bounds(rows))
            return f
        near = self.reading.is_doubtful(
            f, self.v, self.doubt(rows) + CLEARANCE * self.parameter_rounding(f)
        )
        codes = self.reading.codes(f, self.w, self.v)
        _, piece = change = changes(codes)
        near[change] = near[change[0], piece + 1] = True
        wanted = near.copy()
        wanted[:, 1:] |= near[:, :-1]
        wanted[:, :-1] |= near[:, 1:]
        self.sharpen(rows, f, wanted)
        self._join_sides(f, self.term_bounds(rows))
        return f

    def sharp(self, rows: Any) -> Floats:
        """Return decisions (m, o, k), all computed in twofold precision."""
        f = np.zeros((rows.shape[0], self.reading.outputs, len(self.nodes)))
        self.sharpen(rows, f, np.ones((len(f), f.shape[2]), dtype=bool))
        self._join_sides(f, self.term_bounds(rows))
        return f

    def sharpen(self, rows: Any, f: Floats, wanted: Mask) -> Floats:
        """Compute the wanted (m, k) decisions in twofold precision, and make ties exact.

        Return the bounds of their errors, and zero for the others.
        """
        bounds = np.zeros(f.shape)
        i, k = np.flatnonzero(wanted.any(axis=1)), np.flatnonzero(wanted.any(axis=0))
        if not len(i):
            return bounds
        selected, w, w_sizes = rows[i], *_sharp_weights(self.path, self.nodes[k])
        v, mask = self.v[k], wanted[np.ix_(i, k)]
        sharp = _sharp_decisions(self.reading, selected, w, v, mask)
        block = np.ix_(i, np.arange(f.shape[1]), k)
        sharp = np.where(mask[:, None], sharp, f[block])
        f[block] = sharp
        sizes_of = selected if self.lengths is None else self._own_lengths(selected)
        bound = self.unit * self._sums(sizes_of, w_sizes, v) + self.parameter_rounding(f[i])[..., k]
        bound += self._solutions.held[..., k]
        self.reading.snap_ties(sharp, v, bound)
        f[block] = np.where(mask[:, None], sharp, f[block])
        bounds[block] = np.where(mask[:, None], bound, 0.0)
        return bounds

    def parameter_rounding(self, f: Floats) -> Floats:
        """Return the changes of decisions while the parameter moves by its rounding error."""
        step = np.diff(self.t)
        rate = np.abs(np.diff(f, axis=-1)) / np.where(step > 0.0, step, np.inf)
        rates = np.zeros(f.shape)
        rates[..., :-1] = rate
        rates[..., 1:] = np.maximum(rates[..., 1:], rate)
        return np.asarray(2.0 * EPSILON * np.abs(self.t) * rates)

    def _join_sides(self, f: Floats, size: Floats) -> None:
        """Make decisions equal on both sides of a breakpoint, except where the path jumps.

        Both are those of the piece that contains the breakpoint's double.
        """
        ends = np.flatnonzero((self.nodes[:-1] % 2 == 1) & (np.diff(self.t) == 0.0))
        before, after = f[..., ends], f[..., ends + 1]
        same = np.abs(before - after) <= SAME * np.maximum(size[..., ends], size[..., ends + 1])
        behind = self.low[ends] > 0.0
        f[..., ends] = np.where(same & ~behind, after, before)
        f[..., ends + 1] = np.where(same & behind, before, after)

    def labels(self, f: Floats) -> Labels:
        """Return the labels of decisions at the recorded points, along the user's parameter."""
        changed, piece = self._along(f)
        ends = (changed.at == self.t[piece]) | (changed.at == self.t[piece + 1])
        kept = self.path.points.find(changed.at)[0] <= self.nodes[piece]
        tie = np.maximum if self.reading.zero and self.reading.kind != "argmax" else np.minimum
        inside = tie(changed.before, changed.after) == changed.before
        return in_user_parameter(self.path, changed, np.where(ends, kept, inside))

    def _along(self, f: Floats) -> tuple[Labels, Places]:
        """Return labels along t, and the pieces on which they change."""
        kind, t = self.reading.kind, self.t
        if kind == "argmax":
            return winners(t, f)
        if kind != "order":
            row, piece, at = sign_changes(t, f[:, 0], self.reading)
            positive = self.reading.positive(f[:, 0])
            return Labels(1 * positive[:, 0], row, at, 1 * positive[row, piece + 1]), piece
        first, crossed, v = np.zeros(len(f), dtype=np.int64), [], self.v
        for j in range(v.shape[1]):
            above = self.reading.positive(f[:, 0] - v[:, j])
            first += above[:, 0]
            row, piece, at = sign_changes(t, f[:, 0] - v[:, j], self.reading)
            crossed.append((row, piece, at, np.where(above[row, piece + 1], 1, -1)))
        row, piece, at, step = (np.concatenate(arrays) for arrays in zip(*crossed, strict=True))
        order = np.lexsort((at, piece, row))
        row, piece, at, total = row[order], piece[order], at[order], np.cumsum(step[order])
        begin = np.searchsorted(row, row)
        return Labels(first, row, at, first[row] + total - np.append(0, total)[begin]), piece


def sign_changes(t: Floats, f: Floats, reading: Reading) -> tuple[Places, Places, Floats]:
    """Return the row, piece and t of each change of sign of the lines f (m, K)."""
    row, piece = changes(reading.positive(f))
    left, right = f[row, piece], f[row, piece + 1]
    return row, piece, between(t[piece], t[piece + 1], left / (left - right))


def in_user_parameter(path: RecordedPath, changed: Labels, stays: Mask) -> Labels:
    """Return labels along the user's parameter, changes at the first double where they hold.

    ``stays`` says whether the label before a change, in the order of t, still holds at it.
    """
    s, first, row, after = changed.at, changed.first, changed.row, changed.after
    if path.scale.inverse:  # the order of changes is reversed
        first = first.copy()
        first[row] = after  # the last change of a row is kept
        order = np.argsort(row[::-1], kind="stable")
        row, s, after = row[::-1][order], s[::-1][order], changed.before[::-1][order]
        stays = ~stays[::-1][order]
    at = path.scale.value(s)
    at, high = _first_beyond(path, s, at, stays), path.range[1]
    if not path.ray:  # a change at the end itself would be lost
        at = np.where(at == high, np.nextafter(high, -np.inf), at)
    while True:  # in the order in which they change
        late = np.flatnonzero((row[1:] == row[:-1]) & (at[1:] < at[:-1]))
        if not len(late):
            return Labels(first, row, at, after)
        at[late + 1] = at[late]


def _first_beyond(path: RecordedPath, s: Floats, at: Floats, stays: Mask) -> Floats:
    """Return the first values at which labels hold, beyond the values read as the change."""
    beyond = np.nextafter(at, np.inf)
    if path.scale.unit == 1.0 and not path.scale.inverse:
        return np.where(stays, beyond, at)
    for _ in range(MAX_ROUNDED_VALUES):  # several values may be read as one breakpoint
        before = np.nextafter(at, -np.inf)
        at = np.where(~stays & path._reads_as(before, s), before, at)
        beyond = np.where(path._reads_as(beyond, s), np.nextafter(beyond, np.inf), beyond)
    return np.where(stays, beyond, at)


def labels_at(path: RecordedPath, rows: Any, t: Any) -> NDArray[np.int64]:
    """Return the labels (m, k) of rows at the user's parameters, as indices into the classes."""
    return _at(path, rows, t)[1]


def decisions_at(path: RecordedPath, rows: Any, t: Any) -> Floats:
    """Return decisions (m, o, k) at the user's parameters, with exact ties."""
    return _at(path, rows, t)[0]


def _at(path: RecordedPath, rows: Any, t: Any) -> tuple[Floats, NDArray[np.int64]]:
    """Return decisions and labels at the user's parameters."""
    reading, s = path.reading, path._statement_parameters(t)
    t = np.atleast_1d(np.asarray(t, dtype=np.float64))
    w, v = path._variables(s)
    f = reading.decisions(rows, w, v)
    codes = reading.codes(f, w, v)
    if reading.kind == "nearest":
        return f, codes
    clipped = np.minimum(s, places(path)[-1])
    left, right, _ = path.points.find(clipped)
    last = len(places(path)) - 1
    left, right = np.minimum(left, last), np.minimum(right, last)
    ends = Deciding(path, np.unique(np.concatenate([left, right])))
    near = reading.is_doubtful(f, v, ends.doubt_between(rows, left, right))
    for k in np.flatnonzero(near.any(axis=0)).tolist():
        i, window = np.flatnonzero(near[:, k]), Deciding(path, _around(path, left[k], right[k]))
        sharp = window.sharp(rows[i])
        codes[i, k] = window.labels(sharp).codes_at(float(t[k]))
        line = _between(window.t, sharp, float(clipped[k]))
        f[i, :, k] = reading.consistent_with_labels(line, codes[i, k])
    return f, codes


def _around(path: RecordedPath, left: int, right: int) -> Places:
    """Return the points of a piece and its neighbours, with all points at the same parameters."""
    t = places(path)
    first = np.searchsorted(t, t[max(int(np.searchsorted(t, t[left])) - 1, 0)])
    after = min(int(np.searchsorted(t, t[right], side="right")), len(t) - 1)
    return np.arange(first, np.searchsorted(t, t[after], side="right"))


def _between(t: Floats, f: Floats, s: float) -> Floats:
    """Return decisions (m, o) at s by linear interpolation."""
    k = int(np.clip(np.searchsorted(t, s, side="right") - 1, 0, max(len(t) - 2, 0)))
    if len(t) == 1 or t[k + 1] == t[k]:
        return np.asarray(f[..., k])
    share = (s - t[k]) / (t[k + 1] - t[k])
    return np.asarray((1.0 - share) * f[..., k] + share * f[..., k + 1])


def _absolute(statement: ParametricKKT, u: Floats, w: Floats) -> Floats:
    """Return the sums of absolute terms (k, b D) of weights, from the unknowns u (k, N)."""
    if not statement.sums or statement.separate:
        return np.abs(w)
    a = np.abs(u[:, : statement.R.shape[0]])
    return np.asarray(a @ abs(statement.rows)) / statement.divisor


def _sharp_weights(path: RecordedPath, nodes: Places) -> tuple[Floats, Floats]:
    """Return weights (k, b D) at recorded points, each rounded once, and their absolute terms."""
    if np.isfinite(path.settled):
        nodes = np.minimum(nodes, max(len(path.points) - 2, 0))
    u = path.points.at(nodes, path.statement.held)
    w = weights_of(path.statement, u)
    return w, _absolute(path.statement, u, w)


def _sharp_decisions(reading: Reading, rows: Any, w: Floats, v: Floats, wanted: Mask) -> Floats:
    """Return the wanted (m, k) decisions (m, o, k), whose sums are rounded once.

    Each one is independent of which others are wanted.
    """
    blocks = len(reading.bias)
    weights = w[:, :-1] if reading.linear and reading.feature else w
    parts = []
    for block in np.split(weights, blocks, axis=1):
        parts.append(by_rows(rows, wanted.T, block).T)
    biases = (
        [reading.offset * np.ones(len(w)) for _ in range(blocks)]
        if reading.mix is None
        else [np.zeros(len(w)) for _ in range(blocks)]
    )
    for j, column in enumerate(reading.bias.T):
        biases = [bias + by * v[:, j] for bias, by in zip(biases, column.tolist(), strict=True)]
    if reading.feature:
        weight = w[:, -1] if reading.linear else reading.feature * w.sum(axis=1)
        biases = [bias + reading.feature * weight for bias in biases]
    f = [part + bias for part, bias in zip(parts, biases, strict=True)]
    if reading.mix is not None:
        f = [
            sum((by * part for by, part in zip(row, f, strict=True)), np.zeros_like(f[0]))
            + reading.offset
            for row in reading.mix.tolist()
        ]
    return np.stack(f, axis=1)


def _lengths(path: RecordedPath) -> Floats:
    """Return the lengths (n,) of training rows: the square roots of the kernel's diagonal."""
    diagonal = np.asarray(path.line.start.kernel).diagonal()
    n = path.reading.columns if path.reading.rows is None else path.reading.rows.shape[0]
    lengths = np.sqrt(np.maximum(diagonal[:n], 0.0))
    return np.asarray(np.maximum(lengths, SHORT_LENGTH * lengths.max()))
