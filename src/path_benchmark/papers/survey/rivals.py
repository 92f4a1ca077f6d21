"""Solvers on a grid of a path's parameter: for any problem, LIBSVM, coordinate descent."""

from __future__ import annotations

import importlib.metadata
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from solution_paths.problem import Problem
from solution_paths.verify import Answer, judge

from ...solvers import GRID_SOLVERS, GridSolver, Stopwatch, watched
from ...solvers.quadratic import Statements

Floats = np.ndarray
LIBSVM_ITERATIONS = 1_000_000  # limit for one problem
DESCENT_SWEEPS = 100_000  # limit of coordinate descent for one problem


class GridAnswers(NamedTuple):
    """Answers at the points of a grid, None for missing ones, and the seconds of all calls."""

    answers: list[Answer | None]
    cpu_s: float
    wall_s: float
    message: str = ""


class StatementSolver:
    """A solver of `GRID_SOLVERS` for the stated problems, with updates and perhaps a warm start.

    If rows of the programme move, each point has a new solver, whose set-up isn't counted.
    """

    def __init__(self, name: str, stated: Statements) -> None:
        self.name, self.version = name, GRID_SOLVERS[name][0].version()
        self._stated = stated

    def grid(self, points: Sequence[float], tolerance: float) -> GridAnswers:
        """Solve at all points."""
        solver, answers, message = None, [], ""
        spent = np.zeros(2)
        for t in points:
            if solver is None or not self._stated.still:
                solver = GridSolver(self.name, self._stated.from_(t), tolerance=tolerance)
            answer = solver.solve({"t": t})
            spent += answer.cpu_s, answer.wall_s
            answers.append(answer.solution)
            message = message if answer.solved else answer.message
        return GridAnswers(answers, *spent, message)


@dataclass(frozen=True, eq=False)
class Libsvm:
    """An estimator of scikit-learn that calls LIBSVM, which has no warm start.

    Attributes
    ----------
    estimator : {"SVC", "NuSVC", "SVR", "OneClassSVM"}
    X : rows, or the kernel matrix
    at : callable
        Parameter -> settings of the estimator, with an optional ``sample_weight``.
    """

    estimator: str
    X: Floats
    y: Floats
    at: Callable[[float], dict[str, Any]]
    kernel: str
    name = "libsvm"
    version = f"scikit-learn {importlib.metadata.version('scikit-learn')}"

    def grid(self, points: Sequence[float], tolerance: float) -> GridAnswers:
        """Solve at all points."""
        from sklearn import svm
        from sklearn.exceptions import ConvergenceWarning

        answers, spent = [], np.zeros(2)
        with watched(self.name) as refusal, warnings.catch_warnings():
            if refusal:
                return GridAnswers([None] * len(points), np.nan, np.nan, refusal)
            warnings.simplefilter("ignore", ConvergenceWarning)
            for t in points:
                settings = self.at(t)
                weight = settings.pop("sample_weight", None)
                make = getattr(svm, self.estimator)
                machine = make(
                    kernel=self.kernel, tol=tolerance, max_iter=LIBSVM_ITERATIONS, **settings
                )
                with Stopwatch() as watch:
                    machine.fit(self.X, self.y, sample_weight=weight)
                spent += watch.cpu_s, watch.wall_s
                answers.append(self._read(machine, t))
        return GridAnswers(answers, *spent)

    def _read(self, machine: Any, t: float) -> Answer:
        n = len(self.y)
        a = np.zeros(n)
        a[machine.support_] = machine.dual_coef_.ravel()
        b = float(machine.intercept_.item())
        if self.estimator == "OneClassSVM":  # stated: sum a = n, w = sum a_i phi_i / n
            return Answer(None, [-b / (t * n)], [a / t])
        if self.estimator == "NuSVC":  # sum |a| = nu n, w = sum a_i phi_i / n
            scale = t * n / np.abs(a).sum()
            return Answer(None, [scale * b / n, scale / n], [scale * a, np.zeros(1)])
        return Answer(None, [b], [a])


class Descent:
    """scikit-learn's coordinate descent with a Gram matrix and warm starts along penalties.

    Rows sqrt(lam2) I below X are the ridge; columns and target are centred for the intercept.
    """

    name = "descent"
    version = Libsvm.version

    def __init__(self, X: Floats, y: Floats, lam2: float = 0.0) -> None:
        d = X.shape[1]
        self._means = X.mean(axis=0), float(y.mean())
        ridge = np.sqrt(lam2) * np.eye(d) if lam2 else np.empty((0, d))
        self._X = np.asfortranarray(np.vstack([X - self._means[0], ridge]))
        self._y = np.concatenate([y - self._means[1], np.zeros(len(ridge))])

    def grid(self, points: Sequence[float], tolerance: float) -> GridAnswers:
        """Solve at all points, from the largest penalty down."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import enet_path

        alphas = np.sort(points)[::-1] / len(self._y)
        options = {"tol": tolerance, "max_iter": DESCENT_SWEEPS, "precompute": True}
        with watched(self.name) as refusal, warnings.catch_warnings():
            if refusal:
                return GridAnswers([None] * len(points), np.nan, np.nan, refusal)
            warnings.simplefilter("ignore", ConvergenceWarning)
            with Stopwatch() as watch:
                _, w, _ = enet_path(self._X, self._y, l1_ratio=1.0, alphas=alphas, **options)
        rank = np.argsort(np.argsort(-np.asarray(points)))
        answers = [
            Answer(weights, [self._means[1] - self._means[0] @ weights]) for weights in w.T[rank]
        ]
        return GridAnswers(answers, watch.cpu_s, watch.wall_s)


def worst_gap_and_kkt(
    problems: Sequence[Problem], answers: Sequence[Answer | None]
) -> tuple[float, float]:
    """Return the worst gap and KKT violation of all answers, infinite if one is missing."""
    if not all(answer is not None and _finite(answer) for answer in answers):
        return np.inf, np.inf
    if len({problem.ridge for problem in problems}) > 1:  # the judge looks at one ridge at a time
        pairs = zip(problems, answers, strict=True)
        gap, kkt = np.max(
            [worst_gap_and_kkt([problem], [answer]) for problem, answer in pairs], axis=0
        )
        return float(gap), float(kkt)
    first, duals = answers[0], [answer.duals or () for answer in answers]
    stacked = Answer(
        None if first.w is None else np.column_stack([answer.w for answer in answers]),
        np.column_stack([answer.free for answer in answers]),
        [np.column_stack(parts) for parts in zip(*duals, strict=True)] or None,
    )
    verdict = judge(problems, stacked)
    worst = np.nan_to_num([verdict.gap, verdict.kkt], nan=np.inf, posinf=np.inf).max(axis=1)
    return float(worst[0]), float(worst[1])


def _finite(answer: Answer) -> bool:
    """Return whether all numbers of an answer are finite."""
    parts = [answer.w, answer.free, *(answer.duals or [])]
    return all(np.isfinite(part).all() for part in parts if part is not None)


def rivals(model: Any, data: Any, problems: dict[float, Problem]) -> list[Any]:
    """Return all solvers of a model's problems."""
    first = next(iter(problems.values()))
    linear = first.ridge == 0 and not any(g.pieces.curvature.any() for g in first.losses)
    names, stated = ("clarabel", "piqp", *(("highs",) if linear else ())), Statements.of(problems)
    solvers: list[Any] = [StatementSolver(name, stated) for name in names]
    return solvers + ([model.rival(data)] if model.rival else [])
