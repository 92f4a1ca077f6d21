"""Classifiers with one path for all their classes."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..models.multicategory_svm import multicategory_svm_path
from ..models.nu_svm import nu_svm_path
from ..models.svor import svor_path
from ..solution.metrics import Judge
from ..validation import Floats, Labels, Rows, ordered_labels
from .base import Deciding, Expanded
from .bases import ClassifierMixin
from .checking import ClassWeight, estimator
from .fitted import Fitted
from .tuning import Tuned


class SinglePathClassifier(ClassifierMixin, Deciding, Tuned):
    """A classifier with one path for all its classes."""

    _model: Fitted

    def predict(self, X: Rows) -> NDArray[Any]:
        """Return (m,) predicted labels.

        Parameters
        ----------
        X : (m, d) array, DataFrame or CSR matrix, or (m, n) matrix of kernel values
        """
        X = self._rows(X)
        return self._model.predict(self._model.columns(X), self._place())


def two_classes(y: NDArray[Any]) -> NDArray[Any]:
    """Return the two labels of a binary classifier."""
    classes = np.unique(y)
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. y has more than two classes; select two, use "
            "PathSVC, or scikit-learn's OneVsRestClassifier with this estimator."
        )
    return classes


class BinaryClassifier(SinglePathClassifier):
    """A classifier of two classes."""

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that there are two classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


@estimator
class PathNuSVC(BinaryClassifier, Expanded):
    """nu-SVM of two classes that knows its solution for every nu; see `nu_svm_path`.

    Parameters
    ----------
    nu : float, default 0.3
        In [0, 2 min(n+, n-) / n]; ignored with ``cv``. Where w = 0, for small nu, all rows
        have the larger label.
    nu_max : float, optional
        Where the path ends, in (0, 1]; at most at the largest feasible nu.
    kernel : str, default "rbf"
    gamma, degree, coef0
        See `svm_path`.
    cv : int, splitter or iterable of (train, test), optional
        Choose nu exactly, in the range that all folds cover.
    scoring : str, (str, label) or (classes, classes) array, default "error"
        See `PathSVC`.
    rule : {"min"}
    n_jobs : int, optional
    callback
        See `PathSVC`.
    check : {"warn", "raise", "ignore"}
        See `PathSVC`.

    Attributes
    ----------
    path_ : SolutionPath
    nu_ : float
        The nu that is used.
    classes_ : (2,) array

    Examples
    --------
    >>> from solution_paths import PathNuSVC
    >>> model = PathNuSVC(nu=0.9).fit([[0.0], [1.0], [2.0], [3.0]], ["a", "b", "a", "b"])
    >>> model.predict([[0.0], [3.0]]).tolist()
    ['a', 'b']
    """

    _parameter = "nu"
    _sparse = True

    nu: float = 0.3
    _: KW_ONLY
    kernel: str = "rbf"
    nu_max: float | None = None
    scoring: Judge = "error"

    def decision_function(self, X: Rows) -> Floats:
        """Return f, (m,), positive for the second class.

        Parameters
        ----------
        X : see `predict`
        """
        return self._decision(X)

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> Fitted:
        two_classes(y)
        options = self._given("nu_max") | self._options()
        return Fitted.of(nu_svm_path(X, y, sample_weight=weights, **options))


@estimator
class PathSVOR(SinglePathClassifier, Expanded):
    """Support vector ordinal regression for every C; see `svor_path`.

    Classes are numbers, or the categories of an ordered `pandas.Categorical` in their order.

    Parameters
    ----------
    C : float, default 1.0
        Cost of errors, >= 0; ignored with ``cv``.
    thresholds : {"explicit", "implicit"}
    C_max : float, optional
        Where the path ends; by default for ever.
    kernel, gamma, degree, coef0
        See `svm_path`.
    cv : int, splitter or iterable of (train, test), optional
        Choose C exactly.
    scoring : str or (classes, classes) array, default "error"
        See `PathSVC`; also "absolute" and "squared", of the distance of classes, and "pairs", the
        share of pairs of rows of different classes in the wrong order.
    rule : {"min", "1se"}
    n_jobs : int, optional
    callback
        See `PathSVC`.
    check : {"warn", "raise", "ignore"}
        See `PathSVC`.

    Attributes
    ----------
    path_ : SolutionPath
    C_ : float
        The cost that is used.
    classes_ : (r,) array
        In their order.

    Examples
    --------
    >>> from solution_paths import PathSVOR
    >>> model = PathSVOR(C=10.0).fit([[0.0], [1.0], [2.0], [3.0], [4.0]], [1, 1, 2, 3, 3])
    >>> model.predict([[0.0], [2.0], [9.0]]).tolist()
    [1, 2, 3]
    """

    _parameter = "C"
    _stronger = "smaller"
    _kind = "order"
    _sparse = True

    C: float = 1.0
    _: KW_ONLY
    thresholds: str = "explicit"
    C_max: float | None = None
    scoring: Judge = "error"

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> Fitted:
        labels: Any = y
        if not np.array_equal(self.classes_, np.unique(self.classes_)):  # categories
            from pandas import Categorical

            labels = Categorical(y, categories=self.classes_, ordered=True)  # a fold may lack some
        options = self._given("thresholds", "C_max") | self._options()
        return Fitted.of(svor_path(X, labels, sample_weight=weights, **options))

    @property
    def thresholds_(self) -> Floats:
        """The thresholds b_1 <= ... <= b_{r-1} between classes, (r - 1,)."""
        check_is_fitted(self)
        return self._model.paths[0].free(self._place())

    def _classes_of(self, y: Labels, order: list[Any] | None) -> Labels:
        return ordered_labels(y, order)[1]

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that classes without an order are fitted badly."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


@estimator
class MulticategorySVC(SinglePathClassifier, Expanded):
    """Multicategory SVM of Lee, Lin and Wahba that knows its solution for every lam.

    Minimises ``1/n sum_i sum_{k other than y_i} max(0, f_k(x_i) + 1/(K - 1)) + lam/2 sum_k
    ||w_k||^2`` over decisions of K classes whose sum is zero; with sample weights, s_i / sum_j s_j
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

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> Fitted:
        options = self._given("lam_min") | self._options()
        return Fitted.of(multicategory_svm_path(X, y, sample_weight=weights, **options))
