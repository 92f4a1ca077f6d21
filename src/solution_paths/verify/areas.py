"""Areas between points and monotone graphs, and distances of the points; compiled."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..compilation import cached_njit, inner_njit, read_only
from ..exact import UNIT, two_sum

# units are positive: nothing is divided by 0
compiled = partial(cached_njit, error_model="numpy")
inline = partial(inner_njit, error_model="numpy", forceinline=True, _nrt=False)


@inline
def _plus(x, y, rest):
    """Return (x + y) + rest, rounded once."""
    s, e = two_sum(x, y)
    return s + (e + rest)


@inline
def _over(top, length, q):
    """Return area and width of a line of slope q that ends, after a length, at top.

    Of its part above zero.
    """
    if not (top > 0 and length > 0):
        return 0.0, 0.0
    start = top - q * length if q > 0 else top
    if start >= 0:
        return length * (start + top) / 2, length
    return (top / q) * top / 2, top / q


@inline
def _nearer(found, across, height, z_unit, u_unit):
    """Return the least of a distance and that of a point so far across, and so much below."""
    return min(found, max(across / z_unit, max(height, 0.0) / u_unit))


@inline
def _point(knots, left, right, curvature, low, high, i, b, zh, zl, uh, ul, z_unit, u_unit):
    """Return area, width and distance between graph i and one point, in solution b."""
    m = knots.shape[1]
    g, c = min(b, knots.shape[2] - 1), min(b, curvature.shape[2] - 1)
    d, e = min(b, left.shape[2] - 1), min(b, low.shape[1] - 1)
    total, wide, far = 0.0, 0.0, 0.0
    for mirror in range(2):
        s = -1.0 if mirror else 1.0
        z, z_low, u, u_low = s * zh, s * zl, s * uh, s * ul
        begin, end = (-high[i, e], -low[i, e]) if mirror else (low[i, e], high[i, e])
        first = m - 1 if mirror else 0
        # segment 0, which ends at the first knot; it may begin at minus infinity
        q = curvature[i, m if mirror else 0, c]
        knot = s * knots[i, first, g]
        slope = -right[i, first, d] if mirror else left[i, first, d]
        dz = _plus(z, -knot, z_low)
        back = min(dz, 0.0)
        top = _plus(slope, -u, -u_low) + q * back
        length = max(back + (knot - begin), 0.0)
        area, width = _over(top, length, q)
        highest, across = top if length > 0.0 else 0.0, max(dz, 0.0)
        # the nearest point is where a segment ends, or on a sloping one at u
        apart = _nearer(np.inf, _plus(z, -begin, z_low), 0.0, z_unit, u_unit)
        apart = _nearer(apart, across, top, z_unit, u_unit)
        if q > 0.0:
            apart = _nearer(apart, across + width, top - q * width, z_unit, u_unit)
        for k in range(m):  # the others begin at a knot: at its right derivative
            own = m - 1 - k if mirror else k
            knot = s * knots[i, own, g]
            behind = end
            if k + 1 < m:
                behind = s * knots[i, own - 1 if mirror else own + 1, g]
            dz = _plus(z, -knot, z_low)
            length = min(max(dz, 0.0), behind - knot)
            if not length > 0.0:
                continue
            q = curvature[i, m - 1 - k if mirror else k + 1, c]
            slope = -left[i, own, d] if mirror else right[i, own, d]
            top = _plus(slope, -u, -u_low) + q * length
            a, w = _over(top, length, q)
            area, width, highest, across = area + a, width + w, top, dz - length
            apart = _nearer(apart, across, top, z_unit, u_unit)
            if q > 0.0:
                apart = _nearer(apart, across + w, top - q * w, z_unit, u_unit)
        total, wide = total + area, wide + width
        if highest > 0.0:
            far = max(far, apart)
    return total, wide, far


@compiled
def areas(
    knots: Any,
    left: Any,
    right: Any,
    curvature: Any,
    low: Any,
    high: Any,
    zh: Any,
    zl: Any,
    uh: Any,
    ul: Any,
    units: Any,
    out: Any,
) -> None:
    """Write, for n graphs and B points each, area, width and distance between them, (3, n, B).

    On each side of z: where x < z and the derivative is above u, and in the mirror image. The
    numbers of graphs are (n, m or m + 1, B or 1), ends of domains (n, B or 1), z and u pairs. The
    distance is the larger of its parts along z and along u, in their units (2, n or 1, B).
    """
    for i in range(knots.shape[0]):
        h = min(i, units.shape[1] - 1)
        for b in range(zh.shape[1]):
            z, z_low, u, u_low = zh[i, b], zl[i, b], uh[i, b], ul[i, b]
            out[0, i, b], out[1, i, b], out[2, i, b] = _point(
                knots,
                left,
                right,
                curvature,
                low,
                high,
                i,
                b,
                z,
                z_low,
                u,
                u_low,
                units[0, h, b],
                units[1, h, b],
            )


@inline
def _moved(hi, lo, by, low, high):
    """Return hi + lo + by, moved between bounds, in two parts."""
    hi, lo = two_sum(hi, lo + by)
    if (np.isfinite(low) and (low - hi) - lo > 0.0) or (
        np.isfinite(high) and (hi - high) + lo > 0.0
    ):
        lo = 0.0
    return min(max(hi, low), high), lo


@compiled
def widths(
    knots: Any,
    left: Any,
    right: Any,
    curvature: Any,
    low: Any,
    high: Any,
    zh: Any,
    zl: Any,
    uh: Any,
    ul: Any,
    by: Any,
    least: Any,
    most: Any,
    out: Any,
) -> None:
    """Write the distances along z if u is less and if it is more by so much, (2, n, B).

    They are inf where u would leave its bounds, ``least`` and ``most`` (n, B or 1).
    """
    for i in range(knots.shape[0]):
        for b in range(zh.shape[1]):
            z, z_low, f = zh[i, b], zl[i, b], min(b, least.shape[1] - 1)
            for side in range(2):
                u, u_low = two_sum(uh[i, b], ul[i, b] + (by[b] if side else -by[b]))
                if (np.isfinite(least[i, f]) and (least[i, f] - u) - u_low > 0.0) or (
                    np.isfinite(most[i, f]) and (u - most[i, f]) + u_low > 0.0
                ):
                    out[side, i, b] = np.inf
                    continue
                u = min(max(u, least[i, f]), most[i, f])
                _, out[side, i, b], _ = _point(
                    knots, left, right, curvature, low, high, i, b, z, z_low, u, u_low, 1.0, 1.0
                )


@inline
def _is_line(knots, left, right, curvature, low, high, i, b):
    """Tell whether graph i is one sloping line, without ends: f is a parabola."""
    if knots.shape[1] > 1:
        return False
    c, d = min(b, curvature.shape[2] - 1), min(b, left.shape[2] - 1)
    e, q = min(b, low.shape[1] - 1), curvature[i, 0, c]
    endless = np.isinf(low[i, e]) and np.isinf(high[i, e])
    return endless and q > 0.0 and q == curvature[i, 1, c] and left[i, 0, d] == right[i, 0, d]


@compiled
def largest_areas(
    knots: Any,
    left: Any,
    right: Any,
    curvature: Any,
    low: Any,
    high: Any,
    zh: Any,
    zl: Any,
    z_off: Any,
    uh: Any,
    ul: Any,
    u_off: Any,
    least: Any,
    most: Any,
    out: Any,
) -> None:
    """Write the largest area if z and u are off by as much as they may be, each within its bounds.

    An area is convex in z, and in u: it is largest at a corner of what both may be. From a sloping
    line it is that of a triangle, of which the height is largest there. ``out`` (n, B)
    holds what it is at least; ``least`` and ``most`` are bounds of u, (n, B or 1).
    """
    for i in range(knots.shape[0]):
        for b in range(zh.shape[1]):
            if _is_line(knots, left, right, curvature, low, high, i, b):
                q = curvature[i, 0, min(b, curvature.shape[2] - 1)]
                z = _plus(zh[i, b], -knots[i, 0, min(b, knots.shape[2] - 1)], zl[i, b])
                slope = left[i, 0, min(b, left.shape[2] - 1)]
                height = abs(_plus(slope, -uh[i, b], -ul[i, b]) + q * z)
                height += u_off[i, b] + q * z_off[i, b]
                out[i, b] = max(out[i, b], height * height / (2.0 * q))
                continue
            e, f = min(b, low.shape[1] - 1), min(b, least.shape[1] - 1)
            for up in range(2 if u_off[i, b] != 0.0 else 1):
                off = u_off[i, b] if up == 1 else -u_off[i, b]
                u, u_low = _moved(uh[i, b], ul[i, b], off, least[i, f], most[i, f])
                for way in range(2 if z_off[i, b] != 0.0 else 1):
                    off = z_off[i, b] if way == 1 else -z_off[i, b]
                    z, z_low = _moved(zh[i, b], zl[i, b], off, low[i, e], high[i, e])
                    area, _, _ = _point(
                        knots, left, right, curvature, low, high, i, b, z, z_low, u, u_low, 1.0, 1.0
                    )
                    out[i, b] = max(out[i, b], area)


@inline
def _integral(knots, left, right, curvature, high, i, b, z, z_low, by):
    """Return the integral of a derivative from the first knot to z + by, and its terms' sizes.

    It has two parts: before that knot, and behind it.
    """
    m = knots.shape[1]
    g, c = min(b, knots.shape[2] - 1), min(b, curvature.shape[2] - 1)
    d, e = min(b, left.shape[2] - 1), min(b, high.shape[1] - 1)
    back = min(_plus(z, -knots[i, 0, g], z_low) + by, 0.0)
    before = left[i, 0, d] * back + curvature[i, 0, c] * (back * back) / 2
    behind, terms = 0.0, 0.0
    for k in range(m):
        knot = knots[i, k, g]
        end = knots[i, k + 1, g] if k + 1 < m else high[i, e]
        length = min(max(_plus(z, -knot, z_low) + by, 0.0), end - knot)
        part = length * (right[i, k, d] + curvature[i, k + 1, c] * length / 2)
        behind, terms = behind + part, terms + abs(part)
    return before, behind, terms


@compiled
def values(
    knots: Any,
    left: Any,
    right: Any,
    curvature: Any,
    value: Any,
    high: Any,
    zh: Any,
    zl: Any,
    z_off: Any,
    out: Any,
) -> None:
    """Write functions at z, in their domains, and how far off they may be, (2, n, B)."""
    for i in range(knots.shape[0]):
        for b in range(zh.shape[1]):
            at_knot, z, z_low = value[i, min(b, value.shape[1] - 1)], zh[i, b], zl[i, b]
            found = moved = size = 0.0
            for way in range(3 if z_off[i, b] != 0.0 else 1):  # at z, and as far off as it may be
                by = 0.0 if way == 0 else z_off[i, b] if way == 1 else -z_off[i, b]
                before, behind, terms = _integral(
                    knots, left, right, curvature, high, i, b, z, z_low, by
                )
                there = at_knot + before + behind
                if way == 0:
                    found, size = there, abs(at_knot) + abs(before) + terms
                change = abs(there - found)
                if change > moved or np.isnan(change):
                    moved = change
            out[0, i, b], out[1, i, b] = found, moved + 8 * UNIT * size


def plain(x: Any, shape: tuple[int, ...] | None = None) -> Any:
    """Return an array of doubles as compiled code reads it."""
    x = np.asarray(x, dtype=np.float64)
    return read_only(x if shape is None else np.broadcast_to(x, shape))[0]
