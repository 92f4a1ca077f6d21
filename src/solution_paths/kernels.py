"""Kernel functions and their names."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

KERNELS = ("linear", "rbf", "poly", "precomputed")


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
