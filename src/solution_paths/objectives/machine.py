"""Kernel machines: what the hinge and the tube share, which is all but their losses."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..kernels import LINEAR, Kernel, squared_norms
from ..validation import Names, check_choice, check_number, check_vector
from .base import (
    TRUSTED,
    Floats,
    Objective,
    Solution,
    Terms,
    check_targets,
    largest,
    nearest,
    slope_of_gap,
)
from .centred_kernel import Centred, CentredKernel, centred_kernel
from .centring import bias_at_zero, less, shift_of_targets, shifts_of
from .exact import (
    UNIT,
    add,
    affine,
    column_sums,
    divide,
    multiply,
    relative,
    rows_times,
    transposed,
)
from .reference import reference_matrix

BIASES = ("free", "feature", "none")


class Model(NamedTuple):
    """What a model says at the training rows.

    ``f + f_low`` (n, B) are predictions in two parts, each right within ``off``; ``norm2`` (B,) is
    ||w||^2 with a penalised bias, right within ``norm2_off``.
    """

    f: Floats
    f_low: Floats
    off: Floats
    norm2: Floats
    norm2_off: Floats


class Conditions(NamedTuple):
    """What a loss asks of each sample and its dual; arrays are (n, B).

    A loss may have a *wall*, a value that its sample may not pass; the dual of a sample at its
    wall goes beyond its box by the wall's ``force``.

    Attributes
    ----------
    cost : the dual's box is [0, cost]
    short, beyond : see `shortfalls`
    alpha : sizes of duals without their walls' forces; None where there are no duals
    force, distance : of walls, both >= 0; zeros where there are none
    constant : (B,) what the loss is above the one with this cost
    """

    cost: Floats
    short: Floats
    beyond: Floats
    alpha: Floats | None
    force: Floats | float = 0.0
    distance: Floats | float = 0.0
    constant: Floats | float = 0.0


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

    X: Any
    y: Floats
    _: KW_ONLY
    cost0: Any = 1.0  # (n,) floats once it is made
    cost1: Any = 0.0
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
        """Return rows whose products are `gram`, without the diagonal; a new one at each call.

        They are X, dense or CSR, or a polynomial kernel's monomials; and the bias feature.
        """
        X = self.X if self.linear else self.kernel.monomials(self.X)
        if not self.bias_value:
            return sp.csr_array(X) if sp.issparse(X) else X
        column = np.full((self.n, 1), self.bias_value)
        if sp.issparse(X):
            return sp.csr_array(sp.hstack([X, column], format="csr"))
        return np.hstack([X, column])

    def gram(self) -> Floats:
        """Return the (n, n) kernel matrix, bias feature and diagonal included; a new one each time.

        Nothing keeps it: whoever is timed and needs one pays for it.
        """
        K = self.kernel(self.X, self.X)
        if self.bias_value:
            K = K + self.bias_value**2
        return K + self.diagonal * np.eye(self.n) if self.diagonal else K

    @property
    def shifts(self) -> Floats:
        """What may be taken off the columns of X beside a free bias, (d,)."""
        return self._once("shifts", lambda: shifts_of(self.X))

    @property
    def shifted(self) -> bool:
        """Whether a path is walked with other rows than `features`."""
        return self.linear and self.free_bias and bool(self.shifts.any())

    @property
    def centred(self) -> Floats | sp.csr_array:
        """X, or rows that are as good beside a free bias, and better known."""
        return self._once("centred", lambda: less(self.X, self.shifts)) if self.shifted else self.X

    def walked(self) -> Floats | sp.csr_array:
        """Return the rows that a path is walked with: `features`, or as good."""
        return self.centred if self.shifted else self.features()

    @property
    def target_shift(self) -> float:
        """What is taken off real targets beside a free bias."""
        if len(self.classes) or not self.free_bias:
            return 0.0
        return self._once("target_shift", lambda: shift_of_targets(self.y))

    def centred_gram(self) -> Floats:
        """Return what is as good as `gram` beside a free bias, and better known; a new one."""
        if not self.free_bias:
            return self.gram()
        K = self.centred_kernel(self.centred, self.centred)
        return K + self.diagonal * np.eye(self.n) if self.diagonal else K

    @property
    def centred_kernel(self) -> Centred:
        """The kernel, or one that is as good beside a free bias, and better known."""
        if not self.free_bias:
            return self.kernel
        return self._once("centred_kernel", lambda: centred_kernel(self.kernel, self.X))

    @property
    def bias_units(self) -> Floats:
        """What a unit of each sample's dual adds to the coefficient of a bias's feature, (n,)."""
        return np.full(self.n, 1.0 if self.bias_value else 0.0)

    def _made_up_for(self, a: Floats) -> Floats:
        """Return by how much b beside `centred_kernel` is more than beside the kernel itself."""
        kernel = self.centred_kernel
        if not isinstance(kernel, CentredKernel):
            return np.zeros(a.shape[1:])
        return kernel.made_up_for(self.X, a.reshape(self.n, -1)).reshape(a.shape[1:]) / self.lam

    def _once(self, name: str, compute) -> Floats:
        """Compute something of the data once for all costs."""
        if name not in self._shared:
            self._shared[name] = compute()
        return self._shared[name]

    @property
    def judged_gram(self) -> Floats:
        """(n, n) matrix of `centred_kernel` by the judge's own code."""
        return self._once("judged_gram", lambda: reference_matrix(self.X, self.centred_kernel))

    @property
    def _sizes(self) -> Floats:
        """|K|, which mostly is K."""
        least = self._once("least", lambda: self.judged_gram.min())
        return self.judged_gram if least >= 0 else np.abs(self.judged_gram)

    @property
    def _largest_entries(self) -> Floats:
        K = self.judged_gram
        return self._once("largest", lambda: np.maximum(K.max(axis=1), -K.min(axis=1)))

    @property
    def rows(self) -> Floats | sp.csr_array:
        """The training rows as the judge's sums take them: C-contiguous, or CSR."""
        return self._once("rows", self._rows)

    def _rows(self) -> Floats | sp.csr_array:
        if sp.issparse(self.X):
            return sp.csr_array(self.X).astype(np.float64)
        return np.ascontiguousarray(self.X, dtype=np.float64)

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

    def costs(self, t=0.0, low: Floats | float = 0.0) -> Floats:
        """Return the (n,) or (n, B) costs C_i at t + low, a scalar or (B,), rounded once."""
        at, rest = np.atleast_1d(np.asarray(t, dtype=np.float64)), np.atleast_1d(low)
        costs = affine(self.cost0, self.cost1, at, np.broadcast_to(rest, at.shape))[0]
        return np.maximum(costs if np.ndim(t) else costs[:, 0], 0.0)

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
        """Read a path's coordinates, (N,) or (N, B): the duals, then minus a free bias.

        b is the bias beside `centred_kernel`; `intercepts` is that beside the kernel itself.
        """
        a = A[: self.n]
        if not self.free_bias:
            return Solution(a)
        w = self.centred.T @ a / self.lam if self.shifted else None
        return Solution(a, b=self.unshifted(-A[self.n], w))

    def unshifted(self, b: Floats, w: Floats | None = None) -> Floats:
        """Return the bias beside X and y, given that beside `walked` rows and targets.

        Of a linear model w (d, B) is asked for.
        """
        if self.shifted:
            return bias_at_zero(b, self.shifts, w, self.target_shift)
        return b + self.target_shift

    def coefs(self, s: Solution) -> Floats:
        """Return w of a linear model, (d,) or (d, B)."""
        return np.asarray(self.X.T @ s.a) / self.lam if s.w is None else s.w

    def intercepts(self, s: Solution) -> Floats:
        """Return b beside the kernel itself."""
        b, a = self._own_bias(s), self._weights(s)
        return b if a is None else b - self._made_up_for(a)

    def _own_bias(self, s: Solution) -> Floats:
        if s.b is not None:
            return s.b
        a = self._weights(s)
        return np.zeros(s.w.shape[1:]) if a is None else self._implied_bias(a)

    def _weights(self, s: Solution) -> Floats | None:
        """Return what f is the kernel expansion of: the duals, unless others are stated for it."""
        return s.a if self.linear or s.w is None else s.w

    def stated(self, answer) -> Solution:
        """Read what others state: their b is that beside the kernel itself."""
        s = super().stated(answer)
        if s.b is None or s.a is None or s.a.shape != self.y.shape:
            return s
        return s._replace(b=s.b + self._made_up_for(s.a))

    def _implied_bias(self, a: Floats) -> Floats:
        return self.bias_value**2 * a.sum(axis=0) / self.lam

    def decision(self, X_new, s: Solution) -> Floats:
        """Return f at the rows of X_new, (m,) or (m, B)."""
        if self.linear:
            return np.asarray(X_new @ self.coefs(s)) + self.intercepts(s)
        own = self.centred_kernel(X_new, self.X) @ self._weights(s)
        return own / self.lam + self._own_bias(s)

    # -- judgement -----------------------------------------------------------------------------

    def states_enough(self, s: Solution) -> bool:
        """Tell whether one solution determines a model of this kind, in arrays of right shapes."""
        if s.a is None and (s.w is None or self.diagonal):
            return False
        if s.b is None and (self.free_bias or (s.a is None and self.bias_value)):
            return False
        if self.bias == "none" and s.b is not None and np.any(s.b):
            return False
        if s.w is not None and s.w.shape != (self.X.shape[1:] if self.linear else self.y.shape):
            return False
        return s.a is None or s.a.shape == self.y.shape

    def terms(
        self, t: Floats, s: Solution, exact: bool = False, low: Floats | float = 0.0
    ) -> Terms:
        """Return what there is to know of solutions in columns at parameters t + low (B,).

        In double precision, or ``exact``: sums in twice that, wherever they decide.
        """
        full = self.costs(t, low)
        # all costs zero: the gap is absolute
        floor = np.where(full.max(axis=0) > 0, self.floor(s.a, full), 1.0)
        if s.a is None:
            everywhere = np.ones(full.shape, dtype=bool)
            model = self._model(s, None, everywhere if exact else None)
            primal, unsure = self._primal(model, self.conditions(model, None, t, low))
            return Terms.of_primal(primal, unsure, floor)
        unit = largest(full)
        own = self._expansion(s.a, exact)
        model, asked = self._evaluated(s, own, t, low, exact)
        cost, short, alpha = asked.cost, asked.short, asked.alpha
        clipped = np.clip(alpha, 0.0, cost)
        primal, unsure = self._primal(model, asked)
        slope = self._slope(model, asked)
        late, early = np.maximum(short, 0.0), np.maximum(-short, 0.0)
        over = np.maximum(asked.beyond, 0.0)
        lacks = (cost - clipped) * late + clipped * early + cost * over
        lacks = lacks + asked.force * asked.distance
        moved = self.norms @ np.abs(alpha - clipped) / self.lam
        distance, distance_off = self._distance(s, own, exact)
        outside = np.maximum(-alpha, alpha - cost).max(axis=0) / unit
        infeasible = np.maximum(outside, 0.0)
        unbalanced, balance_off = self._unbalanced(s.a, alpha, clipped, cost, short, exact)
        if self.free_bias:
            infeasible = np.maximum(infeasible, np.abs(column_sums(s.a)[0]) / unit)
        gap = self.lam / 2 * (distance + moved) ** 2 + lacks.sum(axis=0) + unbalanced
        rounding = (
            self.lam / 2 * distance_off * (2 * (distance + moved) + distance_off)
            + (slope * model.off).sum(axis=0)
            + balance_off
            + 2 * (len(cost) + 8) * UNIT * gap
        )
        # A distance counts relative to w, or by how far it can move a value where w vanishes.
        length = np.maximum(np.sqrt(model.norm2), distance)
        length = np.maximum(length, self.scale / max(self.norms.max(), np.finfo(float).tiny))
        wrong = self._wrong(asked, unit, self.scale)
        apart, apart_off = self._apart(s, exact, distance / length, distance_off / length)
        kkt = np.maximum(np.maximum(wrong, infeasible), apart)
        doubt = np.where(slope > 0, model.off, 0.0).max(axis=0)
        kkt_off = np.maximum(doubt / self.scale, apart_off)
        resolution = kkt_resolution = np.zeros(len(t))
        own, own_off = kkt, kkt_off
        if exact:
            resolution, kkt_resolution = self._resolutions(s, model, cost, length)
            own = np.maximum(self._own_violation(s.a, asked, unit), apart)
            own_off = np.maximum(doubt / self.spread, apart_off)
        return Terms(
            primal,
            gap,
            rounding,
            kkt,
            kkt_off,
            infeasible,
            floor,
            unsure,
            resolution,
            kkt_resolution,
            self.null(clipped),
            own,
            own_off,
        )

    def _own_violation(self, a: Floats, asked: Conditions, unit: Floats) -> Floats:
        """Return the largest violation (B,) of box, balance and complementarity in own units.

        They are a sample's own cost, the largest dual, and what values mostly differ by.
        """
        own = np.where(asked.cost > 0, asked.cost, unit)
        outside = (np.maximum(-asked.alpha, asked.alpha - asked.cost) / own).max(axis=0)
        found = np.maximum(self._wrong(asked, own, self.spread), outside)
        if not self.free_bias:
            return found
        return np.maximum(found, np.abs(column_sums(a)[0]) / largest(np.abs(a)))

    @property
    def spread(self) -> float:
        """What values mostly differ by."""
        return self.scale

    def null(self, alpha: Floats) -> Floats:
        """Return what the best constant loses, for sizes of duals (n, B); see `Terms`.

        0 where no objective is small beside it. That of a hinge isn't: at an optimum it is at least
        half the sum of the duals.
        """
        return np.zeros(alpha.shape[1])

    def _evaluated(
        self, s: Solution, own, t: Floats, low: Floats | float, exact: bool
    ) -> tuple[Model, Conditions]:
        """Return the model and what is asked of it, exact where errors count if at all.

        They do where a dual is inside its box, or a value at its kink.
        """
        model = self._model(s, own, None)
        asked = self.conditions(model, s.a, t, low)
        if not exact:
            return model, asked
        primal, unsure = self._primal(model, asked)
        wanted = (self._slope(model, asked) > 0) | ~(unsure <= TRUSTED * primal)
        model = self._model(s, own, wanted)
        return model, self.conditions(model, s.a, t, low)

    @staticmethod
    def _wrong(asked: Conditions, unit: Floats, scale: float) -> Floats:
        """Return the largest violation (B,) of complementarity: the less of value and dual.

        Values are in units of ``scale``, duals in those of ``unit``, (B,) or (n, B).
        """
        cost, short, alpha = asked.cost, asked.short, asked.alpha
        pairs = (
            (np.maximum(short, 0.0), np.maximum(cost - alpha, 0.0)),
            (np.maximum(-short, 0.0), np.maximum(alpha, 0.0)),
            (np.maximum(asked.beyond, 0.0), cost),
            (asked.distance, asked.force),
        )
        worst = np.zeros(cost.shape)
        for value, dual in pairs:
            worst = np.maximum(worst, np.minimum(value / scale, dual / unit))
        return worst.max(axis=0)

    def conditions(self, model: Model, a: Floats | None, t: Floats, low=0.0) -> Conditions:
        """Return what the loss asks of samples and duals at t + low (B,)."""
        short, beyond = self.shortfalls(model.f, model.f_low, a, t, low)
        alpha = None if a is None else self.size_of_dual(a)
        return Conditions(self.costs(t, low), short, beyond, alpha)

    @staticmethod
    def _slope(model: Model, asked: Conditions) -> Floats:
        """Return how fast each sample's share of the gap changes with its value, at most."""
        cost, clipped = asked.cost, np.clip(asked.alpha, 0.0, asked.cost)
        return slope_of_gap(asked.short, asked.beyond, model.off, clipped, cost) + asked.force

    def _primal(self, model: Model, asked: Conditions) -> tuple[Floats, Floats]:
        """Return objective values and how far they may be off."""
        cost, short, beyond = asked.cost, asked.short, asked.beyond
        loss = np.maximum(short, 0.0) + np.maximum(beyond, 0.0)
        primal = self.lam / 2 * model.norm2 + (cost * loss).sum(axis=0) + asked.constant
        near = (short > -model.off) | (beyond > -model.off)
        unsure = self.lam / 2 * model.norm2_off + (cost * near * model.off).sum(axis=0)
        return primal, unsure + (2 * len(cost) + 8) * UNIT * np.abs(primal)

    def _expansion(self, a: Floats, exact: bool) -> tuple[Floats, Floats, Floats] | None:
        """Return a linear model's w = X'a / lam in two parts, and how far off its length may be."""
        if not self.linear:
            return None
        size = relative(self.n, exact) * (self.norms @ np.abs(a)) / self.lam
        if exact:
            w, rest = divide(*transposed(self.rows, a), self.lam)
            return w, rest, size
        w = np.asarray(self.X.T @ a) / self.lam
        return w, np.zeros_like(w), size + 2 * UNIT * np.sqrt((w**2).sum(axis=0))

    def _model(self, s: Solution, own, wanted: NDArray[np.bool_] | None) -> Model:
        """Return the model as stated, or as its duals imply; exact where wanted."""
        b, b_low = self._bias(s)
        exact = wanted is not None
        if self.linear:
            w, w_low, w_off = (s.w, None, 0.0) if s.w is not None else own
            f, f_low = np.asarray(self.X @ w), np.zeros(1)
            norm2 = (w**2).sum(axis=0)
            length = np.sqrt(norm2)
            sure = relative(w.shape[0], False)
            norm2_off = sure * norm2 + 2 * length * w_off
            size = self.norms[:, None] * length
            off = (sure + 2 * UNIT) * size + self.norms[:, None] * w_off
            if exact:
                f_hi, f_low = rows_times(self.rows, wanted, w, w_low)
                f = np.where(wanted, f_hi, f)
                better = relative(w.shape[0], True) * size + self.norms[:, None] * w_off
                off = np.where(wanted, better, off)
        else:
            K, a = self.judged_gram, self._weights(s)
            weight = np.abs(a).sum(axis=0)
            f, f_low = K @ a / self.lam, np.zeros(1)
            size = self._largest_entries[:, None] * weight / self.lam
            off = relative(self.n, False) * size + 2 * UNIT * np.abs(f)
            if exact:
                f_hi, f_low = divide(*rows_times(K, wanted, a), self.lam)
                f = np.where(wanted, f_hi, f)
                off = np.where(wanted, relative(self.n, True) * size, off)
            terms, low = multiply(a, f)
            total, rest = column_sums(terms, low + a * f_low)
            norm2 = np.maximum(total + rest, 0.0) / self.lam
            # the second term is what the sum itself loses
            norm2_off = (
                (np.abs(a) * off).sum(axis=0) / self.lam
                + relative(self.n, True) * (np.abs(terms).sum(axis=0)) / self.lam
                + UNIT * norm2
            )
        if self.diagonal:
            own_weights = self._weights(s)
            more, more_low = divide(*multiply(own_weights, self.diagonal), self.lam)
            f, rest = add(f, more)
            f_low = f_low + rest + more_low
            norm2 = norm2 + self.diagonal * ((own_weights / self.lam) ** 2).sum(axis=0)
        plain = f
        f, rest = add(f, np.broadcast_to(b, f.shape))
        f_low = f_low + rest + b_low
        if not exact:
            off = off + 2 * UNIT * (np.abs(plain) + np.abs(b))
        else:
            off = off + 4 * UNIT**2 * np.abs(b) + np.where(wanted, 0.0, 2 * UNIT * np.abs(f))
        return Model(f, f_low, off, norm2 + self._bias2(b), norm2_off)

    def _bias(self, s: Solution) -> tuple[Floats, Floats]:
        """Return b, stated or implied, in two parts."""
        if s.b is not None:
            return s.b, np.zeros_like(s.b)
        a = self._weights(s)
        if a is None or not self.bias_value:
            shape = (s.w if a is None else a).shape[1:]
            return np.zeros(shape), np.zeros(shape)
        return self._implied_bias_parts(a)

    def _implied_bias_parts(self, a: Floats) -> tuple[Floats, Floats]:
        total, rest = divide(*column_sums(a), self.lam)
        square, low = multiply(self.bias_value, np.float64(self.bias_value))
        b, e = multiply(total, square)
        return b, e + square * rest + low * total

    def _bias2(self, b: Floats) -> Floats:
        """Return a bias's part of ||w||^2: infinite where there may be no bias."""
        if self.free_bias:
            return np.zeros_like(b)
        return (b / self.bias_value) ** 2 if self.bias_value else np.where(b == 0, 0.0, np.inf)

    def _distance(self, s: Solution, own, exact: bool) -> tuple[Floats, Floats]:
        """Return ||w - w(a)||, the penalised bias included, and how far off it may be."""
        square, off = np.zeros(s.a.shape[1]), np.zeros(s.a.shape[1])
        if s.w is not None and self.linear:
            w, low, off = own
            square = ((s.w - w - low) ** 2).sum(axis=0)
        elif s.w is not None:
            square, square_off = self._squared_distance(s, exact)
            off = np.sqrt(square + square_off) - np.sqrt(square)
        if not self.free_bias and (s.b is not None or (s.w is not None and not self.linear)):
            stated, rest = self._bias(s)
            b, low = self._implied_bias_parts(s.a)
            square = square + self._bias2((stated - b) + (rest - low))
        distance = np.sqrt(square)
        return distance, off + (self.n + 8) * UNIT * distance

    def _apart(
        self, s: Solution, exact: bool, relative_distance: Floats, off: Floats
    ) -> tuple[Floats, Floats]:
        """Return how far a stated model is from the one that the duals imply, and how surely.

        Coefficients by their distance, relative to w; a kernel machine by the values at training
        rows, in units of ``scale``: rounding of the matrix moves these by its own size, and the
        distance of functions by the root of it.
        """
        if s.w is None or self.linear:
            return relative_distance, off
        d, rest = add(s.w, -s.a)
        K, size = self.judged_gram, np.abs(d)
        f = rows_times(K, np.ones(d.shape, dtype=bool), d, rest)[0] if exact else K @ d
        own = np.abs(f + self.diagonal * d).max(axis=0)
        off = (relative(2 * self.n, exact) * (self._sizes @ size)).max(axis=0) + 2 * UNIT * own
        return own / self.lam / self.scale, off / self.lam / self.scale

    def _squared_distance(self, s: Solution, exact: bool) -> tuple[Floats, Floats]:
        """Return ||f - f(a)||^2 of kernel expansions f and f(a), and how far off it may be.

        It is d'Kd / lam^2 for the difference d of their coefficients. Where d is large and f(a) is
        f nearly everything cancels.
        """
        K, (d, rest) = self.judged_gram, add(s.w, -s.a)
        size = np.abs(d)
        off = relative(2 * self.n, exact) * (size * (self._sizes @ size)).sum(axis=0)
        if exact:
            f, f_low = rows_times(K, np.ones(d.shape, dtype=bool), d, rest)
            terms, low = multiply(d, f)
            total, lost = column_sums(terms, low + d * f_low + rest * f)
            total = total + lost
        else:
            total = (d * (K @ d)).sum(axis=0)
        total = np.maximum(total, 0.0) + self.diagonal * (size**2).sum(axis=0)
        return total / self.lam**2, (off + (self.n + 8) * UNIT * total) / self.lam**2

    def _unbalanced(
        self, a: Floats, alpha: Floats, clipped: Floats, cost: Floats, short: Floats, exact: bool
    ) -> tuple[Floats, Floats]:
        """Return what it takes, at most, to balance the duals of a free bias; and its rounding.

        One sample whose dual has room takes up all of the imbalance.
        """
        if not self.free_bias:
            return np.zeros(a.shape[1]), np.zeros(a.shape[1])
        sign = np.where(a < 0, -1.0, 1.0) if not len(self.classes) else self.y[:, None]
        total, rest = column_sums(sign * clipped)
        total = np.abs(total + rest)
        room = np.minimum(clipped, cost - clipped) >= total
        near = nearest(short, room)
        bend = total**2 * (self.norms**2).max() / (2 * self.lam)
        worst = 2 * UNIT * total * near + relative(self.n, True) * np.abs(clipped).sum(axis=0)
        return total * near + bend, worst * np.maximum(near, UNIT)

    def _resolutions(
        self, s: Solution, model: Model, cost: Floats, length: Floats
    ) -> tuple[Floats, Floats]:
        """Return the gap and the violation (B,) that rounding a solution itself may cause."""
        size = self._resolution(s, model)
        gap, violation = (cost * size).sum(axis=0), size.max(axis=0) / self.scale
        if s.w is None:
            return gap, violation
        if not self.linear:  # the duals are rounded, and the matrix
            duals = np.abs(s.a)
            rounded = UNIT * (self._places() + 1.0) * (self._sizes @ duals) / self.lam
            gap = gap + (duals * rounded).sum(axis=0) / 2
            return gap, np.maximum(violation, rounded.max(axis=0) / self.scale)
        implied = UNIT * (self.norms @ np.abs(s.a)) / self.lam
        return gap + self.lam / 2 * implied**2, np.maximum(violation, implied / length)

    def _places(self) -> float:
        """Return how many units of rounding the matrix may be off: it is, unless it was given."""
        return 2.0 if self.kernel.name == "precomputed" else 8.0

    def _resolution(self, s: Solution, model: Model) -> Floats:
        """Return, for each value, what the rounding of w and b (or duals and K) may change."""
        b, a = np.abs(self._bias(s)[0]), self._weights(s)
        if s.w is not None and self.linear:
            # w is rounded when it is summed, and when it is divided by lam
            return 2 * UNIT * (np.asarray(abs(self.X) @ np.abs(s.w)) + b)
        if self.linear:
            size = self.norms[:, None] * (self.norms @ np.abs(a)) / self.lam
            return 2 * UNIT * (size + b)
        return UNIT * (self._places() * (self._sizes @ np.abs(a)) / self.lam + b)
