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

INNER = 0.01  # of the limit: gaps of the optima themselves
ENTRIES = 2_000_000  # losses that are evaluated together
GREATEST = 8.0  # ratio of two neighbouring lam
LEAST = 1e-9  # the same, less 1: below this rounding forbids what is asked
FEWEST, MOST = 4, 4096  # pieces of a line on whose ends the gap is evaluated
SLACK = 0.2  # of the limit: what the bound may exceed the largest of these gaps by
SAFETY = 0.7  # of the limit: what the next line should come to


class Lines(NamedTuple):
    """Points in ascending order of lam, and the bounds of the gap between them.

    Attributes
    ----------
    lam : (K,)
    w, b, a : (K, d), (K,), (K, n)
        Of X as it was given; a are the duals of weighted losses, m_i u_i.
    bounds : (K - 1,)
        Relative to P(0).
    ray : bool
        Whether the last line goes on for ever.
    complete : bool
        Whether they go down to the least lam that was asked for.
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
    told: Callable[[float, int], object] | None = None,
) -> Lines | None:
    """Return lines from ``high``, which may be infinite, to ``low``; None if there is no first.

    ``weights`` (n,) are > 0. ``told`` is called with the share of the way down, in the logarithm of
    lam, and the number of lines so far.
    """
    problem = Penalised(Columns.of(X, l1_ratio == 0.0), loss, weights, l1_ratio)
    null = problem.null
    limit, end = eps * problem.primal(0.0, null.w, null.f), null.lam
    if l1_ratio < 1.0:  # from there on the gap of w = 0 is a quarter of the limit
        end = min(end, 2.0 * float(null.c @ null.c) / ((1.0 - l1_ratio) * limit))
    null = replace(null, lam=max(end, low))
    points, bounds = [null], []
    if high < end:
        start = optimum(problem, high, null, INNER * limit)
        if start is None:
            return None
        points = [start]
    elif high > null.lam:
        bounds = [float(problem.gaps(null))]
        points.insert(0, replace(null, lam=high if high < np.inf else 2.0 * null.lam))
    _down(problem, points, bounds, low, limit, told)
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
    told: Callable[[float, int], object] | None,
) -> None:
    """Add points down to ``low``, or as far as rounding allows, and the bounds between them."""
    waiting: list[Point] = []
    step, top = np.log(2.0), points[-1].lam
    while points and points[-1].lam > low:
        here = points[-1]
        goal = max(here.lam * np.exp(-step), low)
        near = waiting and waiting[-1].lam >= goal
        there = waiting.pop() if near else optimum(problem, goal, here, INNER * limit)
        if there is None or step < LEAST:
            return
        found = worst(problem, here, there, limit)
        if found <= limit:
            points.append(there)
            bounds.append(found)
            if told is not None:
                told(np.log(top / there.lam) / np.log(top / low), len(bounds))
        else:
            waiting.append(there)
        growth = min((SAFETY * limit / max(found, LEAST * limit)) ** 0.25, GREATEST)
        step = min(growth * np.log(here.lam / there.lam), np.log(GREATEST))


def worst(problem: Penalised, left: Point, right: Point, limit: float) -> float:
    """Return an upper bound of the gaps of all points between two; see the module."""
    m = FEWEST
    while True:
        shares, most, bound = np.linspace(0.0, 1.0, m + 1), 0.0, 0.0
        for own in np.array_split(np.arange(m), m * len(left.f) // ENTRIES + 1):
            some = left.towards(right, shares[own[0] : own[-1] + 2])
            gaps, bends = problem.gaps(some), np.maximum(problem.bends(some), 0.0)
            # the largest value of a chord and a parabola: at an end, or where the slope is zero
            rest = np.maximum(bends - np.abs(np.diff(gaps)), 0.0) ** 2
            ends = np.maximum(gaps[:-1], gaps[1:])
            found = ends + rest / np.where(bends > 0.0, 4.0 * bends, 1.0)
            most, bound = max(most, float(gaps.max())), max(bound, float(found.max()))
        if most > limit or bound - most <= SLACK * limit or m > MOST:
            return bound
        m *= 4
