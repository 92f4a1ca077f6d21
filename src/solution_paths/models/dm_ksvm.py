"""Double-margin kernel support vector machine: every weight lam of the ridge."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from ..problem import Problem, losses
from ..validation import Rows, check_number
from .limits import cost_range, inverse_end
from .samples import IN_INVERSE, Callback, Samples, SolutionPath, model_path
from .weights import check_shares


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
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Compute the double-margin (kernel) support vector machine for every lam.

    Minimises, for all lam at once, ::

        lam/2 ||w||^2 + 1/n sum_i max(0, 1 - m_i, 1 + m_i - kappa),    m_i = y_i (w.phi(x_i) + b),

    with a free bias b. With sample weights, s_i / sum_j s_j replaces 1/n. Margins above kappa - 1
    are penalised as those below 1 are. The model corresponds to one that is robust against
    distributions in a Wasserstein ball around the data, whose radius grows with lam. There moving
    phi costs its length and changing a label kappa / rho, with ||w|| <= rho.

    Parameters
    ----------
    X : (n, d) array or CSR matrix, or (n, n) Gram matrix with ``kernel="precomputed"``
    y : (n,) array
        Two labels; the larger one is +1.
    kappa : float
        > 0. Up to 2 no margin is free: with h = kappa / 2 the loss is then ``1 - h + |m - h|``.
    sample_weight : (n,) array, optional
        Weights s_i >= 0, some of them positive in both classes; all alike by default.
    lam_min : float, optional
        Where to stop, >= 0. By default a linear model's path goes down to 0. A kernel's stops at
        the first breakpoint where the cost of a sample, 1 / (n lam), is above 1e6, or above
        1e6 / mean(K_ii) where that is more; see C_max of `svm_path`.
    kernel, gamma, degree, coef0, callback, check
        See `svm_path`, for callback and check `solution_path`.

    Returns
    -------
    SolutionPath
        In ``lam`` from infinity down to lam_min; w and b are linear in 1 / lam between breakpoints.
        ``dual`` gives alpha_i - mu_i, in [-1/n, 1/n] and linear in lam, and w = (1/lam) sum_i
        (alpha_i - mu_i) y_i phi(x_i). Of several optimal b it is the middle.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

    References
    ----------
    Tang, G. (2023). Solution Path Algorithms for Distributionally Robust Regression and
    Classification. Doctoral dissertation, University of Arizona: chapter 5, the problem after
    (5.4), kappa rho approximated by a constant kappa.

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
    samples = Samples.of(X, kernel, gamma, degree, coef0).centred()
    signs, classes = samples.labels(y, X)
    kappa = check_number(kappa, "kappa", above=0)
    last = None if lam_min is None else inverse_end(check_number(lam_min, "lam_min", least=0))
    shares = check_shares(sample_weight, X, signs, classes)

    def model(t: float) -> Problem:
        return samples.machine(losses.double_margin(signs, kappa, t * shares))

    end = cost_range(samples, last, shares.max(), "lam_min")
    reading = samples.reading("sign", classes, signs=signs)
    options: dict[str, Any] = {"parameter": "lam", "reading": reading, "scale": IN_INVERSE}
    return model_path(model, callback=callback, check=check, **options, **end)
