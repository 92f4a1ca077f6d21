"""The middle of what moving inequalities leave of a few variables, as a function of time.

All of ``bounds`` say directions s <= value + rate tau. The middle of several variables is taken of
one after the other: of the first in all that is allowed, then of the second beside that one. So it
is the centre of a box, and of whatever is symmetric about a centre.

Of one variable, or of one that no inequality ties to others, P problems are looked at together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compilation import read_only
from ..homotopy.tolerances import SINGULAR
from ..validation import Floats
from .envelopes import CLEAR, least, near_least, straighten

MOST = 1_000_000  # inequalities that eliminations may make: of more the middle isn't looked for


def cleared(sums: Floats, terms: Floats) -> Floats:
    """Return sums, zero where they are nothing beside the sums of absolute terms."""
    return np.where(np.abs(sums) <= SINGULAR * terms, 0.0, sums)


class Bent(NamedTuple):
    """Lines (..., 2, T, P) that follow each other from tau (T, P) on, of P problems.

    They ascend; where tau is infinite there is no other line.
    """

    tau: Floats
    lines: Floats

    def at(self, tau: Floats) -> Floats:
        """Return the lines (..., 2, T, P) that go on from tau (T, P)."""
        first = self.lines[..., :1, :]
        found = np.broadcast_to(first, (*first.shape[:-2], *tau.shape)).copy()
        for k in range(1, len(self.tau)):
            np.copyto(found, self.lines[..., k : k + 1, :], where=self.tau[k] <= tau)
        return found

    @classmethod
    def beside_each_other(cls, several: list[Bent]) -> Bent:
        """Return lines (q, 2, T, P) of variables whose lines (2, T, P) bend anywhere."""
        tau = _union([own.tau for own in several])
        return cls(tau, np.stack([own.at(tau) for own in several]))


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
    high, low = ((lines[side] / np.abs(directions[side, None])).T[..., None] for side in sides)
    ways = np.array([begin]), np.array([end])
    found = middles(high, low, own[:, None], *ways, rounding[:, None])
    inside = np.isfinite(found.tau[:, 0])
    return list(zip(found.tau[inside, 0].tolist(), found.lines[:, inside, 0].T, strict=True))


def foremost(lines: Floats, end: Floats, rounding: Floats) -> Floats:
    """Return those of lines (2, m, P) that may be least between 0 and an end (P,), (2, k, P).

    Others are above one of them by more than ``rounding`` (2, P), a line, explains, at both ends.
    No line has the value inf.
    """
    kept = np.empty(lines.shape[1:], dtype=bool)
    most = near_least(*read_only(lines, end, rounding), kept)
    problem, row = np.nonzero(kept.T)
    count = kept.sum(axis=0)
    place = np.arange(len(row)) - (np.cumsum(count) - count)[problem]
    found = np.zeros((2, most, len(count)))
    found[0] = np.inf
    found[:, place, problem] = lines[:, row, problem]
    return found


def at_begin(lines: Floats) -> Floats:
    """Return which of lines (2, m, P) is the least at 0, (2, P); inf where there is none."""
    if not lines.shape[1]:
        return np.stack([np.full(lines.shape[2], np.inf), np.zeros(lines.shape[2])])
    return np.take_along_axis(lines, lines[0].argmin(axis=0)[None, None], axis=1)[:, 0]


def is_clear(off: Floats, end: Floats, rounding: Floats) -> NDArray[np.bool_]:
    """Tell which lines (2, m, P) are above zero by far more than rounding (2, P) to the end."""
    return np.asarray((_ends(off, end) > CLEAR * _ends(rounding, end)[:, None]).all(axis=0))


def middles(
    high: Floats, low: Floats, own: Floats, begin: Floats, end: Floats, rounding: Floats
) -> Bent:
    """Return the middles of variables of P problems, as `middle` does of one.

    Parameters
    ----------
    high, low : (2, m, P) arrays
        Lines above each variable, and the negatives of those below, with the value inf for none.
    own : (2, P) array
    begin, end : (P,) arrays
    rounding : (2, P) array
    """
    up, down = (_least(lines, begin, end, rounding) for lines in (high, low))
    bounded = [np.isfinite(lines[0]).any(axis=0) for lines in (high, low)]
    tau = _union([begin[None], up.tau, down.tau])
    above, below = (part.at(tau) if len(part.tau) else own[:, None] for part in (up, down))
    lines = np.where(bounded[0], above, np.where(bounded[1], -below, own[:, None]))
    both = bounded[0] & bounded[1]
    lines[..., both] = (np.broadcast_to(above, lines.shape)[..., both] - below[..., both]) / 2
    return _bent(Bent(tau, lines), both, end, rounding)


def _least(lines: Floats, begin: Floats, end: Floats, rounding: Floats) -> Bent:
    """Return which of lines (2, m, P) are the least from where on, but for rounding."""
    tau, found = np.empty(lines.shape[1:]), np.zeros(lines.shape)
    count = least(*read_only(lines, begin, end, rounding), tau, found)
    return Bent(tau[:count], found[:, :count])


def _bent(found: Bent, which: NDArray[np.bool_], end: Floats, rounding: Floats) -> Bent:
    """Return lines of problems without places at which some of them bend by no more than rounding.

    ``which`` (P,) are those of which such places are left out.
    """
    tau = found.tau.copy()
    straighten(tau, *read_only(found.lines, which, end, rounding))
    return Bent(tau, found.lines)


def _union(several: list[Floats]) -> Floats:
    """Return all of some tau (T, P), ascending, each once."""
    tau = np.sort(np.concatenate(several), axis=0)
    tau[1:][tau[1:] == tau[:-1]] = np.inf
    return np.sort(tau, axis=0)[: max(1, int(np.isfinite(tau).sum(axis=0).max(initial=1)))]


def _last(lines: Floats, end: Floats) -> Floats:
    """Return values of lines (2, ..., P) at the end (P,) of a way, slopes where it has none."""
    endless = np.isinf(end)
    return np.where(endless, lines[1], lines[0] + lines[1] * np.where(endless, 0.0, end))


def _ends(lines: Floats, end: Floats) -> Floats:
    """Return values of lines (2, ..., P) at 0 and, as `_last`, at the end."""
    return np.stack([lines[0], _last(lines, end)])
