"""Quantile SVM paper: what its tables, figures and claims are made of, from results alone."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import numpy as np
import pandas as pd

from ...benchmarking.common import read_results
from ...reporting import figures as fig
from ...reporting import tables as tab
from ...reporting.selection import (
    INCONCLUSIVE,
    NOT_SUPPORTED,
    SUPPORTED,
    failures,
    title,
)
from ...reporting.selection import claim as _claim
from ...reporting.selection import hyper as _hyper
from ...reporting.selection import mean as _mean
from ...reporting.selection import only as _only
from ...reporting.selection import short as _short
from ...reporting.selection import verdict as _verdict

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
PREPARATIONS = {
    "raw": "raw",
    "minus_one_one": "[-1, 1]",
    "standardised": "standardised",
    "zero_one": "[0, 1]",
    "unit_norm": "unit-norm rows",
}
RATES = {"tpr": "True positive rate", "tnr": "True negative rate", "accuracy": "Accuracy"}
RATE_COLOURS = {"tpr": fig.RED, "tnr": fig.BLUE, "accuracy": fig.BLACK}
RATE_DASHES = {"tpr": "--", "tnr": "-.", "accuracy": "-"}


CAPTIONS = {
    "figure_1_boundary": "Figure 1: decision boundary at three quantiles on generated data; the "
    "region shaded orange is classified as +1.",
    "figure_2_rates": "Figure 2: true positive rate, true negative rate and accuracy on the test "
    "part (split 0) against the quantile, as exact step functions of the whole path.",
    "figure_2_rates_ends": "The same with the ends of the path spread out: where the data are "
    "separable and lam is small, nearly all kinks lie next to tau = 0 and tau = 1.",
    "figure_3_kinks": "Number of kinks against the number of training samples, beside n log n; "
    "logarithmic axes.",
    "figure_4_reliability": "Reliability of P(Y = 1 | x) on the test parts of all splits, pooled; "
    "the larger a mark, the more samples its bin holds.",
}


def assumptions(settings: dict) -> list[str]:
    """Say what the paper leaves open and what was chosen, from the paper's part of the config."""
    texts = [
        f"The bias is the weight of an appended feature of value {settings['intercept_scaling']:g} "
        "and is penalised with the others, as the paper states.",
        "A decision of exactly 0 counts as +1.",
        "A kink is a distinct tau strictly between 0 and 1 at which some sample changes between "
        "the sets L, M and R; changes nearer to each other than 1e-12 of the "
        "distance to 0 or 1 are one kink. The paper's count "
        "is of its algorithm's list, which also holds tau = 0.",
        "The paper prints '-w1' twice in LIBLINEAR's arguments; the second is taken as '-w-1'.",
        "L-BFGS-B runs with scipy's default stopping rule; the paper doesn't state its own.",
        "Ties for the best lam go to the largest lam. At each lam the answer with the lowest "
        "objective is scored, of L-BFGS-B's, LIBLINEAR's and Clarabel's.",
        "P(Y = 1 | x) is the length of the set of tau at which x is classified as +1: the tau of "
        "the flip where there is one, the monotone rearrangement where there are more.",
        "Log loss is computed with probabilities kept within [c, 1 - c], c = 1/(2 n_train), for "
        "every method. Platt and isotonic calibration are fitted to f at tau = 1/2 on the "
        "validation part (scikit-learn's CalibratedClassifierCV).",
    ]
    for name, data in settings["datasets"].items():
        sizes = " / ".join(f"{s:g}" for s in data["sizes"])
        drawn = (
            f", {data['positives']} positives drawn into each part" if "positives" in data else ""
        )
        texts.append(
            f"{title(name)}: training / validation / test {sizes}{drawn}; features "
            f"{PREPARATIONS[data['preparation']]}; lam = {data['lam']:g}."
        )
    return texts


# ---------------------------------------------------------------- selections


def _published(folder: str | Path | None, number: int) -> pd.DataFrame:
    name = f"quantile_svm_table_{number}.csv"
    if folder is None:
        with resources.as_file(resources.files("solution_paths.papers.quantile_svm") / "published" / name) as file:
            frame = pd.read_csv(file)
    else:
        frame = pd.read_csv(Path(folder) / name)
    return frame.set_index(frame["dataset"].str.lower())


def _names(results: pd.DataFrame, experiment: str, published: pd.DataFrame) -> list[str]:
    """List the data sets to show: the paper's, if any of them was run, and all that were run."""
    run = list(dict.fromkeys(results.loc[results["experiment"] == experiment, "dataset"]))
    paper = list(published.index)
    return paper + [d for d in run if d not in paper] if set(run) & set(paper) else run


