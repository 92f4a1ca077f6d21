"""What compiled code is given: structs as one address, binary rows as patterns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from solution_paths import quantile_svm_path
from solution_paths.engine.compiled import (
    Matrix,
    Vector,
    lean,
    new,
    record,
    struct,
    sums,
)
from solution_paths.engine.operators import add_rows, pack, rows_operator, rows_times
from solution_paths.engine.patterns import LIMIT, find_patterns, tabulate


@struct
class Pair:
    """A struct with a field of each sort."""

    number: int
    factor: float
    v: Vector
    A: Matrix


@lean
def weighted_entry(pair, i, j):
    return pair.number * pair.factor * pair.A[i, j] + pair.v[i]


@sums
def row_total(pair, i):
    total, row = 0.0, pair.A[i]
    for j in range(row.shape[0]):
        total += row[j]
    return total


def test_compiled_code_reads_the_fields_of_a_struct():
    A, v = np.arange(12.0).reshape(3, 4), np.array([5.0, 6.0, 7.0])
    pair = Pair(2, 0.5, v, A)
    assert weighted_entry(pair, 2, 3) == A[2, 3] + 7.0
    assert row_total(pair, 1) == A[1].sum()
    v[2] = -1.0  # the struct has the array, not a copy of it
    assert weighted_entry(pair, 2, 3) == A[2, 3] - 1.0


@record
class Tally:
    """A record with a field of each sort."""

    times: int
    total: float


@struct
class Whole:
    """A struct that holds a record and another struct."""

    tally: Tally
    pair: Pair


@lean
def add_entry(whole, i, j):
    whole.tally.times += 1
    whole.tally.total += whole.pair.A[i, j]


def test_compiled_code_writes_the_numbers_of_a_record():
    whole = Whole(new(Tally, total=0.5), Pair(2, 0.5, np.zeros(3), np.arange(12.0).reshape(3, 4)))
    add_entry(whole, 1, 2)
    add_entry(whole, 2, 3)
    assert (whole.tally.times, whole.tally.total) == (2, 17.5)
    whole.tally.total = 1.0  # and reads what Python wrote
    add_entry(replace(whole, pair=Pair(1, 1.0, np.zeros(1), np.ones((1, 1)))), 0, 0)
    assert (whole.tally.times, whole.tally.total) == (3, 2.0)


def test_a_record_refuses_names_that_would_hide_its_numbers():
    with pytest.raises(TypeError, match=r"Sizes.flat is a name that numpy's records use"):

        @record
        class Sizes:
            flat: int


def test_a_struct_with_another_array_reads_that_one():
    pair = Pair(1, 1.0, np.zeros(2), np.zeros((2, 5)))
    other = replace(pair, A=np.ones((2, 7)))
    assert row_total(pair, 0) == 0.0
    assert row_total(other, 0) == 7.0


def test_a_struct_reads_arrays_that_can_not_be_written_and_empty_ones():
    A = np.arange(6.0).reshape(2, 3)
    A.flags.writeable = False
    assert row_total(Pair(1, 1.0, np.zeros(0), A), 1) == 12.0
    assert row_total(Pair(1, 1.0, np.zeros(0), np.zeros((2, 0))), 1) == 0.0


@pytest.mark.parametrize(
    "A",
    [
        np.zeros((3, 2)).T,  # not C-contiguous
        np.zeros((2, 2), dtype=np.float32),
        np.zeros(4),
    ],
)
def test_a_struct_refuses_arrays_that_it_would_misread(A):
    expected = r"Pair\.A must be a C-contiguous array of 2 dimensions of float64"
    with pytest.raises(TypeError, match=expected):
        Pair(1, 1.0, np.zeros(2), A)


def one_hot(n, positions, categories, rng, missing=0.0):
    choice = rng.integers(categories, size=(n, positions))
    columns = choice + categories * np.arange(positions)
    present = rng.random((n, positions)) >= missing
    rows = np.repeat(np.arange(n), positions).reshape(n, positions)
    cells = (np.ones(present.sum()), (rows[present], columns[present]))
    return sp.csr_array(cells, shape=(n, positions * categories))


CASES = {
    "one-hot": lambda rng: one_hot(300, 40, 4, rng),
    "with gaps": lambda rng: one_hot(300, 60, 3, rng, missing=0.2),
    "a constant column": lambda rng: sp.csr_array(
        sp.hstack([one_hot(200, 30, 4, rng), np.ones((200, 1))])
    ),
    "an empty row and an empty column": lambda rng: sp.csr_array(
        one_hot(200, 30, 5, rng).toarray() * (np.arange(150) != 7) * (np.arange(200) != 11)[:, None]
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_patterns_are_the_rows(name):
    rows = sp.csr_array(CASES[name](np.random.default_rng(0)).astype(float))
    rows.eliminate_zeros()
    codes, parent, last = find_patterns(rows)
    assert 0 < codes.shape[1] <= rows.nnz / rows.shape[0] / 2
    assert (parent[1:] < np.arange(1, len(parent))).all()
    for k in range(rows.shape[1]):
        unit, table = np.zeros(rows.shape[1]), np.zeros(len(parent))
        unit[k] = 1.0
        tabulate(parent, last, unit, table)
        np.testing.assert_array_equal(table[codes].sum(axis=1), rows @ unit)


def test_no_run_has_more_patterns_than_the_limit():
    codes, _, _ = find_patterns(one_hot(500, 60, 4, np.random.default_rng(1)))
    assert max(len(np.unique(run)) for run in codes.T) <= LIMIT


@pytest.mark.parametrize(
    "rows",
    [
        sp.csr_array((0, 0)),
        one_hot(50, 10, 4, np.random.default_rng(0)),  # short
        sp.random_array((200, 400), density=0.05, rng=np.random.default_rng(0)).tocsr(),
    ],
)
def test_rows_are_left_alone_where_patterns_would_not_save_half_of_the_work(rows):
    codes, parent, last = find_patterns(sp.csr_array(rows))
    assert codes.size == parent.size == last.size == 0


def test_batches_of_pinned_rows_agree_with_matrix_products():
    rng = np.random.default_rng(2)
    X = 0.5 * one_hot(300, 60, 4, rng)
    op = rows_operator(X)
    assert len(op.codes) > 0
    P = rng.choice(300, size=40, replace=False)
    for s, i in enumerate(P):
        pack(op, s, i)
    v, factor, out, total = rng.normal(size=240), rng.normal(size=40), np.zeros(40), np.ones(240)
    rows_times(op, P, 40, v, out)
    np.testing.assert_allclose(out, X[P] @ v, rtol=0, atol=1e-13)
    add_rows(op, P, 40, factor, total)
    np.testing.assert_allclose(total, 1.0 + X[P].T @ factor, rtol=0, atol=1e-13)
    rows_times(op, P, 40, v, out)  # the table was left clean
    np.testing.assert_allclose(out, X[P] @ v, rtol=0, atol=1e-13)


def test_a_path_over_patterns_is_the_path_over_numbers():
    rng = np.random.default_rng(3)
    X = one_hot(600, 40, 4, rng)
    y = np.where(X @ rng.normal(size=160) + 2.0 * rng.normal(size=600) > 0, 1, -1)
    coded, plain = (quantile_svm_path(rows, y, lam=0.05) for rows in (X, X.toarray()))
    assert len(coded.breakpoints) > 300
    np.testing.assert_allclose(coded.breakpoints, plain.breakpoints, rtol=0, atol=1e-9)
    for tau in (0.03, 0.4, 0.77):
        np.testing.assert_allclose(coded.coef(tau), plain.coef(tau), rtol=0, atol=1e-8)
    assert coded.certify().ok
