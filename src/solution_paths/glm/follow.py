"""Straight lines along a curved path, none of which leaves a duality gap above a limit.

Between optima at lam_0 and lam_1 with sizes Omega_0, Omega_1 let w, b, duals a and lam all move
linearly in s, 0 <= s <= 1. The duals stay feasible, and the gap is a sum ::

    G(s) = [sum_i loss_i(f_i) - H(y_i a_i) + (lam Omega)*(X'a)] + lam Omega(w).

The bracket is convex in s: losses and -H are convex, and (lam Omega)*(c) = lam Omega*(c / lam) is
the perspective of a convex function, convex in (c, lam) together. So it is at most its chord.
Omega(w) is at most its chord, too, and lam > 0 times that chord is a parabola. Altogether ::

    G(s) <= (1 - s) G(0) + s G(1) + s (1 - s) (lam_0 - lam_1) (Omega_1 - Omega_0).

This holds between any two points of the line. So G is evaluated at m + 1 points, which takes no
product with X, and between neighbours the last term is about 1/m^2 of what it is for the whole
line. The bound is as near to the largest gap as wanted, and it is one between the points, too.

With m = 1 and exact optima a line keeps the limit as soon as the product (lam_0 - lam_1) (Omega_1 -
Omega_0) is at most 4 limits. By the inequality of Cauchy and Schwarz, sqrt((lam_max - lam_min)
(Omega(lam_min) - Omega(lam_max)) / (4 limit)) + 1 such lines suffice, and as lam Omega <= P(0), at
most 1 / (2 sqrt(eps)) + 1 from any lam to lam / 2, where the limit is eps P(0). Where the path is
smooth the true gap of a line is of the fourth order in its length, and far fewer lines suffice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..validation import Floats
from .columns import Columns
from .logistic import Logistic, Point
from .newton import optimum

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
        Of X as it was given.
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


def follow(X: Any, signs: Floats, low: float, high: float, l1_ratio: float, eps: float) -> Lines:
    """Return lines from ``low`` to ``high``, which may be infinite; gaps are relative to P(0)."""
    problem = Logistic(Columns.of(X, l1_ratio == 0.0), signs, l1_ratio)
    null = problem.null
    limit = eps * float(problem.loss(null.f))
    end = null.lam
    if l1_ratio < 1.0:  # from there on the gap of w = 0 is a quarter of the limit
        end = min(end, 2.0 * float(null.c @ null.c) / ((1.0 - l1_ratio) * limit))
    null = replace(null, lam=max(end, low))
    if high < end:
        start = optimum(problem, high, null, INNER * limit)
        points, bounds = [] if start is None else [start], []
    else:
        beyond = high if high < np.inf else 2.0 * null.lam
        points, bounds = [replace(null, lam=beyond), null], [float(problem.gaps(null))]
    _down(problem, points, bounds, low, limit)
    points, bounds = points[::-1], bounds[::-1]
    lam, w, b, a = (np.array([getattr(p, k) for p in points]) for k in ("lam", "w", "b", "a"))
    complete = len(points) > 0 and bool(points[0].lam <= low)
    ray = high == np.inf
    return Lines(
        lam, *problem.columns.original(w, b), a, np.array(bounds) / limit * eps, ray, complete
    )


def _down(
    problem: Logistic, points: list[Point], bounds: list[float], low: float, limit: float
) -> None:
    """Add points down to ``low``, or as far as rounding allows, and the bounds between them."""
    waiting: list[Point] = []
    step = np.log(2.0)
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
        else:
            waiting.append(there)
        growth = min((SAFETY * limit / max(found, LEAST * limit)) ** 0.25, GREATEST)
        step = min(growth * np.log(here.lam / there.lam), np.log(GREATEST))


def worst(problem: Logistic, left: Point, right: Point, limit: float) -> float:
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
