"""Reference results: finished cells of a suite, in a few files under version control.

``reference/<suite>/<paper>.parquet`` holds the cells' rows and ``<paper>.curves.parquet`` their
curves. Each row has its cell's name, its identity (settings, data, version) and the hashes of the
code that made it, besides machine, versions and commit. ``sha256.json`` has the checksums of the
files. A cell is taken over only if its identity equals, character by character, that of a planned
cell; a timing cell only on the machine that measured it. Cells whose path isn't certified are kept,
too, as their rows say so; those that failed are not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from solution_paths.files import replace_atomically, write_text

from ..settings import ConfigError
from .cells import (
    FAILED,
    UNFINISHED,
    DamagedCell,
    code_of,
    file_of,
    finished,
    read_cell,
    store_cell,
    write_list,
)
from .paper import Job, Paper
from .rows import CURVES, SCHEMA, TEXT, machine
from .written import digest

SUMS = "sha256.json"
IDENTITY_COLUMNS = [pa.field(name, TEXT, nullable=False) for name in ("cell", "identity", "code")]
COMPRESSED: dict[str, Any] = {"compression": "zstd", "compression_level": 19}
FORMS = {".parquet": SCHEMA, ".curves.parquet": CURVES}


class DamagedReference(ConfigError):
    """A file of reference results differs from what was exported; the message names it."""


@dataclass(frozen=True)
class StoredCell:
    """A computed cell: name, identity, hashes of the code that made it, rows and curves."""

    cell: str
    identity: str
    code: str
    rows: pa.Table
    curves: pa.Table

    @property
    def statuses(self) -> set[str]:
        """The statuses of its rows."""
        return set(self.rows["status"].to_pylist())

    def store(self, file: Path) -> None:
        """Write it as a cell of results."""
        record = {"code": json.loads(self.code), "failures": []}
        store_cell(file, self.identity, self.rows, self.curves, record)


def planned(
    paper: Paper, config: dict, suite: str, unfinished: bool = False
) -> Iterator[tuple[Job, dict[Path, str]]]:
    """Yield a suite's jobs, or the unfinished ones alone, with their cells: file -> identity."""
    folder = Path(config["results"], suite, "cells", paper.name)
    for job in paper.jobs(config, suite):
        if unfinished and Path(job.file(config["results"])).exists():
            continue
        splits = range(job.first, job.last + 1)
        cells = paper.cells(config, suite, job.experiment, job.dataset, splits)
        yield job, {file_of(cell, folder): cell.identity for cell in cells}


# ---------------------------------------------------------------- the files


def read_reference(folder: Path, paper: str) -> dict[str, StoredCell]:
    """Return a paper's cells in a folder of reference results, by identity.

    Raises
    ------
    DamagedReference
    """
    name = f"{paper}.parquet"
    if not (folder / name).exists() and name not in _sums(folder):
        return {}
    rows, curves = ({k: t for k, *t in _tables(folder, paper + form)} for form in FORMS)
    empty = CURVES.empty_table()
    return {
        identity: StoredCell(
            name, identity, made, table, curves.get((name, identity, made), [empty])[0]
        )
        for (name, identity, made), [table] in rows.items()
    }


