"""Write what docs/reproduction.md says of each paper's tables, data and sentences.

Usage: python docs/reproduction.py

Blocks between two comments are made from the configuration, each paper's folder and the log of
explanations; the prose around them is written by hand. A paper without a block gets one at the end.
"""

import re
from collections import Counter
from pathlib import Path

import pandas as pd

from path_benchmark.papers.reports import get_outputs
from path_benchmark.reporting.formats import count
from path_benchmark.reporting.outputs import Outputs
from path_benchmark.settings import read_yaml

ROOT = Path(__file__).parents[1]
DOCUMENT = Path(__file__).with_suffix(".md")
BEGIN, END = "<!-- {}: written by docs/reproduction.py -->", "<!-- end -->"
STANDS_IN = "stands in"


def papers() -> dict[str, dict]:
    """Return each paper's file of settings by its name."""
    return {file.stem: read_yaml(file) for file in sorted((ROOT / "config/papers").glob("*.yaml"))}


def block(name: str, paper: dict) -> str:
    """Return what the data say of a paper."""
    outputs = get_outputs(name)
    told = [paper["citation"].strip(), *numbers(outputs), *sentences(outputs)]
    return "\n".join([*told, "", *data_sets(paper)])


def explanations() -> str:
    """Return the mean scores that explain differences, and the published ones that they meet."""
    scores = pd.read_csv(ROOT / "measurements/log/explanations.csv")
    lines = ["| what | case | mean AUC, % | splits |", "| --- | --- | ---: | ---: |"]
    for (what, case), group in scores.groupby(["what", "case"], sort=False):
        found = group["label AUC %"]
        lines.append(f"| {what} | {case} | {found.mean():.1f} | {len(found)} |")
    return "\n".join(lines)


def numbers(outputs: Outputs) -> list[str]:
    """Count the published numbers that are data."""
    files = sorted((outputs.folder / "published").glob("*.csv")) if outputs.folder else []
    total = sum(
        int(outputs.published(file.stem).select_dtypes("number").notna().sum().sum())
        for file in files
    )
    if not total:
        return ["It prints no numbers that could be compared."]
    told = count(total, "number of its tables is data", "numbers of its tables are data")
    return [f"{told} of this project, in {count(len(files), 'file')}."]


def sentences(outputs: Outputs) -> list[str]:
    """Count sentences of the paper and goals of this project."""
    of = Counter(row.source for row in outputs.claims_file.claims)
    told = f"{count(of['paper'], 'sentence')} of the paper and {of['this project']} of this project"
    return [f"Decided by a rule: {told}." if of else "No sentence is tested."]


def data_sets(paper: dict) -> list[str]:
    """Return the table of data sets that the suite `paper` uses."""
    catalogue = read_yaml(ROOT / "config/datasets.yaml")["datasets"]
    used: dict[str, int] = {}
    for run in paper["suites"].get("paper", {}).values():
        for name in run["datasets"]:
            there = paper["datasets"][name].get("splits", run["splits"])
            used[name] = max(used.get(name, 0), min(run["splits"], there))
    lines = [
        "| data set | from | samples | features | splits |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    groups: dict[tuple, list[str]] = {}
    for name, splits in used.items():
        own = paper["datasets"][name]
        sources = own.get("sources", [name])
        entries = [catalogue[source] for source in sources]
        title = own.get("title") or name.replace("_", " ")
        place = own.get("instead_of", "" if own.get("place") else STANDS_IN)
        fetched = ", ".join(dict.fromkeys(origin(entry) for entry in entries))
        size = [f"{sum(e['n'] for e in entries):,}", f"{max(e['d'] for e in entries):,}"]
        key = (fetched, *size, splits, place, tuple(sources))
        groups.setdefault(key, []).append(title)
    for (fetched, *size, splits, place, _), titles in groups.items():
        stems = {title.rstrip("0123456789") for title in titles}
        numbered = len(stems) == 1 and len(titles) > 1
        title = f"{titles[0]} to {titles[-1].split()[-1]}" if numbered else ", ".join(titles)
        title += f" (in place of {place})" * bool(place and place != STANDS_IN)
        title += " (not the paper's)" * (place == STANDS_IN)
        lines.append("| " + " | ".join([title, fetched, *size, str(splits)]) + " |")
    return lines


def origin(entry: dict) -> str:
    """Say where a data set comes from."""
    if entry["source"] != "files":
        return str(entry["source"])
    urls = any(file.get("urls") for file in entry["files"])
    return "downloaded" if urls else f"`data/raw/{entry['files'][0]['name']}`"


def written(text: str) -> str:
    """Return the document with fresh blocks."""
    blocks = {"explanations": explanations()}
    for name, paper in papers().items():
        blocks[name] = block(name, paper)
        if BEGIN.format(name) not in text:
            text += f"\n## {paper['title']}\n\n{BEGIN.format(name)}\n{END}\n"
    for name, own in blocks.items():
        begin = BEGIN.format(name)
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(END), re.S)
        text = pattern.sub(lambda _, new=f"{begin}\n{own}\n{END}": new, text)
    return text


if __name__ == "__main__":
    DOCUMENT.write_text(written(DOCUMENT.read_text("utf-8")), "utf-8")
