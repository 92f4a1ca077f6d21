"""G. Tang's dissertation (University of Arizona, 2023): what is run; `outputs`: what is made of it.

regression            test errors of LAD, l1-LAD, l2-LAD and DrLAD (Table 3.4)
regression_grids      the same choices through the path and a solver, by size of grid (3.1, 3.2)
simulation            accuracy against correlation (Figure 3.4)
coefficients          coefficients and errors along s and lam2 (Figures 3.2, 3.3), linearity
classification        AUC of SVMs, and variance inflation factors (Tables 4.3, 4.4)
margin_grids          choices through the path and a solver, by size of grid (4.1, 4.2)
noisy_margins         AUC against the signal-to-noise ratio (Figure 4.3)
kernels               AUC of kernel machines (Table 5.3)
moons                 AUC against noise (Figures 5.1, 5.2)
partitions            groups of samples beside the loss (Figures 3.1, 4.1, 4.2)
worst_case            Theorem 5.1: worst distributions beside the value of problem (5.3)
with_rho              problem (5.4), whose outer margin moves with rho, beside the constant's path
kernel_grids          choices through the path and a solver, by size of grid (Table 5.1)
lam2_spacings         what the path chooses on other grids of lam2 (Tables 3.1, 3.2, Figure 3.3)
moons_noises          AUC of Table 5.1's machine at other levels of noise
kernel_shapes         AUC of Table 5.3's machines with other kernels
regression_times, margin_times, kernel_times, linear_times
                      seconds of cross-validation
lam2_times            the same by the text's lines: paths along lam2, one for each s (Algorithm 3.3)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from solution_paths import dm_drsvm_path, drlad_path
from solution_paths.errors import PathError
from solution_paths.kernels import LINEAR, Kernel

from ...data import load
from ...data.generated import block_covariance, drlad_coefficients, drlad_noise_variance
from ...data.protocols import Part, Split
from ...runs.cells import Cell, Report
from ...runs.config import DataSetSettings
from ...runs.judging import add_certificate
from ...runs.paper import Paper
from ...runs.rows import Rows
from ...runs.timing import stopwatch
from ...settings import Count, Counts, NotNegative, Positive, Positives, Settings, Share, Shares
from ...solvers import GridSolver
from ...solvers.programmes import Found, KernelDoubleMargin
from . import tuning as tune
from . import with_rho as cone
from .data import assemble, folds
from .tuning import Fitted, Line, Model
from .worst_case import bound, least_rho, worst_distribution

Floats = np.ndarray
ON_KNOT = 1e-8  # a sample that is this near to a knot of its loss is at it
GRAM = "_gram"  # behind a solver's name: it is given the dual with the Gram matrix
# Blocks of correlated features in the simulation, whose coefficients are equal.
BLOCKS = tuple(slice(first, first + 3) for first in (0, 3, 6))

# Kernels to try for Table 5.3, whose text names none; of d features.
SHAPES: dict[str, Callable[[int], Kernel]] = {
    "rbf": lambda d: Kernel("rbf", 0.1),
    "rbf_1_over_d": lambda d: Kernel("rbf", 1.0 / d),
    "poly_2": lambda d: Kernel("poly", 1.0 / d, 2, 1.0),
    "poly_3": lambda d: Kernel("poly", 1.0 / d, 3, 1.0),
    "poly_3_homogeneous": lambda d: Kernel("poly", 1.0 / d, 3, 0.0),
}


# ---------------------------------------------------------------- settings


class Common(Settings):
    """``folds`` of cross-validation, ``lam2`` from and to, ``lam1``: least share of its largest.

    ``lam`` of kernel machines from and to, ``gamma`` of the kernel; ``kappas`` of double margins
    to choose from in chapter 5, ``margin_kappas`` in chapter 4.
    """

    folds: Count
    lam2: tuple[Positive, Positive]
    lam1: Positive
    lam: tuple[Positive, Positive]
    gamma: Positive
    kappas: Positives
    margin_kappas: Positives


class DataSet(DataSetSettings):
    """``scaling`` of features."""

    scaling: Literal["standardise", "none"] = "standardise"


class WorstCase(Settings):
    """So many random ``draws`` of a hypothesis at each of the ``radii`` and label ``costs``."""

    draws: Count
    radii: Positives
    costs: Positives


class Partitions(Settings):
    """``n`` samples; of the DrLAD ``s`` as a share of its largest, of the DM-DrSVM the others."""

    n: Count
    s: Share
    kappa: Positive
    lam1: Positive
    lam2: Positive
    noise: Positive


class Grid(Settings):
    """``size``: values of each hyper-parameter."""

    size: Count


class Grids(Settings):
    """``sizes`` of grids, all pairs of them."""

    sizes: Counts


class Spacings(Grids):
    """``sizes`` of grids, all pairs of them, with lam2 spaced in each of these ways."""

    spacings: Annotated[tuple[Literal[tune.SPACINGS], ...], Field(min_length=1)]  # type: ignore[valid-type]


class Shapes(Grid):
    """``size`` of the grid, and the kernels by name, see `SHAPES`."""

    shapes: Annotated[tuple[Literal[tuple(SHAPES)], ...], Field(min_length=1)]  # type: ignore[valid-type]


class MoonsNoises(Grid):
    """``noises``, numbers of ``rows``, ``kappa``."""

    noises: Positives
    rows: Counts
    kappa: Positive


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


class MarginGrids(Grids):
    """``sizes`` of grids and ``kappa``."""

    kappa: Positive


class Moons(Grid):
    """``noises``, and ``n`` rows."""

    noises: Positives
    n: Count


class WithRho(Settings):
    """``lams`` and ``kappas`` of problem (5.4); ``n`` rows, their ``noise``."""

    lams: Positives
    kappas: Positives
    n: Count
    noise: Positive


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


class MarginTimes(MarginGrids, Times):
    """Both."""


def _columns(cell: Cell) -> dict[str, Any]:
    return {"hyper_parameters": {cell.each: cell.value}} if cell.each else {}


PAPER = Paper("distributionally_robust", Common, DataSet, _columns)


# ---------------------------------------------------------------- what they share


def _source(cell: Cell) -> str:
    """Return the name of the data: one data set may stand here twice, differently scaled."""
    return (cell.data.sources or (cell.dataset,))[0]


def _parts(cell: Cell, **parameters: Any) -> Split:
    return assemble(
        _source(cell),
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


def _deviations(
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


def _margins(
    cell: Cell, part: Part, n_lam1: int, n_lam2: int, kappas: Sequence[float] = ()
) -> dict[str, tuple]:
    """Return model and lines of each SVM of chapter 4."""
    lam2 = tune.logarithmic(*cell.common.lam2, n_lam2)
    top = tune.largest_penalty(part.X, part.y)
    lam1 = tune.logarithmic(cell.common.lam1 * top, top, n_lam1)
    return {
        "l1_svm": (tune.l1_machine(), [Line({"lam2": 0.0}, "lam1", lam1)]),
        "l2_svm": (tune.l2_machine(), [Line({"lam1": 0.0}, "lam2", lam2)]),
        "drsvm": (tune.doubly_regularised(), tune.lines_over("lam2", lam2, "lam1", lam1)),
        "dm_drsvm": (
            tune.double_margin_regularised(),
            [
                Line({"kappa": kappa, "lam2": float(value)}, "lam1", lam1)
                for kappa, value in product(kappas or sorted(cell.common.margin_kappas), lam2)
            ],
        ),
    }


def _kernel_machines(cell: Cell, n_lam: int, kernels: dict[str, Kernel] | None = None) -> dict:
    """Return model and lines of each machine of chapter 5; kernels by what their names begin with.

    Those are the linear one and, before "ksvm", the configured one, unless they are given.
    """
    lam, kappas = tune.logarithmic(*cell.common.lam, n_lam), sorted(cell.common.kappas)
    found = {}
    for prefix, kernel in (kernels or {"": LINEAR, "k": Kernel("rbf", cell.common.gamma)}).items():
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
        try:
            tuned = _tuned(model, lines, train, own)
        except PathError as error:  # one lost path must not cost the other models
            rows.add("cv_loss", None, method=name, status="failed", message=str(error))
            continue
        for how, (choice, fitted) in zip(("grid", "exact"), tuned, strict=True):
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


@PAPER.experiment(settings=Grids, version=1)
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
    rows.add(
        "same_choice",
        float(place[:2] == choices["path"][:2]),
        method="piqp",
        hyper_parameters=hyper,
    )
    worst = max(float(np.nanmax(np.abs(a - b))) for a, b in zip(ours, theirs, strict=True))
    rows.add("loss_difference", worst, method="piqp", hyper_parameters=hyper)
    rows.add("failed_calls", failed, method="piqp", hyper_parameters=hyper)


@PAPER.experiment(settings=Spacings, each="spacings")
def lam2_spacings(cell: Cell, rows: Rows, report: Report) -> None:
    """Tables 3.1 and 3.2 with lam2 spaced otherwise: test errors of what the path chooses."""
    parts, sizes = _parts(cell), cell.settings.sizes
    (X, y), own = parts.train, _folds(cell, parts.train)
    for k, (n_s, n_lam2) in enumerate(product(sizes, sizes)):
        model, lines = _deviations(cell, parts.train, n_s, n_lam2, cell.value)["drlad"]
        losses, _ = tune.losses_of_path(model, lines, X, y, own)
        fitted = tune.refit(model, lines, tune.chosen(losses, lines), X, y)
        hyper = {"spacing": cell.value, "n_s": n_s, "n_lam2": n_lam2}
        rows.add("mse", _mse(parts)(fitted)["mse"], method="path", hyper_parameters=hyper)
        report((k + 1) / len(sizes) ** 2)
    add_certificate(rows, fitted.path, method="path")


@PAPER.experiment(settings=Simulation, each="correlations")
def simulation(cell: Cell, rows: Rows, report: Report) -> None:
    """Figure 3.4: MSE, RR, RTE and PVE of four models at one correlation."""
    settings, rho = cell.settings, cell.value
    seeds = cell.seed(f"rho {rho:g}").generate_state(2)
    sizes = (settings.n, settings.n_test)
    data = [
        load(_source(cell), n=n, rho=rho, snr=settings.snr, seed=int(seed), offline=cell.offline)
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
    t = np.unique(
        np.concatenate([own[(own > low) & (own < high)], np.clip([low, high], *path.range)])
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
        best = programme.value(solver.solve(at).found, at)
        worst = max(worst, programme.value(Found(w, float(b)), at) / best - 1.0)
    rows.add("excess_between", worst, method=line.vary)


def _add_surface(cell: Cell, rows: Rows, parts: Split) -> None:
    """Add the cross-validation error along every line of the grid: Figure 3.3's surface."""
    model, lines = _deviations(cell, parts.train, cell.settings.size, cell.settings.size)["drlad"]
    own = _folds(cell, parts.train)
    losses, curves = tune.losses_of_path(model, lines, parts.train.X, parts.train.y, own)
    for line, loss, curve in zip(lines, losses, curves, strict=True):
        told, top = {"hyper_parameters": {"lam2": line.fixed["lam2"]}}, float(line.values[-1])
        told["method"] = "drlad"
        s = np.linspace(0.0, top, 81)
        rows.add_curve("surface", s, curve.over(0.0, top)(s), **told)
        rows.add_curve("grid", line.values, loss, **told)
    choices = tune.chosen(losses, lines), tune.chosen_exactly(model, lines, curves)
    for how, choice in zip(("grid", "exact"), choices, strict=True):
        told = {"hyper_parameters": {"lam2": lines[choice.line].fixed["lam2"]}, "method": "drlad"}
        rows.add_curve(f"least {how}", [choice.value], [choice.loss], **told)
        rows.add("cv_loss", choice.loss, method=how)


