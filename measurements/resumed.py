"""Rows of a measurement in a JSONL file, which a run that was stopped goes on with."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path


def resumed(
    file: Path | None, problems: Iterable[tuple], run: Callable[..., dict], keys: tuple[str, ...]
) -> Iterator[dict]:
    """Yield the row of each problem: the one in the file, else what ``run(*problem)`` returns.

    ``keys`` are a row's entries that say which problem it is of. Each row is written at once.
    """
    done = {}
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = file.read_text("utf-8").splitlines() if file.exists() else []
        done = {tuple(row[key] for key in keys): row for row in map(json.loads, lines)}
    for problem in problems:
        row = done.get(problem)
        if row is None:
            row = run(*problem)
            if file is not None:
                with file.open("a", encoding="utf-8") as handle:
                    handle.write(json.dumps(row) + "\n")
        yield row
