"""What the event loop keeps: arrays, numbers by name, the log, and the lines to be walked."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from .compiled import (
    Indices,
    Matrix,
    Vector,
    aligned,
    entry,
    inline,
    new,
    record,
    struct,
    zeros,
)
from .staircase import Staircases

BLOCK = 64
AHEAD = 2**24  # duals (320 MiB) that a log has room for at first, if it may come to so many
FAR = 1e300  # instead of infinity, which code compiled for speed may not compare with
# pending.kind: which way the pending coordinate went
NONE, ENTERED, LEFT = 0, 1, -1
# how a walk ends
DONE, RAY, GROW, PAUSE, UNBOUNDED, STALLED, LOST, WALL = range(8)
# line.stage: before its start, before a leg from where the walk stands, with the factor as it is
# or after a snapshot's return, or on its way
AT_START, AT_RETURN, AT_LEG, ON_WAY = range(4)


@record
class Clock:
    """Where the walk stands: ``t``, on its way to ``end``.

    ``odometer`` (in two parts) is the length that w has travelled since all sums were renewed.
    """

    t: float
    end: float
    odometer: float
    odometer_low: float


@record
class Direction:
    """How fast the walk moves, see `operators.measure_direction`.

    ``noise`` is the velocity, in units of norms, that is rounding. ``off``: how far pinned values
    are known to miss their velocities, in units of norms, as the direction may yet be refined.
    ``carried``: R'^-1 of the kinks' rates is at hand, in the last column of W; then the rates
    themselves are computed now and then only, for their size: ``rates``, ``known`` steps ago.
    """

    pace: float
    speed: float
    gross: float
    noise: float
    off: float
    carried: int
    rates: float
    known: int


@record
class Accuracy:
    """What rounding makes of a leg (the first four) and has made of it so far.

    ``drift``: 1 where kinks move. ``unit``: what rounding makes of a value that is summed up from
    terms of unit size, relative to the kinks. ``spread``: half the range of the kinks. ``reach``:
    the length that w may travel before a value moves by more than 'tie'. ``worn``: sizes of
    the terms added to running sums since they were renewed. ``contraction``: the share of a
    right-hand side that the factor's last solution left. ``felt``: the least difference of values,
    in units of their norms, that a dual feels, with pivots as small as the ``least`` so far.
    ``left``: how far pinned values may be off their kinks, in these units; ``slip``: how far they
    are at most, with a ridge, by all that has moved them since that was computed.
    """

    drift: float
    unit: float
    spread: float
    reach: float
    worn: float
    contraction: float
    felt: float
    least: float
    left: float
    slip: float


@record
class Pending:
    """The coordinate of an unfinished exchange.

    ``kind`` says which way it went: NONE, ENTERED, LEFT; ``sign`` is that of its move, and
    ``pivot`` its Schur pivot.
    """

    kind: int
    coordinate: int
    sign: float
    pivot: float


@record
class Last:
    """The last event: who, and the state that it ``came`` from.

    ``held`` may leave its kink at the next one only if its dual goes out of its range by more than
    rounding; then it is ``barred`` from its kink until another event has happened. ``unsure``: the
    pinned equations hold less well after it than they should.
    """

    coordinate: int
    came: int
    held: int
    barred: int
    unsure: int


@record
class Search:
    """The ratio test.

    ``best``: the largest weight of a candidate at its kink, -1 where that is not what is wanted.
    ``left``: the way to the walk's end. ``haze``: the rounding of a quick look, in units of norms.
    ``tied``: candidates at their kinks. ``first``: the block to begin with. ``random``: state of
    the generator that breaks ties at last.
    """

    best: float
    left: float
    haze: float
    tied: int
    first: int
    random: int


@record
class Sizes:
    """How much of the arrays is used.

    ``pinned`` coordinates (a pending entrant not counted), those of them in the triangular factor;
    events, nodes and pinned duals in the log.
    """

    pinned: int
    factored: int
    events: int
    nodes: int
    duals: int


@record
class Counts:
    """What happened.

    ``zeros`` is the present run of steps of length zero, ``budget`` the events left before Python
    is told of progress. ``pattern`` stands for all states, ``kept`` is that of so many events
    ago (``since_kept``, of ``span``), and ``returns`` says how often it was found again after t
    had ``gone`` on.
    """

    pattern: int
    kept: int
    span: int
    since_kept: int
    gone: int
    returns: int
    zeros: int
    zero_steps: int
    looked: int
    exchanges: int
    refactored: int
    rebuilt: int
    since_rebuild: int
    since_factored: int
    budget: int


@record
class Present:
    """The line that is walked: its ``number``, its ``stage``, and where its leg began, in t.

    Its share of the log begins behind so many ``events`` and ``nodes``.
    """

    number: int
    stage: int
    begin: float
    events: int
    nodes: int


@struct
class State:
    """The walk: N coordinates, at most ``cap`` pinned.

    =================  ===========  =========================================================
    ``state``          (N,)         2r on piece r, 2r + 1 at kink r
    ``slot``           (N,)         position in ``P``, -1 when not there
    ``window``         (N, 6)       on a piece: the kinks below and above, constants and rates;
                                    then the map's norm and radius: what a look needs, in a row
    ``due``            (N,)         odometer reading before which z_i can't reach a kink; minus
                                    the reading at which it was found at one; FAR while
                                    pinned, -FAR when nothing is known
    ``block``          (N / 64,)    smallest ``due`` of each block of rows
    ``rows``           (64,)        rows of a block that are due
    ``P``              (cap,)       pinned coordinates; a pending entrant comes last
    ``Q``              (N, cap)     DENSE: their columns H[:, P], so that rows are contiguous
    ``span``           (cap, 4)     the levels around their duals, constants and rates
    ``a, da``          (cap,)       their duals and velocities
    ``regular``        (cap,)       velocities when dt = 1
    ``own``            (cap,)       velocities of their values
    ``lost``           (cap,)       what rounding has lost in ``a`` since the last rebuild
    ``J``              (cap, cap)   the pinned system, lower triangle (rows with a ridge: none)
    ``G``              (cap, cap)   its inverse, lower triangle (maps without a ridge only)
    ``R, W``           (cap, .)     the factor R'R of the pinned rows' products; R'W = border, and
                                    in a last column R'w = the kinks' rates, see `aim`
    ``order, rank``    (cap,)       slots in the order of R's columns, and the other way round
    ``u, k, g``        (cap,)       columns of the entrant (J u = k) and of the leaver (g)
    ``v, y``           (cap,)       scratch of whoever solves
    ``x, f``           (cap,)       scratch of the factor
    ``kept, small``    (2, cap) ..  a direction put aside; the borders' small system
    ``hit_*``          (2N + 2,)    candidates of the ratio test
    =================  ===========  =========================================================
    """

    clock: Clock
    direction: Direction
    accuracy: Accuracy
    pending: Pending
    last: Last
    search: Search
    sizes: Sizes
    counts: Counts
    state: Annotated[NDArray[np.int8], 1]
    slot: Indices
    window: Matrix
    due: Vector
    block: Vector
    rows: Indices
    P: Indices
    Q: Matrix
    span: Matrix
    a: Vector
    da: Vector
    regular: Vector
    own: Vector
    lost: Vector
    J: Matrix
    G: Matrix
    R: Matrix
    W: Matrix
    order: Indices
    rank: Indices
    u: Vector
    k: Vector
    g: Vector
    v: Vector
    x: Vector
    y: Vector
    f: Vector
    kept: Matrix
    small: Matrix
    hit_index: Indices
    hit_slack: Vector
    hit_rate: Vector
    hit_weight: Vector


# Arrays that grow with the number of pinned coordinates: along which axes.
VECTORS = ("a", "da", "regular", "own", "lost", "u", "k", "g", "v", "x", "y", "f")
GROWING = dict.fromkeys((*VECTORS, "P", "order", "rank", "span", "W"), (0,))
GROWING |= {"Q": (1,), "kept": (1,), "J": (0, 1), "G": (0, 1), "R": (0, 1)}


def empty_state(N: int, n: int, cap: int, dense: bool, ridge: bool) -> State:
    """Return a state in which no coordinate has a slot, with room for ``cap`` pinned ones.

    ``dense``: the map is held as entries; ``ridge``: its pinned system has a triangular factor.
    """
    borders = N - n if ridge else 0
    system = cap if dense or not ridge else 0
    inverse, triangle = (0, cap) if ridge else (cap, 0)
    made = zeros(
        State,
        clock=new(Clock),
        direction=new(Direction),
        accuracy=new(Accuracy, least=1.0),
        pending=new(Pending),
        last=new(Last),
        search=new(Search, random=1),
        sizes=new(Sizes),
        counts=new(Counts),
        state=N,
        slot=N,
        window=(N, 6),
        due=N,
        block=-(-n // BLOCK),
        rows=BLOCK,
        P=cap,
        Q=(N if dense else 0, cap),
        span=(cap, 4),
        J=(system, system),
        G=(inverse, inverse),
        R=(triangle, triangle),
        W=(cap, borders + ridge),
        order=cap,
        rank=cap,
        kept=(2, cap),
        small=(borders, borders + 1),
        hit_index=2 * N + 2,
        hit_slack=2 * N + 2,
        hit_rate=2 * N + 2,
        hit_weight=2 * N + 2,
        **dict.fromkeys(VECTORS, cap),
    )
    made.slot[:] = made.rank[:] = -1
    return made


def widened(s: State, cap: int) -> State:
    """Return the same state with room for ``cap`` pinned coordinates."""
    wider = {}
    for name, axes in GROWING.items():
        old = getattr(s, name)
        shape = [cap if k in axes and size else size for k, size in enumerate(old.shape)]
        wider[name] = aligned(math.prod(shape)).view(old.dtype).reshape(shape)
        wider[name][tuple(slice(size) for size in old.shape)] = old
    return replace(s, **wider)


@struct
class Stairs:
    """`Staircases` for compiled code, with the data's scale and where to stop (walls)."""

    kink0: Matrix
    kink1: Matrix
    level0: Matrix
    level1: Matrix
    soft: Vector
    n_kinks: Indices
    scale: Vector
    wall: Indices


