"""Follow the optima of any model along its parameter, and check what was found."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import NoOptimum, PathError, PathWarning
from ..homotopy.run import Homotopy, Unlimited
from ..homotopy.start import Misfit, starting_places
from ..homotopy.statement import Statement, read
from ..homotopy.track import Track
from ..kernels.centring import about_columns
from ..problem import Line, Problem, along
from ..problem.line import stated
from ..problem.maps import absolute
from ..validation import callers_level, check_choice, check_number
from ..verify.unbounded import contradicts, falls
from ..verify.verdict import Verdict, evenly, last_holding
from .middle import in_the_middle
from .path import SolutionPath
from .points import NOTHING, Places, Points
from .reading import Reading, Scale, usual
from .telling import Callback, Told, telling

CHECKS = ("warn", "raise", "ignore")
FAR = 2.0**40  # times the size of t0, or 1: where a path that goes on for ever is left
FARTHER = 2.0**80
NEAR = 2.0**-48  # of the way to the end: what changes so near to it is decided by rounding of data
PART = 2.0**-40  # of the way, of the parts in which a first event is looked for
CLEAR = 2.0**10  # times the last breakpoint: so far nothing more may happen on a ray
ENOUGH = 1e4  # times the usual breakpoint: a path that is as long isn't missed beyond
MARGIN = 4.0  # how far before what doesn't hold such a path ends
LOOKS = 8  # pieces that are looked at before a path is handed out, and ends; ...
MORE = 64  # ... and if one of them doesn't hold
FEW = 2  # pieces of a path that carries on one whose end was looked at
NUMERICAL = (FloatingPointError, ZeroDivisionError, np.linalg.LinAlgError, OverflowError)


def solution_path(
    model: Callable[[float], Problem],
    t0: float,
    t1: float,
    *,
    parameter: str = "t",
    reading: Reading | None = None,
    scale: Scale | None = None,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Follow the optima of any convex piecewise linear-quadratic model along a parameter.

    Parameters
    ----------
    model : callable
        A function of one number that returns a `solution_paths.problem.Problem`; its knots, slopes
        and balances move affinely.
    t0, t1 : float
        Ends of the path; t1 may be below t0, or infinite where the path goes on for ever.
    parameter : str, default "t"
        What the parameter is called.
    reading : Reading, optional
        How solutions read as decisions; by default f(x) = w.x and the free variables as the first
        group of losses has them.
    scale : Scale, optional
        What the user's parameter is of the model's: by default itself.
    callback : callable, optional
        Called now and then as ``callback(done, n_events)``, with the share of the way from t0 to
        t1, which leaps at the end if that is infinite; whatever it raises ends the walk.
    check : {"warn", "raise", "ignore"}
        What happens if a quick look at some solutions finds one that is off by more than 1e-6.

    Returns
    -------
    SolutionPath

    Raises
    ------
    ValueError
        The model isn't affine in its parameter, or its parts don't fit together.
    PathError
        There is no optimum beyond some parameter, or the path can't be followed; ``error.path`` is
        the certified part before.

    Examples
    --------
    An asymmetric tube that no function offers: predictions may be too low by 1, or too high by
    0.5, for nothing; beyond that too high costs three times as much.

    >>> import numpy as np
    >>> from solution_paths import solution_path
    >>> from solution_paths.problem import Losses, Problem, pieces
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.0, 3.0, 1.0, 5.0])
    >>> def model(t):
    ...     tube = pieces(knots=[y - 1.0, y + 0.5], slopes=[-t, 0.0, 3.0 * t])
    ...     return Problem(Losses(tube, X, free=1.0), ridge=1.0)
    >>> path = solution_path(model, 0.0, np.inf, parameter="C")
    >>> path.breakpoints.round(4).tolist()
    [0.0, 0.125]
    >>> path.coef(1.0).round(6).item(), round(path.intercept(1.0), 6)
    (0.5, 0.5)
    >>> path.certify().ok
    True
    """
    return model_path(
        model,
        t0,
        t1,
        parameter=parameter,
        reading=reading,
        scale=scale,
        callback=callback,
        check=check,
    )


