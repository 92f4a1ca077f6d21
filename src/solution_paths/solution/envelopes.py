"""Compiled parts of the middle: segments that rows may be on, and the least of many lines.

Lines are (2, m, P), value and slope, of P problems; the value is inf where there is none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compilation import cached_njit

CLEAR = 4.0  # times as much as bounds may be off
FLAT = 2.0**-50  # of the sum of all duals, or of a value's terms: what is less is rounding


@cached_njit(inline="always")
def _last(value: Any, slope: Any, end: Any) -> Any:
    """Return a line's value at the end of a way, its slope where that has none."""
    return slope if np.isinf(end) else value + slope * end


@cached_njit
def on_segments(
    slopes: Any,
    straight: Any,
    rows: Any,
    a: Any,
    t: Any,
    size: Any,
    branch: Any,
    own: Any,
    first: Any,
    last: Any,
) -> None:
    """Write the first and the last straight segment whose slope each dual is, (R, P); or -1.

    It is so at both ends of a piece, but for rounding of what is of some size. Of slopes that
    differ, but can't be told apart, none is meant.

    Parameters
    ----------
    slopes, straight : (2, S, m) and (S, m)
    rows : (R,) of int
    a : (2, R, P), duals
    t : (2, R or 1, P)
    size : (R or 1, P)
    branch, own : (S, m), which branch each segment belongs to, and (m, P), on which each row is; or
        nothing
    """
    S, (R, P) = len(straight), first.shape
    for r in range(R):
        i, s = rows[r], min(r, size.shape[0] - 1)
        e = min(r, t.shape[1] - 1)
        for p in range(P):
            off = FLAT * size[s, p]
            low0 = low1 = np.inf
            high0 = high1 = -np.inf
            begin = end = -1
            for k in range(S):
                if not straight[k, i] or (len(branch) and branch[k, i] != own[i, p]):
                    continue
                here = slopes[0, k, i] + slopes[1, k, i] * t[0, e, p]
                there = slopes[0, k, i] + slopes[1, k, i] * t[1, e, p]
                if abs(here - a[0, r, p]) <= off and abs(there - a[1, r, p]) <= off:
                    begin, end = k if begin < 0 else begin, k
                    low0, high0 = min(low0, here), max(high0, here)
                    low1, high1 = min(low1, there), max(high1, there)
            if begin < end and not (
                high0 - low0 <= FLAT * max(abs(low0), abs(high0))
                and high1 - low1 <= FLAT * max(abs(low1), abs(high1))
            ):
                begin = end = -1
            first[r, p], last[r, p] = begin, end


@cached_njit
def between_knots(
    tables_low: Any, tables_high: Any, first: Any, last: Any, since: Any, low: Any, high: Any
) -> None:
    """Write the lines (2, m, P) of the knots around the first and the last segment of each row.

    Tables are (2, S, m), values and rates at 0; lines begin at ``since`` (P,).
    """
    m, P = first.shape
    for i in range(m):
        for p in range(P):
            low[0, i, p], low[1, i, p], high[0, i, p], high[1, i, p] = -np.inf, 0.0, np.inf, 0.0
            if first[i, p] >= 0:
                begin, end = first[i, p], last[i, p]
                low[1, i, p], high[1, i, p] = tables_low[1, begin, i], tables_high[1, end, i]
                low[0, i, p] = tables_low[0, begin, i] + low[1, i, p] * since[p]
                high[0, i, p] = tables_high[0, end, i] + high[1, i, p] * since[p]


@cached_njit
def sizes_of(low: Any, high: Any, sizes: Any) -> None:
    """Write the largest finite values, and slopes of lines that have such, to sizes (2, P)."""
    for i in range(low.shape[1]):
        for p in range(low.shape[2]):
            for k in range(2):
                if np.isfinite(low[0, i, p]):
                    sizes[k, p] = max(sizes[k, p], abs(low[k, i, p]))
                if np.isfinite(high[0, i, p]):
                    sizes[k, p] = max(sizes[k, p], abs(high[k, i, p]))


@cached_njit
def rooms(
    low: Any, high: Any, rest: Any, shift: Any, rows: Any, which: Any, c: Any, out: Any
) -> None:
    """Write lines (2, 2, R, K): c s <= high - rest - shift, and -c s <= rest + shift - low.

    Divided by |c|, of some rows and some problems; the first axis says whether s is bounded from
    above or from below.
    """
    for part in range(2):
        for a in range(len(rows)):
            i, own = rows[a], c[a]
            for k in range(len(which)):
                p = which[k]
                known = rest[part, i, p] + shift[part, a, k]
                above, below = high[part, i, p] - known, low[part, i, p] - known
                if own < 0.0:
                    above, below = below, above
                out[0, part, a, k], out[1, part, a, k] = above / own, below / -own


