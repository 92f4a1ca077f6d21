"""Outside solvers, one file each, all called alike; `certify.judge` scores their answers.

A baseline is a module with ``NAME``, ``version()``, ``supports(objective)``, ``TIGHT_OPTIONS`` and
``STATED_GAP`` (the relative gap that it reaches with those options: what the conformance tests ask
for), and ``solve(objective, options, start) -> Answer``. Add the module to ``BASELINES`` and it
inherits every conformance test.
"""

from __future__ import annotations

from types import ModuleType

from ..certify import Verdict, judge
from ..objectives import Objective
from . import (
    clarabel_solver,
    cvxpy_solver,
    lbfgsb,
    liblinear,
    sklearn_svc,
    smo,
)
from .answer import Answer, Stopwatch
from .guard import guarded_by, watched

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
    name: str, objective: Objective, options: dict | None = None, start: Answer | None = None
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


__all__ = [
    "BASELINES",
    "Answer",
    "Stopwatch",
    "Verdict",
    "get",
    "guarded_by",
    "judge",
    "solve",
]
