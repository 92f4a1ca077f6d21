"""Full conformal prediction of labels by logistic regression, whose optima are known within a gap.

A row's score is the probability of the other label, p_i = y_i u_i with its dual u_i, which falls as
its margin grows. Let u be feasible duals with a gap g, and u* the optimal ones. The dual objective
D is concave, and u* its maximum, so that D(u*) - D(u) is at least the sum of what its terms alone
lose. For the conjugate p log p + (1 - p) log(1 - p) that is the divergence KL of two coins ::

    sum_i m_i KL(p_i || p*_i) <= D(u*) - D(u) <= g,    m_i: weights.

KL(p || q) is (p - q)^2 / (2 x (1 - x)) for some x between p and q. As x (1 - x) is at most 1/4, and
at most p (1 - p) + |p - q|, the error d of p_i is bounded, with h = g / m_i, by ::

    d <= sqrt(h / 2),    d <= h + sqrt(h^2 + 2 h p_i (1 - p_i)).

So two scores that are further apart than their errors are compared as at the optimum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..errors import PathError
from ..glm import LOSSES, Columns, Penalised, Point, optimum
from ..validation import Floats
from ..verify import curved
from .approximate import ApproximatePath
from .conformal import stacked
from .points import Places

GAPS = (1e-15, 1e-13, 1e-11, 1e-9)  # that are tried, relative to the best constant's objective


class Comparisons(NamedTuple):
    """P-values of labels, by what is certain and what isn't.

    Attributes
    ----------
    p : (m, k) array
        Where rows count whose score may be as large as that of the new row.
    undecided : (m, k) array
        The number of rows for which that isn't certain.
    counts : (m, k) array
        The number of rows that are compared, the new one included.
    gap, rounding : (m k,) arrays
        Of the judged optima, relative to the objective of the best constant.
    """

    p: Floats
    undecided: NDArray[np.int64]
    counts: NDArray[np.int64]
    gap: Floats
    rounding: Floats


def compared(
    path: ApproximatePath,
    t: float,
    codes: NDArray[np.int64],
    rows: Any,
    alike: Callable[[int], Places],
    by_label: bool,
) -> Comparisons:
    """Return p-values of both labels of new rows (m, d).

    Parameters
    ----------
    path : ApproximatePath
        Of a logistic regression.
    t : float
    codes : (n,) array
        The labels of the path's rows, 0 or 1.
    rows : (m, d) array or CSR
        New rows, checked.
    alike : callable
        Returns the rows that are compared with a new one, given its index.
    by_label : bool
        Whether only rows of the same label are compared.
    """
    weights = _weights(path, codes)
    problem = _Regression(path, t, rows, weights)
    m = rows.shape[0]
    given = rows.toarray() if sp.issparse(rows) and not sp.issparse(path.X) else rows
    p, gap, rounding = np.empty((m, 2)), np.empty(2 * m), np.empty(2 * m)
    undecided, counts = np.zeros((2, m, 2), dtype=np.int64)
    for k in range(m):
        twins = _equal_rows(path.X, given[[k]])
        for label in range(2):
            score, error, *judged = problem.with_row(k, label)
            gap[2 * k + label], rounding[2 * k + label] = judged
            others = alike(k)
            others = others[codes[others] == label] if by_label else others
            certain = twins[others] & (codes[others] == label)
            off = error[others] + error[-1]
            may = (score[others] >= score[-1] - off) | certain
            must = (score[others] > score[-1] + off) | certain
            counts[k, label] = len(others) + 1
            undecided[k, label] = (may & ~must).sum()
            p[k, label] = (may.sum() + 1) / counts[k, label]
    return Comparisons(p, undecided, counts, gap, rounding)


def _weights(path: ApproximatePath, codes: NDArray[np.int64]) -> Floats:
    """Return the weight of the rows of each label, (2,); refuse labels and weights of others."""
    if not np.array_equal(path.y > 0.0, codes > 0):
        raise ValueError(
            "The path's rows have other labels than y; pass the y that it was computed with."
        )
    weights = np.array([path.weights[codes == label][0] for label in range(2)])
    if not np.array_equal(weights[codes], path.weights) or not weights.all():
        raise ValueError(
            "Rows of one label have different weights; give rows no sample weights but those of "
            "their label, which must be positive."
        )
    return weights


def _equal_rows(X: Any, row: Any) -> NDArray[np.bool_]:
    """Tell which rows of X equal another one: with the same label they have the same score."""
    if not sp.issparse(X):
        return np.asarray((row == X).all(axis=1))
    n, row = X.shape[0], sp.csr_array(row)
    places = np.arange(n + 1) * row.nnz
    repeated = sp.csr_array((np.tile(row.data, n), np.tile(row.indices, n), places), shape=X.shape)
    return np.asarray(abs(X - repeated).sum(axis=1) == 0.0).ravel()


def error_of(p: Floats, h: Floats) -> Floats:
    """Return a bound of |p - q| over all q with KL(p || q) <= h."""
    error = np.minimum(np.sqrt(h / 2.0), h + np.sqrt(h * h + 2.0 * h * p * (1.0 - p)))
    return np.asarray(error + np.spacing(p))


class _Regression:
    """A logistic regression at one lam, and new rows that are added to it one at a time."""

    def __init__(
        self,
        path: ApproximatePath,
        t: float,
        rows: Any,
        weights: Floats,
    ):
        self.path, self.weights = path, weights
        self.lam = float(path._statement_parameters(t)[0])
        self.X = stacked(path.X, rows)
        self.columns = Columns.of(self.X, path.l1_ratio == 0.0)
        self.y, self.n = path.y, len(path.y)
        w, free = (values[0] for values in path._at(t))
        b = float(free[0] + w @ self.columns.shift)
        w = w if self.columns.rotation is None else w @ self.columns.rotation
        begin = self._problem(np.arange(self.n), self.y, path.weights)
        f = begin.columns.times(w) + b
        self.gaps = list(GAPS)
        self.start = self._optimum(begin, begin.point(self.lam, w, b, f))

    def _problem(self, chosen: Places, y: Floats, weights: Floats) -> Penalised:
        columns = replace(self.columns, X=self.columns.X[chosen])
        return Penalised(columns, LOSSES[self.path.loss](y), weights, self.path.l1_ratio)

    def _optimum(self, problem: Penalised, start: Point) -> Point:
        while self.gaps:
            point = optimum(problem, self.lam, start, self.gaps[0] * self.path.null)
            if point is not None:
                return point
            self.gaps.pop(0)  # rounding hides it, and will for other rows
        raise PathError(
            f"Rounding hides gaps of {GAPS[-1]:g} at lam = {self.lam:g}: choose a larger lam, or "
            "scale the columns of X alike.",
            self.path,
        )

    def with_row(self, k: int, label: int) -> tuple[Floats, Floats, float, float]:
        """Return scores (n + 1,) with a new row and label, their errors, a gap and its rounding."""
        chosen = np.append(np.arange(self.n), self.n + k)
        y = np.append(self.y, 2.0 * label - 1.0)
        weights = np.append(self.path.weights, self.weights[label])
        problem, start = self._problem(chosen, y, weights), self.start
        f = problem.columns.times(start.w) + start.b
        point = self._optimum(problem, problem.point(self.lam, start.w, float(start.b), f))
        w, b = self.columns.original(point.w[None], np.array([point.b]))
        judged = curved.gaps(
            self.X[chosen], y, np.array([self.lam]), w.T, b, (weights * point.u)[:, None],
            l1_ratio=self.path.l1_ratio, loss=self.path.loss, weights=weights,
        )  # fmt: skip
        p = y * judged.duals[:, 0]
        gap, rounding = float(judged.gap[0]), float(judged.rounding[0])
        error = error_of(p, (max(gap, 0.0) + rounding) / weights)
        return p, error, gap / self.path.null, rounding / self.path.null
