"""Result rows: their columns, declared once, and the columns that all rows of a cell share."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from .code import code

if TYPE_CHECKING:
    import pandas as pd

PACKAGES = ("solution_paths", "numpy", "scipy", "numba", "scikit-learn")


def _columns(*declared: tuple[str, pa.DataType, bool, str]) -> pa.Schema:
    """Build a schema from (name, type, whether it may be null, description)."""
    return pa.schema(
        [
            pa.field(name, kind, nullable=optional, metadata={"description": text})
            for name, kind, optional, text in declared
        ]
    )


TEXT, NUMBER, WHOLE = pa.string(), pa.float64(), pa.int64()
_IDENTITY = (
    ("suite", TEXT, False, "name of the suite in config/config.yaml"),
    ("paper", TEXT, False, "name of the paper: its file in config/papers"),
    ("experiment", TEXT, False, "name of the experiment in the paper's file"),
    ("dataset", TEXT, False, "name of the data set in the paper's file"),
    ("split", WHOLE, False, "number of the split, from 0"),
    ("method", TEXT, False, "path, or the name of a baseline, or what made the row"),
    ("hyper_parameters", TEXT, False, "JSON object"),
)
# One value of one metric of one method, or one repeat of one timing, or one failure.
SCHEMA = _columns(
    *_IDENTITY,
    ("seed", TEXT, False, "entropy of the SeedSequence keyed by (paper, data set, split)"),
    ("method_version", TEXT, True, "version of the package that solved it"),
    ("kernel", TEXT, True, "linear, rbf, poly or precomputed"),
    ("metric", TEXT, False, "what value is"),
    ("value", NUMBER, True, "full precision; null where the row is a failure"),
    ("cpu_s", NUMBER, True, "CPU seconds of the solver call alone"),
    ("wall_s", NUMBER, True, "wall-clock seconds of the solver call alone"),
    ("repeat", WHOLE, True, "number of the repeat of a timing, from 0"),
    ("n_breakpoints", WHOLE, True, "breakpoints of the path, ends included"),
    ("kkt", NUMBER, True, "largest KKT violation found by the judge"),
    ("gap", NUMBER, True, "largest relative duality gap found by the judge; nothing is subtracted"),
    (
        "rounding",
        NUMBER,
        True,
        "how far off the gap may be because it is evaluated in floating point",
    ),
    ("status", TEXT, False, "ok, or what went wrong"),
    ("message", TEXT, True, "reason of a failure"),
    ("machine", TEXT, False, "processor and operating system"),
    (
        "versions",
        TEXT,
        False,
        "JSON object: commit, date, hashes of code, versions of packages",
    ),
)
# One point of a curve: an exact step function, a boundary, the points of a data set.
CURVES = _columns(
    *_IDENTITY,
    ("curve", TEXT, False, "what the curve shows"),
    ("x", NUMBER, False, "its abscissa; a step holds from x to the next point's"),
    ("y", NUMBER, False, "its value"),
    ("weight", NUMBER, True, "how many samples the point stands for, where it stands for some"),
)


class Rows:
    """Collection of result rows and curves; columns that all rows share are given once.

    Parameters
    ----------
    **shared
        Columns that every row has; ``hyper_parameters`` is a dict.
    """

    def __init__(self, **shared: Any) -> None:
        origin = versions(shared.get("paper", ""), shared.get("experiment", ""))
        self._shared = {"machine": machine(), "versions": origin, **shared}
        self.rows: list[dict[str, Any]] = []
        self.points: list[dict[str, Any]] = []

    def add(self, metric: str, value: float | None = None, **columns: Any) -> None:
        """Add a row. ``hyper_parameters`` is a dict; ``status`` is "ok" unless given."""
        row = {"status": "ok", "kernel": "linear", **self._complete(columns), "metric": metric}
        row["value"] = None if value is None else float(value)
        unknown = set(row) - set(SCHEMA.names)
        if unknown:
            raise KeyError(f"Results have no column {sorted(unknown)}: use {SCHEMA.names}.")
        self.rows.append(row)

    def add_all(self, values: Mapping[str, float | None], **columns: Any) -> None:
        """Add a row for each metric, with the same columns."""
        for metric, value in values.items():
            self.add(metric, value, **columns)

    def add_curve(
        self,
        curve: str,
        x: Iterable[float],
        y: Iterable[float],
        weight: Iterable[float] | None = None,
        **columns: Any,
    ) -> None:
        """Add the points of a curve, in the given order."""
        shared = {k: v for k, v in self._complete(columns).items() if k in CURVES.names}
        points = [{"x": float(a), "y": float(b)} for a, b in zip(x, y, strict=True)]
        if weight is not None:
            points = [p | {"weight": float(w)} for p, w in zip(points, weight, strict=True)]
        self.points += [{**shared, "curve": curve, **point} for point in points]

    def _complete(self, columns: dict[str, Any]) -> dict[str, Any]:
        hyper = {**self._shared.get("hyper_parameters", {}), **columns.get("hyper_parameters", {})}
        text = json.dumps(hyper, sort_keys=True, default=_plain)
        return {**self._shared, **columns, "hyper_parameters": text}


def _plain(value: Any) -> Any:
    """Convert a value to one that JSON can hold."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def or_none(value: float | None) -> float | None:
    """Return a number, or None if it is not finite."""
    return float(value) if value is not None and np.isfinite(value) else None


