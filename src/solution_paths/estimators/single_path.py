"""Estimators whose model is one `SolutionPath`, whatever the number of classes."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import d2_pinball_score
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..models.almost_quadratic import almost_quadratic_path
from ..models.coefficients import Bounds
from ..models.elastic_net import elastic_net_path
from ..models.kernel_quantile import kernel_quantile_path
from ..models.nu_svm import nu_svm_path
from ..models.one_class import one_class_path
from ..models.svor import svor_path
from ..models.svr import svr_path
from ..solution import Callback, SolutionPath
from ..solution.metrics import Judge
from ..validation import Floats, Labels, Rows, check_index, ordered_labels
from .base import Deciding, Expanded, LinearRegressor, PathRegressor
from .bases import ClassifierMixin, OutlierMixin
from .checking import estimator, usable_weights
from .fitted import Fitted
from .judging import judge
from .progress import Progress
from .tuning import Tuned

COEFFICIENTS = ("positive", "penalty_factor", "bounds")


class SinglePath(Fitted):
    """One `SolutionPath` in the estimator's parameter."""

    def __init__(self, path: SolutionPath) -> None:
        super().__init__([])
        self.paths, self.labels = [path], [None]
        self.begin, self.end = path.range

    @property
    def single_path(self) -> SolutionPath:
        """The path."""
        return self.paths[0]

    def place(self, path: Any, t: float) -> float:
        """Return the path's parameter, which is the estimator's."""
        return t

    def predict(self, X: Any, t: float) -> NDArray[Any]:
        """Return labels or values at t."""
        return self.single_path.predict(X, t)


@estimator
class PathElasticNet(LinearRegressor, Tuned):
    """Elastic net that knows its solution for every lam1; see `elastic_net_path`.

    Minimises ``1/2 sum_i s_i (y_i - w.x_i - b)^2 + lam1 ||w||_1 + lam2/2 ||w||^2`` for sample
    weights s_i.

    Parameters
    ----------
    lam1 : float, default 1.0
        Weight of the l1 penalty, >= 0; ignored with ``cv``.
    lam2 : float, default 1.0
        Weight of the ridge, >= 0.
    fit_intercept : bool, default True
    positive : bool, default False
    penalty_factor : (d,) array, optional
    bounds : (low, high), optional
        Of coefficients; see `lasso_path`.
    lam1_min : float, default 0.0
        Where the path begins, >= 0.
    cv : int, splitter or iterable of (train, test), optional
        Choose lam1 exactly: the mean of the folds' errors is minimised over all lam1.
    scoring : str or (str, float), default "squared"
        See `PathLasso`.
    rule : {"min", "1se"}
    n_jobs : int, optional
    callback
        See `PathSVC`.
    check : {"warn", "raise", "ignore"}
        See `PathSVC`.

    Attributes
    ----------
    path_ : SolutionPath
    lam1_ : float
        The penalty that is used.
    coef_ : (d,) array
    intercept_ : float

    Examples
    --------
    >>> from solution_paths import PathElasticNet
    >>> model = PathElasticNet(lam1=0.5, lam2=0.0).fit([[-1.0], [0.0], [1.0]], [1.0, 2.0, 3.0])
    >>> model.coef_.round(9).tolist(), round(model.intercept_, 9)
    ([0.75], 2.0)
    """

    _parameter = "lam1"
    _stronger = "larger"
    _kind = "value"
    _sparse = True

    lam1: float = 1.0
    _: KW_ONLY
    lam2: float = 1.0
    fit_intercept: bool = True
    positive: bool = False
    penalty_factor: ArrayLike | None = None
    bounds: Bounds | None = None
    lam1_min: float = 0.0
    scoring: Judge = "squared"

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> SinglePath:
        options = self._given("lam2", "fit_intercept", *COEFFICIENTS, "lam1_min") | self._check()
        return SinglePath(elastic_net_path(X, y, sample_weight=weights, **options))


