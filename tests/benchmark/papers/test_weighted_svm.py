"""The weighted SVM experiments on small real runs, and their outputs on made-up ones."""

import dataclasses
import json
import re
from difflib import SequenceMatcher
from itertools import pairwise, product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from helpers.papers import repository_config
from helpers.small_runs import assert_known, small_run
from path_benchmark.data.protocols import Part
from path_benchmark.objectives import Tube, judge
from path_benchmark.papers.weighted_svm import experiments as experiment
from path_benchmark.papers.weighted_svm import experiments as weighted
from path_benchmark.papers.weighted_svm import outputs
from path_benchmark.papers.weighted_svm.experiments import (
    PAPER,
    Common,
    Method,
    PathAndSmo,
    Solver,
    Task,
    Timed,
)
from path_benchmark.reporting.check import check
from path_benchmark.reporting.claims import made_claims
from path_benchmark.reporting.study import make_study
from path_benchmark.reporting.verdicts import claims_frame
from path_benchmark.runs.rows import CURVES, SCHEMA, Rows, read_results
from path_benchmark.runs.timing import Timing
from path_benchmark.solvers import Answer, smo
from solution_paths.kernels import Kernel
from solution_paths.solution import follow
from solution_paths.verify.verdict import Certificate

pytestmark = pytest.mark.slow

COMMON = Common(gamma=1.0, diagonal=1e-6)
TIMED = Timed(
    costs=(1.0,), repeats=1, limit_s=10.0, solvers=(Solver(tolerance=1e-3, seeding="clip"),)
)


OTHERS = ("validation", "explore", "growth", "regions")


def config() -> dict:
    """Return the repository's configuration, its quick suite made smaller still."""
    whole = repository_config() | {"offline": True}
    paper = whole["papers"]["weighted_svm"]
    sizes = {
        "gaussian_classes": {"n": 60, "n_new": 10},
        "breast_cancer": {"n_train": 80, "n_test": 60},
        "drlad_simulation": {"n": 50},
    }
    for name, own in sizes.items():
        paper["datasets"][name].update(own)
    less = {"splits": 1, "costs": [1.0, 10.0], "repeats": 2, "limit_s": 5.0}
    quick = paper["suites"]["quick"]
    quick["regions"]["lines"] = 41
    for name, what in quick.items():
        what.update({"splits": 1} if name in OTHERS else less)
    quick["shift"]["grid"] = 7
    quick["regression"]["rounds"] = 4
    return whole


def small_study(folder):
    return small_run(PAPER, config(), folder)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return small_study(tmp_path_factory.mktemp("weighted"))


def test_every_number_is_known(study):
    assert_known(study, "weighted_svm")


@pytest.fixture(scope="module")
def results(study):
    return study.results


def pick(frame, **wanted):
    for column, value in wanted.items():
        frame = frame[frame[column] == value]
    return frame


def task_of(n=40, seed=1, epsilon=None):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3))
    y = X[:, 0] + 0.2 * rng.normal(size=n)
    return Task(Part(X, y if epsilon else np.where(y > 0.5, 1.0, -1.0)), COMMON, epsilon)


# ---------------------------------------------------------------- critical regions


def test_events_of_a_path_in_two_weights_lie_on_the_borders_of_regions(study):
    border, path = (study.curve(name, experiment="regions") for name in ("border", "path"))
    cost = float(study.settings["regions"].costs[0])
    assert path[["x", "y"]].iloc[0].tolist() == pytest.approx([0.25 * cost, 0.1 * cost])
    assert path[["x", "y"]].iloc[-1].tolist() == pytest.approx([1.75 * cost, 1.9 * cost])
    assert border[["x", "y"]].min().min() >= 0.0
    assert border[["x", "y"]].max().max() <= 2.0 * cost
    spacing = 2.0 * cost / (study.settings["regions"].lines - 1)
    events = path.iloc[1:-1]
    assert len(events) >= 5
    for event in events.itertuples():
        nearest = np.hypot(border["x"] - event.x, border["y"] - event.y).min()
        assert nearest <= spacing


