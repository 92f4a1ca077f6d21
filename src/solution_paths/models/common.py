"""What models share: from (X, kernel) to an operator, and from walks to a `Path`."""

from __future__ import annotations

import numpy as np

from ..engine.operators import Operator, gram_operator, rows_operator
from ..engine.walker import Walker, WalkError
from ..errors import PathError
from ..objectives import Objective
from ..objectives.machine import Machine
from ..path import Leg, Path
from ..validation import check_kernel, check_labels, check_vector, check_X


def classification(X, y, kernel: str, gamma: float | None, degree: int, coef0: float) -> dict:
    """Check samples and labels; return these arguments of an objective, by name."""
    X = check_X(X)
    y, classes = check_labels(y, X.shape[0])
    kernel = check_kernel(X, kernel, gamma, degree, coef0)
    return {"X": X, "y": y, "classes": classes, "kernel": kernel}


def regression(X, y, kernel: str, gamma: float | None, degree: int, coef0: float) -> dict:
    """Check samples and targets; return these arguments of an objective, by name."""
    X = check_X(X)
    y = check_vector(y, X.shape[0], "y")
    return {"X": X, "y": y, "kernel": check_kernel(X, kernel, gamma, degree, coef0)}


def operator_of(objective: Machine) -> Operator:
    """Return the map of a machine: rows for linear models with more samples than columns."""
    free = np.ones((objective.n, 1)) if objective.free_bias else None
    if objective.linear and objective.diagonal == 0 and _rows_are_cheaper(objective.X):
        return rows_operator(objective.features(), free, scale=1.0 / objective.lam)
    return gram_operator(objective.gram() / objective.lam, free)


def _rows_are_cheaper(X) -> bool:
    """Rows cost O(D) a look and keep (D,) vectors; a Gram matrix costs n^2 once."""
    n, d = X.shape
    return d < n


def walk_leg(
    walker: Walker, t_end: float, offset: float, factor: float, **options
) -> tuple[Leg, int, WalkError | None]:
    """Walk to t_end (in u); return the leg, how it ended, and the error if it broke off."""
    try:
        ending = walker.walk(t_end, **options)
    except WalkError as error:
        return Leg(error.trace, offset, factor), -1, error
    return Leg(walker.trace(), offset, factor), ending, None


def finish(
    parameter: str,
    legs: list[Leg],
    objective: Objective,
    diagnostics: dict,
    error: WalkError | None,
    resume=None,
) -> Path:
    """Return the path, or raise its error with the exact part."""
    path = Path(parameter, legs, objective, diagnostics, resume)
    if error is not None:
        low, high = path.range
        raise PathError(
            f"The path in {parameter} is exact on [{low:.12g}, {high:.12g}] but could not be "
            f"followed further ({error}); use error.path for that part, or scale columns alike.",
            path,
        ) from error
    return path


def total(*statistics: dict[str, int]) -> dict[str, int]:
    """Add up counts."""
    return {name: sum(s[name] for s in statistics) for name in statistics[0]}
