"""The monotone graphs of convex pieces: what the judge measures points (z, u) against.

A convex function f has its subgradients u at z on a monotone graph, vertical at knots and at the
ends of the domain. For any z and any u that some point has as a subgradient

    f(z) + f*(u) - u z  =  the area between (z, u) and the graph,

f* the conjugate: an integral over x < z of (f'(x) - u)^+ and over x > z of (u - f'(x))^+. So it is
summed here, segment by segment, from terms that are never negative: no digits cancel. The distance
from the graph comes out beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..exact import UNIT, add
from ..problem.bundle import Stack
from ..validation import Floats
from .areas import areas, largest_areas, plain, values, widths

# Knots, and the unit of coefficients, are known to this share of their size. What that may change
# in the objective counts as nothing: a gap is relative to no less than it, over the gaps' limit.
KNOWN = 8 * UNIT


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


class Share(NamedTuple):
    """What a part of a problem contributes to a judgement of B solutions; each entry is (B,).

    Attributes
    ----------
    gap, rounding : a share of the absolute gap, and how far off it may be
    kkt, kkt_rounding : the largest violation of a condition, and how far off it may be
    infeasible : the largest of those without which there is no bound
    resolution, kkt_resolution : what rounding the answer itself to doubles may cause
    floor : what the gap is relative to, at least
    own, own_rounding : as ``kkt``, but of each coordinate in its own units
    """

    gap: Floats
    rounding: Floats
    kkt: Floats
    kkt_rounding: Floats
    infeasible: Floats
    resolution: Floats
    kkt_resolution: Floats
    floor: Floats
    own: Floats
    own_rounding: Floats

    @classmethod
    def total(cls, shares: Sequence[Share]) -> Share:
        """Return sums of gaps and their errors, and the largest violations."""
        found = {name: np.array([getattr(own, name) for own in shares]) for name in cls._fields}
        summed = ("gap", "rounding", "resolution", "floor")
        return cls(*(v.sum(axis=0) if k in summed else v.max(axis=0) for k, v in found.items()))


class Distances(NamedTuple):
    """What lies between points and their graphs on one side of z, or on both; each (n, B).

    ``area`` is a share of the gap, ``width`` the horizontal distance from the graph, and ``apart``
    the distance of the nearest point of it: the larger of the parts along z and u, in their units.
    """

    area: Floats
    width: Floats
    apart: Floats


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
    def of(cls, own: Stack) -> Graph:
        """Return the graphs of pieces."""
        return cls(own.knots, own.left, own.right, own.curvature, own.value, own.low, own.high)

    # -- positions -----------------------------------------------------------------------------

    def clipped(self, z: Pair) -> tuple[Pair, Floats]:
        """Return z moved into the domain, and how far that is."""
        return _between(self.low, z, self.high)

    def subgradient(self, u: Pair) -> tuple[Pair, Floats]:
        """Return u moved to where some point has it as a subgradient, and how far that is."""
        least, most = self.slopes_at_infinity
        return _between(least, u, most)

    @cached_property
    def slopes_at_infinity(self) -> tuple[Floats, Floats]:
        """The least and the largest subgradient there is, (n, B or 1)."""
        first, last = self.curvature[:, 0] > 0, self.curvature[:, -1] > 0
        least = np.where(np.isfinite(self.low) | first, -np.inf, self.left[:, 0])
        return least, np.where(np.isfinite(self.high) | last, np.inf, self.right[:, -1])

    def values(self, z: Pair) -> tuple[Floats, Floats]:
        """Return f(z), z in the domain, and how far off it may be."""
        *graphs, _, high = self._tables
        points = (plain(x, z.hi.shape) for x in (z.hi, z.lo, z.off))
        out = np.empty((2, *z.hi.shape))
        values(*graphs, plain(self.value), high, *points, out)
        return out[0], out[1]

    def derivatives(self, z: Pair) -> Floats:
        """Return f'(z) of smooth functions, rounded."""
        dz = self._offsets(z)
        first = self.left[:, 0] + self.curvature[:, 0] * np.minimum(dz[:, 0], 0.0)
        more = self.curvature[:, 1:] * np.clip(dz, 0.0, self._widths)
        return first + more.sum(axis=1)

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

    def distances(self, z: Pair, u: Pair, z_unit: Any = 1.0, u_unit: Any = 1.0) -> Distances:
        """Return the area between points and their graphs, and the distances; both in range.

        Units are numbers, or one for each solution (B,), or for each function, too, (n, B).
        """
        shape = z.hi.shape
        each = max(np.ndim(z_unit), np.ndim(u_unit)) == 2
        size = shape if each else (1, shape[1])
        units = np.stack([np.broadcast_to(unit, size) for unit in (z_unit, u_unit)])
        out = np.empty((3, *shape))
        points = (plain(x, shape) for x in (z.hi, z.lo, u.hi, u.lo))
        areas(*self._tables, *points, plain(units), out)
        return Distances(*out)

    def widths(self, z: Pair, u: Pair, by: Floats) -> Floats:
        """Return the widths if u is less and if it is more by (B,), (2, n, B); inf out of range."""
        shape = z.hi.shape
        points = (plain(x, shape) for x in (z.hi, z.lo, u.hi, u.lo))
        bounds = map(plain, np.broadcast_arrays(*self.slopes_at_infinity))
        out = np.empty((2, *shape))
        widths(*self._tables, *points, plain(by), *bounds, out)
        return out

    @cached_property
    def _tables(self) -> tuple[Floats, ...]:
        """What compiled code reads: see `areas`."""
        slopes = np.broadcast_arrays(self.left, self.right)
        ends = np.broadcast_arrays(self.low, self.high)
        return tuple(map(plain, (self.knots, *slopes, self.curvature, *ends)))

    def rounding(self, z: Pair, u: Pair, area: Floats) -> Floats:
        """Return how far off areas may be, whatever z and u are within their ``off``."""
        shape = z.hi.shape
        u_off = u.off + 2 * UNIT * self._level_sizes(z, u)
        points = (plain(x, shape) for x in (z.hi, z.lo, z.off, u.hi, u.lo, u_off))
        bounds = map(plain, np.broadcast_arrays(*self.slopes_at_infinity))
        worst = plain(area, shape).copy()
        largest_areas(*self._tables, *points, *bounds, worst)
        return np.asarray(worst - area + 8 * UNIT * worst)

    def _level_sizes(self, z: Pair, u: Pair) -> Floats:
        """Return how large what derivatives are summed from is: 0 where there is one term."""
        q = self.curvature
        bent = (q > 0).any(axis=1)
        size = np.maximum(np.abs(self.left), np.abs(self.right)).max(axis=1) + np.abs(u.hi)
        return np.where(bent, size, 0.0)


def _between(low: Floats, x: Pair, high: Floats) -> tuple[Pair, Floats]:
    """Return numbers moved between bounds, which may be infinite, and how far that is."""
    hi, lo = add(x.hi, x.lo)  # now hi alone tells the side
    below = np.where(np.isfinite(low), (low - hi) - lo, -np.inf)
    above = np.where(np.isfinite(high), (hi - high) + lo, -np.inf)
    outside = np.maximum(np.maximum(below, above), 0.0)
    hi, lo = np.clip(hi, low, high), np.where(outside > 0, 0.0, lo)
    return Pair(np.ascontiguousarray(hi), np.ascontiguousarray(lo), x.off), outside
