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

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .compiled import inline, inner, lean, sums

DENSE, ROWS, SPARSE = 0, 1, 2


class Operator(NamedTuple):
    """The map and what the walker keeps up to date about it.

    Sizes: N coordinates, n of them samples, D columns, n_ridge of them under the ridge penalty.

    ====================  =========  ==========================================================
    ``H``                 (N, N)     DENSE: the symmetric map
    ``X``                 (n, D)     ROWS: the rows
    ``indptr/indices/x``  CSR        SPARSE: the rows
    ``diagonal``          (N,)       H_ii
    ``sign``              (N,)       +1 for samples, -1 for features
    ``norm``              (N,)       |H_ij| <= norm_i norm_j; bounds how fast z_i can move
    ``weight``            (D,)       column weights behind ``norm``
    ``base0, base1``      (N,)       DENSE: H applied to the levels of coordinates on pieces
    ``lost0, lost1``      (N,)       DENSE: what rounding lost in these sums
    ``quadratic``         (1,)       DENSE: rate' K rate of the samples' levels
    ``moving``            (1,)       number of coordinates whose level moves
    ``c, dc, rate``       (D,)       ROWS: X'a, its velocity, and the part of it that levels make
    ``w, dw``             (D,)       ROWS: scale * c on ridge columns, minus a_feature on the others
    ``row``               (D,)       ROWS: scratch, zero between calls
    ====================  =========  ==========================================================
    """

    kind: int
    n: int
    n_ridge: int
    scale: float
    H: NDArray[np.float64]
    X: NDArray[np.float64]
    indptr: NDArray[np.uint64]
    indices: NDArray[np.uint32]
    x: NDArray[np.float64]
    diagonal: NDArray[np.float64]
    sign: NDArray[np.float64]
    norm: NDArray[np.float64]
    weight: NDArray[np.float64]
    base0: NDArray[np.float64]
    base1: NDArray[np.float64]
    lost0: NDArray[np.float64]
    lost1: NDArray[np.float64]
    quadratic: NDArray[np.float64]
    moving: NDArray[np.int64]
    c: NDArray[np.float64]
    dc: NDArray[np.float64]
    rate: NDArray[np.float64]
    w: NDArray[np.float64]
    dw: NDArray[np.float64]
    row: NDArray[np.float64]


def _operator(kind, n, n_ridge, scale, diagonal, norm, weight, H=None, X=None, csr=None):
    N, D = len(diagonal), len(weight)
    none = np.empty((0, 0))
    csr = sp.csr_array((0, 0)) if csr is None else csr
    columns = [np.zeros(D) for _ in range(6)]
    rows = N if kind == DENSE else 0
    return Operator(
        kind,
        n,
        n_ridge,
        float(scale),
        none if H is None else H,
        none if X is None else X,
        csr.indptr.astype(np.uint64),
        csr.indices.astype(np.uint32),
        csr.data.astype(np.float64),
        diagonal,
        np.where(np.arange(N) < n, 1.0, -1.0),
        norm,
        weight,
        *(np.zeros(rows) for _ in range(4)),
        np.zeros(1),
        np.zeros(1, dtype=np.int64),
        *columns,
    )


def gram_operator(K: NDArray[np.float64], border: NDArray[np.float64] | None = None) -> Operator:
    """Return the map of a kernel matrix K (n, n) with border columns B (n, p), e.g. ones."""
    n = len(K)
    border = np.empty((n, 0)) if border is None else border
    p = border.shape[1]
    H = np.zeros((n + p, n + p))
    H[:n, :n] = K
    H[:n, n:] = -border
    H[n:, :n] = -border.T
    diagonal = H.diagonal().copy()
    weight = _column_weights(border, diagonal[:n])
    norm = np.sqrt(np.maximum(diagonal[:n], 0.0) + (border * weight) ** 2 @ np.ones(p))
    return _operator(DENSE, n, 0, 1.0, diagonal, np.append(norm, 1.0 / weight), weight, H=H)


