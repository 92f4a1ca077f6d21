"""Stage 4 of a step: one coordinate leaves its kink or enters one, alone or in an exchange."""

from __future__ import annotations

import numpy as np

from . import factor
from .compiled import inline, lean
from .operators import (
    DENSE,
    hold_level,
    is_ridge,
    move_level,
    pack,
    rest_feature,
)
from .pinned import (
    append_row,
    border_entry,
    hold_system,
    join,
    keeps_system,
    part,
    rounding_of_form,
    schur,
    shift_rates,
    solve,
)
from .state import (
    BLOCK,
    ENTERED,
    FAR,
    LEFT,
    NONE,
    level_at,
)

EPSILON = np.finfo(np.float64).eps


@lean
def frame(st, s, i):
    """Set the window of coordinate i on a piece: the kinks around it, plus softness * level.

    Then z_i is in the window as long as z_i - delta_i a_i is between the kinks.
    """
    q, soft = s.state[i] // 2, st.soft[i]
    shift0 = soft * st.level0[i, q] if soft != 0.0 else 0.0
    shift1 = soft * st.level1[i, q] if soft != 0.0 else 0.0
    window = s.window[i]
    window[0], window[1], window[2], window[3] = -np.inf, 0.0, np.inf, 0.0
    if q > 0:
        window[0], window[1] = st.kink0[i, q - 1] + shift0, st.kink1[i, q - 1] + shift1
    if q < st.n_kinks[i]:
        window[2], window[3] = st.kink0[i, q] + shift0, st.kink1[i, q] + shift1


@lean
def _wake(s, i):
    """Make row i due for a look."""
    s.due[i] = -FAR
    b = i // BLOCK
    if b < s.block.shape[0]:
        s.block[b] = -FAR


@lean
def _drop_slot(op, st, s, r):
    """Take the coordinate in slot r off P (the last one moves there); it follows its level now."""
    p = s.P[r]
    last = s.sizes.pinned - 1
    rest(op, st, s, p)
    if r != last:
        place(op, s, r, s.P[last])
        s.a[r], s.lost[r] = s.a[last], s.lost[last]
        _move_span(s, r, last)
        s.rank[r] = s.rank[last]
        if s.rank[r] >= 0:
            s.order[s.rank[r]] = r
    s.sizes.pinned = last


@lean
def place(op, s, r, i):
    """Put coordinate i into slot r."""
    s.P[r] = i
    s.slot[i] = r
    s.due[i] = FAR
    pack(op, r, i)
    if op.kind == DENSE:
        H = op.H[i]
        for k in range(H.shape[0]):
            s.Q[k, r] = H[k]


@lean
def hold_at_kink(st, s, i, kink):
    """Pin coordinate i, which has its slot, to a kink."""
    s.state[i] = 2 * kink + 1
    span = s.span[s.slot[i]]
    span[0], span[1] = st.level0[i, kink], st.level1[i, kink]
    span[2], span[3] = st.level0[i, kink + 1], st.level1[i, kink + 1]


@lean
def _move_span(s, r, last):
    """Copy the levels of the last slot to slot r."""
    for k in range(4):
        s.span[r, k] = s.span[last, k]


@lean
def rest(op, st, s, p):
    """Coordinate p is no longer pinned: it follows the level of its piece."""
    q, s.direction.carried = s.state[p] // 2, 0
    hold_level(op, p, st.level0[p, q], st.level1[p, q], 1)
    frame(st, s, p)
    s.slot[p] = -1
    if p >= op.n:
        rest_feature(op, p, level_at(st, p, q, s.clock.t))
    else:
        _wake(s, p)


@lean
def _take_slot(op, st, s, r, i, q):
    """Put coordinate i, so far on piece q, into slot r with its level as dual."""
    place(op, s, r, i)
    s.rank[r], s.direction.carried = -1, 0
    s.a[r], s.lost[r] = level_at(st, i, q, s.clock.t), 0.0
    _hand_over(s, abs(s.a[r]) * op.norm[i])
    hold_level(op, i, st.level0[i, q], st.level1[i, q], -1)


@inline
def _hand_over(s, term):
    """Note that a term, whose level is rounded, went over from one sum to another."""
    s.accuracy.worn += term
    s.accuracy.slip += EPSILON * term


