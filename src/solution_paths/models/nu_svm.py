"""nu-SVM: every nu up to the largest that there is."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..problem import Losses, Problem, losses, penalties
from ..validation import Rows
from .stated import Samples, Scale, SolutionPath, solution_path


def nu_svm_path(
    X: Rows,
    y: ArrayLike,
    *,
    kernel: str = "linear",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    check: str = "warn",
) -> SolutionPath:
    """Compute the nu-SVM for every nu.

    Minimises, for all nu at once, over w, b and rho >= 0 ::

        1/2 ||w||^2 - nu rho + 1/n sum_i max(0, rho - y_i f(x_i)),    f(x) = w.x + b.

    At most a share nu of the samples are inside the margin rho, and at least a share nu are
    support vectors. Up to some nu the optimum is w = 0, rho = 0; above nu_max = 2 min(n+, n-) / n
    there is none. (LIBSVM's w, b and rho are n times as large. With C = 1 / (n rho) the C-SVM has
    the solution (w, b) / rho.)

    Parameters
    ----------
    X : (n, d) array or CSR matrix
        Samples; with ``kernel="precomputed"`` the (n, n) kernel matrix.
    y : (n,) array
        Two labels; the larger one is +1.
    kernel, gamma, degree, coef0
        See `svm_path`.
    check : {"warn", "raise", "ignore"}
        See `solution_path`.

    Returns
    -------
    SolutionPath
        In ``nu`` from 0 to nu_max; ``free`` gives (b, rho), ``dual`` y_i alpha_i.

    Raises
    ------
    ValueError
        For bad input; the message names the argument and the remedy.
    PathError
        The path can't be followed.

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
    n = samples.n
    loss = losses.of_margin(signs, losses.shortfall(np.zeros(n)))
    data = samples.losses(loss, np.column_stack([np.ones(n), -signs]))
    sign = Losses(penalties.at_least(1), 0, [[0.0, 1.0]])  # rho >= 0

    def model(count: float) -> Problem:  # n times the objective, at nu = count / n
        return Problem([data, sign], ridge=float(n), linear=[0.0, -count], kernel=samples.K)

    largest = 2.0 * min((signs > 0).sum(), (signs < 0).sum())
    reading = samples.reading("sign", classes, [[1.0, 0.0]])
    scale = Scale(1.0 / n, objective=1.0 / n)
    return solution_path(
        model, 0.0, float(largest), parameter="nu", reading=reading, scale=scale, check=check
    )
