"""SVM under an l1 constraint: every radius s."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..problem import Problem, losses
from ..validation import Rows, check_number
from .stated import Samples, SolutionPath, solution_path


def l1_constrained_svm_path(
    X: Rows, y: ArrayLike, *, lam2: float = 0.0, check: str = "warn"
) -> SolutionPath:
    """Compute the SVM under an l1 constraint for every radius s.

    Minimises, for all s at once, ::

        sum_i max(0, 1 - y_i (w.x_i + b)) + lam2/2 ||w||^2    subject to ||w||_1 <= s.

    With lam2 = 0 the solutions are those of `l1_svm_path` in the other parameter: each s stands
    for the lam that is its multiplier. With lam2 > 0 it is the doubly regularised SVM.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
    y : (n,) array
        Two labels; the larger one is +1.
    lam2 : float, default 0.0
        >= 0.
    check : {"warn", "raise", "ignore"}
        See `solution_path`.

    Returns
    -------
    SolutionPath
        In ``s`` from 0 to infinity.

    Raises
    ------
    ValueError
        For bad input; the message names the argument and the remedy.
    PathError
        The path can't be followed.

    References
    ----------
    Zhu, Rosset, Hastie and Tibshirani (2003), "1-norm support vector machines"; Wang, Zhu and Zou
    (2006), "The doubly regularized support vector machine"; dissertation, (2.59) and (2.66).

    Examples
    --------
    >>> from solution_paths import l1_constrained_svm_path
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [4.0, 1.0], [5.0, 0.0]]
    >>> path = l1_constrained_svm_path(X, [0, 0, 1, 0, 1, 1])
    >>> path.coef(0.4).round(6).tolist()
    [0.4, 0.0]
    >>> path.certify().ok
    True
    """
    lam2, samples = check_number(lam2, "lam2", least=0), Samples.of(X).centred()
    signs, classes = samples.labels(y, X)
    data = samples.losses(losses.hinge(signs))

    def model(s: float) -> Problem:
        return Problem(data, ridge=lam2, constraint=s)

    reading = samples.reading("sign", classes)
    return solution_path(model, 0.0, np.inf, parameter="s", reading=reading, check=check)
