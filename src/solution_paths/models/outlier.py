"""What the outlier paths of classification and regression share."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..objectives import Solution
from ..objectives.robust import Robust
from ..outliers import OutlierPath
from ..path import Leg
from ..validation import Floats
from ..walks.jumps import JumpingWalk, Walls
from ..walks.map import Map
from ..walks.staircase import Staircases
from ..walks.walker import NUMERICAL, Walker, WalkError, start
from .common import Progress, finish, operator_of

HOMOTOPIES = ("theta", "s")


def convex_start(
    objective: Robust,
    stairs: Staircases,
    op: Map | None,
    guess: Floats | None,
    lazy: bool,
    progress: Progress,
) -> Walker:
    """Return a walker at the optimum of the standard machine, whose staircases are given.

    ``op`` is the map, where it is known already; it can be used again. ``guess`` are duals near the
    optimum.
    """
    op = operator_of(objective) if op is None else op
    state = None
    if guess is not None:
        state = 2 * np.argmin(np.abs(stairs.level0 - guess[:, None]), axis=1)
    walker = start(op, stairs, 0.0, state, lazy=lazy, callback=progress)
    progress.next(walker.start_events)
    return walker


def outlier_path(
    walker: Walker,
    objective: Robust,
    walls: Walls,
    span: tuple[float, float],
    factor: float,
    progress: Progress,
    check: str,
) -> OutlierPath:
    """Walk through ``span``, which is in factor times the parameter, and return the path."""
    parameter = "theta" if objective.theta1 else "s"
    start_events, error = walker.start_events, None

    def improve(duals: Floats, u: float) -> NDArray[np.int64] | None:
        return objective.better_partition(Solution(duals), factor * u)[1]

    walk = JumpingWalk(walker, walls, *span, improve)
    try:
        walk.walk(progress)
        trace = walk.trace()
    except WalkError as broken:
        error, trace = broken, broken.trace
    except NUMERICAL as broken:
        trace = walk.trace()
        error = WalkError(f"{type(broken).__name__}: {broken}", trace)
    progress.next(len(trace.coordinate))
    counts = {"events": len(trace.coordinate)} | walk.counts | {"start_events": start_events}
    leg = Leg(trace, 0.0, factor)
    found = finish(parameter, [leg], objective, counts, error, check=check, kind=OutlierPath)
    return cast(OutlierPath, found)


def set_aside(walls: Walls, still: NDArray[np.bool_], piece: NDArray[Any]) -> None:
    """Let samples whose rows are zero stay on a piece: without a bias their values are 0."""
    for i in np.flatnonzero(still):
        for levels in (walls.stairs.level0, walls.stairs.level1):
            levels[i, 0] = levels[i, piece[i]]
        walls.stairs.n_kinks[i] = 0
