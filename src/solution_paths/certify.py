"""Certificates: KKT violations and duality gaps of a path, by code that knows no walker.

Everything is recomputed from the data, the objective and the duals that the path hands out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from .problems import (
    Hinge,
    L1Hinge,
    Lasso,
    Machine,
    Tube,
)

KKT_LIMIT = 1e-7
GAP_LIMIT = 1e-9


@dataclass(frozen=True)
class Certificate:
    """Worst violations over all points that were looked at.

    Attributes
    ----------
    kkt : float
        Largest KKT violation, relative to the data's scale: for each sample the smaller of how
        far its value is on the wrong side of its kink and how far (relative to the largest
        cost) its dual is from the level that would allow it; duals outside their box and an
        unbalanced free bias count too.
    gap : float
        Largest relative duality gap, (primal - dual) / max(|primal|, |dual|), beyond ``rounding``.
    rounding : float
        Largest relative rounding error of the gap itself. y_i - f(x_i), where f(x_i) is
        sum_j a_j k(x_j, x_i) / lam + b, can't be evaluated more accurately than 4 epsilon times
        ||x_i|| sum_j |a_j| ||x_j|| / lam + |b| + |y_i|, and the gap sums these errors times the
        costs. It matters only where the optimum is many
        orders of magnitude below the loss at w = 0 (small lam, and tau near 0 or 1).
    kkt_at, gap_at : float
        Parameter values where these occur.
    n_points : int
        Number of parameter values that were looked at.
    """

    kkt: float
    gap: float
    rounding: float
    kkt_at: float
    gap_at: float
    n_points: int

    @property
    def ok(self) -> bool:
        """Whether kkt <= 1e-7 and gap <= 1e-9, the bounds this library promises."""
        return bool(self.kkt <= KKT_LIMIT and self.gap <= GAP_LIMIT)

    def __str__(self) -> str:
        verdict = "holds" if self.ok else "FAILS"
        return (
            f"certificate {verdict}: KKT violation {self.kkt:.1e} (at {self.kkt_at:.6g}), relative "
            f"duality gap {self.gap:.1e} (at {self.gap_at:.6g}), {self.n_points} points"
        )


def certify(problem, points: NDArray[np.float64], duals, block: int = 128) -> Certificate:
    """Judge the solution at every point.

    Parameters
    ----------
    problem : Machine
        The data and the objective.
    points : (B,) array
        Parameter values.
    duals : callable
        Maps an array of indices into ``points`` to the (N, len) duals there.
    """
    kkt, gap, rounding = (np.empty(len(points)) for _ in range(3))
    for first in range(0, len(points), block):
        index = np.arange(first, min(first + block, len(points)))
        kkt[index], gap[index], rounding[index] = residuals(problem, points[index], duals(index))
    # a NaN is a violation, never a pass
    kkt, gap = (np.where(np.isnan(v), np.inf, v) for v in (kkt, gap))
    return Certificate(
        float(kkt.max()),
        float(gap.max()),
        float(rounding.max()),
        float(points[kkt.argmax()]),
        float(points[gap.argmax()]),
        len(points),
    )


@singledispatch
def residuals(problem, t, A) -> tuple[NDArray, NDArray, NDArray]:
    """Return (kkt, gap, rounding), each (B,), of duals A (N, B) at parameters t (B,)."""
    raise TypeError(f"No certificate is known for {type(problem).__name__}.")


@residuals.register
def _hinge(problem: Hinge, t, A):
    y, f, cost = problem.y[:, None], problem.fitted(A), problem.costs(t)
    alpha = y * A[: problem.n]
    loss = np.maximum(1.0 - y * f, 0.0)
    primal = problem.lam / 2 * _norm2(problem, A, f) + (cost * loss).sum(axis=0)
    dual = alpha.sum(axis=0) - problem.lam / 2 * _norm2(problem, A, f)
    unit = _unit(cost)
    wrong = np.maximum(
        np.minimum(loss, np.maximum(cost - alpha, 0.0) / unit),
        np.minimum(np.maximum(y * f - 1.0, 0.0), np.maximum(alpha, 0.0) / unit),
    )
    outside = np.maximum(-alpha, alpha - cost) / unit
    kkt = np.maximum(wrong, outside).max(axis=0)
    return np.maximum(kkt, _imbalance(problem, A, cost)), *_relative(problem, A, cost, primal, dual)


@residuals.register
def _tube(problem: Tube, t, A):
    y, f, cost = problem.y[:, None], problem.fitted(A), problem.costs(t)
    a, epsilon = A[: problem.n], problem.epsilon(t)
    error = y - f
    scale = np.ptp(problem.y) or np.abs(problem.y).max() or 1.0
    loss = np.maximum(np.abs(error) - epsilon, 0.0)
    norm2 = problem.lam / 2 * _norm2(problem, A, f)
    primal = norm2 + (cost * loss).sum(axis=0)
    dual = (y * a).sum(axis=0) - epsilon * np.abs(a).sum(axis=0) - norm2
    unit = _unit(cost)
    wrong = np.zeros_like(a)
    for side in (1.0, -1.0):
        over = (side * error - epsilon) / scale
        own = np.maximum(side * a, 0.0)
        below_level = np.minimum(np.maximum(over, 0.0), np.maximum(cost - own, 0.0) / unit)
        above_zero = np.minimum(np.maximum(-over, 0.0), own / unit)
        wrong = np.maximum(wrong, np.maximum(below_level, above_zero))
    outside = (np.abs(a) - cost) / unit
    kkt = np.maximum(wrong, outside).max(axis=0)
    return np.maximum(kkt, _imbalance(problem, A, cost)), *_relative(problem, A, cost, primal, dual)


@residuals.register
def _lasso(problem: Lasso, t, A):
    X, y = problem.X, problem.y[:, None]
    residual = y - X @ A
    c = X.T @ residual
    scale = max(np.abs(X.T @ problem.y).max(), 1e-300)
    size = np.maximum(np.abs(A).max(axis=0), 1e-300)
    outside = np.maximum(np.abs(c) - t, 0.0) / scale
    inside = np.minimum(np.abs(c - t * np.sign(A)) / scale, np.abs(A) / size)
    kkt = np.maximum(outside, inside).max(axis=0)
    primal = 0.5 * (residual**2).sum(axis=0) + t * np.abs(A).sum(axis=0)
    # c = 0 at lam = 0, but for rounding
    limit = t + 1e-13 * scale
    feasible = residual * np.minimum(1.0, limit / np.maximum(np.abs(c).max(axis=0), 1e-300))
    dual = (y * feasible).sum(axis=0) - 0.5 * (feasible**2).sum(axis=0)
    floor = 0.5 * (problem.y**2).sum()  # the loss at w = 0: at lam = 0 the optimum may vanish
    terms = 4 * np.finfo(float).eps * floor
    return kkt, *_gap_beyond(primal, dual, terms)


@residuals.register
def _l1_hinge(problem: L1Hinge, t, A):
    X, y, n = problem.X, problem.y[:, None], problem.n
    alpha, w, b = y * A[:n], problem.coefs(A), problem.intercepts(A)
    f = X @ w + b
    loss = np.maximum(1.0 - y * f, 0.0)
    c = X.T @ A[:n]
    scale = max(np.abs(X).sum(axis=0).max(), 1e-300)
    size = np.maximum(np.abs(w).max(axis=0), 1e-300)
    wrong = np.maximum(
        np.minimum(loss, np.maximum(1.0 - alpha, 0.0)),
        np.minimum(np.maximum(y * f - 1.0, 0.0), np.maximum(alpha, 0.0)),
    )
    box = np.maximum(-alpha, alpha - 1.0)
    penalty = np.maximum(
        np.maximum(np.abs(c) - t, 0.0) / scale,
        np.minimum(np.abs(c - t * np.sign(w)) / scale, np.abs(w) / size),
    )
    kkt = np.maximum(np.maximum(wrong, box).max(axis=0), penalty.max(axis=0))
    kkt = np.maximum(kkt, np.abs(A[:n].sum(axis=0)))
    primal = loss.sum(axis=0) + t * np.abs(w).sum(axis=0)
    terms = (np.abs(X) @ np.abs(w) + np.abs(b) + 1.0).sum(axis=0)
    return kkt, *_gap_beyond(primal, alpha.sum(axis=0), 4 * np.finfo(float).eps * terms)


def _gap_beyond(primal, dual, rounding):
    """Return the relative gap beyond an absolute rounding error, and that error, relative."""
    scale = np.maximum(np.abs(primal), np.abs(dual))
    scale = np.where(scale > 0, scale, 1.0)
    return np.maximum(np.abs(primal - dual) - rounding, 0.0) / scale, rounding / scale


def _norm2(problem: Machine, A, f):
    """Return ||w||^2, from f at the training rows: the duals times f without a free bias."""
    own = f - problem.intercepts(A) if problem.bias == "free" else f
    return (A[: problem.n] * own).sum(axis=0) / problem.lam


def _unit(cost):
    largest = cost.max(axis=0)
    return np.where(largest > 0, largest, 1.0)


def _imbalance(problem: Machine, A, cost):
    """Return |sum a_i| relative to the largest cost; zero unless the bias is free."""
    if problem.bias != "free":
        return np.zeros(A.shape[1])
    return np.abs(A[: problem.n].sum(axis=0)) / _unit(cost)


def _relative(problem: Machine, A, cost, primal, dual):
    """Return the relative gap beyond rounding, and the relative rounding error."""
    scale = np.maximum(np.abs(primal), np.abs(dual))
    scale = np.where((scale > 0) & (cost.max(axis=0) > 0), scale, 1.0)  # all costs zero: absolute
    length = problem.norms @ np.abs(A[: problem.n]) / problem.lam
    shift = (np.abs(problem.intercepts(A)) + np.abs(problem.y).max()) * cost
    error = length * (problem.norms @ cost) + shift.sum(axis=0)
    rounding = 4 * np.finfo(float).eps * error / scale
    return np.maximum(np.abs(primal - dual) / scale - rounding, 0.0), rounding
