"""Updates of point and rates after changes of places, by multiples of responses.

The response to a unit change of a coordinate solves the equations of all others. A multiple of it
also solves the coordinate's equation in its new place; for two coordinates, two multiples do.
"""

from __future__ import annotations

import numpy as np

from ..accuracy import is_magnified, matters
from ..compiled import inline, lean
from ..odometers import add_correction, reach
from ..state import RATE, VALUE, base_of, factors, right_hand_side
from ..twofold import accumulate, add, divide, normalise, times
from .inverse import diagonal2, diagonal_change, entry_of, low_entry_of
from .solve import coordinate


@inline
def scaled_right_hand_side(w, i, place, order):
    """Return the right-hand side of a place's equation divided by its first factor."""
    first, _ = factors(w, i, place)
    h, e = right_hand_side(w, i, place, order)
    return divide(h, e, first, 0.0)


@lean
def equation_of_entered(w, number, v):
    """Return (H v)_x + D v_x for a coordinate x that enters; a second one, y, may enter, too."""
    x = w.changed[number]
    h, e = add(entry_of(w, x, x), low_entry_of(w, x, x), 0.0, 0.0)
    r, f = diagonal2(w, x, w.place[x])
    h, e = add(h, e, r, f)
    h, e = times(h, e, v[0, x], v[1, x])
    for a in range(w.now.solved + w.now.eliminated):
        k = coordinate(w, a)
        h, e = accumulate(h, e, entry_of(w, k, x), v[0, k], v[1, k])
        if w.map.with_low:
            e += low_entry_of(w, k, x) * v[0, k]
    if w.now.changing == 2 and w.was_known[1 - number]:
        y = w.changed[1 - number]
        h, e = accumulate(h, e, entry_of(w, y, x), v[0, y], v[1, y])
        e += low_entry_of(w, y, x) * v[0, y] if w.map.with_low else 0.0
    return normalise(h, e)


@lean
def residual(w, number, order):
    """Return the residual of a new equation at the solution of the old ones, or at its rates."""
    x, u = w.changed[number], w.u[order]
    if w.known[x]:
        h, e = right_hand_side(w, x, w.place[x], order)
        return add(h, e, -u[0, x], -u[1, x])
    h, e = scaled_right_hand_side(w, x, w.place[x], order)
    if not w.was_known[number]:
        r, f = scaled_right_hand_side(w, x, w.old_place[number], order)
        h, e = add(h, e, -r, -f)
        r, f = diagonal_change(w, number)
        r, f = times(r, f, u[0, x], u[1, x])
        return add(h, e, -r, -f)
    r, f = equation_of_entered(w, number, u)
    a, b = base_of(w, x, order)
    r, f = add(r, f, a, b)
    y = w.changed[1 - number] if w.now.changing == 2 else -1
    if y >= 0 and w.known[y] and not w.was_known[1 - number]:  # both in base and an unknown
        a, b = right_hand_side(w, y, w.place[y], order)
        r, f = accumulate(r, f, -entry_of(w, y, x), a, b)
        f -= low_entry_of(w, y, x) * a if w.map.with_low else 0.0
    return add(h, e, -r, -f)


@lean
def schur_complement(w, P, S):
    """Write to S[g, h] the new equation's left-hand side of g for the response P[h]."""
    count = w.now.changing
    for g in range(count):
        if w.was_known[g] and count == 2:  # the other one's response doesn't move it
            P[1 - g, 0, w.changed[g]] = P[1 - g, 1, w.changed[g]] = 0.0
    for g in range(count):
        for h in range(count):
            S[g, h, 0], S[g, h, 1] = equation_response(w, g, P[h], g == h)


@lean
def equation_response(w, number, v, of_itself):
    """Return a new equation's left-hand side for a response; ``of_itself``: to its coordinate."""
    x = w.changed[number]
    if w.known[x]:
        return v[0, x], v[1, x]
    if w.was_known[number]:
        return equation_of_entered(w, number, v)
    h, e = diagonal_change(w, number)
    h, e = times(h, e, v[0, x], v[1, x])
    return add(h, e, 1.0 if of_itself else 0.0, 0.0)


