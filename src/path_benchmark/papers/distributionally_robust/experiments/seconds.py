"""Seconds of cross-validation: whole paths beside solvers at the points of the same grids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....data.protocols import Part
from ....runs.cells import Cell, Report
from ....runs.rows import Rows
from ....runs.timing import stopwatch
from ....settings import Count
from ....solvers import GridSolver
from ....solvers.programmes import KernelDoubleMargin
from .. import tuning as tune
from ..tuning import Line, Model
from .shared import Floats, Grids, NamedGrid, folds_of

GRAM = "_gram"  # behind a solver's name: it is given the dual with the Gram matrix


class Samples(Grids):
    """``samples``: at how many grid points a solver is timed, 0 all."""

    samples: dict[str, int]


class Times(Samples):
    """``repeats`` of the path."""

    repeats: Count


class GridTimes:
    """Seconds of cross-validation: whole paths beside solvers at the points of the same grids.

    A solver's seconds at a point don't depend on the grid, so that each point of all grids is timed
    once, and a grid's time is the sum over its points and folds. Where a random sample is timed,
    its mean stands for all points.
    """

    def __init__(self, cell: Cell, rows: Rows, part: Part) -> None:
        self.cell, self.rows, self.part = cell, rows, part
        self.folds = folds_of(cell, part)

    def run(self, grids: Sequence[NamedGrid], report: Report) -> None:
        """Time paths, solvers, and paths again, so that a busy moment hurts no one alone."""
        solvers, half = self.cell.settings.samples, -(-self.cell.settings.repeats // 2)
        for first in (0, half):
            for grid in grids:
                self._time_paths(*grid, range(first, first + half))
            if first == 0:
                self.run_solvers(
                    grids, lambda done: report(done * len(solvers) / (len(solvers) + 1))
                )

    def run_solvers(self, grids: Sequence[NamedGrid], report: Report) -> None:
        """Time solvers alone."""
        solvers = self.cell.settings.samples
        for k, (name, sample) in enumerate(solvers.items()):
            self._time_solver(name, grids, sample)
            report((k + 1) / len(solvers))

    def _time_paths(
        self, model: Model, lines: Sequence[Line], hyper: dict[str, Any], repeats: range
    ) -> None:
        def call(check: str = "warn") -> int:
            token = tune.CHECK.set(check)
            try:
                return sum(self._trace(model, lines, fit) for fit, _ in self.folds)
            finally:
                tune.CHECK.reset(token)

        if not repeats.start:
            call()  # compiles, loads
        for repeat in repeats:
            timing = stopwatch(call, 0.05)
            self._add("path", timing.cpu_s, timing.wall_s, hyper, repeat)
        if not repeats.start:
            columns = {"method": "path", "hyper_parameters": hyper}
            self.rows.add("breakpoints", timing.result / len(self.folds), **columns)
            plain = stopwatch(lambda: call("ignore"), 0.05)
            self.rows.add("check_share", 1.0 - plain.cpu_s / timing.cpu_s, **columns)

    def _trace(self, model: Model, lines: Sequence[Line], fit: np.ndarray) -> int:
        """Trace all lines, and read their solutions at the points, as a solver returns them."""
        X, y, breakpoints = self.part.X[fit], self.part.y[fit], 0
        for line, path in zip(lines, model.traced(X, y, lines), strict=True):
            at = model.places(path, line, line.values)
            (path.dual if model.gram else path.coef)(at)
            path.intercept(at)
            breakpoints += len(path.breakpoints)
        return breakpoints

    def _time_solver(self, name: str, grids: Sequence[NamedGrid], sample: int) -> None:
        """Time a solver at the points of grids of one model."""
        model = grids[0][0]
        points = {key: at for _, lines, _ in grids for key, at in _points(lines).items()}
        calls = [(fold, key) for fold in range(len(self.folds)) for key in points]
        sample = sample if sample < len(calls) else 0
        if sample:
            rng = np.random.default_rng(self.cell.seed("sample"))
            picked = np.sort(rng.choice(len(calls), sample, replace=False))
            calls = [calls[k] for k in picked]
        spent, setup, failed = self._solve(name, model, points, calls)
        for _, lines, hyper in grids:
            keys = _points(lines)
            if sample:
                seconds = np.mean([s for each in spent.values() for s in each], axis=0)
                seconds = seconds * len(keys) * len(self.folds)
            else:
                seconds = np.sum([s for key in keys for s in spent[key]], axis=0)
            cpu, wall = seconds + setup
            parameters = {**hyper, "sampled": sample}
            self._add(name, cpu, wall, parameters, 0)
            self.rows.add("failed_calls", failed, method=name, hyper_parameters=parameters)

    def _solve(self, name: str, model: Model, points: dict, calls: list) -> tuple:
        """Return (point -> seconds of its calls), seconds of set-ups, and how many calls failed."""
        solvers: dict[tuple, GridSolver] = {}
        spent: dict[tuple, list[Floats]] = {}
        setup, failed = np.zeros(2), 0
        for fold, key in calls:
            line, k = points[key]
            programme = fold, line.fixed.get("kappa")
            if programme not in solvers:
                solvers[programme] = made = self._solver(name, model, line, fold)
                setup += (made.setup_cpu_s, made.setup_wall_s)
            answer = solvers[programme].solve(line.at(k))
            failed += not answer.solved
            if np.isfinite(answer.cpu_s):
                spent.setdefault(key, []).append(np.array([answer.cpu_s, answer.wall_s]))
        return spent, setup, failed

    def _solver(self, name: str, model: Model, line: Line, fold: int) -> GridSolver:
        fit, _ = self.folds[fold]
        X, y = self.part.X[fit], self.part.y[fit]
        programme = model.programme(model.kernel(X, X) if model.gram else X, y, line)
        if name.endswith(GRAM):
            programme = KernelDoubleMargin(programme.X, programme.y, programme.kappa)
        return GridSolver(name.removesuffix(GRAM), programme)

    def _add(self, name: str, cpu: float, wall: float, hyper: dict[str, Any], repeat: int) -> None:
        columns = {"method": name, "cpu_s": cpu, "wall_s": wall, "repeat": repeat}
        self.rows.add("time", cpu, hyper_parameters=hyper, **columns)


def _points(lines: Sequence[Line]) -> dict[tuple, tuple[Line, int]]:
    return {tuple(line.at(k).items()): (line, k) for line in lines for k in range(len(line.values))}
