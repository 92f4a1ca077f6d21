"""Stages 1 to 3 of a step: the direction, the ratio test, and the move itself."""

from __future__ import annotations

import numpy as np

from .compiled import inline, inner, lean
from .operators import (
    DENSE,
    add_exactly,
    add_rows_exactly,
    advance,
    distance,
    follow_duals,
    hold_feature,
    is_ridge,
    measure_direction,
    pinned_velocities,
    prepare_looks,
    rows_times,
    seen_value,
    seen_velocity,
    squared_length,
    tabulate_velocity,
)
from .pinned import (
    apply_factor,
    correct_rates,
    improve,
    keeps_system,
    largest,
    note_contraction,
    solve_rates,
    terms,
)
from .state import (
    BLOCK,
    ENTERED,
    FAR,
    LEFT,
    NONE,
    kink_at,
)

EPSILON = np.finfo(np.float64).eps
FARTHEST = 1e15  # times t: no event is looked for behind that on a ray
RATES = 32  # directions: as often the size of the kinks' rates, which trust is relative to, is new

# ---------------------------------------------------------------------------------------------
# Stage 1: direction
# ---------------------------------------------------------------------------------------------


@lean
def aim(op, st, s, tol):
    """Set the direction; return (dt, number of pinned coordinates that move)."""
    m, s.direction.off = s.sizes.pinned, 0.0
    if s.pending.kind != NONE:
        return 0.0, _null_direction(op, st, s, tol)
    if keeps_system(op) or not s.direction.carried or s.direction.known >= RATES:
        _kink_rates(op, st, s, s.g)
        s.direction.rates, s.direction.known = max(largest(op, s, s.g), 1e-300), 0
    else:
        _border_rates(op, st, s, s.g)
        s.direction.known += 1
    if is_ridge(op):
        solve_rates(op, s, s.g, s.regular)
    else:
        apply_factor(op, s, s.g, s.regular)
    if keeps_system(op):
        rest = improve(op, st, s, tol, s.g, s.regular, tol.noise)
    for r in range(m):
        s.da[r] = s.regular[r]
    _set_own(op, st, s, 1.0, m)
    if op.kind != DENSE:
        follow_duals(op, 1.0, s.P, m, s.da)
    if not keeps_system(op):
        s.direction.off = _miss(op, s)
        note_contraction(s, s.direction.off, s.direction.rates)
    _measure(op, s, tol, 1.0, m)
    if op.kind == DENSE:
        s.direction.noise = max(s.direction.noise, rest)
    return 1.0, m


