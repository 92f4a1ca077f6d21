"""l1-penalised support vector machine: every penalty lam."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..problem import Problem, losses, penalties
from ..validation import Rows
from .stated import Callback, Samples, SolutionPath, solution_path
from .weights import check_sample_weight


def l1_svm_path(
    X: Rows,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Compute the l1-penalised support vector machine for every lam.

    Minimises, for all lam at once, ::

        sum_i s_i max(0, 1 - y_i (w.x_i + b)) + lam ||w||_1.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
        A CSR matrix of many columns is never made dense.
    y : (n,) array
        Two labels; the larger one is +1.
    sample_weight : (n,) array, optional
        Weights s_i >= 0, some of them positive in both classes; all 1 by default.
    callback, check
        See `solution_path`.

    Returns
    -------
    SolutionPath
        In ``lam`` from 0 to infinity; from the last breakpoint on w = 0. It is constant between
        breakpoints, where it jumps: there any point between both ends is optimal.

    Raises
    ------
    ValueError, TypeError
        For bad input; the message names the argument and the remedy.
    PathError
        When the path can't be followed to its end; ``error.path`` is the certified part.

    References
    ----------
    Zhu, Rosset, Hastie and Tibshirani (2003), "1-norm support vector machines".

    Examples
    --------
    >>> from solution_paths import l1_svm_path
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [4.0, 1.0], [5.0, 0.0]]
    >>> y = ["no", "no", "yes", "no", "yes", "yes"]
    >>> path = l1_svm_path(X, y)
    >>> [path.coef(lam).round(3).tolist() for lam in (0.1, 0.9, 3.0)]  # one feature is left
    [[1.0, 3.0], [0.5, 0.5], [0.4, 0.0]]
    >>> path.certify().ok
    True
    """
    samples = Samples.of(X).centred()
    signs, classes = samples.labels(y, X)
    weights = check_sample_weight(sample_weight, X, signs, classes)
    data = samples.losses(losses.hinge(signs, weights))

    def model(lam: float) -> Problem:
        return Problem(data, penalties.l1(samples.features, lam))

    reading = samples.reading("sign", classes)
    return solution_path(
        model, 0.0, np.inf, parameter="lam", reading=reading, callback=callback, check=check
    )
