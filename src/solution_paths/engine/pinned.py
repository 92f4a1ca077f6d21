"""The pinned system J a_P = b: its products, its factor, and the one solve that all else uses.

With a ridge or a kernel J is [[K, -B], [-B', 0]], K the products of the pinned samples and B their
borders' columns. K + B B' (B weighted) has the same solutions under the balance B'a, and is
positive definite where the bordered system is regular; of it the triangular factor R is kept, and
the borders follow from the small Schur complement W'W, R'W = B. For rows the diagonal of R is the
length of a residual vector, so that conditions are never squared; what a solve leaves is computed
from the rows.

Without a ridge (l1 penalty alone) J is indefinite, with as many samples as features; there the
inverse is kept, and refined in every solve against J, which holds the data themselves.
"""

from __future__ import annotations

import numpy as np

from ..compilation import cached_njit
from . import factor, triangle
from .compiled import inline, lean
from .operators import (
    DENSE,
    add_rows_exactly,
    column,
    distance,
    entry,
    is_ridge,
    level_part,
    pinned_values,
    row_axpy,
    row_dot,
    rows_times,
    squared_length,
)
from .state import (
    ENTERED,
    kink_at,
    room_at,
    width_at,
)

MANY = 6  # steps of refinement: each wins a digit at least, or the last one has been reached


@inline
def keeps_system(op):
    """Tell whether J itself is held, as entries of a kernel or of the data."""
    return op.kind == DENSE or not is_ridge(op)


# ---------------------------------------------------------------------------------------------
# Residuals
# ---------------------------------------------------------------------------------------------


