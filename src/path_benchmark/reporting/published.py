"""Results that anyone can see: ``python -m path_benchmark.reporting.published SUITE OUT [README]``.

SUITE is ``results/<suite>``, finished; OUT gets a page for each paper and the CSV files and figures
that it shows. A README gets a block of headlines between two comments.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from solution_paths.files import replace_atomically

from . import overview, provenance
from .formats import NOTHING, count, together
from .tables import RATIO, show
from .verdicts import (
    DIFFERS,
    GLYPHS,
    NOT_COMPARED,
    NOT_IN_PAPER,
    NOT_SUPPORTED,
    PAPER,
    kind,
)

# A verdict is seen by its colour, and by its sign where there is none.
COLOURS = {"✓": "🟩", "✗": "🟥", "?": "🟨", "∅": "⬜", "–": "⬜", "·": "⬜"}
COMPARED = ["paper", "ours", "difference", "relative", "verdict"]
# Tables that every paper may have: too long for a page.
SHARED = ("table_metrics", "table_certificates")
BEGIN, END = "<!-- results: written by path_benchmark.reporting.published -->", "<!-- end -->"


def sign(verdict: str) -> str:
    """Return the colour and sign of a verdict."""
    glyph = GLYPHS[kind(verdict)]
    return f"{COLOURS[glyph]} {glyph}"


def pivot(frame: pd.DataFrame) -> list[str]:
    """Return a comparison as a Markdown pivot: data sets by quantities, *paper* / ours, verdict.

    A table that compares nothing is shown as it is.
    """
    if "quantity" not in frame:
        plain = show(frame, "", "")
        return [_row(plain.columns), _row(["---"] * len(plain.columns)), *map(_row, plain.rows)]
    keys = list(frame.columns[: list(frame.columns).index("quantity")])
    columns = list(dict.fromkeys(frame["quantity"]))
    lines = [_row([*keys, *columns]), _row(["---"] * (len(keys) + len(columns)))]
    for key, group in frame.groupby(keys, sort=False):
        cells = {row["quantity"]: _cell(row) for row in group.to_dict("records")}
        lines.append(_row([*map(str, key), *(cells.get(c, "") for c in columns)]))
    return lines


def _cell(row: Mapping) -> str:
    """Write both numbers and the verdict; ours alone where the paper has none."""
    digits = 2 if RATIO in row["quantity"] else 4
    paper, ours, _ = together(row["paper"], row["ours"], digits)
    if paper == NOTHING and kind(row["verdict"]) in (NOT_IN_PAPER, kind(NOT_COMPARED)):
        return ours
    return f"*{paper}* / {ours} {sign(row['verdict'])}"


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(str(c).replace("|", "\\|") for c in cells) + " |"


def page(content: Mapping, tables: Mapping[str, pd.DataFrame], folder: str, origin: str) -> str:
    """Return a paper's page."""
    lines = ["---", "orphan: true", "---", "", f"# {content['title']}", "", content["citation"], ""]
    lines += [*_counted(overview.headline(content)), "", "Cells of tables: *paper* / ours. "]
    lines[-1] += " ".join(f"{sign(k)} {k}" for k in GLYPHS if k != kind(NOT_COMPARED)) + "."
    lines += ["", "## What differs", "", *(_differing(content) or ["Nothing that was tested."]), ""]
    data = [d["name"] + ("" if d["papers"] else " (not the paper's)") for d in content["data"]]
    lines += [f"Data: {', '.join(data)}.", ""]
    for table in content["tables"]:
        if table["name"] in tables:
            link = f"[CSV]({folder}/{table['name']}.csv)"
            lines += [f"## {table['heading']}", "", *pivot(tables[table["name"]]), "", link, ""]
    lines += ["## Claims", "", _row(["verdict", "claim", "whose", "data", "evidence"])]
    lines += [_row(["---"] * 5)]
    lines += [
        _row(
            [
                f"{sign(c['verdict'])} {c['verdict']}",
                " ".join(filter(None, (c["claim"], f"({c['place']})" * bool(c["place"])))),
                c["source"],
                ", ".join(filter(None, (c["dataset"], c["where"]))),
                c["evidence"],
            ]
        )
        for c in content["claims"]
    ]
    for figure in content["figures"]:
        shown = f"![{figure['heading']}]({folder}/{figure['name']}.png)"
        lines += ["", f"## {figure['heading']}", "", shown, "", figure["caption"]]
    made = content["provenance"]
    facts = {"Hardware": made["machines"], "Versions": made["packages"]}
    facts |= {"Commits": made["commits"], "Source": made["sources"]}
    lines += ["", "## How it was made", "", f"`{content['command']}`, {origin}.", ""]
    lines += [f"- {name}: {'; '.join(values)}" for name, values in facts.items()]
    return "\n".join(lines) + "\n"


