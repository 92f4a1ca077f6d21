"""The lasso, whose penalty is fixed, or chosen exactly by cross-validation."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..curves import Curve
from ..models.lasso import lasso_path
from ..objectives.centring import centred, uncorrelated
from ..path import Floats, Path
from ..validation import check_choice, check_number
from .base import LinearRegressor
from .checking import Folds, check_flag
from .fitted import followed, inside, most

METRICS = ("squared", "absolute")


class Centred:
    """A lasso's path on centred data, in alpha = lam / n; predictions add the means."""

    def __init__(self, X: Any, y: Floats, fit_intercept: bool, metric: str, check: str):
        self.n, self.metric = len(y), metric
        X, self.x_mean, self.y_mean = np.asarray(X), np.zeros(X.shape[1]), 0.0
        if fit_intercept:
            (X, self.x_mean), (y, y_mean) = centred(X), centred(y)
            self.y_mean = float(y_mean)
        # without any correlation w = 0 for every penalty
        moves = not uncorrelated(X, y)
        self.path: Path | None = None
        self.begin, self.end = 0.0, np.inf
        if moves:
            self.path, begin, end = followed(partial(lasso_path, check=check), X, y)
            self.begin, self.end = begin / self.n, end / self.n

    def check(self, alpha: float, name: str) -> float:
        """Return alpha as a number."""
        return check_number(alpha, name, least=self.begin, most=most(self.end))

    def coef(self, alpha: float) -> Floats:
        """Return w, (d,)."""
        if self.path is None:
            return np.zeros_like(self.x_mean)
        return self.path.coef(inside(self.path, alpha * self.n))

    def intercept(self, alpha: float) -> float:
        """Return b."""
        return float(self.y_mean - self.x_mean @ self.coef(alpha))

    def decision(self, X: Any, alpha: float) -> Floats:
        """Return predictions (m,)."""
        return (X - self.x_mean) @ self.coef(alpha) + self.y_mean

    def error(self, X: Any, y: Floats) -> Curve:
        """Return the mean error as an exact function of alpha."""
        if self.path is None:
            off = np.abs(y - self.y_mean)
            flat = np.array([np.mean(off if self.metric == "absolute" else off**2)])
            return Curve(np.array([0.0, np.inf]), flat, flat, np.zeros(1))
        curve = self.path.error_curve(X - self.x_mean, y - self.y_mean, self.metric)
        return curve.scaled(1.0 / self.n).over(self.begin, self.end)


class PathLasso(LinearRegressor):
    """Lasso that knows its solution for every penalty alpha.

    Minimises ``1/(2n) ||y - X w - b||^2 + alpha ||w||_1``, as scikit-learn's; see `lasso_path`,
    whose lam is n alpha.

    Parameters
    ----------
    alpha : float
        Weight of the penalty, >= 0; not looked at with ``cv``.
    cv : int, splitter or iterable of (train, test), optional
        Choose alpha exactly: the mean of the folds' errors is a piecewise quadratic (or, if
        absolute, linear) function of alpha, whose minimiser over all alpha >= 0 is taken.
    metric : {"squared", "absolute"}
        The error in cross-validation.
    fit_intercept : bool
        Whether b is fitted, by centring X and y; without, b = 0.
    check : {"warn", "raise", "ignore"}
        See `lasso_path`.

    Attributes
    ----------
    path_ : Path or None
        In lam = n alpha, of centred data; None where y correlates with no column at all, so that
        w = 0 for every alpha.
    alpha_ : float
        The penalty that is used.
    coef_ : (d,) array
    intercept_ : float
    cv_path_ : Curve
        The mean of the folds' errors as a function of alpha.
    cv_error_ : float
        Its minimum.
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
    _model: Centred

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        cv: Folds = None,
        metric: str = "squared",
        fit_intercept: bool = True,
        check: str = "warn",
    ):
        self.alpha = alpha
        self.cv = cv
        self.metric = metric
        self.fit_intercept = fit_intercept
        self.check = check

    def _fitted(self, X: Any, y: NDArray[Any]) -> Centred:
        check_choice(self.metric, "metric", METRICS)
        check_flag(self.fit_intercept, "fit_intercept")
        return Centred(X, y, self.fit_intercept, self.metric, self.check)
