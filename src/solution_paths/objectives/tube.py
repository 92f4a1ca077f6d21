"""The epsilon-insensitive loss: support vector regression."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..validation import check_number
from .base import Floats
from .machine import Machine


@dataclass(frozen=True, eq=False, kw_only=True)
class Tube(Machine):
    """min lam/2 ||w||^2 + sum_i C_i max(0, |y_i - f(x_i)| - epsilon).

    Its dual is max sum_i y_i a_i - epsilon sum_i |a_i| - lam/2 ||w||^2 over |a_i| <= C_i, with
    w = (1/lam) sum_i a_i x_i; a free bias adds sum_i a_i = 0.

    Parameters
    ----------
    epsilon0, epsilon1 : float
        The half-width is epsilon = epsilon0 + t epsilon1 >= 0 at parameter t, in the units of y.
    others
        See `Machine`.
    """

    epsilon0: float = 0.0
    epsilon1: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        width = check_number(self.epsilon0, "epsilon", least=0)
        self._set(epsilon0=width, epsilon1=float(self.epsilon1))

    def epsilon(self, t=0.0) -> Floats:
        """Return the half-width of the tube at t."""
        return self.epsilon0 + self.epsilon1 * np.asarray(t)

    def at(self, t: float) -> Tube:
        """Return the objective at t, where it no longer depends on a parameter."""
        width = float(self.epsilon(t))
        return self._with(cost0=self.costs(t), cost1=0.0, epsilon0=width, epsilon1=0.0)

    @property
    def moves(self) -> bool:
        """Whether it depends on a parameter."""
        return super().moves or self.epsilon1 != 0.0

    def loss(self, f: Floats, t) -> Floats:
        """Return the losses at predictions f."""
        return np.maximum(np.abs(self.y[:, None] - f) - self.epsilon(t), 0.0)

    def dual_gain(self, a: Floats, t) -> Floats:
        """Return the dual objective's part without ||w||^2."""
        return (self.y[:, None] * a).sum(axis=0) - self.epsilon(t) * np.abs(a).sum(axis=0)

    def outside(self, a: Floats, cost: Floats) -> Floats:
        """Return how far duals are outside their box."""
        return np.abs(a) - cost

    def wrong(self, f: Floats, a: Floats, cost: Floats, unit: Floats, t) -> Floats:
        """Return, for each sample, how far f and a are from any point of its staircase."""
        error, found = self.y[:, None] - f, np.zeros_like(a)
        scale = np.ptp(self.y) or np.abs(self.y).max() or 1.0
        for side in (1.0, -1.0):
            over = (side * error - self.epsilon(t)) / scale
            own = np.maximum(side * a, 0.0)
            below_level = np.minimum(np.maximum(over, 0.0), np.maximum(cost - own, 0.0) / unit)
            above_zero = np.minimum(np.maximum(-over, 0.0), own / unit)
            found = np.maximum(found, np.maximum(below_level, above_zero))
        return found
