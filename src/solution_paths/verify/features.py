"""What coefficients leave of the gap, under a ridge, penalties or an l1 constraint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..problem import penalties
from ..problem.bundle import Bundle, Stack
from ..validation import Floats
from .exact import UNIT, add, column_sums, multiply
from .graph import KNOWN, OFF, Graph, Pair, Share
from .products import Gram
from .scales import Own, Scales
from .verdict import GAP_LIMIT


@dataclass(frozen=True, eq=False)
class Regulariser:
    """What holds the coefficients.

    Attributes
    ----------
    graph : of penalty and ridge, and of the constraint with its multiplier; None for a ridge alone
    ridge : float
    multiplier : (B,) of the l1 constraint, or None
    slack : (B,) what the l1 constraint leaves; negative where it is violated
    radius : (B,) its right-hand side
    """

    graph: Graph | None
    ridge: float
    multiplier: Floats | None = None
    slack: Floats | None = None
    radius: Floats | None = None

    @classmethod
    def of(cls, problems: Bundle, c: Pair, w: Pair, answer: Any, beta: Pair) -> Regulariser:
        """Return what holds the coefficients of B solutions with correlations c (d, B)."""
        one, d = problems.one, len(w.hi)
        if one.pure_ridge:
            return cls(None, one.ridge)
        if one.constraint is None:
            own = problems.penalty or Stack.of([penalties.unpenalised(d)])
            return cls(Graph(own.plus_ridge(one.ridge)), one.ridge)
        widening: Any = one.constraint.free
        radius = problems.radius + widening @ answer.free
        size, rest = column_sums(np.abs(w.hi))
        slack = (radius - size) - rest
        mu = answer.multiplier
        if mu is None and widening.any():  # its balance says what it is
            mu = widening @ (beta.hi + beta.lo) / (widening @ widening)
        elif mu is None:
            mu = best_multiplier(np.abs(c.hi), one.ridge, radius)
        graph = _l1_graph(d, np.maximum(mu, 0.0), one.ridge)
        return cls(graph, one.ridge, np.asarray(mu, dtype=np.float64), slack, radius)


def _l1_graph(d: int, mu: Floats, ridge: float) -> Graph:
    """Return the graph of mu |w| + ridge/2 w^2."""
    flat = Stack.of([penalties.unpenalised(d)]).plus_ridge(ridge)
    level = np.broadcast_to(mu, (d, 1, len(mu)))
    parts = vars(flat) | {"slopes": np.concatenate([-level, level], axis=1)}
    return Graph(Stack._derived(*parts.values()))


def best_multiplier(c: Floats, ridge: float, radius: Floats) -> Floats:
    """Return the multiplier (B,) of ||w||_1 <= radius that bounds best, for |c| (d, B).

    It solves sum_j (|c_j| - mu)^+ = ridge radius, or is 0 where the constraint doesn't bind.
    """
    over = -np.sort(-c, axis=0)
    if ridge == 0.0:
        return over[0]
    level = (np.cumsum(over, axis=0) - ridge * radius) / np.arange(1, len(over) + 1)[:, None]
    return np.maximum(np.where(over >= level, level, -np.inf).max(axis=0), 0.0)


def of_coefficients(
    held: Regulariser,
    c: Pair,
    given: Pair,
    w: Pair,
    kernel: Gram | None,
    scales: Scales,
    own: Own | None,
    coarse: Floats | None,
) -> Share:
    """Return what coefficients w lack, beside correlations c = X'a of duals put in balance.

    ``given`` are those of the duals as they were: the violations are theirs. ``own`` are the
    units of each one, ``coarse`` is what rounding the answer may change in c, where these are
    asked for.
    """
    if held.graph is None:
        return _ridge_alone(held.ridge, c, given, w, kernel, scales, coarse)
    graph = held.graph
    inside, bound = graph.clipped(w), graph.subgradient(c)
    found = graph.share(
        inside,
        bound,
        bound if given is c else graph.subgradient(given),
        (scales.w, scales.c),
        None if own is None else (own.w, own.c),
        coarse=None if coarse is None else (inside[OFF], coarse),
    )
    if held.multiplier is None:
        return found
    return Share.total([found, _of_constraint(held, w, scales)])


def _of_constraint(held: Regulariser, w: Pair, scales: Scales) -> Share:
    """Return what the l1 constraint adds: multiplier times slack, and their signs."""
    assert held.multiplier is not None
    assert held.slack is not None
    assert held.radius is not None
    mu, slack = np.maximum(held.multiplier, 0.0), held.slack
    size = np.abs(w.hi).sum(axis=0)
    unit = np.maximum(held.radius, scales.w)
    over = np.maximum(-slack / unit, -held.multiplier / scales.c)
    over = np.maximum(over, 0.0)
    kkt = np.maximum(over, np.minimum(np.maximum(slack, 0.0) / unit, mu / scales.c))
    rounding = mu * 4 * UNIT * (np.abs(held.radius) + size)
    zero = np.zeros_like(mu)
    return Share(mu * np.abs(slack), rounding, kkt, zero, over, zero, zero, zero, kkt, zero)


def _ridge_alone(
    ridge: float,
    c: Pair,
    given: Pair,
    w: Pair,
    kernel: Gram | None,
    scales: Scales,
    coarse: Floats | None,
) -> Share:
    """Return ridge/2 times the squared distance of w from c / ridge, and that over w's length."""
    if kernel is not None:
        return _of_expansion(ridge, c, given, w, kernel, scales, coarse)
    (square, square_off), (far2, far2_off) = (_square(*_apart(x, w, ridge)) for x in (c, given))
    far, length = np.sqrt(far2), np.maximum(np.sqrt((w.hi**2).sum(axis=0)), scales.w)
    length = np.maximum(length, far)
    far_off = np.where(far > 0, far2_off / np.maximum(far, np.sqrt(far2_off)), np.sqrt(far2_off))
    resolution = kkt_resolution = zero = np.zeros_like(square)
    if coarse is not None:
        wide = ((coarse / ridge + UNIT * np.abs(w.hi)) ** 2).sum(axis=0)
        resolution, kkt_resolution = ridge / 2 * wide, np.sqrt(wide) / length
    own = far / length, far_off / length
    gaps = ridge / 2 * square, ridge / 2 * square_off
    floor = ridge / 2 * (KNOWN * scales.w) ** 2 / GAP_LIMIT
    return Share(*gaps, *own, zero, resolution, kkt_resolution, floor, *own)


