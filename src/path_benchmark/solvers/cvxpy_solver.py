"""CVXPY as a careful user writes it: the problem is built once, the costs are parameters (DPP).

``start=answer`` hands the built problem on, so that the compilation is paid once for each data set;
``rebuild=True`` builds and compiles anew at every call, as a naive loop over a grid does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..objectives import Hinge
from .answer import Answer, Stopwatch, not_a_hinge, reuse_or_build, version_of
from .programmes import (
    Answered,
    DoubleMargin,
    DoublyRegularised,
    KernelDoubleMargin,
    LeastDeviations,
    Parameters,
    Programme,
    Solution,
)

NAME = "CVXPY"
TIGHT_OPTIONS = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
STATED_GAP = 1e-6


def version() -> str:
    """Versions of CVXPY and of the solver it calls, or "not installed"."""
    versions = {version_of("cvxpy"), version_of("clarabel")}
    if "not installed" in versions:
        return "not installed"
    return f"{version_of('cvxpy')} with Clarabel {version_of('clarabel')}"


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
        **watch.seconds,
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


# ---------------------------------------------------------------- models on a grid


class Solver:
    """A model written as its formula stands in the text, solved at many parameters.

    Parameters
    ----------
    programme : Programme
    careful : bool
        True: the problem is built once, with parameters where DPP wants them, and solved by a
        solver that was chosen for it, warm-started where that can be. False: it is built anew with
        numbers at each call, and CVXPY chooses the solver.
    vectors : bool
        Whether losses are written with the matrix of all samples; False: a term for each sample,
        as a loop over samples adds them up.
    solver : str, optional
        Of a careful user.
    **options
        For the solver.
    """

    def __init__(
        self,
        programme: Programme,
        careful: bool = True,
        vectors: bool = True,
        solver: str = "CLARABEL",
        **options: Any,
    ) -> None:
        import cvxpy

        self.programme, self._cvxpy, self._careful = programme, cvxpy, careful
        self._vectors = vectors
        self._options = {"solver": solver, "warm_start": True} | options if careful else options
        if careful:
            names = [*programme.parameters, "root"]
            self._at = {name: cvxpy.Parameter(nonneg=True, value=1.0) for name in names}
            self._built = self._written(self._at)
            self._built[0].get_problem_data(solver)

    def solve(self, at: Parameters) -> Answered:
        """Return the model at parameters."""
        # lam2 ||w||^2 isn't DPP, ||root w||^2 is
        numbers = {**at, "root": np.sqrt(0.5 * at.get("lam2", at.get("lam", 0.0)))}
        with Stopwatch() as watch:
            if self._careful:
                problem, read = self._built
                for name, parameter in self._at.items():
                    parameter.value = numbers[name]
            else:
                problem, read = self._written(numbers)
            try:
                problem.solve(**self._options)
            except self._cvxpy.SolverError as error:
                return Answered(None, np.nan, np.nan, False, str(error))
        known = problem.status in ("optimal", "optimal_inaccurate")
        solution = read() if known else None
        return Answered(
            solution, watch.cpu_s, watch.wall_s, problem.status == "optimal", problem.status
        )

    def _written(self, at: Any) -> tuple:
        """Return (problem, function that reads the model) at numbers or parameters."""
        if isinstance(self.programme, KernelDoubleMargin):
            return _kernel(self.programme, at, self._cvxpy)
        return _linear(self.programme, at, self._cvxpy, self._vectors)


def _linear(programme: Programme, at: Any, cp: Any, vectors: bool) -> tuple:
    """Return a linear model, its loss of all samples at once or of each by itself."""
    X, y = programme.X, programme.y
    w, b, rho = cp.Variable(X.shape[1]), cp.Variable(), None
    rows, penalty = [], cp.sum_squares(at["root"] * w)
    if isinstance(programme, LeastDeviations):
        rows.append(cp.norm1(w) <= at["s"])

        def loss(y: Any, f: Any) -> Any:
            return cp.norm1(y - f)

    elif isinstance(programme, DoublyRegularised):
        penalty = at["lam1"] * cp.norm1(w) + penalty

        def loss(y: Any, f: Any) -> Any:
            return cp.sum(cp.pos(1 - cp.multiply(y, f)))

    elif isinstance(programme, DoubleMargin):
        rho = cp.Variable(nonneg=True)
        rows.append(cp.norm1(w) <= rho)
        penalty = at["lam1"] * rho + penalty

        def loss(y: Any, f: Any) -> Any:
            margins = cp.multiply(y, f)
            return cp.sum(cp.maximum(1 - margins, 1 + margins - programme.kappa * rho, 0))

    else:
        raise TypeError(f"{type(programme).__name__} is no model that is written for CVXPY.")
    total = (
        loss(y, X @ w + b)
        if vectors
        else sum(loss(t, x @ w + b) for x, t in zip(X, y, strict=True))
    )
    problem = cp.Problem(cp.Minimize(total / len(y) + penalty), rows)
    return problem, lambda: Solution(
        w.value, float(b.value), 0.0 if rho is None else float(rho.value)
    )


def _kernel(programme: KernelDoubleMargin, at: Any, cp: Any) -> tuple:
    """Return the kernel machine, written with a root of its Gram matrix: quad_form isn't DPP."""
    values, vectors = np.linalg.eigh(programme.X)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    h, b, n, y = cp.Variable(len(programme.y)), cp.Variable(), len(programme.y), programme.y
    margins = cp.multiply(y, root @ h + b)
    loss = cp.maximum(1 - margins, 0)
    if np.isfinite(programme.kappa):
        loss = cp.maximum(1 - margins, margins - (programme.kappa - 1), 0)
    problem = cp.Problem(cp.Minimize(cp.sum(loss) / n + cp.sum_squares(at["root"] * h)))

    def read() -> Solution:
        kept = values > 1e-13 * values[-1]
        beta = vectors[:, kept] @ (h.value[kept] / np.sqrt(values[kept]))
        return Solution(None, float(b.value), alpha=y * beta)

    return problem, read
