"""Doubly regularised least absolute deviations: every radius s, every lam1, or every lam2."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from ..validation import Rows
from .dr_regression import dr_regression_path
from .samples import Callback, SolutionPath


def drlad_path(
    X: Rows,
    y: ArrayLike,
    *,
    vary: str | None = None,
    s: float | None = None,
    lam1: float | None = None,
    lam2: float | None = None,
    sample_weight: ArrayLike | None = None,
    s_max: float | None = None,
    lam1_min: float = 0.0,
    lam2_min: float = 0.0,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Compute doubly regularised least absolute deviations for every s, lam1 or lam2.

    Minimises, for all values of one of them at once, ::

        1/n sum_i |y_i - w.x_i - b| + lam2/2 ||w||^2    where ||w||_1 <= s,         or
        1/n sum_i |y_i - w.x_i - b| + lam2/2 ||w||^2 + lam1 ||w||_1,

    with a free bias b. lam1 is the radius of the Wasserstein ball, see `dr_regression_path`.
    Special cases: LAD (the end of a path in s with lam2 = 0), l1-LAD (lam2 = 0), l2-LAD (the path
    in lam2 with lam1 = 0).

    Parameters
    ----------
    X : (n, d) array or CSR matrix
    y : (n,) array
        Real targets.
    vary, s, lam1, lam2, s_max, lam1_min, lam2_min
        See `dr_regression_path`.
    sample_weight, callback, check
        See `lasso_path`, for callback and check `solution_path`.

    Returns
    -------
    SolutionPath
        See `dr_regression_path`.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

    References
    ----------
    Tang, G. (2023). Solution Path Algorithms for Distributionally Robust Regression and
    Classification. Doctoral dissertation, University of Arizona: (3.5) and (3.16), Algorithms 3.1
    and 3.2.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from solution_paths import drlad_path
    >>> X, y = load_diabetes(return_X_y=True)
    >>> path = drlad_path(X[:80], y[:80], lam2=1e-3)
    >>> path.certify().ok
    True
    >>> first = path.coef(10.0)  # the columns that matter most come first
    >>> int((first != 0).sum()), float(abs(first).sum().round(9))
    (3, 10.0)
    """
    given: dict[str, Any] = {"s": s, "lam1": lam1, "lam2": lam2, "sample_weight": sample_weight}
    limits: dict[str, Any] = {"s_max": s_max, "lam1_min": lam1_min, "lam2_min": lam2_min}
    return dr_regression_path(X, y, vary=vary, **given, **limits, callback=callback, check=check)
