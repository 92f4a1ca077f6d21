"""Kernel quantile regression: every quantile tau, or every weight lam of the ridge."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ..problem import Problem, losses
from ..validation import Rows
from .limits import between, down_to
from .samples import IN_INVERSE, Callback, Samples, SolutionPath, fixed, model_path, what_varies
from .weights import check_shares


def kernel_quantile_path(
    X: Rows,
    y: ArrayLike,
    *,
    vary: str | None = None,
    tau: float | None = None,
    lam: float | None = None,
    sample_weight: ArrayLike | None = None,
    lam_min: float = 0.0,
    kernel: str = "rbf",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Compute kernel quantile regression for every tau or every lam.

    Minimises ::

        1/n sum_i max(tau r_i, (tau - 1) r_i) + lam/2 ||w||^2,    r_i = y_i - w.phi(x_i) - b.

    (With a sum instead of the mean, as in Li, Liu and Zhu, lam is n times as large.) With sample
    weights, s_i / sum_j s_j replaces 1/n.

    Parameters
    ----------
    X : (n, d) array or CSR matrix, or (n, n) Gram matrix with ``kernel="precomputed"``
    y : (n,) array
        Targets.
    vary : {"tau", "lam"}, optional
        The path's parameter; if not named, the first of these that isn't given.
        For the surface over both see `path_lines`.
    tau : float, optional
        In [0, 1], 0.5 by default; used where lam varies.
    lam : float, optional
        > 0, 1.0 by default; used where tau varies.
    lam_min : float, default 0.0
        Where a path in lam ends, >= 0.
    kernel : str, default "rbf"
    sample_weight, gamma, degree, coef0, callback, check
        See `svm_path`, for callback and check `solution_path`.

    Returns
    -------
    SolutionPath
        In tau from 0 to 1, or in lam from infinity down; ``dual`` lies between (tau - 1) / n and
        tau / n. Error curves use the pinball loss. Of several optimal b it is the middle.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

    References
    ----------
    Takeuchi, Nomura and Kanamori (2009), "Nonparametric conditional density estimation using
    piecewise-linear solution path of kernel quantile regression"; Li, Liu and Zhu (2007), "Quantile
    regression in reproducing kernel Hilbert spaces"; dissertation, 2.2.9.

    Examples
    --------
    >>> from solution_paths import kernel_quantile_path
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 0.5, 2.0]
    >>> path = kernel_quantile_path(X, y, lam=10.0)  # nearly a constant: quantiles of y
    >>> path.predict([[1.5]], [0.3, 0.7]).round(1).tolist()
    [[0.5, 1.0]]
    >>> path.certify().ok
    True
    """
    vary = what_varies(vary, {"tau": tau, "lam": lam}, lam_min=lam_min)
    lam, tau = fixed("lam", lam, 1.0, above=0), fixed("tau", tau, 0.5, least=0, most=1)
    samples = Samples.of(X, kernel, gamma, degree, coef0).centred()
    targets, offset = samples.centred_targets(y, X)
    reading = samples.reading("quantile", offset=offset, level=tau if vary == "lam" else None)
    shares = check_shares(sample_weight, X, targets)

    def model(t: float) -> Problem:
        if vary == "tau":
            return samples.machine(losses.pinball(targets, t, shares), ridge=lam)
        return samples.machine(losses.pinball(targets, tau, t * shares))  # over lam = 1 / t

    options = between(0.0, 1.0)
    if vary == "lam":
        options = down_to(lam_min, "lam_min") | {"scale": IN_INVERSE}
    options |= {"parameter": vary, "reading": reading, "callback": callback}
    return model_path(model, **options, check=check)
