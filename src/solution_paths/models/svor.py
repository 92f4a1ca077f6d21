"""Support vector ordinal regression: every cost C, thresholds between ordered classes."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..problem import Losses, Problem, losses, penalties
from ..validation import Rows, check_choice
from .stated import Samples, SolutionPath, solution_path


def svor_path(
    X: Rows,
    y: ArrayLike,
    *,
    thresholds: str = "explicit",
    kernel: str = "linear",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    check: str = "warn",
) -> SolutionPath:
    """Compute support vector ordinal regression for every C.

    Minimises over w and thresholds b_1 <= ... <= b_{r-1}, for all C at once, ::

        1/2 ||w||^2 + C sum_j [ sum_{i below} max(0, 1 + f(x_i) - b_j)
                              + sum_{i above} max(0, 1 - f(x_i) + b_j) ],    f(x) = w.x.

    With explicit thresholds the samples below and above b_j are those of the two classes beside
    it, and their order is enforced; with implicit ones they are all of them, and the order comes
    by itself. Two classes: the C-SVM, with b = -b_1.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
        Samples; with ``kernel="precomputed"`` the (n, n) kernel matrix.
    y : (n,) array
        Labels of two classes or more: numbers, or an ordered `pandas.Categorical` (also a Series
        of it), whose order of categories is that of the classes. Strings have none.
    thresholds : {"explicit", "implicit"}
    kernel, gamma, degree, coef0
        See `svm_path`.
    check : {"warn", "raise", "ignore"}
        See `solution_path`.

    Returns
    -------
    SolutionPath
        In ``C`` from 0 to infinity; ``free`` gives the thresholds, ``predict`` the class whose
        thresholds f(x) lies between. ``error_curve(..., "absolute")`` is the mean distance of
        classes. Where a threshold isn't unique it is some optimal one.

    Raises
    ------
    ValueError
        For bad input; the message names the argument and the remedy.
    PathError
        The path can't be followed.

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
    r, explicit = len(classes), thresholds == "explicit"
    j = np.arange(r - 1)
    below = (codes[:, None] == j) if explicit else (codes[:, None] <= j)
    above = (codes[:, None] == j + 1) if explicit else (codes[:, None] > j)
    row, column = np.nonzero(below | above)
    signs, m = np.where(above[row, column], 1.0, -1.0), len(row)
    take = sp.csr_array(sp.eye_array(samples.n, format="csr")[row])
    free = np.zeros((m, r - 1))
    free[np.arange(m), column] = -1.0
    order = Losses(penalties.at_least(r - 2), 0, np.diff(np.eye(r - 1), axis=0)) if r > 2 else None

    def model(C: float) -> Problem:
        data = samples.losses(losses.hinge(signs, C), free, take)
        groups = [data, order] if explicit and order is not None else [data]
        return Problem(groups, ridge=1.0, kernel=samples.K)

    reading = samples.reading("order", classes, np.zeros((1, r - 1)))
    return solution_path(model, 0.0, np.inf, parameter="C", reading=reading, check=check)
