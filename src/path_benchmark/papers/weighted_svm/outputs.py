"""Weighted SVM paper: its figures, and the frames and measures that its YAML files name.

A *run* is one method's sequence of updates on one data set, split and cost C_0; its time is the
mean over its repeats. A run that was stopped at its time limit counts with the time until then,
which is a lower bound; so are ratios to the path made of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ...reporting import figures as fig
from ...reporting.claims import Case, independent
from ...reporting.explorer import Explorer, explorer_of
from ...reporting.formats import NOTHING, power, significant
from ...reporting.outputs import Highlight, Outputs
from ...reporting.statistics import LEAST_SPLITS, t_half, t_quantile
from ...reporting.study import Study, hyper
from ...reporting.verdicts import on_sentence
from .experiments import series_weights

# How a solve of SMO starts from the one before.
SEEDINGS = {"clip": ", clipped start", "follow": ", following start"}
# The timing experiments: what each is about, its table, and the SMO methods that the paper compares
# the path with.
TIMED = {
    "online": ("time series", "table_3_by_cost", ["smo"]),
    "shift": ("covariate shift", "table_4_by_cost", ["smo_breakpoints", "smo_grid"]),
    "regression": ("heteroscedastic regression", "table_6_by_cost", ["smo"]),
}
# What this project compares beside: the paper gave no kernel matrix to a time series.
OURS = {"online": ["smo_given"]}
# The path that a method is compared with, if it isn't "path".
BESIDE = {"path_given": "path_given", "smo_given": "path_given"}
# An iteration of SMO adds two columns of the kernel matrix to its gradient.
OF_AN_ITERATION = 2
# SMO as the paper ran it.
PAPERS_SMO = (1e-3, "clip")
RUN = ["dataset", "split", "C0"]
LINE = ["method", "tolerance", "seeding"]
# The paper's picture of figure 5 shows at most so many tasks here.
PANELS = 3
# Points of the grid that is drawn beside the exact steps.
GRID = 11
# Instances of the series that figure 2 shows.
SCHEMATIC = 20
# A growth of the mean time by less than this share is none.
NO_GROWTH = 0.1
# Of "one or two orders of magnitude".
AN_ORDER = 10.0
# Of fewer runs quartiles say nothing: each run is drawn.
LEAST_FOR_QUARTILES = 4

# A fitted exponent that is known no better than this decides nothing.
LARGEST_HALF, ROUNDING = 0.5, 1e-9

OUTPUTS = Outputs(__file__)


# ---------------------------------------------------------------- runs


def label(method: str, tolerance: float | None = None, seeding: str | None = None) -> str:
    """Name of a method as people write it."""
    text = OUTPUTS.names.get(method, method)
    if tolerance is None or pd.isna(tolerance):
        return text
    return f"{text} (tolerance {power(tolerance)}{SEEDINGS.get(seeding, '')})"


def runs(study: Study, experiment: str) -> pd.DataFrame:
    """One row for each run: mean CPU seconds over its repeats, how it ended, what it reached.

    ``times_path`` is its time over the path's in the same run, nan where that path isn't
    certified, and ``columns`` the kernel columns that it adds up, a count without a machine;
    ``censored`` tells that these are lower bounds.
    """
    rows = study.only(experiment=experiment, metric="time").copy()
    for key in ("C0", "tolerance", "seeding", "solves", "solved", "iterations"):
        rows[key] = hyper(rows, key)
    for key in ("C0", "tolerance"):
        rows[key] = rows[key].astype(float)
    rows["censored"] = rows["status"] == "censored"
    rows["certified"] = ~rows["status"].isin(("certificate failed", "certificate undecided"))
    groups = rows.groupby([*RUN, *LINE], dropna=False, sort=False)
    table = groups.agg(
        cpu_s=("cpu_s", "mean"),
        repeats=("cpu_s", "size"),
        censored=("censored", "any"),
        certified=("certified", "all"),
        kkt=("kkt", "max"),
        gap=("gap", "max"),
        n_breakpoints=("n_breakpoints", "max"),
        solves=("solves", "first"),
        solved=("solved", "min"),
        iterations=("iterations", "mean"),
        message=("message", "first"),
    ).reset_index()
    table = _with_columns(study, experiment, table)
    path = table[table["method"].isin(["path", "path_given"]) & table["certified"]]
    path = path[[*RUN, "method", "cpu_s", "columns"]]
    named = {"cpu_s": "path_s", "method": "beside", "columns": "path_columns"}
    table["beside"] = table["method"].map(BESIDE).fillna("path")
    table = table.merge(path.rename(columns=named), on=[*RUN, "beside"], how="left")
    table["times_path"] = table["cpu_s"] / table["path_s"]
    return table


def _with_columns(study: Study, experiment: str, table: pd.DataFrame) -> pd.DataFrame:
    """Add the kernel columns that each run adds up: the path's as counted, SMO's by iterations."""
    counted = study.only(experiment=experiment, metric="columns")
    counted = counted.assign(C0=hyper(counted, "C0").astype(float))
    counted = counted[[*RUN, "method", "value"]].rename(columns={"value": "columns"})
    table = table.merge(counted, on=[*RUN, "method"], how="left")
    iterations = table["iterations"].astype(float)
    return table.assign(columns=table["columns"].fillna(OF_AN_ITERATION * iterations))


def lines(table: pd.DataFrame) -> list[tuple]:
    """List the methods in the order in which they were run."""
    # Not by a dict: nan differs from nan.
    return list(table[LINE].drop_duplicates().itertuples(index=False, name=None))


def of_line(table: pd.DataFrame, line: tuple) -> pd.DataFrame:
    """Rows of one method; a tolerance or seeding that a method hasn't is nan in both."""
    keep = np.ones(len(table), bool)
    for column, value in zip(LINE, line, strict=True):
        missing = value is None or pd.isna(value)
        keep &= (table[column].isna() if missing else table[column] == value).to_numpy()
    return table[keep]