@PAPER.experiment(settings=Partitions)
def partitions(cell: Cell, rows: Rows, report: Report) -> None:
    """Figures 3.1, 4.1 and 4.2, computed: a fitted model, and which group each sample is in."""
    options = {"n": cell.settings.n, "seed": int(cell.seed("partitions").generate_state(1)[0])}
    noise = {} if cell.dataset == "drlad_simulation" else {"noise": cell.settings.noise}
    data = load(_source(cell), offline=cell.offline, **options, **noise)
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
    for name, own in {"L": ~near & (residual < 0), "E": near, "R": ~near & (residual > 0)}.items():
        found = np.where(near, 0.0, residual)[own]
        rows.add_curve(f"group {name}", found, np.abs(found), method="s")


def _margin_groups(cell: Cell, rows: Rows, X: Floats, y: Floats) -> None:
    """Add points of a DM-DrSVM, and margins with their losses, by group; its plane, its margin."""
    own = cell.settings
    path = dm_drsvm_path(X, y, kappa=own.kappa, vary="lam1", lam2=own.lam2, check="ignore")
    add_certificate(rows, path, method="lam1")
    w, b, m = path.coef(own.lam1), path.intercept(own.lam1), y * path.decision_function(X, own.lam1)
    outer = own.kappa * least_rho(m, float(np.abs(w).sum()), own.lam1, own.kappa) - 1.0
    for name, value in {"w0": w[0], "w1": w[1], "b": b, "outer": outer}.items():
        rows.add(f"margin_{name}", value, method="lam1")
    loss = np.maximum(0.0, np.maximum(1.0 - m, m - outer))
    at = {"EL": np.abs(m - 1.0) <= ON_KNOT, "ER": np.abs(m - outer) <= ON_KNOT}
    off = ~at["EL"] & ~at["ER"]
    groups = {"L": off & (m < 1.0), "M": off & (m > 1.0) & (m < outer), "R": off & (m > outer)}
    for name, who in (groups | at).items():
        rows.add_curve(f"group {name}", m[who], loss[who], method="lam1")
        rows.add_curve(f"points {name}", *X[who].T, weight=y[who], method="lam1")


