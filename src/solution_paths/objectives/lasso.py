"""The lasso: squared loss and l1 penalty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .base import EPSILON, Floats, Solution, Terms
from .penalised import TINY, Penalised, off_penalty


@dataclass(frozen=True, eq=False)
class Lasso(Penalised):
    """min 1/2 ||y - X w||^2 + lam ||w||_1.

    Its dual is max y.a - 1/2 ||a||^2 over |X'a|_inf <= lam, solved by the residual a = y - X w;
    for a bound the residual is shrunk until it is feasible.
    """

    def solution(self, A: Floats) -> Solution:
        """Read a path's coordinates, which are w itself."""
        return Solution(w=A + 0.0)

    def public_dual(self, s: Solution) -> Floats:
        """Return the residual y - X w."""
        return (self.y - (self.X @ s.w).T).T

    def states_enough(self, s: Solution) -> bool:
        """Tell whether one solution states w, and no bias."""
        right = s.w is not None and s.w.shape == self.X.shape[1:]
        return right and (s.b is None or not np.any(s.b))

    def terms(self, t: Floats, s: Solution) -> Terms:
        """Return what there is to know of solutions in columns at parameters t (B,)."""
        X, y, w = self.X, self.y[:, None], s.w
        residual = y - X @ w
        c = X.T @ residual
        scale = max(np.abs(X.T @ self.y).max(), TINY)
        kkt = off_penalty(c, w, t, scale).max(axis=0)
        primal = 0.5 * (residual**2).sum(axis=0) + t * np.abs(w).sum(axis=0)
        limit = t + 1e-13 * scale  # c = 0 at lam = 0, but for rounding
        a = residual * np.minimum(1.0, limit / np.maximum(np.abs(c).max(axis=0), TINY))
        dual = (y * a).sum(axis=0) - 0.5 * (a**2).sum(axis=0)
        # the loss at w = 0: at lam = 0 the optimum may vanish
        rounding = np.full(len(kkt), 4 * EPSILON * 0.5 * (self.y**2).sum())
        zero = np.zeros(len(kkt))
        return Terms(primal, dual, rounding, kkt, infeasible=zero, floor=zero)
