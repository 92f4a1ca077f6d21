"""SVMs with exact updates of sample weights: samples enter, leave, or change their weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from ..models.weighted_svm import weighted_svm_path
from ..models.weighted_svr import weighted_svr_path
from ..models.weights import check_remaining_weight, updated_weights
from ..solution import Callback, SolutionPath
from ..validation import Floats, Labels, Rows, check_index, check_number
from .base import Expanded, PathClassifier, PathRegressor
from .checking import ClassWeight, check_class_weight, estimator, usable_weights, weights_of_classes
from .fitted import Fitted, OneVsRest, followed
from .judging import judge
from .progress import Progress


class Weighted(Expanded):
    """An SVM with costs C times sample weights; subclasses define ``_path(X, y, from, to)``."""

    _sparse = True
    _path: Callable[..., SolutionPath]

    def fit(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : (n, d) array, DataFrame or CSR matrix, or (n, n) Gram matrix
            All samples that may ever take part.
        y : (n,) array
        sample_weight : (n,) array, optional
            Weights >= 0; a sample of weight zero takes no part until it enters. All 1 by default.

        Returns
        -------
        self
        """
        C = check_number(self.C, "C", above=0)
        check_index(X, sample_weight, "sample_weight")
        X, y = self._checked(X, y)
        weights = usable_weights(sample_weight, X.shape[0], y if is_classifier(self) else None)
        self._unit = C * self._of_classes(y, weights)
        costs = self._unit * weights
        with self._reporting(Progress(self.callback, self._count_of_paths())):
            model = self._weighted(self._named(X), y, costs)
        model.rows = np.arange(len(weights))
        self._labels = y if is_classifier(self) else None
        model.codes = np.searchsorted(self.classes_, y) if is_classifier(self) else None
        self._targets = y
        return self._judged(model, weights)

    def _of_classes(self, y: NDArray[Any], weights: Floats) -> Floats:
        """Return the weights of the samples' classes."""
        return np.ones(len(y))

    def _judged(self, model: Fitted, weights: Floats) -> Self:
        judge(model, self._place(), "at these weights", self.check, [])
        self._model, self.path_, self.sample_weight_ = model, model.path, weights
        return self

    def reweight(self, sample_weight: ArrayLike) -> Self:
        """Change the weights exactly, along the path from the old ones, which is then ``path_``.

        The cost is that of the breakpoints in between. After unpickling or copying, the model is
        first fitted with its old weights.

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
        return self._move(usable_weights(sample_weight, len(self.sample_weight_), self._labels))

    def update(
        self, *, enter: ArrayLike = (), leave: ArrayLike = (), weight: ArrayLike | None = None
    ) -> Self:
        """Let samples enter and leave exactly; see `update_instances`.

        Parameters
        ----------
        enter, leave : (k,) int arrays
            Rows of the fitted X: with zero weight, and with positive weight.
        weight : scalar or (k,) array, optional
            Weights of the entering samples; by default the largest weight of all.

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
        new = updated_weights(self.sample_weight_, enter, leave, weight)
        check_remaining_weight(new, self._labels)
        return self._move(new)

    def _move(self, weights: Floats) -> Self:
        paths = [self._continuable(path) for path in self._model.paths]
        self._model.paths = [path.continue_to(self._unit * weights) for path in paths]
        return self._judged(self._model, weights)

    def _continuable(self, path: SolutionPath) -> SolutionPath:
        try:
            path.check_continuable()
        except ValueError:
            reading, weights = path.reading, self._unit * self.sample_weight_
            y = (
                self._targets
                if reading.signs is None
                else reading.classes[(reading.signs > 0).astype(int)]
            )
            return self._path(self._named(path.rows), y, weights, weights)
        return path

    def _weighted(self, X: Any, y: NDArray[Any], costs: Floats) -> Fitted:
        raise NotImplementedError

    def _place(self) -> float:
        return 1.0  # theta at the end of the path


@estimator
class WeightedSVC(PathClassifier, Weighted):
    """Support vector classifier with exact updates of sample weights.

    Minimises ``1/2 ||w||^2 + C sum_i s_i max(0, 1 - y_i (w.x_i + b))`` for sample weights s_i, with
    a free bias b; see `weighted_svm_path`.

    Parameters
    ----------
    C : float, default 1.0
        Cost of weight 1, > 0.
    kernel, gamma, degree, coef0
        See `svm_path`.
    class_weight : dict or "balanced", optional
        See `PathSVC`; it stays the same when sample weights change.
    callback
        See `PathSVC`.
    check : {"warn", "raise", "ignore"}
        What to do if the solution at the current weights is not reliable: warn, raise a
        `PathError`, or don't check.

    Attributes
    ----------
    path_ : SolutionPath or list of SolutionPath
        In theta, from the previous weights (0) to the current ones (1); for more than two classes
        one for each class against the rest.
    sample_weight_ : (n,) array
        The current weights.
    coef_, intercept_, support_, support_vectors_, dual_coef_
        See `PathSVC`.
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

    C: float = 1.0
    _: KW_ONLY
    class_weight: ClassWeight = None
    callback: Callback | None = None
    check: str = "warn"

    def _of_classes(self, y: Labels, weights: Floats) -> Floats:
        check_class_weight(self.class_weight, self.classes_)
        return weights_of_classes(self.class_weight, y, weights)

    def _weighted(self, X: Any, y: NDArray[Any], costs: Floats) -> OneVsRest:
        return OneVsRest(self._path, X, y, costs, costs)

    def _path(
        self, X: Any, y: NDArray[Any], weights_from: Floats, weights_to: Floats
    ) -> SolutionPath:
        return weighted_svm_path(X, y, weights_from, weights_to, **self._options())


@estimator
class WeightedSVR(PathRegressor, Weighted):
    """Support vector regression with exact updates of sample weights.

    Minimises ``1/2 ||w||^2 + C sum_i s_i max(0, |y_i - w.x_i - b| - epsilon)`` for sample weights
    s_i, with a free bias b; see `weighted_svr_path`.

    Parameters
    ----------
    C : float, default 1.0
        Cost of weight 1, > 0.
    epsilon : float, default 0.1
        Half-width of the insensitive tube, >= 0, in the units of y.
    kernel, gamma, degree, coef0
        See `svm_path`.
    callback
        See `PathSVC`.
    check : {"warn", "raise", "ignore"}
        See `WeightedSVC`.

    Attributes
    ----------
    path_ : SolutionPath
        In theta, from the previous weights (0) to the current ones (1).
    sample_weight_ : (n,) array
        The current weights.
    coef_, intercept_, support_, support_vectors_, dual_coef_
        See `PathSVC`.
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

    C: float = 1.0
    _: KW_ONLY
    epsilon: float = 0.1
    callback: Callback | None = None
    check: str = "warn"

    def _weighted(self, X: Any, y: NDArray[Any], costs: Floats) -> Fitted:
        return Fitted([followed(self._path, X, y, costs, costs)])

    def _path(
        self, X: Any, y: NDArray[Any], weights_from: Floats, weights_to: Floats
    ) -> SolutionPath:
        return weighted_svr_path(X, y, weights_from, weights_to, self.epsilon, **self._options())
