"""Chapter 4: l1-SVM, l2-SVM, DrSVM and DM-DrSVM.

classification   AUC of the four, and variance inflation factors (Tables 4.3, 4.4)
margin_grids     choices through the path, exact and through a solver, by size of grid (4.1, 4.2)
noisy_margins    AUC against the signal-to-noise ratio (Figure 4.3)
margin_times     seconds of cross-validation (Tables 4.1, 4.2)
linear_times     the same where lam2 = 0: is a path faster than a warm simplex method?
written_times    seconds of CVXPY alone, as its problem may have been written (3.1 to 4.2)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from ....data import load
from ....data.protocols import Part, Split
from ....runs.cells import Cell, Report
from ....runs.judging import add_certificate
from ....runs.rows import Rows
from ....settings import Count, Counts, NotNegative, Positive, Positives
from .. import tuning as tune
from ..tuning import Line
from .chapter_3 import deviation_models, drlad_grids
from .seconds import GridTimes, Samples, Times
from .shared import (
    PAPER,
    Floats,
    Grid,
    Grids,
    NamedGrid,
    add_sizes,
    auc,
    choose_on,
    compare,
    source_of,
    split_of,
)


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


class MarginTimes(MarginGrids, Times):
    """Both."""


class WrittenTimes(MarginGrids, Samples):
    """Both."""


def margin_models(
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


@PAPER.experiment(settings=Grid)
def classification(cell: Cell, rows: Rows, report: Report) -> None:
    """Tables 4.3 and 4.4: AUC of SVMs on the test part; variance inflation factors."""
    parts, size = split_of(cell), cell.settings.size
    add_sizes(rows, parts)
    if cell.split == 0:
        factors = variance_inflation(load(source_of(cell), offline=cell.offline).X)
        rows.add_all({"vif_max": factors.max(), "vif_mean": factors.mean()}, method="data")
    compare(cell, rows, margin_models(cell, parts.train, size, size), parts, auc(parts))


def variance_inflation(X: Floats) -> Floats:
    """Return 1 / (1 - R^2) of each feature on all others and an intercept.

    Constant features are left out; inf where the others determine a feature.
    """
    X = X[:, np.ptp(X, axis=0) > 0]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    factors = np.empty(Z.shape[1])
    for k in range(Z.shape[1]):
        others = np.delete(Z, k, axis=1)
        w = np.linalg.lstsq(others, Z[:, k], rcond=None)[0]
        left = ((Z[:, k] - others @ w) ** 2).mean()
        factors[k] = 1.0 / left if left > 1e-12 else np.inf
    return factors


@PAPER.experiment(settings=MarginGrids)
def margin_grids(cell: Cell, rows: Rows, report: Report) -> None:
    """Tables 4.1 and 4.2: test AUC of what the path and a solver choose."""
    parts = split_of(cell)
    grids = _double_margin_grids(cell, parts.train)
    choose_on(cell, rows, report, parts, grids, auc(parts))
    model, lines, _ = grids[-1]
    path = model.trace(*parts.train, lines[len(lines) // 2])
    add_certificate(rows, path, method="path")
    rows.add("steps_per_row", len(path.breakpoints) / len(parts.train.y), method="path")


def _double_margin_grids(cell: Cell, part: Part) -> list[NamedGrid]:
    """Return the DM-DrSVM's grids of all sizes, at the kappa of Tables 4.1 and 4.2."""
    sizes, kappas = list(product(cell.settings.sizes, repeat=2)), (cell.settings.kappa,)
    models = [margin_models(cell, part, n1, n2, kappas)["dm_drsvm"] for n2, n1 in sizes]
    return [
        (*model, {"n_lam2": k, "n_lam1": j}) for model, (k, j) in zip(models, sizes, strict=True)
    ]


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
            load(source_of(cell), clean=clean, offline=cell.offline, **stated)
            for clean in (False, True)
        )
        n = settings.n
        parts = Split(Part(noisy.X[:n], noisy.y[:n]), None, Part(clean.X[n:], clean.y[n:]))
        compared = cell.rows(hyper_parameters={"snrs": cell.value, "d": d})
        compare(cell, compared, margin_models(cell, parts.train, size, size), parts, auc(parts))
        rows.rows += compared.rows


@PAPER.experiment(lane="timing", settings=MarginTimes)
def margin_times(cell: Cell, rows: Rows, report: Report) -> None:
    """Tables 4.1 and 4.2: seconds of five-fold cross-validation of the DM-DrSVM, by size."""
    part = split_of(cell).train
    GridTimes(cell, rows, part).run(_double_margin_grids(cell, part), report)


@PAPER.experiment(lane="timing", settings=Times)
def linear_times(cell: Cell, rows: Rows, report: Report) -> None:
    """Seconds where lam2 = 0: the l1-LAD or the l1-SVM beside a warm simplex method."""
    part = split_of(cell).train
    regressed = len(np.unique(part.y)) > 2
    models, name = (deviation_models, "l1_lad") if regressed else (margin_models, "l1_svm")
    sizes = cell.settings.sizes
    grids = [(*models(cell, part, n, 1)[name], {"points": n, "model": name}) for n in sizes]
    GridTimes(cell, rows, part).run(grids, report)


@PAPER.experiment(lane="timing", settings=WrittenTimes)
def written_times(cell: Cell, rows: Rows, report: Report) -> None:
    """Tables 3.1 to 4.2: seconds of CVXPY with vectors, and with a term for each sample."""
    part = split_of(cell).train
    grids = drlad_grids if len(np.unique(part.y)) > 2 else _double_margin_grids
    GridTimes(cell, rows, part).run_solvers(grids(cell, part), report)
