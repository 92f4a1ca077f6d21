"""Straight lines along a curved path, none of which leaves a duality gap above a limit.

Let w, b, the duals u and lam all move linearly in s, 0 <= s <= 1. The duals stay feasible, as their
constraints are convex in (u, lam). By `penalised` the gap P - D is ::

    G(s) = sum_i m_i l_i(f_i) + sum_i m_i l_i*(-u_i) + (lam Omega)*(X'M u) + lam Omega(w).

The first three terms are convex in s; the third is lam Omega*(X'M u / lam), the perspective of a
convex function. A function whose second derivative is at least k is at most its chord less
k s (1 - s) / 2. Omega(w) is at most its chord, and lam > 0 times that chord is the chord of the
product less s (1 - s) times the product of the changes, that of lam and that of Omega. So ::

    G(s) <= (1 - s) G(0) + s G(1) + s (1 - s) E,
    E = - d(lam) d(Omega) - 1/2 [sum_i m_i (v_i d(f_i)^2 + d(u_i)^2 / q_i) + ridge + conjugate],

where d is a change from s = 0 to 1, v_i the least l_i'' (it is at one end) and q_i the largest
1 / l_i*'' between, ridge = (1 - r) min(lam) ||d(w)||^2, and conjugate is the sum of
(lam_0 o_j1 - lam_1 o_j0)^2 / ((1 - r) max(lam)^3) over those j for which o_j = |c_j| - lam r stays
positive and c_j has one sign: the second derivative of o_j^2 / (2 lam (1 - r)) at its least.

This holds between any two points of a line. So `worst` evaluates G at k + 1 of them, which takes no
product with X, and bounds it between neighbours, where E is smaller by more than k^2. The bound is
as near to the largest gap as wanted, and no gap between the points escapes it, but for rounding.

With k = 1, optima at both ends and E <= - d(lam) d(Omega) a line keeps the limit where this is at
most 4 limits. By the inequality of Cauchy and Schwarz 1 + sqrt(d(lam) d(Omega) / (4 limit)) such
lines suffice, with the changes along the whole path. As lam Omega <= P(0), for a limit of eps P(0)
these are at most 1 + 1 / (2 sqrt(eps)) from any lam to lam / 2. Where the path is smooth the gap of
a line is of the fourth order in its length, and about eps^(-1/4) lines suffice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..validation import Floats
from .columns import Columns
from .losses import Loss
from .newton import optimum
from .penalised import Penalised, Point

GAP_AT_POINTS = 0.01  # largest gap of the optima at the points, relative to the limit
LOSSES_AT_ONCE = 2_000_000  # losses that are evaluated together
MAX_RATIO = 8.0  # largest ratio of two neighbouring lam
MIN_STEP = 1e-9  # least step in log(lam): a limit that needs a smaller one is below rounding
MIN_PIECES, MAX_PIECES = 4, 4096  # pieces of a line at whose ends the gap is evaluated
BOUND_SLACK = 0.2  # by how much the bound may exceed the largest of these gaps, by the limit
STEP_SAFETY = 0.7  # gap that the next line aims at, relative to the limit


class Lines(NamedTuple):
    """Points in ascending order of lam, and the bounds of the gap between them.

    Attributes
    ----------
    lam : (K,)
    w, b, a : (K, d), (K,), (K, n)
        Coefficients and intercepts for X as given, and duals of weighted losses, m_i u_i.
    bounds : (K - 1,)
        Bounds of the gap between neighbouring points, relative to P(0).
    ray : bool
        Whether the last line extends to infinity.
    complete : bool
        Whether the points reach the least lam that was asked for.
    """

    lam: Floats
    w: Floats
    b: Floats
    a: Floats
    bounds: Floats
    ray: bool
    complete: bool


def follow(
    X: Any,
    loss: Loss,
    weights: Floats,
    low: float,
    high: float,
    l1_ratio: float,
    eps: float,
    progress: Callable[[float, int], object] | None = None,
) -> Lines | None:
    """Return lines from ``high``, which may be infinite, to ``low``; None if the first fails.

    ``weights`` (n,) are > 0. ``progress`` is called with the share of the way down, in log(lam),
    and the number of lines so far.
    """
    problem = Penalised(Columns.of(X, l1_ratio == 0.0), loss, weights, l1_ratio)
    null = problem.null
    limit, end = eps * problem.primal(0.0, null.w, null.f), null.lam
    if l1_ratio < 1.0:  # from there on the gap of w = 0 is a quarter of the limit
        end = min(end, 2.0 * float(null.c @ null.c) / ((1.0 - l1_ratio) * limit))
    null = replace(null, lam=max(end, low))
    points, bounds = [null], []
    if high < end:
        start = optimum(problem, high, null, GAP_AT_POINTS * limit)
        if start is None:
            return None
        points = [start]
    elif high > null.lam:
        bounds = [float(problem.gaps(null))]
        points.insert(0, replace(null, lam=high if high < np.inf else 2.0 * null.lam))
    _down(problem, points, bounds, low, limit, progress)
    lam, w, b, u = (np.array([getattr(p, k) for p in points[::-1]]) for k in ("lam", "w", "b", "u"))
    w, b = problem.columns.original(w, b)
    gaps = np.array(bounds[::-1]) * (eps / limit)
    return Lines(lam, w, b, u * weights, gaps, ray=high == np.inf, complete=bool(lam[0] <= low))


def _down(
    problem: Penalised,
    points: list[Point],
    bounds: list[float],
    low: float,
    limit: float,
    progress: Callable[[float, int], object] | None,
) -> None:
    """Append points down to ``low``, or as far as rounding allows, and bounds between them."""
    waiting: list[Point] = []
    step, top = np.log(2.0), points[-1].lam
    while points and points[-1].lam > low:
        last = points[-1]
        goal = max(last.lam * np.exp(-step), low)
        near = waiting and waiting[-1].lam >= goal
        candidate = waiting.pop() if near else optimum(problem, goal, last, GAP_AT_POINTS * limit)
        if candidate is None or step < MIN_STEP:
            return
        bound = worst(problem, last, candidate, limit)
        if bound <= limit:
            points.append(candidate)
            bounds.append(bound)
            if progress is not None:
                progress(np.log(top / candidate.lam) / np.log(top / low), len(bounds))
        else:
            waiting.append(candidate)
        growth = min((STEP_SAFETY * limit / max(bound, MIN_STEP * limit)) ** 0.25, MAX_RATIO)
        step = min(growth * np.log(last.lam / candidate.lam), np.log(MAX_RATIO))


def worst(problem: Penalised, left: Point, right: Point, limit: float) -> float:
    """Return an upper bound of the gap on the line between two points; see the module."""
    m = MIN_PIECES
    while True:
        shares, largest, bound = np.linspace(0.0, 1.0, m + 1), 0.0, 0.0
        for pieces in np.array_split(np.arange(m), m * len(left.f) // LOSSES_AT_ONCE + 1):
            points = left.towards(right, shares[pieces[0] : pieces[-1] + 2])
            gaps, bends = problem.gaps(points), np.maximum(problem.bends(points), 0.0)
            # the largest value of a chord and a parabola: at an end, or where the slope is zero
            excess = np.maximum(bends - np.abs(np.diff(gaps)), 0.0) ** 2
            ends = np.maximum(gaps[:-1], gaps[1:])
            piece_bounds = ends + excess / np.where(bends > 0.0, 4.0 * bends, 1.0)
            largest, bound = max(largest, float(gaps.max())), max(bound, float(piece_bounds.max()))
        if largest > limit or bound - largest <= BOUND_SLACK * limit or m > MAX_PIECES:
            return bound
        m *= 4
