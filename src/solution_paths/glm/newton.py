"""Optima at one lam: Newton's method, with the penalty as it is (proximal Newton)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy  # imports scipy.linalg, which is slow, at its first use

from ..compilation import cached_njit
from ..validation import Floats
from .penalised import Penalised, Point

MAX_STEPS = 200  # Newton steps
MAX_ROUNDS = 40  # rounds that solve the quadratic problem of a step
SWEEPS, SOLVES = 10, 4  # in a round: sweeps of coordinate descent, solves with fixed signs
MAX_NEW_COLUMNS = 100  # columns that may enter in one step, besides as many as are in use
CURVATURE_DAMPING = 1e-10  # relative; it makes a step unique where columns are duplicates
DECREASE_LEFT = 1e-2  # decrease that a step may leave in the quadratic problem, by the gap wanted
OBJECTIVE_ROUNDING = 1e-13  # relative changes of the objective below this are rounding


def optimum(problem: Penalised, lam: float, start: Point, gap: float) -> Point | None:
    """Return a point at lam with a duality gap of at most ``gap``; None if rounding prevents it."""
    w, b, f = start.w, float(start.b), start.f
    for _ in range(MAX_STEPS):
        point = problem.point(lam, w, b, f)
        if float(problem.gaps(point)) <= gap:
            return point
        kept, v, rise = _step(problem, lam, w, f, gap)
        change, step = np.zeros_like(w), v - w[kept]
        change[kept] = step
        df = problem.columns.times(change) + rise
        slope = -(problem.weights * problem.loss.dual(f)) @ df
        slope += lam * (problem.size(w + change) - problem.size(w))
        before, share = problem.primal(lam, w, f), 1.0
        while problem.primal(lam, w + share * change, f + share * df) > (
            before + 1e-4 * share * slope + OBJECTIVE_ROUNDING * before
        ):
            share /= 2
            if share < 1e-10:
                return None
        w, b = w + share * change, b + share * rise
        f = problem.columns.times(w) + b
    return None


def _step(
    problem: Penalised, lam: float, w: Floats, f: Floats, gap: float
) -> tuple[Any, Floats, float]:
    """Minimise a quadratic model of P; return columns, their coefficients, and the change of b.

    b is eliminated, as the scatter matrix is about weighted means.
    """
    r, a = problem.l1_ratio, problem.weights * problem.loss.dual(f)
    c = problem.columns.against(a)
    kept: Any = slice(None)
    if r > 0.0:
        over = np.where(w != 0.0, np.inf, np.abs(c) - lam * r)
        room = MAX_NEW_COLUMNS + 2 * np.count_nonzero(w)
        kept = np.flatnonzero(over > 0.0)
        kept = np.sort(kept[np.argsort(-over[kept], kind="stable")[:room]])
    weights = problem.weights * problem.loss.curvature(f)
    H, means = problem.columns.curvature(weights, kept)
    linear = lam * (1 - r) * w[kept] - (c[kept] - means * a.sum())
    H[np.diag_indices_from(H)] *= 1.0 + CURVATURE_DAMPING
    H[np.diag_indices_from(H)] += lam * (1 - r)
    v = w[kept].copy()
    for _ in range(MAX_ROUNDS):
        if r > 0.0:
            _sweep(H, linear, v, lam * r, SWEEPS)
        _solve_with_signs(H, linear, v, lam * r)
        if r == 0.0 or _gap_left(H, linear, v, lam * r) <= DECREASE_LEFT * gap:
            break
    return kept, v, float(a.sum() / weights.sum() - means @ (v - w[kept]))


def _gap_left(H: Floats, linear: Floats, v: Floats, level: float) -> float:
    """Return what v leaves of the gap: a coordinate's decrease, or the gap of scaled duals."""
    wrong = np.abs(linear + level * np.sign(v))
    wrong = np.where(v == 0.0, np.maximum(np.abs(linear) - level, 0.0), wrong)
    scale = np.diag(H)
    decrease = wrong**2 / np.where(scale > 0.0, scale, 1.0)
    return float(max(decrease.max(initial=0.0), np.abs(v).sum() * wrong.max(initial=0.0)))


def _solve_with_signs(H: Floats, linear: Floats, v: Floats, level: float) -> None:
    """Move v to the optimum with fixed signs, dropping coordinates that reach zero."""
    for _ in range(SOLVES):
        used = np.flatnonzero(v != 0.0) if level else np.arange(len(v))
        if not len(used):
            return
        unit = 1.0 / np.sqrt(np.diag(H)[used])
        part = H[np.ix_(used, used)] * unit[:, None] * unit
        try:
            wrong = linear[used] + level * np.sign(v[used])
            move = -unit * scipy.linalg.cho_solve(scipy.linalg.cho_factor(part), unit * wrong)
        except np.linalg.LinAlgError:
            return
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.where(move * v[used] < 0.0, -v[used] / move, np.inf) if level else [np.inf]
        share = min(1.0, float(np.min(ends)))
        new = v[used] + share * move
        new = np.where(np.asarray(ends) <= share, 0.0, new)
        linear += H[:, used] @ (new - v[used])
        v[used] = new
        if share == 1.0:
            return


@cached_njit
def _sweep(H: Floats, linear: Floats, v: Floats, level: float, times: int) -> None:
    """Minimise over each coordinate in turn; v and the gradient change in place."""
    for _ in range(times):
        for j in range(len(v)):
            if H[j, j] > 0.0:
                u = v[j] - linear[j] / H[j, j]
                size = abs(u) - level / H[j, j]
                new = np.copysign(size, u) if size > 0.0 else 0.0
                if new != v[j]:
                    linear += (new - v[j]) * H[j]
                    v[j] = new
