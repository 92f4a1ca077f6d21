"""docs/results: a page for each paper says what the CSV files behind it say."""

import json
import re
import subprocess
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from helpers import ROOT, made_up
from path_benchmark.papers import get_paper
from path_benchmark.papers.reports import get_outputs
from path_benchmark.reporting import published
from path_benchmark.reporting.overview import headline
from path_benchmark.reporting.pivots import printed
from path_benchmark.reporting.verdicts import GLYPHS, MISSING, NOT_IN_PAPER

INDEX = ROOT / "docs" / "results" / "README.md"
PAGES = sorted({*(ROOT / "docs" / "results").glob("*.md")} - {INDEX})
PAPERS = ("quantile_svm", "weighted_svm", "robust_svm", "distributionally_robust", "survey")


def disagreements(page):
    """List the CSV files of a page whose pivot it doesn't hold."""
    text, folder = page.read_text("utf-8"), get_outputs(page.stem).folder
    return [
        file.name
        for file in sorted(page.with_suffix("").glob("*.csv"))
        if "\n".join(published.pivot(pd.read_csv(file), printed(folder))) not in text
    ]


def test_every_paper_has_its_page():
    assert {page.stem for page in PAGES} == set(PAPERS)


@pytest.mark.slow
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
    for section in re.split(r"^## ", text, flags=re.MULTILINE):
        nothing = "/ — ⬜ ∅" in section and not re.search(r"\* / [^—]", section)
        if "[CSV](" in section and not nothing:
            assert re.search(r"^Suite `(paper|quick)`\. .*\b\d+ splits?\..* \[CSV\]", section, re.M)


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git checkout")
def test_git_keeps_all_that_the_pages_consist_of():
    listing = ["git", "ls-files", "--others", "--exclude-standard", "docs/results"]
    left_out = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True)
    assert left_out.stdout.splitlines() == []


def test_the_readmes_block_is_of_these_pages():
    text = (ROOT / "README.md").read_text("utf-8")
    block = text[text.index(published.BEGIN) : text.index(published.END)]
    for page in PAGES:
        head = re.search(r"(\d+) of (\d+) paths certified", page.read_text("utf-8"))
        for text, folder in ((block, "docs/results/"), (INDEX.read_text("utf-8"), "")):
            (row,) = re.findall(rf"- \[[^]]+\]\({folder}{page.name}\): .*", text)
            assert row.endswith(f"{head[1]} of {head[2]} paths certified exact.")


def written(study, folder, left=()):
    """Write a study as a finished run writes it, without its figures."""
    outputs = get_outputs(study.paper)
    figures = outputs.tables_file.figures
    outputs.__dict__["tables_file"] = outputs.tables_file.model_copy(
        update={"figures": (), "explorers": ()}
    )
    try:
        outputs.write(study, folder / study.paper, left)
    finally:
        del outputs.__dict__["tables_file"]
    assert outputs.tables_file.figures == figures
    return folder


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    """A made-up suite of one paper, written as a finished run writes it."""
    study = made_up.study_of(made_up.robust_svm())
    return written(study, tmp_path_factory.mktemp("made_up") / "quick")


