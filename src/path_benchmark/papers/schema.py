"""The configuration's JSON schema, for editors, catalogues and other workflows.

    python -m path_benchmark.papers.schema > workflow/schemas/config.schema.yaml

It is derived from the settings models; `check_config` makes further checks.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import yaml  # type: ignore[import-untyped]
from pydantic.json_schema import models_json_schema

from ..runs.config import Config, Run
from ..runs.paper import Paper
from ..settings import Settings
from . import get_paper, names

Schema = dict[str, Any]
HEAD = "# Written by `python -m path_benchmark.papers.schema` from the settings models."


def schema(papers: Mapping[str, Paper]) -> Schema:
    """Return the schema of the whole configuration.

    Parameters
    ----------
    papers : mapping
        Papers whose files are described, by name.
    """
    models: dict[type[Settings], None] = {Config: None, Run: None}
    for paper in papers.values():
        models |= {paper.common: None, paper.dataset: None}
        models |= {experiment.settings: None for experiment in paper.experiments.values()}
    keys, top = models_json_schema([(model, "validation") for model in models])
    refs = {model: keys[model, "validation"] for model in models}
    definitions = top["$defs"]
    whole = definitions.pop(refs[Config]["$ref"].rsplit("/", 1)[1])
    # each further key overrides a setting of the experiment, which `check_config` checks
    definitions[refs[Run]["$ref"].rsplit("/", 1)[1]]["additionalProperties"] = True
    files = {name: _file(paper, refs) for name, paper in papers.items()}
    whole["properties"]["papers"] = _closed(files)
    whole["required"] = ["suites"]  # papers are files of their own, which may add to these
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **whole,
        "$defs": definitions,
    }


def _file(paper: Paper, refs: Mapping[type[Settings], Schema]) -> Schema:
    """Return the schema of a paper's file; each of its keys can be overridden alone."""

    def every(key: str, one: Schema) -> Schema:
        return {key: {"type": "object", "additionalProperties": one}}

    settings = {name: refs[one.settings] for name, one in paper.experiments.items()}
    base = {name: {"anyOf": [dict(one), {"type": "null"}]} for name, one in settings.items()}
    runs = _closed({name: dict(refs[Run]) for name in settings})
    files = {"title": {"type": "string"}, "citation": {"type": "string"}}
    files |= {"settings": dict(refs[paper.common]), "experiments": _closed(base)}
    return _closed(files | every("datasets", dict(refs[paper.dataset])) | every("suites", runs))


def _closed(properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _short(part: Any) -> Any:
    """Return a schema without titles derived from names; docstrings keep their first paragraph."""
    if isinstance(part, list):
        return [_short(entry) for entry in part]
    if not isinstance(part, dict):
        return part
    result = {key: _short(value) for key, value in part.items()}
    if isinstance(result.get("title"), str):
        del result["title"]
    if isinstance(result.get("description"), str):
        result["description"] = " ".join(result["description"].split("\n\n")[0].split())
    return result


def text() -> str:
    """Return the text of the schema file for this repository's papers."""
    document = _short(schema({name: get_paper(name) for name in names()}))
    return f"{HEAD}\n{yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)}"


if __name__ == "__main__":
    sys.stdout.write(text())
