"""The kernel functions of the library, and the checks of their arguments."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np
import scipy  # imports scipy.linalg, which is slow, at its first use
import scipy.sparse as sp

from ..compilation import cached_njit, inner_njit, read_only
from ..validation import HUGE, Floats, check_choice, check_number

EPSILON = np.finfo(np.float64).eps
LENGTH_ROUNDING = float(EPSILON**0.5)  # of a row's length; its square is a kernel's unit roundoff
MAX_RANK = 100  # columns of factored rows: with more, kernel entries are faster to read
GIB = 2.0**30
MEMORY_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
FAR_ENTRIES = 4.0  # standard deviations of entries: a mean nearer to zero costs at most two bits
KERNELS = ("linear", "rbf", "poly", "precomputed")
RBF, POLY = KERNELS.index("rbf"), KERNELS.index("poly")


@dataclass(frozen=True)
class Kernel:
    """A kernel function with its parameters: ``Kernel("rbf", gamma=0.1)(X, Z)``.

    Parameters
    ----------
    name : {"linear", "rbf", "poly", "precomputed"}
        linear is ``x.z``, rbf ``exp(-gamma ||x - z||^2)``, poly ``(gamma x.z + coef0)^degree``;
        with precomputed X is the matrix of kernel values itself.
    gamma : float
        In units of 1 / x.x; > 0.
    degree : int
    coef0 : float
        >= 0.

    Examples
    --------
    >>> import numpy as np
    >>> from solution_paths.kernels import Kernel
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> Kernel("poly", gamma=1.0, degree=2, coef0=1.0)(X, X).tolist()
    [[4.0, 1.0], [1.0, 4.0]]
    """

    name: str = "linear"
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0

    def __post_init__(self) -> None:
        check_choice(self.name, "kernel", KERNELS)
        checked = {"gamma": check_number(self.gamma, "gamma", above=0)}
        if self.name == "poly":  # with coef0 < 0 it may not be positive semidefinite
            checked["degree"] = check_number(self.degree, "degree", least=1, whole=True)
            checked["coef0"] = check_number(self.coef0, "coef0", least=0)
        for name, value in checked.items():  # numpy's numbers don't go into JSON
            object.__setattr__(self, name, value)

    def check_sizes(self, X: Any, name: str) -> None:
        """Refuse rows whose powers overflow."""
        if self.name != "poly":
            return
        base = self.gamma * squared_norms(X).max() + self.coef0
        if base > 1.0 and self.degree * np.log(base) > 2 * np.log(HUGE):
            raise ValueError(
                f"{name} has rows whose kernel values ({base:.1e} to the power {self.degree}) "
                "overflow; take a smaller degree or gamma, or other units."
            )

    def __call__(self, X: Any, Z: Any) -> Floats:
        """Return the (len(X), len(Z)) kernel matrix, for arrays or CSR matrices of rows."""
        if self.name == "precomputed":
            return np.asarray(X, dtype=np.float64)
        if self.name == "rbf":
            exponent = squared_distances(X, Z)
            exponent *= -self.gamma
            return np.exp(exponent, out=exponent)
        K = _products(X, Z)
        return K if self.name == "linear" else (self.gamma * K + self.coef0) ** self.degree

    def diagonal(self, X: Any) -> Floats:
        """Return k(x, x) for all rows of X, (n,)."""
        if self.name == "precomputed":
            return np.asarray(X).diagonal()
        if self.name == "rbf":
            return np.ones(X.shape[0])
        squares = squared_norms(X)
        return (
            squares if self.name == "linear" else (self.gamma * squares + self.coef0) ** self.degree
        )

    def n_monomials(self, d: int) -> float:
        """Return the number of monomials of d columns whose inner product is the kernel, or inf."""
        if self.name != "poly":
            return math.inf
        return math.comb(d + self.degree - (self.coef0 == 0.0), self.degree)

    def monomials(self, X: Any) -> Floats:
        """Return the (n, n_monomials) rows whose inner products are the poly kernel."""
        rows = X.toarray() if sp.issparse(X) else X
        with_constant = np.hstack([np.ones((len(rows), 1)), rows])
        shares = np.append(self.coef0, np.full(rows.shape[1], self.gamma))
        first = 1 if self.coef0 == 0.0 else 0
        chosen = list(combinations_with_replacement(range(first, len(shares)), self.degree))
        out = np.empty((len(rows), len(chosen)))
        for k, factors in enumerate(chosen):
            repeats = math.prod(math.factorial(factors.count(j)) for j in set(factors))
            weight = math.factorial(self.degree) / repeats * shares[list(factors)].prod()
            out[:, k] = math.sqrt(weight) * with_constant[:, factors].prod(axis=1)
        return out


LINEAR = Kernel()


def room_for(n: int, m: int) -> Floats:
    """Return (n, m) zeros for kernel values; raise a MemoryError that says what doesn't fit."""
    check_room(n, m)
    try:
        return np.zeros((n, m))
    except MemoryError as error:  # less is left of it, or this process may have less
        raise _no_room(n, m, 1) from error


