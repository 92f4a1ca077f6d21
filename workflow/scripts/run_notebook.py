"""Execute a notebook headless, on a suite's results, and keep it with its output."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

results = Path(snakemake.input.results).resolve().parent
notebook = nbformat.read(snakemake.input.notebook, as_version=4)
NotebookClient(notebook, timeout=600, resources={"metadata": {"path": results}}).execute()
nbformat.write(notebook, snakemake.output[0])
Path(snakemake.log[0]).write_text(f"{len(notebook.cells)} cells executed on {results}\n")
