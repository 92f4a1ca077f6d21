"""A generalised linear model with an elastic net: optima, duals, and the gap between them.

With losses l_i of `losses`, weights m_i > 0 and r = l1_ratio the problem is ::

    min over w, b of   P(w, b) = sum_i m_i l_i(f_i) + lam Omega(w),
    f = X w + b,       Omega(w) = r ||w||_1 + (1 - r)/2 ||w||^2,
    max over u of      D(u) = - sum_i m_i l_i*(-u_i) - (lam Omega)*(X'M u)
                       subject to sum_i m_i u_i = 0,

where M has m on its diagonal, and (lam Omega)*(c) is sum_j max(|c_j| - lam r, 0)^2 /
(2 lam (1 - r)); for r = 1 it is 0 where all |c_j| <= lam, and else infinite. A weight counts as so
many equal samples, which have equal duals.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..validation import Floats
from .columns import Columns
from .losses import Loss


@dataclass(frozen=True, eq=False)
class Point:
    """A primal and a dual point at one lam, or at m of them (each array has an axis more).

    Attributes
    ----------
    lam : float
    w, b, f : (k,), float, (n,)
    u, c : (n,), (k,)
        Duals that keep all constraints, and X'M u.
    """

    lam: Any
    w: Floats
    b: Any
    f: Floats
    u: Floats
    c: Floats

    def towards(self, other: Point, share: Floats) -> Point:
        """Return the points at shares (m,) of the way to another point."""
        mine, its = vars(self), vars(other)
        return Point(
            **{
                k: np.multiply.outer(1 - share, mine[k]) + np.multiply.outer(share, its[k])
                for k in mine
            }
        )


@dataclass(frozen=True, eq=False)
class Penalised:
    """A problem for all lam.

    Attributes
    ----------
    columns : Columns
    loss : Loss
    weights : (n,) array
        All > 0.
    l1_ratio : float
    """

    columns: Columns
    loss: Loss
    weights: Floats
    l1_ratio: float

    @property
    def null(self) -> Point:
        """The optimum for lam = infinity, w = 0; its lam is where it becomes one."""
        f = np.full(len(self.weights), self.loss.centre(self.weights))
        w = np.zeros(self.columns.shape[1])
        point = self.point(np.inf, w, f[0], f)
        top = np.abs(point.c).max()
        return replace(point, lam=top / self.l1_ratio if self.l1_ratio else np.inf)

    def size(self, w: Floats) -> Floats:
        """Return Omega."""
        r = self.l1_ratio
        return np.asarray(r * np.abs(w).sum(axis=-1) + 0.5 * (1 - r) * (w * w).sum(axis=-1))

    def primal(self, lam: float, w: Floats, f: Floats) -> float:
        """Return P."""
        return float(self.loss.value(f) @ self.weights + lam * self.size(w))

    def point(self, lam: float, w: Floats, b: float, f: Floats) -> Point:
        """Return a primal point with the duals that it suggests, made feasible."""
        u = self.loss.balanced(self.loss.dual(f), self.weights)
        c = self.columns.against(self.weights * u)
        top = np.abs(c).max()
        if self.l1_ratio == 1.0 and top > lam:
            u, c = u * (lam / top), c * (lam / top)
        return Point(lam, w, b, f, u, c)

    def gaps(self, at: Point) -> Floats:
        """Return P - D, as a sum of terms that are none of them negative."""
        r, lam = self.l1_ratio, np.asarray(at.lam)[..., None]
        own = self.loss.value(at.f) + at.f * at.u + self.loss.conjugate(at.u)
        rest = lam * (r * np.abs(at.w) + 0.5 * (1 - r) * at.w**2) - at.w * at.c
        if r < 1.0:
            rest = rest + np.maximum(np.abs(at.c) - lam * r, 0.0) ** 2 / (2 * (1 - r) * lam)
        return np.asarray(own @ self.weights + rest.sum(axis=-1))

    def bends(self, at: Point) -> Floats:
        """Return E (m,) for the pieces between m + 1 points on a line; see `follow`."""
        r, lam, slope = self.l1_ratio, at.lam, self.loss.curvature(at.f)
        least, most = np.minimum(slope[1:], slope[:-1]), self.loss.spread(at.u[1:], at.u[:-1])
        moved = np.diff(at.u, axis=0) ** 2 / np.where(most > 0.0, most, 1.0)
        convex = (least * np.diff(at.f, axis=0) ** 2 + moved) @ self.weights
        if r < 1.0:
            low, high = np.minimum(lam[1:], lam[:-1]), np.maximum(lam[1:], lam[:-1])
            over = np.abs(at.c) - r * lam[:, None]
            same = (over[1:] > 0.0) & (over[:-1] > 0.0) & (at.c[1:] * at.c[:-1] > 0.0)
            turn = np.where(same, lam[1:, None] * over[:-1] - lam[:-1, None] * over[1:], 0.0)
            convex += (1 - r) * low * (np.diff(at.w, axis=0) ** 2).sum(axis=1)
            convex += (turn**2).sum(axis=1) / ((1 - r) * high**3)
        return np.asarray(-np.diff(lam) * np.diff(self.size(at.w)) - 0.5 * convex)
