"""Needs of jobs and limits of a cluster's partitions, compared before anything is submitted.

Measured needs are in config/needs.csv, which ``measurements/cost.py --write`` makes from a finished
suite. Jobs that are not listed there get the defaults below.
"""

from __future__ import annotations

import csv
import math
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean

NEEDS = Path(__file__).parents[3] / "config" / "needs.csv"
# Defaults of jobs without measurements.
UNKNOWN_MB, UNKNOWN_MINUTES = 4000, 60
NEEDS_COLUMNS = ("suite", "paper", "experiment", "dataset", "peak_mb", "minutes")
# A request is SPARE + TIMES x what was measured, as processors and file systems differ.
SPARE_MB, SPARE_MINUTES, TIMES_MB, TIMES_MINUTES = 500, 10, 1.5, 3.0
# The longest pause between two questions of Snakemake's Slurm executor about its jobs.
LONGEST_PAUSE_S = 180


class NotGiven(RuntimeError):
    """A cluster can't run some of the jobs: one sentence for each reason."""


@dataclass(frozen=True)
class Need:
    """The request of a job: memory in MB, wall-clock minutes, cores."""

    mem_mb: int
    minutes: int
    cores: int = 1


# Suite, paper, experiment, data set -> MB and minutes of one job of the kind.
Measured = Mapping[tuple[str, ...], tuple[float, float]]


@cache
def measured(file: Path) -> Measured:
    """Return the entries of a list of measured needs; nan MB if only times are known."""
    if not file.is_file():
        return {}
    lines = [line for line in file.read_text("utf-8").splitlines() if line[:1] != "#"]
    return {
        tuple(row[name] for name in NEEDS_COLUMNS[:4]): (
            float(row["peak_mb"] or "nan"),
            float(row["minutes"]),
        )
        for row in csv.DictReader(lines)
    }


def likely(known: Measured, kind: tuple[str, str, str, str]) -> tuple[float, float] | None:
    """Return MB and minutes of a job: measured, or means over other data sets of its experiment.

    None if no data set of the experiment was measured.
    """
    if kind in known:
        return known[kind]
    others = [cost for other, cost in known.items() if other[:3] == kind[:3]]
    return (fmean(mb for mb, _ in others), fmean(m for _, m in others)) if others else None


def need_of(file: Path, job: tuple[str, str, str, str], attempt: int = 1) -> Need:
    """Return the request of a job; it grows with each attempt, as jobs fail if it is too small.

    Parameters
    ----------
    file : Path
        The list of measured needs.
    job : tuple
        Suite, paper, experiment, data set.
    attempt : int
        From 1.
    """
    mb, minutes = measured(file).get(job, (math.nan, math.nan))
    asked_mb, longest = UNKNOWN_MB, UNKNOWN_MINUTES
    if not math.isnan(mb):
        asked_mb = math.ceil((SPARE_MB + TIMES_MB * mb) / 100) * 100
    if not math.isnan(minutes):
        longest = math.ceil(SPARE_MINUTES + TIMES_MINUTES * minutes)
    return Need(asked_mb * attempt, longest * attempt)


# ---------------------------------------------------------------- Slurm


@dataclass(frozen=True)
class Partition:
    """A partition of a cluster: its kinds of nodes, and the time limit of a job.

    Attributes
    ----------
    minutes : float
        Infinite if there is no limit.
    nodes : tuple of (cores, MB)
        Each kind of node.
    """

    name: str
    minutes: float
    nodes: tuple[tuple[int, int], ...]

    def gives(self, need: Need) -> bool:
        """Return whether some node can run a job with this request."""
        fits = any(need.cores <= cores and need.mem_mb <= mb for cores, mb in self.nodes)
        return fits and need.minutes <= self.minutes

    def __str__(self) -> str:
        nodes = " or ".join(f"{cores} cores with {mb} MB" for cores, mb in self.nodes)
        limit = "any time" if math.isinf(self.minutes) else f"{self.minutes:g} minutes"
        return f"partition {self.name} gives a job {nodes}, for {limit} at most"


