"""Run the cells of one job that do not exist yet, on one thread, and list all its cells."""

import os

for library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):  # before numpy is imported
    os.environ[f"{library}_NUM_THREADS"] = "1"

from importlib import import_module
from pathlib import Path

from solution_paths.benchmarking.progress import Progress

job = snakemake.wildcards
name = snakemake.rule.rpartition("_")[0]  # the rule is called <paper>_<lane>
paper = import_module(f"solution_paths.papers.{name}.experiments")
chunk = {
    "experiment": job.experiment,
    "dataset": job.dataset,
    "splits": range(int(job.first), int(job.last) + 1),
}
cells = Path(snakemake.config["results"], job.suite, "cells", name)
label = f"{job.experiment} {job.dataset} {job.first}-{job.last}"
with Progress(snakemake.log[0], label) as progress:
    files = paper.run_chunk(snakemake.config, job.suite, chunk, cells, progress)
Path(snakemake.output[0]).write_text("".join(f"{file}\n" for file in files))
