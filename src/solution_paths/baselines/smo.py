"""Sequential minimal optimisation with instance weights and a hot start, for the SVC and the SVR.

Both duals are written in signed variables b_i (b_i = y_i alpha_i for the SVC, alpha_i - alpha_i*
for the SVR), so that one loop serves both:

    minimise  1/2 b'(K + ridge I) b - z'b + epsilon sum_i |b_i|
    subject to  low_i <= b_i <= high_i,  sum_i b_i = 0

    SVC: z = y, epsilon = 0, the box is [0, C_i] for y_i = +1 and [-C_i, 0] for y_i = -1.
    SVR: z is the target and the box is [-C_i, C_i]; |b_i| has a kink at 0.

With u = K b - z, raising b_i costs u_i + up_i for each unit, and lowering it saves u_i + down_i;
``up`` and ``down`` hold +-epsilon, or +-infinity at the end of the box. The solution is optimal to
``tol`` when max(u + down) - min(u + up) <= tol: the stopping rule of every SMO code.

One iteration: i is the minimiser of u + up, j the best partner by the second-order gain
(Fan, Chen and Lin, JMLR 6, 2005), b_i rises and b_j falls up to a kink or the end of the box. One
fused, vectorised sweep then updates u and finds the next i. Coordinates that can't take part
are shrunk: the loop goes on with packed arrays, and u is reconstructed before it may stop. A hot
start clips the given solution into the new box and restores the balance (alpha seeding, DeCoste and
Wagstaff, KDD 2000). Kernel values are float64. Rows are computed when first needed and kept in
two least-recently-used pools (whole rows, and rows packed to the active set), which outlive a
solve: a new `SMO` object is what "clear the cache" means.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from importlib import metadata
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import ArrayLike, NDArray

from ..objectives import Hinge
from .answer import Answer, not_a_hinge, reuse_or_build

NAME = "SMO (own)"
TIGHT_OPTIONS = {"tolerance": 1e-8}
STATED_GAP = 1e-7
LINEAR, RBF, POLY, GRAM = 0, 1, 2, 3
KINDS = {"linear": LINEAR, "rbf": RBF, "poly": POLY, "precomputed": GRAM}
BLOCK = np.uint64(
    128
)  # length of the stretches whose minima and maxima are found by vector instructions
SMALL = np.uint64(24)  # active sets up to this size aren't worth vector instructions
SMALLEST_CURVATURE = 1e-12  # of a pair whose kernel rows coincide
EPOCHS = 16  # how often the active set may shrink before it is made whole again
WORTHWHILE = 0.8  # packing costs some sweeps: do it when the active set falls below this part
CHUNK = 20_000  # iterations between two looks at the clock
# Places in State.count (integers) and State.level (floats).
ACTIVE, EPOCH, ITERATIONS, UNTIL_SHRINK, UNSHRUNK, SINCE_REFRESH, AT_LOWEST = range(7)
LOWEST, HIGHEST = range(2)
RUNNING, DONE, STUCK = range(3)
WIDTH, SLOTS, USED, ROOMY = range(4)  # places in Pool.size
# LLVM may assume that there is no nan, so that minima become vector instructions; infinities occur.
QUICK = {"nnan", "nsz", "contract"}


class Kernel(NamedTuple):
    """The kernel: features by rows (n, d) and by columns (d, n); d = 0 for a Gram matrix."""

    kind: int
    X: NDArray[np.float64]
    columns: NDArray[np.float64]
    square: NDArray[np.float64]
    gamma: float
    coef0: float
    degree: int


class Pool(NamedTuple):
    """Rows of one width in a flat buffer; the least recently used one makes room.

    ``slot`` (n,): slot of a row or -1; ``row`` (n,): row of a slot; ``after`` and ``before``
    (n + 1,): ring of slots from the most recent to the oldest, entry n is its head;
    ``size`` (4,): width, number of slots, slots in use, whether all rows have room (the ring is
    of no use then).
    """

    buffer: NDArray[np.float64]
    slot: NDArray[np.int64]
    row: NDArray[np.int64]
    after: NDArray[np.int64]
    before: NDArray[np.int64]
    size: NDArray[np.int64]


class State(NamedTuple):
    """One solve: whole arrays (n,), and names with _ packed to the m active coordinates.

    ``order`` (n,) lists the active coordinates first, then those shrunk last, ..., shrunk first;
    those of epoch e are ``order[bound[e + 1] : bound[e]]``, and their u was right when b was
    ``snapshot[e]``.
    """

    b: NDArray[np.float64]
    u: NDArray[np.float64]
    z: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    diagonal: NDArray[np.float64]
    snapshot: NDArray[np.float64]
    bound: NDArray[np.int64]
    order: NDArray[np.int64]
    u_: NDArray[np.float64]
    up_: NDArray[np.float64]
    down_: NDArray[np.float64]
    diagonal_: NDArray[np.float64]
    columns_: NDArray[np.float64]
    square_: NDArray[np.float64]
    count: NDArray[np.int64]
    level: NDArray[np.float64]


# ---------------------------------------------------------------------------------- kernel rows


@njit(cache=True, fastmath=True)
def _kernel_row(kernel, g, columns, square, m, out):
    """Kernel values of sample g against the m samples given by columns."""
    out[:m] = 0.0
    for k in range(columns.shape[0]):
        x = kernel.X[g, k]
        if x != 0.0:
            column = columns[k]
            for t in range(m):
                out[t] += x * column[t]
    if kernel.kind == RBF:
        own = kernel.square[g]
        for t in range(m):
            out[t] = math.exp(-kernel.gamma * max(own + square[t] - 2.0 * out[t], 0.0))
    elif kernel.kind == POLY:
        for t in range(m):
            base = kernel.gamma * out[t] + kernel.coef0
            power = 1.0
            for _ in range(kernel.degree):
                power *= base
            out[t] = power


@njit(cache=True)
def _empty_pool(pool, width):
    """Forget all rows; slots get a new width, which is also how many rows will be asked for."""
    n = pool.slot.shape[0]
    pool.slot[:] = -1
    pool.after[n] = n
    pool.before[n] = n
    pool.size[WIDTH] = width
    pool.size[SLOTS] = min(width, pool.buffer.shape[0] // width)
    pool.size[USED] = 0
    pool.size[ROOMY] = pool.size[SLOTS] == width


@njit(cache=True)
def _unlink(pool, s):
    pool.after[pool.before[s]] = pool.after[s]
    pool.before[pool.after[s]] = pool.before[s]


@njit(cache=True)
def _find_slot(pool, g):
    """(Slot of row g, whether the row is in it already); a new row displaces the oldest."""
    head = pool.slot.shape[0]
    s = pool.slot[g]
    known = s >= 0
    if known and pool.size[ROOMY]:
        return s, True
    if known:
        _unlink(pool, s)
    elif pool.size[USED] < pool.size[SLOTS]:
        s = pool.size[USED]
        pool.size[USED] += 1
    else:
        s = pool.before[head]
        _unlink(pool, s)
        pool.slot[pool.row[s]] = -1
    pool.slot[g] = s
    pool.row[s] = g
    first = pool.after[head]
    pool.after[s] = first
    pool.before[s] = head
    pool.before[first] = s
    pool.after[head] = s
    return s, known


@njit(cache=True)
def _whole_row(kernel, whole, g):
    """Row g against all samples."""
    n = kernel.square.shape[0]
    s, known = _find_slot(whole, g)
    row = whole.buffer[s * n : (s + 1) * n]
    if not known:
        _kernel_row(kernel, g, kernel.columns, kernel.square, n, row)
    return row


@njit(cache=True)
def _fetch(kernel, whole, packed, state, k):
    """Slot of the k-th active coordinate's row, in the pool that serves the active set."""
    m = state.count[ACTIVE]
    g = state.order[k]
    if m == state.b.shape[0]:
        _whole_row(kernel, whole, g)
        return whole.slot[g]
    s, known = _find_slot(packed, g)
    if not known:
        row = packed.buffer[s * m : (s + 1) * m]
        # A whole row serves every later packing too, if it can stay.
        if whole.slot[g] >= 0 or whole.size[ROOMY]:
            source = _whole_row(kernel, whole, g)
            for t in range(m):
                row[t] = source[state.order[t]]
        else:
            _kernel_row(kernel, g, state.columns_, state.square_, m, row)
    return s


