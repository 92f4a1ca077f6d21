"""The survey's experiments on small real runs: paths, statements and other solvers agree."""

import numpy as np
import pytest

from helpers.known import assert_same
from helpers.papers import repository_config
from helpers.small_runs import assert_known, small_run
from path_benchmark.papers.survey import outputs
from path_benchmark.papers.survey.experiments import PAPER, grid, path_gap
from path_benchmark.papers.survey.models import MODELS, Data
from path_benchmark.papers.survey.rivals import (
    GridAnswers,
    StatementSolver,
    rivals,
    worst_gap_and_kkt,
)
from path_benchmark.reporting.study import hyper
from path_benchmark.solvers.quadratic import Statements
from solution_paths.verify import Answer

pytestmark = pytest.mark.slow

POINTS = 6


def data(model, rows=24):
    """Return small data for a model, which no plane separates."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(rows, 3))
    u = X[:, 0] + rng.normal(size=rows)
    y = (
        u
        if model in repository_config()["papers"]["survey"]["experiments"]["regression"]["models"]
        else np.where(u > 0, 1.0, -1.0)
    )
    return Data.of(X, y, None, None, np.random.SeedSequence(0))


def numbers_of(name):
    """Return a model's points, and weights, duals and constants there, added up."""
    model, D = MODELS[name], data(name)
    path = model.path(D)
    points = grid(path, POINTS)
    linear = model.problem(D, path, points[0]).kernel is None
    found = [path.coef(t) if linear else path.dual(t) for t in points]
    sums = [float(np.ravel(v) @ np.arange(1.0, np.size(v) + 1.0)) for v in found]
    return [*points, *sums, *(float(np.sum(path.intercept(t))) for t in points)]


# Of the doubly regularised machine, as of a linear programme, more than one solution may be best;
# ties choose the breakpoints of the multicategory machine, on which its points depend.
UNIQUE = [name for name in MODELS if name not in ("drsvm", "l1_svm", "multicategory")]


@pytest.mark.parametrize("name", UNIQUE)
def test_what_a_models_path_says_is_known(name):
    assert_same({name: numbers_of(name)}, "survey_models")


@pytest.mark.parametrize("name", MODELS)
def test_a_path_is_optimal_by_what_others_solve_and_they_come_near(name):
    model, D = MODELS[name], data(name)
    path = model.path(D)
    points = grid(path, POINTS)
    assert len(points) == POINTS
    assert path.range[0] <= points[0] < points[-1] <= path.range[1]
    problems = {t: model.problem(D, path, t) for t in points}
    assert path_gap(path, model, D, problems) <= 1e-9
    for rival in rivals(model, D, problems):
        gap, kkt = worst_gap_and_kkt(list(problems.values()), rival.grid(points, 1e-8).answers)
        assert gap <= 1e-4, rival.name  # LIBSVM keeps kernel values in single precision
        assert kkt <= 1e-2, rival.name


def test_an_answer_that_is_missing_or_wrong_is_seen():
    model, D = MODELS["svm"], data("svm")
    path = model.path(D)
    points = grid(path, POINTS)
    problems = {t: model.problem(D, path, t) for t in points}
    tried = StatementSolver("piqp", Statements.of(problems)).grid(points, 1e-8)
    assert isinstance(tried, GridAnswers)
    stated = list(problems.values())
    assert worst_gap_and_kkt(stated, [*tried.answers[:-1], None]) == (np.inf, np.inf)
    assert worst_gap_and_kkt(stated, tried.answers[::-1])[0] > 1e-3
    nothing = Answer(np.full(3, np.nan), [0.0], tried.answers[0].duals)
    assert worst_gap_and_kkt(stated, [nothing, *tried.answers[1:]])[0] == np.inf


