"""Kernel functions and their names."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp
from numba import njit

KERNELS = ("linear", "rbf", "poly", "precomputed")
RBF, POLY = KERNELS.index("rbf"), KERNELS.index("poly")


def kernel_matrix(
    X, Z, kernel: str, gamma: float = 1.0, degree: int = 3, coef0: float = 0.0
) -> np.ndarray:
    """Return the (len(X), len(Z)) kernel matrix.

    ``linear`` x.z, ``rbf`` exp(-gamma ||x - z||^2), ``poly`` (gamma x.z + coef0)^degree, and
    ``precomputed``, where X is the matrix itself.
    """
    if kernel == "precomputed":
        return np.asarray(X, dtype=np.float64)
    K = X @ Z.T
    K = K.toarray() if sp.issparse(K) else np.asarray(K)
    if kernel == "linear":
        return K
    if kernel == "poly":
        return (gamma * K + coef0) ** degree
    distance = squared_norms(X)[:, None] + squared_norms(Z)[None, :] - 2.0 * K
    np.maximum(distance, 0.0, out=distance)
    if X is Z:
        np.fill_diagonal(distance, 0.0)
    distance *= -gamma
    return np.exp(distance, out=distance)


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
