"""What all estimators share: checked data, predictions, and the solution's coefficients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.utils import Tags
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ..models.coefficients import Bounds
from ..solution import SolutionPath
from ..solution.follow import CHECKS
from ..solution.plots import draw_path
from ..validation import (
    Floats,
    Labels,
    Rows,
    check_choice,
    check_entries,
    check_index,
    check_unmasked,
    check_vector,
    feature_names,
    order_of,
    plain_labels,
)
from .bases import BaseEstimator, ClassifierMixin, RegressorMixin
from .checking import (
    ELSEWHERE,
    estimator,
    known_labels,
    known_targets,
    naming_labels,
    naming_rows,
    readable,
    required,
    weights_of_classes,
)
from .fitted import Fitted, OneVsRest
from .progress import Progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class NamedRows(np.ndarray):
    """Rows that know the names of their columns, as a frame does."""

    columns: Any


class PathEstimator(BaseEstimator):
    """An estimator that predicts by the solution at one value of a path's parameter.

    Subclasses define ``_fitted(X, y, weights)``; weights are None if all are 1.
    """

    _sparse = False  # whether CSR matrices are accepted
    _model: Fitted
    _progress: Progress | None = None  # during a fit

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn whether the last fit was completed."""
        return hasattr(self, "_model")

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> Fitted:
        raise NotImplementedError

    def _trained(self, X: Any, y: NDArray[Any], weights: Floats) -> Fitted:
        """Return the fit to the samples with positive weight, multiplied by class weights."""
        kept = np.flatnonzero(weights > 0)
        whole = len(kept) == len(weights)
        if not whole:
            X, y = _safe_split(self, X, y, kept)
            weights = weights[kept]
        weights = weights * weights_of_classes(getattr(self, "class_weight", None), y, weights)
        model = self._fitted(X, y, None if (weights == 1.0).all() else weights)
        model.kept = kept if self._pairwise and not whole else None
        model.rows = kept
        if is_classifier(self):
            model.codes = np.searchsorted(self.classes_, y)
        return model

    @contextmanager
    def _reporting(self, progress: Progress) -> Iterator[None]:
        """Let the paths of all rows report their progress."""
        self._progress = progress
        try:
            with progress.unchanged:
                yield
        finally:
            del self._progress

    def _count_of_paths(self) -> int:
        """Return the number of paths that are followed one after the other."""
        several = isinstance(self, PathClassifier) and len(self.classes_) > 2
        return len(self.classes_) if several else 1

    def _checked(self, X: Rows, y: ArrayLike) -> tuple[Any, NDArray[Any]]:
        """Check X and y; store the names and number of features, and ``classes_``."""
        self.__dict__.pop("_model", None)  # an earlier fit is of other data
        number = {} if is_classifier(self) else {"y_numeric": True, "ensure_min_samples": 2}
        required(y, self, "label" if is_classifier(self) else "number")
        check_index(X, y, "y")
        order = order_of(y)
        check_unmasked(y, "y")
        y = known_labels(y) if is_classifier(self) else known_targets(y)
        X, y = self._validated(X, y=y, **number)
        if not is_classifier(self):
            return X, check_vector(y, X.shape[0], "y", scalar=False)
        with naming_labels():
            check_classification_targets(y)
        y = plain_labels(y, X.shape[0], "y")
        self.classes_ = self._classes_of(y, order)
        if len(self.classes_) < 2:
            one = y[:1].tolist()[0]
            raise ValueError(f"y holds one class only, {one!r}; select rows of two classes.")
        return X, y

    def _validated(self, X: Rows, **more: Any) -> Any:
        """Return the result of scikit-learn's `validate_data`; entries must be finite."""
        accepted = "csr" if self._sparse else False
        names, X = feature_names(X), readable(X)
        with naming_rows():
            validated = validate_data(
                self,
                X,
                accept_sparse=accepted,
                dtype=np.float64,
                ensure_all_finite=False,
                **more,
            )
        check_entries(validated[0] if "y" in more else validated, "X", names)
        return validated

    def _classes_of(self, y: Labels, order: list[Any] | None) -> Labels:
        """Return the classes of labels; ``order`` is that of an ordered categorical."""
        return np.unique(y)

    def _named(self, X: Any) -> Any:
        """Return checked rows together with the names of their columns, which the path stores."""
        names = getattr(self, "feature_names_in_", None)
        if names is None or sp.issparse(X):
            return X
        named = X.view(NamedRows)
        named.columns = names
        return named

    def _given(self, *names: str) -> dict[str, Any]:
        """Return parameters, as path functions take them."""
        return {name: getattr(self, name) for name in names}

    def _options(self) -> dict[str, Any]:
        """Return the kernel's parameters and ``check``, as path functions take them."""
        return self._given("kernel", "gamma", "degree", "coef0") | self._check()

    def _check(self) -> dict[str, Any]:
        """Return ``check`` and ``callback`` as path functions take them.

        By default the estimator checks only the solution that is used. With "raise" the path
        function checks, and the path ends where it is not reliable. The callback reports the
        progress of the fit to all rows.
        """
        check_choice(self.check, "check", CHECKS)
        callback = None if self._progress is None else self._progress.path_callback()
        return {"check": "ignore" if self.check == "warn" else self.check, "callback": callback}

    @property
    def _pairwise(self) -> bool:
        """Whether X holds kernel values."""
        kernel = getattr(self, "kernel", None)
        return isinstance(kernel, str) and kernel == "precomputed"

    def _rows(self, X: Rows) -> Any:
        """Check rows to predict."""
        check_is_fitted(self)
        return self._validated(X, reset=False)

    def _decision(self, X: Rows) -> Floats:
        X = self._rows(X)
        return self._model.decision(self._model.columns(X), self._place())

    def _place(self) -> float:
        """Return the path's parameter at the solution that is used."""
        raise NotImplementedError

    def plot(self, what: str | None = None, ax: Axes | None = None) -> Axes | list[Axes]:
        """Plot the path with the fitted parameter marked; of several classes one picture each.

        Parameters
        ----------
        what, ax
            see `SolutionPath.plot`; ``ax`` for a single path.

        Returns
        -------
        matplotlib Axes, or a list of them
        """
        check_is_fitted(self)
        if self.path_ is None:
            raise ValueError("y is constant, so that there is no path to plot; fit another y.")
        if isinstance(self.path_, list):
            return [self._plot(path, what, None) for path in self.path_]
        return self._plot(self.path_, what, ax)

    def _plot(self, path: SolutionPath, what: str | None, ax: Axes | None) -> Axes:
        mark, name = self._model.place(path, self._place()), self._axis(path)
        return draw_path(path, what, ax, mark=mark, name=name, unit=self._model.unit)

    def _axis(self, path: SolutionPath) -> str:
        """Return the name of the parameter on a plot's axis."""
        return path.parameter

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what is accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._sparse
        tags.input_tags.pairwise = self._pairwise
        return tags


