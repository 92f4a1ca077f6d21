"""Least absolute deviations under an l1 penalty or constraint: every lam, or every s."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..problem import Problem, losses, penalties
from ..validation import Rows, check_choice
from .stated import Samples, SolutionPath, solution_path


def rlad_path(X: Rows, y: ArrayLike, *, vary: str = "lam", check: str = "warn") -> SolutionPath:
    """Compute least absolute deviations for every l1 penalty or constraint.

    Minimises ::

        sum_i |y_i - w.x_i - b| + lam ||w||_1,

    or, where ``s`` varies, ``sum_i |y_i - w.x_i - b|`` subject to ``||w||_1 <= s``.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
    y : (n,) array
        Targets.
    vary : {"lam", "s"}
        The path's parameter.
    check : {"warn", "raise", "ignore"}
        See `solution_path`.

    Returns
    -------
    SolutionPath
        From 0 to infinity. In lam it is constant between breakpoints, where it jumps: there any
        point between both ends is optimal. In s it is continuous.

    Raises
    ------
    ValueError
        For bad input; the message names the argument and the remedy.
    PathError
        The path can't be followed.

    References
    ----------
    Wang, Gordon and Zhu (2006), "Regularized least absolute deviations regression and an efficient
    algorithm for parameter tuning"; dissertation, (2.13) and (2.14).

    Examples
    --------
    >>> from solution_paths import rlad_path
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [0.0, 1.0, 2.0, 3.0, 50.0]
    >>> path = rlad_path(X, y)
    >>> path.coef([0.5, 10.0]).round(9).tolist()
    [[1.0, 0.0]]
    >>> path.certify().ok
    True
    """
    check_choice(vary, "vary", ("lam", "s"))
    samples = Samples.of(X).centred()
    targets, level = samples.near_targets(y, X)
    own, reading = samples.losses(losses.absolute(targets)), samples.reading(offset=level)

    def model(t: float) -> Problem:
        if vary == "s":
            return Problem(own, constraint=t)
        return Problem(own, penalties.l1(samples.features, t))

    return solution_path(model, 0.0, np.inf, parameter=vary, reading=reading, check=check)
