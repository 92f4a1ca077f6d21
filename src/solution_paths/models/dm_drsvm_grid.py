"""Double-margin doubly regularised support vector machine on a grid of lam1 and lam2."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ..solution.surface import Surface, lines_at
from ..validation import Rows, check_grid
from .margins import Margins
from .samples import Callback, SolutionPath


def dm_drsvm_grid(
    X: Rows,
    y: ArrayLike,
    kappa: float,
    lam1_values: ArrayLike,
    lam2_values: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    callback: Callback | None = None,
    check: str = "warn",
) -> Surface:
    """Compute the double-margin doubly regularised machine on a grid of lam1 and lam2.

    One path in lam1 for each lam2, so that it is exact between the values of lam1, too; see
    `dm_drsvm_path` for the objective.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
    y : (n,) array
        Two labels; the larger one is +1.
    kappa : float
        Cost of changing a label, > 0.
    lam1_values : (m,) array
        >= 0; paths go from 0 to the value from which on w, b and rho are zero.
    lam2_values : (k,) array
        > 0.
    sample_weight
        See `svm_path`.
    callback, check
        See `solution_path`.

    Returns
    -------
    Surface
        k lines in ``lam1``.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

    References
    ----------
    Tang, G. (2023). Solution Path Algorithms for Distributionally Robust Regression and
    Classification. Doctoral dissertation, University of Arizona: Algorithm 4.3.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from solution_paths import dm_drsvm_grid
    >>> X, y = load_iris(return_X_y=True)
    >>> surface = dm_drsvm_grid(X[50:], y[50:], 2.0, [0.01, 0.1], [0.01, 0.1, 1.0])
    >>> surface.coefs().shape, surface.certify().ok
    ((3, 2, 4), True)
    >>> path = surface.paths[1]  # lam2 = 0.1
    >>> path.certify().ok
    True
    """
    margins = Margins.of(X, y, kappa, sample_weight)
    prices = check_grid(lam1_values, "lam1_values")
    ridges = check_grid(lam2_values, "lam2_values", above=True)
    largest = margins.largest_lam1()

    path: SolutionPath | None = None  # of the line before, whose start is near the next one

    def line(lam2: float, callback: Callback | None) -> SolutionPath:
        nonlocal path
        path = margins.in_lam1(lam2, largest, 0.0, near=path, callback=callback, check=check)
        return path

    return lines_at(line, "lam2", ridges, prices, callback)
