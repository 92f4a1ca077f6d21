"""What the tests of all generalised linear models share: arguments drawn at random, the bound."""

import numpy as np

from solution_paths.glm.follow import worst
from solution_paths.glm.penalised import Point

RATIOS = (1.0, 0.0, 0.5, 0.999, 0.01)


def arguments(X, y, largest, seed):
    """Return the arguments of a path; ``largest``: the largest |x_j.a| of the best constant."""
    r = np.random.default_rng(seed + 1000)
    low = largest * 10.0 ** -r.uniform(0.3, 4)
    high = np.inf if seed % 2 else low * 10 ** r.uniform(0.5, 4)
    eps = 10.0 ** -r.uniform(1, 8 if seed % 4 == 0 else 5)
    options = {"l1_ratio": RATIOS[seed % 5], "eps": eps}
    if seed % 3 == 0:  # some rows count for nothing
        options["sample_weight"] = r.uniform(0.1, 3.0, len(y)) * (r.uniform(size=len(y)) > 0.2)
        options["sample_weight"][:2] = 1.0
    return X, y, low, high, options


def assert_the_bound_holds(path, low, high, seed):
    """Judge a path at a thousand lam between its ends."""
    assert path.range == (low, high)
    assert path.bounds.max() <= path.eps
    last = min(high, 2.0 * path.breakpoints[-1])
    grid = np.clip(np.geomspace(low, last, 1000), low, last)
    s, found = path._judged(np.empty(0, dtype=int), grid)
    piece = np.clip(np.searchsorted(path.points.t, s, side="right") - 1, 0, len(path.bounds) - 1)
    assert (found.gap <= path.bounds[piece] + found.rounding + 1e-12).all()
    assert path.certify(20, seed).ok


def two_points(problem, r):
    """Return points of an objective at two lam, the larger one first; none is an optimum."""
    ends = []
    for lam in np.sort(10.0 ** r.uniform(-1, 1, size=2))[::-1]:
        w, b = r.normal(size=3) * r.integers(0, 2, size=3), r.normal()
        ends.append(problem.point(lam, w, b, problem.columns.times(w) + b))
    return ends


def assert_gaps_are_below_the_bound(problem, ends, m):
    """Judge m lines from one point to another: no gap is above what their ends and bends say."""
    points = ends[0].towards(ends[1], np.linspace(0.0, 1.0, m + 1))
    gaps, bends, s = problem.gaps(points), problem.bends(points), np.linspace(0.0, 1.0, 41)
    for k in range(m):
        two = [Point(*(v[i] for v in vars(points).values())) for i in (k, k + 1)]
        bound = (1 - s) * gaps[k] + s * gaps[k + 1] + s * (1 - s) * bends[k]
        assert (problem.gaps(two[0].towards(two[1], s)) <= bound + 1e-10 * gaps.max()).all()
    limit = 0.9 * problem.gaps(ends[0].towards(ends[1], np.linspace(0.0, 1.0, 400))).max()
    assert worst(problem, *ends, limit) > limit
