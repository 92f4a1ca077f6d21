"""The middle of what moving inequalities leave of a few variables, as a function of time.

All of ``bounds`` say directions s <= value + rate tau. The middle of several variables is taken of
one after the other: of the first in all that is allowed, then of the second beside that one. So it
is the centre of a box, and of whatever is symmetric about a centre.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..homotopy.tolerances import SINGULAR
from ..validation import Floats

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
    parts = (lines[side] / np.abs(directions[side, None]) for side in sides)
    high, low = (_least(part, begin, end, rounding) for part in parts)
    if not high and not low:
        return [(begin, own)]
    if not high or not low:
        return [(tau, line if high else -line) for tau, line in high or low]
    found = []
    for tau in sorted({tau for tau, _ in high + low}):
        upper, lower = (next(ln for at, ln in part[::-1] if at <= tau) for part in (high, low))
        found.append((tau, (upper - lower) / 2))
    return _bent(found, end, rounding)


def _least(lines: Floats, begin: float, end: float, rounding: Floats) -> list[tuple[float, Floats]]:
    """Return which line (m, 2) is the least from where on, but for rounding."""
    found: list[tuple[float, Floats]] = []
    tau = begin
    while len(lines):
        value = lines @ (1.0, tau)
        tied = value <= value.min() + rounding @ (1.0, tau)
        line = lines[tied][lines[tied, 1].argmin()]
        found.append((tau, line))
        falls = line - lines
        less = _matters(falls, end, rounding) & (falls[:, 1] > 0)
        lines, falls = lines[less], falls[less]
        if len(lines):
            tau = max(tau, float((-falls[:, 0] / falls[:, 1]).min()))
    return found


def _bent(
    found: list[tuple[float, Floats]], end: float, rounding: Floats
) -> list[tuple[float, Floats]]:
    """Return lines without places at which they bend by no more than rounding."""
    kept = found[:1]
    for k, (tau, line) in enumerate(found[1:], 1):
        until = found[k + 1][0] if k + 1 < len(found) else end
        off = line - kept[-1][1]
        if _matters(off, until, rounding) or _matters(-off, until, rounding):
            kept.append((tau, line))
    return kept


def _matters(off: Floats, end: float, rounding: Floats) -> Any:
    """Tell whether lines (..., 2) are above zero at the end by more than rounding."""
    if np.isinf(end):
        return off[..., 1] > rounding[1]
    return off @ (1.0, end) > rounding @ (1.0, end)