# ------------------------------------------------------------------------------------ the sweeps


def _vector_extreme(name):
    """LLVM's own minimum or maximum: Python's is compiled to branches, which stay scalar loops."""

    @intrinsic
    def extreme(context, a, b):
        def generate(context, builder, signature, arguments):
            kind = ir.DoubleType()
            operation = builder.module.declare_intrinsic(
                name, [kind], ir.FunctionType(kind, [kind, kind])
            )
            return builder.call(operation, arguments, fastmath=("nnan", "nsz"))

        return types.float64(types.float64, types.float64), generate

    return extreme


_smaller = _vector_extreme("llvm.minnum")
_larger = _vector_extreme("llvm.maxnum")


@njit(cache=True, fastmath=QUICK)
def _update_block(u, up, down, step, rows, rising, falling, a, z):
    """Add step (rising - falling) to u[a:z]; (min of u + up, max of u + down) there."""
    lowest = np.inf
    highest = -np.inf
    for t in range(a, z):
        value = u[t] + step * (rows[rising + t] - rows[falling + t])
        u[t] = value
        lowest = _smaller(lowest, value + up[t])
        highest = _larger(highest, value + down[t])
    return lowest, highest


@njit(cache=True, fastmath=QUICK)
def _gain_block(u, down, diagonal, rows, rising, lowest, own, a, z):
    """Best second-order gain of lowering one of u[a:z] while i rises."""
    best = 0.0
    for t in range(a, z):
        slope = _larger(u[t] + down[t] - lowest, 0.0)
        curvature = _larger(own + diagonal[t] - 2.0 * rows[rising + t], SMALLEST_CURVATURE)
        best = _larger(best, slope * slope / curvature)
    return best


