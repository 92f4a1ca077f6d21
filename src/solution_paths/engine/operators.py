"""The linear map that ties the coordinates of a model together.

Samples (i < n) come first, then features and border unknowns such as a free bias (n <= i < N):

    z_sample = K a_sample - B a_feature,        z_feature = B' a_sample.

With the rows of features negated this is one symmetric matrix H = [[K, -B], [-B', 0]]. There are
three ways to hold it, told apart by ``kind`` so that the walker is compiled once for all:

- ``DENSE``: H itself, (N, N): kernels, or anything small.
- ``ROWS``: [X_ridge, X_free] as a dense (n, D) array, of which the first ``n_ridge`` columns make
  K = scale * X_ridge X_ridge' and the others are B (a bias, or the features of an l1 penalty).
- ``SPARSE``: the same rows in CSR form.

The rows kinds keep c = X' a and the vector w it implies, so that a value costs O(D), or the
number of nonzeros of a row, and never needs K.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from . import triangle
from .compiled import (
    Matrix,
    Vector,
    fma,
    inline,
    inner,
    lean,
    new,
    record,
    struct,
    sums,
    zeros,
)
from .patterns import (
    code_add,
    code_sum,
    find_patterns,
    no_patterns,
    tabulate,
    untabulate,
)

DENSE, ROWS, SPARSE = 0, 1, 2
FEW = 16  # rows that are not worth a table
BLOCK = 2**17  # entries of sparse rows that are made dense at once
FEW_ROWS = 64  # that a kernel's typical entry is estimated from
NO_VECTOR, NO_MATRIX = np.empty(0), np.empty((0, 0))
NO_ROWS = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.uint32), NO_VECTOR
Codes = Annotated[NDArray[np.uint16], 2]
Pattern = Annotated[NDArray[np.uint16], 1]


@record
class Levels:
    """The levels on pieces: how many of them move; DENSE: rate' K rate and center' rate."""

    moving: int
    square: float
    central: float


@struct
class Sums:
    """What the walker keeps up to date about a map; sizes as in `Operator`.

    ====================  =========  ==========================================================
    ``base0, base1``      (N,)|(D,)  H, or X', applied to the levels on pieces: constants and rates
    ``lost0, lost1``      (N,)|(D,)  what rounding lost in these sums
    ``packed``            (., runs)  SPARSE: codes of the pinned rows, in the order of slots
    ``of_w, of_dw``       (E,)       SPARSE: sums of w and dw over patterns, for looks
    ``table``             (E,)       SPARSE: scratch, zero between calls
    ``c, c_lost, dc``     (D,)       ROWS: X'a, what rounding lost of it, and its velocity
    ``w, dw``             (D,)       ROWS: scale * c on ridge columns, minus a_feature on the others
    ``w_low``             (D,)       ROWS: what rounding left out of w
    ``row, row_low``      (D,)       ROWS: scratch, zero between calls
    ``kept``              (2, D)     ROWS: dc and dw, put aside by corrections
    ====================  =========  ==========================================================
    """

    levels: Levels
    base0: Vector
    base1: Vector
    lost0: Vector
    lost1: Vector
    packed: Codes
    of_w: Vector
    of_dw: Vector
    table: Vector
    c: Vector
    c_lost: Vector
    dc: Vector
    w: Vector
    w_low: Vector
    dw: Vector
    row: Vector
    row_low: Vector
    kept: Matrix


@struct
class Operator:
    """The map, and in ``now`` what the walker keeps up to date about it.

    Sizes: N coordinates, n of them samples, D columns, n_ridge of them under the ridge penalty.

    ====================  =========  ==========================================================
    ``H``                 (N, N)     DENSE: the symmetric map
    ``X``                 (n, D)     ROWS: the rows
    ``indptr/indices/x``  CSR        SPARSE: the rows
    ``diagonal``          (N,)       H_ii
    ``sign``              (N,)       +1 for samples, -1 for features
    ``norm``              (N,)       |H_ij| <= norm_i norm_j, and the speed of moving kinks
    ``weight``            (D,)       column weights behind ``norm``
    ``most``              (D,)       ROWS, SPARSE: the largest entry of each column
    ``metric``            (D, D)     few columns: L', where L L' = X'X / n; else (0, 0)
    ``radius``            (N,)       |L^-1 x_i|, or what is like it: bounds how fast z_i can move
    ``still``             (2, N)     norm and radius where no kink moves
    ``center``            (N,)       DENSE: the mean of H's first n rows
    ``swing``             (p,)       DENSE: 1 / ``weight`` of the borders, 0 for constants
    ``typical``           scalar     DENSE: mean squared distance of samples from their mean
    ``overlap``           scalar     DENSE: mean of |K_ij| / (norm_i norm_j), about
    ``blur``              scalar     ROWS: the part of a row's length that a kernel's rounding is
    ``flat``              scalar     SPARSE: the value of all nonzeros when they are equal, else 0
    ``codes``             (n, runs)  SPARSE: rows of equal nonzeros as patterns, or (0, 0)
    ``parent, last``      (E,)       SPARSE: the patterns, see ``patterns``
    ====================  =========  ==========================================================
    """

    kind: int
    n: int
    n_ridge: int
    scale: float
    blur: float
    flat: float
    H: Matrix
    X: Matrix
    indptr: Annotated[NDArray[np.uint64], 1]
    indices: Annotated[NDArray[np.uint32], 1]
    x: Vector
    diagonal: Vector
    sign: Vector
    norm: Vector
    weight: Vector
    most: Vector
    metric: Matrix
    radius: Vector
    still: Matrix
    center: Vector
    swing: Vector
    typical: float
    overlap: float
    codes: Codes
    parent: Pattern
    last: Pattern
    now: Sums


def _operator(kind, n, n_ridge, scale, diagonal, norm, weight, H=None, X=None, csr=None, blur=0.0):
    N, D = len(diagonal), len(weight)
    indptr, indices, x = NO_ROWS if csr is None else (csr.indptr, csr.indices, csr.data)
    flat = len(x) > 0 and bool((x == x[0]).all())
    codes, parent, last = find_patterns(csr) if flat else no_patterns()
    if kind == DENSE:
        metric, (radius, center, swing, typical) = NO_MATRIX, _about_the_mean(H, n, norm, weight)
        some = H[: n : max(n // FEW_ROWS, 1), :n]
        overlap = np.abs(some).mean() / max(norm[:n].mean() ** 2, 1e-300)
        most = NO_VECTOR
    else:
        most = np.abs(X).max(axis=0) if kind == ROWS else abs(csr).max(axis=0).toarray().ravel()
        metric, radius = _metric(X if kind == ROWS else csr, norm)
        center, swing, typical, overlap = NO_VECTOR, NO_VECTOR, 0.0, 1.0
    sign = np.ones(N)
    sign[n:] = -1.0
    return Operator(
        kind=kind,
        n=n,
        n_ridge=n_ridge,
        scale=float(scale),
        blur=blur,
        flat=float(x[0]) if flat else 0.0,
        H=NO_MATRIX if H is None else H,
        X=NO_MATRIX if X is None else X,
        indptr=indptr.astype(np.uint64),
        indices=indices.astype(np.uint32),
        x=x.astype(np.float64),
        diagonal=diagonal,
        sign=sign,
        norm=norm,
        weight=weight,
        most=most.astype(np.float64),
        metric=metric,
        radius=radius,
        still=np.array([norm, radius]),
        center=center,
        swing=swing,
        typical=typical,
        overlap=overlap,
        codes=codes,
        parent=parent,
        last=last,
        now=_no_sums(N if kind == DENSE else D, D, len(parent), (N + 4, codes.shape[1])),
    )


def _no_sums(size: int, D: int, patterns: int, packed: tuple[int, int]) -> Sums:
    """Return the sums of a map before anything has a level; ``size`` is that of the levels' own."""
    sizes = dict.fromkeys(["base0", "base1", "lost0", "lost1"], size)
    sizes |= dict.fromkeys(["c", "c_lost", "dc", "w", "w_low", "dw", "row", "row_low"], D)
    sizes |= dict.fromkeys(["of_w", "of_dw", "table"], patterns)
    packed = packed if packed[1] else (0, 0)
    return zeros(Sums, levels=new(Levels), packed=packed, kept=(2, D), **sizes)


