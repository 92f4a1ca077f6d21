"""Leave-one-out decisions along a whole path of penalised least squares, many rows at once.

Between two breakpoints of a row's path the same weights move, and leaving out the row is a rank-one
change of their linear system, see `hat`. The solution is affine in the parameter, and optimal where
moving weights keep their signs and the subgradients of the others stay within their bounds. Where
the first of these conditions ends, a weight stops or begins to move (Efron, Hastie, Johnstone and
Tibshirani 2004). All rows begin at the largest parameter. Rows with the same moving weights share a
system, whatever their breakpoints are. A row whose next weights aren't certain, as where two
conditions end at once, is left to the walk.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..homotopy.statement import dense
from ..problem import Problem
from ..validation import Floats
from ..verify import Answer, judge
from .hat import MIN_LEVERAGE_LEFT, solver
from .neighbours import function, with_function, with_losses
from .path import SolutionPath
from .points import Places
from .tolerances import COARSE, ROUNDED

Model: TypeAlias = Callable[[float], Problem]
Signs: TypeAlias = NDArray[np.int8]
ROWS_TOGETHER = 512  # rows that share a system, at most


class Decisions(NamedTuple):
    """The decision for a row by the model without it: linear between parameters t."""

    t: Floats
    f: Floats


def without_loss(problem: Problem, row: int) -> Problem:
    """Return a problem in which the loss of one row is zero."""
    pieces = problem.losses[0].pieces
    nothing = function(pieces.knots[row], np.zeros(pieces.slopes.shape[1]))
    return with_losses(problem, with_function(pieces, row, nothing))


def without_each(path: SolutionPath, model: Model, judged: Sequence[int]) -> dict[int, Decisions]:
    """Return the decisions without each row, of those rows that needn't be walked.

    Parameters
    ----------
    path : SolutionPath
        With one decision and one loss a row.
    model : callable
        The problem at a parameter of the statement.
    judged : sequence of int
        Rows whose solutions are judged: if one of them isn't optimal no rows are returned.
    """
    if not _is_least_squares(model(float(path.points.t[0]))) or len(path.points) < 2:
        return {}
    sweep = _Sweep(path, model)
    sweep.run()
    return sweep.decisions() if all(sweep.holds(row) for row in judged) else {}


def _is_least_squares(problem: Problem) -> bool:
    """Tell whether all losses are one parabola each, and penalties have one kink each."""
    penalty, loss = problem.penalty, problem.losses[0]
    if penalty is None or problem.kernel is not None or problem.constraint is not None:
        return False
    f = loss.pieces
    tall = len(f) >= problem.features  # of wide data each row has systems of its own
    smooth = bool((f.left == f.right).all() and (f.curvature == f.curvature[:, :1]).all())
    kinks = penalty.knots.shape[1] == 1 and not penalty.curvature.any()
    endless = all(np.isinf(ends).all() for g in (f, penalty) for ends in (g.low, g.high))
    return tall and smooth and kinks and endless and isinstance(loss.X, np.ndarray)


class _Solution(NamedTuple):
    """At one parameter: weights and free variables, duals, and by how much the first change."""

    x: Floats
    duals: Floats
    steps: Floats  # (p, k): those that move, without each row


class _System:
    """The solutions without some rows, given the weights that move, at two parameters.

    Attributes
    ----------
    rows : (k,) of int
    regular : (k,) array
        Whether the solution without the row is known.
    solutions : list of two _Solution
    f : (2, k) array
        The decisions for the rows themselves.
    """

    def __init__(self, problems: Sequence[Problem], signs: Signs, rows: Places):
        first, d = problems[0], len(signs)
        self.rows, self.signs, self.d = rows, signs, d
        self.weights, self.still = np.flatnonzero(signs), np.flatnonzero(signs == 0)
        self.X, self.B = first.losses[0].X, dense(first.losses[0].free)
        self.moves = np.append(self.weights, d + np.arange(self.B.shape[1]))
        A, self.q = self._columns(), first.losses[0].pieces.curvature[:, 0]
        solve = solver(A, self.q, np.where(self.moves < d, first.ridge, 0.0))
        self.regular = np.zeros(len(rows), dtype=bool)
        if solve is None:
            return
        G = solve(A[rows].T)
        left = 1.0 - self.q[rows] * np.einsum("ij,ji->i", A[rows], G)
        self.regular = left > MIN_LEVERAGE_LEFT
        changes = -G / np.where(self.regular, left, 1.0)
        self.solutions = [self._solution(problem, A, solve, changes) for problem in problems]
        self.f = np.array([self._decisions(solution, A) for solution in self.solutions])

    def _columns(self) -> Floats:
        """Return the columns of the variables that move."""
        return np.hstack([self.X, self.B])[:, self.moves]

    def _solution(
        self, problem: Problem, A: Floats, solve: Callable[[Floats], Floats], changes: Floats
    ) -> _Solution:
        """Solve the equations of the variables that move, with one refinement."""
        pieces, penalty, count = problem.losses[0].pieces, problem.penalty, len(self.weights)
        assert penalty is not None
        x = np.append(np.where(self.signs == 0, penalty.knots[:, 0], 0.0), np.zeros(len(self.B.T)))
        slopes = penalty.slopes[self.weights, (self.signs[self.weights] > 0).astype(int)]
        pull = np.append(slopes, problem.linear)
        duals = -pieces.right[:, 0] - self.q * (self.X @ x[: self.d] - pieces.knots[:, 0])
        for _ in range(2):
            rest = A.T @ duals - pull
            rest[:count] -= problem.ridge * x[self.weights]
            move = solve(rest)
            x[self.moves] += move
            duals = duals - self.q * (A @ move)
        return _Solution(x, duals, changes * duals[self.rows])

    def _decisions(self, solution: _Solution, A: Floats) -> Floats:
        """Return the decision for each row without it."""
        w, v = solution.x[: self.d], solution.x[self.d :]
        moved = np.einsum("ij,ji->i", A[self.rows], solution.steps)
        return np.asarray(self.X[self.rows] @ w + self.B[self.rows] @ v + moved)

    def _conditions(self, problem: Problem, solution: _Solution) -> Floats:
        """Return (c, k) numbers that must not be negative for the solutions to be optimal.

        The first are of weights that move, then come two of each other weight.
        """
        x, _, steps = solution
        assert problem.penalty is not None
        knots, slopes = problem.penalty.knots[:, 0], problem.penalty.slopes
        weights, still = self.weights, self.still
        beyond = (x[weights] - knots[weights])[:, None] + steps[: len(weights)]
        pull = self.X[:, still].T @ self._duals(solution, slice(None))
        pull = pull - problem.ridge * x[still, None]
        low, high = (slopes[still, side][:, None] for side in (0, 1))
        return np.concatenate([self.signs[weights, None] * beyond, pull - low, high - pull])

    def _duals(self, solution: _Solution, which: slice) -> Floats:
        """Return the duals (n, k) without each row, whose own is zero."""
        rows, steps = self.rows[which], solution.steps[:, which]
        duals = solution.duals[:, None] - self.q[:, None] * (self._columns() @ steps)
        duals[rows, np.arange(len(rows))] = 0.0
        return duals

    def ends(self, problems: Sequence[Problem]) -> tuple[Floats, Floats, Places]:
        """Return between which shares of the way solutions are optimal.

        And the index of the condition that ends below.
        """
        pairs = zip(problems, self.solutions, strict=True)
        first, last = (self._conditions(*pair) for pair in pairs)
        rate = last - first
        size = np.maximum(np.abs(first), np.abs(last))
        moving = np.abs(rate) > ROUNDED * size
        zero = np.divide(-first, rate, out=np.zeros(first.shape), where=moving)
        lows = np.where(moving & (rate > 0.0), zero, -np.inf)
        highs = np.where(moving & (rate < 0.0), zero, np.inf)
        never = (~moving & (first < -ROUNDED * size)).any(axis=0) | ~self.regular
        condition = np.argmax(lows, axis=0)
        return np.where(never, np.inf, lows.max(axis=0)), highs.min(axis=0), condition

    def after(self, condition: int) -> Signs:
        """Return the signs of the weights that move after a condition has ended."""
        signs, count, others = self.signs.copy(), len(self.weights), len(self.still)
        if condition < count:
            signs[self.weights[condition]] = 0
        else:
            which, weight = divmod(condition - count, others)
            signs[self.still[weight]] = 2 * which - 1
        return signs

    def answer(self, k: int, share: float) -> Answer:
        """Return the solution without the k-th row at a share of the way."""
        ends = []
        for solution in self.solutions:
            x = solution.x.copy()
            x[self.moves] += solution.steps[:, k]
            ends.append(np.append(x, self._duals(solution, slice(k, k + 1))))
        point = (1.0 - share) * ends[0] + share * ends[1]
        w, v, a = np.split(point, [self.d, self.d + self.B.shape[1]])
        return Answer(w, v, [a])


class _Piece(NamedTuple):
    """A row's solutions between two shares of the way, its decisions there, and their system."""

    low: float
    high: float
    f_low: float
    f_high: float
    system: _System
    of_row: int  # its index in the system


