"""Nodes of a path, in the parameter's order, and what its model says at many of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .curves import changes
from .objectives import Solution
from .objectives.machine import Machine
from .sweep import blocks_of, coefficients, decisions, intercepts, overlapping, row_blocks, width_of
from .walks.trace import Trace, combine

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Whereabouts = tuple[Places, Places, Floats, Floats]  # see `Path._pieces`
COLUMNS = 64  # parameters whose duals are found together
NEAR = 2.0**-40  # of the largest dual: what the double next to a node may be off by
ROUNDING = 2.0**-50  # of a coordinate, in units of its range: what a number at a level is off by


@dataclass(frozen=True)
class Leg:
    """A trace in u, with parameter = offset + factor * u, factor a power of two or minus that."""

    trace: Trace
    offset: float
    factor: float

    @property
    def nodes(self) -> Floats:
        """Parameter values of the trace's nodes."""
        return self._two()[0]

    @property
    def way(self) -> int:
        """1 where the parameter grows with u, -1 where it falls."""
        return 1 if self.factor > 0 else -1

    def ascending(self) -> tuple[Floats, Floats, Places]:
        """Return the nodes in ascending order, in two parts, and their places in the trace.

        The second part is what rounding leaves out: the walk's own t may be known more closely.
        """
        nodes, low = self._two()
        way = slice(None, None, self.way)
        return nodes[way], low[way], np.arange(len(nodes))[way]

    def _two(self) -> tuple[Floats, Floats]:
        """Return the nodes in the trace's order, in two parts, the first rounded to nearest."""
        own = self.factor * self.trace.t
        near = self.offset + own
        back = near - self.offset
        low = (self.offset - (near - back)) + (own - back) + self.factor * self.trace.t_low
        nodes = near + low
        return nodes, low - (nodes - near)

    def resting(self, first: int, last: int) -> Places:
        """Return the segments on which coordinates (N,) are at all nodes from first to last, or -1.

        A coordinate is on a segment beside its state if it can't be told from the level there: its
        rounding is relative to its range or, where levels are infinite, to its own size nearby.
        """
        trace, own = self.trace, np.arange(len(self.trace.stairs))
        before, behind = max(first - 1, 0), min(last + 1, len(trace.t) - 1)
        near = np.add(*trace.parts(np.arange(before, behind + 1)))
        values = near[first - before : last - before + 1]
        levels = np.array([trace.stairs.levels(float(trace.t[k])) for k in range(first, last + 1)])
        n_kinks, found = trace.stairs.n_kinks, np.full(len(own), -1)
        range_ = levels[:, :, 0] - levels[:, own, n_kinks]
        finite = np.minimum(range_, np.abs(values).max(axis=1, keepdims=True))
        size = np.where(np.isfinite(range_), finite, np.abs(near).max(axis=0))
        for node in range(first, last + 1):
            state = trace.states(node).astype(np.int64)
            for beside in (state // 2, np.minimum(state // 2 + state % 2, n_kinks)):
                off = np.abs(values - levels[:, own, beside])
                found = np.where((off <= ROUNDING * size).all(axis=0), beside, found)
        return found

    def behind(self) -> Places:
        """Return the segments on which coordinates (N,) are behind the last node, or -1."""
        trace, own = self.trace, np.arange(len(self.trace.stairs))
        segment, rates = self.resting(len(trace.t) - 1, len(trace.t) - 1), trace.stairs.level1
        range_ = np.abs(rates[:, 0] - rates[own, trace.stairs.n_kinks])
        same = np.abs(trace.ray - rates[own, segment]) <= ROUNDING * range_
        return np.where((segment >= 0) & same, segment, -1)

    def settled(self, duals: Floats, segment: Places) -> tuple[Floats, NDArray[np.bool_]]:
        """Return coordinates (N,) as they must be on segments, and which are at an end.

        Levels that move are known to the rounding of t, and coordinates better: only levels that
        stand still say what a coordinate is.
        """
        stairs, own = self.trace.stairs, np.arange(len(duals))
        level, still, last = stairs.level0, stairs.level1 == 0.0, stairs.n_kinks
        high = np.where(still[:, 0], level[:, 0], np.inf)
        low = np.where(still[own, last], level[own, last], -np.inf)
        known = (segment >= 0) & still[own, segment]
        found = np.where(known, level[own, segment], np.minimum(np.maximum(duals, low), high))
        return found + 0.0, (segment == 0) | (segment == last)

    def cut(self, nodes: int) -> Leg:
        """Return the leg with its first nodes alone."""
        return Leg(self.trace.cut(nodes), self.offset, self.factor)


class Nodes:
    """Places where some coordinate changes state, several at one parameter value if need be.

    Attributes
    ----------
    _t, _low : (K,) arrays
        Parameter values, ascending, in two parts.
    _leg, _index : (K,) int arrays
        The leg of each node, and its place in that leg's trace.
    """

    def __init__(self, legs: list[Leg], objective: Machine):
        self.objective = objective
        found = [(leg, *leg.ascending()) for leg in legs]
        found.sort(key=lambda own: own[1][[0, -1]].tolist())  # the nodes at its ends
        self._legs = [leg for leg, *_ in found]
        self._t: Floats = np.concatenate([t for _, t, _, _ in found])
        self._low: Floats = np.concatenate([low for _, _, low, _ in found])
        self._index: Places = np.concatenate([index for *_, index in found])
        self._leg = np.repeat(np.arange(len(legs)), [len(t) for _, t, _, _ in found])
        # the biases found with the last coefficients: they are mostly asked for next
        self._known = np.empty(0, dtype=np.int64), np.empty(0)

    def _parts(self, nodes: Places) -> tuple[Floats, Floats]:
        """Return the (B, N) duals of all coordinates at nodes, in two parts."""
        if len(self._legs) == 1:
            return self._legs[0].trace.parts(self._index[nodes])
        high, low = np.empty((2, len(nodes), len(self._legs[0].trace.stairs)))
        for number, leg in enumerate(self._legs):
            own = np.flatnonzero(self._leg[nodes] == number)
            if len(own):
                high[own], low[own] = leg.trace.parts(self._index[nodes[own]])
        return high, low

    def _node_solution(self, node: int) -> Solution:
        """Return the solution at a node."""
        return alone(self._node_solutions(np.array([node])))

    def _node_solutions(self, nodes: Places) -> Solution:
        """Return the solutions, in columns, at nodes."""
        return self._finished(*self._parts(nodes))

    def _settle(
        self, duals: Floats, near: Places, far: Places, part: Floats, beyond: Floats
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Return (B, N) coordinates as their states have them, and which are on an outer segment.

        They are given a ``part`` of the way from nodes ``near`` to ``far``, and so far ``beyond``
        the last. On a segment a coordinate is at its level, at a knot between two levels.
        """
        settled, outer = duals.copy(), np.zeros(duals.shape, dtype=bool)
        t = self._t[near] + part * (self._t[far] - self._t[near])
        known: dict[tuple[int, int, int], Places] = {}
        for b in range(len(part)):
            number = int(self._leg[near[b]])
            leg = self._legs[number]
            here, there = self._index[[near[b], far[b]]].tolist()
            if part[b] and self._leg[far[b]] != number:
                continue  # between two walks
            ends = (min(here, there), max(here, there)) if part[b] else (here, here)
            if beyond[b]:
                ends = here, -1
            if (number, *ends) not in known:
                known[number, *ends] = leg.behind() if beyond[b] else leg.resting(*ends)
            settled[b], outer[b] = leg.settled(duals[b], known[number, *ends])
            for node, k in ((here, near[b]), (there, far[b])):
                if part[b] and t[b] == self._t[k]:  # in double precision it is there
                    if (number, node, node) not in known:
                        known[number, node, node] = leg.resting(node, node)
                    own, edge = leg.settled(duals[b], known[number, node, node])
                    same = np.abs(own - settled[b]) <= NEAR * np.abs(duals[b]).max()
                    settled[b] = np.where(same, own, settled[b])
                    outer[b] = np.where(same, edge, outer[b])
        return settled, outer

    def _finished(self, duals: Floats, low: Floats) -> Solution:
        """Return the solutions of (B, N) duals in two parts; a linear machine's with their own w.

        It meets the pinned equations to the rounding of w itself, not of sums of duals that may be
        many orders of magnitude larger.
        """
        objective = self.objective
        found = objective.solution(np.ascontiguousarray(duals.T))
        if not objective.linear:
            return found
        n, lam = objective.n, objective.lam
        w = combine(objective.centred, duals, low, lam)
        if objective.free_bias:
            return found._replace(w=w, b=objective.unshifted(-(duals[:, n] + low[:, n]), w))
        parts = np.hstack([duals[:, :n], low[:, :n]])
        total = np.array([math.fsum(own[own != 0.0]) for own in parts])
        return found._replace(w=w, b=objective.bias_value**2 * total / lam)

    def _blocks(self, nodes: Places, m: int) -> Iterator[tuple[Trace, list[Places], list[Places]]]:
        """Yield for each leg: its trace, places in ``nodes`` in blocks, and nodes of the trace."""
        for number, leg in enumerate(self._legs):
            own = np.flatnonzero(self._leg[nodes] == number)
            own = own[np.argsort(self._index[nodes[own]], kind="stable")]
            places = blocks_of(own, width_of(self.objective, m))
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
        if objective.linear:
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

    def _public_duals(self, t: Floats, low: Floats, places: Whereabouts) -> Floats:
        """Return the (n, B) duals that users see at t + low, which is where ``places`` say."""
        found = np.empty((self.objective.n, len(t)))
        for first in range(0, len(t), COLUMNS):
            own = slice(first, first + COLUMNS)
            near, far, part, beyond = places
            some = near[own], far[own], part[own], beyond[own]
            found[:, own] = self._duals_of(self._solutions(*some), t[own], low[own], some)
        return found

    def _duals_of(self, solution: Solution, t: Floats, low: Floats, places: Whereabouts) -> Floats:
        """Return the (n, B) duals that users see of solutions at t + low, as their states say."""
        objective = self.objective
        duals = np.zeros((len(t), len(self._legs[0].trace.stairs)))
        duals[:, : objective.n] = np.transpose(np.asarray(solution.a))
        duals, outer = self._settle(duals, *places)
        alpha = objective.public_dual(Solution(duals[:, : objective.n].T))
        costs, outer = objective.costs(t, low), outer[:, : objective.n].T
        # those on outer segments are at their bounds: 0 or the cost
        alpha = np.where(outer & (alpha != 0.0), np.copysign(costs, alpha), alpha)
        return np.clip(alpha, -costs, costs) + 0.0

    def _solutions(self, near: Places, far: Places, part: Floats, beyond: Floats) -> Solution:
        raise NotImplementedError

    def _duals_at(self, nodes: Places) -> Floats:
        """Return the (n, B) duals at nodes."""
        still = np.zeros(len(nodes))
        return self._public_duals(self._t[nodes], self._low[nodes], (nodes, nodes, still, still))

    def _sweep(self, X_new: Any) -> Iterator[tuple[Places, Floats]]:
        """Yield ascending nodes and f there, (m, B); all neighbours meet in some block."""
        ends: dict[int, Floats] = {}
        for number, leg in enumerate(self._legs):
            own = np.flatnonzero(self._leg == number)
            walk = own if leg.factor > 0 else own[::-1]
            width = width_of(self.objective, X_new.shape[0])
            blocks = overlapping(blocks_of(walk, width))
            found = decisions(self.objective, leg.trace, [self._index[b] for b in blocks], X_new)
            for nodes, f in zip(blocks, found, strict=True):
                for k in (0, -1):
                    if nodes[k] in own[[0, -1]]:  # a copy, or the whole block stays in memory
                        ends[int(nodes[k])] = f[:, k].copy()
                upward = slice(None, None, leg.way)
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


def alone(solutions: Solution) -> Solution:
    """Return the first of the solutions that stand in columns."""
    return Solution(*(None if own is None else own[..., 0] for own in solutions))
