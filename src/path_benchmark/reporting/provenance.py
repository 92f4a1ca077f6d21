"""Where results come from: machine, versions, date, commit, in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime

import pandas as pd

from ..runs.code import CODE
from ..runs.rows import commit
from .formats import count
from .study import Study

__all__ = ["commit", "now", "provenance"]
PACKAGES = {"python": "Python", "solution_paths": "solution_paths"}


def provenance(study: Study, names: Mapping[str, str]) -> dict:
    """Say of a paper's results which machines, commits, versions and solvers made how many rows.

    ``names`` are the methods' as people write them.
    """
    results = study.results
    versions = [json.loads(text) for text in results["versions"]]
    code = [[f"{part} {v.pop(part)}" for part in CODE if part in v] for v in versions]
    commits = pd.Series([v.pop("commit", "") or "unknown" for v in versions], dtype=object)
    sources = pd.Series([", ".join(parts) or "unknown" for parts in code], dtype=object)
    packages = pd.Series([_said(v) for v in versions], dtype=object)
    solvers = results.dropna(subset=["method_version"])[["method", "method_version"]]
    by_version = solvers.drop_duplicates().groupby("method_version", sort=False)["method"]
    return {
        "machines": _counted(results["machine"]),
        "packages": _counted(packages),
        "sources": _counted(sources),
        "commits": _counted(commits),
        "solvers": [
            f"{', '.join(names.get(m, m) for m in methods)}: {version}"
            for version, methods in by_version
        ],
    }


def _said(versions: dict[str, str]) -> str:
    return ", ".join(f"{PACKAGES.get(name, name)} {v}" for name, v in versions.items())


def _counted(values: pd.Series) -> list[str]:
    """Return each value; with the number of its rows where there is more than one."""
    counts = values.value_counts(sort=False)
    if len(counts) == 1:
        return [str(counts.index[0])]
    return [f"{value} ({count(n, 'row')})" for value, n in counts.items()]


def now() -> str:
    """Return the date and time in words."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
