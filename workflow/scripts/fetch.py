"""Put a data set's checked files into data/raw, and list them."""

from pathlib import Path

from solution_paths.data import fetch

files = fetch(snakemake.wildcards.dataset, raw_dir="data/raw", offline=snakemake.params.offline)
text = "".join(f"{path}\n" for path in files)
Path(snakemake.log[0]).write_text(text)
Path(snakemake.output[0]).write_text(text)
