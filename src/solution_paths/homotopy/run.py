"""The Python side of a walk: memory of the compiled loop, its errors, and its record."""

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
from .statement import ParametricKKT
from .tolerances import MANY_ELIMINATED
from .track import Track
from .walls import JumpGraphs

Array = NDArray[np.float64]
Places = NDArray[np.int64]
# Of a jump, whose parameter goes from -1 to 0.
JUMP_GOAL = {"end": 0.0, "way": 1.0, "rest": tolerances.NOISE, "near": 0.0}
STEPS_PER_CALL = 2_000  # steps between two checks of Python's signals
STEPS_PER_CALLBACK = 64  # steps between two calls of a callback
MOST_STEPS = 1_000_000  # steps of a walk, at most
SPARE_STEPS = 16  # steps for which memory is allocated ahead
SPARE_NODES = 512  # points for which memory is allocated ahead
INITIAL_UNKNOWNS = 128  # unknowns for which memory is allocated at the start


class Unlimited(PathError):
    """Nothing limits the motion along a null vector: a claim that there is no optimum.

    Attributes
    ----------
    unknowns : (N,)
        The null vector.
    t : float
        The user's parameter for which the objective is claimed to fall along it, or constraints to
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
    """Map and graphs of walks, which only read them.

    ``known`` (N, P) tells at which places an equation alone gives the unknown, ``pivots`` for each
    kind at which a coordinate can be eliminated.
    """

    map: Map
    graph: Graph
    known: NDArray[np.bool_]
    pivots: list[NDArray[np.bool_]]

    def numbers(self, place: Places, kind: int) -> tuple[int, int]:
        """Return the numbers of unknown and of eliminated coordinates if a kind is eliminated."""
        each = np.arange(len(place))
        unknown, eliminated = ~self.known[each, place], self.pivots[kind][each, place]
        return int(unknown.sum()), int(eliminated.sum())

    def kind(self, place: Places) -> int:
        """Return the kind of which more coordinates can be eliminated; 0 if there is none."""
        possible = [kind for kind in (RIDGED, CURVED) if self.pivots[kind].any()]
        return max(possible, key=lambda kind: self.numbers(place, kind)[1], default=0)


class Spare(NamedTuple):
    """The memory of a walk that has ended, and the tables of the statement's graphs."""

    walk: Walk
    face: str
    tables: _Tables | None


