"""The homotopy: one loop for every statement.

The state is the parameter t and a place, knot or segment, for each coordinate; all else is computed
from it. Between two breakpoints the point (z, a) moves on a straight line. Where the system is
singular, t stands still and the point moves along a null vector, oriented so that the coordinate
that changed last moves into its new place. This one rule covers the exchange of dependent rows, the
pivot of a linear programme, the empty margin set, and the start at an optimum that is not unique.
"""

from __future__ import annotations

import numpy as np

from .accuracy import goal_of_point, goal_of_response, is_accurate, is_kept
from .compiled import inline, lean
from .odometers import advance_odometers, discard_lines, make_due, shift_odometers
from .ratio import collect, first_exit, is_wall, known_number, largest_unknown, unknown_part
from .rows import times
from .state import (
    CURVED,
    RATE,
    RIDGED,
    ROWS,
    VALUE,
    VARIABLES,
    WALL_MARK,
    base_in_double,
    base_terms,
    begin,
    clear_rates,
    is_of_kind,
    is_variable,
    move,
    number,
    right_hand_side,
)
from .systems.carry import carry, schur_complement
from .systems.inverse import eliminate, entry_of, factor, factor_twofold, restore, update
from .systems.solve import coordinate, is_idle, is_singular, respond, solve
from .tolerances import (
    CAREFUL,
    CONTRACTION,
    MANY_ELIMINATED,
    NEGLIGIBLE,
    REFINED,
    RESPONSE,
    SINGULAR,
)
from .twofold import accumulate, add, divide

DONE, MORE_ROOM, UNBOUNDED, CYCLE, DENSER, SWITCH, WALL, LOST, TOUCHING = range(9)
FALLS, CHANGED, STAYS, AGAIN = range(4)
REPEATS = 4  # of the same places at the same t


@lean
def walk(w, steps):
    """Follow the optima to the end of the path, for at most so many steps.

    Returns
    -------
    DONE, UNBOUNDED (no optimum beyond), CYCLE (ties can't be resolved), LOST (a system can't be
    solved), WALL (a coordinate is at a knot at which the walk stops), TOUCHING (one came to such a
    knot together with another event, and stands still at the end of its segment; told once for the
    same places), MORE_ROOM (call again with larger arrays), DENSER (call again without elimination)
    or SWITCH (call again with another kind of coordinates eliminated).
    """
    now = w.now
    for _ in range(steps):
        if not has_room(w):
            return MORE_ROOM
        if should_switch(w):
            return SWITCH

        # 1. The point and its rate. 2. The first coordinate that leaves its place.
        left, left_low = add(now.way * now.end, 0.0, -now.way * now.t, -now.way * now.t_low)
        if not find_exit(w, left, left_low):
            return DENSER if now.eliminated else LOST
        if now.touching and now.touched != now.key:
            now.touched = now.key
            return TOUCHING
        if left - now.step <= now.rest:
            now.blocking, now.step, now.step_low = -1, left, left_low

        # 3. Record both ends of the straight piece.
        beginning = now.t, now.t_low, now.nodes, now.entries, now.clipped, now.clipped_at
        if now.step > 0.0:
            record_unless_jumping(w)
            advance(w, now.way * now.step, now.way * now.step_low)
            record_unless_jumping(w)
            now.seen = now.by_index = 0
            if now.nodes == 2:
                now.rest = max(now.rest, now.near * (left - now.step))
        if now.blocking < 0:
            return DONE

        # 4. That coordinate changes its place; along a null vector another one follows.
        first, old, side = now.blocking, w.place[now.blocking], now.side
        new = next_place(w, first, side)
        outcome = change(w, first, new, False)
        if outcome == AGAIN:
            go_back(w, beginning)
            if now.unsolved:
                return DENSER
            continue
        if outcome == STAYS:
            continue
        if outcome == FALLS:
            if now.jumping or w.graph.hollow[first, new] != WALL_MARK:
                return UNBOUNDED
            put_back(
                w, first, old, side
            )  # between two walls: a coordinate at the other one gives way
            return WALL
        if is_at_wall(w, first) or is_at_wall(w, now.blocking):
            return WALL
        if cycles(w):
            return CYCLE
    return MORE_ROOM


