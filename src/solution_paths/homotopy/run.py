"""A walk as Python sees it: the memory of the compiled loop, its errors, and what it leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..errors import PathError
from . import jump, loop, memory, tolerances
from .compiled import altered, new
from .graphs import Tabled
from .operations import NOTE, PREPARE, PRESENT, PUT, RESTART, WALK, operate
from .state import CURVED, RATE, RIDGED, Graph, Map, Numbers, Walk
from .statement import Statement
from .track import Track
from .walls import Brought

Array = NDArray[np.float64]
Places = NDArray[np.int64]
# Of a jump: from -1 to 0.
GOAL = {"end": 0.0, "way": 1.0, "rest": tolerances.NOISE, "near": 0.0}
STEPS = 2_000  # between two looks at Python's signals
TOLD = 64  # steps between two calls of a callback
MOST = 1_000_000  # steps of a walk
FEW = 16  # steps for which there is room at least
NODES = 512  # points for which there is room, too
SMALL = 128  # unknowns for which there is room at once
MANY = 30  # variables from which on it pays to eliminate them


class Unlimited(PathError):
    """Nothing limits the motion along a null vector: claims that there is no optimum.

    Attributes
    ----------
    unknowns : (N,)
        The null vector.
    t : float
        In the user's parameter: where the objective is claimed to fall along it, or constraints to
        contradict each other.
    where : str
        For messages.
    """

    def __init__(self, unknowns: Array, t: float, where: str):
        super().__init__(f"Nothing limits the solution {where}.", None)
        self.unknowns, self.t, self.where = unknowns, t, where

    def __reduce__(self) -> Any:
        return type(self), (self.unknowns, self.t, self.where)


class _Tables(NamedTuple):
    """What walks read of graphs, and never change.

    ``eliminates`` says what is eliminated from systems, ``solved`` (N, P) at which places a
    coordinate is solved for.
    """

    map: Map
    graph: Graph
    eliminates: int
    solved: NDArray[np.bool_]


class Spare(NamedTuple):
    """The memory of a walk that has ended, and the tables of the statement's own graphs."""

    walk: Walk
    face: str
    tables: _Tables | None


