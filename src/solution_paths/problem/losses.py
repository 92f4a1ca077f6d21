"""Losses as pieces, each a few lines: of decisions and labels, or of predictions and targets.

All are functions of f, the value of the decision or prediction; labels y are -1 and +1. Any
argument but the first is a number, or one for each sample.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..validation import Floats
from .pieces import Entry, Pieces, pieces


def _numbers(values: Entry) -> Floats:
    return np.asarray(values, dtype=np.float64)


def _rows(y: ArrayLike) -> Floats:
    rows = _numbers(y)
    if rows.ndim != 1 or not len(rows):
        raise ValueError(f"y must hold a number for each sample, not be of shape {rows.shape}.")
    return rows


def of_margin(y: ArrayLike, loss: Pieces) -> Pieces:
    """Return loss(y f), a loss of margins as one of decisions f, for labels y of -1 and +1."""
    y = _rows(y)
    if not (np.abs(y) == 1.0).all():
        raise ValueError("y must hold labels -1 and +1: recode them.")
    return loss.mirrored(y < 0)


def shortfall(target: ArrayLike, cost: Entry = 1.0) -> Pieces:
    """Return cost max(0, target - f)."""
    return pieces([_rows(target)], [-_numbers(cost), 0.0])


def excess(target: ArrayLike, cost: Entry = 1.0) -> Pieces:
    """Return cost max(0, f - target)."""
    return pieces([_rows(target)], [0.0, cost])


# -- classification ---------------------------------------------------------------------------


def hinge(y: ArrayLike, cost: Entry = 1.0) -> Pieces:
    """Return cost max(0, 1 - y f)."""
    return of_margin(y, shortfall(np.ones(len(_rows(y))), cost))


def squared_hinge(y: ArrayLike, cost: Entry = 1.0) -> Pieces:
    """Return cost max(0, 1 - y f)^2."""
    twice = 2.0 * _numbers(cost)
    return of_margin(y, pieces([1.0], [0.0, 0.0], [twice, 0.0], n=len(_rows(y))))


def huberised_hinge(y: ArrayLike, delta: float = 2.0, cost: Entry = 1.0) -> Pieces:
    """Return cost h(1 - y f): h(u) = 0, u^2 / (2 delta) from 0 to delta, then u - delta / 2."""
    cost = _numbers(cost)
    slopes: list[Entry] = [-cost, -cost, 0.0]
    curvature: list[Entry] = [0.0, cost / delta, 0.0]
    loss = pieces([1.0 - delta, 1.0], slopes, curvature, n=len(_rows(y)), value=cost * delta / 2)
    return of_margin(y, loss)


def pinball_hinge(y: ArrayLike, tau: Entry, cost: Entry = 1.0) -> Pieces:
    """Return cost max(1 - y f, -tau (1 - y f)), tau >= -1: the pinball SVM's loss."""
    cost = _numbers(cost)
    return of_margin(y, pieces([1.0], [-cost, _numbers(tau) * cost], n=len(_rows(y))))


def double_margin(y: ArrayLike, kappa: float, cost: Entry = 1.0) -> Pieces:
    """Return cost max(0, 1 - y f, y f - (kappa - 1)); without the 0 where kappa < 2."""
    cost, n = _numbers(cost), len(_rows(y))
    if kappa >= 2.0:
        loss = pieces([1.0, kappa - 1.0], [-cost, 0.0, cost], n=n)
    else:
        loss = pieces([kappa / 2], [-cost, cost], n=n, value=cost * (1.0 - kappa / 2))
    return of_margin(y, loss)


# -- regression -------------------------------------------------------------------------------


def absolute(y: ArrayLike, cost: Entry = 1.0) -> Pieces:
    """Return cost |y - f|."""
    return pinball(y, 0.5, 2.0 * _numbers(cost))


def pinball(y: ArrayLike, tau: Entry, cost: Entry = 1.0) -> Pieces:
    """Return cost max(tau (y - f), (tau - 1)(y - f)), the check loss of quantile tau."""
    tau, cost = _numbers(tau), _numbers(cost)
    return pieces([_rows(y)], [-tau * cost, (1.0 - tau) * cost])


def epsilon_insensitive(y: ArrayLike, epsilon: Entry, cost: Entry = 1.0) -> Pieces:
    """Return cost max(0, |y - f| - epsilon), epsilon >= 0."""
    y, cost = _rows(y), _numbers(cost)
    epsilon = _numbers(epsilon)
    return pieces([y - epsilon, y + epsilon], [-cost, 0.0, cost])


def squared(y: ArrayLike, cost: Entry = 1.0) -> Pieces:
    """cost/2 (y - f)^2."""
    return pieces([_rows(y)], [0.0, 0.0], [cost, cost])


def huber(y: ArrayLike, delta: Entry, cost: Entry = 1.0) -> Pieces:
    """Return cost times (y - f)^2 for |y - f| <= delta, 2 delta |y - f| - delta^2 beyond."""
    y, cost, delta = _rows(y), _numbers(cost), _numbers(delta)
    steep = 2.0 * cost * delta
    return pieces(
        [y - delta, y + delta],
        [-steep, -steep, steep],
        [0.0, 2.0 * cost, 0.0],
        value=cost * delta**2,
    )


def piecewise_linear(
    y: ArrayLike, knots: ArrayLike, slopes: ArrayLike, cost: Entry = 1.0
) -> Pieces:
    """Return cost loss(y - f), for a loss with given knots and slopes, the same for all samples.

    The loss is 0 at its first knot, or where it is least if that is at a knot.
    """
    y, cost = _rows(y), _numbers(cost)
    knots, slopes = _numbers(knots), _numbers(slopes)
    rise = np.r_[0.0, np.cumsum(slopes[1:-1] * np.diff(knots))]
    flat = (slopes[0] <= 0) & (slopes[-1] >= 0)
    loss = pieces(
        list(knots), [cost * s for s in slopes], n=len(y), value=-rise.min() * cost * flat
    )
    mirrored = loss.mirrored()
    return Pieces(y[:, None] + mirrored.knots, *list(vars(mirrored).values())[1:])
