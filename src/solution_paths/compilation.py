"""Compiled functions: cached in files, compiled by one process at a time, with progress messages.

Numba compiles a function at its first call. It caches the result beside the source file, or in the
user's cache folder where that folder can't be written. This module adds three things. A private
temporary folder is the last resort. A cache beside the source is read even where it can't be
written. Where several processes need the same function, one compiles it and the others load it.

A wheel holds functions that were compiled for a level of processors (`LEVELS`) when it was built.
They serve every processor of that level, for which numba alone would compile them anew.

Compiled code is valid for the content of its sources, whatever the modification times of the files.

Once a process has its functions, calls go straight to the compiled code.
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
from numpy.typing import NDArray

from . import linking
from .announcing import Announcer, say
from .files import hold, locked
from .linking import EntryCompiler, PartCompiler

if TYPE_CHECKING:
    from filelock import BaseFileLock

FUNCTIONS: list[Any] = []  # all functions of `cached_njit`, in the order of imports
INNER: set[Any] = set()  # all functions of `inner_njit`
SOURCES = {linking.__file__}  # files on whose content compiled code depends
LOCK = "{}-{}.lock"  # one for each function and each processor that is compiled for
LISTS = "solution_paths-lists.lock"  # for changes of numba's index files
POLLING_PERIOD = 0.1  # seconds between two looks at another process's lock
# Levels of processors by LLVM's names, best first, with the features that each one requires.
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
        Whether compiling takes a minute or more, so that a message is printed before it begins.
    **options
        Those of `numba.njit`.
    """
    if function is None:
        return functools.partial(cached_njit, slow=slow, **options)
    dispatcher = njit(pipeline_class=EntryCompiler, **options)(function)
    try:
        dispatcher._cache = _Cache(dispatcher, slow)
    except (RuntimeError, OSError) as error:
        _say_once(f"compiled code can't be kept, every process will compile anew ({error}).")
    compile_now = dispatcher.compile  # called once for each signature of arguments

    def compile_in_turn(signature: Any) -> Any:
        with TURN:
            return compile_now(signature)

    dispatcher.compile = compile_in_turn
    FUNCTIONS.append(dispatcher)
    return dispatcher


