"""The papers' configuration as the workflow reads it."""

import copy
from functools import cache

import yaml

from helpers import ROOT


def repository_config() -> dict:
    """Return the configuration as the workflow reads it, which nobody else changes."""
    return copy.deepcopy(_config())


@cache
def _config() -> dict:
    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
    files = (ROOT / "config" / "papers").glob("*.yaml")
    config["papers"] = {file.stem: yaml.safe_load(file.read_text()) for file in files}
    return config
