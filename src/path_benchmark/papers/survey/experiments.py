"""The survey of chapter 2 of G. Tang's dissertation: whole paths against grids of other solvers.

regression       lasso, elastic net, Huber, absolute deviations, SVR, quantiles, ordered classes ...
classification   SVMs with every penalty, nu, weights, costs, one class, pinball, twins ...
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from solution_paths.problem import Problem
from solution_paths.solution.path import SCALES
from solution_paths.verify import Answer

from ...data import load
from ...runs.cells import Cell, Report
from ...runs.config import DataSetSettings
from ...runs.exploring import LINE, moving_lines
from ...runs.judging import add_given_certificate
from ...runs.paper import Paper
from ...runs.rows import Rows, or_none
from ...runs.timing import Contest, Timing, stopwatch
from ...settings import Count, Positive, Positives, Settings
from .models import CLASSIFICATION, REGRESSION, Data, Model
from .rivals import rivals, worst_gap_and_kkt

SHORTEST_TIMING_S = 0.05  # shorter calls of a path are repeated to fill this time
TRIAL_POINTS = 5  # about so many points are solved first to test a tolerance
DRAWN_NODES = 150  # breakpoints of a drawn line
GRID_QUANTILES = (0.01, 0.99)  # the grid covers the breakpoints between these quantiles
LOGARITHMIC = (*SCALES, "epsilon")


class Grid(Settings):
    """``points`` of the grid, of which ``solved`` are solved; seconds are scaled to all points.

    Each solver has the loosest of ``tolerances`` at which it reaches the ``gap`` at every point. It
    is timed ``repeats`` times, within ``budget_s``. A solver whose grid would take more than
    ``limit_s`` is left out.
    """

    points: Count
    solved: Count
    gap: Positive
    tolerances: Positives
    repeats: Count
    budget_s: Positive
    limit_s: Positive


class Regression(Grid):
    """Settings of the grid, and the ``models``."""

    models: Annotated[tuple[Literal[tuple(REGRESSION)], ...], Field(min_length=1)]  # type: ignore[valid-type]


class Classification(Grid):
    """Settings of the grid, and the ``models``."""

    models: Annotated[tuple[Literal[tuple(CLASSIFICATION)], ...], Field(min_length=1)]  # type: ignore[valid-type]


class DataSet(DataSetSettings):
    """Numbers of random ``rows`` and of first ``features``, by default all."""

    rows: Count | None = None
    features: Count | None = None

    def complaints(self, name: str, n: int | None) -> Iterator[str]:
        """Yield a complaint if more rows are requested than there are."""
        if n is not None and self.rows is not None and self.rows > n:
            yield f"rows are {self.rows}, and it has {n}"


PAPER = Paper(
    "survey",
    dataset=DataSet,
    columns=lambda cell: {"hyper_parameters": {"model": cell.value}},
)


@PAPER.experiment(lane="timing", settings=Regression, each="models")
def regression(cell: Cell, rows: Rows, report: Report) -> None:
    """Time the path of a regression model, and other solvers on a grid."""
    _compare(cell, REGRESSION[cell.value], rows, report)


@PAPER.experiment(lane="timing", settings=Classification, each="models")
def classification(cell: Cell, rows: Rows, report: Report) -> None:
    """Time the path of a classification model, and other solvers on a grid."""
    _compare(cell, CLASSIFICATION[cell.value], rows, report)


def _compare(cell: Cell, model: Model, rows: Rows, report: Report) -> None:
    source, settings = load(cell.dataset, offline=cell.offline), cell.settings
    data = Data.of(source.X, source.y, cell.data.rows, cell.data.features, cell.seed())
    path = model.path(data)  # also compiles and loads
    columns = {"hyper_parameters": {"parameter": path.parameter}}
    carried = add_given_certificate(rows, path, path.certify(at_breakpoints=True), **columns)
    rows.add("n", len(data.y), method="data")
    rows.add("d", data.X.shape[1], method="data")
    points = grid(path, settings.points)[:: -(-settings.points // settings.solved)]
    for name, (t, value) in moving_lines(path, DRAWN_NODES, points).items():
        rows.add_curve(f"{LINE}: {name}", t, value, method="path", **columns)
    problems = {t: model.problem(data, path, t) for t in points}
    contest = Contest(rows, settings.repeats, settings.budget_s, report)
    timed = partial(stopwatch, lambda: model.path(data), SHORTEST_TIMING_S)
    contest.enter("path", timed, lambda *_: carried)
    for rival in rivals(model, data, problems):
        add_solver(rival, problems, settings, rows, contest)
    rows.add("grid_gap", path_gap(path, model, data, problems), **carried)
    contest.run()


def grid(path: Any, count: int) -> list[float]:
    """Return points in the range of the breakpoints: evenly, or for scales in the logarithm."""
    breakpoints = np.unique(path.breakpoints)
    breakpoints = breakpoints[np.isfinite(breakpoints) & (breakpoints > 0)]
    low, high = (
        np.quantile(breakpoints, GRID_QUANTILES)
        if len(breakpoints) > 1
        else (breakpoints[0] / 10, breakpoints[0])
    )
    spaced = np.geomspace if path.parameter in LOGARITHMIC else np.linspace
    return [float(t) for t in spaced(low, high, count)]


def path_gap(path: Any, model: Model, data: Data, problems: dict[float, Problem]) -> float:
    """Return the path's worst gap on the grid, by the judge and problems of the other solvers."""
    points = list(problems)
    if model.stated is None:
        return float(path.certify(at=points).gap)
    answers = []
    for t in points:
        w = path.coef(t) if problems[t].kernel is None else None
        signs = data.y if len(np.unique(data.y)) == 2 else 1.0
        smooth = all(group.pieces.smooth for group in problems[t].losses)
        duals = None if smooth else [signs * path.dual(t)]
        answers.append(Answer(w, [path.intercept(t)], duals))
    return worst_gap_and_kkt(list(problems.values()), answers)[0]


def add_solver(
    rival: Any, problems: dict[float, Problem], settings: Grid, rows: Rows, contest: Contest
) -> None:
    """Enter a solver in the contest at the loosest tolerance that reaches the gap at every point.

    If no tolerance does, or the grid takes too long, a row with the reason is added instead.
    """
    points, columns = list(problems), {"method": rival.name, "method_version": rival.version}
    trial, gap, kkt = points[:: max(1, len(points) // TRIAL_POINTS)], np.inf, np.inf
    for tolerance in sorted(settings.tolerances, reverse=True):
        columns["hyper_parameters"] = {"tolerance": tolerance}
        for sample in (trial, points):
            result = rival.grid(sample, tolerance)
            expected = result.wall_s * settings.points / len(sample)
            if expected > settings.limit_s:
                reason = f"{settings.points} points would take about {expected:.0f} s"
                rows.add("time", None, **columns, status="censored", message=reason)
                return
            gap, kkt = worst_gap_and_kkt([problems[t] for t in sample], result.answers)
            if gap > settings.gap:
                break
        else:
            break
    accuracy = {"gap": or_none(gap), "kkt": or_none(kkt)}
    if gap > settings.gap:
        reason = result.message or f"its gap stays above {settings.gap:g}"
        rows.add("time", None, **columns, **accuracy, status="inaccurate", message=reason)
        return
    factor = settings.points / len(points)

    def call() -> Timing:
        result = rival.grid(points, tolerance)
        return Timing(factor * result.cpu_s, factor * result.wall_s, None)

    contest.enter(rival.name, call, lambda *_: columns | accuracy)
