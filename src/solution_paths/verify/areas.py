"""Points beside monotone graphs: their areas, distances, and what moves them; compiled.

Each pass reads room for one graph, and the pieces of n functions in B solutions as `problem.Pieces`
states them: knots (n, m, B or 1), slopes and curvature (n, m + 1, B or 1), values at the first knot
and ends of the domain (n, B or 1). Points are (4, n, B) arrays: hi and lo of a number, how far off
it is, and by how much it had to be moved into its range.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compilation import cached_njit, inner_njit
from .exact import UNIT, two_sum

# References to arrays aren't counted, which would cost more than the work: so none is made here.
# Units are positive: nothing is divided by 0.
OPTIONS = {"error_model": "numpy", "_nrt": False}
compiled, part = cached_njit(**OPTIONS), inner_njit(**OPTIONS)
inline = inner_njit(forceinline=True, **OPTIONS)  # a call would push all arrays of a tuple

# Rows of one graph: derivatives left and right of knots, curvature of segments; least and largest
# value and subgradient.
KNOT, LEFT, RIGHT, BEND, LEAST, MOST = range(6)
NEAREST = 1e-12  # of the values' unit: rows nearer to their graph than this are alike, ...
ALIKE = 1.0 + 2.0**-40  # ... and those that are nearer than others by less, which is rounding


# -- one graph, and a point beside it ------------------------------------------------------------


@inline
def _is_still(graphs):
    """Tell whether each graph is the same in all solutions."""
    _, knots, slopes, curvature, _, low, high = graphs
    moving = max(knots.shape[2], slopes.shape[2], curvature.shape[2], low.shape[1], high.shape[1])
    return moving == 1


@inline
def _read(graphs, i, b):
    """Write graph i of solution b; its mirror image is written when it is asked for.

    The derivative left of a knot is never above that right of it, by rounding.
    """
    own, knots, slopes, curvature, _, low, high = graphs
    m = knots.shape[1]
    g, s, c = (
        min(b, knots.shape[2] - 1),
        min(b, slopes.shape[2] - 1),
        min(b, curvature.shape[2] - 1),
    )
    own[0, BEND, 0] = curvature[i, 0, c]
    for k in range(m):
        knot, right, left = knots[i, k, g], slopes[i, k + 1, s], slopes[i, k, s]
        if k > 0:
            left += own[0, BEND, k] * (knot - own[0, KNOT, k - 1])
        own[0, KNOT, k], own[0, LEFT, k], own[0, RIGHT, k] = knot, min(left, right), right
        own[0, BEND, k + 1] = curvature[i, k + 1, c]
    own[0, LEAST, 0] = begin = low[i, min(b, low.shape[1] - 1)]
    own[0, MOST, 0] = end = high[i, min(b, high.shape[1] - 1)]
    bounded = begin == -np.inf and own[0, BEND, 0] == 0.0
    own[0, LEAST, 1] = own[0, LEFT, 0] if bounded else -np.inf
    bounded = end == np.inf and own[0, BEND, m] == 0.0
    own[0, MOST, 1] = own[0, RIGHT, m - 1] if bounded else np.inf
    own[1, MOST, 0] = 0.0
    # one sloping line without ends, a parabola's: half of one over its slope
    q, endless = own[0, BEND, 0], begin == -np.inf and end == np.inf
    straight = m == 1 and own[0, LEFT, 0] == own[0, RIGHT, 0] and q == own[0, BEND, 1]
    own[1, MOST, 1] = 0.5 / q if straight and endless and q > 0.0 else 0.0


@part
def _mirror(own):
    """Write the mirror image of a graph, if it isn't there."""
    m = own.shape[2] - 1
    if own[1, MOST, 0] == 1.0:
        return
    for k in range(m):
        own[1, KNOT, m - 1 - k] = -own[0, KNOT, k]
        own[1, LEFT, m - 1 - k], own[1, RIGHT, m - 1 - k] = -own[0, RIGHT, k], -own[0, LEFT, k]
        own[1, BEND, m - k] = own[0, BEND, k]
    own[1, BEND, 0], own[1, LEAST, 0], own[1, MOST, 0] = own[0, BEND, m], -own[0, MOST, 0], 1.0