@lean
def carry(w):
    """Update point and rates after one or two changes of places.

    The point changes by rounding alone, or by the residual of an approximate null vector. Since
    rates change there, an error of t adds this change times it to the point's error. False: that is
    too large, or a distance that counted as zero moves the point.
    """
    now, S, count = w.now, w.schur, w.now.changing
    schur_complement(w, w.response, S)
    for g in range(count):
        x = w.changed[g]
        if w.was_known[g]:
            w.u[RATE, 0, x], w.u[RATE, 1, x] = right_hand_side(w, x, w.old_place[g], RATE)
    h, e = S[0, 0, 0], S[0, 0, 1]
    if count == 2:
        h, e = _determinant(S[0, 0], S[1, 1], S[0, 1], S[1, 0])
    known, now.carried = now.carried, 0
    if h == 0.0:
        return True
    x, y = solve_by_responses(w, RATE, h, e)
    turn, error = _effect(w, x, y)
    if known > 1 and is_magnified(w, now.step_error * turn):
        return False
    w.error[RATE] += error + now.speed_error * turn
    for g in range(count if w.map.with_gram else 0):
        now.dual_turn += abs(x if g == 0 else y) * _norm(w, g)
    x, y = solve_by_responses(w, VALUE, h, e)
    moved, error = _effect(w, x, y)
    if matters(w, moved):
        now.fine = 1
        return False
    w.error[VALUE] += error + now.step_error * turn
    add_correction(w, moved)
    now.carried = 2
    return True


@lean
def _effect(w, x, y):
    """Return the change of unknowns by multiples of responses, in their units, and its error."""
    size, error = abs(x) * _size(w, 0), abs(x) * w.response_error[0]
    if w.now.changing == 2:
        size, error = size + abs(y) * _size(w, 1), error + abs(y) * w.response_error[1]
    return size, error


@lean
def _size(w, number):
    """Return the largest unknown, in its unit, of a response."""
    P, x = w.response[number, 0], w.changed[number]
    largest = abs(P[x]) / w.map.scale[x]
    for a in range(w.now.solved + w.now.eliminated):
        k = coordinate(w, a)
        largest = max(largest, abs(P[k]) / w.map.scale[k])
    return largest


@lean
def _norm(w, number):
    """Return an upper bound of sqrt(a'K a) for the duals a of a response: see `odometers`."""
    (rows, _), x, error = reach(w), w.changed[number], w.response_error[number]
    noise = error * (rows + w.map.reach[x])
    if w.was_known[number] and not w.known[x]:
        pivot = w.schur[number, number, 0]
        return np.sqrt(abs(pivot) + w.map.length[x] * noise) + noise
    return np.sqrt(abs(w.response[number, 0, x]) + error * w.map.scale[x]) + noise


@lean
def solve_by_responses(w, order, area, low):
    """Add multiples of responses that solve the new equations to unknowns; return the multiples.

    By Cramer's rule, with the determinant of the Schur complement.
    """
    S = w.schur
    h, e = residual(w, 0, order)
    if w.now.changing == 1:
        h, e = divide(h, e, area, low)
        _add_response(w, order, 0, h, e)
        return h, 0.0
    r, f = residual(w, 1, order)
    x, xe = _determinant((h, e), S[1, 1], (r, f), S[0, 1])
    y, ye = _determinant((r, f), S[0, 0], (h, e), S[1, 0])
    x, xe = divide(x, xe, area, low)
    y, ye = divide(y, ye, area, low)
    _add_response(w, order, 0, x, xe)
    _add_response(w, order, 1, y, ye)
    return x, y


@inline
def _determinant(a, b, c, d):
    """Return a b - c d in twofold precision."""
    h, e = times(a[0], a[1], b[0], b[1])
    r, f = times(c[0], c[1], d[0], d[1])
    return add(h, e, -r, -f)


@lean
def _add_response(w, order, number, h, e):
    """Add a multiple of a response to the old system's unknowns and to the changed coordinate."""
    high, low, u, x = w.response[number, 0], w.response[number, 1], w.u[order], w.changed[number]
    for a in range(w.now.solved + w.now.eliminated):
        k = coordinate(w, a)
        r, f = times(h, e, high[k], low[k])
        u[0, k], u[1, k] = add(u[0, k], u[1, k], r, f)
    if w.was_known[number]:
        u[0, x], u[1, x] = add(u[0, x], u[1, x], h, e)
