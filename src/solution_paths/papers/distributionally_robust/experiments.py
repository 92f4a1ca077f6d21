"""Dissertation on distributionally robust models: what is run; `outputs` says what is made of it.

regression            test errors of LAD, l1-LAD, l2-LAD and DrLAD (Table 3.4)
regression_grids      the same choices through the path and a solver, by size of grid (3.1, 3.2)
simulation            accuracy against correlation (Figure 3.4)
coefficients          coefficients and errors along s and lam2 (Figures 3.2, 3.3), linearity
classification        AUC of SVMs, and variance inflation factors (Tables 4.3, 4.4)
noisy_margins         AUC against the signal-to-noise ratio (Figure 4.3)
kernels               AUC of kernel machines (Table 5.3)
moons                 AUC against noise (Figures 5.1, 5.2)
kernel_grids          choices through the path and a solver, by size of grid (Table 5.1)
regression_times, margin_times, kernel_times, linear_times
                      seconds of cross-validation
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, Literal

import numpy as np

from ...benchmarking.cells import Cell, Report
from ...benchmarking.config import DataSetSettings
from ...benchmarking.judging import add_certificate
from ...benchmarking.paper import Paper
from ...benchmarking.rows import Rows
from ...benchmarking.timing import stopwatch
from ...data import load
from ...data.generated import block_covariance, drlad_coefficients, drlad_noise_variance
from ...data.protocols import Part, Split
from ...kernels import LINEAR, Kernel
from ...settings import Count, Counts, NotNegative, Positive, Positives, Settings, Shares
from . import tuning as tune
from .data import assemble, folds
from .tuning import Choice, Fitted, Line, Model

Floats = np.ndarray
# Blocks of correlated features in the simulation, whose coefficients are equal.
BLOCKS = tuple(slice(first, first + 3) for first in (0, 3, 6))


# ---------------------------------------------------------------- settings


class Common(Settings):
    """``folds`` of cross-validation, ``lam2`` from and to, ``lam1``: least share of its largest.

    ``lam`` of kernel machines from and to, ``gamma`` of the kernel, ``kappas`` of double margins
    to choose from.
    """

    folds: Count
    lam2: tuple[Positive, Positive]
    lam1: Positive
    lam: tuple[Positive, Positive]
    gamma: Positive
    kappas: Positives


class DataSet(DataSetSettings):
    """``scaling`` of features, ``source``: the data set where it isn't named so."""

    scaling: Literal["standardise", "none"] = "standardise"


class Grid(Settings):
    """``size``: values of each hyper-parameter."""

    size: Count


class Grids(Settings):
    """``sizes`` of grids, all pairs of them."""

    sizes: Counts


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


class Margins(Grid):
    """``snrs``; ``n`` rows of ``d`` features, ``correlated`` of them, and ``n_test`` rows."""

    snrs: Positives
    n: Count
    n_test: Count
    dims: Counts
    correlated: int
    correlation: NotNegative


class Moons(Grid):
    """``noises``, and ``n`` rows."""

    noises: Positives
    n: Count


class KernelGrids(Settings):
    """``sizes`` of grids, numbers of ``rows``, ``noise``, ``kappa``."""

    sizes: Counts
    rows: Counts
    noise: Positive
    kappa: Positive


class Times(Grids):
    """``repeats`` of the path; ``samples``: grid points at which a solver is timed, 0 all."""

    repeats: Count
    samples: dict[str, int]


class KernelTimes(KernelGrids, Times):
    """Both."""


def _columns(cell: Cell) -> dict[str, Any]:
    return {"hyper_parameters": {cell.each: cell.value}} if cell.each else {}


PAPER = Paper("distributionally_robust", Common, DataSet, _columns)


# ---------------------------------------------------------------- what they share


def _parts(cell: Cell, **parameters: Any) -> Split:
    return assemble(
        cell.dataset,
        cell.split,
        scaling=cell.data.scaling,
        offline=cell.offline,
        parameters=parameters or None,
    )


