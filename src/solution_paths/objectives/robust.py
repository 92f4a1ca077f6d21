"""Losses that grow more slowly for outliers: robust SVM classification and regression.

Where a value passes the threshold s its sample counts as an *outlier*, and its loss grows by theta
for 1. The objective isn't convex. For a given partition into inliers and outliers it is, within the
values that this partition allows: that is the *conditional* problem, whose duality gap is judged
here. Its walls are the thresholds. A solution with no value at the threshold is a local optimum
when it is conditionally optimal; with k of them it is one when it is so for all 2^k partitions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..validation import check_number
from .base import Floats, Solution
from .exact import add, affine
from .hinge import Hinge
from .machine import Conditions, Machine, Model
from .tube import Tube

NEAR = 1e-6  # of the values' unit: as near to the threshold duals tell sides
OF_ROOM = 1e-3  # of the distance to the next kink: no farther
AT = 1e-9  # of the values' unit: as near to the threshold, or to another kink, values are at it
MOST = 6  # values at the threshold whose partitions are all looked at
DEPENDENT = 1e-10  # of the largest eigenvalue: what is below counts as zero
OUT_OF_BOX = 1e-7  # of the cost


class Sides(NamedTuple):
    """Who is an outlier, and how far values are from the threshold.

    ``outlier`` (n, B) bools, ``distance`` (n, B) >= 0, ``up`` (n, B) signs: of the dual that pulls
    the value away from where outliers are.
    """

    outlier: NDArray[np.bool_]
    distance: Floats
    up: Floats


@dataclass(frozen=True, eq=False)
class Robust(Machine):
    """What robust classification and regression share.

    Parameters
    ----------
    theta0, theta1 : float
        An outlier's weight is theta = theta0 + t theta1, in [0, 1].
    s0, s1 : float
        The threshold is s = s0 + t s1.
    others
        See `Machine`; all costs are alike.
    """

    _: KW_ONLY
    theta0: float = 1.0
    theta1: float = 0.0
    s0: float = 0.0
    s1: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        names = ("theta0", "theta1", "s0", "s1")
        self._set(**{name: check_number(getattr(self, name), name) for name in names})

    @property
    def moves(self) -> bool:
        """Whether it depends on a parameter."""
        return super().moves or self.theta1 != 0.0 or self.s1 != 0.0

    def theta(self, t=0.0, low: Floats | float = 0.0) -> Floats:
        """Return the weight of outliers at t + low."""
        return np.maximum(self._moved(self.theta0, self.theta1, t, low)[0], 0.0)

    def s(self, t=0.0, low: Floats | float = 0.0) -> tuple[Floats, Floats]:
        """Return the threshold at t + low, in two parts."""
        return self._moved(self.s0, self.s1, t, low)

    @staticmethod
    def _moved(start: float, rate: float, t, low) -> tuple[Floats, Floats]:
        at = np.atleast_1d(np.asarray(t, dtype=np.float64))
        parts = affine(np.array([start]), np.array([rate]), at, np.broadcast_to(low, at.shape))
        return tuple(part[0] if np.ndim(t) else part[0, 0] for part in parts)

    def at(self, t: float) -> Robust:
        """Return the objective at t, where it no longer depends on a parameter."""
        theta, s = float(self.theta(t)), float(self.s(t)[0])
        return self._with(theta0=theta, theta1=0.0, s0=s, s1=0.0)

    @property
    def C(self) -> float:
        """The cost of every sample."""
        return float(self.cost0[0])

    def losses(self, values: Floats, t: float) -> Floats:
        """Return the losses of samples with these values (n,) at t, without their cost."""
        raise NotImplementedError

    def energy(self, values: Floats, duals: Floats, t: float) -> float:
        """Return 1/2 ||w||^2 + C sum of losses, for values K a and duals a."""
        return float(0.5 * values @ duals + self.C * self.losses(values, t).sum())

    # -- sides ---------------------------------------------------------------------------------

    def beyond_threshold(self, model: Model, t: Floats, low=0.0) -> tuple[Floats, Floats]:
        """Return how far values are on the outliers' side (n, B), and the sign of `Sides.up`."""
        raise NotImplementedError

    def room(self, t: Floats, low=0.0) -> Floats:
        """Return how far the threshold is from the next kink (B,)."""
        raise NotImplementedError

    def constant_of_outlier(self, t: Floats, low=0.0) -> Floats:
        """Return what an outlier's loss is above theta times an inlier's, times C (B,)."""
        raise NotImplementedError

    def sides(self, model: Model, a: Floats | None, t: Floats, low=0.0) -> Sides:
        """Return who is an outlier: by the value, at the threshold by the dual."""
        past, up = self.beyond_threshold(model, t, low)
        outlier = past > 0
        if a is not None:
            middle = self.C * (1.0 + self.theta(t, low)) / 2
            near = np.minimum(NEAR * self.scale, OF_ROOM * self.room(t, low))
            outlier = np.where(np.abs(past) <= near, up * a < middle, outlier)
        return Sides(outlier, np.abs(past), up)

    def partitions(self, s: Solution, t: Floats, low: Floats | float = 0.0) -> NDArray[np.int8]:
        """Return (n, B) signs of the sides on which samples are outliers, 0 for inliers."""
        sides = self.sides(self._model(s, self._own(s), None), s.a, t, low)
        return np.where(sides.outlier, sides.up, 0.0).astype(np.int8)

    def _own(self, s: Solution):
        return None if s.a is None else self._expansion(s.a, False)

    def conditions(self, model: Model, a: Floats | None, t: Floats, low=0.0) -> Conditions:
        """Return what the conditional problem asks of samples and duals at t + low (B,)."""
        sides = self.sides(model, a, t, low)
        out, cost = sides.outlier, np.full(sides.up.shape, self.C)
        cost = np.where(out, self.C * self.theta(t, low), cost)
        constant = out.sum(axis=0) * self.constant_of_outlier(t, low)
        short, beyond = self.shortfalls(model.f, model.f_low, a, t, low)
        if a is None:
            return Conditions(cost, short, beyond, None, constant=constant)
        alpha = np.where(out, sides.up * a, self.size_of_dual(a))
        held = np.where(out, cost - alpha, alpha - cost)
        force = np.maximum(held, 0.0)
        alpha = np.where(out, alpha + force, alpha - force)
        idle = (self.norms == 0.0)[:, None]  # f is 0 there, whatever the dual
        alpha = np.where(idle, np.where(short > 0, cost, 0.0), alpha)
        force = np.where(idle, 0.0, force)
        # a dual may belong to the other side's wall
        distance = sides.distance + np.where(out, 0.0, 2.0 * np.maximum(beyond, 0.0))
        # an outlier's loss is a straight line
        error = np.maximum(short, beyond)
        short, beyond = np.where(out, error, short), np.where(out, -np.abs(error), beyond)
        return Conditions(cost, short, beyond, alpha, force, distance, constant)

    # -- local optimality ----------------------------------------------------------------------

    def locally_optimal(self, solution: Solution, t: float) -> tuple[int, bool | None]:
        """Return (k, whether a conditional optimum is a local one); k values are at the threshold.

        None for more than `MOST` values.
        """
        walls, better = self.better_partition(solution, t)
        if len(walls) > MOST and better is None:
            return len(walls), None
        return len(walls), better is None

    def better_partition(
        self, solution: Solution, t: float
    ) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
        """Return who is at the threshold, and who of them must change sides for a better solution.

        With the same f the duals of pinned samples may differ where the kernel matrix of these is
        singular; a partition is optimal if some of these duals meet its conditions. All 2^k are
        looked at, or for more than `MOST` values none. None if all are optimal.
        """
        column = Solution(*(None if part is None else part[..., None] for part in solution))
        at, theta = np.array([float(t)]), float(self.theta(t))
        model = self._model(column, self._own(column), None)
        past, up = (part[:, 0] for part in self.beyond_threshold(model, at))
        moving = self.norms > 0
        walls = np.flatnonzero((np.abs(past) <= AT * self.scale) & moving)
        if not 0 < len(walls) <= MOST or theta == 1.0:
            return walls, None
        asked = self.conditions(model, column.a, at)
        error = np.maximum(asked.short, asked.beyond)[:, 0]
        inner = (np.abs(error) <= AT * self.scale) & moving & (past < 0)
        inner[walls] = False
        free = np.concatenate([np.flatnonzero(inner), walls])
        meets, a, (low, high) = box_test(self._held(free)), solution.a[free], self._boxes(free)
        own = self.sides(model, column.a, at).outlier[walls, 0]
        for changed in product((False, True), repeat=len(walls)):
            self._set_walls(low, high, up[walls], own ^ np.array(changed), theta)
            if not meets((low - a) / self.C - OUT_OF_BOX, (high - a) / self.C + OUT_OF_BOX):
                return walls, walls[np.array(changed)]
        return walls, None

    def _boxes(self, free: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Return the least and the largest signed dual of samples at their loss's own kink."""
        raise NotImplementedError

    def _set_walls(self, low: Floats, high: Floats, up: Floats, out, theta: float) -> None:
        """Write the boxes of the last samples, which are at the threshold, on given sides."""
        k = len(up)
        least, most = np.where(out, -np.inf, self.C), np.where(out, self.C * theta, np.inf)
        low[-k:] = np.where(up > 0, least, -most)
        high[-k:] = np.where(up > 0, most, -least)

    def _held(self, rows: NDArray[np.int64]) -> Floats:
        """Return A (r, k): just those changes d of these rows' duals with A d = 0 change no value.

        A has full row rank.
        """
        X = self.X[rows]
        if self.linear:
            X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
            length = np.maximum(np.linalg.norm(X, axis=1), 1e-300)
            U, size, _ = np.linalg.svd(X / length[:, None], full_matrices=False)
            return U[:, size > np.sqrt(DEPENDENT) * size.max(initial=1e-300)].T * length
        size, U = np.linalg.eigh(self.judged_gram[np.ix_(rows, rows)])
        return U[:, size > DEPENDENT * size.max(initial=1e-300)].T


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


@dataclass(frozen=True, eq=False, kw_only=True)
class RobustHinge(Robust, Hinge):
    """min 1/2 ||w||^2 + C sum_i l(y_i f(x_i)), l(m) = [1 - m]_+ for m >= s, else 1 - theta m - s.

    With s <= 0, and s = 0 or theta = 0, so that l is continuous. There is no bias. Where f is 0
    the larger class of the training rows is predicted: a row of zeros says nothing else.
    """

    bias: str = "none"

    def beyond_threshold(self, model: Model, t: Floats, low=0.0) -> tuple[Floats, Floats]:
        """Return s - y f, rounded once, and y."""
        y = self.y[:, None]
        s, s_low = self.s(t, low)
        past, rest = add(np.broadcast_to(s, model.f.shape), -y * model.f)
        return past + (rest + s_low - y * model.f_low), np.broadcast_to(y, past.shape)

    def room(self, t: Floats, low=0.0) -> Floats:
        """Return 1 - s."""
        return 1.0 - self.s(t, low)[0]

    def constant_of_outlier(self, t: Floats, low=0.0) -> Floats:
        """Return C (1 - s - theta)."""
        return self.C * (1.0 - self.s(t, low)[0] - self.theta(t, low))

    def _boxes(self, free: NDArray[np.int64]) -> tuple[Floats, Floats]:
        y = self.y[free]
        return np.where(y > 0, 0.0, -self.C), np.where(y > 0, self.C, 0.0)

    def losses(self, values: Floats, t: float) -> Floats:
        """Return l(y f)."""
        margin, theta, s = self.y * values, float(self.theta(t)), float(self.s(t)[0])
        return np.where(margin >= s, np.maximum(1.0 - margin, 0.0), 1.0 - theta * margin - s)

    def positive(self, f: Floats) -> NDArray[np.bool_]:
        """Tell where f stands for the larger label: at 0 where that is the more frequent one."""
        return f >= 0 if self.y.sum() >= 0 else f > 0


@dataclass(frozen=True, eq=False, kw_only=True)
class RobustTube(Robust, Tube):
    """min 1/2 ||w||^2 + C sum_i l(y_i - f(x_i)), l(r) = |r| for |r| < s, else (|r| - s) theta + s.

    There is no bias.
    """

    bias: str = "none"

    def beyond_threshold(self, model: Model, t: Floats, low=0.0) -> tuple[Floats, Floats]:
        """Return |y - f| - s, rounded once, and the sign of y - f."""
        error, rest = add(self.y[:, None], -model.f)
        rest = rest - model.f_low
        up = np.where(error < 0, -1.0, 1.0)
        s, s_low = self.s(t, low)
        past, lost = add(up * error, -np.broadcast_to(s, error.shape))
        return past + (lost + up * rest - s_low), up

    def room(self, t: Floats, low=0.0) -> Floats:
        """Return s."""
        return self.s(t, low)[0]

    def constant_of_outlier(self, t: Floats, low=0.0) -> Floats:
        """Return C s (1 - theta)."""
        return self.C * self.s(t, low)[0] * (1.0 - self.theta(t, low))

    def _boxes(self, free: NDArray[np.int64]) -> tuple[Floats, Floats]:
        return np.full(len(free), -self.C), np.full(len(free), self.C)

    def losses(self, values: Floats, t: float) -> Floats:
        """Return l(y - f)."""
        size, theta, s = np.abs(self.y - values), float(self.theta(t)), float(self.s(t)[0])
        return np.where(size < s, size, (size - s) * theta + s)