@lean
def leave(op, st, s, tol, i, down):
    """Let a pinned coordinate whose dual reached a level go to the piece beyond."""
    r, kind = s.slot[i], s.pending.kind
    q = s.state[i] // 2 + down
    s.state[i] = 2 * q
    level = level_at(st, i, q, s.clock.t)
    jump = (level - s.a[r]) - s.lost[r]
    move_level(op, i, jump)
    moves = abs(jump) * op.norm[i]
    felt = moves > s.accuracy.felt and not is_ridge(op)  # with one a value feels it first
    if felt or moves * s.accuracy.unit > tol.tie * EPSILON:
        s.last.unsure = 1
    _hand_over(s, abs(level) * op.norm[i])
    s.accuracy.slip += moves
    s.a[r], s.lost[r] = level, 0.0
    if kind == ENTERED and s.pending.coordinate == i:
        # passed through: the pinned system stays what it was
        rest(op, st, s, i)
        s.pending.kind = NONE
    elif kind == NONE:
        if _vanishes(op, st, s, tol, r):
            s.pending.kind = LEFT
            s.pending.coordinate = i
            s.pending.sign = op.sign[i] * (1.0 if down else -1.0)
            return
        take_out(op, st, s, r)
    elif kind == ENTERED:
        exchange(op, st, s, tol, r, s.pending.coordinate)
        _swap_slot(op, st, s, r)
    else:
        _take_out_two(op, st, s, r, s.slot[s.pending.coordinate])


