"""Cells: the smallest units of work that are stored and resumed.

A cell is a Parquet file of rows, one of curves if it has any, and a small JSON file, written last,
with the cell's identity and the checksums of the other two. A cell whose files are truncated,
altered, missing or those of another cell is renamed, reported and computed again.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from threadpoolctl import threadpool_limits

from solution_paths.files import replace_atomically, write_text

from ..data import DataUnavailable, seed_sequence
from ..settings import Settings
from .code import CODE, code
from .config import DataSetSettings
from .rows import CURVES, SCHEMA, Rows, table_of
from .supervision import announce
from .written import digest, record

# Called with the current work, the fraction done in [0, 1], and breakpoints so far (or None).
Report = Callable[..., None]
# A cell with a row of this status is run again at the next call.
UNFINISHED = {"failed", "not available", "certificate failed", "certificate undecided"}
# A cell with a row of this status has failed: its job is run again, and the run reports it.
FAILED = {"failed", "not available"}


class DamagedCell(RuntimeError):
    """A cell's files are missing, unreadable or altered; the message says which."""


@dataclass(frozen=True)
class Cell:
    """One experiment on one split of a data set.

    Attributes
    ----------
    suite, paper, experiment, dataset, split
        As in the columns of the results.
    common, data, settings : Settings
        Settings of the paper, of its data set, and of the experiment in this suite.
    each : str
        Setting that has one cell for each of its values ("" if there is none); ``settings`` then
        holds this cell's value alone, which is `value`.
    sources : tuple of dict
        Identity of each data set that it is made of; see `data.identity`.
    offline : bool
        Whether downloads are forbidden; not part of the identity.
    version : int
        Version of the experiment; the first is 0.
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
    sources: tuple[dict[str, Any], ...] = ()
    offline: bool = False
    version: int = 0

    @property
    def value(self) -> Any:
        """Return this cell's value of the setting that has one cell for each."""
        return getattr(self.settings, self.each)[0]

    @cached_property
    def identity(self) -> str:
        """All that the result depends on, as JSON."""
        parts = {name: getattr(self, name) for name in ("suite", "paper", "experiment", "dataset")}
        models = {name: getattr(self, name).model_dump() for name in ("common", "data", "settings")}
        parts |= {"split": self.split, "sources": self.sources}
        parts |= {"version": self.version} if self.version else {}
        return json.dumps({**parts, **models}, sort_keys=True)

    @property
    def label(self) -> str:
        """Text that distinguishes the cells of one experiment, data set and split."""
        if not self.each:
            return ""
        return f"{self.value:g}" if isinstance(self.value, int | float) else str(self.value)

    @property
    def id(self) -> str:
        """File name without suffix; it includes a hash of the identity."""
        short = short_digest(self.identity)
        parts = [self.experiment, self.dataset, f"{self.split:03d}", self.label, short]
        return "-".join(part for part in parts if part)

    def seed(self, what: str = "") -> np.random.SeedSequence:
        """Return the seed of the cell's data set and split; ``what`` gives another stream."""
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


def short_digest(identity: str) -> str:
    """Return the first ten digits of a text's SHA-256."""
    return hashlib.sha256(identity.encode()).hexdigest()[:10]


# ---------------------------------------------------------------- files


def file_of(cell: Cell, folder: str | Path) -> Path:
    """Return the JSON file of a cell, which lists its other files and is written last."""
    return Path(folder) / f"{cell.id}.json"


def code_of(file: Path) -> dict[str, str]:
    """Return the hashes of the current code of a cell's experiment, by the cell's file."""
    return code(file.parent.name, file.stem.split("-")[0])


def rows_of(file: Path) -> Path:
    """Return the file of a cell's rows."""
    return file.with_suffix(".parquet")


def curves_of(file: Path) -> Path:
    """Return the file of a cell's curves, which exists if it has any."""
    return file.with_suffix(".curves.parquet")


def write_table(path: Path, table: pa.Table) -> None:
    """Write a table atomically."""
    replace_atomically(path, lambda part: pq.write_table(table, part, compression="zstd"))


def write_cell(file: Path, identity: str, rows: Rows) -> None:
    """Write a computed cell, with the hashes of the code that made it."""
    failures = [str(row.get("message")) for row in rows.rows if row["status"] in FAILED]
    made = {"code": code_of(file), "failures": failures}
    store_cell(file, identity, table_of(rows.rows, SCHEMA), table_of(rows.points, CURVES), made)


