"""The ratio test: which coordinate is the first to leave its place.

A coordinate's value is the dual a at a knot and z on a segment; it leaves where its value meets a
limit. Unknown coordinates are examined in twofold precision. Known ones are examined only if an
odometer allows that they have come to a limit since the last time (lazy evaluation): first in
double precision with bounds, then in twofold precision if they may be first by these.
"""

from __future__ import annotations

import numpy as np

from .compiled import inline, lean
from .odometers import keep_line, postpone, reset_if_imprecise, speeds, usual_length
from .rows import sparse_part, sparse_part_twofold
from .state import (
    RATE,
    ROWS,
    VALUE,
    VARIABLES,
    WALL_MARK,
    base_in_double,
    base_of,
    base_terms,
    clock,
    is_variable,
    known_bound,
    number,
    right_hand_side,
    side_of,
)
from .systems.inverse import entry_of
from .tolerances import (
    DOUBLE,
    FIRST_LOOK,
    FLOOR,
    LOOK_GROWTH,
    NEGLIGIBLE,
    NOISE,
    ODOMETER_BLOCK,
    REFINED,
    ROUND_DOWN,
    ROUND_UP,
    SINGULAR,
)
from .twofold import (
    absolute_dot,
    accumulate,
    add,
    divide,
    dot,
    dot2,
    gathered_dot,
    gathered_dot2,
    least,
)

# rows of `Walk.ratio`
(
    DISTANCE,
    DISTANCE_LOW,
    SPEED,
    SPEED_LOW,
    WEIGHT,
    STEP_BOUND,
    STEP_ERROR,
    EARLIEST_STEP,
    SPEED_BOUND,
) = range(9)


@lean
def first_exit(w, null, left, left_low):
    """Find the first coordinate that reaches a limit of its place.

    Writes to ``now``: ``blocking`` (-1: none before the end), ``side`` (0 lower, 1 upper), and the
    step in two parts.

    Parameters
    ----------
    null : bool
        Whether rates are a null vector, along which t stands still.
    left, left_low : float
        Distance to the end of the walk.
    """
    now = w.now
    now.candidates, now.leaving, now.touching = 0, 0.0, 0
    collect(w, null)
    speeds(w, null)
    bound = left
    for u in range(now.unknowns):
        bound = examine_unknown(w, w.unknown[u], null, bound)
    bound = examine_known(w, null, bound)
    choose(w, bound, left, left_low)


@lean
def collect(w, null):
    """List the unknown coordinates, and those of each side that enter others' values."""
    now, m = w.now, w.map
    list_unknowns(w)
    now.inexact = 0
    now.value = now.held = now.width = now.width_rate = 0.0
    error = w.response_error[0] if null else w.error[RATE]
    w.peak[VALUE] = largest_unknown(w, VALUE, known_bound(w, VALUE))
    w.peak[RATE] = largest_unknown(w, RATE, 0.0 if null else known_bound(w, RATE))
    largest, fastest = w.peak[VALUE], w.peak[RATE]
    if now.carried > 1 and not null:
        exact = w.error[VALUE] <= NEGLIGIBLE * largest and error <= NEGLIGIBLE * fastest
        now.inexact = 0 if exact else 1
    w.movers[ROWS] = w.movers[VARIABLES] = 0
    for u in range(now.unknowns):
        i = w.unknown[u]
        for order in range(2):
            largest_of_order, error_of_order = (
                (largest, w.error[VALUE]) if order == VALUE else (fastest, error)
            )
            w.size[order, i] = max(abs(w.u[order, 0, i]), FLOOR * largest_of_order * m.scale[i])
            w.unknown_error[order, i] = max(NOISE * w.size[order, i], error_of_order * m.scale[i])
        noise = w.unknown_error[RATE, i]
        if null:  # exchange of a slower coordinate would leave a singular system
            noise = max(noise, (SINGULAR + now.null_curvature) * fastest * m.scale[i])
            w.unknown_error[RATE, i] = noise
        rate = abs(w.u[RATE, 0, i])
        if not now.inexact and rate <= noise:  # it stands still
            now.dual_turn += m.reach[i] * rate / m.scale[i] if m.with_gram else 0.0
            w.u[RATE, 0, i] = w.u[RATE, 1, i] = 0.0
        side = side_of(w, i)
        if side == ROWS and i >= m.n:
            continue
        if side == ROWS:
            bound_values(w, i)
        first = side * m.n
        k = first + w.movers[side]
        w.mover[k] = i - first
        w.movers[side] += 1
        for order in range(2):
            w.moved[order, 0, k], w.moved[order, 1, k] = w.u[order, 0, i], w.u[order, 1, i]
            w.moved[order, 2, k] = w.size[order, i]
    spread(w)


