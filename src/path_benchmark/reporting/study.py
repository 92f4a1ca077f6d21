"""What a paper's tables, figures and claims are made of: results, and how they came about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..runs.paper import Paper
from ..runs.rows import read_results
from ..settings import Settings
from .formats import count

REPEATED = ("suite", "paper", "seed", "hyper_parameters", "machine", "versions")
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")  # of a message


@dataclass(frozen=True)
class Study:
    """A suite's results of one paper, with the settings that made them.

    Attributes
    ----------
    results, curves : DataFrame
        ``hyper`` holds the hyper-parameters of each row as a dict.
    settings : dict
        Experiment -> its settings as this suite used them.
    common : Settings
        What the paper's experiments share.
    datasets : dict
        Data set -> its settings.
    planned : frozenset of str
        The experiments that the suite runs on data of the paper's own.
    """

    paper: str
    suite: str
    title: str
    citation: str
    results: pd.DataFrame
    curves: pd.DataFrame
    settings: Mapping[str, Settings]
    common: Settings
    datasets: Mapping[str, Any]
    planned: frozenset[str] = frozenset()

    def name(self, dataset: str) -> str:
        """Name of a data set as people write it."""
        known = self.datasets.get(dataset)
        return (known and known.title) or dataset.replace("_", " ").capitalize()

    def ran(self, experiment: str) -> list[str]:
        """List the data sets of an experiment, in the order of the paper's settings."""
        names = self.results.loc[self.results["experiment"] == experiment, "dataset"]
        seen = set(names.unique())
        return [name for name in self.datasets if name in seen] + sorted(seen - set(self.datasets))

    def is_papers(self, dataset: str) -> bool:
        """Tell whether a data set is the paper's own, and no stand-in."""
        known = self.datasets.get(dataset)
        return known is not None and bool(known.place)

    def instead_of(self, dataset: str) -> str:
        """Say what of the paper's a data set takes the place of, "" where it is the paper's."""
        known = self.datasets.get(dataset)
        return known.instead_of if known else ""

    def foreign(self, experiments: Iterable[str]) -> tuple[list[str], list[str]]:
        """List the data sets that some experiments ran on, and those that aren't the paper's."""
        datasets = list(dict.fromkeys(d for e in experiments for d in self.ran(e)))
        return datasets, [d for d in datasets if not self.is_papers(d)]

    def names_shown(self, experiments: Iterable[str]) -> str:
        """Say which data some experiments ran on, and which of them are not the paper's."""
        datasets, _ = self.foreign(experiments)
        marked = [self.name(d) + self._marked(d) for d in datasets]
        if len(marked) > 8:
            marked = [*marked[:6], f"and {len(marked) - 6} more"]
        return ", ".join(marked)

    def splits_run(self, experiments: Iterable[str]) -> str:
        """Say how many splits some experiments ran of each data set."""
        rows = self.only()
        rows = rows[rows["experiment"].isin(list(experiments))]
        if rows.empty:
            return "no split"
        counts = rows.groupby(["experiment", "dataset"])["split"].nunique()
        least, most = int(counts.min()), int(counts.max())
        return count(most, "split") if least == most else f"{least} to {most} splits"

    def _marked(self, dataset: str) -> str:
        if other := self.instead_of(dataset):
            return f" (instead of {other})"
        return "" if self.is_papers(dataset) else " (not the paper's)"

    def named(self, datasets: Iterable[str]) -> str:
        """Name data sets in a few words: their names, or how many they are."""
        names = [self.name(d) for d in datasets]
        return ", ".join(names) if len(names) <= 2 else f"{len(names)} data sets"

    def restricted(self, datasets: Iterable[str]) -> Study:
        """Return the study of some of its data sets."""
        frames = (self.results, self.curves)
        kept = [frame[frame["dataset"].isin(list(datasets))] for frame in frames]
        return replace(self, results=kept[0], curves=kept[1])

    def showing(self, frame: pd.DataFrame) -> Study:
        """Return the study of the data sets that a table names, or the whole if it names none."""
        named = set(frame.get("data set", ()))
        chosen = [d for d in self.datasets if self.name(d) in named]
        return self.restricted(chosen) if chosen else self

    def titled(self, heading: str, experiments: Iterable[str]) -> str:
        """Return a heading that doesn't claim a paper's table or figure for other data.

        "Table 1: data sets" of other data is "Data sets (as in the paper's Table 1, on other
        data)".
        """
        datasets, foreign = self.foreign(experiments)
        item = re.match(r"((?:Table|Figure) \d+)[:,]? (.+)", heading)
        if not foreign or not item:
            return heading
        data = "other data" if datasets == foreign else "the paper's data and others"
        text = item.group(2).rstrip(".")
        return f"{text[0].upper()}{text[1:]} (as in the paper's {item.group(1)}, on {data})"

    def command(self, experiments: Iterable[str] = ()) -> str:
        """Return the command that makes an output of some experiments (of all, if none) again."""
        chosen = ",".join(dict.fromkeys(experiments))
        return f"snakemake --cores 8 {self.suite}" + (f" --config only={chosen}" if chosen else "")

    @cached_property
    def _numbers(self) -> pd.DataFrame:
        """The rows that hold a number."""
        return self.results[self.results["value"].notna()]

    @cached_property
    def _by_experiment(self) -> dict[str, pd.DataFrame]:
        """The rows of each experiment that hold a number."""
        return dict(list(self._numbers.groupby("experiment", sort=False)))

    def only(self, experiment: str | None = None, **wanted: object) -> pd.DataFrame:
        """Rows whose columns have the wanted values and that hold a number."""
        rows = self._numbers
        if experiment is not None:
            rows = self._by_experiment.get(experiment, rows[:0])
        for column, value in wanted.items():
            rows = rows[rows[column] == value]
        return rows

    def curve(self, name: str, **wanted: object) -> pd.DataFrame:
        """Points of the curves of a name whose columns have the wanted values."""
        keep = self.curves["curve"] == name
        for column, value in wanted.items():
            keep &= self.curves[column] == value
        return self.curves[keep]

    def steps(self, name: str, **wanted: object) -> tuple[np.ndarray, np.ndarray]:
        """Return (x, y) of one curve, ascending; as a step, ``y[k]`` holds from ``x[k]`` on."""
        points = self.curve(name, **wanted)
        order = np.argsort(points["x"].to_numpy(), kind="stable")
        return points["x"].to_numpy()[order], points["y"].to_numpy()[order]

    def inaccurate(self, names: Mapping[str, str], *experiments: str) -> list[str]:
        """Say of methods, called by their ``names``, how many numbers are inaccurate, and why."""
        rows = self._numbers[self._numbers["experiment"].isin(experiments)]
        bad = rows[rows["status"] == "inaccurate"]
        every = rows.groupby(["experiment", "method"]).size()
        return [
            f"Of {count(every[experiment, method], 'number')} of {names.get(method, method)} "
            f"({experiment}) {len(part)} {'are' if len(part) > 1 else 'is'} inaccurate: "
            f"{short(part['message'].iloc[0], 120)}."
            for (experiment, method), part in bad.groupby(["experiment", "method"], sort=False)
        ]

    def failures(self, *experiments: str) -> list[str]:
        """List each kind of failure in some experiments (in all, if none is named).

        Messages that differ in numbers alone are of one kind; that of the largest gap is shown.
        """
        bad = self.results[~self.results["status"].isin(["ok", "inaccurate", "censored"])]
        if experiments:
            bad = bad[bad["experiment"].isin(experiments)]
        kind = bad["message"].astype(object).map(lambda text: NUMBER.sub("0", str(text)))
        groups = bad.groupby([*("experiment", "dataset", "method", "status"), kind], observed=True)
        return [
            f"{self.name(dataset)}, {experiment}, {method}: {status} in {count(len(rows), 'row')} "
            f"({short(_worst(rows)['message'])})."
            for (experiment, dataset, method, status, _), rows in groups
        ]


