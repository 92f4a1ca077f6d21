"""Quantile SVM paper: what its tables, figures and claims are made of, from results alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from solution_paths.certify import GAP_LIMIT

from ...data.protocols import SCALINGS
from ...reporting import figures as fig
from ...reporting import verdicts
from ...reporting.check import where
from ...reporting.explorer import Explorer, choices_of
from ...reporting.formats import seconds, significant
from ...reporting.outputs import Highlight, Outputs
from ...reporting.study import Study, hyper, mean, short
from ...reporting.tables import compared, comparison
from ...reporting.verdicts import Claim, on_count, on_mean, on_ratio, on_sentence

METHODS = {
    "path": "DPF (our path)",
    "recover": "Recover",
    "recover_w": "Recover w, b",
    "liblinear": "LIBLINEAR",
    "lbfgsb": "L-BFGS-B",
    "cvxpy": "CVXPY",
    "clarabel": "Clarabel",
    "platt": "Platt",
    "isotonic": "Isotonic",
}
RATES = {"tpr": "True positive rate", "tnr": "True negative rate", "accuracy": "Accuracy"}
RATE_COLOURS = {"tpr": fig.RED, "tnr": fig.BLUE, "accuracy": fig.INK}
RATE_DASHES = {"tpr": "--", "tnr": "-.", "accuracy": "-"}
# Whose times are compared as ratios, and what that is called.
RATIOS = (
    ("path", "liblinear", "whole path, in LIBLINEAR runs"),
    ("path", "lbfgsb", "whole path, in L-BFGS-B runs"),
    ("recover", "liblinear", "recovering a solution, in LIBLINEAR runs"),
)
# Bins of the reliability figure with fewer samples are left out: their shares are chance.
LEAST_IN_BIN = 10
# Rates on test data may step the other way by single samples.
LARGEST_STEP_BACK = 0.1

OUTPUTS = Outputs()


def _assumptions(study: Study) -> list[str]:
    """Say what the paper leaves open and what was chosen, of what this suite ran."""
    ran = set(study.results["experiment"])
    texts = {
        "path": [
            "The bias is the weight of an appended feature of value "
            f"{study.common.intercept_scaling:g} and is penalised with the others, as in the "
            "paper.",
            "A decision of exactly 0 counts as +1.",
            "A kink is a distinct tau strictly between 0 and 1 at which some sample changes "
            "between the sets L, M and R; changes nearer to each other than 1e-12 of the distance "
            "to 0 or 1 are one kink. The paper's count is of its algorithm's list, which also "
            "holds tau = 0.",
            "The paper states no scaling: each data set's is in the table of settings.",
        ],
        "timing": [
            "The paper prints '-w1' twice in LIBLINEAR's arguments; the second is taken as '-w-1'.",
            "L-BFGS-B runs with scipy's default stopping rule; the paper doesn't state its own.",
        ],
        "choose_lam": [
            "Ties for the best lam go to the largest lam. At each lam the answer with the lowest "
            "objective is scored, of L-BFGS-B's, LIBLINEAR's and Clarabel's.",
        ],
        "probability": [
            "P(Y = 1 | x) is the length of the set of tau at which x is classified as +1: the tau "
            "of the flip where there is one, the monotone rearrangement where there are more.",
            "Log loss is computed with probabilities kept within [c, 1 - c], c = 1/(2 n_train), "
            "for every method. Platt and isotonic calibration are fitted to f at tau = 1/2 on the "
            "validation part (scikit-learn's CalibratedClassifierCV).",
        ],
    }
    return [text for experiment, own in texts.items() if experiment in ran for text in own]


def _limitations(study: Study) -> list[str]:
    """Say what these results can't tell."""
    texts = ["The paper prints one number for each cell, without spread or number of runs."]
    if study.ran("timing"):
        texts.append(
            "The paper's machine and code are lost: its seconds are shown, and only ratios are "
            "compared. Its path code needed seconds where this one needs milliseconds, so that "
            "ratios to the path differ by construction."
        )
    if study.ran("probability"):
        texts.append("The bins of the reliability figure that hold few samples scatter by chance.")
    if study.ran("explore"):
        texts.append(
            "The explorer shows split 0. Its coefficients are the ten that move most, thinned to "
            "lines that nobody could tell from the exact ones; its steps are exact."
        )
    return texts


OUTPUTS.limitations = _limitations
OUTPUTS.names = METHODS
OUTPUTS.assumptions = _assumptions


# ---------------------------------------------------------------- selections


def published(number: int) -> pd.DataFrame:
    """Return a table of the paper, by data set."""
    file = Path(__file__).with_name("published") / f"quantile_svm_table_{number}.csv"
    frame = pd.read_csv(file)
    return frame.set_index(frame["dataset"].str.lower())


