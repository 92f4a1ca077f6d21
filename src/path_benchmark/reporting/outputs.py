"""What a paper makes of its results: ordered lists of tables, figures, explorers, claims, checks.

A paper's module ``outputs`` holds an `Outputs` called ``OUTPUTS``; a paper without one gets a table
of all metrics and one of its certificates.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from solution_paths.files import replace_atomically

from . import figures as fig
from . import tables as tab
from .explorer import Explorer, path_figure
from .formats import count
from .provenance import provenance
from .study import Study
from .surface import Surface, surface_figure
from .verdicts import Claim, claims_frame

SHARED_NOTE = "Data: {}."
CERTIFICATE_NOTE = (
    "KKT violation and gap are the worst over all breakpoints (a sample of very long paths) and "
    "100 places between, found by code that shares nothing with the walker. Nothing is subtracted "
    "from the gap; beside it stands how far off it may be, being evaluated in floating point."
)


@dataclass(frozen=True)
class Made:
    """A table, figure or explorer: the function that makes it, and what is said of it."""

    name: str
    heading: str
    make: Callable[[Study], Any]
    experiments: tuple[str, ...]
    notes: Callable[[Study], list[str]]


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


class Outputs:
    """Tables, figures, claims, assumptions and checks of a paper, in the order of registration."""

    def __init__(self) -> None:
        self.tables: list[Made] = []
        self.figures: list[Made] = []
        self.explorers: list[Made] = []
        self.claim_makers: list[Callable[[Study], list[Claim]]] = []
        self.highlight_makers: list[Callable[[Study], list[Highlight]]] = []
        self.assumptions: Callable[[Study], list[str]] = lambda study: []
        self.names: dict[str, str] = {}  # methods, as people write them
        self.limitations: Callable[[Study], list[str]] = lambda study: []
        self.checks: list[Callable[[pd.DataFrame, pd.DataFrame], list[str]]] = []

    def table(
        self, name: str, heading: str, *experiments: str, notes: Any = ()
    ) -> Callable[[Callable], Callable]:
        """Register a function of the study that returns a data frame (empty: no table).

        Parameters
        ----------
        name, heading : str
            A heading "Table 1: ..." or "Figure 2: ..." is the paper's; on other data than the
            paper's it is reworded.
        *experiments : str
            Whose data are named, and whose failures must be, below the table.
        notes : sequence of str, or function of the study
        """
        return _registrar(self.tables, name, heading, experiments, notes)

    def figure(
        self, name: str, caption: str, *experiments: str, notes: Any = ()
    ) -> Callable[[Callable], Callable]:
        """Register a function of the study that returns a matplotlib figure, or None.

        It may return a `Surface` as well, which the page lets its reader turn.
        """
        return _registrar(self.figures, name, caption, experiments, notes)

    def explorer(
        self, name: str, heading: str, *experiments: str, notes: Any = ()
    ) -> Callable[[Callable], Callable]:
        """Register a function of the study that returns an `Explorer`, or None.

        Its path figure is drawn as well; readers without JavaScript see that.
        """
        return _registrar(self.explorers, name, heading, experiments, notes)

    def claims(self, make: Callable[[Study], list[Claim]]) -> Callable:
        """Register a function of the study that returns claims."""
        self.claim_makers.append(make)
        return make

    def highlights(self, make: Callable[[Study], list[Highlight]]) -> Callable:
        """Register a function of the study that returns what the page opens with."""
        self.highlight_makers.append(make)
        return make

    def check(self, make: Callable[[pd.DataFrame, pd.DataFrame], list[str]]) -> Callable:
        """Register a function of results and curves that returns what is wrong, in sentences."""
        self.checks.append(make)
        return make

    # -- writing ----------------------------------------------------------------------------------

    def all_claims(self, study: Study) -> pd.DataFrame:
        """Return every claim as a table."""
        return claims_frame([claim for make in self.claim_makers for claim in make(study)])

    def write(self, study: Study, folder: str | Path) -> list[Path]:
        """Write tables/, figures/, claims.csv and outputs.json, which says what is in them.

        Returns
        -------
        list of paths
            The tables, as pages, in their order.
        """
        folder = Path(folder)
        for part in ("tables", "figures"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        shown = [self._write_table(made, study, folder / "tables") for made in self._all_tables()]
        with fig.style():
            turned = [self._explore(made, study, folder / "figures") for made in self.explorers]
            drawn = [self._draw(made, study, folder / "figures") for made in self.figures]
        claims = self.all_claims(study)
        replace_atomically(folder / "claims.csv", lambda part: claims.to_csv(part, index=False))
        content = {
            "title": study.title,
            "citation": study.citation,
            "summary": summary(study),
            "command": study.command(),
            "data": data_used(study),
            "certificates": certificates_held(study),
            "highlights": [asdict(h) for make in self.highlight_makers for h in make(study)],
            "claims": claims.to_dict("records"),
            "explorers": [e for e in turned if e],
            "figures": [d for d in drawn if d],
            "tables": [asdict(s) for s in shown if s],
            "settings": asdict(tab.show(tab.settings_used(study), "settings", "Settings used")),
            "assumptions": self.assumptions(study),
            "limitations": [*self.limitations(study), *study.failures()],
            "provenance": provenance(study, self.names),
        }
        text = json.dumps(content, indent=1)
        replace_atomically(folder / "outputs.json", lambda part: part.write_text(text, "utf-8"))
        return [folder / "tables" / f"{s.name}.html" for s in shown if s]

    def _all_tables(self) -> list[Made]:
        """Add the tables that every paper has."""
        shared: list[Made] = []
        if not self.tables:
            _registrar(shared, "table_metrics", "All metrics", (), ())(tab.metrics)
        notes = [CERTIFICATE_NOTE]
        heading = "Certificate of every path"
        _registrar(shared, "table_certificates", heading, (), notes)(
            lambda study: tab.certificates(study, self.names)
        )
        return [*self.tables, *shared]

    def _write_table(self, made: Made, study: Study, folder: Path) -> tab.Shown | None:
        frame = made.make(study)
        if not len(frame):
            return None
        notes = [*made.notes(study), *_data_note(made, study)]
        if made.experiments or not self.tables:
            notes += study.failures(*made.experiments)
        heading = study.titled(made.heading, made.experiments)
        command = study.command(made.experiments)
        shown = tab.show(frame, made.name, heading, notes, command)
        tab.write_table(frame, shown, folder)
        return shown

    def _draw(self, made: Made, study: Study, folder: Path) -> dict | None:
        figure: Figure | Surface | None = made.make(study)
        if figure is None:
            return None
        turned = figure.content() if isinstance(figure, Surface) else None
        drawn = surface_figure(figure) if isinstance(figure, Surface) else figure
        fig.save(drawn, folder, made.name)
        return {**_described(made, study), "surface": turned}

    def _explore(self, made: Made, study: Study, folder: Path) -> dict | None:
        explorer: Explorer | None = made.make(study)
        if explorer is None or not explorer.choices:
            return None
        fig.save(path_figure(explorer), folder, made.name)
        texts = {"content": explorer.content(), "missed": explorer.missed()}
        return {**_described(made, study), **texts}


def _described(made: Made, study: Study) -> dict:
    notes = [*made.notes(study), *_data_note(made, study)]
    heading, command = study.titled(made.heading, made.experiments), study.command(made.experiments)
    sentences = [text.rstrip(".") + "." for text in (heading, *notes)]
    caption = " ".join(sentences)
    return {"name": made.name, "heading": heading, "caption": caption, "command": command}


def _registrar(
    kept: list[Made], name: str, heading: str, experiments: tuple[str, ...], notes: Any
) -> Callable:
    def register(make: Callable) -> Callable:
        told = notes if callable(notes) else lambda study: list(notes)
        kept.append(Made(name, heading, make, experiments, told))
        return make

    return register


def _data_note(made: Made, study: Study) -> list[str]:
    """Say which data are shown, so that no stand-in passes for the paper's."""
    named = study.names_shown(made.experiments)
    return [SHARED_NOTE.format(named)] if named else []


def certificates_held(study: Study) -> dict[str, list[int]]:
    """Count of each data set how many of its paths are certified, and how many there are."""
    own = study.results[study.results["metric"] == "certificate"]
    held = (own["value"] == 1.0).groupby(own["dataset"], sort=False).agg(["sum", "size"])
    return {study.name(d): [int(row["sum"]), int(row["size"])] for d, row in held.iterrows()}


def data_used(study: Study) -> list[dict]:
    """Say of every data set that was run whether it is the paper's."""
    found = dict.fromkeys(study.results["dataset"])
    return [
        {"name": study.name(d), "papers": study.is_papers(d), "instead_of": study.instead_of(d)}
        for d in found
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
    sources = {json.loads(v).get("source") for v in results["versions"].unique()}
    if len(sources) > 1:
        text += (
            f" The rows come from {len(sources)} versions of the source: remove the folder of "
            "cells and run again for results of one."
        )
    if len(absent):
        text += f" Not available: {', '.join(study.name(d) for d in absent)}."
    return text