@inline
def _plus(x, y, rest):
    """Return (x + y) + rest, rounded once."""
    s, e = two_sum(x, y)
    return s + (e + rest)


@inline
def _above(own, z, z_low, u, u_low):
    """Return by how much a sloping line is above a point, and how far z is from the knot."""
    dz = _plus(z, -own[0, KNOT, 0], z_low)
    return _plus(own[0, LEFT, 0], -u, -u_low) + own[0, BEND, 0] * dz, dz


@part
def _is_clear(own, z, by, u):
    """Tell whether a point is on a horizontal segment, and what is within ``by`` of it, too."""
    slope, flat = own[0, LEFT, 0], own[0, BEND, 0] == 0.0
    for k in range(own.shape[2] - 1):
        dz = z - own[0, KNOT, k]
        if abs(dz) <= by or own[0, BEND, k + 1] != 0.0:
            return False
        if dz > 0.0:
            slope = own[0, RIGHT, k]
    return flat and u == slope and z - by > own[0, LEAST, 0] and z + by < own[0, MOST, 0]


@part
def _beyond(own, side, z, z_low, u, u_low, z_per, u_per):
    """Return area and width of what lies at x < z with a derivative above u, and the distance.

    From z on, segment by segment. The nearest point is where a segment ends, or on a sloping one
    at u; its distance is the larger of the parts along z and u, each per unit, 0 if none is asked.
    """
    k = own.shape[2] - 1  # the segment that z is on, behind knot k - 1
    while k > 0 and _plus(z, -own[side, KNOT, k - 1], z_low) <= 0.0:
        k -= 1
    area, width, apart, across = 0.0, 0.0, np.inf, 0.0
    length = _plus(z, -own[side, KNOT, k - 1], z_low) if k > 0 else 0.0
    while k >= 0:
        q = own[side, BEND, k]
        if k > 0:
            top = _plus(own[side, RIGHT, k - 1], -u, -u_low) + q * length
        else:
            back = min(_plus(z, -own[side, KNOT, 0], z_low), 0.0)
            length = max(back + (own[side, KNOT, 0] - own[side, LEAST, 0]), 0.0)
            top = _plus(own[side, LEFT, 0], -u, -u_low) + q * back
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
            across = _plus(z, -own[side, KNOT, k], z_low)
            length = own[side, KNOT, k] - own[side, KNOT, max(k - 1, 0)]
    end = _plus(z, -own[side, LEAST, 0], z_low) if width > 0.0 else 0.0
    return area, width, min(apart, end * z_per)


@part
def _beside(own, z, z_low, u, u_low, z_per, u_per):
    """Return area, width and distance between a point and its graph, which is on one side of it."""
    area, width, far = _beyond(own, 0, z, z_low, u, u_low, z_per, u_per)
    if width > 0.0:
        return area, width, far
    _mirror(own)
    return _beyond(own, 1, -z, -z_low, -u, -u_low, z_per, u_per)


@inline
def _point(own, z, z_low, u, u_low, z_per, u_per):
    """Return the same; most graphs are lines."""
    if own[1, MOST, 1] == 0.0:
        return _beside(own, z, z_low, u, u_low, z_per, u_per)
    height, dz = _above(own, z, z_low, u, u_low)
    before, height = dz if height > 0.0 else -dz, abs(height)  # before the knot there is ...
    width = 2 * height * own[1, MOST, 1]
    far = min(height * u_per, width * z_per)
    if 0.0 < before < width:  # ... a point of the line, too, which ends a segment
        far = min(far, max(before * z_per, (height - own[0, BEND, 0] * before) * u_per))
    return height * width / 2, width, far


