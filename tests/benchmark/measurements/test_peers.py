"""The benchmark's own tests: every peer solves what it says, the judge notices, nothing is lost."""

import importlib
import json
import sys
from dataclasses import replace

import cross_validation
import numpy as np
import pandas as pd
import problems
import pytest
import report
import run
import worker
from peers import MODULES, Run

from helpers import ROOT
from path_benchmark.solvers import Answer

# Relative gap that each peer's tolerance must give on the tiny problem.
STATED_GAP = {
    "ours": 1e-9,
    "qpoases": 1e-7,
    "daqp_grid": 1e-7,
    "svc_1e3": 1e-1,
    "svc_1e8": 1e-4,
    "svmpath_r": 1e-6,
    "liblinear_nine": 2e-2,
}


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(problems, "LARGEST_C", {"linear": 10.0, "rbf": 10.0})
    return replace(problems.gaussians(40, 3, "rbf"), gamma=1.0)


@pytest.fixture
def tiny_tau():
    return replace(problems.gaussians(40, 3), kind="tau", lam=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("peer", MODULES)
def test_a_peer_solves_or_says_why_not(peer, tiny, tiny_tau):
    module = importlib.import_module(f"peers.{peer}")
    assert module.NAME
    assert module.HOW
    refusals = [module.refuses(problem) for problem in (tiny, tiny_tau)]
    assert not all(refusals) or not module.version(), "an installed peer solves something"
    for problem, refusal in zip((tiny, tiny_tau), refusals, strict=True):
        if refusal:
            continue
        ours = importlib.import_module("peers.ours").solve(problem)
        bounds = worker.score(problem, ours, {})["bounds"]
        result, found = worker.timed(module, problem)
        scored = worker.score(problem, found, bounds)
        assert scored["gap"] <= STATED_GAP[peer]
        assert scored["n_points"] == len(found.points)
        assert 0 < result["wall_s"] <= result["whole_wall_s"]
        assert result["seconds"] > 0


def test_our_path_hands_over_its_certificate(tiny):
    found = importlib.import_module("peers.ours").solve(tiny)
    more = found.later()
    assert more["certified"]
    assert more["certificate_points"] > found.count
    assert 0 < more["recover_s"] < 1


@pytest.mark.slow
def test_the_judge_notices_a_wrong_answer(tiny):
    found = importlib.import_module("peers.ours").solve(tiny)

    def spoilt(k):
        good = found.answer(k)
        return replace(good, b=good.b + 0.1) if k == 99 else good

    assert worker.score(tiny, Run(found.points, spoilt), {})["gap"] > 1e-6
    nothing = Run(found.points[:2], lambda k: Answer(alpha=np.full(40, np.nan)))
    assert np.isnan(worker.score(tiny, nothing, {})["gap"])  # an unknown gap is never a small one


def test_heads_hold_both_classes_and_keep_the_side_of_d_less_than_n(tiny):
    wide = replace(tiny, X=np.random.default_rng(0).normal(size=(40, 90)))
    tall = problems.gaussians(500, 10)
    assert tall.head().X.shape[0] < 500
    for problem in (wide, tall):
        head = problem.head()
        assert set(head.y) == {-1.0, 1.0}
        assert (head.X.shape[1] < head.X.shape[0]) == (problem.X.shape[1] < problem.X.shape[0])


def test_stored_problems_are_what_they_are_called():
    assert np.unique(problems.build("dup200 rbf").X, axis=0).shape[0] == 100
    integers = problems.build("int200 linear").X
    assert (integers == np.round(integers)).all()
    assert (problems.build("unb200 linear").y > 0).sum() in (60, 140)
    assert problems.build("growth tau 1000").X.shape == (1000, 20)


def test_tasks_name_known_peers_and_no_problem_twice():
    names = [task.problem for task in run.tasks()]
    assert len(names) == len(set(names))
    assert {peer for task in run.tasks() for peer in task.peers} <= set(MODULES)


@pytest.fixture
def workers():
    started = {}
    yield started
    for one in started.values():
        one.stop()


@pytest.mark.slow
def test_an_overrun_is_stopped_and_its_row_says_so(workers, monkeypatch):
    task = run.Task("g1000 linear", ("svc_1e8", "svmpath_r"), 0.05, 2)
    rows = run.run_task(task, workers, say=lambda line: None)
    by_peer = {row["peer"]: row for row in rows}
    assert by_peer["svc_1e8"]["status"] == "time limit"
    assert "0.05 s" in by_peer["svc_1e8"]["message"]
    assert len(rows) == 2
    assert "svc_1e8" not in workers


def test_data_that_are_not_at_hand_are_a_row(workers, monkeypatch):
    def gone(key):
        raise FileNotFoundError("no such data")

    monkeypatch.setattr(problems, "build", gone)
    rows = run.run_task(run.Task("a8a tau", ("ours",), 1.0), workers, say=lambda line: None)
    assert rows[0]["status"] == "not available"
    assert "no such data" in rows[0]["message"]


@pytest.mark.slow
def test_an_interrupted_run_continues_and_the_report_is_written(tmp_path, monkeypatch, capsys):
    done = []

    def fake(task, workers, say):
        done.append(task.problem)
        found = {
            "seconds": 0.01,
            "wall_s": 0.01,
            "kkt": 1e-12,
            "gap": 1e-12,
            "count": 369,
            "events": 374,
        }
        found |= {"n_points": 100, "certified": True, "load": 0.5, "peak_mb": 300.0}
        rows = [run.row(task, "ours", k, **found) for k in range(5)]
        return [*rows, run.row(task, "svmpath_r", 0, "not available", "Rscript is not there")]

    monkeypatch.setattr(run, "run_task", fake)
    arguments = ["--only", "^g200 |g1000 linear", "--out", str(tmp_path)]
    assert run.main(arguments) == 0
    assert run.main(arguments) == 0
    assert done == ["g200 linear", "g200 rbf", "g1000 linear"]  # nothing twice
    file = tmp_path / "rows" / "g200-linear.json"
    content = json.loads(file.read_text())
    file.write_text(json.dumps(content | {"code": "of another version"}))
    run.main(arguments)
    assert done[3:] == ["g200 linear"]
    checks = pd.read_csv(tmp_path / "goals.csv").set_index("goal")
    assert checks.met["C-path, g1000 linear: at most 12 ms"] == "met"
    assert checks.met["events on g200 linear: 373 to 375"] == "met"
    assert checks.met["events on g200 rbf: 345 to 348"] == "not met"
    assert checks.met["C-path, g500 rbf: at most 20 ms"] == "not measured"
    page = (tmp_path / "benchmark.md").read_text()
    assert "Rscript is not there" in page
    assert (tmp_path / "benchmark.png").stat().st_size > 10_000
    assert len(pd.read_csv(tmp_path / "repeats.csv")) == 18


def _rows(problem, value, **more):
    task = run.Task(problem, ("ours",), 1.0)
    return run.row(task, "ours", 0, seconds=value, kkt=1e-12, gap=1e-12, certified=True, **more)


def test_goals_judge_growth_failures_and_missing_runs():
    sizes = [(1_000, 1e-3), (10_000, 1e-1), (100_000, 10.0)]  # breakpoints grow as n
    rows = [_rows(f"growth C {n}", s, count=n, peak_mb=900.0) for n, s in sizes]
    rows += [_rows(f"growth tau {n}", s, count=100, peak_mb=900.0) for n, s in sizes]
    task = run.Task("a8a C", ("ours",), 240.0)
    rows.append(run.row(task, "ours", 0, status="time limit", message="stopped after 240 s"))
    checks = {g.goal: g for g in report.goals(report.summarise(report._complete(rows)))}
    slope = "growth, path in {}: time for each breakpoint grows slower than n (exponent < 1)"
    assert checks[slope.format("C")].measured.startswith("1.00")
    assert checks[slope.format("C")].met == "not met"
    assert checks[slope.format("tau")].measured.startswith("2.00")
    assert checks["growth, path in C: n = 100,000 within 120 s"].met == "met"
    assert checks["a8a C: the whole path (n = 22,696) with a certificate"].met == "not met"
    assert checks["a8a tau: the whole path (n = 22,696) with a certificate"].met == "not measured"
    assert checks["every path of this run is exact (KKT <= 1e-07, gap <= 1e-09)"].met == "not met"


@pytest.mark.slow
def test_exact_cross_validation_is_compared_on_the_same_folds(monkeypatch, tmp_path):
    monkeypatch.setattr(cross_validation, "VALUES", 8)
    monkeypatch.setattr(cross_validation, "REPEATS", 1)

    def few():
        X, y = cross_validation.curved(60)()
        return X[:, :3], y

    def targets():
        X, y = few()
        return X, X[:, 0] - X[:, 1] + y

    cases = [
        cross_validation.machine("few", few, 1.0),
        cross_validation.lasso("few", targets, 1.0),
    ]
    for case in cases:
        row = cross_validation.compare(case)
        assert row["ours_error"] <= row["least_on_grid"] <= row["grid_error_at_its_value"]
        # the grid's solver has a tolerance: one label, or a few digits
        slack = 1.01 / 60 if case.scoring == "accuracy" else 1e-2 * row["grid_error"]
        assert abs(row["grid_error"] - row["grid_error_at_its_value"]) <= slack
        assert row["ours_s"] > 0
        assert row["grid_s"] > 0
    monkeypatch.setattr(cross_validation, "CASES", cases)
    cross_validation.main(tmp_path / "own" / "cross_validation.csv")
    found = pd.read_csv(tmp_path / "own" / "cross_validation.csv")
    assert found["grid_value"].tolist()[1] == row["grid_value"]
    page = (tmp_path / "own" / "cross_validation.md").read_text()
    assert [line.split(" | ")[0] for line in page.splitlines()[-2:]] == ["| few", "| few"]
    assert "medians of 3 interleaved repeats" in page


def test_make_benchmark_measures_cross_validation_too():
    text = (ROOT / "Makefile").read_text()
    target = text.partition("\nbenchmark:")[2].partition("\n\n")[0]
    for script in ("run.py", "cross_validation.py"):
        assert f"$(BIN)/python measurements/{script}\n" in f"{target}\n"


@pytest.mark.slow
def test_what_is_finished_so_far_is_found_and_the_rest_counted(tmp_path, monkeypatch, capsys):
    import so_far

    paper = so_far.get_paper("robust_svm")
    config = so_far.configuration()
    (cell,) = paper.cells(config, "quick", "dual_path", "two_moons", [0])
    files, counts = so_far.at_hand(paper, config, "quick", tmp_path)
    assert files == []
    assert counts["dual_path two_moons"] == (0, 1)
    so_far.file_of(cell, tmp_path).touch()  # half of a cell is none
    assert so_far.at_hand(paper, config, "quick", tmp_path)[0] == []
    so_far.rows_of(so_far.file_of(cell, tmp_path)).touch()
    (tmp_path / "dual_path-two_moons-000-0123456789.json").touch()  # of other settings
    files, counts = so_far.at_hand(paper, config, "quick", tmp_path)
    assert files == [so_far.file_of(cell, tmp_path)]
    assert counts["dual_path two_moons"] == (1, 1)
    assert counts["optima noisy_labels"][0] == 0
    elsewhere = tmp_path / "elsewhere"  # another folder may have it
    assert so_far.at_hand(paper, config, "quick", elsewhere, tmp_path)[0] == files
    part = list(paper.cells(config, "quick", "errors", "breast_cancer", [0]))
    for own in (so_far.file_of(cell, tmp_path) for cell in part):
        # a split with some of its cells is not shown
        assert so_far.at_hand(paper, config, "quick", tmp_path)[0] == files
        own.touch()
        so_far.rows_of(own).touch()
    shown, counts = so_far.at_hand(paper, config, "quick", tmp_path)
    assert set(shown) == {*files, *(so_far.file_of(cell, tmp_path) for cell in part)}
    there, wanted = counts["errors breast_cancer"]
    assert (there, there < wanted) == (len(part), True)
    told = so_far.unfinished({"errors breast_cancer": (there, wanted), "optima x": (0, 3)})
    assert told == [
        f"errors: breast_cancer ({there} of {wanted} cells)",
        "optima: x (0 of 3 cells)",
    ]
    places = ["--results", str(tmp_path / "results"), "--reference", str(tmp_path / "none")]
    monkeypatch.setattr(sys, "argv", ["so_far.py", "robust_svm", *places])
    so_far.main()
    assert "robust_svm: nothing is finished in " in capsys.readouterr().out
    places[-1] = str(so_far.ROOT / config["reference"])  # what is kept in git counts as finished
    monkeypatch.setattr(sys, "argv", ["so_far.py", "survey", *places])
    so_far.main()
    said = capsys.readouterr().out
    assert "cells of survey were taken from" in said
    assert (tmp_path / "results" / "so_far" / "survey" / "outputs.json").exists()
    monkeypatch.setattr(sys, "argv", ["so_far.py", "robust"])
    with pytest.raises(SystemExit):
        so_far.main()
    assert "no paper is called robust" in capsys.readouterr().err
