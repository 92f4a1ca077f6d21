"""Sources of data: ``data/raw``, a mirror folder, a download; bundled, generated, derived.

A file is used only if it passes all checks: that it isn't an HTML page, its size and SHA-256 where
they are known, its shape, label counts or target range, that every number is finite, and the
hash of its content. A download passes all of them in a temporary folder before it gets its name in
``data/raw``.
"""

import functools
import hashlib
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from solution_paths.files import replace_atomically, shared

from . import dna, generated
from .errors import DataError, DataUnavailable, UnverifiedDataWarning
from .parsers import PARSERS, Misread, Raw, WrongEntry
from .registry import Entry, FileForm, config_path, find

MIRROR_VARIABLE = "SOLUTION_PATHS_MIRROR"
# Data sets, separated by commas, whose files were absent when a run was planned: see `identity`.
ABSENT_VARIABLE = "SOLUTION_PATHS_ABSENT"
# First bytes, in lower case, of files that are no data.
NO_DATA = {
    "an HTML page, an error or login page": (b"<!doctype html", b"<html", b"<head", b"<!--"),
    "an XML page, an error message": (b"<?xml",),
    "a Git LFS pointer and not the file itself": (b"version https://git-lfs",),
    "JSON, an error message or a description": (b'{"', b"{\n", b"{\r\n", b'[{"', b"{}"),
}
INCOMING = ".incoming-"  # prefix of temporary folders for downloads in data/raw


@dataclass(frozen=True)
class DataSet:
    """A data set as experiments see it.

    Attributes
    ----------
    name : str
    X : (n, d) ndarray or csr_matrix of float64
    y : (n,) ndarray of float64
        -1 and +1 for classification.
    task : {"classification", "regression", "series"}
    origin : {"data/raw", "mirror", "download", "bundled", "generated", "derived"}
    verified : {"file hash", "content hash", "generated", "shape only"}
        How the content was verified: by the file's checksum, by that of its numbers (file of
        another format), by the code that made it, or by shape and labels alone.
    meta : dict
        ``sha256`` and ``file`` that were read, ``positive`` (the meaning of +1), feature names, and
        further results of the parser.
    """

    name: str
    X: Any
    y: np.ndarray
    task: str
    origin: str
    verified: str
    meta: dict[str, Any]

    @property
    def n(self) -> int:
        """Number of instances."""
        return self.X.shape[0]

    @property
    def d(self) -> int:
        """Number of features."""
        return self.X.shape[1]


@dataclass(frozen=True)
class _Folders:
    """Folders that are searched for files."""

    raw: Path
    mirror: Path | None

    def locate(self, form: FileForm) -> tuple[str, Path] | None:
        for origin, folder in (("data/raw", self.raw), ("mirror", self.mirror)):
            if folder is not None and (folder / form.name).is_file():
                return origin, folder / form.name
        return None


def _folders(raw_dir, mirror, config) -> _Folders:
    raw = Path(raw_dir) if raw_dir else config_path(config).parent.parent / "data" / "raw"
    return _Folders(raw, mirror_folder(mirror))


def mirror_folder(mirror: str | Path | None = None) -> Path | None:
    """Return the mirror folder, by default the one that the environment names, if any does.

    Raises
    ------
    DataError
        It doesn't exist.
    """
    mirror = mirror or os.environ.get(MIRROR_VARIABLE)
    if mirror and not Path(mirror).is_dir():
        raise DataError(
            f"The mirror folder {mirror} does not exist: correct or unset {MIRROR_VARIABLE}."
        )
    return Path(mirror) if mirror else None


# ---------------------------------------------------------------- checks


@dataclass(frozen=True)
class _Candidate:
    """A file to be checked, with its description and the remedy for error messages."""

    path: Path
    where: str
    remedy: str

    def refuse(self, entry: Entry, complaint: str) -> DataError:
        return DataError(f"Data set {entry.name}: {self.where} {complaint}; {self.remedy}.")


def _local(entry: Entry, form: FileForm, path: Path) -> _Candidate:
    others = [o.name for o in entry.files if o.sha256 is None and o.name != form.name]
    hint = f" (the official file, as it is, goes by the name {others[0]})" if others else ""
    return _Candidate(path, str(path), f"replace it or delete it to fetch it again{hint}")


def _digest(path: Path) -> str:
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@functools.lru_cache(maxsize=256)
def _known_digest(path: Path, _stamp: int) -> str:
    return _digest(path)


