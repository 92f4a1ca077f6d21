"""One-class SVM: every nu, or every weight lam of the ridge in Lee and Scott's form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..problem import Problem, losses
from ..validation import Rows, check_number
from .limits import down_to
from .samples import IN_INVERSE, Callback, Samples, Scale, SolutionPath, model_path, what_varies
from .weights import check_sample_weight


def one_class_path(
    X: Rows,
    *,
    vary: str | None = None,
    sample_weight: ArrayLike | None = None,
    nu_min: float = 0.0,
    lam_min: float = 0.0,
    kernel: str = "rbf",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Compute the one-class SVM for every nu, or every lam.

    Minimises, over w and rho, ::

        1/2 ||w||^2 - rho + 1/(nu n) sum_i max(0, rho - w.phi(x_i)),

    or, where ``lam`` varies, ``lam/2 ||w||^2 + sum_i max(0, 1 - w.phi(x_i))``; sample weights
    multiply the losses, and n is their sum. At lam = nu n rho(nu) the latter's w is
    w(nu) / rho(nu).

    Parameters
    ----------
    X : (n, d) array or CSR matrix, or (n, n) Gram matrix with ``kernel="precomputed"``
    vary : {"nu", "lam"}, optional
        The path's parameter; if not named, the first of these that isn't given.
    nu_min, lam_min : float, default 0.0
        Where a path in nu, or in lam, ends.
    kernel : str, default "rbf"
    sample_weight, gamma, degree, coef0, callback, check
        See `svm_path`, for callback and check `solution_path`.

    Returns
    -------
    SolutionPath
        In nu from 1 down, at most to 0 (exclusive), or in lam from infinity down. w.phi(x) - rho
        (or - 1) is negative outside; ``predict`` gives -1 there, 1 inside; ``free`` gives rho. Of
        several optimal rho it is the middle.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

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
    vary = what_varies(vary, {"nu": None, "lam": None}, nu_min=nu_min, lam_min=lam_min)
    samples = Samples.of(X, kernel, gamma, degree, coef0)
    n, classes = samples.n, np.array([-1, 1])
    weights = check_sample_weight(sample_weight, X, np.zeros(n))
    options: dict[str, Any] = {"parameter": vary, "callback": callback, "check": check}
    nu_min = check_number(nu_min, "nu_min", least=0, most=1 - 2**-20)  # it begins at 1
    total = float(weights.sum())

    def model(t: float) -> Problem:
        if vary == "lam":  # divided by lam = 1 / t; v = 1
            return samples.machine(losses.shortfall(np.ones(n), t * weights), free=None)
        data = samples.losses(losses.shortfall(np.zeros(n), t * weights), -1.0)  # nu = 1 / t
        return Problem(data, ridge=total, linear=[-total], kernel=samples.K)  # n times as large

    if vary == "lam":
        options |= down_to(lam_min, "lam_min") | {"scale": IN_INVERSE}
        options["reading"] = samples.reading("inside", classes, [[]], offset=-1.0)
    else:
        scale = Scale(inverse=True, objective=1.0 / total)
        options |= down_to(nu_min, "nu_min") | {"t0": 1.0, "scale": scale}
        options["reading"] = samples.reading("inside", classes, [[-1.0]])
    return model_path(model, **options)
