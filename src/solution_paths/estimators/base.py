"""What all estimators share: checked data, the path, and its parameter given or chosen exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.utils import Tags
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ..curves import Curve, mean_curve
from ..path import Floats, Path
from ..validation import Rows, check_index, check_unmasked, check_vector, plain_labels
from .checking import check_kind, folds, known_labels, naming_rows
from .fitted import OneVsRest, inside

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Fitted(Protocol):
    """What an estimator keeps of its training data: `OneVsRest` or another."""

    @property
    def path(self) -> Path | list[Path] | None:
        """The path, or those of all classes."""

    @property
    def begin(self) -> float:
        """From where on the path is known."""

    @property
    def end(self) -> float:
        """Up to where the path is known."""

    def check(self, t: float, name: str) -> float:
        """Return a parameter as a number that the path covers."""

    def decision(self, X: Any, t: float) -> Floats:
        """Return f at t."""

    def error(self, X: Any, y: NDArray[Any]) -> Curve:
        """Return the mean error as an exact function of the parameter."""


class FittedLine(Fitted, Protocol):
    """What a regression with coefficients keeps."""

    def coef(self, t: float) -> Floats:
        """Return w, (d,)."""

    def intercept(self, t: float) -> float:
        """Return b."""


class PathEstimator(BaseEstimator):
    """Fits a path, and predicts by its solution at one value of its parameter.

    A child gives ``_fitted(X, y)``, and ``_parameter``, the name of the constructor's argument.
    """

    _parameter = ""
    _log = True  # whether its scale is logarithmic
    _sparse = False  # whether CSR matrices are fitted

    def fit(self, X: Rows, y: ArrayLike) -> Self:
        """Fit the whole path, and choose its parameter if ``cv`` is given.

        Parameters
        ----------
        X : (n, d) array or DataFrame, CSR matrix, or (n, n) Gram matrix
            CSR but for `DrLAD` and `DmDrSVC`; ``kernel="precomputed"`` where the model has
            kernels.
        y : (n,) array

        Returns
        -------
        self
        """
        X, y = self._checked(X, y)
        model = self._fitted(self._named(X), y)
        self.path_ = model.path
        chosen = getattr(self, self._parameter)
        if self.cv is not None:
            self.cv_path_ = self._errors(X, y, model)
            best = self.cv_path_.best(log=self._log)
            self.cv_error_, chosen = best.value, best.parameter
        setattr(self, f"{self._parameter}_", model.check(chosen, self._parameter))
        self._model = model
        return self

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn whether the last fit came to its end."""
        return hasattr(self, "_model")

    def _fitted(self, X: Any, y: NDArray[Any]) -> Fitted:
        raise NotImplementedError

    def _errors(self, X: Any, y: NDArray[Any], whole: Fitted) -> Curve:
        """Return the mean of the folds' errors, exactly, for every value of the parameter."""
        curves = []
        for train, test in folds(self.cv, X, y, is_classifier(self)):
            model = self._fitted(*_safe_split(self, X, y, train))
            curves.append(model.error(*_safe_split(self, X, y, test, train)))
        begin = max(whole.begin, *(curve.edges[0] for curve in curves))
        end = min(whole.end, *(curve.edges[-1] for curve in curves))
        return mean_curve([curve.over(begin, end) for curve in curves])

    def _checked(self, X: Rows, y: ArrayLike) -> tuple[Any, NDArray[Any]]:
        """Check and remember what X looks like; classes are remembered as ``classes_``."""
        self.__dict__.pop("_model", None)  # what was fitted before isn't of these data
        accepted = {"accept_sparse": "csr" if self._sparse else False, "dtype": np.float64}
        number = {} if is_classifier(self) else {"y_numeric": True, "ensure_min_samples": 2}
        check_kind(X)
        check_index(X, y, "y")
        y = known_labels(y) if is_classifier(self) else y
        check_unmasked(y, "y")
        with naming_rows():
            X, y = validate_data(self, X, y, **accepted, **number)
        if not is_classifier(self):
            return X, check_vector(y, X.shape[0], "y", scalar=False)
        check_classification_targets(y)
        y = plain_labels(y, X.shape[0], "y")
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            one = y[:1].tolist()[0]
            raise ValueError(f"y holds one class only, {one!r}; select rows of two classes.")
        return X, y

    def _named(self, X: Any) -> Any:
        """Return checked rows with the names that their columns had, for the path to keep."""
        names = getattr(self, "feature_names_in_", None)
        if names is None or sp.issparse(X):
            return X
        from pandas import DataFrame

        return DataFrame(X, columns=names, copy=False)

    def _options(self) -> dict[str, Any]:
        """Return the kernel's parameters and ``check``, as path functions take them."""
        names = ("kernel", "gamma", "degree", "coef0", "check")
        return {name: getattr(self, name) for name in names}

    def _rows(self, X: Rows) -> Any:
        """Check rows to predict."""
        check_is_fitted(self)
        accepted = "csr" if self._sparse else False
        check_kind(X)
        with naming_rows():
            return validate_data(self, X, reset=False, accept_sparse=accepted, dtype=np.float64)

    def _decision(self, X: Rows) -> Floats:
        X = self._rows(X)
        return self._model.decision(X, self._place())

    def _place(self) -> float:
        """Return where on the path the solution is."""
        return float(getattr(self, f"{self._parameter}_"))

    def plot(self, what: str | None = None, ax: Axes | None = None) -> Axes | list[Axes]:
        """Plot the path with the fitted parameter marked; of several classes one picture each.

        Parameters
        ----------
        what, ax
            See `Path.plot`; ``ax`` for a single path.

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

    def _plot(self, path: Path, what: str | None, ax: Axes | None) -> Axes:
        return path.plot(what, ax, mark=inside(path, self._on_path()))

    def _on_path(self) -> float:
        """Return the path's own parameter where the solution is."""
        return self._place()

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what is accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._sparse
        tags.input_tags.pairwise = getattr(self, "kernel", "") == "precomputed"
        return tags


class PathClassifier(ClassifierMixin, PathEstimator):
    """A path for two classes, or one against the rest for each of more.

    A child gives ``_path(X, y)`` for two labels.
    """

    _model: OneVsRest
    _path: Callable[..., Path]

    def _fitted(self, X: Any, y: NDArray[Any]) -> OneVsRest:
        return OneVsRest(self._path, X, y)

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


class LinearClassifier(PathClassifier):
    """A classifier whose paths have coefficients."""

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


class LinearRegressor(RegressorMixin, PathEstimator):
    """A regression with coefficients."""

    _model: FittedLine

    @property
    def coef_(self) -> Floats:
        """Coefficients w."""
        check_is_fitted(self)
        return self._model.coef(self._place())

    @property
    def intercept_(self) -> float:
        """Intercept b."""
        check_is_fitted(self)
        return self._model.intercept(self._place())

    def predict(self, X: Rows) -> Floats:
        """Return predicted values (m,).

        Parameters
        ----------
        X : (m, d) array, DataFrame or CSR matrix
        """
        return self._decision(X)
