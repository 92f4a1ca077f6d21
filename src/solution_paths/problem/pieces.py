"""Convex piecewise linear-quadratic functions of one variable, one for each sample or feature.

Such a function has *knots* p_1 < ... < p_m, where its derivative may jump, and m + 1 *segments*
around them, on each of which it is linear or quadratic. Of segment 0 the slope is stated just left
of p_1, of segment k just right of p_k; a curvature q is its second derivative. Outside of
[low, high] the function is infinite: a constraint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..validation import Floats

Entry: TypeAlias = ArrayLike  # a number, or one for each function
ORDER_ROUNDING = 8 * np.finfo(np.float64).eps  # relative: computed slopes may descend by so much


@dataclass(frozen=True, eq=False)
class Pieces:
    """n convex piecewise linear-quadratic functions; `pieces` makes them.

    Attributes
    ----------
    knots : (n, m) array
        Ascending in each row; m >= 1.
    slopes, curvature : (n, m + 1) arrays
        Of the segments; the slope is the derivative next to a knot, see the module.
    value : (n,) array
        f at the first knot. It is part of objectives, and moves no solution.
    low, high : (n,) arrays
        Ends of the domain; infinite where there are none.
    """

    knots: Floats
    slopes: Floats
    curvature: Floats
    value: Floats
    low: Floats
    high: Floats

    def __post_init__(self) -> None:
        n, m = np.shape(self.knots)
        shapes: tuple[Any, ...] = (n, m), (n, m + 1), (n, m + 1), (n,), (n,), (n,)
        for name, shape in zip(FIELDS, shapes, strict=True):
            array = np.asarray(getattr(self, name), dtype=np.float64)
            if array.shape != shape or m == 0:
                raise ValueError(
                    f"{name} has shape {array.shape} beside knots of shape {(n, m)}; give at "
                    "least one knot, a slope and a curvature for each of the segments around "
                    f"them, and one value a row: {shape}."
                )
            object.__setattr__(self, name, array)
        self._check()

    def _check(self) -> None:
        finite = ("knots", "slopes", "curvature", "value")
        for name in finite:
            _refuse(
                ~np.isfinite(getattr(self, name)),
                f"{name} contains NaN or infinity in row {{row}}; give finite numbers.",
            )
        _refuse(
            np.isnan(self.low) | np.isnan(self.high),
            "low or high of row {row} is NaN: give a number, or infinity for no bound.",
        )
        _refuse(
            self._widths < 0,
            "knots of row {row} are not in ascending order: sort them, with their slopes.",
        )
        _refuse(
            (self.low > self.knots[:, 0]) | (self.high < self.knots[:, -1]),
            "a knot of row {row} is outside of its domain [low, high]: drop the knot.",
        )
        _refuse(
            self.curvature < 0,
            "curvature of row {row} is negative: a convex function has none below zero.",
        )
        fall = self._left_unchecked() - self.slopes[:, 1:]
        if (fall <= 0).all():
            return
        size = np.abs(self.slopes).max(axis=1) + (self._bends).max(axis=1, initial=0.0)
        # a knot such as y - delta has an error relative to y, however short the segments are
        curved = self.curvature.max(axis=1) * np.abs(self.knots).max(axis=1)
        _refuse(
            fall.max(axis=1) > ORDER_ROUNDING * (size + curved),
            "slopes of row {row} fall at a knot: a convex function's slopes ascend (from "
            "segment to segment, and by curvature times width within one).",
        )

    def __len__(self) -> int:
        return len(self.knots)

    @property
    def _widths(self) -> Floats:
        """The widths of inner segments, (n, m - 1)."""
        return self.knots[:, 1:] - self.knots[:, :-1]

    @property
    def _bends(self) -> Floats:
        """The rise of the derivative on each inner segment, (n, m - 1)."""
        return self.curvature[:, 1:-1] * self._widths

    def _left_unchecked(self) -> Floats:
        if self.knots.shape[1] == 1:
            return self.slopes[:, :1]
        inner = self.slopes[:, 1:-1] + self._bends
        first = np.broadcast_to(self.slopes[:, :1], (len(inner), 1, *inner.shape[2:]))
        return np.concatenate([first, inner], axis=1)

    @property
    def left(self) -> Floats:
        """The derivatives just left of the knots, (n, m); never above `right`, by rounding."""
        return np.minimum(self._left_unchecked(), self.right)

    @property
    def right(self) -> Floats:
        """The derivatives just right of the knots, (n, m)."""
        return self.slopes[:, 1:]

    @property
    def smooth(self) -> bool:
        """Whether all functions have a derivative everywhere, but for rounding."""
        size = np.abs(self.slopes).max(axis=1) + self._bends.max(axis=1, initial=0.0)
        endless = np.isinf(self.low).all() and np.isinf(self.high).all()
        return bool(
            endless and ((self.right - self.left).max(axis=1) <= ORDER_ROUNDING * size).all()
        )

    def mirrored(self, rows: ArrayLike = True) -> Pieces:
        """Return the functions z -> f(-z) where ``rows`` (a bool, or one a row) is true."""
        rise = self.slopes[:, 1:-1] * self._widths + self._bends * self._widths / 2
        other = self._derived(
            -self.knots[:, ::-1],
            -np.concatenate([self.slopes[:, -1:], self.left[:, ::-1]], axis=1),
            self.curvature[:, ::-1],
            self.value + rise.sum(axis=1),
            -self.high,
            -self.low,
        )
        chosen = np.broadcast_to(np.asarray(rows, dtype=bool), len(self))
        return other if chosen.all() else other.where(chosen, self)

    def where(self, rows: Any, other: Pieces) -> Pieces:
        """Return these functions where ``rows`` (n,) is true, else those of ``other``."""
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        both = (np.where(rows if a.ndim == 1 else rows[:, None], a, b) for a, b in pairs)
        return self._derived(*both)

    @classmethod
    def _derived(cls, *arrays: Floats) -> Self:
        """Return functions derived from checked ones, without another check."""
        functions = object.__new__(cls)
        vars(functions).update(zip(FIELDS, arrays, strict=True))
        return functions

    def plus_ridge(self, ridge: float) -> Self:
        """Return f(z) + ridge z^2 / 2."""
        at = self.knots[:, [0, *range(self.knots.shape[1])]]
        return self._derived(
            self.knots,
            self.slopes + ridge * at,
            self.curvature + ridge,
            self.value + ridge * self.knots[:, 0] ** 2 / 2,
            self.low,
            self.high,
        )


FIELDS = tuple(field.name for field in fields(Pieces))


def pieces(
    knots: Sequence[Entry],
    slopes: Sequence[Entry],
    curvature: Sequence[Entry] | None = None,
    *,
    n: int | None = None,
    value: Entry = 0.0,
    low: Entry = -np.inf,
    high: Entry = np.inf,
) -> Pieces:
    """State n convex functions at once: each entry is a number, or an array of n.

    Parameters
    ----------
    knots : sequence of m entries
        Ascending.
    slopes : sequence of m + 1 entries
        Ascending: the derivative just left of the first knot, then just right of each knot.
    curvature : sequence of m + 1 entries, optional
        Of the segments; all zero, that is piecewise linear, unless given.
    n : int, optional
        The number of functions, where all entries are numbers.
    value : entry
        The function at the first knot.
    low, high : entries
        Ends of the domain.

    Returns
    -------
    Pieces

    Raises
    ------
    ValueError
        The functions aren't convex, knots are out of order, or sizes don't fit.

    Examples
    --------
    The check loss of quantile regression at tau = 0.9 for two targets:

    >>> pieces(knots=[[5.0, 7.0]], slopes=[-0.9, 0.1]).slopes
    array([[-0.9,  0.1],
           [-0.9,  0.1]])
    """
    flat = [0.0] * len(slopes) if curvature is None else curvature
    given = [np.asarray(e, dtype=np.float64) for e in (*knots, *slopes, *flat, value, low, high)]
    sizes = {len(entry) for entry in given if entry.ndim == 1} | ({n} if n is not None else set())
    if len(sizes) != 1 or any(entry.ndim > 1 for entry in given):
        lengths = sorted(sizes) or "numbers alone"
        raise ValueError(
            f"The entries have lengths {lengths}; give numbers and arrays of one length, or n "
            "where all are numbers."
        )
    size = sizes.pop()

    def rows(entries: Sequence[Any]) -> Floats:
        columns = np.empty((size, len(entries)))
        for k, entry in enumerate(entries):
            columns[:, k] = entry
        return columns

    m, segments = len(knots), len(slopes)
    ends = rows(given[-3:])
    return Pieces(
        rows(given[:m]),
        rows(given[m : m + segments]),
        rows(given[m + segments : -3]),
        *(np.ascontiguousarray(ends[:, k]) for k in range(3)),
    )


def _refuse(wrong: Any, message: str) -> None:
    """Raise an error about the first row with a wrong entry, if there is one."""
    if wrong.any():
        raise ValueError(message.format(row=np.nonzero(wrong)[0][0]))
