"""Verdicts, tables in four formats, figures, the page, and checks that must be able to fail."""

import base64
import io
import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread
from scipy import optimize, stats

from helpers.quantile_suite import shared_suite, study_of
from path_benchmark.papers import assertions
from path_benchmark.papers.quantile_svm import outputs
from path_benchmark.papers.quantile_svm.data import prepare
from path_benchmark.reporting import (
    claims,
    explorer,
    figures,
    formats,
    overview,
    page,
    statistics,
    surface,
    tables,
    verdicts,
)
from path_benchmark.reporting import outputs as outputs_module
from path_benchmark.reporting.check import check as check_results
from path_benchmark.reporting.outputs import Outputs
from path_benchmark.reporting.study import hyper
from path_benchmark.runs.rows import read_results
from solution_paths import quantile_svm_path

# ---------------------------------------------------------------- verdicts


def welchs_half(s1, n1, s2, n2):
    """Return half of Welch's interval, found as the difference that its test just rejects."""
    own = {"mean2": 0.0, "std2": s2, "nobs2": n2, "equal_var": False}
    return optimize.brentq(
        lambda d: stats.ttest_ind_from_stats(d, s1, n1, **own).pvalue - 0.05, 1e-9, 1e3
    )


def test_two_means_agree_where_welchs_interval_lies_within_the_margin():
    spread = {"paper_std": 0.1, "ours_std": 0.3, "paper_n": 10, "ours_n": 6}
    half = welchs_half(0.3, 6, 0.1, 10)  # of a margin of 20 %, 1
    for apart, verdict in ((0.99 - half, "agrees"), (1.01 - half, "differs"), (0.0, "agrees")):
        assert verdicts.on_mean(5.0, 5.0 + apart, **spread) == verdict
        assert verdicts.on_mean(5.0, 5.0 - apart, **spread) == verdict


def test_an_interval_that_is_wider_than_the_margin_and_holds_zero_tells_nothing():
    spread = {"paper_std": 1.0, "ours_std": 3.0, "paper_n": 10, "ours_n": 6}
    half = welchs_half(3.0, 6, 1.0, 10)
    for share, verdict in ((0.0, "can't tell"), (0.99, "can't tell"), (1.01, "differs")):
        found = verdicts.on_mean(5.0, 5.0 + share * half, **spread)
        assert verdicts.kind(found) == verdict
    said = verdicts.on_mean(5.0, 5.0, **spread)
    assert said == f"can't tell: known to ± {half / 5.0:.0%}, the margin is 20%"


def test_the_margin_of_an_auc_is_that_of_what_it_lacks():
    spread = {"paper_std": 0.5, "ours_std": 0.5, "paper_n": 10, "ours_n": 10}
    assert verdicts.on_mean(90.0, 91.0, of=10.0, **spread) == "agrees"
    assert verdicts.on_mean(90.0, 93.0, of=10.0, **spread) == "differs"
    assert verdicts.on_mean(90.0, 93.0, **spread) == "agrees"


def test_means_that_are_shifted_together_do_not_agree():
    def frame(lower):
        rows = [
            {"data set": f"d{k}", "quantity": q, "paper": 1.0, "splits": 10, "verdict": "agrees"}
            | {"ours": 0.99 if k < lower else 1.01}
            for k in range(8)
            for q in "ab"
        ]
        rows.append(rows[0] | {"quantity": "n", "splits": np.nan, "paper": 5.0, "ours": 5.0})
        return pd.DataFrame(rows)

    found, text = verdicts.shifted(frame(8), ["data set"])
    assert set(found["verdict"][:16]) == {"can't tell: the table as a whole is shifted"}
    assert found["verdict"].iloc[-1] == "agrees"  # a count
    assert "lower in 16 of 16 cells, and on average in 8 of 8 data sets" in text
    assert "p = 0.0078" in text
    found, text = verdicts.shifted(frame(7), ["data set"])  # p = .07
    assert set(found["verdict"]) == {"agrees"}
    assert "in 7 of 8 data sets" in text
    # the cells of one data set are no independent draws
    assert set(verdicts.shifted(frame(8)[:6], ["data set"])[0]["verdict"]) == {"agrees"}


def test_fewer_than_five_splits_decide_nothing_about_a_mean():
    spread = {"paper_std": 1.0, "ours_std": 1.0, "paper_n": 10}
    assert verdicts.on_mean(5.0, 50.0, ours_n=4, **spread) == "can't tell: 4 splits here"
    assert verdicts.on_mean(5.0, 50.0, ours_n=5, **spread) == "differs"
    assert verdicts.on_mean(100.0, 104.0) == "can't tell: 1 split here"
    # but of data whose parts are given there is one split only
    assert verdicts.on_mean(100.0, 104.0, fixed=True) == "agrees"
    assert verdicts.on_mean(100.0, 106.0, fixed=True) == "differs"


