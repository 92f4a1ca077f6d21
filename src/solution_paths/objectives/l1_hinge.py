"""The l1-norm support vector machine: hinge loss and l1 penalty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..validation import plain_labels
from .base import EPSILON, Floats, Solution, Terms
from .hinge import off_hinge
from .penalised import TINY, Penalised, off_penalty


@dataclass(frozen=True, eq=False, kw_only=True)
class L1Hinge(Penalised):
    """min sum_i max(0, 1 - y_i (w.x_i + b)) + lam ||w||_1, with a free bias b.

    Its dual is max sum_i alpha_i over 0 <= alpha_i <= 1, sum_i a_i = 0 and |X'a|_inf <= lam, with
    a_i = y_i alpha_i.

    Parameters
    ----------
    classes : (2,) array
        The labels that were given for -1 and +1.
    others
        See `Penalised`.
    """

    classes: Floats = (-1.0, 1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", plain_labels(self.classes, 2, "classes"))
        super().__post_init__()

    def solution(self, A: Floats) -> Solution:
        """Read a path's coordinates: the duals of samples, -w and -b."""
        return Solution(A[: self.n], -A[self.n : -1] + 0.0, -A[-1])

    def states_enough(self, s: Solution) -> bool:
        """Tell whether one solution states w and b, and duals of the right shape if any."""
        model = s.w is not None and s.b is not None and s.w.shape == self.X.shape[1:]
        return model and (s.a is None or s.a.shape == self.y.shape)

    def terms(self, t: Floats, s: Solution) -> Terms:
        """Return what there is to know of solutions in columns at parameters t (B,)."""
        X, y, (a, w, b) = self.X, self.y[:, None], s
        f = X @ w + b
        primal = np.maximum(1.0 - y * f, 0.0).sum(axis=0) + t * np.abs(w).sum(axis=0)
        sizes = np.abs(X) @ np.abs(w) + np.abs(b) + 1.0
        rounding, zero = 4 * EPSILON * sizes.sum(axis=0), np.zeros(w.shape[1])
        if a is None:
            return Terms(primal, None, rounding, zero + np.nan, infeasible=zero, floor=zero)
        alpha, c = y * a, X.T @ a
        scale = max(np.abs(X).sum(axis=0).max(), TINY)
        box = np.maximum(-alpha, alpha - 1.0).max(axis=0)
        too_large = np.maximum(np.abs(c) - t, 0.0).max(axis=0) / scale
        infeasible = np.maximum(np.maximum(box, too_large), np.abs(a.sum(axis=0)))
        wrong = off_hinge(y * f, alpha, 1.0).max(axis=0)
        kkt = np.maximum(np.maximum(wrong, infeasible), off_penalty(c, w, t, scale).max(axis=0))
        return Terms(primal, alpha.sum(axis=0), rounding, kkt, infeasible, floor=zero)
