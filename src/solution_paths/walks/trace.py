"""Trace: what a walk leaves behind, and duals at any t from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..compilation import cached_njit
from ..homotopy.compiled import fma, inline
from ..homotopy.track import PLACES
from ..problem.twofold import Twofold
from .staircase import Staircases
from .tables import Layout, Tables

if TYPE_CHECKING:
    from ..homotopy.run import Homotopy
    from .walker import Walker

Floats = NDArray[np.float64]
States = NDArray[np.int8]
Two = tuple[float, float]


@inline
def add_exactly(total: float, lost: float, term: float) -> Two:
    """Return (total + lost) + term in two parts again, the second what rounding loses (Knuth)."""
    new = total + term
    back = new - total
    lost += (total - (new - back)) + (term - back)
    total = new + lost
    return total, lost - (total - new)


@inline
def add_product(total: float, lost: float, factor: float, x: float) -> Two:
    """Return (total + lost) + factor * x in two parts again."""
    term = factor * x
    total, lost = add_exactly(total, lost, term)
    return total, lost + fma(factor, x, -term)


@cached_njit
def _duals_at(
    nodes: Any,
    level0: Floats,
    level1: Floats,
    t: Floats,
    t_low: Floats,
    event: Any,
    start: Any,
    P: Any,
    a: Floats,
    low: Floats,
    coordinate: Any,
    state: States,
    kept: States,
    every: int,
) -> tuple[Floats, Floats]:
    """Return (B, N) duals at nodes in two parts, from copies of all states and events since."""
    N = len(level0)
    duals, rest = np.zeros((len(nodes), N)), np.zeros((len(nodes), N))
    now = np.empty(N, dtype=np.int8)
    for b in range(len(nodes)):
        node = nodes[b]
        copy = event[node] // every
        now[:] = kept[copy]
        for e in range(copy * every, event[node]):
            now[coordinate[e]] = state[e]
        for i in range(N):
            q = now[i] // 2
            if now[i] % 2 == 0:
                rate = level1[i, q]
                duals[b, i], rest[b, i] = add_product(level0[i, q], 0.0, t[node], rate)
                rest[b, i] += t_low[node] * rate
        for r in range(start[node], start[node + 1]):
            duals[b, P[r]], rest[b, P[r]] = a[r], low[r]
    return duals, rest


@cached_njit
def _combine_dense(X: Floats, duals: Floats, low: Floats, total: Floats, lost: Floats) -> None:
    for b in range(len(duals)):
        for i in range(X.shape[0]):
            a, rest = duals[b, i], low[b, i]
            if a != 0.0 or rest != 0.0:
                for k in range(X.shape[1]):
                    total[b, k], lost[b, k] = add_product(total[b, k], lost[b, k], a, X[i, k])
                    lost[b, k] += rest * X[i, k]


@cached_njit
def _combine_sparse(
    indptr: Any, indices: Any, x: Floats, duals: Floats, low: Floats, total: Floats, lost: Floats
) -> None:
    for b in range(len(duals)):
        for i in range(len(indptr) - 1):
            a, rest = duals[b, i], low[b, i]
            if a != 0.0 or rest != 0.0:
                for s in range(indptr[i], indptr[i + 1]):
                    k = indices[s]
                    total[b, k], lost[b, k] = add_product(total[b, k], lost[b, k], a, x[s])
                    lost[b, k] += rest * x[s]


@cached_njit
def _divide(total: Floats, lost: Floats, divisor: float) -> None:
    """Overwrite total with (total + lost) / divisor, rounded once."""
    for b in range(total.shape[0]):
        for k in range(total.shape[1]):
            part = total[b, k] / divisor
            total[b, k] = part + (fma(-part, divisor, total[b, k]) + lost[b, k]) / divisor


def combine(X: Any, duals: Floats, low: Floats, divisor: float) -> Floats:
    """Return (d, B) combinations X'(duals + low)' / divisor of (B, .) duals, rounded once.

    Duals can be many orders of magnitude larger than what their combination leaves.
    """
    total, lost = np.zeros((2, len(duals), X.shape[1]))
    if sp.issparse(X):
        X = sp.csr_array(X)
        _combine_sparse(X.indptr, X.indices, X.data, duals, low, total, lost)
    else:
        _combine_dense(X, duals, low, total, lost)
    _divide(total, lost, float(divisor))
    return np.ascontiguousarray(total.T)


@cached_njit
def between(high: Floats, low: Floats, near: Any, far: Any, part: Floats) -> tuple[Floats, Floats]:
    """Return, in two parts, numbers a ``part`` of the way from rows ``near`` to rows ``far``."""
    found, rest = np.empty((len(part), high.shape[1])), np.empty((len(part), high.shape[1]))
    for b in range(len(part)):
        one, other, share = near[b], far[b], part[b]
        for i in range(high.shape[1]):
            here, lost = high[one, i], low[one, i]
            if share != 0.0:
                here, lost = add_exactly(here, lost + share * (low[other, i] - lost), 0.0)
                here, lost = add_product(here, lost, share, high[other, i])
                here, lost = add_product(here, lost, -share, high[one, i])
            found[b, i], rest[b, i] = here, lost
    return found, rest


class Trace(NamedTuple):
    """A finished walk: t + t_low at K nodes and what is needed to know all duals there.

    ``event[k]`` events happened up to node k; its pinned coordinates and their duals are
    ``P[start[k]:start[k + 1]]`` and ``a[...] + low[...]``. Every ``every``
    events all states are kept.
    """

    stairs: Staircases
    t: NDArray[np.float64]
    t_low: NDArray[np.float64]
    event: NDArray[np.int64]
    start: NDArray[np.int64]
    P: NDArray[np.int32]
    a: NDArray[np.float64]
    low: NDArray[np.float64]
    coordinate: NDArray[np.int32]
    state: NDArray[np.int8]
    checkpoint: NDArray[np.int8]
    every: int
    ray: NDArray[np.float64]

    def states(self, node: int) -> NDArray[np.int8]:
        """Return the (N,) states at a node."""
        events = self.event[node]
        kept = events // self.every
        states, recent = self.checkpoint[kept].copy(), slice(kept * self.every, events)
        states[self.coordinate[recent]] = self.state[recent]  # of several the last one counts
        return states

    def duals(self, node: int) -> NDArray[np.float64]:
        """Return the (N,) duals at a node."""
        return self.parts(np.array([node]))[0][0]

    def parts(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the (B, N) duals at nodes in two parts, the second what rounding leaves out.

        With both a linear model's pinned values are at their kinks to the rounding of its w.
        """
        own = nodes, self.stairs.level0, self.stairs.level1, self.t, self.t_low
        own = *own, self.event, self.start
        events = self.coordinate, self.state, self.checkpoint, self.every
        return _duals_at(*own, self.P, self.a, self.low, *events)

    def cut(self, nodes: int) -> Trace:
        """Return the trace with its first nodes alone."""
        end = self.start[nodes]
        return self._replace(
            t=self.t[:nodes],
            t_low=self.t_low[:nodes],
            event=self.event[:nodes],
            start=self.start[: nodes + 1],
            P=self.P[:end],
            a=self.a[:end],
            low=self.low[:end],
        )

    def ends_where(self, other: Trace) -> bool:
        """Tell whether its last node, behind all events, is where another trace begins."""
        if not len(self.t) or not len(other.t) or self.event[-1] < len(self.coordinate):
            return False
        return bool(self.t[-1] == other.t[0] and self.t_low[-1] == other.t_low[0])

    def behind_the_first(self) -> Trace:
        """Return the trace without its first node."""
        first = self.start[1]
        return self._replace(
            t=self.t[1:],
            t_low=self.t_low[1:],
            event=self.event[1:],
            start=self.start[1:] - first,
            P=self.P[first:],
            a=self.a[first:],
            low=self.low[first:],
        )


