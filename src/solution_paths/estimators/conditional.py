"""Intervals with conditional coverage, given features and a kernel."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from ..models.conditional_conformal import conditional_conformal_path
from ..solution.conditional import ConditionalPath, Features
from ..solution.leave_one_out import check_level
from ..validation import Floats, Rows, check_flag, check_index, check_vector
from .bases import BaseEstimator, RegressorMixin
from .checking import estimator


@estimator
class ConditionalConformal(RegressorMixin, BaseEstimator):
    """Conditional conformal prediction around any regression, exact and without a search.

    The scores are absolute residuals of calibration rows, to which the regression wasn't fitted.
    The cutoff of a new row's score is a quantile regression of scores that is fitted to the new
    row, too. Intervals cover with probability at least 1 - alpha, not only on average but in each
    group that ``features`` names, and under each shift of the rows that features or the kernel
    express. See `conditional_conformal_path`.

    Parameters
    ----------
    estimator : regressor
        Any with scikit-learn's interface, such as `PathLasso`. Pass one that is already fitted as
        ``FrozenEstimator(estimator)``.
    alpha : float, default 0.1
        The share of responses that may be missed.
    features : callable, optional
        Returns (rows, k) numbers, given rows; an intercept is always added.
    kernel : {"linear", "rbf", "poly"}, optional
    gamma : float, optional
    degree, coef0
        See `svm_path`.
    lam : float, default 1.0
        See `conditional_conformal_path`.
    calibration : float, default 0.5
        The share of calibration rows; all rows if the estimator is frozen.
    randomize : bool, default False
        Whether cutoffs are drawn so that coverage is 1 - alpha exactly.
    random_state : int or RandomState, optional
        For the split of the rows, and for the cutoffs.

    Attributes
    ----------
    estimator_ : the estimator, fitted to the other rows
    scores_ : (n,) array
        Absolute residuals of the calibration rows.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from solution_paths import ConditionalConformal, PathLasso
    >>> X = np.arange(40.0)[:, None] % 20
    >>> y = X[:, 0] + np.where(X[:, 0] < 10, 0.1, 2.0) * np.sin(7.0 * np.arange(40))
    >>> model = ConditionalConformal(PathLasso(alpha=0.1), 0.2, features=lambda X: X >= 10,
    ...                              random_state=0).fit(X, y)
    >>> np.diff(model.predict_interval([[5.0], [15.0]])).round(2).ravel().tolist()
    [0.51, 3.98]
    """

    estimator: Any
    alpha: float = 0.1
    _: KW_ONLY
    features: Features | None = None
    kernel: str | None = None
    gamma: float | None = None
    degree: int = 3
    coef0: float = 0.0
    lam: float = 1.0
    calibration: float = 0.5
    randomize: bool = False
    random_state: Any = None

    def fit(self, X: Rows, y: ArrayLike) -> Self:
        """Fit the estimator to some rows, and compute the scores of the others.

        Parameters
        ----------
        X : (n, d) array, DataFrame or CSR matrix
        y : (n,) array
            Real targets.

        Returns
        -------
        self
        """
        check_level(self.alpha)
        check_flag(self.randomize, "randomize")
        check_index(X, y, "y")
        rows = np.arange(_num_samples(X))
        y = check_vector(y, len(rows), "y", scalar=False)
        if isinstance(self.estimator, FrozenEstimator):
            self.estimator_ = self.estimator
        else:
            train, rows = train_test_split(
                rows, test_size=self.calibration, random_state=self.random_state
            )
            self.estimator_ = clone(self.estimator).fit(_safe_indexing(X, train), y[train])
        self._X, targets = _safe_indexing(X, rows), y[rows]
        predicted = self.estimator_.predict(self._X)
        self.scores_ = np.abs(targets - predicted)
        self.n_features_in_ = self.estimator_.n_features_in_
        return self

    def predict(self, X: Rows) -> Floats:
        """Return the predictions (m,) of the estimator.

        Parameters
        ----------
        X : (m, d) array, DataFrame or CSR matrix
        """
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.predict(X))

    def paths(self, X: Rows, alpha: float | None = None) -> list[ConditionalPath]:
        """Return the path of each new row: its score as a function of its dual.

        Parameters
        ----------
        X : (m, d) array, DataFrame or CSR matrix
        alpha : float, optional
            Another share that may be missed.
        """
        check_is_fitted(self, "estimator_")
        names = ("features", "kernel", "gamma", "degree", "coef0", "lam")
        return conditional_conformal_path(
            self._X,
            self.scores_,
            X,
            alpha=self.alpha if alpha is None else alpha,
            **{name: getattr(self, name) for name in names},
        )

    def predict_interval(self, X: Rows, alpha: float | None = None) -> Floats:
        """Return the intervals of new rows' responses, (m, 2); not a number where one is empty.

        Parameters
        ----------
        X : (m, d) array, DataFrame or CSR matrix
        alpha : float, optional
            Another share that may be missed.
        """
        paths, f = self.paths(X, alpha), self.predict(X)
        rng = check_random_state(self.random_state)
        share = rng.uniform(size=len(paths)) if self.randomize else np.ones(len(paths))
        pairs = zip(paths, share, strict=True)
        cutoff = np.array([path.cutoff(u - path.alpha) for path, u in pairs])
        cutoff[cutoff < 0.0] = np.nan  # no absolute residual is negative
        return f[:, None] + cutoff[:, None] * np.array([-1.0, 1.0])
