"""Clarabel, an interior-point method, called directly: the oracle of the tests."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from solution_paths import verify
from solution_paths.problem import Problem

from ..objectives import Hinge, Machine, Tube
from .answer import Answer, Stopwatch, not_a_hinge, version_of
from .programmes import Answered, Parameters, Programme
from .quadratic import Statements

NAME = "Clarabel"
version = partial(version_of, "clarabel")
TIGHT_OPTIONS: dict = {}
STATED_GAP = 1e-8
ORACLE = 1e-13  # the tolerance of an oracle
AT: Parameters = {"t": 0.0}  # of a problem that doesn't move


class Solver:
    """One programme; Clarabel has no warm start, so each call sets it up.

    Parameters
    ----------
    programme : Programme
    tolerance : float
        Absolute and relative, of residuals and gap.
    **options
        Further settings of Clarabel.
    """

    def __init__(
        self, programme: Programme | Statements, tolerance: float = 1e-9, **options: Any
    ) -> None:
        import clarabel

        self.programme, self._clarabel = programme, clarabel
        self._settings = clarabel.DefaultSettings()
        limits = {f"tol_{name}": tolerance for name in ("gap_abs", "gap_rel", "feas")}
        for name, value in {"verbose": False, "max_threads": 1, **limits, **options}.items():
            setattr(self._settings, name, value)
        A, _, G, low = programme.fixed
        one = sp.eye_array(A.shape[1], format="csr")
        self._low, self._one = np.flatnonzero(np.isfinite(low)), one
        self._rows = sp.vstack([A, G, -one[self._low]]).tocsc()

    def call(self, at: Parameters) -> Any:
        """Return Clarabel's solution at parameters, with multipliers of Ax = b and of Gx <= h."""
        _, b, _, low = self.programme.fixed
        P, c, h, high = self.programme.moving(at)
        rows, right = self._rows, [b, h, -low[self._low]]
        if high is not None:
            bounded = np.isfinite(high)
            rows, right = sp.vstack([rows, self._one[bounded]]).tocsc(), [*right, high[bounded]]
        sides = np.concatenate(right)
        kinds = self._clarabel.ZeroConeT, self._clarabel.NonnegativeConeT
        cones = [kinds[0](len(b)), kinds[1](len(sides) - len(b))]
        upper = sp.triu(P, format="csc")
        return self._clarabel.DefaultSolver(upper, c, rows, sides, cones, self._settings).solve()

    def solve(self, at: Parameters) -> Answered:
        """Return the model at parameters."""
        equal = len(self.programme.fixed.b)
        with Stopwatch() as watch:
            answer = self.call(at)
            solution = self.programme.read(np.array(answer.x), np.array(answer.z)[:equal], at)
        status = str(answer.status)
        return Answered(solution, watch.cpu_s, watch.wall_s, status == "Solved", status)


# ---------------------------------------------------------------- any problem, as an oracle


def by_clarabel(problem: Problem, tolerance: float = ORACLE) -> verify.Answer:
    """Solve a problem.

    Raises
    ------
    RuntimeError
        Clarabel says that there is no solution.
    """
    solver = Solver(Statements.of({0.0: problem}), tolerance)
    result = solver.call(AT)
    if "Infeasible" in str(result.status):
        raise RuntimeError(
            f"Clarabel finds no solution of the problem ({result.status}): check it."
        )
    return _read(solver, result)


def _read(solver: Solver, result: Any) -> verify.Answer:
    """Return the answer to a problem that doesn't move."""
    A, _, G, _ = solver.programme.fixed
    rows, limits, _ = np.split(np.array(result.z), [A.shape[0], A.shape[0] + G.shape[0]])
    return solver.programme.programmes[0.0].answer(np.array(result.x), rows, limits)


def supports(objective: Machine) -> str:
    """Empty when the objective can be solved, else the reason why it can't."""
    return "" if isinstance(objective, Tube) else not_a_hinge(objective, diagonal=True)


def solve(
    objective: Hinge | Tube, options: dict | None = None, start: Answer | None = None
) -> Answer:
    """Solve; options: any setting of Clarabel, by default tolerances of 1e-13. No warm start."""
    try:
        with Stopwatch() as setup:
            problem = objective.problem(objective.pieces())
            solver = Solver(Statements.of({0.0: problem}), ORACLE, **(options or {}))
    except ImportError as error:
        return Answer(status="not available", message=f"clarabel: {error}")
    with Stopwatch() as watch:
        result = solver.call(AT)
    status = str(result.status)
    # "InsufficientProgress" is what it says when 1e-13 is beyond reach; the judge sees how far off.
    known = {"Solved": "solved", "AlmostSolved": "inaccurate", "InsufficientProgress": "inaccurate"}
    return Answer(
        **_stated(objective, _read(solver, result)),
        **watch.seconds,
        setup_cpu_s=setup.cpu_s,
        iterations=int(result.iterations),
        status=known.get(status, "failed"),
        message=status,
    )


def _stated(objective: Hinge | Tube, answer: verify.Answer) -> dict[str, Any]:
    """Return alpha, w and b of an answer; duals alone where these imply the others."""
    costs = objective.costs()
    least = -costs if isinstance(objective, Tube) else 0.0
    alpha = np.clip(objective.public_dual(answer.duals[0]), least, costs)
    b = float(answer.free[0]) if objective.free_bias else None
    if answer.w is None:
        return {"alpha": alpha, "b": b}
    d = objective.X.shape[1]
    b = float(answer.w[d:].sum() * objective.bias_value) if b is None else b
    return {"alpha": alpha, "w": answer.w[:d], "b": b}
