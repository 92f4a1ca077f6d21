"""One dense symmetric system for every statement.

With the duals a of rows and the values x of variables as unknowns u, the map is the symmetric

    H = [ G   R      ]        H u = (z of rows, R'a - ridge x of variables),
        [ R' -ridge  ]

and each place states one equation: at a knot of a row z = p, at a knot of a variable x = p, on a
segment q z + a = q p - s. Rows on straight segments and variables at knots are *known*; the others
are the unknowns of M = H_UU + D, where D is 0 for a row at a knot, 1/q for a row on a curved
segment, -q for a variable. With eliminated weights this is the dual face, with G = 0 the saddle
face. In the primal face the rows on curved segments are eliminated from it: where all losses are
smooth, the Gram matrix of the nonzero features is left.

M is regular whenever the homotopy solves it. Its inverse, in double precision, only corrects:
residuals come from the data in twofold precision, so what it is worth shows in how fast the
corrections shrink.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import tolerances
from ..state import State
from .kernels import (
    Direction,
    Map,
    add_column,
    add_known,
    direction,
    everywhere,
    refine,
    settle,
    updated,
)

Array = NDArray[np.float64]
Places = NDArray[np.int64]
Pair = tuple[float, float]
T = TypeVar("T")
SUMS = (tolerances.FLOOR, tolerances.CONTRACTION)


class Sums(NamedTuple):
    """Unknowns and what they add up to."""

    u: Array  # (2, N)
    r: Array  # H u
    size: Array  # of u, those of zeros included
    terms: Array  # sums of the absolute terms of H u


class Response(NamedTuple):
    """What the system does when one of its coordinates is pushed."""

    u: Array  # (2, N)
    accuracy: float
    pivot: float  # what a regular system divides by
    singular: bool


class Change(NamedTuple):
    """A coordinate that changes its place, and what it was in the system."""

    i: int
    was_known: bool
    before: float  # its share D of the diagonal


class System:
    """The system of the places of all coordinates, and the inverse of its matrix M.

    Parameters
    ----------
    state : State
    updated : bool
        Whether the inverse is updated by rank one when a place changes; else it is computed afresh.
    face : str
        "saddle" leaves rows on curved segments in M.
    """

    def __init__(self, state: State, updated: bool = True, face: str = "auto"):
        statement = state.statement
        self.state, self.updated, self.widened = state, updated, statement.widened
        self.count = 0 if self.widened is None else self.widened.stop - self.widened.start
        self.n, self.p = statement.rows_and_variables
        gram = np.zeros((0, 0)) if statement.gram is None else statement.gram
        scale = equilibrate(statement.R, gram, statement.ridge, statement.constrained)
        self.map = Map(statement.R, gram, statement.ridge, scale, statement.is_row)
        self.noise = tolerances.NOISE if statement.gram is None else tolerances.BLUR
        N = len(self.state.place)
        self.base, self.base_terms = np.zeros((2, 2, N)), np.zeros((2, N))
        for i in np.flatnonzero(self.state.here.known):
            add_known(self.map, self.state.here, i, 1.0, self.base, self.base_terms)
        self.eliminates = statement.gram is None and face != "saddle"
        self.factor()

    def move(self, i: int, new: int) -> None:
        """Put a coordinate into a place; keep what the known ones add up to."""
        for sign in (-1.0, 1.0):
            if self.state.here.known[i]:
                add_known(self.map, self.state.here, i, sign, self.base, self.base_terms)
            if sign < 0.0:
                self.state.move(i, new)

    def factor(self) -> None:
        """Invert M afresh; of the primal face what is left without rows on curved segments."""
        here = self.state.here
        unknown = np.flatnonzero(~here.known)
        curved = here.second[unknown] * self.map.is_row[unknown] * self.eliminates > 0.0
        self.solved, self.curved = unknown[~curved], unknown[curved]
        U, s = self.solved, self.map.scale[self.solved]
        M = self._entries(U)
        M[np.diag_indices(len(U))] += here.second[U] / here.first[U]
        if len(self.curved):
            of = np.flatnonzero((self.n <= U) & (self.n + self.p > U))
            X = self.map.R[np.ix_(self.curved, U[of] - self.n)]
            M[np.ix_(of, of)] -= X.T @ (here.first[self.curved, None] * X)
        self.inverse = np.linalg.inv(M * s[:, None] * s) * s[:, None] * s

    def _entries(self, U: Places) -> Array:
        """Return the rows and columns of H of these coordinates, in their order."""
        n, p, out = self.n, self.p, np.zeros((len(U), len(U)))
        rows = np.flatnonzero(n > U)
        variables = np.flatnonzero((n <= U) & (n + p > U))
        i, j = U[rows], U[variables] - n
        if len(self.map.gram):
            out[np.ix_(rows, rows)] = self.map.gram[np.ix_(i, i)]
        out[np.ix_(rows, variables)] = self.map.R[np.ix_(i, j)]
        out[np.ix_(variables, rows)] = self.map.R[np.ix_(i, j)].T
        out[variables, variables] = -self.map.ridge[j]
        last = np.flatnonzero(n + p <= U)
        out[np.ix_(variables, last)] = self.state.here.sign[j, None]
        out[np.ix_(last, variables)] = self.state.here.sign[j]
        return out

    # ------------------------------------------------------------------ solutions
    def point(self, t: Pair, guess: Array) -> tuple[Direction, Array]:
        """Return the point whose coordinates satisfy their places' equations at t; its unknowns."""
        return self._settled(t, False, guess)

    def rate(self) -> tuple[Direction, Array]:
        """Return the motion of the point for a unit of t, and that of its unknowns."""
        return self._settled((0.0, 0.0), True, np.zeros_like(self.base[0]))

    def _settled(self, t: Pair, of_rate: bool, guess: Array) -> tuple[Direction, Array]:
        known, limits = (self.base, self.base_terms), (tolerances.NOISE, self.noise, *SUMS)

        def solve() -> tuple[tuple[Direction, Array], float]:
            *found, contraction = settle(
                *self._system(), known, t, of_rate, guess, self.count, limits
            )
            return tuple(found), contraction

        return self._trusted(solve)

    def _solve(self, u: Array, target: Array, base: Array) -> float:
        """Solve for the unknown u, in place; return its accuracy."""
        r = np.empty_like(u)

        def solve() -> tuple[float, float]:
            return refine(*self._system(), target, base, u, r, tolerances.CONTRACTION)

        return float(self._trusted(solve))

    def _trusted(self, solve: Callable[[], tuple[T, float]]) -> T:
        """Return what is solved for; where corrections shrink slowly, with a fresh inverse."""
        found, contraction = solve()
        if self.updated and contraction > tolerances.CONTRACTION:
            self.factor()
            found, contraction = solve()
        if len(self.curved) and contraction > tolerances.CONTRACTION:
            self.eliminates = False  # products square the condition
            self.factor()
            found, _ = solve()
        return found

    def _system(self) -> tuple[Any, ...]:
        return self.map, self.state.here, self.solved, self.curved, self.inverse

    @property
    def unknown(self) -> Places:
        """The coordinates that are solved for."""
        return np.concatenate([self.solved, self.curved])

    def _sums(self, u: Array, base: Array, base_terms: Array, unknown: Places) -> Sums:
        """Return u with its sizes, and what it adds up to with the sizes of the terms."""
        r, size, terms = np.empty_like(u), np.empty(u.shape[1]), np.empty(u.shape[1])
        here, floor = self.state.here, tolerances.FLOOR
        everywhere(self.map, here, unknown, base, base_terms, floor, u, size, r, terms)
        return Sums(u, r, size, terms)

    def _direction(self, sums: Sums, accuracy: float) -> Direction:
        exact = max(tolerances.NOISE, 2.0 * accuracy / tolerances.FLOOR)
        blur, sign = max(exact, self.noise), self.state.here.sign
        return direction(self.map, sign, self.count, *sums, exact, blur)

    # ------------------------------------------------------------------ changes
    def change(self, i: int, new: int) -> Direction | None:
        """Put coordinate i into a new place; return the null vector if that system is singular.

        The null vector is turned so that i moves into its place. None: the system is regular.
        """
        old, change = int(self.state.place[i]), self._change(i)
        found = self._push(i, new)
        self.move(i, new)
        if found is not None and found.singular:
            self.pending = change
            return self._null_vector(i, old, new, found)
        if found is not None:
            self._update(change)
        return None

    def complete(self, k: int, new: int) -> None:
        """Put the coordinate that left along a null vector into its place: all is regular again."""
        change = self._change(k)
        self.move(k, new)
        self._update(self.pending, change)

    def _change(self, i: int) -> Change:
        here = self.state.here
        known = bool(here.known[i])
        return Change(i, known, 0.0 if known else here.second[i] / here.first[i])

    def _push(self, i: int, new: int) -> Response | None:
        """Push coordinate i; return how singular the system is with i in its new place."""
        here, graphs = self.state.here, self.state.graphs
        row, at_knot, q = self.map.is_row[i], new % 2 == 1, graphs.curvature[i, new]
        known = (not at_knot and q == 0.0) if row else at_knot
        if known and here.known[i]:
            return None
        N = len(here.known)
        u, target, base, terms = np.zeros((2, N)), np.zeros((2, N)), np.zeros((2, N)), np.zeros(N)
        if here.known[i]:
            u[0, i] = 1.0
            if self._is_widened(i):
                here.sign[i - self.n] = new - 1.0
            add_column(self.map, here.sign, i, 1.0, 0.0, 1.0, base, terms)
        else:
            target[0, i] = here.first[i]
        accuracy = self._solve(u, target, base)
        delta = (1.0 / q if q else 0.0) if row else -q
        if known:  # taken out: singular if the others move and it does not
            size = np.abs(u[0] / self.map.scale)
            pivot, whole = size[i], size[self.unknown].max()
        elif here.known[i]:  # put in: the pivot is what is left of its own equation
            sums = self._sums(u, base, terms, self.unknown)
            pivot = (sums.r[0, i] + delta) + sums.r[1, i]
            whole = sums.size @ sums.terms if len(self.map.gram) else sums.terms[i]
            # an entry that is this small a share of its column's largest one is rounding, too
            whole += abs(delta) + tolerances.SINGULAR / self.map.scale[i] ** 2
        else:  # its own equation changes
            step = (delta - here.second[i] / here.first[i]) * u[0, i]
            pivot, whole = 1.0 + step, 1.0 + abs(step)
        return Response(u, accuracy, pivot, abs(pivot) <= tolerances.SINGULAR * whole)

    def _update(self, *changes: Change) -> None:
        """Update the inverse for one change or two, or compute it afresh."""
        which, was_known, before = (np.array(x) for x in zip(*changes, strict=True))
        bent = self.eliminates and any(self._is_curved(i) for i in which)
        if not self.updated or len(self.curved) or bent or len(set(which)) < len(which):
            self.factor()
            return
        if len(self.solved) + sum(was_known) - sum(self.state.here.known[which]) == 0:
            self.factor()
            return
        self.solved, self.inverse = updated(
            self.map, self.state.here, self.inverse, self.solved, which, was_known, before
        )

    def _null_vector(self, i: int, old: int, new: int, found: Response) -> Direction:
        """Return the null vector, turned so that i moves from its old place into the new one.

        Along it either duals move or values, never both: M is an indefinite system whose two
        definite parts have null vectors of their own.
        """
        here, u, at_knot = self.state.here, found.u, new % 2 == 1
        u[:, i] = 0.0 if here.known[i] else u[:, i]
        u[:, self.map.is_row != at_knot] = 0.0
        nothing, unknown = np.zeros_like(u), np.flatnonzero(~here.known)
        null = self._direction(self._sums(u, nothing, nothing[0], unknown), found.accuracy)
        still, exact = np.zeros_like(u), np.zeros(u.shape[1])
        way = np.sign(new - old)
        if at_knot:
            inward = -way * null.a[0, i]
            inward -= null.a[0, -1] if self._is_widened(i) else 0.0
            turn = np.sign(inward)
            return Direction(still, turn * null.a, exact, null.a_error)
        turn = way * np.sign(null.z[0, i])
        return Direction(turn * null.z, still, null.z_error, exact)

    def _is_curved(self, i: int) -> bool:
        here = self.state.here
        return bool(self.map.is_row[i] and not here.known[i] and here.second[i] > 0.0)

    def _is_widened(self, i: int) -> bool:
        return self.n <= i < self.n + self.count


def equilibrate(R: Array, gram: Array, ridge: Array, constrained: bool) -> Array:
    """Return powers of two s such that the largest entries of s_i |H_ij| s_j are about 1."""
    n, p = R.shape
    rows, columns = np.ones(n), np.ones(p)
    A = np.abs(R)
    diagonal = np.abs(np.diagonal(gram)) if len(gram) else np.zeros(n)
    for _ in range(8):
        by_row = np.maximum((A * columns).max(axis=1, initial=0.0) * rows, diagonal * rows**2)
        by_column = np.maximum((A.T * rows).max(axis=1, initial=0.0) * columns, ridge * columns**2)
        rows /= np.sqrt(np.where(by_row > 0, by_row, 1.0))
        columns /= np.sqrt(np.where(by_column > 0, by_column, 1.0))
    scale = np.r_[rows, columns, [1.0 / columns.max(initial=1e-300)] * constrained]
    rounded: Array = np.exp2(np.round(np.log2(scale)))
    return rounded
