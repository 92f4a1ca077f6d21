"""A problem that moves with a parameter, read as what the homotopy walks.

Coordinates are the rows (losses), then the variables, then the l1 constraint if there is one. All
unknowns of a problem are variables with a penalty: a weight without one has slopes 0, a free
variable the slope of its linear term. The maps are

    z_rows = R x + G a_rows,    R' a_rows + a_variables = ridge x

with G = 0 where the weights are variables, and the Gram matrix where they are eliminated (their
ridge is positive and nothing penalises them): then z and the free variables are times the ridge.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..problem import Line, Pieces, Problem
from ..problem.maps import entries
from .graphs import Graphs, Shape
from .moving import Moving, Twofold
from .twofold import weighted_squares
from .units import Units

Array = NDArray[np.float64]
ROOM = 2_000  # variables whose Gram matrix always fits into memory
WIDE = 4  # times as many variables as losses: from there on their Gram matrix costs more
ENTRIES = 2**24  # 128 MB: so many are kept dense, and read several times as fast


@dataclass
class Statement:
    """What the homotopy walks, and how its answer reads in the user's terms.

    Attributes
    ----------
    R : (n, p)
        An array; in CSR with sorted indices where it is large and sparse.
    gram, low : (n, n) or None
        In the primal face a sum of two parts, else one.
    ridge : (p,)
    widening : (r,) or None
        With an l1 constraint, the last coordinate is sum_j |w_j| - widening'v over all weights,
        which has a knot at the radius; its multiplier widens the weights' knots.
    shapes : list of Shape
        One for each group of losses, then those of the variables, then that of the constraint.
    scale : float
        Of z and of the free variables: the ridge where weights are eliminated, else 1.
    rows : (m, d)
        What maps weights to the z of losses.
    free : int
        Number r of free variables, the last of the p.
    sizes : list of int
        Of the groups of losses.
    silent : int
        Of so many variables, the first ones, nothing is recorded.
    parabolas : (B, q, s) or None
        In the primal face the losses' derivatives q z + s, and z = B (w, v).
    """

    R: Any
    gram: Array | None
    ridge: Array
    widening: Array | None
    shapes: list[Shape]
    scale: float
    rows: Any
    free: int
    sizes: list[int]
    low: Array | None = None
    silent: int = 0
    parabolas: tuple[Array, Array, Array] | None = None

    def __post_init__(self) -> None:
        n, p = self.R.shape
        self.rows_and_variables = n, p
        self.constrained = self.widening is not None
        self.size = n + p + self.constrained
        self.is_row = np.ones(self.size, dtype=bool)
        self.is_row[n : n + p] = False
        self.widened = slice(n, n + p - self.free) if self.constrained else None
        sparse = sp.issparse(self.R)
        self.columns = self.R.T.tocsr() if sparse else np.ascontiguousarray(self.R.T)

    @cached_property
    def units(self) -> Units:
        """The units of the coordinates."""
        gram = np.zeros((0, 0)) if self.gram is None else self.gram
        return Units.of(self.R, gram, self.ridge, self.constrained)

    @cached_property
    def separate(self) -> bool:
        """Whether each weight is that of one row."""
        return not sp.issparse(self.rows) and np.array_equal(self.rows, np.eye(len(self.rows)))

    @property
    def face(self) -> str:
        """Which unknowns are eliminated: weights (dual), duals of losses (primal), or none."""
        if self.gram is None:
            return "saddle"
        return "dual" if self.parabolas is None else "primal"

    @cached_property
    def graphs(self) -> Graphs:
        """The graphs of all coordinates."""
        return Graphs(self.shapes, self.widened)

    def graphs_of(self, shapes: list[Shape]) -> Graphs:
        """Return the graphs of other functions of the same coordinates."""
        return Graphs(shapes, self.widened, self.graphs)

    def answer(self, u: Array) -> tuple[Array, Array, list[Array]]:
        """Return w, v and the duals of each group of losses from unknowns u (..., N)."""
        n, _ = self.R.shape
        w, v = self.variables(u[..., self.held])
        if self.parabolas is not None:
            B, q, s = self.parabolas
            a = -(s + q * (u @ B.T))
            rounding = (n + 2) * np.finfo(float).eps * (np.abs(s) + q * (np.abs(u) @ np.abs(B).T))
            a = np.where(np.abs(a) <= rounding, 0.0, a)
        else:
            a = u[..., :n]
        return w, v, np.split(a, np.cumsum(self.sizes)[:-1], axis=-1)

    @property
    def held(self) -> slice:
        """The unknowns that w and v follow from."""
        n, p = self.R.shape
        if self.parabolas is not None:
            return slice(0, n)
        return slice(n if self.gram is None else 0, n + p)

    def variables(self, u: Array) -> tuple[Array, Array]:
        """Return w and v by the unknowns `held` (..., k)."""
        w, v = np.split(u, [u.shape[-1] - self.free], axis=-1)
        if self.parabolas is not None:
            return w, v
        if self.gram is not None:
            a = u[..., : self.R.shape[0]]
            w = (a if self.separate else a @ self.rows) / self.scale
        return w, v / self.scale


def read(line: Line, face: str = "auto") -> Statement:
    """Read a model along its parameter, in the parameter t - t0.

    Parameters
    ----------
    line : Line
        From `solution_paths.problem.along`.
    face : "auto", "dual", "primal" or "saddle"
        "dual" eliminates the weights where a ridge alone holds them; by default with a kernel, and
        where there are more features than losses. "primal" eliminates the duals of losses that are
        parabolas, beside piecewise linear penalties; by default where there are no more variables
        than losses, or than `WIDE` times as many and `ROOM`. Where that can't be, and in "saddle",
        nothing is.
    """
    problem, rates = line.start, line.rates
    d, free = problem.features, problem.n_free
    rows = _below([group.X for group in problem.losses], problem.kernel is None)
    columns = np.vstack([dense(group.free) for group in problem.losses])
    n = rows.shape[0]
    few = not sp.issparse(rows) and d + free <= max(n, min(ROOM, WIDE * n))
    if face == "primal" or (face == "auto" and few):
        found = _primal(problem, rates, rows, columns)
        if found is not None:
            return found
    possible = problem.pure_ridge and (face == "dual" or (face == "auto" and d > n))
    eliminated = problem.kernel is not None or possible
    scale = float(problem.ridge) if eliminated else 1.0
    shapes = [
        _shape(group.pieces, f"losses[{k}]", rates).scaled(scale)
        for k, group in enumerate(problem.losses)
    ]
    shapes += _variables(problem, rates, 0 if eliminated else d)
    constraint = problem.constraint
    if constraint is not None:
        shapes.append(_bound(constraint.radius, float(rates["constraint.radius"])))
    weights = np.zeros((n, 0)) if eliminated else rows
    return Statement(
        R=beside(weights, columns),
        gram=_gram(rows, problem.kernel) if eliminated else None,
        ridge=np.r_[np.full(weights.shape[1], float(problem.ridge)), np.zeros(free)],
        widening=None if constraint is None else np.asarray(constraint.free, float),
        shapes=shapes,
        scale=scale,
        rows=rows,
        free=free,
        sizes=[len(group.pieces) for group in problem.losses],
    )


def _variables(problem: Problem, rates: dict[str, Array], weights: int) -> list[Shape]:
    """Return the functions of weights, where these are unknowns, and of free variables."""
    shapes = []
    if problem.penalty is not None:
        shapes.append(_shape(problem.penalty, "penalty", rates))
    elif weights:
        shapes.append(_linear(np.zeros(weights), np.zeros(weights)))
    if problem.n_free:
        shapes.append(_linear(problem.linear, rates["linear"]))
    return shapes


def _primal(
    problem: Problem, rates: dict[str, Array], rows: Any, columns: Array
) -> Statement | None:
    """Return the statement in weights and free variables alone, if losses are fixed parabolas.

    With losses q z^2/2 + s z the optimum of x = (w, v) is where G x + g + p = 0, with
    G = B' diag(q) B + ridge, g = B's, B = (X, columns), and p_j in the subdifferential of the
    j-th penalty. So (G x)_j and x_j lie on the graph of the penalty's conjugate, as z and a do on
    that of a loss.
    """
    if problem.kernel is not None or problem.constraint is not None or problem.penalty is None:
        return None
    moving = any(
        rates[f"losses[{k}].{part}"].any()
        for k in range(len(problem.losses))
        for part in ("knots", "slopes")
    )
    parabolas = all(_is_parabola(group.pieces) for group in problem.losses)
    if moving or not parabolas or problem.penalty.curvature.any():
        return None
    q = np.concatenate([group.pieces.curvature[:, 0] for group in problem.losses])
    knot = np.concatenate([group.pieces.knots[:, 0] for group in problem.losses])
    slope = np.concatenate([group.pieces.slopes[:, 0] for group in problem.losses])
    s = Twofold.of(slope).plus(Twofold.of(knot).by(-q))
    B = beside(dense(rows), columns)
    d, p = rows.shape[1], B.shape[1]
    high, low = np.zeros((p, p + 1)), np.zeros((p, p + 1))
    weighted_squares(B, q, *s, high, low)
    weight = np.arange(d)
    diagonal = Twofold(high[weight, weight], low[weight, weight])
    ridge = Twofold.of(np.full(d, float(problem.ridge)))
    high[weight, weight], low[weight, weight] = diagonal.plus(ridge)
    shapes, first = [], 0
    for shape in _variables(problem, rates, d):
        of = slice(first, first + len(shape))
        shapes.append(shape.conjugate(Twofold(high[of, p], low[of, p])))
        first = of.stop
    return Statement(
        R=np.zeros((p, 0)),
        gram=np.ascontiguousarray(high[:, :p]),
        low=np.ascontiguousarray(low[:, :p]),
        ridge=np.zeros(0),
        widening=None,
        shapes=shapes,
        scale=1.0,
        rows=rows,
        free=problem.n_free,
        sizes=[len(group.pieces) for group in problem.losses],
        parabolas=(B, q, s.high),
    )


def _is_parabola(f: Pieces) -> bool:
    """Tell whether functions are a q z^2/2 + s z each, with q > 0."""
    q = f.curvature
    alike = (q > 0).all() and (q == q[:, :1]).all()
    at = f.slopes[:, 1:] - q[:, :1] * f.knots
    return bool(alike and f.smooth and (at == at[:, :1]).all())


def _below(maps: list[Any], sparsely: bool) -> Any:
    """Return matrices below each other: an array or, if they may be, in CSR where that is large."""
    parts = [entries(X) for X in maps]
    size = sum(part.shape[0] * part.shape[1] for part in parts)
    if sparsely and size > ENTRIES:
        count = sum(part.nnz if sp.issparse(part) else part.size for part in parts)
        if 2 * count <= size:
            return sp.csr_array(sp.vstack([sp.csr_array(part) for part in parts]), dtype=float)
    return np.vstack([dense(part) for part in parts])


def beside(A: Any, B: Any) -> Any:
    """Return two matrices beside each other, in CSR if any is."""
    if not (sp.issparse(A) or sp.issparse(B)):
        return np.ascontiguousarray(np.hstack([A, B]))
    R = sp.csr_array(sp.hstack([sp.csr_array(A), sp.csr_array(B)]), dtype=float)
    R.sum_duplicates()  # indices are in order, too
    return R


def dense(X: Any) -> Array:
    """Return an array, rows in order, of an array or a sparse matrix."""
    return np.ascontiguousarray(X.toarray() if sp.issparse(X) else X, dtype=float)


def _gram(rows: Any, kernel: Array | None) -> Array:
    if kernel is None:
        K = dense(rows @ rows.T)
    elif np.array_equal(rows, np.eye(len(rows))):
        K = kernel
    else:
        K = rows @ kernel @ rows.T
    return np.ascontiguousarray((K + K.T) / 2)


def _shape(f: Pieces, name: str, rates: dict[str, Array]) -> Shape:
    """Return the functions f, with a knot wherever a domain ends."""
    knots, slopes, q = f.knots, f.slopes, f.curvature
    moving = [rates[f"{name}.{part}"] for part in ("knots", "slopes")]
    closed = []
    for end, at, side in ((f.low, 0, "low"), (f.high, -1, "high")):
        rate = rates[f"{name}.{side}"]
        meets = (end == knots[:, at]) & (rate == moving[0][:, at])
        if np.any(np.isfinite(end) & ~meets):
            there = np.where(np.isfinite(end), end, knots[:, at])
            place = 0 if at == 0 else knots.shape[1]
            rate = np.where(np.isfinite(end), rate, moving[0][:, at])
            # segment 0 is stated at its right end, so its slope at a new knot differs
            beyond = q[:, at] * (there - knots[:, at])
            beyond_rate = q[:, at] * (rate - moving[0][:, at])
            if at == 0:
                slopes = np.insert(slopes, 0, slopes[:, 0] + beyond, axis=1)
                slopes[:, 1] = slopes[:, 0]
                moving[1] = np.insert(moving[1], 0, moving[1][:, 0] + beyond_rate, axis=1)
                moving[1][:, 1] = moving[1][:, 0]
            else:
                slopes = np.column_stack([slopes, slopes[:, -1] + beyond])
                moving[1] = np.column_stack([moving[1], moving[1][:, -1] + beyond_rate])
            q = np.insert(q, place if at == 0 else q.shape[1], q[:, at], axis=1)
            knots = np.insert(knots, place, there, axis=1)
            moving[0] = np.insert(moving[0], place, rate, axis=1)
        closed.append(np.isfinite(end))
    if np.any(f.low == f.high):  # two knots: a start needs a segment that a value can be on
        knots, moving[0] = (np.column_stack([x, x[:, -1]]) for x in (knots, moving[0]))
        slopes, moving[1] = (np.column_stack([x, x[:, -1]]) for x in (slopes, moving[1]))
        q = np.column_stack([q, q[:, -1]])
    return Shape(
        Moving.of(knots, moving[0]), Moving.of(slopes, moving[1]), q, np.column_stack(closed)
    )


def _linear(slope: Array, rate: Array) -> Shape:
    """Return linear functions, with a knot at 0 at which a start can hold a variable."""
    d = len(slope)
    both = Moving.of(np.column_stack([slope, slope]), np.column_stack([rate, rate]))
    return Shape(Moving.of(np.zeros((d, 1))), both, np.zeros((d, 2)), np.zeros((d, 2), dtype=bool))


def _bound(radius: float, rate: float) -> Shape:
    """Return the function that is 0 up to the radius and infinite beyond."""
    knot = Moving.of(np.array([[radius]]), np.array([[rate]]))
    nothing = np.zeros((1, 2))
    return Shape(knot, Moving.of(nothing), nothing, np.array([[False, True]]))