def _names(study: Study, experiment: str, table: pd.DataFrame) -> list[str]:
    """List the data sets to show: the paper's, if any of them was run, and all that were run."""
    run, paper = study.ran(experiment), list(table.index)
    return paper + [d for d in run if d not in paper] if set(run) & set(paper) else run


def _paper(table: pd.DataFrame, dataset: str, column: str) -> float:
    return float(table.loc[dataset, column]) if dataset in table.index else np.nan


# ---------------------------------------------------------------- tables


NOTES_2 = [
    "Seconds are CPU seconds of the solver call alone (conversion of the data is listed with the "
    "accuracy reached), one thread, all methods interleaved in one process; solvers and Recover "
    "are averaged over the quantiles and over the repeats.",
    "DPF is the whole call of quantile_svm_path, its start included; the paper's starts from a "
    "solution that L-BFGS-B found.",
    f"Ratios agree within a factor of {verdicts.RATIO_FACTOR:g}; seconds of different machines are "
    "not compared.",
    f"A kink count from fewer than three splits agrees within {100 * verdicts.SINGLE_SHARE:g} %; "
    "from three or more, the paper's must lie within two standard errors of the difference.",
]
NOTES_ACCURACY = [
    "gap is (primal - lower bound) / max of both, from the returned solution, by "
    "the one judge; the bound of solvers without a dual solution is the path's dual objective.",
    "The gap is relative to the objective. Where the data are separable and lam is small the "
    "objective is tiny, and a stopping rule in absolute terms (-e of LIBLINEAR, gtol of L-BFGS-B) "
    "leaves a large relative gap although few labels change.",
    "Set-up is the CPU time of converting the data or building the model, paid once.",
]
NOTES_LAM = [
    "Accuracy at tau = 1/2 on the validation part; * marks the best, ties to the largest lam.",
]
NOTES_SPLITS = ["Means, and standard deviations, over the splits."]


@OUTPUTS.table("table_1_data", "Table 1: data sets", "path")
def table_1(study: Study) -> pd.DataFrame:
    """Sizes, sparsity and lam."""
    quantities = {
        "n_train": ("n_train", "training samples", 0.0),
        "n_val": ("n_validation", "validation samples", 0.0),
        "n_test": ("n_test", "test samples", 0.0),
        "dim": ("dim", "features", 0.0),
        "sparsity_percent": ("zero_percent", "zeros before scaling, %", 0.05),
    }
    table, rows = published(1), []
    for dataset in _names(study, "path", table):
        own, name = study.only(experiment="path", dataset=dataset), study.name(dataset)
        for column, (metric, text, tolerance) in quantities.items():
            paper, ours = _paper(table, dataset, column), mean(own[own["metric"] == metric])[0]
            verdict = on_count(paper, ours, tolerance)
            rows.append(compared(name, text, paper, ours, verdict))
        lams = hyper(own, "lam").dropna().unique()
        paper, ours = _paper(table, dataset, "lambda"), lams[0] if len(lams) else np.nan
        rows.append(compared(name, "lam", paper, ours, on_count(paper, ours)))
    return comparison(rows)


def cpu_seconds(study: Study, dataset: str, method: str) -> float:
    """Mean over tau of the mean over repeats, so that every tau weighs the same."""
    own = study.only(experiment="timing", dataset=dataset, metric="time", method=method)
    if not len(own):
        return np.nan
    tau = hyper(own, "tau").astype(float)
    return float(own["value"].groupby(tau.fillna(-1.0)).mean().mean())


@OUTPUTS.table("table_2_times", "Table 2: CPU time and kinks", "timing", "path", notes=NOTES_2)
def table_2(study: Study) -> pd.DataFrame:
    """Compare seconds, their ratios and kinks with the paper's."""
    columns = {
        "recover": "recover_s",
        "liblinear": "liblinear_s",
        "lbfgsb": "lbfgsb_s",
        "cvxpy": None,
        "path": "dpf_s",
    }
    table, rows = published(2), []
    for dataset in _names(study, "timing", table):
        name = study.name(dataset)
        paper = {m: _paper(table, dataset, c) if c else np.nan for m, c in columns.items()}
        ours = {m: cpu_seconds(study, dataset, m) for m in columns}
        for m in columns:
            verdict = verdicts.MISSING if np.isnan(ours[m]) else verdicts.NOT_COMPARED
            rows.append(compared(name, f"{METHODS[m]}, CPU s", paper[m], ours[m], verdict))
        for top, bottom, _ in RATIOS:
            pair = paper[top] / paper[bottom], ours[top] / ours[bottom]
            text = f"{METHODS[top]} / {METHODS[bottom]}"
            rows.append(compared(name, text, *pair, on_ratio(*pair)))
        rows.append(_kink_row(study, table, dataset))
    return comparison(rows)


