"""The triangular factor R of a positive definite system, R'R = M, updated by rotations.

R is upper triangular and kept by rows, so that whatever is done to it reads rows from left to
right. A coordinate enters as the last column; one that leaves takes its column along, and rotations
of neighbouring rows make R triangular again. Rotations don't amplify rounding errors: R'R stays M
but for the rounding of its entries, however many coordinates come and go.

References: Golub and Van Loan (2013), *Matrix Computations*, section 6.5.3.
"""

from __future__ import annotations

import numpy as np

from .compiled import inline, inner, lean, sums


@sums
def solve_lower(R, m, x):
    """Overwrite x with the solution y of R'y = x; four rows of R at a time."""
    grouped = m - m % 4
    for i in range(0, grouped, 4):
        a, b, c, d = R[i], R[i + 1], R[i + 2], R[i + 3]
        xa = x[i] / a[i]
        xb = (x[i + 1] - xa * a[i + 1]) / b[i + 1]
        xc = (x[i + 2] - xa * a[i + 2] - xb * b[i + 2]) / c[i + 2]
        xd = (x[i + 3] - xa * a[i + 3] - xb * b[i + 3] - xc * c[i + 3]) / d[i + 3]
        x[i], x[i + 1], x[i + 2], x[i + 3] = xa, xb, xc, xd
        _subtract(x[i + 4 : m], xa, a[i + 4 :], xb, b[i + 4 :], xc, c[i + 4 :], xd, d[i + 4 :])
    for i in range(grouped, m):
        row = R[i]
        x[i] /= row[i]
        for j in range(i + 1, m):
            x[j] -= x[i] * row[j]


@sums
def solve_upper(R, m, x):
    """Overwrite x with the solution y of R y = x; four rows of R at a time."""
    grouped = m - m % 4
    for i in range(m - 1, grouped - 1, -1):
        row, total = R[i], x[i]
        for j in range(i + 1, m):
            total -= row[j] * x[j]
        x[i] = total / row[i]
    for i in range(grouped - 4, -1, -4):
        a, b, c, d = R[i], R[i + 1], R[i + 2], R[i + 3]
        ta, tb, tc, td = _dots(x[i + 4 : m], a[i + 4 :], b[i + 4 :], c[i + 4 :], d[i + 4 :])
        xd = (x[i + 3] - td) / d[i + 3]
        xc = (x[i + 2] - tc - c[i + 3] * xd) / c[i + 2]
        xb = (x[i + 1] - tb - b[i + 2] * xc - b[i + 3] * xd) / b[i + 1]
        x[i] = (x[i] - ta - a[i + 1] * xb - a[i + 2] * xc - a[i + 3] * xd) / a[i]
        x[i + 1], x[i + 2], x[i + 3] = xb, xc, xd


@inner
def _subtract(x, xa, a, xb, b, xc, c, xd, d):
    for j in range(x.shape[0]):
        x[j] -= xa * a[j] + xb * b[j] + xc * c[j] + xd * d[j]


@inner
def _dots(x, a, b, c, d):
    ta = tb = tc = td = 0.0
    for j in range(x.shape[0]):
        xj = x[j]
        ta += a[j] * xj
        tb += b[j] * xj
        tc += c[j] * xj
        td += d[j] * xj
    return ta, tb, tc, td


@lean
def append(R, m, column, diagonal):
    """Add a coordinate whose column of R is given."""
    for i in range(m):
        R[i, m] = column[i]
    R[m, m] = diagonal


@lean
def remove(R, m, j, W, carried, column):
    """Drop column j; what stands behind it moves up. W's rows (R'W = B) take part.

    ``column`` becomes what the coordinate would need to come back, as in `append`.
    """
    for i in range(j):
        column[i] = R[i, j]
        _copy(carried, R[i, j + 1 : m])
        _copy(R[i, j:], carried[: m - 1 - j])
    _copy(carried, R[j, j + 1 : m])  # the row that is being rotated into the next ones
    rest = R[j, j]
    for i in range(j, m - 1):
        upper, lower = carried[i - j : m - 1 - j], R[i + 1, i + 1 : m]
        diagonal = _length(upper[0], lower[0])
        c, s = upper[0] / diagonal, lower[0] / diagonal
        _rotate(R[i, i:], upper, lower, c, s)
        column[i], rest = c * rest, -s * rest
        for k in range(W.shape[1]):
            up, low = W[i, k], W[i + 1, k]
            W[i, k], W[i + 1, k] = c * up + s * low, c * low - s * up


@inline
def _length(x, y):
    """Return the length of (x, y), which hardly ever is so large or small that squares are lost."""
    square = x * x + y * y
    return np.sqrt(square) if 1e-280 < square < 1e280 else np.hypot(x, y)


@inner
def _copy(out, row):
    for k in range(row.shape[0]):
        out[k] = row[k]


@inner
def _rotate(out, upper, lower, c, s):
    """Rotate two rows; write the first to out, and the other in place of upper."""
    for k in range(upper.shape[0]):
        up, low = upper[k], lower[k]
        out[k] = c * up + s * low
        upper[k] = c * low - s * up
