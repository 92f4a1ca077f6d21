"""Sequential minimal optimisation with instance weights and hot starts, for the SVC and the SVR.

Both duals are written in signed variables b_i (b_i = y_i alpha_i for the SVC, alpha_i - alpha_i*
for the SVR), so that one loop serves both:

    minimise  1/2 b'(K + ridge I) b - z'b + epsilon sum_i |b_i|
    subject to  low_i <= b_i <= high_i,  and with a bias sum_i b_i = 0

    SVC: z = y, epsilon = 0, the box is [0, C_i] for y_i = +1 and [-C_i, 0] for y_i = -1.
    SVR: z is the target and the box is [-C_i, C_i]; |b_i| has a kink at 0.

With u = (K + ridge I) b - z, raising b_i costs u_i + up_i for each unit, and lowering it saves
u_i + down_i; ``up`` and ``down`` hold +-epsilon, or +-infinity at the end of the box. The solution
is optimal to ``tol`` when max(u + down) - min(u + up) <= tol: the stopping rule of every SMO code.

One iteration: i is the minimiser of u + up, j the best partner by the second-order gain
(Fan, Chen and Lin, JMLR 6, 2005), b_i rises and b_j falls up to a kink or the end of the box. One
vectorised sweep then updates u and finds the next i. Without a bias it is as if one more sample,
`NOBODY`, had a kernel row of zeros and no box, and took up the imbalance: its u is 0, where minima
and maxima then begin, and a pair with it is a step of one coordinate.

Coordinates that can't take part are shrunk: the loop goes on with packed arrays and packed kernel
rows, and u of the others is brought up to date before it may stop. A hot start clips the given
solution into the new box and restores the balance (alpha seeding, DeCoste and Wagstaff, KDD 2000).
Kernel rows are float64, computed when first needed, and kept for later solves. All have room: up to
8 n^2 bytes, and as many again for packed ones.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from importlib import metadata
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import ArrayLike, NDArray

from solution_paths.compilation import cached_njit, inner_njit
from solution_paths.kernels.kernel import KERNELS, kernel_row, squared_norms

from ..objectives import Hinge
from .answer import Answer, not_a_hinge, reuse_or_build

NAME = "SMO (own)"
TIGHT_OPTIONS = {"tolerance": 1e-8}
STATED_GAP = 1e-7
BLOCK = np.uint64(128)  # length of the stretches whose extremes vector instructions find
SMALLEST_CURVATURE = 1e-12  # of a pair whose kernel rows coincide
WORTHWHILE = 0.8  # packing costs some sweeps: do it when the active set falls below this part
INTERVAL = 1000  # iterations, but at most n, between two looks at what can be shrunk
CHUNK = 20_000  # iterations between two looks at the clock
RUNNING, SHRINKABLE, DONE, STUCK = range(4)
NOBODY = -1
Values, Indices = NDArray[np.float64], NDArray[np.int64]
# LLVM may assume that there is no nan, so that minima become vector instructions; infinities occur.
QUICK = {"nnan", "nsz", "contract"}
# no reference counts: such functions make no arrays
entry, inner = cached_njit(_nrt=False), inner_njit(_nrt=False)


class Part(NamedTuple):
    """The m coordinates that the loop works on, packed, with kernel rows of that width."""

    members: Indices  # (m,): the samples
    columns: Values  # (d, m): their features
    squares: Values  # (m,): their squared norms
    table: Values  # (m, m): the rows that were needed, the system commits memory for no others
    slot: Indices  # (m,): where a row is, or -1
    used: Indices  # (1,): how many rows there are
    b: Values  # (m,), as the others
    u: Values
    low: Values
    high: Values
    diagonal: Values
    up: Values
    down: Values
    zero: Values


# ---------------------------------------------------------------------------------- kernel rows


@inner
def _row(shape, whole, part, k):
    """Slot of row k of a part; a missing one is cut from the whole row or computed."""
    if part.slot[k] < 0:
        g, s = part.members[k], part.used[0]
        row = part.table[s]
        if whole.slot[g] >= 0:
            for t in range(len(row)):
                row[t] = whole.table[whole.slot[g], part.members[t]]
        else:
            x, square = whole.columns[:, g], whole.squares[g]
            kernel_row(x, square, part.columns, part.squares, row, *shape)
        part.slot[k] = s
        part.used[0] += 1
    return part.slot[k]


@entry
def _add_rows(shape, whole, samples, factors):
    """Add factors[k] times the row of samples[k] to u, for all k."""
    for k in range(len(samples)):
        row = whole.table[_row(shape, whole, whole, samples[k])]
        for t in range(len(row)):
            whole.u[t] += factors[k] * row[t]


@cached_njit
def _diagonal(shape, columns, squares):
    """Kernel values of each sample with itself."""
    out = np.empty_like(squares)
    for g in range(len(out)):
        one = slice(g, g + 1)
        kernel_row(columns[:, g], squares[g], columns[:, one], squares[one], out[one], *shape)
    return out


# ------------------------------------------------------------------------------------ the sweeps


def _vector_extreme(name):
    """LLVM's own minimum or maximum: Python's is compiled to branches, which stay scalar loops."""

    @intrinsic
    def extreme(context, a, b):
        def generate(context, builder, signature, arguments):
            kind = ir.FunctionType(ir.DoubleType(), [ir.DoubleType()] * 2)
            operation = builder.module.declare_intrinsic(name, [ir.DoubleType()], kind)
            return builder.call(operation, arguments, fastmath=("nnan", "nsz"))

        return types.float64(types.float64, types.float64), generate

    return extreme


_smaller = _vector_extreme("llvm.minnum")
_larger = _vector_extreme("llvm.maxnum")


@inner_njit(_nrt=False, fastmath=QUICK)
def _update_block(u, up, down, step, rising, falling, a, z):
    """Add step (rising - falling) to u[a:z]; (min of u + up, max of u + down) there."""
    lowest, highest = np.inf, -np.inf
    for t in range(a, z):
        value = u[t] + step * (rising[t] - falling[t])
        u[t] = value
        lowest = _smaller(lowest, value + up[t])
        highest = _larger(highest, value + down[t])
    return lowest, highest


@inner_njit(_nrt=False, fastmath=QUICK)
def _gain_block(u, down, diagonal, rising, lowest, diagonal_i, a, z):
    """Best second-order gain of lowering one of u[a:z] while i rises."""
    best = 0.0
    for t in range(a, z):
        slope = _larger(u[t] + down[t] - lowest, 0.0)
        curvature = _larger(diagonal_i + diagonal[t] - 2.0 * rising[t], SMALLEST_CURVATURE)
        best = _larger(best, slope * slope / curvature)
    return best


@inner
def _update(part, step, rising, falling, bias):
    """Add step (rising - falling) to u; (place of the minimum of u + up, it, maximum of u + down).

    The place is looked up in the one block that has the minimum. Indices without a sign spare the
    loops Python's wrap-around of negative ones.
    """
    u, up, down = part.u, part.up, part.down
    size, block, place = np.uint64(len(u)), np.uint64(0), NOBODY
    lowest, highest = (np.inf, -np.inf) if bias else (0.0, 0.0)
    least = lowest
    for a in range(np.uint64(0), size, BLOCK):
        low, high = _update_block(u, up, down, step, rising, falling, a, min(a + BLOCK, size))
        highest = max(highest, high)
        if low < lowest:
            lowest, block = low, a
    for t in range(block, min(block + BLOCK, size) if lowest < least else block):
        if u[t] + up[t] < least:
            least, place = u[t] + up[t], np.int64(t)
    return place, lowest, highest


@inner
def _partner(part, rising, diagonal_i, lowest, alone):
    """Find the coordinate whose fall with i's rise gains most; NOBODY if i rises best ``alone``."""
    u, down, diagonal = part.u, part.down, part.diagonal
    size, block, place = np.uint64(len(u)), np.uint64(0), NOBODY
    best = lowest * lowest / max(diagonal_i, SMALLEST_CURVATURE) if alone else -1.0
    most = best
    for a in range(np.uint64(0), size, BLOCK):
        gain = _gain_block(u, down, diagonal, rising, lowest, diagonal_i, a, min(a + BLOCK, size))
        if gain > best:
            best, block = gain, a
    for t in range(block, min(block + BLOCK, size) if best > most else block):
        slope = max(u[t] + down[t] - lowest, 0.0)
        gain = slope * slope / max(diagonal_i + diagonal[t] - 2.0 * rising[t], SMALLEST_CURVATURE)
        if gain > most:
            most, place = gain, np.int64(t)
    return place


