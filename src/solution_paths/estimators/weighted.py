"""Machines with sample weights that change exactly: samples come, go, count more or less."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from ..models.weighted_svm import update_instances, weighted_svm_path
from ..models.weighted_svr import weighted_svr_path
from ..objectives.machine import Machine
from ..path import Floats, Path
from ..validation import Rows, check_index, check_number, check_weights
from .base import PathClassifier, PathEstimator
from .checking import naming_weights
from .fitted import OneVsRest, Single


class Weighted(PathEstimator):
    """A machine whose costs are C times sample weights; a child gives ``_path(X, y, from, to)``."""

    _sparse = True
    _path: Callable[..., Path]
    _model: Any  # `OneVsRest` or `Single`

    def fit(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the machine.

        Parameters
        ----------
        X : (n, d) array, DataFrame or CSR matrix, or (n, n) Gram matrix
            Every sample that may ever take part.
        y : (n,) array
        sample_weight : (n,) array, optional
            Weights >= 0; a sample of weight zero takes no part until it enters. All 1 by default.

        Returns
        -------
        self
        """
        C = check_number(self.C, "C", above=0)
        weights = 1.0 if sample_weight is None else sample_weight
        check_index(X, weights, "sample_weight")
        X, y = self._checked(X, y)
        self.sample_weight_ = check_weights(weights, X.shape[0], "sample_weight")
        self._C = C
        with naming_weights():
            self._model = self._weighted(self._named(X), y, C * self.sample_weight_)
        self.path_ = self._model.path
        return self

    def reweight(self, sample_weight: ArrayLike) -> Self:
        """Move to new weights exactly, along the path from the old ones (``path_`` then).

        Its cost is that of the breakpoints in between. After unpickling or copying, the machine is
        fitted with its old weights first.

        Parameters
        ----------
        sample_weight : (n,) array
            As in `fit`.

        Returns
        -------
        self

        Examples
        --------
        >>> from solution_paths import WeightedSVC
        >>> model = WeightedSVC().fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"])
        >>> model.reweight([1, 2, 1, 0]).path_.certify().ok
        True
        """
        check_is_fitted(self)
        new = check_weights(sample_weight, len(self.sample_weight_), "sample_weight")
        with naming_weights():
            return self._move(lambda path: path.continue_to(self._C * new))

    def update(
        self, *, enter: ArrayLike = (), leave: ArrayLike = (), weight: ArrayLike | None = None
    ) -> Self:
        """Let samples enter and leave exactly; see `update_instances`.

        Parameters
        ----------
        enter, leave : (k,) int arrays
            Rows of the X that was fitted, whose weight is zero, and whose weight is not.
        weight : scalar or (k,) array, optional
            Weights of those that enter; by default the largest weight there is.

        Returns
        -------
        self

        Examples
        --------
        >>> from solution_paths import WeightedSVC
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
        >>> model = WeightedSVC().fit(X, y, sample_weight=[1, 1, 1, 0])
        >>> model.update(enter=[3], leave=[0]).sample_weight_.tolist()
        [0.0, 1.0, 1.0, 1.0]
        """
        check_is_fitted(self)
        costs = None
        if weight is not None:
            costs = self._C * check_weights(weight, np.size(enter), "weight", of="enter")
        return self._move(
            lambda path: update_instances(path, enter=enter, leave=leave, weight=costs)
        )

    def _move(self, onward: Callable[[Path], Path]) -> Self:
        paths = [self._continuable(path) for path in self._model.paths]
        self._model.paths = [onward(path) for path in paths]
        self.path_ = self._model.path
        self.sample_weight_ = self._costs(self._model.paths[0]) / self._C
        return self

    def _continuable(self, path: Path) -> Path:
        try:
            path.check_continuable()
        except ValueError:
            weights = self._costs(path)
            rows = self._named(path.objective.X)
            y, classes = path.objective.y, path.objective.classes
            labels = classes[(y > 0).astype(int)] if len(classes) else y
            return self._path(rows, labels, weights, weights)
        return path

    def _weighted(self, X: Any, y: NDArray[Any], costs: Floats) -> OneVsRest | Single:
        raise NotImplementedError

    @staticmethod
    def _costs(path: Path) -> Floats:
        """Return the costs at the end of a path."""
        assert isinstance(path.objective, Machine)
        return path.objective.costs(1.0)

    def _place(self) -> float:
        return 1.0  # theta: the end of the path that led here


