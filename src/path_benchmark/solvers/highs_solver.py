"""HiGHS, a simplex method, on linear programmes (lam2 = 0): each solve begins at the last basis."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from solution_paths import verify
from solution_paths.problem import Problem

from .answer import Stopwatch, version_of
from .programmes import Answered, Moving, Parameters, Programme
from .quadratic import Statements

NAME = "HiGHS"
version = partial(version_of, "highspy")
ORACLE = 1e-10  # the tolerance of an oracle, the least that HiGHS takes


class Solver:
    """One linear programme, handed over once; costs and right-hand sides move.

    Parameters
    ----------
    programme : Programme
        Without a quadratic term at the parameters that it is asked for.
    tolerance : float
        Of primal and dual feasibility.
    """

    def __init__(self, programme: Programme | Statements, tolerance: float = 1e-9) -> None:
        import highspy

        self.programme, self._highspy, self._tolerance = programme, highspy, tolerance
        self._solver: Any = None
        self._bounded = False  # whether the solver holds upper bounds

    def solve(self, at: Parameters) -> Answered:
        """Return the model at parameters.

        Raises
        ------
        ValueError
            The programme is quadratic there.
        """
        if not self.programme.is_linear(at):
            raise ValueError(f"The programme is quadratic at {dict(at)}: HiGHS needs lam2 = 0.")
        moving, equal = self.programme.moving(at), len(self.programme.fixed.b)
        with Stopwatch() as watch:
            x, multipliers, status = self.call(moving)
            solution = self.programme.read(x, multipliers[:equal], at)
        return Answered(solution, watch.cpu_s, watch.wall_s, status == "Optimal", status)

    def call(self, moving: Moving) -> tuple[np.ndarray, np.ndarray, str]:
        """Return x, multipliers of Ax = b and of Gx <= h, and the status."""
        _, b, _, low = self.programme.fixed
        if self._solver is None:
            self._hand_over(moving)
        else:
            columns = np.arange(len(moving.c), dtype=np.int32)
            self._solver.changeColsCost(len(columns), columns, moving.c)
            if self._bounded or moving.high is not None:
                self._solver.changeColsBounds(len(columns), columns, low, moving.upper)
            for k, bound in enumerate(moving.h):
                self._solver.changeRowBounds(len(b) + k, -np.inf, bound)
        self._bounded = moving.high is not None
        self._solver.run()
        solution = self._solver.getSolution()
        status = self._solver.modelStatusToString(self._solver.getModelStatus())
        return np.array(solution.col_value), -np.array(solution.row_dual), status

    def _hand_over(self, moving: Moving) -> None:
        from scipy.sparse import vstack

        A, b, G, low = self.programme.fixed
        rows = vstack([A, G]).tocsc()
        lp = self._highspy.HighsLp()
        lp.num_col_, lp.num_row_ = rows.shape[1], rows.shape[0]
        lp.col_cost_, lp.col_lower_ = moving.c, low
        lp.col_upper_ = moving.upper
        lp.row_lower_ = np.r_[b, np.full(len(moving.h), -np.inf)]
        lp.row_upper_ = np.r_[b, moving.h]
        lp.a_matrix_.format_ = self._highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_, lp.a_matrix_.index_ = rows.indptr, rows.indices
        lp.a_matrix_.value_ = rows.data
        self._solver = self._highspy.Highs()
        self._solver.setOptionValue("output_flag", False)
        self._solver.setOptionValue("threads", 1)
        for name in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
            self._solver.setOptionValue(name, self._tolerance)
        self._solver.passModel(lp)


def by_highs(problem: Problem) -> verify.Answer:
    """Solve a problem without a ridge or curvature, a linear programme.

    Raises
    ------
    ValueError
        The problem is no linear programme.
    RuntimeError
        HiGHS finds no solution.
    """
    stated, at = Statements.of({0.0: problem}), {"t": 0.0}
    if not stated.is_linear(at):
        raise ValueError("The problem has a ridge or curvature: solve it by Clarabel.")
    x, multipliers, status = Solver(stated, ORACLE).call(stated.moving(at))
    if status != "Optimal":
        raise RuntimeError(f"HiGHS finds no solution of the problem ({status}): check it.")
    quadratic, equal = stated.programmes[0.0], len(stated.fixed.b)
    return quadratic.answer(x, multipliers[:equal], multipliers[equal:])
