"""The middle of a model's optimal free variables, by code that knows neither duals nor paths."""

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

FLAT = 1e-12  # of the sum of all slopes: a slope of the objective that is none
TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def middle_of(low, high, otherwise):
    """Return the middle, the one finite end, or what it is otherwise."""
    ends = [end for end in (low, high) if np.isfinite(end)]
    return np.mean(ends) if ends else otherwise


def _groups(problem, w):
    """Return, of each group, values without free variables, their columns and the functions."""
    own = w if problem.kernel is None else problem.kernel @ w
    for group in problem.losses:
        free = group.free.toarray() if sp.issparse(group.free) else np.asarray(group.free)
        yield np.asarray(group.X @ own), free, group.pieces


def interval(problem, w):
    """Return between which values the one free variable is optimal beside w; None: at one alone.

    The objective is convex in it, with kinks where a value meets a knot: its slope between them
    tells where it is flat.
    """
    groups, at, size = list(_groups(problem, w)), [], 0.0
    for z, free, f in groups:
        on = free[:, 0] != 0
        knots = (f.knots[on] - z[on, None]) / free[on]
        at.append(knots[np.isfinite(knots)])
        size += np.abs(f.slopes).max(axis=1) @ np.abs(free[:, 0])

    def slope(v):
        total = problem.linear[0]
        for z, free, f in groups:
            own, rows = z + free[:, 0] * v, np.arange(len(z))
            k = (own[:, None] > f.knots).sum(axis=1)
            since = own - f.knots[rows, np.maximum(k - 1, 0)]
            total += free[:, 0] @ (f.slopes[rows, k] + f.curvature[rows, k] * since)
        return total

    at = np.unique(np.concatenate(at))
    ends = np.concatenate([[-np.inf], at, [np.inf]])
    inside = np.concatenate([at[:1] - 1.0, (at[1:] + at[:-1]) / 2, at[-1:] + 1.0])
    wide = np.diff(ends) > 1e-9
    flat = [k for k in np.flatnonzero(wide) if abs(slope(inside[k])) <= FLAT * size]
    if not flat:
        return None
    low, high = _allowed(groups)
    return max(ends[flat[0]], low), min(ends[flat[-1] + 1], high)


def _allowed(groups):
    """Return between which values of one free variable all values are in their domains."""
    low, high = -np.inf, np.inf
    for z, free, f in groups:
        on = free[:, 0] != 0
        ends = np.sort(np.stack([f.low - z, f.high - z])[:, on] / free[on, 0], axis=0)
        low, high = max(low, ends[0].max(initial=-np.inf)), min(high, ends[1].min(initial=np.inf))
    return low, high


def ends_of_all(problem, w):
    """Return the least and the largest optimal value of each free variable, (r, 2).

    Each one beside the middles of those before; linear programmes say so, of piecewise linear
    losses. None: there is no such middle.
    """
    groups, r = list(_groups(problem, w)), problem.n_free
    m = sum(len(z) for z, _, _ in groups)
    A, b, first = [], [], r
    for z, free, f in groups:
        level, rows = f.value, np.arange(len(z))
        assert not f.curvature.any()
        for k in range(f.slopes.shape[1]):  # a line of the function
            knot = f.knots[:, max(k - 1, 0)]
            if k > 1:
                level = level + f.slopes[:, k - 1] * (knot - f.knots[:, k - 2])
            part = np.zeros((len(z), r + m))
            part[:, :r], part[rows, first + rows] = f.slopes[:, k, None] * free, -1.0
            A.append(part)
            b.append(-(level + f.slopes[:, k] * (z - knot)))
        for end, sign in ((f.high, 1.0), (f.low, -1.0)):
            on = np.isfinite(end)
            A.append(np.hstack([sign * free[on], np.zeros((on.sum(), m))]))
            b.append(sign * (end[on] - z[on]))
        first += len(z)
    if problem.constraint is not None:
        A.append(np.r_[-problem.constraint.free, np.zeros(m)][None])
        b.append([problem.constraint.radius - np.abs(w).sum()])
    A, b = np.vstack(A), np.concatenate(b)
    b += 1e-11 * (1 + np.abs(b))
    cost, bounds = np.r_[problem.linear, np.ones(m)], [(None, None)] * (r + m)
    best = linprog(cost, A_ub=A, b_ub=b, bounds=bounds, options=TIGHT)
    if best.status != 0:
        return None
    A, b = np.vstack([A, cost]), np.r_[b, best.fun + 1e-10 * (1 + abs(best.fun))]
    found = []
    for j in range(r):
        ends = []
        for sign in (1.0, -1.0):
            own = linprog(sign * np.eye(r + m)[j], A_ub=A, b_ub=b, bounds=bounds, options=TIGHT)
            ends.append(own.x[j] if own.status == 0 else -sign * np.inf)
        middle = middle_of(*ends, np.nan)
        if np.isnan(middle):
            return None
        found.append(ends)
        bounds[j] = (middle - 1e-9, middle + 1e-9)
    return np.array(found)
