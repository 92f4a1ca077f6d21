"""Elastic net: every lam1, for one lam2; lam2 = 0 is the lasso with an intercept."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ..problem import Problem, losses
from ..validation import Rows, check_flag, check_number
from .coefficients import Bounds, l1_penalty
from .limits import from_least
from .samples import Callback, Samples, SolutionPath, model_path
from .weights import check_sample_weight


def elastic_net_path(
    X: Rows,
    y: ArrayLike,
    *,
    lam2: float = 0.0,
    fit_intercept: bool = True,
    sample_weight: ArrayLike | None = None,
    positive: bool = False,
    penalty_factor: ArrayLike | None = None,
    bounds: Bounds | None = None,
    lam1_min: float = 0.0,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Compute the elastic net for every lam1.

    Minimises, for all lam1 at once, ::

        1/2 sum_i s_i (y_i - w.x_i - b)^2 + lam1 ||w||_1 + lam2/2 ||w||^2.

    (scikit-learn divides by n, or sum_i s_i: alpha = (lam1 + lam2) / n, l1_ratio = lam1 / (lam1 +
    lam2). Without the halves, as in Zou and Hastie, the penalties are 2 lam1 and lam2.) In lam2 the
    path is curved: see `path_lines` for exact lines at several lam2.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
    y : (n,) array
        Targets.
    lam2 : float, default 0.0
        >= 0.
    fit_intercept : bool, default True
        Whether b is fitted; without, b = 0.
    sample_weight, positive, penalty_factor, bounds
        See `lasso_path`; factors are those of the l1 penalty alone.
    lam1_min : float, default 0.0
        Where the path begins.
    callback, check
        See `solution_path`.

    Returns
    -------
    SolutionPath
        In ``lam1`` from lam1_min to infinity; ``dual`` gives s_i (y_i - w.x_i - b). Where w isn't
        unique (lam2 = 0, dependent columns) it is one of the optimal ones.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

    References
    ----------
    Zou and Hastie (2005), "Regularization and variable selection via the elastic net";
    dissertation, (2.3) and (2.6).

    Examples
    --------
    >>> import numpy as np
    >>> from solution_paths import elastic_net_path
    >>> path = elastic_net_path(np.eye(4, 3), [3.0, 2.0, 1.0, 0.5], lam2=1.0, fit_intercept=False)
    >>> path.breakpoints.round(9).tolist(), path.coef(1.5).round(9).tolist()
    ([0.0, 1.0, 2.0, 3.0], [0.75, 0.25, 0.0])
    >>> path.certify().ok
    True
    """
    check_flag(fit_intercept, "fit_intercept")
    lam2 = check_number(lam2, "lam2", least=0)
    samples = Samples.of(X).centred(fit_intercept)
    targets, level = samples.centred_targets(y, X, fit_intercept)
    weights = check_sample_weight(sample_weight, X, targets)
    data = samples.losses(losses.squared(targets, weights), 1.0 if fit_intercept else None)
    penalty = l1_penalty(samples.features, positive, penalty_factor, bounds)

    def model(lam1: float) -> Problem:
        return Problem(data, penalty(lam1), ridge=lam2)

    reading = samples.reading(bias=[[1.0]] if fit_intercept else [[]], offset=level)
    ends = from_least(lam1_min, "lam1_min")
    return model_path(
        model, **ends, parameter="lam1", reading=reading, callback=callback, check=check
    )
