"""Solutions of the system: the point, its rates, and the response to a unit perturbation."""

from __future__ import annotations

import numpy as np

from ..accuracy import goal_of_response, is_near_zero
from ..compiled import lean
from ..odometers import add_correction, reach
from ..state import (
    RATE,
    RIDGED,
    VALUE,
    base_of,
    couples,
    diagonal,
    factors,
    inverse_pivot,
    is_known,
    is_variable,
    known_bound,
    right_hand_side,
)
from ..tolerances import (
    CONTRACTION,
    FLOOR,
    MARGIN,
    NEGLIGIBLE,
    PIVOT,
    REFINED,
    RESPONSE,
    SAFETY,
    SHRINK,
    SINGULAR,
)
from ..twofold import (
    absolute_dot,
    accumulate,
    add,
    add_products,
    axpy,
    copy,
    divide,
    dot,
    dot2,
    multiply,
    normalise,
    scaled_add,
)
from .inverse import entry_of, factor, factor_twofold, low_entry_of, restore

REFINEMENTS = 12
# rows of `work`: right-hand sides, known part, unknowns, residuals; each in two parts
TH, TL, BH, BL, XH, XL, RH, RL, FIRST, SECOND, REST, STEP, SCALED, REST_LOW, ITERATE = range(15)
STEP_LOW = SCALED  # second parts of corrections by a twofold inverse, without elimination


@lean
def solve(w, order, goal):
    """Solve for the point at t, or its rates, to an error; return the contraction."""
    now, s, from_zero = w.now, w.work, order == RATE and w.now.carried == 0
    for a in range(now.solved + now.eliminated):
        i = coordinate(w, a)
        s[TH, a], s[TL, a] = right_hand_side(w, i, w.place[i], order)
        s[BH, a], s[BL, a] = base_of(w, i, order)
        s[XH, a], s[XL, a] = (0.0, 0.0) if from_zero else (w.u[order, 0, i], w.u[order, 1, i])
    error, contraction = _refine(w, from_zero, known_bound(w, order), goal, -1)
    _scatter(w, w.u[order])
    w.error[order] = 2.0 * error
    if order == VALUE:
        add_correction(w, now.corrected)
    elif w.map.with_gram:
        rows, _ = reach(w)
        now.dual_turn += now.corrected * rows
        now.lost = 1 if from_zero or not np.isfinite(now.corrected) else now.lost
    return contraction


@lean
def is_idle(w, i, old, new):
    """Tell whether the system's matrix is the same with i in either place."""
    was_known, known = is_known(w, i, old), is_known(w, i, new)
    if known or was_known:
        return known and was_known
    return diagonal(w, i, new) == diagonal(w, i, old)


@lean
def is_singular(w, new):
    """Tell whether the system is singular with the changing coordinate in its new place.

    If so, the rates become its null vector.
    """
    i, was_known = w.changed[0], w.was_known[0] == 1
    known = is_known(w, i, new)
    after = 0.0 if known else diagonal(w, i, new)
    before = 0.0 if was_known else diagonal(w, i, w.place[i])
    now, goal = w.now, goal_of_response(w)
    now.careful = max(now.careful - 1, 0)
    respond(w, 0, new, goal)
    pivot, whole, share, reach = _pivot(w, i, known, was_known, after, before)
    if goal == RESPONSE and is_near_zero(pivot, reach):
        goal, now.shrink = (REFINED if share < SINGULAR else PIVOT), 1.0  # to be measured
        respond(w, 0, new, goal)
        pivot, whole, share, _ = _pivot(w, i, known, was_known, after, before)
    if is_near_zero(pivot, whole):
        now.shrink = 1.0  # the inverse may be less accurate than before
    if abs(pivot) > share * whole:
        return False
    du = w.u[RATE]
    for a in range(now.solved + now.eliminated):
        k = coordinate(w, a)
        w.kept[0, k], w.kept[1, k] = du[0, k], du[1, k]
    _scatter(w, du)
    du[0, i] = 0.0 if known else (1.0 if was_known else du[0, i])
    du[1, i] = 0.0 if known or was_known else du[1, i]
    return True


