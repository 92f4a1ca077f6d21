"""What a path consists of in an .npz file, without pickles."""

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
OLD = "Path"  # of files that name no kind
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


def read_archive(
    file: File,
    build: Callable[[dict[str, Any], dict[str, NDArray[Any]]], Found | None],
    kind: str,
    version: int,
) -> Found:
    """Build what `write_archive` wrote of a kind of path, in the version that is read."""
    try:
        with np.load(_existing(file), allow_pickle=False) as archive:
            content = {k: archive[k] for k in archive.files}
        meta = json.loads(str(content["meta"]))
        own, known = meta.get("kind", OLD), meta["format"] == version
        found = build(meta, content) if known and own == kind else None
    except FileNotFoundError:
        raise
    except DAMAGED as error:
        raise ValueError(
            f"{file} is not a path written by {kind}.save (expected an .npz archive); "
            "save the path again."
        ) from error
    if own == OLD:
        raise ValueError(f"{file} was written by an earlier version; compute the path again.")
    if own != kind:
        raise ValueError(f"{file} was written by {own}.save; read it by {own}.load.")
    if found is None:
        what = f"format {meta['format']}, this version reads {version}"
        what = f"a model that {kind}.load no longer reads" if known else what
        raise ValueError(f"{file} has {what}; compute the path again.")
    return found


def _check_binary(file: IO[bytes]) -> None:
    """Refuse what bytes can't be written to."""
    try:
        file.write(b"")
    except (AttributeError, TypeError, ValueError, OSError) as error:
        raise TypeError(
            f"file must be the name of a file, or one open for writing bytes (mode 'wb'), not "
            f"{shown(file)}."
        ) from error
