"""A weighted l1 penalty of coefficients, and their bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..problem import Pieces, penalties
from ..validation import Floats, check_flag, check_weights

Bounds: TypeAlias = tuple[ArrayLike, ArrayLike]


def l1_penalty(
    d: int,
    positive: bool = False,
    penalty_factor: ArrayLike | None = None,
    bounds: Bounds | None = None,
) -> Callable[[float], Pieces]:
    """Return lam sum_j p_j |w_j| within bounds, as a function of lam; see `lasso_path`."""
    low, high = _checked(bounds, d)
    if check_flag(positive, "positive"):
        low = np.maximum(low, 0.0)
        if (high < 0).any():
            raise ValueError("bounds end below 0 where positive=True holds coefficients: drop one.")
    factor: Any = 1.0
    if penalty_factor is not None:
        factor = check_weights(penalty_factor, d, "penalty_factor", of="the row of coefficients")
    if np.isinf(low).all() and np.isinf(high).all():
        return lambda lam: penalties.l1(d, lam * factor)
    return lambda lam: penalties.bounded_l1(d, lam * factor, low, high)


def _checked(bounds: Bounds | None, d: int) -> tuple[Floats, Floats]:
    """Return lower and upper bounds, (d,) each, infinite where there are none."""
    wanted = (
        f"bounds must be a pair (low, high) with low <= high, each a number or one for each of {d} "
        "coefficients, infinite where there is none: correct them."
    )
    try:
        low, high = (-np.inf, np.inf) if bounds is None else bounds
        limits = [np.full(d, np.asarray(bound, dtype=np.float64)) for bound in (low, high)]
    except (TypeError, ValueError) as error:
        raise ValueError(wanted) from error
    if not ((limits[0] <= limits[1]) & (limits[0] < np.inf) & (limits[1] > -np.inf)).all():
        raise ValueError(wanted)
    return limits[0], limits[1]