def kinks_by_split(study: Study, dataset: str) -> pd.Series:
    """Kinks of the whole training part under the data set's own scaling, one number a split.

    The experiments path, scaling, timing and probability all follow this very path.
    """
    own = study.only(dataset=dataset, metric="kinks")
    own = own[own["experiment"].isin(["path", "timing", "probability", "scaling"])]
    scaling = hyper(own[own["experiment"] != "scaling"], "scaling").unique()
    own = own[hyper(own, "scaling").isin(scaling)] if len(scaling) else own[:0]
    return own["value"].groupby(own["split"]).first()


def _kink_row(study: Study, table: pd.DataFrame, dataset: str) -> dict:
    counts = kinks_by_split(study, dataset)
    n = len(counts)
    ours, std = (counts.mean(), counts.std()) if n else (np.nan, np.nan)
    paper = _paper(table, dataset, "n_kinks")
    verdict = on_mean(paper, ours, ours_std=std, ours_n=max(n, 1))
    held = study.only(dataset=dataset, metric="certificate", experiment="path")
    if (held["value"] != 1.0).any():
        verdict = verdicts.NOT_CERTIFIED
    row = compared(study.name(dataset), "kinks", paper, ours, verdict)
    return {**row, "splits": n, "standard deviation": std}


@OUTPUTS.table(
    "table_2_accuracy",
    "What each method reached: times beside accuracy",
    "timing",
    notes=NOTES_ACCURACY,
)
def table_accuracy(study: Study) -> pd.DataFrame:
    """Seconds, set-up and gap of every method."""
    own = study.only(experiment="timing", metric="time")
    rows = []
    for (dataset, method), group in own.groupby(["dataset", "method"], sort=False):
        setup = study.only(experiment="timing", dataset=dataset, metric="setup_time")
        setup = setup[setup["method"] == method]["value"]
        rows.append(
            {
                "data set": study.name(dataset),
                "method": METHODS.get(method, method),
                "version": group["method_version"].iloc[0] or "this package",
                "calls": len(group),
                "CPU s, mean": group["cpu_s"].mean(),
                "CPU s, min": group["cpu_s"].min(),
                "CPU s, max": group["cpu_s"].max(),
                "wall s, mean": group["wall_s"].mean(),
                "set-up, CPU s": float(setup.sum()) if len(setup) else np.nan,
                "gap, median": group["gap"].median(),
                "gap, worst": group["gap"].max(),
                "rounding of the gap, at most": group["rounding"].max(),
            }
        )
    return pd.DataFrame(rows)


def chosen_lam(study: Study, dataset: str) -> tuple[float, list[float], pd.DataFrame]:
    """Return (best lam, all lams that tie for best, accuracy by lam) of a data set."""
    own = study.only(
        experiment="choose_lam",
        dataset=dataset,
        metric="validation_accuracy",
        method="lowest objective",
    )
    accuracy = own["value"].groupby(hyper(own, "lam").astype(float)).mean()
    tied = [lam for lam, value in accuracy.items() if value >= accuracy.max() - 1e-12]
    return (max(tied) if tied else np.nan), tied, accuracy


@OUTPUTS.table("table_lam", "lam chosen on the validation set", "choose_lam", notes=NOTES_LAM)
def table_lam(study: Study) -> pd.DataFrame:
    """Show the validation accuracy of every lam."""
    table, rows = published(1), []
    for dataset in _names(study, "choose_lam", table):
        best, tied, accuracy = chosen_lam(study, dataset)
        paper = _paper(table, dataset, "lambda")
        row = {"data set": study.name(dataset)}
        for lam, value in accuracy.sort_index().items():
            row[f"lam = {significant(lam, 1)}"] = f"{value:.4f}{' *' if lam == best else ''}"
        verdict = on_count(paper, best)
        if verdict == verdicts.DIFFERS:
            verdict = _doubted(study, dataset, paper, tied, accuracy)
        rows.append({**row, "paper": paper, "ours": best, "verdict": verdict})
    frame = pd.DataFrame(rows)
    last = [c for c in ("paper", "ours", "verdict") if c in frame]
    return frame[[c for c in frame if c not in last] + last] if len(frame) else frame


def _doubted(
    study: Study, dataset: str, paper: float, tied: list[float], accuracy: pd.Series
) -> str:
    """Say whether a lam that isn't the paper's can be told from it."""
    own = study.results[
        (study.results["experiment"] == "choose_lam") & (study.results["dataset"] == dataset)
    ]
    verdict, _ = _lam_verdict(own, paper, tied, accuracy)
    return {
        verdicts.SUPPORTED: f"{verdicts.AGREES}: tied for best",
        verdicts.INCONCLUSIVE: f"{verdicts.INCONCLUSIVE}: ahead by less than two standard errors",
        verdicts.NOT_TESTED: f"{verdicts.NOT_TESTED}: the paper's was not tried",
    }.get(verdict, verdicts.DIFFERS)