def _paper(published: pd.DataFrame, dataset: str, column: str) -> float:
    return float(published.loc[dataset, column]) if dataset in published.index else np.nan


# ---------------------------------------------------------------- tables


def tables(
    results: pd.DataFrame | str | Path, published: str | Path | None, out_dir: str | Path
) -> None:
    """Write every table.

    Parameters
    ----------
    results : DataFrame or path of the results table
    published : path or None
        Folder of the published numbers; the package's own if None.
    out_dir : path
    """
    results = read_results(results)
    one, two = _published(published, 1), _published(published, 2)
    made = {
        "table_1_data": _table_1(results, one),
        "table_2_times": _table_2(results, two),
        "table_2_accuracy": _table_accuracy(results),
        "table_lam": _table_lam(results, one),
        "table_scaling": _table_scaling(results, two),
        "table_tau": _table_tau(results),
        "table_probability": _table_probability(results),
        "table_certificates": _table_certificates(results),
    }
    Path(out_dir).mkdir(parents=True, exist_ok=True)
    for name, frame in made.items():
        heading, remarks, experiments = _HEADS[name]
        if len(frame):
            notes = remarks + failures(results, *experiments)
            tab.write_table(frame, out_dir, name, heading, notes)


_NOTES_2 = [
    "Seconds are CPU seconds of the solver call alone (conversion of the data is listed with the "
    "accuracy reached), one thread, all methods interleaved in one process; solvers and Recover "
    "are averaged over tau = .1, ..., .9 and over the repeats.",
    "DPF is the whole call of quantile_svm_path, its start included; the paper's starts from a "
    "solution that L-BFGS-B found.",
    f"Ratios agree within a factor of {tab.RATIO_FACTOR:g}; seconds of different machines are not "
    "compared.",
    f"A kink count from fewer than three splits agrees within {100 * tab.SINGLE_SHARE:g} %; from "
    "three or more, the paper's must lie within two standard errors of the difference.",
]
_NOTES_ACCURACY = [
    "gap is (primal - lower bound) / max of both, from the returned solution, by one judge; the "
    "bound of solvers that return no dual solution is the path's dual objective.",
    "The gap is relative to the objective. Where the data are separable and lam is small the "
    "objective is tiny, and a stopping rule in absolute terms (-e of LIBLINEAR, gtol of L-BFGS-B) "
    "leaves a large relative gap although few labels change.",
    "Set-up is the CPU time of converting the data or building the model, paid once.",
]
_NOTES_LAM = [
    "Accuracy at tau = 1/2 on the validation part; * marks the best, ties to the largest lam.",
]
_NOTES_SPLITS = ["Means, and standard deviations, over the splits."]


# Table -> heading, notes, experiments whose failures it must mention.
_HEADS: dict[str, tuple[str, list[str], tuple[str, ...]]] = {
    "table_1_data": ("Table 1: data sets", [], ("path",)),
    "table_2_times": ("Table 2: CPU seconds and kinks", _NOTES_2, ("timing", "path")),
    "table_2_accuracy": (
        "What each method of Table 2 reached: seconds beside accuracy",
        _NOTES_ACCURACY,
        ("timing",),
    ),
    "table_lam": ("lam chosen on the validation set", _NOTES_LAM, ("choose_lam",)),
    "table_scaling": ("Kinks under other scalings", _NOTES_SPLITS, ("preparation",)),
    "table_tau": ("Test error at the tau chosen on the validation set", [], ("path",)),
    "table_probability": ("P(Y = 1 | x) on the test part", _NOTES_SPLITS, ("probability",)),
    "table_certificates": ("Certificate of every path", [], ()),
}


