"""Losses that grow more slowly for outliers: robust SVM classification and regression.

A sample whose value passes the threshold s is an *outlier*; there the slope of its loss is theta
times as large. The objective is not convex. It is convex for a given partition into inliers and
outliers, restricted to the values that this partition allows. That *conditional* problem is judged.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solution_paths.problem import Pieces
from solution_paths.problem.branches import on_branches, robust_absolutes, robust_hinges
from solution_paths.validation import Rows, check_number

from .machine import Floats, Hinge, Machine, Tube

# The dual decides the side of a value that is this near to the threshold: relative to the unit of
# values, and at most this fraction of the distance from the threshold to the next kink.
THRESHOLD_TOLERANCE = 1e-6
KINK_FRACTION = 1e-3


@dataclass(frozen=True, eq=False)
class Robust(Machine):
    """Base of robust classification and regression.

    Parameters
    ----------
    theta0, theta1 : float
        The weight of outliers is theta = theta0 + t theta1, in [0, 1].
    s0, s1 : float
        The threshold is s = s0 + t s1.
    others
        See `Machine`; all costs are equal, and there is no bias.
    """

    _: KW_ONLY
    bias: str = "none"
    theta0: float = 1.0
    theta1: float = 0.0
    s0: float = 0.0
    s1: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        names = ("theta0", "theta1", "s0", "s1")
        self._set(**{name: check_number(getattr(self, name), name) for name in names})

    @property
    def moves(self) -> bool:
        """Whether it depends on a parameter."""
        return super().moves or self.theta1 != 0.0 or self.s1 != 0.0

    def theta(self, t: float = 0.0) -> float:
        """Return the weight of outliers at t."""
        return max(self.theta0 + t * self.theta1, 0.0)

    def s(self, t: float = 0.0) -> float:
        """Return the threshold at t."""
        return self.s0 + t * self.s1

    def at(self, t: float) -> Robust:
        """Return the objective at t, where it no longer depends on a parameter."""
        return self._with(theta0=self.theta(t), theta1=0.0, s0=self.s(t), s1=0.0)

    @property
    def C(self) -> float:
        """The cost of every sample."""
        return float(self.cost0[0])

    def losses(self, values: Floats, t: float) -> Floats:
        """Return the losses of samples with these values (n,) at t, without their cost."""
        raise NotImplementedError

    def energy(self, values: Floats, duals: Floats, t: float) -> float:
        """Return 1/2 ||w||^2 + C sum of losses, for values K a and duals a."""
        return float(0.5 * values @ duals + self.C * self.losses(values, t).sum())

    # -- sides ---------------------------------------------------------------------------------

    def beyond_threshold(self, values: Floats, t: float) -> tuple[Floats, Floats]:
        """Return how far values exceed the threshold, and the sign of the duals of outliers."""
        raise NotImplementedError

    def unit_and_distance(self, t: float) -> tuple[float, float]:
        """Return the unit of values, and the distance of the threshold from the next kink."""
        raise NotImplementedError

    def partition(self, values: Floats, a: Floats, t: float = 0.0) -> NDArray[np.int8]:
        """Return the sign of the side on which each sample is an outlier, 0 for inliers.

        The value decides; at the threshold, the dual does.
        """
        excess, pull = self.beyond_threshold(values, t)
        middle, (unit, distance) = self.C * (1.0 + self.theta(t)) / 2, self.unit_and_distance(t)
        near = np.abs(excess) <= min(THRESHOLD_TOLERANCE * unit, KINK_FRACTION * distance)
        outlier = np.where(near, pull * a < middle, excess > 0)
        return np.where(outlier, pull, 0.0).astype(np.int8)

    def conditional(self, partition: NDArray[np.int8], t: float = 0.0) -> Pieces:
        """Return the losses of a partition at t, with the domains that it allows."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False, kw_only=True)