# -------------------------------------------------------------------------------------- the loop


@inner
def _edges(b, low, high, epsilon):
    """Return what it costs to raise b and what it saves to lower b, beyond u."""
    up = (epsilon if b < high else np.inf) if b >= 0.0 else -epsilon
    down = (-epsilon if b > low else -np.inf) if b <= 0.0 else epsilon
    return up, down


@inner
def _move(part, k, step, end, epsilon, ridge):
    """Move b_k by a step, or exactly to the end of its way; whether it moved at all."""
    b = part.b
    old = b[k]
    # Ends of the box and kinks are reached exactly, so that later comparisons with them hold.
    b[k] = end if step == end - old else old + step
    part.up[k], part.down[k] = _edges(b[k], part.low[k], part.high[k], epsilon)
    part.u[k] += ridge * step
    return b[k] != old


@inner
def _count_candidates(part, lowest, highest):
    """Count the coordinates that a violating pair can contain."""
    u, up, down, count = part.u, part.up, part.down, 0
    for t in range(len(u)):
        count += u[t] + up[t] <= highest or u[t] + down[t] >= lowest
    return count


@entry
def _run(shape, whole, part, ridge, epsilon, bias, tol, near, iterations):
    """At most so many iterations: (status, their number, lowest u + up, highest u + down).

    SHRINKABLE: there are coordinates to set aside, or the violation is at most ``near``. STUCK:
    rounding keeps the pair from moving. Taking arrays out of a tuple takes time: it is done once.
    """
    slot, table, b, u, low, high = part.slot, part.table, part.b, part.u, part.low, part.high
    up, down, diagonal, zero = part.up, part.down, part.diagonal, part.zero
    interval = min(len(whole.slot), INTERVAL)
    for k in range(len(b)):
        up[k], down[k] = _edges(b[k], low[k], high[k], epsilon)
    i, lowest, highest = _update(part, 0.0, zero, zero, bias)
    for done in range(iterations):
        if highest - lowest <= tol:
            return DONE, done, lowest, highest
        if done % interval == interval - 1 and (
            highest - lowest <= near
            or _count_candidates(part, lowest, highest) <= WORTHWHILE * len(b)
        ):
            return SHRINKABLE, done, lowest, highest
        rising, falling, diagonal_i, step, moved = zero, zero, 0.0, np.inf, False
        if i != NOBODY:
            rising = table[slot[i] if slot[i] >= 0 else _row(shape, whole, part, i)]
            diagonal_i = diagonal[i]
            top = high[i] if b[i] >= 0.0 else min(0.0, high[i])
            step = top - b[i]
        j = _partner(part, rising, diagonal_i, lowest, not bias and i != NOBODY)
        slope, curvature = -lowest, diagonal_i
        if j != NOBODY:
            falling = table[slot[j] if slot[j] >= 0 else _row(shape, whole, part, j)]
            bottom = low[j] if b[j] <= 0.0 else max(0.0, low[j])
            step = min(step, b[j] - bottom)
            slope, curvature = u[j] + down[j] - lowest, diagonal_i + diagonal[j] - 2.0 * rising[j]
        step = min(step, slope / max(curvature, SMALLEST_CURVATURE))
        if i != NOBODY:
            moved = _move(part, i, step, top, epsilon, ridge)
        if j != NOBODY:
            moved |= _move(part, j, -step, bottom, epsilon, ridge)
        if not moved:
            return STUCK, done, lowest, highest
        i, lowest, highest = _update(part, step, rising, falling, bias)
    return RUNNING, iterations, lowest, highest


