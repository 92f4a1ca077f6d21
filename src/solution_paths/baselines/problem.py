"""The problem every baseline is given, and the answer every baseline gives back."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

KERNELS = ("linear", "rbf", "poly", "precomputed")


@dataclass(frozen=True, eq=False)
class HingeProblem:
    """A support vector machine with one cost for each sample.

    minimise  lam/2 ||w||^2 + sum_i costs_i max(0, 1 - y_i (w . phi(x_i) + b))

    Parameters
    ----------
    X : (n, d) array or sparse matrix; (n, n) Gram matrix for ``kernel="precomputed"``
    y : (n,) array of -1 and +1
    costs : (n,) array, not negative
    lam : float, positive
    intercept_scaling : float
        The bias is the weight of an appended feature of this value, and is penalised with the
        others: b = intercept_scaling * w_bias. 0 means no bias. Ignored with ``free_bias``.
    free_bias : bool
        b is free and not penalised; the dual then has the balance sum_i alpha_i y_i = 0.
    kernel : {"linear", "rbf", "poly", "precomputed"}
        rbf is exp(-gamma ||x - x'||^2), poly is (gamma x.x' + coef0)^degree.
    """

    X: Any
    y: np.ndarray
    costs: np.ndarray
    lam: float
    intercept_scaling: float = 1.0
    free_bias: bool = False
    kernel: str = "linear"
    gamma: float | None = None
    degree: int = 3
    coef0: float = 0.0

    def __post_init__(self) -> None:
        n = self.X.shape[0]
        if self.kernel not in KERNELS:
            raise ValueError(f"kernel is {self.kernel!r}, expected one of {KERNELS}: choose one.")
        if self.y.shape != (n,) or not np.isin(self.y, (-1.0, 1.0)).all():
            raise ValueError(f"y must hold {n} labels, each -1 or +1: recode the labels.")
        if self.costs.shape != (n,) or not (self.costs >= 0).all():
            raise ValueError(f"costs must hold {n} numbers, none negative: correct them.")
        if not self.lam > 0:
            raise ValueError(f"lam is {self.lam}, expected a positive number: raise it.")

    @property
    def n(self) -> int:
        """Number of samples."""
        return self.X.shape[0]

    @property
    def bias_value(self) -> float:
        """Value of the appended feature; 0 when there is none."""
        return 0.0 if self.free_bias else self.intercept_scaling

    def with_costs(self, costs: np.ndarray) -> HingeProblem:
        """Return the same data with other costs; a kernel matrix already computed is shared."""
        other = replace(self, costs=costs)
        for name in ("gram", "features"):
            if name in self.__dict__:
                other.__dict__[name] = self.__dict__[name]
        return other

    @cached_property
    def features(self) -> Any:
        """X with the bias feature appended (linear kernel), dense or CSR."""
        if not self.bias_value:
            return sp.csr_matrix(self.X) if sp.issparse(self.X) else np.asarray(self.X, float)
        column = np.full((self.n, 1), self.bias_value)
        if sp.issparse(self.X):
            return sp.csr_matrix(sp.hstack([self.X, sp.csr_matrix(column)], format="csr"))
        return np.hstack([np.asarray(self.X, float), column])

    @cached_property
    def gram(self) -> np.ndarray:
        """(n, n) kernel matrix, the bias feature's part included."""
        return gram_matrix(self) + self.bias_value**2

    def expand(self, v: np.ndarray) -> np.ndarray:
        """K v for a signed vector v, without ever forming K when the kernel is linear."""
        if self.kernel == "linear":
            return self.features @ (self.features.T @ v)
        return self.gram @ v

    def quadratic(self, alpha: np.ndarray) -> np.ndarray:
        """Q alpha, Q_ij = y_i y_j K_ij."""
        return self.y * self.expand(self.y * alpha)


