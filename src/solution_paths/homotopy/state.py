"""The state of the homotopy: the parameter, and a place for each coordinate.

All else in `Walk` is computed from these two: the sums over known coordinates, the inverse of the
system of the others and its solution, and how long a coordinate needs no examination.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from .compiled import (
    Bytes,
    Flags,
    Indices,
    Matrix,
    Tables,
    Vector,
    inline,
    lean,
    record,
    struct,
)
from .rows import add_sparsely
from .tolerances import ODOMETER_BLOCK
from .twofold import accumulate, axpy, normalise, scaled_add, scaled_add_sizes

NEVER, ALWAYS = np.inf, -np.inf
# Coordinates that the pivots of their equations can eliminate: rows on curved segments, or
# variables with a ridge that aren't at knots.
CURVED, RIDGED = 1, 2
ROWS, VARIABLES = 0, 1  # sides of the map
WALL_MARK = 2  # of a knot at which the walk stops, in place of 1 for a hollow one
VALUE, RATE = 0, 1  # orders: a number at t, and its rate


def shaped(*sizes: int | str) -> Any:
    """Declare an array's shape, by numbers and by names of `sizes_of`."""
    return field(metadata={"shape": sizes})


@struct
class Map:
    """The map H = [gram R; R' -ridge] of a statement, and the units of its coordinates.

    H u is z of rows and R'a - ridge x of variables, with the duals a of rows and the values x of
    variables as unknowns u. With an l1 constraint the last coordinate's row has the weights' signs.
    """

    n: int  # rows
    p: int  # variables
    N: int  # coordinates: n + p, and one more with an l1 constraint
    weights: int  # variables in an l1 constraint, whose multiplier widens their knots
    with_gram: int
    with_low: int
    R: Matrix  # (n, p)
    columns: Matrix  # (p, n), R'
    sparse: int  # whether R is in CSR: then the two above are empty, else what follows
    row_start: Indices  # (n + 1,)
    row_index: Indices
    row_entry: Vector
    column_start: Indices  # (p + 1,), of R' in CSR
    column_index: Indices
    column_entry: Vector
    gram: Matrix  # (n, n), or nothing
    low: Matrix  # (n, n), second parts of its entries in twofold precision, or nothing
    ridge: Vector  # (p,)
    scale: Vector  # (N,), unit of each unknown
    noise: float  # error of a sum over the map, relative to its absolute terms
    length: Vector  # (N,), largest change of a value for a unit of its side's odometer
    reach: Vector  # (N,), change of the rows' odometer for a unit change of an unknown
    largest: Vector  # (N,), largest entry in a coordinate's row of H
    metric: Matrix  # (k, p), or (1, p) if diagonal: norm of variables for the rows' odometer
    known_dual_speed: float  # bound of |da/dt| for the duals of known rows
    drift: Vector  # (2,), largest rate of limits of known coordinates of a side, over length
    known: Vector  # (2,), bounds of known unknowns, in their units, at t = 0, and of their rates
    limited: int  # whether any variable has limits
    silent: int  # number of variables, the first ones, that are not recorded


@struct
class Graph:
    """The graphs of all coordinates: see `graphs`."""

    equation: Tables  # (N, P, 4): value and rate, two parts each
    lower: Tables
    upper: Tables
    curvature: Matrix  # (N, P), of segments
    hollow: Flags  # (N, P)
    still: Flags


