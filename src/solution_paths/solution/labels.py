"""Errors of predicted labels: step functions, since labels change where decisions cross."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..validation import Floats
from .curves import Curve, Labels, steps
from .metrics import Metric

Codes = NDArray[np.int64]


def indices(classes: Any, labels: Any) -> Codes:
    """Return the indices of known labels into classes in any order."""
    ascending = np.argsort(classes, kind="stable")
    return np.asarray(ascending[np.searchsorted(classes, labels, sorter=ascending)])


def label_error(
    ends: tuple[float, float],
    predicted: Labels,
    truth: Codes,
    weights: Floats | None,
    metric: Metric,
    classes: Any,
) -> Curve:
    """Return a mean error of labels as an exact step function.

    Parameters
    ----------
    ends : (float, float)
        The range of the parameter.
    predicted : Labels
        Predicted labels of m rows, as indices into the classes.
    truth : (m,) array
        Their labels, as indices.
    weights : (m,) array, optional
        Weights of the rows, >= 0.
    metric : Metric
    classes : (k,) array
    """
    count = len(classes)
    weights = np.ones(len(truth)) if weights is None else weights
    if metric.name in ("zero_one", "absolute", "squared", "costs"):
        return _mean_cost(ends, predicted, truth, weights, _costs(metric, count))
    if metric.name == "balanced_error":  # all classes have the same weight
        sums = np.bincount(truth, weights, minlength=count)[truth]
        shares = np.where(sums > 0.0, weights / np.where(sums > 0.0, sums, 1.0), 0.0)
        return _mean_cost(ends, predicted, truth, shares, 1.0 - np.eye(count))
    rate, _, averaging = metric.name.partition("_")
    classes_averaged = [metric.positive(classes)] if averaging == "" else range(count)
    return _mean_rate(ends, predicted, truth, weights, rate, averaging, classes_averaged)


def _costs(metric: Metric, count: int) -> Floats:
    """Return the cost of each label (row) and prediction (column)."""
    if metric.costs is not None:
        return metric.costs
    distances = np.abs(np.subtract.outer(np.arange(count), np.arange(count))).astype(np.float64)
    return {"zero_one": np.minimum(distances, 1.0), "absolute": distances, "squared": distances**2}[
        metric.name
    ]


def _mean_cost(
    ends: tuple[float, float], predicted: Labels, truth: Codes, weights: Floats, costs: Floats
) -> Curve:
    """Return the mean cost of the predictions."""
    unit, truth_of_change = float(weights.sum()), truth[predicted.row]
    rises = weights[predicted.row] * (
        costs[truth_of_change, predicted.after] - costs[truth_of_change, predicted.before]
    )
    first = float((weights * costs[truth, predicted.first]).sum())
    least = float((weights * costs.min(axis=1)[truth]).sum())
    changed = rises != 0.0
    return steps(*ends, first, predicted.at[changed], rises[changed], unit, least)


def _mean_rate(
    ends: tuple[float, float],
    predicted: Labels,
    truth: Codes,
    weights: Floats,
    rate: str,
    averaging: str,
    classes: Any,
) -> Curve:
    """Return 1 less a mean of rates of classes; a rate 0 / 0 is 0, as in scikit-learn."""
    edges = np.unique(np.concatenate([ends, predicted.at]))
    edges = np.array(ends) if len(edges) == 1 else edges
    total, count = np.zeros(len(edges) - 1), np.zeros(len(edges) - 1)
    for k in classes:
        all_rows = np.ones(len(truth), dtype=bool)
        hits, predicted_weight = (
            _weight_of(predicted, edges, counted, k, weights) for counted in (truth == k, all_rows)
        )
        true_weight = float(weights[truth == k].sum())
        above, below = {
            "precision": (hits, predicted_weight),
            "recall": (hits, true_weight + 0.0 * predicted_weight),
            "f1": (2.0 * hits, predicted_weight + true_weight),
        }[rate]
        value = np.where(below > 0.0, above / np.where(below > 0.0, below, 1.0), 0.0)
        # a class that is neither present nor predicted doesn't count
        counts = (predicted_weight > 0.0) | (true_weight > 0.0)
        share = (
            true_weight * np.ones(len(value))
            if averaging == "weighted"
            else 1.0 * (counts | (averaging == ""))
        )
        total, count = total + share * value, count + share
    values = 1.0 - total / np.where(count > 0.0, count, 1.0)
    return Curve(edges, values, values, np.zeros(len(values)), unit=1.0)


def _weight_of(
    predicted: Labels, edges: Floats, counted: NDArray[np.bool_], k: int, weights: Floats
) -> Floats:
    """Return the weight of counted rows that are predicted as class k; exactly 0 if none is."""
    arrives, leaves = predicted.after == k, predicted.before == k
    changing = counted[predicted.row] & (arrives != leaves)
    place = np.searchsorted(edges, predicted.at[changing])
    sign, row = np.where(arrives[changing], 1.0, -1.0), predicted.row[changing]
    start = counted & (predicted.first == k)
    sums = []
    for unit in (weights, 1.0 * (weights > 0.0)):
        change = np.zeros(len(edges))
        np.add.at(change, place, sign * unit[row])
        sums.append(float(unit[start].sum()) + np.cumsum(change)[:-1])
    return np.where(sums[1] > 0.0, np.maximum(sums[0], 0.0), 0.0)
