"""The recorded points of a path, in ascending order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..homotopy.tolerances import NEGLIGIBLE, NOISE
from ..homotopy.track import Track
from ..validation import Floats
from .tolerances import LEFT_AT_ZERO

Places = NDArray[np.int64]
ALL_COLUMNS = slice(None)
POINTS_SAMPLED = 64  # points at which the largest unknowns are computed
UNKNOWNS_SAMPLED = 2**17  # unknowns of these points in memory at once


@dataclass(frozen=True, eq=False)
class Points:
    """Both ends of each straight piece, ascending.

    Attributes
    ----------
    t : (K,)
        The parameter.
    at : callable
        Takes (k,) indices of points, returns unknowns (k, N), or some columns: a slice or indices.
    low : (K,)
        Each breakpoint less its double. Of the two points at a breakpoint the one on the piece that
        contains the double is read there.
    first : bool
        Where a path jumps, whether the first of the points at a parameter is read, or the last.
    alone : (k,) of int
        Points, ascending, that are read instead of all others at their parameter.
    """

    t: Floats
    at: Callable[..., Floats]
    low: Floats
    first: bool = False
    alone: Places = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.t)

    @classmethod
    def of(
        cls,
        track: Track,
        t0: float,
        t1: float | None,
        ray: bool,
        sizes: Callable[[Floats], Floats] | None = None,
        share: Callable[[Floats, Floats], Floats] | None = None,
    ) -> Points:
        """Return the points of a walk, to its end t1 or, if it came from there, to t0.

        A walk that broke off, whose t1 is None, ends at its last point. The points of a path with a
        ray end soon after its last breakpoint.

        ``sizes`` returns the sizes of unknowns from their largest values; an unknown far below its
        size is rounding. ``share`` returns the shares of these sizes at (k,) parameters.
        """
        walked = _Recorded(track, t0)
        t, low, last = walked.t.copy(), walked.low.copy(), len(walked.t) - 1
        back, start = abs(t[-1] - t0) < abs(t[0] - t0), t[last - 1]
        at: Callable[..., Floats] = walked
        if back:
            t[[0, last]] = (t[0] if ray else t1, t0) if t1 is not None else t[[0, last]]
        elif ray:
            t[last] = start + (abs(start) or 1.0)
            at = _WithLastPoint(walked, last, walked.moved(last - 1, t[last]))
        elif t1 is not None:
            t[last] = t1
        low[[0, last]] = 0.0
        points = cls(t, at, low)._ascending()
        if sizes is None or share is None:
            return points
        return replace(points, at=_Thresholded(points, sizes, share))

    @classmethod
    def of_jumps(cls, track: Track) -> Points:
        """Return the points of a walk along the user's parameter, each at the nearest double.

        They stay as they are: where rows depend on each other to within rounding, duals change by
        more than their bounds within the rounding of t.
        """

        def at(points: Places, columns: slice | Places = ALL_COLUMNS) -> Floats:
            return track.unknowns(points, columns, parts=1)[:, 0]

        t = track.t.sum(axis=1)
        return cls(t, at, np.zeros(len(t)))._ascending()

    def _ascending(self) -> Points:
        last, at = len(self.t) - 1, self.at
        if self.t[-1] >= self.t[0]:
            return self
        return Points(
            self.t[::-1],
            lambda points, columns=ALL_COLUMNS: at(last - np.asarray(points), columns),
            self.low[::-1],
        )

    def until(self, last: int) -> Points:
        """Return the points up to one of them."""
        alone = self.alone[self.alone <= last]
        return replace(self, t=self.t[: last + 1], low=self.low[: last + 1], alone=alone)

    def since(self, first: int) -> Points:
        """Return the points from one of them on."""
        at = self.at
        return replace(
            self,
            t=self.t[first:],
            at=lambda points, columns=ALL_COLUMNS: at(first + np.asarray(points), columns),
            low=self.low[first:],
            alone=self.alone[self.alone >= first] - first,
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the points as arrays."""
        unknowns = self.at(np.arange(len(self.t)))
        return {"t": self.t, "unknowns": unknowns, "low": self.low, "alone": self.alone}

    @classmethod
    def from_arrays(
        cls,
        t: Floats,
        unknowns: Floats,
        low: Floats | None = None,
        alone: Places | tuple[int, ...] = (),
    ) -> Points:
        """Return points from `arrays`."""
        low = np.zeros(len(t)) if low is None else low
        return cls(t, _Stored(unknowns), low, alone=np.asarray(alone, dtype=np.int64))

    def find(self, s: Floats) -> tuple[Places, Places, Floats]:
        """Return for each parameter the points on both sides, and its share of their distance.

        Of several points at the parameter the last one that is not beyond it counts. Beyond the
        last point the share exceeds 1.
        """
        last = len(self.t) - 1
        left = np.clip(np.searchsorted(self.t, s, side="right") - 1, 0, last)
        for k in np.flatnonzero((self.t[left] == s) & (self.low[left] > 0.0)).tolist():
            while left[k] > 0 and self.t[left[k] - 1] == s[k] and self.low[left[k]] > 0.0:
                left[k] -= 1
        if self.first:  # of the points at the double itself
            for k in np.flatnonzero((self.t[left] == s) & (self.low[left] == 0.0)).tolist():
                while left[k] > 0 and self.t[left[k] - 1] == s[k] and self.low[left[k] - 1] == 0.0:
                    left[k] -= 1
        if len(self.alone):
            alone = self.alone[np.searchsorted(self.t[self.alone[:-1]], s)]
            left = np.where(self.t[alone] == s, alone, left)
        beyond = (left == last) & (s > self.t[last])
        left = np.where(beyond, max(last - 1, 0), left)
        right = np.minimum(left + 1, last)
        step = self.t[right] - self.t[left]
        moved = np.maximum(s - self.t[left], 0.0)
        inside = (step > 0) & (moved > 0)
        share = np.where(inside, moved / np.where(step > 0, step, 1.0), 0.0)
        return left, right, np.where(beyond, share, np.minimum(share, 1.0))

    def unknowns(self, s: Floats, columns: slice | Places = ALL_COLUMNS) -> Floats:
        """Return the unknowns (k, N) at k parameters, or those of some columns."""
        left, right, share = self.find(s)
        nodes, place = np.unique(np.concatenate([left, right]), return_inverse=True)
        values = self.at(nodes, columns)
        first, second = values[place[: len(s)]], values[place[len(s) :]]
        # interpolate from the nearer point: the other one may be larger by far
        back = (share > 0.5) & (share <= 1.0)
        step = np.where(back, self.t[right] - self.t[left], 1.0)
        w = np.where(back, -(self.t[right] - s) / step, share)[:, None]
        return np.where(back[:, None], second, first) + w * (second - first)


