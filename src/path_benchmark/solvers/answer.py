"""The answer every baseline gives back, how it is timed, and what it keeps for the next call."""

from __future__ import annotations

import importlib.metadata
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..objectives import Hinge, Machine


@dataclass(frozen=True, eq=False)
class Answer:
    """What a solver returned, and what it cost.

    Attributes
    ----------
    alpha : (n,) array or None
        Dual solution, 0 <= alpha_i <= C_i in classification, signed in regression, if the solver
        has one.
    w : (d,) array or None
        Weights of the features, without the bias (linear kernel only).
    b : float or None
        The constant that is added to the decision; None where ``alpha`` implies it.
    cpu_s, wall_s : float
        The solver call alone.
    setup_cpu_s : float
        Conversion of the data or construction of the model; 0 when it was reused from ``start``.
    status : {"solved", "inaccurate", "failed", "stopped", "not available", "not applicable"}
        What the solver says of itself; "stopped": it overstepped its limit of time or memory, or
        brought its process down. The judge decides on its own.
    state : object
        Converted data or built model, for the next call (``start=answer``) on the same data.
    """

    alpha: np.ndarray | None = None
    w: np.ndarray | None = None
    b: float | None = None
    cpu_s: float = float("nan")
    wall_s: float = float("nan")
    setup_cpu_s: float = 0.0
    iterations: int = -1
    status: str = "solved"
    message: str = ""
    state: Any = None


def version_of(package: str) -> str:
    """Return the version of a package, or "not installed"."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


class Stopwatch:
    """CPU seconds of this process and wall seconds of a ``with`` block."""

    def __enter__(self) -> Stopwatch:
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.cpu_s = time.process_time() - self._cpu
        self.wall_s = time.perf_counter() - self._wall

    @property
    def seconds(self) -> dict[str, float]:
        """Both, by the names of their columns."""
        return {"cpu_s": self.cpu_s, "wall_s": self.wall_s}


@dataclass(frozen=True)
class Reusable:
    """A converted problem, with the data that it was made from: reused for those data only."""

    X: Any
    y: np.ndarray
    key: tuple
    value: Any

    def fits(self, objective: Machine, key: tuple) -> bool:
        """Return True when the objective has the very same rows, and labels and settings alike."""
        same = self.key == key and np.array_equal(self.y, objective.y)
        return same and _same_rows(self.X, objective.X)


def _same_rows(X, Z) -> bool:
    """Tell whether two matrices are one, or two CSR views of the same entries."""
    if X is Z or not (sp.issparse(X) and sp.issparse(Z)):
        return X is Z
    return X.shape == Z.shape and all(
        len(one) == len(other) and np.shares_memory(one, other)
        for one, other in ((X.data, Z.data), (X.indices, Z.indices))
    )


def reuse_or_build(objective: Machine, start: Answer | None, key: tuple, build: Any) -> Any:
    """(state, CPU seconds spent): the state of ``start`` when it fits, else a new one."""
    old = start.state if start is not None else None
    if isinstance(old, Reusable) and old.fits(objective, key):
        return old, 0.0
    with Stopwatch() as watch:
        value = build()
    return Reusable(objective.X, objective.y, key, value), watch.cpu_s


def not_a_hinge(objective: Machine, diagonal: bool = False) -> str:
    """Why a solver of machines with a hinge loss can't take an objective; empty when it can.

    Most can't take an objective that adds to the diagonal of the kernel matrix either.
    """
    if not isinstance(objective, Hinge):
        return f"this solver is called for the hinge loss only, not for {type(objective).__name__}"
    return "" if diagonal or not objective.diagonal else "it can't add to the diagonal"
