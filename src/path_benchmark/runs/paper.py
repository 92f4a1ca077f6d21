"""A paper: its experiments, each a function with typed settings and a lane; and its plan.

A paper is one folder (`path_benchmark.papers.<name>`, whose module ``experiments`` holds a `Paper`
called ``PAPER``) and one file (config/papers/<name>.yaml). The configuration lists the papers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from solution_paths.files import locked

from ..data import Entry, identity, read_once, registry
from ..settings import ConfigError, Settings, check, unknown_key
from .cells import Cell, Report, run_cells, short_digest, write_list
from .code import code
from .config import DataSetSettings, PaperFile, Run
from .rows import Rows
from .supervision import Limits, supervised, write_cost

Lane = Literal["accuracy", "timing"]
Runner = Callable[[Cell, Rows, Report], None]


@dataclass(frozen=True)
class Experiment:
    """A function that runs a cell, with its lane and the type of its settings."""

    name: str
    run: Runner
    lane: Lane
    settings: type[Settings]
    each: str
    version: int = 0


@dataclass(frozen=True)
class Plan:
    """One experiment as a suite runs it, its settings checked and complete."""

    suite: str
    experiment: Experiment
    run: Run
    settings: Settings


@dataclass(frozen=True)
class Job:
    """One Snakemake job: some splits of one data set in one experiment.

    ``digest`` is a hash of all that its cells depend on; ``cells`` are their names.
    """

    suite: str
    paper: str
    lane: Lane
    experiment: str
    dataset: str
    first: int
    last: int
    digest: str = ""
    cells: tuple[str, ...] = ()

    def cell_files(self, results: str | Path) -> list[Path]:
        """Return the files of its cells."""
        folder = Path(results, self.suite, "cells", self.paper)
        return [folder / f"{name}.json" for name in self.cells]

    def file(self, results: str) -> str:
        """Return the file that lists its cells' files, which the job writes last.

        Its name has a digest of what the cells depend on: if a setting, an entry or a data file
        changes, the list has another name and doesn't exist yet.
        """
        name = f"{self.experiment}/{self.dataset}/{self.first}-{self.last}-{self.digest}.txt"
        return f"{results}/{self.suite}/jobs/{self.paper}/{self.lane}/{name}"


class Paper:
    """The experiments of a paper and their shared settings.

    Parameters
    ----------
    name : str
        Name of its folder and its file.
    common : type of Settings
        Model of ``settings`` in its file.
    dataset : type of DataSetSettings
        Model of each entry of ``datasets`` in its file.
    columns : function, optional
        Cell -> further columns that all its rows share.
    """

    def __init__(
        self,
        name: str,
        common: type[Settings] = Settings,
        dataset: type[DataSetSettings] = DataSetSettings,
        columns: Callable[[Cell], dict[str, Any]] = lambda cell: {},
    ) -> None:
        self.name, self.common, self.dataset, self.columns = name, common, dataset, columns
        self.experiments: dict[str, Experiment] = {}

    def experiment(
        self,
        lane: Lane = "accuracy",
        settings: type[Settings] = Settings,
        each: str = "",
        version: int = 0,
    ) -> Callable[[Runner], Runner]:
        """Register the decorated function as an experiment, by the function's name.

        Parameters
        ----------
        lane : {"accuracy", "timing"}
            Timing jobs run alone.
        settings : type of Settings
        each : str
            A setting with several values: each value gets its own cell.
        version : int
            Version of its computation and its metrics, part of the identity of its cells.
        """

        def register(run: Runner) -> Runner:
            name = run.__name__
            self.experiments[name] = Experiment(name, run, lane, settings, each, version)
            return run

        return register

    # -- the configuration ----------------------------------------------------------------------

    def file(self, config: dict) -> PaperFile:
        """Return the paper's file, after checks of its data sets and shared settings."""
        where = f"papers.{self.name}"
        content = check(PaperFile, config["papers"][self.name], where)
        check(self.common, content.settings, f"{where}.settings")
        known = registry()
        for name, raw in content.datasets.items():
            data = self.data(content, name)
            for source in raw.get("sources", [name]):
                if source not in known:
                    place = f"{where}.datasets.{source}"
                    raise ConfigError(
                        f"config: {unknown_key(place, known)}, or describe it "
                        "in config/datasets.yaml."
                    )
            rows = _rows_of([known[source] for source in data.sources or (name,)])
            for complaint in data.complaints(name, rows):
                raise ConfigError(f"config: {where}.datasets.{name}: {complaint}; correct it.")
        return content

    def data(self, content: PaperFile, name: str) -> DataSetSettings:
        """Return the settings of a data set."""
        where = f"papers.{self.name}.datasets"
        if name not in content.datasets:
            raise ConfigError(f"config: {unknown_key(f'{where}.{name}', content.datasets)}.")
        return check(self.dataset, content.datasets[name], f"{where}.{name}")

    def plans(self, config: dict, suite: str) -> list[Plan]:
        """Return the plan of each experiment of the paper that a suite runs."""
        content = check(PaperFile, config["papers"][self.name], f"papers.{self.name}")
        only = [name for name in config.get("only", "").split(",") if name]
        return [
            self.plan(content, suite, name)
            for name in content.suites.get(suite, {})
            if not only or name in only
        ]

    def plan(self, content: PaperFile, suite: str, name: str) -> Plan:
        """Return the plan of one experiment in a suite."""
        where = f"papers.{self.name}.suites.{suite}.{name}"
        known = self.experiments.keys() & content.experiments.keys()
        if name not in known:
            raise ConfigError(f"config: {unknown_key(where, known)}.")
        experiment, entry = self.experiments[name], content.suites[suite][name]
        run = check(Run, {k: v for k, v in entry.items() if k in Run.model_fields}, where)
        for dataset in run.datasets:
            self.data(content, dataset)
        base = content.experiments[name] or {}
        check(experiment.settings, base, f"papers.{self.name}.experiments.{name}")
        override = {k: v for k, v in entry.items() if k not in Run.model_fields}
        settings = check(experiment.settings, base | override, where, Run.model_fields)
        return Plan(suite, experiment, run, settings)

    # -- cells and jobs -------------------------------------------------------------------------

    def jobs(self, config: dict, suite: str) -> list[Job]:
        """Return a suite's jobs: one for each data set, experiment and chunk of splits."""
        content = self.file(config)
        current_code = config.get("recompute") == "changed"
        return [
            self._job(content, plan, dataset, first, last, current_code)
            for plan in self.plans(config, suite)
            for dataset in plan.run.datasets
            for first, last in chunks(
                min(plan.run.splits, self.data(content, dataset).splits or plan.run.splits),
                plan.run.splits_per_job,
            )
        ]

    def _job(
        self,
        content: PaperFile,
        plan: Plan,
        dataset: str,
        first: int,
        last: int,
        current_code: bool,
    ) -> Job:
        """Return a job; with ``current_code``, its digest includes that of the current code."""
        cells = self._cells(content, plan, dataset, range(first, last + 1), offline=False)
        experiment = plan.experiment
        hashes = json.dumps(code(self.name, experiment.name)) if current_code else ""
        return Job(
            plan.suite,
            self.name,
            experiment.lane,
            experiment.name,
            dataset,
            first,
            last,
            short_digest("".join([*(cell.identity for cell in cells), hashes])),
            tuple(cell.id for cell in cells),
        )

    def cells(
        self, config: dict, suite: str, experiment: str, dataset: str, splits: Iterable[int]
    ) -> list[Cell]:
        """Return the cells of some splits of one data set in one experiment."""
        content = self.file(config)
        plan = self.plan(content, suite, experiment)
        return self._cells(content, plan, dataset, splits, bool(config.get("offline")))

    def _cells(
        self, content: PaperFile, plan: Plan, dataset: str, splits: Iterable[int], offline: bool
    ) -> list[Cell]:
        common = check(self.common, content.settings, f"papers.{self.name}.settings")
        data, each = self.data(content, dataset), plan.experiment.each
        sources = tuple(identity(source) for source in data.sources or (dataset,))
        cells = [
            Cell(
                plan.suite,
                self.name,
                plan.experiment.name,
                dataset,
                split,
                common,
                data,
                plan.settings,
                sources=sources,
                offline=offline,
                version=plan.experiment.version,
            )
            for split in splits
        ]
        return [part for cell in cells for part in cell.split_by(each)] if each else cells

    def run(
        self,
        config: dict,
        suite: str,
        experiment: str,
        dataset: str,
        splits: Iterable[int],
        folder: str | Path,
        progress: Report | None = None,
    ) -> list[Path]:
        """Run the unfinished cells of a job in this process; return the files of all its cells.

        Solvers have no limits here.
        """
        cells = self.cells(config, suite, experiment, dataset, splits)
        with read_once():
            run, recompute = self.experiments[experiment].run, config.get("recompute", "")
            return run_cells(cells, run, folder, progress, self.columns, recompute)

    def run_job(self, config: dict, job: Job, progress: Report | None = None) -> Path:
        """Run a job with limits on outside solvers; write its cost, and last the list of cells.

        A second process that runs the same job waits, and then finds the cells finished.

        Returns
        -------
        Path
            The list.

        Raises
        ------
        JobFailed
            With the reason, one sentence.
        """
        listing = Path(job.file(config["results"]))
        folder = Path(config["results"], job.suite, "cells", job.paper)
        what = (job.suite, job.experiment, job.dataset, range(job.first, job.last + 1))
        limits = check(Limits, config.get("solver_limits", {}), "solver_limits")
        with locked(listing.with_suffix(".lock")):
            files, cost = supervised(
                lambda: self.run(config, *what, folder, progress),
                limits,
            )
            write_cost(listing.with_suffix(".cost.json"), cost, len(files))
            write_list(listing, files)
        return listing


def _rows_of(entries: list[Entry]) -> int | None:
    """Return the number of rows of the first source, None if a source's size is a parameter."""
    chosen = any("n" in entry.parameters and not entry.parents for entry in entries)
    return None if chosen else entries[0].n


def chunks(splits: int, size: int | None) -> list[tuple[int, int]]:
    """Return the first and last split of each job."""
    size = size or splits
    return [(first, min(first + size, splits) - 1) for first in range(0, splits, size)]