def by_cost(line_rows: pd.DataFrame) -> pd.DataFrame:
    """Mean, spread and number of the runs of one method for each C_0."""
    groups = line_rows.groupby("C0", sort=True)
    table = groups["cpu_s"].agg(["mean", "std", "min", "max", "count"])
    table["lower"], table["upper"] = groups["cpu_s"].quantile(0.25), groups["cpu_s"].quantile(0.75)
    table["censored"] = groups["censored"].sum()
    both = line_rows.dropna(subset=["path_s"]).groupby("C0", sort=True)
    table["times_path"] = both["cpu_s"].mean() / both["path_s"].mean()
    table["times_columns"] = both["columns"].mean() / both["path_columns"].mean()
    table["uncertified"] = groups["path_s"].apply(lambda path_s: int(path_s.isna().sum()))
    table["least_times_path"] = groups["times_path"].min()
    return table


# ---------------------------------------------------------------- frames


def _stopped(measured: pd.DataFrame) -> list[str]:
    """Say of how many runs of each method were stopped, and how far the slowest of them came."""
    texts, stopped = [], measured[measured["censored"]]
    for line in lines(stopped):
        counts = []
        for cost, group in of_line(stopped, line).groupby("C0"):
            total = len(of_line(measured[measured["C0"] == cost], line))
            least = float((group["solved"] / group["solves"]).min())
            counts.append(f"{len(group)} of {total} at C₀ = {cost:g} (after {least:.0%} or more)")
        texts.append(f"{label(*line)}: {', '.join(counts)}")
    return [f"Runs that were stopped: {'; '.join(texts)}."] if texts else []


@OUTPUTS.frame
def stopped(study: Study, experiment: str) -> list[str]:
    """Say below a table of times which runs were stopped."""
    return _stopped(runs(study, experiment))


@OUTPUTS.frame
def times(study: Study, experiment: str) -> pd.DataFrame:
    """Return the times of each method and C_0, and what was reached."""
    measured, rows = runs(study, experiment), []
    for line in lines(measured):
        line_rows = of_line(measured, line)
        summary = by_cost(line_rows)
        for cost, group in line_rows.groupby("C0", sort=True):
            s = summary.loc[cost]
            row = {"method": label(*line), "C_0": cost, "runs": len(group)}
            row |= {f"CPU s, {part}": s[part] for part in ("mean", "std", "min", "max")}
            row |= {"times the path": s["times_path"]}
            row |= {"least times the path": s["least_times_path"]}
            row |= {"lower bound": bool(s["censored"] > 0)}
            row |= {"path not certified": int(s["uncertified"])}
            steps = group["solves"].fillna(group["n_breakpoints"]).astype(float).mean()
            row |= {"solves or breakpoints, mean": steps}
            row |= {"SMO's iterations, mean": group["iterations"].astype(float).mean()}
            row |= {"kernel columns, mean": group["columns"].mean()}
            row |= {"columns, times the path's": s["times_columns"]}
            rows.append(
                row | {"KKT violation, worst": group["kkt"].max(), "gap, worst": group["gap"].max()}
            )
    table = pd.DataFrame(rows).dropna(axis="columns", how="all")
    # What happened in no run is no column.
    never = [c for c in ("lower bound", "path not certified") if c in table and not table[c].any()]
    return table.drop(columns=never)


