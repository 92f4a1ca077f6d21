"""Robust estimators whose robustness is given, or chosen exactly by cross-validation."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

from numpy.typing import NDArray

from ..models.outlier_svm import outlier_svm_path
from ..models.outlier_svr import outlier_svr_path
from ..solution.metrics import Judge
from ..solution.outliers import OutlierPath
from ..validation import Floats
from .base import Expanded, PathClassifier, PathRegressor
from .checking import estimator
from .fitted import Fitted, followed
from .tuning import Tuned


@estimator
class OutlierSVC(PathClassifier, Expanded, Tuned):
    """Robust support vector classifier that knows its solutions for all weights theta of outliers.

    Minimises ``1/2 ||w||^2 + C sum_i l(y_i f(x_i))``, f(x) = w.x + b, where l is the hinge loss for
    margins above 0, and has theta times the slope below: a sample on the wrong side counts as an
    outlier. It follows one local optimum from that of the standard SVM (theta = 1); see
    `outlier_svm_path`. Sample weights multiply C. Where f is 0 for two classes, the more frequent
    class of the training rows is predicted.

    Parameters
    ----------
    theta : float, default 0.0
        Weight of outliers in [0, 1]; ignored with ``cv``.
    C : float, default 1.0
        Cost of each sample, > 0.
    fit_intercept : bool, default True
        Whether there is a bias b, which costs nothing; the authors' machine has none.
    kernel, gamma, degree, coef0
        See `svm_path`.
    cv : int, splitter or iterable of (train, test), optional
        Choose theta exactly, see `PathSVC`.
    scoring : str, (str, label) or (classes, classes) array, default "error"
        See `PathSVC`.
    rule : {"min"}
        There is no "1se": theta is no penalty.
    n_jobs, callback, check
        See `PathSVC`.

    Attributes
    ----------
    path_ : OutlierPath or list of OutlierPath
        In theta; for more than two classes one for each class against the rest.
    theta_ : float
        The weight that is used.
    coef_, intercept_, support_, support_vectors_, dual_coef_
        See `PathSVC`.
    cv_path_, cv_paths_, cv_error_
        See `PathSVC`.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from solution_paths import OutlierSVC
    >>> X, y = [[-2.0], [-1.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes", "no"]
    >>> model = OutlierSVC(theta=0.0).fit(X, y)  # the last label is wrong
    >>> model.predict([[-1.0], [3.0]]).tolist()
    ['no', 'yes']
    >>> model.path_.outliers(model.theta_).tolist()
    [False, False, False, False, True]
    """

    _parameter = "theta"
    _sparse = True

    theta: float = 0.0
    _: KW_ONLY
    C: float = 1.0
    fit_intercept: bool = True
    scoring: Judge = "error"

    def _path(self, X: Any, y: NDArray[Any], weights: Floats | None) -> OutlierPath:
        options = {"fit_intercept": self.fit_intercept, "sample_weight": weights} | self._options()
        return outlier_svm_path(X, y, self.C, **options)


@estimator
class OutlierSVR(PathRegressor, Expanded, Tuned):
    """Robust regression that knows its solutions for all weights theta of outliers.

    Minimises ``1/2 ||w||^2 + C sum_i l(y_i - f(x_i))``, f(x) = w.x + b, where l is the absolute
    value up to s, and has theta times the slope beyond; see `outlier_svr_path`. Sample weights
    multiply C.

    Parameters
    ----------
    theta : float, default 0.0
        Weight of outliers in [0, 1]; ignored with ``cv``.
    C : float, default 1.0
        Cost of each sample, > 0.
    s : float, default 1.0
        Residuals above it are outliers, > 0, in the units of y.
    fit_intercept : bool, default True
        Whether there is a bias b, which costs nothing; the authors' machine has none.
    kernel, gamma, degree, coef0
        See `svm_path`.
    cv : int, splitter or iterable of (train, test), optional
        Choose theta exactly: the mean of the folds' errors is piecewise linear (or quadratic) in
        theta.
    scoring : str or (str, float), default "absolute"
        See `PathLasso`.
    rule : {"min"}
        There is no "1se": theta is no penalty.
    n_jobs, callback, check
        See `PathSVC`.

    Attributes
    ----------
    path_ : OutlierPath
        In theta.
    theta_ : float
        The weight that is used.
    coef_, intercept_, support_, support_vectors_, dual_coef_
        See `PathSVC`.
    cv_path_, cv_paths_, cv_error_
        See `PathSVC`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from solution_paths import OutlierSVR
    >>> X, y = [[-2.0], [-1.0], [1.0], [2.0], [3.0]], [-2.0, -1.0, 1.0, 2.0, 30.0]
    >>> model = OutlierSVR(theta=0.0, s=5.0).fit(X, y)  # the last target is wrong
    >>> model.predict([[3.0]]).round(3).tolist()
    [3.0]
    """

    _parameter = "theta"
    _kind = "robust"
    _sparse = True

    theta: float = 0.0
    _: KW_ONLY
    C: float = 1.0
    s: float = 1.0
    fit_intercept: bool = True
    scoring: Judge = "absolute"

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> Fitted:
        options = {"s": self.s, "fit_intercept": self.fit_intercept, "sample_weight": weights}
        return Fitted([followed(outlier_svr_path, X, y, self.C, **options, **self._options())])
