"""How far a suite is, read from its results: finished, running, failed and left."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from solution_paths.files import hold

from .papers import check_config
from .runs.cells import made_by_other_code
from .runs.paper import Job
from .settings import ConfigError, read_yaml, unknown_key


def configuration(root: Path) -> dict:
    """Return a checkout's configuration, as the workflow reads it."""
    config = read_yaml(root / "config" / "config.yaml")
    files = sorted((root / "config" / "papers").glob("*.yaml"))
    return {**config, "papers": {file.stem: read_yaml(file) for file in files}}


@dataclass
class Count:
    """Cells of a paper's lane, and which of its jobs run or failed.

    Attributes
    ----------
    finished, failed, left : int
        Cells. A cell of a job that runs, and is not written yet, is left.
    running : list of str
        Jobs that a living process is at.
    reasons : list of str
        A sentence for each cell that failed.
    """

    finished: int = 0
    failed: int = 0
    left: int = 0
    running: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    def add(self, job: Job, results: Path) -> None:
        """Count a job."""
        if _is_running(Path(job.file(str(results)))):
            self.running.append(f"{job.experiment} {job.dataset} {job.first}-{job.last}")
        for file in job.cell_files(results):
            failures = _failures(file)
            if failures is None:
                self.left += 1
            elif failures:
                self.failed += 1
                self.reasons.append(f"{file.stem}: {' '.join(failures[0].split())}")
            else:
                self.finished += 1


def _is_running(listing: Path) -> bool:
    """Tell whether a process holds a job's lock."""
    lock = listing.with_suffix(".lock")
    if not lock.is_file():
        return False
    held = hold(lock)
    if held is not None:
        held.release()
    return held is None


def _failures(file: Path) -> list[str] | None:
    """Return what failed in a cell; None where it isn't there, or can't be read."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        return [str(reason) for reason in json.loads(file.read_text("utf-8"))["failures"]]
    return None


def counts(config: dict, suite: str) -> tuple[dict[tuple[str, str], Count], str]:
    """Return the counts of each paper and lane, and what other code made."""
    if suite not in config["suites"]:
        raise ConfigError(f"config: {unknown_key(suite, config['suites'])}.")
    found: dict[tuple[str, str], Count] = {}
    files: list[Path] = []
    for name, paper in check_config(config).items():
        for job in paper.jobs(config, suite):
            own = found.setdefault((name, job.lane), Count())
            own.add(job, Path(config["results"]))
            files += job.cell_files(config["results"])
    return found, made_by_other_code(files)


def report(config: dict, suite: str) -> Iterator[str]:
    """Say in lines how far a suite is."""
    found, other = counts(config, suite)
    heads = ("finished", "running", "failed", "left")
    rows = [
        (f"{paper} {lane}", c.finished, len(c.running), c.failed, c.left)
        for (paper, lane), c in found.items()
    ]
    rows.append(("all", *(sum(row[k] for row in rows) for k in range(1, 5))))
    wide = max(len(row[0]) for row in rows)
    yield f"Suite {suite} in {config['results']}: cells, and jobs that run."
    yield f"{'':{wide}}" + "".join(f"{head:>10}" for head in heads)
    yield from (f"{row[0]:{wide}}" + "".join(f"{n:10}" for n in row[1:]) for row in rows)
    for (paper, _), own in found.items():
        yield from (f"running: {paper} {job}" for job in own.running)
        yield from (f"failed: {paper} {reason}" for reason in own.reasons)
    if other:
        yield other
