"""Curves: validation errors as exact functions of a path's parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import plots
from .tolerances import ERROR_ROUNDING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
SMALLEST_DOUBLE = float(np.nextafter(0.0, 1.0))
EPSILON = float(np.finfo(np.float64).eps)
CURVES_TOGETHER = 16  # curves that are evaluated at the edges of each other


class Best(NamedTuple):
    """The exact minimiser of an error over a whole path.

    ``value`` is the least error, ``intervals`` the (k, 2) closed intervals of parameters where it
    is reached, ``parameter`` the middle of the widest, always finite. An unbounded interval ends
    at inf; its middle is that of the part up to the last edge. Where the least error is a limit at
    infinity, the interval begins where the error equals the limit in double precision.
    """

    value: float
    parameter: float
    intervals: Floats


@dataclass(frozen=True, eq=False)
class Curve:
    """A piecewise quadratic function of one parameter, with jumps.

    On piece k, a share u of the way from ``edges[k]`` to ``edges[k + 1]``, it is
    (1 - u) left[k] + u right[k] - u (1 - u) sag[k]. A curve of k pieces takes 32 k bytes.

    Attributes
    ----------
    edges : (k + 1,) array
        Ends of the pieces, strictly ascending; the last may be inf, after a constant piece. A value
        at a single parameter, such as that of a tie of decisions, has a piece that ends at the next
        double.
    left, right : (k,) arrays
        One-sided limits at the ends of each piece. Where ``right[k - 1]`` and ``left[k]`` differ
        the curve jumps, and has the value of the right piece.
    sag : (k,) array
        Four times the depth of each piece below its chord in the middle; zero for steps and
        straight lines, negative for concave pieces.
    reciprocal : bool
        Whether shares u are those of 1 / t, and pieces quadratic in 1 / t: for penalties in whose
        inverse a path is piecewise linear.
    log : bool
        Whether the parameter is a scale (a cost, a penalty): then `best` measures intervals and
        their middles by logarithms.
    unit : float
        The size of the terms of values that may cancel. Two values are equal if they differ by less
        than 1e-12 of their size and ``unit``.

    Examples
    --------
    >>> import numpy as np
    >>> from solution_paths import Curve
    >>> curve = Curve(np.array([0.0, 1.0, 3.0]), np.ones(2), np.ones(2), np.array([0.0, 2.0]))
    >>> curve([0.5, 2.0]).tolist()
    [1.0, 0.5]
    >>> curve.best()
    Best(value=0.5, parameter=2.0, intervals=array([[2., 2.]]))
    """

    edges: Floats
    left: Floats
    right: Floats
    sag: Floats
    reciprocal: bool = False
    log: bool = False
    unit: float = 0.0

    def __call__(self, t: ArrayLike) -> Floats:
        """Return the values at t, a number or an array, between the first and the last edge."""
        t = np.asarray(t, dtype=np.float64)
        if not ((t >= self.edges[0]) & (t <= self.edges[-1])).all():
            raise ValueError(
                f"t is outside this curve, which covers [{self.edges[0]:g}, {self.edges[-1]:g}]; "
                "choose values in that range."
            )
        return self._values(t, self._pieces(t))

    def _pieces(self, t: Floats) -> NDArray[np.int64]:
        last = len(self.left) - 1
        return np.minimum(np.searchsorted(self.edges, t, side="right") - 1, last)

    def _values(self, t: Floats, piece: NDArray[np.int64]) -> Floats:
        """Return the values of the given pieces at t."""
        u = self._share(t, self.edges[piece], self.edges[piece + 1])
        left, right = self.left[piece], self.right[piece]
        straight = np.where(left == right, left, (1 - u) * left + u * right)
        return np.asarray(straight - u * (1 - u) * self.sag[piece])

    def _share(self, t: Floats, begin: Floats, end: Floats) -> Floats:
        """Return the share of [begin, end] before t; 0 where the interval is unbounded."""
        t, begin, end = (self._straight(v) for v in (t, begin, end))
        known = np.isfinite(begin) & np.isfinite(end) & (begin != end)
        start, width = np.where(known, begin, 0.0), np.where(known, end, 1.0)
        return np.where(known, np.where(known, t, 0.0) - start, 0.0) / (width - start)

    def _straight(self, t: Floats) -> Floats:
        """Return the argument in which pieces are quadratic: t or 1 / t (its own inverse)."""
        if not self.reciprocal:
            return t
        with np.errstate(divide="ignore", over="ignore"):
            return 1.0 / np.asarray(t, dtype=np.float64)

    def over(self, low: float, high: float) -> Curve:
        """Return the curve on [low, high], extended by constants or cut."""
        before = [low] if low < self.edges[0] else []
        after = [high] if high > self.edges[-1] else []
        ends = [self.left[:1]] * len(before), [self.right[-1:]] * len(after)
        whole = self._with(
            np.concatenate([before, self.edges, after]),
            np.concatenate([*ends[0], self.left, *ends[1]]),
            np.concatenate([*ends[0], self.right, *ends[1]]),
            np.concatenate([np.zeros(len(before)), self.sag, np.zeros(len(after))]),
        )
        if low <= whole.edges[0] and whole.edges[-1] <= high:
            return whole
        inner = (whole.edges > low) & (whole.edges < high)
        return whole.on(np.concatenate([[low], whole.edges[inner], [high]]))

    def _with(self, edges: Floats, left: Floats, right: Floats, sag: Floats) -> Curve:
        """Return a curve with other pieces."""
        return Curve(edges, left, right, sag, self.reciprocal, self.log, self.unit)

    def behind(self, places: Floats) -> Curve:
        """Return the curve with its jumps at some places moved to the next double."""
        jumps = np.zeros(len(self.edges), dtype=bool)
        before, after = self.right[:-1], self.left[1:]
        size = np.maximum(np.abs(before), np.abs(after))
        jumps[1:-1] = np.abs(before - after) > self._slack(size)
        beyond = np.nextafter(self.edges, np.inf)
        edges = np.where(jumps & np.isin(self.edges, places), beyond, self.edges)
        if not (np.diff(edges) > 0.0).all():
            return self
        return self._with(edges, self.left, self.right, self.sag)

    def opened(self) -> Curve:
        """Return the curve without a first piece that holds only the value at its first edge."""
        if len(self.left) < 2 or self.edges[1] > np.nextafter(self.edges[0], np.inf):
            return self
        parts = (self.left[1:], self.right[1:], self.sag[1:])
        return self._with(np.delete(self.edges, 1), *parts)

    def scaled(self, factor: float) -> Curve:
        """Return the curve as a function of factor * t, factor > 0."""
        return self._moved(factor * self.edges, self.left, self.right, self.sag)

    def times(self, factor: float) -> Curve:
        """Return the curve's values times a factor >= 0."""
        parts = (factor * self.left, factor * self.right, factor * self.sag)
        return replace(self._with(self.edges, *parts), unit=factor * self.unit)

    def inverted(self, unit: float) -> Curve:
        """Return the curve as a function of unit / t instead of t."""
        with np.errstate(divide="ignore", over="ignore"):
            edges = unit / self.edges[::-1]
        parts = (self.right[::-1], self.left[::-1], self.sag[::-1])
        return replace(self._moved(edges, *parts), reciprocal=not self.reciprocal)

    def _moved(self, edges: Floats, *parts: Floats) -> Curve:
        """Return the curve with moved edges, without pieces of zero length."""
        kept = edges[1:] > edges[:-1]
        return self._with(np.unique(edges), *(part[kept] for part in parts))

    def on(self, edges: Floats) -> Curve:
        """Return the curve on a finer partition: edges include those of the curve between them."""
        piece = self._pieces(edges[:-1])
        ends = self.edges[piece], self.edges[piece + 1]
        share = self._share(edges[1:], *ends) - self._share(edges[:-1], *ends)
        left, right = self._values(edges[:-1], piece), self._values(edges[1:], piece)
        return self._with(edges, left, right, share**2 * self.sag[piece])

    def best(self, *, log: bool | None = None) -> Best:
        """Return where the curve is least; before a jump upwards, the last double before it.

        Parameters
        ----------
        log : bool, optional
            Whether widths and middles of intervals are those of logarithms, as befits a penalty or
            a cost; by default the curve's ``log``. An interval from 0 then counts from half the
            first edge after it.

        Returns
        -------
        Best
        """
        lowest, share = self._lowest()
        least = float(lowest.min())
        slack = float(self._slack(abs(least)))
        enough = least + slack
        flat = (np.maximum(self.left, self.right) <= enough) & (np.abs(self.sag) <= slack)
        reached = flat | (lowest == least)
        begin, end = self.edges[:-1], self.edges[1:]
        point = self._at_share(share)
        first, last = np.where(flat, begin, point), np.where(flat, end, point)
        first = np.minimum(first, self._settled)
        intervals = _joined(first[reached], last[reached])
        return Best(
            least, self._middle(intervals, enough, self.log if log is None else log), intervals
        )

    def below(self, level: float) -> Floats:
        """Return the (k, 2) intervals of parameters on which the curve is at most a level, exactly.

        There are none, k = 0, where it is above everywhere.

        Examples
        --------
        >>> import numpy as np
        >>> from solution_paths import Curve
        >>> curve = Curve(np.array([0.0, 1.0, 3.0]), np.ones(2), np.ones(2), np.array([0.0, 2.0]))
        >>> curve.below(0.625).tolist()
        [[1.5, 2.5]]
        """
        arched = -self.sag > np.abs(self.right - self.left)  # cut at an interior maximum
        if arched.any():
            share = 0.5 - 0.5 * (self.right - self.left)[arched] / self.sag[arched]
            whole = np.full(len(arched), 0.0)
            whole[arched] = share
            tops = np.setdiff1d(self._at_share(whole)[arched], self.edges)
            if len(tops):
                return self.on(np.union1d(self.edges, tops)).below(level)
        enough, rise, sag = level + self._slack(abs(level)), self.right - self.left, self.sag
        lowest, share = self._lowest()
        # the roots of left - level + u (rise - sag) + u^2 sag
        slope, bent, tilted = rise - sag, sag != 0.0, rise != 0.0
        depth = np.sqrt(np.maximum(slope**2 - 4.0 * sag * (self.left - level), 0.0))
        double = np.where(bent, 2.0 * sag, 1.0)
        line = np.where(tilted, (level - self.left) / np.where(tilted, rise, 1.0), 0.0)
        first = np.where(bent, (-slope - depth) / double, line)
        last = np.where(bent, (-slope + depth) / double, line)
        first = np.where(self.left <= enough, 0.0, np.clip(first, 0.0, share))
        last = np.where(self.right <= enough, 1.0, np.clip(last, share, 1.0))
        pieces = np.flatnonzero(lowest <= enough)
        if not len(pieces):
            return np.empty((0, 2))
        return _joined(self._at_share(first)[pieces], self._at_share(last)[pieces])

    @property
    def _settled(self) -> float:
        """The parameter from which on the curve equals its end value in double precision."""
        if self.edges[-1] < np.inf:
            return float(self.edges[-1])
        known = float(self.edges[-2]) or 1.0
        if self.left[-1] == self.right[-1] and self.sag[-1] == 0.0:
            return known
        return min(known, np.finfo(np.float64).max * EPSILON) / EPSILON

    def _slack(self, size: Any) -> Any:
        """Return the largest difference of errors of some size that count as equal."""
        return ERROR_ROUNDING * (size + self.unit)

    def _at_share(self, share: Floats) -> Floats:
        """Return the parameter at a share of each piece."""
        begin, end = self.edges[:-1], self.edges[1:]
        first, last = self._straight(begin), self._straight(end)
        with np.errstate(invalid="ignore"):
            point = np.clip(self._straight(first + share * (last - first)), begin, end)
        return np.where(share == 0.0, begin, np.where(share == 1.0, end, point))

    def plot(
        self,
        ax: Axes | None = None,
        *,
        parameter: str = "parameter",
        folds: Sequence[Curve] | None = None,
        mark: float | None = None,
    ) -> Axes:
        """Plot the curve, its least value, and the intervals where that is reached.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        parameter : str, default "parameter"
            Label of the axis. It is logarithmic where its values are never negative and span a
            decade, except for ``"tau"`` and ``"theta"``.
        folds : sequence of Curve, optional
            Curves to draw behind; by default the ``parts`` of a `MeanCurve`.
        mark : float, optional
            A parameter to mark.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> import numpy as np
        >>> from solution_paths import Curve
        >>> level = np.array([0.3, 0.1])
        >>> curve = Curve(np.array([0.0, 1.0, 3.0]), level, level, np.zeros(2))
        >>> curve.plot(parameter="tau").get_xlabel()
        'tau'
        """
        folds = getattr(self, "parts", ()) if folds is None else folds
        return plots.draw_curve(self, ax, parameter, folds, mark)

    def _lowest(self) -> tuple[Floats, Floats]:
        """Return the least value of each piece, and the share at which it is reached."""
        rise, sag = self.right - self.left, self.sag
        inside = sag > np.abs(rise)  # else the vertex is beyond an end
        u = np.where(inside, 0.5 - 0.5 * rise / np.where(inside, sag, 1.0), rise < 0)
        value = self.left + u * rise - u * (1 - u) * sag
        return np.where(u == 0, self.left, np.where(u == 1, self.right, value)), u

    def _middle(self, intervals: Floats, enough: float, log: bool) -> float:
        """Return the middle of the widest interval; unbounded ones end at the last edge."""
        first, last = (self._known(ends, log) for ends in intervals.T)
        widest = int(np.argmax(last / first if log else last - first))
        middle = float(
            np.sqrt(first[widest] * last[widest]) if log else 0.5 * (first[widest] + last[widest])
        )
        middle = min(max(middle, float(intervals[widest, 0])), float(intervals[widest, 1]))
        return self.before_jump(middle, enough)

    def _known(self, t: Floats, log: bool) -> Floats:
        """Return parameters clipped to the range of finite edges.

        By logarithms the range begins at half the first positive edge.
        """
        finite = self.edges[np.isfinite(self.edges)]
        positive = finite[finite > SMALLEST_DOUBLE]  # a piece at 0 alone ends at this double
        if not log:
            return np.minimum(t, finite[-1])
        if not len(positive):  # the curve is constant
            return np.ones_like(t)
        return np.clip(
            t, 0.5 * positive[0] if finite[0] <= SMALLEST_DOUBLE else positive[0], positive[-1]
        )

    def before_jump(self, t: float, enough: float) -> float:
        """Return t, or the double before it if the curve jumps above a level at t."""
        return float(np.nextafter(t, -np.inf)) if self(t) > enough else t


