"""Lasso: every penalty lam from the largest that matters down to zero.

The coordinates are the coefficients, tied by the Gram matrix of the columns, X'X, which the rows
operator holds as X' without forming it. Kinks stand at X'y -+ lam, levels are (inf, 0, -inf).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..engine.operators import rows_operator
from ..engine.staircase import staircases
from ..engine.tolerances import Tolerances
from ..engine.walker import Walker
from ..objectives import Lasso
from ..path import Leg, Path
from ..validation import Rows
from .common import Callback, Progress, check_walk, dense, finish, path_function, targeted, walk_leg


@path_function
def lasso_path(
    X: Rows,
    y: ArrayLike,
    *,
    lazy: bool = True,
    tolerances: Tolerances | None = None,
    callback: Callback | None = None,
    check: str = "warn",
) -> Path:
    """Compute the lasso for every lam.

    Minimises, for all lam at once, ::

        1/2 ||y - X w||^2 + lam ||w||_1.

    There is no intercept: centre X and y for one. (scikit-learn's alpha is lam / n.)

    Parameters
    ----------
    X : (n, d) array
    y : (n,) array
        Real targets.
    lazy, tolerances, callback, check
        See `quantile_svm_path`.

    Returns
    -------
    Path
        In ``lam``, from 0 to just above ``max |X'y|``, from where w = 0; ``coef`` gives w, ``dual``
        the residual y - X w.

    Raises
    ------
    ValueError, TypeError
        For bad input; the message names the argument and the remedy.
    PathError
        When the path can't be followed to lam = 0; ``error.path`` is the certified part.

    References
    ----------
    Efron, Hastie, Johnstone and Tibshirani (2004), "Least angle regression"; Osborne, Presnell
    and Turlach (2000), "A new approach to variable selection in least squares problems".

    Examples
    --------
    With orthonormal columns the lasso shrinks each correlation by lam:

    >>> import numpy as np
    >>> from solution_paths import lasso_path
    >>> path = lasso_path(np.eye(4, 3), [3.0, 2.0, 1.0, 0.5])
    >>> path.breakpoints.round(3).tolist()
    [0.0, 1.0, 2.0, 3.0, 3.003]
    >>> path.coef(1.5).round(3).tolist()
    [1.5, 0.5, 0.0]
    >>> path.certify().ok
    True
    """
    check_walk(lazy, tolerances, callback)
    objective = Lasso(**dense(targeted(X, y), "lasso_path"))
    X, y = objective.X, objective.y
    correlation = X.T @ y
    largest = np.abs(correlation).max()
    if largest == 0:
        raise ValueError("X.T @ y is zero, so that w = 0 for every lam; check X and y.")
    stairs = staircases(
        [correlation, correlation],
        [np.inf, 0.0, -np.inf],
        kink_rates=[1.0, -1.0],  # in t = -lam
        size=X.shape[1],
    )
    op = rows_operator(np.ascontiguousarray(X.T))
    d = X.shape[1]
    walker = Walker(
        op, stairs, np.full(d, 2, dtype=np.int8), np.zeros(d), -1.001 * largest, tolerances
    )
    # The last stretch is linear; nearer to zero rounding would decide where breakpoints are.
    leg, _, error = walk_leg(walker, -1e-12 * largest, 0.0, -1.0, lazy, Progress(callback, 1))
    if error is None:
        leg = Leg(leg.trace.down_to_zero(0), 0.0, -1.0)
    return finish("lam", [leg], objective, walker.statistics(), error, check=check)
