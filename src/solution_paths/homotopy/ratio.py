"""The ratio test: which coordinate is the first to leave its place.

A coordinate's value is the dual a at a knot and z on a segment; it leaves where its value meets a
limit. Unknown coordinates are looked at in twofold precision. Known ones are looked at only if an
odometer says that they can have come to a limit since the last look (lazy evaluation), first in
double precision with bounds, and in twofold precision if they may be first by these.
"""

from __future__ import annotations

import numpy as np

from . import tolerances
from .accuracy import FINE
from .compiled import inline, lean
from .odometers import begin_anew_if_lost, keep_line, put_off, speeds, usual_length
from .rows import of_unknowns, sharply_of_unknowns
from .state import (
    BLOCK,
    RH,
    RL,
    RSIZE,
    SIZE,
    VH,
    VL,
    at_base,
    at_base_roughly,
    base_rate,
    base_terms,
    clock,
    is_variable,
    known_rate_bound,
    known_value_bound,
    rate_of,
    value_of,
)
from .systems.inverse import entry_of
from .twofold import accumulate, add, divide, dot, gathered_dot, gathered_dot2, least

NEXT = 1.0 + 2.0**-50  # so that rounding does not exclude the nearest one itself
TINY = 2.0**-96  # what a limit itself is rounded to
DOUBLE = 2.0**-46  # what a sum in double precision is worth, relative to its absolute terms
LARGEST = 1e300  # instead of infinity, whose rounding error would be infinite
NOISE, FLOOR, SINGULAR = tolerances.NOISE, tolerances.FLOOR, tolerances.SINGULAR
# rows of `chance`
ROOM, ROOM_LOW, CLOSING, CLOSING_LOW, WEIGHT, LEAST, DOUBT, SOONEST, FASTEST = range(9)


@lean
def first_exit(w, null, left, left_low):
    """Find the first coordinate that reaches a limit of its place.

    Writes to ``now``: ``found`` (-1: none before the end), ``side`` (0 lower, 1 upper), and the
    step in two parts.

    Parameters
    ----------
    null : bool
        Whether du is a null vector, along which t stands still.
    left, left_low : float
        Distance to the end of the walk.
    """
    now = w.now
    now.candidates, now.leaving = 0, 0.0
    collect(w, null)
    speeds(w, null)
    bound = left
    for u in range(now.unknowns):
        bound = look_at_unknown(w, w.unknown[u], null, bound)
    bound = look_at_known(w, null, bound)
    choose(w, bound, left, left_low)


@lean
def collect(w, null):
    """List the unknown coordinates, and the variables and rows that add to others' values."""
    now, m = w.now, w.map
    now.unknowns = now.moving = now.pulling = 0
    error = now.push_error if null else now.rate_error
    largest = known_value_bound(w)
    fastest = 0.0 if null else known_rate_bound(w)
    for a in range(now.solved + now.hidden + 1):
        if a < now.solved:
            i = w.solved[a]
        elif a < now.solved + now.hidden:
            i = w.hidden[a - now.solved]
        else:
            i = now.pending
        if i < 0 or w.known[i] or (i == now.pending and a < now.solved + now.hidden):
            continue
        w.unknown[now.unknowns] = i
        now.unknowns += 1
        largest = max(largest, abs(w.u[0, i]) / m.scale[i])
        fastest = max(fastest, abs(w.du[0, i]) / m.scale[i])
    now.largest, now.fastest, now.rough = largest, fastest, 0
    now.value = now.held = now.width = now.width_rate = 0.0
    if now.carried > 1 and not null:
        sharp = now.point_error <= FINE * largest and error <= FINE * fastest
        now.rough = 0 if sharp else 1
    for u in range(now.unknowns):
        i = w.unknown[u]
        w.work[0, i] = max(abs(w.u[0, i]), FLOOR * largest * m.scale[i])
        w.work[1, i] = max(abs(w.du[0, i]), FLOOR * fastest * m.scale[i])
        w.work[2, i] = max(NOISE * w.work[0, i], now.point_error * m.scale[i])
        w.work[3, i] = max(NOISE * w.work[1, i], error * m.scale[i])
        if null:  # a slower one's exchange would leave a singular system
            w.work[3, i] = max(w.work[3, i], (SINGULAR + now.hidden_slope) * fastest * m.scale[i])
        if not now.rough and abs(w.du[0, i]) <= w.work[3, i]:  # it stands still
            now.dual_turn += m.reach[i] * abs(w.du[0, i]) / m.scale[i] if m.with_gram else 0.0
            w.du[0, i] = w.du[1, i] = 0.0
        if is_variable(w, i):
            k, to = now.moving, w.of_variables
            w.variables[k] = i - m.n
            now.moving += 1
        elif i < m.n:
            weigh_values(w, i)
            k, to = now.pulling, w.of_rows
            w.rows[k] = i
            now.pulling += 1
        else:
            continue
        to[VH, k], to[VL, k], to[RH, k], to[RL, k] = w.u[0, i], w.u[1, i], w.du[0, i], w.du[1, i]
        to[SIZE, k], to[RSIZE, k] = w.work[0, i], w.work[1, i]
    spread(w)


