"""Where a path starts: places of an optimum at t0, found by the homotopy itself.

Any places with a regular system have a point. What this point violates is mended by artificial
terms: the graph of a coordinate on a segment is shifted along that segment until it holds the
point, a knot gets slopes that are wide enough. The point is then optimal for an artificial
statement, and the homotopy follows its optima while these terms go from 1 to 0. On the way there
is an optimum at each parameter, as there is one at both ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .graphs import Shape
from .moving import Moving, Twofold
from .run import Homotopy, NoOptimum
from .statement import Statement

Array = NDArray[np.float64]
Places = NDArray[np.int64]


def starting_places(
    statement: Statement,
    off: Misfit,
    origin: float = 0.0,
    updated: bool = True,
    lazy: bool = True,
    face: str = "auto",
) -> Places:
    """Return places of all coordinates at an optimum, by those of a guess at the same t.

    Messages call the parameter t + origin.
    """
    if not off.count:
        return off.place
    graphs = statement.graphs_of(artificial(statement, off))
    homotopy = Homotopy(statement, graphs, off.place, 1.0, 0.0, 0.0, updated, lazy, face)
    try:
        homotopy.run()
    except NoOptimum:
        raise NoOptimum(f"at {off.t + origin:.12g}") from None
    return homotopy.place


@dataclass(frozen=True, eq=False)
class Misfit:
    """By how much the point of guessed places is beyond the limits of each of these.

    Attributes
    ----------
    t : float
    place : (N,)
    below, above : (N,)
    width : (N,)
        Between the limits.
    """

    t: float
    place: Places
    below: Array
    above: Array
    width: Array

    @classmethod
    def at(cls, statement: Statement, t: float, face: str = "auto") -> Misfit:
        """Guess places at t, compute their point and compare it with their limits."""
        place, graphs = guess(statement, t), statement.graphs
        x = Homotopy(statement, graphs, place, t, t + 1.0, face=face).values
        rows = np.arange(len(place))
        lower, upper = (side[rows, place] for side in (graphs.lower, graphs.upper))
        lower, upper = (row[:, 0] + t * row[:, 2] for row in (lower, upper))
        return cls(t, place, np.maximum(lower - x, 0.0), np.maximum(x - upper, 0.0), upper - lower)

    @property
    def count(self) -> int:
        """How many coordinates are beyond a limit."""
        return int(((self.below > 0) | (self.above > 0)).sum())


def guess(statement: Statement, t: float = 0.0) -> Places:
    """Return places with a regular system at t.

    Variables are at their knots nearest to 0, rows where these put them, an l1 constraint is slack.
    """
    n, p = statement.rows_and_variables
    place, x, first = [], np.zeros(p), 0
    for shape in statement.shapes:
        knots, of = shape.knots.at(t).high, slice(first, first + len(shape))
        if first >= n and first < n + p:
            k = np.argmin(np.abs(knots), axis=1)
            place.append(2 * k + 1)
            x[first - n : of.stop - n] = np.take_along_axis(knots, k[:, None], 1)[:, 0]
        else:
            place.append(np.zeros(len(shape), dtype=int))
        first = of.stop
    z, first = statement.R @ x, 0
    for g, shape in enumerate(statement.shapes):
        if first < n:
            k = (z[first : first + len(shape), None] > shape.knots.at(t).high).sum(axis=1)
            last = shape.curvature.shape[1] - 1
            k = np.where(shape.closed[:, 0], np.maximum(k, 1), k)
            place[g] = 2 * np.where(shape.closed[:, 1], np.minimum(k, last - 1), k)
        first += len(shape)
    return np.concatenate(place)


def artificial(statement: Statement, off: Misfit) -> list[Shape]:
    """Return functions whose rates are the terms under which the point of the places is optimal."""
    t, place = off.t, off.place
    random = np.random.default_rng(0)  # ties would make the way from here degenerate
    at_knot, extra = place % 2 == 1, random.uniform(0.1, 0.6, len(place))
    violated = np.maximum(off.below, off.above)
    shift = np.where(at_knot, 0.0, np.minimum(violated * (1 + extra), violated + off.width / 2))
    shift = np.where(off.above > 0, shift, -shift)
    scale = statement.units.scale
    widest = np.max((violated * scale)[at_knot], initial=0.0)
    widen = np.where(at_knot, widest / scale * (1.0 + extra), 0.0)
    shapes, first = [], 0
    for shape in statement.shapes:
        of = slice(first, first + len(shape))
        k, moved = place[of], shift[of, None]
        segment = np.arange(shape.curvature.shape[1])
        tilt = moved * np.take_along_axis(shape.curvature, k[:, None] // 2, 1)
        outward = np.where(segment > (k[:, None] - 1) // 2, 1.0, -1.0) * widen[of, None]
        knots = shape.knots.at(t)
        knots = Moving(knots, Twofold.of(np.broadcast_to(moved, knots.high.shape)))
        slopes = Moving(shape.slopes.at(t), Twofold.of(tilt + outward))
        shapes.append(Shape(knots, slopes, shape.curvature, shape.closed))
        first = of.stop
    return shapes
