"""What a suite costs on 1, 8 and 64 cores: a simulation from what its jobs took.

Each job of cells leaves ``<splits>.cost.json`` beside its list: wall seconds, CPU seconds, peak
memory. ``--write`` puts the most that each kind of job took into config/needs.csv, from which jobs
ask for memory and time. Without it the jobs of the suite are played on machines of so many cores,
a timing job alone on its machine; one that was never measured counts as the mean of its
experiment's others.

    python benchmarks/cost.py results/paper --write
    python benchmarks/cost.py results/paper           # the table of docs/cost.md
"""

from __future__ import annotations

import argparse
import csv
import heapq
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import fmean

import yaml

from path_benchmark.papers import get_paper
from path_benchmark.runs.needs import NEEDS_COLUMNS
from path_benchmark.runs.paper import Job
from solution_paths.files import write_text

ROOT = Path(__file__).resolve().parents[1]
NEEDS = ROOT / "config" / "needs.csv"
CORES = (1, 8, 64)
# Seconds that a job costs beyond its own work: processes that start, imports. docs/cost.md says
# how that was measured.
OVERHEAD_S = 6.0


@dataclass(frozen=True)
class Kind:
    """What jobs of one experiment on one data set take."""

    suite: str
    paper: str
    experiment: str
    dataset: str
    peak_mb: float
    minutes: float

    @property
    def key(self) -> tuple[str, ...]:
        """What it is looked up by."""
        return (self.suite, self.paper, self.experiment, self.dataset)


@dataclass(frozen=True)
class Played:
    """A job of the suite, how long it takes on a core, and whether that was measured."""

    job: Job
    minutes: float
    peak_mb: float
    measured: bool

    @property
    def label(self) -> str:
        """What it runs on what."""
        return f"{self.job.experiment} {self.job.dataset}"


def took(results: Path) -> list[Kind]:
    """Return the most that the jobs of each kind took which ran as a whole."""
    found: dict[tuple[str, ...], Kind] = {}
    for file in sorted(results.glob("jobs/*/*/*/*/*.cost.json")):
        paper, _, experiment, dataset = file.parts[-5:-1]
        cost = json.loads(file.read_text("utf-8"))
        key = (results.name, paper, experiment, dataset)
        old = found.get(key, Kind(*key, 0.0, 0.0))
        mb, minutes = max(old.peak_mb, cost["peak_mb"]), max(old.minutes, cost["cpu_s"] / 60.0)
        found[key] = Kind(*key, mb, minutes)
    if not found:
        raise SystemExit(f"{results} holds no *.cost.json: run the suite first.")
    return list(found.values())


def known(file: Path) -> list[Kind]:
    """Return what config/needs.csv says."""
    if not file.is_file():
        return []
    lines = [line for line in file.read_text("utf-8").splitlines() if line[:1] != "#"]
    rows = [[row[name] for name in NEEDS_COLUMNS] for row in csv.DictReader(lines)]
    return [Kind(*row[:4], *map(float, row[4:])) for row in rows]


def renewed(kinds: list[Kind], file: Path) -> str:
    """Return config/needs.csv with these kinds' lines renewed."""
    rows = {kind.key: kind for kind in [*known(file), *kinds]}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(NEEDS_COLUMNS)
    for key, kind in sorted(rows.items()):
        writer.writerow((*key, f"{kind.peak_mb:.0f}", f"{kind.minutes:.2f}"))
    command = "python benchmarks/cost.py results/<suite> --write"
    return f"# Measured by `{command}`, last on {date.today()}.\n{out.getvalue()}"


def configuration() -> dict:
    """Return the workflow's configuration."""
    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text("utf-8"))
    files = sorted((ROOT / "config" / "papers").glob("*.yaml"))
    config["papers"] = {file.stem: yaml.safe_load(file.read_text("utf-8")) for file in files}
    return config


