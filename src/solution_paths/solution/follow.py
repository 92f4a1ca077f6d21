"""Follow the optima of any model along its parameter, and check the resulting path."""

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
from ..homotopy.start import Misfit, starting_places, starting_places_near
from ..homotopy.statement import ParametricKKT, read
from ..homotopy.tolerances import BLUR, NEGLIGIBLE, SINGULAR
from ..homotopy.track import Track
from ..kernels.centring import about_columns
from ..problem import Line, Problem, along
from ..problem.line import stated
from ..problem.maps import absolute
from ..validation import callers_level, check_choice, check_number
from ..verify.unbounded import contradicts, falls
from ..verify.verdict import Verdict, evenly, last_holding
from .callbacks import Callback, MonotoneProgress, progress_of
from .middle import in_the_middle
from .path import SolutionPath
from .points import Places, Points
from .reading import Reading, Scale, default_reading
from .tolerances import CLEARANCE, FAR_END, FARTHER_END, LONG_PATH, RAY_CLEARANCE

CHECKS = ("warn", "raise", "ignore")
PIECES_JUDGED = 8  # pieces that are judged before a path is returned, besides ends; ...
MORE_PIECES_JUDGED = 64  # ... and if one of them doesn't hold
PIECES_JUDGED_AFTER = 2  # pieces that are judged of a path that continues another
ARITHMETIC_ERRORS = (FloatingPointError, ZeroDivisionError, np.linalg.LinAlgError, OverflowError)


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
        and balances are affine in it.
    t0, t1 : float
        Ends of the path; t1 may be below t0, or infinite for an unbounded path.
    parameter : str, default "t"
        Name of the parameter.
    reading : Reading, optional
        How solutions give decisions; by default f(x) = w.x plus the free variables, as in the first
        group of losses.
    scale : Scale, optional
        The user's parameter in terms of the model's: by default they are equal.
    callback : callable, optional
        Called at intervals as ``callback(done, n_events)``, with the share of the way from t0 to
        t1, which jumps at the end if that is infinite. An exception that it raises ends the walk.
    check : {"warn", "raise", "ignore"}
        What to do if a quick check of some solutions finds an error above 1e-6.

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
    An asymmetric tube, for which there is no function: predictions that are too low by up to 1, or
    too high by up to 0.5, cost nothing; beyond, too high costs three times as much as too low.

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
    near: SolutionPath | None = None,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Do what `solution_path` does, with the further options that models of this package need.

    Parameters
    ----------
    model, t0, t1, parameter, reading, scale, callback, check
        See `solution_path`.
    face : {"auto", "dual", "primal", "saddle"}
        The unknowns that are eliminated: weights, duals of quadratic losses, or none; by default
        the statement decides. The path is the same.
    enough : float, default inf
        An unbounded path ends at its first breakpoint beyond this parameter, if there is one.
    limit : str, optional
        Name of the argument that limits the path, for messages. Then a path isn't truncated where
        rounding dominates.
    keep : bool, default False
        Whether the walk is kept, so that another path can continue from the end of this one.
    after : SolutionPath, optional
        A path whose walk was kept, and is continued. t0 is 0, where the model states the problem at
        the end of that path.
    near : SolutionPath, optional
        A bounded path of a statement with the same rows and variables: the search for the start
        begins at the active set of its start, and is short where the two optima are alike.
    """
    check_choice(check, "check", CHECKS)
    check_number(t0, "t0")
    endless = isinstance(t1, float) and np.isinf(t1)
    if endless and t1 < 0:
        raise ValueError("t1 can't be minus infinity; state the model in the parameter's negative.")
    with progress_of(callback) as progress:
        if after is not None:
            followed = _carried_on(after, along(model, t0, t1), progress)
        elif endless:
            followed = followed_to_infinity(model, t0, enough, face, progress)
        else:
            start = None if near is None else near.start
            followed = followed_between(along(model, t0, t1), face, progress, start)
    diagnostics: dict[str, Any] = {"events": followed.events}
    if limit is not None and (t0 > 0.0 or not followed.ray):  # a ray ends only at its begin
        diagnostics["limit"] = limit
    if followed.doubtful is not None:
        diagnostics["doubtful"] = followed.doubtful
    path = SolutionPath(
        followed.line,
        followed.statement,
        followed.points,
        parameter=parameter,
        scale=scale,
        reading=default_reading(followed.line.start) if reading is None else reading,
        ray=followed.ray,
        diagnostics=diagnostics,
    )
    if followed.lost is not None:
        raise _with_certified_part(followed.lost, path, followed.falls)
    path.walk = followed.homotopy if keep else None
    path.start = None if followed.homotopy is None else followed.homotopy.start
    if progress is not None:
        progress.finish(followed.events)
    end_matters = not endless or limit is not None  # the end was given by the caller
    if check == "ignore":
        return path
    return _checked(
        path, check, not end_matters, PIECES_JUDGED if after is None else PIECES_JUDGED_AFTER
    )


@dataclass(frozen=True, eq=False)
class Followed:
    """A path as far as it could be followed, and the error that ended it."""

    line: Line
    statement: ParametricKKT
    points: Points
    ray: bool
    events: int
    lost: PathError | None = None
    homotopy: Homotopy | None = None
    falls: bool = False  # whether it was followed downwards
    undetermined: bool = False  # whether some free variable is undetermined somewhere
    doubtful: float | None = None  # see `Track`

    @classmethod
    def of(
        cls,
        line: Line,
        statement: ParametricKKT,
        track: Track,
        ray: bool = False,
        lost: PathError | None = None,
        last: int | None = None,
    ) -> Followed:
        """Return the path from the record of a walk; unknowns below rounding are set to zero.

        The path may be cut at one of its points, ``last``.
        """
        whole = lost is None and last is None
        size = partial(_sizes_of_unknowns, statement, _sizes_of_duals(line, statement))
        end, share = line.t1 if whole else None, partial(_largest_duals_at, statement, line.t0)
        points = Points.of(track, line.t0, end, ray, size, share)
        points = points if last is None else points.until(last)
        middle = in_the_middle(points, line, statement, track, ray)
        down, undetermined = bool(track.t[-1, 0] < track.t[0, 0]), middle is not points
        return cls(
            line,
            statement,
            middle,
            ray,
            len(track.events),
            lost,
            falls=down,
            undetermined=undetermined,
            doubtful=None if track.doubtful is None else line.t0 + track.doubtful,
        )


def _walk_from_start(
    line: Line,
    statement: ParametricKKT,
    face: str,
    progress: MonotoneProgress | None,
    enough: float = np.inf,
) -> tuple[Track, PathError | None]:
    """Walk from t0; return the record, and the error if the walk broke off.

    It ends soon after its distance from t0 exceeds ``enough``.
    """
    return walked_to_end(line, _homotopy_at_start(line, statement, face), progress, enough)


def _homotopy_at_start(
    line: Line, statement: ParametricKKT, face: str, near: Places | None = None
) -> Homotopy:
    """Return a walk from an optimum at t0, which is searched from the places ``near`` if given."""
    t0, length = line.t0, line.t1 - line.t0
    try:
        place = None if near is None else starting_places_near(statement, near, t0, face)
        if place is None:
            place = _start_by_limit(line, statement, face)
        if place is None:
            misfit = Misfit.at(statement, 0.0, face)
            place = starting_places(statement, misfit, t0, face)
        return Homotopy(statement, statement.graphs, place, 0.0, length, t0, face, BLUR)
    except (Unlimited, *ARITHMETIC_ERRORS) as error:
        raise as_path_error(error, line, statement) from error


def walked_to_end(
    line: Line, homotopy: Homotopy, progress: Callback | None, enough: float = np.inf
) -> tuple[Track, PathError | None]:
    """Walk to the end; return the record, and the error if the walk broke off."""
    try:
        return homotopy.run(progress, enough), None
    except (PathError, *ARITHMETIC_ERRORS) as error:
        failure, track = as_path_error(error, line, homotopy.statement), homotopy.track()
        if len(track) < 2:
            raise failure from (None if failure is error else error)
        return track, failure


def _start_by_limit(line: Line, statement: ParametricKKT, face: str) -> Places | None:
    """Return the places at t0 as the limit of optima just beyond t0, or None if not needed.

    They are needed where all losses are zero at t0, so that every point minimises them. To find the
    point from which the path continues would take many changes at t0, in particular if columns are
    badly scaled.
    """
    beyond = _first_step(line)
    if beyond == 0.0:
        return None
    try:
        misfit = Misfit.at(statement, beyond, face)
        place = starting_places(statement, misfit, line.t0, face)
        homotopy = _backwards(line, statement, place, beyond, face)
        homotopy.release_free_variables()
        homotopy.run()
    except PathError:
        return None
    place = homotopy.place
    homotopy.release()
    return place


def _backwards(
    line: Line, statement: ParametricKKT, place: Places, begin: float, face: str
) -> Homotopy:
    """Return a walk back to t0 from places at the distance ``begin``."""
    return Homotopy(statement, statement.graphs, place, begin, 0.0, line.t0, face, BLUR)


def _first_step(line: Line) -> float:
    """Return a step from t0 if all losses are zero there, else 0.

    On it values move by at most a tenth of the spread of knots.
    """
    start, rates = line.start, line.rates
    terms = [(group.pieces, rates[f"losses[{k}].slopes"]) for k, group in enumerate(start.losses)]
    if start.penalty is not None:
        terms.append((start.penalty, rates["penalty.slopes"]))
    costless = all(not pieces.slopes.any() and not pieces.curvature.any() for pieces, _ in terms)
    if start.ridge == 0.0 or not costless or start.linear.any():
        return 0.0
    steep = [np.abs(slope_rates).max(axis=1) for _, slope_rates in terms]
    pull = _gradient_bounds(start, steep)
    pull = pull if start.kernel is None else np.abs(start.kernel) @ pull
    values = [absolute(group.X) @ pull for group in start.losses]
    reach = max(float(np.max(group, initial=0.0)) for group in values) / start.ridge
    knots = np.concatenate(
        [
            pieces.knots[steepness > 0].ravel()
            for (pieces, _), steepness in zip(terms, steep, strict=True)
        ]
    )
    if not reach or not len(knots):
        return 0.0
    unit = float(np.ptp(knots) or np.abs(knots).max() or 1.0)
    length = line.t1 - line.t0
    return float(np.copysign(min(0.1 * unit / reach, abs(length)), length))


def as_path_error(
    error: Exception, line: Line | None = None, statement: ParametricKKT | None = None
) -> PathError:
    """Return a `PathError` for an arithmetic error or an unproved claim; others are unchanged."""
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


def _proved(claim: Unlimited, line: Line, statement: ParametricKKT) -> NoOptimum | None:
    """Return the error for a missing optimum, if the judge confirms it."""
    problem = line.at(claim.t)
    w, v, duals = statement.answer(claim.unknowns)
    direction, slope = (w, v), falls(problem, w, v)
    reason = f"the objective falls for ever along error.direction, by {-slope:.3g} for a unit"
    if slope == 0.0:
        direction, slope = tuple(duals), contradicts(problem, duals)
        reason = "constraints contradict each other, as the duals in error.direction prove"
    if slope == 0.0:
        return None
    message = (
        f"There is no optimum {claim.where}: {reason}; choose a range of the parameter with an "
        "optimum everywhere."
    )
    return NoOptimum(message, None, direction, slope)


def _walk_from_end(
    line: Line, statement: ParametricKKT, face: str, ray: bool, progress: MonotoneProgress | None
) -> tuple[Track | None, PathError | None]:
    """Walk from the end of a line back to t0, if it is easier to start there.

    This is so if penalties keep all weights at zero there: at a small penalty many weights would
    have to be found at once, and they may not be unique. Returns the record, and the error if the
    walk broke off.
    """
    if line.start.penalty is None:
        return None, None
    end = line.t1 - line.t0

    def first(begin: float) -> float | None:
        homotopy = _backwards(line, statement, place, begin, face)
        first_event = homotopy.first()
        homotopy.release()
        return first_event

    def walked(begin: float, progress: Callback | None) -> tuple[Track, PathError | None]:
        return walked_to_end(line, _backwards(line, statement, place, begin, face), progress)

    try:
        misfit_at_end = Misfit.at(statement, end, face)
        if misfit_at_end.count and misfit_at_end.count >= Misfit.at(statement, 0.0, face).count:
            return None, None
        place = starting_places(statement, misfit_at_end, line.t0, face=face)
        if not ray:
            return (None, None) if first(end) is None else walked(end, progress)
        begin, least, first_event = end, _least_breakpoint(line), None
        while first_event is None and begin > least:  # search in parts
            first_event, begin = first(begin), begin / FAR_END
        if not first_event or first_event < least:  # no event: start from any parameter
            return walked(max(abs(line.t0), 1.0), progress)
        if first_event > end / RAY_CLEARANCE:
            return None, None
        return walked(2 * first_event, None if progress is None else progress.second_half)
    except (PathError, *ARITHMETIC_ERRORS):
        return None, None


def _follow_back_from_end(
    line: Line, statement: ParametricKKT, face: str, progress: MonotoneProgress | None
) -> Followed | None:
    """Walk back from the end of a line, as far as possible, if its start can't be found."""
    try:
        end = line.t1 - line.t0
        misfit = Misfit.at(statement, end, face)
        place = starting_places(statement, misfit, line.t0, face=face)
        track, failure = walked_to_end(
            line, _backwards(line, statement, place, end, face), progress
        )
    except (PathError, *ARITHMETIC_ERRORS):
        return None
    return Followed.of(line, statement, track, ray=True, lost=failure)


