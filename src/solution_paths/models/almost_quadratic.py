"""Huber's loss or the squared hinge under an l1 penalty: every lam."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..problem import Problem, losses, penalties
from ..validation import Rows, check_choice, check_flag, check_number
from .stated import Samples, SolutionPath, solution_path


def almost_quadratic_path(
    X: Rows,
    y: ArrayLike,
    *,
    loss: str = "huber",
    delta: float = 1.0,
    fit_intercept: bool = True,
    check: str = "warn",
) -> SolutionPath:
    """Compute a regression or classification with an almost quadratic loss for every lam.

    Minimises, for all lam at once, ::

        sum_i loss_i(w.x_i + b) + lam ||w||_1,
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
    check : {"warn", "raise", "ignore"}
        See `solution_path`.

    Returns
    -------
    SolutionPath
        In ``lam`` from 0 to infinity. Where w isn't unique it is some optimal one.

    Raises
    ------
    ValueError
        For bad input; the message names the argument and the remedy.
    PathError
        The path can't be followed.

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
        targets, level = samples.near_targets(y, X, fit_intercept)
        own, reading = losses.huber(targets, delta), samples.reading(bias=bias, offset=level)
    else:
        signs, classes = samples.labels(y, X)
        own, reading = losses.squared_hinge(signs), samples.reading("sign", classes, bias)
    data = samples.losses(own, free)

    def model(lam: float) -> Problem:
        return Problem(data, penalties.l1(samples.features, lam))

    return solution_path(model, 0.0, np.inf, parameter="lam", reading=reading, check=check)
