"""Local optima of losses with several branches: whether another partition has a lower objective.

A solution without values at thresholds is a local optimum if it is optimal for its partition. With
k values at thresholds it is one if it is optimal for all 2^k partitions of these; `_changes` tells
which have to be examined. Where values stay at thresholds between two breakpoints, it may cease to
be one between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import qr

from ..problem import Pieces
from ..problem.branches import Branches, Partition
from ..validation import Floats

NEAR_THRESHOLD = 1e-9  # of the values' unit: nearer values count as at a knot or a threshold
MOST_GROUPS = 6  # of alike samples at thresholds, at most, all of whose partitions are examined
NULL_EIGENVALUE = 1e-10  # of the largest eigenvalue: smaller ones count as zero
OUT_OF_BOX = 1e-7  # of the range of slopes
LP_TOLERANCE = OUT_OF_BOX / 100  # of a linear programme's equations and bounds
INDEPENDENT = 2.0**-46  # squared sine of the angle to others' rows, below which a row is of none
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
    low, high = boxes.low[partition, rows], boxes.high[partition, rows]
    free = np.flatnonzero(moving & (other < 0) & (low < high))
    free, unit = np.concatenate([free, walls]), _unit(pieces)
    meets = BoxTest(branches.rows(free))
    changes, all_of_them = _changes(meets, [boxes], partition[walls], other[walls], walls)
    for changed in changes:
        side = np.where(changed, other[walls], partition[walls])
        if not meets(*boxes.around(a, partition, free, walls, side, unit)):
            return AtThreshold(walls, walls[changed], True)
    return AtThreshold(walls, None, all_of_them)


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
    if not len(walls):
        return 1.0, None
    first, last = (box.low[partition, rows] < box.high[partition, rows] for box in boxes)
    at_knots = np.setdiff1d(np.flatnonzero(moving & first & last), walls)
    free, unit = np.concatenate([at_knots, walls]), _unit([*pieces[0], *pieces[1]])
    meets, share, better = BoxTest(branches.rows(free)), 1.0, None
    changes, _ = _changes(meets, boxes, partition[walls], others[0][walls], walls)
    for changed in filter(np.any, changes):
        side = np.where(changed, others[0][walls], partition[walls])
        begin, end = (
            box.around(duals, partition, free, walls, side, unit)
            for box, duals in zip(boxes, a, strict=True)
        )
        until = meets.until(begin, end)
        if until < share:
            share, better = until, walls[changed]
    return share, better


def _changes(
    meets: BoxTest, boxes: Sequence[_Boxes], branch: Partition, other: Partition, walls: Places
) -> tuple[list[NDArray[np.bool_]], bool]:
    """Return which of the samples at thresholds change sides in the partitions to be examined.

    Samples are alike if their rows and their boxes on both sides are equal. The box of the sum of
    their duals depends linearly on how many are on a side. So if some duals are in the boxes with
    all of them on one side, and others with all on the other, then so are means of the two in
    between, and these two suffice. Equal rows that are independent of all others have one sum of
    duals, whatever the others do, and are examined by themselves.

    Parameters
    ----------
    meets : BoxTest
        Of samples of which those at thresholds, ``walls`` (k,), are the last.
    boxes : list of _Boxes
        At all parameters that are asked about.
    branch, other : (k,) of int
        The branches of both sides.

    Returns
    -------
    list of (k,) of bool
        In lexicographic order; without those of dependent rows where they are too many.
    bool
        Whether these tell as much as all.
    """
    sides, row = np.sort([branch, other], axis=0), meets.group[-len(walls) :]
    limits = [bound[sides, walls] for box in boxes for bound in box]
    alike = _numbers(np.vstack([row, sides, *limits]).T)
    dependent: dict[int, list[list[NDArray[np.bool_]]]] = {}
    for k in range(alike.max() + 1):
        group = alike == k
        ends = sorted((group & (branch != side) for side in sides), key=np.count_nonzero)
        number = int(row[group][0])
        dependent.setdefault(-1 if meets.moves[number] else number, []).append(ends)
    changes, few = [np.zeros(len(walls), dtype=bool)], True
    for groups in dependent.values():
        if len(groups) <= MOST_GROUPS:
            changes += [np.logical_or.reduce(parts) for parts in product(*groups)]
        else:
            few = False
    by_key = {change.tobytes(): change for change in changes}
    return [by_key[key] for key in sorted(by_key)], few


def _numbers(rows: NDArray[np.generic]) -> Places:
    """Return a number for each row, equal rows' the same, in the order of their first."""
    numbers: dict[bytes, int] = {}
    return np.array([numbers.setdefault((row + 0.0).tobytes(), len(numbers)) for row in rows], int)


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


