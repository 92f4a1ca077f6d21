"""Shifts of columns and targets that lie far from zero: with a free bias the problem is the same.

A year or a Unix time differs little from row to row, so that rounding hides the differences. The
shifts have few digits: as a rule differences are exact, and rows that are equal, or tie, still do.
Without a shift of targets far from zero the rounding of the bias would hide the effect of a small
w.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..twofold import Twofold, two_product, two_sum
from ..validation import Floats

FAR_OFF = 4.0  # standard deviations: a mean nearer to zero costs at most two bits
UNEVEN_SCALE = 1e3  # ratio to the other columns, or to a column's differences, that is reported
FLAT = 2.0**-48  # of a shift: differences in a column that are rounding of its entries
NEARLY_FULL = 0.9  # share of non-zeros: the mean of a sparser column isn't far from zero


def shifts_of(X: Any) -> Floats:
    """Return the shift of each column of an array or CSR matrix, (d,): zero for most."""
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


def shifted(X: Any, shifts: Floats) -> Any:
    """Return X less the shifts of its columns: X itself if all are zero."""
    far = np.flatnonzero(shifts)
    if not len(far):
        return X
    if not sp.issparse(X):
        return X - shifts
    n, entries = X.shape[0], np.tile(shifts[far], X.shape[0])
    indptr = np.arange(n + 1) * len(far)
    return sp.csr_array(X - sp.csr_array((entries, np.tile(far, n), indptr), shape=X.shape))


def without_rounding(moved: Any, shifts: Floats) -> Any:
    """Return shifted columns, with zeros in those that differ by the rounding of their entries.

    A sum of shares is 1 but for that: as a column it is a constant, which a bias makes up for.
    """
    flat = (shifts != 0.0) & (_largest_entries(moved) <= FLAT * np.abs(shifts))
    if not flat.any():
        return moved
    if sp.issparse(moved):
        return sp.csr_array(moved @ sp.diags_array(np.where(flat, 0.0, 1.0)))
    return np.where(flat, 0.0, moved)


def shift_of_targets(y: Floats) -> float:
    """Return the shift of real targets: usually zero."""
    return float(_of_dense(y[:, None])[0])


def bias_at_zero(b: Floats, shifts: Floats, w: Floats, target: float = 0.0) -> Floats:
    """Return the bias () or (B,) for X and y from that for shifted X and y, rounded once.

    ``shifts`` (d,) are those of the columns, whose w is (d, B); ``target`` is the shift of y.
    """
    far = np.flatnonzero(shifts)
    b, low = two_sum(b, target)
    if not len(far):
        return b + low
    weights = w[far].reshape(len(far), -1)
    total, rest = Twofold(*two_product(weights, shifts[far, None])).sum()
    b, lost = two_sum(b, -total.reshape(np.shape(b)))
    return b + (low + lost - rest.reshape(np.shape(b)))


def about_columns(X: Any) -> str:
    """Describe a column that is far from zero or larger than most, with a remedy, or return ''."""
    shifts = shifts_of(X)
    wide = _largest_entries(shifted(X, shifts))
    ratios = np.where(wide > 0.0, np.abs(shifts) / np.where(wide > 0.0, wide, 1.0), 0.0)
    k = int(ratios.argmax())
    if ratios[k] > UNEVEN_SCALE:
        return (
            f"column {k} lies {ratios[k]:.0e} times further from zero than its entries from each "
            "other: subtract its mean"
        )
    top = _largest_entries(X)
    middle = np.median(top[top > 0]) if top.any() else 1.0
    k = int(top.argmax())
    if top[k] > UNEVEN_SCALE * middle:
        return f"column {k} is {top[k] / middle:.0e} times larger than most: scale it"
    return ""


def _largest_entries(X: Any) -> Floats:
    """Return the largest absolute entry of each column."""
    top = (abs(sp.csr_array(X)) if sp.issparse(X) else np.abs(X)).max(axis=0)
    return np.asarray(top.toarray() if sp.issparse(top) else top).ravel()
