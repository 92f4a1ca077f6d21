"""What the homotopy remembers between two steps: the parameter, and a place for each coordinate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .graphs import Graphs
from .statement import Statement

Array = NDArray[np.float64]


class Here(NamedTuple):
    """What the places of all N coordinates say, one entry for each; read from the graphs.

    Equation i reads ``first (H u)_i + second u_i = target``, with H the map and u the duals of rows
    and the values of variables. ``known`` u are the targets themselves.
    """

    equation: Array  # (N, 4), as are the limits: value and rate, two parts each
    lower: Array
    upper: Array
    at_knot: NDArray[np.bool_]
    known: NDArray[np.bool_]
    first: Array
    second: Array
    sign: Array  # (p,), of the l1 constraint's row: signs of weights that are not at a knot


@dataclass
class State:
    """The state of a homotopy.

    Attributes
    ----------
    t : (float, float)
        The parameter, as a sum of two doubles.
    place : (N,) of int
        For each coordinate the place on its graph: 2 k on segment k, 2 k + 1 at knot k.
    """

    statement: Statement
    graphs: Graphs
    t: tuple[float, float]
    place: NDArray[np.int64]

    def __post_init__(self) -> None:
        N, p = len(self.place), self.statement.R.shape[1]
        equation, lower, upper = (np.zeros((N, 4)) for _ in range(3))
        at_knot, known = (np.zeros(N, dtype=bool) for _ in range(2))
        first, second, sign = np.zeros(N), np.zeros(N), np.zeros(p)
        self.here = Here(equation, lower, upper, at_knot, known, first, second, sign)
        if self.statement.widening is not None:
            self.here.sign[p - self.statement.free :] = -self.statement.widening
        for i, new in enumerate(self.place):
            self.move(i, int(new))

    def move(self, i: int, new: int) -> None:
        """Put a coordinate into a place."""
        here, graphs = self.here, self.graphs
        self.place[i] = new
        for table, whole in ((here.equation, graphs.equation), (here.lower, graphs.lower)):
            table[i] = whole[i, new]
        here.upper[i] = graphs.upper[i, new]
        row, at_knot, q = self.statement.is_row[i], new % 2 == 1, graphs.curvature[i, new]
        here.at_knot[i] = at_knot
        if row:
            here.known[i] = not at_knot and q == 0.0
            here.first[i], here.second[i] = (1.0, 0.0) if at_knot else (q, 1.0)
        else:
            here.known[i], here.first[i], here.second[i] = at_knot, -1.0, q
            j = i - self.statement.R.shape[0]
            if self.statement.widened is not None and i < self.statement.widened.stop:
                here.sign[j] = new - 1.0

    def key(self) -> bytes:
        """Return the places as something that can be looked up."""
        return self.place.tobytes()
