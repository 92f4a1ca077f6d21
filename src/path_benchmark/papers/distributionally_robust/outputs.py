"""Distributionally robust models: figures, and the frames and measures that the YAML files name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ...reporting import figures as fig
from ...reporting.claims import Case
from ...reporting.outputs import Outputs
from ...reporting.pivots import with_hyper
from ...reporting.statistics import t_half
from ...reporting.study import Study, hyper, mean
from ...reporting.surface import Surface, Trace
from ...reporting.tables import RATIO, compared, comparison
from ...reporting.verdicts import (
    MISSING,
    NOT_COMPARED,
    NOT_IN_PAPER,
    on_mean,
    on_ratio,
    shifted,
)

DEVIATIONS = ("lad", "l1_lad", "l2_lad", "drlad")
MARGINS = ("l1_svm", "l2_svm", "drsvm", "dm_drsvm")
KERNELS = ("svm", "ksvm", "dm_svm", "dm_ksvm")
PUBLISHED_SPLITS = 10
PARTS = ("mean", "std")
TIMED = ("regression_times", "margin_times", "kernel_times", "linear_times")
SIZES = ("n_s", "n_lam2", "n_lam1", "rows", "n_lam", "points")
ALONG = "solution path along lam2"
SELECTED = ("regression", "classification", "noisy_margins", "kernels", "simulation", "moons")

OUTPUTS = Outputs(__file__)


# ---------------------------------------------------------------- frames


@OUTPUTS.frame
def selections(study: Study) -> pd.DataFrame:
    """Return cross-validation's losses chosen on the grid and exactly, a row for each model."""
    rows = study.only(metric="cv_loss")
    rows = rows[rows["experiment"].isin(SELECTED)]
    if not len(rows):
        return pd.DataFrame()
    rows = rows.assign(how=hyper(rows, "selection"))
    keys = ["experiment", "dataset", "method"]
    wide = rows.groupby([*keys, "how"], sort=False)["value"].mean().unstack().reset_index()
    return wide.assign(lower=(100.0 * lower_by(wide)).round(9) + 0.0)  # no rounding, no -0


def lower_by(wide: pd.DataFrame) -> pd.Series:
    """Return by what share the exact choice's losses are below the grid's; 0 where both are 0."""
    return (wide["grid"] - wide["exact"]) / wide["grid"].clip(lower=1e-300)


def _seconds(study: Study, experiment: str, dataset: str, method: str, grid: dict) -> tuple:
    """Return the median CPU seconds of a method on a grid, and the points they are of, 0: all."""
    rows = study.only(experiment=experiment, dataset=dataset, metric="time", method=method)
    rows = with_hyper(rows, grid)
    sampled = hyper(rows, "sampled").fillna(0).astype(int).max() if len(rows) else 0
    return float(rows["value"].median()) if len(rows) else np.nan, sampled


def _grid_rows(study: Study, dataset: str, paper: dict, grid: dict, spec: dict) -> list[dict]:
    """Return the rows of one grid: seconds, their ratio, and test scores of both choices.

    A solver that was timed at a sample has no seconds of the whole grid; the ratio is that of its
    mean to the path's seconds for each solve.
    """
    title, solver, names = study.name(dataset), spec["solver"], OUTPUTS.names
    printed = {"path": paper["path_s_mean"], solver: paper[f"{spec['theirs']}_s_mean"]}
    times = {m: _seconds(study, spec["times"], dataset, m, grid) for m in printed}
    shown = {method: (names[method], printed[method]) for method in printed}
    if spec["lines"]:  # the text's paths run along lam2
        shown["path"] = f"{names['path']} along s", np.nan
    rows = []
    for method, (value, sampled) in times.items():
        if np.isfinite(value):
            text, known = shown[method]
            ours = np.nan if sampled else value
            rows.append(compared(title, f"{text}, CPU s", known, ours, NOT_COMPARED))
    ratio = _ratio_row(title, solver, times, printed)
    along = _line_rows(study, title, dataset, printed, times[solver][0], grid, spec)
    if not spec["lines"]:
        rows.append(ratio)
    elif np.isfinite(ratio["ours"]):
        rows.append(ratio | {"paper": np.nan, "verdict": NOT_IN_PAPER})
    if spec["lines"] and not any(RATIO in row["quantity"] for row in along):
        along.append(_ratio_row(title, solver, {}, printed, ALONG))
    rows += along
    score = spec["score"]
    for method, column in (("path", "path"), ("piqp", spec["theirs"])):
        errors = study.only(
            experiment=spec["grids"], dataset=dataset, metric=spec["metric"], method=method
        )
        ours, std, n = mean(with_hyper(errors, grid))
        known, spread = (float(paper[f"{column}_{score}_{part}"]) for part in ("mean", "std"))
        error = 100.0 - known if score == "auc" else known
        verdict = on_mean(known, ours, spread, std, PUBLISHED_SPLITS, n, of=error)
        row = compared(title, f"test {score.upper()}, {names[method]}", known, ours, verdict)
        rows.append(row | {"splits": n, "paper's std": spread, "our std": std})
    return rows


