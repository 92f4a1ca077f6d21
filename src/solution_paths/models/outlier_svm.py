"""Robust support vector machine: from the standard machine to one that ignores outliers."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from ..solution.outliers import OutlierPath
from ..validation import Rows, check_flag
from .outlier import robust_svm_path
from .samples import Callback, Samples
from .weights import check_sample_weight


def outlier_svm_path(
    X: Rows,
    y: ArrayLike,
    C: float,
    *,
    sample_weight: ArrayLike | None = None,
    homotopy: str = "theta",
    fit_intercept: bool = False,
    kernel: str = "linear",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    callback: Callback | None = None,
    check: str = "warn",
) -> OutlierPath:
    """Compute a path of local optima of the robust SVM along which outliers lose influence.

    Minimises ::

        1/2 ||w||^2 + C sum_i l(y_i f(x_i)),    f(x) = w.x, or w.x + b,
        l(m) = max(0, 1 - m) where m >= s, else 1 - theta m - s,

    for every theta from 1 to 0 with s = 0, or for every s up to 0 with theta = 0.
    A sample with a margin below s is an outlier. At theta = 1, and at s below the least margin
    s_C, this is the standard SVM; at theta = 0 and s = 0 outliers don't count.

    The objective isn't convex. The path begins at the optimum of the standard SVM and follows the
    local optimum that it turns into. Where a margin reaches s this optimum ends, and the path
    *jumps* to a better one. Without a bias rows of zeros have f = 0 throughout and are ignored.

    Parameters
    ----------
    X : (n, d) array or CSR matrix, or (n, n) Gram matrix with ``kernel="precomputed"``
        Rows are samples.
    y : (n,) array
        Two labels; the larger one is +1.
    C : float
        Cost of each sample, > 0.
    homotopy : {"theta", "s"}
        The path's parameter.
    fit_intercept : bool, default False
        Whether there is a bias b, which isn't penalised; the authors' models have none.
    sample_weight, kernel, gamma, degree, coef0, callback, check
        See `svm_path`, for callback and check `solution_path`; weights multiply C.

    Returns
    -------
    OutlierPath
        In ``theta`` on [0, 1], or in ``s`` from one unit before s_C (or -1) to 0; ``dual`` gives
        0 <= alpha_i <= C, or C theta for outliers.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

    References
    ----------
    Suzumura, Ogawa, Sugiyama, Karasuyama and Takeuchi, "Homotopy Continuation Approaches for Robust
    SV Classification and Regression", equations (2), (5) and (14), Theorems 3 and 4, Algorithms 1
    to 3. Theorem 3 needs a regular kernel matrix: otherwise samples may stay at the threshold, and
    a jump may change only on which side of it they count.

    Examples
    --------
    The label of the last sample is wrong:

    >>> from solution_paths import outlier_svm_path
    >>> X, y = [[-2.0], [-1.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes", "no"]
    >>> path = outlier_svm_path(X, y, C=1.0)
    >>> path.outliers(1.0).tolist(), path.outliers(0.0).tolist()
    ([False, False, False, False, True], [False, False, False, False, True])
    >>> path.coef(1.0).round(3).tolist(), path.coef(0.0).round(3).tolist()
    ([0.5], [1.0])
    >>> path.certify().ok
    True
    """
    bias = check_flag(fit_intercept, "fit_intercept")
    samples = Samples.of(X, kernel, gamma, degree, coef0).centred(bias)
    signs, classes = samples.labels(y, X)
    weights = check_sample_weight(sample_weight, X, signs, classes)
    options: dict[str, Any] = {"callback": callback, "check": check}
    return robust_svm_path(samples, signs, classes, C, homotopy, weights, bias, **options)
