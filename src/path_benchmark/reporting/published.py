"""Results that anyone can see: ``python -m path_benchmark.reporting.published SUITE ... OUT``.

Each SUITE is a folder with ``<paper>/outputs.json``: ``results/<suite>``, finished, or
``results/so_far``, what is finished of the suite `paper`. A table, figure or claim is shown from
the first that has it; a claim also from another that decides it otherwise. OUT gets a page for
each paper and the CSV files and figures that it shows. A README gets a block of headlines between
two comments.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import shutil
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from solution_paths.files import write_text

from . import overview, provenance
from .formats import NOTHING, count, significant, together
from .tables import RATIO, markdown_row, show, templates
from .verdicts import (
    AGREES,
    DECIDED,
    DIFFERS,
    GLYPHS,
    NOT_COMPARED,
    NOT_IN_PAPER,
    NOT_SUPPORTED,
    PAPER,
    SUPPORTED,
    kind,
)

# A verdict is seen by its colour, and by its sign where there is none.
COLOURS = {"✓": "🟩", "✗": "🟥", "?": "🟨", "∅": "⬜", "–": "⬜", "·": "⬜"}
# Tables that every paper may have: too long for a page.
SHARED = ("table_metrics", "table_certificates")
# What the index shows of figures, the first of these that a paper has.
FRONT = ("figure_2_rates", "figure_1_regions", "figure_5_path", "figure_5_2_noise", "figure_paths")
TABLE = re.compile(r"Table (\d+(?:\.\d+)?)")
ITEM = re.compile(r"(?:Table|Figure) \d+(?:\.\d+)?")
TIMES = re.compile(r" / path|in times of the path")
BEGIN, END = "<!-- results: written by path_benchmark.reporting.published -->", "<!-- end -->"


def sign(verdict: str) -> str:
    """Return the colour and sign of a verdict."""
    glyph = GLYPHS[kind(verdict)]
    return f"{COLOURS[glyph]} {glyph}"


def legend() -> str:
    """Return what each sign means, the good ones first, each once."""
    kinds: dict[str, list[str]] = {}
    for verdict in dict.fromkeys((AGREES, SUPPORTED, DIFFERS, NOT_SUPPORTED, *GLYPHS)):
        kinds.setdefault(sign(verdict), []).append(verdict)
    return "; ".join(f"{shown} {', '.join(verdicts)}" for shown, verdicts in kinds.items())


def pivot(frame: pd.DataFrame, printed: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """Return a comparison as a Markdown pivot: data sets by quantities, *paper* / ours, verdict.

    A table that compares nothing is shown as it is. ``printed`` has the paper's numbers as they
    stand there; see `pivots.printed`.
    """
    if "quantity" not in frame:
        plain = show(frame, "", "")
        return [
            markdown_row(plain.columns),
            markdown_row(["---"] * len(plain.columns)),
            *map(markdown_row, plain.rows),
        ]
    keys = list(frame.columns[: list(frame.columns).index("quantity")])
    columns = list(dict.fromkeys(frame["quantity"]))
    lines = [markdown_row([*keys, *columns]), markdown_row(["---"] * (len(keys) + len(columns)))]
    for key, group in frame.groupby(keys, sort=False):
        cells = {row["quantity"]: _cell(row, printed) for row in group.to_dict("records")}
        lines.append(markdown_row([*map(str, key), *(cells.get(c, "") for c in columns)]))
    return lines


def _cell(row: Mapping, printed: Mapping[str, str]) -> str:
    """Write both numbers and the verdict; ours alone where the paper has none."""
    digits = 2 if RATIO in row["quantity"] else 4
    paper, ours, _ = together(row["paper"], row["ours"], digits)
    paper = printed.get(repr(float(row["paper"])), paper)
    if paper == NOTHING and kind(row["verdict"]) in (NOT_IN_PAPER, kind(NOT_COMPARED)):
        return ours
    spreads = [row.get(name, math.nan) for name in ("paper's std", "our std")]
    texts = (printed.get(repr(float(spreads[0])), ""), "")
    theirs, our_spread = (
        f" ± {text or significant(s, 2)}" if pd.notna(s) else ""
        for s, text in zip(spreads, texts, strict=True)
    )
    return (
        f"*{paper}{theirs}* / {ours}{our_spread if ours != NOTHING else ''} {sign(row['verdict'])}"
    )


def _anchor(title: str) -> str:
    return re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")


def _told(columns: list[str], rows: list[list[str]]) -> str:
    """Tell rows of a comparison that differ in their quantity only."""
    last = columns.index("quantity")
    named = [(c, v) for c, v in zip(columns[:last], rows[0], strict=False) if v != NOTHING]
    where = ", ".join(v if c == "data set" else f"{c} {v}" for c, v in named)
    cells = [dict(zip(columns, row, strict=True)) for row in rows]
    texts = [
        f"{c['quantity']} *{c['paper']}* / {c['ours']}{c['verdict'].removeprefix(DIFFERS)}"
        for c in cells
    ]
    return f"{where}: {', '.join(texts)}"


def _differing(content: Mapping) -> dict[str, list[str]]:
    """Tell the cells that differ by what explains them, and the paper's unsupported sentences."""
    by_cause: dict[str, dict[tuple, list[list[str]]]] = {}
    columns = {t["name"]: t["columns"] for t in content["tables"] if "quantity" in t["columns"]}
    names = {t["name"]: _short(t["heading"]) for t in content["tables"]}
    for table in (t for t in content["tables"] if t["name"] in columns and not t.get("evidence")):
        for row, verdict in zip(table["rows"], table["kinds"], strict=True):
            if verdict == DIFFERS:
                keys = row[: table["columns"].index("quantity")]
                cells = dict(zip(table["columns"], row, strict=True))
                why = _explanation(content, table["name"], cells)
                by_cause.setdefault(why, {}).setdefault((table["name"], *keys), []).append(row)
    parts = {
        why: [f"{names[key[0]]}, {_told(columns[key[0]], rows)}" for key, rows in by_key.items()]
        for why, by_key in by_cause.items()
    }
    sentences = [
        f"{c['claim']} ({c['dataset']}): {c['evidence']}"
        for c in content["claims"]
        if c["verdict"] == NOT_SUPPORTED and c["source"] == PAPER
    ]
    if sentences:
        parts["Sentences of the paper that are not supported"] = sentences
    return parts


