"""Our library: the whole path."""

import numpy as np

from path_benchmark.solvers import Answer, Stopwatch
from solution_paths import __version__, quantile_svm_path, svm_path

from . import Run

NAME = "solution_paths"
HOW = (
    "whole path (C from 0 to infinity, or tau from 0 to 1), start and Gram matrix included; "
    "judged at the grid's values"
)

RECOVERIES = 200
LARGEST_CERTIFICATE = 1e8  # breakpoints times samples


def version() -> str:
    """Version of the library."""
    return f"solution_paths {__version__}"


def refuses(problem) -> str:
    """Refuse nothing."""
    return ""


def trace(problem):
    """Compute the path."""
    if problem.kind == "tau":
        return quantile_svm_path(problem.X, problem.y, problem.lam, check="ignore")
    options = {"kernel": problem.kernel, "gamma": problem.gamma, "check": "ignore"}
    return svm_path(problem.X, problem.y, **options)


def solve(problem) -> Run:
    """Time the path; its answers are the public dual, coefficients and intercept."""
    path = trace(problem)

    def answer(k: int) -> Answer:
        t = problem.grid[k]
        w = path.coef(t) if problem.kernel == "linear" else None
        return Answer(alpha=path.dual(t), w=w, b=path.intercept(t))

    def later() -> dict:
        counts = {k: int(v) for k, v in path.diagnostics.items() if np.isscalar(v)}
        return counts | _recovery(path, problem) | _certificate(path, problem)

    return Run(problem.grid, answer, len(path.breakpoints), later=later)


def _recovery(path, problem) -> dict:
    """Mean seconds of reading one solution off the path, at random places."""
    low, high = problem.grid[[0, -1]]
    points = np.random.default_rng(0).uniform(low, high, RECOVERIES)
    read = path.coef if problem.kernel == "linear" else path.dual
    with Stopwatch() as watch:
        for t in points:
            read(t), path.intercept(t)
    return {"recover_s": watch.cpu_s / RECOVERIES}


def _certificate(path, problem) -> dict:
    """Check every breakpoint, or where that would take minutes, random points alone."""
    size = len(path.breakpoints) * len(problem.y)
    everywhere = problem.certify_all or size <= LARGEST_CERTIFICATE
    with Stopwatch() as watch:
        found = path.certify(n_random=100, at_breakpoints=everywhere)
    return {
        "certified": found.ok,
        "certificate_kkt": found.kkt,
        "certificate_gap": found.gap,
        "certificate_points": found.n_points,
        "certificate_s": watch.cpu_s,
    }