def test_a_published_number_without_spread_is_one_more_draw():
    t = stats.t.isf(0.025, 9) * np.sqrt(1.1)  # times the standard deviation
    for std, apart, verdict in (
        (1.0, 9.9 - t, "agrees"),  # its margin is a tenth
        (1.0, 10.1 - t, "differs"),
        (5.0, 4.9 * t, "can't tell"),
        (5.0, 5.1 * t, "differs"),
    ):
        found = verdicts.on_mean(100.0, 100.0 + apart, ours_std=std, ours_n=10)
        assert verdicts.kind(found) == verdict


def test_pairs_are_compared_as_pairs_and_others_are_not():
    base = pd.Series([70.0, 75.0, 80.0, 65.0, 72.0, 78.0])
    better = base + np.array([1.0, 1.2, 0.9, 1.1, 1.0, 0.8])
    change, p, n, text = statistics.difference(better, base)
    assert change == pytest.approx(1.0)
    assert (p < 1e-4, n) == (True, 6)
    assert "74.33 ± 5.4 against 73.33 ± 5.5, 6 splits, paired t" in text
    shifted = base.set_axis(base.index + 1)
    assert statistics.difference(better, shifted)[1] > 0.5
    assert "Welch t" in statistics.difference(better, shifted)[3]
    assert statistics.difference(base, base)[1] == 1.0
    assert statistics.difference(base + 1.0, base)[1] == 0.0


def test_a_method_is_ahead_where_it_beats_all_and_behind_where_one_beats_it():
    noise = pd.Series(np.random.default_rng(0).normal(size=8))
    means = {"a": 2.0 + 0.1 * noise, "b": 1.0 - 0.1 * noise, "c": 2.0 - 0.11 * noise}

    def told(stated, **options):
        rivals = {m: v for m, v in means.items() if m != stated}
        return statistics.ahead(means[stated], rivals, **options)[0]

    assert told("b", lower=True) is True
    assert told("b", lower=False) is False
    assert told("a", lower=False) is None  # c is as good
    assert told("a", lower=False, rank=2) is True
    assert told("b", lower=False, rank=2) is False
    few = {m: v[:4] for m, v in means.items()}
    assert statistics.ahead(few.pop("b"), few, lower=True)[0] is None


def test_an_interval_draws_whole_splits():
    values, groups = np.repeat([0.0, 1.0, 0.0, 1.0, 0.0, 1.0], 50), np.repeat(range(6), 50)
    low, high = statistics.interval(values, groups, np.mean)
    alone = statistics.interval(values, None, np.mean)
    assert high - low > 3 * (alone[1] - alone[0])
    assert low < 0.2 < 0.8 < high
    assert statistics.interval(values[:50]) == (0.0, 0.0)
    assert statistics.interval(values, 0 * groups) == (-np.inf, np.inf)


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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bound", "kept", "at_itself", "broken"),
    [
        ("at_most", 1.0, True, 3.0),
        ("below", 1.0, False, 3.0),
        ("at_least", 3.0, True, 1.0),
        ("above", 3.0, False, 1.0),
    ],
)
def test_a_bound_is_kept_by_all_numbers_and_by_the_whole_interval(bound, kept, at_itself, broken):
    rule = claims.Rule(value="x", **{bound: 2.0})
    told = {kept: True, 2.0: at_itself, broken: False, np.nan: None}
    for value, holds in told.items():
        assert claims.decide(rule, {"x": value})[0] is holds
        assert claims.decide(rule, {"x": [kept, value]})[0] is holds
    assert claims.decide(rule, {"x": []})[0] is None
    rule = claims.Rule(interval="x", **{bound: 2.0})
    for value, holds in ((kept, True), (2.0, at_itself), (broken, False)):
        assert claims.decide(rule, {"x": [value] * 5})[0] is holds
        assert claims.decide(rule, {"x": [value] * 4})[0] is None  # too few to decide
    assert claims.decide(rule, {"x": [kept, broken] * 3})[0] is None  # the bound is inside
    assert claims.decide(rule, {"x": []})[0] is None


@pytest.mark.parametrize(("bound", "broken"), [("at_most", 3.0), ("at_least", 1.0)])
def test_a_check_complains_of_what_breaks_its_bound_and_of_what_is_no_number(bound, broken):
    row = {"metric": "m", "experiment": "e", "dataset": "d", "split": 0, "method": "path"}
    values = [4.0 - broken, 2.0, broken, np.nan]
    frame = pd.DataFrame([row | {"value": v} for v in values])
    others = [frame.assign(**{k: "other"}) for k in ("metric", "experiment", "method")]
    chosen = {"metric": "m", "experiment": "e", "method": ("path",)}
    check = claims.Check(says="{value:g} is wrong.", **chosen, **{bound: 2.0})
    said = [f"e on d, split 0: {v:g} is wrong." for v in (broken, np.nan)]
    assert claims.complaints([check], pd.concat([frame, *others])) == said


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