def _short(heading: str) -> str:
    """Return "Table 3" of a heading that names it; else the heading."""
    number = TABLE.search(heading)
    return number[0] if number else heading


def sections(
    order: Iterable[str], tables: Iterable[Mapping], figures: Iterable[Mapping]
) -> list[dict]:
    """List the paper's tables and figures in its order, each with all that is shown of it.

    Parameters
    ----------
    order : iterable of str
        "Table 1", "Figure 1", ... as the paper has them.

    Returns
    -------
    list of dict
        The ``title`` of each, its ``tables`` and its ``figures``; last, without a title, those that
        are none of the paper's.
    """
    items: dict[str, dict[str, list]] = {item: {"tables": [], "figures": []} for item in order}
    rest: dict[str, list] = {"tables": [], "figures": []}
    for part, things in (("tables", tables), ("figures", figures)):
        for thing in things:
            item = "" if thing.get("evidence") else _item(thing)
            items.get(item, rest)[part].append(thing)
    shown = {item: parts for item, parts in items.items() if any(parts.values())}
    return [{"title": _title(item, **shown[item]), **shown[item]} for item in shown] + [
        {"title": "", **rest}
    ]


def _item(thing: Mapping) -> str:
    """Return the table or figure of the paper that a heading names, or else a figure's name."""
    if item := ITEM.search(thing["heading"]):
        return item[0]
    number = re.match(r"figure((?:_\d+)+)_", thing["name"])
    return f"Figure {number[1][1:].replace('_', '.')}" if number else ""


def _title(item: str, tables: list[Mapping], figures: list[Mapping]) -> str:
    """Return the heading of a table; of figures alone their number, and whether data are others."""
    if tables:
        return tables[0]["heading"]
    other = re.search(r"\(as in the paper's .*, (on .*)\)$", figures[0]["heading"])
    return f"As in {item}, {other[1]}" if other else item


