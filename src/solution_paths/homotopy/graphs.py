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
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..compilation import cached_njit, read_only
from ..problem.twofold import Twofold
from .compiled import lean
from .moving import Moving
from .tolerances import HOLLOW
from .twofold import add, times

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


class Tables(NamedTuple):
    """Tables of N coordinates with P places each: see `Graphs`."""

    equation: Array
    lower: Array
    upper: Array
    curvature: Array
    exists: NDArray[np.bool_]
    hollow: NDArray[np.bool_]
    still: NDArray[np.bool_]
    single: NDArray[np.bool_]

    @classmethod
    def of(cls, shapes: list[Shape]) -> Tables:
        """Write tables of groups of coordinates that follow each other."""
        N = sum(len(shape) for shape in shapes)
        P = max((2 * shape.curvature.shape[1] - 1 for shape in shapes), default=0)
        numbers, flags = np.zeros((3, N, P, 4)), np.zeros((3, N, P), dtype=bool)
        found = cls(*numbers, np.zeros((N, P)), *flags, np.zeros(N, dtype=bool))
        found.lower[..., 0], found.upper[..., 0] = -np.inf, np.inf
        first = 0
        for shape in shapes:
            own = shape.knots.packed(), shape.slopes.packed(), shape.curvature, shape.closed
            _write(*read_only(*own), first, *found)
            first += len(shape)
        return found


@cached_njit
def _write(
    knots: Any,
    slopes: Any,
    curvature: Any,
    closed: Any,
    first: int,
    equation: Any,
    lower: Any,
    upper: Any,
    bends: Any,
    exists: Any,
    hollow: Any,
    still: Any,
    single: Any,
) -> None:
    """Write the tables of some coordinates, the first one of which is ``first``."""
    m = curvature.shape[1] - 1
    for c in range(len(curvature)):
        i, q = first + c, curvature[c]
        exists[i, : 2 * m + 1] = True
        for k in range(m + 1):
            bends[i, 2 * k] = q[k]
            _write_segment(k, knots[c], slopes[c], q, equation[i])
        for k in range(m):
            place = 2 * k + 1
            hollow[i, place] = _write_knot(
                k, knots[c], slopes[c], q, equation[i], lower[i], upper[i]
            )
            still[i, place] = hollow[i, place] and q[k] == q[k + 1]
        alike = closed[c, 0] and closed[c, 1]
        for part in range(4):
            alike = alike and equation[i, 1, part] == equation[i, 2 * m - 1, part]
        single[i] = alike
        for end, side, infinite in ((0, upper, np.inf), (1, lower, -np.inf)):
            if closed[c, end]:
                place = 1 if end == 0 else 2 * m - 1
                hollow[i, place] = still[i, place] = False
                side[i, place] = 0.0
                side[i, place, 0] = infinite


@lean
def _write_segment(k, knots, slopes, curvature, equation):
    """Write the equation of a segment: q p - s, in value and rate."""
    for part in range(0, 4, 2):
        h, e = 0.0 - slopes[k, part], 0.0 - slopes[k, part + 1]
        if curvature[k] != 0.0:
            p = knots[max(k - 1, 0)]
            x, y = times(p[part], p[part + 1], curvature[k], 0.0)
            h, e = add(x, y, h, e)
        equation[2 * k, part], equation[2 * k, part + 1] = h, e


@lean
def _write_knot(k, knots, slopes, curvature, equation, lower, upper):
    """Write a knot, and the slopes on both sides of it; return whether these are the same."""
    place, narrow = 2 * k + 1, True
    for part in range(4):
        equation[place, part] = lower[place + 1, part] = upper[place - 1, part] = knots[k, part]
        lower[place, part] = -slopes[k + 1, part]
    for part in range(0, 4, 2):
        h, e = slopes[k, part], slopes[k, part + 1]
        r, f = slopes[k + 1, part], slopes[k + 1, part + 1]
        terms = abs(h) + abs(r)
        if k > 0 and curvature[k] != 0.0:
            x, y = add(
                knots[k, part], knots[k, part + 1], -knots[k - 1, part], -knots[k - 1, part + 1]
            )
            x, y = times(x, y, curvature[k], 0.0)
            h, e = add(h, e, x, y)
            terms += abs(x)
        upper[place, part], upper[place, part + 1] = -h, -e
        x, _ = add(h, e, -r, -f)
        narrow = narrow and abs(x) <= HOLLOW * terms
    return narrow


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
        self.equation, self.lower, self.upper, self.curvature, *flags = Tables.of(shapes)
        self.exists, self.hollow, self.still, self.single = flags
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