@lean
def weigh_values(w, i):
    """Add to what says how well values of rows must be known: an error of one costs its slope."""
    now, own, row = w.now, w.limit[i], w.graph.equation[i, w.place[i]]
    t, _, flow = clock(w, i)
    now.value = max(now.value, abs(row[0] + t * row[2]))
    if w.place[i] % 2 == 1:
        now.held += abs(w.u[0, i])
        steepest = rate = 0.0
        for side in range(0, 4, 2):
            if np.isfinite(own[side]):
                steepest = max(steepest, abs(own[side] + t * own[side + 1]))
                rate = max(rate, flow * abs(own[side + 1]))
        now.width, now.width_rate = now.width + steepest, now.width_rate + rate


@lean
def spread(w):
    """Write what looks multiply rows of the map by, and sums of sizes.

    Vectors of all variables and rows have zeros for known ones; those of few are gathered instead.
    The sums are the largest of absolute terms that any row, or variable's pull, can have.
    """
    now, m = w.now, w.map
    for part in range(2):
        size, index = (m.p, w.variables) if part == 0 else (m.n, w.rows)
        count, of = (now.moving, w.of_variables) if part == 0 else (now.pulling, w.of_rows)
        x, dx, most = w.dense[2 * part], w.dense[2 * part + 1], w.map.largest[part]
        terms = dterms = whole = dblur = 0.0
        for k in range(count):
            terms += most[index[k]] * of[SIZE, k]
            dterms += most[index[k]] * of[RSIZE, k]
            i = index[k] + (m.n if part == 0 else 0)
            whole += (most[index[k]] * m.scale[i]) ** 2
            dblur += (most[index[k]] * w.work[3, i]) ** 2
        if 2 * count > size:
            x[:size] = 0.0
            dx[:size] = 0.0
            for k in range(count):
                x[index[k]], dx[index[k]] = of[VH, k], of[RH, k]
        if part == 1 and m.weights and not w.known[m.N - 1]:
            terms += m.widest * w.work[0, m.N - 1]
            dterms += m.widest * w.work[1, m.N - 1]
        if part == 0:
            now.row_terms, now.row_rate_terms = terms, dterms
            now.row_unit, now.row_rate_blur = whole, dblur
        else:
            now.variable_terms, now.variable_rate_terms = terms, dterms
            if m.with_gram:
                now.row_unit, now.row_rate_blur = now.row_unit + whole, now.row_rate_blur + dblur
            now.variable_unit, now.variable_rate_blur = np.sqrt(whole), np.sqrt(dblur)
            now.row_unit, now.row_rate_blur = np.sqrt(now.row_unit), np.sqrt(now.row_rate_blur)
    now.row_blur = now.row_unit * now.point_error
    now.variable_blur = now.variable_unit * now.point_error
    if m.with_gram:
        for a in range(now.solved):
            i = w.solved[a]
            w.share[0, a] = 0.0 if w.known[i] else w.u[0, i]
            w.share[1, a] = 0.0 if w.known[i] else w.du[0, i]


