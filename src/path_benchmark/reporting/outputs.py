"""What a paper makes of its results: tables, figures, explorers, claims, checks.

Tables and claims are rows of ``tables.yaml`` and ``claims.yaml`` in the paper's folder. Its module
``outputs`` holds an `Outputs` called ``OUTPUTS`` and registers what isn't data: figures, frames and
measures. A paper without one gets a table of all metrics and one of its certificates.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from pydantic import Field

from solution_paths.files import replace_atomically

from ..runs.cells import FAILED
from ..settings import Settings, Text, read_yaml
from ..settings import check as checked
from . import claims as cl
from . import figures as fig
from . import tables as tab
from .explorer import Explorer, path_figure
from .formats import count, together
from .pivots import Lines, Maker, Table, printed, read_published
from .provenance import made, provenance
from .study import Study
from .surface import Surface, surface_figure
from .verdicts import claims_frame

SHARED_NOTE = "Data: {}."
CERTIFICATE_NOTE = (
    "KKT violation and gap are the worst over all breakpoints (a sample of very long paths) and "
    "100 places between, found by code that shares nothing with the walker. Nothing is subtracted "
    "from the gap; beside it stands how far off it may be, being evaluated in floating point."
)


@dataclass(frozen=True)
class Highlight:
    """A number that the page opens with, beside the paper's: both as people read them.

    ``table`` names the table that has it.
    """

    what: str
    dataset: str
    paper: str
    ours: str
    verdict: str
    table: str


class Said(Settings):
    """A sentence for the page, where an experiment (a setting, if named) ran; settings go in."""

    text: str
    experiment: str = ""
    dataset: str = ""
    cut: dict[str, float] = Field(default_factory=dict)


class Whole(Settings):
    """How many values of a setting (or ``splits``) the paper's figure shows, and what these are."""

    setting: str
    of: int
    what: str


class Drawn(Settings):
    """A figure or an explorer, and the function of the paper's module that makes it.

    ``splits``: the caption says of how many it is a mean or the whole. ``whole``: where there is
    less than that of its first experiment, the caption says so.
    """

    name: str
    heading: str
    experiments: tuple[str, ...]
    make: str
    options: dict[str, Any] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()
    splits: bool = False
    whole: tuple[Whole, ...] = ()


class Explained(Settings):
    """What was found to make cells of some tables differ from the paper's, on data named so.

    ``cause``: it is why they differ; else it only says where the paper's numbers come out.
    """

    tables: tuple[str, ...]
    datasets: tuple[str, ...]
    text: Text
    quantities: str = ""  # a pattern; all, unless given
    cause: bool = True


class TablesFile(Settings):
    """``tables.yaml``: methods as people write them, tables, figures, what is said of them.

    ``order``: the paper's tables and figures as they follow each other there, such as "Table 1".
    """

    methods: dict[str, str] = Field(default_factory=dict)
    order: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Drawn, ...] = ()
    explorers: tuple[Drawn, ...] = ()
    highlights: tuple[Lines, ...] = ()
    explained: tuple[Explained, ...] = ()
    assumptions: tuple[Said, ...] = ()
    limitations: tuple[Said, ...] = ()


class ClaimsFile(Settings):
    """``claims.yaml``: sentences, and bounds that decide the exit status."""

    claims: tuple[cl.Row, ...] = ()
    checks: tuple[cl.Check, ...] = ()


