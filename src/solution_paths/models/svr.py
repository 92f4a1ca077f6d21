"""Support vector regression: every cost C, every weight lam of the ridge, or every tube epsilon."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ..problem import Problem, losses
from ..validation import Rows
from .limits import down_to, from_least, up_to
from .samples import IN_INVERSE, Callback, Samples, SolutionPath, fixed, model_path, what_varies
from .weights import check_sample_weight


def svr_path(
    X: Rows,
    y: ArrayLike,
    *,
    vary: str | None = None,
    C: float | None = None,
    epsilon: float | None = None,
    sample_weight: ArrayLike | None = None,
    C_max: float | None = None,
    lam_min: float = 0.0,
    epsilon_min: float = 0.0,
    kernel: str = "linear",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Compute support vector regression for every C, lam or epsilon.

    Minimises ::

        1/2 ||w||^2 + C sum_i max(0, |y_i - f(x_i)| - epsilon),    f(x) = w.x + b,

    or, where ``lam`` varies, ``sum_i max(0, |y_i - f(x_i)| - epsilon) + lam/2 ||w||^2``: the same
    at lam = 1 / C. Sample weights multiply the losses.

    Parameters
    ----------
    X : (n, d) array or CSR matrix, or (n, n) Gram matrix with ``kernel="precomputed"``
    y : (n,) array
        Targets.
    vary : {"C", "lam", "epsilon"}, optional
        The path's parameter; if not named, the first of these that isn't given.
    C : float, optional
        > 0, 1.0 by default; used where epsilon varies. (Its unit is 1 / y if X has no unit.)
    epsilon : float, optional
        >= 0, 0.1 by default, in units of y; used where C or lam varies.
    lam_min, epsilon_min : float, default 0.0
        Where a path in lam stops, and one in epsilon begins.
    sample_weight, C_max, kernel, gamma, degree, coef0, callback, check
        See `svm_path`, for callback and check `solution_path`.

    Returns
    -------
    SolutionPath
        In C from 0, in epsilon from epsilon_min, in lam down from infinity. ``dual`` is signed,
        alpha_i - alpha_i*. Of several optimal b it is the middle.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

    References
    ----------
    Gunter and Zhu (2007), "Efficient computation and model selection for the support vector
    regression" (lam); Wang, Yeung and Lochovsky (2006), "Two-dimensional solution path for support
    vector regression" (epsilon).

    Examples
    --------
    >>> from solution_paths import svr_path
    >>> path = svr_path([[0.0], [1.0], [2.0], [4.0]], [0.0, 1.0, 1.5, 2.0], epsilon=0.1)
    >>> round(path.coef(10.0).item(), 6), round(path.intercept(10.0), 6)
    (0.4, 0.5)
    >>> path.certify().ok
    True
    """
    given, limits = {"C": C, "lam": None, "epsilon": epsilon}, {"C_max": C_max, "lam_min": lam_min}
    vary = what_varies(vary, given, ("C", "lam"), **limits, epsilon_min=epsilon_min)
    C, epsilon = fixed("C", C, 1.0, above=0), fixed("epsilon", epsilon, 0.1, least=0)
    samples = Samples.of(X, kernel, gamma, degree, coef0).centred()
    targets, level = samples.centred_targets(y, X)
    weights = check_sample_weight(sample_weight, X, targets)

    def model(t: float) -> Problem:
        cost, tube = (C, t) if vary == "epsilon" else (t, epsilon)
        return samples.machine(losses.epsilon_insensitive(targets, tube, cost * weights))

    options = {
        "C": up_to(C_max, "C_max"),
        "lam": down_to(lam_min, "lam_min") | {"scale": IN_INVERSE},
        "epsilon": from_least(epsilon_min, "epsilon_min"),
    }[vary] | {"parameter": vary, "callback": callback, "check": check}
    return model_path(model, **options, reading=samples.reading(offset=level))
