"""Numbers as unevaluated sums of two doubles, about 104 bits, in compiled code.

The error-free transformations are those of Dekker and Knuth, the running sums those of Ogita, Rump
and Oishi ("Accurate sum and dot product", 2005).
"""

from __future__ import annotations

import numpy as np

from .compiled import entry, fma, four_sums, inline, lean, sums


@inline
def two_sum(a, b):
    """Return a + b and its rounding error."""
    s = a + b
    z = s - a
    return s, (a - (s - z)) + (b - z)


@inline
def normalise(h, e):
    """Return the same sum with its first part rounded to nearest."""
    s = h + e
    return s, e - (s - h)


@inline
def add(ah, al, bh, bl):
    """Return a + b."""
    s, e = two_sum(ah, bh)
    return normalise(s, e + (al + bl))


@inline
def times(ah, al, bh, bl):
    """Return a * b."""
    p = ah * bh
    return normalise(p, fma(ah, bh, -p) + (ah * bl + al * bh))


@inline
def divide(ah, al, bh, bl):
    """Return a / b."""
    q = ah / bh
    rest = fma(-q, bh, ah) + (al - q * bl)
    return normalise(q, rest / bh)


@inline
def accumulate(sh, sl, x, wh, wl):
    """Return s + x * w for a double x; the running sum s is not normalised."""
    p = x * wh
    e = fma(x, wh, -p)
    s, d = two_sum(sh, p)
    return s, sl + (d + (e + x * wl))


@lean
def scaled_add(high, low, x, m, wh, wl):
    """Add w x to running sums, element by element: a processor does several at once."""
    for k in range(m):
        h, e = accumulate(high[k], low[k], x[k], wh, wl)
        high[k], low[k] = normalise(h, e)


@entry
def weighted_squares(B, q, s, s_low, high, low):
    """Add B' diag(q) B to the first p columns of high + low, and B's to the last one."""
    n, p = B.shape
    for i in range(n):
        for j in range(p):
            x = q[i] * B[i, j]
            scaled_add(high[j], low[j], B[i], j + 1, x, fma(q[i], B[i, j], -x))
            h, e = accumulate(high[j, p], low[j, p], B[i, j], s[i], s_low[i])
            high[j, p], low[j, p] = normalise(h, e)
    for j in range(p):
        for k in range(j):
            high[k, j], low[k, j] = high[j, k], low[j, k]


@lean
def add_products(high, low, A, m, wh, wl):
    """Add w'A to running sums, four rows at a time."""
    whole = m - m % 4
    for r in range(0, whole, 4):
        a, b, c, d = A[r], A[r + 1], A[r + 2], A[r + 3]
        ah, bh, ch, dh = wh[r], wh[r + 1], wh[r + 2], wh[r + 3]
        al, bl, cl, dl = wl[r], wl[r + 1], wl[r + 2], wl[r + 3]
        for k in range(m):
            h, e = accumulate(high[k], low[k], a[k], ah, al)
            h, e = accumulate(h, e, b[k], bh, bl)
            h, e = accumulate(h, e, c[k], ch, cl)
            h, e = accumulate(h, e, d[k], dh, dl)
            high[k], low[k] = normalise(h, e)
    for r in range(whole, m):
        scaled_add(high, low, A[r], m, wh[r], wl[r])


@sums
def multiply(A, x, y, m):
    """Write A x to y, four rows at a time; A is symmetric, and its lower triangle is read."""
    whole = m - m % 4
    for r in range(m):
        y[r] = 0.0
    for r in range(0, whole, 4):
        a, b, c, d = A[r], A[r + 1], A[r + 2], A[r + 3]
        xa, xb, xc, xd = x[r], x[r + 1], x[r + 2], x[r + 3]
        p = q = s = t = 0.0
        for k in range(r):
            v = x[k]
            p += a[k] * v
            q += b[k] * v
            s += c[k] * v
            t += d[k] * v
            y[k] += a[k] * xa + b[k] * xb + c[k] * xc + d[k] * xd
        y[r] += p + a[r] * xa + b[r] * xb + c[r] * xc + d[r] * xd
        y[r + 1] += q + b[r] * xa + b[r + 1] * xb + c[r + 1] * xc + d[r + 1] * xd
        y[r + 2] += s + c[r] * xa + c[r + 1] * xb + c[r + 2] * xc + d[r + 2] * xd
        y[r + 3] += t + d[r] * xa + d[r + 1] * xb + d[r + 2] * xc + d[r + 3] * xd
    for r in range(whole, m):
        a, p = A[r], A[r, r] * x[r]
        for k in range(r):
            p += a[k] * x[k]
            y[k] += a[k] * x[r]
        y[r] += p


@sums
def scaled_add_sizes(terms, x, m, size):
    """Add size |x| to sums of absolute terms."""
    for k in range(m):
        terms[k] += abs(x[k]) * size


@lean
def copy(to, x, m):
    """Copy numbers."""
    for k in range(m):
        to[k] = x[k]


@sums
def dot(x, y, m):
    """Return x'y in double precision."""
    total = 0.0
    for k in range(m):
        total += x[k] * y[k]
    return total


@sums
def absolute_dot(x, y, m):
    """Return |x|'y in double precision."""
    total = 0.0
    for k in range(m):
        total += abs(x[k]) * y[k]
    return total


@lean
def least(x, first, last):
    """Return the least of x[first:last]; of two at a time, as each minimum waits."""
    a = b = np.inf
    for k in range(first, last - 1, 2):
        a, b = min(a, x[k]), min(b, x[k + 1])
    return min(a, b, x[last - 1])


@sums
def gathered_dot(x, index, y, first, m):
    """Return sum_k x[index_k] y_k over m numbers from the first one on, in double precision."""
    total = 0.0
    for k in range(first, first + m):
        total += x[index[k]] * y[k]
    return total


@sums
def axpy(y, x, m, a):
    """Add a x to y in double precision."""
    for k in range(m):
        y[k] += a * x[k]


@lean
def dot2(x, wh, wl, m):
    """Return x'w for a double x."""
    whole = m - m % 4
    a, b, c, d, e, f, g, r = four_sums(x, wh, wl, whole)
    for k in range(whole, m):
        a, e = accumulate(a, e, x[k], wh[k], wl[k])
    a, e = add(a, e, b, f)
    c, g = add(c, g, d, r)
    return add(a, e, c, g)


@lean
def gathered_dot2(x, index, wh, wl, first, m):
    """Return sum_k x[index_k] w_k over m numbers from the first one on."""
    a = b = 0.0
    e = f = 0.0
    last = first + m - m % 2
    for k in range(first, last, 2):
        a, e = accumulate(a, e, x[index[k]], wh[k], wl[k])
        b, f = accumulate(b, f, x[index[k + 1]], wh[k + 1], wl[k + 1])
    if m % 2:
        a, e = accumulate(a, e, x[index[last]], wh[last], wl[last])
    return add(a, e, b, f)
