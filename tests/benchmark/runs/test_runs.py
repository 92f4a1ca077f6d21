"""What is run again, which of several candidates is chosen, and whose seconds are counted."""

import dataclasses
import time
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from path_benchmark.data.protocols import Part
from path_benchmark.papers.distributionally_robust import tuning as tune
from path_benchmark.papers.distributionally_robust.experiments import chapter_3
from path_benchmark.papers.quantile_svm import experiments as quantile
from path_benchmark.papers.robust_svm import experiments as robust
from path_benchmark.papers.weighted_svm import experiments as weighted
from path_benchmark.runs import cells, exploring, judging
from path_benchmark.runs.paper import Paper
from path_benchmark.runs.rows import Rows, or_none
from path_benchmark.runs.timing import stopwatch
from path_benchmark.settings import Positive, Settings
from path_benchmark.solvers import Stopwatch
from solution_paths import lasso_path, quantile_svm_path, svm_path

# -- cells ------------------------------------------------------------------------------------


class Shared(Settings):
    factor: Positive = 1.0


@pytest.mark.parametrize("part", ["common", "settings"])
def test_a_changed_setting_is_another_cell_also_where_all_experiments_share_it(part):
    base = cells.Cell("s", "p", "e", "d", 0, Shared(), cells.DataSetSettings(), Shared())
    other = dataclasses.replace(base, **{part: Shared(factor=2.0)})
    assert other.id != base.id
    assert dataclasses.replace(base, **{part: Shared(factor=1.0)}).id == base.id


def test_another_version_of_an_experiment_has_other_cells_and_the_first_one_its_old_ones():
    def cell(version):
        paper = Paper("made_up", Shared)

        @paper.experiment(settings=Shared, version=version)
        def count(cell, rows, report):
            """Do nothing."""

        content = {
            "title": "A",
            "citation": "B",
            "settings": {"factor": 1.0},
            "datasets": {"iris": {}},
            "experiments": {"count": {"factor": 1.0}},
            "suites": {"quick": {"count": {"datasets": ["iris"], "splits": 1}}},
        }
        config = {"papers": {"made_up": content}}
        (own,) = paper.cells(config, "quick", "count", "iris", [0])
        return own

    assert len({cell(version).id for version in (0, 1, 2)}) == 3
    assert "version" not in cell(0).identity


def test_a_changed_setting_is_another_job_also_where_all_experiments_share_it():
    """What the workflow lists as to be run again is what has another name."""
    paper = Paper("made_up", Shared)

    @paper.experiment(settings=Shared)
    def count(cell, rows, report):
        """Do nothing."""

    def name(common=1.0, base=1.0, override=1.0, **of_data):
        run = {"datasets": ["iris"], "splits": 1, "factor": override}
        content = {
            "title": "A",
            "citation": "B",
            "settings": {"factor": common},
            "datasets": {"iris": of_data},
            "experiments": {"count": {"factor": base}},
            "suites": {"quick": {"count": run}},
        }
        (job,) = paper.jobs({"papers": {"made_up": content}}, "quick")
        return job.file("results")

    changed = [name(common=2.0), name(override=2.0), name(sources=["heart"])]
    assert len({name(), *changed}) == 4
    assert name(place="Table 1") == name()  # decides no number
    assert name(base=2.0) == name()  # which the suite says otherwise


STATUSES = ("failed", "not available", "certificate failed", "certificate undecided")


@pytest.mark.parametrize("status", ["ok", "not applicable", "censored", *STATUSES])
def test_a_cell_with_a_failure_of_any_kind_is_run_again(status, tmp_path):
    """One such row among others is enough; what could never be otherwise is finished."""
    cell = cells.Cell("s", "p", "e", "d", 0, Settings(), cells.DataSetSettings(), Settings())
    rows = cell.rows(method="path")
    rows.add("value", 1.0)
    rows.add("value", None, status=status)
    file = cells.file_of(cell, tmp_path)
    assert not cells.finished(file)
    cells.write_cell(file, cell.identity, rows)
    assert cells.finished(file) == (status not in STATUSES)


@pytest.mark.parametrize(("own", "asked", "run"), [(2, 5, 2), (5, 2, 2), (None, 3, 3)])
def test_no_more_splits_are_run_than_a_suite_asks_for_or_a_data_set_has(own, asked, run):
    paper = Paper("made_up")

    @paper.experiment()
    def count(cell, rows, report):
        """Do nothing."""

    entry = {} if own is None else {"splits": own}
    content = {
        "title": "A",
        "citation": "B",
        "datasets": {"iris": entry},
        "experiments": {"count": None},
        "suites": {"quick": {"count": {"datasets": ["iris"], "splits": asked}}},
    }
    (job,) = paper.jobs({"papers": {"made_up": content}}, "quick")
    assert (job.first, job.last) == (0, run - 1)
    content["suites"]["quick"]["count"]["splits_per_job"] = 2
    jobs = paper.jobs({"papers": {"made_up": content}}, "quick")
    assert [k for job in jobs for k in range(job.first, job.last + 1)] == list(range(run))
    assert max(job.last - job.first for job in jobs) <= 1


