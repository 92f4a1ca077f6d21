"""Matrices that map coefficients to values: dense, sparse, or products kept as their factors.

Whatever has a ``shape``, a product ``@`` and a transpose ``T`` will do, scipy's LinearOperators
among them.
"""

from __future__ import annotations

from copy import copy
from functools import reduce
from itertools import pairwise
from typing import Any, TypeAlias
from weakref import WeakValueDictionary

import numpy as np
import scipy.sparse as sp

from ..validation import Floats, check_X

CHECKED: WeakValueDictionary[int, Floats] = WeakValueDictionary()  # arrays, as long as they live
EXTREMES: dict[int, tuple[float, float]] = {}  # of those of them that were asked for
Map: TypeAlias = Any  # a Floats array, a CSR array, a Product, a Repeated or a LinearOperator


class Product:
    """The product of matrices, first one leftmost, kept as its factors.

    Parameters
    ----------
    *factors : matrices
        Their inner sizes must match.

    Examples
    --------
    Differences of rows, for pairs that are to be ranked; X isn't copied:

    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0], [3.0, 5.0], [0.0, 1.0]])
    >>> Product(differences([(1, 0), (0, 2)], 3), X) @ np.array([1.0, 1.0])
    array([5., 2.])
    """

    def __init__(self, *factors: Map) -> None:
        self.factors = tuple(as_map(factor, f"factor {k}") for k, factor in enumerate(factors))
        inner = [(a.shape[1], b.shape[0]) for a, b in pairwise(self.factors)]
        if not factors or any(own != other for own, other in inner):
            shapes = ", ".join(str(factor.shape) for factor in self.factors)
            raise ValueError(
                f"The factors of a product have shapes {shapes or 'none'}; give matrices whose "
                "inner sizes are equal."
            )
        self.shape = (self.factors[0].shape[0], self.factors[-1].shape[1])

    def __matmul__(self, w: Floats) -> Floats:
        return reduce(lambda v, factor: factor @ v, reversed(self.factors), w)

    @property
    def T(self) -> Product:
        """The transpose."""
        other = copy(self)
        other.factors = tuple(factor.T for factor in reversed(self.factors))
        other.shape = self.shape[::-1]
        return other


class Repeated:
    """The same matrix for each of several blocks of coefficients: diag(X, ..., X), X kept once.

    Parameters
    ----------
    X : matrix of shape (n, d)
    times : int
        The number of blocks; values and coefficients are ordered block by block.
    """

    def __init__(self, X: Map, times: int) -> None:
        self.X, self.times = as_map(X, "X"), int(times)
        self.shape = (self.times * self.X.shape[0], self.times * self.X.shape[1])

    def columns(self, w: Floats) -> Floats:
        """Return the blocks of coefficients (times d, ...) as columns (d, ...)."""
        return (
            w.reshape(self.times, self.X.shape[1], -1)
            .transpose(1, 0, 2)
            .reshape(len(w) // self.times, -1)
        )

    def rows(self, columns: Floats, like: Floats) -> Floats:
        """Return columns of values as one vector, or as columns where coefficients ``like`` are."""
        blocks = columns.reshape(len(columns), self.times, -1).transpose(1, 0, 2)
        return blocks.reshape(-1, *like.shape[1:])

    def __matmul__(self, w: Floats) -> Floats:
        return self.rows(self.X @ self.columns(w), w)

    @property
    def T(self) -> Repeated:
        """The transpose."""
        other = copy(self)
        other.X, other.shape = self.X.T, self.shape[::-1]
        return other


def as_map(X: Map, name: str) -> Map:
    """Return a matrix as a float64 array, as CSR, or as the operator that it is."""
    if isinstance(X, Product | Repeated):
        return X
    if hasattr(X, "rmatvec") and hasattr(X, "shape"):
        return X
    return as_checked(X, name)


def as_checked(X: Any, name: str) -> Map:
    """Return a matrix as a float64 array or as CSR; one that nobody can write to is checked once.

    Each parameter states it again.
    """
    if CHECKED.get(id(X)) is X:
        return X
    X = check_X(X, name, copy=False)
    if is_for_good(X):
        CHECKED[id(X)] = X
        EXTREMES.pop(id(X), None)  # of one that lived there before
    return X


def extremes(X: Floats) -> tuple[float, float]:
    """Return the least and the largest entry of an array and 0; once of one that is for good."""
    found = EXTREMES.get(id(X)) if CHECKED.get(id(X)) is X else None
    if found is None:
        found = float(X.min(initial=0.0)), float(X.max(initial=0.0))
        if CHECKED.get(id(X)) is X:
            EXTREMES[id(X)] = found
    return found


def is_for_good(X: Any) -> bool:
    """Tell whether X is an array that nobody can write to."""
    return isinstance(X, np.ndarray) and not X.flags.writeable and X.flags.owndata


def entries(X: Map) -> Map:
    """Return an array or CSR matrix with the entries of a map, products multiplied out."""
    if isinstance(X, np.ndarray) or sp.issparse(X):
        return X
    if isinstance(X, Product):
        return reduce(lambda a, b: a @ b, [entries(factor) for factor in X.factors])
    if isinstance(X, Repeated):
        return sp.csr_array(sp.block_diag([entries(X.X)] * X.times))
    return sp.csr_array(X @ np.eye(X.shape[1]))


def basis(X: Map) -> Map:
    """Return the rows that those of a product are combined of; a matrix's rows are its own."""
    return X.factors[-1] if isinstance(X, Product) else X


def against(X: Map, a: Floats) -> Floats:
    """Return by how much duals (n, ...) of a map's rows count for each row of its `basis`."""
    if not isinstance(X, Product):
        return a
    return reduce(lambda v, factor: factor.T @ v, X.factors[:-1], a)


def without_rows(X: Map) -> bool:
    """Tell whether a map is zero: values are of free variables alone."""
    return sp.issparse(X) and X.nnz == 0


def is_identity(X: Map) -> bool:
    """Tell whether a matrix is the identity; of products and operators nothing is told."""
    n = X.shape[0]
    if X.shape != (n, n) or not (isinstance(X, np.ndarray) or sp.issparse(X)):
        return False
    count = X.count_nonzero() if sp.issparse(X) else np.count_nonzero(X)
    return bool(count == n and (X.diagonal() == 1.0).all())


def row_lengths(X: Map) -> Floats:
    """Return the lengths of the rows of a dense or sparse matrix."""
    if sp.issparse(X):
        return np.sqrt(np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel())
    return np.asarray(np.sqrt((X * X).sum(axis=1)))


def absolute(X: Map) -> Map:
    """Return a map whose entries bound the sizes of those of X: X itself if none is negative."""
    if isinstance(X, Product):
        return Product(*(absolute(factor) for factor in X.factors))
    if isinstance(X, Repeated):
        return Repeated(absolute(X.X), X.times)
    own = entries(X)
    if isinstance(own, np.ndarray) and extremes(own)[0] >= 0.0:
        return own
    return abs(own)


def differences(pairs: Any, n: int) -> sp.csr_array:
    """Return the (m, n) matrix with 1 at the first and -1 at the second of each of m pairs."""
    first, second = np.asarray(pairs, dtype=np.int64).reshape(-1, 2).T
    row = np.arange(len(first))
    ends = np.r_[np.ones(len(row)), -np.ones(len(row))]
    return sp.csr_array((ends, (np.r_[row, row], np.r_[first, second])), shape=(len(row), n))
