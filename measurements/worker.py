"""A process of its own for each peer: it solves on command, and is killed when it overruns.

Its answers are judged here, after the clock has stopped, by code that knows no solver.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import resource
import time
from functools import lru_cache
from pathlib import Path

import numpy as np

from path_benchmark.solvers import judge

JUDGE_S = 400.0
CLEAR_PEAK = Path("/proc/self/clear_refs")  # Linux: writing 5 resets the peak of memory
STATUS = Path("/proc/self/status")


class Overrun(RuntimeError):
    """The peer took longer than it was given."""


class Worker:
    """Runs one peer; started anew after it was killed."""

    def __init__(self, peer: str):
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=serve, args=(other, peer), daemon=True)
        self._process.start()
        other.close()

    def run(self, key: str, what: str, limit_s: float, bounds: dict | None = None) -> dict:
        """Solve a problem ("warm" or "time"); raise `Overrun` or RuntimeError.

        ``bounds`` maps parameter values to certified lower bounds of the objective, for answers
        without a dual solution.
        """
        self._pipe.send((key, what, bounds or {}))
        found = self._wait(limit_s, f"stopped after {limit_s:g} s")
        return found | self._wait(JUDGE_S, f"the judge took longer than {JUDGE_S:g} s")

    def _wait(self, limit_s: float, otherwise: str) -> dict:
        if not self._pipe.poll(limit_s):
            self.stop()
            raise Overrun(otherwise)
        try:
            result = self._pipe.recv()
        except EOFError as error:
            raise RuntimeError("its process died, out of memory perhaps") from error
        if "error" in result:
            raise RuntimeError(result["error"])
        return result

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()


def serve(pipe, peer: str) -> None:
    """Answer until the other end is closed."""
    import problems
    from threadpoolctl import threadpool_limits

    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # qpOASES prints its licence at each call
    module = importlib.import_module(f"peers.{peer}")
    build = lru_cache(maxsize=1)(problems.build)
    seen: set[str] = set()
    with threadpool_limits(1):
        while True:
            try:
                key, what, bounds = pipe.recv()
            except EOFError:
                return
            try:
                problem = build(key)
                result, run = timed(module, problem.head() if what == "warm" else problem)
                pipe.send(result)
                verdict = {}
                if what == "time":
                    verdict = score(problem, run, bounds)
                    verdict |= {} if key in seen else run.later()
                    seen.add(key)
                pipe.send(verdict)
            except Exception as error:
                pipe.send({"error": f"{type(error).__name__}: {error}"})


def timed(module, problem) -> tuple[dict, object]:
    """Solve once; return seconds and peak memory, and the run."""
    reset = clear_peak()
    wall, cpu = time.perf_counter(), time.process_time()
    run = module.solve(problem)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    result = {
        "seconds": run.clock[1] if run.clock else cpu,
        "wall_s": run.clock[0] if run.clock else wall,
        "whole_wall_s": wall,
        "count": run.count,
        "note": run.note,
        "peak_mb": peak_mb(),
        "peak_of": "this run" if reset else "process",
    }
    return result, run


def score(problem, run, bounds: dict) -> dict:
    """Worst KKT violation and relative gap over the points that were handed out."""
    kkt, gap, rounding, dual = [], [], [], {}
    for k, t in enumerate(run.points):
        verdict = judge(problem.at(t), run.answer(k), lower_bound=bounds.get(place(t)))
        kkt.append(verdict.kkt)
        gap.append(verdict.gap)
        rounding.append(verdict.rounding)
        if np.isfinite(verdict.gap):
            dual[place(t)] = verdict.dual
    worst = {"kkt": kkt, "gap": gap, "rounding": rounding}
    worst = {name: float(max(values, key=_nan_first)) for name, values in worst.items()}
    return worst | {"n_points": len(gap), "bounds": dual}


def place(t: float) -> float:
    """Parameter values that mean the same, rounding aside."""
    return round(float(t), 9)


def _nan_first(value: float) -> float:
    return np.inf if np.isnan(value) else value


def clear_peak() -> bool:
    """Forget the peak of memory; tell whether that was possible."""
    try:
        CLEAR_PEAK.write_text("5")
    except OSError:
        return False
    return True


def peak_mb() -> float:
    """Peak resident memory since the last `clear_peak`, else of the process."""
    if STATUS.is_file():
        for row in STATUS.read_text().splitlines():
            if row.startswith("VmHWM"):
                return int(row.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
