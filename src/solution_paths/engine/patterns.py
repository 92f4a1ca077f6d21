"""Binary rows in fewer words: runs of columns in which only a few patterns occur.

Where columns are indicators of categories (DNA windows, questionnaires), a run of neighbouring
columns shows few different patterns. A row is then one *code* for each run. For a vector v the
sums over all patterns are tabulated once, each as that of a pattern with one column less plus one
entry of v, and x_i . v takes one term for each run instead of one for each nonzero.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..compilation import cached_njit
from .compiled import inline, lean

LIMIT = 96  # patterns in a run: tables are to be short, since each vector needs one


Patterns: TypeAlias = tuple[NDArray[np.uint16], NDArray[np.uint16], NDArray[np.uint16]]


def no_patterns() -> Patterns:
    """Return what `find_patterns` does where they would be of no use."""
    return np.empty((0, 0), dtype=np.uint16), *(np.empty(0, dtype=np.uint16) for _ in range(2))


def find_patterns(rows: sp.csr_array) -> Patterns:
    """Return (codes, parent, last) of binary rows; empty where they would be of no use.

    ``codes`` is (n, runs); pattern e > 0 is pattern ``parent[e]`` with column ``last[e]`` added,
    and pattern 0 is the empty one.
    """
    n, D = rows.shape
    most = rows.nnz // (2 * max(n, 1))  # runs, at half as many as a row has nonzeros
    if most < 8 or D >= 2**16 or LIMIT * most >= 2**16:
        return no_patterns()
    columns = sp.csc_array(rows)
    codes = np.zeros((n, most), dtype=np.uint16)
    parent, last = (np.zeros(LIMIT * most + 1, dtype=np.uint16) for _ in range(2))
    runs, count = _assign(columns.indptr, columns.indices, codes, parent, last)
    if runs < 0:
        return no_patterns()
    return np.ascontiguousarray(codes[:, :runs]), parent[:count].copy(), last[:count].copy()


@cached_njit
def _assign(indptr, indices, codes, parent, last):
    """Fill codes, parent and last; return the number of runs (-1: too many) and of patterns."""
    child = np.zeros(parent.shape[0], dtype=np.uint16)  # by column: pattern with it added
    run, first, count = 0, 1, 1
    for k in range(indptr.shape[0] - 1):
        rows = indices[indptr[k] : indptr[k + 1]]
        new = _new_patterns(rows, codes[:, run], child, first, count)
        if count + new - first > LIMIT and count > first:
            run, first = run + 1, count
            if run == codes.shape[1]:
                return -1, count
            new = _new_patterns(rows, codes[:, run], child, first, count)
        # in the order of their parents, so that a table is filled from memory read in order
        for e in range(-1, count - first):
            before = 0 if e < 0 else first + e
            if child[before] == 1:
                parent[count], last[count] = before, k
                child[before] = count
                count += 1
        for i in rows:
            codes[i, run] = child[codes[i, run]]
    return run + 1, count


@cached_njit
def _new_patterns(rows, code, child, first, count):
    """Mark patterns of the run that get a column more; return how many they are."""
    child[0] = 0
    child[first:count] = 0
    new = 0
    for i in rows:
        if child[code[i]] == 0:
            child[code[i]] = 1
            new += 1
    return new


@lean
def tabulate(parent, last, v, table):
    """Write the sum of v over each pattern."""
    for e in range(1, parent.shape[0]):
        table[e] = table[parent[e]] + v[last[e]]


@lean
def untabulate(parent, last, factor, table, v):
    """Add factor times the sum of patterns, each as often as its entry says, to v; clear them."""
    total, column = 0.0, last[parent.shape[0] - 1]
    for e in range(parent.shape[0] - 1, 0, -1):
        if last[e] != column:
            v[column] += factor * total
            total, column = 0.0, last[e]
        total += table[e]
        table[parent[e]] += table[e]
        table[e] = 0.0
    v[column] += factor * total
    table[0] = 0.0


@inline
def code_sum(codes, i, table):
    """Return the sum of a row's table entries."""
    row = codes[i]
    a = b = c = d = 0.0
    end = row.shape[0] - row.shape[0] % 4
    for k in range(0, end, 4):
        a += table[row[k]]
        b += table[row[k + 1]]
        c += table[row[k + 2]]
        d += table[row[k + 3]]
    for k in range(end, row.shape[0]):
        a += table[row[k]]
    return (a + b) + (c + d)


@inline
def code_add(codes, i, factor, table):
    """Add factor to a row's table entries."""
    row = codes[i]
    for k in range(row.shape[0]):
        table[row[k]] += factor
