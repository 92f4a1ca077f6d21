"""The lasso, whose penalty is given, or chosen exactly by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..models.lasso import lasso_path
from ..solution.curves import Curve
from ..solution.evaluation import error_of_mean
from ..solution.metrics import Judge, Metric
from ..validation import Floats, check_number
from .base import Bounded, LinearRegressor
from .checking import estimator
from .compressed import compressible, factors, rows_of_squares
from .fitted import Fitted, followed
from .tuning import Tuned


class InAlpha(Fitted):
    """A lasso's path in lam, as a function of alpha = lam / sum_i s_i."""

    def error(
        self, X: Any, y: Floats, metric: Metric, weights: Floats, classes: Any = None
    ) -> Curve:
        """Return the mean error, over weighted rows, as an exact function of alpha."""
        curve = super().error(X, y, metric, weights).scaled(1.0 / self.unit)
        return curve.over(self.begin, self.end)


class OfFactor(InAlpha):
    """A lasso fitted to a QR factor of the rows; its last coefficient is the bias."""

    def error(
        self, X: Any, y: Floats, metric: Metric, weights: Floats, classes: Any = None
    ) -> Curve:
        """Return the mean error over rows with targets y; X is the factor of these rows and y."""
        curve = super().error(X[:, :-1], X[:, -1], metric, np.ones(len(X)))
        unit = error_of_mean(y, weights / weights.sum(), metric)
        return replace(curve.times(len(X) / weights.sum()), unit=unit)


@estimator
class PathLasso(LinearRegressor, Bounded, Tuned):
    """Lasso that knows its solution for every penalty alpha.

    Minimises ``1/(2n) ||y - X w - b||^2 + alpha ||w||_1``, as scikit-learn's; see `lasso_path`,
    whose lam is n alpha. With sample weights, s_i / sum_j s_j replaces 1/n.

    Parameters
    ----------
    alpha : float, default 1.0
        Weight of the penalty, >= 0; ignored with ``cv``.
    fit_intercept : bool, default True
        Whether b is fitted; without, b = 0.
    positive : bool, default False
    penalty_factor : (d,) array, optional
    bounds : (low, high), optional
        Of coefficients; see `lasso_path`.
    alpha_min : float, default 0.0
        Where the path begins, >= 0.
    cv : int, splitter or iterable of (train, test), optional
        Choose alpha exactly: the mean of the folds' errors, a piecewise quadratic (if absolute,
        linear) function of alpha, is minimised over all alpha >= 0. Squared errors of many rows are
        computed from a QR factorisation of each fold, to its rounding.
    scoring : str or (str, float), default "squared"
        The error of a fold: the mean "squared" or "absolute" error, the pinball loss of a
        quantile, ``("pinball", 0.9)``, or the share of "pairs" of rows in the wrong order; names of
        scikit-learn such as "neg_mean_squared_error" are accepted. With "r2",
        "d2_absolute_error_score" and ``("d2_pinball_score", 0.9)`` the error is 1 minus the score,
        which compares a fold's error with that of the best constant.
    rule : {"min", "1se"}
    n_jobs : int, optional
    callback
        See `PathSVC`.
    check : {"warn", "raise", "ignore"}
        See `PathSVC`.

    Attributes
    ----------
    path_ : SolutionPath
        In lam = n alpha, or alpha times the sum of sample weights.
    alpha_ : float
        The penalty that is used.
    coef_ : (d,) array
    intercept_ : float
    cv_path_, cv_paths_, cv_error_
        See `PathSVC`; functions of alpha.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from solution_paths import PathLasso
    >>> X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> model = PathLasso(alpha=0.5).fit(X, [7.0, 6.0, 2.0, 1.0])
    >>> model.coef_.round(9).tolist(), round(model.intercept_, 9)
    ([2.0, 0.0], 4.0)
    """

    _parameter = "alpha"
    _stronger = "larger"
    _kind = "value"
    _sparse = True

    alpha: float = 1.0
    _: KW_ONLY
    fit_intercept: bool = True
    alpha_min: float = 0.0
    scoring: Judge = "squared"

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> InAlpha:
        options = self._given("fit_intercept") | self._coefficients()
        total = float(X.shape[0] if weights is None else weights.sum())
        return self._in_alpha(InAlpha, X, y, total, options | {"sample_weight": weights})

    def _in_alpha(
        self, kind: type[InAlpha], X: Any, y: NDArray[Any], total: float, options: dict[str, Any]
    ) -> InAlpha:
        """Return the path of rows whose weights sum to ``total``."""
        least = check_number(self.alpha_min, "alpha_min", least=0)
        options |= {"lam_min": least * total} | self._check()
        model = kind([followed(lasso_path, X, y, **options)], unit=total)
        model.begin = least if model.begin > 0.0 and not model.errors else model.begin
        return model

    # -- folds ---------------------------------------------------------------------------------

    def _folds(
        self, X: Any, y: NDArray[Any], weights: Floats, pairs: list[tuple[Any, Any]]
    ) -> list[Callable[[], tuple[Fitted, Curve]]]:
        if self._metric().name != "squared" or not compressible(X, self.fit_intercept):
            return super()._folds(X, y, weights, pairs)
        fold_factors = factors(rows_of_squares(X, y, weights, self.fit_intercept), pairs)
        return [
            partial(
                self._short_fold,
                train,
                test,
                float(weights[train_rows].sum()),
                y[test_rows],
                weights[test_rows],
            )
            for (train, test), (train_rows, test_rows) in zip(fold_factors, pairs, strict=True)
        ]

    def _short_fold(
        self, train: Floats, test: Floats, total: float, y: Floats, weights: Floats
    ) -> tuple[Fitted, Curve]:
        """Return what `_fold` does, given factors of rows; y and weights are of the test rows."""
        model = self._in_alpha(OfFactor, train[:, :-1], train[:, -1], total, self._with_bias())
        return model, self._error(model, test, y, weights)

    def _with_bias(self) -> dict[str, Any]:
        """Return the options of a lasso whose last coefficient is the bias, if there is one."""
        d, bias = self.n_features_in_, int(self.fit_intercept)
        factor = np.ones(d) if self.penalty_factor is None else np.asarray(self.penalty_factor)
        options: dict[str, Any] = {
            "fit_intercept": False,
            "penalty_factor": np.append(factor, [0.0] * bias),
        }
        if self.positive or self.bounds is not None:
            ends = (-np.inf, np.inf) if self.bounds is None else self.bounds
            low, high = (np.full(d, np.asarray(end, dtype=np.float64)) for end in ends)
            low = np.maximum(low, 0.0) if self.positive else low
            options["bounds"] = np.append(low, [-np.inf] * bias), np.append(high, [np.inf] * bias)
        return options
