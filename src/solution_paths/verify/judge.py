"""The judge: how far an answer is from an optimum, read from the statement and the answer alone.

With duals a (that is, subgradients u = -a) moved to where the conjugates are finite, c = X'a and
g(w) = penalty(w) + ridge/2 w^2, the duality gap is a sum of terms none of which is negative: the
areas between each (z_i, -a_i) and the graph of its loss, and between each (w_j, c_j) and the graph
of g_j, and multiplier times slack of an l1 constraint. Nothing here knows who found the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..certify import GAP_LIMIT, KKT_LIMIT, Verdict
from ..objectives.exact import UNIT, add, column_sums, multiply
from ..problem import Problem
from ..validation import Floats
from .balance import rebalanced
from .features import Featured, features_against
from .graph import Graph, Pair
from .products import Matrix, total
from .scales import Scales, scales_of

# Knots are known to this share of their size. What that may change in the objective counts as
# nothing: a gap is relative to no less than it, over the limit of gaps.
KNOWN = 8 * UNIT


@dataclass(frozen=True, eq=False)
class Answer:
    """What a solver says, or B solutions of it in columns: then each array has a last axis of B.

    Parameters
    ----------
    w : (d,) array, optional
        Coefficients; with a kernel those of the samples, (N,). Left out, they are those that the
        duals imply, which a ridge without a penalty allows.
    free : (r,) array, optional
        The free variables; may be left out where there are none.
    duals : sequence of (n_g,) arrays, optional
        For each group of losses a = -f'(z). Without them only a bound from elsewhere tells a gap.
    multiplier : float, optional
        Of the l1 constraint; left out, the one that bounds best.
    """

    w: Any = None
    free: Any = None
    duals: Sequence[Any] | None = None
    multiplier: Any = None


class Found(NamedTuple):
    """What is found in B solutions; each entry is (B,). ``gap`` is absolute."""

    primal: Floats
    unsure: Floats
    gap: Floats
    rounding: Floats
    floor: Floats
    kkt: Floats
    kkt_rounding: Floats
    infeasible: Floats
    resolution: Floats
    kkt_resolution: Floats


class Values(NamedTuple):
    """The values of one group, and the sizes of what they are summed from; each (n, B)."""

    inside: Pair
    outside: Floats
    size: Floats


class _Group(NamedTuple):
    X: Matrix
    free: Matrix
    graph: Graph


class _Columns(NamedTuple):
    """An `Answer` with an axis for solutions everywhere."""

    w: Floats | None
    free: Floats
    duals: list[Floats] | None
    multiplier: Floats | None


def judge(
    problem: Problem | Sequence[Problem], answer: Answer, *, lower_bound: float | None = None
) -> Verdict:
    """Say how far an answer is from an optimum.

    Parameters
    ----------
    problem : Problem, or B of them
        Of several (the problems along a path, say) all must have the same matrices and ridge; the
        answer then has B columns.
    answer : Answer
    lower_bound : float, optional
        A lower bound of the optimum, for an answer without duals.

    Returns
    -------
    Verdict
        Floats, or (B,) arrays where the answer has columns. All nan for an answer that isn't
        finite. The KKT violation of a coordinate is its distance from its graph, in units of the
        data. First in double precision; what that doesn't show to hold, in twice that.

    Raises
    ------
    ValueError
        The answer states too little, or arrays of wrong shapes.

    Examples
    --------
    Two samples with a hinge loss each, C = 1: half the cost is what the duals are.

    >>> from solution_paths.problem import Losses, Problem, losses
    >>> from solution_paths.verify import Answer, judge
    >>> problem = Problem(Losses(losses.hinge([-1.0, 1.0]), [[0.0], [2.0]], free=1.0), ridge=1.0)
    >>> judge(problem, Answer([1.0], [-1.0], [[-0.5, 0.5]])).status
    'holds'
    >>> judge(problem, Answer([1.0], [-1.0], [[-0.5, 0.6]])).status
    'fails'
    """
    problems = [problem] if isinstance(problem, Problem) else list(problem)
    columns, alone = _columns(problems[0], answer)
    count = columns.free.shape[1]
    if len(problems) not in (1, count):
        raise ValueError(
            f"There are {len(problems)} problems and {count} columns in the answer; give one "
            "problem, or one for each column."
        )
    parts = [columns.w, columns.free, *(columns.duals or []), columns.multiplier]
    if not all(np.isfinite(part).all() for part in parts if part is not None):
        found = Verdict(*[np.full(count, np.nan)] * 8)
    else:
        found = _twice(problems, columns, lower_bound)
    return Verdict(*(float(v[0]) for v in vars(found).values())) if alone else found


def _twice(problems: Sequence[Problem], columns: _Columns, lower_bound: float | None) -> Verdict:
    """Judge in double precision, and what that doesn't show to hold in twice that."""
    first = _Court(problems).verdict(columns, lower_bound, exact=False)
    kkt_limit = np.inf if columns.duals is None else KKT_LIMIT
    shown = (first.gap + first.rounding <= GAP_LIMIT) & (
        (first.kkt + first.kkt_rounding <= kkt_limit) | (kkt_limit == np.inf)
    )
    again = np.flatnonzero(~shown)
    if not len(again):
        return first
    fewer = problems if len(problems) == 1 else [problems[int(k)] for k in again]
    second = _Court(fewer).verdict(_taken(columns, again), lower_bound, exact=True)
    merged = {name: np.array(own) for name, own in vars(first).items()}
    for name, own in merged.items():
        own[again] = getattr(second, name)
    return Verdict(**merged)


