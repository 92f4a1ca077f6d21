"""Places near those of an optimum, from which the homotopy needs few events.

Each graph is smoothed: its vertical parts, at knots, get the slope 1 / mu (its Yosida
approximation, the derivative of the Moreau envelope). Newton's method follows the optimum of the
smoothed objective while mu falls; a coordinate on such a slope is put at its knot. The outcome
affects the time of the homotopy alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy  # imports scipy.linalg, which is slow, at its first use
import scipy.sparse as sp
from numpy.typing import NDArray

from .graphs import Graphs
from .statement import ParametricKKT

Array = NDArray[np.float64]
Places = NDArray[np.int64]
MU_FACTOR, MU_LEVELS = 5.0, 16  # mu is divided by the factor from level to level
NEWTON_STEPS = 12  # for each mu
HALVINGS = 30  # of a step's length
UNCHANGED_SHARE = 0.05  # of the rows at knots: if fewer change their places, a level is unchanged
UNCHANGED_LEVELS = 3  # in a row, after which the places count as those of the optimum
RANK_TOLERANCE = 1e-9  # of the first diagonal entry of a QR factor: smaller ones count as zero


def near_optimum(statement: ParametricKKT, t: float) -> Places | None:
    """Return places near an optimum at t, by Newton's method from variables at knots, or None.

    Their system is regular to within rounding. None with more variables than rows: most variables
    stay at knots, while a step of Newton's method solves for all. None with a Gram matrix: a step
    factors that of nearly all rows, which costs more than the events that it saves.
    """
    n, p = statement.R.shape
    if statement.constrained or statement.gram is not None or sp.issparse(statement.R) or p > n:
        return None
    graph, variables = GraphsAt.of(statement.graphs, t), np.arange(n, n + p)
    x = graph.equation[variables, graph.nearest_to_zero()[variables]]
    mu, point, before, still = _first_mu(statement, graph, x), Point.of(statement, x), None, 0
    try:
        with np.errstate(all="ignore"):
            for _ in range(MU_LEVELS):
                smooth = Smoothed.of(graph, mu)
                point, place, a = _minimised(statement, smooth, point)
                at_knots = (place[:n] % 2 == 1).sum()
                few = before is not None and (place != before).sum() <= UNCHANGED_SHARE * at_knots
                still = still + 1 if few else 0
                if at_knots <= 2 * p or still == UNCHANGED_LEVELS:  # near a vertex, or unchanged
                    break
                before, mu = place, mu / MU_FACTOR
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
        """Return graphs at t in double precision."""

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
        mu_column = mu[:, None]
        q, rest, bounds = graph.curvature[:, ::2], graph.equation[:, ::2], graph.upper.copy()
        bounds[:, ::2] = bounds[:, ::2] * (1.0 + mu_column * q) - mu_column * rest
        bounds[:, 1::2] = graph.equation[:, 1::2] - mu_column * graph.lower[:, 1::2]
        if graph.upper.shape[1] > 1:  # a domain that ends on the left has no segment there
            bounds[np.isposinf(graph.upper[:, 1]) & np.isfinite(graph.upper[:, 0]), 0] = -np.inf
        return cls(graph, mu, bounds)

    def at(self, y: Array) -> tuple[Places, Array, Array]:
        """Return the places of arguments y, their duals a and -da/dy, (N,) each."""
        place = np.argmin(y[:, None] > self.bounds, axis=1)
        return place, *self.on(place, y)

    def on(self, place: Places, y: Array) -> tuple[Array, Array]:
        """Return duals a and -da/dy of the lines through the given places, beyond limits, too."""
        rows = np.arange(len(y))
        target, q = self.graph.equation[rows, place], self.graph.curvature[rows, place]
        damped = 1.0 + self.mu * q
        a = np.where(place % 2 == 1, (target - y) / self.mu, (target - q * y) / damped)
        return a, np.where(place % 2 == 1, 1.0 / self.mu, q / damped)


@dataclass(frozen=True, eq=False)
class Point:
    """Variables, and the arguments of the graphs.

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
    def of(cls, statement: ParametricKKT, x: Array) -> Point:
        """Return the point of variables x."""
        return cls(x, np.concatenate([statement.R @ x, x]), statement.ridge * x)

    def ahead(self, step: Point, s: float) -> Point:
        """Return the point s times a step away."""
        pairs = zip(vars(self).values(), vars(step).values(), strict=True)
        return Point(*(value + s * change for value, change in pairs))


