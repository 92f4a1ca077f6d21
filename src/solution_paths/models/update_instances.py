"""Exact incremental and decremental learning: samples enter and leave."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ..solution import SolutionPath
from ..validation import shown
from .weights import check_remaining_weight, updated_weights


def update_instances(
    path: SolutionPath,
    *,
    enter: ArrayLike = (),
    leave: ArrayLike = (),
    weight: ArrayLike | None = None,
) -> SolutionPath:
    """Let instances enter and leave a training set: exact incremental and decremental learning.

    Along one line the weights of entering instances grow from zero, and those of leaving instances
    shrink to zero. The cost is that of the events in between, not of a new training. ``dual(1.0)``
    and ``predict(X, 1.0)`` of the result belong to the new training set.

    Parameters
    ----------
    path : SolutionPath
        From `weighted_svm_path` or `weighted_svr_path`, or from this function; it can be continued
        once. Its ``X`` holds every instance that may ever take part, at weight zero until then.
    enter, leave : (k,) int arrays, default ()
        Rows of ``X`` whose weight is zero, and rows whose weight is not.
    weight : scalar or (k,) array, optional
        Weights of the entering instances; by default the largest weight of all.

    Returns
    -------
    SolutionPath
        In ``theta``, from the old training set (0) to the new one (1).

    Raises
    ------
    ValueError
        For a row out of range, an entering row whose weight is positive, or a leaving row whose
        weight is zero; the message names it.

    References
    ----------
    Karasuyama et al. (see `weighted_svm_path`), section 4.1; the problem is that of Cauwenberghs
    and Poggio (2001), "Incremental and decremental support vector machine learning".

    Examples
    --------
    >>> import numpy as np
    >>> from solution_paths import update_instances, weighted_svm_path
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [1.6]])
    >>> y = np.array([-1, -1, 1, 1, -1])
    >>> weights = np.array([1.0, 1.0, 1.0, 1.0, 0.0])  # the fifth is yet to come
    >>> path = weighted_svm_path(X, y, weights, weights)
    >>> path = update_instances(path, enter=[4], leave=[1])
    >>> path.dual(1.0).round(3)
    array([0.089, 0.   , 1.   , 0.089, 1.   ])
    >>> path.certify().ok
    True
    """
    if not isinstance(path, SolutionPath):
        raise TypeError(
            f"path must be a SolutionPath, not {shown(path)}; compute one with weighted_svm_path."
        )
    continuation = path.check_continuable()
    new = updated_weights(continuation.weights, enter, leave, weight)
    check_remaining_weight(new, continuation.labels)
    return path.continue_to(new)
