"""The quantile SVM paper's experiments on small real paths, and what is made of them."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.papers import repository_config
from helpers.quantile_suite import shared_suite, small_config, study_of
from helpers.small_runs import assert_known
from path_benchmark.data.protocols import Part
from path_benchmark.papers import check_config
from path_benchmark.papers.quantile_svm import experiments as experiment
from path_benchmark.papers.quantile_svm import outputs
from path_benchmark.papers.quantile_svm.data import prepare
from path_benchmark.papers.quantile_svm.experiments import PAPER
from path_benchmark.reporting.study import hyper, make_study
from path_benchmark.runs import judging
from path_benchmark.runs.cells import finished, rows_of
from path_benchmark.runs.rows import Rows, read_results
from solution_paths import quantile_svm_path

pytestmark = pytest.mark.slow

# ---------------------------------------------------------------- exact functions of tau


def brute_force(first, crossings, tau):
    turns = np.array([np.count_nonzero(np.asarray(c) < tau) for c in crossings])
    return np.asarray(first) ^ (turns % 2 == 1)


def test_step_rates_equal_counting_at_every_tau():
    rng = np.random.default_rng(5)
    y = rng.choice([-1.0, 1.0], size=30)
    first = rng.random(30) < 0.8
    crossings = [np.sort(rng.random(rng.integers(0, 4))) for _ in range(30)]
    crossings[3] = crossings[4] = np.array([0.25])  # two rows flip together
    found = experiment.step_rates(y, first, crossings)
    for tau in np.concatenate([rng.random(200), [1e-9, 1 - 1e-9]]):
        positive = brute_force(first, crossings, tau)
        expected = {
            "tpr": positive[y > 0].mean(),
            "tnr": (~positive[y < 0]).mean(),
            "accuracy": (positive == (y > 0)).mean(),
        }
        for rate, (at, value) in found.items():
            k = np.searchsorted(at, tau, side="right") - 1
            assert value[k] == pytest.approx(expected[rate], abs=1e-12)
    at = found["tpr"][0]
    assert at[0] == 0.0
    assert (np.diff(at) > 0).all()


def test_step_rates_without_any_crossing():
    y = np.array([1.0, -1.0])
    found = experiment.step_rates(y, np.array([True, True]), [np.empty(0)] * 2)
    assert found["accuracy"][1].tolist() == [0.5]


def test_probability_is_the_tau_of_the_flip_or_the_rearrangement():
    first = np.array([True, True, False, True, False])
    crossings = [np.array(c) for c in ([0.3], [], [], [0.2, 0.5, 0.6], [0.4, 0.9])]
    expected = [0.3, 1.0, 0.0, 0.3, 0.5]
    p = experiment.probabilities(first, crossings)
    np.testing.assert_allclose(p, expected, rtol=1e-12)
    grid = (np.arange(20_000) + 0.5) / 20_000
    integral = np.mean([brute_force(first, crossings, t) for t in grid], axis=0)
    np.testing.assert_allclose(p, integral, atol=1e-4)


@pytest.mark.parametrize(
    ("name", "sizes", "message"),
    [
        ("two_moons", None, "two_moons has no sizes of its own in the paper: pass sizes"),
        ("two_moons", (0.8, 0.2), "sizes must be three numbers"),
        ("splice", (100, 100), "sizes must be three numbers"),
        ("spam", (1, 1, 1), "spam's parts are its three inboxes"),
    ],
)
def test_sizes_that_a_data_set_cannot_have_are_named(name, sizes, message):
    with pytest.raises(ValueError, match=message):
        prepare(name, sizes=sizes, offline=True)


def test_signs_traced_through_crossings_equal_the_decision_function():
    part = prepare("two_moons", 1, sizes=(0.6, 0.2, 0.2), offline=True)
    path = quantile_svm_path(part.train.X, part.train.y, 1e-2)
    first, crossings = experiment.sign_changes(path, part.test.X)
    for tau in np.random.default_rng(1).uniform(size=50):
        f = path.decision_function(part.test.X, tau)
        clear = np.abs(f) > 1e-9
        assert ((f >= 0) == brute_force(first, crossings, tau))[clear].all()


@pytest.mark.parametrize(
    ("value", "sign", "count", "largest"),
    [
        ([1.0, 0.8, 0.8, 0.1], -1, 0, 0.0),
        ([1.0, 0.5, 0.6, 0.7, 0.1], -1, 2, 0.2),
        ([0.0, 0.4, 0.3, 1.0], 1, 1, 0.1),
    ],
)
def test_steps_in_the_wrong_direction_are_counted(value, sign, count, largest):
    assert outputs.steps_in_wrong_direction(np.array(value), sign) == (
        count,
        pytest.approx(largest),
    )


# ---------------------------------------------------------------- what is run


def cells_of(config, suite, experiment):
    """Return all cells of an experiment in a suite."""
    run = config["papers"]["quantile_svm"]["suites"][suite][experiment]
    return [
        cell
        for dataset in run["datasets"]
        for cell in PAPER.cells(config, suite, experiment, dataset, range(run["splits"]))
    ]


def test_every_suite_of_the_repository_has_distinct_cells_in_both_lanes():
    config = repository_config()
    assert set(check_config(config)) == set(config["papers"])
    for suite in config["suites"]:
        names = config["papers"]["quantile_svm"]["suites"][suite]
        cells = [cell for name in names for cell in cells_of(config, suite, name)]
        assert len({cell.id for cell in cells}) == len(cells) > 0
        assert {job.lane for job in PAPER.jobs(config, suite)} == {"accuracy", "timing"}


def test_kinks_has_a_cell_for_each_size():
    assert [c.value for c in cells_of(small_config(), "tiny", "kinks") if c.split == 0] == [60, 120]


def test_a_data_set_with_fewer_splits_has_no_jobs_beyond_them():
    config = small_config()
    config["papers"]["quantile_svm"]["datasets"]["two_moons"]["splits"] = 1
    lasts = {j.last for j in PAPER.jobs(config, "tiny") if j.dataset == "two_moons"}
    assert lasts == {0}


def test_the_suites_override_of_a_setting_is_what_the_cell_is_given():
    config = small_config()
    config["papers"]["quantile_svm"]["suites"]["tiny"]["probability"]["bins"] = 7
    assert {c.settings.bins for c in cells_of(config, "tiny", "probability")} == {7}


def test_parts_are_disjoint_stratified_and_seeded():
    options = {"sizes": (0.6, 0.2, 0.2), "scaling": "symmetric", "offline": True}
    one, other = (prepare("breast_cancer", split, **options) for split in (0, 1))
    prepare.cache_clear()
    again = prepare("breast_cancer", 0, **options)
    assert again is not one
    np.testing.assert_array_equal(one.train.X, again.train.X)
    assert not np.array_equal(one.train.y, other.train.y)
    assert [len(p.y) for p in (one.train, one.validation, one.test)] == [341, 114, 114]
    shares = [np.mean(p.y > 0) for p in (one.train, one.validation, one.test)]
    assert np.ptp(shares) < 0.02
    assert one.train.X.min() == -1.0
    assert one.train.X.max() == 1.0


def test_a_data_set_is_prepared_once_a_job(tmp_path, monkeypatch):
    from path_benchmark.data import sources

    read, load = [], sources._load
    monkeypatch.setattr(sources, "_load", lambda name, **o: read.append(name) or load(name, **o))
    prepare.cache_clear()
    config = small_config()
    PAPER.run(config, "tiny", "path", "breast_cancer", [0, 1], tmp_path)
    assert read == ["breast_cancer"]


def test_data_that_are_not_at_hand_are_a_row_and_no_crash(tmp_path, monkeypatch):
    monkeypatch.setenv("SOLUTION_PATHS_MIRROR", str(tmp_path))
    config = small_config()
    paper = config["papers"]["quantile_svm"]
    paper["datasets"]["gisette"] = {"lam": 0.1, "sizes": [0.6, 0.2, 0.2], "scaling": "none"}
    paper["suites"]["tiny"]["path"]["datasets"].append("gisette")
    (file,) = PAPER.run(config, "tiny", "path", "gisette", [0], tmp_path / "cells")
    rows = read_results(rows_of(file))
    assert rows["status"].tolist() == ["not available"]
    assert "gisette" in rows["message"][0]
    assert not finished(file)


# ---------------------------------------------------------------- the experiment itself


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    folder, study = shared_suite(tmp_path_factory)
    return folder / "quantile_svm", study


def pick(results, **wanted):
    for column, value in wanted.items():
        results = results[results[column] == value]
    return results


def test_every_number_is_known(suite):
    assert_known(suite[1], "quantile_svm")


def test_nothing_fails_and_every_path_is_certified(suite):
    results = suite[1].results
    assert not len(results[results["status"] == "failed"])
    held = pick(results, metric="certificate")
    assert len(held) == 4 + 12 + 1 + 1 + 4 + 2 + 2 + 2
    assert (held["value"] == 1.0).all()
    assert (held["kkt"] <= 1e-7).all()
    assert (held["gap"] <= 1e-9).all()


def test_objectives_agree_with_the_oracle(suite):
    results = suite[1].results
    differences = pick(results, metric="objective_difference")["value"]
    assert len(differences) == 4
    assert (differences <= 1e-8).all()


def test_every_repeat_is_a_row_beside_the_accuracy_it_reached(suite):
    results = suite[1].results
    times = pick(results, experiment="timing", metric="time")
    counts = times.groupby("method").size().to_dict()
    names = ("recover", "recover_w", "liblinear", "lbfgsb", "cvxpy")
    skipped = times[times["status"] == "not available"]["method"].unique()
    assert counts == {"path": 2, **dict.fromkeys(names, 3 * 2)}
    assert (times[times["method"] != "path"].dropna(subset=["value"])["gap"].abs() < 0.2).all()
    assert (times[times["method"] == "recover"]["gap"].abs() < 1e-9).all()
    assert (times[~times["method"].isin(skipped)]["cpu_s"] >= 0).all()
    paths = pick(results, metric="path_seconds")
    assert len(paths)
    assert (paths["value"] == paths["cpu_s"]).all()


def test_the_published_algorithm_is_judged_and_compared_for_each_residual(suite):
    own = pick(suite[1].results, experiment="published")
    assert set(own["status"]) == {"ok"}
    assert (pick(own, metric="reached")["value"] == 1.0).all()
    assert len(pick(own, metric="solution_gap")) == 2 * 3
    assert (pick(own, metric="start_gap")["value"] < 1e-4).all()
    table = outputs.as_published(suite[1])
    assert table["residual"].unique().tolist() == ["1e-06", "1e-13"]
    ratios = table[table["quantity"] == "DPF / L-BFGS-B"].set_index("residual")["ours"]
    time = pick(own, metric="time").set_index(pick(own, metric="reached").index)["value"]
    expected = time.to_numpy() / outputs.cpu_seconds(suite[1], "two_moons", "lbfgsb")
    np.testing.assert_allclose(ratios, expected)
    cases = list(outputs.as_published_runs(suite[1]))
    assert [case.where for case in cases] == ["residual 1e-06", "residual 1e-13"]
    assert all(0.0 < case.values["share"] < 1.0 for case in cases)
    gaps = pick(own, metric="solution_gap")
    by_residual = gaps["value"].groupby(hyper(gaps, "residual").astype(float))
    assert [case.values["gap"] for case in cases] == list(by_residual.max()[[1e-6, 1e-13]])
    assert (by_residual.nunique() > 1).all()
    assert cases[1].values["gap"] < 1e-6


def test_the_exact_steps_were_checked_and_end_where_they_should(suite):
    results = suite[1].results
    assert (pick(results, metric="step_errors")["value"] == 0).all()
    tpr, tnr = (outputs.rates(suite[1], "breast_cancer", 0)[r] for r in ("tpr", "tnr"))
    assert tpr[1][0] > 0.9 > 0.2 > tpr[1][-1]
    assert tnr[1][0] < 0.2 < 0.9 < tnr[1][-1]


def test_probabilities_are_scored_for_every_method(suite):
    results = suite[1].results
    scores = pick(results, experiment="probability", metric="brier")
    assert set(scores["method"]) == {"path", "platt", "isotonic"}
    assert scores["value"].between(0.0, 0.25).all()  # better than guessing one half
    bins = suite[1].curve("reliability", method="platt", split=0)
    assert bins["weight"].sum() == 40


def test_finished_cells_are_not_run_again(suite):
    folder, _ = suite
    before = {p: p.stat().st_mtime_ns for p in (folder / "cells").iterdir()}
    PAPER.run(small_config(), "tiny", "path", "two_moons", [0, 1], folder / "cells")
    assert {p: p.stat().st_mtime_ns for p in (folder / "cells").iterdir()} == before


def claims_of(study):
    """Return the paper's claims as a table."""
    return outputs.OUTPUTS.all_claims(study)


