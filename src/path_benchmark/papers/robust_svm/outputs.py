"""Figures of the robust SVM paper, and the frames and measures that its YAML files name."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ...objectives.robust import RobustHinge, RobustTube
from ...reporting import figures as fig
from ...reporting.claims import Case, independent
from ...reporting.explorer import Explorer, explorer_of
from ...reporting.outputs import Outputs
from ...reporting.pivots import not_run
from ...reporting.study import Study, hyper, mean
from ...reporting.tables import compared, comparison
from ...reporting.verdicts import AGREES, CANT_TELL, DIFFERS, kind, on_count, on_mean

OBJECTIVE_TOLERANCE = 1e-6  # relative difference up to which objectives are equal
SPLITS = 10  # in the paper's tables
NOISE = ["amplitude", "share", "rescaling"]
JUMP_COUNTS = ("jumps", "rises", "no_fall", "at_threshold", "not_local")
LEAST_PAIRS = 6  # with fewer the signed-rank test can't reject

OUTPUTS = Outputs(__file__)


def _of_task(study: Study, experiment: str, task: str) -> list[str]:
    return [d for d in study.ran(experiment) if study.datasets[d].task == task]


# ---------------------------------------------------------------- frames


@OUTPUTS.frame
def sizes(study: Study, task: str) -> pd.DataFrame:
    """Compare n, the sum over all parts, and d of each data set of a task with the paper's."""
    rows, paper = [], OUTPUTS.published("robust_svm_tables_1_and_2")
    for dataset in _of_task(study, "errors", task):
        printed = paper[(paper["task"] == task) & (paper["id"] == study.datasets[dataset].id)]
        values = study.only(experiment="errors", dataset=dataset)
        values = values[values["split"] == values["split"].min()].groupby("metric")["value"].first()
        # nan if the data were not available
        n = values.reindex(["n_train", "n_validation", "n_test"]).sum(skipna=False)
        for quantity, ours in (("n", n), ("d", values.get("dim", np.nan))):
            theirs = float(printed[quantity].iloc[0]) if len(printed) else np.nan
            verdict = on_count(theirs, ours)
            rows.append(compared(study.name(dataset), quantity, theirs, ours, verdict))
    ran = [study.datasets[d].id for d in _of_task(study, "errors", task)]
    ids = [data.id for data in study.datasets.values() if data.task == task]
    for absent, verdict in not_run(paper[paper["task"] == task], "id", ran, ids):
        for quantity in ("n", "d"):
            rows.append(compared(absent["dataset"], quantity, absent[quantity], np.nan, verdict))
    return comparison(rows)


@cache
def _printed_standard(task: str, data: str, kernel: str) -> tuple[float, float]:
    """Return the printed mean and deviation of the standard machine's error, nan if missing."""
    paper = OUTPUTS.published("robust_svm_tables_3_to_6")
    rows = paper[(paper["task"] == task) & (paper["id"] == data)]
    rows = rows[(rows["kernel"] == kernel) & rows["method"].isin(["C-SVC", "C-SVR"])]
    return tuple(map(float, rows[["mean", "std"]].iloc[0])) if len(rows) else (np.nan, np.nan)


def _standard_errors(study: Study, experiment: str, keys: list[str]) -> pd.DataFrame:
    """Compare the standard machine's errors in an experiment, by ``keys``, with printed ones."""
    results, rows = study.only(experiment=experiment, metric="test_error"), []
    results = results.assign(**{key: hyper(results, key) for key in keys})
    for values, part in results.groupby(["dataset", "kernel", *keys], sort=False):
        dataset, kernel, *rest = values
        data = study.datasets[dataset]
        theirs, spread = _printed_standard(data.task, data.id, kernel)
        ours, std, n = mean(part)
        row = {"kernel": kernel, **dict(zip(keys, rest, strict=True))}
        verdict = on_mean(theirs, ours, spread, std, SPLITS, n)
        row |= compared(study.name(dataset), OUTPUTS.names["standard"], theirs, ours, verdict)
        rows.append(row | {"splits": n, "paper's std": spread, "our std": std})
    return comparison(rows)


