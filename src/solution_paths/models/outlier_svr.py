"""Robust support vector regression: from least absolute deviations to bounded errors."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from ..solution.outliers import OutlierPath
from ..validation import Rows, check_flag
from .outlier import robust_svr_path
from .samples import Callback, Samples
from .weights import check_sample_weight


def outlier_svr_path(
    X: Rows,
    y: ArrayLike,
    C: float,
    *,
    sample_weight: ArrayLike | None = None,
    homotopy: str = "theta",
    fit_intercept: bool = False,
    s: float | None = None,
    kernel: str = "linear",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    callback: Callback | None = None,
    check: str = "warn",
) -> OutlierPath:
    """Compute a path of local optima of robust regression along which outliers lose influence.

    Minimises ::

        1/2 ||w||^2 + C sum_i l(y_i - f(x_i)),    f(x) = w.x, or w.x + b,
        l(r) = |r| where |r| < s, else (|r| - s) theta + s,

    for every theta from 1 to 0 with s fixed, or for s from above the largest residual down to some
    s > 0 with theta = 0. A sample with a residual above s is an outlier. The path begins at least
    absolute deviations with a ridge penalty; see `outlier_svm_path` for the optima that it follows.

    Parameters
    ----------
    X : (n, d) array or CSR matrix, or (n, n) Gram matrix with ``kernel="precomputed"``
        Rows are samples.
    y : (n,) array
        Targets.
    C : float
        Cost of each sample, > 0.
    homotopy : {"theta", "s"}
        The path's parameter.
    fit_intercept : bool, default False
        Whether there is a bias b, which isn't penalised; the authors' models have none.
    s : float, optional
        With ``homotopy="theta"`` the threshold, > 0, in the units of y (default 1); with "s" where
        the path ends (default a fifth of s_R, the largest residual of the standard SVR).
    sample_weight, kernel, gamma, degree, coef0, callback, check
        See `svm_path`, for callback and check `solution_path`; weights multiply C.

    Returns
    -------
    OutlierPath
        In ``theta`` on [0, 1], or in ``s`` from its end to 1.1 s_R; ``dual`` is signed, at most C
        or, for outliers, C theta in size.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

    References
    ----------
    Suzumura et al. (see `outlier_svm_path`), equations (6), (9) and (23), Theorem 5.

    Examples
    --------
    The outlier at 3 loses its influence:

    >>> from solution_paths import outlier_svr_path
    >>> X = [[-2.0], [-1.0], [1.0], [2.0], [3.0]]
    >>> y = [-2.0, -1.0, 1.0, 2.0, 9.0]
    >>> path = outlier_svr_path(X, y, C=0.3, s=2.0)
    >>> path.predict([[1.0]], 1.0).round(3).tolist(), path.predict([[1.0]], 0.0).round(3).tolist()
    ([1.0], [1.0])
    >>> path.certify().ok
    True
    """
    bias = check_flag(fit_intercept, "fit_intercept")
    samples = Samples.of(X, kernel, gamma, degree, coef0).centred(bias)
    targets = samples.targets(y, X)
    weights = check_sample_weight(sample_weight, X, targets)
    options: dict[str, Any] = {"callback": callback, "check": check}
    return robust_svr_path(samples, targets, C, homotopy, s, weights, bias, **options)