@dataclass(frozen=True, eq=False)
class MeanCurve(Curve):
    """The mean of several curves, with its standard error.

    Attributes
    ----------
    parts : tuple of Curve
        The curves of which it is the mean: the errors of folds.
    others
        See `Curve`.
    """

    parts: tuple[Curve, ...] = ()

    @classmethod
    def of(cls, curves: Sequence[Curve]) -> MeanCurve:
        """Return the mean of curves that all cover the same parameters."""
        mean = mean_curve(curves)
        values: dict[str, Any] = {field.name: getattr(mean, field.name) for field in fields(Curve)}
        return cls(**values, parts=tuple(curves))

    def simplest(self, *, larger: bool) -> float:
        """Return the strongest penalty whose mean is within a standard error of the least.

        The standard error is that at `best`. Where the interval reaches the end of the scale,
        return the last parameter at which the curve changes.

        Parameters
        ----------
        larger : bool
            Whether a larger parameter is the stronger penalty.

        Examples
        --------
        >>> import numpy as np
        >>> from solution_paths.solution.curves import Curve, MeanCurve
        >>> edges, none = np.array([0.0, 1.0, 2.0, 3.0]), np.zeros(3)
        >>> levels = np.array([[3.0, 1.0, 2.0], [3.0, 2.0, 1.2]])
        >>> mean = MeanCurve.of([Curve(edges, level, level, none) for level in levels])
        >>> mean.best().parameter, round(mean.simplest(larger=True), 9), mean.simplest(larger=False)
        (1.5, 3.0, 1.0)
        """
        best = self.best()
        level = best.value + float(self.standard_error(best.parameter))
        first, last = self.below(level)[-1 if larger else 0].tolist()
        if larger:
            place = min(last, self._settled)
        else:
            place = min(float(self._known(np.array([first]), self.log)[0]), last)
        return self.before_jump(place, level + self._slack(abs(level)))

    def standard_error(self, t: ArrayLike) -> Floats:
        """Return the standard error of the mean at t: the parts' standard deviation over sqrt(k).

        It is zero for a single part.

        Examples
        --------
        >>> import numpy as np
        >>> from solution_paths.solution.curves import Curve, MeanCurve
        >>> edges, none = np.array([0.0, 1.0]), np.zeros(1)
        >>> levels = np.array([[1.0], [3.0]])
        >>> folds = [Curve(edges, level, level, none) for level in levels]
        >>> mean = MeanCurve.of(folds)
        >>> mean(0.5).item(), mean.standard_error(0.5).item()
        (2.0, 1.0)
        """
        values = np.stack([part(t) for part in self.parts])
        count = len(values)
        return values.std(axis=0, ddof=1) / np.sqrt(count) if count > 1 else 0.0 * values[0]


