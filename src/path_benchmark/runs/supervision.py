"""Run a job's work in a process of its own, and end it where an outside solver oversteps a limit.

A call into compiled code can't be interrupted from inside: a solver that hangs, eats memory or
crashes takes the process with it. So the work runs in a child. It says before each call which
solver it calls; the parent looks at the clock and at the child's memory, and ends it. The child is
then started again. Finished cells are kept, and the call that did it is refused, which makes it a
row with its reason. What is measured is measured in one process, as without a supervisor.
"""

from __future__ import annotations

import ctypes
import json
import multiprocessing
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import psutil

from path_benchmark import solvers
from solution_paths.files import write_text

from ..settings import Positive, Settings

# Seconds between two looks at a child that is in a solver.
LOOK_S = 0.2
MB = 2**20
# Asks Linux to end a process when its parent ends; elsewhere a child left alone ends its cell.
_PR_SET_PDEATHSIG = 1
# What to call the cell that is running, and the count of each solver's calls in it.
_cell: dict[str, Any] = {"name": "", "calls": {}}
_tell: Callable[..., None] = lambda *message: None  # noqa: E731


class JobFailed(RuntimeError):
    """The work ended in an error, or its process did: one sentence says how."""


class Limits(Settings):
    """What one call of an outside solver may take.

    Attributes
    ----------
    minutes : float
        Of wall-clock time.
    memory_mb : float
        Beyond what its process holds when the call begins.
    """

    minutes: Positive = 30.0
    memory_mb: Positive = 16000.0


@dataclass
class _Call:
    """A solver's call that the child is in."""

    key: tuple[str, str, int]
    began: float
    memory: int


@dataclass
class _Watch:
    """What the parent knows: refusals, and of how many cells it heard."""

    limits: Limits
    refused: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)
    killed: set[tuple[str, str, int]] = field(default_factory=set)
    cells: set[str] = field(default_factory=set)
    call: _Call | None = None
    result: Any = None
    error: str | None = None


def announce(cell: str) -> None:
    """Say that a cell begins; solvers' calls are counted from here."""
    _cell.update(name=cell, calls={})
    _tell("cell", cell)


def supervised(work: Callable[[], Any], limits: Limits) -> tuple[Any, dict[str, float]]:
    """Do the work in a child process, again from its last finished cell where a solver ended it.

    Parameters
    ----------
    work : callable
        Calls `announce` for each cell; what it returns is sent back.
    limits : Limits

    Returns
    -------
    tuple
        What ``work`` returned, and what it cost: ``wall_s``, ``cpu_s``, ``peak_mb``, ``cells`` that
        were run.

    Raises
    ------
    JobFailed
        The work raised an error, or its process ended outside any solver.
    """
    watch, began, before = _Watch(limits), time.monotonic(), _usage()
    while not _finished(work, watch):
        watch.call = None
    if watch.error is not None:
        raise JobFailed(watch.error)
    spent = _usage()
    return watch.result, {
        "wall_s": time.monotonic() - began,
        "cpu_s": spent[0] - before[0],
        "peak_mb": spent[1],
        "cells": len(watch.cells),
    }


def write_cost(file: Path, cost: dict[str, float], cells: int) -> None:
    """Write down what a job cost, unless it found some of its cells done already."""
    if cost["cells"] == cells:
        write_text(file, json.dumps({name: round(value, 2) for name, value in cost.items()}))


def _usage() -> tuple[float, float]:
    """CPU seconds of the children so far, and the most memory that one of them held, in MB."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / MB
    return used.ru_utime + used.ru_stime, peak


# ---------------------------------------------------------------- the parent


def _finished(work: Callable[[], Any], watch: _Watch) -> bool:
    """Run a child to its end; return False where the work must be taken up again."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(work, there, watch.refused), daemon=True)
    child.start()
    there.close()
    try:
        while child.is_alive() or here.poll():
            wait([here, child.sentinel], LOOK_S if watch.call else None)
            while here.poll():
                _hear(here, child, watch)
            reason = watch.call and _overstepped(child, watch.call, watch.limits)
            if reason:
                return _refuse(child, watch, reason)
    except EOFError:  # it has closed its end: it is ending
        pass
    child.join()
    return _ended(child, watch)


def _hear(here: Connection, child: BaseProcess, watch: _Watch) -> None:
    """Take one message of the child."""
    what, *content = here.recv()
    if what == "cell":
        watch.cells.add(content[0])
    elif what == "solve":
        with suppress(psutil.Error):
            watch.call = _Call(content[0], time.monotonic(), _memory(child))
    elif what == "solved":
        watch.call = None
    elif what == "result":
        watch.result = content[0]
    elif what == "error":
        watch.error = content[0]


def _memory(child: BaseProcess) -> int:
    return psutil.Process(child.pid).memory_info().rss


def _overstepped(child: BaseProcess, call: _Call, limits: Limits) -> str | None:
    """Say which limit a call has overstepped, if any."""
    if time.monotonic() - call.began > 60.0 * limits.minutes:
        return f"stopped after {limits.minutes:g} minutes, the limit of one call"
    with suppress(psutil.Error):  # it ended just now
        if _memory(child) - call.memory > limits.memory_mb * MB:
            return f"stopped at {limits.memory_mb:g} MB of memory, the limit of one call"
    return None


def _refuse(child: BaseProcess, watch: _Watch, reason: str) -> bool:
    """End the child; refuse this call, and the solver's later ones in the cell, from now on."""
    child.kill()
    child.join()
    cell, name, count = watch.call.key
    watch.refused[cell, name] = (count, reason)
    return False


def _ended(child: BaseProcess, watch: _Watch) -> bool:
    """Judge how a child ended by itself; return False where the work must be taken up again."""
    if watch.error is not None or child.exitcode == 0:
        return True
    how = f"status {child.exitcode}"
    if child.exitcode < 0:
        how = f"signal {signal.Signals(-child.exitcode).name}"
    asked = child.exitcode in (-signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP)
    if watch.call is None or asked:
        watch.error = f"the job's process ended with {how}; run the same command again"
        return True
    # A kill from outside says nothing about the solver, unless it strikes there twice.
    if child.exitcode == -signal.SIGKILL and watch.call.key not in watch.killed:
        watch.killed.add(watch.call.key)
        return False
    return _refuse(child, watch, f"its process ended with {how}")


# ---------------------------------------------------------------- the child


def _child(work: Callable[[], Any], there: Connection, refused: dict) -> None:
    """Do the work, and send what came of it."""
    global _tell
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    _tell = lambda *message: there.send(message)  # noqa: E731

    @contextmanager
    def guard(name: str) -> Iterator[str | None]:
        count = _cell["calls"][name] = _cell["calls"].get(name, 0) + 1
        first, reason = refused.get((_cell["name"], name), (None, None))
        if first is not None and count >= first:
            yield reason if count == first else f"not run: an earlier call {reason}"
            return
        _tell("solve", (_cell["name"], name, count))
        yield None
        _tell("solved")

    try:
        with solvers.guarded_by(guard):
            _tell("result", work())
    except Exception as error:
        _tell("error", f"{type(error).__name__}: {error}")
