"""The statement of a problem: losses, penalties, a map, a ridge, free variables; plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import scipy.sparse as sp

from ..validation import Floats, check_number
from .maps import Map, as_checked, as_map, is_frozen
from .pieces import FIELDS, Pieces
from .symmetric import asymmetry, largest

KERNELS: WeakValueDictionary[int, Floats] = WeakValueDictionary()  # checked kernels by id
ASYMMETRY = 1e-10  # of the largest entry: largest difference allowed between K and its transpose


@dataclass(frozen=True, eq=False)
class Losses:
    """A group of convex functions f_i of the values z = X w + B v.

    Parameters
    ----------
    pieces : Pieces
        The n functions.
    X : (n, d) matrix, None or 0
        An array, a CSR matrix, a `Product`, or a scipy LinearOperator. With a kernel: (n, N), so
        that z = X K c + B v. None stands for the identity: values are those of the samples of a
        kernel, or the coefficients themselves. 0 stands for none: values of free variables alone.
    free : (n, r) or (n,) array, CSR matrix or a number, optional
        B, the columns of the free variables; 1.0 is a bias.
    """

    pieces: Pieces
    X: Map = None
    free: Any = None

    def __post_init__(self) -> None:
        n, X, free = len(self.pieces), self.X, self.free
        if X is not None and not (np.isscalar(X) and X == 0):
            X = as_map(X, "X")
            if X.shape[0] != n:
                raise ValueError(
                    f"X has {X.shape[0]} rows beside {n} losses; give each loss a row of X."
                )
        if free is not None and not sp.issparse(free):
            free = np.asarray(free, dtype=np.float64)
            free = _constant(n, float(free)) if free.ndim == 0 else free
            free = free[:, None] if free.ndim == 1 else free
        free = None if free is None or free.shape[1] == 0 else as_checked(free, "free")
        if free is not None and free.shape[0] != n:
            raise ValueError(
                f"free has {free.shape[0]} rows beside {n} losses; give one row a loss."
            )
        object.__setattr__(self, "X", X)
        object.__setattr__(self, "free", free)


@dataclass(frozen=True, eq=False)
class L1Constraint:
    """sum_j |w_j| <= radius + free'v.

    Parameters
    ----------
    radius : float
        >= 0.
    free : (r,) array, optional
        Coefficients of the free variables on the right-hand side; zeros by default.
    """

    radius: float = 0.0
    free: Any = None


@dataclass(frozen=True, eq=False)
class Problem:
    """A convex problem as data; see `solution_paths.problem`.

    Minimise over w (d) and v (r)::

        sum_g sum_i f_gi(z_gi) + sum_j penalty_j(w_j) + ridge/2 ||w||^2 + linear'v
        z_g = X_g w + B_g v,   and where there is a constraint   sum_j |w_j| <= radius + free'v

    With a kernel w = sum_i c_i phi(x_i) is given by the coefficients c: z_g = X_g K c + B_g v and
    ||w||^2 = c'Kc. Duals are a = -f'(z), so that an optimum has sum_g X_g'a_g = ridge w +
    penalty'(w) and, in balance with each free variable, sum_g B_g'a_g = linear.

    Parameters
    ----------
    losses : sequence of Losses
        At least one group; or one alone.
    penalty : Pieces, optional
        One function for each of the d features.
    ridge : float
        Weight of ||w||^2 / 2; >= 0, and > 0 with a kernel.
    linear : (r,) array, optional
        Coefficients of the free variables; zeros unless given.
    constraint : L1Constraint or float, optional
        A number is the radius.
    kernel : (N, N) array, optional
        Symmetric and positive semidefinite.
    features : int, optional
        d, where no group and no penalty implies it.
    factor : (N, r) array, optional
        F with F F' equal to the kernel to within rounding, for kernels of low rank. The homotopy
        then uses these rows, whose rank rounding can't increase.

    Raises
    ------
    ValueError
        What is given doesn't fit together.

    Examples
    --------
    A support vector machine with C = 1 on two samples:

    >>> from solution_paths.problem import Losses, Problem, losses
    >>> problem = Problem(Losses(losses.hinge([-1.0, 1.0]), [[0.0], [2.0]], free=1.0), ridge=1.0)
    >>> problem.features, problem.n_free, problem.linear
    (1, 1, array([0.]))
    """

    losses: Any  # a tuple of Losses once it is made
    penalty: Pieces | None = None
    _: KW_ONLY
    ridge: float = 0.0
    linear: Any = None  # (r,) floats once it is made
    constraint: Any = None  # an L1Constraint once it is made
    kernel: Floats | None = None
    features: int = 0
    factor: Floats | None = None

    def __post_init__(self) -> None:
        groups = (self.losses,) if isinstance(self.losses, Losses) else tuple(self.losses)
        if not groups or not all(isinstance(group, Losses) for group in groups):
            raise ValueError("losses must be one group of Losses or more, in a list.")
        kernel = None if self.kernel is None else _check_kernel(self.kernel)
        d = len(kernel) if kernel is not None else self._features(groups)
        if self.factor is not None and (kernel is None or len(self.factor) != d):
            raise ValueError("factor must have a row for each row of the kernel: correct it.")
        r = self._free_variables(groups)
        groups = tuple(_complete(group, k, d, r) for k, group in enumerate(groups))
        linear = np.zeros(r) if self.linear is None else np.atleast_1d(self.linear).astype(float)
        if linear.shape != (r,) or not np.isfinite(linear).all():
            raise ValueError(
                f"linear must hold {r} finite numbers, one for each free variable, not an array "
                f"of shape {linear.shape}."
            )
        if self.penalty is not None and (kernel is not None or len(self.penalty) != d):
            raise ValueError(
                f"penalty must hold a function for each of the {d} coefficients of a model "
                f"without a kernel, not {len(self.penalty)}; correct it, or use a ridge."
            )
        ridge = check_number(self.ridge, "ridge", least=0)
        if kernel is not None and ridge == 0.0:
            raise ValueError("ridge must be > 0 with a kernel: nothing else keeps w bounded.")
        self._set(losses=groups, kernel=kernel, features=d, linear=linear, ridge=ridge)
        self._set(constraint=self._checked_constraint(r))

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _features(self, groups: Sequence[Losses]) -> int:
        """Return d, from the groups, the penalty and ``features``, which must agree."""
        stated = [group.X.shape[1] for group in groups if hasattr(group.X, "shape")]
        stated += [len(group.pieces) for group in groups if group.X is None]
        stated += [len(self.penalty)] if self.penalty is not None else []
        stated += [int(self.features)] if self.features else []
        if len(set(stated)) != 1:
            raise ValueError(
                f"The groups of losses and the penalty have {stated or 'no'} columns; give all of "
                "them the same features, or `features` where there is none."
            )
        return stated[0]

    @staticmethod
    def _free_variables(groups: Sequence[Losses]) -> int:
        counts = {group.free.shape[1] for group in groups if group.free is not None}
        if len(counts) > 1:
            raise ValueError(
                f"The groups of losses have {sorted(counts)} free variables; give each a column "
                "for every one of them, zeros where it plays no part."
            )
        return counts.pop() if counts else 0

    def _checked_constraint(self, r: int) -> L1Constraint | None:
        constraint: Any = self.constraint
        if constraint is None:
            return None
        if self.kernel is not None or self.penalty is not None:
            raise ValueError(
                "constraint stands beside a ridge alone: a problem with a kernel or a penalty has "
                "none."
            )
        constraint = (
            constraint if isinstance(constraint, L1Constraint) else L1Constraint(constraint)
        )
        free = (
            np.zeros(r)
            if constraint.free is None
            else np.asarray(constraint.free, dtype=np.float64)
        )
        if free.shape != (r,) or not np.isfinite(free).all():
            raise ValueError(f"free of the constraint must hold {r} finite numbers: correct it.")
        return L1Constraint(check_number(constraint.radius, "radius", least=0), free)

    @property
    def n_free(self) -> int:
        """The number r of free variables."""
        return len(self.linear)

    @property
    def pure_ridge(self) -> bool:
        """Whether w has a ridge alone, so that duals imply it: w = X'a / ridge."""
        return self.ridge > 0 and self.penalty is None and self.constraint is None

    def numbers(self) -> Iterator[tuple[str, Floats]]:
        """Yield, by name, every array that a parameter may move; see `along`."""
        named = [(f"losses[{k}]", group.pieces) for k, group in enumerate(self.losses)]
        named += [("penalty", self.penalty)] if self.penalty is not None else []
        for name, pieces in named:
            for field in FIELDS:
                yield f"{name}.{field}", getattr(pieces, field)
        yield "linear", self.linear
        if self.constraint is not None:
            yield "constraint.radius", np.array(self.constraint.radius)

    def matrices(self) -> Iterator[tuple[str, Any]]:
        """Yield, by name, everything that no parameter may move."""
        for k, group in enumerate(self.losses):
            yield f"losses[{k}].X", group.X
            yield f"losses[{k}].free", group.free
        yield "kernel", self.kernel
        yield "factor", self.factor
        yield "ridge", np.array(self.ridge)
        if self.constraint is not None:
            yield "constraint.free", self.constraint.free


