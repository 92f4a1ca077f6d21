"""Solution paths of any problem whose parts move affinely with a parameter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..problem import Problem, along
from .run import Homotopy
from .start import starting_places
from .statement import Statement, read
from .track import Track

Array = NDArray[np.float64]


@dataclass
class SolutionPath:
    """Every optimum between two values of a parameter.

    Attributes
    ----------
    t : (K,)
        Parameter at both ends of each straight piece, in the order of the walk.
    track : Track
        What the walk solved for: duals of losses, values of variables.
    """

    statement: Statement
    t: Array
    track: Track

    @cached_property
    def unknowns(self) -> Array:
        """What the walk solved for, (K, N), without the low parts."""
        return self.track.unknowns(np.arange(len(self.t)))[:, 0]

    @cached_property
    def answers(self) -> tuple[Array, Array, list[Array]]:
        """Return w, v and the duals of each group of losses at each t."""
        return self.statement.answer(self.unknowns)

    @property
    def w(self) -> Array:
        """Weights (K, d); with a kernel the coefficients of its rows."""
        return self.answers[0]

    @property
    def v(self) -> Array:
        """Free variables, (K, r)."""
        return self.answers[1]

    @property
    def duals(self) -> list[Array]:
        """Duals of each group of losses, (K, n) each."""
        return self.answers[2]

    @property
    def breakpoints(self) -> Array:
        """Parameters at which the active set changes, without the two ends."""
        return self.t[1:-1:2]

    def at(self, t: float) -> tuple[Array, Array, list[Array]]:
        """Return w, v and duals at t, which lies on the line between two recorded points."""
        way = 1.0 if self.t[-1] >= self.t[0] else -1.0
        if not way * self.t[0] <= way * t <= way * self.t[-1]:
            first, last = self.t[0], self.t[-1]
            raise ValueError(f"t = {t} is outside the path, which goes from {first} to {last}.")
        k = np.searchsorted(way * self.t, way * t, side="right") - 1
        k = int(np.clip(k, 0, len(self.t) - 2))
        h = self.t[k + 1] - self.t[k]
        share = (t - self.t[k]) / h if h else 0.0
        return self.statement.answer((1 - share) * self.unknowns[k] + share * self.unknowns[k + 1])


def solution_path(
    model: Callable[[float], Problem],
    t0: float,
    t1: float,
    face: str = "auto",
    updated: bool = True,
    lazy: bool = True,
) -> SolutionPath:
    """Follow the optima of model(t) from t0 to t1.

    Parameters
    ----------
    model : callable
        Returns a `Problem` for one value of the parameter; all its numbers are affine in it.
    t0, t1 : float
        Ends of the path; t1 may be below t0.
    face : "auto", "dual", "saddle"
        Which unknowns the linear systems have: "dual" eliminates the weights where a ridge allows
        it, "saddle" keeps them and the duals. By default the statement decides, and duals on curved
        segments are eliminated; the path is the same.
    updated : bool
        Whether the factor of the linear systems is updated at each change, which is faster, or
        computed afresh; the path is the same.
    lazy : bool
        Whether coordinates are looked at only when they can have come to a limit, which is faster;
        the path is the same.

    Returns
    -------
    SolutionPath

    Raises
    ------
    ValueError
        The model is not affine in its parameter, or a curvature or the map changes with it.
    PathError
        There is no optimum beyond some t, or the walk can't go on.
    """
    statement = read(along(model, t0, t1), face)
    place = starting_places(statement, t0, updated, lazy, face)
    graphs = statement.graphs()
    track = Homotopy(statement, graphs, place, 0.0, t1 - t0, t0, updated, lazy, face).run()
    t = (t0 + track.t[:, 0]) + track.t[:, 1]
    t[-1] = t1
    return SolutionPath(statement, t, track)
