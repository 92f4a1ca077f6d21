"""Units of a statement's coordinates, beside which tolerances and odometers are measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Array = NDArray[np.float64]
WHITENED = 64  # more variables than that have odometers of their own units


@dataclass(frozen=True, eq=False)
class Units:
    """What follows from the matrices of a statement alone.

    Attributes
    ----------
    scale : (N,)
        Unit of each unknown: powers of two.
    length : (N,)
        By how much a coordinate moves at most while its side's odometer moves by 1.
    reach : (N,)
        By how much the rows' odometer moves if an unknown moves by its unit.
    metric : (k, p), or (1, p) if diagonal
        How variables move the rows' odometer.
    largest : (N,)
        The largest entry of the map that a coordinate has with any other one.
    """

    scale: Array
    length: Array
    reach: Array
    metric: Array
    largest: Array

    @classmethod
    def of(cls, R: Any, gram: Array, ridge: Array, constrained: bool) -> Units:
        """Compute them; ``gram`` is empty where there is none."""
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
    own = R.data / np.broadcast_to(unit, R.shape[1])[R.indices]
    return sp.csr_array((own**2, R.indices, R.indptr), shape=R.shape)


def _lengths(R: Any, gram: Array, constrained: bool) -> tuple[Array, Array]:
    """Return by how much values move for a unit of their odometer, and the metric of variables.

    Rows' odometer is the length of the metric times the motion of the variables and, with a Gram
    matrix, that of the motion of w beside it.
    """
    n, p = R.shape
    own = np.sqrt(np.maximum(np.diagonal(gram), 0.0)) if len(gram) else np.zeros(n)
    if 0 < p <= WHITENED and not len(gram) and not sp.issparse(R):
        second = R.T @ R / max(n, 1)
        second += np.diag(1e-9 * np.diagonal(second) + 1e-300)
        factor = np.linalg.cholesky(second)
        rows = np.sqrt((np.linalg.solve(factor, R.T) ** 2).sum(axis=0))
        metric = factor.T
    else:
        unit = np.sqrt(_squares(R).mean(axis=0)) if n else np.ones(p)
        if len(gram):
            unit = unit / max(np.sqrt((own**2).mean()), 1e-300)
        unit = np.where(unit > 0, unit, 1.0)
        rows, metric = np.sqrt(_squares(R, unit).sum(axis=1)), unit[None]
    length = np.concatenate(
        [np.hypot(rows, own), np.sqrt(_squares(R).sum(axis=0)), np.zeros(int(constrained))]
    )
    if constrained:
        length[n:] = 0.0  # always looked at: the multiplier moves their limits
    return length * (1.0 + 1e-9), np.ascontiguousarray(metric)


def equilibrate(R: Any, gram: Array, ridge: Array, constrained: bool) -> Array:
    """Return powers of two s such that the largest entries of s_i |H_ij| s_j are about 1.

    Those of a Gram matrix are, too, however small they are beside R's, and so are those of weights
    under a ridge where free variables would set the unit: these may have any unit themselves.
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
        own = np.where(ridged, 1.0 / np.sqrt(np.where(ridged, ridge, 1.0)), 0.0)
        largest = float((own * peaks).max())  # of the Gram matrix that the ridge makes, its root
        if 0.0 < largest < peaks[~ridged].max(initial=0.0):
            rows /= largest
            columns = np.where(ridged, own, largest / np.where(peaks > 0, peaks, largest))
    for _ in range(8):
        by_row = np.maximum(_peaks(A, columns) * rows, diagonal * rows**2)
        by_column = np.maximum(_peaks(B, rows) * columns, ridge * columns**2)
        rows /= np.sqrt(np.where(by_row > 0, by_row, 1.0))
        columns /= np.sqrt(np.where(by_column > 0, by_column, 1.0))
    scale = np.r_[rows, columns, [1.0 / columns.max(initial=1e-300)] * constrained]
    rounded: Array = np.exp2(np.round(np.log2(scale)))
    return rounded
