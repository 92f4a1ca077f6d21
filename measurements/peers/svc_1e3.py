"""scikit-learn's SVC, that is LIBSVM, cold at each value of C; tolerance 1e-3."""

import numpy as np
from sklearn.svm import SVC

from path_benchmark.solvers import Answer

from . import Run, package_version, refuse_unless

NAME = "scikit-learn SVC, 100 cold, 1e-3"
HOW = "SVC(C, kernel, gamma, tol=1e-3).fit(X, y) at the grid's 100 values; 200 MB of cache"


def version() -> str:
    """Version of scikit-learn."""
    return package_version("scikit-learn")


def refuses(problem) -> str:
    """Say why not."""
    return refuse_unless(problem, "scikit-learn", "C")


def grid_of_fits(problem, tolerance: float) -> Run:
    """Fit along the grid."""
    machines = [
        SVC(C=C, kernel=problem.kernel, gamma=problem.gamma, tol=tolerance).fit(
            problem.X, problem.y
        )
        for C in problem.grid
    ]

    def answer(k: int) -> Answer:
        alpha = np.zeros(len(problem.y))
        alpha[machines[k].support_] = np.abs(machines[k].dual_coef_[0])
        return Answer(
            alpha=np.clip(alpha, 0.0, problem.grid[k]), b=float(machines[k].intercept_[0])
        )

    return Run(problem.grid, answer, int(sum(m.n_iter_[0] for m in machines)))


def solve(problem) -> Run:
    """Fit along the grid at 1e-3."""
    return grid_of_fits(problem, 1e-3)