@pytest.mark.parametrize("value", [None, np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_written_as_none(value):
    assert or_none(value) is None
    assert or_none(np.float32(0.5)) == 0.5


# -- clocks -----------------------------------------------------------------------------------


def test_cpu_seconds_are_not_those_of_the_wall():
    with Stopwatch() as asleep:
        time.sleep(0.1)
    assert asleep.wall_s >= 0.1
    assert asleep.cpu_s < 0.5 * asleep.wall_s
    timing = stopwatch(lambda: time.sleep(0.002), shortest_s=0.01)  # the mean of several
    assert 0.002 <= timing.wall_s < 0.01


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


# -- choices ----------------------------------------------------------------------------------


def chosen(tried):
    """Return metric -> value of what the robust paper's rule chooses."""
    rows = Rows()
    tried = [(C, *map(np.array, parts)) for C, *parts in tried]
    robust._add_choice(rows, "op_theta", tried)
    return {row["metric"]: row["value"] for row in rows.rows}


def test_ties_go_to_the_smaller_cost_then_to_the_least_robust_parameter():
    theta = [1.0, 0.5, 0.0]
    found = chosen(
        [
            (0.1, theta, [0.3, 0.2, 0.2], [0.31, 0.21, 0.22]),
            (1.0, theta, [0.2, 0.2, 0.3], [0.01, 0.02, 0.03]),
        ]
    )
    assert (found["chosen_C"], found["chosen_parameter"]) == (0.1, 0.5)
    assert (found["validation_error"], found["test_error"]) == (0.2, 0.21)
    assert found["regret"] == pytest.approx(0.2)  # beside the least test error of all candidates
    # of classification's s, which is negative, the least robust is farthest from 0
    assert chosen([(1.0, [-2.0, -1.0, 0.0], [0.1] * 3, [0.5, 0.6, 0.7])])["test_error"] == 0.5
    better = chosen([(0.1, theta, [0.3] * 3, [0.1] * 3), (1.0, theta, [0.4, 0.29, 0.3], [0.6] * 3)])
    assert (better["chosen_C"], better["chosen_parameter"]) == (1.0, 0.5)
    # the standard machine has no parameter
    assert "chosen_parameter" not in chosen([(1.0, [np.inf], [0.1], [0.2])])


def test_a_local_solutions_ratio_is_ours_to_theirs():
    """Less than zero where the path's solution is the better one."""
    objective = SimpleNamespace(energy=lambda values, a, t: float(a.sum()))
    path = SimpleNamespace(range=(0.0, 1.0))
    moving = SimpleNamespace(at=lambda t: objective)
    problem = SimpleNamespace(predicted=lambda a, part: a, objective=lambda C, homotopy: moving)
    theirs = SimpleNamespace(parameters=[1.0, 0.5, 2.0], duals=np.array([[4.0, 2.0, 1.0]]))
    rows = Rows()
    hyper, ours = {"C": 1.0, "homotopy": "theta"}, np.array([[3.0, 2.5, 1.0]])
    robust._add_local_solutions(rows, problem, path, theirs, ours, hyper)
    assert [row["value"] for row in rows.rows] == [3.0 / 4.0 - 1.0, 2.5 / 2.0 - 1.0]


def test_a_decision_of_zero_stands_for_the_positive_class_rounding_included():
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    for f in (0.0, 1e-9, -1e-9):
        assert tune.balanced_loss(y, np.full(4, f)) == 0.5
        assert tune.balanced_loss(np.ones(2), np.full(2, f)) == 0.0
        assert tune.balanced_loss(-np.ones(2), np.full(2, f)) == 1.0
    assert tune.balanced_loss(y, np.array([-1.0, 1.0, 1.0, 1.0])) == 0.25
    assert tune.balanced_loss(y, np.array([-1.0, -1.0, 1.0, -1e-7])) == 0.25


def test_the_point_of_least_loss_is_the_first_of_those_that_tie():
    lines = [tune.Line({"lam2": v}, "s", np.array([3.0, 2.0])) for v in (0.1, 0.2)]
    losses = [np.array([0.5, 0.4]), np.array([0.4 * (1 - 1e-7), 0.4])]
    assert tune.chosen(losses, lines) == tune.Choice(0, 2.0, 0.4)
    losses[1][0] = 0.4 * (1 - 1e-5)
    assert tune.chosen(losses, lines)[:2] == (1, 3.0)
    losses[1][0] = np.nan
    assert tune.chosen(losses, lines)[:2] == (0, 2.0)


def test_a_call_that_fails_leaves_its_own_point_without_a_loss_and_no_other(monkeypatch):
    lines = [tune.Line({"lam2": v}, "s", np.array([3.0, 2.0])) for v in (0.1, 0.2)]

    def points_of(name, model, lines, X, y):
        for j, k in ((0, 0), (0, 1), (1, 0), (1, 1)):
            failed = (j, k, y[0]) == (0, 1, 1.0)  # once, in the first fold
            answer = SimpleNamespace(solved=not failed, found=None if failed else j + k)
            programme = SimpleNamespace(decision=lambda found, X: found)
            yield {}, j, k, SimpleNamespace(solve=lambda at, a=answer: a, programme=programme)

    monkeypatch.setattr(tune, "points_of", points_of)
    model = SimpleNamespace(gram=False, loss=lambda y, f: f + y[0])
    y, halves = np.array([1.0, 2.0]), [(np.array([k]), np.array([1 - k])) for k in (0, 1)]
    losses, failed = tune.losses_of_solver("s", model, lines, np.zeros((2, 1)), y, halves)
    np.testing.assert_array_equal(losses, [[1.5, np.nan], [2.5, 3.5]])
    assert failed == 1


@pytest.mark.parametrize("w", ["zero", "true"])
def test_the_simulations_scores_of_known_coefficients(w, monkeypatch):
    """Of w = 0 the share of explained variance is 0, of the true ones snr / (1 + snr)."""
    beta = chapter_3.drlad_coefficients()
    known = beta if w == "true" else 0.0 * beta
    found = {}

    def compare(cell, rows, models, parts, score, **columns):
        fitted = SimpleNamespace(coef=known, decision=lambda X: X @ known)
        found.update(score(fitted), n=len(parts.train.y), n_test=len(parts.test.y))

    monkeypatch.setattr(chapter_3, "compare", compare)
    monkeypatch.setattr(chapter_3, "deviation_models", lambda *arguments: {})
    settings = SimpleNamespace(n=40, n_test=4000, snr=4.0, size=2)
    cell = SimpleNamespace(
        settings=settings,
        value=0.5,
        offline=True,
        dataset="drlad_simulation",
        data=SimpleNamespace(sources=None),
        seed=lambda what: np.random.SeedSequence(1),
    )
    chapter_3.simulation(cell, Rows(), None)
    assert (found["n"], found["n_test"]) == (40, 4000)
    signal = beta @ chapter_3.block_covariance(0.5) @ beta
    expected = {"rr": 0.0, "rte": 1.0, "pve": 0.8} if w == "true" else {"rr": 1.0, "pve": 0.0}
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-12)
    noise = signal / 4.0
    mse = noise if w == "true" else signal + noise
    assert found["mse"] == pytest.approx(mse, rel=0.1)
    assert found["spread"] == 0.0


# -- what is said of a path -------------------------------------------------------------------


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


def test_a_paths_certificate_is_a_row_and_the_oracle_is_asked_where_problems_are_small():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(16, 2))
    path, rows = svm_path(X, np.where(X[:, 0] > rng.normal(size=16), 1, 0)), Rows()
    carried = judging.add_certificate(rows, path, kernel="linear")
    (row,) = rows.rows
    assert (row["value"], row["status"]) == (1.0, "ok")
    assert carried["n_breakpoints"] == len(path.breakpoints)
    assert row["gap"] == path.certify(at_breakpoints=True).gap
    assert "sample" not in row["message"]
    states = (("undecided", "certificate undecided"), ("fails", "certificate failed"))
    for status, said in states:
        found = SimpleNamespace(status=status, ok=False, kkt=np.nan, gap=np.inf, rounding=0.1)
        judging.add_given_certificate(rows, path, found, ", a sample")
        told = [rows.rows[-1][k] for k in ("value", "status", "kkt", "gap", "rounding")]
        assert told == [0.0, said, None, None, 0.1]
        assert rows.rows[-1]["message"].endswith(", a sample")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judging, "LARGEST_CERTIFICATE", len(path.breakpoints) * X.size - 1)
        judging.add_certificate(rows, path)
    assert rows.rows[-1]["message"].endswith(", a sample")


