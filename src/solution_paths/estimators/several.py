"""One SVM for all classes, whose penalty is given, or chosen exactly by cross-validation."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

from numpy.typing import NDArray

from ..models.multicategory_svm import multicategory_svm_path
from ..solution.metrics import Judge
from ..validation import Floats, Rows
from .base import Expanded
from .checking import ClassWeight, estimator
from .single_path import SinglePath, SinglePathClassifier


@estimator
class MulticategorySVC(SinglePathClassifier, Expanded):
    """Multicategory SVM of Lee, Lin and Wahba that knows its solution for every lam.

    Minimises ``1/n sum_i sum_{k other than y_i} max(0, f_k(x_i) + 1/(K - 1)) + lam/2 sum_k
    ||w_k||^2`` over decisions of K classes whose sum is zero; with sample weights s_i / sum_j s_j
    replaces 1/n. See `multicategory_svm_path`.

    Parameters
    ----------
    lam : float, default 0.01
        Weight of the penalty, >= 0; ignored with ``cv``.
    kernel, gamma, degree, coef0
        See `svm_path`.
    lam_min : float, default 0.0
        Where the path ends, >= 0.
    class_weight : dict or "balanced", optional
        See `PathSVC`.
    cv : int, splitter or iterable of (train, test), optional
        Choose lam exactly, see `PathSVC`.
    scoring, rule, n_jobs, callback, check
        See `PathSVC`.

    Attributes
    ----------
    path_ : SolutionPath
        In lam, one for all classes.
    lam_ : float
        The penalty that is used.
    coef_ : (classes, d) array, with a linear kernel
    intercept_ : (classes,) array
    support_, support_vectors_, n_support_
        See `PathSVC`.
    dual_coef_ : (classes, n_SV) array
        Coefficients a_ki of f_k(x) = sum_i a_ki k(x_i, x) + b_k.
    cv_path_, cv_paths_, cv_error_
        See `PathSVC`.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from solution_paths import MulticategorySVC
    >>> X = [[0.0, 0.0], [0.5, 0.0], [3.0, 0.0], [3.5, 0.0], [0.0, 3.0], [0.0, 3.5]]
    >>> model = MulticategorySVC().fit(X, ["a", "a", "b", "b", "c", "c"])
    >>> model.predict([[0.0, 0.5], [4.0, 0.0], [0.0, 4.0]]).tolist()
    ['a', 'b', 'c']
    """

    _parameter = "lam"
    _stronger = "larger"
    _kind = "argmax"
    _sparse = True

    lam: float = 0.01
    _: KW_ONLY
    lam_min: float = 0.0
    class_weight: ClassWeight = None
    scoring: Judge = "error"

    def decision_function(self, X: Rows) -> Floats:
        """Return f_k, (m, classes); of two classes that of the second, (m,).

        Parameters
        ----------
        X : (m, d) array, DataFrame or CSR matrix, or (m, n) matrix of kernel values
        """
        f = self._decision(X)
        return f[:, 1] if len(self.classes_) == 2 else f

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> SinglePath:
        options = self._given("lam_min") | self._options()
        return SinglePath(multicategory_svm_path(X, y, sample_weight=weights, **options))
