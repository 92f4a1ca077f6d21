"""Storage: a path's content in an .npz file, without pickles."""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path as FilePath
from tokenize import TokenError
from typing import IO, TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from .files import replace_atomically
from .nodes import Leg
from .objectives import FAMILIES, from_arrays, to_arrays
from .objectives.machine import Machine
from .validation import shown
from .walks.staircase import Staircases
from .walks.trace import Trace

if TYPE_CHECKING:
    from .path import Path

FORMAT = 8
OLDER = (7,)  # formats that are read, too: nodes at doubles
KIND = "Path"
SUFFIX = ".npz"
Found = TypeVar("Found")
File: TypeAlias = str | os.PathLike[str] | IO[bytes]
# what a damaged .npz file raises, or one of other content
DAMAGED = (
    ValueError,
    KeyError,
    OSError,
    EOFError,
    TypeError,
    SyntaxError,
    TokenError,
    zipfile.BadZipFile,
    zlib.error,
)


def write(
    file: File,
    parameter: str,
    legs: list[Leg],
    objective: Machine,
    diagnostics: dict[str, Any],
) -> None:
    """Write what a path consists of, atomically, to a file's name or a binary file object."""
    plain, arrays = to_arrays(objective)
    meta = {
        "format": FORMAT,
        "parameter": parameter,
        "diagnostics": diagnostics,
        "objective": plain,
        "legs": [{"offset": leg.offset, "factor": leg.factor} for leg in legs],
    }
    content = {f"objective/{k}": v for k, v in arrays.items()}
    for number, leg in enumerate(legs):
        trace = leg.trace._asdict()
        stairs = vars(trace.pop("stairs"))
        content |= {f"leg{number}/{k}": np.asarray(v) for k, v in trace.items()}
        content |= {f"leg{number}/stairs/{k}": v for k, v in stairs.items()}

    write_archive(file, meta, content)


def write_archive(file: File, meta: dict[str, Any], content: dict[str, Any]) -> None:
    """Write plain values and arrays, atomically, to a file's name or a binary file object."""

    def pack(handle: IO[bytes]) -> None:
        np.savez_compressed(handle, meta=np.array(json.dumps(meta)), **content)

    if not isinstance(file, str | os.PathLike):
        _check_binary(file)
        buffer = io.BytesIO()  # so that the file gets all or nothing
        pack(buffer)
        file.write(buffer.getvalue())
        return

    def write_to(partial: FilePath) -> None:
        with open(partial, "wb") as handle:
            pack(handle)

    replace_atomically(_with_suffix(file), write_to)


def _with_suffix(file: str | os.PathLike[str]) -> FilePath:
    """Return a file's name with .npz at its end, as `numpy.savez` has it; a folder's as it is."""
    name = os.fsdecode(file)
    whole = name.endswith(SUFFIX) or FilePath(name).is_dir()
    return FilePath(name if whole else name + SUFFIX)


def _existing(file: File) -> File:
    """Return the file that `write` wrote under a name: that with the suffix, unless it's there."""
    if not isinstance(file, str | os.PathLike) or os.path.exists(file):
        return file
    return _with_suffix(file) if _with_suffix(file).exists() else file


def read(file: File, build: Callable[[str, list[Leg], Machine, dict[str, Any]], Path]) -> Path:
    """Build what `write` wrote from its parameter, legs, objective and diagnostics."""

    def whole(meta: dict[str, Any], content: dict[str, NDArray[Any]]) -> Path | None:
        if meta["objective"]["family"] not in FAMILIES:
            return None
        return build(*_parts(meta, content))

    return read_archive(file, whole, KIND, FORMAT, OLDER)


def read_archive(
    file: File,
    build: Callable[[dict[str, Any], dict[str, NDArray[Any]]], Found | None],
    kind: str,
    version: int,
    older: tuple[int, ...] = (),
) -> Found:
    """Build what `write_archive` wrote of a kind of path, in its present version or some older."""
    try:
        with np.load(_existing(file), allow_pickle=False) as archive:
            content = {k: archive[k] for k in archive.files}
        meta = json.loads(str(content["meta"]))
        own, known = meta.get("kind", KIND), meta["format"] in (version, *older)
        found = build(meta, content) if known and own == kind else None
    except FileNotFoundError:
        raise
    except DAMAGED as error:
        raise ValueError(
            f"{file} is not a path written by {kind}.save (expected an .npz archive); "
            "save the path again."
        ) from error
    if own != kind:
        raise ValueError(f"{file} was written by {own}.save; read it by {own}.load.")
    if found is None:
        what = f"format {meta['format']}, this version reads {version}"
        what = f"a model that {kind}.load no longer reads" if known else what
        raise ValueError(f"{file} has {what}; compute the path again.")
    return found


def _parts(
    meta: dict[str, Any], content: dict[str, NDArray[Any]]
) -> tuple[str, list[Leg], Machine, dict[str, Any]]:
    legs = [
        Leg(_trace_from(content, f"leg{number}/"), leg["offset"], leg["factor"])
        for number, leg in enumerate(meta["legs"])
    ]
    prefix = "objective/"
    own = {k.removeprefix(prefix): v for k, v in content.items() if k.startswith(prefix)}
    return meta["parameter"], legs, from_arrays(meta["objective"], own), meta["diagnostics"]


def _check_binary(file: IO[bytes]) -> None:
    """Refuse what bytes can't be written to."""
    try:
        file.write(b"")
    except (AttributeError, TypeError, ValueError, OSError) as error:
        raise TypeError(
            f"file must be the name of a file, or one open for writing bytes (mode 'wb'), not "
            f"{shown(file)}."
        ) from error


def _trace_from(content: dict[str, NDArray[Any]], prefix: str) -> Trace:
    own = {k.removeprefix(prefix): v for k, v in content.items() if k.startswith(prefix)}
    stairs = {k.removeprefix("stairs/"): own.pop(k) for k in list(own) if k.startswith("stairs/")}
    every = int(own.pop("every"))
    own.setdefault("t_low", np.zeros_like(own["t"]))
    return Trace(stairs=Staircases(**stairs), every=every, **own)
