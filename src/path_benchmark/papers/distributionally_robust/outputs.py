"""Distributionally robust models: what tables, figures and claims are made of, from results."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import ttest_rel

from ...reporting import figures as fig
from ...reporting.check import where
from ...reporting.outputs import Highlight, Outputs
from ...reporting.study import Study, hyper
from ...reporting.surface import Surface, Trace
from ...reporting.tables import compared, comparison
from ...reporting.verdicts import (
    NOT_COMPARED,
    Claim,
    on_count,
    on_mean,
    on_ratio,
    on_sentence,
)

METHODS = {
    "lad": "LAD",
    "l1_lad": "l1-LAD",
    "l2_lad": "l2-LAD",
    "drlad": "DrLAD",
    "l1_svm": "l1-SVM",
    "l2_svm": "l2-SVM",
    "drsvm": "DrSVM",
    "dm_drsvm": "DM-DrSVM",
    "svm": "SVM",
    "ksvm": "KSVM",
    "dm_svm": "DM-SVM",
    "dm_ksvm": "DM-KSVM",
    "path": "solution path",
    "exact": "solution path, exact minimiser",
    "piqp": "PIQP",
    "piqp_gram": "PIQP, dual with the Gram matrix",
    "highs": "HiGHS, warm simplex",
    "cvxpy": "CVXPY, careful (DPP)",
    "cvxpy_naive": "CVXPY, naive (rebuilt)",
    "s": "path in s",
    "lam2": "path in lam2",
}
DEVIATIONS = ("lad", "l1_lad", "l2_lad", "drlad")
MARGINS = ("l1_svm", "l2_svm", "drsvm", "dm_drsvm")
KERNELS = ("svm", "ksvm", "dm_svm", "dm_ksvm")
PUBLISHED_SPLITS = 10
LARGEST = ("n_s 20, n_lam2 20", "n_lam2 20, n_lam1 20", "rows 500, n_lam 20")
SIZES = {  # Tables 3.3, 4.3 and 5.2: n, d as printed; largest and mean VIF
    "prostate": (97, 8),
    "winequality_white": (4898, 12),
    "forest_fires": (517, 12),
    "auto_mpg": (398, 7),
    "triazines": (186, 60),
    "breast_cancer": (569, 32, 3806.11, 337.31),
    "diabetes": (768, 8, 1.59, 1.35),
    "heart": (270, 13, 1.82, 1.39),
    "scadi": (70, 206, np.inf, np.inf),
    "ionosphere": (351, 34, 7.11, 3.23),
    "sonar": (208, 60, 39.33, 15.71),
    "iris": (100, 4),
    "fourclass": (862, 2),
}
PROJECT = "this project"

OUTPUTS = Outputs()
OUTPUTS.names = METHODS


def _assumptions(study: Study) -> list[str]:
    """Say what the dissertation leaves open and what was chosen."""
    c = study.common
    return [
        "One protocol for all tables: 80 % for training, 20 % for test, not stratified; features "
        "standardised by the training part (the simulations' are not); five-fold cross-validation "
        "of every hyper-parameter on the training part, by mean squared error or 1 - label AUC; "
        "ties go to more regularisation.",
        "Grids: s = k s_max / #s, with s_max = ||beta||_1 of the LAD on the training part; lam2 "
        f"logarithmic from {c.lam2[0]:g} to {c.lam2[1]:g}; lam1 from {c.lam1:g} times the least "
        f"value at which w = 0; chapter 5's lam from {c.lam[0]:g} to {c.lam[1]:g}. l1, l2 and "
        "plain models are the same objectives with lam2 = 0, lam1 = 0 or no outer margin.",
        "Losses are 1/n times a sum; chapter 5 has lam/2 ||w||^2 and a constant kappa, chosen by "
        f"cross-validation among {', '.join(f'{k:g}' for k in c.kappas)} (it must exceed 2); the "
        f"RBF kernel has gamma = {c.gamma:g}. Chapter 4's kappa is 1 in Tables 4.1 and 4.2, else "
        f"chosen among {', '.join(f'{k:g}' for k in c.margin_kappas)}.",
        '"AUC" is (TPR + TNR) / 2 of predicted labels: areas under ROC curves, which stand beside, '
        "are about ten points higher than what is printed.",
        "Table 5.1: two moons, noise .3, kappa 3. SCADI: class 6 or 7 against the rest, 205 "
        "features. Iris: the last two classes. Forest fire: log(1 + area). Auto MPG: 392 complete "
        "rows. Wine: white. Prostate: lpsa.",
        "Figure 3.4: signal-to-noise ratio 1, n = 100, 1,000 test rows; RR, RTE and PVE leave the "
        "intercept out. Figure 4.3: w ~ N(0, I); of 50 features the first 10 have correlation "
        ".5; 200 noisy rows for training, 1,000 clean ones of the same w for test.",
        "Gurobi is not free: PIQP, the fastest free solver of quadratic programmes on these "
        "models, called directly, takes its place. Seconds of cross-validation are those of all "
        "solves at the grid's points in all folds, one thread, compilation and data excluded.",
    ]


def _limitations(study: Study) -> list[str]:
    """Say what these results can't tell."""
    return [
        "Where a bias is not unique (an even number of residuals or of margins balances it) a "
        "path and a solver have different ones, and validation errors differ.",
        "The dissertation's figures are lost: of their curves only what the text says can be "
        "tested. Its seconds are those of another machine.",
        "Table 4.1 prints 1380.407 (48.064) for two grids, Table 5.3 '7.798' for Fourclass, "
        "DM-SVM: slips of the print.",
        "Fourclass: 70.98 is matched by a nearly flat kernel alone; a usual gamma separates it.",
    ]


OUTPUTS.assumptions = _assumptions
OUTPUTS.limitations = _limitations


# ---------------------------------------------------------------- selections


def published(name: str) -> pd.DataFrame:
    """Return one of the dissertation's tables."""
    return pd.read_csv(Path(__file__).with_name("published") / f"{name}.csv")


def _values(study: Study, experiment: str, metric: str, **wanted: object) -> pd.Series:
    """Return values by split; ``selection`` among the wanted is a hyper-parameter."""
    selection = wanted.pop("selection", None)
    own = study.only(experiment=experiment, metric=metric, **wanted)
    if selection is not None:
        own = own[hyper(own, "selection") == selection]
    return own.set_index("split")["value"]


