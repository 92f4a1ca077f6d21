"""What compiled code is given: structs as one address, records of numbers that it changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solution_paths.homotopy.compiled import Matrix, Vector, lean, new, record, struct, sums


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
