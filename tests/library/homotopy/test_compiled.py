"""What compiled code is given: structs as one address, records of numbers that it changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import numpy as np
import pytest
from numpy.typing import NDArray

from solution_paths.homotopy.compiled import (
    Indices,
    Matrix,
    Vector,
    entry,
    new,
    record,
    struct,
    sums,
)


@struct
class Pair:
    """A struct with a field of each sort."""

    number: int
    factor: float
    v: Vector
    A: Matrix


@entry
def weighted_entry(pair, i, j):
    return pair.number * pair.factor * pair.A[i, j] + pair.v[i]


@sums
def total_of(row):
    total = 0.0
    for j in range(row.shape[0]):
        total += row[j]
    return total


@entry
def row_total(pair, i):
    return total_of(pair.A[i])


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


@entry
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


@struct
class Tables:
    """Arrays of one, two and three dimensions, and of whole numbers."""

    at: Indices
    v: Vector
    A: Matrix
    B: Annotated[NDArray[np.float64], 3]


@entry
def read_in_many_ways(own, i, out):
    """Write elements, rows, and rows of rows, by indices from either end and of other types."""
    row = own.A[i] if i >= 0 else own.v  # either is a row
    out[0], out[1], out[2] = own.A[i, 1], own.A[-1, -2], own.B[own.at[0], -1, i]
    out[3], out[4], out[5] = row[-1], own.B[1, i][0], own.B[1][i, 1]
    out[6], out[7] = own.A[np.uint8(1), np.int8(-1)], len(own.B) + own.B.shape[2]
    out[8], out[9] = own.A[i, 1:].sum(), own.A[:, 0].sum()
    out[10] = own.B[1, 0].sum() + own.v.sum()


@entry
def write_in_many_ways(own, i):
    """Set elements, rows and what is between bounds, also by whole numbers."""
    own.A[i, -1] = 7
    own.A[0][1] = own.at[0]
    own.v[1:] = 3.0
    own.B[1, -1] = 9.0
    own.B[0] = 2.0
    own.at[-1] += 4


def tables():
    return Tables(
        np.array([1, 0]),
        np.array([5.0, 6.0]),
        np.arange(6.0).reshape(3, 2),
        np.arange(12.0).reshape(2, 3, 2),
    )


@pytest.mark.parametrize("i", [0, 1])
def test_elements_and_rows_of_a_structs_arrays_are_those_of_numpy(i):
    own, out, expected = tables(), np.zeros(11), np.zeros(11)
    read_in_many_ways(own, i, out)
    read_in_many_ways.py_func(own, i, expected)
    assert out.tolist() == expected.tolist()


def test_what_is_written_to_a_structs_arrays_stands_where_numpy_puts_it():
    own, expected = tables(), tables()
    write_in_many_ways(own, 2)
    write_in_many_ways.py_func(expected, 2)
    for name in ("at", "v", "A", "B"):
        assert getattr(own, name).tolist() == getattr(expected, name).tolist()
