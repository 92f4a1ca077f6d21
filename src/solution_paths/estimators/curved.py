"""Estimators of generalised linear models, whose curved paths are known within a bound."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import d2_tweedie_score
from sklearn.utils import Tags

from ..errors import PathError
from ..models.logistic import logistic_path
from ..models.poisson import poisson_path
from ..solution.metrics import Judge
from ..validation import Floats, Rows, check_number
from .base import Linear, LinearRegressor
from .checking import ClassWeight, estimator
from .fitted import Fitted
from .joint_classifiers import BinaryClassifier, two_classes
from .tuning import Tuned

DEFAULT_LAM_MIN = 1e-4  # relative to the largest correlation, from which on the l1 optimum is w = 0
CORRELATION_ROUNDING = 1e-12  # relative to its terms: a smaller correlation counts as zero


class Curved(Tuned):
    """An estimator whose path in lam ends at a positive lam_min."""

    _parameter = "lam"
    _above = 0.0
    _stronger = "larger"
    _sparse = True
    _model: Fitted

    def _least(self, X: Any, y: Floats, weights: Floats | None) -> float:
        """Return where the path ends: lam_min, else lam, or with ``cv`` a low default."""
        if self.lam_min is not None:
            return check_number(self.lam_min, "lam_min", above=0)
        if self.cv is None:
            return check_number(self.lam, "lam", above=0)
        sample_weights = np.ones(len(y)) if weights is None else weights
        residuals = sample_weights * (y - np.average(y, weights=sample_weights))
        largest, rounding = (
            np.abs(X.T @ residuals).max(),
            CORRELATION_ROUNDING * (abs(X).T @ np.abs(residuals)).max(),
        )
        return DEFAULT_LAM_MIN * float(largest) if largest > rounding else 1.0

    def _followed(
        self, path: Any, X: Any, y: Any, values: Floats, weights: Floats | None
    ) -> Fitted:
        """Return the fitted path; where it breaks off, the part that keeps the bound."""
        options: dict[str, Any] = self._given("l1_ratio", "eps")
        options["callback"] = self._check()["callback"]
        if weights is not None:
            options["sample_weight"] = weights
        try:
            return Fitted.of(path(X, y, self._least(X, values, weights), **options))
        except PathError as error:
            if error.path is None or self.check == "raise":
                raise
            model = Fitted.of(error.path)
            model.errors = [error]
            return model


@estimator
class PathLogisticRegression(Curved, BinaryClassifier, Linear, Tuned):
    """Logistic regression that knows a solution within a bound for every lam; see `logistic_path`.

    Minimises ``sum_i s_i log(1 + exp(-y_i (w.x_i + b))) + lam (r ||w||_1 + (1 - r)/2 ||w||^2)`` of
    two classes for sample weights s_i and r = l1_ratio. At every lam of the path the objective
    exceeds its minimum by at most eps times that of the best constant.

    Parameters
    ----------
    lam : float, default 1.0
        Weight of the penalty, > 0; scikit-learn's C is 1 / lam. Ignored with ``cv``.
    l1_ratio : float, default 1.0
        From 0 to 1: 1 is the l1 penalty, 0 the ridge, between them is the elastic net.
    lam_min : float, optional
        Where the path ends. By default at lam, where the solution is optimal to eps / 100; with
        ``cv`` at 1e-4 of the largest ``|sum_i s_i (y_i - mean) x_ij|``, y being 0 or 1: above that
        correlation the l1 penalty makes all coefficients zero.
    eps : float, default 0.0001
        The bound, see `logistic_path`.
    class_weight : dict or "balanced", optional
        See `PathSVC`.
    cv : int, splitter or iterable of (train, test), optional
        Choose lam: the mean of the folds' errors, each of an approximate path, is minimised over
        all lam from the largest lam_min on.
    scoring : str, (str, label) or (classes, classes) array, default "log_loss"
        The error of a fold: that of probabilities (within 1e-7, see
        `SolutionPath.error_curve`), or of labels or decisions, as in `PathSVC`.
    rule : {"min", "1se"}
    n_jobs : int, optional
    callback
        See `PathSVC`.
    check : {"warn", "raise", "ignore"}
        See `PathSVC`; here a solution is reliable if its duality gap is at most eps.

    Attributes
    ----------
    path_ : ApproximatePath
    lam_ : float
        The penalty that is used.
    coef_ : (1, d) array
    intercept_ : (1,) array
    cv_path_, cv_paths_, cv_error_
        See `PathSVC`.
    classes_ : (2,) array
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from solution_paths import PathLogisticRegression
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> model = PathLogisticRegression(lam=0.1).fit(X, ["a", "b", "a", "b"])
    >>> model.predict_proba([[0.5]]).round(2).tolist()
    [[0.69, 0.31]]
    """

    _kind = "probability"

    lam: float = 1.0
    _: KW_ONLY
    l1_ratio: float = 1.0
    lam_min: float | None = None
    eps: float = 1e-4
    class_weight: ClassWeight = None
    scoring: Judge = "log_loss"

    def decision_function(self, X: Rows) -> Floats:
        """Return the logarithm of the odds of the second class, (m,).

        Parameters
        ----------
        X : (m, d) array, DataFrame or CSR matrix
        """
        return self._decision(X)

    def predict_proba(self, X: Rows) -> Floats:
        """Return the probabilities of both classes, (m, 2).

        Parameters
        ----------
        X : see `decision_function`

        Examples
        --------
        >>> from solution_paths import PathLogisticRegression
        >>> model = PathLogisticRegression().fit([[0.0], [2.0], [4.0]], [0, 1, 1])
        >>> model.predict_proba([[0.0], [4.0]]).round(2).tolist()
        [[0.6, 0.4], [0.1, 0.9]]
        """
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Rows) -> Floats:
        """Return the logarithms of the probabilities of both classes, (m, 2).

        Parameters
        ----------
        X : see `decision_function`

        Examples
        --------
        >>> from solution_paths import PathLogisticRegression
        >>> model = PathLogisticRegression().fit([[0.0], [2.0], [4.0]], [0, 1, 1])
        >>> model.predict_log_proba([[0.0], [4.0]]).round(2).tolist()
        [[-0.51, -0.92], [-2.27, -0.11]]
        """
        f = self.decision_function(X)
        return -np.logaddexp(0.0, np.column_stack([f, -f]))

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> Fitted:
        classes = two_classes(y)
        return self._followed(logistic_path, X, y, (y == classes[1]).astype(float), weights)


@estimator
class PathPoissonRegressor(Curved, LinearRegressor, Tuned):
    """Poisson regression of counts, within a bound for every lam; see `poisson_path`.

    Minimises ``sum_i s_i (exp(f_i) - y_i f_i + y_i log y_i - y_i) + lam (r ||w||_1 + (1 - r)/2
    ||w||^2)`` with f_i = w.x_i + b, for sample weights s_i and r = l1_ratio. At every lam of the
    path the objective exceeds its minimum by at most eps times that of the best constant.

    Parameters
    ----------
    lam : float, default 1.0
        Weight of the penalty, > 0; ignored with ``cv``.
    l1_ratio : float, default 1.0
        From 0 to 1: 1 is the l1 penalty, 0 the ridge, between them is the elastic net.
    lam_min, eps
        See `PathLogisticRegression`.
    cv : int, splitter or iterable of (train, test), optional
        Choose lam: the mean of the folds' errors, each of an approximate path, is minimised over
        all lam from the largest lam_min on. A fold whose training counts are all equal, as without
        an event, is left out, and a warning says so.
    scoring : {"deviance"}
        The mean deviance, within 1e-7, see `SolutionPath.error_curve`; scikit-learn's name
        "neg_mean_poisson_deviance" is accepted.
    rule : {"min", "1se"}
    n_jobs : int, optional
    callback
        See `PathSVC`.
    check : {"warn", "raise", "ignore"}
        See `PathSVC`; here a solution is reliable if its duality gap is at most eps.

    Attributes
    ----------
    path_ : ApproximatePath
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
    >>> from solution_paths import PathPoissonRegressor
    >>> model = PathPoissonRegressor(lam=0.1).fit([[0.0], [1.0], [2.0], [3.0]], [1, 0, 3, 6])
    >>> model.predict([[0.0], [4.0]]).round(1).tolist()
    [0.5, 13.8]
    """

    _kind = "count"

    lam: float = 1.0
    _: KW_ONLY
    l1_ratio: float = 1.0
    lam_min: float | None = None
    eps: float = 1e-4
    scoring: Judge = "deviance"

    def predict(self, X: Rows) -> Floats:
        """Return (m,) expected counts.

        Parameters
        ----------
        X : (m, d) array, DataFrame or CSR matrix
        """
        return np.exp(self._decision(X))

    def score(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of the deviance that is explained, D^2, as in scikit-learn.

        Parameters
        ----------
        X, y : see `fit`
        sample_weight : (m,) array, optional
        """
        return float(d2_tweedie_score(y, self.predict(X), sample_weight=sample_weight, power=1))

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> Fitted:
        return self._followed(poisson_path, X, y, y, weights)

    def _unfit(self, y: NDArray[Any]) -> str | None:
        if np.ptp(y) > 0.0:
            return None
        return (
            f"its training counts are all {y[0]:g}" if y[0] else "its training rows have no event"
        )

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that targets are counts."""
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags
