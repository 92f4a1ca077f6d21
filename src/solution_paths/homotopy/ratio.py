"""The ratio test: which coordinate is the first to leave its place."""

from __future__ import annotations

import numpy as np
from numba import njit

from .twofold import add, divide

NEXT = 1.0 + 2.0**-50  # so that rounding does not exclude the nearest one itself


@njit(cache=True)
def first_exit(x, dx, limits, drift, error, noise, weight, left, by_index):
    """Find the first coordinate that reaches a limit of its place.

    Parameters
    ----------
    x, dx : (2, N)
        The watched quantities and their speeds in the direction of the walk.
    limits, drift : (2, 2, N)
        Lower and upper limits, and their speeds.
    error, noise : (N,)
        Bounds on the rounding of x and of dx.
    weight : (N,)
        What a speed is multiplied with to be compared with others.
    left : (float, float)
        Distance to the end of the walk; infinite along a null vector.
    by_index : bool
        Take the smallest index among ties, not the fastest coordinate.

    Returns
    -------
    i, side : int
        Which coordinate reaches which limit (0 lower, 1 upper); i = -1: none before the end.
    step : (float, float)
    """
    N = x.shape[1]
    room, closing = np.empty((2, 2, N)), np.empty((2, 2, N))
    bound = left[0]
    for side in range(2):
        for i in range(N):
            closing[side, 0, i] = -1.0
            if not np.isfinite(limits[side, 0, i]):
                continue
            h, e = add(dx[0, i], dx[1, i], -drift[side, 0, i], -drift[side, 1, i])
            h, e = (-h, -e) if side == 0 else (h, e)
            if h <= noise[i]:
                continue
            closing[side, 0, i], closing[side, 1, i] = h, e
            h, e = add(limits[side, 0, i], limits[side, 1, i], -x[0, i], -x[1, i])
            h, e = (-h, -e) if side == 0 else (h, e)
            if h <= error[i]:
                h, e = 0.0, 0.0
            room[side, 0, i], room[side, 1, i] = h, e
            bound = min(bound, (h + error[i]) / closing[side, 0, i])
    chosen, chosen_side, best = -1, 0, -1.0
    step = left
    for i in range(N):
        for side in range(2):
            if closing[side, 0, i] <= 0.0 or room[side, 0, i] > bound * closing[side, 0, i] * NEXT:
                continue
            if by_index and chosen >= 0:
                continue
            speed = closing[side, 0, i] * weight[i]
            if speed > best:
                best, chosen, chosen_side = speed, i, side
    if chosen >= 0:
        i, side = chosen, chosen_side
        step = divide(room[side, 0, i], room[side, 1, i], closing[side, 0, i], closing[side, 1, i])
        h, e = add(step[0], step[1], -left[0], -left[1])
        if h + e > 0.0:
            return -1, 0, left
    return chosen, chosen_side, step
