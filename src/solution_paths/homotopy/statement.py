"""A parametric problem as equations and graphs for the homotopy.

Coordinates are the rows (losses), then the variables, then the l1 constraint if there is one. All
unknowns of a problem are variables with a penalty: a weight without one has slopes 0, a free
variable the slope of its linear term. The maps are

    z_rows = R x + G a_rows,    R' a_rows + a_variables = ridge x

with G = 0 where the weights are variables, and the Gram matrix where they are eliminated (their
ridge is positive and nothing penalises them): then z and the free variables are times the ridge.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..problem import Line, Pieces
from ..problem.maps import entries, is_identity
from ..problem.symmetric import symmetrised
from ..twofold import Twofold
from .graphs import Graphs, Shape
from .moving import Moving
from .twofold import weighted_squares
from .units import Units

Array = NDArray[np.float64]
GRAM_VARIABLES = 2_000  # variables whose Gram matrix fits into memory
WIDE_RATIO = 4  # variables over losses, from which on the Gram matrix of variables costs more
DUAL_FEATURES = 500  # features from which on a Gram matrix of samples pays: its entries are rounded
SPARSE_SHARE = 0.25  # share of nonzero entries below which CSR is worth its indices
DENSE_ENTRIES = 2**24  # 128 MB: matrices up to this size are dense, which is several times as fast


@dataclass
class ParametricKKT:
    """The KKT conditions of a parametric problem: map and graphs; recovers w, v and duals.

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
        The map from weights to the z of losses; with a kernel its transpose maps duals to
        coefficients, and it is in CSR where each coefficient belongs to one row.
    free : int
        Number r of free variables, the last of the p.
    sizes : list of int
        Of the groups of losses.
    silent : int
        Number of variables, the first ones, that are not recorded: those of a kernel's factor.
    parabolas : (B, q, s) or None
        In the primal face the losses' derivatives q z + s, and z = B (w, v).
    spare : Spare or None
        Memory of a walk that has ended, for the next one: see `run.Homotopy.release`.
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
    spare: Any = None

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

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"spare": None}  # its addresses belong to this process

    @cached_property
    def units(self) -> Units:
        """The units of the coordinates."""
        gram = np.zeros((0, 0)) if self.gram is None else self.gram
        return Units.of(self.R, gram, self.ridge, self.constrained)

    @cached_property
    def separate(self) -> bool:
        """Whether each weight belongs to one row."""
        return is_identity(self.rows)

    @property
    def face(self) -> str:
        """Which unknowns are eliminated: weights (dual), duals of losses (primal), or none."""
        if self.gram is None:
            return "factor" if self.silent else "saddle"
        return "dual" if self.parabolas is None else "primal"

    @cached_property
    def graphs(self) -> Graphs:
        """The graphs of all coordinates."""
        return Graphs(self.shapes, self.widened)

    def graphs_of(self, shapes: list[Shape]) -> Graphs:
        """Return the graphs of other functions of the same coordinates."""
        return Graphs(shapes, self.widened, self.graphs)

    def along(self, line: Line) -> ParametricKKT:
        """Return the statement of another line, which has the same matrices."""
        if self.parabolas is not None:
            raise ValueError("A path in the primal face can't be continued.")
        other = copy(self)
        other.__dict__.pop("graphs", None)
        weights = self.R.shape[1] - self.free
        other.shapes = _shapes(line, self.scale, weights)
        return other

    def answer(self, u: Array) -> tuple[Array, Array, list[Array]]:
        """Return w, v and the duals of each group of losses from unknowns u (..., N)."""
        return *self.variables(u[..., self.held]), self.duals(u)

    def duals(self, u: Array) -> list[Array]:
        """Return the duals of each group of losses from unknowns u (..., N)."""
        n, _ = self.R.shape
        if self.parabolas is not None:
            B, q, s = self.parabolas
            a = -(s + q * (u @ B.T))
            rounding = (n + 2) * np.finfo(float).eps * (np.abs(s) + q * (np.abs(u) @ np.abs(B).T))
            a = np.where(np.abs(a) <= rounding, 0.0, a)
        else:
            a = u[..., :n]
        return np.split(a, np.cumsum(self.sizes)[:-1], axis=-1)

    @property
    def held(self) -> slice:
        """The slice of the unknowns from which w and v follow."""
        n, p = self.R.shape
        if self.parabolas is not None:
            return slice(0, n)
        return slice(n if self.gram is None and not self.silent else 0, n + p)

    def variables(self, u: Array) -> tuple[Array, Array]:
        """Return w and v from the unknowns `held` (..., k)."""
        w = u[..., : u.shape[-1] - self.free]
        if self.sums:
            a = u[..., : self.R.shape[0]]
            w = (a if self.separate else self._sums_of_rows(a)) / self.divisor
        return w, self.free_variables(u)

    def _sums_of_rows(self, a: Array) -> Array:
        """Return sum_i a_i x_i for a (..., n); a sparse matrix multiplies no more than two axes."""
        sums = np.asarray(a.reshape(-1, a.shape[-1]) @ self.rows)
        return sums.reshape(*a.shape[:-1], self.rows.shape[1])

    def free_variables(self, u: Array) -> Array:
        """Return v from the same unknowns."""
        return u[..., u.shape[-1] - self.free :] / self.scale

    @property
    def solution_size(self) -> int:
        """How many numbers a solution has: its unknowns or, if they are more, its weights."""
        return max(self.size, self.rows.shape[1])

    @property
    def sums(self) -> bool:
        """Whether weights are sums of rows times duals, divided by `divisor`."""
        return self.face in ("dual", "factor")

    @cached_property
    def terms(self) -> Any:
        """The rows, in CSR where most entries are zero: sums term by term skip zeros."""
        sparse = (
            not sp.issparse(self.rows)
            and np.count_nonzero(self.rows) < SPARSE_SHARE * self.rows.size
        )
        return sp.csr_array(self.rows) if sparse else self.rows

    @property
    def divisor(self) -> float:
        """The ridge by which weights are divided where they are sums."""
        return float(self.ridge[0] if self.silent else self.scale)


