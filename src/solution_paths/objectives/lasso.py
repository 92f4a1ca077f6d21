"""The lasso: squared loss and l1 penalty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .base import FLOOR, Floats, Solution, Terms, spread_of
from .exact import UNIT, add
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

    def terms(
        self, t: Floats, s: Solution, exact: bool = False, low: Floats | float = 0.0
    ) -> Terms:
        """Return what there is to know of solutions in columns at parameters t + low (B,).

        With the dual point a = s r, for the residual r and any s that makes it feasible, the gap is
        1/2 (1 - s)^2 ||r||^2 + sum_k (lam |w_k| - s c_k w_k), c = X'r.
        """
        y, w, lam = self.y[:, None], s.w, t + low
        zero = np.zeros(w.shape[1])
        f, f_low, f_off = self.values(w, zero, exact)
        residual, rest = add(y, -f)
        residual = residual + (rest - f_low)
        c, c_off = self.correlations(residual, exact)
        off = f_off + UNIT * np.abs(residual)
        scale = max(np.abs(self.X.T @ self.y).max(), TINY)
        kkt = off_penalty(c, w, lam, scale, np.maximum(np.abs(w).max(axis=0), TINY))
        size, square = np.abs(w).sum(axis=0), (residual**2).sum(axis=0)
        primal = 0.5 * square + lam * size
        top = np.abs(c).max(axis=0)
        shrink = np.minimum(1.0, lam / np.maximum(top, TINY))
        shrunk = 0.5 * ((1.0 - shrink) * residual) ** 2
        shrunk = shrunk.sum(axis=0) + (lam * np.abs(w) - shrink * c * w).sum(axis=0)
        # or as it is: then lam is exceeded, which counts as much as it changes the optimum
        asis = (np.maximum(lam, top) * np.abs(w) - c * w).sum(axis=0)
        gap = np.maximum(np.minimum(shrunk, asis), 0.0)
        shift = np.sqrt((off**2).sum(axis=0))
        rounding = 2 * size * c_off.max(axis=0) + 8 * UNIT * (lam * size + gap * self.n)
        rounding += shift * ((1.0 - shrink) * np.sqrt(square) + shift)
        unsure = shift * np.sqrt(square) + shift**2 + 2 * (self.n + 8) * UNIT * primal
        kkt_off = c_off.max(axis=0) / scale
        resolution = kkt_resolution = zero
        own, own_off = kkt, kkt_off
        if exact:
            sizes, unit = self.own_scales(residual, self.X, spread_of(self.y))
            own, own_off = off_penalty(c, w, lam, sizes, unit), (c_off / sizes).max(axis=0)
            wide = np.abs(self.X)
            values = wide @ np.abs(w)
            resolution = UNIT * (values * (np.abs(residual) + values)).sum(axis=0)
            kkt_resolution = UNIT * (wide.T @ values).max(axis=0) / scale
        null = zero + 0.5 * (self.y**2).sum()
        return Terms(
            primal,
            gap,
            rounding,
            kkt,
            kkt_off,
            zero,
            FLOOR * null,
            unsure,
            resolution,
            kkt_resolution,
            null,
            own,
            own_off,
        )