class Homotopy:
    """A walk through the optima of a statement along its parameter.

    Parameters
    ----------
    statement : ParametricKKT
    graphs : Graphs
        Graphs of the same coordinates, which may have other numbers and rates.
    place : (N,) of int
        Places of an optimum at t, whose system is regular.
    t, end : float
        Where the walk begins and where it ends; it goes upwards or downwards.
    origin : float
        Added to t in reports.
    face : str
        "saddle" eliminates nothing from the system.
    near : float
        Fraction of the way from the first breakpoint to the end: changes that are nearer to the
        end are left out.

    Attributes
    ----------
    values : (N,)
        At the start, the limited number of each coordinate: its dual or z.
    regular : bool
        Whether the system at the start could be solved accurately.
    """

    def __init__(
        self,
        statement: ParametricKKT,
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
        self._span = t, end  # of the whole walk, whose share is reported
        now.rest = tolerances.NOISE * abs(end - t)
        spare, statement.spare = statement.spare, None
        self._kept = spare.tables if spare and spare.face == face else None
        tables = self._kept if self._kept and graphs is statement.graphs else None
        tables = self._tables = tables or _tables(statement, graphs, face)
        arguments = tables.map, tables.graph, now, self.start
        self.walk = (
            memory.allocated(*arguments)
            if spare is None
            else memory.cleared(spare.walk, *arguments)
        )
        now.eliminates = tables.kind(self.start)
        if statement.widening is not None:
            self.walk.sign[self.walk.map.weights :] = -statement.widening
        self._make_room()
        self.values = np.empty(len(place))
        shrank = self.solve(PREPARE, out=self.values)
        self.regular = bool(shrank and np.isfinite(self.values).all())

    def release(self) -> None:
        """Leave the memory to the next walk of the same statement; this one has ended."""
        tables = self._tables if self.graphs is self.statement.graphs else self._kept
        self.statement.spare = Spare(self.walk, self.face, tables)
        del self.walk

    @property
    def place(self) -> Places:
        """The present places of all coordinates."""
        return self.walk.place

    @property
    def scale(self) -> Array:
        """The unit of each unknown."""
        return self.walk.map.scale

    def run(
        self, callback: Callable[[float, int], object] | None = None, enough: float = np.inf
    ) -> Track:
        """Walk to the end, or some steps beyond t = ``enough``; return both ends of each piece.

        A callback regularly gets the fraction of the way that is done, and the number of events.
        After an error `track` has the pieces up to there.
        """
        self.advance(callback, enough)
        return self.track()

    def advance(
        self, callback: Callable[[float, int], object] | None = None, enough: float = np.inf
    ) -> int:
        """Walk as `run` does, or up to the first wall; return `DONE`, `WALL` or `TOUCHING`."""
        begin, end = self._span
        steps = STEPS_PER_CALL if callback is None else STEPS_PER_CALLBACK
        steps = steps if np.isinf(enough) else SPARE_STEPS
        for _ in range(-(-MOST_STEPS // steps)):
            ending = operate(self.walk, WALK, steps)
            if callback is not None:
                now = self.walk.now
                callback(abs(now.t - begin) / (abs(end - begin) or 1.0), int(now.events))
            if ending in (loop.DONE, loop.WALL, loop.TOUCHING):
                return int(ending)
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
                return loop.DONE
        raise PathError(
            f"The path stopped at {self.reported()} after {MOST_STEPS} changes; follow it in "
            "shorter parts.",
            None,
        )

    def grow_memory(self, ending: int) -> None:
        """Enlarge the memory for more steps, after the result ``ending`` of the loop."""
        now = self.walk.now
        if ending == loop.DENSER:
            now.eliminates = 0  # elimination squares the condition
            now.retry = max(2 * (now.solved + now.eliminated), MANY_ELIMINATED)
        elif ending == loop.SWITCH:
            now.eliminates = self._tables.kind(self.place)
        self._make_room()
        if ending in (loop.DENSER, loop.SWITCH):
            operate(self.walk, PREPARE, out=self.values)

    def solve(self, operation: int, **options: Any) -> bool:
        """Do an operation that solves for the present point; False: that is impossible."""
        done = operate(self.walk, operation, **options)
        if not done and self.walk.now.eliminated:
            self.grow_memory(loop.DENSER)
            done = operate(self.walk, operation, **options)
        return bool(done)

    def finish(self) -> None:
        """Free the memory of the systems: no step follows."""
        now = self.walk.now
        kept = {name: getattr(now, name) for name in ("nodes", "events", "entries", "seen")}
        small = memory.resized(self.walk, {"cap": 0, "eliminated": 0} | kept)
        self.walk = altered(small, ratio=np.zeros((9, 0)))

    def restart_with(self, statement: ParametricKKT, end: float) -> None:
        """Restart at t = 0, with other functions whose optimum there is the present point.

        Rows whose knots were all still go to the segments of their values.
        """
        before, graphs, values = self.graphs, statement.graphs, np.empty(len(self.place))
        if not self.solve(PRESENT, out=values):
            raise np.linalg.LinAlgError("the system at the end of the path can't be solved")
        knots = (np.arange(before.lower.shape[1]) % 2 == 1) & before.exists
        free = statement.is_row & np.all(before.still | ~knots, axis=1)
        knots_at_start = np.where(graphs.exists[free, 1::2], graphs.equation[free, 1::2, 0], np.inf)
        self.walk.place[free] = 2 * (values[free, None] > knots_at_start).sum(axis=1)
        self.statement, self.graphs, self.start = statement, graphs, self.place.copy()
        tables = self._tables = _tables(statement, graphs, self.face)
        self.walk = altered(self.walk, map=tables.map, graph=tables.graph)
        now, self.origin, self._span = self.walk.now, 0.0, (0.0, end)
        now.end, now.way, now.pending = end, np.sign(end), -1
        now.rest = tolerances.NOISE * abs(end)
        self._make_room()
        operate(self.walk, RESTART)

    def again(
        self, graphs: Tabled, place: Places, end: float, origin: float, room: Walk | None = None
    ) -> Self:
        """Return a walk from the start of this one, along other graphs with the same system there.

        Parameters
        ----------
        graphs, place, end, origin
            See the class; t begins at 0.
        room : Walk, optional
            Memory of an earlier walk, which has ended; the arrays of this walk are not changed.
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
        other._tables, other.graphs, other.origin = tables, graphs, origin
        other.start = place.astype(np.int64)
        other._span = 0.0, end
        other.walk.place[:] = place
        now.end, now.way, now.pending = end, np.sign(end), -1
        now.rest = tolerances.NOISE * abs(end)
        operate(other.walk, RESTART)
        return other

    def first(self) -> float | None:
        """Walk to the first breakpoint; None: there is none before the end."""
        while self.walk.now.nodes < 2:
            ending = operate(self.walk, WALK, 1)
            if ending not in (loop.DONE, loop.MORE_ROOM, loop.DENSER, loop.SWITCH):
                return None
            self.grow_memory(ending)
        now = self.walk.now
        return None if now.t == now.end else now.t + now.t_low

    def put(self, i: int, place: int) -> bool:
        """Put a coordinate into another place at the present t; False: that is impossible."""
        ending = operate(self.walk, PUT, i, place)
        while ending in (loop.MORE_ROOM, loop.DENSER):
            self.grow_memory(ending)
            ending = operate(self.walk, PUT, i, place)
        return bool(ending == loop.DONE)

    def release_free_variables(self) -> None:
        """Move free variables away from knots until other coordinates determine them."""
        first = self.statement.rows_and_variables[0] + self.statement.rows_and_variables[1]
        for i in range(first - self.statement.free, first):
            if self.place[i] % 2 == 1:
                self.put(i, int(self.place[i]) - 1)

    def begin_jump(self, rows: Places, graphs: JumpGraphs) -> None:
        """Fix t, and replace the graphs of some rows by those of a parameter from -1 to 0."""
        w, now = self.walk, self.walk.now
        names = "equation", "lower", "upper", "hollow"
        before = [getattr(w.graph, name)[rows] for name in names]
        self._jump = rows, before, {name: getattr(now, name) for name in JUMP_GOAL}
        for name, number in JUMP_GOAL.items():
            setattr(now, name, number)
        jump.begin_jump(w, rows, *graphs)

    def end_jump(self) -> None:
        """Restore t and the graphs from before the jump."""
        rows, before, goal = self._jump
        jump.end_jump(self.walk, rows, *before)
        for name, number in goal.items():
            setattr(self.walk.now, name, number)

    def reported(self) -> str:
        """Return the user's parameter for messages."""
        now = self.walk.now
        return f"{(now.still if now.jumping else now.t) + self.origin:.12g}"

    def note_after_jump(self) -> None:
        """Record the point after a jump as a piece without length."""
        self._make_room()
        if not self.solve(NOTE):
            raise np.linalg.LinAlgError("the system after a jump can't be solved")

    def _make_room(self) -> None:
        """Enlarge arrays for a few more steps."""
        w, now, present = self.walk, self.walk.now, memory.room(self.walk)
        unknown, eliminated = self._tables.numbers(w.place, now.eliminates)
        solved = max(now.solved, unknown - eliminated)
        unknown = max(now.solved + now.eliminated, unknown)
        most, N = (0, w.map.n + 4, w.map.p + 4)[now.eliminates], len(w.place)
        # blocks are as wide as what is eliminated
        initial = min(INITIAL_UNKNOWNS, N + 4) if most <= INITIAL_UNKNOWNS**2 else 0
        sizes = {
            "cap": _grown(present["cap"], max(solved + SPARE_STEPS, initial), N + 4),
            "eliminated": min(_grown(present["eliminated"], unknown + SPARE_STEPS), most),
            "nodes": _grown(present["nodes"], now.nodes + SPARE_NODES),
            "events": _grown(present["events"], now.events + 4 * N + SPARE_NODES),
            "entries": _grown(
                present["entries"],
                now.entries + 2 * SPARE_STEPS * max(unknown, INITIAL_UNKNOWNS) + 16,
            ),
            "seen": _grown(present["seen"], now.seen + SPARE_STEPS),
        }
        if sizes != present:
            self.walk = memory.resized(w, sizes)

    def track(self) -> Track:
        """Return the record of the walk."""
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
            doubtful=float(w.node[now.clipped_at].sum()) if self._is_clipped() else None,
        )

    def _is_clipped(self) -> bool:
        """Tell whether a recorded unknown exceeded its limits by more than the error of a point."""
        now = self.walk.now
        return bool(now.clipped > tolerances.CARRIED)


def _arrays(walk: Walk) -> Iterator[tuple[str, Any]]:
    """Yield the arrays of a walk by name."""
    for name, value in vars(walk).items():
        if isinstance(value, np.ndarray) and name != "words":
            yield name, value


def _grown(size: int, needed: int, most: int | None = None) -> int:
    if size >= needed:
        return size
    grown = max(2 * size, needed)
    return grown if most is None else min(max(grown, needed), max(most, needed))


def _pivots(statement: ParametricKKT, graphs: Tabled, face: str) -> list[NDArray[np.bool_]]:
    """Tell for each kind at which places coordinates can be eliminated: see `state.CURVED`."""
    (n, p), even = statement.rows_and_variables, np.arange(graphs.curvature.shape[1]) % 2 == 0
    none, curved, ridged = (np.zeros(graphs.curvature.shape, dtype=bool) for _ in range(3))
    if statement.gram is None and face != "saddle":
        curved[:n], penalised = graphs.curvature[:n] > 0.0, statement.ridge > 0.0
        if penalised.sum() >= MANY_ELIMINATED:
            ridged[n : n + p] = graphs.exists[n : n + p] & even & penalised[:, None]
    return [none, curved, ridged]


def _tables(statement: ParametricKKT, graphs: Tabled, face: str) -> _Tables:
    """Return map and graphs in the form that the loop reads."""
    known = _known(statement, graphs)
    graph = Graph(
        graphs.equation,
        graphs.lower,
        graphs.upper,
        graphs.curvature,
        graphs.hollow.astype(np.int8),
        graphs.still.astype(np.int8),
    )
    given = _map(statement, graphs, known)
    return _Tables(given, graph, known, _pivots(statement, graphs, face))


def _known(statement: ParametricKKT, graphs: Tabled) -> NDArray[np.bool_]:
    """Tell for each place whether its equation alone gives the unknown: see `state.is_known`."""
    knots = np.arange(graphs.equation.shape[1]) % 2 == 1
    straight = (graphs.curvature == 0.0) & graphs.exists
    return np.where(statement.is_row[:, None], ~knots & straight, knots & graphs.exists)


def _map(statement: ParametricKKT, graphs: Tabled, known: NDArray[np.bool_]) -> Map:
    n, p = statement.rows_and_variables
    widening, units = statement.widening, statement.units
    empty = np.zeros((0, 0))
    gram, low = (empty if matrix is None else matrix for matrix in (statement.gram, statement.low))
    scale, length, largest = units.scale, units.length, units.largest.copy()
    if widening is not None:
        largest[-1] = np.abs(widening).max(initial=1.0)
    limits = np.maximum(np.abs(graphs.lower[..., 2]), np.abs(graphs.upper[..., 2]))
    limits = np.where(np.isfinite(limits), limits, 0.0)
    drift = np.where(known, limits, 0.0).max(axis=1)
    # a coordinate with length 0 is always examined: any drift will do
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
        drift=np.array([drift[rows].max(initial=0.0) for rows in (slice(n), slice(n, n + p))]),
        known=np.array([(numbers / scale).max(initial=0.0) for numbers in (values, rates)]),
        limited=int(_limited(graphs, n, p)),
        silent=statement.silent,
    )


def _limited(graphs: Tabled, n: int, p: int) -> bool:
    """Tell whether a variable has a limit on any of its segments."""
    lower, upper = (side[n : n + p, ::2, 0] for side in (graphs.lower, graphs.upper))
    return bool((np.isfinite(lower) | np.isfinite(upper)).any())


def _rows(statement: ParametricKKT) -> dict[str, Any]:
    """Return the fields of a map that hold R and its transpose."""
    both = {"row": statement.R, "column": statement.columns}
    sparse, no_entries, no_places = sp.issparse(statement.R), np.zeros(0), np.zeros(0, np.int64)
    fields: dict[str, Any] = {"sparse": int(sparse)}
    for name, matrix in both.items():
        dense = {"row": "R", "column": "columns"}[name]
        fields[dense] = np.zeros((0, 0)) if sparse else matrix
        fields[f"{name}_start"] = matrix.indptr.astype(np.int64) if sparse else no_places
        fields[f"{name}_index"] = matrix.indices.astype(np.int64) if sparse else no_places
        fields[f"{name}_entry"] = matrix.data if sparse else no_entries
    return fields
