"""Errors relative to that of the best constant: 1 minus scikit-learn's R^2 and D^2."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import d2_pinball_score, mean_pinball_loss, mean_squared_error, r2_score

from ..solution.curves import Curve
from ..validation import Floats

RELATIVE = {  # scores, and the errors that they compare
    "r2": "squared",
    "d2_absolute_error_score": "absolute",
    "d2_pinball_score": "pinball",
}


def error_of_constant(name: str, y: NDArray[Any], weights: Floats, tau: float) -> float:
    """Return the error of the constant to which a score compares predictions of test targets.

    That constant is scikit-learn's (a quantile of few rows isn't unique): its error follows from
    the score and the error of any constant.
    """
    if len(y) < 2:
        raise ValueError(f"{name} needs two test rows in each fold; take fewer folds.")
    score, error = _functions(name, weights, tau)
    beyond = y.min() - 1.0 if tau >= 0.5 else y.max() + 1.0
    constant = np.full(len(y), beyond)
    value, scale = score(y, constant), error(y, constant)
    return 0.0 if value == 0.0 else float(scale / (1.0 - value))


def _functions(name: str, weights: Floats, tau: float) -> tuple[Callable[..., Any], ...]:
    """Return the score and the error as functions of targets and predictions."""
    options: dict[str, Any] = {"sample_weight": weights}
    if name == "r2":
        return (
            lambda y, f: r2_score(y, f, **options),
            lambda y, f: mean_squared_error(y, f, **options),
        )
    twice = 2.0 if name == "d2_absolute_error_score" else 1.0
    options["alpha"] = tau
    return (
        lambda y, f: d2_pinball_score(y, f, **options),
        lambda y, f: twice * mean_pinball_loss(y, f, **options),
    )


def relative_curve(curve: Curve, unit: float) -> Curve:
    """Return an error divided by a constant's; if that is 0, errors > 0 count as 1."""
    if unit > 0.0:
        return curve.times(1.0 / unit)
    perfect = (curve.left == 0.0) & (curve.right == 0.0) & (curve.sag == 0.0)
    level = np.where(perfect, 0.0, 1.0)
    return replace(curve, left=level, right=level, sag=0.0 * level)