GAPS_AT = (1.1e-9, 0.25), (4.0e-8, 0), (2.5e-9, 1e-3)


def spoiled_study(suite, results=None, curves=None):
    """Return the suite's study with other results or curves."""
    folder, study = suite
    results = study.results if results is None else results
    return study_of(results, folder / "quantile_svm", study.curves if curves is None else curves)


def table(folder, name):
    return pd.read_csv(folder / f"quantile_svm/tables/{name}.csv")


@pytest.mark.slow
def test_every_table_is_there_and_ends_with_the_verdict(suite):
    folder = suite[0]
    for name in ("table_1_data", "table_2_times", "table_lam"):
        assert list(table(folder, name).columns)[-1] == "verdict"
    assert (table(folder, "table_1_data")["verdict"] == "not in the paper").all()
    assert table(folder, "table_certificates")["holds"].all()
    assert len(table(folder, "table_scaling")) == 6
    assert {"DPF (our path)", "Platt", "Isotonic"} == set(
        table(folder, "table_probability")["method"]
    )


@pytest.mark.slow
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
    kinks = rows[rows["quantity"] == "kinks"].set_index("data set")["verdict"]
    assert kinks["Two moons"] == "differs: path not certified"
    assert kinks["Breast cancer"] == "not in the paper"
    assert verdicts.kind(kinks["Two moons"]) == "differs"


@pytest.mark.slow
def test_failures_are_named_below_the_table(suite, tmp_path):
    results = suite[1].results
    failed = results.iloc[:1].assign(
        experiment="timing", status="failed", message="RuntimeError: it broke", value=np.nan
    )
    outputs.OUTPUTS.write(spoiled_study(suite, pd.concat([results, failed])), tmp_path)
    assert "it broke" in (tmp_path / "tables/table_2_times.md").read_text("utf-8")
    assert "it broke" not in (tmp_path / "tables/table_lam.md").read_text("utf-8")


def test_failures_that_differ_in_numbers_alone_are_one_sentence(suite):
    results = suite[1].results
    undecided = results.iloc[[0, 0, 0]].assign(
        experiment="timing",
        status="certificate undecided",
        message=[f"certificate is UNDECIDED: gap {gap:.1e} (at {t})" for gap, t in GAPS_AT],
        gap=[gap for gap, _ in GAPS_AT],
    )
    with_these = pd.concat([results, undecided], ignore_index=True)
    first, *others = spoiled_study(suite, with_these).failures("timing")
    assert not others
    assert "certificate undecided in 3 rows (certificate is UNDECIDED: gap 4.0e-08 (at 0))" in first


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


def test_error_bars_at_one_place_stand_beside_each_other():
    figure, axes = figures.new_figure()
    for height in (1.0, 2.0, 3.0):
        axes[0][0].errorbar([1.0, 10.0, 100.0], [height] * 3, [0.5] * 3, capsize=2.0)
    axes[0][0].errorbar([5.0], [1.0], [0.1])
    axes[0][0].set_xscale("log")
    figures.finish(figure)
    *three, alone = axes[0][0].containers
    x = np.array([bars.lines[0].get_xdata() for bars in three])
    np.testing.assert_allclose(x[1], [1.0, 10.0, 100.0])
    np.testing.assert_allclose(x[0] * x[2], x[1] ** 2)  # as far on both sides of a logarithmic axis
    assert (x[0] < 0.99 * x[1]).all()
    for bars in three:
        line, caps, (segments,) = bars.lines
        ends = np.array(segments.get_segments())[:, :, 0]
        np.testing.assert_array_equal(ends, np.column_stack([line.get_xdata()] * 2))
        assert all((cap.get_xdata() == line.get_xdata()).all() for cap in caps)
    np.testing.assert_array_equal(alone.lines[0].get_xdata(), [5.0])


def test_lines_are_not_told_by_their_colour_alone():
    figure, axes = figures.new_figure()
    ax = axes[0][0]
    for k, style in enumerate(["-", "-", "--", "-"]):
        ax.plot([0, 1], [k, k], style, label=f"line {k}")
    ax.plot([0, 1], [5, 5], "-")  # without a name
    legend = ax.legend()
    figures.finish(figure)
    assert [line.get_linestyle() for line in ax.get_lines()] == ["-", "-.", "--", ":", "-"]
    assert [h.get_linestyle() for h in legend.legend_handles] == ["-", "-.", "--", ":"]


@pytest.mark.parametrize("same", [True, False])
def test_every_panel_that_needs_a_legend_has_one(same):
    figure, axes = figures.new_figure(2)
    for j, ax in enumerate(axes[0]):
        for k in range(2):
            ax.plot([0, 1], [k, k], label=f"line {k}" if same else f"line {j} {k}")
    axes[0][0].legend()
    figures.finish(figure)
    assert len(figure.legends) == same
    assert [ax.get_legend() is None for ax in axes[0]] == [same, same]


