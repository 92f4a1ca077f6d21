"""Outlier paths with a free bias: local optima, jumps, balances, and what estimators say."""

import io
import warnings
from dataclasses import replace

import numpy as np
import pytest

from helpers.data_makers import line
from helpers.middles import interval
from helpers.outliers import HOMOTOPIES, capped, problem
from helpers.outliers import path_of as path_without
from path_benchmark.solvers.clarabel_solver import by_clarabel
from solution_paths import (
    OutlierSVC,
    OutlierSVR,
    PathError,
    PathWarning,
    SolutionPath,
    local_path,
    outlier_svm_path,
    outlier_svr_path,
)
from solution_paths.problem import Branches, Losses, Problem, pieces
from solution_paths.verify import judge

pytestmark = pytest.mark.slow

CASES = [(task, homotopy) for task in ("svm", "svr") for homotopy in HOMOTOPIES]
BOTH = pytest.mark.parametrize(("task", "homotopy"), CASES)


def path_of(task, X, y, C, **options):
    return path_without(task, X, y, C, fit_intercept=True, **options)


def some(path, count=6, seed=0):
    """Return parameters of a path, and the jumps among them."""
    inner = np.random.default_rng(seed).uniform(*path.range, count)
    jumps = [jump.parameter for jump in path.jumps]
    return np.r_[inner, path.range, jumps[:: max(len(jumps) // 6, 1)]]


def energies(task, path, t, X, y, w, b):
    """Return the objective of the docstring at weights (d, k) and biases (k,)."""
    theta, s = (t, 0.0) if path.parameter == "theta" else (0.0, t)
    f = X @ w + b
    if task == "svm":
        m = y[:, None] * f
        loss = np.where(m >= s, np.maximum(1 - m, 0.0), 1 - theta * m - s)
    else:
        s = 1.0 if path.parameter == "theta" else t
        r = np.abs(y[:, None] - f)
        loss = np.where(r < s, r, (r - s) * theta + s)
    return (w**2).sum(axis=0) / 2 + path.C * loss.sum(axis=0)


@pytest.mark.parametrize("C", [0.02, 1.0, 50.0])
@BOTH
def test_with_a_regular_kernel_every_jump_falls_and_ends_off_the_threshold(task, homotopy, C):
    X, y = problem(task, n=80)
    path = path_of(task, X, y, C, homotopy=homotopy, kernel="rbf", gamma=1.0)
    found = path.certify(at_breakpoints=True)
    assert found.ok, found
    assert found.at_threshold == 0
    assert all(jump.after < jump.before for jump in path.jumps)
    t = some(path)
    duals = path.dual(t) * (y[:, None] if task == "svm" else 1.0)
    np.testing.assert_allclose(duals.sum(axis=0), 0.0, atol=1e-10 * C * len(y))  # the balance


@BOTH
def test_ties_and_duplicates_end_in_local_optima_and_never_rise(task, homotopy):
    jumps = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = problem(task, n=50, seed=seed)
        X = np.round(X)[rng.integers(0, 30, 50)]
        y = y if task == "svm" else np.round(y)
        path = path_of(task, X, y, 10.0 ** rng.integers(-2, 3), homotopy=homotopy)
        assert path.certify(at_breakpoints=True).ok
        jumps += path.jumps
        for t in [*(jump.parameter for jump in path.jumps), path.range[0 if path.falls else 1]]:
            assert path.at_threshold(t).local is not False
    assert len(jumps) >= 3
    assert all(jump.after <= jump.before * (1 + 1e-9) for jump in jumps)


@BOTH
def test_no_step_of_weights_and_bias_leads_down(task, homotopy):
    for seed in range(3):
        X, y = problem(task, n=40, seed=seed)
        path = path_of(task, X, y, 0.7, homotopy=homotopy)
        path.C, rng = 0.7, np.random.default_rng(seed)
        for t in some(path):
            w, b = path.coef(t)[:, None], np.array([path.intercept(t)])
            own = energies(task, path, t, X, y, w, b)
            assert own[0] == pytest.approx(path.objective_value(t), rel=1e-9)
            for size in (1e-6, 1e-4):
                steps = size * rng.normal(size=(4, 500))
                steps[:3, :50] = 0.0  # of the bias alone
                near = energies(task, path, t, X, y, w + steps[:3], b + steps[3])
                assert near.min() >= own[0] * (1 - 1e-12)


@BOTH
def test_a_partitions_problem_is_what_clarabel_solves(task, homotopy):
    X, y = problem(task)
    for kernel in ({}, {"kernel": "rbf", "gamma": 0.5}):
        path = path_of(task, X, y, 2.0, homotopy=homotopy, **kernel)
        for t in some(path, 3):
            stated, answer = path.stated_at(t)
            other = judge(stated, by_clarabel(stated))
            assert judge(stated, answer).primal == pytest.approx(other.primal, rel=1e-7)


@BOTH
def test_columns_and_targets_far_from_zero_change_nothing(task, homotopy):
    X, y = problem(task)
    shift = np.array([1e3, -50.0, 1e5])
    level = 0.0 if task == "svm" else 1e4
    near = path_of(task, X, y, 1.0, homotopy=homotopy)
    far = path_of(task, X + shift, y + level, 1.0, homotopy=homotopy)
    assert far.certify().ok
    assert len(far.jumps) == len(near.jumps)
    t = np.linspace(max(near.range[0], far.range[0]), min(near.range[1], far.range[1]), 9)[1:-1]
    f = far.decision_function(X + shift, t) - level
    np.testing.assert_allclose(f, near.decision_function(X, t), atol=1e-6)


def test_a_constant_column_says_what_the_bias_says():
    y = np.r_[np.arange(10.0), 300.0, 900.0]
    path = path_of("svr", np.ones((12, 1)), y, 1.0, s=20.0)
    assert path.certify(at_breakpoints=True).ok
    assert path.coef(0.0).tolist() == [0.0]
    assert path.intercept(0.0) == pytest.approx(4.5)  # the median of the others, in its middle
    assert path.intercept(1.0) == pytest.approx(5.5)  # and of all


def test_a_bias_that_isnt_determined_is_in_the_middle_of_its_branches():
    wide = 0
    for seed in range(6):
        for task, homotopy in CASES:
            X, y = problem(task, n=16, seed=seed)
            path = path_of(task, X, y, 0.01, homotopy=homotopy)
            assert path.certify(at_breakpoints=True).ok
            pieces_ = np.flatnonzero(np.diff(path.points.t) > 0)
            for t in path.points.t[pieces_] + 0.4 * np.diff(path.points.t)[pieces_]:
                stated, answer = path.stated_at(t)
                found = interval(stated, answer.w)
                if found is not None and np.isfinite(found).all():
                    wide += 1
                    assert answer.free[0] == pytest.approx(np.mean(found), abs=1e-9)
    assert wide > 20


def test_a_saved_path_keeps_its_bias_and_sides_of_jumps():
    path = path_of("svr", *line(), 1.0, homotopy="s", kernel="rbf")
    file = io.BytesIO()
    path.save(file)
    loaded = SolutionPath.load(io.BytesIO(file.getvalue()))
    assert loaded.certify().ok
    t = path.jumps[0].parameter
    assert loaded.intercept(t) == path.intercept(t)
    assert loaded.before.intercept(t) == path.before.intercept(t)
    assert path.before.intercept(t) != path.intercept(t)


def test_a_user_states_branches_beside_a_bias():
    X, y = line(n=40)

    def machine(loss):
        return Problem(Losses(loss, X, 1.0), ridge=1.0)

    branches = Branches.along(lambda s: capped(y, s), machine, np.ones(40, dtype=int), (40.0, 1.0))
    path = local_path(machine(pieces([y], [-1.0, 2.0])), branches, (40.0, 1.0), parameter="s")
    assert path.certify(at_breakpoints=True).ok
    assert path.jumps
    assert all(jump.after <= jump.before for jump in path.jumps)


def test_a_wrong_balance_fails_and_is_seen_at_the_threshold():
    path = path_of("svr", *line(), 1.0)
    problem_, answer = path.stated_at(0.5)
    duals = [answer.duals[0] + 1e-4]
    assert judge(problem_, replace(answer, duals=duals)).status == "fails"


def test_estimators_have_a_bias_unless_told_otherwise():
    r = np.random.default_rng(0)
    X = r.normal(size=(200, 3)) + np.array([50.0, 0.0, 3.0])
    y = X @ [1.0, 2.0, -1.0] + 80.0 + 0.3 * r.normal(size=200)
    wild = np.arange(200) % 10 == 0
    y[wild] += 300.0
    biased, plain = OutlierSVR(s=5.0).fit(X, y), OutlierSVR(s=5.0, fit_intercept=False).fit(X, y)
    off = [np.abs(model.predict(X) - y)[~wild].mean() for model in (biased, plain)]
    assert off[0] < 0.3 < off[1]
    assert biased.intercept_[0] == pytest.approx(80.0, abs=5.0)
    assert plain.intercept_ == 0.0
    labels = np.where(X[:, 1] > 1.0, "b", "a")
    model = OutlierSVC(C=10.0).fit(X, labels)
    assert (
        model.score(X, labels)
        > 0.99
        > OutlierSVC(fit_intercept=False).fit(X, labels).score(X, labels)
    )
    assert OutlierSVC(C=10.0, cv=3).fit(X, labels).cv_error_ < 0.02
    with pytest.raises((TypeError, ValueError), match="fit_intercept"):
        OutlierSVC(fit_intercept="yes").fit(X, labels)


def test_machines_of_functions_have_no_bias_unless_told():
    X, y = problem("svm")
    path = outlier_svm_path(X, y, 1.0)
    assert path.intercept([0.0, 0.5]).tolist() == [0.0, 0.0]
    assert path.line.start.n_free == 0


@BOTH
def test_random_problems_are_exact_or_told(task, homotopy):
    lost = 0
    for seed in range(12):
        r = np.random.default_rng(seed)
        X, y = problem(task, n=int(r.integers(4, 30)), seed=seed, d=int(r.integers(1, 4)))
        X = [X, np.round(X), np.repeat(X[::2], 2, axis=0)[: len(y)], np.ones_like(X)][seed % 4]
        y = np.round(y) if seed % 4 and task == "svr" else y
        if task == "svm" and len(np.unique(y)) < 2:
            continue
        C, own = 10.0 ** r.integers(-2, 3), {"homotopy": homotopy}
        try:
            path = path_of(task, X, y, C, **own)
        except PathError:  # as without a bias: values are shut in between two thresholds
            with pytest.raises(PathError):
                path_without(task, X, y, C, **own)
            lost += 1
            continue
        assert path.certify(at_breakpoints=True).ok, seed
        assert all(jump.after <= jump.before * (1 + 1e-9) for jump in path.jumps)
    assert lost <= 1


def test_ties_on_both_sides_of_the_thresholds_are_left_soon():
    """Seven rows come to two thresholds at s = 1; any of their partitions is optimal there."""
    y = np.repeat([-1.0, 0.0, 1.0, 2.0], [4, 17, 3, 1])
    path = outlier_svr_path(np.ones((25, 1)), y, 0.01, homotopy="s", fit_intercept=True)
    assert path.diagnostics["rounds"] < 1000
    assert path.certify(at_breakpoints=True).not_local == 0
    # all but the zeros are outliers: a loss of s each
    assert path.objective_value([0.9, 0.7, 0.45]) == pytest.approx([0.072, 0.056, 0.036])


@pytest.mark.parametrize("bias", [False, True])
def test_whole_numbers_on_dummies_are_followed_to_the_end(bias):
    """In a jump, values that come to a knot and to a threshold together are held by the knot."""
    for seed in range(24):
        rng = np.random.default_rng(seed)
        n, C = int(rng.integers(20, 40)), 10.0 ** rng.integers(-3, 3)
        X = [np.ones((n, 1)), np.eye(3)[rng.integers(0, 3, n)]][seed % 2]
        y = np.round(rng.normal(size=n) * rng.choice([0.7, 1.0, 2.0]))
        path = outlier_svr_path(X, y, C, homotopy="s", fit_intercept=bias)
        certificate = path.certify(at_breakpoints=True)
        assert certificate.ok, seed
        assert certificate.not_local == 0, seed


def test_a_value_at_a_knot_and_a_threshold_keeps_its_branch():
    """At s = 1 two rows with x = 1 become outliers; one of them came back, and the loss rose."""
    x = np.array([0.0, 0.0, 1.0, -1.0, 1.0, 1.0, 1.0, 0.0])
    y = np.array([-2.0, 1.0, -1.0, 2.0, -2.0, 1.0, 0.0, -1.0])
    path = outlier_svr_path(x[:, None], y, 1e-3, homotopy="s", fit_intercept=False)
    assert path.objective_value([0.9, 0.7, 0.45]) == pytest.approx([6.3e-3, 4.9e-3, 3.15e-3])
    assert path.certify(at_breakpoints=True).not_local == 0


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("C", [0.3, 1.0, 5.0])
def test_rows_between_two_thresholds_are_no_contradiction(C, bias):
    """All rows are alike, so that the end of one's branch meets that of another's."""
    y = np.array([1.0, -1.0, 0.0, 0.0])
    path = outlier_svr_path(np.ones((4, 1)), y, C, homotopy="s", fit_intercept=bias)
    assert path.range == (pytest.approx(0.2), pytest.approx(1.1))
    assert path.certify(at_breakpoints=True).ok
    assert all(jump.after <= jump.before for jump in path.jumps)
    for s in [path.range[0], *(jump.parameter for jump in path.jumps)]:
        z = path.decision_function(np.ones((1, 1)), s)[0]
        step = np.linspace(-1e-3, 1e-3, 201)
        loss = np.minimum(np.abs(y[:, None] - z - step), s).sum(axis=0)
        w = 0.0 * step if bias else z + step
        assert (0.5 * w**2 + C * loss).min() >= path.objective_value(s) * (1 - 1e-12)


def test_a_jump_moves_the_bias_past_no_knot():
    # On a grid of x; rows on the margin leave it at the jump, so that the bias alone moves first.
    x = """
        2 0 1 -2 2 0 0 1 -2 -2 0 2 0 0 1 -2 -2 0 -2 -2 2 -1 -1 -2 -2 2 0 -1 0 1 -2 -1 -2 -1 2 2 0
        -2 -2
    """
    y = """
        2 -1 2 2 3 0 -1 1 -2 10 1 4 0 16 5 -3 -2 -1 -3 -1 4 20 -1 -3 -1 3 0 0 -1 1 -2 0 -13 -2 3 3
        -1 -2 -2
    """
    X, targets = np.array(x.split(), dtype=float)[:, None], np.array(y.split(), dtype=float)
    options = {"homotopy": "s", "s": 10.0, "kernel": "rbf", "gamma": 0.5, "fit_intercept": True}
    path = outlier_svr_path(X, targets, 0.03, **options)
    certificate = path.certify()
    assert certificate.ok
    assert certificate.not_local == 0
    assert all(jump.after <= jump.before * (1 + 1e-12) for jump in path.jumps)


@pytest.mark.parametrize("apart", [2e-10, 6e-10])
def test_columns_whose_difference_squares_to_nothing_are_followed_or_told(apart):
    """Squares of 1e-20 and distances of 1e-24 decide events: some walks can't tell which is first.

    Then duals leave their bounds, at points that the check might not have drawn.
    """
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 3))
        X = np.column_stack([X, X[:, 0] * (1 + apart * rng.normal(size=60))])
        y = np.where(rng.random(60) < 0.15, 1.0, -1.0)
        y[0] = 1.0
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            path = outlier_svm_path(X, y, 0.0015, homotopy="theta", fit_intercept=True)
        assert path.certify().ok or any(issubclass(one.category, PathWarning) for one in told)