@lean
def has_room(w):
    """Tell whether one more step fits into all arrays.

    Coordinates of the eliminated kind that stayed in their places are solved, until the inverse is
    computed afresh: then all of them are eliminated.
    """
    now, of_kind = w.now, w.map.n if w.now.eliminates == CURVED else w.map.p
    unknowns = now.solved + now.eliminated
    return (
        now.solved + 4 <= len(w.solved)
        and (now.eliminates == 0 or min(unknowns, of_kind) + 4 <= len(w.eliminated))
        and now.nodes + 4 <= len(w.node)
        and now.events + 4 * w.map.N + 4 <= len(w.event)
        and now.entries + 2 * unknowns + 8 <= len(w.entry)
        and now.seen + 2 <= len(w.seen_keys)
    )


@lean
def should_switch(w):
    """Tell whether another kind, or one at all, is to be eliminated.

    To eliminate the other kind leaves a system of half the size, or less.
    """
    now, other, count = w.now, CURVED + RIDGED - w.now.eliminates, 0
    if now.eliminates == 0:
        return 0 < now.retry <= now.solved
    if now.solved < MANY_ELIMINATED + 2 * now.eliminated:
        return False
    for a in range(now.solved):
        count += is_of_kind(w, w.solved[a], other)
    return count >= MANY_ELIMINATED + 2 * now.eliminated


@lean
def find_exit(w, left, left_low):
    """Find the first coordinate that leaves its place; False: the point can't be solved for.

    Point and rate are solved for if they aren't accurate enough: see `accuracy`.
    """
    now = w.now
    if now.shrink > RESPONSE and now.changes - now.factored > now.solved:
        factor(w)
    settled, goal = is_accurate(w, 0.0), REFINED if now.again else goal_of_point(w)
    now.again = 0
    while True:
        if not settled:
            if not solve_afresh(w, goal):
                return False
            goal = REFINED
        first_exit(w, False, left, left_low)
        if now.carried == 1 or not (now.undecided or not is_accurate(w, now.step)):
            return True
        settled = False
        if now.undecided:
            now.careful, goal = CAREFUL, REFINED


@lean
def solve_afresh(w, goal):
    """Solve for the point and its rate; compute the inverse afresh where refinement is slow.

    A carried point that is accurate enough is kept.
    """
    now = w.now
    now.undecided, now.step_error, now.speed_error = 0, 0.0, 0.0
    kept = is_kept(w, goal)
    for attempt in range(3):
        slow = not kept and solve(w, VALUE, goal) > CONTRACTION
        slow = solve(w, RATE, goal) > CONTRACTION or slow
        if not slow:
            now.carried = 1 if goal == REFINED else 2
            return True
        now.carried, kept = 0, False
        if attempt == 0:
            factor(w)
        elif attempt == 1 and not now.eliminated:
            factor_twofold(w)
        else:
            break
    return False


@lean
def advance(w, step, step_low):
    """Move t and the unknowns by a step."""
    now = w.now
    now.t, now.t_low = add(now.t, now.t_low, step, step_low)
    if now.blocking < 0:
        now.t, now.t_low = now.end, 0.0
    move_along(w, step, step_low, w.error[RATE])
    advance_odometers(w, step)


@lean
def go_back(w, beginning):
    """Go back to the beginning of the last step, to find its end with numbers known to rounding.

    Unknowns stay the same, since they are solved for next.
    """
    now = w.now
    now.t, now.t_low, now.nodes, now.entries, now.clipped, now.clipped_at = beginning
    now.carried, now.again = 0, 1
    make_due(w, 0, w.map.N)
    discard_lines(w)


@lean
def move_along(w, step, step_low, error):
    """Move the unknowns by a step times their rates, which have an error."""
    u, du = w.u[VALUE], w.u[RATE]
    for k in range(w.now.unknowns):
        i = w.unknown[k]
        h, e = accumulate(u[0, i], u[1, i], du[0, i], step, step_low)
        h, e = accumulate(h, e, du[1, i], step, 0.0)
        u[0, i], u[1, i] = add(h, e, 0.0, 0.0)
    w.error[VALUE] += abs(step) * error


@lean
def next_place(w, i, side):
    """Return the place of i beyond a limit; hollow knots are passed through."""
    old = w.place[i]
    way = 1 - 2 * side if old % 2 else 2 * side - 1
    new = old + way
    return new + way if new % 2 and w.graph.hollow[i, new] == 1 else new


