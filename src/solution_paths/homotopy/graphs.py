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

from ..problem.twofold import Twofold
from . import tolerances
from .moving import Moving

Array = NDArray[np.float64]


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
    closed: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.curvature)

    def scaled(self, factor: float) -> Shape:
        """Return the functions of factor * z, times factor: the same duals."""
        return Shape(self.knots.by(factor), self.slopes, self.curvature / factor, self.closed)

    def conjugate(self, pull: Twofold) -> Shape:
        """Return functions with graph (-pull - p, x), p in the subdifferential of f at x.

        Of piecewise linear f: a slope makes a knot, a knot a segment. Where the domain of f ends
        the outermost slope means nothing: its knot lies on the next one, and changes nothing.
        """
        pull = Twofold(pull.high[:, None], pull.low[:, None])
        last, m = slice(None, None, -1), self.curvature.shape[1] - 1
        own = np.tile(np.arange(m + 1), (len(self), 1))
        own[:, 0] += self.closed[:, 0]
        own[:, m] -= self.closed[:, 1]
        slopes = self.slopes.take((np.arange(len(self))[:, None], own[:, last]))
        inner = np.r_[m - 1, m - 1 : -1 : -1, 0]
        return Shape(
            Moving(slopes.value.plus(pull).by(-1.0), slopes.rate.by(-1.0)),
            self.knots.take((slice(None), inner)).by(-1.0),
            np.zeros((len(self), m + 2)),
            ~self.closed[:, last],
        )


def places(shape: Shape) -> tuple[Array, Array, Array, NDArray[np.bool_]]:
    """Return equations, lower and upper limits, (n, 2m+1, 4) each, and which knots are hollow."""
    equation, lower, upper = np.empty((3, len(shape), 2 * shape.curvature.shape[1] - 1, 4))
    return equation, lower, upper, write_places(shape, equation, lower, upper)


def write_places(shape: Shape, equation: Array, lower: Array, upper: Array) -> NDArray[np.bool_]:
    """Write what `places` returns; return which knots are hollow."""
    m, q = shape.curvature.shape[1] - 1, shape.curvature
    knots, slopes = shape.knots.packed(), shape.slopes.packed()
    lower[:, 0] = [-np.inf, 0.0, 0.0, 0.0]
    upper[:, -1] = [np.inf, 0.0, 0.0, 0.0]
    equation[:, 1::2] = lower[:, 2::2] = upper[:, :-1:2] = knots
    equation[:, ::2] = 0.0 - slopes
    if q.any():
        right_of = shape.knots.columns([0, *range(m)])
        equation[:, ::2] = right_of.by(q).plus(shape.slopes.by(-1.0)).packed()
    before, behind = shape.slopes.columns(slice(0, m)), shape.slopes.columns(slice(1, None))
    terms = np.abs(slopes[:, :-1, ::2]) + np.abs(slopes[:, 1:, ::2])
    if q[:, 1:-1].any():
        inner, last = slice(0, m - 1), slice(1, m)
        rise = shape.knots.columns(last).plus(shape.knots.columns(inner).by(-1.0)).by(q[:, 1:-1])
        bent = before.columns(last).plus(rise)
        before = before.columns([0]).beside(bent)
        terms[:, 1:] += np.abs(rise.packed()[..., ::2])
    lower[:, 1::2], upper[:, 1::2] = -slopes[:, 1:], -before.packed()
    width = np.abs(before.plus(behind.by(-1.0)).packed()[..., ::2])
    hollow = np.all(width <= tolerances.HOLLOW * terms, axis=-1)
    for end, side, infinite in ((0, upper, np.inf), (1, lower, -np.inf)):
        k, ends = (0, m - 1)[end], shape.closed[:, end]
        side[ends, 2 * k + 1] = [infinite, 0.0, 0.0, 0.0]
        hollow[ends, k] = False
    return np.asarray(hollow)


class Tabled(Protocol):
    """What the loop reads of the graphs of all coordinates: see `Graphs`."""

    equation: Array
    lower: Array
    upper: Array
    curvature: Array
    exists: NDArray[np.bool_]
    hollow: NDArray[np.bool_]
    still: NDArray[np.bool_]


class Graphs:
    """The graphs of all coordinates of a statement.

    Parameters
    ----------
    shapes : list of Shape
    widened : slice or None
        Coordinates whose knots have the multiplier of an l1 constraint on both sides.
    like : Graphs, optional
        Graphs of the same coordinates with other rates: only knots that are hollow there, too, are.

    Attributes
    ----------
    equation, lower, upper : (N, P, 4)
        For each place its right-hand side and its limits: value and rate, two parts each.
    curvature : (N, P)
        Of segments; 0 at knots.
    hollow : (N, P) of bool
        Knots that have no width at any t: they are passed through.
    still : (N, P) of bool
        Hollow knots at which nothing changes: no system feels them.
    single : (N,) of bool
        Whose domain is one point at any t: its knots hold any dual.
    """

    def __init__(
        self, shapes: list[Shape], widened: slice | None = None, like: Graphs | None = None
    ):
        self.shapes = shapes
        N = sum(len(s) for s in shapes)
        P = max((2 * s.curvature.shape[1] - 1 for s in shapes), default=0)
        self.equation = np.zeros((N, P, 4))
        self.lower, self.upper = np.zeros((N, P, 4)), np.zeros((N, P, 4))
        self.lower[..., 0], self.upper[..., 0] = -np.inf, np.inf
        self.curvature, self.single = np.zeros((N, P)), np.zeros(N, dtype=bool)
        self.exists, self.hollow, self.still = (np.zeros((N, P), dtype=bool) for _ in range(3))
        first = 0
        for shape in shapes:
            of, q = slice(first, first + len(shape)), shape.curvature
            p = 2 * q.shape[1] - 1
            tables = (own[of, :p] for own in (self.equation, self.lower, self.upper))
            hollow = write_places(shape, *tables)
            self.curvature[of, :p:2] = q
            self.exists[of, :p], self.hollow[of, 1:p:2] = True, hollow
            self.still[of, 1:p:2] = hollow & (q[:, 1:] == q[:, :-1])
            alike = np.all(self.equation[of, 1] == self.equation[of, p - 2], axis=1)
            self.single[of] = alike & shape.closed.all(axis=1)
            first += len(shape)
        if widened is not None:
            self.hollow[widened] = self.still[widened] = False
        if like is not None:
            self.hollow &= like.hollow
            self.still &= like.still
            self.single &= like.single
        self._forget()

    def _forget(self) -> None:
        """Let segments reach over knots where nothing ever changes, and single knots over all."""
        places = np.arange(self.lower.shape[1])
        knots = (places % 2 == 1) & self.exists
        nothing = np.flatnonzero(np.all(self.still | ~knots, axis=1))
        self.lower[nothing, ::2] = [-np.inf, 0.0, 0.0, 0.0]
        self.upper[nothing, ::2] = [np.inf, 0.0, 0.0, 0.0]
        self.lower[self.single, 1::2] = [-np.inf, 0.0, 0.0, 0.0]
        self.upper[self.single, 1::2] = [np.inf, 0.0, 0.0, 0.0]
