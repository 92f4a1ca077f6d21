"""The homotopy: one loop for every statement.

The state is the parameter t and a place, knot or segment, for each coordinate; all else is computed
from it. Between two breakpoints the point (z, a) moves on a straight line. Where the system is
singular, t stands still and the point moves along a null vector, turned so that the coordinate that
changed last moves into its new place. This one rule is the exchange of dependent rows, the pivot of
a linear programme, the empty margin set, and the start at an optimum that is not unique.
"""

from __future__ import annotations

import numpy as np

from .accuracy import goal_of_point, goal_of_response, is_accurate, is_kept
from .compiled import inline, lean
from .odometers import forget_lines, go, look_again, shift
from .ratio import collect, first_exit, known_number, largest_unknown
from .rows import times
from .state import (
    RATE,
    ROWS,
    VALUE,
    VARIABLES,
    begin,
    can_eliminate,
    clear_rates,
    is_variable,
    move,
    number,
    right_hand_side,
)
from .systems.carry import carry, schur_complement
from .systems.inverse import eliminate, factor, factor_twofold, restore, update
from .systems.solve import coordinate, is_idle, is_singular, respond, solve
from .tolerances import CAREFUL, CONTRACTION, FINE, RESPONSE, ROUNDING, SINGULAR
from .twofold import accumulate, add

DONE, MORE_ROOM, UNBOUNDED, CYCLE, DENSER, WALL, LOST = range(7)
FALLS, CHANGED, STAYS, AGAIN = range(4)
WALL_MARK = 2  # of a knot at which the walk stops, in place of 1 for a hollow one
REPEATS = 4  # of the same places at the same t


@lean
def walk(w, steps):
    """Follow the optima to the end of the path, for at most so many steps.

    Returns
    -------
    DONE, or UNBOUNDED (no optimum beyond), CYCLE (ties can't be resolved), LOST (a system can't be
    solved), WALL (a coordinate is at a knot at which the walk stops), MORE_ROOM (call again with
    larger arrays), DENSER (the same, with eliminated rows in the inverse).
    """
    now = w.now
    for _ in range(steps):
        if not has_room(w):
            return MORE_ROOM

        # 1. The point and its rate. 2. The first coordinate that leaves its place.
        left, left_low = add(now.way * now.end, 0.0, -now.way * now.t, -now.way * now.t_low)
        if not find_exit(w, left, left_low):
            return DENSER if now.eliminated else LOST
        if left - now.step <= now.rest:
            now.found, now.step, now.step_low = -1, left, left_low

        # 3. Record both ends of the straight piece.
        begun = now.t, now.t_low, now.nodes, now.entries
        if now.step > 0.0:
            keep(w)
            advance(w, now.way * now.step, now.way * now.step_low)
            keep(w)
            now.seen = now.by_index = 0
            if now.nodes == 2:
                now.rest = max(now.rest, now.near * (left - now.step))
        if now.found < 0:
            return DONE

        # 4. That coordinate changes its place; along a null vector another one follows.
        first, old, side = now.found, w.place[now.found], now.side
        new = next_place(w, first, side)
        became = change(w, first, new, False)
        if became == AGAIN:
            go_back(w, begun)
            continue
        if became == STAYS:
            continue
        if became == FALLS:
            if now.jumping or w.graph.hollow[first, new] != WALL_MARK:
                return UNBOUNDED
            stay(w, first, old, side)  # between two walls: who is held at the other gives way
            return WALL
        if is_at_wall(w, first) or is_at_wall(w, now.found):
            return WALL
        if cycles(w):
            return CYCLE
    return MORE_ROOM


@lean
def has_room(w):
    """Tell whether one more step fits into all arrays."""
    now = w.now
    unknowns = now.solved + now.eliminated
    return (
        now.solved + 4 <= len(w.solved)
        and now.nodes + 4 <= len(w.node)
        and now.events + 4 * w.map.N + 4 <= len(w.event)
        and now.entries + 2 * unknowns + 8 <= len(w.entry)
        and now.seen + 2 <= len(w.seen_keys)
    )


