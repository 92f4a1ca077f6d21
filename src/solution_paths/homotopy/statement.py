"""A `Problem` that moves with a parameter, read as what the homotopy walks.

Coordinates are the rows (losses), then the variables, then the l1 constraint if there is one. All
unknowns of a problem are variables with a penalty: a weight without one has slopes 0, a free
variable the slope of its linear term. The maps are

    z_rows = R x + G a_rows,    R' a_rows + a_variables = ridge x

with G = 0 where the weights are variables, and the Gram matrix where they are eliminated (their
ridge is positive and nothing penalises them): then z and the free variables are in units of 1/ridge.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .graphs import Graphs, Moving, Shape

Array = NDArray[np.float64]


@dataclass
class Statement:
    """What the homotopy walks, and how its answer reads in the user's terms.

    Attributes
    ----------
    R : (n, p)
    gram : (n, n) or None
    ridge : (p,)
    budget : bool
        Whether the last coordinate is the constraint sum_j |w_j| <= budget over the first d
        variables, whose multiplier widens their knots.
    shapes : list of Shape
        One for each group of losses, then those of the variables, then that of the constraint.
    scale : float
        Of z and of the free variables: the ridge where weights are eliminated, else 1.
    """

    R: Array
    gram: Array | None
    ridge: Array
    budget: bool
    shapes: list[Shape]
    scale: float
    rows: Array
    free: int
    sizes: list[int]

    def __post_init__(self) -> None:
        n, p = self.R.shape
        self.rows_and_variables = n, p
        self.size = n + p + self.budget
        self.is_row = np.ones(self.size, dtype=bool)
        self.is_row[n : n + p] = False
        self.widened = slice(n, n + p - self.free) if self.budget else None

    def graphs(self, shapes: list[Shape] | None = None, like: Graphs | None = None) -> Graphs:
        """Return the graphs of all coordinates, or of other functions of the same coordinates."""
        return Graphs(self.shapes if shapes is None else shapes, self.widened, like)

    def unknowns(self, z: Array, a: Array) -> Array:
        """Return what the map is applied to: duals of rows, values of variables."""
        return np.where(self.is_row, a, z)

    def answer(self, u: Array) -> tuple[Array, Array, list[Array]]:
        """Return w, v and the duals of each group of losses from unknowns u (..., N)."""
        n, p = self.R.shape
        a, x = u[..., :n], u[..., n : n + p]
        duals = np.split(a, np.cumsum(self.sizes)[:-1], axis=-1)
        weights = x[..., : p - self.free] if self.gram is None else a @ self.rows / self.scale
        return weights, x[..., p - self.free :] / self.scale, duals


def read(model: Callable[[float], Any], t0: float, t1: float, face: str = "auto") -> Statement:
    """Read model(t) between t0 and t1, in the parameter t - t0.

    Parameters
    ----------
    face : "auto", "dual", "saddle"
        Whether the weights are eliminated; by default they are where the problem has a kernel, or
        more features than losses and a ridge on all of them.
    """
    p, q, h = model(t0), model(t1), t1 - t0
    for name in ("ridge", "kernel", "d", "free"):
        if not np.array_equal(getattr(p, name), getattr(q, name)):
            raise ValueError(f"{name} changes along the path; take a parameter that leaves it fixed.")
    sizes = [_count(x.pieces) for x in p.losses]
    rows = np.vstack([_dense(x.X) for x in p.losses])
    columns = np.vstack([_columns(x.B, k, p.free) for x, k in zip(p.losses, sizes, strict=True)])
    budget = p.budget is not None
    plain = p.penalty is None and not budget
    if p.kernel is None and (not plain or p.ridge <= 0 or face == "saddle"):
        eliminated = False
    else:
        eliminated = p.kernel is not None or face == "dual" or p.d > len(rows)
    scale = float(p.ridge) if eliminated else 1.0
    shapes = [_shape(x.pieces, y.pieces, h) for x, y in zip(p.losses, q.losses, strict=True)]
    shapes = [s.scaled(scale) for s in shapes]
    if not eliminated:
        shapes.append(_plain(np.zeros(p.d)) if plain or p.penalty is None else _shape(p.penalty, q.penalty, h))
    if p.free:
        linear = np.asarray(p.linear, float)
        shapes.append(_plain(linear, (np.asarray(q.linear, float) - linear) / h))
    if budget:
        shapes.append(_constraint(p.budget, (q.budget - p.budget) / h))
    gram = _gram(rows, p.kernel) if eliminated else None
    weights = np.zeros((len(rows), 0)) if eliminated else rows
    R = np.ascontiguousarray(np.hstack([weights, columns]))
    ridge = np.r_[np.full(weights.shape[1], float(p.ridge)), np.zeros(p.free)]
    return Statement(R, gram, ridge, budget, shapes, scale, rows, p.free, sizes)


def _count(pieces: Any) -> int:
    return len(np.atleast_2d(pieces.knots))


def _dense(X: Any) -> Array:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, float)


def _columns(B: Any, n: int, free: int) -> Array:
    return np.zeros((n, free)) if B is None else _dense(B).reshape(n, free)


def _gram(rows: Array, kernel: Any) -> Array:
    if kernel is None:
        K = rows @ rows.T
    elif np.array_equal(rows, np.eye(len(rows))):
        K = np.asarray(kernel, float)
    else:
        K = rows @ np.asarray(kernel, float) @ rows.T
    return np.ascontiguousarray((K + K.T) / 2)


def _move(x: Array, y: Array, h: float) -> Moving:
    x, y = np.asarray(x, float), np.asarray(y, float)
    same = x == y
    return Moving.of(x, np.where(same, 0.0, np.where(same, 0, y) - np.where(same, 0, x)) / h)


def _shape(f: Any, g: Any, h: float) -> Shape:
    """Return the functions f at t0, g at t1; an end of the domain beyond the knots becomes one."""
    q = np.asarray(f.curvature, float)
    if not np.array_equal(q, g.curvature):
        raise ValueError("a curvature changes along the path; take a parameter that leaves it fixed.")
    knots, slopes = _move(f.knots, g.knots, h), _move(f.slopes, g.slopes, h)
    closed = np.column_stack([f.knots[:, 0] == f.lo, f.knots[:, -1] == f.hi])
    if np.any((np.isfinite(f.lo) & ~closed[:, 0]) | (np.isfinite(f.hi) & ~closed[:, 1])):
        raise ValueError("a domain ends where there is no knot; put a knot there.")
    return Shape(knots, slopes, q, closed)


def _plain(slope: Array, rate: Array | None = None) -> Shape:
    """Return linear functions, with a knot at 0 that a start can hold a variable at."""
    d = len(slope)
    both = Moving.of(np.column_stack([slope] * 2), None if rate is None else np.column_stack([rate] * 2))
    return Shape(Moving.of(np.zeros((d, 1))), both, np.zeros((d, 2)), np.zeros((d, 2), dtype=bool))


def _constraint(budget: float, rate: float) -> Shape:
    """Return the function of sum |w| that is 0 up to the budget and infinite beyond."""
    knot = Moving.of(np.array([[budget]]), np.array([[rate]]))
    return Shape(knot, Moving.of(np.zeros((1, 2))), np.zeros((1, 2)), np.array([[False, True]]))