@lean
def list_unknowns(w):
    """List the unknown coordinates: those of the system, and a pending one."""
    now, count = w.now, w.now.solved + w.now.eliminated
    now.unknowns = 0
    for a in range(count + 1):
        if a < now.solved:
            i = w.solved[a]
        else:
            i = w.eliminated[a - now.solved] if a < count else now.pending
        if i >= 0 and not w.known[i] and (a == count or i != now.pending):
            w.unknown[now.unknowns] = i
            now.unknowns += 1


@lean
def largest_unknown(w, order, bound):
    """Return the larger of a bound and the largest unknown or rate, in its unit."""
    for u in range(w.now.unknowns):
        i = w.unknown[u]
        bound = max(bound, abs(w.u[order, 0, i]) / w.map.scale[i])
    return bound


@lean
def bound_values(w, i):
    """Update the bounds of |value| and slope that convert errors of a row's value to objective."""
    now, limits, row = w.now, w.limit[i], w.graph.equation[i, w.place[i]]
    t, _, flow = clock(w, i)
    now.value = max(now.value, abs(row[0] + t * row[2]))
    if w.place[i] % 2 == 1:
        now.held += abs(w.u[VALUE, 0, i])
        steepest = rate = 0.0
        for side in range(0, 4, 2):
            if np.isfinite(limits[side]):
                steepest = max(steepest, abs(limits[side] + t * limits[side + 1]))
                rate = max(rate, flow * abs(limits[side + 1]))
        now.width, now.width_rate = now.width + steepest, now.width_rate + rate


@inline
def is_filled(w, side):
    """Tell whether most coordinates of a side are unknown: then `Walk.dense` has all of them."""
    return 2 * w.movers[side] > (w.map.p if side == VARIABLES else w.map.n)


@lean
def spread(w):
    """Fill the vectors that `examine` takes inner products with, and bounds for a whole side.

    Vectors of all coordinates of a side have zeros for known ones; if few are unknown, entries are
    gathered instead. Sums of terms bound those of any known coordinate's value.
    """
    now, m = w.now, w.map
    for side in range(2):  # side of the unknowns, which enter values of the other side
        first, count, to = side * m.n, w.movers[side], 1 - side
        value_sum = rate_sum = 0.0
        for k in range(first, first + count):
            i = first + w.mover[k]
            value_sum += (m.largest[i] * m.scale[i]) ** 2
            rate_sum += (m.largest[i] * w.unknown_error[RATE, i]) ** 2
        w.sensitivity[to], w.propagated[RATE, to] = value_sum, rate_sum
        size = m.p if side == VARIABLES else m.n
        for order in range(2):
            terms, sizes = 0.0, w.moved[order, 2]
            for k in range(first, first + count):
                terms += m.largest[first + w.mover[k]] * sizes[k]
            w.terms[order, to] = terms
            for part in range(3 if is_filled(w, side) else 0):
                x, some = w.dense[2 * side + order, part], w.moved[order, part]
                x[:size] = 0.0
                for k in range(first, first + count):
                    x[w.mover[k]] = some[k]
    last = m.N - 1
    for order in range(2):
        if m.weights and not w.known[last]:
            w.terms[order, VARIABLES] += m.largest[last] * w.size[order, last]
        if m.with_gram:  # duals of rows enter values of rows, too
            w.terms[order, ROWS] += w.terms[order, VARIABLES]
    if m.with_gram:
        w.sensitivity[ROWS] += w.sensitivity[VARIABLES]
        w.propagated[RATE, ROWS] += w.propagated[RATE, VARIABLES]
        for a in range(now.solved):
            i = w.solved[a]
            for order in range(2):
                w.packed_u[order, a] = 0.0 if w.known[i] else w.u[order, 0, i]
    for side in range(2):
        w.sensitivity[side] = np.sqrt(w.sensitivity[side])
        w.propagated[VALUE, side] = w.sensitivity[side] * w.error[VALUE]
        w.propagated[RATE, side] = np.sqrt(w.propagated[RATE, side])