def store_cell(
    file: Path, identity: str, rows: pa.Table, curves: pa.Table, made: dict[str, Any]
) -> None:
    """Write a cell's tables, and last the JSON file with their checksums."""
    file.unlink(missing_ok=True)
    write_table(rows_of(file), rows)
    paths = [rows_of(file)]
    if len(curves):
        write_table(curves_of(file), curves)
        paths.append(curves_of(file))
    files = {path.name: digest(path) for path in paths}
    write_text(file, json.dumps({"identity": identity, "files": files, **made}))


def check_cell(file: Path) -> dict[str, Any]:
    """Return the content of a cell's JSON file, or raise `DamagedCell`.

    All files of the cell must be intact, and its identity that of its name.
    """
    try:
        content = json.loads(file.read_text("utf-8"))
        identity, files = content["identity"], dict(content["files"])
    except FileNotFoundError:
        raise DamagedCell(f"{file} is missing") from None
    except (OSError, ValueError, KeyError, TypeError):
        raise DamagedCell(f"{file} can't be read") from None
    if not file.stem.endswith(short_digest(identity)) or rows_of(file).name not in files:
        raise DamagedCell(f"{file} belongs to another cell")
    for name, expected in files.items():
        part = file.with_name(name)
        if not part.is_file():
            raise DamagedCell(f"{part} is missing")
        if digest(part) != expected:
            raise DamagedCell(f"{part} is not what was written under that name")
    return content


def read_cell(file: Path) -> tuple[pa.Table, pa.Table]:
    """Return rows and curves of a cell, or raise `DamagedCell`."""
    check_cell(file)
    rows = pq.read_table(rows_of(file), schema=SCHEMA)
    if not curves_of(file).is_file():
        return rows, CURVES.empty_table()
    return rows, pq.read_table(curves_of(file), schema=CURVES)


def set_aside(file: Path) -> Path:
    """Rename the files of a damaged cell, which is then computed again; return the new name."""
    for part in (curves_of(file), rows_of(file), file):
        if part.exists():
            part.replace(part.with_name(f"{part.name}.damaged"))
    return file.with_name(f"{file.name}.damaged")


def finished(file: Path, recompute: str = "") -> bool:
    """Return whether a cell need not be run again: it exists, is intact, and nothing in it failed.

    With ``recompute="changed"`` it must also have been made by the current code.
    """
    if not file.is_file():
        return False
    content = check_cell(file)
    if recompute == "changed" and content.get("code") != code_of(file):
        return False
    statuses = pq.read_table(rows_of(file), columns=["status"])["status"]
    return not UNFINISHED & set(statuses.to_pylist())


def write_list(listing: Path, files: Iterable[Path]) -> None:
    """Write the list of a job's cells, followed by a digest that reveals lost lines."""
    text = "".join(f"{file}\n" for file in files)
    write_text(listing, f"{text}# {short_digest(text)}\n")


def read_list(listing: str | Path) -> list[Path]:
    """Return the cells of a finished job, or raise `DamagedCell`."""
    try:
        *lines, last = Path(listing).read_text("utf-8").splitlines(keepends=True)
    except (OSError, ValueError):  # no text, or no line at all
        raise DamagedCell(f"{listing} can't be read") from None
    if last != f"# {short_digest(''.join(lines))}\n":
        raise DamagedCell(f"{listing} is not what was written under that name")
    return [Path(line.rstrip("\n")) for line in lines]


def note_damaged_jobs(results: str | Path, suffix: str, write: bool = True) -> dict[Path, list]:
    """Find the finished jobs with damaged or failed cells.

    A note with a sentence for each such cell replaces the list of the job, so that the workflow
    runs the job again. Its name is the list's with ``suffix``. Nothing is written unless ``write``.

    Returns
    -------
    dict
        List of a job -> a sentence for each damaged or failed cell.
    """
    damaged = {job: list(_damage(job)) for job in lists_of(results)}
    damaged = {job: sentences for job, sentences in damaged.items() if sentences}
    for job, sentences in damaged.items() if write else ():
        write_text(job.with_suffix(suffix), "".join(f"{sentence}\n" for sentence in sentences))
        job.unlink()
    return damaged


