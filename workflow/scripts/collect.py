"""Join a paper's cells into one table of results and one of curves."""

from pathlib import Path

from path_benchmark.runs.cells import collect, read_list
from path_benchmark.runs.depends import forget_others
from path_benchmark.runs.progress import plainly

with plainly(snakemake.log[0]):
    *jobs, own = snakemake.input
    cells = [cell for job in jobs for cell in read_list(job)]
    rows = collect(cells, snakemake.output.results, snakemake.output.curves)
    forget_others(own)
    Path(snakemake.log[0]).write_text(f"{rows} rows of {len(cells)} cells\n")
