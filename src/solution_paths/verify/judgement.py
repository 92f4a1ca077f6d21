"""One judgement of B answers: what each part of a statement adds to the gap and the violations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..problem.bundle import Bundle
from ..validation import Floats
from .balance import rebalanced
from .exact import UNIT, column_sums, multiply
from .features import Regulariser, of_coefficients
from .graph import HI, KNOWN, LO, OFF, OUT, Graph, Pair, Share
from .products import Gram, Matrix, total
from .scales import Own, Scales, own_of, scales_of
from .verdict import KKT_LIMIT, Verdict


class Columns(NamedTuple):
    """An `Answer` in which every array has an axis of B solutions."""

    w: Floats | None
    free: Floats
    duals: list[Floats | None] | None  # None: of losses that are smooth, implied by values
    multiplier: Floats | None


class Values(NamedTuple):
    """Points z (4, n, B) of one group in their domains, and what is told of them.

    Attributes
    ----------
    sums : (5, B) what losses add up to there, see `areas.values`
    coarse : (n, B) what rounding of w, v and knots may change in z, where that is asked for
    """

    z: Floats
    sums: Floats
    coarse: Floats | None


class Duals(NamedTuple):
    """Subgradients u = -a of all groups, and what they add up to.

    Attributes
    ----------
    given : points (4, n, B), moved to where conjugates are finite
    bound : moved further, into balance: these bound the optimum
    c, c_bound : (d, B) X'a of the duals as they were stated, and of those that bound
    beta : (r, B) what the stated ones lack to be in balance
    left, price : (r, B) what the others still lack, and what a unit of it may cost
    """

    given: list[Floats]
    bound: list[Floats]
    c: Pair
    c_bound: Pair
    beta: Pair
    left: Floats
    price: Floats


class _Group(NamedTuple):
    X: Matrix
    free: Matrix
    graph: Graph


class Judgement:
    """What a judgement needs of problems with the same matrices.

    Parameters
    ----------
    problems : Bundle
        One for all solutions, or one for each.
    slices : bool, default True
        Whether products with a kernel's matrix in twice double precision are those of slices.
    """

    def __init__(self, problems: Bundle, slices: bool = True) -> None:
        self.problems, self.one = problems, problems.one
        self.groups = [
            _Group(Matrix(g.X), Matrix(g.free), Graph(own))
            for g, own in zip(self.one.losses, problems.losses, strict=True)
        ]
        self.linear = problems.linear
        self.kernel = None if self.one.kernel is None else Gram(self.one.kernel, slices)
        # where all losses are zero so is the optimum, and a gap is absolute
        self.idle = reduce(np.logical_and, [_idle(group.graph) for group in self.groups])

    # -- the verdict ---------------------------------------------------------------------------

    def verdict(self, answer: Columns, lower_bound: float | None, exact: bool) -> Verdict:
        """Judge in double precision, or in twice that."""
        with np.errstate(all="ignore"):  # what isn't finite fails
            w, field, reach = self._model(answer, exact)
            values = self._values(answer, field, reach, exact)
            primal, unsure = self._primal(w, field, answer, values)
            if answer.duals is None:
                zero = np.zeros_like(primal)
                bound = zero + (np.nan if lower_bound is None else lower_bound)
                outside = np.max([own.z[OUT].max(axis=0, initial=0.0) for own in values], axis=0)
                gap = np.where(outside > 0, np.inf, np.abs(primal - bound))
                nothing = zero + np.nan
                found = Share(gap, unsure, nothing, zero, zero, zero, zero, zero, nothing, zero)
                dual = nothing
            else:
                found = Share.total(self._shares(answer, w, values, exact))
                bound = dual = primal - found.gap
            size = np.maximum(np.maximum(np.abs(primal), np.abs(bound)), found.floor)
            size = np.maximum(size, 2 * unsure)  # smaller ones aren't known
            size = np.where((size > 0) & ~self.idle, size, 1.0)
            relative = found.gap / size
            rounding = (found.rounding + relative * unsure) / np.maximum(size - unsure, 0.0)
            relative = np.where(found.infeasible <= KKT_LIMIT, relative, np.inf)
            violation = (found.kkt, rounding, found.kkt_rounding)
            coarse = (found.resolution / size, found.kkt_resolution)
            errors = found.own + found.own_rounding, found.own - found.own_rounding
            return Verdict(primal, dual, relative, *violation, *coarse, *errors)

    def objective(self, answer: Columns) -> Floats:
        """Return the objectives (B,), in twice double precision."""
        w, field, reach = self._model(answer, True)
        return self._primal(w, field, answer, self._values(answer, field, reach, True))[0]

    def _shares(self, answer: Columns, w: Pair, values: list[Values], exact: bool) -> list[Share]:
        """Return what each group of losses, the coefficients and the balances contribute."""
        scales = self.scales(w, values)
        duals, held = self._duals(answer, w, values, scales, exact)
        coarse = self._coarse(answer, duals, values) if exact else None
        own = own_of(self.groups, scales) if exact and self.kernel is None else None
        bare = not any(group.graph.pieces.knots.any() for group in self.groups)
        shares = [
            _of_losses(group.graph, found, duals, k, scales, own, exact, bare)
            for k, (group, found) in enumerate(zip(self.groups, values, strict=True))
        ]
        shares.append(
            of_coefficients(held, duals.c_bound, duals.c, w, self.kernel, scales, own, coarse)
        )
        unbalanced = np.abs(duals.beta.hi + duals.beta.lo) / scales.balance
        zero = np.zeros(w.hi.shape[1])
        cost = np.where(duals.left > 0, duals.left * duals.price, 0.0).sum(axis=0)
        doubt = np.where(duals.beta.off > 0, duals.beta.off * duals.price, 0.0).sum(axis=0)
        wrong = unbalanced.max(axis=0, initial=0.0)
        wrong_off = (duals.beta.off / scales.balance).max(axis=0, initial=0.0)
        shares.append(
            Share(cost, doubt, wrong, wrong_off, wrong, zero, zero, zero, wrong, wrong_off)
        )
        return shares

    def scales(self, w: Pair, values: list[Values]) -> Scales:
        """Return the units of violations."""
        largest = [own.sums[4] for own in values]
        return scales_of(self.groups, self.one.ridge, w.hi, largest, self.kernel)

    # -- what is stated ------------------------------------------------------------------------

    def _model(self, answer: Columns, exact: bool) -> tuple[Pair, Pair, Floats]:
        """Return coefficients, stated or implied, and what maps are applied to: w, or K c.

        Last come the sizes of what this is summed from, (d, B).
        """
        if answer.w is not None:
            w, reach = Pair.of(answer.w), np.abs(answer.w)
        else:
            c, ridge = self._correlations(_all_stated(answer), exact), self.one.ridge
            hi = c.hi / ridge
            back, rest = multiply(hi, ridge)
            lo = ((c.hi - back) - rest + c.lo) / ridge
            w = Pair(hi, lo, c.off / ridge + 4 * UNIT**2 * np.abs(hi))
            pairs = zip(self.groups, _all_stated(answer), strict=True)
            reach = np.sum([np.asarray(g.X.size.T @ np.abs(a)) for g, a in pairs], axis=0) / ridge
        if self.kernel is None:
            return w, w, reach
        return w, *self.kernel.times(w, exact, reach)

    def _values(self, answer: Columns, field: Pair, reach: Floats, exact: bool) -> list[Values]:
        """Return z = X w + B v of each group, and what rounding w, v and knots may change in it."""
        found = []
        for group in self.groups:
            own, size = group.X.times(field, exact, reach)
            more, sizes = group.free.times(Pair.of(answer.free), exact)
            z = group.graph.clipped(total([own, more], own.hi.shape))
            knots, coarse = np.abs(group.graph.pieces.knots).max(axis=1), None
            if exact or not knots.any():
                coarse = UNIT * (2 * (size + sizes) + knots)
            found.append(Values(z, group.graph.values(z), coarse))
        return found

    def _primal(
        self, w: Pair, field: Pair, answer: Columns, values: list[Values]
    ) -> tuple[Floats, Floats]:
        """Return the objective, and how far off it may be."""
        sums = [own.sums for own in values]
        count = sum(len(group.graph.pieces) for group in self.groups) + answer.free.shape[0]
        if self.problems.penalty is not None:
            graph = Graph(self.problems.penalty)
            sums.append(graph.values(graph.clipped(w)))
            count += len(w.hi)
        if self.one.ridge > 0:
            half = self.one.ridge / 2
            square = half * (w.hi * (field.hi + field.lo) + w.lo * field.hi)
            doubt = half * np.abs(w.hi) * (field.off + 4 * UNIT * np.abs(field.hi))
            sums.append(_sums(square, doubt))
            count += len(w.hi)
        flat = self.linear * answer.free
        sums.append(_sums(flat, UNIT * np.abs(flat)))
        high, low, size, off, _ = np.sum(sums, axis=0)
        return high + low, off + (count + 8) * UNIT * size

    # -- duals ---------------------------------------------------------------------------------

    def _duals(
        self, answer: Columns, w: Pair, values: list[Values], scales: Scales, exact: bool
    ) -> tuple[Duals, Regulariser]:
        """Return the duals, those in balance, and what holds the coefficients beside them."""
        stated = self._stated(answer, values)
        given = [g.graph.duals(a) for g, a in zip(self.groups, stated, strict=True)]
        moved = [bool(u[OUT].any()) for u in given]
        each = list(zip(stated, given, moved, strict=True))
        inside = self._correlations([-u[HI] if far else a for a, u, far in each], exact)
        beta = self._balance(given, None, exact)
        held = Regulariser.of(self.problems, inside, w, answer, beta)
        if held.multiplier is not None:
            beta = self._balance(given, held.multiplier, exact)
        changes, price = rebalanced(
            beta.hi + beta.lo,
            [group.free.X for group in self.groups],
            [group.graph for group in self.groups],
            [own.z for own in values],
            given,
            scales.z,
        )
        bound = [
            _changed(group.graph, u, change) if far or change.any() else u
            for group, u, change, far in zip(self.groups, given, changes, moved, strict=True)
        ]
        repair = [
            None if new is u else (u[HI] - new[HI]) - new[LO]
            for u, new in zip(given, bound, strict=True)
        ]
        beyond = [a + u[HI] if far else None for a, u, far in each]
        left, rounded = self._balance_of(repair)
        found = Duals(
            given,
            bound,
            self._shifted(inside, beyond),
            self._shifted(inside, repair),
            Pair(beta.hi, beta.lo - self._balance_of(beyond)[0], beta.off),
            np.abs(beta.hi + beta.lo - left) + 4 * len(given) * UNIT * rounded,
            np.where(np.isfinite(price), price, np.abs(answer.free)),
        )
        return found, held

    def _stated(self, answer: Columns, values: list[Values]) -> list[Floats]:
        """Return the duals, of smooth losses those that their values imply if none are stated."""
        assert answer.duals is not None
        each = zip(self.groups, answer.duals, values, strict=True)
        return [-g.graph.derivatives(v.z) if a is None else a for g, a, v in each]

    def _coarse(self, answer: Columns, duals: Duals, values: list[Values]) -> Floats:
        """Return what rounding the answer to doubles may change in X'a, (d, B)."""
        assert answer.duals is not None
        found = np.zeros(duals.c.hi.shape)
        for group, a, u, own in zip(self.groups, answer.duals, duals.given, values, strict=True):
            size = UNIT * np.abs(u[HI])
            if a is None:
                size = size + group.graph.pieces.curvature.max(axis=1) * own.coarse
            found = found + np.asarray(group.X.size.T @ size)
        return found

    def _correlations(self, duals: Sequence[Floats], exact: bool) -> Pair:
        """Return X'a, (d, B); with a kernel for the samples, so that w = sum_i (X'a)_i phi_i."""
        parts = [g.X.transposed(a, exact) for g, a in zip(self.groups, duals, strict=True)]
        return total(parts, parts[0].hi.shape)

    def _shifted(self, c: Pair, changes: list[Floats | None]) -> Pair:
        """Return X'(a + changes), given X'a; changes are small, or few, or None."""
        for group, change in zip(self.groups, changes, strict=True):
            if change is not None:
                more, size = group.X.of_few(change)
                c = Pair(c.hi, c.lo + more, c.off + group.X.lost_in_columns(False) * size)
        return c

    def _balance(self, u: Sequence[Floats], multiplier: Floats | None, exact: bool) -> Pair:
        """Return what the duals lack, linear - B'a, less what the constraint's multiplier gives."""
        parts = [g.free.transposed(own[HI], exact) for g, own in zip(self.groups, u, strict=True)]
        shape = parts[0].hi.shape
        parts.append(Pair.of(np.broadcast_to(self.linear, shape).copy()))
        if multiplier is not None:
            pull, rest = multiply(self.one.constraint.free[:, None], multiplier)
            parts.append(Pair(-pull, -rest, np.zeros(shape)))
        return total(parts, shape)

    def _balance_of(self, changes: list[Floats | None]) -> tuple[Floats, Floats]:
        """Return B' changes, and the size of what it is summed from."""
        own, size = np.zeros((2, *self.linear.shape[:1], 1))
        for group, change in zip(self.groups, changes, strict=True):
            if change is not None:
                more, sizes = group.free.of_few(change)
                own, size = own + more, size + sizes
        return own, size


