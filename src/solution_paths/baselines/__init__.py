"""Outside solvers, one file each, all called alike, and the one judge of their answers.

A baseline is a module with ``NAME``, ``version()``, ``supports(problem)``, ``TIGHT_OPTIONS`` and
``STATED_GAP`` (the relative gap that it reaches with those options: what the conformance tests ask
for), and ``solve(problem, options, start) -> Answer``. Add the module to ``BASELINES`` and it
inherits every conformance test.
"""

from __future__ import annotations

from types import ModuleType

from . import (
    clarabel_solver,
    cvxpy_solver,
    lbfgsb,
    liblinear,
    sklearn_svc,
    smo,
)
from .judge import Verdict, judge
from .problem import (
    Answer,
    HingeProblem,
    Stopwatch,
    TubeProblem,
    quantile_costs,
)

BASELINES: dict[str, ModuleType] = {
    "liblinear": liblinear,
    "lbfgsb": lbfgsb,
    "clarabel": clarabel_solver,
    "cvxpy": cvxpy_solver,
    "sklearn_svc": sklearn_svc,
    "smo": smo,
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
    name: str, problem: HingeProblem, options: dict | None = None, start: Answer | None = None
) -> Answer:
    """Call a baseline by name; an answer whose status says why when it can't solve the problem."""
    baseline = get(name)
    reason = baseline.supports(problem)
    if reason:
        return Answer(status="not applicable", message=reason)
    return baseline.solve(problem, options, start)


__all__ = [
    "BASELINES",
    "Answer",
    "HingeProblem",
    "Stopwatch",
    "TubeProblem",
    "Verdict",
    "get",
    "judge",
    "quantile_costs",
    "solve",
]
