"""Pinball twin SVM: two planes, each near one class, for every tau or every cost C."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..problem import Losses, Problem, Product, Repeated, losses
from ..problem.maps import frozen
from ..validation import Floats, Rows, check_number
from .limits import between, up_to
from .samples import Callback, Samples, SolutionPath, fixed, model_path, what_varies
from .weights import check_sample_weight


def pin_twin_svm_path(
    X: Rows,
    y: ArrayLike,
    *,
    vary: str | None = None,
    tau: float | None = None,
    C: float | None = None,
    lam: float = 0.0,
    sample_weight: ArrayLike | None = None,
    C_max: float | None = None,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Compute the pinball twin SVM for every tau or every C.

    Minimises, for each class k with the plane f_k(x) = w_k.x + b_k, ::

        1/2 sum_{i in k} f_k(x_i)^2 + C sum_{i not in k} max(u_i, -tau u_i) + lam/2 ||w_k||^2,

    u_i = 1 - s f_k(x_i), where s = 1 if i has the larger label, else -1: each plane is near class k
    and at a distance of 1 from the other. One path has both. Sample weights multiply losses.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
    y : (n,) array
        Two labels; the larger one is +1.
    vary, tau, C
        See `pin_svm_path`; tau is in [0, 1].
    lam : float, default 0.0
        >= 0; 0 is the original, whose planes may not be unique.
    sample_weight, C_max, callback, check
        See `svm_path`, for callback and check `solution_path`.

    Returns
    -------
    SolutionPath
        In tau from 0 to 1, or in C from 0 up. ``coef`` (2, d) and ``intercept`` (2,) have the
        smaller label's plane first; ``predict`` gives the label of the nearer plane.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

    References
    ----------
    Jayadeva, Khemchandani and Chandra (2007), "Twin support vector machines for pattern
    classification", with the loss of Xu, Yang and Pan (2017); Yang et al., "A solution path
    approach for PinTSVM"; dissertation, 2.3.6.

    Examples
    --------
    >>> from solution_paths import pin_twin_svm_path
    >>> X = [[0.0, 0.0], [1.0, 1.1], [2.0, 2.0], [0.0, 2.0], [1.0, 3.1], [2.0, 4.0]]
    >>> path = pin_twin_svm_path(X, [0, 0, 0, 1, 1, 1])
    >>> path.predict([[3.0, 3.0], [3.0, 5.0]], 0.5).tolist()
    [0, 1]
    >>> path.certify().ok
    True
    """
    vary = what_varies(vary, {"tau": tau, "C": C}, C_max=C_max)
    C, tau = fixed("C", C, 1.0, above=0), fixed("tau", tau, 0.5, least=0, most=1)
    lam, samples = check_number(lam, "lam", least=0), Samples.of(X)
    signs, classes = samples.labels(y, X)
    weights = np.tile(check_sample_weight(sample_weight, X, signs, classes), 2)
    n, both, planes = samples.n, Repeated(samples.X, 2), np.repeat([-1.0, 1.0], samples.n)
    in_class = np.tile(signs, 2) == planes  # of rows of all samples for each plane

    def maps(which: np.ndarray) -> tuple[Product, Floats]:
        free = np.column_stack([planes[which] < 0, planes[which] > 0]).astype(float)
        return Product(sp.eye_array(2 * n, format="csr")[np.flatnonzero(which)], both), frozen(free)

    near_maps, away_maps = maps(in_class), maps(~in_class)

    def model(t: float) -> Problem:
        shape, cost = (t, C) if vary == "tau" else (tau, t)
        near = losses.squared(np.zeros(n), weights[in_class])
        away = losses.pinball_hinge(np.tile(signs, 2)[~in_class], shape, cost * weights[~in_class])
        return Problem([Losses(near, *near_maps), Losses(away, *away_maps)], ridge=lam)

    options = between(0.0, 1.0) if vary == "tau" else up_to(C_max, "C_max")
    options |= {"parameter": vary, "callback": callback, "check": check}
    return model_path(model, **options, reading=samples.reading("nearest", classes, np.eye(2)))
