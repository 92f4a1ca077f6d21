"""Rows and columns of the map's R, which is dense or, where it is large and sparse, in CSR."""

from __future__ import annotations

from .compiled import inline, lean
from .twofold import accumulate, add, normalise


@inline
def entry_in(m, i, j):
    """Return R[i, j]."""
    if m.sparse == 0:
        return m.R[i, j]
    return _bisected(m.row_start, m.row_index, m.row_entry, i, j)


@lean
def _bisected(start, index, entry, i, j):
    """Return an entry of CSR rows by bisection."""
    first, last = start[i], start[i + 1]
    while first < last:
        middle = (first + last) // 2
        if index[middle] < j:
            first = middle + 1
        else:
            last = middle
    return entry[first] if first < start[i + 1] and index[first] == j else 0.0


@inline
def sparse_row_of(m, i):
    """Return row i of R in CSR, or column i - n: first, last, index, entry, offset.

    Entry s, first <= s < last, belongs to coordinate ``offset + index[s]``.
    """
    if i < m.n:
        return m.row_start[i], m.row_start[i + 1], m.row_index, m.row_entry, m.n
    j = i - m.n
    return m.column_start[j], m.column_start[j + 1], m.column_index, m.column_entry, 0


@lean
def add_sparsely(m, i, high, low, terms, h, e, size):
    """Add (h + e) times row i of R, or column i - n, to running sums and their absolute terms."""
    first, last, index, entry, offset = sparse_row_of(m, i)
    for s in range(first, last):
        k, x = offset + index[s], entry[s]
        a, b = accumulate(high[k], low[k], x, h, e)
        high[k], low[k] = normalise(a, b)
        terms[k] += abs(x) * size


@lean
def times(m, i, x):
    """Return row i of R (or column i - n) times x (N,)."""
    first, last, index, entry, offset = sparse_row_of(m, i)
    total = 0.0
    for s in range(first, last):
        total += entry[s] * x[offset + index[s]]
    return total


@lean
def sparse_part(w, i, order):
    """Return the same for the unknowns, or their rates, alone, in double precision."""
    u = w.u[order]
    first, last, index, entry, offset = sparse_row_of(w.map, i)
    total = 0.0
    for s in range(first, last):
        k = offset + index[s]
        if not w.known[k]:
            total += entry[s] * u[0, k]
    return total


@lean
def sparse_part_twofold(w, i, order):
    """Return the same in twofold precision, and the sum of absolute terms."""
    u, sizes = w.u[order], w.size[order]
    first, last, index, entry, offset = sparse_row_of(w.map, i)
    x = xe = terms = 0.0
    for s in range(first, last):
        k = offset + index[s]
        if not w.known[k]:
            x, xe = accumulate(x, xe, entry[s], u[0, k], u[1, k])
            terms += abs(entry[s]) * sizes[k]
    x, xe = add(x, xe, 0.0, 0.0)
    return x, xe, terms