def _taken(columns: _Columns, which: NDArray[np.int64]) -> _Columns:
    duals = None if columns.duals is None else [own[:, which] for own in columns.duals]
    multiplier = None if columns.multiplier is None else columns.multiplier[which]
    w = None if columns.w is None else columns.w[:, which]
    return _Columns(w, columns.free[:, which], duals, multiplier)


def _columns(problem: Problem, answer: Answer) -> tuple[_Columns, bool]:
    """Return an answer with columns, and whether it had none."""
    stated = [np.asarray(a, dtype=np.float64) for a in answer.duals or []]
    w = None if answer.w is None else np.asarray(answer.w, dtype=np.float64)
    leading = [*stated, *([] if w is None else [w])]
    if not leading or (w is None and not (stated and problem.pure_ridge)):
        raise ValueError(
            "The answer states too little: give w, or duals where a ridge without a penalty "
            "lets them imply it."
        )
    alone = leading[0].ndim == 1
    count = 1 if alone else leading[0].shape[1]
    free = np.zeros((0, count)) if answer.free is None else answer.free

    def column(name: str, value: Any, rows: int) -> Floats:
        own = np.asarray(value, dtype=np.float64)
        own = own[:, None] if alone and own.ndim == 1 else own
        if own.shape != (rows, count):
            raise ValueError(
                f"{name} has shape {np.shape(value)}, but {rows} entries a solution were expected, "
                f"and {count} solution(s): give it that shape."
            )
        return own

    sizes = [len(group.pieces) for group in problem.losses]
    if answer.duals is not None and len(stated) != len(sizes):
        raise ValueError(
            f"duals has {len(stated)} arrays; give one for each of {len(sizes)} groups of losses."
        )
    duals = [
        column(f"duals[{k}]", a, n) for k, (a, n) in enumerate(zip(stated, sizes, strict=False))
    ]
    multiplier = answer.multiplier
    if multiplier is not None:
        multiplier = np.broadcast_to(np.asarray(multiplier, dtype=np.float64), count)
    return _Columns(
        None if w is None else column("w", w, problem.features),
        column("free", free, problem.n_free),
        None if answer.duals is None else duals,
        multiplier,
    ), alone