@OUTPUTS.table("table_scaling", "Kinks under other scalings", "scaling", notes=NOTES_SPLITS)
def table_scaling(study: Study) -> pd.DataFrame:
    """Kinks under each scaling, and which comes nearest to the paper's."""
    whole = study.results[study.results["experiment"] == "scaling"]
    table, rows = published(2), []
    for dataset, group in whole.groupby("dataset", sort=False):
        paper = _paper(table, dataset, "n_kinks")
        scaling = hyper(group, "scaling")
        certified = group[(group["metric"] == "certificate") & (group["value"] == 1.0)]
        counts = group[(group["metric"] == "kinks") & group["split"].isin(certified["split"])]
        counts = counts[scaling[counts.index].isin(scaling[certified.index])]
        means = counts["value"].groupby(scaling).mean()
        nearest = (means - paper).abs().idxmin() if means.notna().any() and paper > 0 else None
        for kind in scaling.unique():
            own = group[scaling == kind]
            ours, std, n = mean(own[(own["metric"] == "kinks") & own["value"].notna()])
            remark = "nearest to the paper" if kind == nearest else ""
            rows.append(
                {
                    "data set": study.name(dataset),
                    "scaling": SCALINGS[kind],
                    "splits": n,
                    "standard deviation": std,
                    "test error at tau = 1/2": own[own["metric"] == "test_error_half"][
                        "value"
                    ].mean(),
                    "remark": remark or _reason(own),
                    "paper": paper,
                    "ours": ours,
                    "verdict": on_mean(paper, ours, ours_std=std, ours_n=max(n, 1)),
                }
            )
    return comparison(rows)


def _reason(rows: pd.DataFrame) -> str:
    """Say why rows hold no number, if they don't."""
    bad = rows[rows["status"] != "ok"]
    return f"{bad['status'].iloc[0]}: {short(bad['message'].iloc[0], 120)}" if len(bad) else ""


@OUTPUTS.table("table_tau", "Test error at the tau chosen on the validation set", "path")
def table_tau(study: Study) -> pd.DataFrame:
    """Error at the exactly best tau beside that at 1/2."""
    rows = []
    for dataset in study.ran("path"):
        own = study.only(experiment="path", dataset=dataset)
        best = own[own["metric"] == "test_error_best"]
        if not len(best):
            continue
        rows.append(
            {
                "data set": study.name(dataset),
                "splits": len(best),
                "tau, mean": hyper(best, "tau").astype(float).mean(),
                "validation error": own[own["metric"] == "validation_error_best"]["value"].mean(),
                "test error": best["value"].mean(),
                "test error at tau = 1/2": own[own["metric"] == "test_error_half"]["value"].mean(),
            }
        )
    return pd.DataFrame(rows)


@OUTPUTS.table(
    "table_probability", "P(Y = 1 | x) on the test part", "probability", notes=NOTES_SPLITS
)
def table_probability(study: Study) -> pd.DataFrame:
    """Brier score and log loss of each method."""
    own = study.only(experiment="probability")
    rows = []
    for (dataset, method), group in own.groupby(["dataset", "method"], sort=False):
        brier, loss = (mean(group[group["metric"] == m]) for m in ("brier", "log_loss"))
        if not brier[2]:
            continue
        more = group[group["metric"] == "flips_more_than_once"]["value"]
        rows.append(
            {
                "data set": study.name(dataset),
                "method": "Path" if method == "path" else METHODS.get(method, method),
                "splits": brier[2],
                "Brier score": brier[0],
                "Brier, std": brier[1],
                "log loss": loss[0],
                "log loss, std": loss[1],
                "rows that flip more than once, %": 100 * more.mean() if len(more) else np.nan,
            }
        )
    return pd.DataFrame(rows)


@OUTPUTS.highlights
def speed(study: Study) -> list[Highlight]:
    """Ratios of the path's and a recovered solution's time to a solver's run."""
    table, made = published(2), []
    column = {"path": "dpf_s", "recover": "recover_s", "liblinear": "liblinear_s"}
    column["lbfgsb"] = "lbfgsb_s"
    for dataset in study.ran("timing"):
        for top, bottom, text in RATIOS:
            paper = _paper(table, dataset, column[top]) / _paper(table, dataset, column[bottom])
            ours = cpu_seconds(study, dataset, top) / cpu_seconds(study, dataset, bottom)
            verdict = on_ratio(paper, ours)
            numbers = (significant(paper, 3), significant(ours, 2))
            made.append(Highlight(text, study.name(dataset), *numbers, verdict, "table_2_times"))
    return made


# ---------------------------------------------------------------- figures


@OUTPUTS.explorer(
    "path_quantile",
    "The whole quantile path, for each lam: exact validation error with its minimisers beside the "
    "points of a grid, rates on the test part, and the coefficients that move most.",
    "explore",
)
def explorer(study: Study) -> Explorer | None:
    """Turn tau by hand, and lam among the values that were run."""
    if not study.ran("explore"):
        return None
    grid = study.settings["explore"].grid
    choices = choices_of(study, "explore", "lam", "lam", grid, "coefficients")
    return Explorer("tau", choices, second="lam", logit=True)


