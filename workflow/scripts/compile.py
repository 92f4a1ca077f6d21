"""Compile the library's inner loops once, before jobs run side by side; numba keeps the result."""

from pathlib import Path

from path_benchmark.runs.warm import warm_up

text = warm_up()
Path(snakemake.log[0]).write_text(text)
Path(snakemake.output[0]).write_text(text)
