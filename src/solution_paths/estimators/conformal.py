"""Sets of responses or labels with distribution-free coverage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_is_fitted

from ..solution.conformal import ConformalPath, conformal_paths
from ..solution.conformal_labels import ConformalLabels, conformal_labels
from ..solution.leave_one_out import LeaveOneOut, check_level, leave_one_out, plus_interval
from ..validation import Floats, Rows, check_flag, check_index, check_vector, plain_labels
from .bases import BaseEstimator, ClassifierMixin, RegressorMixin
from .checking import Folds, estimator
from .classifiers import L1SVC, PathSVC
from .curved import PathLogisticRegression
from .lasso import PathLasso
from .quantiles import MEDIAN, PathQuantileRegressor
from .regression import HuberPath, KernelQuantileRegressor, PathElasticNet, PathSVR
from .robust import DrLAD
from .sparse import ElasticNetSVC


def _same(value: float, n: int, count: int) -> float:
    return value


def _of_mean(value: float, n: int, count: int) -> float:
    """Convert a penalty of the mean loss of n rows to one of ``count`` rows."""
    return value * count / n


def _median(value: float, n: int, count: int) -> float:
    return MEDIAN


class _Parameter(NamedTuple):
    """An estimator's parameter, the argument that limits its path, and its value on other paths.

    On the path of n rows, ``place(value, n, count)`` is where the model of ``count`` rows is.
    ``other_penalty`` names a penalty of the mean loss that stands still on the path.
    """

    name: str
    limit: str
    place: Callable[[float, int, int], float]
    other_penalty: str = ""


ESTIMATORS: dict[type, _Parameter] = {
    PathLasso: _Parameter("alpha", "alpha_min", lambda value, n, count: value * count),
    PathElasticNet: _Parameter("lam1", "lam1_min", _same),
    HuberPath: _Parameter("lam", "lam_min", _same),
    PathSVR: _Parameter("C", "C_max", _same),
    KernelQuantileRegressor: _Parameter("lam", "lam_min", _of_mean),
    PathQuantileRegressor: _Parameter("lam", "lam_min", _median, "lam"),
    DrLAD: _Parameter("s", "s_max", _same, "lam2"),
}
CLASSIFIERS: dict[type, _Parameter] = {
    PathSVC: _Parameter("C", "C_max", _same),
    L1SVC: _Parameter("lam", "lam_min", _same),
    ElasticNetSVC: _Parameter("lam1", "lam1_min", _of_mean, "lam2"),
    PathLogisticRegression: _Parameter("lam", "lam", _same),  # refits begin at the path's end
}
PATH_MARGIN = 2.0  # factor by which a path goes beyond its parameter, for models of n - 1 rows


@estimator
class _Conformal(BaseEstimator):
    """A conformal predictor around an estimator, whose path has the models of n +- 1 rows."""

    _change = 0  # from n to the number of rows of the models that are used
    _known = ESTIMATORS

    estimator: Any
    alpha: float = 0.1

    def fit(self, X: Rows, y: ArrayLike) -> Self:
        """Fit the estimator to all rows.

        Parameters
        ----------
        X : (n, d) array, DataFrame or CSR matrix
        y : (n,) array
            Targets, or labels.

        Returns
        -------
        self
        """
        parameter = self._parameter()
        check_level(self.alpha)
        check_index(X, y, "y")
        self.estimator_ = self._model().fit(X, y)
        path, value = self.estimator_.path_, float(getattr(self.estimator, parameter.name))
        n = _num_samples(X)
        penalty = (
            getattr(self.estimator, parameter.other_penalty) if parameter.other_penalty else 0.0
        )
        if penalty and getattr(self.estimator, "penalty", "") is not None:
            changed = {parameter.other_penalty: _of_mean(penalty, n, n + self._change)}
            path = self._model().set_params(**changed).fit(X, y).path_
        self._path, self._place = path, parameter.place(value, n, n + self._change)
        self._y = self._targets(y, n)
        self.n_features_in_ = self.estimator_.n_features_in_
        self._prepare(X)
        return self

    def _model(self) -> Any:
        """Return the unfitted estimator, whose path ends a little beyond its parameter."""
        parameter, model = self._parameter(), clone(self.estimator)
        value = float(getattr(model, parameter.name))
        if getattr(model, parameter.limit) in (None, 0.0) and value > 0.0:
            limit = value * PATH_MARGIN if parameter.limit.endswith("max") else value / PATH_MARGIN
            model.set_params(**{parameter.limit: limit})
        return model

    def _targets(self, y: ArrayLike, n: int) -> NDArray[Any]:
        return check_vector(y, n, "y", scalar=False)

    def _prepare(self, X: Rows) -> None:
        """Compute what is common to all new rows."""

    def _parameter(self) -> _Parameter:
        """Return the estimator's parameter; refuse an estimator that can't be used."""
        name, parameter = type(self).__name__, self._known.get(type(self.estimator))
        if parameter is None:
            of_any = ", or for any regression JackknifePlus(cv=) or ConditionalConformal."
            remedy = of_any if self._known is ESTIMATORS else "."
            known = ", ".join(sorted(kind.__name__ for kind in self._known))
            raise ValueError(
                f"{name} takes one of {known}, not {type(self.estimator).__name__}; of another "
                f"model use conformal_path, conformal_labels or leave_one_out with its path{remedy}"
            )
        if self.estimator.cv is not None:
            raise ValueError(
                f"The estimator's {parameter.name} must not be chosen by the rows that {name} is "
                f"fitted to: choose it by others, and give it with cv=None."
            )
        if getattr(self.estimator, "noncrossing", False):
            raise ValueError(
                f"With noncrossing=True the median depends on other quantiles: give {name} an "
                "estimator with noncrossing=False, whose median is fitted by itself."
            )
        kernel, gamma = (getattr(self.estimator, part, None) for part in ("kernel", "gamma"))
        if kernel in ("rbf", "poly") and not isinstance(gamma, Real):
            raise ValueError(
                f"gamma={gamma!r} would be taken from the rows that {name} is fitted to; give the "
                "estimator a number."
            )
        if isinstance(getattr(self.estimator, "class_weight", None), str):
            raise ValueError(
                f'class_weight="balanced" would be taken from the rows that {name} is fitted to; '
                "give the estimator a dict."
            )
        return parameter

    def predict(self, X: Rows) -> NDArray[Any]:
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


@estimator
class _Full(_Conformal):
    """A predictor whose estimator is refitted with each new row."""

    _change = 1

    _: KW_ONLY
    groups: Callable[[Any], Any] | None = None

    def _prepare(self, X: Rows) -> None:
        self._groups = None if self.groups is None else np.asarray(self.groups(X))

    def _grouped(self, X: Rows) -> tuple[Any, Any] | None:
        """Return the groups of the training rows and of new rows."""
        if self.groups is None:
            return None
        return self._groups, np.asarray(self.groups(X))


class FullConformal(RegressorMixin, _Full):
    """Full conformal prediction around a regression, exact and without refits.

    For each new row the model is refitted to all n + 1 rows with every response y, which is a
    path; the set holds the y whose residual is not among the largest. It covers the response with
    probability at least 1 - alpha, for any exchangeable rows. See `conformal_path`.

    Parameters
    ----------
    estimator : regression
        PathLasso, PathElasticNet, HuberPath, PathSVR, DrLAD, KernelQuantileRegressor (residuals are
        those of its quantile) or PathQuantileRegressor (those of the median). Its parameter must be
        given, not chosen by ``cv``, and with a kernel ``gamma`` must be a number: values taken from
        the rows would treat the new row differently.
    alpha : float, default 0.1
        The share of responses that may be missed.
    groups : callable, optional
        Returns the group of each row, given rows. Residuals are compared within the new row's
        group, so that each group is covered (Mondrian conformal prediction).

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

    def paths(self, X: Rows) -> list[ConformalPath]:
        """Return the path of each new row: its p-value as a function of the response.

        Parameters
        ----------
        X : (m, d) array, DataFrame or CSR matrix
        """
        rows = self._rows(X)
        return list(conformal_paths(self._path, self._place, self._y, rows, self._grouped(X)))

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
        intervals = [
            (interval_set[0, 0], interval_set[-1, 1]) for interval_set in self.predict_set(X, alpha)
        ]
        return np.array(intervals).reshape(-1, 2)

    def p_values(self, X: Rows, y: ArrayLike) -> Floats:
        """Return the p-values (m,) of responses (m,) of new rows.

        Parameters
        ----------
        X : (m, d) array, DataFrame or CSR matrix
        y : (m,) array
        """
        paths = self.paths(X)
        given = check_vector(y, len(paths), "y", scalar=False, of="X")
        pairs = zip(paths, given, strict=True)
        return np.array([float(path.p_value(target)) for path, target in pairs])