class _Sweep:
    """The pieces of all rows' paths, from the largest parameter downwards."""

    def __init__(self, path: SolutionPath, model: Model):
        t = path.points.t
        self.model, self.ray, self.begin, self.end = model, path.ray, float(t[0]), float(t[-1])
        self.problems = [model(self.begin), model(self.end)]
        penalty = self.problems[1].penalty
        assert penalty is not None
        n = len(self.problems[0].losses[0].pieces)
        w, *_ = path.statement.answer(path.points.at(np.array([len(t) - 2, len(t) - 1])))
        signs = np.sign(w.mean(axis=0) - penalty.knots[:, 0]).astype(np.int8)
        self.place = np.full(n, np.inf if path.ray else 1.0)  # a share of the way from begin to end
        self.waiting = {signs.tobytes(): list(range(n))}
        self.pieces: dict[int, list[_Piece]] = defaultdict(list)
        self.complete: set[int] = set()

    def run(self) -> None:
        """Follow all rows: next those with the weights that move for the row that is least far."""
        while self.waiting:
            key = max(self.waiting, key=lambda key: self.place[self.waiting[key]].max())
            rows, signs = np.array(self.waiting.pop(key)), np.frombuffer(key, dtype=np.int8)
            for block in np.array_split(rows, len(rows) // ROWS_TOGETHER + 1):
                system = _System(self.problems, signs, block)
                if system.regular.any():
                    ends = (values.tolist() for values in system.ends(self.problems))
                    for k, of_row in enumerate(zip(*ends, strict=True)):
                        self._add(system, k, *of_row)

    def _add(self, system: _System, k: int, low: float, high: float, condition: int) -> None:
        """Add a piece of one row, unless it doesn't continue the one before."""
        row = int(system.rows[k])
        place, before = float(self.place[row]), self.pieces[row]
        near = COARSE * max(abs(place), 1.0) if before else 0.0
        if high < place - near or low >= place:
            return
        bottom = max(low, 0.0)
        top = 1.0 + 2.0 * bottom if np.isinf(place) else place
        begin, end = system.f[:, k].tolist()
        f_low, f_high = ((1.0 - share) * begin + share * end for share in (bottom, top))
        size = COARSE * max(abs(begin), abs(end), abs(f_high))
        jumps = abs(before[-1].f_low - f_high) if before else self.ray * abs(end - begin)
        if jumps > size:
            return
        before.append(_Piece(bottom, top, f_low, f_high, system, k))
        self.place[row] = low
        if low <= 0.0:
            self.complete.add(row)
        else:
            self.waiting.setdefault(system.after(condition).tobytes(), []).append(row)

    def decisions(self) -> dict[int, Decisions]:
        """Return the decisions of the rows that were followed to the least parameter."""
        way = {}
        for row in self.complete:
            pieces = self.pieces[row][::-1]
            share = np.array([piece.low for piece in pieces] + [pieces[-1].high])
            f = np.array([piece.f_low for piece in pieces] + [pieces[-1].f_high])
            way[row] = Decisions(self.begin + (self.end - self.begin) * share, f)
        return way

    def holds(self, row: int) -> bool:
        """Judge the solutions without a row in the middle of each of its pieces."""
        for piece in self.pieces[row] if row in self.complete else ():
            share = 0.5 * (piece.low + piece.high)
            problem = self.model(self.begin + (self.end - self.begin) * share)
            answer = piece.system.answer(piece.of_row, share)
            if not judge(without_loss(problem, row), answer).ok():
                return False
        return True