def config():
    """Return the repository's configuration, its quick suite made smaller still."""
    whole = repository_config() | {"offline": True}
    paper = whole["papers"]["survey"]
    paper["datasets"]["breast_cancer"]["rows"] = 30
    small = {"splits": 1, "solved": 5, "repeats": 2, "budget_s": 0.1}
    chosen = {"datasets": ["breast_cancer"], "models": ["svm", "drsvm_lam2"], **small}
    paper["suites"]["quick"] = {"classification": chosen}
    whole["papers"] = {"survey": paper}
    return whole


def small_study(folder):
    """Run the small suite, and one model of values."""
    settings = config()
    suite = settings["papers"]["survey"]["suites"]["quick"]
    own = {"datasets": ["diabetes_progression"], "models": ["lasso", "ordinal"]}
    suite["classification"]["budget_s"] = 10.0  # nothing is cut short
    suite["regression"] = suite["classification"] | own
    settings["papers"]["survey"]["datasets"]["diabetes_progression"] |= {"rows": 30, "features": 4}
    return small_run(PAPER, settings, folder)


def test_every_number_is_known(tmp_path):
    assert_known(small_study(tmp_path), "survey")


@pytest.fixture(scope="module")
def study_of(tmp_path_factory):
    def make(**changes):
        settings = config()
        settings["papers"]["survey"]["suites"]["quick"]["classification"] |= changes
        return small_run(PAPER, settings, tmp_path_factory.mktemp("survey"))

    return make


def test_a_grids_seconds_are_of_all_its_points_and_the_fastest_accurate_solver_is_shown(study_of):
    study = study_of(budget_s=600.0)  # both repeats, however slow the machine is
    found = outputs.speed(study).set_index("model")
    assert list(found.index) == ["l2-SVM, linear", "doubly regularised SVM"]
    assert (found["gap of its grid"] <= 1e-5).all()
    assert (found["gap of the path"] <= 1e-9).all()
    own = study.only(metric="time")
    assert own.groupby("method")["repeat"].max()["path"] == 1
    for _, times in own[own["status"] == "ok"].groupby(hyper(own, "model")):
        medians = times.groupby("method")["value"].median().drop("path")
        row = found.loc[MODELS[times["hyper"].iloc[0]["model"]].title]
        assert row["its grid, CPU s"] == medians.min()
    assert outputs.all_paths(study) is not None


def test_solvers_that_are_slow_or_inaccurate_are_named(study_of):
    slow = outputs.speed(study_of(limit_s=1e-6))
    assert slow["remark"].str.contains("PIQP too slow").all()
    assert slow["grid / path"].isna().all()
    coarse = outputs.speed(study_of(tolerances=[10.0], gap=1e-9))
    assert coarse["remark"].str.contains("PIQP inaccurate").all()


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (
            (0.064, 0.038, 11, 100),
            "slower: a breakpoint, with its share of start and check, costs as much as 15.3 points "
            "(11 at 5818 µs against 100 at 380 µs)",
        ),
        (
            (0.16, 0.066, 104, 100),
            "slower: 4 breakpoints more than points, and a breakpoint, with its share of start and "
            "check, costs as much as 2.3 points (104 at 1538 µs against 100 at 660 µs)",
        ),
        (
            (0.3, 0.1, 600, 100),
            "slower: 6.0 breakpoints for each point, none dearer than one (600 at 500 µs against "
            "100 at 1000 µs)",
        ),
    ],
)
def test_a_slower_path_says_whether_its_breakpoints_are_many_or_dear(row, said):
    assert outputs.slower(*row) == said


def test_every_row_that_is_slower_says_why(study_of):
    study = study_of()
    times = study.results["metric"] == "time"
    path = study.results["method"] == "path"
    study.results.loc[times & path, "value"] *= 1e4
    found = outputs.speed(study)
    assert (found["grid / path"] < 1.0).all()
    for row in found.itertuples():
        count, ours = row.breakpoints, found.loc[row.Index, "path, CPU s"]
        assert f"({count:.0f} at {1e6 * ours / count:.0f} µs against 100 at" in row.remark