def _folds(cell: Cell, part: Part) -> tune.Folds:
    """Return the folds of a training part, those of every model and size of grid."""
    rng = np.random.default_rng(cell.seed("folds"))
    for _ in range(100):
        found = tune.folds_of(len(part.y), folds(len(part.y), cell.common.folds, rng))
        if len(np.unique(part.y)) > 2 or all(len(np.unique(part.y[fit])) == 2 for fit, _ in found):
            return found
    raise ValueError(f"{cell.dataset}: no folds of split {cell.split} have both classes.")


def _deviations(cell: Cell, part: Part, n_s: int, n_lam2: int) -> dict[str, tuple]:
    """Return model and lines of each model of chapter 3."""
    lam2 = tune.logarithmic(*cell.common.lam2, n_lam2)
    end = tune.largest_length(part.X, part.y)
    s, free = tune.radii(end, n_s), np.array([np.inf])
    return {
        "lad": (tune.deviations("lad"), [Line({"lam2": 0.0}, "s", free)]),
        "l1_lad": (tune.deviations("l1_lad"), [Line({"lam2": 0.0}, "s", s)]),
        "l2_lad": (tune.deviations("l2_lad"), tune.lines_over("lam2", lam2, "s", free)),
        "drlad": (tune.deviations("drlad"), tune.lines_over("lam2", lam2, "s", s)),
    }


def _margins(cell: Cell, part: Part, n_lam1: int, n_lam2: int) -> dict[str, tuple]:
    """Return model and lines of each SVM of chapter 4."""
    lam2 = tune.logarithmic(*cell.common.lam2, n_lam2)
    top = tune.largest_penalty(part.X, part.y)
    lam1 = tune.logarithmic(cell.common.lam1 * top, top, n_lam1)
    return {
        "l1_svm": (tune.l1_machine(), [Line({"lam2": 0.0}, "lam1", lam1)]),
        "l2_svm": (tune.l2_machine(), [Line({"lam1": 0.0}, "lam2", lam2)]),
        "drsvm": (tune.doubly_regularised(), tune.lines_over("lam2", lam2, "lam1", lam1)),
    }


def _kernel_machines(cell: Cell, n_lam: int) -> dict[str, tuple]:
    """Return model and lines of each machine of chapter 5."""
    lam, kappas = tune.logarithmic(*cell.common.lam, n_lam), sorted(cell.common.kappas)
    found = {}
    for prefix, kernel in (("", LINEAR), ("k", Kernel("rbf", cell.common.gamma))):
        single = tune.kernel_machine(f"{prefix}svm", kernel)
        double = tune.double_margin_machine(f"dm_{prefix}svm", kernel)
        found[single.name] = single, [Line({}, "lam", lam)]
        found[double.name] = double, tune.lines_over("kappa", kappas, "lam", lam)
    return found


def _tuned(model: Model, lines: Sequence[Line], part: Part, parts: tune.Folds) -> tuple:
    """Return what is chosen on the grid and exactly along its lines, each fitted."""
    losses, curves = tune.losses_of_path(model, lines, part.X, part.y, parts)
    found = []
    choices = tune.chosen(losses, lines), tune.chosen_exactly(model, lines, curves)
    for choice in choices:
        found.append((choice, tune.refit(model, lines, choice, part.X, part.y)))
    return tuple(found)


def _compare(
    cell: Cell, rows: Rows, models: dict[str, tuple], parts: Split, score: Callable, **columns: Any
) -> None:
    """Tune every model on the grid, and exactly; score both on the test part."""
    train, own = parts.train, _folds(cell, parts.train)
    for name, (model, lines) in models.items():
        for how, (choice, fitted) in zip(
            ("grid", "exact"), _tuned(model, lines, train, own), strict=True
        ):
            hyper = {"selection": how}
            rows.add("cv_loss", choice.loss, method=name, hyper_parameters=hyper)
            chosen = {**fitted.line.fixed, fitted.line.vary: choice.value}
            for parameter, value in chosen.items():
                if np.isfinite(value):
                    rows.add(f"chosen_{parameter}", value, method=name, hyper_parameters=hyper)
            for metric, value in score(fitted).items():
                rows.add(metric, value, method=name, hyper_parameters=hyper)
        add_certificate(rows, fitted.path, method=name, **columns)


