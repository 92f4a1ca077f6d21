"""LIBLINEAR, one solve for each of nine quantiles, as the quantile SVM paper calls it."""

import numpy as np

from path_benchmark.solvers import liblinear

from . import Run, package_version

NAME = "LIBLINEAR, nine tau"
HOW = (
    "-s 3 -B 1 -e 1e-3 at tau = .1 to .9, data already in LIBLINEAR's format; time: the mean of "
    "the nine solver calls; its gap is measured against our dual bound"
)
TAUS = np.linspace(0.1, 0.9, 9)


def version() -> str:
    """Version of the package."""
    return package_version("liblinear-official")


def refuses(problem) -> str:
    """Say why not."""
    if not version():
        return "the package liblinear-official is not installed"
    if problem.kind == "C":
        return "its hinge-loss solver penalises the bias, and this path has a free one"
    return liblinear.supports(problem.at(0.5))


def solve(problem) -> Run:
    """Solve nine times; the solver's own clock leaves the conversion out."""
    answers, last = [], None
    for tau in TAUS:
        last = liblinear.solve(problem.at(tau), {"tolerance": 1e-3}, start=last)
        answers.append(last)
    wall, cpu = np.mean([(a.wall_s, a.cpu_s) for a in answers], axis=0)
    return Run(TAUS, lambda k: answers[k], clock=(float(wall), float(cpu)))