@lean
def look_at_unknown(w, i, null, bound):
    """Add what an unknown coordinate may meet to the candidates; return the new bound."""
    s = w.work
    if w.limit[i, 0] == -np.inf and w.limit[i, 2] == np.inf:
        return bound
    x, xe, dx, dxe = w.u[0, i], w.u[1, i], w.du[0, i], w.du[1, i]
    error, noise = s[2, i], s[3, i]
    place = w.place[i]
    if not is_variable(w, i) and place % 2 == 0:  # its z, from q z + a = right-hand side
        q = w.graph.curvature[i, place]
        row = w.graph.equation[i, place]
        h, e = value_of(w, i, row)
        error = (error + NOISE * abs(h)) / q
        h, e = add(h, e, -x, -xe)
        x, xe = divide(h, e, q, 0.0)
        h, e = -dx, -dxe
        if not null:
            r, f = rate_of(w, i, row)
            noise += NOISE * abs(r)
            h, e = add(h, e, r, f)
        noise /= q
        dx, dxe = divide(h, e, q, 0.0)
    for side in range(2):
        bound = weigh(w, i, side, null, x, xe, error, dx, dxe, noise, bound)
    return bound


@lean
def weigh(w, i, side, null, x, xe, error, dx, dxe, noise, bound):
    """Add coordinate i and a limit to the candidates if it approaches it; return the new bound."""
    now, m = w.now, w.map
    outward = 2.0 * side - 1.0
    row = w.graph.upper[i, w.place[i]] if side == 1 else w.graph.lower[i, w.place[i]]
    if not np.isfinite(row[0]) or (w.stays[i] == side + 1 and not null):
        return bound
    limit, limit_e = value_of(w, i, row)
    way = 1.0 if null else now.way
    drift, drift_e = 0.0, 0.0
    if not null:
        drift, drift_e = rate_of(w, i, row)
        drift, drift_e = way * drift, way * drift_e
    noise, error = noise + TINY * abs(drift), error + TINY * abs(limit)
    at_knot, last = w.place[i] % 2 == 1, m.N - 1
    if at_knot and m.n <= i < m.n + m.weights and not w.known[last]:
        limit, limit_e = add(limit, limit_e, -outward * w.u[0, last], -outward * w.u[1, last])
        h, e = -outward * way * w.du[0, last], -outward * way * w.du[1, last]
        drift, drift_e = add(drift, drift_e, h, e)
        noise += w.work[3, last]
        error += w.work[2, last]
    h, e = add(way * dx, way * dxe, -drift, -drift_e)
    h, e = outward * h, outward * e
    if h <= (-noise if now.rough else noise):
        return bound
    r, f = add(limit, limit_e, -x, -xe)
    r, f = outward * r, outward * f
    c = now.candidates
    if now.rough:
        w.chance[SOONEST, c] = max(r - error, 0.0) / (h + noise)
        if w.chance[SOONEST, c] > bound:
            return bound
    elif r <= error:
        r, f = 0.0, 0.0
    w.candidate[c] = 2 * i + side
    w.chance[ROOM, c], w.chance[ROOM_LOW, c] = r, f
    w.chance[CLOSING, c], w.chance[CLOSING_LOW, c] = h, e
    w.chance[WEIGHT, c] = m.scale[i] if at_knot == is_variable(w, i) else 1.0 / m.scale[i]
    now.candidates = c + 1
    if now.rough:
        return min(bound, max(r + error, 0.0) / (h - noise)) if h > noise else bound
    w.chance[DOUBT, c] = error / h
    if r == 0.0:
        now.leaving = max(now.leaving, h * w.chance[WEIGHT, c])
    return min(bound, (r + error) / h)