def test_schematics_are_drawn_where_their_experiments_ran(study):
    regions, weights = outputs.figure_1(study), outputs.figure_2(study)
    ax = regions.axes[0]
    drawn = {line.get_label(): line.get_xydata() for line in ax.lines}
    assert len(drawn["event"]) == len(drawn["path from old to new weights"]) - 2
    before, after = (line.get_ydata() for line in weights.axes[1].lines)
    n = outputs.SCHEMATIC
    assert before[-1] == after[0] == 0.0
    np.testing.assert_allclose(before[:n], after[1:])  # the weights move on by one instance
    without = dataclasses.replace(study, results=study.results[:0], curves=study.curves[:0])
    assert outputs.figure_1(without) is None
    assert outputs.figure_2(without) is None


# ---------------------------------------------------------------- what is run


def test_every_suite_has_distinct_cells():
    settings = config()
    for suite in settings["suites"]:
        runs = settings["papers"]["weighted_svm"]["suites"][suite]
        assert set(runs) == set(PAPER.experiments)
        cells = [
            cell
            for name, run in runs.items()
            for dataset in run["datasets"]
            for cell in PAPER.cells(settings, suite, name, dataset, range(run["splits"]))
        ]
        assert len({cell.id for cell in cells}) == len(cells) > 0
    online = [cell.value for cell in cells if cell.experiment == "online" and cell.split == 0]
    assert online == [10.0**k for k in range(5)]


def test_the_papers_tasks_are_the_24_of_the_data_layer():
    from path_benchmark.papers.weighted_svm.data import SHIFT_TASKS

    paper = config()["papers"]["weighted_svm"]
    assert paper["suites"]["paper"]["shift"]["datasets"] == list(SHIFT_TASKS)
    sources = paper["datasets"]
    assert all(sources[k]["sources"] == [task.dataset] for k, task in SHIFT_TASKS.items())


# ---------------------------------------------------------------- weights


def test_series_weights_are_the_papers_and_slide():
    weights = experiment.series_weights(4, 6, 1, 10.0, 3.0)
    expected = [10 * 2 / (1 + np.exp(3 - 6 * i / 4)) for i in (1, 2, 3, 4)]
    np.testing.assert_allclose(weights, [0.0, *expected, 0.0], rtol=1e-14)
    assert (np.diff(weights[1:5]) > 0).all()


def test_residual_weights_are_guarded_and_changes_are_relative():
    residual = np.array([3.0, -4.0, 0.0, 5.0])
    sigma = np.sqrt(50 / 4)
    weights = experiment.reweighted(residual, 2.0, 1e-3)
    np.testing.assert_allclose(weights, [2 * sigma / 3, 2 * sigma / 4, 2e3, 2 * sigma / 5])
    change = experiment.relative_change(residual, residual * 1.1, 1e-3)
    assert change == pytest.approx(0.1 * 3 / 4)


# ---------------------------------------------------------------- one problem, two solvers


@pytest.mark.parametrize("epsilon", [None, 0.1])
def test_path_and_smo_reach_the_same_solutions_through_the_same_weights(epsilon):
    task = task_of(epsilon=epsilon)
    rng = np.random.default_rng(0)
    weights = [rng.uniform(0.5, 3.0, task.n) for _ in range(4)]
    weights[2][:5] = 0.0
    base = task.base(weights[0])
    start = base.dual(1.0)
    ours = experiment.follow_path(task, base, weights, clear_cache=True).result
    assert ours.kernel_cpu_s > 0
    for clear in (True, False):
        method = Method("smo", 1e-9, "follow")
        theirs = experiment.follow_smo(task, start, weights, method, 30.0, clear).result
        assert (theirs.done, theirs.wanted, theirs.censored) == (3, 3, False)
        for path, (at, alpha, b) in zip(ours.paths, theirs.answers, strict=True):
            one, two = task.judge(at, path.dual(1.0), path.intercept(1.0)), task.judge(at, alpha, b)
            assert one.gap < 1e-9
            assert one.kkt < 1e-7
            assert two.primal == pytest.approx(one.primal, rel=1e-7)


