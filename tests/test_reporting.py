"""Verdicts, tables in four formats, figures, the page, and checks that must be able to fail."""

import base64
import io
import json
import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread

from solution_paths.benchmarking.rows import read_results
from solution_paths.papers import assertions
from solution_paths.papers.quantile_svm import outputs
from solution_paths.reporting import figures, page, tables, verdicts
from solution_paths.reporting.check import check as check_results
from solution_paths.reporting.outputs import Outputs
from test_quantile_svm_paper import shared_suite, study_of

# ---------------------------------------------------------------- verdicts


def test_two_means_agree_within_two_standard_errors_of_the_difference():
    inside = {"paper_std": 1.0, "ours_std": 1.0, "paper_n": 10, "ours_n": 10}
    error = np.sqrt(0.2)
    assert verdicts.on_mean(5.0, 5.0 + 1.99 * error, **inside) == "agrees"
    assert verdicts.on_mean(5.0, 5.0 + 2.01 * error, **inside) == "differs"


def test_a_published_number_without_spread_is_one_more_draw():
    assert verdicts.on_mean(100.0, 110.0, ours_std=5.0, ours_n=10) == "agrees"
    assert verdicts.on_mean(100.0, 112.0, ours_std=5.0, ours_n=10) == "differs"
    assert verdicts.on_mean(100.0, 104.0) == "agrees"
    assert verdicts.on_mean(100.0, 106.0) == "differs"


def test_ratios_agree_within_a_factor_of_two_and_else_say_how_far_off():
    assert verdicts.on_ratio(10.0, 19.0) == "agrees"
    assert verdicts.on_ratio(10.0, 1.0) == "differs: 10 times lower"
    assert verdicts.on_ratio(1.0, 30.0) == "differs: 30 times higher"


@pytest.mark.parametrize("verdict", [verdicts.on_mean, verdicts.on_ratio, verdicts.on_count])
def test_what_is_absent_is_named(verdict):
    assert verdict(np.nan, 1.0) == "not in the paper"
    assert verdict(1.0, np.nan) == "missing"
    assert verdict(None, None) == "missing"


def test_exact_numbers_agree_up_to_half_a_printed_digit():
    assert verdicts.on_count(13.4, 13.42, 0.05) == "agrees"
    assert verdicts.on_count(13.4, 12.4, 0.05) == "differs"


def test_seconds_have_no_difference():
    rows = [{"paper": 1.0, "ours": 2.0, "verdict": verdicts.NOT_COMPARED}]
    assert np.isnan(tables.comparison(rows)["difference"][0])


@pytest.mark.parametrize(
    ("holds", "options", "verdict"),
    [
        (True, {}, "supported"),
        (False, {}, "not supported"),
        (None, {}, "inconclusive"),
        (True, {"runs": 2}, "inconclusive"),
        (False, {"runs": 2}, "inconclusive"),
        (False, {"runs": 3}, "not supported"),
        (True, {"tested": False}, "not tested here"),
        (False, {"tested": False, "runs": 9}, "not tested here"),
    ],
)
def test_a_sentence_has_one_of_four_verdicts(holds, options, verdict):
    assert verdicts.on_sentence(holds, **options) == verdict
    assert verdict in verdicts.RULES


# ---------------------------------------------------------------- tables


