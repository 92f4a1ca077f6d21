"""Units of a statement's coordinates, to which tolerances and odometers are relative."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Array = NDArray[np.float64]
WHITENED = 64  # variables up to which the metric is a full matrix, else diagonal


@dataclass(frozen=True, eq=False)
class Units:
    """Units and bounds that follow from the matrices of a statement.

    Attributes
    ----------
    scale : (N,)
        Unit of each unknown: powers of two.
    length : (N,)
        Largest change of a coordinate's value for a unit of its side's odometer.
    reach : (N,)
        Change of the rows' odometer for a unit change of an unknown.
    metric : (k, p), or (1, p) if diagonal
        Norm of the variables for the rows' odometer.
    largest : (N,)
        Largest entry of the map in a coordinate's row.
    """

    scale: Array
    length: Array
    reach: Array
    metric: Array
    largest: Array

    @classmethod
    def of(cls, R: Any, gram: Array, ridge: Array, constrained: bool) -> Units:
        """Return the units; ``gram`` is empty where there is none."""
        length, metric = _lengths(R, gram, constrained)
        scale, n = equilibrate(R, gram, ridge, constrained), R.shape[0]
        reach = np.zeros(len(scale))
        reach[n : n + R.shape[1]] = np.abs(metric).sum(axis=0)
        if len(gram):
            reach[:n] = np.sqrt(np.maximum(np.diagonal(gram), 0.0))
        return cls(scale, length, scale * reach, metric, _largest(R, gram, constrained))


def _largest(R: Any, gram: Array, constrained: bool) -> Array:
    """Return the largest entries of rows and of variables; an l1 constraint's are signs."""
    rows, variables = _peaks(abs(R)), _peaks(abs(R).T)
    if len(gram):
        rows = np.maximum(rows, np.maximum(gram.max(axis=1), -gram.min(axis=1)))
    return np.concatenate([rows, variables, np.ones(int(constrained))])


def _peaks(A: Any, factor: Array | None = None) -> Array:
    """Return the largest entry of each row of A >= 0, with columns times a factor."""
    if not sp.issparse(A):
        return np.asarray((A if factor is None else A * factor).max(axis=1, initial=0.0))
    A = sp.csr_array(A)
    if factor is not None:
        A = sp.csr_array((A.data * factor[A.indices], A.indices, A.indptr), shape=A.shape)
    return np.asarray(A.max(axis=1).toarray(), dtype=float).ravel()


def _squares(R: Any, unit: Array | float = 1.0) -> Any:
    """Return the squares of R's entries in units of its columns."""
    if not sp.issparse(R):
        return (R / unit) ** 2
    entries = R.data / np.broadcast_to(unit, R.shape[1])[R.indices]
    return sp.csr_array((entries**2, R.indices, R.indptr), shape=R.shape)


def _lengths(R: Any, gram: Array, constrained: bool) -> tuple[Array, Array]:
    """Return the largest changes of values for a unit of their odometer, and the metric.

    The rows' odometer is the norm of the metric times the change of the variables, combined with
    the norm of the change of w if there is a Gram matrix.
    """
    n, p = R.shape
    gram_lengths = np.sqrt(np.maximum(np.diagonal(gram), 0.0)) if len(gram) else np.zeros(n)
    if 0 < p <= WHITENED and not len(gram) and not sp.issparse(R):
        second = R.T @ R / max(n, 1)
        second += np.diag(1e-9 * np.diagonal(second) + 1e-300)
        factor = np.linalg.cholesky(second)
        rows = np.sqrt((np.linalg.solve(factor, R.T) ** 2).sum(axis=0))
        metric = factor.T
    else:
        unit = np.sqrt(_squares(R).mean(axis=0)) if n else np.ones(p)
        if len(gram):
            unit = unit / max(np.sqrt((gram_lengths**2).mean()), 1e-300)
        unit = np.where(unit > 0, unit, 1.0)
        rows, metric = np.sqrt(_squares(R, unit).sum(axis=1)), unit[None]
    length = np.concatenate(
        [np.hypot(rows, gram_lengths), np.sqrt(_squares(R).sum(axis=0)), np.zeros(int(constrained))]
    )
    if constrained:
        length[n:] = 0.0  # always examined: the multiplier moves their limits
    return length * (1.0 + 1e-9), np.ascontiguousarray(metric)


def equilibrate(R: Any, gram: Array, ridge: Array, constrained: bool) -> Array:
    """Return powers of two s such that the largest entries of s_i |H_ij| s_j are about 1.

    So are those of the Gram matrix alone, however small they are beside R's, and those of weights
    under a ridge beside free variables, whose unit is arbitrary.
    """
    n, p = R.shape
    A = abs(R)
    B = A.T.tocsr() if sp.issparse(A) else A.T
    diagonal = np.abs(np.diagonal(gram)) if len(gram) else np.zeros(n)
    rows, columns = np.full(n, 1.0 / np.sqrt(diagonal.max(initial=0.0) or 1.0)), np.ones(p)
    peaks, ridged = _peaks(B, rows), ridge > 0
    if len(gram):
        columns = 1.0 / np.where(peaks > 0, peaks, 1.0)
    elif ridged.any():
        units = np.where(ridged, 1.0 / np.sqrt(np.where(ridged, ridge, 1.0)), 0.0)
        largest = float((units * peaks).max())  # of the Gram matrix that the ridge makes, its root
        if 0.0 < largest < peaks[~ridged].max(initial=0.0):
            rows /= largest
            columns = np.where(ridged, units, largest / np.where(peaks > 0, peaks, largest))
    for _ in range(8):
        by_row = np.maximum(_peaks(A, columns) * rows, diagonal * rows**2)
        by_column = np.maximum(_peaks(B, rows) * columns, ridge * columns**2)
        rows /= np.sqrt(np.where(by_row > 0, by_row, 1.0))
        columns /= np.sqrt(np.where(by_column > 0, by_column, 1.0))
    scale = np.r_[rows, columns, [1.0 / columns.max(initial=1e-300)] * constrained]
    rounded: Array = np.exp2(np.round(np.log2(scale)))
    return rounded
