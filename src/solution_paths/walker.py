"""The walker: the one event loop behind every path.

A coordinate is *pinned* (at a kink) or on a *piece*. For given states everything moves linearly in
t; `_walk` follows the line to the next event, changes the state of one coordinate, and goes on.
Its stages: direction, ratio test, step, event, record, refresh.

The pinned system may become singular when a coordinate joins or leaves. Then that coordinate is
*pending*: the inverse stays that of the last regular system, t stands still (dt = 0), and the walk
moves along the null vector until a second coordinate changes state; one 2 x 2 pivot takes in both.
This is the exchange of Best (1996) and qpOASES, and the pivot of a parametric linear programme.

Arrays of the loop (`State`): N coordinates, at most ``cap`` pinned, m of them in the inverse.

=====================  ============  ========================================================
``state``              (N,)          2r on piece r, 2r + 1 at kink r
``slot``               (N,)          position in ``P``, -1 when not there
``window``             (N, 4)        on a piece: the kinks below and above, constants and rates
``due``                (N,)          odometer reading before which z_i can't reach a kink; FAR
                                     while pinned, -FAR when nothing is known
``block``              (N / 64,)     smallest ``due`` of each block of rows
``rows``               (64,)         rows of a block that are due
``P``                  (cap,)        pinned coordinates; a pending entrant comes last
``Q``                  (N, cap)      DENSE: their columns H[:, P], so that rows are read in one go
``span``               (cap, 4)      the levels above and below their duals, constants and rates
``a, da, regular``     (cap,)        their duals, velocities, and velocities when dt = 1
``own``                (cap,)        velocities of their values
``lost``               (cap,)        what rounding has lost in ``a`` since the last rebuild
``J, G``               (cap, cap)    the pinned system and its inverse, lower triangles
``u, k, g``            (cap,)        columns of the entrant (u = G k) and of the leaver (g)
``v, x, y``            (cap,)        scratch
``hit_*``              (N,)          candidates of the ratio test
``number, count``                    scalars, see the constants below
=====================  ============  ========================================================
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from . import factor
from .compiled import Indices, Matrix, Vector, inline, inner, lean, struct
from .operators import (
    DENSE,
    Operator,
    add_exactly,
    add_rows,
    advance,
    column,
    hold_feature,
    hold_level,
    level_part,
    move_level,
    pack,
    pinned_values,
    pinned_velocities,
    prepare_looks,
    rebuild,
    rest_feature,
    row_axpy,
    rows_times,
    seen_value,
    seen_velocity,
    set_direction,
    value,
)
from .staircase import Staircases
from .tolerances import Tolerances

BLOCK = 64
FAR = 1e300  # instead of infinity, which code compiled for speed may not compare with
# number[...]
T, T_LOST, T_END, ODOMETER, BELOW, CORRECTED, REACH, PACE, SPEED, GROSS, NOISE = range(11)
SIGN, PIVOT, WEAR, ERROR, FLOOR, DRIFT, ROUNDING, LARGEST, UNIT, WORN, BEST = range(11, 22)
# count[...]
M, PENDING, KIND, EVENTS, NODES, FLAT, ZEROS, LOOKED, EXCHANGES, REFACTORED = range(10)
SINCE_REFRESH, SINCE_REBUILD, SINCE_CORRECTED, RANDOM, ZERO_STEPS, BUDGET = range(10, 16)
LAST, CAME, HELD, REFINED, REBUILT, TIED, FIRST = range(16, 23)
# KIND: which way the pending coordinate went
NONE, ENTERED, LEFT = 0, 1, -1
# how a walk ends
DONE, RAY, GROW, PAUSE, UNBOUNDED, STALLED, LOST, WALL = range(8)


@struct
class State:
    """Arrays of the loop; see the module's docstring."""

    state: Annotated[NDArray[np.int8], 1]
    slot: Indices
    window: Matrix
    due: Vector
    block: Vector
    rows: Indices
    P: Indices
    Q: Matrix
    span: Matrix
    a: Vector
    da: Vector
    regular: Vector
    own: Vector
    lost: Vector
    J: Matrix
    G: Matrix
    u: Vector
    k: Vector
    g: Vector
    v: Vector
    x: Vector
    y: Vector
    hit_index: Indices
    hit_slack: Vector
    hit_rate: Vector
    hit_weight: Vector
    number: Vector
    count: Indices


@struct
class Stairs:
    """`Staircases` for compiled code, with the data's scale and where to stop (walls)."""

    kink0: Matrix
    kink1: Matrix
    level0: Matrix
    level1: Matrix
    soft: Vector
    n_kinks: Indices
    scale: Vector
    wall: Indices


@struct
class Log:
    """What is recorded: nodes (t, events so far, where the pinned duals start), events, states."""

    t: Vector
    event: Indices
    start: Indices
    P: Annotated[NDArray[np.int32], 1]
    a: Vector
    coordinate: Annotated[NDArray[np.int32], 1]
    state: Annotated[NDArray[np.int8], 1]
    checkpoint: Annotated[NDArray[np.int8], 2]


# ---------------------------------------------------------------------------------------------
# Small questions
# ---------------------------------------------------------------------------------------------


@inline
def _level(st, i, r, t):
    return st.level0[i, r] + t * st.level1[i, r]


@inline
def _kink(st, i, r, t):
    return st.kink0[i, r] + t * st.kink1[i, r]


