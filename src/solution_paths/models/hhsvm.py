"""Hybrid Huberised SVM: every lam1, for one lam2."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ..problem import Problem, losses
from ..validation import Rows, check_number
from .coefficients import Bounds, l1_penalty
from .limits import from_least
from .samples import Callback, Samples, SolutionPath, model_path
from .weights import check_sample_weight


def hhsvm_path(
    X: Rows,
    y: ArrayLike,
    *,
    lam2: float = 0.0,
    delta: float = 2.0,
    sample_weight: ArrayLike | None = None,
    positive: bool = False,
    penalty_factor: ArrayLike | None = None,
    bounds: Bounds | None = None,
    lam1_min: float = 0.0,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Compute the hybrid Huberised SVM for every lam1.

    Minimises, for all lam1 at once, ::

        sum_i s_i h(1 - y_i (w.x_i + b)) + lam1 ||w||_1 + lam2/2 ||w||^2,
        h(u) = 0 for u <= 0, u^2 / (2 delta) up to delta, u - delta/2 beyond.

    (gcdnet has a mean in the place of the sum: its penalties are lam1 / n and lam2 / n.)

    Parameters
    ----------
    X : (n, d) array or CSR matrix
    y : (n,) array
        Two labels; the larger one is +1.
    lam2 : float, default 0.0
        >= 0. For several see `path_lines`.
    delta : float, default 2.0
        > 0.
    sample_weight, positive, penalty_factor, bounds
        See `lasso_path`; both labels need some weight.
    lam1_min : float, default 0.0
        Where the path begins.
    callback, check
        See `solution_path`.

    Returns
    -------
    SolutionPath
        In ``lam1`` from lam1_min to infinity. Where w isn't unique it is one of the optimal ones.
        Of several optimal b it is the middle.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

    References
    ----------
    Wang, Zhu and Zou (2008), "Hybrid huberized support vector machines for microarray
    classification and gene selection".

    Examples
    --------
    >>> from solution_paths import hhsvm_path
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [4.0, 1.0], [5.0, 0.0]]
    >>> path = hhsvm_path(X, [0, 0, 1, 0, 1, 1], lam2=0.1)
    >>> path.coef(1.0).round(3).tolist()  # one feature is left
    [0.282, 0.0]
    >>> path.certify().ok
    True
    """
    lam2, delta = check_number(lam2, "lam2", least=0), check_number(delta, "delta", above=0)
    samples = Samples.of(X).centred()
    signs, classes = samples.labels(y, X)
    weights = check_sample_weight(sample_weight, X, signs, classes)
    data = samples.losses(losses.huberised_hinge(signs, delta, weights))
    penalty = l1_penalty(samples.features, positive, penalty_factor, bounds)

    def model(lam1: float) -> Problem:
        return Problem(data, penalty(lam1), ridge=lam2)

    ends, reading = from_least(lam1_min, "lam1_min"), samples.reading("sign", classes)
    return model_path(
        model, **ends, parameter="lam1", reading=reading, callback=callback, check=check
    )
