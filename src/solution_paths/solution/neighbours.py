"""Optima of problems near one whose optimum is known: many paths from one start.

Two problems with the same matrices are the ends of a line, along which knots, slopes and domains
move affinely. The walk from the optimum of the first ends at the optimum of the second. The first
optimum is computed once: each path begins with a copy of its walk.
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
from ..homotopy.tolerances import BLUR
from ..problem import Line, Losses, Pieces, Problem
from ..problem.line import STILL
from ..twofold import Twofold
from ..validation import Floats
from ..verify import Answer
from .follow import ARITHMETIC_ERRORS, Followed, as_path_error, walked_to_end
from .model import Affine
from .path import SolutionPath
from .points import Places
from .reading import Reading

ZERO, INFINITY = np.zeros(1), np.full(1, np.inf)
THREE_PLACES = np.array([0.0, 0.5, 1.0])
TABLES = ("equation", "lower", "upper", "curvature", "exists", "hollow", "still", "single")
CLEAR_OF_SLOPES = 2.0**-20  # times a knot's width: a dual further from both slopes is inside


def with_losses(problem: Problem, pieces: Pieces) -> Problem:
    """Return a problem with other, already checked, functions in its first group of losses."""
    first: Losses = copy(problem.losses[0])
    vars(first)["pieces"] = pieces
    other = copy(problem)
    vars(other)["losses"] = (first, *problem.losses[1:])
    return other


def function(knots: Floats, slopes: Floats, curvature: Floats | None = None) -> Pieces:
    """Return a single function, which is 0 at its first knot."""
    bent = np.zeros(slopes.shape) if curvature is None else curvature
    return Pieces._derived(knots[None], slopes[None], bent[None], ZERO, -INFINITY, INFINITY)


def some_functions(pieces: Pieces, rows: slice) -> Pieces:
    """Return some of the functions."""
    return Pieces._derived(*(array[rows] for array in vars(pieces).values()))


def with_function(pieces: Pieces, row: int, one: Pieces) -> Pieces:
    """Return functions in which that of one row is replaced."""
    arrays = [array.copy() for array in vars(pieces).values()]
    for array, other in zip(arrays, vars(one).values(), strict=True):
        array[row] = other[0]
    return Pieces._derived(*arrays)


def between(start: Problem, end: Problem) -> Line:
    """Return the line, from 0 to 1, on which all numbers of a problem go to those of another.

    Both must have the same matrices, which isn't checked.

    Raises
    ------
    ValueError
        Curvatures differ.
    """
    numbers, rates, low = dict(start.numbers()), {}, {}
    for name, end_values in end.numbers():
        rates[name], low[name] = _difference(name, numbers[name], end_values)
    return Line(
        Affine(start, 0.0, rates, low, THREE_PLACES, {}), 0.0, 1.0, start, rates, low, False
    )


def moving(
    model: Callable[[float], Problem], begin: float, end: float, name: str, rate: Floats
) -> Line:
    """Return the line of a model in which one array of numbers moves at a given rate."""
    start = model(begin)
    low = {other: np.zeros(array.shape) for other, array in start.numbers()}
    return Line(model, begin, end, start, low | {name: rate}, low, False)


def _difference(name: str, start: Floats, end: Floats) -> Twofold:
    """Return the difference of numbers; infinite ends of domains don't move."""
    moves = start != end
    if not moves.any():
        zero = np.zeros(start.shape)
        return Twofold(zero, zero)
    if name.endswith(STILL):
        raise ValueError(f"{name} differs at both ends of a line; state the same curvature.")
    ends = (np.where(moves, array, 0.0) for array in (end, -start))
    return Twofold.plus(*(Twofold.of(array) for array in ends))


