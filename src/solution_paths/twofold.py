"""Arrays in double-double arithmetic, about 104 bits, by Dekker and Knuth."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def two_sum(x: Array | float, y: Array | float) -> tuple[Array, Array]:
    """Return x + y and its rounding error."""
    s = np.asarray(x + y)
    z = s - x
    return s, (x - (s - z)) + (y - z)


def two_product(x: Array | float, y: Array | float) -> tuple[Array, Array]:
    """Return x y and its rounding error."""
    p = np.asarray(x * y)
    (a, b), (c, d) = _halves(x), _halves(y)
    return p, ((a * c - p) + a * d + b * c) + b * d


class Twofold(NamedTuple):
    """Arrays of sums ``high + low`` of two doubles, with the operations that a statement needs."""

    high: Array
    low: Array

    @classmethod
    def of(cls, x: Array) -> Twofold:
        """Return doubles, which are exact."""
        return cls(np.asarray(x, float), np.zeros(np.shape(x)))

    def plus(self, other: Twofold) -> Twofold:
        """Return the sum."""
        s, e = two_sum(self.high, other.high)
        e += self.low + other.low
        return Twofold(s + e, e - ((s + e) - s))

    def by(self, factor: Array | float) -> Twofold:
        """Return the product with doubles."""
        if np.ndim(factor) == 0 and factor == -1.0:
            return Twofold(-self.high, -self.low)
        factor = np.broadcast_to(np.asarray(factor, float), self.high.shape)
        p, e = two_product(self.high, factor)
        e += self.low * factor
        return Twofold(p + e, e - ((p + e) - p))

    def divided(self, by: float) -> Twofold:
        """Return the quotient by a double."""
        if by == 1.0 or not self.high.any():
            return self
        q = self.high / by
        rest = self.plus(Twofold.of(q).by(-by))
        return Twofold(q, np.zeros(np.shape(q))).plus(Twofold.of((rest.high + rest.low) / by))

    def sum(self) -> Twofold:
        """Return the sums over the first axis, by pairwise summation."""
        terms = self
        while len(terms.high) > 1:
            half = len(terms.high) // 2
            pairs = terms.take(slice(half)).plus(terms.take(slice(half, 2 * half)))
            rest = terms.take(slice(2 * half, None))
            terms = Twofold(*(np.concatenate(halves) for halves in zip(pairs, rest, strict=True)))
        return Twofold(terms.high.sum(axis=0), terms.low.sum(axis=0))

    def take(self, index: Any) -> Twofold:
        """Return some of the entries."""
        return Twofold(self.high[index], self.low[index])


def _halves(x: Array | float) -> tuple[Array, Array]:
    """Split doubles into two halves of 26 bits (Veltkamp)."""
    x = np.asarray(x)
    y = 134217729.0 * x
    high = y - (y - x)
    return high, x - high