@part
def _within(low, hi, lo, high):
    """Return hi + lo moved between bounds, which may be infinite, in two parts, and how far."""
    hi, lo = two_sum(hi, lo)  # now hi alone tells the side
    below = (low - hi) - lo if np.isfinite(low) else -np.inf
    above = (hi - high) + lo if np.isfinite(high) else -np.inf
    if below > 0.0 or above > 0.0:
        return (low if below > 0.0 else high), 0.0, max(below, above)
    return min(max(hi, low), high), lo, 0.0


@part
def _largest(own, z, z_low, z_off, u, u_low, u_off, area):
    """Return the largest area if z and u are off by as much as they may be, each within its bounds.

    An area is convex in z, and in u: it is largest at a corner of what both may be. ``area`` is
    what it is at least. Where there is curvature levels are off by rounding of their terms, too.
    """
    size, bent = abs(u), own[0, BEND, 0] > 0.0
    for k in range(own.shape[2] - 1):
        size = max(size, abs(u) + abs(own[0, LEFT, k]), abs(u) + abs(own[0, RIGHT, k]))
        bent = bent or own[0, BEND, k + 1] > 0.0
    u_off = u_off + 2 * UNIT * size if bent else u_off
    for up in range(2 if u_off != 0.0 else 1):
        by = u_off if up == 1 else -u_off
        level, rest, _ = _within(own[0, LEAST, 1], u, u_low + by, own[0, MOST, 1])
        for way in range(2 if z_off != 0.0 else 1):
            by = z_off if way == 1 else -z_off
            at, low, _ = _within(own[0, LEAST, 0], z, z_low + by, own[0, MOST, 0])
            area = max(area, _beside(own, at, low, level, rest, 0.0, 0.0)[0])
    return area


@inline
def _rounding(own, z, z_low, z_off, u, u_low, u_off, area):
    """Return how far off an area may be, whatever z and u are within what they are off by.

    From a sloping line it is that of a triangle, of which the height is largest at a corner.
    """
    if own[1, MOST, 1] == 0.0:
        worst = _largest(own, z, z_low, z_off, u, u_low, u_off, area)
    else:
        height = abs(_above(own, z, z_low, u, u_low)[0]) + u_off + own[0, BEND, 0] * z_off
        height += 2 * UNIT * (abs(own[0, LEFT, 0]) + abs(u))
        worst = max(area, height * height * own[1, MOST, 1])
    return worst - area + 8 * UNIT * worst


@inline
def _most(found, other):
    """Return the larger of two numbers, nan if one is."""
    return other if other > found or np.isnan(other) else found


# -- passes over all points ----------------------------------------------------------------------


@compiled
def place(graphs: Any, sign: float, hi: Any, lo: Any, off: Any, dual: bool, out: Any) -> None:
    """Write numbers (n, B), or their negatives, as points in the domain or among subgradients.

    ``lo`` and ``off`` are empty if they are zero.
    """
    own, still = graphs[0], _is_still(graphs)
    for i in range(hi.shape[0]):
        for b in range(hi.shape[1]):
            if b == 0 or not still:
                _read(graphs, i, b)
            k = 1 if dual else 0
            low = sign * lo[i, b] if len(lo) else 0.0
            found = _within(own[0, LEAST, k], sign * hi[i, b], low, own[0, MOST, k])
            out[0, i, b], out[1, i, b], out[3, i, b] = found
            out[2, i, b] = off[i, b] if len(off) else 0.0


