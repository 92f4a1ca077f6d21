"""Odometers: bounds of how far known coordinates have moved, so that few need examination.

The value of a known coordinate i, z of a row or R'a - ridge x of a variable, is a linear function
of the unknowns u. By the Cauchy-Schwarz inequality |dz_i| <= length_i |du|, in a norm for each
side: for rows that of the values x of variables in `Map.metric` and, with a Gram matrix K,
sqrt(a'K a) in addition; for variables the norm of the duals a. When i is examined, the distance
r_i of its value from its limits is known, and two bounds of it hold from then on.

**By distance.** ``travel`` is the length of the path of u: r_i falls by at most length_i times its
increase. So i needs no work until ``travel`` comes to `Walk.due`, where r_i may be 0.

**By direction**, for rows of a Gram matrix. Let c_i be the rate at which r_i shrinks when i is
examined, at t0 in direction f_0 = du/dt. In a later direction f_k the rate is at most
c_i + length_i |f_k - f_0|, and |f_k - f_0| <= W_k - W_0 with W the sum of all |f_k - f_(k-1)|
(``turn``): limits move at constant rates while i stays in its place. With V the integral of W over
t (``turned``),

    r_i(t) >= r_i(t0) - c_i (t - t0) - length_i (V(t) - V(t0) - W_0 (t - t0)).

A motion of u at fixed t, along a null vector or by a correction, adds its length to V as well as to
``travel``. When i is due, this bound may postpone it without a product: three of four times in
kernel machines, whose directions hardly change. Where few unknowns move back and forth, as at the
vertices of a polyhedron, it would one time in ten, which doesn't pay.

**Changes of direction.** With a change of places du changes by multiples h of responses p (see
`systems.carry`). A response solves the equations of all coordinates but the one that changes, whose
parts of p'H p have the wrong sign, so its duals have a'K a <= |(H p + D p)_i| if p_i = 1, and
a'K a <= |p_i| if the right-hand side changes by 1: the change is at most |h| times the root of
that, plus errors; the change of x is measured. If rates are solved for without a guess the change
is unknown (``lost``), and all bounds by direction are discarded (``epoch``).

**Rounding.** Sums are rounded upwards. They are reset when a usual step is lost in their rounding;
a bound by direction is lowered by the rounding of its terms, however large they are.
"""

from __future__ import annotations

import numpy as np

from .compiled import inline, lean
from .state import (
    ALWAYS,
    RATE,
    RIDGED,
    ROWS,
    VARIABLES,
    base_of,
    factors,
    right_hand_side,
)
from .tolerances import DOUBLE, LOST_STEP, NOISE, ODOMETER_BLOCK, ROUND_DOWN, ROUND_UP, UPDATED
from .twofold import dot

# columns of `Walk.line`
EPOCH, DISTANCE, SPEED, LOOK_T, TURN, TURNED = range(6)


@lean
def speeds(w, null):
    """Write bounds of |du| for a unit of t or of the null vector; note the direction."""
    now, m, x = w.now, w.map, w.work[6]
    moves, duals = not (null or now.jumping), 0.0
    for k in range(w.movers[ROWS]):
        duals += w.moved[RATE, 0, k] ** 2
    if not null:
        duals += known_dual_speed(w) ** 2
    w.speed[VARIABLES] = np.sqrt(duals) * ROUND_UP
    for j in range(m.p):
        i = m.n + j
        x[j] = w.graph.equation[i, w.place[i], 2] if moves and w.known[i] else 0.0
    for k in range(m.n, m.n + w.movers[VARIABLES]):
        x[w.mover[k]] = w.moved[RATE, 0, k]
    total = squared_norm(m, x)
    if m.with_gram:
        total += gram_speed(w, null, x)
    still = now.eliminates == RIDGED and total <= rounding_speed(w)
    w.speed[ROWS] = 0.0 if still else np.sqrt(total) * ROUND_UP
    for side in range(2 if moves else 0):
        w.speed[side] += m.drift[side]
    if m.with_gram and not null:
        note_direction(w, x)


@lean
def squared_norm(m, x):
    """Return the squared length of variables' values in the metric of rows."""
    total = 0.0
    if m.metric.shape[0] == 1:
        for j in range(m.p):
            total += (m.metric[0, j] * x[j]) ** 2
    else:
        for k in range(m.metric.shape[0]):
            total += dot(m.metric[k], x, m.p) ** 2
    return total


@lean
def note_direction(w, x):
    """Add the change of u's direction to `turn`; x is the direction of variables."""
    now, m, change = w.now, w.map, w.work[7]
    for j in range(m.p):
        change[j], w.direction[j] = x[j] - w.direction[j], x[j]
    if now.lost:
        discard_lines(w)
    else:
        now.turn += np.sqrt(squared_norm(m, change) + now.dual_turn**2) * ROUND_UP
    now.dual_turn, now.lost = 0.0, 0


@inline
def discard_lines(w):
    """Discard all bounds by direction."""
    w.now.epoch += 1
    w.now.turn = w.now.turned = 0.0


@lean
def advance_odometers(w, step):
    """Advance odometers by a step in t along u's direction."""
    now = w.now
    shift_odometers(
        w, abs(step) * w.speed[ROWS], abs(step) * w.speed[VARIABLES], abs(step) * now.turn
    )


