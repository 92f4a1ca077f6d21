"""Follow local optima of losses with several convex branches, from the optimum of a convex one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import PathError
from ..homotopy.jumping import JumpingWalk
from ..homotopy.run import Homotopy
from ..homotopy.start import Misfit, guess, starting_places
from ..homotopy.statement import read, shape_of_losses
from ..homotopy.track import PLACES, Track
from ..homotopy.walls import Walled
from ..problem import Problem, along
from ..problem.branches import Branches, Partition
from ..validation import Floats, check_choice
from ..verify.partitions import at_threshold
from .follow import CHECKS, NUMERICAL, _checked, _with_part, as_path_error
from .middle import on_branches
from .outliers import OutlierPath, Partitions
from .points import Places, Points
from .reading import Reading, usual
from .telling import Callback, telling

AGREE = 1e-6  # of the largest dual: so far slopes may be apart where a path begins


class _Start:
    """The optimum of the convex problem that a path begins with.

    Parameters
    ----------
    problem : Problem
        Of the same samples as the branches.
    near : (n,) array, optional
        Signed duals near the optimum: the nearer, the faster the start.

    Attributes
    ----------
    z, a : (n,) arrays
        Values and signed duals of samples.
    """

    def __init__(self, problem: Problem, near: Floats | None = None):
        self.statement = statement = read(along(lambda _: problem, 0.0, 1.0))
        self.place = self._places(near)
        standing = Homotopy(statement, statement.graphs, self.place, 0.0, 1.0)
        n = statement.sizes[0]
        self.held = self.place[:n] % 2 == 1
        known, own = statement.graphs.equation[np.arange(n), self.place[:n], 0], standing.values[:n]
        self.z = np.where(self.held, known, own) / statement.scale
        self.a = np.where(self.held, own, known)

    def _places(self, near: Floats | None) -> Places:
        statement, n = self.statement, self.statement.sizes[0]
        off = None
        if near is not None:
            place = guess(statement)
            slopes = statement.shapes[0].slopes.value.high
            place[:n] = 2 * np.abs(slopes + near[:, None]).argmin(axis=1)
            off = Misfit.of(statement, place, 0.0)
        if off is None or not off.regular:
            off = Misfit.at(statement, 0.0)
        return starting_places(statement, off)


def local_path(
    problem: Problem,
    branches: Branches,
    span: tuple[float, float] | Callable[[Floats], tuple[float, float]],
    *,
    parameter: str = "t",
    reading: Reading | None = None,
    near: Floats | None = None,
    callback: Callback | None = None,
    check: str = "warn",
) -> OutlierPath:
    """Follow a local optimum of losses with several convex branches along a parameter.

    It begins at the optimum of a convex problem, and jumps to a better one where it ends.

    Parameters
    ----------
    problem : Problem
        One group of piecewise linear losses, under a ridge alone; a bias may be free.
    branches : Branches
        Of the same samples. At the begin of the span they agree with the problem's losses beside
        the values at its optimum.
    span : (float, float) or callable
        Where the path begins and ends; or a function of the values (n,) at this optimum that tells.
    parameter : str, default "t"
        What the parameter is called.
    reading, callback, check
        See `solution_path`.
    near : (n,) array, optional
        Signed duals near the optimum: the nearer, the faster the start.

    Returns
    -------
    OutlierPath

    Raises
    ------
    ValueError
        Of a problem that has more than that, or branches that don't agree with it.
    PathError
        The path can't be followed to its end; ``error.path`` is the certified part.

    Examples
    --------
    Least absolute deviations of which each costs 5 at most, then less and less, down to 1:

    >>> import numpy as np
    >>> from solution_paths import local_path
    >>> from solution_paths.problem import Branches, Losses, Problem, losses, pieces
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0], [3.0]])
    >>> y = np.array([-2.0, -1.0, 1.0, 2.0, 9.0])
    >>> def capped(s):
    ...     below = pieces([y - s], [0.0, 0.0], value=s, high=y - s)
    ...     inside = pieces([y], [-1.0, 1.0], low=y - s, high=y + s)
    ...     above = pieces([y + s], [0.0, 0.0], value=s, low=y + s)
    ...     return [below, inside, above]
    >>> def machine(loss):
    ...     return Problem(Losses(loss, X), ridge=1.0)
    >>> branches = Branches.along(capped, machine, main=np.ones(5, dtype=int), ends=(8.0, 1.0))
    >>> path = local_path(machine(losses.absolute(y)), branches, (8.0, 1.0), parameter="s")
    >>> [round(jump.parameter, 6) for jump in path.jumps]
    [6.0]
    >>> path.outliers(1.0).tolist()
    [False, False, False, False, True]
    >>> path.certify().ok
    True

    References
    ----------
    Suzumura, Ogawa, Sugiyama, Karasuyama and Takeuchi, "Homotopy Continuation Approaches for Robust
    SV Classification and Regression".
    """
    check_choice(check, "check", CHECKS)
    tell = telling(callback)
    _check_simple(problem)
    try:
        start = _Start(problem, near)
        begin, end = span(start.z) if callable(span) else span
        walk = _at_the_start(start, branches, begin, end)
    except NUMERICAL as error:
        raise as_path_error(error) from error
    lost: PathError | None = None
    with tell as told:
        try:
            walk.run(told)
        except (PathError, *NUMERICAL) as error:
            lost = as_path_error(error)
            if not walk.homotopy.walk.now.nodes:
                raise lost from (None if lost is error else error)
    track = walk.track()
    found, falls = _partitions(track, walk.graphs), begin > end
    found = found.some(slice(None, None, -1)) if falls else found
    points, line = Points.of_jumps(track), branches.lines[0]
    points, found = on_branches(points, line, start.statement, track, walk.graphs.branch, found)
    path = OutlierPath(
        branches,
        start.statement,
        points,
        found,
        falls=falls,
        parameter=parameter,
        reading=usual(problem) if reading is None else reading,
        diagnostics={"events": len(track.events)} | walk.counts,
    )
    if lost is not None:
        raise _with_part(lost, path)
    if told is not None:
        told.at_end(len(track.events))
    if check != "ignore":
        _checked(path, check, False)
    return path


def _check_simple(problem: Problem) -> None:
    """Refuse what jumps know nothing of."""
    simple = problem.pure_ridge and len(problem.losses) == 1
    if not simple or any(group.pieces.curvature.any() for group in problem.losses):
        raise ValueError(
            "A problem whose losses have several branches has one group of piecewise linear losses "
            "under a ridge, and neither a penalty nor a constraint: state it so."
        )


def _at_the_start(start: _Start, branches: Branches, begin: float, end: float) -> JumpingWalk:
    """Return a walk that stands at the start."""
    statement = start.statement
    shapes = [shape_of_losses(line, statement.scale) for line in branches.lines]
    graphs = Walled(shapes, statement.shapes[1:], branches.still)
    branch, z = branches.at_values(begin, start.z), start.z * statement.scale
    own, apart = graphs.on(branch, z, start.a, start.held, begin)
    size = max(float(np.abs(start.a).max(initial=0.0)), 1e-300)
    if (apart > AGREE * size).any():
        raise ValueError(
            f"The branches of row {int(apart.argmax())} don't agree at {begin:g} with the problem "
            "that the path begins with; state the same slopes and knots beside its value there."
        )

    def improve(z: Floats, a: Floats, partition: Partition, t: float) -> Places | None:
        return at_threshold(branches, t, partition, z / statement.scale, a).better

    place = np.concatenate([own, start.place[len(own) :]])
    return JumpingWalk(statement, graphs, place, begin, end, improve)


def _partitions(track: Track, graphs: Walled) -> Partitions:
    """Return the branches that samples are on at recorded points."""
    n = graphs.n
    now = graphs.branch[np.arange(n), track.start[:n]].astype(np.int8)
    rows, begins = [now.copy()], [0]
    own = np.flatnonzero(track.events // PLACES < n)
    who, place = np.divmod(track.events[own], PLACES)
    branch = graphs.branch[who, place]
    first = np.searchsorted(track.event_at, own, side="right")  # point after the event
    for i, new, k in zip(who.tolist(), branch.tolist(), first.tolist(), strict=True):
        if now[i] != new:
            now[i] = new
            if k == begins[-1]:
                rows[-1] = now.copy()
            else:
                rows.append(now.copy())
                begins.append(k)
    of = np.searchsorted(begins, np.arange(len(track)), side="right") - 1
    return Partitions(np.stack(rows), of)
