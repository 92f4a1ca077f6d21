"""Least squares of many rows as one of few: an orthogonal map leaves sums of squares as they are.

Of rows A = Q R the factor R says all that sums of squares know of them, and that of several blocks
is the factor of theirs below each other. So each row is read once for all folds. Nothing cancels,
and no condition is squared: a column moves by rounding of its length.
"""

from __future__ import annotations

from functools import reduce

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from ..kernels.centring import shift_of_targets, shifted, shifts_of
from ..validation import Floats

MANY = 4  # times as many rows as columns: from there on few rows say the same as all


def compressible(X: object, bias: bool) -> bool:
    """Tell whether least squares of rows X, (n, d), have many times as few that say the same.

    Columns far from zero are to be left as they are where no bias makes up for what is taken off.
    """
    many = isinstance(X, np.ndarray) and len(X) >= MANY * (X.shape[1] + 2)
    return many and (bias or not shifts_of(X).any())


def rows_of_squares(X: Floats, y: Floats, weights: Floats, bias: bool) -> Floats:
    """Return rows (X, y), with a column of the bias before y, whose squares are weighted ones.

    Beside a bias columns and targets far from zero are less a constant.
    """
    n, d = X.shape
    A = np.ones((n, d + bias + 1))
    A[:, :d] = shifted(X, shifts_of(X)) if bias else X
    A[:, -1] = y - shift_of_targets(y) if bias else y
    return A if (weights == 1.0).all() else A * np.sqrt(weights)[:, None]


def factors(
    A: Floats, pairs: list[tuple[NDArray[np.int64], NDArray[np.int64]]]
) -> list[tuple[Floats, Floats]]:
    """Return the factors of the rows of each fold, to train and to test."""
    tests = [factor(A[test]) for _, test in pairs]
    if not _each_once(len(A), pairs):
        return [(factor(A[train]), own) for (train, _), own in zip(pairs, tests, strict=True)]
    others = ([own for j, own in enumerate(tests) if j != k] for k in range(len(tests)))
    return [(factor(np.vstack(rest)), own) for rest, own in zip(others, tests, strict=True)]


def factor(A: Floats) -> Floats:
    """Return the triangle of a QR factorisation, or few rows as they are."""
    return A if len(A) <= A.shape[1] else la.qr(A, mode="r", check_finite=False)[0][: A.shape[1]]


def _each_once(n: int, pairs: list[tuple[NDArray[np.int64], NDArray[np.int64]]]) -> bool:
    """Tell whether each row is tested once, and trains all other folds once."""
    counts = [[np.bincount(own, minlength=n) for own in pair] for pair in pairs]
    tested = reduce(np.add, [test for _, test in counts])
    return len(pairs) > 1 and all(
        np.array_equal(train + test, tested) and (tested == 1).all() for train, test in counts
    )
