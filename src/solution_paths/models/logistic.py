"""Logistic regression: every penalty lam, within a proved bound."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from ..errors import PathError
from ..glm import follow
from ..solution.approximate import ApproximatePath
from ..validation import Rows, check_number
from .stated import Samples


def logistic_path(
    X: Rows,
    y: ArrayLike,
    lam_min: float,
    lam_max: float = np.inf,
    *,
    l1_ratio: float = 1.0,
    eps: float = 1e-4,
) -> ApproximatePath:
    """Compute logistic regressions for every lam, each within a bound of the optimum.

    Minimises, for all lam at once, ::

        sum_i log(1 + exp(-y_i (w.x_i + b))) + lam (r ||w||_1 + (1 - r)/2 ||w||^2),   r = l1_ratio.

    b is free of the penalty, which takes columns in the units they have. (scikit-learn's C is
    1 / lam.)

    Optima move along curves; here w, b and duals move along straight lines between near-optima. At
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
    l1_ratio : float, default 1.0
        From 0 to 1: 1 is the l1 penalty, 0 the ridge, between them is the elastic net.
    eps : float, default 0.0001
        From 1e-8 to 1.

    Returns
    -------
    ApproximatePath
        In ``lam``.

    Raises
    ------
    ValueError, MemoryError
        For bad input; the message names the argument and the remedy.
    PathError
        Rounding hides gaps of eps; ``error.path`` is the part that keeps the bound.

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
    lam_min = check_number(lam_min, "lam_min", above=0)
    lam_max = check_number(lam_max, "lam_max", above=lam_min, infinite=True)
    l1_ratio = check_number(l1_ratio, "l1_ratio", least=0, most=1)
    eps = check_number(eps, "eps", least=1e-8, most=1)
    lines, found = follow(samples.X, signs, lam_min, lam_max, l1_ratio, eps), None
    if lines is not None:
        reading = samples.reading("sign", classes)
        path = ApproximatePath(samples.X, signs, lines, reading, l1_ratio=l1_ratio, eps=eps)
        found = path if path.certify(8).ok else None
        if found is not None and lines.complete:
            return found
    raise PathError(
        f"No path within eps = {eps:g} was found down to lam = {lam_min:g}: rounding hides such "
        "gaps; choose a larger eps or lam_min, or scale the columns of X alike.",
        cast(Any, found),
    )
