"""Ranking, whose cost is given, or chosen exactly by pairs of rows in the wrong order."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import GroupKFold

from ..models.ranking_svm import ranking_svm_path
from ..models.samples import ranked_pairs
from ..solution.curves import Curve
from ..solution.metrics import Judge
from ..validation import Floats, Labels, Rows, check_index, check_shares, plain_labels
from .base import Expanded
from .checking import estimator, folds
from .fitted import Fitted
from .tuning import Tuned


@estimator
class PathRankingSVM(Expanded, Tuned):
    """Ranking SVM that knows its solution for every cost C; see `ranking_svm_path`.

    Minimises ``1/2 ||w||^2 + C sum s_i s_j max(0, 1 - (f(x_i) - f(x_j)))`` over the pairs of rows
    of one query where i has the larger score, f(x) = w.x, for sample weights s_i.

    Parameters
    ----------
    C : float, default 1.0
        Cost of errors, >= 0; ignored with ``cv``.
    kernel, gamma, degree, coef0
        See `svm_path`.
    C_max : float, optional
        Where the path ends; by default for ever.
    cv : int, splitter or iterable of (train, test), optional
        Choose C exactly: the mean of the folds' errors is a step function of C. An int makes folds
        of whole queries where there are several.
    scoring : {"pairs"}
        The share of pairs of a query that are in the wrong order; ties count half.
    rule : {"min", "1se"}
    n_jobs : int, optional
    callback, check
        See `PathSVC`.

    Attributes
    ----------
    path_ : SolutionPath
    C_ : float
        The cost that is used.
    coef_, support_, support_vectors_, dual_coef_, n_support_
        See `PathSVC`.
    cv_path_, cv_paths_, cv_error_
        See `PathSVC`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from solution_paths import PathRankingSVM
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [1.0, 1.0], [3.0, 0.0]]
    >>> model = PathRankingSVM().fit(X, [0, 1, 2, 1, 2], queries=["a", "a", "a", "b", "b"])
    >>> model.predict([[4.0, 0.0], [0.0, 1.0]]).argmax().item()  # the first row is ranked higher
    0
    >>> model.score(X, [0, 1, 2, 1, 2], queries=["a", "a", "a", "b", "b"])
    1.0
    """

    _parameter = "C"
    _stronger = "smaller"
    _kind = "rank"
    _sparse = True

    C: float = 1.0
    _: KW_ONLY
    C_max: float | None = None
    scoring: Judge = "pairs"

    def fit(
        self,
        X: Rows,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        queries: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Fit the whole path, and choose its parameter if ``cv`` is given.

        Parameters
        ----------
        X : (n, d) array or DataFrame, CSR matrix, or (n, n) Gram matrix
        y : (n,) array
            Scores: a row is to be ranked above the rows of its query with lower scores.
        sample_weight : (n,) array, optional
            Weights >= 0 of rows; all 1 by default.
        groups : (n,) array, optional
            Groups for splitters such as GroupKFold.
        queries : (n,) array, optional
            The query of each row; one query by default.
        **params
            Further arguments of the splitter, with scikit-learn's metadata routing.

        Returns
        -------
        self
        """
        check_index(X, queries, "queries")
        self._queries = queries
        try:
            return super().fit(X, y, sample_weight, groups, **params)
        finally:
            del self._queries

    def predict(self, X: Rows) -> Floats:
        """Return f, (m,): the larger, the higher a row is ranked.

        Parameters
        ----------
        X : (m, d) array, DataFrame or CSR matrix, or (m, n) matrix of kernel values
        """
        return self._decision(X)

    def score(
        self,
        X: Rows,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        queries: ArrayLike | None = None,
    ) -> float:
        """Return the share of pairs that are in the right order; ties count half.

        Parameters
        ----------
        X, y, sample_weight, queries
            See `fit`.
        """
        f = self.predict(X)
        first, second = ranked_pairs(len(f), None, y, queries).T
        weights = check_shares(sample_weight, len(f), "X")
        shares = np.ones(len(first)) if weights is None else weights[first] * weights[second]
        right = (f[first] > f[second]) + 0.5 * (f[first] == f[second])
        return float(np.average(right, weights=shares))

    # Targets are two columns, scores and codes of queries, so that folds split both.

    def _checked(self, X: Rows, y: ArrayLike) -> tuple[Any, NDArray[Any]]:
        X, scores = super()._checked(X, y)
        codes = np.zeros(len(scores), dtype=np.int64)
        if self._queries is not None:
            labels: Labels = plain_labels(self._queries, len(scores), "queries")
            codes = np.unique(labels, return_inverse=True)[1]
        return X, np.column_stack([scores, codes])

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> Fitted:
        options = self._given("C_max") | self._options()
        options |= {"scores": y[:, 0], "queries": y[:, 1], "sample_weight": weights}
        return Fitted.of(ranking_svm_path(X, **options))

    def _pairs(self, X: Any, y: NDArray[Any], split: dict[str, Any]) -> list[tuple[Any, Any]]:
        if isinstance(self.cv, int) and np.ptp(y[:, 1]) > 0:
            self._check_choice()
            return folds(GroupKFold(self.cv), X, y[:, 0], False, groups=y[:, 1])
        return super()._pairs(X, y, split)

    def _unfit(self, y: NDArray[Any]) -> str | None:
        return None if _has_pairs(y) else "its training rows have no pair to rank"

    def _useless(
        self, y: NDArray[Any], weights: Floats, train: NDArray[Any], test: NDArray[Any]
    ) -> str | None:
        reason = super()._useless(y, weights, train, test)
        if reason is None and not _has_pairs(y[test][weights[test] > 0]):
            return "its test rows have no pair to rank"
        return reason

    def _error(self, model: Any, X: Any, y: NDArray[Any], weights: Floats) -> Curve:
        path = model.paths[0]
        return path._error_curve(X, y[:, 0], self._metric(), weights, queries=y[:, 1])


def _has_pairs(y: NDArray[Any]) -> bool:
    """Return whether the scores of some query differ."""
    return len(np.unique(y, axis=0)) > len(np.unique(y[:, 1]))
