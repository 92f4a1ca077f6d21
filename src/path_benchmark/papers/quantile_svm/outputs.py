"""Figures of the quantile SVM paper, and the frames and measures that its YAML files name."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ...data.protocols import SCALINGS
from ...reporting import figures as fig
from ...reporting import verdicts
from ...reporting.check import where
from ...reporting.claims import Case
from ...reporting.explorer import Explorer, explorer_of
from ...reporting.formats import seconds as seconds_of
from ...reporting.formats import significant
from ...reporting.outputs import Outputs
from ...reporting.pivots import shown
from ...reporting.study import Study, hyper, mean, short
from ...reporting.tables import compared, comparison
from ...reporting.verdicts import on_count, on_mean

RATES = {"tpr": "True positive rate", "tnr": "True negative rate", "accuracy": "Accuracy"}
RATE_COLOURS = {"tpr": fig.RED, "tnr": fig.BLUE, "accuracy": fig.INK}
RATE_DASHES = {"tpr": "--", "tnr": "-.", "accuracy": "-"}
# Methods whose times are compared as ratios, and the columns of Table 2 with printed times.
TIME_RATIOS = (("path", "liblinear"), ("path", "lbfgsb"), ("recover", "liblinear"))
TIME_COLUMNS = {
    "recover": "recover_s",
    "liblinear": "liblinear_s",
    "lbfgsb": "lbfgsb_s",
    "cvxpy": "",
}
TIME_COLUMNS |= {"path": "dpf_s"}
PENALISED = "penalised"  # the paper's bias
# Bins of the reliability figure with fewer samples are left out, as their shares are too noisy.
LEAST_SAMPLES_IN_BIN = 10
# Largest step of a rate on test data in the wrong direction, which single samples may cause.
LARGEST_STEP_BACK = 0.1
# Metrics of the experiment published, of which a run may lack some.
RUN_METRICS = ("reached", "time", "kinks", "iterations", "gradients_share")
GAPS = ("start_gap", "solution_gap")

OUTPUTS = Outputs(__file__)


# ---------------------------------------------------------------- frames


def _printed(number: int, dataset: str, column: str) -> float:
    """Return an entry of the paper's Table 1 or 2, nan if there is none."""
    table = OUTPUTS.published(f"quantile_svm_table_{number}")
    rows = table[table["dataset"].str.lower() == dataset]
    return float(rows[column].iloc[0]) if len(rows) and column else np.nan


def _names(study: Study, *experiments: str) -> list[str]:
    ran = list(dict.fromkeys(d for experiment in experiments for d in study.ran(experiment)))
    return shown(OUTPUTS.published("quantile_svm_table_1"), ran)


@OUTPUTS.frame
def table_1(study: Study) -> pd.DataFrame:
    """Compare sizes, sparsity and lam."""
    quantities = {
        "n_train": ("n_train", "training samples", 0.0),
        "n_val": ("n_validation", "validation samples", 0.0),
        "n_test": ("n_test", "test samples", 0.0),
        "dim": ("dim", "features", 0.0),
        "sparsity_percent": ("zero_percent", "zeros before scaling, %", 0.05),
    }
    rows = []
    for dataset in _names(study, "path"):
        results, name = study.only(experiment="path", dataset=dataset), study.name(dataset)
        for column, (metric, text, tolerance) in quantities.items():
            paper, ours = (
                _printed(1, dataset, column),
                mean(results[results["metric"] == metric])[0],
            )
            verdict = on_count(paper, ours, tolerance)
            rows.append(compared(name, text, paper, ours, verdict))
        paper, (ours, *_) = _printed(1, dataset, "lambda"), chosen_lam(study, dataset)
        if not np.isnan([paper, ours]).all():
            verdict = _verdict_on_lam(study, dataset, paper, ours)
            rows.append(compared(name, "lam", paper, ours, verdict))
    return comparison(rows)


def cpu_seconds(study: Study, dataset: str, method: str) -> float:
    """Return the mean over tau of the means over repeats, which gives every tau equal weight."""
    times = study.only(experiment="timing", dataset=dataset, metric="time", method=method)
    if not len(times):
        return np.nan
    tau = hyper(times, "tau").astype(float)
    return float(times["value"].groupby(tau.fillna(-1.0)).mean().mean())


@OUTPUTS.frame
def table_2(study: Study) -> pd.DataFrame:
    """Compare seconds, their ratios and kinks with the paper's; leave out rows without numbers."""
    names, rows = OUTPUTS.names, []
    for dataset in _names(study, "timing", "path"):
        name = study.name(dataset)
        paper = {m: _printed(2, dataset, column) for m, column in TIME_COLUMNS.items()}
        ours = {m: cpu_seconds(study, dataset, m) for m in TIME_COLUMNS}
        for m in TIME_COLUMNS:
            row = compared(name, f"{names[m]}, CPU s", paper[m], ours[m], verdicts.NOT_COMPARED)
            rows.append(row)
        for top, bottom in TIME_RATIOS:
            pair = paper[top] / paper[bottom], ours[top] / ours[bottom]
            text = f"{names[top]} / {names[bottom]}"
            # the path's side was interpreted there and is compiled here
            rows.append(compared(name, text, *pair, verdicts.NOT_COMPARABLE))
        rows.append(_kink_row(study, dataset))
    return comparison([r for r in rows if not (np.isnan(r["paper"]) and np.isnan(r["ours"]))])


