"""Generalised lasso: every weight lam of ||D w||_1, whatever D is."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..problem import Losses, Problem, losses, penalties
from ..validation import Rows, check_flag, check_vector, check_X
from .limits import from_least
from .samples import Callback, Reading, Samples, SolutionPath, model_path
from .weights import check_sample_weight


def generalized_lasso_path(
    y: ArrayLike,
    D: Rows,
    *,
    X: Rows | None = None,
    fit_intercept: bool = True,
    sample_weight: ArrayLike | None = None,
    lam_min: float = 0.0,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Compute the generalised lasso for every lam.

    Minimises, for all lam at once, ::

        1/2 sum_i s_i (y_i - w.x_i - b)^2 + lam ||D w||_1,

    where a signal has b = 0. The penalty shrinks D w to zero: differences of neighbours (the fused
    lasso, a graph's edges), differences of higher order, or the coefficients themselves.

    Parameters
    ----------
    y : (n,) array
        Targets, or a signal.
    D : (m, d) array or CSR matrix
        Of any rank.
    X : (n, d) array or CSR matrix, optional
        The identity by default: w is then y, smoothed.
    fit_intercept : bool, default True
        Whether b is fitted, where X is given; else b = 0.
    sample_weight, lam_min, callback, check
        See `lasso_path`, for callback and check `solution_path`.

    Returns
    -------
    SolutionPath
        In ``lam`` from lam_min to infinity; ``coef`` gives w, ``dual`` the residuals times their
        weights, a, ``dual(lam, 1)`` the (m,) duals u of D w, by which X'a = D'u (up to their sign).
        Where X lacks full column rank w is one of the optimal ones.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

    References
    ----------
    Tibshirani and Taylor (2011), "The solution path of the generalized lasso"; dissertation,
    (2.33). R's genlasso adds 1e-4 ||w||^2 where X lacks full column rank; here nothing is added.

    Examples
    --------
    Two levels of a signal, fused into one at lam = 3:

    >>> import numpy as np
    >>> from solution_paths import generalized_lasso_path
    >>> path = generalized_lasso_path([1.0, 1.0, 4.0, 4.0], np.diff(np.eye(4), axis=0))
    >>> path.coef([1.0, 3.0]).T.round(9).tolist()
    [[1.5, 1.5, 3.5, 3.5], [2.5, 2.5, 2.5, 2.5]]
    >>> path.certify().ok
    True
    """
    D, bias = check_X(D, "D"), check_flag(fit_intercept, "fit_intercept")
    if X is None:
        target = check_vector(y, np.size(y), "y", scalar=False, of="it")
        weights = check_sample_weight(sample_weight, y, target)
        data = Losses(losses.squared(target, weights))
        reading = Reading(len(target), np.ones((1, 0)))
    else:
        samples = Samples.of(X).centred(bias)
        target, level = samples.centred_targets(y, X, bias)
        weights = check_sample_weight(sample_weight, X, target)
        data = samples.losses(losses.squared(target, weights), 1.0 if bias else None)
        reading = samples.reading(bias=[[1.0]] if bias else [[]], offset=level)
    if D.shape[1] != reading.columns:
        raise ValueError(
            f"D has {D.shape[1]} columns beside {reading.columns} coefficients; give one for each."
        )

    def model(lam: float) -> Problem:
        return Problem([data, Losses(penalties.l1(D.shape[0], lam), D)])

    options = from_least(lam_min, "lam_min") | {"parameter": "lam"}
    return model_path(model, **options, reading=reading, callback=callback, check=check)
