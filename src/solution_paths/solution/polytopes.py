"""The middle of what moving inequalities leave of a few variables, as a function of time.

All of ``bounds`` say directions s <= value + rate tau. The middle of several variables is taken of
one after the other: of the first in all that is allowed, then of the second beside that one. So it
is the centre of a box, and of whatever is symmetric about a centre.

What no inequality ties to others is looked at many problems at a time: see `envelopes.boxes`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..homotopy.tolerances import SINGULAR
from ..validation import Floats
from .envelopes import CLEAR, middle_of_one, nearest

MOST = 1_000_000  # inequalities that eliminations may make: of more the middle isn't looked for


def cleared(sums: Floats, terms: Floats) -> Floats:
    """Return sums, zero where they are nothing beside the sums of absolute terms."""
    return np.where(np.abs(sums) <= SINGULAR * terms, 0.0, sums)


class TooMany(Exception):
    """More inequalities than may be looked at."""


class Bounds(NamedTuple):
    """Inequalities directions (m, q) s <= lines (m, 2) @ (1, tau)."""

    directions: Floats
    lines: Floats

    @classmethod
    def between(cls, directions: Floats, low: Floats, high: Floats) -> Bounds:
        """Return low <= directions s <= high of lines (m, 2), where these are finite."""
        both = np.concatenate([directions, -directions]), np.concatenate([high, -low])
        kept = np.isfinite(both[1][:, 0]) & both[0].any(axis=1)
        return cls(both[0][kept], both[1][kept])

    def nearest(self, j: int, sign: float, end: float, rounding: Floats) -> Bounds:
        """Return those that bound variable j alone on one side and may be the nearest one there.

        That is somewhere from 0 to an end, for all that ``rounding`` (2,), a line, says.
        """
        c = sign * self.directions[:, j]
        lines, least = self.lines[c > 0] / c[c > 0, None], c[c > 0].min(initial=1.0)
        lines = np.ascontiguousarray(lines.T)
        lines = lines[:, : nearest(lines, lines.shape[1], end, rounding / least)].T
        directions = np.zeros((len(lines), self.directions.shape[1]))
        directions[:, j] = sign
        return Bounds(directions, lines)

    def without_last(self) -> Bounds:
        """Return what they say of all variables but the last (Fourier, Motzkin)."""
        last = self.directions[:, -1]
        up, down, rest = last > 0, last < 0, last == 0
        if up.sum() * down.sum() > MOST:
            raise TooMany
        one, other = (
            np.hstack([self.directions[own, :-1], self.lines[own]]) / np.abs(last[own, None])
            for own in (up, down)
        )
        q, pairs = self.directions.shape[1] - 1, one[:, None] + other[None]
        terms = np.abs(one[:, None, :q]) + np.abs(other[None, :, :q])
        pairs[..., :q] = cleared(pairs[..., :q], terms)
        pairs = pairs.reshape(-1, q + 2)
        directions = np.concatenate([self.directions[rest, :-1], pairs[:, :q]])
        lines = np.concatenate([self.lines[rest], pairs[:, q:]])
        kept = directions.any(axis=1)
        return Bounds(directions[kept], lines[kept])

    def beside(self, first: Floats) -> Bounds:
        """Return what they say of the others where the first variable is a line (2,)."""
        directions = self.directions[:, 1:]
        lines = self.lines - self.directions[:, :1] * first
        kept = directions.any(axis=1)
        return Bounds(directions[kept], lines[kept])


def middle(
    bounds: Bounds, own: Floats, begin: float, end: float, rounding: Floats
) -> tuple[Floats, Floats]:
    """Return where the middle bends, and its lines from there on.

    Where a variable is bounded on one side alone it is at that bound, and where it isn't at all it
    stays what it is.

    Parameters
    ----------
    bounds : Bounds
        Of q variables.
    own : (q, 2) array
        The lines of what they are.
    begin, end : float
        Between which tau, 0 <= begin < end; the end may be infinite.
    rounding : (2,) array
        A line: by so much bounds may be off. What bends by less is straight.

    Returns
    -------
    tau : (k,) array
        Ascending from ``begin``.
    lines : (k, q, 2) array
    """
    first = bounds
    for _ in range(len(own) - 1):
        first = first.without_last()
    tau, lines = [], []
    ends = _middle_of_one(first, own[0], begin, end, rounding)
    for k, (at, line) in enumerate(ends):
        if len(own) == 1:
            tau.append(np.array([at]))
            lines.append(line[None, None])
            continue
        until = ends[k + 1][0] if k + 1 < len(ends) else end
        where, others = middle(bounds.beside(line), own[1:], at, until, rounding)
        tau.append(where)
        lines.append(np.concatenate([np.tile(line, (len(where), 1, 1)), others], axis=1))
    return np.concatenate(tau), np.concatenate(lines)


def _middle_of_one(
    bounds: Bounds, own: Floats, begin: float, end: float, rounding: Floats
) -> list[tuple[float, Floats]]:
    """Return where the middle of one variable bends, and its line from there on."""
    directions, lines = bounds.directions[:, 0], bounds.lines
    sides = directions > 0, directions < 0
    high, low = (
        np.ascontiguousarray((lines[side] / np.abs(directions[side, None])).T) for side in sides
    )
    most = high.shape[1] + low.shape[1] + 1
    tau, found = np.empty(most), np.empty((2, most))
    own, rounding = (np.array(line, dtype=float) for line in (own, rounding))
    T = middle_of_one(high, low, own, float(begin), float(end), rounding, tau, found)
    return list(zip(tau[:T].tolist(), found[:, :T].T, strict=True))


def is_clear(off: Floats, end: Floats, rounding: Floats) -> NDArray[np.bool_]:
    """Tell which lines (2, m, P) are above zero by far more than rounding (2, P) to the end."""
    return np.asarray((_ends(off, end) > CLEAR * _ends(rounding, end)[:, None]).all(axis=0))


def _ends(lines: Floats, end: Floats) -> Floats:
    """Return values of lines (2, ..., P) at 0 and at the end, their slopes where it is infinite."""
    endless = np.isinf(end)
    last = np.where(endless, lines[1], lines[0] + lines[1] * np.where(endless, 0.0, end))
    return np.stack([lines[0], last])
