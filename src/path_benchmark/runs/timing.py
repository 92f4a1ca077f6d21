"""The timing lane: methods take turns in one process; each repeat is a row."""

from __future__ import annotations

import gc
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..solvers import Stopwatch
from .cells import Report


@dataclass(frozen=True)
class Timing:
    """Seconds of one call, and its result."""

    cpu_s: float
    wall_s: float
    result: Any

    @property
    def seconds(self) -> dict[str, float]:
        """Both, by the names of their columns."""
        return {"cpu_s": self.cpu_s, "wall_s": self.wall_s}


def stopwatch(call: Callable[[], Any], shortest_s: float = 0.0) -> Timing:
    """Time a call; one shorter than ``shortest_s`` is repeated to fill about that time.

    The result is then the mean, as clocks resolve about a microsecond.
    """
    with Stopwatch() as watch:
        result = call()
    count = 1
    if watch.wall_s < shortest_s:
        count = int(np.ceil(shortest_s / max(watch.wall_s, 1e-7)))
        with Stopwatch() as watch:
            for _ in range(count):
                result = call()
    return Timing(watch.cpu_s / count, watch.wall_s / count, result)


@dataclass(frozen=True)
class Entrant:
    """One call in the lane.

    Attributes
    ----------
    call : function
        Returns a `Timing` of the solver alone.
    record : function
        (repeat, timing) -> None; records the repeat.
    group : hashable
        Calls of one group (one method at many parameters) share a budget.
    """

    call: Callable[[], Timing]
    record: Callable[[int, Timing], None]
    group: Hashable


class Lane:
    """Entrants that take turns, round after round, so that load of the machine affects all alike.

    Warm up before, as the first round is recorded.

    Parameters
    ----------
    repeats : int
        Rounds for each entrant.
    budget_s : float
        Wall seconds for all repeats of a group; a slower group has fewer rounds, at least one.
    report : callable
    """

    def __init__(self, repeats: int, budget_s: float, report: Report) -> None:
        self.repeats, self.budget_s, self.report = repeats, budget_s, report
        self.entrants: list[Entrant] = []

    def add(self, call: Callable, record: Callable, group: Hashable) -> None:
        """Add an entrant; they run in the order in which they were added."""
        self.entrants.append(Entrant(call, record, group))

    def _rounds(self, entrant: Entrant, first_s: float) -> int:
        if not np.isfinite(first_s):
            return 1  # not available, or over budget: one row says so
        calls = sum(other.group == entrant.group for other in self.entrants)
        return int(np.clip(self.budget_s / max(calls * first_s, 1e-9), 1, self.repeats))

    def turns(self) -> Iterator[tuple[Entrant, int, Timing]]:
        """Time every entrant in turn; yield (entrant, repeat, timing)."""
        wanted, done = [1] * len(self.entrants), 0
        while any(rounds > done for rounds in wanted):
            for k, entrant in enumerate(self.entrants):
                if wanted[k] > done:
                    gc.collect()  # garbage of earlier repeats, outside every timing
                    timing = entrant.call()
                    if done == 0:
                        wanted[k] = self._rounds(entrant, timing.wall_s)
                    yield entrant, done, timing
            done += 1

    def run(self) -> None:
        """Time all entrants and record every repeat."""
        gc.freeze()  # excludes the many objects of compilers from collections
        for count, (entrant, repeat, timing) in enumerate(self.turns(), start=1):
            entrant.record(repeat, timing)
            self.report(min(0.99, count / (len(self.entrants) * self.repeats)))
