"""Paths between two weight vectors of samples, which can be continued."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from ..problem import Pieces, Problem
from ..solution import Onward
from ..validation import Floats
from .samples import Samples, SolutionPath, model_path
from .weights import check_usable


def weighted_path(
    samples: Samples,
    losses: Callable[[Floats], Pieces],
    ends: tuple[Floats, Floats],
    y: Floats,
    *,
    after: SolutionPath | None = None,
    reading: Any,
    callback: Any,
    check: str,
) -> SolutionPath:
    """Return the path in theta between two weight vectors, which can be continued.

    Parameters
    ----------
    samples : Samples
    losses : callable
        Returns the losses, given weights (n,).
    ends : weights at theta = 0 and at theta = 1
    y : (n,) array
        Labels -1 and +1, or targets.
    after : SolutionPath, optional
        The path that this one continues.
    reading, callback, check
        See `solution_path`.
    """
    start, end = ends

    def model(theta: float) -> Problem:
        return samples.machine(losses((1.0 - theta) * start + theta * end))

    options: dict[str, Any] = {"reading": reading, "callback": callback, "check": check}
    path = model_path(model, 0.0, 1.0, parameter="theta", keep=True, after=after, **options)
    classes = reading.classes

    def onward(after: SolutionPath, new_weights: ArrayLike) -> SolutionPath:
        weights = check_usable(new_weights, y, "new_weights", classes)
        return weighted_path(samples, losses, (end, weights), y, after=after, **options)

    labels = classes[(y > 0).astype(int)] if len(classes) else None
    path.onward = Onward(onward, end, labels)
    return path