@njit(cache=True)
def _update(u, up, down, m, step, rows, rising, falling):
    """Add step (rising - falling) to u; (minimum of u + up, its place, maximum of u + down).

    ``rising`` and ``falling`` are where the two kernel rows begin in ``rows``. One sweep does it
    all; the place of the minimum is then looked up in the one block that has it. Indices without
    a sign spare the loops Python's wrap-around of negative ones.
    """
    size, p, q = np.uint64(m), np.uint64(rising), np.uint64(falling)
    lowest, highest, block, place = np.inf, -np.inf, np.uint64(0), np.uint64(0)
    if size <= SMALL:
        for t in range(size):
            u[t] += step * (rows[p + t] - rows[q + t])
            highest = max(highest, u[t] + down[t])
            if u[t] + up[t] < lowest:
                lowest, place = u[t] + up[t], t
        return lowest, np.int64(place), highest
    for a in range(np.uint64(0), size, BLOCK):
        low, high = _update_block(u, up, down, step, rows, p, q, a, min(a + BLOCK, size))
        if low < lowest:
            lowest, block = low, a
        highest = max(highest, high)
    least, place = np.inf, block
    for t in range(block, min(block + BLOCK, size)):
        value = u[t] + up[t]
        if value < least:
            least, place = value, t
            if value <= lowest:
                break
    return lowest, np.int64(place), highest


@njit(cache=True)
def _partner(u, down, diagonal, m, i, lowest, rows, rising):
    """Find the coordinate whose fall with i's rise gains most, to second order."""
    size, p, own = np.uint64(m), np.uint64(rising), diagonal[i]
    best, block = -1.0 if size > SMALL else np.inf, np.uint64(0)
    for a in range(np.uint64(0), size if size > SMALL else block, BLOCK):
        gain = _gain_block(u, down, diagonal, rows, p, lowest, own, a, min(a + BLOCK, size))
        if gain > best:
            best, block = gain, a
    most, place = -1.0, block
    for t in range(block, min(block + BLOCK, size)):
        slope = max(u[t] + down[t] - lowest, 0.0)
        gain = slope * slope / max(own + diagonal[t] - 2.0 * rows[p + t], SMALLEST_CURVATURE)
        if gain > most:
            most, place = gain, t
            if gain >= best:
                break
    return np.int64(place)


# ----------------------------------------------------------------------- shrinking and rebuilding


@njit(cache=True)
def _edges(b, low, high, epsilon):
    """Return what it costs to raise b and what it saves to lower b, beyond u."""
    up = (epsilon if b < high else np.inf) if b >= 0.0 else -epsilon
    down = (-epsilon if b > low else -np.inf) if b <= 0.0 else epsilon
    return up, down


@njit(cache=True)
def _note_extremes(state):
    """Find the extremes of the active set afresh."""
    lowest, place, highest = _update(
        state.u_, state.up_, state.down_, state.count[ACTIVE], 0.0, state.u_, 0, 0
    )
    state.count[AT_LOWEST] = place
    state.level[LOWEST] = lowest
    state.level[HIGHEST] = highest


@njit(cache=True)
def _pack(kernel, packed, state, epsilon):
    """Fill the packed arrays from the whole ones for order[:m]."""
    n = state.b.shape[0]
    m = state.count[ACTIVE]
    for k in range(m):
        g = state.order[k]
        state.u_[k] = state.u[g]
        state.diagonal_[k] = state.diagonal[g]
        edges = _edges(state.b[g], state.low[g], state.high[g], epsilon)
        state.up_[k], state.down_[k] = edges
    if m < n:
        _empty_pool(packed, m)
        for k in range(m):
            state.square_[k] = kernel.square[state.order[k]]
        for f in range(kernel.columns.shape[0]):
            for k in range(m):
                state.columns_[f, k] = kernel.columns[f, state.order[k]]
    _note_extremes(state)


@njit(cache=True)
def _unpack(state):
    for k in range(state.count[ACTIVE]):
        state.u[state.order[k]] = state.u_[k]


