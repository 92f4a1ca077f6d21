"""Outside solvers, one file each, all called alike; `objectives.judge` scores their answers.

A baseline is a module with ``NAME``, ``version()``, ``supports(objective)``, ``TIGHT_OPTIONS`` and
``STATED_GAP`` (the relative gap that it reaches with those options: what the conformance tests ask
for), and ``solve(objective, options, start) -> Answer``. Add the module to ``BASELINES`` and it
inherits every conformance test.

Solvers that are called at many parameters of one of the `programmes` are classes
``Solver(programme, ...)`` with ``solve(parameters)``; `GridSolver` makes one by name.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from solution_paths.verify.verdict import Verdict

from ..objectives import Machine, judge
from . import (
    clarabel_solver,
    cvxpy_solver,
    highs_solver,
    lbfgsb,
    liblinear,
    piqp_solver,
    sklearn_svc,
    smo,
)
from .answer import Answer, Stopwatch
from .guard import guarded_by, watched
from .programmes import Answered, Parameters, Programme

BASELINES: dict[str, ModuleType] = {
    "liblinear": liblinear,
    "lbfgsb": lbfgsb,
    "clarabel": clarabel_solver,
    "cvxpy": cvxpy_solver,
    "sklearn_svc": sklearn_svc,
    "smo": smo,
}

GRID_SOLVERS: dict[str, tuple[ModuleType, Callable[..., Any]]] = {
    "piqp": (piqp_solver, piqp_solver.Solver),
    "clarabel": (clarabel_solver, clarabel_solver.Solver),
    "highs": (highs_solver, highs_solver.Solver),
    "cvxpy": (cvxpy_solver, cvxpy_solver.Solver),
    "cvxpy_naive": (cvxpy_solver, partial(cvxpy_solver.Solver, careful=False)),
    "cvxpy_terms": (cvxpy_solver, partial(cvxpy_solver.Solver, careful=False, vectors=False)),
}


def get(name: str) -> ModuleType:
    """Look a baseline up by name.

    Raises
    ------
    ValueError
        The name is unknown; the message lists the known ones.
    """
    if name not in BASELINES:
        known = ", ".join(sorted(BASELINES))
        raise ValueError(f"No baseline is called {name!r}, known are {known}: use one of these.")
    return BASELINES[name]


def solve(
    name: str, objective: Machine, options: dict | None = None, start: Answer | None = None
) -> Answer:
    """Call a baseline by name; an answer whose status says why when it can't solve the problem.

    Whatever it raises, want of memory included, is such an answer: one solver must not cost the
    results of the others.
    """
    baseline = get(name)
    if objective.moves:
        raise ValueError("The objective depends on a parameter t: pass objective.at(t).")
    reason = baseline.supports(objective)
    if reason:
        return Answer(status="not applicable", message=reason)
    with watched(name) as refusal:
        if refusal:
            return Answer(status="stopped", message=refusal)
        try:
            return baseline.solve(objective, options, start)
        except Exception as error:
            return Answer(status="failed", message=f"{type(error).__name__}: {error}")


class GridSolver:
    """A solver of one programme at many parameters; what it raises becomes an answer that says why.

    Parameters
    ----------
    name : str
        Of `GRID_SOLVERS`.
    programme : Programme
    **options
        For the solver's class.
    """

    def __init__(self, name: str, programme: Programme, **options: Any) -> None:
        if name not in GRID_SOLVERS:
            known = ", ".join(sorted(GRID_SOLVERS))
            raise ValueError(
                f"No solver for grids is called {name!r}, known are {known}: use one of these."
            )
        module, make = GRID_SOLVERS[name]
        self.name, self.version, self.programme = name, module.version(), programme
        self._solver, self._why = None, ""
        with Stopwatch() as watch:
            try:
                self._solver = make(programme, **options)
            except Exception as error:
                self._why = f"{type(error).__name__}: {error}"
        self.setup_cpu_s, self.setup_wall_s = watch.cpu_s, watch.wall_s

    def solve(self, at: Parameters) -> Answered:
        """Return the model at parameters."""
        if self._solver is None:
            return Answered(None, np.nan, np.nan, False, self._why)
        with watched(self.name) as refusal:
            if refusal:
                return Answered(None, np.nan, np.nan, False, refusal)
            try:
                return self._solver.solve(at)
            except Exception as error:
                return Answered(None, np.nan, np.nan, False, f"{type(error).__name__}: {error}")


__all__ = [
    "BASELINES",
    "GRID_SOLVERS",
    "Answer",
    "GridSolver",
    "Stopwatch",
    "Verdict",
    "get",
    "guarded_by",
    "judge",
    "solve",
]
