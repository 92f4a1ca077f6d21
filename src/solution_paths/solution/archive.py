"""Saved paths: plain values and arrays in an .npz file, without pickles."""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path as FilePath
from tokenize import TokenError
from typing import IO, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..files import replace_atomically
from ..validation import shown

SUFFIX = ".npz"
NO_KIND = "Path"  # the kind of files that name none
Found = TypeVar("Found")
File: TypeAlias = str | os.PathLike[str] | IO[bytes]
# raised by a damaged .npz file, or by one with other content
READ_ERRORS = (
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


def write_archive(file: File, meta: dict[str, Any], content: dict[str, Any]) -> None:
    """Write plain values and arrays, atomically, to a file's name or a binary file object."""

    def pack(handle: IO[bytes]) -> None:
        np.savez_compressed(handle, meta=np.array(json.dumps(meta)), **content)

    if not isinstance(file, str | os.PathLike):
        _check_binary(file)
        buffer = io.BytesIO()  # so that nothing is written if packing fails
        pack(buffer)
        file.write(buffer.getvalue())
        return

    def write_to(partial: FilePath) -> None:
        with open(partial, "wb") as handle:
            pack(handle)

    replace_atomically(_with_suffix(file), write_to)


def _with_suffix(file: str | os.PathLike[str]) -> FilePath:
    """Return a file's name with the suffix .npz, as `numpy.savez` does; a folder's unchanged."""
    name = os.fsdecode(file)
    whole = name.endswith(SUFFIX) or FilePath(name).is_dir()
    return FilePath(name if whole else name + SUFFIX)


def _existing(file: File) -> File:
    """Return the file itself if it exists, otherwise the one with the suffix."""
    if not isinstance(file, str | os.PathLike) or os.path.exists(file):
        return file
    return _with_suffix(file) if _with_suffix(file).exists() else file


def read_archive(
    file: File,
    build: Callable[[dict[str, Any], dict[str, NDArray[Any]]], Found | None],
    kind: str,
    version: int,
) -> Found:
    """Build a path of one kind and version from a file that `write_archive` wrote."""
    try:
        with np.load(_existing(file), allow_pickle=False) as archive:
            content = {k: archive[k] for k in archive.files}
        meta = json.loads(str(content["meta"]))
        written_by, same_version = meta.get("kind", NO_KIND), meta["format"] == version
        path = build(meta, content) if same_version and written_by == kind else None
    except FileNotFoundError:
        raise
    except READ_ERRORS as error:
        raise ValueError(
            f"{file} is not a path written by {kind}.save (expected an .npz archive); "
            "save the path again."
        ) from error
    if written_by == NO_KIND:
        raise ValueError(f"{file} was written by an earlier version; compute the path again.")
    if written_by != kind:
        raise ValueError(f"{file} was written by {written_by}.save; read it by {written_by}.load.")
    if path is None:
        reason = f"format {meta['format']}, this version reads {version}"
        reason = f"a model that {kind}.load no longer reads" if same_version else reason
        raise ValueError(f"{file} has {reason}; compute the path again.")
    return path


def _check_binary(file: IO[bytes]) -> None:
    """Refuse an object to which bytes can't be written."""
    try:
        file.write(b"")
    except (AttributeError, TypeError, ValueError, OSError) as error:
        raise TypeError(
            f"file must be the name of a file, or one open for writing bytes (mode 'wb'), not "
            f"{shown(file)}."
        ) from error