@record
class Numbers:
    """The numbers of a walk that change."""

    t: float  # the parameter, a sum of two doubles
    t_low: float
    end: float
    way: float  # 1 upwards, -1 downwards
    near: float  # fraction of the way from the first breakpoint to the end, before the end, ...
    rest: float  # ... and the distance to the end, within which events are ignored
    solved: int  # unknowns in the inverse
    eliminated: int  # coordinates that are eliminated from it
    twofold: int  # whether the inverse is in twofold precision
    eliminates: int  # 0, `CURVED` (rows on curved segments) or `RIDGED` (variables)
    retry: int  # unknowns from which on elimination that failed is tried again; 0: it never did
    pending: int  # a coordinate that entered a singular system, until another one leaves; or -1
    changing: int  # entries of `changed`
    unknowns: int  # entries of `unknown`
    carried: int  # 0: rates must be solved for, 1: known to rounding, 2: see `accuracy`
    inexact: int  # whether errors may decide which coordinate is first
    undecided: int  # whether they do
    factored: int  # changes of places up to the last factorisation
    careful: int  # number of next responses that are solved for to rounding, after a doubt
    shrink: float  # estimated ratio of two corrections in refinement
    unsolved: int  # whether a response can't be solved for while coordinates are eliminated
    null_residual: float  # largest component of a null vector that was set to zero
    null_curvature: float  # root of the curvature, in units, along an accepted null vector
    value: float  # largest |value| of a row at a knot
    held: float  # sum of |duals| of rows at knots
    width: float  # sum of the largest slopes of these rows, and its rate
    width_rate: float
    turned: float  # integral of `turn` over t: see `odometers`
    turn: float  # sum of all changes of direction
    dual_turn: float  # change of the duals' direction since the last addition to `turn`
    lost: int  # whether that change is unknown
    epoch: int  # number of the current lines, which are void after a change of it
    corrected: float  # sum of the corrections of the last refinement, in units of unknowns
    look_number: int
    jumping: int  # whether t is fixed and only graphs in a jump move, with the parameter s
    still: float  # the fixed t; t, end, way and so on are then those of s
    still_low: float
    jumpers: int  # entries of `jumper`
    jump_value: float  # the largest known unknown of these, in its unit, and its rate
    jump_rate: float
    blocking: int  # result of the ratio test: coordinate (-1: none), side of its limits, step
    side: int
    step: float
    step_low: float
    step_error: float  # error of that step from errors of point and rates
    clipped: float  # largest distance of a recorded unknown from its limits, beside the largest
    clipped_at: int  # the node of that unknown
    speed_error: float  # relative error of the speed towards the limit
    fine: int  # whether distances below `NOISE` decide, too, since one of them matters
    again: int  # whether the last event is searched for again, with numbers known to rounding
    candidates: int
    leaving: float  # the largest speed among candidates at a limit
    key: int  # a hash of all places
    seen: int  # number of keys recorded at this t
    by_index: int  # whether ties are broken by the smallest index
    walled: int  # whether places have walls
    touching: int  # whether a row on a segment stands still at a wall
    touched: int  # the key of the places at which the walk last stopped for that
    staying: int  # whether any coordinate stays beyond a limit until places change
    stayed: int  # how often one did
    nodes: int  # numbers of recorded nodes, events and entries
    events: int
    entries: int
    changes: int
    looks: int


