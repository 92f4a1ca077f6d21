"""How the variables of a problem read as decisions, and its parameter as the user's."""

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

DECISION_ROUNDING = (
    2.0**-50
)  # of the sum of a decision's absolute terms, which are rounded to 2**-53
TINY = float(np.finfo(np.float64).tiny)
SIGNS = ("sign", "probability", "inside")  # kinds of two labels
NUMBERS = ("value", "robust", "quantile", "count", "rank")  # kinds that predict f itself
KINDS = (*NUMBERS, *SIGNS, "argmax", "order", "nearest")


@dataclass(frozen=True)
class Scale:
    """What the user's parameter and objective are of those of the statement, whose parameter is t.

    Attributes
    ----------
    unit : float
        The parameter is unit times t.
    inverse : bool
        It is unit / t instead.
    divided : bool
        Whether the user's objective is the stated one times the parameter.
    objective : float
        By what it is multiplied, too: duals of the user's objective are those of the stated one
        times all that.
    """

    unit: float = 1.0
    inverse: bool = False
    divided: bool = False
    objective: float = 1.0

    def value(self, t: Floats) -> Floats:
        """Return the parameters of some t."""
        if self.inverse:
            with np.errstate(divide="ignore"):
                return np.asarray(self.unit / np.asarray(t, dtype=np.float64))
        return np.asarray(t if self.unit == 1.0 else self.unit * t)

    def own(self, values: Floats) -> Floats:
        """Return the t of some parameters."""
        if self.inverse:
            return self.value(values)
        return np.asarray(values if self.unit == 1.0 else values / self.unit)


