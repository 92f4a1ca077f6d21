"""Run a job's work in a child process, which ends if an outside solver exceeds a limit.

A call into compiled code can't be interrupted from inside: a solver that hangs, uses too much
memory or crashes takes its process with it. So the work runs in a child process, which announces
each call of a solver. The parent watches the clock and the child's memory, ends a child that
exceeds a limit and starts another one. Finished cells are kept. The call that exceeded the limit is
refused, and becomes a row with the reason. All of a measurement runs in one process.
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

# Seconds between two checks of a child that is in a solver.
POLL_S = 0.2
MB = 2**20
# Asks Linux to end a process when its parent ends; elsewhere an orphaned child finishes its cell.
_PR_SET_PDEATHSIG = 1
# The name of the running cell, and the number of each solver's calls in it.
_cell: dict[str, Any] = {"name": "", "calls": {}}
_tell: Callable[..., None] = lambda *message: None  # noqa: E731


class JobFailed(RuntimeError):
    """The work or its process ended in an error: one sentence says how."""


class Limits(Settings):
    """Limits of one call of an outside solver.

    Attributes
    ----------
    minutes : float
        Wall-clock time.
    memory_mb : float
        Memory beyond that of the process at the beginning of the call.
    """

    minutes: Positive = 30.0
    memory_mb: Positive = 16000.0


@dataclass
class _Call:
    """The solver's call that the child is executing."""

    key: tuple[str, str, int]
    began: float
    memory: int


@dataclass
class _Watch:
    """State of the parent: refused calls, announced cells, the current call, the result."""

    limits: Limits
    refused: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)
    killed: set[tuple[str, str, int]] = field(default_factory=set)
    cells: set[str] = field(default_factory=set)
    call: _Call | None = None
    result: Any = None
    error: str | None = None


def announce(cell: str) -> None:
    """Announce that a cell begins, which resets the counts of solvers' calls."""
    _cell.update(name=cell, calls={})
    _tell("cell", cell)


def supervised(work: Callable[[], Any], limits: Limits) -> tuple[Any, dict[str, float]]:
    """Do the work in a child process; if a solver ended it, resume after the last finished cell.

    Parameters
    ----------
    work : callable
        Calls `announce` for each cell; its result is sent back.
    limits : Limits

    Returns
    -------
    tuple
        The result of ``work``, and its cost: ``wall_s``, ``cpu_s``, ``peak_mb``, and ``cells``, the
        number of cells that were run.

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
    """Write the cost of a job, unless some of its cells were finished before."""
    if cost["cells"] == cells:
        write_text(file, json.dumps({name: round(value, 2) for name, value in cost.items()}))


def _usage() -> tuple[float, float]:
    """Return CPU seconds of all children so far, and the largest memory of one of them, in MB."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / MB
    return used.ru_utime + used.ru_stime, peak


# ---------------------------------------------------------------- the parent


def _finished(work: Callable[[], Any], watch: _Watch) -> bool:
    """Run a child to its end; return False if the work must be resumed."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(work, sender, watch.refused), daemon=True)
    child.start()
    sender.close()
    try:
        while child.is_alive() or receiver.poll():
            wait([receiver, child.sentinel], POLL_S if watch.call else None)
            while receiver.poll():
                _receive(receiver, child, watch)
            reason = watch.call and _exceeded_limit(child, watch.call, watch.limits)
            if reason:
                return _refuse(child, watch, reason)
    except EOFError:  # it has closed its end: it is ending
        pass
    child.join()
    return _ended(child, watch)


def _receive(receiver: Connection, child: BaseProcess, watch: _Watch) -> None:
    """Handle one message of the child."""
    what, *content = receiver.recv()
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


def _exceeded_limit(child: BaseProcess, call: _Call, limits: Limits) -> str | None:
    """Return a sentence on the limit that a call has exceeded, or None."""
    if time.monotonic() - call.began > 60.0 * limits.minutes:
        return f"stopped after {limits.minutes:g} minutes, the limit of one call"
    with suppress(psutil.Error):  # it ended just now
        if _memory(child) - call.memory > limits.memory_mb * MB:
            return f"stopped at {limits.memory_mb:g} MB of memory, the limit of one call"
    return None


def _refuse(child: BaseProcess, watch: _Watch, reason: str) -> bool:
    """End the child; from now on refuse this call and later ones of the solver in the cell."""
    child.kill()
    child.join()
    cell, name, count = watch.call.key
    watch.refused[cell, name] = (count, reason)
    return False


def _ended(child: BaseProcess, watch: _Watch) -> bool:
    """Handle a child that ended by itself; return False if the work must be resumed."""
    if watch.error is not None or child.exitcode == 0:
        return True
    how = f"status {child.exitcode}"
    if child.exitcode < 0:
        how = f"signal {signal.Signals(-child.exitcode).name}"
    requested = child.exitcode in (-signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP)
    if watch.call is None or requested:
        watch.error = f"the job's process ended with {how}; run the same command again"
        return True
    # The solver is refused only if its process is killed from outside in the same call twice.
    if child.exitcode == -signal.SIGKILL and watch.call.key not in watch.killed:
        watch.killed.add(watch.call.key)
        return False
    return _refuse(child, watch, f"its process ended with {how}")


# ---------------------------------------------------------------- the child


def _child(work: Callable[[], Any], sender: Connection, refused: dict) -> None:
    """Do the work, and send its result or error."""
    global _tell
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    _tell = lambda *message: sender.send(message)  # noqa: E731

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
