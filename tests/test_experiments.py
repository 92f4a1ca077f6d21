"""Cells, rows, resuming, timing; and the quantile SVM experiment on small real paths."""

import dataclasses
import json
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml

from solution_paths import quantile_svm_path
from solution_paths.benchmarking import common
from solution_paths.benchmarking.common import Cell, Rows, Timing
from solution_paths.papers.quantile_svm import experiments as experiment
from solution_paths.papers.quantile_svm import outputs

ROOT = Path(__file__).parents[1]
CELL = Cell("path", "two_moons", 0, "accuracy", settings={"lam": 0.1})


def small_config() -> dict:
    """A configuration of the same shape as the workflow's, of seconds."""
    sizes = [0.6, 0.2, 0.2]
    data = {"lam": 1.0e-2, "sizes": sizes, "preparation": "raw"}
    taus = [0.2, 0.5, 0.8]
    return {
        "offline": True,
        "suites": {
            "tiny": {
                "quantile_svm": {
                    "path": {"datasets": ["two_moons", "breast_cancer"], "splits": 2},
                    "preparation": {"datasets": ["two_moons"], "splits": 2},
                    "choose_lam": {"datasets": ["two_moons"], "splits": 1},
                    "timing": {"datasets": ["two_moons"], "splits": 1},
                    "boundary": {"datasets": ["quantile_toy"], "splits": 1},
                    "kinks": {"datasets": ["gaussian_classes"], "splits": 2},
                    "probability": {"datasets": ["two_moons"], "splits": 2},
                }
            }
        },
        "quantile_svm": {
            "intercept_scaling": 1.0,
            "datasets": {
                "two_moons": data,
                "quantile_toy": data,
                "gaussian_classes": data,
                "breast_cancer": {**data, "preparation": "minus_one_one"},
            },
            "experiments": {
                "path": {"lane": "accuracy"},
                "preparation": {"lane": "accuracy", "preparations": ["raw", "minus_one_one"]},
                "choose_lam": {"lane": "accuracy", "grid": [0.01, 0.1]},
                "timing": {
                    "lane": "timing",
                    "methods": ["path", "recover", "liblinear", "lbfgsb", "cvxpy"],
                    "taus": taus,
                    "repeats": 2,
                },
                "boundary": {"lane": "accuracy", "taus": taus},
                "kinks": {"lane": "accuracy", "sizes": [60, 120]},
                "probability": {
                    "lane": "accuracy",
                    "methods": ["path", "platt", "isotonic"],
                    "bins": 5,
                },
            },
        },
    }


SUITES: list[tuple[Path, pd.DataFrame]] = []


def shared_suite(tmp_path_factory) -> tuple[Path, pd.DataFrame]:
    """Return (results/<suite>, its table); every job is run once in a session of pytest."""
    if not SUITES:
        folder = tmp_path_factory.mktemp("results") / "tiny"
        SUITES.append((folder, run_suite(folder / "quantile_svm")))
    return SUITES[0]


def run_suite(folder: Path) -> pd.DataFrame:
    """Run every job of the small configuration and collect it."""
    config, files = small_config(), []
    for name, what in config["suites"]["tiny"]["quantile_svm"].items():
        for dataset in what["datasets"]:
            chunk = {"experiment": name, "dataset": dataset, "splits": range(what["splits"])}
            files += experiment.run_chunk(config, "tiny", chunk, folder / "cells")
    experiment.collect(files, folder / "results.parquet")
    return common.read_results(folder / "results.parquet")


# ---------------------------------------------------------------- cells and rows


def test_a_cell_is_named_after_its_settings():
    other = dataclasses.replace(CELL, settings={"lam": 0.2})
    assert CELL.id != other.id
    assert CELL.id == dataclasses.replace(CELL, settings={"lam": 0.1}).id


