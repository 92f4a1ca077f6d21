"""Sweeps: what a model says at many nodes of a walk, carried from node to node.

Between two nodes few coordinates change state, and the duals of all others follow their levels,
which are affine in t. So sum_i a_i row_i is S0 + t S1 plus what the pinned add, where S0 and S1
change by a row at each event. They are kept in two parts, twice the working precision, so that
they don't drift; nothing is expanded to n duals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from .compilation import cached_njit
from .objectives.machine import Machine
from .walks.trace import Trace, add_product

Floats = NDArray[np.float64]
Nodes = NDArray[np.int64]
BLOCK_ENTRIES = 150_000  # of the values at the nodes of one block, which stay in the cache
BLOCK_NODES = (32, 4096)
KERNEL_ENTRIES = 16_000_000  # of the kernel values that are held at a time: 128 MB


def _add_row(rows: Any, i: Any, factor: Any, rest: Any, total: Any, lost: Any) -> None:
    """Add (factor + rest) row_i to all but the last entry of total + lost."""


@overload(_add_row)  # numba compares hints: all must be the same
def _add_row_compiled(
    rows: Any, i: Any, factor: Any, rest: Any, total: Any, lost: Any
) -> Callable[..., None]:
    if isinstance(rows, types.Array):

        def dense(rows: Any, i: Any, factor: Any, rest: Any, total: Any, lost: Any) -> None:
            for k in range(len(total) - 1):
                x = rows[i, k]
                total[k], lost[k] = add_product(total[k], lost[k], factor, x)
                lost[k] += rest * x

        return dense

    def sparse(rows: Any, i: Any, factor: Any, rest: Any, total: Any, lost: Any) -> None:
        indptr, indices, values = rows
        for s in range(indptr[i], indptr[i + 1]):
            k, x = indices[s], values[s]
            total[k], lost[k] = add_product(total[k], lost[k], factor, x)
            lost[k] += rest * x

    return sparse


@cached_njit
def _add(
    rows: Any,
    n: int,
    units: Floats,
    i: int,
    factor: float,
    rest: float,
    total: Floats,
    lost: Floats,
) -> None:
    """Add a coordinate's row, and to the last entry what it adds to the bias.

    Sample i adds ``units[i]`` times its dual; coordinate n is minus a free bias.
    """
    if factor == 0.0 and rest == 0.0:
        return
    last = len(total) - 1
    share = units[i] if i < n else -1.0
    total[last], lost[last] = add_product(total[last], lost[last], factor, share)
    lost[last] += rest * share
    if i < n:
        _add_row(rows, i, factor, rest, total, lost)


@cached_njit
def _begin(
    level0: Floats,
    level1: Floats,
    rows: Any,
    n: int,
    units: Floats,
    state: Nodes,
    S0: Floats,
    lost0: Floats,
    S1: Floats,
    lost1: Floats,
) -> None:
    """Sum up from nothing what the coordinates on pieces add."""
    S0[:], lost0[:], S1[:], lost1[:] = 0.0, 0.0, 0.0, 0.0
    for i in range(len(state)):
        if state[i] % 2 == 0:
            _add(rows, n, units, i, level0[i, state[i] // 2], 0.0, S0, lost0)
            _add(rows, n, units, i, level1[i, state[i] // 2], 0.0, S1, lost1)


@cached_njit
def _carry(
    level0: Floats,
    level1: Floats,
    rows: Any,
    n: int,
    units: Floats,
    state: Nodes,
    S0: Floats,
    lost0: Floats,
    S1: Floats,
    lost1: Floats,
    begun: int,
    nodes: Nodes,
    t: Floats,
    t_low: Floats,
    event: Nodes,
    start: Nodes,
    coordinate: Nodes,
    new_state: Nodes,
    P: Nodes,
    a: Floats,
    low: Floats,
    with_pinned: bool,
    out: Floats,
) -> None:
    """Write sum_i a_i row_i at ascending nodes, from the states after ``begun`` events."""
    total, lost = np.empty(len(S0)), np.empty(len(S0))
    for j in range(len(nodes)):
        node = nodes[j]
        for e in range(begun, event[node]):
            i = coordinate[e]
            if state[i] % 2 == 0:
                _add(rows, n, units, i, -level0[i, state[i] // 2], 0.0, S0, lost0)
                _add(rows, n, units, i, -level1[i, state[i] // 2], 0.0, S1, lost1)
            state[i] = new_state[e]
            if state[i] % 2 == 0:
                _add(rows, n, units, i, level0[i, state[i] // 2], 0.0, S0, lost0)
                _add(rows, n, units, i, level1[i, state[i] // 2], 0.0, S1, lost1)
        begun = event[node]
        here, rest = t[node], t_low[node]
        for k in range(len(S0)):
            total[k], lost[k] = add_product(S0[k], lost0[k], here, S1[k])
            lost[k] += here * lost1[k] + rest * S1[k]
        for r in range(start[node], start[node + 1]):
            i = P[r]
            if state[i] % 2 == 0:  # pinned where a piece ends: its dual counts, not the level
                _add(rows, n, units, i, -level0[i, state[i] // 2], 0.0, total, lost)
                rate = level1[i, state[i] // 2]
                _add(rows, n, units, i, -here * rate, -rest * rate, total, lost)
            if with_pinned:
                _add(rows, n, units, i, a[r], low[r], total, lost)
        for k in range(len(S0)):
            out[j, k] = total[k] + lost[k]


class Carried:
    """Sums sum_i a_i row_i at a walk's nodes, asked for in ascending order.

    The last entry of each is the bias's: sum_i a_i units_i, minus the dual of coordinate n.

    Parameters
    ----------
    trace : Trace
    rows : (n, D) array or CSR matrix
        Of the samples; a free bias has none.
    units : (n,) array
    with_pinned : bool
        Whether the pinned coordinates' share is added, in twice the working precision.
    """

    def __init__(self, trace: Trace, rows: Any, units: Floats, with_pinned: bool):
        self.trace, self.units, self.with_pinned = trace, units, with_pinned
        self.n, self.size = rows.shape[0], rows.shape[1] + 1
        parts = [rows.indptr, rows.indices, rows.data] if sp.issparse(rows) else [rows]
        parts = [part.view() for part in parts]
        for part in parts:  # as a path's own data are: else all is compiled once more
            part.flags.writeable = False
        self.rows = tuple(parts) if sp.issparse(rows) else parts[0]
        self.sums = [np.zeros(self.size) for _ in range(4)]
        self.state, self.begun = None, 0

    def at(self, nodes: Nodes) -> Floats:
        """Return the (B, D + 1) sums at ascending nodes."""
        out, trace = np.empty((len(nodes), self.size)), self.trace
        far = np.diff(trace.event[nodes], prepend=self.begun) > len(trace.stairs)
        far[:1] |= self.state is None
        for part in np.split(np.arange(len(nodes)), np.flatnonzero(far)):
            if not len(part):
                continue
            if far[part[0]]:
                self._begin_at(int(trace.event[nodes[part[0]]]) // trace.every)
            self._carry(nodes[part], out[part[0] : part[-1] + 1])
        return out

    def _begin_at(self, kept: int) -> None:
        """Start anew where all states were kept: nearer than to go on from event to event."""
        self.state, self.begun = self.trace.checkpoint[kept].copy(), kept * self.trace.every
        stairs = self.trace.stairs
        head = (stairs.level0, stairs.level1, self.rows, self.n, self.units, self.state)
        _begin(*head, *self.sums)

    def _carry(self, nodes: Nodes, out: Floats) -> None:
        trace, stairs = self.trace, self.trace.stairs
        head = (stairs.level0, stairs.level1, self.rows, self.n, self.units, self.state)
        walk = (trace.t, trace.t_low, trace.event, trace.start, trace.coordinate, trace.state)
        pinned = (trace.P, trace.a, trace.low, self.with_pinned)
        _carry(*head, *self.sums, self.begun, nodes, *walk, *pinned, out)
        self.begun = int(trace.event[nodes[-1]])


def coefficients(
    objective: Machine, trace: Trace, blocks: Iterable[Nodes]
) -> Iterator[tuple[Floats, Floats]]:
    """Yield a linear model's w (d, B) and b (B,) at the nodes of ascending blocks."""
    carried = Carried(trace, objective.centred, objective.bias_units, True)
    for nodes in blocks:
        sums = carried.at(nodes)
        w = sums[:, :-1].T / objective.lam
        yield w, objective.unshifted(_bias(objective, sums), w)


