"""Rows that can be left out in one step, since the active set doesn't change.

If only rows on quadratic segments determine the weights, leaving out row i is a rank-one change of
a linear system (Sherman and Morrison): weights move by -S^-1 x_i a_i / (1 - h_i), as in least
squares. The result is optimal if every coordinate stays clear of the ends of its segment. Other
rows are not treated here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..homotopy.statement import dense
from ..problem import Pieces, Problem
from ..validation import Floats
from ..verify import Answer
from .points import Places

MAX_CONDITION = 2.0**20  # of the scaled system: its solution has 30 bits
CLEAR_OF_END = 2.0**-26  # least distance from ends, relative to the numbers compared
MIN_LEVERAGE_LEFT = 2.0**-10  # least 1 - h_i; rows with less, too, are left out by a path
NO_ROWS = np.empty(0, dtype=np.int64)


class Without(NamedTuple):
    """Some rows, and the optima without each of them in columns."""

    rows: Places
    answer: Answer


def without(problem: Problem, answer: Answer, place: Places) -> Without:
    """Return the rows whose removal keeps the active set, and the optima without them.

    Parameters
    ----------
    problem : Problem
        With one group of losses, without a kernel.
    answer : Answer
        Its optimum in a column.
    place : (N,) of int
        The places of rows and of variables at the optimum.
    """
    loss, n, d = problem.losses[0], len(problem.losses[0].pieces), problem.features
    row_places, weight_places = place[:n], place[n : n + d]
    certain = (
        problem.kernel is None
        and problem.constraint is None
        and len(place) == n + d + (problem.n_free)
    )
    if not certain or (row_places % 2 == 1).any() or problem.penalty is None:
        return _none(answer)
    assert answer.duals is not None
    w, v, a = answer.w[:, 0], answer.free[:, 0], answer.duals[0][:, 0]
    X = np.hstack([dense(loss.X), dense(loss.free)])
    z = X @ np.concatenate([w, v])
    rows = _Segments.of(loss.pieces, row_places // 2)
    q = rows.curvature
    moves = np.append(weight_places % 2 == 0, np.ones(problem.n_free, dtype=bool))
    penalties = _Segments.of(problem.penalty, weight_places // 2)
    curvatures = np.append(problem.ridge + penalties.curvature, np.zeros(problem.n_free))[moves]
    A = X[:, moves]
    solve = solver(A, q, curvatures)
    if solve is None:
        return _none(answer)
    G = solve(A.T)
    h = q * np.einsum("ij,ji->i", A, G)
    step = -G * (a / np.where(h < 1.0, 1.0 - h, 1.0))
    change = np.zeros((len(moves), n))
    change[moves] = step
    new_z = z[:, None] + A @ step
    duals = a[:, None] - q[:, None] * (A @ step)
    new_w, new_v = w[:, None] + change[:d], v[:, None] + change[d:]
    left_out = np.eye(n, dtype=bool)
    duals[left_out] = 0.0
    certain = 1.0 - h > MIN_LEVERAGE_LEFT
    certain &= (rows.clear(new_z) | left_out).all(axis=0)
    still = ~moves[:d]
    certain &= penalties.clear(new_w)[moves[:d]].all(axis=0)
    pull = X[:, :d][:, still].T @ duals - problem.ridge * new_w[still]
    certain &= _within_knots(problem.penalty, weight_places, still, pull).all(axis=0)
    chosen = np.flatnonzero(certain)
    return Without(chosen, Answer(new_w[:, chosen], new_v[:, chosen], [duals[:, chosen]]))


def solver(A: Floats, q: Floats, curvatures: Floats) -> Callable[[Floats], Floats] | None:
    """Return the function that multiplies by the inverse of A'QA + curvatures.

    None if that matrix is ill-conditioned.
    """
    if not A.shape[1]:
        return np.zeros_like
    S = (A.T * q) @ A + np.diag(curvatures)
    unit = np.sqrt(np.diag(S))
    if not (unit > 0.0).all() or np.linalg.cond(S / np.outer(unit, unit)) > MAX_CONDITION:
        return None
    scaled = S / np.outer(unit, unit)

    def solve(right: Floats) -> Floats:
        units = unit if right.ndim == 1 else unit[:, None]
        return np.asarray(np.linalg.solve(scaled, right / units) / units)

    return solve


def _none(answer: Answer) -> Without:
    assert answer.duals is not None
    multiplier = None if answer.multiplier is None else answer.multiplier[:0]
    columns = answer.w[:, :0], answer.free[:, :0], [answer.duals[0][:, :0]], multiplier
    return Without(NO_ROWS, Answer(*columns))


class _Segments(NamedTuple):
    """The segments that contain the coordinates: ends, sizes of the ends, curvatures."""

    low: Floats
    high: Floats
    size: Floats
    curvature: Floats

    @classmethod
    def of(cls, pieces: Pieces, segment: Places) -> _Segments:
        """Return the segments with given indices, one of each function."""
        rows = np.arange(len(pieces))
        ends = np.column_stack([pieces.low, pieces.knots, pieces.high])
        segment = np.minimum(segment, pieces.knots.shape[1])
        low, high = ends[rows, segment], ends[rows, segment + 1]
        passed = (pieces.left == pieces.right).all(axis=1)  # no slope changes at any knot
        alike = passed & (pieces.curvature == pieces.curvature[:, :1]).all(axis=1)
        low, high = np.where(alike, pieces.low, low), np.where(alike, pieces.high, high)
        size = np.abs(pieces.knots).max(axis=1)
        return cls(low, high, size, pieces.curvature[rows, segment])

    def clear(self, values: Floats) -> NDArray[np.bool_]:
        """Tell which values (k, n) are clearly inside."""
        room = CLEAR_OF_END * (self.size[:, None] + np.abs(values))
        return (values - self.low[:, None] > room) & (self.high[:, None] - values > room)


def _within_knots(
    penalty: Pieces, place: Places, still: NDArray[np.bool_], pull: Floats
) -> NDArray[np.bool_]:
    """Tell which subgradients (k, n) at weights at knots are clearly between the slopes."""
    rows = np.flatnonzero(still)
    knot = np.minimum(place[rows] // 2, penalty.knots.shape[1] - 1)
    low, high = penalty.left[rows, knot][:, None], penalty.right[rows, knot][:, None]
    room = CLEAR_OF_END * (np.abs(low) + np.abs(high) + np.abs(pull))
    return (pull - low > room) & (high - pull > room)
