"""Compile everything in advance, or say what is installed: ``python -m solution_paths``."""

from __future__ import annotations

import argparse
import os
import platform
import selectors
import subprocess
import sys
import time
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
import numpy as np
import scipy.sparse as sp
from numba import types

from . import (
    __version__,
    dm_drsvm_path,
    dm_ksvm_path,
    drlad_path,
    l1_svm_path,
    lasso_path,
    logistic_path,
    outlier_svm_path,
    outlier_svr_path,
    quantile_svm_path,
    svm_path,
    weighted_svm_path,
    weighted_svr_path,
)
from .compilation import (
    FUNCTIONS,
    LEVELS,
    TURN,
    compile_unless_taken,
    is_kept,
    keep_levels_alone,
    level,
)
from .compile_log import Log
from .homotopy import operations
from .homotopy.state import Walk
from .kernels import kernel
from .solution import envelopes, sums
from .verify import areas, exact

STACK = ("numpy", "numba", "llvmlite", "scipy", "scikit-learn")


def compile_all() -> None:
    """Compute a small path of every kind, so that all compiled functions are cached."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.where(X[:, 0] + rng.normal(size=40) > 0, 1, -1)
    target, weights = X[:, 1] ** 2, (np.ones(40), rng.uniform(0.5, 2.0, size=40))
    sparse = sp.csr_matrix(X)
    frozen = X.copy()
    frozen.flags.writeable = False
    given = X @ X.T
    paths: list[Any] = [
        *(svm_path(rows, y) for rows in (X, sparse)),
        svm_path(X, y, kernel="rbf"),
        svm_path(sparse, y, kernel="poly"),
        svm_path(given, y, kernel="precomputed"),
        quantile_svm_path(X, y, 1e-2),
        weighted_svm_path(X, y, *weights, kernel="rbf").continue_to(weights[0]),
        weighted_svr_path(X, target, *weights, 0.05, kernel="rbf"),
        *(outlier_svm_path(rows, y, 1.0, homotopy="s") for rows in (X, sparse)),
        outlier_svr_path(X, target, 1.0, homotopy="s", kernel="rbf"),
        dm_ksvm_path(X, y, 3.0, kernel="rbf"),
    ]
    for path in paths:
        path.certify()
        for rows in (given,) if path is paths[4] else (X, sparse, frozen):
            path.error_curve(rows, target, "absolute")
            path.decision_function(rows, path.breakpoints[:2])
    for features in (X, sparse):
        linear_paths = [
            lasso_path(features, target, fit_intercept=True),
            drlad_path(features, target, vary="s", lam2=0.1),
            drlad_path(features, target, vary="lam2", s=0.1),
        ]
        for linear_path in linear_paths:
            linear_path.certify()
            linear_path.error_curve(features, target)
    l1_svm_path(X, y)
    dm_drsvm_path(X, y, 3.0, lam1=0.01)
    logistic_path(X, y, 0.1)
    outlier_svm_path([[1.0], [1.0], [-1.0]], [1, -1, 1], 1.0, homotopy="s")  # at a wall, no jump
    weighted_svm_path(X[:2], [1, -1], np.ones(2), np.ones(2))  # no sample holds the bias at first
    _compile_the_rest(X, sparse)


def _compile_the_rest(X: np.ndarray, sparse: sp.csr_matrix) -> None:
    """Compile functions that small problems hardly call."""
    column, wanted = np.ones((3, 1)), np.ones((40, 1), dtype=bool)
    for rows in (X, sparse):
        exact.transposed(rows, np.ones((40, 1)))
        sums.by_columns(rows, np.ones((1, 40)))
        sums.by_rows(rows, wanted.T, column.T)
    exact.rows_times(sparse, wanted, column)
    kernel._products(sparse, sparse)


def say_versions() -> None:
    """Print the versions that results and speed depend on, and the folder of compiled code."""
    print(f"solution_paths {__version__}")
    print(f"python {platform.python_version()}")
    for name in STACK:
        with suppress(metadata.PackageNotFoundError):  # where a wheel is built
            print(f"{name} {metadata.version(name)}")
    print(f"processor: {numba.config.CPU_NAME or llvmlite.binding.get_host_cpu_name()}")
    folders = cache_folders()
    kept = [file for folder in folders for file in folder.glob("*.nb[ic]")]
    size = sum(file.stat().st_size for file in kept)
    shared = os.path.commonpath(folders) if folders else "nowhere"
    print(f"compiled code: {shared} ({len(kept)} files, {size / 1e6:.1f} MB)")


def cache_folders() -> list[Path]:
    """Return the folders in which compiled functions are cached."""
    paths = (made._cache.cache_path for made in FUNCTIONS)
    return sorted({Path(path) for path in paths if path is not None})


def compile_for(wanted: str, jobs: int = 1) -> int:
    """Compile for levels of processors, one process for each: numba serves one at a time."""
    every = [name for name in LEVELS if name in (level(), "generic")]
    chosen = {"best": [level()], "all": every}.get(wanted) or wanted.split(",")
    unknown = sorted(set(chosen) - set(LEVELS))
    if unknown:
        print(
            f"error: {', '.join(unknown)}: no such level of processors; choose from "
            f"{', '.join(LEVELS)}, best or all.",
            file=sys.stderr,
        )
        return 2
    command = [sys.executable, "-m", __package__, "--jobs", str(jobs)]
    for name in chosen:
        print(f"for processors of the level {name}, which takes a minute:", flush=True)
        settings = {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": ""}
        subprocess.run(command, check=True, env=os.environ | settings)
    keep_levels_alone()
    return 0


def say_step(done: int, name: str, seconds: float) -> None:
    """Print a function that was compiled, and its number."""
    print(f"{done:3d} of {len(FUNCTIONS)}  {name:32s}{seconds:6.1f} s", flush=True)


def slowest() -> list[tuple[Any, tuple[Any, ...]]]:
    """Return the functions that take longest, with the types of their arguments."""
    read, read_2, read_3 = (types.Array(types.float64, n, "C", readonly=True) for n in (1, 2, 3))
    rows, new = types.Array(types.int64, 1, "C", readonly=True), types.float64
    graphs = types.Tuple((new[:, :, ::1], *3 * [read_3], *3 * [read_2]))
    asked = Walk._numba_type_, *3 * [types.int64], new, new[::1]
    boxes = read_3, read_3, read_2, read_3, rows, rows, read, rows, read_3, read, read_2
    points = read_3, read_3, read_3, read_2, read_3, read_2, read_3
    return [
        (operations.operated, asked),
        (envelopes.boxes, (*boxes, new[:, :, :, ::1])),
        (areas.contribute, (graphs, *points, new[:, ::1])),
    ]


def compile_share(share: int) -> None:
    """Compile what no other process compiles; print the name and the seconds of each function.

    Begin with the slowest functions, in another order in each process; small paths do the rest.
    """
    known = slowest()
    TURN.announcer.quiet = True
    with Log(lambda name, seconds: print(name, seconds, flush=True)).listening():
        for made, signature in known[share:] + known[:share]:
            compile_unless_taken(made, signature)
        compile_all()


def compile_in_processes(jobs: int) -> int:
    """Let several processes compile; return the number of functions compiled."""
    command = [sys.executable, "-m", __package__, "--share"]
    workers = [
        subprocess.Popen([*command, str(share)], stdout=subprocess.PIPE, text=True)
        for share in range(jobs)
    ]
    cached, compiled = sum(is_kept(made) for made in FUNCTIONS), set()
    with selectors.DefaultSelector() as ready:
        for worker in workers:
            ready.register(worker.stdout, selectors.EVENT_READ)
        while ready.get_map():
            for key, _ in ready.select():
                line = key.fileobj.readline()
                if not line:
                    ready.unregister(key.fileobj)
                    continue
                name, seconds = line.split()
                compiled.add(name)
                say_step(cached + len(compiled), name, float(seconds))
    failed = [worker.args[-1] for worker in workers if worker.wait()]
    if failed:
        raise SystemExit(f"error: {len(failed)} of {jobs} processes failed; see above.")
    return len(compiled)


def main(arguments: list[str] | None = None) -> int:
    """Compile everything, or print versions."""
    parser = argparse.ArgumentParser(
        prog="python -m solution_paths",
        description="Compile all functions of solution_paths for this processor, and keep them: "
        "later processes load them. Without this each is compiled when it is first called.",
    )
    parser.add_argument("--version", action="store_true", help="print versions and stop")
    parser.add_argument(
        "--for",
        dest="wanted",
        metavar="LEVELS",
        help="compile for these levels of processors and keep nothing else, with commas between: "
        f"{', '.join(LEVELS)}; or for the best that this one has (best), or that and generic (all)",
    )
    parser.add_argument(
        "--jobs", type=int, default=1, help="processes that compile, each other functions (1)"
    )
    parser.add_argument(
        "--log",
        action="store_true",
        help="print seconds of each stage of compiling, for each function, and bytes that are kept",
    )
    parser.add_argument("--share", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.version:
        say_versions()
        return 0
    if given.jobs < 1 or (given.log and given.jobs > 1):
        parser.error("--jobs must be at least 1, and 1 with --log.")
    if given.wanted is not None:
        return compile_for(given.wanted, given.jobs)
    if given.share is not None:
        compile_share(given.share)
        return 0
    begun = time.perf_counter()
    if given.jobs > 1:
        compiled = compile_in_processes(given.jobs)
    else:
        TURN.announcer.quiet = True  # each step says it
        cached = sum(is_kept(made) for made in FUNCTIONS)
        log = Log(lambda *step: say_step(cached + len(log.entries), *step))
        with log.listening():
            compile_all()
        compiled = len(log.entries)
        if given.log:
            print(log.tables())
    seconds = time.perf_counter() - begun
    print(f"{compiled} compiled, the rest was there; {seconds:.1f} s.")
    say_versions()
    return 0


if __name__ == "__main__":
    sys.exit(main())
