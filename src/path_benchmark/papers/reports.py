"""From a paper's results to its tables, figures and claims."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

from ..reporting.outputs import Outputs
from ..reporting.study import read_study
from ..runs.written import record
from . import get_paper


def get_outputs(name: str) -> Outputs:
    """Return what a paper makes of its results; the shared tables where it declares nothing."""
    module = f"{__package__}.{name}.outputs"
    try:
        return import_module(module).OUTPUTS
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        return Outputs()


def write_outputs(
    config: dict, suite: str, name: str, folder: str | Path, left: Iterable[str] = ()
) -> str:
    """Write everything that a paper makes of a suite's results; say where each table is.

    ``left`` says what of the suite is not finished.
    """
    study = read_study(get_paper(name), config, suite, folder)
    tables = get_outputs(name).write(study, folder, left)
    made = [Path(folder, file) for file in ("outputs.json", "claims.csv")]
    made += [
        file for part in ("tables", "figures") for file in sorted(Path(folder, part).iterdir())
    ]
    record(folder, "outputs", made)
    return "".join(f"table: {table}\n" for table in tables)
