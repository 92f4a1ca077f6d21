"""Errors of ranks, which are step functions: an order changes where decisions cross each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..validation import Floats
from .curves import Curve, steps

Ints = NDArray[np.int64]
PAIRS = 4_000_000  # that are looked at together where a path begins
ENTRIES = 1_000_000  # places of rows in orders that are held together


class Swaps(NamedTuple):
    """Pairs of rows whose order changes: at t the sign of f_i - f_j becomes another one.

    All (k,) arrays; an order's sign is -1, 0 (a tie) or 1.
    """

    i: Ints
    j: Ints
    at: Floats
    before: Ints
    after: Ints

    @classmethod
    def together(cls, parts: list[Swaps]) -> Swaps:
        """Return those of several parts of a path."""
        i, j, at, before, after = (np.concatenate(own) for own in zip(*parts, strict=True))
        return cls(i, j, at, before, after)


def swaps(t: Floats, pieces: tuple[Ints, Ints], f: Floats, places: Ints) -> tuple[Ints, Swaps]:
    """Return the order of rows where a path begins, and all its changes.

    Parameters
    ----------
    t : (K,) array
        Places of nodes, ascending.
    pieces : two (p,) arrays
        The nodes at both ends of each piece, on which decisions are lines.
    f : (m, K) array
        Decisions.
    places : (m, K) int array
        Where each decision stands in the order of its column; those that tie stand alike.

    Returns
    -------
    first : (m,) array
        Places of rows on the first piece.
    Swaps
    """
    size, found = max(1, ENTRIES // max(len(f), 1)), []
    for begin in range(0, len(pieces[0]), size):
        left, right = (own[begin : begin + size] for own in pieces)
        found.append(_inside(t, left, right, f, places))
        left, right = (own[begin : begin + size + 1] for own in pieces)
        found.append(_between(t, left, right, places))
    first = _order(places[:, pieces[0][:1]], places[:, pieces[1][:1]])[:, 0]
    return first, Swaps.together(found)


def _order(first: Ints, then: Ints) -> Ints:
    """Return numbers whose order is that of places, and of others where these are the same."""
    return first * (len(first) + 1) + then


def _inside(t: Floats, left: Ints, right: Ints, f: Floats, places: Ints) -> Swaps:
    """Return the pairs that cross inside of pieces."""
    moved = (places[:, left] != places[:, right]).any(axis=0)
    left, right = left[moved], right[moved]
    first, last = places[:, left], places[:, right]
    column, i, j, before, after = _differing(_order(first, last), _order(last, first))
    here, there = left[column], right[column]
    gap, other = f[i, here] - f[j, here], f[i, there] - f[j, there]
    share = np.clip(gap / (gap - other), 0.0, 1.0)
    at = np.clip(t[here] + share * (t[there] - t[here]), t[here], t[there])
    return Swaps(i, j, at, before, after)


def _between(t: Floats, left: Ints, right: Ints, places: Ints) -> Swaps:
    """Return the pairs whose order changes from the end of a piece to the begin of the next one."""
    nodes = [left[:-1], right[:-1], left[1:], right[1:]]
    own = [places[:, node] for node in nodes]
    moved = np.any([(own[k] != own[k + 1]).any(axis=0) for k in range(3)], axis=0)
    tied = (np.diff(np.sort(own[1], axis=0), axis=0) == 0).any(axis=0)
    moved &= tied | (own[1] != own[2]).any(axis=0)
    first, last, begin, end = (part[:, moved] for part in own)
    column, i, j, before, after = _differing(_order(last, first), _order(begin, end))
    return Swaps(i, j, t[nodes[1][moved][column]], before, after)


def _differing(a: Ints, b: Ints) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Return columns and pairs of rows whose order in b (m, p) is another one than in a.

    With the signs of a_i - a_j and of b_i - b_j. Sorted by a, rows fall into blocks that b doesn't
    mix; pairs of a block are compared.
    """
    order = np.lexsort((b, a), axis=0)
    a, b = (np.take_along_axis(own, order, axis=0) for own in (a, b))
    block, row, column = _blocks(a, b)
    found, distance = [], 1
    while len(row):
        on = row + distance < len(a)
        row, column = row[on], column[on]
        on = block[row + distance, column] == block[row, column]
        row, column = row[on], column[on]
        before, after = (np.sign(own[row, column] - own[row + distance, column]) for own in (a, b))
        new = before != after
        i, j = order[row[new], column[new]], order[row[new] + distance, column[new]]
        found.append((column[new], i, j, before[new], after[new]))
        distance += 1
    none = np.empty(0, dtype=np.int64)
    parts = zip(*found, strict=True) if found else ((none,) for _ in range(5))
    columns, i, j, before, after = (np.concatenate(own) for own in parts)
    return columns, i, j, before, after


