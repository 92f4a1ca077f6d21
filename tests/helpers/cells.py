"""Cells of an experiment that is none, and a paper that writes down what it is asked for."""

import dataclasses

from path_benchmark.runs.cells import Cell
from path_benchmark.runs.config import DataSetSettings
from path_benchmark.settings import Counts, Positive, Settings


class Levels(Settings):
    """Settings of the experiment in these tests."""

    levels: Counts = (1,)
    factor: Positive = 1.0


CELL = Cell("s", "p", "e", "d", 0, Settings(), DataSetSettings(), Levels())
CELLS = [dataclasses.replace(CELL, split=k) for k in range(3)]


class Recorder:
    """Runs cells and remembers which ones."""

    def __init__(self, fails_on: int | None = None, error: type = ValueError):
        self.ran, self.fails_on, self.error = [], fails_on, error

    def __call__(self, cell, rows, report):
        self.ran.append(cell.split)
        if cell.split == self.fails_on:
            raise self.error("split is bad")
        report(0.5, 7)
        rows.add("value", cell.split, method="path")
        rows.add_curve("line", [0.0, 1.0], [cell.split, 2.0], method="path")
