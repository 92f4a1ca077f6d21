"""Linear quantile regression of several quantiles, whose penalty is given, or chosen exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from ..models.noncrossing_quantiles import noncrossing_quantiles_path
from ..models.quantile_regression import quantile_regression_path
from ..solution import Callback, SolutionPath
from ..solution.curves import Curve, mean_curve
from ..solution.distribution import PredictedDistribution, central, parts
from ..solution.metrics import Metric
from ..solution.tolerances import TIED
from ..validation import Floats, Rows, check_flag, check_levels, check_number
from ..verify.verdict import Certificate
from .base import Linear, PathRegressor
from .checking import estimator
from .fitted import Fitted, Followed, followed
from .progress import Progress
from .relative import error_of_constant
from .tuning import Tuned

MEDIAN = 0.5


class SeparateQuantiles(Fitted):
    """Quantiles fitted separately: the path in tau at the lam used, and in folds paths in lam.

    Parameters
    ----------
    follow : callable
        Returns a path, given the varying parameter and the fixed ones.
    levels : (q,) array
        The quantiles whose paths in lam give a fold's error.
    lam_min : float
    penalised : bool
    """

    def __init__(
        self, follow: Callable[..., SolutionPath], levels: Floats, lam_min: float, penalised: bool
    ):
        super().__init__([])
        self.follow, self.levels, self.penalised = follow, levels, penalised
        self.begin = check_number(lam_min, "lam_min", least=0)

    def follow_tau(self, lam: float, callback: Callback | None) -> None:
        """Follow the path in tau at a lam."""
        fixed = {"lam": lam} if self.penalised else {}
        self.paths, self.labels = [self.follow(callback=callback, **fixed)], [None]

    def error(
        self, X: Any, y: NDArray[Any], metric: Metric, weights: Floats, classes: Any = None
    ) -> Curve:
        """Return the mean of the pinball losses of all quantiles as an exact function of lam."""
        follow_lam = partial(followed, self.follow, vary="lam", lam_min=self.begin)
        paths = [follow_lam(tau=tau) for tau in self.levels.tolist()]
        super().__init__(paths)
        curves = [path._error_curve(X, y, metric, weights) for path in self.paths]
        return mean_curve([curve.over(self.begin, self.end) for curve in curves])

    def certificates(self, t: float) -> list[tuple[Any, SolutionPath, Certificate]]:
        """Return certificates that are not reliable: of quantiles in tau, or of lam = t."""
        if self.paths[0].parameter == "lam":
            return super().certificates(t)
        certificate = self.paths[0].certify(at=self.levels)
        return [] if certificate.reliable else [(None, self.paths[0], certificate)]

    @property
    def known(self) -> tuple[float, float]:
        """The least and the largest quantile that is known."""
        return 0.0, 1.0

    def median(self, X: Any, t: float) -> Floats:
        """Return the predictions (m,) of the median's line."""
        return np.asarray(self.paths[0].predict(X, MEDIAN))

    def distribution(self, X: Any, t: float) -> PredictedDistribution:
        """Return the distributions that all quantiles define."""
        return PredictedDistribution.of_path(self.paths[0], X)

    def lines(self, t: float) -> tuple[Floats, Floats]:
        """Return coefficients (q, d) and intercepts (q,) of the quantiles."""
        return self.paths[0].coef(self.levels).T, self.paths[0].intercept(self.levels)


class NoncrossingQuantiles(Fitted):
    """Quantiles that don't cross: one path in lam."""

    def __init__(self, path: SolutionPath, levels: Floats):
        super().__init__([Followed(path, *path.range, None)])
        self.levels = levels

    @property
    def known(self) -> tuple[float, float]:
        """The least and the largest quantile that is known."""
        return float(self.levels[0]), float(self.levels[-1])

    def median(self, X: Any, t: float) -> Floats:
        """Return the medians (m,), by lines between the quantiles that are known."""
        return self.distribution(X, t).quantile(MEDIAN)

    def distribution(self, X: Any, t: float) -> PredictedDistribution:
        """Return the distributions that the quantiles define."""
        at, reading = self.place(self.paths[0], t), self.paths[0].reading
        known = self.paths[0].decision_function(X, at).reshape(X.shape[0], -1)
        sizes = reading.sizes(reading.checked(X), *self.paths[0]._at(at))
        return PredictedDistribution.between(self.levels, known, sizes.max(axis=(1, 2)))

    def lines(self, t: float) -> tuple[Floats, Floats]:
        """Return coefficients (q, d) and intercepts (q,) of the quantiles."""
        place = self.place(self.paths[0], t)
        coef = self.paths[0].coef(place).reshape(len(self.levels), -1)
        return coef, np.atleast_1d(self.paths[0].intercept(place))


