"""Tables of the small measurements: as CSV, and as Markdown with what their docstring says."""

import csv
from collections.abc import Iterable
from pathlib import Path


def write_table(
    path: Path, title: str, doc: str, heads: list[str], rows: Iterable[tuple[dict, list[str]]]
) -> None:
    """Print rows as they come; write them to a CSV file, and a Markdown table beside it.

    Parameters
    ----------
    doc : str
        A script's docstring, which explains the table; its first two paragraphs, title and usage,
        are left out.
    heads : list of str
        What the table's columns are called.
    rows : iterable of (dict, list of str)
        Of each row what the CSV file holds, and the table's cells.
    """
    lines, found = [_line(heads), "|" + "---|" * len(heads)], []
    print(*lines, sep="\n", flush=True)
    for row, cells in rows:
        found.append(row)
        lines.append(_line(cells))
        print(lines[-1], flush=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, found[0])
        writer.writeheader()
        writer.writerows(found)
    what = f"# {title}\n\n" + doc.split("\n\n", 2)[2]
    path.with_suffix(".md").write_text("\n".join([what, *lines, ""]), "utf-8")


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
