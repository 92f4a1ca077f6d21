"""The benchmark from the command line: ``python -m path_benchmark --help``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from .settings import ConfigError
from .status import configuration, report

EPILOG = """\
The benchmark itself is a Snakemake workflow; call it in the checkout:
  snakemake --cores 2 quick                run the offline suite
  snakemake --cores 8 paper                run the papers' data sets, sizes and splits
  snakemake --cores 8 PAPER -n             say what a paper's part would run

Modules with options of their own (add --help):
  python -m path_benchmark.papers.assertions results/SUITE     check a suite's results
  python -m path_benchmark.reporting.published results/SUITE OUT   write pages of a finished suite
  python -m solution_paths                                     compile everything in advance
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit status."""
    parser = argparse.ArgumentParser(
        "python -m path_benchmark",
        description="The benchmark of solution paths: how far a run is; a finished one, to share.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    status = commands.add_parser("status", help="say what of a suite is finished, runs, failed")
    status.add_argument("suite", nargs="?", default="paper")
    status.add_argument("--only", default="", help="names of experiments, as in --config only=")
    status.add_argument(
        "--same-code", action="store_true", help="fail where other code made a cell"
    )
    crate = commands.add_parser("crate", help="pack a finished suite as an RO-Crate, one zip file")
    crate.add_argument("suite", nargs="?", default="paper")
    for command in (status, crate):
        command.add_argument("--results", help="the folder of results, as in --config results=")
    options = parser.parse_args(arguments)
    try:
        config = configuration(Path.cwd())
        config["results"] = options.results or config["results"]
        if options.command == "crate":
            from .crate import write_crate

            lines: Iterable[str] = [write_crate(config, options.suite, Path.cwd())[1]]
        else:
            lines = report({**config, "only": options.only}, options.suite, options.same_code)
        for line in lines:
            print(line)
    except ConfigError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
