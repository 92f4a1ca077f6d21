"""Files that are written whole or not at all, and survive a power cut once they are there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


def replace_atomically(path: Path, write: Callable[[Path], None]) -> None:
    """Write beside the target and rename, so that nobody ever sees half a file.

    Content and name are on the disk when this returns: a power cut takes back neither.
    """
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a file in it.")
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    try:
        write(Path(name))
        os.chmod(name, 0o644)
        _to_disk(Path(name))
        os.replace(name, path)
        _to_disk(path.parent)
    finally:
        Path(name).unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text atomically, as UTF-8."""

    def write(part: Path) -> None:
        part.write_text(text, "utf-8")

    replace_atomically(path, write)


def _to_disk(path: Path) -> None:
    """Flush a file, or a folder's list of names, to the disk."""
    if os.name != "posix":  # elsewhere a folder can't be opened
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait until no other process is inside such a block of the same file; it is kept.

    The system lifts the lock of a process that ends, however it ends. Where the file system
    has no locks, nobody waits.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as stream:
        try:
            import fcntl

            fcntl.flock(stream, fcntl.LOCK_EX)
        except (ImportError, OSError):
            pass
        yield


_joined: list[IO[str]] = []  # held until this process ends


def join(path: Path) -> bool:
    """Be counted as alive at a file until this process ends; tell whether nobody else was.

    Where the file system has no locks, somebody might be.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    stream = path.open("a")
    _joined.append(stream)
    try:
        import fcntl

        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            alone = True
        except BlockingIOError:
            alone = False
        fcntl.flock(stream, fcntl.LOCK_SH)
    except (ImportError, OSError):
        return False
    return alone
