"""Products with the matrices of a statement, in double precision or in twice that, with a bound.

Independent of the solver: sums are those of `exact`.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..problem import Product, Repeated
from ..problem.maps import Map, absolute, entries, extremes
from ..validation import Floats
from .exact import UNIT, by_slices, relative, rows_times, sum_of_pairs, transposed
from .graph import Pair


class Matrix:
    """A map of a statement, (n, d), and the sizes of its entries.

    Parameters
    ----------
    X : array, CSR matrix, Product, Repeated, or an operator, whose entries are then computed
    """

    def __init__(self, X: Map) -> None:
        known = isinstance(X, np.ndarray | Product | Repeated) or sp.issparse(X)
        self.X = X if known else entries(X)
        self.size = absolute(self.X)
        self.shape = self.X.shape
        self._terms = _terms(self.X, 1), _terms(self.X, 0)

    def times(self, w: Pair, exact: bool, reach: Floats | None = None) -> tuple[Pair, Floats]:
        """Return X w, (n, B), for w (d, B), and |X| reach; ``reach`` bounds |w|, by default |w|."""
        reach, product = np.abs(w.hi) if reach is None else reach, None
        if self.size is self.X and not exact:  # one pass over X
            products = np.asarray(self.X @ np.concatenate([w.hi, reach], axis=1))
            product, sizes = np.hsplit(products, 2)
        else:
            sizes = np.asarray(self.size @ reach)
        if exact:
            hi, lo, error = self._exactly(w, sizes)
        else:
            hi = np.asarray(self.X @ w.hi) if product is None else product
            lo, error = np.zeros_like(sizes), relative(self._terms[0], exact) * sizes
        if w.error.any():
            error = error + self.size @ w.error
        return Pair(hi, lo, error), sizes

    def _exactly(self, w: Pair, sizes: Floats) -> tuple[Floats, Floats, Floats]:
        """Return X w as a pair, and a bound of its error."""
        return *_rows(self.X, w.hi, w.lo), relative(self._terms[0], True) * sizes

    def transposed(self, b: Floats, exact: bool) -> Pair:
        """Return X'b, (d, B), for b (n, B)."""
        size = np.asarray(self.size.T @ np.abs(b))
        error = self.lost_in_columns(exact) * size
        if not exact:
            return Pair(np.asarray(self.X.T @ b), np.zeros_like(error), error)
        return Pair(*_columns(self.X, b, np.zeros_like(b)), error)

    def lost_in_columns(self, exact: bool) -> float:
        """Return the error of X'b relative to |X|'|b|."""
        return relative(self._terms[1], exact)

    def of_few(self, b: Floats) -> tuple[Floats, Floats]:
        """Return X'b and |X|'|b|, (d, B), in double precision, for b (n, B) with few rows."""
        X, size = self.X, self.size
        if isinstance(X, np.ndarray) or sp.issparse(X):
            rows = np.flatnonzero(b.any(axis=1))
            X, size, b = X[rows], size[rows], b[rows]
        return np.asarray(X.T @ b), np.asarray(size.T @ np.abs(b))

    def largest_row(self) -> float:
        """Return the largest sum of absolute entries of a row."""
        return float(np.max(self.size @ np.ones(self.shape[1]), initial=0.0))


class Gram(Matrix):
    """The matrix of a kernel, whose entries are of similar size.

    Parameters
    ----------
    X : as of `Matrix`
    slices : bool
        Whether products are sums over slices, which are faster and less accurate.
    """

    def __init__(self, X: Map, slices: bool) -> None:
        super().__init__(X)
        self.slices = slices

    def largest(self) -> float:
        """Return the largest absolute entry."""
        return max(map(abs, extremes(self.X)))

    def _exactly(self, w: Pair, sizes: Floats) -> tuple[Floats, Floats, Floats]:
        if not self.slices:
            return super()._exactly(w, sizes)
        hi, lo, error = by_slices(self.X, w.hi, w.lo, self.largest())
        return hi, lo, np.broadcast_to(error, sizes.shape)


def total(pairs: list[Pair], shape: tuple[int, int]) -> Pair:
    """Return a sum of pairs."""
    if len(pairs) == 1:
        return pairs[0]
    return Pair(*sum_of_pairs(pairs, shape))


def rounded(part: Pair) -> Pair:
    """Return a pair rounded to one double, the rounding added to its error."""
    return Pair(
        part.hi, np.zeros_like(part.lo), part.error + np.abs(part.lo) + UNIT * np.abs(part.hi)
    )


def _terms(X: Map, axis: int) -> int:
    """Return the largest number of terms in an entry of X w (axis 1) or X'a (axis 0)."""
    if isinstance(X, Product):
        return sum(_terms(factor, axis) for factor in X.factors)
    if isinstance(X, Repeated):
        return _terms(X.X, axis)
    if not sp.issparse(X):
        return X.shape[axis]
    rows = sp.csr_array(X)
    counts = np.diff(rows.indptr) if axis == 1 else np.bincount(rows.indices)
    return int(counts.max(initial=0))


def _rows(X: Map, hi: Floats, lo: Floats) -> tuple[Floats, Floats]:
    if isinstance(X, Product):
        for factor in reversed(X.factors):
            hi, lo = _rows(factor, hi, lo)
        return hi, lo
    if isinstance(X, Repeated):
        high, low = _rows(X.X, X.columns(hi), X.columns(lo))
        return X.rows(high, hi), X.rows(low, hi)
    return rows_times(_plain(X), np.ones((X.shape[0], hi.shape[1]), dtype=bool), hi, lo)


def _columns(X: Map, hi: Floats, lo: Floats) -> tuple[Floats, Floats]:
    if isinstance(X, Product):
        for factor in X.factors:
            hi, lo = _columns(factor, hi, lo)
        return hi, lo
    if isinstance(X, Repeated):
        transpose = X.T
        high, low = _columns(X.X, transpose.columns(hi), transpose.columns(lo))
        return transpose.rows(high, hi), transpose.rows(low, hi)
    high, low = transposed(_plain(X), hi)
    return high, low + np.asarray(X.T @ lo)


def _plain(X: Map) -> Map:
    """Return a matrix as compiled code takes it: dense and contiguous, or CSR."""
    return sp.csr_array(X) if sp.issparse(X) else np.ascontiguousarray(X)