@lean
def respond(w, number, new, goal):
    """Solve for the response of unknowns to a coordinate that changes its place.

    The unknown of a known coordinate changes by 1, else the right-hand side of its equation. The
    first coordinate that changes at this t has number 0. Neither is eliminated. Where others are,
    the system may be too ill-conditioned: then ``unsolved`` says so.
    """
    now, i, response, rough = (
        w.now,
        w.changed[number],
        w.response[number],
        w.rough_response[number, 0],
    )
    unit = 1.0 / w.map.scale[i] if w.known[i] else 0.0
    for attempt in range(3):
        _prepare(w, i, new)
        only = -1 if w.known[i] else w.slot[i]
        error, contraction = _refine(w, True, unit, goal, only)
        if contraction <= CONTRACTION:
            break
        if attempt == 0:
            factor(w)
            for g in range(number, -1, -1):
                if w.slot[w.changed[g]] <= -2:
                    restore(w, w.changed[g])
        elif attempt == 1 and not now.eliminated:
            factor_twofold(w)
    now.unsolved |= 1 if contraction > CONTRACTION and now.eliminated else 0
    _scatter(w, response)
    for a in range(now.solved + now.eliminated):
        rough[coordinate(w, a)] = w.work[ITERATE, a]
    if w.known[i]:
        response[0, i], response[1, i] = 1.0, 0.0
        rough[i] = 1.0
    w.response_error[number] = 2.0 * error


@lean
def _prepare(w, i, new):
    """State the system that the response to coordinate i solves."""
    s, now = w.work, w.now
    if w.map.n <= i < w.map.n + w.map.weights and w.known[i]:
        w.sign[i - w.map.n] = new - 1.0
    for a in range(now.solved + now.eliminated):
        k = coordinate(w, a)
        s[TH, a] = s[TL, a] = s[BH, a] = s[BL, a] = s[XH, a] = s[XL, a] = 0.0
        if w.known[i]:
            s[BH, a], s[BL, a] = entry_of(w, k, i), low_entry_of(w, k, i)
        elif k == i:
            s[TH, a], _ = factors(w, i, w.place[i])


@lean
def _pivot_of_row(w, i, enters, curvature):
    """Return the largest change of a coordinate with curvature in the response to row i, and size.

    ``curvature`` is the diagonal term of the curved segment that the row leaves: the change of its
    dual then counts, too.

    The pivot itself, the quadratic part of the objective, is a sum of squares: as small as rounding
    where a row is only nearly dependent.
    """
    s, m = w.work, w.map
    moved = 0.0 if curvature == 0.0 else curvature * abs(s[XH, w.slot[i]]) * m.scale[i]
    whole = 1.0 / m.scale[i] if enters else moved
    for a in range(w.now.solved + w.now.eliminated):
        k = coordinate(w, a)
        x, unit, q = abs(s[XH, a]), m.scale[k], w.graph.curvature[k, w.place[k]]
        if is_variable(w, k):
            curved = m.ridge[k - m.n] + q
            if enters:
                moved = max(moved, curved * x * unit)
            else:
                whole = max(whole, x / unit)
                moved = max(moved, x / unit if curved > 0.0 else 0.0)
        elif k != i:
            if enters:
                whole = max(whole, x / unit)
            if q > 0.0:
                moved = max(moved, x / unit if enters else x / q * unit)
    return moved, whole


@lean
def _pivot(w, i, known, was_known, after, before):
    """Return the pivot of a response, the size of its terms, and the share below which it is zero.

    Last comes the size of the terms if all unknowns changed as much as the largest one: times the
    response's relative error it bounds the pivot's error.
    """
    s, now, m = w.work, w.now, w.map
    now.null_curvature = 0.0
    if i < m.n and known != was_known and not m.with_gram and not m.weights:
        if after > 0.0:  # the row's curvature
            return 1.0, 1.0, SINGULAR, 1.0
        moved, whole = _pivot_of_row(w, i, was_known, before)
        return moved, whole, SINGULAR, whole
    count = now.solved + now.eliminated
    largest = 1.0 / m.scale[i] if was_known else 0.0
    for a in range(count):
        largest = max(largest, abs(s[XH, a]) / m.scale[coordinate(w, a)])
    if was_known and not known:
        pivot, whole, reach = _pivot_of_entrant(w, i, after, largest)
        now.null_curvature = np.sqrt(abs(pivot)) * m.scale[i]
        if m.weights or m.with_gram > m.with_low:
            return pivot, whole + SINGULAR / m.scale[i] ** 2, SINGULAR, reach
        # the square of a distance, with an error from the condition of rows at knots
        share = SINGULAR**2 if m.with_low else SINGULAR * FLOOR
        return pivot, whole + 1.0 / m.scale[i] ** 2, share, reach
    u_i = s[XH, w.slot[i]]
    if known:  # compare with unknowns of the other kind, values or duals
        largest = 0.0
        for a in range(count):
            k = coordinate(w, a)
            if is_variable(w, k) != is_variable(w, i):
                largest = max(largest, abs(s[XH, a]) / m.scale[k])
        return abs(u_i) / m.scale[i], largest, SINGULAR, largest
    step = (after - before) * u_i
    return 1.0 + step, 1.0 + abs(step), SINGULAR, 1.0 + abs(step)