@lean
def is_at_wall(w, i):
    """Tell whether a coordinate is at a knot at which the walk stops."""
    return is_wall(w, i, w.place[i])


@lean
def change(w, i, new, forced):
    """Put coordinate i into a new place, and exchange another one if the system is singular.

    Along a null vector the point moves only for a gain that rounding of the data can't explain.
    Without a gain i passed its limit by rounding alone, and stays in its place until other places
    change; a row does so only if no other coordinate can leave instead.

    Returns
    -------
    CHANGED, FALLS (nothing limits the motion along a null vector), STAYS, or AGAIN (nothing has
    changed, as the error of t is too large, or a response is ``unsolved``).
    """
    now, old, side, events = w.now, w.place[i], w.now.side, w.now.events
    now.unsolved = 0
    outcome = attempt_change(w, i, new, forced)
    now.null_curvature = 0.0
    if outcome == AGAIN:
        move(w, i, old)
        now.events = events
    elif outcome == STAYS:
        put_back(w, i, old, side)
    elif now.staying:
        w.stays[:] = 0
        now.staying = 0
    for g in range(now.changing):
        if w.known[w.changed[g]]:  # known ones have no rates
            w.u[RATE, 0, w.changed[g]] = w.u[RATE, 1, w.changed[g]] = 0.0
    return outcome


@lean
def attempt_change(w, i, new, forced):
    """Change the place of i as `change` does; the caller undoes the move for STAYS and AGAIN."""
    old = w.place[i]
    note_change(w, 0, i)
    idle = is_idle(w, i, old, new)
    singular = not idle and is_singular(w, new)
    move(w, i, new)
    if w.now.unsolved:
        return AGAIN
    if singular:
        orient_null_vector(w, i, old, new)
        gained = forced or gains(w, i, new)
        if not gained and w.now.null_curvature > 0.0:
            return STAYS
        outcome = exchange(w)
        return STAYS if outcome == FALLS and not gained else outcome
    if idle:
        w.now.carried = 0
        return CHANGED
    return CHANGED if update_system(w) else AGAIN


@lean
def note_change(w, which, i):
    """Note that i is about to change its place: the first coordinate at this t, or the second.

    From here on it is an unknown of the system, neither known nor eliminated.
    """
    if w.slot[i] <= -2:
        restore(w, i)
    w.changed[which], w.old_place[which], w.was_known[which] = i, w.place[i], w.known[i]
    w.now.changing = which + 1
    if w.known[i]:
        w.u[VALUE, 0, i], w.u[VALUE, 1, i] = right_hand_side(w, i, w.place[i], VALUE)


@lean
def gains(w, i, new):
    """Tell whether the objective falls along a null vector at the end of the walk.

    Curved functions and coordinates at knots count as standing still, as they do exactly after a
    change of the data by `SINGULAR`. The slope of the objective is affine in t, and 0 where i comes
    to its limit. So if it is explained at the end by such a change, it is so before, and i passed
    its limit by rounding alone. (Along a null vector of duals, the dual objective rises.)
    """
    now, m, at_knot, u, du = w.now, w.map, new % 2 == 1, w.u[VALUE, 0], w.u[RATE, 0]
    if m.weights or now.jumping or (not at_knot and surely_gains(w)):
        return True
    end, total, terms, fastest, moved = now.end, 0.0, 0.0, 0.0, 0.0
    for k in range(m.N):
        variable = is_variable(w, k)
        if k == i or not w.known[k]:
            fastest = max(fastest, abs(du[k]) / m.scale[k])
            # unknowns in the sums of values if duals move, else in those of R'a
            if variable == at_knot or m.with_gram:
                moved += abs(u[k]) / m.scale[k]
        row = w.graph.equation[k, w.place[k]]
        x = row[0] + end * row[2]
        if (w.place[k] % 2 == 1) != at_knot or x == 0.0 or w.graph.curvature[k, w.place[k]] > 0.0:
            continue
        moved += abs(x) * (m.scale[k] if at_knot != variable else 1.0 / m.scale[k])
        speed = du[k] if variable != at_knot else rate_of_row(w, k)
        total += x * speed
        terms += abs(x * speed)
    return total > (SINGULAR + now.null_curvature) * (terms + fastest * moved)


