"""What was made of the cells, and whether it still is what was written.

A note beside the files holds their checksums. Where one is altered, truncated or gone, the first of
them, which the workflow asks for, is set aside: then they are all made again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from solution_paths.files import write_text

# A note's name: hidden, and what made the files.
NOTES = ".*.sha256.json"


def record(folder: str | Path, maker: str, files: Iterable[str | Path]) -> None:
    """Note the checksums of what ``maker`` wrote below a folder; the first file stands for all."""
    folder = Path(folder)
    found = {str(Path(file).relative_to(folder)): digest(Path(file)) for file in files}
    write_text(folder / NOTES.replace("*", maker), json.dumps(found, indent=1))


def digest(file: Path) -> str:
    """Return the SHA-256 of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def set_damaged_aside(results: str | Path) -> list[str]:
    """Set aside what is no longer what was written; say so in a sentence for each.

    What is gone altogether needs no word: the workflow sees it.
    """
    sentences = []
    for note in sorted(Path(results).glob(f"*/*/{NOTES}")):
        first, bad = changed(note)
        if bad and first.exists():
            first.replace(first.with_name(f"{first.name}.damaged"))
            sentences.append(f"{bad} is not what was written: it is made again.")
        if bad:
            note.unlink(missing_ok=True)  # where no such file is left, the note stood for it
    return sentences


def changed(note: Path) -> tuple[Path, Path | None]:
    """Return the file that stands for all, and the first that is not what was written."""
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