@pytest.mark.parametrize("epsilon", [None, 0.1])
def test_kernel_columns_are_those_of_the_rows_that_carry_the_path(epsilon, monkeypatch):
    task, computed, added = task_of(epsilon=epsilon), [], 0
    rng = np.random.default_rng(0)
    weights = [rng.uniform(0.5, 3.0, task.n) for _ in range(4)]
    kernel = Task.kernel
    monkeypatch.setattr(Task, "kernel", lambda self, X: computed.append(len(X)) or kernel(self, X))
    run = experiment.follow_path(task, task.base(weights[0]), weights, clear_cache=True).result
    for (old, new), path, count in zip(pairwise(weights), run.paths, computed, strict=True):
        fine = np.linspace(0.0, 1.0, 2001)
        duals = np.abs(path.dual(np.union1d(fine, path.breakpoints)))
        assert count == np.count_nonzero(duals.max(axis=1)) < task.n
        for low, high in pairwise(path.breakpoints):
            at = low + 0.3 * (high - low)
            dual, most = np.abs(path.dual(at)), old + at * (new - old)
            added += 1 + np.count_nonzero((dual > 1e-9 * most) & (dual < (1 - 1e-9) * most))
    assert len(computed) == 3
    assert run.columns == added > 0


def test_a_base_says_whether_what_follows_is_checked(monkeypatch):
    judged, checked = [], follow._checked
    monkeypatch.setattr(follow, "_checked", lambda *a: judged.append(a[1]) or checked(*a))
    task = task_of()
    weights = [np.full(task.n, float(k)) for k in (1, 2, 3)]
    for asked, times in (("ignore", 0), ("warn", 3)):
        experiment.follow_path(task, task.base(weights[0], asked), weights)
        assert judged == ["warn"] * times


def test_a_sequence_that_runs_out_of_time_is_censored_and_says_how_far_it_came(monkeypatch):
    task = task_of()
    weights = [np.full(task.n, 1.0 + k) for k in range(6)]
    start, calls = task.base(weights[0]).dual(1.0), []
    solve = Task.solve

    def slow(self, machine, at, **options):
        calls.append(options["time_limit"])
        found = solve(self, machine, at, **options)
        if len(calls) < 3:
            return found
        watch["wall"] = 100.0
        return dataclasses.replace(found, status="inaccurate")

    watch = {"wall": 1.0}

    class Watch:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.cpu_s = self.wall_s = watch["wall"]

    monkeypatch.setattr(experiment, "Stopwatch", Watch)
    monkeypatch.setattr(Task, "solve", slow)
    rows = Rows(suite="s", hyper_parameters={"C0": 1.0})
    contest = PathAndSmo(task, TIMED, start, rows, lambda done: None)
    timing = experiment.follow_smo(task, start, weights, Method("smo", 1e-3, "clip"), 10.0)
    assert calls == [10.0, 9.0, 8.0]
    contest.weights["smo"] = weights
    contest.enter_smo("smo")
    contest.record(contest.entrants[0], 0, timing)
    (row,) = rows.rows
    assert row["status"] == "censored"
    assert row["message"] == "stopped after 2 of 5 solves in 102 s"
    assert row["value"] == 102.0


def test_the_judge_of_regressions_accepts_the_optimum_only():
    task = task_of(epsilon=0.1)
    weights = np.full(task.n, 2.0)
    found = task.solve(task.machine(), weights, tol=1e-10)
    kind = {"kernel": Kernel("precomputed"), "diagonal": task.diagonal, "epsilon0": 0.1}
    problem = Tube(task.gram, task.y, cost0=weights, **kind)
    assert judge(problem, Answer(alpha=found.alpha, b=found.b)).ok(1e-9, 1e-7)
    error = task.y - problem.gram() @ found.alpha - found.b
    primal = 0.5 * found.alpha @ problem.gram() @ found.alpha
    primal += 2.0 * np.maximum(np.abs(error) - 0.1, 0.0).sum()
    verdict = judge(problem, Answer(alpha=found.alpha, b=found.b))
    assert verdict.primal == pytest.approx(primal, rel=1e-13)
    assert verdict.dual == pytest.approx(-found.objective, rel=1e-9)
    inside = int(np.argmin(np.abs(np.abs(found.alpha) - 1.0)))
    wrong = found.alpha.copy()
    wrong[inside] *= 0.9
    assert not judge(problem, Answer(alpha=wrong, b=found.b)).ok(1e-9, 1e-7)
    assert not judge(problem, Answer(alpha=found.alpha, b=found.b + 0.01)).ok(1e-9, 1e-7)
    assert not judge(problem, Answer(alpha=found.alpha * 1.2, b=found.b)).ok(1e-2, 1e-2)
    assert np.isnan(judge(problem, Answer(alpha=found.alpha[1:], b=found.b)).gap)


