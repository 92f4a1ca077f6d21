"""The middle of a polytope of a few variables with moving bounds, as a function of time.

The bounds are directions s <= value + rate tau. The middle is taken of one variable after the
other: of the first one in the whole polytope, then of the second one for this value of the first,
and so on. So it is the centre of a box, and of any polytope that is symmetric about a centre.

Variables that no inequality couples are treated for many problems at a time: `envelopes.boxes`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..homotopy.tolerances import SINGULAR
from ..validation import Floats
from .envelopes import middle_of_one, nearest
from .tolerances import CLEARANCE

MAX_INEQUALITIES = 1_000_000  # elimination of a variable is given up beyond


def cleared(sums: Floats, terms: Floats) -> Floats:
    """Return sums, zero where they are rounding of the sums of absolute terms."""
    return np.where(np.abs(sums) <= SINGULAR * terms, 0.0, sums)


class TooMany(Exception):
    """Elimination would create too many inequalities."""


class Bounds(NamedTuple):
    """Inequalities directions (m, q) s <= lines (m, 2) @ (1, tau)."""

    directions: Floats
    lines: Floats

    @classmethod
    def between(cls, directions: Floats, low: Floats, high: Floats) -> Bounds:
        """Return low <= directions s <= high for lines (m, 2), where these are finite."""
        both = np.concatenate([directions, -directions]), np.concatenate([high, -low])
        kept = np.isfinite(both[1][:, 0]) & both[0].any(axis=1)
        return cls(both[0][kept], both[1][kept])

    def nearest(self, j: int, sign: float, end: float, rounding: Floats) -> Bounds:
        """Return the bounds of variable j alone, on one side, that may be the tightest.

        They may be the tightest one somewhere from 0 to ``end``, within ``rounding`` (2,), a line.
        """
        c = sign * self.directions[:, j]
        lines, least = self.lines[c > 0] / c[c > 0, None], c[c > 0].min(initial=1.0)
        lines = np.ascontiguousarray(lines.T)
        lines = lines[:, : nearest(lines, lines.shape[1], end, rounding / least)].T
        directions = np.zeros((len(lines), self.directions.shape[1]))
        directions[:, j] = sign
        return Bounds(directions, lines)

    def without_last(self) -> Bounds:
        """Eliminate the last variable (Fourier and Motzkin)."""
        last = self.directions[:, -1]
        up, down, rest = last > 0, last < 0, last == 0
        if up.sum() * down.sum() > MAX_INEQUALITIES:
            raise TooMany
        above, below = (
            np.hstack([self.directions[side, :-1], self.lines[side]]) / np.abs(last[side, None])
            for side in (up, down)
        )
        q, pairs = self.directions.shape[1] - 1, above[:, None] + below[None]
        terms = np.abs(above[:, None, :q]) + np.abs(below[None, :, :q])
        pairs[..., :q] = cleared(pairs[..., :q], terms)
        pairs = pairs.reshape(-1, q + 2)
        directions = np.concatenate([self.directions[rest, :-1], pairs[:, :q]])
        lines = np.concatenate([self.lines[rest], pairs[:, q:]])
        kept = directions.any(axis=1)
        return Bounds(directions[kept], lines[kept])

    def beside(self, first: Floats) -> Bounds:
        """Return the bounds of the other variables if the first one is a line (2,)."""
        directions = self.directions[:, 1:]
        lines = self.lines - self.directions[:, :1] * first
        kept = directions.any(axis=1)
        return Bounds(directions[kept], lines[kept])


def middle(
    bounds: Bounds, fallback: Floats, begin: float, end: float, rounding: Floats
) -> tuple[Floats, Floats]:
    """Return the tau at which the middle bends, and its lines from there on.

    A variable with a bound on one side only is at that bound; one without bounds keeps its value.

    Parameters
    ----------
    bounds : Bounds
        Bounds of q variables.
    fallback : (q, 2) array
        Lines of the variables where they are unbounded.
    begin, end : float
        The range of tau, 0 <= begin < end; the end may be infinite.
    rounding : (2,) array
        The rounding error of bounds, a line. Smaller bends are ignored.

    Returns
    -------
    tau : (k,) array
        Ascending from ``begin``.
    lines : (k, q, 2) array
    """
    first = bounds
    for _ in range(len(fallback) - 1):
        first = first.without_last()
    tau, lines = [], []
    ends = _middle_of_one(first, fallback[0], begin, end, rounding)
    for k, (begin_of_line, line) in enumerate(ends):
        if len(fallback) == 1:
            tau.append(np.array([begin_of_line]))
            lines.append(line[None, None])
            continue
        until = ends[k + 1][0] if k + 1 < len(ends) else end
        where, others = middle(bounds.beside(line), fallback[1:], begin_of_line, until, rounding)
        tau.append(where)
        lines.append(np.concatenate([np.tile(line, (len(where), 1, 1)), others], axis=1))
    return np.concatenate(tau), np.concatenate(lines)


def _middle_of_one(
    bounds: Bounds, fallback: Floats, begin: float, end: float, rounding: Floats
) -> list[tuple[float, Floats]]:
    """Return the tau at which the middle of one variable bends, and its line from there on."""
    directions, lines = bounds.directions[:, 0], bounds.lines
    sides = directions > 0, directions < 0
    high, low = (
        np.ascontiguousarray((lines[side] / np.abs(directions[side, None])).T) for side in sides
    )
    size = high.shape[1] + low.shape[1] + 1
    tau, middles = np.empty(size), np.empty((2, size))
    fallback, rounding = (np.array(line, dtype=float) for line in (fallback, rounding))
    T = middle_of_one(high, low, fallback, float(begin), float(end), rounding, tau, middles)
    return list(zip(tau[:T].tolist(), middles[:, :T].T, strict=True))


def is_clear(heights: Floats, end: Floats, rounding: Floats) -> NDArray[np.bool_]:
    """Tell which lines (2, m, P) exceed zero by far more than rounding (2, P), up to the end."""
    return np.asarray((_ends(heights, end) > CLEARANCE * _ends(rounding, end)[:, None]).all(axis=0))


def _ends(lines: Floats, end: Floats) -> Floats:
    """Return values of lines (2, ..., P) at 0 and at the end: slopes where that is infinite."""
    endless = np.isinf(end)
    last = np.where(endless, lines[1], lines[0] + lines[1] * np.where(endless, 0.0, end))
    return np.stack([lines[0], last])
