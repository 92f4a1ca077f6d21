"""Survey: the figure, and the frames and measures that the YAML files name."""

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
PANELS = 5  # in a row of the figure


def _paths(study: Study) -> pd.DataFrame:
    """Return the certificates, with model and parameter, in the order of the models."""
    rows = study.only(metric="certificate")
    rows = rows.assign(model=hyper(rows, "model"), parameter=hyper(rows, "parameter"))
    order = rows["model"].map(list(MODELS).index)
    return rows.iloc[np.argsort(order.to_numpy(), kind="stable")]


def _of_model(study: Study, path: tuple, metric: str) -> pd.DataFrame:
    rows = study.results
    rows = rows[(rows["metric"] == metric) & (rows["dataset"] == path.dataset)]
    return rows[hyper(rows, "model") == path.model]


def _best(times: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the solver that took the least time, of those that were accurate."""
    median = times.groupby("method")["value"].median()
    return times[times["method"] == median.idxmin()] if len(median) else times


@OUTPUTS.frame
def speed(study: Study) -> pd.DataFrame:
    """Return a row for each model and data set: its path, and the best other solver's grid."""
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
    """Say why a path takes longer than a grid: it has more places, or each of them costs more.

    Seconds of the path are of the whole call: start and check are shared among its breakpoints.
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
    """Say why a path is slower than the grid, and which solvers were not in the running."""
    out = _of_model(study, path, "time")
    out = out[out["status"].isin(["inaccurate", "censored"])]
    said = [
        f"{OUTPUTS.names[row.method]} {'inaccurate' if row.status == 'inaccurate' else 'too slow'}"
        for row in out.itertuples()
    ]
    if ours > theirs:
        points = study.settings[path.experiment].points
        said.insert(0, slower(ours, theirs, path.n_breakpoints, points))
    return "; ".join(said)


@OUTPUTS.frame
def chapter(study: Study, table: str) -> pd.DataFrame:
    """Return one of the dissertation's tables, and what there is of each row."""
    published, paths = OUTPUTS.published("survey_tables_2_1_and_2_2"), _paths(study)
    rows = []
    for row in published[published["table"].astype(str) == table].itertuples():
        models = {name: model for name, model in MODELS.items() if model.row == row.model}
        part = paths[paths["model"].isin(list(models))]
        if models and not len(part):
            continue
        held = f"{int((part['value'] == 1.0).sum())} of {len(part)}"
        functions = dict.fromkeys(model.function for model in models.values())
        rows.append(
            {
                "model": row.model,
                "problem": row.problem,
                "hyper-parameter": row.hyper_parameter,
                "algorithm": row.algorithm,
                "source": row.reference,
                "function": ", ".join(functions) or "none",
                "path in": ", ".join(dict.fromkeys(part["parameter"])),
                "certified": held if models else "",
                "remark": row.remark if isinstance(row.remark, str) else "",
            }
        )
    return pd.DataFrame(rows if any(row["certified"] for row in rows) else [])


@OUTPUTS.figure
def all_paths(study: Study) -> Figure | None:
    """Draw the lines that move most of every model's path, on the first data set that it ran on."""
    lines = study.curves[study.curves["curve"].str.startswith(LINE)]
    lines = lines.assign(model=hyper(lines, "model"), parameter=hyper(lines, "parameter"))
    models = [name for name in MODELS if (lines["model"] == name).any()]
    if not models:
        return None
    figure, axes = fig.new_figure(PANELS, -(-len(models) // PANELS), size=(1.9, 1.5))
    for ax, name in zip(axes.ravel(), models, strict=False):
        rows = lines[lines["model"] == name]
        _draw(ax, rows[rows["dataset"] == rows["dataset"].iloc[0]])
        ax.set_title(MODELS[name].title, fontsize=7, loc="left")
    for ax in axes.ravel()[len(models) :]:
        ax.set_axis_off()
    return figure


def _draw(ax: object, rows: pd.DataFrame) -> None:
    parameter = rows["parameter"].iloc[0]
    if parameter in LOGARITHMIC:
        rows = rows[rows["x"] > 0]
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(numticks=4))
        ax.xaxis.set_minor_locator(NullLocator())
    else:
        ax.xaxis.set_major_locator(MaxNLocator(3))
    ax.yaxis.set_major_locator(MaxNLocator(3))
    for k, (_, line) in enumerate(rows.groupby("curve", sort=False)):
        ax.plot(line["x"], line["y"], color=fig.PALETTE[k % len(fig.PALETTE)], linewidth=0.9)
    ax.set_xlabel(parameter, fontsize=7, labelpad=1)
    ax.tick_params(labelsize=6)


@OUTPUTS.measure
def ratios(study: Study) -> Iterable[Case]:
    """Compare seconds of every path with those of the best other solver's grid."""
    found = speed(study)
    found = found[found["grid / path"].notna()] if len(found) else found
    if not len(found):
        return
    ratio, slower = found["grid / path"], found[found["grid / path"] < 1.0]
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
    """How many times longer the best other solver's grid takes than a path."""
    made = []
    for case in ratios(study):
        found = case.values
        median, least, most = (significant(found[k], 2) for k in ("median", "least", "most"))
        what = (
            f"grid of the best other solver, in times of the path (median of {found['n']} models)"
        )
        ours = f"{median} ({least} to {most})"
        made.append(Highlight(what, study.named(case.data), "", ours, NOT_IN_PAPER, "table_speed"))
    return made
