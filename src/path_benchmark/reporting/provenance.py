"""Where results come from: machine, versions, date, commit, in words."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from ..runs.code import CODE, code
from ..runs.rows import commit
from .formats import count
from .study import Study

__all__ = ["commit", "dated", "made", "now", "provenance"]
HERE = Path(__file__).parent
PACKAGES = {"python": "Python", "solution_paths": "solution_paths"}


def provenance(study: Study, names: Mapping[str, str]) -> dict:
    """Say of a paper's results which machines, commits, versions and solvers made how many rows.

    ``names`` are the methods' as people write them.
    """
    results = study.results
    commits: Counter[str] = Counter()
    packages: Counter[str] = Counter()
    for text, n in results["versions"].astype(str).value_counts(sort=False).items():
        origin = json.loads(text)
        commits[origin.pop("commit", "") or "unknown"] += n
        packages[_said({k: v for k, v in origin.items() if k not in (*CODE, "date")})] += n
    solvers = results.dropna(subset=["method_version"])[["method", "method_version"]]
    by_version = solvers.drop_duplicates().groupby("method_version", sort=False)["method"]
    return {
        "machines": _counted(Counter(results["machine"].astype(str))),
        "packages": _counted(packages),
        "commits": _counted(commits),
        "solvers": [
            f"{', '.join(names.get(m, m) for m in methods)}: {version}"
            for version, methods in by_version
        ],
    }


def made(study: Study, experiments: Iterable[str]) -> str:
    """Say when the rows of some experiments (of all, if none) were made, from which commits, where.

    Last, how many of them other code made than what makes them now; see `path_benchmark.runs.code`.
    """
    results, wanted = study.results, list(experiments)
    rows = results[results["experiment"].isin(wanted)] if wanted else results
    kinds = rows.groupby(["experiment", "versions"], observed=True, sort=False).size()
    if kinds.empty:
        return ""
    made = [(e, json.loads(text), int(n)) for (e, text), n in kinds.items()]
    commits: Counter[str] = Counter()
    for _, origin, n in made:
        commits[origin.get("commit") or "unknown"] += n
    days = {origin.get("date") or dated(origin.get("commit", "")) for _, origin, _ in made}
    dates = sorted(days - {""})
    when = f" {' to '.join(dict.fromkeys((dates[0], dates[-1])))}" if dates else ""
    named = ", ".join(f"{name} ({count(n, 'row')})" for name, n in commits.most_common())
    text = f"Computed{when}, commit{'s' * (len(commits) > 1)} {named}, on "
    text += f"{'; '.join(rows['machine'].astype(str).unique())}."
    other = sum(
        n for e, origin, n in made if {k: origin.get(k) for k in CODE} != code(study.paper, e)
    )
    share = "All" if other == len(rows) else other
    return text + f" {share} of these rows are by other code than this page's." * bool(other)


@cache
def dated(commit: str) -> str:
    """Return the day of a commit, "" where this checkout doesn't know it."""
    name = commit.split(",")[0]
    if not name.isalnum():
        return ""
    command = ["git", "show", "-s", "--format=%cs", name]
    try:
        asked = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return "" if asked.returncode else asked.stdout.strip()


def _said(versions: dict[str, str]) -> str:
    return ", ".join(f"{PACKAGES.get(name, name)} {v}" for name, v in versions.items())


def _counted(counts: Counter[str]) -> list[str]:
    """Return each value; with the number of its rows where there is more than one."""
    if len(counts) == 1:
        return [*counts]
    return [f"{value} ({count(n, 'row')})" for value, n in counts.items()]


def now() -> str:
    """Return the date and time in words."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
