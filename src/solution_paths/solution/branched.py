"""Follow local optima of losses with several convex branches, from the optimum of a convex one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import PathError
from ..homotopy.jumping import JumpingWalk
from ..homotopy.run import Homotopy
from ..homotopy.start import Misfit, guess, starting_places, starting_places_near
from ..homotopy.statement import read, shape_of_losses
from ..homotopy.track import PLACES, Track
from ..homotopy.walls import Walled
from ..problem import Problem, along
from ..problem.branches import Branches, Partition, value_at
from ..validation import Floats, check_choice
from ..verify.partitions import at_threshold, optimal_until
from ..verify.verdict import ERROR_LIMIT
from .callbacks import Callback, progress_of
from .follow import ARITHMETIC_ERRORS, CHECKS, _checked, _with_certified_part, as_path_error
from .middle import on_branches
from .outliers import OutlierPath, Partitions
from .points import Places, Points
from .reading import Reading, default_reading


class _Start:
    """The optimum of the convex problem from which a path starts.

    Parameters
    ----------
    problem : Problem
        With the same samples as the branches.
    near : (n,) array, optional
        Signed duals near the optimum: the nearer, the faster the start.

    Attributes
    ----------
    z, a : (n,) arrays
        Values and signed duals of the samples.
    """

    def __init__(self, problem: Problem, near: Floats | None = None):
        self.statement = statement = read(along(lambda _: problem, 0.0, 1.0))
        self.place = self._places(near)
        homotopy = Homotopy(statement, statement.graphs, self.place, 0.0, 1.0)
        n = statement.sizes[0]
        self.held = self.place[:n] % 2 == 1
        known, solved = (
            statement.graphs.equation[np.arange(n), self.place[:n], 0],
            homotopy.values[:n],
        )
        self.z = np.where(self.held, known, solved) / statement.scale
        self.a = np.where(self.held, solved, known)

    def _places(self, near: Floats | None) -> Places:
        statement, start = self.statement, None
        if near is not None:
            place, n = guess(statement), statement.sizes[0]
            slopes = statement.shapes[0].slopes.value.high
            place[:n] = 2 * np.abs(slopes + near[:, None]).argmin(axis=1)
            start = starting_places_near(statement, place)
        return starting_places(statement, Misfit.at(statement, 0.0)) if start is None else start


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

    The path starts at the optimum of a convex problem. Where its local optimum ceases to exist it
    jumps to a better one.

    Parameters
    ----------
    problem : Problem
        One group of piecewise linear losses, under a ridge alone; a bias may be free.
    branches : Branches
        With the same samples. At the start of the span they agree with the problem's losses near
        the values at its optimum.
    span : (float, float) or callable
        Start and end of the path, or a function of the values (n,) at this optimum that returns
        them.
    parameter : str, default "t"
        Name of the parameter.
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
        The problem has other parts, or the branches don't agree with it.
    PathError
        The path can't be followed to its end; ``error.path`` is the certified part.

    Examples
    --------
    Least absolute deviations, each capped at s, which falls from 8 to 1:

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
    context = progress_of(callback)
    _check_simple(problem)
    try:
        start = _Start(problem, near)
        begin, end = span(start.z) if callable(span) else span
        walk = _at_the_start(start, branches, begin, end)
    except ARITHMETIC_ERRORS as error:
        raise as_path_error(error) from error
    error_of_walk: PathError | None = None
    with context as progress:
        try:
            walk.run(progress)
        except (PathError, *ARITHMETIC_ERRORS) as error:
            error_of_walk = as_path_error(error)
            if not walk.homotopy.walk.now.nodes:
                raise error_of_walk from (None if error_of_walk is error else error)
    track = walk.track()
    partitions, descending = _partitions(track, walk.graphs), begin > end
    partitions = partitions.some(slice(None, None, -1)) if descending else partitions
    points, line = Points.of_jumps(track), branches.lines[0]
    points, partitions = on_branches(
        points, line, start.statement, track, walk.graphs.branch, partitions
    )
    doubt = {} if track.doubtful is None else {"doubtful": track.doubtful}
    path = OutlierPath(
        branches,
        start.statement,
        points,
        partitions,
        falls=descending,
        parameter=parameter,
        reading=default_reading(problem) if reading is None else reading,
        diagnostics={"events": len(track.events)} | walk.counts | doubt,
    )
    if error_of_walk is not None:
        raise _with_certified_part(error_of_walk, path)
    if progress is not None:
        progress.finish(len(track.events))
    if check != "ignore":
        _checked(path, check, False)
    return path


def _check_simple(problem: Problem) -> None:
    """Refuse problems that the walk with jumps doesn't support."""
    simple = problem.pure_ridge and len(problem.losses) == 1
    if not simple or any(group.pieces.curvature.any() for group in problem.losses):
        raise ValueError(
            "A problem whose losses have several branches has one group of piecewise linear losses "
            "under a ridge, and neither a penalty nor a constraint: state it so."
        )


def _at_the_start(start: _Start, branches: Branches, begin: float, end: float) -> JumpingWalk:
    """Return a walk at the start of the path."""
    statement = start.statement
    shapes = [shape_of_losses(line, statement.scale) for line in branches.lines]
    graphs = Walled(shapes, statement.shapes[1:], branches.still)
    branch, z = branches.at_values(begin, start.z), start.z * statement.scale
    row_places, differences = graphs.on(branch, z, start.a, start.held, begin)
    size = max(float(np.abs(start.a).max(initial=0.0)), 1e-300)
    if (differences > ERROR_LIMIT * size).any():
        raise ValueError(
            f"The branches of row {int(differences.argmax())} don't agree at {begin:g} with the "
            "problem that the path begins with; state the same slopes and knots beside its value "
            "there."
        )

    def improve(z: Floats, a: Floats, partition: Partition, t: float) -> Places | None:
        return at_threshold(branches, t, partition, z / statement.scale, a).better

    def objective(z: Floats, a: Floats, partition: Partition, t: float) -> float:
        z = z / statement.scale
        return 0.5 * float(a @ z) + float(value_at(branches.functions(t, partition), z).sum())

    def lasts(
        z: Floats, a: Floats, partition: Partition, t: tuple[float, float]
    ) -> tuple[float, Places | None]:
        return optimal_until(branches, t, partition, z / statement.scale, a)

    place = np.concatenate([row_places, start.place[len(row_places) :]])
    return JumpingWalk(statement, graphs, place, begin, end, improve, objective, lasts)


def _partitions(track: Track, graphs: Walled) -> Partitions:
    """Return the branch of each sample at each recorded point."""
    n = graphs.n
    current = graphs.branch[np.arange(n), track.start[:n]].astype(np.int8)
    partitions, first_points = [current.copy()], [0]
    row_events = np.flatnonzero(track.events // PLACES < n)
    rows, place = np.divmod(track.events[row_events], PLACES)
    branch = graphs.branch[rows, place]
    first = np.searchsorted(track.event_at, row_events, side="right")  # point after the event
    for i, new, k in zip(rows.tolist(), branch.tolist(), first.tolist(), strict=True):
        if current[i] != new:
            current[i] = new
            if k == first_points[-1]:
                partitions[-1] = current.copy()
            else:
                partitions.append(current.copy())
                first_points.append(k)
    partition_of_point = np.searchsorted(first_points, np.arange(len(track)), side="right") - 1
    return Partitions(np.stack(partitions), partition_of_point)
