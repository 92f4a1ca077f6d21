"""Several linear quantile regressions that don't cross, together: every weight lam of a penalty."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..problem import Losses, Problem, Product, Repeated, differences, losses, penalties
from ..problem.maps import frozen
from ..validation import Rows, check_choice, check_levels
from .limits import down_to, from_least
from .samples import IN_INVERSE, Callback, Samples, SolutionPath, model_path
from .weights import check_shares


def noncrossing_quantiles_path(
    X: Rows,
    y: ArrayLike,
    quantiles: ArrayLike,
    *,
    penalty: str = "l2",
    sample_weight: ArrayLike | None = None,
    lam_min: float = 0.0,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Compute several linear quantile regressions that don't cross, for every penalty lam.

    Minimises, over w_k and b_k for all quantiles tau_1 < ... < tau_q, ::

        sum_k (1/n sum_i max(tau_k r_ik, (tau_k - 1) r_ik) + P(w_k)),    r_ik = y_i - w_k.x_i - b_k,

    subject to w_k.x_i + b_k <= w_{k+1}.x_i + b_{k+1} at all rows, and so in all of their convex
    hull. P(w) is lam/2 ||w||^2 or lam ||w||_1; with weights, s_i / sum_j s_j replaces 1/n.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
    y : (n,) array
        Targets.
    quantiles : (q,) array
        Ascending, in (0, 1).
    penalty : {"l2", "l1"}
        P(w).
    sample_weight, lam_min, callback, check
        See `lasso_path`, for callback and check `solution_path`.

    Returns
    -------
    SolutionPath
        In lam to infinity: ``coef`` is (q, d), ``intercept`` (q,), ``predict`` (m, q). Error curves
        use the mean of the pinball losses of all quantiles. ``dual`` gives the duals of the losses,
        quantile by quantile; group 1 those of the constraints.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

    References
    ----------
    Bondell, Reich and Wang (2010), "Noncrossing quantile regression curve estimation"; Takeuchi,
    Le, Sears and Smola (2006), "Nonparametric quantile estimation".

    Examples
    --------
    >>> from solution_paths import noncrossing_quantiles_path
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 5.0]
    >>> path = noncrossing_quantiles_path(X, y, [0.3, 0.6])
    >>> path.predict([[0.0], [3.0]], 0.01).round(6).tolist()
    [[0.0, 0.0], [1.5, 5.0]]
    >>> path.certify().ok
    True
    """
    check_choice(penalty, "penalty", ("l2", "l1"))
    levels = check_levels(quantiles, ascending=True)
    samples, q = Samples.of(X).centred(), len(levels)
    targets, offset = samples.centred_targets(y, X)
    shares, n = check_shares(sample_weight, X, targets), samples.n
    tau, repeated, costs = np.repeat(levels, n), np.tile(targets, q), np.tile(shares, q)
    rows, free = Repeated(samples.X, q), frozen(np.kron(np.eye(q), np.ones((n, 1))))
    inverse, order = penalty == "l2", []
    if q > 1:
        weighted = (n * np.arange(q - 1)[:, None] + np.flatnonzero(shares)).reshape(-1, 1)
        steps = differences(np.hstack([weighted + n, weighted]), n * q)
        order = [Losses(penalties.at_least(len(weighted)), Product(steps, rows), steps @ free)]

    def model(t: float) -> Problem:  # with a ridge over lam = 1 / t
        data = Losses(losses.pinball(repeated, tau, t * costs if inverse else costs), rows, free)
        if inverse:
            return Problem([data, *order], ridge=1.0)
        return Problem([data, *order], penalties.l1(rows.shape[1], t))

    options = down_to(lam_min, "lam_min") if inverse else from_least(lam_min, "lam_min")
    options |= {"parameter": "lam", "scale": IN_INVERSE if inverse else None, "callback": callback}
    level = tuple(levels.tolist()) if q > 1 else float(levels[0])
    reading = samples.reading("quantile", (), np.eye(q), offset, level=level)
    return model_path(model, **options, reading=reading, check=check)