@part
def _value(own, z, z_low, off):
    """Return f(z) less its value at the first knot, how far off it may be, and its terms' sizes.

    It changes by no more than the steepest slope makes of ``off``, at either end of what z may be.
    """
    m, dz = own.shape[2] - 1, _plus(z, -own[0, KNOT, 0], z_low)
    back, q = min(dz, 0.0), own[0, BEND, 0]
    before, behind = own[0, LEFT, 0] * back + q * (back * back) / 2, 0.0
    size = abs(before)
    less = more = own[0, LEFT, 0] + q * back
    less, more = less - q * off, more + q * off
    for k in range(m):
        dz = _plus(z, -own[0, KNOT, k], z_low)
        end = own[0, KNOT, k + 1] if k + 1 < m else own[0, MOST, 0]
        length = min(max(dz, 0.0), end - own[0, KNOT, k])
        slope, q = own[0, RIGHT, k], own[0, BEND, k + 1]
        part = length * (slope + q * length / 2)
        behind, size = behind + part, size + abs(part)
        if dz + off >= 0.0:
            more = slope + q * (dz + off)
        if dz - off >= 0.0:
            less = slope + q * (dz - off)
    return before, behind, off * max(abs(less), abs(more)), size


@compiled
def values(graphs: Any, z: Any, out: Any) -> None:
    """Add up functions at points z, in their domains: (5, B).

    The sum in two parts, that of sizes, how far off it may be beside them, and the largest |z|.
    """
    own, still = graphs[0], _is_still(graphs)
    for i in range(z.shape[1]):
        for b in range(z.shape[2]):
            if b == 0 or not still:
                _read(graphs, i, b)
            at_knot = graphs[4][i, min(b, graphs[4].shape[1] - 1)]
            before, behind, moved, size = _value(own, z[0, i, b], z[1, i, b], z[2, i, b])
            found = at_knot + before + behind
            out[0, b], rest = two_sum(out[0, b], found)
            out[1, b] += rest
            out[2, b] += abs(found)
            out[3, b] += moved + 8 * UNIT * (size + abs(at_knot))
            out[4, b] = _most(out[4, b], abs(z[0, i, b]))


@part
def _cost(own, z, z_low, u, u_low, by):
    """Return the distance along z if u is changed by so much; inf where that is out of range."""
    level, rest, outside = _within(own[0, LEAST, 1], u, u_low + by, own[0, MOST, 1])
    return np.inf if outside > 0.0 else _point(own, z, z_low, level, rest, 0.0, 0.0)[1]


@compiled
def costs(
    graphs: Any,
    z: Any,
    u: Any,
    room: Any,
    out: Any,
) -> None:
    """Write what it costs to change each dual by ``room`` (B,) either way, (2, n, B)."""
    own, still = graphs[0], _is_still(graphs)
    for i in range(z.shape[1]):
        for b in range(z.shape[2]):
            if b == 0 or not still:
                _read(graphs, i, b)
            for side in range(2):
                by = room[b] if side else -room[b]
                out[side, i, b] = _cost(own, z[0, i, b], z[1, i, b], u[0, i, b], u[1, i, b], by)


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
    """Write which row costs least, relative to its entry of a column (n,), of those with room.

    ``out`` (2, 3, B) holds, of rows with room on both sides and of all, how near the best one is,
    its place and its cost; ``per`` is one over the units of z (B,).
    """
    own, still = graphs[0], _is_still(graphs)
    best = 0.0
    for i in range(len(column)):
        best = max(best, abs(column[i]))
    for i in range(z.shape[1]):
        size, fresh = abs(column[i]), False
        if size == 0.0:
            continue
        for b in range(z.shape[2]):
            if out[0, 2, b] == 0.0 and out[0, 0, b] == best / NEAREST:
                continue  # none is nearer
            if not (still and fresh):
                _read(graphs, i, b)
                fresh = True
            at = z[0, i, b], z[1, i, b], u[0, i, b], u[1, i, b]
            less, more = _cost(own, *at, -room[b]) * per[b], _cost(own, *at, room[b]) * per[b]
            cost = max(less, more)
            for kind in range(2):
                if kind == 1 and cost == np.inf:
                    cost = min(less, more)
                if size > ALIKE * out[kind, 0, b] * (cost + NEAREST) and cost < np.inf:
                    out[kind, 0, b], out[kind, 1, b] = size / (cost + NEAREST), i
                    out[kind, 2, b] = cost / per[b]