def _ratio_row(title: str, solver: str, times: dict, printed: dict, path: str = "path") -> dict:
    """Return the ratio of a solver's seconds to the path's beside the printed one."""
    known, name = printed[solver] / printed["path"], OUTPUTS.names[solver]
    if solver not in times or not np.isfinite(times[solver][0] / times["path"][0]):
        return compared(title, f"{name} / {path}", known, np.nan, MISSING)
    ratio, part = times[solver][0] / times["path"][0], times[solver][1]
    text = f"{name} / {path}" + (f", from {part} solves" if part else "")
    return compared(title, text, known, ratio, on_ratio(known, ratio))


def _line_rows(
    study: Study, title: str, dataset: str, printed: dict, solver_s: float, grid: dict, spec: dict
) -> list[dict]:
    """Return seconds, and their ratio, of paths along the text's lines, where they were timed."""
    text = ALONG
    value, _ = _seconds(study, spec.get("lines", ""), dataset, "path", grid)
    if not np.isfinite(value):
        return []
    seconds, solver = printed["path"], spec["solver"]
    rows = [compared(title, f"{text}, CPU s", seconds, value, NOT_COMPARED)]
    if np.isfinite(solver_s):
        pair = printed[solver] / seconds, solver_s / value
        name = f"{OUTPUTS.names[solver]} / {text}"
        rows.append(compared(title, name, *pair, on_ratio(*pair)))
    return rows


@OUTPUTS.frame
def grids(study: Study, dataset: str, file: str, sizes: dict, **spec: str) -> pd.DataFrame:
    """Compare seconds and scores by size of grid; ``sizes``: ours -> (heading, their column)."""
    named = (spec["times"], spec["grids"])
    ran = any(dataset in study.ran(experiment) for experiment in named)
    if not ran and not study.planned.intersection(named):
        return pd.DataFrame()
    rows, table = [], OUTPUTS.published(file)
    if "dataset" in table:
        table = table[table["dataset"] == study.name(dataset)]
    for paper in table.to_dict("records"):
        grid = {ours: paper[column] for ours, (_, column) in sizes.items()}
        named = {heading: paper[column] for heading, column in sizes.values()}
        rows += [named | row for row in _grid_rows(study, dataset, paper, grid, spec)]
    # grids of the same rows are not independent
    units = [heading for heading in ("n",) if heading in dict(sizes.values())]
    frame, text = shifted(comparison(rows), ["data set", *units])
    frame.attrs["notes"] = [text] if text else []
    return frame


def _tried(
    study: Study, experiment: str, metric: str, keys: dict[str, str], printed: Callable
) -> pd.DataFrame:
    """Compare what came out under settings that were tried with the print, a row for each.

    ``keys``: heading -> hyper-parameter, or "method". ``printed``: data set and these -> mean,
    standard deviation.
    """
    chosen, rows = study.only(experiment=experiment, metric=metric), []
    columns = {h: chosen["method"] if k == "method" else hyper(chosen, k) for h, k in keys.items()}
    chosen = chosen.assign(**columns)
    for (dataset, *values), part in chosen.groupby(["dataset", *keys], sort=False):
        known, spread = printed(study.name(dataset), *values)
        ours, std, n = mean(part)
        error = 100.0 - known if metric == "label_auc" else known
        verdict = on_mean(known, ours, spread, std, PUBLISHED_SPLITS, n, of=error)
        text = {"label_auc": "AUC", "mse": "MSE"}[metric]
        row = compared(study.name(dataset), f"test {text}", known, ours, verdict)
        row = {**dict(zip(keys, values, strict=True)), **row, "splits": n, "our std": std}
        rows.append(row | {"paper's std": spread})
    return comparison(rows)