class WeightedSVC(Weighted, PathClassifier):
    """Support vector classifier with sample weights, to and from which it moves exactly.

    Minimises ``1/2 ||w||^2 + C sum_i s_i max(0, 1 - y_i (w.x_i + b))`` for sample weights s_i, with
    a free bias b; see `weighted_svm_path`.

    Parameters
    ----------
    C : float
        Cost of weight 1, > 0.
    kernel, gamma, degree, coef0, check
        See `weighted_svm_path`.

    Attributes
    ----------
    path_ : Path or list of Path
        In theta, from the weights before (0) to those now (1); for more than two classes one for
        each class against the rest.
    sample_weight_ : (n,) array
        The weights now.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from solution_paths import WeightedSVC
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [1.6]])
    >>> y = np.array(["a", "a", "b", "b", "a"])
    >>> model = WeightedSVC().fit(X, y, sample_weight=[1, 1, 1, 1, 0])
    >>> model.update(enter=[4], leave=[1]).path_.dual(1.0).round(3)
    array([0.089, 0.   , 1.   , 0.089, 1.   ])
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str = "linear",
        gamma: float | str | None = None,
        degree: int = 3,
        coef0: float = 0.0,
        check: str = "warn",
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.check = check

    def _weighted(self, X: Any, y: NDArray[Any], costs: Floats) -> OneVsRest:
        return OneVsRest(self._path, X, y, costs, costs)

    def _path(self, X: Any, y: NDArray[Any], weights_from: Floats, weights_to: Floats) -> Path:
        return weighted_svm_path(X, y, weights_from, weights_to, **self._options())


class WeightedSVR(RegressorMixin, Weighted):
    """Support vector regression with sample weights, to and from which it moves exactly.

    Minimises ``1/2 ||w||^2 + C sum_i s_i max(0, |y_i - w.x_i - b| - epsilon)`` for sample weights
    s_i, with a free bias b; see `weighted_svr_path`.

    Parameters
    ----------
    C : float
        Cost of weight 1, > 0.
    epsilon : float
        Half-width of the insensitive tube, >= 0, in the units of y.
    kernel, gamma, degree, coef0, check
        See `weighted_svm_path`.

    Attributes
    ----------
    path_ : Path
        In theta, from the weights before (0) to those now (1).
    sample_weight_ : (n,) array
        The weights now.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from solution_paths import WeightedSVR
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0.0, 1.0, 2.0, 9.0]
    >>> model = WeightedSVR(100.0, epsilon=0.0).fit(X, y, sample_weight=[1, 1, 1, 0])
    >>> model.predict([[4.0]]).round(9).tolist()
    [4.0]
    >>> model.reweight([0, 0, 1, 1]).predict([[4.0]]).round(9).tolist()
    [16.0]
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        epsilon: float = 0.1,
        kernel: str = "linear",
        gamma: float | str | None = None,
        degree: int = 3,
        coef0: float = 0.0,
        check: str = "warn",
    ):
        self.C = C
        self.epsilon = epsilon
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.check = check

    def _weighted(self, X: Any, y: NDArray[Any], costs: Floats) -> Single:
        return Single(self._path(X, y, costs, costs))

    def _path(self, X: Any, y: NDArray[Any], weights_from: Floats, weights_to: Floats) -> Path:
        return weighted_svr_path(X, y, weights_from, weights_to, self.epsilon, **self._options())

    def predict(self, X: Rows) -> Floats:
        """Return predicted values (m,).

        Parameters
        ----------
        X : (m, d) array, DataFrame or CSR matrix, or (m, n) matrix of kernel values
        """
        return self._decision(X)
