"""The recorded points of a path, in ascending order, whoever keeps them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..homotopy.track import Track
from ..validation import Floats

Places = NDArray[np.int64]
MUCH = 2.0**-44  # of the largest dual: hundreds of units of rounding
KNOWN = 2.0**-76  # of a parameter: what its second part is worth
NOTHING = 2.0**-90  # of the terms of an unknown: smaller ones are zero
ALL = slice(None)
SAMPLE = 64  # points at which these are looked for
NUMBERS = 2**17  # unknowns of these that are held together


@dataclass(frozen=True, eq=False)
class Points:
    """Both ends of each straight piece, ascending.

    Attributes
    ----------
    t : (K,)
        The parameter.
    at : callable
        Of (k,) places, returns unknowns (k, N), or those of some columns: a slice or their numbers.
    low : (K,)
        By how much more each breakpoint is than its double. Of the two points there one belongs to
        the double: that of the piece in which it lies.
    first : bool
        Of points at one parameter the first one counts, where a path jumps; otherwise the last.
    alone : (k,) of int
        Points, ascending, that count before all others at their parameter.
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

        One that broke off, whose t1 is None, ends at its last point.

        Those of a path on a ray end soon after its last breakpoint.

        ``sizes`` tells, of the largest unknowns, what each one's size is, beside which it may be
        nothing but rounding, and ``share``, of these and of (k,) parameters, how much of it there.
        """
        walked = _Recorded(track, t0)
        t, low, last = walked.t.copy(), walked.low.copy(), len(walked.t) - 1
        back, start = abs(t[-1] - t0) < abs(t[0] - t0), t[last - 1]
        at: Callable[..., Floats] = walked
        if back:
            t[[0, last]] = (t[0] if ray else t1, t0) if t1 is not None else t[[0, last]]
        elif ray:
            t[last] = start + (abs(start) or 1.0)
            at = _Ended(walked, last, walked.moved(last - 1, t[last]))
        elif t1 is not None:
            t[last] = t1
        low[[0, last]] = 0.0
        points = cls(t, at, low)._ascending()
        if sizes is None or share is None:
            return points
        return replace(points, at=_Clean(points, sizes, share))

    @classmethod
    def of_jumps(cls, track: Track) -> Points:
        """Return the points of a walk whose own parameter is the user's, as they are."""
        walked = _Recorded(track, 0.0)
        return cls(walked.t, walked, walked.low)._ascending()

    def _ascending(self) -> Points:
        last, at = len(self.t) - 1, self.at
        if self.t[-1] >= self.t[0]:
            return self
        return Points(
            self.t[::-1],
            lambda which, own=ALL: at(last - np.asarray(which), own),
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
            at=lambda which, own=ALL: at(first + np.asarray(which), own),
            low=self.low[first:],
            alone=self.alone[self.alone >= first] - first,
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all of it as arrays."""
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
        """Return points that were kept as arrays."""
        low = np.zeros(len(t)) if low is None else low
        return cls(t, _Kept(unknowns), low, alone=np.asarray(alone, dtype=np.int64))

    def find(self, s: Floats) -> tuple[Places, Places, Floats]:
        """Return for each parameter the points around it, and the share of the way between.

        Where several points are at it, the last one that is not behind it; beyond the last point
        the share exceeds 1.
        """
        last = len(self.t) - 1
        here = np.clip(np.searchsorted(self.t, s, side="right") - 1, 0, last)
        for k in np.flatnonzero((self.t[here] == s) & (self.low[here] > 0.0)).tolist():
            while here[k] > 0 and self.t[here[k] - 1] == s[k] and self.low[here[k]] > 0.0:
                here[k] -= 1
        if self.first:  # of those at the double itself
            for k in np.flatnonzero((self.t[here] == s) & (self.low[here] == 0.0)).tolist():
                while here[k] > 0 and self.t[here[k] - 1] == s[k] and self.low[here[k] - 1] == 0.0:
                    here[k] -= 1
        if len(self.alone):
            alone = self.alone[np.searchsorted(self.t[self.alone[:-1]], s)]
            here = np.where(self.t[alone] == s, alone, here)
        beyond = (here == last) & (s > self.t[last])
        here = np.where(beyond, max(last - 1, 0), here)
        there = np.minimum(here + 1, last)
        step = self.t[there] - self.t[here]
        moved = np.maximum(s - self.t[here], 0.0)
        inside = (step > 0) & (moved > 0)
        share = np.where(inside, moved / np.where(step > 0, step, 1.0), 0.0)
        return here, there, np.where(beyond, share, np.minimum(share, 1.0))

    def unknowns(self, s: Floats, columns: slice | Places = ALL) -> Floats:
        """Return the unknowns (k, N) at k parameters, or those of some columns."""
        here, there, share = self.find(s)
        nodes, place = np.unique(np.concatenate([here, there]), return_inverse=True)
        values = self.at(nodes, columns)
        first, second = values[place[: len(s)]], values[place[len(s) :]]
        # from the nearer of both: the other one may be larger by far
        back = (share > 0.5) & (share <= 1.0)
        step = np.where(back, self.t[there] - self.t[here], 1.0)
        w = np.where(back, -(self.t[there] - s) / step, share)[:, None]
        return np.where(back[:, None], second, first) + w * (second - first)


class _Recorded:
    """The points of a walk, in its order, moved to where their parameters are doubles.

    Of the doubles beside a breakpoint that one is taken at which nothing is nearly zero that is
    zero at the breakpoint; where neither is, points stay unless that moves them by much.
    """

    def __init__(self, track: Track, t0: float) -> None:
        high, low = _sum(t0, track.t[:, 0])
        t, low = _sum_parts(high, low + track.t[:, 1])
        low[np.abs(low) <= KNOWN * np.abs(t)] = 0.0
        leaves, upwards = track.leaves_zero(), 1 if len(t) < 2 or t[-1] >= t[0] else -1
        before, after = leaves[1:-1:2], leaves[2::2]
        side, both = np.zeros(len(t)), np.zeros(len(t), dtype=bool)
        side[1:-1:2] = side[2::2] = upwards * np.sign(before.astype(int) - after)
        both[1:-1:2] = both[2::2] = before & after
        beside = np.nextafter(t, np.where(side > 0, np.inf, -np.inf))
        chosen = np.where(side * low > 0.0, beside, t)  # the nearest double is on the other side
        self.t = upwards * np.maximum.accumulate(upwards * chosen)
        self.low = (t - self.t) + low
        self.track = track.moved(-self.low, np.where(both, MUCH, 0.0))

    def __call__(self, which: Places, columns: slice | Places = ALL) -> Floats:
        return self.track.unknowns(which, columns, parts=1)[:, 0]

    def moved(self, which: int, t: float) -> Floats:
        """Return the unknowns at t, beyond a point or before it on its piece."""
        (high, low), (other, rest) = self.track.unknowns([which, which ^ 1])
        share = (t - self.t[which]) / (self.t[which ^ 1] - self.t[which])
        return np.asarray(high + (low + share * ((other - high) + (rest - low))))


@dataclass(frozen=True, eq=False)
class _Ended:
    """The points of a walk with other unknowns at the last one."""

    walked: _Recorded
    last: int
    unknowns: Floats

    def __call__(self, which: Places, columns: slice | Places = ALL) -> Floats:
        found = self.walked(which, columns)
        found[np.asarray(which) == self.last] = self.unknowns[columns]
        return found


class _Clean:
    """Unknowns without those that are zero but for rounding in twice the working precision."""

    def __init__(
        self,
        points: Points,
        sizes: Callable[[Floats], Floats],
        share: Callable[[Floats, Floats], Floats],
    ) -> None:
        self.at = points.at
        some = np.unique(np.linspace(0, len(points) - 1, SAMPLE).astype(np.int64))
        largest = np.zeros(())
        at_once = max(1, NUMBERS // self.at(some[:1]).shape[1])
        for few in np.array_split(some, -(-len(some) // at_once)):
            largest = np.maximum(largest, np.abs(self.at(few)).max(axis=0))
        self.least, self.share = NOTHING * sizes(largest), share(largest, points.t)

    def __call__(self, which: Places, columns: slice | Places = ALL) -> Floats:
        found = self.at(which, columns)
        found[np.abs(found) < self.share[which, None] * self.least[columns]] = 0.0
        return found


@dataclass(frozen=True, eq=False)
class _Kept:
    """Unknowns in an array; it can be pickled."""

    unknowns: Floats

    def __call__(self, which: Places, columns: slice | Places = ALL) -> Floats:
        return self.unknowns[which][:, columns]


def _sum(a: float, b: Floats) -> tuple[Floats, Floats]:
    """Return a + b in two parts."""
    total = a + b
    other = total - a
    return total, (a - (total - other)) + (b - other)


def _sum_parts(high: Floats, low: Floats) -> tuple[Floats, Floats]:
    total = high + low
    return total, low - (total - high)
