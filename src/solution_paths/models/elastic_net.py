"""Elastic net: every lam1, for one lam2; lam2 = 0 is the lasso with an intercept."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..problem import Problem, losses, penalties
from ..validation import Rows, check_flag, check_number
from .stated import Samples, SolutionPath, solution_path


def elastic_net_path(
    X: Rows,
    y: ArrayLike,
    *,
    lam2: float = 0.0,
    fit_intercept: bool = True,
    check: str = "warn",
) -> SolutionPath:
    """Compute the elastic net for every lam1.

    Minimises, for all lam1 at once, ::

        1/2 sum_i (y_i - w.x_i - b)^2 + lam1 ||w||_1 + lam2/2 ||w||^2.

    (scikit-learn divides by n: alpha = (lam1 + lam2) / n, l1_ratio = lam1 / (lam1 + lam2). Without
    the halves, as in Zou and Hastie, the penalties are 2 lam1 and lam2.) In lam2 the path is
    curved: see `path_lines` for exact lines at several lam2.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
    y : (n,) array
        Targets.
    lam2 : float, default 0.0
        >= 0.
    fit_intercept : bool, default True
        Whether b is fitted; without, b = 0.
    check : {"warn", "raise", "ignore"}
        See `solution_path`.

    Returns
    -------
    SolutionPath
        In ``lam1`` from 0 to infinity; ``dual`` gives residuals y - w.x - b. Where w isn't unique
        (lam2 = 0, dependent columns) it is some optimal one.

    Raises
    ------
    ValueError
        For bad input; the message names the argument and the remedy.
    PathError
        The path can't be followed.

    References
    ----------
    Zou and Hastie (2005), "Regularization and variable selection via the elastic net";
    dissertation, (2.3) and (2.6).

    Examples
    --------
    >>> import numpy as np
    >>> from solution_paths import elastic_net_path
    >>> path = elastic_net_path(np.eye(4, 3), [3.0, 2.0, 1.0, 0.5], lam2=1.0, fit_intercept=False)
    >>> path.breakpoints.round(9).tolist(), path.coef(1.5).round(9).tolist()
    ([0.0, 1.0, 2.0, 3.0], [0.75, 0.25, 0.0])
    >>> path.certify().ok
    True
    """
    check_flag(fit_intercept, "fit_intercept")
    lam2 = check_number(lam2, "lam2", least=0)
    samples = Samples.of(X).centred(fit_intercept)
    targets, level = samples.near_targets(y, X, fit_intercept)
    data = samples.losses(losses.squared(targets), 1.0 if fit_intercept else None)

    def model(lam1: float) -> Problem:
        return Problem(data, penalties.l1(samples.features, lam1), ridge=lam2)

    reading = samples.reading(bias=[[1.0]] if fit_intercept else [[]], offset=level)
    return solution_path(model, 0.0, np.inf, parameter="lam1", reading=reading, check=check)
