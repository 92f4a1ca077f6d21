"""Where paths in a cost stop unless told otherwise, and what lies behind."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from helpers.data_makers import classes
from path_benchmark import data
from solution_paths import (
    DmKSVC,
    PathError,
    PathSVC,
    SolutionPath,
    dm_ksvm_path,
    svm_path,
    weighted_svm_path,
)
from solution_paths.kernels import Kernel
from solution_paths.models.limits import usual_limit
from solution_paths.validation import HUGE

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(4)
N = 80
X = RNG.normal(size=(N, 2))
NOISY = np.where(X[:, 0] + 2.0 * RNG.normal(size=N) > 0, 1, -1)
CLEAR = np.where(np.hypot(*X.T) > 1.1, 1, -1)
FLAT = {"kernel": "rbf", "gamma": 0.01}


def cancer():
    rows, y = load_breast_cancer(return_X_y=True)
    return rows, y, {"gamma": "scale"}


def spambase():
    found = data.load("spambase", offline=True)
    rows = (found.X - found.X.mean(axis=0)) / found.X.std(axis=0)
    own = np.random.default_rng(0).permutation(len(rows))[:600]
    return rows[own], found.y[own], {}


def abalone():
    found = data.load("abalone", offline=True)
    sex = (found.X[:, :1] == np.unique(found.X[:, 0])).astype(float)
    own = np.random.default_rng(0).permutation(len(found.y))[:600]
    return np.hstack([sex, found.X[:, 1:]])[own], (found.y > 9)[own], {}


@pytest.mark.parametrize("load", [cancer, spambase, abalone])
def test_ordinary_data_have_a_path_by_default(load):
    try:
        rows, y, options = load()
    except data.DataError as error:
        pytest.skip(str(error))
    path = svm_path(rows, y, kernel="rbf", check="raise", **options)
    assert path.breakpoints[-2] < 1e6 <= path.breakpoints[-1]
    assert path.range == (0.0, path.breakpoints[-1])
    found = path.certify(at_breakpoints=True)
    assert found.gap < 1e-7
    assert found.kkt < 1e-7


def test_what_lies_behind_is_reached_on_request():
    rows, y, options = cancer()
    short = svm_path(rows, y, kernel="rbf", **options)
    try:
        long = svm_path(rows, y, kernel="rbf", C_max=np.inf, **options)
    except PathError as error:  # rounding decides how far it can be followed
        long = error.path
    assert long.range[1] > short.range[1]
    assert long.certify().status != "fails"
    far = svm_path(X, NOISY, C_max=np.inf, **FLAT)
    assert far.breakpoints[-1] > 1.5e6
    short = svm_path(X, NOISY, **FLAT)
    same = far.breakpoints < 1e6
    np.testing.assert_allclose(short.breakpoints[:-1], far.breakpoints[same], rtol=1e-9)
    assert short.breakpoints[-1] == pytest.approx(far.breakpoints[same.sum()], rel=1e-9)


def test_a_path_that_ends_before_goes_on_for_ever():
    for path in (
        svm_path(X, CLEAR, kernel="rbf", gamma=1.0),
        svm_path(X, NOISY),
        svm_path(X @ X.T, NOISY, kernel="precomputed"),
        svm_path([[0.0], [1.0]], [0, 1], kernel="poly"),
    ):
        assert path.range == (0.0, np.inf)
        assert path.breakpoints[-1] < 1e6
        assert "limit" not in path.diagnostics


@pytest.mark.parametrize("unit", [1e-12, 1e-3])
def test_a_kernel_of_small_values_has_larger_costs(unit):
    K = unit * np.exp(-0.01 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    path = svm_path(K, NOISY, kernel="precomputed")
    assert path.breakpoints[-2] < 1e6 / unit <= path.breakpoints[-1]
    right = svm_path(X, NOISY, **FLAT)
    np.testing.assert_allclose(path.breakpoints * unit, right.breakpoints, rtol=1e-6)


def test_beyond_its_end_a_path_says_how_to_go_on(tmp_path):
    path = svm_path(X, NOISY, **FLAT)
    path.save(tmp_path / "path.npz")
    said = r"^C = 100000000.0 is outside .*, or compute it with C_max=100000000.0\.$"
    for own in (path, SolutionPath.load(tmp_path / "path.npz")):
        for call in (own.dual, own.intercept, lambda t, own=own: own.predict(X, [1.0, t])):
            with pytest.raises(ValueError, match=said):
                call(1e8)
    with pytest.raises(ValueError, match=r"choose a finite value in that range\.$"):
        path.dual(-1.0)
    with pytest.raises(ValueError, match=r"compute it with C_max=2\.0\.$"):
        svm_path(X, NOISY, C_max=1.0).dual(2.0)
    path = dm_ksvm_path(X, NOISY, 3.0, **FLAT)
    assert path.range[0] > 0.0
    lam = 0.5 * path.range[0]
    with pytest.raises(ValueError, match=rf"compute it with lam_min={lam!r}\.$"):
        path.dual(lam)


def test_a_double_margin_path_stops_at_the_same_cost():
    short = dm_ksvm_path(X, NOISY, 3.0, **FLAT)
    costs = 1.0 / (N * short.breakpoints)
    assert costs[1] < 1e6 <= costs[0]
    assert dm_ksvm_path(X, NOISY, 3.0).range == (0.0, np.inf)
    further = dm_ksvm_path(X, NOISY, 3.0, lam_min=0.2 * short.range[0], **FLAT)
    assert further.range[0] == pytest.approx(0.2 * short.range[0])


def test_estimators_walk_as_far_as_their_parameter():
    model = PathSVC(1e8, **FLAT).fit(X, NOISY)
    assert model.path_.range[1] >= 1e8
    right = svm_path(X, NOISY, C_max=1e8, **FLAT).decision_function(X, 1e8)
    np.testing.assert_allclose(model.decision_function(X), right, atol=1e-6)
    assert PathSVC(1.0, **FLAT).fit(X, NOISY).path_.range[1] < 1e8
    three = PathSVC(1e8, kernel="rbf", gamma=1.0).fit(*load_iris(return_X_y=True))
    assert all(path.range[1] >= 1e8 for path in three.path_)
    lam = 1.0 / (N * 1e8)
    model = DmKSVC(lam, kappa=3.0, **FLAT).fit(X, NOISY)
    assert model.path_.range[0] <= lam
    right = dm_ksvm_path(X, NOISY, 3.0, lam_min=lam, **FLAT).decision_function(X, lam)
    np.testing.assert_allclose(model.decision_function(X), right, atol=1e-6)


def test_an_estimator_is_not_used_beyond_a_given_limit():
    with pytest.raises(ValueError, match="C must be a finite number"):
        PathSVC(7.0, C_max=5.0).fit(X, NOISY)
    with pytest.raises(ValueError, match="lam must be a finite number"):
        DmKSVC(1e-4, lam_min=1e-3).fit(X, NOISY)


def test_cross_validation_looks_no_further_than_paths_go():
    model = PathSVC(1e8, cv=3, **FLAT).fit(X, NOISY)
    assert 1e6 <= model.cv_path_.edges[-1] <= model.path_.range[1]
    assert model.path_.range[1] >= model.C_
    model = DmKSVC(1e-12, kappa=3.0, cv=3, **FLAT).fit(X, NOISY)
    assert model.cv_path_.edges[0] >= model.path_.range[0]
    assert model.lam_ >= model.path_.range[0]


def test_weighted_paths_reach_the_second_weights():
    X, y = classes(30)
    y = np.where(y == "b", 1.0, -1.0)
    before, after = np.full(30, 1.0), np.linspace(0.5, 3.0, 30)
    path = weighted_svm_path(X, y, before, after)
    assert path.range == (0.0, 1.0)
    for theta in (0.0, 0.5, 1.0):
        costs = before + theta * (after - before)
        assert (path.dual(theta) <= costs * (1 + 1e-12)).all()
        assert (path.dual(theta) == costs).any()


@pytest.mark.parametrize(
    ("length", "limit"), [(0.5, 4e6), (1.0, 1e6), (3.0, 1e6), (0.0, 1e6 * HUGE)]
)
def test_a_limit_is_a_million_over_the_mean_diagonal_up_to_one(length, limit):
    rows = length * np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    assert usual_limit(Kernel("poly", 1.0, 1, 0.0), rows) == pytest.approx(limit)