@lean
def _pivot_of_entrant(w, i, after, largest):
    """Return the pivot of a known coordinate that enters, the size of its terms, and the last one.

    See `_pivot`.
    """
    s, m, count = w.work, w.map, w.now.solved + w.now.eliminated
    h, e = add(entry_of(w, i, i), low_entry_of(w, i, i), after, 0.0)
    whole = abs(entry_of(w, i, i)) + abs(after)
    among = across = duals = reach = 0.0
    for a in range(count):
        top = largest * m.scale[coordinate(w, a)]
        size = max(abs(s[XH, a]), FLOOR * top)
        reach += abs(s[BH, a]) * top
        h, e = accumulate(h, e, s[BH, a], s[XH, a], s[XL, a])
        e += s[BL, a] * s[XH, a]
        whole += abs(s[BH, a]) * size
        s[REST, a] = size
        k = coordinate(w, a)
        if is_variable(w, k):
            across += m.largest[k] * size
        elif k < m.n:
            duals += size
            among += size * np.sqrt(m.gram[k, k]) if m.with_gram else 0.0
    if m.with_gram and not m.with_low:
        total = 2.0 * whole
        most = total + among**2 + 2.0 * across * duals  # by the Cauchy-Schwarz inequality
        if not is_near_zero(h + e, most):
            return h + e, most, max(most, reach)
        for a in range(count):
            total += s[REST, a] * absolute_dot(w.H[a], s[REST], count)
        whole = total
    return h + e, whole, max(whole, reach)


@lean
def coordinate(w, a):
    """Return the coordinate of unknown a: first those of the inverse, then eliminated ones."""
    return w.solved[a] if a < w.now.solved else w.eliminated[a - w.now.solved]


@lean
def _scatter(w, to):
    for a in range(w.now.solved + w.now.eliminated):
        i = coordinate(w, a)
        to[0, i], to[1, i] = w.work[XH, a], w.work[XL, a]


@lean
def _residual(w, from_zero):
    """Write base + H x of all unknowns; ``from_zero``: x is zero."""
    s, k, eliminated = w.work, w.now.solved, w.now.eliminated
    copy(s[RH], s[BH], k + eliminated)
    copy(s[RL], s[BL], k + eliminated)
    if from_zero:
        return
    variables = 0
    for a in range(k):
        variables += is_variable(w, w.solved[a])
    if w.map.with_gram or 3 * variables > k:
        add_products(s[RH], s[RL], w.H, k, s[XH], s[XL])
        for a in range(k if w.map.with_low else 0):
            axpy(s[RL], w.L[a], k, s[XH, a])
    else:
        _add_variables(w)
    if eliminated:
        _add_eliminated(w)


@lean
def _add_variables(w):
    """Add the variables' entries of H to residuals, where H has no entries between rows."""
    s, k = w.work, w.now.solved
    for a in range(k):
        if is_variable(w, w.solved[a]):
            h, e = dot2(w.H[a], s[XH], s[XL], k)
            diagonal_entry, w.H[a, a] = w.H[a, a], 0.0  # count it once
            scaled_add(s[RH], s[RL], w.H[a], k, s[XH, a], s[XL, a])
            w.H[a, a] = diagonal_entry
            s[RH, a], s[RL, a] = add(s[RH, a], s[RL, a], h, e)


@lean
def _add_eliminated(w):
    """Add the eliminated coordinates' entries of H to residuals: with solved ones, and diagonal."""
    s, k, eliminated = w.work, w.now.solved, w.now.eliminated
    for a in range(k):
        if couples(w, w.solved[a]):
            scaled_add(s[RH, k:], s[RL, k:], w.E[a], eliminated, s[XH, a], s[XL, a])
    for c in range(eliminated):
        a = k + c
        scaled_add(s[RH], s[RL], w.F[c], k, s[XH, a], s[XL, a])
        if w.now.eliminates == RIDGED:
            ridge = w.map.ridge[w.eliminated[c] - w.map.n]
            h, e = accumulate(s[RH, a], s[RL, a], -ridge, s[XH, a], s[XL, a])
            s[RH, a], s[RL, a] = normalise(h, e)


@lean
def _largest_sum(w):
    """Return the largest sum of absolute terms of a residual, in units, 0 with eliminated ones."""
    s, k, scale, largest = w.work, w.now.solved, w.map.scale, 0.0
    for a in range(0 if w.now.eliminated else k):
        terms = 0.0
        for b in range(k):
            terms += abs(w.H[a, b] * s[XH, b])
        largest = max(largest, terms * scale[w.solved[a]])
    return largest