def _describe(rows: Rows, parts: Split) -> None:
    rows.add("n", len(parts.train.y) + len(parts.test.y), method="data")
    rows.add("d", parts.train.X.shape[1], method="data")


def _auc(parts: Split) -> Callable[[Fitted], dict[str, float]]:
    """Return the score of classifiers, in per cent: of labels as in the text, of decisions too."""
    X, y = parts.test

    def score(fitted: Fitted) -> dict[str, float]:
        f = fitted.decision(X)
        label = 100.0 * (1.0 - float(tune.balanced_loss(y, f)))
        return {"label_auc": label, "score_auc": 100.0 * tune.area_under_curve(y, f)}

    return score


# ---------------------------------------------------------------- chapter 3


def _mse(parts: Split) -> Callable[[Fitted], dict[str, float]]:
    X, y = parts.test
    return lambda fitted: {"mse": float(tune.squared_loss(y, fitted.decision(X)))}


@PAPER.experiment(settings=Grid)
def regression(cell: Cell, rows: Rows, report: Report) -> None:
    """Tables 3.3 and 3.4: mean squared errors of four models on the test part."""
    parts, size = _parts(cell), cell.settings.size
    _describe(rows, parts)
    _compare(cell, rows, _deviations(cell, parts.train, size, size), parts, _mse(parts))


@PAPER.experiment(settings=Grids)
def regression_grids(cell: Cell, rows: Rows, report: Report) -> None:
    """Tables 3.1 and 3.2: test errors of what the path and a solver choose."""
    parts, sizes = _parts(cell), cell.settings.sizes
    own = _folds(cell, parts.train)
    for k, (n_s, n_lam2) in enumerate(product(sizes, sizes)):
        model, lines = _deviations(cell, parts.train, n_s, n_lam2)["drlad"]
        hyper = {"n_s": n_s, "n_lam2": n_lam2}
        _choose_both(rows, model, lines, parts, own, _mse(parts), hyper)
        report((k + 1) / len(sizes) ** 2)


def _choose_both(
    rows: Rows,
    model: Model,
    lines: Sequence[Line],
    parts: Split,
    own: tune.Folds,
    score: Callable,
    hyper: dict[str, Any],
) -> None:
    """Choose by the path and by a solver; add scores, and the path's loss at both choices."""
    X, y = parts.train
    ours, curves = tune.losses_of_path(model, lines, X, y, own)
    theirs, failed = tune.losses_of_solver("piqp", model, lines, X, y, own)
    exact = tune.chosen_exactly(model, lines, curves)
    choices = {"path": tune.chosen(ours, lines), "piqp": tune.chosen(theirs, lines), "exact": exact}
    for name, choice in choices.items():
        fitted = tune.refit(model, lines, choice, X, y)
        for metric, value in score(fitted).items():
            rows.add(metric, value, method=name, hyper_parameters=hyper)
        rows.add("cv_loss", choice.loss, method=name, hyper_parameters=hyper)
    place = choices["piqp"]
    at = int(np.argmin(np.abs(lines[place.line].values - place.value)))
    lost = ours[place.line][at] / choices["path"].loss - 1.0 if choices["path"].loss > 0 else 0.0
    rows.add("loss_of_choice", lost, method="piqp", hyper_parameters=hyper)
    rows.add("same_choice", float(place[:2] == choices["path"][:2]), method="piqp",
             hyper_parameters=hyper)
    worst = max(float(np.nanmax(np.abs(a - b))) for a, b in zip(ours, theirs, strict=True))
    rows.add("loss_difference", worst, method="piqp", hyper_parameters=hyper)
    rows.add("failed_calls", failed, method="piqp", hyper_parameters=hyper)