class Start:
    """An optimum of a problem, from which paths start.

    Parameters
    ----------
    problem : Problem
    reading : Reading, optional
        The reading of the solutions on all paths.

    Attributes
    ----------
    place : (N,) of int
        The places of all coordinates at the optimum.
    answer : Answer
        The optimum, in one column.
    undetermined : bool
        Whether some free variable is undetermined at the optimum.

    Raises
    ------
    PathError
        There is no optimum, or it can't be found.
    """

    def __init__(self, problem: Problem, reading: Reading | None = None):
        self.problem, self.reading = problem, reading
        self._room: Walk | None = None  # memory that the paths use one after the other
        line = between(problem, problem)
        self.statement = read(line)
        if self.statement.parabolas is not None:  # a path may remove a quadratic segment
            self.statement = read(line, "saddle")
        try:
            self.place: Places = starting_places(self.statement, Misfit.at(self.statement, 0.0))
            self._walk = Homotopy(
                self.statement, self.statement.graphs, self.place, 0.0, 1.0, near=BLUR
            )
        except (Unlimited, *ARITHMETIC_ERRORS) as error:
            raise as_path_error(error, line, self.statement) from error
        followed = self._follow(line, self.place)
        if followed.lost is not None:
            raise followed.lost
        self.undetermined, self.answer = (
            followed.undetermined,
            self._as_path(followed, "t")._answer(np.ones(1)),
        )

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
            Its places at the begin, if they differ from those of the start.
        parameter : str
            Name of the line's parameter.
        afresh : bool, default False
            Whether the linear system at the begin differs from that of the start.
        partly : bool, default False
            Whether the path may end where it is proved that there is no optimum beyond.

        Raises
        ------
        PathError
            The path can't be followed to the end of the line.
        """
        followed = self._follow(line, self.place if place is None else place, afresh)
        if followed.lost is not None and not (partly and isinstance(followed.lost, NoOptimum)):
            raise followed.lost
        return self._as_path(followed, parameter)

    def still(self) -> SolutionPath:
        """Return the optimum as a constant path."""
        return self.path(between(self.problem, self.problem))

    def places_after(self, line: Line, place: Places) -> Places:
        """Return the places at the end of the path along a line from this optimum."""
        statement = self.statement.along(line)
        walk = self._restarted(statement.graphs, place, line)
        _, error = walked_to_end(line, walk, None)
        if error is not None:
            raise error
        return walk.place.copy()

    def _follow(self, line: Line, place: Places, afresh: bool = False) -> Followed:
        statement = self.statement.along(line)
        if afresh:
            length = line.t1 - line.t0
            statement.spare = None
            walk = Homotopy(statement, statement.graphs, place, 0.0, length, line.t0, near=BLUR)
        else:
            walk = self._restarted(statement.graphs, place, line)
        track, error = walked_to_end(line, walk, None)
        return Followed.of(line, statement, track, lost=error)

    def _as_path(self, followed: Followed, parameter: str) -> SolutionPath:
        return SolutionPath(
            followed.line,
            followed.statement,
            followed.points,
            parameter=parameter,
            reading=self.reading,
            diagnostics={"events": followed.events},
        )

    def _restarted(self, graphs: Graphs, place: Places, line: Line) -> Homotopy:
        """Return a walk at the optimum, with other graphs that have the same system there."""
        length = line.t1 - line.t0
        walk = self._walk.again(graphs, place, length, line.t0, self._room)
        self._room = walk.walk
        return walk

    # -- ends alone ---------------------------------------------------------------------------

    def end(self, row: int, begin: Pieces, end: Pieces, place: int) -> tuple[Answer, int]:
        """Return the optimum, in a column, with another loss of one row, and the number of events.

        Parameters
        ----------
        row : int
            A row of the first group of losses.
        begin, end : Pieces
            One function each, of the same curvature; with the first the optimum is the same.
        place : int
            The place of the row on the graph of the first: at a knot, or on a segment with the same
            curvature as at the start.
        """
        line, graphs = self._line_of(row, begin, end)
        places = self.place.copy()
        places[row] = place
        return self._ended(line, self._restarted(graphs, places, line), row, begin, end)

    def end_without(self, row: int, begin: Pieces, end: Pieces) -> tuple[Answer, int] | None:
        """Do the same for a row that is on a quadratic segment at the start.

        The first function is straight. Return None if the system without the row is singular.
        """
        line, graphs = self._line_of(row, begin, end)
        spare = self.statement.spare
        self.statement.spare = spare if spare is None else spare._replace(tables=None)
        walk = Homotopy(self.statement, graphs, self.place, 0.0, 1.0, near=BLUR)
        if not walk.regular:
            walk.release()
            return None
        answer = self._ended(line, walk, row, begin, end)
        walk.release()
        return answer

    def _line_of(self, row: int, begin: Pieces, end: Pieces) -> tuple[Line, Graphs]:
        """Return the line on which one row's loss moves, and the graphs along it."""
        line = _line_of_one(begin, end, lambda: self._line_of_all(row, begin, end))
        shape = shape_of(begin, "losses[0]", line).scaled(self.statement.scale)
        return line, _with_row(self.statement.graphs, row, Graphs([shape]))

    def _line_of_all(self, row: int, begin: Pieces, end: Pieces) -> Line:
        """Return the line with all losses stated."""
        both = (with_function(self.problem.losses[0].pieces, row, f) for f in (begin, end))
        return between(*(with_losses(self.problem, pieces) for pieces in both))

    def _ended(
        self, line: Line, walk: Homotopy, row: int, begin: Pieces, end: Pieces
    ) -> tuple[Answer, int]:
        """Walk to the end; return the optimum there and the number of events."""
        track, error = walked_to_end(line, walk, None)
        if error is not None:
            raise error
        unknowns = track.unknowns([len(track) - 1], parts=1)[0]
        if not self._determined(walk, unknowns[0]):
            line_of_all = self._line_of_all(row, begin, end)
            followed = Followed.of(line_of_all, self.statement.along(line_of_all), track)
            unknowns = followed.points.unknowns(np.ones(1))
        w, v, duals = self.statement.answer(unknowns)
        multiplier = -unknowns[:, -1] if self.statement.constrained else None
        return Answer(w.T, v.T, [a.T for a in duals], multiplier), len(track.events)

    def _determined(self, walk: Homotopy, unknowns: Floats) -> bool:
        """Tell whether some row clearly determines the only free variable at the end of a walk.

        False means that a closer examination is needed.
        """
        r, n = self.statement.free, self.statement.rows_and_variables[0]
        if r != 1:
            return r == 0
        graphs, place = walk.graphs, walk.place[:n]
        rows = np.flatnonzero(place % 2 == 1)
        ends = (bounds[rows, place[rows]] for bounds in (graphs.lower, graphs.upper))
        low, high = (bounds[:, 0] + bounds[:, 2] * walk.walk.now.end for bounds in ends)
        with np.errstate(invalid="ignore"):
            room, a = CLEAR_OF_SLOPES * (high - low), unknowns[rows]
            held = rows[(a - low > room) & (high - a > room)]
        if not len(held):
            held = np.flatnonzero(graphs.curvature[np.arange(n), place] > 0.0)
        return bool((dense(self.statement.R[:, -1:])[held] != 0.0).any())


def _line_of_one(begin: Pieces, end: Pieces, whole: Callable[[], Line]) -> Line:
    """Return the line of one row's function; the whole problem is stated only when needed."""
    fields = zip(vars(begin).items(), vars(end).values(), strict=True)
    moves = {
        f"losses[0].{name}": _difference(name, start_values, end_values)
        for (name, start_values), end_values in fields
    }
    rates, low = ({name: arrays[k] for name, arrays in moves.items()} for k in (0, 1))
    start: Any = None
    return Line(lambda t: whole().at(t), 0.0, 1.0, start, rates, low)


def _with_row(graphs: Graphs, row: int, other_graphs: Graphs) -> Graphs:
    """Return graphs in which that of one row is replaced by one with as many knots."""
    other = copy(graphs)
    for name in TABLES:
        table, part = getattr(graphs, name).copy(), getattr(other_graphs, name)[0]
        table[(row, slice(len(part))) if part.ndim else row] = part
        setattr(other, name, table)
    return other
