"""Numbers as unevaluated sums of two doubles, about 104 bits, for what decides an event.

The error-free transformations are those of Dekker and Knuth, the running sums those of Ogita, Rump
and Oishi ("Accurate sum and dot product", 2005). The last half serves whole arrays, at set-up.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

Array = NDArray[np.float64]
inline = njit(forceinline=True)


@intrinsic
def fma(typing: Any, a: Any, b: Any, c: Any) -> Any:
    """Return a * b + c, rounded once."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), generate


@inline
def two_sum(a, b):
    """Return a + b and its rounding error."""
    s = a + b
    z = s - a
    return s, (a - (s - z)) + (b - z)


@inline
def normalise(h, l):
    """Return the same sum with its first part rounded to nearest."""
    s = h + l
    return s, l - (s - h)


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


class Twofold(NamedTuple):
    """Arrays of such numbers, with the few operations that a statement needs."""

    high: Array
    low: Array

    @classmethod
    def of(cls, x: Array) -> Twofold:
        """Return doubles as they are."""
        return cls(np.asarray(x, float), np.zeros(np.shape(x)))

    def plus(self, other: Twofold) -> Twofold:
        """Return the sum."""
        s = self.high + other.high
        z = s - self.high
        e = (self.high - (s - z)) + (other.high - z) + (self.low + other.low)
        return Twofold(s + e, e - ((s + e) - s))

    def by(self, factor: Array | float) -> Twofold:
        """Return the product with doubles."""
        factor = np.broadcast_to(np.asarray(factor, float), self.high.shape)
        p = self.high * factor
        (a, b), (c, d) = _halves(self.high), _halves(factor)
        e = ((a * c - p) + a * d + b * c) + b * d + self.low * factor
        return Twofold(p + e, e - ((p + e) - p))

    def take(self, index: Any) -> Twofold:
        """Return some of the entries."""
        return Twofold(self.high[index], self.low[index])


def _halves(x: Array) -> tuple[Array, Array]:
    """Split doubles into two halves of 26 bits (Veltkamp)."""
    y = 134217729.0 * x
    high = y - (y - x)
    return high, x - high
