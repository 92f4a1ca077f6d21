"""Which labels decisions stand for: one rule, for predictions, error curves and crossings.

A decision is zero, or two of them are equal, where their difference is less than rounding makes of
the terms that they are summed from, those of the training rows that tell a bias among them. What
double precision can't tell is looked at again in twofold precision, at the recorded points around:
between them decisions are lines, and a label changes at the first parameter, as a double, that is
beyond a crossing. At a crossing itself the label is that of a tie.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..homotopy.statement import Statement
from ..homotopy.tolerances import BLUR
from ..validation import Floats
from .curves import EPSILON, Labels, between, changes, winners
from .reading import NUMBERS, ROUNDED, Reading
from .recorded import RecordedPath
from .sums import by_rows, weights_of

SAME = 2.0**-40  # of that sum: where a path jumps decisions differ by more
SHORT = 2.0**-4  # of the longest row's length: near a centred kernel's origin rounding is no less
DOUBT = 4.0  # times what double precision may be off: there decisions are looked at again
ROUNDINGS = 8  # at most so many values of the user's parameter on one side stand for a breakpoint
Places = NDArray[np.int64]
Mask = NDArray[np.bool_]


def places(path: RecordedPath) -> Floats:
    """Return the parameters of recorded points, without a ray on which solutions stand still."""
    t = path.points.t
    return t[:-1] if len(t) > 1 and t[-1] > path.settled else t


class _Solutions(NamedTuple):
    """Weights and free variables at recorded points, and how far off what they add up to is."""

    w: Floats  # (k, b D)
    v: Floats  # (k, r)
    w_sizes: Floats  # (k, b D), absolute terms of weights
    held: Floats  # (1, o, k), what rounding makes of free variables
    terms: int


class Deciding:
    """The decisions of rows at recorded points of a path.

    Parameters
    ----------
    path : RecordedPath
    nodes : (k,) int array
        Consecutive ones, with all that are at the same parameters.
    """

    def __init__(self, path: RecordedPath, nodes: Places) -> None:
        self.path, self.reading, self.nodes = path, path.reading, nodes
        self.t, self.low = path.points.t[nodes], path.points.low[nodes]
        self.lengths = None if self.reading.linear else _lengths(path)
        self.unit = ROUNDED if self.reading.linear else BLUR

    @cached_property
    def _solutions(self) -> _Solutions:
        """Weights and free variables are read when decisions are asked for; labels need none."""
        w, v = self.path.variables_at(self.nodes)
        u = self.path.points.at(self.nodes, self.path.statement.held)
        w_sizes = _absolute(self.path.statement, u, w)
        free = v.shape[1] > 0  # each of which is what a training row's sum lacks
        sizes = self._sums(self._longest(), w_sizes, v)
        if self.reading.kind == "order":  # decisions are compared to these
            v = v.copy()
            self._join(v.T, sizes[0, 0])
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
        """Return a row that no training row exceeds in any entry or, with a kernel, its length."""
        return self.path._largest if self.lengths is None else self.lengths.max(keepdims=True)

    def rough(self, rows: Any) -> Floats:
        """Return what no row's sums of absolute terms exceed, (1, o, k)."""
        return self._sums(self._largest(rows), self._solutions.w_sizes, self.v)

    def _largest(self, rows: Any) -> Floats:
        """Return one row, or length, with the largest absolute entries of all."""
        if self.lengths is not None:
            return self._own_lengths(rows).max(keepdims=True)
        most = abs(rows).max(axis=0)
        return np.atleast_2d(most.toarray() if sp.issparse(most) else most)

    def _sums(self, of: Any, w_sizes: Floats, v: Floats) -> Floats:
        """Return the sums of absolute terms (m, o, k) of rows or, with a kernel, of lengths."""
        if self.lengths is not None:
            of = of[:, None] * self.lengths
        return self.reading.sizes(of, w_sizes, v)

    def _own_lengths(self, rows: Any) -> Floats:
        """Return by kernel values (m, n) the least lengths that rows can have (Cauchy-Schwarz)."""
        assert self.lengths is not None
        values = np.abs(rows + self.reading.feature**2)
        scale = np.where(self.lengths > 0.0, self.lengths, np.inf)
        return np.maximum((values / scale).max(axis=1), SHORT * self.lengths.max())

    def doubt(self, rows: Any) -> Floats:
        """Return how far decisions in double precision may be from being told, (1, o, k)."""
        terms = rows.shape[1] + self._solutions.terms + 4
        off = self.unit + terms * EPSILON / 2
        return DOUBT * (off * self.rough(rows) + self._solutions.held)

    def doubt_between(self, rows: Any, here: Places, there: Places) -> Floats:
        """Return the same of decisions on pieces, whose parameters are rounded, too: (1, o, k)."""
        i, j = np.searchsorted(self.nodes, here), np.searchsorted(self.nodes, there)
        own, step = self.doubt(rows), self.t[j] - self.t[i]
        share = DOUBT * EPSILON * np.abs(self.t[j]) / np.where(step > 0.0, step, np.inf)
        moves = self._sums(self._largest(rows), self.w[j] - self.w[i], self.v[j] - self.v[i])
        return np.maximum(own[..., i], own[..., j]) + share * moves

    def decisions(self, rows: Any) -> Floats:
        """Return decisions (m, o, k): ties are exact, and both sides of a breakpoint agree."""
        f = self.reading.decisions(rows, self.w, self.v)
        if self.reading.kind in (*NUMBERS, "nearest"):
            of = rows if self.lengths is None else self._own_lengths(rows)
            f[np.abs(f) <= self.unit * self._sums(of, self._solutions.w_sizes, self.v)] = 0.0
            self._join(f, self.rough(rows))
            return f
        near = self.reading.close(f, self.v, self.doubt(rows) + DOUBT * self.moved(f))
        codes = self.reading.codes(f, self.w, self.v)
        _, piece = found = changes(codes)
        near[found] = near[found[0], piece + 1] = True
        wanted = near.copy()
        wanted[:, 1:] |= near[:, :-1]
        wanted[:, :-1] |= near[:, 1:]
        self.sharpen(rows, f, wanted)
        self._join(f, self.rough(rows))
        return f

    def sharp(self, rows: Any) -> Floats:
        """Return decisions (m, o, k), all of them in twofold precision."""
        f = np.zeros((rows.shape[0], self.reading.outputs, len(self.nodes)))
        self.sharpen(rows, f, np.ones((len(f), f.shape[2]), dtype=bool))
        self._join(f, self.rough(rows))
        return f

    def sharpen(self, rows: Any, f: Floats, wanted: Mask) -> Floats:
        """Compute wanted (m, k) decisions in twofold precision, and make ties exact.

        Return how far they may be off, and zero of others.
        """
        every = np.zeros(f.shape)
        i, k = np.flatnonzero(wanted.any(axis=1)), np.flatnonzero(wanted.any(axis=0))
        if not len(i):
            return every
        own, w, w_sizes = rows[i], *_sharp_weights(self.path, self.nodes[k])
        v, mask = self.v[k], wanted[np.ix_(i, k)]
        found = _sharp_decisions(self.reading, own, w, v, mask)
        here = np.ix_(i, np.arange(f.shape[1]), k)
        found = np.where(mask[:, None], found, f[here])
        f[here] = found
        of = own if self.lengths is None else self._own_lengths(own)
        off = self.unit * self._sums(of, w_sizes, v) + self.moved(f[i])[..., k]
        off += self._solutions.held[..., k]
        self.reading.tie(found, v, off)
        f[here] = np.where(mask[:, None], found, f[here])
        every[here] = np.where(mask[:, None], off, 0.0)
        return every

    def moved(self, f: Floats) -> Floats:
        """Return by how much decisions move while a parameter moves to the next doubles."""
        step = np.diff(self.t)
        rate = np.abs(np.diff(f, axis=-1)) / np.where(step > 0.0, step, np.inf)
        found = np.zeros(f.shape)
        found[..., :-1] = rate
        found[..., 1:] = np.maximum(found[..., 1:], rate)
        return np.asarray(2.0 * EPSILON * np.abs(self.t) * found)

    def _join(self, f: Floats, size: Floats) -> None:
        """Let decisions be the same on both sides of a breakpoint, but where they jump.

        They are those of the piece to which the breakpoint's double belongs.
        """
        j = np.flatnonzero((self.nodes[:-1] % 2 == 1) & (np.diff(self.t) == 0.0))
        before, after = f[..., j], f[..., j + 1]
        same = np.abs(before - after) <= SAME * np.maximum(size[..., j], size[..., j + 1])
        behind = self.low[j] > 0.0
        f[..., j] = np.where(same & ~behind, after, before)
        f[..., j + 1] = np.where(same & behind, before, after)

    def labels(self, f: Floats) -> Labels:
        """Return the labels of such decisions as functions of the user's parameter."""
        found, piece = self._along(f)
        ends = (found.at == self.t[piece]) | (found.at == self.t[piece + 1])
        kept = self.path.points.find(found.at)[0] <= self.nodes[piece]
        tie = np.maximum if self.reading.zero and self.reading.kind != "argmax" else np.minimum
        inside = tie(found.before, found.after) == found.before
        return in_the_users(self.path, found, np.where(ends, kept, inside))

    def _along(self, f: Floats) -> tuple[Labels, Places]:
        """Return labels as functions of t, and the pieces on which they change."""
        kind, t = self.reading.kind, self.t
        if kind == "argmax":
            return winners(t, f)
        if kind != "order":
            row, piece, at = sign_changes(t, f[:, 0], self.reading)
            positive = self.reading.positive(f[:, 0])
            return Labels(1 * positive[:, 0], row, at, 1 * positive[row, piece + 1]), piece
        first, found, v = np.zeros(len(f), dtype=np.int64), [], self.v
        for j in range(v.shape[1]):
            above = self.reading.positive(f[:, 0] - v[:, j])
            first += above[:, 0]
            row, piece, at = sign_changes(t, f[:, 0] - v[:, j], self.reading)
            found.append((row, piece, at, np.where(above[row, piece + 1], 1, -1)))
        row, piece, at, step = (np.concatenate(own) for own in zip(*found, strict=True))
        order = np.lexsort((at, piece, row))
        row, piece, at, total = row[order], piece[order], at[order], np.cumsum(step[order])
        begin = np.searchsorted(row, row)
        return Labels(first, row, at, first[row] + total - np.append(0, total)[begin]), piece


