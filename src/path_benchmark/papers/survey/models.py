"""The models of the survey: for each its path, its problem at a parameter, a special solver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

import solution_paths as sp
from solution_paths.kernels import Kernel
from solution_paths.problem import Losses, Pieces, Problem, losses

from ...data.protocols import fit_scaler, fit_standardiser
from .rivals import Descent, Libsvm

Floats = np.ndarray
RIDGE, TUBE, QUANTILE = 1.0, 0.1, 0.5  # lam2, epsilon and tau where they are fixed
CLASSES, QUERY = 3, 10  # number of ordered classes of targets, number of rows of a query


@dataclass(frozen=True, eq=False)
class Data:
    """Standardised rows, standardised targets or labels, and random sample weights.

    ``seed`` determines the weights.
    """

    X: Floats
    y: Floats
    seed: np.random.SeedSequence

    @classmethod
    def of(
        cls, X: Any, y: Floats, rows: int | None, features: int | None, seed: np.random.SeedSequence
    ) -> Data:
        """Return random rows and the first features of a data set, standardised."""
        picked = np.sort(np.random.default_rng(seed).permutation(len(y))[:rows])
        X, y = np.asarray(X)[picked, :features], y[picked]
        X = fit_scaler(X, "standardise").transform(X)
        real = len(np.unique(y)) > 2
        return cls(X, fit_standardiser(y).transform(y) if real else y, seed)

    @property
    def kernel(self) -> dict[str, Any]:
        """The path functions' arguments for the kernel."""
        return {"kernel": "rbf", "gamma": 1.0 / self.X.shape[1]}

    @cached_property
    def K(self) -> Floats:
        """The kernel's matrix."""
        K = Kernel("rbf", 1.0 / self.X.shape[1])(self.X, self.X)
        return (K + K.T) / 2

    @cached_property
    def weights(self) -> tuple[Floats, Floats]:
        """Sample weights at the start and at the end of a path."""
        rng = np.random.default_rng(self.seed.spawn(1)[0])
        return np.ones(len(self.y)), rng.uniform(0.0, 2.0, len(self.y))

    def weights_at(self, theta: float) -> Floats:
        """Return the sample weights at theta, which interpolate linearly."""
        first, last = self.weights
        return (1 - theta) * first + theta * last

    @property
    def classes(self) -> Floats:
        """Ordered classes of equal size, by the target."""
        return np.argsort(np.argsort(self.y, kind="stable")) * CLASSES // len(self.y)

    @property
    def signal(self) -> Floats:
        """The target, ordered by its most correlated feature."""
        best = np.argmax(np.abs(self.X.T @ self.y))
        return self.y[np.argsort(self.X[:, best], kind="stable")]

    @property
    def queries(self) -> Floats:
        """The query of each row."""
        return np.arange(len(self.y)) // QUERY


@dataclass(frozen=True)
class Model:
    """A model of the survey along one of its parameters.

    Attributes
    ----------
    title : str
    function : str
        Name in `solution_paths`.
    row : str
        Row of the dissertation's Tables 2.1 and 2.2; empty: from sections 2.2.9 and 2.3.6.
    path : callable
        Data -> path, by the public function.
    stated : callable, optional
        (Data, parameter) -> `Problem`, if the path's statement is not used.
    rival : callable, optional
        Data -> a special solver, besides those for all problems.
    """

    title: str
    function: str
    row: str
    path: Callable[[Data], Any]
    stated: Callable[[Data, float], Problem] | None = None
    rival: Callable[[Data], Descent | Libsvm] | None = None

    def problem(self, data: Data, path: Any, t: float) -> Problem:
        """Return the problem at a parameter, up to a factor of the objective."""
        if self.stated is not None:
            return self.stated(data, t)
        return path.line.at(float(path.scale.statement_value(np.array([t]))[0]))


# ---------------------------------------------------------------- statements of older functions


def _machine(loss: Pieces, data: Data, kernel: bool) -> Problem:
    group = Losses(loss, None if kernel else data.X, free=1.0)
    return Problem(group, ridge=1.0, kernel=data.K if kernel else None)