@pytest.mark.slow
def test_figures_are_pictures_and_the_same_each_time(suite, tmp_path):
    folder, study = suite
    names = {p.stem for p in (folder / "quantile_svm/figures").iterdir()}
    made = [*outputs.OUTPUTS.tables_file.figures, *outputs.OUTPUTS.tables_file.explorers]
    assert names == {one.name for one in made}
    outputs.OUTPUTS.write(study, tmp_path)
    for name in names:
        first = (folder / f"quantile_svm/figures/{name}.png").read_bytes()
        assert first == (tmp_path / f"figures/{name}.png").read_bytes()
        drawn = (folder / f"quantile_svm/figures/{name}.svg").read_bytes()
        assert drawn == (tmp_path / f"figures/{name}.svg").read_bytes()
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


def written_page(folder):
    page.write_page(folder / "report.html", "Small & quick.", ["quantile_svm"], ["gisette"])
    return (folder / "report.html").read_text("utf-8")


def test_the_page_holds_everything_and_needs_nothing_else(suite):
    text = written_page(suite[0])
    assert "gisette" in text
    assert "Small &amp; quick." in text
    made = [*outputs.OUTPUTS.tables_file.figures, *outputs.OUTPUTS.tables_file.explorers]
    assert text.count('role="img" aria-label=') == len(made)
    assert not re.search(r"(src|href)=\"(?!data:|#)", text)
    for words in (
        "Table 1",
        "Assumptions",
        "Claims",
        "n log n",
        "certificate holds",
        "Limitations",
    ):
        assert words in text
    for verdict in verdicts.RULES:
        assert f'id="rule-{tables.css(verdict)}"' in text
    assert len(text) < 1_500_000


def test_every_link_of_the_page_leads_somewhere_and_every_anchor_is_one(suite):
    text = written_page(suite[0])
    anchors = re.findall(r'\bid="([^"]+)"', text)
    assert len(anchors) == len(set(anchors))
    leads = set(re.findall(r'href="#([^"]+)"', re.sub(r"<svg.*?</svg>", "", text, flags=re.S)))
    assert leads
    assert leads - set(anchors) == set()


def test_the_page_says_when_what_by_which_command_and_where(suite):
    text = written_page(suite[0])
    assert re.search(r"<dt>page written</dt><dd>20\d\d-\d\d-\d\d", text)
    assert "<code>snakemake --cores 8 tiny</code>" in text
    assert "snakemake --cores 8 tiny --config only=choose_lam" in text
    assert "scikit-learn 1." in text
    assert "not known: the results don't lie in a git checkout" in text


def test_a_csv_and_a_latex_file_of_each_table_come_with_the_page(suite):
    text = written_page(suite[0])
    for name in ("table_1_data", "table_certificates"):
        for suffix in ("csv", "tex"):
            found = re.search(rf'download="{name}.{suffix}" href="data:[^,]*,([^"]+)"', text)
            file = suite[0] / f"quantile_svm/tables/{name}.{suffix}"
            assert base64.b64decode(found.group(1)) == file.read_bytes()


def content_of(folder):
    return json.loads((folder / "quantile_svm" / "outputs.json").read_text("utf-8"))


@pytest.mark.slow
def test_data_that_are_not_the_papers_never_stand_under_its_title(suite, tmp_path):
    study = suite[1]
    datasets = {n: d.model_copy(update={"place": ""}) for n, d in study.datasets.items()}
    strange = replace(study, datasets=datasets)
    outputs.OUTPUTS.write(strange, tmp_path / "quantile_svm")
    headings = [t["heading"] for t in content_of(tmp_path)["tables"]]
    assert "Data sets (as in the paper's Table 1, on other data)" in headings
    assert not any(h.startswith(("Table", "Figure")) for h in headings)
    assert overview.headline({"name": "", **content_of(tmp_path)})["kind"] == "not tested here"
    text = written_page(tmp_path)
    assert "Not the papers' data." in text
    assert "Not this paper's data:" in text
    assert "Not this paper's data:" not in written_page(suite[0])
    assert "Table 1: data sets" in [t["heading"] for t in content_of(suite[0])["tables"]]


def test_what_stands_in_place_of_private_data_is_named_as_such(suite):
    study = suite[1]
    other = study.datasets["two_moons"].model_copy(
        update={"place": "", "instead_of": "the secret moons"}
    )
    named = replace(study, datasets={**study.datasets, "two_moons": other})
    assert "Two moons (instead of the secret moons)" in named.names_shown(["path"])
    found = overview.foreign_data([{"title": "P", "data": outputs_module.data_used(named)}])
    assert found == {"P": ["Two moons (instead of the secret moons)"]}


def test_many_that_stand_for_the_same_are_named_together():
    data = [{"name": f"task {k}", "papers": True, "instead_of": "theirs"} for k in range(3)]
    found = overview.foreign_data([{"title": "P", "data": data}])
    assert found == {"P": ["3 data sets from task 0 on (instead of theirs)"]}


