"""One page for a suite, made of what its papers' outputs.json files say; everything is inside."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from pathlib import Path

from markupsafe import Markup

from solution_paths.files import replace_atomically

from . import figures, overview, provenance
from .tables import templates
from .verdicts import CONTRADICTED, GLYPHS, PAPER, PROJECT, RULES

SOURCES = {
    PAPER: "Claims of the text",
    CONTRADICTED: "Sentences that the paper's own tables contradict, which count as nobody's",
    PROJECT: "Questions and goals of this project, which the paper does not state",
}
KINDS = {"csv": "text/csv", "tex": "application/x-tex"}


def write_page(
    out: str | Path,
    about: str,
    papers: Iterable[str],
    missing: Iterable[str] = (),
    command: str = "",
    code: str = "",
) -> list[str]:
    """Write the page of a suite, so that the file can be sent as it is.

    Parameters
    ----------
    out : path
        ``results/<suite>/report.html``; the papers' folders are beside it.
    about : str
        What the suite is, in a sentence.
    papers : iterable of str
        Names of the papers' folders.
    missing : iterable of str
        Data sets that were not at hand.
    command : str
        What was run.
    code : str
        How many cells were made by other code; empty: none.

    Returns
    -------
    list of str
        A summary for the terminal.
    """
    out = Path(out)
    contents = [_content(out.parent / paper, paper) for paper in papers]
    page = (
        templates()
        .get_template("page.html")
        .render(
            suite=out.parent.name,
            about=about,
            missing=sorted(set(missing)),
            papers=contents,
            headlines=[overview.headline(content) for content in contents],
            sources=SOURCES,
            foreign=overview.foreign_data(contents),
            command=command or f"snakemake --cores 8 {out.parent.name}",
            other_code=code,
            date=provenance.now(),
            commit=provenance.commit(out.resolve().parent),
            rules=RULES,
            glyphs=GLYPHS,
            described=overview.described,
        )
    )
    replace_atomically(out, lambda part: part.write_text(page, "utf-8"))
    return overview.summary_lines(contents, str(out))


def _content(folder: Path, name: str) -> dict:
    """Read what a paper wrote; pictures and files to download come into the page."""
    content = {"name": name, **json.loads((folder / "outputs.json").read_text("utf-8"))}
    for made in [*content["figures"], *content["explorers"]]:
        svg = (folder / "figures" / f"{made['name']}.svg").read_text("utf-8")
        made["svg"] = Markup(figures.inline(svg, f"{name}-{made['name']}", made["caption"]))
    for table in content["tables"]:
        table["files"] = {
            suffix: _data_uri(folder / "tables" / f"{table['name']}.{suffix}") for suffix in KINDS
        }
    content["map"] = overview.heat_map(content)
    return content


def _data_uri(file: Path) -> str:
    text = base64.b64encode(file.read_bytes()).decode()
    return f"data:{KINDS[file.suffix[1:]]};charset=utf-8;base64,{text}"
