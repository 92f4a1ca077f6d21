"""Cells: the smallest units of work that are written, and never done twice.

A cell is one Parquet file of rows, and one of curves where it has any. Both carry the cell's
identity and checksums of their pages: a file that is truncated, altered or another cell's is set
aside under another name, named, and computed again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from threadpoolctl import threadpool_limits

from ..data import DataUnavailable, seed_sequence
from ..files import replace_atomically
from ..settings import Settings
from .config import DataSetSettings
from .rows import CURVES, SCHEMA, Rows, table_of

# Called with what is being done, the share done in [0, 1], and breakpoints so far (or None).
Report = Callable[..., None]
# A cell with such a row is run again at the next call.
UNFINISHED = {"failed", "not available", "certificate failed"}
IDENTITY = b"cell"


class DamagedCell(RuntimeError):
    """A cell's file is not what its name says; the message says how."""


@dataclass(frozen=True)
class Cell:
    """What is run on what.

    Attributes
    ----------
    suite, paper, experiment, dataset, split
        As in the columns of the results.
    common, data, settings : Settings
        Of the paper, of its data set, and of the experiment in this suite.
    each : str
        Setting that has one cell for each of its values ("" if there is none); in ``settings`` it
        then has this cell's value alone, which is `value`.
    offline : bool
        Nothing may be downloaded. No part of the identity.
    """

    suite: str
    paper: str
    experiment: str
    dataset: str
    split: int
    common: Settings
    data: DataSetSettings
    settings: Settings
    each: str = ""
    offline: bool = False

    @property
    def value(self) -> Any:
        """Return this cell's value of the setting that has one cell for each."""
        return getattr(self.settings, self.each)[0]

    @cached_property
    def identity(self) -> str:
        """Everything that the result depends on, as JSON."""
        parts = {name: getattr(self, name) for name in ("suite", "paper", "experiment", "dataset")}
        models = {name: getattr(self, name).model_dump() for name in ("common", "data", "settings")}
        return json.dumps({**parts, "split": self.split, **models}, sort_keys=True)

    @property
    def label(self) -> str:
        """What tells the cells of one experiment, data set and split apart."""
        if not self.each:
            return ""
        return f"{self.value:g}" if isinstance(self.value, int | float) else str(self.value)

    @property
    def id(self) -> str:
        """File name without suffix. It holds a hash of the settings: changed settings, new cell."""
        digest = hashlib.sha256(self.identity.encode()).hexdigest()[:10]
        parts = [self.experiment, self.dataset, f"{self.split:03d}", self.label, digest]
        return "-".join(part for part in parts if part)

    def seed(self, what: str = "") -> np.random.SeedSequence:
        """Return the seed of the cell's data set and split, or of something further about them."""
        name = f"{self.dataset}/{what}" if what else self.dataset
        return seed_sequence(self.paper, name, self.split)

    def rows(self, **shared: Any) -> Rows:
        """Return an empty collection of rows that carry the cell's columns."""
        names = ("suite", "paper", "experiment", "dataset", "split")
        seed = "-".join(str(word) for word in np.atleast_1d(self.seed().entropy))
        return Rows(**{name: getattr(self, name) for name in names}, seed=seed, **shared)

    def split_by(self, each: str) -> list[Cell]:
        """Return one cell for each value of a setting."""
        return [
            replace(self, each=each, settings=self.settings.model_copy(update={each: (value,)}))
            for value in getattr(self.settings, each)
        ]


# ---------------------------------------------------------------- files


def file_of(cell: Cell, folder: str | Path) -> Path:
    """Return where the cell's rows are written."""
    return Path(folder) / f"{cell.id}.parquet"


def curves_beside(file: Path) -> Path:
    """Return where the curves are that belong to a file of rows."""
    return file.with_suffix(".curves.parquet")


def write_table(path: Path, table: pa.Table, identity: str = "") -> None:
    """Write a table atomically, with its identity and checksums of its pages."""
    marked = table.replace_schema_metadata({IDENTITY: identity}) if identity else table
    options = {"compression": "zstd", "write_page_checksum": True}
    replace_atomically(path, lambda part: pq.write_table(marked, part, **options))


def write_cell(file: Path, identity: str, rows: Rows) -> None:
    """Write a cell: its curves first, so that its rows say that all of it is there."""
    curves = curves_beside(file)
    curves.unlink(missing_ok=True)
    if rows.points:
        write_table(curves, table_of(rows.points, CURVES), identity)
    table = table_of(rows.rows, SCHEMA)
    described = json.dumps({"identity": identity, "points": len(rows.points)})
    write_table(file, table, described)


