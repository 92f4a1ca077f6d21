"""Doubly regularised least absolute deviations on a grid of s and lam2."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from ..problem import Problem, losses
from ..solution.surface import Surface, lines_at
from ..validation import Rows, check_grid
from .samples import Callback, Samples, SolutionPath, model_path
from .weights import check_shares


def drlad_grid(
    X: Rows,
    y: ArrayLike,
    s_values: ArrayLike,
    lam2_values: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    callback: Callback | None = None,
    check: str = "warn",
) -> Surface:
    """Compute doubly regularised least absolute deviations on a grid of s and lam2.

    One path in s for each lam2, so that it is exact between the values of s, too; see `drlad_path`
    for the objective.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
    y : (n,) array
        Real targets.
    s_values : (m,) array
        Radii of the l1 constraint, >= 0; paths go from 0 to the largest.
    lam2_values : (k,) array
        Weights of ||w||^2 / 2, >= 0.
    sample_weight
        See `lasso_path`.
    callback, check
        See `solution_path`.

    Returns
    -------
    Surface
        k lines in ``s``.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

    References
    ----------
    Tang, G. (2023). Solution Path Algorithms for Distributionally Robust Regression and
    Classification. Doctoral dissertation, University of Arizona: Algorithm 3.3.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from solution_paths import drlad_grid
    >>> X, y = load_diabetes(return_X_y=True)
    >>> surface = drlad_grid(X[:60], y[:60], [100.0, 200.0, 400.0], [0.0, 1e-3, 1e-2])
    >>> surface.coefs().shape, surface.certify().ok
    ((3, 3, 10), True)
    >>> path = surface.paths[1]  # lam2 = 1e-3
    >>> path.certify().ok
    True
    >>> best = surface.best(X[60:], y[60:])
    >>> bool(best.value <= min(curve([100.0, 200.0, 400.0]).min() for curve in
    ...                        surface.error(X[60:], y[60:])))
    True
    """
    samples = Samples.of(X).centred()
    radii, ridges = check_grid(s_values, "s_values"), check_grid(lam2_values, "lam2_values")
    targets, level = samples.centred_targets(y, X)
    data = samples.losses(losses.absolute(targets, check_shares(sample_weight, X, targets)))

    def line(lam2: float, callback: Callback | None) -> SolutionPath:
        def model(s: float) -> Problem:
            return Problem(data, ridge=lam2, constraint=s)

        reading = samples.reading("robust", offset=level)
        options: dict[str, Any] = {"parameter": "s", "reading": reading}
        return model_path(model, 0.0, float(radii.max()), **options, callback=callback, check=check)

    return lines_at(line, "lam2", ridges, radii, callback)
