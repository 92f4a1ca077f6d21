"""Rows that can be left out at once: where no place changes on the way, the line is one step.

With rows on curved segments alone holding the weights, a model without row i is a linear system of
which one square is taken away (Sherman and Morrison): weights move by -S^-1 x_i a_i / (1 - h_i), as
they do in least squares. It is the optimum where every coordinate is still clear of the ends of
its place; of all other rows nothing is said.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..homotopy.statement import dense
from ..problem import Pieces, Problem
from ..validation import Floats
from ..verify import Answer
from .points import Places

CONDITION = 2.0**20  # of the system in units of its own, for 30 bits of what it says
CLEAR = 2.0**-26  # of the size of what is compared: nearer to an end a row is looked at by a line
LEVERAGE = 2.0**-10  # of 1: rows that others say so little of are, too
NOBODY = np.empty(0, dtype=np.int64)


class Without(NamedTuple):
    """Some rows, and the optima without each of them, in columns."""

    rows: Places
    answer: Answer


def without(problem: Problem, answer: Answer, place: Places) -> Without:
    """Return the rows whose leaving changes no place, and the optima without them.

    Parameters
    ----------
    problem : Problem
        Of one group of losses, without a kernel.
    answer : Answer
        Its optimum, in a column.
    place : (N,) of int
        The places of rows and of variables there.
    """
    loss, n, d = problem.losses[0], len(problem.losses[0].pieces), problem.features
    of_rows, of_weights = place[:n], place[n : n + d]
    fine = (
        problem.kernel is None
        and problem.constraint is None
        and len(place) == n + d + (problem.n_free)
    )
    if not fine or (of_rows % 2 == 1).any() or problem.penalty is None:
        return _none(answer)
    assert answer.duals is not None
    w, v, a = answer.w[:, 0], answer.free[:, 0], answer.duals[0][:, 0]
    X = np.hstack([dense(loss.X), dense(loss.free)])
    z = X @ np.concatenate([w, v])
    rows = _Segments.of(loss.pieces, of_rows // 2)
    q = rows.curvature
    moves = np.append(of_weights % 2 == 0, np.ones(problem.n_free, dtype=bool))
    own = _Segments.of(problem.penalty, of_weights // 2)
    bent = np.append(problem.ridge + own.curvature, np.zeros(problem.n_free))[moves]
    A = X[:, moves]
    S = (A.T * q) @ A + np.diag(bent)
    unit = np.sqrt(np.diag(S))
    if not (unit > 0.0).all() or np.linalg.cond(S / np.outer(unit, unit)) > CONDITION:
        return _none(answer)
    G = np.linalg.solve(S / np.outer(unit, unit), A.T / unit[:, None]) / unit[:, None]
    h = q * np.einsum("ij,ji->i", A, G)
    step = -G * (a / np.where(h < 1.0, 1.0 - h, 1.0))
    change = np.zeros((len(moves), n))
    change[moves] = step
    new_z = z[:, None] + A @ step
    duals = a[:, None] - q[:, None] * (A @ step)
    new_w, new_v = w[:, None] + change[:d], v[:, None] + change[d:]
    own_row = np.eye(n, dtype=bool)
    duals[own_row] = 0.0
    fine = 1.0 - h > LEVERAGE
    fine &= (rows.clear(new_z) | own_row).all(axis=0)
    still = ~moves[:d]
    fine &= own.clear(new_w)[moves[:d]].all(axis=0)
    pull = X[:, :d][:, still].T @ duals - problem.ridge * new_w[still]
    fine &= _within_knots(problem.penalty, of_weights, still, pull).all(axis=0)
    chosen = np.flatnonzero(fine)
    return Without(chosen, Answer(new_w[:, chosen], new_v[:, chosen], [duals[:, chosen]]))


def _none(answer: Answer) -> Without:
    assert answer.duals is not None
    multiplier = None if answer.multiplier is None else answer.multiplier[:0]
    columns = answer.w[:, :0], answer.free[:, :0], [answer.duals[0][:, :0]], multiplier
    return Without(NOBODY, Answer(*columns))


class _Segments(NamedTuple):
    """The segments that coordinates are on: their ends, sizes of these, and curvatures."""

    low: Floats
    high: Floats
    size: Floats
    curvature: Floats

    @classmethod
    def of(cls, pieces: Pieces, segment: Places) -> _Segments:
        """Return those of functions, each on one of its segments."""
        rows = np.arange(len(pieces))
        ends = np.column_stack([pieces.low, pieces.knots, pieces.high])
        segment = np.minimum(segment, pieces.knots.shape[1])
        low, high = ends[rows, segment], ends[rows, segment + 1]
        passed = (pieces.left == pieces.right).all(axis=1)  # nothing changes at any knot
        alike = passed & (pieces.curvature == pieces.curvature[:, :1]).all(axis=1)
        low, high = np.where(alike, pieces.low, low), np.where(alike, pieces.high, high)
        size = np.abs(pieces.knots).max(axis=1)
        return cls(low, high, size, pieces.curvature[rows, segment])

    def clear(self, values: Floats) -> NDArray[np.bool_]:
        """Tell which values (k, n) are surely inside."""
        room = CLEAR * (self.size[:, None] + np.abs(values))
        return (values - self.low[:, None] > room) & (self.high[:, None] - values > room)


def _within_knots(
    penalty: Pieces, place: Places, still: NDArray[np.bool_], pull: Floats
) -> NDArray[np.bool_]:
    """Tell which pulls (k, n) at weights that stand at knots are surely between the slopes."""
    rows = np.flatnonzero(still)
    knot = np.minimum(place[rows] // 2, penalty.knots.shape[1] - 1)
    low, high = penalty.left[rows, knot][:, None], penalty.right[rows, knot][:, None]
    room = CLEAR * (np.abs(low) + np.abs(high) + np.abs(pull))
    return (pull - low > room) & (high - pull > room)
