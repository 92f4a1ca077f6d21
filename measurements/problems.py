"""What is solved: the problems of the benchmark, each a path in C or in tau."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from path_benchmark.data import load
from path_benchmark.objectives import Hinge, quantile_hinge
from path_benchmark.papers.quantile_svm import data as paper
from solution_paths.kernels import Kernel

HERE = Path(__file__).parent
STORED = ("g200", "dup200", "int200", "unb200")
# lam as in the paper's Table 1 and in config/papers/quantile_svm.yaml
PAPER = {
    "diabetes": (paper.diabetes, 1e-3),
    "spam": (paper.spam, 1e-6),
    "splice": (paper.splice, 1e-2),
}
GROWTH = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
LARGEST = 1_000_000  # rows: once, and not in the fit of the growth
SMALLEST_C = 1e-3
# Beyond these the paths of the generated sets have next to no breakpoints, and LIBSVM's linear
# kernel would need minutes: the end that is better for the peers.
LARGEST_C = {"linear": 10.0, "rbf": 1e3}


@dataclass(frozen=True, eq=False)
class Problem:
    """A path problem.

    Attributes
    ----------
    name : str
    kind : {"C", "tau"}
        C: ||w||^2/2 + C sum_i loss_i with a free bias. tau: the quantile SVM, bias as a feature.
    X, y : arrays
    kernel : {"linear", "rbf"}
        rbf with gamma = 1/10.
    lam : float
        Weight of the penalty (1 for a path in C).
    certify_all : bool
        Whether our path is certified at every breakpoint, however many there are.
    """

    name: str
    kind: str
    X: Any
    y: np.ndarray
    kernel: str = "linear"
    gamma: float = 0.1
    lam: float = 1.0
    certify_all: bool = False

    @cached_property
    def grid(self) -> np.ndarray:
        """Values at which grid solvers solve, and at which answers of paths are judged."""
        if self.kind == "tau":
            return np.linspace(0.01, 0.99, 99)
        return np.geomspace(SMALLEST_C, LARGEST_C[self.kernel], 100)

    @cached_property
    def _whole(self) -> Hinge:
        if self.kind == "tau":
            return quantile_hinge(self.X, self.y, self.lam)
        kernel = Kernel(self.kernel, self.gamma)
        return Hinge(self.X, self.y, cost0=0.0, cost1=1.0, lam=self.lam, kernel=kernel, bias="free")

    def at(self, t: float) -> Hinge:
        """Return the problem at one value of the parameter, as the judge and solvers know it."""
        return self._whole.at(t)

    def head(self) -> Problem:
        """Return a few rows of each class: enough to compile everything that the whole needs."""
        n, d = self.X.shape
        few = max(60, d + 50) if d < n else 60  # the same side of d < n, hence the same code
        rows = [np.flatnonzero(self.y == label) for label in (-1, 1)]
        share = few / n
        rows = [r[: max(2, round(share * len(r)))] for r in rows]
        rows = np.sort(np.concatenate(rows))
        return replace(self, name=f"{self.name} (head)", X=self.X[rows], y=self.y[rows])


def gaussians(n: int, d: int, kernel: str = "linear", name: str | None = None) -> Problem:
    """Two balanced Gaussian classes whose means are .6 apart in each feature, as in g200."""
    rng = np.random.default_rng([n, d])
    y = rng.permutation(np.where(np.arange(n) < n // 2, 1.0, -1.0))
    X = rng.normal(size=(n, d)) + 0.3 * y[:, None]
    return Problem(name or f"g{n} {kernel}", "C", X, y, kernel)


def stored(name: str, kernel: str) -> Problem:
    """One of the files in ``data``: label first, then ten features."""
    table = np.loadtxt(HERE / "data" / f"{name}.csv", delimiter=",")
    return Problem(f"{name} {kernel}", "C", table[:, 1:], table[:, 0], kernel)


def quantile(name: str) -> Problem:
    """One of the quantile SVM paper's three data sets, split 0."""
    assemble, lam = PAPER[name]
    part = assemble().train
    return Problem(name, "tau", part.X, part.y, lam=lam)


def a8a(kind: str) -> Problem:
    """Load the whole of a8a: 22,696 rows, 123 sparse columns of zeros and ones."""
    data = load("a8a")
    lam = 1.0 if kind == "C" else 1e-3
    return Problem(f"a8a {kind}", kind, data.X, data.y, lam=lam, certify_all=True)


def growth(n: int, kind: str) -> Problem:
    """Linear, d = 20: the problem that grows."""
    same = gaussians(n, 20, name=f"growth {kind} {n}")
    return same if kind == "C" else replace(same, kind="tau", lam=1e-3)


def build(key: str) -> Problem:
    """Return the problem of a key such as "g200 rbf", "spam", "growth tau 1000", "a8a C"."""
    first, *rest = key.split()
    if first in STORED:
        return stored(first, rest[0])
    if first in PAPER:
        return quantile(first)
    if first == "a8a":
        return a8a(rest[0])
    if first == "growth":
        return growth(int(rest[1]), rest[0])
    return gaussians(int(first.removeprefix("g")), 10, rest[0])


def use_mirror() -> None:
    """Take data files from ../shared/data where that folder is and nothing else was named."""
    mirror = HERE.parents[1] / "shared" / "data"
    if mirror.is_dir():
        os.environ.setdefault("SOLUTION_PATHS_MIRROR", str(mirror))
