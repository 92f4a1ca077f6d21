"""Ranking SVM: every cost C of pairs that are in the wrong order."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..problem import Problem, differences, losses
from ..validation import Rows
from .limits import up_to
from .samples import Callback, Samples, SolutionPath, model_path, ranked_pairs
from .weights import check_sample_weight


def ranking_svm_path(
    X: Rows,
    *,
    pairs: ArrayLike | None = None,
    scores: ArrayLike | None = None,
    queries: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    C_max: float | None = None,
    kernel: str = "linear",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Compute the ranking SVM for every C.

    Minimises, for all C at once, ::

        1/2 ||w||^2 + C sum over pairs (i, j) of max(0, 1 - (f(x_i) - f(x_j))),    f(x) = w.x.

    (With lam instead of C, lam = 1 / C.) With sample weights a pair has the weight s_i s_j, as
    often as it would occur if rows were repeated.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
        Samples; with ``kernel="precomputed"`` the (n, n) kernel matrix.
    pairs : (m, 2) array of ints, optional
        Rows (i, j) of which i is to be ranked above j.
    scores : (n,) array, optional
        Instead of pairs: all (i, j) with score_i > score_j within a query.
    queries : (n,) array, optional
        With scores, the query of each row; by default all rows belong to one.
    sample_weight : (n,) array, optional
        Weights s_i >= 0 of rows; some pair needs a weight. All 1 by default.
    C_max : float, optional
        Where to stop.
    kernel, gamma, degree, coef0, callback, check
        See `svm_path`, for callback and check `solution_path`.

    Returns
    -------
    SolutionPath
        In ``C`` from 0 up; ``dual`` has an entry for each pair. Its error is the share of pairs in
        the wrong order: ``best(X_val, scores, queries=queries)``.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`.

    References
    ----------
    Joachims (2002), "Optimizing search engines using clickthrough data"; Zapien, Gaertner and
    Caetano (2008), "Efficient regularization path for ranking SVM"; dissertation, 2.3.6.

    Examples
    --------
    >>> from solution_paths import ranking_svm_path
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [1.0, 1.0]]
    >>> path = ranking_svm_path(X, scores=[0, 1, 2, 1], queries=["a", "a", "a", "b"])
    >>> path.decision_function(X, 1.0).argmax().item()
    2
    >>> path.certify().ok
    True
    """
    samples = Samples.of(X, kernel, gamma, degree, coef0)
    chosen = ranked_pairs(samples.n, pairs, scores, queries)
    weights = check_sample_weight(sample_weight, X, np.zeros(samples.n))[chosen].prod(axis=1)
    if not weights.any():
        raise ValueError("sample_weight is zero in each pair; give both rows of some pair weight.")
    rows, ones = differences(chosen, samples.n), np.ones(len(chosen))

    def model(C: float) -> Problem:
        data = samples.losses(losses.shortfall(ones, C * weights), None, rows)
        return Problem(data, ridge=1.0, kernel=samples.K)

    options = up_to(C_max, "C_max") | {"parameter": "C", "callback": callback}
    return model_path(model, **options, reading=samples.reading("rank", bias=[[]]), check=check)