@lru_cache(maxsize=16)
def _identity(d: int) -> Any:
    """Return the identity in CSR, the same object for each parameter."""
    return sp.eye_array(d, format="csr")


@lru_cache(maxsize=16)
def _constant(n: int, value: float) -> Floats:
    """Return a read-only column of equal entries, the same object for each parameter."""
    column = np.full((n, 1), value)
    column.flags.writeable = False
    return column


def _check_kernel(K: Any) -> Floats:
    """Check a kernel's matrix; a frozen one only once, since models state it at each parameter."""
    K = as_checked(K, "kernel")
    known = KERNELS.get(id(K))
    if known is not None and known is K:
        return known
    if sp.issparse(K) or K.shape[0] != K.shape[1]:
        raise ValueError(f"kernel must be a dense square matrix, not of shape {K.shape}.")
    if asymmetry(K) > ASYMMETRY * largest(K):
        raise ValueError("kernel isn't symmetric: pass (K + K.T) / 2.")
    if is_frozen(K):
        KERNELS[id(K)] = K
    return K


def _complete(group: Losses, k: int, d: int, r: int) -> Losses:
    """Return a group with all its matrices in place."""
    n, X = len(group.pieces), group.X
    if X is None:
        X = _identity(d)
    elif np.isscalar(X):
        X = sp.csr_array((n, d))
    if X.shape != (n, d):
        raise ValueError(
            f"losses[{k}] has a map of shape {X.shape}, but {n} losses of {d} coefficients; give "
            "a row for each loss and a column for each coefficient."
        )
    completed = copy(group)
    free = np.zeros((n, r)) if group.free is None else group.free
    for name, value in (("X", X), ("free", free)):
        object.__setattr__(completed, name, value)
    return completed