@estimator
class HuberPath(LinearRegressor, Tuned):
    """Huber regression with an l1 penalty, for every lam; see `almost_quadratic_path`.

    Parameters
    ----------
    lam : float, default 1.0
        Weight of the penalty, >= 0; ignored with ``cv``.
    delta : float, default 1.0
        Where the loss becomes linear, > 0, in units of y.
    fit_intercept : bool, default True
    positive : bool, default False
    penalty_factor : (d,) array, optional
    bounds : (low, high), optional
        Of coefficients; see `lasso_path`.
    lam_min : float, default 0.0
        Where the path begins, >= 0.
    scoring : str or (str, float), default "absolute"
        See `PathLasso`.
    cv, rule, n_jobs, callback, check
        See `PathSVC`; ``cv`` chooses lam exactly.

    Attributes
    ----------
    path_ : SolutionPath
    lam_ : float
        The penalty that is used.
    coef_ : (d,) array
    intercept_ : float

    Examples
    --------
    >>> from solution_paths import HuberPath
    >>> X = [[-2.0], [-1.0], [0.0], [1.0], [2.0]]
    >>> HuberPath(lam=0.0).fit(X, [-2.0, -1.0, 0.0, 1.0, 50.0]).coef_.round(9).tolist()
    [1.5]
    """

    _parameter = "lam"
    _stronger = "larger"
    _kind = "robust"
    _sparse = True

    lam: float = 1.0
    _: KW_ONLY
    delta: float = 1.0
    fit_intercept: bool = True
    positive: bool = False
    penalty_factor: ArrayLike | None = None
    bounds: Bounds | None = None
    lam_min: float = 0.0
    scoring: Judge = "absolute"

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> SinglePath:
        options = self._given("delta", "fit_intercept", *COEFFICIENTS, "lam_min") | self._check()
        return SinglePath(almost_quadratic_path(X, y, sample_weight=weights, **options))


@estimator
class PathSVR(PathRegressor, Expanded, Tuned):
    """Support vector regression that knows its solution for every C; see `svr_path`.

    Parameters
    ----------
    C : float, default 1.0
        Cost of errors, >= 0; ignored with ``cv``.
    epsilon : float, default 0.1
        Half the width of the tube, >= 0.
    C_max : float, optional
        Where the path ends; by default for ever.
    kernel, gamma, degree, coef0
        See `svm_path`.
    scoring
        See `PathLasso`.
    cv, rule, n_jobs, callback, check
        See `PathSVC`.

    Attributes
    ----------
    path_ : SolutionPath
    C_ : float
        The cost that is used.
    coef_ : (d,) array, with a linear kernel
    intercept_ : float

    Examples
    --------
    >>> from solution_paths import PathSVR
    >>> model = PathSVR(C=10.0).fit([[0.0], [1.0], [2.0], [4.0]], [0.0, 1.0, 1.5, 2.0])
    >>> model.predict([[5.0]]).round(6).tolist()
    [2.5]
    """

    _parameter = "C"
    _stronger = "smaller"
    _kind = "value"
    _sparse = True

    C: float = 1.0
    _: KW_ONLY
    epsilon: float = 0.1
    C_max: float | None = None
    scoring: Judge = "squared"

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> SinglePath:
        options = self._given("epsilon", "C_max") | self._options()
        return SinglePath(svr_path(X, y, sample_weight=weights, **options))