class _Recorded:
    """The points of a walk, in its order, moved to parameters that are doubles.

    Of the two doubles beside a breakpoint the one is chosen at which unknowns that are zero at the
    breakpoint stay zero. If there is none, they stay zero unless the change is more than rounding.

    Unmoved points at t + low, read at t as they are, would be exact zeros without any choice. But
    they are optimal for costs at t + low: where costs vanish, as at the end of a weighted path, the
    rounding of t is 1e-9 of them (`test_points_are_optimal_where_costs_vanish`). Where many duals
    at bounds move and few others make up for it, it is a hundred times the rounding of these.
    """

    def __init__(self, track: Track, t0: float) -> None:
        high, low = _sum(t0, track.t[:, 0])
        t, low = _sum_parts(high, low + track.t[:, 1])
        low[np.abs(low) <= NOISE * np.abs(t)] = 0.0
        leaves_zero, upwards = track.leaves_zero(), 1 if len(t) < 2 or t[-1] >= t[0] else -1
        before, after = leaves_zero[1:-1:2], leaves_zero[2::2]
        directions, both_leave = np.zeros(len(t)), np.zeros(len(t), dtype=bool)
        directions[1:-1:2] = directions[2::2] = upwards * np.sign(before.astype(int) - after)
        both_leave[1:-1:2] = both_leave[2::2] = before & after
        neighbours = np.nextafter(t, np.where(directions > 0, np.inf, -np.inf))
        # the nearest double, or the other one if that is on the wrong side
        doubles = np.where(directions * low > 0.0, neighbours, t)
        self.t = upwards * np.maximum.accumulate(upwards * doubles)
        self.low = (t - self.t) + low
        self.track = track.moved(-self.low, np.where(both_leave, LEFT_AT_ZERO, 0.0))

    def __call__(self, points: Places, columns: slice | Places = ALL_COLUMNS) -> Floats:
        return self.track.unknowns(points, columns, parts=1)[:, 0]

    def moved(self, which: int, t: float) -> Floats:
        """Return the unknowns at t on the piece of a point, extrapolated if need be."""
        (high, low), (other, rest) = self.track.unknowns([which, which ^ 1])
        share = (t - self.t[which]) / (self.t[which ^ 1] - self.t[which])
        return np.asarray(high + (low + share * ((other - high) + (rest - low))))


@dataclass(frozen=True, eq=False)
class _WithLastPoint:
    """The points of a walk with other unknowns at the last point."""

    walked: _Recorded
    last: int
    unknowns: Floats

    def __call__(self, points: Places, columns: slice | Places = ALL_COLUMNS) -> Floats:
        unknowns = self.walked(points, columns)
        unknowns[np.asarray(points) == self.last] = self.unknowns[columns]
        return unknowns


class _Thresholded:
    """Unknowns with rounding errors of twofold precision set to zero."""

    def __init__(
        self,
        points: Points,
        sizes: Callable[[Floats], Floats],
        share: Callable[[Floats, Floats], Floats],
    ) -> None:
        self.at = points.at
        sample = np.unique(np.linspace(0, len(points) - 1, POINTS_SAMPLED).astype(np.int64))
        largest = np.zeros(())
        block_size = max(1, UNKNOWNS_SAMPLED // self.at(sample[:1]).shape[1])
        for block in np.array_split(sample, -(-len(sample) // block_size)):
            largest = np.maximum(largest, np.abs(self.at(block)).max(axis=0))
        self.least, self.share = NEGLIGIBLE * sizes(largest), share(largest, points.t)

    def __call__(self, points: Places, columns: slice | Places = ALL_COLUMNS) -> Floats:
        unknowns = self.at(points, columns)
        unknowns[np.abs(unknowns) < self.share[points, None] * self.least[columns]] = 0.0
        return unknowns


@dataclass(frozen=True, eq=False)
class _Stored:
    """Unknowns in an array, which can be pickled."""

    unknowns: Floats

    def __call__(self, points: Places, columns: slice | Places = ALL_COLUMNS) -> Floats:
        return self.unknowns[points][:, columns]


def _sum(a: float, b: Floats) -> tuple[Floats, Floats]:
    """Return a + b as a sum of two doubles."""
    total = a + b
    other = total - a
    return total, (a - (total - other)) + (b - other)


def _sum_parts(high: Floats, low: Floats) -> tuple[Floats, Floats]:
    total = high + low
    return total, low - (total - high)
