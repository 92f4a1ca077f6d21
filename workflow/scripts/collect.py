"""Join a paper's cells into one results table, and check every row against the schema."""

import json
from importlib import import_module
from pathlib import Path

import jsonschema
import pandas as pd
import yaml

name = snakemake.rule.removesuffix("_results")
paper = import_module(f"solution_paths.papers.{name}.experiments")
cells = [cell for job in snakemake.input for cell in Path(job).read_text().split("\n") if cell]
paper.collect(cells, snakemake.output[0])
schema = yaml.safe_load(Path(snakemake.params.schema).read_text())
validator = jsonschema.Draft202012Validator(schema)
rows = json.loads(pd.read_parquet(snakemake.output[0]).to_json(orient="records"))
for row in rows:
    validator.validate(row)
Path(snakemake.log[0]).write_text(f"{len(rows)} rows of {len(cells)} cells fit the schema\n")
