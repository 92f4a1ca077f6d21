"""The whole of a suite at a glance: a headline for each paper, and the map of verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from .formats import count
from .tables import css
from .verdicts import (
    AGREES,
    CANT_TELL,
    CONTRADICTED,
    DIFFERS,
    GLYPHS,
    INCONCLUSIVE,
    MISSING,
    NOT_SUPPORTED,
    NOT_TESTED,
    PAPER,
    PROJECT,
    SUPPORTED,
    worst,
)

# What a table's rows are about: the column that says so, the first of these that it has.
DATA_COLUMNS = ("data set", "task")
CERTIFIED = "Every path is certified"


def heat_map(paper: Mapping) -> dict:
    """Return a paper's map of verdicts: groups of rows, one cell for each data set.

    Parameters
    ----------
    paper : mapping
        What its ``outputs.json`` holds, and its ``name``.

    Returns
    -------
    dict
        ``columns``: data sets; ``groups``: (heading, rows), a row being (label, cells), a cell
        None or what its verdicts are, with the anchor of the evidence.
    """
    by_table = {
        CERTIFIED: _certified(paper),
        **{table["heading"]: _of_table(paper["name"], table) for table in paper["tables"]},
        "Claims of the text": _of_claims(paper, PAPER),
        "Sentences that the paper's own tables contradict": _of_claims(paper, CONTRADICTED),
        "Questions and goals of this project": _of_claims(paper, PROJECT),
    }
    columns = list(dict.fromkeys(d for marks in by_table.values() for _, d, _, _ in marks))
    groups = [(heading, _rows(marks, columns)) for heading, marks in by_table.items() if marks]
    return {"columns": columns, "groups": groups}


# A mark is (label, data set, verdict, anchor).
Mark = tuple[str, str, str, str]


def _certified(paper: Mapping) -> list[Mark]:
    anchor = f"{paper['name']}-table_certificates"
    return [
        (CERTIFIED, d, SUPPORTED if held == total else NOT_SUPPORTED, anchor)
        for d, (held, total) in paper["certificates"].items()
    ]


def _of_table(paper: str, table: Mapping) -> list[Mark]:
    column = next((c for c in DATA_COLUMNS if c in table["columns"]), None)
    if column is None:
        return []
    data, what = table["columns"].index(column), table["columns"]
    quantity = what.index("quantity") if "quantity" in what else None
    return [
        (
            table["heading"]
            if quantity is None
            else row[quantity].split(",")[0]
            if row[quantity].startswith("kinks")
            else row[quantity],
            row[data],
            verdict,
            f"{paper}-{table['name']}-{k}",
        )
        for k, (row, verdict) in enumerate(zip(table["rows"], table["kinds"], strict=True))
        if verdict
    ]


def _of_claims(paper: Mapping, source: str) -> list[Mark]:
    return [
        (claim["claim"], claim["dataset"], claim["verdict"], f"{paper['name']}-claim-{k}")
        for k, claim in enumerate(paper["claims"])
        if claim["source"] == source
    ]


def _rows(marks: Iterable[Mark], columns: list[str]) -> list[tuple[str, list]]:
    by_label: dict[str, dict[str, list[Mark]]] = {}
    for mark in marks:
        by_label.setdefault(mark[0], {}).setdefault(mark[1], []).append(mark)
    return [(label, [_cell(of.get(d)) for d in columns]) for label, of in by_label.items()]


def _cell(marks: list[Mark] | None) -> dict | None:
    """Show the worst of several verdicts, and lead to where it stands."""
    if not marks:
        return None
    shown = worst(m[2] for m in marks)
    counts = Counter(m[2] for m in marks)
    return {
        "kind": shown,
        "glyph": GLYPHS[shown],
        "class": css(shown),
        "anchor": next(m[3] for m in marks if m[2] == shown),
        "text": ", ".join(f"{n} {name}" if len(marks) > 1 else name for name, n in counts.items()),
    }


# ---------------------------------------------------------------- the headline: each paper alone

# What becomes of a published cell, from what its verdict says; other cells aren't the paper's.
CELLS = {AGREES: AGREES, DIFFERS: DIFFERS, CANT_TELL: INCONCLUSIVE, INCONCLUSIVE: INCONCLUSIVE}
CELLS |= {MISSING: NOT_TESTED, NOT_TESTED: NOT_TESTED}
CLAIMS = (SUPPORTED, NOT_SUPPORTED, INCONCLUSIVE, NOT_TESTED)


def headline(paper: Mapping) -> dict:
    """Count what became of one paper's tables, published cells, sentences and paths.

    Cells are those of quantities: what came out under other settings than the table's is evidence
    and no cell of it. A sentence counts once, by the worst that came out on data of its own and of
    all methods that it names. Sentences of ours, and those that the paper's own tables contradict,
    are counted apart.

    Returns
    -------
    dict
        ``title``, ``kind`` ("agrees", "differs", "inconclusive" or "not tested here"), ``tables``,
        ``cells`` and ``claims`` by verdict, ``held`` of ``total`` paths, and the ``text`` of all
        that.
    """
    compared = [
        table
        for table in paper["tables"]
        if "quantity" in table["columns"] and not table.get("evidence")
    ]
    tables = [{CELLS[k]: 1 for k in table["kinds"] if k in CELLS} for table in compared]
    cells = Counter(CELLS[k] for t in compared for k in t["kinds"] if k in CELLS)
    claims = Counter(_sentences(paper["claims"]))
    held, total = (sum(n[k] for n in paper["certificates"].values()) for k in (0, 1))
    parts = [f"cells: {_counts(cells, dict.fromkeys(CELLS.values()))}"] * bool(cells)
    parts += [f"claims: {_counts(claims, CLAIMS)}"] * bool(claims)
    text = "; ".join([f"{count(sum(map(bool, tables)), 'table')} compared", *parts])
    return {
        "title": paper["title"],
        "kind": _kind(paper, cells, claims),
        "tables": sum(map(bool, tables)),
        "cells": cells,
        "claims": claims,
        "held": held,
        "total": total,
        "text": f"{text}; {held} of {count(total, 'path')} certified exact",
    }


def _sentences(claims: Iterable[Mapping]) -> list[str]:
    """Return the verdict on each sentence of the paper."""
    by_sentence: dict[tuple[str, str], list[str]] = {}
    for claim in claims:
        if claim["source"] == PAPER:
            key = claim.get("sentence") or claim["claim"], claim.get("place", "")
            by_sentence.setdefault(key, []).append(claim["verdict"])
    return [worst(verdicts) for verdicts in by_sentence.values()]


def _counts(counts: Counter, order: Iterable[str]) -> str:
    return ", ".join(f"{counts[k]} {k}" for k in order if counts[k])


def _kind(paper: Mapping, cells: Counter, claims: Counter) -> str:
    """Judge a paper by its own data alone; what failed, or isn't certified anywhere, is no tick."""
    failures = {d["name"]: d["failures"] for d in paper["data"] if d["papers"]}
    good = cells[AGREES] + claims[SUPPORTED]
    uncertified = {name for name, (held, total) in paper["certificates"].items() if held < total}
    if cells[DIFFERS] + claims[NOT_SUPPORTED] or uncertified & failures.keys():
        return DIFFERS
    if not (good and failures):
        return NOT_TESTED
    return INCONCLUSIVE if uncertified or any(failures.values()) else AGREES