@estimator
class KernelQuantileRegressor(PathRegressor, Expanded, Tuned):
    """Kernel quantile regression for one tau and every lam; see `kernel_quantile_path`.

    Parameters
    ----------
    lam : float, default 0.001
        Weight of the ridge, >= 0; ignored with ``cv``.
    tau : float, default 0.5
        The quantile, in [0, 1].
    lam_min : float, default 0.0
        Where the path ends, >= 0.
    kernel : str, default "rbf"
    gamma, degree, coef0
        See `svm_path`.
    scoring : str or (str, float), default "pinball"
        The error of a fold: the pinball loss of tau, or of another quantile, as in ``("pinball",
        0.5)``, or an error that `PathLasso` lists. "d2_pinball_score" is that of tau.
    cv, rule, n_jobs, callback, check
        See `PathSVC`; ``cv`` chooses lam exactly.

    Attributes
    ----------
    path_ : SolutionPath
    lam_ : float
        The weight that is used.
    intercept_ : float

    Examples
    --------
    >>> from solution_paths import KernelQuantileRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 0.5, 2.0]
    >>> KernelQuantileRegressor(lam=10.0, tau=0.7).fit(X, y).predict([[1.5]]).round(1).tolist()
    [1.0]
    """

    _parameter = "lam"
    _stronger = "larger"
    _kind = "quantile"
    _sparse = True

    lam: float = 1e-3
    _: KW_ONLY
    tau: float = 0.5
    kernel: str = "rbf"
    lam_min: float = 0.0
    scoring: Judge = "pinball"

    def score(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of the pinball loss of tau that is explained, D^2, as in scikit-learn.

        1 is best, and a constant gets 0: see `sklearn.metrics.d2_pinball_score`.

        Parameters
        ----------
        X, y : see `fit`
        sample_weight : (m,) array, optional
        """
        options: dict[str, Any] = {"sample_weight": sample_weight, "alpha": self.tau}
        return float(d2_pinball_score(y, self.predict(X), **options))

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> SinglePath:
        options = self._given("tau", "lam_min") | self._options()
        return SinglePath(kernel_quantile_path(X, y, vary="lam", sample_weight=weights, **options))


class SinglePathClassifier(ClassifierMixin, Deciding, Tuned):
    """A classifier with one path for all its classes."""

    _model: SinglePath

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

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> SinglePath:
        two_classes(y)
        options = self._given("nu_max") | self._options()
        return SinglePath(nu_svm_path(X, y, sample_weight=weights, **options))


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

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> SinglePath:
        labels: Any = y
        if not np.array_equal(self.classes_, np.unique(self.classes_)):  # categories
            from pandas import Categorical

            labels = Categorical(y, categories=self.classes_, ordered=True)  # a fold may lack some
        options = self._given("thresholds", "C_max") | self._options()
        return SinglePath(svor_path(X, labels, sample_weight=weights, **options))

    @property
    def thresholds_(self) -> Floats:
        """The thresholds b_1 <= ... <= b_{r-1} between classes, (r - 1,)."""
        check_is_fitted(self)
        return self._model.single_path.free(self._place())

    def _classes_of(self, y: Labels, order: list[Any] | None) -> Labels:
        return ordered_labels(y, order)[1]

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that classes without an order are fitted badly."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


@estimator
class PathOneClassSVM(OutlierMixin, Expanded):
    """One-class SVM that knows its solution for every nu; see `one_class_path`.

    Parameters
    ----------
    nu : float, default 0.5
        In (0, 1]: the largest share of training rows that is outside.
    nu_min : float, default 0.0
        Where the path ends, in [0, 1).
    kernel : str, default "rbf"
    gamma, degree, coef0
        See `svm_path`.
    callback
        See `PathSVC`.
    check : {"warn", "raise", "ignore"}
        See `PathSVC`.

    Attributes
    ----------
    path_ : SolutionPath
    offset_ : float
        rho: rows with a smaller score are outside.

    Examples
    --------
    >>> from solution_paths import PathOneClassSVM
    >>> model = PathOneClassSVM(nu=0.3, gamma=1.0).fit([[0.0], [0.5], [1.0], [5.0]])
    >>> model.predict([[0.5], [9.0]]).tolist()
    [1, -1]
    """

    _sparse = True

    nu: float = 0.5
    _: KW_ONLY
    kernel: str = "rbf"
    nu_min: float = 0.0
    callback: Callback | None = None
    check: str = "warn"

    def fit(
        self, X: Rows, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the whole path.

        Parameters
        ----------
        X : (n, d) array, DataFrame or CSR matrix, or (n, n) Gram matrix
        y : object, optional
            Ignored.
        sample_weight : (n,) array, optional
            Weights >= 0; all 1 by default. A sample of weight 0 takes no part.

        Returns
        -------
        self
        """
        self.__dict__.pop("_model", None)
        check_index(X, sample_weight, "sample_weight")
        X = self._validated(X)
        weights = usable_weights(sample_weight, X.shape[0], None)
        with self._reporting(Progress(self.callback)):
            model = self._trained(self._named(X), np.zeros(len(weights)), weights)
        self.path_, nu = model.path, model.check(self.nu, "nu", above=0.0)
        judge(model, nu, f"at nu = {nu:.6g}", self.check, [])
        self.offset_, self._model = float(model.paths[0].free(nu)[0]), model
        return self

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> SinglePath:
        options = self._given("nu_min") | self._options()
        return SinglePath(one_class_path(X, sample_weight=weights, **options))

    def _place(self) -> float:
        return float(self.nu)

    def decision_function(self, X: Rows) -> Floats:
        """Return w.phi(x) - rho, (m,): negative outside.

        Parameters
        ----------
        X : (m, d) array, DataFrame or CSR matrix, or (m, n) matrix of kernel values
        """
        return self._decision(X)

    def score_samples(self, X: Rows) -> Floats:
        """Return w.phi(x), (m,).

        Parameters
        ----------
        X : see `decision_function`
        """
        return self.decision_function(X) + self.offset_

    def predict(self, X: Rows) -> NDArray[Any]:
        """Return 1 inside, -1 outside, (m,).

        Parameters
        ----------
        X : see `decision_function`
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)
