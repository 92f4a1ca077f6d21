"""One dense symmetric system for every statement.

With the duals a of rows and the values x of variables as unknowns u, the map is the symmetric

    H = [ G   R      ]        H u = (z of rows, R'a - ridge x of variables),
        [ R' -ridge  ]

and each place states one equation: at a knot of a row z = p, at a knot of a variable x = p, on a
segment q z + a = q p - s. Rows on straight segments and variables at knots are *known*; the others
are the unknowns of M = H_UU + D, where D is 0 for a row at a knot, 1/q for a row on a curved
segment, -q for a variable. G = 0 is the saddle face, eliminated weights the dual face.

M is regular whenever the homotopy solves it. When a coordinate changes its place, `respond` says
whether the next system is singular, and along which null vector the optimum may then move.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import tolerances
from ..graphs import Graphs
from ..statement import Statement
from .kernels import apply, magnitudes, refine

Array = NDArray[np.float64]
Places = NDArray[np.int64]


class Direction(NamedTuple):
    """A point or its motion: z and a of all coordinates (2, N), with bounds on their rounding."""

    z: Array
    a: Array
    z_error: Array
    a_error: Array

    def watched(self, at_knot: NDArray[np.bool_]) -> tuple[Array, Array]:
        """Return what may leave its place, with its bound: a at knots, z on segments."""
        return np.where(at_knot, self.a, self.z), np.where(at_knot, self.a_error, self.z_error)


class System:
    """The system of the places of all coordinates, factored afresh at each change.

    Parameters
    ----------
    statement : Statement
    graphs : Graphs
    """

    def __init__(self, statement: Statement, graphs: Graphs):
        self.statement, self.graphs = statement, graphs
        self.R, self.ridge = statement.R, statement.ridge
        self.gram = np.zeros((0, 0)) if statement.gram is None else statement.gram
        self.noise = tolerances.NOISE if statement.gram is None else tolerances.BLUR
        self.is_row = statement.is_row
        self.n, self.p = statement.rows_and_variables
        self.scale = equilibrate(self.R, self.gram, self.ridge, statement.constrained)

    # ------------------------------------------------------------------ places
    def load(self, place: Places) -> None:
        """Take these places, whose system is regular."""
        self.place = place.copy()
        self.sign = self._signs(place)
        self.u = np.zeros((2, len(place)))
        curvature = self.graphs.curvature[self.graphs.all, place]
        at_knot = place % 2 == 1
        self.known = np.where(self.is_row, ~at_knot & (curvature == 0.0), at_knot)
        self.unknown = np.flatnonzero(~self.known)
        # equation i: first (H u)_i + second u_i = target
        self.first = np.where(self.is_row, np.where(at_knot, 1.0, curvature), -1.0)
        self.second = np.where(self.is_row, np.where(at_knot, 0.0, 1.0), curvature)
        self._factor()

    def _signs(self, place: Places) -> Array:
        if self.statement.widening is None:
            return np.zeros(self.p)
        sign: Array = place[self.n : self.n + self.p].astype(float) - 1.0
        free = self.p - self.statement.free
        sign[free:] = -self.statement.widening
        return sign

    def _factor(self) -> None:
        U, s = self.unknown, self.scale[self.unknown]
        M = self._block(U) * s[:, None] * s
        M[np.diag_indices(len(U))] += self.second[U] / self.first[U] * s * s
        self.inverse = np.linalg.inv(M) * s[:, None] * s

    def _block(self, U: Places) -> Array:
        """Return the entries of H in the rows and columns of these coordinates, in order."""
        n, rows = self.n, U[self.n > U]
        variables = U[(n <= U) & (self.n + self.p > U)]
        i, j = slice(len(rows)), slice(len(rows), len(rows) + len(variables))
        out = np.zeros((len(U), len(U)))
        if len(self.gram):
            out[i, i] = self.gram[np.ix_(rows, rows)]
        out[i, j] = self.R[np.ix_(rows, variables - n)]
        out[j, i] = out[i, j].T
        out[j, j] = np.diag(-self.ridge[variables - n])
        out[j, len(rows) + len(variables) :] = self.sign[variables - n, None]
        out[len(rows) + len(variables) :, j] = self.sign[variables - n]
        return out

    # ------------------------------------------------------------------ solutions
    def solve(self, target: Array, guess: Array | None = None) -> Direction:
        """Return the point whose coordinates satisfy their places' equations with these targets."""
        u = np.where(self.known, target, 0.0 if guess is None else guess)
        return self._direction(*self._solve(u, target))

    def _solve(self, u: Array, target: Array) -> tuple[Array, Array, float]:
        u, r = np.ascontiguousarray(u), np.empty_like(u)
        accuracy, _ = refine(
            self.R,
            self.gram,
            self.ridge,
            self.sign,
            self.unknown,
            self.inverse,
            self.first,
            self.second,
            target,
            self.scale,
            u,
            r,
            tolerances.CONTRACTION,
        )
        return u, r, accuracy

    def _direction(self, u: Array, r: Array, accuracy: float = 0.0) -> Direction:
        size, total = self._magnitudes(u)
        exact = max(tolerances.NOISE, 2.0 * accuracy / tolerances.FLOOR)
        u_error, r_error = exact * size, max(exact, self.noise) * total
        if self.statement.widened is not None:  # the multiplier's share is not the penalty's own
            of = self.statement.widened
            r[:, of] -= self.sign[: of.stop - of.start] * u[:, -1:]
        rows = self.is_row
        return Direction(
            np.where(rows, r, u),
            np.where(rows, u, -r),
            np.where(rows, r_error, u_error),
            np.where(rows, u_error, r_error),
        )

    def _magnitudes(self, u: Array) -> tuple[Array, Array]:
        """Return the sizes of u, those of zeros included, and the sums of the terms of H u."""
        size = np.abs(u[0])
        size = np.maximum(
            size, tolerances.FLOOR * np.max(size / self.scale, initial=0.0) * self.scale
        )
        total = np.empty_like(size)
        magnitudes(self.R, self.gram, self.ridge, self.sign, size, total)
        return size, total

    def respond(self, i: int, new: int) -> Direction | None:
        """Return the null vector of the system in which coordinate i has a new place.

        It is turned so that i moves into that place; None where that system is regular.
        """
        old, place = self.place[i], self.place.copy()
        place[i] = new
        curvature, at_knot = self.graphs.curvature[i, new], new % 2 == 1
        known = bool(at_knot) if not self.is_row[i] else not at_knot and curvature == 0.0
        if known and self.known[i]:
            return None
        u, target = np.zeros((2, len(place))), np.zeros((2, len(place)))
        if self.known[i]:
            u[0, i], self.sign = 1.0, self._signs(place)
        else:
            target[0, i] = self.first[i]
        u, r, accuracy = self._solve(u, target)
        self.sign = self._signs(place)
        diagonal = (1.0 / curvature if curvature else 0.0) if self.is_row[i] else -curvature
        before = 0.0 if self.known[i] else self.second[i] / self.first[i]
        if known:
            size = np.abs(u[0] / self.scale)
            residual, whole = size[i], size[self.unknown].max()
            u[:, i] = 0.0
        elif self.known[i]:
            residual = abs(r[0, i] + diagonal)
            size, total = self._magnitudes(u)
            whole = (size @ total if len(self.gram) else total[i]) + abs(diagonal)
        else:
            g = u[0, i]
            residual, whole = abs(1.0 + (diagonal - before) * g), 1.0 + abs((diagonal - before) * g)
        if residual > tolerances.SINGULAR * whole:
            return None
        dual = at_knot  # along a null vector either duals move or values, never both
        u[:, self.is_row != dual] = 0.0
        apply(self.R, self.gram, self.ridge, self.sign, u, r)
        found = self._direction(u, r, accuracy)
        if dual:
            found = found._replace(z=np.zeros_like(u), z_error=np.zeros(len(place)))
        else:
            found = found._replace(a=np.zeros_like(u), a_error=np.zeros(len(place)))
        way = np.sign(new - old)
        inward = way * found.z[0, i] if not at_knot else -way * found.a[0, i]
        if at_knot and self._has_multiplier(i):
            inward -= found.a[0, -1]
        turn = np.sign(inward)
        return Direction(turn * found.z, turn * found.a, found.z_error, found.a_error)

    def _has_multiplier(self, i: int) -> bool:
        weights = self.statement.widened
        return weights is not None and weights.start <= i < weights.stop


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
