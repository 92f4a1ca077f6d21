"""Penalties and constraints as pieces, each a line or two.

They serve as the penalty of features, or as losses: with rows of differences as their map
`at_least` is an order, and `l1` a fused lasso.
"""

from __future__ import annotations

import numpy as np

from .pieces import Entry, Pieces, pieces


def l1(n: int, weight: Entry) -> Pieces:
    """Return weight |w|, weight >= 0."""
    weight = np.asarray(weight, dtype=np.float64)
    return pieces([0.0], [-weight, weight], n=n)


def elastic_net(n: int, lam1: Entry, lam2: Entry) -> Pieces:
    """Return lam1 |w| + lam2/2 w^2."""
    lam1 = np.asarray(lam1, dtype=np.float64)
    return pieces([0.0], [-lam1, lam1], [lam2, lam2], n=n)


def bounded_l1(n: int, weight: Entry, low: Entry, high: Entry) -> Pieces:
    """Return weight |w| for low <= w <= high; either may be infinite."""
    weight = np.broadcast_to(np.asarray(weight, dtype=np.float64), n)
    low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), n) for end in (low, high))
    bend = np.clip(0.0, low, high)
    first, last = (np.where(np.isfinite(end), end, bend) for end in (low, high))
    knots = np.stack([first, bend, last])
    slopes = np.stack([-weight, -weight, weight, weight])
    joined = first == bend  # no piece below: drop the first of two knots that coincide
    knots[:, joined] = knots[[1, 2, 2]][:, joined]
    slopes[1, joined] = weight[joined]
    m = 3 if (knots[1] != knots[2]).any() else 2 if (knots[0] != knots[1]).any() else 1
    value = weight * np.abs(knots[0])
    return pieces(list(knots[:m]), list(slopes[: m + 1]), n=n, value=value, low=low, high=high)


def asymmetric_l1(n: int, below: Entry, above: Entry) -> Pieces:
    """Return below |w| for w < 0, above |w| for w > 0."""
    return pieces([0.0], [-np.asarray(below, dtype=np.float64), above], n=n)


def unpenalised(n: int) -> Pieces:
    """Return 0: the coefficient is unpenalised."""
    return pieces([0.0], [0.0, 0.0], n=n)


def at_least(n: int, bound: Entry = 0.0) -> Pieces:
    """Return the constraint w >= bound; on differences of thresholds it is their order."""
    return pieces([bound], [0.0, 0.0], n=n, low=bound)


def at_most(n: int, bound: Entry = 0.0) -> Pieces:
    """Return the constraint w <= bound."""
    return pieces([bound], [0.0, 0.0], n=n, high=bound)


def between(n: int, low: Entry, high: Entry) -> Pieces:
    """Return the constraint low <= w <= high."""
    return pieces([low, high], [0.0, 0.0, 0.0], n=n, low=low, high=high)


def equal_to(n: int, bound: Entry) -> Pieces:
    """Return the constraint w = bound."""
    return pieces([bound], [0.0, 0.0], n=n, low=bound, high=bound)
