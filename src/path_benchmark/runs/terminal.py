"""Output of a run on the terminal: progress of the whole run in place of each rule's details.

It reads the attributes ``event``, ``jobid``, ``done`` and ``total`` of the workflow engine's log
records and depends on nothing else of the engine. The engine's log file has all records.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

import psutil

# Records that a reader doesn't need: jobs about to run, and internals of the engine.
CHATTER_EVENTS = {
    "run_info",
    "workflow_started",
    "job_info",
    "job_started",
    "job_finished",
    "shellcmd",
    "progress",
    "resources_info",
}
CHATTER = (
    "Assuming unrestricted shared filesystem",
    "Building DAG of jobs",
    "Config file ",
    "Execute ",
    "Elapsed time",
    "Provided cores",
    "Rules claiming more threads",
    "Select jobs to execute",
    "Using shell",
    "host: ",
)
# Wildcards that a line doesn't show: the reader knows the suite, and the lane is a detail.
HIDDEN_WILDCARDS = ("suite", "lane")
# Number of finished jobs from which the remaining time is estimated.
LEAST_DONE = 3


class NoChatter(logging.Filter):
    """Filter that drops the engine's routine messages; warnings, errors and other messages pass."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is shown."""
        if record.levelno >= logging.WARNING:
            return True
        event = getattr(record, "event", None)
        return event not in CHATTER_EVENTS and not str(record.msg).startswith(CHATTER)


class RunProgress(logging.Handler):
    """Print a line for each finished job: counts of the whole run, elapsed and remaining time.

    Parameters
    ----------
    write : callable
        Takes a line.
    clock : callable
        Returns seconds.
    """

    def __init__(
        self,
        write: Callable[[str], object] = lambda line: print(line, file=sys.stderr, flush=True),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(logging.INFO)
        self._write, self._clock, self._began = write, clock, clock()
        self._jobs: dict[int, tuple[str, float]] = {}
        self._finished: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Record the beginning and end of a job, and print the progress of the run."""
        event = getattr(record, "event", None)
        if event == "job_info":
            self._jobs[record.jobid] = (_label(record), self._clock())
        elif event == "job_finished":
            label, began = self._jobs.pop(record.job_id, ("", self._clock()))
            self._finished.append(f"{label} ({_duration(self._clock() - began)})")
        elif event == "progress":
            self._report(record.done, record.total)

    def _report(self, done: int, total: int) -> None:
        elapsed = self._clock() - self._began
        text = f"{done:{len(str(total))}} of {total} jobs, {_duration(elapsed)} gone"
        if LEAST_DONE <= done < total:
            text += f", about {_duration(elapsed / done * (total - done))} left"
        self._write(f"[{text}] {', '.join(self._finished)}".rstrip())
        self._finished.clear()


def _label(record: logging.LogRecord) -> str:
    shown = [str(v) for k, v in dict(record.wildcards or {}).items() if k not in HIDDEN_WILDCARDS]
    return " ".join([record.rule_name.replace("run_", ""), *shown])


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def end_unread() -> None:
    """End this process and its children silently once nobody reads its output."""
    if hasattr(signal, "SIGPIPE"):  # not on Windows
        signal.signal(signal.SIGPIPE, _end_if_unread)


def end_on_interrupt() -> None:
    """End this process and its children with one sentence when the user presses Ctrl-C.

    Processes started from now on don't receive the interrupt, as they would print their stacks.
    To be called in the main thread.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        signal.signal(signal.SIGINT, _end_interrupted)
        return
    reader, writer = os.pipe()

    def wait() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        while os.read(reader, 1) != bytes([signal.SIGINT]):
            pass
        _end_interrupted()

    # An existing thread, such as OpenBLAS's, may receive the interrupt. A handler in Python would
    # then wait for the main thread to wake up, which may never happen; the byte comes at once.
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    signal.signal(signal.SIGINT, lambda *_: None)  # only `wait` ends the process
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    threading.Thread(target=wait, daemon=True).start()


def _end_interrupted(*_: object) -> None:
    with suppress(OSError, ValueError):
        print("stopped: finished cells are kept, the same command goes on.", file=sys.stderr)
        sys.stderr.flush()
    _end_all(signal.SIGINT)


def _end_if_unread(*_: object) -> None:
    poll = select.poll()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            poll.register(stream.fileno(), 0)
    if any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0)):
        _end_all(signal.SIGPIPE)


def _end_all(why: int) -> None:
    """End this process and its children at once, which is safe as cells are written atomically."""
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            child.kill()
    os._exit(128 + why)