def _blocks(a: Ints, b: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the blocks (m, p) that sorted rows fall into, and who is in one that holds changes."""
    top = np.maximum.accumulate(b, axis=0)[:-1]
    bottom = np.minimum.accumulate(b[::-1], axis=0)[::-1][1:]
    apart = (a[1:] > a[:-1]) & (top < bottom)
    same = (a[1:] == a[:-1]) & (b[1:] == b[:-1])
    block = np.zeros(a.shape, dtype=np.int64)
    block[1:] = np.cumsum(apart, axis=0)
    block += np.arange(a.shape[1]) * len(a)
    mixed = np.zeros(a.size, dtype=bool)
    mixed[block[1:][~apart & ~same]] = True
    row, column = np.nonzero(mixed[block])
    return block, row, column


def discordant(
    first: Ints, changes: Swaps, scores: Floats, weights: Floats
) -> tuple[float, Floats, Floats, float]:
    """Return the weight of pairs in the wrong order at first, where and how it rises, and of all.

    Pairs are those of rows with different scores; of decisions that tie half counts.
    """
    wrong, total, size = 0.0, 0.0, max(1, PAIRS // len(scores))
    for begin in range(0, len(scores), size):
        own = slice(begin, begin + size)
        above = scores[own, None] > scores
        pairs = weights[own, None] * weights * above
        order = np.sign(first[own, None] - first)
        wrong += float((pairs * (1.0 - order)).sum()) / 2.0
        total += float(pairs.sum())
    i, j, at, before, after = changes
    wanted = np.sign(scores[i] - scores[j])
    rises = weights[i] * weights[j] * wanted * (before - after) / 2.0
    return wrong, at[wanted != 0.0], rises[wanted != 0.0], total


def precision_error(
    ends: tuple[float, float],
    first: Ints,
    changes: Swaps,
    positive: NDArray[np.bool_],
    weights: Floats,
) -> Curve:
    """Return 1 less the average precision.

    Each positive row adds its share of the weight of positive rows times the precision of those
    whose decisions are at least its own.
    """
    unit = float(weights[positive].sum())
    if unit == 0.0:
        one = np.ones(1)
        return Curve(np.array(ends), one, one, np.zeros(1))
    order = np.argsort(first, kind="stable")
    place = np.searchsorted(first[order], first)  # the first row that ties with each
    sums = []
    for counted in (positive, ~positive):
        before = np.append(0.0, np.cumsum((weights * counted)[order]))
        sums.append(before[-1] - before[place])
    # who comes to, or goes from, those that are at least as high as a positive row
    row = np.concatenate([changes.i, changes.j])
    other = np.concatenate([changes.j, changes.i])
    at = np.concatenate([changes.at, changes.at])
    was, is_ = (np.concatenate([sign <= 0, sign >= 0]) for sign in (changes.before, changes.after))
    kept = positive[row] & (was != is_)
    row, other, at, is_ = row[kept], other[kept], at[kept], is_[kept]
    by_row = np.lexsort((at, row))
    row, other, at, is_ = row[by_row], other[by_row], at[by_row], is_[by_row]
    change = np.where(is_, 1.0, -1.0) * weights[other]
    begin = np.searchsorted(row, row)
    hits, misses = (
        _after(own[row], change * counted[other], begin)
        for own, counted in zip(sums, (positive, ~positive), strict=True)
    )
    share = weights / unit
    now = hits / (hits + misses)
    start = sums[0][row] / (sums[0][row] + sums[1][row])
    head = np.arange(len(row)) == begin
    before_ = np.where(head, start, np.append(0.0, now)[: len(row)])
    rises = share[row] * (before_ - now)
    error = 1.0 - float((share * sums[0] / (sums[0] + sums[1]))[positive].sum())
    return steps(*ends, error, at, rises, 1.0)


def _after(start: Floats, change: Floats, begin: Ints) -> Floats:
    """Return what a sum that begins at start is after each of the changes of its row."""
    sums = np.append(0.0, np.cumsum(change))
    return np.asarray(start + sums[1:] - sums[begin])