def stairs_like(stairs: Staircases) -> Stairs:
    """Return room for staircases like these, with nowhere to stop."""
    N = len(stairs)
    room = {name: np.empty_like(numbers, order="C") for name, numbers in vars(stairs).items()}
    return Stairs(**room, scale=np.ones(N), wall=np.zeros(N, dtype=np.int64))


@struct
class Log:
    """What is recorded: nodes (t, events so far, start of the duals a + low), events, states."""

    t: Vector
    event: Indices
    start: Indices
    P: Annotated[NDArray[np.int32], 1]
    a: Vector
    low: Vector
    coordinate: Annotated[NDArray[np.int32], 1]
    state: Annotated[NDArray[np.int8], 1]
    checkpoint: Annotated[NDArray[np.int8], 2]


def empty_log(N: int, pinned: int = 8) -> Log:
    """Return a log of N coordinates with room for some events of each, ``pinned`` duals at a node.

    Room that isn't written takes no memory. To make arrays longer takes copies of them.
    """
    rooms = max(512, 2 * N)
    pinned = max(8, min(pinned, AHEAD // rooms))
    return Log(
        np.empty(rooms),
        np.empty(rooms, dtype=np.int64),
        np.zeros(rooms, dtype=np.int64),
        np.empty(rooms * pinned, dtype=np.int32),
        np.empty(rooms * pinned),
        np.empty(rooms * pinned),
        np.empty(rooms, dtype=np.int32),
        np.empty(rooms, dtype=np.int8),
        np.empty((rooms // checkpoint_every(N) + 2, N), dtype=np.int8),
    )


# What is noted of a line: its share of the log, how it ended, and counts.
NOTED = ("first_event", "last_event", "first_node", "last_node", "ending")
NOTED += ("zero_steps", "exchanges", "refactorisations", "rebuilds", "rows_looked_at")


@struct
class Lines:
    """Walks over staircases that differ in softness alone, one after the other in one log.

    =============  =======  ============================================================
    ``soft``       (K, N)   their softness
    ``state``      (K, N)   states where they begin; once walked, where they ended
    ``dual``       (K, N)   so duals; at the beginning those at kinks alone are read
    ``ray``        (K, N)   how fast duals moved at the end
    ``t``          (K,)     where they ended
    ``tally``      (K, 10)  what ``NOTED`` names
    =============  =======  ============================================================
    """

    now: Present
    soft: Matrix
    state: Annotated[NDArray[np.int8], 2]
    dual: Matrix
    ray: Matrix
    t: Vector
    tally: Annotated[NDArray[np.int64], 2]


def new_lines(soft: NDArray[np.float64], state, dual) -> Lines:
    """Return (K, N) lines before their start; ``state`` and ``dual`` are copied."""
    states, duals = np.empty(soft.shape, dtype=np.int8), np.empty(soft.shape)
    states[:], duals[:] = state, dual
    return Lines(
        new(Present, stage=AT_START),
        soft,
        states,
        duals,
        np.zeros(soft.shape),
        np.zeros(len(soft)),
        np.zeros((len(soft), len(NOTED)), dtype=np.int64),
    )


@inline
def forget_last(s):
    """Remember no last event: a leg or a jump begins."""
    s.last.coordinate = s.last.held = s.last.barred = -1
    s.counts.zeros = 0


@inline
def level_at(st, i, r, t):
    """Return level r of coordinate i at t."""
    return st.level0[i, r] + t * st.level1[i, r]


@inline
def kink_at(st, i, r, t):
    """Return kink r of coordinate i at t."""
    return st.kink0[i, r] + t * st.kink1[i, r]


@inline
def room_at(s, r, t):
    """Return how far the pinned dual in slot r is from the nearer of its two levels at t."""
    span = s.span[r]
    return min(span[0] + t * span[1] - s.a[r], s.a[r] - span[2] - t * span[3])


@inline
def width_at(s, r, t):
    """Return the distance of the two levels around the pinned dual in slot r at t."""
    span = s.span[r]
    return (span[0] - span[2]) + t * (span[1] - span[3])


@entry
def checkpoint_every(N):
    """Events between two copies of all states: their memory stays below that of the duals."""
    return max(64, N // 4)