@OUTPUTS.frame
def as_published(study: Study) -> pd.DataFrame:
    """Compare Algorithm 1, with conjugate gradients, with the paper's numbers for it."""
    results, rows = study.only(experiment="published"), []
    results = results.assign(residual=hyper(results, "residual").astype(float))
    for (dataset, residual), group in results.groupby(["dataset", "residual"], sort=False):
        value = group.groupby("metric")["value"].max()
        named = {"residual": f"{residual:g}"}
        for text, pair, verdict in _published_numbers(study, dataset, value):
            rows.append(named | compared(study.name(dataset), text, *pair, verdict))
    return comparison(rows)


def _published_numbers(study: Study, dataset: str, value: pd.Series) -> Iterable[tuple]:
    """Yield (quantity, (paper's, ours), verdict) of a run with the given metrics."""
    value = value.reindex([*RUN_METRICS, *GAPS])
    ended, seconds = value["reached"] >= 1.0, value["time"]
    paper = _printed(2, dataset, "dpf_s")
    pair = paper, seconds if ended else np.nan
    yield "CPU s", pair, verdicts.NOT_COMPARED
    for bottom in ("liblinear", "lbfgsb"):
        ours = seconds / cpu_seconds(study, dataset, bottom)
        pair = paper / _printed(2, dataset, TIME_COLUMNS[bottom]), ours if ended else np.nan
        yield f"DPF / {OUTPUTS.names[bottom]}", pair, verdicts.NOT_COMPARABLE
    pair = _printed(2, dataset, "n_kinks"), value["kinks"] if ended else np.nan
    yield "kinks", pair, on_mean(*pair, ours_std=np.nan, ours_n=1, fixed=_fixed(study, dataset))
    further = {"tau reached": value["reached"], "iterations for each kink": value["iterations"]}
    further |= {"conjugate gradients, % of the time": 100.0 * value["gradients_share"]}
    further |= {"gap of the start": value["start_gap"]}
    further |= {"largest gap of the solutions": value["solution_gap"]}
    for text, number in further.items():
        yield text, (np.nan, number), verdicts.NOT_COMPARED


@OUTPUTS.frame
def start_sets(study: Study) -> pd.DataFrame:
    """Compare kinks of Algorithm 1, its index sets from the start's gradient, with the print."""
    results, rows = study.only(experiment="start_sets"), []
    keys = ["dataset", "scaling", "margin"]
    results = results.assign(**{key: hyper(results, key).astype(str) for key in keys[1:]})
    for (dataset, scaling, margin), part in results.groupby(keys, sort=False):
        kinks = part[(part["metric"] == "kinks") & (part["status"] == "ok")]
        ours, std, n = mean(kinks)
        printed = _printed(2, dataset, "n_kinks")
        row = compared(
            study.name(dataset),
            "kinks",
            printed,
            ours,
            on_mean(printed, ours, ours_std=std, ours_n=n),
        )
        gap = part[part["metric"] == "solution_gap"]["value"].max()
        named = {"inputs": scaling, "gradient counts as zero up to": margin}
        rows.append(named | row | {"splits": n, "our std": std, "largest gap": gap})
    return comparison(rows)


def kinks_by_split(study: Study, dataset: str) -> pd.Series:
    """Return the kinks of each split on the whole training part under the data set's scaling.

    The experiments path and scaling both compute this path.
    """
    results = study.only(dataset=dataset, metric="kinks")
    results = results[results["experiment"].isin(["path", "scaling"])]
    scaling = hyper(results[results["experiment"] == "path"], "scaling").unique()
    results = results[hyper(results, "scaling").isin(scaling)] if len(scaling) else results[:0]
    results = results[hyper(results, "bias").fillna(PENALISED) == PENALISED]
    return results["value"].groupby(results["split"]).first()


def _fixed(study: Study, dataset: str) -> bool:
    """Return whether a data set has one given split, so that nothing varies."""
    settings = study.datasets.get(dataset)
    return settings is not None and settings.splits == 1


def _kink_row(study: Study, dataset: str) -> dict:
    counts = kinks_by_split(study, dataset)
    n = len(counts)
    ours, std = (counts.mean(), counts.std()) if n else (np.nan, np.nan)
    paper, fixed = _printed(2, dataset, "n_kinks"), _fixed(study, dataset)
    verdict = on_mean(paper, ours, ours_std=std, ours_n=max(n, 1), fixed=fixed)
    certificates = study.only(dataset=dataset, metric="certificate", experiment="path")
    if (certificates["value"] != 1.0).any():
        verdict = verdicts.NOT_CERTIFIED
    row = compared(study.name(dataset), "kinks", paper, ours, verdict)
    return {**row, "splits": n, "standard deviation": std}


@OUTPUTS.frame
def reached(study: Study) -> pd.DataFrame:
    """Return a row for each timed call, with its method's total set-up time and check share."""
    times = study.only(experiment="timing", metric="time")
    times = times.assign(method_version=times["method_version"].fillna("this package"))
    for metric in ("setup_time", "check_share"):
        share = study.only(experiment="timing", metric=metric).groupby(["dataset", "method"])[
            "value"
        ]
        times = times.merge(
            share.sum().rename(metric).reset_index(), on=["dataset", "method"], how="left"
        )
    return times