def partition(name: str | None = None) -> Partition:
    """Ask Slurm about a partition, by default its default one.

    Raises
    ------
    NotGiven
        There is no such partition, or no Slurm.
    """
    lines = [line.split("|") for line in _ask("sinfo", "-h", "-o", "%P|%l|%c|%m").splitlines()]
    rows = [line for line in lines if line[0] == f"{name}*" or line[0] == (name or _default(lines))]
    if not rows:
        names = ", ".join(sorted({line[0].rstrip("*") for line in lines}))
        raise NotGiven(f"Slurm has no partition {name or 'that is the default'}: choose of {names}")
    nodes = {(_number(cores), _number(mb)) for _, _, cores, mb in rows}
    longest = max(_minutes(limit) for _, limit, _, _ in rows)
    return Partition(rows[0][0].rstrip("*"), longest, tuple(sorted(nodes)))


def _default(lines: list[list[str]]) -> str | None:
    return next((line[0] for line in lines if line[0].endswith("*")), None)


def _ask(*command: str) -> str:
    try:
        completed = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotGiven(f"{command[0]} does not answer ({error}): is this a login node?") from None
    if completed.returncode:
        reason = " ".join(completed.stderr.split())
        raise NotGiven(f"{command[0]} does not answer ({reason}): is this a login node?")
    return completed.stdout


def _number(text: str) -> int:
    return int(re.match(r"\d+", text).group())


def _minutes(text: str) -> float:
    """Read a time limit: "infinite", [days-]hours:minutes:seconds, minutes:seconds."""
    if not re.fullmatch(r"(\d+-)?[\d:]+", text):
        return math.inf
    days, _, clock = text.rpartition("-")
    parts = [0, 0, *map(int, clock.split(":"))][-3:]
    return 1440 * int(days or 0) + 60 * parts[0] + parts[1] + parts[2] / 60


def check_slurm(jobs: Iterable[tuple[str, Need, str | None]], status_command: str | None) -> None:
    """Raise an error, before anything is submitted, if a job would wait for ever.

    Parameters
    ----------
    jobs : iterable
        Label, need and partition (None: Slurm's default) of each job that will be submitted.
    status_command : str
        "squeue" or "sacct": the command by which the executor asks for the status of its jobs.

    Raises
    ------
    NotGiven
        One sentence for each reason.
    """
    too_much: dict[Partition, list[str]] = {}
    partitions: dict[str | None, Partition] = {}
    for label, need, name in jobs:
        if name not in partitions:
            partitions[name] = partition(name)
        if not partitions[name].gives(need):
            asked = f"{label} ({need.cores} cores, {need.mem_mb} MB, {need.minutes} minutes)"
            too_much.setdefault(partitions[name], []).append(asked)
    sentences = [
        f"the {where}, too little for {_first(labels)}: name another partition "
        "(--default-resources slurm_partition=NAME) or leave these out (--config only=...)"
        for where, labels in too_much.items()
    ]
    if partitions:
        sentences += _blind(status_command)
    if sentences:
        raise NotGiven("; ".join(sentences))


def _first(labels: list[str], count: int = 3) -> str:
    more = f" and {len(labels) - count} more jobs" if len(labels) > count else ""
    return ", ".join(labels[:count]) + more


def _blind(status_command: str | None) -> list[str]:
    """Return complaints if the executor could not learn how a job ended."""
    settings = _ask("scontrol", "show", "config")
    kind = re.search(r"AccountingStorageType\s*=\s*(\S+)", settings)
    database = bool(kind) and "none" not in kind[1].lower()
    if status_command == "sacct" and not database:
        return [
            "this cluster has no accounting database for sacct to ask: use --slurm-status-command "
            "squeue"
        ]
    age = re.search(r"MinJobAge\s*=\s*(\d+)", settings)
    if status_command == "squeue" and not database and age and int(age[1]) <= LONGEST_PAUSE_S:
        return [
            f"this cluster forgets a finished job after {age[1]} seconds and has no accounting "
            f"database: ask its administrators for a MinJobAge above {LONGEST_PAUSE_S}"
        ]
    return []
