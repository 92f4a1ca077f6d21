"""Estimators of generalised linear models: probabilities, the choice of lam, and refusals."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, PoissonRegressor
from sklearn.metrics import d2_tweedie_score, log_loss, mean_poisson_deviance
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from solution_paths import (
    ApproximatePath,
    PathError,
    PathLogisticRegression,
    PathPoissonRegressor,
    PathWarning,
)
from solution_paths.estimators import curved
from solution_paths.models import logistic

pytestmark = pytest.mark.slow

R = np.random.default_rng(5)
X = R.normal(size=(60, 4))
F = X @ [1.5, -1.0, 0.0, 0.3]
Y = np.where(R.uniform(size=60) < expit(F), "yes", "no")
WEIGHTS = R.integers(0, 4, 60).astype(float)


@pytest.mark.parametrize("ratio", [1.0, 0.5, 0.0])
@pytest.mark.parametrize("class_weight", [None, {"yes": 3.0}])
def test_probabilities_are_those_of_scikit_learn(ratio, class_weight):
    solver = "saga" if ratio else "newton-cholesky"
    options = {"l1_ratio": ratio, "class_weight": class_weight}
    other = LogisticRegression(C=0.5, solver=solver, tol=1e-10, max_iter=100_000, **options)
    rows = np.repeat(np.arange(60), WEIGHTS.astype(int))  # with weights saga doesn't converge
    other.fit(X[rows], Y[rows])
    own = PathLogisticRegression(lam=2.0, eps=1e-8, **options).fit(X, Y, sample_weight=WEIGHTS)
    np.testing.assert_allclose(own.coef_, other.coef_, atol=2e-4)
    np.testing.assert_allclose(own.intercept_, other.intercept_, atol=2e-4)
    np.testing.assert_allclose(own.predict_proba(X), other.predict_proba(X), atol=1e-4)
    np.testing.assert_allclose(own.predict_log_proba(X), other.predict_log_proba(X), atol=1e-3)
    assert (own.predict(X) == other.predict(X)).all()
    assert own.path_.range == (2.0, np.inf)
    assert isinstance(own.path_, ApproximatePath)


@pytest.mark.parametrize("scoring", ["log_loss", "neg_log_loss", "balanced_error"])
def test_lam_is_chosen_among_all(scoring):
    cv, low, grid = KFold(4), 0.01, np.geomspace(0.01, 20, 60)
    model = PathLogisticRegression(cv=cv, lam_min=low, scoring=scoring)
    model.fit(X, Y, sample_weight=WEIGHTS)
    errors = []
    for train, test in cv.split(X):
        fold = PathLogisticRegression(lam=1.0, lam_min=low)
        path = fold.fit(X[train], Y[train], sample_weight=WEIGHTS[train]).path_
        own, weights = [], WEIGHTS[test]
        for lam in [model.lam_, *grid]:
            if scoring == "balanced_error":
                wrong = (path.predict(X[test], lam) != Y[test]) * weights
                sides = [wrong[Y[test] == y].sum() / weights[Y[test] == y].sum() for y in set(Y)]
                own.append(np.mean(sides))
            else:
                p = path.mean(X[test], lam)
                own.append(log_loss(Y[test], np.c_[1 - p, p], sample_weight=weights))
        errors.append(own)
    best, *others = np.mean(errors, axis=0)
    assert model.cv_error_ == pytest.approx(best, abs=3e-7)
    np.testing.assert_allclose(model.cv_path_(grid), others, atol=3e-7)
    assert best <= min(others) + 3e-7
    assert model.cv_path_.edges[0] == low


COUNTS = R.poisson(np.exp(np.clip(F, -2.0, 2.5)))


def test_counts_are_those_of_scikit_learn():
    lam = 2.0
    other = PoissonRegressor(alpha=lam / WEIGHTS.sum(), tol=1e-10, max_iter=10_000)
    other.fit(X, COUNTS, sample_weight=WEIGHTS)
    own = PathPoissonRegressor(lam, l1_ratio=0.0, eps=1e-8).fit(X, COUNTS, sample_weight=WEIGHTS)
    np.testing.assert_allclose(own.coef_, other.coef_, atol=1e-4)
    np.testing.assert_allclose(own.predict(X), other.predict(X), rtol=1e-3)
    assert own.score(X, COUNTS, WEIGHTS) == d2_tweedie_score(
        COUNTS, own.predict(X), sample_weight=WEIGHTS, power=1
    )
    with pytest.raises(ValueError, match="y has negative entries"):
        PathPoissonRegressor().fit(X, -COUNTS)


@pytest.mark.parametrize("seed", [2, 3])
def test_deviances_far_from_the_least_do_not_blur_it(seed):
    """At small lam rows far out have expected counts of 1e10; the choice was 1 % off."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(40, 6)) * np.where(np.arange(40) % 10, 1.0, 25.0)[:, None]
    counts = rng.poisson(np.exp(0.4 * np.clip(rows[:, 0], -2, 2)))
    model = PathPoissonRegressor(cv=4, lam_min=1e-3).fit(rows, counts)
    assert model.cv_path_.left.max() > 1e10
    assert model.cv_path_(model.lam_) == pytest.approx(model.cv_error_, rel=1e-11)
    assert model.cv_error_ <= model.cv_path_(np.geomspace(1e-3, 100.0, 500)).min() * (1 + 1e-12)


