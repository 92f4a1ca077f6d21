"""How far a long job has come: on the terminal and in the job's log."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self


class Progress:
    """Report the state of a job, at most every few seconds; on the terminal only of a long one.

    Parameters
    ----------
    log : path
        File that takes every line; its folder is made.
    label : str
        What is running; starts each line.
    every_s : float
        Seconds between two lines; the end is always reported.
    long_s : float
        So long a job says nothing on the terminal; its log has every line.

    Examples
    --------
    >>> with Progress("logs/demo.log", "path diabetes 0-0") as progress:
    ...     progress("split 0", 0.37, 812)
    """

    def __init__(self, log: str | Path, label: str, every_s: float = 5.0, long_s: float = 30.0):
        self.log, self.label, self.every_s, self.long_s = Path(log), label, every_s, long_s
        self._start = time.monotonic()
        self._last = -every_s

    def __enter__(self) -> Self:
        """Open the log."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self._stream = self.log.open("w", buffering=1)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Write down how the job ended, and close the log."""
        self._write("done" if error is None else f"failed: {kind.__name__}: {error}")
        self._stream.close()

    def __call__(self, what: str, done: float = 0.0, events: int | None = None) -> None:
        """Say that the share `done` of the job is behind us, at `what`, after `events` events."""
        now = time.monotonic() - self._start
        if done < 1.0 and now - self._last < self.every_s:
            return
        self._last = now
        after = "" if events is None else f", {events} events"
        self._write(f"{100 * done:3.0f} % {what}{after}")

    def _write(self, text: str) -> None:
        gone = time.monotonic() - self._start
        line = f"[{self.label}] {text} ({gone:.1f} s)"
        print(line, file=self._stream)
        if gone >= self.long_s or text.startswith("failed"):
            print(line, file=sys.stderr, flush=True)


@contextmanager
def plainly(log: str | Path) -> Iterator[None]:
    """End this process with one sentence where something outside the code is wrong.

    A full disk, a file that can't be read, damaged cells, data that are not what they should be.
    The sentence goes to the terminal and, where there is room, to the log.
    """
    try:
        yield
    except (OSError, RuntimeError) as error:
        told = " ".join(str(error).split()).rstrip(".")
        if isinstance(error, OSError):
            told += "; mend that and run the same command again"
        with suppress(OSError):
            Path(log).write_text(f"{told}.\n", "utf-8")
        sys.exit(f"error: {told}.")
