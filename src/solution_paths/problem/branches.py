"""Losses that are convex only on each of a few neighbouring intervals, their branches.

Such a loss grows more slowly beyond a threshold, for example: there its slope falls, and the sum of
losses isn't convex. A *partition* puts each sample on one of its branches; within the values that
this allows the problem is convex, with domains that end at the thresholds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..validation import Floats
from .line import Line, along
from .pieces import ORDER_ROUNDING, Pieces, pieces
from .statement import Problem

Partition = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Branches:
    """Problems that differ in the branch that all samples are on, along one parameter.

    Attributes
    ----------
    lines : tuple of Line
        From low to high values z: each domain begins where that of the branch before it ends. All
        problems have one group of losses and a ridge, no penalty; free variables are allowed.
    main : (n,) of int
        The branch of each sample that isn't an outlier.
    losses : callable, optional
        Of t, returns the functions of each branch, as the lines do.
    """

    lines: tuple[Line, ...]
    main: Partition
    losses: Callable[[float], Sequence[Pieces]] | None = None

    @classmethod
    def along(
        cls,
        losses: Callable[[float], Sequence[Pieces]],
        machine: Callable[[Pieces], Problem],
        main: Partition,
        ends: tuple[float, float],
    ) -> Branches:
        """State the problems of branches between two parameters.

        Parameters
        ----------
        losses : callable
            Of t, returns the functions of each branch.
        machine : callable
            Of functions of all samples, returns their problem.
        main : (n,) of int
            The branch of each sample that isn't an outlier.
        ends : (float, float)

        Raises
        ------
        ValueError
            Branches don't meet, or don't move affinely; see `along`.
        """

        def model(k: int) -> Callable[[float], Problem]:
            return lambda t: machine(losses(t)[k])

        main = np.asarray(main)
        for t in ends:
            _check_meeting(losses(t), main, t)
        count = len(losses(ends[0]))
        return cls(tuple(along(model(k), *ends) for k in range(count)), main, losses)

    def pieces(self, t: float) -> Sequence[Pieces]:
        """Return the functions of each branch at t."""
        if self.losses is not None:
            return self.losses(t)
        return [line.at(t).losses[0].pieces for line in self.lines]

    def problem(self, t: float, partition: Partition) -> Problem:
        """Return the convex problem of a partition (n,) at t."""
        problem = self.lines[0].start
        group = replace(problem.losses[0], pieces=self.functions(t, partition))
        return replace(problem, losses=(group,))

    def functions(self, t: float, partition: Partition) -> Pieces:
        """Return the function of each sample's branch at t."""
        return on_branches(self.pieces(t), partition)

    def values(self, w: Floats, v: Floats) -> Floats:
        """Return the values (n,) or (n, k) of samples, given weights and free variables.

        With a kernel the weights are the coefficients of its rows.
        """
        problem = self.lines[0].start
        X = problem.losses[0].X if problem.kernel is None else problem.kernel
        return np.asarray(X @ w + problem.losses[0].free @ v)

    @cached_property
    def still(self) -> NDArray[np.bool_]:
        """Samples whose value is 0 for all weights: rows of zeros without a bias."""
        problem = self.lines[0].start
        free = self._free(np.arange(problem.losses[0].X.shape[0])).any(axis=1)
        if problem.kernel is not None:
            return np.asarray((problem.kernel.diagonal() == 0.0) & ~free)
        largest = abs(problem.losses[0].X).max(axis=1)
        largest = largest.toarray().ravel() if sp.issparse(largest) else largest
        return np.asarray((largest == 0.0) & ~free)

    def _free(self, which: NDArray[np.int64]) -> Floats:
        """Return the columns of the free variables (k, r), of some samples."""
        free = self.lines[0].start.losses[0].free[which]
        return np.asarray(free.toarray() if sp.issparse(free) else free)

    def at_values(self, t: float, z: Floats) -> NDArray[np.int8]:
        """Return the branches (n,) of values; at a threshold the main one."""
        pieces, branch = self.pieces(t), self.main.astype(np.int8)
        low, high = (np.stack([getattr(f, end) for f in pieces]) for end in ("low", "high"))
        rows = np.arange(len(z))
        for _ in pieces:
            branch += z > high[branch, rows]
            branch -= z < low[branch, rows]
        return branch

    def rows(self, which: NDArray[np.int64]) -> Floats:
        """Return A (k, m): changes d of these samples' duals move no value if and only if A'd = 0.

        Then they keep the balances of free variables, too.
        """
        problem, free = self.lines[0].start, self._free(which)
        if problem.kernel is not None:
            rows = np.asarray(problem.kernel[np.ix_(which, which)])
            if not free.size:
                return rows
            size, U = np.linalg.eigh((rows + rows.T) / 2)
            rows = U * np.sqrt(np.maximum(size, 0.0))  # rows whose products are the kernel
        else:
            X = problem.losses[0].X[which]
            rows = np.asarray(X.toarray() if sp.issparse(X) else X)
        unit = np.linalg.norm(rows, axis=1).max(initial=0.0) or 1.0
        return np.hstack([rows, unit * free])