def _least_breakpoint(line: Line) -> float:
    """Return where penalties are as small as the twofold rounding error of the losses' gradients.

    It is infinite where all gradients are zero: then there is no event at all.
    """
    largest = float(np.abs(line.rates["penalty.slopes"]).max(initial=0.0))
    pieces_of_groups = [group.pieces for group in line.start.losses]
    steep = [
        np.abs(f.slopes).max(axis=1) + f.curvature.max(axis=1) * np.abs(f.knots).max(axis=1)
        for f in pieces_of_groups
    ]
    pull = NEGLIGIBLE * float(_gradient_bounds(line.start, steep).max(initial=0.0))
    if pull == 0.0:
        return np.inf
    return pull / largest if largest > 0.0 else float(np.finfo(np.float64).tiny)


def _gradient_bounds(problem: Problem, steep: list[np.ndarray]) -> np.ndarray:
    """Return upper bounds of the losses' gradients in each weight, by bounds of slopes."""
    pairs = zip(problem.losses, steep, strict=False)
    return np.sum(
        [np.asarray(absolute(group.X).T @ steepness) for group, steepness in pairs], axis=0
    )


def followed_between(
    line: Line,
    face: str = "auto",
    progress: MonotoneProgress | None = None,
    near: Places | None = None,
) -> Followed:
    """Follow a line from its begin, which is searched from the places ``near``, to its end."""
    statement = read(line, face)
    track, failure = _walk_from_end(line, statement, face, False, progress)
    backwards = None if track is None else Followed.of(line, statement, track, lost=failure)
    if backwards is not None and failure is None:
        return backwards
    try:
        homotopy = _homotopy_at_start(line, statement, face, near)
        track, failure = walked_to_end(line, homotopy, progress)
    except PathError:
        if backwards is None:
            raise
        return backwards
    if backwards is not None and failure is not None:
        return backwards
    return replace(Followed.of(line, statement, track, lost=failure), homotopy=homotopy)


