"""Digests of all that results and outputs depend on, in place of files' modification times."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .cells import short_digest
from .written import digest

PACKAGE = Path(__file__).parents[1]
SHARED = ("reporting", "runs", "data/registry.py")  # code that makes the outputs of every paper


def digest_of(
    part: str, jobs: Iterable[str], content: dict[str, Any], paper: str, files: Iterable[Path]
) -> str:
    """Return the digest of all that a part of a paper depends on.

    Parameters
    ----------
    part : {"results", "outputs"}
        Results depend on the jobs' cells. Outputs (tables, figures, claims) also depend on the
        paper's file, its published numbers and the code that makes them.
    jobs : iterable of str
        The lists of the jobs' cells; their names hold digests of what the cells depend on.
    content : dict
        The paper's file.
    paper : str
        The name of its folder.
    files : iterable of Path
        Further files that make the part: scripts, and a notebook that is run on results.
    """
    inputs = [*jobs, *map(digest, files)]
    if part == "outputs":
        inputs += [json.dumps(content, sort_keys=True), *_code(paper)]
    return short_digest("\n".join(inputs))


def _code(paper: str) -> list[str]:
    """Return the checksums of all files that make the outputs."""
    folders = [PACKAGE / name for name in (*SHARED, f"papers/{paper}", "papers/reports.py")]
    files = [
        file for folder in folders for file in ([folder] if folder.is_file() else folder.rglob("*"))
    ]
    return [
        f"{file.relative_to(PACKAGE)} {digest(file)}"
        for file in sorted(files)
        if file.is_file() and "__pycache__" not in file.parts
    ]


def forget_others(current: str | Path) -> None:
    """Remove the files whose names hold earlier digests of a part."""
    current = Path(current)
    part = current.name.rpartition("-")[0]
    for other in current.parent.glob(f"{part}-*"):
        if other != current:
            other.unlink()
