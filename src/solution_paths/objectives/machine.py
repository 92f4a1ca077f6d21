"""Kernel machines: what the hinge and the tube share, which is all but their losses."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..kernels import LINEAR, Kernel, squared_norms
from ..validation import Names, check_choice, check_number, check_vector
from .base import EPSILON, Floats, Objective, Solution, Terms, check_targets, largest
from .reference import reference_matrix

BIASES = ("free", "feature", "none")


class Model(NamedTuple):
    """Predictions at the training rows (n, B), ||w||^2 (B,), penalised bias included, and b."""

    f: Floats
    norm2: Floats
    b: Floats


@dataclass(frozen=True, eq=False)
class Machine(Objective):
    """min lam/2 ||w||^2 + sum_i C_i(t) loss(y_i, f(x_i)), f(x) = (1/lam) sum_i a_i k(x_i, x) + b.

    Parameters
    ----------
    X : (n, d) array or CSR, or the (n, n) Gram matrix
    y : (n,) array
        Labels -1, +1, or real targets.
    cost0, cost1 : scalars or (n,) arrays
        Costs C_i = cost0_i + t cost1_i at parameter t.
    lam : float
        Weight of ||w||^2 / 2.
    kernel : Kernel
    bias : {"free", "feature", "none"}
        ``feature``: b = intercept_scaling * w_b with w_b under the ridge penalty.
    intercept_scaling : float
        Value of the appended feature; 0 means no bias.
    diagonal : float
        Added to the diagonal of the training kernel matrix; >= 0.
    feature_names : sequence, optional
        Names of the columns of X.
    """

    X: object
    y: Floats
    _: KW_ONLY
    cost0: Floats | float = 1.0
    cost1: Floats | float = 0.0
    lam: float = 1.0
    kernel: Kernel = LINEAR
    bias: str = "free"
    intercept_scaling: float = 1.0
    diagonal: float = 0.0
    feature_names: Names | None = None

    def __post_init__(self) -> None:
        check_choice(self.bias, "bias", BIASES)
        scaling = check_number(self.intercept_scaling, "intercept_scaling")
        self._set(
            y=check_targets(self.y, self.X, len(self.classes) > 0),
            lam=check_number(self.lam, "lam", above=0),
            bias="none" if self.bias == "feature" and scaling == 0.0 else self.bias,
            intercept_scaling=scaling,
            diagonal=check_number(self.diagonal, "diagonal", least=0),
            feature_names=None if self.feature_names is None else tuple(self.feature_names),
            _shared={},
        )
        self._set(**{k: check_vector(getattr(self, k), self.n, k) for k in ("cost0", "cost1")})
        if (self.cost0 < 0).any():
            raise ValueError(f"cost0 must be >= 0 (the least is {self.cost0.min():g}): correct it.")

    def _set(self, **values) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __getstate__(self) -> dict:
        return vars(self) | {"_shared": {}}  # what can be computed again isn't pickled

    # -- data ----------------------------------------------------------------------------------

    def features(self) -> Floats | sp.csr_array:
        """Return X with the bias feature appended, dense or CSR; a new one at each call."""
        if not self.bias_value:
            return sp.csr_array(self.X) if sp.issparse(self.X) else self.X
        column = np.full((self.n, 1), self.bias_value)
        if sp.issparse(self.X):
            return sp.csr_array(sp.hstack([self.X, column], format="csr"))
        return np.hstack([self.X, column])

    def gram(self) -> Floats:
        """Return the (n, n) kernel matrix, bias feature and diagonal included; a new one each time.

        Nothing keeps it: whoever is timed and needs one pays for it.
        """
        K = self.kernel(self.X, self.X)
        if self.bias_value:
            K = K + self.bias_value**2
        return K + self.diagonal * np.eye(self.n) if self.diagonal else K

    def _once(self, name: str, compute) -> Floats:
        """Compute something of the data once for all costs."""
        if name not in self._shared:
            self._shared[name] = compute()
        return self._shared[name]

    @property
    def judged_gram(self) -> Floats:
        """(n, n) kernel matrix by the judge's own code, of the kernel alone."""
        return self._once("judged_gram", lambda: reference_matrix(self.X, self.kernel))

    @property
    def norms(self) -> Floats:
        """The norms of the training rows in feature space, the penalised bias included."""
        return self._once("norms", self._norms)

    def _norms(self) -> Floats:
        own = squared_norms(self.X) if self.linear else np.maximum(self.judged_gram.diagonal(), 0)
        return np.sqrt(own + self.bias_value**2 + self.diagonal)

    # -- the objective at one value of the parameter -------------------------------------------

    @property
    def free_bias(self) -> bool:
        """Whether b is free, so that the duals must balance."""
        return self.bias == "free"

    @property
    def bias_value(self) -> float:
        """Value of the appended feature; 0 when there is none."""
        return self.intercept_scaling if self.bias == "feature" else 0.0

    def costs(self, t=0.0) -> Floats:
        """Return the (n,) or (n, B) costs C_i at t, a scalar or (B,)."""
        if np.ndim(t):
            return np.maximum(self.cost0[:, None] + self.cost1[:, None] * t, 0.0)
        return np.maximum(self.cost0 + self.cost1 * t, 0.0)

    def with_costs(self, cost0, cost1=0.0) -> Machine:
        """Return the same data with other costs; what was computed from the data is shared."""
        return self._with(cost0=cost0, cost1=cost1)

    def _with(self, **changes) -> Machine:
        other = replace(self, **changes)
        other._set(_shared=self._shared)
        return other

    def at(self, t: float) -> Machine:
        """Return the objective at t, where it no longer depends on a parameter."""
        return self.with_costs(self.costs(t))

    @property
    def moves(self) -> bool:
        """Whether it depends on a parameter."""
        return bool(self.cost1.any())

    # -- prediction ----------------------------------------------------------------------------

    def solution(self, A: Floats) -> Solution:
        """Read a path's coordinates, (N,) or (N, B): the duals, then minus a free bias."""
        return Solution(A[: self.n], b=-A[self.n] if self.free_bias else None)

    def coefs(self, s: Solution) -> Floats:
        """Return w of a linear model, (d,) or (d, B)."""
        return np.asarray(self.X.T @ s.a) / self.lam if s.w is None else s.w

    def intercepts(self, s: Solution) -> Floats:
        """Return b."""
        if s.b is not None:
            return s.b
        return np.zeros(s.w.shape[1:]) if s.a is None else self._implied_bias(s.a)

    def _implied_bias(self, a: Floats) -> Floats:
        return self.bias_value**2 * a.sum(axis=0) / self.lam

    def decision(self, X_new, s: Solution) -> Floats:
        """Return f at the rows of X_new, (m,) or (m, B)."""
        if self.linear:
            return np.asarray(X_new @ self.coefs(s)) + self.intercepts(s)
        return self.kernel(X_new, self.X) @ s.a / self.lam + self.intercepts(s)

    # -- judgement -----------------------------------------------------------------------------

    def states_enough(self, s: Solution) -> bool:
        """Tell whether one solution determines a model of this kind, in arrays of right shapes."""
        if s.a is None and (s.w is None or self.diagonal):
            return False
        if s.b is None and (self.free_bias or (s.a is None and self.bias_value)):
            return False
        if self.bias == "none" and s.b is not None and np.any(s.b):
            return False
        if s.w is not None and (not self.linear or s.w.shape != self.X.shape[1:]):
            return False
        return s.a is None or s.a.shape == self.y.shape

    def terms(self, t: Floats, s: Solution) -> Terms:
        """Return what there is to know of solutions in columns at parameters t (B,)."""
        cost = self.costs(t)
        floor = np.where(cost.max(axis=0) > 0, 0.0, 1.0)  # all costs zero: the gap is absolute
        if s.a is None:
            model = self._stated(s, None)
            rounding = self._rounding(cost, model.b, np.sqrt(model.norm2))
            unknown = np.full(len(floor), np.nan)
            return Terms(self._primal(model, cost, t), None, rounding, unknown, 0 * floor, floor)
        unit = largest(cost)
        implied = self._implied(s)
        stated = s.w is not None or (s.b is not None and not self.free_bias)
        model = self._stated(s, implied) if stated else implied
        dual = self.dual_gain(s.a, t) - self.lam / 2 * implied.norm2
        infeasible = (self.outside(s.a, cost) / unit).max(axis=0)
        if self.free_bias:
            infeasible = np.maximum(infeasible, np.abs(s.a.sum(axis=0)) / unit)
        kkt = np.maximum(self.wrong(model.f, s.a, cost, unit, t).max(axis=0), infeasible)
        if stated:
            kkt = np.maximum(kkt, self._distance(s, model, implied))
        rounding = self._rounding(cost, model.b, self.norms @ np.abs(s.a) / self.lam)
        return Terms(self._primal(model, cost, t), dual, rounding, kkt, infeasible, floor)

    def _primal(self, model: Model, cost: Floats, t) -> Floats:
        return self.lam / 2 * model.norm2 + (cost * self.loss(model.f, t)).sum(axis=0)

    def _implied(self, s: Solution) -> Model:
        """Return the model whose expansion has these duals; only a free bias must be stated."""
        b = s.b if self.free_bias else self._implied_bias(s.a)
        own = self.diagonal * s.a / self.lam
        if self.linear:
            f = np.asarray(self.X @ (np.asarray(self.X.T @ s.a) / self.lam)) + b + own
        else:
            f = self.judged_gram @ s.a / self.lam + b + own
        penalised = f - b if self.free_bias else f
        return Model(f, (s.a * penalised).sum(axis=0) / self.lam, b)

    def _stated(self, s: Solution, implied: Model | None) -> Model:
        """Return the model as stated; what isn't stated is what its duals imply."""
        if s.w is None:  # the bias alone is stated
            square = implied.norm2 - self._bias2(implied.b) + self._bias2(s.b)
            return Model(implied.f - implied.b + s.b, square, s.b)
        b = self.intercepts(s)
        f, square = np.asarray(self.X @ s.w) + b, (s.w**2).sum(axis=0) + self._bias2(b)
        if self.diagonal:
            own = self.diagonal * s.a / self.lam
            f, square = f + own, square + (own * s.a).sum(axis=0) / self.lam
        return Model(f, square, b)

    def _bias2(self, b: Floats) -> Floats:
        """Return a bias's part of ||w||^2: infinite where there may be no bias."""
        if self.free_bias:
            return np.zeros_like(b)
        return (b / self.bias_value) ** 2 if self.bias_value else np.where(b == 0, 0.0, np.inf)

    def _distance(self, s: Solution, model: Model, implied: Model) -> Floats:
        """Return ||w - w(a)|| relative to the larger of the two, the penalised bias included."""
        off = self._bias2(model.b - implied.b)
        if s.w is not None:
            off = off + ((s.w - np.asarray(self.X.T @ s.a) / self.lam) ** 2).sum(axis=0)
        size = np.maximum(np.maximum(model.norm2, implied.norm2), np.finfo(float).tiny)
        return np.sqrt(off / size)

    def _rounding(self, cost: Floats, b: Floats, length: Floats) -> Floats:
        """Return 4 epsilon times the sizes of what is summed, times costs: see `Certificate`."""
        shift = (np.abs(b) + np.abs(self.y).max()) * cost
        return 4 * EPSILON * (length * (self.norms @ cost) + shift.sum(axis=0))
