"""Atomic, durable writes of files, and locks between processes."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import BaseFileLock

UNLOCKABLE = OSError, NotImplementedError  # raised where the file system has no locks


def replace_atomically(path: Path, write: Callable[[Path], None]) -> None:
    """Write beside the target and rename, so that no process ever sees half a file.

    Content and name are on the disk when this returns, so that both survive a power cut. An error
    of the system, such as a full disk, names the target.
    """
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a file in it.")
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        part.touch(exist_ok=False)  # with the permissions that the user's umask leaves
        write(part)
        _to_disk(part)
        os.replace(part, path)
        _to_disk(path.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        part.unlink(missing_ok=True)


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
    """Hold an exclusive lock on a file, waiting for other processes; the file is kept.

    The system releases the lock of a process that ends, however it ends. Where the file system
    has no locks, there is no waiting.
    """
    lock = _lock_of(path)
    with suppress(*UNLOCKABLE):
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def hold(path: Path) -> BaseFileLock | None:
    """Acquire a file's lock without waiting and return it; None where another process holds it.

    The system releases the lock of a process that ends, however it ends. Where the file system
    has no locks, no process ever holds it.
    """
    from filelock import Timeout

    lock = _lock_of(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return None
    except UNLOCKABLE:
        pass
    return lock


def _lock_of(path: Path) -> BaseFileLock:
    from filelock import FileLock  # imported late: only locking pays for it

    path.parent.mkdir(parents=True, exist_ok=True)
    return FileLock(path, thread_local=False)


@contextmanager
def shared(folder: Path, alone: Callable[[], None]) -> Iterator[None]:
    """Hold a shared lock on a folder; call ``alone`` first if an exclusive lock can be had.

    Where there are no locks, ``alone`` isn't called: other processes may be at work.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            alone()
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_SH)
        yield
    finally:
        os.close(handle)