@lean
def residuals(op, st, s, out, exactly):
    """Write sign * (z - delta a - kink) of the pinned coordinates; return the largest, relative.

    The largest of values, and that of balances of duals.
    """
    m, t = s.sizes.pinned, s.clock.t
    if exactly:
        for r in range(m):
            p, q = s.P[r], s.state[s.P[r]] // 2
            off = distance(op, p, t, st.kink0[p, q], st.kink1[p, q], s.Q, s.P, m, s.a, s.lost)
            out[r] = op.sign[p] * (off - st.soft[p] * s.a[r])
    elif op.kind == DENSE:
        factor.multiply(s.J, m, s.a, out)
        for r in range(m):
            p = s.P[r]
            out[r] += level_part(op, p, t) - op.sign[p] * kink_at(st, p, s.state[p] // 2, t)
    else:
        pinned_values(op, s.P, m, out)
        for r in range(m):
            p = s.P[r]
            out[r] -= st.soft[p] * s.a[r] + kink_at(st, p, s.state[p] // 2, t)
            out[r] *= op.sign[p]
    values = balance = 0.0
    for r in range(m):
        p = s.P[r]
        if p >= op.n and s.span[r, 0] == np.inf and s.span[r, 2] == -np.inf:
            balance = max(balance, abs(out[r]) / _size_of_duals(s, st.scale[p]))
        else:
            values = max(values, abs(out[r]) / st.scale[p])
    return values, balance


@lean
def terms(op, s, borders):
    """Return the size of the terms that a value is summed up from, in units of its norm."""
    if op.kind != DENSE:
        return np.sqrt(squared_length(op, op.now.w))
    total = largest = 0.0
    for r in range(s.sizes.pinned):
        if borders or s.P[r] < op.n:
            term = abs(s.a[r]) * op.norm[s.P[r]]
            total += term
            largest = max(largest, term)
    return largest + op.overlap * total


@lean
def demands(op, s, tol):
    """Return what residuals must be below, relative to the kinks and in units of norms, and more.

    The gap feels a residual times the width of its dual's levels, and the objective is like the
    duals times the spread of the kinks: the first is small where duals are beside their levels. The
    second is worth the part ``fine`` of a level to some dual: a solve makes at most residual /
    pivot of it, where the least pivot is that of the factor, or, for the third, of those so far: of
    two values that differ by less either may be pinned next. (Of rows the third is at most the part
    ``tie`` of what the widest level moves a value, as pivots may yet become smaller.) Without a
    ridge it makes at most the residual of a sample times the fourth, the largest entry of the
    inverse between samples. Where no dual has two levels (the lasso) a residual is worth itself
    times how far they are from the one they have.
    """
    pivot, stiff, widest, duals, widths, t = 1.0, 1.0, 0.0, 0.0, 0.0, s.clock.t
    farthest = 0.0  # from its one level, if it has only one
    for k in range(s.sizes.factored):
        pivot = min(pivot, s.R[k, k] / op.norm[s.P[s.order[k]]])
    for r in range(s.sizes.pinned):
        norm, width = op.norm[s.P[r]], width_at(s, r, t)
        if width < np.inf:
            widest = max(widest, width * norm)
            widths += width * norm
            duals += abs(s.a[r]) * norm
        else:
            room = room_at(s, r, t)
            farthest = max(farthest, room * norm if room < np.inf else 0.0)
    if widths == 0.0 and is_ridge(op):
        widest = duals = widths = farthest
    if not is_ridge(op):
        stiff = 0.0
        for r in range(s.sizes.pinned):
            if s.P[r] < op.n:
                stiff = max(stiff, s.G[r, r] * op.norm[s.P[r]] ** 2)
    asked = tol.gap * s.accuracy.spread * min(duals / max(widths, 1e-300), 1.0)
    s.accuracy.least = min(s.accuracy.least, pivot)
    fine = tol.fine * widest
    felt = fine * s.accuracy.least * s.accuracy.least
    if op.kind != DENSE and is_ridge(op) and widest > 0.0:
        felt = min(felt, tol.tie * widest)
    return asked, fine * pivot * pivot, felt, stiff


@lean
def _size_of_duals(s, otherwise):
    """Return what the balance of the duals is relative to: the largest level of pinned ones."""
    size, t = 0.0, s.clock.t
    for r in range(s.sizes.pinned):
        span = s.span[r]
        for k in range(0, 4, 2):
            level = abs(span[k] + t * span[k + 1])
            if level < np.inf:
                size = max(size, level)
    return size if size > 0.0 else otherwise


@lean
def product(op, st, s, x, out):
    """Write J x to out."""
    m = s.sizes.pinned
    if keeps_system(op):
        factor.multiply(s.J, m, x, out)
        return
    row, border = op.now.row, op.n_ridge - op.n
    add_rows_exactly(op, s.P, m, x, row, op.now.row_low)
    for r in range(m):
        if s.P[r] >= op.n:
            out[r] = -row[border + s.P[r]]
    for k in range(op.n_ridge):
        row[k] *= op.scale
    for r in range(m):
        if s.P[r] >= op.n:
            row[border + s.P[r]] = -x[r]
    rows_times(op, s.P, m, row, out)
    for r in range(m):
        out[r] -= op.sign[s.P[r]] * st.soft[s.P[r]] * x[r]
    row[:] = 0.0


# ---------------------------------------------------------------------------------------------
# Solving
# ---------------------------------------------------------------------------------------------


@lean
def apply_factor(op, s, v, out):
    """Write the factor's solution of J out = v."""
    if not is_ridge(op):
        factor.multiply(s.G, s.sizes.pinned, v, out)
        return
    _solve_lower(s, v)
    _solve_rest(op, s, v, out)


@inline
def _solve_lower(s, v):
    """Write R'^-1 v, of the samples among v, to s.x."""
    for k in range(s.sizes.factored):
        s.x[k] = v[s.order[k]]
    triangle.solve_lower(s.R, s.sizes.factored, s.x)


@lean
def _solve_rest(op, s, v, out):
    """Write the factor's solution of J out = v, given s.x = R'^-1 v."""
    q = s.sizes.factored
    if q < s.sizes.pinned:
        _solve_borders(op, s, q, v, out)
    triangle.solve_upper(s.R, q, s.x)
    for k in range(q):
        out[s.order[k]] = s.x[k]


@lean
def solve_rates(op, s, rates, out):
    """Write the factor's solution of J out = rates, the kinks', to be carried on with the factor.

    R'^-1 rates changes with each event by what the event has computed anyway.
    """
    q, last = s.sizes.factored, s.W.shape[1] - 1
    if s.direction.carried:
        for k in range(q):
            s.x[k] = s.W[k, last]
    else:
        _solve_lower(s, rates)
        for k in range(q):
            s.W[k, last] = s.x[k]
        s.direction.carried = 1
    _solve_rest(op, s, rates, out)


@lean
def correct_rates(op, s, left, out):
    """Write the factor's solution of J out = left, what one of rates leaves, and carry it on."""
    last = s.W.shape[1] - 1
    _solve_lower(s, left)
    for k in range(s.sizes.factored):
        s.W[k, last] += s.x[k]
    _solve_rest(op, s, left, out)


@lean
def shift_rates(op, s, i, level1):
    """Let sample i, whose column s.f is, no longer move values by its level, at ``level1``."""
    q, last = s.sizes.factored, s.W.shape[1] - 1
    if level1 == 0.0:
        return
    for k in range(q):
        s.W[k, last] += level1 * s.f[k]
    for b in range(last):
        share = level1 * op.weight[op.weight.shape[0] - last + b] ** 2 * border_entry(op, i, b)
        for k in range(q):
            s.W[k, last] -= share * s.W[k, b]


@lean
def _solve_borders(op, s, q, v, out):
    """Write the borders' part of a solution, and add its share to s.x = R'^-1 v."""
    p, x = s.W.shape[1] - 1, s.x
    for b in range(p):
        r = s.slot[op.n + b]
        share = op.weight[op.weight.shape[0] - p + b] ** 2 * v[r]
        for k in range(q):
            x[k] -= share * s.W[k, b]
    for b in range(p):
        total = v[s.slot[op.n + b]]
        for k in range(q):
            total += s.W[k, b] * x[k]
        s.small[b, p] = -total
        for c in range(p):
            total = 0.0
            for k in range(q):
                total += s.W[k, b] * s.W[k, c]
            s.small[b, c] = total
    _eliminate(s.small, p)
    for b in range(p):
        out[s.slot[op.n + b]] = s.small[b, p]
        for k in range(q):
            x[k] += s.small[b, p] * s.W[k, b]


@lean
def _eliminate(A, p):
    """Solve a small positive definite system, whose right-hand side is the last column."""
    for b in range(p):
        for c in range(p):
            if c != b and A[b, b] != 0.0:
                part = A[c, b] / A[b, b]
                for k in range(b, p + 1):
                    A[c, k] -= part * A[b, k]
    for b in range(p):
        A[b, p] = A[b, p] / A[b, b] if A[b, b] != 0.0 else 0.0


@lean
def solve(op, st, s, tol, target, x, accuracy):
    """Solve J x = target, with residuals from the data.

    Refined until the residual is below ``accuracy`` times the terms that it is summed from, or
    until it no longer halves. How much the first step leaves is noted: the only measure of trust.
    An inverse that has lost it is computed afresh at once.
    """
    apply_factor(op, s, target, x)
    improve(op, st, s, tol, target, x, accuracy)


@lean
def improve(op, st, s, tol, target, x, accuracy):
    """Refine a factor's solution, see `solve`; return the largest residual, relative to norms."""
    m, size, last = s.sizes.pinned, largest(op, s, target), np.inf
    for step in range(MANY):
        worst = _rest(op, st, s, target, x)
        if step == 0:
            note_contraction(s, worst, size)
            if is_worn(s, tol) and not is_ridge(op):
                _invert(op, st, s)
                apply_factor(op, s, target, x)
                worst = _rest(op, st, s, target, x)
                note_contraction(s, worst, size)
        gross = weigh(op, s, x)
        if worst <= accuracy * gross or not worst <= 0.5 * last:
            return worst
        last, s.direction.carried = worst, 0  # the next direction may begin better
        apply_factor(op, s, s.v, s.y)
        for r in range(m):
            x[r] += s.y[r]
    return last


@inline
def _rest(op, st, s, target, x):
    """Write target - J x to s.v; return the largest, relative to norms."""
    product(op, st, s, x, s.v)
    for r in range(s.sizes.pinned):
        s.v[r] = target[r] - s.v[r]
    return largest(op, s, s.v)


@inline
def is_worn(s, tol):
    """Tell whether the factor's solutions leave too much, and a new one may be better."""
    return s.accuracy.contraction > tol.fresh and s.counts.since_factored > 0


@inline
def note_contraction(s, left, size):
    """Note what share of a right-hand side the factor's solution leaves."""
    if size > 0.0:
        s.accuracy.contraction = left / size


@lean
def largest(op, s, v):
    """Return the largest of v, each relative to the norm of its coordinate."""
    worst = 0.0
    for r in range(s.sizes.pinned):
        worst = max(worst, abs(v[r]) / op.norm[s.P[r]])
    return worst


@lean
def weigh(op, s, x):
    """Return the sum of |x| times the norms of the coordinates."""
    total = 0.0
    for r in range(s.sizes.pinned):
        total += abs(x[r]) * op.norm[s.P[r]]
    return total


# ---------------------------------------------------------------------------------------------
# The entrant
# ---------------------------------------------------------------------------------------------


@lean
def schur(op, st, s, tol, j):
    """Return the Schur pivot of coordinate j and whether it is zero but for rounding.

    Where it is (nearly) zero s.u holds the solution of J u = H[P, j]; s.f holds what `join` needs.
    """
    if not is_ridge(op):
        column(op, s.P, s.sizes.pinned + (s.pending.kind == ENTERED), j, s.k)
        solve(op, st, s, tol, s.k, s.u, 0.0)
        return _quadratic(op, st, s, tol, j, op.diagonal[j] - op.sign[j] * st.soft[j])
    q, f = s.sizes.factored, s.f
    gram_column(op, s, j, s.k)
    for k in range(q):
        f[k] = s.k[s.order[k]]
    triangle.solve_lower(s.R, q, f)
    square = gram_diagonal(op, st, j)
    length = square
    for k in range(q):
        square -= f[k] * f[k]
    full = op.kind != DENSE and q >= op.now.c.shape[0] and st.soft[j] == 0.0
    trusted = op.kind == DENSE or s.accuracy.contraction <= tol.trusted
    if not full and trusted and square > tol.cautious * length:
        return square, False
    for k in range(q):
        s.x[k] = f[k]
    triangle.solve_upper(s.R, q, s.x)
    s.u[: s.sizes.pinned] = 0.0
    for k in range(q):
        s.u[s.order[k]] = s.x[k]
    if op.kind == DENSE:
        _refine_gram(op, s, st, s.k, s.u)
        return _quadratic(op, st, s, tol, j, length)
    square, gross = _residual_row(op, st, s, j)
    return square, full or square <= (max(tol.parallel, op.blur) * gross) ** 2


@lean
def gram_diagonal(op, st, j):
    """Return the squared length of a sample, borders' columns included."""
    total = op.diagonal[j] - st.soft[j]
    p = op.weight.shape[0] - op.n_ridge
    for b in range(p):
        total += (op.weight[op.n_ridge + b] * border_entry(op, j, b)) ** 2
    return total


@inline
def border_entry(op, i, b):
    """Return entry i of border column b."""
    if op.kind == DENSE:
        return -op.H[i, op.n + b]
    return entry(op, i, op.n_ridge + b)


@lean
def gram_column(op, s, j, out):
    """Write the products of sample j with the pinned samples, borders' columns included."""
    m = s.sizes.pinned
    if op.kind == DENSE:
        H = op.H[j]
        for r in range(m):
            out[r] = H[s.P[r]]
        for b in range(op.weight.shape[0]):
            share = op.weight[b] ** 2 * H[op.n + b]
            for r in range(m):
                if s.P[r] < op.n:
                    out[r] += share * op.H[s.P[r], op.n + b]
        return
    row_axpy(op, j, 1.0, op.now.row)
    for k in range(op.now.row.shape[0]):
        op.now.row[k] *= op.weight[k] * op.weight[k]
    rows_times(op, s.P, m, op.now.row, out)
    op.now.row[:] = 0.0


@lean
def _refine_gram(op, s, st, k, u):
    """Improve s.u and s.f by one step against the kernel's entries."""
    m, q = s.sizes.pinned, s.sizes.factored
    factor.multiply(s.J, m, u, s.v)
    for r in range(m):
        s.v[r] = k[r] - s.v[r]
    for b in range(op.weight.shape[0]):
        total = 0.0
        for r in range(m):
            if s.P[r] < op.n:
                total += u[r] * border_entry(op, s.P[r], b)
        total *= op.weight[b] ** 2
        for r in range(m):
            if s.P[r] < op.n:
                s.v[r] -= total * border_entry(op, s.P[r], b)
    for i in range(q):
        s.x[i] = s.v[s.order[i]]
    triangle.solve_lower(s.R, q, s.x)
    for i in range(q):
        s.f[i] += s.x[i]
    triangle.solve_upper(s.R, q, s.x)
    for i in range(q):
        u[s.order[i]] += s.x[i]


@lean
def _quadratic(op, st, s, tol, j, pivot):
    """Return the pivot as v'Hv, v = (1, -u), which is stationary in u, and whether it is zero."""
    m = s.sizes.pinned
    length = op.norm[j]
    factor.multiply(s.J, m, s.u, s.v)
    if op.kind == DENSE:
        for b in range(op.weight.shape[0]):
            total = 0.0
            for r in range(m):
                if s.P[r] < op.n:
                    total += s.u[r] * border_entry(op, s.P[r], b)
            pivot += (op.weight[b] * total) ** 2
    for r in range(m):
        length += op.norm[s.P[r]] * abs(s.u[r])
        pivot += s.u[r] * (s.v[r] - 2.0 * s.k[r])
    singular = op.sign[j] * pivot <= tol.singular * length * length
    if singular and not is_ridge(op):
        own = op.diagonal[j] + abs(st.soft[j])
        singular = op.sign[j] * pivot <= rounding_of_form(op, st, s, tol, s.k, s.u, own)
    return pivot, singular


@lean
def rounding_of_form(op, st, s, tol, k, v, total):
    """Return what rounding makes of v'Jv - 2 k'v + total, where v solves J v = k, without a ridge.

    That is the rounding of its terms, which are far less than norms allow: a feature whose softness
    is small beside its column takes part with a large share, but has no products with other
    features and hardly one with itself. It is what v's own residuals are worth, and the square of
    v's own rounding.
    """
    m, left = s.sizes.pinned, 0.0
    _rest(op, st, s, k, v)
    for r in range(m):
        left += abs(v[r] * s.v[r])
    factor.multiply_sizes(s.J, m, v, s.v)
    for r in range(m):
        total += (s.v[r] + 2.0 * abs(k[r])) * abs(v[r])
    return tol.singular * total + left + (tol.singular * weigh(op, s, v)) ** 2


@lean
def _residual_row(op, st, s, j):
    """Make x_j - X_P'u orthogonal to the pinned rows; return its squared length, and its terms'.

    Corrected semi-normal equations (Bjorck): s.u and s.f = R'^-T u are improved with it.
    """
    m, q, row = s.sizes.pinned, s.sizes.factored, op.now.row
    square = last = np.inf
    for _ in range(MANY):
        for r in range(m):
            s.v[r] = -s.u[r]
        add_rows_exactly(op, s.P, m, s.v, row, op.now.row_low, j)
        last, square = square, -st.soft[j]
        for k in range(row.shape[0]):
            square += (op.weight[k] * row[k]) ** 2
            row[k] *= op.weight[k] * op.weight[k]
        for r in range(m):
            square -= st.soft[s.P[r]] * s.u[r] * s.u[r]
        rows_times(op, s.P, m, row, s.v)
        row[:] = 0.0
        if square > 0.5 * last:
            break
        for k in range(q):
            r = s.order[k]
            s.x[k] = s.v[r] + st.soft[s.P[r]] * s.u[r]
        triangle.solve_lower(s.R, q, s.x)
        for k in range(q):
            s.f[k] += s.x[k]
        triangle.solve_upper(s.R, q, s.x)
        for k in range(q):
            s.u[s.order[k]] += s.x[k]
    return square, op.norm[j] + weigh(op, s, s.u)


# ---------------------------------------------------------------------------------------------
# Updates of the factor
# ---------------------------------------------------------------------------------------------


@lean
def join(op, st, s, i, square):
    """Take sample i, in the slot that it has, into the factor; s.f is its column, from `schur`."""
    q, f, last = s.sizes.factored, s.f, s.W.shape[1] - 1
    diagonal = np.sqrt(max(square, 1e-300))
    triangle.append(s.R, q, f, diagonal)
    for b in range(last + s.direction.carried):
        total = border_entry(op, i, b) if b < last else _kink_rate(op, st, s, i)
        for k in range(q):
            total -= f[k] * s.W[k, b]
        s.W[q, b] = total / diagonal
    s.order[q], s.rank[s.slot[i]] = s.slot[i], q
    s.sizes.factored = q + 1


@lean
def _kink_rate(op, st, s, i):
    """Return how fast the value of sample i must move against what the levels move it."""
    rate = st.kink1[i, s.state[i] // 2]
    if op.kind == DENSE:
        return rate - op.now.base1[i]
    for k in range(op.n_ridge):
        op.now.row[k] = op.scale * op.now.base1[k]
    rate -= row_dot(op, i, op.now.row)
    op.now.row[:] = 0.0
    return rate


@lean
def part(s, r):
    """Take the sample in slot r out of the factor; s.f becomes its column, as in `join`."""
    q, k = s.sizes.factored, s.rank[r]
    triangle.remove(s.R, q, k, s.W, s.x, s.f)
    for j in range(k, q - 1):
        s.order[j] = s.order[j + 1]
        s.rank[s.order[j]] = j
    s.rank[r] = -1
    s.sizes.factored = q - 1


@lean
def append_row(s, m, k, diagonal):
    """Border J by the column k."""
    for r in range(m):
        s.J[m, r] = k[r]
    s.J[m, m] = diagonal


@lean
def hold_system(op, st, s, i):
    """Write the row of J of coordinate i, which has its slot, where J is held."""
    if not keeps_system(op):
        return
    r, m = s.slot[i], s.sizes.pinned
    column(op, s.P, m, i, s.y)
    for j in range(r):
        s.J[r, j] = s.y[j]
    for j in range(r + 1, m):
        s.J[j, r] = s.y[j]
    s.J[r, r] = op.diagonal[i] - op.sign[i] * st.soft[i]


@cached_njit(_nrt=True)  # it creates arrays, also where lean functions compile it first
def refactor(op, st, s, tol):
    """Compute the factor of the pinned system afresh."""
    if not is_ridge(op):
        _invert(op, st, s)
        return
    m = s.sizes.pinned
    _renew_trust(s)
    if keeps_system(op):
        _sum_system(op, st, s)
    s.sizes.factored = 0
    s.rank[:] = -1
    for r in range(m):
        if s.P[r] < op.n:
            square, _ = schur(op, st, s, tol, s.P[r])
            join(op, st, s, s.P[r], square)


@cached_njit
def _invert(op, st, s):
    """Compute the inverse of the pinned system afresh."""
    m = s.sizes.pinned
    _renew_trust(s)
    _sum_system(op, st, s)
    if m > 0:
        G = np.linalg.inv(s.J[:m, :m])
        s.G[:m, :m] = 0.5 * (G + G.T)


@lean
def _renew_trust(s):
    """Count a new factor, which nothing is held against yet."""
    s.counts.refactored += 1
    s.counts.since_factored = 0
    s.accuracy.contraction = 0.0
    s.direction.carried = 0


@lean
def _sum_system(op, st, s):
    """Write J from the map."""
    m = s.sizes.pinned
    for r in range(m):
        p = s.P[r]
        column(op, s.P, m, p, s.y)
        for k in range(m):
            s.J[r, k] = s.y[k]
        s.J[r, r] = op.diagonal[p] - op.sign[p] * st.soft[p]
