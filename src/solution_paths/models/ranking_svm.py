"""Ranking SVM: every cost C of pairs that are in the wrong order."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..problem import Problem, differences, losses
from ..validation import Rows
from .stated import Samples, SolutionPath, ranked_pairs, solution_path


def ranking_svm_path(
    X: Rows,
    *,
    pairs: ArrayLike | None = None,
    scores: ArrayLike | None = None,
    queries: ArrayLike | None = None,
    kernel: str = "linear",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    check: str = "warn",
) -> SolutionPath:
    """Compute the ranking SVM for every C.

    Minimises, for all C at once, ::

        1/2 ||w||^2 + C sum over pairs (i, j) of max(0, 1 - (f(x_i) - f(x_j))),    f(x) = w.x.

    (With lam in the place of C, lam = 1 / C.)

    Parameters
    ----------
    X : (n, d) array or CSR matrix
        Samples; with ``kernel="precomputed"`` the (n, n) kernel matrix.
    pairs : (m, 2) array of ints, optional
        Rows (i, j) of which i is to be ranked above j.
    scores : (n,) array, optional
        In the place of pairs: all (i, j) with score_i > score_j within a query.
    queries : (n,) array, optional
        Which query each row belongs to, beside scores; one query unless given.
    kernel, gamma, degree, coef0
        See `svm_path`.
    check : {"warn", "raise", "ignore"}
        See `solution_path`.

    Returns
    -------
    SolutionPath
        In ``C`` from 0 to infinity; ``dual`` has an entry for each pair.

    Raises
    ------
    ValueError
        For bad input; the message names the argument and the remedy.
    PathError
        The path can't be followed.

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
    rows, ones = differences(chosen, samples.n), np.ones(len(chosen))

    def model(C: float) -> Problem:
        data = samples.losses(losses.shortfall(ones, C), None, rows)
        return Problem(data, ridge=1.0, kernel=samples.K)

    reading = samples.reading(bias=[[]])
    return solution_path(model, 0.0, np.inf, parameter="C", reading=reading, check=check)