@OUTPUTS.frame
def written(study: Study, folds: int, files: dict[str, list[str]]) -> pd.DataFrame:
    """Compare milliseconds of a solve by CVXPY, written in two ways, with the print's largest grid.

    ``files``: published table -> data sets. The print's seconds are those of all points and folds.
    """
    rows = []
    for file, datasets in files.items():
        table = OUTPUTS.published(file)
        keys = [column for column in ("n_s", "n_lambda2", "n_lambda1") if column in table]
        table = table.assign(points=table[keys].prod(axis=1))
        for dataset in datasets:
            of_data = table[table["dataset"] == study.name(dataset)]
            largest = of_data.loc[of_data["points"].idxmax()]
            printed = 1e3 * largest["cvxpy_s_mean"] / largest["points"] / folds
            timed = study.only(experiment="written_times", dataset=dataset, metric="time")
            for method, part in timed.groupby("method", sort=False):
                sizes = [hyper(part, key) for key in SIZES if key in part["hyper"].iloc[0]]
                solves = folds * np.prod(sizes, axis=0).astype(float)
                ours = 1e3 * float((part["value"] / solves).median())
                text = f"{OUTPUTS.names[method]}, ms a solve"
                rows.append(compared(study.name(dataset), text, printed, ours, NOT_COMPARED))
    return comparison(rows)


def _row_of(table: pd.DataFrame, column: str, **where: object) -> tuple[float, float]:
    """Return mean and standard deviation of a row of a published table, nan where it has none."""
    for name, value in where.items():
        table = table[table[name] == value]
    return tuple(float(table[f"{column}_{p}"].iloc[0]) if len(table) else np.nan for p in PARTS)


@OUTPUTS.frame
def spacings(study: Study) -> pd.DataFrame:
    """Compare errors of Tables 3.1 and 3.2 with lam2 spaced otherwise."""
    table = OUTPUTS.published("drlad_tables_3_1_and_3_2")
    keys = {"spacing": "spacing", "# of s": "n_s", "# of lam2": "n_lam2"}
    return _tried(
        study,
        "lam2_spacings",
        "mse",
        keys,
        lambda d, _, s, k: _row_of(table, "path_mse", dataset=d, n_s=s, n_lambda2=k),
    )


@OUTPUTS.frame
def noise_levels(study: Study) -> pd.DataFrame:
    """Compare AUC of Table 5.1 at other levels of noise, on the largest grid."""
    table = OUTPUTS.published("dm_ksvm_table_5_1")
    keys = {"noise": "noises", "n": "rows"}
    return _tried(
        study,
        "moons_noises",
        "label_auc",
        keys,
        lambda _, __, n: _row_of(table, "path_auc", n=n, n_lambda=20),
    )


@OUTPUTS.frame
def shapes(study: Study) -> pd.DataFrame:
    """Compare AUC of Table 5.3 with other kernels; of the grid's choice."""
    rows = study.results
    rows = rows[(rows["experiment"] == "kernel_shapes") & (hyper(rows, "selection") == "grid")]
    table, names = OUTPUTS.published("dm_ksvm_table_5_3"), OUTPUTS.names
    return _tried(
        replace(study, results=rows),
        "kernel_shapes",
        "label_auc",
        {"kernel of the machine": "shapes", "model": "method"},
        lambda d, _, m: _row_of(table, "auc", dataset=d, method=names[m]),
    )


@OUTPUTS.frame
def times_note(study: Study, experiments: Sequence[str] = (), times: str = "", **_: object) -> list:
    """Say what was timed at a sample of points, and what failed."""
    texts = []
    for experiment in experiments or [times]:
        rows = study.only(experiment=experiment, metric="time")
        rows = rows.assign(sampled=hyper(rows, "sampled"))
        texts += [
            f"{OUTPUTS.names[m]} was measured at {int(n)} random points and folds of each data "
            "set: no seconds of all are given, and ratios compare the mean of a solve."
            for (m, n), _ in rows.groupby(["method", "sampled"], sort=False)
            if n
        ]
        failed = study.only(experiment=experiment, metric="failed_calls")
        failed = failed.groupby("method", sort=False)["value"].max()
        texts += [
            f"{OUTPUTS.names[m]}: up to {int(n)} of its calls ended without a solution."
            for m, n in failed.items()
            if n
        ]
    return list(dict.fromkeys(texts))


