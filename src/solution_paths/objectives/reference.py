"""The judge's own kernel matrix.

On purpose it shares nothing with `kernels.Kernel`: a fault there would otherwise be in a path and
in its certificate alike, and no certificate would fail.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from ..kernels import Kernel

ENTRIES = 4_000_000  # of rows that are made dense at once


def reference_matrix(X, kernel: Kernel) -> np.ndarray:
    """Return the (n, n) kernel matrix of the rows of X."""
    if kernel.name == "precomputed":
        return np.asarray(X, dtype=np.float64)
    n, d = X.shape
    size = max(1, ENTRIES // d) if sp.issparse(X) else n
    blocks = [slice(first, first + size) for first in range(0, n, size)]
    K = np.empty((n, n))
    for rows in blocks:
        for columns in blocks:
            K[rows, columns] = _block(_dense(X[rows]), _dense(X[columns]), kernel)
    return K


def _block(X: np.ndarray, Z: np.ndarray, kernel: Kernel) -> np.ndarray:
    if kernel.name == "rbf":
        return np.exp(-kernel.gamma * cdist(X, Z, "sqeuclidean"))
    inner = np.einsum("id,jd->ij", X, Z)
    if kernel.name == "linear":
        return inner
    return (kernel.gamma * inner + kernel.coef0) ** kernel.degree


def _dense(rows) -> np.ndarray:
    return rows.toarray() if sp.issparse(rows) else rows