@lean
def find_exit(w, left, left_low):
    """Find the first coordinate that leaves its place; False: the point can't be solved for.

    Point and rate are solved for where they are not known well enough: see `accuracy`.
    """
    now = w.now
    if now.shrink > RESPONSE and now.changes - now.factored > now.solved:
        factor(w)
    settled, goal = is_accurate(w, 0.0), ROUNDING if now.again else goal_of_point(w)
    now.again = 0
    while True:
        if not settled:
            if not solve_afresh(w, goal):
                return False
            goal = ROUNDING
        first_exit(w, False, left, left_low)
        if now.carried == 1 or not (now.undecided or not is_accurate(w, now.step)):
            return True
        settled = False
        if now.undecided:
            now.careful, goal = CAREFUL, ROUNDING


@lean
def solve_afresh(w, goal):
    """Solve for the point and its rate; an inverse that is worth little is computed afresh.

    A point that is known well enough, as it is carried along, stays as it is.
    """
    now = w.now
    now.undecided, now.step_error, now.speed_error = 0, 0.0, 0.0
    kept = is_kept(w, goal)
    for attempt in range(3):
        slow = not kept and solve(w, VALUE, goal) > CONTRACTION
        slow = solve(w, RATE, goal) > CONTRACTION or slow
        if not slow:
            now.carried = 1 if goal == ROUNDING else 2
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
    """Move t and the unknowns along the motion."""
    now = w.now
    now.t, now.t_low = add(now.t, now.t_low, step, step_low)
    if now.found < 0:
        now.t, now.t_low = now.end, 0.0
    move_along(w, step, step_low, w.error[RATE])
    go(w, step)


@lean
def go_back(w, begun):
    """Go back to where the last step began, to find its end with numbers known to rounding.

    Unknowns stay as they are, as they are solved for.
    """
    now = w.now
    now.t, now.t_low, now.nodes, now.entries = begun
    now.carried, now.again = 0, 1
    look_again(w, 0, w.map.N)
    forget_lines(w)


@lean
def move_along(w, step, step_low, error):
    """Move the unknowns along their motion, which has an error."""
    u, du = w.u[VALUE], w.u[RATE]
    for k in range(w.now.unknowns):
        i = w.unknown[k]
        h, e = accumulate(u[0, i], u[1, i], du[0, i], step, step_low)
        h, e = accumulate(h, e, du[1, i], step, 0.0)
        u[0, i], u[1, i] = add(h, e, 0.0, 0.0)
    w.error[VALUE] += abs(step) * error


@lean
def next_place(w, i, side):
    """Return where i goes from that limit; hollow knots are passed through."""
    old = w.place[i]
    way = 1 - 2 * side if old % 2 else 2 * side - 1
    new = old + way
    return new + way if new % 2 and w.graph.hollow[i, new] == 1 else new


@lean
def is_at_wall(w, i):
    """Tell whether a coordinate is at a knot at which the walk stops."""
    return not w.now.jumping and w.graph.hollow[i, w.place[i]] == WALL_MARK


@lean
def change(w, i, new, forced):
    """Put coordinate i into a new place, and another one with it where the system is singular.

    Flat is flat: along a null vector the point moves only for a gain that rounding of the data
    can't explain. Without one i passed its limit by rounding alone, and stays where it is until
    other places change: a row only where no other coordinate can leave in its place.

    Returns
    -------
    CHANGED, FALLS (the point can move along a null vector for ever), STAYS, or AGAIN (the error of
    t matters, and nothing has changed).
    """
    now, old, side, events = w.now, w.place[i], w.now.side, w.now.events
    became = changed(w, i, new, forced)
    now.null_curvature = 0.0
    if became == AGAIN:
        move(w, i, old)
        now.events = events
    elif became == STAYS:
        stay(w, i, old, side)
    elif now.staying:
        w.stays[:] = 0
        now.staying = 0
    for g in range(now.changing):
        if w.known[w.changed[g]]:  # known ones have no rates
            w.u[RATE, 0, w.changed[g]] = w.u[RATE, 1, w.changed[g]] = 0.0
    return became


@lean
def changed(w, i, new, forced):
    """Do what `change` says, but for a coordinate that stays, or goes back."""
    old = w.place[i]
    note_change(w, 0, i)
    idle = is_idle(w, i, old, new)
    singular = not idle and is_singular(w, new)
    move(w, i, new)
    if singular:
        orient_null_vector(w, i, old, new)
        gained = forced or gains(w, i, new)
        if not gained and w.now.null_curvature > 0.0:
            return STAYS
        became = exchange(w)
        return STAYS if became == FALLS and not gained else became
    if idle:
        w.now.carried = 0
        return CHANGED
    return CHANGED if update_system(w) else AGAIN


