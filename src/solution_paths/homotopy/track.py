"""The record of a homotopy: the points at both ends of each linear piece."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compilation import cached_njit
from .graphs import Tabled
from .twofold import accumulate, normalise

Array = NDArray[np.float64]
Places = NDArray[np.int64]
PLACES = 64  # an event is a coordinate times this, plus its new place


@dataclass(frozen=True, eq=False)
class Track:
    """The points that a walk recorded, in order.

    A point keeps the unknowns of the system; those of known coordinates follow from the places, and
    these from the changes since the start.

    Attributes
    ----------
    t : (K, 2)
        The parameter of each point as a sum of two doubles; two points for each linear piece.
    events : (E,)
        Changes of places, in order.
    event_at : (K,)
        Number of events before each point.
    entry, entries : (M,), (M, 2)
        Coordinates and unknowns, in two parts, of all points.
    entry_at : (K + 1,)
        Index of the first entry of each point.
    start : (N,)
        Places at the start.
    doubtful : float, optional
        Where an unknown was farthest outside of its limits, if that exceeds the error of a point.
    """

    t: Array
    events: Places
    event_at: Places
    entry: Places
    entries: Array
    entry_at: Places
    start: Places
    graphs: Tabled
    is_row: NDArray[np.bool_]
    doubtful: float | None = None

    def __len__(self) -> int:
        return len(self.t)

    def leaves_zero(self) -> NDArray[np.bool_]:
        """Tell for each point whether an unknown is zero there, but not along its piece."""
        leaves = np.zeros(len(self.t), dtype=np.bool_)
        _leave_zero(self.entry_at, self.entries, leaves)
        return leaves

    def moved(self, by: Array, least: Array) -> Track:
        """Return the points moved along their pieces by small changes of t (K,).

        An unknown that is zero stays zero where it would change by less than ``least`` (K,) times
        the largest of its kind, dual or variable.
        """
        entries = self.entries.copy()
        _move(self.t, by, least, self.is_row, self.entry_at, self.entry, entries)
        return replace(self, t=np.column_stack([self.t[:, 0], self.t[:, 1] + by]), entries=entries)

    def unknowns(
        self, which: Places | list[int], columns: slice | Places = slice(None), parts: int = 2
    ) -> Array:
        """Return the unknowns of some points, (len(which), parts, N), or those of some columns.

        Parameters
        ----------
        which : (k,) of int
        columns : slice, or (c,) of int, optional
            Coordinates, each once.
        parts : {1, 2}
            Number of parts of each unknown.
        """
        which = np.asarray(which, dtype=np.int64)
        coordinates = np.arange(len(self.start))[columns]
        column = np.full(len(self.start), -1)
        column[coordinates] = np.arange(len(coordinates))
        order = np.argsort(which, kind="stable")
        out = np.empty((len(which), parts, len(coordinates)))
        recorded = self.t, self.events, self.event_at, self.entry, self.entries, self.entry_at
        _read(
            self.graphs.equation,
            self.start.copy(),
            *recorded,
            which,
            order,
            coordinates,
            column,
            out,
        )
        return out

    def moved_between(self, first: int, last: int) -> Places:
        """Return coordinates that change their places between two points, or are unknown there.

        Coordinates may be repeated.
        """
        a, b = sorted((first, last))
        changed = self.events[self.event_at[a] : self.event_at[b]] // PLACES
        unknown = self.entry[self.entry_at[a] : self.entry_at[b + 1]]
        return np.concatenate([changed, unknown])


@cached_njit
def _leave_zero(entry_at: Any, entries: Any, leaves: Any) -> None:
    """Write which ends of pieces have an unknown that is zero at that end only."""
    for k in range(0, len(leaves) - 1, 2):
        first, last = entry_at[k], entry_at[k + 1]
        if entry_at[k + 2] - last != last - first:
            continue
        for e in range(last - first):
            a, b = entries[first + e, 0], entries[last + e, 0]
            leaves[k] = leaves[k] or (a == 0.0 and b != 0.0)
            leaves[k + 1] = leaves[k + 1] or (b == 0.0 and a != 0.0)


@cached_njit
def _move(
    t: Any, by: Any, least: Any, is_row: Any, entry_at: Any, entry: Any, entries: Any
) -> None:
    """Move both ends of each piece along it; they have the same unknowns."""
    largest = np.zeros(2)
    for k in range(0, len(t) - 1, 2):
        length = (t[k + 1, 0] - t[k, 0]) + (t[k + 1, 1] - t[k, 1])
        first, last = entry_at[k], entry_at[k + 1]
        stays = by[k] == 0.0 and by[k + 1] == 0.0
        if stays or length == 0.0 or entry_at[k + 2] - last != last - first:
            continue
        largest[:] = 0.0
        for e in range(last - first):
            kind, a, b = int(is_row[entry[first + e]]), entries[first + e], entries[last + e]
            largest[kind] = max(largest[kind], abs(a[0]), abs(b[0]))
        for e in range(last - first):
            kind, a, b = int(is_row[entry[first + e]]), entries[first + e], entries[last + e]
            rate = ((b[0] - a[0]) + (b[1] - a[1])) / length
            if a[0] != 0.0 or abs(by[k] * rate) >= least[k] * largest[kind]:
                a[0], a[1] = normalise(a[0], a[1] + by[k] * rate)
            if b[0] != 0.0 or abs(by[k + 1] * rate) >= least[k + 1] * largest[kind]:
                b[0], b[1] = normalise(b[0], b[1] + by[k + 1] * rate)


@cached_njit
def _read(
    equation: Any,
    place: Any,
    t: Any,
    events: Any,
    event_at: Any,
    entry: Any,
    entries: Any,
    entry_at: Any,
    which: Any,
    order: Any,
    coordinates: Any,
    column: Any,
    out: Any,
) -> None:
    """Write unknowns of points in ascending order; ``place`` begins with those at the start."""
    parts, event = out.shape[1], 0
    for b in order:
        k = which[b]
        for e in range(event, event_at[k]):
            place[events[e] // PLACES] = events[e] % PLACES
        event = max(event, event_at[k])
        high, low = t[k, 0], t[k, 1]
        for c in range(len(coordinates)):
            row = equation[coordinates[c], place[coordinates[c]]]
            value, rest = accumulate(row[0], row[1], high, row[2], row[3])
            value, rest = normalise(value, rest + low * row[2])
            out[b, 0, c] = value
            if parts == 2:
                out[b, 1, c] = rest
        for e in range(entry_at[k], entry_at[k + 1]):
            c = column[entry[e]]
            if c >= 0:
                for part in range(parts):
                    out[b, part, c] = entries[e, part]
