"""Nodes of a path, in the parameter's order, and what its model says at many of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .curves import changes
from .engine.trace import Trace, combine
from .objectives import Objective, Solution
from .objectives.machine import Machine
from .sweep import blocks_of, coefficients, decisions, intercepts, overlapping, row_blocks, width_of

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Leg:
    """A trace in u, with parameter = offset + factor * u, factor = 1 or -1."""

    trace: Trace
    offset: float
    factor: float

    @property
    def nodes(self) -> Floats:
        """Parameter values of the trace's nodes."""
        return self.offset + self.factor * self.trace.t

    @property
    def nodes_low(self) -> Floats:
        """What rounding leaves out of them: the walk's own t may be known more closely."""
        own, nodes = self.factor * self.trace.t, self.nodes
        back = nodes - self.offset
        return (self.offset - (nodes - back)) + (own - back)

    def cut(self, nodes: int) -> Leg:
        """Return the leg with its first nodes alone."""
        trace = self.trace
        end = trace.start[nodes]
        kept = trace._replace(
            t=trace.t[:nodes],
            event=trace.event[:nodes],
            start=trace.start[: nodes + 1],
            P=trace.P[:end],
            a=trace.a[:end],
            low=trace.low[:end],
        )
        return Leg(kept, self.offset, self.factor)


