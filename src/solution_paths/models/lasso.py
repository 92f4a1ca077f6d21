"""Lasso: every penalty lam."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ..problem import Problem, losses
from ..validation import Rows, check_flag
from .coefficients import Bounds, l1_penalty
from .limits import from_least
from .samples import Callback, Samples, SolutionPath, model_path
from .weights import check_sample_weight


def lasso_path(
    X: Rows,
    y: ArrayLike,
    *,
    fit_intercept: bool = True,
    sample_weight: ArrayLike | None = None,
    positive: bool = False,
    penalty_factor: ArrayLike | None = None,
    bounds: Bounds | None = None,
    lam_min: float = 0.0,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Compute the lasso for every lam.

    Minimises, for all lam at once, ::

        1/2 sum_i s_i (y_i - w.x_i - b)^2 + lam ||w||_1,

    (scikit-learn's alpha is lam / sum_i s_i.)

    Parameters
    ----------
    X : (n, d) array or CSR matrix
        A CSR matrix of many columns is never made dense.
    y : (n,) array
        Real targets.
    fit_intercept : bool, default True
        Whether b is fitted; else b = 0.
    sample_weight : (n,) array, optional
        Weights s_i >= 0; all 1 by default. 2 counts as the row twice, 0 as no row.
    positive : bool, default False
        Whether coefficients must be >= 0.
    penalty_factor : (d,) array, optional
        Factors p_j >= 0 of the penalty ``lam sum_j p_j |w_j|``; all 1 by default.
    bounds : (low, high), optional
        Bounds of the coefficients, each a number or (d,) array; infinite where there is none.
    lam_min : float, default 0.0
        Where the path begins; the larger it is, the fewer coefficients are followed.
    callback, check
        See `solution_path`.

    Returns
    -------
    SolutionPath
        In ``lam`` from lam_min to infinity; from the last breakpoint on w = 0, or the point within
        bounds nearest to it. ``coef`` gives w, ``intercept`` b, ``dual`` the residuals y - X w - b
        times their weights. Where w isn't unique (dependent columns) it is an optimal one.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

    References
    ----------
    Efron, Hastie, Johnstone and Tibshirani (2004), "Least angle regression"; Osborne, Presnell
    and Turlach (2000), "A new approach to variable selection in least squares problems".

    Examples
    --------
    With orthonormal columns the lasso shrinks each correlation by lam:

    >>> import numpy as np
    >>> from solution_paths import lasso_path
    >>> path = lasso_path(np.eye(4, 3), [3.0, 2.0, 1.0, 0.5], fit_intercept=False)
    >>> path.breakpoints.round(3).tolist()
    [0.0, 1.0, 2.0, 3.0]
    >>> path.coef(1.5).round(3).tolist()
    [1.5, 0.5, 0.0]
    >>> path.certify().ok
    True
    """
    check_flag(fit_intercept, "fit_intercept")
    samples = Samples.of(X).centred(fit_intercept)
    targets, level = samples.centred_targets(y, X, fit_intercept)
    weights = check_sample_weight(sample_weight, X, targets)
    data = samples.losses(losses.squared(targets, weights), 1.0 if fit_intercept else None)
    penalty = l1_penalty(samples.features, positive, penalty_factor, bounds)

    def model(lam: float) -> Problem:
        return Problem(data, penalty(lam))

    reading = samples.reading(bias=[[1.0]] if fit_intercept else [[]], offset=level)
    options = from_least(lam_min, "lam_min") | {"parameter": "lam", "reading": reading}
    return model_path(model, **options, callback=callback, check=check)