@compiled
def weigh(
    graphs: Any,
    z: Any,
    u: Any,
    given: Any,
    per: Any,
    alone: Any,
    size: Any,
    coarse: Any,
    out: Any,
) -> None:
    """Add what points (z, u) contribute to a judgement, of which ``given`` are violations: (10, B).

    In the order of `graph.Share`. One over the units of z and u is ``per`` (2, B), over those of
    each point ``alone`` (2, n, B); ``size`` (n, B or 1) is what rounding of data makes of z,
    ``coarse`` (2, n, B) what rounding of the answer makes of z and u. Each of these three may be
    empty.
    """
    own, still = graphs[0], _is_still(graphs)
    for i in range(z.shape[1]):
        for b in range(z.shape[2]):
            if b == 0 or not still:
                _read(graphs, i, b)
            zh, zl, z_off, z_out = z[0, i, b], z[1, i, b], z[2, i, b], z[3, i, b]
            uh, ul, u_off, u_out = u[0, i, b], u[1, i, b], u[2, i, b], u[3, i, b]
            gh, gl, g_out = given[0, i, b], given[1, i, b], given[3, i, b]
            z_per, u_per = per[0, b], per[1, b]
            own_size = size[i, min(b, size.shape[1] - 1)] if len(size) else 0.0
            cz, cu = (coarse[0, i, b], coarse[1, i, b]) if len(coarse) else (0.0, 0.0)
            still_there = gh == uh and gl == ul == u_off == cu == z_out == u_out == g_out == 0.0
            still_there = still_there and own[1, MOST, 1] == 0.0
            if still_there and _is_clear(own, zh, 2 * (max(z_off, own_size, cz) + abs(zl)), uh):
                out[7, b] += abs(uh) * own_size
                out[6, b] = _most(out[6, b], cz * z_per)
                continue
            area, _, far = _point(own, zh, zl, uh, ul, z_per, u_per)
            doubt = _rounding(own, zh, zl, z_off, uh, ul, u_off, area)
            counted = u_off > 0.0 or doubt > 8 * UNIT * area
            if len(size):
                floor = _rounding(own, zh, zl, own_size, uh, ul, 0.0, area)
                out[7, b] += max(abs(uh) * own_size, floor)
            if len(coarse):
                out[5, b] += _rounding(own, zh, zl, cz, uh, ul, cu, area)
                out[6, b] = _most(out[6, b], cz * z_per + cu * u_per)
            if z_out > 0.0:  # what it takes to come into the domain
                area, doubt = area + abs(uh) * z_out, doubt + abs(uh) * z_off
            if u_out > 0.0:
                area, doubt = area + abs(zh) * u_out, doubt + abs(zh) * u_off
            if not np.isfinite(zh + uh):
                area = np.nan
            out[0, b] += area
            out[1, b] += doubt
            if gh != uh or gl != ul:
                _, _, far = _point(own, zh, zl, gh, gl, z_per, u_per)
            outer = max(z_out * z_per, g_out * u_per)
            wrong = max(far, outer) + 0.0 * area  # nan if that is
            out[4, b], out[2, b] = _most(out[4, b], outer), _most(out[2, b], wrong)
            if counted:
                out[3, b] = _most(out[3, b], z_off * z_per + u_off * u_per)
            if len(alone):
                z_per, u_per = alone[0, i, b], alone[1, i, b]
                _, _, far = _point(own, zh, zl, gh, gl, z_per, u_per)
                wrong = max(far, z_out * z_per, g_out * u_per) + 0.0 * area
                out[8, b] = _most(out[8, b], wrong)
                if counted:
                    out[9, b] = _most(out[9, b], z_off * z_per + u_off * u_per)
