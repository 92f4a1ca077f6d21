"""Run the cells of one job that do not exist yet, on one thread, and list all its cells."""

import os

for library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):  # before numpy is imported
    os.environ[f"{library}_NUM_THREADS"] = "1"

from pathlib import Path

from solution_paths.benchmarking.progress import Progress
from solution_paths.papers import get_paper

job = snakemake.wildcards
what = (job.suite, job.experiment, job.dataset, range(int(job.first), int(job.last) + 1))
cells = Path(snakemake.config["results"], job.suite, "cells", job.paper)
label = f"{job.experiment} {job.dataset} {job.first}-{job.last}"
with Progress(snakemake.log[0], label) as progress:
    files = get_paper(job.paper).run(snakemake.config, *what, cells, progress)
Path(snakemake.output[0]).write_text("".join(f"{file}\n" for file in files))
