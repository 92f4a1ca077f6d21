"""Full conformal sets: against refits by a solver that shares nothing, inside and outside."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import sets
import survey
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, LeaveOneOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import solution_paths as paths
from path_benchmark.solvers.clarabel_solver import by_clarabel
from solution_paths import (
    FullConformal,
    FullConformalClassifier,
    JackknifePlus,
    conformal_labels,
    conformal_path,
)
from solution_paths.problem import Losses, Problem, losses, penalties

pytestmark = pytest.mark.slow

RBF = sets.RBF
MODELS = sets.MODELS
ESTIMATORS = {
    "lasso": paths.PathLasso(alpha=0.1),
    "elastic net": paths.PathElasticNet(lam1=0.5, lam2=1.0),
    "Huber": paths.HuberPath(lam=0.5, delta=0.7),
    "SVR": paths.PathSVR(C=0.7, epsilon=0.2),
    "SVR with a kernel": paths.PathSVR(C=2.0, epsilon=0.2, **RBF),
    "quantile": paths.KernelQuantileRegressor(tau=0.7, lam=0.05, **RBF),
    "median, l1": paths.PathQuantileRegressor(lam=0.03, penalty="l1"),
    "median, ridge": paths.PathQuantileRegressor(lam=0.05),
    "median": paths.PathQuantileRegressor(penalty=None),
    "LAD": paths.DrLAD(s=1.1),
    "LAD with a ridge": paths.DrLAD(s=1.1, lam2=0.3),
}
CLASSIFIERS = {
    "SVM": paths.PathSVC(C=0.7),
    "SVM with a kernel": paths.PathSVC(C=2.0, class_weight={0: 2.0, 1: 1.0}, **RBF),
    "l1": paths.L1SVC(lam=0.8),
    "elastic net": paths.ElasticNetSVC(lam1=0.02, lam2=0.1),
}


def data(n=40, d=4, m=3, seed=0):
    r = np.random.default_rng(seed)
    X, new = r.normal(size=(n, d)), r.normal(size=(m, d))
    return X, X[:, 0] - X[:, 1] + r.standard_t(3, n), new


@pytest.mark.parametrize("name", MODELS)
def test_sets_end_where_refits_say(name):
    fit, t = MODELS[name]
    told = Counter()
    for kind in (*survey.KINDS, *survey.HELD_OUT):
        if kind in ("one row", "constant targets"):
            continue
        _, D = next(sets.problems((kind,), 2))
        n = len(D.u) - 1
        path = fit(D.X[:n], D.u[:n])
        if not path.range[0] <= t <= path.range[1]:
            continue
        (own,) = conformal_path(path, t, D.u[:n], D.X[n:])
        assert own.certify().ok, (kind, own.certify())
        found = Counter(sets.ends(own, D.u[:n], path.reading.offset, 0.2))
        assert not found["differs"], kind
        told += found
    assert told["agrees"] >= 30


def test_the_proof_of_sets_runs_on_a_sample():
    found = sets.proved(20, seed=5)
    assert found["sets"] == found["certified"] == 20
    assert found["agrees"] >= 40
    assert not found["differs"]
    wrong = conformal_path(*shifted())[0]
    y = shifted()[2]
    moved = replace(wrong, edges=wrong.edges + 0.1 * np.ptp(y))
    assert Counter(sets.ends(moved, y, 0.0, 0.2))["differs"]
    assert 0.6 < sets.coverage("lasso", 40, True, seed=1) <= 1.0
    assert all(0.5 < share <= 1.0 for share in sets.in_groups(40, True, False, seed=1))
    for name in sets.CLASSIFIERS:
        share, uncertain = sets.of_labels(name, 40, True, seed=1)
        assert 0.6 < share <= 1.0
        assert uncertain == 0 or name == "logistic, l1"  # ties of rows without coefficients
    told = sets.lengths("lasso", 40, 0, new=5, times=1)
    assert told["full_length"] > 0.0 < told["split_length"]


def shifted():
    """Return arguments of a set with two ends."""
    X, y, new = data(n=20, m=1)
    return paths.lasso_path(X, y), 1.0, y, new


FLAT = {"kernel": "rbf", "gamma": 1e-6}  # values that hardly differ: the path centres them
UNIQUE = {name: MODELS[name] for name in ("lasso", "elastic net", "Huber", "SVR")} | {
    "SVR with a flat kernel": (lambda X, y: paths.svr_path(X, y, C_max=2e4, **FLAT), 1e4)
}


@pytest.mark.parametrize("name", UNIQUE)
def test_p_values_are_those_of_refits(name):
    fit, t = UNIQUE[name]
    X, y, new = data()
    for row, own in enumerate(conformal_path(fit(X, y), t, y, new)):
        assert own.prediction == pytest.approx(fit(X, y).predict(new[[row]], t)[0], abs=1e-12)
        for response in np.linspace(-9.0, 9.0, 25):
            b = np.append(y, response)
            f = fit(np.vstack([X, new[[row]]]), b).predict(np.vstack([X, new[[row]]]), t)
            p = np.mean(np.abs(b - f) >= np.abs(b - f)[-1] - 1e-10)
            assert own.p_value(response) == pytest.approx(p, abs=1e-12)


def test_a_ridge_is_the_confidence_machine_of_its_hat_matrix():
    X, y, new = data(n=25, m=1)

    def ridge(t):
        return Problem(Losses(losses.squared(y), X, free=1.0), penalties.l1(4, t), ridge=3.0)

    (own,) = conformal_path(paths.solution_path(ridge, 0.0, 1.0), 0.0, y, new)
    A = np.column_stack([np.vstack([X, new]), np.ones(26)])
    R = np.eye(26) - A @ np.linalg.solve(A.T @ A + np.diag([3.0] * 4 + [0.0]), A.T)
    for response in np.linspace(-8.0, 8.0, 101):
        r = np.abs(R @ np.append(y, response))
        assert own.p_value(response) == pytest.approx(np.mean(r >= r[-1] - 1e-11), abs=1e-12)


def test_a_row_with_most_of_the_say_has_no_bounded_set():
    X, y = np.array([[0.0], [0.1], [-0.1], [0.2], [0.0]]), np.array([0.0, 1.0, -1.0, 0.5, 0.2])

    def least_squares(t):
        return Problem(Losses(losses.squared(y), X, free=1.0), penalties.l1(1, t + 1e-9))

    path = paths.solution_path(least_squares, 0.0, 1.0)
    (far,) = conformal_path(path, 0.0, y, [[50.0]])  # the line goes through it, wherever it is
    assert np.isinf(far.prediction_set(0.3)).any()
    (near,) = conformal_path(path, 0.0, y, [[0.05]])
    assert np.isfinite(near.prediction_set(0.3)).all()


def test_constant_targets_leave_a_point():
    X = np.random.default_rng(1).normal(size=(11, 2))
    y = np.full(11, 1234.5)
    (own,) = conformal_path(paths.lasso_path(X, y), 1.0, y, [[0.3, 0.1]])
    assert own.prediction_set(0.2).tolist() == [[1234.5, 1234.5]]
    assert own.p_value([1234.4, 1234.5, 1235.0]) == pytest.approx([1 / 12, 1.0, 1 / 12])


def test_new_rows_are_alone_however_many_begin_together():
    X, y, new = data(n=20, m=70)
    path = paths.svr_path(X, y, **RBF)
    every = conformal_path(path, 1.0, y, new)
    for k in (0, 33, 69):
        (alone,) = conformal_path(path, 1.0, y, new[[k]])
        assert every[k].edges == pytest.approx(alone.edges, abs=1e-9)
        assert every[k].p == pytest.approx(alone.p)


def test_a_level_that_is_a_p_value_leaves_it_out_whatever_rounding_does():
    for n in range(2, 60):
        for k in range(1, n):
            p, edges = np.array([k, k + 1]) / n, np.array([-np.inf, 0.0, np.inf])
            own = paths.ConformalPath(edges, p, p[1:], 0.0, n, ())
            assert own.prediction_set(k / n).tolist() == [[0.0, np.inf]], (k, n)


@pytest.mark.parametrize(("p", "first"), [(0.07, 0.0), (0.1, 0.0), (0.11, -np.inf)])
def test_without_a_level_sets_hold_nine_responses_of_ten(p, first):
    edges, p = np.array([-np.inf, 0.0, np.inf]), np.array([p, 0.5])
    own = paths.ConformalPath(edges, p, p[1:], 0.0, 100, ())
    assert own.prediction_set().tolist() == [[first, np.inf]]


@pytest.mark.parametrize("rounded", [False, True])
def test_coverage_is_what_is_promised(rounded):
    r, n, alpha, hits = np.random.default_rng(2), 19, 0.2, []
    for _ in range(120):
        X = r.normal(size=(n + 1, 3))
        y = X[:, 0] + r.standard_t(3, n + 1)
        y = np.round(y) if rounded else y
        path = paths.lasso_path(X[:n], y[:n], lam_min=1.0)
        (own,) = conformal_path(path, 2.0, y[:n], X[n:])
        hits.append(own.p_value(y[n]) > alpha)
    error = np.sqrt(alpha * (1.0 - alpha) / len(hits))
    assert np.mean(hits) >= 1.0 - alpha - 2.0 * error
    assert rounded or np.mean(hits) <= 1.0 - alpha + 2.0 * error


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_are_those_of_refits(name):
    X, y, new = data(n=24, m=2, seed=3)
    model = FullConformal(ESTIMATORS[name], alpha=0.2).fit(X, y)
    assert model.predict(new) == pytest.approx(clone(ESTIMATORS[name]).fit(X, y).predict(new))
    for row, response in ((0, 1.0), (1, -2.5), (1, 4.0)):
        A, b = np.vstack([X, new[[row]]]), np.append(y, response)
        residual = np.abs(b - clone(ESTIMATORS[name]).fit(A, b).predict(A))
        p = np.mean(residual >= residual[-1] - 1e-10)
        assert model.p_values(new[[row]], [response]) == pytest.approx([p], abs=1e-12)
    sets, interval = model.predict_set(new), model.predict_interval(new)
    assert interval == pytest.approx(np.array([[own[0, 0], own[-1, 1]] for own in sets]))
    assert (model.predict_interval(new, 0.5)[:, 1] <= interval[:, 1]).all()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_jackknife_plus_is_that_of_refits(name):
    X, y, new = data(n=24, m=2, seed=4)
    model = JackknifePlus(ESTIMATORS[name], alpha=0.2).fit(X, y)
    f = np.empty((3, 24))
    for train, (left,) in LeaveOneOut().split(X):
        own = clone(ESTIMATORS[name]).fit(X[train], y[train])
        f[:, left] = own.predict(np.vstack([new, X[[left]]]))
    assert model.loo_.decisions == pytest.approx(f[2], abs=1e-8)
    low, high = np.sort(f[:2] - np.abs(y - f[2])), np.sort(f[:2] + np.abs(y - f[2]))
    expected = np.column_stack([low[:, 4], high[:, 19]])
    assert model.predict_interval(new) == pytest.approx(expected, abs=1e-8)


ANY = {
    "counts": paths.PathPoissonRegressor(),
    "a pipeline": make_pipeline(StandardScaler(), LinearRegression()),
}


@pytest.mark.parametrize("name", ["lasso", "SVR with a kernel", "LAD with a ridge", *ANY])
def test_cv_plus_is_that_of_refits(name):
    X, y, new = data(n=24, m=2, seed=4)
    y = np.abs(np.round(y)) if name == "counts" else y
    estimator = (ESTIMATORS | ANY)[name]
    model = JackknifePlus(estimator, alpha=0.2, cv=4).fit(X, y)
    assert model.predict(new) == pytest.approx(clone(estimator).fit(X, y).predict(new))
    low, high = [], []
    for train, test in KFold(4).split(X):
        own = clone(estimator).fit(X[train], y[train])
        residual, f = np.abs(y[test] - own.predict(X[test])), own.predict(new)
        low.append(f[:, None] - residual)
        high.append(f[:, None] + residual)
    low, high = (np.sort(np.hstack(part)) for part in (low, high))
    expected = np.column_stack([low[:, 4], high[:, 19]])
    assert model.predict_interval(new) == pytest.approx(expected, abs=1e-8)
    with pytest.raises(ValueError, match="two test sets"):
        JackknifePlus(estimator, cv=[([0, 1, 2], [3]), ([0, 1, 2], [3])]).fit(X, y)
    with pytest.raises(ValueError, match="no test set"):
        JackknifePlus(estimator, cv=[([0, 1, 2], [3])]).fit(X, y)


def side(X):
    return X[:, 0] > 0.0


@pytest.mark.parametrize("name", ["lasso", "SVR with a kernel", "LAD"])
def test_groups_are_compared_within_themselves(name):
    X, y, new = data(n=24, m=4, seed=3)
    model = FullConformal(ESTIMATORS[name], alpha=0.2, groups=side).fit(X, y)
    for row, response in ((0, 1.0), (1, -2.5), (2, 4.0), (3, 0.3)):
        A, b = np.vstack([X, new[[row]]]), np.append(y, response)
        residual = np.abs(b - clone(ESTIMATORS[name]).fit(A, b).predict(A))
        residual = residual[side(A) == side(A)[-1]]
        p = np.mean(residual >= residual[-1] - 1e-10)
        assert model.p_values(new[[row]], [response]) == pytest.approx([p], abs=1e-12)
    alone = FullConformal(ESTIMATORS[name], groups=lambda X: np.arange(len(X)) - 9 * len(X))
    (own,) = alone.fit(X, y).paths(new[:1])  # a group of its own: nothing is known
    assert own.prediction_set(0.2).tolist() == [[-np.inf, np.inf]]
    with pytest.raises(ValueError, match="groups have shapes"):
        conformal_path(MODELS["lasso"][0](X, y), 1.0, y, new, groups=(side(X)[1:], side(new)))


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("kind", ["all", "by label", "groups"])
def test_p_values_of_labels_are_those_of_refits(name, kind):
    X, y, new = data(n=24, m=3, seed=5)
    label = (y > 0.0).astype(int)
    options = {"by label": {"by_label": True}, "groups": {"groups": side}}.get(kind, {})
    model = FullConformalClassifier(CLASSIFIERS[name], alpha=0.2, **options).fit(X, label)
    found = model.labels(new)
    assert found.certify().ok
    assert model.p_values(new) == pytest.approx(found.p)
    for row in range(3):
        for value in (0, 1):
            A, b = np.vstack([X, new[[row]]]), np.append(label, value)
            f = clone(CLASSIFIERS[name]).fit(A, b).decision_function(A)
            margin = np.where(b == 1, f, -f)
            same = {"by label": b == value, "groups": side(A) == side(A)[-1]}.get(kind, b >= 0)
            p = np.mean(margin[same] <= margin[-1] + 1e-9)
            assert found.p[row, value] == pytest.approx(p, abs=1e-12)
    sets = model.predict_set(new)
    assert [own.tolist() for own in sets] == [np.flatnonzero(p > 0.2).tolist() for p in found.p]


SEVERAL = {
    **CLASSIFIERS,
    "classes of other costs": paths.PathSVC(C=0.7, class_weight={0: 1.0, 1: 2.5, 2: 0.5}),
}


@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.parametrize("kind", ["all", "by label", "groups"])
def test_p_values_of_several_labels_are_those_of_refits(name, kind):
    X, y, new = data(n=30, m=2, seed=6)
    label = np.digitize(y, np.quantile(y, [0.4, 0.75]))
    options = {"by label": {"by_label": True}, "groups": {"groups": side}}.get(kind, {})
    model = FullConformalClassifier(SEVERAL[name], alpha=0.2, **options).fit(X, label)
    found = model.labels(new)
    assert found.certify().ok
    assert found.classes.tolist() == [0, 1, 2]
    for row in range(2):
        for value in range(3):
            A, b = np.vstack([X, new[[row]]]), np.append(label, value)
            f = clone(SEVERAL[name]).fit(A, b).decision_function(A)
            others = np.where(np.arange(3) == b[:, None], -np.inf, f)
            margin = f[np.arange(len(b)), b] - others.max(axis=1)
            same = {"by label": b == value, "groups": side(A) == side(A)[-1]}.get(kind, b >= 0)
            p = np.mean(margin[same] <= margin[-1] + 1e-9)
            assert found.p[row, value] == pytest.approx(p, abs=1e-12)
    sets = model.predict_set(new)
    assert [labels.tolist() for labels in sets] == [
        np.flatnonzero(p > 0.2).tolist() for p in found.p
    ]


@pytest.mark.parametrize("kind", [*survey.KINDS, *survey.HELD_OUT])
def test_several_labels_are_those_of_an_outside_solver(kind):
    """On duplicated, constant, dependent and tied data, by bounds within what the solver knows."""
    D = (survey.data if kind in survey.KINDS else survey.held_out)(kind, 4)
    n = len(D.u) - 1
    label = np.arange(n) % 3
    if n < 6:
        return
    X = D.X[:n]
    machines = [paths.svm_path(X, np.where(label == c, 1.0, -1.0), C_max=10.0) for c in range(3)]
    found = conformal_labels(machines, 0.9, label, D.X[n:])
    assert found.certify().ok
    for value in range(3):
        b = np.append(label, value)
        f = np.empty((n + 1, 3))
        for c in range(3):
            hinge = losses.hinge(np.where(b == c, 1.0, -1.0), 0.9)
            problem = Problem(Losses(hinge, D.X, free=1.0), ridge=1.0)
            f[:, c] = sets.predicted(problem, by_clarabel(problem), 0.0)
        others = np.where(np.arange(3) == b[:, None], -np.inf, f)
        margin = f[np.arange(n + 1), b] - others.max(axis=1)
        tie = 1e-6 * max(np.abs(f).max(), 1.0)
        small, large = ((margin[:n] <= margin[n] + way * tie).sum() + 1 for way in (-1, 1))
        assert small <= round(found.p[0, value] * (n + 1)) <= large


@pytest.mark.parametrize("kind", [*survey.KINDS, *survey.HELD_OUT])
def test_labels_are_those_of_an_outside_solver(kind):
    D = (survey.data if kind in survey.KINDS else survey.held_out)(kind, 3)
    n = len(D.u) - 1
    if n < 4:
        return
    label = np.sign(D.u - np.median(D.u[:n]) + 1e-9)
    if len(set(label[:n])) < 2:
        return
    path = paths.svm_path(D.X[:n], label[:n], C_max=10.0)
    found = conformal_labels(path, 0.9, label[:n], D.X[n:])
    assert found.certify().ok
    for k, value in enumerate((-1.0, 1.0)):
        signs = np.append(label[:n], value)
        problem = Problem(Losses(losses.hinge(signs, 0.9), D.X, free=1.0), ridge=1.0)
        f = sets.predicted(problem, by_clarabel(problem), 0.0)
        margin, tie = signs * f, 1e-6 * max(np.abs(f).max(), 1.0)
        small, large = ((margin[:n] <= margin[n] + way * tie).sum() + 1 for way in (-1, 1))
        assert small <= round(found.p[0, k] * (n + 1)) <= large


def test_what_depends_on_the_rows_is_refused():
    X, y, new = data(n=10)
    with pytest.raises(ValueError, match="must not be chosen by the rows"):
        FullConformal(paths.PathLasso(cv=3)).fit(X, y)
    with pytest.raises(ValueError, match="gamma='scale' would be taken from the rows"):
        FullConformal(paths.PathSVR(kernel="rbf", gamma="scale")).fit(X, y)
    with pytest.raises(ValueError, match="FullConformal takes one of DrLAD, "):
        FullConformal(paths.PathSVC()).fit(X, y > 0)
    with pytest.raises(ValueError, match="give FullConformal an estimator with noncrossing=False"):
        FullConformal(paths.PathQuantileRegressor(noncrossing=True)).fit(X, y)
    with pytest.raises(ValueError, match="FullConformalClassifier takes one of ElasticNetSVC, "):
        FullConformalClassifier(paths.PathLasso()).fit(X, y > 0)
    with pytest.raises(ValueError, match=r"class_weight=.balanced. would be taken"):
        FullConformalClassifier(paths.PathSVC(class_weight="balanced")).fit(X, y > 0)
    three = paths.PathSVC().fit(X, np.arange(10) % 3).path_
    with pytest.raises(ValueError, match="y holds 2 labels, and there are 3 paths"):
        conformal_labels(three, 1.0, np.arange(10) % 2, new)
    with pytest.raises(ValueError, match="y holds 3 labels, and there are 0 paths"):
        conformal_labels([], 1.0, np.arange(10) % 3, new)
    with pytest.raises(ValueError, match="other labels than y"):  # each label for the other one
        conformal_labels(paths.svm_path(X, y > 0), 1.0, y <= 0, new)
    with pytest.raises(ValueError, match="other labels than y"):
        conformal_labels([three[1], three[0], three[2]], 1.0, np.arange(10) % 3, new)
    shorter = paths.svm_path(X[:9], np.where(np.arange(9) % 3 == 2, 1.0, -1.0))
    with pytest.raises(ValueError, match=r"The paths are of \[10, 10, 9\] rows"):
        conformal_labels([*three[:2], shorter], 1.0, np.arange(10) % 3, new)
    with pytest.raises(ValueError, match="this path is of numbers"):
        conformal_labels(paths.lasso_path(X, y), 1.0, y > 0, new)
    with pytest.raises(ValueError, match="this one is curved"):
        conformal_labels(paths.hhsvm_path(X, y > 0), 1.0, y > 0, new)
    with pytest.raises(ValueError, match="Rows of one label have different losses"):
        conformal_labels(paths.svm_path(X, y > 0), 1.0, (y > 0)[::-1], new)
    with pytest.raises(ValueError, match="alpha must be < 1, not 1"):
        JackknifePlus(paths.PathLasso(), alpha=1.0).fit(X, y)
    with pytest.raises(ValueError, match="this path is of labels"):
        conformal_path(paths.svm_path(X, y > 0), 1.0, y, new)
    weighted = paths.lasso_path(X, y, sample_weight=np.arange(1.0, 11.0))
    with pytest.raises(ValueError, match="which must have no sample weights"):
        conformal_path(weighted, 1.0, y, new)
    with pytest.raises(ValueError, match="pass the y that the path was computed with"):
        conformal_path(paths.lasso_path(X, y), 1.0, y[::-1], new)
    with pytest.raises(ValueError, match="X_new has 3 columns"):
        conformal_path(paths.lasso_path(X, y), 1.0, y, new[:, :3])
    with pytest.raises(ValueError, match="a kernel that can be computed"):
        conformal_path(paths.svr_path(X @ X.T, y, kernel="precomputed"), 1.0, y, new @ X.T)


def test_wrappers_are_cloned_and_shown():
    model = FullConformal(paths.PathLasso(alpha=0.2), alpha=0.3)
    again = clone(model)
    assert again.get_params()["estimator__alpha"] == 0.2
    assert again.alpha == 0.3
    assert "PathLasso(alpha=0.2)" in repr(again)
