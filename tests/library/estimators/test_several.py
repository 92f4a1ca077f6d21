"""Fused lasso, elastic-net, Huberised and multicategory machines as estimators, against others."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import Lasso
from sklearn.model_selection import GroupKFold, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import solution_paths as paths
from path_benchmark.solvers.clarabel_solver import by_clarabel
from solution_paths.verify import Answer, judge

R = np.random.default_rng(5)
N = 36
X = R.normal(size=(N, 4))
U = X @ [1.0, 1.0, -0.5, -0.5] + 0.4 * R.normal(size=N)
Y = np.where(U + 0.8 * R.normal(size=N) > 0, "yes", "no")
CLASSES = np.array(["a", "b", "c"])[np.digitize(U, [-0.6, 0.6])]
WEIGHTS = R.integers(0, 4, N)
ROWS = np.repeat(np.arange(N), WEIGHTS)

MODELS = {
    "fused": (paths.PathFusedLasso(2.0), U),
    "trend": (paths.PathFusedLasso(2.0, D=np.diff(np.eye(4), n=2, axis=0)), U),
    "elastic net": (paths.ElasticNetSVC(0.03, lam2=0.1), Y),
    "elastic net, three": (paths.ElasticNetSVC(0.03, lam2=0.1, class_weight="balanced"), CLASSES),
    "huberised": (paths.HHSVC(1.0, lam2=0.1), Y),
    "huberised, three": (paths.HHSVC(1.0, lam2=0.1), CLASSES),
    "several": (paths.MulticategorySVC(0.05), CLASSES),
    "several, rbf": (paths.MulticategorySVC(0.05, kernel="rbf", gamma=0.3), CLASSES),
    "several, two": (paths.MulticategorySVC(0.05, class_weight={"yes": 3.0}), Y),
}
BAD = {  # columns that say nothing, or the same
    "constant column": np.column_stack([X, np.full(N, 3.0)]),
    "copied columns": np.column_stack([X, X[:, :2]]),
    "dependent columns": np.column_stack([X, X.sum(axis=1)]),
    "one-hot": np.eye(4)[np.argsort(X[:, 0]) % 4],
    "one column": X[:, :1],
    "few rows": None,
}


def values(model, rows=X):
    what = "decision_function" if hasattr(model, "decision_function") else "predict"
    return getattr(model, what)(rows)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_solution_is_the_optimum_of_its_statement(name):
    model, y = MODELS[name]
    fitted = clone(model).fit(X, y, sample_weight=WEIGHTS)
    place = getattr(fitted, f"{model._parameter}_")
    for path in fitted.path_ if isinstance(fitted.path_, list) else [fitted.path_]:
        problem, answer = path.stated_at(place)
        other = by_clarabel(problem)
        theirs = judge(problem, Answer(other.w, other.free, other.duals)).primal
        assert judge(problem, answer).primal == pytest.approx(theirs, rel=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_weights_sparse_rows_and_copies_agree(name):
    model, y = MODELS[name]
    fitted = clone(model).fit(X, y, sample_weight=WEIGHTS)
    repeated = clone(model).fit(X[ROWS], y[ROWS])
    np.testing.assert_allclose(values(fitted), values(repeated), atol=1e-8)
    sparse = clone(model).fit(sp.csr_array(X), y, sample_weight=WEIGHTS)
    np.testing.assert_allclose(values(fitted), values(sparse, sp.csr_array(X)), atol=1e-8)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(values(again), values(fitted))


@pytest.mark.slow
@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::solution_paths.PathWarning")
def test_awkward_columns_are_fitted(name, kind):
    model, y = MODELS[name]
    rows = np.array([0, 1, 5, 9, 14, 20, 27, 33]) if kind == "few rows" else np.arange(N)
    columns = X if kind == "few rows" else BAD[kind]
    if "trend" in name:
        model = clone(model).set_params(D=np.eye(columns.shape[1]))
    fitted = clone(model).set_params(cv=KFold(2)).fit(columns[rows], y[rows])
    assert np.isfinite(fitted.predict(columns) == y).all()
    assert fitted.cv_error_ == pytest.approx(
        fitted.cv_path_(getattr(fitted, f"{model._parameter}_")), rel=1e-9
    )
    place = getattr(fitted, f"{model._parameter}_")
    for path in fitted.path_ if isinstance(fitted.path_, list) else [fitted.path_]:
        assert judge(*path.stated_at(place)).reliable
        if "rbf" not in name:  # as lam falls, the kernel's rounding decides, and paths end
            assert path.certify(5).reliable


def test_the_identity_is_a_lasso():
    own = paths.PathFusedLasso(0.1 * N, D=sp.eye_array(4, format="csr")).fit(X, U)
    other = Lasso(0.1, tol=1e-14).fit(X, U)
    np.testing.assert_allclose(own.coef_, other.coef_, atol=1e-8)
    assert own.intercept_ == pytest.approx(other.intercept_)


def test_an_intercept_is_fitted_beside_columns_alone():
    shifted = paths.PathFusedLasso(3.0).fit(X + 50.0, U + 1000.0)
    plain = paths.PathFusedLasso(3.0).fit(X, U)
    np.testing.assert_allclose(shifted.coef_, plain.coef_, atol=1e-9)
    np.testing.assert_allclose(shifted.predict(X + 50.0), plain.predict(X) + 1000.0, atol=1e-8)
    for X_, intercept in ((X, True), (X, False), (None, True)):
        D = np.diff(np.eye(N if X_ is None else 4), axis=0)
        path = paths.generalized_lasso_path(U + 9.0, D, X=X_, fit_intercept=intercept)
        assert (path.intercept(2.0) != 0.0) == (X_ is not None and intercept)
        assert path.certify(5).ok
    with pytest.raises(ValueError, match="D has 3 columns beside 4 coefficients"):
        paths.PathFusedLasso(D=np.eye(3)).fit(X, U)


def test_without_a_ridge_an_elastic_net_machine_is_an_l1_machine():
    own = paths.ElasticNetSVC(0.05, lam2=0.0).fit(X, Y)
    other = paths.L1SVC(0.05 * N).fit(X, Y)
    np.testing.assert_allclose(own.coef_, other.coef_, atol=1e-8)


def test_two_categories_are_a_machine():
    own = paths.MulticategorySVC(0.02).fit(X, Y)
    other = paths.PathSVC(1.0 / (2 * N * 0.02)).fit(X, Y)
    np.testing.assert_allclose(own.decision_function(X), other.decision_function(X), atol=1e-8)
    f = paths.MulticategorySVC(0.02).fit(X, CLASSES).decision_function(X)
    np.testing.assert_allclose(f.sum(axis=1), 0.0, atol=1e-9)


def test_support_vectors_of_several_classes():
    own = paths.MulticategorySVC(0.05, kernel="linear").fit(X, CLASSES)
    assert own.dual_coef_.shape == (3, len(own.support_))
    np.testing.assert_allclose(own.dual_coef_ @ own.support_vectors_, own.coef_, atol=1e-9)
    assert own.n_support_.sum() == len(own.support_)


# ---------------------------------------------------------------- ranking

SCORES = np.digitize(U, [-0.8, 0.0, 0.8]).astype(float)
QUERIES = np.array(["a", "b", "c", "d", "e", "f"])[np.arange(N) % 6]


def discordant(f, scores, queries, weights):
    """Return the share of pairs in the wrong order, of ties half, pair by pair."""
    wrong = total = 0.0
    for i in range(len(f)):
        for j in range(len(f)):
            if scores[i] > scores[j] and queries[i] == queries[j]:
                share = weights[i] * weights[j]
                total += share
                wrong += share * ((f[i] < f[j]) + 0.5 * (f[i] == f[j]))
    return wrong / total


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("weights", [np.ones(N), WEIGHTS + 1.0], ids=["alike", "weights"])
def test_the_cost_of_a_ranking_is_chosen_exactly(kernel, weights):
    model = paths.PathRankingSVM(kernel=kernel, cv=3)
    model.fit(X, SCORES, sample_weight=weights, queries=QUERIES)
    pairs = list(GroupKFold(3).split(X, SCORES, QUERIES))
    grid = np.append(np.geomspace(1e-3, 20.0, 9), model.C_)
    errors = np.zeros(len(grid))
    for train, test in pairs:
        for k, C in enumerate(grid):
            own = paths.PathRankingSVM(C, kernel=kernel)
            own.fit(X[train], SCORES[train], weights[train], queries=QUERIES[train])
            f = own.predict(X[test])
            found = discordant(f, SCORES[test], QUERIES[test], weights[test])
            told = own.score(X[test], SCORES[test], weights[test], QUERIES[test])
            assert told == pytest.approx(1.0 - found)
            errors[k] += found / 3
    np.testing.assert_allclose(model.cv_path_(grid), errors, atol=1e-12)
    assert model.cv_error_ == pytest.approx(errors[-1])
    assert errors[-1] <= errors[:-1].min() + 1e-12
    given = clone(model).set_params(cv=pairs)
    given.fit(X, SCORES, sample_weight=weights, queries=QUERIES)
    assert given.C_ == model.C_


def test_a_ranking_of_repeated_rows():
    own = paths.PathRankingSVM(0.3, kernel="rbf", gamma=0.3)
    own.fit(X, SCORES, sample_weight=WEIGHTS, queries=QUERIES)
    other = clone(own).fit(X[ROWS], SCORES[ROWS], queries=QUERIES[ROWS])
    np.testing.assert_allclose(own.predict(X), other.predict(X), atol=1e-8)
    f = own.dual_coef_ @ np.exp(-0.3 * ((own.support_vectors_[:, None] - X) ** 2).sum(axis=2))
    np.testing.assert_allclose(f[0], own.predict(X), atol=1e-8)
    assert own.n_support_.tolist() == [len(own.support_)]
    assert set(own.support_) <= set(np.flatnonzero(WEIGHTS))


def test_a_shift_of_scores_within_a_query_changes_nothing():
    shift = np.unique(QUERIES, return_inverse=True)[1] * 100.0
    own = paths.PathRankingSVM(cv=3).fit(X, SCORES, queries=QUERIES)
    other = paths.PathRankingSVM(cv=3).fit(X, SCORES + shift, queries=QUERIES)
    assert own.C_ == other.C_
    np.testing.assert_allclose(own.coef_, other.coef_, atol=1e-12)
    assert abs(own.plot().lines[0].get_xdata()).max() > 0


def test_what_a_ranking_refuses():
    with pytest.raises(ValueError, match="no pairs to rank"):
        paths.PathRankingSVM().fit(X, np.ones(N))
    with pytest.raises(ValueError, match="no pairs to rank"):
        paths.PathRankingSVM().fit(X, SCORES, queries=np.arange(N))
    with pytest.raises(ValueError, match="queries has shape"):
        paths.PathRankingSVM().fit(X, SCORES, queries=[1, 2])
    with pytest.raises(ValueError, match="scoring must be one of pairs"):
        paths.PathRankingSVM(cv=3, scoring="squared").fit(X, SCORES)
    alone = [(np.arange(0, 30), np.arange(30, 36)), (np.arange(6, 36), np.arange(0, 6))]
    scores = np.r_[SCORES[:30], np.ones(6)]
    with pytest.warns(paths.PathWarning, match=r"without fold 1 of 2 \(its test rows have no pair"):
        paths.PathRankingSVM(cv=alone).fit(X, scores)


@pytest.mark.parametrize("name", MODELS)
def test_they_stand_in_pipelines_and_are_drawn(name):
    model, y = MODELS[name]
    whole = make_pipeline(StandardScaler(), clone(model)).fit(X, y)
    assert whole.score(X, y) > 0.5
    drawn = whole[-1].plot()
    for axes in drawn if isinstance(drawn, list) else [drawn]:
        assert len(axes.lines) > 1
