"""One loss under an elastic net, or under a ridge and an l1 constraint, in any of its parameters.

The objective is ``1/n sum_i loss(z_i) + lam1 ||w||_1 + lam2/2 ||w||^2``, or the same with
``||w||_1 <= s`` in place of lam1. Over lam2 all of it is linear in 1 / lam2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..problem import Pieces, Problem, penalties
from ..validation import check_choice, check_number
from .stated import IN_INVERSE, Callback, Reading, Samples, SolutionPath, end_of, solution_path

VARIED = ("s", "lam1", "lam2")


def elastic_path(
    samples: Samples,
    loss: Callable[[float], Pieces],
    reading: Reading,
    vary: str,
    given: dict[str, float | None],
    lam2_min: float = 0.0,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Return the path in one of s, lam1 and lam2.

    Parameters
    ----------
    samples : Samples
    loss : callable
        The losses of all samples, by their cost.
    reading : Reading
    vary : {"s", "lam1", "lam2"}
    given : dict
        s, lam1 and lam2, as the user gave them.
    lam2_min, callback, check
        See `dr_regression_path`.
    """
    radius, price, ridge = _held(vary, **given)
    end = end_of(check_number(lam2_min, "lam2_min", least=0)) if vary == "lam2" else np.inf
    data = samples.losses(loss(1.0 / samples.n))

    def model(t: float) -> Problem:
        if vary == "s":
            return Problem(data, ridge=ridge, constraint=t)
        if vary == "lam1":
            return Problem(data, penalties.l1(samples.features, t), ridge=ridge)
        own = samples.losses(loss(t / samples.n))  # over lam2 = 1 / t
        penalty = penalties.l1(samples.features, t * price) if price else None
        return Problem(own, penalty, ridge=1.0, constraint=radius)

    scale = IN_INVERSE if vary == "lam2" else None
    # Weights are unknowns: of small ridges the duals are so large that rounding them moves these.
    told: dict[str, Any] = {"parameter": vary, "reading": reading, "scale": scale, "face": "saddle"}
    return solution_path(model, 0.0, end, **told, callback=callback, check=check)


def _held(
    vary: str, s: float | None, lam1: float | None, lam2: float | None
) -> tuple[float | None, float | None, float]:
    """Check the parameters; return s and lam1 where they stand still, and lam2."""
    check_varied(vary, {"s": s, "lam1": lam1, "lam2": lam2}, VARIED)
    if vary == "lam2":
        if (s is None) == (lam1 is None):
            raise ValueError('vary="lam2" needs either s or lam1: give one of them.')
        if s is not None:
            return check_number(s, "s", above=0), None, 0.0
        return None, check_number(lam1, "lam1", least=0), 0.0
    if s is not None or lam1 is not None:
        other = "lam1" if vary == "s" else "s"
        raise ValueError(f"vary={vary!r} takes no {other}: leave it out, or vary lam2.")
    return None, None, check_number(lam2 or 0.0, "lam2", least=0)


def check_varied(vary: str, given: dict[str, float | None], choices: tuple[str, ...]) -> None:
    """Check which parameter varies, and that it isn't given a value."""
    check_choice(vary, "vary", choices)
    if given[vary] is not None:
        raise ValueError(f"{vary} is what varies (vary={vary!r}): don't give {vary}.")
