"""scikit-learn's SVC, that is LIBSVM's SMO, with one cost for each sample. The bias is free.

LIBSVM keeps kernel rows in float32, so no ``tolerance`` brings its gap much below 1e-6. Imported
where it is called, before its time is taken: scikit-learn takes a second to load.
"""

from __future__ import annotations

import importlib.metadata

import numpy as np

from ..objectives import Hinge
from .answer import Answer, Stopwatch, not_a_hinge, reuse_or_build

NAME = "LIBSVM (SVC)"
TIGHT_OPTIONS = {"tolerance": 1e-7}
STATED_GAP = 1e-5


def version() -> str:
    """Version of scikit-learn, which holds the solver."""
    return f"scikit-learn {importlib.metadata.version('scikit-learn')}"


def supports(objective: Hinge) -> str:
    """Empty when the objective can be solved, else the reason why it can't."""
    if not isinstance(objective, Hinge):
        return not_a_hinge(objective)
    if not objective.free_bias:
        return "LIBSVM's bias is always free"
    return "" if (objective.costs() > 0).all() else "SVC drops samples of weight zero"


def solve(objective: Hinge, options: dict | None = None, start: Answer | None = None) -> Answer:
    """Solve; options: ``tolerance`` (default 1e-3), ``max_iter``, ``cache_size`` (MB, 200)."""
    from sklearn.svm import SVC

    options = options or {}
    key = (NAME, objective.kernel, objective.diagonal)
    state, setup = reuse_or_build(objective, start, key, objective.gram)
    cost = objective.costs()
    machine = SVC(
        C=1.0 / objective.lam,
        kernel="precomputed",
        tol=options.get("tolerance", 1e-3),
        max_iter=options.get("max_iter", -1),
        cache_size=options.get("cache_size", 200),
    )
    with Stopwatch() as watch:
        machine.fit(state.value, objective.y, sample_weight=cost)
    alpha = np.zeros(objective.n)
    alpha[machine.support_] = np.abs(machine.dual_coef_.ravel()) * objective.lam
    return Answer(
        alpha=np.clip(alpha, 0.0, cost),
        b=float(machine.intercept_[0]),
        **watch.seconds,
        setup_cpu_s=setup,
        iterations=int(np.sum(machine.n_iter_)),
        status="solved" if machine.fit_status_ == 0 else "inaccurate",
        state=state,
    )
