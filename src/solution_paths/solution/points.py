"""The recorded points of a path, in ascending order, whoever keeps them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..homotopy.track import Track
from ..validation import Floats

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Points:
    """Both ends of each straight piece, ascending.

    Attributes
    ----------
    t, low : (K,)
        The parameter, as a sum of two doubles.
    at : callable
        Of (k,) places, returns unknowns (k, N).
    """

    t: Floats
    low: Floats
    at: Callable[[Places], Floats]

    def __len__(self) -> int:
        return len(self.t)

    @classmethod
    def of(cls, track: Track, t0: float, t1: float, ray: bool) -> Points:
        """Return the points of a walk; one on a ray ends soon after its last breakpoint."""
        t, low = _sum(t0, track.t[:, 0])
        t, low = _sum_parts(t, low + track.t[:, 1])
        if not ray:
            t[-1], low[-1] = t1, 0.0
        if t[-1] >= t[0]:
            points = cls(t, low, lambda which: track.unknowns(which)[:, 0])
        else:
            last = len(t) - 1
            points = cls(t[::-1], low[::-1], lambda which: track.unknowns(last - which)[:, 0])
        return points._cut(track) if ray else points

    def _cut(self, track: Track) -> Points:
        """Return the points with the last one, far out, moved to twice the last breakpoint."""
        last = len(self.t) - 1
        begin, far = track.unknowns([last - 1, last])
        start = self.t[last - 1]
        end = start + (abs(start) or 1.0)
        share = (end - start) / (self.t[last] - start)
        moved = begin[0] + (share * (far[0] - begin[0]) + (begin[1] + share * far[1]))

        def at(which: Places) -> Floats:
            found = self.at(which)
            found[np.asarray(which) == last] = moved
            return found

        return Points(np.append(self.t[:-1], end), np.append(self.low[:-1], 0.0), at)

    def arrays(self) -> dict[str, Floats]:
        """Return all of it as arrays."""
        return {"t": self.t, "low": self.low, "unknowns": self.at(np.arange(len(self.t)))}

    @classmethod
    def from_arrays(cls, t: Floats, low: Floats, unknowns: Floats) -> Points:
        """Return points that were kept as arrays."""
        return cls(t, low, _Kept(unknowns))

    def find(self, s: Floats) -> tuple[Places, Places, Floats]:
        """Return for each parameter the points around it, and the share of the way between.

        Where several points are at it, the last one; beyond the last point the share exceeds 1.
        """
        last = len(self.t) - 1
        here = np.clip(np.searchsorted(self.t, s, side="right") - 1, 0, last)
        beyond = (here == last) & (s > self.t[last])
        here = np.where(beyond, max(last - 1, 0), here)
        there = np.minimum(here + 1, last)
        step = (self.t[there] - self.t[here]) + (self.low[there] - self.low[here])
        moved = np.maximum((s - self.t[here]) - self.low[here], 0.0)
        inside = (step > 0) & (moved > 0)
        share = np.where(inside, moved / np.where(step > 0, step, 1.0), 0.0)
        return here, there, np.where(beyond, share, np.minimum(share, 1.0))

    def unknowns(self, s: Floats) -> Floats:
        """Return the unknowns (k, N) at k parameters."""
        here, there, share = self.find(s)
        nodes, place = np.unique(np.concatenate([here, there]), return_inverse=True)
        values = self.at(nodes)
        first, second = values[place[: len(s)]], values[place[len(s) :]]
        w = share[:, None]
        return np.where(w == 0.0, first, np.where(w == 1.0, second, (1.0 - w) * first + w * second))


@dataclass(frozen=True, eq=False)
class _Kept:
    """Unknowns in an array; it can be pickled."""

    unknowns: Floats

    def __call__(self, which: Places) -> Floats:
        return self.unknowns[which]


def _sum(a: float, b: Floats) -> tuple[Floats, Floats]:
    """Return a + b in two parts."""
    total = a + b
    other = total - a
    return total, (a - (total - other)) + (b - other)


def _sum_parts(high: Floats, low: Floats) -> tuple[Floats, Floats]:
    total = high + low
    return total, low - (total - high)
