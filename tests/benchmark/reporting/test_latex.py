"""Tables in LaTeX: what LaTeX makes of them, where a Debian TeX is at hand."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from helpers import ROOT
from path_benchmark.reporting import latex
from path_benchmark.reporting.tables import show, write_table

pytestmark = pytest.mark.slow

RESULTS = ROOT / "docs/results"
PACKAGES = ["amssymb", "array", "booktabs", "longtable", "pdflscape"]
DOCUMENT = r"""\documentclass{article}
\usepackage{%s}
\begin{document}
%s
\end{document}
"""


def missing() -> str:
    """Say what of a TeX is not here: Debian's texlive-latex-recommended has all of it."""
    if not shutil.which("pdflatex"):
        return "no pdflatex: apt-get install texlive-latex-recommended"
    found = subprocess.run(
        ["kpsewhich", *(f"{name}.sty" for name in PACKAGES)], capture_output=True, text=True
    )
    absent = len(PACKAGES) - len(found.stdout.split())
    return f"{absent} of the packages {', '.join(PACKAGES)} are not installed" if absent else ""


needs_tex = pytest.mark.skipif(bool(missing()), reason=missing())


def made_up(columns: int, rows: int) -> pd.DataFrame:
    """Return a table with names of every length, numbers of every size and odd characters."""
    rng = np.random.default_rng(0)
    hard = ["a_b & 5 %", "x < y ~ {z} #1 $2 ^ \\", "é — ± | × ≥ ∅ ✓", "a name that is longer " * 3]
    names = [f"{hard[k % 4]} {k}" for k in range(rows)]
    sizes = 10.0 ** rng.integers(-12, 5, columns)
    numbers = rng.standard_normal((rows, columns)) * sizes
    heads = [f"mean CPU s of method {j} at C_0" for j in range(columns)]
    frame = pd.DataFrame(numbers, columns=heads)
    frame.insert(0, "data set", names)
    return frame.assign(holds=True, verdict="not in the paper")


def written(folder: Path, frames: dict[str, pd.DataFrame]) -> str:
    """Write tables and a document that holds them all; return what LaTeX says of it."""
    for name, frame in frames.items():
        notes = ["Means; below 10⁻¹² & beyond 100 %. Data: Two moons (not the paper's)."]
        write_table(frame, show(frame, name, "A table of λ₀".replace("λ", "C"), notes), folder)
    inputs = "\n".join(rf"\input{{{name}}}" for name in frames)
    (folder / "all.tex").write_text(DOCUMENT % (",".join(PACKAGES), inputs), "utf-8")
    for _ in range(2):  # longtable's widths are those of the run before
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    return (folder / "all.log").read_text(errors="replace")


def overflows(log: str) -> list[str]:
    return re.findall(r"Overfull \\hbox[^\n]*", log)


@needs_tex
def test_tables_of_every_shape_compile_without_overflow(tmp_path):
    shapes = [(1, 3), (5, 12), (9, 60), (16, 4), (40, 3)]
    frames = {f"made-up-{c}-{r}": made_up(c, r) for c, r in shapes}
    files = {f"{f.parent.name}-{f.stem}": f for f in sorted(RESULTS.glob("*/*.csv"))}
    assert files
    frames |= {name.replace("_", "-"): pd.read_csv(file) for name, file in files.items()}
    assert overflows(written(tmp_path, frames)) == []


@needs_tex
def test_a_table_that_is_too_wide_would_be_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(latex, "LANDSCAPE", 1e9)
    assert overflows(written(tmp_path, {"wide": made_up(16, 4)}))


def test_wide_tables_lie_on_their_side_and_wider_ones_come_in_parts():
    tables = {c: vars(show(made_up(c, 5), "t", "T")) for c in (1, 5, 40)}
    laid = {c: latex.layout(table) for c, table in tables.items()}
    assert [laid[c]["landscape"] for c in laid] == [False, True, True]
    assert [len(laid[c]["parts"]) for c in laid][:2] == [1, 1]
    parts = laid[40]["parts"]
    assert len(parts) > 2
    heads = [" ".join(c["head"]) for part in parts for c in part["columns"][1:]]
    assert heads == [latex.escaped(name) for name in tables[40]["columns"][1:]]
    names = [[row[0] for row in part["rows"]] for part in parts]
    assert names == [names[0]] * len(parts)


def test_points_of_numbers_stand_in_one_line():
    table = vars(show(pd.DataFrame({"x": ["a", "b"], "n": ["1.5", "-10"]}), "t", "T"))
    (part,) = latex.layout(table)["parts"]
    assert part["rows"] == [("a", "1.5"), ("b", r"$-$10\phantom{.}\phantom{0}")]
    assert [column["place"] for column in part["columns"]] == ["l", "r"]


def test_powers_are_set_as_one():
    assert latex.escaped("4×10⁻¹² s & 5 %") == r"4$\times$10$^{-12}$ s \& 5 \%"
