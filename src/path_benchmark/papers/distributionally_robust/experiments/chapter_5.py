"""Chapter 5: kernel machines with one margin and with two.

kernels         AUC of them (Table 5.3)
kernel_shapes   the same with other kernels: which did the text use?
moons           AUC against noise (Figures 5.1, 5.2)
moons_noises    AUC of Table 5.1's machine at other levels of noise: which did the text use?
kernel_grids    choices through the path, exact and through a solver, by size of grid (Table 5.1)
kernel_times    seconds of cross-validation (Table 5.1)
worst_case      worst distributions beside the value of problem (5.3): does Theorem 5.1 hold?
with_rho        problem (5.4), whose outer margin moves with rho: is its solution on the path?
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from solution_paths.kernels import LINEAR, Kernel

from ....runs.cells import Cell, Report
from ....runs.judging import add_certificate
from ....runs.rows import Rows
from ....settings import Count, Counts, Positive, Positives, Settings
from .. import tuning as tune
from .. import with_rho as cone
from ..tuning import Line, Model
from ..worst_case import bound, worst_distribution
from .seconds import GridTimes, Times
from .shared import PAPER, Grid, NamedGrid, add_sizes, auc, choose, choose_on, compare, split_of

# Kernels to try for Table 5.3, whose text names none; of d features.
SHAPES: dict[str, Callable[[int], Kernel]] = {
    "rbf": lambda d: Kernel("rbf", 0.1),
    "rbf_1_over_d": lambda d: Kernel("rbf", 1.0 / d),
    "poly_2": lambda d: Kernel("poly", 1.0 / d, 2, 1.0),
    "poly_3": lambda d: Kernel("poly", 1.0 / d, 3, 1.0),
    "poly_3_homogeneous": lambda d: Kernel("poly", 1.0 / d, 3, 0.0),
}


class WorstCase(Settings):
    """So many random ``draws`` of a hypothesis at each of the ``radii`` and label ``costs``."""

    draws: Count
    radii: Positives
    costs: Positives


class Shapes(Grid):
    """``size`` of the grid, and the kernels by name, see `SHAPES`."""

    shapes: Annotated[tuple[Literal[tuple(SHAPES)], ...], Field(min_length=1)]  # type: ignore[valid-type]


class MoonsNoises(Grid):
    """``noises``, numbers of ``rows``, ``kappa``."""

    noises: Positives
    rows: Counts
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


class KernelTimes(KernelGrids, Times):
    """Both."""


def kernel_models(cell: Cell, n_lam: int, kernels: dict[str, Kernel] | None = None) -> dict:
    """Return model and lines of each machine of chapter 5; kernels by what their names begin with.

    Those are the linear one and, before "ksvm", the configured one, unless they are given.
    """
    lam, kappas = tune.logarithmic(*cell.common.lam, n_lam), sorted(cell.common.kappas)
    models = {}
    for prefix, kernel in (kernels or {"": LINEAR, "k": Kernel("rbf", cell.common.gamma)}).items():
        single = tune.kernel_machine(f"{prefix}svm", kernel)
        double = tune.double_margin_machine(f"dm_{prefix}svm", kernel)
        models[single.name] = single, [Line({}, "lam", lam)]
        models[double.name] = double, tune.lines_over("kappa", kappas, "lam", lam)
    return models


@PAPER.experiment(settings=Grid)
def kernels(cell: Cell, rows: Rows, report: Report) -> None:
    """Tables 5.2 and 5.3: AUC of kernel machines on the test part."""
    parts = split_of(cell)
    add_sizes(rows, parts)
    compare(cell, rows, kernel_models(cell, cell.settings.size), parts, auc(parts))


@PAPER.experiment(settings=Moons, each="noises")
def moons(cell: Cell, rows: Rows, report: Report) -> None:
    """Figures 5.1 and 5.2: two moons, and AUC of kernel machines, at one level of noise."""
    parts = split_of(cell, n=cell.settings.n, noise=cell.value)
    if cell.split == 0:
        for part in (parts.train, parts.test):
            shown = (part.y > 0).astype(float)
            rows.add_curve("points", *part.X.T, weight=shown, method="data")
    compare(cell, rows, kernel_models(cell, cell.settings.size), parts, auc(parts))


@PAPER.experiment(settings=Shapes, each="shapes")
def kernel_shapes(cell: Cell, rows: Rows, report: Report) -> None:
    """Table 5.3 with another kernel: AUC of both kernel machines on the test part."""
    parts = split_of(cell)
    kernel = SHAPES[cell.value](parts.train.X.shape[1])
    machines = kernel_models(cell, cell.settings.size, {"k": kernel})
    compare(cell, rows, machines, parts, auc(parts))


@PAPER.experiment(settings=MoonsNoises, each="noises")
def moons_noises(cell: Cell, rows: Rows, report: Report) -> None:
    """Table 5.1 at another level of noise: AUC of what the path chooses, by number of rows."""
    for n in cell.settings.rows:
        parts = split_of(cell, n=n, noise=cell.value)
        fitted = choose(cell, parts.train, *_double_margin(cell, cell.settings.size))
        columns = {"method": "path", "hyper_parameters": {"noises": cell.value, "rows": n}}
        rows.add_all(auc(parts)(fitted), **columns)
        add_certificate(rows, fitted.path, **columns)


@PAPER.experiment(settings=WorstCase)
def worst_case(cell: Cell, rows: Rows, report: Report) -> None:
    """Theorem 5.1 at random hypotheses: an explicit worst distribution beside problem (5.3)."""
    train = split_of(cell).train
    K, rng = Kernel("rbf", cell.common.gamma)(train.X, train.X), np.random.default_rng(cell.seed())
    draws = product(range(cell.settings.draws), cell.settings.radii, cell.settings.costs)
    for draw, radius, kappa in draws:
        weights = np.abs(rng.normal(size=len(K))) * train.y + rng.normal(size=len(K))
        weights *= 10.0 ** rng.uniform(-1.0, 1.0) / np.sqrt(weights @ K @ weights)
        length, margins = np.sqrt(weights @ K @ weights), train.y * (K @ weights)
        least = bound(margins, length, radius, kappa)
        loss, distance = worst_distribution(margins, length, radius, kappa)
        columns = {"hyper_parameters": {"draw": draw, "radius": radius, "kappa": kappa}}
        excess, apart = distance / radius - 1.0, abs(loss - least) / least
        metrics = {"theorem_difference": apart, "theorem_excess": excess}
        rows.add_all(metrics, method="theorem", **columns)


@PAPER.experiment(settings=WithRho, each="kappas")
def with_rho(cell: Cell, rows: Rows, report: Report) -> None:
    """Problem (5.4), by a cone solver; its solution again on the path of the constant kappa rho."""
    parts, kappa = split_of(cell, n=cell.settings.n, noise=cell.settings.noise), cell.value
    (X, y), kernel = parts.train, Kernel("rbf", cell.common.gamma)
    K = kernel(X, X)
    Z = cone.factor(K)
    back = np.linalg.pinv(Z).T  # duals of h: K duals = Z w
    for lam in sorted(cell.settings.lams):
        solution = cone.solve(K, y, lam, kappa)
        columns = {"method": "cone", "hyper_parameters": {"kappas": kappa, "lam": lam}}
        rows.add("rho", solution.rho, **columns)
        f = kernel(parts.test.X, X) @ (back @ solution.w) + solution.b
        label = 100.0 * (1.0 - float(tune.balanced_loss(parts.test.y, f)))
        rows.add("label_auc", label, **columns)
        if kappa * solution.rho <= cone.LEAST:
            continue  # the model with a constant asks for more
        path, at = cone.at_constant(X, y, kernel, solution, kappa)
        ours, theirs = path.decision_function(X, at), Z @ solution.w + solution.b
        rows.add("lam_of_constant", at, **columns)
        rows.add(
            "decisions_apart", np.max(np.abs(ours - theirs)) / np.max(np.abs(theirs)), **columns
        )


@PAPER.experiment(settings=KernelGrids, each="rows")
def kernel_grids(cell: Cell, rows: Rows, report: Report) -> None:
    """Table 5.1: test AUC of what the path and a solver choose."""
    parts = split_of(cell, n=cell.value, noise=cell.settings.noise)
    grids = _double_margin_grids(cell)
    choose_on(cell, rows, report, parts, grids, auc(parts))
    model, lines, _ = grids[-1]
    path = model.trace(parts.train.X, parts.train.y, lines[0])
    add_certificate(rows, path, method="path")
    rows.add("steps_per_row", len(path.breakpoints) / len(parts.train.y), method="path")


def _double_margin_grids(cell: Cell) -> list[NamedGrid]:
    """Return the DM-KSVM's grids of all sizes."""
    sizes = cell.settings.sizes
    return [(*_double_margin(cell, n), {"rows": cell.value, "n_lam": n}) for n in sizes]


def _double_margin(cell: Cell, size: int) -> tuple[Model, list[Line]]:
    """Return the DM-KSVM and its line at the kappa of Table 5.1."""
    model = tune.double_margin_machine("dm_ksvm", Kernel("rbf", cell.common.gamma))
    lam = tune.logarithmic(*cell.common.lam, size)
    return model, tune.lines_over("kappa", [cell.settings.kappa], "lam", lam)


@PAPER.experiment(lane="timing", settings=KernelTimes, each="rows")
def kernel_times(cell: Cell, rows: Rows, report: Report) -> None:
    """Table 5.1: seconds of five-fold cross-validation of the DM-KSVM, by size of grid."""
    part = split_of(cell, n=cell.value, noise=cell.settings.noise).train
    GridTimes(cell, rows, part).run(_double_margin_grids(cell), report)