def rows_operator(X, free=None, scale: float = 1.0) -> Operator:
    """Return the map of K = scale X X' with free columns B, X and B (n, .) arrays or CSR.

    Parameters
    ----------
    X : (n, n_ridge) ndarray or CSR matrix
        Columns under the ridge penalty; may have no columns (l1 penalty alone).
    free : (n, p) ndarray or CSR, optional
        Columns whose coefficients are coordinates of their own.
    scale : float
        Factor of X X', that is 1 / lambda.
    """
    n, n_ridge = X.shape
    free = np.empty((n, 0)) if free is None else free
    sparse = sp.issparse(X) or sp.issparse(free)
    rows = sp.csr_array(sp.hstack([sp.csr_array(X), sp.csr_array(free)])) if sparse else None
    dense = None if sparse else np.ascontiguousarray(np.hstack([X, free]), dtype=np.float64)
    squares = (rows.power(2) if sparse else dense**2).astype(np.float64)
    ridge = scale * np.asarray(squares[:, :n_ridge].sum(axis=1)).ravel()
    p = free.shape[1]
    free_weight = _column_weights(free, ridge)
    norm = np.sqrt(ridge + squares[:, n_ridge:] @ free_weight**2)
    diagonal = np.append(ridge, np.zeros(p))
    weight = np.append(np.full(n_ridge, np.sqrt(scale)), free_weight)
    norm = np.append(norm, 1.0 / free_weight)
    kind = SPARSE if sparse else ROWS
    return _operator(kind, n, n_ridge, scale, diagonal, norm, weight, X=dense, csr=rows)