@lean
def take_out(op, st, s, r):
    """Take slot r out of the pinned system."""
    m, i, carried = s.sizes.pinned, s.P[r], s.direction.carried
    if is_ridge(op):
        part(s, r)
    else:
        factor.read_column(s.G, m, r, s.g)
        factor.remove(s.G, m, r, s.g)
    if keeps_system(op):
        factor.move_last(s.J, m, r)
    _drop_slot(op, st, s, r)
    if carried and op.now.levels.moving > 0:
        shift_rates(op, s, i, -st.level1[i, s.state[i] // 2])
        s.direction.carried = 1


@lean
def _take_out_two(op, st, s, r, other):
    """Take out a pending leaver, without which the system is singular, and a second one."""
    m = s.sizes.pinned
    factor.read_column(s.G, m, r, s.v)
    factor.remove_two(s.G, m, r, s.v, other, s.g, s.x, s.y)
    factor.move_last(s.J, m, max(r, other))
    factor.move_last(s.J, m - 1, min(r, other))
    _drop_slot(op, st, s, max(r, other))
    _drop_slot(op, st, s, min(r, other))
    _settle(s)


@lean
def exchange(op, st, s, tol, r, i):
    """Let coordinate i, which depends on the pinned ones, replace slot r in the factor."""
    m, s.direction.carried = s.sizes.pinned, 0
    if is_ridge(op):
        part(s, r)
        square, _ = schur(op, st, s, tol, i)
        slot, s.slot[i] = s.slot[i], r
        join(op, st, s, i, square)
        s.slot[i] = slot
    else:
        factor.read_column(s.G, m, r, s.v)
        factor.replace(s.G, m, r, s.v, s.u, s.pending.pivot, s.x, s.y)


@lean
def _vanishes(op, st, s, tol, r):
    """Tell whether the pinned system without slot r is singular; if so s.g is its null vector."""
    m = s.sizes.pinned
    if is_ridge(op) and _borders_hold_without(op, s, r):
        return False
    s.k[:m] = 0.0
    s.k[r] = 1.0
    solve(op, st, s, tol, s.k, s.g, 0.0)
    if is_ridge(op):
        return True
    # g_r = g'Jg
    return abs(s.g[r]) <= rounding_of_form(op, st, s, tol, s.k, s.g, 0.0)


@lean
def _borders_hold_without(op, s, r):
    """Tell whether the pinned samples other than slot r determine each border unknown."""
    for b in range(s.W.shape[1] - 1):
        held = False
        for k in range(s.sizes.factored):
            p = s.P[s.order[k]]
            held = held or (s.order[k] != r and border_entry(op, p, b) != 0.0)
        if not held:
            return False
    return True


@lean
def _swap_slot(op, st, s, r):
    """Give the leaver's slot to the pending entrant, which waits after the others."""
    m = s.sizes.pinned
    rest(op, st, s, s.P[r])
    place(op, s, r, s.P[m])
    s.a[r], s.lost[r] = s.a[m], s.lost[m]
    _move_span(s, r, m)
    hold_system(op, st, s, s.P[r])
    _settle(s)


@lean
def _settle(s):
    """Complete an exchange: t may move again."""
    s.pending.kind = NONE
    s.counts.exchanges += 1


@lean
def enter(op, st, s, tol, i, down, dt):
    """Pin a value that reached a kink; return False when the event was rounding noise."""
    m, kind = s.sizes.pinned, s.pending.kind
    q = s.state[i] // 2
    kink = q - down
    if kind == LEFT and s.pending.coordinate == i:
        hold_at_kink(st, s, i, kink)
        _settle(s)
        return True
    if st.level0[i, kink] == st.level0[i, kink + 1] and (
        st.level1[i, kink] == st.level1[i, kink + 1]
    ):
        s.state[i] = 2 * (q - 1) if down else 2 * (q + 1)
        frame(st, s, i)
        _wake(s, i)
        return True
    if kind == ENTERED:
        if not _enter_second(op, st, s, tol, i, q):
            return False
        hold_at_kink(st, s, i, kink)
        _settle(s)
        return True
    if kind == LEFT:
        _enter_for(op, st, s, tol, i, q)
        hold_at_kink(st, s, i, kink)
        _settle(s)
        return True
    pivot, singular = schur(op, st, s, tol, i)
    if singular:
        if dt > 0 and _is_still(op, st, s, tol, i, kink, down):
            return False
        s.pending.kind = ENTERED
        s.pending.coordinate = i
        s.pending.sign = 1.0 if down else -1.0
        s.pending.pivot = pivot
        _take_slot(op, st, s, m, i, q)
        hold_at_kink(st, s, i, kink)
    else:
        _take_in(op, st, s, i, kink, q, pivot)
    return True


@lean
def _take_in(op, st, s, i, kink, q, pivot):
    """Pin coordinate i, so far on piece q, to a kink; s.u or s.f is its column, from `schur`."""
    m, carried = s.sizes.pinned, s.direction.carried
    if not is_ridge(op):
        factor.append(s.G, m, s.u, pivot)
    _take_slot(op, st, s, m, i, q)
    hold_at_kink(st, s, i, kink)
    if is_ridge(op):
        if carried and op.now.levels.moving > 0:
            shift_rates(op, s, i, st.level1[i, q])
            s.direction.carried = 1
        join(op, st, s, i, pivot)
    s.sizes.pinned = m + 1
    hold_system(op, st, s, i)


@lean
def _is_still(op, st, s, tol, i, kink, down):
    """Tell whether coordinate i, which depends on the pinned ones, stays at its kink with them.

    Then z_i = sum_p u_p z_p, and its velocity follows from the kinks' alone, without rounding
    noise: with kinks that stand still it is zero (Sentelle's theorem).
    """
    if not is_ridge(op):
        return False
    total = -op.sign[i] * st.kink1[i, kink]
    gross = abs(total)
    for r in range(s.sizes.pinned):
        p = s.P[r]
        term = s.u[r] * op.sign[p] * s.own[r]
        total += term
        gross += abs(term)
    rising = -op.sign[i] * total if down else op.sign[i] * total
    return rising <= tol.dependent * gross


@lean
def _enter_second(op, st, s, tol, i, q):
    """Pin i together with the pending entrant, unless z_i moves by rounding only."""
    m = s.sizes.pinned
    first = s.pending.coordinate
    for j in range(m):
        s.x[j], s.f[j] = s.u[j], s.k[j]
    pivot, _ = schur(op, st, s, tol, i)
    cross = s.k[m]  # H_first,i
    length = op.norm[first]
    for j in range(m):
        cross -= s.f[j] * s.u[j]
        length += abs(s.x[j]) * op.norm[s.P[j]]
    if abs(cross) <= tol.dependent * length * op.norm[i]:
        for j in range(m):
            s.u[j], s.k[j] = s.x[j], s.f[j]
        return False
    factor.append_two(s.G, m, s.x, s.pending.pivot, s.u, pivot, cross, s.v, s.g)
    append_row(s, m, s.f, op.diagonal[first] - op.sign[first] * st.soft[first])
    append_row(s, m + 1, s.k, op.diagonal[i] - op.sign[i] * st.soft[i])
    _take_slot(op, st, s, m + 1, i, q)
    s.sizes.pinned = m + 2
    return True


@lean
def _enter_for(op, st, s, tol, i, q):
    """Pin i in place of the pending leaver."""
    r = s.slot[s.pending.coordinate]
    m, s.direction.carried = s.sizes.pinned, 0
    if is_ridge(op):
        part(s, r)
        square, _ = schur(op, st, s, tol, i)
        rest(op, st, s, s.P[r])
        _take_slot(op, st, s, r, i, q)
        join(op, st, s, i, square)
    else:
        pivot, _ = schur(op, st, s, tol, i)
        factor.replace(s.G, m, r, s.g, s.u, pivot, s.x, s.y)
        rest(op, st, s, s.P[r])
        _take_slot(op, st, s, r, i, q)
    hold_system(op, st, s, i)