@PAPER.experiment(settings=Simulation, each="correlations")
def simulation(cell: Cell, rows: Rows, report: Report) -> None:
    """Figure 3.4: MSE, RR, RTE and PVE of four models at one correlation."""
    settings, rho = cell.settings, cell.value
    seeds = cell.seed(f"rho {rho:g}").generate_state(2)
    sizes = (settings.n, settings.n_test)
    data = [
        load(cell.dataset, n=n, rho=rho, snr=settings.snr, seed=int(seed), offline=cell.offline)
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

    models = _deviations(cell, parts.train, settings.size, settings.size)
    _compare(cell, rows, models, parts, score)


@PAPER.experiment(settings=Coefficients)
def coefficients(cell: Cell, rows: Rows, report: Report) -> None:
    """Figures 3.2 and 3.3: coefficients along s and lam2; errors on the grid; linearity."""
    settings, parts = cell.settings, _parts(cell)
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
    own = path.breakpoints
    t = np.unique(np.concatenate([own[(own > low) & (own < high)], np.clip([low, high], *path.range)]))
    w = path.coef(t)
    for k in range(len(w)):
        rows.add_curve(f"coefficient {k + 1}", t, w[k], method=line.vary)


def _add_linearity(
    cell: Cell, rows: Rows, model: Model, path: Any, line: Line, part: Part
) -> None:
    """Add by how much the objective of interpolated solutions exceeds the optimum, at most.

    Halfway, in u, between breakpoints solutions are the means of those at both ends; a solver that
    knows no path finds the optimum.
    """
    from ...baselines import GridSolver
    from ...baselines.programmes import Found

    edges = tune.coordinate(line, path.breakpoints)
    edges = np.sort(edges[np.isfinite(edges)])
    rng = np.random.default_rng(cell.seed("points"))
    pieces = np.flatnonzero(np.diff(edges) > 1e-9 * edges[-1])
    pieces = rng.choice(pieces, min(cell.settings.points, len(pieces)), replace=False)
    programme = model.programme(part.X, part.y, line)
    solver, worst = GridSolver("clarabel", programme, tolerance=1e-11), 0.0
    for piece in pieces:
        ends = np.clip(tune.coordinate(line, edges[piece : piece + 2]), *path.range)
        at = {**line.fixed, line.vary: float(tune.coordinate(line, edges[piece : piece + 2].mean()))}
        w = np.mean([path.coef(t) for t in ends], axis=0)
        b = np.mean([path.intercept(t) for t in ends])
        best = programme.value(solver.solve(at).found, at)
        worst = max(worst, programme.value(Found(w, float(b)), at) / best - 1.0)
    rows.add("excess_between", worst, method=line.vary)


def _add_surface(cell: Cell, rows: Rows, parts: Split) -> None:
    """Add the cross-validation error along every line of the grid: Figure 3.3's surface."""
    model, lines = _deviations(cell, parts.train, cell.settings.size, cell.settings.size)["drlad"]
    own = _folds(cell, parts.train)
    losses, curves = tune.losses_of_path(model, lines, parts.train.X, parts.train.y, own)
    for line, loss, curve in zip(lines, losses, curves, strict=True):
        hyper, top = {"lam2": line.fixed["lam2"]}, float(line.values[-1])
        s = np.linspace(0.0, top, 81)
        rows.add_curve("surface", s, curve.over(0.0, top)(s), hyper_parameters=hyper)
        rows.add_curve("grid", line.values, loss, hyper_parameters=hyper)
    choices = tune.chosen(losses, lines), tune.chosen_exactly(model, lines, curves)
    for how, choice in zip(("grid", "exact"), choices, strict=True):
        hyper = {"lam2": lines[choice.line].fixed["lam2"]}
        rows.add_curve(f"least {how}", [choice.value], [choice.loss], hyper_parameters=hyper)
        rows.add("cv_loss", choice.loss, method=how)
