"""How far a suite is, read from its results: finished, running, failed and left."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from solution_paths.files import hold

from .papers import check_config
from .runs.cells import made_by_other_code
from .runs.needs import NEEDS, Measured, likely, measured
from .runs.paper import Job
from .runs.reference import Offer, offered
from .settings import ConfigError, read_yaml, unknown_key


def configuration(root: Path) -> dict:
    """Return a checkout's configuration, as the workflow reads it."""
    config = read_yaml(root / "config" / "config.yaml")
    files = sorted((root / "config" / "papers").glob("*.yaml"))
    return {**config, "papers": {file.stem: read_yaml(file) for file in files}}


@dataclass
class Count:
    """Cells of a paper's lane, which of its jobs run or failed, and what is left to compute.

    Attributes
    ----------
    finished, offered, failed, left : int
        Cells; those ``offered`` by the reference results are taken over by the next run. A cell of
        a job that runs, and is not written yet, is left.
    minutes : float
        CPU minutes that cells take which are left or failed, as config/needs.csv says.
    unmeasured : int
        How many of these it says nothing of.
    running : list of str
        Jobs that a living process is at.
    reasons : list of str
        A sentence for each cell that failed.
    """

    finished: int = 0
    offered: int = 0
    failed: int = 0
    left: int = 0
    minutes: float = 0.0
    unmeasured: int = 0
    running: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    def add(self, job: Job, results: Path, offered: Container[Path], known: Measured) -> None:
        """Count a job."""
        todo = 0
        if _is_running(Path(job.file(str(results)))):
            self.running.append(f"{job.experiment} {job.dataset} {job.first}-{job.last}")
        for file in job.cell_files(results):
            failures = _failures(file)
            todo += bool(failures) or (failures is None and file not in offered)
            if failures is None:
                self.offered += file in offered
                self.left += file not in offered
            elif failures:
                self.failed += 1
                self.reasons.append(f"{file.stem}: {' '.join(failures[0].split())}")
            else:
                self.finished += 1
        cost = likely(known, (job.suite, job.paper, job.experiment, job.dataset))
        self.minutes += cost[1] * todo / len(job.cells) if cost else 0.0
        self.unmeasured += 0 if cost else todo


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
    """Return the counts of each paper and lane, and what other code made, there or offered."""
    if suite not in config["suites"]:
        raise ConfigError(f"config: {unknown_key(suite, config['suites'])}.")
    found: dict[tuple[str, str], Count] = {}
    files: list[Path] = []
    taken: dict[Path, dict[str, str]] = {}
    known = measured(NEEDS)
    for name, paper in check_config(config).items():
        offer = Offer(name, Path(config["reference"], suite))
        if config["reference"]:
            offer = offered(paper, config, suite, offer.folder)
            taken |= {file: json.loads(cell.code) for file, cell in offer.cells.items()}
        for job in paper.jobs(config, suite):
            own = found.setdefault((name, job.lane), Count())
            own.add(job, Path(config["results"]), offer.cells, known)
            files += job.cell_files(config["results"])
    return found, made_by_other_code(files, offered=taken)


class OtherCode(ConfigError):
    """Cells were made by other code, and that was to be an error."""


def report(config: dict, suite: str, same_code: bool = False) -> Iterator[str]:
    """Say in lines how far a suite is, and of other code last: `OtherCode` if ``same_code``."""
    found, other = counts(config, suite)
    heads = ("finished", "reference", "running", "failed", "left", "minutes")
    rows = [
        (" ".join(key), c.finished, c.offered, len(c.running), c.failed, c.left, round(c.minutes))
        for key, c in found.items()
    ]
    rows.append(("all", *(sum(row[k] for row in rows) for k in range(1, len(heads) + 1))))
    wide = max(len(row[0]) for row in rows)
    yield f"Suite {suite} in {config['results']}: cells, jobs that run, CPU minutes that are left."
    yield f"{'':{wide}}" + "".join(f"{head:>10}" for head in heads)
    yield from (f"{row[0]:{wide}}" + "".join(f"{n:10}" for n in row[1:]) for row in rows)
    if offered := rows[-1][2]:
        yield f"The next run takes {offered} cells from {config['reference']}."
    if unmeasured := sum(own.unmeasured for own in found.values()):
        yield f"The minutes lack {unmeasured} cells, the like of which nobody has measured."
    for (paper, _), own in found.items():
        yield from (f"running: {paper} {job}" for job in own.running)
        yield from (f"failed: {paper} {reason}" for reason in own.reasons)
    if other and same_code:
        raise OtherCode(other)
    if other:
        yield other