@OUTPUTS.figure(
    "figure_1_boundary",
    "Figure 1: decision boundary at three quantiles on generated data; the region shaded orange is "
    "classified as +1.",
    "boundary",
)
def figure_1(study: Study) -> Figure | None:
    """Decision boundary at a few tau."""
    own = study.only(experiment="boundary", split=0)
    if not len(own):
        return None
    clouds = [
        study.curve(f"points of {sign}1", experiment="boundary", split=0)[["x", "y"]].to_numpy()
        for sign in "+-"
    ]
    x0, x1 = np.vstack(clouds).T
    weights = own[own["metric"].str.startswith("boundary_")]
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
    own = {"experiment": "path", "dataset": dataset, "split": split}
    return {rate: study.steps(rate, **own) for rate in RATES}


def _splits(study: Study) -> list[tuple[str, int]]:
    """List (data set, split) of every path whose rates are known."""
    own = study.curve("tpr", experiment="path")
    return list(dict.fromkeys(zip(own["dataset"], own["split"].astype(int), strict=True)))


@OUTPUTS.figure(
    "figure_2_rates",
    "Figure 2: true positive rate, true negative rate and accuracy on the test part (split 0) "
    "against the quantile, as exact step functions of the whole path.",
    "path",
)
def figure_2(study: Study) -> Figure | None:
    """Draw the rates on the test part against tau."""
    return _rates_figure(study, spread=False)


@OUTPUTS.figure(
    "figure_2_rates_ends",
    "The same with the ends of the path spread out: where the data are separable and lam is small, "
    "nearly all kinks lie next to tau = 0 and tau = 1.",
    "path",
)
def figure_2_ends(study: Study) -> Figure | None:
    """Draw the same on a logit axis."""
    return _rates_figure(study, spread=True)


def _rates_figure(study: Study, spread: bool) -> Figure | None:
    shown = [(d, s) for d, s in _splits(study) if s == 0]
    if not shown:
        return None
    figure, axes = fig.new_figure(len(shown), size=(3.5, 3.0))
    for ax, (dataset, split) in zip(axes[0], shown, strict=True):
        _draw_rates(ax, rates(study, dataset, split), spread)
        n = mean(study.only(experiment="path", dataset=dataset, metric="n_test"))[0]
        ax.set(title=f"{study.name(dataset)} ({n:.0f} test samples)", ylim=(-0.03, 1.03))
        ax.set(xlabel="quantile τ" + (", logit scale" if spread else ""))
    axes[0][0].set_ylabel("rate on the test part")
    fig.legend_below(figure, axes)
    return figure


def _draw_rates(ax: object, rates: dict[str, tuple], spread: bool) -> None:
    """Draw the three steps; ``spread`` takes a logit axis that reaches beyond every step."""
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
    """Mean, smallest and largest number of kinks for each n of the experiment ``kinks``."""
    own = study.only(experiment="kinks", dataset=dataset, metric="kinks")
    by_n = own["value"].groupby(hyper(own, "n").astype(int))
    return by_n.agg(["mean", "min", "max", "count"]).sort_index()


@OUTPUTS.figure(
    "figure_3_kinks",
    "Number of kinks against the number of training samples, beside n log n; logarithmic axes.",
    "kinks",
    "path",
)
def figure_kinks(study: Study) -> Figure | None:
    """Draw the number of kinks against n, beside n log n."""
    names = list(dict.fromkeys(study.only(experiment="kinks", metric="kinks")["dataset"]))
    if not names:
        return None
    figure, axes = fig.new_figure(size=(5.2, 3.8))
    ax, largest, least = axes[0][0], 0, np.inf
    for k, dataset in enumerate(names):
        found = kinks_against_n(study, dataset)
        error = [found["mean"] - found["min"], found["max"] - found["mean"]]
        draws = int(found["count"].min())
        label = study.name(dataset) + (f" (mean and range of {draws} draws)" if draws > 1 else "")
        joined = "-" if len(found) > 2 else ""
        style = {"color": fig.PALETTE[k], "marker": fig.MARKERS[k], "ms": 5, "capsize": 3}
        style["ls"] = joined
        ax.errorbar(found.index, found["mean"], yerr=error, label=label, **style)
        largest, least = max(largest, found.index.max()), min(least, found.index.min())
    paths = study.only(experiment="path", metric="kinks")
    for k, (dataset, group) in enumerate(paths.groupby("dataset", sort=False)):
        n = mean(study.only(experiment="path", dataset=dataset, metric="n_train"))[0]
        marker, colour = fig.MARKERS[-1 - k % 7], fig.PALETTE[-1 - k % 7]
        ax.plot([n], [group["value"].mean()], marker, color=colour, ms=7, label=study.name(dataset))
        largest, least = max(largest, n), min(least, n)
    n = np.geomspace(max(least, 2), largest, 200)
    ax.plot(n, n * np.log(n), "--", color=fig.GREY, label="n log n")
    ax.set(xscale="log", yscale="log", xlabel="training samples n", ylabel="number of kinks")
    fig.plain_log_ticks(ax)
    ax.legend(loc="lower right")
    return figure


