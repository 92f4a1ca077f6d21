"""Put a data set's checked files into data/raw, and list them; an error is one sentence."""

import sys
from pathlib import Path

from solution_paths.data import DataError, fetch

name, offline = snakemake.wildcards.dataset, snakemake.params.offline
try:
    text = "".join(f"{path}\n" for path in fetch(name, offline=offline))
except DataError as error:
    Path(snakemake.log[0]).write_text(f"{error}\n")
    sys.exit(f"error: {error}")
Path(snakemake.log[0]).write_text(text)
Path(snakemake.output[0]).write_text(text)