class RobustHinge(Robust, Hinge):
    """min 1/2 ||w||^2 + C sum_i l(y_i f(x_i)), l(m) = [1 - m]_+ for m >= s, else 1 - theta m - s.

    With s <= 0, and s = 0 or theta = 0, so that l is continuous. There is no bias. At f = 0, the
    value of a row of zeros, the larger class of the training rows is predicted.
    """

    def beyond_threshold(self, values: Floats, t: float) -> tuple[Floats, Floats]:
        """Return s - y f, and y."""
        return self.s(t) - self.y * values, self.y

    def unit_and_distance(self, t: float) -> tuple[float, float]:
        """Return 1, and 1 - s."""
        return 1.0, 1.0 - self.s(t)

    def conditional(self, partition: NDArray[np.int8], t: float = 0.0) -> Pieces:
        """Return the losses of a partition at t, with the domains that it allows."""
        branches = robust_hinges(self.y, self.C, self.theta(t), self.s(t))
        low = (self.y > 0) == (partition != 0)  # low values are those of outliers with y = 1
        return on_branches(branches, np.where(low, 0, 1))

    def losses(self, values: Floats, t: float) -> Floats:
        """Return l(y f)."""
        margin, theta, s = self.y * values, self.theta(t), self.s(t)
        return np.where(margin >= s, np.maximum(1.0 - margin, 0.0), 1.0 - theta * margin - s)

    def positive(self, f: Floats) -> NDArray[np.bool_]:
        """Return where f predicts the larger label; at f = 0 if it is at least as frequent."""
        return f >= 0 if self.y.sum() >= 0 else f > 0


@dataclass(frozen=True, eq=False, kw_only=True)
class RobustTube(Robust, Tube):
    """min 1/2 ||w||^2 + C sum_i l(y_i - f(x_i)), l(r) = |r| for |r| < s, else (|r| - s) theta + s.

    There is no bias.
    """

    def beyond_threshold(self, values: Floats, t: float) -> tuple[Floats, Floats]:
        """Return |y - f| - s, and the sign of y - f."""
        error = self.y - values
        return np.abs(error) - self.s(t), np.where(error < 0, -1.0, 1.0)

    def unit_and_distance(self, t: float) -> tuple[float, float]:
        """Return the targets' range, and s."""
        return float(np.ptp(self.y) or np.abs(self.y).max() or 1.0), self.s(t)

    def conditional(self, partition: NDArray[np.int8], t: float = 0.0) -> Pieces:
        """Return the losses of a partition at t, with the domains that it allows."""
        branches = robust_absolutes(self.y, self.C, self.theta(t), self.s(t))
        return on_branches(branches, 1 - partition.astype(np.int64))

    def losses(self, values: Floats, t: float) -> Floats:
        """Return l(y - f)."""
        size, theta, s = np.abs(self.y - values), self.theta(t), self.s(t)
        return np.where(size < s, size, (size - s) * theta + s)


def robust_hinge(
    X: Rows, y: Floats, C: float, homotopy: str = "theta", **options: Any
) -> RobustHinge:
    """Return the robust SVM's objective, in t = theta (with s = 0) or in t = s (with theta = 0).

    Parameters
    ----------
    X : (n, d) array or CSR matrix, or (n, n) Gram matrix
    y : (n,) array
        Labels -1 and +1.
    C : float
        Cost of each sample, > 0.
    homotopy : {"theta", "s"}
    options
        Others of `RobustHinge`.
    """
    C = check_number(C, "C", above=0)
    moved: dict[str, Any] = (
        {"theta0": 0.0, "theta1": 1.0} if homotopy == "theta" else {"theta0": 0.0, "s1": 1.0}
    )
    return RobustHinge(X, y, cost0=C, **moved, **options)


def robust_tube(
    X: Rows, y: Floats, C: float, homotopy: str = "theta", s: float = 1.0, **options: Any
) -> RobustTube:
    """Return the robust SVR's objective, in t = theta (with s fixed) or in t = s (with theta = 0).

    Parameters
    ----------
    X : (n, d) array or CSR matrix, or (n, n) Gram matrix
    y : (n,) array
        Targets.
    C : float
        Cost of each sample, > 0.
    homotopy : {"theta", "s"}
    s : float
        The threshold of absolute residuals, > 0, in the units of y.
    options
        Others of `RobustTube`.
    """
    C = check_number(C, "C", above=0)
    theta = homotopy == "theta"
    moved: dict[str, Any] = {"theta1": 1.0, "s0": s} if theta else {"s1": 1.0}
    return RobustTube(X, y, cost0=C, theta0=0.0, **moved, **options)
