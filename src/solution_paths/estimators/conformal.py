"""Intervals around a regression's predictions that cover whatever the distribution of the rows."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from ..solution.conformal import ConformalPath, conformal_paths
from ..solution.leave_one_out import LeaveOneOut, check_level, leave_one_out
from ..validation import Floats, Rows, check_index, check_vector
from .lasso import PathLasso
from .stated import HuberPath, KernelQuantileRegressor, PathElasticNet, PathSVR


class _Parameter(NamedTuple):
    """An estimator's parameter, where its path may end, and what it is of the path of n rows.

    ``place(value, n, count)`` is where the path is the model of ``count`` rows.
    """

    name: str
    limit: str
    place: Callable[[float, int, int], float]


ESTIMATORS: dict[type, _Parameter] = {
    PathLasso: _Parameter("alpha", "alpha_min", lambda value, n, count: value * count),
    PathElasticNet: _Parameter("lam1", "lam1_min", lambda value, n, count: value),
    HuberPath: _Parameter("lam", "lam_min", lambda value, n, count: value),
    PathSVR: _Parameter("C", "C_max", lambda value, n, count: value),
    KernelQuantileRegressor: _Parameter(
        "lam", "lam_min", lambda value, n, count: value * count / n
    ),
}
SHRINKS = 2.0  # by how much a path goes beyond its parameter: models of one row less are on it


class _Conformal(RegressorMixin, BaseEstimator):
    """What both estimators share: a regression whose path holds the models of n rows and others."""

    _change = 0  # of the number of rows

    def __init__(self, estimator: Any, alpha: float = 0.1):
        self.estimator = estimator
        self.alpha = alpha

    def fit(self, X: Rows, y: ArrayLike) -> Self:
        """Fit the estimator to all rows.

        Parameters
        ----------
        X : (n, d) array, DataFrame or CSR matrix
        y : (n,) array
            Real targets.

        Returns
        -------
        self
        """
        own = self._parameter()
        check_level(self.alpha)
        check_index(X, y, "y")
        model, value = clone(self.estimator), float(getattr(self.estimator, own.name))
        limit = value * SHRINKS if own.limit.endswith("max") else value / SHRINKS
        if getattr(model, own.limit) in (None, 0.0) and value > 0.0:
            model.set_params(**{own.limit: limit})
        self.estimator_ = model.fit(X, y)
        n = model.path_.line.start.losses[0].pieces.knots.shape[0]
        self._y = check_vector(y, n, "y", scalar=False)
        self._place = own.place(value, n, n + self._change)
        self.n_features_in_ = model.n_features_in_
        self._prepare()
        return self

    def _prepare(self) -> None:
        """Compute what all new rows share."""

    def _parameter(self) -> _Parameter:
        """Return the parameter of the estimator, which can be used."""
        name, own = type(self).__name__, ESTIMATORS.get(type(self.estimator))
        if own is None:
            known = ", ".join(sorted(kind.__name__ for kind in ESTIMATORS))
            raise ValueError(
                f"{name} takes one of {known}, not {type(self.estimator).__name__}; of another "
                "model use conformal_path or leave_one_out with its path."
            )
        if self.estimator.cv is not None:
            raise ValueError(
                f"The estimator's {own.name} must not be chosen by the rows that {name} is fitted "
                f"to: choose it by others, and give it with cv=None."
            )
        kernel, gamma = (getattr(self.estimator, part, None) for part in ("kernel", "gamma"))
        if kernel in ("rbf", "poly") and not isinstance(gamma, Real):
            raise ValueError(
                f"gamma={gamma!r} would be taken from the rows that {name} is fitted to; give the "
                "estimator a number."
            )
        return own

    def predict(self, X: Rows) -> Floats:
        """Return the predictions (m,) of the estimator, fitted to all rows.

        Parameters
        ----------
        X : (m, d) array, DataFrame or CSR matrix
        """
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.predict(X))

    def _rows(self, X: Rows) -> Any:
        check_is_fitted(self, "estimator_")
        return self.estimator_._rows(X)

    def _level(self, alpha: float | None) -> float:
        return check_level(self.alpha if alpha is None else alpha)


class FullConformal(_Conformal):
    """Full conformal prediction around a regression, exact and without refits.

    For each new row the model is refitted to all n + 1 rows with every response y, which is a
    path; the set holds the y whose residual is not among the largest. It covers the response with
    probability 1 - alpha at least, for any exchangeable rows. See `conformal_path`.

    Parameters
    ----------
    estimator : PathLasso, PathElasticNet, HuberPath, PathSVR or KernelQuantileRegressor
        With its parameter given, not chosen by ``cv``, and with a kernel ``gamma`` as a number:
        what depends on the rows must not treat the new one differently.
    alpha : float, default 0.1
        The share of responses that may be missed.

    Attributes
    ----------
    estimator_ : the estimator, fitted to all rows
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from solution_paths import FullConformal, PathLasso
    >>> X, y = np.arange(9.0)[:, None], np.array([0.0, 1.1, 1.9, 3.2, 3.9, 5.0, 6.2, 6.8, 8.1])
    >>> model = FullConformal(PathLasso(alpha=0.05), alpha=0.2).fit(X, y)
    >>> model.predict_interval([[4.5]]).round(4).tolist()
    [[4.3087, 4.7128]]
    """

    _change = 1

    def paths(self, X: Rows) -> list[ConformalPath]:
        """Return what is known of each new row: its p-value as a function of the response.

        Parameters
        ----------
        X : (m, d) array, DataFrame or CSR matrix
        """
        rows = self._rows(X)
        return list(conformal_paths(self.estimator_.path_, self._place, self._y, rows))

    def predict_set(self, X: Rows, alpha: float | None = None) -> list[Floats]:
        """Return the sets of responses, each as (k, 2) closed intervals.

        Parameters
        ----------
        X : (m, d) array, DataFrame or CSR matrix
        alpha : float, optional
            Another share that may be missed.
        """
        level = self._level(alpha)
        return [path.prediction_set(level) for path in self.paths(X)]

    def predict_interval(self, X: Rows, alpha: float | None = None) -> Floats:
        """Return the least interval around each set, (m, 2).

        Parameters
        ----------
        X, alpha
            See `predict_set`.
        """
        found = [(own[0, 0], own[-1, 1]) for own in self.predict_set(X, alpha)]
        return np.array(found).reshape(-1, 2)

    def p_values(self, X: Rows, y: ArrayLike) -> Floats:
        """Return how plausible responses (m,) of new rows are: (m,) p-values.

        Parameters
        ----------
        X : (m, d) array, DataFrame or CSR matrix
        y : (m,) array
        """
        paths = self.paths(X)
        given = check_vector(y, len(paths), "y", scalar=False, of="X")
        pairs = zip(paths, given, strict=True)
        return np.array([float(path.p_value(target)) for path, target in pairs])


class JackknifePlus(_Conformal):
    """Jackknife+ intervals around a regression, whose n leave-one-out models are exact.

    They cover the response with probability 1 - 2 alpha at least, for any exchangeable rows, and
    usually about 1 - alpha; one fit serves all new rows. See `leave_one_out`.

    Parameters
    ----------
    estimator, alpha
        See `FullConformal`.

    Attributes
    ----------
    estimator_ : the estimator, fitted to all rows
    loo_ : LeaveOneOut
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from solution_paths import JackknifePlus, PathLasso
    >>> X, y = np.arange(9.0)[:, None], np.array([0.0, 1.1, 1.9, 3.2, 3.9, 5.0, 6.2, 6.8, 8.1])
    >>> model = JackknifePlus(PathLasso(alpha=0.05), alpha=0.2).fit(X, y)
    >>> model.predict_interval([[4.5]]).round(4).tolist()
    [[4.2875, 4.7243]]
    """

    _change = -1
    loo_: LeaveOneOut

    def _prepare(self) -> None:
        self.loo_ = leave_one_out(self.estimator_.path_, self._place)

    def predict_interval(self, X: Rows, alpha: float | None = None) -> Floats:
        """Return the intervals of new rows' responses, (m, 2).

        Parameters
        ----------
        X : (m, d) array, DataFrame or CSR matrix
        alpha : float, optional
            Another share that may be missed.
        """
        rows, level = self._rows(X), self._level(alpha)
        return self.loo_.interval(rows, self._y, level)
