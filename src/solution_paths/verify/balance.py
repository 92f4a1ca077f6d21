"""Corrections of duals whose balance is off by rounding, and their cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy  # imports scipy.linalg, which is slow, at its first use
import scipy.sparse as sp
from numpy.typing import NDArray

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
    """Return changes of duals that remove an imbalance, and the price of an imbalance that remains.

    One row is changed for each free variable. It must have room for the change, and be nearest to
    a point where the change costs nothing: a value at a knot, the dual inside of its interval.

    Parameters
    ----------
    beta : (r, B) array
        Residual of the balance: linear - sum_g B_g'a_g.
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
    largest = np.max([np.abs(matrix).max(axis=0) for matrix in B], axis=0)[:, None]
    room = (np.abs(beta) / np.where(largest > 0, largest, 1.0)).max(axis=0)
    points = list(zip(graphs, z, u, units, strict=True))
    if len(beta) == 1:
        pairs = zip(points, B, strict=True)
        cheapest = [g.cheapest(x, a, matrix[:, 0], room, unit) for (g, x, a, unit), matrix in pairs]
        _by_one(beta[0], B, np.array(cheapest), changes, price[0])
        return changes, price
    # of changing each dual either way, (2, n, B)
    sides = np.concatenate([g.costs(x, a, room) / unit for g, x, a, unit in points], axis=1)
    scale = np.vstack([unit + np.zeros(x.shape[1:]) for _, x, _, unit in points])
    one_sided = np.where(np.isfinite(sides), sides, -np.inf).max(axis=0)
    one_sided = np.where(one_sided < 0, np.inf, one_sided)
    flat, price = _by_several(beta, np.vstack(B), sides.max(axis=0), one_sided, scale)
    return np.split(flat, np.cumsum([len(matrix) for matrix in B])[:-1]), price


def _by_one(
    beta: Floats, B: Sequence[Floats], cheapest: Floats, changes: Sequence[Floats], price: Floats
) -> None:
    """Write changes and prices for one free variable.

    ``cheapest`` (groups, 2, 3, B) are the best rows of each group, see `areas.cheapest`: rows with
    room on both sides come first.
    """
    each = np.arange(len(beta))
    kind = np.where(cheapest[:, 0, 0].max(axis=0) > 0.0, 0, 1)
    near, row, cost = cheapest[:, kind, :, each].transpose(2, 1, 0)  # (groups, B)
    best = near.argmax(axis=0)
    for k, matrix in enumerate(B):
        at = np.flatnonzero((best == k) & (near[k] > 0.0))
        rows = row[k, at].astype(np.int64)
        factor = 1.0 / matrix[rows, 0]
        changes[k][rows, at] = factor * beta[at]
        price[at] = np.abs(factor) * cost[k, at]


def _independent(B: Floats) -> NDArray[np.int64]:
    """Return indices of a basis of B's columns: duals in balance with these are with all."""
    if not B.size:
        return np.empty(0, dtype=np.int64)
    largest = np.abs(B).max(axis=0)
    _, R, order = scipy.linalg.qr(
        B / np.where(largest > 0, largest, 1.0), mode="economic", pivoting=True
    )
    size = np.abs(np.diag(R))
    return np.sort(order[: len(size)][size > 2 * max(B.shape) * UNIT * size[0]])


def _by_several(
    beta: Floats, B: Floats, distance: Floats, one_sided: Floats, scale: Floats
) -> tuple[Floats, Floats]:
    """Return changes (n, B) and prices by distances, one-sided where no row has room both ways."""
    changes, price = np.zeros(scale.shape), np.full(beta.shape, np.inf)
    for k in range(beta.shape[1]):
        rows, columns, inverse = _chosen(B, distance[:, k] + NEAREST)
        if not len(rows):  # all duals at their bounds
            distance[:, k] = one_sided[:, k]
            rows, columns, inverse = _chosen(B, distance[:, k] + NEAREST)
        changes[rows, k] = inverse @ beta[columns, k]
        price[columns, k] = np.abs(inverse).T @ (distance[rows, k] * scale[rows, k])
    return changes, price


def _chosen(B: Floats, far: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Return the nearest independent rows of B, as many columns, and their block's inverse.

    The inverse is transposed. All columns depend on these in the rows at a finite distance.
    """
    finite = np.flatnonzero(np.isfinite(far))
    columns = _independent(B[finite])
    if not len(columns):
        return finite[:0], columns, np.zeros((0, 0))
    block = B[np.ix_(finite, columns)]
    _, _, order = scipy.linalg.qr((block / far[finite, None]).T, mode="economic", pivoting=True)
    rows = order[: len(columns)]
    try:
        return finite[rows], columns, np.linalg.inv(block[rows].T)
    except np.linalg.LinAlgError:
        return finite[:0], columns[:0], np.zeros((0, 0))