def test_a_choice_that_noise_decides_is_inconclusive_in_its_table_too(suite):
    def doubted(paper, accuracy):
        results = suite[1].results.copy()
        own = results["metric"] == "validation_accuracy"
        lams = hyper(results[own], "lam").astype(float)
        results.loc[own, "value"] = lams.map(accuracy)
        study = spoiled_study(suite, results)
        best, *_ = outputs.chosen_lam(study, "two_moons")
        return outputs._verdict_on_lam(study, "two_moons", paper, best)

    assert verdicts.kind(doubted(0.01, {0.01: 0.80, 0.1: 0.81})) == "inconclusive"
    assert doubted(0.01, {0.01: 0.2, 0.1: 0.9}) == "differs"
    assert doubted(0.01, {0.01: 0.9, 0.1: 0.9}) == "agrees: tied for best"
    assert verdicts.kind(doubted(0.5, {0.01: 0.2, 0.1: 0.9})) == "not tested here"


def test_a_sentence_is_said_of_what_ran_and_of_settings_that_were_cut(suite):
    made = outputs_module.Said
    own = {"experiment": "timing", "text": "{own.repeats} repeats."}
    for sentence, expected in (
        (made(**own), ["2 repeats."]),
        (made(**own, dataset="two_moons"), ["2 repeats."]),
        (made(**own, dataset="spam"), []),
        (made(**own, cut={"repeats": 3}), ["2 repeats."]),
        (made(**own, cut={"repeats": 2}), []),
        (made(experiment="extremes", text="never"), []),
        (made(text="Always."), ["Always."]),
        (made(text="Of moons.", dataset="two_moons"), ["Of moons."]),
        (made(text="Of spam.", dataset="spam"), []),
    ):
        assert outputs_module.applicable((sentence,), suite[1]) == expected


# ---------------------------------------------------------------- totals and the map


def own_data(name, papers=True, failures=0):
    return {"name": name, "papers": papers, "instead_of": "", "failures": failures}


def made_up_paper(**verdicts_of):
    """Return what a paper's outputs.json may hold, with one table and three claims."""
    rows = [["a", "x", "1", "1", "agrees"], ["b", "x", "1", "9", "differs: 9 times higher"]]
    claims = [
        {"claim": "it grows", "dataset": d, "verdict": v, "source": "paper"}
        for d, v in (("a", "supported"), ("b", "not supported"), ("b", "supported"))
    ]
    goal = {"claim": "fast", "dataset": "a", "verdict": "not supported", "source": "this project"}
    columns = ["data set", "quantity", "paper", "ours", "verdict"]
    kinds = [verdicts.kind(row[-1]) for row in rows]
    table = {"name": "t", "heading": "T", "columns": columns, "rows": rows, "kinds": kinds}
    return {
        "name": "p",
        "title": "P",
        "tables": [table],
        "claims": [*claims, goal],
        "certificates": {"a": [2, 2], "b": [1, 2]},
        "data": [own_data("a"), own_data("b", papers=False)],
        **verdicts_of,
    }


def test_the_map_shows_the_worst_verdict_and_leads_to_it():
    made = overview.heat_map(made_up_paper())
    assert made["columns"] == ["a", "b"]
    rows = {(head, label): cells for head, found in made["groups"] for label, cells in found}
    certified = rows["Every path is certified", "Every path is certified"]
    assert [cell["kind"] for cell in certified] == ["supported", "not supported"]
    assert [cell["anchor"] for cell in rows["T", "x"]] == ["p-t-0", "p-t-1"]
    grows = rows["Claims of the text", "it grows"]
    assert [cell["kind"] for cell in grows] == ["supported", "not supported"]
    assert grows[1]["anchor"] == "p-claim-1"
    assert grows[1]["text"] == "1 not supported, 1 supported"
    assert rows["Questions and goals of this project", "fast"][1] is None


def test_a_drawing_within_a_page_keeps_what_it_refers_to():
    svg = """<?xml version="1.0"?><svg width="9pt" height="9pt" viewBox="0 0 9 9"><defs>
    <clipPath id="c1"><path d="M 0 0"/></clipPath></defs><metadata>by</metadata><g id="axes_1">
    <path id="m2" d="M 1 1"/><use xlink:href="#m2" clip-path="url(#c1)"/></g></svg>"""
    page = figures.inline(svg, "t1", "Title")
    for text in ('id="t1-c1"', "url(#t1-c1)", 'id="t1-m2"', 'xlink:href="#t1-m2"'):
        assert page.count(text) == 1
    assert "axes_1" not in page
    assert "metadata" not in page