@dataclass(frozen=True, eq=False)
class Reading:
    """How weights w and free variables v read as f(x) = mix (W (x - shifts) + bias v) + offset.

    W has the blocks of w as its rows; with a kernel x is replaced by its kernel values with all
    training rows.

    Attributes
    ----------
    columns : int
        The columns of new rows.
    bias : (b, r) array
        For each of the b blocks, coefficients of the r free variables.
    mix : (o, b) array or None
        Of blocks into o outputs; None for one output a block.
    kernel : Kernel or CentredKernel
    rows : (n, d) array or CSR, or None
        Training rows, where f is of kernel values that are computed here.
    kind : str
        What is predicted, and so by what it may be judged (see `solution.metrics`): f, as a mean
        ("value"), as a centre that far targets hardly move ("robust"), as a quantile ("quantile"),
        the logarithm of an expected count ("count") or a rank ("rank"); the label of its sign
        ("sign"), with the odds of a probability ("probability"), or of what is like the training
        rows ("inside"); the label of the largest output ("argmax"); of the class whose thresholds,
        all free variables, f lies between ("order"); of the nearest of two planes ("nearest").
    classes : labels
    names : names of columns, or None
    offset : float
    shifts : (D,) array or None
        What the statement has taken off the columns; then the bias of each block is its own free
        variable, of one block the first.
    signs : (n,) array or None
        By which duals of the first group of losses are multiplied.
    feature : float
        The value of an appended feature, of which new rows know nothing: of the one block of w the
        last entry is its weight; with a kernel its square is added to all kernel values.
    zero : bool
        Whether f = 0 counts as positive.
    level : float, tuple of float, or None
        Of a quantile its tau, one for each of several outputs; None where that is the parameter.
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
        """Return rows to predict: new columns less the shifts, or their kernel values."""
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
        """Return free variables (k, r) beside columns, or a kernel, that nothing is taken off."""
        if self.shifts is not None and len(self.bias) > 1:
            blocks = w.reshape(len(w), len(self.bias), -1)
            own = [bias_at_zero(b, self.shifts, blocks[:, k].T) for k, b in enumerate(v.T)]
            return np.stack(own, axis=1)
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
        """Return what free variables (k, r), and an appended feature, add to outputs, (k, o)."""
        own = v @ self.bias.T
        if self.feature:
            weight = w[:, -1] if self.linear else self.feature * w.sum(axis=1)
            own = own + self.feature * weight[:, None]
        return np.asarray((own if self.mix is None else own @ self.mix.T) + self.offset)

    def decisions(self, rows: Any, w: Floats, v: Floats) -> Floats:
        """Return f (m, o, k) at checked rows, for k solutions."""
        own = self.coefficients(w)
        k, o, D = own.shape
        f = np.asarray(rows @ own.reshape(k * o, D).T).reshape(rows.shape[0], k, o)
        return np.asarray((f + self._biases(w, v)).transpose(0, 2, 1))

    def positive(self, f: Floats) -> NDArray[np.bool_]:
        """Tell which decisions stand for the larger label."""
        return f >= 0 if self.zero else f > 0

    def sizes(self, rows: Any, w: Floats, v: Floats) -> Floats:
        """Return the sums of absolute terms of all decisions, (m, o, k)."""
        mix = None if self.mix is None else np.abs(self.mix)
        own = replace(
            self,
            bias=np.abs(self.bias),
            mix=mix,
            offset=abs(self.offset),
            feature=abs(self.feature),
        )
        return own.decisions(abs(rows), abs(w), abs(v))

    def labels(self, f: Floats, w: Floats, v: Floats) -> NDArray[Any]:
        """Return predictions (m, k) for decisions (m, o, k) of k solutions."""
        if self.kind in NUMBERS:
            return f[:, 0] if f.shape[1] == 1 else f
        return self.classes[self.codes(f, w, v)]

    def codes(self, f: Floats, w: Floats, v: Floats) -> NDArray[np.int64]:
        """Return labels (m, k), as indices into the classes, of decisions whose ties are exact."""
        if self.kind == "argmax":
            return f.argmax(axis=1)
        if self.kind == "order":
            return self.positive(f[:, 0, :, None] - v).sum(axis=-1)
        if self.kind != "nearest":
            return self.positive(f[:, 0]).astype(np.int64)
        length = np.linalg.norm(self.coefficients(w), axis=2).T
        distance = np.abs(f) / np.where(length > 0, length, np.inf)
        return (distance[:, 1] < distance[:, 0]).astype(np.int64)

    def close(self, f: Floats, v: Floats, off: Floats) -> NDArray[np.bool_]:
        """Tell which labels (m, k) hang on decisions that may be off by so much, (1, o, k)."""
        if self.kind == "argmax":
            top = np.sort(f, axis=1)[:, -2:]
            return np.asarray(top[:, 1] - top[:, 0] <= 2.0 * off.max(axis=1))
        if self.kind == "order":
            apart = np.abs(f[:, 0, :, None] - v) - DECISION_ROUNDING * np.abs(v)
            return np.asarray((apart <= off[:, 0, :, None]).any(axis=-1))
        return np.asarray(np.abs(f[:, 0]) <= off[:, 0])

    def tie(self, f: Floats, v: Floats, off: Floats) -> None:
        """Make ties exact in decisions (m, o, k) that are known but for so much."""
        if self.kind == "argmax":
            best = f.argmax(axis=1)[:, None]
            top = np.take_along_axis(f, best, axis=1)
            f[...] = np.where(f >= top - off - np.take_along_axis(off, best, axis=1), top, f)
        elif self.kind == "order":
            off = off[:, 0, :, None] + DECISION_ROUNDING * np.abs(v)
            near = np.abs(f[:, 0, :, None] - v) <= off
            # of thresholds that f ties with it is on the same side
            last, most = (-np.inf, np.max) if self.zero else (np.inf, np.min)
            f[:, 0] = np.where(near.any(axis=-1), most(np.where(near, v, last), axis=-1), f[:, 0])
        else:
            f[np.abs(f) <= off] = 0.0

    def as_labelled(self, f: Floats, codes: NDArray[np.int64]) -> Floats:
        """Return decisions (m, o), wrong by rounding alone, that stand for known labels."""
        if self.kind in SIGNS:
            least = 0.0 if self.zero else TINY
            positive = np.maximum(f, least)
            return np.where(codes[:, None] > 0, positive, np.minimum(f, TINY * self.zero * -1.0))
        if self.kind == "argmax":
            top, known = f.max(axis=1, keepdims=True), np.arange(f.shape[1]) == codes[:, None]
            return np.where(known, top, np.minimum(f, np.nextafter(top, -np.inf)))
        return f


def usual(problem: Problem) -> Reading | None:
    """Return how a problem reads whose first group of losses is of f(x_i), or None.

    Its rows of free variables must all be alike: their coefficients in f. With a kernel new rows
    are kernel values.
    """
    free = problem.losses[0].free
    B = free.toarray() if sp.issparse(free) else np.asarray(free)
    if np.ptp(B, axis=0).any():
        return None
    kernel = LINEAR if problem.kernel is None else Kernel("precomputed")
    return Reading(problem.features, B[:1, : problem.n_free].copy(), kernel=kernel)
