"""Logistic regression: every penalty lam, within a proved bound."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..solution.approximate import ApproximatePath
from ..validation import Rows
from .curved import curved_path
from .samples import Callback, Samples
from .weights import check_sample_weight


def logistic_path(
    X: Rows,
    y: ArrayLike,
    lam_min: float,
    lam_max: float = np.inf,
    *,
    sample_weight: ArrayLike | None = None,
    l1_ratio: float = 1.0,
    eps: float = 1e-4,
    callback: Callback | None = None,
) -> ApproximatePath:
    """Compute logistic regressions for every lam, each within a bound of the optimum.

    Minimises, for all lam at once, ::

        sum_i s_i log(1 + exp(-y_i (w.x_i + b))) + lam (r ||w||_1 + (1 - r)/2 ||w||^2)

    for sample weights s_i, r = l1_ratio. b is not penalised; columns are not rescaled.
    (scikit-learn's C is 1 / lam.)

    The exact path is curved; here w, b and duals move along straight lines between near-optima. At
    every lam the duality gap, and so the objective's excess over its minimum, is at most eps times
    the objective of the best constant (w = 0). This is proved between breakpoints, not sampled:
    see ``docs/models.md``. From lam to lam / 2 about 1 / (2 sqrt(eps)) lines are enough.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
        A CSR matrix is made dense if l1_ratio = 0 and it has fewer rows than columns.
    y : (n,) array
        Two labels; the larger one is +1.
    lam_min : float
        > 0: at 0 classes that can be separated have no optimum.
    lam_max : float, default inf
        > lam_min. Beyond some lam the solution is the best constant.
    sample_weight : (n,) array, optional
        Weights s_i >= 0, some of them positive in both classes; all 1 by default. A weight of 2
        counts as the row twice, one of 0 as no row.
    l1_ratio : float, default 1.0
        From 0 to 1: 1 is the l1 penalty, 0 the ridge, between them is the elastic net.
    eps : float, default 0.0001
        From 1e-8 to 1.
    callback : callable, optional
        Called as ``callback(done, n_lines)``, with the share of the way in log(lam); see
        `solution_path`.

    Returns
    -------
    ApproximatePath
        In ``lam``.

    Raises
    ------
    ValueError, MemoryError, PathError
        See `PathError`; it is raised where rounding hides gaps of eps.

    References
    ----------
    Giesen, Jaggi and Laue (2012), "Approximating parameterized convex optimization problems".

    Examples
    --------
    >>> from solution_paths import logistic_path
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [4.0, 1.0], [5.0, 0.0]]
    >>> path = logistic_path(X, [0, 0, 1, 0, 1, 1], lam_min=0.01)
    >>> path.coef(1.0).round(2).tolist()  # one feature is left
    [0.68, 0.0]
    >>> path.certify().ok
    True
    """
    samples = Samples.of(X)
    signs, classes = samples.labels(y, X)
    weights = check_sample_weight(sample_weight, X, signs, classes)
    reading = samples.reading("probability", classes)
    options: dict[str, Any] = {
        "lam_min": lam_min,
        "lam_max": lam_max,
        "l1_ratio": l1_ratio,
        "eps": eps,
    }
    options["callback"] = callback
    return curved_path(samples.X, signs, weights, reading, loss="logistic", **options)
