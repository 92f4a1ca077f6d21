"""Progress of a long job, on the terminal and in the job's log."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self


class Progress:
    """Report the progress of a job, at most every few seconds; a short one only in its log.

    Parameters
    ----------
    log : path
        File of all lines; its folder is made.
    label : str
        Name of the job, at the beginning of each line.
    every_s : float
        Least number of seconds between two lines; the end is always reported.
    long_s : float
        Seconds after which lines are also printed on the terminal.

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
        """Log how the job ended, and close the log."""
        self._write("done" if error is None else f"failed: {kind.__name__}: {error}")
        self._stream.close()

    def __call__(self, what: str, done: float = 0.0, events: int | None = None) -> None:
        """Report the current work `what`, the fraction `done` and the number of events."""
        now = time.monotonic() - self._start
        if done < 1.0 and now - self._last < self.every_s:
            return
        self._last = now
        after = "" if events is None else f", {events} events"
        self._write(f"{100 * done:3.0f} % {what}{after}")

    def _write(self, text: str) -> None:
        elapsed = time.monotonic() - self._start
        line = f"[{self.label}] {text} ({elapsed:.1f} s)"
        print(line, file=self._stream)
        if elapsed >= self.long_s or text.startswith("failed"):
            print(line, file=sys.stderr, flush=True)


@contextmanager
def plainly(log: str | Path) -> Iterator[None]:
    """End this process with one sentence if something outside the code is wrong.

    Examples are a full disk, an unreadable file, damaged cells or wrong data. The sentence goes to
    the terminal and, if it can be written, to the log.
    """
    try:
        yield
    except (OSError, RuntimeError) as error:
        sentence = " ".join(str(error).split()).rstrip(".")
        if isinstance(error, OSError):
            sentence += "; mend that and run the same command again"
        with suppress(OSError):
            Path(log).write_text(f"{sentence}.\n", "utf-8")
        sys.exit(f"error: {sentence}.")
