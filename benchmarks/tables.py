"""Tables of the small benchmarks: as CSV, and as Markdown with what their docstring says."""

import csv
from pathlib import Path


def write_table(path: Path, title: str, doc: str, lines: list[str], rows: list[dict]) -> None:
    """Write rows to a CSV file, and lines of Markdown beside it, below what ``doc`` explains.

    Parameters
    ----------
    doc : str
        A script's docstring; its first two paragraphs, title and usage, are left out.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    what = f"# {title}\n\n" + doc.split("\n\n", 2)[2]
    path.with_suffix(".md").write_text("\n".join([what, *lines, ""]), "utf-8")