def _at(rows: pd.DataFrame, /, **wanted: object) -> pd.DataFrame:
    """Return the rows with the wanted hyper-parameters."""
    for key, value in wanted.items():
        rows = rows[hyper(rows, key) == value]
    return rows


# ---------------------------------------------------------------- data


def _data_table(experiment: str, study: Study) -> pd.DataFrame:
    rows = []
    for dataset in study.ran(experiment):
        known = SIZES.get(dataset, (np.nan, np.nan))
        own = study.only(experiment=experiment, dataset=dataset, split=0, method="data")
        for quantity, paper in zip(("n", "d", "vif_max", "vif_mean"), known, strict=False):
            value = own[own["metric"] == quantity]["value"]
            if not len(value):
                continue
            ours, name = float(value.iloc[0]), quantity.replace("_", " ").replace("vif", "VIF")
            both = np.isinf(paper) and np.isinf(ours)
            verdict = on_count(0, 0) if both else on_count(paper, ours, 0.0051)
            rows.append(compared(study.name(dataset), name, paper, ours, verdict))
    return comparison(rows)


DATA_NOTE = "Where d differs, the class or an index was counted as a feature in the print."
for _number, _experiment, _what in (
    ("3_3", "regression", "data sets of regression"),
    ("4_3", "classification", "data sets of classification, variance inflation factors"),
    ("5_2", "kernels", "data sets of the kernel machines"),
):
    OUTPUTS.table(
        f"table_{_number}_data",
        f"Table {_number.replace('_', '.')}: {_what}",
        _experiment,
        notes=[DATA_NOTE],
    )(partial(_data_table, _experiment))


# ---------------------------------------------------------------- accuracy


def _accuracy(
    study: Study, experiment: str, metric: str, file: str, column: str, methods: Sequence[str]
) -> pd.DataFrame:
    """Compare test scores of methods with a published table of means and deviations."""
    rows, paper = [], published(file)
    least = column.startswith("mse")
    for dataset in study.ran(experiment):
        known = paper[paper["dataset"] == study.name(dataset)]
        found = {
            m: _values(study, experiment, metric, dataset=dataset, method=m, selection="grid")
            for m in methods
        }
        means = {m: v.mean() for m, v in found.items() if len(v)}
        best = (min if least else max)(means.values(), default=np.nan)
        for method in means:
            own = known[known["method"] == METHODS[method]]
            print_mean, print_std = (
                float(own[f"{column}_{part}"].iloc[0]) if len(own) else np.nan
                for part in ("mean", "std")
            )
            values = found[method]
            exact = _values(
                study, experiment, metric, dataset=dataset, method=method, selection="exact"
            )
            spread, n = values.std(), len(values)
            verdict = on_mean(print_mean, values.mean(), print_std, spread, PUBLISHED_SPLITS, n)
            row = compared(study.name(dataset), METHODS[method], print_mean, values.mean(), verdict)
            row |= {"splits": n, "paper's std": print_std, "our std": spread}
            row |= {"exact minimiser": exact.mean()}
            rows.append(row | {"best here": bool(abs(values.mean() - best) <= 1e-12)})
    return comparison(rows)


ACCURACY_NOTES = [
    "Means and standard deviations (divisor n - 1) over splits, hyper-parameters chosen on the "
    'grid by cross-validation. "Exact minimiser": chosen among all values along the grid\'s lines.',
]


@OUTPUTS.table(
    "table_3_4_mse",
    "Table 3.4: mean squared test errors of least absolute deviations",
    "regression",
    notes=[
        *ACCURACY_NOTES,
        "The print's DrLAD entries equal the best cells of its Tables 3.1 and 3.2: apparently they "
        "were picked by test error, which is not done here.",
    ],
)
def table_3_4(study: Study) -> pd.DataFrame:
    """Compare test errors of four regression models."""
    return _accuracy(study, "regression", "mse", "drlad_table_3_4", "mse", DEVIATIONS)


@OUTPUTS.table(
    "table_4_4_auc",
    "Table 4.4: AUC of support vector machines",
    "classification",
    notes=ACCURACY_NOTES,
)
def table_4_4(study: Study) -> pd.DataFrame:
    """Compare AUC of linear machines."""
    return _accuracy(study, "classification", "label_auc", "dm_drsvm_table_4_4", "auc", MARGINS)


@OUTPUTS.table(
    "table_5_3_auc",
    "Table 5.3: AUC of kernel machines",
    "kernels",
    notes=ACCURACY_NOTES,
)
def table_5_3(study: Study) -> pd.DataFrame:
    """Compare AUC of kernel machines."""
    return _accuracy(study, "kernels", "label_auc", "dm_ksvm_table_5_3", "auc", KERNELS)


SELECTED = ("regression", "classification", "noisy_margins", "kernels", "simulation", "moons")


@OUTPUTS.table(
    "table_selection",
    "Chosen on the grid, and exactly along its lines",
    *SELECTED,
    notes=["Cross-validation's loss: mean squared error, or 1 - label AUC; means over splits."],
)
def table_selection(study: Study) -> pd.DataFrame:
    """Compare the losses of both selections."""
    rows = []
    for experiment in SELECTED:
        own = study.only(experiment=experiment, metric="cv_loss")
        if not len(own):
            continue
        own = own.assign(selection=hyper(own, "selection"))
        for (dataset, method), group in own.groupby(["dataset", "method"], sort=False):
            means = group.groupby("selection")["value"].mean()
            lower = 1.0 - means["exact"] / max(means["grid"], 1e-300)
            rows.append(
                {
                    "data set": study.name(dataset),
                    "model": METHODS[method],
                    "loss, grid": means["grid"],
                    "loss, exact": means["exact"],
                    "lower by, %": round(100.0 * lower, 9) + 0.0,  # no rounding, no -0
                }
            )
    return pd.DataFrame(rows)


# ---------------------------------------------------------------- grids: seconds and choices


def _seconds(study: Study, experiment: str, dataset: str, method: str, **grid: int) -> float:
    """Return the median CPU seconds of a method on a grid."""
    own = _at(study.only(experiment=experiment, dataset=dataset, metric="time"), **grid)
    own = own[own["method"] == method]["value"]
    return float(own.median()) if len(own) else np.nan


