"""The inverse of the system's matrix: computed afresh, and updated at changes of places.

It is symmetric: only the lower triangle is stored, except that `factor_twofold` stores both.
"""

from __future__ import annotations

from ..compiled import inline, lean
from ..rows import entry_in
from ..state import couples, diagonal, factors, inverse_pivot, is_of_kind
from ..tolerances import REFINED
from ..twofold import add, axpy, copy, divide, dot, multiply, scaled_add


@lean
def entry_of(w, k, i):
    """Return an entry of H."""
    m, n, p = w.map, w.map.n, w.map.p
    low, high = min(k, i), max(k, i)
    if high < n:
        return m.gram[k, i] if m.with_gram else 0.0
    if high < n + p:
        if low < n:
            return entry_in(m, low, high - n)
        return -m.ridge[low - n] if low == high else 0.0
    return w.sign[low - n] if n <= low < n + p else 0.0


@lean
def low_entry_of(w, k, i):
    """Return the second part of an entry of H, of two rows; all other entries are exact."""
    return w.map.low[k, i] if w.map.with_low and max(k, i) < w.map.n else 0.0


@lean
def insert(w, i):
    """Append a coordinate to the solved ones; the inverse stays the same."""
    now, k = w.now, w.now.solved
    now.twofold = 0
    for a in range(k):
        w.H[a, k] = w.H[k, a] = entry_of(w, w.solved[a], i)
    w.H[k, k] = entry_of(w, i, i)
    if w.map.with_low:
        for a in range(k):
            w.L[a, k] = w.L[k, a] = low_entry_of(w, w.solved[a], i)
        w.L[k, k] = low_entry_of(w, i, i)
    if w.map.with_gram:
        column = w.map.gram[i] if i < w.map.n else w.map.columns[i - w.map.n]
        for r in range(w.map.n):
            w.packed[r, k] = column[r]
    for c in range(now.eliminated):
        w.E[k, c] = w.F[c, k] = entry_of(w, w.eliminated[c], i) if couples(w, i) else 0.0
    w.solved[k], w.slot[i] = i, k
    now.solved = k + 1


@lean
def take_out(w, i):
    """Remove a coordinate from the solved ones; the last one moves to its index."""
    now, a, b = w.now, w.slot[i], w.now.solved - 1
    now.twofold = 0
    if a != b:
        copy(w.H[a], w.H[b], b)
        w.H[a, a] = w.H[b, b]
        copy(w.inverse[a], w.inverse[b], a)
        w.inverse[a, a] = w.inverse[b, b]
        for c in range(b):
            w.H[c, a] = w.H[a, c]
        for c in range(a + 1, b):
            w.inverse[c, a] = w.inverse[b, c]
        if w.map.with_low:
            copy(w.L[a], w.L[b], b)
            w.L[a, a] = w.L[b, b]
            for c in range(b):
                w.L[c, a] = w.L[a, c]
        if w.map.with_gram:
            for r in range(w.map.n):
                w.packed[r, a] = w.packed[r, b]
        copy(w.E[a], w.E[b], now.eliminated)
        for c in range(now.eliminated):
            w.F[c, a] = w.F[c, b]
        w.solved[a] = w.solved[b]
        w.slot[w.solved[a]] = a
    w.slot[i] = -1
    now.solved = b


@lean
def eliminate(w, i):
    """Eliminate a solved coordinate: its row and column of the inverse are dropped."""
    take_out(w, i)
    c = w.now.eliminated
    for a in range(w.now.solved):
        w.E[a, c] = w.F[c, a] = entry_of(w, w.solved[a], i) if couples(w, w.solved[a]) else 0.0
    w.eliminated[c], w.slot[i] = i, -2 - c
    w.now.eliminated = c + 1


@lean
def restore(w, i):
    """Take an eliminated coordinate back into the inverse."""
    c, k, last = -2 - w.slot[i], w.now.solved, w.now.eliminated - 1
    q = inverse_pivot(w, i)
    r, v = w.pair[6], w.pair[7]
    for a in range(k):
        r[a] = w.E[a, c]
    multiply(w.inverse, r, v, k)
    corner = q + q * q * dot(r, v, k)
    if c != last:
        for a in range(k):
            w.E[a, c] = w.F[c, a] = w.E[a, last]
        w.eliminated[c] = w.eliminated[last]
        w.slot[w.eliminated[c]] = -2 - c
    w.now.eliminated = last
    insert(w, i)
    for a in range(k):
        w.inverse[k, a] = -q * v[a]
    w.inverse[k, k] = corner


