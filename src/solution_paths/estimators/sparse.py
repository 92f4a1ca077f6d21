"""Classifiers under an l1 penalty and a ridge, and the fused lasso."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..models.drsvm import drsvm_path
from ..models.generalized_lasso import generalized_lasso_path
from ..models.hhsvm import hhsvm_path
from ..solution import SolutionPath
from ..solution.metrics import Judge
from ..validation import Floats, Rows, check_flag
from .base import Bounded, LinearRegressor, PathClassifier
from .checking import ClassWeight, estimator
from .fitted import Fitted
from .tuning import Tuned


@estimator
class ElasticNetSVC(PathClassifier, Bounded, Tuned):
    """Support vector classifier under an elastic net that knows its solution for every lam1.

    Minimises ``1/n sum_i max(0, 1 - y_i (w.x_i + b)) + lam1 ||w||_1 + lam2/2 ||w||^2``, the doubly
    regularised SVM; with sample weights, s_i / sum_j s_j replaces 1/n. See `drsvm_path`.

    Parameters
    ----------
    lam1 : float, default 0.01
        Weight of the l1 penalty, >= 0; ignored with ``cv``.
    lam2 : float, default 0.01
        Weight of the ridge, >= 0.
    positive : bool, default False
    penalty_factor : (d,) array, optional
    bounds : (low, high), optional
        Of coefficients; see `lasso_path`.
    lam1_min : float, default 0.0
        Where paths begin, >= 0.
    class_weight : dict or "balanced", optional
        See `PathSVC`.
    cv : int, splitter or iterable of (train, test), optional
        Choose lam1 exactly, see `PathSVC`.
    scoring, rule, n_jobs, callback, check
        See `PathSVC`.

    Attributes
    ----------
    path_ : SolutionPath or list of SolutionPath
        In lam1; for more than two classes one for each class against the rest.
    lam1_ : float
        The penalty that is used.
    coef_ : (1, d) or (classes, d) array
    intercept_ : (1,) or (classes,) array
    cv_path_, cv_paths_, cv_error_
        See `PathSVC`.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from solution_paths import ElasticNetSVC
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [4.0, 1.0], [5.0, 0.0]]
    >>> model = ElasticNetSVC(0.5, lam2=0.1).fit(X, ["no", "no", "yes", "no", "yes", "yes"])
    >>> model.coef_.round(3).tolist()  # one feature is left
    [[0.4, 0.0]]
    """

    _parameter = "lam1"
    _stronger = "larger"
    _sparse = True

    lam1: float = 0.01
    _: KW_ONLY
    lam2: float = 0.01
    lam1_min: float = 0.0
    class_weight: ClassWeight = None
    scoring: Judge = "error"

    def _path(self, X: Any, y: NDArray[Any], weights: Floats | None) -> SolutionPath:
        options = self._given("lam2", "lam1_min") | self._coefficients() | self._check()
        return drsvm_path(X, y, sample_weight=weights, **options)


@estimator
class HHSVC(PathClassifier, Bounded, Tuned):
    """Hybrid Huberised support vector classifier that knows its solution for every lam1.

    Minimises ``sum_i s_i h(1 - y_i (w.x_i + b)) + lam1 ||w||_1 + lam2/2 ||w||^2`` for sample
    weights s_i, where h is 0 below 0, u^2 / (2 delta) up to delta, and u - delta/2 beyond. See
    `hhsvm_path`.

    Parameters
    ----------
    lam1 : float, default 1.0
        Weight of the l1 penalty, >= 0; ignored with ``cv``.
    lam2 : float, default 1.0
        Weight of the ridge, >= 0.
    delta : float, default 2.0
        Where the loss becomes linear, > 0.
    positive : bool, default False
    penalty_factor : (d,) array, optional
    bounds : (low, high), optional
        Of coefficients; see `lasso_path`.
    lam1_min : float, default 0.0
        Where paths begin, >= 0.
    class_weight, cv, scoring, rule, n_jobs, callback, check
        See `PathSVC`; ``cv`` chooses lam1 exactly.

    Attributes
    ----------
    path_ : SolutionPath or list of SolutionPath
        In lam1; for more than two classes one for each class against the rest.
    lam1_, coef_, intercept_, cv_path_, cv_paths_, cv_error_
        See `ElasticNetSVC`.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from solution_paths import HHSVC
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [4.0, 1.0], [5.0, 0.0]]
    >>> model = HHSVC(lam2=0.1).fit(X, ["no", "no", "yes", "no", "yes", "yes"])
    >>> model.coef_.round(3).tolist()  # one feature is left
    [[0.282, 0.0]]
    """

    _parameter = "lam1"
    _stronger = "larger"
    _sparse = True

    lam1: float = 1.0
    _: KW_ONLY
    lam2: float = 1.0
    delta: float = 2.0
    lam1_min: float = 0.0
    class_weight: ClassWeight = None
    scoring: Judge = "error"

    def _path(self, X: Any, y: NDArray[Any], weights: Floats | None) -> SolutionPath:
        options = self._given("lam2", "delta", "lam1_min") | self._coefficients() | self._check()
        return hhsvm_path(X, y, sample_weight=weights, **options)


@estimator
class PathFusedLasso(LinearRegressor, Tuned):
    """Fused or generalised lasso that knows its solution for every lam.

    Minimises ``1/2 sum_i s_i (y_i - w.x_i - b)^2 + lam ||D w||_1`` for sample weights s_i; see
    `generalized_lasso_path`.

    Parameters
    ----------
    lam : float, default 1.0
        Weight of the penalty, >= 0; ignored with ``cv``.
    D : (m, d) array or CSR matrix, optional
        Linear functions of the coefficients that the penalty shrinks to zero; by default the
        differences of neighbours, the fused lasso.
    fit_intercept : bool, default True
        Whether b is fitted; without, b = 0.
    lam_min : float, default 0.0
        Where the path begins, >= 0.
    cv : int, splitter or iterable of (train, test), optional
        Choose lam exactly: the mean of the folds' errors is minimised over all lam.
    scoring
        See `PathLasso`.
    rule, n_jobs, callback, check
        See `PathSVC`.

    Attributes
    ----------
    path_ : SolutionPath
    lam_ : float
        The penalty that is used.
    coef_ : (d,) array
    intercept_ : float
    cv_path_, cv_paths_, cv_error_
        See `PathSVC`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from solution_paths import PathFusedLasso
    >>> model = PathFusedLasso(1.0, fit_intercept=False).fit(np.eye(4), [1.0, 1.0, 4.0, 4.0])
    >>> model.coef_.round(9).tolist()
    [1.5, 1.5, 3.5, 3.5]
    """

    _parameter = "lam"
    _stronger = "larger"
    _kind = "value"
    _sparse = True

    lam: float = 1.0
    _: KW_ONLY
    D: Rows | None = None
    fit_intercept: bool = True
    lam_min: float = 0.0
    scoring: Judge = "squared"

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> Fitted:
        check_flag(self.fit_intercept, "fit_intercept")
        D = neighbours(X.shape[1]) if self.D is None else self.D
        options = self._given("fit_intercept", "lam_min") | self._check()
        return Fitted.of(generalized_lasso_path(y, D, X=X, sample_weight=weights, **options))


def neighbours(d: int) -> sp.csr_array:
    """Return the (d - 1, d) differences of neighbouring coefficients; for d = 1 a row of 0."""
    if d == 1:
        return sp.csr_array(np.zeros((1, 1)))
    return sp.csr_array(sp.eye_array(d - 1, d, k=1) - sp.eye_array(d - 1, d))