# ------------------------------------------------------------------------------------- one solve


class _Solve:
    """One solve: the loop's calls, and shrinking between them.

    ``active`` is what the loop works on. ``whole`` is all coordinates as they were when they were
    active together last, and ``b`` has the duals of those set aside since.
    """

    def __init__(self, solver: SMO, z: Values, whole: Part, *settings: float) -> None:
        self.solver, self.z, self.whole, self.active = solver, z, whole, whole
        self.b, self.settings, self.tol = whole.b.copy(), (solver.ridge, *settings), settings[-1]
        self.iterations, self.near = 0, 10.0 * self.tol
        self._reconstruct(afresh=True)

    def run(self, max_iterations: float, deadline: float) -> None:
        """Iterate until nothing is left to do or to spend."""
        while self.iterations < max_iterations and time.perf_counter() < deadline:
            status = self._iterate(min(CHUNK, max_iterations - self.iterations))
            if status == STUCK:
                break
            if status == DONE:
                # Rounding errors of many updates: believe only a u that was computed afresh.
                afresh = self.iterations - self.refreshed > 100 * len(self.z)
                if self.active is self.whole and not afresh:
                    break
                self._reconstruct(afresh)
                if self.violation <= self.tol:
                    break
            if status != RUNNING:
                self._shrink()
        if self.active is not self.whole:
            self._reconstruct()

    def _iterate(self, limit: float) -> int:
        fixed = self.solver.shape, self.whole, self.active, *self.settings, self.near
        status, done, self.lowest, self.highest = _run(*fixed, int(limit))
        self.violation = self.highest - self.lowest
        self.iterations += done
        return status

    def _reconstruct(self, afresh: bool = False) -> None:
        """Make all coordinates active, with u brought up to date or computed afresh."""
        b, u = self.whole.b, self.whole.u
        self.b[self.active.members] = self.active.b
        if afresh:
            b[:], u[:], self.refreshed = 0.0, -self.z, self.iterations
        change = self.b - b
        b[:] = self.b
        u += self.solver.ridge * change
        moved = np.flatnonzero(change)
        _add_rows(self.solver.shape, self.whole, moved, change[moved])
        self.active = self.whole
        self._iterate(0)

    def _shrink(self) -> None:
        """Set aside the coordinates that no violating pair can contain."""
        if self.violation <= self.near:
            # Once, and near the end: what was set aside before may have been so by mistake.
            self.near = 0.0
            self._reconstruct()
        a = self.active
        kept = np.flatnonzero((a.u + a.up <= self.highest) | (a.u + a.down >= self.lowest))
        if 2 <= len(kept) <= WORTHWHILE * len(a.b):
            self.b[a.members] = a.b
            arrays = (v[kept] for v in (a.b, a.u, a.low, a.high, a.diagonal))
            self.active = self.solver.part(a.members[kept], *arrays)

    def bias(self) -> float:
        """Mean over the coordinates that pin it, else the middle of what is allowed."""
        a = self.whole
        pins = np.isfinite(a.up) & (a.up == a.down)
        if pins.any():
            return float(-np.mean(a.u[pins] + a.up[pins]))
        ends = [v for v in (self.lowest, self.highest) if np.isfinite(v)]
        return -float(np.mean(ends)) if ends else 0.0


