"""The graph of each coordinate, as the homotopy reads it: places, their equations and their limits.

A coordinate is the loss of a sample or the penalty of a variable: a convex piecewise
linear-quadratic f. Its point (z, a), a = -f'(z), lies on a monotone graph with 2 m + 1 places,
numbered from left to right: segment 0, knot 0, segment 1, ..., knot m - 1, segment m. So even
places are segments, odd ones are knots. Each place has one equation and two limits:

    knot      z = p                      right slope <= -a <= left slope
    segment   q z + a = q p - s          left knot <= z <= right knot

where s is the slope at p and q the curvature. All numbers move affinely in the parameter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..compilation import read_only
from ..twofold import Twofold
from .moving import Moving
from .tables import write

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass
class Shape:
    """The functions of a group of coordinates with m knots each.

    Attributes
    ----------
    knots : Moving, (n, m)
    slopes : Moving, (n, m + 1)
        Of segment 0 at its right end, of segment k > 0 at its left end.
    curvature : (n, m + 1)
    closed : (n, 2) of bool
        Whether the domain ends at the first and at the last knot.
    """

    knots: Moving
    slopes: Moving
    curvature: Array
    closed: Flags

    def __len__(self) -> int:
        return len(self.curvature)

    def scaled(self, factor: float) -> Shape:
        """Return the functions of factor * z, times factor: the same duals."""
        return Shape(self.knots.by(factor), self.slopes, self.curvature / factor, self.closed)

    def conjugate(self, pull: Twofold) -> Shape:
        """Return functions with graph (-pull - p, x), p in the subdifferential of f at x.

        For piecewise linear f: each slope becomes a knot, each knot a segment. Where the domain of
        f ends, the outermost slope is irrelevant: its knot coincides with the next one.
        """
        pull = Twofold(pull.high[:, None], pull.low[:, None])
        last, m = slice(None, None, -1), self.curvature.shape[1] - 1
        slope_index = np.tile(np.arange(m + 1), (len(self), 1))
        slope_index[:, 0] += self.closed[:, 0]
        slope_index[:, m] -= self.closed[:, 1]
        slopes = self.slopes.take((np.arange(len(self))[:, None], slope_index[:, last]))
        inner = np.r_[m - 1, m - 1 : -1 : -1, 0]
        return Shape(
            Moving(slopes.value.plus(pull).by(-1.0), slopes.rate.by(-1.0)),
            self.knots.take((slice(None), inner)).by(-1.0),
            np.zeros((len(self), m + 2)),
            ~self.closed[:, last],
        )


def tables(
    shapes: list[Shape],
) -> tuple[Array, Array, Array, Array, Flags, Flags, Flags, Flags]:
    """Return the tables of consecutive groups of coordinates: see `Graphs`.

    These are equation, lower, upper, curvature, exists, hollow, still and single.
    """
    N = sum(len(shape) for shape in shapes)
    P = max((2 * shape.curvature.shape[1] - 1 for shape in shapes), default=0)
    equation, lower, upper = np.zeros((3, N, P, 4))
    lower[..., 0], upper[..., 0] = -np.inf, np.inf
    exists, hollow, still = np.zeros((3, N, P), dtype=bool)
    curvature, single = np.zeros((N, P)), np.zeros(N, dtype=bool)
    arrays = equation, lower, upper, curvature, exists, hollow, still, single
    first = 0
    for shape in shapes:
        functions = shape.knots.packed(), shape.slopes.packed(), shape.curvature, shape.closed
        write(*read_only(*functions), first, *arrays)
        first += len(shape)
    return arrays


class Tabled(Protocol):
    """The arrays of all coordinates' graphs that the loop reads: see `Graphs`."""

    equation: Array
    lower: Array
    upper: Array
    curvature: Array
    exists: Flags
    hollow: Flags
    still: Flags


class Graphs:
    """The graphs of all coordinates of a statement.

    Parameters
    ----------
    shapes : list of Shape
    widened : slice or None
        Coordinates whose knots have the multiplier of an l1 constraint on both sides.
    like : Graphs, optional
        Graphs of the same coordinates with other rates: knots are hollow only if hollow in both.

    Attributes
    ----------
    equation, lower, upper : (N, P, 4)
        Right-hand side and limits of each place: value and rate, two parts each.
    curvature : (N, P)
        Of segments; 0 at knots.
    hollow : (N, P) of bool
        Knots without width (equal slopes on both sides) at any t: they are passed through.
    still : (N, P) of bool
        Hollow knots between segments of equal curvature: passing them leaves the system the same.
    single : (N,) of bool
        Coordinates whose domain is one point at any t: their knots allow any dual.
    """

    def __init__(
        self, shapes: list[Shape], widened: slice | None = None, like: Graphs | None = None
    ):
        self.shapes = shapes
        self.equation, self.lower, self.upper, self.curvature, *_ = arrays = tables(shapes)
        self.exists, self.hollow, self.still, self.single = arrays[4:]
        if widened is not None:
            self.hollow[widened] = self.still[widened] = False
        if like is not None:
            self.hollow &= like.hollow
            self.still &= like.still
            self.single &= like.single
        self._drop_idle_knots()

    def _drop_idle_knots(self) -> None:
        """Remove limits of segments where all knots are still, and of knots of single domains."""
        places = np.arange(self.lower.shape[1])
        knots = (places % 2 == 1) & self.exists
        idle = np.flatnonzero(np.all(self.still | ~knots, axis=1))
        self.lower[idle, ::2] = [-np.inf, 0.0, 0.0, 0.0]
        self.upper[idle, ::2] = [np.inf, 0.0, 0.0, 0.0]
        self.lower[self.single, 1::2] = [-np.inf, 0.0, 0.0, 0.0]
        self.upper[self.single, 1::2] = [np.inf, 0.0, 0.0, 0.0]