def _range(A: Floats) -> Floats:
    """Return an orthonormal basis Q (k, r) of the columns of A, to within rounding.

    A (k, m) is a matrix of rows, or symmetric and positive semidefinite.
    """
    symmetric, length = _is_symmetric(A), np.ones(len(A))
    if not symmetric:
        length = np.linalg.norm(A, axis=1)
        length[length == 0.0] = 1.0
    R, order = qr((A / length[:, None]).T, mode="r", pivoting=True, check_finite=False)
    size, least = np.abs(np.diag(R)), NULL_EIGENVALUE if symmetric else np.sqrt(NULL_EIGENVALUE)
    rank = int((size > least * size.max(initial=1e-300)).sum())
    columns = np.empty((len(A), rank))
    columns[order] = R[:rank].T
    return np.asarray(qr(columns * length[:, None], mode="economic", check_finite=False)[0])


def _is_symmetric(A: Floats) -> bool:
    return A.shape[0] == A.shape[1] and np.array_equal(A, A.T)


class BoxTest:
    """Tests of boxes of changes d of duals that keep all values: A'd = 0, with their rows A (k, m).

    Samples with equal rows are one whose change is the sum of theirs. A linear programme has these
    sums as unknowns, but for those that are independent of all others, which are zero.
    """

    def __init__(self, A: Floats):
        self.group = _numbers(A)
        _, first = np.unique(self.group, return_index=True)
        Q = _range(A[np.ix_(first, first)] if _is_symmetric(A) else A[first])
        self.moves = (Q * Q).sum(axis=1) < 1.0 - INDEPENDENT
        rank = Q.shape[1] - np.count_nonzero(~self.moves)
        basis = qr(Q[self.moves], mode="economic", pivoting=True, check_finite=False)[0]
        self.equations = np.asarray(basis)[:, : max(rank, 0)].T

    def __call__(self, low: Floats, high: Floats) -> bool:
        """Tell whether low <= d <= high for some d."""
        return self.until((low, high), (low, high)) > 0.0

    def until(self, begin: tuple[Floats, Floats], end: tuple[Floats, Floats]) -> float:
        """Return the share of the way from one box to another up to which some d is in the box."""
        side, last = (
            np.array([np.bincount(self.group, bounds) for bounds in (high, -low)])
            for low, high in (begin, end)
        )
        bounded = np.isfinite(side) & np.isfinite(last)
        change = np.subtract(last, side, out=np.zeros_like(side), where=bounded)
        side = np.where(bounded, side, np.inf)
        fixed, slope = side[:, ~self.moves], change[:, ~self.moves]
        if (fixed < 0.0).any():
            return 0.0
        falls = fixed + slope < 0.0
        share = float((fixed[falls] / -slope[falls]).min(initial=1.0))
        if not self.moves.any():
            return share
        side, change = side[:, self.moves], change[:, self.moves]
        if not self._holds(side):
            return 0.0
        if not change.any() or self._holds(side + share * change):
            return share
        return self._last(side, change, share)

    def _holds(self, side: Floats) -> bool:
        """Tell whether -side[1] <= d <= side[0] for some d."""
        return bool((side >= 0.0).all()) or self._last(side, np.zeros_like(side), 1.0) > 0.0

    def _last(self, side: Floats, change: Floats, share: float) -> float:
        """Return the largest s <= share with -side[1] - s change[1] <= d <= side[0] + s change[0].

        For some d; it is zero if there is none.
        """
        from scipy.optimize import linprog  # takes a while to import

        upper, lower = (np.flatnonzero(rates) for rates in change)  # limits that move are no bounds
        bounds, k = np.array([-side[1], side[0]]).T, side.shape[1]
        bounds[upper, 1], bounds[lower, 0] = np.inf, -np.inf
        at, rates = np.r_[upper, lower], np.r_[change[0, upper], change[1, lower]]
        signs = np.repeat([1.0, -1.0], [len(upper), len(lower)])
        row, column = np.tile(np.arange(len(at)), 2), np.r_[at, np.full(len(at), k)]
        limits = sp.csr_array((np.r_[signs, -rates], (row, column)), shape=(len(at), k + 1))
        result = linprog(
            np.append(np.zeros(k), -1.0),
            A_ub=limits if len(at) else None,
            b_ub=np.r_[side[0, upper], side[1, lower]] if len(at) else None,
            A_eq=np.pad(self.equations, ((0, 0), (0, 1))),
            b_eq=np.zeros(len(self.equations)),
            bounds=np.vstack([bounds, (0.0, share)]),
            options={"primal_feasibility_tolerance": LP_TOLERANCE},
        )
        return float(result.x[-1]) if result.status == 0 else 0.0
