"""Predicted distributions: quantile functions that are piecewise linear, integrated exactly.

A path in tau predicts for each row every quantile. Where lines of different tau cross its curve
falls somewhere, so that it is no quantile function; rearranged (Chernozhukov, Fernandez-Val and
Galichon 2010) it is one, that of the values which the curve takes at a tau that is drawn evenly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..validation import Floats, Rows, check_levels, check_number, check_vector
from .path import SolutionPath

ROUNDED = 2.0**-44  # of the sum of a prediction's absolute terms: less is no fall of a curve
ENTRIES = 4_000_000  # predictions at all levels that are held together: 32 MB


@dataclass(frozen=True, eq=False)
class PredictedDistribution:
    """Distributions of m values, by quantile functions of K pieces that are lines.

    All that is said of them is exact: integrals of pieces are polynomials.

    Attributes
    ----------
    levels : (m, K + 1) array
        Ends of the pieces, from 0 to 1 in each row; pieces of no length say nothing.
    left, right : (m, K) arrays
        Quantiles at both ends of each piece, approached from inside; they ascend.
    crossings : (m,) int array
        At how many places the curve that was predicted fell, before it was rearranged.

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
        """Return what a path in tau predicts for rows.

        Parameters
        ----------
        path : SolutionPath
            Of quantiles, in tau from 0 to 1: of `quantile_regression_path` or
            `kernel_quantile_path`.
        X_new : (m, d) array or CSR
            As in `SolutionPath.predict`. It takes 16 bytes for each row and breakpoint.
        """
        _check_quantiles(path)
        levels = path.breakpoints
        return cls.of_curves(levels, *path.piece_values(X_new, levels), _sizes(path, X_new))

    @classmethod
    def of_curves(
        cls, levels: ArrayLike, left: Floats, right: Floats, sizes: ArrayLike = 0.0
    ) -> Self:
        """Return the distributions of curves, rearranged where they fall.

        Parameters
        ----------
        levels : (K + 1,) array
            From 0 to 1, ascending.
        left, right : (m, K) arrays
            Values at both ends of each piece, approached from inside.
        sizes : (m,) array or float, default 0.0
            Of what values are sums: a fall of 2^-44 of it is none.
        """
        levels = np.asarray(levels, dtype=np.float64)
        off = ROUNDED * np.broadcast_to(sizes, len(left))[:, None]
        falls = (left - right > off).sum(axis=1) + (right[:, :-1] - left[:, 1:] > off).sum(axis=1)
        whole = np.broadcast_to(levels, (len(left), len(levels)))
        fall = np.any(left > right, axis=1) | np.any(right[:, :-1] > left[:, 1:], axis=1)
        if not fall.any():
            return cls(whole, left, right, falls)
        rows = [
            _rearranged(levels, *row) if falling else (levels, *row)
            for falling, *row in zip(fall, left, right, strict=True)
        ]
        size = max(len(row[1]) for row in rows)
        whole, left, right = (np.empty((len(rows), size + one)) for one in (1, 0, 0))
        for i, (edges, first, last) in enumerate(rows):  # what is left over has no length
            whole[i], left[i], right[i] = 1.0, last[-1], last[-1]
            whole[i, : len(edges)], left[i, : len(first)] = edges, first
            right[i, : len(last)] = last
        return cls(whole, left, right, falls)

    @classmethod
    def between(cls, quantiles: ArrayLike, values: ArrayLike, sizes: ArrayLike = 0.0) -> Self:
        """Return the distributions that a few quantiles tell, by lines between them.

        Before the first and after the last one they are constant.

        Parameters
        ----------
        quantiles : (q,) array
            Inside of (0, 1), ascending.
        values : (m, q) array
        sizes : (m,) array or float, default 0.0
            As in `of_curves`.
        """
        at, known = np.asarray(quantiles, dtype=np.float64), np.asarray(values, dtype=np.float64)
        ends = np.hstack([known[:, :1], known, known[:, -1:]])
        return cls.of_curves(np.r_[0.0, at, 1.0], ends[:, :-1], ends[:, 1:], sizes)

    def quantile(self, q: float | ArrayLike) -> Floats:
        """Return the quantiles q, each in [0, 1]: (m,) of one, (m, k) of several.

        Where the distribution function is flat, the least of all q-quantiles.
        """
        asked = check_levels(q)
        found = np.empty((len(self.left), len(asked)))
        for i, levels in enumerate(self.levels):
            piece = np.maximum(np.searchsorted(levels, asked) - 1, 0)
            first, width = levels[piece], np.diff(levels)[piece]
            share = np.clip((asked - first) / np.where(width > 0.0, width, 1.0), 0.0, 1.0)
            left, right = self.left[i, piece], self.right[i, piece]
            found[i] = np.where(share == 1.0, right, left + share * (right - left))
        return found[:, 0] if np.ndim(q) == 0 else found

    def interval(self, coverage: float = 0.9) -> Floats:
        """Return the central intervals, (m, 2), that hold a value with a probability.

        Parameters
        ----------
        coverage : float, default 0.9
            That probability, in [0, 1].
        """
        return self.quantile(central(coverage))

    def cdf(self, y: ArrayLike) -> Floats:
        """Return the probability of values up to y: (m,) of one for each row, (m, k) of several."""
        if np.ndim(y) < 2:
            return self._below(self._targets(y))[0].sum(axis=1)
        return np.stack([self.cdf(column) for column in np.asarray(y).T], axis=1)

    def mean(self) -> Floats:
        """Return the means, (m,)."""
        return np.asarray((np.diff(self.levels) * (self.left + self.right)).sum(axis=1) / 2.0)

    def crps(self, y: ArrayLike) -> Floats:
        """Return the continuous ranked probability score of y, (m,): the less the better.

        It is the integral of (cdf(z) - 1[z >= y])^2 over all z, and twice that of the pinball
        losses of all quantiles.
        """
        targets = self._targets(y)
        below, at = self._below(targets)
        first, last, y = self.levels[:, :-1], self.levels[:, 1:], targets[:, None]
        middle = np.where(below < last - first, first + below, last)
        low = _integral(first, middle, y - self.left, y - at)
        high = _integral(1.0 - last, 1.0 - middle, self.right - y, at - y)
        return np.asarray(2.0 * (low + high).sum(axis=1))

    def sample(self, size: int = 1, random_state: Any = None) -> Floats:
        """Return values that are drawn independently, (m, size).

        Parameters
        ----------
        size : int, default 1
            How many of each row.
        random_state : int, numpy.random.Generator or None, optional
            As `numpy.random.default_rng` takes it.
        """
        count = int(check_number(size, "size", least=1, whole=True))
        levels = np.random.default_rng(random_state).uniform(size=(len(self.left), count))
        found = np.empty_like(levels)
        for i in range(len(levels)):
            found[i] = self[i : i + 1].quantile(levels[i])[0]
        return found

    def __len__(self) -> int:
        return len(self.left)

    def __getitem__(self, rows: Any) -> Self:
        """Return those of some rows, a slice or an array."""
        parts = (self.levels, self.left, self.right, self.crossings)
        return type(self)(*(own[rows] for own in parts))

    def _targets(self, y: ArrayLike) -> Floats:
        """Return a value for each row."""
        return check_vector(y, len(self.left), "y", of="the distributions")

    def _below(self, y: Floats) -> tuple[Floats, Floats]:
        """Return how long each piece is up to y, (m, K), and its value there."""
        width, y = np.diff(self.levels), y[:, None]
        inside = (self.left < y) & (y < self.right)
        share = (y - self.left) / np.where(inside, self.right - self.left, 1.0)
        below = np.where(inside, share * width, np.where(self.right <= y, width, 0.0))
        return below, np.clip(y, self.left, self.right)