def _grid_rows(
    study: Study,
    dataset: str,
    paper: pd.Series,
    grid: dict[str, int],
    names: dict[str, str],
) -> list[dict]:
    """Return the rows of one grid: seconds, their ratio, and test scores of both choices.

    ``names``: experiments (times, grids), metric, the print's solver, our solver in its place, and
    the print's score.
    """
    title = study.name(dataset)
    theirs, score = names["theirs"], names["score"]
    times = {
        m: _seconds(study, names["times"], dataset, m, **grid) for m in ("path", names["solver"])
    }
    rows = []
    printed = {
        m: float(paper[f"{column}_s_mean"])
        for m, column in (("path", "path"), (names["solver"], theirs))
    }
    for method, value in times.items():
        if np.isfinite(value):
            name = f"{METHODS[method]}, CPU s"
            rows.append(compared(title, name, printed[method], value, NOT_COMPARED))
    ratio = times[names["solver"]] / times["path"]
    if np.isfinite(ratio):
        known = printed[names["solver"]] / printed["path"]
        name = f"{METHODS[names['solver']]} / path"
        rows.append(compared(title, name, known, ratio, on_ratio(known, ratio)))
    for method, column in (("path", "path"), ("piqp", theirs)):
        own = study.only(
            experiment=names["grids"], dataset=dataset, metric=names["metric"], method=method
        )
        own = _at(own, **grid)["value"]
        if not len(own):
            continue
        known, spread = (float(paper[f"{column}_{score}_{part}"]) for part in ("mean", "std"))
        verdict = on_mean(known, own.mean(), spread, own.std(), PUBLISHED_SPLITS, len(own))
        name = f"test {score.upper()}, {METHODS[method]}"
        rows.append(compared(title, name, known, own.mean(), verdict))
    return rows


REGRESSION = {
    "times": "regression_times",
    "grids": "regression_grids",
    "metric": "mse",
    "theirs": "cvxpy",
    "solver": "cvxpy_naive",
    "score": "mse",
}
MARGIN = {
    "times": "margin_times",
    "grids": "margin_grids",
    "metric": "label_auc",
    "theirs": "cvxpy",
    "solver": "cvxpy_naive",
    "score": "auc",
}
KERNEL = {
    "times": "kernel_times",
    "grids": "kernel_grids",
    "metric": "label_auc",
    "theirs": "gurobi",
    "solver": "piqp_gram",
    "score": "auc",
}


def _times_note(experiment: str, study: Study) -> list[str]:
    """Say what was timed at a sample of points."""
    own = study.only(experiment=experiment, metric="time")
    own = own.assign(sampled=hyper(own, "sampled"))
    texts = [
        f"{METHODS[m]} was timed at {int(n)} random points and folds of each data set; its mean "
        "stands for all points."
        for (m, n), _ in own.groupby(["method", "sampled"], sort=False)
        if n
    ]
    failed = study.only(experiment=experiment, metric="failed_calls")
    failed = failed.groupby("method", sort=False)["value"].max()
    texts += [
        f"{METHODS[m]}: up to {int(n)} of its calls ended without a solution."
        for m, n in failed.items()
        if n
    ]
    return texts


def _grids(dataset: str, chapter: int, study: Study) -> pd.DataFrame:
    """Compare seconds and scores of a data set's grids, of chapter 3 or 4."""
    names = REGRESSION if chapter == 3 else MARGIN
    if dataset not in (*study.ran(names["times"]), *study.ran(names["grids"])):
        return pd.DataFrame()
    file = "drlad_tables_3_1_and_3_2" if chapter == 3 else "dm_drsvm_tables_4_1_and_4_2"
    columns = ("n_s", "n_lam2") if chapter == 3 else ("n_lam2", "n_lam1")
    rows, table = [], published(file)
    for paper in table[table["dataset"] == study.name(dataset)].to_dict("records"):
        grid = {c: paper[c.replace("lam", "lambda")] for c in columns}
        named = {f"# of {c[2:]}": size for c, size in grid.items()}
        rows += [named | row for row in _grid_rows(study, dataset, paper, grid, names)]
    return comparison(rows)


for _number, _dataset, _model in (
    ("3_1", "prostate", "DrLAD"),
    ("3_2", "triazines", "DrLAD"),
    ("4_1", "diabetes", "DM-DrSVM"),
    ("4_2", "scadi", "DM-DrSVM"),
):
    _names = REGRESSION if _number[0] == "3" else MARGIN
    _what = "errors" if _number[0] == "3" else "AUC"
    OUTPUTS.table(
        f"table_{_number}_{_dataset}",
        f"Table {_number.replace('_', '.')}: {_model}, seconds and {_what} by size of grid",
        _names["times"],
        _names["grids"],
        notes=partial(_times_note, _names["times"]),
    )(partial(_grids, _dataset, int(_number[0])))


@OUTPUTS.table(
    "table_5_1_moons",
    "Table 5.1: DM-KSVM on two moons, seconds and AUC by size of grid",
    "kernel_times",
    "kernel_grids",
    notes=partial(_times_note, "kernel_times"),
)
def table_5_1(study: Study) -> pd.DataFrame:
    """Compare seconds and AUC by rows and size of grid."""
    rows = []
    if not study.ran("kernel_times") and not study.ran("kernel_grids"):
        return pd.DataFrame()
    for paper in published("dm_ksvm_table_5_1").to_dict("records"):
        grid = {"rows": paper["n"], "n_lam": paper["n_lambda"]}
        named = {"n": grid["rows"], "# of lam": grid["n_lam"]}
        rows += [named | row for row in _grid_rows(study, "two_moons", paper, grid, KERNEL)]
    return comparison(rows)


TIMED = ("regression_times", "margin_times", "kernel_times", "linear_times")


def _speeds(study: Study) -> pd.DataFrame:
    """Return the seconds of each method on each grid that was timed."""
    own = study.results[(study.results["metric"] == "time") & study.results["value"].notna()]
    rows = []
    for (experiment, dataset), group in own.groupby(["experiment", "dataset"], sort=False):
        keys = [
            k
            for k in ("n_s", "n_lam2", "n_lam1", "rows", "n_lam", "points")
            if k in group["hyper"].iloc[0]
        ]
        group = group.assign(**{k: hyper(group, k) for k in keys})
        for values, part in group.groupby(keys, sort=False):
            seconds = part.groupby("method", sort=False)["value"].median()
            sampled = dict(zip(part["method"], hyper(part, "sampled"), strict=True))
            grid = ", ".join(f"{k} {v}" for k, v in zip(keys, values, strict=True))
            size = int(np.prod([v for k, v in zip(keys, values, strict=True) if k != "rows"]))
            for method, value in seconds.items():
                rows.append(
                    {
                        "experiment": experiment,
                        "dataset": dataset,
                        "grid": grid,
                        "size": size,
                        "keys": tuple(values),
                        "method": method,
                        "seconds": value,
                        "ratio": value / seconds["path"],
                        "sampled": sampled[method] or 0,
                    }
                )
    return pd.DataFrame(rows)


