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
    """Return the outputs that a paper declares, by default the shared tables."""
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
    """Write all outputs of a paper from a suite's results; return a line for each table.

    ``left`` describes the unfinished parts of the suite.
    """
    study = read_study(get_paper(name), config, suite, folder)
    tables = get_outputs(name).write(study, folder, left)
    files = [Path(folder, file) for file in ("outputs.json", "claims.csv")]
    files += [
        file for part in ("tables", "figures") for file in sorted(Path(folder, part).iterdir())
    ]
    record(folder, "outputs", files)
    return "".join(f"table: {table}\n" for table in tables)