def _carried_on(after: SolutionPath, line: Line, progress: MonotoneProgress | None) -> Followed:
    """Follow a line that continues a path whose walk was kept."""
    homotopy, after.walk = after.walk, None  # it can be used only once
    assert homotopy is not None
    statement = homotopy.statement.along(line)
    try:
        homotopy.restart_with(statement, line.t1 - line.t0)
    except ARITHMETIC_ERRORS as error:
        raise as_path_error(error) from error
    track, failure = walked_to_end(line, homotopy, progress)
    return replace(Followed.of(line, statement, track, lost=failure), homotopy=homotopy)


def followed_to_infinity(
    model: Callable[[float], Problem],
    t0: float,
    enough: float = np.inf,
    face: str = "auto",
    progress: MonotoneProgress | None = None,
) -> Followed:
    """Follow an unbounded path until it has no event far beyond its last breakpoint."""
    followed: Followed | None = None
    downwards: Followed | None = None
    moving, start = False, stated(model, t0)
    if start.penalty is not None:
        line = along(model, t0, t0 + FARTHER_END * max(abs(t0), 1.0), start)
        statement = read(line, face)
        track, failure = _walk_from_end(line, statement, face, True, progress)
        if track is not None:
            downwards = Followed.of(line, statement, track, ray=True, lost=failure)
            if failure is None:
                return downwards
    for distance in (FAR_END, FARTHER_END):
        line = along(model, t0, t0 + distance * max(abs(t0), 1.0), start)
        statement = read(line, face)
        try:
            track, failure = _walk_from_start(line, statement, face, progress, enough=enough - t0)
        except PathError:
            if downwards is None and followed is None:
                downwards = _follow_back_from_end(line, statement, face, progress)
            if downwards is not None:
                return downwards
            if followed is None or not followed.events:
                raise
            break
        past = np.flatnonzero(t0 + track.t[:, 0] >= enough)
        if len(past) and track.t[past[0], 0] < line.t1 - t0:
            return Followed.of(line, statement, track, last=int(past[0]))
        if failure is not None and followed is not None and followed.events:
            break  # rounding dominates so far out: keep the result of the first attempt
        if failure is not None:
            return downwards or Followed.of(line, statement, track, lost=failure)
        last = t0 + (track.t[-2, 0] + track.t[-2, 1])
        ray = bool(line.t1 >= RAY_CLEARANCE * abs(last)) and (last > t0 or distance == FARTHER_END)
        if moving and not ray:
            break  # breakpoints up to the second end: keep the result of the first attempt
        followed = Followed.of(line, statement, track, bool(ray or last == t0))
        moving = ray and not moving and not _rests(line, statement, track)
        if ray and not moving:
            break
    assert followed is not None
    return followed


