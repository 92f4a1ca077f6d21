"""Writing the tables of graphs: equations and limits of all places, see `graphs`."""

from __future__ import annotations

import numpy as np

from ..compilation import cached_njit
from .compiled import lean
from .tolerances import HOLLOW
from .twofold import add, times


@cached_njit
def write(
    knots,
    slopes,
    curvature,
    closed,
    first,
    equation,
    lower,
    upper,
    bends,
    exists,
    hollow,
    still,
    single,
):
    """Write the tables of consecutive coordinates, from index ``first`` on."""
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
        single_point = closed[c, 0] and closed[c, 1]
        for part in range(4):
            single_point = single_point and equation[i, 1, part] == equation[i, 2 * m - 1, part]
        single[i] = single_point
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
    """Write a knot and the slopes on both sides of it; return whether they are equal."""
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
