"""Compiled parts of the middle: the segments of rows, and the middle between many lines.

Lines are value and slope, (2, ...); the value is infinite where there is no bound. Lower bounds are
given by their negatives, so that on either side the least bound is the tightest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compilation import cached_njit, inner_njit
from .tolerances import CLEARANCE, ROUNDED


@inner_njit(forceinline=True, _nrt=False)
def _last(value: Any, slope: Any, end: Any) -> Any:
    """Return a line's value at ``end``, or its slope if that is infinite."""
    return slope if np.isinf(end) else value + slope * end


@cached_njit
def on_segments(
    slopes: Any,
    straight: Any,
    rows: Any,
    a: Any,
    t: Any,
    size: Any,
    segment_branch: Any,
    row_branch: Any,
    first: Any,
    last: Any,
) -> None:
    """Write the first and the last straight segment whose slope equals each dual, (R, P), or -1.

    They are equal at both ends of a piece, within the rounding error of ``size``. If slopes differ
    by less than that, none is chosen.

    Parameters
    ----------
    slopes, straight : (2, S, m) and (S, m)
    rows : (R,) of int
    a : (2, R, P), duals
    t : (2, R or 1, P)
    size : (R or 1, P)
    segment_branch, row_branch : (S, m), the branch of each segment, and (m, P), that of each row;
        or empty
    """
    S, (R, P) = len(straight), first.shape
    for r in range(R):
        i, s = rows[r], min(r, size.shape[0] - 1)
        e = min(r, t.shape[1] - 1)
        for p in range(P):
            tolerance = ROUNDED * size[s, p]
            low0 = low1 = np.inf
            high0 = high1 = -np.inf
            begin = end = -1
            for k in range(S):
                if not straight[k, i] or (
                    len(segment_branch) and segment_branch[k, i] != row_branch[i, p]
                ):
                    continue
                begin_slope = slopes[0, k, i] + slopes[1, k, i] * t[0, e, p]
                end_slope = slopes[0, k, i] + slopes[1, k, i] * t[1, e, p]
                if (
                    abs(begin_slope - a[0, r, p]) <= tolerance
                    and abs(end_slope - a[1, r, p]) <= tolerance
                ):
                    begin, end = k if begin < 0 else begin, k
                    low0, high0 = min(low0, begin_slope), max(high0, begin_slope)
                    low1, high1 = min(low1, end_slope), max(high1, end_slope)
            if begin < end and not (
                high0 - low0 <= ROUNDED * max(abs(low0), abs(high0))
                and high1 - low1 <= ROUNDED * max(abs(low1), abs(high1))
            ):
                begin = end = -1
            first[r, p], last[r, p] = begin, end