@OUTPUTS.frame
def by_costs(study: Study, experiment: str) -> pd.DataFrame:
    """Return what the paper's figure draws: by C_0 the path's time, and others in times of it.

    SMO as the paper ran it; beside each its kernel columns in times of the path's.
    """
    measured = runs(study, experiment)
    paths = {m: of_line(measured, (m, None, None)) for m in ("path", "path_checked", "path_given")}
    rivals = [*TIMED[experiment][2], *OURS.get(experiment, [])]
    smo = {m: of_line(measured, (m, *PAPERS_SMO)) for m in rivals}
    tables = {m: by_cost(line_rows) for m, line_rows in (paths | smo).items() if len(line_rows)}
    rows = []
    for cost, path in tables.pop("path", pd.DataFrame()).iterrows():
        row = {"C_0": cost, "runs": int(path["count"]), "path, CPU s": path["mean"]}
        for method, table in tables.items():
            name, means = label(method), table.loc[cost]
            if method == "path_given":
                row[f"{name}, CPU s"] = means["mean"]
                continue
            row[f"{name}, times the path"] = bounded(means["times_path"], means["censored"])
            if method in smo:
                times = bounded(means["times_columns"], means["censored"])
                row[f"{name}, columns in times of the path's"] = times
        rows.append(row)
    return pd.DataFrame(rows)


def bounded(ratio: float, censored: float) -> str:
    """Write a ratio with two digits; of stopped runs as the lower bound that it is."""
    return f"{'≥ ' if censored else ''}{significant(ratio, 2)}" if pd.notna(ratio) else NOTHING


@OUTPUTS.frame
def tasks(study: Study) -> pd.DataFrame:
    """Return the ratios of times of every task."""
    measured, rows = runs(study, "shift"), []
    for (dataset, split, cost), group in measured.groupby(RUN, sort=False):
        path = group[group["method"] == "path"]
        if not len(path):
            continue
        row = {"task": study.name(dataset), "split": split, "C_0": cost}
        row |= {"breakpoints": path["n_breakpoints"].iloc[0], "CPU s, path": path["cpu_s"].iloc[0]}
        for method in TIMED["shift"][2]:
            line_rows = of_line(group, (method, *PAPERS_SMO))
            known, name = line_rows.iloc[0] if len(line_rows) else None, OUTPUTS.names[method]
            row[f"{name}, times the path"] = known["times_path"] if len(line_rows) else np.nan
            ended = known["message"] if len(line_rows) and known["censored"] else ""
            row[f"{name}, how it ended"] = ended
        rows.append(row)
    return pd.DataFrame(rows)


def validations(study: Study) -> pd.DataFrame:
    """One row for each step function of experiment ``validation``; nan is what a run lacks."""
    results = study.only(experiment="validation").copy()
    results["C0"], results["theta"] = (hyper(results, k).astype(float) for k in ("C0", "theta"))
    rows = []
    for (dataset, split, cost), group in results.groupby(RUN, sort=False):
        of = dict(list(group.groupby("metric")))
        if "step_errors" not in of:
            continue
        best = of.get("validation_error_best", results[:0])
        ends = of.get("validation_error", results[:0]).set_index("theta")["value"]
        rows.append(
            {
                "dataset": dataset,
                "split": split,
                "C0": cost,
                "n_train": _first(of, "n_train"),
                "n_validation": _first(of, "n_test"),
                "steps": len(steps(study, dataset, split, cost)[0]),
                "least": _first(of, "validation_error_best"),
                "intervals": list(zip(hyper(best, "low"), hyper(best, "high"), strict=True)),
                "at_0": ends.get(0.0, np.nan),
                "at_1": ends.get(1.0, np.nan),
                "looked": hyper(of["step_errors"], "points").iloc[0],
                "errors": of["step_errors"]["value"].iloc[0],
            }
        )
    order = study.ran("validation")
    return pd.DataFrame(sorted(rows, key=lambda row: order.index(row["dataset"])))


def _first(by_metric: dict[str, pd.DataFrame], metric: str) -> float:
    return by_metric[metric]["value"].iloc[0] if metric in by_metric else np.nan


