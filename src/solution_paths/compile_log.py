"""The cost of compiling: seconds by stage and function, and bytes of machine code."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numba.core import event

from . import linking
from .compilation import FUNCTIONS, name_of

# Stages by the names of numba's passes; all others read Python's code.
STAGES = {"nopython_type_inference": "typed", "native_lowering": "lowered"}
COLUMNS = ("read", "typed", "lowered", "simplified", "optimised", "translated")


class Log(event.Listener):
    """Listens to numba; reports the name and the seconds of each function that Python calls."""

    def __init__(self, tell: Callable[[str, float], Any]) -> None:
        self.tell = tell
        self.outer: Any = None  # the function that Python calls
        self.before: Counter[str] = Counter()
        self.begun = 0.0
        self.entries: dict[str, Counter[str]] = {}
        self.inner: dict[str, Counter[str]] = defaultdict(Counter)
        # passes that run: begin, LLVM's seconds then, seconds and LLVM's seconds of nested passes
        self.open: list[list[Any]] = []

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Listen for a while."""
        with (
            event.install_listener("numba:compile", self),
            event.install_listener("numba:run_pass", self),
        ):
            yield

    def on_start(self, event: Any) -> None:
        """Begin a function, or one of its passes."""
        if event.kind == "numba:run_pass":
            self.open.append([time.process_time(), _by_llvm(), 0.0, 0.0])
            return
        dispatcher = event.data["dispatcher"]
        if self.outer is None and dispatcher in FUNCTIONS:
            self.outer, self.begun = dispatcher, time.process_time()
            self.before = Counter(linking.SECONDS)
            self.entries.setdefault(name_of(dispatcher), Counter())

    def on_end(self, event: Any) -> None:
        """Record how long a function, or one of its passes, took."""
        if event.kind == "numba:run_pass":
            self._end_pass(event.data)
            return
        if event.data["dispatcher"] is not self.outer:
            return
        seconds, stages = time.process_time() - self.begun, self.entries[name_of(self.outer)]
        stages.update(Counter(linking.SECONDS) - self.before)
        stages["seconds"] += seconds
        self.tell(name_of(self.outer), round(seconds, 2))
        self.outer = None

    def _end_pass(self, data: Any) -> None:
        begun, llvm_then, seconds_inside, llvm_inside = self.open.pop()
        seconds, llvm = time.process_time() - begun, _by_llvm() - llvm_then
        if self.open:
            self.open[-1][2] += seconds
            self.open[-1][3] += llvm
        by_numba = (seconds - seconds_inside) - (llvm - llvm_inside)
        stage = STAGES.get(data["name"].partition(" ")[0], "read")
        function = self.inner[data["qualname"]]
        function[stage] += by_numba
        function["by LLVM"] += llvm - llvm_inside
        if self.outer is not None:
            entry = self.entries[name_of(self.outer)]
            entry[stage] += by_numba
            entry["functions"] += stage == "typed"

    def tables(self) -> str:
        """Return seconds of processor time by entry and stage, and by function."""
        sizes = {name_of(made): size_of(made) for made in FUNCTIONS}
        head = f"{'entry':40s}{'functions':>10s}" + "".join(f"{name:>12s}" for name in COLUMNS)
        lines = [f"{head}{'all, s':>10s}{'kB':>7s}"]
        total: Counter[str] = Counter()
        for name, entry in sorted(self.entries.items(), key=lambda item: -item[1]["seconds"]):
            entry["kB"] = sizes[name] / 1000.0
            total.update(entry)
            lines.append(_line(name, entry))
        lines.append(_line("all", total))
        stages = ("read", "typed", "lowered", "by LLVM")
        lines += ["", f"{'function':40s}" + "".join(f"{name:>10s}" for name in stages)]
        for name, function in sorted(self.inner.items(), key=lambda item: -sum(item[1].values())):
            cells = (function[key] for key in stages)
            lines.append(f"{name[-39:]:40s}" + "".join(f"{cell:10.2f}" for cell in cells))
        return "\n".join(lines)


def _line(name: str, entry: Counter[str]) -> str:
    cells = "".join(f"{entry[key]:12.2f}" for key in COLUMNS)
    return f"{name:40s}{entry['functions']:10.0f}{cells}{entry['seconds']:10.1f}{entry['kB']:7.0f}"


def _by_llvm() -> float:
    return sum(linking.SECONDS.values())


def size_of(dispatcher: Any) -> int:
    """Return the size of a function's cached code, in bytes."""
    place = dispatcher._cache._impl
    kept = Path(dispatcher._cache.cache_path).glob(f"{place.filename_base}.*")
    return sum(file.stat().st_size for file in kept)
