"""Matrices that map coefficients to values: dense, sparse, or products kept as their factors.

Any object with a ``shape``, a product ``@`` and a transpose ``T`` will do, such as scipy's
LinearOperator.
"""

from __future__ import annotations

from copy import copy
from functools import reduce
from itertools import pairwise
from typing import Any, TypeAlias
from weakref import WeakValueDictionary

import numpy as np
import scipy.sparse as sp

from ..validation import Floats, check_X, is_read_only

CHECKED: WeakValueDictionary[int, Map] = WeakValueDictionary()  # what was checked, by id
EXTREMES: dict[int, tuple[float, float]] = {}  # least and largest entries of some of them
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
        if not factors or any(left != right for left, right in inner):
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
    """Return a matrix as a float64 array or as CSR.

    Arrays that nobody can write to are checked only once, since a model states them for each
    parameter.
    """
    known = CHECKED.get(id(X))
    if known is not None and _of_the_same_arrays(known, X):
        return known
    checked = check_X(X, name, copy=False)
    if is_frozen(checked) and _of_the_same_arrays(checked, X):
        for key in (id(X), id(checked)):
            CHECKED[key] = checked
        EXTREMES.pop(id(checked), None)  # of an earlier array with this id
    return checked


def _arrays(X: Any) -> tuple[Floats, ...]:
    """Return the arrays that hold a matrix's entries and their places."""
    return (X.data, X.indices, X.indptr) if isinstance(X, sp.csr_array) else (X,)


def _of_the_same_arrays(checked: Map, X: Any) -> bool:
    """Tell whether a matrix is made of the arrays of a checked one."""
    if not sp.issparse(checked):
        return checked is X
    if not isinstance(X, sp.csr_array) or X.shape != checked.shape:
        return False
    pairs = zip(_arrays(checked), _arrays(X), strict=True)
    return all(
        (a.ctypes.data, a.size, a.dtype) == (b.ctypes.data, b.size, b.dtype) for a, b in pairs
    )


def extremes(X: Floats) -> tuple[float, float]:
    """Return min(X, 0) and max(X, 0) over all entries; of a frozen array they are kept."""
    bounds = EXTREMES.get(id(X)) if CHECKED.get(id(X)) is X else None
    if bounds is None:
        bounds = float(X.min(initial=0.0)), float(X.max(initial=0.0))
        if CHECKED.get(id(X)) is X:
            EXTREMES[id(X)] = bounds
    return bounds


def is_frozen(X: Any) -> bool:
    """Tell whether nobody can write to the arrays of a dense or CSR matrix."""
    return all(isinstance(array, np.ndarray) and is_read_only(array) for array in _arrays(X))


def frozen(X: Any) -> Any:
    """Return a matrix of ours to which nobody can write any more: see `as_checked`."""
    if sp.issparse(X) and not is_frozen(X):
        X.sum_duplicates()  # indices are in order, too, as a check wants them
    for array in _arrays(X):
        base = array
        while isinstance(base, np.ndarray):
            base.flags.writeable = False
            base = base.base
    return X


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
    """Return the rightmost factor of a product, whose rows span the product's; else X itself."""
    return X.factors[-1] if isinstance(X, Product) else X


def against(X: Map, a: Floats) -> Floats:
    """Return duals of the rows of `basis` that have the same sum X'a as duals a (n, ...)."""
    if not isinstance(X, Product):
        return a
    return reduce(lambda v, factor: factor.T @ v, X.factors[:-1], a)


def without_rows(X: Map) -> bool:
    """Tell whether a map is zero: values depend on free variables alone."""
    return sp.issparse(X) and X.nnz == 0


def is_identity(X: Map) -> bool:
    """Tell whether a matrix is the identity; False for products and operators."""
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
    """Return a map whose entries bound |X|: X itself if no entry is negative."""
    if isinstance(X, Product):
        return Product(*(absolute(factor) for factor in X.factors))
    if isinstance(X, Repeated):
        return Repeated(absolute(X.X), X.times)
    matrix = entries(X)
    if isinstance(matrix, np.ndarray) and extremes(matrix)[0] >= 0.0:
        return matrix
    return abs(matrix)


def differences(pairs: Any, n: int) -> sp.csr_array:
    """Return the (m, n) matrix with 1 at the first and -1 at the second of each of m pairs."""
    first, second = np.asarray(pairs, dtype=np.int64).reshape(-1, 2).T
    row = np.arange(len(first))
    ends = np.r_[np.ones(len(row)), -np.ones(len(row))]
    return sp.csr_array((ends, (np.r_[row, row], np.r_[first, second])), shape=(len(row), n))