@OUTPUTS.frame
def table_5(study: Study) -> pd.DataFrame:
    """Show the least validation error, and where it is reached."""
    return pd.DataFrame(
        [
            {
                "task": study.name(v.dataset),
                "split": v.split,
                "C_0": v.C0,
                "training": v.n_train,
                "validation": v.n_validation,
                "steps": v.steps,
                "least error": v.least,
                "where": "; ".join(f"[{low:.6g}, {high:.6g}]" for low, high in v.intervals),
                "error at theta = 0": v.at_0,
                "error at theta = 1": v.at_1,
                "places compared": v.looked,
                "disagreements": v.errors,
            }
            for v in validations(study).itertuples()
        ]
    )


@OUTPUTS.highlights
def speed(study: Study) -> list[Highlight]:
    """How many times longer SMO takes than the path, as the paper runs it; it prints no number."""
    made = []
    for experiment, (title, table, rivals) in TIMED.items():
        measured = runs(study, experiment)
        for method in rivals:
            line_rows = of_line(measured, (method, *PAPERS_SMO))
            means = _means(line_rows).dropna() if len(line_rows) else line_rows
            if not len(means):
                continue
            low, high = (significant(f(means["times_path"]), 2) for f in (min, max))
            bounds = means["censored"].to_numpy(bool)
            least = "≥ " if bounds[int(np.argmin(means["times_path"]))] else ""
            most = "≥ " if bounds.any() else ""  # the largest of lower bounds is one
            ours = f"{most}{high}" if low == high else f"{least}{low} to {most}{high}"
            papers = all(study.is_papers(dataset) for dataset in study.ran(experiment))
            verdict = on_sentence(in_orders(line_rows), tested=papers, runs=_n_runs(line_rows))
            name = f"{OUTPUTS.names[method]}, beside a path without its check"
            text = f"{title}: {name}, in times of the path"
            data = study.named(study.ran(experiment))
            made.append(Highlight(text, data, "", ours, verdict, table))
    return made


@OUTPUTS.figure
def explorer(study: Study) -> Explorer | None:
    """Turn theta by hand, and C_0 among the values that were run."""
    return explorer_of(study, "theta", "C0", "duals", "C₀")


@OUTPUTS.figure
def figure_times(study: Study, experiment: str) -> Figure | None:
    """CPU seconds against C_0, log-log; a panel for each tolerance of SMO.

    Of SMO's starts the paper's alone, from the clipped alphas: beside it the other one is hidden.
    """
    measured = runs(study, experiment)
    measured = measured[measured["seeding"] != "follow"]
    shown = measured[measured["method"].isin(["path", "path_checked", *TIMED[experiment][2]])]
    if not len(shown):
        return None
    tolerances = sorted(shown["tolerance"].dropna().unique(), reverse=True) or [np.nan]
    figure, axes = fig.new_figure(len(tolerances), size=(4.0, 3.6))
    for ax, tolerance in zip(axes[0], tolerances, strict=True):
        panel = shown[shown["tolerance"].isna() | (shown["tolerance"] == tolerance)]
        ax.set_yscale("log", nonpositive="clip")
        for k, line in enumerate(lines(panel)):
            _draw_line(ax, of_line(panel, line), k, label(line[0], None))
        ax.set(xscale="log", xlabel="$C_0$", xticks=sorted(panel["C0"].unique()))
        ax.set_xticks([], minor=True)
        if not np.isnan(tolerance):
            ax.set_title(f"SMO's tolerance {power(tolerance)}")
    limits = [ax.get_ylim() for ax in axes[0]]
    for ax in axes[0]:
        ax.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
        fig.seconds_axis(ax)
    axes[0][0].set_ylabel("CPU time")
    fig.legend_below(figure, axes, columns=2)
    return figure


def _draw_line(ax: object, line_rows: pd.DataFrame, k: int, name: str) -> None:
    """Mean, and quartiles or single runs; means that are lower bounds are hollow, with an arrow."""
    colour, marker = fig.PALETTE[k % len(fig.PALETTE)], fig.MARKERS[k % len(fig.MARKERS)]
    summary = by_cost(line_rows)
    if len(summary) > 2:
        ax.plot(summary.index, summary["mean"], color=colour, lw=1.2)
    if summary["count"].min() < LEAST_FOR_QUARTILES:
        ax.plot(line_rows["C0"], line_rows["cpu_s"], "_", color=colour, ms=9, alpha=0.6)
    else:
        bars = {"color": colour, "lw": 3.5, "alpha": 0.35}
        ax.vlines(summary.index, summary["lower"], summary["upper"], **bars)
    ax.plot([], [], color=colour, marker=marker, ms=5, label=name)
    for bound, face in ((False, colour), (True, "white")):
        points = summary[(summary["censored"] > 0) == bound]
        ax.plot(points.index, points["mean"], marker, color=colour, mfc=face, ms=5, zorder=3)
        if bound:
            ax.plot(points.index, 1.35 * points["mean"], "^", color=colour, ms=4)


