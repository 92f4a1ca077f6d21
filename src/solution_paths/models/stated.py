"""What functions share that state their problem: checked samples, their losses, their reading."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..kernels import LINEAR, Kernel, check_kernel, check_room
from ..objectives.centring import less, shift_of_targets, shifts_of
from ..problem import Losses, Pieces, Problem, Product
from ..solution import Callback, Reading, Scale, SolutionPath, solution_path
from ..validation import (
    Floats,
    Labels,
    Names,
    Rows,
    check_index,
    check_labels,
    check_vector,
    check_X,
    feature_names,
    plain_labels,
    warn_if_badly_scaled,
)

IN_INVERSE = Scale(inverse=True, divided=True)  # a weight lam of the ridge, in t = 1 / lam

__all__ = [
    "IN_INVERSE",
    "Callback",
    "Reading",
    "Samples",
    "Scale",
    "SolutionPath",
    "end_of",
    "solution_path",
]


@dataclass(frozen=True, eq=False)
class Samples:
    """Checked samples, and their matrix of kernel values if they have one.

    Attributes
    ----------
    X : (n, d) array or CSR; with a precomputed kernel its matrix
    kernel : Kernel
    names : names of columns, or None
    K : (n, n) array or None
    shifts : (d,) array or None
        What has been taken off the columns of X.
    """

    X: Any
    kernel: Kernel
    names: Names | None
    K: Floats | None
    shifts: Floats | None = None

    @classmethod
    def of(
        cls,
        X: Rows,
        kernel: str = "linear",
        gamma: float | str | None = None,
        degree: int = 3,
        coef0: float = 0.0,
    ) -> Samples:
        """Check samples and their kernel; warn where columns are badly scaled."""
        names, X = feature_names(X), check_X(X)
        if kernel == "linear":
            warn_if_badly_scaled(X, names)
            return cls(X, LINEAR, names, None)
        own = check_kernel(X, kernel, gamma, degree, coef0)
        if kernel == "precomputed":
            return cls(X, own, names, _symmetric(X))
        warn_if_badly_scaled(X, names)
        check_room(X.shape[0], X.shape[0], copies=2)
        return cls(X, own, names, _symmetric(own(X, X)))

    def centred(self, bias: bool = True) -> Samples:
        """Return samples whose columns are near zero, if a bias of the model makes up for it.

        Those that lie far from zero, like a year, lose most of it, and constant ones all.
        """
        if self.kernel.name != "linear" or not bias:
            return self
        shifts = shifts_of(self.X)
        return replace(self, X=less(self.X, shifts), shifts=shifts) if shifts.any() else self

    @property
    def n(self) -> int:
        """The number of samples."""
        return int(self.X.shape[0])

    @property
    def features(self) -> int:
        """The number of coefficients of a linear model, or of a kernel's expansion."""
        return int(self.X.shape[1]) if self.K is None else self.n

    def targets(self, y: ArrayLike, X: Rows) -> Floats:
        """Check real targets; X is as it was given."""
        check_index(X, y, "y")
        return check_vector(y, self.n, "y", scalar=False)

    def near_targets(self, y: ArrayLike, X: Rows, bias: bool = True) -> tuple[Floats, float]:
        """Check real targets; return them less a constant, where they lie far from zero, and it."""
        own = self.targets(y, X)
        level = shift_of_targets(own) if bias else 0.0
        return own - level, level

    def labels(self, y: ArrayLike, X: Rows) -> tuple[Floats, Labels]:
        """Check two labels; return them as -1 and +1, and what these stand for."""
        check_index(X, y, "y")
        return check_labels(y, self.n)

    def classes(self, y: ArrayLike, X: Rows) -> tuple[Any, Labels]:
        """Check labels of two classes or more; return their codes from 0, and the classes."""
        check_index(X, y, "y")
        classes, codes = np.unique(plain_labels(y, self.n, "y"), return_inverse=True)
        if len(classes) < 2:
            one = classes.tolist()[0]
            raise ValueError(f"y holds one class only, {one!r}; select rows of two or more.")
        return codes, classes

    def losses(self, pieces: Pieces, free: Any = 1.0, rows: Any = None) -> Losses:
        """Return losses of f(x_i) + free v, or of combinations of samples by ``rows``."""
        if self.K is not None:
            return Losses(pieces, rows, free)
        return Losses(pieces, self.X if rows is None else Product(rows, self.X), free)

    def machine(self, pieces: Pieces, free: Any = 1.0, ridge: float = 1.0) -> Problem:
        """Return ridge/2 ||w||^2 and losses of f(x_i)."""
        return Problem(self.losses(pieces, free), ridge=ridge, kernel=self.K)

    def reading(
        self, kind: str = "value", classes: Any = (), bias: Any = ((1.0,),), offset: float = 0.0
    ) -> Reading:
        """Return how solutions read: f(x) = w.x + bias v + offset."""
        own = Reading(self.X.shape[1], np.array(bias, dtype=np.float64), kernel=self.kernel)
        rows = self.X if self.kernel.name in ("rbf", "poly") else None
        return replace(
            own,
            rows=rows,
            kind=kind,
            classes=np.asarray(classes),
            names=self.names,
            offset=offset,
            shifts=self.shifts,
        )


def end_of(least: float) -> float:
    """Return where a path in 1 / lam ends that goes down to the least lam, if not to 0."""
    if least == 0.0:
        return float("inf")
    end = 1.0 / least
    return end if 1.0 / end <= least else float(np.nextafter(end, np.inf))


def _symmetric(K: Any) -> Floats:
    """Return a matrix that is exactly symmetric, and that nobody can write to."""
    found: Floats = np.asarray((K + K.T) / 2)
    found.flags.writeable = False
    return found


def ranked_pairs(n: int, pairs: Any, scores: Any, queries: Any) -> np.ndarray:
    """Return pairs as they are given, or as scores make them."""
    if (pairs is None) == (scores is None):
        raise ValueError("Give either pairs or scores: which rows are to be ranked above others.")
    if pairs is None:
        own = check_vector(scores, n, "scores", scalar=False)
        same = np.ones((n, n), dtype=bool)
        if queries is not None:
            groups = np.asarray(queries)
            if groups.shape != (n,):
                raise ValueError(
                    f"queries has shape {groups.shape}; give one for each of {n} rows."
                )
            same = groups[:, None] == groups
        found = np.argwhere((own[:, None] > own) & same)
    else:
        found = np.asarray(pairs)
        fits = found.ndim == 2 and found.shape[1] == 2 and found.dtype.kind in "iu"
        if not fits or found.min(initial=0) < 0 or found.max(initial=0) >= n:
            raise ValueError(f"pairs must be an (m, 2) array of rows, 0 to {n - 1}: correct it.")
    if not len(found):
        raise ValueError("There are no pairs to rank: all scores of each query are alike.")
    return found
