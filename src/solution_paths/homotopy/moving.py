"""Numbers that move affinely with the parameter, each as a sum of two doubles; for set-up."""

from __future__ import annotations

from dataclasses import dataclass
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

    def take(self, index: Any) -> Twofold:
        """Return some of the entries."""
        return Twofold(self.high[index], self.low[index])


def _halves(x: Array) -> tuple[Array, Array]:
    """Split doubles into two halves of 26 bits (Veltkamp)."""
    y = 134217729.0 * x
    high = y - (y - x)
    return high, x - high


@dataclass
class Moving:
    """Numbers of the form value + rate * t."""

    value: Twofold
    rate: Twofold

    @classmethod
    def of(cls, value: Array, rate: Array | None = None) -> Moving:
        """Return doubles that move, or stand still."""
        return cls(
            Twofold.of(value), Twofold.of(np.zeros(np.shape(value)) if rate is None else rate)
        )

    def plus(self, other: Moving) -> Moving:
        """Return the sum."""
        return Moving(self.value.plus(other.value), self.rate.plus(other.rate))

    def by(self, factor: Array | float) -> Moving:
        """Return the product with doubles that stand still."""
        return Moving(self.value.by(factor), self.rate.by(factor))

    def at(self, t: float) -> Twofold:
        """Return the numbers at t."""
        return self.value if t == 0.0 else self.value.plus(self.rate.by(t))

    def column(self, k: int) -> Moving:
        """Return one column."""
        return self.take((slice(None), k))

    def take(self, index: Any) -> Moving:
        """Return some of the numbers."""
        return Moving(self.value.take(index), self.rate.take(index))

    def packed(self) -> Array:
        """Return an array with value (two parts) and rate (two parts) on its last axis."""
        return np.stack([*self.value, *self.rate], axis=-1)