class _Court:
    """What a judgement needs of problems with the same matrices."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.one = one = problems[0]
        self.problems = problems
        self.groups = [
            _Group(
                Matrix(group.X),
                Matrix(group.free),
                Graph.of([problem.losses[k].pieces for problem in problems]),
            )
            for k, group in enumerate(one.losses)
        ]
        self.linear = np.stack([problem.linear for problem in problems], axis=-1)
        self.kernel = None if one.kernel is None else Matrix(one.kernel)

    # -- one pass ------------------------------------------------------------------------------

    def verdict(self, answer: _Columns, lower_bound: float | None, exact: bool) -> Verdict:
        """Judge in double precision, or in twice that."""
        with np.errstate(all="ignore"):  # what isn't finite fails
            found = self._found(answer, lower_bound, exact)
            lower = found.primal - found.gap
            size = np.maximum(np.maximum(np.abs(found.primal), np.abs(lower)), found.floor)
            size = np.where(size > 0, size, 1.0)
            relative = found.gap / size
            sure = np.maximum(size - found.unsure, 0.0)
            rounding = (found.rounding + relative * found.unsure) / sure
            relative = np.where(found.infeasible <= KKT_LIMIT, relative, np.inf)
            dual = lower if answer.duals is not None else np.full(len(lower), np.nan)
            return Verdict(
                found.primal,
                dual,
                relative,
                found.kkt,
                rounding,
                found.kkt_rounding,
                found.resolution / size,
                found.kkt_resolution,
            )

    def _found(self, answer: _Columns, lower_bound: float | None, exact: bool) -> Found:
        w, field = self._model(answer, exact)
        values = [self._values(group, field, answer.free, exact) for group in self.groups]
        scales = scales_of(self.groups, w.hi, [own.inside.hi for own in values], self.kernel)
        primal, unsure = self._primal(w, field, answer, values, exact)
        if answer.duals is None:
            zero = np.zeros_like(primal)
            gap = np.abs(primal - (np.nan if lower_bound is None else lower_bound))
            outside = _worst([own.outside / z for own, z in zip(values, scales.z, strict=True)])
            return Found(
                primal, unsure, gap, unsure, zero, zero + np.nan, zero, outside, zero, zero
            )
        return self._with_duals(answer, w, field, values, scales, primal, unsure, exact)

    def _with_duals(
        self,
        answer: _Columns,
        w: Pair,
        field: Pair,
        values: list[Values],
        scales: Scales,
        primal: Floats,
        unsure: Floats,
        exact: bool,
    ) -> Found:
        assert answer.duals is not None
        graphs = [group.graph for group in self.groups]
        moved = [
            graph.subgradient(Pair.of(-a)) for graph, a in zip(graphs, answer.duals, strict=True)
        ]
        u = [own for own, _ in moved]
        c = self._correlations([-own.hi for own in u], exact)
        features = Featured.of(self.problems, c, w, answer, self._balance(u, None, exact))
        beta = self._balance(u, features.multiplier, exact)
        changes, price = rebalanced(
            beta.hi + beta.lo,
            [group.free.X for group in self.groups],
            graphs,
            [own.inside for own in values],
            u,
            scales.z,
        )
        price = np.where(np.isfinite(price), price, np.abs(answer.free))
        repaired = [
            graph.subgradient(Pair(own.hi, -change, own.off))[0]
            for graph, own, change in zip(graphs, u, changes, strict=True)
        ]
        left = self._left(beta, u, repaired)
        more = self._correlations(
            [own.hi - new.hi - new.lo for own, new in zip(u, repaired, strict=True)], False
        )
        pull = features_against(
            features, Pair(c.hi, c.lo + more.hi, c.off + more.off), c, w, self.kernel, scales, exact
        )
        sums = [pull.gap, np.where(left > 0, left * price, 0.0).sum(axis=0)]
        doubts = [pull.rounding, np.where(beta.off > 0, beta.off * price, 0.0).sum(axis=0)]
        floors, wrong, wrong_off, resolved = [], [pull.kkt], [pull.kkt_rounding], [pull.resolution]
        infeasible, coarse = [pull.infeasible], [pull.kkt_resolution]
        each = zip(values, graphs, u, repaired, moved, scales.z, scales.a, strict=True)
        for own, graph, given, new, (_, outside), z_unit, a_unit in each:
            against = graph.against(own.inside, given)
            area = graph.against(own.inside, new).area + np.abs(new.hi) * own.outside
            doubt = graph.rounding(own.inside, new, area) + own.inside.off * np.abs(new.hi) * (
                own.outside > 0
            )
            apart = np.minimum(against.width / z_unit, against.height / a_unit)
            outer = np.maximum(own.outside / z_unit, outside / a_unit)
            sums.append(area.sum(axis=0))
            doubts.append(doubt.sum(axis=0))
            infeasible.append(outer.max(axis=0, initial=0.0))
            wrong.append(np.maximum(apart, outer).max(axis=0, initial=0.0))
            counted = np.where(doubt > 8 * UNIT * area, own.inside.off, 0.0) / z_unit
            wrong_off.append(counted.max(axis=0, initial=0.0))
            floors.append(_floor(graph, new.hi))
            if exact:
                coarser = Pair(own.inside.hi, own.inside.lo, own.size)
                resolved.append(graph.rounding(coarser, new, area).sum(axis=0))
                coarse.append((own.size / z_unit).max(axis=0, initial=0.0))
        unbalanced = np.abs(beta.hi + beta.lo) / scales.balance[:, None]
        infeasible.append(unbalanced.max(axis=0, initial=0.0))
        wrong.append(infeasible[-1])
        wrong_off.append((beta.off / scales.balance[:, None]).max(axis=0, initial=0.0))
        gap = np.sum(sums, axis=0)
        count = sum(len(own.size) for own in values) + len(w.hi)
        return Found(
            primal,
            unsure,
            gap,
            np.sum(doubts, axis=0) + 2 * (count + 8) * UNIT * gap,
            np.sum(floors, axis=0),
            _worst(wrong),
            _worst(wrong_off),
            _worst(infeasible),
            np.sum(resolved, axis=0),
            _worst(coarse),
        )

    # -- parts ---------------------------------------------------------------------------------

    def _model(self, answer: _Columns, exact: bool) -> tuple[Pair, Pair]:
        """Return coefficients, stated or implied, and what maps are applied to: w, or K c."""
        if answer.w is not None:
            w = Pair.of(answer.w)
        else:
            assert answer.duals is not None
            c, ridge = self._correlations(answer.duals, exact), self.one.ridge
            hi = c.hi / ridge
            back, rest = multiply(hi, ridge)
            lo = ((c.hi - back) - rest + c.lo) / ridge
            off = (
                c.off / ridge
                + (0.0 if exact else 1.0) * UNIT * np.abs(hi)
                + 4 * UNIT**2 * np.abs(hi)
            )
            w = Pair(hi, lo, off)
        return w, w if self.kernel is None else self.kernel.times(w, exact)

    def _values(self, group: _Group, field: Pair, free: Floats, exact: bool) -> Values:
        """Return z = X w + B v, within the domain, and what rounding w and v may change in it."""
        parts = [group.X.times(field, exact), group.free.times(Pair.of(free), exact)]
        z = total(parts, parts[0].hi.shape)
        size = np.asarray(group.X.size @ np.abs(field.hi)) + np.asarray(
            group.free.size @ np.abs(free)
        )
        knots = np.abs(group.graph.knots).max(axis=1)
        inside, outside = group.graph.clipped(z)
        return Values(inside, outside, UNIT * (2 * size + knots))

    def _correlations(self, duals: Sequence[Floats], exact: bool) -> Pair:
        """Return X'a, (d, B); with a kernel for the samples, so that w = sum_i (X'a)_i phi_i."""
        parts = [g.X.transposed(a, exact) for g, a in zip(self.groups, duals, strict=True)]
        return total(parts, parts[0].hi.shape)

    def _balance(self, u: Sequence[Pair], multiplier: Floats | None, exact: bool) -> Pair:
        """Return what the duals lack, linear - B'a, less what the constraint's multiplier gives."""
        parts = [g.free.transposed(own.hi, exact) for g, own in zip(self.groups, u, strict=True)]
        shape = parts[0].hi.shape
        own = Pair.of(np.broadcast_to(self.linear, shape).copy())
        parts.append(own)
        if multiplier is not None:
            pull, rest = multiply(self.one.constraint.free[:, None], multiplier)
            parts.append(Pair(-pull, -rest, np.zeros(shape)))
        return total(parts, shape)

    def _left(self, beta: Pair, u: Sequence[Pair], repaired: Sequence[Pair]) -> Floats:
        """Return the imbalance that is left, sizes (r, B)."""
        left, rounded = beta.hi + beta.lo, np.zeros_like(beta.hi)
        for group, old, new in zip(self.groups, u, repaired, strict=True):
            change = (old.hi - new.hi) - new.lo
            left = left - np.asarray(group.free.X.T @ change)
            rounded = rounded + np.asarray(group.free.size.T @ np.abs(change))
        return np.abs(left) + 4 * len(u) * UNIT * rounded

    def _primal(
        self, w: Pair, field: Pair, answer: _Columns, values: list[Values], exact: bool
    ) -> tuple[Floats, Floats]:
        """Return the objective, and how far off it may be."""
        terms = [g.graph.values(own.inside) for g, own in zip(self.groups, values, strict=True)]
        if self.one.penalty is not None:
            graph = Graph.of([problem.penalty for problem in self.problems])  # type: ignore[misc]
            terms.append(graph.values(graph.clipped(w)[0]))
        square = w.hi * (field.hi + field.lo) + w.lo * field.hi
        terms.append(
            (
                self.one.ridge / 2 * square,
                self.one.ridge / 2 * np.abs(w.hi) * (field.off + 4 * UNIT * np.abs(field.hi)),
            )
        )
        flat = self.linear * answer.free
        terms.append((flat, UNIT * np.abs(flat)))
        sizes = np.sum([np.abs(own).sum(axis=0) for own, _ in terms], axis=0)
        count = sum(len(own) for own, _ in terms)
        primal = np.sum([add(*column_sums(own))[0] for own, _ in terms], axis=0)
        off = np.sum([doubt.sum(axis=0) for _, doubt in terms], axis=0)
        return primal, off + (count + 8) * UNIT * sizes


def _floor(graph: Graph, u: Floats) -> Floats:
    """Return what knots known to `KNOWN` of their size change in the objective, over the limit."""
    size = KNOWN * np.abs(graph.knots).max(axis=1)
    bent = graph.curvature.max(axis=1)
    return (np.abs(u) * size + bent * size**2 / 2).sum(axis=0) / GAP_LIMIT


def _worst(parts: Sequence[Floats]) -> Floats:
    """Return the largest entry of each column."""
    return np.max([np.max(np.atleast_2d(own), axis=0, initial=0.0) for own in parts], axis=0)
