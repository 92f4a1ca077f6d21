"""Errors of predicted labels, which are step functions: labels change where decisions cross."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..validation import Floats
from .curves import Curve, Labels, steps
from .metrics import Metric

Codes = NDArray[np.int64]


def indices(classes: Any, labels: Any) -> Codes:
    """Return the indices of labels, all of them known, into classes in any order."""
    ascending = np.argsort(classes, kind="stable")
    return np.asarray(ascending[np.searchsorted(classes, labels, sorter=ascending)])


def label_error(
    ends: tuple[float, float],
    found: Labels,
    right: Codes,
    weights: Floats | None,
    metric: Metric,
    classes: Any,
) -> Curve:
    """Return a mean error of labels as an exact step function.

    Parameters
    ----------
    ends : (float, float)
        From where to where it is known.
    found : Labels
        What is predicted of m rows, as indices into the classes.
    right : (m,) array
        Their labels, as indices.
    weights : (m,) array, optional
        Of the rows, >= 0.
    metric : Metric
    classes : (k,) array
    """
    count = len(classes)
    weights = np.ones(len(right)) if weights is None else weights
    if metric.name in ("zero_one", "absolute", "squared", "costs"):
        return _mean_cost(ends, found, right, weights, _costs(metric, count))
    if metric.name == "balanced_error":  # all classes count alike
        sums = np.bincount(right, weights, minlength=count)[right]
        shares = np.where(sums > 0.0, weights / np.where(sums > 0.0, sums, 1.0), 0.0)
        return _mean_cost(ends, found, right, shares, 1.0 - np.eye(count))
    rate, _, how = metric.name.partition("_")
    own = [metric.positive(classes)] if how == "" else range(count)
    return _mean_rate(ends, found, right, weights, rate, how, own)


def _costs(metric: Metric, count: int) -> Floats:
    """Return what each label costs for each prediction."""
    if metric.costs is not None:
        return metric.costs
    apart = np.abs(np.subtract.outer(np.arange(count), np.arange(count))).astype(np.float64)
    return {"zero_one": np.minimum(apart, 1.0), "absolute": apart, "squared": apart**2}[metric.name]


def _mean_cost(
    ends: tuple[float, float], found: Labels, right: Codes, weights: Floats, costs: Floats
) -> Curve:
    """Return the mean of costs of labels and predictions."""
    unit, own = float(weights.sum()), right[found.row]
    rises = weights[found.row] * (costs[own, found.after] - costs[own, found.before])
    first = float((weights * costs[right, found.first]).sum())
    least = float((weights * costs.min(axis=1)[right]).sum())
    told = rises != 0.0
    return steps(*ends, first, found.at[told], rises[told], unit, least)


def _mean_rate(
    ends: tuple[float, float],
    found: Labels,
    right: Codes,
    weights: Floats,
    rate: str,
    how: str,
    classes: Any,
) -> Curve:
    """Return 1 less a mean of the rates of classes; a rate of nothing is 0, as in scikit-learn."""
    edges = np.unique(np.concatenate([ends, found.at]))
    edges = np.array(ends) if len(edges) == 1 else edges
    total, count = np.zeros(len(edges) - 1), np.zeros(len(edges) - 1)
    for k in classes:
        every = np.ones(len(right), dtype=bool)
        hit, said = (_weight_of(found, edges, own, k, weights) for own in (right == k, every))
        there = float(weights[right == k].sum())
        above, below = {
            "precision": (hit, said),
            "recall": (hit, there + 0.0 * said),
            "f1": (2.0 * hit, said + there),
        }[rate]
        own = np.where(below > 0.0, above / np.where(below > 0.0, below, 1.0), 0.0)
        counts = (said > 0.0) | (there > 0.0)  # of classes that are neither there nor said none do
        share = there * np.ones(len(own)) if how == "weighted" else 1.0 * (counts | (how == ""))
        total, count = total + share * own, count + share
    values = 1.0 - total / np.where(count > 0.0, count, 1.0)
    return Curve(edges, values, values, np.zeros(len(values)), unit=1.0)


def _weight_of(
    found: Labels, edges: Floats, counted: NDArray[np.bool_], k: int, weights: Floats
) -> Floats:
    """Return the weight of counted rows that are said to be of class k; exactly 0 where none is."""
    came, went = found.after == k, found.before == k
    own = counted[found.row] & (came != went)
    place = np.searchsorted(edges, found.at[own])
    sign, row = np.where(came[own], 1.0, -1.0), found.row[own]
    start = counted & (found.first == k)
    sums = []
    for unit in (weights, 1.0 * (weights > 0.0)):
        change = np.zeros(len(edges))
        np.add.at(change, place, sign * unit[row])
        sums.append(float(unit[start].sum()) + np.cumsum(change)[:-1])
    return np.where(sums[1] > 0.0, np.maximum(sums[0], 0.0), 0.0)
