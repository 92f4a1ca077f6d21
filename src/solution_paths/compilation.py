"""Compiled functions: kept in files, compiled by one process at a time, and announced.

Numba compiles a function when it is first called, and keeps the result beside the source file or,
where that folder can't be written, in the user's cache folder. Here a private temporary folder is
the last resort; what is kept beside the source is read even where it can't be written; and of
several processes that need the same function one compiles it while the others wait and load it.

A wheel holds functions that were compiled for a level of processors (`LEVELS`) when it was built.
They serve every processor of that level, for which numba alone would compile them anew.

What was compiled is valid for the sources that it was made from, whatever their files' times.

None of this is run again once a process has its functions: calls go to the compiled code.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import inspect
import os
import stat
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import llvmlite.binding as llvm
import numpy as np
from numba import config, njit, types
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    UserWideCacheLocator,
)
from numba.core.compiler_lock import global_compiler_lock

from . import linking
from .announcing import Announcer, say
from .files import hold, locked
from .linking import EntryCompiler, PartCompiler

if TYPE_CHECKING:
    from filelock import BaseFileLock

FUNCTIONS: list[Any] = []  # all that `cached_njit` made, in the order of imports
INNER: set[Any] = set()  # and all that `inner_njit` made
SOURCES = {linking.__file__}  # files that decide what these become
LOCK = "{}-{}.lock"  # of each function, for each processor that is compiled for
LISTS = "solution_paths-lists.lock"
PAUSE = 0.1  # seconds between two looks at another process's lock
# Levels of processors by LLVM's names, best first, with the features that each one asks for.
LEVELS = {
    "x86-64-v3": ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"),
    "generic": (),
}


def cached_njit(
    function: Callable[..., Any] | None = None, /, *, slow: bool = False, **options: Any
) -> Any:
    """Compile a function as `numba.njit(cache=True, ...)` does, in turn with other processes.

    Parameters
    ----------
    function : callable, optional
        Without it a decorator is returned.
    slow : bool
        Whether a user should be told before it is compiled: it takes a minute or more.
    **options
        Those of `numba.njit`.
    """
    if function is None:
        return functools.partial(cached_njit, slow=slow, **options)
    made = njit(pipeline_class=EntryCompiler, **options)(function)
    try:
        made._cache = _Cache(made, slow)
    except (RuntimeError, OSError) as error:
        _say_once(f"compiled code can't be kept, every process will compile anew ({error}).")
    compile_now = made.compile  # called once for each signature of arguments

    def compile_in_turn(signature: Any) -> Any:
        with TURN:
            return compile_now(signature)

    made.compile = compile_in_turn
    FUNCTIONS.append(made)
    return made


def inner_njit(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Compile a function that compiled functions alone call, and become part of: see `linking`.

    Parameters
    ----------
    function : callable, optional
        Without it a decorator is returned.
    **options
        Those of `numba.njit`.
    """
    if function is None:
        return functools.partial(inner_njit, **options)
    SOURCES.add(inspect.getfile(function))
    made = njit(pipeline_class=PartCompiler, **options)(function)
    made.add_overload = functools.partial(_add, made)
    made.get_call_template = functools.partial(_template, made.get_call_template)
    INNER.add(made)
    return made


def _template(of: Callable[..., Any], args: Any, kws: dict[str, Any]) -> Any:
    """Return what types a call, for types alone: numba would compile for each literal, too."""
    plain = {name: types.unliteral(own) for name, own in kws.items()}
    return of(tuple(map(types.unliteral, args)), plain)


def _add(made: Any, result: Any) -> None:
    """Note a result, which Python's own call can't have."""
    if not made.overloads:
        TURN.announcer.step()
    made.overloads[tuple(result.signature.args)] = result


def callees(made: Any, found: set[Any] | None = None) -> set[Any]:
    """Return the inner functions that a function calls, directly or not."""
    found = set() if found is None else found
    function = made.py_func
    for name in function.__code__.co_names:
        called = function.__globals__.get(name)
        if getattr(called, "__hash__", None) and called in INNER and called not in found:
            found.add(called)
            callees(called, found)
    return found


def name_of(made: Any) -> str:
    """Return a function's name, with its module's in the package."""
    return f"{made.__module__.partition('.')[2] or made.__module__}.{made.__name__}"


def mark() -> str:
    """Return a mark of the sources of all inner functions, of which any may be part of an entry."""
    return hashlib.sha256("".join(map(_digest, sorted(SOURCES))).encode()).hexdigest()[:12]


@functools.cache
def _digest(file: str) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


@functools.cache
def _say_once(text: str) -> None:
    say(text)


def read_only(*arrays: Any) -> list[Any]:
    """Return arrays in C order that can't be written to, without a copy where that is so already.

    Compiled code is one for each order, and one more for arrays that can't be written to: what is
    given to it like this is compiled once.
    """
    found = [np.ascontiguousarray(own).view() for own in arrays]
    for own in found:
        own.flags.writeable = False
    return found