class Deciding:
    """A classifier of labels without probabilities."""

    @property
    def predict_proba(self) -> Any:
        """Not defined."""
        raise AttributeError(self._no_probabilities("predict_proba"))

    @property
    def predict_log_proba(self) -> Any:
        """Not defined."""
        raise AttributeError(self._no_probabilities("predict_log_proba"))

    def _no_probabilities(self, name: str) -> str:
        return f"{type(self).__name__} has no {name}; {ELSEWHERE['probability']}."


class PathClassifier(ClassifierMixin, Deciding, PathEstimator):
    """A classifier with one path for two classes, or one against the rest for each class.

    Subclasses define ``_path(X, y, weights)`` for two labels.
    """

    _model: OneVsRest
    _path: Callable[..., SolutionPath]

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> OneVsRest:
        return OneVsRest(self._path, X, y, weights)

    def decision_function(self, X: Rows) -> Floats:
        """Return f, (m,) for two classes (positive: the second), else (m, classes).

        Parameters
        ----------
        X : (m, d) array, DataFrame or CSR matrix, or (m, n) matrix of kernel values
        """
        return self._decision(X)

    def predict(self, X: Rows) -> NDArray[Any]:
        """Return (m,) labels: the sign of f, or the class whose f is largest.

        Parameters
        ----------
        X : see `decision_function`
        """
        f = self.decision_function(X)
        return self._model.label(f)


