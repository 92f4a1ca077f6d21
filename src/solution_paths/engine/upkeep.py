"""Stages 5 and 6 of a step: what is recorded, and how rounding is kept out of it."""

from __future__ import annotations

import numpy as np

from . import factor
from .compiled import inline, lean
from .events import frame, hold_at_kink
from .operators import DENSE, rebuild, set_direction, value
from .pinned import inspect_inverse, residual, residuals
from .state import (
    BELOW,
    CAME,
    CORRECTED,
    ENTERED,
    ERROR,
    EVENTS,
    FAR,
    FLAT,
    FLOOR,
    HELD,
    KIND,
    LARGEST,
    LAST,
    NODES,
    ODOMETER,
    REACH,
    REBUILT,
    ROUNDING,
    SINCE_CORRECTED,
    SINCE_REBUILD,
    SINCE_REFRESH,
    T_LOST,
    UNIT,
    WEAR,
    WORN,
    ZERO_STEPS,
    ZEROS,
    M,
    T,
    checkpoint_every,
    level_at,
)
from .steps import shift_duals, solve_direction, travel

# ---------------------------------------------------------------------------------------------
# Stage 5: record
# ---------------------------------------------------------------------------------------------


@lean
def snap_to_levels(op, st, s):
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
            if abs(s.a[r] - level_at(st, i, k, t)) <= unit:
                s.a[r] = level_at(st, i, k, t)


@lean
def record(s, log, moved):
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
def log_event(s, log, i, before, moved):
    """Log the new state of coordinate i, and count."""
    e = s.count[EVENTS]
    log.coordinate[e] = i
    log.state[e] = s.state[i]
    s.count[EVENTS] = e + 1
    every = checkpoint_every(s.state.shape[0])
    if (e + 1) % every == 0:
        copy = log.checkpoint[(e + 1) // every]
        for k in range(copy.shape[0]):
            copy[k] = s.state[k]
    s.count[LAST], s.count[CAME], s.count[HELD] = i, before, -1
    for clock in (SINCE_REFRESH, SINCE_REBUILD, SINCE_CORRECTED):
        s.count[clock] += 1
    s.count[ZEROS] = 0 if moved else s.count[ZEROS] + 1
    s.count[ZERO_STEPS] += 0 if moved else 1


# ---------------------------------------------------------------------------------------------
# Stage 6: refresh
# ---------------------------------------------------------------------------------------------


@lean
def correct(op, st, s, tol, accuracy):
    """Make the pinned equations hold, to an accuracy; return the largest relative residual."""
    m = s.count[M]
    s.count[SINCE_CORRECTED] = 0
    worst = residuals(op, st, s, s.v)
    for _ in range(4):
        if worst <= accuracy:
            break
        factor.multiply(s.G, m, s.v, s.da)
        for r in range(m):
            s.da[r] = -s.da[r]
            s.own[r] = -op.sign[s.P[r]] * s.v[r] + st.soft[s.P[r]] * s.da[r]
        pace, _, _ = set_direction(op, 0.0, s.P, m, s.da, s.own, 0.0)
        part = _within_levels(s, tol, worst)
        shift_duals(op, s, m, part)
        travel(s, pace * part)
        before = worst
        if part == 1.0 and before * s.number[ERROR] <= 0.01 * accuracy:
            s.number[CORRECTED] = s.number[ODOMETER]
            return before * s.number[ERROR]  # or the rounding of z itself
        worst = residuals(op, st, s, s.v)
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


@lean
def rebuild_sums(op, st, s):
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
def begin_leg(op, st, s, log, tol):
    """Compute everything that the first step of a leg needs, and record the first node."""
    for i in range(s.state.shape[0]):
        if s.slot[i] < 0:
            frame(st, s, i)
        else:
            hold_at_kink(st, s, i, s.state[i] // 2)
    rebuild_sums(op, st, s)
    s.number[FLOOR] = 0.0
    _weigh(op, s)
    inspect_inverse(op, st, s, tol)
    correct(op, st, s, tol, tol.residual)
    solve_direction(op, st, s, True)
    record(s, log, True)


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
        rebuild_sums(op, st, s)


@lean
def maintain(op, st, s, tol, i):
    """Undo rounding errors before they are recorded; return False when the path is lost."""
    stale = _is_stale(s)
    if stale or s.count[SINCE_REFRESH] >= min(tol.refresh_every, max(1, s.count[M] // 8)):
        return refresh(op, st, s, tol, stale, tol.residual)
    if s.number[WEAR] > tol.worn or op.moving[0] == 0:
        inspect_inverse(op, st, s, tol)
        solve_direction(op, st, s, True)
    correct_now_and_then(op, st, s, tol, i)
    return True


@lean
def correct_now_and_then(op, st, s, tol, i):
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
        due = abs(residual(op, st, s, s.slot[i])) > tol.residual * st.scale[i]
    if due:
        correct(op, st, s, tol, tol.residual)


@lean
def refresh(op, st, s, tol, full, accuracy):
    """Renew what rounding has worn; return False when the path is lost."""
    if full:
        rebuild_sums(op, st, s)
    s.count[SINCE_REFRESH] = 0
    inspect_inverse(op, st, s, tol)
    worst = correct(op, st, s, tol, accuracy)
    solve_direction(op, st, s, True)
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