def _speeds(study: Study, experiments: Sequence[str] = TIMED) -> pd.DataFrame:
    """Return the seconds of each method on each grid that was timed."""
    chosen, rows = study.only(metric="time"), []
    chosen = chosen[chosen["experiment"].isin(experiments)]
    for (experiment, dataset), group in chosen.groupby(["experiment", "dataset"], sort=False):
        keys = [k for k in SIZES if k in group["hyper"].iloc[0]]
        group = group.assign(**{k: hyper(group, k) for k in keys}, sampled=hyper(group, "sampled"))
        for values, part in group.groupby(keys, sort=False):
            sizes = dict(zip(keys, values, strict=True))
            seconds = part.groupby("method", sort=False)["value"].median()
            sampled = part.groupby("method", sort=False)["sampled"].first()
            shared = {"experiment": experiment, "dataset": dataset}
            shared |= {"grid": ", ".join(f"{k} {v}" for k, v in sizes.items())}
            shared |= {"size": int(np.prod([v for k, v in sizes.items() if k != "rows"]))}
            rows += [
                {
                    **shared,
                    "method": method,
                    "seconds": value,
                    "ratio": value / seconds.get("path", np.nan),
                    "sampled": sampled[method] or 0,
                }
                for method, value in seconds.items()
            ]
    return pd.DataFrame(rows)


@OUTPUTS.frame
def table_speed(study: Study, experiments: Sequence[str] = TIMED) -> pd.DataFrame:
    """Compare all solvers with the path on the largest grids."""
    measured = _speeds(study, experiments)
    if not len(measured):
        return measured
    largest = measured.groupby(["experiment", "dataset"])["size"].transform("max")
    checks = study.only(metric="check_share").groupby(["experiment", "dataset"])["value"].median()
    return pd.DataFrame(
        [
            {
                "data set": study.name(row.dataset),
                "grid": row.grid,
                "method": OUTPUTS.names[row.method],
                "CPU s": np.nan if row.sampled else row.seconds,
                "CPU s, each solve": row.seconds / row.size / study.common.folds,
                "times the path's": row.ratio,
                "solves measured": row.sampled or "all",
                "check, %": 100 * checks.get((row.experiment, row.dataset), np.nan)
                if row.method == "path"
                else None,
            }
            for row in measured[measured["size"] == largest].itertuples()
        ]
    )


# ---------------------------------------------------------------- figures


GROUPS = {"L": (fig.BLUE, "o"), "E": (fig.RED, "s"), "EL": (fig.RED, "s"), "M": (fig.GREEN, "^")}
GROUPS |= {"ER": (fig.PURPLE, "P"), "R": (fig.ORANGE, "D")}
GROUP_NAMES = {"EL": "$E_L$", "ER": "$E_R$"}


def _groups(study: Study, method: str, kind: str) -> dict[str, pd.DataFrame]:
    """Return the samples of each group that is not empty, in their order along the loss."""
    rows = study.curves[study.curves["experiment"] == "partitions"]
    rows = rows[rows["method"] == method]
    groups = {name: rows[rows["curve"] == f"{kind} {name}"] for name in GROUPS}
    return {name: part for name, part in groups.items() if len(part)}


def _draw_group(ax: object, name: str, x: pd.Series, y: pd.Series, **look: object) -> None:
    colour, marker = GROUPS[name]
    label = f"{GROUP_NAMES.get(name, name)} ({len(x)})"
    ax.plot(x, y, marker, color=colour, ms=5, mfc="none", label=label, **look)


@OUTPUTS.figure
def figure_3_1(study: Study) -> Figure | None:
    """Draw residuals of the DrLAD on its loss, by group."""
    groups = _groups(study, "s", "group")
    if not groups:
        return None
    figure, axes = fig.new_figure(size=(5.0, 3.2))
    ax = axes[0][0]
    far = max(part["y"].max() for part in groups.values())
    ax.plot([-far, 0.0, far], [far, 0.0, far], color=fig.GREY, lw=1.0)
    for name, part in groups.items():
        _draw_group(ax, name, part["x"], part["y"])
    ax.set(xlabel="residual y − f(x)", ylabel="loss")
    ax.legend()
    return figure


def _plane(study: Study) -> dict[str, float]:
    """Return weights, bias and outer margin of the DM-DrSVM that is drawn."""
    rows = study.only(experiment="partitions", method="lam1")
    rows = rows[rows["metric"].str.startswith("margin_")]
    return dict(zip(rows["metric"].str.removeprefix("margin_"), rows["value"], strict=True))


