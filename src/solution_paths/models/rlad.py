"""Least absolute deviations under an l1 penalty or constraint: every lam, or every s."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from ..problem import Problem, losses
from ..validation import Rows
from .coefficients import Bounds, l1_penalty
from .limits import from_least, up_to
from .samples import Callback, Samples, SolutionPath, model_path, what_varies
from .weights import check_sample_weight


def rlad_path(
    X: Rows,
    y: ArrayLike,
    *,
    vary: str | None = None,
    sample_weight: ArrayLike | None = None,
    positive: bool = False,
    penalty_factor: ArrayLike | None = None,
    bounds: Bounds | None = None,
    lam_min: float = 0.0,
    s_max: float | None = None,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Compute least absolute deviations for every l1 penalty or constraint.

    Minimises ::

        sum_i c_i |y_i - w.x_i - b| + lam ||w||_1,

    or, where ``s`` varies, ``sum_i c_i |y_i - w.x_i - b|`` subject to ``||w||_1 <= s``, for sample
    weights c_i.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
    y : (n,) array
        Targets.
    vary : {"lam", "s"}, optional
        The path's parameter; if not named, the first of these that isn't given.
    sample_weight, lam_min
        See `lasso_path`.
    positive, penalty_factor, bounds
        See `lasso_path`; only where lam varies.
    s_max : float, optional
        Where a path in s ends, > 0.
    callback, check
        See `solution_path`.

    Returns
    -------
    SolutionPath
        In lam to infinity, or in s from 0. In lam w and b are constant between breakpoints and jump
        there: at a breakpoint any point between both ends is optimal. In s they are continuous. Of
        several optimal b it is the middle.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

    References
    ----------
    Wang, Gordon and Zhu (2006), "Regularized least absolute deviations regression and an efficient
    algorithm for parameter tuning"; dissertation, (2.13) and (2.14).

    Examples
    --------
    >>> from solution_paths import rlad_path
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [0.0, 1.0, 2.0, 3.0, 50.0]
    >>> path = rlad_path(X, y)
    >>> path.coef([0.5, 10.0]).round(9).tolist()
    [[1.0, 0.0]]
    >>> path.certify().ok
    True
    """
    vary = what_varies(vary, {"lam": None, "s": None}, lam_min=lam_min, s_max=s_max)
    samples = Samples.of(X).centred()
    targets, level = samples.centred_targets(y, X)
    weights = check_sample_weight(sample_weight, X, targets)
    data = samples.losses(losses.absolute(targets, weights))
    penalty = l1_penalty(samples.features, positive, penalty_factor, bounds)
    if vary == "s" and (positive or penalty_factor is not None or bounds is not None):
        raise ValueError('vary="s" takes no positive, penalty_factor or bounds: vary lam.')

    def model(t: float) -> Problem:
        return Problem(data, constraint=t) if vary == "s" else Problem(data, penalty(t))

    kwargs: dict[str, Any] = {"parameter": vary, "reading": samples.reading("robust", offset=level)}
    kwargs |= up_to(s_max, "s_max") if vary == "s" else from_least(lam_min, "lam_min")
    return model_path(model, **kwargs, callback=callback, check=check)
