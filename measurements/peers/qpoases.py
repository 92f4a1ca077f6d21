"""qpOASES, a parametric active-set QP solver, through casadi's `conic` interface."""

import numpy as np

from path_benchmark.solvers import Answer, Stopwatch

from . import Run, package_version, refuse_unless

NAME = "qpOASES (casadi)"
HOW = (
    "solves the dual QP at the smallest C of the grid, then one hot start to the largest, so that "
    "its homotopy passes every breakpoint between; time: Gram matrix and hot start, without the "
    "cold solve; default settings; judged at both ends, which is all that it returns"
)


def version() -> str:
    """Version of casadi, whose wheel holds qpOASES."""
    return package_version("casadi")


def refuses(problem) -> str:
    """Say why not."""
    return refuse_unless(problem, "casadi", "C")


def solve(problem) -> Run:
    """Follow the upper bound C; casadi keeps the working set between calls of one function."""
    import casadi

    y, n = problem.y, len(problem.y)
    with Stopwatch() as setup:
        K = problem.at(1.0).gram()
        Q, row, linear = K * np.outer(y, y), y[None], -np.ones(n)
        shape = {"h": casadi.Sparsity.dense(n, n), "a": casadi.Sparsity.dense(1, n)}
        options = {"printLevel": "none", "error_on_fail": False, "nWSR": 100 * n + 10_000}
        solver = casadi.conic("svm", "qpoases", shape, options)
    ends, found, watches = problem.grid[[0, -1]], [], []
    for C in ends:
        with Stopwatch() as watch:
            result = solver(h=Q, g=linear, a=row, lba=0, uba=0, lbx=0, ubx=C)
        watches.append(watch)
        stats = solver.stats()
        if not stats["success"]:
            raise RuntimeError(f"qpOASES at C = {C:g}: {stats['return_status']}")
        alpha = np.clip(np.array(result["x"]).ravel(), 0.0, C)
        found.append(Answer(alpha=alpha, b=float(result["lam_a"][0])))
    cold, hot = watches
    note = f"cold solve before it: {cold.cpu_s:.3g} s, not counted"
    clock = (setup.wall_s + hot.wall_s, setup.cpu_s + hot.cpu_s)
    return Run(ends, lambda k: found[k], int(stats["iter_count"]), clock, note)
