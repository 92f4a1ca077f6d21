"""The papers' preprocessing of data: splits, scalings, noise, features.

Every function is pure: it returns new arrays and draws only from the given generator. Sparse input
stays sparse, or is refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .dna import codes, one_hot_windows

__all__ = [
    "Part",
    "Scaler",
    "Split",
    "Standardiser",
    "add_regression_noise",
    "biased_split",
    "codes",
    "fit_scaler",
    "fit_standardiser",
    "flip_labels",
    "one_hot_windows",
    "principal_components",
    "split_fractions",
    "split_sizes",
    "technical_features",
]

# The scalings of `fit_scaler`, and their titles.
SCALINGS = {
    "none": "raw units",
    "symmetric": "[-1, 1]",
    "unit_interval": "[0, 1]",
    "standardise": "standardised",
    "unit_rows": "rows of length 1",
}


class Part(NamedTuple):
    """Inputs and targets of one part of a split."""

    X: Any
    y: np.ndarray


@dataclass(frozen=True)
class Split:
    """Training, validation and test parts; `validation` is None if a paper has none.

    ``meta`` records how they were made: scaling, rows (indices into the data set), and so on.
    """

    train: Part
    validation: Part | None
    test: Part
    meta: dict[str, Any] = field(default_factory=dict)


# ---------------------------------------------------------------- splits


def split_sizes(
    n: int, sizes: Sequence[int], rng: np.random.Generator, *, y: np.ndarray | None = None
) -> list[np.ndarray]:
    """Draw disjoint random parts of the given sizes from ``range(n)``.

    Parameters
    ----------
    n : int
    sizes : sequence of int
        Their sum may be below `n`; the remaining rows belong to no part.
    rng : numpy.random.Generator
    y : (n,) array, optional
        Labels for stratification: each part has the classes in the proportions of all rows, to
        within one row.

    Returns
    -------
    list of index arrays, each in random order
    """
    sizes = [int(size) for size in sizes]
    if min(sizes) < 0 or sum(sizes) > n:
        raise ValueError(f"sizes must be at least 0 and add up to at most {n}, not {sizes}.")
    order = rng.permutation(n)
    if y is not None:
        order = _interleaved(order, np.asarray(y), rng)
    return np.split(order, np.cumsum(sizes))[: len(sizes)]


def _interleaved(order: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Reorder so that every contiguous range has (nearly) the same proportions of classes."""
    if len(y) != len(order):
        raise ValueError(f"y must have {len(order)} labels, not {len(y)}.")
    key = np.empty(len(order))
    labels = y[order]
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        key[rows] = (np.arange(len(rows)) + rng.random()) / len(rows)
    return order[np.argsort(key, kind="stable")]


def split_fractions(
    n: int, fractions: Sequence[float], rng: np.random.Generator, *, y: np.ndarray | None = None
) -> list[np.ndarray]:
    """Draw disjoint random parts that hold the given fractions of ``range(n)``.

    Sizes are rounded to nearest, except the last part's, which takes the remainder if the
    fractions add up to 1. Example: ``split_fractions(569, (.4, .3, .3), rng)``.
    """
    if min(fractions) < 0 or sum(fractions) > 1 + 1e-12:
        raise ValueError(f"fractions must be at least 0 and add up to at most 1, not {fractions}.")
    ends = np.rint(np.cumsum(fractions) * n).astype(int)
    return split_sizes(n, np.diff(ends, prepend=0), rng, y=y)


# ---------------------------------------------------------------- disturbance


def flip_labels(y: np.ndarray, fraction: float, rng: np.random.Generator) -> np.ndarray:
    """Return y with the sign of round(fraction * n) randomly chosen labels changed."""
    if not 0 <= fraction <= 1:
        raise ValueError(f"fraction must lie in [0, 1], not {fraction}.")
    flipped = np.array(y, dtype=np.float64)
    rows = rng.choice(len(flipped), size=round(fraction * len(flipped)), replace=False)
    flipped[rows] *= -1.0
    return flipped


