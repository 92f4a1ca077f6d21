"""Linear quantile regression: every quantile tau, or every weight lam of a penalty."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ..problem import Problem, losses
from ..validation import Rows, check_choice
from .coefficients import l1_penalty
from .limits import between, down_to, from_least
from .samples import IN_INVERSE, Callback, Samples, SolutionPath, fixed, model_path, what_varies
from .weights import check_shares


def quantile_regression_path(
    X: Rows,
    y: ArrayLike,
    *,
    vary: str | None = None,
    penalty: str | None = None,
    tau: float | None = None,
    lam: float | None = None,
    sample_weight: ArrayLike | None = None,
    lam_min: float = 0.0,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Compute linear quantile regression for every tau, or for every penalty lam.

    Minimises ``1/n sum_i max(tau r_i, (tau - 1) r_i) + P(w)``, r_i = y_i - w.x_i - b, where P(w) is
    0, lam ||w||_1 (lam: scikit-learn's alpha) or lam/2 ||w||^2. With sample weights,
    s_i / sum_j s_j replaces 1/n.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
    y : (n,) array
        Targets.
    vary : {"tau", "lam"}, optional
        The path's parameter; if not named, the first of these that isn't given.
    penalty : {"l1", "l2"}, optional
    tau : float, optional
        In [0, 1], 0.5 by default; used where lam varies.
    lam : float, optional
        Weight of the penalty, if there is one, >= 0; 1.0 by default, used where tau varies.
    sample_weight, lam_min, callback, check
        See `lasso_path`, for callback and check `solution_path`; only a path in lam has a lam_min.

    Returns
    -------
    SolutionPath
        In tau from 0 to 1, or in lam to infinity. Error curves use the pinball loss. With the l2
        penalty w and b are continuous; else they jump at breakpoints, where any point between both
        ends is optimal. Of several optimal b it is the middle; of several optimal w one of them.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

    References
    ----------
    Koenker and Bassett (1978); Koenker and d'Orey (1987); Li and Zhu (2008); see docs/quantiles.md.

    Examples
    --------
    >>> from solution_paths import quantile_regression_path
    >>> X, y = [[0.0], [0.0], [1.0], [1.0], [1.0]], [1.0, 2.0, 0.0, 3.0, 5.0]
    >>> path = quantile_regression_path(X, y)  # quantiles of two groups
    >>> path.predict([[0.0], [1.0]], [0.2, 0.4, 0.9]).round(9).tolist()
    [[1.0, 1.0, 2.0], [0.0, 3.0, 5.0]]
    >>> path.certify().ok
    True
    """
    kind = penalty if penalty is None else check_choice(penalty, "penalty", ("l1", "l2"))
    vary = what_varies(vary, {"tau": tau, "lam": lam}, lam_min=lam_min)
    if kind is None and (vary == "lam" or lam is not None):
        raise ValueError('There is no lam without a penalty, and tau varies; name "l1" or "l2".')
    lam, tau = fixed("lam", lam, 1.0, least=0), fixed("tau", tau, 0.5, least=0, most=1)
    samples = Samples.of(X).centred()
    targets, offset = samples.centred_targets(y, X)
    reading = samples.reading("quantile", offset=offset, level=tau if vary == "lam" else None)
    shares, l1 = check_shares(sample_weight, X, targets), l1_penalty(samples.features)

    def model(t: float) -> Problem:
        level, weight, cost = (t, lam, shares) if vary == "tau" else (tau, t, shares)
        if "scale" in options:  # over lam = 1 / t
            weight, cost = 1.0, t * shares
        data = samples.losses(losses.pinball(targets, level, cost))
        if kind == "l1":
            return Problem(data, l1(weight))
        return Problem(data, ridge=weight if kind == "l2" else 0.0)

    options = between(0.0, 1.0)
    if vary == "lam":
        inverse = down_to(lam_min, "lam_min") | {"scale": IN_INVERSE}
        options = inverse if kind == "l2" else from_least(lam_min, "lam_min")
    options |= {"parameter": vary, "reading": reading, "callback": callback}
    return model_path(model, **options, check=check)
