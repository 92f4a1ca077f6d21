"""Times: methods take turns in one process; each repeat is a row."""

from __future__ import annotations

import gc
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..solvers import Stopwatch
from .cells import Report
from .rows import Rows, or_none


@dataclass(frozen=True)
class Timing:
    """Seconds of one call, and its result."""

    cpu_s: float
    wall_s: float
    result: Any

    @property
    def seconds(self) -> dict[str, float | None]:
        """Both, by the names of their columns."""
        return {"cpu_s": or_none(self.cpu_s), "wall_s": or_none(self.wall_s)}


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
    """One call in a contest.

    Attributes
    ----------
    method : str
        The method of its rows.
    call : function
        Returns a `Timing` of the solver alone.
    columns : function
        (repeat, timing) -> further columns of the repeat's row: what a judge says of the result.
    beside : function
        (repeat, timing) -> metrics that stand in rows of their own, with the same columns.
    group : hashable
        Calls of one group (one method at many parameters) share a budget.
    """

    method: str
    call: Callable[[], Timing]
    columns: Callable[[int, Timing], dict[str, Any]]
    beside: Callable[[int, Timing], dict[str, float]]
    group: Hashable


def nothing(repeat: int, timing: Timing) -> dict[str, Any]:
    """Return no columns and no metrics."""
    return {}


class Contest:
    """Entrants that take turns, round after round, so that load of the machine affects all alike.

    Warm up before, as the first round is recorded. Each repeat is a row of the metric ``time``.

    Parameters
    ----------
    rows : Rows
    repeats : int
        Rounds for each entrant.
    budget_s : float
        Wall seconds for all repeats of a group; a slower group has fewer rounds, at least one.
    report : callable
    """

    def __init__(self, rows: Rows, repeats: int, budget_s: float, report: Report) -> None:
        self.rows, self.repeats, self.budget_s, self.report = rows, repeats, budget_s, report
        self.entrants: list[Entrant] = []

    def enter(
        self,
        method: str,
        call: Callable[[], Timing],
        columns: Callable[[int, Timing], dict[str, Any]] = nothing,
        beside: Callable[[int, Timing], dict[str, float]] = nothing,
        group: Hashable = None,
    ) -> None:
        """Add an entrant, of its method's group unless it has one; they run in this order."""
        self.entrants.append(Entrant(method, call, columns, beside, group or method))

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

    def record(self, entrant: Entrant, repeat: int, timing: Timing) -> None:
        """Add the rows of one repeat."""
        columns = {"method": entrant.method, "repeat": repeat, **timing.seconds}
        columns |= entrant.columns(repeat, timing)
        self.rows.add("time", or_none(timing.cpu_s), **columns)
        self.rows.add_all(entrant.beside(repeat, timing), **columns)

    def run(self) -> None:
        """Time all entrants and record every repeat."""
        gc.freeze()  # excludes the many objects of compilers from collections
        for count, (entrant, repeat, timing) in enumerate(self.turns(), start=1):
            self.record(entrant, repeat, timing)
            self.report(min(0.99, count / (len(self.entrants) * self.repeats)))
