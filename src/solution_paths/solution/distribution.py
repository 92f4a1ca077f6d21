"""Predicted distributions: quantile functions that are piecewise linear, integrated exactly.

A path in tau predicts every quantile of each row. Where these cross, the curve decreases somewhere
and isn't a quantile function. Its rearrangement (Chernozhukov, Fernandez-Val and Galichon 2010) is
one: the quantile function of the curve's value at a uniformly distributed tau.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..validation import Floats, Rows, check_levels, check_number, check_vector
from .evaluation import piece_values
from .path import SolutionPath
from .tolerances import TIED

PREDICTIONS_AT_ONCE = 4_000_000  # predictions at all levels in memory at once: 32 MB


@dataclass(frozen=True, eq=False)
class PredictedDistribution:
    """Distributions of m values, given by piecewise linear quantile functions of K pieces.

    Means, scores and probabilities are exact: the integrals of pieces are polynomials.

    Attributes
    ----------
    levels : (m, K + 1) array
        Ends of the pieces, from 0 to 1 in each row; pieces of zero length have no effect.
    left, right : (m, K) arrays
        One-sided limits of the quantiles at the ends of each piece, ascending.
    crossings : (m,) int array
        The number of decreases of the predicted curve before it was rearranged.

    References
    ----------
    Chernozhukov, Fernandez-Val and Galichon (2010), "Quantile and probability curves without
    crossing"; Gneiting and Raftery (2007), "Strictly proper scoring rules, prediction, and
    estimation".

    Examples
    --------
    >>> from solution_paths import PredictedDistribution, quantile_regression_path
    >>> path = quantile_regression_path([[0.0], [0.0], [1.0], [1.0]], [1.0, 2.0, 0.0, 4.0])
    >>> found = PredictedDistribution.of_path(path, [[0.0], [1.0]])
    >>> found.mean().round(9).tolist(), found.interval(0.8).round(9).tolist()
    ([1.5, 2.0], [[1.0, 2.0], [0.0, 4.0]])
    >>> found.cdf([1.0, 1.0]).round(9).tolist(), found.crps([1.0, 1.0]).round(9).tolist()
    ([0.5, 0.5], [0.25, 1.0])
    """

    levels: Floats
    left: Floats
    right: Floats
    crossings: NDArray[np.int64]

    @classmethod
    def of_path(cls, path: SolutionPath, X_new: Rows) -> Self:
        """Return the predicted distributions of rows by a path in tau.

        Parameters
        ----------
        path : SolutionPath
            Path of quantiles in tau from 0 to 1: of `quantile_regression_path` or
            `kernel_quantile_path`.
        X_new : (m, d) array or CSR
            As in `SolutionPath.predict`. Memory: 16 bytes for each row and breakpoint.
        """
        _check_quantiles(path)
        levels = path.breakpoints
        return cls.of_curves(levels, *piece_values(path, X_new, levels), _sizes(path, X_new))

    @classmethod
    def of_curves(
        cls, levels: ArrayLike, left: Floats, right: Floats, sizes: ArrayLike = 0.0
    ) -> Self:
        """Return the distributions of curves, rearranged where they decrease.

        Parameters
        ----------
        levels : (K + 1,) array
            From 0 to 1, ascending.
        left, right : (m, K) arrays
            One-sided limits of the values at the ends of each piece.
        sizes : (m,) array or float, default 0.0
            Sizes of the values' terms: a decrease below 2^-44 of it is rounding.
        """
        levels = np.asarray(levels, dtype=np.float64)
        tolerance = TIED * np.broadcast_to(sizes, len(left))[:, None]
        crossings = (left - right > tolerance).sum(axis=1) + (
            right[:, :-1] - left[:, 1:] > tolerance
        ).sum(axis=1)
        row_levels = np.broadcast_to(levels, (len(left), len(levels)))
        falling_rows = np.any(left > right, axis=1) | np.any(right[:, :-1] > left[:, 1:], axis=1)
        if not falling_rows.any():
            return cls(row_levels, left, right, crossings)
        rows = [
            _rearranged(levels, *row) if falling else (levels, *row)
            for falling, *row in zip(falling_rows, left, right, strict=True)
        ]
        size = max(len(row[1]) for row in rows)
        row_levels, left, right = (np.empty((len(rows), size + one)) for one in (1, 0, 0))
        for i, (edges, first, last) in enumerate(rows):  # surplus pieces have zero length
            row_levels[i], left[i], right[i] = 1.0, last[-1], last[-1]
            row_levels[i, : len(edges)], left[i, : len(first)] = edges, first
            right[i, : len(last)] = last
        return cls(row_levels, left, right, crossings)

    @classmethod
    def between(cls, quantiles: ArrayLike, values: ArrayLike, sizes: ArrayLike = 0.0) -> Self:
        """Return the distributions with a few given quantiles, linear between them.

        Quantiles are constant before the first and after the last one.

        Parameters
        ----------
        quantiles : (q,) array
            In (0, 1), ascending.
        values : (m, q) array
        sizes : (m,) array or float, default 0.0
            As in `of_curves`.
        """
        at, inner = np.asarray(quantiles, dtype=np.float64), np.asarray(values, dtype=np.float64)
        ends = np.hstack([inner[:, :1], inner, inner[:, -1:]])
        return cls.of_curves(np.r_[0.0, at, 1.0], ends[:, :-1], ends[:, 1:], sizes)

    def quantile(self, q: float | ArrayLike) -> Floats:
        """Return the quantiles q, each in [0, 1]: (m,) for one, (m, k) for several.

        Where the distribution function is flat, this is the least of all q-quantiles.
        """
        probabilities = check_levels(q)
        quantiles = np.empty((len(self.left), len(probabilities)))
        for i, levels in enumerate(self.levels):
            piece = np.maximum(np.searchsorted(levels, probabilities) - 1, 0)
            first, width = levels[piece], np.diff(levels)[piece]
            share = np.clip((probabilities - first) / np.where(width > 0.0, width, 1.0), 0.0, 1.0)
            left, right = self.left[i, piece], self.right[i, piece]
            quantiles[i] = np.where(share == 1.0, right, left + share * (right - left))
        return quantiles[:, 0] if np.ndim(q) == 0 else quantiles

    def interval(self, coverage: float = 0.9) -> Floats:
        """Return the central intervals, (m, 2), that contain a value with a given probability.

        Parameters
        ----------
        coverage : float, default 0.9
            The probability, in [0, 1].
        """
        return self.quantile(central(coverage))

    def cdf(self, y: ArrayLike) -> Floats:
        """Return the probability of values up to y: (m,), or (m, k) for k values a row."""
        if np.ndim(y) < 2:
            return self._below(self._targets(y))[0].sum(axis=1)
        return np.stack([self.cdf(column) for column in np.asarray(y).T], axis=1)

    def mean(self) -> Floats:
        """Return the means, (m,)."""
        return np.asarray((np.diff(self.levels) * (self.left + self.right)).sum(axis=1) / 2.0)

    def crps(self, y: ArrayLike) -> Floats:
        """Return the continuous ranked probability score of y, (m,): the lower the better.

        It is the integral of (cdf(z) - 1[z >= y])^2 over all z, which is twice the integral of the
        pinball loss over all quantiles.
        """
        targets = self._targets(y)
        below, at = self._below(targets)
        first, last, y = self.levels[:, :-1], self.levels[:, 1:], targets[:, None]
        middle = np.where(below < last - first, first + below, last)
        low = _integral(first, middle, y - self.left, y - at)
        high = _integral(1.0 - last, 1.0 - middle, self.right - y, at - y)
        return np.asarray(2.0 * (low + high).sum(axis=1))

    def sample(self, size: int = 1, random_state: Any = None) -> Floats:
        """Return independent random values, (m, size).

        Parameters
        ----------
        size : int, default 1
            Number of values for each row.
        random_state : int, numpy.random.Generator or None, optional
            As `numpy.random.default_rng` takes it.
        """
        count = int(check_number(size, "size", least=1, whole=True))
        levels = np.random.default_rng(random_state).uniform(size=(len(self.left), count))
        values = np.empty_like(levels)
        for i in range(len(levels)):
            values[i] = self[i : i + 1].quantile(levels[i])[0]
        return values

    def __len__(self) -> int:
        return len(self.left)

    def __getitem__(self, rows: Any) -> Self:
        """Return the distributions of some rows: a slice or an array."""
        parts = (self.levels, self.left, self.right, self.crossings)
        return type(self)(*(array[rows] for array in parts))

    def _targets(self, y: ArrayLike) -> Floats:
        """Return a value for each row."""
        return check_vector(y, len(self.left), "y", of="the distributions")

    def _below(self, y: Floats) -> tuple[Floats, Floats]:
        """Return the length of each piece up to y, (m, K), and its value there."""
        width, y = np.diff(self.levels), y[:, None]
        inside = (self.left < y) & (y < self.right)
        share = (y - self.left) / np.where(inside, self.right - self.left, 1.0)
        below = np.where(inside, share * width, np.where(self.right <= y, width, 0.0))
        return below, np.clip(y, self.left, self.right)


def central(coverage: float) -> list[float]:
    """Return the probabilities of the quantiles that bound the central interval."""
    outside = (1.0 - check_number(coverage, "coverage", least=0, most=1)) / 2.0
    return [outside, 1.0 - outside]


def parts(path: SolutionPath, m: int) -> Iterator[slice]:
    """Yield blocks of m rows whose distributions fit in memory together."""
    size = max(1, PREDICTIONS_AT_ONCE // len(path.breakpoints))
    for first in range(0, m, size):
        yield slice(first, first + size)


def _integral(begin: Floats, end: Floats, first: Floats, last: Floats) -> Floats:
    """Return the integrals of u g(u) over pieces, for linear g given by values at both ends.

    Simpson's rule is exact for parabolas.
    """
    middle = (begin + end) * (first + last) / 4.0
    return np.asarray(np.abs(end - begin) / 6.0 * (begin * first + 4.0 * middle + end * last))


def _check_quantiles(path: SolutionPath) -> None:
    """Refuse a path that doesn't contain every quantile."""
    if path.reading.kind != "quantile" or path.parameter != "tau" or path.range != (0.0, 1.0):
        raise ValueError(
            "Distributions are those of a path of quantiles in tau from 0 to 1: pass that of "
            f"quantile_regression_path or kernel_quantile_path, not one in {path.parameter}."
        )