# ---------------------------------------------------------------- chapter 4


@PAPER.experiment(settings=Grid)
def classification(cell: Cell, rows: Rows, report: Report) -> None:
    """Tables 4.3 and 4.4: AUC of SVMs on the test part; variance inflation factors."""
    parts, size = _parts(cell), cell.settings.size
    _describe(rows, parts)
    if cell.split == 0:
        factors = variance_inflation(load(_source(cell), offline=cell.offline).X)
        for name, value in (("vif_max", factors.max()), ("vif_mean", factors.mean())):
            rows.add(name, value, method="data")
    _compare(cell, rows, _margins(cell, parts.train, size, size), parts, _auc(parts))


def variance_inflation(X: Floats) -> Floats:
    """Return 1 / (1 - R^2) of each feature on all others and an intercept.

    Constant features are left out; inf where the others determine a feature.
    """
    X = X[:, np.ptp(X, axis=0) > 0]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    found = np.empty(Z.shape[1])
    for k in range(Z.shape[1]):
        others = np.delete(Z, k, axis=1)
        w = np.linalg.lstsq(others, Z[:, k], rcond=None)[0]
        left = ((Z[:, k] - others @ w) ** 2).mean()
        found[k] = 1.0 / left if left > 1e-12 else np.inf
    return found


