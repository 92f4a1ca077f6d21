"""The compiled sums of the systems: products with the map, refined solves, and their rounding."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ..twofold import accumulate, add, normalise


class Map(NamedTuple):
    """The map H = [gram R; R' -ridge] of a statement, and the scale of each unknown."""

    R: np.ndarray
    gram: np.ndarray  # without entries where the weights are variables
    ridge: np.ndarray
    scale: np.ndarray
    is_row: np.ndarray


class Direction(NamedTuple):
    """A point or its motion: z and a of all coordinates (2, N), with bounds on their rounding."""

    z: np.ndarray
    a: np.ndarray
    z_error: np.ndarray
    a_error: np.ndarray


@njit(cache=True)
def apply(m, sign, u, out):
    """Write H u in twofold precision: z of rows, R'a - ridge x of variables.

    Parameters
    ----------
    m : Map
    sign : (p,)
        Row of the l1 constraint: the signs of the weights that are not at a knot.
    u, out : (2, N)
        The unknowns (duals of rows, values of variables), and what they add up to.
    """
    R, gram, ridge = m.R, m.gram, m.ridge
    n, p = R.shape
    N = u.shape[1]
    out[:] = 0.0
    for i in range(n):
        h, e, a, b = 0.0, 0.0, u[0, i], u[1, i]
        for j in range(p):
            h, e = accumulate(h, e, R[i, j], u[0, n + j], u[1, n + j])
        if a != 0.0:
            for j in range(p):
                k = n + j
                out[0, k], out[1, k] = accumulate(out[0, k], out[1, k], R[i, j], a, b)
        out[0, i], out[1, i] = h, e
    for j in range(gram.shape[0]):  # whole rows of the symmetric matrix, which vectorise
        a, b = u[0, j], u[1, j]
        if a != 0.0:
            for i in range(n):
                out[0, i], out[1, i] = accumulate(out[0, i], out[1, i], gram[j, i], a, b)
    for j in range(p):
        k = n + j
        h, e = accumulate(out[0, k], out[1, k], -ridge[j], u[0, k], u[1, k])
        if n + p < N:
            h, e = accumulate(h, e, sign[j], u[0, N - 1], u[1, N - 1])
            out[0, N - 1], out[1, N - 1] = accumulate(
                out[0, N - 1], out[1, N - 1], sign[j], u[0, k], u[1, k]
            )
        out[0, k], out[1, k] = h, e
    for i in range(N):
        out[0, i], out[1, i] = normalise(out[0, i], out[1, i])


@njit(cache=True)
def magnitudes(m, sign, u, floor):
    """Return the sizes of u, of zeros too, and the sums of the absolute terms of H u."""
    R, gram, ridge, scale = m.R, m.gram, m.ridge, m.scale
    n, p = R.shape
    N = u.shape[1]
    size, total = np.empty(N), np.zeros(N)
    largest = 0.0
    for i in range(N):
        largest = max(largest, abs(u[0, i]) / scale[i])
    for i in range(N):
        size[i] = max(abs(u[0, i]), floor * largest * scale[i])
    for i in range(n):
        for j in range(p):
            x = abs(R[i, j])
            total[i] += x * size[n + j]
            total[n + j] += x * size[i]
    for j in range(gram.shape[0]):
        for i in range(n):
            total[i] += abs(gram[j, i]) * size[j]
    for j in range(p):
        total[n + j] += ridge[j] * size[n + j]
        if n + p < N:
            total[n + j] += abs(sign[j]) * size[N - 1]
            total[N - 1] += abs(sign[j]) * size[n + j]
    return size, total


@njit(cache=True)
def refine(m, here, unknown, inverse, target, u, r, slow):
    """Solve the equations of the unknown coordinates, with residuals in twofold precision.

    Returns
    -------
    accuracy : float
        Last correction, relative to the largest u, in scaled units.
    contraction : float
        Largest ratio of two corrections that count.
    """
    count = unknown.shape[0]
    rest = np.empty(count)
    last, accuracy, contraction = np.inf, 0.0, 0.0
    for _ in range(12):
        apply(m, here.sign, u, r)
        if count == 0:
            return 0.0, 0.0
        for k in range(count):
            i = unknown[k]
            h, e = target[0, i], target[1, i]
            h, e = accumulate(h, e, -here.first[i], r[0, i], r[1, i])
            h, e = accumulate(h, e, -here.second[i], u[0, i], u[1, i])
            rest[k] = (h + e) / here.first[i]
        step = inverse @ rest
        size, whole = 0.0, 0.0
        for k in range(count):
            i = unknown[k]
            u[0, i], u[1, i] = add(u[0, i], u[1, i], step[k], 0.0)
            size = max(size, abs(step[k]) / m.scale[i])
        for i in range(u.shape[1]):
            whole = max(whole, abs(u[0, i]) / m.scale[i])
        accuracy = size / whole if whole > 0.0 else 0.0
        if accuracy <= 2.0**-98:
            break
        if last < np.inf and accuracy > 2.0**-90:
            contraction = max(contraction, size / last)
        if size > slow * last:
            break
        last = size
    apply(m, here.sign, u, r)
    return accuracy, contraction


@njit(cache=True)
def direction(m, sign, widened, u, r, noise, blur, floor):
    """Return z and a of all coordinates, with bounds, from unknowns and what they add up to.

    Parameters
    ----------
    widened : int
        How many of the first variables have the multiplier of an l1 constraint in their pull.
    noise, blur : float
        Relative accuracy of the unknowns, and of sums over the map.
    """
    N, n = u.shape[1], m.R.shape[0]
    size, total = magnitudes(m, sign, u, floor)
    z, a, z_error, a_error = np.empty((2, N)), np.empty((2, N)), np.empty(N), np.empty(N)
    for i in range(N):
        if m.is_row[i]:
            z[0, i], z[1, i], a[0, i], a[1, i] = r[0, i], r[1, i], u[0, i], u[1, i]
            z_error[i], a_error[i] = blur * total[i], noise * size[i]
        else:
            h, e = r[0, i], r[1, i]
            if i - n < widened:  # the multiplier's share is not the penalty's own
                s = sign[i - n]
                h, e = add(h, e, -s * u[0, N - 1], -s * u[1, N - 1])
            z[0, i], z[1, i], a[0, i], a[1, i] = u[0, i], u[1, i], -h, -e
            z_error[i], a_error[i] = noise * size[i], blur * total[i]
    return Direction(z, a, z_error, a_error)
