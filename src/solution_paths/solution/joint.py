"""The largest of the decisions of several paths, one for each class, along their parameter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..validation import Floats
from .curves import Labels, changes, winners
from .deciding import DOUBT, Deciding, in_the_users, places
from .path import SolutionPath

AROUND = 2  # edges on both sides of a parameter


class Joint:
    """Decisions of paths of one model along the parameter of their walks.

    A path that ends before others stays what it is.

    Parameters
    ----------
    paths : sequence of SolutionPath
        With one output each.
    near : float, optional
        A parameter of the walks, around which alone something is asked.
    """

    def __init__(self, paths: Sequence[SolutionPath], near: float | None = None) -> None:
        self.paths = paths
        every = [places(path) for path in paths]
        edges = np.unique(np.concatenate(every))
        if near is not None:
            here = int(np.searchsorted(edges, near))
            edges = edges[max(here - AROUND, 0) : here + AROUND + 1]
        if len(edges) == 1:  # nothing moves there
            edges = np.append(edges, edges + 1.0)
        self.edges, self.t = edges, np.repeat(edges, 2)[1:-1]
        self.parts = [Deciding(*own) for own in zip(paths, map(self._around, every), strict=True)]
        self.here = [self._pieces(part.t) for part in self.parts]

    def _around(self, t: Floats) -> NDArray[np.int64]:
        """Return the points of a path from before the edges to behind them."""
        first = max(int(np.searchsorted(t, self.edges[0])) - AROUND, 0)
        last = min(int(np.searchsorted(t, self.edges[-1], side="right")) + 1, len(t) - 1)
        begin, end = np.searchsorted(t, t[first]), np.searchsorted(t, t[last], side="right")
        return np.arange(begin, end)

    def _pieces(self, t: Floats) -> NDArray[np.int64]:
        """Return on which of a path's pieces those between edges are."""
        middle = self.edges[:-1] + 0.5 * np.diff(self.edges)
        return np.clip(np.searchsorted(t, middle) - 1, 0, max(len(t) - 2, 0))

    def _lines(self, values: Sequence[Floats]) -> Floats:
        """Return values (m, paths, 2 k) at both ends of k pieces, of those (m, K) at points."""
        found = []
        for part, here, f in zip(self.parts, self.here, values, strict=True):
            if len(part.t) == 1:
                found.append(np.repeat(f, len(self.t), axis=1))
                continue
            piece = np.repeat(here, 2)
            step = part.t[piece + 1] - part.t[piece]
            share = (self.t - part.t[piece]) / np.where(step > 0.0, step, np.inf)
            share = np.minimum(share, 1.0) if np.isfinite(part.path.settled) else share
            found.append((1.0 - share) * f[:, piece] + share * f[:, piece + 1])
        return np.stack(found, axis=1)

    def _largest(self, values: Sequence[Floats]) -> Floats:
        """Return (m, paths, 2 k) what is larger of both ends of pieces."""
        found = []
        for part, here, own in zip(self.parts, self.here, values, strict=True):
            there = np.minimum(here + 1, len(part.t) - 1)
            found.append(np.repeat(np.maximum(own[:, here], own[:, there]), 2, axis=1))
        return np.stack(found, axis=1)

    def labels(self, X: Any) -> Labels:
        """Return which path's decision is the largest, as a function of the user's parameter."""
        found, piece = winners(self.t, self._decisions(X))
        place = np.searchsorted(self.edges, found.at)
        at_edge = self.edges[np.minimum(place, len(self.edges) - 1)] == found.at
        behind = np.zeros(len(self.edges), dtype=bool)
        for path in self.paths:
            node = path.points.find(self.edges)[0]
            after = np.minimum(node + 1, len(path.points) - 1)
            behind |= (after > node) & (path.points.t[after] == self.edges)
        place = np.minimum(place, len(self.edges) - 1)
        stays = np.where(at_edge, 2 * place - behind[place] <= piece, found.before < found.after)
        return in_the_users(self.paths[0], found, stays)

    def _decisions(self, X: Any) -> Floats:
        """Return decisions (m, paths, 2 k), whose ties are exact, at both ends of pieces."""
        rows = [part.reading.checked(X) for part in self.parts]
        values, doubts = [], []
        for part, own in zip(self.parts, rows, strict=True):
            f = part.reading.decisions(own, part.w, part.v)
            values.append(f[:, 0])
            doubts.append((part.doubt(own) + DOUBT * part.moved(f))[:, 0])
        f, off = self._lines(values), self._largest(doubts)
        wanted = self._wanted(f, off)
        offs = []
        for part, own, here, f_own in zip(self.parts, rows, self.here, values, strict=True):
            nodes = np.zeros(f_own.shape, dtype=bool)
            row, piece = np.nonzero(wanted)
            there = np.minimum(here + 1, len(part.t) - 1)
            nodes[row, here[piece]] = nodes[row, there[piece]] = True
            offs.append(part.sharpen(own, f_own[:, None], nodes)[:, 0])
        f, off = self._lines(values), 2.0 * self._largest(offs)
        best = f.argmax(axis=1)[:, None]
        top = np.take_along_axis(f, best, axis=1)
        return np.where(f >= top - off - np.take_along_axis(off, best, axis=1), top, f)

    def _wanted(self, f: Floats, off: Floats) -> NDArray[np.bool_]:
        """Tell on which pieces (m, k) decisions are looked at in twofold precision."""
        two = np.sort(f, axis=1)[:, -2:]
        near = two[:, 1] - two[:, 0] <= 2.0 * off.max(axis=1)
        row, place = changes(f.argmax(axis=1))
        near[row, place] = near[row, place + 1] = True
        pieces = near[:, ::2] | near[:, 1::2]
        found = pieces.copy()
        found[:, 1:] |= pieces[:, :-1]
        found[:, :-1] |= pieces[:, 1:]
        return found


def joint_decision(paths: Sequence[SolutionPath], X: Any, t: float, at: Sequence[float]) -> Floats:
    """Return decisions (m, paths) at t, of each path at its own value, whose ties are exact."""
    values, doubts = [], []
    for path, value in zip(paths, at, strict=True):
        rows, own = path.reading.checked(X), path._own(value)
        values.append(path.reading.decisions(rows, *path._variables(own))[:, 0, 0])
        here, there, _ = path.points.find(np.minimum(own, places(path)[-1]))
        last = len(places(path)) - 1
        here, there = np.minimum(here, last), np.minimum(there, last)
        ends = Deciding(path, np.unique(np.concatenate([here, there])))
        doubts.append(float(ends.doubt_between(rows, here, there).max()))
    f = np.stack(values, axis=1)
    two = np.sort(f, axis=1)[:, -2:]
    near = np.flatnonzero(two[:, 1] - two[:, 0] <= 2.0 * max(doubts))
    if len(near):
        own = paths[0].scale.own(np.array([t]))
        codes = Joint(paths, float(own[0])).labels(X[near]).there(t)
        top, known = f[near].max(axis=1, keepdims=True), np.arange(len(paths)) == codes[:, None]
        f[near] = np.where(known, top, np.minimum(f[near], np.nextafter(top, -np.inf)))
    return f
