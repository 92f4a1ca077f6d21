"""Readings: how a problem's variables give decisions, and its parameter that of the user."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..kernels.centred import Centred, CentredKernel, plain_kernel
from ..kernels.centring import bias_at_zero, shifted
from ..kernels.kernel import LINEAR, Kernel
from ..problem import Problem
from ..validation import Floats, Labels, Names, Rows, _check_names, check_X, feature_names
from .tolerances import ROUNDED

SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)
SIGNS = ("sign", "probability", "inside")  # kinds with two labels
NUMBERS = ("value", "robust", "quantile", "count", "rank")  # kinds that predict f itself
KINDS = (*NUMBERS, *SIGNS, "argmax", "order", "nearest")


@dataclass(frozen=True)
class Scale:
    """The user's parameter and objective, in terms of those of the statement with parameter t.

    Attributes
    ----------
    unit : float
        The user's parameter is unit times t.
    inverse : bool
        Whether it is unit / t instead.
    divided : bool
        Whether the user's objective is the stated one times the parameter.
    objective : float
        A further factor of the user's objective. The duals have the same factors.
    """

    unit: float = 1.0
    inverse: bool = False
    divided: bool = False
    objective: float = 1.0

    def value(self, t: Floats) -> Floats:
        """Return the user's parameters for some t."""
        if self.inverse:
            with np.errstate(divide="ignore"):
                return np.asarray(self.unit / np.asarray(t, dtype=np.float64))
        return np.asarray(t if self.unit == 1.0 else self.unit * t)

    def statement_value(self, values: Floats) -> Floats:
        """Return the t of some of the user's parameters."""
        if self.inverse:
            return self.value(values)
        return np.asarray(values if self.unit == 1.0 else values / self.unit)


