"""Columns and targets far from zero, less a constant: beside a free bias the same problem.

A year or a Unix time differs little from row to row, and rows that hardly differ are hard to tell
apart. What is taken off has few digits, so that as a rule differences are exact, and rows that
are equal, or tie, still do. Of targets that lie far from zero a bias in double precision leaves
what a small w makes of them to rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..twofold import Twofold, two_product, two_sum
from ..validation import Floats

FAR_OFF = 4.0  # standard deviations: means nearer to zero cost two bits at most
UNEVEN = 1e3  # times larger than most columns, or than what its entries differ by: told
NEARLY_FULL = 0.9  # of a sparse column: with more zeros its mean is nearer to zero than that


def shifts_of(X: Any) -> Floats:
    """Return what is to be taken off each column of an array or CSR matrix, (d,): mostly zero."""
    if not sp.issparse(X):
        return _of_dense(X)
    shifts, counts = np.zeros(X.shape[1]), np.bincount(X.indices, minlength=X.shape[1])
    full = np.flatnonzero(counts > NEARLY_FULL * X.shape[0])
    if len(full):
        shifts[full] = _of_dense(sp.csc_array(X)[:, full].toarray())
    return shifts


def _of_dense(X: Floats) -> Floats:
    mean = X.mean(axis=0)
    spread = np.sqrt(((X - mean) ** 2).mean(axis=0))
    shifts, far = np.zeros(X.shape[1]), np.flatnonzero(np.abs(mean) > FAR_OFF * spread)
    if not len(far):
        return shifts
    constant = np.ptp(X[:, far], axis=0) == 0.0
    units = np.exp2(np.ceil(np.log2(np.where(spread[far] > 0.0, spread[far], 1.0))))
    shifts[far] = np.where(constant, X[0, far], np.round(mean[far] / units) * units)
    return shifts


def less(X: Any, shifts: Floats) -> Any:
    """Return X less what is taken off its columns: X itself where that is nothing."""
    far = np.flatnonzero(shifts)
    if not len(far):
        return X
    if not sp.issparse(X):
        return X - shifts
    n, entries = X.shape[0], np.tile(shifts[far], X.shape[0])
    indptr = np.arange(n + 1) * len(far)
    return sp.csr_array(X - sp.csr_array((entries, np.tile(far, n), indptr), shape=X.shape))


def shift_of_targets(y: Floats) -> float:
    """Return what is to be taken off real targets, mostly zero."""
    return float(_of_dense(y[:, None])[0])


def bias_at_zero(b: Floats, shifts: Floats, w: Floats, target: float = 0.0) -> Floats:
    """Return the bias () or (B,), rounded once, beside X and y, given that beside both less shifts.

    ``shifts`` (d,) are those of the columns, whose w is (d, B), ``target`` is that of y.
    """
    far = np.flatnonzero(shifts)
    b, low = two_sum(b, target)
    if not len(far):
        return b + low
    own = w[far].reshape(len(far), -1)
    total, rest = Twofold(*two_product(own, shifts[far, None])).sum()
    b, lost = two_sum(b, -total.reshape(np.shape(b)))
    return b + (low + lost - rest.reshape(np.shape(b)))


def about_columns(X: Any) -> str:
    """Say which column lies far from zero, or is larger than most, and what to do; or nothing."""
    shifts = shifts_of(X)
    wide = _largest_entries(less(X, shifts))
    apart = np.where(wide > 0.0, np.abs(shifts) / np.where(wide > 0.0, wide, 1.0), 0.0)
    k = int(apart.argmax())
    if apart[k] > UNEVEN:
        return (
            f"column {k} lies {apart[k]:.0e} times further from zero than its entries from each "
            "other: subtract its mean"
        )
    top = _largest_entries(X)
    middle = np.median(top[top > 0]) if top.any() else 1.0
    k = int(top.argmax())
    if top[k] > UNEVEN * middle:
        return f"column {k} is {top[k] / middle:.0e} times larger than most: scale it"
    return ""


def _largest_entries(X: Any) -> Floats:
    """Return the largest absolute entry of each column."""
    top = (abs(sp.csr_array(X)) if sp.issparse(X) else np.abs(X)).max(axis=0)
    return np.asarray(top.toarray() if sp.issparse(top) else top).ravel()
