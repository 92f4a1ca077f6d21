"""Conditional conformal prediction: what a new row's score may be, by a path in the row's dual.

A quantile regression g of n scores and one more, S, has a dual u for the new row. It is the slope
of the least objective in S, so that (S, u) runs through a monotone curve: u is at its least below
it, at its largest above it, and in between S = g(x). Therefore the curve can be followed by u as
well as by S, without the new row's loss: u g(x) is taken from the objective of the n rows, and
grows from nothing. All new rows begin at the optimum of the n rows.
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
from ..verify.verdict import Certificate, Verdict, summary
from .conformal import look
from .follow import CHECKS
from .leave_one_out import check_level
from .neighbours import Start, moving, with_losses
from .path import SolutionPath

Features: TypeAlias = Callable[[Any], Any]  # of rows, numbers for each of them
BEFORE = 2.0**-40  # so far before a dual a cutoff is read, whatever rounding made of a breakpoint


@dataclass(frozen=True, eq=False)
class ConditionalPath:
    """The score of one new row as a function of its dual, both ascending.

    Attributes
    ----------
    alpha : float
        The share of scores that may be missed.
    duals : (k,) array
        Of the new row, u, ascending, at the vertices of the curve: within [-alpha, 1 - alpha].
    scores : (k,) array
        There, ascending; straight in between.
    paths : tuple of SolutionPath
        In u, downwards and upwards from 0: the quantile regressions. One is missing where there is
        no optimum beyond 0; both, but for that at 0, where no other row has a say at the new one.
    """

    alpha: float
    duals: Floats
    scores: Floats
    paths: tuple[SolutionPath, ...]

    def cutoff(self, u: ArrayLike | None = None) -> Floats:
        """Return the largest score S of the prediction set: an array like u.

        The supremum of all S whose dual is below u. Infinite where no S has a larger dual: there
        are too few rows like the new one.

        Parameters
        ----------
        u : float or array, optional
            In [-alpha, 1 - alpha]. Drawn evenly from there it makes the coverage exact; its largest
            value, the default, makes it at least that.
        """
        own = np.asarray(1.0 - self.alpha if u is None else u, dtype=np.float64)
        if (own < -self.alpha - BEFORE).any() or (own > 1.0 - self.alpha + BEFORE).any():
            raise ValueError(
                f"u must lie within [{-self.alpha:g}, {1.0 - self.alpha:g}], which are -alpha and "
                "1 - alpha."
            )
        before = own - BEFORE
        if not len(self.duals):
            return np.where(before < 0.0, -np.inf, np.inf)
        return np.asarray(np.interp(before, self.duals, self.scores, left=-np.inf, right=np.inf))

    def certify(self, n_random: int = 20, seed: int = 0) -> Certificate:
        """Judge the quantile regressions at some duals.

        Parameters
        ----------
        n_random : int, default 20
            How many, on each of both paths: see `SolutionPath.certify`.
        seed : int, default 0
        """
        found = [path._judged(*path._some(n_random, seed, None)) for path in self.paths]
        return summary(
            np.concatenate([t for t, _ in found]), Verdict.together([own for _, own in found])
        )


def paths(
    problem: Problem, n: int, alpha: float, offset: float, check: str
) -> Iterator[ConditionalPath]:
    """Yield the curves of a problem's rows beyond the first n, which have no losses.

    Parameters
    ----------
    problem : Problem
        Of pinball losses of the first n rows, each with a cost of 1.
    n : int
    alpha : float
    offset : float
        What has been taken off the scores.
    check : str
    """
    check_choice(check, "check", CHECKS)
    start = Start(problem)
    for row in range(n, len(problem.losses[0].pieces)):
        ways = [_way(start, row, end) for end in (-alpha, 1.0 - alpha)]
        found = tuple(path for path in ways if path is not None) or (start.still(),)
        for path in found:
            look(path, check)
        curves = [_curve(start.problem, row, path) for path in ways]
        u, f = (np.concatenate(parts) for parts in zip(*curves, strict=True))
        yield ConditionalPath(alpha, u, f + offset, found)


def _way(start: Start, row: int, end: float) -> SolutionPath | None:
    """Return the path from no dual of a row to another one, as far as there is an optimum."""
    pieces = start.problem.losses[0].pieces
    rate = np.zeros(pieces.slopes.shape)
    rate[row] = -1.0

    def model(u: float) -> Problem:
        slopes = pieces.slopes + u * rate
        parts = (pieces.curvature, pieces.value, pieces.low, pieces.high)
        return with_losses(start.problem, Pieces._derived(pieces.knots, slopes, *parts))

    line = moving(model, 0.0, end, "losses[0].slopes", rate)
    try:
        return start.path(line, parameter="u", partly=True)
    except NoOptimum:  # from u = 0 on
        return None


def _curve(problem: Problem, row: int, path: SolutionPath | None) -> tuple[Floats, Floats]:
    """Return the duals of a row, ascending, and its values."""
    if path is None:
        return np.empty(0), np.empty(0)
    w, v = path.variables_at(np.arange(len(path.points)))
    first = problem.losses[0]
    own = first.X if problem.kernel is None else problem.kernel
    f = np.asarray(own[[row]] @ w.T + first.free[[row]] @ v.T).ravel()
    return path.points.t, f


def checked(
    alpha: float, kernel: str | None, gamma: float | None, lam: float
) -> tuple[float, float]:
    """Return alpha and lam; refuse a kernel that new rows lack, or would change."""
    if kernel is not None:
        check_choice(kernel, "kernel", ("linear", "rbf", "poly"))
    if gamma is not None:
        check_number(gamma, "gamma", above=0)
    return check_level(alpha), check_number(lam, "lam", above=0)


def columns(features: Features | None, X: Any, n: int) -> Floats:
    """Return the features (n, k) of n rows, none unless they are asked for."""
    if features is None:
        return np.zeros((n, 0))
    if not callable(features):
        raise TypeError(
            f"features must be a function of rows, not {shown(features)}; pass one that returns "
            "numbers (rows, k)."
        )
    found = np.asarray(features(X if hasattr(X, "shape") else np.asarray(X)))
    found = check_X(found[:, None] if found.ndim == 1 else found, "features(X)")
    if len(found) != n:
        raise ValueError(f"features returns {len(found)} rows for {n}: let it return one for each.")
    return found
