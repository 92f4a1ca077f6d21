"""Regressions whose model is one `SolutionPath`."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import d2_pinball_score

from ..models.almost_quadratic import almost_quadratic_path
from ..models.elastic_net import elastic_net_path
from ..models.kernel_quantile import kernel_quantile_path
from ..models.svr import svr_path
from ..solution.metrics import Judge
from ..validation import Floats, Rows
from .base import Bounded, Expanded, LinearRegressor, PathRegressor
from .checking import estimator
from .fitted import Fitted
from .tuning import Tuned


@estimator
class PathElasticNet(LinearRegressor, Bounded, Tuned):
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
    lam1_min: float = 0.0
    scoring: Judge = "squared"

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> Fitted:
        options = self._given("lam2", "fit_intercept", "lam1_min") | self._check()
        options |= self._coefficients()
        return Fitted.of(elastic_net_path(X, y, sample_weight=weights, **options))


@estimator
class HuberPath(LinearRegressor, Bounded, Tuned):
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
    lam_min: float = 0.0
    scoring: Judge = "absolute"

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> Fitted:
        options = self._given("delta", "fit_intercept", "lam_min") | self._check()
        options |= self._coefficients()
        return Fitted.of(almost_quadratic_path(X, y, sample_weight=weights, **options))


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

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> Fitted:
        options = self._given("epsilon", "C_max") | self._options()
        return Fitted.of(svr_path(X, y, sample_weight=weights, **options))


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

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> Fitted:
        options = self._given("tau", "lam_min") | self._options()
        return Fitted.of(kernel_quantile_path(X, y, vary="lam", sample_weight=weights, **options))