def sign_changes(t: Floats, f: Floats, reading: Reading) -> tuple[Places, Places, Floats]:
    """Return rows of f (m, K), pieces, and the t at which these lines change sign."""
    row, piece = changes(reading.positive(f))
    left, right = f[row, piece], f[row, piece + 1]
    return row, piece, between(t[piece], t[piece + 1], left / (left - right))


def in_the_users(path: RecordedPath, found: Labels, stays: Mask) -> Labels:
    """Return labels by the first values of the user's parameter at which they hold.

    ``stays`` tells whether the label before a change, as t grows, still holds at it.
    """
    own, first, row, after = found.at, found.first, found.row, found.after
    if path.scale.inverse:  # the last comes first
        first = first.copy()
        first[row] = after  # of several the last one is kept
        order = np.argsort(row[::-1], kind="stable")
        row, own, after = row[::-1][order], own[::-1][order], found.before[::-1][order]
        stays = ~stays[::-1][order]
    at = path.scale.value(own)
    at, high = _first_beyond(path, own, at, stays), path.range[1]
    if not path.ray:  # what changes at the end alone would not be seen
        at = np.where(at == high, np.nextafter(high, -np.inf), at)
    while True:  # in the order in which they change
        late = np.flatnonzero((row[1:] == row[:-1]) & (at[1:] < at[:-1]))
        if not len(late):
            return Labels(first, row, at, after)
        at[late + 1] = at[late]