def trace_of(walker: Walker, homotopy: Homotopy) -> Trace:
    """Return what a leg has recorded, a node for each change of states.

    Both ends of each straight piece are recorded; that of one before a single change is the start
    of the next, so it is left out.
    """
    w, now, layout = homotopy.walk, homotopy.walk.now, walker.layout
    if not now.nodes:
        return _nothing(walker.stairs, layout.states(homotopy.start))
    t = w.node[: now.nodes]
    events, entries = w.node_at[: 2 * now.nodes].reshape(-1, 2).T
    kept = np.ones(len(t), dtype=bool)
    kept[1:-1:2] = np.diff(events)[1::2] != 1  # else it is where the next piece begins
    behind = np.array(homotopy.after_jumps, dtype=np.int64)  # the first of two nodes in one place
    kept[behind[behind > 0] - 1] = True
    kept[behind + 1] = False
    further = behind[behind + 2 < len(t)]
    kept[further + 2] = events[further + 2] != events[further]
    nodes = np.flatnonzero(kept)
    ends = np.append(entries[1:], now.entries)
    where = np.full(len(w.place), -1, dtype=np.int64)
    where[layout.own] = np.arange(len(layout.own))
    coordinate = where[w.entry[: now.entries]]
    wanted = np.repeat(kept, ends - entries) & (coordinate >= 0)
    P, (a, low) = coordinate[wanted], w.entries[: now.entries][wanted].T
    feature = layout.n <= P
    x = _divided(Twofold(a[feature], low[feature]), layout.unit)
    a, low = a.copy(), low.copy()
    a[feature], low[feature] = -x.high, -x.low
    count = np.add.reduceat(np.append(wanted, False), entries[nodes]) * (ends > entries)[nodes]
    start = np.append(0, np.cumsum(count))
    log = w.event[: now.events]
    changed, state = where[log // PLACES], _state_of(layout, log)
    own = changed >= 0
    before = np.append(0, np.cumsum(own))[events[nodes]]
    every = max(64, len(layout.own) // 4)
    begin = layout.states(homotopy.start)
    found = Trace(
        stairs=walker.stairs,
        t=t[nodes, 0].copy(),
        t_low=t[nodes, 1].copy(),
        event=before,
        start=start,
        P=P.astype(np.int32),
        a=a,
        low=low,
        coordinate=changed[own].astype(np.int32),
        state=state[own],
        checkpoint=_checkpoints(begin, changed[own], state[own], every),
        every=every,
        ray=_ray(walker, homotopy, where),
    )
    return _with_free(found, layout, walker.tables)


def _nothing(stairs: Staircases, state: NDArray[np.int8]) -> Trace:
    """Return a trace without nodes."""
    none, whole = np.zeros(0), np.zeros(0, dtype=np.int64)
    short, states = whole.astype(np.int32), whole.astype(np.int8)
    nodes = none, none, whole, np.zeros(1, dtype=np.int64), short, none, none
    return Trace(stairs, *nodes, short, states, state[None], 64, np.zeros(len(state)))


def _divided(x: Twofold, unit: float) -> Twofold:
    if unit == 1.0:
        return x
    q = x.high / unit
    rest = x.plus(Twofold.of(q).by(-unit))
    return Twofold(q, (rest.high + rest.low) / unit)


def _state_of(layout: Layout, log: NDArray[np.int64]) -> States:
    """Return the states of the events of a log."""
    coordinate, place = log // PLACES, log % PLACES
    feature = coordinate >= layout.n + layout.columns
    free = np.zeros(len(log), dtype=bool)
    free[feature] = layout.free[coordinate[feature] - layout.columns]
    return np.where(free, 1, place - feature).astype(np.int8)


def _checkpoints(begin: States, coordinate: Any, state: States, every: int) -> States:
    """Return copies of all states after each multiple of ``every`` events."""
    kept = np.empty((len(coordinate) // every + 1, len(begin)), dtype=np.int8)
    now = begin.copy()
    for k in range(len(kept)):
        if k:
            recent = slice((k - 1) * every, k * every)
            now[coordinate[recent]] = state[recent]  # of several the last one counts
        kept[k] = now
    return kept


def _ray(walker: Walker, homotopy: Homotopy, where: NDArray[np.int64]) -> Floats:
    """Return the rates of all duals on the last piece."""
    w, layout, stairs = homotopy.walk, walker.layout, walker.stairs
    state = layout.states(w.place).astype(np.int64)
    rates = stairs.level1[np.arange(len(state)), state // 2]
    ray = np.where((state % 2 == 0) & np.isfinite(rates), rates, 0.0)
    unknown = w.unknown[: w.now.unknowns]
    own = where[unknown]
    du = np.where(own >= layout.n, -w.du[0, unknown] / layout.unit, w.du[0, unknown])
    ray[own[own >= 0]] = du[own >= 0]
    return ray


def _with_free(trace: Trace, layout: Layout, tables: Tables) -> Trace:
    """Return a trace whose free variables are pinned at all nodes, at knots of theirs, too."""
    free = np.flatnonzero(layout.free)
    nodes = len(trace.t)
    if all((i == trace.P).sum() == nodes for i in free):
        return trace
    count, P, a, low = np.diff(trace.start), [], [], []
    for k in range(nodes):
        of = slice(trace.start[k], trace.start[k + 1])
        missing = np.setdiff1d(free, trace.P[of])
        at = tables.equation[missing + layout.columns, 3, 0] / layout.unit
        P += [trace.P[of], missing.astype(np.int32)]
        a += [trace.a[of], -at]
        low += [trace.low[of], np.zeros(len(missing))]
        count[k] += len(missing)
    start = np.append(0, np.cumsum(count))
    P, a, low = np.concatenate(P), np.concatenate(a), np.concatenate(low)
    return trace._replace(start=start, P=P, a=a, low=low)


def joined(traces: list[Trace], stairs: Staircases) -> Trace:
    """Return one trace of several, each of which begins where the one before ended, or jumped to.

    Between two of them stand the events of all states that differ.
    """
    begin = traces[0].checkpoint[0]
    event, start = 0, 0
    coordinates: list[NDArray[Any]] = []
    states: list[States] = []
    counts: list[NDArray[Any]] = []
    starts, now = [np.zeros(1, dtype=np.int64)], begin.copy()
    joints: list[Trace] = []
    for trace in traces:
        other = np.flatnonzero(trace.checkpoint[0] != now)
        if joints and not len(other) and joints[-1].ends_where(trace):
            trace = trace.behind_the_first()
        joints.append(trace)
        coordinates += [other, trace.coordinate]
        states += [trace.checkpoint[0][other], trace.state]
        event += len(other)
        counts.append(trace.event + event)
        event += len(trace.coordinate)
        starts.append(trace.start[1:] + start)
        start += int(trace.start[-1])
        now = trace.checkpoint[0].copy()
        now[trace.coordinate] = trace.state  # of several the last one counts
    coordinate, state = np.concatenate(coordinates), np.concatenate(states)
    return traces[-1]._replace(
        stairs=stairs,
        t=np.concatenate([trace.t for trace in joints]),
        t_low=np.concatenate([trace.t_low for trace in joints]),
        event=np.concatenate(counts),
        start=np.concatenate(starts),
        P=np.concatenate([trace.P for trace in joints]),
        a=np.concatenate([trace.a for trace in joints]),
        low=np.concatenate([trace.low for trace in joints]),
        coordinate=coordinate.astype(np.int32),
        state=state.astype(np.int8),
        checkpoint=_checkpoints(begin, coordinate, state, traces[0].every),
    )
