"""Probabilities of quantile machines, and decisions that agree with them."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    f1_score,
    log_loss,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV, KFold

from solution_paths import QuantileSVC

pytestmark = pytest.mark.slow

X, Y = make_moons(90, noise=0.45, random_state=3)
X = np.round(X, 1)  # ties
NEW = np.random.default_rng(0).uniform(-2.0, 3.0, size=(400, 2))
THREE = np.digitize(X[:, 0] + 0.4 * np.random.default_rng(1).normal(size=90), [0.0, 1.0])
MODELS = {
    "linear": QuantileSVC(probability=True),
    "rbf": QuantileSVC(probability=True, lam=1e-4, kernel="rbf", gamma=2.0),
    "no bias": QuantileSVC(probability=True, lam=1e-3, intercept_scaling=0.0, kernel="poly"),
}


@pytest.mark.parametrize("name", MODELS)
def test_decisions_agree_with_probabilities_and_are_monotone(name):
    several = 0
    before = None
    for tau in (0.0, 0.2, 0.5, 0.77, 1.0):
        model = clone(MODELS[name]).set_params(tau=tau).fit(X, Y)
        rows = np.vstack([X, NEW])
        p, said = model.predict_proba(rows)[:, 1], model.predict(rows)
        np.testing.assert_array_equal(said, (p >= tau).astype(int))
        np.testing.assert_array_equal(said, (model.decision_function(rows) >= 0).astype(int))
        assert before is None or (said <= before).all()
        before = said
        monotone = model.monotone(rows)
        signs = model.path_.predict(rows, np.linspace(0.0, 1.0, 201))
        falls = (np.diff(signs, axis=1) <= 0).all(axis=1)
        assert falls[monotone].all()
        assert (falls & ~monotone).sum() <= 0.05 * len(rows)  # twice between two of the 201
        clear = monotone & (np.abs(p - tau) > 1e-9)
        np.testing.assert_array_equal(said[clear], model.path_.predict(rows, tau)[clear])
        several += (~monotone).sum()
    assert several > 0 or name == "linear"
    plain = clone(MODELS[name]).set_params(probability=False, tau=0.2).fit(X, Y)
    np.testing.assert_array_equal(plain.predict(NEW), plain.path_.predict(NEW, 0.2))


def scored(metric, y, p, tau):
    """Return an error by scikit-learn."""
    said = (p >= tau).astype(int)
    if metric in ("roc_auc", "average_precision"):
        return 1.0 - {"roc_auc": roc_auc_score, "average_precision": average_precision_score}[
            metric
        ](y, p)
    if metric == "log_loss":
        return log_loss(y, p)
    if metric == "f1":
        return 1.0 - f1_score(y, said)
    if metric == "balanced_error":
        return 1.0 - balanced_accuracy_score(y, said)
    if metric == "error":
        return np.mean(said != y)
    return np.mean(np.asarray(metric)[y, said])


METRICS = ["error", "f1", "balanced_error", "roc_auc", "average_precision", "log_loss"]


@pytest.mark.parametrize("metric", [*METRICS, [[0.0, 1.0], [5.0, 0.5]]], ids=str)
def test_tau_is_chosen_by_the_decisions_that_are_made(metric):
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    model = clone(MODELS["rbf"]).set_params(cv=folds, scoring=metric).fit(X, Y)
    parts = []
    for train, test in folds:
        own = clone(MODELS["rbf"]).fit(X[train], Y[train])
        parts.append((Y[test], own.predict_proba(X[test])[:, 1]))
    for tau in (0.0, 0.11, 0.5, 0.83, 1.0, model.tau_):
        error = np.mean([scored(metric, *part, tau) for part in parts])
        assert model.cv_path_(tau) == pytest.approx(error, abs=1e-12)
        assert error >= model.cv_error_ - 1e-12
    assert model.cv_path_(model.tau_) == pytest.approx(model.cv_error_, abs=1e-12)


def test_the_most_probable_of_several_classes_is_said():
    model = QuantileSVC(probability=True, kernel="rbf", lam=1e-3).fit(X, THREE)
    p = model.predict_proba(NEW)
    np.testing.assert_array_equal(model.predict(NEW), model.classes_[p.argmax(axis=1)])
    np.testing.assert_array_equal(model.decision_function(NEW), p)
    alone = [clone(model).fit(X, k == THREE).monotone(NEW) for k in range(3)]
    np.testing.assert_array_equal(model.monotone(NEW), np.all(alone, axis=0))
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    chosen = clone(model).set_params(cv=folds).fit(X, THREE)
    errors = [np.mean(clone(model).fit(X[a], THREE[a]).predict(X[b]) != THREE[b]) for a, b in folds]
    assert chosen.cv_error_ == pytest.approx(np.mean(errors), abs=1e-12)


@pytest.mark.parametrize("y", [Y, THREE], ids=["two", "three"])
def test_costs_that_are_known_later(y):
    model = QuantileSVC(probability=True, lam=1e-3).fit(X, np.array(list("abc"))[y])
    p, k = model.predict_proba(NEW), len(model.classes_)
    np.testing.assert_array_equal(model.predict(NEW, cost=1 - np.eye(k)), model.predict(NEW))
    cost = np.random.default_rng(0).uniform(0, 3, size=(k, k)) * (1 - np.eye(k))
    said = np.searchsorted(model.classes_, model.predict(NEW, cost=cost))
    risk = p @ cost
    np.testing.assert_allclose(risk[np.arange(len(NEW)), said], risk.min(axis=1))
    for wrong in (np.ones(k), np.ones((k, k + 1)), [[0, np.nan]] * k, "dear", [[0], [1, 2]]):
        with pytest.raises(ValueError, match=rf"cost must hold a finite number .*\({k}, {k}\)"):
            model.predict(NEW, cost=wrong)
    with pytest.raises(ValueError, match="cost needs probabilities: set probability=True"):
        clone(model).set_params(probability=False).fit(X, y).predict(NEW, cost=cost)


def test_lam_is_chosen_by_the_log_loss():
    grid = {"lam": [1e-4, 1e-2, 1.0]}
    search = GridSearchCV(QuantileSVC(probability=True), grid, scoring="neg_log_loss", cv=KFold(3))
    search.fit(X, Y)
    for lam, score in zip(grid["lam"], search.cv_results_["mean_test_score"], strict=True):
        model = QuantileSVC(lam=lam, probability=True, scoring="neg_log_loss", cv=KFold(3))
        assert model.fit(X, Y).cv_error_ == pytest.approx(-score, rel=1e-12)


def test_of_several_lam_the_one_with_the_least_log_loss_is_taken():
    lams, folds = (1e-4, 1e-2, 1.0), KFold(3, shuffle=True, random_state=0)
    model = QuantileSVC(lam=lams, probability=True, kernel="rbf", cv=folds).fit(X, Y)
    single = [clone(model).set_params(lam=lam, scoring="log_loss").fit(X, Y) for lam in lams]
    errors = np.array([one.cv_error_ for one in single])
    for lam, error in zip(lams, errors, strict=True):
        parts = []
        for train, test in folds.split(X):
            own = QuantileSVC(lam=lam, probability=True, kernel="rbf").fit(X[train], Y[train])
            parts.append(log_loss(Y[test], own.predict_proba(X[test])[:, 1]))
        assert error == pytest.approx(np.mean(parts), rel=1e-12)
    assert model.log_losses_ == pytest.approx(errors, rel=1e-12)
    assert model.lam_ == lams[errors.argmin()]
    alone = QuantileSVC(lam=model.lam_, probability=True, kernel="rbf", cv=folds).fit(X, Y)
    assert (model.tau_, model.cv_error_) == (alone.tau_, alone.cv_error_)
    np.testing.assert_array_equal(model.predict_proba(NEW), alone.predict_proba(NEW))
    for wrong in ((), (0.0, 1.0), (np.nan,)):
        with pytest.raises(ValueError, match="lam"):
            QuantileSVC(lam=wrong).fit(X, Y)


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
def test_coupled_probabilities_agree_best_with_those_of_pairs(kernel):
    own, new = (X, NEW[:40]) if kernel == "linear" else (X @ X.T + 1.0, NEW[:40] @ X.T + 1.0)
    weights = np.random.default_rng(2).uniform(0.5, 2.0, len(X))
    model = QuantileSVC(probability=True, coupling=True, lam=1e-3, kernel=kernel)
    p = model.fit(own, THREE, sample_weight=weights).predict_proba(new)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(new), p.argmax(axis=1))
    r = np.zeros((40, 3, 3))
    for i, j in ((0, 1), (0, 2), (1, 2)):
        rows = np.flatnonzero((i == THREE) | (j == THREE))
        pair = QuantileSVC(probability=True, lam=1e-3, kernel=kernel)
        part, there = (own[rows], new) if kernel == "linear" else (own[rows][:, rows], new[:, rows])
        pair.fit(part, THREE[rows], sample_weight=weights[rows])
        r[:, j, i] = pair.predict_proba(there)[:, 1]
        r[:, i, j] = 1.0 - r[:, j, i]
    grid = np.array([(a, b, 20 - a - b) for a in range(21) for b in range(21 - a)]) / 20.0

    def apart(p):  # the sum of squares that Wu, Lin and Weng (2004) minimise
        off = r.transpose(0, 2, 1) * p[:, :, None] - r * p[:, None, :]
        return (off**2).sum(axis=(1, 2))

    best = np.min([apart(np.tile(one, (40, 1))) for one in grid], axis=0)
    assert (apart(p) <= best + 1e-12).all()
    two = clone(model).fit(own, Y).predict_proba(new)
    np.testing.assert_array_equal(
        two, clone(model).set_params(coupling=False).fit(own, Y).predict_proba(new)
    )


def test_training_rows_with_several_crossings_are_counted():
    for name, model in MODELS.items():
        for y in (Y, THREE):
            own = clone(model).fit(X, y)
            assert own.crossings_ == (~own.monotone(X)).sum(), name
