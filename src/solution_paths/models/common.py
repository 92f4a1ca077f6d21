"""What models share: from (X, kernel) to an operator, and from walks to a `Path`."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..engine.operators import Operator, gram_operator, rows_operator
from ..engine.walker import Walker, WalkError
from ..errors import PathError
from ..kernels import kernel_matrix
from ..path import Leg, Path
from ..problems import Machine


def operator_of(problem: Machine) -> Operator:
    """Return the map of a machine: rows for linear models unless they are very wide."""
    n = problem.n
    free = np.ones((n, 1)) if problem.bias == "free" else None
    if problem.linear and problem.diagonal == 0 and _rows_are_cheap(problem.X):
        X = problem.X
        if problem.bias == "feature":
            constant = np.full((n, 1), problem.intercept_scaling)
            stacked = sp.hstack if sp.issparse(X) else np.hstack
            X = stacked([X, constant])
        return rows_operator(X, free, scale=1.0 / problem.lam)
    K = kernel_matrix(
        problem.X, problem.X, problem.kernel, problem.gamma, problem.degree, problem.coef0
    )
    if problem.bias == "feature":
        K = K + problem.intercept_scaling**2
    if problem.diagonal:
        K = K + problem.diagonal * np.eye(n)
    return gram_operator(K / problem.lam, free)


# A map through the rows is the more accurate one: its conditions are not squared.
MANY_COLUMNS = 4  # times the rows: beyond that vectors over columns cost more than a Gram matrix
FEW_COLUMNS = 500  # vectors of so many cost nothing


def _rows_are_cheap(X) -> bool:
    """Rows cost O(D) a look and keep (D,) vectors; a Gram matrix costs n^2 once."""
    n, d = X.shape
    return d < max(MANY_COLUMNS * n, FEW_COLUMNS)


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
    problem: Machine,
    diagnostics: dict,
    error: WalkError | None,
    resume=None,
) -> Path:
    """Return the path, or raise its error with the exact part."""
    path = Path(parameter, legs, problem, diagnostics, resume)
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