def lists_of(results: str | Path) -> list[Path]:
    """Return the lists of all finished jobs."""
    return sorted(Path(results).glob("*/jobs/**/*.txt"))


def _damage(job: Path) -> Iterator[str]:
    try:
        files = read_list(job)
    except DamagedCell as error:
        yield f"{error}: it is computed again."
        return
    for file in files:
        try:
            if check_cell(file).get("failures"):
                yield f"{file.stem} failed last time: it is tried again."
        except DamagedCell as error:
            yield f"{error}: it is computed again."


def _readable_contents(files: Iterable[Path]) -> dict[Path, dict[str, Any]]:
    """Return the contents of the cells' JSON files that exist and can be read."""
    contents = {}
    for file in files:
        with suppress(OSError, ValueError, TypeError):
            contents[file] = {"failures": [], **json.loads(file.read_text("utf-8"))}
    return contents


def made_by_other_code(
    files: Iterable[Path],
    recompute: str = "",
    offered: Mapping[Path, dict[str, str]] = MappingProxyType({}),
) -> str:
    """Return a sentence on the planned cells that other code made, by experiment; "" if none.

    Cells that are missing, failed or to be recomputed don't count: the current code makes them.
    ``offered`` are the code hashes of reference cells that a run would take over.
    """
    files = list(files)
    contents = {} if recompute == "changed" else _readable_contents(files)
    codes = {
        f: content.get("code", {}) for f, content in contents.items() if not content["failures"]
    }
    codes |= offered
    current = {file: code_of(file) for file in codes}
    other = [file for file, hashes in codes.items() if hashes != current[file]]
    if not other:
        return ""
    parts = [part for part in CODE if any(codes[f].get(part) != current[f][part] for f in other)]
    counts = Counter(f"{file.parent.name} {file.stem.split('-')[0]}" for file in other)
    text = ", ".join(f"{name} {n}" for name, n in sorted(counts.items()))
    return (
        f"{len(other)} of {len(files)} cells were made by other code ({', '.join(parts)}): {text}; "
        "--config recompute=changed computes them again."
    )


def failures(lists: Iterable[str | Path]) -> list[str]:
    """Return a line for each failed cell in the lists of finished jobs, with the reason."""
    files = sorted(file for listing in lists for file in read_list(listing))
    by_cell = {
        file.stem: content.get("failures") for file, content in _readable_contents(files).items()
    }
    return [
        f"{name}: {' '.join(reasons[0].split())}" for name, reasons in by_cell.items() if reasons
    ]


def collect(files: Iterable[str | Path], results: str | Path, curves: str | Path) -> int:
    """Join cells to one table of results and one of curves; return the number of rows.

    Raises
    ------
    DamagedCell
        A cell is damaged; it has been set aside.
    """
    files = sorted({Path(file) for file in files}, key=lambda file: file.name)
    if not files:
        raise ValueError("There are no cells to collect: run a job first.")
    parts = []
    for file in files:
        try:
            parts.append(read_cell(file))
        except DamagedCell as error:
            aside = set_aside(file)
            raise DamagedCell(f"{error}; it is now {aside.name}, run the command again") from None
    targets = (Path(results), Path(curves))
    for target, tables in zip(targets, zip(*parts, strict=True), strict=True):
        write_table(target, pa.concat_tables(tables))
    record(targets[0].parent, targets[0].stem, targets)
    return sum(len(table) for table, _ in parts)


# ---------------------------------------------------------------- running


def run_cells(
    cells: list[Cell],
    run: Callable[[Cell, Rows, Report], None],
    folder: str | Path,
    progress: Report | None = None,
    shared: Callable[[Cell], dict[str, Any]] = lambda cell: {},
    recompute: str = "",
) -> list[Path]:
    """Run the cells that aren't `finished`; write each as soon as it is computed.

    An exception becomes a row with its reason, and the next cell is run. A cell is run again at the
    next call if it failed, its data were not available, or its path has no certificate. BLAS uses
    one thread.

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
            if finished(file, recompute):
                continue
        except DamagedCell as error:
            aside = set_aside(file)
            if progress is not None:
                progress(f"{error}: kept as {aside.name}, computed again", k / len(cells))
        announce(cell.id)
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
