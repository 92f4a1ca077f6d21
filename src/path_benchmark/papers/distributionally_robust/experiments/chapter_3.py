"""Chapter 3: LAD, l1-LAD, l2-LAD and DrLAD.

regression         test errors of the four (Table 3.4)
regression_grids   choices through the path, exact and through a solver, by size of grid (3.1, 3.2)
lam2_spacings      what the path chooses on other grids of lam2 (Tables 3.1, 3.2, Figure 3.3)
simulation         accuracy against correlation (Figure 3.4)
coefficients       coefficients and errors along s and lam2 (Figures 3.2, 3.3), linearity
partitions         groups of samples beside the loss (Figures 3.1, 4.1, 4.2)
regression_times   seconds of cross-validation (Tables 3.1, 3.2)
lam2_times         the same by the text's lines: paths along lam2, one for each s (Algorithm 3.3)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from solution_paths import dm_drsvm_path, drlad_path

from ....data import load
from ....data.generated import block_covariance, drlad_coefficients, drlad_noise_variance
from ....data.protocols import Part, Split
from ....runs.cells import Cell, Report
from ....runs.judging import add_certificate
from ....runs.rows import Rows
from ....settings import Count, Positive, Settings, Share, Shares
from ....solvers import GridSolver
from ....solvers.programmes import Solution
from .. import tuning as tune
from ..tuning import Fitted, Line, Model
from ..worst_case import least_rho
from .seconds import GridTimes, Times
from .shared import (
    PAPER,
    Floats,
    Grid,
    Grids,
    NamedGrid,
    Score,
    add_sizes,
    choose,
    choose_on,
    compare,
    folds_of,
    source_of,
    split_of,
)

ON_KNOT = 1e-8  # a sample that is this near to a knot of its loss is at it


# Blocks of correlated features in the simulation, whose coefficients are equal.
BLOCKS = tuple(slice(first, first + 3) for first in (0, 3, 6))


class Spacings(Grids):
    """``sizes`` of grids, all pairs of them, with lam2 spaced in each of these ways."""

    spacings: Annotated[tuple[Literal[tune.SPACINGS], ...], Field(min_length=1)]  # type: ignore[valid-type]


class Simulation(Grid):
    """``correlations``, ``n`` rows, ``n_test`` rows, signal-to-noise ratio ``snr``."""

    correlations: Shares
    n: Count
    n_test: Count
    snr: Positive


class Coefficients(Grid):
    """``lam2`` of the s-path, share ``s`` of the largest s of the lam2-path, ``points`` judged."""

    lam2: Positive
    s: Positive
    points: Count


class Partitions(Settings):
    """``n`` samples; of the DrLAD ``s`` as a share of its largest, of the DM-DrSVM the others."""

    n: Count
    s: Share
    kappa: Positive
    lam1: Positive
    lam2: Positive
    noise: Positive


def deviation_models(
    cell: Cell, part: Part, n_s: int, n_lam2: int, spacing: str = "logarithmic"
) -> dict[str, tuple]:
    """Return model and lines of each model of chapter 3."""
    lam2 = tune.spaced(spacing, *cell.common.lam2, n_lam2, len(part.y))
    end = tune.largest_length(part.X, part.y)
    s, free = tune.radii(end, n_s), np.array([np.inf])
    return {
        "lad": (tune.deviations("lad"), [Line({"lam2": 0.0}, "s", free)]),
        "l1_lad": (tune.deviations("l1_lad"), [Line({"lam2": 0.0}, "s", s)]),
        "l2_lad": (tune.deviations("l2_lad"), [Line({"lam1": 0.0}, "lam2", lam2)]),
        "drlad": (tune.deviations("drlad", surface=True), tune.lines_over("lam2", lam2, "s", s)),
    }


def _mse(parts: Split) -> Score:
    X, y = parts.test
    return lambda fitted: {"mse": float(tune.squared_loss(y, fitted.decision(X)))}


@PAPER.experiment(settings=Grid)
def regression(cell: Cell, rows: Rows, report: Report) -> None:
    """Tables 3.3 and 3.4: mean squared errors of four models on the test part."""
    parts, size = split_of(cell), cell.settings.size
    add_sizes(rows, parts)
    compare(cell, rows, deviation_models(cell, parts.train, size, size), parts, _mse(parts))


@PAPER.experiment(settings=Grids, version=1)
def regression_grids(cell: Cell, rows: Rows, report: Report) -> None:
    """Tables 3.1 and 3.2: test errors of what the path and a solver choose."""
    parts = split_of(cell)
    choose_on(cell, rows, report, parts, drlad_grids(cell, parts.train), _mse(parts))


def drlad_grids(cell: Cell, part: Part, spacing: str = "logarithmic") -> list[NamedGrid]:
    """Return the DrLAD's grids of all sizes."""
    sizes = list(product(cell.settings.sizes, repeat=2))
    models = [deviation_models(cell, part, *size, spacing)["drlad"] for size in sizes]
    return [(*model, {"n_s": s, "n_lam2": k}) for model, (s, k) in zip(models, sizes, strict=True)]