def inner_njit(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Compile a function that only compiled functions call: a part, see `linking`.

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
    dispatcher = njit(pipeline_class=PartCompiler, **options)(function)
    dispatcher.add_overload = functools.partial(_add, dispatcher)
    dispatcher.get_call_template = functools.partial(_template, dispatcher.get_call_template)
    INNER.add(dispatcher)
    return dispatcher


def _template(of: Callable[..., Any], args: Any, kws: dict[str, Any]) -> Any:
    """Return the typing template of a call, with literal types replaced by their plain types.

    Numba would otherwise compile the function anew for each literal.
    """
    plain = {name: types.unliteral(argument_type) for name, argument_type in kws.items()}
    return of(tuple(map(types.unliteral, args)), plain)


def _add(dispatcher: Any, result: Any) -> None:
    """Record a compiled overload without making it callable from Python."""
    if not dispatcher.overloads:
        TURN.announcer.step()
    dispatcher.overloads[tuple(result.signature.args)] = result


def callees(dispatcher: Any, visited: set[Any] | None = None) -> set[Any]:
    """Return the inner functions that a function calls, directly or not."""
    visited = set() if visited is None else visited
    function = dispatcher.py_func
    for name in function.__code__.co_names:
        called = function.__globals__.get(name)
        if getattr(called, "__hash__", None) and called in INNER and called not in visited:
            visited.add(called)
            callees(called, visited)
    return visited


def name_of(dispatcher: Any) -> str:
    """Return a function's name, qualified by its module within the package."""
    return (
        f"{dispatcher.__module__.partition('.')[2] or dispatcher.__module__}.{dispatcher.__name__}"
    )


def mark() -> str:
    """Return a hash of the sources of all inner functions: any may be part of an entry."""
    return hashlib.sha256("".join(map(_digest, sorted(SOURCES))).encode()).hexdigest()[:12]


@functools.cache
def _digest(file: str) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


@functools.cache
def _say_once(text: str) -> None:
    say(text)


def read_only(*arrays: Any) -> list[Any]:
    """Return read-only views of arrays in C order; only arrays in another order are copied.

    Numba compiles one variant for each memory order and each writability. With arguments of this
    one form a function is compiled once.
    """
    views = [np.ascontiguousarray(array).view() for array in arrays]
    for view in views:
        view.flags.writeable = False
    return views


def csr_arrays(X: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the arrays of a CSR matrix, with int64 indices: one form, as `read_only`'s."""
    return X.indptr.astype(np.int64, copy=False), X.indices.astype(np.int64, copy=False), X.data


class _Turn:
    """The right to compile: held by one thread (numba's lock) of one process (a file lock).

    The operating system releases the file lock when its process ends, however it ends.
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
            gc.disable()  # collections would take an eighth of the time
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
        """Acquire the file lock; return whether another process may have compiled before."""
        if self.depth == 0 or self.lock is not None:
            return False
        lock = Path(folder, LOCK.format(name, config.CPU_NAME or "native"))
        try:
            self.lock = hold(lock)
            while self.lock is None:
                if not self.waited and not self.announcer.quiet:
                    say("another process is compiling; waiting to load what it compiles.")
                self.waited = True
                time.sleep(POLLING_PERIOD)
                self.lock = hold(lock)
        except OSError:  # a folder that can't be written: each process compiles for itself
            return False
        return True


TURN = _Turn()


@functools.cache
def level() -> str:
    """Return NUMBA_CPU_NAME where it is set, or the best level that this processor supports."""
    has = llvm.get_host_cpu_features()
    supported = (
        name for name, features in LEVELS.items() if all(has.get(feature) for feature in features)
    )
    return config.CPU_NAME or next(supported)


@functools.cache
def temporary_folder() -> str:
    """Return a folder for temporary files that nobody else can write to."""
    owner = getattr(os, "getuid", lambda: "user")()
    folder = os.path.join(tempfile.gettempdir(), f"solution_paths-{owner}")
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        status = os.lstat(folder)
        private = owner == "user" or (status.st_uid == owner and not status.st_mode & 0o022)
        if private and stat.S_ISDIR(status.st_mode):
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


class _CacheLocation(CompileResultCacheImpl):
    """The folder of a function's cache: one of numba's, else a temporary one."""

    _locator_classes = (*CompileResultCacheImpl._locator_classes, _TemporaryLocator)


class _Index(IndexDataCacheFile):
    """Numba's index of a cache; it counts as empty where its types are of another version."""

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except (ImportError, AttributeError):
            return {}


class _Cache(FunctionCache):
    """Numba's cache, which is read again where another process may have compiled meanwhile."""

    _impl_class = _CacheLocation

    def __init__(self, dispatcher: Any, slow: bool):
        super().__init__(function := dispatcher.py_func)
        self._dispatcher = dispatcher
        beside = os.path.join(os.path.dirname(inspect.getfile(function)), "__pycache__")
        named = self._impl.filename_base, (self._impl.locator.get_source_stamp(), mark())
        self._cache_file = _Index(self._cache_path, *named)
        self._installed = _Index(beside, *named)
        self._slow = slow

    def load_overload(self, signature: Any, target: Any) -> Any:
        compiled = super().load_overload(signature, target)
        if compiled is None and TURN.take(self._cache_path, self._impl.filename_base):
            compiled = super().load_overload(signature, target)
        if compiled is None:
            left = sum(not callee.overloads for callee in callees(self._dispatcher))
            TURN.announcer.begin(name_of(self._dispatcher), left, self._slow)
        else:
            compiled.library._shared_module = None  # it holds only names, see `linking`
        return compiled

    def _load_overload(self, signature: Any, target: Any) -> Any:
        compiled = super()._load_overload(signature, target)
        if compiled is not None or config.CACHE_DIR or not self._enabled:
            return compiled
        # the cache of an installed package may lie where only its owner can write
        arguments, processor, source = self._index_key(signature, target.codegen())
        for kind in (processor, (processor[0], level(), "")):
            with suppress(OSError):
                data = self._installed.load((arguments, kind, source))
                if data is not None:
                    return self._impl.rebuild(target, data)
        return None

    def _save_overload(self, signature: Any, data: Any) -> None:
        # Numba writes the index before the code itself. A process that ends in between must not
        # leave a new index beside the code of an older source.
        with locked(Path(self._cache_path, LISTS)):
            if not self._cache_file._load_index():
                _remove_all(self._cache_path, self._impl.filename_base)
            super()._save_overload(signature, data)


def is_kept(dispatcher: Any) -> bool:
    """Return whether the cache holds any overload of a function for this processor."""
    processor = dispatcher.targetctx.codegen().magic_tuple()
    return any(key[1] == processor for key in dispatcher._cache._cache_file._load_index())


def compile_unless_taken(dispatcher: Any, signature: Any) -> None:
    """Compile a function, or load it, unless another process compiles it."""
    name = LOCK.format(dispatcher._cache._impl.filename_base, config.CPU_NAME or "native")
    lock = hold(Path(dispatcher._cache.cache_path, name))
    if lock is not None:
        lock.release()
        dispatcher.compile(signature)


def keep_levels_alone() -> None:
    """Remove all compiled code that is for a processor and not for a level of `LEVELS`."""
    served = {(name, "") for name in LEVELS}
    for index_file in (dispatcher._cache._installed for dispatcher in FUNCTIONS):
        with locked(Path(index_file._cache_path, LISTS)):
            index = index_file._load_index()
            remaining = {key: file for key, file in index.items() if key[1][1:] in served}
            if len(remaining) < len(index):
                index_file._save_index(remaining)
        for file in set(index.values()) - set(remaining.values()):
            Path(index_file._cache_path, file).unlink(missing_ok=True)


def _remove_all(folder: str, name: str) -> None:
    """Remove a function's compiled code from a folder."""
    for file in os.listdir(folder):
        if file.startswith(f"{name}.") and file.endswith(".nbc"):
            os.remove(os.path.join(folder, file))
