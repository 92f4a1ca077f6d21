"""Walks of the homotopy along staircases, leg after leg, and where they start.

A walker remembers the parameter and a state for each coordinate; the point follows from these. So
a leg with other staircases may begin wherever they agree with those of the last one.

Any states with a regular system have a point. What it violates is mended: kinks, or levels, that
it is beyond are moved until they hold it. It is then the optimum of a problem near by, and a walk
that takes these moves back ends at the optimum of the given one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import PathError
from ..homotopy import loop
from ..homotopy.guess import near_optimum
from ..homotopy.run import STEPS, Homotopy
from .map import Map
from .staircase import Staircases
from .tables import Layout, Tables
from .trace import Trace, trace_of

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
DONE, WALL = range(2)
ENDLESS = 2.0**70  # times the last breakpoint: what happens behind it is rounding
KEPT = 2**20  # numbers of tables that are kept: larger ones are made again
LARGE = 500  # coordinates from which on Newton's method costs less than the way that it saves
NUMERICAL = (np.linalg.LinAlgError, ArithmeticError)


class WalkError(RuntimeError):
    """The walk ended before its goal; ``trace`` holds the part of the path that is exact."""

    def __init__(self, message: str, trace: Trace):
        super().__init__(message)
        self.trace = trace


class Walker:
    """A walk in progress.

    Parameters
    ----------
    op : Map
    stairs : Staircases
        Of samples and features.
    state : (n + p,) array
        States of an optimum at ``t``, whose system is regular: 2r on piece r, 2r + 1 at kink r.
    t : float
    lazy : bool
        Whether coordinates are looked at only when they can have come to a limit.
    """

    def __init__(
        self, op: Map, stairs: Staircases, state: NDArray[Any], t: float = 0.0, lazy: bool = True
    ):
        self.op, self.lazy = op, lazy
        self.layout = Layout.of(op, stairs)
        self.start_events, self.at = 0, np.zeros(op.p)
        self.place = self.layout.places(state)
        self._made: tuple[Staircases, Tables] | None = None
        self._known_point: tuple[Places, Floats] | None = None
        self.begin(stairs, t)

    def begin(self, stairs: Staircases, t: float) -> None:
        """Start a leg at t with new staircases, from the present states."""
        self._known_point = None
        if not np.array_equal(stairs.soft, getattr(self, "stairs", stairs).soft):
            self.layout, self._made = Layout.of(self.op, stairs), None
        self.stairs, self.t = stairs, t
        self.walls: NDArray[np.int64] | None = None
        self._walk: Homotopy | None = None

    @property
    def tables(self) -> Tables:
        """The graphs of the present staircases."""
        if self._made is None or self._made[0] is not self.stairs:
            made = self.layout.tables(self.layout.expanded(self.stairs, self.at))
            self._made = self.stairs, made
        return self._made[1]

    def forget(self) -> None:
        """Give back the memory of large tables, which can be made again."""
        if self._made is not None and self._made[1].equation.size > KEPT:
            self._made = None

    @property
    def state(self) -> NDArray[np.int8]:
        """The (n + p,) states where the walk stands."""
        return self.layout.states(self.place)

    def set_out(self, t_end: float) -> Homotopy:
        """Return a homotopy from here to t_end, before its first step."""
        endless = ENDLESS if np.isinf(t_end) else 0.0
        far = endless * max(self.t, 1e-300) if endless else t_end
        statement, tables, place = self.layout.statement, self.tables, self.place
        homotopy = Homotopy(statement, tables, place, self.t, far, lazy=self.lazy, endless=endless)
        if self.walls is not None:
            homotopy.walk.graph.hollow[:] = self.layout.walls(tables, self.walls)
        self._walk = homotopy
        return homotopy

    def go(self, homotopy: Homotopy, callback: Any = None) -> int:
        """Walk on along a homotopy; return how it ended (DONE or WALL)."""
        begin = self.t
        now = homotopy.walk.now
        while True:
            ending = loop.walk(homotopy.walk, STEPS)
            now = homotopy.walk.now
            if ending in (loop.DONE, loop.WALL):
                if callback is not None:
                    callback(1.0, int(now.events))
                return DONE if ending == loop.DONE else WALL
            if ending == loop.UNBOUNDED:
                raise self._broken("the problem is unbounded beyond")
            if ending == loop.LOST:
                raise self._broken("rows there are dependent to within rounding")
            if ending == loop.CYCLE:
                raise self._broken("ties there can't be resolved (cycling)")
            homotopy.go_on(ending)
            if callback is not None:
                callback((now.t - begin) / (now.end - begin), int(now.events))

    def _broken(self, reason: str) -> WalkError:
        """Return the error of a leg that has ended before its goal."""
        homotopy = self._walk
        assert homotopy is not None
        now = homotopy.walk.now
        trace = trace_of(self, homotopy)
        return WalkError(
            f"the path stops at t = {now.t:.17g} after {now.events} events: {reason}; the exact "
            "part up to there is kept with this error.",
            trace,
        )

    def stand(self, state: NDArray[Any]) -> None:
        """Stand in other states, at the same t."""
        self.place = self.layout.places(state)

    def point(self) -> tuple[Floats, Floats]:
        """Return the (n + p,) duals where the walk stands, and the values of samples on pieces."""
        known = self._known_point
        if known is None or not np.array_equal(known[0], self.place):
            known = self._known_point = self.place.copy(), self._standing().values
        return self.parted(known[1], self.place, self.t)

    def parted(self, values: Floats, place: Places, t: float) -> tuple[Floats, Floats]:
        """Return the same by what places limit at t: a dual, or a value."""
        layout, own = self.layout, self.layout.own
        x, state = values[own], layout.states(place).astype(np.int64)
        level = self.stairs.levels(t)[np.arange(len(own)), state // 2]
        duals = np.where(state % 2 == 0, level, x)
        feature = np.arange(len(own)) >= layout.n
        duals[feature] = np.where(state % 2 == 0, level, -x / layout.unit)[feature]
        return duals, np.where(state % 2 == 0, x / layout.unit, np.nan)

    def values(self) -> Floats:
        """Return the (n,) values of samples."""
        n, state = self.layout.n, self.state[: self.layout.n].astype(np.int64)
        kink = np.minimum(state // 2, self.stairs.kink0.shape[1] - 1)
        kinks = self.stairs.kinks(self.t)[np.arange(n), kink]
        return np.where(state % 2 == 0, self.point()[1][:n], kinks)

    def _standing(self) -> Homotopy:
        """Return a walk that begins where this one stands."""
        t = self.t
        return Homotopy(self.layout.statement, self.tables, self.place, t, t + 1.0, lazy=self.lazy)

    def let_go(self) -> None:
        """Move free variables that are still held at a knot until another coordinate holds them."""
        first = self.layout.n + self.layout.columns
        for i in first + np.flatnonzero(self.layout.free[self.layout.n :]):
            if self.place[i] % 2 == 1:
                homotopy = self._standing()
                homotopy.go_on(loop.MORE_ROOM)
                if homotopy.put(int(i), int(self.place[i]) - 1):
                    self.place = homotopy.place.copy()


def start(
    op: Map,
    stairs: Staircases,
    t: float,
    state: NDArray[Any] | None = None,
    at: Floats | None = None,
    lazy: bool = True,
    callback: Callable[[float, int], object] | None = None,
) -> Walker:
    """Return a walker that stands on an optimum at t.

    Parameters
    ----------
    op, stairs
        The problem.
    t : float
    state : (n + p,) array, optional
        States near those of the optimum; of samples, only pieces count.
    at : (p,) array, optional
        Values near those of free variables.
    """
    nowhere = np.zeros(len(stairs), dtype=np.int8)
    walker = Walker(op, stairs, nowhere if state is None else state, t, lazy)
    layout = walker.layout
    if at is not None:
        walker.at = at
    still = layout.expanded(stairs.substitute(t, 0.0), at)
    hollow = walker.tables.hollow
    walker.forget()
    lost: object = "no system near it is regular"
    for place, off in _misfits(layout, still, hollow, state):
        try:
            walker.place, walker.start_events = place.copy(), 0
            if off.any:
                moved = layout.tables(off.taken_up(still), hollow)
                homotopy = Homotopy(layout.statement, moved, place, 1.0, 0.0, lazy=lazy)
                homotopy.run()
                walker.place = homotopy.place.copy()
                walker.start_events = int(homotopy.walk.now.events)
        except PathError as error:
            lost = error
            continue
        walker.let_go()
        if callback is not None and off.any:
            callback(1.0, walker.start_events)
        return walker
    raise PathError(
        f"The path's start could not be computed ({lost}); centre the columns of X and scale them "
        "alike, or take a larger penalty.",
        None,
    )


def _misfits(
    layout: Layout, still: Staircases, hollow: NDArray[np.bool_], state: NDArray[Any] | None
) -> Iterator[tuple[Places, Misfit]]:
    """Yield guesses whose system is regular, the most promising first, and what they violate."""
    tables = layout.tables(still, hollow)
    near, better = _near(layout, tables, still, state), _better(layout, tables)
    guesses = [] if better is None else [better]
    guesses += [near] if state is None else [layout.places(state), near]
    for place in guesses:
        off = Misfit(layout, tables, place)
        if not off.regular:
            continue
        if tables.equation.size > KEPT:
            del tables
            yield place, off
            tables = layout.tables(still, hollow)
        else:
            yield place, off


def _better(layout: Layout, tables: Tables) -> Places | None:
    """Return places near an optimum, where there are many coordinates."""
    if len(tables.equation) < LARGE:
        return None
    layout.statement.__dict__["graphs"] = tables
    place = near_optimum(layout.statement, 0.0)
    del layout.statement.__dict__["graphs"]
    return place


def _near(layout: Layout, tables: Tables, still: Staircases, state: NDArray[Any] | None) -> Places:
    """Return places whose system is regular: no sample and no feature is in it.

    Features are at their level nearest to zero, samples as states say, or where features put them.
    """
    n, first = layout.n, layout.n + layout.columns
    knots = tables.equation[first:, 1::2, 0]
    size = np.where(tables.exists[first:, 1::2], np.abs(knots), np.inf)
    near = np.zeros(n + layout.p, dtype=np.int64)
    near[n:] = 2 * np.argmin(size, axis=1)
    near[n:][layout.free[n:]] = 2
    if state is None:
        x = np.take_along_axis(knots, near[n:, None] // 2, 1)[:, 0]
        z = layout.statement.R[:, layout.columns :] @ x / layout.unit
        near[:n] = Staircases(*(own[:n] for own in vars(still).values())).locate(z, 0.0)
        exists = np.take_along_axis(tables.exists[:n], near[:n, None], 1)[:, 0]
        near[:n] += np.where(exists, 0, np.where(near[:n] == 0, 2, -2))
    else:
        near[:n] = state[:n] - state[:n] % 2
    return layout.places(near)


class Misfit:
    """By how much the point of places is beyond their limits.

    Attributes
    ----------
    regular : bool
        Whether the system of the places could be solved.
    any : bool
        Whether any limit is violated.
    """

    def __init__(self, layout: Layout, tables: Tables, place: Places):
        self.layout, self.place = layout, place[layout.own]
        homotopy = Homotopy(layout.statement, tables, place, 0.0, 1.0)
        own, rows = layout.own, np.arange(len(place))
        lower, upper = (side[rows, place, 0][own] for side in (tables.lower, tables.upper))
        x = homotopy.values[own]
        self.regular = homotopy.regular
        self.below, self.above = np.maximum(lower - x, 0.0), np.maximum(x - upper, 0.0)
        self.any = bool((self.below > 0).any() or (self.above > 0).any())

    def taken_up(self, still: Staircases) -> Staircases:
        """Return staircases that hold the point at t = 1, and are the given ones at t = 0."""
        layout, n = self.layout, self.layout.n
        state, size = self.place.copy(), len(self.place)
        state[n:] -= 1
        sample = np.arange(size) < n
        # limits of a feature are minus those of its value and dual
        down = np.where(sample, self.below, self.above)
        up = np.where(sample, self.above, self.below)
        on_piece = state % 2 == 0
        units = np.where(sample == on_piece, layout.unit, 1.0)
        extra = np.random.default_rng(0).uniform(1.1, 1.6, size)  # or ties would be many
        down, up = down * extra / units, up * extra / units
        loose = layout.free & on_piece
        least = 1e-3 * max(down.max(), up.max())
        down[loose], up[loose] = (np.maximum(side[loose], least) for side in (down, up))
        r = state[:, None] // 2
        kink1, level1 = np.zeros_like(still.kink0), np.zeros_like(still.level0)
        kinks, levels = np.arange(kink1.shape[1]), np.arange(level1.shape[1])
        # on a piece r, kinks below r go down, the others up; at a kink r, levels up to r go up
        kink1[on_piece] = np.where(kinks < r, -down[:, None], up[:, None])[on_piece]
        level1[~on_piece] = np.where(levels <= r, up[:, None], -down[:, None])[~on_piece]
        level1[~np.isfinite(still.level0)] = 0.0
        return replace(still, kink1=kink1, level1=level1)