@OUTPUTS.frame
def noise_errors(study: Study) -> pd.DataFrame:
    """Compare the standard machine's errors under noise with the printed ones."""
    return _standard_errors(study, "noise", NOISE)


@OUTPUTS.frame
def bias_errors(study: Study) -> pd.DataFrame:
    """Compare errors of the standard machine with a free bias with the printed ones."""
    return _standard_errors(study, "bias", ["bias"])


@OUTPUTS.frame
def noise_settings(study: Study) -> pd.DataFrame:
    """Count the verdicts on the standard machine's errors for each setting of the noise."""
    errors, rows = noise_errors(study), []
    errors = errors[errors["paper"].notna()] if len(errors) else errors
    for values, part in errors.groupby(["kernel", *NOISE], sort=False) if len(errors) else ():
        kinds = part["verdict"].map(kind)
        row = dict(zip(("kernel", *NOISE), values, strict=True)) | {"data sets": len(part)}
        row |= {name: int((kinds == name).sum()) for name in (AGREES, DIFFERS, CANT_TELL)}
        distance = np.abs(np.log(part["ours"] / part["paper"])).mean()
        rows.append(row | {"distance": float(distance), "splits": int(part["splits"].min())})
    return pd.DataFrame(rows)


@OUTPUTS.frame
def cost_ratios(study: Study) -> pd.DataFrame:
    """Return CPU seconds of the whole outlier path and of CCCP with five candidates.

    They are medians over the repeats, sums over all C, and include the standard machine and the
    check of paths (``check``: its share). There is a row for each tolerance of CCCP's solver.
    """
    results = study.only(experiment="cost")
    results = results[
        results["metric"].isin(["own_time", "standard_time", "excess", "check_share"])
    ]
    tolerance = hyper(results, "tolerance").astype(float).fillna(study.common.tolerance)
    results = results.assign(k=hyper(results, "candidates"), tolerance=tolerance)
    rows = []
    for (dataset, kernel), group in results.groupby(["dataset", "kernel"], sort=False):
        spent = group[group["metric"].str.endswith("_time")]
        check = group[group["metric"] == "check_share"].groupby("method")["value"].median()
        spent = spent.groupby(["method", "k", "tolerance", "repeat"])["value"].sum()
        spent = spent.groupby(["method", "k", "tolerance"]).median()
        for (method, k, tolerance), cccp in spent.items():
            path = spent.get((method.replace("cccp", "op"), 0, study.common.tolerance))
            if not method.startswith("cccp") or k != 5 or path is None:
                continue
            excess = group[(group["method"] == method) & (group["tolerance"] == tolerance)]
            excess = excess[excess["metric"] == "excess"]["value"].max()
            row = {"dataset": dataset, "kernel": kernel, "path": method.replace("cccp_", "OP-")}
            row |= {"tolerance": tolerance, "op": path, "cccp": cccp, "ratio": path / cccp}
            share = check.get(method.replace("cccp", "op"), np.nan)
            rows.append(row | {"excess": excess, "check": share})
    return pd.DataFrame(rows)


# ---------------------------------------------------------------- figures


@OUTPUTS.figure
def figure_1(study: Study) -> Figure | None:
    """Draw the decision boundary and the regression line of standard and robust machines."""
    names = study.ran("toys")
    if not names:
        return None
    figure, axes = fig.new_figure(len(names))
    for ax, dataset in zip(axes[0], names, strict=True):
        points = study.curve("points", experiment="toys", dataset=dataset)
        x, y = points["x"].to_numpy(), points["y"].to_numpy()
        svc = study.datasets[dataset].task == "svc"
        sign = points["weight"].to_numpy()
        for value, colour, marker in ((0.0, fig.BLUE, "o"), (1.0, fig.ORANGE, "s")):
            mask = sign == value
            if mask.any():
                label = ("+1" if value else "-1") if svc else "sample"
                ax.plot(x[mask], y[mask], marker, color=colour, ms=4, linestyle="none", label=label)
        ax.plot(x[-2:], y[-2:], "o", mfc="none", mec=fig.RED, ms=11, linestyle="none")
        for name, dash in (("standard", "--"), ("robust", "-")):
            _draw_machine(ax, study, dataset, name, dash, svc, x, y)
        ax.set_title(study.name(dataset))
        ax.set_xlabel("first feature" if svc else "x")
        ax.set_ylabel("second feature" if svc else "y")
        ax.legend()
    return figure


