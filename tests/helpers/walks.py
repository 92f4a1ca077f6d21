"""A walk as the tests of the homotopy look at it: points in its order, on any face."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from solution_paths.homotopy import loop
from solution_paths.homotopy.operations import PREPARE, WALK, operate
from solution_paths.homotopy.state import ALWAYS
from solution_paths.homotopy.statement import ParametricKKT, read
from solution_paths.homotopy.track import Track
from solution_paths.problem import along
from solution_paths.solution import follow


@dataclass
class Walk:
    """Every optimum between two values of a parameter: t (K,) at both ends of each piece."""

    statement: ParametricKKT
    t: np.ndarray
    track: Track

    @cached_property
    def unknowns(self):
        return self.track.unknowns(np.arange(len(self.t)))[:, 0]

    @property
    def breakpoints(self):
        return self.t[1:-1:2]

    def at(self, t):
        """Return w, v and duals at t, which lies on the line between two recorded points."""
        way = 1.0 if self.t[-1] >= self.t[0] else -1.0
        if not way * self.t[0] <= way * t <= way * self.t[-1]:
            first, last = self.t[0], self.t[-1]
            raise ValueError(f"t = {t} is outside the path, which goes from {first} to {last}.")
        k = np.searchsorted(way * self.t, way * t, side="right") - 1
        k = int(np.clip(k, 0, len(self.t) - 2))
        h = self.t[k + 1] - self.t[k]
        share = (t - self.t[k]) / h if h else 0.0
        return self.statement.answer((1 - share) * self.unknowns[k] + share * self.unknowns[k + 1])


def walked(model, t0, t1, face="auto", before=None):
    """Return the walk along model(t) from t0 to t1; ``before`` each step its memory is changed."""
    line = along(model, t0, t1)
    statement = read(line, face)
    homotopy = follow._homotopy_at_start(line, statement, face)
    if before is None:
        track, lost = follow.walked_to_end(line, homotopy, None)
        if lost is not None:
            raise lost
    else:
        track = stepwise(homotopy, before)
    t = (t0 + track.t[:, 0]) + track.t[:, 1]
    t[-1] = t1
    return Walk(statement, t, track)


def stepwise(homotopy, before):
    """Walk to the end in single steps."""
    for _ in range(10_000):
        before(homotopy.walk)
        ending = operate(homotopy.walk, WALK, 1)
        if ending == loop.DONE:
            return homotopy.track()
        assert ending in (loop.MORE_ROOM, loop.DENSER)
        homotopy.grow_memory(ending)
    raise AssertionError("the walk doesn't end")


def solve_afresh(walk):
    """Compute the inverse, the point and what known coordinates add up to from the places alone."""
    operate(walk, PREPARE, out=np.empty(walk.map.N))


def look_at_all(walk):
    """Let all known coordinates be looked at, whatever odometers say of them."""
    walk.due[walk.known == 1] = ALWAYS
    walk.block[:] = ALWAYS
    walk.line[:, 0] = 0.0
