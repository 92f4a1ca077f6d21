"""Scientific assertions over a suite: ``python -m path_benchmark.papers.assertions FOLDER``.

FOLDER is ``results/<suite>``. The exit status is 0 if all assertions hold, else 1; each that fails
is reported in one sentence.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..reporting.check import check
from ..runs.rows import CURVES, SCHEMA, UnreadableResults, read_results
from .reports import get_outputs


def main(arguments: list[str] | None = None) -> int:
    """Check every paper of a suite; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="results/<suite>")
    folder = parser.parse_args(arguments).folder
    if folder.exists() and not folder.is_dir():
        print(f"{folder} is a file: name the folder results/<suite>.", file=sys.stderr)
        return 1
    files = sorted(folder.glob("*/results.parquet"))
    if not files:
        print(f"{folder} holds no <paper>/results.parquet: run the suite first.", file=sys.stderr)
        return 1
    failed = 0
    for file in files:
        name = file.parent.name
        try:
            results = read_results(file, SCHEMA)
            curves = read_results(file.with_name("curves.parquet"), CURVES)
        except UnreadableResults as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed += 1
            continue
        sentences = check(results) + get_outputs(name).complaints(results, curves)
        for sentence in sentences:
            print(f"{name}: {sentence}", file=sys.stderr)
        failed += len(sentences)
        paths = int((results["metric"] == "certificate").sum())
        print(f"{name}: {len(results)} rows, {paths} paths, {len(sentences)} complaints")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
