"""Any `Problem` as one sparse quadratic programme, for Clarabel, PIQP and (a linear one) HiGHS.

Each value is its first knot plus what it travels on the segments to either side of it, so that a
loss is the sum of what each segment costs: z = p_1 - u_0 + u_1 + ... + u_m, 0 <= u_k <= width_k.
The variables are (w, v, u of all groups); the multipliers of these rows are the duals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from solution_paths.problem import Pieces, Problem, penalties
from solution_paths.problem.maps import Product, entries
from solution_paths.verify import Answer

from .programmes import Fixed, Moving, Parameters


@dataclass(frozen=True, eq=False)
class Programme:
    """min x'Px/2 + q'x subject to Ax = b, Gx <= h and 0 <= x <= high where ``signed``.

    Attributes
    ----------
    P, A, G : CSC matrices
        P whole, not a triangle of it.
    q, b, h, high : arrays
    signed : (N,) bools
        Which variables are >= 0; the others are free.
    unit : float
        By what the objective was divided, so that solvers' tolerances mean the same.
    problem : Problem
    """

    P: sp.csc_matrix
    q: np.ndarray
    A: sp.csc_matrix
    b: np.ndarray
    G: sp.csc_matrix
    h: np.ndarray
    high: np.ndarray
    signed: np.ndarray
    unit: float
    problem: Problem

    def answer(self, x: np.ndarray, rows: np.ndarray, limits: np.ndarray) -> Answer:
        """Return the model, from multipliers of Ax = b and of Gx <= h."""
        d, r = self.problem.features, self.problem.n_free
        ends = np.cumsum([len(group.pieces) for group in self.problem.losses])
        duals = [-self.unit * part for part in np.split(rows, ends)[:-1]]
        multiplier = self.unit * float(limits[0]) if len(self.h) else None
        # of a kernel's expansion x is known in some directions only; the duals imply all of it
        w = x[:d].copy() if self.problem.kernel is None else None
        return Answer(w, x[d : d + r].copy(), duals, multiplier)


def programme(problem: Problem) -> Programme:
    """Build the programme of a problem."""
    d, r, K = problem.features, problem.n_free, problem.kernel
    groups = list(problem.losses)
    held = penalties.unpenalised(d) if problem.constraint is not None else problem.penalty
    if held is not None:
        identity = replace(groups[0], pieces=held, X=sp.eye_array(d), free=np.zeros((d, max(r, 1))))
        groups.append(identity)
    widths = [_widths(group.pieces) for group in groups]
    rows, quadratic, costs, knots = [], [], [], []
    for k, group in enumerate(groups):
        pieces, free = group.pieces, sp.csr_array(group.free)[:, :r]
        n, segments = pieces.slopes.shape
        X = entries(group.X if K is None else Product(group.X, K))
        travel = sp.kron(sp.eye_array(n), np.r_[1.0, -np.ones(segments - 1)][None])
        blocks = [sp.csr_array((n, other.size)) for other in widths]
        blocks[k] = travel
        rows.append(sp.hstack([sp.csr_array(X), free, *blocks]))
        quadratic.append(sp.diags_array(pieces.curvature.ravel()))
        costs.append(np.column_stack([-pieces.slopes[:, :1], pieces.slopes[:, 1:]]).ravel())
        knots.append(pieces.knots[:, 0])
    ridge = problem.ridge * (sp.eye_array(d) if K is None else sp.csr_array(K))
    P = sp.csc_matrix(sp.block_diag([ridge, sp.csr_array((r, r)), *quadratic]))
    q = np.concatenate([np.zeros(d), problem.linear, *costs])
    unit = max(float(np.abs(q).max()), float(np.abs(P.data).max(initial=0.0)) * (q == 0).all())
    unit = unit if unit > 0 else 1.0
    G, h = sp.csc_matrix((0, len(q))), np.zeros(0)
    if problem.constraint is not None:
        length = np.zeros(len(q))
        length[-widths[-1].size :] = 1.0
        length[d : d + r] = -np.asarray(problem.constraint.free)
        G, h = sp.csc_matrix(length[None]), np.array([problem.constraint.radius])
    signed = np.r_[np.zeros(d + r, dtype=bool), np.ones(len(q) - d - r, dtype=bool)]
    high = np.concatenate([np.full(d + r, np.inf), *[width.ravel() for width in widths]])
    A = sp.csc_matrix(sp.vstack(rows))
    return Programme(
        P / unit, q / unit, A, np.concatenate(knots), G, h, high, signed, unit, problem
    )


def _widths(pieces: Pieces) -> np.ndarray:
    """Return the widths of segments, (n, m + 1), the outer ones up to the ends of the domain."""
    knots = pieces.knots
    inner = np.diff(knots, axis=1)
    return np.column_stack([knots[:, 0] - pieces.low, inner, pieces.high - knots[:, -1]])


@dataclass(frozen=True, eq=False)
class Statements:
    """The programmes of one model at several parameters t, as a `GridSolver` takes them.

    Attributes
    ----------
    programmes : mapping
        Of t.
    still : bool
        Whether rows and their sides stand still, so that one solver does for all t.
    first : float
        The t whose rows are ``fixed``.
    """

    programmes: Mapping[float, Programme]
    still: bool
    first: float
    dense = False

    @classmethod
    def of(cls, problems: Mapping[float, Problem]) -> Statements:
        """Build the programmes of problems by t."""
        made = {t: programme(problem) for t, problem in problems.items()}
        first, *others = made.values()
        still = all(
            (other.A != first.A).nnz == 0
            and (other.G != first.G).nnz == 0
            and np.array_equal(other.b, first.b)
            for other in others
        )
        return cls(made, still, next(iter(made)))

    def from_(self, t: float) -> Statements:
        """Return the same with the rows at t."""
        return replace(self, first=t)

    @cached_property
    def fixed(self) -> Fixed:
        """What a solver is told once."""
        one = self.programmes[self.first]
        return Fixed(one.A, one.b, one.G, np.where(one.signed, 0.0, -np.inf))

    def moving(self, at: Parameters) -> Moving:
        """Return what it is told at t."""
        one = self.programmes[at["t"]]
        return Moving(one.P, one.q, one.h, one.high if np.isfinite(one.high).any() else None)

    def is_linear(self, at: Parameters) -> bool:
        """Tell whether there is no quadratic term."""
        return self.programmes[at["t"]].P.count_nonzero() == 0

    def read(self, x: np.ndarray, multiplier: np.ndarray, at: Parameters) -> Answer:
        """Return the model; the judge finds the multiplier of Gx <= h that bounds best."""
        one = self.programmes[at["t"]]
        return replace(one.answer(x, multiplier, np.zeros(len(one.h))), multiplier=None)
