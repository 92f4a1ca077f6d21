"""Places near those of an optimum, from which the homotopy has a short way to it.

Each graph is smoothed: where it is vertical, at knots, it gets a slope of 1 / mu (its Yosida
approximation, the derivative of the Moreau envelope). Newton's method follows the optimum of the
smoothed objective while mu falls; a coordinate on such a slope is then at its knot. Nothing but
the time that the homotopy takes relies on the outcome.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy  # imports scipy.linalg, which is slow, at its first use
import scipy.sparse as sp
from numpy.typing import NDArray

from .graphs import Graphs
from .statement import Statement

Array = NDArray[np.float64]
Places = NDArray[np.int64]
FALL, FALLS = 5.0, 16  # of mu from one smoothed objective to the next, and how often
STEPS = 12  # of Newton's method for each mu
HALVINGS = 30  # of a step's length
FEW = 0.05  # of the rows at knots: if fewer change their places, nothing has happened
STILL = 3  # falls of mu in which nothing happens, after which places are those of the optimum
DEPENDENT = 1e-9  # of the first diagonal entry of a QR factor: below it columns are dependent


def near_optimum(statement: Statement, t: float) -> Places | None:
    """Return places near an optimum at t, by Newton's method from variables at knots, or None.

    The system that they state is regular but for rounding. With more variables than rows there are
    none: most variables stay at knots, and a step of Newton's method solves for all of them. With a
    Gram matrix there are none either: a step factors that of nearly all rows, which costs more than
    the events that it saves.
    """
    n, p = statement.R.shape
    if statement.constrained or statement.gram is not None or sp.issparse(statement.R) or p > n:
        return None
    graph, variables = GraphsAt.of(statement.graphs, t), np.arange(n, n + p)
    x = graph.equation[variables, graph.nearest_to_zero()[variables]]
    mu, point, before, still = _first_mu(statement, graph, x), Point.of(statement, x), None, 0
    try:
        with np.errstate(all="ignore"):
            for _ in range(FALLS):
                smooth = Smoothed.of(graph, mu)
                point, place, a = _minimised(statement, smooth, point)
                at_knots = (place[:n] % 2 == 1).sum()
                few = before is not None and (place != before).sum() <= FEW * at_knots
                still = still + 1 if few else 0
                if at_knots <= 2 * p or still == STILL:  # about a vertex, or nothing happens
                    break
                before, mu = place, mu / FALL
            return _independent(statement, smooth, place, a) if np.isfinite(a).all() else None
    except np.linalg.LinAlgError:
        return None


class GraphsAt(NamedTuple):
    """Equations, limits and curvatures of all places at one t, (N, P) each: see `Graphs`."""

    equation: Array
    lower: Array
    upper: Array
    curvature: Array
    exists: NDArray[np.bool_]

    @classmethod
    def of(cls, graphs: Graphs, t: float) -> GraphsAt:
        """Evaluate graphs in double precision."""

        def at(x: Array) -> Array:
            return np.where(x[..., 2] == 0.0, x[..., 0], x[..., 0] + t * x[..., 2])

        tables = at(graphs.equation), at(graphs.lower), at(graphs.upper)
        return cls(*tables, graphs.curvature, graphs.exists)

    @property
    def knots(self) -> Array:
        """The knots of all coordinates, infinite where there is none."""
        return np.where(self.exists[:, 1::2], self.equation[:, 1::2], np.inf)

    def nearest_to_zero(self) -> Places:
        """Return for each coordinate the place of its knot nearest to 0."""
        return np.asarray(2 * np.argmin(np.abs(self.knots), axis=1) + 1)


@dataclass(frozen=True, eq=False)
class Smoothed:
    """Graphs at one t whose knots have a slope of 1 / mu.

    Attributes
    ----------
    graph : GraphsAt
    mu : (N,)
    bounds : (N, P)
        The largest argument of each place.
    """

    graph: GraphsAt
    mu: Array
    bounds: Array

    @classmethod
    def of(cls, graph: GraphsAt, mu: Array) -> Smoothed:
        """Smooth graphs."""
        own = mu[:, None]
        q, rest, bounds = graph.curvature[:, ::2], graph.equation[:, ::2], graph.upper.copy()
        bounds[:, ::2] = bounds[:, ::2] * (1.0 + own * q) - own * rest
        bounds[:, 1::2] = graph.equation[:, 1::2] - own * graph.lower[:, 1::2]
        if graph.upper.shape[1] > 1:  # a domain that ends on the left has no segment there
            bounds[np.isposinf(graph.upper[:, 1]) & np.isfinite(graph.upper[:, 0]), 0] = -np.inf
        return cls(graph, mu, bounds)

    def at(self, y: Array) -> tuple[Places, Array, Array]:
        """Return the places of arguments y, their duals a and -da/dy, (N,) each."""
        place = np.argmin(y[:, None] > self.bounds, axis=1)
        return place, *self.on(place, y)

    def on(self, place: Places, y: Array) -> tuple[Array, Array]:
        """Return duals a and -da/dy if the graphs went on beyond the limits of these places."""
        rows = np.arange(len(y))
        own, q = self.graph.equation[rows, place], self.graph.curvature[rows, place]
        damped = 1.0 + self.mu * q
        a = np.where(place % 2 == 1, (own - y) / self.mu, (own - q * y) / damped)
        return a, np.where(place % 2 == 1, 1.0 / self.mu, q / damped)


@dataclass(frozen=True, eq=False)
class Point:
    """Variables, and what graphs are evaluated at.

    Attributes
    ----------
    x : (p,)
    arguments : (N,)
        z of rows, x of variables.
    pull : (p,)
        The gradient of the quadratic terms, ridge x.
    """

    x: Array
    arguments: Array
    pull: Array

    @classmethod
    def of(cls, statement: Statement, x: Array) -> Point:
        """Evaluate all from variables."""
        return cls(x, np.concatenate([statement.R @ x, x]), statement.ridge * x)

    def ahead(self, step: Point, s: float) -> Point:
        """Return the point s times a step away."""
        pairs = zip(vars(self).values(), vars(step).values(), strict=True)
        return Point(*(own + s * by for own, by in pairs))


def _first_mu(statement: Statement, graph: GraphsAt, x: Array) -> Array:
    """Return mu of each coordinate: first a knot's slope is as wide as values are away from it."""
    n, unit = len(statement.R), statement.units.scale
    unit = np.where(statement.is_row, 1.0 / unit, unit)  # of arguments
    z = np.concatenate([statement.R @ x, x])
    away = np.where(graph.exists[:, 1::2], graph.equation[:, 1::2] - z[:, None], 0.0)
    width = graph.upper[:, 1::2] - graph.lower[:, 1::2]
    width = np.where(graph.exists[:, 1::2] & np.isfinite(width), width, 0.0)
    far = (np.abs(away).max(axis=1) / unit)[:n]
    wide = (width.max(axis=1) * unit)[:n]
    far, wide = (float(np.median(own[own > 0])) if (own > 0).any() else 1.0 for own in (far, wide))
    return np.asarray(far / wide * unit**2)


