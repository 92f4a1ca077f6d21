"""Write a paper's tables, figures and claims from its results."""

import sys
from pathlib import Path

from path_benchmark.papers.reports import write_outputs
from path_benchmark.runs.depends import forget_others
from path_benchmark.runs.progress import plainly

job, folder = snakemake.wildcards, Path(snakemake.output.claims).parent
with plainly(snakemake.log[0]):
    written = write_outputs(snakemake.config, job.suite, job.paper, folder)
    forget_others(snakemake.input.depends)
    Path(snakemake.log[0]).write_text(written)
print(written, end="", file=sys.stderr, flush=True)