@lean
def note_change(w, which, i):
    """Note that i is about to change its place: the first one at this t, or the second one.

    The system has it among its unknowns from here on, as if it were not known, nor eliminated.
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

    It is that of curved functions and of coordinates at knots if these stand still exactly, as they
    do once data are changed by `SINGULAR`. It moves affinely in t, and is 0 where i comes to its
    limit. So if it isn't there at the end, beyond what such a change makes of it, it isn't there
    before, and i passed its limit by rounding alone. (Of a null vector of duals, the dual objective
    rises.)
    """
    now, m, at_knot, u, du = w.now, w.map, new % 2 == 1, w.u[VALUE, 0], w.u[RATE, 0]
    if m.weights or now.jumping or (not at_knot and surely_gains(w)):
        return True
    end, total, terms, fastest, moved = now.end, 0.0, 0.0, 0.0, 0.0
    for k in range(m.N):
        variable = is_variable(w, k)
        if k == i or not w.known[k]:
            fastest = max(fastest, abs(du[k]) / m.scale[k])
            # where duals move these are what values are summed from, else what pulls are
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
    """Tell whether `gains` holds of values by a bound of what it compares the gain with.

    The gain is that of the sums which known rows add to variables' equations, so that no row is
    looked at.
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
    """Return how z of a row, or minus the pull of a variable, moves by the rates alone."""
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
def stay(w, i, old, side):
    """Put i back to where it was, until places change; it may still leave on the other side."""
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
    """Bring rates and inverse up to date after the changes of places.

    False: t isn't known well enough for that change, and nothing is brought up to date.
    """
    now = w.now
    if now.carried and not carry(w):
        return False
    schur_complement(w, w.rough_response, w.rough_schur)
    update(w)
    for g in range(now.changing):
        x = w.changed[g]
        if w.slot[x] >= 0 and can_eliminate(w, x):
            eliminate(w, x)
    return True


@lean
def orient_null_vector(w, i, old, new):
    """Make the rates a null vector along which i moves from its old place into the new one.

    Along it either duals move or values, never both: M is an indefinite system whose two definite
    parts have null vectors of their own.
    """
    m, du, at_knot, way = w.map, w.u[RATE], new % 2 == 1, float(np.sign(new - old))
    w.now.null_residual = 0.0
    count = w.now.solved + w.now.eliminated
    others = count + w.was_known[0]  # with i itself, if it isn't among them
    for a in range(others):
        k = coordinate(w, a) if a < count else i
        if is_variable(w, k) == at_knot:
            w.now.null_residual = max(w.now.null_residual, abs(du[0, k]) / m.scale[k])
            du[0, k] = du[1, k] = 0.0
    own = du[0, i]
    if at_knot == is_variable(w, i):  # its value is on the other side of the map
        own = rate_of_row(w, i)
    inward = way * own
    if at_knot:
        inward = -way * own
        if m.n <= i < m.n + m.weights:
            inward -= du[0, m.N - 1]
    if inward < 0.0:
        for a in range(others):
            k = coordinate(w, a) if a < count else i
            du[0, k], du[1, k] = -du[0, k], -du[1, k]


@lean
def exchange(w):
    """Move along the null vector, t standing still, until a coordinate leaves its place.

    Returns what `change` does: CHANGED, FALLS where none leaves, or AGAIN.
    """
    now, i = w.now, w.changed[0]
    step_error, speed_error = now.step_error, now.speed_error
    now.pending = i
    while True:
        first_exit(w, True, np.inf, 0.0)
        k = now.found
        if k < 0:
            now.pending = -1
            return FALLS
        old, new = w.place[k], next_place(w, k, now.side)
        move_along(w, now.step, now.step_low, w.response_error[0] + now.null_residual)
        rows = now.step * w.speed[ROWS]
        shift(w, rows, now.step * w.speed[VARIABLES], rows)
        if abs(new - old) != 2 or not w.graph.still[k, (old + new) // 2]:
            break
        move(w, k, new)  # nothing changes there
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
    if update_system(w):
        return CHANGED
    move(w, k, old)
    return AGAIN


@lean
def respond_before(w, new):
    """Solve for the response to the second coordinate, too, before the first one changed."""
    i = w.changed[0]
    place, known = w.place[i], w.known[i]
    w.place[i], w.known[i] = w.old_place[0], w.was_known[0]
    respond(w, 1, new, goal_of_response(w))
    w.place[i], w.known[i] = place, known


@lean
def restore_rates(w):
    """Take the rates back from where they were kept."""
    for a in range(w.now.solved + w.now.eliminated):
        x = coordinate(w, a)
        w.u[RATE, 0, x], w.u[RATE, 1, x] = w.kept[0, x], w.kept[1, x]


@lean
def cycles(w):
    """Break ties by the smallest index where places repeat at the same t; tell if too often."""
    now, times = w.now, 0
    for k in range(now.seen):
        times += w.seen_keys[k] == now.key
    if times > 0:
        now.by_index = 1
    w.seen_keys[now.seen] = now.key
    now.seen += 1
    return times >= REPEATS


@lean
def keep(w):
    """Record the point, unless t stands still."""
    if not w.now.jumping:
        record(w)


@lean
def record(w):
    """Keep a point of the path; no unknown is beyond the limits of its place in double precision.

    Second parts stay as they are: what the unknowns add up to may be much smaller than they are.
    What is rounding in comparison with the largest unknown is zero.
    """
    now, n, largest = w.now, w.now.nodes, largest_unknown(w, VALUE, 0.0)
    nothing = max(FINE * largest, min(FINE * w.peak[VALUE], w.error[VALUE]))
    w.node[n, 0], w.node[n, 1] = now.t, now.t_low
    w.node_at[2 * n], w.node_at[2 * n + 1] = now.events, now.entries
    for k in range(now.unknowns):
        i = w.unknown[k]
        if w.map.n <= i < w.map.n + w.map.silent:
            continue
        x, e = w.u[VALUE, 0, i], w.u[VALUE, 1, i]
        if abs(x) <= nothing * w.map.scale[i]:
            x = e = 0.0
        if (w.place[i] % 2 == 1) != is_variable(w, i):  # others' limits are not those of u
            lower, lower_e = number(w, i, w.graph.lower[i, w.place[i]], VALUE)
            upper, upper_e = number(w, i, w.graph.upper[i, w.place[i]], VALUE)
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
    """Compute all from the places; write the value of each coordinate that its place limits.

    That is its dual at a knot, and z elsewhere. False: corrections hardly shrank.
    """
    begin(w)
    w.now.carried = 0
    factor(w)
    shrank = solve(w, VALUE, ROUNDING)
    clear_rates(w)
    write_values(w, out)
    return shrank <= CONTRACTION


@lean
def restart(w):
    """Go on from t = 0 with other graphs, which have the present point there, and the factor."""
    now = w.now
    now.t = now.t_low = 0.0
    now.nodes = now.events = now.entries = now.seen = now.by_index = now.carried = 0
    begin(w)


@lean
def present(w, out):
    """Write the same of the point where the walk stands now; False: it can't be solved for."""
    if not solve_afresh(w, ROUNDING):
        return False
    write_values(w, out)
    return True


@lean
def write_values(w, out):
    """Write the value of each coordinate that its place limits."""
    m = w.map
    collect(w, True)
    for i in range(m.N):
        x = w.u[VALUE, 0, i]
        place = w.place[i]
        if w.known[i]:
            x, _, _ = known_number(w, i, VALUE, False)
        elif not is_variable(w, i) and place % 2 == 0:
            h, _ = right_hand_side(w, i, place, VALUE)
            x = (h - x) / w.graph.curvature[i, place]
        out[i] = x


@lean
def put(w, i, new):
    """Put a coordinate into a new place at the present t.

    Returns DONE, MORE_ROOM (see `walk`), LOST or UNBOUNDED, where it can move for ever.
    """
    if not has_room(w):
        return MORE_ROOM
    if not solve_afresh(w, ROUNDING):
        return LOST
    return DONE if change(w, i, new, True) == CHANGED else UNBOUNDED
