"""The hinge loss: support vector machines for two classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..kernels import LINEAR, Kernel
from ..validation import Rows, check_index, check_labels, check_X, feature_names, plain_labels
from .base import Floats
from .exact import add
from .machine import Machine

NOWHERE = np.full((1, 1), -np.inf)


@dataclass(frozen=True, eq=False, kw_only=True)
class Hinge(Machine):
    """min lam/2 ||w||^2 + sum_i C_i max(0, 1 - y_i f(x_i)).

    Its dual is max sum_i alpha_i - lam/2 ||w||^2 over 0 <= alpha_i <= C_i, with the signed duals
    a_i = y_i alpha_i and w = (1/lam) sum_i a_i x_i; a free bias adds sum_i a_i = 0.

    Parameters
    ----------
    classes : (2,) array
        The labels that were given for -1 and +1.
    others
        See `Machine`.
    """

    classes: Floats = (-1.0, 1.0)

    def __post_init__(self) -> None:
        self._set(classes=plain_labels(self.classes, 2, "classes"))
        super().__post_init__()

    @property
    def scale(self) -> float:
        """The unit of values: that of labels."""
        return 1.0

    def floor(self, a: Floats | None, cost: Floats) -> Floats:
        """Return that no objective counts as zero."""
        return np.zeros(cost.shape[1])

    def size_of_dual(self, a: Floats) -> Floats:
        """Return alpha, which is in [0, C] where a is feasible."""
        return self.y[:, None] * a

    def shortfalls(self, f: Floats, f_low: Floats, a: Floats | None, t, low=0.0) -> tuple:
        """Return 1 - y f, rounded once, and that there is no other side."""
        y = self.y[:, None]
        short, rest = add(np.ones(1), -y * f)
        return short + (rest - y * f_low), NOWHERE


def quantile_hinge(
    X: Rows, y: ArrayLike, lam: float, *, kernel: Kernel = LINEAR, intercept_scaling: float = 1.0
) -> Hinge:
    """Return the quantile SVM's objective, in t = tau; ``.at(tau)`` is that of one quantile.

    Its costs are equation (4) of the paper; see `quantile_svm_path`. X isn't copied: solvers reuse
    what they built for the very same rows.

    Parameters
    ----------
    X : (n, d) array or CSR matrix, or (n, n) Gram matrix
    y : (n,) array
        Two labels; the larger one is +1.
    lam : float
        Weight of the penalty, > 0.
    kernel : Kernel
    intercept_scaling : float
        Value of the appended feature; 0 means no bias.
    """
    check_index(X, y, "y")
    names, X = feature_names(X), check_X(X, own=False)
    signs, classes = check_labels(y, X.shape[0])
    share = 2.0 / len(signs)
    return Hinge(
        X,
        signs,
        classes=classes,
        feature_names=names,
        kernel=kernel,
        lam=lam,
        bias="feature",
        intercept_scaling=intercept_scaling,
        cost0=np.where(signs > 0, share, 0.0),
        cost1=np.where(signs > 0, -share, share),
    )
