"""Huber's loss or the squared hinge under an l1 penalty: every lam."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ..problem import Problem, losses
from ..validation import Rows, check_choice, check_flag, check_number
from .coefficients import Bounds, l1_penalty
from .limits import from_least
from .samples import Callback, Samples, SolutionPath, model_path
from .weights import check_sample_weight


def almost_quadratic_path(
    X: Rows,
    y: ArrayLike,
    *,
    loss: str = "huber",
    delta: float = 1.0,
    fit_intercept: bool = True,
    sample_weight: ArrayLike | None = None,
    positive: bool = False,
    penalty_factor: ArrayLike | None = None,
    bounds: Bounds | None = None,
    lam_min: float = 0.0,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Compute a regression or classification with an almost quadratic loss for every lam.

    Minimises, for all lam at once, ::

        sum_i s_i loss_i(w.x_i + b) + lam ||w||_1,
        huber:          r^2 where |r| <= delta, 2 delta |r| - delta^2 beyond,   r = y_i - f(x_i)
        squared_hinge:  max(0, 1 - y_i f(x_i))^2.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
    y : (n,) array
        Targets, or two labels for the squared hinge; the larger one is +1.
    loss : {"huber", "squared_hinge"}
    delta : float, default 1.0
        > 0, in units of y; of Huber's loss.
    fit_intercept : bool, default True
        Whether b is fitted; without, b = 0.
    sample_weight, positive, penalty_factor, bounds, lam_min, callback, check
        See `lasso_path`, for callback and check `solution_path`; both of two labels need weight.

    Returns
    -------
    SolutionPath
        In ``lam`` from lam_min to infinity. Where w isn't unique it is some optimal one.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

    References
    ----------
    Rosset and Zhu (2007), "Piecewise linear regularized solution paths"; dissertation, (2.7), which
    has no intercept.

    Examples
    --------
    One outlier moves the fit no further than a residual of 1 would:

    >>> from solution_paths import almost_quadratic_path
    >>> X = [[-2.0], [-1.0], [0.0], [1.0], [2.0]]
    >>> path = almost_quadratic_path(X, [-2.0, -1.0, 0.0, 1.0, 50.0])
    >>> path.coef(0.0).round(9).tolist(), round(path.intercept(0.0), 9)
    ([1.5], 0.5)
    >>> path.certify().ok
    True
    """
    check_choice(loss, "loss", ("huber", "squared_hinge"))
    check_flag(fit_intercept, "fit_intercept")
    delta = check_number(delta, "delta", above=0)
    samples, free = Samples.of(X).centred(fit_intercept), 1.0 if fit_intercept else None
    bias = [[1.0]] if fit_intercept else [[]]
    if loss == "huber":
        targets, level = samples.centred_targets(y, X, fit_intercept)
        weights = check_sample_weight(sample_weight, X, targets)
        loss_pieces = losses.huber(targets, delta, weights)
        reading = samples.reading("robust", bias=bias, offset=level)
    else:
        signs, classes = samples.labels(y, X)
        weights = check_sample_weight(sample_weight, X, signs, classes)
        loss_pieces = losses.squared_hinge(signs, weights)
        reading = samples.reading("sign", classes, bias)
    data = samples.losses(loss_pieces, free)
    penalty = l1_penalty(samples.features, positive, penalty_factor, bounds)

    def model(lam: float) -> Problem:
        return Problem(data, penalty(lam))

    options = from_least(lam_min, "lam_min") | {"parameter": "lam", "reading": reading}
    return model_path(model, **options, callback=callback, check=check)
