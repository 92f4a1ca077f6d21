"""What every experiment shares: cells, result rows, atomic files, versions, fair timing."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from threadpoolctl import threadpool_limits

from ..baselines import Stopwatch
from ..data import load, registry, seed_sequence
from ..files import replace_atomically

# Called with what is being done, the share done in [0, 1], and breakpoints so far (or None).
Report = Callable[..., None]

SCHEMA = pa.schema(
    [
        ("suite", pa.string()),
        ("paper", pa.string()),
        ("experiment", pa.string()),
        ("dataset", pa.string()),
        ("split", pa.int64()),
        ("seed", pa.string()),
        ("method", pa.string()),
        ("method_version", pa.string()),
        ("kernel", pa.string()),
        ("hyper_parameters", pa.string()),
        ("metric", pa.string()),
        ("value", pa.float64()),
        ("cpu_s", pa.float64()),
        ("wall_s", pa.float64()),
        ("repeat", pa.int64()),
        ("n_breakpoints", pa.int64()),
        ("kkt", pa.float64()),
        ("gap", pa.float64()),
        ("status", pa.string()),
        ("message", pa.string()),
        ("machine", pa.string()),
        ("versions", pa.string()),
    ]
)
# A cell with such a row is run again at the next call.
UNFINISHED = {"failed", "not available", "certificate failed"}
PACKAGES = ("solution_paths", "numpy", "scipy", "numba", "scikit-learn")


@dataclass(frozen=True)
class Cell:
    """The smallest unit of work that is written, and never done twice.

    Attributes
    ----------
    experiment, dataset, split
        What is run on what.
    lane : {"accuracy", "timing"}
    label : str
        Tells the cells of one experiment, data set and split apart ("" when there is one).
    settings : dict
        Everything that the result depends on, plain JSON values.
    """

    experiment: str
    dataset: str
    split: int
    lane: str
    label: str = ""
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """File name without suffix. It holds a hash of the settings: changed settings, new cell."""
        text = json.dumps(self.settings, sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:10]
        parts = [self.experiment, self.dataset, f"{self.split:03d}", self.label, digest]
        return "-".join(part for part in parts if part)

    def file(self, out_dir: str | Path) -> Path:
        """Where the cell's rows are written."""
        return Path(out_dir) / f"{self.id}.parquet"


# Lists the cells of (config, suite, experiment, dataset, split).
CellsOf = Callable[[dict, str, str, str, int], list[Cell]]


class Rows:
    """Collects result rows; what all rows of a cell share is given once."""

    def __init__(self, **shared: Any) -> None:
        self._shared = {"machine": machine(), "versions": versions(), **shared}
        self.rows: list[dict[str, Any]] = []

    def add(self, metric: str, value: float | None = None, **columns: Any) -> None:
        """Add a row. ``hyper_parameters`` is a dict; ``status`` is "ok" unless given."""
        hyper = {**self._shared.get("hyper_parameters", {}), **columns.pop("hyper_parameters", {})}
        row = {"status": "ok", "kernel": "linear", **self._shared, "metric": metric, **columns}
        row["value"] = None if value is None else float(value)
        row["hyper_parameters"] = json.dumps(hyper, sort_keys=True, default=_plain)
        unknown = set(row) - set(SCHEMA.names)
        if unknown:
            raise KeyError(f"Results have no column {sorted(unknown)}: use {SCHEMA.names}.")
        self.rows.append(row)


def _plain(value: Any) -> Any:
    """Turn numpy values into what JSON knows."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


@cache
def machine() -> str:
    """Describe processor, cores and operating system in one line."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        names = [
            row.split(":", 1)[1] for row in info.read_text().splitlines() if "model name" in row
        ]
        model = names[0].strip() if names else model
    return f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.release()}"


