r"""Tables in LaTeX: booktabs, points in a line, wide tables on landscape pages, wider in parts.

A line is measured in digits of ``\footnotesize``; LaTeX's own page (345 pt by 550 pt) holds as many
as `PORTRAIT` and `LANDSCAPE` say.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from typing import Any

from . import formats

PORTRAIT, LANDSCAPE = 80.0, 128.0
GAP = 1.5  # between two columns
NARROW, WIDE = set("fijlrt .,;:'()[]|!\u202f\u2008"), set("mwMW%±×≥—")
LONGEST = 30  # a text that is longer is broken into lines
SUPERSCRIPTS = dict(zip("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789", strict=True))
SWAPS = {"\\": r"\textbackslash{}", "—": "--", "±": r"$\pm$", "|": r"$|$", "~": r"\~{}"}
SWAPS |= {"\u202f": r"\,", "×": r"$\times$", "µ": r"$\mu$", "≥": r"$\geq$"}
SWAPS |= {"₀": "$_0$", "∅": r"$\emptyset$", "✓": r"$\checkmark$"}
SWAPS |= {"\u2007": r"\phantom{0}", "\u2008": r"\phantom{.}"}
SWAPS |= {c: f"\\{c}" for c in "&%$#_{}"} | {"^": r"\^{}", "<": "$<$", ">": "$>$"}


def escaped(text: object) -> str:
    """Return a text that LaTeX sets as it is."""
    parts = re.split(f"([{''.join(SUPERSCRIPTS)}]+)", str(text))
    powers = ("".join(SUPERSCRIPTS[c] for c in part) for part in parts[1::2])
    plain = ["".join(SWAPS.get(c, c) for c in part) for part in parts[::2]]
    return plain[0] + "".join(f"$^{{{p}}}${t}" for p, t in zip(powers, plain[1:], strict=True))


def width(text: str) -> float:
    """Return about how wide a text is, in digits."""
    return sum(
        0.7 if c in NARROW or c in SUPERSCRIPTS else 1.6 if c in WIDE or c.isupper() else 1.0
        for c in text
    )


def layout(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a `Shown` table is set: "landscape", and "parts" with "columns" and "rows".

    Each part begins with the columns that tell the table's rows apart.
    """
    columns = [_column(table, j) for j in range(len(table["columns"]))]
    keys = _keys(table["rows"])
    whole = sum(column["width"] + GAP for column in columns)
    parts = [columns] if whole <= LANDSCAPE else _parts(columns[:keys], columns[keys:])
    made = [
        {"columns": part, "rows": list(zip(*(column["cells"] for column in part), strict=True))}
        for part in parts
    ]
    return {"landscape": whole > PORTRAIT, "parts": made}


def _keys(rows: list[list[str]]) -> int:
    """Return how many columns tell all rows apart: at most half of them."""
    most = max(len(rows[0]) // 2, 1) if rows else 1
    apart = (j for j in range(1, most) if len({tuple(row[:j]) for row in rows}) == len(rows))
    return next(apart, most)


def _parts(keys: list[dict], others: list[dict]) -> list[list[dict]]:
    """Put the other columns into lines, each behind the keys."""
    parts, room = [], 0.0
    for column in others:
        if not parts or column["width"] + GAP > room:
            parts.append(list(keys))
            room = LANDSCAPE - sum(key["width"] + GAP for key in keys)
        parts[-1].append(column)
        room -= column["width"] + GAP
    return parts


def _column(table: Mapping[str, Any], j: int) -> dict[str, Any]:
    """Return a column's heading in lines, its cells, its place in the preamble and its width."""
    texts, numeric = [row[j] for row in table["rows"]], table["numeric"][j]
    texts = formats.padded(texts) if numeric else texts
    longest = max(map(width, texts), default=0.0)
    wide = min(longest, LONGEST)
    head = textwrap.wrap(table["columns"][j], max(int(wide), 11), break_long_words=False) or [""]
    wide = max(wide, *map(width, head))
    cells = [escaped(text) for text in texts]
    if numeric:
        cells = [re.sub("^-(?!-)", "$-$", cell) for cell in cells]
    place = "r" if numeric else "l"
    if longest > LONGEST:
        place = rf">{{\raggedright\arraybackslash}}p{{{wide / 2:.3g}em}}"
    return {
        "head": [escaped(line) for line in head],
        "side": "r" if numeric else "l",
        "cells": cells,
        "place": place,
        "width": wide,
    }