def _sums(folder: Path) -> dict[str, str]:
    if not (folder / SUMS).is_file():
        return {}
    try:
        return dict(json.loads((folder / SUMS).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        raise _damaged(folder / SUMS) from None


def _damaged(file: Path) -> DamagedReference:
    return DamagedReference(
        f"{file} is not what was exported under that name: restore it with git, or do without it "
        "(--config reference=)."
    )


def _tables(folder: Path, name: str) -> Iterator[tuple[tuple[str, ...], pa.Table]]:
    """Yield (cell, identity, code) and the table of each cell in a file."""
    file = folder / name
    schema = FORMS[name[name.index(".") :]]
    try:
        if _sums(folder).get(name) != digest(file):
            raise _damaged(file)
        table = pq.read_table(file)
        columns = [table[field.name].combine_chunks() for field in IDENTITY_COLUMNS]
        table = table.select(schema.names).cast(schema)
    except (OSError, KeyError, ValueError, pa.ArrowException):
        raise _damaged(file) from None
    names = np.array(columns[0].to_pylist(), dtype=object)
    ends = [*np.flatnonzero(names[1:] != names[:-1]) + 1, len(names)] if len(names) else []
    for start, end in zip([0, *ends], ends, strict=False):
        yield tuple(c[int(start)].as_py() for c in columns), table.slice(start, end - start)


def _write(folder: Path, paper: str, cells: Iterable[StoredCell]) -> None:
    """Write a paper's cells, and last the checksums."""
    cells, sums = sorted(cells, key=lambda kept: kept.cell), _sums(folder)
    for form, schema in FORMS.items():
        tables = [_with_identity(c, c.rows if schema is SCHEMA else c.curves) for c in cells]
        table = pa.concat_tables([pa.schema([*IDENTITY_COLUMNS, *schema]).empty_table(), *tables])
        file = folder / f"{paper}{form}"
        replace_atomically(file, lambda part, t=table: pq.write_table(t, part, **COMPRESSED))
        sums[file.name] = digest(file)
    write_text(folder / SUMS, json.dumps(sums, indent=1, sort_keys=True) + "\n")


def _with_identity(cell: StoredCell, table: pa.Table) -> pa.Table:
    columns = [
        pa.array([getattr(cell, field.name)] * len(table), TEXT) for field in IDENTITY_COLUMNS
    ]
    return pa.Table.from_arrays(
        [*columns, *table.columns], schema=pa.schema([*IDENTITY_COLUMNS, *table.schema])
    )


# ---------------------------------------------------------------- export and import


def export(paper: Paper, config: dict, suite: str, folder: Path) -> tuple[int, int]:
    """Add a paper's computed cells to a folder of reference results.

    Cells that the folder already holds stay if they are still planned and not replaced. A cell
    whose path isn't certified replaces none whose path is.

    Returns
    -------
    tuple of int
        Numbers of cells in the folder and in the plan.
    """
    plan = {
        f: identity for _, cells in planned(paper, config, suite) for f, identity in cells.items()
    }
    stored = read_reference(folder, paper.name)
    candidates = [
        _better(_computed(file, identity), stored.get(identity)) for file, identity in plan.items()
    ]
    held = [cell for cell in candidates if cell]
    if held:
        _write(folder, paper.name, held)
    return len(held), len(plan)


def _computed(file: Path, identity: str) -> StoredCell | None:
    """Return a cell of results if it is intact, has rows, and nothing in it failed."""
    with suppress(DamagedCell):
        if file.is_file():
            rows, curves = read_cell(file)
            made = json.loads(file.read_text("utf-8"))
            hashes = json.dumps(made.get("code", {}), sort_keys=True)
            cell = StoredCell(file.stem, identity, hashes, rows, curves)
            return cell if len(rows) and not FAILED & cell.statuses else None
    return None


def _better(computed: StoredCell | None, stored: StoredCell | None) -> StoredCell | None:
    """Return the one that was computed here, unless the stored one alone is certified."""
    cells = [cell for cell in (computed, stored) if cell]
    return min(cells, key=lambda cell: bool(UNFINISHED & cell.statuses), default=None)


@dataclass
class Offer:
    """Cells of a folder of reference results that a paper's unfinished jobs lack.

    Attributes
    ----------
    cells : dict
        File -> the cell that would be written there.
    jobs : dict
        Each job that these cells complete -> the files of all its cells.
    elsewhere : int
        Number of timing cells that are left out because another machine measured them.
    """

    paper: str
    folder: Path
    cells: dict[Path, StoredCell] = field(default_factory=dict)
    jobs: dict[Job, list[Path]] = field(default_factory=dict)
    elsewhere: int = 0

    def take(self, results: str) -> None:
        """Write the cells, and the lists of the jobs that they complete."""
        for file, cell in self.cells.items():
            cell.store(file)
        for job, files in self.jobs.items():
            write_list(Path(job.file(results)), files)

    def summary(self, verb: str) -> list[str]:
        """Return sentences on the cells taken and on those left out; verb: "were", "would be"."""
        sentences = []
        if self.cells:
            sentences.append(
                f"{len(self.cells)} cells of {self.paper} {verb} taken from {self.folder}."
            )
        if self.elsewhere:
            sentences.append(
                f"{self.elsewhere} timing cells of {self.paper} in {self.folder} were measured on "
                "another machine: they are measured on this one."
            )
        return sentences


def offered(paper: Paper, config: dict, suite: str, folder: Path, anywhere: bool = False) -> Offer:
    """Find the cells that a paper's unfinished jobs lack and a folder of reference results holds.

    Timing cells of other machines are offered only if ``anywhere``: for display alone, since times
    of two machines must not be mixed.

    Raises
    ------
    DamagedReference
    """
    offer = Offer(paper.name, folder)
    unfinished = dict(planned(paper, config, suite, unfinished=True))
    stored = read_reference(folder, paper.name) if unfinished else {}
    for job, cells in unfinished.items():
        matching = {f: stored[i] for f, i in cells.items() if i in stored and not f.is_file()}
        matching = {f: cell for f, cell in matching.items() if _wanted(f, cell, config)}
        usable = anywhere or job.lane != "timing"
        usable_cells = {
            f: cell for f, cell in matching.items() if usable or _measured_on_this_machine(cell)
        }
        offer.cells |= usable_cells
        offer.elsewhere += len(matching) - len(usable_cells)
        if usable_cells and all(f in usable_cells or _is_finished(f) for f in cells):
            offer.jobs[job] = list(cells)
    return offer


def take(
    paper: Paper,
    config: dict,
    suite: str,
    folder: Path,
    write: bool = True,
    anywhere: bool = False,
) -> list[str]:
    """Take over the cells that are `offered`, if ``write``; return sentences on them.

    A job whose cells then all exist counts as finished.
    """
    offer = offered(paper, config, suite, folder, anywhere)
    if write:
        offer.take(config["results"])
    return offer.summary("were" if write else "would be")


def _wanted(file: Path, cell: StoredCell, config: dict) -> bool:
    """Return whether the code that made a cell is accepted by the configuration."""
    return config.get("recompute") != "changed" or json.loads(cell.code) == code_of(file)


def _measured_on_this_machine(cell: StoredCell) -> bool:
    return set(cell.rows["machine"].to_pylist()) == {machine()}


def _is_finished(file: Path) -> bool:
    with suppress(DamagedCell):
        return finished(file)
    return False