@struct
class Walk:
    """The arrays and numbers of a walk."""

    map: Map
    graph: Graph
    now: Numbers
    place: Indices = shaped("N")  # 2 k on segment k, 2 k + 1 at knot k
    known: Bytes = shaped("N")  # rows on straight segments, variables at knots
    sign: Vector = shaped("p")  # the l1 constraint's row
    base: Tables = shaped(3, 2, "N")  # known coordinates' part of H u: value, rates in t and in s
    base_terms: Matrix = shaped(3, "N")  # sums of the absolute terms of these
    form: Vector = shaped(2)  # with a Gram matrix, a'K a of known rows' rates in t and in s
    form_peak: Vector = shaped(2)  # the largest value that each has had
    stays: Bytes = shaped("N")  # 1, 2: beyond its lower, upper limit by rounding, for no gain
    jumps: Bytes = shaped("N")  # whether its graph moves in a jump
    jumper: Indices = shaped("N")  # these coordinates
    # unknowns: [order, part], or [order]
    u: Tables = shaped(2, 2, "N")  # values (a guess until solved for); rates, or a null vector
    kept: Matrix = shaped(2, "N")  # the rates, while `u` has a null vector
    size: Matrix = shaped(2, "N")  # absolute value, at least `FLOOR` times the largest
    unknown_error: Matrix = shaped(2, "N")  # error bound of each
    error: Vector = shaped(2)  # error bound of all, in their units
    peak: Vector = shaped(2)  # the largest one, in its unit
    # coordinates that change their places at this t, one or two, and how the system responds
    changed: Indices = shaped(2)
    old_place: Indices = shaped(2)
    was_known: Bytes = shaped(2)
    response: Tables = shaped(2, 2, "N")  # of unknowns to a unit change of each: [number, part]
    response_error: Vector = shaped(2)
    schur: Tables = shaped(2, 2, 2)  # Schur complement of their equations: [of, to, part]
    rough_response: Tables = shaped(2, 2, "N")  # responses by the inverse, without refinement
    rough_schur: Tables = shaped(2, 2, 2)  # the Schur complement by these
    # values of known coordinates, by their side of the map
    sensitivity: Vector = shaped(2)  # error of a value for unit errors of all unknowns
    propagated: Matrix = shaped(2, 2)  # [order, side]: errors of values from those of unknowns
    terms: Matrix = shaped(2, 2)  # the largest sums of absolute terms
    travel: Vector = shaped(2)  # odometers: bounds of how far values have moved
    speed: Vector = shaped(2)
    usual: Vector = shaped(2)  # usual increase of an odometer until the next event
    due: Vector = shaped("N")  # odometer reading at which a known coordinate must be examined
    line: Matrix = shaped("gram", 6)  # bounds by direction, see `odometers`
    direction: Vector = shaped("p")  # rates of variables
    limit: Matrix = shaped("N", 4)  # lower and upper limit of its place: value, rate, in double
    block: Vector = shaped("blocks")  # lower bound of `due` in each block of coordinates
    # the system
    solved: Indices = shaped("cap")  # coordinates in the order of H and its inverse
    eliminated: Indices = shaped("eliminated")  # eliminated coordinates
    slot: Indices = shaped("N")  # position among solved, -1 if in none, -2 - that among eliminated
    H: Matrix = shaped("cap", "cap")  # among solved
    L: Matrix = shaped("low", "low")  # the low part of its entries
    E: Matrix = shaped("cap", "eliminated")  # H of solved and eliminated coordinates
    F: Matrix = shaped("eliminated", "cap")  # its transpose: twofold sums are vectors' only
    # the inverse of H plus the diagonal, after elimination: the lower triangle, and the upper one
    # where it is twofold
    inverse: Matrix = shaped("cap", "cap")
    inverse_low: Matrix = shaped("cap", "cap")  # its second part where it is twofold
    packed: Matrix = shaped("gram", "cap")  # H of all rows and solved coordinates
    packed_u: Matrix = shaped(2, "cap")  # [order]: u of solved coordinates; 0 if known now
    work: Matrix = shaped(15, "N + 8")
    pair: Matrix = shaped(8, "cap")
    # the ratio test
    unknown: Indices = shaped("N")
    movers: Indices = shaped(2)  # number of unknowns on each side
    mover: Indices = shaped("N")  # their rows or columns of R; those of variables begin at n
    moved: Tables = shaped(2, 3, "N")  # [order]: high and low part and size of these
    dense: Tables = shaped(4, 3, "side")  # [2 side + order]: the same of all, 0 where known
    looked: Indices = shaped("2N + 8")
    looked_at: Indices = shaped("N")  # the number of the last look at a coordinate
    candidate: Indices = shaped("4N")  # 2 i + side
    ratio: Matrix = shaped(9, "4N")
    # the record
    seen_keys: Indices = shaped("seen")
    node: Matrix = shaped("nodes", 2)  # t
    node_at: Indices = shaped("2 nodes")  # pairs: events and entries before each node
    event: Indices = shaped("events")  # coordinate * places + place
    entry: Indices = shaped("entries")
    entries: Matrix = shaped("entries", 2)


GROWING = "cap", "eliminated", "nodes", "events", "entries", "seen"


def sizes_of(m: Map, grown: dict[str, int]) -> dict[str, int]:
    """Return the sizes by which a walk's arrays are `shaped`: by the map, and growing ones."""
    return grown | {
        "N": m.N,
        "2N + 8": 2 * m.N + 8,
        "4N": 4 * m.N,
        "N + 8": m.N + 8,
        "p": m.p,
        "side": max(m.n, m.p),
        "gram": m.n * m.with_gram,
        "low": grown["cap"] * m.with_low,
        "blocks": m.N // ODOMETER_BLOCK + 1,
        "2 nodes": 2 * grown["nodes"],
    }


@inline
def is_variable(w, i):
    """Tell whether a coordinate is a variable."""
    return w.map.n <= i < w.map.n + w.map.p


@inline
def side_of(w, i):
    """Return the side of the map of a coordinate's value."""
    return VARIABLES if is_variable(w, i) else ROWS


@inline
def is_known(w, i, place):
    """Tell whether the right-hand side of a place's equation is the coordinate's unknown."""
    if is_variable(w, i):
        return place % 2 == 1
    return place % 2 == 0 and w.graph.curvature[i, place] == 0.0


@inline
def factors(w, i, place):
    """Return the factors of the equation ``first (H u)_i + second u_i = right-hand side``."""
    q = w.graph.curvature[i, place]
    if is_variable(w, i):
        return -1.0, q
    if place % 2 == 1:
        return 1.0, 0.0
    return q, 1.0


@inline
def diagonal(w, i, place):
    """Return the term D_ii that a place adds to the diagonal of the system."""
    first, second = factors(w, i, place)
    return second / first


