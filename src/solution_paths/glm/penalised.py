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
    """A primal and a dual point at one lam, or at m of them (each array with one more axis).

    Attributes
    ----------
    lam : float
    w, b, f : (k,), float, (n,)
    u, c : (n,), (k,)
        Feasible duals, and X'M u.
    """

    lam: Any
    w: Floats
    b: Any
    f: Floats
    u: Floats
    c: Floats

    def towards(self, other: Point, share: Floats) -> Point:
        """Return the points at shares (m,) of the way to another point."""
        start, end = vars(self), vars(other)
        return Point(
            **{
                k: np.multiply.outer(1 - share, start[k]) + np.multiply.outer(share, end[k])
                for k in start
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
        """The optimum w = 0 for lam = infinity; its ``lam`` is the least for which it is one."""
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
        """Return a primal point with duals from the losses' derivatives, made feasible."""
        u = self.loss.balanced(self.loss.dual(f), self.weights)
        c = self.columns.against(self.weights * u)
        top = np.abs(c).max()
        if self.l1_ratio == 1.0 and top > lam:
            u, c = u * (lam / top), c * (lam / top)
        return Point(lam, w, b, f, u, c)

    def gaps(self, point: Point) -> Floats:
        """Return P - D, as a sum of non-negative terms."""
        r, lam = self.l1_ratio, np.asarray(point.lam)[..., None]
        loss_gaps = self.loss.value(point.f) + point.f * point.u + self.loss.conjugate(point.u)
        penalty_gaps = lam * (r * np.abs(point.w) + 0.5 * (1 - r) * point.w**2) - point.w * point.c
        if r < 1.0:
            penalty_gaps = penalty_gaps + np.maximum(np.abs(point.c) - lam * r, 0.0) ** 2 / (
                2 * (1 - r) * lam
            )
        return np.asarray(loss_gaps @ self.weights + penalty_gaps.sum(axis=-1))

    def bends(self, points: Point) -> Floats:
        """Return the bound E (m,) for the pieces between m + 1 points on a line; see `follow`."""
        r, lam, slope = self.l1_ratio, points.lam, self.loss.curvature(points.f)
        curvature, inverse_curvature = (
            np.minimum(slope[1:], slope[:-1]),
            self.loss.inverse_conjugate_curvature(points.u[1:], points.u[:-1]),
        )
        moved = np.diff(points.u, axis=0) ** 2 / np.where(
            inverse_curvature > 0.0, inverse_curvature, 1.0
        )
        convex = (curvature * np.diff(points.f, axis=0) ** 2 + moved) @ self.weights
        if r < 1.0:
            low, high = np.minimum(lam[1:], lam[:-1]), np.maximum(lam[1:], lam[:-1])
            over = np.abs(points.c) - r * lam[:, None]
            same = (over[1:] > 0.0) & (over[:-1] > 0.0) & (points.c[1:] * points.c[:-1] > 0.0)
            turn = np.where(same, lam[1:, None] * over[:-1] - lam[:-1, None] * over[1:], 0.0)
            convex += (1 - r) * low * (np.diff(points.w, axis=0) ** 2).sum(axis=1)
            convex += (turn**2).sum(axis=1) / ((1 - r) * high**3)
        return np.asarray(-np.diff(lam) * np.diff(self.size(points.w)) - 0.5 * convex)