def _draw_machine(ax, study, dataset, name, dash, svc, x, y) -> None:
    if not svc:
        curve = study.curve(name, experiment="toys", dataset=dataset)
        ax.plot(curve["x"], curve["y"], dash, color=fig.INK, label=name)
        return
    results = study.only(experiment="toys", dataset=dataset, method=name)
    w = [results[results["metric"] == f"w{k}"]["value"].iloc[0] for k in (0, 1)]
    ends = np.array([x.min() - 0.3, x.max() + 0.3])
    if w[1] != 0.0:
        ax.plot(ends, -w[0] / w[1] * ends, dash, color=fig.INK, label=name)
    ax.set_xlim(*ends)
    ax.set_ylim(y.min() - 0.3, y.max() + 0.3)


def _loss(task: str, z: np.ndarray, theta: float, s: float) -> np.ndarray:
    """Return the losses of margins or residuals z."""
    one, parameters = np.ones((1, 1)), {"cost0": 1.0, "theta0": theta, "s0": s}
    if task == "svc":
        return RobustHinge(one, np.ones(1), **parameters).losses(z, 0.0)
    return RobustTube(one, np.zeros(1), **parameters).losses(z, 0.0)


@OUTPUTS.figure
def losses(study: Study, task: str) -> Figure | None:
    """Draw the robust losses for both homotopies."""
    if not _of_task(study, "errors", task):
        return None
    s0 = 0.0 if task == "svc" else 1.0
    sign, z = -1.0 if task == "svc" else 1.0, np.linspace(-3, 3, 601)
    figure, axes = fig.new_figure(2)
    panels = (
        [(f"theta = {t:g}", t, s0) for t in (1.0, 0.75, 0.5, 0.25, 0.0)],
        [(f"s = {sign * s + 0.0:g}", 0.0, sign * s) for s in (np.inf, 1.5, 1.0, 0.5, 0.0)],
    )
    titles = f"theta falls, s = {s0:g}", "|s| falls, theta = 0"
    for ax, panel, title in zip(axes[0], panels, titles, strict=True):
        for k, (label, theta, s) in enumerate(panel):
            ax.plot(
                z, _loss(task, z, theta, min(max(s, -50), 50)), color=fig.PALETTE[k], label=label
            )
        ax.set_title(title)
        ax.set_xlabel("y f(x)" if task == "svc" else "y - f(x)")
        ax.set_ylabel("loss")
        ax.legend(fontsize=8)
    return figure


