"""The lasso, whose penalty is fixed, or chosen exactly by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..curves import Curve
from ..models.lasso import lasso_path
from ..path import Floats, Path
from .base import LinearRegressor
from .checking import Folds, check_flag
from .fitted import Constant, followed
from .tuning import WeightedTuned


class Centred(Constant):
    """A lasso's path on centred, weighted data, in alpha = lam / n; predictions add the means."""

    log = True

    def __init__(
        self, X: Any, y: Floats, weights: Floats | None, intercept: bool, fit: Callable[..., Path]
    ):
        n, d = X.shape
        shares = np.full(n, 1.0 / n) if weights is None else weights / weights.sum()
        self.x_mean, middle = np.zeros(d), 0.0
        if intercept:  # in two steps, so that nothing is left of what is constant
            self.x_mean, middle = np.asarray(X).mean(axis=0), float(y.mean())
            self.x_mean = self.x_mean + shares @ np.asarray(X - self.x_mean)
            middle += float(shares @ (y - middle))
        X, y = X - self.x_mean, y - middle
        if weights is not None:
            roots = np.sqrt(n * shares)
            X, y = (X.T * roots).T, y * roots
        # without any correlation w = 0 for every penalty
        found = [followed(fit, X, y)] if (np.asarray(X).T @ y).any() else []
        super().__init__(found, d, middle, unit=float(n))

    def intercepts(self, t: float) -> Floats:
        """Return b, (1,)."""
        return self.middle - self.coefs(t) @ self.x_mean

    def decision(self, X: Any, t: float) -> Floats:
        """Return predictions (m,)."""
        return np.asarray((X - self.x_mean) @ self.coefs(t)[0]) + self.middle

    def error(self, X: Any, y: Floats, metric: str, weights: Floats) -> Curve:
        """Return the mean error, over weighted rows, as an exact function of alpha."""
        if not self.paths:
            return super().error(X, y, metric, weights)
        return super().error(X - self.x_mean, y - self.middle, metric, weights)


class PathLasso(LinearRegressor, WeightedTuned):
    """Lasso that knows its solution for every penalty alpha.

    Minimises ``1/(2n) ||y - X w - b||^2 + alpha ||w||_1``, as scikit-learn's; see `lasso_path`,
    whose lam is n alpha. With sample weights s_i their share s_i / sum_j s_j stands for 1/n.

    Parameters
    ----------
    alpha : float
        Weight of the penalty, >= 0; not looked at with ``cv``.
    fit_intercept : bool
        Whether b is fitted, by centring X and y; without, b = 0.
    cv : int, splitter or iterable of (train, test), optional
        Choose alpha exactly: the mean of the folds' errors is a piecewise quadratic (or, if
        absolute, linear) function of alpha, whose minimiser over all alpha >= 0 is taken.
    scoring : {"squared", "absolute"}
        The mean squared or absolute error; scikit-learn's "neg_mean_squared_error" and
        "neg_mean_absolute_error" will do.
    rule : {"min", "1se"}
    n_jobs : int, optional
    check : {"warn", "raise", "ignore"}
        See `PathSVC`.

    Attributes
    ----------
    path_ : Path or None
        In lam = n alpha, of centred data, whose rows are multiplied by the roots of n times their
        weights' shares; None where y correlates with no column at all, so that
        w = 0 for every alpha.
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
    _scorings = ("squared", "absolute")

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        cv: Folds = None,
        scoring: str = "squared",
        rule: str = "min",
        n_jobs: int | None = None,
        check: str = "warn",
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.n_jobs = n_jobs
        self.check = check

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> Centred:
        check_flag(self.fit_intercept, "fit_intercept")
        return Centred(X, y, weights, self.fit_intercept, partial(lasso_path, **self._check()))
