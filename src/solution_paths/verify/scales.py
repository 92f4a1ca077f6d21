"""The units of a problem, to which violations of its optimality conditions are relative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..problem import Product, Repeated
from ..validation import Floats
from .graph import DATA_ROUNDING, Graph
from .products import Matrix
from .verdict import KKT_LIMIT


class Scales(NamedTuple):
    """Units; each (B,) unless said otherwise.

    Attributes
    ----------
    z : of each group's values: half the range of its knots; where these are equal, their size
    a : of each group's duals: the largest range of slopes
    w : of coefficients (of the length of w, with a ridge alone)
    c : of the correlations X'a
    balance : (r, B) of the sums B'a, one for each free variable
    lost : rounding error of values where all knots are zero and slopes cancel; else 0
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
    spreads, knot_scale = _spreads([group.graph.pieces.knots for group in groups], w.shape[1])
    column_sums = [_largest(group.X.size.T @ np.ones(group.X.shape[0])) for group in groups]
    lost = np.zeros_like(knot_scale)
    if not knot_scale.all():
        steepest, curved = _steepest([group.graph for group in groups], column_sums, w.shape[1])
        knot_scale = _replace_zeros(knot_scale, curved)
        if ridge > 0:  # slopes may cancel, so that values are rounding errors
            largest = max(reach) * (max(reach) if kernel is None else kernel.largest_row())
            lost = np.where(knot_scale > 0, 0.0, DATA_ROUNDING * largest / ridge * steepest)
    # coefficients that move some value by the unit
    length = (
        (knot_scale + lost / KKT_LIMIT) / max(*reach, 0.0) if any(reach) else np.zeros(w.shape[1])
    )
    length = np.maximum(length, np.abs(w).max(axis=0, initial=0.0) if kernel is None else 0.0)
    length = _replace_zeros(length, 1.0)
    # where knots are equal or zero: values that coefficients of this size reach
    reached = [np.maximum(v, x * length) for x, v in zip(reach, values, strict=True)]
    default = _replace_zeros(_replace_zeros(knot_scale, np.max(reached, axis=0)), 1.0)
    z = [
        np.maximum(spread, np.minimum(v, default)) if x > 0 else default
        for spread, v, x in zip(spreads, reached, reach, strict=True)
    ]
    ranges = [_range(group.graph, unit) for group, unit in zip(groups, z, strict=True)]
    slope_scale = _replace_zeros(np.max(ranges, axis=0), 1.0)
    a = [_replace_zeros(slope_range, slope_scale) for slope_range in ranges]
    c = np.sum([pull * unit for pull, unit in zip(column_sums, a, strict=True)], axis=0)
    columns = [_largest(np.abs(group.free.X), axis=0) for group in groups]
    balances = [column[:, None] * unit for column, unit in zip(columns, a, strict=True)]
    return Scales(
        z, a, length, _replace_zeros(c, 1.0), _replace_zeros(np.max(balances, axis=0), 1.0), lost
    )


class CoordinateScales(NamedTuple):
    """The units of each coordinate by itself.

    Attributes
    ----------
    a : of each group's duals (n, B): the row's range of slopes
    w : (d, B) of coefficients: the change that moves some value by the unit of values
    c : (d, B) of correlations: the sum of their terms' possible sizes
    """

    a: list[Floats]
    w: Floats
    c: Floats


def coordinate_scales_of(groups: Sequence[Any], scales: Scales) -> CoordinateScales:
    """Return the units of each loss and of each coefficient by itself."""
    shape = (groups[0].X.shape[1], len(scales.w))
    a, w, c = [], np.full(shape, np.inf), np.zeros(shape)
    for group, z, largest in zip(groups, scales.z, scales.a, strict=True):
        ranges = _ranges(group.graph, z) + np.zeros((group.X.shape[0], len(z)))
        a.append(_replace_zeros(ranges, largest))
        c = c + np.asarray(group.X.size.T @ a[-1])
        if not isinstance(group.X.size, Product | Repeated):  # these don't hold their entries
            with np.errstate(divide="ignore"):
                w = np.minimum(w, z / _largest(group.X.size, axis=0)[:, None])
    w = np.where(np.isfinite(w), w, scales.w)
    return CoordinateScales(a, w, np.minimum(_replace_zeros(c, scales.c), scales.c))


def _replace_zeros(values: Floats, other: Floats | float) -> Floats:
    """Return values, with ``other`` in the place of zeros."""
    return np.where(values > 0, values, other)


def _spreads(knots: Sequence[Floats], count: int) -> tuple[list[Floats], Floats]:
    """Return half the range of each group's knots, and the largest of these, (B,).

    If all knots of a problem are equal, the latter is their size instead.
    """
    flat = [group.reshape(-1, group.shape[-1]) for group in knots]
    size = np.max([np.abs(group).max(axis=0) + np.zeros(count) for group in flat], axis=0)
    spreads = [np.ptp(group, axis=0) / 2 + np.zeros(count) for group in flat]
    most = np.max(spreads, axis=0)
    return spreads, np.where(most > KKT_LIMIT * size, most, size)


def _steepest(graphs: Sequence[Graph], pulls: Sequence[float], count: int) -> tuple[Floats, Floats]:
    """Return the largest correlation that slopes allow, and by how much it moves curved losses."""
    pairs, each = list(zip(graphs, pulls, strict=True)), np.zeros(count)
    steep = np.max([pull * _range(graph, each) for graph, pull in pairs], axis=0)
    stiff = [
        pull * graph.pieces.curvature.max(axis=(0, 1), initial=0.0) + each for graph, pull in pairs
    ]
    stiff = [np.where(curvature > 0, curvature, np.inf) for curvature in stiff]
    return steep, np.max([steep / curvature for curvature in stiff], axis=0)


def _largest(values: Any, axis: int | None = None) -> Any:
    """Return the largest entries of an array or a sparse matrix, 0 if it is empty."""
    if sp.issparse(values):
        largest = values.max(axis=axis)
        return largest.toarray().ravel() if sp.issparse(largest) else largest
    return np.max(values, axis=axis, initial=0.0)


def _range(graph: Any, unit: Floats) -> Floats:
    """Return the largest range of slopes of a group, over a unit where there is curvature."""
    return _ranges(graph, unit).max(axis=0) + np.zeros(len(unit))


def _ranges(graph: Any, unit: Floats) -> Floats:
    """Return the range of slopes of each function, over a unit where there is curvature."""
    pieces = graph.pieces
    curvature = np.maximum(pieces.curvature[:, 0], pieces.curvature[:, -1])
    return np.asarray(
        pieces.slopes[:, -1]
        - np.minimum(pieces.slopes[:, 0], pieces.slopes[:, 1])
        + curvature * unit
    )