def test_brute_force_finds_a_step_that_is_wrong():
    task = task_of(60)
    path = task.path(np.ones(60), np.random.default_rng(3).uniform(0.0, 20.0, 60))
    part = Part(np.random.default_rng(4).random((80, 3)), np.sign(task_of(80, 5).y))
    curve = path.error_curve(part.X, part.y)
    edges, error = curve.edges, curve.left
    assert len(error) > 1
    least = path.best(part.X, part.y).value
    assert experiment.brute_force_errors(task, path, part, edges, error, least)[1] == 0
    moved = error.copy()
    moved[len(error) // 2] += 1 / 80
    assert experiment.brute_force_errors(task, path, part, edges, moved, least)[1] > 0
    assert experiment.brute_force_errors(task, path, part, edges, error, least + 1 / 80)[1] > 0


# ---------------------------------------------------------------- the experiments themselves


def test_nothing_fails_and_every_path_is_certified(results):
    assert results["status"].unique().tolist() == ["ok"]
    assert check(results) == []
    held = pick(results, metric="certificate")
    counts = held.groupby("experiment").size().to_dict()
    assert counts["online"] == 3 * 2 * 5
    assert counts["shift"] == 3 * 2
    assert counts["validation"] == 1
    assert (held["value"] == 1.0).all()
    assert (pick(results, metric="objective_difference")["value"] <= 1e-8).all()
    assert (pick(results, metric="step_errors")["value"] == 0).all()


def test_every_repeat_is_a_row_beside_the_accuracy_it_reached(results):
    times = pick(results, metric="time")
    for name, methods in {
        "online": {
            "path": 4,
            "path_checked": 4,
            "path_given": 4,
            "smo": 16,
            "smo_given": 16,
        },
        "regression": {"path": 4, "path_checked": 4, "smo": 16},
        "shift": {
            "path": 4,
            "path_checked": 4,
            "path_whole": 4,
            "smo_breakpoints": 16,
            "smo_grid": 16,
            "smo_end": 16,
            "smo_cold": 8,
        },
    }.items():
        assert pick(times, experiment=name).groupby("method").size().to_dict() == methods
    first = times[(times["repeat"] == 0) & times["method"].str.startswith("smo")]
    tolerance = outputs.hyper(first, "tolerance").astype(float)
    assert (first["kkt"] <= 2 * tolerance).all()
    solves = outputs.hyper(pick(times, method="smo_grid"), "solves")
    assert (solves == 7).all()


def test_outputs_are_written_from_results_alone(study, tmp_path, monkeypatch):
    monkeypatch.setattr(outputs.fig, "FORMATS", ("png",))
    outputs.OUTPUTS.write(study, tmp_path)
    tables = {path.stem for path in (tmp_path / "tables").glob("*.md")}
    assert tables == {
        "table_3_by_cost",
        "table_3_online",
        "table_4_by_cost",
        "table_4_shift",
        "table_4_tasks",
        "table_5_validation",
        "table_6_by_cost",
        "table_6_regression",
        "table_growth",
        "table_certificates",
    }
    drawn = {path.stem for path in (tmp_path / "figures").glob("*.png")}
    made = [*outputs.OUTPUTS.tables_file.figures, *outputs.OUTPUTS.tables_file.explorers]
    assert drawn == {one.name for one in made}
    found = pd.read_csv(tmp_path / "claims.csv")
    # All of its data are stand-ins, and its rounds are cut short.
    papers = found["source"] == "paper"
    assert papers.sum() > 10
    assert (found.loc[papers, "verdict"] == "not tested here").all()
    about = found["claim"].str.contains("exact step function")
    assert found.loc[about, "evidence"].str.contains("there: supported").all()
    assert not found.duplicated(["claim", "dataset", "where"]).any()
    said = " ".join(json.loads((tmp_path / "outputs.json").read_text())["assumptions"])
    assert "stopped after 5 s" in said
    assert "at most 4 rounds" in said


def test_the_figures_steps_are_those_of_the_path(study):
    v = outputs.validations(study).iloc[0]
    theta, error = outputs.steps(study, v["dataset"], 0, v["C0"])
    assert theta[0] == 0.0
    assert error.min() == v["least"]
    for low, high in v["intervals"]:
        inner = error[np.searchsorted(theta, 0.5 * (low + high), side="right") - 1]
        assert inner == v["least"]


# ---------------------------------------------------------------- verdicts on made-up results


DATASETS = ["bci_shift_1", *(f"musk_shift_{k}" for k in (1, 2, 3)), "abalone_shift_1"]


def made_up(
    path=1.0, rival=50.0, status="ok", path_status="ok", costs=(1.0, 1e4), grow=1.0, runs=5
):
    """Results of some shift tasks whose times are given."""
    shared = {"suite": "quick", "paper": "weighted_svm", "experiment": "shift", "seed": "0"}
    rows = Rows(**shared, split=0)
    for (k, cost), dataset in product(enumerate(costs), DATASETS[:runs]):
        hyper = {"C0": cost}
        rows.add(
            "time", path * grow**k, cpu_s=path * grow**k, method="path", hyper_parameters=hyper,
            repeat=0, status=path_status, dataset=dataset,
        )  # fmt: skip
        hyper = {**hyper, "tolerance": 1e-3, "seeding": "clip", "solves": 9, "solved": 4}
        for method in ("smo_breakpoints", "smo_grid", "smo_end"):
            rows.add(
                "time", rival, cpu_s=rival, method=method, hyper_parameters=hyper, repeat=0,
                status=status, dataset=dataset,
            )  # fmt: skip
    frame = pd.DataFrame(rows.rows)
    for column in SCHEMA.names:
        frame[column] = frame.get(column)
    frame["message"] = frame["message"].astype(object)
    lines = read_results(pd.DataFrame(columns=CURVES.names))
    return make_study(PAPER, repository_config(), "paper", read_results(frame), lines)


def claims_like(study, text):
    """Return the claims in which a text stands; no others are worked out."""
    own = outputs.OUTPUTS
    match = SequenceMatcher(b=text, autojunk=False)
    rows = []
    for row in own.claims_file.claims:
        match.set_seq1(row.claim)
        rows += [row] if match.find_longest_match().size >= 12 else []
    found = claims_frame(made_claims(rows, own.measures, study))
    return found[found["claim"].str.contains(text, regex=False)]


def verdict_of(study, text):
    """Return a claim's verdict; of the paper's it is that on the tasks in place of its data."""
    found = claims_like(study, text)
    assert len(found) == 1, found
    (claim,) = found.itertuples()
    if claim.source == "this project":
        return claim.verdict
    assert claim.verdict == "not tested here"
    head, outcome = re.match(r"(.*?); there: ([a-z ]+): ", claim.evidence).groups()
    assert head == "not the paper's data"
    return outcome


FASTER = "faster than SMO at every breakpoint (tolerance 10⁻³, clipped start) in all cases"
ORDERS = "orders of magnitude faster than SMO at every breakpoint"
GOAL = "at least 100 times faster than SMO at every breakpoint"


def test_a_claim_of_speed_follows_the_ratios():
    assert verdict_of(made_up(rival=50.0), FASTER) == "supported"
    assert verdict_of(made_up(rival=50.0), ORDERS) == "supported"
    assert verdict_of(made_up(rival=5.0), ORDERS) == "not supported"
    assert verdict_of(made_up(rival=0.9), FASTER) == "not supported"
    assert verdict_of(made_up(rival=50.0), GOAL) == "not supported"
    assert verdict_of(made_up(rival=101.0), GOAL) == "supported"


def test_a_lower_bound_can_support_and_never_refute():
    assert verdict_of(made_up(rival=0.9, status="censored"), FASTER) == "inconclusive"
    assert verdict_of(made_up(rival=50.0, status="censored"), ORDERS) == "supported"
    assert verdict_of(made_up(rival=5.0, status="censored"), ORDERS) == "inconclusive"
    notes = outputs._stopped(outputs.runs(made_up(status="censored"), "shift"))
    assert "5 of 5 at C₀ = 1 (after 44% or more)" in notes[0]


def test_the_time_of_a_path_without_certificate_is_in_no_ratio():
    for status, certified in (("ok", True), ("certificate failed", False)):
        made = made_up(path_status=status)
        ratios = outputs.runs(made, "shift")["times_path"]
        assert len(ratios) == 2 * 5 * 4  # costs, tasks, methods
        assert (ratios.notna() == certified).all()
        claims = outputs.OUTPUTS.all_claims(made)
        assert (claims["verdict"] == "supported").any() == certified


def test_fewer_than_three_runs_decide_nothing_about_times():
    assert verdict_of(made_up(rival=50.0, runs=2), FASTER) == "inconclusive"
    assert verdict_of(made_up(rival=0.9, runs=2), FASTER) == "inconclusive"


def test_a_method_is_compared_with_the_path_under_the_same_rules(study):
    found = outputs.runs(study, "online")
    for cost in (1.0, 10.0):
        own = found[found["C0"] == cost]
        for smo_name, path_name in (("smo", "path"), ("smo_given", "path_given")):
            (seconds,) = own[own["method"] == path_name]["cpu_s"]
            assert own[own["method"] == smo_name]["path_s"].tolist() == [seconds] * 4


def test_growth_is_told_from_none():
    text = "the path's CPU time does not increase with C₀"
    assert verdict_of(made_up(grow=1.05), text) == "supported"
    assert verdict_of(made_up(grow=2.0), text) == "not supported"
    assert verdict_of(made_up(grow=2.0), "grows less than 3 times") == "supported"
    assert verdict_of(made_up(grow=3.5), "grows less than 3 times") == "not supported"
    one = outputs.OUTPUTS.all_claims(made_up(costs=(1.0,)))
    assert not one["claim"].str.contains("grow|increase").any()


def test_a_path_that_fails_its_certificate_marks_its_times(monkeypatch):
    task, rows = task_of(), Rows()
    path = task.base(np.ones(task.n))
    bad = Certificate(0.5, np.inf, 1e-12, 0.1, 0.2, 3)
    monkeypatch.setattr(type(path), "certify", lambda self, **options: bad)
    contest = PathAndSmo(task, TIMED, np.zeros(40), rows, lambda done: None)
    contest.enter_path("path", lambda: None)
    contest.record(contest.entrants[0], 0, Timing(1.0, 1.0, experiment.PathRun([path])))
    statuses = {row["metric"]: row["status"] for row in rows.rows}
    assert statuses == {
        "certificate": "certificate failed",
        "updates": "ok",
        "columns": "ok",
        "time": "certificate failed",
    }
    told = [row["rounding"] for row in rows.rows if row["metric"] in ("certificate", "time")]
    assert told == [1e-12] * 2


def test_a_sequence_is_certified_if_every_path_of_it_is(monkeypatch):
    task = task_of()
    path = task.base(np.ones(task.n))
    good, bad = path.certify(), Certificate(0.5, np.inf, 1e-12, 0.1, 0.2, 3)
    for found in ((good, good), (good, bad), (bad, good)):
        certified = iter(found)
        monkeypatch.setattr(type(path), "certify", lambda self, c=certified, **options: next(c))
        columns = weighted.certificates(Rows(), "path", [path, path])
        expected = "certificate failed" if bad in found else "ok"
        assert columns.get("status", "ok") == expected


def test_smo_is_a_baseline():
    from path_benchmark import solvers

    assert solvers.get("smo") is smo


@pytest.mark.parametrize("status", ["solved", "inaccurate"])
def test_a_solve_that_ends_just_at_the_limit_counts_unless_it_was_cut_off(status, monkeypatch):
    """The last of three solves takes the clock beyond the limit."""
    seconds = iter([1.0, 1.0, 100.0])

    class Watch:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.cpu_s = self.wall_s = next(seconds)

    calls = []

    def solve(machine, at, **options):
        calls.append(at)
        ended = status if len(calls) == 3 else "solved"
        return SimpleNamespace(alpha=np.zeros(2), b=0.0, iterations=1, status=ended)

    monkeypatch.setattr(weighted, "Stopwatch", Watch)
    task = SimpleNamespace(machine=lambda: None, solve=solve)
    method = weighted.Method("smo", 1e-3, "clip")
    run = weighted.follow_smo(task, None, [np.ones(2)] * 4, method, 10.0).result
    assert (run.wanted, run.censored) == (3, status != "solved")
    assert run.done == (3 if status == "solved" else 2)
    assert len(run.answers) == run.done
    assert run.inaccurate == 0