def read(line: Line, face: str = "auto") -> ParametricKKT:
    """Read a model along its parameter, in the parameter t - t0.

    Parameters
    ----------
    line : Line
        From `solution_paths.problem.along`.
    face : "auto", "dual", "primal" or "saddle"
        "dual" eliminates the weights where they have a ridge alone; by default with a kernel
        without a factor, and for at least `DUAL_FEATURES` features and `WIDE_RATIO` times as many
        as losses. "primal" eliminates the duals of losses that are parabolas, beside piecewise
        linear penalties; by default for no more variables than losses or, without a ridge, than
        `WIDE_RATIO` times the losses and `GRAM_VARIABLES`. "saddle" eliminates nothing, nor do the
        others where it is impossible.
    """
    problem = line.start
    d, free = problem.features, problem.n_free
    first = problem.losses[0].X
    if problem.kernel is not None and len(problem.losses) == 1 and is_identity(first):
        rows = sp.eye_array(first.shape[0], format="csr")
    else:
        rows = _below([group.X for group in problem.losses], problem.kernel is None)
    columns = np.vstack([dense(group.free) for group in problem.losses])
    n = rows.shape[0]
    most = n if problem.ridge > 0 else max(n, min(GRAM_VARIABLES, WIDE_RATIO * n))
    few = not sp.issparse(rows) and d + free <= most
    if face == "primal" or (face == "auto" and few):
        statement = _primal(line, rows, columns)
        if statement is not None:
            return statement
    possible = problem.pure_ridge and (
        face == "dual" or (face == "auto" and d >= max(WIDE_RATIO * n, DUAL_FEATURES))
    )
    factor = problem.factor if face in ("auto", "factor") else None
    eliminated = factor is None and (problem.kernel is not None or possible)
    scale = float(problem.ridge) if eliminated else 1.0
    weights = np.zeros((n, 0)) if eliminated else rows if factor is None else rows @ factor
    constraint = problem.constraint
    return ParametricKKT(
        R=beside(weights, columns),
        gram=_gram(rows, problem.kernel) if eliminated else None,
        ridge=np.r_[np.full(weights.shape[1], float(problem.ridge)), np.zeros(free)],
        widening=None if constraint is None else np.asarray(constraint.free, float),
        shapes=_shapes(line, scale, weights.shape[1]),
        scale=scale,
        rows=rows,
        free=free,
        sizes=[len(group.pieces) for group in problem.losses],
        silent=0 if factor is None else factor.shape[1],
    )


def shape_of_losses(line: Line, scale: float) -> Shape:
    """Return the single group of losses of a line as functions of t, with scaled values."""
    shape = shape_of(line.start.losses[0].pieces, "losses[0]", line).scaled(scale)
    knots, slopes = (numbers.since(-line.t0) for numbers in (shape.knots, shape.slopes))
    return replace(shape, knots=knots, slopes=slopes)


def _shapes(line: Line, scale: float, weights: int) -> list[Shape]:
    """Return the functions of losses (with scaled values), of variables and of the constraint."""
    problem = line.start
    shapes = [
        shape_of(group.pieces, f"losses[{k}]", line).scaled(scale)
        for k, group in enumerate(problem.losses)
    ]
    shapes += _variables(line, weights)
    if problem.constraint is not None:
        name = "constraint.radius"
        shapes.append(_bound(_numbers(np.array(problem.constraint.radius), name, line)))
    return shapes


def _variables(line: Line, weights: int) -> list[Shape]:
    """Return the functions of weights, if these are unknowns, and of free variables."""
    problem, shapes = line.start, []
    if problem.penalty is not None:
        shapes.append(shape_of(problem.penalty, "penalty", line))
    elif weights:
        shapes.append(_linear(np.zeros((weights, 3))))
    if problem.n_free:
        shapes.append(_linear(_numbers(problem.linear, "linear", line)))
    return shapes