def _first_beyond(path: RecordedPath, own: Floats, at: Floats, stays: Mask) -> Floats:
    """Return the first values at which labels hold, not before those that stand for a change."""
    beyond = np.nextafter(at, np.inf)
    if path.scale.unit == 1.0 and not path.scale.inverse:
        return np.where(stays, beyond, at)
    for _ in range(ROUNDINGS):  # several values are those of one breakpoint
        before = np.nextafter(at, -np.inf)
        at = np.where(~stays & path._stands_for(before, own), before, at)
        beyond = np.where(path._stands_for(beyond, own), np.nextafter(beyond, np.inf), beyond)
    return np.where(stays, beyond, at)


def labels_at(path: RecordedPath, rows: Any, t: Any) -> NDArray[np.int64]:
    """Return the labels (m, k) of rows at the user's parameters, as indices into the classes."""
    return _at(path, rows, t)[1]


def decisions_at(path: RecordedPath, rows: Any, t: Any) -> Floats:
    """Return decisions (m, o, k) at the user's parameters, whose ties are exact."""
    return _at(path, rows, t)[0]


def _at(path: RecordedPath, rows: Any, t: Any) -> tuple[Floats, NDArray[np.int64]]:
    """Return decisions and labels at the user's parameters."""
    reading, own = path.reading, path._own(t)
    t = np.atleast_1d(np.asarray(t, dtype=np.float64))
    w, v = path._variables(own)
    f = reading.decisions(rows, w, v)
    codes = reading.codes(f, w, v)
    if reading.kind == "nearest":
        return f, codes
    s = np.minimum(own, places(path)[-1])
    here, there, _ = path.points.find(s)
    last = len(places(path)) - 1
    here, there = np.minimum(here, last), np.minimum(there, last)
    ends = Deciding(path, np.unique(np.concatenate([here, there])))
    near = reading.close(f, v, ends.doubt_between(rows, here, there))
    for k in np.flatnonzero(near.any(axis=0)).tolist():
        i, window = np.flatnonzero(near[:, k]), Deciding(path, _around(path, here[k], there[k]))
        sharp = window.sharp(rows[i])
        codes[i, k] = window.labels(sharp).there(float(t[k]))
        line = _between(window.t, sharp, float(s[k]))
        f[i, :, k] = reading.as_labelled(line, codes[i, k])
    return f, codes


