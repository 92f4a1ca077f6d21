"""One page for a suite: assumptions, tables, figures, claims, certificates, machine."""

from __future__ import annotations

import base64
import html
import json
from importlib import import_module
from pathlib import Path

import pandas as pd

from ..benchmarking.common import read_results, replace_atomically
from .tables import STYLE, formatted, table_html

TITLES = {"quantile_svm": "Quantile SVM", "weighted_svm": "Weighted SVM"}
COLOURS = {"supported": "#00694d", "not supported": "#a13d00", "inconclusive": "#555"}


def write_page(
    out: str | Path, suite: str, papers: dict[str, dict], missing: object = None
) -> list[str]:
    """Write the page of a suite; pictures are inside, so that the file can be sent as it is.

    Parameters
    ----------
    out : path
        ``results/<suite>/report.html``; the papers' folders are beside it.
    suite : str
    papers : dict
        Paper -> its part of the configuration.
    missing : iterable of str, optional
        Data sets that were not at hand.

    Returns
    -------
    list of str
        The data sets that were not at hand.
    """
    out, missing = Path(out), _names(missing)
    parts = [f"<h1>Results of the suite “{html.escape(suite)}”</h1>"]
    if missing:
        names = html.escape(", ".join(missing))
        parts.append(f"<p><b>Not at hand, so absent from every table:</b> {names}.</p>")
    for paper, settings in papers.items():
        parts += _paper(out.parent / paper, paper, settings)
    text = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>solution_paths: '
        f"{html.escape(suite)}</title><style>{STYLE}</style></head><body>{''.join(parts)}</body></html>"
    )
    replace_atomically(out, lambda part: part.write_text(text, "utf-8"))
    return missing


def _names(missing: object) -> list[str]:
    if not missing:
        return []
    return sorted({str(name) for name in missing})


def _paper(folder: Path, paper: str, settings: dict) -> list[str]:
    """Everything about one paper, in the order in which a reader asks for it."""
    experiment = import_module(f"solution_paths.papers.{paper}.experiments")
    results = read_results(folder / "results.parquet")
    parts = [f"<h2>{html.escape(TITLES.get(paper, paper))}</h2>", _summary(results)]
    parts.append("<h3>Claims of the text</h3>" + _claims(folder / "claims.csv"))
    for picture in sorted((folder / "figures").glob("*.png")):
        parts.append(_figure(picture, experiment.CAPTIONS.get(picture.stem, picture.stem)))
    for table in sorted((folder / "tables").glob("*.html")):
        parts.append(_body(table.read_text("utf-8")))
    items = "".join(f"<li>{html.escape(t)}</li>" for t in experiment.assumptions(settings))
    parts.append(f"<h3>Assumptions</h3><ul>{items}</ul>")
    return [*parts, _provenance(results)]


def _summary(results: pd.DataFrame) -> str:
    """Tell in a sentence whether the certificates hold and what failed."""
    held = results[results["metric"] == "certificate"]["value"]
    failed = results[results["status"] == "failed"]
    absent = results[results["status"] == "not available"]["dataset"].unique()
    text = (
        f"{len(results)} rows. The certificate holds for {int((held == 1.0).sum())} of {len(held)} "
        f"paths. {len(failed)} failures."
    )
    sources = {json.loads(v).get("source") for v in results["versions"].unique()}
    if len(sources) > 1:
        text += (
            f" The rows come from {len(sources)} versions of the source: remove the folder of "
            "cells and run again for results of one."
        )
    if len(absent):
        text += f" Not available: {', '.join(absent)}."
    return f"<p>{html.escape(text)}</p>"


def _claims(file: Path) -> str:
    """List the claims, verdict first."""
    rows = []
    for row in pd.read_csv(file).itertuples():
        colour = COLOURS.get(row.verdict, "#555")
        cells = (row.claim, row.dataset, row.evidence)
        rest = "".join(f"<td>{html.escape(str(c))}</td>" for c in cells)
        verdict = f'<td style="color:{colour}"><b>{html.escape(row.verdict)}</b></td>'
        rows.append(f"<tr>{verdict}{rest}</tr>")
    head = "".join(f"<th>{c}</th>" for c in ("verdict", "claim", "data set", "evidence"))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _figure(picture: Path, caption: str) -> str:
    data, text = base64.b64encode(picture.read_bytes()).decode(), html.escape(caption)
    image = f'<img alt="{text}" src="data:image/png;base64,{data}">'
    return f"<figure>{image}<figcaption>{text}</figcaption></figure>"


def _body(page: str) -> str:
    return page.split("<body>", 1)[1].rsplit("</body>", 1)[0]


def _provenance(results: pd.DataFrame) -> str:
    """Machines and versions, each once, with the number of rows that they made."""
    parts = ["<h3>Machines and versions</h3>"]
    for column in ("machine", "versions"):
        counts = results[column].value_counts().rename_axis(column).reset_index(name="rows")
        parts.append(table_html(counts.map(formatted)))
    solvers = results.dropna(subset=["method_version"])[["method", "method_version"]]
    return "".join([*parts, table_html(solvers.drop_duplicates().map(formatted))])