def table_of(rows: list[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    """Return rows as a table, or raise a KeyError if a row lacks a required value."""
    table = pa.Table.from_pylist(rows, schema=schema)
    for field in schema:
        if not field.nullable and table[field.name].null_count:
            raise KeyError(f"A row has no {field.name!r}, which every row needs: give it one.")
    return table


class UnreadableResults(RuntimeError):
    """A file is no table of results: one sentence says why."""


def read_results(
    results: pd.DataFrame | str | Path, schema: pa.Schema | None = None
) -> pd.DataFrame:
    """Return a table of results or curves; ``hyper`` holds its hyper-parameters as dicts.

    A file that is damaged, or lacks a column of the ``schema``, raises `UnreadableResults`.
    """
    is_frame = not isinstance(results, str | Path)
    frame = results.copy() if is_frame else _read_table(Path(results))
    needed = schema.names if schema else ["hyper_parameters"]
    lacking = [name for name in needed if name not in frame.columns]
    if lacking:
        raise UnreadableResults(
            f"{'the table' if is_frame else results} has no column "
            f"{lacking[0]!r}, it was made by an older version; run the suite again."
        )
    parsed = {text: json.loads(text) for text in frame["hyper_parameters"].unique()}
    frame["hyper"] = [parsed[text] for text in frame["hyper_parameters"]]
    return frame


def _read_table(file: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_parquet(file)
    except (OSError, pa.ArrowException) as error:
        reason = (
            "is missing" if isinstance(error, FileNotFoundError) else "is not a whole Parquet file"
        )
        raise UnreadableResults(f"{file} {reason}; run the suite again to make it anew.") from None


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
def versions(paper: str, experiment: str) -> str:
    """Return versions of packages, hashes of code and the date as a JSON object."""
    result = {"commit": commit(), "date": date.today().isoformat()}
    result["python"] = platform.python_version()
    for package in PACKAGES:
        try:
            result[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            result[package] = "not installed"
    return json.dumps(result | code(paper, experiment), sort_keys=True)


@cache
def commit(folder: str | Path = Path(__file__).parent) -> str:
    """Return the commit of a folder's checkout, "" if git doesn't know it."""
    options: dict[str, Any] = {"cwd": folder, "capture_output": True, "text": True, "timeout": 20}
    try:
        head = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], **options)
        if head.returncode:
            return ""
        changed = subprocess.run(
            ["git", "status", "--porcelain", "--untracked-files=no"], **options
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return head.stdout.strip() + (", with changes that were not committed" * bool(changed.stdout))
