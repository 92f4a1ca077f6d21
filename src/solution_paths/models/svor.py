"""Support vector ordinal regression: every cost C, thresholds between ordered classes."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..problem import Losses, Problem, losses, penalties
from ..validation import Rows, check_choice
from .limits import up_to
from .samples import Callback, Samples, SolutionPath, model_path
from .weights import check_sample_weight


def svor_path(
    X: Rows,
    y: ArrayLike,
    *,
    thresholds: str = "explicit",
    sample_weight: ArrayLike | None = None,
    C_max: float | None = None,
    kernel: str = "linear",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Compute support vector ordinal regression for every C.

    Minimises over w and thresholds b_1 <= ... <= b_{r-1}, for all C at once, ::

        1/2 ||w||^2 + C sum_j [ sum_{i below} max(0, 1 + f(x_i) - b_j)
                              + sum_{i above} max(0, 1 - f(x_i) + b_j) ],    f(x) = w.x,

    with costs C s_i for sample weights s_i. With explicit thresholds the sums for b_j are over its
    two adjacent classes, and the order of thresholds is a constraint. With implicit ones they are
    over all samples, and the order needs none. With two classes it is the C-SVM, b = -b_1.

    Parameters
    ----------
    X : (n, d) array or CSR matrix, or (n, n) Gram matrix with ``kernel="precomputed"``
    y : (n,) array
        Labels of two classes or more: numbers, or an ordered `pandas.Categorical` (also a Series
        of it), whose order of categories is that of the classes. Strings are refused.
    thresholds : {"explicit", "implicit"}
    C_max : float, optional
        Where to stop.
    sample_weight, kernel, gamma, degree, coef0, callback, check
        See `svm_path`, for callback and check `solution_path`; each class needs some weight.

    Returns
    -------
    SolutionPath
        In ``C`` from 0 up; ``free`` gives the thresholds, ``predict`` the class between whose
        thresholds f(x) lies. ``error_curve(..., "absolute")`` is the mean distance of classes. Of
        several optimal thresholds they are the middle, one after the other.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

    References
    ----------
    Chu and Keerthi (2007), "Support vector ordinal regression"; Gu, Ling and Sheng (2016), "A
    regularization path algorithm for support vector ordinal regression"; dissertation, 2.2.9.

    Examples
    --------
    >>> from solution_paths import svor_path
    >>> path = svor_path([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [1, 1, 2, 2, 3, 3])
    >>> path.predict([[0.0], [2.5], [9.0]], 10.0).tolist(), path.free(10.0).round(9).tolist()
    ([1, 2, 3], [3.0, 7.0])
    >>> path.certify().ok
    True
    """
    check_choice(thresholds, "thresholds", ("explicit", "implicit"))
    samples = Samples.of(X, kernel, gamma, degree, coef0)
    codes, classes = samples.classes(y, X, ordered=True)
    weights = check_sample_weight(sample_weight, X, codes, classes)
    r, explicit = len(classes), thresholds == "explicit"
    code, j = codes[:, None], np.arange(r - 1)
    below, above = (code == j, code == j + 1) if explicit else (code <= j, code > j)
    row, column = np.nonzero(below | above)
    signs, m = np.where(above[row, column], 1.0, -1.0), len(row)
    take = sp.csr_array(sp.eye_array(samples.n, format="csr")[row])
    free = np.zeros((m, r - 1))
    free[np.arange(m), column] = -1.0
    order = Losses(penalties.at_least(r - 2), 0, np.diff(np.eye(r - 1), axis=0)) if r > 2 else None

    def model(C: float) -> Problem:
        data = samples.losses(losses.hinge(signs, C * weights[row]), free, take)
        groups = [data, order] if explicit and order is not None else [data]
        return Problem(groups, ridge=1.0, kernel=samples.K)

    reading = samples.reading("order", classes, np.zeros((1, r - 1)))
    options = up_to(C_max, "C_max") | {"parameter": "C", "callback": callback}
    return model_path(model, **options, reading=reading, check=check)