@PAPER.experiment(settings=MarginGrids)
def margin_grids(cell: Cell, rows: Rows, report: Report) -> None:
    """Tables 4.1 and 4.2: test AUC of what the path and a solver choose."""
    parts, settings = _parts(cell), cell.settings
    own = _folds(cell, parts.train)
    for k, (n_lam2, n_lam1) in enumerate(product(settings.sizes, settings.sizes)):
        model, lines = _double_margins(cell, parts.train, n_lam2, n_lam1)
        hyper = {"n_lam2": n_lam2, "n_lam1": n_lam1}
        _choose_both(rows, model, lines, parts, own, _auc(parts), hyper)
        report((k + 1) / len(settings.sizes) ** 2)
    path = model.trace(*parts.train, lines[len(lines) // 2])
    add_certificate(rows, path, method="path")
    rows.add("steps_per_row", len(path.breakpoints) / len(parts.train.y), method="path")


def _double_margins(cell: Cell, part: Part, n_lam2: int, n_lam1: int) -> tuple[Model, list[Line]]:
    """Return the DM-DrSVM and its lines at the kappa of Tables 4.1 and 4.2."""
    return _margins(cell, part, n_lam1, n_lam2, (cell.settings.kappa,))["dm_drsvm"]


@PAPER.experiment(settings=Margins, each="snrs")
def noisy_margins(cell: Cell, rows: Rows, report: Report) -> None:
    """Figure 4.3: AUC on clean labels against the signal-to-noise ratio of training labels."""
    settings, size = cell.settings, cell.settings.size
    for d in settings.dims:
        correlated = settings.correlated if d > settings.correlated else 0
        seed = int(cell.seed(f"{d} features").generate_state(1)[0])
        stated = {
            "n": settings.n + settings.n_test,
            "d": d,
            "snr": cell.value,
            "correlation": settings.correlation if correlated else 0.0,
            "n_correlated": correlated,
            "seed": seed,
        }
        noisy, clean = (
            load(_source(cell), clean=clean, offline=cell.offline, **stated)
            for clean in (False, True)
        )
        n = settings.n
        parts = Split(Part(noisy.X[:n], noisy.y[:n]), None, Part(clean.X[n:], clean.y[n:]))
        own = cell.rows(hyper_parameters={"snrs": cell.value, "d": d})
        _compare(cell, own, _margins(cell, parts.train, size, size), parts, _auc(parts))
        rows.rows += own.rows


# ---------------------------------------------------------------- chapter 5


@PAPER.experiment(settings=Grid)
def kernels(cell: Cell, rows: Rows, report: Report) -> None:
    """Tables 5.2 and 5.3: AUC of kernel machines on the test part."""
    parts = _parts(cell)
    _describe(rows, parts)
    _compare(cell, rows, _kernel_machines(cell, cell.settings.size), parts, _auc(parts))


@PAPER.experiment(settings=Moons, each="noises")
def moons(cell: Cell, rows: Rows, report: Report) -> None:
    """Figures 5.1 and 5.2: two moons, and AUC of kernel machines, at one level of noise."""
    parts = _parts(cell, n=cell.settings.n, noise=cell.value)
    if cell.split == 0:
        for part in (parts.train, parts.test):
            shown = (part.y > 0).astype(float)
            rows.add_curve("points", *part.X.T, weight=shown, method="data")
    _compare(cell, rows, _kernel_machines(cell, cell.settings.size), parts, _auc(parts))


@PAPER.experiment(settings=Shapes, each="shapes")
def kernel_shapes(cell: Cell, rows: Rows, report: Report) -> None:
    """Table 5.3 with another kernel: AUC of both kernel machines on the test part."""
    parts = _parts(cell)
    kernel = SHAPES[cell.value](parts.train.X.shape[1])
    machines = _kernel_machines(cell, cell.settings.size, {"k": kernel})
    _compare(cell, rows, machines, parts, _auc(parts))


@PAPER.experiment(settings=MoonsNoises, each="noises")
def moons_noises(cell: Cell, rows: Rows, report: Report) -> None:
    """Table 5.1 at another level of noise: AUC of what the path chooses, by number of rows."""
    for n in cell.settings.rows:
        parts = _parts(cell, n=n, noise=cell.value)
        (X, y), own = parts.train, _folds(cell, parts.train)
        model, lines = _double_margin(cell, cell.settings.size)
        losses, _ = tune.losses_of_path(model, lines, X, y, own)
        fitted = tune.refit(model, lines, tune.chosen(losses, lines), X, y)
        hyper = {"noises": cell.value, "rows": n}
        for metric, value in _auc(parts)(fitted).items():
            rows.add(metric, value, method="path", hyper_parameters=hyper)
        add_certificate(rows, fitted.path, method="path", hyper_parameters=hyper)


@PAPER.experiment(settings=WorstCase)
def worst_case(cell: Cell, rows: Rows, report: Report) -> None:
    """Theorem 5.1 at random hypotheses: an explicit worst distribution beside problem (5.3)."""
    train = _parts(cell).train
    K, rng = Kernel("rbf", cell.common.gamma)(train.X, train.X), np.random.default_rng(cell.seed())
    draws = product(range(cell.settings.draws), cell.settings.radii, cell.settings.costs)
    for draw, radius, kappa in draws:
        weights = np.abs(rng.normal(size=len(K))) * train.y + rng.normal(size=len(K))
        weights *= 10.0 ** rng.uniform(-1.0, 1.0) / np.sqrt(weights @ K @ weights)
        length, margins = np.sqrt(weights @ K @ weights), train.y * (K @ weights)
        least = bound(margins, length, radius, kappa)
        loss, distance = worst_distribution(margins, length, radius, kappa)
        told = {"hyper_parameters": {"draw": draw, "radius": radius, "kappa": kappa}}
        rows.add("theorem_difference", abs(loss - least) / least, method="theorem", **told)
        rows.add("theorem_excess", distance / radius - 1.0, method="theorem", **told)


@PAPER.experiment(settings=WithRho, each="kappas")
def with_rho(cell: Cell, rows: Rows, report: Report) -> None:
    """Problem (5.4), by a cone solver; its solution again on the path of the constant kappa rho."""
    parts, kappa = _parts(cell, n=cell.settings.n, noise=cell.settings.noise), cell.value
    (X, y), kernel = parts.train, Kernel("rbf", cell.common.gamma)
    K = kernel(X, X)
    Z = cone.factor(K)
    back = np.linalg.pinv(Z).T  # duals of h: K duals = Z w
    for lam in sorted(cell.settings.lams):
        found = cone.solve(K, y, lam, kappa)
        told = {"method": "cone", "hyper_parameters": {"kappas": kappa, "lam": lam}}
        rows.add("rho", found.rho, **told)
        f = kernel(parts.test.X, X) @ (back @ found.w) + found.b
        label = 100.0 * (1.0 - float(tune.balanced_loss(parts.test.y, f)))
        rows.add("label_auc", label, **told)
        if kappa * found.rho <= cone.LEAST:
            continue  # the model with a constant asks for more
        path, at = cone.at_constant(X, y, kernel, found, kappa)
        ours, theirs = path.decision_function(X, at), Z @ found.w + found.b
        rows.add("lam_of_constant", at, **told)
        rows.add("decisions_apart", np.max(np.abs(ours - theirs)) / np.max(np.abs(theirs)), **told)


@PAPER.experiment(settings=KernelGrids, each="rows")
def kernel_grids(cell: Cell, rows: Rows, report: Report) -> None:
    """Table 5.1: test AUC of what the path and a solver choose."""
    settings = cell.settings
    parts = _parts(cell, n=cell.value, noise=settings.noise)
    own = _folds(cell, parts.train)
    for k, size in enumerate(settings.sizes):
        model, lines = _double_margin(cell, size)
        hyper = {"rows": cell.value, "n_lam": size}
        _choose_both(rows, model, lines, parts, own, _auc(parts), hyper)
        report((k + 1) / len(settings.sizes))
    path = model.trace(parts.train.X, parts.train.y, lines[0])
    add_certificate(rows, path, method="path")
    rows.add("steps_per_row", len(path.breakpoints) / len(parts.train.y), method="path")


def _double_margin(cell: Cell, size: int, factored: bool = True) -> tuple[Model, list[Line]]:
    """Return the DM-KSVM and its line at the kappa of Table 5.1."""
    kernel = Kernel("rbf", cell.common.gamma)
    model = tune.double_margin_machine("dm_ksvm", kernel, factored)
    lam = tune.logarithmic(*cell.common.lam, size)
    return model, tune.lines_over("kappa", [cell.settings.kappa], "lam", lam)


# ---------------------------------------------------------------- seconds

Named = tuple[Sequence[Line], dict[str, Any]]  # a grid's lines, and what tells it from others


class Contest:
    """Seconds of cross-validation: whole paths beside solvers at the points of the same grids.

    A solver's seconds at a point don't depend on the grid, so that each point of all grids is timed
    once, and a grid's time is the sum over its points and folds. Where a random sample is timed,
    its mean stands for all points.
    """

    def __init__(self, cell: Cell, rows: Rows, part: Part) -> None:
        self.cell, self.rows, self.part = cell, rows, part
        self.folds = _folds(cell, part)

    def run(self, model: Model, grids: Sequence[Named], report: Report) -> None:
        """Time paths, solvers, and paths again, so that a busy moment hurts no one alone."""
        solvers, half = self.cell.settings.samples, -(-self.cell.settings.repeats // 2)
        for first in (0, half):
            for lines, hyper in grids:
                self._time_paths(model, lines, hyper, range(first, first + half))
            if first == 0:
                for k, (name, sample) in enumerate(solvers.items()):
                    self._time_solver(name, model, grids, sample)
                    report((k + 1) / (len(solvers) + 1))

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
            found = {"method": "path", "hyper_parameters": hyper}
            self.rows.add("breakpoints", timing.result / len(self.folds), **found)
            plain = stopwatch(lambda: call("ignore"), 0.05)
            self.rows.add("check_share", 1.0 - plain.cpu_s / timing.cpu_s, **found)

    def _trace(self, model: Model, lines: Sequence[Line], fit: np.ndarray) -> int:
        """Trace all lines, and read their solutions at the points, as a solver returns them."""
        X, y, breakpoints = self.part.X[fit], self.part.y[fit], 0
        for line, path in zip(lines, model.traced(X, y, lines), strict=True):
            at = model.places(path, line, line.values)
            (path.dual if model.gram else path.coef)(at)
            path.intercept(at)
            breakpoints += len(path.breakpoints)
        return breakpoints

    def _time_solver(self, name: str, model: Model, grids: Sequence[Named], sample: int) -> None:
        points = {key: at for lines, _ in grids for key, at in _points(lines).items()}
        calls = [(fold, key) for fold in range(len(self.folds)) for key in points]
        if 0 < sample < len(calls):
            rng = np.random.default_rng(self.cell.seed("sample"))
            picked = np.sort(rng.choice(len(calls), sample, replace=False))
            calls = [calls[k] for k in picked]
        else:
            sample = 0
        spent, setup, failed = self._solve(name, model, points, calls)
        for lines, hyper in grids:
            own = _points(lines)
            if sample:
                seconds = np.mean([s for each in spent.values() for s in each], axis=0)
                seconds = seconds * len(own) * len(self.folds)
            else:
                seconds = np.sum([s for key in own for s in spent[key]], axis=0)
            cpu, wall = seconds + setup
            told = {**hyper, "sampled": sample}
            self._add(name, cpu, wall, told, 0)
            self.rows.add("failed_calls", failed, method=name, hyper_parameters=told)

    def _solve(self, name: str, model: Model, points: dict, calls: list) -> tuple:
        """Return (point -> seconds of its calls), seconds of set-ups, and how many calls failed."""
        solvers: dict[tuple, GridSolver] = {}
        spent: dict[tuple, list[Floats]] = {}
        setup, failed = np.zeros(2), 0
        for fold, key in calls:
            line, k = points[key]
            own = fold, line.fixed.get("kappa")
            if own not in solvers:
                solvers[own] = self._solver(name, model, line, fold)
                setup += (solvers[own].setup_cpu_s, solvers[own].setup_wall_s)
            answer = solvers[own].solve(line.at(k))
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
        told = {"method": name, "cpu_s": cpu, "wall_s": wall, "repeat": repeat}
        self.rows.add("time", cpu, hyper_parameters=hyper, **told)


def _points(lines: Sequence[Line]) -> dict[tuple, tuple[Line, int]]:
    return {tuple(line.at(k).items()): (line, k) for line in lines for k in range(len(line.values))}


@PAPER.experiment(lane="timing", settings=Times)
def regression_times(cell: Cell, rows: Rows, report: Report) -> None:
    """Tables 3.1 and 3.2: seconds of five-fold cross-validation of DrLAD, by size of grid."""
    part, sizes = _parts(cell).train, cell.settings.sizes
    grids = []
    for n_s, n_lam2 in product(sizes, sizes):
        model, lines = _deviations(cell, part, n_s, n_lam2)["drlad"]
        grids.append((lines, {"n_s": n_s, "n_lam2": n_lam2}))
    rows.add("n", len(part.y), method="data")
    Contest(cell, rows, part).run(model, grids, report)


@PAPER.experiment(lane="timing", settings=Times)
def lam2_times(cell: Cell, rows: Rows, report: Report) -> None:
    """Tables 3.1 and 3.2 by Algorithm 3.3's own lines: along lam2, one for each s."""
    part, sizes = _parts(cell).train, cell.settings.sizes
    model, grids = tune.deviations("drlad"), []
    for n_s, n_lam2 in product(sizes, sizes):
        along_s = _deviations(cell, part, n_s, n_lam2)["drlad"]
        lines = _crossed(along_s[1])
        grids.append((lines, {"n_s": n_s, "n_lam2": n_lam2}))
    contest = Contest(cell, rows, part)
    worst = _apart(contest, along_s, (model, lines))
    rows.add("lines_apart", worst, method="path", hyper_parameters=grids[-1][1])
    contest.run(model, grids, report)


def _crossed(lines: Sequence[Line]) -> list[Line]:
    """Return the lines that cross all given ones, through the same points."""
    (fixed,) = lines[0].fixed
    across = np.array([line.fixed[fixed] for line in lines])
    return tune.lines_over(lines[0].vary, lines[0].values, fixed, across)


def _apart(contest: Contest, *grids: tuple[Model, Sequence[Line]]) -> float:
    """Return how far, relatively, objectives on lines and on those that cross them differ.

    Not coefficients or errors: a bias need not be unique.
    """
    worst = 0.0
    for fit, _ in contest.folds:
        X, y = contest.part.X[fit], contest.part.y[fit]
        one, other = (_objectives(model, lines, X, y) for model, lines in grids)
        worst = max(worst, float(np.max(np.abs(one - other.T) / other.T)))
    return worst


def _objectives(model: Model, lines: Sequence[Line], X: Floats, y: Floats) -> Floats:
    """Return the objectives of paths at their lines' points, (lines, points)."""
    found = np.empty((len(lines), len(lines[0].values)))
    for j, (line, path) in enumerate(zip(lines, model.traced(X, y, lines), strict=True)):
        programme = model.programme(X, y, line)
        for k, t in enumerate(model.places(path, line, line.values)):
            solution = Found(path.coef(t), float(path.intercept(t)))
            found[j, k] = programme.value(solution, line.at(k))
    return found


@PAPER.experiment(lane="timing", settings=MarginTimes)
def margin_times(cell: Cell, rows: Rows, report: Report) -> None:
    """Tables 4.1 and 4.2: seconds of five-fold cross-validation of the DM-DrSVM, by size."""
    part, sizes = _parts(cell).train, cell.settings.sizes
    grids = []
    for n_lam2, n_lam1 in product(sizes, sizes):
        model, lines = _double_margins(cell, part, n_lam2, n_lam1)
        grids.append((lines, {"n_lam2": n_lam2, "n_lam1": n_lam1}))
    Contest(cell, rows, part).run(model, grids, report)


@PAPER.experiment(lane="timing", settings=KernelTimes, each="rows")
def kernel_times(cell: Cell, rows: Rows, report: Report) -> None:
    """Table 5.1: seconds of five-fold cross-validation of the DM-KSVM, by size of grid."""
    part = _parts(cell, n=cell.value, noise=cell.settings.noise).train
    grids = []
    for size in cell.settings.sizes:
        model, lines = _double_margin(cell, size)
        grids.append((lines, {"rows": cell.value, "n_lam": size}))
    Contest(cell, rows, part).run(model, grids, report)


@PAPER.experiment(lane="timing", settings=Times)
def linear_times(cell: Cell, rows: Rows, report: Report) -> None:
    """Seconds where lam2 = 0: the l1-LAD or the l1-SVM beside a warm simplex method."""
    part, grids = _parts(cell).train, []
    regressed = len(np.unique(part.y)) > 2
    for size in cell.settings.sizes:
        models = _deviations(cell, part, size, 1) if regressed else _margins(cell, part, size, 1)
        model, lines = models["l1_lad" if regressed else "l1_svm"]
        grids.append((lines, {"points": size, "model": model.name}))
    Contest(cell, rows, part).run(model, grids, report)
