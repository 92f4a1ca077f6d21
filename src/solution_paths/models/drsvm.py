"""Doubly regularised support vector machine: the hinge loss under an elastic net."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..path import Path
from ..validation import Rows, check_choice
from .common import Callback, check_walk, dense, labelled, path_function
from .dr_regression import elastic_net_path
from .elastic import Options


@path_function
def drsvm_path(
    X: Rows,
    y: ArrayLike,
    *,
    vary: str = "lam1",
    lam1: float | None = None,
    lam2: float | None = None,
    lam2_min: float = 0.0,
    lazy: bool = True,
    callback: Callback | None = None,
    check: str = "warn",
) -> Path:
    """Compute the doubly regularised support vector machine for every lam1, or every lam2.

    Minimises, for all values of one of them at once, ::

        1/n sum_i max(0, 1 - y_i (w.x_i + b)) + lam1 ||w||_1 + lam2/2 ||w||^2,

    with a free bias b. With lam2 = 0 it is `l1_svm_path` (whose lam is n lam1), with lam1 = 0
    `svm_path` (whose C is 1 / (n lam2)). lam1 is the radius of the Wasserstein ball of
    distributions around the data when labels may not change, as kappa = inf in `dm_drsvm_path`.

    Parameters
    ----------
    X : (n, d) array
    y : (n,) array
        Two labels; the larger one is +1.
    vary : {"lam1", "lam2"}
        The path's parameter.
    lam1 : float, optional
        With ``vary="lam2"``: >= 0, 0 if not given.
    lam2 : float, optional
        With ``vary="lam1"``: >= 0, 0 if not given.
    lam2_min : float, default 0.0
        Where a path in lam2 ends, >= 0.
    lazy, callback, check
        See `quantile_svm_path`.

    Returns
    -------
    Path
        In ``lam1`` from 0 to just above the least value at which w = 0; in ``lam2`` (an
        `InversePath`) from infinity down to lam2_min. ``dual`` gives 0 <= alpha_i <= 1/n.

    Raises
    ------
    ValueError, TypeError
        For bad input; the message names the argument and the remedy.
    PathError
        When the path can't be followed to its end; ``error.path`` is the certified part.

    References
    ----------
    Wang, Zhu and Zou (2006), "The doubly regularized support vector machine". The path in lam2 is
    linear in 1 / lam2.

    Examples
    --------
    >>> from solution_paths import drsvm_path
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [4.0, 1.0], [5.0, 0.0]]
    >>> y = ["no", "no", "yes", "no", "yes", "yes"]
    >>> path = drsvm_path(X, y, lam2=0.1)
    >>> [path.coef(lam1).round(3).tolist() for lam1 in (0.05, 0.5)]  # one feature is left
    [[0.526, 0.628], [0.4, 0.0]]
    >>> path.certify().ok
    True
    """
    check_walk(lazy, callback)
    check_choice(vary, "vary", ("lam1", "lam2"))
    samples = dense(labelled(X, y), "drsvm_path")
    samples |= {"kinks": np.zeros(1), "slopes": np.array([0.0, 1.0])}
    options = Options(lazy, callback, check)
    lam1 = 0.0 if vary == "lam2" and lam1 is None else lam1
    return elastic_net_path(samples, vary, None, lam1, lam2, lam2_min, options)
