"""Distributionally robust models as quadratic programmes, for solvers that are called on a grid.

Each is min x'Px/2 + c'x subject to Ax = b, Gx <= h and low <= x <= high, where A, b, G and low
stand still when the parameters move. Of several ways to write each model these were the fastest in
PIQP: w, its positive and its negative part are variables of their own, and so are margins or
residuals, so that the rows of X stand in the programme once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

Floats = np.ndarray
Parameters = Mapping[str, float]


class Fixed(NamedTuple):
    """What no parameter moves: A, b, G (which may have no rows), and bounds of x from below."""

    A: sp.csc_matrix
    b: Floats
    G: sp.csc_matrix
    low: Floats


class Moving(NamedTuple):
    """P, c and h at some parameters; bounds of x from above, None where there are none."""

    P: sp.csc_matrix | Floats
    c: Floats
    h: Floats
    high: Floats | None = None

    @property
    def upper(self) -> Floats:
        """The bounds from above, infinite where there are none."""
        return np.full(len(self.c), np.inf) if self.high is None else self.high


class Solution(NamedTuple):
    """A model: w and b; rho where there is one; duals where w is a kernel's."""

    w: Floats | None
    b: float
    rho: float = 0.0
    alpha: Floats | None = None


class Answered(NamedTuple):
    """What a solver found at some parameters, what it cost, and what it says of itself."""

    solution: Solution | None
    cpu_s: float
    wall_s: float
    solved: bool
    message: str


@dataclass(frozen=True, eq=False)
class Programme(ABC):
    """A model on its data.

    Parameters
    ----------
    X : (n, d) array
        Rows; of a kernel machine the (n, n) Gram matrix.
    y : (n,) array
        Targets, or labels -1 and +1.
    """

    X: Floats
    y: Floats
    parameters = ("lam1", "lam2")
    dense = False  # whether P is a dense array

    @cached_property
    def fixed(self) -> Fixed:
        """Return what is built once."""
        return self._fixed()

    @abstractmethod
    def _fixed(self) -> Fixed: ...

    @abstractmethod
    def moving(self, at: Parameters) -> Moving:
        """Return P, c and h at parameters."""

    @abstractmethod
    def read(self, x: Floats, multiplier: Floats, at: Parameters) -> Solution:
        """Return the model; ``multiplier`` y is of Ax = b, added as y'(Ax - b)."""

    @abstractmethod
    def value(self, solution: Solution, at: Parameters) -> float:
        """Return the objective of a model, from what it states alone."""

    def is_linear(self, at: Parameters) -> bool:
        """Tell whether it is a linear programme."""
        return not self.dense and self.moving(at).P.nnz == 0

    def decision(self, solution: Solution, X_new: Floats) -> Floats:
        """Return f at new rows (of a kernel machine: at the kernel's values with the rows)."""
        weights = solution.w if solution.w is not None else solution.alpha * self.y
        return np.asarray(X_new @ weights) + solution.b


def diagonal(first: Floats, size: int) -> sp.csc_matrix:
    """Return a diagonal matrix whose first entries are given; zeros follow, none of them stored."""
    k = len(first)
    ends = np.minimum(np.arange(size + 1), k)
    return sp.csc_matrix((first, np.arange(k), ends), shape=(size, size))


@dataclass(frozen=True, eq=False)
class _Linear(Programme):
    """x = (w, w+, w-, b, ...): the order that all linear models share."""

    @property
    def _d(self) -> int:
        return self.X.shape[1]

    def _signed(self, after: int) -> list:
        """Return the rows w - w+ + w- = 0, with zeros for the bias and what comes after it."""
        one = sp.eye_array(self._d)
        return sp.hstack([one, -one, one, sp.csc_array((self._d, 1 + after))])

    def _moving(self, at: Parameters, c: Floats, h: Floats) -> Moving:
        lam2 = np.full(self._d if at["lam2"] > 0 else 0, at["lam2"])
        return Moving(diagonal(lam2, len(c)), c, h)

    def _length(self, after: int) -> sp.csc_array:
        """Return ||w||_1 as a row."""
        d = self._d
        return sp.csc_array(np.r_[np.zeros(d), np.ones(2 * d), np.zeros(1 + after)][None])

    def _low(self, *after: float) -> Floats:
        d = self._d
        return np.r_[np.full(d, -np.inf), np.zeros(2 * d), -np.inf, np.repeat(after, len(self.y))]

    def read(self, x: Floats, multiplier: Floats, at: Parameters) -> Solution:
        """Return w and b."""
        return Solution(x[: self._d].copy(), float(x[3 * self._d]))

    def _penalty(self, w: Floats, at: Parameters) -> float:
        return 0.5 * at["lam2"] * float(w @ w)