@njit(cache=True)
def _make_whole(kernel, whole, packed, state, epsilon):
    """Bring u of the shrunk coordinates up to date and make all coordinates active."""
    n = state.b.shape[0]
    epochs = state.count[EPOCH]
    _unpack(state)
    for g in range(n):
        moved = False
        for e in range(epochs):
            moved = moved or state.b[g] != state.snapshot[e, g]
        if moved:
            row = _whole_row(kernel, whole, g)
            for e in range(epochs):
                change = state.b[g] - state.snapshot[e, g]
                if change != 0.0:
                    for t in state.order[state.bound[e + 1] : state.bound[e]]:
                        state.u[t] += change * row[t]
    for g in range(n):
        state.order[g] = g
    state.count[ACTIVE] = n
    state.count[EPOCH] = 0
    _pack(kernel, packed, state, epsilon)


@njit(cache=True)
def _gradient(kernel, whole, state, ridge):
    """U = (K + ridge I) b - z from nothing."""
    for g in range(state.b.shape[0]):
        state.u[g] = ridge * state.b[g] - state.z[g]
    for g in range(state.b.shape[0]):
        b = state.b[g]
        if b != 0.0:
            row = _whole_row(kernel, whole, g)
            for t in range(row.shape[0]):
                state.u[t] += b * row[t]


@njit(cache=True)
def _begin(kernel, whole, packed, state, ridge, epsilon):
    n = state.b.shape[0]
    for g in range(n):
        state.order[g] = g
    state.count[:] = 0
    state.count[ACTIVE] = n
    state.count[UNTIL_SHRINK] = min(n, 1000)
    state.bound[0] = n
    _gradient(kernel, whole, state, ridge)
    _pack(kernel, packed, state, epsilon)


@njit(cache=True)
def _shrink(kernel, whole, packed, state, epsilon, tol):
    """Set aside the coordinates that no violating pair can contain."""
    m = state.count[ACTIVE]
    if state.count[UNSHRUNK] == 0 and state.level[HIGHEST] - state.level[LOWEST] <= 10.0 * tol:
        state.count[UNSHRUNK] = 1
        if m < state.b.shape[0]:
            _make_whole(kernel, whole, packed, state, epsilon)
            m = state.count[ACTIVE]
    lowest, highest = state.level[LOWEST], state.level[HIGHEST]
    idle = np.zeros(m, np.bool_)
    for k in range(m):
        u = state.u_[k]
        idle[k] = u + state.up_[k] > highest and u + state.down_[k] < lowest
    kept = m - np.sum(idle)
    if kept > WORTHWHILE * m or kept < 2 or state.count[EPOCH] == EPOCHS:
        return
    _unpack(state)
    members = state.order[:m].copy()
    front, back = 0, kept
    for k in range(m):
        if idle[k]:
            state.order[back] = members[k]
            back += 1
        else:
            state.order[front] = members[k]
            front += 1
    epoch = state.count[EPOCH]
    state.snapshot[epoch, :] = state.b
    state.bound[epoch + 1] = kept
    state.count[EPOCH] = epoch + 1
    state.count[ACTIVE] = kept
    _pack(kernel, packed, state, epsilon)


# -------------------------------------------------------------------------------------- the loop


@njit(cache=True)
def _optimal(kernel, whole, packed, state, ridge, epsilon, tol):
    """Whether the active set's optimum is everybody's; if not, all are active again."""
    n = state.b.shape[0]
    if state.count[SINCE_REFRESH] > 100 * n:
        # Rounding errors of many updates: believe only a gradient that was computed afresh.
        _begin_again(kernel, whole, packed, state, ridge, epsilon)
    elif state.count[ACTIVE] < n:
        _make_whole(kernel, whole, packed, state, epsilon)
    state.count[UNTIL_SHRINK] = 1
    return state.level[HIGHEST] - state.level[LOWEST] <= tol


@njit(cache=True)
def _begin_again(kernel, whole, packed, state, ridge, epsilon):
    kept = state.count[ITERATIONS], state.count[UNSHRUNK]
    _begin(kernel, whole, packed, state, ridge, epsilon)
    state.count[ITERATIONS], state.count[UNSHRUNK] = kept


@njit(cache=True)
def _best_step(bi, bj, high, low, slope, curvature):
    """(Step, new b_i, new b_j): b_i rises to ``high`` at most, b_j falls to ``low`` at least."""
    room_i, room_j = high - bi, bj - low
    step = min(slope / max(curvature, SMALLEST_CURVATURE), room_i, room_j)
    # Ends of the box and kinks are reached exactly, so that later comparisons with them hold.
    return step, high if step == room_i else bi + step, low if step == room_j else bj - step


