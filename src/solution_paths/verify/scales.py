"""The units of a problem: what violations of its optimality conditions are relative to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..problem import Product, Repeated
from ..validation import Floats
from .graph import KNOWN, Graph
from .products import Matrix
from .verdict import KKT_LIMIT


class Scales(NamedTuple):
    """Units; each (B,) unless said otherwise.

    Attributes
    ----------
    z : of each group's values: half the range of its knots; where these are alike, their size
    a : of each group's duals: the largest range of slopes
    w : of coefficients (of the length of w, with a ridge alone)
    c : of what duals add up to for a feature
    balance : (r, B) of what they add up to for a free variable
    lost : what rounding makes of values where all knots are zero and slopes cancel; else 0
    """

    z: list[Floats]
    a: list[Floats]
    w: Floats
    c: Floats
    balance: Floats
    lost: Floats


def scales_of(
    groups: Sequence[Any],
    ridge: float,
    w: Floats,
    values: Sequence[Floats],
    kernel: Matrix | None,
) -> Scales:
    """Return the units of a problem's groups, for coefficients (d, B) and largest values (B,)."""
    reach = [group.X.largest_row() for group in groups]
    spreads, top = _spreads([group.graph.pieces.knots for group in groups], w.shape[1])
    pulls = [_largest(group.X.size.T @ np.ones(group.X.shape[0])) for group in groups]
    lost = np.zeros_like(top)
    if not top.all():
        steep, bent = _steepest([group.graph for group in groups], pulls, w.shape[1])
        top = _or_else(top, bent)
        if ridge > 0:  # which may leave nothing of slopes that cancel, but for rounding
            largest = max(reach) * (max(reach) if kernel is None else kernel.largest_row())
            lost = np.where(top > 0, 0.0, KNOWN * largest / ridge * steep)
    # coefficients that move some value by the unit
    length = (top + lost / KKT_LIMIT) / max(*reach, 0.0) if any(reach) else np.zeros(w.shape[1])
    length = np.maximum(length, np.abs(w).max(axis=0, initial=0.0) if kernel is None else 0.0)
    length = _or_else(length, 1.0)
    # where knots are alike or zero: what coefficients make of the values
    found = [np.maximum(v, x * length) for x, v in zip(reach, values, strict=True)]
    most = _or_else(_or_else(top, np.max(found, axis=0)), 1.0)
    z = [
        np.maximum(own, np.minimum(v, most)) if x > 0 else most
        for own, v, x in zip(spreads, found, reach, strict=True)
    ]
    ranges = [_range(group.graph, unit) for group, unit in zip(groups, z, strict=True)]
    top = _or_else(np.max(ranges, axis=0), 1.0)
    a = [_or_else(own, top) for own in ranges]
    c = np.sum([pull * unit for pull, unit in zip(pulls, a, strict=True)], axis=0)
    columns = [_largest(np.abs(group.free.X), axis=0) for group in groups]
    shares = [column[:, None] * unit for column, unit in zip(columns, a, strict=True)]
    return Scales(z, a, length, _or_else(c, 1.0), _or_else(np.max(shares, axis=0), 1.0), lost)


class Own(NamedTuple):
    """The units of each coordinate by itself.

    Attributes
    ----------
    a : of each group's duals (n, B): the row's own range of slopes
    w : (d, B) of coefficients: what moves some value by the unit of values
    c : (d, B) of correlations: the sizes that their terms may have
    """

    a: list[Floats]
    w: Floats
    c: Floats


def own_of(groups: Sequence[Any], scales: Scales) -> Own:
    """Return the units of each loss and of each coefficient by itself."""
    shape = (groups[0].X.shape[1], len(scales.w))
    a, w, c = [], np.full(shape, np.inf), np.zeros(shape)
    for group, z, largest in zip(groups, scales.z, scales.a, strict=True):
        own = _ranges(group.graph, z) + np.zeros((group.X.shape[0], len(z)))
        a.append(_or_else(own, largest))
        c = c + np.asarray(group.X.size.T @ a[-1])
        if not isinstance(group.X.size, Product | Repeated):  # whose entries aren't at hand
            with np.errstate(divide="ignore"):
                w = np.minimum(w, z / _largest(group.X.size, axis=0)[:, None])
    w = np.where(np.isfinite(w), w, scales.w)
    return Own(a, w, np.minimum(_or_else(c, scales.c), scales.c))


def _or_else(values: Floats, other: Floats | float) -> Floats:
    """Return values, others where they are zero."""
    return np.where(values > 0, values, other)


def _spreads(knots: Sequence[Floats], count: int) -> tuple[list[Floats], Floats]:
    """Return half the range of each group's knots, and the largest, (B,).

    If all of a problem's knots are alike, the largest is their size instead.
    """
    flat = [own.reshape(-1, own.shape[-1]) for own in knots]
    size = np.max([np.abs(own).max(axis=0) + np.zeros(count) for own in flat], axis=0)
    spreads = [np.ptp(own, axis=0) / 2 + np.zeros(count) for own in flat]
    most = np.max(spreads, axis=0)
    return spreads, np.where(most > KKT_LIMIT * size, most, size)


def _steepest(graphs: Sequence[Graph], pulls: Sequence[float], count: int) -> tuple[Floats, Floats]:
    """Return what slopes may add up to for a feature, and by how much that moves curved losses."""
    pairs, each = list(zip(graphs, pulls, strict=True)), np.zeros(count)
    steep = np.max([pull * _range(own, each) for own, pull in pairs], axis=0)
    stiff = [
        pull * own.pieces.curvature.max(axis=(0, 1), initial=0.0) + each for own, pull in pairs
    ]
    stiff = [np.where(own > 0, own, np.inf) for own in stiff]
    return steep, np.max([steep / own for own in stiff], axis=0)


def _largest(values: Any, axis: int | None = None) -> Any:
    """Return the largest entries of an array or a sparse matrix, of which there may be none."""
    if sp.issparse(values):
        found = values.max(axis=axis)
        return found.toarray().ravel() if sp.issparse(found) else found
    return np.max(values, axis=axis, initial=0.0)


def _range(graph: Any, unit: Floats) -> Floats:
    """Return the largest range of slopes of a group, with what curvature adds over a unit."""
    return _ranges(graph, unit).max(axis=0) + np.zeros(len(unit))


def _ranges(graph: Any, unit: Floats) -> Floats:
    """Return the range of slopes of each function, with what curvature adds over a unit."""
    own = graph.pieces
    bends = np.maximum(own.curvature[:, 0], own.curvature[:, -1])
    return np.asarray(
        own.slopes[:, -1] - np.minimum(own.slopes[:, 0], own.slopes[:, 1]) + bends * unit
    )