@lean
def factor(w):
    """Invert the matrix of the unknown coordinates afresh, by Gauss and Jordan with pivots."""
    now, m = w.now, w.map
    now.solved = now.eliminated = now.twofold = 0
    now.shrink = 1.0
    now.factored = now.changes
    for i in range(m.N):
        w.slot[i] = -1
    for i in range(m.N):
        if not w.known[i] and is_of_kind(w, i, now.eliminates):
            w.eliminated[now.eliminated], w.slot[i] = i, -2 - now.eliminated
            now.eliminated += 1
    for i in range(m.N):
        if not w.known[i] and w.slot[i] == -1:
            insert(w, i)
    k, eliminated, A, pull = now.solved, now.eliminated, w.inverse, w.work[0]
    for a in range(k):
        i = w.solved[a]
        copy(A[a], w.H[a], k)
        A[a, a] += diagonal(w, i, w.place[i])
        if eliminated and couples(w, i):
            for c in range(eliminated):
                pull[c] = inverse_pivot(w, w.eliminated[c]) * w.E[a, c]
            for b in range(k):
                if couples(w, w.solved[b]):
                    A[a, b] -= dot(w.E[b], pull, eliminated)
    _in_units(w, A)
    invert(A, k, w.looked)
    for a in range(k):
        for b in range(a):
            A[a, b] = 0.5 * (A[a, b] + A[b, a])
    _in_units(w, A)


@lean
def largest_below(A, c, k):
    """Return the row, from c on, whose entry in column c is the largest."""
    best = c
    for a in range(c + 1, k):
        if abs(A[a, c]) > abs(A[best, c]):
            best = a
    return best


@lean
def invert(A, k, order):
    """Replace A by its inverse, with rows exchanged for the largest pivot."""
    for c in range(k):
        best = order[c] = largest_below(A, c, k)
        if best != c:
            for b in range(k):
                A[c, b], A[best, b] = A[best, b], A[c, b]
        pivot = A[c, c]
        if pivot == 0.0:
            pivot = REFINED  # the corrections will not shrink
        A[c, c] = 1.0
        for b in range(k):
            A[c, b] /= pivot
        for a in range(k):
            if a != c and A[a, c] != 0.0:
                x = A[a, c]
                A[a, c] = 0.0
                axpy(A[a], A[c], k, -x)
    for c in range(k - 1, -1, -1):
        best = order[c]
        if best != c:
            for a in range(k):
                A[a, c], A[a, best] = A[a, best], A[a, c]


@lean
def factor_twofold(w):
    """Invert the matrix afresh in twofold precision, where no coordinate is eliminated.

    An inverse in double precision has no correct digit if the condition is beyond 2**53.
    """
    now, m, k, A, B = w.now, w.map, w.now.solved, w.inverse, w.inverse_low
    for a in range(k):
        i = w.solved[a]
        copy(A[a], w.H[a], k)
        B[a, :k] = 0.0
        if m.with_low:
            copy(B[a], w.L[a], k)
        first, second = factors(w, i, w.place[i])
        h, e = divide(second, 0.0, first, 0.0)
        A[a, a], B[a, a] = add(A[a, a], B[a, a], h, e)
    _in_units(w, A)
    _in_units(w, B)
    invert_twofold(A, B, k, w.looked)
    _in_units(w, A)
    _in_units(w, B)
    now.twofold = 1


@lean
def _in_units(w, A):
    """Multiply rows and columns by the units of their coordinates."""
    k, scale = w.now.solved, w.map.scale
    for a in range(k):
        for b in range(k):
            A[a, b] *= scale[w.solved[a]] * scale[w.solved[b]]