def _broken(
    t: np.ndarray, y: np.ndarray, jumps: np.ndarray
) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Return the points of a line (t, y), with a gap at each jump, and the ends of the gaps."""
    at = np.flatnonzero((np.diff(t) == 0) & np.isin(t[:-1], jumps))
    moved = at[y[at] != y[at + 1]]
    ends = np.concatenate([moved, moved + 1])
    whole = np.insert(t, at + 1, np.nan), np.insert(y, at + 1, np.nan)
    return whole, (t[ends], y[ends])


@OUTPUTS.figure
def figure_4(study: Study) -> Figure | None:
    """Draw OP-theta in the plane of its two weights, with the polytopes' borders."""
    if not study.ran("solution_space"):
        return None
    curves = study.curves[study.curves["experiment"] == "solution_space"]
    path, sides, jumps = (curves[curves["curve"] == c] for c in ("weights", "sides", "jumps"))
    figure, axes = fig.new_figure(size=(5.4, 4.2))
    ax = axes[0][0]
    for k, side in enumerate(sides.itertuples()):
        look = {"color": fig.GREY, "lw": 0.8, "label": "border: y f(x) = s" if not k else None}
        ax.axline((0.0, 0.0), (side.y, -side.x), **look)
    theta, w = path["weight"].to_numpy(), path[["x", "y"]].to_numpy()
    jumped = np.isclose(theta[1:], theta[:-1]) & np.isin(theta[1:], jumps["x"])
    cuts = np.flatnonzero(jumped) + 1
    for k, part in enumerate(np.split(w, cuts)):
        ax.plot(*part.T, color=fig.BLUE, lw=2.2, label="local solutions" if not k else None)
    for k, cut in enumerate(cuts):
        look = {"color": fig.RED, "ls": "--", "marker": "o", "ms": 5, "mfc": "none"}
        ax.plot(*w[cut - 1 : cut + 1].T, label="jump" if not k else None, **look)
    for index, name in ((int(theta.argmax()), "θ = 1"), (int(theta.argmin()), "θ = 0")):
        ax.annotate(name, w[index], xytext=(6, 6), textcoords="offset points")
    room = 0.15 * np.ptp(w, axis=0).max()
    low, high = w.min(axis=0) - room, w.max(axis=0) + room
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel="w₁", ylabel="w₂")
    ax.grid(False)
    ax.legend(loc="best")
    return figure


@OUTPUTS.figure
def figure_5(study: Study) -> Figure | None:
    """Draw the duals that move most, with gaps at jumps."""
    if not study.ran("dual_path"):
        return None
    curves = study.curves[study.curves["experiment"] == "dual_path"]
    jumps = curves[curves["curve"] == "jumps"]["x"].to_numpy()
    figure, axes = fig.new_figure(size=(6.0, 3.6))
    ax = axes[0][0]
    lines = curves[curves["curve"].str.startswith("dual")]
    for k, (name, line) in enumerate(lines.groupby("curve", sort=False)):
        colour = fig.PALETTE[k % len(fig.PALETTE)]
        whole, ends = _broken(line["x"].to_numpy(), line["y"].to_numpy(), jumps)
        ax.plot(*whole, color=colour, label=f"sample {name.split()[1]}")
        ax.plot(*ends, "o", mfc="none", ms=5, color=colour, linestyle="none")
    ax.set_xlabel("theta")
    ax.set_ylabel("alpha")
    ax.set_xlim(1.0, 0.0)
    ax.legend(fontsize=8)
    return figure


@OUTPUTS.figure
def figure_6(study: Study) -> Figure | None:
    """Draw the seconds of OP and CCCP against the number of candidates."""
    times = study.only(experiment="candidates", metric="time")
    if not len(times):
        return None
    times = times.assign(k=hyper(times, "candidates").astype(int))
    panels = [
        (d, k)
        for d in study.ran("candidates")
        for k in ("linear", "rbf")
        if ((times["dataset"] == d) & (times["kernel"] == k)).any()
    ]
    figure, axes = fig.new_figure(2, len(panels), size=(4.2, 2.8))
    for row, (dataset, kernel) in zip(axes, panels, strict=True):
        for ax, homotopy in zip(row, ("theta", "s"), strict=True):
            part = times[(times["dataset"] == dataset) & (times["kernel"] == kernel)]
            _draw_times(ax, part, homotopy)
            ax.set_title(f"{study.name(dataset)}, {kernel}, {homotopy}", fontsize=9)
    limits = np.array([ax.get_ylim() for ax in axes.flat])
    for ax in axes.flat:  # one scale for all, so that panels can be compared
        ax.set_ylim(limits[limits > 0.0].min() / 1.2, 1.2 * limits.max())
        fig.seconds_axis(ax)
    axes[0][0].legend()
    return figure


