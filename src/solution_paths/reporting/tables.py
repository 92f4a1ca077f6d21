"""Tables: built as data frames, shown to people, written as CSV, Markdown, HTML and LaTeX."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import jinja2
import numpy as np
import pandas as pd

from ..files import replace_atomically
from .study import Study
from .verdicts import NOT_COMPARED


@dataclass(frozen=True)
class Shown:
    """A table as people see it: every cell is text.

    ``numeric`` says of each column whether it holds numbers only.
    """

    name: str
    heading: str
    columns: list[str]
    rows: list[list[str]]
    numeric: list[bool]
    notes: list[str]


def show(frame: pd.DataFrame, name: str, heading: str, notes: list[str] | None = None) -> Shown:
    """Return a data frame as people see it."""
    cells = frame.map(formatted)
    rows = [[str(v) for v in row] for row in cells.itertuples(index=False)]
    numeric = [all(_numeric(v) for v in cells[c]) for c in cells.columns]
    return Shown(name, heading, [str(c) for c in cells.columns], rows, numeric, list(notes or []))


def formatted(value: object) -> str:
    """Write a cell for people: four significant digits, integers whole, an em dash for nothing."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "—"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        if value == int(value) and abs(value) < 1e7:
            return str(int(value))
        return f"{value:.4g}"
    return str(value)


def _numeric(text: str) -> bool:
    return text == "—" or text.replace("±", "").strip()[:1] in set("-0123456789")


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
    environment.filters["latex"] = _latex
    environment.filters["markdown"] = lambda text: str(text).replace("|", "\\|")
    return environment


def _latex(text: object) -> str:
    swaps = {"\\": r"\textbackslash{}", "—": "--", "±": r"$\pm$", "|": r"$|$", "~": r"\~{}"}
    swaps |= {c: f"\\{c}" for c in "&%$#_{}"} | {"^": r"\^{}", "<": "$<$", ">": "$>$"}
    return "".join(swaps.get(c, c) for c in str(text))


def write_table(frame: pd.DataFrame, shown: Shown, out_dir: str | Path) -> None:
    """Write a table four times: ``name.csv`` in full precision, ``.md``, ``.html``, ``.tex``."""
    texts = {"csv": frame.to_csv(index=False)}
    for suffix in ("md", "html", "tex"):
        texts[suffix] = templates().get_template(f"table.{suffix}").render(table=asdict(shown))
    for suffix, text in texts.items():
        file = Path(out_dir) / f"{shown.name}.{suffix}"
        replace_atomically(file, lambda part, text=text: part.write_text(text, "utf-8"))


# ---------------------------------------------------------------- tables that papers share


def comparison(rows: list[dict]) -> pd.DataFrame:
    """Frame with the columns of every comparison; ``difference`` is ours minus the paper's."""
    if not rows:
        return pd.DataFrame()
    frame = pd.DataFrame(rows)
    for name in ("paper", "ours"):
        frame[name] = pd.to_numeric(frame[name], errors="coerce")
    frame["difference"] = frame["ours"] - frame["paper"]
    frame.loc[frame["verdict"] == NOT_COMPARED, "difference"] = np.nan
    first = [c for c in frame.columns if c not in ("paper", "ours", "difference", "verdict")]
    return frame[[*first, "paper", "ours", "difference", "verdict"]]


def compared(dataset: str, quantity: str, paper: float, ours: float, verdict: str) -> dict:
    """Return a row of a comparison."""
    names = {"data set": dataset, "quantity": quantity}
    return {**names, "paper": paper, "ours": ours, "verdict": verdict}


# Hyper-parameters that tell paths apart are the columns of `certificates`.
def certificates(study: Study) -> pd.DataFrame:
    """One row for each path's certificate: the gap, and how far rounding may have moved it."""
    own = study.only(metric="certificate")
    keys = list(dict.fromkeys(key for h in own["hyper"] for key in h))
    varying = [k for k in keys if len({str(h.get(k)) for h in own["hyper"]}) > 1]
    rows = [
        {
            "experiment": row.experiment,
            "data set": study.name(row.dataset),
            "split": row.split,
            **({"method": row.method} if own["method"].nunique() > 1 else {}),
            **{key: row.hyper.get(key) for key in varying},
            "breakpoints": row.n_breakpoints,
            "KKT violation": row.kkt,
            "gap": row.gap,
            "rounding of the gap": row.rounding,
            "holds": bool(row.value == 1.0),
        }
        for row in own.itertuples()
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
    ran = set(study.results["dataset"])
    for name, settings in study.datasets.items():
        said = settings.model_dump(exclude_defaults=True, exclude={"title"})
        if name in ran and said:
            text = "; ".join(f"{key} = {_said(value)}" for key, value in said.items())
            rows.append({"what": study.name(name), "setting": "data set", "value": text})
    return pd.DataFrame(rows)


def _said(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"{k} {_said(v)}" for k, v in value.items())
    if isinstance(value, tuple | list):
        return ", ".join(_said(v) for v in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
