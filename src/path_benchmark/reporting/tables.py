"""Tables: built as data frames, shown to people, written as CSV, Markdown, HTML and LaTeX."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jinja2
import numpy as np
import pandas as pd

from solution_paths.files import replace_atomically

from . import formats, latex, verdicts
from .study import Study

# A quantity "A / B" is a ratio of times, which noise leaves two digits.
RATIO = " / "
# A column or quantity whose name holds one of these is in seconds.
SECONDS = re.compile(r"\b(CPU|wall) s\b")


@dataclass(frozen=True)
class Shown:
    """A table as people see it: every cell is text.

    Attributes
    ----------
    numeric : list of bool
        Whether a column holds numbers only.
    raw : list of lists
        The number behind each cell, None where there is none: what sorting goes by.
    kinds : list of str
        The kind of verdict of each row, "" where it has none.
    evidence : bool
        What was tried beside the paper's table: published numbers in it count there, and not here.
    command : str
        What makes the table again.
    """

    name: str
    heading: str
    columns: list[str]
    rows: list[list[str]]
    numeric: list[bool]
    notes: list[str]
    raw: list[list[float | None]]
    kinds: list[str]
    command: str = ""
    evidence: bool = False


def show(
    frame: pd.DataFrame,
    name: str,
    heading: str,
    notes: list[str] | None = None,
    command: str = "",
) -> Shown:
    """Return a data frame as people see it."""
    cells = _texts(frame)
    rows = [list(row) for row in cells.itertuples(index=False)]
    numeric = [all(_numeric(v) for v in cells[c]) for c in cells.columns]
    raw = [[_raw(v) for v in row] for row in frame.itertuples(index=False)]
    kinds = [verdicts.kind(str(v)) for v in frame.get("verdict", [""] * len(frame))]
    columns = [SECONDS.sub(r"\1 time", str(c)).replace("_0", "₀") for c in cells.columns]
    return Shown(name, heading, columns, rows, numeric, list(notes or []), raw, kinds, command)


def _raw(value: object) -> float | None:
    if isinstance(value, bool | np.bool_) or not formats.known(value):
        return None
    return float(value) if math.isfinite(value) else None


def _texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Write every cell; a comparison row by row, other columns each in one notation."""
    cells = {}
    for name in frame.columns:
        values = list(frame[name])
        numbers = [v for v in values if v is not None and not isinstance(v, bool | np.bool_)]
        if SECONDS.search(str(name)):
            cells[name] = [formats.seconds(v) for v in values]
        elif numbers and all(formats.known(v) or _is_nan(v) for v in numbers):
            cells[name] = [
                formatted(v) if isinstance(v, bool | np.bool_) else t
                for v, t in zip(values, formats.column(values), strict=True)
            ]
        else:
            cells[name] = [formatted(v) for v in values]
    if {"paper", "ours", "difference", "relative"} <= set(frame.columns):
        cells |= _compared_texts(frame)
    if "quantity" in cells:
        cells["quantity"] = [SECONDS.sub(r"\1 time", text) for text in cells["quantity"]]
    return pd.DataFrame(cells, columns=frame.columns)


def _compared_texts(frame: pd.DataFrame) -> dict[str, list[str]]:
    rows = []
    for row in frame.to_dict("records"):
        paper, ours, verdict = row["paper"], row["ours"], str(row["verdict"])
        if SECONDS.search(str(row.get("quantity", ""))):
            rows.append((formats.seconds(paper, 4), formats.seconds(ours), *2 * [formats.NOTHING]))
        elif verdict in (verdicts.NOT_COMPARED, verdicts.NOT_COMPARABLE):
            rows.append((*formats.together(paper, ours)[:2], *2 * [formats.NOTHING]))
        else:
            digits = 2 if RATIO in str(row.get("quantity", "")) else 4
            numbers = formats.together(paper, ours, digits)
            rows.append((*numbers, formats.relative(paper, ours)))
    names = ("paper", "ours", "difference", "relative")
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


def formatted(value: object) -> str:
    """Write a cell for people: three significant digits, integers whole, an em dash for nothing."""
    if value is None or _is_nan(value):
        return formats.NOTHING
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if formats.known(value):
        whole = math.isfinite(value) and value == int(value) and abs(value) < 1e7
        return str(int(value)) if whole else formats.significant(float(value))
    return str(value)


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


_NUMBER = re.compile(r"[-+×]?\d[\d.×⁻⁰¹²³⁴⁵⁶⁷⁸⁹]*([\u202f ].{1,2})?")


def _numeric(text: str) -> bool:
    return text == formats.NOTHING or bool(_NUMBER.fullmatch(text))


def laid_out(table: dict, anchor: str = "") -> list[dict]:
    """Return a table's rows as the page shows them: cells with class, text and sort value.

    The decimals of a column of numbers are padded to one length, so that points stand in a line.
    """
    columns = [
        formats.padded(column) if numeric else column
        for column, numeric in zip(_transposed(table["rows"]), table["numeric"], strict=False)
    ]
    last = [name == "verdict" for name in table["columns"]]
    made = []
    for k, texts in enumerate(_transposed(columns)):
        kind = table["kinds"][k]
        cells = [
            {
                "text": text,
                "class": _class(text, kind if last[j] else "", table["numeric"][j]),
                "glyph": verdicts.GLYPHS[kind] if last[j] and kind else "",
                "raw": table["raw"][k][j] if table["numeric"][j] else None,
            }
            for j, text in enumerate(texts)
        ]
        made.append({"id": f"{anchor}-{k}" if anchor else "", "kind": kind, "cells": cells})
    return made


