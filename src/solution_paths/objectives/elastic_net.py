"""Convex piecewise-linear losses under an elastic net, or within an l1 ball."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..validation import check_number, plain_labels
from .base import FLOOR, Floats, Solution, Terms, largest, slope_of_gap, spread_of
from .centring import shift_of_targets
from .exact import UNIT, add
from .hinge import NOWHERE
from .penalised import TINY, Penalised, off_penalty


class Corners(NamedTuple):
    """What the corners of all losses have in common at some solutions; entries are (B,).

    ``lacks`` is the gap that samples leave, ``slope`` how fast it changes with values at most
    (times their rounding), ``wrong`` (2, B) the worst violation of complementarity, for values in
    units of their range, and in those of what they mostly differ by.
    """

    primal: Floats
    unsure: Floats
    lacks: Floats
    rounding: Floats
    wrong: Floats
    wrong_off: Floats
    near: Floats


class Net(Penalised):
    """A penalised model whose path has the coefficients of columns, rescaled, as coordinates."""

    ridge: float
    inverse: float

    @cached_property
    def used(self) -> NDArray[np.int64]:
        """The columns that may have a coefficient: all but the constant ones, which a bias does."""
        return np.flatnonzero(np.ptp(self.X, axis=0) > 0)

    def at_ridge(self, ridge: float) -> Self:
        """Return the model with another ridge; what was found out about the data is shared."""
        other = copy(self)
        object.__setattr__(other, "ridge", check_number(ridge, "ridge", least=0))
        return other

    @cached_property
    def varying(self) -> Floats:
        """The columns in use, centred."""
        return self.centred[:, self.used]

    @cached_property
    def own_units(self) -> Floats:
        """The `units` of the columns in use."""
        return self.units[self.used]

    @cached_property
    def unit(self) -> float:
        """The one in the middle of them."""
        return float(np.sort(self.own_units)[len(self.used) // 2]) if len(self.used) else 1.0

    @property
    def dual_unit(self) -> float:
        """By how much a path's duals are larger, where costs grow with t = 1 / ridge."""
        return self.unit**2 if self.inverse else 1.0

    @cached_property
    def _steepest(self) -> float:
        """The largest correlation that duals of unit size can have."""
        return max(float(np.abs(self.X).sum(axis=0).max()), TINY)


