"""The largest decision of several paths, one for each class, along their parameter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..validation import Floats
from .curves import Labels, changes, winners
from .deciding import Deciding, in_user_parameter, places
from .path import SolutionPath
from .tolerances import CLEARANCE

EDGES_AROUND = 2  # edges on both sides of a parameter


class Joint:
    """Decisions of paths of one model along the parameter of their statements.

    A path that ends before others is constant from there on.

    Parameters
    ----------
    paths : sequence of SolutionPath
        With one output each.
    near : float, optional
        A parameter, if only decisions near it are needed.
    """

    def __init__(self, paths: Sequence[SolutionPath], near: float | None = None) -> None:
        self.paths = paths
        points = [places(path) for path in paths]
        edges = np.unique(np.concatenate(points))
        if near is not None:
            nearest = int(np.searchsorted(edges, near))
            edges = edges[max(nearest - EDGES_AROUND, 0) : nearest + EDGES_AROUND + 1]
        if len(edges) == 1:  # all paths are constant
            edges = np.append(edges, edges + 1.0)
        self.edges, self.t = edges, np.repeat(edges, 2)[1:-1]
        self.parts = [
            Deciding(*arguments) for arguments in zip(paths, map(self._around, points), strict=True)
        ]
        self.pieces = [self._pieces(part.t) for part in self.parts]

    def _around(self, t: Floats) -> NDArray[np.int64]:
        """Return the points of a path from before the first edge to after the last."""
        first = max(int(np.searchsorted(t, self.edges[0])) - EDGES_AROUND, 0)
        last = min(int(np.searchsorted(t, self.edges[-1], side="right")) + 1, len(t) - 1)
        begin, end = np.searchsorted(t, t[first]), np.searchsorted(t, t[last], side="right")
        return np.arange(begin, end)

    def _pieces(self, t: Floats) -> NDArray[np.int64]:
        """Return the piece of a path that contains each interval between edges."""
        middle = self.edges[:-1] + 0.5 * np.diff(self.edges)
        return np.clip(np.searchsorted(t, middle) - 1, 0, max(len(t) - 2, 0))

    def _lines(self, values: Sequence[Floats]) -> Floats:
        """Interpolate values (m, K) at points: (m, paths, 2 k) at both ends of k intervals."""
        at_ends = []
        for part, pieces, f in zip(self.parts, self.pieces, values, strict=True):
            if len(part.t) == 1:
                at_ends.append(np.repeat(f, len(self.t), axis=1))
                continue
            piece = np.repeat(pieces, 2)
            step = part.t[piece + 1] - part.t[piece]
            share = (self.t - part.t[piece]) / np.where(step > 0.0, step, np.inf)
            share = np.minimum(share, 1.0) if np.isfinite(part.path.settled) else share
            at_ends.append((1.0 - share) * f[:, piece] + share * f[:, piece + 1])
        return np.stack(at_ends, axis=1)

    def _largest(self, values: Sequence[Floats]) -> Floats:
        """Return the larger of values at both ends of each interval's piece, (m, paths, 2 k)."""
        largest = []
        for part, pieces, array in zip(self.parts, self.pieces, values, strict=True):
            ends = np.minimum(pieces + 1, len(part.t) - 1)
            largest.append(np.repeat(np.maximum(array[:, pieces], array[:, ends]), 2, axis=1))
        return np.stack(largest, axis=1)

    def labels(self, X: Any) -> Labels:
        """Return the path with the largest decision, as a function of the user's parameter."""
        changed, piece = winners(self.t, self._decisions(X))
        place = np.searchsorted(self.edges, changed.at)
        at_edge = self.edges[np.minimum(place, len(self.edges) - 1)] == changed.at
        behind = np.zeros(len(self.edges), dtype=bool)
        for path in self.paths:
            node = path.points.find(self.edges)[0]
            after = np.minimum(node + 1, len(path.points) - 1)
            behind |= (after > node) & (path.points.t[after] == self.edges)
        place = np.minimum(place, len(self.edges) - 1)
        stays = np.where(
            at_edge, 2 * place - behind[place] <= piece, changed.before < changed.after
        )
        return in_user_parameter(self.paths[0], changed, stays)

    def _decisions(self, X: Any) -> Floats:
        """Return decisions (m, paths, 2 k) with exact ties, at both ends of intervals."""
        rows = [part.reading.checked(X) for part in self.parts]
        values, doubts = [], []
        for part, checked in zip(self.parts, rows, strict=True):
            f = part.reading.decisions(checked, part.w, part.v)
            values.append(f[:, 0])
            doubts.append((part.doubt(checked) + CLEARANCE * part.parameter_rounding(f))[:, 0])
        f, errors = self._lines(values), self._largest(doubts)
        wanted = self._wanted(f, errors)
        sharp_errors = []
        for part, checked, pieces, f_path in zip(
            self.parts, rows, self.pieces, values, strict=True
        ):
            nodes = np.zeros(f_path.shape, dtype=bool)
            row, piece = np.nonzero(wanted)
            ends = np.minimum(pieces + 1, len(part.t) - 1)
            nodes[row, pieces[piece]] = nodes[row, ends[piece]] = True
            sharp_errors.append(part.sharpen(checked, f_path[:, None], nodes)[:, 0])
        f, errors = self._lines(values), 2.0 * self._largest(sharp_errors)
        best = f.argmax(axis=1)[:, None]
        top = np.take_along_axis(f, best, axis=1)
        return np.where(f >= top - errors - np.take_along_axis(errors, best, axis=1), top, f)

    def _wanted(self, f: Floats, errors: Floats) -> NDArray[np.bool_]:
        """Tell on which intervals (m, k) decisions need twofold precision."""
        two = np.sort(f, axis=1)[:, -2:]
        near = two[:, 1] - two[:, 0] <= 2.0 * errors.max(axis=1)
        row, place = changes(f.argmax(axis=1))
        near[row, place] = near[row, place + 1] = True
        pieces = near[:, ::2] | near[:, 1::2]
        wanted = pieces.copy()
        wanted[:, 1:] |= pieces[:, :-1]
        wanted[:, :-1] |= pieces[:, 1:]
        return wanted


def joint_decision(paths: Sequence[SolutionPath], X: Any, t: float, at: Sequence[float]) -> Floats:
    """Return decisions (m, paths) at t with exact ties; ``at`` has each path's parameter."""
    values, doubts = [], []
    for path, value in zip(paths, at, strict=True):
        rows, s = path.reading.checked(X), path._statement_parameters(value)
        values.append(path.reading.decisions(rows, *path._variables(s))[:, 0, 0])
        left, right, _ = path.points.find(np.minimum(s, places(path)[-1]))
        last = len(places(path)) - 1
        left, right = np.minimum(left, last), np.minimum(right, last)
        ends = Deciding(path, np.unique(np.concatenate([left, right])))
        doubts.append(float(ends.doubt_between(rows, left, right).max()))
    f = np.stack(values, axis=1)
    largest = np.sort(f, axis=1)[:, -2:]
    near = np.flatnonzero(largest[:, 1] - largest[:, 0] <= 2.0 * max(doubts))
    if len(near):
        s = paths[0].scale.statement_value(np.array([t]))
        codes = Joint(paths, float(s[0])).labels(X[near]).codes_at(t)
        top, is_label = f[near].max(axis=1, keepdims=True), np.arange(len(paths)) == codes[:, None]
        f[near] = np.where(is_label, top, np.minimum(f[near], np.nextafter(top, -np.inf)))
    return f
