"""One judgement of B answers: each part of a statement contributes to gap and violations."""

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
from .features import Regulariser, contribution_of_coefficients
from .graph import DATA_ROUNDING, ERROR, HI, LO, OUTSIDE, Contribution, Graph, Pair
from .products import Gram, Matrix, total
from .scales import CoordinateScales, Scales, coordinate_scales_of, scales_of
from .verdict import KKT_LIMIT, Verdict


class Columns(NamedTuple):
    """An `Answer` in which every array has an axis of B solutions."""

    w: Floats | None
    free: Floats
    duals: list[Floats | None] | None  # None: of smooth losses, implied by values
    multiplier: Floats | None


class Values(NamedTuple):
    """Points z (4, n, B) of one group in their domains.

    Attributes
    ----------
    sums : (5, B) sums of the losses at z, see `areas.values`
    answer_error : (n, B) error of z from rounding of w, v and knots, or None if not needed
    """

    z: Floats
    sums: Floats
    answer_error: Floats | None


class Duals(NamedTuple):
    """Subgradients u = -a of all groups, and their sums.

    Attributes
    ----------
    given : points (4, n, B), the stated duals moved to where conjugates are finite
    bound : points moved further, into balance: the feasible duals of the lower bound
    c, c_bound : (d, B) X'a of the stated duals, and of those of the lower bound
    beta : (r, B) imbalance of the stated duals, linear - B'a
    imbalance, price : (r, B) imbalance left in the lower bound, and the cost of a unit of it
    """

    given: list[Floats]
    bound: list[Floats]
    c: Pair
    c_bound: Pair
    beta: Pair
    imbalance: Floats
    price: Floats


class _Group(NamedTuple):
    X: Matrix
    free: Matrix
    graph: Graph


