"""Papers' tables, figures and claims from what is finished so far of a suite.

A run of the suite `paper` takes hours, and the workflow writes its tables when all of it is done.
This takes over what the reference results hold, writes the tables of what there is into
results/so_far/<paper>, and says what is still to come. A data set counts in an experiment when all
its splits are there.

    python benchmarks/so_far.py                # every paper of which something is finished
    python benchmarks/so_far.py robust_svm
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


def at_hand(
    paper: Paper, config: dict, suite: str, folder: Path
) -> tuple[list[Path], dict[str, tuple[int, int]]]:
    """Return the files of the cells to show, and how many of each kind are there, and wanted.

    A kind is an experiment on a data set; it is shown when it is whole.
    """
    found: dict[str, list[Path]] = {}
    for job in paper.jobs(config, suite):
        splits = range(job.first, job.last + 1)
        cells = paper.cells(config, suite, job.experiment, job.dataset, splits)
        own = found.setdefault(f"{job.experiment} {job.dataset}", [])
        own += [file_of(cell, folder) for cell in cells]
    there = {
        k: [f for f in own if f.is_file() and rows_of(f).is_file()] for k, own in found.items()
    }
    shown = [file for kind, own in found.items() if there[kind] == own for file in own]
    return shown, {kind: (len(there[kind]), len(own)) for kind, own in found.items()}


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
    folder, out = results / suite / "cells" / name, results / "so_far" / name
    files, counts = at_hand(get_paper(name), config, suite, folder)
    left = unfinished(counts)
    shutil.rmtree(out, ignore_errors=True)
    if not files:
        return [*left, f"{name}: nothing is finished in {folder}"]
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
    for name in given.papers or config["papers"]:
        for sentence in take(get_paper(name), config, given.suite, given.reference / given.suite):
            print(sentence)
        print(*write(name, config, given.suite, given.results), sep="\n")


if __name__ == "__main__":
    main()