def chosen_lam(study: Study, dataset: str) -> tuple[float, list[float], pd.Series]:
    """Return (best lam, all lams that tie for best, accuracy by lam) of a data set."""
    results = study.only(
        experiment="choose_lam",
        dataset=dataset,
        metric="validation_accuracy",
        method="lowest objective",
    )
    accuracy = results["value"].groupby(hyper(results, "lam").astype(float)).mean()
    tied = [lam for lam, value in accuracy.items() if value >= accuracy.max() - 1e-12]
    return (max(tied) if tied else np.nan), tied, accuracy


@OUTPUTS.frame
def table_lam(study: Study) -> pd.DataFrame:
    """Show the validation accuracy of every lam."""
    rows = []
    for dataset in _names(study, "choose_lam") if study.ran("choose_lam") else ():
        best, _, accuracy = chosen_lam(study, dataset)
        paper = _printed(1, dataset, "lambda")
        row = {"data set": study.name(dataset)}
        for lam, value in accuracy.sort_index().items():
            row[f"lam = {significant(lam, 1)}"] = f"{value:.4f}{' *' if lam == best else ''}"
        verdict = _verdict_on_lam(study, dataset, paper, best)
        rows.append({**row, "paper": paper, "ours": best, "verdict": verdict})
    frame = pd.DataFrame(rows)
    last = [c for c in ("paper", "ours", "verdict") if c in frame]
    return frame[[c for c in frame if c not in last] + last] if len(frame) else frame


def _verdict_on_lam(study: Study, dataset: str, paper: float, best: float) -> str:
    """Return the verdict on a chosen lam: where it differs, whether that can be told."""
    verdict = on_count(paper, best)
    if verdict != verdicts.DIFFERS:
        return verdict
    case = _lam_case(study, dataset, paper)
    if case["untried"]:
        return f"{verdicts.NOT_TESTED}: the paper's was not tried"
    return {
        True: f"{verdicts.AGREES}: tied for best",
        None: f"{verdicts.INCONCLUSIVE}: ahead by less than two standard errors",
        False: verdicts.DIFFERS,
    }[case["holds"]]


def _lam_case(study: Study, dataset: str, paper: float) -> dict:
    """Return whether a lam is the best, within two standard errors of a difference of rates."""
    best, tied, accuracy = chosen_lam(study, dataset)
    sizes = study.only(experiment="choose_lam", dataset=dataset, metric="n_validation")
    near = [lam for lam in accuracy.index if np.isclose(lam, paper)]
    ahead = accuracy.max() - accuracy[near[0]] if near else np.nan
    lead = accuracy.max() - accuracy.drop(tied).max() if len(accuracy) > len(tied) else 0.0
    rate = accuracy.max() if len(accuracy) else 0.5
    allowed = 2.0 * np.sqrt(2.0 * rate * (1.0 - rate) / max(sizes["value"].sum(), 1.0))
    tie = any(np.isclose(paper, lam) for lam in tied)
    return {
        "lam": paper,
        "best": best,
        "accuracy": ", ".join(f"{k:g}: {v:.4f}" for k, v in accuracy.sort_index().items()),
        "ahead": ahead,
        "lead": lead,
        "allowed": allowed,
        "untried": not near,
        "holds": True if tie else None if not near or ahead <= allowed else False,
    }


@OUTPUTS.frame
def table_scaling(study: Study) -> pd.DataFrame:
    """Compare kinks under each scaling and bias with the paper's; mark the nearest."""
    results = study.results[study.results["experiment"] == "scaling"]
    results = results.assign(scaling=hyper(results, "scaling"), bias=hyper(results, "bias"))
    rows = []
    for dataset, group in results.groupby("dataset", sort=False):
        paper, zeros = _printed(2, dataset, "n_kinks"), _mean_of(group, "zero_percent_scaled")
        measured = group[(group["metric"] != "zero_percent_scaled") & group["value"].notna()]
        scaled_rows = [
            _scaled_row(study, dataset, part, *kind, paper, zeros.get(kind[0]))
            for kind, part in measured.groupby(["scaling", "bias"], sort=False)
        ]
        distances = [abs(row["ours"] - paper) for row in scaled_rows]
        if scaled_rows and paper > 0:
            scaled_rows[int(np.argmin(distances))]["remark"] = "nearest to the paper"
        rows += scaled_rows
        bad = group[group["status"] == "not applicable"]
        rows += [
            {"data set": study.name(dataset), "scaling": SCALINGS[kind], "remark": _reason(part)}
            | {"paper": paper, "ours": np.nan, "verdict": verdicts.NOT_TESTED}
            for kind, part in bad.groupby("scaling", sort=False)
        ]
    return comparison(rows)


def _mean_of(rows: pd.DataFrame, metric: str) -> pd.Series:
    values = rows[rows["metric"] == metric]
    return values["value"].groupby(values["scaling"]).mean()


