"""Arrays of numbers that are sums of two doubles, about 104 bits; for set-up."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


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
        if np.ndim(factor) == 0 and factor == -1.0:
            return Twofold(-self.high, -self.low)
        factor = np.broadcast_to(np.asarray(factor, float), self.high.shape)
        p = self.high * factor
        (a, b), (c, d) = _halves(self.high), _halves(factor)
        e = ((a * c - p) + a * d + b * c) + b * d + self.low * factor
        return Twofold(p + e, e - ((p + e) - p))

    def divided(self, by: float) -> Twofold:
        """Return the quotient by a double."""
        if by == 1.0 or not self.high.any():
            return self
        q = self.high / by
        rest = self.plus(Twofold.of(q).by(-by))
        return Twofold(q, np.zeros(np.shape(q))).plus(Twofold.of((rest.high + rest.low) / by))

    def take(self, index: Any) -> Twofold:
        """Return some of the entries."""
        return Twofold(self.high[index], self.low[index])


def _halves(x: Array) -> tuple[Array, Array]:
    """Split doubles into two halves of 26 bits (Veltkamp)."""
    y = 134217729.0 * x
    high = y - (y - x)
    return high, x - high
