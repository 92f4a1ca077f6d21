"""One page for a suite, made of what its papers' outputs.json files say; pictures are inside."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from pathlib import Path

from ..files import replace_atomically
from .tables import templates
from .verdicts import RULES


def write_page(
    out: str | Path, about: str, papers: Iterable[str], missing: Iterable[str] = ()
) -> None:
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
    """
    out = Path(out)
    contents = []
    for paper in papers:
        folder = out.parent / paper
        content = json.loads((folder / "outputs.json").read_text("utf-8"))
        for figure in content["figures"]:
            picture = (folder / "figures" / f"{figure['name']}.png").read_bytes()
            figure["picture"] = base64.b64encode(picture).decode()
        contents.append({"name": paper, **content})
    text = (
        templates()
        .get_template("page.html")
        .render(
            suite=out.parent.name,
            about=about,
            missing=sorted(set(missing)),
            papers=contents,
            rules=RULES,
        )
    )
    replace_atomically(out, lambda part: part.write_text(text, "utf-8"))