def _explanation(content: Mapping, table: str, cells: Mapping[str, str]) -> str:
    """Say what was found to explain a cell that differs."""
    for explained in content["explained"]:
        named = table in explained["tables"] and cells.get("data set") in explained["datasets"]
        if named and re.search(explained["quantities"], cells.get("quantity", "")):
            head = "Explained" if explained.get("cause", True) else "Unexplained, but"
            return f"{head}: {explained['text'].rstrip('.')}"
    return "Unexplained"


def merged(parts: list[dict]) -> dict:
    """Join what some suites made of one paper: of each thing what the first of them has.

    Parameters
    ----------
    parts : list of dict
        Contents of ``outputs.json``, the preferred suite's first, with the ``folder`` of each.

    Returns
    -------
    dict
        The same of all; ``parts`` holds those of which something is shown. Tables, figures and
        claims know their ``suite``, tables and figures their ``folder``.
    """
    firsts = {key: _firsts(parts, key, _name) for key in ("tables", "figures", "highlights")}
    firsts["claims"] = _claims(parts)
    suites = {item["suite"] for items in firsts.values() for item in items}
    shown = [part for part in parts if part["suite"] in suites]
    held: dict[str, list[int]] = {}
    for name, counts in (pair for part in shown for pair in part["certificates"].items()):
        held[name] = [a + b for a, b in zip(held.get(name, [0, 0]), counts, strict=True)]
    data = {d["name"]: d for part in shown for d in part["data"]}
    left = [sentence for part in parts for sentence in part["left"]]
    joined = {"certificates": held, "data": list(data.values()), "left": left, "parts": shown}
    return {**parts[0], **firsts, **joined}


def _name(item: Mapping) -> str:
    return item.get("name", item.get("table", ""))


def _numbers(name: str) -> list[float]:
    """Return the numbers in a table's name, to sort by; what has none comes last."""
    return [*map(float, re.findall(r"\d+", name))] or [math.inf]


def _firsts(parts: list[dict], key: str, of: Callable[[Mapping], Hashable]) -> list[dict]:
    """List what the first part has that has it, in the order of the last part."""
    owner: dict[Hashable, dict] = {}
    for part in parts:
        for item in part[key]:
            owner.setdefault(of(item), part)
    order = list(dict.fromkeys(of(i) for part in reversed(parts) for i in part[key]))
    if key in ("tables", "figures"):
        order.sort(key=_numbers)  # what only the preferred suite has comes to its place
    where = {p["suite"]: {"suite": p["suite"], "folder": p["folder"]} for p in parts}
    return [
        {**item, **where[owner[name]["suite"]]}
        for name in order
        for item in owner[name][key]
        if of(item) == name
    ]


def _claims(parts: list[dict]) -> list[dict]:
    """List what the first part has of each claim, and beside it what another decides otherwise."""
    by_sentence: dict[tuple, list[dict]] = {}
    for part in parts:
        of: dict[tuple, list[dict]] = {}
        for claim in part["claims"]:
            labelled = {**claim, "suite": part["suite"]}
            of.setdefault((claim["claim"], claim["source"]), []).append(labelled)
        for key, claims in of.items():
            before = by_sentence.setdefault(key, [])
            verdicts = {claim["verdict"] for claim in before}
            before += [c for c in claims if not verdicts or c["verdict"] in {*DECIDED} - verdicts]
    order = dict.fromkeys((c["claim"], c["source"]) for p in reversed(parts) for c in p["claims"])
    return [claim for key in order for claim in by_sentence[key]]


def read(folders: Iterable[Path]) -> dict[str, dict]:
    """Return every paper's content, of some folders ``<paper>/outputs.json``, preferred first."""
    contents: dict[str, list[dict]] = {}
    for folder in folders:
        files = sorted(folder.glob("*/outputs.json"))
        if not files:
            raise SystemExit(f"{folder} holds no <paper>/outputs.json: run the suite first.")
        for file in files:
            content = json.loads(file.read_text("utf-8"))
            place = {"name": file.parent.name, "folder": file.parent}
            contents.setdefault(file.parent.name, []).append(content | place)
    return {name: merged(contents[name]) for name in sorted(contents)}


