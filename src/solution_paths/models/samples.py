"""What functions share that state their problem: checked samples, their losses, their reading."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..kernels.centred import Centred, CentredKernel, centred_kernel
from ..kernels.centring import shift_of_targets, shifted, shifts_of
from ..kernels.kernel import LINEAR, MAX_RANK, Kernel, check_kernel, check_room, rows_of_gram
from ..problem import Losses, Pieces, Problem, Product
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
from .varying import held, what_varies

IN_INVERSE = Scale(inverse=True, divided=True)  # a weight lam of the ridge, in t = 1 / lam

__all__ = [
    "IN_INVERSE",
    "Callback",
    "Reading",
    "Samples",
    "Scale",
    "SolutionPath",
    "held",
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
        What has been taken off the columns of X.
    diagonal : float
        What is added to the diagonal of the kernel.
    feature : float
        The value of an appended feature, 0 if there is none: the last column of X or, with a
        kernel, added to it as its square.
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
        own = LINEAR if plain else check_kernel(X, kernel, gamma, degree, coef0)
        if kernel != "precomputed":
            warn_if_badly_scaled(X, names)
        if diagonal > 0 and kernel == "linear":
            own = Kernel("poly", degree=1)  # the same, but its matrix is at hand
        return cls(X, own, names, diagonal=diagonal)

    @cached_property
    def K(self) -> Floats | None:
        """The (n, n) matrix of kernel values, exactly symmetric, to which nobody can write."""
        if self.linear:
            return None
        if self.kernel.name != "precomputed":
            check_room(self.n, self.n, copies=2)
        K = self.kernel(self.X, self.X)
        plain = isinstance(self.kernel, Kernel) and not (self.diagonal or self.feature)
        if plain and not K.flags.writeable and asymmetry(K) == 0.0:  # as it was given
            return K
        given = self.kernel.name == "precomputed"
        found = symmetrised(np.array(K) if given else K, writable=True)
        if self.diagonal or self.feature:
            found += self.feature**2
            found[np.diag_indices_from(found)] += self.diagonal
        found.flags.writeable = False
        return found

    @cached_property
    def factor(self) -> Floats | None:
        """Rows (n, r) whose products are the kernel, where few columns say it all."""
        if self.K is None or self.diagonal:
            return None
        if isinstance(self.kernel, Kernel) and self.kernel.n_monomials(self.X.shape[1]) <= min(
            self.n, MAX_RANK
        ):
            found = self.kernel.monomials(self.X)
            return beside(found, self.feature) if self.feature else found
        alike = self.kernel.name == "rbf" or isinstance(self.kernel, CentredKernel)
        return rows_of_gram(self.K, alike=alike)

    @property
    def linear(self) -> bool:
        """Whether there is no kernel but the product of rows."""
        return self.kernel.name == "linear"

    def centred(self, bias: bool = True) -> Samples:
        """Return samples as near to zero as a bias of the model makes up for.

        Columns that lie far from zero, like a year, lose most of it, and constant ones all; kernel
        values that hardly differ lose what they have in common.
        """
        if not bias:
            return self
        if not self.linear:
            assert isinstance(self.kernel, Kernel)
            return replace(self, kernel=centred_kernel(self.kernel, self.X))
        shifts = shifts_of(self.X)
        return replace(self, X=shifted(self.X, shifts), shifts=shifts) if shifts.any() else self

    def with_feature(self, value: float) -> Samples:
        """Return samples with an appended feature of constant value, whose weight is a bias."""
        X = beside(self.X, value) if self.linear and value else self.X
        return replace(self, X=X, feature=value)

    @property
    def n(self) -> int:
        """The number of samples."""
        return int(self.X.shape[0])

    @property
    def features(self) -> int:
        """The number of coefficients of a linear model, or of a kernel's expansion."""
        return int(self.X.shape[1]) if self.linear else self.n

    @property
    def widest(self) -> float:
        """How far the values of one column are apart, at most."""
        high, low = self.X.max(axis=0), self.X.min(axis=0)
        return float((high - low).max())

    def targets(self, y: ArrayLike, X: Rows, name: str = "y") -> Floats:
        """Check real targets; X is as it was given."""
        check_index(X, y, name)
        return check_vector(y, self.n, name, scalar=False)

    def near_targets(
        self, y: ArrayLike, X: Rows, bias: bool = True, name: str = "y"
    ) -> tuple[Floats, float]:
        """Check real targets; return them less a constant, where they lie far from zero, and it."""
        own = self.targets(y, X, name)
        level = shift_of_targets(own) if bias else 0.0
        return own - level, level

    def labels(self, y: ArrayLike, X: Rows) -> tuple[Floats, Labels]:
        """Check two labels; return them as -1 and +1, and what these stand for."""
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
        """Return losses of f(x_i) + free v, or of combinations of samples by ``rows``."""
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
        """Return how solutions read: f(x) = w.x + bias v + offset.

        With ``signs`` (n,) duals are those of labels: times these. ``zero`` tells whether f = 0 is
        positive. By its kind, and the level of a quantile, a model says what it may be judged by.
        """
        columns = self.X.shape[1] - bool(self.linear and self.feature)
        own = Reading(columns, np.array(bias, dtype=np.float64), kernel=self.kernel)
        given = self.linear or self.kernel == Kernel("precomputed")
        return replace(
            own,
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


def beside(X: Any, value: float) -> Any:
    """Return rows with a constant column appended."""
    column = np.full((X.shape[0], 1), value)
    if sp.issparse(X):
        return sp.csr_array(sp.hstack([X, column], format="csr"))
    return np.hstack([X, column])


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
