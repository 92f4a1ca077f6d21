"""What the experiments of all chapters share: settings, data, folds, choices and their scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from solution_paths.errors import PathError

from ....data.protocols import Part, Split
from ....runs.cells import Cell, Report
from ....runs.config import DataSetSettings
from ....runs.judging import add_certificate
from ....runs.paper import Paper
from ....runs.rows import Rows
from ....settings import Count, Counts, Positive, Positives, Settings
from .. import tuning as tune
from ..data import assemble, folds
from ..tuning import Fitted, Line, Model

Floats = np.ndarray
Score = Callable[[Fitted], dict[str, float]]
NamedGrid = tuple[Model, Sequence[Line], dict[str, Any]]  # and what tells it from others


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


class Grid(Settings):
    """``size``: values of each hyper-parameter."""

    size: Count


class Grids(Settings):
    """``sizes`` of grids, all pairs of them."""

    sizes: Counts


def _columns(cell: Cell) -> dict[str, Any]:
    return {"hyper_parameters": {cell.each: cell.value}} if cell.each else {}


PAPER = Paper("distributionally_robust", Common, DataSet, _columns)


def source_of(cell: Cell) -> str:
    """Return the name of the data: one data set may stand here twice, differently scaled."""
    return (cell.data.sources or (cell.dataset,))[0]


def split_of(cell: Cell, **parameters: Any) -> Split:
    """Return the cell's training and test part; of generated data with parameters."""
    return assemble(
        source_of(cell),
        cell.split,
        scaling=cell.data.scaling,
        offline=cell.offline,
        parameters=parameters or None,
    )


def folds_of(cell: Cell, part: Part) -> tune.Folds:
    """Return the folds of a training part, those of every model and size of grid."""
    rng = np.random.default_rng(cell.seed("folds"))
    for _ in range(100):
        drawn = tune.folds_of(len(part.y), folds(len(part.y), cell.common.folds, rng))
        if len(np.unique(part.y)) > 2 or all(len(np.unique(part.y[fit])) == 2 for fit, _ in drawn):
            return drawn
    raise ValueError(f"{cell.dataset}: no folds of split {cell.split} have both classes.")


def compare(
    cell: Cell, rows: Rows, models: dict[str, tuple], parts: Split, score: Score, **columns: Any
) -> None:
    """Tune every model on the grid, and exactly along its lines; score both on the test part."""
    (X, y), folds = parts.train, folds_of(cell, parts.train)
    for name, (model, lines) in models.items():
        try:
            losses, curves = tune.losses_of_path(model, lines, X, y, folds)
            choices = tune.chosen(losses, lines), tune.chosen_exactly(lines, curves)
            tuned = [tune.refit(model, lines, choice, X, y) for choice in choices]
        except PathError as error:  # one lost path must not cost the other models
            rows.add("cv_loss", None, method=name, status="failed", message=str(error))
            continue
        for how, choice, fitted in zip(("grid", "exact"), choices, tuned, strict=True):
            selection = {"method": name, "hyper_parameters": {"selection": how}}
            chosen = {**fitted.line.fixed, fitted.line.vary: choice.value}
            finite = {f"chosen_{k}": value for k, value in chosen.items() if np.isfinite(value)}
            rows.add_all({"cv_loss": choice.loss, **finite, **score(fitted)}, **selection)
        add_certificate(rows, fitted.path, method=name, **columns)


def choose(cell: Cell, part: Part, model: Model, lines: Sequence[Line]) -> Fitted:
    """Return the model that the path chooses on a grid by cross-validation."""
    losses, _ = tune.losses_of_path(model, lines, part.X, part.y, folds_of(cell, part))
    return tune.refit(model, lines, tune.chosen(losses, lines), part.X, part.y)


def add_sizes(rows: Rows, parts: Split) -> None:
    """Add numbers of rows and features."""
    n, d = len(parts.train.y) + len(parts.test.y), parts.train.X.shape[1]
    rows.add_all({"n": n, "d": d}, method="data")


def auc(parts: Split) -> Score:
    """Return the score of classifiers, in per cent: of labels as in the text, of decisions too."""
    X, y = parts.test

    def score(fitted: Fitted) -> dict[str, float]:
        f = fitted.decision(X)
        label = 100.0 * (1.0 - float(tune.balanced_loss(y, f)))
        return {"label_auc": label, "score_auc": 100.0 * tune.area_under_curve(y, f)}

    return score


def choose_on(
    cell: Cell, rows: Rows, report: Report, parts: Split, grids: Sequence[NamedGrid], score: Score
) -> None:
    """Choose on each grid by the path, exactly along its lines, and by a solver; score them all.

    Of the solver's choice the path's loss is added, too.
    """
    (X, y), folds = parts.train, folds_of(cell, parts.train)
    for k, (model, lines, hyper) in enumerate(grids):
        ours, curves = tune.losses_of_path(model, lines, X, y, folds)
        theirs, failed = tune.losses_of_solver("piqp", model, lines, X, y, folds)
        choices = {"path": tune.chosen(ours, lines), "piqp": tune.chosen(theirs, lines)}
        choices["exact"] = tune.chosen_exactly(lines, curves)
        for name, choice in choices.items():
            fitted = tune.refit(model, lines, choice, X, y)
            columns = {"method": name, "hyper_parameters": hyper}
            rows.add_all({**score(fitted), "cv_loss": choice.loss}, **columns)
        place, best = choices["piqp"], choices["path"]
        at = int(np.argmin(np.abs(lines[place.line].values - place.value)))
        compared = {
            "loss_of_choice": ours[place.line][at] / best.loss - 1.0 if best.loss > 0 else 0.0,
            "same_choice": float(place[:2] == best[:2]),
            "loss_difference": max(
                float(np.nanmax(np.abs(a - b))) for a, b in zip(ours, theirs, strict=True)
            ),
            "failed_calls": failed,
        }
        rows.add_all(compared, method="piqp", hyper_parameters=hyper)
        report((k + 1) / len(grids))
