"""What a suite costs on 1, 8 and 64 cores: a simulation from what its jobs took.

Each job of cells leaves ``<splits>.cost.json`` beside its list: wall seconds, CPU seconds, peak
memory. ``--write`` puts the most that each kind of job took into config/needs.csv, from which jobs
ask for memory and time. Where no job left its cost, it puts the CPU seconds of the solver calls
that the reference results hold, without memory. Without ``--write`` the jobs of the suite are
played on machines of so many cores, a timing job alone on its machine; one that was never measured
counts as the mean of its experiment's others.

    python measurements/cost.py results/paper --write
    python measurements/cost.py results/paper           # the table of docs/cost.md
"""

from __future__ import annotations

import argparse
import csv
import heapq
import io
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from types import MappingProxyType

import yaml

from path_benchmark.papers import get_paper
from path_benchmark.runs.needs import NEEDS, NEEDS_COLUMNS, Measured, likely, measured
from path_benchmark.runs.paper import Job
from path_benchmark.runs.reference import planned, read_reference
from solution_paths.files import write_text

ROOT = Path(__file__).resolve().parents[1]
CORES = (1, 8, 64)
# Seconds that a job costs beyond its own work: processes that start, imports. docs/cost.md says
# how that was measured.
OVERHEAD_S = 6.0


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


def took(results: Path) -> Measured:
    """Return the most that the jobs of each kind took which ran as a whole."""
    found: dict[tuple[str, ...], tuple[float, float]] = {}
    for file in sorted(results.glob("jobs/*/*/*/*/*.cost.json")):
        paper, _, experiment, dataset = file.parts[-5:-1]
        cost = json.loads(file.read_text("utf-8"))
        key = (results.name, paper, experiment, dataset)
        mb, minutes = found.get(key, (0.0, 0.0))
        found[key] = max(mb, cost["peak_mb"]), max(minutes, cost["cpu_s"] / 60.0)
    return found


def timed(config: dict, suite: str, folder: Path) -> Measured:
    """Return the most that solver calls took of the jobs that reference results hold as a whole.

    Rows of one call share its seconds, which count once. Nothing is known of memory, and too
    little of what isn't timed: it fills in for kinds whose jobs left no cost.
    """
    found: dict[tuple[str, ...], tuple[float, float]] = {}
    for name in config["papers"]:
        known = read_reference(folder, name)
        for job, cells in planned(get_paper(name), config, suite):
            if not all(identity in known for identity in cells.values()):
                continue
            calls = (set(known[i].rows["cpu_s"].drop_null().to_pylist()) for i in cells.values())
            key, seconds = (suite, name, job.experiment, job.dataset), sum(map(sum, calls))
            if seconds:
                found[key] = math.nan, max(found.get(key, (0.0, 0.0))[1], seconds / 60.0)
    return found


def renewed(ran: Measured, file: Path, calls: Measured = MappingProxyType({})) -> str:
    """Return config/needs.csv with the lines of what ran renewed; ``calls`` add kinds it lacks."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(NEEDS_COLUMNS)
    for key, (mb, minutes) in sorted({**calls, **measured(file), **ran}.items()):
        writer.writerow((*key, "" if math.isnan(mb) else f"{mb:.0f}", f"{minutes:.2f}"))
    command = "python measurements/cost.py results/<suite> --write"
    return f"# Measured by `{command}`, last on {date.today()}.\n{out.getvalue()}"


def configuration() -> dict:
    """Return the workflow's configuration."""
    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text("utf-8"))
    files = sorted((ROOT / "config" / "papers").glob("*.yaml"))
    config["papers"] = {file.stem: yaml.safe_load(file.read_text("utf-8")) for file in files}
    return config


def played(suite: str, config: dict, known: Measured) -> tuple[list[Played], list[Job]]:
    """Return the jobs of a suite with what they take, and those of whose like none was measured."""
    found, unknown = [], []
    for job in (job for name in config["papers"] for job in get_paper(name).jobs(config, suite)):
        kind = (suite, job.paper, job.experiment, job.dataset)
        if cost := likely(known, kind):
            found.append(Played(job, cost[1], cost[0], kind in known))
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
    heaviest = max(jobs, key=lambda job: 0.0 if math.isnan(job.peak_mb) else job.peak_mb)
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
    config, suite = configuration(), asked.results.name
    if asked.write:
        ran = took(asked.results)
        calls = timed(config, suite, ROOT / config["reference"] / suite)
        write_text(NEEDS, renewed(ran, NEEDS, calls))
        print(f"{len(ran)} kinds of job left their cost in {asked.results}")
        print(f"{len(calls)} kinds have the seconds of their calls in the reference")
    else:
        jobs, unknown = played(suite, config, measured(NEEDS))
        if unknown:
            names = ", ".join(sorted({job.experiment for job in unknown}))
            print(f"Left out: {len(unknown)} jobs of {names}, none of which was measured.\n")
        print(table(jobs, asked.overhead))


if __name__ == "__main__":
    main()