def central(coverage: float) -> list[float]:
    """Return the quantiles between which a value lies with a probability."""
    outside = (1.0 - check_number(coverage, "coverage", least=0, most=1)) / 2.0
    return [outside, 1.0 - outside]


def parts(path: SolutionPath, m: int) -> Iterator[slice]:
    """Yield parts of m rows whose distributions are held together."""
    size = max(1, ENTRIES // len(path.breakpoints))
    for first in range(0, m, size):
        yield slice(first, first + size)


def _integral(begin: Floats, end: Floats, first: Floats, last: Floats) -> Floats:
    """Return the integrals of u g(u) over pieces, of lines g by their values at both ends.

    Simpson's rule is exact for parabolas.
    """
    middle = (begin + end) * (first + last) / 4.0
    return np.asarray(np.abs(end - begin) / 6.0 * (begin * first + 4.0 * middle + end * last))


def _check_quantiles(path: SolutionPath) -> None:
    """Refuse a path that doesn't tell every quantile."""
    if path.reading.kind != "quantile" or path.parameter != "tau" or path.range != (0.0, 1.0):
        raise ValueError(
            "Distributions are those of a path of quantiles in tau from 0 to 1: pass that of "
            f"quantile_regression_path or kernel_quantile_path, not one in {path.parameter}."
        )


def _sizes(path: SolutionPath, X_new: Rows) -> Floats:
    """Return bounds (m,) of the sums of the absolute terms of all predictions."""
    rows = path.reading.checked(X_new)
    w, v = path.variables_at(np.arange(len(path.points)))
    most = (np.abs(own).max(axis=0, keepdims=True) for own in (w, v))
    return np.asarray(path.reading.sizes(rows, *most)[:, 0, 0])


def _rearranged(levels: Floats, left: Floats, right: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the quantile function of the values of a curve: levels, and both ends of its pieces.

    Between two values next to each other a piece that covers them counts with its share.
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
