"""Numbers that move affinely with the parameter, each as a sum of two doubles; for set-up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..twofold import Twofold

Array = NDArray[np.float64]


@dataclass
class Moving:
    """Numbers of the form value + rate * t."""

    value: Twofold
    rate: Twofold

    @classmethod
    def of(cls, value: Array, rate: Array | None = None) -> Moving:
        """Return doubles with rates, zero by default."""
        return cls(
            Twofold.of(value), Twofold.of(np.zeros(np.shape(value)) if rate is None else rate)
        )

    def by(self, factor: Array | float) -> Moving:
        """Return the product with constant doubles."""
        return Moving(self.value.by(factor), self.rate.by(factor))

    def at(self, t: float) -> Twofold:
        """Return the numbers at t."""
        return self.value if t == 0.0 else self.value.plus(self.rate.by(t))

    def since(self, t: float) -> Moving:
        """Return the numbers as functions of the parameter minus t."""
        return Moving(self.at(t), self.rate)

    def take(self, index: Any) -> Moving:
        """Return some of the numbers."""
        return Moving(self.value.take(index), self.rate.take(index))

    def packed(self) -> Array:
        """Return an array with value (two parts) and rate (two parts) on its last axis."""
        return np.stack([*self.value, *self.rate], axis=-1)