def _counted(head: Mapping) -> list[str]:
    """Return the paper's headline: a table of verdicts, and how many paths are certified."""
    pairs = {"agrees": "supported", "differs": "not supported"}
    pairs |= {k: k for k in ("inconclusive", "not tested here")}
    lines = [
        _row(["", *(f"{sign(k)} {k if k == own else f'{k}, {own}'}" for k, own in pairs.items())]),
        _row(["---"] + ["---:"] * len(pairs)),
        _row([f"cells of {count(head['tables'], 'table')}", *(head["cells"][k] for k in pairs)]),
        _row(["claims of the text", *(head["claims"][k] for k in pairs.values())]),
    ]
    return [*lines, "", f"**{head['held']} of {count(head['total'], 'path')} certified exact.**"]


def _told(columns: list[str], row: list[str]) -> str:
    """Tell a row of a comparison in words."""
    if "quantity" not in columns:
        return " | ".join(row)
    cells = dict(zip(columns, row, strict=True))
    keys = columns[: columns.index("quantity") + 1]
    named = ("data set", "quantity")
    where = [cells[c] if c in named else f"{c} {cells[c]}" for c in keys if cells[c] != NOTHING]
    return f"{', '.join(where)}: *{cells['paper']}* / {cells['ours']}, {cells['verdict']}"


def _differing(content: Mapping) -> list[str]:
    """List the cells that differ, and the paper's sentences that are not supported."""
    found = [
        f"- {table['heading']}: {_told(table['columns'], row)}"
        for table in content["tables"]
        for row, verdict in zip(table["rows"], table["kinds"], strict=True)
        if verdict == DIFFERS
    ]
    return found + [
        f"- {c['claim']} ({c['dataset']}): {c['evidence']}"
        for c in content["claims"]
        if c["verdict"] == NOT_SUPPORTED and c["source"] == PAPER
    ]


def write(suite: Path, out: Path) -> list[str]:
    """Write the pages of a finished suite; return the lines of the README's block."""
    papers = sorted(file.parent for file in suite.glob("*/outputs.json"))
    if not papers:
        raise SystemExit(f"{suite} holds no <paper>/outputs.json: run the suite first.")
    origin = f"{provenance.now()}, commit {provenance.commit(Path.cwd()) or 'unknown'}"
    block = [_row(["paper", "", "tables", "cells", "claims", "paths certified"])]
    block.append(_row(["---"] * 6))
    for folder in papers:
        text = (folder / "outputs.json").read_text("utf-8")
        content = {"name": folder.name, **json.loads(text)}
        own = out / folder.name
        shutil.rmtree(own, ignore_errors=True)
        own.mkdir(parents=True)
        tables = {}
        for name in _shown(content["tables"]):
            file = folder / "tables" / f"{name}.csv"
            tables[name] = pd.read_csv(file)
            shutil.copy(file, own)
        for figure in content["figures"]:
            shutil.copy(folder / "figures" / f"{figure['name']}.png", own)
        shown = page(content, tables, folder.name, origin)
        replace_atomically(
            out / f"{folder.name}.md", lambda part, s=shown: part.write_text(s, "utf-8")
        )
        head = overview.headline(content)
        told = [
            ", ".join(f"{sign(k)} {n} {k}" for k, n in head[part].items()) or "none"
            for part in ("cells", "claims")
        ]
        link = f"[{content['title']}](docs/results/{folder.name}.md)"
        held = f"{head['held']} of {head['total']}"
        block.append(_row([link, sign(head["kind"]), head["tables"], *told, held]))
    return [*block, "", f"Suite `{suite.name}`, {count(len(papers), 'paper')}, {origin}."]


def _shown(tables: list[Mapping]) -> list[str]:
    """List the comparisons, or the own tables of a paper that has none."""
    compared = [t["name"] for t in tables if {*COMPARED, "quantity"} <= set(t["columns"])]
    return compared or [t["name"] for t in tables if t["name"] not in SHARED]


def put_into(readme: Path, block: list[str]) -> None:
    """Replace the block of results in a README, or add it at the end."""
    text, own = readme.read_text("utf-8"), "\n".join([BEGIN, *block, END])
    pattern = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.S)
    new = pattern.sub(lambda _: own, text) if pattern.search(text) else f"{text}\n{own}\n"
    replace_atomically(readme, lambda part: part.write_text(new, "utf-8"))


def main(arguments: list[str] | None = None) -> None:
    """Write pages and, if asked, a README's block."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", type=Path, help="results/<suite>")
    parser.add_argument("out", type=Path, help="docs/results")
    parser.add_argument("readme", type=Path, nargs="?")
    asked = parser.parse_args(arguments)
    block = write(asked.suite, asked.out)
    if asked.readme:
        put_into(asked.readme, block)


if __name__ == "__main__":
    main()
