"""Local optima of losses with several branches: whether another partition leads further down.

A solution with no value at a threshold is a local optimum when it is optimal for its partition;
with k of them it is one when it is so for all 2^k partitions of these.
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

AT = 1e-9  # of the values' unit: as near to a knot or a threshold, values are at it
MOST = 6  # values at thresholds whose partitions are all looked at
DEPENDENT = 1e-10  # of the largest eigenvalue: what is below counts as zero
OUT_OF_BOX = 1e-7  # of the range of slopes
Places = NDArray[np.int64]


class AtThreshold(NamedTuple):
    """Samples at thresholds, and who of them must change sides for a better solution near by.

    ``better`` is None where nobody must, and where there are too many to say: ``decided`` tells.
    """

    samples: Places
    better: Places | None
    decided: bool

    @property
    def local(self) -> bool | None:
        """Whether an optimum of the partition is a local optimum; None: that isn't known."""
        return self.better is None if self.decided else None


def at_threshold(
    branches: Branches, t: float, partition: Partition, z: Floats, a: Floats
) -> AtThreshold:
    """Say which values are at a threshold, and whether another partition leads further down.

    With the same values the duals of samples at knots may differ where their rows depend on each
    other, as long as they balance for each free variable; a partition is optimal if some of these
    duals meet its conditions.

    Parameters
    ----------
    branches : Branches
    t : float
    partition : (n,) of int
    z, a : (n,) arrays
        Values and signed duals of a solution that is optimal for this partition.
    """
    parts, rows = branches.pieces(t), np.arange(len(z))
    boxes = _Boxes.of(parts, z)
    moving = ~branches.still
    other = boxes.other(partition)
    walls = np.flatnonzero((other >= 0) & moving)
    if not len(walls):
        return AtThreshold(walls, None, True)
    if len(walls) > MOST:
        return AtThreshold(walls, None, False)
    low, high = boxes.low[partition, rows], boxes.high[partition, rows]
    free = np.flatnonzero(moving & (other < 0) & (low < high))
    free, own = np.concatenate([free, walls]), len(walls)
    meets = box_test(_independent(branches.rows(free)))
    unit = float(np.ptp([f.slopes for f in parts]) or 1.0)
    for changed in product((False, True), repeat=own):
        side = np.where(changed, other[walls], partition[walls])
        ends = []
        for box, end in ((boxes.low, low), (boxes.high, high)):
            whole = end[free]
            whole[-own:] = box[side, walls]
            ends.append((whole - a[free]) / unit)
        if not meets(ends[0] - OUT_OF_BOX, ends[1] + OUT_OF_BOX):
            return AtThreshold(walls, walls[np.array(changed)], True)
    return AtThreshold(walls, None, True)


class _Boxes(NamedTuple):
    """Between which duals (K, n) values are optimal on each of K branches; none: low > high."""

    low: Floats
    high: Floats

    @classmethod
    def of(cls, parts: Sequence[Pieces], z: Floats) -> _Boxes:
        """Return the boxes of values, which count as being at knots and thresholds near by."""
        ends = np.concatenate([f.knots.ravel() for f in parts] + [f.high for f in parts[:-1]])
        near = AT * float(np.ptp(ends) or np.abs(ends).max() or 1.0)
        low, high = np.empty((2, len(parts), len(z)))
        rows = np.arange(len(z))
        for k, f in enumerate(parts):
            left = f.slopes[rows, (z[:, None] > f.knots + near).sum(axis=1)]
            right = f.slopes[rows, (z[:, None] >= f.knots - near).sum(axis=1)]
            left = np.where(z <= f.low + near, -np.inf, left)
            right = np.where(z >= f.high - near, np.inf, right)
            outside = (z < f.low - near) | (z > f.high + near)
            low[k] = np.where(outside, np.inf, -right)
            high[k] = np.where(outside, -np.inf, -left)
        return cls(low, high)

    def other(self, partition: Partition) -> Partition:
        """Return the branch on the other side of the threshold that a value is at, or -1."""
        inside = self.low <= self.high
        inside[partition, np.arange(len(partition))] = False
        return np.where(inside.any(axis=0), inside.argmax(axis=0), -1)


def _independent(A: Floats) -> Floats:
    """Return a matrix (r, k) of full row rank: d is in its null space just if A'd = 0.

    A (k, m) is a matrix of rows, or symmetric and positive semidefinite.
    """
    if A.shape[0] == A.shape[1] and np.array_equal(A, A.T):
        size, U = np.linalg.eigh(A)
        return np.asarray(U[:, size > DEPENDENT * size.max(initial=1e-300)].T)
    length = np.maximum(np.linalg.norm(A, axis=1), 1e-300)
    U, size, _ = np.linalg.svd(A / length[:, None], full_matrices=False)
    return np.asarray(U[:, size > np.sqrt(DEPENDENT) * size.max(initial=1e-300)].T * length)


def box_test(held: Floats) -> Callable[[Floats, Floats], bool]:
    """Return what tells whether low <= d <= high for some d with held d = 0.

    That is asked of d, or of v where d = N v, whichever are fewer.
    """
    rank, n = held.shape
    in_null_space = rank < n < 2 * rank
    if in_null_space:
        N = np.linalg.qr(held.T, mode="complete")[0][:, rank:]
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
            asked: dict[str, Any] = {"A_ub": rows[kept], "b_ub": ends[kept], "bounds": (None, None)}
            return linprog(np.zeros(n - rank), **asked).status == 0
        bounds = np.stack([low, high], axis=1)
        return linprog(np.zeros(n), A_eq=held, b_eq=np.zeros(rank), bounds=bounds).status == 0

    return test
