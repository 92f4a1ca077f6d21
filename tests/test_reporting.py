"""Verdicts, tables in four formats, figures, the page, and checks that must be able to fail."""

import base64
import io
import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread

from solution_paths.benchmarking.common import read_results
from solution_paths.papers.quantile_svm import experiments as experiment
from solution_paths.papers.quantile_svm import outputs
from solution_paths.reporting import check, figures, page, tables
from test_experiments import shared_suite, small_config

# ---------------------------------------------------------------- verdicts


def test_two_means_agree_within_two_standard_errors_of_the_difference():
    inside = {"paper_std": 1.0, "ours_std": 1.0, "paper_n": 10, "ours_n": 10}
    error = np.sqrt(0.2)
    assert tables.verdict_mean(5.0, 5.0 + 1.99 * error, **inside) == "agrees"
    assert tables.verdict_mean(5.0, 5.0 + 2.01 * error, **inside) == "differs"


def test_a_published_number_without_spread_is_one_more_draw():
    assert tables.verdict_mean(100.0, 110.0, ours_std=5.0, ours_n=10) == "agrees"
    assert tables.verdict_mean(100.0, 112.0, ours_std=5.0, ours_n=10) == "differs"
    assert tables.verdict_mean(100.0, 104.0) == "agrees"
    assert tables.verdict_mean(100.0, 106.0) == "differs"


def test_ratios_agree_within_a_factor_of_two_and_else_say_how_far_off():
    assert tables.verdict_ratio(10.0, 19.0) == "agrees"
    assert tables.verdict_ratio(10.0, 1.0) == "10 times lower"
    assert tables.verdict_ratio(1.0, 30.0) == "30 times higher"


@pytest.mark.parametrize(
    "verdict", [tables.verdict_mean, tables.verdict_ratio, tables.verdict_exact]
)
def test_what_is_absent_is_named(verdict):
    assert verdict(np.nan, 1.0) == "not in the paper"
    assert verdict(1.0, np.nan) == "missing"
    assert verdict(None, None) == "missing"


def test_exact_numbers_agree_up_to_half_a_printed_digit():
    assert tables.verdict_exact(13.4, 13.42, 0.05) == "agrees"
    assert tables.verdict_exact(13.4, 12.4, 0.05) == "differs"


def test_seconds_have_no_difference():
    rows = [{"paper": 1.0, "ours": 2.0, "verdict": tables.NOT_COMPARED}]
    assert np.isnan(tables.comparison(rows)["difference"][0])


# ---------------------------------------------------------------- tables


def test_a_table_is_written_in_four_formats(tmp_path):
    frame = pd.DataFrame({"a|b": ["x<y & 5 %"], "value": [1 / 3], "n": [7.0], "none": [np.nan]})
    tables.write_table(frame, tmp_path, "one", "A title", ["A note_1"])
    assert {p.name for p in tmp_path.iterdir()} == {"one.csv", "one.md", "one.html", "one.tex"}
    assert pd.read_csv(tmp_path / "one.csv")["value"][0] == 1 / 3
    markdown = (tmp_path / "one.md").read_text("utf-8")
    assert "| a\\|b | value | n | none |" in markdown
    assert "| 0.3333 | 7 | — |" in markdown
    assert "- A note_1" in markdown
    page_text = (tmp_path / "one.html").read_text("utf-8")
    assert "x&lt;y &amp; 5 %" in page_text
    assert '<td class="number">0.3333</td>' in page_text
    latex = (tmp_path / "one.tex").read_text("utf-8")
    assert r"x$<$y \& 5 \%" in latex
    assert r"A note\_1" in latex


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    folder, results = shared_suite(tmp_path_factory)
    experiment.tables(results, None, folder / "quantile_svm/tables")
    experiment.figures(results, folder / "quantile_svm/figures")
    experiment.claims(results).to_csv(folder / "quantile_svm/claims.csv", index=False)
    return folder, results


def table(folder, name):
    return pd.read_csv(folder / f"quantile_svm/tables/{name}.csv")


def test_every_table_is_there_and_ends_with_the_verdict(suite):
    folder, _ = suite
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
        ours["DPF (our path), s"] / ours["LIBLINEAR, s"]
    )


def test_a_data_set_of_the_paper_that_was_not_run_has_its_row(suite, tmp_path):
    _, results = suite
    renamed = results.assign(dataset=results["dataset"].replace("two_moons", "diabetes"))
    outputs.tables(renamed, None, tmp_path)
    rows = pd.read_csv(tmp_path / "table_2_times.csv")
    missing = rows[(rows["data set"] == "Splice") & (rows["quantity"] == "kinks")].iloc[0]
    assert missing["verdict"] == "missing"
    assert missing["paper"] == 22611
    spam = rows[(rows["data set"] == "Spam") & rows["quantity"].str.startswith("LIBLINEAR")]
    assert spam["paper"].iloc[0] == 0.467


