"""Who is compared: one file for each, all with the same face.

    NAME                 what the table calls it
    HOW                  one sentence: how it is called, what its time covers
    version() -> str
    refuses(problem)     "" or one sentence: why it can't solve this problem here
    solve(problem) -> Run      is timed as a whole

A `Run` hands out its answers after the clock has stopped; the judge scores each of them.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from path_benchmark.solvers import Answer

MODULES = ("ours", "qpoases", "daqp_grid", "svc_1e3", "svc_1e8", "svmpath_r", "liblinear_nine")


@dataclass
class Run:
    """What a peer found.

    Attributes
    ----------
    points : (k,) array
        Parameter values at which it has a solution (for a path: at which it is judged).
    answer : callable
        Index into points -> `Answer`.
    count : int
        Breakpoints of a path, iterations of a solver; -1 if unknown.
    clock : (wall, CPU) seconds, optional
        By the peer's own rule (see its HOW) instead of those of the whole call.
    note : str
        What the reader must know about this run.
    later : callable, optional
        More numbers for the row, found after the clock has stopped: () -> dict.
    """

    points: np.ndarray
    answer: Callable[[int], Answer]
    count: int = -1
    clock: tuple[float, float] | None = None
    note: str = ""
    later: Callable[[], dict] = dict


def package_version(package: str) -> str:
    """Version of an installed package, or ""."""
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return ""


def refuse_unless(problem, package: str, kind: str) -> str:
    """Two reasons for a refusal that most peers share."""
    if not package_version(package):
        return f"the package {package} is not installed"
    if problem.kind != kind:
        return f"solves for one value at a time in {kind}, and this path is in {problem.kind}"
    return ""