@OUTPUTS.figure
def figure_1(study: Study) -> Figure | None:
    """Draw critical regions in the plane of two weights, and the path through them."""
    if not study.ran("regions"):
        return None
    costs = study.settings["regions"].costs
    figure, axes = fig.new_figure(len(costs), size=(4.0, 3.6))
    for ax, cost in zip(axes[0], costs, strict=True):
        for name in ("border", "path"):
            points = study.curve(name, experiment="regions", split=0)
            points = points[hyper(points, "C0").astype(float) == cost]
            if name == "border":
                look = {"color": fig.GREY, "ms": 1.2, "label": "border of a critical region"}
                ax.plot(points["x"], points["y"], "o", **look)
                continue
            ax.plot(points["x"], points["y"], color=fig.BLUE, label="path from old to new weights")
            bends, last = points[1:-1], points.iloc[-1]
            look = {"color": fig.RED, "ms": 5, "mfc": "none", "label": "event"}
            ax.plot(bends["x"], bends["y"], "s", **look)
            ax.plot([last["x"]], [last["y"]], ">", color=fig.BLUE, ms=7)
        ax.set(xlabel="weight of one instance", ylabel="weight of another", aspect="equal")
        ax.set(xlim=(0, 2 * cost), ylim=(0, 2 * cost))
        ax.set_xticks(cost * np.arange(0.0, 2.1, 0.5))
        ax.set_yticks(ax.get_xticks())
        ax.grid(False)
    fig.legend_below(figure, axes)
    return figure


@OUTPUTS.figure
def figure_2(study: Study) -> Figure | None:
    """Draw the weights of a short time series, before and after an instance arrives."""
    if not study.ran("online"):
        return None
    slope, n = study.settings["online"].slope, SCHEMATIC
    before, after = (series_weights(n, n + 1, first, 1.0, slope) for first in (0, 1))
    figure, axes = fig.new_figure(2, size=(3.8, 3.0))
    i = np.arange(1, n + 2)
    axes[0][0].plot(i[:n], before[:n], "o", color=fig.BLUE, ms=5, label="before")
    axes[0][1].plot(i, before, "o", color=fig.BLUE, ms=5, mfc="none", label="before")
    axes[0][1].plot(i, after, "s", color=fig.RED, ms=4, label="after")
    titles = f"{n} instances", f"instance {n + 1} comes, instance 1 leaves"
    for ax, title in zip(axes[0], titles, strict=True):
        ax.set(xlabel="instance i, oldest first", ylabel="weight / C₀", title=title)
    axes[0][1].legend()
    return figure


@OUTPUTS.figure
def figure_5(study: Study) -> Figure | None:
    """Draw the steps of the first tasks, each with its exact minimiser."""
    drawn = study.curve("validation_error", experiment="validation", split=0)["dataset"].unique()
    table = validations(study)
    if table.empty:
        return None
    table = table[(table["split"] == 0) & table["dataset"].isin(drawn) & (table["steps"] > 0)]
    if table.empty:
        return None
    first = table[table["C0"] == table["C0"].min()].head(PANELS)
    figure, axes = fig.new_figure(len(first), size=(3.7, 3.2))
    for ax, v in zip(axes[0], first.itertuples(), strict=True):
        theta, error = steps(study, v.dataset, v.split, v.C0)
        look = {"color": fig.BLUE, "linewidth": 1.2, "label": "validation error"}
        ax.stairs(error, np.append(theta, 1.0), baseline=None, **look)
        grid = np.linspace(0.0, 1.0, GRID)
        seen = error[np.searchsorted(theta, grid, side="right") - 1]
        ax.plot(grid, seen, "o", color=fig.RED, ms=3.5, label=f"grid of {GRID}", zorder=3)
        for j, (low, high) in enumerate(v.intervals):
            ax.axvspan(
                low, high, color=fig.ORANGE, alpha=0.5, lw=0.8, label="least" if not j else None
            )
        sizes = {"training": v.n_train, "validation": v.n_validation}
        numbers = ", ".join(f"{n:.0f} {part}" for part, n in sizes.items() if pd.notna(n))
        ax.set(
            title=f"{study.name(v.dataset)}, $C_0$ = {v.C0:g}\n{numbers}", xlabel="θ", xlim=(0, 1)
        )
    axes[0][0].set_ylabel("validation error")
    fig.legend_below(figure, axes)
    return figure


