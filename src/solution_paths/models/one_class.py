"""One-class SVM: every nu, or every weight lam of the ridge in Lee and Scott's form."""

from __future__ import annotations

import numpy as np

from ..problem import Problem, losses
from ..validation import Rows, check_choice
from .stated import IN_INVERSE, Samples, Scale, SolutionPath, solution_path


def one_class_path(
    X: Rows,
    *,
    vary: str = "nu",
    kernel: str = "rbf",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    check: str = "warn",
) -> SolutionPath:
    """Compute the one-class SVM for every nu, or every lam.

    Minimises, over w and rho, ::

        1/2 ||w||^2 - rho + 1/(nu n) sum_i max(0, rho - w.phi(x_i)),

    or, where ``lam`` varies, ``lam/2 ||w||^2 + sum_i max(0, 1 - w.phi(x_i))``. At
    lam = nu n rho(nu) the latter's w is w(nu) / rho(nu).

    Parameters
    ----------
    X : (n, d) array or CSR matrix
        Samples; with ``kernel="precomputed"`` the (n, n) kernel matrix.
    vary : {"nu", "lam"}
        The path's parameter.
    kernel : str, default "rbf"
    gamma, degree, coef0
        See `svm_path`.
    check : {"warn", "raise", "ignore"}
        See `solution_path`.

    Returns
    -------
    SolutionPath
        In nu from 0 (exclusive) to 1, or in lam from 0 to infinity. The decision w.phi(x) - rho
        (or - 1) is negative outside; ``predict`` gives -1 there, and 1 inside; ``free`` gives rho.

    Raises
    ------
    ValueError
        For bad input; the message names the argument and the remedy.
    PathError
        The path can't be followed.

    References
    ----------
    Schoelkopf, Platt, Shawe-Taylor, Smola and Williamson (2001), "Estimating the support of a
    high-dimensional distribution"; Lee and Scott (2007), "The one class support vector machine
    solution path" (lam); dissertation, 2.3.6.

    Examples
    --------
    >>> from solution_paths import one_class_path
    >>> path = one_class_path([[0.0], [0.5], [1.0], [5.0]], gamma=1.0)
    >>> path.range, path.predict([[0.5], [9.0]], 0.3).tolist()
    ((0.0, 1.0), [1, -1])
    >>> path.certify().ok
    True
    """
    check_choice(vary, "vary", ("nu", "lam"))
    samples = Samples.of(X, kernel, gamma, degree, coef0)
    n, classes = samples.n, np.array([-1, 1])
    if vary == "lam":

        def machine(t: float) -> Problem:  # divided by lam = 1 / t; v = 1
            one = losses.shortfall(np.ones(n), t)
            return samples.machine(one, free=None)

        reading = samples.reading("sign", classes, [[]], offset=-1.0)
        return solution_path(
            machine, 0.0, np.inf, parameter="lam", reading=reading, scale=IN_INVERSE, check=check
        )

    def model(t: float) -> Problem:  # n times the objective, at nu = 1 / t
        data = samples.losses(losses.shortfall(np.zeros(n), t), -1.0)
        return Problem(data, ridge=float(n), linear=[-float(n)], kernel=samples.K)

    reading = samples.reading("sign", classes, [[-1.0]])
    scale = Scale(inverse=True, objective=1.0 / n)
    return solution_path(
        model, 1.0, np.inf, parameter="nu", reading=reading, scale=scale, check=check
    )