@pytest.mark.parametrize("factor", [0.9, 1.0, 1.1])
def test_the_oracles_objective_is_compared_by_its_share_at_every_point(factor, monkeypatch):
    """The largest difference is told, of whichever sign and wherever it is."""
    X = np.random.default_rng(4).normal(size=(16, 2))
    path, rows = svm_path(X, np.where(X[:, 0] > 0, 1, 0)), Rows()
    judged = judging.verify.judge
    factors = iter([1.0, 1.0, 1.0, factor, 1.0, 1.0])  # the oracle's and the path's, in turn

    def judge(problem, answer):
        return SimpleNamespace(primal=judged(problem, answer).primal * next(factors))

    monkeypatch.setattr(judging.verify, "judge", judge)
    monkeypatch.setattr(judging, "ORACLE_ROWS", 16)
    judging.add_oracle_comparison(rows, path, [0.1, 0.3, 0.5], method="path")
    assert rows.rows[0]["value"] == pytest.approx(abs(factor - 1.0), abs=1e-8)
    monkeypatch.setattr(judging, "ORACLE_ROWS", 15)
    judging.add_oracle_comparison(rows, path, [0.1], method="path")
    assert len(rows.rows) == 1  # one row more is too many for the oracle


# -- the explorer -----------------------------------------------------------------------------