class Homotopy:
    """A walk through the optima of a statement along its parameter.

    Parameters
    ----------
    statement : Statement
    graphs : Graphs
        Of the same coordinates; the walk moves along the rates of their numbers.
    place : (N,) of int
        Places of an optimum at t, whose system is regular.
    t, end : float
        Where the walk begins and where it ends; it goes upwards or downwards.
    origin : float
        What is added to t where it is reported.
    face : str
        "saddle" eliminates nothing from the system.
    near : float
        Share of the way from the first breakpoint to the end: changes that are nearer to the end
        are left out.

    Attributes
    ----------
    values : (N,)
        At the start, the value of each coordinate that its place limits: its dual or z.
    regular : bool
        Whether the system at the start could be solved accurately.
    """

    def __init__(
        self,
        statement: Statement,
        graphs: Tabled,
        place: Places,
        t: float,
        end: float,
        origin: float = 0.0,
        face: str = "auto",
        near: float = 0.0,
    ):
        self.statement, self.graphs, self.origin = statement, graphs, origin
        self.face, self.start = face, place.astype(np.int64)
        now = new(Numbers, t=t, end=end, way=np.sign(end - t), near=near, pending=-1)
        now.rest = tolerances.NOISE * abs(end - t)
        spare, statement.spare = statement.spare, None
        self._kept = spare.tables if spare and spare.face == face else None
        tables = self._kept if self._kept and graphs is statement.graphs else None
        tables = self._tables = tables or _tables(statement, graphs, face)
        own = tables.map, tables.graph, now, self.start
        self.walk = memory.allocated(*own) if spare is None else memory.cleared(spare.walk, *own)
        now.eliminates = tables.eliminates
        if statement.widening is not None:
            self.walk.sign[self.walk.map.weights :] = -statement.widening
        self._make_room(int(tables.solved[np.arange(len(place)), self.start].sum()))
        self.values = np.empty(len(place))
        shrank = operate(self.walk, PREPARE, out=self.values)
        self.regular = bool(shrank and np.isfinite(self.values).all())

    def release(self) -> None:
        """Hand the memory on to the next walk of the same statement; this one has ended."""
        own = self._tables if self.graphs is self.statement.graphs else self._kept
        self.statement.spare = Spare(self.walk, self.face, own)
        del self.walk

    @property
    def place(self) -> Places:
        """The places of all coordinates now."""
        return self.walk.place

    @property
    def scale(self) -> Array:
        """The unit of each unknown."""
        return self.walk.map.scale

    def run(
        self, callback: Callable[[float, int], object] | None = None, enough: float = np.inf
    ) -> Track:
        """Walk to the end, or some steps beyond t = ``enough``; return both ends of each piece.

        A callback is told now and then how much of the way is done, and the events so far. After an
        error `track` has the pieces up to there.
        """
        self.go(callback, enough)
        return self.track()

    def go(
        self, callback: Callable[[float, int], object] | None = None, enough: float = np.inf
    ) -> bool:
        """Walk as `run` does, or until a wall stops the walk; return whether one did."""
        begin, steps = self.walk.now.t, STEPS if callback is None else TOLD
        steps = steps if np.isinf(enough) else FEW
        for _ in range(-(-MOST // steps)):
            ending = operate(self.walk, WALK, steps)
            if callback is not None:
                now = self.walk.now
                callback(abs(now.t - begin) / abs(now.end - begin), int(now.events))
            if ending in (loop.DONE, loop.WALL):
                return bool(ending == loop.WALL)
            if ending == loop.UNBOUNDED:
                end = self.walk.now.end + self.origin
                raise Unlimited(self.walk.u[RATE, 0].copy(), end, f"beyond {self.reported()}")
            if ending == loop.LOST:
                raise PathError(
                    f"The system at {self.reported()} can't be solved: its rows are dependent to "
                    "within rounding; scale the data alike, or end the path before.",
                    None,
                )
            if ending == loop.CYCLE:
                raise PathError(
                    f"The walk cycles at {self.reported()}: ties there can't be resolved; end the "
                    "path before, or move the data by less than they are known to.",
                    None,
                )
            self.grow_memory(ending)
            if self.walk.now.t >= enough:
                return False
        raise PathError(
            f"The path stopped at {self.reported()} after {MOST} changes; follow it in shorter "
            "parts.",
            None,
        )

    def grow_memory(self, ending: int) -> None:
        """Make room for more steps, after what a call of the loop ended with."""
        if ending == loop.DENSER:
            self.walk.now.eliminates = 0  # products square the condition
        self._make_room()
        if ending == loop.DENSER:
            operate(self.walk, PREPARE, out=self.values)

    def finish(self) -> None:
        """Give back the memory of the systems: no step follows."""
        now = self.walk.now
        kept = {name: getattr(now, name) for name in ("nodes", "events", "entries", "seen")}
        small = memory.resized(self.walk, {"cap": 0, "eliminated": 0} | kept)
        self.walk = altered(small, chance=np.zeros((9, 0)))

    def restart_with(self, statement: Statement, end: float) -> None:
        """Begin anew at t = 0, with other functions whose optimum there is the present point.

        Rows that nothing has held at any t go to the segments that they are on.
        """
        before, graphs, values = self.graphs, statement.graphs, np.empty(len(self.place))
        if not operate(self.walk, PRESENT, out=values):
            raise np.linalg.LinAlgError("the system at the end of the path can't be solved")
        knots = (np.arange(before.lower.shape[1]) % 2 == 1) & before.exists
        free = statement.is_row & np.all(before.still | ~knots, axis=1)
        at = np.where(graphs.exists[free, 1::2], graphs.equation[free, 1::2, 0], np.inf)
        self.walk.place[free] = 2 * (values[free, None] > at).sum(axis=1)
        self.statement, self.graphs, self.start = statement, graphs, self.place.copy()
        tables = self._tables = _tables(statement, graphs, self.face)
        self.walk = altered(self.walk, map=tables.map, graph=tables.graph)
        now, self.origin = self.walk.now, 0.0
        now.end, now.way, now.pending = end, np.sign(end), -1
        now.rest = tolerances.NOISE * abs(end)
        operate(self.walk, RESTART)

    def again(
        self, graphs: Tabled, place: Places, end: float, origin: float, room: Walk | None = None
    ) -> Self:
        """Return a walk from where this one began, along other graphs of the same system there.

        Parameters
        ----------
        graphs, place, end, origin
            See the class; t begins at 0.
        room : Walk, optional
            Memory of an earlier one, which has ended; this walk's own arrays are left as they are.
        """
        other, tables = copy(self), _tables(self.statement, graphs, self.face)
        arrays = dict(_arrays(self.walk))
        if room is None:
            room = altered(self.walk, now=new(Numbers), **{k: v.copy() for k, v in arrays.items()})
        for name, value in arrays.items():
            np.copyto(getattr(room, name), value)
        now: Any = room.now
        np.copyto(now.base.base, vars(self.walk)["now"].base.base)
        other.walk = altered(room, map=tables.map, graph=tables.graph)
        other.graphs, other.start, other.origin = graphs, place.astype(np.int64), origin
        other.walk.place[:] = place
        now.end, now.way, now.pending = end, np.sign(end), -1
        now.rest = tolerances.NOISE * abs(end)
        operate(other.walk, RESTART)
        return other

    def first(self) -> float | None:
        """Walk to the first breakpoint; None: there is none before the end."""
        while self.walk.now.nodes < 2:
            ending = operate(self.walk, WALK, 1)
            if ending not in (loop.DONE, loop.MORE_ROOM):
                return None
            self._make_room()
        now = self.walk.now
        return None if now.t == now.end else now.t + now.t_low

    def put(self, i: int, place: int) -> bool:
        """Put a coordinate into another place at the present t; False: that can't be done."""
        ending = operate(self.walk, PUT, i, place)
        while ending == loop.MORE_ROOM:
            self._make_room()
            ending = operate(self.walk, PUT, i, place)
        return bool(ending == loop.DONE)

    def release_free_variables(self) -> None:
        """Move free variables that are held at a knot until another coordinate holds them."""
        first = self.statement.rows_and_variables[0] + self.statement.rows_and_variables[1]
        for i in range(first - self.statement.free, first):
            if self.place[i] % 2 == 1:
                self.put(i, int(self.place[i]) - 1)

    def begin_jump(self, who: Places, graphs: Brought) -> None:
        """Let t stand still, and the graphs of some rows be others, of a parameter from -1 to 0."""
        w, now = self.walk, self.walk.now
        names = "equation", "lower", "upper", "hollow"
        before = [getattr(w.graph, name)[who] for name in names]
        self._jump = who, before, {name: getattr(now, name) for name in GOAL}
        for name, number in GOAL.items():
            setattr(now, name, number)
        jump.begin_jump(w, who, *graphs)

    def end_jump(self) -> None:
        """Go on with t and the graphs as they were before the jump."""
        who, before, goal = self._jump
        jump.end_jump(self.walk, who, *before)
        for name, number in goal.items():
            setattr(self.walk.now, name, number)

    def reported(self) -> str:
        """Return the parameter as the user knows it."""
        now = self.walk.now
        return f"{(now.still if now.jumping else now.t) + self.origin:.12g}"

    def note_after_jump(self) -> None:
        """Record the point as a piece without length, which follows a jump."""
        self._make_room()
        if not operate(self.walk, NOTE):
            raise np.linalg.LinAlgError("the system after a jump can't be solved")

    def _make_room(self, at_start: int | None = None) -> None:
        """Enlarge what is too small for a few more steps; or for so many unknowns at the start."""
        w, now = self.walk, self.walk.now
        unknown = int((w.known == 0).sum()) if at_start is None else at_start
        most = now.solved if now.eliminates and at_start is None else unknown
        eliminated = (0, w.map.n, w.map.p)[now.eliminates]
        N = len(w.place)
        few = (
            min(SMALL, N + 4) if eliminated <= SMALL**2 else 0
        )  # blocks are as wide as what is eliminated
        has = memory.room(w)
        sizes = {
            "cap": _grown(has["cap"], max(most + FEW, few), N + 4),
            "eliminated": eliminated,
            "nodes": _grown(has["nodes"], now.nodes + NODES),
            "events": _grown(has["events"], now.events + 4 * N + NODES),
            "entries": _grown(has["entries"], now.entries + 2 * FEW * max(unknown, SMALL) + 16),
            "seen": _grown(has["seen"], now.seen + FEW),
        }
        if sizes != has:
            self.walk = memory.resized(w, sizes)

    def track(self) -> Track:
        """Return what has been recorded."""
        w, now = self.walk, self.walk.now
        at = w.node_at[: 2 * now.nodes].reshape(-1, 2)
        return Track(
            t=w.node[: now.nodes].copy(),
            events=w.event[: now.events].copy(),
            event_at=at[:, 0].copy(),
            entry=w.entry[: now.entries].copy(),
            entries=w.entries[: now.entries].copy(),
            entry_at=np.append(at[:, 1], now.entries),
            start=self.start,
            graphs=self.graphs,
            is_row=self.statement.is_row,
        )


def _arrays(walk: Walk) -> Iterator[tuple[str, Any]]:
    """Yield the arrays of a walk that its steps write."""
    for name, value in vars(walk).items():
        if isinstance(value, np.ndarray) and name != "words":
            yield name, value


def _grown(size: int, needed: int, most: int | None = None) -> int:
    if size >= needed:
        return size
    grown = max(2 * size, needed)
    return grown if most is None else min(max(grown, needed), max(most, needed))


def _eliminated(statement: Statement, graphs: Tabled, face: str) -> tuple[int, NDArray[np.bool_]]:
    """Return what is eliminated from the systems, and where: see `state.can_eliminate`."""
    (n, p), places = statement.rows_and_variables, np.arange(graphs.curvature.shape[1])
    if statement.gram is not None or face == "saddle":
        return 0, np.zeros(graphs.curvature.shape, dtype=bool)
    curved = graphs.curvature > 0.0
    curved[n:] = False
    unlimited = np.isneginf(graphs.lower[..., 0]) & np.isposinf(graphs.upper[..., 0])
    ridged = unlimited & graphs.exists & (places % 2 == 0)
    ridged[:n] = ridged[n + p :] = False
    ridged[n : n + p] &= statement.ridge[:, None] > 0.0
    few = ridged.any(axis=1).sum() < MANY
    if curved.any():
        return CURVED, curved
    return (0, curved) if few or statement.constrained else (RIDGED, ridged)


def _tables(statement: Statement, graphs: Tabled, face: str) -> _Tables:
    """Return graphs, and the statement beside them, as the loop reads them."""
    known = _known(statement, graphs)
    eliminates, eliminated = _eliminated(statement, graphs, face)
    graph = Graph(
        graphs.equation,
        graphs.lower,
        graphs.upper,
        graphs.curvature,
        graphs.hollow.astype(np.int8),
        graphs.still.astype(np.int8),
    )
    given = _map(statement, graphs, known)
    return _Tables(given, graph, eliminates, ~(known | eliminated))


def _known(statement: Statement, graphs: Tabled) -> NDArray[np.bool_]:
    """Tell of each place whether its equation alone gives the unknown: see `state.is_known`."""
    knots = np.arange(graphs.equation.shape[1]) % 2 == 1
    straight = (graphs.curvature == 0.0) & graphs.exists
    return np.where(statement.is_row[:, None], ~knots & straight, knots & graphs.exists)


def _map(statement: Statement, graphs: Tabled, known: NDArray[np.bool_]) -> Map:
    n, p = statement.rows_and_variables
    widening, units = statement.widening, statement.units
    nothing = np.zeros((0, 0))
    gram, low = (nothing if own is None else own for own in (statement.gram, statement.low))
    scale, length, largest = units.scale, units.length, units.largest.copy()
    if widening is not None:
        largest[-1] = np.abs(widening).max(initial=1.0)
    limits = np.maximum(np.abs(graphs.lower[..., 2]), np.abs(graphs.upper[..., 2]))
    limits = np.where(np.isfinite(limits), limits, 0.0)
    drift = np.where(known, limits, 0.0).max(axis=1)
    # one whose value stands still is looked at always: any drift will do
    drift = np.where(length > 0, drift / np.where(length > 0, length, 1.0), 1e-300 * (drift > 0))
    values, rates = (
        np.where(known, np.abs(graphs.equation[..., part]), 0.0).max(axis=1) for part in (0, 2)
    )
    return Map(
        n=n,
        p=p,
        N=len(scale),
        weights=0 if statement.widened is None else p - statement.free,
        with_gram=int(len(gram) > 0),
        with_low=int(len(low) > 0),
        **_rows(statement),
        gram=gram,
        low=low,
        ridge=statement.ridge,
        scale=scale,
        noise=tolerances.BLUR if len(gram) > len(low) else tolerances.NOISE,
        length=length,
        reach=units.reach,
        largest=largest,
        metric=units.metric,
        known_dual_speed=float(np.sqrt((rates[:n] ** 2).sum())),
        drift=np.array([drift[own].max(initial=0.0) for own in (slice(n), slice(n, n + p))]),
        known=np.array([(own / scale).max(initial=0.0) for own in (values, rates)]),
        limited=int(_limited(graphs, n, p)),
        silent=statement.silent,
    )


def _limited(graphs: Tabled, n: int, p: int) -> bool:
    """Tell whether a variable has a limit on any of its segments."""
    lower, upper = (side[n : n + p, ::2, 0] for side in (graphs.lower, graphs.upper))
    return bool((np.isfinite(lower) | np.isfinite(upper)).any())


def _rows(statement: Statement) -> dict[str, Any]:
    """Return the fields of a map that hold R and its transpose."""
    both = {"row": statement.R, "column": statement.columns}
    sparse, nothing, no_places = sp.issparse(statement.R), np.zeros(0), np.zeros(0, np.int64)
    fields: dict[str, Any] = {"sparse": int(sparse)}
    for name, own in both.items():
        dense = {"row": "R", "column": "columns"}[name]
        fields[dense] = np.zeros((0, 0)) if sparse else own
        fields[f"{name}_start"] = own.indptr.astype(np.int64) if sparse else no_places
        fields[f"{name}_index"] = own.indices.astype(np.int64) if sparse else no_places
        fields[f"{name}_entry"] = own.data if sparse else nothing
    return fields
