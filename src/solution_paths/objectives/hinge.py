"""The hinge loss: support vector machines for two classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..validation import plain_labels
from .base import Floats
from .machine import Machine


@dataclass(frozen=True, eq=False, kw_only=True)
class Hinge(Machine):
    """min lam/2 ||w||^2 + sum_i C_i max(0, 1 - y_i f(x_i)).

    Its dual is max sum_i alpha_i - lam/2 ||w||^2 over 0 <= alpha_i <= C_i, with the signed duals
    a_i = y_i alpha_i and w = (1/lam) sum_i a_i x_i; a free bias adds sum_i a_i = 0.

    Parameters
    ----------
    classes : (2,) array
        The labels that were given for -1 and +1.
    others
        See `Machine`.
    """

    classes: Floats = (-1.0, 1.0)

    def __post_init__(self) -> None:
        self._set(classes=plain_labels(self.classes, 2, "classes"))
        super().__post_init__()

    def loss(self, f: Floats, t) -> Floats:
        """Return the losses at predictions f."""
        return np.maximum(1.0 - self.y[:, None] * f, 0.0)

    def dual_gain(self, a: Floats, t) -> Floats:
        """Return the dual objective's linear part."""
        return (self.y[:, None] * a).sum(axis=0)

    def outside(self, a: Floats, cost: Floats) -> Floats:
        """Return how far duals are outside their box."""
        alpha = self.y[:, None] * a
        return np.maximum(-alpha, alpha - cost)

    def wrong(self, f: Floats, a: Floats, cost: Floats, unit: Floats, t) -> Floats:
        """Return, for each sample, how far f and a are from any point of its staircase."""
        y = self.y[:, None]
        return off_hinge(y * f, y * a / unit, cost / unit)


def off_hinge(margin: Floats, alpha: Floats, cost: Floats | float) -> Floats:
    """Return the smaller of: margin on the wrong side of 1, dual off the level it would need."""
    short = np.minimum(np.maximum(1.0 - margin, 0.0), np.maximum(cost - alpha, 0.0))
    beyond = np.minimum(np.maximum(margin - 1.0, 0.0), np.maximum(alpha, 0.0))
    return np.maximum(short, beyond)