@OUTPUTS.figure
def figure_4_1(study: Study) -> Figure | None:
    """Draw the plane of a DM-DrSVM and its two pairs of margins."""
    groups = _groups(study, "lam1", "points")
    if not groups:
        return None
    plane, points = _plane(study), pd.concat(groups.values())
    figure, axes = fig.new_figure(size=(5.4, 4.4))
    ax = axes[0][0]
    for sign, marker, colour in ((1.0, "s", fig.RED), (-1.0, "o", fig.BLUE)):
        part = points[points["weight"] == sign]
        look = {"color": colour, "ms": 4, "mfc": "none", "label": f"y = {sign:+.0f}"}
        ax.plot(part["x"], part["y"], marker, **look)
    lines = {"f = 0": (0.0, "-"), "inner margins, y f = 1": (1.0, "--")}
    lines["outer margins, y f = κρ − 1"] = (plane["outer"], ":")
    for name, (level, dashes) in lines.items():
        for k, value in enumerate({level, -level}):
            # w0 x + w1 y + b = value, from its foot nearest to the origin
            w = np.array([plane["w0"], plane["w1"]])
            foot = (value - plane["b"]) * w / (w @ w)
            look = {"color": fig.INK, "ls": dashes, "lw": 1.2, "label": None if k else name}
            ax.axline(foot, foot + np.array([-w[1], w[0]]), **look)
    low, high = points[["x", "y"]].min() - 0.3, points[["x", "y"]].max() + 0.3
    ax.set(xlim=(low["x"], high["x"]), ylim=(low["y"], high["y"]))
    ax.set(xlabel="first feature", ylabel="second feature")
    ax.grid(False)
    fig.legend_below(figure, axes)
    return figure


@OUTPUTS.figure
def figure_4_2(study: Study) -> Figure | None:
    """Draw margins of a DM-DrSVM on its loss, by group."""
    groups = _groups(study, "lam1", "group")
    if not groups:
        return None
    outer, margins = _plane(study)["outer"], pd.concat(groups.values())["x"]
    figure, axes = fig.new_figure(size=(5.0, 3.2))
    ax = axes[0][0]
    ends = min(margins.min(), 0.0) - 0.3, max(margins.max(), outer) + 0.3
    ax.plot(
        [ends[0], 1.0, outer, ends[1]], [1.0 - ends[0], 0.0, 0.0, ends[1] - outer], color=fig.GREY
    )
    for name, part in groups.items():
        _draw_group(ax, name, part["x"], part["y"])
    ax.set(xlabel="margin y f(x)", ylabel="loss")
    ax.legend()
    return figure


