"""Join a paper's cells into one table of results and one of curves."""

import sys
from pathlib import Path

from solution_paths.benchmarking.cells import DamagedCell, collect, read_list

try:
    cells = [cell for job in snakemake.input for cell in read_list(job)]
    rows = collect(cells, snakemake.output.results, snakemake.output.curves)
except DamagedCell as error:
    Path(snakemake.log[0]).write_text(f"{error}\n")
    sys.exit(f"error: {error}.")
Path(snakemake.log[0]).write_text(f"{rows} rows of {len(cells)} cells\n")