def _check_bytes(entry: Entry, form: FileForm, candidate: _Candidate) -> str:
    """Check a file's first bytes, size and checksum; return its SHA-256."""
    with open(candidate.path, "rb") as stream:
        start = stream.read(512).lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    for kind, beginnings in NO_DATA.items():
        if start.startswith(beginnings):
            raise candidate.refuse(entry, f"should hold {form.parser} data but is {kind}")
    size = candidate.path.stat().st_size
    if size == 0 or (form.bytes is not None and size < form.bytes):
        expected = f"{form.bytes} bytes" if form.bytes else "data"
        raise candidate.refuse(entry, f"is truncated, expected {expected} but found {size} bytes")
    digest = _digest(candidate.path)
    if form.sha256 is not None and digest != form.sha256:
        raise candidate.refuse(
            entry, f"has the wrong checksum, expected SHA-256 {form.sha256} but found {digest}"
        )
    return digest


def content_hash(X: Any, y: np.ndarray, digits: int | None = None) -> str:
    """Return the SHA-256 of a data set's numbers, which doesn't depend on the file's format.

    Dense and sparse arrays of the same numbers have the same hash. Any changed, lost, added or
    moved entry changes it.

    Parameters
    ----------
    X : (n, d) ndarray or sparse matrix, or the codes of bases (uint8)
    y : (n,) ndarray
    digits : int, optional
        Significant decimal digits that are compared; by default all, to the last bit.
    """
    digest = hashlib.sha256(np.array(X.shape, dtype="<i8").tobytes())
    values = [np.asarray(y, dtype=np.float64) + 0.0]  # no -0.0
    if X.dtype == np.uint8 and not sp.issparse(X):  # codes of bases
        digest.update(np.ascontiguousarray(X))
    else:
        rows = sp.csr_array(X, dtype=np.float64, copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        for part in (rows.indptr, rows.indices):
            digest.update(part.astype("<i8"))
        values.insert(0, rows.data)
    for part in values:
        digest.update(_rounded(part, digits).astype("<f8"))
    return digest.hexdigest()


def _rounded(values: np.ndarray, digits: int | None) -> np.ndarray:
    """Return values rounded to significant decimal digits."""
    if digits is None:
        return values
    distinct, inverse = np.unique(values, return_inverse=True)
    return np.array([float(f"{value:.{digits}g}") for value in distinct])[inverse]


def _check_shape(entry: Entry, raw: Raw) -> str | None:
    """Return a complaint about the shape or numbers that aren't finite, or None."""
    shape = _shape(raw)
    if shape != (entry.n, entry.d) or len(raw.y) != entry.n:
        return (
            f"has the wrong shape, expected {entry.n} x {entry.d} but found {shape[0]} x "
            f"{shape[1]} with {len(raw.y)} targets"
        )
    values = raw.X.data if sp.issparse(raw.X) else raw.X
    bad = int((~np.isfinite(values)).sum() + (~np.isfinite(raw.y)).sum())
    if bad:
        return f"must hold finite numbers only, but {bad} entries are missing or infinite"
    return None


def _check_target(entry: Entry, y: np.ndarray) -> str | None:
    """Return a complaint about label counts or target range, or None."""
    if entry.task == "classification":
        values, counts = np.unique(y, return_counts=True)
        label_counts = {int(v): int(c) for v, c in zip(values, counts, strict=True)}
        declared = entry.labels and entry.labels.counts
        if (declared and label_counts != declared) or set(label_counts) != {-1, 1}:
            expected = declared or "both classes"
            return f"has the wrong label counts, expected {expected} but found {label_counts}"
    elif entry.target:
        low, high, expected = y.min(), y.max(), entry.target
        if not np.allclose((low, high), (expected.min, expected.max), rtol=1e-6, atol=1e-9):
            return (
                f"has the wrong target range, expected {expected.min:g} to "
                f"{expected.max:g} but found {low:g} to {high:g}"
            )
    return None


def _check_numbers(entry: Entry, raw: Raw) -> str | None:
    """Return a complaint if the numbers differ from the reference, or None."""
    if entry.content is None:
        return None
    sha256 = content_hash(raw.X, raw.y, entry.content.digits)
    if sha256 == entry.content.sha256:
        return None
    exactly = f" to {entry.content.digits} digits" if entry.content.digits else ""
    return (
        f"has the right shape but other numbers than the reference{exactly}, expected content "
        f"hash {entry.content.sha256[:16]} but found {sha256[:16]} (first 16 digits)"
    )


def _check_content(entry: Entry, raw: Raw) -> str | None:
    """Return a complaint about the content that was read, or None."""
    return (
        _check_shape(entry, raw)
        or _check_target(entry, _transformed(entry, raw.y))
        or _check_numbers(entry, raw)
    )


def _verified_by(entry: Entry, form: FileForm, where: str) -> str:
    """Return how content that passed all checks is verified; warn if only by its shape."""
    if form.sha256 is not None:
        return "file hash"
    if entry.content is not None:
        return "content hash"
    warnings.warn(
        f"Data set {entry.name}: {where} has no known checksum; only its shape and its labels or "
        "target range were checked, so results with it are recorded as 'shape only'.",
        UnverifiedDataWarning,
        stacklevel=2,
    )
    return "shape only"


def _transformed(entry: Entry, y: np.ndarray) -> np.ndarray:
    y = np.asarray(y, dtype=np.float64)
    return np.log1p(y) if entry.transform == "log1p" else y


def _shape(raw: Raw) -> tuple[int, int]:
    if raw.window is None:
        return tuple(raw.X.shape)
    return raw.X.shape[0], 4 * (raw.window[1] - raw.window[0])


def _parse(entry: Entry, form: FileForm, candidate: _Candidate) -> Raw:
    try:
        return PARSERS[form.parser](candidate.path, entry, form.options)
    except MemoryError:
        raise
    except WrongEntry as error:
        raise DataError(
            f"Data set {entry.name}: its entry doesn't fit {candidate.where}: {error}; correct the "
            f"options of {form.name} in the list of data sets."
        ) from error
    except Misread as error:
        raise candidate.refuse(entry, f"is not as its entry says: {error}") from error
    except Exception as error:  # of an archive, or of a library that reads a format
        detail = " ".join(str(error).split()).rstrip(".")[:200]
        raise candidate.refuse(
            entry,
            f"could not be read as {form.parser}, it is truncated, damaged or of another format "
            f"({type(error).__name__}: {detail})",
        ) from error


def _read(entry: Entry, form: FileForm, candidate: _Candidate, origin: str) -> tuple[Raw, str, str]:
    digest = _check_bytes(entry, form, candidate)
    raw = _parse(entry, form, candidate)
    complaint = _check_content(entry, raw)
    if complaint:
        raise candidate.refuse(entry, complaint)
    raw.meta |= {"file": form.name, "sha256": digest}
    return raw, origin, _verified_by(entry, form, candidate.where)


# ---------------------------------------------------------------- files


def _download_one(entry: Entry, form: FileForm, url: str, raw_dir: Path) -> tuple[Raw, str, str]:
    """Fetch and check one address; only a file that passes gets its name in `raw_dir`."""
    with tempfile.TemporaryDirectory(dir=raw_dir, prefix=INCOMING) as folder:
        from .downloads import download_file  # it takes a while to import

        path = download_file(url, Path(folder), form)
        candidate = _Candidate(path, f"the file from {url}", "nothing was kept")
        result = _read(entry, form, candidate, "download")
        replace_atomically(raw_dir / form.name, lambda part: shutil.copyfile(path, part))
    return result


@contextmanager
def _receiving(raw_dir: Path) -> Iterator[None]:
    """Hold the shared lock of downloads; first clear leftovers of killed ones, if none runs."""

    def clear() -> None:
        for leftover in raw_dir.glob(f"{INCOMING}*"):
            shutil.rmtree(leftover, ignore_errors=True)

    raw_dir.mkdir(parents=True, exist_ok=True)
    with shared(raw_dir, clear):
        yield


def _download(entry: Entry, folders: _Folders) -> tuple[Raw, str, str]:
    """Try every address of every form; keep the first file that passes all checks."""
    rejected, failed = [], []
    addresses = [(form, url) for form in entry.files for url in form.urls]
    for form, address in addresses:
        try:
            return _download_one(entry, form, address, folders.raw)
        except DataError as error:
            rejected.append(error)
        except (OSError, ValueError, EOFError) as error:  # requests' errors are OSErrors
            reason = " ".join(str(error).split()).rstrip(".").replace(". ", ", ")
            failed.append(f"{address} failed: {reason[:200]}")
    if rejected:
        raise rejected[0]
    raise DataUnavailable(f"{_unavailable(entry, folders)} (downloading {failed[0]}).")


def _unavailable(entry: Entry, folders: _Folders) -> str:
    names = " or ".join(form.name for form in entry.files)
    mirror = f" nor in the mirror {folders.mirror}" if folders.mirror else ""
    source = f" (see {entry.homepage})" if entry.homepage else ""
    no_address = "" if any(form.urls for form in entry.files) else ", and its entry has no address"
    return (
        f"Data set {entry.name} is not at hand: expected {names}, which is not in {folders.raw}"
        f"{mirror}{no_address}; put the file{source} there, or name a folder that holds it in "
        f"{MIRROR_VARIABLE}"
    )


def _at_hand(entry: Entry, folders: _Folders) -> tuple[FileForm, str, Path] | None:
    local_files = [(form, location) for form in entry.files if (location := folders.locate(form))]
    # data/raw first; forms keep their order
    local_files.sort(key=lambda pair: pair[1][0] != "data/raw")
    if not local_files:
        return None
    form, (origin, path) = local_files[0]
    return form, origin, path


def _obtain(entry: Entry, folders: _Folders, offline: bool) -> tuple[Raw, str, str]:
    local = _at_hand(entry, folders)
    if local:
        form, origin, path = local
        return _read(entry, form, _local(entry, form, path), origin)
    if offline or not any(form.urls for form in entry.files):
        raise DataUnavailable(f"{_unavailable(entry, folders)}.")
    with _receiving(folders.raw):
        return _download(entry, folders)


# ---------------------------------------------------------------- the public face


_READ: dict | None = None  # inside `read_once`: (name, options) -> data set


@contextmanager
def read_once() -> Iterator[None]:
    """Read and check each data set once inside the block; calls of `load` share the result."""
    global _READ
    outer, _READ = _READ, {}
    try:
        yield
    finally:
        _READ = outer


def load(name: str, **options: Any) -> DataSet:
    """Load a data set by name.

    Parameters
    ----------
    name : str
        A name from ``config/datasets.yaml``.
    raw_dir : path, optional
        Where fetched files lie; the checkout's ``data/raw`` unless given.
    mirror : path, optional
        Folder with copies of the files; the variable ``SOLUTION_PATHS_MIRROR`` unless given.
    offline : bool
        Never use the network.
    config : path, optional
        Another list of data sets.
    **parameters
        Parameters of generated data sets: ``n``, ``seed``, and others in ``config/datasets.yaml``.

    Returns
    -------
    DataSet

    Raises
    ------
    UnknownDataSet
        No such name.
    DataUnavailable
        The file is not at hand, and can't be downloaded.
    DataError
        The file is not what it should be: one sentence says what was expected and found.
    """
    if _READ is None:
        return _load(name, **options)
    key = (name, *sorted(options.items()))
    if key not in _READ:
        _READ[key] = _load(name, **options)
    return _READ[key]


def load_seeded(
    name: str, seed: np.random.SeedSequence, *, n: int | None = None, **options: Any
) -> DataSet:
    """Load a data set; a generated one by a seed and, if its size is a parameter, of n samples."""
    parameters = find(name, options.get("config")).parameters
    chosen = {"seed": int(seed.generate_state(1)[0])} if "seed" in parameters else {}
    if "n" in parameters and n is not None:
        chosen["n"] = n
    return load(name, **options, **chosen)


def _load(
    name: str,
    *,
    raw_dir: str | Path | None = None,
    mirror: str | Path | None = None,
    offline: bool = False,
    config: str | Path | None = None,
    **parameters: Any,
) -> DataSet:
    entry = find(name, config)
    if parameters and entry.source not in ("generated", "derived"):
        raise ValueError(f"{name} is a fixed data set and takes no parameters: {list(parameters)}.")
    if entry.source == "files":
        raw, origin, verified = _obtain(entry, _folders(raw_dir, mirror, config), offline)
    else:
        options = {"raw_dir": raw_dir, "mirror": mirror, "offline": offline, "config": config}
        raw, origin, verified = _build(entry, parameters, options)
    X = dna.one_hot_windows(raw.X, *raw.window) if raw.window else raw.X
    meta = {"positive": entry.positive, **raw.meta}
    y = _transformed(entry, raw.y)
    return DataSet(entry.name, X, y, entry.task, origin, verified, meta)


def _build(entry: Entry, parameters: dict, options: dict) -> tuple[Raw, str, str]:
    """Make a data set that is not read from a file."""
    unknown = sorted(set(parameters) - set(entry.parameters))
    if unknown:
        raise ValueError(
            f"{entry.name} has no parameter {unknown[0]!r}; it has {', '.join(entry.parameters)}."
        )
    chosen = {**entry.parameters, **parameters}
    parents = [load(parent, **options) for parent in entry.parents]
    raw = Raw(*generated.BUILDERS[entry.builder](*parents, **chosen))
    raw.meta = {"parameters": chosen} if chosen else {}
    complaint = None if parameters else _check_content(entry, raw)
    if complaint:
        raise DataError(f"Data set {entry.name}: what {entry.builder} made {complaint}.")
    if any(parent.verified == "shape only" for parent in parents):
        return raw, entry.source, "shape only"
    checked = entry.content is not None and not parameters
    return raw, entry.source, "content hash" if checked else "generated"


def identity(
    name: str,
    *,
    raw_dir: str | Path | None = None,
    mirror: str | Path | None = None,
    config: str | Path | None = None,
) -> dict[str, Any]:
    """Return all that determines the numbers of a data set, as plain values.

    These are the source of its entry with builder and parameters, or parser and options, and the
    checksum of the local file (the entry's, if it would be downloaded). If the entry has the hash
    of all numbers to the last bit, which `load` enforces, that hash replaces options and checksum.
    Titles, addresses and licences are left out. A file that was absent when the running workflow
    was planned counts as absent throughout, so that its jobs keep their names.
    """
    entry = find(name, config)
    result: dict[str, Any] = {"source": entry.source, "task": entry.task}
    result |= {"d": entry.d, "transform": entry.transform}
    if entry.source != "files":
        where = {"raw_dir": raw_dir, "mirror": mirror, "config": config}
        parents = [identity(parent, **where) for parent in entry.parents]
        return result | {
            "builder": entry.builder,
            "parameters": dict(entry.parameters),
            "parents": parents,
        }
    planned_without = os.environ.get(ABSENT_VARIABLE, "").split(",")
    folders = _folders(raw_dir, mirror, config)
    local = None if name in planned_without else _at_hand(entry, folders)
    form = local[0] if local else next((f for f in entry.files if f.urls), entry.files[0])
    if entry.content and entry.content.digits is None:
        return result | {"parser": form.parser, "content": entry.content.sha256}
    sha256 = _known_digest(local[2], local[2].stat().st_mtime_ns) if local else form.sha256
    return result | {
        "parser": form.parser,
        "options": form.options.model_dump(mode="json"),
        "sha256": sha256,
    }


def sequences(
    name: str,
    *,
    raw_dir: str | Path | None = None,
    mirror: str | Path | None = None,
    offline: bool = False,
    config: str | Path | None = None,
) -> tuple[np.ndarray, np.ndarray, tuple[int, int]]:
    """Load DNA before it becomes features: (base codes, labels -1/+1, window).

    `dna.one_hot_windows` turns them into features; those of a few rows take little memory.
    """
    entry = find(name, config)
    if not any(form.parser == "fasta" for form in entry.files):
        raise ValueError(f"{name} holds no DNA sequences.")
    raw, _, _ = _obtain(entry, _folders(raw_dir, mirror, config), offline)
    return raw.X, raw.y.astype(np.float64), raw.window


def available(
    name: str,
    *,
    raw_dir: str | Path | None = None,
    mirror: str | Path | None = None,
    config: str | Path | None = None,
) -> bool:
    """Return whether `name` can be loaded offline: its file exists, but isn't checked."""
    entry = find(name, config)
    where = {"raw_dir": raw_dir, "mirror": mirror, "config": config}
    if entry.source == "files":
        return _at_hand(entry, _folders(raw_dir, mirror, config)) is not None
    return all(available(parent, **where) for parent in entry.parents)


def fetch(
    name: str,
    *,
    raw_dir: str | Path | None = None,
    mirror: str | Path | None = None,
    offline: bool = False,
    config: str | Path | None = None,
) -> list[Path]:
    """Put the checked file of `name` into ``data/raw``, whole or not at all.

    Returns
    -------
    list of Path
        The files now in ``data/raw``: one, none for bundled and generated data, one for each
        parent of derived data.
    """
    entry = find(name, config)
    where = {"raw_dir": raw_dir, "mirror": mirror, "offline": offline, "config": config}
    if entry.source != "files":
        return [path for parent in entry.parents for path in fetch(parent, **where)]
    folders = _folders(raw_dir, mirror, config)
    with _receiving(folders.raw):
        raw, origin, _ = _obtain(entry, folders, offline)
    target = folders.raw / raw.meta["file"]
    if origin == "mirror":
        source = folders.mirror / raw.meta["file"]
        replace_atomically(target, lambda part: shutil.copyfile(source, part))
    return [target]