def _sizes(path: SolutionPath, X_new: Rows) -> Floats:
    """Return upper bounds (m,) of the sums of absolute terms of all predictions."""
    rows = path.reading.checked(X_new)
    w, v = path.variables_at(np.arange(len(path.points)))
    largest = (np.abs(values).max(axis=0, keepdims=True) for values in (w, v))
    return np.asarray(path.reading.sizes(rows, *largest)[:, 0, 0])


def _rearranged(levels: Floats, left: Floats, right: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the rearrangement of a curve: levels, and values at both ends of its pieces.

    Between two neighbouring values each piece that covers them contributes its share of width.
    """
    low, high, width = np.minimum(left, right), np.maximum(left, right), np.diff(levels)
    values = np.unique(np.concatenate([low, high]))
    first, last = np.searchsorted(values, low), np.searchsorted(values, high)
    flat = first == last
    points = np.bincount(first[flat], width[flat], minlength=len(values))
    count = last - first
    piece = np.repeat(np.arange(len(low)), count)
    place = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) + first[piece]
    share = np.diff(values)[place] / (high - low)[piece]
    lines = np.bincount(place, width[piece] * share, minlength=len(values))
    mass = np.stack([points, lines], axis=1).ravel()[:-1]
    begin = np.repeat(values, 2)[:-1]
    end = np.stack([values, np.append(values[1:], values[-1])], axis=1).ravel()[:-1]
    kept = mass > 0.0
    ends = np.concatenate([levels[:1], levels[0] + np.cumsum(mass[kept])])
    ends[-1] = levels[-1]
    return np.minimum(ends, levels[-1]), begin[kept], end[kept]
