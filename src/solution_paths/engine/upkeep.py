"""Stages 5 and 6 of a step: what is recorded, and how rounding is kept out of it."""

from __future__ import annotations

import numpy as np

from .compiled import entry, inline, lean
from .events import frame, hold_at_kink
from .operators import (
    DENSE,
    follow_duals,
    is_ridge,
    largest_terms,
    measure_direction,
    rebuild,
    sum_up,
    value,
)
from .pinned import apply_factor, demands, largest, refactor, residuals, terms
from .state import (
    ENTERED,
    FAR,
    checkpoint_every,
    forget_last,
    kink_at,
    level_at,
    width_at,
)
from .steps import shift_duals, slack_of, take_step, travel

EPSILON = np.finfo(np.float64).eps
MIX = -7046029254386353131  # odd, with bits like random ones
ROUNDING = 4.0 * EPSILON  # of a kink, beside what rounding makes of its value

# ---------------------------------------------------------------------------------------------
# Stage 5: record
# ---------------------------------------------------------------------------------------------


@lean
def snap_to_levels(op, st, s):
    """Put pinned duals that are at a level but for rounding there, if no value notices."""
    t = s.clock.t
    for r in range(s.sizes.pinned):
        i = s.P[r]
        first = s.state[i] // 2
        last = min(first + 1, st.n_kinks[i])
        unit = 0.0
        for k in range(first, last + 1):
            unit = max(unit, 4e-16 * max(abs(st.level0[i, k]), abs(t * st.level1[i, k])))
        if unit == np.inf or unit * op.norm[i] * s.accuracy.unit > 0.1 * EPSILON * ROUNDING:
            continue
        for k in range(first, last + 1):
            if abs(s.a[r] - level_at(st, i, k, t)) <= unit:
                s.a[r] = level_at(st, i, k, t)


@entry
def record(s, log, again):
    """Append a node, or write the last one again."""
    size = s.sizes.pinned + (1 if s.pending.kind == ENTERED else 0)
    node = s.sizes.nodes - again
    start = log.start[node]
    log.t[node] = s.clock.t
    log.event[node] = s.sizes.events
    for r in range(size):
        log.P[start + r] = s.P[r]
        log.a[start + r] = s.a[r]
        log.low[start + r] = s.lost[r]
    log.start[node + 1] = start + size
    s.sizes.nodes = node + 1
    s.sizes.duals = start + size


@lean
def log_state(s, log, i, states):
    """Append an event: coordinate i has its state of ``states``, which are those behind it."""
    e = s.sizes.events
    log.coordinate[e] = i
    log.state[e] = states[i]
    s.sizes.events = e + 1
    if (e + 1) % checkpoint_every(states.shape[0]) == 0:
        copy_states(s, log, states)


