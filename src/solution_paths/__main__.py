"""Compile everything in advance, or say what is installed: ``python -m solution_paths``."""

from __future__ import annotations

import argparse
import os
import platform
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
from numba.core import event

from . import (
    __version__,
    dm_drsvm_path,
    dm_ksvm_path,
    drlad_path,
    exact,
    kernels,
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
from .compilation import FUNCTIONS, LEVELS, TURN, keep_levels_alone, level

STACK = ("numpy", "numba", "llvmlite", "scipy", "scikit-learn")


def compile_all() -> None:
    """Trace a small path of every kind, so that all that they need is compiled and kept."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.where(X[:, 0] + rng.normal(size=40) > 0, 1, -1)
    target, weights = X[:, 1] ** 2, (np.ones(40), rng.uniform(0.5, 2.0, size=40))
    sparse = sp.csr_matrix(X)
    frozen = X.copy()
    frozen.flags.writeable = False
    given = X @ X.T
    paths: list[Any] = [
        *(svm_path(own, y) for own in (X, sparse)),
        svm_path(X, y, kernel="rbf"),
        svm_path(sparse, y, kernel="poly"),
        svm_path(given, y, kernel="precomputed"),
        quantile_svm_path(X, y, 1e-2),
        weighted_svm_path(X, y, *weights, kernel="rbf").continue_to(weights[0]),
        weighted_svr_path(X, target, *weights, 0.05, kernel="rbf"),
        *(outlier_svm_path(own, y, 1.0, homotopy="s") for own in (X, sparse)),
        outlier_svr_path(X, target, 1.0, homotopy="s", kernel="rbf"),
        dm_ksvm_path(X, y, 3.0, kernel="rbf"),
    ]
    for path in paths:
        path.certify()
        for rows in (given,) if path is paths[4] else (X, sparse, frozen):
            path.error_curve(rows, target, "absolute")
            path.decision_function(rows, path.breakpoints[:2])
    for own in (X, sparse):
        stated = [
            lasso_path(own, target, fit_intercept=True),
            drlad_path(own, target, vary="s", lam2=0.1),
            drlad_path(own, target, vary="lam2", s=0.1),
        ]
        for found in stated:
            found.certify()
            found.error_curve(own, target)
    l1_svm_path(X, y)
    dm_drsvm_path(X, y, 3.0, lam1=0.01)
    logistic_path(X, y, 0.1)
    outlier_svm_path([[1.0], [1.0], [-1.0]], [1, -1, 1], 1.0, homotopy="s")  # at a wall, no jump
    weighted_svm_path(X[:2], [1, -1], np.ones(2), np.ones(2))  # no sample holds the bias at first
    _compile_the_rest(X, sparse)


def _compile_the_rest(X: np.ndarray, sparse: sp.csr_matrix) -> None:
    """Compile what small problems hardly come to."""
    column, wanted = np.ones((3, 1)), np.ones((40, 1), dtype=bool)
    for rows in (X, sparse):
        exact.transposed(rows, np.ones((40, 1)))
    exact.rows_times(sparse, wanted, column)
    kernels._products(sparse, sparse)


def say_versions() -> None:
    """Print the versions of what results and speed depend on, and where compiled code is kept."""
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
    """Return the folders in which compiled functions are kept."""
    paths = (made._cache.cache_path for made in FUNCTIONS)
    return sorted({Path(path) for path in paths if path is not None})


def compile_for(wanted: str) -> int:
    """Compile for levels of processors, each in a process of its own, since numba serves one."""
    every = [own for own in LEVELS if own in (level(), "generic")]
    chosen = {"best": [level()], "all": every}.get(wanted) or wanted.split(",")
    unknown = sorted(set(chosen) - set(LEVELS))
    if unknown:
        print(
            f"error: {', '.join(unknown)}: no such level of processors; choose from "
            f"{', '.join(LEVELS)}, best or all.",
            file=sys.stderr,
        )
        return 2
    command = [sys.executable, "-m", __package__]
    for name in chosen:
        print(f"for processors of the level {name}, which takes a minute or two:", flush=True)
        own = {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": ""}
        subprocess.run(command, check=True, env=os.environ | own)
    keep_levels_alone()
    return 0


class Progress(event.Listener):
    """Say which function is compiled, the how manieth that is, and how long it took."""

    def __init__(self) -> None:
        self.outer: Any = None
        self.begun = 0.0
        self.compiled = 0

    def on_start(self, event: Any) -> None:
        """Name a function that none of the others asked for."""
        made = event.data["dispatcher"]
        if self.outer is None and made in FUNCTIONS:
            self.outer, self.begun = made, time.perf_counter()
            number = sum(bool(own.overloads) for own in FUNCTIONS if own is not made) + 1
            name = f"{made.__module__.partition('.')[2]}.{made.__name__}"
            print(f"{number:3d} of {len(FUNCTIONS)}  {name} ...", end="", flush=True)

    def on_end(self, event: Any) -> None:
        """Say how long the function took, with what it calls."""
        if event.data["dispatcher"] is self.outer:
            print(f" {time.perf_counter() - self.begun:.1f} s", flush=True)
            self.outer = None
            self.compiled += 1


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
    given = parser.parse_args(arguments)
    if given.version:
        say_versions()
        return 0
    if given.wanted is not None:
        return compile_for(given.wanted)
    TURN.announcer.quiet = True  # progress says it
    progress, begun = Progress(), time.perf_counter()
    with event.install_listener("numba:compile", progress):
        compile_all()
    seconds = time.perf_counter() - begun
    print(f"{progress.compiled} compiled, the rest was there; {seconds:.1f} s.")
    say_versions()
    return 0


if __name__ == "__main__":
    sys.exit(main())
