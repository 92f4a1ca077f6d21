"""How far paths go along their parameter: what users say of its range, as `model_path` takes it.

Each function returns its arguments ``t0``, ``t1`` and what else belongs to them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..kernels.centred import Centred, plain_kernel
from ..validation import HUGE, check_number

if TYPE_CHECKING:
    from . import samples

SEARCHED = 1e6  # costs C of a kernel with K_ii = 1: 30 times the largest that users look at


def between(t0: float, t1: float) -> dict[str, Any]:
    """Return a range with both its ends."""
    return {"t0": t0, "t1": t1}


def up_to(most: float | None, name: str) -> dict[str, Any]:
    """Return the range from 0 to the largest value of a parameter; for ever where that is None."""
    if most is None:
        return {"t0": 0.0, "t1": np.inf}
    return {"t0": 0.0, "t1": check_number(most, name, above=0, infinite=True), "limit": name}


def down_to(least: float, name: str) -> dict[str, Any]:
    """Return the range from infinity to the least value of a parameter, at which t is 1 / value."""
    end = end_of(check_number(least, name, least=0))
    return {"t0": 0.0, "t1": end, "limit": name if end < np.inf else None}


def from_least(least: float, name: str) -> dict[str, Any]:
    """Return the range from the least value of a parameter to infinity."""
    begin = check_number(least, name, least=0)
    return {"t0": begin, "t1": np.inf, "limit": name if begin > 0.0 else None}


def end_of(least: float) -> float:
    """Return where a path in 1 / lam ends that goes down to the least lam, if not to 0."""
    if least == 0.0:
        return float("inf")
    end = 1.0 / least
    return end if 1.0 / end <= least else float(np.nextafter(end, np.inf))


def of_costs(
    samples: samples.Samples, end: float | None, largest: float, limit: str = "C_max"
) -> dict[str, Any]:
    """Return how far a path in costs goes.

    Parameters
    ----------
    samples : Samples
    end : float, optional
        By default for ever; with a kernel to the first breakpoint beyond `usual_limit`.
    largest : float
        The largest cost of a sample, by the parameter.
    limit : str
        What users call the end.
    """
    if end is not None:
        return up_to(end, limit)
    enough = np.inf if samples.linear else usual_limit(samples.kernel, samples.X) / largest
    return up_to(None, limit) | {"enough": enough, "limit": limit}


def usual_limit(kernel: Centred, X: Any) -> float:
    """Return the cost after which the path of a kernel machine stops unless told otherwise.

    Rounding takes over where C times the mean of K_ii is about 1e6 to 1e7.
    """
    return SEARCHED / min(max(float(plain_kernel(kernel).diagonal(X).mean()), 1.0 / HUGE), 1.0)