def feasible_start(b: Values, low: Values, high: Values) -> Values:
    """Clip signed duals into the box, which holds 0, and restore sum b = 0 (alpha seeding).

    What is missing is shared out in proportion to the room that each has: first among those that
    stand inside the box, whose conditions the change disturbs least, then among all.
    """
    b = np.clip(b, low, high)
    inside = (b > low) & (b < high) & (b != 0.0)
    for group in (inside, np.ones_like(inside)):
        excess = math.fsum(b)
        # Towards zero is always possible; a kink at zero is not crossed.
        room = np.where(group, np.maximum(b, 0.0) if excess > 0 else np.minimum(b, 0.0), 0.0)
        total = abs(room.sum())
        if total > 0.0 and abs(excess) > 1e-15 * np.abs(b).sum():
            b = b - room * min(1.0, abs(excess) / total)
    return b


@dataclass(frozen=True, eq=False)
class SmoResult:
    """A solution and what it cost.

    Attributes
    ----------
    alpha : (n,) array
        SVC: 0 <= alpha_i <= C_i. SVR: alpha_i - alpha_i*, signed.
    b : float
        Bias: f(x) = sum_i (signed dual)_i K(x_i, x) + b; 0 without one.
    objective : float
        Of the dual as a minimisation, the ridge included.
    violation : float
        max(u + down) - min(u + up), without a bias max(u + down, 0) - min(u + up, 0): at most
        ``tol`` when solved.
    iterations, cpu_s, wall_s, message
        What it cost, and what is to be said of it.
    status : {"solved", "inaccurate"}
    """

    alpha: Values
    b: float
    objective: float
    violation: float
    iterations: int
    cpu_s: float
    wall_s: float
    status: str
    message: str