def _around(path: RecordedPath, here: int, there: int) -> Places:
    """Return the points of a piece and of its neighbours, with all at the same parameters."""
    t = places(path)
    first = np.searchsorted(t, t[max(int(np.searchsorted(t, t[here])) - 1, 0)])
    after = min(int(np.searchsorted(t, t[there], side="right")), len(t) - 1)
    return np.arange(first, np.searchsorted(t, t[after], side="right"))


def _between(t: Floats, f: Floats, s: float) -> Floats:
    """Return decisions (m, o) at s of lines between points."""
    k = int(np.clip(np.searchsorted(t, s, side="right") - 1, 0, max(len(t) - 2, 0)))
    if len(t) == 1 or t[k + 1] == t[k]:
        return np.asarray(f[..., k])
    share = (s - t[k]) / (t[k + 1] - t[k])
    return np.asarray((1.0 - share) * f[..., k] + share * f[..., k + 1])


def _absolute(statement: Statement, u: Floats, w: Floats) -> Floats:
    """Return the sums of absolute terms (k, b D) of weights, by the unknowns that they are of."""
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
    """Return wanted (m, k) decisions (m, o, k), whose sums are rounded once.

    Each is the same whatever else is wanted.
    """
    blocks = len(reading.bias)
    weights = w[:, :-1] if reading.linear and reading.feature else w
    parts = []
    for own in np.split(weights, blocks, axis=1):
        parts.append(by_rows(rows, wanted.T, own).T)
    biases = (
        [reading.offset * np.ones(len(w)) for _ in range(blocks)]
        if reading.mix is None
        else [np.zeros(len(w)) for _ in range(blocks)]
    )
    for j, column in enumerate(reading.bias.T):
        biases = [own + by * v[:, j] for own, by in zip(biases, column.tolist(), strict=True)]
    if reading.feature:
        weight = w[:, -1] if reading.linear else reading.feature * w.sum(axis=1)
        biases = [own + reading.feature * weight for own in biases]
    f = [part + bias for part, bias in zip(parts, biases, strict=True)]
    if reading.mix is not None:
        f = [
            sum((by * part for by, part in zip(row, f, strict=True)), np.zeros_like(f[0]))
            + reading.offset
            for row in reading.mix.tolist()
        ]
    return np.stack(f, axis=1)


def _lengths(path: RecordedPath) -> Floats:
    """Return the lengths (n,) of training rows under a kernel: the roots of its diagonal."""
    diagonal = np.asarray(path.line.start.kernel).diagonal()
    n = path.reading.columns if path.reading.rows is None else path.reading.rows.shape[0]
    found = np.sqrt(np.maximum(diagonal[:n], 0.0))
    return np.asarray(np.maximum(found, SHORT * found.max()))
