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
from .follow import CHECKS, NUMERICAL, Callback, _as_path_error, _checked, _Told, _with_part
from .outliers import OutlierPath, Partitions
from .points import Places, Points
from .reading import Reading


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
    span: Callable[[Floats], tuple[float, float]],
    *,
    parameter: str,
    reading: Reading,
    near: Floats | None = None,
    callback: Callback | None = None,
    check: str = "warn",
) -> OutlierPath:
    """Follow the local optimum that the optimum of a convex problem turns into.

    Parameters
    ----------
    problem : Problem
        Of the same samples as the branches. Beside the values at its optimum these agree with it at
        the begin of the span.
    branches : Branches
    span : callable
        Of the values (n,) at this optimum, returns where the path begins and ends.
    parameter, reading, callback, check
        See `solution_path`.
    near : (n,) array, optional
        Signed duals near the optimum: the nearer, the faster the start.

    Raises
    ------
    PathError
        The path can't be followed to its end; ``error.path`` is the certified part.
    """
    check_choice(check, "check", CHECKS)
    told = None if callback is None else _Told(callback)
    try:
        start = _Start(problem, near)
        begin, end = span(start.z)
        walk = _at_the_start(start, branches, begin, end)
    except NUMERICAL as error:
        raise _as_path_error(error) from error
    lost: PathError | None = None
    try:
        walk.run(told)
    except (PathError, *NUMERICAL) as error:
        lost = _as_path_error(error)
        if not walk.homotopy.walk.now.nodes:
            raise lost from (None if lost is error else error)
    track = walk.track()
    found, falls = _partitions(track, walk.graphs), begin > end
    path = OutlierPath(
        branches,
        start.statement,
        Points.of_jumps(track),
        found.some(slice(None, None, -1)) if falls else found,
        falls=falls,
        parameter=parameter,
        reading=reading,
        diagnostics={"events": len(track.events)} | walk.counts,
    )
    if lost is not None:
        raise _with_part(lost, path)
    if told is not None:
        told(1.0, len(track.events))
    if check != "ignore":
        _checked(path, check, False)
    return path


def _at_the_start(start: _Start, branches: Branches, begin: float, end: float) -> JumpingWalk:
    """Return a walk that stands at the start."""
    statement = start.statement
    shapes = [shape_of_losses(line, statement.scale) for line in branches.lines]
    graphs = Walled(shapes, statement.shapes[1:], branches.still)
    branch, z = branches.at_values(begin, start.z), start.z * statement.scale
    own = graphs.on(branch, z, start.a, start.held, begin)

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
                rows, begins = [*rows, now.copy()], [*begins, k]
    of = np.searchsorted(begins, np.arange(len(track)), side="right") - 1
    return Partitions(np.stack(rows), of)
