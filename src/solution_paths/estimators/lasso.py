"""The lasso, whose penalty is fixed, or chosen exactly by cross-validation."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..curves import Curve
from ..models.common import Uncorrelated
from ..models.lasso import lasso_path
from ..objectives.centring import centred
from ..path import Floats
from ..validation import check_flag
from .base import LinearRegressor
from .checking import Folds
from .fitted import Constant, Followed, followed
from .tuning import WeightedTuned


class InAlpha(Constant):
    """A lasso's path in alpha = lam / n, or a constant where no column tells anything.

    Weighted rows are multiplied by the roots of their weights, once they have been centred; the
    means are added to predictions.
    """

    log = True

    def __init__(self, X: Any, y: Floats, weights: Floats | None, intercept: bool, **check: Any):
        n, d = X.shape
        middle = float(centred(y)[1]) if intercept else 0.0
        self.x_mean, self.y_mean = np.zeros(d), 0.0
        if weights is not None:
            shares = weights / weights.sum()
            if intercept:
                X = X.toarray() if sp.issparse(X) else X
                self.x_mean = _weighted_mean(np.asarray(X), shares)
                self.y_mean = middle = float(_weighted_mean(y, shares))
                X, y = X - self.x_mean, y - self.y_mean
            X, y = _scaled(X, np.sqrt(n * shares)), y * np.sqrt(n * shares)
        found: list[Followed] = []
        own = intercept and weights is None
        with suppress(Uncorrelated):
            found = [followed(partial(lasso_path, fit_intercept=own, **check), X, y)]
        super().__init__(found, d, middle, unit=float(n))

    def intercepts(self, t: float) -> Floats:
        """Return b, (1,)."""
        own = super().intercepts(t)
        return own + self.y_mean - self.coefs(t) @ self.x_mean if self.paths else own

    def error(self, X: Any, y: Floats, metric: str, weights: Floats) -> Curve:
        """Return the mean error, over weighted rows, as an exact function of alpha."""
        if not self.paths:
            return super().error(X, y, metric, weights)
        if self.x_mean.any():
            X = (X.toarray() if sp.issparse(X) else X) - self.x_mean
        return super().error(X, y - self.y_mean, metric, weights)


def _weighted_mean(values: Floats, shares: Floats) -> Floats:
    """Return the mean over rows; in two steps, so that it is a constant's own value."""
    first = values.mean(axis=0)
    return np.asarray(first + shares @ (values - first))


def _scaled(X: Any, roots: Floats) -> Any:
    """Return X with its rows multiplied by numbers."""
    return sp.csr_array(sp.diags_array(roots) @ X) if sp.issparse(X) else (X.T * roots).T


class PathLasso(LinearRegressor, WeightedTuned):
    """Lasso that knows its solution for every penalty alpha.

    Minimises ``1/(2n) ||y - X w - b||^2 + alpha ||w||_1``, as scikit-learn's; see `lasso_path`,
    whose lam is n alpha. With sample weights s_i their share s_i / sum_j s_j stands for 1/n.

    Parameters
    ----------
    alpha : float, default 1.0
        Weight of the penalty, >= 0; not looked at with ``cv``.
    fit_intercept : bool, default True
        Whether b is fitted; without, b = 0. CSR rows are made dense if there are sample weights
        beside it, and else never.
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
        In lam = n alpha (with sample weights of centred data, whose rows are multiplied by the
        roots of n times their weights' shares); None where y correlates with no column at all, so
        that w = 0 for every alpha.
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
    _sparse = True

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

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> InAlpha:
        check_flag(self.fit_intercept, "fit_intercept")
        return InAlpha(X, y, weights, self.fit_intercept, **self._check())
