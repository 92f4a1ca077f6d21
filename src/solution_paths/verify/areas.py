"""Areas and distances between points and monotone graphs; compiled.

Each pass takes a tuple `graphs`: a work array for one graph and its mirror image, then the pieces
of n functions in B solutions as `problem.Pieces` states them: knots (n, m, B or 1), slopes and
curvature (n, m + 1, B or 1), values at the first knot and ends of the domain (n, B or 1). Points
are (4, n, B) arrays: hi and lo of a number, a bound of its error, and how far it was moved into
its range.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compilation import cached_njit, inner_njit
from .exact import UNIT, two_sum

# Reference counts of arrays would cost more than the work: they are off, and no array is made here.
# Units are positive, so no division is by 0.
OPTIONS = {"error_model": "numpy", "_nrt": False}
compiled, part = cached_njit(**OPTIONS), inner_njit(**OPTIONS)
inline = inner_njit(forceinline=True, **OPTIONS)  # a call would push every array of a tuple

# Rows of a graph's table: knots, derivatives left and right of them, curvature of segments; least
# and largest value and subgradient.
KNOT, LEFT, RIGHT, CURVATURE, LOW, HIGH = range(6)
NEAREST = 1e-12  # of the values' unit: smaller distances from the graph count as this one
ALIKE = 1.0 + 2.0**-40  # ratio up to which two rows count as equally near: it may be rounding


# -- one graph, and a point beside it ------------------------------------------------------------


@inline
def _is_still(graphs):
    """Tell whether each graph is the same in all solutions."""
    _, knots, slopes, curvature, _, low, high = graphs
    moving = max(knots.shape[2], slopes.shape[2], curvature.shape[2], low.shape[1], high.shape[1])
    return moving == 1


@inline
def _read(graphs, i, b):
    """Write graph i of solution b; `_mirror` writes its mirror image on demand.

    The derivative left of a knot is at most that right of it, in spite of rounding.
    """
    graph, knots, slopes, curvature, _, low, high = graphs
    m = knots.shape[1]
    g, s, c = (
        min(b, knots.shape[2] - 1),
        min(b, slopes.shape[2] - 1),
        min(b, curvature.shape[2] - 1),
    )
    graph[0, CURVATURE, 0] = curvature[i, 0, c]
    for k in range(m):
        knot, right, left = knots[i, k, g], slopes[i, k + 1, s], slopes[i, k, s]
        if k > 0:
            left += graph[0, CURVATURE, k] * (knot - graph[0, KNOT, k - 1])
        graph[0, KNOT, k], graph[0, LEFT, k], graph[0, RIGHT, k] = knot, min(left, right), right
        graph[0, CURVATURE, k + 1] = curvature[i, k + 1, c]
    graph[0, LOW, 0] = begin = low[i, min(b, low.shape[1] - 1)]
    graph[0, HIGH, 0] = end = high[i, min(b, high.shape[1] - 1)]
    bounded = begin == -np.inf and graph[0, CURVATURE, 0] == 0.0
    graph[0, LOW, 1] = graph[0, LEFT, 0] if bounded else -np.inf
    bounded = end == np.inf and graph[0, CURVATURE, m] == 0.0
    graph[0, HIGH, 1] = graph[0, RIGHT, m - 1] if bounded else np.inf
    graph[1, HIGH, 0] = 0.0
    # the graph of a parabola is one sloping line without ends: 1 / (2 slope), else 0
    q, endless = graph[0, CURVATURE, 0], begin == -np.inf and end == np.inf
    straight = m == 1 and graph[0, LEFT, 0] == graph[0, RIGHT, 0] and q == graph[0, CURVATURE, 1]
    graph[1, HIGH, 1] = 0.5 / q if straight and endless and q > 0.0 else 0.0


@part
def _mirror(graph):
    """Write the mirror image of a graph, unless it is there already."""
    m = graph.shape[2] - 1
    if graph[1, HIGH, 0] == 1.0:
        return
    for k in range(m):
        graph[1, KNOT, m - 1 - k] = -graph[0, KNOT, k]
        graph[1, LEFT, m - 1 - k], graph[1, RIGHT, m - 1 - k] = (
            -graph[0, RIGHT, k],
            -graph[0, LEFT, k],
        )
        graph[1, CURVATURE, m - k] = graph[0, CURVATURE, k]
    graph[1, CURVATURE, 0], graph[1, LOW, 0], graph[1, HIGH, 0] = (
        graph[0, CURVATURE, m],
        -graph[0, HIGH, 0],
        1.0,
    )


@inline
def _plus(x, y, rest):
    """Return (x + y) + rest, rounded once."""
    s, e = two_sum(x, y)
    return s + (e + rest)


@inline
def _above(graph, z, z_low, u, u_low):
    """Return the height of a sloping line above a point, and the distance of z from the knot."""
    dz = _plus(z, -graph[0, KNOT, 0], z_low)
    return _plus(graph[0, LEFT, 0], -u, -u_low) + graph[0, CURVATURE, 0] * dz, dz


@part
def _is_clear(graph, z, by, u):
    """Tell whether all points (x, u) with x within ``by`` of z lie on one horizontal segment."""
    slope, flat = graph[0, LEFT, 0], graph[0, CURVATURE, 0] == 0.0
    for k in range(graph.shape[2] - 1):
        dz = z - graph[0, KNOT, k]
        if abs(dz) <= by or graph[0, CURVATURE, k + 1] != 0.0:
            return False
        if dz > 0.0:
            slope = graph[0, RIGHT, k]
    return flat and u == slope and z - by > graph[0, LOW, 0] and z + by < graph[0, HIGH, 0]


@part
def _area_to_the_left(graph, side, z, z_low, u, u_low, z_per, u_per):
    """Return area and width of the region x < z, u < f'(x), and the distance from the graph.

    The sum goes from z to the left, segment by segment. The nearest point is an end of a segment,
    or the point of a sloping segment at height u. The distance is the larger of its components
    along z and u, times ``z_per`` and ``u_per`` (one over their units; 0 leaves a component out).
    """
    k = graph.shape[2] - 1  # the segment that z is on, behind knot k - 1
    while k > 0 and _plus(z, -graph[side, KNOT, k - 1], z_low) <= 0.0:
        k -= 1
    area, width, apart, across = 0.0, 0.0, np.inf, 0.0
    length = _plus(z, -graph[side, KNOT, k - 1], z_low) if k > 0 else 0.0
    while k >= 0:
        q = graph[side, CURVATURE, k]
        if k > 0:
            top = _plus(graph[side, RIGHT, k - 1], -u, -u_low) + q * length
        else:
            back = min(_plus(z, -graph[side, KNOT, 0], z_low), 0.0)
            length = max(back + (graph[side, KNOT, 0] - graph[side, LOW, 0]), 0.0)
            top = _plus(graph[side, LEFT, 0], -u, -u_low) + q * back
        if length > 0.0:
            if not top > 0.0:
                return area, width, min(apart, across * z_per)
            start = top - q * length if q > 0.0 else top
            part = length if start >= 0.0 else top / q
            area += part * (top + max(start, 0.0)) / 2
            width += part
            if u_per > 0.0:
                apart = min(apart, max(across * z_per, top * u_per))
                if q > 0.0:
                    behind = max(top - q * part, 0.0)
                    apart = min(apart, max((across + part) * z_per, behind * u_per))
            if start < 0.0:
                return area, width, apart
        k -= 1
        if k >= 0:
            across = _plus(z, -graph[side, KNOT, k], z_low)
            length = graph[side, KNOT, k] - graph[side, KNOT, max(k - 1, 0)]
    end = _plus(z, -graph[side, LOW, 0], z_low) if width > 0.0 else 0.0
    return area, width, min(apart, end * z_per)


@part
def _area_beside(graph, z, z_low, u, u_low, z_per, u_per):
    """Return area, width and distance between a point and its graph.

    The graph is monotone, so the area lies on one side of the point.
    """
    area, width, far = _area_to_the_left(graph, 0, z, z_low, u, u_low, z_per, u_per)
    if width > 0.0:
        return area, width, far
    _mirror(graph)
    return _area_to_the_left(graph, 1, -z, -z_low, -u, -u_low, z_per, u_per)


@inline
def _area_and_distance(graph, z, z_low, u, u_low, z_per, u_per):
    """Return the same as `_area_beside`, for one sloping line by formulas."""
    if graph[1, HIGH, 1] == 0.0:
        return _area_beside(graph, z, z_low, u, u_low, z_per, u_per)
    height, dz = _above(graph, z, z_low, u, u_low)
    before, height = dz if height > 0.0 else -dz, abs(height)
    width = 2 * height * graph[1, HIGH, 1]
    far = min(height * u_per, width * z_per)
    if 0.0 < before < width:  # the knot, an end of a segment, lies between z and the line
        far = min(far, max(before * z_per, (height - graph[0, CURVATURE, 0] * before) * u_per))
    return height * width / 2, width, far


@part
def _within(low, hi, lo, high):
    """Return hi + lo moved into [low, high], as a pair, and how far; bounds may be infinite."""
    hi, lo = two_sum(hi, lo)  # now the sign of hi decides the side
    below = (low - hi) - lo if np.isfinite(low) else -np.inf
    above = (hi - high) + lo if np.isfinite(high) else -np.inf
    if below > 0.0 or above > 0.0:
        return (low if below > 0.0 else high), 0.0, max(below, above)
    return min(max(hi, low), high), lo, 0.0


@part
def _largest(graph, z, z_low, z_error, u, u_low, u_error, area):
    """Return the largest area for z and u within their errors and their bounds.

    The area is convex in z and in u, so a corner of the rectangle of errors maximises it. ``area``
    is a lower bound. With curvature, levels also carry the rounding of their terms.
    """
    size, bent = abs(u), graph[0, CURVATURE, 0] > 0.0
    for k in range(graph.shape[2] - 1):
        size = max(size, abs(u) + abs(graph[0, LEFT, k]), abs(u) + abs(graph[0, RIGHT, k]))
        bent = bent or graph[0, CURVATURE, k + 1] > 0.0
    u_error = u_error + 2 * UNIT * size if bent else u_error
    for above in range(2 if u_error != 0.0 else 1):
        by = u_error if above == 1 else -u_error
        level, rest, _ = _within(graph[0, LOW, 1], u, u_low + by, graph[0, HIGH, 1])
        for right in range(2 if z_error != 0.0 else 1):
            by = z_error if right == 1 else -z_error
            at, low, _ = _within(graph[0, LOW, 0], z, z_low + by, graph[0, HIGH, 0])
            area = max(area, _area_beside(graph, at, low, level, rest, 0.0, 0.0)[0])
    return area


@inline
def _rounding(graph, z, z_low, z_error, u, u_low, u_error, area):
    """Return a bound of an area's error, for z and u anywhere within their errors.

    Beside a sloping line the area is a triangle, whose height is largest at a corner.
    """
    if graph[1, HIGH, 1] == 0.0:
        largest = _largest(graph, z, z_low, z_error, u, u_low, u_error, area)
    else:
        height = (
            abs(_above(graph, z, z_low, u, u_low)[0]) + u_error + graph[0, CURVATURE, 0] * z_error
        )
        height += 2 * UNIT * (abs(graph[0, LEFT, 0]) + abs(u))
        largest = max(area, height * height * graph[1, HIGH, 1])
    return largest - area + 8 * UNIT * largest


@inline
def _larger(value, other):
    """Return the larger of two numbers, nan if one is."""
    return other if other > value or np.isnan(other) else value


# -- passes over all points ----------------------------------------------------------------------


@compiled
def place(graphs: Any, sign: float, hi: Any, lo: Any, error: Any, dual: bool, out: Any) -> None:
    """Write numbers (n, B) times ``sign`` as points, moved into the domain (or that of the dual).

    ``lo`` and ``error`` are empty if they are zero.
    """
    graph, still = graphs[0], _is_still(graphs)
    for i in range(hi.shape[0]):
        for b in range(hi.shape[1]):
            if b == 0 or not still:
                _read(graphs, i, b)
            k = 1 if dual else 0
            low = sign * lo[i, b] if len(lo) else 0.0
            point = _within(graph[0, LOW, k], sign * hi[i, b], low, graph[0, HIGH, k])
            out[0, i, b], out[1, i, b], out[3, i, b] = point
            out[2, i, b] = error[i, b] if len(error) else 0.0


@part
def _value(graph, z, z_low, error):
    """Return f(z) minus the value at the first knot, in two terms, its error, and its terms' size.

    The third is the error of z times the steepest slope at the ends of [z - error, z + error].
    """
    m, dz = graph.shape[2] - 1, _plus(z, -graph[0, KNOT, 0], z_low)
    back, q = min(dz, 0.0), graph[0, CURVATURE, 0]
    before, behind = graph[0, LEFT, 0] * back + q * (back * back) / 2, 0.0
    size = abs(before)
    slope_below = slope_above = graph[0, LEFT, 0] + q * back
    slope_below, slope_above = slope_below - q * error, slope_above + q * error
    for k in range(m):
        dz = _plus(z, -graph[0, KNOT, k], z_low)
        end = graph[0, KNOT, k + 1] if k + 1 < m else graph[0, HIGH, 0]
        length = min(max(dz, 0.0), end - graph[0, KNOT, k])
        slope, q = graph[0, RIGHT, k], graph[0, CURVATURE, k + 1]
        part = length * (slope + q * length / 2)
        behind, size = behind + part, size + abs(part)
        if dz + error >= 0.0:
            slope_above = slope + q * (dz + error)
        if dz - error >= 0.0:
            slope_below = slope + q * (dz - error)
    return before, behind, error * max(abs(slope_below), abs(slope_above)), size


@compiled
def values(graphs: Any, z: Any, out: Any) -> None:
    """Add up functions at points z of their domains, (5, B).

    The rows are the sum as hi and lo, the sum of absolute terms, the error from their evaluation,
    and the largest |z|.
    """
    graph, still = graphs[0], _is_still(graphs)
    for i in range(z.shape[1]):
        for b in range(z.shape[2]):
            if b == 0 or not still:
                _read(graphs, i, b)
            at_knot = graphs[4][i, min(b, graphs[4].shape[1] - 1)]
            before, behind, moved, size = _value(graph, z[0, i, b], z[1, i, b], z[2, i, b])
            value = at_knot + before + behind
            out[0, b], rest = two_sum(out[0, b], value)
            out[1, b] += rest
            out[2, b] += abs(value)
            out[3, b] += moved + 8 * UNIT * (size + abs(at_knot))
            out[4, b] = _larger(out[4, b], abs(z[0, i, b]))


@part
def _cost(graph, z, z_low, u, u_low, by):
    """Return the distance along z after u changes by ``by``; inf where u leaves its range."""
    level, rest, outside = _within(graph[0, LOW, 1], u, u_low + by, graph[0, HIGH, 1])
    return (
        np.inf if outside > 0.0 else _area_and_distance(graph, z, z_low, level, rest, 0.0, 0.0)[1]
    )


@compiled
def costs(
    graphs: Any,
    z: Any,
    u: Any,
    room: Any,
    out: Any,
) -> None:
    """Write the distances (2, n, B) after each dual changes by ``room`` (B,) down, and up."""
    graph, still = graphs[0], _is_still(graphs)
    for i in range(z.shape[1]):
        for b in range(z.shape[2]):
            if b == 0 or not still:
                _read(graphs, i, b)
            for side in range(2):
                by = room[b] if side else -room[b]
                out[side, i, b] = _cost(graph, z[0, i, b], z[1, i, b], u[0, i, b], u[1, i, b], by)


@compiled
def cheapest(
    graphs: Any,
    z: Any,
    u: Any,
    column: Any,
    room: Any,
    per: Any,
    out: Any,
) -> None:
    """Write the row whose dual can change at least cost, relative to its entry of a column (n,).

    ``out`` (2, 3, B) holds for the best row its entry over its cost, its index and its cost: first
    among rows whose dual can change by ``room`` both ways, then among rows where one way will do.
    ``per`` is one over the units of z (B,).
    """
    graph, still = graphs[0], _is_still(graphs)
    best = 0.0
    for i in range(len(column)):
        best = max(best, abs(column[i]))
    for i in range(z.shape[1]):
        size, fresh = abs(column[i]), False
        if size == 0.0:
            continue
        for b in range(z.shape[2]):
            if out[0, 2, b] == 0.0 and out[0, 0, b] == best / NEAREST:
                continue  # no row can be better
            if not (still and fresh):
                _read(graphs, i, b)
                fresh = True
            at = z[0, i, b], z[1, i, b], u[0, i, b], u[1, i, b]
            less, more = _cost(graph, *at, -room[b]) * per[b], _cost(graph, *at, room[b]) * per[b]
            cost = max(less, more)
            for kind in range(2):
                if kind == 1 and cost == np.inf:
                    cost = min(less, more)
                if size > ALIKE * out[kind, 0, b] * (cost + NEAREST) and cost < np.inf:
                    out[kind, 0, b], out[kind, 1, b] = size / (cost + NEAREST), i
                    out[kind, 2, b] = cost / per[b]


@compiled
def contribute(
    graphs: Any,
    z: Any,
    u: Any,
    given: Any,
    per: Any,
    per_coordinate: Any,
    data_error: Any,
    answer_error: Any,
    out: Any,
) -> None:
    """Add the contribution of points (z, u) to a judgement, (10, B), as `graph.Contribution`.

    Violations are those of (z, given). ``per`` (2, B) is one over the units of z and u,
    ``per_coordinate`` (2, n, B) one over each coordinate's own units. ``data_error`` (n, B or 1) is
    the error of z from rounding of the data; ``answer_error`` (2, n, B) are those of z and u from
    rounding of the answer. The last three may be empty.
    """
    graph, still = graphs[0], _is_still(graphs)
    for i in range(z.shape[1]):
        for b in range(z.shape[2]):
            if b == 0 or not still:
                _read(graphs, i, b)
            zh, zl, z_error, z_outside = z[0, i, b], z[1, i, b], z[2, i, b], z[3, i, b]
            uh, ul, u_error, u_outside = u[0, i, b], u[1, i, b], u[2, i, b], u[3, i, b]
            gh, gl, g_outside = given[0, i, b], given[1, i, b], given[3, i, b]
            z_per, u_per = per[0, b], per[1, b]
            row_error = data_error[i, min(b, data_error.shape[1] - 1)] if len(data_error) else 0.0
            cz, cu = (
                (answer_error[0, i, b], answer_error[1, i, b]) if len(answer_error) else (0.0, 0.0)
            )
            unmoved = (
                gh == uh and gl == ul == u_error == cu == z_outside == u_outside == g_outside == 0.0
            )
            unmoved = unmoved and graph[1, HIGH, 1] == 0.0
            if unmoved and _is_clear(graph, zh, 2 * (max(z_error, row_error, cz) + abs(zl)), uh):
                out[7, b] += abs(uh) * row_error
                out[6, b] = _larger(out[6, b], cz * z_per)
                continue
            area, _, far = _area_and_distance(graph, zh, zl, uh, ul, z_per, u_per)
            area_error = _rounding(graph, zh, zl, z_error, uh, ul, u_error, area)
            counted = u_error > 0.0 or area_error > 8 * UNIT * area
            if len(data_error):
                floor = _rounding(graph, zh, zl, row_error, uh, ul, 0.0, area)
                out[7, b] += max(abs(uh) * row_error, floor)
            if len(answer_error):
                out[5, b] += _rounding(graph, zh, zl, cz, uh, ul, cu, area)
                out[6, b] = _larger(out[6, b], cz * z_per + cu * u_per)
            if z_outside > 0.0:  # the cost of moving into the domain
                area, area_error = area + abs(uh) * z_outside, area_error + abs(uh) * z_error
            if u_outside > 0.0:
                area, area_error = area + abs(zh) * u_outside, area_error + abs(zh) * u_error
            if not np.isfinite(zh + uh):
                area = np.nan
            out[0, b] += area
            out[1, b] += area_error
            if gh != uh or gl != ul:
                _, _, far = _area_and_distance(graph, zh, zl, gh, gl, z_per, u_per)
            outer = max(z_outside * z_per, g_outside * u_per)
            wrong = max(far, outer) + 0.0 * area  # nan if that is
            out[4, b], out[2, b] = _larger(out[4, b], outer), _larger(out[2, b], wrong)
            if counted:
                out[3, b] = _larger(out[3, b], z_error * z_per + u_error * u_per)
            if len(per_coordinate):
                z_per, u_per = per_coordinate[0, i, b], per_coordinate[1, i, b]
                _, _, far = _area_and_distance(graph, zh, zl, gh, gl, z_per, u_per)
                wrong = max(far, z_outside * z_per, g_outside * u_per) + 0.0 * area
                out[8, b] = _larger(out[8, b], wrong)
                if counted:
                    out[9, b] = _larger(out[9, b], z_error * z_per + u_error * u_per)
