"""What the rules ask for: jobs, what they wait for, targets, and what all of it depends on.

Plain Python, which `rules/common.smk` imports by its place; it knows the configuration and how
the command was called, and nothing else of Snakemake.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from path_benchmark import settings

if TYPE_CHECKING:
    from path_benchmark.runs.paper import Job, Paper

# Imports that take a while are made where they are needed: every job reads the rules anew.

DAMAGED = ".damaged"  # ends the note, in the place of a job's list, of which cells were damaged
Asked = Callable[[Any], list[str]]  # of wildcards: what a rule asks for


def stop(sentence: object) -> NoReturn:
    """End the command with a sentence, which Snakemake would follow with its own stack."""
    print(f"error: {sentence}", file=sys.stderr, flush=True)
    sys.exit(1)


@contextmanager
def in_one_sentence() -> Iterator[None]:
    """End the command with the sentence of an error that a user can mend."""
    from path_benchmark.data import DataError

    try:
        yield
    except (settings.ConfigError, DataError) as error:
        stop(error)
    except OSError as error:
        stop(f"{error.filename} can't be used ({error.strerror}); mend that and run again.")


def _paper(name: str) -> Paper:
    from path_benchmark.papers import get_paper

    return get_paper(name)


@dataclass(eq=False)
class Plan:
    """What a command plans.

    Attributes
    ----------
    config : dict
        The whole configuration.
    root : Path
        This repository.
    main, dry : bool
        Whether this is the command itself, not one of the jobs that it starts; whether it is a dry
        run, which writes nothing.
    tell : callable
        Tells a sentence on the terminal.
    again, given : set of str
        Lists of jobs that a dry run says are to be run again, or taken over from the reference.
    """

    config: dict[str, Any]
    root: Path
    main: bool
    dry: bool
    tell: Callable[[str], object]
    again: set[str] = field(default_factory=set)
    given: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        # each question is answered once for each command
        for name in ("take_reference", "jobs", "standing", "other_code", "tell_before"):
            setattr(self, name, cache(getattr(self, name)))

    @property
    def results(self) -> str:
        """The folder of everything that is computed."""
        return self.config["results"]

    def folder(self, suite: str) -> str:
        """Return where a suite's tables, figures and pages go; with ``only`` that is beside it.

        Cells and jobs are in the suite's folder anyway.
        """
        only = self.config["only"].replace(",", "-")
        return f"{self.results}/{suite}" + f"-only-{only}" * bool(only)

    @cached_property
    def _aside(self) -> Path:
        """A folder for the files of a dry run, until it ends."""
        self._temporary = tempfile.TemporaryDirectory()
        return Path(self._temporary.name)

    # -- before anything runs -------------------------------------------------------------------

    def hold(self) -> Any:
        """Take the lock that a run holds as long as it lives; None where another one has it."""
        from solution_paths.files import hold

        with in_one_sentence():
            return hold(Path(self.results, ".running.lock"))

    def busy(self) -> NoReturn:
        """Refuse to run beside another run."""
        stop(f"Another run is at work in {self.results}: wait until it has ended, or stop it.")

    def recover(self, unlock: bool) -> None:
        """Find what was damaged and which cells failed, so that it is made again.

        A dry run, and a command beside another run, only look.
        """
        from path_benchmark.runs.cells import note_damaged_jobs
        from path_benchmark.runs.written import set_damaged_aside

        held = None if self.dry else self.hold()
        if unlock and held is None:
            self.busy()
        found = note_damaged_jobs(self.results, DAMAGED, write=held is not None)
        said = [sentence for sentences in found.values() for sentence in sentences]
        if held is not None:
            said += set_damaged_aside(self.results)
            held.release()  # whoever only looks at results lets others run
        for sentence in said:
            self.tell(sentence)
        if self.dry:
            self.again |= {str(job) for job in found}

    def take_reference(self, suite: str) -> None:
        """Take over what a suite lacks and the reference results hold.

        A dry run only counts, and plans as if that were done.
        """
        from path_benchmark.runs.reference import offered

        if not (self.config["reference"] and self.main):
            return
        folder = Path(self.config["reference"], suite)
        held = None if self.dry else self.hold()
        with in_one_sentence():
            for name in self.config["papers"]:
                offer = offered(_paper(name), self.config, suite, folder)
                if held is not None:
                    offer.take(self.results)
                elif self.dry:
                    self.given.update(job.file(self.results) for job in offer.jobs)
                for sentence in offer.summary("would be" if held is None else "were"):
                    self.tell(sentence)
        if held is not None:
            held.release()

    # -- jobs -----------------------------------------------------------------------------------

    def jobs(self, suite: str, paper: str | None = None, lane: str | None = None) -> list[Job]:
        """Return the jobs of a suite: one for each data set, experiment and chunk of splits."""
        self.take_reference(suite)
        names = self.config["papers"] if paper is None else [paper]
        with in_one_sentence():
            found = [job for name in names for job in _paper(name).jobs(self.config, suite)]
        return [
            replace(job, digest="0" * len(job.digest)) if self._file(job) in self.again else job
            for job in found
            if lane in (None, job.lane) and self._can_run(job)
        ]

    def _file(self, job: Job) -> str:
        return job.file(self.results)

    def _can_run(self, job: Job) -> bool:
        """Tell whether data are at hand; a job whose cells are there needs none."""
        from path_benchmark.data import available

        file = self._file(job)
        return (
            not self.config["offline"]
            or all(map(available, self.sources(job.paper, job.dataset)))
            or file in self.given
            or Path(file).exists()
        )

    def job_lists(self, suite: str, paper: str | None = None, lane: str | None = None) -> Asked:
        """Return the files that jobs write last: a function, so that only who needs it asks."""

        def lists(wildcards: Any) -> list[str]:
            found = map(self._file, self.jobs(suite, paper, lane))
            return [file for file in found if file not in self.given]

        return lists

    def sources(self, paper: str, dataset: str) -> list[str]:
        """Return names in config/datasets.yaml of what a paper's data set is made of."""
        return self.config["papers"][paper]["datasets"][dataset].get("sources", [dataset])

    def fetched(self, wildcards: Any) -> list[str]:
        """Return the files that say that a job's data are there; not all data have files."""
        from path_benchmark.data import registry

        return [
            f"data/fetched/{source}.txt"
            for source in self.sources(wildcards.paper, wildcards.dataset)
            if registry()[source].source in ("files", "derived")
        ]

    def not_at_hand(self, suite: str, *names: str) -> list[str]:
        """Return the data sets that a suite, or its part of some papers, has to do without."""
        wanted = [
            job
            for name in names or self.config["papers"]
            for job in _paper(name).jobs(self.config, suite)
        ]
        return sorted({job.dataset for job in wanted if not self._can_run(job)})

    def papers_of(self, suite: str) -> list[str]:
        """Return the papers of a suite that have a job."""
        return [name for name in self.config["papers"] if self.jobs(suite, name)]

    # -- what is made of them depends on --------------------------------------------------------

    def depends(self, part: str) -> Callable[[Any], str]:
        """Return the file that stands for all that a paper's results, or outputs, depend on."""
        return lambda wildcards: self._depends(part, wildcards.suite, wildcards.paper)

    def _depends(self, part: str, suite: str, paper: str) -> str:
        from path_benchmark.runs.depends import digest_of

        lists = map(self._file, self.jobs(suite, paper))
        scripts = {"results": ["collect"], "outputs": ["report_paper", "run_notebook"]}[part]
        made_with = [*map(self._script, scripts)]
        made_with += [Path(self.notebook_of(paper))] * (part == "outputs")
        short = digest_of(part, lists, self.config["papers"][paper], paper, made_with)
        return self.standing(f"{self.folder(suite)}/{paper}/.depends/{part}-{short}")

    def _script(self, name: str) -> Path:
        """Return a script of the workflow, whose content counts and not its time."""
        return Path(self.root, "workflow", "scripts", f"{name}.py")

    def standing(self, file: str) -> str:
        """See to it that a file is there that stands for what something depends on; return it.

        It is newer then than what was made before. Snakemake would do without it, as without any
        missing step between, where one file is asked for and what it remembers is gone. A dry run
        has its own.
        """
        place = Path(file)
        if self.main and not place.exists():
            place = self._aside / place if self.dry else place
            with in_one_sentence():
                place.parent.mkdir(parents=True, exist_ok=True)
                place.touch()
        return str(place)

    def page_depends(self, wildcards: Any) -> str:
        """Return the file that stands for what a suite's page says beside its papers' outputs.

        What the command found when it planned holds for its jobs, too, which plan by themselves.
        """
        from path_benchmark.runs.cells import short_digest
        from path_benchmark.runs.written import digest

        name = f"SOLUTION_PATHS_PAGE_{wildcards.suite}"
        if self.main or name not in os.environ:
            os.environ[name] = json.dumps(self.about_page(wildcards), sort_keys=True)
        short = short_digest(os.environ[name] + digest(self._script("report_suite")))
        return self.standing(f"{self.folder(wildcards.suite)}/.depends/page-{short}")

    def about_page(self, wildcards: Any) -> dict[str, Any]:
        """Return what a suite's page says beside its papers' outputs."""
        suite = wildcards.suite
        chosen = [f"{key}={self.config[key]}" for key in ("only", "offline") if self.config[key]]
        overrides = f" --config {' '.join(chosen)}" if chosen else ""
        return {
            "about": self.config["suites"][suite],
            "papers": self.papers_of(suite),
            "missing": self.not_at_hand(suite),
            "command": f"snakemake --cores 8 {suite}{overrides}",
            "code": self.other_code(suite),
        }

    # -- what is told ---------------------------------------------------------------------------

    def other_code(self, suite: str, paper: str | None = None) -> str:
        """Say how many of a suite's cells were made by other code than there is now."""
        from path_benchmark.runs.cells import made_by_other_code

        cells = [file for job in self.jobs(suite, paper) for file in job.cell_files(self.results)]
        return made_by_other_code(cells, self.config.get("recompute", ""))

    def tell_before(self, suite: str, *names: str) -> None:
        """Tell, once for each command, what other code made and, in a dry run, the time left."""
        if self.main and (said := self.other_code(suite, *names)):
            self.tell(said)
        if self.main and self.dry and (said := self._time_left(suite, *names)):
            self.tell(said)

    def _time_left(self, suite: str, *names: str) -> str:
        """Say how long the jobs take that are left, by what was measured of their like."""
        from path_benchmark.runs.needs import NEEDS, likely, measured

        left = [job for job in self.jobs(suite, *names) if not Path(self._file(job)).exists()]
        left = [job for job in left if self._file(job) not in self.given]
        known = measured(NEEDS)
        costs = [likely(known, (suite, job.paper, job.experiment, job.dataset)) for job in left]
        minutes = [cost[1] for cost in costs if cost]
        if not minutes:
            return ""
        more = len(left) - len(minutes)
        unknown = f"; {more} whose like nobody has measured come on top" * bool(more)
        return (
            f"{len(minutes)} of {len(left)} jobs of cells that are left take about "
            f"{sum(minutes):.0f} CPU minutes{unknown}."
        )

    # -- targets --------------------------------------------------------------------------------

    def paper_targets(self, suite: str, paper: str) -> Asked:
        """Return what one paper contributes to a suite; nothing where it has no job."""
        parts = (
            "results.parquet",  # asked for by name: Snakemake does without a missing step between
            "curves.parquet",
            "outputs.json",
            "tables",
            "figures",
            "claims.csv",
            "notebook.ipynb",
        )

        def targets(wildcards: Any) -> list[str]:
            if not self.jobs(suite, paper):
                return []
            folder = f"{self.folder(suite)}/{paper}"
            stand = [self._depends(part, suite, paper) for part in ("results", "outputs")]
            lists = self.job_lists(suite, paper)(wildcards)
            return [*lists, *stand, *(f"{folder}/{part}" for part in parts)]

        return targets

    def suite_targets(self, suite: str, *names: str) -> Asked:
        """Return everything that a suite's target rule asks for, or one paper's."""

        def targets(wildcards: Any) -> list[str]:
            self.tell_before(suite, *names)
            page = [] if names else [f"{self.folder(suite)}/report.html"]
            asked = names or self.papers_of(suite)
            made = [self.paper_targets(suite, name)(wildcards) for name in asked]
            if not any(made):
                stop(self._nothing_to_run(suite, names))
            return [*page, *(target for targets in made for target in targets)]

        return targets

    def _nothing_to_run(self, suite: str, names: Sequence[str]) -> str:
        """Say why a target has no job."""
        what = ", ".join(names) or f"the suite {suite}"
        if missing := self.config["offline"] and self.not_at_hand(suite, *names):
            return (
                f"None of the data sets of {what} is at hand ({', '.join(missing)}): put their "
                "files into data/raw or the folder that SOLUTION_PATHS_MIRROR names, or run "
                "without --config offline=true."
            )
        only = self.config["only"]
        return f"{what} runs none of the experiments {only}: name others in --config only=."

    def no_target(self, wildcards: Any) -> NoReturn:
        """Refuse a target that isn't there, and name the nearest."""
        known = [*self.config["suites"], *self.config["papers"], "timing"]
        stop(f"{settings.unknown_key(wildcards.target, known)}.")

    # -- words of Snakemake's own report --------------------------------------------------------

    def notebook_of(self, paper: str) -> str:
        """Return the notebook that teaches a paper's model; the general one where it has none."""
        file = Path(self.root, "notebooks", f"{paper}.ipynb")
        return os.path.relpath(file if file.is_file() else file.with_name("results.ipynb"))

    def title_of(self, wildcards: Any) -> str:
        """Return a paper's title, the category of its outputs."""
        return self.config["papers"][wildcards.paper]["title"]

    def label_of(self, wildcards: Any) -> dict[str, str]:
        """Return what a table or figure is called: its heading, not its file."""
        folder = Path(self.folder(wildcards.suite), wildcards.paper)
        made = json.loads((folder / "outputs.json").read_text("utf-8"))
        parts = [*made["tables"], *made["figures"], *made["explorers"]]
        headings = {part["name"]: part["heading"] for part in parts}
        return {"suite": wildcards.suite, "what": headings[wildcards.name]}
