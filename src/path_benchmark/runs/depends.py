"""What results and outputs depend on, as one digest: times of files tell nothing of that."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .cells import short_digest
from .written import digest

PACKAGE = Path(__file__).parents[1]
SHARED = ("reporting", "runs", "data/registry.py")  # code that outputs of every paper go through


def digest_of(
    part: str, jobs: Iterable[str], content: dict[str, Any], paper: str, files: Iterable[Path]
) -> str:
    """Return the digest of what a part of a paper depends on.

    Parameters
    ----------
    part : {"results", "outputs"}
        Results are what the jobs' cells hold. Outputs (tables, figures, claims) depend on the
        paper's file, its published numbers and on the code that makes them, too.
    jobs : iterable of str
        The lists of the jobs' cells, whose names hold digests of what these depend on.
    content : dict
        The paper's file.
    paper : str
        Its folder's name.
    files : iterable of Path
        What it is made with beside the package: scripts, and a notebook that is run on results.
    """
    found = [*jobs, *map(digest, files)]
    if part == "outputs":
        found += [json.dumps(content, sort_keys=True), *_code(paper)]
    return short_digest("\n".join(found))


def _code(paper: str) -> list[str]:
    """Return the checksums of all files that outputs are made with."""
    folders = [PACKAGE / name for name in (*SHARED, f"papers/{paper}", "papers/reports.py")]
    files = [
        file for folder in folders for file in ([folder] if folder.is_file() else folder.rglob("*"))
    ]
    return [
        f"{file.relative_to(PACKAGE)} {digest(file)}"
        for file in sorted(files)
        if file.is_file() and "__pycache__" not in file.parts
    ]


def forget_others(own: str | Path) -> None:
    """Remove the files that stood for what a part depended on before."""
    own = Path(own)
    part = own.name.rpartition("-")[0]
    for other in own.parent.glob(f"{part}-*"):
        if other != own:
            other.unlink()
