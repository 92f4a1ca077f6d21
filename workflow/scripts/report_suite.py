"""Write one page with every table, figure and claim of a suite; tell what was reproduced."""

import sys
from pathlib import Path

from path_benchmark.reporting.page import write_page
from path_benchmark.runs.depends import forget_others
from path_benchmark.runs.progress import plainly

out, about = Path(snakemake.output[0]), snakemake.params.about
with plainly(snakemake.log[0]):
    summary = write_page(out, **about)
    forget_others(snakemake.input.depends)
text = "".join(f"{line}\n" for line in summary)
Path(snakemake.log[0]).write_text(f"{text}data sets not at hand: {about['missing'] or 'none'}\n")
print(f"\n{text}", end="", file=sys.stderr)