def _metric(X, norm):
    """Return L' and |L^-1 x_i| for the second moments X'X / n = L L'; none where D^2 > 4 n.

    |x_i.dw| <= |L^-1 x_i| |L'dw|, where |L'dw| is the root mean square of all velocities x_i.dw:
    where columns have a mean or are correlated this is far below |x_i| |dw|.
    """
    radius, (n, D) = norm.copy(), X.shape
    if 4 * n < D**2:
        return NO_MATRIX, radius
    moments = X.T @ X / n
    moments = moments.toarray() if sp.issparse(X) else moments
    spread = moments.trace()
    if not spread > 0:
        return NO_MATRIX, radius
    moments.flat[:: D + 1] += 1e-6 * spread / D
    if not sp.issparse(X):
        return _whiten(X, moments, radius), radius
    # blocks of D rows or more, each of which takes the D^3 / 6 of the factor once more
    size, metric = max(D, BLOCK // D), NO_MATRIX
    for first in range(0, n, size):
        block = slice(first, first + size)
        metric = _whiten(X[block].toarray(), moments, radius[block])
    return metric, radius


@njit(cache=True)
def _whiten(X, moments, radius):
    """Return L' where L L' = moments, and put |L^-1 x_i| into radius."""
    n, D = X.shape
    R, x = np.zeros((D, D)), np.empty(D)
    for j in range(D):
        x[:] = moments[j]
        triangle.solve_lower(R, j, x)
        rest = moments[j, j]
        for k in range(j):
            rest -= x[k] ** 2
        triangle.append(R, j, x, np.sqrt(rest))
    for i in range(n):
        x[:] = X[i]
        triangle.solve_lower(R, D, x)
        total = 0.0
        for k in range(D):
            total += x[k] ** 2
        radius[i] = max(np.sqrt(total), 1e-300)
    return R


def _about_the_mean(H, n, norm, weight):
    """Return (radius, center, swing, typical) of a kernel matrix with borders.

    With d_i the difference of row i from the mean row, |z_i'| is at most |mean z'| + |d_i| |w'|,
    and so at most (1 + |d_i|^2 / R^2)^1/2 ((mean z')^2 + R^2 |w'|^2)^1/2, which is radius_i times
    pace. A wide kernel's rows are almost their mean, and a free bias moves against it. Without a
    border, and with rows far from their mean, |z_i'| <= norm_i |w'| is the better bound.
    """
    center = H[:n].mean(axis=0)
    own, border = H.diagonal()[:n], -H[:n, n:]
    distance2 = np.maximum(own - 2.0 * center[:n] + center[:n].mean(), 0.0) + 1e-14 * own.mean()
    difference = border - border.mean(axis=0)
    constant = np.abs(difference).max(axis=0, initial=0.0) == 0.0
    distance2 += ((difference * np.where(constant, 0.0, weight)) ** 2).sum(axis=1)
    typical = float(np.median(distance2)) or 1.0
    if border.shape[1] == 0 and typical > 0.5 * np.median(own):
        return norm.copy(), np.zeros(len(H)), weight, 1.0
    radius = np.append(np.sqrt(1.0 + distance2 / typical), np.ones(len(H) - n))
    return radius, center, np.where(constant, 0.0, 1.0 / weight), typical


def gram_operator(
    K: NDArray[np.float64], border: NDArray[np.float64] | None = None, lam: float = 1.0
) -> Operator:
    """Return the map of a kernel matrix K / lam (n, n) with border columns B (n, p), e.g. ones."""
    n = len(K)
    border = np.empty((n, 0)) if border is None else border
    p = border.shape[1]
    H = np.zeros((n + p, n + p))
    np.divide(K, lam, out=H[:n, :n])
    H[:n, n:] = -border
    H[n:, :n] = -border.T
    diagonal = H.diagonal().copy()
    weight = _column_weights(border**2, diagonal[:n])
    norm = np.sqrt(np.maximum(diagonal[:n], 0.0) + (border * weight) ** 2 @ np.ones(p))
    return _operator(DENSE, n, 0, 1.0, diagonal, np.append(norm, 1.0 / weight), weight, H=H)


def rows_operator(X, free=None, scale: float = 1.0, blur: float = 0.0) -> Operator:
    """Return the map of K = scale X X' with free columns B, X and B (n, .) arrays or CSR.

    Parameters
    ----------
    X : (n, n_ridge) ndarray or CSR matrix
        Columns under the ridge penalty; may have no columns (l1 penalty alone).
    free : (n, p) ndarray or CSR, optional
        Columns whose coefficients are coordinates of their own.
    scale : float
        Factor of X X', that is 1 / lambda.
    blur : float
        Where X was made from a kernel: the part of a row's length that the kernel's rounding is.
    """
    n, n_ridge = X.shape
    free = np.empty((n, 0)) if free is None else free
    sparse = sp.issparse(X) or sp.issparse(free)
    rows = sp.csr_array(sp.hstack([sp.csr_array(X), sp.csr_array(free)])) if sparse else None
    dense = None if sparse else np.ascontiguousarray(np.hstack([X, free]), dtype=np.float64)
    squares = (rows.power(2) if sparse else dense**2).astype(np.float64)
    ridge = scale * np.asarray(squares[:, :n_ridge].sum(axis=1)).ravel()
    free_weight = _column_weights(squares[:, n_ridge:], ridge)
    norm = np.sqrt(ridge + squares[:, n_ridge:] @ free_weight**2)
    diagonal = np.concatenate([ridge, np.zeros(free.shape[1])])
    weight = np.concatenate([np.full(n_ridge, np.sqrt(scale)), free_weight])
    norm = np.concatenate([norm, 1.0 / free_weight])
    kind = SPARSE if sparse else ROWS
    return _operator(kind, n, n_ridge, scale, diagonal, norm, weight, X=dense, csr=rows, blur=blur)


def _column_weights(squares, ridge: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights that make a free column's share of a row's norm like the ridge's share.

    ``squares`` are those of the free columns' entries.
    """
    n = len(ridge)
    column = np.sqrt(np.asarray(squares.sum(axis=0)).ravel() / n)
    typical = np.sqrt(max(ridge.sum() / n, 0.0)) or 1.0
    column[column == 0.0] = typical
    return typical / column


# ---------------------------------------------------------------------------------------------
# What the walker asks of the map. P lists the pinned coordinates, m of them; a their duals.
# ---------------------------------------------------------------------------------------------


@inline
def row_dot(op, i, v):
    """Return x_i . v."""
    if op.kind == ROWS:
        X = op.X[i]
        return _dot(X, X.shape[0], v)
    if op.flat != 0.0:
        return op.flat * _flat_sum(op, op.indptr[i], op.indptr[i + 1], v)
    return _sparse_sum(op, op.indptr[i], op.indptr[i + 1], v)


@inner
def _dot(x, m, v):
    total = 0.0
    for s in range(m):
        total += x[s] * v[s]
    return total


@inner
def _sparse_sum(op, first, last, v):
    # indptr and indices are unsigned: numba needn't ask whether an index counts from the end.
    total = 0.0
    for s in range(first, last):
        total += op.x[s] * v[op.indices[s]]
    return total


@inline
def _flat_sum(op, first, last, v):
    """Return the sum of v over the nonzeros of a row.

    Only the indices are read, a third of the memory, and one by one: gathering them into vectors,
    as sums in any order are compiled, takes half as long again.
    """
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    a = b = c = d = 0.0
    s = first
    while s + four <= last:
        a += v[op.indices[s]]
        b += v[op.indices[s + one]]
        c += v[op.indices[s + two]]
        d += v[op.indices[s + three]]
        s += four
    while s < last:
        a += v[op.indices[s]]
        s += one
    return (a + b) + (c + d)


@inner
def row_axpy(op, i, factor, v):
    """Add factor * x_i to v."""
    if op.kind == ROWS:
        X = op.X[i]
        for k in range(X.shape[0]):
            v[k] += factor * X[k]
    elif op.flat != 0.0:
        for s in range(op.indptr[i], op.indptr[i + 1]):
            v[op.indices[s]] += factor * op.flat
    else:
        for s in range(op.indptr[i], op.indptr[i + 1]):
            v[op.indices[s]] += factor * op.x[s]


@lean
def pack(op, s, i):
    """Copy the codes of coordinate i to slot s, so that the pinned rows are read in one go."""
    if op.codes.shape[0] == 0:
        return
    packed = op.now.packed[s]
    for k in range(packed.shape[0]):
        packed[k] = op.codes[i, k] if i < op.n else 0


@lean
def rows_times(op, P, m, v, out):
    """Write x_p . v for those of P[:m], the pinned coordinates, that are samples."""
    if op.codes.shape[0] > 0 and m > FEW:
        tabulate(op.parent, op.last, v, op.now.table)
        _packed_times(op, P, m, op.now.table, out)
        op.now.table[:] = 0.0
        return
    for s in range(m):
        if P[s] < op.n:
            out[s] = row_dot(op, P[s], v)


@inline
def _packed_times(op, P, m, table, out):
    """Write x_p . v, as `rows_times`, for a vector's table."""
    for s in range(m):
        if P[s] < op.n:
            out[s] = op.flat * code_sum(op.now.packed, s, table)


@lean
def add_rows(op, P, m, factor, v):
    """Add the sum of factor_s x_p, for those of P[:m], as above, that are samples, to v."""
    if op.codes.shape[0] > 0 and m > FEW:
        for s in range(m):
            code_add(op.now.packed, s, factor[s], op.now.table)
        untabulate(op.parent, op.last, op.flat, op.now.table, v)
        return
    for s in range(m):
        if P[s] < op.n and factor[s] != 0.0:
            row_axpy(op, P[s], factor[s], v)


@lean
def add_rows_exactly(op, P, m, factor, total, low, first=-1):
    """Write x_first plus the sum of factor_s x_p to total, rounded once; low is zero scratch.

    Sums of equal numbers, read by patterns, are left to rounding.
    """
    if first >= 0:
        row_axpy(op, first, 1.0, total)
    if op.codes.shape[0] > 0:
        add_rows(op, P, m, factor, total)
        return
    for s in range(m):
        if P[s] < op.n and factor[s] != 0.0:
            add_row(op, P[s], factor[s], total, low)
    for k in range(total.shape[0]):
        total[k] += low[k]
        low[k] = 0.0


@lean
def entry(op, i, k):
    """Return x_ik."""
    if op.kind == ROWS:
        return op.X[i, k]
    for s in range(op.indptr[i], op.indptr[i + 1]):
        if op.indices[s] == k:
            return op.x[s]
    return 0.0


@lean
def column(op, P, m, j, out):
    """Write H[P, j] to out[:m], with H_jj where P holds j itself."""
    if op.kind == DENSE:
        H = op.H[j]
        for s in range(m):
            out[s] = H[P[s]]
        return
    offset = op.n_ridge - op.n
    if j >= op.n:
        for s in range(m):
            out[s] = -entry(op, P[s], offset + j) if P[s] < op.n else 0.0
        return
    row_axpy(op, j, 1.0, op.now.row)
    for s in range(m):
        if P[s] >= op.n:
            out[s] = -op.now.row[offset + P[s]]
    for k in range(op.n_ridge):
        op.now.row[k] *= op.scale
    op.now.row[op.n_ridge :] = 0.0
    rows_times(op, P, m, op.now.row, out)
    if op.kind == SPARSE:
        for s in range(op.indptr[j], op.indptr[j + 1]):
            op.now.row[op.indices[s]] = 0.0
    else:
        op.now.row[:] = 0.0


@lean
def level_part(op, i, t):
    """Return what the levels of coordinates on pieces contribute to (H a)_i (DENSE)."""
    return (op.now.base0[i] + t * op.now.base1[i]) + (op.now.lost0[i] + t * op.now.lost1[i])


@inline
def value(op, i, t, Q, m, a):
    """Return z_i; row i of Q is H[i, P] (DENSE)."""
    if op.kind == DENSE:
        return op.sign[i] * (level_part(op, i, t) + _dot(Q[i], m, a))
    if i >= op.n:
        return op.now.c[i - op.n + op.n_ridge]
    return row_dot(op, i, op.now.w)


@lean
def pinned_values(op, P, m, out):
    """Write z_p of P[:m] (ROWS, SPARSE)."""
    rows_times(op, P, m, op.now.w, out)
    for s in range(m):
        if P[s] >= op.n:
            out[s] = op.now.c[P[s] - op.n + op.n_ridge]


@lean
def pinned_velocities(op, P, m, out):
    """Write the velocities of z_p of P[:m] (ROWS, SPARSE), and tabulate dw for looks, too."""
    tabulate_velocity(op)
    if op.codes.shape[0] > 0:
        _packed_times(op, P, m, op.now.of_dw, out)
    else:
        rows_times(op, P, m, op.now.dw, out)
    for s in range(m):
        if P[s] >= op.n:
            out[s] = op.now.dc[P[s] - op.n + op.n_ridge]


@lean
def distance(op, i, t, kink0, kink1, Q, P, m, a, low):
    """Return z_i - kink, rounded once: z may be near its kink by far more than its own rounding.

    w, the borders' duals and the kink enter in two parts; of a kernel the terms of two samples,
    which are known no better, are added up as they come.
    """
    total, lost = add_product(-kink0, 0.0, -t, kink1)
    if op.kind == DENSE:
        row, sign, plain, first = Q[i], op.sign[i], level_part(op, i, t), 0
        for s in range(m):
            if i >= op.n or P[s] >= op.n:
                total, lost = add_product(total, lost, sign * row[s], a[s])
                lost += sign * row[s] * low[s]
                plain += _dot(row[first:s], s - first, a[first:s])
                first = s + 1
        plain += _dot(row[first:m], m - first, a[first:m])
        total, lost = add_exactly(total, lost, sign * plain)
        return total + lost
    if i >= op.n:
        k = i - op.n + op.n_ridge
        total, lost = add_exactly(total, lost, op.now.c[k])
        return total + (lost + op.now.c_lost[k])
    if op.kind == ROWS:
        return _dense_distance(op.X[i], op.now.w, op.now.w_low, total, lost)
    for s in range(op.indptr[i], op.indptr[i + 1]):
        k = op.indices[s]
        total, lost = add_product(total, lost, op.x[s], op.now.w[k])
        lost += op.x[s] * op.now.w_low[k]
    return total + lost


@inline
def _dense_distance(x, v, low, a, al):
    """Return a + al + x . (v + low), rounded once: four sums at a time, since each waits."""
    D = x.shape[0]
    b, c, d, bl, cl, dl = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(0, D - 3, 4):
        a, al = add_product(a, al, x[k], v[k])
        b, bl = add_product(b, bl, x[k + 1], v[k + 1])
        c, cl = add_product(c, cl, x[k + 2], v[k + 2])
        d, dl = add_product(d, dl, x[k + 3], v[k + 3])
    for k in range(D - D % 4, D):
        a, al = add_product(a, al, x[k], v[k])
    for k in range(D):
        al += x[k] * low[k]
    a, al = add_exactly(a, al, b)
    c, cl = add_exactly(c, cl, d)
    a, al = add_exactly(a, al, c)
    return a + (al + bl + cl + dl)


@lean
def prepare_looks(op):
    """Tabulate w, for `seen_value`."""
    if op.codes.shape[0] > 0:
        tabulate(op.parent, op.last, op.now.w, op.now.of_w)


@inline
def tabulate_velocity(op):
    """Tabulate dw, for `seen_velocity`: whenever it is another."""
    if op.codes.shape[0] > 0:
        tabulate(op.parent, op.last, op.now.dw, op.now.of_dw)


@inline
def seen_value(op, i, t, Q, m, a):
    """Return z_i as `value` does."""
    if op.codes.shape[0] > 0 and i < op.n:
        return op.flat * code_sum(op.codes, i, op.now.of_w)
    return value(op, i, t, Q, m, a)


@inline
def seen_velocity(op, i, dt, Q, m, da):
    """Return the velocity of z_i as `velocity` does."""
    if op.codes.shape[0] > 0 and i < op.n:
        return op.flat * code_sum(op.codes, i, op.now.of_dw)
    return velocity(op, i, dt, Q, m, da)


@inline
def velocity(op, i, dt, Q, m, da):
    """Return the velocity of z_i for a coordinate that is not pinned."""
    if op.kind == DENSE:
        return op.sign[i] * (dt * op.now.base1[i] + _dot(Q[i], m, da))
    if i >= op.n:
        return op.now.dc[i - op.n + op.n_ridge]
    return row_dot(op, i, op.now.dw)


@lean
def follow_duals(op, dt, P, m, da):
    """Set the velocities of c and w that duals and levels make (ROWS, SPARSE)."""
    for k in range(op.now.c.shape[0]):
        op.now.dc[k], op.now.row_low[k] = dt * op.now.base1[k], dt * op.now.lost1[k]
    for s in range(m):
        p = P[s]
        if p >= op.n:
            op.now.dw[p - op.n + op.n_ridge] = -da[s]
    add_rows_exactly(op, P, m, da, op.now.dc, op.now.row_low)
    if op.codes.shape[0] > 0:
        op.now.row_low[:] = 0.0
    for k in range(op.n_ridge):
        op.now.dw[k] = op.scale * op.now.dc[k]


@sums
def squared_length(op, v):
    """Return the squared length of w, or of its velocity, in the weights behind norms."""
    total = 0.0
    for k in range(v.shape[0]):
        total += (v[k] / op.weight[k]) ** 2
    return total


@sums
def largest_terms(op, v):
    """Bound the terms of any x_i . v, however differently columns are scaled."""
    total = 0.0
    for k in range(v.shape[0]):
        total += abs(v[k]) * op.most[k]
    return total


@sums
def measure_direction(op, dt, P, m, da, own, drift):
    """Return (pace, speed, gross, unit) of a direction.

    |dz_i/dh| is at most radius_i * pace and norm_i * speed for every sample, and gross is the sum
    of the absolute terms that a velocity is added up from, per unit of norm_i. Rounding noise is
    some 1e-16 of norm_i * unit.
    ``own`` holds the velocities of the pinned values, known from the kinks they are pinned to, and
    ``drift`` is dt where kinks move (norm_i allows for their velocities), else 0.
    """
    gross = 0.0
    for s in range(m):
        gross += abs(da[s]) * op.norm[P[s]]
    if op.kind == DENSE:
        return _dense_speed(op, dt, P, m, da, own, gross, drift)
    D = op.now.c.shape[0]
    levels2 = 0.0
    for k in range(D):
        levels2 += (op.weight[k] * dt * op.now.base1[k]) ** 2
    speed2 = drift * drift + squared_length(op, op.now.dw)
    pace2 = speed2
    if op.metric.shape[0] > 0:
        pace2 = drift * drift
        for k in range(D):
            row, total = op.metric[k], 0.0
            for j in range(k, D):
                total += row[j] * op.now.dw[j]
            pace2 += total * total
    speed, levels = np.sqrt(speed2), np.sqrt(levels2)
    # With a ridge w's velocity is known to its own rounding, else to that of the duals'; so it is
    # where rows are known no better than a kernel.
    unit = speed if op.n_ridge > 0 and op.blur == 0.0 else gross + levels
    return np.sqrt(pace2), speed, gross + levels, unit


@lean
def _dense_speed(op, dt, P, m, da, own, gross, drift):
    # |w'|^2 = rate'K rate + 2 da'K rate + da'K da, where the pinned equations give K da. It may
    # be a small difference of large numbers: what that can lose is added to the bound.
    ridge = max(op.now.levels.square, 0.0) * dt * dt
    gross += dt * np.sqrt(max(op.now.levels.square, 0.0))
    lost = 1e-14 * gross * gross
    mean, features, swings = dt * op.now.levels.central, 0.0, 0.0
    for s in range(m):
        p = P[s]
        mean += da[s] * op.center[p]
        if p >= op.n:
            features += (da[s] / op.weight[p - op.n]) ** 2
            swings += (da[s] * op.swing[p - op.n]) ** 2
            for r in range(m):
                if P[r] < op.n:
                    ridge -= da[s] * op.H[p, P[r]] * da[r]
        else:
            ridge += da[s] * (own[s] + dt * op.now.base1[p])
    ridge = max(ridge, 0.0) + lost
    speed = np.sqrt(drift * drift + ridge + features)
    pace = np.sqrt(drift * drift + mean * mean + op.typical * (ridge + swings))
    return pace, speed, gross, gross


@lean
def is_ridge(op):
    """Tell whether values are inner products, so that dependent rows move together."""
    return op.kind == DENSE or op.n_ridge > 0


@lean
def hold_feature(op, i, dual, low):
    """Let the coefficient of a feature be minus its dual."""
    if op.kind != DENSE:
        k = i - op.n + op.n_ridge
        op.now.w[k], op.now.w_low[k] = -dual, -low


@lean
def rest_feature(op, i, level):
    """Let the coefficient of a feature that is no longer pinned stay at minus its level."""
    hold_feature(op, i, level, 0.0)
    if op.kind != DENSE:
        op.now.dw[i - op.n + op.n_ridge] = 0.0


@inline
def add_exactly(total, lost, term):
    """Return (total + lost) + term in two parts again, the second what rounding loses (Knuth)."""
    new = total + term
    back = new - total
    lost += (total - (new - back)) + (term - back)
    total = new + lost
    return total, lost - (total - new)


@inline
def add_product(total, lost, factor, x):
    """Return (total + lost) + factor * x in two parts again."""
    term = factor * x
    total, lost = add_exactly(total, lost, term)
    return total, lost + fma(factor, x, -term)


@inline
def _follow(op):
    """Let w follow c on the columns under the ridge penalty."""
    for k in range(op.n_ridge):
        w = op.scale * op.now.c[k]
        op.now.w[k], op.now.w_low[k] = add_exactly(
            w, op.scale * op.now.c_lost[k] + fma(op.scale, op.now.c[k], -w), 0.0
        )


@lean
def advance(op, h):
    """Move c along its direction by h, and w with it; features follow their duals."""
    for k in range(op.now.c.shape[0]):
        op.now.c[k], op.now.c_lost[k] = add_exactly(op.now.c[k], op.now.c_lost[k], h * op.now.dc[k])
    _follow(op)


@lean
def move_level(op, i, change):
    """Account for a coordinate's dual that is put elsewhere by rounding's measure."""
    if op.kind == DENSE or i >= op.n or change == 0.0:
        return
    add_row(op, i, change, op.now.c, op.now.c_lost)
    _follow(op)


@lean
def add_row(op, i, factor, total, lost):
    """Add factor * x_i to total, and what rounding loses to lost."""
    if op.kind == ROWS:
        _add_column(total, lost, factor, op.X[i])
    else:
        for s in range(op.indptr[i], op.indptr[i + 1]):
            k = op.indices[s]
            total[k], lost[k] = add_product(total[k], lost[k], factor, op.x[s])


@lean
def _add_column(total, lost, factor, v):
    """Add factor * v to total, and what rounding loses to lost."""
    if factor == 0.0:
        return
    for k in range(v.shape[0]):
        total[k], lost[k] = add_product(total[k], lost[k], factor, v[k])


@lean
def hold_level(op, i, level0, level1, change):
    """Account for a coordinate that starts (change 1) or stops (-1) to follow a level.

    When no level moves any more their share of the velocities is zero, not what rounding left.
    """
    if level1 != 0.0:
        op.now.levels.moving += change
    level0, level1 = change * level0, change * level1
    if level0 == 0.0 and level1 == 0.0:
        return
    if op.kind == DENSE:
        H = op.H[i]
        if i < op.n:
            op.now.levels.square += level1 * (2.0 * op.now.base1[i] + level1 * op.diagonal[i])
        op.now.levels.central += level1 * op.center[i]
        _add_column(op.now.base0, op.now.lost0, level0, H)
        _add_column(op.now.base1, op.now.lost1, level1, H)
    elif i < op.n:
        add_row(op, i, level0, op.now.base0, op.now.lost0)
        if level1 != 0.0:
            add_row(op, i, level1, op.now.base1, op.now.lost1)
    if op.now.levels.moving == 0:
        let_levels_stand(op)


@lean
def let_levels_stand(op):
    """Let no level move."""
    op.now.base1[:] = 0.0
    op.now.lost1[:] = 0.0
    op.now.levels.square = op.now.levels.central = 0.0
    op.now.levels.moving = 0


@lean
def rebuild(op, t, duals0, duals1):
    """Compute the sums over levels afresh from the duals of pieces, duals0 + t duals1."""
    op.now.base0[:] = 0.0
    op.now.lost0[:] = 0.0
    let_levels_stand(op)
    op.now.w[:] = 0.0
    op.now.dw[:] = 0.0
    for i in range(op.norm.shape[0]):
        hold_level(op, i, duals0[i], duals1[i], 1)
        if i >= op.n:
            hold_feature(op, i, duals0[i] + t * duals1[i], 0.0)


@lean
def sum_up(op, t, P, m, a, low):
    """Add up c = X'a afresh from the levels' sums and the pinned duals a + low (ROWS, SPARSE)."""
    for k in range(op.now.c.shape[0]):
        op.now.c[k], op.now.c_lost[k] = op.now.base0[k], op.now.lost0[k] + t * op.now.lost1[k]
        op.now.c[k], op.now.c_lost[k] = add_product(
            op.now.c[k], op.now.c_lost[k], t, op.now.base1[k]
        )
    for s in range(m):
        if P[s] < op.n:
            add_row(op, P[s], a[s], op.now.c, op.now.c_lost)
            row_axpy(op, P[s], low[s], op.now.c_lost)
        else:
            hold_feature(op, P[s], a[s], low[s])
    _follow(op)