@dataclass(frozen=True, eq=False, kw_only=True)
class ElasticNet(Net):
    """min ridge/2 ||w||^2 + lam1(t) ||w||_1 + cost(t) sum_i loss(r_i), where ||w||_1 <= s(t).

    r_i is y_i - f_i for real targets and 1 - y_i f_i for labels, f_i = w.x_i + b with a free bias.
    The loss is convex and piecewise linear, with least value 0. Its dual is over levels a_i between
    the slopes and sum_i a_i = 0; with c = X'a, lam = lam1 + theta and the multiplier theta >= 0 of
    the ball it loses s theta + sum_j (|c_j| - lam)^+^2 / (2 ridge).

    Parameters
    ----------
    kinks : (q,) array
        Where the loss bends, ascending, in units of r.
    slopes : (q + 1,) array
        Its slopes, ascending, the first <= 0 <= the last.
    ridge : float
        Weight of ||w||^2 / 2; >= 0.
    cost0, cost1 : float
        The weight of each loss is cost0 + t cost1.
    lam10, lam11 : float
        lam1 = lam10 + t lam11.
    s0, s1 : float
        The radius s = s0 + t s1 of the ball; s0 = inf where there is none.
    inverse : float
        Where not zero the path's parameter is inverse / t, not t.
    classes : (2,) array
        The labels that were given for -1 and +1; empty for real targets.
    """

    kinks: Floats
    slopes: Floats
    ridge: float = 0.0
    cost0: float = 0.0
    cost1: float = 0.0
    lam10: float = 0.0
    lam11: float = 0.0
    s0: float = np.inf
    s1: float = 0.0
    inverse: float = 0.0
    classes: Floats = ()

    def __post_init__(self) -> None:
        kinks, slopes = (np.array(v, dtype=np.float64) for v in (self.kinks, self.slopes))
        object.__setattr__(self, "kinks", kinks)
        object.__setattr__(self, "slopes", slopes)
        object.__setattr__(self, "ridge", check_number(self.ridge, "ridge", least=0))
        labels = np.asarray(self.classes)
        labels = plain_labels(labels, 2, "classes") if len(labels) else np.empty(0)
        object.__setattr__(self, "classes", labels)
        super().__post_init__()

    # -- the loss as a function of f -----------------------------------------------------------

    @cached_property
    def corners(self) -> Floats:
        """The (n, q) values of f at which each sample's loss bends, ascending."""
        if not len(self.classes):
            return self.y[:, None] - self.kinks[::-1]
        up, down = 1.0 - self.kinks[::-1], self.kinks - 1.0
        return np.where(self.y[:, None] > 0, up, down)

    @cached_property
    def target_shift(self) -> float:
        """What is taken off real targets before a path is walked."""
        return 0.0 if len(self.classes) else shift_of_targets(self.y)

    @cached_property
    def walked_corners(self) -> Floats:
        """The `corners` that a path is walked with: those of targets less their shift."""
        if not self.target_shift:
            return self.corners
        return (self.y - self.target_shift)[:, None] - self.kinks[::-1]

    @cached_property
    def levels(self) -> Floats:
        """The (n, q + 1) negative slopes between them, descending, for a cost of 1."""
        up, down = self.slopes[::-1], -self.slopes
        falls = self.y[:, None] > 0 if len(self.classes) else np.ones((self.n, 1), dtype=bool)
        return np.where(falls, up, down)

    @property
    def balled(self) -> bool:
        """Whether there is a ball, whose multiplier is a coordinate and w split by signs."""
        return self.s0 < np.inf

    @property
    def scale(self) -> float:
        """The unit of values: 1 for labels, else the targets' range."""
        if len(self.classes):
            return 1.0
        return float(np.ptp(self.y) or np.abs(self.y).max() or 1.0)

    # -- solutions -----------------------------------------------------------------------------

    def solution(self, A: Floats) -> Solution:
        """Read a path's coordinates.

        They are the samples' duals, and minus w (of the columns in use, in `units`) and b beside
        the centred columns and targets. With a ball its multiplier follows the samples, negative,
        and w is the difference of two parts.
        """
        d, first = len(self.used), self.n + self.balled
        w = np.zeros((self.X.shape[1], *A.shape[1:]))
        parts = -A[first : first + d]
        if self.balled:
            parts = parts + A[first + d : first + 2 * d]
        w[self.used] = (parts.T / self.own_units).T
        return self.at_zero(A[: self.n] / self.dual_unit, w, -A[-1], self.target_shift)

    def states_enough(self, s: Solution) -> bool:
        """Tell whether one solution states w and b, and duals of the right shape if any."""
        model = s.w is not None and s.b is not None and s.w.shape == self.X.shape[1:]
        return model and (s.a is None or s.a.shape == self.y.shape)

    def multiplier(self, c: Floats, lam: Floats, s: Floats) -> Floats:
        """Return the ball's multiplier theta (B,) that bounds best for correlations c (d, B)."""
        if not self.balled:
            return np.zeros(c.shape[1])
        return ball_multiplier(c, lam, self.ridge, s)

    # -- judgement -----------------------------------------------------------------------------

    def terms(
        self, t: Floats, s: Solution, exact: bool = False, low: Floats | float = 0.0
    ) -> Terms:
        """Return what there is to know of solutions in columns at parameters t + low (B,).

        Every kink of a loss is a hinge, whose gap is that of its own box; to these it adds, for
        g = (|c| - lam)^+, (ridge |w| - g)^2 / (2 ridge) + |w| max(|c|, lam) - c w of each feature,
        and theta (s - ||w||_1).
        """
        t = t + low
        cost, lam, radius = (
            np.maximum(v0 + t * v1, 0.0)
            for v0, v1 in ((self.cost0, self.cost1), (self.lam10, self.lam11), (self.s0, self.s1))
        )
        a, w, b = s
        size, zero = np.abs(w).sum(axis=0), np.zeros(w.shape[1])
        f, f_low, off = self.values(w, b, exact)
        unit = np.where(cost > 0, cost, 1.0) * np.ptp(self.slopes)
        clipped = (
            None if a is None else np.clip(a, self.levels[:, -1:] * cost, self.levels[:, :1] * cost)
        )
        found = self._corners(f, f_low, off, clipped, cost, unit)
        floor = zero + FLOOR * self.n * cost * np.ptp(self.slopes) * self._typical
        square = self.ridge / 2 * (w**2).sum(axis=0)
        primal = square + lam * size + found.primal
        unsure = found.unsure + 2 * (self.n + self.X.shape[1] + 8) * UNIT * primal
        if a is None:
            return Terms.of_primal(primal, unsure, floor)
        c, c_off = self.correlations(clipped, exact)
        theta = self.multiplier(c, lam, radius)
        scale = self._steepest * unit
        pulls, pulls_off, stray, outside = features_gap(
            c, c_off, w, lam + theta, self.ridge, scale, self.scale / self._widest
        )
        slack = theta * np.abs(radius - size) if self.balled else zero
        ball = off_ball(size, radius, theta / scale) if self.balled else zero
        total = np.abs(a.sum(axis=0))
        gap = found.lacks + pulls + slack + total * found.near
        rounding = found.rounding + pulls_off + 8 * UNIT * ((lam + theta) * size + gap * self.n)
        rounding = rounding + UNIT * self.n * found.near * np.abs(a).max(axis=0)
        if self.balled:
            rounding = rounding + theta * self.X.shape[1] * UNIT * size
        box = np.abs(a - clipped).max(axis=0) / unit
        infeasible = np.maximum(np.maximum(box, outside), total / unit)
        kkt = np.maximum(np.maximum(found.wrong[0], infeasible), np.maximum(stray, ball))
        kkt_off = np.maximum(found.wrong_off[0], c_off.max(axis=0) / scale)
        resolution = kkt_resolution = zero
        own, own_off = kkt, kkt_off
        if exact:
            sizes, own_unit = self.own_scales(clipped, self.centred, self.spread)
            own = off_penalty(c, w, lam + theta, sizes, own_unit, self.ridge)
            own = np.maximum(np.maximum(own, box), np.maximum(found.wrong[1], unbalance(a)))
            if self.balled:
                own = np.maximum(own, off_ball(size, radius, theta / sizes.max(axis=0)))
            own_off = np.maximum(found.wrong_off[1], (c_off / sizes).max(axis=0))
            resolution, kkt_resolution = self.resolutions(
                clipped, w, np.abs(b), unit, scale, self.scale
            )
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
            self._null(clipped, cost),
            own,
            own_off,
        )

    def _null(self, a: Floats, cost: Floats) -> Floats:
        """Return what the median, or 0 beside labels, loses; see `Terms`."""
        weights = np.abs(a) if self.cost1 else np.abs(self.slopes).max() * cost + 0.0 * a
        away = np.ones(self.n) if len(self.classes) else np.abs(self.y - np.median(self.y))
        return away @ weights

    @cached_property
    def spread(self) -> float:
        """What values mostly differ by: 1 for labels."""
        return 1.0 if len(self.classes) else spread_of(self.y)

    @cached_property
    def _typical(self) -> float:
        """What a loss at a constant is like, in units of r."""
        return 1.0 if len(self.classes) else float(np.abs(self.y).max() or 1.0)

    @cached_property
    def _widest(self) -> float:
        """The largest entry of X."""
        return max(float(np.abs(self.X).max()), TINY)

    def _corners(
        self,
        f: Floats,
        f_low: Floats,
        off: Floats,
        a: Floats | None,
        cost: Floats,
        unit: Floats,
    ) -> Corners:
        """Return what samples contribute, summed over the kinks of their losses.

        Each kink is a hinge of its own width, in whose box lies a part of the dual.
        """
        zero, units = np.zeros(f.shape[1]), np.array([[self.scale], [self.spread]])
        primal, unsure, lacks, rounding = (zero.copy() for _ in range(4))
        wrong, wrong_off = np.zeros((2, len(zero))), np.zeros((2, len(zero)))
        near, far = zero + np.inf, zero
        total = zero if a is None else np.abs(a.sum(axis=0))
        for q in range(len(self.kinks)):
            kink, upper, lower = self.corners[:, q, None], self.levels[:, q], self.levels[:, q + 1]
            below, rest = add(kink, -f)  # how far f is below the kink
            below = below + (rest - f_low)
            doubt = off + UNIT * np.abs(below)
            rising, falling = np.maximum(below, 0.0), np.maximum(-below, 0.0)
            up = (np.maximum(upper, 0.0) - np.maximum(lower, 0.0))[:, None] * cost
            down = (np.maximum(-lower, 0.0) - np.maximum(-upper, 0.0))[:, None] * cost
            primal += (up * rising + down * falling).sum(axis=0)
            unsure += (np.where(below > -doubt, up, 0.0) * doubt).sum(axis=0)
            unsure += (np.where(-below > -doubt, down, 0.0) * doubt).sum(axis=0)
            if a is None:
                continue
            width = (upper - lower)[:, None] * cost
            part = np.clip(a - lower[:, None] * cost, 0.0, width)
            lacks += ((width - part) * rising + part * falling).sum(axis=0)
            slope = slope_of_gap(below, NOWHERE, doubt, part, width)
            rounding += (slope * doubt).sum(axis=0)
            for k, of_values in enumerate((self.scale, self.spread)):
                late = np.minimum(rising / of_values, (width - part) / unit)
                early = np.minimum(falling / of_values, part / unit)
                wrong[k] = np.maximum(wrong[k], np.maximum(late, early).max(axis=0))
            counted = np.where(slope > 0, doubt, 0.0).max(axis=0)
            wrong_off = np.maximum(wrong_off, counted / units)
            room = np.minimum(part, width - part) >= total
            near = np.minimum(near, np.where(room, np.abs(below), np.inf).min(axis=0))
            far = np.maximum(far, np.abs(below).max(axis=0))
        near = np.where(np.isfinite(near), near, far)
        return Corners(primal, unsure, lacks, rounding, wrong, wrong_off, near)


