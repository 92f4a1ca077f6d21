"""Progress of a suite, read from its results: finished, running, failed and left."""

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
    """Return the configuration of a checkout, as the workflow reads it."""
    config = read_yaml(root / "config" / "config.yaml")
    files = sorted((root / "config" / "papers").glob("*.yaml"))
    return {**config, "papers": {file.stem: read_yaml(file) for file in files}}


@dataclass
class Count:
    """Counts of cells of a paper's lane, its running jobs, and the work that is left.

    Attributes
    ----------
    finished, offered, failed, left : int
        Numbers of cells. The next run takes over the cells ``offered`` by the reference results.
        An unwritten cell of a running job is left.
    minutes : float
        Expected CPU minutes of the cells that are left or failed, by config/needs.csv.
    unmeasured : int
        Number of these cells for which it has no times.
    running : list of str
        Jobs whose lock a process holds.
    reasons : list of str
        A sentence for each failed cell.
    """

    finished: int = 0
    offered: int = 0
    failed: int = 0
    left: int = 0
    minutes: float = 0.0
    unmeasured: int = 0
    running: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    def add(self, job: Job, results: Path, offered: Container[Path], needs: Measured) -> None:
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
        cost = likely(needs, (job.suite, job.paper, job.experiment, job.dataset))
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
    """Return the failures of a cell; None if it is missing or can't be read."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        return [str(reason) for reason in json.loads(file.read_text("utf-8"))["failures"]]
    return None


def counts(config: dict, suite: str) -> tuple[dict[tuple[str, str], Count], str]:
    """Return the counts of each paper and lane, and a sentence on cells made by other code.

    The sentence is about finished and offered cells; see `made_by_other_code`.
    """
    if suite not in config["suites"]:
        raise ConfigError(f"config: {unknown_key(suite, config['suites'])}.")
    totals: dict[tuple[str, str], Count] = {}
    files: list[Path] = []
    offered_codes: dict[Path, dict[str, str]] = {}
    needs = measured(NEEDS)
    for name, paper in check_config(config).items():
        offer = Offer(name, Path(config["reference"], suite))
        if config["reference"]:
            offer = offered(paper, config, suite, offer.folder)
            offered_codes |= {file: json.loads(cell.code) for file, cell in offer.cells.items()}
        for job in paper.jobs(config, suite):
            count = totals.setdefault((name, job.lane), Count())
            count.add(job, Path(config["results"]), offer.cells, needs)
            files += job.cell_files(config["results"])
    return totals, made_by_other_code(files, offered=offered_codes)


class OtherCode(ConfigError):
    """Cells were made by other code, which the caller declared an error."""


def report(config: dict, suite: str, same_code: bool = False) -> Iterator[str]:
    """Yield lines on the progress of a suite; the last, if any, is about cells of other code.

    With ``same_code`` that last line is raised as `OtherCode`.
    """
    totals, other = counts(config, suite)
    heads = ("finished", "reference", "running", "failed", "left", "minutes")
    rows = [
        (" ".join(key), c.finished, c.offered, len(c.running), c.failed, c.left, round(c.minutes))
        for key, c in totals.items()
    ]
    rows.append(("all", *(sum(row[k] for row in rows) for k in range(1, len(heads) + 1))))
    wide = max(len(row[0]) for row in rows)
    yield f"Suite {suite} in {config['results']}: cells, jobs that run, CPU minutes that are left."
    yield f"{'':{wide}}" + "".join(f"{head:>10}" for head in heads)
    yield from (f"{row[0]:{wide}}" + "".join(f"{n:10}" for n in row[1:]) for row in rows)
    if offered := rows[-1][2]:
        yield f"The next run takes {offered} cells from {config['reference']}."
    if unmeasured := sum(count.unmeasured for count in totals.values()):
        yield f"The minutes lack {unmeasured} cells, the like of which nobody has measured."
    for (paper, _), count in totals.items():
        yield from (f"running: {paper} {job}" for job in count.running)
        yield from (f"failed: {paper} {reason}" for reason in count.reasons)
    if other and same_code:
        raise OtherCode(other)
    if other:
        yield other
