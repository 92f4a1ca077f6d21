"""Probabilities that paths in tau tell, the decisions that agree with them, and their errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

from ..curves import Curve, Labels
from ..solution.labels import indices, label_error
from ..solution.metrics import RANKED, Metric
from ..validation import Floats, shown
from .fitted import OneVsRest

EPSILON = float(np.finfo(np.float64).eps)


def probabilities(model: OneVsRest, X: Any) -> Floats:
    """Return (m, classes) probabilities.

    Of two classes that of the second one is the length of all tau with f(x) >= 0; with more, each
    class's own against the rest, scaled to sum to 1.
    """
    p = np.clip(np.stack([path.positive_length(X) for path in model.paths], axis=1), 0.0, 1.0)
    if p.shape[1] == 1:
        return np.hstack([1.0 - p, p])
    total = p.sum(axis=1, keepdims=True)
    return np.where(total > 0, p / np.where(total > 0, total, 1.0), 1.0 / p.shape[1])


def monotone(model: OneVsRest, X: Any) -> NDArray[np.bool_]:
    """Tell at which rows signs are positive up to one tau and negative beyond, (m,)."""
    found = np.ones(X.shape[0], dtype=bool)
    for path in model.paths:
        changes = np.array([len(own) for own in path.crossings(X)])
        first = path.reading.positive(path.decision_function(X, 0.0))
        found &= (changes == 0) | ((changes == 1) & first)
    return found


def log_loss(p: Floats, classes: Any, y: NDArray[Any], weights: Floats) -> float:
    """Return the mean log loss of probabilities; a label that they don't know has probability 0."""
    place = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    own = np.where(classes[place] == y, p[np.arange(len(y)), place], 0.0)
    least = EPSILON  # as in scikit-learn
    return float(-np.average(np.log(np.clip(own, least, 1.0 - least)), weights=weights))


def error(
    p: Floats, known: Any, y: NDArray[Any], metric: Metric, weights: Floats, classes: Any
) -> Curve:
    """Return the error of decisions by probabilities (m, known classes) as a function of tau.

    Of two classes it is the second where p >= tau: so a row's label changes once, behind its p.
    """
    if metric.name == "log_loss":
        return constant(log_loss(p, known, y, weights))
    if metric.name in RANKED:
        own = p[:, 1] if metric.positive(classes) == 1 else p[:, 0]
        score = roc_auc_score if metric.name == "roc_auc" else average_precision_score
        right = y == classes[metric.positive(classes)]
        return constant(1.0 - float(score(right, own, sample_weight=weights)))
    codes, nothing = indices(classes, known), np.empty(0, dtype=np.int64)
    right = indices(classes, y)
    if len(known) > 2:
        found = Labels(codes[p.argmax(axis=1)], nothing, np.empty(0), nothing)
    else:
        row = np.flatnonzero(p[:, 1] < 1.0)
        behind = np.nextafter(p[row, 1], np.inf)
        found = Labels(np.full(len(p), codes[1]), row, behind, np.full(len(row), codes[0]))
    return label_error((0.0, 1.0), found.until(1.0), right, weights, metric, classes)


def constant(value: float) -> Curve:
    """Return an error that is the same for every tau."""
    return Curve(np.array([0.0, 1.0]), np.array([value]), np.array([value]), np.zeros(1))


def cheapest(p: Floats, cost: Any) -> NDArray[np.int64]:
    """Return the classes (m,), as indices, whose expected cost is least.

    Of equal ones the second of two, or the first of more: as where all errors cost alike.

    Parameters
    ----------
    p : (m, k) array
    cost : (k, k) array
        What a row costs whose label is the first index and whose prediction is the second.
    """
    k = p.shape[1]
    try:
        own = np.asarray(cost)
    except ValueError:  # ragged
        own = np.empty(0)
    if own.shape != (k, k) or own.dtype.kind not in "biuf" or not np.isfinite(own).all():
        raise ValueError(
            f"cost must hold a finite number for each label and each prediction, in the order of "
            f"the classes: ({k}, {k}) of them, not {shown(cost)}."
        )
    expected = p @ own
    return 1 - expected[:, ::-1].argmin(axis=1) if k == 2 else expected.argmin(axis=1)
