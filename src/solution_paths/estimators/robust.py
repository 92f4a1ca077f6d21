"""Distributionally robust estimators: least absolute deviations, and double margins."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

from numpy.typing import NDArray

from ..models.dm_drsvm import dm_drsvm_path
from ..models.dm_ksvm import dm_ksvm_path
from ..models.drlad import drlad_path
from ..solution import SolutionPath
from ..solution.metrics import Judge
from ..validation import Floats
from .base import Expanded, Linear, LinearRegressor, PathClassifier
from .checking import ClassWeight, estimator, lies_between
from .fitted import Fitted, followed
from .tuning import Tuned


@estimator
class DrLAD(LinearRegressor, Tuned):
    """Doubly regularised least absolute deviations that knows its solution for every radius s.

    Minimises ``1/n sum_i |y_i - w.x_i - b| + lam2/2 ||w||^2`` where ``||w||_1 <= s``; see
    `drlad_path`. With sample weights, s_i / sum_j s_j replaces 1/n.

    Parameters
    ----------
    s : float, default 1.0
        Radius of the l1 constraint, >= 0; ignored with ``cv``.
    lam2 : float, default 0.0
        Weight of ||w||^2 / 2, >= 0.
    s_max : float, optional
        Where the path ends; by default for ever.
    cv : int, splitter or iterable of (train, test), optional
        Choose s exactly: the mean of the folds' errors, a piecewise linear (or quadratic) function
        of s, is minimised over all s >= 0.
    scoring : str or (str, float), default "absolute"
        See `PathLasso`.
    rule : {"min", "1se"}
    n_jobs : int, optional
    callback
        See `PathSVC`.
    check : {"warn", "raise", "ignore"}
        See `PathSVC`.

    Attributes
    ----------
    path_ : SolutionPath
        In s.
    s_ : float
        The radius that is used.
    coef_ : (d,) array
    intercept_ : float
    cv_path_, cv_paths_, cv_error_
        See `PathSVC`; functions of s.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from solution_paths import DrLAD
    >>> X = np.array([[1.0, 1.0], [2.0, -1.0], [3.0, 1.0], [4.0, -1.0], [5.0, 0.0]])
    >>> model = DrLAD(s=10.0).fit(X, [2.0, 4.0, 6.0, 8.0, 99.0])  # one is far off
    >>> model.coef_.round(9).tolist(), abs(round(model.intercept_, 9))
    ([2.0, 0.0], 0.0)
    """

    _parameter = "s"
    _stronger = "smaller"
    _kind = "robust"

    s: float = 1.0
    _: KW_ONLY
    lam2: float = 0.0
    s_max: float | None = None
    scoring: Judge = "absolute"

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> Fitted:
        options = self._given("lam2", "s_max") | {"sample_weight": weights} | self._check()
        return Fitted([followed(drlad_path, X, y, **options)])


@estimator
class DmKSVC(PathClassifier, Expanded, Tuned):
    """Double-margin kernel support vector classifier that knows its solution for every lam.

    Minimises ``lam/2 ||w||^2 + 1/n sum_i max(0, 1 - m_i, 1 + m_i - kappa)`` for margins
    m_i = y_i f(x_i), with a free bias; with sample weights, s_i / sum_j s_j replaces 1/n. See
    `dm_ksvm_path`.

    Parameters
    ----------
    lam : float, default 0.1
        Weight of the penalty, > 0; ignored with ``cv``.
    kappa : float, default 2.0
        > 0: margins above kappa - 1 are penalised, too.
    kernel, gamma, degree, coef0
        See `svm_path`.
    lam_min : float, optional
        Where paths stop; by default where `dm_ksvm_path` does, or at lam where that is less and
        there is no ``cv``.
    class_weight : dict or "balanced", optional
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
    coef_, intercept_, support_, support_vectors_, dual_coef_
        See `PathSVC`.
    cv_path_, cv_paths_, cv_error_
        See `PathSVC`.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from solution_paths import DmKSVC
    >>> X, y = make_moons(100, noise=0.2, random_state=0)
    >>> model = DmKSVC(cv=5, kappa=4.0, kernel="rbf", gamma=1.0, lam_min=1e-3).fit(X, y)
    >>> bool(model.cv_error_ <= model.cv_path_(0.1)), model.score(X, y) > 0.9
    (True, True)
    """

    _parameter = "lam"
    _above = 0.0
    _stronger = "larger"
    _sparse = True

    lam: float = 0.1
    _: KW_ONLY
    kappa: float = 2.0
    lam_min: float | None = None
    class_weight: ClassWeight = None
    scoring: Judge = "error"

    def _path(self, X: Any, y: NDArray[Any], weights: Floats | None) -> SolutionPath:
        def path(lam_min: float | None) -> SolutionPath:
            options: dict[str, Any] = {"sample_weight": weights, "lam_min": lam_min}
            return dm_ksvm_path(X, y, self.kappa, **options, **self._options())

        usual_path = path(self.lam_min)
        if (
            self.lam_min is None
            and self.cv is None
            and lies_between(self.lam, 0, usual_path.range[0])
        ):
            return path(self.lam)
        return usual_path


@estimator
class DmDrSVC(PathClassifier, Linear, Tuned):
    """Double-margin doubly regularised classifier that knows its solution for every lam1.

    Minimises ``lam2/2 ||w||^2 + lam1 rho + 1/n sum_i max(0, 1 - m_i, 1 + m_i - kappa rho)`` over
    w, a free bias and rho >= ||w||_1, for margins m_i = y_i f(x_i); see `dm_drsvm_path`. With
    sample weights, s_i / sum_j s_j replaces 1/n.

    Parameters
    ----------
    lam1 : float, default 0.01
        Radius of the ambiguity set, >= 0; ignored with ``cv``.
    lam2 : float, default 0.01
        Weight of ||w||^2 / 2, > 0.
    kappa : float, default 2.0
        Cost of changing a label, > 0.
    lam1_min : float, default 0.0
        Where paths begin, >= 0.
    cv : int, splitter or iterable of (train, test), optional
        Choose lam1 exactly, see `PathSVC`.
    scoring, rule, n_jobs, callback, check
        See `PathSVC`.

    Attributes
    ----------
    path_ : SolutionPath or list of SolutionPath
        In lam1; for more than two classes one for each class against the rest.
    lam1_ : float
        The radius that is used.
    coef_ : (1, d) or (classes, d) array
    intercept_ : (1,) or (classes,) array
    cv_path_, cv_paths_, cv_error_
        See `PathSVC`.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from solution_paths import DmDrSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DmDrSVC(0.01, lam2=0.01, kappa=2.0).fit(X[50:], y[50:])
    >>> model.score(X[50:], y[50:]) > 0.9
    True
    """

    _parameter = "lam1"
    _stronger = "larger"

    lam1: float = 0.01
    _: KW_ONLY
    lam2: float = 0.01
    kappa: float = 2.0
    lam1_min: float = 0.0
    scoring: Judge = "error"

    def _path(self, X: Any, y: NDArray[Any], weights: Floats | None) -> SolutionPath:
        options = self._given("lam2", "lam1_min") | {"sample_weight": weights} | self._check()
        return dm_drsvm_path(X, y, self.kappa, vary="lam1", **options)
