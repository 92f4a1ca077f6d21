"""What a run shows on the terminal: how far the whole of it is, instead of every rule's details.

It reads the engine's log records by their plain attributes (``event``, ``jobid``, ``done``,
``total``) and knows nothing else of the engine. The engine's own log file keeps everything.
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

# Records that tell a reader nothing: what is about to run, and how the engine goes about it.
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
# Wildcards that the reader knows, or that say how a job is run.
UNTOLD = ("suite", "lane")
# The remaining time is told once so many jobs have shown how long jobs take.
LEAST_DONE = 3


class NoChatter(logging.Filter):
    """Keep the engine's chatter off a stream; warnings, errors and plain messages pass."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether a record is for people."""
        if record.levelno >= logging.WARNING:
            return True
        event = getattr(record, "event", None)
        return event not in CHATTER_EVENTS and not str(record.msg).startswith(CHATTER)


class RunProgress(logging.Handler):
    """Print a line for each finished job: counts of the whole run, time gone, time left.

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
        """Note a job's beginning and its end, and print how far the run is."""
        event = getattr(record, "event", None)
        if event == "job_info":
            self._jobs[record.jobid] = (_label(record), self._clock())
        elif event == "job_finished":
            label, began = self._jobs.pop(record.job_id, ("", self._clock()))
            self._finished.append(f"{label} ({_duration(self._clock() - began)})")
        elif event == "progress":
            self._tell(record.done, record.total)

    def _tell(self, done: int, total: int) -> None:
        gone = self._clock() - self._began
        text = f"{done:{len(str(total))}} of {total} jobs, {_duration(gone)} gone"
        if LEAST_DONE <= done < total:
            text += f", about {_duration(gone / done * (total - done))} left"
        self._write(f"[{text}] {', '.join(self._finished)}".rstrip())
        self._finished.clear()


def _label(record: logging.LogRecord) -> str:
    told = [str(v) for k, v in dict(record.wildcards or {}).items() if k not in UNTOLD]
    return " ".join([record.rule_name.replace("run_", ""), *told])


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def end_unread() -> None:
    """End this process and what it started, without a word, once nobody reads what it prints."""
    if hasattr(signal, "SIGPIPE"):  # not on Windows
        signal.signal(signal.SIGPIPE, _end_if_unread)


def end_on_interrupt() -> None:
    """End this process and what it started with one sentence where the user presses Ctrl-C.

    What is started from now on doesn't see the interrupt itself: it would print its stack. To be
    called in the main thread.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        signal.signal(signal.SIGINT, _end_interrupted)
        return
    heard, tell = os.pipe()

    def wait() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        while os.read(heard, 1) != bytes([signal.SIGINT]):
            pass
        _end_interrupted()

    # A thread that there is already, such as OpenBLAS's, may be given the interrupt. A handler in
    # Python then waits until the main thread wakes up, which it may not; the byte comes at once.
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell)
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
    """End this process and what it started, at once: cells are written whole or not at all."""
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            child.kill()
    os._exit(128 + why)