@lean
def copy_states(s, log, states):
    """Keep all states behind the events so far, whose number is a multiple of the copies'."""
    copy = log.checkpoint[s.sizes.events // checkpoint_every(states.shape[0])]
    for k in range(copy.shape[0]):
        copy[k] = states[k]


@lean
def log_event(s, log, i, before, moved):
    """Log the new state of coordinate i, and count; ``moved``: t has."""
    log_state(s, log, i, s.state)
    s.last.barred = i if i == s.last.held else -1
    s.last.coordinate, s.last.came, s.last.held = i, before, -1
    s.counts.since_rebuild += 1
    s.counts.since_factored += 1
    s.counts.zeros = 0 if moved else s.counts.zeros + 1
    s.counts.zero_steps += 0 if moved else 1
    _watch(s.counts, _mixed(i, before) ^ _mixed(i, s.state[i]), moved)


@inline
def _mixed(i, state):
    """Return a number for coordinate i and its state, as good as random."""
    mixed = (np.int64(i) * 256 + np.int64(state) + 1) * MIX
    return (mixed ^ (mixed >> 29)) * MIX


@inline
def _watch(counts, change, moved):
    """Count how often states come back: each pattern of them is optimal on one stretch of t.

    One is kept to compare with, each time for twice as many events (Brent's search for a cycle).
    """
    counts.pattern ^= change
    counts.since_kept += 1
    counts.gone |= moved
    if counts.pattern == counts.kept:
        counts.returns += counts.gone
        counts.gone = 0
    elif counts.since_kept > counts.span:
        counts.kept, counts.span = counts.pattern, 2 * counts.span + 1
        counts.since_kept = counts.gone = counts.returns = 0


# ---------------------------------------------------------------------------------------------
# Stage 6: refresh
# ---------------------------------------------------------------------------------------------


@lean
def settle(op, st, s, tol, outside, fully):
    """Make the pinned equations hold where the walk stands; return the largest residual, relative.

    Down to what they are worth (`demands`), or until no residual halves any more: then it is the
    rounding of the values themselves. Before that sums are renewed if the rounding of their moves
    may be as large. No dual may go further out of its range than ``outside``, or the residual,
    makes of its width. ``fully``, where a leg begins or ends: there the optimum may be zero.
    """
    m = s.sizes.pinned
    # What half a unit of the last place of w, or of a kernel's terms, makes of values.
    half = 0.5 * terms(op, s, op.kind != DENSE)
    rounding = half * s.accuracy.unit
    asked, fine, felt, stiff = demands(op, s, tol)
    if op.kind != DENSE:
        rounding = min(rounding, 0.5 * EPSILON * largest_terms(op, op.now.w) / st.scale[0])
    else:  # sums of hundreds of terms lose more: to try for less is worth it where the gap feels it
        rounding = max(rounding, min(4.0 * rounding, 16.0 * asked), ROUNDING)
    accuracy = max(asked, rounding, EPSILON)
    if op.kind != DENSE and (fully or s.accuracy.worn * s.accuracy.unit > accuracy):
        sum_up(op, s.clock.t, s.P, m, s.a, s.lost)
        s.accuracy.worn, s.accuracy.slip = 0.0, FAR
    if op.kind == DENSE:
        fine, felt = max(fine, half * EPSILON), max(felt, half * EPSILON)
    s.accuracy.felt = felt / max(stiff, 1.0)
    if not is_ridge(op):
        s.accuracy.felt = min(s.accuracy.felt, max(tol.tie * _size_of_w(op, s), half * EPSILON))
    free = min(accuracy, 16.0 * asked)
    s.accuracy.left = min(fine / max(stiff, 1.0), free * EPSILON / s.accuracy.unit)
    if fully:
        accuracy = 0.0
    elif is_ridge(op) and s.accuracy.slip <= s.accuracy.left:
        return s.accuracy.slip * s.accuracy.unit / EPSILON
    values, balance = residuals(op, st, s, s.v, False)
    worst = max(values, balance)
    s.accuracy.slip = largest(op, s, s.v)
    # In double values are known to the rounding of their terms alone: where w is tiny beside a bias
    # all are the bias.
    known = not fully and half * EPSILON * stiff <= fine
    if known and worst <= accuracy and _is_unfelt(op, st, s, asked, fine, stiff):
        return worst
    # A kernel's terms have their own rounding: only where duals ask for more it pays to be exact.
    exactly = fully or op.kind != DENSE or largest(op, s, s.v) > fine
    if exactly:
        values, balance = residuals(op, st, s, s.v, True)
        worst = max(values, balance)
    _keep_direction(op, s)
    better, least, least_balance = True, values, balance
    while better and (worst > accuracy or not _is_unfelt(op, st, s, asked, fine, stiff)):
        apply_factor(op, s, s.v, s.da)
        for r in range(m):
            s.da[r] = -s.da[r]
            s.own[r] = -op.sign[s.P[r]] * s.v[r] + st.soft[s.P[r]] * s.da[r]
        way = _within_levels(s, outside, worst)
        _shift(op, s, way)
        values, balance = residuals(op, st, s, s.v, exactly)
        s.accuracy.slip = largest(op, s, s.v)
        # Where columns are far below 1 values come first: that rounds more than the balance is off.
        better = values < 0.5 * least or balance < 0.5 * least_balance
        least, least_balance = min(least, values), min(least_balance, balance)
        last, worst = worst, max(values, balance)
        if worst > last and not better:
            _shift(op, s, -way)
            worst, s.accuracy.slip = last, FAR
        if way < 1.0:
            break
    _restore_direction(op, s)
    return worst


@lean
def _size_of_w(op, s):
    """Return what w, without what is free, makes of values, in units of their norms."""
    total = 0.0
    for r in range(s.sizes.pinned):
        k = s.P[r] - op.n
        if k >= 0 and (s.span[r, 0] < np.inf or s.span[r, 2] > -np.inf):
            total += (op.now.w[k] / op.weight[k]) ** 2
    return np.sqrt(total)


@lean
def _is_unfelt(op, st, s, asked, fine, stiff):
    """Tell whether the residuals in s.v are worth nothing to duals, see `demands`.

    Without a ridge those of features, sums of duals in two parts, are known far better than values
    are; where all duals are small the gap asks for it.
    """
    if not _is_balanced(op, s):
        return False
    if is_ridge(op):
        return largest(op, s, s.v) <= fine
    for r in range(s.sizes.pinned):
        p, off = s.P[r], abs(s.v[r])
        if off * (stiff if p < op.n else 1.0) > fine * op.norm[p]:
            return False
        border = s.span[r, 0] == np.inf and s.span[r, 2] == -np.inf
        if p >= op.n and not border and off > asked * st.scale[p]:
            return False
    return True


@lean
def _is_balanced(op, s):
    """Tell whether borders' equations, sums of duals, hold but for their rounding.

    They can, however large values' own rounding is; centred rows and kernels don't feel it.
    """
    total = worst = 0.0
    for r in range(s.sizes.pinned):
        if s.P[r] < op.n:
            total += abs(s.a[r])
        elif s.span[r, 0] == np.inf:
            worst = max(worst, abs(s.v[r]))
    return worst <= ROUNDING * total


@entry
def hold(op, st, s, tol):
    """Make the pinned equations hold, at any price if need be; return False when lost."""
    if settle(op, st, s, tol, tol.outside, False) <= tol.lost:
        return True
    refactor(op, st, s, tol)
    return settle(op, st, s, tol, np.inf, False) <= tol.lost and _farthest(s) <= tol.lost


@inline
def _past_levels(s, r, dual, t):
    """Return how far a dual in slot r would be beyond its levels at t, negative within."""
    span = s.span[r]
    return max(dual - span[0] - t * span[1], span[2] + t * span[3] - dual)


@lean
def _farthest(s):
    """Return how far pinned duals are out of their ranges, relative to the widest of these."""
    farthest, widest, t = 0.0, 1e-300, s.clock.t
    for r in range(s.sizes.pinned):
        width = width_at(s, r, t)
        if width < np.inf:
            widest = max(widest, width)
            farthest = max(farthest, _past_levels(s, r, s.a[r], t))
    return farthest / widest


@inline
def _keep_direction(op, s):
    """Put the direction aside, whose arrays a correction uses."""
    for r in range(s.sizes.pinned):
        s.kept[0, r], s.kept[1, r] = s.da[r], s.own[r]
    for k in range(op.now.dc.shape[0]):
        op.now.kept[0, k], op.now.kept[1, k] = op.now.dc[k], op.now.dw[k]


@inline
def _restore_direction(op, s):
    """Take up the direction again."""
    for r in range(s.sizes.pinned):
        s.da[r], s.own[r] = s.kept[0, r], s.kept[1, r]
    for k in range(op.now.dc.shape[0]):
        op.now.dc[k], op.now.dw[k] = op.now.kept[0, k], op.now.kept[1, k]


@lean
def _within_levels(s, outside, worst):
    """Return the part of a correction to take, given the largest residual that it is to mend.

    Where the pinned system is ill-conditioned, the rounding of a value can be worth more to a dual
    than the dual has. Then it goes as far out of its range, relatively, as the value stays off.
    """
    way, t, widest = 1.0, s.clock.t, 0.0
    for r in range(s.sizes.pinned):
        width = width_at(s, r, t)
        widest = max(widest, width if width < np.inf else 0.0)
    for r in range(s.sizes.pinned):
        span, step, width = s.span[r], s.da[r], width_at(s, r, t)
        if width > 0.0 and width < np.inf and step != 0.0:
            level = span[0] + t * span[1] if step > 0.0 else span[2] + t * span[3]
            room = max((level - s.a[r]) / step, 0.0)
            way = min(way, room + max(worst * widest, outside * width) / abs(step))
    return way


@lean
def _shift(op, s, way):
    """Move the duals by s.da at fixed t, or back."""
    m = s.sizes.pinned
    if op.kind != DENSE:
        follow_duals(op, 0.0, s.P, m, s.da)
    pace, speed, _, _ = measure_direction(op, 0.0, s.P, m, s.da, s.own, 0.0)
    shift_duals(op, s, m, way)
    if speed > EPSILON * terms(op, s, True):  # else w stays where it is but for its rounding
        travel(s, pace)


@lean
def approach(op, st, s, tol, size, i, down, h, rate, began):
    """Put coordinate i where its event is, now that the pinned equations hold there.

    It is off by the rounding of the step, which an ill-conditioned system would turn into duals far
    out of their range. Return False where it is too far off for that: then this is no event yet.
    """
    t, enters = s.clock.t, s.state[i] % 2 == 0
    if enters:
        slack = slack_of(op, s, i, down, size)
    else:
        span, dual = s.span[s.slot[i]], s.a[s.slot[i]]
        slack = dual - span[2] - t * span[3] if down else span[0] + t * span[1] - dual
    step, left = slack / rate, abs(slack)
    near = abs(step) <= 0.5 * h and t + step <= s.clock.end and _is_inside(s, tol, step, i)
    if near and (left <= 1e-6 * st.scale[i] or not enters):
        take_step(op, s, 1.0, size, step)
        rest = slack - (s.clock.t - t) * rate
        left = abs(rest)
        width = FAR if enters else width_at(s, s.slot[i], s.clock.t)
        # A coefficient may be out by a hundredth of what t's last digit is worth to it.
        out = tol.outside * width if width < np.inf else 0.01 * EPSILON * abs(s.clock.t) * rate
        if -rest > out and s.clock.t > began:
            # Its level lies between two doubles of t: the node is the one before.
            take_step(op, s, 1.0, size, np.nextafter(s.clock.t, -np.inf) - s.clock.t)
    if enters:
        s.accuracy.slip = max(s.accuracy.slip, left / op.norm[i])
        if left > tol.tie * st.scale[i]:  # where values move fast t has not digits enough
            s.last.unsure = 1
    return near or slack <= 0.0


@lean
def _is_inside(s, tol, step, i):
    """Tell whether a step leaves the pinned duals in their ranges, but for coordinate i's."""
    t = s.clock.t + step
    for r in range(s.sizes.pinned):
        width = width_at(s, r, t)
        if width == np.inf or s.P[r] == i:
            continue
        if _past_levels(s, r, s.a[r] + step * s.da[r], t) > tol.outside * width:
            return False
    return True


@entry
def rebuild_sums(op, st, s):
    """Compute the map's state afresh from the duals."""
    duals0, duals1 = s.hit_slack, s.hit_rate  # no candidates are kept between events
    for i in range(s.state.shape[0]):
        q = s.state[i] // 2
        duals0[i] = st.level0[i, q] if s.slot[i] < 0 else 0.0
        duals1[i] = st.level1[i, q] if s.slot[i] < 0 else 0.0
    rebuild(op, s.clock.t, duals0, duals1)
    if op.kind != DENSE:
        sum_up(op, s.clock.t, s.P, s.sizes.pinned, s.a, s.lost)
    for i in range(op.n):
        s.due[i] = FAR if s.slot[i] >= 0 else -FAR
    s.block[:] = -FAR
    s.clock.odometer = s.clock.odometer_low = s.accuracy.worn = 0.0
    s.accuracy.slip, s.direction.carried = FAR, 0
    s.counts.since_rebuild = 0
    s.counts.rebuilt += 1


@lean
def _measure(op, st, s, tol):
    """Set what residuals are relative to, and bounds on velocities, for a leg that begins here.

    Residuals are relative to the largest kink of the samples or of the features, or to what the
    correlation of a feature with duals at their levels is like; the balance of a bias, which has
    infinite levels, to the largest dual.
    """
    N, n, t = s.state.shape[0], op.n, s.clock.t
    drift, balances = s.hit_rate, s.hit_index  # no candidates are kept between legs
    samples = features = duals = widest = 0.0
    least, most = np.inf, -np.inf
    for i in range(N):
        drift[i] = 0.0
        balances[i] = i >= n and np.isinf(st.level0[i, 0]) and np.isinf(st.level0[i, 1])
        for q in range(st.n_kinks[i]):
            kink = kink_at(st, i, q, t)
            if i < n:
                samples = max(samples, abs(kink))
                least, most = min(least, kink), max(most, kink)
            elif not balances[i]:
                features = max(features, abs(kink))
            drift[i] = max(drift[i], abs(st.kink1[i, q]))
        for q in range(st.n_kinks[i] + 1):
            if np.isinf(st.level0[i, q]):
                continue
            if i < n:
                duals = max(duals, abs(st.level0[i, q]) + abs(st.level1[i, q]))
                widest = max(widest, abs(level_at(st, i, q, t)))
            shift = st.soft[i] * st.level1[i, q]
            for k in range(max(q - 1, 0), min(q + 1, st.n_kinks[i])):
                drift[i] = max(drift[i], abs(st.kink1[i, k] + shift))
    for i in range(n, N):
        if not balances[i]:  # a feature's norm is like the root mean square of its column
            features = max(features, widest * op.still[0, i] * np.sqrt(n))
    norm = radius = s.accuracy.drift = 0.0
    for i in range(N):
        size = samples if i < n else (duals if balances[i] else features)
        st.scale[i] = size if size > 0.0 else 1.0
        op.norm[i] = max(np.hypot(op.still[0, i], drift[i]), 1e-300)
        op.radius[i] = max(np.hypot(op.still[1, i], drift[i]), 1e-300)
        s.window[i, 4], s.window[i, 5] = op.norm[i], op.radius[i]
        if drift[i] != 0.0:
            s.accuracy.drift = 1.0
        if i < n:
            norm, radius = max(norm, op.norm[i]), max(radius, op.radius[i])
    scale = st.scale[0]
    # What rounding makes of a value that is summed up from products of unit size.
    s.accuracy.unit = EPSILON * norm / scale
    s.accuracy.spread = (0.5 * (most - least) if most >= least else 1.0) / scale
    # The length that w may travel before a sample's value moves by more than 'tie'.
    s.accuracy.reach = tol.tie * scale / radius if n == N else -1.0


@lean
def begin_leg(op, st, s, log, tol, t, afresh):
    """Compute everything that the first step of a leg from t needs, and record the first node.

    ``afresh``: the factor too; otherwise it is carried on.
    """
    s.clock.t = t
    forget_last(s)
    _measure(op, st, s, tol)
    if afresh:
        refactor(op, st, s, tol)
    copy_states(s, log, s.state)
    s.lost[:] = 0.0
    for i in range(s.state.shape[0]):
        if s.slot[i] < 0:
            frame(st, s, i)
        else:
            hold_at_kink(st, s, i, s.state[i] // 2)
    rebuild_sums(op, st, s)
    settle(op, st, s, tol, tol.outside, True)
    record(s, log, 0)


@lean
def maintain(op, st, s, tol):
    """Renew what rounding has worn, and look at everything; return False when the path is lost."""
    if s.accuracy.contraction > tol.fresh and s.counts.since_factored > s.sizes.pinned:
        refactor(op, st, s, tol)
    if s.counts.since_rebuild < max(512, s.state.shape[0]):
        return True
    rebuild_sums(op, st, s)
    return hold(op, st, s, tol) and _violation(op, st, s) <= tol.lost


@lean
def _violation(op, st, s):
    """Return the largest relative violation of a kink by a value on a piece."""
    worst = 0.0
    t = s.clock.t
    for i in range(s.state.shape[0]):
        if s.slot[i] >= 0:
            continue
        z, window = value(op, i, t, s.Q, s.sizes.pinned, s.a), s.window[i]
        outside = max(z - window[2] - t * window[3], window[0] + t * window[1] - z)
        worst = max(worst, outside / st.scale[i])
    return worst
