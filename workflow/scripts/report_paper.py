"""Write a paper's tables, figures and claims from its results."""

import sys
from pathlib import Path

from solution_paths.benchmarking.progress import plainly
from solution_paths.papers.reports import write_outputs

job, folder = snakemake.wildcards, Path(snakemake.output.claims).parent
with plainly(snakemake.log[0]):
    written = write_outputs(snakemake.config, job.suite, job.paper, folder)
    Path(snakemake.log[0]).write_text(written)
print(written, end="", file=sys.stderr, flush=True)
