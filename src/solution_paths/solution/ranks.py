"""Errors of ranks: step functions, since an order changes where decisions cross each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..validation import Floats
from .curves import Curve, steps

Ints = NDArray[np.int64]
PAIRS_AT_ONCE = 4_000_000  # pairs of rows in memory at once at the begin of a path
PLACES_AT_ONCE = 1_000_000  # ranks of rows in memory at once


class Swaps(NamedTuple):
    """Pairs of rows whose order changes: the parameters at which the sign of f_i - f_j changes.

    All are (k,) arrays; ``before`` and ``after`` are the signs: -1, 0 (a tie) or 1.
    """

    i: Ints
    j: Ints
    at: Floats
    before: Ints
    after: Ints

    @classmethod
    def together(cls, parts: list[Swaps]) -> Swaps:
        """Return the changes on several parts of a path."""
        i, j, at, before, after = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return cls(i, j, at, before, after)


def swaps(t: Floats, pieces: tuple[Ints, Ints], f: Floats, places: Ints) -> tuple[Ints, Swaps]:
    """Return the order of rows at the begin of a path, and all its changes.

    Parameters
    ----------
    t : (K,) array
        Parameters of nodes, ascending.
    pieces : two (p,) arrays
        The nodes at both ends of each piece, on which decisions are linear.
    f : (m, K) array
        Decisions.
    places : (m, K) int array
        The rank of each decision in its column; ties have the same rank.

    Returns
    -------
    first : (m,) array
        Ranks of rows on the first piece.
    Swaps
    """
    size, parts = max(1, PLACES_AT_ONCE // max(len(f), 1)), []
    for begin in range(0, len(pieces[0]), size):
        left, right = (nodes[begin : begin + size] for nodes in pieces)
        parts.append(_inside(t, left, right, f, places))
        left, right = (nodes[begin : begin + size + 1] for nodes in pieces)
        parts.append(_between(t, left, right, places))
    first = _order(places[:, pieces[0][:1]], places[:, pieces[1][:1]])[:, 0]
    return first, Swaps.together(parts)


def _order(first: Ints, then: Ints) -> Ints:
    """Return numbers in the order of ``first``, ties in the order of ``then``."""
    return first * (len(first) + 1) + then


def _inside(t: Floats, left: Ints, right: Ints, f: Floats, places: Ints) -> Swaps:
    """Return the pairs that cross on pieces."""
    moved = (places[:, left] != places[:, right]).any(axis=0)
    left, right = left[moved], right[moved]
    first, last = places[:, left], places[:, right]
    column, i, j, before, after = _differing(_order(first, last), _order(last, first))
    begin, end = left[column], right[column]
    first_difference, last_difference = f[i, begin] - f[j, begin], f[i, end] - f[j, end]
    share = np.clip(first_difference / (first_difference - last_difference), 0.0, 1.0)
    at = np.clip(t[begin] + share * (t[end] - t[begin]), t[begin], t[end])
    return Swaps(i, j, at, before, after)


def _between(t: Floats, left: Ints, right: Ints, places: Ints) -> Swaps:
    """Return the pairs whose order changes between the end of a piece and the next begin."""
    nodes = [left[:-1], right[:-1], left[1:], right[1:]]
    ranks = [places[:, node] for node in nodes]
    moved = np.any([(ranks[k] != ranks[k + 1]).any(axis=0) for k in range(3)], axis=0)
    tied = (np.diff(np.sort(ranks[1], axis=0), axis=0) == 0).any(axis=0)
    moved &= tied | (ranks[1] != ranks[2]).any(axis=0)
    first, last, begin, end = (part[:, moved] for part in ranks)
    column, i, j, before, after = _differing(_order(last, first), _order(begin, end))
    return Swaps(i, j, t[nodes[1][moved][column]], before, after)


def _differing(a: Ints, b: Ints) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Return the columns and pairs of rows whose order in b (m, p) differs from that in a.

    With them come the signs of a_i - a_j and b_i - b_j. Sorted by a, rows fall into blocks that b
    doesn't mix; only pairs within a block are compared.
    """
    order = np.lexsort((b, a), axis=0)
    a, b = (np.take_along_axis(array, order, axis=0) for array in (a, b))
    block, row, column = _blocks(a, b)
    differing, distance = [], 1
    while len(row):
        on = row + distance < len(a)
        row, column = row[on], column[on]
        on = block[row + distance, column] == block[row, column]
        row, column = row[on], column[on]
        before, after = (
            np.sign(array[row, column] - array[row + distance, column]) for array in (a, b)
        )
        new = before != after
        i, j = order[row[new], column[new]], order[row[new] + distance, column[new]]
        differing.append((column[new], i, j, before[new], after[new]))
        distance += 1
    empty = np.empty(0, dtype=np.int64)
    parts = zip(*differing, strict=True) if differing else ((empty,) for _ in range(5))
    columns, i, j, before, after = (np.concatenate(array) for array in parts)
    return columns, i, j, before, after


