"""Staircases: how a model tells the walker what it is.

Coordinate i has a value z_i and a dual a_i, and the pair always lies on a non-increasing
staircase. With kinks k_1 < k_2 < ... < k_q and levels l_0 >= l_1 >= ... >= l_q,

- *piece* r (r = 0..q): a_i = l_r, and z_i lies between k_r and k_{r+1};
- *kink* r (r = 0..q-1): z_i - delta_i a_i = k_{r+1}, and a_i lies between l_r and l_{r+1}.

State 2r means piece r, state 2r + 1 means kink r. Every kink and level is affine in the path
parameter t. Infinite levels make an equality (bias), a wall (outlier SVM) or an unbounded
coefficient (l1 penalty).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Staircases:
    """Staircases of N coordinates, padded to the largest number of kinks Q.

    Attributes
    ----------
    kink0, kink1 : (N, Q) arrays
        Kink r of coordinate i stands at ``kink0[i, r] + t * kink1[i, r]``.
    level0, level1 : (N, Q + 1) arrays
        Level r is ``level0[i, r] + t * level1[i, r]``; levels decrease along a row.
    soft : (N,) array
        The softness delta <= 0: at a kink z_i - delta_i a_i is pinned (0 for a hard kink).
    n_kinks : (N,) int array
        Number of kinks of each coordinate.
    """

    kink0: Floats
    kink1: Floats
    level0: Floats
    level1: Floats
    soft: Floats
    n_kinks: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.soft)

    def kinks(self, t: float) -> Floats:
        """Return the (N, Q) kinks at t."""
        return self.kink0 + t * self.kink1

    def levels(self, t: float) -> Floats:
        """Return the (N, Q + 1) levels at t."""
        return self.level0 + t * self.level1

    def substitute(self, offset: float, factor: float = 1.0) -> Staircases:
        """Return the same staircases as functions of u, where t = offset + factor * u."""
        finite = np.where(np.isfinite(self.level0), self.level1, 0.0)
        return replace(
            self,
            kink0=self.kinks(offset),
            kink1=factor * self.kink1,
            level0=self.level0 + offset * finite,
            level1=factor * finite,
        )

    def duals(self, state: NDArray[np.int8], t: float) -> Floats:
        """Return the (N,) duals of coordinates on pieces at t (zero for those at kinks)."""
        rows = np.arange(len(self))
        piece = state.astype(np.int64) // 2
        level = self.level0[rows, piece] + t * self.level1[rows, piece]
        return np.where(state % 2 == 0, level, 0.0)

    def locate(self, z: Floats, t: float) -> NDArray[np.int8]:
        """Return the piece on which each value z_i lies at t, as a state."""
        kinks = np.where(
            np.arange(self.kink0.shape[1]) < self.n_kinks[:, None], self.kinks(t), np.inf
        )
        return (2 * (z[:, None] > kinks).sum(axis=1)).astype(np.int8)


def staircases(
    kinks: Sequence[ArrayLike],
    levels: Sequence[ArrayLike],
    kink_rates: Sequence[ArrayLike] | None = None,
    level_rates: Sequence[ArrayLike] | None = None,
    soft: ArrayLike = 0.0,
    size: int | None = None,
) -> Staircases:
    """Build the staircases of a group of coordinates that have equally many kinks.

    Parameters
    ----------
    kinks, kink_rates : sequences of q scalars or (size,) arrays
        Kinks at t = 0 and their rates, in increasing order.
    levels, level_rates : sequences of q + 1 scalars or (size,) arrays
        Levels at t = 0 and their rates, in decreasing order.
    soft : scalar or (size,) array
        Softness, see `Staircases`.
    size : int, optional
        Number of coordinates; by default the length of the longest argument.
    """
    kink_rates = [0.0] * len(kinks) if kink_rates is None else kink_rates
    level_rates = [0.0] * len(levels) if level_rates is None else level_rates
    if size is None:
        size = max(np.size(v) for v in [*kinks, *levels, *kink_rates, *level_rates, soft])

    def table(columns: Sequence[ArrayLike]) -> Floats:
        out = np.empty((size, len(columns)))
        for j, column in enumerate(columns):
            out[:, j] = column
        return out

    own = np.empty(size)
    own[:] = soft
    n_kinks = np.full(size, len(kinks))
    return Staircases(
        table(kinks), table(kink_rates), table(levels), table(level_rates), own, n_kinks
    )


def hinge(y: Floats, cost0: ArrayLike, cost1: ArrayLike = 0.0) -> Staircases:
    """Return the hinge's staircases: kink at y_i, levels (C_i, 0) or mirrored, C affine in t.

    The dual is a_i = y_i alpha_i with 0 <= alpha_i <= C_i = cost0_i + t cost1_i.
    """
    positive, negative = np.maximum(y, 0.0), np.minimum(y, 0.0)
    return staircases(
        [y],
        [positive * cost0, negative * cost0],
        level_rates=[positive * cost1, negative * cost1],
        size=len(y),
    )


def epsilon_insensitive(
    y: Floats,
    epsilon0: ArrayLike,
    cost0: ArrayLike,
    epsilon1: ArrayLike = 0.0,
    cost1: ArrayLike = 0.0,
) -> Staircases:
    """Return kinks at y_i -+ epsilon and levels (C_i, 0, -C_i), both affine in t."""
    epsilon0, epsilon1 = np.asarray(epsilon0), np.asarray(epsilon1)
    cost0, cost1 = np.asarray(cost0), np.asarray(cost1)
    return staircases(
        [y - epsilon0, y + epsilon0],
        [cost0, 0.0, -cost0],
        kink_rates=[-epsilon1, epsilon1],
        level_rates=[cost1, 0.0, -cost1],
        size=len(y),
    )


def equality(size: int = 1, at: float = 0.0) -> Staircases:
    """Return coordinates whose value is pinned for good: a free bias (balance ``at`` = 0)."""
    return staircases([at], [np.inf, -np.inf], size=size)


def stack(*groups: Staircases) -> Staircases:
    """Put groups of coordinates below each other, padding to the largest number of kinks."""
    width = max(g.kink0.shape[1] for g in groups)
    if any(g.kink0.shape[1] < width for g in groups):
        groups = tuple(_padded(g, width) for g in groups)
    parts = zip(*(vars(g).values() for g in groups), strict=True)
    return Staircases(*(np.concatenate(part) for part in parts))


def _padded(stairs: Staircases, width: int) -> Staircases:
    """Return the same staircases with room for so many kinks."""
    more = (0, 0), (0, width - stairs.kink0.shape[1])
    names = "kink0", "kink1", "level0", "level1"
    return replace(stairs, **{name: np.pad(getattr(stairs, name), more) for name in names})
