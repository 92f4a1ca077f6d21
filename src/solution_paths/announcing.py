"""What a user sees while functions are compiled: what is compiled, and how much is left.

One line says that it happens; a second one is rewritten in a terminal and in a notebook, and
written again now and then elsewhere. Where nothing takes long nothing is said.
"""

from __future__ import annotations

import sys
import time

PATIENCE = 1.0  # seconds of compiling before anything is said of it, unless it is known to be slow
PAUSE = 0.2  # seconds between two lines that are rewritten
REPORT = 15.0  # and between two that are not
LINKING = 0.3  # the optimiser's share of the time, beside that of reading all functions


def say(text: str, end: str = "\n") -> None:
    """Write to stderr."""
    print(f"solution_paths: {text}", end=end, file=sys.stderr, flush=True)


def rewrites() -> bool:
    """Tell whether a line can be rewritten: in a terminal, or in a notebook."""
    return sys.stderr.isatty() or type(sys.stderr).__module__.partition(".")[0] == "ipykernel"


class Announcer:
    """Says what is compiled, of what calls a number of others, and how much of these is done."""

    def __init__(self) -> None:
        self.quiet = False  # another one says it
        self.once = False  # whether the first line was written
        self.name = ""
        self.total = self.done = self.width = 0
        self.begun = self.last = 0.0

    def begin(self, name: str, total: int, slow: bool) -> None:
        """Begin with a function that calls so many others that have yet to be compiled."""
        self.name, self.total, self.done = name, total, 0
        self.begun = time.monotonic()
        self.last = -REPORT
        if slow:
            self._tell()

    def step(self) -> None:
        """Note that one of the others is done."""
        self.done = min(self.done + 1, self.total)
        if self.once or time.monotonic() - self.begun > PATIENCE:
            self._tell()

    def end(self) -> None:
        """Wipe the line that was rewritten."""
        if self.width:
            print("\r" + " " * self.width, end="\r", file=sys.stderr, flush=True)
        self.width, self.name, self.total = 0, "", 0

    def _tell(self) -> None:
        if self.quiet or not self.name:
            return
        if not self.once:
            say(
                "compiling for this processor, once "
                "(`python -m solution_paths` compiles everything in advance)."
            )
        self.once = True
        now, rewritten = time.monotonic(), rewrites()
        over = self.done == self.total
        if now - self.last < (PAUSE if rewritten else REPORT) and not (rewritten and over):
            return
        self.last = now
        if not rewritten:
            say(self.text(now))
            return
        text = f"solution_paths: {self.text(now)}"
        print("\r" + text.ljust(self.width), end="", file=sys.stderr, flush=True)
        self.width = len(text)

    def text(self, now: float) -> str:
        """Return what is compiled, and how much is left."""
        if not self.total:
            return f"{self.name} ..."
        if self.done == self.total:
            return f"{self.name}: {self.total} functions are read; optimising them together ..."
        said = f"{self.name}: {self.done} of {self.total} functions"
        if self.done < self.total / 10:
            return f"{said} ..."
        left = (self.total - self.done + LINKING * self.total) * (now - self.begun) / self.done
        return f"{said}, about {left:.0f} s left ..."