def mean_curve(curves: Sequence[Curve], weights: Sequence[float] | None = None) -> Curve:
    """Return the exact mean of curves, each extended by constants to the range of all.

    Of many curves the mean is that of the means of a few each: all have edges of their own, and
    each would be evaluated at those of all others.
    """
    if len(curves) == 1:
        return curves[0]
    low, high = min(c.edges[0] for c in curves), max(c.edges[-1] for c in curves)
    if len(curves) > CURVES_TOGETHER:
        shares = np.ones(len(curves)) if weights is None else np.asarray(weights)
        blocks = np.array_split(np.arange(len(curves)), CURVES_TOGETHER)
        sums = [float(shares[block].sum()) for block in blocks]
        whole = [c.over(low, high) for c in curves]
        means = [
            mean_curve([whole[k] for k in block], shares[block].tolist() if total else None)
            for block, total in zip(blocks, sums, strict=True)
        ]
        return mean_curve(means, sums)
    edges = np.unique(np.concatenate([[low, high], *(c.edges for c in curves)]))
    parts = [c.over(low, high).on(edges) for c in curves]
    names = ("left", "right", "sag")
    left, right, sag = (np.average([getattr(p, k) for p in parts], 0, weights) for k in names)
    unit = float(np.average([c.unit for c in curves], weights=weights))
    return Curve(edges, left, right, sag, curves[0].reciprocal, curves[0].log, unit)


