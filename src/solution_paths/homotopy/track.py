"""What a homotopy leaves behind: the points at both ends of each straight piece."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Track:
    """The points that a walk recorded, in its order.

    Attributes
    ----------
    t : (K, 2)
        The parameter of each point as a sum of two doubles; two points a straight piece.
    points : (K, 2, N)
        The unknowns there, in two parts.
    """

    t: Array
    points: Array

    def __len__(self) -> int:
        return len(self.t)

    def unknowns(self, which: NDArray[np.int64] | list[int]) -> Array:
        """Return the unknowns of some points, (len(which), 2, N)."""
        return self.points[np.asarray(which)]