def _rests(line: Line, statement: ParametricKKT, track: Track) -> bool:
    """Tell whether weights rest on the last piece, which they do on a ray if only costs grow.

    Speeds that a change of the data by `SINGULAR` explains are none, as duals move on a ray. It is
    true where weights aren't recorded, or don't rest on rays.
    """
    if not line.settles or statement.face != "saddle":
        return True
    n, p = statement.rows_and_variables
    weights = p - statement.free
    begin, end = track.unknowns([len(track) - 2, len(track) - 1])
    moved = np.abs((end - begin).sum(axis=0))
    terms = moved[:n].max() * abs(statement.R).sum(axis=0)[:weights]
    pulled = statement.ridge[:weights] * moved[n : n + weights]
    return bool((pulled <= SINGULAR * terms).all())


def _with_certified_part(lost: PathError, path: SolutionPath, falls: bool = False) -> PathError:
    """Return the error of a walk with the certified part of its path."""
    points = path._in_order(evenly(len(path.points)))
    points = points[::-1] if falls else points
    last = last_holding(path._judged(points, np.empty(0), anew=False)[1])
    if last < 0:
        return lost
    place, error = int(points[last]), copy.copy(lost)
    part = path._since(place) if falls else path._until(place)
    low, high = part.range
    start_of_message = f"{str(lost)[:-1]}; error.path is the certified part, {path.parameter} from "
    error.args, error.path = (f"{start_of_message}{low:.12g} to {high:.12g}.",), part
    return error


