"""What generalised linear models share: from checked samples to a path within a bound."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ..errors import PathError
from ..glm import LOSSES, Lines, follow
from ..solution import Reading
from ..solution.approximate import ApproximatePath
from ..solution.telling import Callback, telling
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
    """Return the path of checked samples; numbers are checked here."""
    lam_min = check_number(lam_min, "lam_min", above=0)
    lam_max = check_number(lam_max, "lam_max", above=lam_min, infinite=True)
    l1_ratio = check_number(l1_ratio, "l1_ratio", least=0, most=1)
    eps = check_number(eps, "eps", least=1e-8, most=1)
    rows, found = np.flatnonzero(weights), None
    used = X if len(rows) == len(y) else X[rows]
    own_loss = LOSSES[loss](y[rows])
    with telling(callback) as told:
        lines = follow(used, own_loss, weights[rows], lam_min, lam_max, l1_ratio, eps, told)
    if lines is not None:
        lines = _for_all(lines, rows, len(y))
        own: dict[str, Any] = {"loss": loss, "l1_ratio": l1_ratio, "eps": eps}
        path = ApproximatePath(X, y, lines, reading, weights=weights, **own)
        found = path if path.certify(8).ok else None
        if found is not None and lines.complete:
            if told is not None:
                told.at_end(len(lines.bounds))
            return found
    raise PathError(
        f"No path within eps = {eps:g} was found down to lam = {lam_min:g}: rounding hides such "
        "gaps; choose a larger eps or lam_min, or scale the columns of X alike.",
        cast(Any, found),
    )


def _for_all(lines: Lines, rows: Any, n: int) -> Lines:
    """Return lines with a dual for each of n rows: 0 for those of no weight."""
    a = np.zeros((len(lines.a), n))
    a[:, rows] = lines.a
    return lines._replace(a=a)
