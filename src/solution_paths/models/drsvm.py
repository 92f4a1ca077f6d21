"""Doubly regularised support vector machine: the hinge loss under an elastic net."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ..problem import Pieces, losses
from ..validation import Floats, Rows, check_flag
from .coefficients import Bounds, l1_penalty
from .elastic import elastic_path
from .samples import Callback, Samples, SolutionPath, what_varies
from .weights import check_shares


def drsvm_path(
    X: Rows,
    y: ArrayLike,
    *,
    vary: str | None = None,
    lam1: float | None = None,
    lam2: float | None = None,
    sample_weight: ArrayLike | None = None,
    positive: bool = False,
    penalty_factor: ArrayLike | None = None,
    bounds: Bounds | None = None,
    lam1_min: float = 0.0,
    lam2_min: float = 0.0,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Compute the doubly regularised support vector machine for every lam1, or every lam2.

    Minimises, for all values of one of them at once, ::

        1/n sum_i max(0, 1 - y_i (w.x_i + b)) + lam1 ||w||_1 + lam2/2 ||w||^2,

    with a free bias b. With sample weights, s_i / sum_j s_j replaces 1/n, and sum_j s_j replaces n
    below. With lam2 = 0 it is `l1_svm_path`, whose lam is n lam1. With lam1 = 0 it is `svm_path`,
    whose C is 1 / (n lam2). lam1 is the radius of the Wasserstein ball of distributions around the
    data when labels may not change, as with kappa = inf in `dm_drsvm_path`.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
    y : (n,) array
        Two labels; the larger one is +1.
    vary : {"lam1", "lam2"}, optional
        The path's parameter; if not named, the first of these that isn't given.
    lam1, lam2 : float, optional
        The one that doesn't vary: >= 0, 0 if not given.
    sample_weight, positive, penalty_factor, bounds
        See `lasso_path`; both labels need some weight.
    lam1_min, lam2_min : float, default 0.0
        Where a path in lam1 begins, and one in lam2 ends; >= 0.
    callback, check
        See `solution_path`.

    Returns
    -------
    SolutionPath
        In ``lam1`` from lam1_min to infinity; in ``lam2`` from infinity down to lam2_min. ``dual``
        is signed, y_i alpha_i with 0 <= alpha_i <= 1/n. Of several optimal b it is the middle.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

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
    vary, samples = what_varies(vary, {"lam1": lam1, "lam2": lam2}), Samples.of(X).centred()
    signs, classes = samples.labels(y, X)

    def terms(cost: Floats) -> Pieces:
        return losses.hinge(signs, cost)

    given = {"s": None, "lam1": 0.0 if vary == "lam2" and lam1 is None else lam1, "lam2": lam2}
    reading = samples.reading("sign", classes)
    shares = check_shares(sample_weight, X, signs, classes)
    plain = not check_flag(positive, "positive") and penalty_factor is None and bounds is None
    penalty = None if plain else l1_penalty(samples.features, positive, penalty_factor, bounds)
    limits = {"lam1_min": lam1_min, "lam2_min": lam2_min}
    return elastic_path(
        samples, terms, shares, reading, vary, given, limits, penalty, callback, check
    )
