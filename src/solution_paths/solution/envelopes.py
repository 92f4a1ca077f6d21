"""Compiled parts of the middle: segments that rows may be on, and what is between many lines.

Lines are value and slope, (2, ...); the value is infinite where there is none. What bounds a
variable from below is given by its negative, so that of bounds the least one holds on either side.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compilation import cached_njit, inner_njit

CLEAR = 4.0  # times as much as bounds may be off
FLAT = 2.0**-50  # of the sum of all duals, or of a value's terms: what is less is rounding


@inner_njit(forceinline=True, _nrt=False)
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
def rooms(
    tables_low: Any,
    tables_high: Any,
    first: Any,
    last: Any,
    since: Any,
    rest: Any,
    low: Any,
    high: Any,
    sizes: Any,
) -> None:
    """Write lines (2, m, P) between which free variables' part of each row's value is.

    That is the knots around its first and its last segment less ``rest``, lines of the other part.
    Tables are (2, S, m), values and rates at 0; lines begin at ``since`` (P,). The largest values
    and slopes of knots are written to ``sizes`` (2, P).
    """
    m, P = first.shape
    for i in range(m):
        for p in range(P):
            low[0, i, p], low[1, i, p], high[0, i, p], high[1, i, p] = -np.inf, 0.0, np.inf, 0.0
            if first[i, p] < 0:
                continue
            slope = tables_low[1, first[i, p], i]
            value = tables_low[0, first[i, p], i] + slope * since[p]
            if value > -np.inf:
                sizes[0, p], sizes[1, p] = (
                    max(sizes[0, p], abs(value)),
                    max(sizes[1, p], abs(slope)),
                )
                low[0, i, p], low[1, i, p] = value - rest[0, i, p], slope - rest[1, i, p]
            slope = tables_high[1, last[i, p], i]
            value = tables_high[0, last[i, p], i] + slope * since[p]
            if value < np.inf:
                sizes[0, p], sizes[1, p] = (
                    max(sizes[0, p], abs(value)),
                    max(sizes[1, p], abs(slope)),
                )
                high[0, i, p], high[1, i, p] = value - rest[0, i, p], slope - rest[1, i, p]


@inner_njit
def _nearest(lines: Any, count: int, end: float, off: Any) -> int:
    """Do what `nearest` says."""
    kept, first, final = 0, 0, 0  # the least ones at 0 and at the end
    for i in range(count):
        value, slope = lines[0, i], lines[1, i]
        if np.isfinite(value):
            lines[0, kept], lines[1, kept] = value, slope
            first = kept if value < lines[0, first] else first
            last = _last(value, slope, end)
            final = kept if last < _last(lines[0, final], lines[1, final], end) else final
            kept += 1
    count, kept = kept, 0
    if not count:
        return 0
    here, there = CLEAR * off[0], CLEAR * _last(off[0], off[1], end)
    value0, last0 = lines[0, first] + here, _last(lines[0, first], lines[1, first], end) + there
    value1, last1 = lines[0, final] + here, _last(lines[0, final], lines[1, final], end) + there
    for i in range(count):
        value, slope = lines[0, i], lines[1, i]
        last = _last(value, slope, end)
        if (value <= value0 or last <= last0) and (value <= value1 or last <= last1):
            lines[0, kept], lines[1, kept] = value, slope
            kept += 1
    return kept


@cached_njit
def nearest(lines: Any, count: int, end: float, off: Any) -> int:
    """Move those of lines (2, count) that may be least between 0 and an end to the front; count.

    Others are above one of them by more than ``off`` (2,), a line, explains, at both ends. Those
    without a value are left out.
    """
    return _nearest(lines, count, end, off)


@inner_njit
def _least(lines: Any, count: int, begin: float, end: float, off: Any, tau: Any, found: Any) -> int:
    """Write which lines (2, count) are least from which tau on; return how many they are.

    Lines that are lower by no more than ``off`` until the end don't count. The order of lines
    changes.
    """
    at, T, left = begin, 0, count
    while left:
        level, k = np.inf, -1
        for i in range(left):
            level = min(level, lines[0, i] + lines[1, i] * at)
        level += off[0] + off[1] * at
        for i in range(left):
            tied = lines[0, i] + lines[1, i] * at <= level
            if tied and (k < 0 or lines[1, i] < lines[1, k]):
                k = i
        if k < 0:
            break
        value, slope = lines[0, k], lines[1, k]
        tau[T], found[0, T], found[1, T] = at, value, slope
        T, kept, cross = T + 1, 0, np.inf
        beyond = _last(off[0], off[1], end)
        for i in range(left):
            below, falls = value - lines[0, i], slope - lines[1, i]
            if falls > 0.0 and _last(below, falls, end) > beyond:
                lines[0, kept], lines[1, kept] = lines[0, i], lines[1, i]
                kept, cross = kept + 1, min(cross, -below / falls)
        left = kept
        at = max(at, cross) if left else at
    return T


@inner_njit
def _between(
    high_tau: Any,
    high: Any,
    highs: int,
    low_tau: Any,
    low: Any,
    lows: int,
    own: Any,
    begin: float,
    tau: Any,
    found: Any,
) -> int:
    """Write the lines (2, T) between the least above and those below, and from which tau on.

    On one side alone it is at that bound, between none it is ``own`` (2,). Returns T.
    """
    a, b, T, at = 0, 0, 0, begin
    while True:
        while a + 1 < highs and high_tau[a + 1] <= at:
            a += 1
        while b + 1 < lows and low_tau[b + 1] <= at:
            b += 1
        tau[T] = at
        for part in range(2):
            if highs and lows:
                found[part, T] = (high[part, a] - low[part, b]) / 2.0
            elif highs:
                found[part, T] = high[part, a]
            elif lows:
                found[part, T] = -low[part, b]
            else:
                found[part, T] = own[part]
        T, at = T + 1, np.inf
        if a + 1 < highs:
            at = high_tau[a + 1]
        if b + 1 < lows:
            at = min(at, low_tau[b + 1])
        if at == np.inf:
            return T


@inner_njit
def _straight(tau: Any, lines: Any, count: int, end: float, off: Any) -> int:
    """Leave out places at which lines bend by no more than ``off`` explains; return the count."""
    kept = min(count, 1)
    for k in range(1, count):
        way = tau[k + 1] if k + 1 < count else end
        value, slope = lines[0, k] - lines[0, kept - 1], lines[1, k] - lines[1, kept - 1]
        if abs(_last(value, slope, way)) > _last(off[0], off[1], way):
            tau[kept], lines[0, kept], lines[1, kept] = tau[k], lines[0, k], lines[1, k]
            kept += 1
    return kept


@inner_njit
def _middle_of_one(
    high: Any, low: Any, own: Any, begin: float, end: float, off: Any, tau: Any, found: Any
) -> int:
    """Do what `middle_of_one` says."""
    a, b = high.shape[1], low.shape[1]
    high_tau, highs, low_tau, lows = np.empty(a), np.empty((2, a)), np.empty(b), np.empty((2, b))
    above = _least(high, a, begin, end, off, high_tau, highs)
    below = _least(low, b, begin, end, off, low_tau, lows)
    T = _between(high_tau, highs, above, low_tau, lows, below, own, begin, tau, found)
    return _straight(tau, found, T, end, off) if above and below else T


@cached_njit
def middle_of_one(
    high: Any, low: Any, own: Any, begin: float, end: float, off: Any, tau: Any, found: Any
) -> int:
    """Write from which tau (T,) on which lines (2, T) are the middle of a variable; return T.

    Parameters
    ----------
    high, low : (2, a) and (2, b) arrays
        Lines above it, and the negatives of those below, all with a value; their order changes.
    own : (2,) array
        What it is where nothing bounds it.
    begin, end : float
    off : (2,) array
        A line: by so much bounds may be off.
    tau, found : (a + b + 1,) and (2, a + b + 1) arrays
    """
    return _middle_of_one(high, low, own, begin, end, off, tau, found)


@inner_njit
def _box(
    low: Any, high: Any, c: Any, own: Any, end: float, off: Any, ends: Any, tau: Any, found: Any
) -> int:
    """Write from which tau on which lines (2, T) are the middle of a variable s; return T.

    Rows say low <= c s <= high, lines (2, R). Written to ``ends`` (2, 2): the bounds that are least
    at 0, above and, negative, below. There is room for 2 R + 1 lines.
    """
    R, scaled = len(c), np.empty(2)
    sides, counts = np.empty((2, 2, R)), np.empty(2, np.int64)
    scaled[0], scaled[1] = off[0], off[1]
    for a in range(R):
        for part in range(2):
            scaled[part] = max(scaled[part], off[part] / abs(c[a]))
            up, down = high[part, a], low[part, a]
            if c[a] < 0.0:
                up, down = down, up
            sides[0, part, a], sides[1, part, a] = up / c[a], down / -c[a]
    for side in range(2):
        ends[side, 0], ends[side, 1] = np.inf, 0.0
        for a in range(R):
            if sides[side, 0, a] < ends[side, 0]:
                ends[side, 0], ends[side, 1] = sides[side, 0, a], sides[side, 1, a]
        counts[side] = _nearest(sides[side], R, end, scaled)
    first, second = sides[0, :, : counts[0]], sides[1, :, : counts[1]]
    return _middle_of_one(first, second, own, 0.0, end, off, tau, found)


@cached_njit
def boxes(
    low: Any,
    high: Any,
    free: Any,
    fixed: Any,
    which: Any,
    rows: Any,
    c: Any,
    begins: Any,
    own: Any,
    end: Any,
    off: Any,
    ends: Any,
) -> tuple[Any, Any, Any]:
    """Return problems (K,), tau (K,) and the lines (K, q, 2) of variables' middles from there on.

    Parameters
    ----------
    low, high : (2, m, P) arrays
    free, fixed : (m, r) and (r, 2, Q) arrays
        free @ fixed is added to c s between these; 0 where that is empty.
    which : (Q,) array
        Which of P are looked at.
    rows, c : (R,) arrays
        Those of rows ``begins[j]`` to ``begins[j + 1]`` bound c s of variable j.
    own : (q, 2, Q) array
        What variables are where nothing bounds them.
    end : (Q,) array
    off : (2, Q) array
    ends : (q, 2, 2, Q) array
        To be written: the bounds that are least at 0, above and, negative, below.
    """
    q, Q, R = len(own), len(which), 0
    for j in range(q):
        R = max(R, begins[j + 1] - begins[j])
    taus, found = np.empty((q, 2 * R + 1)), np.empty((q, 2, 2 * R + 1))
    lower, upper, line, noise = np.empty((2, R)), np.empty((2, R)), np.empty(2), np.empty(2)
    count, at = np.empty(q, np.int64), np.empty(q, np.int64)
    of, tau, lines, K = np.empty(4 * Q, np.int64), np.empty(4 * Q), np.empty((4 * Q, q, 2)), 0
    for k in range(Q):
        p, at[:], now = which[k], 0, 0.0
        noise[0], noise[1] = off[0, k], off[1, k]
        for j in range(q):
            line[0], line[1], R = own[j, 0, k], own[j, 1, k], begins[j + 1] - begins[j]
            for a in range(R):
                i = rows[begins[j] + a]
                for part in range(2):
                    shift = 0.0
                    for v in range(len(fixed)):
                        shift += free[i, v] * fixed[v, part, k]
                    lower[part, a], upper[part, a] = (
                        low[part, i, p] - shift,
                        high[part, i, p] - shift,
                    )
            some = lower[:, :R], upper[:, :R], c[begins[j] : begins[j + 1]]
            count[j] = _box(*some, line, end[k], noise, ends[j, :, :, k], taus[j], found[j])
        while now < np.inf:
            if len(of) == K:
                of, tau, lines = _longer(of), _longer(tau), _more_lines(lines)
            of[K], tau[K], later = k, now, np.inf
            for j in range(q):
                while at[j] + 1 < count[j] and taus[j, at[j] + 1] <= now:
                    at[j] += 1
                lines[K, j, 0], lines[K, j, 1] = found[j, 0, at[j]], found[j, 1, at[j]]
                if at[j] + 1 < count[j]:
                    later = min(later, taus[j, at[j] + 1])
            K, now = K + 1, later
    return of[:K], tau[:K], lines[:K]


@inner_njit
def _longer(own: Any) -> Any:
    """Return an array with room for twice as many entries."""
    longer = np.empty(2 * len(own) + 1, own.dtype)
    for k in range(len(own)):
        longer[k] = own[k]
    return longer


@inner_njit
def _more_lines(own: Any) -> Any:
    """Return an array with room for twice as many lines of each of several variables."""
    longer = np.empty((2 * len(own) + 1, own.shape[1], 2))
    for k in range(len(own)):
        for j in range(own.shape[1]):
            longer[k, j, 0], longer[k, j, 1] = own[k, j, 0], own[k, j, 1]
    return longer
