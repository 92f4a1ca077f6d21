"""Classifiers whose parameter is fixed, or chosen exactly by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..models.l1_svm import l1_svm_path
from ..models.quantile_svm import quantile_svm_path
from ..models.svm import svm_path
from ..solution import SolutionPath
from ..solution.curves import Curve
from ..solution.metrics import Judge
from ..validation import Floats, Rows, check_flag, check_grid
from . import probabilities as probable
from .base import Bounded, Expanded, PathClassifier
from .checking import ClassWeight, estimator, lies_between
from .fitted import OneVsRest
from .tuning import Tuned


@estimator
class PathSVC(PathClassifier, Expanded, Tuned):
    """Support vector classifier that knows its solution for every cost C.

    Minimises ``1/2 ||w||^2 + C sum_i s_i max(0, 1 - y_i (w.x_i + b))`` for sample weights s_i, with
    a free bias b; see `svm_path`.

    Parameters
    ----------
    C : float, default 1.0
        Cost, > 0; ignored with ``cv``.
    kernel : {"linear", "rbf", "poly", "precomputed"}
    gamma : float, "scale" or "auto", optional
    degree : int, default 3
    coef0 : float, default 0.0
        See `svm_path`.
    C_max : float, optional
        Where paths stop; by default where `svm_path` does (a kernel's at 1e6 or more), or at C
        where that is more and there is no ``cv``.
    class_weight : dict or "balanced", optional
        Weights of classes, > 0, 1 where a class isn't named; "balanced" gives all classes the same
        total weight. They multiply sample weights, also where a class is fitted against the rest.
    cv : int, splitter or iterable of (train, test), optional
        Choose C exactly: the mean of the folds' errors is a step function of C, which is minimised
        over all C > 0. C is the middle (of the logarithms) of the widest interval of minimisers. If
        a path can't be followed so far, C is chosen where all paths are exact; a fold whose
        training rows hold one class alone is left out. A warning says so in both cases.
    scoring : str, (str, label) or (classes, classes) array, default "error"
        The error of a fold; all are exact. The share of wrong labels, "error", or the mean of the
        shares in all classes, "balanced_error". The mean cost of errors, by a matrix with a row for
        each label and a column for each prediction, in the order of ``classes_``. Or 1 minus a
        score of scikit-learn: of two classes "f1", "precision", "recall", "roc_auc" and
        "average_precision" (of the label 1, else the larger one, or as in ``("f1", "spam")``), of
        more "f1_macro", "f1_weighted" and similar ones. The names of `SolutionPath.error_curve` and
        of scikit-learn are accepted, such as "accuracy".
    rule : {"min", "1se"}
        Which value is chosen: the one with the least error, or the strongest penalty (here the
        least C) whose error is within one standard error of the least.
    n_jobs : int, optional
        Processes for the folds, as in scikit-learn.
    callback : callable, optional
        Called now and then as ``callback(done, n_events)``: the share of the work (all rows, then
        each fold) and the number of events so far. An exception that it raises ends the fit.
    check : {"warn", "raise", "ignore"}
        What to do if the solution at ``C_``, or a fold's solution there, is not reliable; the rest
        of ``path_`` is not checked. "raise" raises a `PathError`, also if a path ends before
        ``C_``.

    Attributes
    ----------
    path_ : SolutionPath or list of SolutionPath
        In C; for more than two classes one for each class against the rest.
    C_ : float
        The cost that is used.
    coef_ : (1, d) or (classes, d) array
        Of a linear model, one row for each path.
    intercept_ : (1,) or (classes,) array
    support_ : (n_SV,) int array
        Rows of X that are support vectors of one of the paths.
    support_vectors_ : (n_SV, d) array
    dual_coef_ : (1, n_SV) or (classes, n_SV) array
        Coefficients a_i of f(x) = sum_i a_i k(x_i, x) + b, signed, one row for each path; 0 where
        a row is no support vector of that path.
    cv_path_ : MeanCurve
        The mean of the folds' errors as a function of C, with ``edges`` and ``left`` (its values);
        ``cv_path_.standard_error(C)`` is its standard error.
    cv_paths_ : list of Curve
        The errors of all folds.
    cv_error_ : float
        The mean error at ``C_``.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from solution_paths import PathSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PathSVC(cv=5).fit(X, y)
    >>> bool(model.cv_error_ == model.cv_path_.best().value <= model.cv_path_(1.0))
    True
    >>> model.predict(X[[0, 60, 120]]).tolist()
    [0, 1, 2]
    """

    _parameter = "C"
    _above = 0.0
    _stronger = "smaller"
    _sparse = True

    C: float = 1.0
    _: KW_ONLY
    C_max: float | None = None
    class_weight: ClassWeight = None
    scoring: Judge = "error"

    def _path(self, X: Any, y: NDArray[Any], weights: Floats | None) -> SolutionPath:
        def path(C_max: float | None) -> SolutionPath:
            return svm_path(X, y, sample_weight=weights, C_max=C_max, **self._options())

        usual_path = path(self.C_max)
        if (
            self.C_max is None
            and self.cv is None
            and lies_between(self.C, usual_path.range[1], np.inf)
        ):
            return path(self.C)
        return usual_path


def _has_probabilities(model: QuantileSVC) -> bool:
    if not check_flag(model.probability, "probability"):
        raise AttributeError("predict_proba needs probability=True; set it, fitting again or not.")
    return True


@estimator
class QuantileSVC(PathClassifier, Expanded, Tuned):
    """Quantile support vector classifier that knows its solution for every quantile tau.

    Minimises ``lam/2 ||w||^2 + sum_i c_i max(0, 1 - y_i w.x_i)`` with c_i = 2 (1 - tau) / n where
    y_i = +1 and 2 tau / n where y_i = -1. The sign of w.x estimates that of P(y = +1 | x) - tau.
    With sample weights, s_i / sum_j s_j replaces 1/n. See `quantile_svm_path`.

    Parameters
    ----------
    tau : float, default 0.5
        Quantile in [0, 1]; ignored with ``cv``.
    lam : float or sequence of float, default 0.01
        Weight of the penalty, > 0; of several values the one whose probabilities have the least log
        loss in the folds of ``cv`` (by default 5). Each log loss is exact: it uses all quantiles.
    probability : bool, default False
        Whether there is `predict_proba`, which then makes the decisions: of two classes the second
        where its probability is at least tau, else the most probable one. It uses all quantiles,
        and agrees with the sign of w.x at tau except in rows where this isn't monotone in tau (see
        ``monotone``). Without ``cv`` it may be set after fitting.
    coupling : bool, default False
        Whether probabilities of more than two classes are fitted to those of each pair of classes
        (Wu, Lin and Weng 2004); else they are those of each class against the rest, scaled.
    intercept_scaling : float, default 1.0
        Value of the appended feature that holds the bias; 0 means no bias.
    kernel, gamma, degree, coef0
        See `svm_path`.
    class_weight : dict or "balanced", optional
        See `PathSVC`.
    cv : int, splitter or iterable of (train, test), optional
        Choose tau exactly, see `PathSVC`.
    scoring : str, (str, label) or (classes, classes) array, default "error"
        See `PathSVC`; also "log_loss". The log loss of `predict_proba` ("neg_log_loss" in
        scikit-learn) is the same for every tau, since probabilities use all quantiles: tau is then
        1/2, and ``cv_error_`` is their log loss.
    rule : {"min"}
        There is no "1se": tau is no penalty.
    n_jobs, callback, check
        See `PathSVC`.

    Attributes
    ----------
    path_ : SolutionPath or list of SolutionPath
        In tau; for more than two classes one for each class against the rest.
    tau_ : float
        The quantile that is used.
    lam_ : float
        The weight that is used.
    log_losses_ : (k,) array
        The mean log loss of the folds, for several lam.
    crossings_ : int
        Number of training rows in which the sign of w.x changes more than once in tau, or upwards.
    coef_, intercept_, support_, support_vectors_, dual_coef_
        See `PathSVC`.
    cv_path_, cv_paths_, cv_error_
        See `PathSVC`.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from solution_paths import QuantileSVC
    >>> X, y = make_moons(100, noise=0.2, random_state=0)
    >>> model = QuantileSVC(0.3, kernel="rbf").fit(X, y)  # says 1 where P(1) > 0.3
    >>> cautious = QuantileSVC(0.7, kernel="rbf").fit(X, y)
    >>> int(model.predict(X).sum()) > int(cautious.predict(X).sum())
    True
    """

    _parameter = "tau"
    _kind = "probability"
    _sparse = True

    tau: float = 0.5
    _: KW_ONLY
    lam: float | Sequence[float] = 1e-2
    probability: bool = False
    coupling: bool = False
    intercept_scaling: float = 1.0
    class_weight: ClassWeight = None
    scoring: Judge = "error"

    def fit(
        self,
        X: Rows,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Fit the whole path; choose lam of several by the log loss, then tau if ``cv`` is given.

        Parameters
        ----------
        X : (n, d) array or DataFrame, CSR matrix, or (n, n) Gram matrix
        y : (n,) array
        sample_weight : (n,) array, optional
        groups : (n,) array, optional
        **params
            See `PathSVC.fit`.

        Returns
        -------
        self
        """
        given = {"sample_weight": sample_weight, "groups": groups, **params}
        if np.ndim(self.lam) == 0:
            self.lam_ = cast("float", self.lam)
            return super().fit(X, y, **given)
        values, folds = check_grid(self.lam, "lam", above=True), 5 if self.cv is None else self.cv
        judged = {"probability": True, "scoring": "log_loss", "cv": folds, "callback": None}
        candidate = clone(self).set_params(**judged, rule="min")
        errors = [
            candidate.set_params(lam=lam).fit(X, y, **given).cv_error_ for lam in values.tolist()
        ]
        self.log_losses_ = np.array(errors)
        self.lam_ = float(values[self.log_losses_.argmin()])
        return super().fit(X, y, **given)

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> OneVsRest:
        if check_flag(self.coupling, "coupling") and len(np.unique(y)) > 2:
            return probable.Coupled(self._path, X, y, weights, self._pairwise)
        return super()._fitted(X, y, weights)

    def _count_of_paths(self) -> int:
        k, coupled = len(self.classes_), check_flag(self.coupling, "coupling")
        return super()._count_of_paths() + (k * (k - 1) // 2 if coupled and k > 2 else 0)

    @property
    def crossings_(self) -> int:
        """Number of training rows in which solutions at different tau contradict each other."""
        check_is_fitted(self)
        return int((~probable.monotone(self._model, self._model.paths[0].rows)).sum())

    def _path(self, X: Any, y: NDArray[Any], weights: Floats | None) -> SolutionPath:
        check_flag(self.probability, "probability")
        options: dict[str, Any] = {
            "sample_weight": weights,
            "intercept_scaling": self.intercept_scaling,
        }
        return quantile_svm_path(X, y, self.lam_, **options, **self._options())

    def _error(self, model: Any, X: Any, y: NDArray[Any], weights: Floats) -> Curve:
        metric = self._metric()
        if not self.probability and metric.name != "log_loss":
            return super()._error(model, X, y, weights)
        p = probable.probabilities(model, X)
        return probable.error(p, model.classes, y, metric, weights, self.classes_)

    def decision_function(self, X: Rows) -> Floats:
        """Return decisions, (m,) for two classes (not negative: the second), else (m, classes).

        With ``probability`` they are p - tau, or the probabilities of all classes; else w.x at tau.

        Parameters
        ----------
        X : (m, d) array, DataFrame or CSR matrix, or (m, n) matrix of kernel values
        """
        if not self.probability:
            return self._decision(X)
        p = self.predict_proba(X)
        return p[:, 1] - self._place() if len(self.classes_) == 2 else p

    def predict(self, X: Rows, cost: ArrayLike | None = None) -> NDArray[Any]:
        """Return (m,) labels, by ``decision_function``; or those whose expected cost is least.

        Parameters
        ----------
        X : see `decision_function`
        cost : (classes, classes) array, optional
            Costs of errors: a row for each label, a column for each prediction, in the order of
            ``classes_``. It needs ``probability``, but no new fit.

        Examples
        --------
        >>> from solution_paths import QuantileSVC
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["ill", "ill", "ill", "well"]
        >>> model = QuantileSVC(probability=True).fit(X, y)
        >>> model.predict([[2.9]]).tolist()
        ['well']
        >>> model.predict([[2.9]], cost=[[0.0, 50.0], [1.0, 0.0]]).tolist()  # an ill one said well
        ['ill']
        """
        if cost is None:
            return super().predict(X)
        if not self.probability:
            raise ValueError("cost needs probabilities: set probability=True.")
        return np.asarray(self.classes_[probable.cheapest(self.predict_proba(X), cost)])

    def monotone(self, X: Rows) -> NDArray[np.bool_]:
        """Return in which rows w.x is positive up to one tau and negative beyond, (m,): in most.

        There the probability is that tau. Elsewhere the sign changes more than once, or upwards,
        and the probability is the length of all tau with w.x >= 0; see `predict_proba`.

        Parameters
        ----------
        X : see `decision_function`
        """
        X = self._rows(X)
        return probable.monotone(self._model, self._model.columns(X))

    @available_if(_has_probabilities)
    def predict_proba(self, X: Rows) -> Floats:
        """Return (m, classes) probabilities, which use the whole path.

        With two classes that of the second is the length of all tau for which f(x) >= 0: where
        f changes sign once, the tau at which it does. With more, those of each class against the
        rest, scaled to sum to 1.

        Parameters
        ----------
        X : see `decision_function`

        Examples
        --------
        >>> from sklearn.datasets import make_moons
        >>> from solution_paths import QuantileSVC
        >>> X, y = make_moons(100, noise=0.2, random_state=0)
        >>> p = QuantileSVC(probability=True).fit(X, y).predict_proba(X)
        >>> p.shape, p.sum(axis=1).round(9).min().item()
        ((100, 2), 1.0)
        """
        X = self._rows(X)
        return probable.probabilities(self._model, self._model.columns(X))


@estimator
class L1SVC(PathClassifier, Bounded, Tuned):
    """l1-penalised support vector classifier that knows its solution for every penalty lam.

    Minimises ``sum_i s_i max(0, 1 - y_i (w.x_i + b)) + lam ||w||_1`` with weights s_i of samples;
    see `l1_svm_path`.

    Parameters
    ----------
    lam : float, default 1.0
        Weight of the penalty, >= 0; ignored with ``cv``.
    positive : bool, default False
    penalty_factor : (d,) array, optional
    bounds : (low, high), optional
        Of coefficients; see `lasso_path`.
    lam_min : float, default 0.0
        Where paths begin, see `l1_svm_path`.
    class_weight : dict or "balanced", optional
        See `PathSVC`.
    cv : int, splitter or iterable of (train, test), optional
        Choose lam exactly, see `PathSVC`.
    scoring, rule, n_jobs, callback, check
        See `PathSVC`.

    Attributes
    ----------
    path_ : SolutionPath or list of SolutionPath
        In lam; for more than two classes one for each class against the rest.
    lam_ : float
        The penalty that is used.
    coef_ : (1, d) or (classes, d) array
    intercept_ : (1,) or (classes,) array
    cv_path_, cv_paths_, cv_error_
        See `PathSVC`.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from solution_paths import L1SVC
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0], [3.0, 1.0]])
    >>> model = L1SVC(0.5).fit(X, ["a", "a", "b", "b"])
    >>> model.coef_.round(9).tolist()  # the second column tells nothing
    [[2.0, 0.0]]
    """

    _parameter = "lam"
    _sparse = True
    _stronger = "larger"

    lam: float = 1.0
    _: KW_ONLY
    lam_min: float = 0.0
    class_weight: ClassWeight = None
    scoring: Judge = "error"

    def _path(self, X: Any, y: NDArray[Any], weights: Floats | None) -> SolutionPath:
        options = self._given("lam_min") | self._coefficients()
        return l1_svm_path(X, y, sample_weight=weights, **options, **self._check())