@lean
def _residuals(op, st, s, out):
    """Write sign * (z - delta a - kink) of the pinned coordinates; return the largest, relative."""
    m = s.count[M]
    t = s.number[T]
    worst = 0.0
    if op.kind == DENSE:
        factor.multiply(s.J, m, s.a, out)
    else:
        pinned_values(op, s.P, m, out)
    for r in range(m):
        p = s.P[r]
        kink = _kink(st, p, s.state[p] // 2, t)
        if op.kind == DENSE:
            out[r] += level_part(op, p, t) - op.sign[p] * kink
        else:
            out[r] = op.sign[p] * (out[r] - st.soft[p] * s.a[r] - kink)
        worst = max(worst, abs(out[r]) / st.scale[p])
    return worst


@inline
def _residual(op, st, s, r):
    """Return z - delta a - kink of the coordinate in slot r."""
    p, t = s.P[r], s.number[T]
    z = value(op, p, t, s.Q, s.count[M], s.a)
    return z - st.soft[p] * s.a[r] - _kink(st, p, s.state[p] // 2, t)


@lean
def _column(op, st, s, j):
    """Write J[P, j] to s.k and G J[P, j] to s.u; return the Schur pivot and its absolute terms."""
    m = s.count[M]
    column(op, s.P, m + (s.count[KIND] == ENTERED), j, s.k)
    factor.multiply(s.G, m, s.k, s.u)
    pivot = op.diagonal[j] - op.sign[j] * st.soft[j]
    gross = max(abs(pivot), op.norm[j] ** 2)
    for r in range(m):
        term = s.k[r] * s.u[r]
        pivot -= term
        gross += abs(term)
    return pivot, gross


@lean
def _append_row(s, m, k, diagonal):
    """Border J by the column k."""
    for r in range(m):
        s.J[m, r] = k[r]
    s.J[m, m] = diagonal


@lean
def _replace_row(op, st, s, m, r, i):
    """Write coordinate i's row of J into slot r, from s.k = H[P, i]."""
    for q in range(r):
        s.J[r, q] = s.k[q]
    for q in range(r + 1, m):
        s.J[q, r] = s.k[q]
    s.J[r, r] = op.diagonal[i] - op.sign[i] * st.soft[i]


@lean
def _careful_schur(op, st, s, tol, j):
    """Refine s.u; return the pivot as a quadratic form, and whether it is zero but for rounding.

    With v = (1, -u) the pivot is v'Hv, stationary in u, so that an error of u counts squared. Its
    rounding error is that of a squared length summed up from parts norm_i |v_i|.
    """
    m = s.count[M]
    _refine(op, st, s, s.u, s.k)
    length = op.norm[j]
    pivot = op.diagonal[j] - op.sign[j] * st.soft[j]
    for r in range(m):
        length += op.norm[s.P[r]] * abs(s.u[r])
    if op.kind == DENSE:
        factor.multiply(s.J, m, s.u, s.v)
        for r in range(m):
            pivot += s.u[r] * (s.v[r] - 2.0 * s.k[r])
    else:
        pivot = _row_quadratic(op, st, s, j)
    return pivot, op.sign[j] * pivot <= tol.singular * length * length


@lean
def _row_quadratic(op, st, s, j):
    """Return v'Hv for v = (1, -u) from the combined row X'v."""
    combined, border = op.row, op.n_ridge - op.n
    total = -op.sign[j] * st.soft[j]
    if j < op.n:
        row_axpy(op, j, 1.0, combined)
    for r in range(s.count[M]):
        p = s.P[r]
        total -= op.sign[p] * st.soft[p] * s.u[r] * s.u[r]
        s.v[r] = -s.u[r]
    add_rows(op, s.P, s.count[M], s.v, combined)
    for r in range(s.count[M]):
        if s.P[r] >= op.n:
            total += 2.0 * combined[border + s.P[r]] * s.u[r]
    if j >= op.n:
        total -= 2.0 * combined[border + j]
    for k in range(op.n_ridge):
        total += op.scale * combined[k] * combined[k]
    combined[:] = 0.0
    return total


@lean
def _refine(op, st, s, x, target):
    """Improve the solution x of J x = target by one step."""
    m = s.count[M]
    factor.multiply(s.J, m, x, s.v)
    for r in range(m):
        s.v[r] = target[r] - s.v[r]
    factor.multiply(s.G, m, s.v, s.x)
    for r in range(m):
        x[r] += s.x[r]


@lean
def _inspect(op, st, s, tol):
    """Measure the error of the inverse on a random vector; compute it afresh when it is bad.

    What a fresh inverse reaches is the floor for this pinned system: no point in asking for more.
    """
    error = _probe(op, st, s)
    if error > max(tol.inverse, s.number[FLOOR]):
        _refactor(op, st, s)
        error = _probe(op, st, s)
        s.number[FLOOR] = 10.0 * error
    s.number[ERROR] = error
    s.number[WEAR] = 0.0


@lean
def _probe(op, st, s):
    """Return the largest relative entry of J G v - v for a vector v of random signs."""
    m = s.count[M]
    for r in range(m):
        s.count[RANDOM] = (s.count[RANDOM] * 1103515245 + 12345) % 2147483648
        s.v[r] = op.norm[s.P[r]] * (1.0 if s.count[RANDOM] % 65536 < 32768 else -1.0)
    factor.multiply(s.G, m, s.v, s.x)
    factor.multiply(s.J, m, s.x, s.y)
    error = 0.0
    for r in range(m):
        error = max(error, abs(s.y[r] - s.v[r]) / op.norm[s.P[r]])
    return error


@lean
def _wear(s, growth):
    """Note that an update with a small pivot multiplied the rounding errors of the inverse."""
    s.number[WEAR] += 1e-15 * growth


# ---------------------------------------------------------------------------------------------
# Stage 1: direction
# ---------------------------------------------------------------------------------------------


@lean
def _solve_direction(op, st, s, refine):
    """Compute the velocities of the pinned duals for dt = 1 afresh."""
    _kink_rates(op, st, s, s.y)
    factor.multiply(s.G, s.count[M], s.y, s.regular)
    if refine:
        _polish(op, st, s)


@lean
def _polish(op, st, s):
    """Improve the solution of J regular = y; each step gains as many digits as the inverse has."""
    error = max(s.number[ERROR], 1e-16)
    while error > 1e-14:
        _refine(op, st, s, s.regular, s.y)
        error *= max(s.number[ERROR], 1e-8)
        if s.number[ERROR] > 1e-2:
            break


@lean
def _kink_rates(op, st, s, out):
    """Write how fast the pinned values must move against what the levels move them."""
    m = s.count[M]
    if op.kind != DENSE:
        for k in range(op.n_ridge):
            op.row[k] = op.scale * op.rate[k]
        rows_times(op, s.P, m, op.row, out)
        op.row[:] = 0.0
    for r in range(m):
        p = s.P[r]
        rate = st.kink1[p, s.state[p] // 2]
        if op.kind == DENSE:
            out[r] = op.sign[p] * rate - op.base1[p]
        elif p < op.n:
            out[r] = rate - out[r]
        else:
            out[r] = op.rate[p - op.n + op.n_ridge] - rate


@lean
def _aim(op, st, s, tol):
    """Set the direction, refined where values may be at rest; return the same as `_direction`."""
    s.count[REFINED] = 0
    dt, size = _direction(op, st, s, tol)
    rough = dt > 0 and s.number[ERROR] > tol.worn
    if rough and s.number[SPEED] <= 100.0 * s.number[ERROR] * s.number[GROSS]:
        _refine_direction(op, st, s, tol)
    return dt, size


@lean
def _refine_direction(op, st, s, tol):
    """Improve the velocities by what is left of the pinned values' own, and set the direction."""
    m, error = s.count[M], min(s.number[ERROR], 1e-2)
    left = error
    while left > tol.noise:
        if op.kind == DENSE:
            _kink_rates(op, st, s, s.y)
            _refine(op, st, s, s.regular, s.y)
        else:
            pinned_velocities(op, s.P, m, s.v)
            for r in range(m):
                s.v[r] = op.sign[s.P[r]] * (s.own[r] - s.v[r])
            factor.multiply(s.G, m, s.v, s.x)
            for r in range(m):
                s.regular[r] += s.x[r]
        _direction(op, st, s, tol)
        left *= error
    s.count[REFINED] = 1


@inline
def _is_rough(s, tol, dt, chosen):
    """Tell whether a direction's error would show in values after the step to be taken."""
    if dt == 0 or s.count[REFINED] > 0 or s.number[ERROR] <= tol.worn:
        return False
    h = s.number[T_END] - s.number[T]
    if chosen >= 0:
        h = max(s.hit_slack[chosen], 0.0) / s.hit_rate[chosen]
    elif h == np.inf:
        return False
    return 1e15 * s.number[UNIT] * h * s.number[GROSS] * s.number[ERROR] > tol.residual


@lean
def _direction(op, st, s, tol):
    """Set da and own; return (dt, number of pinned coordinates that move)."""
    m = s.count[M]
    kind = s.count[KIND]
    dt = 1.0 if kind == NONE else 0.0
    size = m
    if kind == NONE:
        for r in range(m):
            s.da[r] = s.regular[r]
    elif kind == ENTERED:
        for r in range(m):
            s.da[r] = -s.number[SIGN] * s.u[r]
        s.da[m] = s.number[SIGN]
        size = m + 1
    else:
        j = s.slot[s.count[PENDING]]
        for r in range(m):
            s.da[r] = s.number[SIGN] * s.g[r]
        s.da[j] = 0.0
    if kind != NONE:
        largest = 0.0
        for r in range(size):
            largest = max(largest, abs(s.da[r]) * op.norm[s.P[r]])
        for r in range(size):
            if abs(s.da[r]) * op.norm[s.P[r]] < 1e-12 * largest:
                s.da[r] = 0.0
    for r in range(size):
        p = s.P[r]
        if s.state[p] % 2 == 1:
            s.own[r] = dt * st.kink1[p, s.state[p] // 2] + st.soft[p] * s.da[r]
        else:  # the pending leaver
            s.own[r] = op.sign[p] * s.number[SIGN]
    s.number[PACE], s.number[SPEED], s.number[GROSS] = set_direction(
        op, dt, s.P, size, s.da, s.own, dt * s.number[DRIFT]
    )
    full = op.kind != DENSE and m == op.n_ridge and m == op.c.shape[0]
    if full and kind == NONE and s.number[DRIFT] == 0.0:
        # As many independent rows are pinned as w has entries: but for rounding w can't move.
        s.number[SPEED] = 0.0
    s.number[NOISE] = tol.noise
    return dt, size


# ---------------------------------------------------------------------------------------------
# Stage 2: ratio test. A candidate is (index, slack, rate): index i + N means that i goes down.
# ---------------------------------------------------------------------------------------------


@inline
def _hit(s, n_hits, bound, index, slack, rate, tie, weight):
    """Note a candidate if it comes before the bound; return the new count and bound."""
    if slack <= bound * rate:
        if slack <= 0.0 and s.number[BEST] >= 0.0:
            s.number[BEST] = max(s.number[BEST], weight)
        s.hit_index[n_hits] = index
        s.hit_slack[n_hits] = slack
        s.hit_rate[n_hits] = rate
        s.hit_weight[n_hits] = weight
        n_hits += 1
        bound = min(bound, (max(slack, 0.0) + tie) / rate)
    return n_hits, bound


@lean
def _members(op, st, s, tol, dt, size, bound):
    """Look for pinned duals that reach a level."""
    N = s.state.shape[0]
    t = s.number[T]
    largest = 0.0
    for r in range(size):
        largest = max(largest, abs(s.da[r]) * op.norm[s.P[r]])
    # What a dual moves until the walk's end may be rounding: then it doesn't move.
    horizon = s.number[T_END] - t if dt > 0 else np.inf
    n_hits = 0
    for r in range(size):
        p = s.P[r]
        if s.state[p] % 2 == 0 or p == s.count[HELD]:
            continue
        span = s.span[r]
        upper, lower = span[0] + t * span[1], span[2] + t * span[3]
        noise = max(tol.dual_noise, 0.01 * s.number[ERROR]) if dt > 0 else tol.null_noise
        noise *= largest / op.norm[p]
        width = abs(s.a[r])
        if upper - lower < np.inf:
            width = upper - lower
        for down in range(2):
            level = lower if down else upper
            if abs(level) == np.inf:
                continue
            rate = s.da[r] - dt * (span[3] if down else span[1])
            slack = level - s.a[r]
            if down:
                rate, slack = -rate, -slack
            if rate > noise and rate * horizon > 1e-15 * width:
                n_hits, bound = _hit(
                    s,
                    n_hits,
                    bound,
                    p + down * N,
                    slack,
                    rate,
                    tol.tie * width,
                    rate * op.norm[p],
                )
    return n_hits, bound


@lean
def _pieces(op, st, s, tol, dt, size, n_hits, bound, lazy):
    """Look for values on pieces that reach a kink, at those rows only whose deadline has come.

    Without laziness the deadlines of rows on pieces stay at minus infinity.
    """
    n, odometer = op.n, s.number[ODOMETER]
    pace = max(s.number[PACE], 1e-300)
    reach = min(odometer + pace * bound, 0.1 * FAR)
    n_blocks, start = s.block.shape[0], s.count[FIRST]
    prepare_looks(op)
    for k in range(n_blocks):
        b = k + start if k + start < n_blocks else k + start - n_blocks
        if s.block[b] > reach:
            continue
        if s.count[TIED] >= tol.enough and s.number[BEST] > 0.0:
            # The step has length zero, whatever the others say; next time they come first.
            s.count[FIRST] = b
            break
        first, last = b * BLOCK, min(n, (b + 1) * BLOCK)
        n_due = 0
        for i in range(first, last):  # no branch: which rows are due can't be foreseen
            s.rows[n_due] = i
            n_due += 1 if s.due[i] <= reach else 0
        for d in range(n_due):
            i = s.rows[d]
            nearest, n_hits, bound = _look(op, st, s, tol, dt, size, i, n_hits, bound)
            if lazy:
                s.due[i] = min(odometer + nearest / op.radius[i], FAR)
        reach = min(odometer + pace * bound, 0.1 * FAR)
        s.block[b] = _earliest(s.due, first, last)
    for i in range(n, s.state.shape[0]):
        if s.slot[i] < 0:
            _, n_hits, bound = _look(op, st, s, tol, dt, size, i, n_hits, bound)
    if s.count[KIND] == LEFT:
        n_hits, bound = _pending_piece(st, s, n_hits, bound, tol)
    return n_hits, bound


@inner
def _earliest(due, first, last):
    """Return the smallest of due[first:last]."""
    earliest, block = FAR, due[first:last]
    for i in range(block.shape[0]):
        earliest = min(earliest, block[i])
    return earliest


@inline
def _look(op, st, s, tol, dt, size, i, n_hits, bound):
    """Compare z_i with the kinks around it; return its distance from the nearest one, and hits."""
    s.count[LOOKED] += 1
    t, norm, radius, window = s.number[T], op.norm[i], op.radius[i], s.window[i]
    lower, upper = window[0] + t * window[1], window[2] + t * window[3]
    travelled = s.number[ODOMETER] - s.due[i]
    if abs(travelled) <= max(s.number[REACH], 0.0) and (lower == -np.inf or upper == np.inf):
        # A deadline that is now was set at a look since which nothing moved: z is at the kink.
        above, below = (np.inf, 0.0) if upper == np.inf else (0.0, np.inf)
        s.count[TIED] += 1
        nearest = -travelled * radius
    else:
        z = seen_value(op, i, t, s.Q, size, s.a)
        above, below = upper - z, z - lower
        nearest = max(min(above, below), 0.0)
    if i < op.n and nearest > bound * s.number[PACE] * radius:
        return nearest, n_hits, bound
    noise = s.number[NOISE] * (s.number[GROSS] + dt) * norm
    dz = seen_velocity(op, i, dt, s.Q, size, s.da)
    for down in range(2):
        slack = below if down else above
        rate = dt * window[1] - dz if down else dz - dt * window[3]
        # Of rows at their kinks only one that moves faster than the others so far is of interest.
        # The first question is almost always answered no, so that processors foresee it.
        least = slack if slack > 0.0 else min(bound, FAR) * max(s.number[BEST], 0.0) * norm
        if least <= bound * rate and rate > noise and slack < np.inf:
            n_hits, bound = _hit(
                s,
                n_hits,
                bound,
                i + down * s.state.shape[0],
                slack,
                rate,
                tol.tie * st.scale[i],
                rate / norm,
            )
    return nearest, n_hits, bound


@lean
def _pending_piece(st, s, n_hits, bound, tol):
    """Look for the other kink of the piece that a pending leaver crosses."""
    i = s.count[PENDING]
    N = s.state.shape[0]
    t = s.number[T]
    q = s.state[i] // 2
    rate = s.own[s.slot[i]]
    if 0 < q < st.n_kinks[i]:
        # It left one kink exactly and runs towards the other: the distance is the gap, moved on
        # by nothing since the step begins at the kink it left.
        gap = _kink(st, i, q, t) - _kink(st, i, q - 1, t)
        index = i if rate > 0 else i + N
        n_hits, bound = _hit(
            s,
            n_hits,
            bound,
            index,
            gap,
            abs(rate),
            tol.tie * st.scale[i],
            abs(rate),
        )
    return n_hits, bound


@inline
def _values_move(op, s, dt):
    """Tell whether values on pieces move: an entrant's null vector changes no inner product."""
    if s.count[KIND] == ENTERED:
        return not _is_ridge(op)
    # No |dz_i| of a sample exceeds norm_i * speed, and what is below norm_i * noise is none.
    bounded = _is_ridge(op) and s.number[DRIFT] == 0.0
    noise = s.number[NOISE] * (s.number[GROSS] + dt) if bounded else 0.0
    return s.count[KIND] == LEFT or s.number[SPEED] > noise


@inline
def _patience(s, tol):
    """Return how many steps of length zero are taken by size before ties are broken at random."""
    return max(tol.stall, 4 * s.count[M])


@inline
def _choose(s, tol, n_hits, bound):
    """Return the candidate to take among those within the bound, or -1."""
    best, chosen = -1.0, -1
    patience = _patience(s, tol)
    N = s.state.shape[0]
    for h in range(n_hits):
        if s.hit_slack[h] > bound * s.hit_rate[h]:
            continue
        if s.count[ZEROS] < patience:
            weight = s.hit_weight[h]
        elif s.count[ZEROS] < 10 * patience:
            s.count[RANDOM] = (s.count[RANDOM] * 1103515245 + 12345) % 2147483648
            weight = float(s.count[RANDOM])
        else:
            weight = float(N - s.hit_index[h] % N)
        if weight > best:
            best, chosen = weight, h
    return chosen


# ---------------------------------------------------------------------------------------------
# Stage 4: event
# ---------------------------------------------------------------------------------------------


@lean
def _frame(st, s, i):
    """Set the window of coordinate i on a piece: the kinks around it, plus softness * level.

    Then z_i is in the window as long as z_i - delta_i a_i is between the kinks.
    """
    q, soft = s.state[i] // 2, st.soft[i]
    shift0 = soft * st.level0[i, q] if soft != 0.0 else 0.0
    shift1 = soft * st.level1[i, q] if soft != 0.0 else 0.0
    window = s.window[i]
    window[:] = 0.0
    window[0], window[2] = -np.inf, np.inf
    if q > 0:
        window[0], window[1] = st.kink0[i, q - 1] + shift0, st.kink1[i, q - 1] + shift1
    if q < st.n_kinks[i]:
        window[2], window[3] = st.kink0[i, q] + shift0, st.kink1[i, q] + shift1


@lean
def _wake(s, i):
    """Make row i due for a look."""
    s.due[i] = -FAR
    b = i // BLOCK
    if b < s.block.shape[0]:
        s.block[b] = -FAR


@lean
def _drop_slot(op, st, s, r):
    """Take the coordinate in slot r off P (the last one moves there); it follows its level now."""
    p = s.P[r]
    last = s.count[M] - 1
    _rest(op, st, s, p)
    if r != last:
        _place(op, s, r, s.P[last])
        s.a[r], s.lost[r] = s.a[last], s.lost[last]
        _move_span(s, r, last)
        s.regular[r] = s.regular[last]
    s.count[M] = last


@lean
def _place(op, s, r, i):
    """Put coordinate i into slot r."""
    s.P[r] = i
    s.slot[i] = r
    s.due[i] = FAR
    pack(op, r, i)
    if op.kind == DENSE:
        H = op.H[i]
        for k in range(H.shape[0]):
            s.Q[k, r] = H[k]


@lean
def _hold(st, s, i, kink):
    """Pin coordinate i, which has its slot, to a kink."""
    s.state[i] = 2 * kink + 1
    span = s.span[s.slot[i]]
    span[0], span[1] = st.level0[i, kink], st.level1[i, kink]
    span[2], span[3] = st.level0[i, kink + 1], st.level1[i, kink + 1]


@lean
def _move_span(s, r, last):
    """Copy the levels of the last slot to slot r."""
    for k in range(4):
        s.span[r, k] = s.span[last, k]


@lean
def _rest(op, st, s, p):
    """Coordinate p is no longer pinned: it follows the level of its piece."""
    q = s.state[p] // 2
    hold_level(op, p, st.level0[p, q], st.level1[p, q], 1, s.number[T])
    _frame(st, s, p)
    s.slot[p] = -1
    if p >= op.n:
        rest_feature(op, p, _level(st, p, q, s.number[T]))
    else:
        _wake(s, p)


@lean
def _take_slot(op, st, s, r, i, q):
    """Put coordinate i, so far on piece q, into slot r with its level as dual."""
    _place(op, s, r, i)
    s.a[r], s.lost[r] = _level(st, i, q, s.number[T]), 0.0
    hold_level(op, i, st.level0[i, q], st.level1[i, q], -1, s.number[T])


@lean
def _leave(op, st, s, tol, i, down):
    """Let a pinned coordinate whose dual reached a level go to the piece beyond."""
    r = s.slot[i]
    m = s.count[M]
    kind = s.count[KIND]
    q = s.state[i] // 2 + down
    s.state[i] = 2 * q
    level = _level(st, i, q, s.number[T])
    move_level(op, i, (level - s.a[r]) - s.lost[r])
    s.a[r], s.lost[r] = level, 0.0
    if kind == ENTERED and s.count[PENDING] == i:
        # passed through: the pinned system stays what it was
        _rest(op, st, s, i)
        s.count[KIND] = NONE
        _solve_direction(op, st, s, False)
    elif kind == NONE:
        factor.read_column(s.G, m, r, s.g)
        if _vanishes(op, st, s, tol, r):
            s.count[KIND] = LEFT
            s.count[PENDING] = i
            s.number[SIGN] = op.sign[i] * (1.0 if down else -1.0)
            return
        ratio = (st.level1[i, q] - s.regular[r]) / s.g[r]
        for j in range(m):
            s.regular[j] += ratio * s.g[j]
        _wear(s, op.norm[i] ** 2 * abs(s.g[r]))
        factor.remove(s.G, m, r, s.g)
        factor.move_last(s.J, m, r)
        _drop_slot(op, st, s, r)
    elif kind == ENTERED:
        factor.read_column(s.G, m, r, s.v)
        factor.replace(s.G, m, r, s.v, s.u, s.number[PIVOT], s.x, s.y)
        _replace_row(op, st, s, m, r, s.count[PENDING])
        _swap_slot(op, st, s, r)
    else:
        other = s.slot[s.count[PENDING]]
        factor.read_column(s.G, m, r, s.v)
        factor.remove_two(s.G, m, r, s.v, other, s.g, s.x, s.y)
        factor.move_last(s.J, m, max(r, other))
        factor.move_last(s.J, m - 1, min(r, other))
        _drop_slot(op, st, s, max(r, other))
        _drop_slot(op, st, s, min(r, other))
        _settle(op, st, s)


@lean
def _vanishes(op, st, s, tol, r):
    """Tell whether the pinned system without slot r is singular: its pivot G_rr vanishes."""
    m = s.count[M]
    own = op.norm[s.P[r]]
    largest = 0.0
    for j in range(m):
        largest = max(largest, abs(s.g[j]) * op.norm[s.P[j]])
    if abs(s.g[r]) * own > max(tol.suspect, 1e4 * s.number[ERROR]) * largest:
        return False
    s.y[:m] = 0.0
    s.y[r] = 1.0
    _refine(op, st, s, s.g, s.y)
    return abs(s.g[r]) * own <= tol.singular * largest


@lean
def _swap_slot(op, st, s, r):
    """Give the leaver's slot to the pending entrant, which waits after the others."""
    m = s.count[M]
    _rest(op, st, s, s.P[r])
    _place(op, s, r, s.P[m])
    s.a[r], s.lost[r] = s.a[m], s.lost[m]
    _move_span(s, r, m)
    _settle(op, st, s)


@lean
def _settle(op, st, s):
    """Complete an exchange: t may move again."""
    s.count[KIND] = NONE
    s.count[EXCHANGES] += 1
    s.number[WEAR] = 1.0
    _solve_direction(op, st, s, False)


@lean
def _enter(op, st, s, tol, i, down, dt, rate):
    """Pin a value that reached a kink; return False when the event was rounding noise."""
    m = s.count[M]
    kind = s.count[KIND]
    q = s.state[i] // 2
    kink = q - down
    if kind == LEFT and s.count[PENDING] == i:
        _hold(st, s, i, kink)
        _settle(op, st, s)
        return True
    if st.level0[i, kink] == st.level0[i, kink + 1] and (
        st.level1[i, kink] == st.level1[i, kink + 1]
    ):
        s.state[i] = 2 * (q - 1) if down else 2 * (q + 1)
        _frame(st, s, i)
        _wake(s, i)
        return True
    if kind == ENTERED:
        if not _enter_second(op, st, s, tol, i, q):
            return False
        _hold(st, s, i, kink)
        _settle(op, st, s)
        return True
    else:
        pivot, gross = _column(op, st, s, i)
        singular = False
        if op.sign[i] * pivot <= max(tol.suspect, 1e4 * s.number[ERROR]) * gross:
            pivot, singular = _careful_schur(op, st, s, tol, i)
        if kind == LEFT:
            _enter_for(op, st, s, i, q, pivot)
            _hold(st, s, i, kink)
            _settle(op, st, s)
            return True
        elif singular:
            if dt > 0 and _is_still(op, st, s, tol, i, kink, down):
                return False
            s.count[KIND] = ENTERED
            s.count[PENDING] = i
            s.number[SIGN] = 1.0 if down else -1.0
            s.number[PIVOT] = pivot
            _take_slot(op, st, s, m, i, q)
        else:
            residual = op.sign[i] * (-rate if down else rate)
            _wear(s, gross / abs(pivot))
            step = -residual / pivot
            for j in range(m):
                s.regular[j] -= step * s.u[j]
            s.regular[m] = st.level1[i, q] + step
            factor.append(s.G, m, s.u, pivot)
            _append_row(s, m, s.k, op.diagonal[i] - op.sign[i] * st.soft[i])
            _take_slot(op, st, s, m, i, q)
            s.count[M] = m + 1
    _hold(st, s, i, kink)
    return True


@lean
def _is_ridge(op):
    """Tell whether values are inner products, so that dependent rows move together."""
    return op.kind == DENSE or op.n_ridge > 0


@lean
def _is_still(op, st, s, tol, i, kink, down):
    """Tell whether coordinate i, which depends on the pinned ones, stays at its kink with them.

    Then z_i = sum_p u_p z_p, and its velocity follows from the kinks' alone, without rounding
    noise: with kinks that stand still it is zero (Sentelle's theorem).
    """
    if not _is_ridge(op):
        return False
    total = -op.sign[i] * st.kink1[i, kink]
    gross = abs(total)
    for r in range(s.count[M]):
        p = s.P[r]
        term = s.u[r] * op.sign[p] * s.own[r]
        total += term
        gross += abs(term)
    rising = -op.sign[i] * total if down else op.sign[i] * total
    return rising <= tol.dependent * gross


@lean
def _enter_second(op, st, s, tol, i, q):
    """Pin i together with the pending entrant, unless z_i moves by rounding only."""
    m = s.count[M]
    first = s.count[PENDING]
    for j in range(m):
        s.x[j], s.y[j] = s.u[j], s.k[j]
    pivot, _ = _column(op, st, s, i)
    cross = s.k[m]  # H_first,i
    length = op.norm[first]
    for j in range(m):
        cross -= s.y[j] * s.u[j]
        length += abs(s.x[j]) * op.norm[s.P[j]]
    if abs(cross) <= tol.dependent * length * op.norm[i]:
        for j in range(m):
            s.u[j], s.k[j] = s.x[j], s.y[j]
        return False
    factor.append_two(s.G, m, s.x, s.number[PIVOT], s.u, pivot, cross, s.v, s.g)
    _append_row(s, m, s.y, op.diagonal[first] - op.sign[first] * st.soft[first])
    _append_row(s, m + 1, s.k, op.diagonal[i] - op.sign[i] * st.soft[i])
    _take_slot(op, st, s, m + 1, i, q)
    s.count[M] = m + 2
    return True


@lean
def _enter_for(op, st, s, i, q, pivot):
    """Pin i in place of the pending leaver."""
    r = s.slot[s.count[PENDING]]
    m = s.count[M]
    factor.replace(s.G, m, r, s.g, s.u, pivot, s.x, s.y)
    _replace_row(op, st, s, m, r, i)
    _rest(op, st, s, s.P[r])
    _take_slot(op, st, s, r, i, q)


# ---------------------------------------------------------------------------------------------
# Stages 5 and 6: record and refresh
# ---------------------------------------------------------------------------------------------


@lean
def _snap(op, st, s):
    """Put pinned duals that are at a level but for rounding there, if no value notices."""
    t = s.number[T]
    for r in range(s.count[M]):
        i = s.P[r]
        first = s.state[i] // 2
        last = min(first + 1, st.n_kinks[i])
        unit = 0.0
        for k in range(first, last + 1):
            unit = max(unit, 4e-16 * max(abs(st.level0[i, k]), abs(t * st.level1[i, k])))
        if unit == np.inf or unit * op.norm[i] ** 2 > 1e-14 * st.scale[i]:
            continue
        for k in range(first, last + 1):
            if abs(s.a[r] - _level(st, i, k, t)) <= unit:
                s.a[r] = _level(st, i, k, t)


@lean
def _record(s, log, moved):
    """Append a node, or replace the last one when nothing moved since."""
    size = s.count[M] + (1 if s.count[KIND] == ENTERED else 0)
    node = s.count[NODES]
    if not moved and node > 0:
        node -= 1
    start = log.start[node]
    log.t[node] = s.number[T]
    log.event[node] = s.count[EVENTS]
    for r in range(size):
        log.P[start + r] = s.P[r]
        log.a[start + r] = s.a[r]
    log.start[node + 1] = start + size
    s.count[NODES] = node + 1
    s.count[FLAT] = start + size


@lean
def _log_event(s, log, i, before, moved):
    """Log the new state of coordinate i, and count."""
    e = s.count[EVENTS]
    log.coordinate[e] = i
    log.state[e] = s.state[i]
    s.count[EVENTS] = e + 1
    every = _checkpoint_every(s.state.shape[0])
    if (e + 1) % every == 0:
        copy = log.checkpoint[(e + 1) // every]
        for k in range(copy.shape[0]):
            copy[k] = s.state[k]
    s.count[LAST], s.count[CAME], s.count[HELD] = i, before, -1
    for clock in (SINCE_REFRESH, SINCE_REBUILD, SINCE_CORRECTED):
        s.count[clock] += 1
    s.count[ZEROS] = 0 if moved else s.count[ZEROS] + 1
    s.count[ZERO_STEPS] += 0 if moved else 1


@lean
def _checkpoint_every(N):
    """Events between two copies of all states: their memory stays below that of the duals."""
    return max(64, N // 4)


@lean
def _correct(op, st, s, tol, accuracy):
    """Make the pinned equations hold, to an accuracy; return the largest relative residual."""
    m = s.count[M]
    s.count[SINCE_CORRECTED] = 0
    worst = _residuals(op, st, s, s.v)
    for _ in range(4):
        if worst <= accuracy:
            break
        factor.multiply(s.G, m, s.v, s.da)
        for r in range(m):
            s.da[r] = -s.da[r]
            s.own[r] = -op.sign[s.P[r]] * s.v[r] + st.soft[s.P[r]] * s.da[r]
        pace, _, _ = set_direction(op, 0.0, s.P, m, s.da, s.own, 0.0)
        part = _within_levels(s, tol, worst)
        _shift(op, s, m, part)
        _travel(s, pace * part)
        before = worst
        if part == 1.0 and before * s.number[ERROR] <= 0.01 * accuracy:
            s.number[CORRECTED] = s.number[ODOMETER]
            return before * s.number[ERROR]  # or the rounding of z itself
        worst = _residuals(op, st, s, s.v)
        if worst > 0.1 * before or part < 1.0:  # down to the rounding of z itself
            break
    s.number[CORRECTED] = s.number[ODOMETER]
    return worst


@lean
def _within_levels(s, tol, worst):
    """Return the part of a correction to take, given the largest residual that it is to mend.

    Where the pinned system is ill-conditioned, the rounding of a value can be worth more to a dual
    than the dual has. Then it goes as far out of its range, relatively, as the value stays off.
    """
    part, largest, t = 1.0, 0.0, s.number[T]
    for r in range(s.count[M]):
        span = s.span[r]
        width = (span[0] - span[2]) + t * (span[1] - span[3])
        largest = max(largest, width if width < np.inf else 0.0)
    for r in range(s.count[M]):
        span = s.span[r]
        upper, lower = span[0] + t * span[1], span[2] + t * span[3]
        width = upper - lower
        if width <= 0.0 or width == np.inf:
            continue
        room = max(upper - s.a[r] if s.da[r] > 0.0 else s.a[r] - lower, 0.0) + tol.outside * width
        step, alike = abs(s.da[r]), worst * largest
        if part * step > room:
            part = min(part, (room + alike) / (step + alike))
    return part


@njit(cache=True)
def _refactor(op, st, s):
    """Compute the inverse of the pinned system afresh."""
    m = s.count[M]
    for r in range(m):
        p = s.P[r]
        column(op, s.P, m, p, s.v)
        s.J[r, :m] = s.v[:m]
        s.J[r, r] = op.diagonal[p] - op.sign[p] * st.soft[p]
    if m > 0:
        J = s.J[:m, :m].copy()
        G = np.linalg.inv(J)
        G = 0.5 * (G + G.T)
        # LU gives small residuals on one side only, and the symmetric part may need a Newton step;
        # where J is ill-conditioned that step's rounding errors are worse than what it mends.
        residual = np.eye(m) - np.dot(J, G)
        step = np.dot(G, residual)
        better = G + 0.5 * (step + step.T)
        left = np.eye(m) - np.dot(J, better)
        s.G[:m, :m] = better if np.abs(left).max() < np.abs(residual).max() else G
    s.count[REFACTORED] += 1


@lean
def _rebuild(op, st, s):
    """Compute the map's state afresh from the duals."""
    duals0, duals1 = s.hit_slack, s.hit_rate  # no candidates are kept between events
    for i in range(s.state.shape[0]):
        q = s.state[i] // 2
        duals0[i] = st.level0[i, q] if s.slot[i] < 0 else 0.0
        duals1[i] = st.level1[i, q] if s.slot[i] < 0 else 0.0
    rebuild(op, s.number[T], duals0, duals1, s.P, s.count[M], s.a)
    for i in range(op.n):
        s.due[i] = FAR if s.slot[i] >= 0 else -FAR
    s.block[:] = -FAR
    s.lost[:] = 0.0
    s.number[ODOMETER] = s.number[BELOW] = s.number[T_LOST] = 0.0
    s.number[CORRECTED] = -FAR  # fresh sums want a correction, and the odometer starts anew
    s.count[SINCE_REBUILD] = 0
    s.count[REBUILT] += 1
    s.number[WORN] = 0.0


@lean
def _begin(op, st, s, log, tol):
    """Compute everything that the first step of a leg needs, and record the first node."""
    for i in range(s.state.shape[0]):
        if s.slot[i] < 0:
            _frame(st, s, i)
        else:
            _hold(st, s, i, s.state[i] // 2)
    _rebuild(op, st, s)
    s.number[FLOOR] = 0.0
    _weigh(op, s)
    _inspect(op, st, s, tol)
    _correct(op, st, s, tol, tol.residual)
    _solve_direction(op, st, s, True)
    _record(s, log, True)


@inline
def _is_stale(s):
    """Tell whether everything is to be checked: rarely enough to cost little."""
    return s.count[SINCE_REBUILD] >= max(512, s.state.shape[0])


@inline
def _weigh(op, s):
    """Return the sum of norm_i |a_i|, and note what rounding makes of a value that is so summed."""
    size = op.size[0] + s.number[T] * op.size[1]
    for r in range(s.count[M]):
        size += abs(s.a[r]) * op.norm[s.P[r]]
    s.number[ROUNDING] = s.number[UNIT] * size
    return size


@inline
def _renew_sums(op, st, s, tol):
    """Compute the map's state afresh when rounding may have left more in it than in a fresh one.

    c = X'a is a running sum. The rounding errors of its moves add up, and where the duals shrink
    those of their larger past stay behind.
    """
    size = _weigh(op, s)
    if op.kind != DENSE and s.number[WORN] > tol.travelled * size:
        _rebuild(op, st, s)


@lean
def _maintain(op, st, s, tol, i):
    """Undo rounding errors before they are recorded; return False when the path is lost."""
    stale = _is_stale(s)
    if stale or s.count[SINCE_REFRESH] >= min(tol.refresh_every, max(1, s.count[M] // 8)):
        return _refresh(op, st, s, tol, stale, tol.residual)
    if s.number[WEAR] > tol.worn or op.moving[0] == 0:
        _inspect(op, st, s, tol)
        _solve_direction(op, st, s, True)
    _correct_now_and_then(op, st, s, tol, i)
    return True


@lean
def _correct_now_and_then(op, st, s, tol, i):
    """Correct the pinned duals after an event of coordinate i.

    At every event, or more rarely where rounding is far below what is asked, or when no pinned
    value can have moved: then only an entrant may be off its kink.
    """
    _renew_sums(op, st, s, tol)
    rounding = max(s.number[ROUNDING], s.number[LARGEST])
    can_wait = rounding <= tol.well_scaled and s.number[ERROR] <= tol.worn
    if can_wait and s.count[SINCE_CORRECTED] < s.count[M] // tol.correct_each:
        return
    due = op.kind == DENSE or s.number[ODOMETER] - s.number[CORRECTED] > s.number[REACH]
    if not due and s.slot[i] >= 0:
        due = abs(_residual(op, st, s, s.slot[i])) > tol.residual * st.scale[i]
    if due:
        _correct(op, st, s, tol, tol.residual)


@lean
def _refresh(op, st, s, tol, full, accuracy):
    """Renew what rounding has worn; return False when the path is lost."""
    if full:
        _rebuild(op, st, s)
    s.count[SINCE_REFRESH] = 0
    _inspect(op, st, s, tol)
    worst = _correct(op, st, s, tol, accuracy)
    _solve_direction(op, st, s, True)
    if worst > tol.lost:
        return False
    return not full or _violation(op, st, s) <= tol.lost


@lean
def _violation(op, st, s):
    """Return the largest relative violation of a kink by a value on a piece."""
    worst = 0.0
    t = s.number[T]
    for i in range(s.state.shape[0]):
        if s.slot[i] >= 0:
            continue
        z, window = value(op, i, t, s.Q, s.count[M], s.a), s.window[i]
        outside = max(z - window[2] - t * window[3], window[0] + t * window[1] - z)
        worst = max(worst, outside / st.scale[i])
    return worst


# ---------------------------------------------------------------------------------------------
# The loop
# ---------------------------------------------------------------------------------------------


@inline
def _room(s, log):
    """Tell whether the next event fits into the arrays."""
    m = s.count[M]
    events = s.count[EVENTS] + 1
    return (
        m + 2 < s.P.shape[0]
        and s.count[NODES] + 2 < log.start.shape[0]
        and s.count[FLAT] + m + 2 < log.P.shape[0]
        and events < log.coordinate.shape[0]
        and events // _checkpoint_every(s.state.shape[0]) < log.checkpoint.shape[0]
    )


@lean
def _walk(op, st, s, log, tol, lazy):
    """Follow the path until T_END, or until something else ends the walk; return why."""
    N = s.state.shape[0]
    while _room(s, log):
        # Direction
        dt, size = _aim(op, st, s, tol)
        moved, happened = False, False
        while not happened:  # again when what was chosen turns out to be noise
            # Ratio test
            chosen = _ratio_test(op, st, s, tol, dt, size, lazy)
            if _is_rough(s, tol, dt, chosen):
                _refine_direction(op, st, s, tol)
                continue
            if chosen < 0:
                return _arrive(op, st, s, log, tol, dt, size)
            i, down = s.hit_index[chosen] % N, s.hit_index[chosen] >= N
            before, rate = s.state[i], s.hit_rate[chosen]

            # Step
            h = max(s.hit_slack[chosen], 0.0) / rate
            _step(op, s, dt, size, h)
            moved = moved or _is_move(op, st, s, tol, dt, i, h, rate)
            if before % 2 == 0 and dt > 0 and s.number[ROUNDING] > tol.well_scaled:
                _approach(op, st, s, tol, size, i, down, h, rate)

            # Event
            happened, recorded = _event(op, st, s, log, tol, i, down, dt, rate, moved)

        # Record and refresh
        _log_event(s, log, i, before, moved)
        if s.count[KIND] == NONE and not _maintain(op, st, s, tol, i):
            return LOST
        if not recorded:
            _record(s, log, moved)

        # Stop?
        if s.state[i] % 2 == 1 and st.wall[i] == s.state[i] // 2:
            return WALL
        if s.count[ZEROS] > 100 * _patience(s, tol):
            return STALLED
        s.count[BUDGET] -= 1
        if s.count[BUDGET] <= 0 and s.count[KIND] == NONE:
            return PAUSE
    return GROW


@lean
def _ratio_test(op, st, s, tol, dt, size, lazy):
    """Return the candidate that comes first, or -1 when none comes before the walk's end."""
    left = s.number[T_END] - s.number[T] if dt > 0 else np.inf
    # The largest weight of a candidate at its kink; -1 where the largest is not what is wanted.
    s.number[BEST] = 0.0 if s.count[ZEROS] < _patience(s, tol) else -1.0
    s.count[TIED] = 0
    n_hits, bound = _members(op, st, s, tol, dt, size, left)
    if _values_move(op, s, dt):
        n_hits, bound = _pieces(op, st, s, tol, dt, size, n_hits, bound, lazy)
    chosen = _choose(s, tol, n_hits, bound)
    if chosen >= 0 and dt > 0:
        h = max(s.hit_slack[chosen], 0.0) / s.hit_rate[chosen]
        if h >= left * (1.0 - 1e-13):
            return -1
    return chosen


@lean
def _event(op, st, s, log, tol, i, down, dt, rate, moved):
    """Change the state of coordinate i; return whether it happened, and whether it was recorded."""
    state = s.state[i]
    if state % 2 == 0:
        happened = _enter(op, st, s, tol, i, down, dt, rate)
        if not happened:
            _doubt(op, st, s, tol, i, dt, rate)
        return happened, False
    if not moved and i == s.count[LAST] and 2 * (state // 2 + down) == s.count[CAME]:
        # It only just came from there: its velocity is rounding noise.
        s.count[HELD] = i
        return False, False
    recorded = s.count[KIND] == NONE
    if recorded:
        # While it is still pinned its value is exact and its dual is off by rounding.
        _correct_now_and_then(op, st, s, tol, i)
        _record(s, log, moved)
    _leave(op, st, s, tol, i, down)
    return True, recorded


@lean
def _approach(op, st, s, tol, size, i, down, h, rate):
    """Put value i on the kink that it reaches, once the pinned equations hold where it does.

    Both are off by the rounding of a long step, which an ill-conditioned system would turn into
    duals far out of their range.
    """
    _correct(op, st, s, tol, tol.residual)
    _direction(op, st, s, tol)
    window, t = s.window[i], s.number[T]
    z = value(op, i, t, s.Q, size, s.a)
    slack = z - window[0] - t * window[1] if down else window[2] + t * window[3] - z
    if abs(slack) <= min(1e-6 * st.scale[i], h * rate):
        _step(op, s, 1.0, size, slack / rate)


@lean
def _doubt(op, st, s, tol, i, dt, rate):
    """After an event that was noise: compute the direction with care, then believe less of it."""
    if s.count[REFINED] == 0 and dt > 0:
        _solve_direction(op, st, s, True)
        _direction(op, st, s, tol)
        s.count[REFINED] = 1
        return
    level = rate / (op.norm[i] * (s.number[GROSS] + dt))
    s.number[NOISE] = max(s.number[NOISE], 4.0 * level)


@lean
def _arrive(op, st, s, log, tol, dt, size):
    """Go to the walk's end, where there is one, as no event comes before; return the ending."""
    left = s.number[T_END] - s.number[T]
    if dt == 0:
        return UNBOUNDED
    if left == np.inf:
        return RAY
    _step(op, s, dt, size, left)
    s.number[T] = s.number[T_END]
    # As accurate as can be: the optimum may be tiny here, or zero.
    _refresh(op, st, s, tol, op.kind != DENSE, 0.0)
    _snap(op, st, s)
    _record(s, log, True)
    return DONE


@inline
def _is_move(op, st, s, tol, dt, i, h, rate):
    """Tell whether a step is more than rounding."""
    if dt > 0:
        # A slack within a tie is no step, unless it is approached so slowly that t changes.
        tie = s.state[i] % 2 == 0 and h * rate <= tol.tie * st.scale[i]
        return h > (1e-12 if tie else 1e-14) * abs(s.number[T])
    return h * s.number[GROSS] * op.norm[i] > 1e-13 * st.scale[i]


@inline
def _travel(s, length):
    """Turn the odometer on."""
    s.number[ODOMETER], s.number[BELOW] = add_exactly(s.number[ODOMETER], s.number[BELOW], length)


@inline
def _step(op, s, dt, size, h):
    """Move everything by h along the direction."""
    s.number[WORN] += h * s.number[GROSS]
    s.number[T], s.number[T_LOST] = add_exactly(s.number[T], s.number[T_LOST], dt * h)
    _travel(s, s.number[PACE] * h)
    _shift(op, s, size, h)


@inline
def _shift(op, s, size, h):
    """Move the pinned duals, and the map's state with them, by h along the direction.

    Both are running sums: were rounding left to each, they would drift apart.
    """
    for r in range(size):
        s.a[r], s.lost[r] = add_exactly(s.a[r], s.lost[r], h * s.da[r])
    if op.n < s.state.shape[0]:
        for r in range(size):
            if s.P[r] >= op.n:
                hold_feature(op, s.P[r], s.a[r])
    advance(op, h)


# ---------------------------------------------------------------------------------------------
# A start from any feasible duals
# ---------------------------------------------------------------------------------------------


@lean
def _pin_all(op, st, s, tol, coordinates, kinks, duals):
    """Pin one coordinate after the other until the arrays are full; return how many were."""
    for k in range(coordinates.shape[0]):
        if s.count[M] + 2 >= s.P.shape[0]:
            return k
        _pin(op, st, s, tol, coordinates[k], kinks[k], duals[k])
    return coordinates.shape[0]


@lean
def _pin(op, st, s, tol, i, kink, dual):
    """Pin coordinate i with a dual between two levels.

    When it depends on the pinned ones, move along the null vector, which changes no value, until
    one of them, or i itself, reaches a level, and leave that one out.
    """
    m = s.count[M]
    pivot, gross = _column(op, st, s, i)
    singular = op.sign[i] * pivot <= 1e-9 * gross
    if op.sign[i] * pivot <= 1e-2 * gross:
        pivot, singular = _careful_schur(op, st, s, tol, i)
        singular = singular or op.sign[i] * pivot <= 1e-9 * gross
    if not singular:
        factor.append(s.G, m, s.u, pivot)
        _append_row(s, m, s.k, op.diagonal[i] - op.sign[i] * st.soft[i])
        _place(op, s, m, i)
        s.a[m] = dual
        _hold(st, s, i, kink)
        s.count[M] = m + 1
        return
    step, out, down = _null_step(st, s, i, kink, dual)
    for r in range(m):
        s.a[r] -= step * s.u[r]
    if out < 0:
        s.state[i] = 2 * (kink + down)
        return
    p = s.P[out]
    s.state[p] = 2 * (s.state[p] // 2 + down)
    s.slot[p] = -1
    factor.read_column(s.G, m, out, s.v)
    factor.replace(s.G, m, out, s.v, s.u, pivot, s.x, s.y)
    _replace_row(op, st, s, m, out, i)
    _place(op, s, out, i)
    s.a[out] = dual + step
    _hold(st, s, i, kink)


@lean
def _null_step(st, s, i, kink, dual):
    """Return the step along the null vector to a level, whose slot (-1: i), and which level."""
    t = s.number[T]
    up, low = _level(st, i, kink, t) - dual, dual - _level(st, i, kink + 1, t)
    step, out, down = (up, -1, 0) if up < low else (-low, -1, 1)
    largest = 0.0
    for r in range(s.count[M]):
        largest = max(largest, abs(s.u[r]))
    for r in range(s.count[M]):
        if abs(s.u[r]) <= 1e-9 * largest:
            continue
        p = s.P[r]
        q = s.state[p] // 2
        for lower in range(2):
            level = _level(st, p, q + lower, t)
            if abs(level) == np.inf:
                continue
            reach = (s.a[r] - level) / s.u[r]
            if reach * step >= 0 and abs(reach) < abs(step):
                step, out, down = reach, r, lower
    return step, out, down


@njit(cache=True)
def _values(op, st, s):
    """Return every z_i - delta_i a_i."""
    N = s.state.shape[0]
    z = np.empty(N)
    m = s.count[M]
    for i in range(N):
        z[i] = value(op, i, s.number[T], s.Q, m, s.a)
        if st.soft[i] != 0.0:
            q = s.state[i] // 2
            dual = s.a[s.slot[i]] if s.slot[i] >= 0 else _level(st, i, q, s.number[T])
            z[i] -= st.soft[i] * dual
    return z


# ---------------------------------------------------------------------------------------------
# From Python
# ---------------------------------------------------------------------------------------------

ENDINGS = {
    UNBOUNDED: "no event ends the exchange at this point, so the problem is unbounded there",
    STALLED: "zero-length steps repeat without progress (cycling)",
    LOST: "rounding errors grew beyond the tolerance 'lost'",
}


@njit(cache=True)
def _duals_at(level0, level1, t, kept, coordinate, state, P, a):
    """Return all duals from the states at a checkpoint, the events since, and the pinned duals."""
    now = kept.copy()
    for e in range(len(coordinate)):
        now[coordinate[e]] = state[e]
    duals = np.empty(len(now))
    for i in range(len(now)):
        q = now[i] // 2
        duals[i] = level0[i, q] + t * level1[i, q] if now[i] % 2 == 0 else 0.0
    for r in range(len(P)):
        duals[P[r]] = a[r]
    return duals


class Trace(NamedTuple):
    """A finished walk: t at K nodes and what is needed to know all duals there.

    ``event[k]`` events happened up to node k; its pinned coordinates and their duals are
    ``P[start[k]:start[k + 1]]`` and ``a[...]``. Every ``every`` events all states are kept.
    """

    stairs: Staircases
    t: NDArray[np.float64]
    event: NDArray[np.int64]
    start: NDArray[np.int64]
    P: NDArray[np.int32]
    a: NDArray[np.float64]
    coordinate: NDArray[np.int32]
    state: NDArray[np.int8]
    checkpoint: NDArray[np.int8]
    every: int
    ray: NDArray[np.float64]

    def duals(self, node: int) -> NDArray[np.float64]:
        """Return the (N,) duals at a node."""
        events, t = self.event[node], self.t[node]
        kept = events // self.every
        recent = slice(kept * self.every, events)
        pinned = slice(self.start[node], self.start[node + 1])
        return _duals_at(
            self.stairs.level0,
            self.stairs.level1,
            t,
            self.checkpoint[kept],
            self.coordinate[recent],
            self.state[recent],
            self.P[pinned],
            self.a[pinned],
        )

    def at(self, t: float) -> NDArray[np.float64]:
        """Return the (N,) duals at t, linear between nodes and along the ray after the last."""
        node = int(np.searchsorted(self.t, t, side="right")) - 1
        node = max(node, 0)
        if node == len(self.t) - 1:
            left = self.duals(node)
            return left if t <= self.t[-1] else left + (t - self.t[-1]) * self.ray
        left, right = self.duals(node), self.duals(node + 1)
        part = (t - self.t[node]) / (self.t[node + 1] - self.t[node])
        return left + part * (right - left)

    def without_last(self) -> Trace:
        """Return the trace up to its last but one node; the ray goes on from there."""
        end = self.start[-2]
        return self._replace(
            t=self.t[:-1],
            event=self.event[:-1],
            start=self.start[:-1],
            P=self.P[:end],
            a=self.a[:end],
        )

    def down_to_zero(self, n: int) -> Trace:
        """Return the trace with its last node, where nothing happened, moved on to t = 0.

        The duals of the first n coordinates vanish there (levels proportional to t).
        """
        end = self.start[-2]
        P, a = self.P[end:], self.a[end:]
        there = np.where(n > P, 0.0, a - self.t[-1] * self.ray[P])
        return self._replace(t=np.append(self.t[:-1], 0.0), a=np.append(self.a[:end], there))


class WalkError(RuntimeError):
    """The walk ended before its goal; ``trace`` holds the part of the path that is exact."""

    def __init__(self, message: str, trace: Trace):
        super().__init__(message)
        self.trace = trace


class Walker:
    """A walk in progress: an operator, staircases, states, and the inverse of the pinned system.

    Parameters
    ----------
    op : Operator
        The map; its working arrays are this walker's from now on.
    stairs : Staircases
        Staircases of the N coordinates at ``t``.
    state : (N,) int8 array
        States at ``t``: 2r on piece r, 2r + 1 at kink r.
    duals : (N,) array
        Duals of the coordinates at kinks (others are not read).
    t : float
        Where the walk begins.
    """

    def __init__(
        self,
        op: Operator,
        stairs: Staircases,
        state: NDArray[np.int8],
        duals: NDArray[np.float64],
        t: float = 0.0,
        tolerances: Tolerances | None = None,
    ):
        N = len(stairs)
        self.op = op
        self.tolerances = tolerances or Tolerances()
        self._base_norm, self._base_radius = op.norm.copy(), op.radius.copy()
        pinned = np.flatnonzero(state % 2)
        # No more rows than columns can be independent; of a kernel's there may be few or many.
        cap = min(N, max(64, len(op.c), 2 * len(pinned))) + 4
        self.s = State(
            np.array(state, dtype=np.int8),
            np.full(N, -1),
            np.zeros((N, 4)),
            np.zeros(N),
            np.zeros(-(-op.n // BLOCK)),
            np.zeros(BLOCK, dtype=np.int64),
            np.zeros(cap, dtype=np.int64),
            np.zeros((N if op.kind == DENSE else 0, cap)),
            np.zeros((cap, 4)),
            *(np.zeros(cap) for _ in range(5)),
            np.zeros((cap, cap)),
            np.zeros((cap, cap)),
            *(np.zeros(cap) for _ in range(6)),
            np.zeros(2 * N + 2, dtype=np.int64),
            *(np.zeros(2 * N + 2) for _ in range(3)),
            np.zeros(22),
            np.zeros(23, dtype=np.int64),
        )
        self.s.count[RANDOM] = 1
        self.log = _empty_log(N)
        self._handed_over = False
        self.begin(stairs, t, pinned=pinned, duals=duals[pinned])

    def begin(
        self,
        stairs: Staircases,
        t: float,
        pinned: NDArray[np.int64] | None = None,
        duals: NDArray[np.float64] | None = None,
        walls: NDArray[np.int64] | None = None,
    ) -> None:
        """Start a leg at t with new staircases, from the present states and duals.

        With ``pinned`` given the inverse is computed from scratch; otherwise it is carried on.
        """
        s, op = self.s, self.op
        self.stairs = stairs
        wall = np.full(len(stairs), -1) if walls is None else walls
        self.st = Stairs(
            stairs.kink0,
            stairs.kink1,
            stairs.level0,
            stairs.level1,
            stairs.soft,
            stairs.n_kinks,
            np.ones(len(stairs)),
            wall,
        )
        drift, largest = _measure(self.st, op.n, t)
        scale = self.st.scale
        s.number[DRIFT] = float(drift.any())
        for bound, still in ((op.norm, self._base_norm), (op.radius, self._base_radius)):
            bound[:] = np.maximum(np.hypot(still, drift), 1e-300)
        s.number[UNIT] = 1e-15 * op.norm[: op.n].max() / scale[0]
        # What rounding makes of a value when all duals are as large as they can be here.
        s.number[LARGEST] = s.number[UNIT] * (op.norm @ largest)
        # The length that w may travel before a sample's value moves by more than 'residual'.
        reach = self.tolerances.residual * scale[0] / op.radius[: op.n].max()
        s.number[REACH] = reach if op.n == len(scale) else -1.0
        s.number[T] = t
        s.count[LAST] = s.count[HELD] = -1
        if pinned is not None:
            m = len(pinned)
            s.P[:m], s.a[:m] = pinned, duals
            s.slot[:] = -1
            s.slot[pinned] = np.arange(m)
            s.count[M] = m
            self._pack()
            s.count[KIND] = NONE
            _refactor(op, self.st, s)
        self._renew()

    def snapshot(self) -> tuple:
        """Return a copy of where the walk stands, for `restore`."""
        s = self.s
        arrays = (s.state, s.slot, s.P, s.a, s.J, s.G)
        return *(array.copy() for array in arrays), int(s.count[M])

    def restore(self, snapshot: tuple, stairs: Staircases, t: float) -> None:
        """Go back to a snapshot, and start a leg there; counts start anew."""
        state, slot, P, a, J, G, m = snapshot
        s = self.s
        s.state[:], s.slot[:] = state, slot
        s.P[: len(P)], s.a[: len(a)] = P, a
        s.J[: len(J), : len(J)] = J
        s.G[: len(G), : len(G)] = G
        s.count[:] = 0
        s.count[M], s.count[RANDOM] = m, 1
        self._pack()
        self.begin(stairs, t)

    def _pack(self) -> None:
        """Copy the pinned columns of a dense map, or the codes of pinned rows."""
        pinned = self.s.P[: self.s.count[M]]
        if self.op.kind == DENSE:
            self.s.Q[:, : len(pinned)] = self.op.H[:, pinned]
        if len(self.op.codes) > 0:
            samples = pinned < self.op.n
            self.op.packed[: len(pinned)] = samples[:, None] * self.op.codes[pinned * samples]

    def _renew(self) -> None:
        """Empty the log; its arrays stay, unless a trace has them."""
        s = self.s
        if self._handed_over:
            self.log, self._handed_over = _empty_log(len(self.stairs)), False
        s.count[EVENTS] = s.count[NODES] = s.count[FLAT] = s.count[ZEROS] = 0
        self.log.start[0] = 0
        self.log.checkpoint[0] = s.state
        while len(self.log.P) <= s.count[M]:
            self._grow()
        _begin(self.op, self.st, s, self.log, self.tolerances)

    def pin(self, coordinates: NDArray[np.int64], kinks: NDArray[np.int64], duals) -> None:
        """Pin coordinates at the given kinks with duals between two levels.

        Those that depend on others are brought to a level without changing any value. Call
        `begin` afterwards: values and directions are not kept up to date here.
        """
        tolerances, done = self.tolerances, 0
        while done < len(coordinates):
            rest = (coordinates[done:], kinks[done:], duals[done:])
            done += _pin_all(self.op, self.st, self.s, tolerances, *rest)
            if done < len(coordinates):
                self._grow()

    def values(self) -> NDArray[np.float64]:
        """Return every z_i - delta_i a_i, computed afresh."""
        _rebuild(self.op, self.st, self.s)
        return _values(self.op, self.st, self.s)

    def walk(self, t_end: float, lazy: bool = True, callback=None, budget: int = 2000) -> int:
        """Walk on to t_end; return how it ended (DONE, RAY or WALL).

        Raises
        ------
        WalkError
            The path could not be followed to its end; the exact part comes with the error.
        """
        s = self.s
        tolerances = self.tolerances
        begin = s.number[T]
        s.number[T_END] = t_end
        s.count[BUDGET] = budget
        while True:
            try:
                ending = _walk(self.op, self.st, s, self.log, tolerances, lazy)
            except np.linalg.LinAlgError:
                ending = LOST
            if ending == GROW:
                self._grow()
                s = self.s
            elif ending == PAUSE:
                s.count[BUDGET] = budget
                if callback is not None:
                    callback((s.number[T] - begin) / (t_end - begin), int(s.count[EVENTS]))
            elif ending in (DONE, RAY, WALL):
                return ending
            else:
                raise WalkError(
                    f"the path stops at t = {s.number[T]:.17g} after {s.count[EVENTS]} events: "
                    f"{ENDINGS[ending]}; the exact part up to there is kept with this error.",
                    self.trace(),
                )

    def _grow(self) -> None:
        """Double whichever arrays are full."""
        s, log = self.s, self.log
        m = s.count[M]
        if m + 2 >= len(s.P):
            cap = min(2 * len(s.P), len(self.stairs) + 4)
            names = ["P", "a", "da", "regular", "own", "lost", "u", "k", "g", "v", "x", "y"]
            J, G, Q = np.zeros((cap, cap)), np.zeros((cap, cap)), np.zeros((len(s.Q), cap))
            Q[:, : len(s.P)] = s.Q
            J[: len(s.P), : len(s.P)], G[: len(s.P), : len(s.P)] = s.J, s.G
            wider = {name: _longer(getattr(s, name), cap) for name in names}
            self.s = replace(s, J=J, G=G, Q=Q, span=_longer(s.span, cap), **wider)
        if s.count[NODES] + 2 >= len(log.start):
            log = _longer_fields(log, ["t", "event", "start"])
        if s.count[FLAT] + m + 2 >= len(log.P):
            log = _longer_fields(log, ["P", "a"])
        if s.count[EVENTS] + 1 >= len(log.coordinate):
            log = _longer_fields(log, ["coordinate", "state"])
        every = _checkpoint_every(len(self.stairs))
        if (s.count[EVENTS] + 1) // every >= len(log.checkpoint):
            log = _longer_fields(log, ["checkpoint"])
        self.log = log

    def duals(self) -> NDArray[np.float64]:
        """Return the (N,) duals where the walk stands."""
        s = self.s
        a = self.stairs.duals(s.state, s.number[T])
        size = s.count[M] + (s.count[KIND] == ENTERED)
        a[s.P[:size]] = s.a[:size]
        return a

    def trace(self) -> Trace:
        """Return what was recorded since `begin`, in the log's own arrays."""
        s, log = self.s, self.log
        self._handed_over = True
        nodes, events = s.count[NODES], s.count[EVENTS]
        every = _checkpoint_every(len(self.stairs))
        ray = np.zeros(len(self.stairs))
        rows = np.arange(len(ray))
        ray[:] = _finite(self.stairs.level1[rows, s.state.astype(np.int64) // 2])
        ray[s.P[: s.count[M]]] = s.regular[: s.count[M]]
        return Trace(
            self.stairs,
            log.t[:nodes],
            log.event[:nodes],
            log.start[: nodes + 1],
            log.P[: s.count[FLAT]],
            log.a[: s.count[FLAT]],
            log.coordinate[:events],
            log.state[:events],
            log.checkpoint[: events // every + 1],
            every,
            ray,
        )

    def statistics(self) -> dict[str, int]:
        """Return counts since the walker was made (events: since `begin`)."""
        names = {
            "events": EVENTS,
            "zero_steps": ZERO_STEPS,
            "exchanges": EXCHANGES,
            "refactorisations": REFACTORED,
            "rebuilds": REBUILT,
            "rows_looked_at": LOOKED,
        }
        return {name: int(self.s.count[index]) for name, index in names.items()}


def _empty_log(N: int) -> Log:
    rooms = 4096
    return Log(
        np.zeros(rooms),
        np.zeros(rooms, dtype=np.int64),
        np.zeros(rooms, dtype=np.int64),
        np.zeros(rooms * 8, dtype=np.int32),
        np.zeros(rooms * 8),
        np.zeros(rooms, dtype=np.int32),
        np.zeros(rooms, dtype=np.int8),
        np.zeros((rooms // _checkpoint_every(N) + 2, N), dtype=np.int8),
    )


@njit(cache=True)
def _measure(st, n, t):
    """Set what residuals are relative to at t; return how fast kinks move, and the largest duals.

    Residuals are relative to the largest kink of the samples or of the features; the balance of a
    bias, which has infinite levels, to the largest dual.
    """
    N = st.soft.shape[0]
    group, drift, largest = np.zeros(N, dtype=np.int64), np.zeros(N), np.zeros(N)
    size = np.zeros(3)
    for i in range(N):
        if i >= n:
            group[i] = 2 if np.isinf(st.level0[i, 0]) and np.isinf(st.level0[i, 1]) else 1
        for q in range(st.n_kinks[i]):
            if group[i] < 2:
                size[group[i]] = max(size[group[i]], abs(_kink(st, i, q, t)))
            drift[i] = max(drift[i], abs(st.kink1[i, q]))
        for q in range(st.n_kinks[i] + 1):
            if np.isinf(st.level0[i, q]):
                continue
            largest[i] = max(largest[i], abs(_level(st, i, q, t)))
            if i < n:
                size[2] = max(size[2], abs(st.level0[i, q]) + abs(st.level1[i, q]))
            shift = st.soft[i] * st.level1[i, q]
            for k in range(max(q - 1, 0), min(q + 1, st.n_kinks[i])):
                drift[i] = max(drift[i], abs(st.kink1[i, k] + shift))
    for i in range(N):
        if size[group[i]] > 0:
            st.scale[i] = size[group[i]]
    return drift, largest


def _finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isfinite(values), values, 0.0)


def _longer(array: NDArray, size: int) -> NDArray:
    out = np.zeros((size, *array.shape[1:]), dtype=array.dtype)
    out[: len(array)] = array
    return out


def _longer_fields(log: Log, names: list[str]) -> Log:
    return replace(log, **{n: _longer(getattr(log, n), 2 * len(getattr(log, n))) for n in names})
