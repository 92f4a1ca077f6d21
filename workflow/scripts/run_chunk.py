"""Run the cells of one job that do not exist yet, on one thread, and list all its cells."""

import os

for library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):  # before numpy is imported
    os.environ[f"{library}_NUM_THREADS"] = "1"
os.environ.pop("SOLUTION_PATHS_ABSENT", None)  # its data are here by now

from path_benchmark.papers import get_paper
from path_benchmark.runs.paper import Job
from path_benchmark.runs.progress import Progress, plainly

what = snakemake.wildcards
paper = get_paper(what.paper)
lane = paper.experiments[what.experiment].lane
splits = int(what.first), int(what.last)
job = Job(what.suite, what.paper, lane, what.experiment, what.dataset, *splits, what.digest)
label = f"{job.experiment} {job.dataset} {job.first}-{job.last}"
with plainly(snakemake.log[0]), Progress(snakemake.log[0], label) as progress:
    paper.run_job(snakemake.config, job, progress)
