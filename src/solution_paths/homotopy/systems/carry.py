"""What changes of places do to point and rates: multiples of how the unknowns answer to pushes.

A push of a coordinate leaves the equations of all others as they are, so a multiple of it solves
that of the coordinate in its new place; for two coordinates these are two multiples.
"""

from __future__ import annotations

import numpy as np

from ..accuracy import is_magnified
from ..compiled import inline, lean
from ..odometers import correct, reach
from ..state import at_base, base_rate, factors, rate_of, value_of
from ..twofold import accumulate, add, divide, normalise, times
from .inverse import entry_of, rest_of
from .solve import coordinate


@inline
def diagonal2(w, i, place):
    """Return what a place adds to the diagonal of the system, in two parts."""
    first, second = factors(w, i, place)
    return divide(second, 0.0, first, 0.0)


@inline
def given(w, i, place, of_rate):
    """Return the right-hand side of a place's equation, or its rate."""
    row = w.graph.equation[i, place]
    return rate_of(w, i, row) if of_rate else value_of(w, i, row)


@inline
def given_for_one(w, i, place, of_rate):
    """Return the same, divided by the equation's first factor."""
    first, _ = factors(w, i, place)
    h, e = given(w, i, place, of_rate)
    return divide(h, e, first, 0.0)


@lean
def of_entered(w, x, y, y_known, high, low):
    """Return (H v)_x + D v_x of a coordinate that was put in, and may be so with another one, y."""
    h, e = add(entry_of(w, x, x), rest_of(w, x, x), 0.0, 0.0)
    r, f = diagonal2(w, x, w.place[x])
    h, e = add(h, e, r, f)
    h, e = times(h, e, high[x], low[x])
    for a in range(w.now.solved + w.now.hidden):
        k = coordinate(w, a)
        h, e = accumulate(h, e, entry_of(w, k, x), high[k], low[k])
        if w.map.with_low:
            e += rest_of(w, k, x) * high[k]
    if y >= 0 and y_known:
        h, e = accumulate(h, e, entry_of(w, y, x), high[y], low[y])
        e += rest_of(w, y, x) * high[y] if w.map.with_low else 0.0
    return normalise(h, e)


@lean
def answer(w, x, x_old, x_known, y, y_known, high, low, own):
    """Return how the equation of x, in its new place, answers to a push; own: of x itself."""
    if w.known[x]:
        return high[x], low[x]
    if x_known:
        return of_entered(w, x, y, y_known, high, low)
    h, e = risen(w, x, x_old, x_known)
    h, e = times(h, e, high[x], low[x])
    return add(h, e, 1.0 if own else 0.0, 0.0)


@lean
def risen(w, x, old, was_known):
    """Return by how much an unknown coordinate's part of the diagonal has risen; 1 for others."""
    if was_known or w.known[x]:
        return 1.0, 0.0
    h, e = diagonal2(w, x, w.place[x])
    r, f = diagonal2(w, x, old)
    return add(h, e, -r, -f)


@lean
def gap(w, u, of_rate, x, x_old, x_known, y, y_known):
    """Return what u, which solves the old equations or their rates, leaves of that of x."""
    new = w.place[x]
    if w.known[x]:
        h, e = given(w, x, new, of_rate)
        return add(h, e, -u[0, x], -u[1, x])
    h, e = given_for_one(w, x, new, of_rate)
    if not x_known:
        r, f = given_for_one(w, x, x_old, of_rate)
        h, e = add(h, e, -r, -f)
        r, f = risen(w, x, x_old, x_known)
        r, f = times(r, f, u[0, x], u[1, x])
        return add(h, e, -r, -f)
    r, f = of_entered(w, x, y, y_known, u[0], u[1])
    a, b = base_rate(w, x) if of_rate else at_base(w, x)
    r, f = add(r, f, a, b)
    if y >= 0 and w.known[y] and not y_known:  # it is in base, and still among the unknowns
        a, b = given(w, y, w.place[y], of_rate)
        r, f = accumulate(r, f, -entry_of(w, y, x), a, b)
        f -= rest_of(w, y, x) * a if w.map.with_low else 0.0
    return add(h, e, -r, -f)


@lean
def answers(w, P, S, i, i_old, i_known, k, k_old, k_known):
    """Write to S how the equations of i, and of k if that is not -1, answer to pushes P of both."""
    if k >= 0:
        if i_known:
            P[2, i] = P[3, i] = 0.0
        if k_known:
            P[0, k] = P[1, k] = 0.0
    S[0, 0], S[1, 0] = answer(w, i, i_old, i_known, k, k_known, P[0], P[1], True)
    if k >= 0:
        S[0, 1], S[1, 1] = answer(w, i, i_old, i_known, k, k_known, P[2], P[3], False)
        S[0, 2], S[1, 2] = answer(w, k, k_old, k_known, i, i_known, P[0], P[1], False)
        S[0, 3], S[1, 3] = answer(w, k, k_old, k_known, i, i_known, P[2], P[3], True)


