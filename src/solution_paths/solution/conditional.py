"""Conditional conformal prediction: the score of a new row along a path in its dual.

A quantile regression g of n scores and a new score S has a dual u for the new row. u is the slope
of the minimal objective in S, so that (S, u) follows a monotone curve: u has its least value below
the curve, its largest above it, and in between S = g(x). So the curve can be parametrised by u
instead of S. Then the new row has no loss: u g(x) is subtracted from the objective of the n rows,
starting at u = 0. All new rows start at the optimum of the n rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..errors import NoOptimum
from ..problem import Pieces, Problem
from ..validation import Floats, check_choice, check_number, check_X, shown
from .conformal import OfPaths, judge_some
from .follow import CHECKS
from .leave_one_out import check_level
from .neighbours import Start, moving, with_losses
from .path import SolutionPath
from .tolerances import SAME

Features: TypeAlias = Callable[[Any], Any]  # of rows, returns numbers for each


@dataclass(frozen=True, eq=False)
class ConditionalPath(OfPaths):
    """The score of one new row as a function of its dual, both ascending.

    Attributes
    ----------
    alpha : float
        The share of scores that may be missed.
    duals : (k,) array
        Duals u of the new row at the vertices of the curve, ascending, in [-alpha, 1 - alpha].
    scores : (k,) array
        Scores at the vertices, ascending; linear in between.
    paths : tuple of SolutionPath
        The quantile regressions along u, downwards and upwards from 0. A direction in which there
        is no optimum is left out. If both are, as where no other row determines the new row's
        value, there is a single path that stands still at 0.
    """

    alpha: float
    duals: Floats
    scores: Floats
    paths: tuple[SolutionPath, ...]

    def cutoff(self, u: ArrayLike | None = None) -> Floats:
        """Return the largest score S of the prediction set: an array like u.

        It is the supremum of all S whose dual is below u. It is infinite where no S has a larger
        dual: then too few rows are like the new one.

        Parameters
        ----------
        u : float or array, optional
            In [-alpha, 1 - alpha]. If it is drawn uniformly the coverage is exact; with its largest
            value, the default, the coverage is at least that.
        """
        duals = np.asarray(1.0 - self.alpha if u is None else u, dtype=np.float64)
        if (duals < -self.alpha - SAME).any() or (duals > 1.0 - self.alpha + SAME).any():
            raise ValueError(
                f"u must lie within [{-self.alpha:g}, {1.0 - self.alpha:g}], which are -alpha and "
                "1 - alpha."
            )
        before = duals - SAME
        if not len(self.duals):
            return np.where(before < 0.0, -np.inf, np.inf)
        return np.asarray(np.interp(before, self.duals, self.scores, left=-np.inf, right=np.inf))


def paths(
    problem: Problem, n: int, alpha: float, offset: float, check: str
) -> Iterator[ConditionalPath]:
    """Yield the curve of each row of a problem after the first n; these rows have no losses.

    Parameters
    ----------
    problem : Problem
        With pinball losses of the first n rows, each with a cost of 1.
    n : int
    alpha : float
    offset : float
        The shift of the scores.
    check : str
    """
    check_choice(check, "check", CHECKS)
    start = Start(problem)
    for row in range(n, len(problem.losses[0].pieces)):
        both = [_way(start, row, end) for end in (-alpha, 1.0 - alpha)]
        regressions = tuple(path for path in both if path is not None) or (start.still(),)
        for path in regressions:
            judge_some(path, check)
        curves = [_curve(start.problem, row, path) for path in both]
        u, f = (np.concatenate(values) for values in zip(*curves, strict=True))
        yield ConditionalPath(alpha, u, f + offset, regressions)


def _way(start: Start, row: int, end: float) -> SolutionPath | None:
    """Return the path along a row's dual from 0 to ``end``, as far as there is an optimum."""
    pieces = start.problem.losses[0].pieces
    rate = np.zeros(pieces.slopes.shape)
    rate[row] = -1.0

    def model(u: float) -> Problem:
        slopes = pieces.slopes + u * rate
        fixed = (pieces.curvature, pieces.value, pieces.low, pieces.high)
        return with_losses(start.problem, Pieces._derived(pieces.knots, slopes, *fixed))

    line = moving(model, 0.0, end, "losses[0].slopes", rate)
    try:
        return start.path(line, parameter="u", partly=True)
    except NoOptimum:  # for every u beyond 0
        return None


def _curve(problem: Problem, row: int, path: SolutionPath | None) -> tuple[Floats, Floats]:
    """Return the duals of a row at the recorded points, ascending, and its values."""
    if path is None:
        return np.empty(0), np.empty(0)
    w, v = path.variables_at(np.arange(len(path.points)))
    first = problem.losses[0]
    matrix = first.X if problem.kernel is None else problem.kernel
    f = np.asarray(matrix[[row]] @ w.T + first.free[[row]] @ v.T).ravel()
    return path.points.t, f


def checked(
    alpha: float, kernel: str | None, gamma: float | None, lam: float
) -> tuple[float, float]:
    """Return alpha and lam; refuse a kernel that can't be computed, or would depend on new rows."""
    if kernel is not None:
        check_choice(kernel, "kernel", ("linear", "rbf", "poly"))
    if gamma is not None:
        check_number(gamma, "gamma", above=0)
    return check_level(alpha), check_number(lam, "lam", above=0)


def columns(features: Features | None, X: Any, n: int) -> Floats:
    """Return the features (n, k) of n rows; k = 0 without a function."""
    if features is None:
        return np.zeros((n, 0))
    if not callable(features):
        raise TypeError(
            f"features must be a function of rows, not {shown(features)}; pass one that returns "
            "numbers (rows, k)."
        )
    values = np.asarray(features(X if hasattr(X, "shape") else np.asarray(X)))
    values = check_X(values[:, None] if values.ndim == 1 else values, "features(X)")
    if len(values) != n:
        raise ValueError(
            f"features returns {len(values)} rows for {n}: let it return one for each."
        )
    return values