@cached_njit
def value_bounds(
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
    """Write lines (2, m, P) that bound the contribution of free variables to each row's value.

    They are the knots around its first and its last segment, less the rest of the value: ``rest``.
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
def _nearest(lines: Any, count: int, end: float, rounding: Any) -> int:
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
    begin_rounding, end_rounding = (
        CLEARANCE * rounding[0],
        CLEARANCE * _last(rounding[0], rounding[1], end),
    )
    value0, last0 = (
        lines[0, first] + begin_rounding,
        _last(lines[0, first], lines[1, first], end) + end_rounding,
    )
    value1, last1 = (
        lines[0, final] + begin_rounding,
        _last(lines[0, final], lines[1, final], end) + end_rounding,
    )
    for i in range(count):
        value, slope = lines[0, i], lines[1, i]
        last = _last(value, slope, end)
        if (value <= value0 or last <= last0) and (value <= value1 or last <= last1):
            lines[0, kept], lines[1, kept] = value, slope
            kept += 1
    return kept


@cached_njit
def nearest(lines: Any, count: int, end: float, rounding: Any) -> int:
    """Move the lines (2, count) that may be least between 0 and ``end`` to the front; count them.

    The others exceed one of them at both ends by more than the error ``rounding`` (2,), a line.
    Lines without a value are left out.
    """
    return _nearest(lines, count, end, rounding)


@inner_njit
def _least(
    lines: Any, count: int, begin: float, end: float, rounding: Any, tau: Any, least: Any
) -> int:
    """Write the lower envelope of lines (2, count): lines, and the tau from which each is least.

    Lines that are lower by no more than ``rounding`` up to the end are ignored. The order of lines
    changes. Returns the number of lines of the envelope.
    """
    at, T, left = begin, 0, count
    while left:
        level, k = np.inf, -1
        for i in range(left):
            level = min(level, lines[0, i] + lines[1, i] * at)
        level += rounding[0] + rounding[1] * at
        for i in range(left):
            tied = lines[0, i] + lines[1, i] * at <= level
            if tied and (k < 0 or lines[1, i] < lines[1, k]):
                k = i
        if k < 0:
            break
        value, slope = lines[0, k], lines[1, k]
        tau[T], least[0, T], least[1, T] = at, value, slope
        T, kept, cross = T + 1, 0, np.inf
        beyond = _last(rounding[0], rounding[1], end)
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
    fallback: Any,
    begin: float,
    tau: Any,
    middles: Any,
) -> int:
    """Write the lines (2, T) midway between upper and lower envelope, and the tau of their begins.

    With a bound on one side only it is that bound, without bounds it is ``fallback`` (2,). Returns
    T.
    """
    a, b, T, now = 0, 0, 0, begin
    while True:
        while a + 1 < highs and high_tau[a + 1] <= now:
            a += 1
        while b + 1 < lows and low_tau[b + 1] <= now:
            b += 1
        tau[T] = now
        for part in range(2):
            if highs and lows:
                middles[part, T] = (high[part, a] - low[part, b]) / 2.0
            elif highs:
                middles[part, T] = high[part, a]
            elif lows:
                middles[part, T] = -low[part, b]
            else:
                middles[part, T] = fallback[part]
        T, now = T + 1, np.inf
        if a + 1 < highs:
            now = high_tau[a + 1]
        if b + 1 < lows:
            now = min(now, low_tau[b + 1])
        if now == np.inf:
            return T


@inner_njit
def _straight(tau: Any, lines: Any, count: int, end: float, rounding: Any) -> int:
    """Remove bends no larger than the error ``rounding``; return the number of lines left."""
    kept = min(count, 1)
    for k in range(1, count):
        until = tau[k + 1] if k + 1 < count else end
        value, slope = lines[0, k] - lines[0, kept - 1], lines[1, k] - lines[1, kept - 1]
        if abs(_last(value, slope, until)) > _last(rounding[0], rounding[1], until):
            tau[kept], lines[0, kept], lines[1, kept] = tau[k], lines[0, k], lines[1, k]
            kept += 1
    return kept


@inner_njit
def _middle_of_one(
    high: Any,
    low: Any,
    fallback: Any,
    begin: float,
    end: float,
    rounding: Any,
    tau: Any,
    middles: Any,
) -> int:
    """Do what `middle_of_one` says."""
    a, b = high.shape[1], low.shape[1]
    high_tau, highs, low_tau, lows = np.empty(a), np.empty((2, a)), np.empty(b), np.empty((2, b))
    above = _least(high, a, begin, end, rounding, high_tau, highs)
    below = _least(low, b, begin, end, rounding, low_tau, lows)
    T = _between(high_tau, highs, above, low_tau, lows, below, fallback, begin, tau, middles)
    return _straight(tau, middles, T, end, rounding) if above and below else T


@cached_njit
def middle_of_one(
    high: Any,
    low: Any,
    fallback: Any,
    begin: float,
    end: float,
    rounding: Any,
    tau: Any,
    middles: Any,
) -> int:
    """Write the middle of a variable: lines (2, T), and the tau (T,) of their begins; return T.

    Parameters
    ----------
    high, low : (2, a) and (2, b) arrays
        Upper bounds, and negatives of lower bounds, all with a value; their order changes.
    fallback : (2,) array
        The line of the variable without bounds.
    begin, end : float
    rounding : (2,) array
        The rounding error of bounds, a line.
    tau, middles : (a + b + 1,) and (2, a + b + 1) arrays
    """
    return _middle_of_one(high, low, fallback, begin, end, rounding, tau, middles)


@inner_njit
def _box(
    low: Any,
    high: Any,
    c: Any,
    fallback: Any,
    end: float,
    rounding: Any,
    ends: Any,
    tau: Any,
    middles: Any,
) -> int:
    """Write the middle of a variable s: lines (2, T), and the tau of their begins; return T.

    Its bounds are low <= c s <= high, lines (2, R). The tightest bounds at 0 are written to
    ``ends`` (2, 2): the upper one, and the negative of the lower one. There is room for 2 R + 1
    lines.
    """
    R, scaled = len(c), np.empty(2)
    sides, counts = np.empty((2, 2, R)), np.empty(2, np.int64)
    scaled[0], scaled[1] = rounding[0], rounding[1]
    for a in range(R):
        for part in range(2):
            scaled[part] = max(scaled[part], rounding[part] / abs(c[a]))
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
    return _middle_of_one(first, second, fallback, 0.0, end, rounding, tau, middles)


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
    fallback: Any,
    end: Any,
    rounding: Any,
    ends: Any,
) -> tuple[Any, Any, Any]:
    """Return problems (K,), and the tau (K,) from which lines (K, q, 2) are variables' middles.

    Parameters
    ----------
    low, high : (2, m, P) arrays
    free, fixed : (m, r) and (r, 2, Q) arrays
        free @ fixed is added to c s between these bounds; an empty array counts as 0.
    which : (Q,) array
        Indices in P of the problems.
    rows, c : (R,) arrays
        Rows ``begins[j]`` to ``begins[j + 1]`` bound c s of variable j.
    fallback : (q, 2, Q) array
        Lines of the variables without bounds.
    end : (Q,) array
    rounding : (2, Q) array
    ends : (q, 2, 2, Q) array
        To be written: the tightest upper bounds at 0, and the negatives of lower ones.
    """
    q, Q, R = len(fallback), len(which), 0
    for j in range(q):
        R = max(R, begins[j + 1] - begins[j])
    taus, middles = np.empty((q, 2 * R + 1)), np.empty((q, 2, 2 * R + 1))
    lower, upper, line, scaled_rounding = (
        np.empty((2, R)),
        np.empty((2, R)),
        np.empty(2),
        np.empty(2),
    )
    count, at = np.empty(q, np.int64), np.empty(q, np.int64)
    problems, tau, lines, K = np.empty(4 * Q, np.int64), np.empty(4 * Q), np.empty((4 * Q, q, 2)), 0
    for k in range(Q):
        p, at[:], now = which[k], 0, 0.0
        scaled_rounding[0], scaled_rounding[1] = rounding[0, k], rounding[1, k]
        for j in range(q):
            line[0], line[1], R = fallback[j, 0, k], fallback[j, 1, k], begins[j + 1] - begins[j]
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
            bounds = lower[:, :R], upper[:, :R], c[begins[j] : begins[j + 1]]
            count[j] = _box(
                *bounds, line, end[k], scaled_rounding, ends[j, :, :, k], taus[j], middles[j]
            )
        while now < np.inf:
            if len(problems) == K:
                problems, tau, lines = _longer(problems), _longer(tau), _more_lines(lines)
            problems[K], tau[K], later = k, now, np.inf
            for j in range(q):
                while at[j] + 1 < count[j] and taus[j, at[j] + 1] <= now:
                    at[j] += 1
                lines[K, j, 0], lines[K, j, 1] = middles[j, 0, at[j]], middles[j, 1, at[j]]
                if at[j] + 1 < count[j]:
                    later = min(later, taus[j, at[j] + 1])
            K, now = K + 1, later
    return problems[:K], tau[:K], lines[:K]


@inner_njit
def _longer(array: Any) -> Any:
    """Return an array with room for twice as many entries."""
    longer = np.empty(2 * len(array) + 1, array.dtype)
    for k in range(len(array)):
        longer[k] = array[k]
    return longer


@inner_njit
def _more_lines(array: Any) -> Any:
    """Return an array with room for twice as many lines of each of several variables."""
    longer = np.empty((2 * len(array) + 1, array.shape[1], 2))
    for k in range(len(array)):
        for j in range(array.shape[1]):
            longer[k, j, 0], longer[k, j, 1] = array[k, j, 0], array[k, j, 1]
    return longer