@lean
def examine_unknown(w, i, null, bound):
    """Add the limits of an unknown coordinate to the candidates; return the new bound."""
    if w.limit[i, 0] == -np.inf and w.limit[i, 2] == np.inf:
        return bound
    x, xe, error = limited(w, i, VALUE, False)
    dx, dxe, noise = limited(w, i, RATE, null)
    for side in range(2):
        bound = add_candidate(w, i, side, null, x, xe, error, dx, dxe, noise, bound)
    return bound


@inline
def limited(w, i, order, still):
    """Return the limited number of an unknown coordinate, in two parts, and its error.

    ``still``: numbers of graphs don't move.
    """
    x, e, error = w.u[order, 0, i], w.u[order, 1, i], w.unknown_error[order, i]
    place = w.place[i]
    if is_variable(w, i) or place % 2 == 1:
        return x, e, error
    q = w.graph.curvature[i, place]  # its z, from q z + a = right-hand side
    h, f = (0.0, 0.0) if still else right_hand_side(w, i, place, order)
    error = (error + NOISE * abs(h)) / q
    h, f = add(h, f, -x, -e)
    h, f = divide(h, f, q, 0.0)
    return h, f, error


@lean
def add_candidate(w, i, side, null, x, xe, error, dx, dxe, noise, bound):
    """Add coordinate i and a limit to the candidates if it approaches it; return the new bound."""
    now, m = w.now, w.map
    outward = 2.0 * side - 1.0
    row = w.graph.upper[i, w.place[i]] if side == 1 else w.graph.lower[i, w.place[i]]
    if not np.isfinite(row[0]) or (w.stays[i] == side + 1 and not null):
        return bound
    limit, limit_e = number(w, i, row, VALUE)
    way = 1.0 if null else now.way
    drift, drift_e = 0.0, 0.0
    if not null:
        drift, drift_e = number(w, i, row, RATE)
        drift, drift_e = way * drift, way * drift_e
    noise, error = noise + REFINED * abs(drift), error + REFINED * abs(limit)
    at_knot, last = w.place[i] % 2 == 1, m.N - 1
    if at_knot and is_widened(w, i):
        h, e = -outward * w.u[VALUE, 0, last], -outward * w.u[VALUE, 1, last]
        limit, limit_e = add(limit, limit_e, h, e)
        h, e = -outward * way * w.u[RATE, 0, last], -outward * way * w.u[RATE, 1, last]
        drift, drift_e = add(drift, drift_e, h, e)
        noise += w.unknown_error[RATE, last]
        error += w.unknown_error[VALUE, last]
    h, e = add(way * dx, way * dxe, -drift, -drift_e)
    h, e = outward * h, outward * e
    if h <= (-noise if now.inexact else noise):
        return bound
    r, f = add(limit, limit_e, -x, -xe)
    r, f = outward * r, outward * f
    c = now.candidates
    if now.inexact:
        w.ratio[EARLIEST_STEP, c] = max(r - error, 0.0) / (h + noise)
        if w.ratio[EARLIEST_STEP, c] > bound:
            return bound
    elif r <= error:
        r, f = 0.0, 0.0
    w.candidate[c] = 2 * i + side
    w.ratio[DISTANCE, c], w.ratio[DISTANCE_LOW, c] = r, f
    w.ratio[SPEED, c], w.ratio[SPEED_LOW, c] = h, e
    w.ratio[WEIGHT, c] = m.scale[i] if at_knot == is_variable(w, i) else 1.0 / m.scale[i]
    now.candidates = c + 1
    if now.inexact:
        return min(bound, max(r + error, 0.0) / (h - noise)) if h > noise else bound
    w.ratio[STEP_ERROR, c] = error / h
    if r == 0.0:
        now.leaving = max(now.leaving, h * w.ratio[WEIGHT, c])
    return min(bound, (r + error) / h)