def test_rows_fit_the_schema_and_keep_full_precision(tmp_path):
    rows = Rows(suite="s", paper="p", experiment="e", dataset="d", split=0, method="path")
    rows.add("value", 1 / 3, hyper_parameters={"tau": np.float64(0.1), "ends": np.arange(2.0)})
    rows.add("nothing", None, status="failed", message="why")
    common.write_rows(tmp_path / "cell.parquet", rows.rows)
    back = common.read_results(tmp_path / "cell.parquet")
    assert back["value"][0] == 1 / 3
    assert np.isnan(back["value"][1])
    assert back["hyper"][0] == {"tau": 0.1, "ends": [0.0, 1.0]}
    assert pq.read_schema(tmp_path / "cell.parquet").equals(common.SCHEMA)
    assert {"numpy", "solution_paths"} <= set(json.loads(back["versions"][0]))
    assert "cores" in back["machine"][0]


def test_rows_refuse_a_column_that_is_not_declared():
    with pytest.raises(KeyError, match="colour"):
        Rows().add("value", 1.0, colour="red")


def test_the_schema_is_the_one_that_the_workflow_declares():
    declared = yaml.safe_load((ROOT / "workflow/schemas/results.schema.yaml").read_text())
    assert list(declared["properties"]) == common.SCHEMA.names


def test_half_a_file_never_takes_the_name(tmp_path):
    target = tmp_path / "cell.parquet"
    target.write_text("old")

    def write(part):
        part.write_text("half")
        raise RuntimeError("the disk is full")

    with pytest.raises(RuntimeError, match="full"):
        common.replace_atomically(target, write)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


class Recorder:
    """Runs cells and remembers which ones."""

    def __init__(self, fails_on: int | None = None, error: type = ValueError):
        self.ran, self.fails_on, self.error = [], fails_on, error

    def __call__(self, cell, rows, report):
        self.ran.append(cell.split)
        if cell.split == self.fails_on:
            raise self.error("split is bad")
        report(0.5, 7)
        rows.add("value", cell.split)


CELLS = [dataclasses.replace(CELL, split=k) for k in range(3)]


def test_a_failure_is_a_row_with_its_reason_and_is_tried_again(tmp_path):
    first = Recorder(fails_on=1)
    files = common.run_cells(CELLS, first, lambda cell: {"split": cell.split}, tmp_path)
    assert first.ran == [0, 1, 2]
    common.collect(files, tmp_path / "all.parquet")
    results = common.read_results(tmp_path / "all.parquet")
    assert results["status"].tolist() == ["ok", "failed", "ok"]
    assert results["message"][1] == "ValueError: split is bad"
    again = Recorder()
    common.run_cells(CELLS, again, lambda cell: {"split": cell.split}, tmp_path)
    assert again.ran == [1]


