"""Write one page with every table, figure and claim of a suite; tell what was reproduced."""

import sys
from pathlib import Path

from path_benchmark.reporting.page import write_page
from path_benchmark.runs.progress import plainly

out, given = Path(snakemake.output[0]), snakemake.params
with plainly(snakemake.log[0]):
    summary = write_page(out, given.about, given.papers, given.missing, given.command)
text = "".join(f"{line}\n" for line in summary)
Path(snakemake.log[0]).write_text(f"{text}data sets not at hand: {given.missing or 'none'}\n")
print(f"\n{text}", end="", file=sys.stderr)
