"""What all objectives share: a solution, what the judge reads of one, and signs of duals.

An objective states its data, its value, its dual, its prediction and its optimality conditions. It
knows no walker and no solver: it scores what either hands out by the same code.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels import LINEAR, Kernel
from ..validation import Names

Floats = NDArray[np.float64]
# Smaller objectives than this share of the loss at a constant (where that is a scale of its own)
# count as zero: 1e-9 of it is the rounding of the targets.
FLOOR = 1e-6
TRUSTED = 1e-3  # objective values are units of the gap: three digits of them will do


class Solution(NamedTuple):
    """A solution, or B of them in columns; None is what isn't stated.

    Attributes
    ----------
    a : (n,) or (n, B) array
        Signed duals of the samples.
    w : (d,) or (d, B) array
        Coefficients of a linear model. Of a kernel machine the (n,) or (n, B) coefficients of f's
        expansion in training rows, where they aren't the duals: behind a path's last breakpoint f
        rests while duals grow.
    b : () or (B,) array
        Bias.
    """

    a: Floats | None = None
    w: Floats | None = None
    b: Floats | None = None


class Terms(NamedTuple):
    """What an objective finds in B solutions; each entry is (B,).

    Attributes
    ----------
    primal : objective value of the model as stated (of the one its duals imply, if it states none)
    gap : primal minus the dual objective, absolute, or None where there are no duals. It is a sum
        of terms none of which is negative, so that no digits cancel: half lam times the squared
        distance of w from the w that the duals imply, and what each sample's (or feature's) value
        and dual lack of complementarity. Duals are clipped to their box, so that they bound.
    rounding : how far the gap (the primal, where there is none) may be off by its evaluation
    kkt : largest violation of the optimality conditions, relative to the data's scale
    kkt_rounding : how far that may be off by its evaluation
    infeasible : largest violation of the dual's constraints alone, in the same units; where it
        isn't small the dual objective bounds nothing
    floor : the gap is relative to this, where both objective values are smaller
    unsure : how far the primal may be off by its evaluation
    resolution, kkt_resolution : gap and violation that rounding the solution itself to double, and
        a kernel's matrix, may cause; zero unless evaluated exactly
    null : what the best constant prediction loses, each sample's loss times the size of its dual
        where costs grow along a path: so it stays bounded where the solution comes to rest
    own, own_rounding : the KKT violation in each coordinate's own units, and how far that may be
        off: a dual relative to its own cost, a value to what values mostly differ by, a
        correlation to the sizes of its terms; as ``kkt`` unless evaluated exactly
    """

    primal: Floats
    gap: Floats | None
    rounding: Floats
    kkt: Floats
    kkt_rounding: Floats
    infeasible: Floats
    floor: Floats
    unsure: Floats
    resolution: Floats
    kkt_resolution: Floats
    null: Floats
    own: Floats
    own_rounding: Floats

    @classmethod
    def of_primal(cls, primal: Floats, unsure: Floats, floor: Floats) -> Terms:
        """Return what there is to know where no duals are stated."""
        zero = np.zeros_like(primal)
        unknown = zero + np.nan
        bounds = unsure, zero, zero, zero, unknown, zero
        return cls(primal, None, unsure, unknown, zero, zero, floor, *bounds)


class Objective(ABC):
    """The face of every objective; see `Machine`, on which all families stand."""

    X: Any  # (n, d) array or CSR, or the (n, n) Gram matrix
    y: Floats
    classes: Floats = np.empty(0)  # the labels that were given for -1 and +1; empty: regression
    kernel: Kernel = LINEAR
    feature_names: Names | None = None  # of the columns of X, where it was a DataFrame
    moves = True  # whether it depends on a parameter

    @abstractmethod
    def solution(self, A: Floats) -> Solution:
        """Read a path's coordinates, (N,) or (N, B)."""

    @abstractmethod
    def coefs(self, s: Solution) -> Floats:
        """Return w of a linear model, (d,) or (d, B)."""

    @abstractmethod
    def intercepts(self, s: Solution) -> Floats:
        """Return b."""

    @abstractmethod
    def decision(self, X_new: Any, s: Solution) -> Floats:
        """Return f at the rows of X_new, (m,) or (m, B)."""

    @abstractmethod
    def states_enough(self, s: Solution) -> bool:
        """Tell whether one solution determines a model of this kind, in arrays of right shapes."""

    @abstractmethod
    def terms(
        self, t: Floats, s: Solution, exact: bool = False, low: Floats | float = 0.0
    ) -> Terms:
        """Return what there is to know of solutions in columns at parameters t + low (B,)."""

    @property
    def n(self) -> int:
        """Number of training rows."""
        return len(self.y)

    @property
    def linear(self) -> bool:
        """Whether the model has coefficients."""
        return self.kernel.name == "linear"

    def positive(self, f: Floats) -> NDArray[np.bool_]:
        """Tell where f stands for the larger label."""
        return f >= 0

    def public_dual(self, solution: Solution) -> Floats:
        """Return the duals as papers write them: 0 <= alpha_i <= C_i, or signed in regression."""
        if not len(self.classes):
            return solution.a
        return without_signs_of_rounding((solution.a.T * self.y).T)

    def signed_dual(self, alpha: Floats) -> Floats:
        """Undo `public_dual`."""
        return (alpha.T * self.y).T if len(self.classes) else alpha

    def stated(self, answer) -> Solution:
        """Read what has ``alpha`` (as `public_dual` writes it), ``w`` and ``b``, each or None."""
        alpha, w, b = (
            None if part is None else np.asarray(part, dtype=np.float64)
            for part in (answer.alpha, answer.w, answer.b)
        )
        right = alpha is not None and alpha.shape == (self.n,)
        return Solution(self.signed_dual(alpha) if right else alpha, w, b)


