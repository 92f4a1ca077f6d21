"""PIQP, a proximal interior-point method, called directly on quadratic programmes.

It was the fastest free solver on the dissertation's models; see `measurements/log/notebook.md`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .answer import Stopwatch, version_of
from .programmes import Answered, Moving, Parameters, Programme

NAME = "PIQP"
version = partial(version_of, "piqp")


class Solver:
    """One programme, set up once for each matrix P, else updated.

    Parameters
    ----------
    programme : Programme
    tolerance : float
        Absolute and relative, of residuals and gap.
    """

    def __init__(self, programme: Programme, tolerance: float = 1e-9) -> None:
        import piqp

        self.programme = programme
        self._P: Any = None
        self._solved = piqp.PIQP_SOLVED
        self._make = piqp.DenseSolver if programme.dense else piqp.SparseSolver
        self._tolerance = tolerance
        self._solver: Any = None
        self._bounded = False  # whether the solver holds upper bounds

    def solve(self, at: Parameters) -> Answered:
        """Return the model at parameters."""
        with Stopwatch() as watch:
            self._state(self.programme.moving(at))
            status = self._solver.solve()
            x, y = self._solver.result.x, self._solver.result.y
            solution = self.programme.read(x, y, at)
        return Answered(solution, watch.cpu_s, watch.wall_s, status == self._solved, str(status))

    def _state(self, moving: Moving) -> None:
        """Update what moves; another P needs a new start.

        With a P that is updated, PIQP takes ten times as many iterations, or doesn't converge.
        """
        P, c, h, high = moving
        rows = {"h_u": h} if len(h) else {}
        bounds = {"x_u": moving.upper} if self._bounded or high is not None else {}
        self._bounded = high is not None
        if self._P is not None and _same(P, self._P):
            self._solver.update(c=c, **rows, **bounds)
            return
        self._P, self._solver = P, self._make()
        set_tolerance(self._solver, self._tolerance)
        A, b, G, low = self.programme.fixed
        if self.programme.dense:
            A, G = np.ascontiguousarray(A.toarray()), G.toarray()
        rows = {"G": G, **rows} if len(h) else {}
        self._solver.setup(P, c, A, b, **rows, x_l=low, **bounds)


def set_tolerance(solver: Any, tolerance: float) -> None:
    """Let PIQP stop at a tolerance, absolute and relative, of residuals and gap."""
    for name in ("eps_abs", "eps_rel", "eps_duality_gap_abs", "eps_duality_gap_rel"):
        setattr(solver.settings, name, tolerance)


def _same(P: Any, other: Any) -> bool:
    """Tell whether two matrices are one, or diagonal ones alike."""
    return P is other or (hasattr(P, "data") and np.array_equal(P.data, other.data))