@lean
def look_at_known(w, null, bound):
    """Look at the known coordinates that can have come to a limit; return the new bound.

    Those that may come first are looked at first, as they reduce the bound: those within a few
    usual steps of the odometers, then within more.
    """
    now, m = w.now, w.map
    now.look_number += 1
    begin_anew_if_lost(w)
    kept, factor = 0, 2.0
    while True:
        again = False
        for part in range(2):
            first, last = (0, m.n) if part == 0 else (m.n, m.N)
            travel = now.row_travel if part == 0 else now.variable_travel
            speed = now.row_speed if part == 0 else now.variable_speed
            usual = now.usual_rows if part == 0 else now.usual_variables
            if speed == 0.0 and m.weights == 0:
                continue  # nothing moves
            near = factor * usual if usual > 0.0 else np.inf
            ahead = min(speed * bound, near) if speed > 0.0 else 0.0
            step = ahead / speed if speed > 0.0 else 0.0
            for b in range(first // BLOCK, -(-last // BLOCK)):
                if w.block[b] > travel + ahead:
                    continue
                for i in range(max(first, BLOCK * b), min(last, BLOCK * (b + 1))):
                    if (
                        w.due[i] > travel + ahead
                        or not w.known[i]
                        or w.looked_at[i] == now.look_number
                    ):
                        continue
                    if i < len(w.line) and put_off(w, i, null, step, ahead):
                        continue
                    w.looked_at[i] = now.look_number
                    now.looks += 1
                    soonest, latest, fastest = look(w, i, null, bound)
                    if latest < bound:
                        bound = latest
                        ahead = min(ahead, speed * bound)
                        step = ahead / speed if speed > 0.0 else 0.0
                    if soonest <= bound:
                        w.looked[kept] = i
                        w.chance[LEAST, kept] = soonest
                        w.chance[FASTEST, kept] = fastest * m.scale[i]
                        kept += 1
                w.block[b] = least(w.due, BLOCK * b, min(m.N, BLOCK * (b + 1)))
            again = again or (speed > 0.0 and near < speed * bound)
        if not again:
            break
        factor *= 8.0
    bound = look_at_kept(w, kept, null, bound)
    if bound < np.inf:
        now.usual_rows = usual_length(now.usual_rows, now.row_speed * bound)
        now.usual_variables = usual_length(now.usual_variables, now.variable_speed * bound)
    return bound


@lean
def look_at_kept(w, kept, null, bound):
    """Look closely at coordinates that may be first; return the new bound.

    Of those that are at a limit now the fastest one is chosen, so slower ones need no look.
    """
    now, first = w.now, -1
    by_speed = not now.rough and not now.by_index
    for c in range(kept if by_speed else 0):
        faster = first < 0 or w.chance[FASTEST, c] > w.chance[FASTEST, first]
        if w.chance[LEAST, c] == 0.0 and faster:
            first = c
    if first >= 0:
        bound = look_closely(w, w.looked[first], null, bound)
    for c in range(kept):
        if c == first or w.chance[LEAST, c] > bound:
            continue
        if by_speed and w.chance[FASTEST, c] < now.leaving:
            continue
        bound = look_closely(w, w.looked[c], null, bound)
    return bound


@lean
def roughly(w, i, part):
    """Return what unknown ones add to a known coordinate's value (0) or motion (1), in double."""
    now, m = w.now, w.map
    x, u, variable = 0.0, w.du if part else w.u, is_variable(w, i)
    if m.with_gram and i < m.n:
        x, k = dot(w.packed[i], w.share[part], now.solved), now.pending
        if k >= 0 and w.slot[k] < 0 and not w.known[k]:
            x += entry_of(w, i, k) * u[0, k]
        return x
    if m.sparse and i < m.n + m.p:
        x = of_unknowns(w, i, u)
        if variable and m.weights and not w.known[m.N - 1]:
            x += w.sign[i - m.n] * u[0, m.N - 1]
        return x
    if variable:
        row, index, of, count, size = m.columns[i - m.n], w.rows, w.of_rows, now.pulling, m.n
    else:
        row, index, of = m.R[i] if i < m.n else w.sign, w.variables, w.of_variables
        count, size = now.moving, m.p
    if 2 * count > size:
        x = dot(row, w.dense[2 * variable + part], size)
    else:
        x = gathered_dot(row, index, of[RH if part else VH], count)
    if variable and m.weights and not w.known[m.N - 1]:
        x += w.sign[i - m.n] * u[0, m.N - 1]
    return x


@lean
def look(w, i, null, bound):
    """Look at a known coordinate in double precision.

    Returns
    -------
    soonest, latest : float
        Bounds of the step at which it meets its first limit; both infinite where that is beyond
        ``bound``.
    speed : float
        Bound of its speed towards a limit.
    """
    now, m, limit = w.now, w.map, w.limit[i]
    variable = is_variable(w, i)
    t, _, _ = clock(w, i)
    x = at_base_roughly(w, i) + roughly(w, i, 0)
    terms, _ = base_terms(w, i)
    terms += now.variable_terms if variable else now.row_terms
    if m.with_gram:
        terms += now.variable_terms
    x = -x if variable else x
    below, above = x - (limit[0] + limit[1] * t), (limit[2] + limit[3] * t) - x
    of_lower = terms + min(abs(limit[0]), LARGEST) + abs(limit[1] * t)
    of_upper = terms + min(abs(limit[2]), LARGEST) + abs(limit[3] * t)
    widened = m.n <= i < m.n + m.weights and not w.known[m.N - 1]
    if widened:
        below, above = below - w.u[0, m.N - 1], above - w.u[0, m.N - 1]
        of_lower, of_upper = of_lower + w.work[0, m.N - 1], of_upper + w.work[0, m.N - 1]
    if m.length[i] > 0.0 and not w.jumps[i]:
        nearest = min(below - DOUBLE * of_lower, above - DOUBLE * of_upper)
        nearest = max(nearest - (now.variable_blur if variable else now.row_blur), 0.0)
        travel = now.variable_travel if variable else now.row_travel
        speed = now.variable_speed if variable else now.row_speed
        w.due[i] = (travel + nearest / m.length[i]) - 2.0**-51 * travel
        far = (speed == 0.0 and nearest > 0.0) or w.due[i] > travel + speed * bound
        if not null and i < len(w.line):
            soonest, latest, fastest = exits(w, i, null, x, terms, widened)
            keep_line(w, i, nearest, fastest)
            if not far:
                return soonest, latest, fastest
        if far:
            return np.inf, np.inf, 0.0
    return exits(w, i, null, x, terms, widened)


@lean
def exits(w, i, null, x, terms, widened):
    """Return bounds of the step at which a value x, known in double precision, meets a limit.

    The third number is a bound of its speed towards a limit.
    """
    now, m, variable = w.now, w.map, is_variable(w, i)
    t, _, flow = clock(w, i)
    dx, way = roughly(w, i, 1), (1.0 if null else now.way)
    dterms = now.variable_rate_terms if variable else now.row_rate_terms
    if m.with_gram:
        dterms += now.variable_rate_terms
    if not null:
        h, _ = base_rate(w, i)
        _, size = base_terms(w, i)
        dx, dterms = dx + h, dterms + size
    dx = -dx if variable else dx
    soonest, latest, speed = np.inf, np.inf, -np.inf
    for side in range(2):
        value, rate = w.limit[i, 2 * side], w.limit[i, 2 * side + 1]
        if not np.isfinite(value) or (w.stays[i] == side + 1 and not null):
            continue
        outward, limit = 2.0 * side - 1.0, value + rate * t
        drift = 0.0 if null else way * flow * rate
        error = DOUBLE * (terms + abs(value) + abs(rate * t))
        noise = DOUBLE * (dterms + abs(drift))
        error += now.variable_blur if variable else now.row_blur
        noise += now.variable_rate_blur if variable else now.row_rate_blur
        if null:
            noise = max(noise, SINGULAR * dterms, standstill(w, i))
        if widened:
            limit -= outward * w.u[0, m.N - 1]
            drift -= outward * way * w.du[0, m.N - 1]
            error += DOUBLE * w.work[0, m.N - 1]
            noise += DOUBLE * w.work[1, m.N - 1]
        room, closing = outward * (limit - x), outward * (way * dx - drift)
        if closing > noise:
            latest = min(latest, (max(room, 0.0) + error) / (closing - noise))
        if closing > -noise:
            soonest = min(soonest, max(room - error, 0.0) / (closing + noise))
        speed = max(speed, closing + noise)
    return soonest, latest, speed


@lean
def sharply(w, i, of_rate):
    """Return the value of a known coordinate, or its motion, that unknown ones cause; its terms."""
    now, m = w.now, w.map
    high, low, size = (RH, RL, RSIZE) if of_rate else (VH, VL, SIZE)
    x, xe, terms = 0.0, 0.0, 0.0
    variable = is_variable(w, i)
    if m.sparse and i < m.n + m.p:
        sizes = w.work[1 if of_rate else 0]
        x, xe, terms = sharply_of_unknowns(w, i, w.du if of_rate else w.u, sizes)
    elif not variable:
        row, index, v = m.R[i] if i < m.n else w.sign, w.variables, w.of_variables
        x, xe = gathered_dot2(row, index, v[high], v[low], now.moving)
        for k in range(now.moving):
            terms += abs(row[index[k]]) * v[size, k]
    if m.sparse == 0 and (variable or (m.with_gram and i < m.n)):
        row, index, v = m.columns[i - m.n] if variable else m.gram[i], w.rows, w.of_rows
        h, e = gathered_dot2(row, index, v[high], v[low], now.pulling)
        x, xe = add(x, xe, h, e)
        if not variable and m.with_low:
            xe += gathered_dot(m.low[i], index, v[high], now.pulling)
        for k in range(now.pulling):
            terms += abs(row[index[k]]) * v[size, k]
    if variable and m.weights and not w.known[m.N - 1]:
        s, last = w.sign[i - m.n], m.N - 1
        h, e = (w.du[0, last], w.du[1, last]) if of_rate else (w.u[0, last], w.u[1, last])
        h, e = accumulate(0.0, 0.0, s, h, e)
        x, xe = add(x, xe, h, e)
        terms += abs(s) * w.work[1 if of_rate else 0, last]
    return x, xe, terms


@lean
def known_value(w, i):
    """Return the value of a known coordinate in double precision."""
    x, xe, _ = sharply(w, i, False)
    h, e = at_base(w, i)
    x, xe = add(x, xe, h, e)
    return -x if is_variable(w, i) else x


@lean
def look_closely(w, i, null, bound):
    """Look at a known coordinate in twofold precision; return the new bound."""
    now, m = w.now, w.map
    dx, dxe, dterms = sharply(w, i, True)
    if not null:
        h, e = base_rate(w, i)
        _, size = base_terms(w, i)
        dx, dxe = add(dx, dxe, h, e)
        dterms += size
    # along a null vector, and where places repeat, rows stand still that count as dependent
    noise = (SINGULAR if null or now.by_index else m.noise) * max(dterms, 0.0)
    if null:
        noise = max(noise, standstill(w, i))
    h, _ = rate_of(w, i, w.graph.lower[i, w.place[i]])
    r, _ = rate_of(w, i, w.graph.upper[i, w.place[i]])
    stands = null or h == r == 0.0
    if now.rough:
        noise += now.variable_rate_blur if is_variable(w, i) else now.row_rate_blur
    elif stands and abs(dx) <= noise and m.weights == 0:
        return bound
    x, xe, terms = sharply(w, i, False)
    h, e = at_base(w, i)
    x, xe = add(x, xe, h, e)
    size, _ = base_terms(w, i)
    terms += size
    error = m.noise * max(terms, 0.0)
    if is_at_limit(w, i, x, error):
        error = min(error, net_error(w, i, error))
    if now.rough:
        error += now.variable_blur if is_variable(w, i) else now.row_blur
    if is_variable(w, i):
        x, xe, dx, dxe = -x, -xe, -dx, -dxe
    for side in range(2):
        bound = weigh(w, i, side, null, x, xe, error, dx, dxe, noise, bound)
    return bound


@inline
def is_at_limit(w, i, x, error):
    """Tell whether a known row's value is at one of its limits, as far as its error tells."""
    lower, _ = value_of(w, i, w.graph.lower[i, w.place[i]])
    upper, _ = value_of(w, i, w.graph.upper[i, w.place[i]])
    return abs(x - lower) <= error or abs(upper - x) <= error


@lean
def net_error(w, i, error):
    """Return an error of a known row's value by the terms that known coordinates have at t.

    These may be much smaller than value and rate, from which `base_terms` are summed. What rounding
    of a matrix of Gram makes of a value is that of its entries times these terms. It takes as long
    as a product, so it is for decisions that the other error leaves open.
    """
    m = w.map
    if i >= m.n or m.with_gram <= m.with_low:
        return error
    _, _, total = sharply(w, i, False)
    for k in range(m.n + m.p):
        if w.known[k]:
            h, _ = value_of(w, k, w.graph.equation[k, w.place[k]])
            total += abs(h * (m.gram[i, k] if k < m.n else m.R[i, k - m.n]))
    return m.noise * total


@inline
def standstill(w, i):
    """Return the speed along a null vector that a change of i's row by `SINGULAR` accounts for.

    The largest entry of each row is about 1 in units; one that is as small as its rounding says
    nothing. To exchange such a coordinate would leave a singular system.
    """
    return (SINGULAR + w.now.hidden_slope) * w.now.fastest / w.map.scale[i]


@lean
def first_candidate(w, bound):
    """Return the candidate with the least step, in twofold precision, or -1."""
    found = -1
    for c in range(w.now.candidates):
        if w.chance[ROOM, c] > bound * w.chance[CLOSING, c] * NEXT:
            continue
        if found < 0 or lead(w, c, found) < 0.0:
            found = c
    return found


@lean
def lead(w, c, other):
    """Return by how much the step of a candidate is longer than another's."""
    h, e = step_of(w, c)
    r, f = step_of(w, other)
    h, e = add(h, e, -r, -f)
    return h + e


@inline
def step_of(w, c):
    """Return the step of a candidate."""
    own = w.chance
    return divide(own[ROOM, c], own[ROOM_LOW, c], own[CLOSING, c], own[CLOSING_LOW, c])


@lean
def ties(w, c, nearest, bound):
    """Tell whether candidate c may be as near as the nearest one, for all that errors say."""
    if w.chance[ROOM, c] > bound * w.chance[CLOSING, c] * NEXT:
        return False
    if c == nearest:
        return True
    ahead = lead(w, c, nearest)
    if ahead > w.chance[DOUBT, c] + w.chance[DOUBT, nearest]:
        return False
    doubt = 0.0
    for k in (c, nearest):
        i, own = w.candidate[k] // 2, w.chance[DOUBT, k]
        if w.known[i] and ahead > 0.0:
            own = min(own, net_error(w, i, np.inf) / w.chance[CLOSING, k])
        doubt += own
    return ahead <= doubt


@lean
def choose(w, bound, left, left_low):
    """Choose among ties the fastest candidate, or the smallest index where places repeat.

    An l1 constraint goes first: where it ceases to bind no weight need take up what it leaves.
    """
    now, chosen, best = w.now, -1, -1.0
    constraint = w.map.N - 1 if w.map.weights > 0 else -1
    if now.rough:
        choose_the_only(w, bound, left, left_low)
        return
    nearest = first_candidate(w, bound)
    for c in range(now.candidates if nearest >= 0 else 0):
        if not ties(w, c, nearest, bound):
            continue
        if now.by_index:
            if chosen < 0 or w.candidate[c] < w.candidate[chosen]:
                chosen = c
            continue
        speed = w.chance[CLOSING, c] * w.chance[WEIGHT, c]
        speed = np.inf if w.candidate[c] // 2 == constraint else speed
        if speed > best or (speed == best and w.candidate[c] < w.candidate[chosen]):
            best, chosen = speed, c
    now.found, now.side, now.step, now.step_low = -1, 0, left, left_low
    if chosen < 0:
        return
    h, e = step_of(w, chosen)
    r, f = add(h, e, -left, -left_low)
    if r + f > 0.0:
        return
    now.found, now.side = w.candidate[chosen] // 2, w.candidate[chosen] % 2
    now.step, now.step_low = h, e
    measure(w, chosen)


@lean
def measure(w, c):
    """Write down how well the step of a candidate, and its speed, are known as unknowns are.

    What the data's rounding adds to it is left out: no refinement makes that smaller.
    """
    now, i = w.now, w.candidate[c] // 2
    if w.known[i]:
        error = now.variable_blur if is_variable(w, i) else now.row_blur
        noise = now.variable_rate_blur if is_variable(w, i) else now.row_rate_blur
    else:
        on_segment = not is_variable(w, i) and w.place[i] % 2 == 0
        unit = w.map.scale[i] / (w.graph.curvature[i, w.place[i]] if on_segment else 1.0)
        error, noise = now.point_error * unit, now.rate_error * unit
    now.vague = noise / w.chance[CLOSING, c]
    now.blur = (error + abs(now.step) * noise) / w.chance[CLOSING, c]


@lean
def choose_the_only(w, bound, left, left_low):
    """Choose the candidate that is first whatever the errors are; there may be doubt."""
    now, possible, chosen = w.now, 0, -1
    for c in range(now.candidates):
        if w.chance[SOONEST, c] <= bound:
            possible, chosen = possible + 1, c
    now.found, now.side, now.step, now.step_low = -1, 0, left, left_low
    now.doubt = 1 if possible > 1 or (possible == 1 and bound >= left) else 0
    if possible == 1 and not now.doubt:
        now.found, now.side = w.candidate[chosen] // 2, w.candidate[chosen] % 2
        now.step, now.step_low = step_of(w, chosen)
        measure(w, chosen)
        if now.step <= 0.0:
            now.doubt = 1
