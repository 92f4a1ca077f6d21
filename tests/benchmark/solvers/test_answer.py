"""Seconds of outside solvers."""

import time

from path_benchmark.runs.timing import stopwatch
from path_benchmark.solvers import Stopwatch


def test_cpu_seconds_are_not_those_of_the_wall():
    with Stopwatch() as asleep:
        time.sleep(0.1)
    assert asleep.wall_s >= 0.1
    assert asleep.cpu_s < 0.5 * asleep.wall_s
    calls, begin = [], time.perf_counter()
    timing = stopwatch(lambda: calls.append(time.sleep(0.002)), shortest_s=0.2)
    assert len(calls) > 1
    assert 0.002 <= timing.wall_s <= (time.perf_counter() - begin) / (len(calls) - 1)  # the mean
