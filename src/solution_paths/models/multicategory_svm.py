"""Multicategory SVM of Lee, Lin and Wahba: every weight lam of the ridge."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..problem import Losses, Problem, Product, Repeated, losses
from ..problem.maps import frozen
from ..validation import Rows
from .limits import down_to
from .samples import IN_INVERSE, Callback, Samples, SolutionPath, model_path
from .weights import check_shares


def multicategory_svm_path(
    X: Rows,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    lam_min: float = 0.0,
    kernel: str = "linear",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Compute the multicategory SVM for every lam.

    Minimises over f_k(x) = w_k.x + b_k, k = 1, ..., K, whose sum is zero, for all lam at once, ::

        1/n sum_i sum_{k other than y_i} max(0, f_k(x_i) + 1/(K - 1)) + lam/2 sum_k ||w_k||^2.

    (With a sum over samples, as in Lee and Cui, lam is n times as large.) With sample weights,
    s_i / sum_j s_j replaces 1/n. With two classes it is the C-SVM with C = 1 / (2 n lam), f = f_2.

    Parameters
    ----------
    X : (n, d) array or CSR matrix, or (n, n) Gram matrix with ``kernel="precomputed"``
    y : (n,) array
        Labels of two classes or more.
    lam_min : float, default 0.0
        Where to stop, >= 0.
    sample_weight, kernel, gamma, degree, coef0, callback, check
        See `svm_path`, for callback and check `solution_path`; each class needs some weight.

    Returns
    -------
    SolutionPath
        In ``lam`` from infinity down; ``coef`` is (K, d), ``decision_function`` (m, K), and
        ``predict`` gives the class whose f_k is largest. Of several optimal biases they are the
        middle, one after the other.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

    References
    ----------
    Lee, Lin and Wahba (2004), "Multicategory support vector machines"; Lee and Cui (2006),
    "Characterizing the solution path of multicategory support vector machines"; dissertation,
    2.3.6.

    Examples
    --------
    >>> from solution_paths import multicategory_svm_path
    >>> X = [[0.0, 0.0], [0.5, 0.0], [3.0, 0.0], [3.5, 0.0], [0.0, 3.0], [0.0, 3.5]]
    >>> path = multicategory_svm_path(X, ["a", "a", "b", "b", "c", "c"])
    >>> path.predict([[0.0, 0.5], [4.0, 0.0], [0.0, 4.0]], 0.01).tolist()
    ['a', 'b', 'c']
    >>> path.certify().ok
    True
    """
    samples = Samples.of(X, kernel, gamma, degree, coef0)
    codes, classes = samples.classes(y, X)
    count, shares = len(classes), check_shares(sample_weight, X, codes, classes)
    # w_k = sum_j E_kj u_j, with E an orthonormal basis of the vectors whose sum over k is zero
    E = np.linalg.qr(np.column_stack([np.ones(count), np.eye(count)[:, :-1]]))[0][:, 1:]
    sample, other = np.nonzero(codes[:, None] != np.arange(count))
    take = sp.eye_array(samples.n, format="csr")[sample]
    rows = sp.csr_array(sp.hstack([sp.diags_array(E[other, j]) @ take for j in range(count - 1)]))
    map_ = frozen(rows) if samples.K is not None else Product(rows, Repeated(samples.X, count - 1))
    kernel_ = None if samples.K is None else frozen(np.kron(np.eye(count - 1), samples.K))
    level, free = np.full(len(sample), -1.0 / (count - 1)), frozen(E[other])

    def model(t: float) -> Problem:  # divided by lam = 1 / t
        loss = losses.excess(level, t * shares[sample])
        return Problem(Losses(loss, map_, free), ridge=1.0, kernel=kernel_)

    reading = replace(samples.reading("argmax", classes, np.eye(count - 1)), mix=E)
    options = down_to(lam_min, "lam_min") | {"parameter": "lam", "scale": IN_INVERSE}
    return model_path(model, **options, reading=reading, callback=callback, check=check)
