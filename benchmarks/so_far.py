"""A paper's tables, figures and claims from the cells that are finished so far.

A run of the suite `paper` takes hours, and the workflow writes its tables when all of it is done.
This writes those of what there is into results/so_far/<paper>, and says what is still to come.

    python benchmarks/so_far.py robust_svm
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from cost import ROOT, configuration

from path_benchmark.papers import get_paper
from path_benchmark.papers.reports import write_outputs
from path_benchmark.runs.cells import collect, file_of, rows_of
from path_benchmark.runs.paper import Paper


def at_hand(
    paper: Paper, config: dict, suite: str, folder: Path
) -> tuple[list[Path], dict[str, tuple[int, int]]]:
    """Return the files of cells that are there, and of how many of each kind."""
    files: list[Path] = []
    there: Counter[str] = Counter()
    wanted: Counter[str] = Counter()
    for job in paper.jobs(config, suite):
        splits = range(job.first, job.last + 1)
        for cell in paper.cells(config, suite, job.experiment, job.dataset, splits):
            kind, file = f"{job.experiment} {job.dataset}", file_of(cell, folder)
            wanted[kind] += 1
            if file.is_file() and rows_of(file).is_file():
                there[kind] += 1
                files.append(file)
    return files, {kind: (there[kind], count) for kind, count in wanted.items()}


def main() -> None:
    """Write what there is."""
    config = configuration()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paper", choices=sorted(config["papers"]))
    parser.add_argument("--suite", default="paper")
    parser.add_argument("--results", type=Path, default=ROOT / "results")
    given = parser.parse_args()
    cells = given.results / given.suite / "cells" / given.paper
    files, counts = at_hand(get_paper(given.paper), config, given.suite, cells)
    if not files:
        parser.error(f"no cell of {given.paper} is finished in {cells}: run the workflow first")
    out = given.results / "so_far" / given.paper
    out.mkdir(parents=True, exist_ok=True)
    rows = collect(files, out / "results.parquet", out / "curves.parquet")
    print(write_outputs(config, given.suite, given.paper, out), end="")
    for kind, (there, wanted) in counts.items():
        if there < wanted:
            print(f"{kind}: {there} of {wanted} cells")
    print(f"{len(files)} of {sum(w for _, w in counts.values())} cells, {rows} rows, in {out}")


if __name__ == "__main__":
    main()
