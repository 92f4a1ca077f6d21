"""Tables: paper, ours, difference, verdict; written as CSV, Markdown, HTML and LaTeX.

Verdicts follow fixed rules. A measured mean agrees when it is within two standard errors of the
difference. Seconds of different machines are never compared; ratios between methods are.
"""

from __future__ import annotations

import html
import math
from pathlib import Path

import numpy as np
import pandas as pd

from ..benchmarking.common import replace_atomically

AGREES, DIFFERS, MISSING = "agrees", "differs", "missing"
NOT_IN_PAPER, NOT_COMPARED = "not in the paper", "seconds: not compared"
# Two single numbers without a spread agree within this share; two ratios of times within a factor.
SINGLE_SHARE, RATIO_FACTOR = 0.05, 2.0


def verdict_exact(paper: float, ours: float, tolerance: float = 0.0) -> str:
    """Verdict for counts and settings: equal up to half a printed digit, or not."""
    if _unknown(ours):
        return MISSING
    if _unknown(paper):
        return NOT_IN_PAPER
    return AGREES if abs(paper - ours) <= tolerance + 1e-12 * abs(paper) else DIFFERS


def verdict_mean(
    paper: float,
    ours: float,
    paper_std: float | None = None,
    ours_std: float | None = None,
    paper_n: int = 1,
    ours_n: int = 1,
) -> str:
    """Verdict for measured values.

    Two means with standard deviations over ``paper_n`` and ``ours_n`` splits agree when they
    differ by at most two standard errors of the difference. A published number without a spread is
    one more draw from ours, when ours has at least three splits. Single numbers agree within 5 %.
    """
    if _unknown(ours):
        return MISSING
    if _unknown(paper):
        return NOT_IN_PAPER
    if not _unknown(ours_std) and ours_n >= 3:
        spread = ours_std if _unknown(paper_std) else paper_std
        error = math.sqrt(spread**2 / paper_n + ours_std**2 / ours_n)
        return AGREES if abs(paper - ours) <= 2.0 * error else DIFFERS
    return AGREES if abs(paper - ours) <= SINGLE_SHARE * abs(paper) else DIFFERS


def verdict_ratio(paper: float, ours: float) -> str:
    """Verdict for a ratio of times: agrees within a factor of two, else says how far off."""
    if _unknown(ours):
        return MISSING
    if _unknown(paper):
        return NOT_IN_PAPER
    if max(paper / ours, ours / paper) <= RATIO_FACTOR:
        return AGREES
    return f"{paper / ours:.3g} times lower" if ours < paper else f"{ours / paper:.3g} times higher"


def _unknown(value: float | None) -> bool:
    return value is None or bool(np.isnan(value))


def comparison(rows: list[dict]) -> pd.DataFrame:
    """Frame with the columns of every comparison; ``difference`` is ours minus the paper's."""
    frame = pd.DataFrame(rows)
    for name in ("paper", "ours"):
        frame[name] = pd.to_numeric(frame[name], errors="coerce")
    frame["difference"] = frame["ours"] - frame["paper"]
    seconds = frame["verdict"] == NOT_COMPARED
    frame.loc[seconds, "difference"] = np.nan
    first = [c for c in frame.columns if c not in ("paper", "ours", "difference", "verdict")]
    return frame[[*first, "paper", "ours", "difference", "verdict"]]


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


def write_table(
    frame: pd.DataFrame, out_dir: str | Path, name: str, title: str, notes: list[str] | None = None
) -> None:
    """Write a table four times: ``name.csv`` in full precision, ``.md``, ``.html``, ``.tex``."""
    out, notes = Path(out_dir), notes or []
    shown = frame.map(formatted)
    texts = {
        "csv": frame.to_csv(index=False),
        "md": _markdown(shown, title, notes),
        "html": _html(shown, title, notes),
        "tex": _latex(shown, title, notes),
    }
    for suffix, text in texts.items():
        replace_atomically(
            out / f"{name}.{suffix}", lambda part, text=text: part.write_text(text, "utf-8")
        )


def _markdown(shown: pd.DataFrame, title: str, notes: list[str]) -> str:
    def line(cells: list) -> str:
        return "| " + " | ".join(str(c).replace("|", "\\|") for c in cells) + " |"

    rows = [line(list(shown.columns)), line(["---"] * shown.shape[1])]
    rows += [line(list(row)) for row in shown.itertuples(index=False)]
    return "\n".join([f"**{title}**", "", *rows, "", *(f"- {note}" for note in notes), ""])


def table_html(shown: pd.DataFrame) -> str:
    """Return the bare HTML table of a formatted frame; numbers are right-aligned."""
    numeric = [all(_numeric(v) for v in shown[c]) for c in shown.columns]
    head = "".join(f"<th>{html.escape(str(c))}</th>" for c in shown.columns)
    body = []
    for row in shown.itertuples(index=False):
        cells = (
            f'<td class="{"number" if right else "text"}">{html.escape(str(v))}</td>'
            for v, right in zip(row, numeric, strict=True)
        )
        body.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def _numeric(text: str) -> bool:
    return text == "—" or text.replace("±", "").strip()[:1] in set("-0123456789")


def _html(shown: pd.DataFrame, title: str, notes: list[str]) -> str:
    items = "".join(f"<li>{html.escape(note)}</li>" for note in notes)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}'
        f"</title><style>{STYLE}</style></head><body><h3>{html.escape(title)}</h3>"
        f"{table_html(shown)}<ul>{items}</ul></body></html>"
    )


def _latex(shown: pd.DataFrame, title: str, notes: list[str]) -> str:
    def clean(text: object) -> str:
        swaps = {"\\": r"\textbackslash{}", "—": "--", "±": r"$\pm$", "|": r"$|$", "~": r"\~{}"}
        swaps |= {c: f"\\{c}" for c in "&%$#_{}"} | {"^": r"\^{}", "<": "$<$", ">": "$>$"}
        return "".join(swaps.get(c, c) for c in str(text))

    rows = [" & ".join(clean(v) for v in row) + r" \\" for row in shown.itertuples(index=False)]
    head = " & ".join(clean(c) for c in shown.columns) + r" \\"
    return "\n".join(
        [
            r"\begin{table}\centering",
            rf"\caption{{{clean(title)}. {clean(' '.join(notes))}}}",
            rf"\begin{{tabular}}{{{'l' * shown.shape[1]}}}\hline",
            head,
            r"\hline",
            *rows,
            r"\hline\end{tabular}\end{table}",
            "",
        ]
    )


STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;margin:.6rem 0;font-size:14px;display:block;overflow-x:auto}
th,td{padding:.25rem .6rem;border-bottom:1px solid #ddd;text-align:left;vertical-align:top}
th{border-bottom:2px solid #444}td.number{text-align:right;font-variant-numeric:tabular-nums}
ul{font-size:13px;color:#444}img{max-width:100%;height:auto}figure{margin:1rem 0}
figcaption{font-size:13px;color:#444}
"""