@estimator
class FullConformalClassifier(ClassifierMixin, _Full):
    """Full conformal prediction of labels around an SVM or a logistic regression.

    For each new row the SVM, or each class's SVM against the rest, is refitted to all n + 1 rows
    with each label. The set holds the labels for which the row's margin is not among the least. It
    holds the right label with probability at least 1 - alpha, for any exchangeable rows. It may be
    empty, or hold several. See `conformal_labels`.

    Parameters
    ----------
    estimator : PathSVC, L1SVC, ElasticNetSVC or PathLogisticRegression
        See `FullConformal`; ``class_weight`` may be a dict. SVMs are refitted exactly, logistic
        regressions (of two classes) within a bound that decides all comparisons but those of
        scores that are equal to half of the digits or more, see `ConformalLabels`.
    alpha : float, default 0.1
        The share of labels that may be missed.
    groups : callable, optional
        See `FullConformal`.
    by_label : bool, default False
        Whether rows are compared only with rows of the same label, so that each label is covered.

    Attributes
    ----------
    estimator_ : the estimator, fitted to all rows
    classes_ : (k,) array
    n_features_in_ : int

    Examples
    --------
    >>> from solution_paths import FullConformalClassifier, PathSVC
    >>> X, y = [[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]], ["a", "a", "a", "b", "b", "b"]
    >>> model = FullConformalClassifier(PathSVC(C=1.0), alpha=0.2).fit(X, y)
    >>> [labels.tolist() for labels in model.predict_set([[0.5], [3.6]])]
    [['a'], ['a', 'b']]
    """

    _known = CLASSIFIERS

    _: KW_ONLY
    by_label: bool = False

    def _targets(self, y: ArrayLike, n: int) -> NDArray[Any]:
        return plain_labels(y, n, "y")

    def _prepare(self, X: Rows) -> None:
        super()._prepare(X)
        check_flag(self.by_label, "by_label")
        self.classes_ = self.estimator_.classes_

    def labels(self, X: Rows) -> ConformalLabels:
        """Return p-values of all labels of new rows, with a certificate.

        Parameters
        ----------
        X : (m, d) array, DataFrame or CSR matrix
        """
        rows, grouped = self._rows(X), self._grouped(X)
        return conformal_labels(
            self._path, self._place, self._y, rows, groups=grouped, by_label=self.by_label
        )

    def predict_set(self, X: Rows, alpha: float | None = None) -> list[NDArray[Any]]:
        """Return the labels that each new row may have.

        Parameters
        ----------
        X : (m, d) array, DataFrame or CSR matrix
        alpha : float, optional
            Another share that may be missed.
        """
        return self.labels(X).prediction_sets(self._level(alpha))

    def p_values(self, X: Rows) -> Floats:
        """Return the p-values of all labels, (m, k), in the order of ``classes_``.

        Parameters
        ----------
        X : (m, d) array, DataFrame or CSR matrix
        """
        return self.labels(X).p