@PAPER.experiment(settings=Spacings, each="spacings")
def lam2_spacings(cell: Cell, rows: Rows, report: Report) -> None:
    """Tables 3.1 and 3.2 with lam2 spaced otherwise: test errors of what the path chooses."""
    parts = split_of(cell)
    grids = drlad_grids(cell, parts.train, cell.value)
    for k, (model, lines, sizes) in enumerate(grids):
        fitted = choose(cell, parts.train, model, lines)
        hyper = {"spacing": cell.value, **sizes}
        rows.add_all(_mse(parts)(fitted), method="path", hyper_parameters=hyper)
        report((k + 1) / len(grids))
    add_certificate(rows, fitted.path, method="path")


@PAPER.experiment(settings=Simulation, each="correlations")
def simulation(cell: Cell, rows: Rows, report: Report) -> None:
    """Figure 3.4: MSE, RR, RTE and PVE of four models at one correlation."""
    settings, rho = cell.settings, cell.value
    seeds = cell.seed(f"rho {rho:g}").generate_state(2)
    sizes = (settings.n, settings.n_test)
    data = [
        load(source_of(cell), n=n, rho=rho, snr=settings.snr, seed=int(seed), offline=cell.offline)
        for n, seed in zip(sizes, seeds, strict=True)
    ]
    parts = Split(*(Part(one.X, one.y) for one in data[:1]), None, Part(data[1].X, data[1].y))
    sigma, beta = block_covariance(rho), drlad_coefficients()
    signal, noise = beta @ sigma @ beta, drlad_noise_variance(rho, settings.snr)

    def score(fitted: Fitted) -> dict[str, float]:
        w = fitted.coef
        risk = (w - beta) @ sigma @ (w - beta)
        spread = [np.ptp(w[block]) for block in BLOCKS]
        return _mse(parts)(fitted) | {
            "rr": risk / signal,
            "rte": (risk + noise) / noise,
            "pve": 1.0 - (risk + noise) / (signal + noise),
            "spread": float(np.mean(spread)),
        }

    models = deviation_models(cell, parts.train, settings.size, settings.size)
    compare(cell, rows, models, parts, score)


@PAPER.experiment(settings=Coefficients)
def coefficients(cell: Cell, rows: Rows, report: Report) -> None:
    """Figures 3.2 and 3.3: coefficients along s and lam2; errors on the grid; linearity."""
    settings, parts = cell.settings, split_of(cell)
    X, y = parts.train
    end = tune.largest_length(X, y)
    model = tune.deviations("drlad")
    fixed = {
        "s": Line({"lam2": settings.lam2}, "s", tune.radii(end, 200)),
        "lam2": Line({"s": settings.s * end}, "lam2", tune.logarithmic(*cell.common.lam2, 200)),
    }
    for name, line in fixed.items():
        path = model.trace(X, y, line)
        add_certificate(rows, path, method=name)
        rows.add("steps_per_row", len(path.breakpoints) / len(y), method=name)
        _add_coefficients(rows, model, path, line)
        _add_linearity(cell, rows, model, path, line, parts.train)
    _add_surface(cell, rows, parts)