def _first_mu(statement: ParametricKKT, graph: GraphsAt, x: Array) -> Array:
    """Return the first mu of each coordinate: a knot's slope spans the typical distance to it."""
    n, unit = len(statement.R), statement.units.scale
    unit = np.where(statement.is_row, 1.0 / unit, unit)  # of arguments
    z = np.concatenate([statement.R @ x, x])
    away = np.where(graph.exists[:, 1::2], graph.equation[:, 1::2] - z[:, None], 0.0)
    width = graph.upper[:, 1::2] - graph.lower[:, 1::2]
    width = np.where(graph.exists[:, 1::2] & np.isfinite(width), width, 0.0)
    far = (np.abs(away).max(axis=1) / unit)[:n]
    wide = (width.max(axis=1) * unit)[:n]
    far, wide = (
        float(np.median(sizes[sizes > 0])) if (sizes > 0).any() else 1.0 for sizes in (far, wide)
    )
    return np.asarray(far / wide * unit**2)


def _minimised(
    statement: ParametricKKT, smooth: Smoothed, point: Point
) -> tuple[Point, Places, Array]:
    """Return an approximate optimum of the smoothed objective, its places and duals."""
    place, a, bend = smooth.at(point.arguments)
    free, n = bool((statement.ridge == 0.0).any()), len(statement.R)
    for _ in range(NEWTON_STEPS):
        if free and not bend[:n].any():  # all graphs are flat here: use the largest slope
            bend[:n] = 1.0 / smooth.mu[:n]
        step, before, s = _newton(statement, point, a, bend), place, 1.0
        if not _slope(point, step, a) < 0.0:
            break
        for _ in range(HALVINGS):
            ahead = point.ahead(step, s)
            place, a, bend = smooth.at(ahead.arguments)
            if _slope(ahead, step, a) <= 0.0:  # the objective still falls at that point
                break
            s *= 0.5
        point = ahead
        if s == 1.0 and (place != before).sum() <= UNCHANGED_SHARE * (place[:n] % 2 == 1).sum():
            break
    return point, place, a


def _slope(point: Point, step: Point, a: Array) -> float:
    """Return the derivative of the smoothed objective along a step, at a point with duals a."""
    return float(point.pull @ step.x - a @ step.arguments)


def _newton(statement: ParametricKKT, point: Point, a: Array, bend: Array) -> Point:
    """Return Newton's step for the smoothed objective, with duals a and -da/dy."""
    R, n = statement.R, len(statement.R)
    sloping = np.flatnonzero(bend[:n] > 0.0)
    M = (R[sloping].T * bend[sloping]) @ R[sloping]
    least = 1e-14 * np.diagonal(M).max(initial=1e-300)
    M[np.diag_indices_from(M)] += statement.ridge + bend[n:] + least
    rest = a[n:] - point.pull + R.T @ a[:n]
    return Point.of(statement, np.linalg.solve(M, rest))


def _independent(statement: ParametricKKT, smooth: Smoothed, place: Places, a: Array) -> Places:
    """Return the places with linearly dependent coordinates moved to neighbouring places.

    Rows at knots must be independent in the variables on segments, and columns of these in the rows
    at knots, curved rows and ridge that determine them.
    """
    n, place, graph = len(statement.R), place.copy(), smooth.graph
    scale = statement.units.scale
    R = statement.R * scale[:n, None] * scale[n:]
    free = np.flatnonzero(place[n:] % 2 == 0)
    at_knot = np.flatnonzero(place[:n] % 2 == 1)
    curved = np.flatnonzero((place[:n] % 2 == 0) & (graph.curvature[np.arange(n), place[:n]] > 0.0))
    fixing = np.vstack([R[at_knot], R[curved], np.diag(np.sqrt(statement.ridge * scale[n:] ** 2))])
    bound = n + free[_dependent(fixing[:, free])]
    place[bound] = graph.nearest_to_zero()[bound]
    free = np.flatnonzero(place[n:] % 2 == 0)
    spanned = R[np.ix_(at_knot, free)].T
    rows, knots = np.arange(n), place[:n]
    lower, upper = graph.lower[rows, knots], graph.upper[rows, knots]
    width = upper - lower
    inside = np.minimum(a[:n] - lower, upper - a[:n]) / np.where(width > 0.0, width, 1.0)
    inside = np.where(np.isfinite(width), np.clip(inside, 0.01, 1.0), 1.0)  # the least go first
    imbalance = 0.0  # sum of the changes of duals so far: the sum of duals is to stay the same
    for i in np.sort(at_knot[_dependent(spanned * inside[at_knot])]):
        below, above = a[i] - lower[i], upper[i] - a[i]
        to_lower = below + imbalance < above - imbalance
        imbalance += below if to_lower else -above
        imbalance = imbalance if np.isfinite(imbalance) else 0.0
        place[i] += 1 if to_lower else -1
    return place


def _dependent(A: Array) -> NDArray[np.int64]:
    """Return indices of columns without which the others are linearly independent."""
    if A.shape[1] == 0:
        return np.zeros(0, dtype=np.int64)
    triangle, order = scipy.linalg.qr(A, mode="r", pivoting=True)
    diagonal = np.abs(np.diagonal(triangle))
    rank = int((diagonal > RANK_TOLERANCE * diagonal.max(initial=0.0)).sum())
    return order[rank:]