@lean
def invert_twofold(A, B, k, order):
    """Replace A + B by its inverse, as `invert` does."""
    for c in range(k):
        best = order[c] = largest_below(A, c, k)
        for b in range(k if best != c else 0):
            A[c, b], A[best, b] = A[best, b], A[c, b]
            B[c, b], B[best, b] = B[best, b], B[c, b]
        pivot, rest = A[c, c], B[c, c]
        if pivot == 0.0:
            pivot = REFINED  # the corrections will not shrink
        A[c, c], B[c, c] = 1.0, 0.0
        for b in range(k):
            A[c, b], B[c, b] = divide(A[c, b], B[c, b], pivot, rest)
        for a in range(k):
            if a != c and A[a, c] != 0.0:
                x, e = A[a, c], B[a, c]
                A[a, c] = B[a, c] = 0.0
                axpy(B[a], B[c], k, -x)
                scaled_add(A[a], B[a], A[c], k, -x, -e)
    for c in range(k - 1, -1, -1):
        best = order[c]
        for a in range(k if best != c else 0):
            A[a, c], A[a, best] = A[a, best], A[a, c]
            B[a, c], B[a, best] = B[a, best], B[a, c]


@inline
def diagonal2(w, i, place):
    """Return the term D_ii that a place adds to the diagonal of the system, in two parts."""
    first, second = factors(w, i, place)
    return divide(second, 0.0, first, 0.0)


@lean
def diagonal_change(w, number):
    """Return the change of a diagonal entry; 1 if the coordinate was, or is, known."""
    x = w.changed[number]
    if w.was_known[number] or w.known[x]:
        return 1.0, 0.0
    h, e = diagonal2(w, x, w.place[x])
    r, f = diagonal2(w, x, w.old_place[number])
    return add(h, e, -r, -f)


@lean
def update(w):
    """Update the inverse for one or two changes of places.

    The matrix gets a border for each: the row of a coordinate that enters; a unit vector, which
    fixes a coordinate that leaves at 0; for a change d of a diagonal entry a unit vector with the
    corner -1 / d. The inverse times a border is the rough response, up to the sign, and
    `rough_schur` is the Schur complement of the borders. Both come from the stored inverse, not
    from the exact one, so that its errors stay those of a nearby matrix.
    """
    now, count, S, extra = w.now, w.now.solved, w.rough_schur, w.now.changing
    now.twofold = 0
    for g in range(extra):
        sign, C = -1.0 if w.was_known[g] else 1.0, w.pair[2 + g]
        for a in range(count):
            C[a] = sign * w.rough_response[g, 0, w.solved[a]]
    i_sign, k_sign = 1.0 if w.was_known[0] else -1.0, 1.0 if w.was_known[1] else -1.0
    rise, _ = diagonal_change(w, 0)
    s00, s01, s11 = i_sign * S[0, 0, 0] / rise, 0.0, 1.0
    if extra == 2:
        s01 = k_sign * S[0, 1, 0] / rise
        rise, _ = diagonal_change(w, 1)
        s11 = k_sign * S[1, 1, 0] / rise
    area = s00 * s11 - s01 * s01
    if area == 0.0:  # regular, but not in double precision
        factor(w)
        return
    s00, s01, s11 = s11 / area, -s01 / area, s00 / area
    _spread(w, count, extra, s00, s01, s11)
    for g in range(extra):
        x = w.changed[g]
        if w.was_known[g] and not w.known[x]:
            _append(w, x, count, g, s11 if g else s00, s01)
    for g in range(extra):
        x = w.changed[g]
        if not w.was_known[g] and w.known[x]:
            take_out(w, x)


@lean
def _spread(w, count, extra, s00, s01, s11):
    """Add C S C' to the inverse; write C S to `pair`."""
    C0, C1, T0, T1 = w.pair[2], w.pair[3], w.pair[4], w.pair[5]
    for a in range(count):
        if extra == 2:
            T0[a], T1[a] = s00 * C0[a] + s01 * C1[a], s01 * C0[a] + s11 * C1[a]
        else:
            T0[a] = s00 * C0[a]
    for a in range(count):
        axpy(w.inverse[a], C0, a + 1, T0[a])
        if extra == 2:
            axpy(w.inverse[a], C1, a + 1, T1[a])


@lean
def _append(w, x, count, g, corner, coupling):
    """Append the border of a coordinate that enters, the second one after the first."""
    k, T = w.now.solved, w.pair[4 + g]
    insert(w, x)
    for a in range(count):
        w.inverse[k, a] = -T[a]
    w.inverse[k, k] = corner
    if k > count:
        w.inverse[k, count] = coupling
