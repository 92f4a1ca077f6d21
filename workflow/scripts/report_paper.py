"""Write a paper's tables, figures and claims from its results table."""

from importlib import import_module
from pathlib import Path

import pandas as pd

name = snakemake.rule.removesuffix("_report")
paper = import_module(f"solution_paths.papers.{name}.experiments")
results = pd.read_parquet(snakemake.input[0])
paper.tables(results, None, Path(snakemake.output.tables))
paper.figures(results, Path(snakemake.output.figures))
paper.claims(results).to_csv(snakemake.output.claims, index=False)
Path(snakemake.log[0]).write_text(f"tables, figures and claims from {len(results)} rows\n")
