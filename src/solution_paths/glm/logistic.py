"""The logistic loss with an elastic net: optima, duals, and the gap between them.

With r = l1_ratio and signs y the problem is ::

    min over w, b of   P(w, b) = sum_i log(1 + exp(-y_i f_i)) + lam Omega(w),
    f = X w + b,       Omega(w) = r ||w||_1 + (1 - r)/2 ||w||^2,
    max over a of      D(a) = sum_i H(y_i a_i) - (lam Omega)*(X'a)     subject to sum_i a_i = 0,

where H(p) = -p log p - (1 - p) log(1 - p), 0 <= y_i a_i <= 1, and (lam Omega)*(c) is
sum_j max(|c_j| - lam r, 0)^2 / (2 lam (1 - r)); for r = 1 it is 0 where all |c_j| <= lam, and else
infinite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import entr, expit

from ..validation import Floats
from .columns import Columns


@dataclass(frozen=True, eq=False)
class Point:
    """A primal and a dual point at one lam, or at m of them (each array has an axis more).

    Attributes
    ----------
    lam : float
    w, b, f : (k,), float, (n,)
    a, c : (n,), (k,)
        Duals that keep all constraints, and X'a.
    """

    lam: Any
    w: Floats
    b: Any
    f: Floats
    a: Floats
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
class Logistic:
    """A problem for all lam.

    Attributes
    ----------
    columns : Columns
    signs : (n,) array
    l1_ratio : float
    """

    columns: Columns
    signs: Floats
    l1_ratio: float

    @property
    def null(self) -> Point:
        """The optimum for lam = infinity, w = 0; its lam is where it becomes one."""
        up = float((self.signs > 0).mean())
        f = np.full(len(self.signs), np.log(up) - np.log1p(-up))
        w = np.zeros(self.columns.shape[1])
        point = self.point(np.inf, w, f[0], f)
        top = np.abs(point.c).max()
        return Point(top / self.l1_ratio if self.l1_ratio else np.inf, w, f[0], f, point.a, point.c)

    def size(self, w: Floats) -> Floats:
        """Return Omega."""
        r = self.l1_ratio
        return np.asarray(r * np.abs(w).sum(axis=-1) + 0.5 * (1 - r) * (w * w).sum(axis=-1))

    def loss(self, f: Floats) -> Floats:
        """Return the sum of losses."""
        return np.asarray(np.logaddexp(0.0, -self.signs * f).sum(axis=-1))

    def primal(self, lam: float, w: Floats, f: Floats) -> float:
        """Return P."""
        return float(self.loss(f) + lam * self.size(w))

    def point(self, lam: float, w: Floats, b: float, f: Floats) -> Point:
        """Return a primal point with the duals that it suggests, -dP/df, made feasible."""
        share, up = expit(-self.signs * f), self.signs > 0
        above, below = share[up].sum(), share[~up].sum()
        share[up] *= min(1.0, below / above) if above else 1.0
        share[~up] *= min(1.0, above / below) if below else 1.0
        a = self.signs * share
        c = self.columns.against(a)
        top = np.abs(c).max()
        if self.l1_ratio == 1.0 and top > lam:
            a, c = a * (lam / top), c * (lam / top)
        return Point(lam, w, b, f, a, c)

    def gaps(self, at: Point) -> Floats:
        """Return P - D, as a sum of terms that are none of them negative."""
        r, lam, share = self.l1_ratio, np.asarray(at.lam)[..., None], self.signs * at.a
        own = np.logaddexp(0.0, -self.signs * at.f) + at.f * at.a - entr(share) - entr(1.0 - share)
        rest = lam * (r * np.abs(at.w) + 0.5 * (1 - r) * at.w**2) - at.w * at.c
        if r < 1.0:
            rest = rest + np.maximum(np.abs(at.c) - lam * r, 0.0) ** 2 / (2 * (1 - r) * lam)
        return np.asarray(own.sum(axis=-1) + rest.sum(axis=-1))

    def bends(self, at: Point) -> Floats:
        """Return E (m,) for the pieces between m + 1 points on a line; see `follow`."""
        r, lam, f, a = self.l1_ratio, at.lam, at.f, self.signs * at.a
        slope, share, side = expit(f) * expit(-f), a * (1.0 - a), a - 0.5
        least, most = np.minimum(slope[1:], slope[:-1]), np.maximum(share[1:], share[:-1])
        most = np.where(side[1:] * side[:-1] < 0.0, 0.25, most)
        moved = np.diff(a, axis=0) ** 2 / np.where(most > 0.0, most, 1.0)
        convex = (least * np.diff(f, axis=0) ** 2 + moved).sum(axis=1)
        if r < 1.0:
            low, high = np.minimum(lam[1:], lam[:-1]), np.maximum(lam[1:], lam[:-1])
            over = np.abs(at.c) - r * lam[:, None]
            same = (over[1:] > 0.0) & (over[:-1] > 0.0) & (at.c[1:] * at.c[:-1] > 0.0)
            turn = np.where(same, lam[1:, None] * over[:-1] - lam[:-1, None] * over[1:], 0.0)
            convex += (1 - r) * low * (np.diff(at.w, axis=0) ** 2).sum(axis=1)
            convex += (turn**2).sum(axis=1) / ((1 - r) * high**3)
        return np.asarray(-np.diff(lam) * np.diff(self.size(at.w)) - 0.5 * convex)
