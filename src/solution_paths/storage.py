"""Storage: a path's content in an .npz file, without pickles."""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

import numpy as np

from .engine.staircase import Staircases
from .engine.trace import Trace
from .files import replace_atomically
from .nodes import Leg
from .objectives import Objective, from_arrays, to_arrays
from .validation import shown

if TYPE_CHECKING:
    from .path import Path

FORMAT = 3
# what a damaged .npz file raises, or one of other content
DAMAGED = (ValueError, KeyError, OSError, EOFError, TypeError, zipfile.BadZipFile, zlib.error)


def write(file, parameter: str, legs: list[Leg], objective: Objective, diagnostics: dict) -> None:
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

    def pack(handle) -> None:  # to a handle: a name without .npz stays as it is
        np.savez_compressed(handle, meta=np.array(json.dumps(meta)), **content)

    if _is_binary(file):
        buffer = io.BytesIO()  # so that the file gets all or nothing
        pack(buffer)
        file.write(buffer.getvalue())
        return

    def write_to(partial: FilePath) -> None:
        with open(partial, "wb") as handle:
            pack(handle)

    replace_atomically(FilePath(file), write_to)


def read(file, build: Callable[[str, list[Leg], Objective, dict], Path]) -> Path:
    """Build what `write` wrote from its parameter, legs, objective and diagnostics."""
    try:
        with np.load(file, allow_pickle=False) as archive:
            content = {k: archive[k] for k in archive.files}
        meta = json.loads(str(content["meta"]))
        known = meta["format"] == FORMAT
        found = build(*_parts(meta, content)) if known else None
    except FileNotFoundError:
        raise
    except DAMAGED as error:
        raise ValueError(
            f"{file} is not a path written by Path.save (expected an .npz archive); "
            "save the path again."
        ) from error
    if found is None:
        raise ValueError(
            f"{file} has format {meta['format']}, this version reads {FORMAT}; compute the "
            "path again."
        )
    return found


def _parts(meta: dict, content: dict) -> tuple[str, list[Leg], Objective, dict]:
    legs = [
        Leg(_trace_from(content, f"leg{number}/"), leg["offset"], leg["factor"])
        for number, leg in enumerate(meta["legs"])
    ]
    prefix = "objective/"
    own = {k.removeprefix(prefix): v for k, v in content.items() if k.startswith(prefix)}
    return meta["parameter"], legs, from_arrays(meta["objective"], own), meta["diagnostics"]


def _is_binary(file) -> bool:
    """Tell whether bytes can be written to an open file; False for the name of one."""
    if isinstance(file, str | os.PathLike):
        return False
    try:
        file.write(b"")
    except (AttributeError, TypeError, ValueError, OSError) as error:
        raise TypeError(
            f"file must be the name of a file, or one open for writing bytes (mode 'wb'), not "
            f"{shown(file)}."
        ) from error
    return True


def _trace_from(content: dict, prefix: str) -> Trace:
    own = {k.removeprefix(prefix): v for k, v in content.items() if k.startswith(prefix)}
    stairs = {k.removeprefix("stairs/"): own.pop(k) for k in list(own) if k.startswith("stairs/")}
    own["every"] = int(own["every"])
    return Trace(stairs=Staircases(**stairs), **own)