def _table_1(results: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    quantities = {
        "n_train": ("n_train", "training samples", 0.0),
        "n_val": ("n_validation", "validation samples", 0.0),
        "n_test": ("n_test", "test samples", 0.0),
        "dim": ("dim", "features", 0.0),
        "sparsity_percent": ("zero_percent", "zeros before scaling, %", 0.05),
    }
    rows = []
    for dataset in _names(results, "path", published):
        own = _only(results, experiment="path", dataset=dataset)
        for column, (metric, text, tolerance) in quantities.items():
            paper, ours = _paper(published, dataset, column), _mean(own[own["metric"] == metric])[0]
            verdict = tab.verdict_exact(paper, ours, tolerance)
            rows.append(_compared(dataset, text, paper, ours, verdict))
        lams = _hyper(own, "lam").dropna().unique()
        paper, ours = _paper(published, dataset, "lambda"), lams[0] if len(lams) else np.nan
        rows.append(_compared(dataset, "lam", paper, ours, tab.verdict_exact(paper, ours)))
    return tab.comparison(rows) if rows else pd.DataFrame()


def _compared(dataset: str, quantity: str, paper: float, ours: float, verdict: str) -> dict:
    names = {"data set": title(dataset), "quantity": quantity}
    return {**names, "paper": paper, "ours": ours, "verdict": verdict}


def _seconds(results: pd.DataFrame, dataset: str, method: str) -> float:
    """Mean over tau of the mean over repeats, so that every tau weighs the same."""
    own = _only(results, experiment="timing", dataset=dataset, metric="time", method=method)
    if not len(own):
        return np.nan
    tau = _hyper(own, "tau").astype(float)
    return float(own["value"].groupby(tau.fillna(-1.0)).mean().mean())


def _kinks(results: pd.DataFrame, dataset: str, experiment: str = "path") -> pd.DataFrame:
    return _only(results, experiment=experiment, dataset=dataset, metric="kinks")


def _table_2(results: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    columns = {
        "recover": "recover_s",
        "liblinear": "liblinear_s",
        "lbfgsb": "lbfgsb_s",
        "cvxpy": None,
        "path": "dpf_s",
    }
    ratios = (("path", "liblinear"), ("path", "lbfgsb"), ("recover", "liblinear"))
    rows = []
    for dataset in _names(results, "timing", published):
        paper = {m: _paper(published, dataset, c) if c else np.nan for m, c in columns.items()}
        ours = {m: _seconds(results, dataset, m) for m in columns}
        for m in columns:
            verdict = tab.MISSING if np.isnan(ours[m]) else tab.NOT_COMPARED
            rows.append(_compared(dataset, f"{METHODS[m]}, s", paper[m], ours[m], verdict))
        for top, bottom in ratios:
            pair = paper[top] / paper[bottom], ours[top] / ours[bottom]
            text = f"{METHODS[top]} / {METHODS[bottom]}"
            rows.append(_compared(dataset, text, *pair, tab.verdict_ratio(*pair)))
        rows.append(_kink_row(results, published, dataset))
    return tab.comparison(rows) if rows else pd.DataFrame()


def kinks_by_split(results: pd.DataFrame, dataset: str) -> pd.Series:
    """Kinks of the whole training part under the data set's own scaling, one number a split.

    The experiments path, preparation, timing and probability all follow this very path.
    """
    own = _only(results, dataset=dataset, metric="kinks")
    own = own[own["experiment"].isin(["path", "timing", "probability", "preparation"])]
    chosen = own[own["experiment"] != "preparation"]
    scaling = _hyper(chosen, "preparation").unique()
    own = own[_hyper(own, "preparation").isin(scaling)] if len(scaling) else own[:0]
    return own["value"].groupby(own["split"]).first()


def _kink_row(results: pd.DataFrame, published: pd.DataFrame, dataset: str) -> dict:
    counts = kinks_by_split(results, dataset)
    n = len(counts)
    mean, std = (counts.mean(), counts.std()) if n else (np.nan, np.nan)
    paper = _paper(published, dataset, "n_kinks")
    verdict = tab.verdict_mean(paper, mean, ours_std=std, ours_n=max(n, 1))
    held = _only(results, dataset=dataset, metric="certificate", experiment="path")
    if (held["value"] != 1.0).any():
        verdict = "path not certified"
    spread = f", mean of {n} splits, standard deviation {std:.3g}" if n > 1 else ""
    return _compared(dataset, f"kinks{spread}", paper, mean, verdict)


def _table_accuracy(results: pd.DataFrame) -> pd.DataFrame:
    own = _only(results, experiment="timing", metric="time")
    rows = []
    for (dataset, method), group in own.groupby(["dataset", "method"], sort=False):
        setup = _only(results, experiment="timing", dataset=dataset, metric="setup_time")
        setup = setup[setup["method"] == method]["value"]
        rows.append(
            {
                "data set": title(dataset),
                "method": METHODS.get(method, method),
                "version": group["method_version"].iloc[0] or "this package",
                "calls": len(group),
                "CPU s, mean": group["cpu_s"].mean(),
                "CPU s, min": group["cpu_s"].min(),
                "CPU s, max": group["cpu_s"].max(),
                "wall s, mean": group["wall_s"].mean(),
                "set-up CPU s": float(setup.sum()) if len(setup) else np.nan,
                "gap, median": group["gap"].median(),
                "gap, worst": group["gap"].max(),
            }
        )
    return pd.DataFrame(rows)


def chosen_lam(results: pd.DataFrame, dataset: str) -> tuple[float, list[float], pd.DataFrame]:
    """Return (best lam, all lams that tie for best, accuracy by lam) of a data set."""
    own = _only(
        results,
        experiment="choose_lam",
        dataset=dataset,
        metric="validation_accuracy",
        method="lowest objective",
    )
    accuracy = own["value"].groupby(_hyper(own, "lam").astype(float)).mean()
    tied = [lam for lam, value in accuracy.items() if value >= accuracy.max() - 1e-12]
    return (max(tied) if tied else np.nan), tied, accuracy


def _table_lam(results: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for dataset in _names(results, "choose_lam", published):
        best, tied, accuracy = chosen_lam(results, dataset)
        paper = _paper(published, dataset, "lambda")
        row = {"data set": title(dataset)}
        for lam, value in accuracy.sort_index().items():
            row[f"lam = {lam:g}"] = f"{value:.4f}{' *' if lam == best else ''}"
        verdict = tab.verdict_exact(paper, best)
        if verdict == tab.DIFFERS and any(np.isclose(paper, lam) for lam in tied):
            verdict = "agrees: tied for best"
        rows.append({**row, "paper": paper, "ours": best, "verdict": verdict})
    frame = pd.DataFrame(rows)
    last = [c for c in ("paper", "ours", "verdict") if c in frame]
    return frame[[c for c in frame if c not in last] + last] if len(frame) else frame


def _table_scaling(results: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    whole = results[results["experiment"] == "preparation"]
    rows = []
    for dataset, group in whole.groupby("dataset", sort=False):
        paper = _paper(published, dataset, "n_kinks")
        scaling = _hyper(group, "preparation")
        certified = group[(group["metric"] == "certificate") & (group["value"] == 1.0)]
        counts = group[(group["metric"] == "kinks") & group["split"].isin(certified["split"])]
        counts = counts[scaling[counts.index].isin(scaling[certified.index])]
        means = counts["value"].groupby(scaling).mean()
        nearest = (means - paper).abs().idxmin() if means.notna().any() and paper > 0 else None
        for preparation in scaling.unique():
            own = group[scaling == preparation]
            mean, std, n = _mean(own[(own["metric"] == "kinks") & own["value"].notna()])
            verdict = "nearest to the paper" if preparation == nearest else ""
            rows.append(
                {
                    "data set": title(dataset),
                    "scaling": PREPARATIONS[preparation],
                    "splits": n,
                    "kinks, std": std,
                    "test error at tau = 1/2": own[own["metric"] == "test_error_half"][
                        "value"
                    ].mean(),
                    "paper": paper,
                    "ours": mean,
                    "verdict": verdict or _reason(own),
                }
            )
    return tab.comparison(rows) if rows else pd.DataFrame()


def _reason(rows: pd.DataFrame) -> str:
    """Say why rows hold no number, if they don't."""
    bad = rows[rows["status"] != "ok"]
    return f"{bad['status'].iloc[0]}: {_short(bad['message'].iloc[0], 120)}" if len(bad) else ""


def _table_tau(results: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for dataset in dict.fromkeys(results["dataset"]):
        own = _only(results, experiment="path", dataset=dataset)
        best = own[own["metric"] == "test_error_best"]
        if not len(best):
            continue
        rows.append(
            {
                "data set": title(dataset),
                "splits": len(best),
                "tau, mean": _hyper(best, "tau").astype(float).mean(),
                "validation error": own[own["metric"] == "validation_error_best"]["value"].mean(),
                "test error": best["value"].mean(),
                "test error at tau = 1/2": own[own["metric"] == "test_error_half"]["value"].mean(),
            }
        )
    return pd.DataFrame(rows)


def _table_probability(results: pd.DataFrame) -> pd.DataFrame:
    own = _only(results, experiment="probability")
    rows = []
    for (dataset, method), group in own.groupby(["dataset", "method"], sort=False):
        brier, loss = (_mean(group[group["metric"] == m]) for m in ("brier", "log_loss"))
        if not brier[2]:
            continue
        more = group[group["metric"] == "flips_more_than_once"]["value"]
        rows.append(
            {
                "data set": title(dataset),
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


def _table_certificates(results: pd.DataFrame) -> pd.DataFrame:
    own = _only(results, metric="certificate")
    rows = [
        {
            "data set": title(row.dataset),
            "experiment": row.experiment,
            "split": row.split,
            "scaling": PREPARATIONS[row.hyper["preparation"]],
            "n": row.hyper.get("n"),
            "breakpoints": row.n_breakpoints,
            "worst KKT violation": row.kkt,
            "worst relative gap": row.gap,
            "holds": bool(row.value == 1.0),
        }
        for row in own.itertuples()
    ]
    frame = pd.DataFrame(rows)
    for column in ("n", "breakpoints"):
        if column in frame:
            frame[column] = frame[column].astype(object).where(frame[column].notna(), None)
    return frame


# ---------------------------------------------------------------- figures


def figures(results: pd.DataFrame | str | Path, out_dir: str | Path) -> None:
    """Draw every figure for which there are results, as PNG and PDF."""
    results = read_results(results)
    Path(out_dir).mkdir(parents=True, exist_ok=True)
    with fig.style():
        _figure_1(results, out_dir)
        _figure_2(results, out_dir)
        _figure_kinks(results, out_dir)
        _figure_reliability(results, out_dir)


def _figure_1(results: pd.DataFrame, out_dir: str | Path) -> None:
    """Decision boundary at a few tau."""
    own = _only(results, experiment="boundary", split=0)
    points = own[own["metric"] == "point"]
    if not len(points):
        return
    x0, x1 = (_hyper(points, k).to_numpy(float) for k in ("x0", "x1"))
    positive = points["value"].to_numpy() > 0
    weights = own[own["metric"].str.startswith("boundary_")]
    taus = sorted(_hyper(weights, "tau").unique())
    figure, axes = fig.new_figure(len(taus), size=(3.3, 3.3))
    ends = np.array([x0.min() - 0.5, x0.max() + 0.5])
    low, high = x1.min() - 0.5, x1.max() + 0.5
    grid = np.stack(np.meshgrid(np.linspace(*ends, 300), np.linspace(low, high, 300)), axis=-1)
    for ax, tau in zip(axes[0], taus, strict=True):
        w = weights[_hyper(weights, "tau") == tau].set_index("metric")["value"]
        f = grid[..., 0] * w["boundary_w0"] + grid[..., 1] * w["boundary_w1"] + w["boundary_b"]
        shades = [fig.SKY, fig.ORANGE]
        ax.contourf(
            grid[..., 0], grid[..., 1], f >= 0, levels=[-1, 0.5, 2], colors=shades, alpha=0.15
        )
        if f.min() < 0 < f.max():
            ax.contour(grid[..., 0], grid[..., 1], f, levels=[0.0], colors=fig.BLACK)
        ax.plot(x0[positive], x1[positive], "s", color=fig.RED, ms=4, label="y = +1")
        ax.plot(x0[~positive], x1[~positive], "o", color=fig.BLUE, ms=4, mfc="none", label="y = −1")
        ax.set(title=f"τ = {tau:g}", xlabel="feature 1", xlim=ends, ylim=(low, high))
        ax.grid(False)
    axes[0][0].set_ylabel("feature 2")
    fig.legend_below(figure, axes)
    fig.save(figure, out_dir, "figure_1_boundary")


def steps(results: pd.DataFrame, dataset: str, split: int) -> dict[str, tuple]:
    """Return the exact step functions {rate: (tau, value)} of one data set and split."""
    own = _only(results, experiment="path", dataset=dataset, split=split)
    found = {}
    for rate in RATES:
        rows = own[own["metric"] == f"step_{rate}"]
        tau, value = _hyper(rows, "tau").to_numpy(float), rows["value"].to_numpy(float)
        order = np.argsort(tau, kind="stable")
        found[rate] = tau[order], value[order]
    return found


def _splits(results: pd.DataFrame) -> list[tuple[str, int]]:
    """List (data set, split) of every path whose rates are known."""
    own = _only(results, experiment="path", metric="step_tpr")
    return list(dict.fromkeys(zip(own["dataset"], own["split"].astype(int), strict=True)))


def _figure_2(results: pd.DataFrame, out_dir: str | Path) -> None:
    """Draw the rates on the test part against tau, exact steps; and again with the ends spread."""
    shown = [(d, s) for d, s in _splits(results) if s == 0]
    if not shown:
        return
    for name, spread in (("figure_2_rates", False), ("figure_2_rates_ends", True)):
        figure, axes = fig.new_figure(len(shown), size=(3.5, 3.0))
        for ax, (dataset, split) in zip(axes[0], shown, strict=True):
            _draw_rates(ax, steps(results, dataset, split), spread)
            n = _mean(_only(results, experiment="path", dataset=dataset, metric="n_test"))[0]
            ax.set(title=f"{title(dataset)} ({n:.0f} test samples)", ylim=(-0.03, 1.03))
            ax.set(xlabel="quantile τ" + (", logit scale" if spread else ""))
        axes[0][0].set_ylabel("rate on the test part")
        fig.legend_below(figure, axes)
        fig.save(figure, out_dir, name)


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
        ax.set_xscale("logit")
        powers = [k for k in ((9, 5) if end < 1e-4 else (2, 1)) if 10.0**-k > end]
        ticks = [*(10.0**-k for k in powers), 0.5, *(1 - 10.0**-k for k in reversed(powers))]
        names = [f"{t:g}" for t in ticks]
        if end < 1e-4:
            low, high = "$10^{{-{}}}$", "$1-10^{{-{}}}$"
            names = [low.format(k) for k in powers] + ["0.5"]
            names += [high.format(k) for k in reversed(powers)]
        ax.set_xticks(ticks, names, fontsize=9)
        ax.set_xticks([], minor=True)
    ax.set_xlim(end, 1.0 - end)


def kinks_against_n(results: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Mean, smallest and largest number of kinks for each n of the experiment ``kinks``."""
    own = _kinks(results, dataset, "kinks")
    by_n = own["value"].groupby(_hyper(own, "n").astype(int))
    return by_n.agg(["mean", "min", "max", "count"]).sort_index()


def _figure_kinks(results: pd.DataFrame, out_dir: str | Path) -> None:
    """Draw the number of kinks against n, beside n log n."""
    own = _only(results, experiment="kinks", metric="kinks")
    names = list(dict.fromkeys(own["dataset"]))
    if not names:
        return
    figure, axes = fig.new_figure(size=(5.2, 3.8))
    ax, largest, least = axes[0][0], 0, np.inf
    for k, dataset in enumerate(names):
        found = kinks_against_n(results, dataset)
        error = [found["mean"] - found["min"], found["max"] - found["mean"]]
        draws = int(found["count"].min())
        label = title(dataset) + (f" (mean and range of {draws} draws)" if draws > 1 else "")
        style = {"color": fig.PALETTE[k], "marker": fig.MARKERS[k], "ms": 5, "capsize": 3}
        ax.errorbar(found.index, found["mean"], yerr=error, label=label, **style)
        largest, least = max(largest, found.index.max()), min(least, found.index.min())
    paths = _only(results, experiment="path", metric="kinks")
    for k, (dataset, group) in enumerate(paths.groupby("dataset", sort=False)):
        n = _mean(_only(results, experiment="path", dataset=dataset, metric="n_train"))[0]
        marker, colour = fig.MARKERS[-1 - k % 7], fig.PALETTE[-1 - k % 7]
        ax.plot([n], [group["value"].mean()], marker, color=colour, ms=7, label=title(dataset))
        largest, least = max(largest, n), min(least, n)
    n = np.geomspace(max(least, 2), largest, 200)
    ax.plot(n, n * np.log(n), "--", color=fig.GREY, label="n log n")
    ax.set(xscale="log", yscale="log", xlabel="training samples n", ylabel="number of kinks")
    fig.plain_log_ticks(ax)
    ax.legend(loc="lower right")
    fig.save(figure, out_dir, "figure_3_kinks")


def _figure_reliability(results: pd.DataFrame, out_dir: str | Path) -> None:
    """Observed share of positives against the predicted probability, all splits pooled."""
    own = _only(results, experiment="probability", metric="reliability")
    names = list(dict.fromkeys(own["dataset"]))
    if not names:
        return
    figure, axes = fig.new_figure(len(names), size=(3.5, 3.5))
    for ax, dataset in zip(axes[0], names, strict=True):
        ax.plot([0, 1], [0, 1], ":", color=fig.GREY, label="perfect")
        for k, method in enumerate(dict.fromkeys(own["method"])):
            predicted, observed, count = _pooled(own, dataset, method)
            label = "Path" if method == "path" else METHODS.get(method, method)
            look = {"color": fig.PALETTE[k], "marker": fig.MARKERS[k]}
            ax.plot(predicted, observed, lw=0.9, alpha=0.5, ms=0, **look)
            size = 12 + 130 * count / count.max()
            ax.scatter(predicted, observed, s=size, alpha=0.85, label=label, **look)
        ax.set(title=title(dataset), xlabel="predicted P(y = +1 | x)", aspect="equal")
        ax.set(xlim=(-0.05, 1.05), ylim=(-0.05, 1.05))
    axes[0][0].set_ylabel("observed share of y = +1")
    legend = fig.legend_below(figure, axes)
    for handle in legend.legend_handles[1:]:
        handle.set_sizes([40])
    fig.save(figure, out_dir, "figure_4_reliability")


def _pooled(own: pd.DataFrame, dataset: str, method: str) -> tuple[np.ndarray, ...]:
    rows = own[(own["dataset"] == dataset) & (own["method"] == method)]
    frame = pd.DataFrame({k: _hyper(rows, k).astype(float) for k in ("bin", "predicted", "count")})
    frame["observed"] = rows["value"]
    weights = frame["count"].groupby(frame["bin"]).sum()
    means = [
        (frame[c] * frame["count"]).groupby(frame["bin"]).sum() / weights
        for c in ("predicted", "observed")
    ]
    return means[0].to_numpy(), means[1].to_numpy(), weights.to_numpy()


# ---------------------------------------------------------------- claims


def claims(results: pd.DataFrame | str | Path) -> pd.DataFrame:
    """Check the sentences of the paper's section 6 against our results.

    Returns
    -------
    DataFrame with the columns claim, dataset, verdict, evidence
    """
    results = read_results(results)
    found: list[dict] = []
    for dataset, split in _splits(results):
        found += _rate_claims(results, dataset, split)
    found += _margin_claims(results)
    found += _kink_claims(results)
    found += _time_claims(results)
    found += _lam_claims(results)
    return pd.DataFrame(found, columns=["claim", "dataset", "verdict", "evidence"])


def wrong_way(value: np.ndarray, sign: int) -> tuple[int, float]:
    """Count steps that rise where they should fall (sign -1; +1: the reverse); find the largest.

    The largest is measured from the best value so far, so that several small ones add up.
    """
    moved = -sign * value
    count = int(np.count_nonzero(np.diff(moved) > 1e-12))
    largest = float(np.max(moved - np.minimum.accumulate(moved)))
    return count, largest


def _rate_claims(results: pd.DataFrame, dataset: str, split: int) -> list[dict]:
    rates, found = steps(results, dataset, split), []
    where = f"{dataset}, split {split}"
    own = _only(results, experiment="path", dataset=dataset, split=split)
    value = own.set_index("metric")["value"]
    share = value["positive_share_test"]
    counts = {"tpr": share * value["n_test"], "tnr": (1 - share) * value["n_test"]}
    for rate, sign, verb in (("tpr", -1, "falls"), ("tnr", 1, "rises")):
        count, largest = wrong_way(rates[rate][1], sign)
        steps_taken = len(rates[rate][1]) - 1
        evidence = (
            f"{count} of {steps_taken} steps go the other way, by at most {largest:.4g} "
            f"from the best value so far"
        )
        name = rate.upper()
        found.append(
            _claim(f"{name} {verb} with tau, up to ties", where, _verdict(count == 0), evidence)
        )
        allowed = 2.0 * np.sqrt(0.25 / max(counts[rate], 1.0))
        found.append(
            _claim(
                f"{name} {verb} with tau, up to the test part's sampling error",
                where,
                _verdict(largest <= allowed),
                f"{evidence}; two standard errors of a rate of 1/2 are {allowed:.4g}",
            )
        )
    return found + _end_claims(own, rates, share, where)


def _end_claims(own: pd.DataFrame, rates: dict, share: float, where: str) -> list[dict]:
    """Check what the paper says about tau = 0 and tau = 1."""
    ends = own[own["metric"] == "labelled_positive"]
    labelled = dict(zip(_hyper(ends, "tau").astype(float), ends["value"], strict=True))
    first, last = rates["accuracy"][1][0], rates["accuracy"][1][-1]
    return [
        _claim(
            "at tau = 0 every sample is labelled +1, at tau = 1 every one -1",
            where,
            _verdict(labelled[0.0] == 1.0 and labelled[1.0] == 0.0),
            f"test samples labelled +1: {labelled[0.0]:.4g} at 0, {labelled[1.0]:.4g} at 1",
        ),
        _claim(
            "accuracy at tau = 0 is the share of positives, at tau = 1 of negatives",
            where,
            _verdict(abs(first - share) < 1e-12 and abs(last - (1.0 - share)) < 1e-12),
            f"accuracy {first:.4g} next to 0 and {last:.4g} next to 1; positives {share:.4g}",
        ),
    ]


def _margin_claims(results: pd.DataFrame) -> list[dict]:
    """Spam: .28 % of the samples on the margin at tau = 0, .32 % up to .9; stable accuracy."""
    own = _only(results, experiment="path", dataset="spam", split=0)
    rows = own[own["metric"] == "margin_share"]
    if not len(rows):
        return []
    share = pd.Series(100 * rows["value"].to_numpy(), _hyper(rows, "tau").astype(float))
    inner = share[(share.index > 0) & (share.index <= 0.9)]
    level = abs(share[0.0] - 0.28) <= 0.05 and (inner - 0.32).abs().max() <= 0.05
    tau, accuracy = steps(results, "spam", 0)["accuracy"]
    middle = accuracy[(np.append(tau[1:], 1.0) > 0.1) & (tau < 0.9)]
    evidence = f"{share[0.0]:.3g} % at tau = 0; {inner.min():.3g} to {inner.max():.3g} % up to .9"
    return [
        _claim(
            "about .28 % of the samples are on the margin at tau = 0, about .32 % up to .9",
            "spam",
            _verdict(bool(level)),
            evidence,
        ),
        _claim(
            "accuracy hardly changes for tau between the ends",
            "spam",
            _verdict(bool(np.ptp(middle) <= 0.05)),
            f"it spans {np.ptp(middle):.4g} for tau in (.1, .9)",
        ),
    ]


def _kink_claims(results: pd.DataFrame) -> list[dict]:
    found = []
    for dataset, group in _only(results, experiment="path", metric="kinks").groupby("dataset"):
        n = _mean(_only(results, experiment="path", dataset=dataset, metric="n_train"))[0]
        most, bound = group["value"].max(), n * np.log(n)
        evidence = f"at most {most:.0f} kinks for n = {n:.0f}, n log n = {bound:.0f}"
        found.append(
            _claim("there are fewer than n log n kinks", dataset, _verdict(most < bound), evidence)
        )
    for dataset in dict.fromkeys(_only(results, experiment="kinks", metric="kinks")["dataset"]):
        by_n = kinks_against_n(results, dataset)
        bound = by_n.index * np.log(by_n.index)
        worst = float((by_n["max"] / bound).max())
        numbers = ", ".join(f"{n}: {k:.0f}" for n, k in by_n["mean"].items())
        found.append(
            _claim(
                "there are fewer than n log n kinks",
                f"{dataset}, n = {by_n.index.min()} to {by_n.index.max()}",
                _verdict(worst < 1.0),
                f"at most {worst:.3g} of n log n; mean kinks by n: {numbers}",
            )
        )
        rising = bool((np.diff(by_n["mean"]) > 0).all())
        found.append(_claim("the number of kinks grows with n", dataset, _verdict(rising), numbers))
    return found


def _time_claims(results: pd.DataFrame) -> list[dict]:
    found = []
    for dataset in dict.fromkeys(_only(results, experiment="timing", metric="time")["dataset"]):
        s = {m: _seconds(results, dataset, m) for m in ("path", "recover", "liblinear", "lbfgsb")}
        for solver in ("liblinear", "lbfgsb"):
            if not np.isfinite(s[solver]):
                continue
            numbers = f"{s['recover']:.3g} s against {s[solver]:.3g} s"
            text = f"recovering a solution is faster than a run of {METHODS[solver]}"
            found.append(_claim(text, dataset, _verdict(s["recover"] < s[solver]), numbers))
            numbers = (
                f"{s['path']:.3g} s against {s[solver]:.3g} s: {s['path'] / s[solver]:.3g} runs"
            )
            text = f"the whole path costs more than one run of {METHODS[solver]}"
            found.append(_claim(text, dataset, _verdict(s["path"] > s[solver]), numbers))
    return found


def _lam_claims(results: pd.DataFrame) -> list[dict]:
    published, found = _published(None, 1), []
    own = results[results["experiment"] == "choose_lam"]
    for dataset in dict.fromkeys(own["dataset"]):
        best, tied, accuracy = chosen_lam(results, dataset)
        paper = _paper(published, dataset, "lambda")
        if not np.isfinite(paper) or not tied:
            continue
        verdict, doubt = _lam_verdict(own[own["dataset"] == dataset], paper, tied, accuracy)
        numbers = ", ".join(f"{lam:g}: {value:.4g}" for lam, value in accuracy.sort_index().items())
        text = f"lam = {paper:g} has the highest validation accuracy"
        evidence = f"ours: {best:g}; accuracy by lam: {numbers}{doubt}"
        found.append(_claim(text, dataset, verdict, evidence))
    return found


def _lam_verdict(
    own: pd.DataFrame, paper: float, tied: list[float], accuracy: pd.Series
) -> tuple[str, str]:
    """Inconclusive where the best is ahead by less than two standard errors of a difference."""
    if any(np.isclose(paper, lam) for lam in tied):
        return SUPPORTED, ""
    near = [lam for lam in accuracy.index if np.isclose(lam, paper)]
    if not near:
        return INCONCLUSIVE, f"; {paper:g} was not tried"
    total = own[own["metric"] == "n_validation"]["value"].sum()
    ahead = accuracy.max() - accuracy[near[0]]
    allowed = 2.0 * np.sqrt(2.0 * 0.25 / max(total, 1.0))
    doubt = f"; the best is ahead by {ahead:.3g}, two standard errors are {allowed:.3g}"
    return (INCONCLUSIVE if ahead <= allowed else NOT_SUPPORTED), doubt
