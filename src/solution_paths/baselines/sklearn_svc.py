"""scikit-learn's SVC, that is LIBSVM's SMO, with one cost for each sample. The bias is free.

LIBSVM keeps kernel rows in float32, so no ``tolerance`` brings its gap much below 1e-6.
"""

from __future__ import annotations

import numpy as np
import sklearn
from sklearn.svm import SVC

from .problem import (
    Answer,
    HingeProblem,
    Stopwatch,
    gram_matrix,
    reuse_or_build,
)

NAME = "LIBSVM (SVC)"
TIGHT_OPTIONS = {"tolerance": 1e-7}
STATED_GAP = 1e-5


def version() -> str:
    """Version of scikit-learn, which holds the solver."""
    return f"scikit-learn {sklearn.__version__}"


def supports(problem: HingeProblem) -> str:
    """Empty when the problem can be solved, else the reason why it can't."""
    if not problem.free_bias:
        return "LIBSVM's bias is always free"
    return "" if (problem.costs > 0).all() else "SVC drops samples of weight zero"


def solve(
    problem: HingeProblem, options: dict | None = None, start: Answer | None = None
) -> Answer:
    """Solve; options: ``tolerance`` (default 1e-3), ``max_iter``, ``cache_size`` (MB, 200)."""
    options = options or {}
    key = (problem.kernel, problem.gamma, problem.degree, problem.coef0)
    state, setup = reuse_or_build(problem, start, key, lambda: gram_matrix(problem))
    machine = SVC(
        C=1.0 / problem.lam,
        kernel="precomputed",
        tol=options.get("tolerance", 1e-3),
        max_iter=options.get("max_iter", -1),
        cache_size=options.get("cache_size", 200),
    )
    with Stopwatch() as watch:
        machine.fit(state.value, problem.y, sample_weight=problem.costs)
    alpha = np.zeros(problem.n)
    alpha[machine.support_] = np.abs(machine.dual_coef_.ravel()) * problem.lam
    return Answer(
        alpha=np.clip(alpha, 0.0, problem.costs),
        b=float(machine.intercept_[0]),
        cpu_s=watch.cpu_s,
        wall_s=watch.wall_s,
        setup_cpu_s=setup,
        iterations=int(np.sum(machine.n_iter_)),
        status="solved" if machine.fit_status_ == 0 else "inaccurate",
        state=state,
    )