@inline
def is_of_kind(w, i, kind):
    """Tell whether an unknown coordinate has a pivot and is of a kind: see `CURVED`."""
    if kind == RIDGED:
        return is_variable(w, i) and w.map.ridge[i - w.map.n] > 0.0 and w.place[i] % 2 == 0
    return kind == CURVED and i < w.map.n and w.place[i] % 2 == 0


@inline
def couples(w, i):
    """Tell whether H has entries between a solved coordinate and eliminated ones."""
    return is_variable(w, i) == (w.now.eliminates == CURVED)


@inline
def inverse_pivot(w, i):
    """Return 1 over the pivot of an eliminated coordinate."""
    first, second = factors(w, i, w.place[i])
    return first / (second - first * w.map.ridge[i - w.map.n] if is_variable(w, i) else second)


@inline
def at(row, t, t_low):
    """Return value + rate t of four numbers."""
    h, e = accumulate(row[0], row[1], row[2], t, t_low)
    if not np.isfinite(h):
        return row[0], 0.0
    h, e = accumulate(h, e, row[3], t, t_low)
    return normalise(h, e)


@inline
def clock(w, i):
    """Return the parameter of the graph of i, in two parts, and its rate, 0 or 1."""
    now = w.now
    if now.jumping and not w.jumps[i]:
        return now.still, now.still_low, 0.0
    return now.t, now.t_low, 1.0


@inline
def number(w, i, row, order):
    """Return a number of the graph of i, or its rate."""
    t, t_low, flow = clock(w, i)
    if order == RATE:
        return flow * row[2], flow * row[3]
    return at(row, t, t_low)


@inline
def right_hand_side(w, i, place, order):
    """Return the right-hand side of a place's equation, or its rate."""
    return number(w, i, w.graph.equation[i, place], order)


@inline
def base_of(w, i, order):
    """Return the known coordinates' part of (H u)_i, or of its rate."""
    b, now = w.base, w.now
    if order == RATE:
        column = 2 if now.jumping else 1
        return b[column, 0, i], b[column, 1, i]
    t, t_low = (now.still, now.still_low) if now.jumping else (now.t, now.t_low)
    h, e = accumulate(b[0, 0, i], b[0, 1, i], b[1, 0, i], t, t_low)
    h, e = accumulate(h, e, b[1, 1, i], t, t_low)
    if now.jumping:
        h, e = accumulate(h, e, b[2, 0, i], now.t, now.t_low)
        h, e = accumulate(h, e, b[2, 1, i], now.t, now.t_low)
    return h, e


@inline
def base_in_double(w, i, order):
    """Return the same in double precision."""
    b, now = w.base, w.now
    if order == RATE:
        return b[2 if now.jumping else 1, 0, i]
    if now.jumping:
        return (b[0, 0, i] + now.still * b[1, 0, i]) + now.t * b[2, 0, i]
    return b[0, 0, i] + now.t * b[1, 0, i]


@inline
def base_terms(w, i, order):
    """Return the sum of absolute terms of `base_of`."""
    terms, now = w.base_terms, w.now
    if order == RATE:
        return terms[2 if now.jumping else 1, i]
    if now.jumping:
        return terms[0, i] + abs(now.still) * terms[1, i] + abs(now.t) * terms[2, i]
    return terms[0, i] + abs(now.t) * terms[1, i]


@inline
def known_bound(w, order):
    """Return a bound of the known unknowns, or of their rates, in their units."""
    m, now = w.map, w.now
    if order == RATE:
        return now.jump_rate if now.jumping else m.known[RATE]
    if now.jumping:
        return max(m.known[VALUE] + abs(now.still) * m.known[RATE], now.jump_value)
    return m.known[VALUE] + abs(now.t) * m.known[RATE]


@inline
def clear_rates(w):
    """Set all rates to zero."""
    du = w.u[RATE]
    for k in range(w.map.N):
        du[0, k] = du[1, k] = 0.0


@inline
def mixed(i, place):
    """Return 63 random bits of a coordinate and its place (splitmix64)."""
    x = np.uint64(i * 64 + place + 1) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((x ^ (x >> np.uint64(31))) >> np.uint64(1))


@inline
def keep_limits(w, i):
    """Copy the limits of a coordinate's place to `Walk.limit`, where they are contiguous."""
    lower, upper, kept = w.graph.lower[i, w.place[i]], w.graph.upper[i, w.place[i]], w.limit[i]
    kept[0], kept[1], kept[2], kept[3] = lower[0], lower[2], upper[0], upper[2]


