"""What the event loop keeps: arrays, scalars by name, and the log.

Arrays of the loop (`State`): N coordinates, at most ``cap`` pinned, m of them in the inverse.

=====================  ============  ========================================================
``state``              (N,)          2r on piece r, 2r + 1 at kink r
``slot``               (N,)          position in ``P``, -1 when not there
``window``             (N, 4)        on a piece: the kinks below and above, constants and rates
``due``                (N,)          odometer reading before which z_i can't reach a kink; minus
                                     the reading at which it was found at one; FAR while
                                     pinned, -FAR when nothing is known
``block``              (N / 64,)     smallest ``due`` of each block of rows
``rows``               (64,)         rows of a block that are due
``P``                  (cap,)        pinned coordinates; a pending entrant comes last
``Q``                  (N, cap)      DENSE: their columns H[:, P], so that rows are read in one go
``span``               (cap, 4)      the levels above and below their duals, constants and rates
``a, da, regular``     (cap,)        their duals, velocities, and velocities when dt = 1
``own``                (cap,)        velocities of their values
``lost``               (cap,)        what rounding has lost in ``a`` since the last rebuild
``J``                  (cap, cap)    the pinned system, lower triangle (not for rows with a ridge)
``G``                  (cap, cap)    its inverse, lower triangle (maps without a ridge only)
``R, W``               (cap, .)      the factor R'R of the pinned rows' products, and R'W = border
``order, rank``        (cap,)        slots in the order of R's columns, and the other way round
``u, k, g``            (cap,)        columns of the entrant (J u = k) and of the leaver (g)
``v, x, y, f``         (cap,)        scratch: v and y of whoever solves, x and f of the factor
``kept, small``        (2, cap) ..   a direction put aside; the borders' small system
``hit_*``              (N,)          candidates of the ratio test
``number, count``                    scalars, see the constants below
=====================  ============  ========================================================
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from .compiled import (
    Indices,
    Matrix,
    Vector,
    inline,
    lean,
    struct,
)

BLOCK = 64
FAR = 1e300  # instead of infinity, which code compiled for speed may not compare with
# number[...]
T, T_END, ODOMETER, BELOW, REACH, PACE, SPEED, GROSS, NOISE, SIGN, PIVOT = range(11)
DRIFT, UNIT, WORN, BEST, CONTRACTION, HAZE, SPREAD = range(11, 18)
# count[...]
M, PENDING, KIND, EVENTS, NODES, FLAT, ZEROS, LOOKED, EXCHANGES, REFACTORED = range(10)
SINCE_REBUILD, SINCE_FACTORED, RANDOM, ZERO_STEPS, BUDGET = range(10, 15)
LAST, CAME, HELD, REBUILT, TIED, FIRST, FACTORED, UNSURE = range(15, 23)
# KIND: which way the pending coordinate went
NONE, ENTERED, LEFT = 0, 1, -1
# how a walk ends
DONE, RAY, GROW, PAUSE, UNBOUNDED, STALLED, LOST, WALL = range(8)


@struct
class State:
    """Arrays of the loop; see the module's docstring."""

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
    number: Vector
    count: Indices


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


@inline
def level_at(st, i, r, t):
    """Return level r of coordinate i at t."""
    return st.level0[i, r] + t * st.level1[i, r]


@inline
def kink_at(st, i, r, t):
    """Return kink r of coordinate i at t."""
    return st.kink0[i, r] + t * st.kink1[i, r]


@lean
def checkpoint_every(N):
    """Events between two copies of all states: their memory stays below that of the duals."""
    return max(64, N // 4)
