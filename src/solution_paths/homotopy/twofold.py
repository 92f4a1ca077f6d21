"""Numbers as unevaluated sums of two doubles, about 104 bits, in compiled code.

The error-free transformations are those of Dekker and Knuth, the running sums those of Ogita, Rump
and Oishi ("Accurate sum and dot product", 2005).
"""

from __future__ import annotations

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

inline = njit(forceinline=True)


@intrinsic
def fma(typing, a, b, c):
    """Return a * b + c, rounded once."""

    def generate(context, builder, signature, arguments):
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), generate


@inline
def two_sum(a, b):
    """Return a + b and its rounding error."""
    s = a + b
    z = s - a
    return s, (a - (s - z)) + (b - z)


@inline
def normalise(h, e):
    """Return the same sum with its first part rounded to nearest."""
    s = h + e
    return s, e - (s - h)


@inline
def add(ah, al, bh, bl):
    """Return a + b."""
    s, e = two_sum(ah, bh)
    return normalise(s, e + (al + bl))


@inline
def times(ah, al, bh, bl):
    """Return a * b."""
    p = ah * bh
    return normalise(p, fma(ah, bh, -p) + (ah * bl + al * bh))


@inline
def divide(ah, al, bh, bl):
    """Return a / b."""
    q = ah / bh
    rest = fma(-q, bh, ah) + (al - q * bl)
    return normalise(q, rest / bh)


@inline
def accumulate(sh, sl, x, wh, wl):
    """Return s + x * w for a double x; the running sum s is not normalised."""
    p = x * wh
    e = fma(x, wh, -p)
    s, d = two_sum(sh, p)
    return s, sl + (d + (e + x * wl))


@njit(cache=True)
def moved(rows, th, tl):
    """Return value + rate * t of packed rows, (2, N)."""
    out = np.empty((2, rows.shape[0]))
    for i in range(rows.shape[0]):
        h, e = accumulate(rows[i, 0], rows[i, 1], rows[i, 2], th, tl)
        if np.isfinite(h):
            h, e = accumulate(h, e, rows[i, 3], th, tl)
            out[0, i], out[1, i] = normalise(h, e)
        else:
            out[0, i], out[1, i] = rows[i, 0], 0.0
    return out


@njit(cache=True)
def at(sums, th, tl):
    """Return value + rate * t of running sums (2, 2, N), which need not be normalised."""
    out = np.empty(sums.shape[1:])
    for i in range(out.shape[1]):
        h, e = accumulate(sums[0, 0, i], sums[0, 1, i], sums[1, 0, i], th, tl)
        out[0, i], out[1, i] = accumulate(h, e, sums[1, 1, i], th, tl)
    return out


@njit(cache=True)
def total(ah, al, bh, bl):
    """Return a + b, for callers that are not compiled."""
    return add(ah, al, bh, bl)
