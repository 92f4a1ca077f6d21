"""Linear models under an l1 penalty: what the lasso and the l1-norm machine share."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..kernels import squared_norms
from ..validation import Names
from .base import Floats, Objective, Solution, check_targets
from .centring import bias_at_zero, less, shifts_of, spreads_of
from .exact import UNIT, add, relative, rows_times, transposed

TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Penalised(Objective):
    """f(x) = w.x + b with an l1 penalty lam ||w||_1; the path is in lam.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
    y : (n,) array
        Labels -1, +1, or real targets.
    feature_names : sequence, optional
        Names of the columns of X.
    """

    X: Any
    y: Floats
    _: KW_ONLY
    feature_names: Names | None = None
    ridge = 0.0  # the weight of ||w||^2 / 2

    def __post_init__(self) -> None:
        if self.feature_names is not None:
            object.__setattr__(self, "feature_names", tuple(self.feature_names))
        labels = len(self.classes) > 0
        object.__setattr__(self, "y", check_targets(self.y, self.X, labels))

    @cached_property
    def shifts(self) -> Floats:
        """What is taken off the columns of X before a path is walked, (d,): b is free."""
        return shifts_of(self.X)

    @cached_property
    def centred(self) -> Any:
        """X less its `shifts`."""
        return less(self.X, self.shifts)

    @cached_property
    def units(self) -> Floats:
        """The powers of two by which a path's coordinates are larger than w, (d,).

        They are next to the root mean squares of the centred columns; to divide by them is exact.
        """
        lengths = np.sqrt(squared_norms(self.centred.T) / self.n)
        return np.exp2(np.round(np.log2(np.where(lengths > 0, lengths, 1.0))))

    @cached_property
    def unit(self) -> float:
        """The one in the middle of them."""
        return float(np.sort(self.units)[len(self.units) // 2])

    def at_zero(self, a: Floats, w: Floats, b: Floats, target: float = 0.0) -> Solution:
        """Return the solution with b beside X and y, given that beside both centred."""
        return Solution(a, w + 0.0, bias_at_zero(b, self.shifts, w, target))

    @cached_property
    def row_norms(self) -> Floats:
        """The norms of the rows, with a 1 appended for the bias."""
        return np.sqrt(squared_norms(self.X) + 1.0)

    @cached_property
    def column_norms(self) -> Floats:
        """The norms of the columns."""
        return np.sqrt(squared_norms(self.X.T))

    def values(self, w: Floats, b: Floats, exact: bool) -> tuple[Floats, Floats, Floats]:
        """Return X w + b in two parts, and how far off it may be."""
        size = self.row_norms[:, None] * np.sqrt((w**2).sum(axis=0) + b**2)
        off = relative(len(w) + 1, exact) * size
        if not exact:
            f = self.X @ w + b
            return f, np.zeros_like(f), off
        f, low = rows_times(self.X, np.ones((self.n, w.shape[1]), dtype=bool), w)
        f, rest = add(f, np.broadcast_to(b, f.shape))
        return f, low + rest, off

    def correlations(self, a: Floats, exact: bool) -> tuple[Floats, Floats]:
        """Return X'a, rounded once if exact, and how far off it may be."""
        off = relative(self.n, exact) * self.column_norms[:, None] * np.sqrt((a**2).sum(axis=0))
        if not exact:
            return self.X.T @ a, off
        c, low = transposed(self.X, a)
        return c + low, off + UNIT * np.abs(c)

    def own_scales(self, a: Floats, X: Any, spread: float) -> tuple[Floats, Floats]:
        """Return the own units of correlations X'a (d, B), and of coefficients (d, 1).

        They are the sizes of a correlation's terms, and what moves values by their spread.
        """
        wide, moves = spreads_of(X)[:, None], squared_norms(X.T)[:, None] > 0.0
        sizes = np.where(moves, abs(X).T @ np.abs(a), abs(self.X).T @ np.abs(a))
        return np.maximum(sizes, TINY), spread / np.maximum(wide, TINY)

    def resolutions(
        self, a: Floats, w: Floats, constant: Floats, cost: Floats, scale: Floats, values=1.0
    ) -> tuple[Floats, Floats]:
        """Return the gap and the violation that rounding a solution itself may cause.

        ``constant`` is the size of what is added to X w, ``scale`` what correlations are relative
        to, ``values`` what values are.
        """
        own = 2 * UNIT * (abs(self.X) @ np.abs(w) + constant)
        pulled = UNIT * (abs(self.X).T @ np.abs(a))
        gap = cost * own.sum(axis=0) + (pulled * np.abs(w)).sum(axis=0)
        if self.ridge:
            gap = gap + (pulled**2).sum(axis=0) / (2 * self.ridge)
        return gap, np.maximum(own.max(axis=0) / values, pulled.max(axis=0) / scale)

    def coefs(self, s: Solution) -> Floats:
        """Return w."""
        return s.w

    def intercepts(self, s: Solution) -> Floats:
        """Return b; zeros where there is none."""
        return np.zeros(s.w.shape[1:]) if s.b is None else s.b

    def decision(self, X_new, s: Solution) -> Floats:
        """Return f at the rows of X_new, (m,) or (m, B)."""
        return np.asarray(X_new @ s.w) + self.intercepts(s)


def off_penalty(
    c: Floats,
    w: Floats,
    lam: Floats,
    scale: Floats | float,
    unit: Floats | float,
    ridge: float = 0.0,
) -> Floats:
    """Return (B,) how far correlations c and coefficients w are from an optimal pair, at worst.

    |c| <= lam + ridge |w|, in units of ``scale``, and where w isn't zero, in units of ``unit``,
    c = (lam + ridge |w|) sign(w).
    """
    length = np.abs(w)
    level = lam + ridge * length
    outside = np.maximum(np.abs(c) - level, 0.0) / scale
    inside = np.minimum(np.abs(c - level * np.sign(w)) / scale, length / unit)
    return np.maximum(outside, inside).max(axis=0)
