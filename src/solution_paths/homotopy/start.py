"""The start of a path: places of an optimum at t0, computed by the homotopy itself.

Any places with a regular system have a point. Artificial terms remove its violations: the graph of
a coordinate on a segment is shifted along that segment until it contains the point, a knot gets
slopes that are wide enough. The point is then optimal for an artificial statement, and the homotopy
follows its optima while these terms go from 1 to 0. There is an optimum at each parameter between,
since there is one at both ends.

The nearer the places are to those of the optimum, the fewer events there are. For large statements
they come from Newton's method, see `guess`.
"""

from __future__ import annotations

from contextlib import suppress
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
from .statement import ParametricKKT

Array = NDArray[np.float64]
Places = NDArray[np.int64]
SQUARE_ROUNDING = np.sqrt(tolerances.SINGULAR)  # relative size of data that is lost in squares
NEWTON_ENTRIES = 20_000  # entries of R from which on Newton's method costs less than it saves


def starting_places(
    statement: ParametricKKT,
    misfit: Misfit,
    origin: float = 0.0,
    face: str = "auto",
) -> Places:
    """Return places of all coordinates at an optimum, from guessed places at the same t.

    Messages report the parameter as t + origin.
    """
    if not misfit.count:
        return misfit.place

    def walked(misfit: Misfit) -> Places:
        graphs = statement.graphs_of(artificial(statement, misfit))
        homotopy = Homotopy(statement, graphs, misfit.place, 1.0, 0.0, 0.0, face)
        homotopy.run()
        place, stayed = homotopy.place, homotopy.walk.now.stayed
        homotopy.release()
        if stayed:  # coordinates stayed beyond limits by rounding: check the point at the end
            end = Misfit.of(statement, place, misfit.t, face)
            if not end.is_of_rounding(statement):
                raise PathError(
                    f"The optimum at {misfit.t + origin:.12g} can't be found: the data determine "
                    "it no better than rounding; scale the data alike, or leave out columns that "
                    "depend on others.",
                    None,
                )
        return place

    better = _nearer(statement, misfit, face)
    if better is not None:
        try:
            return better.place if not better.count else walked(better)
        except PathError:
            pass  # the system of these places may be nearly singular
    try:
        return walked(misfit)
    except Unlimited as claim:
        t = misfit.t + origin
        raise Unlimited(claim.unknowns, t, f"at {t:.12g}") from None


def starting_places_near(
    statement: ParametricKKT, place: Places, origin: float = 0.0, face: str = "auto"
) -> Places | None:
    """Return `starting_places` at t = 0 from given places, None if it fails from there."""
    misfit = Misfit.of(statement, place, 0.0, face)
    with suppress(PathError, np.linalg.LinAlgError, ArithmeticError):
        if misfit.regular:
            return starting_places(statement, misfit, origin, face)
    return None


def _nearer(statement: ParametricKKT, misfit: Misfit, face: str) -> Misfit | None:
    """Return a guess nearer to the optimum with a regular system, or None.

    None is needed where only free variables violate their limits: then the path is short.
    """
    if statement.R.size < NEWTON_ENTRIES or misfit.count <= statement.free:
        return None
    place = near_optimum(statement, misfit.t)
    if place is None:
        return None
    better = Misfit.of(statement, place, misfit.t, face)
    return better if better.regular else None