@OUTPUTS.figure
def figure_3_2(study: Study) -> Figure | None:
    """Coefficients along both parameters."""
    if not study.ran("coefficients"):
        return None
    rows = study.curves[study.curves["experiment"] == "coefficients"]
    rows = rows[rows["curve"].str.startswith("coefficient")]
    settings = study.settings["coefficients"]
    titles = {
        "s": f"lam2 = {settings.lam2:g}",
        "lam2": f"s = {settings.s:g} of the largest",
    }
    figure, axes = fig.new_figure(2)
    for ax, (method, title) in zip(axes[0], titles.items(), strict=True):
        lines = rows[rows["method"] == method].groupby("curve", sort=False)
        for k, (_, line) in enumerate(lines):
            look = {"color": fig.PALETTE[k % 7], "linestyle": fig.DASHES[k // 7 % 4]}
            ax.plot(line["x"], line["y"], **look)
        ax.set_xlabel(method)
        ax.set_title(title)
        ax.set_ylabel("coefficient")
    axes[0][1].set_xscale("log")
    return figure


@OUTPUTS.figure
def figure_3_3(study: Study) -> Figure | None:
    """Grids of four sizes."""
    if "regression_grids" not in study.settings:
        return None
    figure, axes = fig.new_figure(2, 2, size=(3.6, 2.8))
    for ax, (n_s, n_lam2) in zip(axes.flat, ((5, 5), (10, 5), (5, 10), (10, 10)), strict=True):
        s, lam2 = np.arange(1, n_s + 1) / n_s, 10.0 * np.arange(1, n_lam2 + 1) / n_lam2
        ax.hlines(s, 0.0, 10.0, color=fig.GREEN, linewidth=1.0, label="paths in lam2")
        ax.vlines(0, 0, 1, color=fig.ORANGE, linewidth=1.6, ls="--", label="path in s, lam2 = 0")
        points = (m.ravel() for m in np.meshgrid(lam2, s))
        ax.plot(*points, "o", color=fig.BLUE, ms=3, label="a solver's points")
        ax.set_title(f"#s = {n_s}, #lam2 = {n_lam2}", fontsize=9)
        ax.set_xlabel("lam2")
        ax.set_ylabel("s / largest s")
    fig.legend_below(figure, axes)
    return figure


@OUTPUTS.figure
def figure_3_3_surface(study: Study) -> Surface | None:
    """Show the error over s and lam2, to be turned by hand."""
    if not study.ran("coefficients"):
        return None
    chosen = study.curves[study.curves["experiment"] == "coefficients"]

    def parts(curve: str) -> list[tuple]:
        lines = chosen[chosen["curve"] == curve]
        lines = lines.assign(lam2=hyper(lines, "lam2").astype(float))
        return [
            (line["x"].tolist(), [np.log10(lam2)] * len(line), line["y"].tolist())
            for lam2, line in lines.groupby("lam2")
        ]

    across = chosen[chosen["curve"] == "surface"]
    across = across.assign(lam2=hyper(across, "lam2").astype(float))
    rows = [part for k, part in enumerate(_along(across)) if k % 10 == 0]
    return Surface(
        ("s", "log10 lam2", "mean squared error"),
        [
            Trace("paths in s", parts("surface")),
            Trace("equal s", rows),
            Trace("a grid's points", parts("grid"), points=True),
            Trace("least on the grid", parts("least grid"), points=True),
            Trace("least along the paths", parts("least exact"), points=True),
        ],
    )


def _along(surface: pd.DataFrame) -> list[tuple]:
    """Return the lines across the paths: one for each place of s."""
    segments = []
    for s, line in surface.groupby("x"):
        line = line.sort_values("lam2")
        segments.append(([s] * len(line), np.log10(line["lam2"]).tolist(), line["y"].tolist()))
    return segments


def _draw_means(
    ax: object, study: Study, spec: tuple, methods: Sequence[str], **chosen: object
) -> None:
    """Draw means and standard errors of (experiment, metric) against a hyper-parameter."""
    for k, method in enumerate(methods):
        means = _means(study, *spec, method, **chosen)
        if len(means):
            look = {"color": fig.PALETTE[k], "marker": fig.MARKERS[k], "ms": 4, "capsize": 2}
            joined = fig.DASHES[k % 4] if len(means) > 2 else ""
            look |= {"ls": joined, "label": OUTPUTS.names[method]}
            ax.errorbar(means.index, means["mean"], means["error"], **look)


def _means(
    study: Study, experiment: str, metric: str, key: str, method: str, **chosen: object
) -> pd.DataFrame:
    """Return mean and standard error over splits at each value of a hyper-parameter."""
    rows = study.only(experiment=experiment, metric=metric, method=method)
    rows = with_hyper(rows, {"selection": "grid", **chosen})
    groups = rows.assign(key=hyper(rows, key)).groupby("key")["value"]
    return pd.DataFrame({"mean": groups.mean(), "error": groups.sem().fillna(0.0)})


@OUTPUTS.figure
def figure_3_4(study: Study) -> Figure | None:
    """MSE, RR, RTE and PVE."""
    if not study.ran("simulation"):
        return None
    panels = {
        "mse": "mean squared error",
        "rr": "relative risk",
        "rte": "relative test error",
        "pve": "proportion of variance explained",
    }
    figure, axes = fig.new_figure(2, 2)
    for ax, (metric, name) in zip(axes.flat, panels.items(), strict=True):
        _draw_means(ax, study, ("simulation", metric, "correlations"), DEVIATIONS)
        ax.set(xlabel="correlation", ylabel=name)
    fig.legend_below(figure, axes)
    return figure


@OUTPUTS.figure
def figure_4_3(study: Study) -> Figure | None:
    """AUC of linear machines."""
    if not study.ran("noisy_margins"):
        return None
    dims = study.settings["noisy_margins"].dims
    figure, axes = fig.new_figure(len(dims))
    snrs = study.settings["noisy_margins"].snrs
    for ax, d in zip(axes[0], dims, strict=True):
        _draw_means(ax, study, ("noisy_margins", "label_auc", "snrs"), MARGINS, d=d)
        ax.set_xscale("log", base=2)
        ax.set_xticks(snrs, [f"{v:g}" for v in snrs])
        ax.set(title=f"{d} features", xlabel="signal-to-noise ratio", ylabel="AUC, %")
    fig.legend_below(figure, axes)
    return figure


@OUTPUTS.figure
def figure_5_1(study: Study) -> Figure | None:
    """Draw the points of the first repetition."""
    rows = study.curve("points", experiment="moons", split=0)
    if not len(rows):
        return None
    rows = rows.assign(noise=hyper(rows, "noises").astype(float))
    noises = sorted(rows["noise"].unique())
    figure, axes = fig.new_figure(len(noises), size=(2.4, 2.4))
    for ax, noise in zip(axes[0], noises, strict=True):
        points = rows[rows["noise"] == noise]
        for value, colour, marker in ((0.0, fig.BLUE, "o"), (1.0, fig.ORANGE, "s")):
            part = points[points["weight"] == value]
            style = {"color": colour, "ms": 2.5, "linestyle": "none"}
            ax.plot(part["x"], part["y"], marker, label="+1" if value else "-1", **style)
        ax.set_title(f"noise {noise:g}")
        ax.set(xlabel="first feature", ylabel="second feature")
    fig.legend_below(figure, axes)
    return figure


@OUTPUTS.figure
def figure_5_2(study: Study) -> Figure | None:
    """AUC of four machines."""
    if not study.ran("moons"):
        return None
    figure, axes = fig.new_figure()
    _draw_means(axes[0][0], study, ("moons", "label_auc", "noises"), KERNELS)
    axes[0][0].set(xlabel="standard deviation of noise", ylabel="AUC, %")
    fig.legend_below(figure, axes)
    return figure


# ---------------------------------------------------------------- measures


def _doublings(
    study: Study, experiments: Sequence[str], methods: Sequence[str], column: int
) -> pd.DataFrame:
    """Return by what factor seconds grow when one size of a grid doubles: means over splits.

    ``error`` is half their 95 % interval, 0 of one split.
    """
    rows = study.only(metric="time")
    rows = rows[rows["experiment"].isin(experiments) & rows["method"].isin(methods)]
    rows = rows[hyper(rows, "sampled").fillna(0).astype(int) == 0]
    growth = []
    for (_, dataset, _), group in rows.groupby(["experiment", "dataset", "method"], sort=False):
        sizes = [hyper(group, key).astype(int) for key in SIZES if key in group["hyper"].iloc[0]]
        seconds = group.groupby([*sizes, "split"])["value"].median().unstack()
        for keys, value in seconds.iterrows():
            k = column % len(sizes)
            double = (*keys[:k], 2 * keys[k], *keys[k + 1 :])
            if double in seconds.index:
                ratio = (seconds.loc[double] / value).dropna()
                half = t_half(ratio.std(), len(ratio)) if len(ratio) > 1 else 0.0
                growth.append({"dataset": dataset, "ratio": ratio.mean(), "error": half})
    return pd.DataFrame(growth, columns=["dataset", "ratio", "error"])


@OUTPUTS.measure
def doublings(
    study: Study, column: int, methods: Sequence[str], experiment: str = ""
) -> Iterable[Case]:
    """Give what doubling a size of the grid costs, of what was timed at all points."""
    timed = [experiment] if experiment else [name for name in TIMED if name != "linear_times"]
    growth = _doublings(study, timed, methods, column)
    if len(growth):
        ratios = growth["ratio"].to_numpy()
        numbers = {"ratios": ratios, "ratios_error": growth["error"].to_numpy()}
        numbers |= {"low": ratios.min(), "high": ratios.max(), "error": growth["error"].max()}
        yield Case(tuple(dict.fromkeys(growth["dataset"])), numbers)


@OUTPUTS.measure
def speeds(study: Study, experiment: str, solver: str, largest: bool = False) -> Iterable[Case]:
    """Give a solver's seconds over the path's on every grid, or for each data set the largest."""
    measured = _speeds(study, [experiment])
    if not len(measured):
        return
    rows = measured[measured["method"] == solver]
    rows = rows[rows["ratio"].notna()]  # where no path was timed there is none
    for _, group in rows.groupby("dataset", sort=False):
        if largest:
            group = group[group["size"] == group["size"].max()].tail(1)
        sampled = int(group["sampled"].max())
        numbers = {
            "solver": OUTPUTS.names[solver],
            "ratios": group["ratio"].to_numpy(),
            "low": group["ratio"].min(),
            "high": group["ratio"].max(),
            "grid": group["grid"].iloc[-1],
            "from_points": f"{sampled} points" if sampled else "all points",
        }
        yield Case((group["dataset"].iloc[0],), numbers)


@OUTPUTS.measure
def choices(study: Study) -> Iterable[Case]:
    """Compare the choices of path and solver: how much higher the losses at the solver's are."""
    same = study.only(metric="same_choice")
    if len(same):
        lost = study.only(metric="loss_of_choice")["value"]
        numbers = {"same": int(same["value"].sum()), "n": len(same), "lost": lost.max()}
        numbers["apart"] = study.only(metric="loss_difference")["value"].max()
        yield Case(tuple(dict.fromkeys(same["dataset"])), numbers)


@OUTPUTS.frame
def with_rho(study: Study) -> pd.DataFrame:
    """Return what became of problem (5.4) at each kappa and lam."""
    rows = study.only(experiment="with_rho")
    rows = rows.assign(kappa=hyper(rows, "kappas"), lam=hyper(rows, "lam"))
    keys = ["dataset", "split", "kappa", "lam"]
    wide = rows.pivot_table(index=keys, columns="metric", values="value").reset_index()
    for absent in {"lam_of_constant", "decisions_apart", "rho"} - set(wide):
        wide[absent] = np.nan
    return wide.assign(outer=wide["kappa"].astype(float) * wide["rho"])


@OUTPUTS.measure
def moved_margin(study: Study) -> Iterable[Case]:
    """Give by what factor kappa rho differs over lam, for each kappa; where h is not 0."""
    solutions = with_rho(study)
    solutions = solutions[solutions["outer"] > 1e-6]
    for (dataset, kappa), group in solutions.groupby(["dataset", "kappa"], sort=False):
        by_lam = group.groupby("lam")["outer"].mean()
        listed = ", ".join(f"{lam:g}: {value:.2f}" for lam, value in by_lam.items())
        yield Case(
            (dataset,), {"factor": by_lam.max() / by_lam.min(), "told": listed}, f"kappa {kappa:g}"
        )


@OUTPUTS.measure
def exact_gain(study: Study) -> Iterable[Case]:
    """Compare losses of the exact minimiser along the lines with the grid's."""
    loss = study.only(metric="cv_loss")
    loss = loss.assign(how=hyper(loss, "selection"))
    loss = loss[loss["how"].notna()]
    if not len(loss):
        return
    rest = [str({k: v for k, v in h.items() if k != "selection"}) for h in loss["hyper"]]
    keys = ["experiment", "dataset", "split", "method", "rest"]
    wide = loss.assign(rest=rest).pivot_table(index=keys, columns="how", values="value")
    gain = lower_by(wide)
    numbers = {
        "worse": int((wide["exact"] > wide["grid"] * (1 + 1e-5) + 1e-12).sum()),
        "lower": int((gain > 1e-6).sum()),
        "equal": int((gain.abs() <= 1e-6).sum()),
        "n": len(wide),
        "median": gain.median(),
        "most": gain.max(),
    }
    yield Case(tuple(dict.fromkeys(loss["dataset"])), numbers)


@OUTPUTS.measure
def slopes(
    study: Study, experiment: str, metric: str, key: str, methods: Sequence[str]
) -> Iterable[Case]:
    """Give of each method and split the slope of a metric in a hyper-parameter, beside 0."""
    rows = study.only(experiment=experiment, metric=metric)
    rows = with_hyper(rows, {"selection": "grid"})
    rows = rows.assign(key=hyper(rows, key).astype(float))
    levels = []
    for method in methods if rows["key"].nunique() > 1 else ():
        wide = rows[rows["method"] == method].pivot_table(
            index="split", columns="key", values="value"
        )
        wide = wide.dropna()
        if len(wide):
            fitted = np.polyfit(wide.columns, wide.to_numpy().T, 1)[0]
            scale = np.abs(wide.to_numpy()).max()
            fitted = pd.Series(np.round(fitted / scale, 12) * scale, wide.index)  # not its rounding
            levels.append((OUTPUTS.names[method], fitted, {"no slope": 0.0 * fitted}))
    if levels:
        yield Case(tuple(study.ran(experiment)), {"levels": levels})


@OUTPUTS.measure
def flat(study: Study, experiment: str, metric: str, key: str, method: str) -> Iterable[Case]:
    """Give the range of a method's means over a hyper-parameter."""
    means = _means(study, experiment, metric, key, method)["mean"]
    if len(means):
        numbers = {"low": means.min(), "high": means.max(), "ratio": means.max() / means.min()}
        yield Case(tuple(study.ran(experiment)), numbers)