@njit(cache=True)
def _run(kernel, whole, packed, state, ridge, epsilon, tol, shrinking, iterations):
    """At most so many iterations: DONE, RUNNING, or STUCK below the rounding error of a pair.

    Arrays get names of their own because taking one out of a tuple costs a reference count.
    """
    b, low, high, order, count, level = (
        state.b,
        state.low,
        state.high,
        state.order,
        state.count,
        state.level,
    )
    u, up, down, diagonal = state.u_, state.up_, state.down_, state.diagonal_
    n, m, slot, rows, roomy = b.shape[0], 0, whole.slot, whole.buffer, False
    for _ in range(iterations):
        if level[HIGHEST] - level[LOWEST] <= tol and _optimal(
            kernel, whole, packed, state, ridge, epsilon, tol
        ):
            return DONE
        count[UNTIL_SHRINK] -= 1
        if shrinking and count[UNTIL_SHRINK] <= 0:
            count[UNTIL_SHRINK] = min(n, 1000)
            _shrink(kernel, whole, packed, state, epsilon, tol)
        if m != count[ACTIVE]:
            m = count[ACTIVE]
            pool = whole if m == n else packed
            slot, rows, roomy = pool.slot, pool.buffer, pool.size[ROOMY] > 0
        i, lowest = count[AT_LOWEST], level[LOWEST]
        gi = order[i]
        rising = m * (
            slot[gi] if roomy and slot[gi] >= 0 else _fetch(kernel, whole, packed, state, i)
        )
        j = _partner(u, down, diagonal, m, i, lowest, rows, rising)
        gj = order[j]
        falling = m * (
            slot[gj] if roomy and slot[gj] >= 0 else _fetch(kernel, whole, packed, state, j)
        )
        bi, bj = b[gi], b[gj]
        step, b[gi], b[gj] = _best_step(
            bi,
            bj,
            high[gi] if bi >= 0.0 else min(0.0, high[gi]),
            low[gj] if bj <= 0.0 else max(0.0, low[gj]),
            u[j] + down[j] - lowest,
            diagonal[i] + diagonal[j] - 2.0 * rows[rising + j],
        )
        if b[gi] == bi and b[gj] == bj:
            return STUCK
        up[i], down[i] = _edges(b[gi], low[gi], high[gi], epsilon)
        up[j], down[j] = _edges(b[gj], low[gj], high[gj], epsilon)
        u[i] += ridge * step
        u[j] -= ridge * step
        extremes = _update(u, up, down, m, step, rows, rising, falling)
        level[LOWEST], count[AT_LOWEST], level[HIGHEST] = extremes
        count[ITERATIONS] += 1
        count[SINCE_REFRESH] += 1
    return RUNNING


# -------------------------------------------------------------------------------- Python's side


