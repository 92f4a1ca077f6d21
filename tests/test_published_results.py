"""docs/results: a page for each paper says what the CSV files behind it say."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

import made_up
from path_benchmark.papers.reports import get_outputs
from path_benchmark.reporting import published
from path_benchmark.reporting.overview import headline
from path_benchmark.reporting.verdicts import GLYPHS, MISSING, NOT_IN_PAPER

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs" / "results").glob("*.md"))
PAPERS = ("quantile_svm", "weighted_svm", "robust_svm", "distributionally_robust", "survey")


def disagreements(page):
    """List the CSV files of a page whose pivot it doesn't hold."""
    text = page.read_text("utf-8")
    return [
        file.name
        for file in sorted(page.with_suffix("").glob("*.csv"))
        if "\n".join(published.pivot(pd.read_csv(file))) not in text
    ]


def test_every_paper_has_its_page():
    assert {page.stem for page in PAGES} == set(PAPERS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_and_csv_files_agree(page):
    assert disagreements(page) == []
    text = page.read_text("utf-8")
    links = re.findall(r"\]\(([^)]+\.(?:csv|png))\)", text)
    assert links
    assert {name for name in links if not (page.parent / name).is_file()} == set()
    there = {f"{page.stem}/{file.name}" for file in page.with_suffix("").iterdir()}
    assert there == set(links)
    for words in ("What differs", "Hardware: ", "Versions: ", ", commit "):
        assert words in text


def test_the_readmes_block_is_of_these_pages():
    text = (ROOT / "README.md").read_text("utf-8")
    block = text[text.index(published.BEGIN) : text.index(published.END)]
    for page in PAGES:
        head = re.search(r"(\d+) of (\d+) paths certified", page.read_text("utf-8"))
        (row,) = re.findall(rf"\| \[[^]]+\]\(docs/results/{page.name}\) .*", block)
        assert row.endswith(f"| {head[1]} of {head[2]} |")


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    """A made-up suite of one paper, written as a finished run writes it."""
    folder = tmp_path_factory.mktemp("made_up") / "quick"
    study = made_up.study_of(made_up.robust_svm())
    figures = get_outputs("robust_svm").tables_file.figures
    outputs = get_outputs("robust_svm")
    outputs.__dict__["tables_file"] = outputs.tables_file.model_copy(
        update={"figures": (), "explorers": ()}
    )
    try:
        outputs.write(study, folder / "robust_svm")
    finally:
        del outputs.__dict__["tables_file"]
    assert outputs.tables_file.figures == figures
    return folder


def test_pages_are_written_from_a_finished_suite(suite, tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text("Before.\n\nAfter.\n")
    for _ in range(2):  # a second run replaces the first one's block
        published.main([str(suite), str(tmp_path / "results"), str(readme)])
    page = tmp_path / "results" / "robust_svm.md"
    text = page.read_text("utf-8")
    assert disagreements(page) == []
    assert "| BreastCancerDiagnostic | *569* / 569 🟩 ✓ | *30* / 30 🟩 ✓ |" in text
    assert "*0.042* / 0.080 🟥 ✗" in text
    differs = text[text.index("## What differs") : text.index("Data: ")]
    assert "BreastCancerDiagnostic, OP-theta: *0.042* / 0.080, differs" in differs
    head = text[: text.index("## What differs")]
    counts = headline(
        {"name": "robust_svm", **json.loads((suite / "robust_svm/outputs.json").read_text())}
    )
    wanted = [("agrees", "supported"), ("differs", "not supported")]
    wanted += [(k, k) for k in ("inconclusive", "not tested here")]
    tables = f"cells of {counts['tables']} tables"
    assert "| " + " | ".join([tables, *(str(counts["cells"][k]) for k, _ in wanted)]) + " |" in head
    sentences = ["claims of the text", *(str(counts["claims"][k]) for _, k in wanted)]
    assert "| " + " | ".join(sentences) + " |" in head
    assert "the objective falls strictly at each jump (rbf kernel)" in differs
    assert readme.read_text().startswith("Before.\n\nAfter.\n")
    assert readme.read_text().count(published.BEGIN) == 1
    content = json.loads((suite / "robust_svm" / "outputs.json").read_text())
    assert all(claim["evidence"].replace("|", "\\|") in text for claim in content["claims"])


def test_a_number_that_the_paper_has_not_stands_alone():
    row = {"data set": "A", "quantity": "error", "paper": float("nan"), "ours": 0.25}
    frame = pd.DataFrame([row | {"verdict": NOT_IN_PAPER}])
    assert published.pivot(frame)[-1] == "| A | 0.25 |"
    frame = pd.DataFrame([row | {"paper": 0.5, "ours": float("nan"), "verdict": MISSING}])
    assert published.pivot(frame)[-1] == "| A | *0.5* / — ⬜ ∅ |"


def test_a_changed_number_is_noticed(suite, tmp_path):
    published.main([str(suite), str(tmp_path)])
    file = tmp_path / "robust_svm" / "table_4_errors.csv"
    frame = pd.read_csv(file)
    frame.loc[2, "ours"] = 0.05
    frame.to_csv(file, index=False)
    assert disagreements(tmp_path / "robust_svm.md") == ["table_4_errors.csv"]


def test_a_suite_that_is_not_finished_ends_in_a_sentence(tmp_path):
    with pytest.raises(SystemExit, match="run the suite first"):
        published.main([str(tmp_path), str(tmp_path / "out")])


def test_every_verdict_has_a_colour_and_a_sign():
    assert {published.sign(kind)[-1] for kind in GLYPHS} <= set(published.COLOURS)
