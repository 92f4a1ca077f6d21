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

# Relative error of knots and of the unit of coefficients. The change of the objective that it may
# cause, over the limit of gaps, is the least size that a gap is relative to.
DATA_ROUNDING = 8 * UNIT
HI, LO, ERROR, OUTSIDE = range(4)  # of points: a number hi + lo, its error, how far it was outside
EMPTY = np.empty((0, 0)), np.empty((0, 0, 0))


class Pair(NamedTuple):
    """A number as hi + lo, and a bound of its error; arrays (n, B)."""

    hi: Floats
    lo: Floats
    error: Floats

    @classmethod
    def of(cls, values: Floats) -> Pair:
        """Return numbers that are exact."""
        zero = np.zeros_like(values)
        return cls(values, zero, zero)


class Contribution(NamedTuple):
    """The contribution of a part of a problem to a judgement of B solutions; each entry is (B,).

    Attributes
    ----------
    gap, rounding : summand of the absolute gap, and a bound of its error
    kkt, kkt_rounding : the largest violation of a condition, and a bound of its error
    infeasible : the largest violation of a constraint that the lower bound needs
    resolution, kkt_resolution : gap and violation that rounding the answer to doubles may cause
    floor : summand of the least size that the gap is relative to
    coordinate_kkt, coordinate_rounding : as ``kkt``, with each coordinate in its own units
    """

    gap: Floats
    rounding: Floats
    kkt: Floats
    kkt_rounding: Floats
    infeasible: Floats
    resolution: Floats
    kkt_resolution: Floats
    floor: Floats
    coordinate_kkt: Floats
    coordinate_rounding: Floats

    @classmethod
    def total(cls, contributions: Sequence[Contribution]) -> Contribution:
        """Return sums of gaps and their errors, and the largest violations."""
        entries = np.array(contributions)
        summed = [name in ("gap", "rounding", "resolution", "floor") for name in cls._fields]
        return cls(*np.where(np.array(summed)[:, None], entries.sum(axis=0), entries.max(axis=0)))


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
        """The work array for one graph and its mirror image, and the pieces: see `areas`."""
        arrays = read_only(*vars(self.pieces).values())
        return np.empty((2, 6, arrays[0].shape[1] + 1)), *arrays

    # -- positions -----------------------------------------------------------------------------

    def clipped(self, z: Pair) -> Floats:
        """Return z moved into the domain, as points (4, n, B)."""
        return self._placed(z, False)

    def subgradient(self, u: Pair) -> Floats:
        """Return u moved into the range of the subgradients, as points (4, n, B)."""
        return self._placed(u, True)

    def duals(self, a: Floats) -> Floats:
        """Return subgradients -a, exact numbers, as points."""
        return self._placed((a, EMPTY[0], EMPTY[0]), True, -1.0)

    def _placed(self, x: Sequence[Floats], dual: bool, sign: float = 1.0) -> Floats:
        out = np.empty((4, *x[0].shape))
        areas.place(self._tables, sign, *read_only(*x), dual, out)
        return out

    def values(self, z: Floats) -> Floats:
        """Return the sum of f(z) at points z with its bounds, (5, B): see `areas.values`."""
        out = np.zeros((5, z.shape[2]))
        areas.values(self._tables, *read_only(z), out)
        return out

    def derivatives(self, z: Floats) -> Floats:
        """Return f'(z) of smooth functions, rounded."""
        pieces = self.pieces
        difference, rest = add(z[HI][:, None], -pieces.knots)
        dz = difference + (rest + z[LO][:, None])
        first = pieces.left[:, 0] + pieces.curvature[:, 0] * np.minimum(dz[:, 0], 0.0)
        ends = np.concatenate(
            [pieces.knots[:, 1:], np.full_like(pieces.knots[:, :1], np.inf)], axis=1
        )
        more = pieces.curvature[:, 1:] * np.clip(dz, 0.0, ends - pieces.knots)
        return first + more.sum(axis=1)

    # -- distances and areas -------------------------------------------------------------------

    def costs(self, z: Floats, u: Floats, room: Floats) -> Floats:
        """Return the distances (2, n, B) along z after u changes by room (B,) down, and up.

        They are inf where u leaves its range.
        """
        out = np.empty((2, *z.shape[1:]))
        areas.costs(self._tables, *read_only(z, u, room), out)
        return out

    def cheapest(self, z: Floats, u: Floats, column: Floats, room: Floats, unit: Floats) -> Floats:
        """Return the row whose u can change at least cost, (2, 3, B): see `areas.cheapest`."""
        out = np.zeros((2, 3, z.shape[2]))
        areas.cheapest(self._tables, *read_only(z, u, column, room, 1.0 / unit), out)
        return out

    def contribution(
        self,
        z: Floats,
        u: Floats,
        given: Floats,
        units: Sequence[Floats],
        coordinate_units: Sequence[Floats] | None = None,
        data_error: Floats = EMPTY[0],
        answer_error: Sequence[Floats] | None = None,
    ) -> Contribution:
        """Return the contribution of points to a judgement: areas of (z, u), KKT of (z, given).

        Parameters
        ----------
        z, u, given : (4, n, B) arrays
        units : pair of (B,) arrays
            Of z and u.
        coordinate_units : pair of (n, B) arrays, optional
            Units of z and u of each coordinate by itself.
        data_error : (n, B or 1) array, optional
            Error of z from rounding of the data.
        answer_error : pair of (n, B) arrays, optional
            Errors of z and u from rounding of the answer.
        """
        out = np.zeros((10, z.shape[2]))
        per_coordinate = EMPTY[1] if coordinate_units is None else 1.0 / np.stack(coordinate_units)
        errors = EMPTY[1] if answer_error is None else np.stack(answer_error)
        per = 1.0 / np.stack(units)
        areas.contribute(
            self._tables, *read_only(z, u, given, per, per_coordinate, data_error, errors), out
        )
        out[1] += 2 * (z.shape[1] + 8) * UNIT * out[0]
        out[7] /= GAP_LIMIT
        if coordinate_units is None:
            out[8:] = out[2:4]
        return Contribution(*out)
