"""Support vector regression: every cost C, every weight lam of the ridge, or every tube epsilon."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..problem import Problem, losses
from ..validation import Rows, check_choice, check_number
from .stated import IN_INVERSE, Samples, SolutionPath, solution_path


def svr_path(
    X: Rows,
    y: ArrayLike,
    *,
    vary: str = "C",
    C: float = 1.0,
    epsilon: float = 0.1,
    kernel: str = "linear",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    check: str = "warn",
) -> SolutionPath:
    """Compute support vector regression for every C, lam or epsilon.

    Minimises ::

        1/2 ||w||^2 + C sum_i max(0, |y_i - f(x_i)| - epsilon),    f(x) = w.x + b,

    or, where ``lam`` varies, ``sum_i max(0, |y_i - f(x_i)| - epsilon) + lam/2 ||w||^2``: the same
    at lam = 1 / C.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
        Samples; with ``kernel="precomputed"`` the (n, n) kernel matrix.
    y : (n,) array
        Targets.
    vary : {"C", "lam", "epsilon"}
        The path's parameter.
    C : float, default 1.0
        > 0, in units of 1 / y where X has none; used where epsilon varies.
    epsilon : float, default 0.1
        >= 0, in units of y; used where C or lam varies.
    kernel, gamma, degree, coef0
        See `svm_path`.
    check : {"warn", "raise", "ignore"}
        See `solution_path`.

    Returns
    -------
    SolutionPath
        In C or epsilon from 0, or in lam, to infinity. ``dual`` is signed, alpha_i - alpha_i*.
        Where b isn't unique it is some optimal one.

    Raises
    ------
    ValueError
        For bad input; the message names the argument and the remedy.
    PathError
        The path can't be followed.

    References
    ----------
    Gunter and Zhu (2007), "Efficient computation and model selection for the support vector
    regression" (lam); Wang, Yeung and Lochovsky (2006), "Two-dimensional solution path for support
    vector regression" (epsilon).

    Examples
    --------
    >>> from solution_paths import svr_path
    >>> path = svr_path([[0.0], [1.0], [2.0], [4.0]], [0.0, 1.0, 1.5, 2.0], epsilon=0.1)
    >>> round(path.coef(10.0).item(), 6), round(path.intercept(10.0), 6)
    (0.4, 0.5)
    >>> path.certify().ok
    True
    """
    check_choice(vary, "vary", ("C", "lam", "epsilon"))
    C, epsilon = check_number(C, "C", above=0), check_number(epsilon, "epsilon", least=0)
    samples = Samples.of(X, kernel, gamma, degree, coef0).centred()
    targets, level = samples.near_targets(y, X)

    def model(t: float) -> Problem:
        cost, tube = (C, t) if vary == "epsilon" else (t, epsilon)
        return samples.machine(losses.epsilon_insensitive(targets, tube, cost))

    scale = IN_INVERSE if vary == "lam" else None
    reading = samples.reading(offset=level)
    return solution_path(
        model, 0.0, np.inf, parameter=vary, reading=reading, scale=scale, check=check
    )