def off_ball(size: Floats, radius: Floats, theta: Floats, least: float = TINY) -> Floats:
    """Return how far ||w||_1 = size is from its radius: outside, or inside where theta isn't 0.

    theta is the ball's multiplier, in units of correlations; sizes count relative to the radius, or
    to ``least``.
    """
    apart = (size - radius) / np.maximum(np.maximum(radius, size), least)
    return np.maximum(apart, np.minimum(-apart, theta))


def unbalance(a: Floats) -> Floats:
    """Return how far duals are from a balance (B,), in units of the largest one."""
    return np.abs(a.sum(axis=0)) / largest(np.abs(a))


def ball_multiplier(c: Floats, lam: Floats, ridge: float, s: Floats) -> Floats:
    """Return the multiplier theta (B,) of ||w||_1 <= s that bounds best for correlations c (d, B).

    It solves sum_j (|c_j| - lam - theta)^+ = ridge s, or is 0 where the ball doesn't bind.
    """
    over = -np.sort(-np.abs(c), axis=0) - lam
    if ridge == 0.0:
        return np.maximum(over[0], 0.0)
    count = np.arange(1, len(over) + 1)[:, None]
    level = (np.cumsum(over, axis=0) - ridge * s) / count
    return np.maximum(np.where(over >= level, level, -np.inf).max(axis=0), 0.0)


def features_gap(
    c: Floats, c_off: Floats, w: Floats, lam: Floats, ridge: float, scale: Floats, least: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the features' share of the gap, its rounding, and how far pairs (c, w) are off.

    The last of them is by how much correlations exceed lam without a ridge. Correlations count in
    units of ``scale``, and coefficients in those of the largest one, or of ``least``.
    """
    length, top = np.abs(w), np.abs(c)
    over = np.maximum(top - lam, 0.0)
    pulls = length * (np.maximum(top, lam) - c * np.sign(w))
    # what is beyond lam but for the ridge's own share of it
    off = over - ridge * length
    if ridge > 0:
        pulls = pulls + off**2 / (2 * ridge)
        more = c_off * (np.abs(off) / ridge + c_off / (2 * ridge))
        outside = np.zeros(w.shape[1])
    else:
        more, outside = np.zeros_like(c), over.max(axis=0) / scale
    rounding = (2 * length * c_off + more).sum(axis=0) + 8 * UNIT * (length * top).sum(axis=0)
    stray = off_penalty(c, w, lam, scale, np.maximum(length.max(axis=0), least), ridge)
    return pulls.sum(axis=0), rounding, stray, outside