def described(data: Mapping) -> str:
    """Name a data set, and say whether it is the paper's and how often something failed on it."""
    name = data["name"] if data["papers"] else f"{data['name']} (not the paper's)"
    return f"{name}, {count(data['failures'], 'failure')}" if data["failures"] else name


def foreign_data(papers: Iterable[Mapping]) -> dict[str, list[str]]:
    """List each paper's data sets that are not its own, and what they stand for."""
    return {paper["title"]: _foreign(paper["data"]) for paper in papers}


def _foreign(data: Iterable[Mapping]) -> list[str]:
    """Name strange data sets; those that stand for the same data are named together."""
    sets = [d["name"] for d in data if not d["papers"] and not d["instead_of"]]
    stands: dict[str, list[str]] = {}
    for d in data:
        if d["instead_of"]:
            stands.setdefault(d["instead_of"], []).append(d["name"])
    for other, names in stands.items():
        named = names[0] if len(names) == 1 else f"{len(names)} data sets from {names[0]} on"
        sets.append(f"{named} (instead of {other})")
    return sets


def summary_lines(papers: list[Mapping], page: str) -> list[str]:
    """Return what the terminal shows last: what was reproduced, what was not, where to look."""
    lines = []
    for paper in papers:
        lines.append(f"{paper['title']}: {headline(paper)['text']}")
        for table in paper["tables"]:
            for row, verdict in zip(table["rows"], table["kinds"], strict=True):
                if verdict == DIFFERS:
                    lines.append(f"  ✗ {' | '.join(row)}")
        lines += [
            f"  ✗ {claim['claim']} ({claim['dataset']})"
            for claim in paper["claims"]
            if claim["verdict"] == NOT_SUPPORTED and claim["source"] == PAPER
        ]
    return [*lines, f"Everything: {page}"]
