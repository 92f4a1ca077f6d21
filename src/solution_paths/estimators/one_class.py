"""The support of one class: which rows are unlike the others."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..models.one_class import one_class_path
from ..solution import Callback
from ..validation import Floats, Rows, check_index
from .base import Expanded
from .bases import OutlierMixin
from .checking import estimator, usable_weights
from .fitted import Fitted
from .judging import judge
from .progress import Progress


@estimator
class PathOneClassSVM(OutlierMixin, Expanded):
    """One-class SVM that knows its solution for every nu; see `one_class_path`.

    Parameters
    ----------
    nu : float, default 0.5
        In (0, 1]: the largest share of training rows that is outside.
    nu_min : float, default 0.0
        Where the path ends, in [0, 1).
    kernel : str, default "rbf"
    gamma, degree, coef0
        See `svm_path`.
    callback
        See `PathSVC`.
    check : {"warn", "raise", "ignore"}
        See `PathSVC`.

    Attributes
    ----------
    path_ : SolutionPath
    offset_ : float
        rho: rows with a smaller score are outside.

    Examples
    --------
    >>> from solution_paths import PathOneClassSVM
    >>> model = PathOneClassSVM(nu=0.3, gamma=1.0).fit([[0.0], [0.5], [1.0], [5.0]])
    >>> model.predict([[0.5], [9.0]]).tolist()
    [1, -1]
    """

    _sparse = True

    nu: float = 0.5
    _: KW_ONLY
    kernel: str = "rbf"
    nu_min: float = 0.0
    callback: Callback | None = None
    check: str = "warn"

    def fit(
        self, X: Rows, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the whole path.

        Parameters
        ----------
        X : (n, d) array, DataFrame or CSR matrix, or (n, n) Gram matrix
        y : object, optional
            Ignored.
        sample_weight : (n,) array, optional
            Weights >= 0; all 1 by default. A sample of weight 0 takes no part.

        Returns
        -------
        self
        """
        self.__dict__.pop("_model", None)
        check_index(X, sample_weight, "sample_weight")
        X = self._validated(X)
        weights = usable_weights(sample_weight, X.shape[0], None)
        with self._reporting(Progress(self.callback)):
            model = self._trained(self._named(X), np.zeros(len(weights)), weights)
        self.path_, nu = model.path, model.check(self.nu, "nu", above=0.0)
        judge(model, nu, f"at nu = {nu:.6g}", self.check, [])
        self.offset_, self._model = float(model.paths[0].free(nu)[0]), model
        return self

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> Fitted:
        options = self._given("nu_min") | self._options()
        return Fitted.of(one_class_path(X, sample_weight=weights, **options))

    def _place(self) -> float:
        return float(self.nu)

    def decision_function(self, X: Rows) -> Floats:
        """Return w.phi(x) - rho, (m,): negative outside.

        Parameters
        ----------
        X : (m, d) array, DataFrame or CSR matrix, or (m, n) matrix of kernel values
        """
        return self._decision(X)

    def score_samples(self, X: Rows) -> Floats:
        """Return w.phi(x), (m,).

        Parameters
        ----------
        X : see `decision_function`
        """
        return self.decision_function(X) + self.offset_

    def predict(self, X: Rows) -> NDArray[Any]:
        """Return 1 inside, -1 outside, (m,).

        Parameters
        ----------
        X : see `decision_function`
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)
