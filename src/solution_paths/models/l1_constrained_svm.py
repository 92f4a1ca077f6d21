"""SVM under an l1 constraint: every radius s."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ..problem import Problem, losses
from ..validation import Rows, check_number
from .limits import up_to
from .samples import Callback, Samples, SolutionPath, model_path
from .weights import check_sample_weight


def l1_constrained_svm_path(
    X: Rows,
    y: ArrayLike,
    *,
    lam2: float = 0.0,
    sample_weight: ArrayLike | None = None,
    s_max: float | None = None,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Compute the SVM under an l1 constraint for every radius s.

    Minimises, for all s at once, ::

        sum_i c_i max(0, 1 - y_i (w.x_i + b)) + lam2/2 ||w||^2    subject to ||w||_1 <= s

    for sample weights c_i. With lam2 = 0 the solutions are those of `l1_svm_path`: each s
    corresponds to the lam that is its multiplier. With lam2 > 0 it is the doubly regularised SVM.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
    y : (n,) array
        Two labels; the larger one is +1.
    lam2 : float, default 0.0
        >= 0.
    sample_weight : (n,) array, optional
        Weights c_i >= 0, some of them positive in both classes; all 1 by default.
    s_max : float, optional
        Where to stop, > 0.
    callback, check
        See `solution_path`.

    Returns
    -------
    SolutionPath
        In ``s`` from 0 to s_max, or infinity. Of several optimal b it is the middle.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

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
    weights = check_sample_weight(sample_weight, X, signs, classes)
    data = samples.losses(losses.hinge(signs, weights))

    def model(s: float) -> Problem:
        return Problem(data, ridge=lam2, constraint=s)

    ends, reading = up_to(s_max, "s_max"), samples.reading("sign", classes)
    return model_path(model, **ends, parameter="s", reading=reading, callback=callback, check=check)
