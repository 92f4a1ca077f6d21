"""What a suite costs on 1, 8 and 64 cores: a simulation from what its jobs took.

Each job of cells leaves ``<splits>.cost.json`` beside its list: wall seconds, CPU seconds, peak
memory. This script plays them on machines of so many cores, a timing job alone on its machine,
and prints the table of docs/cost.md.

    python benchmarks/cost.py results/paper            # the table
    python benchmarks/cost.py results/paper --write    # what jobs ask for: config/needs.csv
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

from solution_paths.benchmarking.needs import NEEDS_COLUMNS
from solution_paths.files import write_text

NEEDS = Path(__file__).parents[1] / "config" / "needs.csv"
CORES = (1, 8, 64)
# Seconds that a job costs beyond its own work: processes that start, imports. docs/cost.md says
# how that was measured.
OVERHEAD_S = 6.0


@dataclass(frozen=True)
class Ran:
    """A job of cells, and what it took."""

    suite: str
    paper: str
    lane: str
    experiment: str
    dataset: str
    wall_s: float
    cpu_s: float
    peak_mb: float

    @property
    def label(self) -> str:
        """What it ran on what."""
        return f"{self.experiment} {self.dataset}"

    @property
    def seconds(self) -> float:
        """How long it takes on a core of its own: it has one thread and waits for nothing."""
        return min(self.cpu_s, self.wall_s)


def read(results: Path) -> list[Ran]:
    """Return the jobs of a suite that ran as a whole."""
    found = []
    for file in sorted(results.glob("jobs/*/*/*/*/*.cost.json")):
        paper, lane, experiment, dataset = file.parts[-5:-1]
        cost = json.loads(file.read_text("utf-8"))
        took = (cost["wall_s"], cost["cpu_s"], cost["peak_mb"])
        found.append(Ran(results.name, paper, lane, experiment, dataset, *took))
    if not found:
        raise SystemExit(f"{results} holds no *.cost.json: run the suite first.")
    return found


def makespan(seconds: Iterable[float], cores: int) -> float:
    """Return how long jobs take that start on the first core that is free, longest first."""
    free = [0.0] * cores
    for job in sorted(seconds, reverse=True):
        heapq.heapreplace(free, free[0] + job)
    return max(free)


def simulate(jobs: list[Ran], cores: int, overhead: float, nodes: int = 1) -> dict[str, float]:
    """Return the minutes of a suite's two lanes on ``nodes`` machines of so many cores.

    Timing jobs take a machine alone, one after the other on each.
    """
    lanes = {"accuracy": cores * nodes, "timing": nodes}
    took = {
        lane: makespan([j.seconds + overhead for j in jobs if j.lane == lane], places) / 60.0
        for lane, places in lanes.items()
    }
    return took | {"whole": sum(took.values())}


def table(jobs: list[Ran], overhead: float) -> str:
    """Return what docs/cost.md shows."""
    largest = max(jobs, key=lambda job: job.seconds)
    heaviest = max(jobs, key=lambda job: job.peak_mb)
    work = sum(job.seconds for job in jobs)
    lines = [
        f"{len(jobs)} jobs, {work / 60:.0f} CPU minutes, and {overhead:g} s of each job's own: "
        f"{len(jobs) * overhead / 60:.0f} minutes. The largest job is {largest.label}, "
        f"{largest.seconds / 60:.1f} minutes; the most memory takes {heaviest.label}, "
        f"{heaviest.peak_mb:.0f} MB.",
        "",
        "| machine | accuracy lane, minutes | timing lane, minutes | whole |",
        "| --- | --- | --- | --- |",
    ]
    for cores in CORES:
        took = simulate(jobs, cores, overhead)
        lines.append(_line(f"one of {cores} cores" if cores > 1 else "one core", took))
    lines.append(_line("8 nodes of 8 cores", simulate(jobs, 8, overhead, nodes=8)))
    bound = (largest.seconds + overhead) / 60.0
    lines += ["", f"No machine is faster than its largest job: {bound:.1f} minutes."]
    return "\n".join(lines)


def _line(name: str, took: dict[str, float]) -> str:
    numbers = " | ".join(f"{took[lane]:.0f}" for lane in ("accuracy", "timing", "whole"))
    return f"| {name} | {numbers} |"


def needs(jobs: list[Ran], known: Path) -> str:
    """Return config/needs.csv with these jobs' lines renewed: the most that each kind took."""
    rows = {}
    if known.is_file():
        text = [line for line in known.read_text("utf-8").splitlines() if line[:1] != "#"]
        rows = {tuple(row.values())[:4]: tuple(row.values())[4:] for row in csv.DictReader(text)}
    own: dict[tuple[str, ...], tuple[float, float]] = {}
    for job in jobs:
        key = (job.suite, job.paper, job.experiment, job.dataset)
        mb, minutes = own.get(key, (0.0, 0.0))
        own[key] = (max(mb, job.peak_mb), max(minutes, job.cpu_s / 60.0))
    rows |= {key: (f"{mb:.0f}", f"{minutes:.1f}") for key, (mb, minutes) in own.items()}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(NEEDS_COLUMNS)
    writer.writerows((*key, *row) for key, row in sorted(rows.items()))
    command = "python benchmarks/cost.py results/<suite> --write"
    head = f"# Measured by `{command}`, last on {date.today()}.\n"
    return head + out.getvalue()


def main(arguments: list[str] | None = None) -> None:
    """Print the table, or renew config/needs.csv."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", type=Path, help="results/<suite>")
    parser.add_argument("--overhead", type=float, default=OVERHEAD_S, help="seconds of each job")
    parser.add_argument("--write", action="store_true", help="renew config/needs.csv")
    asked = parser.parse_args(arguments)
    jobs = read(asked.results)
    if asked.write:
        write_text(NEEDS, needs(jobs, NEEDS))
    else:
        print(table(jobs, asked.overhead))


if __name__ == "__main__":
    main()