def _scaled_row(
    study: Study,
    dataset: str,
    group: pd.DataFrame,
    scaling: str,
    bias: str,
    paper: float,
    zeros: float | None,
) -> dict:
    """Return a row of kinks and the paper's; paths without certificate have no such verdict."""
    by_metric = {name: part["value"] for name, part in group.groupby("metric")}
    ours, std, n = mean(group[group["metric"] == "kinks"])
    verdict = on_mean(paper, ours, ours_std=std, ours_n=max(n, 1), fixed=_fixed(study, dataset))
    held, none = by_metric.get("certificate"), pd.Series(dtype=float)
    if held is None or (held != 1.0).any():
        verdict = verdicts.NOT_CERTIFIED
    return {
        "data set": study.name(dataset),
        "scaling": SCALINGS[scaling],
        "bias": bias,
        "splits": n,
        "standard deviation": std,
        "events of the walk": by_metric.get("events", none).mean(),
        "zeros, %": zeros,
        "test error at tau = 1/2": by_metric.get("test_error_half", none).mean(),
        "remark": "",
        "paper": paper,
        "ours": ours,
        "verdict": verdict,
    }


def _reason(rows: pd.DataFrame) -> str:
    """Return why rows hold no number, "" if they do."""
    bad = rows[rows["status"] != "ok"]
    return f"{bad['status'].iloc[0]}: {short(bad['message'].iloc[0], 120)}" if len(bad) else ""


@OUTPUTS.frame
def chosen_tau(study: Study) -> pd.DataFrame:
    """Return the metrics of the experiment path by split, with the exactly best tau."""
    results = study.only(experiment="path")
    best = results[results["metric"] == "test_error_best"]
    keys = ["dataset", "split"]
    wide = results[~results["metric"].isin(["labelled_positive"])].pivot_table(
        index=keys, columns="metric", values="value", aggfunc="first", sort=False
    )
    if not len(best):
        return pd.DataFrame()
    tau = pd.Series(hyper(best, "tau").astype(float).to_numpy(), [best[k] for k in keys])
    return wide.assign(tau=tau).dropna(subset=["tau"]).reset_index()


# ---------------------------------------------------------------- figures


@OUTPUTS.figure
def explorer(study: Study) -> Explorer | None:
    """Explore tau, and lam among its computed values."""
    return explorer_of(study, "tau", "lam", "coefficients", logit=True)


@OUTPUTS.figure
def figure_1(study: Study) -> Figure | None:
    """Draw the decision boundary at a few tau."""
    results = study.only(experiment="boundary", split=0)
    if not len(results):
        return None
    clouds = [
        study.curve(f"points of {sign}1", experiment="boundary", split=0)[["x", "y"]].to_numpy()
        for sign in "+-"
    ]
    x0, x1 = np.vstack(clouds).T
    weights = results[results["metric"].str.startswith("boundary_")]
    taus = sorted(hyper(weights, "tau").unique())
    figure, axes = fig.new_figure(len(taus), size=(3.3, 3.3))
    ends = np.array([x0.min() - 0.5, x0.max() + 0.5])
    low, high = x1.min() - 0.5, x1.max() + 0.5
    grid = np.stack(np.meshgrid(np.linspace(*ends, 60), np.linspace(low, high, 60)), axis=-1)
    for ax, tau in zip(axes[0], taus, strict=True):
        w = weights[hyper(weights, "tau") == tau].set_index("metric")["value"]
        f = grid[..., 0] * w["boundary_w0"] + grid[..., 1] * w["boundary_w1"] + w["boundary_b"]
        shades = [fig.SKY, fig.ORANGE]
        ax.contourf(
            grid[..., 0], grid[..., 1], f >= 0, levels=[-1, 0.5, 2], colors=shades, alpha=0.15
        )
        if f.min() < 0 < f.max():
            ax.contour(grid[..., 0], grid[..., 1], f, levels=[0.0], colors=fig.INK)
        ax.plot(*clouds[0].T, "s", color=fig.RED, ms=4, label="y = +1")
        ax.plot(*clouds[1].T, "o", color=fig.BLUE, ms=4, mfc="none", label="y = −1")
        ax.set(title=f"τ = {tau:g}", xlabel="feature 1", xlim=ends, ylim=(low, high))
        ax.grid(False)
    axes[0][0].set_ylabel("feature 2")
    fig.legend_below(figure, axes)
    return figure


def rates(study: Study, dataset: str, split: int) -> dict[str, tuple]:
    """Return the exact step functions {rate: (tau, value)} of one data set and split."""
    selection = {"experiment": "path", "dataset": dataset, "split": split}
    return {rate: study.steps(rate, **selection) for rate in RATES}


def _splits(study: Study) -> list[tuple[str, int]]:
    """List (data set, split) of every path with recorded rates."""
    curve = study.curve("tpr", experiment="path")
    return list(dict.fromkeys(zip(curve["dataset"], curve["split"].astype(int), strict=True)))


@OUTPUTS.figure
def figure_2(study: Study) -> Figure | None:
    """Draw the rates on the test part against tau."""
    return _rates_figure(study, spread=False)


@OUTPUTS.figure
def figure_2_ends(study: Study) -> Figure | None:
    """Draw the rates on the test part against tau on a logit axis."""
    return _rates_figure(study, spread=True)