def test_kinks_of_a_path_without_certificate_get_no_verdict(suite, tmp_path):
    _, results = suite
    outputs.tables(spoiled(results, "certificate", value=0.0, dataset="two_moons"), None, tmp_path)
    rows = pd.read_csv(tmp_path / "table_2_times.csv")
    kinks = rows[rows["quantity"].str.startswith("kinks")]
    assert (kinks["verdict"] == "path not certified").all()


def test_failures_are_named_below_the_table(suite, tmp_path):
    _, results = suite
    failed = results.iloc[:1].assign(
        experiment="timing", status="failed", message="RuntimeError: it broke", value=np.nan
    )
    outputs.tables(pd.concat([results, failed]), None, tmp_path)
    assert "it broke" in (tmp_path / "table_2_times.md").read_text("utf-8")
    assert "it broke" not in (tmp_path / "table_lam.md").read_text("utf-8")


# ---------------------------------------------------------------- figures and page


def test_figures_are_pictures_and_the_same_each_time(suite, tmp_path):
    folder, results = suite
    names = {p.stem for p in (folder / "quantile_svm/figures").iterdir()}
    assert names == set(outputs.CAPTIONS)
    experiment.figures(results, tmp_path)
    for name in names:
        first = (folder / f"quantile_svm/figures/{name}.png").read_bytes()
        assert first == (tmp_path / f"{name}.png").read_bytes()
        picture = imread(io.BytesIO(first))
        assert picture.shape[1] >= 500
        edge = np.concatenate([picture[0], picture[-1], picture[:, 0], picture[:, -1]])
        assert (edge[:, :3] == 1.0).all(), f"{name} touches its edge: something is clipped"
        assert (tmp_path / f"{name}.pdf").read_bytes()[:4] == b"%PDF"


def test_the_style_leaves_matplotlib_as_it_was():
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    with figures.style():
        figures.new_figure(2)
    assert dict(mpl.rcParams) == before


def test_the_page_holds_everything_and_needs_nothing_else(suite):
    folder, _ = suite
    settings = {"quantile_svm": small_config()["quantile_svm"]}
    absent = page.write_page(folder / "report.html", "tiny", settings, ["gisette"])
    text = (folder / "report.html").read_text("utf-8")
    assert absent == ["gisette"]
    assert "gisette" in text
    assert text.count("data:image/png;base64,") == 5
    picture = re.search(r"data:image/png;base64,([^\"]+)", text).group(1)
    assert base64.b64decode(picture)[:4] == b"\x89PNG"
    assert not re.search(r"(src|href)=\"(?!data:)", text)
    for words in ("Table 1", "Assumptions", "Claims", "n log n", "Machines", "certificate holds"):
        assert words in text


# ---------------------------------------------------------------- checks


def test_the_check_accepts_the_real_results(suite, capsys):
    folder, results = suite
    assert check.check(results) == []
    assert check.main([str(folder)]) == 0
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
    _, results = suite
    sentences = check.check(spoiled(results, metric, **columns))
    assert any(words in sentence for sentence in sentences)


def test_the_check_sees_a_rate_that_goes_the_wrong_way(suite):
    _, results = suite
    turned = results.copy()
    rows = turned["metric"] == "step_tpr"
    turned.loc[rows, "value"] = 1.0 - turned.loc[rows, "value"]
    assert any("should move with tau" in sentence for sentence in check.check(turned))


def test_the_check_sees_a_bad_recovery_and_missing_certificates(suite):
    _, results = suite
    bad = results.copy()
    bad.loc[bad["method"] == "recover", "gap"] = 1e-3
    assert any("recovered" in sentence for sentence in check.check(bad))
    assert any("No path" in s for s in check.check(results[results["metric"] != "certificate"]))
    assert check.check(results[:0]) == ["The results table is empty: run the suite first."]


def test_the_exit_status_tells(suite, tmp_path, capsys):
    _, results = suite
    assert check.main([str(tmp_path)]) == 1
    (tmp_path / "quantile_svm").mkdir()
    bad = spoiled(results, "certificate", gap=1.0).drop(columns="hyper")
    bad.to_parquet(tmp_path / "quantile_svm/results.parquet")
    assert len(read_results(tmp_path / "quantile_svm/results.parquet")) == len(results)
    assert check.main([str(tmp_path)]) == 1
    assert "certificate fails" in capsys.readouterr().err
