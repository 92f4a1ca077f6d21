"""Jumps: t is fixed, and the graphs of a few coordinates move with another parameter s.

In a jump s goes from -1 to 0 in the place of t, while all other graphs stay the same. The loop
walks through a jump as through any path, but doesn't record it.
"""

from __future__ import annotations

import numpy as np

from .compiled import entry, lean
from .loop import record, solve_afresh
from .odometers import discard_lines
from .ratio import collect, unknown_part
from .state import (
    ALWAYS,
    ROWS,
    VALUE,
    WALL_MARK,
    add_known,
    base_in_double,
    base_terms,
    is_variable,
    keep_limits,
    right_hand_side,
)
from .tolerances import DOUBLE, ODOMETER_BLOCK, REFINED


@lean
def duals_of(w, out):
    """Write the unknowns of all coordinates; False: they can't be solved for."""
    if not solve_afresh(w, REFINED):
        return False
    for i in range(w.map.N):
        out[i] = w.u[VALUE, 0, i]
        if w.known[i]:
            out[i], _ = right_hand_side(w, i, w.place[i], VALUE)
    return True


@entry
def begin_jump(w, rows, equation, lower, upper, hollow):
    """Fix t, and replace the graphs of some coordinates by given ones in s, which begins at -1."""
    now = w.now
    now.still, now.still_low = now.t, now.t_low
    w.base[2] = 0.0
    w.base_terms[2] = 0.0
    w.form[1] = w.form_peak[1] = now.jump_value = now.jump_rate = 0.0
    now.t, now.t_low, now.jumping = -1.0, 0.0, 1
    _rewrite(w, rows, equation, lower, upper, hollow, 1)
    now.jumpers = len(rows)
    for k in range(len(rows)):
        i = w.jumper[k] = rows[k]
        for place in range(equation.shape[1]):
            value, rate = abs(equation[k, place, 0]), abs(equation[k, place, 2])
            if np.isfinite(value):
                now.jump_value = max(now.jump_value, (value + rate) / w.map.scale[i])
                now.jump_rate = max(now.jump_rate, rate / w.map.scale[i])
    now.seen = now.by_index = 0


@entry
def end_jump(w, rows, equation, lower, upper, hollow):
    """Restore t, and the given graphs from before the jump."""
    now = w.now
    _rewrite(w, rows, equation, lower, upper, hollow, 0)
    now.t, now.t_low, now.jumping, now.jumpers = now.still, now.still_low, 0, 0
    now.seen = now.by_index = 0


@lean
def _rewrite(w, rows, equation, lower, upper, hollow, jumps):
    """Replace graphs and update the known coordinates' part of H u."""
    for k in range(len(rows)):
        i = rows[k]
        if w.known[i]:
            add_known(w, i, -1.0)
        w.jumps[i] = jumps
        for place in range(equation.shape[1]):
            w.graph.hollow[i, place] = hollow[k, place]
            for part in range(4):
                w.graph.equation[i, place, part] = equation[k, place, part]
                w.graph.lower[i, place, part] = lower[k, place, part]
                w.graph.upper[i, place, part] = upper[k, place, part]
        keep_limits(w, i)
        if w.known[i]:
            add_known(w, i, 1.0)
            w.due[i] = w.block[i // ODOMETER_BLOCK] = ALWAYS
    w.now.carried, w.now.lost = 0, 1
    discard_lines(w)  # they are lines in the other parameter


@lean
def note_twice(w):
    """Record the point as a piece without length; False: it can't be solved for."""
    if not solve_afresh(w, REFINED):
        return False
    collect(w, True)
    record(w)
    record(w)
    return True


@lean
def may_touch(w, near):
    """Tell whether the value of a known row may be within ``near`` of a wall."""
    if not solve_afresh(w, REFINED):
        return True
    collect(w, True)
    for i in range(w.map.n):
        if not w.known[i] or is_variable(w, i):
            continue
        z, terms = np.inf, 0.0
        for place in range(max(w.place[i] - 1, 0), min(w.place[i] + 2, w.graph.hollow.shape[1])):
            if w.graph.hollow[i, place] != WALL_MARK:
                continue
            if z == np.inf:
                z = base_in_double(w, i, VALUE) + unknown_part(w, i, VALUE)
                terms = base_terms(w, i, VALUE) + w.terms[VALUE, ROWS]
            knot, _ = right_hand_side(w, i, place, VALUE)
            if abs(z - knot) <= near + DOUBLE * (terms + abs(knot)):
                return True
    return False