def write(folders: Iterable[Path], out: Path) -> str:
    """Write the pages of some suites, preferred first; return the README's block."""
    papers = read(folders)
    origin = f"{provenance.now()}, commit {provenance.commit(Path.cwd()) or 'unknown'}"
    for name, paper in papers.items():
        place = out / name
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        for table in _shown(paper["tables"]):
            file = table["folder"] / "tables" / f"{table['name']}.csv"
            table["pivot"] = pivot(pd.read_csv(file), paper["printed"])
            shutil.copy(file, place)
        for figure in paper["figures"]:
            shutil.copy(figure["folder"] / "figures" / f"{figure['name']}.png", place)
        names = {figure["name"]: figure for figure in paper["figures"]}
        paper["tables"].sort(key=lambda table: bool(table.get("evidence")))
        paper |= {
            "head": overview.headline(paper),
            "sections": sections(
                paper.get("order", ()),
                [table for table in paper["tables"] if "pivot" in table],
                paper["figures"],
            ),
            "differing": _differing(paper),
            "anchor": _anchor(paper["title"]),
            "marks": _marks(paper["tables"]),
            "front": next((names[f] for f in FRONT if f in names), None),
        }
        write_text(out / f"{name}.md", _rendered("paper", paper=paper, origin=origin))
    write_text(out / "README.md", _rendered("index", papers=papers, origin=origin))
    times = [row for paper in papers.values() for row in _times(paper)]
    folder = f"docs/{out.name}/"
    return _rendered("readme", papers=papers, folder=folder, times=times, origin=origin)


def _rendered(name: str, **content: object) -> str:
    """Return a page or a block in Markdown."""
    words = {"count": count, "legend": legend, "sign": sign, "described": overview.described}
    return templates().get_template(f"{name}.md").render(**words, **content)


def _times(paper: Mapping) -> Iterable[tuple[str, str, str]]:
    """Yield what others would run, on which data, and its time in times of the path, all ours."""
    for light in paper["highlights"]:
        if TIMES.search(light["what"]):
            what = light["what"].replace(" / path", "").removesuffix(", in times of the path")
            yield what, light["dataset"], light["ours"]


def _marks(tables: list[Mapping]) -> list[str]:
    """Say of each of the paper's tables what became of its cells."""
    by_table: dict[str, Counter] = {}
    for table in tables:
        number = TABLE.search(table["heading"])
        if number and "verdict" in table["columns"] and not table.get("evidence"):
            cells = [overview.CELLS[k] for k in table["kinds"] if k in overview.CELLS]
            by_table.setdefault(number[1], Counter()).update(cells)
    order = dict.fromkeys(overview.CELLS.values())
    texts = {
        number: " ".join(f"{sign(k)} {counts[k]}" for k in order if counts[k])
        for number, counts in by_table.items()
    }
    return [f"{number}: {text}" for number, text in texts.items() if text]


def _shown(tables: list[dict]) -> list[dict]:
    """List the comparisons, or the own tables of a paper that has none."""
    compared = [t for t in tables if "verdict" in t["columns"]]
    return compared or [t for t in tables if t["name"] not in SHARED]


def put_into(readme: Path, block: str) -> None:
    """Replace the block of results in a README, or add it at the end."""
    text, marked = readme.read_text("utf-8"), f"{BEGIN}\n{block}{END}"
    pattern = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.S)
    new = pattern.sub(lambda _: marked, text) if pattern.search(text) else f"{text}\n{marked}\n"
    write_text(readme, new)


def main(arguments: list[str] | None = None) -> None:
    """Write pages and, if asked, a README's block."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", type=Path, nargs="+", help="results/<suite>, preferred first")
    parser.add_argument("out", type=Path, help="docs/results")
    parser.add_argument("--readme", type=Path)
    asked = parser.parse_args(arguments)
    block = write(asked.suite, asked.out)
    if asked.readme:
        put_into(asked.readme, block)


if __name__ == "__main__":
    main()
