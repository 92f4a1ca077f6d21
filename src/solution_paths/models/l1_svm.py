"""l1-penalised support vector machine: every penalty lam."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ..problem import Problem, losses
from ..validation import Rows
from .coefficients import Bounds, l1_penalty
from .limits import from_least
from .samples import Callback, Samples, SolutionPath, model_path
from .weights import check_sample_weight


def l1_svm_path(
    X: Rows,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    positive: bool = False,
    penalty_factor: ArrayLike | None = None,
    bounds: Bounds | None = None,
    lam_min: float = 0.0,
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
    positive, penalty_factor, bounds, lam_min
        See `lasso_path`.
    callback, check
        See `solution_path`.

    Returns
    -------
    SolutionPath
        In ``lam`` from lam_min to infinity; from the last breakpoint on w = 0. w and b are constant
        between breakpoints and jump there: at a breakpoint any point between both ends is optimal.
        Of several optimal b it is the middle.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

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
    penalty = l1_penalty(samples.features, positive, penalty_factor, bounds)

    def model(lam: float) -> Problem:
        return Problem(data, penalty(lam))

    ends, reading = from_least(lam_min, "lam_min"), samples.reading("sign", classes)
    return model_path(
        model, **ends, parameter="lam", reading=reading, callback=callback, check=check
    )
