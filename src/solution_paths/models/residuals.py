"""Convex piecewise-linear losses of a residual, as users name them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from ..validation import Floats, check_number, check_vector, shown

Loss: TypeAlias = str | tuple[str, float] | tuple[Sequence[float], Sequence[float]]


def check_loss(loss: Loss) -> tuple[Floats, Floats]:
    """Return the knots and slopes of a loss."""
    wanted = (
        'loss must be "absolute", ("quantile", tau), ("epsilon_insensitive", epsilon) or a pair '
        f"(knots, slopes), not {shown(loss)}."
    )
    if isinstance(loss, str):
        if loss != "absolute":
            raise ValueError(wanted)
        return np.zeros(1), np.array([-1.0, 1.0])
    if not isinstance(loss, tuple | list) or len(loss) != 2:
        raise ValueError(wanted)
    name, value = loss
    if name == "quantile":
        tau = check_number(value, "tau", above=0)
        if not tau < 1:
            raise ValueError(f"tau must be < 1, not {tau:g}: choose a quantile inside (0, 1).")
        return np.zeros(1), np.array([tau - 1.0, tau])
    if name == "epsilon_insensitive":
        width = check_number(value, "epsilon", least=0)
        if width == 0:
            return np.zeros(1), np.array([-1.0, 1.0])
        return np.array([-width, width]), np.array([-1.0, 0.0, 1.0])
    if isinstance(name, str):
        raise ValueError(wanted)
    return _check_knots(name, value)


def judged_by(knots: Floats, slopes: Floats) -> dict[str, Any]:
    """Return what a loss with knots and slopes estimates: the `kind` of a reading, and its level.

    A loss whose only knot is 0 is the pinball loss of a quantile, up to a factor.
    """
    tau = float(slopes[-1] / (slopes[-1] - slopes[0]))
    if len(knots) > 1 or knots[0] != 0.0 or tau == 0.5:
        return {"kind": "robust"}
    return {"kind": "quantile", "level": tau}


def _check_knots(knots: Any, slopes: Any) -> tuple[Floats, Floats]:
    """Check the knots and slopes of a loss."""
    knots = check_vector(knots, np.size(knots), "knots", scalar=False, of="the loss")
    slopes = check_vector(slopes, len(knots) + 1, "slopes", scalar=False, of="the knots")
    if not (np.diff(knots) > 0).all() or not (np.diff(slopes) > 0).all():
        raise ValueError("knots and slopes of the loss must ascend strictly: sort and merge them.")
    if not slopes[0] < 0 < slopes[-1]:
        raise ValueError(
            "The loss's first slope must be < 0 and its last > 0, so that it has a least value; "
            f"they are {slopes[0]:g} and {slopes[-1]:g}."
        )
    return knots, slopes