def played(suite: str, config: dict, kinds: list[Kind]) -> tuple[list[Played], list[Job]]:
    """Return the jobs of a suite with what they take, and those of whose like none was measured."""
    by_key = {kind.key: kind for kind in kinds if kind.suite == suite}
    jobs = [job for name in config["papers"] for job in get_paper(name).jobs(config, suite)]
    found, unknown = [], []
    for job in jobs:
        own = by_key.get((suite, job.paper, job.experiment, job.dataset))
        others = [k for k in by_key.values() if k.key[1:3] == (job.paper, job.experiment)]
        if own or others:
            like = [own] if own else others
            minutes, mb = (fmean(getattr(k, n) for k in like) for n in ("minutes", "peak_mb"))
            found.append(Played(job, minutes, mb, own is not None))
        else:
            unknown.append(job)
    return found, unknown


def makespan(lengths: Iterable[float], cores: int) -> float:
    """Return how long jobs take that start on the first core that is free, longest first."""
    free = [0.0] * cores
    for job in sorted(lengths, reverse=True):
        heapq.heapreplace(free, free[0] + job)
    return max(free)


def simulate(jobs: list[Played], cores: int, overhead_s: float, nodes: int = 1) -> dict[str, float]:
    """Return the minutes of a suite's two lanes on ``nodes`` machines of so many cores.

    Timing jobs take a machine alone, one after the other on each.
    """
    lanes = {"accuracy": cores * nodes, "timing": nodes}
    found = {
        lane: makespan([j.minutes + overhead_s / 60.0 for j in jobs if j.job.lane == lane], places)
        for lane, places in lanes.items()
    }
    return found | {"whole": sum(found.values())}


def table(jobs: list[Played], overhead_s: float) -> str:
    """Return what docs/cost.md shows."""
    largest = max(jobs, key=lambda job: job.minutes)
    heaviest = max(jobs, key=lambda job: job.peak_mb)
    measured = sum(job.measured for job in jobs)
    lines = [
        f"{len(jobs)} jobs ({measured} of kinds that were measured), "
        f"{sum(job.minutes for job in jobs):.0f} CPU minutes, and {overhead_s:g} s of each job's "
        f"own: {len(jobs) * overhead_s / 60:.0f} minutes. The largest job is {largest.label}, "
        f"{largest.minutes:.1f} minutes; the most memory takes {heaviest.label}, "
        f"{heaviest.peak_mb:.0f} MB.",
        "",
        "| machine | accuracy lane, minutes | timing lane, minutes | whole |",
        "| --- | --- | --- | --- |",
    ]
    for cores in CORES:
        name = f"one of {cores} cores" if cores > 1 else "one core"
        lines.append(_line(name, simulate(jobs, cores, overhead_s)))
    for nodes in (8, len(jobs)):
        lines.append(_line(f"{nodes} nodes of 8 cores", simulate(jobs, 8, overhead_s, nodes)))
    return "\n".join(lines)


def _line(name: str, minutes: dict[str, float]) -> str:
    numbers = " | ".join(f"{minutes[lane]:.0f}" for lane in ("accuracy", "timing", "whole"))
    return f"| {name} | {numbers} |"


def main(arguments: list[str] | None = None) -> None:
    """Print the table, or renew config/needs.csv."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", type=Path, help="results/<suite>")
    parser.add_argument("--overhead", type=float, default=OVERHEAD_S, help="seconds of each job")
    parser.add_argument("--write", action="store_true", help="renew config/needs.csv")
    asked = parser.parse_args(arguments)
    if asked.write:
        write_text(NEEDS, renewed(took(asked.results), NEEDS))
    else:
        jobs, unknown = played(asked.results.name, configuration(), known(NEEDS))
        if unknown:
            names = ", ".join(sorted({job.experiment for job in unknown}))
            print(f"Left out: {len(unknown)} jobs of {names}, none of which was measured.\n")
        print(table(jobs, asked.overhead))


if __name__ == "__main__":
    main()
