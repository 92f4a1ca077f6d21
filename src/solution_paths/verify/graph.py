"""The monotone graphs of convex pieces: what the judge measures points (z, u) against.

A convex function f has its subgradients u at z on a monotone graph, vertical at knots and at the
ends of the domain. For any z and any u that some point has as a subgradient

    f(z) + f*(u) - u z  =  the area between (z, u) and the graph,

f* the conjugate: an integral over x < z of (f'(x) - u)^+ and over x > z of (u - f'(x))^+. So it is
summed here, segment by segment, from terms that are never negative: no digits cancel. The distance
from the graph comes out beside it. All of it is compiled, see `areas`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..compilation import read_only
from ..problem.bundle import Stack
from ..validation import Floats
from . import areas
from .exact import UNIT, add
from .verdict import GAP_LIMIT

# Knots, and the unit of coefficients, are known to this share of their size. What that may change
# in the objective counts as nothing: a gap is relative to no less than it, over the gaps' limit.
KNOWN = 8 * UNIT
HI, LO, OFF, OUT = range(4)  # of points: a number as hi + lo, its error, and how far it was moved
NOTHING = np.empty((0, 0)), np.empty((0, 0, 0))


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
        found = np.array(shares)
        summed = [name in ("gap", "rounding", "resolution", "floor") for name in cls._fields]
        return cls(*np.where(np.array(summed)[:, None], found.sum(axis=0), found.max(axis=0)))


class Graph:
    """The graphs of n functions in B solutions.

    Parameters
    ----------
    pieces : Stack
    """

    def __init__(self, pieces: Stack) -> None:
        self.pieces = pieces

    @cached_property
    def _tables(self) -> tuple[Floats, ...]:
        """Room for one graph and its mirror image, and the pieces: see `areas`."""
        own = read_only(*vars(self.pieces).values())
        return np.empty((2, 6, own[0].shape[1] + 1)), *own

    # -- positions -----------------------------------------------------------------------------

    def clipped(self, z: Pair) -> Floats:
        """Return z moved into the domain, as points (4, n, B)."""
        return self._placed(z, False)

    def subgradient(self, u: Pair) -> Floats:
        """Return u moved to where some point has it as a subgradient, as points (4, n, B)."""
        return self._placed(u, True)

    def duals(self, a: Floats) -> Floats:
        """Return subgradients -a, exact numbers, as points."""
        return self._placed((a, NOTHING[0], NOTHING[0]), True, -1.0)

    def _placed(self, x: Sequence[Floats], dual: bool, sign: float = 1.0) -> Floats:
        out = np.empty((4, *x[0].shape))
        areas.place(self._tables, sign, *read_only(*x), dual, out)
        return out

    def values(self, z: Floats) -> Floats:
        """Return the sum of f(z) at points z and what goes with it, (5, B): see `areas.values`."""
        out = np.zeros((5, z.shape[2]))
        areas.values(self._tables, *read_only(z), out)
        return out

    def derivatives(self, z: Floats) -> Floats:
        """Return f'(z) of smooth functions, rounded."""
        own = self.pieces
        difference, rest = add(z[HI][:, None], -own.knots)
        dz = difference + (rest + z[LO][:, None])
        first = own.left[:, 0] + own.curvature[:, 0] * np.minimum(dz[:, 0], 0.0)
        ends = np.concatenate([own.knots[:, 1:], np.full_like(own.knots[:, :1], np.inf)], axis=1)
        more = own.curvature[:, 1:] * np.clip(dz, 0.0, ends - own.knots)
        return first + more.sum(axis=1)

    # -- what points cost ----------------------------------------------------------------------

    def costs(self, z: Floats, u: Floats, room: Floats) -> Floats:
        """Return the distances of points along z if u is less, and if it is more, by room (B,).

        They are (2, n, B), and inf out of range.
        """
        out = np.empty((2, *z.shape[1:]))
        areas.costs(self._tables, *read_only(z, u, room), out)
        return out

    def cheapest(self, z: Floats, u: Floats, column: Floats, room: Floats, unit: Floats) -> Floats:
        """Return which u can be changed at least cost, (2, 3, B): see `areas.cheapest`."""
        out = np.zeros((2, 3, z.shape[2]))
        areas.cheapest(self._tables, *read_only(z, u, column, room, 1.0 / unit), out)
        return out

    def share(
        self,
        z: Floats,
        u: Floats,
        given: Floats,
        units: Sequence[Floats],
        alone: Sequence[Floats] | None = None,
        size: Floats = NOTHING[0],
        coarse: Sequence[Floats] | None = None,
    ) -> Share:
        """Return what points add to a judgement: areas of (z, u), violations of (z, given).

        Parameters
        ----------
        z, u, given : (4, n, B) arrays
        units : pair of (B,) arrays
            Of z and u.
        alone : pair of (n, B) arrays, optional
            Those of each point by itself.
        size : (n, B or 1) array, optional
            What data's rounding makes of z.
        coarse : pair of (n, B) arrays, optional
            What the answer's rounding makes of z and u.
        """
        out = np.zeros((10, z.shape[2]))
        own = NOTHING[1] if alone is None else 1.0 / np.stack(alone)
        more = NOTHING[1] if coarse is None else np.stack(coarse)
        per = 1.0 / np.stack(units)
        areas.weigh(self._tables, *read_only(z, u, given, per, own, size, more), out)
        out[1] += 2 * (z.shape[1] + 8) * UNIT * out[0]
        out[7] /= GAP_LIMIT
        if alone is None:
            out[8:] = out[2:4]
        return Share(*out)