def read_cell(file: Path) -> tuple[str, pa.Table, pa.Table]:
    """Return (identity, rows, curves) of a cell's files, or raise `DamagedCell`."""
    table, described = _read_marked(file, SCHEMA)
    try:
        described = json.loads(described)
        identity, points = described["identity"], described["points"]
    except (ValueError, KeyError, TypeError):
        raise DamagedCell(f"{file} doesn't say which cell it is") from None
    curves = CURVES.empty_table()
    if points:
        curves, owner = _read_marked(curves_beside(file), CURVES)
        if owner != identity or len(curves) != points:
            raise DamagedCell(f"{curves_beside(file)} belongs to another cell")
    return identity, table, curves


def _read_marked(file: Path, schema: pa.Schema) -> tuple[pa.Table, str]:
    try:
        table = pq.read_table(file, page_checksum_verification=True)
    except FileNotFoundError:
        raise DamagedCell(f"{file} is missing") from None
    except (OSError, pa.ArrowException) as error:
        reason = " ".join(str(error).split())[:120]
        raise DamagedCell(f"{file} can't be read ({reason})") from None
    if table.schema.names != schema.names:
        raise DamagedCell(f"{file} has other columns than a cell")
    return table, (table.schema.metadata or {}).get(IDENTITY, b"").decode()


def checked(file: Path, cell_id: str | None = None) -> tuple[pa.Table, pa.Table]:
    """Return rows and curves of a cell that is whole and that its name belongs to."""
    identity, table, curves = read_cell(file)
    digest = hashlib.sha256(identity.encode()).hexdigest()[:10]
    if not (cell_id or file.stem).endswith(digest):
        raise DamagedCell(f"{file} holds another cell's results")
    return table, curves


def set_aside(file: Path) -> Path:
    """Rename a damaged cell, so that it is computed again and can still be looked at."""
    aside = file.with_suffix(".damaged")
    if file.exists():
        file.replace(aside)
    return aside


def finished(file: Path) -> bool:
    """Tell whether a cell need not be run again: it is there, whole, and nothing in it failed."""
    if not file.is_file():
        return False
    table, _ = checked(file)
    return not UNFINISHED & set(table["status"].to_pylist())


def forget_damaged_jobs(results: str | Path) -> list[str]:
    """Remove the lists of jobs whose cells are not what they should be, so that these run again.

    Returns
    -------
    list of str
        A sentence for each such job.
    """
    sentences = []
    for job in sorted(Path(results).glob("*/jobs/**/*.txt")):
        try:
            for file in job.read_text().split("\n"):
                if file:
                    checked(Path(file))
        except DamagedCell as error:
            sentences.append(f"{error}: it is computed again.")
            job.unlink()
    return sentences


def collect(files: Iterable[str | Path], results: str | Path, curves: str | Path) -> int:
    """Join cells to one table of results and one of curves; return the number of rows.

    Raises
    ------
    DamagedCell
        A cell is not what its name says; it has been set aside.
    """
    files = sorted({Path(file) for file in files}, key=lambda file: file.name)
    if not files:
        raise ValueError("There are no cells to collect: run a job first.")
    parts = []
    for file in files:
        try:
            parts.append(checked(file))
        except DamagedCell as error:
            aside = set_aside(file)
            raise DamagedCell(f"{error}; it is now {aside.name}, run the command again") from None
    for target, tables, schema in zip(
        (results, curves), zip(*parts, strict=True), (SCHEMA, CURVES), strict=True
    ):
        whole = pa.concat_tables([part.replace_schema_metadata() for part in tables])
        write_table(Path(target), whole.cast(schema))
    return sum(len(table) for table, _ in parts)


# ---------------------------------------------------------------- running


def run_cells(
    cells: list[Cell],
    run: Callable[[Cell, Rows, Report], None],
    folder: str | Path,
    progress: Report | None = None,
    shared: Callable[[Cell], dict[str, Any]] = lambda cell: {},
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
    files = [file_of(cell, folder) for cell in cells]
    for k, (cell, file) in enumerate(zip(cells, files, strict=True)):

        def report(done: float, events: int | None = None, k: int = k, cell: Cell = cell) -> None:
            if progress is not None:
                what = f"split {cell.split} {cell.label}".rstrip()
                progress(what, (k + done) / len(cells), events)

        try:
            if finished(file):
                continue
        except DamagedCell as error:
            aside = set_aside(file)
            if progress is not None:
                progress(f"{error}: kept as {aside.name}, computed again", k / len(cells))
        rows = cell.rows(**shared(cell))
        with threadpool_limits(limits=1):
            try:
                run(cell, rows, report)
            except Exception as error:  # a failure is a row with its reason, never a gap
                absent = isinstance(error, DataUnavailable)
                status = "not available" if absent else "failed"
                reason = f"{type(error).__name__}: {error}"
                rows.add("failure", method="experiment", status=status, message=reason)
        write_cell(file, cell.identity, rows)
        report(1.0)
    return files
