"""Compute cells of the reference again and compare their numbers: ``python measurements/again.py``.

Kinds of accuracy jobs (an experiment on a data set) are drawn at random among the short ones, and a
cell of each. They are computed by the code that is there, in a folder of their own. Every value is
compared with the stored one, but seconds, memory and rounding errors, which no run repeats. Ends
with an exit status where a value differs.

    python measurements/again.py --count 20 --seed 68 --minutes 1
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from cost import ROOT, configuration

from path_benchmark.papers import get_paper
from path_benchmark.runs.cells import Cell, read_cell
from path_benchmark.runs.needs import NEEDS, likely, measured
from path_benchmark.runs.paper import Paper
from path_benchmark.runs.reference import StoredCell, read_reference

KEYS = ["method", "hyper_parameters", "kernel", "metric", "repeat"]
# Words of metrics that no run repeats: of the machine, and of rounding.
NOT_REPEATED = ("seconds", "time", "memory", "kkt", "gap", "rounding")
# Values are the same within these, as processors round differently; errors and rates are shares.
RELATIVE, ABSOLUTE = 1e-6, 1e-9


@dataclass(frozen=True)
class Drawn:
    """A stored cell, and the plan's cell that computes it."""

    paper: Paper
    cell: Cell
    stored: StoredCell

    @property
    def kind(self) -> tuple[str, str, str]:
        """Paper, experiment and data set."""
        return self.cell.paper, self.cell.experiment, self.cell.dataset


def candidates(config: dict, suite: str, minutes: float) -> Iterator[Drawn]:
    """Yield the stored cells of accuracy jobs that take at most so many minutes."""
    costs = measured(NEEDS)
    for name in config["papers"]:
        paper, stored = get_paper(name), read_reference(ROOT / config["reference"] / suite, name)
        for job in paper.jobs(config, suite) if stored else []:
            cost = likely(costs, (suite, name, job.experiment, job.dataset))
            if job.lane != "accuracy" or cost is None or cost[1] > minutes:
                continue
            splits = range(job.first, job.last + 1)
            for cell in paper.cells(config, suite, job.experiment, job.dataset, splits):
                if cell.identity in stored:
                    yield Drawn(paper, cell, stored[cell.identity])


def values(rows: pd.DataFrame) -> pd.Series:
    """Return the values that a second run repeats, by what they are of."""
    words = rows["metric"].str.split("_")
    rows = rows[~words.map(lambda parts: any(part in NOT_REPEATED for part in parts))]
    keys = rows[KEYS].astype("string").fillna("")
    keys["hyper_parameters"] = keys["hyper_parameters"].map(_shortened)
    place = keys.groupby(KEYS).cumcount()
    return pd.Series(rows["value"].to_numpy(), pd.MultiIndex.from_frame(keys.assign(place=place)))


def _shortened(parameters: str) -> str:
    """Return hyper-parameters with numbers of six digits, as the path's ends are computed, too."""
    return json.dumps(json.loads(parameters, parse_float=lambda text: float(f"{float(text):.6g}")))


def differences(stored: pd.DataFrame, computed: pd.DataFrame) -> pd.DataFrame:
    """Return the values that differ, or that only one of both has."""
    old, new = values(stored).align(values(computed))
    scale = np.maximum(old.abs(), new.abs())
    same = (
        (old == new)
        | (old.isna() & new.isna())
        | ((old - new).abs() <= RELATIVE * scale + ABSOLUTE)
    )
    return pd.DataFrame({"stored": old, "computed": new})[~same]


def computed_again(drawn: Drawn, config: dict) -> pd.DataFrame:
    """Return the rows of a cell, computed in a folder of their own."""
    cell = drawn.cell
    with tempfile.TemporaryDirectory() as folder:
        what = (cell.suite, cell.experiment, cell.dataset, [cell.split])
        files = drawn.paper.run(config, *what, folder)
        file = next(file for file in files if file.stem == cell.id)
        return read_cell(file)[0].to_pandas()


def main() -> None:
    """Draw, compute, compare."""
    config = configuration()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", default="paper", choices=sorted(config["suites"]))
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=1.0, help="of a whole job, at most")
    given = parser.parse_args()
    found = list(candidates(config, given.suite, given.minutes))
    rng = np.random.default_rng(given.seed)
    kinds: dict[tuple[str, ...], Drawn] = {}
    for k in rng.permutation(len(found)):
        kinds[found[k].kind] = found[k]
    drawn_kinds = rng.permutation(sorted(kinds))[: given.count].tolist()
    chosen = [kinds[tuple(kind)] for kind in drawn_kinds]
    wrong = 0
    for drawn in chosen:
        stored = drawn.stored.rows.to_pandas()
        differing = differences(stored, computed_again(drawn, config))
        wrong += bool(len(differing))
        print(f"{drawn.cell.paper} {drawn.cell.id}: {len(values(stored))} values, ", end="")
        print(f"{len(differing)} differ" if len(differing) else "the same", flush=True)
        if len(differing):
            print(differing.head(10).to_string())
    print(f"{len(chosen)} cells of {len(kinds)} kinds computed again, {wrong} with other values")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
