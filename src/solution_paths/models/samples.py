"""Checked samples, their losses and their reading: shared by all models."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..kernels.centred import Centred, CentredKernel, centred_kernel
from ..kernels.centring import shift_of_targets, shifted, shifts_of, without_rounding
from ..kernels.kernel import LINEAR, MAX_RANK, Kernel, check_kernel, check_room, rows_of_gram
from ..problem import Losses, Pieces, Problem, Product
from ..problem.maps import frozen
from ..problem.symmetric import asymmetry, symmetrised
from ..solution import Callback, Reading, Scale, SolutionPath
from ..solution.follow import model_path
from ..validation import (
    Floats,
    Labels,
    Names,
    Rows,
    check_index,
    check_labels,
    check_number,
    check_vector,
    check_X,
    feature_names,
    order_of,
    ordered_labels,
    plain_labels,
    warn_if_badly_scaled,
)
from .varying import fixed, what_varies

IN_INVERSE = Scale(inverse=True, divided=True)  # a weight lam of the ridge, in t = 1 / lam

__all__ = [
    "IN_INVERSE",
    "Callback",
    "Reading",
    "Samples",
    "Scale",
    "SolutionPath",
    "fixed",
    "model_path",
    "what_varies",
]


@dataclass(frozen=True, eq=False)
class Samples:
    """Checked samples and their kernel.

    Attributes
    ----------
    X : (n, d) array or CSR; with a precomputed kernel its matrix
    kernel : Kernel or CentredKernel
    names : names of columns, or None
    shifts : (d,) array or None
        Constants that were subtracted from the columns of X.
    diagonal : float
        Added to the diagonal of the kernel matrix.
    feature : float
        The value of an appended constant feature, 0 if there is none: it is the last column of X
        or, with a kernel, its square is added to all kernel values.
    """

    X: Any
    kernel: Centred
    names: Names | None
    shifts: Floats | None = None
    diagonal: float = 0.0
    feature: float = 0.0

    @classmethod
    def of(
        cls,
        X: Rows,
        kernel: str = "linear",
        gamma: float | str | None = None,
        degree: int = 3,
        coef0: float = 0.0,
        diagonal: float = 0.0,
    ) -> Samples:
        """Check samples and their kernel; warn where columns are badly scaled."""
        diagonal = check_number(diagonal, "diagonal", least=0)
        names, X = feature_names(X), check_X(X)
        plain = isinstance(kernel, str) and kernel == "linear"
        chosen = LINEAR if plain else check_kernel(X, kernel, gamma, degree, coef0)
        if kernel != "precomputed":
            warn_if_badly_scaled(X, names)
        if diagonal > 0 and kernel == "linear":
            chosen = Kernel("poly", degree=1)  # the same, but its matrix is at hand
        return cls(X, chosen, names, diagonal=diagonal)

    @cached_property
    def K(self) -> Floats | None:
        """The (n, n) matrix of kernel values, exactly symmetric and read-only."""
        if self.linear:
            return None
        if self.kernel.name != "precomputed":
            check_room(self.n, self.n, copies=2)
        K = self.kernel(self.X, self.X)
        plain = isinstance(self.kernel, Kernel) and not (self.diagonal or self.feature)
        if plain and not K.flags.writeable and asymmetry(K) == 0.0:  # as it was given
            return K
        given = self.kernel.name == "precomputed"
        values = symmetrised(np.array(K) if given else K, writable=True)
        if self.diagonal or self.feature:
            values += self.feature**2
            values[np.diag_indices_from(values)] += self.diagonal
        values.flags.writeable = False
        return values

    @cached_property
    def factor(self) -> Floats | None:
        """A factor (n, r) of the kernel matrix, where few columns suffice; else None."""
        if self.K is None or self.diagonal:
            return None
        if isinstance(self.kernel, Kernel) and self.kernel.n_monomials(self.X.shape[1]) <= min(
            self.n, MAX_RANK
        ):
            rows = self.kernel.monomials(self.X)
            return with_column(rows, self.feature) if self.feature else rows
        alike = self.kernel.name == "rbf" or isinstance(self.kernel, CentredKernel)
        return rows_of_gram(self.K, alike=alike)

    @property
    def linear(self) -> bool:
        """Whether the kernel is linear, so that no kernel matrix is needed."""
        return self.kernel.name == "linear"

    def centred(self, bias: bool = True) -> Samples:
        """Return centred samples, if the model has a bias, which makes up for it.

        A column far from zero, like a year, is shifted near zero, and one that is constant but for
        rounding to zero; of kernel values that hardly differ the common part is subtracted.
        """
        if not bias:
            return self
        if not self.linear:
            assert isinstance(self.kernel, Kernel)
            return replace(self, kernel=centred_kernel(self.kernel, self.X))
        shifts = shifts_of(self.X)
        if not shifts.any():
            return self
        return replace(
            self, X=frozen(without_rounding(shifted(self.X, shifts), shifts)), shifts=shifts
        )

    def with_feature(self, value: float) -> Samples:
        """Return samples with an appended feature of constant value, whose weight is a bias."""
        X = with_column(self.X, value) if self.linear and value else self.X
        return replace(self, X=X, feature=value)

    @property
    def n(self) -> int:
        """The number of samples."""
        return int(self.X.shape[0])

    @property
    def features(self) -> int:
        """The number of coefficients: of columns, or of terms of a kernel's expansion."""
        return int(self.X.shape[1]) if self.linear else self.n

    @property
    def largest_range(self) -> float:
        """The largest range of values in one column."""
        high, low = self.X.max(axis=0), self.X.min(axis=0)
        return float((high - low).max())

    def targets(self, y: ArrayLike, X: Rows, name: str = "y") -> Floats:
        """Check real targets; X is what the user gave."""
        check_index(X, y, name)
        return check_vector(y, self.n, name, scalar=False)

    def centred_targets(
        self, y: ArrayLike, X: Rows, bias: bool = True, name: str = "y"
    ) -> tuple[Floats, float]:
        """Check real targets; return targets minus a level, and the level: 0 if they are near 0."""
        targets = self.targets(y, X, name)
        level = shift_of_targets(targets) if bias else 0.0
        return targets - level, level

    def labels(self, y: ArrayLike, X: Rows) -> tuple[Floats, Labels]:
        """Check two labels; return them as -1 and +1, and the two classes."""
        check_index(X, y, "y")
        return check_labels(y, self.n)

    def classes(self, y: ArrayLike, X: Rows, ordered: bool = False) -> tuple[Any, Labels]:
        """Check labels of two classes or more; return their codes from 0, and the classes."""
        check_index(X, y, "y")
        labels = plain_labels(y, self.n, "y")
        if ordered:
            codes, classes = ordered_labels(labels, order_of(y))
        else:
            classes, codes = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            one = classes.tolist()[0]
            raise ValueError(f"y holds one class only, {one!r}; select rows of two or more.")
        return codes, classes

    def losses(self, pieces: Pieces, free: Any = 1.0, rows: Any = None) -> Losses:
        """Return losses of f(x_i) + free v, or of linear combinations ``rows`` of samples."""
        rows, free = frozen(rows), frozen(free)
        if not self.linear:
            return Losses(pieces, rows, free)
        return Losses(pieces, self.X if rows is None else Product(rows, self.X), free)

    def machine(self, pieces: Pieces, free: Any = 1.0, ridge: float = 1.0) -> Problem:
        """Return ridge/2 ||w||^2 and losses of f(x_i)."""
        return Problem(self.losses(pieces, free), ridge=ridge, kernel=self.K, factor=self.factor)

    def reading(
        self,
        kind: str = "value",
        classes: Any = (),
        bias: Any = ((1.0,),),
        offset: float = 0.0,
        signs: Floats | None = None,
        zero: bool = True,
        level: float | tuple[float, ...] | None = None,
    ) -> Reading:
        """Return the reading of solutions: f(x) = w.x + bias v + offset.

        With ``signs`` (n,) duals are multiplied by them. ``zero`` is whether f = 0 counts as
        positive. ``kind``, and the level of a quantile, decide which errors apply.
        """
        columns = self.X.shape[1] - bool(self.linear and self.feature)
        reading = Reading(columns, np.array(bias, dtype=np.float64), kernel=self.kernel)
        given = self.linear or self.kernel == Kernel("precomputed")
        return replace(
            reading,
            rows=None if given else self.X,
            kind=kind,
            classes=np.asarray(classes),
            names=self.names,
            offset=offset,
            shifts=self.shifts,
            signs=signs,
            feature=self.feature,
            zero=bool(zero),
            level=level,
        )


