"""The whole of a suite at a glance: totals, the map of verdicts, and whether it reproduced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from .formats import count
from .tables import css
from .verdicts import (
    AGREES,
    DIFFERS,
    GLYPHS,
    INCONCLUSIVE,
    MISSING,
    NOT_SUPPORTED,
    NOT_TESTED,
    SUPPORTED,
    kind,
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
    found = {
        CERTIFIED: _certified(paper),
        **{table["heading"]: _of_table(paper["name"], table) for table in paper["tables"]},
        "Claims of the text": _of_claims(paper, "paper"),
        "Goals of this project": _of_claims(paper, "this project"),
    }
    columns = list(dict.fromkeys(d for marks in found.values() for _, d, _, _ in marks))
    groups = [(heading, _rows(marks, columns)) for heading, marks in found.items() if marks]
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


# ---------------------------------------------------------------- totals


def totals(papers: Iterable[Mapping]) -> dict[str, Counter]:
    """Count verdicts of the papers' numbers, of their sentences, of certificates, and of goals."""
    found = {name: Counter() for name in ("numbers", "sentences", "goals", "certificates")}
    for paper in papers:
        found["numbers"].update(k for table in paper["tables"] for k in table["kinds"] if k)
        for claim in paper["claims"]:
            name = "sentences" if claim["source"] == "paper" else "goals"
            found[name][kind(claim["verdict"])] += 1
        for held, total in paper["certificates"].values():
            found["certificates"].update(held=held, total=total)
    return found


def foreign_data(papers: Iterable[Mapping]) -> dict[str, list[str]]:
    """List each paper's data sets that are not its own, and what they stand for."""
    return {paper["title"]: _foreign(paper["data"]) for paper in papers}


def _foreign(data: Iterable[Mapping]) -> list[str]:
    """Name strange data sets; those that stand for the same data are named together."""
    found = [d["name"] for d in data if not d["papers"]]
    stands: dict[str, list[str]] = {}
    for d in data:
        if d["papers"] and d["instead_of"]:
            stands.setdefault(d["instead_of"], []).append(d["name"])
    for other, names in stands.items():
        told = names[0] if len(names) == 1 else f"{len(names)} data sets from {names[0]} on"
        found.append(f"{told} (instead of {other})")
    return found


def answer(papers: list[Mapping]) -> tuple[str, str]:
    """Say in a sentence or two whether the papers were reproduced.

    Returns
    -------
    kind, text : str
        The kind is "agrees", "differs" or "not tested here".
    """
    found = totals(papers)
    numbers, sentences = found["numbers"], found["sentences"]
    held = found["certificates"]
    certified = f"{held['held']} of {count(held['total'], 'path')} certified exact"
    if not any(d["papers"] for paper in papers for d in paper["data"]):
        return NOT_TESTED, (
            "This suite can't tell whether the papers are reproduced: none of its data are theirs. "
            f"It shows that everything works: {certified}."
        )
    compared = numbers[AGREES] + numbers[DIFFERS]
    tested = sentences[SUPPORTED] + sentences[NOT_SUPPORTED]
    parts = [certified]
    if tested:
        text = f"{sentences[SUPPORTED]} of {count(tested, 'tested sentence')} of the papers"
        parts.insert(0, f"{text} supported")
    if compared:
        parts.insert(0, f"{numbers[AGREES]} of {count(compared, 'published number')} agree")
    if numbers[MISSING]:
        parts.append(f"{count(numbers[MISSING], 'number')} missing here")
    if undecided := sentences[INCONCLUSIVE] + sentences[NOT_TESTED]:
        parts.append(f"{count(undecided, 'sentence')} not decided")
    whole = numbers[DIFFERS] == sentences[NOT_SUPPORTED] == 0 and held["held"] == held["total"]
    some = numbers[AGREES] + sentences[SUPPORTED] > 0
    head = "Reproduced in part" if some else "Not reproduced"
    head = "Reproduced, as far as it was tested" if whole else head
    if not compared + tested:
        return NOT_TESTED, f"Nothing that the papers state was tested: {certified}."
    return (AGREES if whole else DIFFERS), f"{head}: {'; '.join(parts)}."


def summary_lines(papers: list[Mapping], page: str) -> list[str]:
    """Return what the terminal shows last: what was reproduced, what was not, where to look."""
    lines = [answer(papers)[1]]
    for paper in papers:
        found = totals([paper])
        told = found["numbers"] + found["sentences"]
        counts = ", ".join(f"{told[k]} {k}" for k in GLYPHS if told[k])
        lines.append(f"{paper['title']}: {counts or 'no verdicts'}")
        for table in paper["tables"]:
            for row, verdict in zip(table["rows"], table["kinds"], strict=True):
                if verdict == DIFFERS:
                    lines.append(f"  ✗ {' | '.join(row)}")
        lines += [
            f"  ✗ {claim['claim']} ({claim['dataset']})"
            for claim in paper["claims"]
            if claim["verdict"] == NOT_SUPPORTED
        ]
    return [*lines, f"Everything: {page}"]