def _check_meeting(branches: Sequence[Pieces], main: Partition, t: float) -> None:
    """Raise an error if there is a gap between two branches, or ``main`` names no branch."""
    n = len(branches[0])
    if len(branches) < 2 or any(len(branch) != n for branch in branches):
        sizes = [len(branch) for branch in branches]
        raise ValueError(
            f"There are {sizes} functions in the branches; give two or more of n each."
        )
    usable = main.shape == (n,) and main.dtype.kind in "iu"
    if not usable or main.min(initial=0) < 0 or main.max(initial=0) >= len(branches):
        last = len(branches) - 1
        raise ValueError(f"main must hold {n} whole numbers from 0 to {last}: correct it.")
    for k, (branch, following) in enumerate(pairwise(branches)):
        size = np.maximum(np.abs(branch.high), 1.0)
        apart = ~(np.abs(branch.high - following.low) <= ORDER_ROUNDING * size)
        if apart.any():
            i = int(apart.argmax())
            raise ValueError(
                f"Branch {k} of row {i} ends at {branch.high[i]:g} and the next one begins at "
                f"{following.low[i]:g}, at the parameter {t:g}; let `high` and `low` be alike."
            )


def on_branches(branches: Sequence[Pieces], partition: Partition) -> Pieces:
    """Return the function of each sample's branch."""
    m = max(branch.knots.shape[1] for branch in branches)
    chosen, *others = (_widened(branch, m) for branch in branches)
    for k, branch in enumerate(others, 1):
        chosen = branch.where(partition == k, chosen)
    return chosen


def slope_at(f: Pieces, z: Floats) -> Floats:
    """Return a subgradient (n,) of piecewise linear functions at values (n,)."""
    place = (z[:, None] > f.knots).sum(axis=1)
    return np.asarray(f.slopes[np.arange(len(f)), place])


def value_at(f: Pieces, z: Floats) -> Floats:
    """Return the values (n,) of piecewise linear functions at (n,)."""
    ends = np.column_stack([f.knots[:, 1:], np.full(len(f), np.inf)])
    beyond = np.clip(z[:, None] - f.knots, 0.0, ends - f.knots)
    before = np.minimum(z - f.knots[:, 0], 0.0)
    return f.value + f.slopes[:, 0] * before + (f.slopes[:, 1:] * beyond).sum(axis=1)


def _widened(f: Pieces, m: int) -> Pieces:
    """Return the same functions with m knots, the last of them repeated."""
    more = m - f.knots.shape[1]
    if more == 0:
        return f
    arrays = {name: getattr(f, name) for name in ("knots", "slopes", "curvature")}
    wide = {name: np.pad(array, ((0, 0), (0, more)), mode="edge") for name, array in arrays.items()}
    return replace(f, **wide)


def robust_hinges(y: Floats, C: Any, theta: float, s: float) -> list[Pieces]:
    """Return the losses of samples at low and at high values, for costs C.

    C (1 - theta m - s) for margins m = y f <= s, that is low values of y = +1, C max(0, 1 - m) for
    others.
    """
    out = pieces([s], [-C * theta] * 2, value=C * (1.0 - theta * s - s), high=s, n=len(y))
    inlier = pieces([1.0], [-C, 0.0], low=s, n=len(y))
    return [out.where(y > 0, inlier.mirrored()), inlier.where(y > 0, out.mirrored())]


def robust_absolutes(y: Floats, C: Any, theta: float, s: float) -> list[Pieces]:
    """Return the losses C l(y - f) of samples at low, middle and high values f, for costs C.

    l(r) is |r| up to s, and (|r| - s) theta + s beyond.
    """
    below = pieces([y - s], [-C * theta] * 2, value=C * s, high=y - s)
    inlier = pieces([y], [-C, C], low=y - s, high=y + s)
    above = pieces([y + s], [C * theta] * 2, value=C * s, low=y + s)
    return [below, inlier, above]