@cached_njit
def near_least(lines: Any, end: Any, rounding: Any, kept: Any) -> int:
    """Tell which lines may be least between 0 and an end (P,); return the most of one problem.

    Others are above one of them by more than ``rounding`` (2, P), a line, explains, at both ends.
    """
    m, P = lines.shape[1:]
    best, count = np.full((2, P), -1), np.zeros(P, np.int64)
    for i in range(m):
        for p in range(P):
            if not np.isfinite(lines[0, i, p]):
                continue
            k, j = best[0, p], best[1, p]
            if k < 0 or lines[0, i, p] < lines[0, k, p]:
                best[0, p] = i
            there = _last(lines[0, i, p], lines[1, i, p], end[p])
            if j < 0 or there < _last(lines[0, j, p], lines[1, j, p], end[p]):
                best[1, p] = i
    for i in range(m):
        for p in range(P):
            value, slope = lines[0, i, p], lines[1, i, p]
            kept[i, p] = np.isfinite(value)
            if not kept[i, p]:
                continue
            here = CLEAR * rounding[0, p]
            there = CLEAR * _last(rounding[0, p], rounding[1, p], end[p])
            for k in best[:, p]:
                first, other = lines[0, k, p], _last(lines[0, k, p], lines[1, k, p], end[p])
                near = _last(value, slope, end[p]) <= other + there
                kept[i, p] &= value <= first + here or near
            count[p] += kept[i, p]
    return count.max() if P else 0


@cached_njit
def least(lines: Any, begin: Any, end: Any, rounding: Any, tau: Any, found: Any) -> int:
    """Write which lines are least from where on, (T, P) and (2, T, P); return the most of them.

    Lines that are lower by no more than ``rounding`` until the end don't count. Where there is no
    other line, tau is inf, and the last one stays.
    """
    m, P = lines.shape[1:]
    left, most = np.empty(m, np.bool_), 0
    for p in range(P):
        at, any_left, T = begin[p], False, 0
        for i in range(m):
            left[i] = np.isfinite(lines[0, i, p])
            any_left |= left[i]
        while any_left:
            level, k = np.inf, -1
            for i in range(m):
                if left[i]:
                    level = min(level, lines[0, i, p] + lines[1, i, p] * at)
            level = level + rounding[0, p] + rounding[1, p] * at
            for i in range(m):
                tied = left[i] and lines[0, i, p] + lines[1, i, p] * at <= level
                if tied and (k < 0 or lines[1, i, p] < lines[1, k, p]):
                    k = i
            if k < 0:
                break
            tau[T, p], found[0, T, p], found[1, T, p] = at, lines[0, k, p], lines[1, k, p]
            T, any_left, cross = T + 1, False, np.inf
            off = _last(rounding[0, p], rounding[1, p], end[p])
            for i in range(m):
                if left[i]:
                    value, slope = (
                        found[0, T - 1, p] - lines[0, i, p],
                        found[1, T - 1, p] - lines[1, i, p],
                    )
                    left[i] = slope > 0.0 and _last(value, slope, end[p]) > off
                    if left[i]:
                        any_left, cross = True, min(cross, -value / slope)
            at = max(at, cross) if any_left else at
        most = max(most, T)
        for k in range(T, m):
            tau[k, p] = np.inf
            if T:
                found[0, k, p], found[1, k, p] = found[0, T - 1, p], found[1, T - 1, p]
    return most


@cached_njit
def straighten(tau: Any, lines: Any, which: Any, end: Any, rounding: Any) -> None:
    """Let tau (T, P) be inf where lines (2, T, P) bend by no more than rounding explains.

    That is, in the problems ``which`` (P,) says.
    """
    T, P = tau.shape
    for p in range(P):
        value, slope = lines[0, 0, p], lines[1, 0, p]
        until = tau[1, p] if T > 1 else np.inf
        for k in range(1, T):
            own, until = until, tau[k + 1, p] if k + 1 < T else np.inf
            if not np.isfinite(own):
                continue
            way = until if np.isfinite(until) else end[p]
            off = _last(lines[0, k, p] - value, lines[1, k, p] - slope, way)
            if abs(off) <= _last(rounding[0, p], rounding[1, p], way) and which[p]:
                tau[k, p] = np.inf
            else:
                value, slope = lines[0, k, p], lines[1, k, p]
