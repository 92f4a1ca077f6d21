"""Trace: what a walk leaves behind, and duals at any t from it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..compilation import cached_njit
from .compiled import fma
from .operators import add_exactly, add_product
from .staircase import Staircases


@cached_njit
def _duals_at(nodes, level0, level1, t, event, start, P, a, low, coordinate, state, kept, every):
    """Return (B, N) duals at nodes in two parts, from copies of all states and events since."""
    N = len(level0)
    duals, rest = np.zeros((len(nodes), N)), np.zeros((len(nodes), N))
    now = np.empty(N, dtype=np.int8)
    for b in range(len(nodes)):
        node = nodes[b]
        copy = event[node] // every
        now[:] = kept[copy]
        for e in range(copy * every, event[node]):
            now[coordinate[e]] = state[e]
        for i in range(N):
            q = now[i] // 2
            if now[i] % 2 == 0:
                duals[b, i], rest[b, i] = add_product(level0[i, q], 0.0, t[node], level1[i, q])
        for r in range(start[node], start[node + 1]):
            duals[b, P[r]], rest[b, P[r]] = a[r], low[r]
    return duals, rest


@cached_njit
def _combine_dense(X, duals, low, total, lost):
    for b in range(len(duals)):
        for i in range(X.shape[0]):
            a, rest = duals[b, i], low[b, i]
            if a != 0.0 or rest != 0.0:
                for k in range(X.shape[1]):
                    total[b, k], lost[b, k] = add_product(total[b, k], lost[b, k], a, X[i, k])
                    lost[b, k] += rest * X[i, k]


@cached_njit
def _combine_sparse(indptr, indices, x, duals, low, total, lost):
    for b in range(len(duals)):
        for i in range(len(indptr) - 1):
            a, rest = duals[b, i], low[b, i]
            if a != 0.0 or rest != 0.0:
                for s in range(indptr[i], indptr[i + 1]):
                    k = indices[s]
                    total[b, k], lost[b, k] = add_product(total[b, k], lost[b, k], a, x[s])
                    lost[b, k] += rest * x[s]


@cached_njit
def _divide(total, lost, divisor):
    """Overwrite total with (total + lost) / divisor, rounded once."""
    for b in range(total.shape[0]):
        for k in range(total.shape[1]):
            part = total[b, k] / divisor
            total[b, k] = part + (fma(-part, divisor, total[b, k]) + lost[b, k]) / divisor


def combine(X, duals, low, divisor: float) -> NDArray[np.float64]:
    """Return (d, B) combinations X'(duals + low)' / divisor of (B, .) duals, rounded once.

    Duals can be many orders of magnitude larger than what their combination leaves.
    """
    total, lost = np.zeros((2, len(duals), X.shape[1]))
    if sp.issparse(X):
        X = sp.csr_array(X)
        _combine_sparse(X.indptr, X.indices, X.data, duals, low, total, lost)
    else:
        _combine_dense(X, duals, low, total, lost)
    _divide(total, lost, float(divisor))
    return np.ascontiguousarray(total.T)


@cached_njit
def between(high, low, near, far, part):
    """Return, in two parts, numbers a ``part`` of the way from rows ``near`` to rows ``far``."""
    found, rest = np.empty((len(part), high.shape[1])), np.empty((len(part), high.shape[1]))
    for b in range(len(part)):
        one, other, share = near[b], far[b], part[b]
        for i in range(high.shape[1]):
            here, lost = high[one, i], low[one, i]
            if share != 0.0:
                here, lost = add_exactly(here, lost + share * (low[other, i] - lost), 0.0)
                here, lost = add_product(here, lost, share, high[other, i])
                here, lost = add_product(here, lost, -share, high[one, i])
            found[b, i], rest[b, i] = here, lost
    return found, rest


class Trace(NamedTuple):
    """A finished walk: t at K nodes and what is needed to know all duals there.

    ``event[k]`` events happened up to node k; its pinned coordinates and their duals are
    ``P[start[k]:start[k + 1]]`` and ``a[...] + low[...]``. Every ``every``
    events all states are kept.
    """

    stairs: Staircases
    t: NDArray[np.float64]
    event: NDArray[np.int64]
    start: NDArray[np.int64]
    P: NDArray[np.int32]
    a: NDArray[np.float64]
    low: NDArray[np.float64]
    coordinate: NDArray[np.int32]
    state: NDArray[np.int8]
    checkpoint: NDArray[np.int8]
    every: int
    ray: NDArray[np.float64]

    def states(self, node: int) -> NDArray[np.int8]:
        """Return the (N,) states at a node."""
        events = self.event[node]
        kept = events // self.every
        states, recent = self.checkpoint[kept].copy(), slice(kept * self.every, events)
        states[self.coordinate[recent]] = self.state[recent]  # of several the last one counts
        return states

    def duals(self, node: int) -> NDArray[np.float64]:
        """Return the (N,) duals at a node."""
        return self.parts(np.array([node]))[0][0]

    def parts(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the (B, N) duals at nodes in two parts, the second what rounding leaves out.

        With both a linear model's pinned values are at their kinks to the rounding of its w.
        """
        own = nodes, self.stairs.level0, self.stairs.level1, self.t, self.event, self.start
        events = self.coordinate, self.state, self.checkpoint, self.every
        return _duals_at(*own, self.P, self.a, self.low, *events)

    def cut(self, nodes: int) -> Trace:
        """Return the trace with its first nodes alone."""
        end = self.start[nodes]
        return self._replace(
            t=self.t[:nodes],
            event=self.event[:nodes],
            start=self.start[: nodes + 1],
            P=self.P[:end],
            a=self.a[:end],
            low=self.low[:end],
        )

    def down_to_zero(self, n: int) -> Trace:
        """Return the trace with its last node, where nothing happened, moved on to t = 0.

        The duals of the first n coordinates vanish there (levels proportional to t).
        """
        end = self.start[-2]
        t, a, low, P = self.t.copy(), self.a.copy(), self.low.copy(), self.P[end:]
        there = a[end:] - t[-1] * self.ray[P]
        there[n > P] = 0.0
        t[-1], a[end:], low[end:] = 0.0, there, 0.0
        return self._replace(t=t, a=a, low=low)
