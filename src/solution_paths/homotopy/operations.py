"""The operations that Python calls, in one compiled function, so that all is compiled once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .compiled import entry
from .jump import duals_of, may_touch, note_twice
from .loop import prepare, put, restart, walk, write_line, write_present
from .state import Walk

WALK, PREPARE, RESTART, PRESENT, PUT, DUALS, TOUCH, NOTE, LINE = range(9)
NO_OUTPUT = np.empty(0)


def operate(
    w: Walk,
    what: int,
    number: int = 0,
    place: int = 0,
    near: float = 0.0,
    out: NDArray[np.float64] = NO_OUTPUT,
) -> Any:
    """Do one of the operations, and return the result of its function as an integer.

    ``number`` counts steps, or names the coordinate that goes to ``place``; ``near`` is a distance
    of values or of t. Arguments of other types would compile the loop anew.
    """
    return operated(w, what, number, place, near, out)


@entry
def operated(w, what, number, place, near, out):
    """Do an operation: see `operate`."""
    if what == WALK:
        return walk(w, number)
    if what == PREPARE:
        return prepare(w, out)
    if what == PRESENT:
        return write_present(w, out)
    if what == PUT:
        return put(w, number, place)
    if what == DUALS:
        return duals_of(w, out)
    if what == TOUCH:
        return may_touch(w, near)
    if what == NOTE:
        return note_twice(w)
    if what == LINE:
        return write_line(w, out, near)
    restart(w)
    return 0