def _rates_figure(study: Study, spread: bool) -> Figure | None:
    shown = [(d, s) for d, s in _splits(study) if s == 0]
    if not shown:
        return None
    figure, axes = fig.new_figure(len(shown), size=(3.5, 3.0))
    for ax, (dataset, split) in zip(axes[0], shown, strict=True):
        _draw_rates(ax, rates(study, dataset, split), spread)
        n = mean(study.only(experiment="path", dataset=dataset, metric="n_test"))[0]
        size = "" if np.isnan(n) else f" ({n:.0f} test samples)"
        ax.set(title=study.name(dataset) + size, ylim=(-0.03, 1.03))
        ax.set(xlabel="quantile τ" + (", logit scale" if spread else ""))
    axes[0][0].set_ylabel("rate on the test part")
    fig.legend_below(figure, axes)
    return figure


def _draw_rates(ax: object, rates: dict[str, tuple], spread: bool) -> None:
    """Draw the three step functions; ``spread``: on a logit axis that covers every step."""
    inner = np.concatenate([tau[1:] for tau, _ in rates.values()])
    end = 0.5 * min([1e-2, *np.minimum(inner, 1.0 - inner)]) if spread else 0.0
    end = max(end, 1e-12) if spread else 0.0
    for rate, (tau, value) in rates.items():
        edges = np.clip(np.append(tau, 1.0), end, 1.0 - end)
        look = {"color": RATE_COLOURS[rate], "linestyle": RATE_DASHES[rate], "linewidth": 1.4}
        ax.stairs(value, edges, baseline=None, label=RATES[rate], **look)
    if spread:
        fig.logit_axis(ax, end)
    else:
        ax.set_xlim(0.0, 1.0)


def kinks_against_n(study: Study, dataset: str) -> pd.DataFrame:
    """Return mean, least and largest number of kinks for each n of the experiment ``kinks``."""
    results = study.only(experiment="kinks", dataset=dataset, metric="kinks")
    by_n = results["value"].groupby(hyper(results, "n").astype(int))
    return by_n.agg(["mean", "min", "max", "count"]).sort_index()


@OUTPUTS.figure
def figure_kinks(study: Study) -> Figure | None:
    """Draw the number of kinks against n, ours and the paper's, with n log n."""
    names = study.only(experiment="kinks", metric="kinks")["dataset"].unique()
    paths = study.only(experiment="path", metric="kinks")
    if not len(names) and not len(paths):
        return None
    figure, axes = fig.new_figure(size=(5.2, 4.2))
    ax, sizes = axes[0][0], []
    for k, dataset in enumerate(names):
        by_n = kinks_against_n(study, dataset)
        error = [by_n["mean"] - by_n["min"], by_n["max"] - by_n["mean"]]
        draws = int(by_n["count"].min())
        label = study.name(dataset) + (f" (range of {draws} draws)" if draws > 1 else "")
        style = {"color": fig.PALETTE[k], "marker": fig.MARKERS[k], "ms": 5, "capsize": 3}
        style["ls"] = "-" if len(by_n) > 2 else ""
        ax.errorbar(by_n.index, by_n["mean"], yerr=error, label=label, **style)
        sizes += [by_n.index.min(), by_n.index.max()]
    printed = OUTPUTS.published("quantile_svm_table_2").set_index("dataset")["n_kinks"]
    for k, (dataset, group) in enumerate(paths.groupby("dataset", sort=False)):
        n = mean(study.only(experiment="path", dataset=dataset, metric="n_train"))[0]
        if np.isnan(n):
            continue
        look = {"marker": fig.MARKERS[-1 - k % 7], "color": fig.PALETTE[-1 - k % 7], "ls": ""}
        name, sizes = study.name(dataset), [*sizes, n]
        ax.plot([n], [group["value"].mean()], ms=7, label=name, **look)
        if study.is_papers(dataset) and name in printed:
            ax.plot([n], [printed[name]], ms=12, mfc="none", label=f"{name}, printed", **look)
    if not sizes:
        return None
    n = np.geomspace(max(0.7 * min(sizes), 2), 1.4 * max(sizes), 200)
    ax.plot(n, n * np.log(n), "--", color=fig.GREY, label="n log n")
    ax.set(xscale="log", yscale="log", xlabel="training samples n", ylabel="number of kinks")
    fig.plain_log_ticks(ax)
    fig.legend_below(figure, axes)
    return figure


@OUTPUTS.figure
def figure_reliability(study: Study) -> Figure | None:
    """Draw observed shares of positives against predicted probabilities, pooled over splits."""
    points = study.curve("reliability", experiment="probability")
    names = list(dict.fromkeys(points["dataset"]))
    if not names:
        return None
    figure, axes = fig.new_figure(len(names), size=(3.5, 3.5))
    bins = study.settings["probability"].bins
    for ax, dataset in zip(axes[0], names, strict=True):
        ax.plot([0, 1], [0, 1], ":", color=fig.GREY, label="perfect")
        for k, method in enumerate(dict.fromkeys(points["method"])):
            rows = points[(points["dataset"] == dataset) & (points["method"] == method)]
            predicted, observed, count = _pooled(rows, bins)
            large_enough = count >= LEAST_SAMPLES_IN_BIN
            predicted, observed, count = (
                predicted[large_enough],
                observed[large_enough],
                count[large_enough],
            )
            # Smoothed, so that a share of 0 or 1 also has an error bar.
            smooth = (observed * count + 1.0) / (count + 2.0)
            error = 2.0 * np.sqrt(smooth * (1.0 - smooth) / count)
            low = np.maximum(observed - error, 0.0)
            bars = [observed - low, np.minimum(observed + error, 1.0) - observed]
            label = "Path" if method == "path" else OUTPUTS.names.get(method, method)
            look = {"color": fig.PALETTE[k], "marker": fig.MARKERS[k], "ls": "", "ms": 6}
            ax.errorbar(predicted, observed, yerr=bars, elinewidth=1, label=label, **look)
        ax.set(title=study.name(dataset), xlabel="predicted P(y = +1 | x)", aspect="equal")
        ax.set(xlim=(-0.05, 1.05), ylim=(-0.05, 1.05))
    axes[0][0].set_ylabel("observed share of y = +1")
    fig.legend_below(figure, axes)
    return figure


