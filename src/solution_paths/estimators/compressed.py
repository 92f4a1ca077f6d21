"""Least squares problems of many rows, reduced to few by QR factorisations.

With A = Q R, sums of squares of A x are those of R x. The factor of several blocks of rows is the
factor of their stacked factors, so that each row is read once for all folds. Nothing cancels, and
no condition number is squared: a column changes by rounding relative to its length.
"""

from __future__ import annotations

from functools import reduce

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from ..kernels.centring import shift_of_targets, shifted, shifts_of
from ..validation import Floats

MIN_ASPECT = 4  # rows per column from which on rows are reduced


def compressible(X: object, bias: bool) -> bool:
    """Return whether rows X, (n, d), of a least squares problem should be reduced.

    Columns far from zero can't be centred without a bias; such problems aren't reduced.
    """
    tall = isinstance(X, np.ndarray) and len(X) >= MIN_ASPECT * (X.shape[1] + 2)
    return tall and (bias or not shifts_of(X).any())


def rows_of_squares(X: Floats, y: Floats, weights: Floats, bias: bool) -> Floats:
    """Return rows (X, bias, y), scaled by the roots of weights.

    With a bias, columns and targets far from zero are centred.
    """
    n, d = X.shape
    A = np.ones((n, d + bias + 1))
    A[:, :d] = shifted(X, shifts_of(X)) if bias else X
    A[:, -1] = y - shift_of_targets(y) if bias else y
    return A if (weights == 1.0).all() else A * np.sqrt(weights)[:, None]


def factors(
    A: Floats, pairs: list[tuple[NDArray[np.int64], NDArray[np.int64]]]
) -> list[tuple[Floats, Floats]]:
    """Return the factors of the training rows and of the test rows of each fold."""
    tests = [factor(A[test]) for _, test in pairs]
    if not _each_once(len(A), pairs):
        return [(factor(A[train]), test) for (train, _), test in zip(pairs, tests, strict=True)]
    other_tests = ([test for j, test in enumerate(tests) if j != k] for k in range(len(tests)))
    return [(factor(np.vstack(rest)), test) for rest, test in zip(other_tests, tests, strict=True)]


def factor(A: Floats) -> Floats:
    """Return the factor R of a QR factorisation, or A itself if it has few rows."""
    return A if len(A) <= A.shape[1] else la.qr(A, mode="r", check_finite=False)[0][: A.shape[1]]


def _each_once(n: int, pairs: list[tuple[NDArray[np.int64], NDArray[np.int64]]]) -> bool:
    """Return whether each row is tested in one fold, and in all other folds a training row once."""
    counts = [[np.bincount(numbers, minlength=n) for numbers in pair] for pair in pairs]
    tested = reduce(np.add, [test for _, test in counts])
    return len(pairs) > 1 and all(
        np.array_equal(train + test, tested) and (tested == 1).all() for train, test in counts
    )