def test_a_table_is_written_in_four_formats(tmp_path):
    frame = pd.DataFrame({"a|b": ["x<y & 5 %"], "value": [1 / 3], "n": [7.0], "none": [np.nan]})
    shown = tables.show(frame, "one", "A title", ["A note_1"])
    tables.write_table(frame, shown, tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == {"one.csv", "one.md", "one.html", "one.tex"}
    assert pd.read_csv(tmp_path / "one.csv")["value"][0] == 1 / 3
    markdown = (tmp_path / "one.md").read_text("utf-8")
    assert "| a\\|b | value | n | none |" in markdown
    assert "x&lt;y &amp; 5 %" in markdown
    assert "| 0.333 | 7 | — |" in markdown
    assert r"- A note\_1" in markdown
    page_text = (tmp_path / "one.html").read_text("utf-8")
    assert "x&lt;y &amp; 5 %" in page_text
    assert re.search(
        r'<td data-label="value" class="n" data-raw="0.3333[^>]*>0.333</td>', page_text
    )
    assert '<th scope="col" class="n">value</th>' in page_text
    assert "<caption>A title</caption>" in page_text
    latex = (tmp_path / "one.tex").read_text("utf-8")
    assert r"x$<$y \& 5 \%" in latex
    assert r"A note\_1" in latex


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    folder, study = shared_suite(tmp_path_factory)
    outputs.OUTPUTS.write(study, folder / "quantile_svm")
    return folder, study


def spoiled_study(suite, results=None, curves=None):
    """Return the suite's study with other results or curves."""
    folder, study = suite
    results = study.results if results is None else results
    return study_of(results, folder / "quantile_svm", study.curves if curves is None else curves)


def table(folder, name):
    return pd.read_csv(folder / f"quantile_svm/tables/{name}.csv")


def test_every_table_is_there_and_ends_with_the_verdict(suite):
    folder = suite[0]
    for name in ("table_1_data", "table_2_times", "table_lam"):
        assert list(table(folder, name).columns)[-1] == "verdict"
    assert (table(folder, "table_1_data")["verdict"] == "not in the paper").all()
    assert table(folder, "table_certificates")["holds"].all()
    assert len(table(folder, "table_scaling")) == 2
    assert {"Path", "Platt", "Isotonic"} == set(table(folder, "table_probability")["method"])


def test_ratios_of_table_2_are_ratios_of_its_seconds(suite):
    folder, _ = suite
    ours = table(folder, "table_2_times").set_index("quantity")["ours"]
    assert ours["DPF (our path) / LIBLINEAR"] == pytest.approx(
        ours["DPF (our path), CPU s"] / ours["LIBLINEAR, CPU s"]
    )


def test_a_data_set_of_the_paper_that_was_not_run_has_its_row(suite):
    results = suite[1].results
    renamed = results.assign(dataset=results["dataset"].replace("two_moons", "diabetes"))
    rows = outputs.table_2(spoiled_study(suite, renamed))
    missing = rows[(rows["data set"] == "Splice") & (rows["quantity"] == "kinks")].iloc[0]
    assert missing["verdict"] == "missing"
    assert missing["paper"] == 22611
    spam = rows[(rows["data set"] == "Spam") & rows["quantity"].str.startswith("LIBLINEAR")]
    assert spam["paper"].iloc[0] == 0.467


def test_kinks_of_a_path_without_certificate_get_no_verdict(suite):
    bad = spoiled(suite[1].results, "certificate", value=0.0, dataset="two_moons")
    rows = outputs.table_2(spoiled_study(suite, bad))
    kinks = rows[rows["quantity"] == "kinks"]
    assert (kinks["verdict"] == "differs: path not certified").all()
    assert {verdicts.kind(v) for v in kinks["verdict"]} == {"differs"}


def test_failures_are_named_below_the_table(suite, tmp_path):
    results = suite[1].results
    failed = results.iloc[:1].assign(
        experiment="timing", status="failed", message="RuntimeError: it broke", value=np.nan
    )
    outputs.OUTPUTS.write(spoiled_study(suite, pd.concat([results, failed])), tmp_path)
    assert "it broke" in (tmp_path / "tables/table_2_times.md").read_text("utf-8")
    assert "it broke" not in (tmp_path / "tables/table_lam.md").read_text("utf-8")


def test_certificates_show_the_gap_and_its_rounding(suite):
    shown = table(suite[0], "table_certificates")
    assert {"gap", "rounding of the gap", "KKT violation"} <= set(shown)
    assert (shown["rounding of the gap"] > 0).all()
    assert (shown["rounding of the gap"] < 1e-9).all()
    assert shown["holds"].all()


def test_a_paper_without_outputs_gets_tables_of_all_metrics_and_certificates(suite, tmp_path):
    Outputs().write(suite[1], tmp_path)
    names = {path.stem for path in (tmp_path / "tables").glob("*.csv")}
    assert names == {"table_metrics", "table_certificates"}
    metrics = pd.read_csv(tmp_path / "tables" / "table_metrics.csv")
    kinks = metrics[(metrics["metric"] == "kinks") & (metrics["experiment"] == "kinks")]
    assert kinks["values"].tolist() == [4]


# ---------------------------------------------------------------- figures and page


def test_figures_are_pictures_and_the_same_each_time(suite, tmp_path):
    folder, study = suite
    names = {p.stem for p in (folder / "quantile_svm/figures").iterdir()}
    assert names == {made.name for made in outputs.OUTPUTS.figures}
    outputs.OUTPUTS.write(study, tmp_path)
    for name in names:
        first = (folder / f"quantile_svm/figures/{name}.png").read_bytes()
        assert first == (tmp_path / f"figures/{name}.png").read_bytes()
        picture = imread(io.BytesIO(first))
        assert picture.shape[1] >= 500
        edge = np.concatenate([picture[0], picture[-1], picture[:, 0], picture[:, -1]])
        assert (edge[:, :3] == 1.0).all(), f"{name} touches its edge: something is clipped"
        assert (tmp_path / f"figures/{name}.pdf").read_bytes()[:4] == b"%PDF"


def test_the_style_leaves_matplotlib_as_it_was():
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    with figures.style():
        figures.new_figure(2)
    assert dict(mpl.rcParams) == before


def test_the_page_holds_everything_and_needs_nothing_else(suite):
    folder = suite[0]
    page.write_page(folder / "report.html", "Small & quick.", ["quantile_svm"], ["gisette"])
    text = (folder / "report.html").read_text("utf-8")
    assert "gisette" in text
    assert "Small &amp; quick." in text
    assert text.count("data:image/png;base64,") == 5
    picture = re.search(r"data:image/png;base64,([^\"]+)", text).group(1)
    assert base64.b64decode(picture)[:4] == b"\x89PNG"
    assert not re.search(r"(src|href)=\"(?!data:)", text)
    for words in ("Table 1", "Assumptions", "Claims", "n log n", "Machines", "certificate holds"):
        assert words in text
    for verdict in verdicts.RULES:
        assert f"<b>{verdict}</b>" in text


def test_the_page_prints_the_settings_that_were_used(suite):
    content = json.loads((suite[0] / "quantile_svm" / "outputs.json").read_text())
    said = {tuple(row[:2]): row[2] for row in content["settings"]["rows"]}
    assert said["probability", "bins"] == "5"
    assert said["timing", "repeats"] == "2"
    assert said["path", "data sets"] == "Breast cancer, Two moons"
    assert "scaling = symmetric" in said["Breast cancer", "data set"]


def test_captions_and_tables_name_their_data(suite):
    content = json.loads((suite[0] / "quantile_svm" / "outputs.json").read_text())
    captions = {figure["name"]: figure["caption"] for figure in content["figures"]}
    assert "Data: Breast cancer, Two moons." in captions["figure_2_rates"]
    assert "Data: Quantile toy." in captions["figure_1_boundary"]
    notes = {made["name"]: made["notes"] for made in content["tables"]}
    assert "Data: Breast cancer, Two moons." in notes["table_1_data"]


# ---------------------------------------------------------------- checks


def complaints(study):
    """Return everything that is wrong with a study of the quantile SVM."""
    own = [text for made in outputs.OUTPUTS.checks for text in made(study.results, study.curves)]
    return check_results(study.results) + own


def test_the_check_accepts_the_real_results(suite, capsys):
    folder, study = suite
    assert complaints(study) == []
    assert assertions.main([str(folder)]) == 0
    assert "0 complaints" in capsys.readouterr().out


def spoiled(results, metric, **columns):
    """Spoil the last row of a metric among the whole paths'."""
    results = results.copy()
    rows = (results["metric"] == metric) & (results["experiment"] == "path")
    row = results.index[rows][-1]
    for column, value in columns.items():
        results.loc[row, column] = value
    return results


@pytest.mark.parametrize(
    ("metric", "columns", "words"),
    [
        ("certificate", {"gap": 1e-8}, "certificate fails"),
        ("certificate", {"kkt": 1e-6}, "certificate fails"),
        ("certificate", {"kkt": np.nan}, "certificate fails"),
        ("certificate", {"value": 0.0}, "certificate fails"),
        ("objective_difference", {"value": 1e-7}, "differs from the oracle"),
        ("objective_difference", {"value": np.nan}, "differs from the oracle"),
        ("kinks", {"value": 0.0}, "no kink"),
        ("kinks", {"value": 1e5}, "n log n"),
        ("step_errors", {"value": 1.0}, "decisions differ"),
        ("kinks", {"status": "failed", "message": "it broke"}, "it broke"),
    ],
)
def test_the_check_sees_what_is_wrong(suite, metric, columns, words):
    sentences = complaints(spoiled_study(suite, spoiled(suite[1].results, metric, **columns)))
    assert any(words in sentence for sentence in sentences)


def test_the_check_sees_a_rate_that_goes_the_wrong_way(suite):
    turned = suite[1].curves.copy()
    rows = turned["curve"] == "tpr"
    turned.loc[rows, "y"] = 1.0 - turned.loc[rows, "y"]
    found = complaints(spoiled_study(suite, curves=turned))
    assert any("should move with tau" in sentence for sentence in found)


def test_the_check_sees_a_bad_recovery_and_missing_certificates(suite):
    results = suite[1].results
    bad = results.copy()
    bad.loc[bad["method"] == "recover", "gap"] = 1e-3
    assert any("recovered" in sentence for sentence in complaints(spoiled_study(suite, bad)))
    without = results[results["metric"] != "certificate"]
    assert any("No path" in sentence for sentence in check_results(without))
    assert check_results(results[:0]) == ["The results table is empty: run the suite first."]


def test_the_exit_status_tells(suite, tmp_path, capsys):
    study = suite[1]
    assert assertions.main([str(tmp_path)]) == 1
    (tmp_path / "quantile_svm").mkdir()
    bad = spoiled(study.results, "certificate", gap=1.0).drop(columns="hyper")
    bad.to_parquet(tmp_path / "quantile_svm/results.parquet")
    lines = study.curves.drop(columns="hyper")
    lines.to_parquet(tmp_path / "quantile_svm/curves.parquet")
    assert len(read_results(tmp_path / "quantile_svm/results.parquet")) == len(study.results)
    assert assertions.main([str(tmp_path)]) == 1
    assert "certificate fails" in capsys.readouterr().err
