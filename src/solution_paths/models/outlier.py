"""What the outlier paths of classification and regression share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..engine.jumps import JumpingWalk, Walls
from ..engine.operators import Operator
from ..engine.staircase import Staircases
from ..engine.starts import SWEEPS, coordinate_descent, start_from_guess
from ..engine.tolerances import Tolerances
from ..engine.walker import NUMERICAL, Walker, WalkError
from ..errors import PathError
from ..objectives import Solution
from ..objectives.robust import Robust
from ..outliers import OutlierPath
from ..path import Leg
from ..validation import Floats
from .common import Progress, finish, operator_of

HOMOTOPIES = ("theta", "s")
ROUGHLY = 1e-3  # what coordinate descent is asked for, for a guess


def convex_start(
    objective: Robust,
    stairs: Staircases,
    op: Operator | None,
    guess: Floats | None,
    tolerances: Tolerances | None,
    lazy: bool,
    progress: Progress,
) -> Walker:
    """Return a walker at the optimum of the standard machine, whose staircases are given.

    ``op`` is the map, where it is known already; it can be used again. ``guess`` are duals near the
    optimum.
    """
    if op is None:
        op = operator_of(objective)
    lowest = stairs.level0[np.arange(len(stairs)), stairs.n_kinks]
    highest = stairs.level0[:, 0]
    if guess is None:
        guess = coordinate_descent(
            op, objective.y, lowest, highest, np.zeros(len(lowest)), 0.0, SWEEPS, ROUGHLY
        )
    # Many duals inside their boxes may make a system that is singular but for rounding; with all
    # of them at a level the walk pins one after the other.
    guesses = np.clip(guess, lowest, highest), np.where(objective.y > 0, highest, lowest)
    for number, near in enumerate(guesses):
        own = replace(op, norm=op.norm.copy(), radius=op.radius.copy())  # a walk changes these
        try:
            walker = start_from_guess(own, stairs, 0.0, near, tolerances, lazy, callback=progress)
            break
        except PathError:
            if number:
                raise
    progress.next(walker.start_events)
    return walker


def outlier_path(
    walker: Walker,
    objective: Robust,
    walls: Walls,
    span: tuple[float, float],
    factor: float,
    lazy: bool,
    progress: Progress,
    check: str,
) -> OutlierPath:
    """Walk through ``span``, which is in factor times the parameter, and return the path."""
    parameter = "theta" if objective.theta1 else "s"
    start_events, error = walker.start_events, None

    def improve(duals: Floats, u: float) -> NDArray[np.int64] | None:
        return objective.better_partition(Solution(duals), factor * u)[1]

    walk = JumpingWalk(walker, walls, span[0], improve)
    try:
        walk.walk(span[1], lazy, progress)
        trace = walker.trace()
    except WalkError as broken:
        error, trace = broken, broken.trace
    except NUMERICAL as broken:
        trace = walker.trace()
        error = WalkError(f"{type(broken).__name__}: {broken}", trace)
    progress.next(walker.events)
    counts = walker.statistics() | walk.counts | {"start_events": start_events}
    leg = Leg(trace, 0.0, factor)
    found = finish(parameter, [leg], objective, counts, error, check=check, kind=OutlierPath)
    return cast(OutlierPath, found)


def set_aside(walker: Walker, walls: Walls, still: NDArray[np.bool_], piece: NDArray[Any]) -> None:
    """Let samples whose rows are zero stay on a piece: without a bias their values are 0."""
    for i in np.flatnonzero(still):
        for levels in (walls.stairs.level0, walls.stairs.level1):
            levels[i, 0] = levels[i, piece[i]]
        walls.stairs.n_kinks[i] = 0
    walker.s.state[still] = 0
