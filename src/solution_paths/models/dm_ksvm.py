"""Double-margin kernel support vector machine: plain staircases with two kinks."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..inverse import InversePath
from ..objectives import DoubleMargin
from ..path import Path
from ..validation import Floats, Rows, check_number
from ..walks.staircase import Staircases, equality, stack, staircases
from .common import Callback, classification, cost_path, path_function
from .weighted_svm import check_sample_weight


@path_function
def dm_ksvm_path(
    X: Rows,
    y: ArrayLike,
    kappa: float,
    *,
    sample_weight: ArrayLike | None = None,
    lam_min: float | None = None,
    kernel: str = "linear",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    lazy: bool = True,
    callback: Callback | None = None,
    check: str = "warn",
) -> Path:
    """Compute the double-margin (kernel) support vector machine for every lam.

    Minimises, for all lam at once, ::

        lam/2 ||w||^2 + 1/n sum_i max(0, 1 - m_i, 1 + m_i - kappa),    m_i = y_i (w.phi(x_i) + b),

    with a free bias b: margins above kappa - 1 cost as those below 1 do. It stands for a machine
    that is robust against distributions in a Wasserstein ball around the data, in which moving phi
    costs its length and changing a label kappa / rho, with ||w|| <= rho: the radius grows with lam.
    With sample weights s_i their share s_i / sum_j s_j stands for 1/n.

    Parameters
    ----------
    X : (n, d) array or CSR matrix, or (n, n) Gram matrix with ``kernel="precomputed"``
    y : (n,) array
        Two labels; the larger one is +1.
    kappa : float
        > 0. From 2 down all margins cost something: with h = kappa / 2 the loss is then
        ``1 - h + |m - h|``.
    sample_weight : (n,) array, optional
        Weights s_i >= 0, some of them positive in both classes; all alike by default.
    lam_min : float, optional
        Where to stop, >= 0: with 0 after the last breakpoint, which holds down to 0. By default a
        linear model's path does that, and a kernel's stops at the first breakpoint where the cost
        of a sample, 1 / (n lam), is above 1e6, or above 1e6 / mean(K_ii) where that is more; see
        C_max of `svm_path`.
    kernel, gamma, degree, coef0
        See `quantile_svm_path`.
    lazy, callback, check
        See `quantile_svm_path`.

    Returns
    -------
    Path
        In ``lam`` (an `InversePath`) from infinity down to lam_min; w and b are linear in 1 / lam
        between breakpoints. ``dual`` gives alpha_i - mu_i, in [-1/n, 1/n] (or within the shares of
        sample weights) and linear in lam, and w = (1/lam) sum_i (alpha_i - mu_i) y_i phi(x_i).

    Raises
    ------
    ValueError, TypeError
        For bad input; the message names the argument and the remedy.
    PathError
        When the path can't be followed to its end; ``error.path`` is the certified part.

    References
    ----------
    Tang, G. (2023). Solution Path Algorithms for Distributionally Robust Regression and
    Classification. Doctoral dissertation, University of Arizona: chapter 5, the problem after
    (5.4), kappa rho approximated by a constant kappa. Its start, an outside solver where
    classes are unbalanced, is replaced by a walk from a balanced guess.

    Examples
    --------
    >>> from solution_paths import dm_ksvm_path
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> y = ["no", "no", "yes", "no", "yes", "yes"]
    >>> path = dm_ksvm_path(X, y, kappa=3.0)
    >>> path.coef([0.1, 10.0]).round(3).tolist()
    [[0.667, 0.117]]
    >>> path.certify().ok
    True
    """
    samples = classification(X, y, kernel, gamma, degree, coef0)
    kappa = check_number(kappa, "kappa", above=0)
    if lam_min is not None:
        lam_min = check_number(lam_min, "lam_min", least=0)
    weights = check_sample_weight(sample_weight, X, samples)
    weight = 1.0 / weights.sum()
    objective = DoubleMargin(**samples, kappa=kappa, cost0=0.0, cost1=weights, inverse=weight)
    return cost_path(
        objective,
        stack(double_margin(objective.y, kappa, weights), equality()),
        None if lam_min is None else weight / lam_min if lam_min > 0 else np.inf,
        lazy=lazy,
        callback=callback,
        check=check,
        parameter="lam",
        limit="lam_min",
        kind=InversePath,
    )


def double_margin(y: Floats, kappa: float, weights: Floats) -> Staircases:
    """Return the staircases of labels y for costs t times weights.

    Kinks are y and y (kappa - 1), or y kappa / 2.
    """
    if kappa <= 2.0:
        return staircases([y * kappa / 2], [0.0, 0.0], level_rates=[weights, -weights])
    ends = np.sort(np.stack([y, y * (kappa - 1.0)]), axis=0)
    return staircases([ends[0], ends[1]], [0.0, 0.0, 0.0], level_rates=[weights, 0.0, -weights])
