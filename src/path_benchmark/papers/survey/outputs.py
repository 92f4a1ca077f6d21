"""Figure of the survey, and the frames and measures that its YAML files name."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

from ...reporting import figures as fig
from ...reporting.claims import Case
from ...reporting.formats import significant
from ...reporting.outputs import Highlight, Outputs
from ...reporting.study import Study, hyper
from ...reporting.verdicts import NOT_IN_PAPER
from ...runs.exploring import LINE
from .experiments import LOGARITHMIC
from .models import MODELS

OUTPUTS = Outputs(__file__)
PANELS_PER_ROW = 5


def _paths(study: Study) -> pd.DataFrame:
    """Return the certificates, with model and parameter, in the order of the models."""
    certificates = study.only(metric="certificate")
    certificates = certificates.assign(
        model=hyper(certificates, "model"), parameter=hyper(certificates, "parameter")
    )
    order = certificates["model"].map(list(MODELS).index)
    return certificates.iloc[np.argsort(order.to_numpy(), kind="stable")]


def _of_model(study: Study, path: tuple, metric: str) -> pd.DataFrame:
    results = study.results
    results = results[(results["metric"] == metric) & (results["dataset"] == path.dataset)]
    return results[hyper(results, "model") == path.model]


def _best(times: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the solver with the least median time."""
    median = times.groupby("method")["value"].median()
    return times[times["method"] == median.idxmin()] if len(median) else times


@OUTPUTS.frame
def speed(study: Study) -> pd.DataFrame:
    """Return a row for each model and data set: its path and the fastest accurate grid."""
    rows = []
    for path in _paths(study).itertuples():
        times = _of_model(study, path, "time")
        times = times[(times["status"] == "ok") & times["value"].notna()]
        ours = times.loc[times["method"] == "path", "value"].median()
        best = _best(times[times["method"] != "path"])
        theirs = best["value"].median()
        rows.append(
            {
                "data set": study.name(path.dataset),
                "model": MODELS[path.model].title,
                "path in": path.parameter,
                "breakpoints": path.n_breakpoints,
                "path, CPU s": ours,
                "best other solver": OUTPUTS.names.get(best["method"].iloc[0]) if len(best) else "",
                "its grid, CPU s": theirs,
                "grid / path": theirs / ours,
                "tolerance": hyper(best, "tolerance").iloc[0] if len(best) else np.nan,
                "gap of its grid": best["gap"].max(),
                "gap of the path": path.gap,
                "KKT violation of the path": path.kkt,
                "remark": _remark(study, path, ours, theirs),
            }
        )
    return pd.DataFrame(rows)


def slower(ours: float, theirs: float, breakpoints: float, points: int) -> str:
    """Explain why a path takes longer than a grid: more breakpoints, or a higher cost of each.

    The path's time is that of the whole call: start and check are shared among its breakpoints.
    """
    each, point = 1e6 * ours / breakpoints, 1e6 * theirs / points
    dear = f"costs as much as {each / point:.1f} points"
    reason = f"a breakpoint, with its share of start and check, {dear}"
    if breakpoints > points:
        reason = f"{breakpoints - points:.0f} breakpoints more than points, and {reason}"
    if each <= point:
        reason = f"{breakpoints / points:.1f} breakpoints for each point, none dearer than one"
    return (
        f"slower: {reason} ({breakpoints:.0f} at {each:.0f} µs against {points} at {point:.0f} µs)"
    )


def _remark(study: Study, path: tuple, ours: float, theirs: float) -> str:
    """Explain why a path is slower than the grid, and which solvers were left out."""
    failed = _of_model(study, path, "time")
    failed = failed[failed["status"].isin(["inaccurate", "censored"])]
    remarks = [
        f"{OUTPUTS.names[row.method]} {'inaccurate' if row.status == 'inaccurate' else 'too slow'}"
        for row in failed.itertuples()
    ]
    if ours > theirs:
        points = study.settings[path.experiment].points
        remarks.insert(0, slower(ours, theirs, path.n_breakpoints, points))
    return "; ".join(remarks)


