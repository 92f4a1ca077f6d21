"""The compiled sums of the systems: products with the map, and refined solves."""

from __future__ import annotations

import numpy as np
from numba import njit

from ..twofold import accumulate, add, normalise


@njit(cache=True)
def apply(R, gram, ridge, sign, u, out):
    """Write H u in twofold precision: z of rows, R'a - ridge x of variables.

    Parameters
    ----------
    R, gram, ridge
        The map; gram has no entries where the weights are variables.
    sign : (p,)
        Row of the l1 constraint: the signs of the weights that are not at a knot.
    u, out : (2, N)
        The unknowns (duals of rows, values of variables), and what they add up to.
    """
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
        for j in range(gram.shape[0]):
            h, e = accumulate(h, e, gram[i, j], u[0, j], u[1, j])
        out[0, i], out[1, i] = normalise(h, e)
    for j in range(p):
        k = n + j
        h, e = accumulate(out[0, k], out[1, k], -ridge[j], u[0, k], u[1, k])
        if n + p < N:
            h, e = accumulate(h, e, sign[j], u[0, N - 1], u[1, N - 1])
            out[0, N - 1], out[1, N - 1] = accumulate(
                out[0, N - 1], out[1, N - 1], sign[j], u[0, k], u[1, k]
            )
        out[0, k], out[1, k] = normalise(h, e)


@njit(cache=True)
def magnitudes(R, gram, ridge, sign, size, out):
    """Write the sums of the absolute terms of H u for |u| = size."""
    n, p = R.shape
    N = size.shape[0]
    out[:] = 0.0
    for i in range(n):
        total = 0.0
        for j in range(p):
            x = abs(R[i, j])
            total += x * size[n + j]
            out[n + j] += x * size[i]
        for j in range(gram.shape[0]):
            total += abs(gram[i, j]) * size[j]
        out[i] = total
    for j in range(p):
        out[n + j] += ridge[j] * size[n + j]
        if n + p < N:
            out[n + j] += abs(sign[j]) * size[N - 1]
            out[N - 1] += abs(sign[j]) * size[n + j]


@njit(cache=True)
def refine(R, gram, ridge, sign, unknown, inverse, first, second, target, scale, u, r, slow):
    """Solve the equations of the unknown coordinates, with residuals in twofold precision.

    Equation i reads first_i r_i + second_i u_i = target_i, r = H u; the known u stay as they are.

    Returns
    -------
    accuracy : float
        Last correction, relative to the largest u, in scaled units.
    contraction : float
        Largest ratio of two corrections that count.
    """
    m = unknown.shape[0]
    rest = np.empty(m)
    last, accuracy, contraction = np.inf, 0.0, 0.0
    for _ in range(12):
        apply(R, gram, ridge, sign, u, r)
        if m == 0:
            return 0.0, 0.0
        for k in range(m):
            i = unknown[k]
            h, e = target[0, i], target[1, i]
            h, e = accumulate(h, e, -first[i], r[0, i], r[1, i])
            h, e = accumulate(h, e, -second[i], u[0, i], u[1, i])
            rest[k] = (h + e) / first[i]
        step = inverse @ rest
        size, whole = 0.0, 0.0
        for k in range(m):
            i = unknown[k]
            u[0, i], u[1, i] = add(u[0, i], u[1, i], step[k], 0.0)
            size = max(size, abs(step[k]) / scale[i])
        for i in range(u.shape[1]):
            whole = max(whole, abs(u[0, i]) / scale[i])
        accuracy = size / whole if whole > 0.0 else 0.0
        if accuracy <= 2.0**-98:
            break
        if size < last and last < np.inf and accuracy > 2.0**-90:
            contraction = max(contraction, size / last)
        if size > slow * last:
            break
        last = size
    apply(R, gram, ridge, sign, u, r)
    return accuracy, contraction
