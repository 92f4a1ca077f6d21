"""Progress messages while functions are compiled.

A first line says that code is compiled. A second line shows the progress: it is rewritten in a
terminal or a notebook, and printed again now and then elsewhere. Short compilations print nothing.
"""

from __future__ import annotations

import sys
import time

PATIENCE = 1.0  # seconds of compiling before the first message, unless the function is slow
REWRITING_PERIOD = 0.2  # seconds between two updates of a line that is rewritten
PRINTING_PERIOD = 15.0  # seconds between two lines that are printed
LINKING = 0.3  # time of optimising, as a share of the time of reading all functions


def say(text: str, end: str = "\n") -> None:
    """Write to stderr."""
    print(f"solution_paths: {text}", end=end, file=sys.stderr, flush=True)


def rewrites() -> bool:
    """Return whether a line can be rewritten, as in a terminal or a notebook."""
    return sys.stderr.isatty() or type(sys.stderr).__module__.partition(".")[0] == "ipykernel"


class Announcer:
    """Reports which function is compiled, and how many of its callees are done."""

    def __init__(self) -> None:
        self.quiet = False  # print nothing: another process or function reports
        self.introduced = False  # whether the first line was printed
        self.name = ""
        self.total = self.done = self.width = 0
        self.begun = self.last = 0.0

    def begin(self, name: str, total: int, slow: bool) -> None:
        """Begin with a function that has ``total`` callees to be compiled."""
        self.name, self.total, self.done = name, total, 0
        self.begun = time.monotonic()
        self.last = -PRINTING_PERIOD
        if slow:
            self._report()

    def step(self) -> None:
        """Count one more callee as compiled."""
        self.done = min(self.done + 1, self.total)
        if self.introduced or time.monotonic() - self.begun > PATIENCE:
            self._report()

    def end(self) -> None:
        """Clear the line that was rewritten."""
        if self.width:
            print("\r" + " " * self.width, end="\r", file=sys.stderr, flush=True)
        self.width, self.name, self.total = 0, "", 0

    def _report(self) -> None:
        if self.quiet or not self.name:
            return
        if not self.introduced:
            say(
                "compiling for this processor, once "
                "(`python -m solution_paths` compiles everything in advance)."
            )
        self.introduced = True
        now, rewritten = time.monotonic(), rewrites()
        over = self.done == self.total
        if now - self.last < (REWRITING_PERIOD if rewritten else PRINTING_PERIOD) and not (
            rewritten and over
        ):
            return
        self.last = now
        if not rewritten:
            say(self.text(now))
            return
        text = f"solution_paths: {self.text(now)}"
        print("\r" + text.ljust(self.width), end="", file=sys.stderr, flush=True)
        self.width = len(text)

    def text(self, now: float) -> str:
        """Return the function's name, its progress, and the time that is left."""
        if not self.total:
            return f"{self.name} ..."
        if self.done == self.total:
            return f"{self.name}: {self.total} functions are read; optimising them together ..."
        progress = f"{self.name}: {self.done} of {self.total} functions"
        if self.done < self.total / 10:
            return f"{progress} ..."
        left = (self.total - self.done + LINKING * self.total) * (now - self.begun) / self.done
        return f"{progress}, about {left:.0f} s left ..."
