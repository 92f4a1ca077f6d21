"""The epsilon-insensitive loss: support vector regression."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..validation import check_number
from .base import FLOOR, Floats, spread_of
from .exact import add, affine
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

    @property
    def scale(self) -> float:
        """The unit of values: the targets' range."""
        return float(np.ptp(self.y) or np.abs(self.y).max() or 1.0)

    def floor(self, a: Floats | None, cost: Floats) -> Floats:
        """Return what counts as zero: where errors vanish the targets' rounding is all there is."""
        return FLOOR * cost.sum(axis=0) * np.abs(self.y).max()

    @property
    def spread(self) -> float:
        """What targets mostly differ by."""
        return self._once("spread", lambda: spread_of(self.y))

    def null(self, alpha: Floats) -> Floats:
        """Return what the median (without a free bias zero) loses, times the sizes of duals."""
        constant = np.median(self.y) if self.free_bias else 0.0
        return np.abs(self.y - constant) @ alpha

    def size_of_dual(self, a: Floats) -> Floats:
        """Return |a|, which is in [0, C] where a is feasible."""
        return np.abs(a)

    def shortfalls(self, f: Floats, f_low: Floats, a: Floats | None, t, low=0.0) -> tuple:
        """Return how far errors exceed the tube on their dual's side, and on the other."""
        width, width_low = affine(
            np.array([self.epsilon0]),
            np.array([self.epsilon1]),
            t,
            np.broadcast_to(low, np.shape(t)),
        )
        error, rest = add(self.y[:, None], -f)
        rest = rest - f_low
        side = np.sign(error) if a is None else np.where(a == 0, np.sign(error), np.sign(a))
        side = np.where(side == 0, 1.0, side)
        short, lost = add(side * error, -width)
        other, missed = add(-side * error, -width)
        return short + (lost + side * rest - width_low), other + (missed - side * rest - width_low)