@dataclass(frozen=True, eq=False)
class Misfit:
    """The violations of limits by the point of guessed places.

    Attributes
    ----------
    t : float
    place : (N,)
    below, above : (N,)
        Violations of the lower and of the upper limit.
    width : (N,)
        Distance between the limits.
    regular : bool
        Whether the system of the places could be solved.
    values : (N,)
        The limited numbers: duals at knots, values on segments.
    """

    t: float
    place: Places
    below: Array
    above: Array
    width: Array
    regular: bool
    values: Array

    @classmethod
    def at(cls, statement: ParametricKKT, t: float, face: str = "auto") -> Misfit:
        """Return the misfit of guessed places at t."""
        misfit = cls.of(statement, guess(statement, t), t, face)
        if misfit.regular or statement.parabolas is None:
            return misfit
        return cls.of(statement, guess(statement, t, solved=False), t, face)

    @classmethod
    def of(cls, statement: ParametricKKT, place: Places, t: float, face: str = "auto") -> Misfit:
        """Return the misfit of given places at t."""
        graphs = statement.graphs
        homotopy = Homotopy(statement, graphs, place, t, t + 1.0, face=face)
        homotopy.release()
        x, rows = homotopy.values, np.arange(len(place))
        lower, upper = (side[rows, place] for side in (graphs.lower, graphs.upper))
        lower, upper = (row[:, 0] + t * row[:, 2] for row in (lower, upper))
        below, above = np.maximum(lower - x, 0.0), np.maximum(x - upper, 0.0)
        return cls(t, place, below, above, upper - lower, homotopy.regular, x)

    def is_of_rounding(self, statement: ParametricKKT) -> bool:
        """Tell whether a change of the data by rounding explains all violations.

        `tolerances.SINGULAR` bounds the rounding of pivots, which are squares: here its root does.
        """
        at_knot, scale = self.place % 2 == 1, statement.units.scale
        unit = np.where(at_knot == statement.is_row, 1.0 / scale, scale)
        sizes = np.abs(self.values) * unit
        beyond = np.maximum(self.below, self.above) * unit
        return self.regular and bool((beyond <= SQUARE_ROUNDING * sizes.max(initial=0.0)).all())

    @property
    def count(self) -> int:
        """The number of coordinates beyond a limit."""
        return int(((self.below > 0) | (self.above > 0)).sum())


def guess(statement: ParametricKKT, t: float = 0.0, solved: bool = True) -> Places:
    """Return places with a regular system at t.

    Variables are at their knots nearest to 0, rows at the places of the resulting values, an l1
    constraint is slack. In the primal face ``solved`` makes unpenalised variables unknowns of the
    system; they must be linearly independent.
    """
    (n, p), graph = statement.rows_and_variables, GraphsAt.of(statement.graphs, t)
    place, knots = np.zeros(len(graph.exists), dtype=np.int64), graph.knots
    place[n : n + p] = graph.nearest_to_zero()[n : n + p]
    first, z = 0, statement.R @ graph.equation[np.arange(n, n + p), place[n : n + p]]
    for shape in statement.shapes:
        if first < n:
            group = slice(first, first + len(shape))
            k = (z[group, None] > knots[group]).sum(axis=1)
            last = shape.curvature.shape[1] - 1
            k = np.where(shape.closed[:, 0], np.maximum(k, 1), k)
            place[group] = 2 * np.where(shape.closed[:, 1], np.minimum(k, last - 1), k)
        first += len(shape)
    if solved and statement.parabolas is not None:
        place[statement.graphs.single] = 1
    return place


def artificial(statement: ParametricKKT, misfit: Misfit) -> list[Shape]:
    """Return functions whose rates are artificial terms that make the places' point optimal."""
    t, place = misfit.t, misfit.place
    random = np.random.default_rng(0)  # distinct terms avoid ties on the path from here
    at_knot, extra = place % 2 == 1, random.uniform(0.1, 0.6, len(place))
    violated = np.maximum(misfit.below, misfit.above)
    shift = np.where(at_knot, 0.0, np.minimum(violated * (1 + extra), violated + misfit.width / 2))
    shift = np.where(misfit.above > 0, shift, -shift)
    scale = statement.units.scale
    widest = np.max((violated * scale)[at_knot], initial=0.0)
    widen = np.where(at_knot, widest / scale * (1.0 + extra), 0.0)
    shapes, first = [], 0
    for shape in statement.shapes:
        group = slice(first, first + len(shape))
        k, moved = place[group], shift[group, None]
        segment = np.arange(shape.curvature.shape[1])
        tilt = moved * np.take_along_axis(shape.curvature, k[:, None] // 2, 1)
        outward = np.where(segment > (k[:, None] - 1) // 2, 1.0, -1.0) * widen[group, None]
        knots = shape.knots.at(t)
        knots = Moving(knots, Twofold.of(np.broadcast_to(moved, knots.high.shape)))
        slopes = Moving(shape.slopes.at(t), Twofold.of(tilt + outward))
        shapes.append(Shape(knots, slopes, shape.curvature, shape.closed))
        first = group.stop
    return shapes
