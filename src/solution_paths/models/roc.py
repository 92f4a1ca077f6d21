"""The exact ROC curve of the cost-sensitive SVM: every ratio of the two costs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..validation import Floats, Rows, check_number
from .asymmetric_svm import asymmetric_svm_path
from .samples import SolutionPath


class RocCurve(NamedTuple):
    """Rates (k,) of false and of true positives on the k open intervals between edges."""

    edges: Floats
    false_positive: Floats
    true_positive: Floats


def roc_path(
    X: Rows, y: ArrayLike, *, C: float = 1.0, check: str = "warn", **options: Any
) -> SolutionPath:
    """Compute the SVM for every ratio of its two costs, as `roc_curve` needs it.

    Minimises, for all ratio in [0, 1] at once, ::

        1/2 ||w||^2 + C [ratio sum_{y_i = 1} max(0, 1 - f(x_i))
                         + (1 - ratio) sum_{y_i = -1} max(0, 1 + f(x_i))],    f(x) = w.x + b.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
        Samples; with ``kernel="precomputed"`` the (n, n) kernel matrix.
    y : (n,) array
        Two labels; the larger one is +1.
    C : float, default 1.0
        > 0.
    check : {"warn", "raise", "ignore"}
        See `solution_path`.
    **options
        Others of `asymmetric_svm_path`: sample_weight, the kernel's, callback.

    Returns
    -------
    SolutionPath
        In ``ratio`` from 0 to 1. Of several optimal b it is the middle.

    References
    ----------
    Bach, Heckerman and Horvitz (2006), "Considering cost asymmetry in learning classifiers";
    dissertation, 2.3.6.

    Examples
    --------
    >>> from solution_paths import roc_curve, roc_path
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> path = roc_path(X, y)
    >>> curve = roc_curve(path, X, y)
    >>> curve.false_positive.tolist(), curve.true_positive.tolist()
    ([0.0, 0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0])
    >>> path.certify().ok
    True
    """
    C = check_number(C, "C", above=0)
    return asymmetric_svm_path(X, y, costs_from=(0.0, C), costs_to=(C, 0.0), check=check, **options)


def roc_curve(path: SolutionPath, X_val: Rows, y_val: ArrayLike) -> RocCurve:
    """Return the exact ROC curve of a path of two labels: both rates for every parameter.

    Parameters
    ----------
    path : SolutionPath
        Of `roc_path`, `asymmetric_svm_path`, or any other that predicts two labels.
    X_val, y_val : (m, d), (m,)
        Validation data of both labels.

    Examples
    --------
    >>> from solution_paths import roc_curve, roc_path
    >>> path = roc_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    >>> roc_curve(path, [[0.5], [2.5]], [0, 1]).true_positive.tolist()
    [0.0, 1.0, 1.0]
    >>> path.certify().ok
    True
    """
    if (count := len(path.reading.classes)) != 2:
        kind = f"{count} classes" if count else "numbers"
        raise ValueError(f"A ROC curve is of two labels, not of {kind}: use path.error_curve.")
    larger = np.asarray(y_val) == path.reading.classes[1]
    if not 0 < larger.sum() < len(larger):
        raise ValueError("y_val must hold both labels of the path: a rate is a share of one.")
    of_label = 1.0 * larger, 1.0 * ~larger
    miss, false = (path.error_curve(X_val, y_val, "zero_one", weights) for weights in of_label)
    edges = np.unique(np.concatenate([miss.edges, false.edges]))
    return RocCurve(edges, false.on(edges).left, 1.0 - miss.on(edges).left)