def _class(text: str, kind: str, numeric: bool) -> str:
    """Return the classes of a cell: v and its verdict; n, a number; e, nothing."""
    if kind:
        return f"v {css(kind)}"
    return " ".join(["n"] * numeric + ["e"] * (text == formats.NOTHING))


def _transposed(rows: list[list[str]]) -> list[list[str]]:
    return [list(column) for column in zip(*rows, strict=True)]


def css(text: str) -> str:
    """Return a word of a class or an anchor for a text."""
    return "-".join(re.findall(r"[a-z0-9_]+", text.lower()))


@cache
def templates() -> jinja2.Environment:
    """Return the templates; only HTML needs its special characters replaced by the engine."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=lambda name: bool(name) and name.endswith(".html"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["latex"] = latex.escaped
    environment.filters["laid_out_latex"] = latex.layout
    environment.filters["markdown"] = _markdown
    environment.filters["row"] = markdown_row
    environment.filters["css"] = css
    environment.globals["laid_out"] = laid_out
    return environment


def _markdown(text: object) -> str:
    """Escape what Markdown, or HTML inside it, would take for markup."""
    swaps = {c: f"\\{c}" for c in "\\`*_[]|#~"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
    return "".join(swaps.get(c, c) for c in " ".join(str(text).split()))


def markdown_row(cells: Iterable[object]) -> str:
    """Return a row of a table in Markdown."""
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def write_table(frame: pd.DataFrame, shown: Shown, out_dir: str | Path) -> None:
    """Write a table four times: ``name.csv`` in full precision, ``.md``, ``.html``, ``.tex``."""
    texts = {"csv": frame.to_csv(index=False)}
    for suffix in ("md", "html", "tex"):
        texts[suffix] = templates().get_template(f"table.{suffix}").render(table=vars(shown))
    for suffix, text in texts.items():
        file = Path(out_dir) / f"{shown.name}.{suffix}"
        replace_atomically(file, lambda part, text=text: part.write_text(text, "utf-8"))


# ---------------------------------------------------------------- tables that papers share


def comparison(rows: list[dict]) -> pd.DataFrame:
    """Frame with the columns of every comparison.

    ``difference`` is ours minus the paper's, ``relative`` that over the paper's.
    """
    if not rows:
        return pd.DataFrame()
    frame = pd.DataFrame(rows)
    for name in ("paper", "ours"):
        frame[name] = pd.to_numeric(frame[name], errors="coerce")
    frame["difference"] = frame["ours"] - frame["paper"]
    frame.loc[frame["verdict"] == verdicts.NOT_COMPARED, "difference"] = np.nan
    frame["relative"] = frame["difference"] / frame["paper"].abs().where(frame["paper"] != 0)
    last = ["paper", "ours", "difference", "relative", "verdict"]
    return frame[[*(c for c in frame.columns if c not in last), *last]]


def compared(dataset: str, quantity: str, paper: float, ours: float, verdict: str) -> dict:
    """Return a row of a comparison."""
    names = {"data set": dataset, "quantity": quantity}
    return {**names, "paper": paper, "ours": ours, "verdict": verdict}


# Hyper-parameters that tell paths apart are the columns of `certificates`.
def certificates(study: Study, names: Mapping[str, str]) -> pd.DataFrame:
    """One row for each path's certificate: the gap, and how far rounding may have moved it."""
    part = study.only(metric="certificate")
    keys = list(dict.fromkeys(key for h in part["hyper"] for key in h))
    varying = [k for k in keys if len({str(h.get(k)) for h in part["hyper"]}) > 1]
    rows = [
        {
            "experiment": row.experiment,
            "data set": study.name(row.dataset),
            "split": row.split,
            **(
                {"method": names.get(row.method, row.method)}
                if part["method"].nunique() > 1
                else {}
            ),
            **{key: row.hyper.get(key) for key in varying},
            "breakpoints": row.n_breakpoints,
            "KKT violation": row.kkt,
            "gap": row.gap,
            "rounding of the gap": row.rounding,
            "holds": bool(row.value == 1.0),
        }
        for row in part.itertuples()
    ]
    frame = pd.DataFrame(rows)
    for column in ("breakpoints", *varying):
        if column in frame:
            frame[column] = frame[column].astype(object).where(frame[column].notna(), None)
    return frame


def metrics(study: Study) -> pd.DataFrame:
    """Every metric by experiment, data set and method: the table of a paper that declares none."""
    known = study.results[study.results["value"].notna()]
    groups = known.groupby(["experiment", "dataset", "method", "metric"], sort=False)["value"]
    table = groups.agg(["count", "mean", "std", "min", "max"]).reset_index()
    table["dataset"] = table["dataset"].map(study.name)
    return table.rename(columns={"dataset": "data set", "count": "values"})


def settings_used(study: Study) -> pd.DataFrame:
    """Every setting as this suite used it, its overrides included."""
    rows = [{"what": "all experiments", "setting": k, "value": str(v)} for k, v in study.common]
    for experiment, settings in study.settings.items():
        used = ", ".join(study.name(d) for d in study.ran(experiment))
        rows.append({"what": experiment, "setting": "data sets", "value": used or "none"})
        rows += [
            {"what": experiment, "setting": key, "value": _said(value)}
            for key, value in settings.model_dump().items()
        ]
    ran = set(study.results["dataset"].unique())
    for name, settings in study.datasets.items():
        changed = settings.model_dump(exclude_defaults=True, exclude={"title"})
        if name in ran and changed:
            text = "; ".join(f"{key} = {_said(value)}" for key, value in changed.items())
            rows.append({"what": study.name(name), "setting": "data set", "value": text})
    return pd.DataFrame(rows)


def _said(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"{k} {_said(v)}" for k, v in value.items())
    if isinstance(value, tuple | list):
        return ", ".join(_said(v) for v in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