@OUTPUTS.figure(
    "figure_4_reliability",
    "Reliability of P(Y = 1 | x) on the test parts of all splits, pooled, with two standard errors "
    f"of each share; bins of fewer than {LEAST_IN_BIN} samples are left out, and neighbours are "
    "not joined.",
    "probability",
)
def figure_reliability(study: Study) -> Figure | None:
    """Observed share of positives against the predicted probability, all splits pooled."""
    own = study.curve("reliability", experiment="probability")
    names = list(dict.fromkeys(own["dataset"]))
    if not names:
        return None
    figure, axes = fig.new_figure(len(names), size=(3.5, 3.5))
    bins = study.settings["probability"].bins
    for ax, dataset in zip(axes[0], names, strict=True):
        ax.plot([0, 1], [0, 1], ":", color=fig.GREY, label="perfect")
        for k, method in enumerate(dict.fromkeys(own["method"])):
            rows = own[(own["dataset"] == dataset) & (own["method"] == method)]
            predicted, observed, count = _pooled(rows, bins)
            kept = count >= LEAST_IN_BIN
            predicted, observed, count = predicted[kept], observed[kept], count[kept]
            # Smoothed, so that a share of 0 or 1 has an error too.
            smooth = (observed * count + 1.0) / (count + 2.0)
            error = 2.0 * np.sqrt(smooth * (1.0 - smooth) / count)
            low = np.maximum(observed - error, 0.0)
            bars = [observed - low, np.minimum(observed + error, 1.0) - observed]
            label = "Path" if method == "path" else METHODS.get(method, method)
            look = {"color": fig.PALETTE[k], "marker": fig.MARKERS[k], "ls": "", "ms": 6}
            ax.errorbar(predicted, observed, yerr=bars, elinewidth=1, label=label, **look)
        ax.set(title=study.name(dataset), xlabel="predicted P(y = +1 | x)", aspect="equal")
        ax.set(xlim=(-0.05, 1.05), ylim=(-0.05, 1.05))
    axes[0][0].set_ylabel("observed share of y = +1")
    fig.legend_below(figure, axes)
    return figure


def _pooled(rows: pd.DataFrame, bins: int) -> tuple[np.ndarray, ...]:
    """Pool the splits' points by bin, weighted by the samples in them."""
    slot = np.minimum((rows["x"] * bins).astype(int), bins - 1)
    weights = rows["weight"].groupby(slot).sum()
    means = [(rows[c] * rows["weight"]).groupby(slot).sum() / weights for c in ("x", "y")]
    return means[0].to_numpy(), means[1].to_numpy(), weights.to_numpy()


# ---------------------------------------------------------------- claims


@OUTPUTS.claims
def rate_claims(study: Study) -> list[Claim]:
    """TPR falls and TNR rises with tau; what holds at the ends."""
    return [
        claim
        for dataset, split in _splits(study)
        for claim in _claims_of_rates(study, dataset, split)
    ]


def wrong_way(value: np.ndarray, sign: int) -> tuple[int, float]:
    """Count steps that rise where they should fall (sign -1; +1: the reverse); find the largest.

    The largest is measured from the best value so far, so that several small ones add up.
    """
    moved = -sign * value
    count = int(np.count_nonzero(np.diff(moved) > 1e-12))
    largest = float(np.max(moved - np.minimum.accumulate(moved)))
    return count, largest


def _claims_of_rates(study: Study, dataset: str, split: int) -> list[Claim]:
    found, at = rates(study, dataset, split), (study.name(dataset), f"split {split}")
    own = study.only(experiment="path", dataset=dataset, split=split)
    tested, value = study.is_papers(dataset), own.set_index("metric")["value"]
    share = value["positive_share_test"]
    counts = {"tpr": share * value["n_test"], "tnr": (1 - share) * value["n_test"]}
    made = []
    for rate, sign, verb in (("tpr", -1, "falls"), ("tnr", 1, "rises")):
        count, largest = wrong_way(found[rate][1], sign)
        evidence = (
            f"{count} of {len(found[rate][1]) - 1} steps go the other way, by at most "
            f"{largest:.3f} from the best value so far"
        )
        text = f"{rate.upper()} {verb} with tau, up to"
        verdict = on_sentence(count == 0, tested=tested)
        made.append(Claim(f"{text} ties", at[0], verdict, evidence, where=at[1]))
        allowed = 2.0 * np.sqrt(0.25 / max(counts[rate], 1.0))
        verdict = on_sentence(largest <= allowed, tested=tested)
        evidence = f"{evidence}; two standard errors of a rate of 1/2 are {allowed:.3f}"
        text = f"{text} the test part's sampling error"
        made.append(Claim(text, at[0], verdict, evidence, where=at[1]))
    return made + _end_claims(own, found, share, at, tested)


