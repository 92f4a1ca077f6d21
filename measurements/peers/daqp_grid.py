"""DAQP, a dual active-set QP solver, warm-started along a grid."""

import numpy as np

from path_benchmark.solvers import Answer

from . import Run, package_version, refuse_unless

NAME = "DAQP, 100 warm starts"
HOW = (
    "dual QP at the grid's 100 values of C, ascending, one model whose bounds are updated and "
    "whose working set is kept; Gram matrix and set-up included; default settings, no limit on "
    "iterations"
)
EQUALITY = 5


def version() -> str:
    """Version of daqp."""
    return package_version("daqp")


def refuses(problem) -> str:
    """Say why not."""
    return refuse_unless(problem, "daqp", "C")


def solve(problem) -> Run:
    """Solve along the grid; the bias is the balance's multiplier."""
    import daqp

    y, n = problem.y, len(problem.y)
    Q = problem.at(1.0).gram() * np.outer(y, y)
    sense = np.zeros(n + 1, dtype=np.int32)
    sense[n] = EQUALITY
    model = daqp.Model()
    model.settings = {"iter_limit": 10**8}
    lower, found, steps = np.zeros(n + 1), [], 0
    for C in problem.grid:
        upper = np.append(np.full(n, C), 0.0)
        if not found:
            model.setup(Q, -np.ones(n), y[None].copy(), upper, lower, sense)
        else:
            model.update(bupper=upper, blower=lower)
        x, _, flag, info = model.solve()
        if flag < 1:
            raise RuntimeError(f"DAQP at C = {C:g}: exit flag {flag}")
        steps += info["iterations"]
        found.append(Answer(alpha=np.clip(x, 0.0, C), b=float(info["lam"][n])))
    return Run(problem.grid, lambda k: found[k], steps)