def test_verdicts_of_the_map_stand_below_their_data_sets():
    made = overview.heat_map(made_up_paper(certificates={"b": [1, 2], "a": [2, 2]}))
    assert made["columns"] == ["b", "a"]
    kinds = {
        head: [[cell and cell["kind"] for cell in cells] for _, cells in found]
        for head, found in made["groups"]
    }
    assert kinds["Every path is certified"] == [["not supported", "supported"]]
    assert kinds["T"] == [["differs", "agrees"]]
    assert kinds["Questions and goals of this project"] == [[None, "not supported"]]


def test_each_paper_has_a_headline_of_its_own():
    found = overview.headline(made_up_paper())
    assert found["kind"] == "differs"
    assert found["text"] == (
        "1 table compared; cells: 1 agrees, 1 differs; claims: 1 not supported; "
        "3 of 4 paths certified exact"
    )
    good = made_up_paper(tables=[], certificates={"a": [2, 2]})
    good["claims"] = good["claims"][:1]
    assert overview.headline(good)["kind"] == "agrees"
    for own in (False, True):
        toy = good | {"data": [own_data("a", papers=own)]}
        assert overview.headline(toy)["kind"] == ("agrees" if own else "not tested here")
    assert overview.headline(good | {"certificates": {"a": [1, 2]}})["kind"] == "differs"


def test_a_sentence_counts_once_by_the_worst_that_came_out():
    def said(claim, verdict, sentence="", place="section 1"):
        own = {"claim": claim, "verdict": verdict, "sentence": sentence, "place": place}
        return own | {"source": "paper", "dataset": "a"}

    claims = [
        said("OP beats A", "supported", "OP beats {name}"),
        said("OP beats B", "inconclusive", "OP beats {name}"),
        said("OP beats A", "supported", "OP beats {name}", "section 2"),
        said("it is exact", "not tested here"),
        said("it is exact", "supported"),
    ]
    counts = overview.headline(made_up_paper(claims=claims))["claims"]
    assert counts == {"inconclusive": 1, "supported": 2}


def test_what_is_said_below_a_table_is_of_the_data_that_it_shows(suite):
    study = suite[1]
    shown = study.showing(pd.DataFrame({"data set": [study.name("two_moons")]}))
    assert shown.results["dataset"].unique().tolist() == ["two_moons"]
    for frame in (pd.DataFrame({"n": [1]}), pd.DataFrame({"data set": ["of no entry"]})):
        assert study.showing(frame) is study


def test_stand_ins_earn_a_paper_neither_a_tick_nor_a_cross():
    good = made_up_paper(tables=[], certificates={"a": [2, 2]})
    good["claims"] = good["claims"][:1]
    uncertified = good | {"certificates": {"a": [2, 2], "b": [0, 2]}}
    assert overview.headline(uncertified)["kind"] == "inconclusive"
    own = good | {"certificates": {"a": [1, 2], "b": [2, 2]}}
    assert overview.headline(own)["kind"] == "differs"
    # what came out on one set is no tick while cells of another of the paper's failed
    failed = good | {"data": [own_data("a"), own_data("c", failures=3)]}
    assert overview.headline(failed)["kind"] == "inconclusive"
    strange = good | {"data": [own_data("a"), own_data("b", papers=False, failures=3)]}
    assert overview.headline(strange)["kind"] == "agrees"


def test_a_set_is_a_stand_in_unless_the_papers_file_says_where_it_stands(suite):
    study = suite[1]
    assert study.is_papers("two_moons")
    own = study.datasets["two_moons"]
    mine = own.model_validate({k: v for k, v in own.model_dump().items() if k != "place"})
    assert not replace(study, datasets={**study.datasets, "mine": mine}).is_papers("mine")
    broken = study.results.copy()
    broken.loc[broken["dataset"] == "breast_cancer", "status"] = "failed"
    found = {d["name"]: d for d in outputs_module.data_used(replace(study, results=broken))}
    assert found["Breast cancer"]["failures"] == (broken["status"] == "failed").sum()
    assert found["Two moons"]["failures"] == 0


def test_what_the_paper_contradicts_or_never_said_is_no_claim_of_it():
    for source in ("this project", verdicts.CONTRADICTED):
        other = made_up_paper(tables=[], certificates={})
        other["claims"] = [c | {"source": source} for c in other["claims"]]
        assert overview.headline(other)["claims"].total() == 0
        assert "claims" not in overview.headline(other)["text"]


def test_the_terminals_summary_names_what_differs_and_where_to_look():
    lines = overview.summary_lines([made_up_paper()], "results/x/report.html")
    assert lines[0].startswith("P: 1 table compared; cells: 1 agrees, 1 differs; claims: ")
    assert not any("fast" in line for line in lines)  # a goal of ours
    assert "  ✗ b | x | 1 | 9 | differs: 9 times higher" in lines
    assert "  ✗ it grows (b)" in lines
    assert lines[-1] == "Everything: results/x/report.html"


