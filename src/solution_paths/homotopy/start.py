"""Where a path starts: places of an optimum at t0, found by the homotopy itself.

Any places with a regular system have a point. What this point violates is mended by artificial
terms: the graph of a coordinate on a segment is shifted along that segment until it holds the
point, a knot gets slopes that are wide enough. The point is then optimal for an artificial
statement, and the homotopy follows its optima while these terms go from 1 to 0. On the way there
is an optimum at each parameter, as there is one at both ends.

The nearer the places are to those of the optimum, the fewer changes there are on the way: those of
large statements come from Newton's method, see `guess`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import PathError
from ..twofold import Twofold
from . import tolerances
from .graphs import Shape
from .guess import GraphsAt, near_optimum
from .moving import Moving
from .run import Homotopy, Unlimited
from .statement import Statement

Array = NDArray[np.float64]
Places = NDArray[np.int64]
HIDDEN = np.sqrt(tolerances.SINGULAR)  # share of the data that is lost in squares
LARGE = 20_000  # entries from which on Newton's method costs less than the way that it saves


def starting_places(
    statement: Statement,
    off: Misfit,
    origin: float = 0.0,
    face: str = "auto",
) -> Places:
    """Return places of all coordinates at an optimum, by those of a guess at the same t.

    Messages call the parameter t + origin.
    """
    if not off.count:
        return off.place

    def walked(off: Misfit) -> Places:
        graphs = statement.graphs_of(artificial(statement, off))
        homotopy = Homotopy(statement, graphs, off.place, 1.0, 0.0, 0.0, face)
        homotopy.run()
        place, stayed = homotopy.place, homotopy.walk.now.stayed
        homotopy.release()
        if stayed:  # for no gain: then the point at its end has no violation
            end = Misfit.of(statement, place, off.t, face)
            if not end.is_of_rounding(statement):
                raise PathError(
                    f"The optimum at {off.t + origin:.12g} can't be found: the data determine it "
                    "no better than rounding; scale the data alike, or leave out columns that "
                    "depend on others.",
                    None,
                )
        return place

    better = _nearer(statement, off, face)
    if better is not None:
        try:
            return better.place if not better.count else walked(better)
        except PathError:
            pass  # its system may be nearly singular
    try:
        return walked(off)
    except Unlimited as claim:
        t = off.t + origin
        raise Unlimited(claim.unknowns, t, f"at {t:.12g}") from None


def _nearer(statement: Statement, off: Misfit, face: str) -> Misfit | None:
    """Return a guess nearer to the optimum whose system is regular, if there is one.

    Where penalties hold all weights, and free variables alone have to move, the way is short.
    """
    if statement.R.size < LARGE or off.count <= statement.free:
        return None
    place = near_optimum(statement, off.t)
    if place is None:
        return None
    better = Misfit.of(statement, place, off.t, face)
    return better if better.regular else None


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
    regular : bool
        Whether the system of the places could be solved.
    values : (N,)
        What places limit: duals at knots, values on segments.
    """

    t: float
    place: Places
    below: Array
    above: Array
    width: Array
    regular: bool
    values: Array

    @classmethod
    def at(cls, statement: Statement, t: float, face: str = "auto") -> Misfit:
        """Guess places at t and compare their point with the limits."""
        found = cls.of(statement, guess(statement, t), t, face)
        if found.regular or statement.parabolas is None:
            return found
        return cls.of(statement, guess(statement, t, solved=False), t, face)

    @classmethod
    def of(cls, statement: Statement, place: Places, t: float, face: str = "auto") -> Misfit:
        """Compute the point of places at t and compare it with their limits."""
        graphs = statement.graphs
        homotopy = Homotopy(statement, graphs, place, t, t + 1.0, face=face)
        homotopy.release()
        x, rows = homotopy.values, np.arange(len(place))
        lower, upper = (side[rows, place] for side in (graphs.lower, graphs.upper))
        lower, upper = (row[:, 0] + t * row[:, 2] for row in (lower, upper))
        below, above = np.maximum(lower - x, 0.0), np.maximum(x - upper, 0.0)
        return cls(t, place, below, above, upper - lower, homotopy.regular, x)

    def is_of_rounding(self, statement: Statement) -> bool:
        """Tell whether what is beyond limits is what a change of the data by rounding explains.

        Of pivots, which are squares, `tolerances.SINGULAR` is the share that may be rounding.
        """
        at_knot, scale = self.place % 2 == 1, statement.units.scale
        unit = np.where(at_knot == statement.is_row, 1.0 / scale, scale)
        sizes = np.abs(self.values) * unit
        beyond = np.maximum(self.below, self.above) * unit
        return self.regular and bool((beyond <= HIDDEN * sizes.max(initial=0.0)).all())

    @property
    def count(self) -> int:
        """How many coordinates are beyond a limit."""
        return int(((self.below > 0) | (self.above > 0)).sum())


def guess(statement: Statement, t: float = 0.0, solved: bool = True) -> Places:
    """Return places with a regular system at t.

    Variables are at their knots nearest to 0, rows where these put them, an l1 constraint is slack.
    In the primal face those that nothing penalises are ``solved`` for, unless they depend on each
    other.
    """
    (n, p), graph = statement.rows_and_variables, GraphsAt.of(statement.graphs, t)
    place, knots = np.zeros(len(graph.exists), dtype=np.int64), graph.knots
    place[n : n + p] = graph.nearest_to_zero()[n : n + p]
    first, z = 0, statement.R @ graph.equation[np.arange(n, n + p), place[n : n + p]]
    for shape in statement.shapes:
        if first < n:
            of = slice(first, first + len(shape))
            k = (z[of, None] > knots[of]).sum(axis=1)
            last = shape.curvature.shape[1] - 1
            k = np.where(shape.closed[:, 0], np.maximum(k, 1), k)
            place[of] = 2 * np.where(shape.closed[:, 1], np.minimum(k, last - 1), k)
        first += len(shape)
    if solved and statement.parabolas is not None:
        place[statement.graphs.single] = 1
    return place


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