def test_a_killed_run_loses_one_cell_at_most(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        common.run_cells(CELLS, Recorder(1, KeyboardInterrupt), lambda cell: {}, tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == [CELLS[0].file(tmp_path).name]
    rest = Recorder()
    common.run_cells(CELLS, rest, lambda cell: {}, tmp_path)
    assert rest.ran == [1, 2]


def test_progress_rises_to_one_and_carries_the_breakpoints(tmp_path):
    said = []
    common.run_cells(CELLS, Recorder(), lambda cell: {}, tmp_path, lambda *a: said.append(a))
    done = [share for _, share, _ in said]
    assert done == sorted(done)
    assert done[-1] == 1.0
    assert ("split 0", 0.5 / 3, 7) in said


def test_nothing_to_collect_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="no cells"):
        common.collect([], tmp_path / "all.parquet")


# ---------------------------------------------------------------- timing


def test_methods_take_turns_and_slow_ones_run_less_often():
    calls = {"fast": lambda: Timing(0.1, 0.1, None), "slow": lambda: Timing(9.0, 9.0, None)}
    order = [
        (key, repeat)
        for key, repeat, _ in common.interleaved(calls, lambda key, s: 1 if s > 1 else 3)
    ]
    assert order == [("fast", 0), ("slow", 0), ("fast", 1), ("fast", 2)]


def test_a_short_call_is_averaged_over_many():
    count = 0

    def call():
        nonlocal count
        count += 1
        time.sleep(0.001)

    timing = common.stopwatch(call, shortest_s=0.02)
    assert count >= 5
    assert 0.0005 < timing.wall_s < 0.02
    assert timing.cpu_s < timing.wall_s


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


def test_signs_traced_through_crossings_equal_the_decision_function():
    part = experiment.prepare(
        "two_moons", 1, {"sizes": [0.6, 0.2, 0.2], "preparation": "raw"}, offline=True
    )
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
    assert outputs.wrong_way(np.array(value), sign) == (count, pytest.approx(largest))


# ---------------------------------------------------------------- what is run


def test_every_suite_of_the_repository_has_distinct_cells_in_both_lanes():
    config = {}
    for name in ("config", "quantile_svm"):
        config |= yaml.safe_load((ROOT / f"config/{name}.yaml").read_text())
    for suite in config["suites"]:
        cells = experiment.cells(config, suite)
        assert len({cell.id for cell in cells}) == len(cells) > 0
        assert {cell.lane for cell in cells} == {"accuracy", "timing"}
        assert {cell.experiment for cell in cells} <= set(experiment.RUNNERS)


def test_kinks_has_a_cell_for_each_size_and_keeps_the_papers_sizes_elsewhere():
    cells = experiment.cells(small_config(), "tiny")
    assert [c.settings["sizes"] for c in cells if c.experiment == "kinks" and c.split == 0] == [
        [60, 0, 0],
        [120, 0, 0],
    ]
    assert all(c.settings["sizes"] == [0.6, 0.2, 0.2] for c in cells if c.experiment != "kinks")


def test_a_data_set_with_fewer_splits_has_no_cells_beyond_them():
    config = small_config()
    config["quantile_svm"]["datasets"]["two_moons"]["splits"] = 1
    splits = {c.split for c in experiment.cells(config, "tiny") if c.dataset == "two_moons"}
    assert splits == {0}


def test_parts_are_disjoint_stratified_and_seeded():
    settings = {"sizes": [0.6, 0.2, 0.2], "preparation": "minus_one_one"}
    one, again = (experiment.prepare("breast_cancer", 0, settings, True) for _ in range(2))
    other = experiment.prepare("breast_cancer", 1, settings, True)
    np.testing.assert_array_equal(one.train.X, again.train.X)
    assert not np.array_equal(one.train.y, other.train.y)
    assert [len(p.y) for p in (one.train, one.validation, one.test)] == [341, 114, 114]
    shares = [np.mean(p.y > 0) for p in (one.train, one.validation, one.test)]
    assert np.ptp(shares) < 0.02
    assert one.train.X.min() == -1.0
    assert one.train.X.max() == 1.0


def test_data_that_are_not_at_hand_are_a_row_and_no_crash(tmp_path, monkeypatch):
    monkeypatch.setenv("SOLUTION_PATHS_MIRROR", str(tmp_path))
    config = small_config()
    config["quantile_svm"]["datasets"]["gisette"] = {
        "lam": 0.1,
        "sizes": [0.6, 0.2, 0.2],
        "preparation": "raw",
    }
    chunk = {"experiment": "path", "dataset": "gisette", "splits": [0]}
    (file,) = experiment.run_chunk(config, "tiny", chunk, tmp_path / "cells")
    rows = common.read_results(file)
    assert rows["status"].tolist() == ["not available"]
    assert "gisette" in rows["message"][0]
    assert not common.finished(file)


# ---------------------------------------------------------------- the experiment itself


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    folder, results = shared_suite(tmp_path_factory)
    return folder / "quantile_svm", results


def pick(results, **wanted):
    for column, value in wanted.items():
        results = results[results[column] == value]
    return results


def test_nothing_fails_and_every_path_is_certified(suite):
    _, results = suite
    assert not len(results[results["status"] == "failed"])
    held = pick(results, metric="certificate")
    assert len(held) == 4 + 4 + 1 + 1 + 4 + 2
    assert (held["value"] == 1.0).all()
    assert (held["kkt"] <= 1e-7).all()
    assert (held["gap"] <= 1e-9).all()


def test_objectives_agree_with_the_oracle(suite):
    _, results = suite
    differences = pick(results, metric="objective_difference")["value"]
    assert len(differences) == 4
    assert (differences <= 1e-8).all()


def test_every_repeat_is_a_row_beside_the_accuracy_it_reached(suite):
    _, results = suite
    times = pick(results, experiment="timing", metric="time")
    counts = times.groupby("method").size().to_dict()
    names = ("recover", "recover_w", "liblinear", "lbfgsb", "cvxpy")
    skipped = times[times["status"] == "not available"]["method"].unique()
    assert counts == {"path": 2, **dict.fromkeys(names, 3 * 2)}
    assert (times[times["method"] != "path"].dropna(subset=["value"])["gap"].abs() < 0.2).all()
    assert (times[times["method"] == "recover"]["gap"].abs() < 1e-9).all()
    assert (times[~times["method"].isin(skipped)]["cpu_s"] >= 0).all()


def test_the_exact_steps_were_checked_and_end_where_they_should(suite):
    _, results = suite
    assert (pick(results, metric="step_errors")["value"] == 0).all()
    tpr, tnr = (outputs.steps(results, "breast_cancer", 0)[r] for r in ("tpr", "tnr"))
    assert tpr[1][0] > 0.9 > 0.2 > tpr[1][-1]
    assert tnr[1][0] < 0.2 < 0.9 < tnr[1][-1]


def test_probabilities_are_scored_for_every_method(suite):
    _, results = suite
    scores = pick(results, experiment="probability", metric="brier")
    assert set(scores["method"]) == {"path", "platt", "isotonic"}
    assert scores["value"].between(0.0, 0.25).all()  # better than guessing one half
    bins = pick(results, metric="reliability", method="platt", split=0)
    assert sum(h["count"] for h in bins["hyper"]) == 40


def test_finished_cells_are_not_run_again(suite):
    folder, _ = suite
    before = {p: p.stat().st_mtime_ns for p in (folder / "cells").iterdir()}
    chunk = {"experiment": "path", "dataset": "two_moons", "splits": [0, 1]}
    experiment.run_chunk(small_config(), "tiny", chunk, folder / "cells")
    assert {p: p.stat().st_mtime_ns for p in (folder / "cells").iterdir()} == before


def test_claims_are_checked_and_can_fail(suite):
    _, results = suite
    claims = outputs.claims(results)
    bound = claims[claims["claim"].str.contains("n log n")]
    assert len(bound) == 3
    assert (bound["verdict"] == "supported").all()
    worse = results.copy()
    worse.loc[worse["metric"] == "kinks", "value"] *= 100
    bound = outputs.claims(worse).loc[lambda c: c["claim"].str.contains("n log n")]
    assert (bound["verdict"] == "not supported").all()
    turned = results.copy()
    rising = turned["metric"] == "step_tpr"
    turned.loc[rising, "value"] = 1.0 - turned.loc[rising, "value"]
    falls = outputs.claims(turned).loc[lambda c: c["claim"].str.startswith("TPR falls")]
    assert (falls["verdict"] == "not supported").all()


def test_the_kink_count_is_one_number_for_each_split(suite):
    _, results = suite
    assert len(outputs.kinks_by_split(results, "two_moons")) == 2


def test_best_lam_goes_to_the_largest_when_tied(suite):
    _, results = suite
    tie = results.copy()
    tie.loc[tie["metric"] == "validation_accuracy", "value"] = 0.8
    best, tied, _ = outputs.chosen_lam(tie, "two_moons")
    assert best == 0.1
    assert tied == [0.01, 0.1]


def test_ties_up_to_rounding_are_one_kink_and_crowded_kinks_are_many():
    class Fixed:
        breakpoints = np.array([0.0, 1e-9, 2e-9, 0.3, 0.3 + 1e-14, 0.7, 1.0])

    assert experiment.n_kinks(Fixed()) == 4