def check_room(n: int, m: int, copies: int = 1) -> None:
    """Refuse (n, m) kernel values whose copies exceed the machine's memory."""
    if 8.0 * n * m * copies > total_memory():
        raise _no_room(n, m, copies)


def _no_room(n: int, m: int, copies: int) -> MemoryError:
    needs = _size(8.0 * n * m) + (f" {copies} times" if copies > 1 else "")
    return MemoryError(
        f"The {n:,} x {m:,} kernel matrix needs {needs}, and this machine has "
        f"{_size(total_memory())}; take a sample of the rows, or kernel='linear' with few columns."
    )


def _size(memory: float) -> str:
    """Return a number of bytes in readable units."""
    unit = GIB if memory >= GIB else 2.0**10
    return f"{memory / unit:,.0f} {'GiB' if unit == GIB else 'KiB'}"


def total_memory() -> float:
    """Return the bytes of memory of this machine or container, or inf if unknown."""
    limits = [math.inf]
    with suppress(AttributeError, ValueError, OSError):
        limits.append(float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES"))
    for file in MEMORY_LIMITS:  # "max" if there is no limit
        with suppress(ValueError, OSError):
            limits.append(float(Path(file).read_text("ascii")))
    return min(limits)


def is_far(K: Floats) -> bool:
    """Tell whether the mean of a matrix's entries is large beside their standard deviation."""
    mean = float(K.mean())
    square = float(np.vdot(K, K)) / K.size - mean**2
    return bool(mean**2 > FAR_ENTRIES**2 * square and np.ptp(K) > 0.0)


def row_nearest_to_mean(K: Floats) -> int:
    """Return the row nearest to the mean of all rows, in the kernel's feature space."""
    return int((K.diagonal() - 2.0 * K.mean(axis=1)).argmin())


def rows_of_gram(K: Floats, alike: bool = False) -> Floats | None:
    """Return (n, r) rows whose inner products are K, if its rank r is at most MAX_RANK, or None.

    In a matrix of low rank only rounding makes some rows independent of others. Rows of r entries
    show the dependence, and are accurate to `LENGTH_ROUNDING`. They come from a pivoted Cholesky
    factorisation, which stops where the rest of the diagonal may be rounding: relative to each
    row, or to the largest one if rounding is ``alike`` for all. Equal rows of K stay equal.
    """
    n, size = len(K), np.sqrt(np.maximum(K.diagonal(), 0.0))
    size[(size == 0.0) | alike] = size.max() or 1.0
    sample = np.linspace(0, n - 1, min(n, MAX_RANK + MAX_RANK // 4)).astype(int)
    if _rows_of_some(K, size, sample) is None:
        return None
    numbers: dict[bytes, int] = {}
    group = [numbers.setdefault(blake2b((row + 0.0).tobytes()).digest(), len(numbers)) for row in K]
    first = np.unique(group, return_index=True)[1]
    factored = _rows_of_some(K, size, first)
    if factored is None:
        return None
    rows, scaled = factored
    if np.abs(rows @ rows.T - scaled).max() > 64 * EPSILON:
        return None  # not positive semidefinite
    return (rows * size[first, None])[group]


def _rows_of_some(K: Floats, size: Floats, indices: Any) -> tuple[Floats, Floats] | None:
    """Return factored rows of some rows of K, and their exact products, both in units of sizes."""
    scaled = np.asfortranarray(K[np.ix_(indices, indices)] / size[indices, None] / size[indices])
    factor, order, rank, _ = scipy.linalg.lapack.dpstrf(scaled, tol=8 * EPSILON, lower=1)
    # One dependence is harmless: rows of centred kernels add up to zero.
    if not 0 < rank < min(MAX_RANK + 1, len(indices) - 1):
        return None
    rows = np.empty((len(indices), rank))
    rows[order - 1] = np.tril(factor[:, :rank])
    return rows, scaled


def _products(X: Any, Z: Any) -> Floats:
    """Return x.z for all rows of X and Z, each dense or sparse."""
    out = room_for(X.shape[0], Z.shape[0])
    if X is Z and sp.issparse(X):  # the lower triangle alone, in half of scipy's time
        columns = sp.csc_array(X)
        arrays = (
            part for matrix in (X, columns) for part in (matrix.indptr, matrix.indices, matrix.data)
        )
        _add_products(*read_only(*arrays), out)
        return out
    if not (sp.issparse(X) or sp.issparse(Z)):
        return np.matmul(X, np.transpose(Z), out=out)
    products = X @ Z.T
    return products.toarray(out=out) if sp.issparse(products) else np.asarray(products)


@cached_njit
def _add_products(
    indptr: Any, indices: Any, data: Floats, starts: Any, rows: Any, entries: Floats, out: Floats
) -> None:
    """Add x_i.x_j to out, given X by rows and by columns."""
    seen = starts[:-1].copy()
    for i in range(len(indptr) - 1):
        row = out[i]
        for s in range(indptr[i], indptr[i + 1]):
            k, x = indices[s], data[s]
            seen[k] += 1  # the rows of this column down to i
            for q in range(starts[k], seen[k]):
                row[rows[q]] += x * entries[q]
    _mirror(out)


@inner_njit
def _mirror(out: Floats) -> None:
    """Copy the lower triangle to the upper one, tile by tile."""
    n, tile = len(out), 32
    for first in range(0, n, tile):
        for second in range(0, first + 1, tile):
            for i in range(first, min(first + tile, n)):
                for j in range(second, min(second + tile, i)):
                    out[j, i] = out[i, j]


def squared_norms(X: Any) -> Floats:
    """Return ||x_i||^2 of the rows."""
    squares = X.power(2) if sp.issparse(X) else X**2
    return np.asarray(squares.sum(axis=1)).ravel()


def squared_distances(X: Any, Z: Any) -> Floats:
    """Return ||x - z||^2 for all rows of X and Z.

    Dense rows are subtracted, since the expanded square cancels where near rows have large
    entries. Sparse rows use the expansion, which is one product of sparse matrices.
    """
    if sp.issparse(X) or sp.issparse(Z):
        distance = squared_norms(X)[:, None] + squared_norms(Z)[None, :]
        distance -= 2.0 * _products(X, Z)
        np.maximum(distance, 0.0, out=distance)
        if X is Z:
            np.fill_diagonal(distance, 0.0)
        return distance
    rows, columns = read_only(
        *(np.asarray(matrix, dtype=np.float64) for matrix in (X, np.transpose(Z)))
    )
    out = room_for(rows.shape[0], columns.shape[1])
    _add_squared_differences(rows, columns, X is Z, out)
    return out


@cached_njit
def _add_squared_differences(X: Floats, columns: Floats, below: bool, out: Floats) -> None:
    """Add (x_ik - z_jk)^2 to out[i, j], or only below its diagonal."""
    for i in range(X.shape[0]):
        row = out[i, :i] if below else out[i]
        for k in range(X.shape[1]):
            x, others = X[i, k], columns[k]
            for j in range(len(row)):
                row[j] += (x - others[j]) ** 2
    if below:
        _mirror(out)


@inner_njit(_nrt=False, fastmath=True)
def kernel_row(
    x: Floats,
    square: float,
    columns: Floats,
    squares: Floats,
    out: Floats,
    kind: int,
    gamma: float,
    degree: int,
    coef0: float,
) -> None:
    """Write one row of a kernel matrix: the compiled twin of `Kernel`, for single rows.

    Parameters
    ----------
    x : (d,) array
        One sample, and ``square`` is its squared norm.
    columns : (d, m) array
        Features of the other samples; ``squares`` (m,) are their squared norms.
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


def check_kernel(
    X: Any, name: str, gamma: float | str | None = None, degree: int = 3, coef0: float = 0.0
) -> Kernel:
    """Return the kernel for checked rows X; check a precomputed matrix.

    gamma is 1 / d when it is None or "auto", and 1 / (d Var(X)) for "scale", as in scikit-learn.
    """
    if gamma is None or (isinstance(gamma, str) and gamma == "auto"):
        gamma = 1.0 / X.shape[1]
    elif isinstance(gamma, str) and gamma == "scale":
        variance = X.power(2).mean() - X.mean() ** 2 if sp.issparse(X) else X.var()
        gamma = 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
    elif isinstance(gamma, str):
        raise ValueError(f"gamma must be a finite number > 0, 'scale' or 'auto', not {gamma!r}.")
    kernel = Kernel(name, gamma, degree, coef0)
    if name == "precomputed":
        _check_gram(X)
    kernel.check_sizes(X, "X")
    return kernel


def _check_gram(K: Any) -> None:
    if sp.issparse(K) or K.shape[0] != K.shape[1]:
        raise ValueError(
            "X must be a dense square matrix of kernel values with kernel='precomputed', not of "
            f"shape {K.shape}{' and sparse' if sp.issparse(K) else ''}."
        )
    largest = np.abs(K).max()
    if np.abs(K - K.T).max() > 1e-10 * largest:
        raise ValueError("X is not symmetric, with kernel='precomputed'; pass (X + X.T) / 2.")
    _check_eigenvalues(K, 1e-8 * largest, "X")
    if is_far(K):  # a constant may hide a negative eigenvalue
        means = K.mean(axis=1)
        centred = (K - means.mean()) - (means - means.mean()) - (means - means.mean())[:, None]
        limit = 1e-8 * np.abs(centred).max() + 8 * EPSILON * largest
        _check_eigenvalues(centred, limit, "X less the means of its rows and columns")


def _check_eigenvalues(K: Floats, limit: float, name: str) -> None:
    """Refuse a matrix (n, n) with an eigenvalue below -n limit.

    Where a Cholesky factorisation of K + n limit I exists, which is faster, there is none.
    """
    allowed = limit * len(K)
    shifted = np.array(K, order="F")
    shifted[np.diag_indices(len(K))] += allowed
    if _is_positive_definite(shifted):
        return
    del shifted
    least = np.linalg.eigvalsh(K)[0]
    if least < -allowed:
        raise ValueError(
            f"{name} has the eigenvalue {least:.3g}, clearly below zero, with "
            "kernel='precomputed'; a kernel must be positive semidefinite."
        )


def _is_positive_definite(K: Floats) -> bool:
    """Tell whether a matrix in Fortran's order, which is overwritten, has a Cholesky factor."""
    try:
        scipy.linalg.cholesky(K, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        return False
    return True
