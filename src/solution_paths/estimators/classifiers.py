"""Classifiers whose parameter is fixed, or chosen exactly by cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from ..models.l1_svm import l1_svm_path
from ..models.quantile_svm import quantile_svm_path
from ..models.svm import svm_path
from ..path import Floats, Path
from ..validation import Rows, check_flag
from .base import LinearClassifier, PathClassifier
from .checking import Folds, lies_between


class PathSVC(PathClassifier):
    """Support vector classifier that knows its solution for every cost C.

    Minimises ``1/2 ||w||^2 + C sum_i max(0, 1 - y_i (w.x_i + b))``, with a free bias b; see
    `svm_path`.

    Parameters
    ----------
    C : float
        Cost, > 0; not looked at with ``cv``.
    cv : int, splitter or iterable of (train, test), optional
        Choose C exactly: the mean of the folds' errors (the share of wrong labels) is a step
        function of C, whose minimiser over all C > 0 is taken: the middle (of the logarithms) of
        the widest interval on which it is least.
    kernel : {"linear", "rbf", "poly", "precomputed"}
    gamma : float, "scale" or "auto", optional
    degree : int
    coef0 : float
        See `svm_path`.
    C_max : float, optional
        Where paths stop; by default where `svm_path` does (a kernel's at 1e6 or more), or at C
        where that is more and there is no ``cv``. A path that can't be followed so far warns, and
        C is chosen where all are exact.
    check : {"warn", "raise", "ignore"}
        See `svm_path`.

    Attributes
    ----------
    path_ : Path or list of Path
        In C; for more than two classes one for each class against the rest.
    C_ : float
        The cost that is used.
    cv_path_ : Curve
        The mean of the folds' errors as a function of C, with ``edges`` and ``left`` (its values).
    cv_error_ : float
        Its minimum.
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
    _sparse = True

    def __init__(
        self,
        C: float = 1.0,
        *,
        cv: Folds = None,
        kernel: str = "linear",
        gamma: float | str | None = None,
        degree: int = 3,
        coef0: float = 0.0,
        C_max: float | None = None,
        check: str = "warn",
    ):
        self.C = C
        self.cv = cv
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.C_max = C_max
        self.check = check

    def _path(self, X: Any, y: NDArray[Any]) -> Path:
        path = svm_path(X, y, C_max=self.C_max, **self._options())
        if self.C_max is None and self.cv is None and lies_between(self.C, path.range[1], np.inf):
            return svm_path(X, y, C_max=self.C, **self._options())
        return path


def _tells_probabilities(model: QuantileSVC) -> bool:
    if not check_flag(model.probability, "probability"):
        raise AttributeError("predict_proba needs probability=True; set it, fitting again or not.")
    return True


class QuantileSVC(PathClassifier):
    """Quantile support vector classifier that knows its solution for every quantile tau.

    Minimises ``lam/2 ||w||^2 + sum_i c_i max(0, 1 - y_i w.x_i)`` with c_i = 2 (1 - tau) / n where
    y_i = +1 and 2 tau / n where y_i = -1, so that the sign of w.x estimates that of
    P(y = +1 | x) - tau; see `quantile_svm_path`.

    Parameters
    ----------
    tau : float
        Quantile in [0, 1]; not looked at with ``cv``.
    lam : float
        Weight of the penalty, > 0.
    cv : int, splitter or iterable of (train, test), optional
        Choose tau exactly, see `PathSVC`.
    probability : bool
        Whether there is `predict_proba`. It reads all quantiles, ``decision_function`` one, so
        that they may rank rows differently: as in scikit-learn's SVC, who wants it says so. It may
        be set after fitting.
    intercept_scaling : float
        Value of the appended feature that holds the bias; 0 means no bias.
    kernel, gamma, degree, coef0, check
        See `quantile_svm_path`.

    Attributes
    ----------
    path_ : Path or list of Path
        In tau; for more than two classes one for each class against the rest.
    tau_ : float
        The quantile that is used.
    cv_path_, cv_error_
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
    _log = False
    _sparse = True

    def __init__(
        self,
        tau: float = 0.5,
        *,
        lam: float = 1e-2,
        cv: Folds = None,
        probability: bool = False,
        intercept_scaling: float = 1.0,
        kernel: str = "linear",
        gamma: float | str | None = None,
        degree: int = 3,
        coef0: float = 0.0,
        check: str = "warn",
    ):
        self.tau = tau
        self.lam = lam
        self.cv = cv
        self.probability = probability
        self.intercept_scaling = intercept_scaling
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.check = check

    def _path(self, X: Any, y: NDArray[Any]) -> Path:
        check_flag(self.probability, "probability")
        scaling = self.intercept_scaling
        return quantile_svm_path(X, y, self.lam, intercept_scaling=scaling, **self._options())

    @available_if(_tells_probabilities)
    def predict_proba(self, X: Rows) -> Floats:
        """Return (m, classes) probabilities, read off the whole path.

        With two classes that of the second is the length of all tau for which f(x) >= 0: where
        f changes sign once, the tau at which it does. With more, each class's own against the
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
        p = np.stack([path.positive_length(X) for path in self._model.paths], axis=1)
        p = np.clip(p, 0.0, 1.0)
        if p.shape[1] == 1:
            return np.hstack([1.0 - p, p])
        total = p.sum(axis=1, keepdims=True)
        return np.where(total > 0, p / np.where(total > 0, total, 1.0), 1.0 / p.shape[1])


class L1SVC(LinearClassifier):
    """l1-penalised support vector classifier that knows its solution for every penalty lam.

    Minimises ``sum_i max(0, 1 - y_i (w.x_i + b)) + lam ||w||_1``; see `l1_svm_path`.

    Parameters
    ----------
    lam : float
        Weight of the penalty, >= 0; not looked at with ``cv``.
    cv : int, splitter or iterable of (train, test), optional
        Choose lam exactly, see `PathSVC`.
    check : {"warn", "raise", "ignore"}
        See `l1_svm_path`.

    Attributes
    ----------
    path_ : Path or list of Path
        In lam; for more than two classes one for each class against the rest.
    lam_ : float
        The penalty that is used.
    coef_ : (1, d) or (classes, d) array
    intercept_ : (1,) or (classes,) array
    cv_path_, cv_error_
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

    def __init__(self, lam: float = 1.0, *, cv: Folds = None, check: str = "warn"):
        self.lam = lam
        self.cv = cv
        self.check = check

    def _path(self, X: Any, y: NDArray[Any]) -> Path:
        return l1_svm_path(X, y, check=self.check)
