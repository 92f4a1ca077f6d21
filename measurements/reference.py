"""Add a suite's finished cells to the reference results, which git keeps: ``make reference``.

A later checkout takes over those whose settings and data are the same; see
`path_benchmark.runs.reference`.

    python measurements/reference.py --suite paper
"""

from __future__ import annotations

import argparse
from pathlib import Path

from cost import ROOT, configuration

from path_benchmark.papers import get_paper
from path_benchmark.runs.reference import export


def main(arguments: list[str] | None = None) -> None:
    """Export, and say how many cells of how many the reference holds."""
    config = configuration()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", default="paper", choices=sorted(config["suites"]))
    parser.add_argument("--results", type=Path, default=ROOT / config["results"])
    parser.add_argument("--out", type=Path, default=ROOT / config["reference"])
    given = parser.parse_args(arguments)
    config["results"] = str(given.results)
    folder = given.out / given.suite
    for name in config["papers"]:
        there, planned = export(get_paper(name), config, given.suite, folder)
        print(f"{name}: {there} of {planned} cells of the suite {given.suite} are in {folder}")
    size = sum(file.stat().st_size for file in folder.glob("*"))
    print(f"{size / 1e6:.2f} MB in all")


if __name__ == "__main__":
    main()