def test_lam_is_chosen_by_the_deviance():
    cv, low, grid = KFold(4), 0.01, np.geomspace(0.01, 20, 60)
    options = {"lam_min": low, "l1_ratio": 0.5}
    model = PathPoissonRegressor(cv=cv, scoring="neg_mean_poisson_deviance", **options)
    model.fit(X, COUNTS, sample_weight=WEIGHTS)
    errors = []
    for train, test in cv.split(X):
        fold = PathPoissonRegressor(**options)
        path = fold.fit(X[train], COUNTS[train], sample_weight=WEIGHTS[train]).path_
        predicted = path.predict(X[test], [model.lam_, *grid]).T
        weights = {"sample_weight": WEIGHTS[test]}
        errors.append([mean_poisson_deviance(COUNTS[test], own, **weights) for own in predicted])
    best, *others = np.mean(errors, axis=0)
    assert model.cv_error_ == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(model.cv_path_(grid), others, rtol=1e-6)
    assert best <= min(others) * (1 + 1e-6)


def test_the_strongest_penalty_within_a_standard_error():
    least, simple = (PathLogisticRegression(cv=4, rule=rule).fit(X, Y) for rule in ("min", "1se"))
    assert simple.lam_ > least.lam_
    level = least.cv_error_ + least.cv_path_.standard_error(least.lam_)
    assert simple.cv_error_ <= level * (1 + 1e-9)
    assert np.count_nonzero(simple.coef_) <= np.count_nonzero(least.coef_)


def test_where_the_path_ends_is_where_a_choice_may_be():
    model = PathLogisticRegression(cv=3).fit(X, Y)
    a = (Y == "yes") - (Y == "yes").mean()
    assert model.path_.range[0] == pytest.approx(1e-4 * np.abs(X.T @ a).max())
    assert PathLogisticRegression(cv=3).fit(np.ones((60, 1)), Y).coef_.tolist() == [[0.0]]
    with pytest.raises(ValueError, match=r"lam must be a finite number > 0 and >= 0\.5"):
        PathLogisticRegression(lam=0.1, lam_min=0.5).fit(X, Y)
    with pytest.raises(ValueError, match=r"lam must be a finite number > 0, not 0"):
        PathLogisticRegression(lam=0).fit(X, Y)


def test_frames_sparse_rows_copies_and_searches():
    frame = pd.DataFrame(X, columns=["age", "size", "height", "weight"])
    model = PathLogisticRegression(lam=0.5).fit(frame, pd.Series(Y))
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert model.path_.feature_names == list(frame.columns)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    assert again.path_.certify().ok
    sparse = PathLogisticRegression(lam=0.5).fit(sp.csr_array(X), Y)
    np.testing.assert_allclose(sparse.coef_, model.coef_, atol=1e-2)
    assert clone(model).get_params() == model.get_params()
    scores = cross_val_score(model, X, Y, scoring="neg_log_loss")
    assert scores.shape == (5,)
    steps = make_pipeline(StandardScaler(), PathLogisticRegression(cv=3))
    grid = {"pathlogisticregression__l1_ratio": [0.0, 0.5, 1.0]}
    assert GridSearchCV(steps, grid, error_score="raise", cv=3).fit(X, Y).best_score_ > 0.5
    assert any("lam = 0.5" in str(line.get_label()) for line in model.plot().lines)


def test_of_more_classes_two_are_told():
    three = np.array(["a", "b", "c"])[R.integers(0, 3, 60)]
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        PathLogisticRegression().fit(X, three)
    several = OneVsRestClassifier(PathLogisticRegression(0.5)).fit(X, three)
    np.testing.assert_allclose(several.predict_proba(X).sum(axis=1), 1.0)
    order = np.argsort(Y)
    with pytest.raises(
        ValueError, match=r"cv has no fold to choose .* hold the class .* alone\); pass cv="
    ):
        PathLogisticRegression(cv=KFold(2)).fit(X[order][:40], np.repeat(["a", "b"], 20))


@pytest.fixture
def broken(monkeypatch):
    """Let paths end at lam = 0.3."""

    def until(X, y, lam_min, **options):
        if lam_min >= 0.3:
            return logistic.logistic_path(X, y, lam_min, **options)
        raise PathError("rounding", logistic.logistic_path(X, y, 0.3, **options))

    monkeypatch.setattr(curved, "logistic_path", until)


@pytest.mark.usefixtures("broken")
def test_a_path_that_breaks_off_is_used_as_far_as_it_goes():
    model = PathLogisticRegression(lam=1.0, lam_min=0.1).fit(X, Y)
    assert model.path_.range[0] == 0.3
    with pytest.raises(PathError, match=r"lam = 0\.1 could not be reached: rounding"):
        PathLogisticRegression(lam=0.1).fit(X, Y)
    with pytest.warns(PathWarning, match=r"lam is chosen from 0\.3 to inf alone"):
        assert PathLogisticRegression(cv=3).fit(X, Y).lam_ >= 0.3
    with pytest.raises(PathError, match="rounding"):
        PathLogisticRegression(lam=0.1, check="raise").fit(X, Y)


def test_a_solution_beyond_the_bound_is_told(monkeypatch):
    good = logistic.logistic_path

    def moved(*arguments, **options):
        path = good(*arguments, **options)
        path.points.at.unknowns[:, 0] += 0.5
        return path

    monkeypatch.setattr(curved, "logistic_path", moved)
    with pytest.warns(PathWarning, match=r"at lam = 1 may be off by .* \(limit 0\.0001\), in obj"):
        PathLogisticRegression().fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PathLogisticRegression(check="ignore").fit(X, Y)
