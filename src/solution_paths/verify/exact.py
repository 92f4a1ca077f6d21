"""Sums in twice the working precision: pairs hi + lo of doubles, by Dekker and Knuth.

Only additions and products of doubles, so that results are the same on every machine. A sum of m
products has an absolute error of (m UNIT)^2 times the sum of their absolute values: see `relative`.
Only the judge uses them; answers are computed by `twofold` and `homotopy.twofold`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..compilation import cached_njit, csr_arrays, inner_njit, read_only

Floats = NDArray[np.float64]
UNIT = np.finfo(np.float64).eps / 2  # the rounding of one operation
SPLITTER = 134217729.0  # 2^27 + 1
SLICED_ROWS = 16  # of a matrix that are split at once, so that they fit into the cache
LEAST_SCALE = 2.0**-900


def relative(terms: int, exact: bool) -> float:
    """Return the error of a sum of products relative to the sum of their absolute values."""
    gamma = (terms + 4) * UNIT
    return 2 * gamma**2 if exact else gamma


@inner_njit(forceinline=True, _nrt=False)
def _product(x, y):
    p = x * y
    c = SPLITTER * x
    xh = c - (c - x)
    xl = x - xh
    c = SPLITTER * y
    yh = c - (c - y)
    yl = y - yh
    return p, ((xh * yh - p) + xh * yl + xl * yh) + xl * yl


@inner_njit(forceinline=True, _nrt=False)
def two_sum(x: float, y: float) -> tuple[float, float]:
    """Return x + y as a pair; compiled, of two numbers."""
    s = x + y
    z = s - x
    return s, (x - (s - z)) + (y - z)


@cached_njit
def _column_sums(hi, lo, out, rest):
    for i in range(hi.shape[0]):
        for k in range(hi.shape[1]):
            s, e = two_sum(out[k], hi[i, k])
            out[k] = s
            rest[k] += e + lo[i, k]


def column_sums(hi: Floats, lo: Floats | None = None) -> tuple[Floats, Floats]:
    """Return the sums of columns, (B,), as a pair."""
    out, rest = np.zeros(hi.shape[1]), np.zeros(hi.shape[1])
    _column_sums(*read_only(hi, np.zeros_like(hi) if lo is None else lo), out, rest)
    return add(out, rest)


@cached_njit
def _plus_pair(hi, lo, error, last, out):
    for i in range(hi.shape[0]):
        for b in range(hi.shape[1]):
            s, e = two_sum(out[0, i, b], hi[i, b])
            low = out[1, i, b] + lo[i, b] + e
            out[2, i, b] += error[i, b] + 4 * UNIT**2 * abs(hi[i, b])
            out[0, i, b], out[1, i, b] = two_sum(s, low) if last else (s, low)


def sum_of_pairs(pairs: Sequence[tuple[Floats, Floats, Floats]], shape: tuple[int, int]) -> Floats:
    """Return the sum (3, n, B) of numbers hi + lo, with errors; all of shape (n, B)."""
    out = np.zeros((3, *shape))
    for k, pair in enumerate(pairs):
        _plus_pair(*read_only(*pair), k == len(pairs) - 1, out)
    return out


def add(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return x + y as a pair."""
    s = x + y
    z = s - x
    return s, (x - (s - z)) + (y - z)


def multiply(x: Floats, y: Floats | float) -> tuple[Floats, Floats]:
    """Return x y as a pair."""
    p = x * y
    c = SPLITTER * x
    xh = c - (c - x)
    xl = x - xh
    c = SPLITTER * np.asarray(y)
    yh = c - (c - y)
    yl = y - yh
    return p, ((xh * yh - p) + xh * yl + xl * yh) + xl * yl


@cached_njit
def _transposed_dense(X, a, out, rest):
    for b in range(a.shape[0]):
        total, lost = out[b], rest[b]
        for i in range(X.shape[0]):
            factor = a[b, i]
            if factor != 0.0:
                row = X[i]
                for k in range(X.shape[1]):
                    p, e = _product(factor, row[k])
                    s, f = two_sum(total[k], p)
                    total[k] = s
                    lost[k] += e + f


@cached_njit
def _transposed_sparse(indptr, indices, x, a, out, rest):
    for b in range(a.shape[0]):
        total, lost = out[b], rest[b]
        for i in range(len(indptr) - 1):
            factor = a[b, i]
            if factor != 0.0:
                for at in range(indptr[i], indptr[i + 1]):
                    k = indices[at]
                    p, e = _product(factor, x[at])
                    s, f = two_sum(total[k], p)
                    total[k] = s
                    lost[k] += e + f


