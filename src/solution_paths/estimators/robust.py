"""Distributionally robust estimators: least absolute deviations in a ball, and double margins."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..curves import Curve
from ..models.common import Uncorrelated
from ..models.dm_drsvm import dm_drsvm_path
from ..models.dm_ksvm import dm_ksvm_path
from ..models.dr_regression import drlad_path
from ..path import Floats, Path
from ..validation import check_choice, check_number
from .base import LinearClassifier, LinearRegressor, PathClassifier
from .checking import Folds, lies_between
from .fitted import followed, most

METRICS = ("absolute", "squared")


class InBall:
    """A path in the radius s of a ball, or a constant where no column tells anything."""

    def __init__(self, X: Any, y: Floats, lam2: float, metric: str, check: str):
        self.metric, self.d, self.middle = metric, X.shape[1], float(np.median(y))
        self.path: Path | None = None
        self.begin, self.end = 0.0, np.inf
        fit = partial(drlad_path, lam2=lam2, check=check)
        with suppress(Uncorrelated):
            self.path, self.begin, self.end = followed(fit, X, y)

    def check(self, s: float, name: str) -> float:
        """Return s as a number."""
        return check_number(s, name, least=self.begin, most=most(self.end))

    def coef(self, s: float) -> Floats:
        """Return w, (d,)."""
        return np.zeros(self.d) if self.path is None else self.path.coef(s)

    def intercept(self, s: float) -> float:
        """Return b."""
        return self.middle if self.path is None else self.path.intercept(s)

    def decision(self, X: Any, s: float) -> Floats:
        """Return predictions (m,)."""
        return np.asarray(X) @ self.coef(s) + self.intercept(s)

    def error(self, X: Any, y: Floats) -> Curve:
        """Return the mean error as an exact function of s."""
        if self.path is None:
            off = np.abs(y - self.middle)
            flat = np.array([np.mean(off if self.metric == "absolute" else off**2)])
            return Curve(np.array([0.0, np.inf]), flat, flat, np.zeros(1))
        return self.path.error_curve(X, y, self.metric).over(self.begin, self.end)


class DrLAD(LinearRegressor):
    """Doubly regularised least absolute deviations that knows its solution for every radius s.

    Minimises ``1/n sum_i |y_i - w.x_i - b| + lam2/2 ||w||^2`` where ``||w||_1 <= s``; see
    `drlad_path`.

    Parameters
    ----------
    s : float
        Radius of the l1 ball, >= 0; not looked at with ``cv``.
    lam2 : float
        Weight of ||w||^2 / 2, >= 0.
    cv : int, splitter or iterable of (train, test), optional
        Choose s exactly: the mean of the folds' errors is a piecewise linear (or quadratic)
        function of s, whose minimiser over all s >= 0 is taken.
    metric : {"absolute", "squared"}
        The error in cross-validation.
    check : {"warn", "raise", "ignore"}
        See `drlad_path`.

    Attributes
    ----------
    path_ : Path or None
        In s; None where no column correlates with y's signs about its median, so that w = 0.
    s_ : float
        The radius that is used.
    coef_ : (d,) array
    intercept_ : float
    cv_path_ : Curve
        The mean of the folds' errors as a function of s.
    cv_error_ : float
        Its minimum.
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
    _log = False
    _model: InBall

    def __init__(
        self,
        s: float = 1.0,
        *,
        lam2: float = 0.0,
        cv: Folds = None,
        metric: str = "absolute",
        check: str = "warn",
    ):
        self.s = s
        self.lam2 = lam2
        self.cv = cv
        self.metric = metric
        self.check = check

    def _fitted(self, X: Any, y: NDArray[Any]) -> InBall:
        check_choice(self.metric, "metric", METRICS)
        return InBall(X, y, self.lam2, self.metric, self.check)


class DmKSVC(PathClassifier):
    """Double-margin kernel support vector classifier that knows its solution for every lam.

    Minimises ``lam/2 ||w||^2 + 1/n sum_i max(0, 1 - m_i, 1 + m_i - kappa)`` for margins
    m_i = y_i f(x_i), with a free bias; see `dm_ksvm_path`.

    Parameters
    ----------
    lam : float
        Weight of the penalty, > 0; not looked at with ``cv``.
    kappa : float
        > 0: margins beyond kappa - 1 cost something, too.
    lam_min : float, optional
        Where paths stop; by default where `dm_ksvm_path` does, or at lam where that is less and
        there is no ``cv``. A path that can't be followed so far warns, and lam is chosen where all
        are exact.
    cv : int, splitter or iterable of (train, test), optional
        Choose lam exactly, see `PathSVC`.
    kernel, gamma, degree, coef0, check
        See `dm_ksvm_path`.

    Attributes
    ----------
    path_ : Path or list of Path
        In lam; for more than two classes one for each class against the rest.
    lam_ : float
        The penalty that is used.
    cv_path_, cv_error_
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
    _sparse = True

    def __init__(
        self,
        lam: float = 0.1,
        *,
        kappa: float = 2.0,
        lam_min: float | None = None,
        cv: Folds = None,
        kernel: str = "linear",
        gamma: float | str | None = None,
        degree: int = 3,
        coef0: float = 0.0,
        check: str = "warn",
    ):
        self.lam = lam
        self.kappa = kappa
        self.lam_min = lam_min
        self.cv = cv
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.check = check

    def _path(self, X: Any, y: NDArray[Any]) -> Path:
        path = dm_ksvm_path(X, y, self.kappa, lam_min=self.lam_min, **self._options())
        if self.lam_min is None and self.cv is None and lies_between(self.lam, 0, path.range[0]):
            return dm_ksvm_path(X, y, self.kappa, lam_min=self.lam, **self._options())
        return path


class DmDrSVC(LinearClassifier):
    """Double-margin doubly regularised classifier that knows its solution for every lam1.

    Minimises ``lam2/2 ||w||^2 + lam1 rho + 1/n sum_i max(0, 1 - m_i, 1 + m_i - kappa rho)`` over
    w, a free bias and rho >= ||w||_1, for margins m_i = y_i f(x_i); see `dm_drsvm_path`.

    Parameters
    ----------
    lam1 : float
        Radius of the ambiguity set, >= 0; not looked at with ``cv``.
    lam2 : float
        Weight of ||w||^2 / 2, > 0.
    kappa : float
        What changing a label costs, > 0.
    cv : int, splitter or iterable of (train, test), optional
        Choose lam1 exactly, see `PathSVC`.
    check : {"warn", "raise", "ignore"}
        See `dm_drsvm_path`.

    Attributes
    ----------
    path_ : Path or list of Path
        In lam1; for more than two classes one for each class against the rest.
    lam1_ : float
        The radius that is used.
    coef_ : (1, d) or (classes, d) array
    intercept_ : (1,) or (classes,) array
    cv_path_, cv_error_
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

    def __init__(
        self,
        lam1: float = 0.01,
        *,
        lam2: float = 0.01,
        kappa: float = 2.0,
        cv: Folds = None,
        check: str = "warn",
    ):
        self.lam1 = lam1
        self.lam2 = lam2
        self.kappa = kappa
        self.cv = cv
        self.check = check

    def _path(self, X: Any, y: NDArray[Any]) -> Path:
        return dm_drsvm_path(X, y, self.kappa, vary="lam1", lam2=self.lam2, check=self.check)
