"""Paths of generalised linear models within a bound, from checked samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import PathError
from ..glm import LOSSES, Lines, follow
from ..solution import Reading
from ..solution.approximate import ApproximatePath
from ..solution.callbacks import Callback, progress_of
from ..validation import Floats, check_number


def curved_path(
    X: Any,
    y: Floats,
    weights: Floats,
    reading: Reading,
    *,
    loss: str,
    lam_min: float,
    lam_max: float,
    l1_ratio: float,
    eps: float,
    callback: Callback | None,
) -> ApproximatePath:
    """Check the numbers; return the path of checked samples."""
    lam_min = check_number(lam_min, "lam_min", above=0)
    lam_max = check_number(lam_max, "lam_max", above=lam_min, infinite=True)
    l1_ratio = check_number(l1_ratio, "l1_ratio", least=0, most=1)
    eps = check_number(eps, "eps", least=1e-8, most=1)
    rows, certified = np.flatnonzero(weights), None
    used = X if len(rows) == len(y) else X[rows]
    loss_function = LOSSES[loss](y[rows])
    with progress_of(callback) as progress:
        lines = follow(
            used, loss_function, weights[rows], lam_min, lam_max, l1_ratio, eps, progress
        )
    if lines is not None:
        lines = _for_all(lines, rows, len(y))
        options: dict[str, Any] = {"loss": loss, "l1_ratio": l1_ratio, "eps": eps}
        path = ApproximatePath(X, y, lines, reading, weights=weights, **options)
        certified = path if path.certify(8).ok else None
        if certified is not None and lines.complete:
            if progress is not None:
                progress.finish(len(lines.bounds))
            return certified
    raise PathError(
        f"No path within eps = {eps:g} was found down to lam = {lam_min:g}: rounding hides such "
        "gaps; choose a larger eps or lam_min, or scale the columns of X alike.",
        certified,
    )


def _for_all(lines: Lines, rows: Any, n: int) -> Lines:
    """Return lines with a dual for each of n rows: 0 for rows without weight."""
    a = np.zeros((len(lines.a), n))
    a[:, rows] = lines.a
    return lines._replace(a=a)