def _sizes_of_unknowns(
    statement: ParametricKKT, least: np.ndarray, largest: np.ndarray
) -> np.ndarray:
    """Return the sizes of unknowns from their largest values on the path.

    With a ridge the size of a weight is that of the terms of X'a. Free variables have size 0: they
    are never set to zero.
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


def _sizes_of_duals(line: Line, statement: ParametricKKT) -> np.ndarray:
    """Return lower bounds (n,) of the sizes of duals.

    Where all knots are zero, as with a constant target, values have no unit: then computed duals
    are rounding of those that slopes allow.
    """
    n, graphs = statement.rows_and_variables[0], statement.graphs
    if any(group.pieces.knots.any() for group in line.start.losses):
        return np.zeros(n)
    slopes = np.abs(graphs.equation[:n, ::2, 0])
    return np.where(np.isfinite(slopes), slopes, 0.0).max(axis=1, initial=0.0)


def _largest_duals_at(
    statement: ParametricKKT, t0: float, largest: np.ndarray, t: np.ndarray
) -> np.ndarray:
    """Return bounds of the largest dual at parameters t, relative to that of the path.

    Where duals grow with t, as costs do, so do the sizes of sums of duals.
    """
    n, _ = statement.rows_and_variables
    largest_dual, graphs = float(largest[:n].max(initial=0.0)), statement.graphs
    if largest_dual == 0.0 or graphs.curvature[:n].any():
        return np.ones(len(t))
    value, rate = (float(np.abs(graphs.equation[:n, ::2, k]).max(initial=0.0)) for k in (0, 2))
    return np.asarray(np.minimum((value + rate * np.abs(t - t0)) / largest_dual, 1.0))


def _checked(
    path: SolutionPath, check: str, endless: bool, count: int = PIECES_JUDGED
) -> SolutionPath:
    """Return a path after some of its solutions have been judged: ends, and pieces between.

    An unbounded path is truncated where rounding dominates, if that is far enough.
    """
    s, verdict = _judge_some(path, count)
    if not verdict.ok():
        s, verdict = _judge_some(path, MORE_PIECES_JUDGED)
    fine = verdict.ok() or (verdict.reliable.all() and _is_constant_ray(path))
    if endless and not fine:
        shorter = _truncated(path, float(s[~verdict.holds()].max()))
        if shorter is not None:
            path = shorter
            s, verdict = _judge_some(path, PIECES_JUDGED)
    message = fault_message(path, s, verdict)
    if message and check == "raise":
        raise _with_certified_part(PathError(message, None), path)
    report(message, path, check)
    return path


def report(message: str, path: SolutionPath, check: str) -> None:
    """Warn or raise with the message of a check; do nothing if it is empty."""
    if message and check == "raise":
        raise PathError(message, path)
    if message:
        warnings.warn(message, PathWarning, stacklevel=callers_level())


def _is_constant_ray(path: SolutionPath) -> bool:
    """Tell whether a path has a ray on which weights and free variables are constant."""
    last = len(path.points) - 1
    ends = zip(*(path.variables_at(np.array([k])) for k in (last - 1, last)), strict=True)
    return path.ray and last > 0 and all(np.array_equal(*pair) for pair in ends)


def _truncated(path: SolutionPath, last: float) -> SolutionPath | None:
    """Truncate a path before its first uncertified piece, if that is far beyond most breakpoints.

    ``last`` is the last of some judged parameters at which the certificate doesn't hold.
    """
    t = path.points.t
    positive = t[t > 0]
    usual = np.median(positive[: len(positive) // 2 + 1]) if len(positive) else np.inf
    if last < LONG_PATH * usual:
        return None
    verdict = path._judged(np.arange(len(t)), np.empty(0), anew=False)[1]
    wrong = ~verdict.holds() & (t >= LONG_PATH * usual)
    end = t[np.argmax(wrong)] / CLEARANCE if wrong.any() else t[-2]
    place = int(np.searchsorted(t, end, side="right")) - 1
    if place < 1 or end < LONG_PATH * usual / CLEARANCE:
        return None
    return path._until(place)


def _judge_some(path: SolutionPath, count: int = PIECES_JUDGED) -> tuple[np.ndarray, Verdict]:
    """Judge ends, short pieces and some others, both sides of jumps, and a doubtful place."""
    t, length = path.points.t, np.append(np.diff(path.points.t), 0.0)
    pieces = np.flatnonzero(length > 0)
    if len(pieces) > count:
        short = pieces[np.argsort(length[pieces], kind="stable")[: count // 2]]
        evenly_spaced = pieces[np.linspace(0, len(pieces) - 1, count - len(short)).astype(int)]
        pieces = np.union1d(short, evenly_spaced)
    jumps = path._beside_jumps()
    jumps = jumps[evenly(len(jumps), count)]
    doubtful = _doubtful_points(path)
    pieces = np.union1d(pieces, doubtful[length[doubtful] > 0])
    nodes = np.unique(np.concatenate([[0, len(t) - 1], pieces, jumps, doubtful])).astype(np.int64)
    middle = t[pieces] + 0.5 * (t[pieces + 1] - t[pieces])
    others = np.concatenate([middle, path._on_the_ray()])
    return path._judged(nodes, others, anew=False)


def _doubtful_points(path: SolutionPath) -> np.ndarray:
    """Return the points at the doubtful parameter that the walk reported, and those beside it."""
    t, doubtful = path.points.t, path.diagnostics.get("doubtful")
    if doubtful is None:
        return np.zeros(0, dtype=np.int64)
    nearest = t[np.abs(t - doubtful).argmin()]
    at = np.flatnonzero(t == nearest)
    return np.arange(max(at[0] - 1, 0), min(at[-1] + 2, len(t)))


def fault_message(path: SolutionPath, s: np.ndarray, verdict: Verdict) -> str:
    """Return a message with the place and size of the largest error above the limit, or ''."""
    fault = verdict.fault()
    if fault is None:
        return ""
    index, size, sure = fault
    place = float(path.scale.value(s[index : index + 1])[0])
    return (
        f"The path in {path.parameter} {'is wrong' if sure else 'may be inaccurate'}: at "
        f"{path.parameter} = {place:.6g} its solution is off by {'' if sure else 'up to '}"
        f"{size:.1e}; {remedy_for(path.line.start)}, or take another range of the parameter."
    )


def remedy_for(problem: Problem) -> str:
    """Return what to do about an inaccurate path, for messages."""
    X = problem.losses[0].X
    plain = isinstance(X, np.ndarray) or sp.issparse(X)
    columns = about_columns(X) if plain and problem.kernel is None else ""
    return columns or "scale the columns of X alike"
