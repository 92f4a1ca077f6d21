"""A paper's experiments run in a folder, as the tests of its outputs look at them."""

from path_benchmark.reporting.study import make_study
from path_benchmark.runs.cells import collect
from path_benchmark.runs.rows import read_results


def small_run(paper, settings, folder):
    """Run all jobs of the suite quick in a folder; return its study."""
    files = []
    for job in paper.jobs(settings, "quick"):
        what = (job.experiment, job.dataset, range(job.first, job.last + 1))
        files += paper.run(settings, "quick", *what, folder / "cells")
    tables = folder / "results.parquet", folder / "curves.parquet"
    collect(files, *tables)
    return make_study(paper, settings, "quick", *map(read_results, tables))