def model_path(
    model: Callable[[float], Problem],
    t0: float,
    t1: float,
    *,
    parameter: str = "t",
    reading: Reading | None = None,
    scale: Scale | None = None,
    face: str = "auto",
    enough: float = np.inf,
    limit: str | None = None,
    keep: bool = False,
    after: SolutionPath | None = None,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Do what `solution_path` does, for the models of this package, which ask for more.

    Parameters
    ----------
    model, t0, t1, parameter, reading, scale, callback, check
        See `solution_path`.
    face : {"auto", "dual", "primal", "saddle"}
        Which unknowns are eliminated: weights, duals of parabolas or none; by default the statement
        decides. The path is the same.
    enough : float, default inf
        A path that goes on for ever ends at its first breakpoint beyond, if there is one.
    limit : str, optional
        What the argument is called that says how far the path goes, or from where on, for messages;
        then a path goes as far as that, where rounding takes over, too.
    keep : bool, default False
        Whether the walk is kept, so that another path can go on from the end of this one.
    after : SolutionPath, optional
        A path whose walk was kept, and is carried on; t0 is 0, and there the model states the
        problem that is at the end of that path.
    """
    check_choice(check, "check", CHECKS)
    check_number(t0, "t0")
    endless = isinstance(t1, float) and np.isinf(t1)
    if endless and t1 < 0:
        raise ValueError("t1 can't be minus infinity; state the model in the parameter's negative.")
    with telling(callback) as told:
        if after is not None:
            found = _carried_on(after, along(model, t0, t1), told)
        elif endless:
            found = _endless(model, t0, enough, face, told)
        else:
            found = _followed(along(model, t0, t1), face, told)
    diagnostics: dict[str, Any] = {"events": found.events}
    if limit is not None and (t0 > 0.0 or not found.ray):  # a ray has no end but where it begins
        diagnostics["limit"] = limit
    path = SolutionPath(
        found.line,
        found.statement,
        found.points,
        parameter=parameter,
        scale=scale,
        reading=usual(found.line.start) if reading is None else reading,
        ray=found.ray,
        diagnostics=diagnostics,
    )
    if found.lost is not None:
        raise _with_part(found.lost, path, found.falls)
    path.walk = found.homotopy if keep else None
    if told is not None:
        told.at_end(found.events)
    asked = not endless or limit is not None  # the end is what was asked for, or said to be
    if check == "ignore":
        return path
    return _checked(path, check, not asked, LOOKS if after is None else FEW)


@dataclass(frozen=True, eq=False)
class Followed:
    """A path as far as it was followed, and the error that ended it."""

    line: Line
    statement: Statement
    points: Points
    ray: bool
    events: int
    lost: PathError | None = None
    homotopy: Homotopy | None = None
    falls: bool = False  # whether it was followed downwards
    loose: bool = False  # whether some free variable is undetermined somewhere

    @classmethod
    def of(
        cls,
        line: Line,
        statement: Statement,
        track: Track,
        ray: bool = False,
        lost: PathError | None = None,
        last: int | None = None,
    ) -> Followed:
        """Return what a walk recorded, without unknowns that are zero but for rounding.

        It may end at one of its points, ``last``.
        """
        whole = lost is None and last is None
        size = partial(_sizes, statement, _least_duals(line, statement))
        end, share = line.t1 if whole else None, partial(_share, statement, line.t0)
        points = Points.of(track, line.t0, end, ray, size, share)
        points = points if last is None else points.until(last)
        middle = in_the_middle(points, line, statement, track, ray)
        down, loose = bool(track.t[-1, 0] < track.t[0, 0]), middle is not points
        return cls(line, statement, middle, ray, len(track.events), lost, falls=down, loose=loose)


def _from_the_start(
    line: Line,
    statement: Statement,
    face: str,
    told: Told | None,
    enough: float = np.inf,
) -> tuple[Track, PathError | None]:
    """Walk from t0; return what was recorded, and the error if the walk broke off.

    It ends soon after it is so far from t0 as is ``enough``.
    """
    return walked_to_end(line, _at_the_start(line, statement, face), told, enough)


def _at_the_start(line: Line, statement: Statement, face: str) -> Homotopy:
    """Return a walk from an optimum at t0."""
    t0, length = line.t0, line.t1 - line.t0
    try:
        place = _behind_the_start(line, statement, face)
        if place is None:
            off = Misfit.at(statement, 0.0, face)
            place = starting_places(statement, off, t0, face)
        return Homotopy(statement, statement.graphs, place, 0.0, length, t0, face, NEAR)
    except (Unlimited, *NUMERICAL) as error:
        raise as_path_error(error, line, statement) from error


def walked_to_end(
    line: Line, homotopy: Homotopy, told: Callback | None, enough: float = np.inf
) -> tuple[Track, PathError | None]:
    """Walk to the end; return what was recorded, and the error if the walk broke off."""
    try:
        return homotopy.run(told, enough), None
    except (PathError, *NUMERICAL) as error:
        lost, track = as_path_error(error, line, homotopy.statement), homotopy.track()
        if len(track) < 2:
            raise lost from (None if lost is error else error)
        return track, lost


def _behind_the_start(line: Line, statement: Statement, face: str) -> Places | None:
    """Return places at t0 that are those of optima behind it, or None where t0 tells them itself.

    Where no loss costs anything at t0 every point is optimal there as far as losses go; to find the
    one that the path goes on from takes many changes, more of them the worse columns are scaled.
    """
    begin = _way(line)
    if begin == 0.0:
        return None
    try:
        off = Misfit.at(statement, begin, face)
        place = starting_places(statement, off, line.t0, face)
        back = _backwards(line, statement, place, begin, face)
        back.release_free_variables()
        back.run()
    except PathError:
        return None
    place = back.place
    back.release()
    return place


def _backwards(
    line: Line, statement: Statement, place: Places, begin: float, face: str
) -> Homotopy:
    """Return a walk back to t0 from places that are so far behind it."""
    return Homotopy(statement, statement.graphs, place, begin, 0.0, line.t0, face, NEAR)


def _way(line: Line) -> float:
    """Return a way from t0, if no loss costs anything there; else 0.

    On it values move by a tenth of what knots differ by, at most.
    """
    start, rates = line.start, line.rates
    terms = [(group.pieces, rates[f"losses[{k}].slopes"]) for k, group in enumerate(start.losses)]
    if start.penalty is not None:
        terms.append((start.penalty, rates["penalty.slopes"]))
    idle = all(not own.slopes.any() and not own.curvature.any() for own, _ in terms)
    if start.ridge == 0.0 or not idle or start.linear.any():
        return 0.0
    steep = [np.abs(own).max(axis=1) for _, own in terms]
    pull = _pulls(start, steep)
    pull = pull if start.kernel is None else np.abs(start.kernel) @ pull
    values = [absolute(group.X) @ pull for group in start.losses]
    reach = max(float(np.max(own, initial=0.0)) for own in values) / start.ridge
    knots = np.concatenate(
        [own.knots[by > 0].ravel() for (own, _), by in zip(terms, steep, strict=True)]
    )
    if not reach or not len(knots):
        return 0.0
    unit = float(np.ptp(knots) or np.abs(knots).max() or 1.0)
    length = line.t1 - line.t0
    return float(np.copysign(min(0.1 * unit / reach, abs(length)), length))


def as_path_error(
    error: Exception, line: Line | None = None, statement: Statement | None = None
) -> PathError:
    """Return the error of a path for one of arithmetic, or for a claim of the walk; else itself."""
    if isinstance(error, Unlimited):
        proved = None if line is None or statement is None else _proved(error, line, statement)
        return proved or PathError(
            f"Whether there is an optimum {error.where} can't be told: along some direction the "
            "objective changes by no more than rounding of the data; leave out columns that depend "
            "on others, scale the data alike, or end the path before.",
            None,
        )
    if isinstance(error, PathError):
        return error
    return PathError(
        f"The path could not be computed ({type(error).__name__}: {error}); scale the columns of X "
        "alike, or take another range of the parameter.",
        None,
    )


def _proved(claim: Unlimited, line: Line, statement: Statement) -> NoOptimum | None:
    """Return the error that says that there is no optimum, if the judge confirms it."""
    problem = line.at(claim.t)
    w, v, duals = statement.answer(claim.unknowns)
    direction, slope = (w, v), falls(problem, w, v)
    told = f"the objective falls for ever along error.direction, by {-slope:.3g} for a unit"
    if slope == 0.0:
        direction, slope = tuple(duals), contradicts(problem, duals)
        told = "constraints contradict each other, as the duals in error.direction prove"
    if slope == 0.0:
        return None
    message = (
        f"There is no optimum {claim.where}: {told}; choose a range of the parameter with an "
        "optimum everywhere."
    )
    return NoOptimum(message, None, direction, slope)


def _from_the_end(
    line: Line, statement: Statement, face: str, ray: bool, told: Told | None
) -> tuple[Track | None, PathError | None]:
    """Walk from the end of a line back to t0, if it is easier to start there.

    So it is where penalties hold all weights: at a small penalty many have to be found at once,
    and they may not be unique. Returns what was recorded, and the error if the walk broke off.
    """
    if line.start.penalty is None:
        return None, None
    end = line.t1 - line.t0

    def first(begin: float) -> float | None:
        one = _backwards(line, statement, place, begin, face)
        top = one.first()
        one.release()
        return top

    def walked(begin: float, told: Callback | None) -> tuple[Track, PathError | None]:
        return walked_to_end(line, _backwards(line, statement, place, begin, face), told)

    try:
        there = Misfit.at(statement, end, face)
        if there.count and there.count >= Misfit.at(statement, 0.0, face).count:
            return None, None
        place = starting_places(statement, there, line.t0, face=face)
        if not ray:
            return (None, None) if first(end) is None else walked(end, told)
        begin, least, top = end, _least_event(line), None
        while top is None and begin > least:  # the way down is looked at in parts
            top, begin = first(begin), PART * begin
        if not top or top < least:  # nothing ever changes: a place to walk from
            return walked(max(abs(line.t0), 1.0), told)
        if top > end / CLEAR:
            return None, None
        return walked(2 * top, None if told is None else told.of_second_half)
    except (PathError, *NUMERICAL):
        return None, None


def _from_afar(line: Line, statement: Statement, face: str, told: Told | None) -> Followed | None:
    """Walk back as far as that goes from the end of a line whose start can't be found."""
    try:
        end = line.t1 - line.t0
        off = Misfit.at(statement, end, face)
        place = starting_places(statement, off, line.t0, face=face)
        track, lost = walked_to_end(line, _backwards(line, statement, place, end, face), told)
    except (PathError, *NUMERICAL):
        return None
    return Followed.of(line, statement, track, ray=True, lost=lost)


def _least_event(line: Line) -> float:
    """Return where penalties are as small as rounding of correlations in twice double precision.

    Infinite where no loss pulls at any weight: then there is no event at all.
    """
    largest = float(np.abs(line.rates["penalty.slopes"]).max(initial=0.0))
    own = [group.pieces for group in line.start.losses]
    steep = [
        np.abs(f.slopes).max(axis=1) + f.curvature.max(axis=1) * np.abs(f.knots).max(axis=1)
        for f in own
    ]
    pull = NOTHING * float(_pulls(line.start, steep).max(initial=0.0))
    if pull == 0.0:
        return np.inf
    return pull / largest if largest > 0.0 else float(np.finfo(np.float64).tiny)


def _pulls(problem: Problem, steep: list[np.ndarray]) -> np.ndarray:
    """Return how strongly losses with such slopes pull each weight, at most."""
    pairs = zip(problem.losses, steep, strict=False)
    return np.sum([np.asarray(absolute(group.X).T @ own) for group, own in pairs], axis=0)


def _followed(line: Line, face: str, told: Told | None) -> Followed:
    statement = read(line, face)
    track, lost = _from_the_end(line, statement, face, False, told)
    back = None if track is None else Followed.of(line, statement, track, lost=lost)
    if back is not None and lost is None:
        return back
    try:
        homotopy = _at_the_start(line, statement, face)
        track, lost = walked_to_end(line, homotopy, told)
    except PathError:
        if back is None:
            raise
        return back
    if back is not None and lost is not None:
        return back
    return replace(Followed.of(line, statement, track, lost=lost), homotopy=homotopy)


def _carried_on(after: SolutionPath, line: Line, told: Told | None) -> Followed:
    """Follow a line from the end of a path whose walk was kept."""
    homotopy, after.walk = after.walk, None  # from here it moves, whatever happens
    assert homotopy is not None
    statement = homotopy.statement.along(line)
    try:
        homotopy.restart_with(statement, line.t1 - line.t0)
    except NUMERICAL as error:
        raise as_path_error(error) from error
    track, lost = walked_to_end(line, homotopy, told)
    return replace(Followed.of(line, statement, track, lost=lost), homotopy=homotopy)


def _endless(
    model: Callable[[float], Problem], t0: float, enough: float, face: str, told: Told | None
) -> Followed:
    """Follow a path that goes on for ever: far beyond its last breakpoint nothing happens."""
    found: Followed | None = None
    down: Followed | None = None
    start = stated(model, t0)
    if start.penalty is not None:
        line = along(model, t0, t0 + FARTHER * max(abs(t0), 1.0), start)
        statement = read(line, face)
        track, lost = _from_the_end(line, statement, face, True, told)
        if track is not None:
            down = Followed.of(line, statement, track, ray=True, lost=lost)
            if lost is None:
                return down
    for far in (FAR, FARTHER):
        line = along(model, t0, t0 + far * max(abs(t0), 1.0), start)
        statement = read(line, face)
        try:
            track, lost = _from_the_start(line, statement, face, told, enough=enough - t0)
        except PathError:
            if down is None and found is None:
                down = _from_afar(line, statement, face, told)
            if down is not None:
                return down
            if found is None or not found.events:
                raise
            break
        past = np.flatnonzero(t0 + track.t[:, 0] >= enough)
        if len(past) and track.t[past[0], 0] < line.t1 - t0:
            return Followed.of(line, statement, track, last=int(past[0]))
        if lost is not None and found is not None and found.events:
            break  # so far out rounding decides: the path ends where it was left before
        if lost is not None:
            return down or Followed.of(line, statement, track, lost=lost)
        last = t0 + (track.t[-2, 0] + track.t[-2, 1])
        ray = bool(line.t1 >= CLEAR * abs(last)) and (last > t0 or far == FARTHER)
        found = Followed.of(line, statement, track, bool(ray or last == t0))
        if ray:
            break
    assert found is not None
    return found


def _with_part(lost: PathError, path: SolutionPath, falls: bool = False) -> PathError:
    """Return the error of a walk with the part that is certified, up to where it broke off."""
    some = path._in_order(evenly(len(path.points)))
    some = some[::-1] if falls else some
    last = last_holding(path._judged(some, np.empty(0), anew=False)[1])
    if last < 0:
        return lost
    place, error = int(some[last]), copy.copy(lost)
    part = path._since(place) if falls else path._until(place)
    low, high = part.range
    said = f"{str(lost)[:-1]}; error.path is the certified part, {path.parameter} from "
    error.args, error.path = (f"{said}{low:.12g} to {high:.12g}.",), part
    return error


def _sizes(statement: Statement, least: np.ndarray, largest: np.ndarray) -> np.ndarray:
    """Return the sizes of unknowns, by the largest of the path.

    A weight's size, under a ridge, is that of the terms of X'a that it is summed from. Free
    variables have none: they are never zero but for rounding.
    """
    (n, p), free = statement.rows_and_variables, statement.free
    a, x = np.maximum(largest[:n], least), largest[n : n + p]
    m = max(p - free, 0)  # 0 in the primal face
    ridge = statement.ridge[:m]
    terms = abs(statement.R)[:, :m].T @ a
    pulled = np.where(ridge > 0, terms / np.where(ridge > 0, ridge, 1.0), 0.0)
    w = np.maximum(x[:m].max(initial=0.0), pulled)
    rest = np.zeros(len(largest) - n - m)
    return np.concatenate([np.full(n, a.max(initial=0.0)), w, rest])


def _least_duals(line: Line, statement: Statement) -> np.ndarray:
    """Return the sizes (n,) that duals have whatever they are.

    Where all knots are zero, of a constant target say, there is no unit of values: what is left of
    duals is rounding of those that slopes allow.
    """
    n, graphs = statement.rows_and_variables[0], statement.graphs
    if any(group.pieces.knots.any() for group in line.start.losses):
        return np.zeros(n)
    slopes = np.abs(graphs.equation[:n, ::2, 0])
    return np.where(np.isfinite(slopes), slopes, 0.0).max(axis=1, initial=0.0)


def _share(statement: Statement, t0: float, largest: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return the largest dual that there can be at parameters t, by the largest of the path.

    Where duals grow with t, as costs do, so do the sizes of what is summed from them.
    """
    n, _ = statement.rows_and_variables
    most, graphs = float(largest[:n].max(initial=0.0)), statement.graphs
    if most == 0.0 or graphs.curvature[:n].any():
        return np.ones(len(t))
    value, rate = (float(np.abs(graphs.equation[:n, ::2, k]).max(initial=0.0)) for k in (0, 2))
    return np.asarray(np.minimum((value + rate * np.abs(t - t0)) / most, 1.0))


def _checked(path: SolutionPath, check: str, endless: bool, count: int = LOOKS) -> SolutionPath:
    """Return a path once some of its solutions have been judged: ends, and pieces between.

    One that was to go on for ever ends where rounding takes over, if that is far enough.
    """
    s, found = _look(path, count)
    if not found.ok():
        s, found = _look(path, MORE)
    fine = found.ok() or (found.reliable.all() and _rests(path))
    if endless and not fine:
        shorter = _shorter(path, float(s[~found.holds()].max()))
        if shorter is not None:
            path = shorter
            s, found = _look(path, LOOKS)
    said = fault_of(path, s, found)
    if said and check == "raise":
        raise _with_part(PathError(said, None), path)
    tell(said, path, check)
    return path


def tell(said: str, path: SolutionPath, check: str) -> None:
    """Warn of what a look found, or raise it; nothing where it found nothing."""
    if said and check == "raise":
        raise PathError(said, path)
    if said:
        warnings.warn(said, PathWarning, stacklevel=callers_level())


def _rests(path: SolutionPath) -> bool:
    """Tell whether a path goes on for ever, and nothing that a user reads moves any more."""
    last = len(path.points) - 1
    ends = zip(*(path.variables_at(np.array([k])) for k in (last - 1, last)), strict=True)
    return path.ray and last > 0 and all(np.array_equal(*pair) for pair in ends)


def _shorter(path: SolutionPath, last: float) -> SolutionPath | None:
    """Return the part of a path before what doesn't hold, if that is all that anybody looks at.

    Of some points that were looked at, ``last`` is the last one that doesn't.
    """
    t = path.points.t
    positive = t[t > 0]
    usual = np.median(positive[: len(positive) // 2 + 1]) if len(positive) else np.inf
    if last < ENOUGH * usual:
        return None
    found = path._judged(np.arange(len(t)), np.empty(0), anew=False)[1]
    wrong = ~found.holds() & (t >= ENOUGH * usual)
    end = t[np.argmax(wrong)] / MARGIN if wrong.any() else t[-2]
    place = int(np.searchsorted(t, end, side="right")) - 1
    if place < 1 or end < ENOUGH * usual / MARGIN:
        return None
    return path._until(place)


def _look(path: SolutionPath, count: int = LOOKS) -> tuple[np.ndarray, Verdict]:
    """Judge ends, the shortest pieces and some others, and both sides of jumps."""
    t = path.points.t
    pieces = np.flatnonzero(np.diff(t) > 0)
    if len(pieces) > count:
        short = pieces[np.argsort(np.diff(t)[pieces], kind="stable")[: count // 2]]
        even = pieces[np.linspace(0, len(pieces) - 1, count - len(short)).astype(int)]
        pieces = np.union1d(short, even)
    jumps = path._beside_jumps()
    jumps = jumps[evenly(len(jumps), count)]
    nodes = np.unique(np.concatenate([[0, len(t) - 1], pieces, jumps])).astype(np.int64)
    middle = t[pieces] + 0.5 * (t[pieces + 1] - t[pieces])
    others = np.concatenate([middle, path._on_the_ray()])
    return path._judged(nodes, others, anew=False)


def fault_of(path: SolutionPath, s: np.ndarray, found: Verdict) -> str:
    """Say where a path is off by more than may be relied on, and by how much; else nothing."""
    fault = found.fault()
    if fault is None:
        return ""
    worst, size, sure = fault
    place = float(path.scale.value(s[worst : worst + 1])[0])
    return (
        f"The path in {path.parameter} {'is wrong' if sure else 'may be inaccurate'}: at "
        f"{path.parameter} = {place:.6g} its solution is off by {'' if sure else 'up to '}"
        f"{size:.1e}; {remedy_for(path.line.start)}, or take another range of the parameter."
    )


def remedy_for(problem: Problem) -> str:
    """Say what to do about a path that is not accurate."""
    X = problem.losses[0].X
    plain = isinstance(X, np.ndarray) or sp.issparse(X)
    columns = about_columns(X) if plain and problem.kernel is None else ""
    return columns or "scale the columns of X alike"
