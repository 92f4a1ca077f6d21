"""LIBLINEAR's dual coordinate descent (``-s 3``), called as the quantile SVM paper calls it.

The paper's arguments: ``-s 3 -B 1 -e 1e-3 -w1 (2-2tau) -w-1 (2tau) -c 1/(n lam)`` (it prints
``-w1`` twice; the second must be ``-w-1``). LIBLINEAR minimises our objective divided by lam,
||w||^2/2 + C sum_i weight_i loss_i. Package: liblinear-official.
"""

from __future__ import annotations

import ctypes
import re
from contextlib import suppress
from functools import partial

import numpy as np
import scipy.sparse as sp

from ..objectives import Hinge
from .answer import Answer, Stopwatch, not_a_hinge, reuse_or_build, version_of

NAME = "LIBLINEAR"
version = partial(version_of, "liblinear-official")
# `-e` bounds projected gradients, LIBLINEAR visits samples in a random order, and it gives up after
# 300 passes, so no small gap follows from a small `-e`: over 30 seeds on the
# conformance problems the median gap was below 2e-3, the worst .08. A swapped label or cost is off
# by far more.
TIGHT_OPTIONS = {"tolerance": 1e-6}
STATED_GAP = 0.1


def supports(objective: Hinge) -> str:
    """Empty when the objective can be solved, else the reason why it can't."""
    if not isinstance(objective, Hinge) or objective.diagonal:
        return not_a_hinge(objective)
    if not objective.linear:
        return "LIBLINEAR has the linear kernel only"
    if objective.free_bias:
        return "LIBLINEAR's -s 3 penalises the bias"
    costs = [objective.costs()[objective.y == sign] for sign in (1.0, -1.0)]
    if any(len(c) and np.ptp(c) > 0 for c in costs):
        return "LIBLINEAR takes one cost for each class, not one for each sample"
    return ""


def solve(objective: Hinge, options: dict | None = None, start: Answer | None = None) -> Answer:
    """Solve; options: ``tolerance`` (``-e``, default the paper's 1e-3), ``seed``. No warm start."""
    try:
        from liblinear import liblinear, liblinearutil
    except Exception as error:  # a missing shared library raises a bare Exception
        return Answer(status="not available", message=f"liblinear-official: {error}")
    options = options or {}

    def convert() -> object:
        X = sp.csr_matrix(objective.X, dtype=float)
        X.sort_indices()
        converted = liblinear.problem(objective.y, X)
        converted.set_bias(objective.bias_value or -1)
        return converted

    state, setup = reuse_or_build(objective, start, (objective.bias_value,), convert)
    parameter = liblinear.parameter(_arguments(objective, options.get("tolerance", 1e-3)))
    printed: list[bytes] = []
    parameter.print_func = liblinear.PRINT_STRING_FUN(printed.append)
    _seed(options.get("seed", 1))
    with Stopwatch() as watch:
        model = liblinearutil.train(state.value, parameter)
    status, message, passes = _ending(b"".join(printed).decode("ascii", "replace"))
    w = np.array(model.w[: model.nr_feature + bool(objective.bias_value)])
    if model.label[0] == -1:  # w points to the class that LIBLINEAR met first
        w = -w
    b = w[-1] * objective.bias_value if objective.bias_value else 0.0
    return Answer(
        w=w[: objective.X.shape[1]],
        b=float(b),
        **watch.seconds,
        setup_cpu_s=setup,
        iterations=passes,
        status=status,
        message=message,
        state=state,
    )


def _ending(printed: str) -> tuple[str, str, int]:
    """Return status, message and the number of passes, from what LIBLINEAR prints of a run."""
    finished = re.search(r"optimization finished, #iter = (\d+)", printed)
    if finished is None:
        return "inaccurate", "LIBLINEAR did not say how it ended", -1
    passes = int(finished[1])
    if "reaching max number of iterations" in printed:
        return "inaccurate", f"stopped at its limit of {passes} passes, above its tolerance", passes
    return "solved", "", passes


def _seed(seed: int) -> None:
    """Seed the C library's ``rand``, which orders LIBLINEAR's passes; elsewhere runs may differ."""
    with suppress(OSError, TypeError, AttributeError):
        ctypes.CDLL(None).srand(seed)


def _arguments(objective: Hinge, tolerance: float) -> str:
    """Write the paper's command line for these costs."""
    n = objective.n
    up, down = (_class_cost(objective, sign) for sign in (1.0, -1.0))
    return (
        f"-s 3 -B {objective.bias_value or -1!r} -e {tolerance!r} -w1 {n * up!r} -w-1 {n * down!r} "
        f"-c {1.0 / (n * objective.lam)!r}"
    )


def _class_cost(objective: Hinge, sign: float) -> float:
    costs = objective.costs()[objective.y == sign]
    return float(costs[0]) if len(costs) else 0.0