@lean
def _kink_rates(op, st, s, out):
    """Write how fast the pinned values must move against what the levels move them."""
    m = s.sizes.pinned
    if op.kind == DENSE:
        for r in range(m):
            p = s.P[r]
            out[r] = op.sign[p] * st.kink1[p, s.state[p] // 2] - op.now.base1[p]
        return
    for k in range(op.n_ridge):
        op.now.row[k] = op.scale * op.now.base1[k]
    rows_times(op, s.P, m, op.now.row, out)
    op.now.row[:] = 0.0
    for r in range(m):
        p = s.P[r]
        if p < op.n:
            out[r] = st.kink1[p, s.state[p] // 2] - out[r]
    _border_rates(op, st, s, out)


@lean
def _border_rates(op, st, s, out):
    """Write those rates of coordinates that are no samples (ROWS, SPARSE)."""
    for i in range(op.n, s.state.shape[0]):
        r = s.slot[i]
        if r >= 0:
            out[r] = op.now.base1[i - op.n + op.n_ridge] - st.kink1[i, s.state[i] // 2]


@lean
def _set_own(op, st, s, dt, size):
    """Set the velocities of the pinned values, known from their kinks."""
    for r in range(size):
        p = s.P[r]
        if s.state[p] % 2 == 1:
            s.own[r] = dt * st.kink1[p, s.state[p] // 2] + st.soft[p] * s.da[r]
        else:  # the pending leaver
            s.own[r] = op.sign[p] * s.pending.sign


@inline
def is_rough(s, h):
    """Tell whether a step of length h asks for a better direction, see `refine`.

    That is one that would take pinned values off their kinks by more than they may be, or a long
    one: at its far end levels may be so much wider that more is asked.
    """
    off = s.direction.off
    return off > 0.0 and (is_long(s, h) or off * h > s.accuracy.left)


@inline
def is_open(s, tol):
    """Tell whether pinned values miss their velocities so much that w may not move at all."""
    off = s.direction.off
    return off > tol.trusted * s.direction.speed and not _stands(s, tol, _way_left(s))


@inline
def is_long(s, h):
    """Tell whether a step is longer than the way from t = 0: levels may grow with t."""
    return h > abs(s.clock.t) > 0.0


@lean
def refine(op, st, s, tol):
    """Make w move the pinned values as their kinks move.

    w's velocity is improved in its own right: it is known to the rounding of itself, and not to
    that of the duals' velocities, which may be far larger and cancel. What is carried on is
    improved with it, so that the next one begins as well as this one ends.
    """
    m, worst, last = s.sizes.pinned, _miss(op, s), np.inf
    speed = first = np.sqrt(squared_length(op, op.now.dw))
    # (Of a velocity that should be zero nothing is left at last.)
    while tol.noise * speed < worst <= 0.5 * last and speed >= EPSILON * first:
        correct_rates(op, s, s.v, s.y)
        add_rows_exactly(op, s.P, m, s.y, op.now.row, op.now.row_low)
        for k in range(op.now.row.shape[0]):
            op.now.dc[k] += op.now.row[k]
        op.now.row[:] = 0.0
        for k in range(op.n_ridge):
            op.now.dw[k] = op.scale * op.now.dc[k]
        for r in range(m):
            s.regular[r] += s.y[r]
            s.da[r] = s.regular[r]
            if s.P[r] >= op.n:
                op.now.dw[s.P[r] - op.n + op.n_ridge] = -s.da[r]
        _set_own(op, st, s, 1.0, m)
        last, worst = worst, _miss(op, s)
        speed = np.sqrt(squared_length(op, op.now.dw))
    s.direction.off = 0.0
    _measure(op, s, tol, 1.0, m)


@lean
def _miss(op, s):
    """Write what w's velocity leaves of those of the pinned values to s.v; return the largest."""
    m = s.sizes.pinned
    pinned_velocities(op, s.P, m, s.v)
    for r in range(m):
        s.v[r] = op.sign[s.P[r]] * (s.own[r] - s.v[r])
    return largest(op, s, s.v)


@lean
def _null_direction(op, st, s, tol):
    """Set the velocities along the null vector of a singular system; return how many move."""
    size = s.sizes.pinned
    if s.pending.kind == ENTERED:
        for r in range(size):
            s.da[r] = -s.pending.sign * s.u[r]
        s.da[size] = s.pending.sign
        size += 1
    else:
        for r in range(size):
            s.da[r] = s.pending.sign * s.g[r]
        s.da[s.slot[s.pending.coordinate]] = 0.0
    largest = 0.0
    for r in range(size):
        largest = max(largest, abs(s.da[r]) * op.norm[s.P[r]])
    for r in range(size):
        norm, noise = op.norm[s.P[r]], 1e-12
        if r < s.sizes.pinned and not is_ridge(op):
            # What the rounding of the terms makes of a component that should be zero.
            noise = max(noise, tol.singular * abs(s.G[r, r]) * norm * norm)
        if abs(s.da[r]) * norm < noise * largest:
            s.da[r] = 0.0
    _set_own(op, st, s, 0.0, size)
    if op.kind != DENSE:
        follow_duals(op, 0.0, s.P, size, s.da)
        if s.pending.kind == ENTERED and is_ridge(op):
            # What depends on pinned rows changes no inner product but for rounding.
            op.now.dc[:] = 0.0
            op.now.dw[:] = 0.0
        tabulate_velocity(op)
    _measure(op, s, tol, 0.0, size)
    return size


@lean
def _measure(op, s, tol, dt, size):
    """Note how fast a direction is."""
    s.direction.pace, s.direction.speed, s.direction.gross, unit = measure_direction(
        op, dt, s.P, size, s.da, s.own, dt * s.accuracy.drift
    )
    s.direction.noise = max(tol.noise * unit, s.direction.off)
    if dt > 0 and s.accuracy.drift == 0.0 and _is_fixed(op, s):
        s.direction.speed = 0.0


@lean
def _is_fixed(op, s):
    """Tell whether as many independent values stand still as w has entries, so that it does."""
    moves = 0.0
    for r in range(s.sizes.pinned):
        moves += abs(s.own[r])
    return op.kind != DENSE and s.sizes.factored == op.now.c.shape[0] and moves == 0.0


# ---------------------------------------------------------------------------------------------
# Stage 2: ratio test. A candidate is (index, slack, rate): index i + N means that i goes down.
# ---------------------------------------------------------------------------------------------


@inline
def tie_of(op, st, s, tol, i):
    """Return how far from its kink z_i counts as there: nearer than that no dual feels it."""
    return min(tol.tie * st.scale[i], s.accuracy.felt * op.norm[i])


@inline
def _hit(s, n_hits, bound, index, slack, rate, tie, weight):
    """Note a candidate if it comes before the bound; return the new count and bound.

    What is beyond by no more than a tie where the walk ends is left to what goes on from there:
    if all values meet their kinks there, as with no w, rounding would let them do so before.
    """
    if slack <= bound * rate and slack + tie <= s.search.left * rate:
        if slack <= 0.0 and s.search.best >= 0.0:
            s.search.best = max(s.search.best, weight)
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
    t = s.clock.t
    largest = 0.0
    for r in range(size):
        largest = max(largest, abs(s.da[r]) * op.norm[s.P[r]])
    # What a dual moves until the walk's end may be rounding: then it doesn't move.
    horizon = s.clock.end - t if dt > 0 else np.inf
    n_hits = 0
    for r in range(size):
        p = s.P[r]
        if s.state[p] % 2 == 0:
            continue
        span = s.span[r]
        upper, lower = span[0] + t * span[1], span[2] + t * span[3]
        noise = tol.dual_noise if dt > 0 else tol.null_noise
        noise *= largest / op.norm[p]
        width = abs(s.a[r])
        if upper - lower < np.inf:
            width = upper - lower
        beyond = tol.outside * width if p == s.last.held else 0.0
        for down in range(2):
            level = lower if down else upper
            if abs(level) == np.inf:
                continue
            rate = s.da[r] - dt * (span[3] if down else span[1])
            slack = level - s.a[r]
            if down:
                rate, slack = -rate, -slack
            slack += beyond
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
    n, odometer = op.n, s.clock.odometer
    pace = max(s.direction.pace, 1e-300)
    reach = min(odometer + pace * bound, 0.1 * FAR)
    n_blocks, start = s.block.shape[0], s.search.first
    prepare_looks(op)
    s.search.haze = 4.0 * EPSILON * terms(op, s, True)
    b, left = start, n_blocks
    while True:
        b, left = _next_due(s.block, b, left, reach)
        if left == 0:
            break
        if s.search.tied >= tol.enough and s.search.best > 0.0:
            # A step of length zero will do, whatever the others say; next time they come first.
            # No longer one: somebody who wasn't looked at may be at his kink, too.
            bound = 0.0
            s.search.first = b
            break
        first, last = b * BLOCK, min(n, (b + 1) * BLOCK)
        n_due = 0
        for i in range(first, last):  # no branch: which rows are due can't be foreseen
            s.rows[n_due] = i
            n_due += 1 if s.due[i] <= reach else 0
        for d in range(n_due):
            i = s.rows[d]
            nearest, n_hits, bound = _look(op, st, s, tol, dt, size, i, n_hits, bound)
            if lazy and nearest >= 0.0:
                far = nearest / s.window[i, 5]
                s.due[i] = min(odometer + far, FAR) if far > s.accuracy.reach else -odometer
        reach = min(odometer + pace * bound, 0.1 * FAR)
        s.block[b] = _earliest(s.due, first, last)
        b, left = b + 1, left - 1
    for i in range(n, s.state.shape[0]):
        if s.slot[i] < 0:
            _, n_hits, bound = _look(op, st, s, tol, dt, size, i, n_hits, bound)
    if s.pending.kind == LEFT:
        n_hits, bound = _pending_piece(op, st, s, n_hits, bound, tol)
    return n_hits, bound


@inner
def _next_due(block, b, left, reach):
    """Return the next of ``left`` blocks, from b on and round, with a row that is due, and left."""
    n_blocks = block.shape[0]
    while left > 0:
        last = min(b + left, n_blocks)
        for k in range(b, last):
            if block[k] <= reach:
                return k, left - (k - b)
        left -= last - b
        b = 0
    return b, left


@inner
def _earliest(due, first, last):
    """Return the smallest of due[first:last]; of four at a time, as each minimum waits."""
    block = due[first:last]
    a = b = c = d = FAR
    grouped = block.shape[0] - block.shape[0] % 4
    for i in range(0, grouped, 4):
        a, b = min(a, block[i]), min(b, block[i + 1])
        c, d = min(c, block[i + 2]), min(d, block[i + 3])
    for i in range(grouped, block.shape[0]):
        a = min(a, block[i])
    return min(min(a, b), min(c, d))


@inline
def _look(op, st, s, tol, dt, size, i, n_hits, bound):
    """Compare z_i with the kinks around it; return its distance from the nearest one, and hits."""
    s.counts.looked += 1
    if i == s.last.barred:
        return 0.0, n_hits, bound
    t, window = s.clock.t, s.window[i]
    norm, radius = window[4], window[5]
    haze = s.search.haze * norm if i < op.n else 0.0
    lower, upper = window[0] + t * window[1], window[2] + t * window[3]
    travelled = s.clock.odometer + s.due[i]
    if (
        i < op.n
        and abs(travelled) <= max(s.accuracy.reach, 0.0)
        and (lower == -np.inf or upper == np.inf)
    ):
        # The deadline says that z was found at its kink there, and nothing moved since.
        above, below = (np.inf, 0.0) if upper == np.inf else (0.0, np.inf)
        s.search.tied += 1
        nearest = -1.0
    else:
        z = seen_value(op, i, t, s.Q, size, s.a)
        above, below = upper - z, z - lower
        nearest = max(min(above, below) - haze, 0.0)
    if i < op.n and nearest > bound * s.direction.pace * radius:
        return nearest, n_hits, bound
    noise = s.direction.noise * norm
    dz = seen_velocity(op, i, dt, s.Q, size, s.da)
    for down in range(2):
        slack = below if down else above
        rate = dt * window[1] - dz if down else dz - dt * window[3]
        # Of rows at their kinks only one that moves faster than the others so far is of interest.
        # The first question is almost always answered no, so that processors foresee it.
        least = slack - haze if slack > haze else min(bound, FAR) * max(s.search.best, 0.0) * norm
        if least <= bound * rate and rate > noise and slack < np.inf:
            tie = tie_of(op, st, s, tol, i)
            if i < op.n:
                slack = slack_of(op, s, i, down, size)
                slack = slack if abs(slack) > tie else 0.0
            n_hits, bound = _hit(
                s,
                n_hits,
                bound,
                i + down * s.state.shape[0],
                slack,
                rate,
                tie,
                rate / norm,
            )
    return nearest, n_hits, bound


@lean
def slack_of(op, s, i, down, size):
    """Return how far z_i is from the kink above or below: exactly, so that no other comes first."""
    window, k = s.window[i], 0 if down else 2
    off = distance(op, i, s.clock.t, window[k], window[k + 1], s.Q, s.P, size, s.a, s.lost)
    return off if down else -off


@lean
def _pending_piece(op, st, s, n_hits, bound, tol):
    """Look for the other kink of the piece that a pending leaver crosses."""
    i = s.pending.coordinate
    N = s.state.shape[0]
    t = s.clock.t
    q = s.state[i] // 2
    rate = s.own[s.slot[i]]
    if 0 < q < st.n_kinks[i]:
        # It left one kink exactly and runs towards the other: the distance is the gap, moved on
        # by nothing since the step begins at the kink it left.
        gap = kink_at(st, i, q, t) - kink_at(st, i, q - 1, t)
        index = i if rate > 0 else i + N
        n_hits, bound = _hit(
            s,
            n_hits,
            bound,
            index,
            gap,
            abs(rate),
            tie_of(op, st, s, tol, i),
            abs(rate),
        )
    return n_hits, bound


@inline
def _way_left(s):
    """Return how far t goes on at most."""
    left = s.clock.end - s.clock.t
    return left if left < np.inf else FARTHEST * abs(s.clock.t)


@inline
def _stands(s, tol, left):
    """Tell whether w takes no sample's value further than a tie until the walk's end."""
    tie = min(tol.tie * EPSILON / s.accuracy.unit, s.accuracy.felt)  # in units of norms
    return s.direction.speed * left <= tie


@inline
def _values_move(op, s, tol):
    """Tell whether values on pieces move: an entrant's null vector changes no inner product."""
    if not is_ridge(op):
        return True  # correlations of features may, even where w stands still
    if s.pending.kind == ENTERED:
        return False
    if _stands(s, tol, s.search.left):
        return False
    # No |dz_i| of a sample exceeds norm_i * speed, and what is below norm_i * noise is none.
    noise = s.direction.noise if s.accuracy.drift == 0.0 else 0.0
    return s.pending.kind == LEFT or s.direction.speed > noise


@inline
def patience(s, tol):
    """Return how many steps of length zero are taken by size before ties are broken at random."""
    return max(tol.stall, 4 * s.sizes.pinned)


@inline
def _choose(s, tol, n_hits, bound):
    """Return the candidate to take among those within the bound, or -1."""
    best, chosen = -1.0, -1
    enough = patience(s, tol)
    N = s.state.shape[0]
    for h in range(n_hits):
        if max(s.hit_slack[h], 0.0) / s.hit_rate[h] > bound:  # as the bound was computed
            continue
        if s.counts.zeros < enough:
            weight = s.hit_weight[h]
        elif s.counts.zeros < 10 * enough:
            s.search.random = (s.search.random * 1103515245 + 12345) % 2147483648
            weight = float(s.search.random)
        else:
            weight = float(N - s.hit_index[h] % N)
        if weight > best:
            best, chosen = weight, h
    return chosen


@lean
def ratio_test(op, st, s, tol, dt, size, lazy):
    """Return the candidate that comes first, or -1 when none comes before the walk's end."""
    left = _way_left(s) if dt > 0 else np.inf
    # The largest weight of a candidate at its kink; -1 where the largest is not what is wanted.
    s.search.best = 0.0 if s.counts.zeros < patience(s, tol) else -1.0
    s.search.tied, s.search.left = 0, left
    n_hits, bound = _members(op, st, s, tol, dt, size, left)
    if _values_move(op, s, tol):
        n_hits, bound = _pieces(op, st, s, tol, dt, size, n_hits, bound, lazy)
    return _choose(s, tol, n_hits, bound)


# ---------------------------------------------------------------------------------------------
# Stage 3: move
# ---------------------------------------------------------------------------------------------


@inline
def travel(s, length):
    """Turn the odometer on."""
    s.clock.odometer, s.clock.odometer_low = add_exactly(
        s.clock.odometer, s.clock.odometer_low, length
    )


@inline
def take_step(op, s, dt, size, h):
    """Move everything by h along the direction."""
    if dt > 0:  # as far as t can go
        before = s.clock.t
        s.clock.t += h
        h = s.clock.t - before
    s.accuracy.worn += abs(h) * s.direction.gross
    s.accuracy.slip = s.accuracy.slip + abs(h) * s.direction.noise if dt > 0 else FAR
    travel(s, s.direction.pace * h)
    shift_duals(op, s, size, h)


@inline
def shift_duals(op, s, size, h):
    """Move the pinned duals, and the map's state with them, by h along the direction.

    Both are running sums: were rounding left to each, they would drift apart.
    """
    for r in range(size):
        s.a[r], s.lost[r] = add_exactly(s.a[r], s.lost[r], h * s.da[r])
    if op.n < s.state.shape[0]:
        for r in range(size):
            if s.P[r] >= op.n:
                hold_feature(op, s.P[r], s.a[r], s.lost[r])
    advance(op, h)
