"""CVXPY as a careful user writes it: the problem is built once, the costs are parameters (DPP).

``start=answer`` hands the built problem on, so that the compilation is paid once for each data set;
``rebuild=True`` builds and compiles anew at every call, as a naive loop over a grid does.
"""

from __future__ import annotations

import numpy as np

from ..objectives import Hinge
from .answer import Answer, Stopwatch, not_a_hinge, reuse_or_build

NAME = "CVXPY"
TIGHT_OPTIONS = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
STATED_GAP = 1e-6


def version() -> str:
    """Versions of CVXPY and of the solver it calls, or "not installed"."""
    try:
        import clarabel
        import cvxpy
    except ImportError:
        return "not installed"
    return f"{cvxpy.__version__} with Clarabel {clarabel.__version__}"


def supports(objective: Hinge) -> str:
    """Empty when the objective can be solved, else the reason why it can't."""
    if isinstance(objective, Hinge) and not objective.linear:
        return "this model is written for the linear kernel"
    return not_a_hinge(objective)


def solve(objective: Hinge, options: dict | None = None, start: Answer | None = None) -> Answer:
    """Solve; options: ``rebuild`` (default False), the rest goes to Clarabel."""
    try:
        import clarabel  # noqa: F401  (CVXPY finds it by itself; this names it when it's missing)
        import cvxpy
    except ImportError as error:
        return Answer(status="not available", message=f"cvxpy: {error}")
    options = dict(options or {})
    key = (objective.bias_value, objective.free_bias)
    old = None if options.pop("rebuild", False) else start
    state, setup = reuse_or_build(objective, old, key, lambda: _build(objective, cvxpy))
    model, w, bias, costs, margins = state.value
    cost = objective.costs()
    scale = max(float(cost.max()), np.finfo(float).tiny)
    costs.value = cost / scale
    model.param_dict["penalty"].value = np.sqrt(objective.lam / (2.0 * scale))
    with Stopwatch() as watch:
        try:
            model.solve(solver=cvxpy.CLARABEL, **options)
        except cvxpy.SolverError as error:
            return Answer(status="failed", message=str(error), setup_cpu_s=setup, state=state)
    if w.value is None:
        return Answer(status="failed", message=model.status, setup_cpu_s=setup, state=state)
    d = objective.X.shape[1]
    b = bias.value if objective.free_bias else objective.bias_value * w.value[d:].sum()
    return Answer(
        alpha=np.clip(margins.dual_value * scale, 0.0, cost),
        w=w.value[:d].copy(),
        b=float(b),
        cpu_s=watch.cpu_s,
        wall_s=watch.wall_s,
        setup_cpu_s=setup,
        iterations=int(model.solver_stats.num_iters),
        status="solved" if model.status == "optimal" else "inaccurate",
        message=model.status,
        state=state,
    )


def _build(objective: Hinge, cvxpy) -> tuple:
    """Model, weights (a penalised bias last), free bias, cost parameter, margins; compiled."""
    X = objective.features()
    n, d = X.shape
    w, slack = cvxpy.Variable(d), cvxpy.Variable(n, nonneg=True)
    bias = cvxpy.Variable() if objective.free_bias else 0.0
    costs = cvxpy.Parameter(n, nonneg=True, value=np.ones(n))
    penalty = cvxpy.Parameter(nonneg=True, name="penalty", value=1.0)
    margins = cvxpy.multiply(objective.y, X @ w + bias) + slack >= 1
    model = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(penalty * w) + costs @ slack), [margins])
    model.get_problem_data(cvxpy.CLARABEL)  # compiles; later solves only fill in parameters
    return model, w, bias, costs, margins
