"""The monotone graphs of convex pieces: what the judge measures points (z, u) against.

A convex function f has its subgradients u at z on a monotone graph, vertical at knots and at the
ends of the domain. For any z and any u that some point has as a subgradient

    f(z) + f*(u) - u z  =  the area between (z, u) and the graph,

f* the conjugate: an integral over x < z of (f'(x) - u)^+ and over x > z of (u - f'(x))^+. So it is
summed here, segment by segment, from terms that are never negative: no digits cancel. The
horizontal and vertical distances from the graph come out beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..objectives.exact import UNIT, add
from ..problem import Pieces
from ..validation import Floats


class Pair(NamedTuple):
    """A number as hi + lo, known within ``off``; arrays (n, B)."""

    hi: Floats
    lo: Floats
    off: Floats

    @classmethod
    def of(cls, values: Floats) -> Pair:
        """Return numbers that are exact."""
        zero = np.zeros_like(values)
        return cls(values, zero, zero)

    def negative(self) -> Pair:
        """Return its negative."""
        return Pair(-self.hi, -self.lo, self.off)


class Against(NamedTuple):
    """What lies between points and their graphs on one side of z, or on both; each (n, B).

    ``area`` is a share of the gap, ``width`` the horizontal distance from the graph, ``height``
    the vertical one.
    """

    area: Floats
    width: Floats
    height: Floats


@dataclass(frozen=True, eq=False)
class Graph:
    """The graphs of n functions in B solutions: arrays are (n, m or m + 1, B or 1).

    Attributes
    ----------
    knots, left, right : derivatives left and right of each knot
    curvature : of the segments
    value : (n, B or 1) at the first knot
    low, high : (n, B or 1) ends of the domain
    """

    knots: Floats
    left: Floats
    right: Floats
    curvature: Floats
    value: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, stated: Sequence[Pieces]) -> Graph:
        """Return the graphs of pieces, those of each solution stacked along the last axis."""
        names = ("knots", "left", "right", "curvature", "value", "low", "high")
        columns = [[getattr(own, name) for own in stated] for name in names]
        return cls(*(np.stack(own, axis=-1) for own in columns))

    def mirrored(self) -> Graph:
        """Return the graphs of z -> f(-z); ``value`` is that of no knot, and isn't used."""
        return Graph(
            -self.knots[:, ::-1],
            -self.right[:, ::-1],
            -self.left[:, ::-1],
            self.curvature[:, ::-1],
            self.value,
            -self.high,
            -self.low,
        )

    # -- positions -----------------------------------------------------------------------------

    def clipped(self, z: Pair) -> tuple[Pair, Floats]:
        """Return z moved into the domain, and how far that is."""
        outside = np.maximum(_less(self.low, z), _less_than(z, self.high))
        outside = np.maximum(outside, 0.0)
        hi = np.clip(z.hi, self.low, self.high)
        return Pair(hi, np.where(outside > 0, 0.0, z.lo), z.off), outside

    def subgradient(self, u: Pair) -> tuple[Pair, Floats]:
        """Return u moved to where some point has it as a subgradient, and how far that is."""
        least, most = self.slopes_at_infinity
        outside = np.maximum(np.maximum(_less(least, u), _less_than(u, most)), 0.0)
        hi = np.clip(u.hi, least, most)
        return Pair(hi, np.where(outside > 0, 0.0, u.lo), u.off), outside

    @property
    def slopes_at_infinity(self) -> tuple[Floats, Floats]:
        """The least and the largest subgradient there is, (n, B or 1)."""
        first, last = self.curvature[:, 0] > 0, self.curvature[:, -1] > 0
        least = np.where(np.isfinite(self.low) | first, -np.inf, self.left[:, 0])
        return least, np.where(np.isfinite(self.high) | last, np.inf, self.right[:, -1])

    def values(self, z: Pair) -> tuple[Floats, Floats]:
        """Return f(z), z in the domain, and how far off it may be."""
        dz = self._offsets(z)
        found, size = self._integral(dz)
        ends = [self._integral(dz + sign * z.off[:, None])[0] for sign in (-1.0, 1.0)]
        moved = np.maximum(np.abs(ends[0] - found), np.abs(ends[1] - found))
        return found, moved + 8 * UNIT * size

    def _integral(self, dz: Floats) -> tuple[Floats, Floats]:
        """Return value + the integral of f' from the first knot, and the size of its terms."""
        before = np.minimum(dz[:, 0], 0.0)
        first = self.left[:, 0] * before + self.curvature[:, 0] * before**2 / 2
        length = np.clip(dz, 0.0, self._widths)
        parts = length * (self.right + self.curvature[:, 1:] * length / 2)
        size = np.abs(self.value) + np.abs(first) + np.abs(parts).sum(axis=1)
        return self.value + first + parts.sum(axis=1), size

    def _offsets(self, z: Pair) -> Floats:
        """Return z minus each knot, (n, m, B), rounded once."""
        difference, rest = add(z.hi[:, None], -self.knots)
        return difference + (rest + z.lo[:, None])

    @property
    def _widths(self) -> Floats:
        """The widths of the segments behind each knot, (n, m, B or 1)."""
        inner = np.diff(self.knots, axis=1)
        return np.concatenate([inner, (self.high - self.knots[:, -1])[:, None]], axis=1)

    # -- distances -----------------------------------------------------------------------------

    def against(self, z: Pair, u: Pair) -> Against:
        """Return the area between points and their graphs, and the distances; both in range."""
        one = self._below(z, u)
        other = self.mirrored()._below(z.negative(), u.negative())
        return Against(
            one.area + other.area, one.width + other.width, np.maximum(one.height, other.height)
        )

    def _below(self, z: Pair, u: Pair) -> Against:
        """Return the area, and its extent, where x < z and f'(x) > u."""
        dz, q = self._offsets(z), self.curvature
        # segment 0, which ends at the first knot; it may begin at minus infinity
        back = np.minimum(dz[:, 0], 0.0)
        top = _difference(self.left[:, 0], u) + q[:, 0] * back
        reach = np.maximum(back + (self.knots[:, 0] - self.low), 0.0)
        found = [_over(top, reach, q[:, 0])]
        # the others begin at a knot: at its right derivative
        length = np.clip(dz, 0.0, self._widths)
        start = _difference(self.right, Pair(*(part[:, None] for part in u)))
        top = start + q[:, 1:] * length
        found += [_over(top[:, k], length[:, k], q[:, k + 1]) for k in range(self.knots.shape[1])]
        return Against(
            np.sum([part.area for part in found], axis=0),
            np.sum([part.width for part in found], axis=0),
            np.max([part.height for part in found], axis=0),
        )

    def rounding(self, z: Pair, u: Pair, area: Floats) -> Floats:
        """Return how far off areas may be, whatever z and u are within their ``off``.

        An area is convex in z, and in u: it is largest at a corner.
        """
        worst = area
        level = 2 * UNIT * self._level_sizes(z, u)
        for up in (-1.0, 1.0):
            for right in (-1.0, 1.0):
                own_z, _ = self.clipped(Pair(z.hi, z.lo + right * z.off, z.off))
                own_u, _ = self.subgradient(Pair(u.hi, u.lo + up * (u.off + level), u.off))
                worst = np.maximum(worst, self.against(own_z, own_u).area)
        return worst - area + 8 * UNIT * worst

    def _level_sizes(self, z: Pair, u: Pair) -> Floats:
        """Return how large what derivatives are summed from is: 0 where there is one term."""
        q = self.curvature
        bent = (q > 0).any(axis=1)
        size = np.maximum(np.abs(self.left), np.abs(self.right)).max(axis=1) + np.abs(u.hi)
        return np.where(bent, size, 0.0)


def _over(top: Floats, length: Floats, q: Floats) -> Against:
    """Return the part above zero of lines of slope q that end, after a length, at height top."""
    above = (top > 0) & (length > 0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        start = np.where(q > 0, top - q * length, top)
        width = np.where(start >= 0, length, top / np.where(q > 0, q, 1.0))
        area = np.where(start >= 0, length * (start + top) / 2, width * top / 2)
    zero = np.zeros_like(area)
    return Against(*(np.where(above, own, zero) for own in (area, width, np.maximum(top, 0.0))))


def _difference(level: Floats, u: Pair) -> Floats:
    """Return level - u, rounded once."""
    difference, rest = add(level, -u.hi)
    return difference + (rest - u.lo)


def _less(bound: Floats, z: Pair) -> Floats:
    """Return bound - z, or minus infinity."""
    return np.where(np.isfinite(bound), (bound - z.hi) - z.lo, -np.inf)


def _less_than(z: Pair, bound: Floats) -> Floats:
    """Return z - bound, or minus infinity."""
    return np.where(np.isfinite(bound), (z.hi - bound) + z.lo, -np.inf)
