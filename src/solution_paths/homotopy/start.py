"""Where a path starts: places of an optimum at t0, found by the homotopy itself.

Any places with a regular system have a point. What this point violates is mended by artificial
terms: the graph of a coordinate on a segment is shifted along that segment until it holds the
point, a knot gets slopes that are wide enough. The point is then optimal for an artificial
statement, and the homotopy follows its optima while these terms go from 1 to 0. On the way there
is an optimum at each parameter, as there is one at both ends.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .graphs import Graphs, Shape
from .moving import Moving, Twofold
from .run import Homotopy, NoOptimum
from .statement import Statement

Array = NDArray[np.float64]
Places = NDArray[np.int64]


def starting_places(
    statement: Statement, t0: float, updated: bool = True, lazy: bool = True, face: str = "auto"
) -> Places:
    """Return places of all coordinates at an optimum where the parameter is t0."""
    graphs = statement.graphs()
    place = guess(statement)
    here = Homotopy(statement, graphs, place, 0.0, 1.0, updated=updated, lazy=lazy, face=face)
    rows, x = np.arange(len(place)), here.values
    limits = np.stack([graphs.lower[rows, place, 0], graphs.upper[rows, place, 0]])
    below, above = np.maximum(limits[0] - x, 0.0), np.maximum(x - limits[1], 0.0)
    if not (below.any() or above.any()):
        return place
    shapes = artificial(statement, graphs, place, limits, below, above, here.scale)
    graphs = statement.graphs(shapes, graphs)
    homotopy = Homotopy(statement, graphs, place, 1.0, 0.0, updated=updated, lazy=lazy, face=face)
    try:
        homotopy.run()
    except NoOptimum:
        raise NoOptimum(f"at {t0:.12g}") from None
    return homotopy.place


def guess(statement: Statement) -> Places:
    """Return places with a regular system.

    Variables are at their knots nearest to 0, rows where these put them, an l1 constraint is slack.
    """
    n, p = statement.rows_and_variables
    place, x, first = [], np.zeros(p), 0
    for shape in statement.shapes:
        knots, of = shape.knots.value.high, slice(first, first + len(shape))
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
            k = (z[first : first + len(shape), None] > shape.knots.value.high).sum(axis=1)
            last = shape.curvature.shape[1] - 1
            k = np.where(shape.closed[:, 0], np.maximum(k, 1), k)
            place[g] = 2 * np.where(shape.closed[:, 1], np.minimum(k, last - 1), k)
        first += len(shape)
    return np.concatenate(place)


def artificial(
    statement: Statement,
    graphs: Graphs,
    place: Places,
    limits: Array,
    below: Array,
    above: Array,
    scale: Array,
) -> list[Shape]:
    """Return functions whose rates are the terms under which the point of the places is optimal."""
    random = np.random.default_rng(0)  # ties would make the way from here degenerate
    at_knot, extra = place % 2 == 1, random.uniform(0.1, 0.6, len(place))
    violated, width = np.maximum(below, above), limits[1] - limits[0]
    shift = np.where(at_knot, 0.0, np.minimum(violated * (1.0 + extra), violated + width / 2))
    shift = np.where(above > 0, shift, -shift)
    widest = np.max((violated * scale)[at_knot], initial=0.0)
    widen = np.where(at_knot, widest / scale * (1.0 + extra), 0.0)
    shapes, first = [], 0
    for shape in statement.shapes:
        of = slice(first, first + len(shape))
        k, moved = place[of], shift[of, None]
        segment = np.arange(shape.curvature.shape[1])
        tilt = moved * np.take_along_axis(shape.curvature, k[:, None] // 2, 1)
        outward = np.where(segment > (k[:, None] - 1) // 2, 1.0, -1.0) * widen[of, None]
        knots = Moving(
            shape.knots.value, Twofold.of(np.broadcast_to(moved, shape.knots.value.high.shape))
        )
        slopes = Moving(shape.slopes.value, Twofold.of(tilt + outward))
        shapes.append(Shape(knots, slopes, shape.curvature, shape.closed))
        first = of.stop
    return shapes
