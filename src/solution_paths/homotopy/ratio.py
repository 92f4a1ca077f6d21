"""The ratio test: which coordinate is the first to leave its place; and what a step records."""

from __future__ import annotations

import numpy as np
from numba import njit

from .twofold import add, divide, moved

NEXT = 1.0 + 2.0**-50  # so that rounding does not exclude the nearest one itself
TINY = 2.0**-96  # what a limit itself is rounded to


@njit(cache=True)
def first_exit(here, is_row, scale, widened, point, motion, t, sign, left, by_index):
    """Find the first coordinate that reaches a limit of its place.

    Parameters
    ----------
    here : Here
    is_row, scale : (N,)
    widened : (int, int)
        Range of the coordinates whose knots an l1 constraint's multiplier widens.
    point, motion : Direction
    t : (float, float)
    sign : float
        1 upwards, -1 downwards; 0 along a null vector, while t stands still.
    left : (float, float)
        Distance to the end of the walk.
    by_index : bool
        Take the smallest index among ties, not the fastest coordinate.

    Returns
    -------
    i, side : int
        Which coordinate reaches which limit (0 lower, 1 upper); i = -1: none before the end.
    step : (float, float)
    """
    N = is_row.shape[0]
    way = 1.0 if sign == 0.0 else sign
    room, closing, weight = np.empty((2, 2, N)), np.empty((2, 2, N)), np.empty(N)
    bound = left[0]
    for side in range(2):
        rows = here.upper if side else here.lower
        outward = 1.0 if side else -1.0
        limits = moved(rows, t[0], t[1])
        for i in range(N):
            closing[side, 0, i] = -1.0
            if not np.isfinite(limits[0, i]):
                continue
            knot = here.at_knot[i]
            dx, dxe = (motion.a[0, i], motion.a[1, i]) if knot else (motion.z[0, i], motion.z[1, i])
            x, xe = (point.a[0, i], point.a[1, i]) if knot else (point.z[0, i], point.z[1, i])
            noise = motion.a_error[i] if knot else motion.z_error[i]
            error = point.a_error[i] if knot else point.z_error[i]
            drift, drift_e = sign * rows[i, 2], sign * rows[i, 3]
            limit, limit_e = limits[0, i], limits[1, i]
            noise, error = noise + TINY * abs(drift), error + TINY * abs(limit)
            if knot and widened[0] <= i < widened[1]:
                limit, limit_e = add(
                    limit, limit_e, -outward * point.a[0, N - 1], -outward * point.a[1, N - 1]
                )
                drift, drift_e = add(
                    drift,
                    drift_e,
                    -outward * way * motion.a[0, N - 1],
                    -outward * way * motion.a[1, N - 1],
                )
                noise, error = noise + motion.a_error[N - 1], error + point.a_error[N - 1]
            h, e = add(way * dx, way * dxe, -drift, -drift_e)
            h, e = outward * h, outward * e
            if h <= noise:
                continue
            closing[side, 0, i], closing[side, 1, i] = h, e
            h, e = add(limit, limit_e, -x, -xe)
            h, e = outward * h, outward * e
            if h <= error:
                h, e = 0.0, 0.0
            room[side, 0, i], room[side, 1, i] = h, e
            bound = min(bound, (h + error) / closing[side, 0, i])
            weight[i] = 1.0 / scale[i] if knot == is_row[i] else scale[i]
    chosen, chosen_side, best = -1, 0, -1.0
    for i in range(N):
        for side in range(2):
            if closing[side, 0, i] <= 0.0 or room[side, 0, i] > bound * closing[side, 0, i] * NEXT:
                continue
            if by_index and chosen >= 0:
                continue
            speed = closing[side, 0, i] * weight[i]
            if speed > best:
                best, chosen, chosen_side = speed, i, side
    if chosen < 0:
        return -1, 0, left
    i, side = chosen, chosen_side
    step = divide(room[side, 0, i], room[side, 1, i], closing[side, 0, i], closing[side, 1, i])
    h, e = add(step[0], step[1], -left[0], -left[1])
    if h + e > 0.0:
        return -1, 0, left
    return chosen, chosen_side, step


@njit(cache=True)
def recorded(here, is_row, point, t):
    """Return the unknowns of a point; rounding takes none of them beyond its place's limits."""
    N = is_row.shape[0]
    u = np.empty((2, N))
    lower, upper = moved(here.lower, t[0], t[1]), moved(here.upper, t[0], t[1])
    for i in range(N):
        x, e = point.a[0, i], point.a[1, i]
        if not is_row[i]:
            x, e = point.z[0, i], point.z[1, i]
        if here.at_knot[i] == is_row[i]:  # others' limits are not those of u
            if x - lower[0, i] + (e - lower[1, i]) < 0.0:
                x, e = lower[0, i], lower[1, i]
            elif upper[0, i] - x + (upper[1, i] - e) < 0.0:
                x, e = upper[0, i], upper[1, i]
        u[0, i], u[1, i] = x, e
    return u
