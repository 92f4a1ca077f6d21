"""The list of data sets: ``config/datasets.yaml``, read, checked and turned into entries."""

import functools
import os
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import jsonschema
import yaml

from .errors import DataError, UnknownDataSet

CONFIG_VARIABLE = "SOLUTION_PATHS_DATASETS"
CONFIG_NAME = Path("config") / "datasets.yaml"
SCHEMA_NAME = "datasets.schema.yaml"


@dataclass(frozen=True)
class FileForm:
    """One file that holds the data set; an entry may have several, in different encodings.

    ``sha256`` is None where nobody could look at the official file; what such a file holds is
    then compared with the entry's fingerprint, if there is one.
    """

    name: str
    parser: str
    sha256: str | None = None
    bytes: int | None = None
    urls: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Entry:
    """What is known about one data set; see ``config/datasets.yaml`` for the meaning."""

    name: str
    title: str
    source: str
    task: str
    n: int
    d: int
    licence: str
    files: tuple[FileForm, ...] = ()
    homepage: str | None = None
    builder: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    parents: tuple[str, ...] = ()
    labels: dict[int, int] | None = None
    positive: str | None = None
    target: dict[str, Any] | None = None
    transform: str | None = None
    fingerprint: float | None = None
    notes: str = ""


def config_path(config: str | Path | None = None) -> Path:
    """Find ``config/datasets.yaml``: argument, environment, the checkout, the working folder."""
    chosen = config or os.environ.get(CONFIG_VARIABLE)
    if chosen:
        path = Path(chosen)
        if not path.is_file():
            raise DataError(f"There is no list of data sets at {path}.")
        return path.resolve()
    here, cwd = Path(__file__).resolve(), Path.cwd()
    for folder in (here.parents[3], cwd, *cwd.parents):
        if (folder / CONFIG_NAME).is_file():
            return (folder / CONFIG_NAME).resolve()
    raise DataError(
        f"The list of data sets, {CONFIG_NAME}, was found neither beside the package nor above "
        f"{cwd}: run inside a checkout, or name the file in {CONFIG_VARIABLE}."
    )


def _schema_path(config: Path) -> Path:
    places = (
        config.parent.parent / "workflow" / "schemas" / SCHEMA_NAME,
        config.parent / SCHEMA_NAME,
        Path(__file__).resolve().parents[3] / "workflow" / "schemas" / SCHEMA_NAME,
    )
    for place in places:
        if place.is_file():
            return place
    raise DataError(f"The schema of {config} is missing: put {SCHEMA_NAME} at {places[0]}.")


def _read_yaml(path: Path) -> Any:
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        detail = " ".join(str(error).split())
        raise DataError(f"{path} is not valid YAML: {detail}.") from error


def _complaint(error: jsonschema.ValidationError) -> str:
    """Say in one line where a configuration departs from the schema.

    Alternatives (anyOf, oneOf) report the branch that came nearest.
    """
    error = jsonschema.exceptions.best_match([error]) or error
    where = ".".join(str(part) for part in error.absolute_path) or "the top level"
    return f"{where}: {' '.join(error.message.split())[:300]}"


def _check(config: Any, schema: Any, path: Path) -> None:
    validator = jsonschema.Draft202012Validator(schema)
    errors = sorted(validator.iter_errors(config), key=lambda e: [str(p) for p in e.absolute_path])
    if errors:
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise DataError(f"{path} does not fit its schema at {_complaint(errors[0])}{more}.")


def _entry(name: str, raw: dict[str, Any]) -> Entry:
    raw = dict(raw)
    files = tuple(
        FileForm(**{**form, "urls": tuple(form.get("urls", ()))}) for form in raw.pop("files", ())
    )
    labels = raw.pop("labels", None)
    return Entry(
        name=name,
        files=files,
        labels={-1: labels["negative"], 1: labels["positive"]} if labels else None,
        parents=tuple(raw.pop("parents", ())),
        **raw,
    )


@functools.lru_cache(maxsize=8)
def _read(path: Path, _stamp: int) -> MappingProxyType:
    content = _read_yaml(path)
    _check(content, _read_yaml(_schema_path(path)), path)
    entries = {name: _entry(name, raw) for name, raw in content["datasets"].items()}
    for entry in entries.values():
        for parent in entry.parents:
            if parent not in entries:
                raise DataError(f"{path}: {entry.name} is made of {parent}, which is not listed.")
    return MappingProxyType(entries)


def registry(config: str | Path | None = None) -> MappingProxyType:
    """Return every known data set, as a read-only mapping from name to `Entry`.

    Parameters
    ----------
    config : path, optional
        Another list than the repository's ``config/datasets.yaml``. The environment variable
        ``SOLUTION_PATHS_DATASETS`` does the same.

    Raises
    ------
    DataError
        If the list is missing, or doesn't fit its schema (unknown keys are refused).
    """
    path = config_path(config)
    return _read(path, path.stat().st_mtime_ns)


def find(name: str, config: str | Path | None = None) -> Entry:
    """Return the entry called `name`, or raise `UnknownDataSet`, which lists the known ones."""
    entries = registry(config)
    if name not in entries:
        known = ", ".join(sorted(entries))
        raise UnknownDataSet(f"There is no data set called {name!r}; the known ones are {known}.")
    return entries[name]