def _add_coefficients(rows: Rows, model: Model, path: Any, line: Line) -> None:
    """Add each coefficient along a path, at its breakpoints in the range of the line."""
    low, high = np.sort(line.values[[0, -1]])
    edges = path.breakpoints
    t = np.unique(
        np.concatenate([edges[(edges > low) & (edges < high)], np.clip([low, high], *path.range)])
    )
    w = path.coef(t)
    for k in range(len(w)):
        rows.add_curve(f"coefficient {k + 1}", t, w[k], method=line.vary)


def _add_linearity(cell: Cell, rows: Rows, model: Model, path: Any, line: Line, part: Part) -> None:
    """Add by how much the objective of interpolated solutions exceeds the optimum, at most.

    Halfway, in u, between breakpoints solutions are the means of those at both ends; a solver that
    knows no path finds the optimum.
    """
    edges = tune.coordinate(line, path.breakpoints)
    edges = np.sort(edges[np.isfinite(edges)])
    rng = np.random.default_rng(cell.seed("points"))
    pieces = np.flatnonzero(np.diff(edges) > 1e-9 * edges[-1])
    pieces = rng.choice(pieces, min(cell.settings.points, len(pieces)), replace=False)
    programme = model.programme(part.X, part.y, line)
    solver, worst = GridSolver("clarabel", programme, tolerance=1e-11), 0.0
    for piece in pieces:
        ends = np.clip(tune.coordinate(line, edges[piece : piece + 2]), *path.range)
        at = {
            **line.fixed,
            line.vary: float(tune.coordinate(line, edges[piece : piece + 2].mean())),
        }
        w = np.mean([path.coef(t) for t in ends], axis=0)
        b = np.mean([path.intercept(t) for t in ends])
        best = programme.value(solver.solve(at).solution, at)
        worst = max(worst, programme.value(Solution(w, float(b)), at) / best - 1.0)
    rows.add("excess_between", worst, method=line.vary)


def _add_surface(cell: Cell, rows: Rows, parts: Split) -> None:
    """Add the cross-validation error along every line of the grid: Figure 3.3's surface."""
    size, folds = cell.settings.size, folds_of(cell, parts.train)
    model, lines = deviation_models(cell, parts.train, size, size)["drlad"]
    losses, curves = tune.losses_of_path(model, lines, parts.train.X, parts.train.y, folds)
    for line, loss, curve in zip(lines, losses, curves, strict=True):
        columns = {"hyper_parameters": {"lam2": line.fixed["lam2"]}, "method": "drlad"}
        top = float(line.values[-1])
        s = np.linspace(0.0, top, 81)
        rows.add_curve("surface", s, curve.over(0.0, top)(s), **columns)
        rows.add_curve("grid", line.values, loss, **columns)
    choices = tune.chosen(losses, lines), tune.chosen_exactly(lines, curves)
    for how, choice in zip(("grid", "exact"), choices, strict=True):
        columns = {
            "hyper_parameters": {"lam2": lines[choice.line].fixed["lam2"]},
            "method": "drlad",
        }
        rows.add_curve(f"least {how}", [choice.value], [choice.loss], **columns)
        rows.add("cv_loss", choice.loss, method=how)


@PAPER.experiment(settings=Partitions)
def partitions(cell: Cell, rows: Rows, report: Report) -> None:
    """Figures 3.1, 4.1 and 4.2, computed: a fitted model, and which group each sample is in."""
    options = {"n": cell.settings.n, "seed": int(cell.seed("partitions").generate_state(1)[0])}
    noise = {} if cell.dataset == "drlad_simulation" else {"noise": cell.settings.noise}
    data = load(source_of(cell), offline=cell.offline, **options, **noise)
    if len(np.unique(data.y)) > 2:
        _deviation_groups(cell, rows, data.X, data.y)
    else:
        _margin_groups(cell, rows, (data.X - data.X.mean(axis=0)) / data.X.std(axis=0), data.y)


def _deviation_groups(cell: Cell, rows: Rows, X: Floats, y: Floats) -> None:
    """Add residuals of a DrLAD by their group: left of the elbow, in it, right of it."""
    s = cell.settings.s * tune.largest_length(X, y)
    path = drlad_path(X, y, vary="s", lam2=cell.settings.lam2, check="ignore")
    add_certificate(rows, path, method="s")
    residual = y - path.decision_function(X, s)
    near = np.abs(residual) <= ON_KNOT * np.abs(y).max()
    for name, who in {"L": ~near & (residual < 0), "E": near, "R": ~near & (residual > 0)}.items():
        values = np.where(near, 0.0, residual)[who]
        rows.add_curve(f"group {name}", values, np.abs(values), method="s")


