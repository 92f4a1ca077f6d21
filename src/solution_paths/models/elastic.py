"""Losses under an elastic net, or under a ridge and an l1 constraint, in any of its parameters.

The objective is ``sum_i share_i loss(z_i) + lam1 ||w||_1 + lam2/2 ||w||^2``, or the same with
``||w||_1 <= s`` in place of lam1. Divided by lam2 it is linear in 1 / lam2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..problem import Pieces, Problem
from ..validation import Floats, check_number
from .coefficients import l1_penalty
from .limits import down_to, from_least, up_to
from .samples import IN_INVERSE, Callback, Reading, Samples, SolutionPath, model_path, what_varies

LIMITS: dict[str, tuple[str, Callable[[Any, str], dict[str, Any]]]] = {
    "s": ("s_max", up_to),
    "lam1": ("lam1_min", from_least),
    "lam2": ("lam2_min", down_to),
}


def elastic_path(
    samples: Samples,
    loss: Callable[[Floats], Pieces],
    shares: Floats,
    reading: Reading,
    vary: str | None,
    given: dict[str, float | None],
    limits: Mapping[str, float | None],
    penalty: Callable[[float], Pieces] | None = None,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Return the path in one of s, lam1 and lam2.

    Parameters
    ----------
    samples : Samples
    loss : callable
        Returns the losses of all samples, given their costs (n,).
    shares : (n,) array
        The costs of samples.
    reading : Reading
    vary : {"s", "lam1", "lam2"}, optional
    given : dict
        s, lam1 and lam2, as the user gave them.
    limits : dict
        s_max, lam1_min and lam2_min, as the user gave them.
    penalty : callable, optional
        Returns the l1 penalty of coefficients, given its weight.
    callback, check
        See `dr_regression_path`.
    """
    vary = what_varies(vary, given, ("s", "lam1"), **limits)
    radius, price, ridge = _held(vary, **given)
    name, limit = LIMITS[vary]
    ends = limit(limits[name], name)
    data = samples.losses(loss(shares))
    l1 = l1_penalty(samples.features) if penalty is None else penalty
    free = radius is not None or (penalty is None and not price)  # no penalty where lam2 varies

    def model(t: float) -> Problem:
        if vary == "s":
            return Problem(data, ridge=ridge, constraint=t)
        if vary == "lam1":
            return Problem(data, l1(t), ridge=ridge)
        penalties = None if free else l1(t * (price or 0.0))  # over lam2 = 1 / t
        return Problem(samples.losses(loss(t * shares)), penalties, ridge=1.0, constraint=radius)

    scale = IN_INVERSE if vary == "lam2" else None
    # The saddle keeps w as unknowns: with small ridges rounding of the large duals would change w.
    face = "saddle" if vary == "lam2" and free and radius is None else "auto"
    options: dict[str, Any] = {"parameter": vary, "reading": reading, "scale": scale, "face": face}
    return model_path(model, **ends, **options, callback=callback, check=check)


def _held(
    vary: str, s: float | None, lam1: float | None, lam2: float | None
) -> tuple[float | None, float | None, float]:
    """Check the parameters; return s and lam1 where they are fixed, and lam2."""
    if vary == "lam2":
        if (s is None) == (lam1 is None):
            raise ValueError('vary="lam2" needs either s or lam1: give one of them.')
        if s is not None:
            return check_number(s, "s", above=0), None, 0.0
        return None, check_number(lam1, "lam1", least=0), 0.0
    return None, None, check_number(0.0 if lam2 is None else lam2, "lam2", least=0)
