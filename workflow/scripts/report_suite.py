"""Write one page with every table, figure and claim of a suite."""

from pathlib import Path

from solution_paths.reporting.page import write_page

out, missing = Path(snakemake.output[0]), snakemake.params.missing
write_page(out, snakemake.params.about, snakemake.params.papers, missing)
Path(snakemake.log[0]).write_text(f"wrote {out}; data sets not at hand: {missing or 'none'}\n")