def _margin_groups(cell: Cell, rows: Rows, X: Floats, y: Floats) -> None:
    """Add points of a DM-DrSVM, and margins with their losses, by group; its plane, its margin."""
    settings, lam1, kappa = cell.settings, cell.settings.lam1, cell.settings.kappa
    path = dm_drsvm_path(X, y, kappa=kappa, vary="lam1", lam2=settings.lam2, check="ignore")
    add_certificate(rows, path, method="lam1")
    w, b, m = path.coef(lam1), path.intercept(lam1), y * path.decision_function(X, lam1)
    outer = kappa * least_rho(m, float(np.abs(w).sum()), lam1, kappa) - 1.0
    plane = {"margin_w0": w[0], "margin_w1": w[1], "margin_b": b, "margin_outer": outer}
    rows.add_all(plane, method="lam1")
    loss = np.maximum(0.0, np.maximum(1.0 - m, m - outer))
    at = {"EL": np.abs(m - 1.0) <= ON_KNOT, "ER": np.abs(m - outer) <= ON_KNOT}
    off = ~at["EL"] & ~at["ER"]
    groups = {"L": off & (m < 1.0), "M": off & (m > 1.0) & (m < outer), "R": off & (m > outer)}
    for name, who in (groups | at).items():
        rows.add_curve(f"group {name}", m[who], loss[who], method="lam1")
        rows.add_curve(f"points {name}", *X[who].T, weight=y[who], method="lam1")


@PAPER.experiment(lane="timing", settings=Times)
def regression_times(cell: Cell, rows: Rows, report: Report) -> None:
    """Tables 3.1 and 3.2: seconds of five-fold cross-validation of DrLAD, by size of grid."""
    part = split_of(cell).train
    rows.add("n", len(part.y), method="data")
    GridTimes(cell, rows, part).run(drlad_grids(cell, part), report)


@PAPER.experiment(lane="timing", settings=Times)
def lam2_times(cell: Cell, rows: Rows, report: Report) -> None:
    """Tables 3.1 and 3.2 by Algorithm 3.3's own lines: along lam2, one for each s."""
    part, model = split_of(cell).train, tune.deviations("drlad")
    along_s = drlad_grids(cell, part)
    grids = [(model, _crossed(lines), hyper) for _, lines, hyper in along_s]
    times = GridTimes(cell, rows, part)
    worst = _apart(times, along_s[-1], grids[-1])
    rows.add("lines_apart", worst, method="path", hyper_parameters=grids[-1][2])
    times.run(grids, report)


def _crossed(lines: Sequence[Line]) -> list[Line]:
    """Return the lines that cross all given ones, through the same points."""
    (fixed,) = lines[0].fixed
    across = np.array([line.fixed[fixed] for line in lines])
    return tune.lines_over(lines[0].vary, lines[0].values, fixed, across)


def _apart(times: GridTimes, *grids: NamedGrid) -> float:
    """Return how far, relatively, objectives on lines and on those that cross them differ.

    Not coefficients or errors: a bias need not be unique.
    """
    worst = 0.0
    for fit, _ in times.folds:
        X, y = times.part.X[fit], times.part.y[fit]
        one, other = (_objectives(model, lines, X, y) for model, lines, _ in grids)
        worst = max(worst, float(np.max(np.abs(one - other.T) / other.T)))
    return worst


def _objectives(model: Model, lines: Sequence[Line], X: Floats, y: Floats) -> Floats:
    """Return the objectives of paths at their lines' points, (lines, points)."""
    objectives = np.empty((len(lines), len(lines[0].values)))
    for j, (line, path) in enumerate(zip(lines, model.traced(X, y, lines), strict=True)):
        programme = model.programme(X, y, line)
        for k, t in enumerate(model.places(path, line, line.values)):
            solution = Solution(path.coef(t), float(path.intercept(t)))
            objectives[j, k] = programme.value(solution, line.at(k))
    return objectives
