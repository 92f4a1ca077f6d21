"""Reference results: finished cells of a suite, in a few files that are kept in git.

``reference/<suite>/<paper>.parquet`` holds the cells' rows and ``<paper>.curves.parquet`` their
curves, each row with its cell's name, its identity (settings, data, version) and the code that
made it; machine, versions and commit stand in the rows anyway. ``sha256.json`` beside them has the
files' checksums. A cell is taken over only where its identity is, character by character, that of
a cell of the plan; a timing cell only on the machine that measured it.
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
from .cells import DamagedCell, code_of, file_of, finished, read_cell, store_cell, write_list
from .paper import Job, Paper
from .rows import CURVES, SCHEMA, TEXT, machine
from .written import digest

SUMS = "sha256.json"
OWN = [pa.field(name, TEXT, nullable=False) for name in ("cell", "identity", "code")]
COMPRESSED: dict[str, Any] = {"compression": "zstd", "compression_level": 19}
FORMS = {".parquet": SCHEMA, ".curves.parquet": CURVES}


class DamagedReference(ConfigError):
    """A file of reference results is not what was exported; the message says which."""


@dataclass(frozen=True)
class Kept:
    """A finished cell: its name, its identity, the code that made it, its rows and curves."""

    cell: str
    identity: str
    code: str
    rows: pa.Table
    curves: pa.Table

    def store(self, file: Path) -> None:
        """Write it as a cell of results."""
        made = {"code": json.loads(self.code), "failures": []}
        store_cell(file, self.identity, self.rows, self.curves, made)


def planned(
    paper: Paper, config: dict, suite: str, unfinished: bool = False
) -> Iterator[tuple[Job, dict[Path, str]]]:
    """Yield a suite's jobs (``unfinished``: those alone) with their cells: file -> identity."""
    folder = Path(config["results"], suite, "cells", paper.name)
    for job in paper.jobs(config, suite):
        if unfinished and Path(job.file(config["results"])).exists():
            continue
        splits = range(job.first, job.last + 1)
        cells = paper.cells(config, suite, job.experiment, job.dataset, splits)
        yield job, {file_of(cell, folder): cell.identity for cell in cells}


# ---------------------------------------------------------------- the files