def _draw_times(ax, times: pd.DataFrame, homotopy: str) -> None:
    cccp = times[times["method"] == f"cccp_{homotopy}"].groupby("k")["value"].median()
    op = times[times["method"] == f"op_{homotopy}"]["value"].median()
    ax.plot(cccp.index, cccp, "s--", color=fig.RED, label="CCCP")
    ax.plot(cccp.index, np.full(len(cccp), op), "o-", color=fig.BLUE, label="OP")
    ax.set(xscale="log", yscale="log", xlabel="candidates", ylabel="CPU time")
    ax.set_xticks(cccp.index, [f"{k}" for k in cccp.index])
    ax.set_xticks([], minor=True)


@OUTPUTS.figure
def explorer(study: Study) -> Explorer | None:
    """Explore theta, and C among its computed values."""
    return explorer_of(study, "theta", "C", "coefficients")


# ---------------------------------------------------------------- measures


@OUTPUTS.measure
def local_solutions(study: Study, homotopy: str) -> Iterable[Case]:
    """Compare objectives of OP and CCCP at CCCP's parameters."""
    results = study.only(experiment="errors", metric="objective_ratio")
    results = results[hyper(results, "homotopy") == homotopy]
    if not len(results):
        return
    ratio = results["value"].to_numpy()
    better, worse = ratio < -OBJECTIVE_TOLERANCE, ratio > OBJECTIVE_TOLERANCE
    yield Case(
        tuple(dict.fromkeys(results["dataset"])),
        {
            "homotopy": homotopy,
            "balance": better.astype(float) - worse,
            "groups": independent(results),
            "better": better.mean(),
            "equal": 1.0 - better.mean() - worse.mean(),
            "worse": worse.mean(),
            "n": len(ratio),
            "median": np.median(ratio),
        },
    )


@OUTPUTS.measure
def mean_errors(study: Study, one: str, other: str) -> Iterable[Case]:
    """Compare mean test errors, as printed, of two methods over data sets and kernels."""
    from scipy.stats import wilcoxon  # only here, as its import is slow

    errors = study.only(experiment="errors", metric="test_error")
    means = errors.groupby(["dataset", "kernel", "method"], sort=False)["value"].mean().unstack()
    if not {one, other} <= set(means):
        return
    means = means[[one, other]].dropna().round(4)
    by_data = means.groupby(level="dataset", sort=False).mean()
    change, drawn = (
        (table[one] - table[other]) / table[other].clip(lower=1e-12) for table in (means, by_data)
    )
    enough = np.count_nonzero(drawn) >= LEAST_PAIRS
    p = float(wilcoxon(drawn).pvalue) if enough else np.nan
    test = "signed-rank test over data sets, their kernels' means taken"
    yield Case(
        tuple(dict.fromkeys(means.index.get_level_values("dataset"))),
        {
            "one": OUTPUTS.names[one],
            "other": OUTPUTS.names[other],
            "holds": bool(change.median() < 0) if p < 0.05 else None,
            "better": int((change < 0).sum()),
            "equal": int((change == 0).sum()),
            "worse": int((change > 0).sum()),
            "n": len(change),
            "splits": int(errors["split"].nunique()),
            "median": change.median(),
            "test": f"{test} p = {p:.2g}" if enough else f"too few differ for a {test}",
        },
    )