def intercepts(objective: Machine, trace: Trace, blocks: Iterable[Nodes]) -> Iterator[Floats]:
    """Yield a machine's b (B,), beside its `centred_kernel`, at the nodes of ascending blocks."""
    carried = Carried(trace, np.empty((objective.n, 0)), objective.bias_units, True)
    for nodes in blocks:
        yield objective.unshifted(_bias(objective, carried.at(nodes)))


def decisions(
    objective: Machine, trace: Trace, blocks: Iterable[Nodes], X_new: Any
) -> Iterator[Floats]:
    """Yield f at the rows of X_new, (m, B), at the nodes of ascending blocks.

    For a kernel it takes 8 n bytes for each row of X_new, for the kernel values.
    """
    if objective.linear:
        for w, b in coefficients(objective, trace, blocks):
            yield np.asarray(X_new @ w) + b
        return
    kernel, given = objective.centred_kernel, objective.kernel.name == "precomputed"
    if given:
        values = np.ascontiguousarray(kernel(X_new, objective.X).T)
    else:
        values = kernel(objective.X, X_new)
    carried = Carried(trace, values, objective.bias_units, False)
    for nodes in blocks:
        sums = carried.at(nodes)
        _add_pinned(sums, trace, nodes, values, carried.units)
        b = objective.unshifted(_bias(objective, sums))
        yield (sums[:, :-1] / objective.lam + b[:, None]).T