def read_reference(folder: Path, paper: str) -> dict[str, Kept]:
    """Return a paper's cells in a folder of reference results, by their identities.

    Raises
    ------
    DamagedReference
    """
    name = f"{paper}.parquet"
    if not (folder / name).exists() and name not in _sums(folder):
        return {}
    rows, curves = ({k: t for k, *t in _parts(folder, paper + form)} for form in FORMS)
    empty = CURVES.empty_table()
    return {
        identity: Kept(name, identity, made, table, curves.get((name, identity, made), [empty])[0])
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


def _parts(folder: Path, name: str) -> Iterator[tuple[tuple[str, ...], pa.Table]]:
    """Yield what a file holds: (cell, identity, code) and the cell's table."""
    file = folder / name
    schema = FORMS[name[name.index(".") :]]
    try:
        if _sums(folder).get(name) != digest(file):
            raise _damaged(file)
        table = pq.read_table(file)
        own = [table[field.name].combine_chunks() for field in OWN]
        table = table.select(schema.names).cast(schema)
    except (OSError, KeyError, ValueError, pa.ArrowException):
        raise _damaged(file) from None
    names = np.array(own[0].to_pylist(), dtype=object)
    ends = [*np.flatnonzero(names[1:] != names[:-1]) + 1, len(names)] if len(names) else []
    for start, end in zip([0, *ends], ends, strict=False):
        yield tuple(c[int(start)].as_py() for c in own), table.slice(start, end - start)


def _write(folder: Path, paper: str, cells: Iterable[Kept]) -> None:
    """Write a paper's cells, and last the checksums."""
    cells, sums = sorted(cells, key=lambda kept: kept.cell), _sums(folder)
    for form, schema in FORMS.items():
        parts = [_marked(c, c.rows if schema is SCHEMA else c.curves) for c in cells]
        table = pa.concat_tables([pa.schema([*OWN, *schema]).empty_table(), *parts])
        file = folder / f"{paper}{form}"
        replace_atomically(file, lambda part, t=table: pq.write_table(t, part, **COMPRESSED))
        sums[file.name] = digest(file)
    write_text(folder / SUMS, json.dumps(sums, indent=1, sort_keys=True) + "\n")


def _marked(cell: Kept, table: pa.Table) -> pa.Table:
    own = [pa.array([getattr(cell, field.name)] * len(table), TEXT) for field in OWN]
    return pa.Table.from_arrays([*own, *table.columns], schema=pa.schema([*OWN, *table.schema]))


# ---------------------------------------------------------------- there and back


def export(paper: Paper, config: dict, suite: str, folder: Path) -> tuple[int, int]:
    """Add a paper's finished cells to a folder of reference results.

    What the folder holds already stays, where the plan has it still and no finished cell replaces
    it.

    Returns
    -------
    tuple of int
        How many cells the folder holds, and how many there are in the plan.
    """
    plan = {
        f: identity for _, cells in planned(paper, config, suite) for f, identity in cells.items()
    }
    known = read_reference(folder, paper.name)
    kept = [_finished(file, identity) or known.get(identity) for file, identity in plan.items()]
    there = [cell for cell in kept if cell]
    if there:
        _write(folder, paper.name, there)
    return len(there), len(plan)


def _finished(file: Path, identity: str) -> Kept | None:
    with suppress(DamagedCell):
        if finished(file):
            rows, curves = read_cell(file)
            said = json.loads(file.read_text("utf-8"))
            made = json.dumps(said.get("code", {}), sort_keys=True)
            return Kept(file.stem, identity, made, rows, curves) if len(rows) else None
    return None


@dataclass
class Offer:
    """What a folder of reference results has for a paper's unfinished jobs.

    Attributes
    ----------
    cells : dict
        File -> the cell that would be written there.
    jobs : dict
        Each job all of whose cells are then there -> their files.
    elsewhere : int
        Timing cells that are left out because another machine measured them.
    """

    paper: str
    folder: Path
    cells: dict[Path, Kept] = field(default_factory=dict)
    jobs: dict[Job, list[Path]] = field(default_factory=dict)
    elsewhere: int = 0

    def take(self, results: str) -> None:
        """Write the cells, and the lists of the jobs that they complete."""
        for file, cell in self.cells.items():
            cell.store(file)
        for job, files in self.jobs.items():
            write_list(Path(job.file(results)), files)

    def said(self, verb: str) -> list[str]:
        """Say how many cells "were" or "would be" taken, and how many another machine timed."""
        said = []
        if self.cells:
            said.append(f"{len(self.cells)} cells of {self.paper} {verb} taken from {self.folder}.")
        if self.elsewhere:
            said.append(
                f"{self.elsewhere} timing cells of {self.paper} in {self.folder} were measured on "
                "another machine: they are measured on this one."
            )
        return said


def offered(paper: Paper, config: dict, suite: str, folder: Path, anywhere: bool = False) -> Offer:
    """Find what a paper's unfinished jobs lack and a folder of reference results holds.

    Timing cells of other machines are offered only if ``anywhere``: to be shown, not to be added
    to.

    Raises
    ------
    DamagedReference
    """
    offer = Offer(paper.name, folder)
    left = dict(planned(paper, config, suite, unfinished=True))
    known = read_reference(folder, paper.name) if left else {}
    for job, cells in left.items():
        found = {f: known[i] for f, i in cells.items() if i in known and not f.is_file()}
        found = {f: cell for f, cell in found.items() if _wanted(f, cell, config)}
        usable = anywhere or job.lane != "timing"
        here = {f: cell for f, cell in found.items() if usable or _measured_here(cell)}
        offer.cells |= here
        offer.elsewhere += len(found) - len(here)
        if here and all(f in here or _whole(f) for f in cells):
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
    """Take over what is `offered`, unless nothing may be written; say in sentences what that is.

    A job all of whose cells are there then counts as finished.
    """
    offer = offered(paper, config, suite, folder, anywhere)
    if write:
        offer.take(config["results"])
    return offer.said("were" if write else "would be")


def _wanted(file: Path, cell: Kept, config: dict) -> bool:
    """Tell whether the code that made a cell will do."""
    return config.get("recompute") != "changed" or json.loads(cell.code) == code_of(file)


def _measured_here(cell: Kept) -> bool:
    return set(cell.rows["machine"].to_pylist()) == {machine()}


def _whole(file: Path) -> bool:
    with suppress(DamagedCell):
        return finished(file)
    return False
