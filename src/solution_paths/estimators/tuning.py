"""Estimators whose parameter is given, or chosen exactly by cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import KW_ONLY
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.parallel import Parallel, delayed

from ..errors import PathWarning
from ..solution import Callback, SolutionPath
from ..solution.curves import Curve, MeanCurve
from ..solution.metrics import DECISIONS, JUDGED, SYNONYMS, Metric, check_metric
from ..validation import Floats, Rows, callers_level, check_choice, check_index
from .base import PathEstimator
from .checking import (
    Folds,
    check_class_weight,
    check_jobs,
    estimator,
    folds,
    remedy_of_folds,
    usable_weights,
)
from .fitted import Fitted
from .judging import judge, warn_of_truncation
from .progress import Progress
from .relative import RELATIVE, error_of_constant, relative_curve

RULES = ("min", "1se")


@estimator
class Tuned(PathEstimator):
    """An estimator whose parameter is given, or chosen by cross-validation with ``cv``.

    Subclasses define ``_parameter``, the name of the constructor's argument, and its meaning.
    """

    _parameter = ""
    _above: ClassVar[float | None] = None  # an exclusive lower bound of the parameter
    _stronger: ClassVar[str | None] = None  # "larger" or "smaller" values are the stronger penalty
    _kind = "sign"  # what its paths predict, which decides the possible errors: see `Reading`

    _: KW_ONLY
    cv: Folds = None
    rule: str = "min"
    n_jobs: int | None = None
    callback: Callback | None = None
    check: str = "warn"

    def fit(
        self,
        X: Rows,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Fit the whole path, and choose its parameter if ``cv`` is given.

        Parameters
        ----------
        X : (n, d) array or DataFrame, CSR matrix, or (n, n) Gram matrix
            ``kernel="precomputed"`` where the model has kernels.
        y : (n,) array
        sample_weight : (n,) array, optional
            Weights >= 0 of the samples' losses and, with ``cv``, of their errors in folds; all 1 by
            default. A sample of weight 0 takes no part, and has no dual in ``path_``.
        groups : (n,) array, optional
            Groups for splitters such as GroupKFold.
        **params
            Further arguments of the splitter, with scikit-learn's metadata routing.

        Returns
        -------
        self
        """
        split = self._for_splitter(sample_weight, groups, params)
        check_index(X, sample_weight, "sample_weight")
        check_index(X, groups, "groups")
        X, y = self._checked(X, y)
        classes = y if is_classifier(self) else None
        if classes is not None:
            check_class_weight(getattr(self, "class_weight", None), self.classes_)
        weights = usable_weights(sample_weight, X.shape[0], classes)
        pairs = self._pairs(X, y, split)
        progress = Progress(self.callback, self._count_of_paths(), len(pairs))
        with self._reporting(progress):
            model = self._trained(self._named(X), y, weights)
        self.path_ = model.path
        chosen = getattr(self, self._parameter)
        of_folds: list[Fitted] = []
        if pairs:
            with progress.unchanged:
                chosen, of_folds = self._chosen(X, y, weights, model, pairs, progress)
        chosen = model.check(chosen, self._parameter, self._above)
        with progress.unchanged:
            chosen = self._completed(model, chosen, progress)
        self.path_ = model.path
        judge(model, chosen, f"at {self._parameter} = {chosen:.6g}", self.check, of_folds)
        setattr(self, f"{self._parameter}_", chosen)
        self._model = model
        return self

    def _completed(self, model: Any, chosen: float, progress: Progress) -> float:
        """Finish the model with the chosen parameter; return the parameter that is used."""
        return chosen

    def _axis(self, path: SolutionPath) -> str:
        return self._parameter

    def _place(self) -> float:
        """Return the parameter that is used."""
        return float(getattr(self, f"{self._parameter}_"))

    # -- cross-validation ----------------------------------------------------------------------

    def _pairs(self, X: Any, y: NDArray[Any], split: dict[str, Any]) -> list[tuple[Any, Any]]:
        """Return the training and test rows of folds; none without ``cv``."""
        if self.cv is None:
            return []
        self._check_choice()
        return folds(self.cv, X, y, is_classifier(self), **split)

    def _chosen(
        self,
        X: Any,
        y: NDArray[Any],
        weights: Floats,
        whole: Fitted,
        pairs: list[tuple[Any, Any]],
        progress: Progress,
    ) -> tuple[float, list[Fitted]]:
        """Return the parameter that the folds choose, and the models fitted to them."""
        pairs = self._usable(pairs, y, weights)
        worker, fits, progress.parts = copy(self), [], 1 + len(pairs)
        worker.callback = None  # it may not be picklable
        for model, curve in Parallel(n_jobs=self.n_jobs, return_as="generator")(
            delayed(_in_silence)(fold) for fold in worker._folds(X, y, weights, pairs)
        ):
            fits.append((model, curve))
            progress.end_fold(sum(path.diagnostics.get("events", 0) for path in model.paths))
        models = [model for model, _ in fits]
        begin = max(whole.begin, *(model.begin for model in models))
        end = min(whole.end, *(model.end for model in models))
        errors = [error for model in (whole, *models) for error in model.errors]
        warn_of_truncation(self._parameter, begin, end, errors, self.check)
        curves = [curve.over(begin, end) for _, curve in fits]
        if begin == self._above:  # which itself is not feasible
            curves = [curve.opened() for curve in curves]
        curve = MeanCurve.of(curves)
        self.cv_path_, self.cv_paths_ = curve, list(curve.parts)
        if self.rule == "min":
            best = curve.best()
            self.cv_error_ = best.value
            return best.parameter, models
        chosen = curve.simplest(larger=self._stronger == "larger")
        self.cv_error_ = float(curve(chosen))
        return chosen, models

    def _usable(self, pairs: list[Any], y: NDArray[Any], weights: Floats) -> list[Any]:
        """Return the folds that can be fitted and tested; warn about the others."""
        reasons = [self._useless(y, weights, *pair) for pair in pairs]
        unusable = [f"fold {k + 1} of {len(pairs)} ({why})" for k, why in enumerate(reasons) if why]
        if not unusable:
            return pairs
        named, remedy = "; ".join(unusable), "pass fewer or shuffled folds"
        if is_classifier(self):
            remedy = remedy_of_folds(y, weights, self._parameter)
        kept = [pair for pair, why in zip(pairs, reasons, strict=True) if why is None]
        if not kept:
            raise ValueError(f"cv has no fold to choose {self._parameter} by: {named}; {remedy}.")
        if self.check != "ignore":
            text = f"cv chooses {self._parameter} without {named}; {remedy}."
            warnings.warn(text, PathWarning, stacklevel=callers_level())
        return kept

    def _useless(
        self, y: NDArray[Any], weights: Floats, train: NDArray[Any], test: NDArray[Any]
    ) -> str | None:
        """Return why a fold can't be fitted or tested; None where it can."""
        if not weights[test].any():
            return "its test rows have weight 0"
        targets = y[train][weights[train] > 0]
        if not len(targets):
            return "its training rows have weight 0"
        test_classes = np.unique(y[test][weights[test] > 0])
        if len(test_classes) < 2 and self._metric().name == "roc_auc":  # it needs both
            return f"its test rows hold the class {test_classes.tolist()[0]!r} alone"
        return self._unfit(targets)

    def _unfit(self, y: NDArray[Any]) -> str | None:
        """Return why training targets leave nothing to fit, or None."""
        if is_classifier(self) and len(np.unique(y)) < 2:
            return f"its training rows hold the class {y[:1].tolist()[0]!r} alone"
        return None

    def _check_choice(self) -> None:
        """Check the arguments that decide how the parameter is chosen."""
        self._metric()
        check_choice(self.rule, "rule", RULES)
        check_jobs(self.n_jobs)
        if self.rule == "1se" and self._stronger is None:
            raise ValueError(
                f'rule="1se" asks for the strongest penalty, and {self._parameter} is none; use '
                'rule="min".'
            )

    def _metric(self) -> Metric:
        """Return the error that is compared; of a relative one its numerator."""
        names = JUDGED[self._kind]
        if self._kind in DECISIONS:  # errors of labels only
            names = tuple(name for name in names if name not in ("absolute", "squared"))
        classes = self.classes_ if is_classifier(self) else ()
        synonyms = SYNONYMS if len(classes) else SYNONYMS | RELATIVE
        given = () if self.scoring is None else self.scoring
        return check_metric(given, names, self._kind, classes, "scoring", synonyms)

    def _folds(
        self, X: Any, y: NDArray[Any], weights: Floats, pairs: list[tuple[Any, Any]]
    ) -> list[Callable[[], tuple[Fitted, Curve]]]:
        """Return functions that fit and test each fold."""
        return [partial(self._fold, X, y, weights, *pair) for pair in pairs]

    def _fold(
        self, X: Any, y: NDArray[Any], weights: Floats, train: NDArray[Any], test: NDArray[Any]
    ) -> tuple[Fitted, Curve]:
        """Return the model fitted to a fold, and its error."""
        train_rows, labels = _safe_split(self, X, y, train)
        model = self._trained(train_rows, labels, weights[train])
        rows, targets = _safe_split(self, X, y, test, train)
        return model, self._error(model, model.columns(rows), targets, weights[test])

    def _error(self, model: Any, X: Any, y: NDArray[Any], weights: Floats) -> Curve:
        """Return a fold's error as an exact function of the parameter."""
        metric = self._metric()
        if is_classifier(self):
            return model.error(X, y, metric, weights, self.classes_)
        curve = model.error(X, y, metric, weights)
        name = self.scoring if isinstance(self.scoring, str) else self.scoring[0]
        if name not in RELATIVE:
            return curve
        tau = 0.5 if name != "d2_pinball_score" else metric.level
        tau = self.tau if tau is None else tau
        return relative_curve(curve, error_of_constant(name, y, weights, tau))

    # -- metadata ------------------------------------------------------------------------------

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the routing of arguments to the splitter; see scikit-learn's metadata routing.

        Returns
        -------
        MetadataRouter
        """
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        )

    def _for_splitter(
        self,
        sample_weight: ArrayLike | None,
        groups: ArrayLike | None,
        params: dict[str, Any],
    ) -> dict[str, Any]:
        """Return the splitter's arguments other than rows and targets."""
        _raise_for_params(params, self, "fit")
        arguments = {"sample_weight": sample_weight, "groups": groups}
        given = {name: value for name, value in arguments.items() if value is not None}
        if _routing_enabled():
            return dict(process_routing(self, "fit", **given, **params).splitter.split)
        return {} if groups is None else {"groups": groups}


def _in_silence(fold: Callable[[], tuple[Fitted, Curve]]) -> tuple[Fitted, Curve]:
    """Fit and test a fold without warnings: the fit to all rows has given them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PathWarning)
        return fold()