def _changed(graph: Graph, u: Floats, change: Floats) -> Floats:
    """Return duals (points) with changes: they bound whatever they were moved from."""
    found = graph.subgradient(Pair(u[HI], -change, u[OFF]))
    found[OUT] = 0.0
    return found


def _sums(values: Floats, doubt: Floats) -> Floats:
    """Return sums of columns as `Graph.values` does."""
    sizes = np.abs(values).sum(axis=0), doubt.sum(axis=0), np.zeros(values.shape[1])
    return np.stack([*column_sums(values), *sizes])


def _idle(graph: Graph) -> NDArray[np.bool_]:
    """Tell in which problems all of a group's functions are zero, (B or 1,)."""
    own = graph.pieces
    parts = (own.slopes, own.curvature, own.value[:, None])
    return reduce(np.logical_and, [(part == 0.0).all(axis=(0, 1)) for part in parts])


def _all_stated(answer: Columns) -> list[Floats]:
    """Return duals that are to imply w."""
    return [a for a in answer.duals or [] if a is not None]


def _of_losses(
    graph: Graph,
    values: Values,
    duals: Duals,
    k: int,
    scales: Scales,
    own: Own | None,
    exact: bool,
    bare: bool,
) -> Share:
    """Return what the losses of group k contribute; ``bare`` says that all knots are 0."""
    knots = graph.pieces.knots
    size = KNOWN * np.abs(knots).max(axis=1)
    if values.coarse is not None and not knots.any():  # then rounding of values is of their terms
        size = KNOWN / UNIT / 2 * values.coarse
    if bare:  # and where nothing has a size, units are arbitrary
        size = np.maximum(size, np.maximum(KNOWN * scales.z[k], scales.lost))
    units, coarse = (scales.z[k], scales.a[k]), values.coarse if exact else None
    return graph.share(
        values.z,
        duals.bound[k],
        duals.given[k],
        units,
        None if own is None else (np.broadcast_to(units[0], own.a[k].shape), own.a[k]),
        size,
        None if coarse is None else (coarse, np.zeros_like(coarse)),
    )