@dataclass(frozen=True, eq=False)
class Reading:
    """How weights w and free variables v read as f(x) = mix (W (x - shifts) + bias v) + offset.

    The rows of W are the blocks of w; with a kernel, x is replaced by its kernel values with all
    training rows.

    Attributes
    ----------
    columns : int
        The number of columns of new rows.
    bias : (b, r) array
        For each of the b blocks, coefficients of the r free variables.
    mix : (o, b) array or None
        Combines blocks into o outputs; None for one output a block.
    kernel : Kernel or CentredKernel
    rows : (n, d) array or CSR, or None
        Training rows, if kernel values with them are computed here.
    kind : str
        What is predicted, which decides by what it may be judged (see `solution.metrics`). It is f:
        a mean ("value"), a robust centre ("robust"), a quantile ("quantile"), the logarithm of an
        expected count ("count") or a rank ("rank"). Or it is a label: by the sign of f ("sign"), by
        the sign of the log odds of a probability ("probability"), inlier or outlier ("inside"), by
        the largest output ("argmax"), by the thresholds (all free variables) between which f lies
        ("order"), or by the nearest of two planes ("nearest").
    classes : labels
    names : names of columns, or None
    offset : float
    shifts : (D,) array or None
        The shifts of the columns in the statement. Then each block has a free variable of its own
        as bias; with a single block it is the first one.
    signs : (n,) array or None
        Factors of the duals of the first group of losses.
    feature : float
        The value of an appended feature, which new rows don't contain. The last entry of the only
        block of w is its weight; with a kernel its square is added to all kernel values.
    zero : bool
        Whether f = 0 counts as positive.
    level : float, tuple of float, or None
        The tau of a quantile, one for each of several outputs; None if tau is the parameter.
    """

    columns: int
    bias: Floats
    mix: Floats | None = None
    kernel: Centred = LINEAR
    rows: Any = None
    kind: str = "value"
    classes: Labels = field(default_factory=lambda: np.empty(0))
    names: Names | None = None
    offset: float = 0.0
    shifts: Floats | None = None
    signs: Floats | None = None
    feature: float = 0.0
    zero: bool = True
    level: float | tuple[float, ...] | None = None

    @property
    def linear(self) -> bool:
        """Whether f has coefficients."""
        return self.kernel.name == "linear"

    @property
    def outputs(self) -> int:
        """The number o of outputs."""
        return len(self.bias if self.mix is None else self.mix)

    def checked(self, X_new: Rows, name: str = "X_new") -> Any:
        """Return checked rows to predict: less the shifts, or their kernel values."""
        _check_names(feature_names(X_new), self.names, name)
        X_new = check_X(X_new, name, copy=False)
        if X_new.shape[1] != self.columns:
            remedy = "the same columns"
            if self.kernel.name == "precomputed":
                remedy = "one kernel value for each training row"
            raise ValueError(
                f"{name} has {X_new.shape[1]} columns, but the path was computed with "
                f"{self.columns}; pass {remedy}."
            )
        if self.rows is None:
            return X_new if self.shifts is None else shifted(X_new, self.shifts)
        if self.kernel.name == "poly":
            plain_kernel(self.kernel).check_sizes(X_new, name)
        return self.kernel(X_new, self.rows)

    def coefficients(self, w: Floats) -> Floats:
        """Return the coefficients (k, o, D) of weights (k, b D)."""
        w = w[:, :-1] if self.linear and self.feature else w
        blocks = w.reshape(len(w), len(self.bias), w.shape[1] // len(self.bias))
        return (
            blocks if self.mix is None else np.asarray(np.einsum("ob,kbd->kod", self.mix, blocks))
        )

    def free(self, w: Floats, v: Floats) -> Floats:
        """Return free variables (k, r) for columns without shifts, or a kernel without centring."""
        if self.shifts is not None and len(self.bias) > 1:
            blocks = w.reshape(len(w), len(self.bias), -1)
            biases = [bias_at_zero(b, self.shifts, blocks[:, k].T) for k, b in enumerate(v.T)]
            return np.stack(biases, axis=1)
        if self.shifts is not None:
            bias = bias_at_zero(v[:, 0], self.shifts, w.T)
        elif isinstance(self.kernel, CentredKernel):
            bias = v[:, 0] - self.kernel.bias_correction(self.rows, w.T)
        else:
            return v
        return np.concatenate([bias[:, None], v[:, 1:]], axis=1)

    def intercepts(self, w: Floats, v: Floats) -> Floats:
        """Return the intercepts (k, o) of weights (k, b D) and free variables (k, r)."""
        return self._biases(w, self.free(w, v))

    def _biases(self, w: Floats, v: Floats) -> Floats:
        """Return the constant terms (k, o) of outputs: free variables and an appended feature."""
        biases = v @ self.bias.T
        if self.feature:
            weight = w[:, -1] if self.linear else self.feature * w.sum(axis=1)
            biases = biases + self.feature * weight[:, None]
        return np.asarray((biases if self.mix is None else biases @ self.mix.T) + self.offset)

    def decisions(self, rows: Any, w: Floats, v: Floats) -> Floats:
        """Return f (m, o, k) at checked rows for k solutions."""
        coefficients = self.coefficients(w)
        k, o, D = coefficients.shape
        f = np.asarray(rows @ coefficients.reshape(k * o, D).T).reshape(rows.shape[0], k, o)
        return np.asarray((f + self._biases(w, v)).transpose(0, 2, 1))

    def positive(self, f: Floats) -> NDArray[np.bool_]:
        """Tell which decisions predict the larger label."""
        return f >= 0 if self.zero else f > 0

    def sizes(self, rows: Any, w: Floats, v: Floats) -> Floats:
        """Return the sums of absolute terms of all decisions, (m, o, k)."""
        mix = None if self.mix is None else np.abs(self.mix)
        absolute = replace(
            self,
            bias=np.abs(self.bias),
            mix=mix,
            offset=abs(self.offset),
            feature=abs(self.feature),
        )
        return absolute.decisions(abs(rows), abs(w), abs(v))

    def labels(self, f: Floats, w: Floats, v: Floats) -> NDArray[Any]:
        """Return predictions (m, k) for decisions (m, o, k) of k solutions."""
        if self.kind in NUMBERS:
            return f[:, 0] if f.shape[1] == 1 else f
        return self.classes[self.codes(f, w, v)]

    def codes(self, f: Floats, w: Floats, v: Floats) -> NDArray[np.int64]:
        """Return labels (m, k), as indices into the classes, for decisions with exact ties."""
        if self.kind == "argmax":
            return f.argmax(axis=1)
        if self.kind == "order":
            return self.positive(f[:, 0, :, None] - v).sum(axis=-1)
        if self.kind != "nearest":
            return self.positive(f[:, 0]).astype(np.int64)
        length = np.linalg.norm(self.coefficients(w), axis=2).T
        distance = np.abs(f) / np.where(length > 0, length, np.inf)
        return (distance[:, 1] < distance[:, 0]).astype(np.int64)

    def is_doubtful(self, f: Floats, v: Floats, bounds: Floats) -> NDArray[np.bool_]:
        """Tell which labels (m, k) may change within error bounds (1, o, k) of decisions."""
        if self.kind == "argmax":
            top = np.sort(f, axis=1)[:, -2:]
            return np.asarray(top[:, 1] - top[:, 0] <= 2.0 * bounds.max(axis=1))
        if self.kind == "order":
            distances = np.abs(f[:, 0, :, None] - v) - ROUNDED * np.abs(v)
            return np.asarray((distances <= bounds[:, 0, :, None]).any(axis=-1))
        return np.asarray(np.abs(f[:, 0]) <= bounds[:, 0])

    def snap_ties(self, f: Floats, v: Floats, bounds: Floats) -> None:
        """Make ties exact in decisions (m, o, k) with given error bounds."""
        if self.kind == "argmax":
            best = f.argmax(axis=1)[:, None]
            top = np.take_along_axis(f, best, axis=1)
            f[...] = np.where(f >= top - bounds - np.take_along_axis(bounds, best, axis=1), top, f)
        elif self.kind == "order":
            bounds = bounds[:, 0, :, None] + ROUNDED * np.abs(v)
            near = np.abs(f[:, 0, :, None] - v) <= bounds
            # f is on the same side of all thresholds with which it ties
            fill, nearest = (-np.inf, np.max) if self.zero else (np.inf, np.min)
            f[:, 0] = np.where(
                near.any(axis=-1), nearest(np.where(near, v, fill), axis=-1), f[:, 0]
            )
        else:
            f[np.abs(f) <= bounds] = 0.0

    def consistent_with_labels(self, f: Floats, codes: NDArray[np.int64]) -> Floats:
        """Return decisions (m, o), corrected within rounding to agree with known labels."""
        if self.kind in SIGNS:
            least = 0.0 if self.zero else SMALLEST_NORMAL
            positive = np.maximum(f, least)
            return np.where(
                codes[:, None] > 0, positive, np.minimum(f, SMALLEST_NORMAL * self.zero * -1.0)
            )
        if self.kind == "argmax":
            top, is_label = f.max(axis=1, keepdims=True), np.arange(f.shape[1]) == codes[:, None]
            return np.where(is_label, top, np.minimum(f, np.nextafter(top, -np.inf)))
        return f


def default_reading(problem: Problem) -> Reading | None:
    """Return the reading of a problem whose first group of losses has the values f(x_i), or None.

    All its rows must have the same coefficients of free variables. With a kernel, new rows are
    kernel values.
    """
    free = problem.losses[0].free
    B = free.toarray() if sp.issparse(free) else np.asarray(free)
    if np.ptp(B, axis=0).any():
        return None
    kernel = LINEAR if problem.kernel is None else Kernel("precomputed")
    return Reading(problem.features, B[:1, : problem.n_free].copy(), kernel=kernel)
