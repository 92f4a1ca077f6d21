"""A paper's experiments run in a folder, as the tests of its outputs look at them.

``data/known/<paper>.txt`` holds every number of these runs that no clock decides; ``pytest
--write-known`` writes it anew, to be read line by line.
"""

import json
import re

from helpers.known import assert_same, figures_of, whole
from path_benchmark.papers.reports import get_outputs
from path_benchmark.reporting.study import make_study
from path_benchmark.runs.cells import collect
from path_benchmark.runs.rows import read_results

# Of clocks, of how a solver works and how exact it is, of breakpoints that rounding may split, and
# of what ties decide (local optima, choices among equals) there is a number, whatever it is.
UNKNOWN = re.compile(
    r"time$|_time|seconds|memory|check_share|\| diagnostic|iterations|gradients|steps_per_row"
    r"|_gap$|objective_difference|apart|\| excess|theorem_|breakpoints|published \| .*kinks"
    r"|partitions \| two_moons \| lam1"  # samples at the margin itself
    r"|\| (kinks|events|columns)$|errors \| .*(objective_ratio|\| step)$"
    r"|drsvm \| .*selection exact.*chosen_lam"
    r"|moons \| .*svm \| .*selection grid"  # no sample holds the bias: any between two is best
)

# Figures of seconds, of which those of made-up studies are known; and of samples at the margin.
UNSURE = {
    "weighted_svm": ("figure_times",),
    "quantile_svm": ("figure_kinks",),
    "robust_svm": ("figure_6",),
    "distributionally_robust": ("figure_4_1", "figure_4_2"),
}


def small_run(paper, settings, folder, suite="quick"):
    """Run all jobs of a suite in a folder; return its study."""
    files = []
    for job in paper.jobs(settings, suite):
        what = (job.experiment, job.dataset, range(job.first, job.last + 1))
        files += paper.run(settings, suite, *what, folder / "cells")
    tables = folder / "results.parquet", folder / "curves.parquet"
    collect(files, *tables)
    return make_study(paper, settings, suite, *map(read_results, tables))


def short(text):
    """Return hyper-parameters with six digits of each."""
    said = {k: f"{v:.6g}" if isinstance(v, float) else v for k, v in json.loads(text).items()}
    return ", ".join(f"{k} {v}" for k, v in said.items() if k != "iterations")


def grouped(frame, *columns):
    """Yield what each group of rows is called, and its rows, in the order they were written in."""
    frame = frame.assign(hyper=frame["hyper_parameters"].map(short))
    own = ["experiment", "dataset", "method", "hyper", *columns]
    for key, rows in frame.groupby(own, sort=False, dropna=False):
        yield " | ".join(str(k) for k in key if k not in (None, "ok", "")), rows


def numbers(study):
    """Return what each number of a study is called, and its values, one for each split or repeat.

    Of a curve, where it begins and ends, its integral, which does not depend on how many points it
    is cut into, and the sum of its weights.
    """
    known = {}
    for key, rows in grouped(study.results, "kernel", "status", "metric"):
        shown = rows["value"].notna() if UNKNOWN.search(key) else rows["value"]
        known[key] = [float(v) for v in shown]
    for key, rows in grouped(study.curves, "split", "curve"):
        x, y, weight = (rows[c].to_numpy(float) for c in ("x", "y", "weight"))
        if not UNKNOWN.search(key):
            known[f"curve: {key}"] = [*whole(x, y), float(weight.sum())]
    return known


def shown(study):
    """Return all that is known of a small run: its numbers and its figures."""
    outputs = get_outputs(study.paper)
    return numbers(study) | figures_of(outputs, study, UNSURE.get(study.paper, ()))


def assert_known(study, name):
    """Compare every number of a small run, and its figures, with what is written down."""
    assert_same(shown(study), name, whole=True)
