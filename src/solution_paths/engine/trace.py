"""Trace: what a walk leaves behind, and duals at any t from it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .staircase import Staircases


@njit(cache=True)
def _duals_at(level0, level1, t, kept, coordinate, state, P, a):
    """Return all duals from the states at a checkpoint, the events since, and the pinned duals."""
    now = kept.copy()
    for e in range(len(coordinate)):
        now[coordinate[e]] = state[e]
    duals = np.empty(len(now))
    for i in range(len(now)):
        q = now[i] // 2
        duals[i] = level0[i, q] + t * level1[i, q] if now[i] % 2 == 0 else 0.0
    for r in range(len(P)):
        duals[P[r]] = a[r]
    return duals


class Trace(NamedTuple):
    """A finished walk: t at K nodes and what is needed to know all duals there.

    ``event[k]`` events happened up to node k; its pinned coordinates and their duals are
    ``P[start[k]:start[k + 1]]`` and ``a[...]``. Every ``every`` events all states are kept.
    """

    stairs: Staircases
    t: NDArray[np.float64]
    event: NDArray[np.int64]
    start: NDArray[np.int64]
    P: NDArray[np.int32]
    a: NDArray[np.float64]
    coordinate: NDArray[np.int32]
    state: NDArray[np.int8]
    checkpoint: NDArray[np.int8]
    every: int
    ray: NDArray[np.float64]

    def duals(self, node: int) -> NDArray[np.float64]:
        """Return the (N,) duals at a node."""
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
        )

    def without_last(self) -> Trace:
        """Return the trace up to its last but one node; the ray goes on from there."""
        end = self.start[-2]
        return self._replace(
            t=self.t[:-1],
            event=self.event[:-1],
            start=self.start[:-1],
            P=self.P[:end],
            a=self.a[:end],
        )

    def down_to_zero(self, n: int) -> Trace:
        """Return the trace with its last node, where nothing happened, moved on to t = 0.

        The duals of the first n coordinates vanish there (levels proportional to t).
        """
        end = self.start[-2]
        P, a = self.P[end:], self.a[end:]
        there = np.where(n > P, 0.0, a - self.t[-1] * self.ray[P])
        return self._replace(t=np.append(self.t[:-1], 0.0), a=np.append(self.a[:end], there))
