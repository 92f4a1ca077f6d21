"""The lasso, whose penalty is fixed, or chosen exactly by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
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
from ..path import Floats, Path
from ..validation import check_flag
from .base import LinearRegressor
from .checking import Folds
from .fitted import Constant, Followed, followed
from .tuning import WeightedTuned


class InAlpha(Constant):
    """A lasso's path in alpha = lam / n, or a constant where no column tells anything.

    Of weighted rows it is that of centred data; predictions add the means.
    """

    log = True

    def __init__(self, X: Any, y: Floats, weights: Floats | None, intercept: bool, **check: Any):
        n, d = X.shape
        self.x_mean, middle = np.zeros(d), float(centred(y)[1]) if intercept else 0.0
        if weights is None:
            fit = partial(fit, fit_intercept=intercept)
        else:
            X = X.toarray() if sp.issparse(X) else X
            shares = weights / weights.sum()
            if intercept:  # in two steps, so that nothing is left of what is constant
                self.x_mean = centred(np.asarray(X))[1]
                self.x_mean = self.x_mean + shares @ np.asarray(X - self.x_mean)
                middle += float(shares @ (y - middle))
            roots = np.sqrt(n * shares)
            X, y = ((X - self.x_mean).T * roots).T, roots * (y - middle)
        self.shifted = weights is not None
        found: list[Followed] = []
        with suppress(Uncorrelated):
            found = [followed(fit, X, y)]
        super().__init__(found, d, middle, unit=float(n))

    def intercepts(self, t: float) -> Floats:
        """Return b, (1,)."""
        if not self.shifted:
            return super().intercepts(t)
        return self.middle - self.coefs(t) @ self.x_mean

    def decision(self, X: Any, t: float) -> Floats:
        """Return predictions (m,)."""
        if not self.shifted:
            return super().decision(X, t)
        return np.asarray((X - self.x_mean) @ self.coefs(t)[0]) + self.middle

    def error(self, X: Any, y: Floats, metric: str, weights: Floats) -> Curve:
        """Return the mean error, over weighted rows, as an exact function of alpha."""
        if not (self.shifted and self.paths):
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
        Whether b is fitted; without, b = 0.
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
        In lam = n alpha; with sample weights that of centred rows, multiplied by the roots of n
        times their weights' shares, for which a CSR matrix is made dense. None where y correlates
        with no column at all, so that w = 0 for every alpha.
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
    _sparse = True
    _stronger = "larger"
    _scorings = ("squared", "absolute")
    _model: InAlpha

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
        return InAlpha(X, y, weights, self.fit_intercept, partial(lasso_path, **self._check()))
