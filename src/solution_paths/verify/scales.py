"""The units of a problem: what violations of its optimality conditions are relative to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..validation import Floats
from .products import Matrix


class Scales(NamedTuple):
    """Units; each (B,) unless said otherwise.

    Attributes
    ----------
    z : of each group's values: half the range of its knots, or the largest one's size
    a : of each group's duals: the largest range of slopes
    w : of coefficients (of the length of w, with a ridge alone)
    c : of what duals add up to for a feature
    balance : (r,) of what they add up to for a free variable
    """

    z: list[Floats]
    a: list[Floats]
    w: Floats
    c: Floats
    balance: Floats


def scales_of(
    groups: Sequence[Any], w: Floats, values: Sequence[Floats], kernel: Matrix | None
) -> Scales:
    """Return the units of a problem's groups, for coefficients (d, B) and values (n, B)."""
    reach = [group.X.largest_row() for group in groups]
    own = [_spread(group.graph.knots) + np.zeros(w.shape[1]) for group in groups]
    # coefficients that move some group's values by their unit
    known = [np.where(z > 0, z / x, np.inf) for z, x in zip(own, reach, strict=True) if x > 0]
    least = np.min(known, axis=0, initial=np.inf)
    least = np.where(np.isfinite(least), least, 0.0)
    length = np.abs(w).max(axis=0, initial=0.0) if kernel is None else np.zeros(w.shape[1])
    length = _positive(np.maximum(length, least))
    z = [
        np.where(
            unit > 0, unit, _positive(np.maximum(np.abs(v).max(axis=0, initial=0.0), x * length))
        )
        for unit, x, v in zip(own, reach, values, strict=True)
    ]
    ranges = [_range(group.graph, unit) for group, unit in zip(groups, z, strict=True)]
    top = _positive(np.max(ranges, axis=0))
    a = [np.where(own > 0, own, top) for own in ranges]
    pulls = [_largest_pull(group.X, unit) for group, unit in zip(groups, a, strict=True)]
    columns = [np.abs(group.free.X).max(axis=0) for group in groups]
    columns = [np.ravel(c.toarray() if hasattr(c, "toarray") else c) for c in columns]
    balance = np.max(
        [column * float(unit.max()) for column, unit in zip(columns, a, strict=True)], axis=0
    )
    return Scales(z, a, length, _positive(np.sum(pulls, axis=0)), _positive(balance))


def _positive(values: Floats) -> Floats:
    return np.where(values > 0, values, 1.0)


def _spread(knots: Floats) -> Floats:
    """Return half the range of a group's knots, or the size of the largest; zero if all are 0."""
    flat = knots.reshape(-1, knots.shape[-1])
    spread = np.ptp(flat, axis=0) / 2
    return np.where(spread > 0, spread, np.abs(flat).max(axis=0))


def _range(graph: Any, unit: Floats) -> Floats:
    """Return the largest range of slopes of a group, with what curvature adds over a unit."""
    bends = np.maximum(graph.curvature[:, 0], graph.curvature[:, -1])
    return (graph.right[:, -1] - graph.left[:, 0] + bends * unit).max(axis=0) + np.zeros(len(unit))


def _largest_pull(X: Matrix, unit: Floats) -> Floats:
    """Return how much duals of unit size may add up to for a feature."""
    return np.max(X.size.T @ np.ones(X.shape[0]), initial=0.0) * unit
