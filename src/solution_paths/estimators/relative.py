"""Errors as shares of that of the best constant: what scikit-learn's R^2 and D^2 are 1 less of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import d2_pinball_score, mean_pinball_loss, mean_squared_error, r2_score

from ..solution.curves import Curve
from ..validation import Floats

RELATIVE = {  # scores, and the errors of which they are told
    "r2": "squared",
    "d2_absolute_error_score": "absolute",
    "d2_pinball_score": "pinball",
}


def error_of_constant(name: str, y: NDArray[Any], weights: Floats, tau: float) -> float:
    """Return the error of the constant to which a score compares predictions of test targets.

    That constant is scikit-learn's (a quantile of few rows isn't unique): the score of one constant
    and its error tell what it is.
    """
    if len(y) < 2:
        raise ValueError(f"{name} needs two test rows in each fold; take fewer folds.")
    score, error = _functions(name, weights, tau)
    beyond = y.min() - 1.0 if tau >= 0.5 else y.max() + 1.0
    there = np.full(len(y), beyond)
    found, scale = score(y, there), error(y, there)
    return 0.0 if found == 0.0 else float(scale / (1.0 - found))


def _functions(name: str, weights: Floats, tau: float) -> tuple[Callable[..., Any], ...]:
    """Return the score and its error, of targets and predictions."""
    own: dict[str, Any] = {"sample_weight": weights}
    if name == "r2":
        return (
            lambda y, f: r2_score(y, f, **own),
            lambda y, f: mean_squared_error(y, f, **own),
        )
    twice = 2.0 if name == "d2_absolute_error_score" else 1.0
    own["alpha"] = tau
    return (
        lambda y, f: d2_pinball_score(y, f, **own),
        lambda y, f: twice * mean_pinball_loss(y, f, **own),
    )


def relative_curve(curve: Curve, unit: float) -> Curve:
    """Return an error over that of a constant; where this is 0 what isn't perfect counts as 1."""
    if unit > 0.0:
        return curve.times(1.0 / unit)
    perfect = (curve.left == 0.0) & (curve.right == 0.0) & (curve.sag == 0.0)
    level = np.where(perfect, 0.0, 1.0)
    return replace(curve, left=level, right=level, sag=0.0 * level)
