"""L-BFGS-B on the dual, with Q v = Y X (X' Y v) and no Gram matrix (scipy).

minimise 1/(2 lam) alpha' Q alpha - alpha' 1 in 0 <= alpha <= costs. It is solved for
u = alpha / max(costs), so that a gradient entry is a margin minus one and ``gtol`` means the same
for every n and lam.
"""

from __future__ import annotations

import numpy as np
import scipy
from scipy.optimize import minimize

from .problem import Answer, HingeProblem, Stopwatch, reuse_or_build

NAME = "L-BFGS-B"
TIGHT_OPTIONS = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 200_000}
STATED_GAP = 1e-5


def version() -> str:
    """Version of scipy, which holds the solver."""
    return f"scipy {scipy.__version__}"


def supports(problem: HingeProblem) -> str:
    """Empty when the problem can be solved, else the reason why it can't."""
    return "L-BFGS-B takes bounds but no balance equation" if problem.free_bias else ""


def solve(
    problem: HingeProblem, options: dict | None = None, start: Answer | None = None
) -> Answer:
    """Solve; options: ``ftol``, ``gtol``, ``maxiter``, ``maxcor`` of scipy, by default scipy's.

    A ``start`` with a dual solution is used as the starting point when ``warm`` is set.
    """
    options = dict(options or {})
    warm = options.pop("warm", False)
    key = (problem.kernel, problem.bias_value, problem.gamma, problem.degree, problem.coef0)
    state, setup = reuse_or_build(problem, start, key, lambda: _operator(problem))
    product, scale = state.value, max(float(problem.costs.max()), np.finfo(float).tiny)
    upper = problem.costs / scale
    begin = np.zeros(problem.n)
    if warm and start is not None and start.alpha is not None:
        begin = np.clip(start.alpha / scale, 0.0, upper)

    def objective(u: np.ndarray) -> tuple[float, np.ndarray]:
        image = product(u) * (scale / problem.lam)
        return 0.5 * float(u @ image) - float(u.sum()), image - 1.0

    with Stopwatch() as watch:
        found = minimize(
            objective,
            begin,
            jac=True,
            method="L-BFGS-B",
            bounds=np.column_stack([np.zeros(problem.n), upper]),
            options={"maxiter": 15_000, "maxfun": 10**7, **options},
        )
    return Answer(
        alpha=np.clip(found.x * scale, 0.0, problem.costs),
        cpu_s=watch.cpu_s,
        wall_s=watch.wall_s,
        setup_cpu_s=setup,
        iterations=int(found.nit),
        status="solved" if found.success else "inaccurate",
        message=str(found.message),
        state=state,
    )


def _operator(problem: HingeProblem):
    """Return v -> Q v, with everything that doesn't depend on v done beforehand."""
    y = problem.y
    if problem.kernel != "linear":
        Q = problem.gram * y[:, None] * y[None, :]
        return lambda v: Q @ v
    signed = problem.features.multiply(y[:, None]).tocsr() if _sparse(problem) else None
    if signed is None:
        signed = problem.features * y[:, None]
    transposed = signed.T.tocsr() if _sparse(problem) else np.ascontiguousarray(signed.T)
    return lambda v: signed @ (transposed @ v)


def _sparse(problem: HingeProblem) -> bool:
    return hasattr(problem.features, "tocsr")
