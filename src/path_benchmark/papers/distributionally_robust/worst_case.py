"""Theorem 5.1 from both sides: the worst expected hinge loss over a Wasserstein ball.

At a hypothesis h of length ||h|| only the margins m_i = y_i h(x_i) count: moving a sample by c
lowers its margin by at most c ||h||, and changing its label, at the cost kappa, turns it to -m_i.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

Floats = np.ndarray
# No sample is moved further than this many times the radius for each of n samples.
FARTHEST = 1e3


def hinge(margin: Floats) -> Floats:
    """Return max(0, 1 - margin)."""
    return np.maximum(0.0, 1.0 - margin)


def bound(margins: Floats, length: float, radius: float, kappa: float) -> float:
    """Return the least value of problem (5.3) at a hypothesis: over rho >= ||h||, exactly."""
    return _least(margins, length, radius, kappa)[0]


def least_rho(margins: Floats, length: float, radius: float, kappa: float) -> float:
    """Return the rho >= ||h|| at which problem (5.3) has its least value."""
    return _least(margins, length, radius, kappa)[1]


def _least(margins: Floats, length: float, radius: float, kappa: float) -> tuple[float, float]:
    """Return the least value and its rho.

    It is convex and piecewise linear in rho, so that one of its kinks, or ||h||, is a minimiser.
    """
    kinks = (1.0 + margins - hinge(margins)) / kappa
    rho = np.append(kinks[kinks > length], length)
    losses = np.maximum(hinge(margins), 1.0 + margins - kappa * rho[:, None])
    values = radius * rho + losses.mean(axis=1)
    k = int(np.argmin(values))
    return float(values[k]), float(rho[k])


def worst_distribution(
    margins: Floats, length: float, radius: float, kappa: float
) -> tuple[float, float]:
    """Return the expected loss, and the distance from the samples, of a worst distribution.

    A linear programme shares out each sample's mass (left alone, moved, moved with its label
    changed) and the cost of moving; loss and distance are then those of the atoms themselves.
    """
    from scipy.optimize import linprog

    n = len(margins)
    one, none = sp.eye_array(n), sp.csr_array((n, n))
    gain = np.concatenate([np.zeros(n), 1.0 - margins, 1.0 + margins, np.full(2 * n, length)])
    cost = np.concatenate([np.zeros(2 * n), np.full(n, kappa), np.ones(2 * n)])
    far = FARTHEST * radius * n
    within = [[none, -far * one, none, one, none], [none, none, -far * one, none, one]]
    answer = linprog(
        -gain / n,
        A_ub=sp.vstack([sp.csr_array(cost[None] / n), sp.block_array(within)]),
        b_ub=np.append(radius, np.zeros(2 * n)),
        A_eq=sp.hstack([one, one, one, none, none]),
        b_eq=np.ones(n),
        method="highs",
    )
    left, moved, turned, *spent = np.split(np.maximum(answer.x, 0.0), 5)
    steps = [
        c / np.where(mass > 0.0, mass, 1.0) for c, mass in zip(spent, (moved, turned), strict=True)
    ]
    loss = left * hinge(margins) + moved * hinge(margins - length * steps[0])
    loss += turned * hinge(-margins - length * steps[1])
    distance = moved * steps[0] + turned * (kappa + steps[1])
    return float(loss.mean()), float(distance.mean())
