"""Solution paths of any problem whose parts move affinely with a parameter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .loop import Homotopy
from .start import starting_places
from .statement import read

Array = NDArray[np.float64]


@dataclass
class SolutionPath:
    """Every optimum between two values of a parameter.

    Attributes
    ----------
    t : (K,)
        Parameter at both ends of each straight piece, in the order of the walk.
    w : (K, d)
        Weights; with a kernel, or where they were eliminated, combinations of its rows.
    v : (K, r)
        Free variables.
    duals : list of (K, n)
        For each group of losses.
    breakpoints : (B,)
        Where the active set changes.
    """

    t: Array
    w: Array
    v: Array
    duals: list[Array]

    @property
    def breakpoints(self) -> Array:
        """Parameters at which the active set changes, without the two ends."""
        return self.t[1:-1:2]

    def at(self, t: float) -> tuple[Array, Array, list[Array]]:
        """Return w, v and duals at t, which lies on the line between two recorded points."""
        way = 1.0 if self.t[-1] >= self.t[0] else -1.0
        if not way * self.t[0] <= way * t <= way * self.t[-1]:
            raise ValueError(f"t = {t} is outside the path, which goes from {self.t[0]} to {self.t[-1]}.")
        k = int(np.clip(np.searchsorted(way * self.t, way * t, side="right") - 1, 0, len(self.t) - 2))
        h = self.t[k + 1] - self.t[k]
        share = (t - self.t[k]) / h if h else 0.0
        w, v, *duals = ((1 - share) * x[k] + share * x[k + 1] for x in (self.w, self.v, *self.duals))
        return w, v, duals


def solution_path(model: Callable[[float], Any], t0: float, t1: float, face: str = "auto") -> SolutionPath:
    """Follow the optima of model(t) from t0 to t1.

    Parameters
    ----------
    model : callable
        Returns a `Problem` for one value of the parameter; all its numbers are affine in it.
    t0, t1 : float
        Ends of the path; t1 may be below t0.

    Returns
    -------
    SolutionPath
    """
    statement = read(model, t0, t1, face)
    homotopy = Homotopy(statement, statement.graphs(), starting_places(statement), 0.0, t1 - t0)
    points = homotopy.run()
    answers = [statement.answer(z, a) for _, z, a in points]
    t = np.array([p[0] for p in points]) + t0
    t[-1] = t1
    duals = [np.array(x) for x in zip(*(d for _, _, d in answers), strict=True)]
    return SolutionPath(t, np.array([w for w, _, _ in answers]), np.array([v for _, v, _ in answers]), duals)
