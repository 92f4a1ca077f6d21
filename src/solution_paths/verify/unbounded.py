"""Claims that a problem has no optimum, judged from the statement and a direction alone.

Along a direction, each convex function changes by its recession function: its outermost slope times
the change of the value. If the sum is negative, and stays so for any change of the data by the
share `DATA_CHANGE`, the objective is unbounded below. The same for the dual objective along a
direction of duals proves that no point meets all constraints (a Farkas certificate).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..problem import Pieces, Problem
from ..problem.maps import absolute
from ..validation import Floats

DATA_CHANGE = 2.0**-44  # relative to the data: smaller differences may be rounding


def falls(problem: Problem, w: Floats, v: Floats) -> float:
    """Return the slope of the objective at infinity along a direction; 0.0 unless surely negative.

    Parameters
    ----------
    problem : Problem
    w : (d,) array
        Direction of the coefficients; with a kernel, of the samples' coefficients.
    v : (r,) array
        Direction of the free variables.

    Examples
    --------
    >>> from solution_paths.problem import Losses, Problem, losses
    >>> from solution_paths.verify.unbounded import falls
    >>> rewarded = losses.pinball_hinge([-1.0, 1.0, 1.0], -0.9, 1.0)
    >>> falls(Problem(Losses(rewarded, [[0.0], [0.0], [1.0]], free=1.0), ridge=1.0), [0.0], [1.0])
    -0.8
    """
    w, v = np.asarray(w, dtype=float), np.asarray(v, dtype=float)
    slope, noise = (
        float(problem.linear @ v),
        DATA_CHANGE * float(np.abs(problem.linear) @ np.abs(v)),
    )
    if problem.ridge > 0.0 and w.any():
        return 0.0
    for group in problem.losses:
        z = np.asarray(group.X @ w + group.free @ v) if w.any() else np.asarray(group.free @ v)
        terms = absolute(group.X) @ np.abs(w) + abs(group.free) @ np.abs(v)
        change, doubt = _recession(group.pieces, z, DATA_CHANGE * np.asarray(terms))
        slope, noise = slope + change, noise + doubt
    if problem.penalty is not None:
        change, doubt = _recession(problem.penalty, w, np.zeros(len(w)))
        slope, noise = slope + change, noise + doubt
    if problem.constraint is not None:
        widened = float(np.asarray(problem.constraint.free) @ v)
        if np.abs(w).sum() > widened + DATA_CHANGE * float(np.abs(v).max(initial=0.0)):
            return 0.0
    return slope if slope < -noise else 0.0


def contradicts(problem: Problem, duals: Sequence[Floats]) -> float:
    """Return the slope of the dual objective along a direction; 0.0 unless surely positive.

    Parameters
    ----------
    problem : Problem
    duals : sequence of (n_g,) arrays
        Direction of the duals of each group of losses.
    """
    if problem.constraint is not None or problem.kernel is not None:
        return 0.0
    d, r = problem.features, problem.n_free
    pull, terms, balance, sizes = np.zeros(d), np.zeros(d), np.zeros(r), np.zeros(r)
    slope = noise = 0.0
    for group, a in zip(problem.losses, duals, strict=True):
        pull, terms = pull + group.X.T @ a, terms + absolute(group.X).T @ np.abs(a)
        balance, sizes = balance + group.free.T @ a, sizes + abs(group.free).T @ np.abs(a)
        change, doubt = _support(group.pieces, -a, np.zeros(len(a)))
        slope, noise = slope - change, noise + doubt
    if (np.abs(balance) > DATA_CHANGE * sizes).any():
        return 0.0
    if problem.penalty is None:
        change, doubt = (0.0 if (np.abs(pull) <= DATA_CHANGE * terms).all() else np.inf), 0.0
    else:
        change, doubt = _support(problem.penalty, pull, DATA_CHANGE * terms)
    slope, noise = slope - change, noise + doubt
    return slope if slope > noise else 0.0


def _recession(f: Pieces, z: Floats, noise: Floats) -> tuple[float, float]:
    """Return the sum of recession functions at z, and a bound of its error."""
    upwards, still = z > 0, np.abs(z) <= noise
    steep = np.where(upwards, f.slopes[:, -1], f.slopes[:, 0])
    ends = np.where(upwards, np.isfinite(f.high), np.isfinite(f.low))
    curved = np.where(upwards, f.curvature[:, -1], f.curvature[:, 0]) > 0
    size = np.maximum(np.abs(f.slopes[:, 0]), np.abs(f.slopes[:, -1]))
    if ((ends | curved) & ~still).any():
        return np.inf, 0.0
    return float((steep * z)[~still].sum()), float((size * noise).sum())


def _support(f: Pieces, x: Floats, noise: Floats) -> tuple[float, float]:
    """Return the largest x'z for z in the domains of functions, and a bound of its error."""
    moves = np.abs(x) > noise
    end = np.where(x > 0, f.high, f.low)
    if np.isinf(end[moves]).any():
        return np.inf, 0.0
    size = np.where(np.isfinite(end), np.abs(end), 0.0)
    uncertain = (noise + DATA_CHANGE * np.abs(x)) * size
    return float((x[moves] * end[moves]).sum()), float(uncertain.sum())