def test_claims_are_checked_and_can_fail(suite):
    folder, study = suite
    bound = claims_of(study).loc[lambda c: c["claim"].str.contains("n log n")]
    assert len(bound) == 3
    assert (bound["verdict"] == "supported").all()
    worse = study.results.copy()
    worse.loc[worse["metric"] == "kinks", "value"] *= 100
    bound = claims_of(study_of(worse, folder)).loc[lambda c: c["claim"].str.contains("n log n")]
    assert (bound["verdict"] == "not supported").all()
    turned = study.curves.copy()
    rising = turned["curve"] == "tpr"
    turned.loc[rising, "y"] = 1.0 - turned.loc[rising, "y"]
    for curves, verdict in ((study.curves, "supported"), (turned, "not supported")):
        claims = claims_of(study_of(study.results, folder, curves))
        falls = claims[claims["claim"].str.startswith("TPR falls")]
        assert falls["verdict"].tolist() == [verdict] * 4  # two sentences, two data sets


def test_sentences_about_the_papers_data_are_not_tested_on_others(suite):
    study = suite[1]
    config = small_config()
    config["papers"]["quantile_svm"]["datasets"]["two_moons"]["place"] = ""
    other = make_study(PAPER, config, "tiny", study.results, study.curves)
    claims = claims_of(other)
    own = claims[claims["dataset"].str.startswith("Two moons")]
    rates = own["claim"].str.contains("TPR|TNR|accuracy|labelled")
    assert rates.sum() == 6  # of two splits
    assert (own.loc[rates, "verdict"] == "not tested here").all()
    outcomes = own.loc[rates, "evidence"].str.extract("not the paper's data; there: ([a-z ]+): ")
    assert outcomes[0].isin(["supported", "not supported"]).all()
    assert not own.loc[rates, "evidence"].eq("").any()
    # nor is a bound for any data
    assert (own.loc[own["claim"].str.contains("n log n"), "verdict"] == "not tested here").all()
    assert "Two moons (not the paper's)" in other.names_shown(["path"])


