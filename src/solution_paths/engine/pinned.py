"""The pinned system J a_P = b and its inverse: residuals, columns, pivots, and how good it is."""

from __future__ import annotations

import numpy as np
from numba import njit

from . import factor
from .compiled import inline, lean
from .operators import (
    DENSE,
    add_rows,
    column,
    level_part,
    pinned_products,
    row_axpy,
    value,
)
from .state import (
    ENTERED,
    ERROR,
    FLOOR,
    KIND,
    RANDOM,
    REFACTORED,
    WEAR,
    M,
    T,
    kink_at,
)


@lean
def residuals(op, st, s, out):
    """Write sign * (z - delta a - kink) of the pinned coordinates; return the largest, relative."""
    m = s.count[M]
    t = s.number[T]
    worst = 0.0
    if op.kind == DENSE:
        factor.multiply(s.J, m, s.a, out)
    else:
        pinned_products(op, s.P, m, op.w, op.c, out)
    for r in range(m):
        p = s.P[r]
        kink = kink_at(st, p, s.state[p] // 2, t)
        if op.kind == DENSE:
            out[r] += level_part(op, p, t) - op.sign[p] * kink
        else:
            out[r] = op.sign[p] * (out[r] - st.soft[p] * s.a[r] - kink)
        worst = max(worst, abs(out[r]) / st.scale[p])
    return worst


@inline
def residual(op, st, s, r):
    """Return z - delta a - kink of the coordinate in slot r."""
    p, t = s.P[r], s.number[T]
    z = value(op, p, t, s.Q, s.count[M], s.a)
    return z - st.soft[p] * s.a[r] - kink_at(st, p, s.state[p] // 2, t)


@lean
def pinned_column(op, st, s, j):
    """Write J[P, j] to s.k and G J[P, j] to s.u; return the Schur pivot and its absolute terms."""
    m = s.count[M]
    column(op, s.P, m + (s.count[KIND] == ENTERED), j, s.k)
    factor.multiply(s.G, m, s.k, s.u)
    pivot = op.diagonal[j] - op.sign[j] * st.soft[j]
    gross = max(abs(pivot), op.norm[j] ** 2)
    for r in range(m):
        term = s.k[r] * s.u[r]
        pivot -= term
        gross += abs(term)
    return pivot, gross


@lean
def append_row(s, m, k, diagonal):
    """Border J by the column k."""
    for r in range(m):
        s.J[m, r] = k[r]
    s.J[m, m] = diagonal


@lean
def replace_row(op, st, s, m, r, i):
    """Write coordinate i's row of J into slot r, from s.k = H[P, i]."""
    for q in range(r):
        s.J[r, q] = s.k[q]
    for q in range(r + 1, m):
        s.J[q, r] = s.k[q]
    s.J[r, r] = op.diagonal[i] - op.sign[i] * st.soft[i]


@lean
def careful_schur(op, st, s, tol, j):
    """Refine s.u; return the pivot as a quadratic form, and whether it is zero but for rounding.

    With v = (1, -u) the pivot is v'Hv, stationary in u, so that an error of u counts squared. Its
    rounding error is that of a squared length summed up from parts norm_i |v_i|.
    """
    m = s.count[M]
    refine(op, st, s, s.u, s.k)
    length = op.norm[j]
    pivot = op.diagonal[j] - op.sign[j] * st.soft[j]
    for r in range(m):
        length += op.norm[s.P[r]] * abs(s.u[r])
    if op.kind == DENSE:
        factor.multiply(s.J, m, s.u, s.v)
        for r in range(m):
            pivot += s.u[r] * (s.v[r] - 2.0 * s.k[r])
    else:
        pivot = _row_quadratic(op, st, s, j)
    return pivot, op.sign[j] * pivot <= tol.singular * length * length


@lean
def _row_quadratic(op, st, s, j):
    """Return v'Hv for v = (1, -u) from the combined row X'v."""
    combined, border = op.row, op.n_ridge - op.n
    total = -op.sign[j] * st.soft[j]
    if j < op.n:
        row_axpy(op, j, 1.0, combined)
    for r in range(s.count[M]):
        p = s.P[r]
        total -= op.sign[p] * st.soft[p] * s.u[r] * s.u[r]
        s.v[r] = -s.u[r]
    add_rows(op, s.P, s.count[M], s.v, combined)
    for r in range(s.count[M]):
        if s.P[r] >= op.n:
            total += 2.0 * combined[border + s.P[r]] * s.u[r]
    if j >= op.n:
        total -= 2.0 * combined[border + j]
    for k in range(op.n_ridge):
        total += op.scale * combined[k] * combined[k]
    combined[:] = 0.0
    return total


@lean
def refine(op, st, s, x, target):
    """Improve the solution x of J x = target by one step."""
    m = s.count[M]
    factor.multiply(s.J, m, x, s.v)
    for r in range(m):
        s.v[r] = target[r] - s.v[r]
    factor.multiply(s.G, m, s.v, s.x)
    for r in range(m):
        x[r] += s.x[r]


@lean
def inspect_inverse(op, st, s, tol):
    """Measure the error of the inverse on a random vector; compute it afresh when it is bad.

    What a fresh inverse reaches is the floor for this pinned system: no point in asking for more.
    """
    error = _probe(op, st, s)
    if error > max(tol.inverse, s.number[FLOOR]):
        refactor(op, st, s)
        error = _probe(op, st, s)
        s.number[FLOOR] = 10.0 * error
    s.number[ERROR] = error
    s.number[WEAR] = 0.0


@lean
def _probe(op, st, s):
    """Return the largest relative entry of J G v - v for a vector v of random signs."""
    m = s.count[M]
    for r in range(m):
        s.count[RANDOM] = (s.count[RANDOM] * 1103515245 + 12345) % 2147483648
        s.v[r] = op.norm[s.P[r]] * (1.0 if s.count[RANDOM] % 65536 < 32768 else -1.0)
    factor.multiply(s.G, m, s.v, s.x)
    factor.multiply(s.J, m, s.x, s.y)
    error = 0.0
    for r in range(m):
        error = max(error, abs(s.y[r] - s.v[r]) / op.norm[s.P[r]])
    return error


@lean
def note_wear(s, growth):
    """Note that an update with a small pivot multiplied the rounding errors of the inverse."""
    s.number[WEAR] += 1e-15 * growth


@njit(cache=True)
def refactor(op, st, s):
    """Compute the inverse of the pinned system afresh."""
    m = s.count[M]
    for r in range(m):
        p = s.P[r]
        column(op, s.P, m, p, s.v)
        s.J[r, :m] = s.v[:m]
        s.J[r, r] = op.diagonal[p] - op.sign[p] * st.soft[p]
    if m > 0:
        J = s.J[:m, :m].copy()
        G = np.linalg.inv(J)
        G = 0.5 * (G + G.T)
        # LU gives small residuals on one side only, and the symmetric part may need a Newton step;
        # where J is ill-conditioned that step's rounding errors are worse than what it mends.
        residual = np.eye(m) - np.dot(J, G)
        step = np.dot(G, residual)
        better = G + 0.5 * (step + step.T)
        left = np.eye(m) - np.dot(J, better)
        s.G[:m, :m] = better if np.abs(left).max() < np.abs(residual).max() else G
    s.count[REFACTORED] += 1