@OUTPUTS.measure
def jumps(study: Study) -> Iterable[Case]:
    """Summarise the jumps of all outlier paths of each kernel; no path that lacks a count counts.

    Counts of some paths beside jumps of others would say nothing.
    """
    results = study.only(experiment="errors")
    keys = ["dataset", "split", "method", "hyper_parameters"]
    for kernel, group in results.groupby("kernel"):
        values = dict(list(group.groupby("metric")))
        if not {*JUMP_COUNTS} <= set(values):
            continue
        counted = group[group["metric"].isin(JUMP_COUNTS)]
        every = counted.groupby([*keys, "metric"], observed=True)["value"].first().unstack()
        paths = every.dropna()
        if paths.empty:
            continue
        rises, no_fall, at = (int(paths[k].sum()) for k in ("rises", "no_fall", "at_threshold"))
        nothing = group[:0]
        changes = values.get("jump_change", nothing)
        moves = values.get("moves_between_jumps", nothing).set_index(keys)["value"]
        off = moves[paths["at_threshold"].reindex(moves.index) == 0]
        dependent = kernel == "linear"
        yield Case(
            tuple(dict.fromkeys(group["dataset"])),
            {
                "kernel": kernel,
                "jumps": int(paths["jumps"].sum()),
                "rises": rises,
                "no_fall": no_fall,
                "falls": False if rises else None if no_fall else True,
                "at": at,
                "keeps_off": True if not at else False if dependent else None,
                "not_local": int(paths["not_local"].sum()),
                "little": (changes["value"] <= 0.5).astype(float),
                "groups": independent(changes),
                "over": int((changes["value"] > 0.5).sum()),
                "paths": len(changes),
                "change": changes["value"].median(),
                "moves": moves.max(),
                "moves_off": off.max(),
            },
            f"{len(paths)} of {len(every)} paths" if len(paths) < len(every) else "",
        )


@OUTPUTS.measure
def paired(study: Study, metric: str, homotopy: str, spread: bool = False) -> Iterable[Case]:
    """Yield log ratios, OP to CCCP, of a metric (``spread``: of its deviation over splits)."""
    results = study.only(experiment="errors", metric=metric)
    results = results[results["method"].isin([f"op_{homotopy}", f"cccp_{homotopy}"])]
    keys = ["dataset", "kernel", *(() if spread else ("split", "hyper_parameters"))]
    take = "std" if spread else "mean"
    wide = results.groupby([*keys, "method"])["value"].agg(take).unstack().dropna()
    if len(wide.columns) < 2 or not len(wide):
        return
    ours, theirs = wide[f"op_{homotopy}"], wide[f"cccp_{homotopy}"]
    both = (ours > 0) & (theirs > 0)
    names = wide.index.get_level_values("dataset")
    groups = independent(wide.index.to_frame(index=False)) if not spread else np.asarray(names)
    yield Case(
        tuple(dict.fromkeys(names)),
        {
            "homotopy": homotopy,
            "ratios": np.log(ours[both] / theirs[both]).to_numpy(),
            "groups": groups[both.to_numpy()],
            "ours": ours.median(),
            "theirs": theirs.median(),
        },
    )


@OUTPUTS.measure
def growth(study: Study) -> Iterable[Case]:
    """Yield the growth factor of CCCP's median time from the fewest to the most candidates."""
    times = study.only(experiment="candidates", metric="time")
    times = times[times["method"].str.startswith("cccp")]
    if not len(times):
        return
    keys = ["dataset", "kernel", "method", "k"]
    median = times.assign(k=hyper(times, "candidates").astype(int)).groupby(keys)["value"].median()
    wide = median.unstack()
    few, many = wide.columns.min(), wide.columns.max()
    grown = (wide[many] / wide[few]).to_numpy()
    numbers = {"growth": grown, "least": grown.min(), "most": grown.max(), "few": few, "many": many}
    yield Case(tuple(study.ran("candidates")), {**numbers, "runs": int(times["repeat"].nunique())})


@OUTPUTS.measure
def costs(study: Study) -> Iterable[Case]:
    """Yield OP's time relative to CCCP's with five candidates, summed over both homotopies."""
    ratios = cost_ratios(study)
    for (kernel, tolerance), group in (
        ratios.groupby(["kernel", "tolerance"]) if len(ratios) else ()
    ):
        spent = group.groupby("dataset", sort=False)[["op", "cccp"]].sum()
        ratio = (spent["op"] / spent["cccp"]).to_numpy()
        numbers = {"kernel": kernel, "tolerance": tolerance, "ratio": ratio, "n": len(ratio)}
        yield Case(tuple(spent.index), {**numbers, "median": np.median(ratio)})