def transposed(X, a: Floats) -> tuple[Floats, Floats]:
    """Return X'a, (d, B), as a pair, for duals a (n, B)."""
    out, rest = np.zeros((a.shape[1], X.shape[1])), np.zeros((a.shape[1], X.shape[1]))
    duals = np.ascontiguousarray(a.T)
    if sp.issparse(X):
        _transposed_sparse(*read_only(*csr_arrays(X), duals), out, rest)
    else:
        _transposed_dense(*read_only(X, duals), out, rest)
    hi, lo = add(out, rest)
    return hi.T, lo.T


@cached_njit
def _rows_dense(X, wanted, hi, lo, out, rest):
    used = np.empty(X.shape[1], dtype=np.int64)
    for b in range(hi.shape[0]):
        m = 0
        for k in range(X.shape[1]):
            if hi[b, k] != 0.0 or lo[b, k] != 0.0:
                used[m] = k
                m += 1
        for i in range(X.shape[0]):
            if wanted[b, i]:
                total, lost = 0.0, 0.0
                for j in range(m):
                    k = used[j]
                    p, e = _product(X[i, k], hi[b, k])
                    total, f = two_sum(total, p)
                    lost += (e + f) + X[i, k] * lo[b, k]
                out[b, i], rest[b, i] = two_sum(total, lost)


@cached_njit
def _rows_sparse(indptr, indices, x, wanted, hi, lo, out, rest):
    for b in range(hi.shape[0]):
        for i in range(len(indptr) - 1):
            if wanted[b, i]:
                total, lost = 0.0, 0.0
                for at in range(indptr[i], indptr[i + 1]):
                    k = indices[at]
                    p, e = _product(x[at], hi[b, k])
                    total, f = two_sum(total, p)
                    lost += (e + f) + x[at] * lo[b, k]
                out[b, i], rest[b, i] = two_sum(total, lost)


def rows_times(
    X, wanted: NDArray[np.bool_], hi: Floats, lo: Floats | None = None
) -> tuple[Floats, Floats]:
    """Return X (hi + lo), (n, B), as a pair where ``wanted`` (n, B) is true, zeros elsewhere."""
    out, rest = np.zeros(wanted.shape[::-1]), np.zeros(wanted.shape[::-1])
    lo = np.zeros_like(hi) if lo is None else lo
    arrays = [np.ascontiguousarray(array.T) for array in (wanted, hi, lo)]
    if sp.issparse(X):
        _rows_sparse(*read_only(*csr_arrays(X), *arrays), out, rest)
    else:
        _rows_dense(*read_only(X, *arrays), out, rest)
    return out.T, rest.T


def by_slices(X: Floats, hi: Floats, lo: Floats, largest: float) -> tuple[Floats, Floats, Floats]:
    """Return X (hi + lo), (n, B), as a pair, and its error, (B,), by products in double precision.

    X and each column are split into slices of so few bits that products of the first slices have
    no rounding error, in any order of summation (Ozaki, Ogita, Oishi and Rump 2012, "Error-free
    transformations of matrix multiplication"). The error is relative to the largest possible terms,
    so the entries of X, at most ``largest``, should be of similar size, as a kernel's are.
    """
    d, k = X.shape[1], hi.shape[1]
    bits = (52 - int(np.ceil(np.log2(d + 1)))) // 2
    tops = np.abs(hi).max(axis=0, initial=0.0)
    first, rest = _sliced(hi, bits, tops)
    second, third = _sliced(rest, bits, tops * 2.0**-bits)
    parts = [first, second, third + lo], [first, rest + lo]
    columns = [np.concatenate(arrays, axis=1) for arrays in parts]
    product = np.empty((2, X.shape[0], k))
    for begin in range(0, X.shape[0], SLICED_ROWS):
        rows = slice(begin, begin + SLICED_ROWS)
        one, left = _sliced(X[rows], bits, largest)
        two, three = _sliced(left, bits, largest * 2.0**-bits)
        sums, more = one @ columns[0], two @ columns[1]
        total, low = add(sums[:, :k], sums[:, k : 2 * k])
        total, lower = add(total, more[:, :k])
        small = sums[:, 2 * k :] + more[:, k:] + three @ hi
        product[:, rows] = add(total, low + lower + small)
    size = d * largest * tops
    return product[0], product[1], (4 * relative(d, False) * 4.0**-bits + 8 * UNIT**2) * size


def _sliced(x: Floats, bits: int, largest: Floats | float) -> tuple[Floats, Floats]:
    """Return numbers of at most size ``largest`` rounded to its first bits, and the remainders."""
    shift = 1.5 * 2.0 ** (52 - bits) * 2.0 ** np.ceil(np.log2(np.maximum(largest, LEAST_SCALE)))
    head = x + shift
    head -= shift
    return head, x - head