def _svm(data: Data, C: float, kernel: bool) -> Problem:
    return _machine(losses.hinge(data.y, C), data, kernel)


def _weighted_svm(data: Data, theta: float) -> Problem:
    return _machine(losses.hinge(data.y, data.weights_at(theta)), data, kernel=True)


def _weighted_svr(data: Data, theta: float) -> Problem:
    loss = losses.epsilon_insensitive(data.y, TUBE, data.weights_at(theta))
    return _machine(loss, data, kernel=True)


# ---------------------------------------------------------------- LIBSVM, with the same parameters


def _libsvm(name: str, at: Callable[[Data, float], dict[str, Any]], kernel: bool = True) -> Any:
    """Return a function that makes a `Libsvm`; ``at`` gives its settings and sample weights."""

    def make(data: Data) -> Libsvm:
        X = data.K if kernel else data.X
        return Libsvm(name, X, data.y, partial(at, data), "precomputed" if kernel else "linear")

    return make


_COST = partial(_libsvm, at=lambda data, C: {"C": C})


def _weighted(data: Data, theta: float) -> dict[str, Any]:
    return {"C": 1.0, "sample_weight": data.weights_at(theta)}


# ---------------------------------------------------------------- all models

REGRESSION = {
    "lasso": Model(
        "lasso",
        "lasso_path",
        "Lasso",
        lambda D: sp.lasso_path(D.X, D.y, fit_intercept=True),
        rival=lambda D: Descent(D.X, D.y),
    ),
    "elastic_net": Model(
        "elastic net",
        "elastic_net_path",
        "EN regression",
        lambda D: sp.elastic_net_path(D.X, D.y, lam2=RIDGE),
        rival=lambda D: Descent(D.X, D.y, RIDGE),
    ),
    "huber": Model(
        "Huber loss, l1",
        "almost_quadratic_path",
        "AQ regression",
        lambda D: sp.almost_quadratic_path(D.X, D.y),
    ),
    "rlad": Model(
        "LAD, l1",
        "rlad_path",
        "RLAD",
        lambda D: sp.rlad_path(D.X, D.y),
    ),
    "rlad_s": Model(
        "LAD, l1 constraint",
        "rlad_path",
        "RLAD",
        lambda D: sp.rlad_path(D.X, D.y, vary="s"),
    ),
    "svr": Model(
        "eps-SVR, RBF",
        "svr_path",
        "e-SVR",
        lambda D: sp.svr_path(D.X, D.y, vary="lam", epsilon=TUBE, **D.kernel),
        rival=_libsvm("SVR", lambda data, lam: {"C": 1.0 / lam, "epsilon": TUBE}),
    ),
    "svr_epsilon": Model(
        "eps-SVR, RBF",
        "svr_path",
        "e-SVR",
        lambda D: sp.svr_path(D.X, D.y, vary="epsilon", **D.kernel),
        rival=_libsvm("SVR", lambda data, epsilon: {"C": 1.0, "epsilon": epsilon}),
    ),
    "generalized_lasso": Model(
        "fused lasso of a signal",
        "generalized_lasso_path",
        "Generalized Lasso",
        lambda D: sp.generalized_lasso_path(D.signal, np.diff(np.eye(len(D.y)), axis=0)),
    ),
    "weighted_svr": Model(
        "weighted SVR, RBF",
        "weighted_svr_path",
        "WSVR",
        lambda D: sp.weighted_svr_path(D.X, D.y, *D.weights, TUBE, **D.kernel),
        _weighted_svr,
        _libsvm("SVR", lambda data, theta: {"epsilon": TUBE, **_weighted(data, theta)}),
    ),
    "kernel_quantile_tau": Model(
        "kernel quantile regression",
        "kernel_quantile_path",
        "",
        lambda D: sp.kernel_quantile_path(D.X, D.y, lam=0.1, gamma=D.kernel["gamma"]),
    ),
    "kernel_quantile_lam": Model(
        "kernel quantile regression",
        "kernel_quantile_path",
        "",
        lambda D: sp.kernel_quantile_path(
            D.X, D.y, vary="lam", tau=QUANTILE, gamma=D.kernel["gamma"]
        ),
    ),
    "ordinal": Model(
        "ordinal regression",
        "svor_path",
        "",
        lambda D: sp.svor_path(D.X, D.classes),
    ),
    "multicategory": Model(
        "multicategory SVM",
        "multicategory_svm_path",
        "",
        lambda D: sp.multicategory_svm_path(D.X, D.classes),
    ),
    "ranking": Model(
        "ranking SVM",
        "ranking_svm_path",
        "",
        lambda D: sp.ranking_svm_path(D.X, scores=D.y, queries=D.queries),
    ),
}
CLASSIFICATION = {
    "svm": Model(
        "l2-SVM, linear",
        "svm_path",
        "l2-SVM",
        lambda D: sp.svm_path(D.X, D.y),
        partial(_svm, kernel=False),
        _COST("SVC", kernel=False),
    ),
    "svm_rbf": Model(
        "l2-SVM, RBF",
        "svm_path",
        "l2-SVM",
        lambda D: sp.svm_path(D.X, D.y, **D.kernel),
        partial(_svm, kernel=True),
        _COST("SVC"),
    ),
    "l1_svm": Model(
        "l1-SVM",
        "l1_svm_path",
        "l1-SVM",
        lambda D: sp.l1_svm_path(D.X, D.y),
    ),
    "l1_svm_s": Model(
        "l1-SVM, constraint",
        "l1_constrained_svm_path",
        "l1-SVM",
        lambda D: sp.l1_constrained_svm_path(D.X, D.y),
    ),
    "drsvm": Model(
        "doubly regularised SVM",
        "drsvm_path",
        "DrSVM",
        lambda D: sp.drsvm_path(D.X, D.y, lam2=0.1),
    ),
    "drsvm_lam2": Model(
        "doubly regularised SVM",
        "drsvm_path",
        "DrSVM",
        lambda D: sp.drsvm_path(D.X, D.y, vary="lam2", lam1=0.01),
    ),
    "nu_svm": Model(
        "nu-SVM, RBF",
        "nu_svm_path",
        "nu-SVM",
        lambda D: sp.nu_svm_path(D.X, D.y, **D.kernel),
        rival=_libsvm("NuSVC", lambda data, nu: {"nu": nu}),
    ),
    "weighted_svm": Model(
        "weighted SVM, RBF",
        "weighted_svm_path",
        "WSVC",
        lambda D: sp.weighted_svm_path(D.X, D.y, *D.weights, **D.kernel),
        _weighted_svm,
        _libsvm("SVC", _weighted),
    ),
    "squared_hinge": Model(
        "squared hinge, l1",
        "almost_quadratic_path",
        "",
        lambda D: sp.almost_quadratic_path(D.X, D.y, loss="squared_hinge"),
    ),
    "hhsvm": Model(
        "hybrid Huberised SVM",
        "hhsvm_path",
        "",
        lambda D: sp.hhsvm_path(D.X, D.y, lam2=RIDGE),
    ),
    "one_class": Model(
        "one-class SVM, RBF",
        "one_class_path",
        "",
        lambda D: sp.one_class_path(D.X, **D.kernel),
        rival=_libsvm("OneClassSVM", lambda data, nu: {"nu": nu}),
    ),
    "asymmetric": Model(
        "two costs, RBF",
        "asymmetric_svm_path",
        "",
        lambda D: sp.asymmetric_svm_path(D.X, D.y, **D.kernel),
        rival=_libsvm(
            "SVC",
            lambda data, share: {
                "C": 1.0,
                "sample_weight": np.where(data.y > 0, share, 1.0 - share),
            },
        ),
    ),
    "pin_svm": Model(
        "pinball SVM, RBF",
        "pin_svm_path",
        "",
        lambda D: sp.pin_svm_path(D.X, D.y, **D.kernel),
    ),
    "pin_twin_svm": Model(
        "pinball twin SVM",
        "pin_twin_svm_path",
        "",
        lambda D: sp.pin_twin_svm_path(D.X, D.y),
    ),
}
MODELS = {**REGRESSION, **CLASSIFICATION}