@lean
def add_column(w, i, h, e, size, part):
    """Add (h + e) times column i of H to a part of `Walk.base`."""
    m, n, p = w.map, w.map.n, w.map.p
    high, low, terms = w.base[part, 0], w.base[part, 1], w.base_terms[part]
    last = m.N - 1
    if is_variable(w, i):
        j = i - n
        if m.sparse:
            add_sparsely(m, i, high, low, terms, h, e, size)
        else:
            scaled_add(high, low, m.columns[j], n, h, e)
            scaled_add_sizes(terms, m.columns[j], n, size)
        x, y = accumulate(high[i], low[i], -m.ridge[j], h, e)
        high[i], low[i] = normalise(x, y)
        terms[i] += m.ridge[j] * size
        if last >= n + p:
            x, y = accumulate(high[last], low[last], w.sign[j], h, e)
            high[last], low[last] = normalise(x, y)
            terms[last] += abs(w.sign[j]) * size
        return
    if m.sparse and i < n:
        add_sparsely(m, i, high, low, terms, h, e, size)
        return
    row = m.R[i] if i < n else w.sign
    scaled_add(high[n:], low[n:], row, p, h, e)
    scaled_add_sizes(terms[n:], row, p, size)
    if i < n and m.with_gram:
        scaled_add(high, low, m.gram[i], n, h, e)
        scaled_add_sizes(terms, m.gram[i], n, size)
        if m.with_low:
            axpy(low, m.low[i], n, h)


@lean
def add_known(w, i, way):
    """Add (way 1) or subtract (-1) the part of H u that belongs to a known coordinate."""
    row = w.graph.equation[i, w.place[i]]
    if row[0] != 0.0:
        add_column(w, i, way * row[0], way * row[1], way * abs(row[0]), 0)
    h, e, part = row[2], row[3], 2 if w.jumps[i] else 1
    if h == 0.0:
        return
    if w.map.with_gram and i < w.map.n and way > 0:
        add_to_form(w, h * (2.0 * w.base[part, 0, i] + h * w.map.gram[i, i]), part)
    add_column(w, i, way * h, way * e, way * abs(h), part)
    if w.map.with_gram and i < w.map.n and way < 0:
        add_to_form(w, -h * (2.0 * w.base[part, 0, i] + h * w.map.gram[i, i]), part)


@inline
def add_to_form(w, term, part):
    """Add a term to a'K a of the rates of known rows."""
    w.form[part - 1] += term
    w.form_peak[part - 1] = max(w.form_peak[part - 1], abs(w.form[part - 1]))


@lean
def move(w, i, new):
    """Put a coordinate into a place and update the known part; the system stays the same."""
    now = w.now
    if w.known[i]:
        add_known(w, i, -1.0)
    now.key ^= mixed(i, w.place[i]) ^ mixed(i, new)
    w.place[i] = new
    keep_limits(w, i)
    w.known[i] = 1 if is_known(w, i, new) else 0
    w.due[i] = ALWAYS if w.known[i] else NEVER
    w.block[i // ODOMETER_BLOCK] = min(w.block[i // ODOMETER_BLOCK], w.due[i])
    if i < len(w.line):
        w.line[i, 0] = 0.0
    if w.map.n <= i < w.map.n + w.map.weights:
        w.sign[i - w.map.n] = new - 1.0
    if w.known[i]:
        add_known(w, i, 1.0)
    now.changes += 1
    if now.events < len(w.event):
        w.event[now.events] = i * 64 + new
        now.events += 1


@lean
def begin(w):
    """Compute the known coordinates' part of H u from the places."""
    now = w.now
    w.base[:] = 0.0
    w.base_terms[:] = 0.0
    w.block[:] = ALWAYS
    w.stays[:] = 0
    now.staying = 0
    now.epoch += 1
    now.lost = 1
    now.key = 0
    for k in range(2):
        w.form[k] = w.form_peak[k] = 0.0
    for i in range(w.map.N):
        place = w.place[i]
        now.key ^= mixed(i, place)
        keep_limits(w, i)
        w.known[i] = 1 if is_known(w, i, place) else 0
        w.due[i] = ALWAYS if w.known[i] else NEVER
        if w.map.n <= i < w.map.n + w.map.weights:
            w.sign[i - w.map.n] = place - 1.0
    for i in range(w.map.N):
        if w.known[i]:
            add_known(w, i, 1.0)
