"""The l1-norm support vector machine: hinge loss and l1 penalty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..validation import plain_labels
from .base import FLOOR, Floats, Solution, Terms, nearest, slope_of_gap
from .exact import UNIT, add
from .hinge import NOWHERE
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
        """Read a path's coordinates: the duals of samples, -w in `unit`, -b of centred columns."""
        return self.at_zero(A[: self.n], -A[self.n : -1] / self.unit, -A[-1])

    def states_enough(self, s: Solution) -> bool:
        """Tell whether one solution states w and b, and duals of the right shape if any."""
        model = s.w is not None and s.b is not None and s.w.shape == self.X.shape[1:]
        return model and (s.a is None or s.a.shape == self.y.shape)

    def terms(
        self, t: Floats, s: Solution, exact: bool = False, low: Floats | float = 0.0
    ) -> Terms:
        """Return what there is to know of solutions in columns at parameters t + low (B,).

        With c = X'a the gap is sum_i (1 - alpha_i) (1 - m_i)^+ + alpha_i (m_i - 1)^+ for margins m,
        plus sum_k (lam |w_k| - c_k w_k).
        """
        y, (a, w, b), lam = self.y[:, None], s, t + low
        f, f_low, off = self.values(w, b, exact)
        short, rest = add(np.ones(1), -y * f)
        short = short + (rest - y * f_low)
        size, zero = np.abs(w).sum(axis=0), np.zeros(w.shape[1])
        off = off + UNIT * np.abs(short)
        primal = np.maximum(short, 0.0).sum(axis=0) + lam * size
        unsure = np.where(short > -off, off, 0.0).sum(axis=0) + 2 * (self.n + 8) * UNIT * primal
        floor = zero + FLOOR * self.n
        if a is None:
            return Terms.of_primal(primal, unsure, floor)
        alpha = y * a
        clipped = np.clip(alpha, 0.0, 1.0)
        c, c_off = self.correlations(y * clipped, exact)
        scale, top = max(abs(self.X).sum(axis=0).max(), TINY), np.abs(c).max(axis=0)
        late, early = np.maximum(short, 0.0), np.maximum(-short, 0.0)
        lacks = ((1.0 - clipped) * late + clipped * early).sum(axis=0)
        total = np.abs(a.sum(axis=0))
        room = np.minimum(clipped, 1.0 - clipped) >= total
        near = nearest(short, room)
        # where lam is exceeded, that counts as much as it changes the optimum
        pulls = (np.maximum(lam, top) * np.abs(w) - c * w).sum(axis=0)
        gap = lacks + total * near + np.maximum(pulls, 0.0)
        slope = slope_of_gap(short, NOWHERE, off, clipped, 1.0)
        rounding = (slope * off).sum(axis=0) + 2 * size * c_off.max(axis=0)
        rounding += 8 * UNIT * (lam * size + gap * self.n) + UNIT * self.n * near
        box = np.maximum(-alpha, alpha - 1.0).max(axis=0)
        infeasible = np.maximum(np.maximum(box, np.maximum(top - lam, 0.0) / scale), total)
        wrong = np.maximum(
            np.minimum(late, np.maximum(1.0 - alpha, 0.0)),
            np.minimum(early, np.maximum(alpha, 0.0)),
        ).max(axis=0)
        wrong = np.maximum(wrong, np.maximum(box, total))
        stray = off_penalty(c, w, lam, scale, np.maximum(np.abs(w).max(axis=0), TINY))
        kkt = np.maximum(np.maximum(wrong, infeasible), stray)
        doubt = np.where(slope > 0, off, 0.0).max(axis=0)
        kkt_off = np.maximum(doubt, c_off.max(axis=0) / scale)
        resolution = kkt_resolution = zero
        own, own_off = kkt, kkt_off
        if exact:
            sizes, unit = self.own_scales(clipped, self.centred, 1.0)
            own = np.maximum(wrong, off_penalty(c, w, lam, sizes, unit))
            own_off = np.maximum(doubt, (c_off / sizes).max(axis=0))
            resolution, kkt_resolution = self.resolutions(clipped, w, np.abs(b), 1.0, scale)
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
            zero + 2.0 * min((self.y > 0).sum(), (self.y < 0).sum()),
            own,
            own_off,
        )
