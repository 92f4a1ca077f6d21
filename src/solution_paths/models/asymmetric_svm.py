"""Cost-sensitive SVM: two costs, one for each class, along any line."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..problem import Problem, losses
from ..validation import Rows, check_vector
from .samples import Callback, Samples, SolutionPath, model_path
from .weights import check_sample_weight


def asymmetric_svm_path(
    X: Rows,
    y: ArrayLike,
    *,
    costs_from: Sequence[float] = (0.0, 1.0),
    costs_to: Sequence[float] = (1.0, 0.0),
    sample_weight: ArrayLike | None = None,
    kernel: str = "linear",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Compute the cost-sensitive SVM for all pairs of costs on a line.

    Minimises ::

        1/2 ||w||^2 + C+ sum_{y_i = 1} max(0, 1 - f(x_i)) + C- sum_{y_i = -1} max(0, 1 + f(x_i)),
        (C+, C-) = (1 - ratio) costs_from + ratio costs_to,    f(x) = w.x + b.

    By default C+ = ratio and C- = 1 - ratio; sample weights multiply the costs. For the surface
    over both costs see `path_lines`.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
        Samples; with ``kernel="precomputed"`` the (n, n) kernel matrix.
    y : (n,) array
        Two labels; the larger one is +1.
    costs_from : two floats, default (0.0, 1.0)
    costs_to : two floats, default (1.0, 0.0)
        (C+, C-) >= 0 at both ends of the path.
    sample_weight, kernel, gamma, degree, coef0
        See `svm_path`.
    callback, check
        See `solution_path`.

    Returns
    -------
    SolutionPath
        In ``ratio`` from 0 to 1; `roc_curve` gives its exact ROC curve. Of several optimal b it is
        the middle.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

    References
    ----------
    Bach, Heckerman and Horvitz (2006), "Considering cost asymmetry in learning classifiers"; Gu,
    Sheng and Li (2015), "Bi-parameter space partition for cost-sensitive SVM"; dissertation, 2.3.6.

    Examples
    --------
    >>> from solution_paths import asymmetric_svm_path
    >>> path = asymmetric_svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    >>> path.predict([[1.5]], [0.1, 0.9]).tolist()
    [[0, 1]]
    >>> path.certify().ok
    True
    """
    first, last = (
        check_vector(costs, 2, name, scalar=False, of="the pair of classes")
        for costs, name in ((costs_from, "costs_from"), (costs_to, "costs_to"))
    )
    if min(first.min(), last.min()) < 0:
        raise ValueError("costs_from and costs_to must hold costs (C+, C-) >= 0: correct them.")
    samples = Samples.of(X, kernel, gamma, degree, coef0).centred()
    signs, classes = samples.labels(y, X)
    weights = check_sample_weight(sample_weight, X, signs, classes)

    def model(ratio: float) -> Problem:
        positive, negative = (1.0 - ratio) * first + ratio * last
        costs = weights * np.where(signs > 0, positive, negative)
        return samples.machine(losses.hinge(signs, costs))

    reading = samples.reading("sign", classes)
    return model_path(
        model, 0.0, 1.0, parameter="ratio", reading=reading, callback=callback, check=check
    )
