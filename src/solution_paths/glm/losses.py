"""Losses of generalised linear models, each stated once: the loss, two derivatives, its conjugate.

A loss l is a function of f for each sample, convex, smooth and >= 0. Its dual is u = -l'(f), and
the conjugate l* is taken at -u, so that l(f) + l*(-u) + u f >= 0, with 0 where u is the dual of f.
The proof of `follow` needs two properties:

- The domain of l* is convex and contains 0. So convex combinations of feasible duals, and feasible
  duals that are scaled down, are feasible.
- l'' has no interior minimum on any interval, so that its least value is at an end.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy  # imports scipy.special, which is slow, at its first use

from ..validation import Floats


@dataclass(frozen=True, eq=False)
class Loss:
    """The losses of n samples; a child states them.

    Attributes
    ----------
    y : (n,) array
        Targets.
    """

    y: Floats

    def value(self, f: Floats) -> Floats:
        """Return l(f)."""
        raise NotImplementedError

    def dual(self, f: Floats) -> Floats:
        """Return u = -l'(f)."""
        raise NotImplementedError

    def curvature(self, f: Floats) -> Floats:
        """Return l''(f)."""
        raise NotImplementedError

    def conjugate(self, u: Floats) -> Floats:
        """Return l*(-u)."""
        raise NotImplementedError

    def inverse_conjugate_curvature(self, u: Floats, v: Floats) -> Floats:
        """Return the largest value of 1 / (l*)'' between two duals."""
        raise NotImplementedError

    def centre(self, weights: Floats) -> float:
        """Return the constant f that minimises the weighted sum of losses."""
        raise NotImplementedError

    def balanced(self, u: Floats, weights: Floats) -> Floats:
        """Return feasible duals near u whose weighted sum is zero."""
        raise NotImplementedError

    @staticmethod
    def mean(f: Floats) -> Floats:
        """Return the mean of y that belongs to f (the inverse link)."""
        raise NotImplementedError

    def third_derivative_bound(self, f: Floats, g: Floats) -> Floats:
        """Return a bound of |l'''| between f and g."""
        raise NotImplementedError


class Logistic(Loss):
    """log(1 + exp(-y f)) of labels y, -1 and +1.

    With p = y u from 0 to 1 the conjugate is p log p + (1 - p) log(1 - p).
    """

    def value(self, f: Floats) -> Floats:
        """Return l(f)."""
        return np.logaddexp(0.0, -self.y * f)

    def dual(self, f: Floats) -> Floats:
        """Return u = -l'(f)."""
        return np.asarray(self.y * scipy.special.expit(-self.y * f))

    def curvature(self, f: Floats) -> Floats:
        """Return l''(f)."""
        return np.asarray(scipy.special.expit(f) * scipy.special.expit(-f))

    def conjugate(self, u: Floats) -> Floats:
        """Return l*(-u)."""
        p = self.y * u
        return np.asarray(-scipy.special.entr(p) - scipy.special.entr(1.0 - p))

    def inverse_conjugate_curvature(self, u: Floats, v: Floats) -> Floats:
        """Return the largest value of p (1 - p) between two duals: at an end, or at 1/2."""
        p, q = self.y * u, self.y * v
        ends = np.maximum(p * (1.0 - p), q * (1.0 - q))
        return np.where((p - 0.5) * (q - 0.5) < 0.0, 0.25, ends)

    def centre(self, weights: Floats) -> float:
        """Return the logarithm of the odds."""
        up = float(weights[self.y > 0].sum() / weights.sum())
        return float(np.log(up) - np.log1p(-up))

    def balanced(self, u: Floats, weights: Floats) -> Floats:
        """Return duals, those of the class with the larger sum scaled down."""
        u, up = u.copy(), self.y > 0
        above, below = float(weights[up] @ u[up]), -float(weights[~up] @ u[~up])
        u[up] *= min(1.0, below / above) if above else 1.0
        u[~up] *= min(1.0, above / below) if below else 1.0
        return u

    @staticmethod
    def mean(f: Floats) -> Floats:
        """Return the probability of +1."""
        return np.asarray(scipy.special.expit(f))

    def third_derivative_bound(self, f: Floats, g: Floats) -> Floats:
        """Return a bound of |l'''| = |l'' (1 - 2 p)|: l'' at the point nearest to zero."""
        return self.curvature(np.where(f * g > 0.0, np.minimum(np.abs(f), np.abs(g)), 0.0))


class Poisson(Loss):
    """exp(f) - y f + y log y - y of counts y >= 0: half the deviance of the mean exp(f).

    With m = y - u >= 0 the conjugate is m log m - m + y - y log y.
    """

    @cached_property
    def _log(self) -> Floats:
        """The logarithms of the counts, 0 where a count is zero."""
        return np.log(np.where(self.y > 0.0, self.y, 1.0))

    def value(self, f: Floats) -> Floats:
        """Return l(f): y (exp(z) - 1 - z) for z = f - log y, where y > 0."""
        with np.errstate(over="ignore"):
            z = f - self._log
            return np.where(self.y > 0.0, self.y * (np.expm1(z) - z), np.exp(f))

    def dual(self, f: Floats) -> Floats:
        """Return u = -l'(f)."""
        return np.asarray(self.y - np.exp(f))

    def curvature(self, f: Floats) -> Floats:
        """Return l''(f)."""
        return np.asarray(np.exp(f))

    def conjugate(self, u: Floats) -> Floats:
        """Return l*(-u)."""
        m = np.maximum(self.y - u, 0.0)
        return np.where(
            self.y > 0.0,
            scipy.special.kl_div(m, self.y) - u * self._log,
            scipy.special.xlogy(m, m) - m,
        )

    def inverse_conjugate_curvature(self, u: Floats, v: Floats) -> Floats:
        """Return the largest value of m between two duals."""
        return np.maximum(self.y - np.minimum(u, v), 0.0)

    def centre(self, weights: Floats) -> float:
        """Return the logarithm of the mean."""
        return float(np.log(weights @ self.y / weights.sum()))

    def balanced(self, u: Floats, weights: Floats) -> Floats:
        """Return duals whose means m are scaled to the sum of the counts."""
        m = self.y - u
        return np.asarray(self.y - m * (weights @ self.y / (weights @ m)))

    @staticmethod
    def mean(f: Floats) -> Floats:
        """Return the rate."""
        return np.exp(f)

    def third_derivative_bound(self, f: Floats, g: Floats) -> Floats:
        """Return a bound of |l'''|: exp of the larger of the two."""
        return np.exp(np.maximum(f, g))


LOSSES: dict[str, type[Loss]] = {"logistic": Logistic, "poisson": Poisson}