def _pooled(rows: pd.DataFrame, bins: int) -> tuple[np.ndarray, ...]:
    """Return the means of the splits' points in each bin, weighted by samples, and the samples."""
    bin_index = np.minimum((rows["x"] * bins).astype(int), bins - 1)
    weights = rows["weight"].groupby(bin_index).sum()
    means = [(rows[c] * rows["weight"]).groupby(bin_index).sum() / weights for c in ("x", "y")]
    return means[0].to_numpy(), means[1].to_numpy(), weights.to_numpy()


# ---------------------------------------------------------------- measures


def steps_in_wrong_direction(value: np.ndarray, sign: int) -> tuple[int, float]:
    """Count steps against the direction of ``sign`` (+1: up); return the largest deviation, too.

    The deviation is measured from the best value so far, so that several small steps add up.
    """
    moved = -sign * value
    count = int(np.count_nonzero(np.diff(moved) > 1e-12))
    largest = float(np.max(moved - np.minimum.accumulate(moved)))
    return count, largest


def _each_split(study: Study, measure: Callable[..., dict | None]) -> Iterable[Case]:
    """Yield for each data set the measured numbers of its splits as arrays.

    Splits of which the measure says None, as they lack what it needs, are left out.
    """
    splits = pd.DataFrame(_splits(study), columns=["dataset", "split"])
    for dataset, group in splits.groupby("dataset", sort=False):
        measured = [
            measure(
                study.only(experiment="path", dataset=dataset, split=split),
                rates(study, dataset, split),
            )
            for split in group["split"]
        ]
        measured = [numbers for numbers in measured if numbers is not None]
        if not measured:
            continue
        numbers = {
            key: np.array([numbers_of_split[key] for numbers_of_split in measured])
            for key in measured[0]
        }
        yield Case((dataset,), numbers, f"{len(measured)} split{'s' * (len(measured) != 1)}")


@OUTPUTS.measure
def rate(study: Study, name: str, sign: int) -> Iterable[Case]:
    """Count the steps of a rate in the wrong direction; compare them with the sampling error."""

    def measure(results: pd.DataFrame, curves: dict) -> dict | None:
        value = results.set_index("metric")["value"]
        if not {"positive_share_test", "n_test"} <= set(value.index) or not len(curves[name][1]):
            return None
        share = value["positive_share_test"] if sign < 0 else 1 - value["positive_share_test"]
        count, largest = steps_in_wrong_direction(curves[name][1], sign)
        # two standard errors of a rate of 1/2
        allowed = 2.0 * np.sqrt(0.25 / max(share * value["n_test"], 1.0))
        steps = len(curves[name][1]) - 1
        numbers = {"wrong": count, "largest": largest, "steps": steps, "allowed": allowed}
        return numbers | {"over": largest - allowed}

    for case in _each_split(study, measure):
        summary = {k: case.values[k] for k in ("wrong", "over")}
        summary |= {f"{k}_in_all": case.values[k].sum() for k in ("wrong", "steps")}
        summary |= {k: case.values[k].max() for k in ("largest", "allowed")}
        yield Case(case.data, summary, case.where)


@OUTPUTS.measure
def ends(study: Study) -> Iterable[Case]:
    """Measure the predicted labels and the accuracy at tau = 0 and tau = 1."""

    def measure(results: pd.DataFrame, curves: dict) -> dict | None:
        at = results[results["metric"] == "labelled_positive"]
        labelled = dict(zip(hyper(at, "tau").astype(float), at["value"], strict=True))
        accuracy, share = curves["accuracy"][1], results.set_index("metric")["value"]
        if (
            not {0.0, 1.0} <= set(labelled)
            or "positive_share_test" not in share
            or not len(accuracy)
        ):
            return None
        off = accuracy[[0, -1]] - np.array([1.0, -1.0]) * share["positive_share_test"] - [0.0, 1.0]
        return {"other": [1.0 - labelled[0.0], labelled[1.0]], "off": np.abs(off)}

    for case in _each_split(study, measure):
        worst = {
            f"{key}_{k}": case.values[key][:, k].max() for key in ("other", "off") for k in (0, 1)
        }
        yield Case(case.data, {**case.values, **worst}, case.where)