@OUTPUTS.frame
def chapter(study: Study, table: str) -> pd.DataFrame:
    """Return one of the dissertation's tables, with the functions and certificates of each row."""
    published, paths = OUTPUTS.published("survey_tables_2_1_and_2_2"), _paths(study)
    rows = []
    for row in published[published["table"].astype(str) == table].itertuples():
        models = {name: model for name, model in MODELS.items() if model.row == row.model}
        model_paths = paths[paths["model"].isin(list(models))]
        if models and not len(model_paths):
            continue
        certified = f"{int((model_paths['value'] == 1.0).sum())} of {len(model_paths)}"
        functions = dict.fromkeys(model.function for model in models.values())
        rows.append(
            {
                "model": row.model,
                "problem": row.problem,
                "hyper-parameter": row.hyper_parameter,
                "algorithm": row.algorithm,
                "source": row.reference,
                "function": ", ".join(functions) or "none",
                "path in": ", ".join(dict.fromkeys(model_paths["parameter"])),
                "certified": certified if models else "",
                "remark": row.remark if isinstance(row.remark, str) else "",
            }
        )
    return pd.DataFrame(rows if any(row["certified"] for row in rows) else [])


@OUTPUTS.figure
def all_paths(study: Study) -> Figure | None:
    """Draw the coefficients or duals of every model's path that move most, on its first data."""
    lines = study.curves[study.curves["curve"].str.startswith(LINE)]
    lines = lines.assign(model=hyper(lines, "model"), parameter=hyper(lines, "parameter"))
    models = [name for name in MODELS if (lines["model"] == name).any()]
    if not models:
        return None
    figure, axes = fig.new_figure(
        PANELS_PER_ROW, -(-len(models) // PANELS_PER_ROW), size=(1.9, 1.5)
    )
    for ax, name in zip(axes.ravel(), models, strict=False):
        curves = lines[lines["model"] == name]
        _draw(ax, curves[curves["dataset"] == curves["dataset"].iloc[0]])
        ax.set_title(MODELS[name].title, fontsize=7, loc="left")
    for ax in axes.ravel()[len(models) :]:
        ax.set_axis_off()
    return figure


def _draw(ax: object, curves: pd.DataFrame) -> None:
    parameter = curves["parameter"].iloc[0]
    if parameter in LOGARITHMIC:
        curves = curves[curves["x"] > 0]
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(numticks=4))
        ax.xaxis.set_minor_locator(NullLocator())
    else:
        ax.xaxis.set_major_locator(MaxNLocator(3))
    ax.yaxis.set_major_locator(MaxNLocator(3))
    for k, (_, line) in enumerate(curves.groupby("curve", sort=False)):
        ax.plot(line["x"], line["y"], color=fig.PALETTE[k % len(fig.PALETTE)], linewidth=0.9)
    ax.set_xlabel(parameter, fontsize=7, labelpad=1)
    ax.tick_params(labelsize=6)


@OUTPUTS.measure
def ratios(study: Study) -> Iterable[Case]:
    """Compare the time of every path with that of the fastest accurate grid."""
    table = speed(study)
    table = table[table["grid / path"].notna()] if len(table) else table
    if not len(table):
        return
    ratio, slower = table["grid / path"], table[table["grid / path"] < 1.0]
    named = [f"{row['model']} in {row['path in']}" for _, row in slower.iterrows()]
    yield Case(
        tuple(dict.fromkeys(study.only(metric="certificate")["dataset"])),
        {
            "ratio": ratio.to_numpy(),
            "median": ratio.median(),
            "least": ratio.min(),
            "most": ratio.max(),
            "n": len(ratio),
            "faster": len(ratio) - len(slower),
            "slower": ", ".join(named) or "none",
        },
    )


@OUTPUTS.highlights
def times(study: Study) -> list[Highlight]:
    """Return the ratios of the times of the fastest accurate grids and the paths."""
    highlights = []
    for case in ratios(study):
        values = case.values
        median, least, most = (significant(values[k], 2) for k in ("median", "least", "most"))
        what = (
            f"grid of the best other solver, in times of the path (median of {values['n']} models)"
        )
        ours = f"{median} ({least} to {most})"
        highlights.append(
            Highlight(what, study.named(case.data), "", ours, NOT_IN_PAPER, "table_speed")
        )
    return highlights