def add_regression_noise(
    X: np.ndarray,
    y: np.ndarray,
    fraction: float,
    rng: np.random.Generator,
    *,
    input_range: float = 2.0,
    output_std: float = 10.0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Disturb round(fraction * n) randomly chosen instances (robust SVM paper, 5.1).

    Their inputs get U(-input_range, input_range), their outputs N(0, output_std^2).

    Returns
    -------
    X, y : ndarray
        Disturbed copies.
    rows : ndarray of int
        The disturbed instances, ascending.
    """
    if not 0 <= fraction <= 1:
        raise ValueError(f"fraction must lie in [0, 1], not {fraction}.")
    X, y = np.array(X, dtype=np.float64), np.array(y, dtype=np.float64)
    rows = np.sort(rng.choice(len(y), size=round(fraction * len(y)), replace=False))
    X[rows] += rng.uniform(-input_range, input_range, size=(len(rows), X.shape[1]))
    y[rows] += output_std * rng.standard_normal(len(rows))
    return X, y, rows


# ---------------------------------------------------------------- scaling


@dataclass(frozen=True)
class Scaler:
    """Scaling by column, or of rows to unit length; made by `fit_scaler`.

    ``spread`` is infinite for a column that was constant. Division by the spread, rather than
    multiplication by its inverse, maps the ends of the training range exactly to -1, 0 or 1.
    """

    kind: str
    shift: np.ndarray | None = None
    spread: np.ndarray | None = None

    def transform(self, X: Any) -> Any:
        """Return the scaled copy of X, sparse if X is."""
        if self.kind == "none":
            return X.copy()
        if self.kind == "unit_rows":
            return _unit_rows(X)
        if sp.issparse(X):
            if self.kind != "unit_interval" or self.shift.any():
                raise ValueError(_REFUSAL.format(self.kind))
            X = sp.csr_matrix(X, dtype=np.float64, copy=True)
            X.data /= self.spread[X.indices]
            return X
        Z = (X - self.shift) / self.spread
        return (
            np.where(np.isinf(self.spread), 0.0, 2.0 * Z - 1.0) if self.kind == "symmetric" else Z
        )


_REFUSAL = (
    "scaling {!r} would move the zeros of a sparse X; choose 'none' or 'unit_rows', or pass a "
    "dense X."
)


def fit_scaler(X: Any, kind: str) -> Scaler:
    """Learn a scaling from (training) inputs.

    Parameters
    ----------
    X : (n, d) ndarray or csr_matrix
    kind : {"none", "symmetric", "unit_interval", "standardise", "unit_rows"}
        ``symmetric`` maps each column's range to [-1, 1], ``unit_interval`` to [0, 1];
        ``standardise`` gives mean 0 and standard deviation 1 (of the sample, divisor n);
        ``unit_rows`` gives each row Euclidean length 1 (a row of zeros stays) and learns nothing.
        A column that is constant in X becomes 0 under the first three, whatever it holds later.

    Raises
    ------
    ValueError
        Unknown kind, or a sparse X whose zeros would move.
    """
    if kind not in SCALINGS:
        raise ValueError(f"scaling must be one of {', '.join(SCALINGS)}, not {kind!r}.")
    if kind in ("none", "unit_rows"):
        return Scaler(kind)
    if sp.issparse(X):
        return _fit_sparse(X, kind)
    low, high = X.min(axis=0), X.max(axis=0)
    if kind == "standardise":
        shift, spread = X.mean(axis=0), X.std(axis=0)
    else:
        shift, spread = low, high - low
    return Scaler(kind, shift, np.where(high == low, np.inf, spread))


def _fit_sparse(X, kind: str) -> Scaler:
    """Learn [0, 1] with a minimum of 0 in each column: only this scaling keeps zeros."""
    low, high = X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()
    if kind != "unit_interval" or low.any():
        raise ValueError(_REFUSAL.format(kind))
    return Scaler(kind, low, np.where(high > 0, high, np.inf))


def _unit_rows(X):
    if sp.issparse(X):
        norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        return sp.csr_matrix(sp.diags(1.0 / np.where(norms > 0, norms, 1.0)) @ X)
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(norms > 0, norms, 1.0)


@dataclass(frozen=True)
class Standardiser:
    """Mean and standard deviation of a target; made by `fit_standardiser`."""

    mean: float
    std: float

    def transform(self, y: np.ndarray) -> np.ndarray:
        """Return (y - mean) / std."""
        return (y - self.mean) / self.std

    def inverse(self, y: np.ndarray) -> np.ndarray:
        """Return y std + mean: standardised targets in their original units."""
        return y * self.std + self.mean


def fit_standardiser(y: np.ndarray) -> Standardiser:
    """Learn mean and standard deviation (divisor n) of a (training) target."""
    std = float(np.std(y))
    if std == 0:
        raise ValueError("y is constant, so it can't be standardised.")
    return Standardiser(float(np.mean(y)), std)


# ---------------------------------------------------------------- time series


def _ema(values: np.ndarray, span: int) -> np.ndarray:
    """Exponential moving average with weight 2 / (span + 1), started at the first value."""
    weight = 2.0 / (span + 1.0)
    result = np.empty(len(values))
    level = values[0]
    for i, value in enumerate(values):
        level += weight * (value - level)
        result[i] = level
    return result


def technical_features(close: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the features and labels of Cao and Tay (2003) from daily closing prices p.

    Features, in this order: EMA15 = p(i) - EMA_15(i), and RDP-k = 100 (p(i) - p(i-k)) / p(i-k)
    for k = 5, 10, 15, 20. Label: the sign of RDP+5 = 100 (q(i+5) - q(i)) / q(i) with q = EMA_3(p);
    +1 where it's above 0.

    Returns
    -------
    X : (m, 5) ndarray
    y : (m,) ndarray of -1/+1
    days : (m,) ndarray of int
        The day i of each instance; the first 20 and the last 5 days have none.
    """
    close = np.asarray(close, dtype=np.float64)
    if len(close) < 26 or not (close > 0).all():
        raise ValueError("close must hold at least 26 prices above 0.")
    days = np.arange(20, len(close) - 5)
    past = [100.0 * (close[days] - close[days - k]) / close[days - k] for k in (5, 10, 15, 20)]
    X = np.column_stack([close[days] - _ema(close, 15)[days], *past])
    smooth = _ema(close, 3)
    return X, np.where(smooth[days + 5] > smooth[days], 1.0, -1.0), days


# ---------------------------------------------------------------- covariate shift


def principal_components(X: np.ndarray, count: int) -> np.ndarray:
    """Return the first principal components of X's standardised columns.

    Signs are fixed: the largest loading of each component is positive.
    """
    Z = fit_scaler(X, "standardise").transform(np.asarray(X, dtype=np.float64))
    _, _, rows = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)
    loadings = rows[:count]
    top = np.abs(loadings).argmax(axis=1)
    loadings = loadings * np.sign(loadings[np.arange(len(loadings)), top])[:, None]
    return Z @ loadings.T


def biased_split(
    z: np.ndarray, n_train: int, n_test: int, rng: np.random.Generator, *, slope: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Draw training and test rows with opposite preferences along `z`: a covariate shift.

    With u = (z - mean) / std, test rows are drawn without replacement with probability
    proportional to 1 / (1 + exp(-slope u)), then training rows from the rest, proportional to
    1 / (1 + exp(slope u)). Labels are not used, so P(y | x) is the same in both.

    Returns
    -------
    train, test : index arrays
    """
    n = len(z)
    if n_train + n_test > n:
        raise ValueError(f"n_train + n_test must be at most {n}, not {n_train + n_test}.")
    u = fit_standardiser(np.asarray(z, dtype=np.float64)).transform(z)
    rise = 1.0 / (1.0 + np.exp(-slope * u))
    test = rng.choice(n, size=n_test, replace=False, p=rise / rise.sum())
    rest = np.setdiff1d(np.arange(n), test)
    fall = 1.0 - rise[rest]
    train = rng.choice(rest, size=n_train, replace=False, p=fall / fall.sum())
    return train, test
