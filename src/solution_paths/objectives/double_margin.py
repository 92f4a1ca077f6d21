"""The double margin: a hinge on either side of an interval of margins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..validation import check_number, plain_labels
from .base import Floats
from .machine import Conditions, Machine, Model
from .tube import Tube


@dataclass(frozen=True, eq=False, kw_only=True)
class DoubleMargin(Machine):
    """min 1/2 ||w||^2 + sum_i C max(0, 1 - m_i, 1 + m_i - kappa), m_i = y_i f(x_i), C = t.

    With the middle h = kappa / 2 the loss is max(0, |m - h| - (h - 1)) for kappa >= 2, that is a
    `Tube` of half-width h - 1 about the targets h y, and 1 - h + |m - h| below. The path's
    parameter is lam = inverse / t. Its duals are a_i = y_i (alpha_i - mu_i), |a_i| <= C.

    Parameters
    ----------
    kappa : float
        > 0; the outer margin is at kappa - 1.
    inverse : float
        1 / n, so that lam/2 ||w||^2 stands beside the mean of the losses.
    classes : (2,) array
        The labels that were given for -1 and +1.
    others
        See `Machine`.
    """

    kappa: float
    inverse: float = 0.0
    classes: Floats = (-1.0, 1.0)

    def __post_init__(self) -> None:
        self._set(classes=plain_labels(self.classes, 2, "classes"))
        super().__post_init__()
        self._set(kappa=check_number(self.kappa, "kappa", above=0))

    def _tube(self) -> Tube:
        """Return the same losses about targets, but for a constant; new since costs may change."""
        names = ("X", "cost0", "cost1", "lam", "kernel", "bias", "intercept_scaling", "diagonal")
        own = {name: getattr(self, name) for name in names}
        half = self.kappa / 2
        return Tube(**own, y=half * self.y, epsilon0=max(half - 1.0, 0.0))

    @property
    def scale(self) -> float:
        """The unit of values: that of labels, or of the middle."""
        return max(1.0, self.kappa / 2)

    def floor(self, a: Floats | None, cost: Floats) -> Floats:
        """Return that no objective counts as zero."""
        return np.zeros(cost.shape[1])

    def size_of_dual(self, a: Floats) -> Floats:
        """Return |a|, which is in [0, C] where a is feasible."""
        return np.abs(a)

    def conditions(self, model: Model, a: Floats | None, t: Floats, low=0.0) -> Conditions:
        """Return what the tube asks of samples and duals, and what the loss is above it."""
        asked = self._tube().conditions(model, a, t, low)
        above = max(1.0 - self.kappa / 2, 0.0)
        return asked._replace(constant=above * asked.cost.sum(axis=0))

    def public_dual(self, solution) -> Floats:
        """Return alpha - mu, in [-C, C]."""
        return (solution.a.T * self.y).T + 0.0

    def _unbalanced(self, a, alpha, clipped, cost, short, exact):
        return self._tube()._unbalanced(a, alpha, clipped, cost, short, exact)