def steps(
    low: float,
    high: float,
    first: float,
    at: Floats,
    rises: Floats,
    unit: float,
    least: float = 0.0,
) -> Curve:
    """Return a step function: first / unit at the begin, with steps of rises / unit at places.

    It is never below least / unit.
    """
    edges = np.unique(np.concatenate([[low, high], at]))
    if len(edges) == 1:
        edges = np.array([low, high])
    change = np.zeros(len(edges))
    np.add.at(change, np.searchsorted(edges, at), rises)
    counts = np.maximum(first + np.cumsum(change)[:-1], least)
    values = counts / unit
    return Curve(edges, values, values, np.zeros(len(values)), unit=float(np.abs(values).max()))


def tilted_pieces(
    t: Floats, residual: Floats, weights: Floats, below: float = 1.0, above: float = 1.0
) -> tuple[Floats, ...]:
    """Return (begins, ends, lefts, rights, sags) of a weighted mean of tilted absolute values.

    A tilted absolute value of a residual r is max(above r, -below r). Residuals (m, B) are linear
    between nodes, and their weights add up to 1. So the mean is linear between the nodes and the
    zeros of residuals.
    """
    count = residual.shape[1] - 1
    row, piece = changes(residual < 0)
    left, right = residual[row, piece], residual[row, piece + 1]
    share = left / (left - right)
    order = np.lexsort((share, piece))
    row, piece, share = row[order], piece[order], share[order]
    value = weights @ np.maximum(above * residual, -below * residual)
    # At a zero of a row the slope of the mean increases by the row's slopes on both sides. So the
    # first slope of a piece is that of its chord less what these increases add by its end.
    bends = (below + above) * weights[row]
    after, bend = (bends * np.abs(v)[order] for v in (right, left - right))
    slope = np.diff(value) - np.bincount(piece, after, minlength=count)
    sums_before = _sums_before(bend, piece, count), _sums_before(bend * share, piece, count)
    at_zero = np.maximum(
        value[piece] + share * (slope[piece] + sums_before[0]) - sums_before[1], 0.0
    )
    place = np.concatenate([np.arange(count), piece])
    share = np.concatenate([np.zeros(count), share])
    order = np.lexsort((share, place))
    place, share = place[order], share[order]
    begin = t[place] + share * (t[place + 1] - t[place])
    lefts = np.concatenate([value[:-1], at_zero])[order]
    final = np.append(place[1:] != place[:-1], True)
    rights = np.where(final, value[place + 1], np.append(lefts[1:], 0.0))
    ends = np.where(final, t[place + 1], np.append(begin[1:], 0.0))
    return begin, ends, lefts, rights, np.zeros(len(begin))