def weighted_risk(curves: dict[str, tuple], share: float, tau: float | None = None) -> float:
    """Return the risk with costs t (false positives) and 1 - t (false negatives).

    It is averaged over t in (0, 1), for the classifier at tau = t or for that at ``tau``. ``share``
    is that of the positives. The integral is exact: between steps the risk is linear in t. It is
    nan where a rate was not recorded.
    """
    if not all(len(curves[r][0]) for r in ("tpr", "tnr")):
        return np.nan
    edges = np.unique(np.concatenate([[0.0, 1.0], *(curves[r][0] for r in ("tpr", "tnr"))]))
    low, high = edges[:-1], edges[1:]
    at = 0.5 * (low + high) if tau is None else np.full(len(low), tau)
    wrong = [
        1.0 - v[np.searchsorted(x, at, "right") - 1] for x, v in (curves["tpr"], curves["tnr"])
    ]
    costs = 0.5 * ((1.0 - low) ** 2 - (1.0 - high) ** 2), 0.5 * (high**2 - low**2)
    return float(costs[0] @ wrong[0] * share + costs[1] @ wrong[1] * (1.0 - share))


@OUTPUTS.frame
def risks(study: Study) -> pd.DataFrame:
    """Return for each split the weighted risk of the path, of tau = 1/2, and without features."""
    rows = []
    for dataset, split in _splits(study):
        results = study.only(experiment="path", dataset=dataset, split=split)
        share = results.set_index("metric")["value"].get("positive_share_test", np.nan)
        curves = rates(study, dataset, split)
        risk = {"path": weighted_risk(curves, share), "half": weighted_risk(curves, share, 0.5)}
        constant = 0.5 * share * (1.0 - share)
        rows.append({"dataset": dataset, "split": split, **risk, "constant": constant})
    return pd.DataFrame(rows)


@OUTPUTS.measure
def risk(study: Study) -> Iterable[Case]:
    """Compare the weighted risk of the path with that of its classifier at tau = 1/2."""
    table = risks(study)
    for dataset, group in table.groupby("dataset", sort=False) if len(table) else ():
        by_split = group.set_index("split")
        yield Case(
            (dataset,), {"stated": by_split["path"], "rivals": {"tau = 1/2": by_split["half"]}}
        )


@OUTPUTS.measure
def margin(study: Study) -> Iterable[Case]:
    """Yield the share of samples on the margin."""
    for dataset in study.ran("path"):
        taus, shares = study.steps("margin_share", experiment="path", dataset=dataset, split=0)
        if not len(taus):
            continue
        share = pd.Series(shares, taus)
        inner = share[(share.index > 0) & (share.index <= 0.9)]
        deviations = np.abs(np.append(inner - 0.32, share[0.0] - 0.28))
        numbers = {"at_0": share[0.0], "low": inner.min(), "high": inner.max(), "off": deviations}
        yield Case((dataset,), numbers, "split 0")


@OUTPUTS.measure
def accuracy_between(study: Study) -> Iterable[Case]:
    """Yield the range of the accuracy for tau between .1 and .9."""
    for dataset in study.ran("path"):
        tau, accuracy = rates(study, dataset, 0)["accuracy"]
        middle = accuracy[(np.append(tau[1:], 1.0) > 0.1) & (tau < 0.9)] if len(tau) else tau
        if len(middle):
            yield Case((dataset,), {"span": np.ptp(middle)}, "split 0")


@OUTPUTS.measure
def kinks(study: Study) -> Iterable[Case]:
    """Compare the numbers of kinks of whole paths, and by n, with n log n."""
    for dataset, group in study.only(experiment="path", metric="kinks").groupby("dataset"):
        n = mean(study.only(experiment="path", dataset=dataset, metric="n_train"))[0]
        most = group["value"].max()
        text = f"at most {most:.0f} kinks for n = {n:.0f}, n log n = {n * np.log(n):.0f}"
        yield Case((dataset,), {"shares": most / (n * np.log(n)), "told": text})
    yield from _kinks_by_n(study)


def _kinks_of_data(study: Study) -> Iterable[Case]:
    """Yield the kinks of the paper's data sets, by their numbers of training samples."""
    by_n = {}
    for dataset in filter(study.is_papers, study.ran("path")):
        n = mean(study.only(experiment="path", dataset=dataset, metric="n_train"))[0]
        by_n[n] = mean(study.only(experiment="path", dataset=dataset, metric="kinks"))[0]
    if len(by_n) > 1:
        counts = [by_n[n] for n in sorted(by_n)]
        shares = np.array([by_n[n] / (n * np.log(n)) for n in sorted(by_n)])
        listed = ", ".join(f"{n:.0f}: {by_n[n]:.0f}" for n in sorted(by_n))
        numbers = {"shares": shares, "more": np.diff(counts), "told": f"mean kinks by n: {listed}"}
        yield Case(tuple(filter(study.is_papers, study.ran("path"))), numbers, "all data sets")


@OUTPUTS.measure
def grown_kinks(study: Study) -> Iterable[Case]:
    """Yield the kinks by n, of the paper's data sets and of the experiment, and their growth."""
    yield from _kinks_of_data(study)
    yield from _kinks_by_n(study)


def _kinks_by_n(study: Study) -> Iterable[Case]:
    """Yield the kinks by n of the experiment kinks."""
    for dataset in study.ran("kinks"):
        by_n = kinks_against_n(study, dataset)
        if by_n.empty:  # all of its cells failed
            continue
        shares = (by_n["max"] / (by_n.index * np.log(by_n.index))).to_numpy()
        counts = ", ".join(f"{n}: {k:.0f}" for n, k in by_n["mean"].items())
        text = f"at most {shares.max():.2f} of n log n; mean kinks by n: {counts}"
        numbers = {"shares": shares, "told": text, "more": np.diff(by_n["mean"])}
        at = f"n = {by_n.index.min()} to {by_n.index.max()}"
        yield Case((dataset,), numbers, at)