# ---------------------------------------------------------------- numbers as people read them


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0061937, "6.2 ms"),
        (8.261e-05, "83 µs"),
        (11.104, "11 s"),
        (0.9999, "1.0 s"),
        (0.0, "0 s"),
    ],
)
def test_seconds_have_two_digits_and_their_unit(value, text):
    assert formats.seconds(value) == text.replace(" ", formats.THIN)


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([341.0, 2.0, np.nan], ["341", "2", "—"]),
        ([0.02322, 0.1129, 0.0], ["0.023", "0.113", "0.000"]),
        ([1.144e-14, 2.0, 0.0], ["1.1×10⁻¹⁴", "2.0×10⁰", "0"]),
        ([0.5, 0.25], ["0.50", "0.25"]),
    ],
)
def test_a_column_has_one_notation(values, texts):
    assert formats.column(values) == texts


def test_numbers_that_are_compared_have_the_same_decimals():
    assert formats.together(1886.0, 1894.7) == ("1886", "1895", "+9")
    assert formats.together(0.001, 0.01) == ("0.001", "0.010", "+0.009")
    assert formats.together(np.nan, 341.0) == ("—", "341", "—")
    assert formats.together(np.inf, np.inf) == ("inf", "inf", "0")  # the VIF of SCADI's columns
    assert formats.together(2.5, np.inf) == ("2.50", "inf", "—")
    # what is printed keeps its digits and gets no others; a ratio of it is rounded
    assert formats.together(11.104, 0.04423) == ("11.104", "0.0442", "-11.0598")
    assert formats.together(0.003, 0.000459)[0] == "0.003"
    assert formats.together(11.104 / 0.401, 2.4567, 2) == ("27.7", "2.5", "-25.2")
    for pair in ((np.inf, np.inf), (2.5, np.inf), (np.inf, 2.5)):
        assert formats.relative(*pair) == "—"


def test_a_relative_difference_is_a_share_and_then_a_factor():
    assert formats.relative(100.0, 103.24) == f"+3.2{formats.THIN}%"
    assert formats.relative(1.0, 28.0) == "×28"
    assert formats.relative(0.0, 1.0) == formats.relative(np.nan, 1.0) == "—"


def test_points_stand_in_one_line():
    found = formats.padded(["341", "0.25", f"6.2{formats.THIN}ms", "—"])
    assert [len(text.split(formats.THIN)[0]) for text in found[:3]] == [6, 4, 4]
    assert found[0] == "341\u2008\u2007\u2007"
    assert found[3] == "—"


def test_things_are_counted_in_good_english():
    assert formats.count(1, "task") == "1 task"
    assert formats.count(2, "task") == "2 tasks"


# ---------------------------------------------------------------- the explorer's kit


def test_a_curve_has_both_sides_of_a_jump_and_of_a_step():
    line = explorer.Curve("", [0.0, 0.4, 0.4, 1.0], [0.0, 0.2, 0.7, 1.0])
    assert line.at(0.4) == (0.2, 0.7)
    assert line.at(0.2) == (pytest.approx(0.1), pytest.approx(0.1))
    step = explorer.Curve("", [0.0, 0.3, 0.6], [3.0, 1.0, 2.0], step=True)
    assert step.at(0.3) == (3.0, 1.0)
    assert step.at(0.5) == (1.0, 1.0)
    assert step.at(1.0) == (2.0, 2.0)


def test_minimisers_are_whole_intervals():
    step = explorer.Curve("", [0.0, 0.2, 0.4, 0.6, 0.8], [2.0, 1.0, 1.0, 3.0, 1.0], step=True)
    assert explorer.minimisers(step, (0.0, 1.0)) == (1.0, [(0.2, 0.6), (0.8, 1.0)])


def test_thinned_lines_stay_within_their_error_and_keep_jumps():
    x = np.sort(np.random.default_rng(0).random(500))
    y = np.sin(9 * x)
    x, y = np.append(x, [x[-1], 2.0]), np.append(y, [5.0, 5.0])
    keep = explorer.thin(x, y, 1e-3)
    assert keep.sum() < 150
    assert keep[-3:].all()
    off = np.abs(np.interp(x[:499], x[keep][:-2], y[keep][:-2]) - y[:499])
    assert off.max() <= 1e-3


def test_the_explorers_error_is_that_of_the_path(suite):
    found = outputs.explorer(suite[1])
    (slices,) = found.choices.values()
    assert [s.label for s in slices] == ["lam = 0.01", "lam = 0.1"]
    part = prepare("two_moons", 0, sizes=(0.6, 0.2, 0.2), offline=True)
    path = quantile_svm_path(part.train.X, part.train.y, 1e-2)
    best = path.best(part.validation.X, part.validation.y)
    value, where = slices[0].least
    assert value == best.value
    np.testing.assert_allclose(where, best.intervals, atol=1e-12)
    coefficients = slices[0].panels["coefficients"]
    for tau in (0.13, 0.5, 0.86):
        stated = [curve.at(tau)[0] for curve in coefficients]
        np.testing.assert_allclose(stated, path.coef(tau), atol=1e-9)
        labels = np.array(slices[0].samples["labels"])
        turned = [np.count_nonzero(np.array(c) < tau) for c in slices[0].samples["changes"]]
        decided = slices[0].samples["first"] * (-1) ** np.array(turned)
        np.testing.assert_array_equal(labels, part.test.y)
        f = path.decision_function(part.test.X, tau)
        np.testing.assert_array_equal(decided, np.where(f >= 0, 1, -1))