def steps(study: Study, dataset: str, split: int, cost: float) -> tuple[np.ndarray, np.ndarray]:
    """Return (theta, error) of a step function; ``error[k]`` holds from ``theta[k]`` on."""
    points = study.curve("validation_error", experiment="validation", dataset=dataset, split=split)
    points = points[hyper(points, "C0").astype(float) == cost].sort_values("x", kind="stable")
    return points["x"].to_numpy(), points["y"].to_numpy()


# ---------------------------------------------------------------- measures


def at_least(ratios: pd.DataFrame, bound: float) -> bool | None:
    """Tell whether ``times_path`` is at least the bound in every row.

    A lower bound that is too small can't tell, nor can a path without a certificate (nan).
    """
    ratio = ratios["times_path"]
    if (ratio.notna() & ~(ratio >= bound) & ~ratios["censored"]).any():
        return False
    return True if len(ratios) and (ratio >= bound).all() else None


def _n_runs(line_rows: pd.DataFrame) -> int:
    """Count the data sets and splits behind each C_0, the least of them."""
    return int(line_rows.groupby("C0").size().min()) if len(line_rows) else 0


def _means(line_rows: pd.DataFrame) -> pd.DataFrame:
    """Ratio of mean times for each C_0, for `at_least`; nan if a path there isn't certified."""
    table = by_cost(line_rows)
    ratio = table["times_path"].where(table["uncertified"] == 0)
    return pd.DataFrame({"times_path": ratio, "censored": table["censored"] > 0})


def _by_cost_text(line_rows: pd.DataFrame) -> str:
    """Ratios of mean times by C_0; ≥ marks lower bounds, and missing certificates are named."""
    parts = []
    for cost, s in by_cost(line_rows).iterrows():
        known = f"{'≥ ' if s['censored'] else ''}{significant(s['times_path'], 2)}"
        missing = f"path not certified in {s['uncertified']:.0f} of {s['count']:.0f} runs"
        parts.append(f"{cost:g}: {known}" + (f" ({missing})" if s["uncertified"] else ""))
    return f"mean time over the path's by C₀: {', '.join(parts)}"


def mean_of(logs: pd.Series) -> tuple[float, float]:
    """Return a mean and half the width of its t interval at 5 %."""
    n = len(logs)
    half = t_half(logs.std(ddof=1), n) if n > 1 else np.inf
    return float(logs.mean()), float(half)


def ahead(line_rows: pd.DataFrame) -> bool | None:
    """Tell whether the path is faster at every C_0: by t intervals of the runs' log ratios.

    Runs that were stopped are lower bounds, which refute nothing, and a path without a certificate
    supports nothing.
    """
    outcomes = []
    for _, group in line_rows.groupby("C0"):
        mean, half = mean_of(np.log(group["times_path"].dropna()))
        known = group["times_path"].notna().all()
        behind = mean + half < 0.0 and not group["censored"].any()
        outcomes.append(False if behind else True if mean - half > 0.0 and known else None)
    return False if False in outcomes else True if outcomes and all(outcomes) else None


def in_orders(line_rows: pd.DataFrame) -> bool | None:
    """Tell whether the path is at least an order of magnitude faster, by the means.

    The sentence names no C_0: it holds where that is so at each, and doesn't where at none.
    """
    means = _means(line_rows)
    below = (means["times_path"] < AN_ORDER) & ~means["censored"]
    return True if at_least(means, AN_ORDER) else False if len(means) and below.all() else None


def growth(line_rows: pd.DataFrame, what: str = "cpu_s") -> tuple[float, float, pd.DataFrame]:
    """Mean log ratio of a quantity at the largest C_0 to that at the smallest, as in `mean_of`.

    Only data sets and splits that were run at both count.
    """
    table = line_rows.pivot_table(index=["dataset", "split"], columns="C0", values=what)
    if table.shape[1] < 2:
        return np.nan, np.nan, table
    table = table[[table.columns.min(), table.columns.max()]].dropna()
    if not len(table):
        return np.nan, np.nan, table
    return *mean_of(np.log(table.iloc[:, 1] / table.iloc[:, 0])), table


def _lines_of(study: Study, experiment: str, paper: bool) -> Iterable[tuple[tuple, pd.DataFrame]]:
    """List the SMO methods as the paper ran them, or as this project ran them besides."""
    measured, papers = runs(study, experiment), TIMED[experiment][2]
    for line in lines(measured[measured["method"].isin([*papers, *OURS.get(experiment, [])])]):
        if (line[1:] == PAPERS_SMO and line[0] in papers) == paper:
            yield line, of_line(measured, line)