@OUTPUTS.measure
def seconds(study: Study, top: str, bottom: str) -> Iterable[Case]:
    """Compare mean CPU seconds of two methods."""
    for dataset in study.ran("timing"):
        one, other = (cpu_seconds(study, dataset, m) for m in (top, bottom))
        times = study.only(experiment="timing", dataset=dataset, metric="time", method=bottom)
        if np.isfinite([one, other]).all():
            repeats = int(times.groupby(hyper(times, "tau")).size().min())
            numbers = {"one": one, "other": other, "ratio": one / other, "runs": repeats}
            yield Case((dataset,), {**numbers, "bottom": OUTPUTS.names[bottom]})


@OUTPUTS.measure
def at_the_end(study: Study, method: str) -> Iterable[Case]:
    """Compare a solver's mean CPU seconds at tau = 0 with its slowest of the other tau."""
    for dataset in study.ran("extremes"):
        times = study.only(experiment="extremes", dataset=dataset, metric="time", method=method)
        by_tau = times["value"].groupby(hyper(times, "tau").astype(float)).agg(["mean", "size"])
        if 0.0 in by_tau.index and len(by_tau) > 1:
            zero, other = by_tau["mean"][0.0], by_tau["mean"].drop(0.0).max()
            listed = ", ".join(f"{tau:g}: {seconds_of(s)}" for tau, s in by_tau["mean"].items())
            numbers = {"ratio": zero / other, "told": listed, "runs": int(by_tau["size"].min())}
            yield Case((dataset,), {**numbers, "name": OUTPUTS.names[method]})


@OUTPUTS.measure
def as_published_runs(study: Study) -> Iterable[Case]:
    """Yield Algorithm 1's share of conjugate gradients and its gaps, by their residual."""
    results = study.only(experiment="published")
    results = results.assign(residual=hyper(results, "residual").astype(float))
    for (dataset, residual), group in results.groupby(["dataset", "residual"], sort=False):
        value = group.groupby("metric")["value"].max().reindex([*RUN_METRICS, *GAPS])
        numbers = {"share": value["gradients_share"], "reached": value["reached"]}
        numbers |= {"gap": value["solution_gap"], "solved": value["iterations"]}
        yield Case((dataset,), {**numbers, "residual": residual}, f"residual {residual:g}")


@OUTPUTS.frame
def known_errors(study: Study) -> pd.DataFrame:
    """Return the errors of the path's P(Y = 1 | x), by n."""
    errors = study.only(experiment="known", metric="probability_error")
    return errors.assign(n=hyper(errors, "n").astype(int)).sort_values("n")


@OUTPUTS.measure
def known_law(study: Study) -> Iterable[Case]:
    """Yield the changes of the error of P(Y = 1 | x) from each n to the next."""
    for dataset, group in known_errors(study).groupby("dataset", sort=False):
        by_n = group["value"].groupby(group["n"]).mean()
        listed = ", ".join(f"{n}: {value:.3f}" for n, value in by_n.items())
        yield Case((dataset,), {"more": np.diff(by_n), "told": listed})


@OUTPUTS.measure
def best_lam(study: Study) -> Iterable[Case]:
    """Compare Table 1's lam with the best of the computed ones."""
    for dataset in study.ran("choose_lam"):
        paper = _printed(1, dataset, "lambda")
        if np.isfinite(paper):
            yield Case((dataset,), _lam_case(study, dataset, paper))


# ---------------------------------------------------------------- checks


@OUTPUTS.check
def check_kinks(results: pd.DataFrame, curves: pd.DataFrame) -> list[str]:
    """Require kinks of every path, and fewer than n log n of them if n is at least 100."""
    rows = results[(results["metric"] == "kinks") & (results["status"] == "ok")]
    complaints = [
        f"{where(r)}: the path has no kink." for r in rows.itertuples() if not r.value > 0
    ]
    sizes = results[results["metric"] == "n_train"].groupby("dataset")["value"].max()
    for r in rows[rows["experiment"].isin(["path", "kinks"])].itertuples():
        n = r.hyper.get("n", sizes.get(r.dataset, np.nan))
        if n >= 100 and not r.value < n * np.log(n):
            complaints.append(
                f"{where(r)}: {r.value:.0f} kinks are not below n log n, n = {n:.0f}."
            )
    return complaints


@OUTPUTS.check
def check_rates(results: pd.DataFrame, curves: pd.DataFrame) -> list[str]:
    """Require that TPR falls and TNR rises, except for steps of single samples."""
    complaints = []
    for rate, sign in (("tpr", -1.0), ("tnr", 1.0)):
        points = curves[curves["curve"] == rate]
        for (dataset, split), group in points.groupby(["dataset", "split"]):
            place = f"{dataset}, split {split}: {rate}"
            value = sign * group["y"].to_numpy()[np.argsort(group["x"], kind="stable")]
            if not value[-1] > value[0]:
                complaints.append(
                    f"{place} ends where it began, or beyond: it should move with tau."
                )
                continue
            back = float(np.max(np.maximum.accumulate(value) - value))
            if not back <= LARGEST_STEP_BACK:
                complaints.append(f"{place} goes back by {back:.3g}, bound {LARGEST_STEP_BACK}.")
    return complaints
