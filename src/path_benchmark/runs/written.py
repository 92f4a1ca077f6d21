"""Checksums of the files made from cells, which reveal later changes.

A note beside the files holds their checksums. If a file is altered, truncated or missing, the first
of them, which the workflow asks for, is renamed, so that all are made again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from solution_paths.files import write_text

# Pattern of a note's name; the star is the maker of the files.
NOTES = ".*.sha256.json"


def record(folder: str | Path, maker: str, files: Iterable[str | Path]) -> None:
    """Write the checksums of files made by ``maker``; the first file represents all of them."""
    folder = Path(folder)
    checksums = {str(Path(file).relative_to(folder)): digest(Path(file)) for file in files}
    write_text(folder / NOTES.replace("*", maker), json.dumps(checksums, indent=1))


def digest(file: Path) -> str:
    """Return the SHA-256 of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def set_damaged_aside(results: str | Path) -> list[str]:
    """Rename the first file of each note with a changed file; return a sentence for each.

    There is none if the first file itself is missing, as the workflow makes it again anyway.
    """
    sentences = []
    for note in sorted(Path(results).glob(f"*/*/{NOTES}")):
        first, bad = changed(note)
        if bad and first.exists():
            first.replace(first.with_name(f"{first.name}.damaged"))
            sentences.append(f"{bad} is not what was written: it is made again.")
        if bad:
            note.unlink(missing_ok=True)  # it represents the first file if that is missing
    return sentences


def changed(note: Path) -> tuple[Path, Path | None]:
    """Return the file that represents all, and the first file that was changed, or None."""
    try:
        noted = dict(json.loads(note.read_text("utf-8")))
        files = [note.parent / name for name in noted]
        first = files[0]
    except (OSError, ValueError, IndexError):
        maker = note.name.removeprefix(".").removesuffix(NOTES.removeprefix(".*"))
        return next((file for file in note.parent.iterdir() if file.stem == maker), note), note
    for file, expected in zip(files, noted.values(), strict=True):
        if not file.is_file() or digest(file) != expected:
            return first, file
    return first, None
