"""The one maker of tables: rows of a paper's ``tables.yaml`` say what stands in each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from ..settings import Settings, Text
from .study import Study, hyper, mean
from .tables import compared, comparison
from .verdicts import ABSENT, MISSING, on_count, on_mean, shifted

Frames = Mapping[str, Callable[..., pd.DataFrame]]


class Quantity(Settings):
    """A number of each data set: the published column and our metric, a count or a setting."""

    paper: str
    metric: str
    within: float = 0.0


class Compare(Settings):
    """Published numbers beside ours, by data set.

    ``published`` names the file, ``only`` its rows, ``key`` what of our data sets its column
    ``dataset`` (or ``id``) holds. ``of``: attributes of the data sets shown; ``absent``: those of
    the paper that were not run are shown, too. Either ``quantities``, or the ``metric`` of each of
    ``methods`` (ours -> the paper's name), whose columns begin with ``column``; ``also``: further
    columns, each the mean of rows with other hyper-parameters.
    """

    published: str
    experiment: str
    only: dict[str, str] = Field(default_factory=dict)
    key: Literal["name", "title", "id"] = "title"
    of: dict[str, str] = Field(default_factory=dict)
    where: dict[str, Any] = Field(default_factory=dict)
    hyper: dict[str, Any] = Field(default_factory=dict)
    absent: bool = False
    quantities: dict[str, Quantity] = Field(default_factory=dict)
    metric: str = ""
    methods: dict[str, str] = Field(default_factory=dict)
    column: str = ""
    lower: bool = True
    paper_splits: int = 10
    also: dict[str, dict[str, Any]] = Field(default_factory=dict)


class Summary(Settings):
    """Groups of results (or of a frame of the paper's module): a row each, a column each statistic.

    ``rows``: heading -> column that tells groups apart. ``columns``: heading -> "take what", such
    as "mean brier", "100 mean flips" (times 100) or "100 share<-1e-6 ratio"; of results, what is a
    metric.
    """

    rows: dict[str, str]
    columns: dict[str, str]
    frame: str = ""
    where: dict[str, Any] = Field(default_factory=dict)
    hyper: tuple[str, ...] = ()


class Table(Settings):
    """A table: a comparison, a summary, or a frame that the paper's module makes.

    ``evidence``: it shows what was tried; its published numbers are counted in another table.
    """

    name: Text
    heading: Text
    experiments: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    notes_from: str = ""
    frame: str = ""
    options: dict[str, Any] = Field(default_factory=dict)
    evidence: bool = False
    compare: Compare | None = None
    summary: Summary | None = None


class Lines(Settings):
    """Rows of a table that the page opens with: those whose ``column`` matches ``pattern``."""

    table: str
    what: str = "{quantity}"
    column: str = "quantity"
    pattern: str
    last: bool = False


@cache
def read_published(folder: Path, name: str) -> pd.DataFrame:
    """Return a table of the paper."""
    return pd.read_csv(folder / "published" / f"{name}.csv")


def printed(folder: Path) -> dict[str, str]:
    """Return the numbers of a paper's tables as its files have them, by their shortest text.

    Where tables print a number in two ways, the shorter one stands: no digit is invented.
    """
    shortest: dict[str, str] = {}
    for file in sorted((folder / "published").glob("*.csv")):
        texts = pd.read_csv(file, dtype=str)
        for name in read_published(folder, file.stem).select_dtypes("number"):
            for text in texts[name].dropna():
                key = repr(float(text))
                shortest[key] = min(shortest.get(key, text), text, key=len)
    return shortest


class Maker:
    """Makes the tables of one paper from a study."""

    def __init__(self, folder: Path, names: Mapping[str, str], frames: Frames) -> None:
        self.folder, self.names, self.frames = folder, names, frames

    def make(self, table: Table, study: Study) -> pd.DataFrame:
        """Return a table as a data frame, empty where nothing of it was run."""
        if table.compare:
            return self._compare(table.compare, study)
        if table.summary:
            return self._summary(table.summary, study)
        return self.frames[table.frame](study, **table.options)

    # -- comparisons ------------------------------------------------------------------------------

    def _compare(self, spec: Compare, study: Study) -> pd.DataFrame:
        published = read_published(self.folder, spec.published)
        for column, value in spec.only.items():
            published = published[published[column] == value]
        column = "id" if spec.key == "id" else "dataset"
        rows: list[dict] = []
        for dataset in self._shown(spec, published, study):
            paper = published[published[column] == self._key(spec, study, dataset)]
            part = study.only(experiment=spec.experiment, dataset=dataset, **spec.where)
            make = self._quantities if spec.quantities else self._methods
            rows += make(spec, study, dataset, paper, part)
        if not spec.absent and (rows or spec.experiment in study.planned):
            rows += self._not_run(spec, published, study)
        if spec.quantities:
            return comparison(rows)
        frame, text = shifted(comparison(rows), ["data set"])
        frame.attrs["notes"] = [text] if text else []
        return frame

    def _not_run(self, spec: Compare, published: pd.DataFrame, study: Study) -> list[dict]:
        """Return rows of the paper's data sets that were not run, if another one was."""
        column = "id" if spec.key == "id" else "dataset"
        ran = [self._key(spec, study, d) for d in self._shown(spec, published, study)]
        known = [self._key(spec, study, d) for d in study.datasets if _is(study, d, spec.of)]
        names, rows = {method: self.names[ours] for ours, method in spec.methods.items()}, []
        planned = spec.experiment in study.planned
        for paper, verdict in not_run(published, column, ran, known, planned):
            dataset = study.name(paper["dataset"]) if spec.key == "name" else paper["dataset"]
            for name, quantity in spec.quantities.items():
                rows.append(compared(dataset, name, paper[quantity.paper], np.nan, verdict))
            if paper.get("method") in names:
                theirs, spread = (float(paper[f"{spec.column}{part}"]) for part in ("mean", "std"))
                row = compared(dataset, names[paper["method"]], theirs, np.nan, verdict)
                rows.append(row | {"paper's std": spread})
        return [row for row in rows if not np.isnan(row["paper"])]

    def _shown(self, spec: Compare, published: pd.DataFrame, study: Study) -> list[str]:
        ran = [d for d in study.ran(spec.experiment) if _is(study, d, spec.of)]
        return shown(published, ran) if spec.absent else ran

    def _key(self, spec: Compare, study: Study, dataset: str) -> str:
        if spec.key == "name":
            return dataset
        return study.name(dataset) if spec.key == "title" else study.datasets[dataset].id

    def _quantities(
        self, spec: Compare, study: Study, dataset: str, paper: pd.DataFrame, part: pd.DataFrame
    ) -> list[dict]:
        rows = []
        for name, quantity in spec.quantities.items():
            values = part[part["metric"] == quantity.metric]
            if not len(values) and not spec.absent:
                continue
            # each kernel's cell tells the sizes anew
            ours = float(values["value"].iloc[0]) if len(values) else np.nan
            theirs = float(paper[quantity.paper].iloc[0]) if len(paper) else np.nan
            both = np.isinf(theirs) and np.isinf(ours)
            verdict = on_count(0, 0) if both else on_count(theirs, ours, quantity.within)
            rows.append(compared(study.name(dataset), name, theirs, ours, verdict))
        return rows

    def _methods(
        self, spec: Compare, study: Study, dataset: str, paper: pd.DataFrame, selected: pd.DataFrame
    ) -> list[dict]:
        selected = selected[selected["metric"] == spec.metric]
        chosen, rows = with_hyper(selected, spec.hyper), []
        by_method = {m: chosen[chosen["method"] == m] for m in spec.methods}
        by_method = {m: values for m, values in by_method.items() if len(values)}
        means = [values["value"].mean() for values in by_method.values()]
        best = (min if spec.lower else max)(means, default=np.nan)
        for method, values in by_method.items():
            printed = paper[paper["method"] == spec.methods[method]]
            theirs, spread = (
                float(printed[f"{spec.column}{part}"].iloc[0]) if len(printed) else np.nan
                for part in ("mean", "std")
            )
            ours, std, n = mean(values)
            error = theirs if spec.lower else 100.0 - theirs
            verdict = on_mean(theirs, ours, spread, std, spec.paper_splits, n, of=error)
            row = compared(study.name(dataset), self.names[method], theirs, ours, verdict)
            row |= {"splits": n, "paper's std": spread, "our std": std}
            for name, others in spec.also.items():
                row[name] = with_hyper(selected[selected["method"] == method], others)[
                    "value"
                ].mean()
            rows.append(row | {"best here": bool(abs(ours - best) <= 1e-12)})
        return rows

    # -- summaries --------------------------------------------------------------------------------

    def _summary(self, spec: Summary, study: Study) -> pd.DataFrame:
        whole = self.frames[spec.frame](study) if spec.frame else self._results(spec, study)
        if not len(whole):
            return pd.DataFrame()
        keys, rows = list(spec.rows.values()), []
        for key, group in whole.groupby(keys, sort=False, dropna=False):
            row = {
                name: self._named(column, value, study)
                for (name, column), value in zip(spec.rows.items(), key, strict=True)
            }
            numbers = {name: _taken(group, text, spec) for name, text in spec.columns.items()}
            if any(v is not None and not pd.isna(v) for v in numbers.values()):
                rows.append(row | numbers)
        return pd.DataFrame(rows).dropna(axis="columns", how="all")

    def _results(self, spec: Summary, study: Study) -> pd.DataFrame:
        rows = study.only(**spec.where)
        metrics = {text.split()[-1] for text in spec.columns.values()}
        rows = rows[rows["metric"].isin(metrics)]
        rows = rows.assign(**{key: hyper(rows, key) for key in spec.hyper})
        return rows[[*spec.rows.values(), "metric", "value"]]  # many groups are made of these

    def _named(self, column: str, value: Any, study: Study) -> Any:
        if column == "dataset":
            return study.name(value)
        return self.names.get(value, value) if column == "method" else value


_SPEC = re.compile(
    r"(?:(?P<times>\d+) )?(?P<take>\w+?)(?P<sign>[<>~])?(?P<than>[\d.e+-]+)? (?P<what>\S+)"
)


def _taken(group: pd.DataFrame, text: str, spec: Summary) -> Any:
    """Return a statistic of a group, None or nan where it has none."""
    part = _SPEC.fullmatch(text)
    what = part["what"]
    values = group[what] if spec.frame else group["value"][group["metric"] == what]
    values = values.dropna()
    if part["take"] == "count":
        return len(values) or None
    if not len(values):
        return np.nan
    if part["take"] == "share":
        than = float(part["than"])
        kept = {"<": values < than, ">": values > than, "~": values.abs() <= than}
        number = kept[part["sign"]].mean()
    elif part["take"] == "first":
        number = values.iloc[0]
    else:
        number = getattr(values.astype(float), part["take"])()
    return number * float(part["times"]) if part["times"] else number


def with_hyper(rows: pd.DataFrame, wanted: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows with the wanted hyper-parameters."""
    for key, value in wanted.items():
        rows = rows[hyper(rows, key) == value]
    return rows


def _is(study: Study, dataset: str, of: Mapping[str, Any]) -> bool:
    """Tell whether a data set has these attributes."""
    return all(getattr(study.datasets[dataset], k) == v for k, v in of.items())


def not_run(
    published: pd.DataFrame,
    column: str,
    ran: Iterable[str],
    known: Iterable[str],
    planned: bool = False,
) -> Iterator[tuple[dict, str]]:
    """Yield a table's rows of data sets that were not run, with verdicts.

    That is if another one was run, or ``planned``: the suite is to run some.

    ``column`` names data sets as ``ran`` and ``known`` do, those of which there is an entry here.
    """
    ran, known = set(ran), set(known)
    if planned or ran & set(published[column]):
        for row in published[~published[column].isin(ran)].to_dict("records"):
            yield row, MISSING if row[column] in known else ABSENT


def shown(published: pd.DataFrame, ran: list[str]) -> list[str]:
    """List the data sets to show: the paper's, if any of them was run, and all that were run."""
    paper = list(dict.fromkeys(published["dataset"].str.lower()))
    return paper + [d for d in ran if d not in paper] if set(ran) & set(paper) else ran