def _bias(objective: Machine, sums: Floats) -> Floats:
    """Return b (B,) beside the rows and targets that were walked with."""
    if objective.free_bias:
        return sums[:, -1]
    return objective.bias_value**2 * sums[:, -1] / objective.lam


def _pinned(trace: Trace, nodes: Nodes) -> tuple[Nodes, Nodes, Floats]:
    """Return, for all pinned coordinates at some nodes: place of the node, coordinate, dual."""
    counts = trace.start[nodes + 1] - trace.start[nodes]
    place = np.repeat(np.arange(len(nodes)), counts)
    entry = np.arange(len(place)) + np.repeat(
        trace.start[nodes] - (np.cumsum(counts) - counts), counts
    )
    return place, trace.P[entry], trace.a[entry] + trace.low[entry]


def _add_pinned(sums: Floats, trace: Trace, nodes: Nodes, rows: Floats, units: Floats) -> None:
    """Add the pinned coordinates' share, by one product of matrices."""
    place, coordinate, dual = _pinned(trace, nodes)
    bias = coordinate == len(rows)
    np.subtract.at(sums[:, -1], place[bias], dual[bias])
    place, coordinate, dual = place[~bias], coordinate[~bias], dual[~bias]
    used, column = np.unique(coordinate, return_inverse=True)
    duals = np.zeros((len(nodes), len(used)))
    duals[place, column] = dual
    sums[:, :-1] += duals @ rows[used]
    sums[:, -1] += duals @ units[used]


def width_of(objective: Machine, m: int) -> int:
    """Return how many numbers a node takes while m rows are predicted."""
    return max(m, objective.X.shape[1] if objective.linear else 0)


def blocks_of(nodes: Nodes, width: int) -> list[Nodes]:
    """Cut nodes into blocks whose values, ``width`` for each node, stay in the cache."""
    size = int(np.clip(BLOCK_ENTRIES // max(width, 1), *BLOCK_NODES))
    return [nodes[k : k + size] for k in range(0, len(nodes), size)]


def overlapping(blocks: list[Nodes]) -> list[Nodes]:
    """Let each block begin with the last node of the one before."""
    last = [np.empty(0, dtype=np.int64), *(block[-1:] for block in blocks)]
    return [np.concatenate([node, block]) for node, block in zip(last, blocks, strict=False)]


def row_blocks(objective: Machine, m: int) -> Iterator[slice]:
    """Cut m rows to predict into blocks whose kernel values don't fill the memory."""
    size = m if objective.linear else max(KERNEL_ENTRIES // objective.n, 1)
    for first in range(0, m, size):
        yield slice(first, min(first + size, m))