def _worst(rows: pd.DataFrame) -> pd.Series:
    """Return the row with the largest gap; the first one if none has a gap."""
    return rows.loc[rows["gap"].idxmax() if rows["gap"].notna().any() else rows.index[0]]


def read_study(paper: Paper, config: dict, suite: str, folder: str | Path) -> Study:
    """Read a suite's results of one paper from its folder."""
    folder = Path(folder)
    results = read_results(folder / "results.parquet")
    curves = read_results(folder / "curves.parquet")
    for frame in (results, curves):  # few texts, repeated: rows are chosen faster by their numbers
        repeated = [name for name in REPEATED if name in frame]
        frame[repeated] = frame[repeated].astype("category")
    return make_study(paper, config, suite, results, curves)


def make_study(
    paper: Paper, config: dict, suite: str, results: pd.DataFrame, curves: pd.DataFrame
) -> Study:
    """Join results with the settings of the suite that made them."""
    file, plans = paper.file(config), paper.plans(config, suite)
    datasets = {name: paper.data(file, name) for name in file.datasets}
    of_paper = {name for name, data in datasets.items() if data.place}
    return Study(
        paper.name,
        suite,
        file.title,
        file.citation,
        results,
        curves,
        {plan.experiment.name: plan.settings for plan in plans},
        paper.common.model_validate(file.settings),
        datasets,
        frozenset(plan.experiment.name for plan in plans if of_paper & {*plan.run.datasets}),
    )


def hyper(rows: pd.DataFrame, key: str) -> pd.Series:
    """One hyper-parameter of each row, None where it has none."""
    return pd.Series([h.get(key) for h in rows["hyper"]], index=rows.index, dtype=object)


def mean(rows: pd.DataFrame) -> tuple[float, float, int]:
    """Mean, standard deviation and number of the values."""
    values = rows["value"].to_numpy(float)
    if not len(values):
        return np.nan, np.nan, 0
    return values.mean(), values.std(ddof=1) if len(values) > 1 else np.nan, len(values)


def short(message: str | None, most: int = 200) -> str:
    """Return a message cut to a length that fits a table."""
    text = message if isinstance(message, str) and message else "no reason given"
    return text if len(text) <= most else text[: most - 1] + "…"
