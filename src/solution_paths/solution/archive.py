"""Saved paths: plain values and arrays in an .npz file, without pickles."""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path as FilePath
from tokenize import TokenError
from typing import IO, Any, TypeAlias, TypeVar, cast

import numpy as np
import scipy.sparse as sp

from ..files import replace_atomically
from ..problem import Product, Repeated
from ..problem.maps import entries
from ..validation import shown

SUFFIX = ".npz"
NO_KIND = "Path"  # the kind of files that name none
CSR_PARTS = ("data", "indices", "indptr")
Found = TypeVar("Found")
Arrays: TypeAlias = dict[str, Any]
File: TypeAlias = str | os.PathLike[str] | IO[bytes]
# raised by a damaged .npz file, or by one with other content
READ_ERRORS = (
    ValueError,
    AttributeError,
    KeyError,
    OSError,
    EOFError,
    TypeError,
    SyntaxError,
    TokenError,
    zipfile.BadZipFile,
    zlib.error,
)


class Store:
    """The arrays of an archive, by name, and what is told of them by plain values.

    What is put in is an array, a CSR matrix, a map of these, a dataclass of such values, or plain.
    A matrix that several names share is kept once, and is one matrix again.

    Parameters
    ----------
    arrays : dict
    """

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = arrays
        self.names: dict[int, tuple[str, Any]] = {}  # of what was put in, by its id
        self.taken: dict[str, Any] = {}

    def put(self, value: Any, name: str) -> Any:
        """Put a value's arrays in, under a name; return what `take` needs beside it."""
        if is_dataclass(value):
            parts = ((field.name, getattr(value, field.name)) for field in fields(value))
            return {part: self.put(content, f"{name}/{part}") for part, content in parts}
        if isinstance(value, np.ndarray | np.generic) and value.ndim == 0:
            return value.item()
        if not hasattr(value, "shape"):
            return value
        first, _ = self.names.setdefault(id(value), (name, value))
        return self._put_matrix(value, name) if first == name else {"like": first}

    def _put_matrix(self, X: Any, name: str) -> Any:
        if isinstance(X, Product):
            return [self.put(factor, f"{name}/{k}") for k, factor in enumerate(X.factors)]
        if isinstance(X, Repeated):
            return {"times": X.times, "of": self.put(X.X, f"{name}/of")}
        X = X if isinstance(X, np.ndarray) else entries(X)
        if sp.issparse(X):
            self.arrays |= {f"{name}/{part}": getattr(X, part) for part in CSR_PARTS}
            return {"shape": list(X.shape)}
        self.arrays[name] = X
        return "dense"

    def take(self, how: Any, name: str) -> Any:
        """Return a value that `put` put in under a name; arrays can't be written to."""
        if name in self.arrays:
            self.arrays[name].flags.writeable = False
            value = self.arrays[name]
        elif isinstance(how, list):
            value = Product(*(self.take(factor, f"{name}/{k}") for k, factor in enumerate(how)))
        elif not isinstance(how, dict):
            return how
        elif "like" in how:
            return self.taken[how["like"]]
        elif "times" in how:
            value = Repeated(self.take(how["of"], f"{name}/of"), how["times"])
        else:
            parts = tuple(self.arrays[f"{name}/{part}"] for part in CSR_PARTS)
            value = sp.csr_array(parts, shape=tuple(how["shape"]))
        self.taken[name] = value
        return value

    def take_fields(self, kind: type[Found], plain: dict[str, Any], name: str) -> Found:
        """Return a dataclass that `put` put in under a name; what is missing has its default."""
        values = {}
        for part in (field.name for field in fields(cast(Any, kind))):
            how, known = plain.get(part), f"{name}/{part}" in self.arrays
            if isinstance(how, list):
                values[part] = tuple(how)
            elif known or part in plain:
                values[part] = self.take(how, f"{name}/{part}")
        return kind(**values)


def within(arrays: Arrays, prefix: str) -> Arrays:
    """Return the arrays whose names begin with a prefix, without it."""
    return {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}


def write_archive(file: File, meta: dict[str, Any], arrays: Arrays) -> None:
    """Write plain values and arrays, atomically, to a file's name or a binary file object."""

    def pack(handle: IO[bytes]) -> None:
        np.savez_compressed(handle, meta=np.array(json.dumps(meta)), **arrays)

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
    build: Callable[[dict[str, Any], Arrays], Found | None],
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