def feasible_start(
    b: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Clip signed duals into the box and restore sum b = 0 (alpha seeding).

    What is missing is shared out in proportion to the room that each has: first among those that
    stand inside the box, whose conditions the change disturbs least, then among all.

    Parameters
    ----------
    b, low, high : (n,) arrays; low <= 0 <= high

    Returns
    -------
    (n,) array, within the box, that sums to zero up to rounding.
    """
    b = np.clip(b, low, high)
    inside = (b > low) & (b < high) & (b != 0.0)
    for group in (inside, np.ones_like(inside)):
        excess = math.fsum(b)
        if excess == 0.0:
            break
        # Towards zero is always possible; a kink at zero is not crossed.
        room = np.where(group, np.maximum(b, 0.0) if excess > 0 else np.minimum(b, 0.0), 0.0)
        total = abs(math.fsum(room))
        if total > 0.0:
            b = b - room * min(1.0, abs(excess) / total)
    return _absorb_rounding(b, low, high)


def _absorb_rounding(
    b: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Give the sum's last rounding error to one coordinate, best one that stands inside the box."""
    excess = math.fsum(b)
    if excess != 0.0:
        inside = np.where(b != 0.0, np.minimum(b - low, high - b), 0.0)
        room = inside if inside.max() > 0.0 else (b - low if excess > 0 else high - b)
        k = int(np.argmax(room))
        b[k] = min(max(b[k] - excess, low[k]), high[k])
    return b


@dataclass(frozen=True, eq=False)
class SmoResult:
    """A solution and what it cost.

    Attributes
    ----------
    alpha : (n,) array
        SVC: 0 <= alpha_i <= C_i. SVR: alpha_i - alpha_i*, signed.
    b : float
        Bias: f(x) = sum_i (signed dual)_i K(x_i, x) + b.
    objective : float
        Of the dual as a minimisation, the ridge included.
    violation : float
        max(u + down) - min(u + up): at most ``tol`` when solved.
    iterations : int
    cpu_s, wall_s : float
    status : {"solved", "inaccurate"}
    message : str
    """

    alpha: NDArray[np.float64]
    b: float
    objective: float
    violation: float
    iterations: int
    cpu_s: float
    wall_s: float
    status: str
    message: str


class SMO:
    """SMO solver for one set of samples; kernel rows are kept between solves.

    Parameters
    ----------
    X : (n, d) array or sparse matrix, or the (n, n) Gram matrix for ``kernel="precomputed"``
    kernel : {"linear", "rbf", "poly", "precomputed"}
        rbf is exp(-gamma ||x - x'||^2), poly is (gamma x.x' + coef0)^degree.
    gamma : float, optional
        1/d when omitted.
    ridge : float
        Added to the kernel matrix's diagonal (the weighted SVM paper adds 1e-6).
    cache_bytes : int
        Budget for kernel rows, shared by whole rows and rows packed to the active set.
    whole_gram : bool
        Compute the whole Gram matrix at the first solve (if 8 n^2 <= cache_bytes), with one matrix
        product, in place of rows when they are needed.

    Notes
    -----
    A new object is what clears the cache.
    """

    def __init__(
        self,
        X: ArrayLike,
        *,
        kernel: str = "rbf",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 0.0,
        ridge: float = 0.0,
        cache_bytes: int = 200_000_000,
        whole_gram: bool = False,
    ) -> None:
        X = _owned(X.toarray() if sp.issparse(X) else X)
        if kernel not in KINDS:
            raise ValueError(f"kernel is {kernel!r}, expected one of {tuple(KINDS)}: choose one.")
        if X.ndim != 2 or not np.isfinite(X).all():
            raise ValueError(f"X has shape {X.shape}, expected a finite table: correct it.")
        if kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(f"X has shape {X.shape}, expected a square Gram matrix: pass one.")
        if not (ridge >= 0 and cache_bytes >= 64 * X.shape[0]):
            raise ValueError(
                f"ridge is {ridge} and cache_bytes {cache_bytes}, expected at least 0 and "
                f"{64 * X.shape[0]} (a few rows): raise them."
            )
        self.n, self.ridge = X.shape[0], float(ridge)
        self._whole_gram = whole_gram and 8 * self.n**2 <= cache_bytes
        self._gram = X if kernel == "precomputed" else None
        self._kernel = _describe(X, KINDS[kernel], gamma, degree, coef0)
        self._diagonal = _diagonal(self._kernel, self._gram) + self.ridge
        self._pools: tuple[Pool, Pool] | None = None
        self._cache_bytes = cache_bytes

    def solve_svc(
        self,
        y: ArrayLike,
        costs: ArrayLike,
        *,
        start: ArrayLike | None = None,
        start_costs: ArrayLike | None = None,
        **settings: float,
    ) -> SmoResult:
        """Weighted C-SVM with a free bias.

        Maximise sum alpha - 1/2 alpha'Q alpha subject to 0 <= alpha_i <= costs_i, y'alpha = 0.

        Parameters
        ----------
        y : (n,) array of -1 and +1
        costs : (n,) array, not negative
        start : (n,) array, optional
            Hot start: any alpha; it is made feasible first.
        start_costs : (n,) array, optional
            The costs at which ``start`` was a solution: an alpha_i that stood at its cost then is
            put at its cost now, which is a closer guess than clipping when costs grow.
        **settings
            ``tol`` (1e-3), ``shrinking`` (True), ``max_iterations`` (none), ``time_limit`` in
            seconds (none).

        Returns
        -------
        SmoResult
        """
        y, costs = self._vector(y, "y"), self._costs(costs)
        if not np.isin(y, (-1.0, 1.0)).all():
            raise ValueError("y holds other values than -1 and +1: recode the labels.")
        low, high = np.where(y > 0, 0.0, -costs), np.where(y > 0, costs, 0.0)
        signed = None if start is None else y * self._follow(start, start_costs, costs)
        result = self._solve(y, low, high, 0.0, signed, **settings)
        # + 0.0 turns -0.0 into 0.0.
        return SmoResult(**{**result.__dict__, "alpha": y * result.alpha + 0.0})

    def solve_svr(
        self,
        z: ArrayLike,
        costs: ArrayLike,
        epsilon: float,
        *,
        start: ArrayLike | None = None,
        start_costs: ArrayLike | None = None,
        **settings: float,
    ) -> SmoResult:
        """Weighted epsilon-SVR with targets z; ``alpha`` is signed, |alpha_i| <= costs_i.

        Parameters
        ----------
        z : (n,) array
        costs : (n,) array, not negative
        epsilon : float, not negative
        start, start_costs, **settings
            As in `solve_svc`.

        Returns
        -------
        SmoResult
        """
        z, costs = self._vector(z, "z"), self._costs(costs)
        if not epsilon >= 0:
            raise ValueError(f"epsilon is {epsilon}, expected a number >= 0: raise it.")
        signed = None if start is None else self._follow(start, start_costs, costs)
        return self._solve(z, -costs, costs, float(epsilon), signed, **settings)

    def _vector(self, v: ArrayLike, name: str) -> NDArray[np.float64]:
        v = np.array(v, dtype=float)
        if v.shape != (self.n,) or not np.isfinite(v).all():
            raise ValueError(f"{name} has shape {v.shape}, expected {self.n} numbers: fix it.")
        return v

    def _costs(self, costs: ArrayLike) -> NDArray[np.float64]:
        costs = self._vector(costs, "costs")
        if costs.min() < 0:
            raise ValueError(f"costs has the entry {costs.min()}, expected none below 0: raise it.")
        return costs

    def _follow(
        self, start: ArrayLike, start_costs: ArrayLike | None, costs: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        start = self._vector(start, "start")
        if start_costs is not None:
            old = self._costs(start_costs)
            at_cost = (np.abs(start) >= old * (1 - 1e-12)) & (old > 0)
            start = np.where(at_cost, np.sign(start) * costs, start)
        return start

    def _solve(
        self,
        z: NDArray[np.float64],
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        epsilon: float,
        start: NDArray[np.float64] | None,
        tol: float = 1e-3,
        shrinking: bool = True,
        max_iterations: float = math.inf,
        time_limit: float = math.inf,
    ) -> SmoResult:
        wall, cpu = time.perf_counter(), time.process_time()
        self._prepare()
        b = np.zeros(self.n) if start is None else feasible_start(start, low, high)
        state = _new_state(b, z, low, high, self._diagonal, self._kernel.columns.shape[0])
        fixed = (self._kernel, *self._pools, state)
        _begin(*fixed, self.ridge, epsilon)
        status = RUNNING
        while (
            status == RUNNING
            and state.count[ITERATIONS] < max_iterations
            and time.perf_counter() - wall < time_limit
        ):
            chunk = int(min(CHUNK, max_iterations - state.count[ITERATIONS]))
            status = _run(*fixed, self.ridge, epsilon, float(tol), bool(shrinking), chunk)
        if status != DONE:
            _make_whole(*fixed, epsilon)
        _unpack(state)
        violation = float(state.level[HIGHEST] - state.level[LOWEST])
        solved = violation <= tol
        return SmoResult(
            alpha=state.b,
            b=_bias(state),
            objective=float(0.5 * state.b @ (state.u - z) + epsilon * np.abs(state.b).sum()),
            violation=max(violation, 0.0),
            iterations=int(state.count[ITERATIONS]),
            cpu_s=time.process_time() - cpu,
            wall_s=time.perf_counter() - wall,
            status="solved" if solved else "inaccurate",
            message="" if solved else f"stopped at a violation of {violation:.3g}, tol {tol:g}",
        )

    def _prepare(self) -> None:
        """Make the pools, and the Gram matrix if it is wanted, on the first solve."""
        if self._pools is None:
            n, numbers = self.n, self._cache_bytes // 16
            gram = self._gram
            if gram is None and self._whole_gram:
                gram = _gram(self._kernel)
            whole = _new_pool(n, numbers) if gram is None else _full_pool(gram)
            self._pools = (whole, _new_pool(n, numbers))


def _owned(a: ArrayLike) -> NDArray[np.float64]:
    """Contiguous, writable doubles: numba compiles anew for any other kind of array."""
    a = np.ascontiguousarray(a, dtype=float)
    return a if a.flags.writeable else a.copy()


def _describe(
    X: NDArray[np.float64], kind: int, gamma: float | None, degree: int, coef0: float
) -> Kernel:
    n, d = X.shape
    empty = np.zeros((n, 0))
    given = kind == GRAM
    return Kernel(
        kind=kind,
        X=empty if given else X,
        columns=np.zeros((0, n)) if given else np.ascontiguousarray(X.T),
        square=np.zeros(n) if given else np.einsum("ij,ij->i", X, X),
        gamma=float(1.0 / max(d, 1) if gamma is None else gamma),
        coef0=float(coef0),
        degree=int(degree),
    )


def _diagonal(kernel: Kernel, gram: NDArray[np.float64] | None) -> NDArray[np.float64]:
    if gram is not None:
        return np.diag(gram).copy()
    if kernel.kind == RBF:
        return np.ones(len(kernel.square))
    if kernel.kind == POLY:
        return (kernel.gamma * kernel.square + kernel.coef0) ** kernel.degree
    return kernel.square.copy()


def _gram(kernel: Kernel) -> NDArray[np.float64]:
    """Return the whole kernel matrix by one matrix product."""
    K = kernel.X @ kernel.columns
    if kernel.kind == POLY:
        return (kernel.gamma * K + kernel.coef0) ** kernel.degree
    if kernel.kind == RBF:
        K *= -2.0
        K += kernel.square[:, None]
        K += kernel.square[None, :]
        np.maximum(K, 0.0, out=K)
        K *= -kernel.gamma
        np.exp(K, out=K)
    return K


def _full_pool(gram: NDArray[np.float64]) -> Pool:
    """Return a Gram matrix in the form of a pool that has all rows."""
    n = len(gram)
    pool = _new_pool(n, 0)._replace(buffer=gram.reshape(-1), slot=np.arange(n), row=np.arange(n))
    pool.size[:] = (n, n, n, 1)
    return pool


def _new_pool(n: int, numbers: int) -> Pool:
    pool = Pool(
        # Two rows at least, all at most; the system commits memory only when it is touched.
        buffer=np.empty(min(max(numbers, 2 * n), n * n) if n > 1 else 2),
        slot=np.full(n, -1),
        row=np.zeros(n, np.int64),
        after=np.zeros(n + 1, np.int64),
        before=np.zeros(n + 1, np.int64),
        size=np.zeros(4, np.int64),
    )
    _empty_pool(pool, n)
    return pool


def _new_state(
    b: NDArray[np.float64],
    z: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    diagonal: NDArray[np.float64],
    d: int,
) -> State:
    n = len(b)
    return State(
        b=b,
        u=np.empty(n),
        z=z,
        low=low,
        high=high,
        diagonal=diagonal,
        snapshot=np.empty((EPOCHS, n)),
        bound=np.zeros(EPOCHS + 1, np.int64),
        order=np.empty(n, np.int64),
        u_=np.empty(n),
        up_=np.empty(n),
        down_=np.empty(n),
        diagonal_=np.empty(n),
        columns_=np.empty((d, n)),
        square_=np.empty(n),
        count=np.zeros(7, np.int64),
        level=np.zeros(2),
    )


def _bias(state: State) -> float:
    """Mean over the coordinates that pin the bias, else the middle of what is allowed."""
    pins = np.isfinite(state.up_) & (state.up_ == state.down_)
    if pins.any():
        return float(-np.mean(state.u_[pins] + state.up_[pins]))
    ends = [v for v in (state.level[LOWEST], state.level[HIGHEST]) if np.isfinite(v)]
    return -float(np.mean(ends)) if ends else 0.0


def warm_up() -> None:
    """Compile (or load from numba's cache) everything, so that no timing includes it."""
    y = np.array([1.0, -1.0, 1.0, -1.0])
    SMO(np.array([[0.0], [1.0], [2.0], [3.0]])).solve_svc(y, np.ones(4))


def version() -> str:
    """Version of this project: the solver is its own."""
    return f"solution_paths {metadata.version('solution_paths')}"


def supports(objective: Hinge) -> str:
    """Empty when the objective can be solved, else the reason why it can't."""
    if isinstance(objective, Hinge) and not objective.free_bias:
        return "SMO moves pairs, so the bias must be free"
    return not_a_hinge(objective, diagonal=True)


def solve(objective: Hinge, options: dict | None = None, start: Answer | None = None) -> Answer:
    """Solve a problem with a free bias.

    Parameters
    ----------
    objective : Hinge
        With a free bias; any kernel.
    options : dict
        ``tolerance`` (1e-3), ``shrinking``, ``max_iterations``, ``time_limit``, ``start_costs`` as
        in `SMO.solve_svc`; ``cache_bytes``, ``whole_gram`` as in `SMO`; ``clear_cache``
        (True: begin with an empty kernel cache even if ``start`` brings one).
    start : Answer, optional
        Hot start from its ``alpha``, and with its kernel cache when the data are the same.

    Returns
    -------
    Answer
        Times are those of the solve, kernel values included.
    """
    reason = supports(objective)
    if reason:
        return Answer(status="not applicable", message=reason)
    options = dict(options or {})
    options["tol"] = options.pop("tolerance", 1e-3)
    build = {k: options.pop(k) for k in ("cache_bytes", "whole_gram") if k in options}
    kept = None if options.pop("clear_cache", False) else start
    key = (NAME, objective.kernel, objective.diagonal, *build.items())
    state, setup_cpu_s = reuse_or_build(objective, kept, key, lambda: _build(objective, build))
    costs = objective.costs()
    seed = None if start is None or start.alpha is None else start.alpha / objective.lam
    if options.get("start_costs") is not None:
        options["start_costs"] = np.asarray(options["start_costs"]) / objective.lam
    found = state.value.solve_svc(objective.y, costs / objective.lam, start=seed, **options)
    return Answer(
        # Scaling may round an alpha beyond its cost by one unit in the last place.
        alpha=np.minimum(objective.lam * found.alpha, costs),
        b=found.b,
        cpu_s=found.cpu_s,
        wall_s=found.wall_s,
        setup_cpu_s=setup_cpu_s,
        iterations=found.iterations,
        status=found.status,
        message=found.message,
        state=state,
    )


def _build(objective: Hinge, build: dict[str, float]) -> SMO:
    kernel = objective.kernel
    return SMO(
        objective.X,
        kernel=kernel.name,
        gamma=kernel.gamma,
        degree=kernel.degree,
        coef0=kernel.coef0,
        ridge=objective.diagonal,
        **build,
    )
