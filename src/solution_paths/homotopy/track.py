"""What a homotopy leaves behind: the points at both ends of each straight piece."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compilation import cached_njit
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

    def unknowns(
        self, which: Places | list[int], columns: slice = slice(None), parts: int = 2
    ) -> Array:
        """Return the unknowns of some points, (len(which), parts, N), or those of some columns.

        Parameters
        ----------
        which : (k,) of int
        columns : slice, optional
            Coordinates that follow each other.
        parts : {1, 2}
            Whether the second part is wanted.
        """
        which = np.asarray(which, dtype=np.int64)
        first, last, _ = columns.indices(len(self.start))
        order = np.argsort(which, kind="stable")
        out = np.empty((len(which), parts, max(last - first, 0)))
        recorded = self.t, self.events, self.event_at, self.entry, self.entries, self.entry_at
        _read(self.graphs.equation, self.start.copy(), *recorded, which, order, first, out)
        return out


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
    first: int,
    out: Any,
) -> None:
    """Write unknowns of points, in ascending order; places are those at the start, and follow."""
    parts, size, event = out.shape[1], out.shape[2], 0
    for b in order:
        k = which[b]
        for e in range(event, event_at[k]):
            place[events[e] // PLACES] = events[e] % PLACES
        event = max(event, event_at[k])
        high, low = t[k, 0], t[k, 1]
        for c in range(size):
            row = equation[first + c, place[first + c]]
            moved = row[2] * high
            known = row[0] + moved
            out[b, 0, c] = known
            if parts == 2:
                out[b, 1, c] = ((row[0] - known) + moved) + (row[1] + row[2] * low + row[3] * high)
        for e in range(entry_at[k], entry_at[k + 1]):
            c = entry[e] - first
            if 0 <= c < size:
                for part in range(parts):
                    out[b, part, c] = entries[e, part]
