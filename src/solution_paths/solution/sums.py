"""Sums of many products in twofold precision: weights from duals, decisions from weights.

The arithmetic is that of the walk (`homotopy.twofold`); the judge of these answers has its own.
Each sum is independent of which others are computed with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..compilation import cached_njit, csr_arrays, read_only
from ..homotopy.statement import ParametricKKT
from ..homotopy.twofold import accumulate, dot2, normalise, scaled_add
from ..twofold import Twofold
from ..validation import Floats

Mask = NDArray[np.bool_]
SOLUTIONS_SUMMED = 64  # solutions whose weights are computed at once, ...
WEIGHTS_SUMMED = 2**18  # ... or fewer, with at most this many weights


@cached_njit
def _columns_dense(X, a, high, low):
    for b in range(a.shape[0]):
        for i in range(X.shape[0]):
            if a[b, i] != 0.0:
                scaled_add(high[b], low[b], X[i], X.shape[1], a[b, i], 0.0)


@cached_njit
def _columns_sparse(indptr, indices, x, a, high, low):
    for b in range(a.shape[0]):
        total, rest = high[b], low[b]
        for i in range(len(indptr) - 1):
            if a[b, i] != 0.0:
                for at in range(indptr[i], indptr[i + 1]):
                    k = indices[at]
                    h, e = accumulate(total[k], rest[k], x[at], a[b, i], 0.0)
                    total[k], rest[k] = normalise(h, e)


def by_columns(X: Any, a: Floats) -> Twofold:
    """Return X'a for rows X (n, d), an array or CSR, and each of a (B, n): (B, d)."""
    sums = Twofold.of(np.zeros((len(a), X.shape[1])))
    if sp.issparse(X):
        _columns_sparse(*read_only(*csr_arrays(X), a), *sums)
    else:
        _columns_dense(*read_only(X, a), *sums)
    return sums


def weights_of(statement: ParametricKKT, u: Floats) -> Floats:
    """Return weights (k, b D) from unknowns (k, N): each sum of duals is rounded once."""
    if not statement.sums or statement.separate:
        return statement.variables(u)[0]
    a = u[:, : statement.R.shape[0]]
    size = max(1, min(SOLUTIONS_SUMMED, WEIGHTS_SUMMED // statement.rows.shape[1]))
    parts = (a[first : first + size] for first in range(0, len(a), size))
    sums = (by_columns(statement.terms, part) for part in parts)
    return np.vstack([block.divided(statement.divisor).high for block in sums])


@cached_njit
def _rows_dense(X, wanted, w, zeros, out):
    for b in range(w.shape[0]):
        for i in range(X.shape[0]):
            if wanted[b, i]:
                h, e = dot2(X[i], w[b], zeros, X.shape[1])
                out[b, i] = h + e


@cached_njit
def _rows_sparse(indptr, indices, x, wanted, w, out):
    for b in range(w.shape[0]):
        for i in range(len(indptr) - 1):
            if wanted[b, i]:
                h = e = 0.0
                for at in range(indptr[i], indptr[i + 1]):
                    h, e = accumulate(h, e, x[at], w[b, indices[at]], 0.0)
                out[b, i] = h + e


def by_rows(X: Any, wanted: Mask, w: Floats) -> Floats:
    """Return X w for rows X (n, d) and each of w (B, d), rounded once: (B, n).

    Products that aren't ``wanted`` (B, n) are zero.
    """
    out = np.zeros(wanted.shape)
    if sp.issparse(X):
        _rows_sparse(*read_only(*csr_arrays(X), wanted, w), out)
    else:
        X, w = np.ascontiguousarray(X), np.ascontiguousarray(w)
        _rows_dense(*read_only(X, wanted, w, np.zeros(X.shape[1])), out)
    return out