class Linear(PathEstimator):
    """An estimator whose paths have coefficients but no expansion in training rows."""

    @property
    def coef_(self) -> Floats:
        """Coefficients, one row for each path."""
        check_is_fitted(self)
        return self._model.coefs(self._place())

    @property
    def intercept_(self) -> Floats:
        """Biases, one for each path."""
        check_is_fitted(self)
        return self._model.intercepts(self._place())

    @property
    def dual_coef_(self) -> Floats:
        """Not defined."""
        raise AttributeError(self._no_expansion("dual_coef_"))

    @property
    def support_(self) -> NDArray[np.int64]:
        """Not defined."""
        raise AttributeError(self._no_expansion("support_"))

    def _no_expansion(self, name: str) -> str:
        return (
            f"{type(self).__name__} has no {name}: under an l1 penalty w is no combination of "
            "training rows; use coef_, or path_.dual for the slopes of the losses."
        )


@estimator
class Bounded(Linear):
    """A linear estimator whose coefficients have signs, penalty factors and bounds."""

    _: KW_ONLY
    positive: bool = False
    penalty_factor: ArrayLike | None = None
    bounds: Bounds | None = None

    def _coefficients(self) -> dict[str, Any]:
        """Return these parameters, as path functions take them."""
        return self._given("positive", "penalty_factor", "bounds")


@estimator
class Expanded(PathEstimator):
    """An estimator with f(x) = sum_i a_i k(x_i, x) + b for each path."""

    _: KW_ONLY
    kernel: str = "linear"
    gamma: float | str | None = None
    degree: int = 3
    coef0: float = 0.0

    def _support(self) -> tuple[Floats, NDArray[np.int64]]:
        """Return the expansions (paths, n) and the support vectors of any of them, by class."""
        check_is_fitted(self)
        a = self._model.expansions(self._place())
        support = np.flatnonzero(a.any(axis=0))
        if self._model.codes is not None:
            support = support[np.argsort(self._model.codes[support], kind="stable")]
        return a, support

    @property
    def dual_coef_(self) -> Floats:
        """Coefficients a_i of all support vectors, (paths, n_SV)."""
        a, support = self._support()
        return a[:, support]

    @property
    def support_(self) -> NDArray[np.int64]:
        """Rows of X that are support vectors of one of the paths, class by class, (n_SV,)."""
        return self._model.rows[self._support()[1]]

    @property
    def n_support_(self) -> NDArray[np.int64]:
        """Number of support vectors of each class, (classes,); (1,) of a model without classes."""
        support, codes = self._support()[1], self._model.codes
        if codes is None:
            return np.array([len(support)])
        return np.bincount(codes[support], minlength=len(self.classes_))

    @property
    def support_vectors_(self) -> Any:
        """Support vectors, (n_SV, d)."""
        support = self._support()[1]
        if self.kernel == "precomputed":
            raise AttributeError(
                f"{type(self).__name__} with kernel='precomputed' has no support_vectors_, since "
                "it knows no rows; take those of your data that support_ names."
            )
        return self._model.paths[0].rows[support]

    @property
    def coef_(self) -> Floats:
        """Coefficients of a linear model, one row for each path."""
        if self.kernel != "linear":
            raise AttributeError(
                f"{type(self).__name__} with kernel={self.kernel!r} has no coef_, which is one of "
                "linear models; use dual_coef_ and support_ for its expansion in training rows."
            )
        check_is_fitted(self)
        return self._model.coefs(self._place())

    @property
    def intercept_(self) -> Floats:
        """Biases b, one for each path."""
        check_is_fitted(self)
        return self._model.intercepts(self._place())


class PathRegressor(RegressorMixin, PathEstimator):
    """A regression."""

    def predict(self, X: Rows) -> Floats:
        """Return (m,) predicted values.

        Parameters
        ----------
        X : (m, d) array, DataFrame or CSR matrix, or (m, n) matrix of kernel values
        """
        return self._decision(X)


class LinearRegressor(PathRegressor, Linear):
    """A regression with coefficients."""

    @property
    def coef_(self) -> Floats:
        """Coefficients w, (d,)."""
        check_is_fitted(self)
        return self._model.coefs(self._place())[0]

    @property
    def intercept_(self) -> float:  # type: ignore[override]  # one number, as scikit-learn's
        """Intercept b."""
        check_is_fitted(self)
        return float(self._model.intercepts(self._place())[0])