def _column_weights(free, ridge: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights that make a free column's share of a row's norm like the ridge's share."""
    squares = free.power(2) if sp.issparse(free) else np.asarray(free) ** 2
    column = np.sqrt(np.asarray(squares.mean(axis=0)).ravel())
    typical = np.sqrt(ridge.mean()) if ridge.size and ridge.mean() > 0 else 1.0
    return np.where(column > 0, typical / np.where(column > 0, column, 1.0), 1.0)


# ---------------------------------------------------------------------------------------------
# What the walker asks of the map. P lists the pinned coordinates, m of them; a their duals.
# ---------------------------------------------------------------------------------------------


@inner
def row_dot(op, i, v):
    """Return x_i . v."""
    # indptr and indices are unsigned: numba needn't ask whether an index counts from the end.
    total = 0.0
    if op.kind == ROWS:
        X = op.X[i]
        for k in range(X.shape[0]):
            total += X[k] * v[k]
    else:
        for s in range(op.indptr[i], op.indptr[i + 1]):
            total += op.x[s] * v[op.indices[s]]
    return total


@inner
def row_axpy(op, i, factor, v):
    """Add factor * x_i to v."""
    if op.kind == ROWS:
        X = op.X[i]
        for k in range(X.shape[0]):
            v[k] += factor * X[k]
    else:
        for s in range(op.indptr[i], op.indptr[i + 1]):
            v[op.indices[s]] += factor * op.x[s]


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
    row_axpy(op, j, 1.0, op.row)
    for s in range(m):
        if P[s] >= op.n:
            out[s] = -op.row[offset + P[s]]
    op.row[op.n_ridge :] = 0.0
    for s in range(m):
        if P[s] < op.n:
            out[s] = op.scale * row_dot(op, P[s], op.row)
    if op.kind == SPARSE:
        for s in range(op.indptr[j], op.indptr[j + 1]):
            op.row[op.indices[s]] = 0.0
    else:
        op.row[:] = 0.0


@lean
def level_part(op, i, t):
    """Return what the levels of coordinates on pieces contribute to (H a)_i (DENSE)."""
    return (op.base0[i] + t * op.base1[i]) + (op.lost0[i] + t * op.lost1[i])


@inner
def _dot(x, m, v):
    total = 0.0
    for s in range(m):
        total += x[s] * v[s]
    return total


@inline
def value(op, i, t, Q, m, a):
    """Return z_i; row i of Q is H[i, P] (DENSE)."""
    if op.kind == DENSE:
        return op.sign[i] * (level_part(op, i, t) + _dot(Q[i], m, a))
    if i >= op.n:
        return op.c[i - op.n + op.n_ridge]
    return row_dot(op, i, op.w)


@inline
def velocity(op, i, dt, Q, m, da):
    """Return the velocity of z_i for a coordinate that is not pinned."""
    if op.kind == DENSE:
        return op.sign[i] * (dt * op.base1[i] + _dot(Q[i], m, da))
    if i >= op.n:
        return op.dc[i - op.n + op.n_ridge]
    return row_dot(op, i, op.dw)


@sums
def set_direction(op, dt, P, m, da, own, drift):
    """Take a direction; return (speed, gross).

    |dz_i/dh| <= norm_i * speed for every sample, and gross is the sum of the absolute terms that
    a velocity is added up from, per unit of norm_i: rounding noise is some 1e-16 of norm_i * gross.
    ``own`` holds the velocities of the pinned values, known from the kinks they are pinned to, and
    ``drift`` is dt where kinks move (norm_i allows for their velocities), else 0.
    """
    gross = 0.0
    for s in range(m):
        gross += abs(da[s]) * op.norm[P[s]]
    if op.kind == DENSE:
        return _dense_speed(op, dt, P, m, da, own, gross, drift)
    D = op.c.shape[0]
    levels2 = 0.0
    for k in range(D):
        op.dc[k] = dt * op.rate[k]
        levels2 += (op.weight[k] * op.dc[k]) ** 2
    for s in range(m):
        p = P[s]
        if p >= op.n:
            op.dw[p - op.n + op.n_ridge] = -da[s]
        elif da[s] != 0.0:
            row_axpy(op, p, da[s], op.dc)
    speed2 = drift * drift
    for k in range(op.n_ridge):
        op.dw[k] = op.scale * op.dc[k]
        speed2 += op.scale * op.dc[k] ** 2
    for k in range(op.n_ridge, D):
        speed2 += (op.dw[k] / op.weight[k]) ** 2
    return np.sqrt(speed2), gross + np.sqrt(levels2)


@lean
def _dense_speed(op, dt, P, m, da, own, gross, drift):
    # |dw|^2 = rate'K rate + 2 da'K rate + da'K da, where the pinned equations give K da. It may
    # be a small difference of large numbers: what that can lose is added to the bound.
    ridge = max(op.quadratic[0], 0.0) * dt * dt
    gross += dt * np.sqrt(max(op.quadratic[0], 0.0))
    speed2 = drift * drift + 1e-12 * gross * gross
    for s in range(m):
        p = P[s]
        if p >= op.n:
            speed2 += (da[s] / op.weight[p - op.n]) ** 2
            for r in range(m):
                if P[r] < op.n:
                    ridge -= da[s] * op.H[p, P[r]] * da[r]
        else:
            ridge += da[s] * (own[s] + dt * op.base1[p])
    return np.sqrt(speed2 + max(ridge, 0.0)), gross


@lean
def rest_feature(op, i, level):
    """Let the coefficient of a feature that is no longer pinned stay at minus its level."""
    if op.kind != DENSE:
        op.w[i - op.n + op.n_ridge] = -level
        op.dw[i - op.n + op.n_ridge] = 0.0


@sums
def advance(op, h):
    """Move along the direction by h."""
    for k in range(op.c.shape[0]):
        op.c[k] += h * op.dc[k]
        op.w[k] += h * op.dw[k]


@lean
def _add_exactly(total, lost, factor, v):
    """Add factor * v to total, and what rounding loses to lost (Knuth's two-sum)."""
    if factor == 0.0:
        return
    for k in range(v.shape[0]):
        term = factor * v[k]
        old = total[k]
        new = old + term
        back = new - old
        lost[k] += (old - (new - back)) + (term - back)
        total[k] = new


@lean
def hold_level(op, i, level0, level1, change):
    """Account for a coordinate that starts (change 1) or stops (-1) to follow a level.

    When no level moves any more their share of the velocities is zero, not what rounding left.
    """
    if level1 != 0.0:
        op.moving[0] += change
    level0, level1 = change * level0, change * level1
    if level0 == 0.0 and level1 == 0.0:
        return
    if op.kind == DENSE:
        H = op.H[i]
        if i < op.n:
            op.quadratic[0] += level1 * (2.0 * op.base1[i] + level1 * op.diagonal[i])
        _add_exactly(op.base0, op.lost0, level0, H)
        _add_exactly(op.base1, op.lost1, level1, H)
    elif i < op.n:
        row_axpy(op, i, level1, op.rate)
    if op.moving[0] == 0:
        op.base1[:] = 0.0
        op.lost1[:] = 0.0
        op.rate[:] = 0.0
        op.quadratic[0] = 0.0


@lean
def rebuild(op, t, duals0, duals1, P, m, a):
    """Compute everything afresh from the duals of pieces (duals0 + t duals1) and of P."""
    op.base0[:] = 0.0
    op.base1[:] = 0.0
    op.lost0[:] = 0.0
    op.lost1[:] = 0.0
    op.quadratic[0] = 0.0
    op.moving[0] = 0
    op.c[:] = 0.0
    op.rate[:] = 0.0
    op.w[:] = 0.0
    op.dw[:] = 0.0
    for i in range(op.norm.shape[0]):
        level = duals0[i] + t * duals1[i]
        if op.kind == DENSE:
            hold_level(op, i, duals0[i], duals1[i], 1)
        elif i >= op.n:
            op.w[i - op.n + op.n_ridge] = -level
        elif level != 0.0 or duals1[i] != 0.0:
            row_axpy(op, i, level, op.c)
            hold_level(op, i, 0.0, duals1[i], 1)
    if op.kind == DENSE:
        return
    for s in range(m):
        if P[s] < op.n:
            row_axpy(op, P[s], a[s], op.c)
        else:
            op.w[P[s] - op.n + op.n_ridge] = -a[s]
    for k in range(op.n_ridge):
        op.w[k] = op.scale * op.c[k]
