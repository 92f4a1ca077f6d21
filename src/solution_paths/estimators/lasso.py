"""The lasso, whose penalty is fixed, or chosen exactly by cross-validation."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from ..curves import Curve
from ..models.coefficients import Bounds
from ..models.lasso import lasso_path
from ..solution import Callback
from ..solution.metrics import Judge, Metric
from ..validation import Floats, check_number
from .base import LinearRegressor
from .checking import Folds
from .fitted import Fitted, followed
from .tuning import Tuned


class InAlpha(Fitted):
    """A lasso's path in lam, by alpha = lam / sum_i s_i."""

    def error(
        self, X: Any, y: Floats, metric: Metric, weights: Floats, classes: Any = None
    ) -> Curve:
        """Return the mean error, over weighted rows, as an exact function of alpha."""
        curve = super().error(X, y, metric, weights).scaled(1.0 / self.unit)
        return curve.over(self.begin, self.end)


class PathLasso(LinearRegressor, Tuned):
    """Lasso that knows its solution for every penalty alpha.

    Minimises ``1/(2n) ||y - X w - b||^2 + alpha ||w||_1``, as scikit-learn's; see `lasso_path`,
    whose lam is n alpha. With sample weights s_i their share s_i / sum_j s_j stands for 1/n.

    Parameters
    ----------
    alpha : float, default 1.0
        Weight of the penalty, >= 0; not looked at with ``cv``.
    fit_intercept : bool, default True
        Whether b is fitted; without, b = 0.
    positive : bool, default False
    penalty_factor : (d,) array, optional
    bounds : (low, high), optional
        Of coefficients; see `lasso_path`.
    alpha_min : float, default 0.0
        Where the path begins, >= 0.
    cv : int, splitter or iterable of (train, test), optional
        Choose alpha exactly: the mean of the folds' errors is a piecewise quadratic (or, if
        absolute, linear) function of alpha, whose minimiser over all alpha >= 0 is taken.
    scoring : str or (str, float), default "squared"
        What a fold's error is: the mean "squared" or "absolute" error, the pinball loss of a
        quantile, ``("pinball", 0.9)``, or the share of "pairs" of rows in the wrong order;
        scikit-learn's "neg_mean_squared_error" and its like will do. "r2",
        "d2_absolute_error_score" and ``("d2_pinball_score", 0.9)`` compare a fold's error with that
        of the best constant: it is 1 less the score.
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

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        positive: bool = False,
        penalty_factor: ArrayLike | None = None,
        bounds: Bounds | None = None,
        alpha_min: float = 0.0,
        cv: Folds = None,
        scoring: Judge = "squared",
        rule: str = "min",
        n_jobs: int | None = None,
        callback: Callback | None = None,
        check: str = "warn",
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.positive = positive
        self.penalty_factor = penalty_factor
        self.bounds = bounds
        self.alpha_min = alpha_min
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.n_jobs = n_jobs
        self.callback = callback
        self.check = check

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> InAlpha:
        own = self._given("fit_intercept", "positive", "penalty_factor", "bounds")
        total = float(X.shape[0] if weights is None else weights.sum())
        least = check_number(self.alpha_min, "alpha_min", least=0)
        own |= {"sample_weight": weights, "lam_min": least * total} | self._check()
        model = InAlpha([followed(lasso_path, X, y, **own)], unit=total)
        model.begin = least if model.begin > 0.0 and not model.errors else model.begin
        return model
