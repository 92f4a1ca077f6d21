"""What a path is a path of: the data, the objective, and predictions from duals.

Nothing here knows the walker. `Path` predicts through these classes and `certify` judges by them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .kernels import kernel_matrix, squared_norms
from .validation import check_shape_of_kernel

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Machine:
    """f(x) = (1/lam) sum_i a_i k(x_i, x) + b, with signed duals a.

    Attributes
    ----------
    X : (n, d) array or CSR, or the (n, n) Gram matrix
    y : (n,) array
        Labels -1, +1, or real targets.
    classes : (2,) array
        The labels that were given for -1 and +1 (empty for regression).
    lam : float
        Weight of ||w||^2 / 2.
    bias : {"none", "feature", "free"}
        ``feature``: b = intercept_scaling * w_b with w_b under the ridge penalty.
    cost0, cost1 : (n,) arrays
        Costs C_i = cost0_i + t cost1_i at parameter t.
    diagonal : float
        Added to the diagonal of the training kernel matrix.
    """

    X: object
    y: Floats
    classes: Floats
    kernel: str
    gamma: float
    degree: int
    coef0: float
    lam: float
    bias: str
    intercept_scaling: float
    cost0: Floats
    cost1: Floats
    diagonal: float = 0.0

    # Duals of samples come first; a free bias follows as minus the dual of its border.

    def __post_init__(self):
        check_shape_of_kernel(self.kernel, self.degree, self.coef0, self.intercept_scaling)

    @property
    def n(self) -> int:
        """Number of training rows."""
        return len(self.y)

    @property
    def linear(self) -> bool:
        """Whether the model has coefficients."""
        return self.kernel == "linear"

    @cached_property
    def gram(self) -> Floats:
        """The kernel matrix, without the bias."""
        return self._kernel(self.X)

    def _kernel(self, X_new) -> Floats:
        return kernel_matrix(X_new, self.X, self.kernel, self.gamma, self.degree, self.coef0)

    def costs(self, t) -> Floats:
        """Return the (n,) or (n, B) costs C_i at t, a scalar or (B,)."""
        if np.ndim(t):
            return np.maximum(self.cost0[:, None] + self.cost1[:, None] * t, 0.0)
        return np.maximum(self.cost0 + self.cost1 * t, 0.0)

    def intercepts(self, A: Floats) -> Floats:
        """Return b for duals A, (N,) or (N, B)."""
        if self.bias == "free":
            return -A[self.n]
        if self.bias == "feature":
            return self.intercept_scaling**2 * A[: self.n].sum(axis=0) / self.lam
        return np.zeros(A.shape[1:])

    def coefs(self, A: Floats) -> Floats:
        """Return w for duals A of a linear model, (d,) or (d, B)."""
        return np.asarray(self.X.T @ A[: self.n]) / self.lam

    def decision(self, X_new, A: Floats) -> Floats:
        """Return f at the rows of X_new for duals A, (m,) or (m, B)."""
        if self.linear:
            return np.asarray(X_new @ self.coefs(A)) + self.intercepts(A)
        return self._kernel(X_new) @ A[: self.n] / self.lam + self.intercepts(A)

    def fitted(self, A: Floats) -> Floats:
        """Return f at the training rows."""
        own = self.diagonal * A[: self.n] / self.lam
        if self.linear:
            return self.decision(self.X, A) + own
        return self.gram @ A[: self.n] / self.lam + self.intercepts(A) + own

    @cached_property
    def norms(self) -> Floats:
        """The norms of the training rows in feature space, the penalised bias included."""
        squares = squared_norms(self.X) if self.linear else np.maximum(self.gram.diagonal(), 0)
        extra = self.intercept_scaling**2 if self.bias == "feature" else 0.0
        return np.sqrt(squares + extra + self.diagonal)

    def arrays(self) -> dict:
        """Return the fields, for saving."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


@dataclass(frozen=True)
class Hinge(Machine):
    """min lam/2 ||w||^2 + sum_i C_i max(0, 1 - y_i f(x_i)), with a_i = y_i alpha_i."""

    def public_dual(self, A: Floats) -> Floats:
        """Return alpha, 0 <= alpha_i <= C_i but for rounding."""
        return _without_signs_of_rounding((A[: self.n].T * self.y).T)