def _end_claims(
    own: pd.DataFrame, found: dict, share: float, at: tuple[str, str], tested: bool
) -> list[Claim]:
    """Check what the paper says about tau = 0 and tau = 1."""
    ends = own[own["metric"] == "labelled_positive"]
    labelled = dict(zip(hyper(ends, "tau").astype(float), ends["value"], strict=True))
    first, last = found["accuracy"][1][0], found["accuracy"][1][-1]
    extreme = labelled[0.0] == 1.0 and labelled[1.0] == 0.0
    equal = abs(first - share) < 1e-12 and abs(last - (1.0 - share)) < 1e-12
    return [
        Claim(
            "at tau = 0 every sample is labelled +1, at tau = 1 every one -1",
            at[0],
            on_sentence(extreme, tested=tested),
            f"test samples labelled +1: {100 * labelled[0.0]:.1f} % at 0, "
            f"{100 * labelled[1.0]:.1f} % at 1",
            where=at[1],
        ),
        Claim(
            "accuracy at tau = 0 is the share of positives, at tau = 1 of negatives",
            at[0],
            on_sentence(equal, tested=tested),
            f"accuracy {first:.3f} next to 0 and {last:.3f} next to 1; positives {share:.3f}",
            where=at[1],
        ),
    ]


@OUTPUTS.claims
def margin_claims(study: Study) -> list[Claim]:
    """Spam: .28 % of the samples on the margin at tau = 0, .32 % up to .9; stable accuracy."""
    own = {"experiment": "path", "dataset": "spam", "split": 0}
    taus, shares = study.steps("margin_share", **own)
    if not len(taus):
        return []
    share = pd.Series(100 * shares, taus)
    inner = share[(share.index > 0) & (share.index <= 0.9)]
    level = abs(share[0.0] - 0.28) <= 0.05 and (inner - 0.32).abs().max() <= 0.05
    tau, accuracy = rates(study, "spam", 0)["accuracy"]
    middle = accuracy[(np.append(tau[1:], 1.0) > 0.1) & (tau < 0.9)]
    evidence = f"{share[0.0]:.3g} % at tau = 0; {inner.min():.3g} to {inner.max():.3g} % up to .9"
    return [
        Claim(
            "about .28 % of the samples are on the margin at tau = 0, about .32 % up to .9",
            "Spam",
            on_sentence(bool(level)),
            evidence,
        ),
        Claim(
            "accuracy hardly changes for tau between the ends",
            "Spam",
            on_sentence(bool(np.ptp(middle) <= 0.05)),
            f"it spans {np.ptp(middle):.3f} for tau in (.1, .9)",
        ),
    ]


@OUTPUTS.claims
def kink_claims(study: Study) -> list[Claim]:
    """There are fewer than n log n kinks: a bound for any data, so that every path counts."""
    made, text = [], "there are fewer than n log n kinks"
    for dataset, group in study.only(experiment="path", metric="kinks").groupby("dataset"):
        n = mean(study.only(experiment="path", dataset=dataset, metric="n_train"))[0]
        most, bound = group["value"].max(), n * np.log(n)
        evidence = f"at most {most:.0f} kinks for n = {n:.0f}, n log n = {bound:.0f}"
        made.append(Claim(text, study.name(dataset), on_sentence(bool(most < bound)), evidence))
    for dataset in dict.fromkeys(study.only(experiment="kinks", metric="kinks")["dataset"]):
        by_n, name = kinks_against_n(study, dataset), study.name(dataset)
        worst = float((by_n["max"] / (by_n.index * np.log(by_n.index))).max())
        numbers = ", ".join(f"{n}: {k:.0f}" for n, k in by_n["mean"].items())
        at = f"n = {by_n.index.min()} to {by_n.index.max()}"
        evidence = f"at most {worst:.2f} of n log n; mean kinks by n: {numbers}"
        made.append(Claim(text, name, on_sentence(worst < 1.0), evidence, where=at))
        rising = bool((np.diff(by_n["mean"]) > 0).all())
        made.append(Claim("the number of kinks grows with n", name, on_sentence(rising), numbers))
    return made


