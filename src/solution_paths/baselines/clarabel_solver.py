"""Clarabel, an interior-point method, called directly: the oracle of the tests.

Linear kernel: the primal in (w, b, slacks), whose multipliers are alpha. Other kernels: the dual.
The objective is divided by the largest cost, so that the tolerances mean the same at every scale.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from .problem import Answer, HingeProblem, Stopwatch, reuse_or_build

NAME = "Clarabel"
TIGHT_OPTIONS: dict = {}
STATED_GAP = 1e-8
DEFAULTS = {"tol_gap_abs": 1e-13, "tol_gap_rel": 1e-13, "tol_feas": 1e-13, "max_iter": 200}


def version() -> str:
    """Version of the package, or "not installed"."""
    try:
        import clarabel
    except ImportError:
        return "not installed"
    return clarabel.__version__


def supports(problem: HingeProblem) -> str:
    """Empty: every problem can be solved."""
    return ""


def solve(
    problem: HingeProblem, options: dict | None = None, start: Answer | None = None
) -> Answer:
    """Solve; options: any setting of Clarabel, by default tolerances of 1e-13. No warm start."""
    try:
        import clarabel
    except ImportError as error:
        return Answer(status="not available", message=f"clarabel: {error}")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    for name, value in {**DEFAULTS, **(options or {})}.items():
        setattr(settings, name, value)
    scale = max(float(problem.costs.max()), np.finfo(float).tiny)
    linear = problem.kernel == "linear"
    build = _primal_matrices if linear else _dual_matrices
    key = (problem.kernel, problem.lam, problem.free_bias, problem.bias_value)
    state, setup = reuse_or_build(problem, start, key, lambda: build(problem))
    P, A = state.value
    q, b, n_zero = (_primal_vectors if linear else _dual_vectors)(problem, scale)
    cones = [clarabel.ZeroConeT(n_zero)] if n_zero else []
    cones.append(clarabel.NonnegativeConeT(A.shape[0] - n_zero))
    with Stopwatch() as watch:
        found = clarabel.DefaultSolver(P / scale if linear else P, q, A, b, cones, settings).solve()
    x, z = np.array(found.x), np.array(found.z)
    solution = _from_primal(problem, x, z, scale) if linear else _from_dual(problem, x, z, scale)
    # "InsufficientProgress" is what it says when 1e-13 is beyond reach; the judge sees how far off.
    known = {"Solved": "solved", "AlmostSolved": "inaccurate", "InsufficientProgress": "inaccurate"}
    return Answer(
        **solution,
        cpu_s=watch.cpu_s,
        wall_s=watch.wall_s,
        setup_cpu_s=setup,
        iterations=int(found.iterations),
        status=known.get(str(found.status), "failed"),
        message=str(found.status),
        state=state,
    )


def _primal_matrices(problem: HingeProblem) -> tuple[sp.csc_matrix, sp.csc_matrix]:
    """Variables: w (features), the bias if it is free, slacks. Rows: margins, then slacks >= 0."""
    n, d = problem.features.shape
    free = int(problem.free_bias)
    P = sp.diags(np.r_[np.full(d, problem.lam), np.zeros(n + free)]).tocsc()
    blocks = [sp.csr_matrix(problem.features).multiply(problem.y[:, None])]
    if free:
        blocks.append(sp.csr_matrix(problem.y[:, None]))
    margins = sp.hstack([*blocks, sp.eye(n)])
    slacks = sp.hstack([sp.csr_matrix((n, d + free)), sp.eye(n)])
    return P, (-sp.vstack([margins, slacks])).tocsc()


def _primal_vectors(problem: HingeProblem, scale: float) -> tuple[np.ndarray, np.ndarray, int]:
    n, d = problem.features.shape
    q = np.r_[np.zeros(d + int(problem.free_bias)), problem.costs / scale]
    return q, np.r_[-np.ones(n), np.zeros(n)], 0


def _from_primal(problem: HingeProblem, x: np.ndarray, z: np.ndarray, scale: float) -> dict:
    d = problem.X.shape[1]
    has_bias = problem.free_bias or bool(problem.bias_value)
    b = x[d] * (1.0 if problem.free_bias else problem.bias_value) if has_bias else 0.0
    alpha = np.clip(z[: problem.n] * scale, 0.0, problem.costs)
    return {"alpha": alpha, "w": x[:d].copy(), "b": float(b)}


def _dual_matrices(problem: HingeProblem) -> tuple[sp.csc_matrix, sp.csc_matrix]:
    """Variables: alpha / scale. Rows: balance if the bias is free, alpha >= 0, alpha <= costs."""
    n = problem.n
    Q = problem.gram * problem.y[:, None] * problem.y[None, :]
    rows = [sp.csr_matrix(problem.y[None, :])] if problem.free_bias else []
    return sp.csc_matrix(np.triu(Q)), sp.vstack([*rows, -sp.eye(n), sp.eye(n)]).tocsc()


def _dual_vectors(problem: HingeProblem, scale: float) -> tuple[np.ndarray, np.ndarray, int]:
    # With alpha = scale u the objective is scale^2/lam (u'Qu/2 - (lam/scale) 1'u).
    n, free = problem.n, int(problem.free_bias)
    q = np.full(n, -problem.lam / scale)
    return q, np.r_[np.zeros(free), np.zeros(n), problem.costs / scale], free


def _from_dual(problem: HingeProblem, x: np.ndarray, z: np.ndarray, scale: float) -> dict:
    alpha = np.clip(x * scale, 0.0, problem.costs)
    if problem.free_bias:
        return {"alpha": alpha, "b": float(z[0] * scale / problem.lam)}
    return {"alpha": alpha, "b": float(problem.bias_value**2 * (alpha @ problem.y) / problem.lam)}
