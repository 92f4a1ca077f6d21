"""Trace: what a walk leaves behind, and duals at any t from it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from .compiled import fma
from .operators import add_exactly, add_product
from .staircase import Staircases


@njit(cache=True)
def _duals_at(level0, level1, t, kept, coordinate, state, P, a, pinned_low):
    """Return all duals in two parts, from a checkpoint, the events since, and the pinned duals."""
    now = kept.copy()
    for e in range(len(coordinate)):
        now[coordinate[e]] = state[e]
    duals, low = np.zeros(len(now)), np.zeros(len(now))
    for i in range(len(now)):
        q = now[i] // 2
        if now[i] % 2 == 0:
            duals[i], low[i] = add_product(level0[i, q], 0.0, t, level1[i, q])
    for r in range(len(P)):
        duals[P[r]], low[P[r]] = a[r], pinned_low[r]
    return duals, low


@njit(cache=True)
def _combine_dense(X, duals, low, total, lost):
    for i in range(X.shape[0]):
        if duals[i] != 0.0 or low[i] != 0.0:
            for k in range(X.shape[1]):
                total[k], lost[k] = add_product(total[k], lost[k], duals[i], X[i, k])
                lost[k] += low[i] * X[i, k]


@njit(cache=True)
def _combine_sparse(indptr, indices, x, duals, low, total, lost):
    for i in range(len(indptr) - 1):
        if duals[i] != 0.0 or low[i] != 0.0:
            for s in range(indptr[i], indptr[i + 1]):
                k = indices[s]
                total[k], lost[k] = add_product(total[k], lost[k], duals[i], x[s])
                lost[k] += low[i] * x[s]


@njit(cache=True)
def _divide(total, lost, divisor):
    """Overwrite total with (total + lost) / divisor, rounded once."""
    for k in range(len(total)):
        part = total[k] / divisor
        total[k] = part + (fma(-part, divisor, total[k]) + lost[k]) / divisor


def combine(X, duals, low, divisor: float) -> NDArray[np.float64]:
    """Return X'(duals + low) / divisor, rounded once.

    Duals can be many orders of magnitude larger than what their combination leaves.
    """
    total, lost = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    if sp.issparse(X):
        X = sp.csr_array(X)
        _combine_sparse(X.indptr, X.indices, X.data, duals, low, total, lost)
    else:
        _combine_dense(X, duals, low, total, lost)
    _divide(total, lost, float(divisor))
    return total


@njit(cache=True)
def between(left, left_low, right, right_low, part):
    """Return, in two parts, the numbers a part of the way from left to right."""
    high, low = np.empty(len(left)), np.empty(len(left))
    for i in range(len(left)):
        here, lost = add_exactly(left[i], left_low[i] + part * (right_low[i] - left_low[i]), 0.0)
        here, lost = add_product(here, lost, part, right[i])
        high[i], low[i] = add_product(here, lost, -part, left[i])
    return high, low


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
        return self.parts(node)[0]

    def parts(self, node: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the (N,) duals at a node in two parts, the second what rounding leaves out.

        With both a linear model's pinned values are at their kinks to the rounding of its w.
        """
        events, t = self.event[node], self.t[node]
        kept = events // self.every
        recent = slice(kept * self.every, events)
        pinned = slice(self.start[node], self.start[node + 1])
        return _duals_at(
            self.stairs.level0,
            self.stairs.level1,
            t,
            self.checkpoint[kept],
            self.coordinate[recent],
            self.state[recent],
            self.P[pinned],
            self.a[pinned],
            self.low[pinned],
        )

    def down_to_zero(self, n: int) -> Trace:
        """Return the trace with its last node, where nothing happened, moved on to t = 0.

        The duals of the first n coordinates vanish there (levels proportional to t).
        """
        end = self.start[-2]
        P, a = self.P[end:], self.a[end:]
        there = np.where(n > P, 0.0, a - self.t[-1] * self.ray[P])
        return self._replace(
            t=np.append(self.t[:-1], 0.0),
            a=np.append(self.a[:end], there),
            low=np.append(self.low[:end], np.zeros(len(there))),
        )