@lean
def shift_odometers(w, rows, variables, turned):
    """Add to the odometers of rows and of variables, and to ``turned``."""
    w.travel[ROWS] = (w.travel[ROWS] + rows) * ROUND_UP
    w.travel[VARIABLES] = (w.travel[VARIABLES] + variables) * ROUND_UP
    w.now.turned = (w.now.turned + turned) * ROUND_UP


@lean
def add_correction(w, size):
    """Advance odometers by a correction of all unknowns of at most a size, in their units."""
    rows, variables = reach(w)
    if np.isfinite(size):
        shift_odometers(w, size * rows, size * variables, size * rows)
    else:
        make_due(w, 0, w.map.N)
        discard_lines(w)


@lean
def reach(w):
    """Return the changes of the rows' and variables' odometers if all unknowns move by a unit."""
    now, m, rows, duals = w.now, w.map, 0.0, 0.0
    for a in range(now.solved + now.eliminated):
        i = w.solved[a] if a < now.solved else w.eliminated[a - now.solved]
        rows += m.reach[i]
        if i < m.n:
            duals += m.scale[i] ** 2
    return rows * ROUND_UP, np.sqrt(duals) * ROUND_UP


@lean
def known_dual_speed(w):
    """Return a bound of the rate of the duals of known rows."""
    now, total = w.now, 0.0
    if not now.jumping:
        return w.map.known_dual_speed
    for k in range(now.jumpers):
        i = w.jumper[k]
        if w.known[i]:
            total += w.graph.equation[i, w.place[i], 2] ** 2
    return np.sqrt(total)


@lean
def rounding_speed(w):
    """Return the squared speed of weights at rest that rounding may cause.

    The rate of a weight with a ridge is a sum over rows, which may cancel out.
    """
    m, total = w.map, 0.0
    for k in range(m.n, m.n + w.movers[VARIABLES]):
        j = w.mover[k]
        if m.ridge[j] == 0.0:
            return 0.0
        total += (m.metric[0, j] / m.ridge[j]) ** 2
    return (NOISE * w.terms[RATE, VARIABLES]) ** 2 * total


@lean
def gram_speed(w, null, x):
    """Return an upper bound of a'K a, with a the rates of all duals."""
    now, m = w.now, w.map
    total = size = 0.0
    if not null:
        total, size = w.form[now.jumping], w.form_peak[now.jumping]
    for k in range(w.movers[ROWS]):
        i, a = w.mover[k], w.moved[RATE, 0, k]
        first, second = factors(w, i, w.place[i])
        z = -second * a
        if not null:
            h, _ = right_hand_side(w, i, w.place[i], RATE)
            z += h
        z /= first
        term = a * (z - dot(m.R[i], x, m.p))
        total, size = total + term, size + abs(term)
        if not null:
            h, _ = base_of(w, i, RATE)
            term = a * h
            total, size = total + term, size + abs(term)
    return max(total, 0.0) + UPDATED * size


@lean
def reset_if_imprecise(w):
    """Reset odometers in whose rounding a usual step is lost."""
    now, m = w.now, w.map
    for side in range(2):
        if w.usual[side] < LOST_STEP * w.travel[side]:
            w.travel[side] = 0.0
            make_due(w, side * m.n, m.n if side == ROWS else m.N)
    if w.usual[ROWS] < LOST_STEP * (now.turned + now.turn * abs(now.t)):
        discard_lines(w)


@lean
def make_due(w, first, last):
    """Make all known coordinates of a range due, after a reset of their odometer."""
    for i in range(first, last):
        if w.known[i]:
            w.due[i] = w.block[i // ODOMETER_BLOCK] = ALWAYS


@inline
def usual_length(usual, length):
    """Return the running mean of an odometer's increase per step, steps of 0 left out."""
    return 0.75 * usual + 0.25 * length if length > 0.0 else usual


@lean
def keep_line(w, i, room, closing):
    """Keep the distance of an examined row from its limits, and the rate at which it shrinks."""
    now, line, length = w.now, w.line[i], w.map.length[i]
    line[EPOCH], line[DISTANCE], line[SPEED] = now.epoch, room / length, closing / length
    line[LOOK_T], line[TURN], line[TURNED] = now.t, now.turn, now.turned


@inline
def room_left(w, i, step):
    """Return a lower bound of a row's distance after a step, by its line, over its length."""
    line, now = w.line[i], w.now
    s, turned = now.way * (now.t - line[LOOK_T]) + step, now.turned + step * now.turn
    size = line[DISTANCE] + turned + (abs(line[SPEED]) + line[TURN]) * (s + abs(now.t) + step)
    left = line[DISTANCE] - line[SPEED] * s - ((turned - line[TURNED]) - line[TURN] * s)
    return left - DOUBLE * size


@lean
def postpone(w, i, null, step, ahead):
    """Tell whether the line of a row that is due shows that it needs no look within a step.

    Parameters
    ----------
    step, ahead : float
        Length of the step, and the odometer's increase in it.
    """
    if w.line[i, EPOCH] != w.now.epoch:
        return False
    room = room_left(w, i, 0.0)
    if not (room > 0.0 and (room > ahead or (not null and room_left(w, i, step) > 0.0))):
        return False
    w.due[i] = ROUND_DOWN * (w.travel[ROWS] + room)
    return True
