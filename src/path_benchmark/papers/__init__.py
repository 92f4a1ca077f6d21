"""The papers, one folder for each: data, experiments, outputs and published numbers."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from ..runs.config import Config
from ..runs.paper import Paper
from ..settings import ConfigError, check, unknown_key


def names() -> list[str]:
    """Return the names of all papers: folders that have experiments."""
    return sorted({place.parent.name for place in Path(__file__).parent.glob("*/experiments*")})


def get_paper(name: str) -> Paper:
    """Return a paper by the name of its folder."""
    return import_module(f"{__name__}.{name}.experiments").PAPER


def check_config(config: dict) -> dict[str, Paper]:
    """Return the papers of a configuration, or raise a `ConfigError`."""
    whole = check(Config, config, "top level")
    papers = {}
    for name in whole.papers:
        try:
            papers[name] = get_paper(name)
        except ModuleNotFoundError as error:
            if not (error.name or "").startswith(f"{__name__}.{name}"):
                raise
            raise ConfigError(
                f"config: papers.{name} has no code: expected path_benchmark/papers/{name}/"
                "experiments.py, write it or remove the file."
            ) from None
        for suite in papers[name].file(config).suites:
            if suite not in whole.suites:
                place = f"papers.{name}.suites.{suite}"
                raise ConfigError(f"config: {unknown_key(place, whole.suites)}.")
            papers[name].plans({**config, "only": ""}, suite)
    known = {e for paper in papers.values() for e in paper.experiments}
    for name in filter(None, whole.only.split(",")):
        if name not in known:
            raise ConfigError(f"config: {unknown_key(f'only.{name}', known)}.")
    return papers