@lean
def _correct(w, only):
    """Compute corrections `STEP` from residuals `REST`: by the inverse, then eliminated ones.

    If ``only`` is the single nonzero residual (else -1), corrections are a multiple of a column.
    """
    s, k, eliminated = w.work, w.now.solved, w.now.eliminated
    rest, step = s[REST], s[STEP]
    if w.now.twofold:
        for a in range(k):
            h, e = dot2(w.inverse[a], rest, s[REST_LOW], k)
            step[a], s[STEP_LOW, a] = normalise(h, e + dot(w.inverse_low[a], rest, k))
        return
    if eliminated:
        scaled, left = s[SCALED], step[k:]
        for c in range(eliminated):
            scaled[c] = rest[k + c] * inverse_pivot(w, w.eliminated[c])
            left[c] = rest[k + c]
        for a in range(k):
            if couples(w, w.solved[a]):
                rest[a] -= dot(w.E[a], scaled, eliminated)
    if only >= 0 and not eliminated:
        for a in range(k):
            step[a] = rest[only] * (w.inverse[only, a] if a < only else w.inverse[a, only])
        return
    multiply(w.inverse, rest, step, k)
    if eliminated:
        for a in range(k):
            if couples(w, w.solved[a]):
                axpy(left, w.E[a], eliminated, -step[a])
        for c in range(eliminated):
            left[c] *= inverse_pivot(w, w.eliminated[c])


@lean
def _refine(w, from_zero, known, goal, only):
    """Solve in place, with residuals in twofold precision, until these or corrections are rounding.

    Parameters
    ----------
    from_zero : bool
        Whether the guess of the unknowns is zero.
    known : float
        Size of the largest known unknown, in its unit.
    goal : float
        Error that is good enough, relative to the largest unknown.
    only : int
        The unknown whose equation alone a guess of zero leaves unsolved, or -1.

    Returns
    -------
    error : float
        Error of the unknowns, in their units.
    contraction : float
        Largest ratio of two successive corrections above rounding.
    """
    s, m, now, count = w.work, w.map, w.now, w.now.solved + w.now.eliminated
    last, rest_before, accuracy, contraction, largest = np.inf, np.inf, 0.0, 0.0, known
    now.corrected = 0.0
    for a in range(count):
        i = coordinate(w, a)
        s[FIRST, a], s[SECOND, a] = factors(w, i, w.place[i])
        largest = max(largest, abs(s[XH, a]) / m.scale[i])
    for turn in range(REFINEMENTS if count else 0):
        _residual(w, from_zero and turn == 0)
        for a in range(count):
            h, e = accumulate(s[TH, a], s[TL, a], -s[FIRST, a], s[RH, a], s[RL, a])
            h, e = accumulate(h, e, -s[SECOND, a], s[XH, a], s[XL, a])
            s[REST, a], s[REST_LOW, a] = divide(h, e, s[FIRST, a], 0.0)
        _correct(w, only if turn == 0 else -1)
        if from_zero and turn == 0:
            copy(s[ITERATE], s[STEP], count)
        size, rest, before, largest, finite = 0.0, 0.0, largest, known, True
        for a in range(count):
            unit = m.scale[coordinate(w, a)]
            low = s[STEP_LOW, a] if now.twofold else 0.0
            s[XH, a], s[XL, a] = add(s[XH, a], s[XL, a], s[STEP, a], low)
            size = max(size, abs(s[STEP, a]) / unit)
            finite = finite and np.isfinite(s[XH, a])
            rest = max(rest, abs(s[REST, a]) * unit)
            largest = max(largest, abs(s[XH, a]) / unit)
        if not finite:  # the inverse is useless
            s[XH, :count] = 0.0
            s[XL, :count] = 0.0
            now.corrected = np.inf
            return np.inf, np.inf
        now.corrected += size
        accuracy = size / largest if largest > 0.0 else 0.0
        if goal > REFINED:
            if last < np.inf and last > 0.0:
                now.shrink = max(SAFETY * size / last, SHRINK)
            if accuracy * now.shrink <= goal:
                return accuracy * now.shrink * largest, contraction
        solved = rest <= REFINED * before
        if not solved and rest <= REFINED * before * count:  # a residual is a sum of many terms
            solved = rest <= REFINED * _largest_sum(w)
        if accuracy <= REFINED or (solved and 4.0 * rest > rest_before):
            break
        # with a twofold inverse, rounding of residuals may be large in weak directions
        shrunk = now.twofold and rest <= CONTRACTION * rest_before
        rest_before = rest
        if last < np.inf and not solved and not shrunk:
            if accuracy > NEGLIGIBLE:
                contraction = max(contraction, size / last)
            if size > CONTRACTION * last:
                break
            if accuracy * (size / last) * MARGIN <= REFINED:  # the next correction is rounding
                accuracy *= size / last * MARGIN
                break
        last = size
    if contraction > 0.0:
        now.shrink = max(SAFETY * contraction, SHRINK)
    return accuracy * largest, contraction
