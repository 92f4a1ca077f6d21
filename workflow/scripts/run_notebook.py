"""Execute a notebook headless, on a suite's results, and keep it with its output."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

from path_benchmark.runs.progress import plainly
from solution_paths.files import write_text

results = Path(snakemake.input.results).resolve().parent
notebook = nbformat.read(snakemake.input.notebook, as_version=4)
options = {"timeout": 600, "extra_arguments": ["--log-level=40"], "record_timing": False}
NotebookClient(notebook, resources={"metadata": {"path": results}}, **options).execute()
with plainly(snakemake.log[0]):
    write_text(Path(snakemake.output[0]), nbformat.writes(notebook))
Path(snakemake.log[0]).write_text(f"{len(notebook.cells)} cells executed on {results}\n")