def _blocks(a: Ints, b: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the blocks (m, p) of sorted rows, and the rows and columns of blocks with changes."""
    top = np.maximum.accumulate(b, axis=0)[:-1]
    bottom = np.minimum.accumulate(b[::-1], axis=0)[::-1][1:]
    separated = (a[1:] > a[:-1]) & (top < bottom)
    same = (a[1:] == a[:-1]) & (b[1:] == b[:-1])
    block = np.zeros(a.shape, dtype=np.int64)
    block[1:] = np.cumsum(separated, axis=0)
    block += np.arange(a.shape[1]) * len(a)
    mixed = np.zeros(a.size, dtype=bool)
    mixed[block[1:][~separated & ~same]] = True
    row, column = np.nonzero(mixed[block])
    return block, row, column


def discordant(
    first: Ints, changes: Swaps, scores: Floats, weights: Floats
) -> tuple[float, Floats, Floats, float]:
    """Return the weight of pairs in the wrong order at the begin, its changes, and that of all.

    Pairs are those of rows with different scores; tied decisions count half. A change is a
    parameter and a rise.
    """
    wrong, total, size = 0.0, 0.0, max(1, PAIRS_AT_ONCE // len(scores))
    for begin in range(0, len(scores), size):
        block = slice(begin, begin + size)
        above = scores[block, None] > scores
        pairs = weights[block, None] * weights * above
        order = np.sign(first[block, None] - first)
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

    Each positive row contributes its share of the weight of positive rows times the precision among
    the rows with at least its decision.
    """
    unit = float(weights[positive].sum())
    if unit == 0.0:
        one = np.ones(1)
        return Curve(np.array(ends), one, one, np.zeros(1))
    order = np.argsort(first, kind="stable")
    place = np.searchsorted(first[order], first)  # the first row with the same rank
    sums = []
    for counted in (positive, ~positive):
        before = np.append(0.0, np.cumsum((weights * counted)[order]))
        sums.append(before[-1] - before[place])
    # rows that enter or leave the set of rows at least as high as a positive row
    row = np.concatenate([changes.i, changes.j])
    other = np.concatenate([changes.j, changes.i])
    at = np.concatenate([changes.at, changes.at])
    is_before, becomes = (
        np.concatenate([sign <= 0, sign >= 0]) for sign in (changes.before, changes.after)
    )
    kept = positive[row] & (is_before != becomes)
    row, other, at, becomes = row[kept], other[kept], at[kept], becomes[kept]
    by_row = np.lexsort((at, row))
    row, other, at, becomes = row[by_row], other[by_row], at[by_row], becomes[by_row]
    change = np.where(becomes, 1.0, -1.0) * weights[other]
    begin = np.searchsorted(row, row)
    hits, misses = (
        _after(sums_of_rows[row], change * counted[other], begin)
        for sums_of_rows, counted in zip(sums, (positive, ~positive), strict=True)
    )
    share = weights / unit
    now = hits / (hits + misses)
    start = sums[0][row] / (sums[0][row] + sums[1][row])
    head = np.arange(len(row)) == begin
    precision_before = np.where(head, start, np.append(0.0, now)[: len(row)])
    rises = share[row] * (precision_before - now)
    error = 1.0 - float((share * sums[0] / (sums[0] + sums[1]))[positive].sum())
    return steps(*ends, error, at, rises, 1.0)


def _after(start: Floats, change: Floats, begin: Ints) -> Floats:
    """Return the sum of ``start`` and the changes of its row so far, after each change."""
    sums = np.append(0.0, np.cumsum(change))
    return np.asarray(start + sums[1:] - sums[begin])