def _primal(line: Line, rows: Any, columns: Array) -> ParametricKKT | None:
    """Return the statement in weights and free variables alone, if losses are fixed parabolas.

    With losses q z^2/2 + s z the optimum of x = (w, v) is where G x + g + p = 0, with
    G = B' diag(q) B + ridge, g = B's, B = (X, columns), and p_j in the subdifferential of the
    j-th penalty. So (G x)_j and x_j lie on the graph of the penalty's conjugate, as z and a do on
    that of a loss.
    """
    problem = line.start
    if problem.kernel is not None or problem.constraint is not None or problem.penalty is None:
        return None
    moving = any(
        line.rates[f"losses[{k}].{part}"].any()
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
    for shape in _variables(line, d):
        group = slice(first, first + len(shape))
        shapes.append(shape.conjugate(Twofold(high[group, p], low[group, p])))
        first = group.stop
    return ParametricKKT(
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
    equal = (q > 0).all() and (q == q[:, :1]).all()
    intercept = f.slopes[:, 1:] - q[:, :1] * f.knots
    return bool(equal and f.smooth and (intercept == intercept[:, :1]).all())


def _below(maps: list[Any], sparsely: bool) -> Any:
    """Return stacked matrices: dense or, if ``sparsely`` and large with few nonzeros, in CSR."""
    matrices = [entries(X) for X in maps]
    size = sum(matrix.shape[0] * matrix.shape[1] for matrix in matrices)
    if sparsely and size > DENSE_ENTRIES:
        count = sum(matrix.nnz if sp.issparse(matrix) else matrix.size for matrix in matrices)
        if 2 * count <= size:
            return sp.csr_array(
                sp.vstack([sp.csr_array(matrix) for matrix in matrices]), dtype=float
            )
    return np.vstack([dense(matrix) for matrix in matrices])


def beside(A: Any, B: Any) -> Any:
    """Return two matrices side by side, in CSR if either is sparse."""
    if not (sp.issparse(A) or sp.issparse(B)):
        return np.ascontiguousarray(np.hstack([A, B]))
    R = sp.csr_array(sp.hstack([sp.csr_array(A), sp.csr_array(B)]), dtype=float)
    R.sum_duplicates()  # indices are in order, too
    return R


def dense(X: Any) -> Array:
    """Return an array or a sparse matrix as an array that is contiguous by rows."""
    return np.ascontiguousarray(X.toarray() if sp.issparse(X) else X, dtype=float)


def _gram(rows: Any, kernel: Array | None) -> Array:
    if kernel is None:
        K = dense(rows @ rows.T)
    else:
        K = kernel if is_identity(rows) else rows @ kernel @ rows.T
    return symmetrised(K)


def shape_of(f: Pieces, name: str, line: Line) -> Shape:
    """Return the functions f, with a knot wherever a domain ends."""
    knots, slopes, low, high = (
        _numbers(getattr(f, part), f"{name}.{part}", line)
        for part in ("knots", "slopes", "low", "high")
    )
    q, closed = f.curvature, []
    for end, at in ((low, 0), (high, -1)):
        ends = np.isfinite(end[:, 0])
        if (ends & (end != knots[:, at]).any(axis=1)).any():
            knot = np.where(ends[:, None], end, knots[:, at])
            # segment 0 is stated at its right end, so its slope at a new knot differs
            beyond = q[:, at, None] * (knot - knots[:, at])
            place, last = (0, 0) if at == 0 else (knots.shape[1], slopes.shape[1])
            slopes = np.insert(slopes, last, slopes[:, at] + beyond, axis=1)
            if at == 0:
                slopes[:, 1] = slopes[:, 0]
            q = np.insert(q, last, q[:, at], axis=1)
            knots = np.insert(knots, place, knot, axis=1)
        closed.append(ends)
    if np.any(f.low == f.high):  # two knots, since a start needs a segment for each value
        knots, slopes = (np.concatenate([x, x[:, -1:]], axis=1) for x in (knots, slopes))
        q = np.column_stack([q, q[:, -1]])
    return Shape(_moving(knots), _moving(slopes), q, np.column_stack(closed))


def _numbers(values: Array, name: str, line: Line) -> Array:
    """Return numbers with their rates, in two parts, on the last axis."""
    return np.stack([values, line.rates[name], line.low[name]], axis=-1)


def _moving(numbers: Array) -> Moving:
    """Return numbers with rates, from `_numbers`, as `Moving`."""
    value, rate, low = np.moveaxis(numbers, -1, 0)
    return Moving(Twofold.of(value), Twofold(rate, low))


def _linear(slopes: Array) -> Shape:
    """Return linear functions, with a knot at 0 at which a start can fix a variable."""
    d, both = len(slopes), _moving(np.stack([slopes, slopes], axis=1))
    return Shape(Moving.of(np.zeros((d, 1))), both, np.zeros((d, 2)), np.zeros((d, 2), dtype=bool))


def _bound(radius: Array) -> Shape:
    """Return the function that is 0 up to the radius and infinite beyond."""
    knot = _moving(radius[None, None])
    zeros = np.zeros((1, 2))
    return Shape(knot, Moving.of(zeros), zeros, np.array([[False, True]]))
