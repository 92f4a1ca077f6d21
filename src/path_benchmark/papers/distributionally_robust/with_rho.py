"""Problem (5.4) with a bias: chapter 5's model before kappa rho is taken for a constant.

minimise lam rho + 1/n sum_i max(0, 1 - m_i, 1 + m_i - kappa rho) over h, b and rho >= ||h||, where
m_i = y_i (h(x_i) + b). The bound on ||h|| is a cone, so that its path is not piecewise linear; but
for the rho of its optimum it is the model with the constant kappa rho, at the lam at which that
one's h is as long.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from solution_paths import dm_ksvm_path
from solution_paths.kernels import Kernel

Floats = np.ndarray
# Eigenvalues of the Gram matrix below this share of the largest one are rounding.
RANK = 1e-12
# The model with a constant asks for a larger one.
LEAST = 2.0


class Solution(NamedTuple):
    """h as weights of ``factor``'s columns, the bias, rho."""

    w: Floats
    b: float
    rho: float


def factor(K: Floats) -> Floats:
    """Return Z, (n, r), with Z Z' = K: h(x_i) = z_i.w, ||h|| = ||w||."""
    values, vectors = np.linalg.eigh(K)
    kept = values > RANK * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])


def solve(K: Floats, y: Floats, lam: float, kappa: float) -> Solution:
    """Solve it by Clarabel, through CVXPY (part of solution_paths[baselines])."""
    import cvxpy as cp

    Z = factor(K)
    w, b, rho = cp.Variable(Z.shape[1]), cp.Variable(), cp.Variable()
    xi, m = cp.Variable(len(y), nonneg=True), cp.multiply(y, Z @ w + b)
    limits = [xi >= 1 - m, xi >= 1 + m - kappa * rho, cp.norm(w) <= rho]
    problem = cp.Problem(cp.Minimize(lam * rho + cp.sum(xi) / len(y)), limits)
    problem.solve(solver="CLARABEL")
    if problem.status != "optimal":
        raise ValueError(f"Clarabel says {problem.status!r} of problem (5.4) at lam = {lam:g}.")
    return Solution(w.value, float(b.value), float(rho.value))


def at_constant(X: Floats, y: Floats, kernel: Kernel, solution: Solution, kappa: float) -> tuple:
    """Return the path of the model with the constant kappa rho, and the lam where h is as long.

    Raises
    ------
    ValueError
        Where kappa rho is at most 2, or no h of that path is as long.
    """
    constant, length = kappa * solution.rho, float(np.linalg.norm(solution.w))
    if constant <= LEAST:
        raise ValueError(f"kappa rho is {constant:.3g}, a constant must be more than {LEAST:g}.")
    from scipy.optimize import brentq

    options: dict[str, Any] = {"kernel": kernel.name, "gamma": kernel.gamma, "check": "ignore"}
    path = dm_ksvm_path(X, y, constant, lam_min=1e-6, **options)
    Z = factor(kernel(X, X))

    def excess(lam: float) -> float:
        values = path.decision_function(X, lam) - path.intercept(lam)
        return float(np.linalg.norm(np.linalg.lstsq(Z, values, rcond=None)[0])) - length

    low, high = 1e-6, 1e3
    if excess(low) < 0.0 or excess(high) > 0.0:
        raise ValueError(f"no h of the path with kappa {constant:.3g} has the length {length:.3g}.")
    return path, float(brentq(excess, low, high, xtol=1e-13, rtol=1e-12))
