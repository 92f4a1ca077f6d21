"""Probabilities from paths in tau, decisions by them, and their errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

from ..errors import PathWarning
from ..solution import SolutionPath
from ..solution.curves import Curve, Labels
from ..solution.evaluation import positive_length
from ..solution.labels import indices, label_error
from ..solution.metrics import RANKED, Metric
from ..validation import Floats, shown
from ..verify.verdict import Certificate
from .fitted import OneVsRest

EPSILON = float(np.finfo(np.float64).eps)


class Coupled(OneVsRest):
    """Paths of each class against the rest, and of each pair of classes.

    Attributes
    ----------
    pairs : list of (int, int, SolutionPath, (n,) int array)
        Two classes, the path of their rows (positive for the second), and the indices of the rows.
    """

    def __init__(
        self, fit: Callable[..., SolutionPath], X: Any, y: NDArray[Any], weights: Floats | None,
        pairwise: bool,
    ):  # fmt: skip
        super().__init__(fit, X, y, weights)
        self.pairs: list[tuple[int, int, SolutionPath, NDArray[np.int64]]] = []
        codes = np.searchsorted(self.classes, y)
        for i, j in combinations(range(len(self.classes)), 2):
            rows = np.flatnonzero((codes == i) | (codes == j))
            pair_rows = X[rows][:, rows] if pairwise else X[rows]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PathWarning)  # warnings about X were given before
                path = fit(pair_rows, y[rows], None if weights is None else weights[rows])
            self.pairs.append((i, j, path, rows))
        self._pairwise = pairwise

    def certificates(self, t: float) -> list[tuple[Any, SolutionPath, Certificate]]:
        """Return those of the pairs, too, under the label of the pair's second class."""
        certificates = [
            (self.classes[j], path, path.certify(at=[t])) for _, j, path, _ in self.pairs
        ]
        return super().certificates(t) + [entry for entry in certificates if not entry[2].reliable]

    def probabilities(self, X: Any) -> Floats:
        """Return (m, classes) probabilities p that are fitted to those of pairs.

        They minimise the sum of (r_ji p_i - r_ij p_j)^2 over pairs, where r_ij is the probability
        of i within the pair (i, j).
        """
        m, k = X.shape[0], len(self.classes)
        A, b = np.zeros((m, k + 1, k + 1)), np.zeros((m, k + 1, 1))
        for i, j, path, rows in self.pairs:
            r = np.clip(positive_length(path, X[:, rows] if self._pairwise else X), 0.0, 1.0)
            A[:, i, i] += r**2
            A[:, j, j] += (1.0 - r) ** 2
            A[:, i, j] = A[:, j, i] = -r * (1.0 - r)
        A[:, :k, k] = A[:, k, :k] = b[:, k, 0] = 1.0
        p = np.clip(np.linalg.solve(A, b)[:, :k, 0], 0.0, None)
        return p / p.sum(axis=1, keepdims=True)


def probabilities(model: OneVsRest, X: Any) -> Floats:
    """Return (m, classes) probabilities.

    Of two classes that of the second is the length of all tau with f(x) >= 0. With more they are
    those of each class against the rest, scaled to sum to 1, unless pairs are coupled.
    """
    if isinstance(model, Coupled):
        return model.probabilities(X)
    p = np.clip(np.stack([positive_length(path, X) for path in model.paths], axis=1), 0.0, 1.0)
    if p.shape[1] == 1:
        return np.hstack([1.0 - p, p])
    total = p.sum(axis=1, keepdims=True)
    return np.where(total > 0, p / np.where(total > 0, total, 1.0), 1.0 / p.shape[1])


def monotone(model: OneVsRest, X: Any) -> NDArray[np.bool_]:
    """Return in which rows signs are positive up to one tau and negative beyond, (m,)."""
    is_monotone = np.ones(X.shape[0], dtype=bool)
    for path in model.paths:
        changes = np.array([len(row_crossings) for row_crossings in path.crossings(X)])
        first = path.reading.positive(path.decision_function(X, 0.0))
        is_monotone &= (changes == 0) | ((changes == 1) & first)
    return is_monotone


def log_loss(p: Floats, classes: Any, y: NDArray[Any], weights: Floats) -> float:
    """Return the mean log loss of probabilities; an unknown label has probability 0."""
    place = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    probability = np.where(classes[place] == y, p[np.arange(len(y)), place], 0.0)
    least = EPSILON  # as in scikit-learn
    return float(-np.average(np.log(np.clip(probability, least, 1.0 - least)), weights=weights))


def error(
    p: Floats, known: Any, y: NDArray[Any], metric: Metric, weights: Floats, classes: Any
) -> Curve:
    """Return the error of decisions by probabilities (m, known classes) as a function of tau.

    Of two classes it is the second where p >= tau: a row's label changes once, just above its p.
    """
    if metric.name == "log_loss":
        return constant(log_loss(p, known, y, weights))
    if metric.name in RANKED:
        score_of_positive = p[:, 1] if metric.positive(classes) == 1 else p[:, 0]
        score = roc_auc_score if metric.name == "roc_auc" else average_precision_score
        right = y == classes[metric.positive(classes)]
        return constant(1.0 - float(score(right, score_of_positive, sample_weight=weights)))
    codes, nothing = indices(classes, known), np.empty(0, dtype=np.int64)
    right = indices(classes, y)
    if len(known) > 2:
        labels = Labels(codes[p.argmax(axis=1)], nothing, np.empty(0), nothing)
    else:
        row = np.flatnonzero(p[:, 1] < 1.0)
        behind = np.nextafter(p[row, 1], np.inf)
        labels = Labels(np.full(len(p), codes[1]), row, behind, np.full(len(row), codes[0]))
    return label_error((0.0, 1.0), labels.until(1.0), right, weights, metric, classes)


def constant(value: float) -> Curve:
    """Return a constant error as a function of tau."""
    return Curve(np.array([0.0, 1.0]), np.array([value]), np.array([value]), np.zeros(1))


def cheapest(p: Floats, cost: Any) -> NDArray[np.int64]:
    """Return the classes (m,), as indices, whose expected cost is least.

    Of equal costs the second of two classes, or the first of more: as without costs.

    Parameters
    ----------
    p : (m, k) array
    cost : (k, k) array
        The cost of a row whose label is the first index and whose prediction is the second.
    """
    k = p.shape[1]
    try:
        costs = np.asarray(cost)
    except ValueError:  # ragged
        costs = np.empty(0)
    if costs.shape != (k, k) or costs.dtype.kind not in "biuf" or not np.isfinite(costs).all():
        raise ValueError(
            f"cost must hold a finite number for each label and each prediction, in the order of "
            f"the classes: ({k}, {k}) of them, not {shown(cost)}."
        )
    expected = p @ costs
    return 1 - expected[:, ::-1].argmin(axis=1) if k == 2 else expected.argmin(axis=1)