def _of_expansion(
    ridge: float,
    c: Pair,
    given: Pair,
    w: Pair,
    kernel: Gram,
    scales: Scales,
    coarse: Floats | None,
) -> Share:
    """Return the same of the coefficients of an expansion, and how far off its values are.

    A violation is judged by the values: rounding of the matrix moves these by its own size, but
    lengths by the root of it. The matrix is known to the rounding of its entries.
    """
    e, off = _apart(c, w, ridge)
    other, other_off = (e, off) if given is c else _apart(given, w, ridge)
    unit, least = np.min(scales.z, axis=0), max(float(np.sqrt(kernel.X.diagonal().max())), 1e-300)
    zero = np.zeros_like(unit)
    floor = ridge / 2 * (KNOWN * unit / least) ** 2 / GAP_LIMIT
    if coarse is None:  # whether duals imply w but for rounding is told by sizes, without a product
        own, others = ((np.abs(x) + lost).sum(axis=0) for x, lost in ((e, off), (other, other_off)))
        largest = kernel.largest()
        far = largest * others / unit
        rest = zero, zero, zero, floor, zero, far
        return Share(zero, ridge / 2 * largest * own**2, zero, far, *rest)
    nothing, lost = np.zeros_like(e), coarse / ridge + UNIT * np.abs(w.hi)
    exact = not kernel.slices  # a difference is small, or rounded: else double precision will do
    Ke, sizes = kernel.times(Pair(e, nothing, nothing), exact)
    Koff, wide = np.hsplit(kernel.size @ np.concatenate([off, lost], axis=1), 2)
    square, square_off = _square_of_expansion(e, off, Ke, Koff)
    values = Pair(Ke.hi, Ke.lo, Ke.off + Koff)
    if given is not c:
        values, _ = kernel.times(Pair(other, nothing, other_off), exact)
    sizes = KNOWN * sizes
    resolution = ridge / 2 * (lost * wide + np.abs(e) * sizes).sum(axis=0)
    kkt_resolution = (wide + sizes).max(axis=0) / unit
    far, far_off = np.abs(values.hi).max(axis=0) / unit, values.off.max(axis=0) / unit
    gaps = ridge / 2 * np.maximum(square, 0.0), ridge / 2 * square_off
    return Share(*gaps, far, far_off, zero, resolution, kkt_resolution, floor, far, far_off)


def _apart(c: Pair, w: Pair, ridge: float) -> tuple[Floats, Floats]:
    """Return w - c / ridge, rounded once, and how far off it is."""
    own, rest = multiply(w.hi, ridge)
    e, lost = add(own, -c.hi)
    e = (e + (lost + rest + (ridge * w.lo - c.lo))) / ridge
    return e, c.off / ridge + w.off + 4 * UNIT * np.abs(e)


def _square(e: Floats, off: Floats) -> tuple[Floats, Floats]:
    """Return ||e||^2, and its error."""
    square = (e**2).sum(axis=0)
    return square, (off * (2 * np.abs(e) + off)).sum(axis=0) + (len(e) + 2) * UNIT * square


def _square_of_expansion(e: Floats, off: Floats, Ke: Pair, Koff: Floats) -> tuple[Floats, Floats]:
    """Return e'K e and its error: with e off by d that is 2 d'K e + d'K d, little where K e is."""
    value = np.abs(Ke.hi) + Ke.off
    error = (np.abs(e) * Ke.off + off * (2 * value + Koff)).sum(axis=0)
    terms, rest = multiply(e, Ke.hi)
    total, lost = column_sums(terms, rest + e * Ke.lo)
    error = error + (len(e) + 2) * UNIT**2 * np.abs(terms).sum(axis=0) + UNIT * np.abs(total)
    return total + lost, error