def with_column(X: Any, value: float) -> Any:
    """Return rows with a constant column appended."""
    column = np.full((X.shape[0], 1), value)
    if sp.issparse(X):
        return frozen(sp.csr_array(sp.hstack([X, column], format="csr")))
    return frozen(np.hstack([X, column]))


def ranked_pairs(n: int, pairs: Any, scores: Any, queries: Any) -> np.ndarray:
    """Return pairs as given, or all pairs of a query whose scores differ."""
    if (pairs is None) == (scores is None):
        raise ValueError("Give either pairs or scores: which rows are to be ranked above others.")
    if pairs is None:
        ranks = check_vector(scores, n, "scores", scalar=False)
        same_query = np.ones((n, n), dtype=bool)
        if queries is not None:
            groups = np.asarray(queries)
            if groups.shape != (n,):
                raise ValueError(
                    f"queries has shape {groups.shape}; give one for each of {n} rows."
                )
            same_query = groups[:, None] == groups
        ranked = np.argwhere((ranks[:, None] > ranks) & same_query)
    else:
        ranked = np.asarray(pairs)
        fits = ranked.ndim == 2 and ranked.shape[1] == 2 and ranked.dtype.kind in "iu"
        if not fits or ranked.min(initial=0) < 0 or ranked.max(initial=0) >= n:
            raise ValueError(f"pairs must be an (m, 2) array of rows, 0 to {n - 1}: correct it.")
    if not len(ranked):
        raise ValueError("There are no pairs to rank: all scores of each query are alike.")
    return ranked
