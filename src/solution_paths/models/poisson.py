"""Poisson regression: every penalty lam, within a proved bound."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..solution.approximate import ApproximatePath
from ..validation import Rows, check_counts, check_index
from .curved import curved_path
from .samples import Callback, Samples
from .weights import check_sample_weight


def poisson_path(
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
    """Compute Poisson regressions of counts for every lam, each within a bound of the optimum.

    With the logarithm as link, f_i = w.x_i + b, minimises for all lam at once ::

        sum_i s_i (exp(f_i) - y_i f_i + y_i log y_i - y_i) + lam (r ||w||_1 + (1 - r)/2 ||w||^2)

    for sample weights s_i, r = l1_ratio. A loss is half its row's deviance. b is not penalised;
    columns are not rescaled. (scikit-learn's PoissonRegressor divides by the sum of weights: its
    alpha is lam over that, with l1_ratio = 0.)

    As in `logistic_path`, the duality gap at every lam, and so the objective's excess over its
    minimum, is at most eps times the objective of the best constant, half the null deviance.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
        A CSR matrix is made dense if l1_ratio = 0 and it has fewer rows than columns.
    y : (n,) array
        Counts or rates, >= 0; not all equal.
    lam_min : float
        > 0.
    lam_max : float, default inf
        > lam_min. Beyond some lam the solution is the best constant.
    sample_weight : (n,) array, optional
        Weights s_i >= 0; all 1 by default. For rates the weights are their exposures.
    l1_ratio, eps, callback
        See `logistic_path`.

    Returns
    -------
    ApproximatePath
        In ``lam``; its ``predict`` returns expected counts, ``decision_function`` their logarithms.

    Raises
    ------
    ValueError, MemoryError, PathError
        See `PathError`; it is raised where rounding hides gaps of eps.

    References
    ----------
    Giesen, Jaggi and Laue (2012), "Approximating parameterized convex optimization problems".

    Examples
    --------
    >>> from solution_paths import poisson_path
    >>> path = poisson_path([[0.0], [1.0], [2.0], [3.0]], [1, 0, 3, 6], lam_min=0.01)
    >>> path.predict([[0.0], [4.0]], 0.1).round(1).tolist()
    [0.5, 13.8]
    >>> path.certify().ok
    True
    """
    samples = Samples.of(X)
    check_index(X, y, "y")
    counts = check_counts(y, samples.n, "y")
    weights = check_sample_weight(sample_weight, X, counts)
    used = counts[weights > 0]
    if np.ptp(used) == 0.0:
        raise ValueError(
            f"y is {used[0]:g} in all rows with a weight, so that a constant fits exactly for "
            "every lam; pass counts that differ."
        )
    options: dict[str, Any] = {
        "lam_min": lam_min,
        "lam_max": lam_max,
        "l1_ratio": l1_ratio,
        "eps": eps,
    }
    options |= {"loss": "poisson", "callback": callback}
    return curved_path(samples.X, counts, weights, samples.reading("count"), **options)
