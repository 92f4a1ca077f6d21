"""Local optima of losses with several branches: whether another partition has a lower objective.

A solution without values at thresholds is a local optimum if it is optimal for its partition. With
k values at thresholds it is one if it is optimal for all 2^k partitions of these. Where values stay
at thresholds between two breakpoints, it may cease to be one between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

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
    free, unit = np.concatenate([free, walls]), _unit(pieces)
    meets = _BoxTest(_independent(branches.rows(free)))
    for changed in product((False, True), repeat=len(walls)):
        side = np.where(changed, other[walls], partition[walls])
        if not meets(*boxes.around(a, partition, free, walls, side, unit)):
            return AtThreshold(walls, walls[np.array(changed)], True)
    return AtThreshold(walls, None, True)


def optimal_until(
    branches: Branches, t: tuple[float, float], partition: Partition, z: Floats, a: Floats
) -> tuple[float, Places | None]:
    """Return the share of a straight piece on which it is optimal for all partitions.

    These are the partitions of the samples whose values stay at thresholds along the piece. The
    second result has those of them that change branches, from there on, for a lower objective;
    None with a share of 1, also if too many samples are at thresholds to decide.

    Parameters
    ----------
    branches : Branches
    t : (float, float)
        Begin and end of the piece.
    partition : (n,) of int
    z, a : (2, n) arrays
        Values and signed duals there of solutions that are optimal for this partition.
    """
    pieces, rows = [branches.pieces(s) for s in t], np.arange(z.shape[1])
    boxes = [_Boxes.of(*ends) for ends in zip(pieces, z, strict=True)]
    others, moving = [box.other(partition) for box in boxes], ~branches.still
    walls = np.flatnonzero(moving & (others[0] >= 0) & (others[0] == others[1]))
    if not 0 < len(walls) <= MOST_WALLS:
        return 1.0, None
    first, last = (box.low[partition, rows] < box.high[partition, rows] for box in boxes)
    at_knots = np.setdiff1d(np.flatnonzero(moving & first & last), walls)
    free, unit = np.concatenate([at_knots, walls]), _unit([*pieces[0], *pieces[1]])
    meets, share, better = _BoxTest(_independent(branches.rows(free))), 1.0, None
    for changed in list(product((False, True), repeat=len(walls)))[1:]:
        side = np.where(changed, others[0][walls], partition[walls])
        begin, end = (
            box.around(duals, partition, free, walls, side, unit)
            for box, duals in zip(boxes, a, strict=True)
        )
        until = meets.until(begin, end)
        if until < share:
            share, better = until, walls[np.array(changed)]
    return share, better


def _unit(pieces: Sequence[Pieces]) -> float:
    """Return the range of slopes."""
    return float(np.ptp([f.slopes for f in pieces]) or 1.0)


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

    def around(
        self,
        a: Floats,
        partition: Partition,
        which: Places,
        walls: Places,
        side: Partition,
        unit: float,
    ) -> tuple[Floats, Floats]:
        """Return bounds of the changes of some duals, in a unit; ``walls`` are the last of them.

        Samples are on the branches of a partition, those at walls on their ``side``.
        """
        branch = partition.astype(np.int64)
        branch[walls] = side
        low, high = ((box[branch[which], which] - a[which]) / unit for box in (self.low, self.high))
        return low - OUT_OF_BOX, high + OUT_OF_BOX

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


class _BoxTest:
    """Tests of boxes of changes d of duals that keep all values: ``equations`` d = 0 for these.

    A linear programme has the unknowns d, or v where d = N v, whichever are fewer.
    """

    def __init__(self, equations: Floats):
        self.equations, (rank, n) = equations, equations.shape
        self.only_zero = rank == n
        self.N = np.eye(n)
        if rank < n < 2 * rank:
            self.N = np.linalg.qr(equations.T, mode="complete")[0][:, rank:]
            self.equations = np.zeros((0, n - rank))

    def __call__(self, low: Floats, high: Floats) -> bool:
        """Tell whether low <= d <= high for some d."""
        if ((low <= 0) & (high >= 0)).all():
            return True
        return not self.only_zero and self._last((low, high), (low, high)) is not None

    def until(self, begin: tuple[Floats, Floats], end: tuple[Floats, Floats]) -> float:
        """Return the share of the way from one box to another up to which some d is in the box."""
        return (self._last(begin, end) or 0.0) if self(*begin) else 0.0

    def _last(self, begin: tuple[Floats, Floats], end: tuple[Floats, Floats]) -> float | None:
        """Return the largest share at which some d is in the box; None if there is none."""
        from scipy.optimize import linprog  # takes a while to import

        sides = [np.concatenate([high, -low]) for low, high in (begin, end)]
        kept = np.isfinite(sides[0]) & np.isfinite(sides[1])
        rows, count = np.concatenate([self.N, -self.N])[kept], self.N.shape[1]
        result = linprog(
            np.append(np.zeros(count), -1.0),
            A_ub=np.column_stack([rows, sides[0][kept] - sides[1][kept]]),
            b_ub=sides[0][kept],
            A_eq=np.column_stack([self.equations, np.zeros(len(self.equations))]),
            b_eq=np.zeros(len(self.equations)),
            bounds=[*[(None, None)] * count, (0.0, 1.0)],
        )
        return float(result.x[-1]) if result.status == 0 else None
