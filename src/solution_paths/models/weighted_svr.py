"""Instance-weighted support vector regression: from any weights to any weights."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ..problem import losses
from ..validation import Rows, check_number
from .instances import weighted_path
from .samples import Callback, Samples, SolutionPath
from .weights import check_ends


def weighted_svr_path(
    X: Rows,
    y: ArrayLike,
    weights_from: ArrayLike,
    weights_to: ArrayLike,
    epsilon: float,
    *,
    kernel: str = "linear",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    diagonal: float = 0.0,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Compute the weighted SVR for all weights on the line between two weight vectors.

    Minimises, for every theta in [0, 1], ::

        1/2 ||w||^2 + sum_i C_i max(0, |y_i - w.x_i - b| - epsilon),
        C = (1 - theta) weights_from + theta weights_to,

    with a free bias b.

    Parameters
    ----------
    X, diagonal
        See `weighted_svm_path`.
    kernel, gamma, degree, coef0, callback, check
        See `svm_path`, for callback and check `solution_path`.
    y : (n,) array
        Real targets.
    weights_from, weights_to : (n,) arrays or scalars
        Weights C_i >= 0, not all zero.
    epsilon : float
        Half-width of the insensitive tube, >= 0, in the units of y.

    Returns
    -------
    SolutionPath
        In ``theta``; ``dual`` is signed, ``|a_i| <= C_i``, and w = sum_i a_i x_i. Of several
        optimal b it is the middle.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

    References
    ----------
    Karasuyama, Harada, Sugiyama and Takeuchi, "Multi-parametric solution-path algorithm for
    instance-weighted support vector machines", section 4.3.

    Examples
    --------
    The outlier at 3 loses its weight:

    >>> from solution_paths import weighted_svr_path
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> y = [0.0, 1.0, 2.0, 9.0, 4.0, 5.0]
    >>> weights = [0.05, 0.05, 0.05, 0.0, 0.05, 0.05]
    >>> path = weighted_svr_path(X, y, weights_from=0.05, weights_to=weights, epsilon=0.1)
    >>> [path.predict([[3.0]], theta).round(3).tolist() for theta in (0.0, 0.5, 1.0)]
    [[3.0], [2.525], [2.4]]
    >>> path.certify().ok
    True
    """
    samples = Samples.of(X, kernel, gamma, degree, coef0, diagonal).centred()
    targets, level = samples.centred_targets(y, X)
    epsilon = check_number(epsilon, "epsilon", least=0)
    return weighted_path(
        samples,
        lambda weights: losses.epsilon_insensitive(targets, epsilon, weights),
        check_ends(X, weights_from, weights_to, targets),
        targets,
        reading=samples.reading(offset=level),
        callback=callback,
        check=check,
    )
