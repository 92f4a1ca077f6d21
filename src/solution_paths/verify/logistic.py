"""The judge of logistic regressions: the duality gap of primal and dual points, from the data.

In extended precision where the machine has it; it knows nothing of whoever found the points.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..validation import Floats

LONG: Any = np.longdouble


class Gaps(NamedTuple):
    """Objectives of B points, their gap, and how far off it may be by rounding: (B,) each."""

    primal: Floats
    dual: Floats
    gap: Floats
    rounding: Floats


def gaps(
    X: Any, signs: Floats, lam: Floats, w: Floats, b: Floats, a: Floats, *, l1_ratio: float
) -> Gaps:
    """Return the duality gaps of B points.

    Their objective is ::

        sum_i log(1 + exp(-y_i (w.x_i + b))) + lam (r ||w||_1 + (1 - r)/2 ||w||^2),   r = l1_ratio.

    Duals that break a constraint are moved before they bound: into [0, 1], the larger class scaled
    down until both weigh the same, and for r = 1 all scaled until max_j |x_j.a| <= lam.

    Parameters
    ----------
    X, signs : (n, d), (n,)
    lam, w, b, a : (B,), (d, B), (B,), (n, B)
        Duals a are minus the derivatives of losses by f, y_i alpha_i.
    l1_ratio : float
    """
    X, y = X.astype(LONG), signs.astype(LONG)[:, None]
    lam, w, b = lam.astype(LONG), w.astype(LONG), b.astype(LONG)
    alpha = np.clip(y * a, 0.0, 1.0)
    up = signs > 0
    sums = np.array([alpha[up].sum(axis=0), alpha[~up].sum(axis=0)])
    for own, total in zip((up, ~up), sums, strict=True):
        alpha[own] *= sums.min(axis=0) / np.where(total > 0, total, 1)
    c = X.T @ (y * alpha)
    if l1_ratio == 1.0:
        top = np.abs(c).max(axis=0)
        scale = np.where(top > lam, lam / np.where(top > 0, top, 1), 1)
        alpha, c = alpha * scale, c * scale
    z, r = y * (X @ w + b), LONG(l1_ratio)
    loss = np.log1p(np.exp(-np.abs(z))) + np.maximum(-z, 0)
    entropy = _part(alpha) + _part(1 - alpha)
    penalty = lam * (r * np.abs(w) + (1 - r) / 2 * w * w)
    over = np.maximum(np.abs(c) - lam * r, 0)
    conjugate = np.zeros_like(over) if r == 1 else over * over / (2 * (1 - r) * lam)
    parts = [loss, -entropy, penalty, conjugate]
    sizes = [np.abs(part).sum(axis=0) for part in parts]
    # beside the terms: what rounding of f and X'a may do, to first order
    moved = (alpha * (abs(X) @ np.abs(w) + np.abs(b))).sum(axis=0)
    terms = X.shape[0] + X.shape[1] + 16
    rounding = terms * np.finfo(LONG).eps * (sum(sizes) + 2 * moved)
    primal, dual = (loss.sum(axis=0) + penalty.sum(axis=0)), entropy.sum(axis=0)
    dual = dual - conjugate.sum(axis=0)
    found = (primal, dual, primal - dual, rounding)
    return Gaps(*(np.asarray(part, dtype=np.float64) for part in found))


def _part(p: Any) -> Any:
    """Return -p log p."""
    return -p * np.log(np.where(p > 0, p, 1))