@lean
def carry(w, i, i_old, i_known, k, k_old, k_known):
    """Bring point and rates up to date after a change of i, and of k if that is not -1.

    The point changes by rounding alone, and by what a null vector that is only nearly one leaves.
    But as rates change there, it is as wrong as t is, times this change. False: that is too much.
    """
    now, S = w.now, w.answer
    answers(w, w.push, S, i, i_old, i_known, k, k_old, k_known)
    for g in range(1 if k < 0 else 2):
        x, old, was_known = (i, i_old, i_known) if g == 0 else (k, k_old, k_known)
        if was_known:
            w.du[0, x], w.du[1, x] = given(w, x, old, True)
    h, e = S[0, 0], S[1, 0]
    if k >= 0:
        h, e = _cross(S[0, 0], S[1, 0], S[0, 3], S[1, 3], S[0, 1], S[1, 1], S[0, 2], S[1, 2])
    known, now.carried = now.carried, 0
    if h == 0.0:
        return True
    x, y = solve_by_pushes(w, w.du, True, h, e, i, i_old, i_known, k, k_old, k_known)
    first, second = _size(w, i, 0), (_size(w, k, 1) if k >= 0 else 0.0)
    turn = abs(x) * first + abs(y) * second
    if known > 1 and is_magnified(w, now.blur * turn):
        return False
    now.rate_error += abs(x) * now.push_error + abs(y) * now.other_error + now.vague * turn
    if w.map.with_gram:
        now.dual_turn += abs(x) * _norm(w, i, i_known, 0, S[0, 0], now.push_error)
        now.dual_turn += (
            abs(y) * _norm(w, k, k_known, 1, S[0, 3], now.other_error) if k >= 0 else 0.0
        )
    x, y = solve_by_pushes(w, w.u, False, h, e, i, i_old, i_known, k, k_old, k_known)
    now.point_error += abs(x) * now.push_error + abs(y) * now.other_error + now.blur * turn
    correct(w, abs(x) * first + abs(y) * second)
    now.carried = 2
    return True


@lean
def _size(w, x, number):
    """Return the largest unknown, in its unit, of the push of x."""
    P, largest = w.push[2 * number], abs(w.push[2 * number, x]) / w.map.scale[x]
    for a in range(w.now.solved + w.now.hidden):
        k = coordinate(w, a)
        largest = max(largest, abs(P[k]) / w.map.scale[k])
    return largest


@lean
def _norm(w, x, was_known, number, pivot, error):
    """Return at least sqrt(a'K a) of the duals a of a push of x: see `odometers`."""
    rows, _ = reach(w)
    noise = error * (rows + w.map.reach[x])
    if was_known and not w.known[x]:
        return np.sqrt(abs(pivot) + w.map.length[x] * noise) + noise
    return np.sqrt(abs(w.push[2 * number, x]) + error * w.map.scale[x]) + noise


@lean
def solve_by_pushes(w, u, of_rate, area, low, i, i_old, i_known, k, k_old, k_known):
    """Add multiples of the pushes to u that solve the new equations; return these multiples."""
    S = w.answer
    h, e = gap(w, u, of_rate, i, i_old, i_known, k, k_known)
    if k < 0:
        h, e = divide(h, e, area, low)
        _add_push(w, u, 0, i, i_known, h, e)
        return h, 0.0
    r, f = gap(w, u, of_rate, k, k_old, k_known, i, i_known)
    x, y = _cross(h, e, S[0, 3], S[1, 3], r, f, S[0, 1], S[1, 1])
    x, y = divide(x, y, area, low)
    h, e = _cross(r, f, S[0, 0], S[1, 0], h, e, S[0, 2], S[1, 2])
    h, e = divide(h, e, area, low)
    _add_push(w, u, 0, i, i_known, x, y)
    _add_push(w, u, 1, k, k_known, h, e)
    return x, h


@inline
def _cross(a, al, b, bl, c, cl, d, dl):
    """Return a b - c d."""
    h, e = times(a, al, b, bl)
    r, f = times(c, cl, d, dl)
    return add(h, e, -r, -f)


@lean
def _add_push(w, u, number, x, x_known, h, e):
    """Add a multiple of the push of x to the unknowns of the old system, and to x if it is new."""
    high, low = w.push[2 * number], w.push[2 * number + 1]
    for a in range(w.now.solved + w.now.hidden):
        k = coordinate(w, a)
        r, f = times(h, e, high[k], low[k])
        u[0, k], u[1, k] = add(u[0, k], u[1, k], r, f)
    if x_known:
        u[0, x], u[1, x] = add(u[0, x], u[1, x], h, e)
