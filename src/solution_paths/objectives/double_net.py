"""The double margin within an l1 ball of free radius, and a ridge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..validation import check_number, plain_labels
from .base import FLOOR, Floats, Solution, Terms, nearest
from .elastic_net import Net, ball_multiplier, features_gap, off_ball, unbalance
from .exact import UNIT, add, multiply
from .penalised import TINY, off_penalty


@dataclass(frozen=True, eq=False, kw_only=True)
class DoubleMarginNet(Net):
    """min ridge/2 ||w||^2 + lam1(t) rho + cost(t) sum_i max(0, 1 - m_i, 1 + m_i - kappa rho).

    Over w, a free bias b and rho >= ||w||_1, with margins m_i = y_i (w.x_i + b). rho is the last
    entry of a solution's w; where it is left out the best one is taken. With alpha_i, mu_i >= 0,
    alpha_i + mu_i <= cost, and theta >= 0 its dual is max sum_i (alpha_i + mu_i) minus
    sum_j (|c_j| - theta)^+^2 / (2 ridge) over sum_i a_i = 0 and kappa sum_i mu_i + theta = lam1,
    where a_i = y_i (alpha_i - mu_i) and c = X'a.

    Parameters
    ----------
    kappa : float
        > 0.
    ridge : float
        Weight of ||w||^2 / 2; >= 0.
    cost0, cost1 : float
        The weight of each loss is cost0 + t cost1.
    lam10, lam11 : float
        lam1 = lam10 + t lam11.
    inverse : float
        Where not zero the path's parameter is inverse / t, not t.
    classes : (2,) array
        The labels that were given for -1 and +1.
    others
        See `Penalised`.
    """

    kappa: float
    ridge: float = 0.0
    cost0: float = 0.0
    cost1: float = 0.0
    lam10: float = 0.0
    lam11: float = 0.0
    inverse: float = 0.0
    classes: Floats = (-1.0, 1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kappa", check_number(self.kappa, "kappa", above=0))
        object.__setattr__(self, "ridge", check_number(self.ridge, "ridge", least=0))
        object.__setattr__(self, "classes", plain_labels(self.classes, 2, "classes"))
        super().__post_init__()

    # -- solutions -----------------------------------------------------------------------------

    def solution(self, A: Floats) -> Solution:
        """Read a path's coordinates.

        They are alpha and mu of the samples, minus the ball's multiplier, 0, and minus: two parts
        of w (of the columns in use, in `units`), the larger of rho and 2 / kappa, by how much rho
        is less than that, and b.
        """
        n, d, width = self.n, len(self.used), self.X.shape[1]
        w = np.zeros((width + 1, *A.shape[1:]))
        parts = -A[2 * n + 2 : -3]
        w[self.used] = ((parts[:d] - parts[d:]).T / self.own_units).T
        w[-1] = A[-2] - A[-3]
        a = (self.y * (A[:n] - A[n : 2 * n]).T).T / self.dual_unit
        return self.at_zero(a, w, -A[-1])

    def coefs(self, s: Solution) -> Floats:
        """Return w."""
        return s.w[: self.X.shape[1]]

    def decision(self, X_new: Any, s: Solution) -> Floats:
        """Return f at the rows of X_new, (m,) or (m, B)."""
        return np.asarray(X_new @ self.coefs(s)) + self.intercepts(s)

    def public_dual(self, s: Solution) -> Floats:
        """Return alpha - mu, in [-cost, cost]."""
        return (s.a.T * self.y).T + 0.0

    def states_enough(self, s: Solution) -> bool:
        """Tell whether one solution states w and b, and duals of the right shape if any."""
        d = self.X.shape[1]
        model = s.w is not None and s.b is not None and s.w.shape in ((d,), (d + 1,))
        return model and (s.a is None or s.a.shape == self.y.shape)

    def radius(self, margins: Floats, size: Floats, lam: Floats, cost: Floats) -> Floats:
        """Return the best rho (B,) for margins (n, B) and ||w||_1 (B,).

        Sample i pays for its outer margin below rho_i = min(1 + m_i, 2 m_i) / kappa; rho is worth
        its price as long as kappa cost times the number of those that pay is above lam.
        """
        ends = -np.sort(-np.minimum(1.0 + margins, 2.0 * margins) / self.kappa, axis=0)
        paying = np.arange(1, self.n + 1)[:, None] * self.kappa * cost > lam
        best = np.where(paying, ends, -np.inf).max(axis=0)
        return np.maximum(best, size)

    # -- judgement -----------------------------------------------------------------------------

    def terms(
        self, t: Floats, s: Solution, exact: bool = False, low: Floats | float = 0.0
    ) -> Terms:
        """Return what there is to know of solutions in columns at parameters t + low (B,).

        For the largest loss l_i of each sample the gap is (cost - alpha - mu) l + alpha times what
        l is above 1 - m + mu times what it is above 1 + m - kappa rho, and what features and the
        ball leave, see `ElasticNet.terms`. Duals say alpha - mu; what both have in common, and
        theta, are chosen so that the balance of rho holds.
        """
        t, d = t + low, self.X.shape[1]
        cost = np.maximum(self.cost0 + t * self.cost1, 0.0)
        lam = np.maximum(self.lam10 + t * self.lam11, 0.0)
        a, w, b, y = s.a, s.w[:d], s.b, self.y[:, None]
        size, zero = np.abs(w).sum(axis=0), np.zeros(w.shape[1])
        rho, inner, outer, across, off = self._losses(s, size, lam, cost, exact)
        top = np.maximum(np.maximum(inner, outer), 0.0)
        unit = np.where(cost > 0, cost, 1.0)
        primal = self.ridge / 2 * (w**2).sum(axis=0) + lam * rho + cost * top.sum(axis=0)
        near_top = np.maximum(inner, outer) > -off
        unsure = cost * np.where(near_top, off, 0.0).sum(axis=0)
        unsure = unsure + 2 * (self.n + d + 8) * UNIT * primal
        floor = zero + FLOOR * self.n * cost
        if a is None:
            return Terms.of_primal(primal, unsure, floor)
        g = np.clip(y * a, -cost, cost)
        c, c_off = self.correlations(y * g, exact)
        alpha, mu, theta, short = self._completed(g, c, rho, lam, cost)
        rest = np.maximum(cost - alpha - mu, 0.0)
        below_inner, below_outer = np.maximum(-inner, -across), np.maximum(-outer, across)
        above_inner, above_outer = np.maximum(below_inner, 0.0), np.maximum(below_outer, 0.0)
        lacks = (rest * top + alpha * above_inner + mu * above_outer).sum(axis=0)
        near_inner, near_outer = below_inner > -2 * off, below_outer > -2 * off
        doubt = (rest * near_top + 2 * alpha * near_inner + 2 * mu * near_outer) * off
        scale = self._steepest * unit
        least = 1.0 / max(float(np.abs(self.X).max()), TINY)
        pulls, pulls_off, stray, outside = features_gap(
            c, c_off, w, theta, self.ridge, scale, least
        )
        total = np.abs(a.sum(axis=0))
        kink = np.minimum(np.minimum(np.abs(inner), np.abs(outer)), np.abs(across))
        near = nearest(kink, np.abs(g) <= np.maximum(cost - total, 0.0))
        gap = lacks + pulls + theta * np.abs(rho - size) + total * near
        rounding = doubt.sum(axis=0) + pulls_off + 8 * UNIT * (lam * rho + gap * self.n)
        rounding = rounding + UNIT * (self.n * near * cost + theta * d * size)
        box = np.abs(y * a - g).max(axis=0) / unit
        short = short / (self.kappa * self.n * unit)
        infeasible = np.maximum(np.maximum(box, outside), np.maximum(short, total / unit))
        ball = off_ball(size, rho, theta / scale, 1.0 / self.kappa)
        pairs = ((rest, top), (alpha, above_inner), (mu, above_outer))
        wrong = np.max([np.minimum(dual / unit, lack) for dual, lack in pairs], axis=0).max(axis=0)
        kkt = np.maximum(np.maximum(wrong, infeasible), np.maximum(stray, ball))
        off = 2 * np.where(doubt > 0, off, 0.0).max(axis=0)
        kkt_off = np.maximum(off, c_off.max(axis=0) / scale)
        null = (np.abs(g) if self.cost1 else cost + 0.0 * g).sum(axis=0)
        resolution = kkt_resolution = zero
        own, own_off = kkt, kkt_off
        if exact:
            sizes, own_unit = self.own_scales(g, self.centred, 1.0)
            own = off_penalty(c, w, theta, sizes, own_unit, self.ridge)
            ball = off_ball(size, rho, theta / sizes.max(axis=0), 1.0 / self.kappa)
            own = np.maximum(np.maximum(own, ball), np.maximum(wrong, np.maximum(box, short)))
            own = np.maximum(own, unbalance(a))
            own_off = np.maximum(off, (c_off / sizes).max(axis=0))
            constant = np.abs(b) + self.kappa * np.abs(rho)
            resolution, kkt_resolution = self.resolutions(g, w, constant, cost, scale)
        return Terms(
            primal,
            gap,
            rounding,
            kkt,
            kkt_off,
            infeasible,
            floor,
            unsure,
            resolution,
            kkt_resolution,
            null,
            own,
            own_off,
        )

    def _losses(
        self, s: Solution, size: Floats, lam: Floats, cost: Floats, exact: bool
    ) -> tuple[Floats, ...]:
        """Return rho, the losses 1 - m and 1 + m - kappa rho, their difference, what is unsure.

        Each is rounded once.
        """
        d, y = self.X.shape[1], self.y[:, None]
        f, f_low, off = self.values(s.w[:d], s.b, exact)
        m, m_low = y * f, y * f_low
        rho = s.w[d] if len(s.w) > d else self.radius(m + m_low, size, lam, cost)
        far, far_low = multiply(rho, self.kappa)
        inner, rest = add(np.ones(1), -m)
        inner = inner + (rest - m_low)
        across, rest = add(far + 0.0 * m, -2.0 * m)
        across = across + (rest - 2.0 * m_low + far_low)
        part, more = add(far + 0.0 * m, -m)
        outer, rest = add(np.ones(1), -part)
        outer = outer + (rest - more + m_low - far_low)
        off = off + 4 * UNIT * (np.abs(m) + np.abs(far) * (not exact)) + UNIT * np.abs(inner)
        return rho, inner, outer, across, off

    def _completed(
        self, g: Floats, c: Floats, rho: Floats, lam: Floats, cost: Floats
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Return alpha, mu, theta, and by how much the balance of rho can't be met.

        alpha - mu is g; what is added to both adds up to what lam leaves.
        """
        mu = np.maximum(-g, 0.0)
        room = 0.5 * np.maximum(cost - np.abs(g), 0.0)
        most = lam - self.kappa * mu.sum(axis=0)
        least = most - self.kappa * room.sum(axis=0)
        theta = ball_multiplier(c, np.zeros(1), self.ridge, rho)
        theta = np.maximum(np.clip(theta, np.maximum(least, 0.0), np.maximum(most, 0.0)), 0.0)
        total = np.maximum(self.kappa * room.sum(axis=0), TINY)
        both = room * np.clip((most - theta) / total, 0.0, 1.0)
        short = np.maximum(-most, 0.0) + np.maximum(least - theta, 0.0)
        return np.maximum(g, 0.0) + both, mu + both, theta, short