class Outputs:
    """Tables, figures, claims and checks of a paper, in the order of its files.

    Parameters
    ----------
    module : path, optional
        The paper's module; its files are beside it.
    """

    def __init__(self, module: str | Path | None = None) -> None:
        self.folder = Path(module).parent if module else None
        self.measures: dict[str, cl.Measure] = {"values": cl.values}
        self.frames: dict[str, Callable[..., Any]] = {}
        self.drawers: dict[str, Callable[..., Any]] = {}
        self.highlight_makers: list[Callable[[Study], list[Highlight]]] = []
        self.check_makers: list[Callable[[pd.DataFrame, pd.DataFrame], list[str]]] = []

    @cached_property
    def tables_file(self) -> TablesFile:
        """What ``tables.yaml`` says."""
        return self._file("tables.yaml", TablesFile)

    @cached_property
    def claims_file(self) -> ClaimsFile:
        """What ``claims.yaml`` says."""
        return self._file("claims.yaml", ClaimsFile)

    def _file(self, name: str, model: type[Settings]) -> Any:
        if self.folder is None or not (self.folder / name).is_file():
            return model()
        content = read_yaml(self.folder / name)
        return checked(model, content, "", file=f"{self.folder.name}/{name}")

    @property
    def names(self) -> dict[str, str]:
        """Methods, as people write them."""
        return self.tables_file.methods

    def published(self, name: str) -> pd.DataFrame:
        """Return one of the paper's tables."""
        return read_published(self.folder, name)

    def frame(self, make: Callable) -> Callable:
        """Register a function of the study that a table's ``frame`` or ``notes_from`` names."""
        self.frames[make.__name__] = make
        return make

    def measure(self, make: Callable) -> Callable:
        """Register a function of the study that gives a claim's cases."""
        self.measures[make.__name__] = make
        return make

    def figure(self, make: Callable) -> Callable:
        """Register a function of the study that a figure or an explorer names as its ``make``.

        It returns a matplotlib figure, a `Surface`, which the page lets its reader turn, or an
        `Explorer`, whose path figure readers without JavaScript see; or None.
        """
        self.drawers[make.__name__] = make
        return make

    def highlights(self, make: Callable[[Study], list[Highlight]]) -> Callable:
        """Register a function of the study that returns what the page opens with."""
        self.highlight_makers.append(make)
        return make

    def check(self, make: Callable[[pd.DataFrame, pd.DataFrame], list[str]]) -> Callable:
        """Register a function of results and curves that returns what is wrong, in sentences."""
        self.check_makers.append(make)
        return make

    def complaints(self, results: pd.DataFrame, curves: pd.DataFrame) -> list[str]:
        """Return what breaks the paper's own checks, in sentences."""
        sentences = cl.complaints(self.claims_file.checks, results)
        return sentences + [text for make in self.check_makers for text in make(results, curves)]

    # -- writing ----------------------------------------------------------------------------------

    def all_claims(self, study: Study) -> pd.DataFrame:
        """Return every claim as a table."""
        measures = {"scores": partial(cl.scores, names=self.names), **self.measures}
        return claims_frame(cl.made_claims(self.claims_file.claims, measures, study))

    def all_tables(self, study: Study) -> dict[str, pd.DataFrame]:
        """Return every table that has rows."""
        maker = Maker(self.folder or Path(), self.names, self.frames)
        tables = {table.name: maker.make(table, study) for table in self.tables_file.tables}
        shared = {} if tables else {"table_metrics": tab.metrics(study)}
        shared["table_certificates"] = tab.certificates(study, self.names)
        return {name: frame for name, frame in {**tables, **shared}.items() if len(frame)}

    def all_highlights(self, study: Study, tables: dict[str, pd.DataFrame]) -> list[Highlight]:
        """Return what the page opens with."""
        lights = [h for make in self.highlight_makers for h in make(study)]
        for lines in self.tables_file.highlights:
            frame = tables.get(lines.table, pd.DataFrame(columns=[lines.column]))
            wanted = re.compile(lines.pattern)
            frame = frame[[bool(wanted.search(str(text))) for text in frame[lines.column]]]
            frame = frame[frame["ours"].notna()] if len(frame) else frame
            for row in frame.tail(1 if lines.last else len(frame)).to_dict("records"):
                numbers = (number if pd.notna(row[k]) else "" for k, number in _pair(row))
                what = lines.what.format(**row)
                lights.append(
                    Highlight(what, row["data set"], *numbers, row["verdict"], lines.table)
                )
        return lights

    def write(self, study: Study, folder: str | Path, left: Iterable[str] = ()) -> list[Path]:
        """Write tables/, figures/, claims.csv and outputs.json, which says what is in them.

        Parameters
        ----------
        left : iterable of str
            What of the suite is not finished, and so not in the study.

        Returns
        -------
        list of paths
            The tables, as pages, in their order.
        """
        folder = Path(folder)
        for part in ("tables", "figures"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        tables = self.all_tables(study)
        shown = [self._write_table(n, f, study, folder / "tables") for n, f in tables.items()]
        with fig.style():
            turned = [
                self._explore(made, study, folder / "figures")
                for made in self.tables_file.explorers
            ]
            drawn = [
                self._draw(made, study, folder / "figures") for made in self.tables_file.figures
            ]
        claims = self.all_claims(study)
        replace_atomically(folder / "claims.csv", lambda part: claims.to_csv(part, index=False))
        content = {
            "suite": study.suite,
            "left": list(left),
            "title": study.title,
            "citation": study.citation,
            "summary": summary(study),
            "command": study.command(),
            "data": data_used(study),
            "certificates": certificates_held(study),
            "highlights": [asdict(h) for h in self.all_highlights(study, tables)],
            "claims": claims.to_dict("records"),
            "explorers": [e for e in turned if e],
            "figures": [d for d in drawn if d],
            "tables": [vars(s) for s in shown],
            "settings": asdict(tab.show(tab.settings_used(study), "settings", "Settings used")),
            "order": list(self.tables_file.order),
            "printed": printed(self.folder) if self.folder else {},
            "explained": [e.model_dump(mode="json") for e in self.tables_file.explained],
            "assumptions": applicable(self.tables_file.assumptions, study),
            "limitations": [*applicable(self.tables_file.limitations, study), *study.failures()],
            "provenance": provenance(study, self.names),
        }
        text = json.dumps(content, indent=1)
        replace_atomically(folder / "outputs.json", lambda part: part.write_text(text, "utf-8"))
        return [folder / "tables" / f"{s.name}.html" for s in shown]

    def _write_table(self, name: str, frame: pd.DataFrame, study: Study, folder: Path) -> tab.Shown:
        shared = (
            Table(name="table_metrics", heading="All metrics"),
            Table(
                name="table_certificates",
                heading="Certificate of every path",
                notes=(CERTIFICATE_NOTE,),
            ),
        )
        table = next(t for t in (*self.tables_file.tables, *shared) if t.name == name)
        part = study.showing(frame)
        more = self.frames[table.notes_from](part, **table.options) if table.notes_from else []
        more = [*more, *frame.attrs.get("notes", [])]
        notes = [*table.notes, *more, *_data_note(table.experiments, part, splits=True)]
        if table.experiments or name == "table_metrics":
            notes += part.inaccurate(self.names, *table.experiments)
            notes += study.failures(*table.experiments)
        notes += [text for text in [made(part, table.experiments)] if text]
        heading = part.titled(table.heading, table.experiments)
        shown = tab.show(frame, name, heading, notes, study.command(table.experiments))
        shown = replace(shown, evidence=table.evidence)
        tab.write_table(frame, shown, folder)
        return shown

    def _draw(self, made: Drawn, study: Study, folder: Path) -> dict | None:
        figure: Figure | Surface | None = self.drawers[made.make](study, **made.options)
        if figure is None:
            return None
        turned = figure.content() if isinstance(figure, Surface) else None
        drawn = surface_figure(figure) if isinstance(figure, Surface) else figure
        fig.finish(drawn)
        fig.save(drawn, folder, made.name)
        return {**_described(made, study), "surface": turned}

    def _explore(self, made: Drawn, study: Study, folder: Path) -> dict | None:
        explorer: Explorer | None = self.drawers[made.make](study, **made.options)
        if explorer is None or not explorer.choices:
            return None
        fig.save(path_figure(explorer), folder, made.name)
        texts = {"content": explorer.content(), "missed": explorer.missed()}
        return {**_described(made, study), **texts}


def _described(made: Drawn, study: Study) -> dict:
    notes = [*made.notes, *_cut(made, study)]
    notes += _data_note(made.experiments, study, made.splits)
    heading, command = study.titled(made.heading, made.experiments), study.command(made.experiments)
    sentences = [text.rstrip(".") + "." for text in (heading, *notes)]
    caption = " ".join(sentences)
    return {"name": made.name, "heading": heading, "caption": caption, "command": command}


def _cut(made: Drawn, study: Study) -> list[str]:
    """Say what of the paper's figure a suite leaves out."""
    parts = []
    for whole in made.whole:
        if whole.setting == "splits":
            results = study.results[study.results["experiment"] == made.experiments[0]]
            shown = results["split"].nunique()
        else:
            shown = len(getattr(study.settings[made.experiments[0]], whole.setting))
        if shown < whole.of:
            parts.append(f"{shown} of {whole.of} {whole.what}")
    return [f"Of the paper's figure this is a part: {', '.join(parts)}."] if parts else []


def _data_note(experiments: tuple[str, ...], study: Study, splits: bool = False) -> list[str]:
    """Say which data are shown, so that no stand-in passes for the paper's; if asked, how often."""
    named = study.names_shown(experiments)
    if named and splits:
        named += f"; {study.splits_run(experiments)}"
    return [SHARED_NOTE.format(named)] if named else []


def _pair(row: dict) -> list[tuple[str, str]]:
    """Write the paper's number and ours as they are compared; a ratio of times has two digits."""
    digits = 2 if tab.RATIO in str(row.get("quantity", "")) else 4
    return list(zip(("paper", "ours"), together(row["paper"], row["ours"], digits), strict=False))


def applicable(sentences: tuple[Said, ...], study: Study) -> list[str]:
    """Return the sentences about what ran, with the settings that they name.

    A sentence with ``cut`` is said where a setting of its experiment is below that.
    """
    texts = []
    for one in sentences:
        settings = study.settings.get(one.experiment)
        ran = [*study.ran(one.experiment)] if one.experiment else study.results["dataset"].tolist()
        if (one.experiment and not ran) or (one.dataset and one.dataset not in ran):
            continue
        if all(getattr(settings, key) < least for key, least in one.cut.items()):
            fields = {"common": study.common, "own": settings or SimpleNamespace()}
            texts.append(cl.Words().format(one.text, **fields))
    return texts


def certificates_held(study: Study) -> dict[str, list[int]]:
    """Count of each data set how many of its paths are certified, and how many there are."""
    rows = study.results[study.results["metric"] == "certificate"]
    held = (rows["value"] == 1.0).groupby(rows["dataset"], sort=False).agg(["sum", "size"])
    return {study.name(d): [int(row["sum"]), int(row["size"])] for d, row in held.iterrows()}


def data_used(study: Study) -> list[dict]:
    """Say of every data set whether it is the paper's, and how many of its rows are failures."""
    results = study.results
    failed = results["status"].isin(FAILED).groupby(results["dataset"], sort=False).sum()
    return [
        {
            "name": study.name(d),
            "papers": study.is_papers(d),
            "instead_of": study.instead_of(d),
            "failures": int(count),
        }
        for d, count in failed.items()
    ]


def summary(study: Study) -> str:
    """Tell in some sentences whether the certificates hold and what failed."""
    results = study.results
    held = results[results["metric"] == "certificate"]["value"]
    failed = int((results["status"] == "failed").sum())
    absent = results[results["status"] == "not available"]["dataset"].unique()
    text = (
        f"{count(len(results), 'row')}. The certificate holds for {int((held == 1.0).sum())} of "
        f"{count(len(held), 'path')}. {count(failed, 'failure')}."
    )
    if len(absent):
        text += f" Not available: {', '.join(study.name(d) for d in absent)}."
    return text
