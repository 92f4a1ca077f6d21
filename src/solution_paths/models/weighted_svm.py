"""Instance-weighted support vector machine: from any weights to any weights."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ..problem import losses
from ..validation import Rows
from .instances import weighted_path
from .samples import Callback, Samples, SolutionPath
from .weights import check_ends


def weighted_svm_path(
    X: Rows,
    y: ArrayLike,
    weights_from: ArrayLike,
    weights_to: ArrayLike,
    *,
    kernel: str = "linear",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    diagonal: float = 0.0,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Compute the weighted SVM for all weights on the line between two weight vectors.

    Minimises, for every theta in [0, 1], ::

        1/2 ||w||^2 + sum_i C_i max(0, 1 - y_i (w.x_i + b)),
        C = (1 - theta) weights_from + theta weights_to,

    with a free bias b. An instance of weight zero takes no part: an entering instance has weight
    zero in ``weights_from``, a leaving one in ``weights_to``. `SolutionPath.continue_to` continues
    the path to further weights.

    Parameters
    ----------
    X : (n, d) array or CSR matrix, or (n, n) Gram matrix with ``kernel="precomputed"``
        Rows are samples.
    y : (n,) array
        Two labels; the larger one is +1.
    weights_from, weights_to : (n,) arrays or scalars
        Weights C_i >= 0; both classes need some weight along the whole line.
    kernel, gamma, degree, coef0
        See `svm_path`.
    diagonal : float, default 0.0
        Added to the diagonal of the kernel matrix (the paper adds 1e-6).
    callback, check
        See `solution_path`; done doesn't include the start, a path from zero to weights_from.

    Returns
    -------
    SolutionPath
        In ``theta``; ``dual`` gives 0 <= alpha_i <= C_i. Of several optimal b it is the middle.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

    References
    ----------
    Karasuyama, Harada, Sugiyama and Takeuchi, "Multi-parametric solution-path algorithm for
    instance-weighted support vector machines", equations (2), (3), (7) and (9).

    Examples
    --------
    The sample at 2, whose label is doubtful, loses its weight:

    >>> from solution_paths import weighted_svm_path
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> y = ["no", "no", "yes", "no", "yes", "yes"]
    >>> path = weighted_svm_path(X, y, weights_from=10.0, weights_to=[10, 10, 0, 10, 10, 10])
    >>> [decision.round(3).tolist() for decision in path.crossings([[3.0]])]  # where it flips
    [[0.55]]
    >>> path.predict([[3.0]], 0.5).tolist(), path.predict([[3.0]], 0.6).tolist()
    (['yes'], ['no'])
    >>> path.dual(1.0).round(3).tolist()  # support vectors at the end
    [0.0, 0.0, 0.0, 2.0, 2.0, 0.0]
    >>> path.certify().ok
    True
    """
    samples = Samples.of(X, kernel, gamma, degree, coef0, diagonal).centred()
    signs, classes = samples.labels(y, X)
    return weighted_path(
        samples,
        lambda weights: losses.hinge(signs, weights),
        check_ends(X, weights_from, weights_to, signs, classes),
        signs,
        reading=samples.reading("sign", classes, signs=signs),
        callback=callback,
        check=check,
    )