def check_targets(y, X, labels: bool) -> Floats:
    """Return y as an array of n finite numbers, or labels -1 and +1; not a copy if it is one."""
    n, y = X.shape[0], np.asarray(y, dtype=np.float64)
    if labels and (y.shape != (n,) or not (np.abs(y) == 1.0).all()):
        raise ValueError(f"y must hold {n} labels, each -1 or +1: recode the labels.")
    if y.shape != (n,) or not np.isfinite(y).all():
        raise ValueError(f"y must hold {n} finite numbers, one for each row of X: correct it.")
    return y


def without_signs_of_rounding(alpha: Floats) -> Floats:
    """Return alpha with zeros for negatives below 1e-12 of the largest.

    Larger ones come from ill-conditioned kernels, where zeros would move the values.
    """
    tiny = (alpha < 0.0) & (alpha > -1e-12 * np.abs(alpha).max(axis=0, initial=0.0))
    return np.where(tiny, 0.0, alpha) + 0.0


def spread_of(y: Floats) -> float:
    """Return what targets mostly differ from their median by, whatever a few outliers do.

    Where half of them are alike it is the targets' range, or their size, or 1.
    """
    away = np.abs(y - np.median(y))
    return float(np.median(away) or np.ptp(y) or np.abs(y).max() or 1.0)


def largest(values: Floats) -> Floats:
    """Return the (B,) largest entries of columns, or 1 where that is 0: a unit."""
    top = values.max(axis=0)
    return np.where(top > 0, top, 1.0)


def nearest(short: Floats, room: NDArray[np.bool_]) -> Floats:
    """Return how near the nearest kink is (B,) of a sample whose dual has room for the balance.

    Of the farthest, where none has: to make the duals add up to zero costs at most that much each.
    """
    near = np.where(room, np.abs(short), np.inf).min(axis=0)
    return np.where(np.isfinite(near), near, np.abs(short).max(axis=0))


def slope_of_gap(
    short: Floats, beyond: Floats, off: Floats, alpha: Floats, cost: Floats | float
) -> Floats:
    """Return how fast each sample's share of the gap changes with its value, at most.

    It vanishes where a dual is at the level that its value asks for.
    """
    slope = np.where(short > off, cost - alpha, np.where(short < -off, alpha, 0.0))
    slope = np.where(np.abs(short) <= off, np.maximum(alpha, cost - alpha), slope)
    return np.where(beyond > -off, slope + cost, slope)
