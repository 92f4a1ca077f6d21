"""Papers' tables, figures and claims from what is finished so far of a suite.

A run of the suite `paper` takes hours, and the workflow writes its tables when all of it is done.
This writes the tables of what there is, here or in the reference results (seconds of other
machines, too), into results/so_far/<paper>, and says what is still to come. A split of a data set
counts in an experiment when all its cells are there.

    python measurements/so_far.py                # every paper of which something is finished
    python measurements/so_far.py robust_svm
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from cost import ROOT, configuration

from path_benchmark.papers import get_paper
from path_benchmark.papers.reports import write_outputs
from path_benchmark.runs.cells import collect, file_of, rows_of
from path_benchmark.runs.paper import Paper
from path_benchmark.runs.reference import take

TAKEN = "so_far/reference"  # where cells of the reference are laid, beside those of a run


def at_hand(
    paper: Paper, config: dict, suite: str, *folders: Path
) -> tuple[list[Path], dict[str, tuple[int, int]]]:
    """Return the files of the cells to show, and how many of each kind are there, and wanted.

    A kind is an experiment on a data set; those of its splits are shown that are whole. A cell is
    taken from the first folder that has it.
    """
    found: dict[str, dict[int, list[Path | None]]] = {}
    for job in paper.jobs(config, suite):
        splits = range(job.first, job.last + 1)
        for cell in paper.cells(config, suite, job.experiment, job.dataset, splits):
            own = found.setdefault(f"{job.experiment} {job.dataset}", {}).setdefault(cell.split, [])
            own.append(_there([file_of(cell, folder) for folder in folders]))
    shown, counts = [], {}
    for kind, by_split in found.items():
        every = [file for own in by_split.values() for file in own]
        counts[kind] = (sum(map(bool, every)), len(every))
        shown += [file for own in by_split.values() if all(own) for file in own if file]
    return shown, counts


def _there(files: list[Path]) -> Path | None:
    """Return the first of a cell's files that is whole."""
    return next((file for file in files if file.is_file() and rows_of(file).is_file()), None)


def unfinished(counts: dict[str, tuple[int, int]]) -> list[str]:
    """Say of each experiment how many cells of which data sets are there, where some are not."""
    found: dict[str, list[str]] = {}
    for kind, (there, wanted) in counts.items():
        if there < wanted:
            experiment, dataset = kind.split()
            found.setdefault(experiment, []).append(f"{dataset} ({there} of {wanted} cells)")
    return [f"{experiment}: {', '.join(told)}" for experiment, told in found.items()]


def write(name: str, config: dict, suite: str, results: Path) -> list[str]:
    """Write what there is of a paper; say what is left and what was written."""
    out = results / "so_far" / name
    folders = [place / suite / "cells" / name for place in (results, results / TAKEN)]
    files, counts = at_hand(get_paper(name), config, suite, *folders)
    left = unfinished(counts)
    shutil.rmtree(out, ignore_errors=True)
    if not files:
        return [*left, f"{name}: nothing is finished in {folders[0]}"]
    out.mkdir(parents=True)
    rows = collect(files, out / "results.parquet", out / "curves.parquet")
    write_outputs(config, suite, name, out, left)
    wanted = sum(of for _, of in counts.values())
    return [*left, f"{name}: {len(files)} of {wanted} cells, {rows} rows, in {out}"]


def main() -> None:
    """Write what there is."""
    config = configuration()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("papers", nargs="*", help="all, unless named")
    parser.add_argument("--suite", default="paper", choices=sorted(config["suites"]))
    parser.add_argument("--results", type=Path, default=ROOT / "results")
    parser.add_argument("--reference", type=Path, default=ROOT / config["reference"])
    given = parser.parse_args()
    if unknown := set(given.papers) - set(config["papers"]):
        parser.error(
            f"no paper is called {', '.join(sorted(unknown))}: {', '.join(config['papers'])}"
        )
    config["results"] = str(given.results)
    taken = config | {"results": str(given.results / TAKEN)}
    folder = given.reference / given.suite
    shutil.rmtree(taken["results"], ignore_errors=True)  # the reference may have newer cells by now
    for name in given.papers or config["papers"]:
        for sentence in take(get_paper(name), taken, given.suite, folder, anywhere=True):
            print(sentence)
        print(*write(name, config, given.suite, given.results), sep="\n")


if __name__ == "__main__":
    main()