def moving_pinball_pieces(t: Floats, residual: Floats, weights: Floats) -> tuple[Floats, ...]:
    """Return pieces, see `tilted_pieces`, of the pinball loss of residuals (m, B) whose tau is t.

    A residual r is a prediction less its target; its loss is max(r, 0) - t r.
    """
    begin, end, left, right, sag = tilted_pieces(t, residual, weights, 0.0, 1.0)
    mean = weights @ residual
    last = len(t) - 2
    piece = np.clip(np.searchsorted(t, begin + 0.5 * (end - begin), side="right") - 1, 0, last)
    rate = np.diff(mean) / np.where(np.diff(t) > 0.0, np.diff(t), np.inf)
    first, final = (mean[piece] + rate[piece] * (edge - t[piece]) for edge in (begin, end))
    bent = sag - (end - begin) * (final - first)
    return begin, end, np.maximum(left - begin * first, 0.0), right - end * final, bent


def changes(signs: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows and columns of entries that differ from the next entry of their row."""
    flat = np.flatnonzero(signs[:, 1:] != signs[:, :-1])
    row, column = np.divmod(flat, max(signs.shape[1] - 1, 1))
    return row, column


def _sums_before(values: Floats, group: NDArray[np.int64], count: int) -> Floats:
    """Return for each value the sum of those before it in its group; groups are ascending."""
    before = np.concatenate([[0.0], np.cumsum(values)])
    return before[:-1] - before[np.searchsorted(group, np.arange(count))][group]


def squared_pieces(t: Floats, residual: Floats, weights: Floats) -> tuple[Floats, ...]:
    """Return (begins, ends, lefts, rights, sags) of weighted residual^2, (m, B), between nodes."""
    step = np.diff(residual, axis=1)
    value, sag = (np.einsum("i,ij,ij->j", weights, v, v) for v in (residual, step))
    return t[:-1], t[1:], value[:-1], value[1:], sag


def between(begin: Floats, end: Floats, share: Floats) -> Floats:
    """Return the points at a share between begin and end: exact at both ends."""
    step = end - begin
    point = np.where(share > 0.5, end - (1.0 - share) * step, begin + share * step)
    return np.asarray(np.clip(point, begin, end))


class Labels(NamedTuple):
    """Labels of m rows as functions of a parameter: their first codes and the changes.

    Attributes
    ----------
    first : (m,) int array
        Codes at the begin.
    row, at, after : (k,) arrays
        Row, parameter and new code of each change, in the order of rows, then of parameters.
    """

    first: NDArray[np.int64]
    row: NDArray[np.int64]
    at: Floats
    after: NDArray[np.int64]

    @property
    def before(self) -> NDArray[np.int64]:
        """The codes (k,) before the changes."""
        known = np.append(-1, self.row)[: len(self.row)] == self.row
        return np.where(known, np.append(0, self.after)[: len(self.row)], self.first[self.row])

    def codes_at(self, t: float) -> NDArray[np.int64]:
        """Return the codes (m,) at t."""
        codes, passed = self.first.copy(), self.at <= t
        codes[self.row[passed]] = self.after[passed]  # the last change of a row is kept
        return codes

    def until(self, high: float) -> Labels:
        """Return the labels without changes beyond a parameter."""
        kept = self.at <= high
        return Labels(self.first, self.row[kept], self.at[kept], self.after[kept])

    @classmethod
    def together(cls, parts: Sequence[Labels]) -> Labels:
        """Return the labels of several blocks of rows, one after the other."""
        size = np.cumsum([0, *(len(part.first) for part in parts)])
        row = [part.row + before for part, before in zip(parts, size[:-1], strict=True)]
        first, _, at, after = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return cls(first, np.concatenate(row), at, after)


def winners(t: Floats, f: Floats) -> tuple[Labels, NDArray[np.int64]]:
    """Return the labels by the largest of several lines, and the pieces on which they change.

    Lines (m, classes, K) are given at K nodes. The largest line is followed to the next one that
    crosses it; of equal ones the first counts as the largest.
    """
    code = f.argmax(axis=1)
    row, piece = changes(code)
    current, share, crossed = code[row, piece], np.zeros(len(row)), []
    while len(row):
        start, end = f[row, :, piece], code[row, piece + 1]
        slope, index = f[row, :, piece + 1] - start, np.arange(len(row))
        lag, gain = start[index, current][:, None] - start, slope - slope[index, current][:, None]
        overtakes = gain > 0.0
        meet = np.where(overtakes, np.maximum(lag, 0.0) / np.where(overtakes, gain, 1.0), np.inf)
        meet = np.maximum(meet, share[:, None])
        first = meet.min(axis=1)
        # of several that cross at once the steepest wins; of equally steep ones the first class
        onward = np.where(meet == first[:, None], gain, -np.inf).argmax(axis=1)
        inside = (first < 1.0) & (t[piece + 1] > t[piece])
        onward, share = np.where(inside, onward, end), np.where(inside, first, 1.0)
        crossed.append((row, piece, between(t[piece], t[piece + 1], share), onward))
        unfinished = onward != end
        row, piece, current, share = (
            row[unfinished],
            piece[unfinished],
            onward[unfinished],
            share[unfinished],
        )
    empty = np.zeros(0, dtype=np.int64)
    crossed = crossed or [(empty, empty, np.zeros(0), empty)]
    row, piece, at, after = (np.concatenate(arrays) for arrays in zip(*crossed, strict=True))
    order = np.lexsort((piece, row))  # stable: within a piece in the order of the crossings
    return Labels(code[:, 0], row[order], at[order], after[order]), piece[order]


def of_pieces(parts: list[tuple[Floats, ...]]) -> Curve:
    """Return the curve of pieces in any order, without pieces of zero length."""
    begin, end, left, right, sag = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    keep = end > begin
    if not keep.any():
        keep[:1] = True
    order = np.flatnonzero(keep)[np.argsort(begin[keep], kind="stable")]
    edges = np.append(begin[order], end[order[-1:]])
    return Curve(edges, left[order], right[order], sag[order])


def _joined(first: Floats, last: Floats) -> Floats:
    """Join intervals that touch; both ends are ascending."""
    breaks = np.flatnonzero(first[1:] > last[:-1])
    return np.column_stack(
        [first[np.append(0, breaks + 1)], last[np.append(breaks, len(last) - 1)]]
    )
