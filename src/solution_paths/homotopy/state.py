"""What the homotopy remembers between two steps: the parameter, and a place for each coordinate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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

    t: tuple[float, float]
    place: NDArray[np.int64]

    @property
    def at_knot(self) -> NDArray[np.bool_]:
        """Which coordinates are at knots: the active set."""
        return self.place % 2 == 1

    def key(self) -> bytes:
        """Return the places as something that can be looked up."""
        return self.place.tobytes()
