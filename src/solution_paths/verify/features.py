"""The coefficients' contribution to a judgement, under a ridge, penalties or an l1 constraint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..problem import penalties
from ..problem.bundle import Bundle, Stack
from ..validation import Floats
from .exact import UNIT, add, column_sums, multiply
from .graph import DATA_ROUNDING, ERROR, Contribution, Graph, Pair
from .products import Gram
from .scales import CoordinateScales, Scales
from .verdict import GAP_LIMIT


@dataclass(frozen=True, eq=False)
class Regulariser:
    """The function g of the coefficients: penalty, ridge and l1 constraint.

    Attributes
    ----------
    graph : of penalty and ridge, and of the constraint with its multiplier; None for a ridge alone
    ridge : float
    multiplier : (B,) of the l1 constraint, or None
    slack : (B,) of the l1 constraint; negative where it is violated
    radius : (B,) right-hand side of the l1 constraint
    """

    graph: Graph | None
    ridge: float
    multiplier: Floats | None = None
    slack: Floats | None = None
    radius: Floats | None = None

    @classmethod
    def of(cls, problems: Bundle, c: Pair, w: Pair, answer: Any, beta: Pair) -> Regulariser:
        """Return the regulariser of B solutions with correlations c (d, B)."""
        one, d = problems.one, len(w.hi)
        if one.pure_ridge:
            return cls(None, one.ridge)
        if one.constraint is None:
            penalty = problems.penalty or Stack.of([penalties.unpenalised(d)])
            return cls(Graph(penalty.plus_ridge(one.ridge)), one.ridge)
        widening: Any = one.constraint.free
        radius = problems.radius + widening @ answer.free
        size, rest = column_sums(np.abs(w.hi))
        slack = (radius - size) - rest
        mu = answer.multiplier
        if mu is None and widening.any():  # the balance of the free variables implies it
            mu = widening @ (beta.hi + beta.lo) / (widening @ widening)
        elif mu is None:
            mu = best_multiplier(np.abs(c.hi), one.ridge, radius)
        graph = _l1_graph(d, np.maximum(mu, 0.0), one.ridge)
        return cls(graph, one.ridge, np.asarray(mu, dtype=np.float64), slack, radius)


def _l1_graph(d: int, mu: Floats, ridge: float) -> Graph:
    """Return the graph of mu |w| + ridge/2 w^2."""
    flat = Stack.of([penalties.unpenalised(d)]).plus_ridge(ridge)
    level = np.broadcast_to(mu, (d, 1, len(mu)))
    arrays = vars(flat) | {"slopes": np.concatenate([-level, level], axis=1)}
    return Graph(Stack._derived(*arrays.values()))


def best_multiplier(c: Floats, ridge: float, radius: Floats) -> Floats:
    """Return the multiplier (B,) of ||w||_1 <= radius with the best lower bound, for |c| (d, B).

    It solves sum_j (|c_j| - mu)^+ = ridge radius, or is 0 where the constraint doesn't bind.
    """
    over = -np.sort(-c, axis=0)
    if ridge == 0.0:
        return over[0]
    level = (np.cumsum(over, axis=0) - ridge * radius) / np.arange(1, len(over) + 1)[:, None]
    return np.maximum(np.where(over >= level, level, -np.inf).max(axis=0), 0.0)


def contribution_of_coefficients(
    regulariser: Regulariser,
    c: Pair,
    given: Pair,
    w: Pair,
    kernel: Gram | None,
    scales: Scales,
    coordinate_scales: CoordinateScales | None,
    answer_error: Floats | None,
) -> Contribution:
    """Return the contribution of coefficients w beside correlations c = X'a of balanced duals.

    ``given`` are the correlations of the duals as stated, from which violations are computed.
    ``answer_error`` is the error of c from rounding of the answer. It and ``coordinate_scales`` are
    None if not needed.
    """
    if regulariser.graph is None:
        return _contribution_of_ridge(regulariser.ridge, c, given, w, kernel, scales, answer_error)
    graph = regulariser.graph
    inside, bound = graph.clipped(w), graph.subgradient(c)
    contribution = graph.contribution(
        inside,
        bound,
        bound if given is c else graph.subgradient(given),
        (scales.w, scales.c),
        None if coordinate_scales is None else (coordinate_scales.w, coordinate_scales.c),
        answer_error=None if answer_error is None else (inside[ERROR], answer_error),
    )
    if regulariser.multiplier is None:
        return contribution
    return Contribution.total([contribution, _contribution_of_constraint(regulariser, w, scales)])


def _contribution_of_constraint(regulariser: Regulariser, w: Pair, scales: Scales) -> Contribution:
    """Return the contribution of the l1 constraint: multiplier times slack, and their signs."""
    assert regulariser.multiplier is not None
    assert regulariser.slack is not None
    assert regulariser.radius is not None
    mu, slack = np.maximum(regulariser.multiplier, 0.0), regulariser.slack
    size = np.abs(w.hi).sum(axis=0)
    unit = np.maximum(regulariser.radius, scales.w)
    over = np.maximum(-slack / unit, -regulariser.multiplier / scales.c)
    over = np.maximum(over, 0.0)
    kkt = np.maximum(over, np.minimum(np.maximum(slack, 0.0) / unit, mu / scales.c))
    rounding = mu * 4 * UNIT * (np.abs(regulariser.radius) + size)
    zero = np.zeros_like(mu)
    return Contribution(mu * np.abs(slack), rounding, kkt, zero, over, zero, zero, zero, kkt, zero)


def _contribution_of_ridge(
    ridge: float,
    c: Pair,
    given: Pair,
    w: Pair,
    kernel: Gram | None,
    scales: Scales,
    answer_error: Floats | None,
) -> Contribution:
    """Return the contribution ridge/2 ||w - c / ridge||^2, and the distance over w's length."""
    if kernel is not None:
        return _contribution_of_expansion(ridge, c, given, w, kernel, scales, answer_error)
    (square, square_error), (far2, far2_error) = (
        _square(*_difference(x, w, ridge)) for x in (c, given)
    )
    far, length = np.sqrt(far2), np.maximum(np.sqrt((w.hi**2).sum(axis=0)), scales.w)
    length = np.maximum(length, far)
    far_error = np.where(
        far > 0, far2_error / np.maximum(far, np.sqrt(far2_error)), np.sqrt(far2_error)
    )
    resolution = kkt_resolution = zero = np.zeros_like(square)
    if answer_error is not None:
        wide = ((answer_error / ridge + UNIT * np.abs(w.hi)) ** 2).sum(axis=0)
        resolution, kkt_resolution = ridge / 2 * wide, np.sqrt(wide) / length
    violation = far / length, far_error / length
    gaps = ridge / 2 * square, ridge / 2 * square_error
    floor = ridge / 2 * (DATA_ROUNDING * scales.w) ** 2 / GAP_LIMIT
    return Contribution(*gaps, *violation, zero, resolution, kkt_resolution, floor, *violation)


