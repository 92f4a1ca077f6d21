"""Which of a model's parameters varies: one rule for all functions.

A parameter with a value is fixed. Of the others the first in `ORDER` varies, unless ``vary`` names
one. Only the parameter that varies has limits.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

from ..validation import check_choice, check_number

ORDER = ("tau", "nu", "C", "lam", "s", "lam1", "lam2", "epsilon")


def what_varies(
    vary: str | None,
    given: dict[str, float | None],
    either: tuple[str, ...] = (),
    **limits: float | None,
) -> str:
    """Return the parameter that varies.

    Parameters
    ----------
    vary : str, optional
        As the user named it.
    given : dict
        The model's parameters, as the user gave them.
    either : tuple of str
        Parameters that express the same thing: where one is given, all of them are fixed.
    **limits : float, optional
        The ends of a path in each parameter, as in ``C_max``; None or 0 if not given.
    """
    vary = _varies(vary, given, either)
    for name, value in limits.items():
        whose = name.rsplit("_", 1)[0]
        if whose != vary and not (value is None or (isinstance(value, Real) and value == 0)):
            raise ValueError(
                f"{name} is a limit of a path in {whose}, but {vary} varies: leave it out, or let "
                f"{whose} vary."
            )
    return vary


def _varies(vary: str | None, given: dict[str, float | None], either: tuple[str, ...]) -> str:
    """Return the parameter that varies, without a look at limits."""
    named = [name for name, value in given.items() if value is not None]
    held = {*named, *(either if set(named) & set(either) else ())}
    choices = [name for name in ORDER if name in given]
    varying = [name for name in choices if name not in held]
    if vary is None and not varying:
        raise ValueError(f"{' and '.join(named)} are given: leave out the one that is to vary.")
    if vary is None:
        return varying[0]
    check_choice(vary, "vary", choices)
    if vary in held:
        other = vary if vary in named else next(name for name in named if name in either)
        raise ValueError(f"vary={vary!r} takes no {other}: leave it out, or let another one vary.")
    return vary


def fixed(name: str, value: float | None, default: float, **bounds: Any) -> float:
    """Return the value of a fixed parameter; see `check_number` for the bounds."""
    return check_number(default if value is None else value, name, **bounds)
