"""The judge's own kernel matrix.

On purpose it shares nothing with `Kernel` and `CentredKernel` but what they stand for: a fault
there would otherwise be in a path and in its certificate alike, and no certificate would fail.
"""

from __future__ import annotations

from itertools import product
from math import factorial, prod

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from ..kernels import Kernel, check_room, room_for
from .centred_kernel import Centred, CentredKernel

ENTRIES = 4_000_000  # of rows that are made dense at once


def reference_matrix(X, kernel: Centred) -> np.ndarray:
    """Return the (n, n) matrix of a kernel, or of one less what a bias makes up for, of rows X."""
    if kernel.name == "precomputed":
        K = np.asarray(X, dtype=np.float64)
        return K if isinstance(kernel, Kernel) else _less_a_row(K, kernel.origin)
    n, d = X.shape
    size = max(1, ENTRIES // d) if sp.issparse(X) else n
    blocks = [slice(first, first + size) for first in range(0, n, size)]
    if len(blocks) == 1:
        check_room(n, n)
        rows = _dense(X)
        return _block(rows, rows, kernel)
    K = room_for(n, n)
    for here in blocks:
        for there in blocks:
            K[here, there] = _block(_dense(X[here]), _dense(X[there]), kernel)
    return K


def _block(X: np.ndarray, Z: np.ndarray, kernel: Centred) -> np.ndarray:
    if isinstance(kernel, CentredKernel):
        return _centred_block(X, Z, kernel.kernel, kernel.origin)
    if kernel.name == "rbf":
        return _of_distances(X, Z, kernel.gamma, np.exp)
    inner = np.einsum("id,jd->ij", X, Z)
    if kernel.name == "linear":
        return inner
    return (kernel.gamma * inner + kernel.coef0) ** kernel.degree


def _less_a_row(K: np.ndarray, row: int) -> np.ndarray:
    wide = K.astype(np.longdouble)
    return (wide - wide[:, [row]] - wide[[row]] + wide[row, row]).astype(np.float64)


def _centred_block(X: np.ndarray, Z: np.ndarray, kernel: Kernel, origin: np.ndarray) -> np.ndarray:
    """Return k(x, z) - k(x, o) - k(o, z) + k(o, o): of a power those terms that depend on both."""
    if kernel.name == "rbf":
        pairs = ((X, Z), (X, origin[None]), (origin[None], Z))
        own, left, right = (_of_distances(*pair, kernel.gamma, np.expm1) for pair in pairs)
        own -= left + right
        return own
    U, V, degree = X - origin, Z - origin, int(kernel.degree)
    at = kernel.gamma * np.dot(origin, origin) + kernel.coef0
    left, right = (kernel.gamma * np.einsum("id,d->i", rows, origin) for rows in (U, V))
    inner = kernel.gamma * np.einsum("id,jd->ij", U, V)
    total = np.zeros_like(inner)
    for i, j, k in product(range(degree + 1), repeat=3):
        rest = degree - i - j - k
        if rest >= 0 and (k or (i and j)):
            ways = factorial(degree) // prod(factorial(m) for m in (i, j, k, rest))
            total += ways * at**rest * np.outer(left**i, right**j) * inner**k
    return total


def _of_distances(X: np.ndarray, Z: np.ndarray, gamma: float, function: np.ufunc) -> np.ndarray:
    """Return function(-gamma ||x - z||^2), in place: new memory costs more than the numbers."""
    K = cdist(X, Z, "sqeuclidean")
    K *= -gamma
    return np.asarray(function(K, out=K))


def _dense(rows) -> np.ndarray:
    return rows.toarray() if sp.issparse(rows) else rows
