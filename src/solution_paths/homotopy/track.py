"""What a homotopy leaves behind: the points at both ends of each straight piece."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .graphs import Tabled

Array = NDArray[np.float64]
Places = NDArray[np.int64]
PLACES = 64  # an event is a coordinate times this, plus its new place


@dataclass(frozen=True, eq=False)
class Track:
    """The points that a walk recorded, in its order.

    A point keeps the unknowns that a system was solved for; those of known coordinates follow from
    the places, and these from the changes since the start.

    Attributes
    ----------
    t : (K, 2)
        The parameter of each point as a sum of two doubles; two points a straight piece.
    events : (E,)
        Changes of places, in order.
    event_at : (K,)
        How many of these came before each point.
    entry, entries : (M,), (M, 2)
        Coordinates and unknowns, in two parts, that points keep.
    entry_at : (K + 1,)
        Where those of each point begin.
    start : (N,)
        Places at the start.
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

    def __len__(self) -> int:
        return len(self.t)

    @cached_property
    def checkpoints(self) -> tuple[int, NDArray[np.int8]]:
        """Every so many events, and the places after each multiple of them."""
        every = max(64, len(self.start) // 4)
        kept = np.empty((len(self.events) // every + 1, len(self.start)), dtype=np.int8)
        place = self.start.copy()
        for k in range(len(kept)):
            if k:
                _apply(place, self.events[(k - 1) * every : k * every])
            kept[k] = place
        return every, kept

    def places(self, k: int) -> Places:
        """Return the places of all coordinates at point k."""
        every, kept = self.checkpoints
        count = int(self.event_at[k])
        place = kept[count // every].astype(np.int64)
        _apply(place, self.events[count - count % every : count])
        return place

    def unknowns(self, which: Places | list[int]) -> Array:
        """Return the unknowns of some points, (len(which), 2, N)."""
        which = np.asarray(which)
        out = np.empty((len(which), 2, len(self.start)))
        rows = np.arange(len(self.start))
        for b, k in enumerate(which):
            row = self.graphs.equation[rows, self.places(int(k))]
            t, low = self.t[k]
            known = row[:, 0] + (row[:, 2] * t)
            out[b, 0] = known
            out[b, 1] = ((row[:, 0] - known) + row[:, 2] * t) + (
                row[:, 1] + row[:, 2] * low + row[:, 3] * t
            )
            of = slice(self.entry_at[k], self.entry_at[k + 1])
            out[b][:, self.entry[of]] = self.entries[of].T
        return out


def _apply(place: Places, events: Places) -> None:
    """Change places; of several changes of a coordinate the last one counts."""
    place[events // PLACES] = events % PLACES