@pytest.mark.slow
def test_pages_are_written_from_a_finished_suite(suite, tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text("Before.\n\nAfter.\n")
    for _ in range(2):  # a second run replaces the first one's block
        published.main([str(suite), str(tmp_path / "results"), "--readme", str(readme)])
    page = tmp_path / "results" / "robust_svm.md"
    text = page.read_text("utf-8")
    assert disagreements(page) == []
    assert "| BreastCancerDiagnostic | *569* / 569 🟩 ✓ | *30* / 30 🟩 ✓ |" in text
    assert "*0.042 ± 0.017* / 0.080 ± 0.014 🟥 ✗" in text
    differs = text[text.index("## What differs") : text.index("Data: ")]
    told = "- Table 4, BreastCancerDiagnostic: OP-theta *0.042* / 0.080, "
    assert differs.index("Unexplained:") < differs.index(told)
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
    assert "OP-s is constant between jumps (rbf kernel)" in differs
    assert readme.read_text().startswith("Before.\n\nAfter.\n")
    assert readme.read_text().count(published.BEGIN) == 1
    content = json.loads((suite / "robust_svm" / "outputs.json").read_text())
    assert all(claim["evidence"].replace("|", "\\|") in text for claim in content["claims"])


@pytest.mark.slow
def test_what_the_preferred_suite_lacks_is_shown_from_the_next(tmp_path):
    made = made_up.study_of(made_up.robust_svm())
    timed = made.results["experiment"] == "cost"
    errors = replace(made, results=made.results[~timed])
    halved = made.results["value"] * np.where(made.results["metric"] == "test_error", 0.5, 1.0)
    quick = replace(made, results=made.results.assign(value=halved), suite="quick")
    left = ["cost: wdbc (0 of 2 cells)"]
    folders = [written(errors, tmp_path / "so_far", left), written(quick, tmp_path / "quick")]
    content = published.read(folders)["robust_svm"]
    tables = {table["name"]: table for table in content["tables"]}
    assert tables["table_4_errors"]["suite"] == "paper"
    assert tables["table_cost"]["suite"] == "quick"
    names = list(tables)
    assert names.index("table_1_data") < names.index("table_4_errors") < names.index("table_cost")
    by_suite = {}
    for claim in content["claims"]:
        by_suite.setdefault(claim["suite"], {}).setdefault(claim["claim"], set()).add(
            claim["verdict"]
        )
    assert any("a whole outlier path costs" in claim for claim in by_suite["quick"])
    again = set(by_suite["paper"]) & set(by_suite["quick"])
    assert all(not by_suite["paper"][c] & by_suite["quick"][c] for c in again)
    one = published.read(folders[1:])["robust_svm"]["certificates"]
    assert content["certificates"] == {d: [2 * k for k in counts] for d, counts in one.items()}
    published.main([*map(str, folders), str(tmp_path / "out")])
    page = tmp_path / "out" / "robust_svm.md"
    assert disagreements(page) == []
    text = page.read_text("utf-8")
    assert "*0.042 ± 0.017* / 0.080 ± 0.014 🟥 ✗" in text  # the preferred suite's number
    table = text[text.index("## Test 0-1 error, RBF kernel") :]
    assert "Suite `paper`." in table[: table.index("[CSV]")]
    assert "2 to 6 splits." in table[: table.index("[CSV]")]
    assert text[text.index("## Not finished") :].splitlines()[2] == f"- {left[0]}"
    for name in ("`paper`, what is finished of it", "`quick`, finished"):
        assert f"Suite {name}" in text


def test_a_claim_that_another_suite_decides_otherwise_is_not_hidden():
    def part(suite, *verdicts):
        claims = [{"claim": f"c{k}", "source": "paper", "verdict": v} for k, v in verdicts]
        return {"suite": suite, "claims": claims}

    one = part("paper", (0, "supported"), (1, "supported"), (2, "inconclusive"))
    other = part("quick", (0, "not supported"), (1, "supported"), (2, "not tested here"))
    other["claims"] += part("quick", (3, "not tested here"))["claims"]
    found = [(c["claim"], c["suite"], c["verdict"]) for c in published._claims([one, other])]
    assert found == [
        ("c0", "paper", "supported"),
        ("c0", "quick", "not supported"),
        ("c1", "paper", "supported"),
        ("c2", "paper", "inconclusive"),
        ("c3", "quick", "not tested here"),
    ]


@pytest.mark.slow
def test_what_explains_a_difference_stands_above_it(suite):
    content = published.read([suite])["robust_svm"]
    wide = {"tables": ["table_4_errors"], "datasets": ["BreastCancerDiagnostic"]}
    own = {"quantities": "^CCCP-s", "text": "it is so.", "cause": True}
    content["explained"] = [wide | own | {"cause": False}]
    assert "Unexplained, but: it is so" in published._differing(content)
    content["explained"] = [wide | own]
    found = published._differing(content)
    sentences = "Sentences of the paper that are not supported"
    assert list(found) == ["Unexplained", "Explained: it is so", sentences]
    explained = [why for why, lines in found.items() for line in lines if "CCCP-s *" in line]
    assert set(explained) == {"Explained: it is so"}
    unexplained = [why for why, lines in found.items() for line in lines if "OP-theta *" in line]
    assert set(unexplained) == {"Unexplained"}


@pytest.mark.parametrize("name", PAPERS)
def test_explanations_are_of_tables_and_data_that_there_are(name):
    outputs, config = get_outputs(name), made_up.repository_config()
    paper = get_paper(name)
    file = paper.file(config)
    titles = {paper.data(file, d).title for d in file.datasets}
    titles |= {d.replace("_", " ").capitalize() for d in file.datasets}
    for own in outputs.tables_file.explained:
        assert set(own.tables) <= {table.name for table in outputs.tables_file.tables}
        assert set(own.datasets) <= titles


def test_the_readmes_block_says_what_became_of_each_table(suite, tmp_path):
    block = published.write([suite], tmp_path / "results")
    content = published.read([suite])["robust_svm"]
    (row,) = [
        line for line in block.splitlines() if line.startswith("- [Robust SVM](docs/results/")
    ]
    cells = headline(content)["cells"]
    told = re.search(r"of (\d+) published numbers (\d+) agree, (\d+) differ, (\d+) can", row)
    assert [int(n) for n in told.groups()] == [
        sum(cells.values()),
        *(cells[k] for k in ("agrees", "differs", "inconclusive")),
    ]
    text = (tmp_path / "results" / "README.md").read_text("utf-8")
    assert row.replace("docs/results/", "") in text
    counted = [int(n) for n in re.findall(r"[✓✗?–] (\d+)", text)]
    assert sum(counted) == sum(cells.values()) > 0  # each number in one table
    assert "- Table 1: 🟩 ✓ 2" in text


def test_a_number_that_the_paper_has_not_stands_alone():
    row = {"data set": "A", "quantity": "error", "paper": float("nan"), "ours": 0.25}
    frame = pd.DataFrame([row | {"verdict": NOT_IN_PAPER}])
    assert published.pivot(frame)[-1] == "| A | 0.25 |"
    frame = pd.DataFrame([row | {"paper": 0.5, "ours": float("nan"), "verdict": MISSING}])
    assert published.pivot(frame)[-1] == "| A | *0.5* / — ⬜ ∅ |"


def test_the_papers_digits_are_those_that_it_prints(tmp_path):
    folder = tmp_path / "published"
    folder.mkdir()
    (folder / "a.csv").write_text("dataset,n,error,std\nA,768,0.050,11.104\nB,8,0.0561,4.6\n")
    found = printed(tmp_path)
    assert found == {
        "768.0": "768", "8.0": "8", "0.05": "0.050", "0.0561": "0.0561",
        "11.104": "11.104", "4.6": "4.6",
    }  # fmt: skip
    row = {"data set": "A", "quantity": "error", "paper": 0.05, "ours": 0.04216}
    row |= {"paper's std": 4.6, "our std": 0.0123, "verdict": NOT_IN_PAPER}
    shown = published.pivot(pd.DataFrame([row]), found)[-1]
    assert shown.startswith("| A | *0.050 ± 4.6* / 0.0422 ± 0.012 ")
    (folder / "b.csv").write_text("dataset,error\nA,0.05\n")
    assert printed(tmp_path)["0.05"] == "0.05"  # in one place without the last digit
    robust = printed(get_outputs("robust_svm").folder)
    assert robust["0.05"] == "0.050"
    assert robust["0.337"] == "0.337"


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


def test_tables_and_figures_follow_each_other_as_in_the_paper():
    tables = [
        {"name": "table_1", "heading": "Table 1: data"},
        {"name": "table_3", "heading": "Figure 3: times"},
        {"name": "table_more", "heading": "More"},
        {"name": "table_tried", "heading": "Table 1, tried otherwise", "evidence": True},
    ]
    figures = [
        {"name": "figure_2_a", "heading": "A line (as in the paper's Figure 2, on other data)"},
        {"name": "figure_2_b", "heading": "The same, spread out"},
        {"name": "figure_3_c", "heading": "Figure 3: times"},
        {"name": "figure_9_d", "heading": "None of the paper's"},
        {"name": "figure_e", "heading": "No number"},
    ]
    order = ["Figure 2", "Figure 1", "Table 1", "Figure 3"]
    found = published.sections(order, tables, figures)
    names = [[t["name"] for t in (*one["tables"], *one["figures"])] for one in found]
    assert [one["title"] for one in found] == [
        "As in Figure 2, on other data",
        "Table 1: data",
        "Figure 3: times",
        "",
    ]
    assert names[:3] == [["figure_2_a", "figure_2_b"], ["table_1"], ["table_3", "figure_3_c"]]
    assert names[3] == ["table_more", "table_tried", "figure_9_d", "figure_e"]
    assert published.sections([], tables, figures) == [
        {"title": "", "tables": tables, "figures": figures}
    ]


@pytest.mark.parametrize("name", PAPERS)
def test_the_order_of_a_paper_names_every_table_and_figure_of_it(name):
    file = get_outputs(name).tables_file
    tables = [table for table in file.tables if not table.evidence]
    headings = [made.heading for made in (*tables, *file.figures)]
    named = {item[0] for text in headings if (item := published.ITEM.match(text))}
    assert len(set(file.order)) == len(file.order)
    assert set(file.order) == named


def test_the_legend_explains_each_sign_once():
    signs = [part.partition(" ")[0] + part.split(" ")[1] for part in published.legend().split("; ")]
    assert len(signs) == len(set(signs)) == len(set(GLYPHS.values()))
    meanings = [text for part in published.legend().split("; ") for text in part[4:].split(", ")]
    assert sorted(meanings) == sorted(GLYPHS)
    assert published.legend().startswith("🟩 ✓ agrees, supported; 🟥 ✗ differs, not supported; ")