@OUTPUTS.table(
    "table_speed",
    "CPU seconds of cross-validation on the largest grids",
    *TIMED,
    notes=lambda study: [text for e in TIMED for text in _times_note(e, study)],
)
def table_speed(study: Study) -> pd.DataFrame:
    """Compare all solvers with the path."""
    found = _speeds(study)
    if not len(found):
        return found
    largest = found.groupby(["experiment", "dataset"])["size"].transform("max")
    return pd.DataFrame(
        [
            {
                "data set": study.name(row.dataset),
                "grid": row.grid,
                "method": METHODS[row.method],
                "CPU s": row.seconds,
                "times the path's": row.ratio,
                "points sampled": row.sampled or None,
            }
            for row in found[found["size"] == largest].itertuples()
        ]
    )


# ---------------------------------------------------------------- figures


@OUTPUTS.figure(
    "figure_3_2_coefficients",
    "Figure 3.2: coefficients of DrLAD along s and lam2",
    "coefficients",
    notes=["Breakpoints are joined; in 1 / lam2 the right-hand curves are straight between them."],
)
def figure_3_2(study: Study) -> Figure | None:
    """Coefficients along both parameters."""
    if not study.ran("coefficients"):
        return None
    own = study.curves[study.curves["experiment"] == "coefficients"]
    own = own[own["curve"].str.startswith("coefficient")]
    settings = study.settings["coefficients"]
    titles = {
        "s": f"lam2 = {settings.lam2:g}",
        "lam2": f"s = {settings.s:g} of the largest",
    }
    figure, axes = fig.new_figure(2)
    for ax, (method, title) in zip(axes[0], titles.items(), strict=True):
        lines = own[own["method"] == method].groupby("curve", sort=False)
        for k, (_, line) in enumerate(lines):
            look = {"color": fig.PALETTE[k % 7], "linestyle": fig.DASHES[k // 7 % 4]}
            ax.plot(line["x"], line["y"], **look)
        ax.set_xlabel(method)
        ax.set_title(title)
        ax.set_ylabel("coefficient")
    axes[0][1].set_xscale("log")
    return figure


@OUTPUTS.figure(
    "figure_3_3_grids",
    "Figure 3.3: what a solver computes (points) and what paths cover (lines), by size of grid",
    "regression_grids",
    notes=["A schematic, as in the text: the ticks of s are illegible there."],
)
def figure_3_3(study: Study) -> Figure | None:
    """Grids of four sizes."""
    if "regression_grids" not in study.settings:
        return None
    figure, axes = fig.new_figure(2, 2, size=(3.6, 2.8))
    for ax, (n_s, n_lam2) in zip(axes.flat, ((5, 5), (10, 5), (5, 10), (10, 10)), strict=True):
        s, lam2 = np.arange(1, n_s + 1) / n_s, 10.0 * np.arange(1, n_lam2 + 1) / n_lam2
        ax.hlines(s, 0.0, 10.0, color=fig.GREEN, linewidth=1.0)
        ax.vlines(0.0, 0.0, 1.0, color=fig.ORANGE, linewidth=1.6)
        ax.plot(*(m.ravel() for m in np.meshgrid(lam2, s)), "o", color=fig.BLUE, ms=3)
        ax.set_title(f"#s = {n_s}, #lam2 = {n_lam2}", fontsize=9)
        ax.set_xlabel("lam2")
        ax.set_ylabel("s / largest s")
    return figure


@OUTPUTS.figure(
    "figure_3_3_surface",
    "Cross-validation error of DrLAD, exact along each line in s, with a grid's points",
    "coefficients",
    notes=["The mean over five folds. The lines join 81 values each; the minimiser is exact."],
)
def figure_3_3_surface(study: Study) -> Surface | None:
    """Show the error over s and lam2, to be turned by hand."""
    if not study.ran("coefficients"):
        return None
    own = study.curves[study.curves["experiment"] == "coefficients"]

    def parts(curve: str) -> list[tuple]:
        lines = own[own["curve"] == curve]
        lines = lines.assign(lam2=hyper(lines, "lam2").astype(float))
        return [
            (line["x"].tolist(), [np.log10(lam2)] * len(line), line["y"].tolist())
            for lam2, line in lines.groupby("lam2")
        ]

    across = own[own["curve"] == "surface"]
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
    found = []
    for s, line in surface.groupby("x"):
        line = line.sort_values("lam2")
        found.append(([s] * len(line), np.log10(line["lam2"]).tolist(), line["y"].tolist()))
    return found


def _curve_panels(
    study: Study,
    experiment: str,
    key: str,
    panels: dict[str, str],
    methods: Sequence[str],
    label: str,
    **chosen: object,
) -> Figure:
    """Draw means and standard errors of metrics against a hyper-parameter."""
    columns = 2 if len(panels) > 1 else 1
    rows = -(-len(panels) // columns)
    figure, axes = fig.new_figure(columns, rows)
    for ax, (metric, name) in zip(axes.flat, panels.items(), strict=False):
        for k, method in enumerate(methods):
            means = _means(study, experiment, metric, method, key, **chosen)
            if len(means):
                look = {"color": fig.PALETTE[k], "marker": fig.MARKERS[k]}
                ax.errorbar(
                    means.index,
                    means["mean"],
                    means["error"],
                    ms=4,
                    capsize=2,
                    label=METHODS[method],
                    **look,
                )
        ax.set_xlabel(label)
        ax.set_ylabel(name)
    fig.legend_below(figure, axes)
    return figure


def _means(
    study: Study, experiment: str, metric: str, method: str, key: str, **chosen: object
) -> pd.DataFrame:
    """Return mean and standard error over splits at each value of a hyper-parameter."""
    own = study.only(experiment=experiment, metric=metric, method=method)
    own = _at(own, selection="grid", **chosen)
    groups = own.assign(key=hyper(own, key)).groupby("key")["value"]
    return pd.DataFrame({"mean": groups.mean(), "error": groups.sem().fillna(0.0)})


@OUTPUTS.figure(
    "figure_3_4_simulation",
    "Figure 3.4: accuracy of four models against the correlation inside blocks",
    "simulation",
    notes=["Means and their standard errors over repetitions."],
)
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
    return _curve_panels(study, "simulation", "correlations", panels, DEVIATIONS, "correlation")


@OUTPUTS.figure(
    "figure_4_3_noise",
    "Figure 4.3: AUC against the signal-to-noise ratio of the labels",
    "noisy_margins",
    notes=["Means and their standard errors over repetitions; clean labels in the test part."],
)
def figure_4_3(study: Study) -> Figure | None:
    """AUC of linear machines."""
    if not study.ran("noisy_margins"):
        return None
    dims = study.settings["noisy_margins"].dims
    figure, axes = fig.new_figure(len(dims))
    for ax, d in zip(axes[0], dims, strict=True):
        for k, method in enumerate(MARGINS):
            means = _means(study, "noisy_margins", "label_auc", method, "snrs", d=d)
            if len(means):
                look = {"color": fig.PALETTE[k], "marker": fig.MARKERS[k]}
                ax.errorbar(
                    means.index,
                    means["mean"],
                    means["error"],
                    ms=4,
                    capsize=2,
                    label=METHODS[method],
                    **look,
                )
        ax.set_xscale("log", base=2)
        ax.set_xticks(means.index, [f"{v:g}" for v in means.index])
        ax.set_title(f"{d} features")
        ax.set_xlabel("signal-to-noise ratio")
        ax.set_ylabel("AUC, %")
    fig.legend_below(figure, axes)
    return figure


@OUTPUTS.figure("figure_5_1_moons", "Figure 5.1: two moons with different noise", "moons")
def figure_5_1(study: Study) -> Figure | None:
    """Draw the points of the first repetition."""
    if not study.ran("moons"):
        return None
    own = study.curve("points", experiment="moons", split=0)
    own = own.assign(noise=hyper(own, "noises").astype(float))
    noises = sorted(own["noise"].unique())
    figure, axes = fig.new_figure(len(noises), size=(2.4, 2.4))
    for ax, noise in zip(axes[0], noises, strict=True):
        points = own[own["noise"] == noise]
        for value, colour, marker in ((0.0, fig.BLUE, "o"), (1.0, fig.ORANGE, "s")):
            part = points[points["weight"] == value]
            ax.plot(part["x"], part["y"], marker, color=colour, ms=2.5, linestyle="none")
        ax.set_title(f"noise {noise:g}")
    return figure


@OUTPUTS.figure(
    "figure_5_2_noise",
    "Figure 5.2: AUC of kernel machines on two moons against the noise",
    "moons",
    notes=["Means and their standard errors over repetitions."],
)
def figure_5_2(study: Study) -> Figure | None:
    """AUC of four machines."""
    if not study.ran("moons"):
        return None
    return _curve_panels(
        study, "moons", "noises", {"label_auc": "AUC, %"}, KERNELS, "standard deviation of noise"
    )


# ---------------------------------------------------------------- claims


def _whole(study: Study, experiment: str, dataset: str = "") -> bool:
    """Tell whether an experiment was repeated as often as in the text, so not cut short."""
    own = study.results[study.results["experiment"] == experiment]
    own = own[own["dataset"] == dataset] if dataset else own
    return own["split"].nunique() >= PUBLISHED_SPLITS


def _metric(study: Study, metric: str, experiment: str | None = None) -> pd.DataFrame:
    wanted = {"metric": metric} | ({"experiment": experiment} if experiment else {})
    return study.only(**wanted)


@OUTPUTS.claims
def linear(study: Study) -> list[Claim]:
    """1: solutions are piecewise linear in s and in 1 / lam2."""
    made = []
    for method, text in (("s", "in s"), ("lam2", "in 1 / lam2")):
        own = study.only(experiment="coefficients", metric="excess_between", method=method)
        if len(own):
            worst = own["value"].max()
            evidence = (
                "halfway between breakpoints the mean of both ends' solutions exceeds an interior-"
                f"point solver's optimum by {worst:.1e} of it at most"
            )
            made.append(
                Claim(
                    f"DrLAD's coefficients are piecewise linear {text}",
                    study.together("coefficients"),
                    on_sentence(bool(worst < 1e-8)),
                    evidence,
                )
            )
    return made


def _doublings(found: pd.DataFrame, column: int | None, methods: Sequence[str]) -> list[float]:
    """Return by what factor seconds grow when one size of a grid (or the only one) doubles."""
    ratios = []
    groups = found[found["method"].isin(methods)].groupby(["experiment", "dataset", "method"])
    for _, group in groups:
        seconds = dict(zip(group["keys"], group["seconds"], strict=True))
        for keys, value in seconds.items():
            k = len(keys) - 1 if column is None else column
            double = (*keys[:k], 2 * keys[k], *keys[k + 1 :])
            if double in seconds:
                ratios.append(seconds[double] / value)
    return ratios


@OUTPUTS.claims
def growth(study: Study) -> list[Claim]:
    """2 and 3: what doubling a grid costs a solver, and the path."""
    found, made = _speeds(study), []
    if not len(found):
        return made
    grids = found[found["experiment"] != "linear_times"]
    full = bool(found["grid"].isin(LARGEST).any())
    solver = _doublings(grids[grids["sampled"] == 0], None, ["piqp", "cvxpy"])
    if solver:
        low, high = min(solver), max(solver)
        evidence = f"doubling the grid takes {low:.2f} to {high:.2f} times as long (1.79 to 2.27)"
        text = "a solver's time is proportional to the size of the grid"
        holds = bool(low >= 1.6 and high <= 2.4)
        made.append(Claim(text, "all data", on_sentence(holds, tested=full), evidence))
    for experiment, column, name, stated in (
        ("regression_times", 0, "s", "1.62 to 2.02, with paths in lam2"),
        ("regression_times", 1, "lam2", "1.03 to 1.15, with paths in lam2"),
        ("margin_times", 0, "lam2", "1.51 to 2.09"),
        ("margin_times", 1, "lam1", "1.01 to 1.07"),
    ):
        ratios = _doublings(grids[grids["experiment"] == experiment], column, ["path"])
        if not ratios:
            continue
        # our paths run along s, the text's along lam2: a line for each value of the other one
        lines = name == "lam2"
        low, high = min(ratios), max(ratios)
        evidence = f"doubling takes {low:.2f} to {high:.2f} times as long; the text: {stated}"
        what = "follows" if lines else "hardly depends on"
        text = f"the path's time {what} the number of {name}"
        holds = bool(low > 1.4) if lines else bool(high < 1.6)
        data = study.together(experiment)
        made.append(Claim(text, data, on_sentence(holds, tested=full), evidence))
    ratios = _doublings(grids[grids["experiment"] == "kernel_times"], None, ["path"])
    if ratios:
        evidence = f"doubling the points takes {min(ratios):.2f} to {max(ratios):.2f} times as long"
        text = "the DM-KSVM's path costs hardly more for more points"
        verdict = on_sentence(bool(max(ratios) < 1.5), tested=full)
        data = study.together("kernel_times")
        made.append(Claim(text, data, verdict, evidence + " (1.15 to 1.47)"))
    return made


GOALS = {  # of the 20 x 20 grid, and of two moons, n = 500
    ("regression_times", "cvxpy_naive"): 1000.0,
    ("regression_times", "cvxpy"): 100.0,
    ("regression_times", "piqp"): 50.0,
    ("margin_times", "cvxpy_naive"): 1000.0,
    ("margin_times", "cvxpy"): 100.0,
    ("margin_times", "piqp"): 50.0,
    ("kernel_times", "piqp"): 100.0,
    ("kernel_times", "piqp_gram"): 100.0,
}


@OUTPUTS.claims
def speed(study: Study) -> list[Claim]:
    """4: how much faster the path is than solvers; and our goals."""
    found, made = _speeds(study), []
    if not len(found):
        return made
    text = "the path is several times faster than a solver at the grid's points"
    for experiment, solver, stated in (
        ("regression_times", "cvxpy_naive", "3.5 to 17.6 and 2.5 to 7.9"),
        ("margin_times", "cvxpy_naive", "12.2 to 65.1 and 6.3 to 25.1"),
        ("kernel_times", "piqp_gram", "2.4 to 7.1"),
    ):
        own = found[(found["experiment"] == experiment) & (found["method"] == solver)]
        if len(own):
            low, high = own["ratio"].min(), own["ratio"].max()
            evidence = f"{METHODS[solver]}: {low:.3g} to {high:.3g} times; the text: {stated}"
            verdict = on_sentence(bool(low > 1.0), tested=bool(own["grid"].isin(LARGEST).any()))
            made.append(Claim(text, study.together(experiment), verdict, evidence))
    for (experiment, solver), goal in GOALS.items():
        own = found[(found["experiment"] == experiment) & (found["method"] == solver)]
        for dataset, group in own.groupby("dataset", sort=False):
            row = group.loc[group["size"] == group["size"].max()].iloc[-1]
            cut = row["grid"] not in LARGEST
            evidence = f"{row['ratio']:.3g} times ({row['grid']})"
            text = f"cross-validation by paths is {goal:g} times faster than by {METHODS[solver]}"
            verdict = on_sentence(bool(row["ratio"] >= goal), tested=not cut)
            made.append(Claim(text, study.name(dataset), verdict, evidence, source=PROJECT))
    return made


@OUTPUTS.claims
def selection(study: Study) -> list[Claim]:
    """5: path and solver choose alike; and the exact minimiser is at least as good."""
    made = []
    same = _metric(study, "same_choice")
    if len(same):
        lost = _metric(study, "loss_of_choice")["value"]
        apart = _metric(study, "loss_difference")["value"].max()
        evidence = (
            f"{int(same['value'].sum())} of {len(same)} choices alike; validation losses at "
            f"the solver's choice are higher by {lost.max():.1e} at most, relative; losses at all "
            f"points differ by {apart:.1e} at most (printed errors differ by .019, .0005, .37, "
            "1.33, 2.24)"
        )
        text = "the path chooses the same hyper-parameters as a solver, but for ties"
        data = ", ".join(
            study.together(e)
            for e in ("regression_grids", "margin_grids", "kernel_grids")
            if study.ran(e)
        )
        made.append(Claim(text, data, on_sentence(bool(lost.max() < 1e-4)), evidence))
    loss = _metric(study, "cv_loss")
    loss = loss.assign(how=hyper(loss, "selection"))
    loss = loss[loss["how"].notna()]
    if len(loss):
        keys = ["experiment", "dataset", "split", "method", "hyper_rest"]
        rest = [str({k: v for k, v in h.items() if k != "selection"}) for h in loss["hyper"]]
        wide = loss.assign(hyper_rest=rest).pivot_table(index=keys, columns="how", values="value")
        gain = 1.0 - wide["exact"] / wide["grid"].clip(lower=1e-300)
        worse = int((wide["exact"] > wide["grid"] * (1 + 1e-5) + 1e-12).sum())
        evidence = (
            f"lower in {int((gain > 1e-6).sum())}, equal in {int((gain.abs() <= 1e-6).sum())}, "
            f"higher in {worse} of {len(wide)} cross-validations; by {gain.median():.2%} in the "
            f"median, {gain.max():.2%} at most"
        )
        text = "the exact minimiser along the lines is never worse than the grid's"
        verdict = on_sentence(worse == 0)
        made.append(Claim(text, "all data", verdict, evidence, source=PROJECT))
    return made


@OUTPUTS.claims
def steps(study: Study) -> list[Claim]:
    """6: the number of steps is a small multiple of n."""
    own = _metric(study, "steps_per_row")
    if not len(own):
        return []
    high = own["value"].max()
    evidence = f"{own['value'].min():.2g} to {high:.2g} breakpoints for each row"
    data = ", ".join(dict.fromkeys(study.name(d) for d in own["dataset"]))
    text = "a path's steps are a small multiple of the number of samples"
    return [Claim(text, data, on_sentence(bool(high <= 10)), evidence)]


def _winner(study: Study, experiment: str, metric: str, dataset: str, methods: Sequence[str]):
    """Return (best method, paired p-value against the second, values by method)."""
    found = {
        m: _values(study, experiment, metric, dataset=dataset, method=m, selection="grid")
        for m in methods
    }
    found = {m: v for m, v in found.items() if len(v)}
    order = sorted(found, key=lambda m: found[m].mean(), reverse=metric != "mse")
    if len(order) < 2:
        return None
    both = pd.concat([found[order[0]], found[order[1]]], axis=1).dropna()
    one, other = both.iloc[:, 0], both.iloc[:, 1]
    p = float(ttest_rel(one, other).pvalue) if len(one) > 2 and (one - other).any() else np.nan
    return order[0], order[1], p, found


def _above(one: pd.Series, other: pd.Series) -> bool:
    """Tell whether values are above others of the same splits by more than chance."""
    both = pd.concat([one, other], axis=1).dropna()
    if len(both) < 3 or both.iloc[:, 0].mean() <= both.iloc[:, 1].mean():
        return False
    return bool(ttest_rel(both.iloc[:, 0], both.iloc[:, 1]).pvalue < 0.05)


TABLE_3_4 = {
    "prostate": "drlad",
    "winequality_white": "drlad",
    "forest_fires": "drlad",
    "auto_mpg": "l1_lad",
    "triazines": "l2_lad",
}


@OUTPUTS.claims
def regularisation(study: Study) -> list[Claim]:
    """7: regularised models beat the LAD; and which one is best where."""
    made = []
    for dataset in study.ran("regression"):
        found = _winner(study, "regression", "mse", dataset, DEVIATIONS)
        if found is None or dataset not in TABLE_3_4:
            continue
        tested = _whole(study, "regression", dataset)
        best, second, p, values = found
        others = {m: v for m, v in values.items() if m != "lad"}
        smaller = all(v.mean() < values["lad"].mean() for v in others.values())
        worse = any(_above(v, values["lad"]) for v in others.values())
        beaten = False if worse else True if smaller else None
        evidence = ", ".join(f"{METHODS[m]} {v.mean():.4g}" for m, v in values.items())
        name = study.name(dataset)
        text = "every regularised model has a smaller error than the LAD"
        made.append(Claim(text, name, on_sentence(beaten, tested=tested), evidence))
        stated = TABLE_3_4[dataset]
        text = f"{METHODS[stated]} is best"
        evidence = f"best is {METHODS[best]}, then {METHODS[second]}; paired p = {p:.2g}"
        holds = None if best == stated and not p < 0.05 else best == stated
        if best != stated and not p < 0.05:
            holds = None
        made.append(Claim(text, name, on_sentence(holds, tested=tested), evidence))
    return made


@OUTPUTS.claims
def simulated(study: Study) -> list[Claim]:
    """8 and 13: DrLAD's accuracy in the simulation, growth with rho, the grouping effect."""
    tested = _whole(study, "simulation")
    if not study.ran("simulation"):
        return []
    means = {
        metric: {
            m: _means(study, "simulation", metric, m, "correlations")["mean"] for m in DEVIATIONS
        }
        for metric in ("mse", "rr", "spread")
    }
    data, rhos = study.together("simulation"), means["rr"]["drlad"].index
    best = [min(DEVIATIONS, key=lambda m: means["rr"][m][rho]) == "drlad" for rho in rhos]
    evidence = f"least relative risk at {sum(best)} of {len(rhos)} correlations"
    runs = study.only(experiment="simulation", metric="rr", method="drlad")["split"].nunique()
    text = "DrLAD is best in RR, RTE and PVE (one claim: each is a function of RR)"
    made = [Claim(text, data, on_sentence(all(best), runs=runs, tested=tested), evidence)]
    ranks = [sorted(DEVIATIONS, key=lambda m: means["mse"][m][rho]).index("drlad") for rho in rhos]
    text = "DrLAD is first or second in MSE"
    evidence = f"ranks {', '.join(str(r + 1) for r in ranks)}"
    made.append(Claim(text, data, on_sentence(max(ranks) <= 1, runs=runs, tested=tested), evidence))
    rising = {m: np.polyfit(rhos, means["mse"][m], 1)[0] > 0 for m in DEVIATIONS}
    text = "MSE rises with the correlation for all four models"
    evidence = f"slopes are positive for {sum(rising.values())} of 4"
    made.append(
        Claim(text, data, on_sentence(all(rising.values()), runs=runs, tested=tested), evidence)
    )
    rr = means["rr"]["lad"]
    evidence = f"from {rr.min():.3f} to {rr.max():.3f} (.737 in 20 runs of the protocols)"
    text = "the LAD's relative risk doesn't depend on the correlation: it is equivariant"
    verdict = on_sentence(bool(rr.max() / rr.min() < 1.15), runs=runs, tested=tested)
    made.append(Claim(text, data, verdict, evidence, source=PROJECT))
    high = rhos.max()
    ours, theirs = means["spread"]["drlad"][high], means["spread"]["l1_lad"][high]
    evidence = f"mean range of three equal coefficients: DrLAD {ours:.3g}, l1-LAD {theirs:.3g}"
    text = f"the elastic net groups correlated features (correlation {high:g})"
    made.append(
        Claim(text, data, on_sentence(bool(ours < theirs), runs=runs, tested=tested), evidence)
    )
    return made


def _pair(study: Study, experiment: str, dataset: str, one: str, other: str) -> tuple:
    """Return mean difference of label AUC over splits, and its paired p-value."""
    a, b = (
        _values(study, experiment, "label_auc", dataset=dataset, method=m, selection="grid")
        for m in (one, other)
    )
    gap = (a - b).dropna()
    p = float(ttest_rel(a, b).pvalue) if len(gap) > 2 and gap.any() else np.nan
    return gap.mean(), p


@OUTPUTS.claims
def margins(study: Study) -> list[Claim]:
    """9: the DM-DrSVM is best; l2 above l1 with correlated features, l1 above l2 elsewhere."""
    made = []
    for dataset in study.ran("classification"):
        found = _winner(study, "classification", "label_auc", dataset, MARGINS)
        if found is None or dataset not in SIZES:
            continue
        best, second, p, values = found
        evidence = (
            f"best is {METHODS[best]} ({values[best].mean():.2f}), then {METHODS[second]} "
            f"({values[second].mean():.2f}); paired p = {p:.2g}"
        )
        holds = None if not p < 0.05 else best == "dm_drsvm"
        text = "DM-DrSVM achieves the best AUC"
        made.append(
            Claim(
                text,
                study.name(dataset),
                on_sentence(holds, tested=_whole(study, "classification", dataset)),
                evidence,
            )
        )
    for one, other, names in (
        ("l2_svm", "l1_svm", ("breast_cancer", "scadi", "sonar")),
        ("l1_svm", "l2_svm", ("heart", "ionosphere")),
    ):
        for dataset in names:
            if dataset not in study.ran("classification"):
                continue
            gap, p = _pair(study, "classification", dataset, one, other)
            text = f"{METHODS[one]} has a larger AUC than {METHODS[other]}"
            evidence = f"difference {gap:+.2f}, paired p = {p:.2g}"
            holds = None if not p < 0.05 else bool(gap > 0)
            made.append(
                Claim(
                    text,
                    study.name(dataset),
                    on_sentence(holds, tested=_whole(study, "classification", dataset)),
                    evidence,
                )
            )
    return made


@OUTPUTS.claims
def noise(study: Study) -> list[Claim]:
    """11: AUC falls with noise; KSVM is best at low, DM-KSVM at high noise."""
    tested = _whole(study, "moons")
    if not study.ran("moons"):
        return []
    means = {m: _means(study, "moons", "label_auc", m, "noises") for m in KERNELS}
    data, noises = study.together("moons"), means["ksvm"].index
    runs = study.only(experiment="moons", metric="label_auc", method="ksvm")["split"].nunique()
    falls = {m: frame["mean"].iloc[-1] < frame["mean"].iloc[0] for m, frame in means.items()}
    text = "AUC falls with the noise for all four machines"
    evidence = "; ".join(
        f"{METHODS[m]} {f['mean'].iloc[0]:.1f} to {f['mean'].iloc[-1]:.1f}"
        for m, f in means.items()
    )
    made = [Claim(text, data, on_sentence(all(falls.values()), runs=runs, tested=tested), evidence)]
    for place, stated in ((0, "ksvm"), (-1, "dm_ksvm")):
        level = noises[place]
        other = "dm_ksvm" if stated == "ksvm" else "ksvm"
        gap = means[stated]["mean"].iloc[place] - means[other]["mean"].iloc[place]
        error = np.hypot(*(means[m]["error"].iloc[place] for m in (stated, other)))
        best = max(KERNELS, key=lambda m: means[m]["mean"].iloc[place])
        evidence = (
            f"best is {METHODS[best]}; {METHODS[stated]} is {gap:+.2f} "
            f"(standard error {error:.2f}) beside {METHODS[other]}"
        )
        holds = None if abs(gap) <= 2 * error else bool(gap > 0 and best == stated)
        text = f"{METHODS[stated]} is best at noise {level:g}"
        made.append(Claim(text, data, on_sentence(holds, runs=runs, tested=tested), evidence))
    return made


@OUTPUTS.claims
def noisy_labels(study: Study) -> list[Claim]:
    """10: the DM-DrSVM is best at low signal-to-noise ratios, above l2-SVM and DrSVM at high."""
    tested = _whole(study, "noisy_margins")
    if not study.ran("noisy_margins"):
        return []
    made, data = [], study.together("noisy_margins")
    for d in study.settings["noisy_margins"].dims:
        means = {m: _means(study, "noisy_margins", "label_auc", m, "snrs", d=d) for m in MARGINS}
        levels = means["dm_drsvm"].index
        for place, others, text in (
            (0, ("l1_svm", "l2_svm", "drsvm"), "DM-DrSVM is best"),
            (-1, ("l2_svm", "drsvm"), "DM-DrSVM is above l2-SVM and DrSVM"),
        ):
            own = means["dm_drsvm"].iloc[place]
            gaps = {m: own["mean"] - means[m]["mean"].iloc[place] for m in others}
            worst = min(gaps, key=gaps.get)
            error = np.hypot(own["error"], means[worst]["error"].iloc[place])
            evidence = (
                f"smallest difference {gaps[worst]:+.2f} (standard error {error:.2f}), beside "
                f"{METHODS[worst]}"
            )
            holds = None if abs(gaps[worst]) <= 2 * error else bool(gaps[worst] > 0)
            text = f"{text} at a signal-to-noise ratio of {levels[place]:g}, {d} features"
            runs = study.only(experiment="noisy_margins", metric="label_auc")["split"].nunique()
            made.append(Claim(text, data, on_sentence(holds, runs=runs, tested=tested), evidence))
    return made


@OUTPUTS.claims
def kernel_machines(study: Study) -> list[Claim]:
    """12: the DM-KSVM is best (in print it isn't: Diabetes, and tied on Fourclass)."""
    made = []
    for dataset in study.ran("kernels"):
        found = _winner(study, "kernels", "label_auc", dataset, KERNELS)
        if found is None:
            continue
        best, second, p, values = found
        evidence = (
            f"best is {METHODS[best]} ({values[best].mean():.2f}), then {METHODS[second]} "
            f"({values[second].mean():.2f}); paired p = {p:.2g}"
        )
        printed = {"diabetes": "; in print KSVM is, too", "fourclass": "; tied in print"}
        holds = None if not p < 0.05 else best == "dm_ksvm"
        text = "DM-KSVM achieves the best AUC"
        evidence += printed.get(dataset, "")
        made.append(
            Claim(
                text,
                study.name(dataset),
                on_sentence(holds, tested=_whole(study, "kernels", dataset)),
                evidence,
            )
        )
    return made


@OUTPUTS.highlights
def highlights(study: Study) -> list[Highlight]:
    """Tell of speed, beside the text's largest grids."""
    found, made = _speeds(study), []
    if not len(found):
        return made
    stated = {
        ("regression_times", "prostate", "cvxpy_naive"): (17.56, "table_3_1_prostate"),
        ("regression_times", "triazines", "cvxpy_naive"): (7.88, "table_3_2_triazines"),
        ("margin_times", "diabetes", "cvxpy_naive"): (65.07, "table_4_1_diabetes"),
        ("margin_times", "scadi", "cvxpy_naive"): (24.30, "table_4_2_scadi"),
        ("kernel_times", "two_moons", "piqp_gram"): (7.13, "table_5_1_moons"),
    }
    for (experiment, dataset, solver), (paper, table) in stated.items():
        own = found[(found["experiment"] == experiment) & (found["dataset"] == dataset)]
        own = own[own["method"] == solver]
        if len(own):
            row = own.iloc[-1]
            what = f"{METHODS[solver]} / path ({row['grid']})"
            cut = row["grid"] not in LARGEST
            known = np.nan if cut else paper
            verdict = on_ratio(known, row["ratio"])
            shown = "" if cut else f"{paper:.3g}"
            ours = f"{row['ratio']:.3g}"
            made.append(Highlight(what, study.name(dataset), shown, ours, verdict, table))
    return made


# ---------------------------------------------------------------- checks


@OUTPUTS.check
def exact_choices(results: pd.DataFrame, curves: pd.DataFrame) -> list[str]:
    """Ask that path and solver have the same losses, and that no exact choice is worse."""
    sentences = []
    for metric, most, what in (
        ("loss_of_choice", 1e-4, "the solver's choice has a higher loss than the path's"),
        ("excess_between", 1e-8, "solutions between breakpoints are not optimal"),
    ):
        own = results[results["metric"] == metric]
        sentences += [
            f"{where(row)}: {what}, by {row.value:.1e}."
            for row in own[own["value"] > most].itertuples()
        ]
    return sentences