@OUTPUTS.measure
def faster(study: Study, experiment: str, paper: bool = True) -> Iterable[Case]:
    """Give ratios of SMO's time to the path's: of every run, and of means by C_0."""
    for line, line_rows in _lines_of(study, experiment, paper):
        known = line_rows.dropna(subset=["times_path"])
        if not len(known):
            continue
        least = known.loc[known["times_path"].idxmin()]
        numbers = {
            "name": label(*line),
            "ahead": ahead(line_rows),
            "orders": in_orders(line_rows),
            "slower": int((known["times_path"] <= 1.0).sum()),
            "n": len(known),
            "least": least["times_path"],
            "at": f"{study.name(least['dataset'])}, split {least['split']}, C₀ = {least['C0']:g}",
            "by_cost": _by_cost_text(line_rows),
            "runs": _n_runs(line_rows),
        }
        yield Case(tuple(dict.fromkeys(line_rows["dataset"])), numbers, TIMED[experiment][0])


@OUTPUTS.measure
def grown(
    study: Study, experiment: str, of: Literal["path", "smo", "lead"] = "path"
) -> Iterable[Case]:
    """Tell how the path's time, SMO's or their ratio (its lead) grows with C_0.

    Where some runs were stopped it can't always be told.
    """
    measured = runs(study, experiment)
    path = [(("path", None, None), measured[measured["method"] == "path"])]
    for line, whole in path if of == "path" else _lines_of(study, experiment, True):
        certified = whole[whole["certified"]]
        change, error, table = growth(certified, "times_path" if of == "lead" else "cpu_s")
        if not np.isfinite(change):
            continue
        low, high = table.columns
        allowed, bound = max(error, np.log(1.0 + NO_GROWTH)), certified[certified["censored"]]["C0"]
        holds = change <= allowed if of == "path" else change > allowed
        unknown = (bound == low).any() or (not holds and len(bound) > 0)
        unknown = unknown or len(table) < LEAST_SPLITS
        numbers = {
            "name": label(*line),
            "holds": None if unknown else bool(holds),
            "low": low,
            "high": high,
            "more": "≥ " if (bound == high).any() else "",
            "factor": np.exp(change),
            "n": len(table),
            "allowed": np.exp(allowed),
        }
        yield Case(tuple(dict.fromkeys(certified["dataset"])), numbers, TIMED[experiment][0])


@OUTPUTS.measure
def columns(study: Study, experiment: str, cost: float) -> Iterable[Case]:
    """Give the kernel columns that SMO adds up, in times of the path's, by C_0 and at one of it."""
    for line, line_rows in _lines_of(study, experiment, True):
        table = by_cost(line_rows)[["times_columns", "censored"]].dropna()
        if cost not in table.index:
            continue
        at = table.loc[[cost]].rename(columns={"times_columns": "times_path"})
        texts = (f"{c:g}: {bounded(*row)}" for c, row in table.iterrows())
        numbers = {
            "name": label(*line),
            "holds": at_least(at.assign(censored=at["censored"] > 0), AN_ORDER),
            "told": ", ".join(texts),
            "runs": _n_runs(line_rows),
        }
        yield Case(tuple(dict.fromkeys(line_rows["dataset"])), numbers, TIMED[experiment][0])


def _range(values: pd.Series) -> str:
    low, high = f"{float(values.min()):.0f}", f"{float(values.max()):.0f}"
    return low if low == high else f"{low} to {high}"


@OUTPUTS.measure
def rounds(study: Study) -> Iterable[Case]:
    """Give the rounds of step 2 by C_0."""
    rows = study.only(experiment="regression", metric="rounds")
    for dataset, group in rows.groupby("dataset"):
        cost = hyper(group, "C0").astype(float)
        listed = ", ".join(f"{c:g}: {_range(v)}" for c, v in group["value"].groupby(cost))
        allowed = study.settings["regression"].rounds
        means = group["value"].groupby(cost).mean()
        numbers = {"rounds": means.to_numpy(), "told": listed, "allowed": allowed}
        numbers |= {"means": ", ".join(f"{mean:.1f}" for mean in means)}
        yield Case((dataset,), numbers)