@estimator
class JackknifePlus(RegressorMixin, _Conformal):
    """Jackknife+ intervals around a regression, whose n leave-one-out models are exact; or CV+.

    They cover the response with probability at least 1 - 2 alpha, for any exchangeable rows, and
    usually about 1 - alpha; one fit serves all new rows. See `leave_one_out`.

    Parameters
    ----------
    estimator, alpha
        See `FullConformal`; with ``cv`` any regression.
    cv : int, splitter or iterable of (train, test), optional
        CV+: one model for each of K folds instead of each row. With folds of n / K rows the bound
        is less by min(2 (1 - 1/K) / (n/K + 1), (1 - K/n) / (K + 1)).

    Attributes
    ----------
    estimator_ : the estimator, fitted to all rows
    loo_ : LeaveOneOut
        Without ``cv``.
    models_ : list of estimators
        With ``cv``: one for each fold.
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
    _: KW_ONLY
    cv: Folds = None

    def fit(self, X: Rows, y: ArrayLike) -> Self:
        """Fit the estimator to all rows, and the models without some of them.

        Parameters
        ----------
        X : (n, d) array, DataFrame or CSR matrix
        y : (n,) array
            Targets.

        Returns
        -------
        self
        """
        if self.cv is None or type(self.estimator) in self._known:
            return super().fit(X, y)
        check_level(self.alpha)
        check_index(X, y, "y")
        self._y = self._targets(y, _num_samples(X))
        self.estimator_ = self._model().fit(X, self._y)
        self.n_features_in_ = self.estimator_.n_features_in_
        self._prepare(X)
        return self

    def _model(self) -> Any:
        known = type(self.estimator) in self._known
        return super()._model() if known else clone(self.estimator)

    def _prepare(self, X: Rows) -> None:
        if self.cv is None:
            self.loo_: LeaveOneOut = leave_one_out(self._path, self._place)
            return
        n, self.models_ = len(self._y), []
        self._fold, self._residuals = np.full(n, -1), np.empty(n)
        for k, (train, test) in enumerate(check_cv(self.cv).split(X, self._y)):
            if (self._fold[test] >= 0).any():
                raise ValueError("cv has a row in two test sets: CV+ needs each in one.")
            model = self._model().fit(_safe_indexing(X, train), self._y[train])
            self._residuals[test] = np.abs(self._y[test] - model.predict(_safe_indexing(X, test)))
            self._fold[test] = k
            self.models_.append(model)
        if (self._fold < 0).any():
            raise ValueError("cv has a row in no test set: CV+ needs each in one.")

    def predict_interval(self, X: Rows, alpha: float | None = None) -> Floats:
        """Return the intervals of new rows' responses, (m, 2).

        Parameters
        ----------
        X : (m, d) array, DataFrame or CSR matrix
        alpha : float, optional
            Another share that may be missed.
        """
        check_is_fitted(self, "estimator_")
        level = self._level(alpha)
        if self.cv is None:
            return self.loo_.interval(self._rows(X), self._y, level)
        f = np.column_stack([model.predict(X) for model in self.models_])
        return plus_interval(f[:, self._fold], self._residuals, level)
