"""The lasso: squared loss and l1 penalty."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from .base import FLOOR, Floats, Solution, Terms, spread_of
from .centring import centred, less, shifts_of
from .exact import UNIT, add
from .penalised import TINY, Penalised, off_penalty


@dataclass(frozen=True, eq=False)
class Lasso(Penalised):
    """min 1/2 ||y - X w - b||^2 + lam ||w||_1, where b = 0 unless there is an intercept.

    Its dual is max y.a - 1/2 ||a||^2 over |X'a|_inf <= lam, and sum_i a_i = 0 with an intercept,
    solved by the residual a = y - X w - b; for a bound the residual is balanced, and shrunk until
    it is feasible.

    Parameters
    ----------
    fit_intercept : bool
        Whether b is free.
    others
        See `Penalised`.
    """

    _: KW_ONLY
    fit_intercept: bool = False

    @cached_property
    def shifts(self) -> Floats:
        """What is taken off the columns of X before a path is walked, (d,).

        With an intercept their means; of a CSR matrix, which is to remain one, see `shifts_of`.
        """
        if not self.fit_intercept:
            return np.zeros(self.X.shape[1])
        return shifts_of(self.X) if sp.issparse(self.X) else centred(self.X)[1]

    @cached_property
    def centred(self) -> Any:
        """X less its `shifts`."""
        return centred(self.X)[0] if self._whole else less(self.X, self.shifts)

    @property
    def _whole(self) -> bool:
        """Whether columns are centred one and all."""
        return self.fit_intercept and not sp.issparse(self.X)

    @cached_property
    def walked_targets(self) -> Floats:
        """The targets that a path is walked with: with an intercept less their mean."""
        return centred(self.y)[0] if self.fit_intercept else self.y

    @cached_property
    def target_shift(self) -> float:
        """What is taken off the targets."""
        return float(centred(self.y)[1]) if self.fit_intercept else 0.0

    def solution(self, A: Floats) -> Solution:
        """Read a path's coordinates: w itself, and b beside a CSR matrix less its shifts."""
        d = self.X.shape[1]
        if not self.fit_intercept:
            return Solution(w=A + 0.0)
        b = A[d] if len(A) > d else np.zeros(A.shape[1:])
        return self.at_zero(None, A[:d], b, self.target_shift)

    def public_dual(self, s: Solution) -> Floats:
        """Return the residual y - X w - b."""
        return (self.y - self.decision(self.X, s).T).T

    def states_enough(self, s: Solution) -> bool:
        """Tell whether one solution states w, and a bias if there is one."""
        right = s.w is not None and s.w.shape == self.X.shape[1:]
        if self.fit_intercept:
            return right and s.b is not None
        return right and (s.b is None or not np.any(s.b))

    def terms(
        self, t: Floats, s: Solution, exact: bool = False, low: Floats | float = 0.0
    ) -> Terms:
        """Return what there is to know of solutions in columns at parameters t + low (B,).

        With the dual point a = s r, for the residual r, less its mean m where there is an
        intercept, and any s that makes it feasible, the gap is 1/2 (1 - s)^2 ||r||^2 + n m^2 / 2
        + sum_k (lam |w_k| - s c_k w_k), c = X'r.
        """
        y, w, lam = self.y[:, None], s.w, t + low
        zero = np.zeros(w.shape[1])
        f, f_low, f_off = self.values(w, self.intercepts(s), exact)
        residual, rest = add(y, -f)
        residual = residual + (rest - f_low)
        mean = residual.mean(axis=0) if self.fit_intercept else zero
        residual = residual - mean
        c, c_off = self.correlations(residual, exact)
        off = f_off + UNIT * np.abs(residual)
        targets = self.walked_targets
        scale = max(np.abs(self.X.T @ targets).max(), TINY)
        kkt = off_penalty(c, w, lam, scale, np.maximum(np.abs(w).max(axis=0), TINY))
        unbalance = self.n * np.abs(mean) / max(np.abs(targets).sum(), TINY)
        kkt = np.maximum(kkt, unbalance)
        size, square = np.abs(w).sum(axis=0), (residual**2).sum(axis=0)
        unbalanced = 0.5 * self.n * mean**2
        primal = 0.5 * square + unbalanced + lam * size
        top = np.abs(c).max(axis=0)
        shrink = np.minimum(1.0, lam / np.maximum(top, TINY))
        shrunk = 0.5 * ((1.0 - shrink) * residual) ** 2
        shrunk = shrunk.sum(axis=0) + (lam * np.abs(w) - shrink * c * w).sum(axis=0)
        # or as it is: then lam is exceeded, which counts as much as it changes the optimum
        asis = (np.maximum(lam, top) * np.abs(w) - c * w).sum(axis=0)
        gap = np.maximum(np.minimum(shrunk, asis), 0.0) + unbalanced
        shift = np.sqrt((off**2).sum(axis=0))
        rounding = 2 * size * c_off.max(axis=0) + 8 * UNIT * (lam * size + gap * self.n)
        rounding += shift * ((1.0 - shrink) * np.sqrt(square) + shift)
        unsure = shift * np.sqrt(square) + shift**2 + 2 * (self.n + 8) * UNIT * primal
        kkt_off = c_off.max(axis=0) / scale
        resolution = kkt_resolution = zero
        own, own_off = kkt, kkt_off
        if exact:
            sizes, unit = self.own_scales(residual, self.centred, spread_of(targets))
            own = np.maximum(off_penalty(c, w, lam, sizes, unit), unbalance)
            own_off = (c_off / sizes).max(axis=0)
            wide = abs(self.X)
            values = wide @ np.abs(w) + np.abs(self.intercepts(s))
            resolution = UNIT * (values * (np.abs(residual) + values)).sum(axis=0)
            kkt_resolution = UNIT * (wide.T @ values).max(axis=0) / scale
        null = zero + 0.5 * (targets**2).sum()
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