@estimator
class PathQuantileRegressor(PathRegressor, Linear, Tuned):
    """Linear quantile regression of all quantiles; see `quantile_regression_path`.

    Parameters
    ----------
    lam : float, default 0.001
        Weight of the penalty, >= 0; ignored with ``cv``, and without a penalty.
    quantiles : sequence of float, default (0.1, 0.5, 0.9)
        Ascending, in (0, 1): lam is chosen by the mean of their losses, and ``predict_quantiles``
        returns them by default.
    penalty : {"l2", "l1"} or None
    noncrossing : bool, default False
        Whether the quantiles are fitted together so that they don't cross, see
        `noncrossing_quantiles_path`. Other quantiles are then interpolated linearly.
    lam_min : float, default 0.0
        Where paths in lam end, >= 0.
    cv : int, splitter or iterable of (train, test), optional
        Choose lam exactly, one for all quantiles: the pinball losses, averaged over quantiles and
        folds, are minimised over all lam.
    rule, n_jobs, callback, check
        See `PathSVC`.

    Attributes
    ----------
    path_ : SolutionPath
        In tau, at the lam that is used; with ``noncrossing`` in lam.
    lam_ : float
        The weight that is used; 0 without a penalty.
    coef_ : (q, d) array
        Of the lines of all quantiles.
    intercept_ : (q,) array
    crossings_ : int
        At how many of the training rows lines of the quantiles cross.

    Examples
    --------
    >>> from solution_paths import PathQuantileRegressor
    >>> X, y = [[0.0], [0.0], [1.0], [1.0], [1.0]], [1.0, 2.0, 0.0, 3.0, 5.0]
    >>> model = PathQuantileRegressor(quantiles=(0.2, 0.4, 0.9), penalty=None).fit(X, y)
    >>> model.predict_quantiles([[0.0], [1.0]]).round(9).tolist()
    [[1.0, 1.0, 2.0], [0.0, 3.0, 5.0]]
    >>> model.predict_distribution([[1.0]]).mean().round(9).tolist()
    [2.666666667]
    """

    _parameter = "lam"
    _stronger = "larger"
    _kind = "quantile"
    _sparse = True
    _model: SeparateQuantiles | NoncrossingQuantiles = field(init=False)
    scoring = "pinball"

    lam: float = 1e-3
    _: KW_ONLY
    quantiles: Sequence[float] = (0.1, 0.5, 0.9)
    penalty: str | None = "l2"
    noncrossing: bool = False
    lam_min: float = 0.0

    def _fitted(self, X: Any, y: NDArray[Any], weights: Floats | None) -> Fitted:
        levels = check_levels(self.quantiles, ascending=True)
        if self.penalty is None and (self.cv is not None or self.noncrossing is True):
            raise ValueError(
                "Without a penalty there is no lam for cv to choose, nor for noncrossing: pass "
                'penalty="l2" or "l1".'
            )
        options = self._given("penalty") | self._check() | {"sample_weight": weights}
        if check_flag(self.noncrossing, "noncrossing"):
            options |= self._given("lam_min")
            return NoncrossingQuantiles(noncrossing_quantiles_path(X, y, levels, **options), levels)
        options.pop("callback")  # the path in tau reports progress
        follow = partial(quantile_regression_path, X, y, **options)
        return SeparateQuantiles(follow, levels, self.lam_min, self.penalty is not None)

    def _completed(self, model: Any, chosen: float, progress: Progress) -> float:
        if isinstance(model, SeparateQuantiles):
            model.follow_tau(chosen, progress.path_callback())
        return chosen if self.penalty is not None else 0.0

    def predict(self, X: Rows) -> Floats:
        """Return the medians, (m,).

        Parameters
        ----------
        X : (m, d) array, DataFrame or CSR matrix
        """
        X = self._rows(X)
        self._check_known(np.array([MEDIAN]))
        return self._model.median(X, self._place())

    def predict_quantiles(self, X: Rows, quantiles: ArrayLike | None = None) -> Floats:
        """Return quantiles, (m, k), which ascend: where lines cross, rearranged exactly.

        Parameters
        ----------
        X : see `predict`
        quantiles : (k,) array, optional
            In [0, 1]; by default those of the constructor, and with ``noncrossing`` between these.
        """
        levels = check_levels(self.quantiles if quantiles is None else quantiles)
        X = self._rows(X)
        self._check_known(levels)
        return np.concatenate(
            [distribution.quantile(levels) for distribution in self._distributions(X)]
        )

    def predict_interval(self, X: Rows, coverage: float = 0.8) -> Floats:
        """Return central intervals, (m, 2), of a probability.

        Parameters
        ----------
        X : see `predict`
        coverage : float, default 0.8
        """
        return self.predict_quantiles(X, central(coverage))

    def predict_distribution(self, X: Rows) -> PredictedDistribution:
        """Return distributions: distribution functions, means, CRPS and samples.

        With ``noncrossing`` quantile functions are linear between the quantiles, constant beyond.

        Parameters
        ----------
        X : see `predict`
        """
        X = self._rows(X)
        return self._model.distribution(X, self._place())

    def crossings(self, X: Rows) -> NDArray[np.int64]:
        """Return in how many neighbouring pairs the quantiles' lines cross at each row, (m,).

        Predicted quantiles are rearranged; ``predict_distribution(X).crossings`` counts where the
        curve of all quantiles falls.

        Parameters
        ----------
        X : see `predict`
        """
        return self._crossings(self._rows(X))

    def _crossings(self, X: Any) -> NDArray[np.int64]:
        coef, bias = self._model.lines(self._place())
        size = abs(X) @ np.abs(coef).max(axis=0) + np.abs(bias).max()
        falls = np.diff(X @ coef.T + bias, axis=1) < -TIED * size[:, None]
        return np.asarray(falls.sum(axis=1))

    @property
    def crossings_(self) -> int:
        """How many training rows have quantiles whose lines cross."""
        check_is_fitted(self)
        return int(np.count_nonzero(self._crossings(self._model.paths[0].rows)))

    @property
    def coef_(self) -> Floats:
        """Coefficients of the quantiles' lines, (q, d)."""
        check_is_fitted(self)
        return self._model.lines(self._place())[0]

    @property
    def intercept_(self) -> Floats:
        """Intercepts of the quantiles' lines, (q,)."""
        check_is_fitted(self)
        return self._model.lines(self._place())[1]

    def score(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of the quantiles' pinball losses that is explained, D^2.

        1 is best, and constants get 0: see `sklearn.metrics.d2_pinball_score`, which has one
        quantile.

        Parameters
        ----------
        X, y : see `fit`
        sample_weight : (m,) array, optional
        """
        residuals = np.asarray(y, dtype=np.float64)[:, None] - self.predict_quantiles(X)
        weights = np.ones(len(residuals)) if sample_weight is None else np.asarray(sample_weight)
        tau = check_levels(self.quantiles)
        pinball_loss = np.average(
            np.maximum(tau * residuals, (tau - 1.0) * residuals), axis=0, weights=weights
        ).sum()
        name, y = "d2_pinball_score", np.asarray(y)
        constant = sum(error_of_constant(name, y, weights, level) for level in tau.tolist())
        return (
            float(1.0 - pinball_loss / constant) if constant > 0.0 else float(pinball_loss == 0.0)
        )

    def _distributions(self, X: Any) -> Iterator[PredictedDistribution]:
        """Yield the distributions of rows, part by part."""
        for part in parts(self._model.paths[0], X.shape[0]):
            yield self._model.distribution(X[part], self._place())

    def _check_known(self, levels: Floats) -> None:
        """Refuse quantiles beyond those that are known."""
        low, high = self._model.known
        if levels.min() < low - TIED or levels.max() > high + TIED:
            raise ValueError(
                f"Quantiles from {low:g} to {high:g} alone are known with noncrossing=True: fit "
                "more of them, in quantiles, or with noncrossing=False."
            )

    def _plot(self, path: SolutionPath, what: str | None, ax: Any) -> Any:
        if path.parameter == "tau":
            return path.plot(what, ax)
        return super()._plot(path, what, ax)
