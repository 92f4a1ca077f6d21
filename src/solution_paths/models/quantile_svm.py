"""Quantile support vector machine: every quantile tau."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..problem import Problem, losses
from ..validation import Rows, check_number
from .samples import Callback, Samples, SolutionPath, model_path
from .weights import check_shares


def quantile_svm_path(
    X: Rows,
    y: ArrayLike,
    lam: float,
    *,
    sample_weight: ArrayLike | None = None,
    kernel: str = "linear",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    intercept_scaling: float = 1.0,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Compute the quantile SVM for every quantile tau from 0 to 1.

    Minimises, for all tau at once, ::

        lam/2 ||w||^2 + sum_i c_i max(0, 1 - y_i w.x_i),
        c_i = 2 (1 - tau) / n where y_i = +1, and 2 tau / n where y_i = -1,

    whose decision sign(w.x) estimates sign(P(Y = +1 | x) - tau). The bias is the weight of an
    appended constant feature. With sample weights, s_i / sum_j s_j replaces 1/n.

    Parameters
    ----------
    X : (n, d) array or CSR matrix, or (n, n) Gram matrix with ``kernel="precomputed"``
        Rows are samples; scale columns alike. The path keeps a copy, or X itself if nobody can
        write to it.
    y : (n,) array
        Two labels; the larger one is +1.
    lam : float > 0
    sample_weight : (n,) array, optional
        Weights s_i >= 0, some of them positive in both classes; all alike by default.
    kernel, gamma, degree, coef0
        See `svm_path`.
    intercept_scaling : float, default 1.0
        Value of the appended feature; 0 is no bias.
    callback, check
        See `solution_path`.

    Returns
    -------
    SolutionPath
        In ``tau``; ``dual`` gives 0 <= alpha_i <= c_i, with w = (1/lam) sum_i alpha_i y_i x_i.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

    References
    ----------
    Yu, Vishwanathan and Zhang, "The Entire Quantile Path of a Risk-Agnostic SVM Classifier": (3),
    (4) and (8), Algorithm 1.

    Examples
    --------
    >>> from solution_paths import quantile_svm_path
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> path = quantile_svm_path(X, ["no", "no", "yes", "no", "yes", "yes"], 0.1)
    >>> [decision.round(3).tolist() for decision in path.crossings([[3.2]])]  # where it flips
    [[0.743]]
    >>> path.certify().ok
    True
    """
    samples = Samples.of(X, kernel, gamma, degree, coef0)
    signs, classes = samples.labels(y, X)
    lam = check_number(lam, "lam", above=0)
    samples = samples.with_feature(check_number(intercept_scaling, "intercept_scaling"))
    shares = 2.0 * check_shares(sample_weight, X, signs, classes)

    def model(tau: float) -> Problem:
        costs = shares * np.where(signs > 0, 1.0 - tau, tau)
        return samples.machine(losses.hinge(signs, costs), free=None, ridge=lam)

    reading = samples.reading("sign", classes, bias=np.zeros((1, 0)), signs=signs)
    options: dict[str, Any] = {"reading": reading, "callback": callback, "check": check}
    return model_path(model, 0.0, 1.0, parameter="tau", **options)