@dataclass(frozen=True, eq=False)
class TubeProblem:
    """A support vector regression with one cost for each sample and a free bias.

    minimise  lam/2 ||w||^2 + sum_i costs_i max(0, |z_i - w . phi(x_i) - b| - epsilon)

    Parameters
    ----------
    gram : (n, n) kernel matrix
    z : (n,) array of targets
    costs : (n,) array, not negative
    epsilon : float, not negative
    lam : float, positive
    """

    gram: np.ndarray
    z: np.ndarray
    costs: np.ndarray
    epsilon: float
    lam: float = 1.0

    def __post_init__(self) -> None:
        n = len(self.z)
        if self.gram.shape != (n, n):
            raise ValueError(f"gram has shape {self.gram.shape}, expected {(n, n)}: correct it.")
        if self.costs.shape != (n,) or not (self.costs >= 0).all():
            raise ValueError(f"costs must hold {n} numbers, none negative: correct them.")
        if not (self.lam > 0 and self.epsilon >= 0):
            raise ValueError(
                f"lam is {self.lam} and epsilon {self.epsilon}, expected above 0 and at least 0: "
                "raise them."
            )


def gram_matrix(problem: HingeProblem) -> np.ndarray:
    """Kernel matrix of the samples, without the bias feature."""
    X = problem.X
    if problem.kernel == "precomputed":
        return np.asarray(X, float)
    inner = (X @ X.T).toarray() if sp.issparse(X) else X @ X.T
    if problem.kernel == "linear":
        return np.asarray(inner, float)
    gamma = problem.gamma if problem.gamma is not None else 1.0 / X.shape[1]
    if problem.kernel == "poly":
        return (gamma * inner + problem.coef0) ** problem.degree
    square = np.diag(inner)
    return np.exp(-gamma * np.maximum(square[:, None] + square[None, :] - 2 * inner, 0.0))


def quantile_costs(y: np.ndarray, tau: float) -> np.ndarray:
    """Equation (4) of the quantile SVM paper: 2(1 - tau)/n for y = +1, 2 tau/n for y = -1."""
    return np.where(y > 0, 2.0 * (1.0 - tau), 2.0 * tau) / len(y)


@dataclass(frozen=True, eq=False)
class Answer:
    """What a solver returned, and what it cost.

    Attributes
    ----------
    alpha : (n,) array or None
        Dual solution, 0 <= alpha_i <= costs_i, if the solver has one.
    w : (d,) array or None
        Weights of the features, without the bias (linear kernel only).
    b : float
        The constant that is added to the decision.
    cpu_s, wall_s : float
        The solver call alone.
    setup_cpu_s : float
        Conversion of the data or construction of the model; 0 when it was reused from ``start``.
    status : {"solved", "inaccurate", "failed", "not available", "not applicable"}
        What the solver says of itself. The judge decides on its own.
    state : object
        Converted data or built model, for the next call (``start=answer``) on the same data.
    """

    alpha: np.ndarray | None = None
    w: np.ndarray | None = None
    b: float = 0.0
    cpu_s: float = float("nan")
    wall_s: float = float("nan")
    setup_cpu_s: float = 0.0
    iterations: int = -1
    status: str = "solved"
    message: str = ""
    state: Any = None


class Stopwatch:
    """CPU seconds of this process and wall seconds of a ``with`` block."""

    def __enter__(self) -> Stopwatch:
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.cpu_s = time.process_time() - self._cpu
        self.wall_s = time.perf_counter() - self._wall


@dataclass(frozen=True)
class Reusable:
    """A converted problem, with the data that it was made from: reused for those data only."""

    X: Any
    y: np.ndarray
    key: tuple
    value: Any

    def fits(self, problem: HingeProblem, key: tuple) -> bool:
        """Return True when the problem has the very same arrays and the same fixed settings."""
        return self.X is problem.X and self.y is problem.y and self.key == key


def reuse_or_build(problem: HingeProblem, start: Answer | None, key: tuple, build: Any) -> Any:
    """(state, CPU seconds spent): the state of ``start`` when it fits, else a new one."""
    old = start.state if start is not None else None
    if isinstance(old, Reusable) and old.fits(problem, key):
        return old, 0.0
    with Stopwatch() as watch:
        value = build()
    return Reusable(problem.X, problem.y, key, value), watch.cpu_s
