"""Staircases as the homotopy reads them: the graph of each coordinate, place by place.

A sample's staircase is the graph of its loss: piece r is segment r, kink r is knot r, so its states
are places. A feature's value and dual change roles, as minus its dual is the coefficient x: its
levels are knots of x and its kinks the slopes between, and state s is place s + 1. A free variable
has one kink and no finite level; it gets a knot, at which a start can hold it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..homotopy import loop, tolerances
from ..homotopy.graphs import Tabled
from ..homotopy.statement import ENTRIES, Statement, beside, dense
from ..homotopy.twofold import weighted_squares
from ..homotopy.units import Units
from ..problem.twofold import Twofold
from .map import Map
from .staircase import Staircases

SMALL = 200  # rows and columns of which the system may hold all: products square its condition
Floats = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(eq=False)
class Tables:
    """The graphs of N coordinates with P places at most, as `homotopy.graphs.Graphs` has them.

    Attributes
    ----------
    equation, lower, upper : (N, P, 4)
        For each place its right-hand side and its limits: value and rate, two parts each.
    curvature : (N, P)
    exists, hollow, still : (N, P) of bool
    """

    equation: Floats
    lower: Floats
    upper: Floats
    curvature: Floats
    exists: NDArray[np.bool_]
    hollow: NDArray[np.bool_]
    still: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Layout:
    """Where a map's samples and features are among the coordinates of the homotopy.

    Attributes
    ----------
    statement : Statement
        Of samples, columns under the ridge (unless there is a Gram matrix), and features.
    n, columns, p : int
        The number of each.
    free : (n + p,) of bool
        Which coordinates are free variables.
    unit : float
        What values of samples and coefficients are multiplied by.
    """

    statement: Statement
    n: int
    columns: int
    p: int
    free: NDArray[np.bool_]
    unit: float

    @classmethod
    def of(cls, op: Map, stairs: Staircases) -> Layout:
        """Lay out the coordinates of a map."""
        n, p = op.n, op.p
        gram, low, X = op.K, None, op.X
        wide = gram is None and X.shape[1] > n and n + X.shape[1] > SMALL
        if wide and not (sp.issparse(X) and n * n > ENTRIES):
            gram, low = _products(X)
            X = X[:, :0]
        columns, unit = (X.shape[1], 1.0) if gram is None else (0, 1.0 / op.scale)
        R = dense(op.B) if gram is not None else _beside(X, op.B)
        if (stairs.soft[:n] != 0.0).any():
            raise NotImplementedError("Samples with soft kinks have a curvature of their own.")
        ridge = np.concatenate([np.full(columns, 1.0 / op.scale), -stairs.soft[n:]])
        statement = Statement(
            R=R,
            gram=None if gram is None else np.ascontiguousarray(gram),
            low=low,
            ridge=ridge,
            widening=None,
            shapes=[],
            scale=1.0,
            rows=R,
            free=0,
            sizes=[n],
            silent=columns,
        )
        # the same for all staircases of the map, as long as no feature's softness changes
        gram = np.zeros((0, 0)) if statement.gram is None else statement.gram
        statement.__dict__["units"] = Units.of(statement.R, gram, ridge, False)
        outer = stairs.level0[:, :2]
        free = (stairs.n_kinks == 1) & np.isinf(outer).all(axis=1)
        free[:n] = False
        return cls(statement, n, columns, p, free, unit)

    @property
    def own(self) -> Places:
        """(n + p,) the coordinates of samples and features."""
        first = self.n + self.columns
        return np.r_[0 : self.n, first : first + self.p]

    def expanded(self, stairs: Staircases, at: Floats | None = None) -> Staircases:
        """Return staircases in which a free variable has a level ``at`` (p,) between two kinks."""
        if not self.free.any():
            return stairs
        more = (0, 0), (0, max(2 - stairs.kink0.shape[1], 0))
        names = "kink0", "kink1", "level0", "level1"
        parts = {name: np.pad(getattr(stairs, name), more) for name in names}
        who, n_kinks = np.flatnonzero(self.free), stairs.n_kinks.copy()
        for name in ("kink0", "kink1"):
            parts[name][who, 1] = parts[name][who, 0]
        parts["level0"][who, 1] = 0.0 if at is None else -at[who - self.n]
        parts["level0"][who, 2], parts["level1"][who, :3] = -np.inf, 0.0
        n_kinks[who] = 2
        return replace(stairs, **parts, n_kinks=n_kinks)

    def places(self, state: NDArray[Any]) -> Places:
        """Return the places of all coordinates by the states (n + p,) of expanded staircases."""
        place = np.full(self.n + self.columns + self.p, 2, dtype=np.int64)
        place[: self.n] = state[: self.n]
        place[self.n + self.columns :] = state[self.n :].astype(np.int64) + 1
        return place

    def states(self, place: Places) -> NDArray[np.int8]:
        """Return the states (..., n + p) by places (..., N); free variables are at their kink."""
        first = self.n + self.columns
        state = np.concatenate([place[..., : self.n], place[..., first:] - 1], axis=-1)
        return np.where(self.free, 1, state).astype(np.int8)

    def tables(self, stairs: Staircases, like: NDArray[np.bool_] | None = None) -> Tables:
        """Return the graphs of expanded staircases, whose knots are hollow only where ``like``."""
        Q, n, first = stairs.kink0.shape[1], self.n, self.n + self.columns
        last = np.isfinite(stairs.level0[n:, Q]) & (stairs.n_kinks[n:] == Q)
        P = max(2 * Q + 3 if last.any() else 2 * Q + 1, 3 if self.columns else 1)
        made = _empty(first + self.p, P)
        _write_samples(made, slice(0, n), _part(stairs, slice(0, n)), self.unit)
        if self.columns:
            _write_columns(made, slice(n, first))
        if self.p:
            of = slice(first, first + self.p)
            _write_features(made, of, _part(stairs, slice(n, n + self.p)), self.unit)
        if like is not None:
            made.hollow[:] &= like
        made.still[:] = made.hollow
        _reach_over(made, np.r_[n:first, first + np.flatnonzero(self.free[n:])])
        return made

    def samples(self, stairs: Staircases, like: Tabled) -> Tables:
        """Return the graphs of some samples, with as many places as those of ``like``."""
        part = _empty(len(stairs), like.exists.shape[1])
        _write_samples(part, slice(0, len(stairs)), stairs, self.unit)
        return part

    def walls(self, tables: Tables, walls: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return the marks of places: knots that are hollow, and samples' kinks that are walls."""
        marks = tables.hollow.astype(np.int8)
        for q in range((marks.shape[1] - 1) // 2):
            marks[: self.n, 2 * q + 1][(walls[: self.n] >> q) & 1 == 1] = loop.WALL_MARK
        return marks


def _products(X: Any) -> tuple[Floats, Floats | None]:
    """Return X X' in two parts; of sparse rows the first alone."""
    if sp.issparse(X):
        return dense(X @ X.T), None
    n, columns = X.shape
    ones, none = np.ones(columns), np.zeros(columns)
    high, low = np.zeros((n, n + 1)), np.zeros((n, n + 1))
    weighted_squares(np.ascontiguousarray(X.T), ones, none, none, high, low)
    return np.ascontiguousarray(high[:, :n]), np.ascontiguousarray(low[:, :n])


def _beside(X: Any, B: Any) -> Any:
    """Return (X, B) as an array or, if any is sparse and both are large, in CSR."""
    few = X.shape[0] * (X.shape[1] + B.shape[1]) <= ENTRIES
    return beside(dense(X), dense(B)) if few else beside(X, B)


def _part(stairs: Staircases, of: slice | Places) -> Staircases:
    return Staircases(*(own[of] for own in vars(stairs).values()))


def _empty(N: int, P: int) -> Tables:
    equation, lower, upper = np.zeros((3, N, P, 4))
    lower[..., 0], upper[..., 0] = -np.inf, np.inf
    exists, hollow, still = np.zeros((3, N, P), dtype=bool)
    return Tables(equation, lower, upper, np.zeros((N, P)), exists, hollow, still)


def _numbers(value: Floats, rate: Floats, unit: float = 1.0) -> Floats:
    """Return value + rate t, times the unit, as four numbers; infinite ones stand still."""
    finite = np.isfinite(value)
    out = np.zeros((*value.shape, 4))
    if unit == 1.0:
        out[..., 0], out[..., 2] = value, np.where(finite, rate, 0.0)
        return out
    out[..., 0], out[..., 1] = Twofold.of(np.where(finite, value, 0.0)).by(unit)
    out[..., 2], out[..., 3] = Twofold.of(np.where(finite, rate, 0.0)).by(unit)
    out[~finite, 0] = value[~finite]
    return out


def _no_width(left: Floats, right: Floats) -> NDArray[np.bool_]:
    """Tell where two moving numbers are the same at any t."""
    with np.errstate(invalid="ignore"):
        width = np.abs(left[..., ::2] - right[..., ::2])
    terms = np.abs(left[..., ::2]) + np.abs(right[..., ::2])
    return np.asarray(
        (width <= tolerances.HOLLOW * terms).all(axis=-1) & np.isfinite(width[..., 0])
    )


def _write_samples(made: Tables, of: slice, stairs: Staircases, unit: float) -> None:
    Q, count = stairs.kink0.shape[1], stairs.n_kinks
    kinks = _numbers(stairs.kink0, stairs.kink1, unit)
    levels = _numbers(stairs.level0, stairs.level1)
    nothing = np.zeros(4)
    for r in range(Q + 1):
        here = (r <= count) & np.isfinite(levels[:, r, 0])
        made.exists[of, 2 * r] = here
        made.equation[of, 2 * r] = np.where(here[:, None], levels[:, r], nothing)
        if r > 0:
            made.lower[of, 2 * r] = np.where((r <= count)[:, None], kinks[:, r - 1], nothing)
        if r < Q:
            made.upper[of, 2 * r][r < count] = kinks[r < count, r]
    for r in range(Q):
        here = r < count
        made.exists[of, 2 * r + 1] = here
        made.equation[of, 2 * r + 1] = np.where(here[:, None], kinks[:, r], nothing)
        made.lower[of, 2 * r + 1] = levels[:, r + 1]
        made.upper[of, 2 * r + 1] = levels[:, r]
        made.hollow[of, 2 * r + 1] = here & _no_width(levels[:, r], levels[:, r + 1])


def _write_columns(made: Tables, of: slice) -> None:
    """Write weights that only the ridge holds: they are always on the segment between no knots."""
    made.exists[of, :3] = True
    made.lower[of, 1, 0] = made.upper[of, 1, 0] = 0.0
    made.lower[of, 2, 0] = made.upper[of, 0, 0] = 0.0
    made.hollow[of, 1] = True


def _write_features(made: Tables, of: slice, stairs: Staircases, unit: float) -> None:
    Q, count = stairs.kink0.shape[1], stairs.n_kinks
    slopes = -_numbers(stairs.kink0, stairs.kink1)
    knots = -_numbers(stairs.level0, stairs.level1, unit)
    infinite = np.array([np.inf, 0.0, 0.0, 0.0])
    made.upper[of, 0] = -infinite  # nothing is there
    for r in range(Q + 1):  # piece r: x at minus its level
        here, place = (r <= count) & np.isfinite(knots[:, r, 0]), 2 * r + 1
        if place == made.exists.shape[1]:
            break  # all domains are open on the right
        made.exists[of, place] = here
        made.equation[of, place] = knots[:, r]
        below = slopes[:, r] if r < Q else np.broadcast_to(-infinite, (len(count), 4))
        made.lower[of, place] = np.where((r < count)[:, None], below, -infinite)
        made.upper[of, place] = slopes[:, r - 1] if r > 0 else infinite
        if 0 < r < Q:
            inner = here & (r < count)
            made.hollow[of, place] = inner & _no_width(slopes[:, r - 1], slopes[:, r])
    for r in range(Q):  # kink r: x between two levels
        here, place = r < count, 2 * r + 2
        made.exists[of, place] = here
        made.equation[of, place] = np.where(here[:, None], slopes[:, r], 0.0)
        made.lower[of, place] = knots[:, r]
        made.upper[of, place] = knots[:, r + 1]


def _reach_over(made: Tables, who: Places) -> None:
    """Let segments reach over the knots of variables where nothing ever changes.

    Samples without a weight pass their kinks, so that their states are right if they get one.
    """
    knots = (np.arange(made.lower.shape[1]) % 2 == 1) & made.exists[who]
    nothing = who[np.all(made.still[who] | ~knots, axis=1)]
    for side, end in ((made.lower, -np.inf), (made.upper, np.inf)):
        own = side[nothing, ::2]
        own[made.exists[nothing, ::2]] = [end, 0.0, 0.0, 0.0]
        side[nothing, ::2] = own
