"""Double-margin doubly regularised support vector machine: every lam2, or every lam1."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from ..problem import Problem
from ..validation import Rows, check_number
from .limits import down_to
from .margins import Margins
from .samples import IN_INVERSE, Callback, SolutionPath, model_path, what_varies


def dm_drsvm_path(
    X: Rows,
    y: ArrayLike,
    kappa: float,
    *,
    vary: str | None = None,
    lam1: float | None = None,
    lam2: float | None = None,
    sample_weight: ArrayLike | None = None,
    lam1_min: float = 0.0,
    lam2_min: float = 0.0,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Compute the double-margin doubly regularised machine for every lam2, or every lam1.

    Minimises, for all values of one of them at once, over w, b and rho >= ||w||_1, ::

        lam2/2 ||w||^2 + lam1 rho + 1/n sum_i max(0, 1 - m_i, 1 + m_i - kappa rho),

    with margins m_i = y_i (w.x_i + b). With sample weights, s_i / sum_j s_j replaces 1/n. lam1 is
    the radius of the Wasserstein ball of distributions around the data when moving x costs its
    largest change, and changing a label kappa. With kappa = inf it would be `drsvm_path`. The path
    includes kappa rho < 2, where the outer margin lies inside the inner one.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
    y : (n,) array
        Two labels; the larger one is +1.
    kappa : float
        Cost of changing a label, > 0.
    vary : {"lam1", "lam2"}, optional
        The path's parameter; if not named, the first of these that isn't given.
    lam1, lam2 : float, optional
        > 0: the one that doesn't vary.
    lam1_min, lam2_min : float, default 0.0
        Where a path in lam1 begins, and one in lam2 ends; >= 0.
    sample_weight, callback, check
        See `svm_path`, for callback and check `solution_path`.

    Returns
    -------
    SolutionPath
        In ``lam2`` from infinity down to lam2_min, or in ``lam1`` from lam1_min to just above the
        least value at which w, b and rho are zero, as for all larger ones. ``dual(t)`` gives the
        duals of the inner margins in [0, 1/n], ``dual(t, 1)`` those of the outer ones, and
        ``free(t)`` b and two variables whose difference is rho. Of several optimal b, then rho,
        they are the middle.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

    References
    ----------
    Tang, G. (2023). Solution Path Algorithms for Distributionally Robust Regression and
    Classification. Doctoral dissertation, University of Arizona: (4.2), Algorithms 4.1 and 4.2,
    which assume kappa rho >= 2 throughout.

    Examples
    --------
    >>> from solution_paths import dm_drsvm_path
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [4.0, 1.0], [5.0, 0.0]]
    >>> y = ["no", "no", "yes", "no", "yes", "yes"]
    >>> path = dm_drsvm_path(X, y, 2.0, vary="lam1", lam2=0.1)
    >>> path.certify().ok
    True
    >>> bool(abs(path.coef(path.range[1])).max() < 1e-12)
    True
    """
    vary = what_varies(vary, {"lam1": lam1, "lam2": lam2}, lam1_min=lam1_min, lam2_min=lam2_min)
    margins = Margins.of(X, y, kappa, sample_weight)
    options: dict[str, Any] = {"callback": callback, "check": check}
    if vary == "lam1":
        ridge = check_number(lam2, "lam2", above=0)
        return margins.in_lam1(ridge, margins.largest_lam1(), lam1_min, **options)
    price = check_number(lam1, "lam1", above=0)

    def model(t: float) -> Problem:
        return margins.problem(t, t * price, 1.0)

    options |= {"parameter": "lam2", "reading": margins.reading, "scale": IN_INVERSE}
    return model_path(model, **down_to(lam2_min, "lam2_min"), **options)
