"""Conditional conformal prediction: cutoffs of scores as functions of features, and of a kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..kernels.centring import shifted, shifts_of
from ..kernels.kernel import LINEAR
from ..problem import Losses, Problem, losses
from ..solution import conditional
from ..solution.conformal import batches, stacked
from ..validation import Rows, check_X, feature_names
from .samples import Samples, with_column


def conditional_conformal_path(
    X: Rows,
    scores: ArrayLike,
    X_new: Rows,
    *,
    alpha: float = 0.1,
    features: conditional.Features | None = None,
    kernel: str | None = None,
    gamma: float | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    lam: float = 1.0,
    check: str = "warn",
) -> list[conditional.ConditionalPath]:
    """Compute exact conditional conformal prediction sets of the scores of new rows.

    For a new row of score S minimises over g(x) = b + beta.features(x) + h(x) ::

        1/(n + 1) sum_i l(s_i - g(x_i)) + lam/2 ||h||^2,   l(r) = max((1 - alpha) r, -alpha r),

    where the sum includes the new row; h is in the kernel's Hilbert space, or 0. The prediction
    set holds each S at which the new row's dual is below some u in [-alpha, 1 - alpha].

    Parameters
    ----------
    X, X_new : (n, d) and (m, d) array, DataFrame or CSR matrix
        Calibration rows, which the scored model was not fitted to, and new rows, each by itself.
    scores : (n,) array
        How badly the model does at each row of X, such as ``abs(y - predicted)``.
    alpha : float, default 0.1
        The share of scores that may be missed.
    features : callable, optional
        Of rows, returns (rows, k) numbers, such as indicators of groups.
    kernel : {"linear", "rbf", "poly"}, optional
    gamma : float, optional
    degree, coef0
        See `svm_path`.
    lam : float, default 1.0
        Weight of h, > 0.
    check
        See `conformal_path`.

    Returns
    -------
    list of ConditionalPath
        One for each new row.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

    References
    ----------
    Gibbs, Cherian and Candes (2025), "Conformal prediction with conditional guarantees", JRSS B 87.

    Examples
    --------
    >>> from solution_paths import conditional_conformal_path
    >>> X, scores = [[0]] * 9 + [[1]] * 9, [*range(1, 10), *range(10, 100, 10)]
    >>> low, path = conditional_conformal_path(X, scores, [[0], [1]], alpha=0.25, features=abs)
    >>> low.cutoff().item(), path.cutoff().item()  # the eighth of nine scores in each group
    (8.0, 80.0)
    >>> path.certify().ok
    True
    """
    alpha, lam = conditional.checked(alpha, kernel, gamma, lam)
    rows = Samples(check_X(X), LINEAR, feature_names(X))
    targets, offset = rows.centred_targets(scores, X, name="scores")
    new, n = rows.reading().checked(X_new), rows.n
    old, others = (conditional.columns(features, *part) for part in ((X, n), (X_new, new.shape[0])))

    def batch_problem(batch: slice) -> Problem:
        free = np.vstack([old, others[batch]])
        free, known = with_column(shifted(free, shifts_of(free)), 1.0), np.arange(len(free)) < n
        loss = losses.pinball(np.append(targets, 0.0 * free[n:, 0]), 1.0 - alpha, known)
        if kernel is None:
            return Problem(Losses(loss, free))
        samples = Samples.of(stacked(rows.X, new[batch]), kernel, gamma, degree, coef0).centred()
        return samples.machine(loss, free, ridge=lam * (n + 1))

    arguments = n, alpha, offset, check
    problems = map(batch_problem, batches(n, new.shape[0]))
    return [path for problem in problems for path in conditional.paths(problem, *arguments)]