def test_the_explorer_keeps_the_lines_that_move_most():
    rng = np.random.default_rng(0)
    X = np.linalg.qr(rng.normal(size=(40, 14)))[0]
    size = rng.permutation(np.arange(1.0, 15.0))
    path = lasso_path(X, X @ size, fit_intercept=False)
    kept = {int(name.split()[1]) - 1 for name in exploring.moving_lines(path)}
    assert kept == set(np.argsort(-size)[: exploring.LARGEST_LINES])
    t, value = exploring.moving_lines(path)[f"feature {np.argmax(size) + 1}"]
    np.testing.assert_allclose(value, np.maximum(14.0 - t, 0.0), atol=1e-9)


def test_of_a_kernel_the_explorer_keeps_duals():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20, 2))
    path = svm_path(X, np.where(X[:, 0] > 0, 1, 0), C_max=10.0, kernel="rbf")
    lines = exploring.moving_lines(path)
    assert 0 < len(lines) <= exploring.LARGEST_LINES
    assert all(name.startswith("sample ") for name in lines)


def test_a_boundary_is_that_of_the_points_beside_it():
    """Of each class its rows, and weights with which f is what the path says."""
    rng = np.random.default_rng(2)
    train = Part(rng.normal(size=(20, 2)) * [1.0, 3.0], np.repeat([-1.0, 1.0], 10))
    cell = SimpleNamespace(
        data=SimpleNamespace(lam=0.1),
        common=SimpleNamespace(intercept_scaling=1.0),
        settings=SimpleNamespace(taus=[0.25]),
    )
    rows = Rows()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quantile, "_parts", lambda cell: SimpleNamespace(train=train))
        quantile.boundary(cell, rows, None)
    for label, name in ((1.0, "points of +1"), (-1.0, "points of -1")):
        points = [(own["x"], own["y"]) for own in rows.points if own["curve"] == name]
        np.testing.assert_array_equal(points, train.X[train.y == label])
    found = {row["metric"]: row["value"] for row in rows.rows if "boundary" in row["metric"]}
    path = quantile_svm_path(train.X, train.y, 0.1)
    expected = [*path.coef(0.25), path.intercept(0.25)]
    assert [found[f"boundary_{k}"] for k in ("w0", "w1", "b")] == pytest.approx(expected)


def test_a_job_runs_its_own_splits_and_lists_their_cells(tmp_path):
    paper = Paper("made_up")

    @paper.experiment()
    def count(cell, rows, report):
        """Write down which split it was."""
        rows.add("split", cell.split, method="path")

    content = {
        "title": "A",
        "citation": "B",
        "datasets": {"iris": {}},
        "experiments": {"count": None},
        "suites": {"quick": {"count": {"datasets": ["iris"], "splits": 3, "splits_per_job": 2}}},
    }
    config = {"papers": {"made_up": content}, "results": str(tmp_path)}
    for job, splits in zip(paper.jobs(config, "quick"), ([0, 1], [2]), strict=True):
        listed = cells.read_list(paper.run_job(config, job))
        assert [cells.read_cell(file)[0]["split"].to_pylist() for file in listed] == [
            [split] for split in splits
        ]


def test_of_a_long_path_the_explorer_keeps_both_ends():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    path = lasso_path(X, X @ [1.0, -2.0, 3.0] + rng.normal(size=40), fit_intercept=False)
    whole = np.unique(path.breakpoints)
    assert len(whole) > 3
    for t, _ in exploring.moving_lines(path, nodes=3).values():
        assert len(t) == 3
        assert (t[0], t[-1]) == (whole[0], whole[-1])
