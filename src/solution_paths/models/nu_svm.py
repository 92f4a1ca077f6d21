"""nu-SVM: every feasible nu."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..problem import Losses, Problem, losses, penalties
from ..validation import Rows
from .limits import up_to
from .samples import Callback, Samples, Scale, SolutionPath, model_path
from .weights import check_sample_weight


def nu_svm_path(
    X: Rows,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    nu_max: float | None = None,
    kernel: str = "linear",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Compute the nu-SVM for every nu.

    Minimises, for all nu at once, over w, b and rho >= 0 ::

        1/2 ||w||^2 - nu rho + 1/n sum_i max(0, rho - y_i f(x_i)),    f(x) = w.x + b;

    with sample weights, s_i / sum_j s_j replaces 1/n. At most a share nu of the samples are inside
    the margin rho, and at least a share nu are support vectors. Up to some nu the optimum is w = 0,
    rho = 0; above 2 min(n+, n-) / n there is none. (LIBSVM's w, b and rho are n times as large.
    With C = 1 / (n rho) the C-SVM has the solution (w, b) / rho.)

    Parameters
    ----------
    X : (n, d) array or CSR matrix
        Samples; with ``kernel="precomputed"`` the (n, n) kernel matrix.
    y : (n,) array
        Two labels; the larger one is +1.
    nu_max : float, optional
        Where to stop, in (0, 1]; by default, and at most, at the largest feasible nu.
    sample_weight, kernel, gamma, degree, coef0, callback, check
        See `svm_path`, for callback and check `solution_path`.

    Returns
    -------
    SolutionPath
        In ``nu`` from 0 up; ``free`` gives (b, rho), ``dual`` y_i alpha_i. Of several optimal b,
        then rho, they are the middle.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

    References
    ----------
    Schoelkopf, Smola, Williamson and Bartlett (2000), "New support vector algorithms";
    dissertation, (2.78).

    Examples
    --------
    >>> from solution_paths import nu_svm_path
    >>> path = nu_svm_path([[0.0], [1.0], [2.0], [3.0]], ["no", "yes", "no", "yes"])
    >>> path.range, path.predict([[0.0], [3.0]], 1.0).tolist()
    ((0.0, 1.0), ['no', 'yes'])
    >>> path.certify().ok
    True
    """
    samples = Samples.of(X, kernel, gamma, degree, coef0).centred()
    signs, classes = samples.labels(y, X)
    weights = check_sample_weight(sample_weight, X, signs, classes)
    n, total = samples.n, float(weights.sum())
    loss = losses.of_margin(signs, losses.shortfall(np.zeros(n), weights))
    data = samples.losses(loss, np.column_stack([np.ones(n), -signs]))
    sign = Losses(penalties.at_least(1), 0, [[0.0, 1.0]])  # rho >= 0

    def model(count: float) -> Problem:  # n times the objective, at nu = count / n
        return Problem([data, sign], ridge=total, linear=[0.0, -count], kernel=samples.K)

    options = up_to(nu_max, "nu_max")
    largest = 2.0 * min(weights[signs > 0].sum(), weights[signs < 0].sum())
    options |= {"t1": min(options["t1"] * total, float(largest)), "parameter": "nu"}
    reading = samples.reading("sign", classes, [[1.0, 0.0]])
    scale = Scale(1.0 / total, objective=1.0 / total)
    return model_path(
        model, **options, reading=reading, scale=scale, callback=callback, check=check
    )