class Judgement:
    """The judge of problems with the same matrices.

    Parameters
    ----------
    problems : Bundle
        One for all solutions, or one for each.
    slices : bool, default True
        Whether products with a kernel's matrix in twice double precision are sums over slices.
    """

    def __init__(self, problems: Bundle, slices: bool = True) -> None:
        self.problems, self.one = problems, problems.one
        self.groups = [
            _Group(Matrix(g.X), Matrix(g.free), Graph(pieces))
            for g, pieces in zip(self.one.losses, problems.losses, strict=True)
        ]
        self.linear = problems.linear
        self.kernel = None if self.one.kernel is None else Gram(self.one.kernel, slices)
        # where all losses are zero, so is the optimum, and the gap is absolute
        self.zero_losses = reduce(np.logical_and, [_is_zero(group.graph) for group in self.groups])

    # -- the verdict ---------------------------------------------------------------------------

    def verdict(self, answer: Columns, lower_bound: float | None, exact: bool) -> Verdict:
        """Judge in double precision, or in twice that."""
        with np.errstate(all="ignore"):  # what isn't finite fails
            w, argument, reach = self._model(answer, exact)
            values = self._values(answer, argument, reach, exact)
            primal, primal_error = self._primal(w, argument, answer, values)
            if answer.duals is None:
                zero = np.zeros_like(primal)
                bound = zero + (np.nan if lower_bound is None else lower_bound)
                outside = np.max(
                    [group_values.z[OUTSIDE].max(axis=0, initial=0.0) for group_values in values],
                    axis=0,
                )
                gap = np.where(outside > 0, np.inf, np.abs(primal - bound))
                unknown = zero + np.nan
                contribution = Contribution(
                    gap, primal_error, unknown, zero, zero, zero, zero, zero, unknown, zero
                )
                dual = unknown
            else:
                contribution = Contribution.total(self._contributions(answer, w, values, exact))
                bound = dual = primal - contribution.gap
            size = np.maximum(np.maximum(np.abs(primal), np.abs(bound)), contribution.floor)
            size = np.maximum(size, 2 * primal_error)  # smaller sizes aren't known
            size = np.where((size > 0) & ~self.zero_losses, size, 1.0)
            relative = contribution.gap / size
            rounding = (contribution.rounding + relative * primal_error) / np.maximum(
                size - primal_error, 0.0
            )
            relative = np.where(contribution.infeasible <= KKT_LIMIT, relative, np.inf)
            violation = (contribution.kkt, rounding, contribution.kkt_rounding)
            resolutions = (contribution.resolution / size, contribution.kkt_resolution)
            errors = (
                contribution.coordinate_kkt + contribution.coordinate_rounding,
                contribution.coordinate_kkt - contribution.coordinate_rounding,
            )
            return Verdict(primal, dual, relative, *violation, *resolutions, *errors)

    def objective(self, answer: Columns, exact: bool) -> tuple[Floats, Floats]:
        """Return the objectives (B,), in double precision or in twice that, and their errors."""
        w, argument, reach = self._model(answer, exact)
        return self._primal(w, argument, answer, self._values(answer, argument, reach, exact))

    def _contributions(
        self, answer: Columns, w: Pair, values: list[Values], exact: bool
    ) -> list[Contribution]:
        """Return the contributions of each group of losses, the coefficients and the balances."""
        scales = self.scales(w, values)
        duals, regulariser = self._duals(answer, w, values, scales, exact)
        answer_error = self._answer_error(answer, duals, values) if exact else None
        coordinate_scales = (
            coordinate_scales_of(self.groups, scales) if exact and self.kernel is None else None
        )
        all_knots_zero = not any(group.graph.pieces.knots.any() for group in self.groups)
        contributions = [
            _contribution_of_losses(
                group.graph,
                group_values,
                duals,
                k,
                scales,
                coordinate_scales,
                exact,
                all_knots_zero,
            )
            for k, (group, group_values) in enumerate(zip(self.groups, values, strict=True))
        ]
        contributions.append(
            contribution_of_coefficients(
                regulariser,
                duals.c_bound,
                duals.c,
                w,
                self.kernel,
                scales,
                coordinate_scales,
                answer_error,
            )
        )
        imbalance = np.abs(duals.beta.hi + duals.beta.lo) / scales.balance
        zero = np.zeros(w.hi.shape[1])
        cost = np.where(duals.imbalance > 0, duals.imbalance * duals.price, 0.0).sum(axis=0)
        cost_error = np.where(duals.beta.error > 0, duals.beta.error * duals.price, 0.0).sum(axis=0)
        violation = imbalance.max(axis=0, initial=0.0)
        violation_error = (duals.beta.error / scales.balance).max(axis=0, initial=0.0)
        contributions.append(
            Contribution(
                cost,
                cost_error,
                violation,
                violation_error,
                violation,
                zero,
                zero,
                zero,
                violation,
                violation_error,
            )
        )
        return contributions

    def scales(self, w: Pair, values: list[Values]) -> Scales:
        """Return the units of violations."""
        largest = [group_values.sums[4] for group_values in values]
        return scales_of(self.groups, self.one.ridge, w.hi, largest, self.kernel)

    # -- what is stated ------------------------------------------------------------------------

    def _model(self, answer: Columns, exact: bool) -> tuple[Pair, Pair, Floats]:
        """Return coefficients, stated or implied, and the argument of the maps: w, or K c.

        The last array (d, B) holds the sums of absolute terms of that argument.
        """
        if answer.w is not None:
            w, reach = Pair.of(answer.w), np.abs(answer.w)
        else:
            c, ridge = self._correlations(_all_stated(answer), exact), self.one.ridge
            hi = c.hi / ridge
            back, rest = multiply(hi, ridge)
            lo = ((c.hi - back) - rest + c.lo) / ridge
            w = Pair(hi, lo, c.error / ridge + 4 * UNIT**2 * np.abs(hi))
            pairs = zip(self.groups, _all_stated(answer), strict=True)
            reach = np.sum([np.asarray(g.X.size.T @ np.abs(a)) for g, a in pairs], axis=0) / ridge
        if self.kernel is None:
            return w, w, reach
        return w, *self.kernel.times(w, exact, reach)

    def _values(self, answer: Columns, argument: Pair, reach: Floats, exact: bool) -> list[Values]:
        """Return z = X w + B v of each group, with its error from rounding of w, v and knots."""
        values = []
        for group in self.groups:
            product, size = group.X.times(argument, exact, reach)
            shift, sizes = group.free.times(Pair.of(answer.free), exact)
            z = group.graph.clipped(total([product, shift], product.hi.shape))
            knots, answer_error = np.abs(group.graph.pieces.knots).max(axis=1), None
            if exact or not knots.any():
                answer_error = UNIT * (2 * (size + sizes) + knots)
            values.append(Values(z, group.graph.values(z), answer_error))
        return values

    def _primal(
        self, w: Pair, argument: Pair, answer: Columns, values: list[Values]
    ) -> tuple[Floats, Floats]:
        """Return the objective, and a bound of its error."""
        sums = [group_values.sums for group_values in values]
        count = sum(len(group.graph.pieces) for group in self.groups) + answer.free.shape[0]
        if self.problems.penalty is not None:
            graph = Graph(self.problems.penalty)
            sums.append(graph.values(graph.clipped(w)))
            count += len(w.hi)
        if self.one.ridge > 0:
            half = self.one.ridge / 2
            square = half * (w.hi * (argument.hi + argument.lo) + w.lo * argument.hi)
            error = half * np.abs(w.hi) * (argument.error + 4 * UNIT * np.abs(argument.hi))
            sums.append(_sums(square, error))
            count += len(w.hi)
        terms = self.linear * answer.free
        sums.append(_sums(terms, UNIT * np.abs(terms)))
        high, low, size, total_error, _ = np.sum(sums, axis=0)
        return high + low, total_error + (count + 8) * UNIT * size

    # -- duals ---------------------------------------------------------------------------------

    def _duals(
        self, answer: Columns, w: Pair, values: list[Values], scales: Scales, exact: bool
    ) -> tuple[Duals, Regulariser]:
        """Return the duals, stated and balanced, and the regulariser with its multiplier."""
        stated = self._stated(answer, values)
        given = [g.graph.duals(a) for g, a in zip(self.groups, stated, strict=True)]
        moved = [bool(u[OUTSIDE].any()) for u in given]
        each = list(zip(stated, given, moved, strict=True))
        inside = self._correlations([-u[HI] if is_moved else a for a, u, is_moved in each], exact)
        beta = self._balance(given, None, exact)
        regulariser = Regulariser.of(self.problems, inside, w, answer, beta)
        if regulariser.multiplier is not None:
            beta = self._balance(given, regulariser.multiplier, exact)
        changes, price = rebalanced(
            beta.hi + beta.lo,
            [group.free.X for group in self.groups],
            [group.graph for group in self.groups],
            [group_values.z for group_values in values],
            given,
            scales.z,
        )
        bound = [
            _changed(group.graph, u, change) if is_moved or change.any() else u
            for group, u, change, is_moved in zip(self.groups, given, changes, moved, strict=True)
        ]
        repair = [
            None if new is u else (u[HI] - new[HI]) - new[LO]
            for u, new in zip(given, bound, strict=True)
        ]
        beyond = [a + u[HI] if is_moved else None for a, u, is_moved in each]
        imbalance, rounded = self._balance_of(repair)
        duals = Duals(
            given,
            bound,
            self._shifted(inside, beyond),
            self._shifted(inside, repair),
            Pair(beta.hi, beta.lo - self._balance_of(beyond)[0], beta.error),
            np.abs(beta.hi + beta.lo - imbalance) + 4 * len(given) * UNIT * rounded,
            np.where(np.isfinite(price), price, np.abs(answer.free)),
        )
        return duals, regulariser

    def _stated(self, answer: Columns, values: list[Values]) -> list[Floats]:
        """Return the stated duals; for smooth losses without any those that their values imply."""
        assert answer.duals is not None
        each = zip(self.groups, answer.duals, values, strict=True)
        return [-g.graph.derivatives(v.z) if a is None else a for g, a, v in each]

    def _answer_error(self, answer: Columns, duals: Duals, values: list[Values]) -> Floats:
        """Return the error of X'a, (d, B), from rounding of the answer to doubles."""
        assert answer.duals is not None
        error = np.zeros(duals.c.hi.shape)
        for group, a, u, group_values in zip(
            self.groups, answer.duals, duals.given, values, strict=True
        ):
            size = UNIT * np.abs(u[HI])
            if a is None:
                size = size + group.graph.pieces.curvature.max(axis=1) * group_values.answer_error
            error = error + np.asarray(group.X.size.T @ size)
        return error

    def _correlations(self, duals: Sequence[Floats], exact: bool) -> Pair:
        """Return X'a, (d, B); with a kernel for the samples, so that w = sum_i (X'a)_i phi_i."""
        products = [g.X.transposed(a, exact) for g, a in zip(self.groups, duals, strict=True)]
        return total(products, products[0].hi.shape)

    def _shifted(self, c: Pair, changes: list[Floats | None]) -> Pair:
        """Return X'(a + changes), given c = X'a; changes are small, or few, or None."""
        for group, change in zip(self.groups, changes, strict=True):
            if change is not None:
                more, size = group.X.of_few(change)
                c = Pair(c.hi, c.lo + more, c.error + group.X.lost_in_columns(False) * size)
        return c

    def _balance(self, u: Sequence[Floats], multiplier: Floats | None, exact: bool) -> Pair:
        """Return the imbalance linear - B'a, minus the term of the constraint's multiplier."""
        products = [
            g.free.transposed(points[HI], exact) for g, points in zip(self.groups, u, strict=True)
        ]
        shape = products[0].hi.shape
        products.append(Pair.of(np.broadcast_to(self.linear, shape).copy()))
        if multiplier is not None:
            pull, rest = multiply(self.one.constraint.free[:, None], multiplier)
            products.append(Pair(-pull, -rest, np.zeros(shape)))
        return total(products, shape)

    def _balance_of(self, changes: list[Floats | None]) -> tuple[Floats, Floats]:
        """Return B' changes, and the sum of its absolute terms."""
        balance, size = np.zeros((2, *self.linear.shape[:1], 1))
        for group, change in zip(self.groups, changes, strict=True):
            if change is not None:
                more, sizes = group.free.of_few(change)
                balance, size = balance + more, size + sizes
        return balance, size


