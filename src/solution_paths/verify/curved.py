"""The judge of generalised linear models: the duality gap of primal and dual points, from the data.

In extended precision where the machine has it, from the points alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..validation import Floats

LONG: Any = np.longdouble


class Gaps(NamedTuple):
    """Objectives of B points, their gap, and a bound of its rounding error: (B,) each.

    And the feasible duals, (n, B) for rows of positive weight: minus derivatives of losses as they
    are without weights.
    """

    primal: Floats
    dual: Floats
    gap: Floats
    rounding: Floats
    duals: Floats


class _Logistic:
    """Losses log(1 + exp(-y f)) of labels -1 and +1."""

    def __init__(self, y: Any, weights: Any, u: Any) -> None:
        self.y, self.p = y, np.clip(y * u, 0.0, 1.0)
        up = y[:, 0] > 0
        sums = np.array([(weights * self.p)[side].sum(axis=0) for side in (up, ~up)])
        for side, total in zip((up, ~up), sums, strict=True):
            self.p[side] *= sums.min(axis=0) / np.where(total > 0, total, 1)

    def duals(self) -> Any:
        """Return duals whose weighted sum is zero."""
        return self.y * self.p

    def losses(self, f: Any) -> list[Any]:
        """Return the terms of the losses."""
        z = self.y * f
        return [np.log1p(np.exp(-np.abs(z))), np.maximum(-z, 0)]

    def conjugates(self, scale: Any) -> list[Any]:
        """Return the terms of the conjugates at minus the duals times ``scale``."""
        p = self.p * scale
        return [_times_log(p), _times_log(1 - p)]


class _Poisson:
    """Losses exp(f) - y f + y log y - y of counts."""

    def __init__(self, y: Any, weights: Any, u: Any) -> None:
        means = np.maximum(y - u, 0.0)
        total = (weights * means).sum(axis=0)
        self.y = y
        self.means = means * ((weights * y).sum(axis=0) / np.where(total > 0, total, 1))

    def duals(self) -> Any:
        """Return duals whose weighted sum is zero."""
        return self.y - self.means

    def losses(self, f: Any) -> list[Any]:
        """Return the terms of the losses."""
        return [np.exp(f), -self.y * f, _times_log(self.y), -self.y]

    def conjugates(self, scale: Any) -> list[Any]:
        """Return the terms of the conjugates at minus the duals times ``scale``."""
        m = self.y - scale * (self.y - self.means)
        return [_times_log(m), -m, -_times_log(self.y), self.y]


JUDGED: dict[str, Any] = {"logistic": _Logistic, "poisson": _Poisson}


def gaps(
    X: Any,
    y: Floats,
    lam: Floats,
    w: Floats,
    b: Floats,
    a: Floats,
    *,
    l1_ratio: float,
    loss: str = "logistic",
    weights: Floats | None = None,
) -> Gaps:
    """Return the duality gaps of B points.

    Their objective is, with weights m_i, f_i = w.x_i + b and r = l1_ratio ::

        sum_i m_i loss_i(f_i) + lam (r ||w||_1 + (1 - r)/2 ||w||^2),

    where a loss is log(1 + exp(-y f)) of a label y, or exp(f) - y f + y log y - y of a count.

    Duals are made feasible before the dual objective is computed: moved to where the conjugate is
    finite, scaled down until their sum is zero, and for r = 1 scaled until max_j |x_j.a| <= lam.

    Parameters
    ----------
    X, y : (n, d), (n,)
    lam, w, b, a : (B,), (d, B), (B,), (n, B)
        Duals a are minus the derivatives of weighted losses by f.
    l1_ratio : float
    loss : {"logistic", "poisson"}
    weights : (n,) array, optional
        All 1 by default; a row of weight 0 takes no part.
    """
    m = np.ones(len(y)) if weights is None else weights
    used = m > 0
    X, m = (X[used]).astype(LONG), m[used].astype(LONG)[:, None]
    lam, w, b = lam.astype(LONG), w.astype(LONG), b.astype(LONG)
    family = JUDGED[loss](y[used].astype(LONG)[:, None], m, a[used] / m)
    u, scale = family.duals(), LONG(1)
    c = X.T @ (m * u)
    if l1_ratio == 1.0:
        top = np.abs(c).max(axis=0)
        scale = np.where(top > lam, lam / np.where(top > 0, top, 1), 1)
        u, c = u * scale, c * scale
    r = LONG(l1_ratio)
    losses, conjugates = family.losses(X @ w + b), family.conjugates(scale)
    penalty = lam * (r * np.abs(w) + (1 - r) / 2 * w * w)
    over = np.maximum(np.abs(c) - lam * r, 0)
    conjugate = np.zeros_like(over) if r == 1 else over * over / (2 * (1 - r) * lam)
    summands = [*(m * np.abs(term) for term in losses + conjugates), penalty, conjugate]
    sizes = [term.sum(axis=0) for term in summands]
    # beside the terms: what rounding of f and X'a may do, to first order
    moved = (np.abs(m * u) * (abs(X) @ np.abs(w) + np.abs(b))).sum(axis=0)
    terms = X.shape[0] + X.shape[1] + 16
    rounding = terms * np.finfo(LONG).eps * (sum(sizes) + 2 * moved)
    primal = (m * sum(losses)).sum(axis=0) + penalty.sum(axis=0)
    dual = -(m * sum(conjugates)).sum(axis=0) - conjugate.sum(axis=0)
    results = (primal, dual, primal - dual, rounding, u)
    return Gaps(*(np.asarray(term, dtype=np.float64) for term in results))


def _times_log(p: Any) -> Any:
    """Return p log p."""
    return p * np.log(np.where(p > 0, p, 1))
