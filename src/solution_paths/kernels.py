"""The kernel functions of the library."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numba import njit

KERNELS = ("linear", "rbf", "poly", "precomputed")
RBF, POLY = KERNELS.index("rbf"), KERNELS.index("poly")


@dataclass(frozen=True)
class Kernel:
    """A kernel function with its parameters: ``Kernel("rbf", gamma=0.1)(X, Z)``.

    Parameters
    ----------
    name : {"linear", "rbf", "poly", "precomputed"}
        ``linear`` x.z, ``rbf`` exp(-gamma ||x - z||^2), ``poly`` (gamma x.z + coef0)^degree, and
        ``precomputed``, where X is the matrix of kernel values itself.
    gamma : float
        In units of 1 / x.x; > 0.
    degree : int
    coef0 : float
        >= 0.
    """

    name: str = "linear"
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0

    def __post_init__(self) -> None:
        if self.name not in KERNELS:
            raise ValueError(f"kernel must be one of {', '.join(KERNELS)}, not {self.name!r}.")
        if not (np.isfinite(self.gamma) and self.gamma > 0):
            raise ValueError(f"gamma must be a finite number > 0, not {self.gamma!r}.")
        if self.name != "poly":
            return
        if not (np.isfinite(self.degree) and self.degree == int(self.degree) >= 1):
            raise ValueError(f"degree must be a whole number >= 1, not {self.degree!r}.")
        if not (np.isfinite(self.coef0) and self.coef0 >= 0):
            raise ValueError(
                f"coef0 must be a finite number >= 0, not {self.coef0!r}; below zero the kernel "
                "may not be positive semidefinite."
            )

    def __call__(self, X, Z) -> np.ndarray:
        """Return the (len(X), len(Z)) kernel matrix, for arrays or CSR matrices of rows."""
        if self.name == "precomputed":
            return np.asarray(X, dtype=np.float64)
        K = X @ Z.T
        K = K.toarray() if sp.issparse(K) else np.asarray(K)
        if self.name == "linear":
            return K
        if self.name == "poly":
            return (self.gamma * K + self.coef0) ** self.degree
        distance = squared_norms(X)[:, None] + squared_norms(Z)[None, :] - 2.0 * K
        np.maximum(distance, 0.0, out=distance)
        if X is Z:
            np.fill_diagonal(distance, 0.0)
        distance *= -self.gamma
        return np.exp(distance, out=distance)


LINEAR = Kernel()


def squared_norms(X) -> np.ndarray:
    """Return ||x_i||^2 of the rows."""
    squares = X.power(2) if sp.issparse(X) else X**2
    return np.asarray(squares.sum(axis=1)).ravel()


@njit(cache=True, _nrt=False, fastmath=True)
def kernel_row(x, square, columns, squares, out, kind, gamma, degree, coef0) -> None:
    """Write one row of a kernel matrix: the compiled twin of `kernel_matrix`, for single rows.

    Parameters
    ----------
    x : (d,) array
        One sample, and ``square`` is its squared norm.
    columns : (d, m) array
        Features of the samples that it meets; ``squares`` (m,) are their squared norms.
    out : (m,) array
    kind : int
        The kernel's place in `KERNELS`.
    """
    out[:] = 0.0
    for k in range(len(x)):
        if x[k] != 0.0:
            for t in range(len(out)):
                out[t] += x[k] * columns[k, t]
    if kind == RBF:
        for t in range(len(out)):
            out[t] = math.exp(-gamma * max(square + squares[t] - 2.0 * out[t], 0.0))
    elif kind == POLY:
        for t in range(len(out)):
            out[t] = (gamma * out[t] + coef0) ** degree
