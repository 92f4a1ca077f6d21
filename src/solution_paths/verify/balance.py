"""Duals whose balance is off by rounding, put right; and what that costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import qr

from ..validation import Floats
from .graph import Graph, Pair

NEAREST = 1e-12  # of the values' unit: rows nearer to their graph than this are alike


def rebalanced(
    beta: Floats,
    columns: Sequence[Any],
    graphs: Sequence[Graph],
    z: Sequence[Pair],
    u: Sequence[Pair],
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
        B_g (n, r), its graph, its values and subgradients (n, B), and the values' unit (B,).

    Returns
    -------
    changes : list of (n, B) arrays
        Of the duals a.
    price : (r, B) array
        How much the gap may grow for a unit of imbalance; infinite where no row has room.
    """
    if not beta.size:
        return [np.zeros(part.hi.shape) for part in z], np.full(beta.shape, np.inf)
    B = np.vstack([part.toarray() if sp.issparse(part) else part for part in columns])
    largest = np.abs(B).max(axis=0)[:, None]
    room = (np.abs(beta) / np.where(largest > 0, largest, 1.0)).max(axis=0)
    costs = [  # of changing each dual either way
        graph.widths(own, given, room) / unit
        for graph, own, given, unit in zip(graphs, z, u, units, strict=True)
    ]  # of one group (2, n, B)
    sides = np.concatenate(costs, axis=1)
    scale = np.vstack([unit + np.zeros(part.hi.shape) for part, unit in zip(z, units, strict=True)])
    one_sided = np.where(np.isfinite(sides), sides, -np.inf).max(axis=0)
    one_sided = np.where(one_sided < 0, np.inf, one_sided)
    repair = _by_one if len(beta) == 1 else _by_several
    flat, price = repair(beta, B, sides.max(axis=0), one_sided, scale)
    return np.split(flat, np.cumsum([len(part.hi) for part in z])[:-1]), price


def _by_several(
    beta: Floats, B: Floats, far: Floats, one_sided: Floats, scale: Floats
) -> tuple[Floats, Floats]:
    """Return changes (n, B) and prices, by what a change costs: on one side, where none has two."""
    flat, price = np.zeros(scale.shape), np.full(beta.shape, np.inf)
    for k in range(beta.shape[1]):
        rows, inverse = _chosen(B, far[:, k] + NEAREST)
        if not len(rows):  # all duals at their bounds
            far[:, k] = one_sided[:, k]
            rows, inverse = _chosen(B, far[:, k] + NEAREST)
        if len(rows):
            flat[rows, k] = inverse @ beta[:, k]
            price[:, k] = np.abs(inverse).T @ (far[rows, k] * scale[rows, k])
    return flat, price


def _by_one(
    beta: Floats, B: Floats, far: Floats, one_sided: Floats, scale: Floats
) -> tuple[Floats, Floats]:
    """Return the same where there is one free variable: of all solutions at once."""
    flat, price = np.zeros(scale.shape), np.full(beta.shape, np.inf)
    size, left = np.abs(B), np.arange(beta.shape[1])
    for cost in (far, one_sided):
        near = np.where(np.isfinite(cost[:, left]), size / (cost[:, left] + NEAREST), 0.0)
        row = near.argmax(axis=0)
        found = near[row, np.arange(len(left))] > 0.0
        row, own, left = row[found], left[found], left[~found]
        flat[row, own] = 1.0 / B[row, 0] * beta[0, own]
        price[0, own] = np.abs(1.0 / B[row, 0]) * (cost[row, own] * scale[row, own])
    return flat, price


def _chosen(B: Floats, far: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Return r rows of B, the nearest that are independent, and the inverse of their transpose."""
    fit = np.flatnonzero(np.isfinite(far))
    r = B.shape[1]
    if len(fit) < r:
        return fit[:0], B[:0]
    _, R, order = qr((B[fit] / far[fit, None]).T, mode="economic", pivoting=True)
    if not np.abs(R[r - 1, r - 1]) > 0:
        return fit[:0], B[:0]
    rows = fit[order[:r]]
    try:
        return rows, np.linalg.inv(B[rows].T)
    except np.linalg.LinAlgError:
        return fit[:0], B[:0]