def _changed(graph: Graph, u: Floats, change: Floats) -> Floats:
    """Return duals (points) with changes; how far they were moved doesn't matter for a bound."""
    points = graph.subgradient(Pair(u[HI], -change, u[ERROR]))
    points[OUTSIDE] = 0.0
    return points


def _sums(values: Floats, error: Floats) -> Floats:
    """Return sums of columns in the form of `Graph.values`."""
    sizes = np.abs(values).sum(axis=0), error.sum(axis=0), np.zeros(values.shape[1])
    return np.stack([*column_sums(values), *sizes])


def _is_zero(graph: Graph) -> NDArray[np.bool_]:
    """Tell in which problems all of a group's functions are zero, (B or 1,)."""
    pieces = graph.pieces
    arrays = (pieces.slopes, pieces.curvature, pieces.value[:, None])
    return reduce(np.logical_and, [(array == 0.0).all(axis=(0, 1)) for array in arrays])


def _all_stated(answer: Columns) -> list[Floats]:
    """Return the duals from which w follows."""
    return [a for a in answer.duals or [] if a is not None]


def _contribution_of_losses(
    graph: Graph,
    values: Values,
    duals: Duals,
    k: int,
    scales: Scales,
    coordinate_scales: CoordinateScales | None,
    exact: bool,
    all_knots_zero: bool,
) -> Contribution:
    """Return the contribution of the losses of group k; ``all_knots_zero`` holds for all groups."""
    knots = graph.pieces.knots
    data_error = DATA_ROUNDING * np.abs(knots).max(axis=1)
    if values.answer_error is not None and not knots.any():  # values round by their terms alone
        data_error = DATA_ROUNDING / UNIT / 2 * values.answer_error
    if all_knots_zero:  # where nothing has a size, units are arbitrary
        data_error = np.maximum(data_error, np.maximum(DATA_ROUNDING * scales.z[k], scales.lost))
    units, answer_error = (scales.z[k], scales.a[k]), values.answer_error if exact else None
    return graph.contribution(
        values.z,
        duals.bound[k],
        duals.given[k],
        units,
        None
        if coordinate_scales is None
        else (np.broadcast_to(units[0], coordinate_scales.a[k].shape), coordinate_scales.a[k]),
        data_error,
        None if answer_error is None else (answer_error, np.zeros_like(answer_error)),
    )