@OUTPUTS.measure
def validated(study: Study) -> Iterable[Case]:
    """Tell whether step functions are exact, and whether weights between the ends are better.

    Tasks whose error is constant are named and left out: they test neither.
    """
    table = validations(study)
    if len(table):
        table = table.dropna(subset=["least", "at_0", "at_1"])
    if table.empty:
        return
    every = table
    table = table[table["steps"] != 1]  # where the error is constant no theta is better
    ends = np.minimum(table["at_0"], table["at_1"])
    better = (table["least"] < ends).astype(float)
    still = sorted({study.name(d) for d in every[every["steps"] == 1]["dataset"]})
    coins = sorted({study.name(d) for d in table[table["least"] >= 0.5]["dataset"]})
    numbers = {
        "errors": int(table["errors"].sum()),
        "looked": int(table["looked"].sum()),
        "still": ", ".join(still) or "none",
        "coins": ", ".join(coins) or "none",
        "better": better.to_numpy(),
        "n_better": int(better.sum()),
        "gain": (ends - table["least"]).mean(),
        "n": len(table),
        "groups": independent(table),
    }
    where = f"{len(table)} run{'s' * (len(table) != 1)}"
    yield Case(tuple(dict.fromkeys(table["dataset"])), numbers, where)


@OUTPUTS.measure
def goal(study: Study, method: str, cost: float, least: float) -> Iterable[Case]:
    """Give ratios to the path of one method at one C_0, of means and the least of a run."""
    measured = runs(study, "shift")
    line_rows = of_line(measured, (method, *PAPERS_SMO))
    line_rows = line_rows[line_rows["C0"] == cost]
    if line_rows["times_path"].notna().any():
        numbers = {
            "name": label(method, *PAPERS_SMO),
            "holds": at_least(_means(line_rows), least),
            "by_cost": _by_cost_text(line_rows),
            "n": len(line_rows),
            "least": line_rows["times_path"].min(),
            "runs": len(line_rows),
        }
        yield Case(tuple(dict.fromkeys(line_rows["dataset"])), numbers, TIMED["shift"][0])


@OUTPUTS.measure
def path_growth(study: Study) -> Iterable[Case]:
    """Give by what the path's time grows from C_0 = 1 to 10^4."""
    measured = runs(study, "shift")
    chosen = (measured["method"] == "path") & measured["certified"]
    line_rows = measured[chosen & measured["C0"].isin([1.0, 1e4])]
    change, _, table = growth(line_rows)
    if np.isfinite(change):
        numbers = {"factor": np.exp(change), "n": len(table), "runs": len(table)}
        yield Case(tuple(dict.fromkeys(line_rows["dataset"])), numbers, TIMED["shift"][0])


# ---------------------------------------------------------------- growth with n


@OUTPUTS.frame
def growths(study: Study) -> pd.DataFrame:
    """Return events, samples on the margin and seconds of an event by data set, n and split."""
    rows = study.only(experiment="growth")
    rows = rows.assign(n=hyper(rows, "n").astype(int)) if len(rows) else rows.assign(n=[])
    keys = ["dataset", "n", "split"]
    seconds = rows[rows["metric"] == "time"].groupby(keys)[["value", "n_breakpoints"]].median()
    active = rows[rows["metric"] == "margin_samples"].set_index(keys)["value"]
    table = seconds.rename(columns={"n_breakpoints": "events"}).assign(active=active)
    return table.assign(event_us=1e6 * table["value"] / table["events"]).reset_index()


def exponent(x: pd.Series, y: pd.Series) -> tuple[float, float]:
    """Fit y to a power of x; return the exponent and half its 95 % interval."""
    from scipy.stats import linregress  # only here, as its import is slow

    fit = linregress(np.log(x), np.log(y))
    return float(fit.slope), float(t_quantile(len(x) - 2) * fit.stderr)


@OUTPUTS.measure
def grows(study: Study) -> Iterable[Case]:
    """Fit the means by n: events against n, and seconds of an event against n |M|."""
    for dataset, group in growths(study).groupby("dataset", sort=False):
        by_n = group.groupby("n")[["events", "active", "event_us"]].mean()
        if len(by_n) < 4:
            continue
        events, near = exponent(by_n.index, by_n["events"])
        cost, wide = exponent(by_n.index * by_n["active"], by_n["event_us"])
        listed = [f"{n}: {row.events:.0f}, {row.active:.1f}" for n, row in by_n.iterrows()]
        listed = [f"{text}, {us:.0f}" for text, us in zip(listed, by_n["event_us"], strict=True)]
        linear = None if near > LARGEST_HALF else abs(events - 1.0) <= near + ROUNDING
        bounded = None if wide > LARGEST_HALF else cost - wide <= 1.0 + ROUNDING
        numbers = {"events": events, "near": near, "cost": cost, "wide": wide, "linear": linear}
        text = "; ".join(listed)
        yield Case((dataset,), {**numbers, "bounded": bounded, "told": text, "half": LARGEST_HALF})