def test_times_of_fewer_than_three_repeats_are_inconclusive(suite):
    claims = claims_of(suite[1])
    times = claims[claims["claim"].str.contains("faster|costs more")]
    assert len(times) == 4
    assert (times["verdict"] == "inconclusive").all()


def test_the_kink_count_is_one_number_for_each_split(suite):
    assert len(outputs.kinks_by_split(suite[1], "two_moons")) == 2


def test_best_lam_goes_to_the_largest_when_tied(suite):
    folder, study = suite
    tie = study.results.copy()
    tie.loc[tie["metric"] == "validation_accuracy", "value"] = 0.8
    best, tied, _ = outputs.chosen_lam(study_of(tie, folder), "two_moons")
    assert best == 0.1
    assert tied == [0.01, 0.1]


def test_ties_up_to_rounding_are_one_kink_and_crowded_kinks_are_many():
    class Fixed:
        breakpoints = np.array([0.0, 1e-9, 2e-9, 0.3, 0.3 + 1e-14, 0.7, 1.0])

    assert experiment.n_events(Fixed()) == 4


def test_the_known_law_is_that_of_the_densities():
    """P(y = +1 | x) of the generated classes, by their densities."""
    from scipy.stats import multivariate_normal

    from path_benchmark.papers.quantile_svm.data import true_probability

    d, law = 3, {"distance": 2.0, "positive_share": 0.3}
    X = np.random.default_rng(0).normal(size=(20, d)) * 2.0
    mean = np.full(d, law["distance"] / (2.0 * np.sqrt(d)))
    up, down = (multivariate_normal(sign * mean).pdf(X) for sign in (1.0, -1.0))
    share = law["positive_share"]
    expected = share * up / (share * up + (1.0 - share) * down)
    np.testing.assert_allclose(true_probability(X, law), expected, rtol=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_split_is_described_by_its_sizes_positives_and_zeros(sparse):
    X = np.array([[0.0, 1.0, 2.0, 0.0], [0.0, 0.0, 3.0, 0.0], [4.0, 0.0, 0.0, 0.0]])
    given = sp.csr_matrix(X) if sparse else X
    signs = Part(given, np.array([-1.0, 1.0, -1.0]))
    real = Part(X[:2], np.array([0.3, 1.0]))
    rows = Rows()
    judging.describe(rows, SimpleNamespace(train=signs, validation=real, test=None))
    found = {row["metric"]: row["value"] for row in rows.rows}
    sizes = {"n_train": 3, "n_validation": 2, "dim": 4, "positive_share_train": 1 / 3}
    assert found == pytest.approx(sizes | {"zero_percent": 100 * 8 / 12})
    judging.describe(rows, SimpleNamespace(train=signs, validation=None, test=None), X + 1.0)
    assert rows.rows[-1]["value"] == 0.0  # of the rows as they were before they were scaled