@lean
def surely_gains(w):
    """Tell whether `gains` holds for a null vector of values, by bounds of its right-hand side.

    The gain is computed from the known rows' sums in variables' equations, without a look at rows.
    """
    now, m, du, end = w.now, w.map, w.u[RATE, 0], w.now.end
    largest = largest_unknown(w, VALUE, m.known[VALUE] + abs(end) * m.known[RATE])
    total, terms, fastest, moved = 0.0, 0.0, 0.0, m.N * largest
    for k in range(m.n, m.n + m.p):
        if du[k] == 0.0:
            continue
        row, x = w.graph.equation[k, w.place[k]], 0.0
        if w.place[k] % 2 == 0 and w.graph.curvature[k, w.place[k]] == 0.0:
            x = row[0] + end * row[2]
        total += (w.base[0, 0, k] + end * w.base[1, 0, k] + x) * du[k]
        size = w.base_terms[0, k] + abs(end) * w.base_terms[1, k] + abs(x)
        terms += size * abs(du[k])
        moved += abs(x) * m.scale[k]
        fastest = max(fastest, abs(du[k]) / m.scale[k])
    return total > (SINGULAR + now.null_curvature) * (terms + fastest * moved)


@inline
def rate_of_row(w, i):
    """Return the rate of z of a row, or of -R'a of a variable, from the rates of unknowns alone."""
    m, total, du = w.map, 0.0, w.u[RATE, 0]
    if m.sparse and i < m.n + m.p:
        total = times(m, i, du)
    elif i < m.n:
        for j in range(m.p):
            total += m.R[i, j] * du[m.n + j]
    elif is_variable(w, i):
        for k in range(m.n):
            total += m.R[k, i - m.n] * du[k]
    else:
        for j in range(m.p):
            total += w.sign[j] * du[m.n + j]
    return -total if is_variable(w, i) else total


@lean
def put_back(w, i, old, side):
    """Put i back into its place until places change; it may still leave at the other limit."""
    now = w.now
    move(w, i, old)
    now.events -= 2
    now.pending = -1
    now.carried = 0
    now.staying = 1
    now.stayed += 1
    w.stays[i] = side + 1


@lean
def update_system(w):
    """Update point, rates and inverse for the changes of places.

    False: t isn't accurate enough for that change, and nothing is updated.
    """
    now = w.now
    if now.carried and not carry(w):
        return False
    now.fine = 0
    schur_complement(w, w.rough_response, w.rough_schur)
    update(w)
    for g in range(now.changing):
        x = w.changed[g]
        if w.slot[x] >= 0 and is_of_kind(w, x, now.eliminates):
            eliminate(w, x)
    return True


@lean
def orient_null_vector(w, i, old, new):
    """Make the rates a null vector along which i moves from its old place into the new one.

    Along it either duals move or values, never both: M is indefinite, and each of its two definite
    parts has its null vectors.
    """
    m, du, at_knot, way = w.map, w.u[RATE], new % 2 == 1, float(np.sign(new - old))
    w.now.null_residual = 0.0
    count = w.now.solved + w.now.eliminated
    others = count + w.was_known[0]  # including i, which isn't among the unknowns if it was known
    for a in range(others):
        k = coordinate(w, a) if a < count else i
        if is_variable(w, k) == at_knot:
            w.now.null_residual = max(w.now.null_residual, abs(du[0, k]) / m.scale[k])
            du[0, k] = du[1, k] = 0.0
    speed = du[0, i]
    if at_knot == is_variable(w, i):  # the limited number of i isn't its unknown
        speed = rate_of_row(w, i)
    inward = way * speed
    if at_knot:
        inward = -way * speed
        if m.n <= i < m.n + m.weights:
            inward -= du[0, m.N - 1]
    if inward < 0.0:
        for a in range(others):
            k = coordinate(w, a) if a < count else i
            du[0, k], du[1, k] = -du[0, k], -du[1, k]