def _minimised(statement: Statement, smooth: Smoothed, point: Point) -> tuple[Point, Places, Array]:
    """Return about the optimum of the smoothed objective, its places and duals."""
    place, a, bend = smooth.at(point.arguments)
    free, n = bool((statement.ridge == 0.0).any()), len(statement.R)
    for _ in range(STEPS):
        if free and not bend[:n].any():  # as steep as any can be, where all are flat
            bend[:n] = 1.0 / smooth.mu[:n]
        step, before, s = _newton(statement, point, a, bend), place, 1.0
        if not _slope(point, step, a) < 0.0:
            break
        for _ in range(HALVINGS):
            ahead = point.ahead(step, s)
            place, a, bend = smooth.at(ahead.arguments)
            if _slope(ahead, step, a) <= 0.0:  # the objective falls up to there
                break
            s *= 0.5
        point = ahead
        if s == 1.0 and (place != before).sum() <= FEW * (place[:n] % 2 == 1).sum():
            break
    return point, place, a


def _slope(point: Point, step: Point, a: Array) -> float:
    """Return the derivative of the smoothed objective along a step, at a point with duals a."""
    return float(point.pull @ step.x - a @ step.arguments)


def _newton(statement: Statement, point: Point, a: Array, bend: Array) -> Point:
    """Return Newton's step for the smoothed objective, with duals a and -da/dy."""
    R, n = statement.R, len(statement.R)
    on = np.flatnonzero(bend[:n] > 0.0)
    M = (R[on].T * bend[on]) @ R[on]
    least = 1e-14 * np.diagonal(M).max(initial=1e-300)
    M[np.diag_indices_from(M)] += statement.ridge + bend[n:] + least
    rest = a[n:] - point.pull + R.T @ a[:n]
    return Point.of(statement, np.linalg.solve(M, rest))


def _independent(statement: Statement, smooth: Smoothed, place: Places, a: Array) -> Places:
    """Return the same places, but with dependent coordinates moved to others.

    Rows at knots must be independent in the variables on segments, and these in what holds them.
    """
    n, place, graph = len(statement.R), place.copy(), smooth.graph
    scale = statement.units.scale
    R = statement.R * scale[:n, None] * scale[n:]
    free = np.flatnonzero(place[n:] % 2 == 0)
    at_knot = np.flatnonzero(place[:n] % 2 == 1)
    curved = np.flatnonzero((place[:n] % 2 == 0) & (graph.curvature[np.arange(n), place[:n]] > 0.0))
    held = np.vstack([R[at_knot], R[curved], np.diag(np.sqrt(statement.ridge * scale[n:] ** 2))])
    bound = n + free[_dependent(held[:, free])]
    place[bound] = graph.nearest_to_zero()[bound]
    free = np.flatnonzero(place[n:] % 2 == 0)
    spanned = R[np.ix_(at_knot, free)].T
    rows, knots = np.arange(n), place[:n]
    lower, upper = graph.lower[rows, knots], graph.upper[rows, knots]
    width = upper - lower
    inside = np.minimum(a[:n] - lower, upper - a[:n]) / np.where(width > 0.0, width, 1.0)
    inside = np.where(np.isfinite(width), np.clip(inside, 0.01, 1.0), 1.0)  # the least go first
    left = 0.0  # what rounding duals to a limit has left out so far: their sum stays what it is
    for i in np.sort(at_knot[_dependent(spanned * inside[at_knot])]):
        below, above = a[i] - lower[i], upper[i] - a[i]
        to_lower = below + left < above - left
        left += below if to_lower else -above
        left = left if np.isfinite(left) else 0.0
        place[i] += 1 if to_lower else -1
    return place


def _dependent(A: Array) -> NDArray[np.int64]:
    """Return columns without which the others are independent."""
    if A.shape[1] == 0:
        return np.zeros(0, dtype=np.int64)
    triangle, order = scipy.linalg.qr(A, mode="r", pivoting=True)
    diagonal = np.abs(np.diagonal(triangle))
    rank = int((diagonal > DEPENDENT * diagonal.max(initial=0.0)).sum())
    return order[rank:]