class LeastDeviations(_Linear):
    """(1/n) ||y - Xw - b||_1 + lam2/2 ||w||^2 subject to ||w||_1 <= s: DrLAD (3.16).

    lam2 = 0 is the l1-LAD, an infinite s the l2-LAD, both the LAD.
    """

    parameters = ("s", "lam2")

    def _fixed(self) -> Fixed:
        n = len(self.y)
        one, wide = sp.eye_array(n), sp.csc_array((n, 2 * self._d))
        A = sp.vstack(
            [sp.hstack([self.X, wide, np.ones((n, 1)), one, -one]), self._signed(2 * n)]
        ).tocsc()
        low = self._low(0.0, 0.0)
        b = np.r_[self.y, np.zeros(self._d)]
        return Fixed(A, b, self._length(2 * n).tocsc(), low)

    def moving(self, at: Parameters) -> Moving:
        """Return P, c and h at s and lam2."""
        n = len(self.y)
        c = np.r_[np.zeros(3 * self._d + 1), np.full(2 * n, 1.0 / n)]
        return self._moving(at, c, np.array([at.get("s", np.inf)]))

    def value(self, solution: Solution, at: Parameters) -> float:
        """Return the objective."""
        loss = np.abs(self.y - self.X @ solution.w - solution.b).mean()
        return float(loss) + self._penalty(solution.w, at)


class DoublyRegularised(_Linear):
    """(1/n) sum (1 - y f)^+ + lam1 ||w||_1 + lam2/2 ||w||^2: the DrSVM; l1- and l2-SVM."""

    def _fixed(self) -> Fixed:
        n, y = len(self.y), self.y[:, None]
        one, wide = sp.eye_array(n), sp.csc_array((n, 2 * self._d))
        A = sp.vstack([sp.hstack([self.X * y, wide, y, one, -one]), self._signed(2 * n)]).tocsc()
        low = self._low(0.0, 0.0)
        none = sp.csc_matrix((0, len(low)))
        return Fixed(A, np.r_[np.ones(n), np.zeros(self._d)], none, low)

    def moving(self, at: Parameters) -> Moving:
        """Return P, c and h at lam1 and lam2."""
        d, n = self._d, len(self.y)
        c = np.r_[np.zeros(d), np.full(2 * d, at["lam1"]), 0.0, np.full(n, 1.0 / n), np.zeros(n)]
        return self._moving(at, c, np.empty(0))

    def value(self, solution: Solution, at: Parameters) -> float:
        """Return the objective."""
        margins = self.y * (self.X @ solution.w + solution.b)
        loss = float(np.maximum(1.0 - margins, 0.0).mean())
        return loss + self._penalty(solution.w, at) + at["lam1"] * float(np.abs(solution.w).sum())


@dataclass(frozen=True, eq=False)
class DoubleMargin(_Linear):
    """DoublyRegularised with a second margin at kappa rho - 1, ||w||_1 <= rho and lam1 rho (4.2).

    x = (w, w+, w-, b, margins, losses, rho).
    """

    kappa: float = 1.0

    def _fixed(self) -> Fixed:
        n, d, y = len(self.y), self._d, self.y[:, None]
        one, wide, tall = sp.eye_array(n), sp.csc_array((n, 2 * d)), sp.csc_array((n, 3 * d + 1))
        zero, column = sp.csc_array((n, n)), sp.csc_array((n, 1))
        margins = sp.hstack([self.X * y, wide, y, -one, zero, column])
        A = sp.vstack([margins, self._signed(2 * n + 1)]).tocsc()
        inner = sp.hstack([tall, -one, -one, column])
        outer = sp.hstack([tall, one, -one, np.full((n, 1), -self.kappa)])
        length = self._length(2 * n + 1).tolil()
        length[0, -1] = -1.0
        G = sp.vstack([inner, outer, length]).tocsc()
        low = np.r_[self._low(-np.inf, 0.0), 0.0]
        return Fixed(A, np.zeros(n + d), G, low)

    def moving(self, at: Parameters) -> Moving:
        """Return P, c and h at lam1 and lam2."""
        n = len(self.y)
        c = np.r_[np.zeros(3 * self._d + 1 + n), np.full(n, 1.0 / n), at["lam1"]]
        return self._moving(at, c, np.r_[np.full(2 * n, -1.0), 0.0])

    def read(self, x: Floats, multiplier: Floats, at: Parameters) -> Solution:
        """Return w, b and rho."""
        return super().read(x, multiplier, at)._replace(rho=float(x[-1]))

    def value(self, solution: Solution, at: Parameters) -> float:
        """Return the objective; rho counts as at least ||w||_1."""
        rho = max(solution.rho, float(np.abs(solution.w).sum()))
        margins = self.y * (self.X @ solution.w + solution.b)
        loss = np.maximum(np.maximum(1.0 - margins, 1.0 + margins - self.kappa * rho), 0.0)
        return float(loss.mean()) + self._penalty(solution.w, at) + at["lam1"] * rho


