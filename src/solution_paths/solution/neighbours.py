"""Optima of problems near one whose optimum is known: many lines from one start.

Two problems with the same matrices are the ends of a line, along which knots, slopes and domains
move affinely; the optimum of the second is what the walk from that of the first ends with. The
first optimum is found once, whatever the number of lines: a line begins with a copy of its walk.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np

from ..errors import NoOptimum
from ..homotopy.graphs import Graphs
from ..homotopy.run import Homotopy, Unlimited
from ..homotopy.start import Misfit, starting_places
from ..homotopy.state import Walk
from ..homotopy.statement import dense, read, shape_of
from ..problem import Line, Losses, Pieces, Problem
from ..problem.line import STILL
from ..twofold import Twofold
from ..validation import Floats
from ..verify import Answer
from .follow import NEAR, NUMERICAL, Followed, as_path_error, walked_to_end
from .model import Affine
from .path import SolutionPath
from .points import Places
from .reading import Reading

ZERO, ENDLESS = np.zeros(1), np.full(1, np.inf)
THIRDS = np.array([0.0, 0.5, 1.0])
TABLES = ("equation", "lower", "upper", "curvature", "exists", "hollow", "still", "single")
HELD = 2.0**-20  # of a knot's width: so far inside of it a dual is no slope, whatever rounding does


def with_losses(problem: Problem, pieces: Pieces) -> Problem:
    """Return a problem with other functions in its first group of losses, which are sound."""
    first: Losses = copy(problem.losses[0])
    vars(first)["pieces"] = pieces
    other = copy(problem)
    vars(other)["losses"] = (first, *problem.losses[1:])
    return other


def function(knots: Floats, slopes: Floats, curvature: Floats | None = None) -> Pieces:
    """Return one function, which is 0 at its first knot."""
    bent = np.zeros(slopes.shape) if curvature is None else curvature
    return Pieces._derived(knots[None], slopes[None], bent[None], ZERO, -ENDLESS, ENDLESS)


def taken(pieces: Pieces, rows: slice) -> Pieces:
    """Return some of the functions."""
    return Pieces._derived(*(own[rows] for own in vars(pieces).values()))


def put(pieces: Pieces, row: int, one: Pieces) -> Pieces:
    """Return functions of which one is another."""
    parts = [own.copy() for own in vars(pieces).values()]
    for own, other in zip(parts, vars(one).values(), strict=True):
        own[row] = other[0]
    return Pieces._derived(*parts)


def between(start: Problem, end: Problem) -> Line:
    """Return the line, from 0 to 1, on which all numbers of a problem go to those of another.

    Both have the same matrices, which isn't looked at.

    Raises
    ------
    ValueError
        Curvatures differ.
    """
    numbers, rates, low = dict(start.numbers()), {}, {}
    for name, there in end.numbers():
        rates[name], low[name] = _rise(name, numbers[name], there)
    return Line(Affine(start, 0.0, rates, low, THIRDS, {}), 0.0, 1.0, start, rates, low, False)


def moving(
    model: Callable[[float], Problem], begin: float, end: float, name: str, rate: Floats
) -> Line:
    """Return the line of a model of which one array of numbers moves, at a given rate."""
    start = model(begin)
    low = {other: np.zeros(own.shape) for other, own in start.numbers()}
    return Line(model, begin, end, start, low | {name: rate}, low, False)


def _rise(name: str, here: Floats, there: Floats) -> Twofold:
    """Return the difference of numbers; infinite ends of domains stay."""
    moves = here != there
    if not moves.any():
        nothing = np.zeros(here.shape)
        return Twofold(nothing, nothing)
    if name.endswith(STILL):
        raise ValueError(f"{name} differs at both ends of a line; state the same curvature.")
    ends = (np.where(moves, own, 0.0) for own in (there, -here))
    return Twofold.plus(*(Twofold.of(own) for own in ends))


class Start:
    """An optimum of a problem, from which lines begin.

    Parameters
    ----------
    problem : Problem
    reading : Reading, optional
        How solutions read, on all lines.

    Attributes
    ----------
    place : (N,) of int
        The places of all coordinates at the optimum.
    answer : Answer
        The optimum, in columns: one.
    loose : bool
        Whether some free variable is undetermined there.

    Raises
    ------
    PathError
        There is no optimum, or it can't be found.
    """

    def __init__(self, problem: Problem, reading: Reading | None = None):
        self.problem, self.reading = problem, reading
        self._room: Walk | None = None  # the memory of all lines, one after the other
        line = between(problem, problem)
        self.statement = read(line)
        if self.statement.parabolas is not None:  # a line may take a parabola away
            self.statement = read(line, "saddle")
        try:
            self.place: Places = starting_places(self.statement, Misfit.at(self.statement, 0.0))
            self._walk = Homotopy(
                self.statement, self.statement.graphs, self.place, 0.0, 1.0, near=NEAR
            )
        except (Unlimited, *NUMERICAL) as error:
            raise as_path_error(error, line, self.statement) from error
        found = self._follow(line, self.place)
        if found.lost is not None:
            raise found.lost
        self.loose, self.answer = found.loose, self._as_path(found, "t")._answer(np.ones(1))

    # -- whole paths --------------------------------------------------------------------------

    def path(
        self,
        line: Line,
        place: Places | None = None,
        parameter: str = "t",
        afresh: bool = False,
        partly: bool = False,
    ) -> SolutionPath:
        """Return the path along a line from this optimum.

        Parameters
        ----------
        line : Line
            Whose problem at its begin has the same optimum.
        place : (N,) of int, optional
            Its places there, where these aren't those of the start.
        parameter : str
            What the line's parameter is called.
        afresh : bool, default False
            Whether the system there is another one than at the start.
        partly : bool, default False
            Whether the path may end where there is proved to be no optimum beyond.

        Raises
        ------
        PathError
            The line can't be followed to its end.
        """
        found = self._follow(line, self.place if place is None else place, afresh)
        if found.lost is not None and not (partly and isinstance(found.lost, NoOptimum)):
            raise found.lost
        return self._as_path(found, parameter)

    def still(self) -> SolutionPath:
        """Return the optimum as a path on which nothing moves."""
        return self.path(between(self.problem, self.problem))

    def places_after(self, line: Line, place: Places) -> Places:
        """Return the places at the end of a line from this optimum, as `path` follows it."""
        statement = self.statement.along(line)
        walk = self._again(statement.graphs, place, line)
        _, lost = walked_to_end(line, walk, None)
        if lost is not None:
            raise lost
        return walk.place.copy()

    def _follow(self, line: Line, place: Places, afresh: bool = False) -> Followed:
        statement = self.statement.along(line)
        if afresh:
            length = line.t1 - line.t0
            statement.spare = None
            walk = Homotopy(statement, statement.graphs, place, 0.0, length, line.t0, near=NEAR)
        else:
            walk = self._again(statement.graphs, place, line)
        track, lost = walked_to_end(line, walk, None)
        return Followed.of(line, statement, track, lost=lost)

    def _as_path(self, found: Followed, parameter: str) -> SolutionPath:
        return SolutionPath(
            found.line,
            found.statement,
            found.points,
            parameter=parameter,
            reading=self.reading,
            diagnostics={"events": found.events},
        )

    def _again(self, graphs: Graphs, place: Places, line: Line) -> Homotopy:
        """Return the walk at the optimum, with other graphs of the same system there."""
        way = line.t1 - line.t0
        walk = self._walk.again(graphs, place, way, line.t0, self._room)
        self._room = walk.walk
        return walk

    # -- ends alone ---------------------------------------------------------------------------

    def end(self, row: int, begin: Pieces, end: Pieces, place: int) -> tuple[Answer, int]:
        """Return the optimum, in a column, once one row's loss is another, and how many events.

        Parameters
        ----------
        row : int
            Of the first group of losses.
        begin, end : Pieces
            One function each, of the same curvature; with the first the optimum is the same.
        place : int
            Where the row is on the graph of the first: at a knot, or on a segment as curved as the
            one on which it is at the start.
        """
        line, graphs = self._line_of(row, begin, end)
        places = self.place.copy()
        places[row] = place
        return self._ended(line, self._again(graphs, places, line), row, begin, end)

    def end_without(self, row: int, begin: Pieces, end: Pieces) -> tuple[Answer, int] | None:
        """Return the same of a row that is on a curved segment at the start, and then no more.

        The first function is straight. None: the system that is left is singular.
        """
        line, graphs = self._line_of(row, begin, end)
        spare = self.statement.spare
        self.statement.spare = spare if spare is None else spare._replace(tables=None)
        walk = Homotopy(self.statement, graphs, self.place, 0.0, 1.0, near=NEAR)
        if not walk.regular:
            walk.release()
            return None
        found = self._ended(line, walk, row, begin, end)
        walk.release()
        return found

    def _line_of(self, row: int, begin: Pieces, end: Pieces) -> tuple[Line, Graphs]:
        """Return a line on which one row's loss moves, and the graphs along it."""
        line = _of_one(begin, end, lambda: self._whole(row, begin, end))
        shape = shape_of(begin, "losses[0]", line).scaled(self.statement.scale)
        return line, _with_row(self.statement.graphs, row, Graphs([shape]))

    def _whole(self, row: int, begin: Pieces, end: Pieces) -> Line:
        """Return the line of all losses."""
        own = (put(self.problem.losses[0].pieces, row, f) for f in (begin, end))
        return between(*(with_losses(self.problem, pieces) for pieces in own))

    def _ended(
        self, line: Line, walk: Homotopy, row: int, begin: Pieces, end: Pieces
    ) -> tuple[Answer, int]:
        """Walk to the end; return the optimum there and the events on the way."""
        track, lost = walked_to_end(line, walk, None)
        if lost is not None:
            raise lost
        unknowns = track.unknowns([len(track) - 1], parts=1)[0]
        if not self._determined(walk, unknowns[0]):
            full = self._whole(row, begin, end)
            found = Followed.of(full, self.statement.along(full), track)
            unknowns = found.points.unknowns(np.ones(1))
        w, v, duals = self.statement.answer(unknowns)
        multiplier = -unknowns[:, -1] if self.statement.constrained else None
        return Answer(w.T, v.T, [a.T for a in duals], multiplier), len(track.events)

    def _determined(self, walk: Homotopy, unknowns: Floats) -> bool:
        """Tell whether a row surely holds a bias at the end of a walk, where there is one alone.

        False says that it takes a closer look.
        """
        r, n = self.statement.free, self.statement.rows_and_variables[0]
        if r != 1:
            return r == 0
        graphs, place = walk.graphs, walk.place[:n]
        rows = np.flatnonzero(place % 2 == 1)
        ends = (own[rows, place[rows]] for own in (graphs.lower, graphs.upper))
        low, high = (own[:, 0] + own[:, 2] * walk.walk.now.end for own in ends)
        with np.errstate(invalid="ignore"):
            room, a = HELD * (high - low), unknowns[rows]
            held = rows[(a - low > room) & (high - a > room)]
        if not len(held):
            held = np.flatnonzero(graphs.curvature[np.arange(n), place] > 0.0)
        return bool((dense(self.statement.R[:, -1:])[held] != 0.0).any())


def _of_one(begin: Pieces, end: Pieces, whole: Callable[[], Line]) -> Line:
    """Return the line of one row's function, whose problem is stated where it is asked for."""
    parts = zip(vars(begin).items(), vars(end).values(), strict=True)
    moves = {f"losses[0].{name}": _rise(name, here, there) for (name, here), there in parts}
    rates, low = ({name: own[k] for name, own in moves.items()} for k in (0, 1))
    start: Any = None
    return Line(lambda t: whole().at(t), 0.0, 1.0, start, rates, low)


def _with_row(graphs: Graphs, row: int, own: Graphs) -> Graphs:
    """Return graphs of which one row's is another, with as many knots."""
    other = copy(graphs)
    for name in TABLES:
        table, part = getattr(graphs, name).copy(), getattr(own, name)[0]
        table[(row, slice(len(part))) if part.ndim else row] = part
        setattr(other, name, table)
    return other