@lean
def exchange(w):
    """Move along the null vector at fixed t until a coordinate leaves its place.

    Returns as `change`: CHANGED, FALLS if none leaves, or AGAIN.
    """
    now, i = w.now, w.changed[0]
    step_error, speed_error = now.step_error, now.speed_error
    now.pending = i
    while True:
        first_exit(w, True, np.inf, 0.0)
        if now.blocking < 0:
            now.pending = -1
            return FALLS
        if ceases_to_bind(w):
            release_constraint(w)
        k = now.blocking
        old, new = w.place[k], next_place(w, k, now.side)
        move_along(w, now.step, now.step_low, w.response_error[0] + now.null_residual)
        rows = now.step * w.speed[ROWS]
        shift_odometers(w, rows, now.step * w.speed[VARIABLES], rows)
        if abs(new - old) != 2 or not w.graph.still[k, (old + new) // 2]:
            break
        move(w, k, new)  # the system stays the same
        now.carried = 0
    now.step_error, now.speed_error = step_error, speed_error
    note_change(w, 1, k)
    idle = is_idle(w, k, old, new)
    if k != i and not idle:
        respond_before(w, new)
    move(w, k, new)
    now.pending = -1
    if k == i or idle:
        now.carried = 0
        signed = w.map.n <= i < w.map.n + w.map.weights  # in the l1 constraint's row
        if signed or k != i or not is_idle(w, i, w.old_place[0], new):
            factor(w)
        return CHANGED
    restore_rates(w)
    if not now.unsolved and update_system(w):
        return CHANGED
    move(w, k, old)
    return AGAIN


@lean
def ceases_to_bind(w):
    """Tell whether the l1 constraint's multiplier is zero where the first coordinate leaves.

    It is the slope of the objective in the radius: as in `gains`, one that a change of the data by
    `SINGULAR` explains, in the equation of each weight that isn't zero, is none.
    """
    now, m, last = w.now, w.map, w.map.N - 1
    if m.weights == 0 or w.known[last] or now.blocking == last:
        return False
    multiplier, rate = w.u[VALUE, 0, last], w.u[RATE, 0, last]
    if multiplier * rate >= 0.0:
        return False
    left, explained = abs(multiplier + now.step * rate), False
    for j in range(m.n, m.n + m.weights):
        if w.place[j] % 2 == 0:
            explained = left <= SINGULAR * terms_of_variable(w, j)
            if not explained:
                return False
    return explained


@inline
def terms_of_variable(w, j):
    """Return the sum of the absolute terms of a variable's equation."""
    total = base_terms(w, j, VALUE)
    for u in range(w.now.unknowns):
        i = w.unknown[u]
        if i < w.map.N - 1:
            total += abs(entry_of(w, i, j) * w.u[VALUE, 0, i])
    return total


@lean
def release_constraint(w):
    """Make the l1 constraint the coordinate that leaves, where its multiplier is zero."""
    now, last = w.now, w.map.N - 1
    now.blocking, now.side = last, 0 if w.u[VALUE, 0, last] > 0.0 else 1
    number, rate = w.u[VALUE, :, last], w.u[RATE, :, last]
    now.step, now.step_low = divide(-number[0], -number[1], rate[0], rate[1])


@lean
def respond_before(w, new):
    """Solve for the response to the second coordinate in the system before the first changed."""
    i = w.changed[0]
    place, known = w.place[i], w.known[i]
    w.place[i], w.known[i] = w.old_place[0], w.was_known[0]
    respond(w, 1, new, goal_of_response(w))
    w.place[i], w.known[i] = place, known


@lean
def restore_rates(w):
    """Restore the rates from `Walk.kept`."""
    for a in range(w.now.solved + w.now.eliminated):
        x = coordinate(w, a)
        w.u[RATE, 0, x], w.u[RATE, 1, x] = w.kept[0, x], w.kept[1, x]


@lean
def cycles(w):
    """Break ties by the smallest index once places repeat at one t; tell if they do too often."""
    now, times = w.now, 0
    for k in range(now.seen):
        times += w.seen_keys[k] == now.key
    if times > 0:
        now.by_index = 1
    w.seen_keys[now.seen] = now.key
    now.seen += 1
    return times >= REPEATS


@lean
def record_unless_jumping(w):
    """Record the point, unless in a jump."""
    if not w.now.jumping:
        record(w)


@lean
def record(w):
    """Record a point of the path; in double precision no unknown exceeds the limits of its place.

    The largest distance by which one did is kept.

    Second parts are kept, since sums over unknowns may be much smaller than their terms. Rounding
    beside the largest unknown becomes zero.
    """
    now, n, largest = w.now, w.now.nodes, largest_unknown(w, VALUE, 0.0)
    zero = max(NEGLIGIBLE * largest, min(NEGLIGIBLE * w.peak[VALUE], w.error[VALUE]))
    w.node[n, 0], w.node[n, 1] = now.t, now.t_low
    w.node_at[2 * n], w.node_at[2 * n + 1] = now.events, now.entries
    for k in range(now.unknowns):
        i = w.unknown[k]
        if w.map.n <= i < w.map.n + w.map.silent:
            continue
        x, e = w.u[VALUE, 0, i], w.u[VALUE, 1, i]
        if abs(x) <= zero * w.map.scale[i]:
            x = e = 0.0
        if (w.place[i] % 2 == 1) != is_variable(w, i):  # the place limits u itself
            lower, lower_e = number(w, i, w.graph.lower[i, w.place[i]], VALUE)
            upper, upper_e = number(w, i, w.graph.upper[i, w.place[i]], VALUE)
            beyond = max(lower - x, x - upper) / w.map.scale[i]
            if beyond > now.clipped * largest:
                now.clipped, now.clipped_at = beyond / largest, n
            if x < lower:
                x, e = lower, lower_e
            elif x > upper:
                x, e = upper, upper_e
        w.entry[now.entries] = i
        w.entries[now.entries, 0], w.entries[now.entries, 1] = x, e
        now.entries += 1
    now.nodes = n + 1


@lean
def prepare(w, out):
    """Compute all from the places; write the number of each coordinate that its place limits.

    This is the dual at a knot, z elsewhere. False: refinement hardly converged.
    """
    begin(w)
    w.now.carried = 0
    factor(w)
    shrank = solve(w, VALUE, REFINED)
    clear_rates(w)
    write_values(w, out)
    return shrank <= CONTRACTION


@lean
def restart(w):
    """Restart at t = 0 with other graphs that contain the present point; the inverse stays."""
    now = w.now
    now.t = now.t_low = now.clipped = 0.0
    now.nodes = now.events = now.entries = now.seen = now.by_index = now.carried = 0
    begin(w)


@lean
def write_present(w, out):
    """Write the limited numbers at the present point; False: it can't be solved for."""
    if not solve_afresh(w, REFINED):
        return False
    write_values(w, out)
    return True


@lean
def write_values(w, out):
    """Write the number of each coordinate that its place limits."""
    collect(w, True)
    for i in range(w.map.N):
        out[i] = limited_number(w, i, VALUE, True)


@lean
def write_line(w, out, length):
    """Write the limited numbers at t, and those at t + ``length`` on the same line.

    They are in double precision. False: the point can't be solved for.
    """
    if not solve_afresh(w, goal_of_point(w)):
        return False
    collect(w, False)
    for i in range(w.map.N):
        out[i] = limited_number(w, i, VALUE, False)
        out[w.map.N + i] = out[i] + length * limited_number(w, i, RATE, False)
    return True


@lean
def limited_number(w, i, order, twofold):
    """Return the number of a coordinate that its place limits, or its rate."""
    x, place = w.u[order, 0, i], w.place[i]
    if w.known[i]:
        if twofold:
            x, _, _ = known_number(w, i, order, False)
            return x
        x = base_in_double(w, i, order) + unknown_part(w, i, order)
        return -x if is_variable(w, i) else x
    if not is_variable(w, i) and place % 2 == 0:
        h, _ = right_hand_side(w, i, place, order)
        x = (h - x) / w.graph.curvature[i, place]
    return x


@lean
def put(w, i, new):
    """Put a coordinate into a new place at the present t.

    Returns DONE, MORE_ROOM or DENSER (see `walk`), LOST, or UNBOUNDED if nothing limits the motion.
    """
    if not has_room(w):
        return MORE_ROOM
    if not solve_afresh(w, REFINED):
        return DENSER if w.now.eliminated else LOST
    w.now.fine = 1  # no step led here that could be searched for again
    outcome = change(w, i, new, True)
    w.now.fine = 0
    if outcome == AGAIN and w.now.unsolved:
        return DENSER
    return DONE if outcome == CHANGED else UNBOUNDED