@lean
def examine_known(w, null, bound):
    """Examine the known coordinates that may have come to a limit; return the new bound.

    The nearest ones come first, since they reduce the bound: those due within a few usual steps of
    the odometers, then within more.
    """
    now, m = w.now, w.map
    now.look_number += 1
    reset_if_imprecise(w)
    kept, factor = 0, FIRST_LOOK
    while True:
        again = False
        for side in range(2):
            first, last = (0, m.n) if side == ROWS else (m.n, m.N)
            travel, speed, usual = w.travel[side], w.speed[side], w.usual[side]
            still = speed == 0.0 and m.weights == 0
            if still and (now.jumping or not now.walled):
                continue  # the side stands still: only rows beside walls are looked at, if any
            near = factor * usual if usual > 0.0 else np.inf
            ahead = min(speed * bound, near) if speed > 0.0 else 0.0
            step = ahead / speed if speed > 0.0 else 0.0
            for b in range(first // ODOMETER_BLOCK, -(-last // ODOMETER_BLOCK)):
                if w.block[b] > travel + ahead:
                    continue
                for i in range(max(first, ODOMETER_BLOCK * b), min(last, ODOMETER_BLOCK * (b + 1))):
                    if (
                        w.due[i] > travel + ahead
                        or not w.known[i]
                        or w.looked_at[i] == now.look_number
                        or (still and not is_beside_wall(w, i))
                    ):
                        continue
                    if i < len(w.line) and postpone(w, i, null, step, ahead):
                        continue
                    w.looked_at[i] = now.look_number
                    now.looks += 1
                    soonest, latest, fastest = examine(w, i, null, bound)
                    if latest < bound:
                        bound = latest
                        ahead = min(ahead, speed * bound)
                        step = ahead / speed if speed > 0.0 else 0.0
                    if soonest <= bound:
                        w.looked[kept] = i
                        w.ratio[STEP_BOUND, kept] = soonest
                        w.ratio[SPEED_BOUND, kept] = fastest * m.scale[i]
                        kept += 1
                w.block[b] = least(w.due, ODOMETER_BLOCK * b, min(m.N, ODOMETER_BLOCK * (b + 1)))
            again = again or (speed > 0.0 and near < speed * bound)
        if not again:
            break
        factor *= LOOK_GROWTH
    bound = examine_kept(w, kept, null, bound)
    for side in range(2 if bound < np.inf else 0):
        w.usual[side] = usual_length(w.usual[side], w.speed[side] * bound)
    return bound


@lean
def examine_kept(w, kept, null, bound):
    """Examine coordinates that may be first in twofold precision; return the new bound.

    Among coordinates at a limit now the fastest one is chosen, so slower ones are left out.
    """
    now, first = w.now, -1
    by_speed = not now.inexact and not now.by_index
    for c in range(kept if by_speed else 0):
        faster = first < 0 or w.ratio[SPEED_BOUND, c] > w.ratio[SPEED_BOUND, first]
        if w.ratio[STEP_BOUND, c] == 0.0 and faster:
            first = c
    if first >= 0:
        bound = examine_twofold(w, w.looked[first], null, bound)
    for c in range(kept):
        if c == first or w.ratio[STEP_BOUND, c] > bound:
            continue
        if by_speed and w.ratio[SPEED_BOUND, c] < now.leaving:
            continue
        bound = examine_twofold(w, w.looked[c], null, bound)
    return bound


@inline
def across(w, i):
    """Return a coordinate's row (or column) of R; side, first index and size of its factor."""
    m = w.map
    if is_variable(w, i):
        return m.columns[i - m.n], ROWS, 0, m.n
    return (m.R[i] if i < m.n else w.sign), VARIABLES, m.n, m.p


@lean
def unknown_part(w, i, order):
    """Return the unknowns' part of a known coordinate's value, or rate, in double precision."""
    now, m, k = w.now, w.map, w.now.pending
    if m.with_gram and i < m.n:
        x = dot(w.packed[i], w.packed_u[order], now.solved)
        if k >= 0 and w.slot[k] < 0 and not w.known[k]:
            x += entry_of(w, i, k) * w.u[order, 0, k]
        return x
    if m.sparse and i < m.n + m.p:
        x = sparse_part(w, i, order)
    else:
        row, side, first, size = across(w, i)
        if is_filled(w, side):
            x = dot(row, w.dense[2 * side + order, 0], size)
        else:
            x = gathered_dot(row, w.mover, w.moved[order, 0], first, w.movers[side])
    if is_variable(w, i) and m.weights and not w.known[m.N - 1]:
        x += w.sign[i - m.n] * w.u[order, 0, m.N - 1]
    return x


@lean
def examine(w, i, null, bound):
    """Examine a known coordinate in double precision.

    Returns
    -------
    soonest, latest : float
        Bounds of the step to its first limit; both infinite if that is beyond ``bound``.
    speed : float
        Bound of its speed towards a limit.
    """
    m, side_of_value, far = w.map, side_of(w, i), False
    x = base_in_double(w, i, VALUE) + unknown_part(w, i, VALUE)
    x = -x if side_of_value == VARIABLES else x
    terms = base_terms(w, i, VALUE) + w.terms[VALUE, side_of_value]
    lazily = m.length[i] > 0.0 and not w.jumps[i]
    by_line = lazily and not null and i < len(w.line)
    nearest = np.inf
    if lazily:
        for side in range(2):
            room, error = room_to(w, i, side, x, terms)
            nearest = min(nearest, room - error)
        nearest = max(nearest, 0.0)
        w.due[i] = ROUND_DOWN * (w.travel[side_of_value] + nearest / m.length[i])
        still = w.speed[side_of_value] == 0.0 and nearest > 0.0
        far = still or w.due[i] > w.travel[side_of_value] + w.speed[side_of_value] * bound
    if far and not by_line:
        return np.inf, np.inf, 0.0
    soonest, latest, fastest = exits(w, i, null, x, terms)
    if by_line:
        keep_line(w, i, nearest, fastest)
    return (np.inf, np.inf, 0.0) if far else (soonest, latest, fastest)


@inline
def is_widened(w, i):
    """Tell whether the l1 constraint's multiplier is unknown and widens a weight's limits."""
    m = w.map
    return m.n <= i < m.n + m.weights and not w.known[m.N - 1]


@inline
def room_to(w, i, side, x, terms):
    """Return the distance between a value in double precision and a limit, and its error."""
    value, rate = w.limit[i, 2 * side], w.limit[i, 2 * side + 1]
    if not np.isfinite(value):
        return np.inf, 0.0
    t, _, _ = clock(w, i)
    room = (2.0 * side - 1.0) * ((value + rate * t) - x)
    error = DOUBLE * (terms + abs(value) + abs(rate * t)) + w.propagated[VALUE, side_of(w, i)]
    if is_widened(w, i):
        room -= w.u[VALUE, 0, w.map.N - 1]
        error += DOUBLE * w.size[VALUE, w.map.N - 1]
    return room, error


@lean
def exits(w, i, null, x, terms):
    """Return bounds of the step at which a value x in double precision meets a limit.

    The third number is a bound of its speed towards a limit.
    """
    now, side_of_value, last = w.now, side_of(w, i), w.map.N - 1
    _, _, flow = clock(w, i)
    dx, way = unknown_part(w, i, RATE), (1.0 if null else now.way)
    dterms = w.terms[RATE, side_of_value]
    if not null:
        dx, dterms = dx + base_in_double(w, i, RATE), dterms + base_terms(w, i, RATE)
    dx = -dx if side_of_value == VARIABLES else dx
    soonest, latest, speed = np.inf, np.inf, -np.inf
    for side in range(2):
        room, error = room_to(w, i, side, x, terms)
        if room == np.inf or (w.stays[i] == side + 1 and not null):
            continue
        drift = 0.0 if null else way * flow * w.limit[i, 2 * side + 1]
        noise = DOUBLE * (dterms + abs(drift)) + w.propagated[RATE, side_of_value]
        if null:
            noise = max(noise, SINGULAR * dterms, standstill(w, i))
        closing = (2.0 * side - 1.0) * (way * dx - drift)
        if is_widened(w, i):
            closing += way * w.u[RATE, 0, last]
            noise += DOUBLE * w.size[RATE, last]
        if closing > noise:
            latest = min(latest, (max(room, 0.0) + error) / (closing - noise))
        if closing > -noise:
            soonest = min(soonest, max(room - error, 0.0) / (closing + noise))
            if closing <= noise and room <= error and not null:
                now.touching |= int(is_wall(w, i, w.place[i] + 2 * side - 1))
        speed = max(speed, closing + noise)
    return soonest, latest, speed


@inline
def is_wall(w, i, place):
    """Tell whether a row's place is a knot at which the walk stops; in a jump it doesn't."""
    return not w.now.jumping and w.graph.hollow[i, place] == WALL_MARK


@inline
def is_beside_wall(w, i):
    """Tell whether a row's segment ends at a wall."""
    place, last = w.place[i], w.graph.hollow.shape[1] - 1
    below = place > 0 and is_wall(w, i, place - 1)
    return below or (place < last and is_wall(w, i, place + 1))


@lean
def add_unknown(w, row, side, order, x, xe, terms):
    """Add a row times the unknowns of a side to a sum in twofold precision, and to its terms."""
    first, count = side * w.map.n, w.movers[side]
    if is_filled(w, side):
        u, size = w.dense[2 * side + order], w.map.p if side == VARIABLES else w.map.n
        h, e = dot2(row, u[0], u[1], size)
        terms += absolute_dot(row, u[2], size)
    else:
        index, u = w.mover, w.moved[order]
        h, e = gathered_dot2(row, index, u[0], u[1], first, count)
        for k in range(first, first + count):
            terms += abs(row[index[k]]) * u[2, k]
    x, xe = add(x, xe, h, e)
    return x, xe, terms


@lean
def unknown_part_twofold(w, i, order):
    """Return the unknowns' part of a known coordinate's value, or rate, in twofold precision.

    Last comes the sum of its absolute terms.
    """
    m, last = w.map, w.map.N - 1
    x, xe, terms = 0.0, 0.0, 0.0
    if m.sparse and i < m.n + m.p:
        x, xe, terms = sparse_part_twofold(w, i, order)
    else:
        row, side, _, _ = across(w, i)
        x, xe, terms = add_unknown(w, row, side, order, x, xe, terms)
    if m.with_gram and i < m.n:
        x, xe, terms = add_unknown(w, m.gram[i], ROWS, order, x, xe, terms)
        if m.with_low:
            xe += gathered_dot(m.low[i], w.mover, w.moved[order, 0], 0, w.movers[ROWS])
    if is_variable(w, i) and m.weights and not w.known[last]:
        s = w.sign[i - m.n]
        h, e = accumulate(0.0, 0.0, s, w.u[order, 0, last], w.u[order, 1, last])
        x, xe = add(x, xe, h, e)
        terms += abs(s) * w.size[order, last]
    return x, xe, terms


@lean
def known_number(w, i, order, still):
    """Return the value of a known coordinate, or its rate, in two parts, and its absolute terms.

    ``still``: known coordinates stand still, so their part of a rate is left out.
    """
    x, xe, terms = unknown_part_twofold(w, i, order)
    if not still:
        h, e = base_of(w, i, order)
        x, xe = add(x, xe, h, e)
        terms += base_terms(w, i, order)
    if is_variable(w, i):
        x, xe = -x, -xe
    return x, xe, terms


@lean
def examine_twofold(w, i, null, bound):
    """Examine a known coordinate in twofold precision; return the new bound."""
    now, m, side_of_value = w.now, w.map, side_of(w, i)
    dx, dxe, terms = known_number(w, i, RATE, null)
    # along a null vector, and where places repeat, linearly dependent rows stand still
    smallest = REFINED if now.fine else m.noise
    noise = (SINGULAR if null or now.by_index else smallest) * max(terms, 0.0)
    if null:
        noise = max(noise, standstill(w, i))
    h, _ = number(w, i, w.graph.lower[i, w.place[i]], RATE)
    r, _ = number(w, i, w.graph.upper[i, w.place[i]], RATE)
    stands = null or h == r == 0.0
    if now.inexact:
        noise += w.propagated[RATE, side_of_value]
    elif stands and abs(dx) <= noise and m.weights == 0:
        return bound
    x, xe, terms = known_number(w, i, VALUE, False)
    error = smallest * max(terms, 0.0)
    if is_at_limit(w, i, x, error):
        error = min(error, net_error(w, i, error))
    if now.inexact:
        error += w.propagated[VALUE, side_of_value]
    for side in range(2):
        bound = add_candidate(w, i, side, null, x, xe, error, dx, dxe, noise, bound)
    return bound


@inline
def is_at_limit(w, i, x, error):
    """Tell whether a known row's value is at one of its limits to within its error."""
    lower, _ = number(w, i, w.graph.lower[i, w.place[i]], VALUE)
    upper, _ = number(w, i, w.graph.upper[i, w.place[i]], VALUE)
    return abs(x - lower) <= error or abs(upper - x) <= error


@lean
def net_error(w, i, error):
    """Return the error of a known row's value, from the known coordinates' terms at t.

    These may be much smaller than the values and rates of which `base_terms` are the sums. Rounding
    of a Gram matrix affects a value by the rounding of entries times these terms. It costs a
    product, so it is for decisions that the other error leaves open.
    """
    m = w.map
    if i >= m.n or m.with_gram <= m.with_low:
        return error
    _, _, total = unknown_part_twofold(w, i, VALUE)
    for k in range(m.n + m.p):
        if w.known[k]:
            h, _ = right_hand_side(w, k, w.place[k], VALUE)
            total += abs(h * (m.gram[i, k] if k < m.n else m.R[i, k - m.n]))
    return m.noise * total


@inline
def standstill(w, i):
    """Return the speed along a null vector that a change of i's row by `SINGULAR` explains.

    The largest entry of each row is about 1 in units; an entry as small as its rounding carries no
    information. To exchange a coordinate that is slower would leave a singular system.
    """
    return (SINGULAR + w.now.null_curvature) * w.peak[RATE] / w.map.scale[i]


@lean
def first_candidate(w, bound):
    """Return the candidate with the least step, in twofold precision, or -1."""
    first = -1
    for c in range(w.now.candidates):
        if w.ratio[DISTANCE, c] > bound * w.ratio[SPEED, c] * ROUND_UP:
            continue
        if first < 0 or lead(w, c, first) < 0.0:
            first = c
    return first


@lean
def lead(w, c, other):
    """Return the step of a candidate minus that of another."""
    h, e = step_of(w, c)
    r, f = step_of(w, other)
    h, e = add(h, e, -r, -f)
    return h + e


@inline
def step_of(w, c):
    """Return the step of a candidate."""
    ratio = w.ratio
    return divide(ratio[DISTANCE, c], ratio[DISTANCE_LOW, c], ratio[SPEED, c], ratio[SPEED_LOW, c])


@lean
def ties(w, c, nearest, bound):
    """Tell whether candidate c may tie with the nearest one, within errors."""
    if w.ratio[DISTANCE, c] > bound * w.ratio[SPEED, c] * ROUND_UP:
        return False
    if c == nearest:
        return True
    ahead = lead(w, c, nearest)
    if ahead > w.ratio[STEP_ERROR, c] + w.ratio[STEP_ERROR, nearest]:
        return False
    errors = 0.0
    for k in (c, nearest):
        i, step_error = w.candidate[k] // 2, w.ratio[STEP_ERROR, k]
        if w.known[i] and ahead > 0.0:
            step_error = min(step_error, net_error(w, i, np.inf) / w.ratio[SPEED, k])
        errors += step_error
    return ahead <= errors


@lean
def choose(w, bound, left, left_low):
    """Choose among ties the fastest candidate, or the smallest index where places repeat.

    An l1 constraint goes first: where it ceases to bind, no weight need take up its slack. In a
    jump walls come last: a value that another knot holds there needn't change sides.
    """
    now, chosen, best = w.now, -1, -np.inf
    constraint = w.map.N - 1 if w.map.weights > 0 else -1
    if now.inexact:
        choose_if_certain(w, bound, left, left_low)
        return
    nearest = first_candidate(w, bound)
    for c in range(now.candidates if nearest >= 0 else 0):
        if not ties(w, c, nearest, bound):
            continue
        if now.by_index:
            if chosen < 0 or w.candidate[c] < w.candidate[chosen]:
                chosen = c
            continue
        speed = w.ratio[SPEED, c] * w.ratio[WEIGHT, c]
        if w.candidate[c] // 2 == constraint:
            speed = np.inf
        elif now.jumping and goes_to_wall(w, c):
            speed = -1.0 / speed  # the fastest of these
        if speed > best or (speed == best and w.candidate[c] < w.candidate[chosen]):
            best, chosen = speed, c
    now.blocking, now.side, now.step, now.step_low = -1, 0, left, left_low
    if chosen < 0:
        return
    h, e = step_of(w, chosen)
    r, f = add(h, e, -left, -left_low)
    if r + f > 0.0:
        return
    now.blocking, now.side = w.candidate[chosen] // 2, w.candidate[chosen] % 2
    now.step, now.step_low = h, e
    measure(w, chosen)


@inline
def goes_to_wall(w, c):
    """Tell whether a candidate is a value that comes to a wall."""
    i, side = w.candidate[c] // 2, w.candidate[c] % 2
    return w.place[i] % 2 == 0 and w.graph.hollow[i, w.place[i] + 2 * side - 1] == WALL_MARK


@lean
def measure(w, c):
    """Write the errors of a candidate's step and speed that follow from those of unknowns.

    Rounding of the data is left out: no refinement reduces it.
    """
    now, i = w.now, w.candidate[c] // 2
    if w.known[i]:
        error, noise = w.propagated[VALUE, side_of(w, i)], w.propagated[RATE, side_of(w, i)]
    else:
        on_segment = not is_variable(w, i) and w.place[i] % 2 == 0
        unit = w.map.scale[i] / (w.graph.curvature[i, w.place[i]] if on_segment else 1.0)
        error, noise = w.error[VALUE] * unit, w.error[RATE] * unit
    now.speed_error = noise / w.ratio[SPEED, c]
    now.step_error = (error + abs(now.step) * noise) / w.ratio[SPEED, c]


@lean
def choose_if_certain(w, bound, left, left_low):
    """Choose the candidate that is first for all errors; else set ``undecided``.

    So it is, too, if the step may be zero: beside t = 0 the smallest one is another number.
    """
    now, possible, chosen = w.now, 0, -1
    for c in range(now.candidates):
        if w.ratio[EARLIEST_STEP, c] <= bound:
            possible, chosen = possible + 1, c
    now.blocking, now.side, now.step, now.step_low = -1, 0, left, left_low
    now.undecided = 1 if possible > 1 or (possible == 1 and bound >= left) else 0
    if possible == 1 and not now.undecided:
        now.blocking, now.side = w.candidate[chosen] // 2, w.candidate[chosen] % 2
        now.step, now.step_low = step_of(w, chosen)
        measure(w, chosen)
        if now.step <= now.step_error:
            now.undecided = 1
