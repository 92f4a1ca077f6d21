"""Kernel machines by data, costs and bias, the form that other packages' solvers take."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from solution_paths.kernels import LINEAR, Kernel
from solution_paths.problem import Losses, Pieces, Problem, losses
from solution_paths.validation import (
    Rows,
    check_choice,
    check_labels,
    check_number,
    check_vector,
    check_X,
)

Floats = NDArray[np.float64]
BIASES = ("free", "feature", "none")


@dataclass(frozen=True, eq=False)
class Machine:
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

    def __post_init__(self) -> None:
        check_choice(self.bias, "bias", BIASES)
        scaling = check_number(self.intercept_scaling, "intercept_scaling")
        self._set(
            y=check_vector(self.y, self.X.shape[0], "y", scalar=False),
            lam=check_number(self.lam, "lam", above=0),
            bias="none" if self.bias == "feature" and scaling == 0.0 else self.bias,
            intercept_scaling=scaling,
            diagonal=check_number(self.diagonal, "diagonal", least=0),
            _shared={},
        )
        self._set(**{k: check_vector(getattr(self, k), self.n, k) for k in ("cost0", "cost1")})
        if (self.cost0 < 0).any():
            raise ValueError(f"cost0 must be >= 0 (the least is {self.cost0.min():g}): correct it.")

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __getstate__(self) -> dict:
        return vars(self) | {"_shared": {}}  # computed arrays aren't pickled

    # -- data ----------------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.y)

    @property
    def linear(self) -> bool:
        """Whether the kernel is the inner product of rows."""
        return self.kernel.name == "linear"

    @property
    def free_bias(self) -> bool:
        """Whether b is free, so that the signed duals sum to zero."""
        return self.bias == "free"

    @property
    def bias_value(self) -> float:
        """Value of the appended feature; 0 when there is none."""
        return self.intercept_scaling if self.bias == "feature" else 0.0

    def features(self) -> Floats | sp.csr_array:
        """Return rows whose inner products are `gram` without the diagonal; recomputed each time.

        They are X, dense or CSR, or the monomials of a polynomial kernel, and the bias feature.
        """
        X = self.X if self.linear else self.kernel.monomials(self.X)
        if not self.bias_value:
            return sp.csr_array(X) if sp.issparse(X) else X
        column = np.full((self.n, 1), self.bias_value)
        if sp.issparse(X):
            return sp.csr_array(sp.hstack([X, column], format="csr"))
        return np.hstack([X, column])

    def gram(self) -> Floats:
        """Return the (n, n) kernel matrix, with bias feature and diagonal; recomputed each time.

        It isn't cached, so that a solver's measured time includes its computation.
        """
        K = self.kernel(self.X, self.X)
        if self.bias_value:
            K = K + self.bias_value**2
        return K + self.diagonal * np.eye(self.n) if self.diagonal else K

    # -- the objective at one value of the parameter -------------------------------------------

    def costs(self, t: float = 0.0) -> Floats:
        """Return the (n,) costs C_i at t."""
        return np.maximum(self.cost0 + t * self.cost1, 0.0)

    def with_costs(self, cost0: Any, cost1: Any = 0.0) -> Machine:
        """Return the machine with other costs; both share the matrix that the judge needs."""
        return self._with(cost0=cost0, cost1=cost1)

    def _with(self, **changes: Any) -> Any:
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

    def pieces(self, t: float = 0.0) -> Pieces:
        """Return the losses of f(x_i) at t."""
        raise NotImplementedError

    def problem(self, pieces: Pieces) -> Problem:
        """Return the statement of the machine with these losses."""
        free, data = 1.0 if self.free_bias else None, self._data()
        if self.stated_by_rows:
            return Problem(Losses(pieces, data, free), ridge=self.lam)
        return Problem(Losses(pieces, free=free), ridge=self.lam, kernel=data)

    @property
    def stated_by_rows(self) -> bool:
        """Whether the statement's variables are the weights w, not coefficients of samples."""
        return self.linear and not self.diagonal

    def _data(self) -> Any:
        """Return the rows, or a read-only Gram matrix; computed once for all costs."""
        if "data" not in self._shared:
            data = self.features() if self.stated_by_rows else self.gram()
            if not self.stated_by_rows:
                data = np.array((data + data.T) / 2)
                data.flags.writeable = False
            self._shared["data"] = data
        return self._shared["data"]

    # -- duals ---------------------------------------------------------------------------------

    def signed_dual(self, alpha: Floats) -> Floats:
        """Return the signed duals (n,) of the values f(x_i), given the duals alpha of an answer."""
        raise NotImplementedError

    def public_dual(self, a: Floats) -> Floats:
        """Return the duals (n,) of an answer, given the signed duals of the values f(x_i)."""
        return self.signed_dual(a)