class SMO:
    """SMO solver for one set of samples; a new object is what clears its kernel cache.

    Parameters
    ----------
    X : (n, d) array or sparse matrix, or the (n, n) Gram matrix for ``kernel="precomputed"``
    kernel : {"linear", "rbf", "poly", "precomputed"}
        As in `kernels.Kernel`.
    gamma : float, optional
        1/d when omitted.
    degree, coef0, ridge : float
        ``ridge`` is added to the kernel matrix's diagonal (the weighted SVM paper adds 1e-6).
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
    ) -> None:
        X = np.ascontiguousarray(X.toarray() if sp.issparse(X) else X, dtype=float)
        if kernel not in KERNELS:
            raise ValueError(f"kernel is {kernel!r}, expected one of {KERNELS}: choose one.")
        if X.ndim != 2 or not np.isfinite(X).all():
            raise ValueError(f"X has shape {X.shape}, expected a finite table: correct it.")
        if kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(f"X has shape {X.shape}, expected a square Gram matrix: pass one.")
        if not ridge >= 0:
            raise ValueError(f"ridge is {ridge}, expected a number >= 0: raise it.")
        self.n, d = X.shape
        gamma = 1.0 / max(d, 1) if gamma is None else gamma
        self.shape = KERNELS.index(kernel), float(gamma), degree, float(coef0)
        self.ridge = float(ridge)
        given = kernel == "precomputed"
        self._columns = np.empty((0, self.n)) if given else np.ascontiguousarray(X.T)
        self._squares = np.zeros(self.n) if given else squared_norms(X)
        diagonal = np.diag(X) if given else _diagonal(self.shape, self._columns, self._squares)
        self._whole = self.part(np.arange(self.n), *np.zeros((4, self.n)), diagonal + self.ridge)
        if given:
            # Numba compiles anew for arrays that can't be written to.
            table = X if X.flags.writeable else X.copy()
            self._whole = self._whole._replace(table=table, slot=np.arange(self.n))

    def part(self, members: Indices, *arrays: Values) -> Part:
        """Return some coordinates, without kernel rows as yet."""
        m = len(members)
        features = np.ascontiguousarray(self._columns[:, members]), self._squares[members]
        places = np.full(m, -1), np.zeros(1, int)
        return Part(members, *features, np.empty((m, m)), *places, *arrays, *np.zeros((3, m)))

    def solve_svc(self, y: ArrayLike, costs: ArrayLike, **options: Any) -> SmoResult:
        """Weighted C-SVM.

        Maximise sum alpha - 1/2 alpha'Q alpha subject to 0 <= alpha_i <= costs_i and, with a bias,
        y'alpha = 0.

        Parameters
        ----------
        y : (n,) array of -1 and +1
        costs : (n,) array, not negative
        bias : bool
            True when omitted: a free bias. False: none.
        start : (n,) array, optional
            Hot start: any alpha; it is made feasible first.
        start_costs : (n,) array, optional
            The costs at which ``start`` was a solution: an alpha_i that stood at its cost then is
            put at its cost now, which is a closer guess than clipping when costs grow.
        tol, max_iterations, time_limit : float
            1e-3, none and none (in seconds) when omitted.

        Returns
        -------
        SmoResult
        """
        y, costs = self._vector(y, "y"), self._vector(costs, "costs", 0.0)
        if (np.abs(y) != 1.0).any():
            raise ValueError("y holds other values than -1 and +1: recode the labels.")
        low, high = np.where(y > 0, 0.0, -costs), np.where(y > 0, costs, 0.0)
        result = self._solve(y, low, high, 0.0, y, **options)
        return replace(result, alpha=y * result.alpha + 0.0)  # + 0.0 turns -0.0 into 0.0

    def solve_svr(
        self, z: ArrayLike, costs: ArrayLike, epsilon: float, **options: Any
    ) -> SmoResult:
        """Weighted epsilon-SVR with targets z; ``alpha`` is signed, |alpha_i| <= costs_i.

        ``epsilon`` is not negative; the options are those of `solve_svc`.
        """
        z, costs = self._vector(z, "z"), self._vector(costs, "costs", 0.0)
        if not epsilon >= 0:
            raise ValueError(f"epsilon is {epsilon}, expected a number >= 0: raise it.")
        return self._solve(z, -costs, costs, float(epsilon), 1.0, **options)

    def solve_box(self, z: ArrayLike, low: ArrayLike, high: ArrayLike, **options: Any) -> SmoResult:
        """Minimise 1/2 b'(K + ridge I) b - z'b subject to low <= b <= high, without a bias.

        The boxes hold 0; ``alpha`` of the result is b. The options are those of `solve_svc`.
        """
        low, high = self._vector(low, "low"), self._vector(high, "high", 0.0)
        if low.max() > 0:
            raise ValueError(f"low has the entry {low.max()}, expected at most 0: lower it.")
        return self._solve(self._vector(z, "z"), low, high, 0.0, 1.0, bias=False, **options)

    def _vector(self, v: ArrayLike, name: str, least: float = -math.inf) -> Values:
        v = np.array(v, dtype=float)
        if v.shape != (self.n,) or not np.isfinite(v).all():
            raise ValueError(f"{name} has shape {v.shape}, expected {self.n} numbers: fix it.")
        if v.min() < least:
            raise ValueError(
                f"{name} has the entry {v.min()}, expected at least {least}: raise it."
            )
        return v

    def _solve(
        self,
        z: Values,
        low: Values,
        high: Values,
        epsilon: float,
        sign: Values | float,
        bias: bool = True,
        start: ArrayLike | None = None,
        start_costs: ArrayLike | None = None,
        tol: float = 1e-3,
        max_iterations: float = math.inf,
        time_limit: float = math.inf,
    ) -> SmoResult:
        wall, cpu = time.perf_counter(), time.process_time()
        b = np.zeros(self.n) if start is None else self._vector(start, "start")
        if start_costs is not None:
            old = self._vector(start_costs, "start_costs", 0.0)
            at_cost = (np.abs(b) >= old * (1 - 1e-12)) & (old > 0)
            b = np.where(at_cost, np.sign(b) * np.maximum(high, -low), b)
        b = feasible_start(sign * b, low, high) if bias else np.clip(sign * b, low, high)
        whole = self._whole._replace(b=b, u=np.empty(self.n), low=low, high=high)
        iteration = _Solve(self, z, whole, epsilon, bool(bias), float(tol))
        iteration.run(max_iterations, wall + time_limit)
        violation, solved = iteration.violation, iteration.violation <= tol
        return SmoResult(
            alpha=whole.b,
            b=iteration.bias() if bias else 0.0,
            objective=float(0.5 * whole.b @ (whole.u - z) + epsilon * np.abs(whole.b).sum()),
            violation=max(violation, 0.0),
            iterations=iteration.iterations,
            cpu_s=time.process_time() - cpu,
            wall_s=time.perf_counter() - wall,
            status="solved" if solved else "inaccurate",
            message="" if solved else f"stopped at a violation of {violation:.3g}, tol {tol:g}",
        )


def warm_up() -> None:
    """Compile (or load from numba's cache) everything, so that no timing includes it."""
    y = np.array([1.0, -1.0, 1.0, -1.0])
    SMO(np.array([[0.0], [1.0], [2.0], [3.0]])).solve_svc(y, np.ones(4))


def version() -> str:
    """Version of this project: the solver is its own."""
    return f"solution_paths {metadata.version('solution_paths')}"


def supports(objective: Hinge) -> str:
    """Empty when the objective can be solved, else the reason why it can't."""
    if isinstance(objective, Hinge) and objective.bias_value:
        return "SMO takes a free bias or none"
    return not_a_hinge(objective, diagonal=True)


def solve(objective: Hinge, options: dict | None = None, start: Answer | None = None) -> Answer:
    """Solve a problem with a free bias or none.

    Parameters
    ----------
    objective : Hinge
        With a free bias or without a bias; any kernel.
    options : dict
        ``tolerance`` (1e-3), ``max_iterations``, ``time_limit``, ``start_costs`` as
        in `SMO.solve_svc`; ``clear_cache``
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
    kept = None if options.pop("clear_cache", False) else start
    key = (NAME, objective.kernel, objective.diagonal)
    state, setup_cpu_s = reuse_or_build(objective, kept, key, lambda: _build(objective))
    costs = objective.costs()
    seed = None if start is None or start.alpha is None else start.alpha / objective.lam
    if options.get("start_costs") is not None:
        options["start_costs"] = np.asarray(options["start_costs"]) / objective.lam
    options["bias"] = objective.free_bias
    result = state.value.solve_svc(objective.y, costs / objective.lam, start=seed, **options)
    return Answer(
        # Scaling may round an alpha beyond its cost by one unit in the last place.
        alpha=np.minimum(objective.lam * result.alpha, costs),
        b=result.b,
        cpu_s=result.cpu_s,
        wall_s=result.wall_s,
        setup_cpu_s=setup_cpu_s,
        iterations=result.iterations,
        status=result.status,
        message=result.message,
        state=state,
    )


def _build(objective: Hinge) -> SMO:
    kernel = objective.kernel
    return SMO(
        objective.X,
        kernel=kernel.name,
        gamma=kernel.gamma,
        degree=kernel.degree,
        coef0=kernel.coef0,
        ridge=objective.diagonal,
    )