@dataclass(frozen=True)
class Tube(Machine):
    """min lam/2 ||w||^2 + sum_i C_i max(0, |y_i - f(x_i)| - epsilon); |a_i| <= C_i."""

    epsilon0: float = 0.0
    epsilon1: float = 0.0

    def epsilon(self, t) -> Floats:
        """Return the half-width of the tube at t."""
        return self.epsilon0 + self.epsilon1 * np.asarray(t)

    def public_dual(self, A: Floats) -> Floats:
        """Return the signed duals."""
        return A[: self.n]


@dataclass(frozen=True)
class Penalised:
    """f(x) = w.x + b with an l1 penalty lam ||w||_1; the path is in lam.

    Attributes
    ----------
    X : (n, d) array
    y : (n,) array
        Labels -1, +1, or real targets.
    classes : (2,) array
        The labels that were given for -1 and +1 (empty for regression).
    """

    X: Floats
    y: Floats
    classes: Floats
    linear = True
    kernel = "linear"

    @property
    def n(self) -> int:
        """Number of training rows."""
        return len(self.y)

    def decision(self, X_new, A: Floats) -> Floats:
        """Return f at the rows of X_new for duals A, (m,) or (m, B)."""
        return np.asarray(X_new @ self.coefs(A)) + self.intercepts(A)

    def arrays(self) -> dict:
        """Return the fields, for saving."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


@dataclass(frozen=True)
class Lasso(Penalised):
    """min 1/2 ||y - X w||^2 + lam ||w||_1; the coordinates are w itself."""

    def coefs(self, A: Floats) -> Floats:
        """Return w."""
        return A + 0.0

    def intercepts(self, A: Floats) -> Floats:
        """Return zeros: there is no bias."""
        return np.zeros(A.shape[1:])

    def public_dual(self, A: Floats) -> Floats:
        """Return the residual y - X w, which solves the dual problem."""
        return (self.y - (self.X @ A).T).T


@dataclass(frozen=True)
class L1Hinge(Penalised):
    """min sum_i max(0, 1 - y_i (w.x_i + b)) + lam ||w||_1; coordinates y alpha, -w, -b."""

    def coefs(self, A: Floats) -> Floats:
        """Return w."""
        return -A[self.n : -1] + 0.0

    def intercepts(self, A: Floats) -> Floats:
        """Return b."""
        return -A[-1]

    def public_dual(self, A: Floats) -> Floats:
        """Return alpha, 0 <= alpha_i <= 1 but for rounding."""
        return _without_signs_of_rounding((A[: self.n].T * self.y).T)


def _without_signs_of_rounding(alpha: Floats) -> Floats:
    """Return alpha with zeros for negatives below 1e-12 of the largest.

    Larger ones come from ill-conditioned kernels, where zeros would move the values.
    """
    tiny = (alpha < 0.0) & (alpha > -1e-12 * np.abs(alpha).max(axis=0, initial=0.0))
    return np.where(tiny, 0.0, alpha) + 0.0


def to_arrays(problem) -> tuple[dict, dict]:
    """Split a problem into plain values and arrays, for saving without pickles."""
    plain, arrays = {"problem": type(problem).__name__}, {}
    for name, item in problem.arrays().items():
        if sp.issparse(item):
            csr = sp.csr_array(item)
            arrays |= {
                f"{name}.data": csr.data,
                f"{name}.indices": csr.indices,
                f"{name}.indptr": csr.indptr,
                f"{name}.shape": np.array(csr.shape),
            }
        elif isinstance(item, np.ndarray):
            arrays[name] = item
        else:
            plain[name] = item
    return plain, arrays


def from_arrays(plain: dict, arrays: dict) -> Machine | Penalised:
    """Undo `to_arrays`."""
    known = {c.__name__: c for c in (*_subclasses(Machine), *_subclasses(Penalised))}
    values = dict(plain)
    kind = known[values.pop("problem")]
    for name, item in arrays.items():
        if "." not in name:
            values[name] = item
        elif name.endswith(".data"):
            stem = name.removesuffix(".data")
            parts = (item, arrays[f"{stem}.indices"], arrays[f"{stem}.indptr"])
            values[stem] = sp.csr_array(parts, shape=tuple(arrays[f"{stem}.shape"]))
    return kind(**values)


def _subclasses(cls):
    return [cls, *(s for c in cls.__subclasses__() for s in _subclasses(c))]