class _Turn:
    """The right to compile a function: of one thread, by numba's lock, of one process, by a file's.

    The operating system frees the file's lock when its process ends, however that happens.
    """

    def __init__(self) -> None:
        self.depth = 0
        self.lock: BaseFileLock | None = None
        self.waited = self.collects = False
        self.announcer = Announcer()

    def __enter__(self) -> None:
        global_compiler_lock.acquire()
        if self.depth == 0:
            self.collects = gc.isenabled()
            gc.disable()  # it would look through all that is being compiled, an eighth of the time
        self.depth += 1

    def __exit__(self, *_: object) -> None:
        self.depth -= 1
        if self.depth == 0:
            self.announcer.end()
            if self.collects:
                gc.enable()
            if self.lock is not None:
                self.lock.release()
                self.lock = None
        global_compiler_lock.release()

    def take(self, folder: str, name: str) -> bool:
        """Wait for other processes; tell whether one may have compiled something meanwhile."""
        if self.depth == 0 or self.lock is not None:
            return False
        lock = Path(folder, LOCK.format(name, config.CPU_NAME or "native"))
        try:
            self.lock = hold(lock)
            while self.lock is None:
                if not self.waited and not self.announcer.quiet:
                    say("another process is compiling; waiting to load what it compiles.")
                self.waited = True
                time.sleep(PAUSE)
                self.lock = hold(lock)
        except OSError:  # a folder that can't be written: each process compiles for itself
            return False
        return True


TURN = _Turn()


@functools.cache
def level() -> str:
    """Return the best level that serves this processor, or what NUMBA_CPU_NAME names."""
    has = llvm.get_host_cpu_features()
    served = (name for name, asked in LEVELS.items() if all(has.get(own) for own in asked))
    return config.CPU_NAME or next(served)


@functools.cache
def temporary_folder() -> str:
    """Return a folder for temporary files that nobody else can write to."""
    owner = getattr(os, "getuid", lambda: "user")()
    folder = os.path.join(tempfile.gettempdir(), f"solution_paths-{owner}")
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        found = os.lstat(folder)
        own = owner == "user" or (found.st_uid == owner and not found.st_mode & 0o022)
        if own and stat.S_ISDIR(found.st_mode):
            return folder
        folder = tempfile.mkdtemp(prefix="solution_paths-")  # compiled code is trusted
    say(
        f"compiled code is kept in {folder}, since neither the package's folder nor the user's "
        "cache folder can be written; NUMBA_CACHE_DIR names another place."
    )
    return folder


class _TemporaryLocator(UserWideCacheLocator):
    def __init__(self, function: Callable[..., Any], file: str):
        super().__init__(function, file)
        self._cache_path = os.path.join(temporary_folder(), self.get_suitable_cache_subpath(file))


class _Place(CompileResultCacheImpl):
    """Where a function is kept: numba's places, then a temporary one."""

    _locator_classes = (*CompileResultCacheImpl._locator_classes, _TemporaryLocator)


class _Index(IndexDataCacheFile):
    """Numba's list of what is kept, empty where it names types of another version of a package."""

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except (ImportError, AttributeError):
            return {}


class _Cache(FunctionCache):
    """Numba's cache, asked once more where another process may have compiled meanwhile."""

    _impl_class = _Place

    def __init__(self, made: Any, slow: bool):
        super().__init__(function := made.py_func)
        self._made = made
        beside = os.path.join(os.path.dirname(inspect.getfile(function)), "__pycache__")
        named = self._impl.filename_base, (self._impl.locator.get_source_stamp(), mark())
        self._cache_file = _Index(self._cache_path, *named)
        self._installed = _Index(beside, *named)
        self._slow = slow

    def load_overload(self, signature: Any, target: Any) -> Any:
        found = super().load_overload(signature, target)
        if found is None and TURN.take(self._cache_path, self._impl.filename_base):
            found = super().load_overload(signature, target)
        if found is None:
            left = sum(not own.overloads for own in callees(self._made))
            TURN.announcer.begin(name_of(self._made), left, self._slow)
        else:
            found.library._shared_module = None  # there are names in it alone, see `linking`
        return found

    def _load_overload(self, signature: Any, target: Any) -> Any:
        found = super()._load_overload(signature, target)
        if found is not None or config.CACHE_DIR or not self._enabled:
            return found
        # what came with the package may lie where only its owner can write
        own, processor, source = self._index_key(signature, target.codegen())
        for kind in (processor, (processor[0], level(), "")):
            with suppress(OSError):
                data = self._installed.load((own, kind, source))
                if data is not None:
                    return self._impl.rebuild(target, data)
        return None

    def _save_overload(self, signature: Any, data: Any) -> None:
        # Numba writes the list of what is kept before the code itself. A process that is ended in
        # between must not leave a new list beside the code of an older source.
        with locked(Path(self._cache_path, LISTS)):
            if not self._cache_file._load_index():
                _remove_all(self._cache_path, self._impl.filename_base)
            super()._save_overload(signature, data)


def is_kept(made: Any) -> bool:
    """Tell whether anything of a function is kept for this processor."""
    processor = made.targetctx.codegen().magic_tuple()
    return any(key[1] == processor for key in made._cache._cache_file._load_index())


def compile_unless_taken(made: Any, signature: Any) -> None:
    """Compile a function, or load it, unless another process compiles it."""
    name = LOCK.format(made._cache._impl.filename_base, config.CPU_NAME or "native")
    lock = hold(Path(made._cache.cache_path, name))
    if lock is not None:
        lock.release()
        made.compile(signature)


def keep_levels_alone() -> None:
    """Remove, of all that `cached_njit` made, what was compiled for anything but a level."""
    served = {(name, "") for name in LEVELS}
    for kept in (made._cache._installed for made in FUNCTIONS):
        with locked(Path(kept._cache_path, LISTS)):
            found = kept._load_index()
            some = {key: file for key, file in found.items() if key[1][1:] in served}
            if len(some) < len(found):
                kept._save_index(some)
        for file in set(found.values()) - set(some.values()):
            Path(kept._cache_path, file).unlink(missing_ok=True)


def _remove_all(folder: str, name: str) -> None:
    """Remove a function's compiled code from a folder."""
    for file in os.listdir(folder):
        if file.startswith(f"{name}.") and file.endswith(".nbc"):
            os.remove(os.path.join(folder, file))