def _contribution_of_expansion(
    ridge: float,
    c: Pair,
    given: Pair,
    w: Pair,
    kernel: Gram,
    scales: Scales,
    answer_error: Floats | None,
) -> Contribution:
    """Return the same for the coefficients of a kernel expansion.

    The violation is the error of its values: rounding of the matrix moves values in proportion,
    but lengths by its square root. The matrix is known to the rounding of its entries.
    """
    e, error = _difference(c, w, ridge)
    other, other_error = (e, error) if given is c else _difference(given, w, ridge)
    unit, least = np.min(scales.z, axis=0), max(float(np.sqrt(kernel.X.diagonal().max())), 1e-300)
    zero = np.zeros_like(unit)
    floor = ridge / 2 * (DATA_ROUNDING * unit / least) ** 2 / GAP_LIMIT
    if answer_error is None:  # sums of sizes bound the error, without a product
        size, other_size = (
            (np.abs(x) + lost).sum(axis=0) for x, lost in ((e, error), (other, other_error))
        )
        largest = kernel.largest()
        far = largest * other_size / unit
        violations = zero, zero, zero, floor, zero, far
        return Contribution(zero, ridge / 2 * largest * size**2, zero, far, *violations)
    zeros, lost = np.zeros_like(e), answer_error / ridge + UNIT * np.abs(w.hi)
    exact = not kernel.slices  # a difference is small, or rounded: double precision is enough
    Ke, sizes = kernel.times(Pair(e, zeros, zeros), exact)
    K_error, wide = np.hsplit(kernel.size @ np.concatenate([error, lost], axis=1), 2)
    square, square_error = _square_of_expansion(e, error, Ke, K_error)
    values = Pair(Ke.hi, Ke.lo, Ke.error + K_error)
    if given is not c:
        values, _ = kernel.times(Pair(other, zeros, other_error), exact)
    sizes = DATA_ROUNDING * sizes
    resolution = ridge / 2 * (lost * wide + np.abs(e) * sizes).sum(axis=0)
    kkt_resolution = (wide + sizes).max(axis=0) / unit
    far, far_error = np.abs(values.hi).max(axis=0) / unit, values.error.max(axis=0) / unit
    gaps = ridge / 2 * np.maximum(square, 0.0), ridge / 2 * square_error
    return Contribution(
        *gaps, far, far_error, zero, resolution, kkt_resolution, floor, far, far_error
    )


def _difference(c: Pair, w: Pair, ridge: float) -> tuple[Floats, Floats]:
    """Return w - c / ridge, rounded once, and its error."""
    product, rest = multiply(w.hi, ridge)
    e, lost = add(product, -c.hi)
    e = (e + (lost + rest + (ridge * w.lo - c.lo))) / ridge
    return e, c.error / ridge + w.error + 4 * UNIT * np.abs(e)


def _square(e: Floats, error: Floats) -> tuple[Floats, Floats]:
    """Return ||e||^2, and its error."""
    square = (e**2).sum(axis=0)
    return square, (error * (2 * np.abs(e) + error)).sum(axis=0) + (len(e) + 2) * UNIT * square


def _square_of_expansion(
    e: Floats, error: Floats, Ke: Pair, K_error: Floats
) -> tuple[Floats, Floats]:
    """Return e'K e and its error: 2 d'K e + d'K d for an error d of e, small where K e is."""
    value = np.abs(Ke.hi) + Ke.error
    bound = (np.abs(e) * Ke.error + error * (2 * value + K_error)).sum(axis=0)
    terms, rest = multiply(e, Ke.hi)
    total, lost = column_sums(terms, rest + e * Ke.lo)
    bound = bound + (len(e) + 2) * UNIT**2 * np.abs(terms).sum(axis=0) + UNIT * np.abs(total)
    return total + lost, bound