def test_what_a_grid_misses_is_told():
    error = explorer.Curve("validation error", [0.0, 0.31, 0.35], [0.5, 0.1, 0.4], step=True)
    one = explorer.Slice("s", (0.0, 1.0), {"validation error": [error]}, [0.0, 0.5, 1.0])
    (text,) = explorer.Explorer("t", {"d": [one]}).missed()
    assert "least validation error is 10.00 %, for t in [0.310, 0.350]" in text
    assert text.endswith("the best of 3 grid points has 40.00 %: the grid misses it.")


def test_a_logit_axis_has_ticks_where_the_data_are():
    ticks, names = figures.logit_ticks(5e-4)
    assert min(ticks) < 2e-3
    assert max(ticks) > 0.998
    assert names == ["0.001", "0.01", "0.1", "0.5", "0.9", "0.99", "0.999"]
    ticks, _ = figures.logit_ticks(1e-9)
    assert min(ticks) == 1e-8
    assert len(ticks) <= 9


def test_the_page_prints_the_settings_that_were_used(suite):
    content = json.loads((suite[0] / "quantile_svm" / "outputs.json").read_text())
    said = {tuple(row[:2]): row[2] for row in content["settings"]["rows"]}
    assert said["probability", "bins"] == "5"
    assert said["timing", "repeats"] == "2"
    assert said["path", "data sets"] == "Two moons, Breast cancer"
    assert "scaling = symmetric" in said["Breast cancer", "data set"]


def test_captions_and_tables_name_their_data(suite):
    content = json.loads((suite[0] / "quantile_svm" / "outputs.json").read_text())
    captions = {figure["name"]: figure["caption"] for figure in content["figures"]}
    assert "Data: Two moons, Breast cancer." in captions["figure_2_rates"]
    assert "Data: Quantile toy." in captions["figure_1_boundary"]
    notes = {made["name"]: made["notes"] for made in content["tables"]}
    assert "Data: Two moons, Breast cancer; 1 to 2 splits." in notes["table_1_data"]


def test_a_surface_is_drawn_and_its_numbers_stand_on_the_page(tmp_path):
    lines = [([0.0, 1.0], [k, k], [k, 1 / 3]) for k in (0.0, 1.0)]
    traces = [surface.Trace("paths", lines), surface.Trace("points", lines, points=True)]
    made = surface.Surface(("s", "lam2", "error"), traces)
    content = made.content()
    assert content["traces"][0]["parts"][1] == [[0.0, 1.0], [1.0, 1.0], [1.0, 0.33333]]
    assert [trace["points"] for trace in content["traces"]] == [False, True]
    with figures.style():
        drawn = surface.surface_figure(made)
    (ax,) = drawn.axes
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_zlabel()) == made.labels
    assert len(ax.lines) == 4
    (legend,) = drawn.legends
    assert [text.get_text() for text in legend.get_texts()] == ["paths", "points"]


# ---------------------------------------------------------------- checks


def complaints(study):
    """Return everything that is wrong with a study of the quantile SVM."""
    return check_results(study.results) + outputs.OUTPUTS.complaints(study.results, study.curves)


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
    bad.loc[bad["method"] == "recover", "gap"] = np.nan
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


@pytest.mark.parametrize("paired", [True, False])
def test_rounding_is_no_spread(paired):
    base = pd.Series([0.1 + 0.2, 0.3, 0.3])
    other = base + 1.0 if paired else (base + 1.0).set_axis([7, 8, 9])
    _, p, _, text = statistics.difference(base, other)
    assert (p, "0.3 ± 0 against 1.3 ± 0" in text) == (0.0, True)
    apart = pd.Series([0.3, 0.3, 0.3 + 1e-9])
    assert "0.3 ± 5.8e-10" in statistics.difference(apart, other)[3]


@pytest.mark.parametrize(
    ("numbers", "errors", "holds"),
    [
        ([1.7, 1.9], [0.05, 0.05], True),
        ([1.7, 1.9], [0.2, 0.05], None),
        ([1.59, 1.9], [0.02, 0.02], None),
        ([1.59, 1.9], [0.005, 0.02], False),
        ([1.3, 1.61], [0.02, 0.02], False),
        ([1.59], 0.0, False),
    ],
)
def test_numbers_decide_by_their_intervals(numbers, errors, holds):
    rule = claims.Rule(value="ratios", at_least=1.6, at_most=2.4)
    assert claims.decide(rule, {"ratios": numbers, "ratios_error": errors})[0] is holds
