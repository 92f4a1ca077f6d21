"""Distributionally robust regression: any convex piecewise-linear loss under an elastic net."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ..problem import Pieces, losses
from ..validation import Floats, Rows
from .elastic import elastic_path
from .residuals import Loss, check_loss, judged_by
from .samples import Callback, Samples, SolutionPath
from .weights import check_shares


def dr_regression_path(
    X: Rows,
    y: ArrayLike,
    loss: Loss = "absolute",
    *,
    vary: str | None = None,
    s: float | None = None,
    lam1: float | None = None,
    lam2: float | None = None,
    sample_weight: ArrayLike | None = None,
    s_max: float | None = None,
    lam1_min: float = 0.0,
    lam2_min: float = 0.0,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Compute distributionally robust regression for every radius s, or every lam1, or every lam2.

    Minimises, for all values of one of them at once, ::

        1/n sum_i loss(y_i - w.x_i - b) + lam2/2 ||w||^2    where ||w||_1 <= s,         or
        1/n sum_i loss(y_i - w.x_i - b) + lam2/2 ||w||^2 + lam1 ||w||_1,

    with a free bias b. With sample weights, s_i / sum_j s_j replaces 1/n. The model minimises the
    worst expected loss in a Wasserstein ball of distributions around the data, where moving x costs
    its largest change and moving y is forbidden. For a loss whose steepest slope is L, the ball's
    radius is lam1 / L. Each s corresponds to the lam1 that is its multiplier.

    Parameters
    ----------
    X, y : (n, d) array or CSR matrix, and (n,) array
    loss : "absolute", ("quantile", tau), ("epsilon_insensitive", epsilon) or (knots, slopes)
        A convex piecewise-linear loss of the residual r = y - w.x - b: ``|r|``,
        ``max(tau r, (tau - 1) r)`` with 0 < tau < 1, ``max(0, |r| - epsilon)``, or that of q
        ascending knots and q + 1 ascending slopes, the first < 0 < the last, and least value 0.
        Error curves use a quantile's pinball loss, else absolute errors.
    vary : {"s", "lam1", "lam2"}, optional
        The path's parameter; if not named, s, or lam2 where s or lam1 is given.
    s, lam1 : float, optional
        Radius of the l1 constraint, > 0, or weight of ||w||_1, >= 0: one with ``vary="lam2"``.
    lam2 : float, optional
        Weight of ||w||^2 / 2, >= 0: with ``vary="s"`` and ``vary="lam1"``, 0 if not given. There
        duals jump at breakpoints in s, and w in lam1; any point between both ends is optimal.
    s_max : float, optional
    lam1_min, lam2_min : float, default 0.0
        Where a path in s ends, one in lam1 begins and one in lam2 ends; >= 0.
    sample_weight, callback, check
        See `lasso_path`, for callback and check `solution_path`.

    Returns
    -------
    SolutionPath
        In ``s`` from 0, or ``lam1`` from lam1_min, to infinity: where the constraint no longer
        binds, or w = 0, nothing changes. In ``lam2`` from infinity down; w and b are linear in
        1 / lam2 between. ``dual`` gives slopes times shares. Of several optimal b it is the middle.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

    References
    ----------
    Tang, G. (2023). Solution Path Algorithms for Distributionally Robust Regression and
    Classification. Dissertation, University of Arizona: (3.4), (3.6), Theorems 3.1 and 3.2.

    Examples
    --------
    >>> from solution_paths import dr_regression_path
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0], [4.0, 0.0]]
    >>> path = dr_regression_path(X, [0.0, 1.0, 2.0, 3.0, 9.0], ("quantile", 0.4), lam2=0.1)
    >>> path.coef([0.5, 2.0]).round(6).tolist()  # the constraint binds up to s = 1
    [[0.5, 1.0], [0.0, 0.0]]
    >>> path.certify().ok
    True
    """
    samples = Samples.of(X).centred()
    (targets, level), (knots, slopes) = samples.centred_targets(y, X), check_loss(loss)

    def terms(cost: Floats) -> Pieces:
        return losses.piecewise_linear(targets, knots, slopes, cost)

    given, shares = {"s": s, "lam1": lam1, "lam2": lam2}, check_shares(sample_weight, X, targets)
    limits = {"s_max": s_max, "lam1_min": lam1_min, "lam2_min": lam2_min}
    reading = samples.reading(**judged_by(knots, slopes), offset=level)
    return elastic_path(samples, terms, shares, reading, vary, given, limits, None, callback, check)
