"""Lasso: every penalty lam from the largest that matters down to zero.

The coordinates are the coefficients, tied by the Gram matrix of the columns, X'X, which the rows
operator holds as X' without forming it. Kinks stand at X'y -+ lam, levels are (inf, 0, -inf).
With an intercept columns and y are centred; a CSR matrix, which would be dense then, has a column
of ones more, whose coefficient is free.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..objectives import Lasso
from ..objectives.centring import uncorrelated
from ..path import Leg, Path
from ..validation import Rows, check_flag
from ..walks.map import rows_map
from ..walks.staircase import stack, staircases
from ..walks.walker import start
from .common import (
    Callback,
    Progress,
    Uncorrelated,
    check_walk,
    finish,
    path_function,
    scaled,
    targeted,
    walk_leg,
)


@path_function
def lasso_path(
    X: Rows,
    y: ArrayLike,
    *,
    fit_intercept: bool = False,
    lazy: bool = True,
    callback: Callback | None = None,
    check: str = "warn",
) -> Path:
    """Compute the lasso for every lam.

    Minimises, for all lam at once, ::

        1/2 ||y - X w - b||^2 + lam ||w||_1,

    where b = 0 unless there is an intercept. (scikit-learn's alpha is lam / n.)

    Parameters
    ----------
    X : (n, d) array or CSR matrix
        A CSR matrix is never made dense.
    y : (n,) array
        Real targets.
    fit_intercept : bool, default False
        Whether b is fitted, too.
    lazy, callback, check
        See `quantile_svm_path`.

    Returns
    -------
    Path
        In ``lam``, from 0 to just above ``max |X'(y - b)|``, from where w = 0; ``coef`` gives w,
        ``intercept`` b, ``dual`` the residual y - X w - b.

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
    check_walk(lazy, callback)
    check_flag(fit_intercept, "fit_intercept")
    objective = Lasso(**scaled(targeted(X, y)), fit_intercept=bool(fit_intercept))
    X, y, d = objective.centred, objective.walked_targets, objective.X.shape[1]
    correlation = X.T @ y
    largest = np.abs(correlation).max()
    if uncorrelated(X, y):
        raise Uncorrelated(
            "No column of X correlates with y, so that w = 0 for every lam; check X and y."
        )
    stairs = staircases(
        [correlation, correlation],
        [np.inf, 0.0, -np.inf],
        kink_rates=[1.0, -1.0],  # in t = -lam
        size=d,
    )
    rows, states = X.T, np.full(d, 2, dtype=np.int8)
    if objective.fit_intercept and sp.issparse(X):  # b is the coefficient of a column of ones
        rows, states = sp.vstack([rows, np.ones((1, len(y)))]), np.append(states, np.int8(1))
        stairs = stack(stairs, staircases([0.0], [np.inf, -np.inf], size=1))
    op = rows_map(sp.csr_array(rows) if sp.issparse(rows) else np.ascontiguousarray(rows))
    walker = start(op, stairs, -1.001 * largest, states, lazy=lazy)
    # The last stretch is linear; nearer to zero rounding would decide where breakpoints are.
    leg, _, error = walk_leg(walker, -1e-12 * largest, 0.0, -1.0, Progress(callback, 1))
    if error is None:
        leg = Leg(leg.trace.down_to_zero(0), 0.0, -1.0)
    return finish("lam", [leg], objective, walker.statistics(), error, check=check)
