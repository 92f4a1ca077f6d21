"""Duals whose balance is off by rounding, put right; and what that costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import qr

from ..validation import Floats
from .areas import NEAREST
from .exact import UNIT
from .graph import Graph


def rebalanced(
    beta: Floats,
    columns: Sequence[Any],
    graphs: Sequence[Graph],
    z: Sequence[Floats],
    u: Sequence[Floats],
    units: Sequence[Floats],
) -> tuple[list[Floats], Floats]:
    """Return changes of duals that take up an imbalance, and the price of one that remains.

    Of each free variable one row is changed: such rows as have room for it and are nearest to
    where it costs nothing, that is, whose values are at a knot between the duals that it allows.

    Parameters
    ----------
    beta : (r, B) array
        What the duals lack: linear less sum_g B_g'a_g.
    columns, graphs, z, u, units : one entry for each group
        B_g (n, r), its graph, points of its values and subgradients (4, n, B), and the values' unit
        (B,).

    Returns
    -------
    changes : list of (n, B) arrays
        Of the duals a.
    price : (r, B) array
        How much the gap may grow for a unit of imbalance; infinite where no row has room.
    """
    changes, price = [np.zeros(part.shape[1:]) for part in z], np.full(beta.shape, np.inf)
    if not beta.size:
        return changes, price
    B = [part.toarray() if sp.issparse(part) else part for part in columns]
    largest = np.max([np.abs(own).max(axis=0) for own in B], axis=0)[:, None]
    room = (np.abs(beta) / np.where(largest > 0, largest, 1.0)).max(axis=0)
    points = list(zip(graphs, z, u, units, strict=True))
    if len(beta) == 1:
        pairs = zip(points, B, strict=True)
        found = [g.cheapest(x, a, own[:, 0], room, unit) for (g, x, a, unit), own in pairs]
        _by_one(beta[0], B, np.array(found), changes, price[0])
        return changes, price
    # of changing each dual either way, (2, n, B)
    sides = np.concatenate([g.costs(x, a, room) / unit for g, x, a, unit in points], axis=1)
    scale = np.vstack([unit + np.zeros(x.shape[1:]) for _, x, _, unit in points])
    one_sided = np.where(np.isfinite(sides), sides, -np.inf).max(axis=0)
    one_sided = np.where(one_sided < 0, np.inf, one_sided)
    flat, price = _by_several(beta, np.vstack(B), sides.max(axis=0), one_sided, scale)
    return np.split(flat, np.cumsum([len(own) for own in B])[:-1]), price


def _by_one(
    beta: Floats, B: Sequence[Floats], found: Floats, changes: Sequence[Floats], price: Floats
) -> None:
    """Write changes and prices where there is one free variable.

    ``found`` (groups, 2, 3, B) are each group's rows, see `areas.cheapest`: those with room on both
    sides first.
    """
    each = np.arange(len(beta))
    kind = np.where(found[:, 0, 0].max(axis=0) > 0.0, 0, 1)
    near, row, cost = found[:, kind, :, each].transpose(2, 1, 0)  # (groups, B)
    best = near.argmax(axis=0)
    for k, own in enumerate(B):
        at = np.flatnonzero((best == k) & (near[k] > 0.0))
        rows = row[k, at].astype(np.int64)
        factor = 1.0 / own[rows, 0]
        changes[k][rows, at] = factor * beta[at]
        price[at] = np.abs(factor) * cost[k, at]


def _independent(B: Floats) -> NDArray[np.int64]:
    """Return columns of B on which all others depend: in balance with these duals are with all."""
    if not B.size:
        return np.empty(0, dtype=np.int64)
    largest = np.abs(B).max(axis=0)
    _, R, order = qr(B / np.where(largest > 0, largest, 1.0), mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    return np.sort(order[: len(size)][size > 2 * max(B.shape) * UNIT * size[0]])


def _by_several(
    beta: Floats, B: Floats, far: Floats, one_sided: Floats, scale: Floats
) -> tuple[Floats, Floats]:
    """Return changes (n, B) and prices, by what a change costs: on one side, where none has two."""
    flat, price = np.zeros(scale.shape), np.full(beta.shape, np.inf)
    for k in range(beta.shape[1]):
        rows, columns, inverse = _chosen(B, far[:, k] + NEAREST)
        if not len(rows):  # all duals at their bounds
            far[:, k] = one_sided[:, k]
            rows, columns, inverse = _chosen(B, far[:, k] + NEAREST)
        flat[rows, k] = inverse @ beta[columns, k]
        price[columns, k] = np.abs(inverse).T @ (far[rows, k] * scale[rows, k])
    return flat, price


def _chosen(B: Floats, far: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Return rows of B, the nearest that are independent, columns, and the inverse of their part.

    It is transposed. The columns are as many, and all others depend on them in rows that aren't
    infinitely far.
    """
    fit = np.flatnonzero(np.isfinite(far))
    columns = _independent(B[fit])
    if not len(columns):
        return fit[:0], columns, np.zeros((0, 0))
    own = B[np.ix_(fit, columns)]
    _, _, order = qr((own / far[fit, None]).T, mode="economic", pivoting=True)
    rows = order[: len(columns)]
    try:
        return fit[rows], columns, np.linalg.inv(own[rows].T)
    except np.linalg.LinAlgError:
        return fit[:0], columns[:0], np.zeros((0, 0))