class Nodes:
    """Places where some coordinate changes state, several at one parameter value if need be.

    Attributes
    ----------
    _t, _low : (K,) arrays
        Parameter values, ascending, in two parts.
    _leg, _index : (K,) int arrays
        The leg of each node, and its place in that leg's trace.
    """

    def __init__(self, legs: list[Leg], objective: Objective):
        self.objective = objective
        self._legs = sorted(legs, key=lambda leg: (leg.nodes.min(), leg.nodes.max()))
        nodes, lows, legs_of, index = [], [], [], []
        for number, leg in enumerate(self._legs):
            order = np.arange(len(leg.trace.t))
            if leg.factor < 0:
                order = order[::-1]
            nodes.append(leg.nodes[order])
            lows.append(leg.nodes_low[order])
            legs_of.append(np.full(len(order), number))
            index.append(order)
        self._t = np.concatenate(nodes)
        self._low = np.concatenate(lows)
        self._leg = np.concatenate(legs_of)
        self._index = np.concatenate(index)
        # the biases found with the last coefficients: they are mostly asked for next
        self._known = np.empty(0, dtype=np.int64), np.empty(0)

    def _node(self, node: int) -> tuple[Floats, Floats]:
        """Return the duals of all coordinates at a node, in two parts."""
        return self._legs[self._leg[node]].trace.parts(int(self._index[node]))

    def _node_solution(self, node: int) -> Solution:
        """Return the solution at a node."""
        return self._finished(*self._node(node))

    def _finished(self, duals: Floats, low: Floats) -> Solution:
        """Return the solution of duals in two parts; a linear machine's with a w of its own.

        It meets the pinned equations to the rounding of w itself, not of sums of duals that may be
        many orders of magnitude larger.
        """
        objective = self.objective
        found = objective.solution(duals)
        if not (objective.linear and isinstance(objective, Machine)):
            return found
        a, rest = duals[: objective.n], low[: objective.n]
        w = combine(objective.X, a, rest, objective.lam)
        if objective.free_bias:
            return found._replace(w=w, b=-(duals[objective.n] + low[objective.n]))
        total = math.fsum(np.concatenate([a[a != 0.0], rest[rest != 0.0]]))
        return found._replace(w=w, b=np.asarray(objective.bias_value**2 * total / objective.lam))

    def _blocks(self, nodes: Places, m: int) -> Iterator[tuple[Trace, list[Places], list[Places]]]:
        """Yield for each leg: its trace, places in ``nodes`` in blocks, and nodes of the trace."""
        for number, leg in enumerate(self._legs):
            own = np.flatnonzero(self._leg[nodes] == number)
            own = own[np.argsort(self._index[nodes[own]], kind="stable")]
            places = blocks_of(own, width_of(self.objective, leg.trace, m))
            yield leg.trace, places, [self._index[nodes[place]] for place in places]

    def _coefs_at(self, nodes: Places) -> Floats:
        """Return a linear model's (d, B) coefficients at nodes."""
        w, b = self._models_at(nodes)
        self._known = nodes, b
        return w

    def _intercepts_at(self, nodes: Places) -> Floats:
        objective, (known, values) = self.objective, self._known
        if np.array_equal(nodes, known):
            return values
        if not isinstance(objective, Machine) or objective.linear:
            return self._models_at(nodes)[1]
        b = np.empty(len(nodes))
        for trace, places, blocks in self._blocks(nodes, 1):
            for place, own in zip(places, intercepts(objective, trace, blocks), strict=True):
                b[place] = own
        return b

    def _models_at(self, nodes: Places) -> tuple[Floats, Floats]:
        w, b = np.empty((self.objective.X.shape[1], len(nodes))), np.empty(len(nodes))
        for trace, places, blocks in self._blocks(nodes, 1):
            models = coefficients(self.objective, trace, blocks)
            for place, (own_w, own_b) in zip(places, models, strict=True):
                w[:, place], b[place] = own_w, own_b
        return w, b

    def _decisions_at(self, nodes: Places, X_new: Any) -> Floats:
        f = np.empty((X_new.shape[0], len(nodes)))
        for trace, places, blocks in self._blocks(nodes, len(f)):
            values = decisions(self.objective, trace, blocks, X_new)
            for place, own in zip(places, values, strict=True):
                f[:, place] = own
        return f

    def _coordinates_at(self, nodes: Places) -> Floats:
        found = [self._legs[self._leg[k]].trace.duals(int(self._index[k])) for k in nodes]
        return np.stack(found, axis=-1)

    def _duals_at(self, nodes: Places) -> Floats:
        return self.objective.public_dual(self.objective.solution(self._coordinates_at(nodes)))

    def _sweep(self, X_new: Any) -> Iterator[tuple[Places, Floats]]:
        """Yield ascending nodes and f there, (m, B); all neighbours meet in some block."""
        ends: dict[int, Floats] = {}
        for number, leg in enumerate(self._legs):
            own = np.flatnonzero(self._leg == number)
            walk = own if leg.factor > 0 else own[::-1]
            width = width_of(self.objective, leg.trace, X_new.shape[0])
            blocks = overlapping(blocks_of(walk, width))
            found = decisions(self.objective, leg.trace, [self._index[b] for b in blocks], X_new)
            for nodes, f in zip(blocks, found, strict=True):
                for k in (0, -1):
                    if nodes[k] in own[[0, -1]]:  # a copy, or the whole block stays in memory
                        ends[int(nodes[k])] = f[:, k].copy()
                upward = slice(None, None, int(leg.factor))
                yield nodes[upward], f[:, upward]
        joints = np.flatnonzero(np.diff(self._leg))
        for left in joints.tolist() if len(self._t) > 1 else [0]:
            pair = [left, min(left + 1, len(self._t) - 1)]
            yield np.array(pair), np.stack([ends[k] for k in pair], axis=1)

    def _changes(self, X_new: Any) -> tuple[Places, Floats, NDArray[np.bool_], NDArray[np.bool_]]:
        """Return (row, t, positive) of all changes of sign, and the signs at the first node."""
        rows, roots, after, start = [], [], [], np.zeros(X_new.shape[0], dtype=bool)
        for part in row_blocks(self.objective, X_new.shape[0]):
            for nodes, f in self._sweep(X_new[part]):
                t, positive = self._t[nodes], self.objective.positive(f)
                row, k = changes(positive)
                left, right = f[row, k], f[row, k + 1]
                rows.append(row + part.start)
                roots.append(t[k] + (t[k + 1] - t[k]) * (left / (left - right)))
                after.append(positive[row, k + 1])
                if nodes[0] == 0:
                    start[part] = positive[:, 0]
        return np.concatenate(rows), np.concatenate(roots), np.concatenate(after), start