@dataclass(frozen=True, eq=False, kw_only=True)
class Hinge(Machine):
    """min lam/2 ||w||^2 + sum_i C_i max(0, 1 - y_i f(x_i)); see `Machine`.

    Its dual is max sum_i alpha_i - lam/2 ||w||^2 over 0 <= alpha_i <= C_i, with the signed duals
    a_i = y_i alpha_i and w = (1/lam) sum_i a_i x_i; a free bias adds sum_i a_i = 0.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if not np.isin(self.y, (-1.0, 1.0)).all():
            raise ValueError("y must hold labels -1 and +1: recode it.")

    def pieces(self, t: float = 0.0) -> Pieces:
        """Return the hinge losses at t."""
        return losses.hinge(self.y, self.costs(t))

    def signed_dual(self, alpha: Floats) -> Floats:
        """Return y alpha."""
        return self.y * alpha


@dataclass(frozen=True, eq=False, kw_only=True)
class Tube(Machine):
    """min lam/2 ||w||^2 + sum_i C_i max(0, |y_i - f(x_i)| - epsilon); see `Machine`.

    Parameters
    ----------
    epsilon0, epsilon1 : float
        epsilon = epsilon0 + t epsilon1, >= 0.
    """

    epsilon0: float = 0.0
    epsilon1: float = 0.0

    def epsilon(self, t: float = 0.0) -> float:
        """Return half the width of the tube at t."""
        return max(self.epsilon0 + t * self.epsilon1, 0.0)

    def at(self, t: float) -> Machine:
        """Return the objective at t, where it no longer depends on a parameter."""
        return self._with(cost0=self.costs(t), cost1=0.0, epsilon0=self.epsilon(t), epsilon1=0.0)

    @property
    def moves(self) -> bool:
        """Whether it depends on a parameter."""
        return super().moves or self.epsilon1 != 0.0

    def pieces(self, t: float = 0.0) -> Pieces:
        """Return the losses at t."""
        return losses.epsilon_insensitive(self.y, self.epsilon(t), self.costs(t))

    def signed_dual(self, alpha: Floats) -> Floats:
        """Return alpha, which is already signed."""
        return alpha


def quantile_hinge(
    X: Rows, y: ArrayLike, lam: float, *, kernel: Kernel = LINEAR, intercept_scaling: float = 1.0
) -> Hinge:
    """Return the quantile SVM's objective in t = tau; ``.at(tau)`` is that of one quantile.

    Its costs are equation (4) of the paper; see `quantile_svm_path`. X isn't copied, so that
    solvers recognise the same array and reuse what they built for it.

    Parameters
    ----------
    X : (n, d) array or CSR matrix, or (n, n) Gram matrix
    y : (n,) array
        Two labels; the larger one is +1.
    lam : float
        Weight of the penalty, > 0.
    kernel : Kernel
    intercept_scaling : float
        Value of the appended feature; 0 means no bias.
    """
    X = check_X(X, copy=False)
    signs, _ = check_labels(y, X.shape[0])
    share = 2.0 / len(signs)
    return Hinge(
        X,
        signs,
        kernel=kernel,
        lam=lam,
        bias="feature",
        intercept_scaling=intercept_scaling,
        cost0=np.where(signs > 0, share, 0.0),
        cost1=-signs * share,
    )
