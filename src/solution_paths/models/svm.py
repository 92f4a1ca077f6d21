"""Support vector machine: every cost C (that is, every 1 / lambda)."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ..problem import Problem, losses
from ..validation import Rows
from .limits import cost_range
from .samples import Callback, Samples, SolutionPath, model_path
from .weights import check_sample_weight


def svm_path(
    X: Rows,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    C_max: float | None = None,
    kernel: str = "linear",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Compute the support vector machine for every cost C from 0 up.

    Minimises, for all C at once, ::

        1/2 ||w||^2 + C sum_i max(0, 1 - y_i (w.x_i + b)),

    with a free bias b; with sample weights s_i the costs are C s_i. After the last breakpoint the
    solution is linear in C (constant, when the classes are separable).

    Parameters
    ----------
    X : (n, d) array or CSR matrix, or (n, n) Gram matrix with ``kernel="precomputed"``
        Rows are samples.
    y : (n,) array
        Two labels; the larger one is +1.
    sample_weight : (n,) array, optional
        Weights s_i >= 0, some of them positive in both classes; all 1 by default. A weight of 2
        counts as the row twice, one of 0 as no row.
    C_max : float, optional
        Where to stop. The path of a linear model goes on to infinity by default, as with
        ``numpy.inf``. With a kernel it stops by default at the first breakpoint above 1e6, or
        above 1e6 / mean(K_ii) where that is more: beyond usual searches (up to 2^15 if K_ii = 1).
        Further on rounding decides which of almost dependent rows are on their margins.
    kernel : {"linear", "rbf", "poly", "precomputed"}
        rbf is ``exp(-gamma ||x - x'||^2)``, poly is ``(gamma x.x' + coef0)^degree``.
    gamma : float, "scale" or "auto", optional
        "scale" is 1 / (d Var(X)) with the variance of all entries, "auto" and the default 1 / d.
    degree : int, default 3
    coef0 : float, default 0.0
        Of poly.
    callback, check
        See `solution_path`.

    Returns
    -------
    SolutionPath
        In ``C``; ``dual`` gives 0 <= alpha_i <= C s_i, and w = sum_i alpha_i y_i x_i. Of several
        optimal b it is the middle.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

    References
    ----------
    Hastie, Rosset, Tibshirani and Zhu (2004), "The entire regularization path for the support
    vector machine", JMLR 5. Their start needs an outside solver where classes are unbalanced.

    Examples
    --------
    >>> from solution_paths import svm_path
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> y = ["no", "no", "yes", "no", "yes", "yes"]
    >>> path = svm_path(X, y)
    >>> path.breakpoints.round(4).tolist()
    [0.0, 0.0571, 0.2, 0.25, 0.3333]
    >>> path.range  # from the last breakpoint on the coefficients stay what they are
    (0.0, inf)
    >>> path.coef(0.1).round(3).tolist(), path.coef(1e6).round(3).tolist()
    ([0.4], [0.667])
    >>> path.certify().ok
    True
    """
    samples = Samples.of(X, kernel, gamma, degree, coef0).centred()
    signs, classes = samples.labels(y, X)
    weights = check_sample_weight(sample_weight, X, signs, classes)

    def model(C: float) -> Problem:
        return samples.machine(losses.hinge(signs, C * weights))

    end = cost_range(samples, C_max, weights.max())
    reading = samples.reading("sign", classes, signs=signs)
    return model_path(model, **end, parameter="C", reading=reading, callback=callback, check=check)
