"""Put a data set's checked files into data/raw, and list them; an error is one sentence."""

from pathlib import Path

from path_benchmark.data import fetch
from path_benchmark.runs.progress import plainly
from solution_paths.files import write_text

name, offline = snakemake.wildcards.dataset, snakemake.params.offline
with plainly(snakemake.log[0]):
    text = "".join(f"{path}\n" for path in fetch(name, offline=offline))
    Path(snakemake.log[0]).write_text(text)
    write_text(Path(snakemake.output[0]), text)
