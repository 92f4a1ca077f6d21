"""Kernel quantile regression: every quantile tau, or every weight lam of the ridge."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..problem import Problem, losses
from ..validation import Rows, check_choice, check_number
from .stated import IN_INVERSE, Samples, SolutionPath, solution_path


def kernel_quantile_path(
    X: Rows,
    y: ArrayLike,
    *,
    vary: str = "tau",
    tau: float = 0.5,
    lam: float = 1.0,
    kernel: str = "rbf",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    check: str = "warn",
) -> SolutionPath:
    """Compute kernel quantile regression for every tau or every lam.

    Minimises ::

        1/n sum_i max(tau r_i, (tau - 1) r_i) + lam/2 ||w||^2,    r_i = y_i - w.phi(x_i) - b.

    (With a sum in the place of the mean, as in Li, Liu and Zhu, lam is n times as large.)

    Parameters
    ----------
    X : (n, d) array or CSR matrix
        Samples; with ``kernel="precomputed"`` the (n, n) kernel matrix.
    y : (n,) array
        Targets.
    vary : {"tau", "lam"}
        The path's parameter. For the surface over both see `path_lines`.
    tau : float, default 0.5
        In [0, 1]; used where lam varies.
    lam : float, default 1.0
        > 0; used where tau varies.
    kernel : str, default "rbf"
    gamma, degree, coef0
        See `svm_path`.
    check : {"warn", "raise", "ignore"}
        See `solution_path`.

    Returns
    -------
    SolutionPath
        In tau from 0 to 1, or in lam from 0 to infinity; ``dual`` lies between (tau - 1) / n and
        tau / n. Where b isn't unique it is some optimal one.

    Raises
    ------
    ValueError, PathError
        For bad input, or where the path can't be followed; the message has the remedy.

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
    check_choice(vary, "vary", ("tau", "lam"))
    lam, tau = check_number(lam, "lam", above=0), check_number(tau, "tau", least=0, most=1)
    samples = Samples.of(X, kernel, gamma, degree, coef0).centred()
    targets, level = samples.near_targets(y, X)
    reading = samples.reading(offset=level)
    if vary == "tau":
        return solution_path(
            lambda t: samples.machine(losses.pinball(targets, t, 1.0 / samples.n), ridge=lam),
            0.0,
            1.0,
            parameter="tau",
            reading=reading,
            check=check,
        )

    def model(t: float) -> Problem:  # divided by lam = 1 / t
        return samples.machine(losses.pinball(targets, tau, t / samples.n))

    return solution_path(
        model, 0.0, np.inf, parameter="lam", reading=reading, scale=IN_INVERSE, check=check
    )