@dataclass(frozen=True, eq=False)
class KernelDoubleMargin(Programme):
    """(1/n) sum max(0, 1 - m, m - (kappa - 1)) + lam/2 ||w||^2 of margins m = y f: the DM-KSVM.

    ``X`` is the Gram matrix K, kappa at least 2; an infinite kappa is the usual machine. Here the
    dual is solved, divided by lam: x = (alpha, mu), both in [0, 1 / (n lam)]; K is dense.
    """

    kappa: float = 3.0
    parameters = ("lam",)
    dense = True

    @property
    def _doubled(self) -> bool:
        return np.isfinite(self.kappa)

    def _fixed(self) -> Fixed:
        sign = np.r_[self.y, -self.y] if self._doubled else self.y
        A, none = sp.csc_matrix(sign[None]), sp.csc_matrix((0, len(sign)))
        return Fixed(A, np.zeros(1), none, np.zeros(len(sign)))

    @cached_property
    def _P(self) -> Floats:
        Q = self.X * np.outer(self.y, self.y)
        return np.block([[Q, -Q], [-Q, Q]]) if self._doubled else Q

    def moving(self, at: Parameters) -> Moving:
        """Return P, c and the upper bound at lam."""
        n = len(self.y)
        c = np.r_[np.full(n, -1.0), np.full(n * self._doubled, self.kappa - 1.0)]
        return Moving(self._P, c, np.empty(0), np.full(len(c), 1.0 / (n * at["lam"])))

    def read(self, x: Floats, multiplier: Floats, at: Parameters) -> Solution:
        """Return duals over lam, so that f = K (y alpha) + b."""
        n = len(self.y)
        return Solution(
            None, float(multiplier[0]), alpha=x[:n] - x[n:] if self._doubled else x.copy()
        )

    def value(self, solution: Solution, at: Parameters) -> float:
        """Return the objective."""
        f = self.X @ (self.y * solution.alpha)
        margins = self.y * (f + solution.b)
        loss = np.maximum(1.0 - margins, 0.0)
        if self._doubled:
            loss = np.maximum(loss, margins - (self.kappa - 1.0))
        return float(loss.mean()) + 0.5 * at["lam"] * float((self.y * solution.alpha) @ f)


class FactoredDoubleMargin(KernelDoubleMargin):
    """The same in the primal, over lam: x = (v, b, margins, losses), f = L v + b and K = L L'.

    L has as many columns as K has pivots above rounding: a flat kernel leaves few.
    """

    dense = False

    @cached_property
    def _factor(self) -> Floats:
        factor, order, rank, _ = lapack.dpstrf(self.X, lower=1)
        factor_rows = np.empty((len(self.y), rank))
        factor_rows[order - 1] = np.tril(factor)[:, :rank]
        return factor_rows

    def _fixed(self) -> Fixed:
        n, y, L = len(self.y), self.y[:, None], self._factor
        r, one, zero = L.shape[1], sp.eye_array(n), sp.csc_array((n, n))
        A = sp.hstack([L * y, y, -one, zero]).tocsc()
        wide = sp.csc_array((n, r + 1))
        rows = [sp.hstack([wide, -one, -one])]
        if self._doubled:
            rows.append(sp.hstack([wide, one, -one]))
        low = np.r_[np.full(r + 1 + n, -np.inf), np.zeros(n)]
        return Fixed(A, np.zeros(n), sp.vstack(rows).tocsc(), low)

    def moving(self, at: Parameters) -> Moving:
        """Return P, c and h at lam."""
        n, r = len(self.y), self._factor.shape[1]
        c = np.r_[np.zeros(r + 1 + n), np.full(n, 1.0 / (n * at["lam"]))]
        h = np.r_[np.full(n, -1.0), np.full(n * self._doubled, self.kappa - 1.0)]
        return Moving(diagonal(np.ones(r), len(c)), c, h)

    def read(self, x: Floats, multiplier: Floats, at: Parameters) -> Solution:
        """Return duals over lam, so that f = K (y alpha) + b."""
        return Solution(None, float(x[self._factor.shape[1]]), alpha=-multiplier)
