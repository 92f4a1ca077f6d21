"""L-BFGS-B on the dual, with Q v = Y X (X' Y v) and no Gram matrix (scipy).

minimise 1/(2 lam) alpha' Q alpha - alpha' 1 in 0 <= alpha <= costs. It is solved for
u = alpha / max(costs), so that a gradient entry is a margin minus one and ``gtol`` means the same
for every n and lam.
"""

from __future__ import annotations

import numpy as np
import scipy
import scipy.sparse as sp

from ..objectives import Hinge
from .answer import Answer, Stopwatch, not_a_hinge, reuse_or_build

NAME = "L-BFGS-B"
TIGHT_OPTIONS = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 200_000}
STATED_GAP = 1e-5


def version() -> str:
    """Version of scipy, which holds the solver."""
    return f"scipy {scipy.__version__}"


def supports(objective: Hinge) -> str:
    """Empty when the objective can be solved, else the reason why it can't."""
    if isinstance(objective, Hinge) and objective.free_bias:
        return "L-BFGS-B takes bounds but no balance equation"
    return not_a_hinge(objective, diagonal=not objective.linear)


def solve(objective: Hinge, options: dict | None = None, start: Answer | None = None) -> Answer:
    """Solve; options: ``ftol``, ``gtol``, ``maxiter``, ``maxcor`` of scipy, by default scipy's.

    A ``start`` with a dual solution is used as the starting point when ``warm`` is set.
    """
    options = dict(options or {})
    warm = options.pop("warm", False)
    key = (NAME, objective.kernel, objective.bias_value, objective.diagonal)
    state, setup = reuse_or_build(objective, start, key, lambda: _operator(objective))
    product, cost = state.value, objective.costs()
    scale = max(float(cost.max()), np.finfo(float).tiny)
    upper = cost / scale
    begin = np.zeros(objective.n)
    if warm and start is not None and start.alpha is not None:
        begin = np.clip(start.alpha / scale, 0.0, upper)

    def dual(u: np.ndarray) -> tuple[float, np.ndarray]:
        image = product(u) * (scale / objective.lam)
        return 0.5 * float(u @ image) - float(u.sum()), image - 1.0

    from scipy.optimize import minimize  # takes a while to import

    with Stopwatch() as watch:
        result = minimize(
            dual,
            begin,
            jac=True,
            method="L-BFGS-B",
            bounds=np.column_stack([np.zeros(objective.n), upper]),
            options={"maxiter": 15_000, "maxfun": 10**7, **options},
        )
    return Answer(
        alpha=np.clip(result.x * scale, 0.0, cost),
        **watch.seconds,
        setup_cpu_s=setup,
        iterations=int(result.nit),
        status="solved" if result.success else "inaccurate",
        message=str(result.message),
        state=state,
    )


def _operator(objective: Hinge):
    """Return v -> Q v, with everything that doesn't depend on v done beforehand."""
    y = objective.y
    if not objective.linear:
        Q = objective.gram() * y[:, None] * y[None, :]
        return lambda v: Q @ v
    X = objective.features()
    if not sp.issparse(X):
        signed = X * y[:, None]
        transposed = np.ascontiguousarray(signed.T)
    else:
        signed = X.multiply(y[:, None]).tocsr()
        transposed = signed.T.tocsr()
    return lambda v: signed @ (transposed @ v)
