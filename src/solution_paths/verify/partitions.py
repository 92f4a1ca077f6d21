"""Local optima of losses with several branches: whether another partition has a lower objective.

A solution without values at thresholds is a local optimum if it is optimal for its partition. With
k values at thresholds it is one if it is optimal for all 2^k partitions of these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..problem import Pieces
from ..problem.branches import Branches, Partition
from ..validation import Floats

NEAR_THRESHOLD = 1e-9  # of the values' unit: nearer values count as at a knot or a threshold
MOST_WALLS = 6  # values at thresholds, at most, all of whose partitions are examined
NULL_EIGENVALUE = 1e-10  # of the largest eigenvalue: smaller ones count as zero
OUT_OF_BOX = 1e-7  # of the range of slopes
Places = NDArray[np.int64]


class AtThreshold(NamedTuple):
    """Samples at thresholds, and those that change branches for a lower objective near by.

    ``better`` is None if there are none, or if too many samples are at thresholds to decide;
    ``decided`` tells the two apart.
    """

    samples: Places
    better: Places | None
    decided: bool

    @property
    def local(self) -> bool | None:
        """Whether an optimum of the partition is a local optimum; None if undecided."""
        return self.better is None if self.decided else None


def at_threshold(
    branches: Branches, t: float, partition: Partition, z: Floats, a: Floats
) -> AtThreshold:
    """Return the values at a threshold, and whether another partition has a lower objective.

    If rows of samples at knots are linearly dependent, the same values have several duals, all in
    balance with each free variable. A partition is optimal if some of these duals meet its
    conditions.

    Parameters
    ----------
    branches : Branches
    t : float
    partition : (n,) of int
    z, a : (n,) arrays
        Values and signed duals of a solution that is optimal for this partition.
    """
    pieces, rows = branches.pieces(t), np.arange(len(z))
    boxes = _Boxes.of(pieces, z)
    moving = ~branches.still
    other = boxes.other(partition)
    walls = np.flatnonzero((other >= 0) & moving)
    if not len(walls):
        return AtThreshold(walls, None, True)
    if len(walls) > MOST_WALLS:
        return AtThreshold(walls, None, False)
    low, high = boxes.low[partition, rows], boxes.high[partition, rows]
    free = np.flatnonzero(moving & (other < 0) & (low < high))
    free, count = np.concatenate([free, walls]), len(walls)
    meets = box_test(_independent(branches.rows(free)))
    unit = float(np.ptp([f.slopes for f in pieces]) or 1.0)
    for changed in product((False, True), repeat=count):
        side = np.where(changed, other[walls], partition[walls])
        ends = []
        for box, end in ((boxes.low, low), (boxes.high, high)):
            bounds = end[free]
            bounds[-count:] = box[side, walls]
            ends.append((bounds - a[free]) / unit)
        if not meets(ends[0] - OUT_OF_BOX, ends[1] + OUT_OF_BOX):
            return AtThreshold(walls, walls[np.array(changed)], True)
    return AtThreshold(walls, None, True)


class _Boxes(NamedTuple):
    """Bounds (K, n) of the duals that each value allows on each of K branches; none: low > high."""

    low: Floats
    high: Floats

    @classmethod
    def of(cls, pieces: Sequence[Pieces], z: Floats) -> _Boxes:
        """Return the boxes of values; values near knots and thresholds count as at them."""
        ends = np.concatenate([f.knots.ravel() for f in pieces] + [f.high for f in pieces[:-1]])
        near = NEAR_THRESHOLD * float(np.ptp(ends) or np.abs(ends).max() or 1.0)
        low, high = np.empty((2, len(pieces), len(z)))
        rows = np.arange(len(z))
        for k, f in enumerate(pieces):
            left = f.slopes[rows, (z[:, None] > f.knots + near).sum(axis=1)]
            right = f.slopes[rows, (z[:, None] >= f.knots - near).sum(axis=1)]
            left = np.where(z <= f.low + near, -np.inf, left)
            right = np.where(z >= f.high - near, np.inf, right)
            outside = (z < f.low - near) | (z > f.high + near)
            low[k] = np.where(outside, np.inf, -right)
            high[k] = np.where(outside, -np.inf, -left)
        return cls(low, high)

    def other(self, partition: Partition) -> Partition:
        """Return the branch on the other side of a value's threshold, or -1."""
        inside = self.low <= self.high
        inside[partition, np.arange(len(partition))] = False
        return np.where(inside.any(axis=0), inside.argmax(axis=0), -1)


def _independent(A: Floats) -> Floats:
    """Return a matrix (r, k) of full row rank whose null space is that of A'.

    A (k, m) is a matrix of rows, or symmetric and positive semidefinite.
    """
    if A.shape[0] == A.shape[1] and np.array_equal(A, A.T):
        size, U = np.linalg.eigh(A)
        return np.asarray(U[:, size > NULL_EIGENVALUE * size.max(initial=1e-300)].T)
    length = np.maximum(np.linalg.norm(A, axis=1), 1e-300)
    U, size, _ = np.linalg.svd(A / length[:, None], full_matrices=False)
    return np.asarray(U[:, size > np.sqrt(NULL_EIGENVALUE) * size.max(initial=1e-300)].T * length)


def box_test(equations: Floats) -> Callable[[Floats, Floats], bool]:
    """Return a test whether low <= d <= high for some d with ``equations`` d = 0.

    Its linear programme has the unknowns d, or v where d = N v, whichever are fewer.
    """
    rank, n = equations.shape
    in_null_space = rank < n < 2 * rank
    if in_null_space:
        N = np.linalg.qr(equations.T, mode="complete")[0][:, rank:]
        rows = np.concatenate([N, -N])

    def test(low: Floats, high: Floats) -> bool:
        if ((low <= 0) & (high >= 0)).all():
            return True
        if rank == n:
            return False
        from scipy.optimize import linprog  # takes a while to import

        if in_null_space:
            ends = np.concatenate([high, -low])
            kept = np.isfinite(ends)
            constraints: dict[str, Any] = {
                "A_ub": rows[kept],
                "b_ub": ends[kept],
                "bounds": (None, None),
            }
            return linprog(np.zeros(n - rank), **constraints).status == 0
        bounds = np.stack([low, high], axis=1)
        return linprog(np.zeros(n), A_eq=equations, b_eq=np.zeros(rank), bounds=bounds).status == 0

    return test
