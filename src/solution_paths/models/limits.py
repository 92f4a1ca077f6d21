"""The range of a path's parameter: from what users give to the arguments of `model_path`.

Each function returns ``t0``, ``t1`` and the arguments that belong to them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..kernels.centred import Centred, plain_kernel
from ..validation import HUGE, check_number

if TYPE_CHECKING:
    from . import samples

LAST_COST = 1e6  # of a kernel with K_ii = 1: 30 times the largest C that users search


def between(t0: float, t1: float) -> dict[str, Any]:
    """Return a range with both its ends."""
    return {"t0": t0, "t1": t1}


def up_to(most: float | None, name: str) -> dict[str, Any]:
    """Return the range from 0 to the largest value of a parameter; to infinity where it is None."""
    if most is None:
        return {"t0": 0.0, "t1": np.inf}
    return {"t0": 0.0, "t1": check_number(most, name, above=0, infinite=True), "limit": name}


def down_to(least: float, name: str) -> dict[str, Any]:
    """Return the range from infinity to the least value of a parameter, at which t is 1 / value."""
    end = inverse_end(check_number(least, name, least=0))
    return {"t0": 0.0, "t1": end, "limit": name if end < np.inf else None}


def from_least(least: float, name: str) -> dict[str, Any]:
    """Return the range from the least value of a parameter to infinity."""
    begin = check_number(least, name, least=0)
    return {"t0": begin, "t1": np.inf, "limit": name if begin > 0.0 else None}


def inverse_end(least: float) -> float:
    """Return the end of a path in 1 / lam that goes down to the least lam; infinity for 0."""
    if least == 0.0:
        return float("inf")
    end = 1.0 / least
    return end if 1.0 / end <= least else float(np.nextafter(end, np.inf))


def cost_range(
    samples: samples.Samples, end: float | None, largest: float, limit: str = "C_max"
) -> dict[str, Any]:
    """Return the range of a path in a cost.

    Parameters
    ----------
    samples : Samples
    end : float, optional
        By default infinity; with a kernel the first breakpoint beyond `usual_limit`.
    largest : float
        The largest cost of a sample, divided by the parameter.
    limit : str
        The name of the argument that gives the end.
    """
    if end is not None:
        return up_to(end, limit)
    enough = np.inf if samples.linear else usual_limit(samples.kernel, samples.X) / largest
    return up_to(None, limit) | {"enough": enough, "limit": limit}


def usual_limit(kernel: Centred, X: Any) -> float:
    """Return the cost after which the path of a kernel machine stops by default.

    Rounding dominates where C times the mean of K_ii is about 1e6 to 1e7.
    """
    return LAST_COST / min(max(float(plain_kernel(kernel).diagonal(X).mean()), 1.0 / HUGE), 1.0)