@OUTPUTS.claims
def time_claims(study: Study) -> list[Claim]:
    """Recovering is faster than one run of a solver, the whole path slower."""
    made = []
    for dataset in study.ran("timing"):
        name, tested = study.name(dataset), study.is_papers(dataset)
        s = {m: cpu_seconds(study, dataset, m) for m in ("path", "recover", "liblinear", "lbfgsb")}
        own = study.only(experiment="timing", dataset=dataset, metric="time")
        for solver in ("liblinear", "lbfgsb"):
            if not np.isfinite(s[solver]):
                continue
            repeats = int(own[own["method"] == solver].groupby(hyper(own, "tau")).size().min())
            options = {"tested": tested, "runs": repeats}
            numbers = f"{seconds(s['recover'])} against {seconds(s[solver])}"
            text = f"recovering a solution is faster than a run of {METHODS[solver]}"
            verdict = on_sentence(s["recover"] < s[solver], **options)
            made.append(Claim(text, name, verdict, numbers))
            numbers = (
                f"{seconds(s['path'])} against {seconds(s[solver])}: "
                f"{significant(s['path'] / s[solver], 2)} runs"
            )
            text = f"the whole path costs more than one run of {METHODS[solver]}"
            verdict = on_sentence(s["path"] > s[solver], **options)
            made.append(Claim(text, name, verdict, numbers))
    return made


@OUTPUTS.claims
def lam_claims(study: Study) -> list[Claim]:
    """Table 1's lam is the best on the validation set."""
    table, made = published(1), []
    own = study.results[study.results["experiment"] == "choose_lam"]
    for dataset in study.ran("choose_lam"):
        best, tied, accuracy = chosen_lam(study, dataset)
        paper = _paper(table, dataset, "lambda")
        if not np.isfinite(paper) or not tied:
            continue
        verdict, doubt = _lam_verdict(own[own["dataset"] == dataset], paper, tied, accuracy)
        numbers = ", ".join(f"{lam:g}: {value:.4f}" for lam, value in accuracy.sort_index().items())
        text = f"lam = {paper:g} has the highest validation accuracy"
        evidence = f"ours: {best:g}; accuracy by lam: {numbers}{doubt}"
        made.append(Claim(text, study.name(dataset), verdict, evidence))
    return made


def _lam_verdict(
    own: pd.DataFrame, paper: float, tied: list[float], accuracy: pd.Series
) -> tuple[str, str]:
    """Inconclusive where the best is ahead by less than two standard errors of a difference."""
    if any(np.isclose(paper, lam) for lam in tied):
        return on_sentence(True), ""
    near = [lam for lam in accuracy.index if np.isclose(lam, paper)]
    if not near:
        return on_sentence(None, tested=False), f"; {paper:g} was not tried"
    total = own[own["metric"] == "n_validation"]["value"].sum()
    ahead = accuracy.max() - accuracy[near[0]]
    allowed = 2.0 * np.sqrt(2.0 * 0.25 / max(total, 1.0))
    doubt = f"; the best is ahead by {ahead:.4f}, two standard errors are {allowed:.4f}"
    return on_sentence(None if ahead <= allowed else False), doubt


# ---------------------------------------------------------------- checks


@OUTPUTS.check
def check_kinks(results: pd.DataFrame, curves: pd.DataFrame) -> list[str]:
    """Every path has kinks, fewer than n log n of them where n is known to be at least 100."""
    rows = results[(results["metric"] == "kinks") & (results["status"] == "ok")]
    found = [f"{where(r)}: the path has no kink." for r in rows.itertuples() if not r.value > 0]
    sizes = results[results["metric"] == "n_train"].groupby("dataset")["value"].max()
    for r in rows[rows["experiment"].isin(["path", "kinks"])].itertuples():
        n = r.hyper.get("n", sizes.get(r.dataset, np.nan))
        if n >= 100 and not r.value < n * np.log(n):
            found.append(f"{where(r)}: {r.value:.0f} kinks are not below n log n, n = {n:.0f}.")
    return found


@OUTPUTS.check
def check_rates(results: pd.DataFrame, curves: pd.DataFrame) -> list[str]:
    """Require that TPR falls and TNR rises, up to single samples' steps."""
    found = []
    for rate, sign in (("tpr", -1.0), ("tnr", 1.0)):
        own = curves[curves["curve"] == rate]
        for (dataset, split), group in own.groupby(["dataset", "split"]):
            at = f"{dataset}, split {split}: {rate}"
            value = sign * group["y"].to_numpy()[np.argsort(group["x"], kind="stable")]
            if not value[-1] > value[0]:
                found.append(f"{at} ends where it began, or beyond: it should move with tau.")
                continue
            back = float(np.max(np.maximum.accumulate(value) - value))
            if not back <= LARGEST_STEP_BACK:
                found.append(f"{at} goes back by {back:.3g}, bound {LARGEST_STEP_BACK}.")
    return found


@OUTPUTS.check
def check_recovered(results: pd.DataFrame, curves: pd.DataFrame) -> list[str]:
    """Require that a recovered solution is as good as the path itself."""
    rows = results[results["method"].isin(["recover", "recover_w"]) & (results["metric"] == "time")]
    bad = rows[~(rows["gap"] <= GAP_LIMIT)]
    return [f"{where(r)}: a recovered solution has the gap {r.gap:.3g}." for r in bad.itertuples()]