@cache
def versions() -> str:
    """Versions of Python, packages and this source that results depend on, as a JSON object."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed"
    found["source"] = source_digest()
    return json.dumps(found, sort_keys=True)


@cache
def source_digest() -> str:
    """Hash this package's source, so that rows of different code can be told apart."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for file in sorted(root.rglob("*.py")):
        digest.update(str(file.relative_to(root)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]


def write_rows(path: str | Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write result rows to a Parquet file, atomically; the schema is enforced."""
    table = pa.Table.from_pylist(list(rows), schema=SCHEMA)
    replace_atomically(Path(path), lambda part: pq.write_table(table, part, compression="zstd"))


def collect(cell_files: Iterable[str | Path], out: str | Path) -> None:
    """Join the files of cells to one results table, in the order of their names."""
    files = sorted({Path(file) for file in cell_files}, key=lambda file: file.name)
    if not files:
        raise ValueError("There are no cells to collect: run a job first.")
    tables = [pq.read_table(file, schema=SCHEMA) for file in files]
    table = pa.concat_tables(tables)
    replace_atomically(Path(out), lambda part: pq.write_table(table, part, compression="zstd"))


def read_results(results: pd.DataFrame | str | Path) -> pd.DataFrame:
    """Return a results table as a data frame; ``hyper`` holds its hyper-parameters as dicts."""
    frame = results if isinstance(results, pd.DataFrame) else pd.read_parquet(results)
    frame = frame.copy()
    frame["hyper"] = [json.loads(text) for text in frame["hyper_parameters"]]
    return frame


def finished(path: Path) -> bool:
    """Tell whether a cell need not be run again: it is there, and nothing in it failed."""
    if not path.is_file():
        return False
    statuses = pq.read_table(path, columns=["status"])["status"].to_pylist()
    return not UNFINISHED & set(statuses)


def run_cells(
    cells: list[Cell],
    run: Callable[[Cell, Rows, Report], None],
    shared: Callable[[Cell], dict[str, Any]],
    out_dir: str | Path,
    progress: Report | None = None,
) -> list[Path]:
    """Run the cells that aren't there yet and write each as soon as it is done.

    An exception becomes a row with its reason, and the next cell is run; a cell that failed is
    tried again at the next call, and so is one whose data were not available or whose path has no
    certificate. BLAS is pinned to one thread.

    Returns
    -------
    list of Path
        One file for each cell.
    """
    files = []
    for k, cell in enumerate(cells):
        path = cell.file(out_dir)
        files.append(path)
        if finished(path):
            continue

        def report(done: float, events: int | None = None, k: int = k, cell: Cell = cell) -> None:
            if progress is not None:
                progress(
                    f"split {cell.split} {cell.label}".rstrip(), (k + done) / len(cells), events
                )

        rows = Rows(**shared(cell))
        with threadpool_limits(limits=1):
            try:
                run(cell, rows, report)
            except Exception as error:  # a failure is a row with its reason, never a gap
                reason = f"{type(error).__name__}: {error}"
                status = "not available" if type(error).__name__ == "DataUnavailable" else "failed"
                rows.add("failure", method="experiment", status=status, message=reason)
        write_rows(path, rows.rows)
        report(1.0)
    return files


def list_cells(paper: str, cells_of: CellsOf, config: dict, suite: str) -> list[Cell]:
    """List every cell of a paper's part of a suite.

    ``cells_of(config, suite, experiment, dataset, split)`` lists those of one split.
    """
    wanted = config["suites"][suite].get(paper, {})
    return [
        cell
        for experiment, what in wanted.items()
        for dataset in what["datasets"]
        for split in range(what["splits"])
        for cell in cells_of(config, suite, experiment, dataset, split)
    ]


def experiment_settings(
    config: dict, suite: str, paper: str, experiment: str
) -> tuple[str, dict[str, Any]]:
    """Return (lane, settings) of an experiment; what the suite says overrides the paper's file."""
    override = config["suites"][suite][paper][experiment]
    chosen = {**config[paper]["experiments"][experiment], **override}
    lane = chosen.pop("lane")
    for key in ("datasets", "splits", "splits_per_job"):
        chosen.pop(key, None)
    return lane, chosen


def run_job(
    paper: str,
    cells_of: CellsOf,
    runners: dict[str, Callable[[Cell, Rows, Report, bool], None]],
    config: dict,
    suite: str,
    chunk: dict,
    out_dir: str | Path,
    progress: Report | None = None,
    **shared: Callable[[Cell], Any],
) -> list[Path]:
    """Run the cells of a job that aren't there yet; return the files of all its cells.

    Parameters
    ----------
    paper, cells_of
        As in `list_cells`.
    runners : dict
        Experiment -> function of (cell, rows, report, offline).
    chunk : dict
        ``experiment``, ``dataset`` and ``splits`` (an iterable of numbers).
    **shared
        Further columns that all rows of a cell share, each a function of the cell.
    """
    experiment, dataset = chunk["experiment"], chunk["dataset"]
    wanted = [
        cell
        for split in chunk["splits"]
        for cell in cells_of(config, suite, experiment, dataset, int(split))
    ]

    def columns(cell: Cell) -> dict[str, Any]:
        entropy = seed_sequence(paper, cell.dataset, cell.split).entropy
        return {
            "suite": suite,
            "paper": paper,
            "experiment": cell.experiment,
            "dataset": cell.dataset,
            "split": cell.split,
            "seed": "-".join(str(word) for word in np.atleast_1d(entropy)),
            **{name: value(cell) for name, value in shared.items()},
        }

    offline = bool(config.get("offline", False))

    def run(cell: Cell, rows: Rows, report: Report) -> None:
        runners[cell.experiment](cell, rows, report, offline)

    return run_cells(wanted, run, columns, out_dir, progress)


def load_seeded(
    dataset: str, seed: np.random.SeedSequence, offline: bool, n: int | None = None
) -> Any:
    """Load a data set; a generated one with its own seed for each split (and of the size n)."""
    parameters = registry()[dataset].parameters
    given = {}
    if "seed" in parameters:
        given["seed"] = int(seed.generate_state(1)[0])
    if "n" in parameters and n is not None:
        given["n"] = n
    return load(dataset, offline=offline, **given)


def or_none(value: float) -> float | None:
    """Return a number, or None where it is not finite."""
    return float(value) if np.isfinite(value) else None


@dataclass(frozen=True)
class Timing:
    """Seconds of one call, and what it returned."""

    cpu_s: float
    wall_s: float
    result: Any


def stopwatch(call: Callable[[], Any], shortest_s: float = 0.0) -> Timing:
    """Time a call; one that is shorter than ``shortest_s`` is repeated until that much has passed.

    Clocks resolve about a microsecond: the mean of many short calls is what can be known.
    """
    with Stopwatch() as watch:
        result = call()
    count = 1
    if watch.wall_s < shortest_s:
        count = int(np.ceil(shortest_s / max(watch.wall_s, 1e-7)))
        with Stopwatch() as watch:
            for _ in range(count):
                result = call()
    return Timing(watch.cpu_s / count, watch.wall_s / count, result)


def interleaved(
    calls: dict[Any, Callable[[], Timing]], repeats: Callable[[Any, float], int]
) -> Iterator[tuple[Any, int, Timing]]:
    """Time every call in turn, round after round, so that a busy moment hurts all methods alike.

    Parameters
    ----------
    calls : dict
        Key -> function that returns its own `Timing`. Warm up before: the first round counts.
    repeats : function
        (key, wall seconds of the first round) -> number of rounds for this key.

    Yields
    ------
    (key, repeat, Timing)
    """
    wanted = dict.fromkeys(calls, 1)
    done = 0
    while any(rounds > done for rounds in wanted.values()):
        for key, call in calls.items():
            if wanted[key] > done:
                timing = call()
                if done == 0:
                    wanted[key] = max(1, repeats(key, timing.wall_s))
                yield key, done, timing
        done += 1
