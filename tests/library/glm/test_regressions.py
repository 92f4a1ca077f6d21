"""Logistic and Poisson regressions along lam: against other solvers, and the bound at every lam."""

import pickle
import warnings

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression, PoissonRegressor

from helpers.curved_paths import (
    RATIOS,
    REGRESSIONS,
    Logistic,
    Poisson,
    assert_gaps_are_below_the_bound,
    assert_the_bound_holds,
    largest,
    largest_at_ends,
    primal,
    primal_at,
    problem,
    two_points,
    weighted,
)
from solution_paths import ApproximatePath, PathError, SolutionPath, logistic_path, poisson_path
from solution_paths.glm import follow as module
from solution_paths.glm.columns import Columns
from solution_paths.glm.losses import LOSSES
from solution_paths.glm.penalised import Penalised, Point
from solution_paths.verify import curved

models = pytest.mark.parametrize("model", REGRESSIONS, ids=lambda model: model.name)


@pytest.mark.slow
@models
@pytest.mark.parametrize("seed", range(60))
def test_the_bound_holds_everywhere(model, seed):
    X, y, low, high, options = problem(model, seed)
    assert_the_bound_holds(model.path(X, y, low, high, **options), low, high, seed)


@pytest.mark.slow
@models
@pytest.mark.parametrize("seed", range(12))
def test_it_is_as_good_as_clarabels_optimum(model, seed):
    if model is Poisson and seed == 8:
        seed += 12 * 5  # counts of 1e5 are beyond Clarabel
    X, y, low, high, options = problem(model, seed)
    r, eps = options["l1_ratio"], options["eps"]
    path = model.path(X, y, low, high, **options)
    lam = path.breakpoints[0] * 1.37
    weights = options.get("sample_weight", np.ones(len(y)))
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    size = r * cp.norm1(w) + (1 - r) / 2 * cp.sum_squares(w)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "inaccurate" where columns differ by 1e4
        whole = model.expression(y, X @ w + b, weights) + lam * size
        cp.Problem(cp.Minimize(whole)).solve("CLARABEL")
    other = primal(model, X, y, lam, r, w.value, float(b.value), weights)
    assert primal_at(model, path, X, y, lam, r, weights) <= other + eps * path.null


@pytest.mark.parametrize("ratio", [1.0, 0.5, 0.0])
def test_scikit_learn_finds_no_better_logistic_regression(ratio):
    r = np.random.default_rng(3)
    X = r.normal(size=(80, 5))
    y = np.where(X[:, 0] + r.normal(size=80) > 0.0, 1.0, -1.0)
    path = logistic_path(X, y, 0.05, l1_ratio=ratio, eps=1e-7)
    solver = "saga" if ratio else "newton-cholesky"
    for lam in np.exp(r.uniform(np.log(0.05), np.log(30.0), size=4)):
        other = LogisticRegression(
            C=1 / lam, l1_ratio=ratio, solver=solver, tol=1e-9, max_iter=100_000
        ).fit(X, y)
        best = primal(Logistic, X, y, lam, ratio, other.coef_[0], other.intercept_[0])
        assert abs(primal_at(Logistic, path, X, y, lam, ratio) - best) <= 2e-7 * path.null
        np.testing.assert_allclose(path.coef(lam), other.coef_[0], atol=3e-3)


@pytest.mark.slow
def test_scikit_learn_finds_no_better_poisson_regression():
    r = np.random.default_rng(3)
    X, weights = r.normal(size=(80, 5)), r.uniform(size=80)
    y = r.poisson(np.exp(X[:, 0] + 0.5)).astype(float)
    path = poisson_path(X, y, 0.05, l1_ratio=0.0, eps=1e-7, sample_weight=weights)
    for lam in np.exp(r.uniform(np.log(0.05), np.log(30.0), size=4)):
        other = PoissonRegressor(
            alpha=lam / weights.sum(), solver="newton-cholesky", tol=1e-10, max_iter=1000
        ).fit(X, y, sample_weight=weights)
        best = primal(Poisson, X, y, lam, 0.0, other.coef_, other.intercept_, weights)
        assert abs(primal_at(Poisson, path, X, y, lam, 0.0, weights) - best) <= 2e-7 * path.null
        np.testing.assert_allclose(path.coef(lam), other.coef_, atol=3e-3)
        np.testing.assert_allclose(path.predict(X, lam), other.predict(X), rtol=1e-2)


@pytest.mark.slow
@models
@pytest.mark.parametrize("ratio", RATIOS)
def test_gaps_between_any_two_points_are_below_the_bound(model, ratio):
    """Not only between optima, nor only where the path goes."""
    for seed in range(20):
        r = np.random.default_rng(seed)
        X = r.normal(size=(9, 3))
        y = model.drawn(X, r)
        problem = Penalised(Columns.of(X, False), model.loss(y), r.uniform(0.1, 3.0, 9), ratio)
        ends = two_points(problem, r)
        for point in ends:
            assert abs(problem.weights @ point.u) <= 1e-12 * (problem.weights @ np.abs(y))
            assert np.isfinite(model.least(y, point.u)).all()
        assert_gaps_are_below_the_bound(problem, ends, int(r.integers(1, 5)))


def test_the_bound_knows_where_entropy_is_flattest():
    """It is at 1/2, within a line from 0.1 to 0.9."""
    y = np.array([1.0, -1.0])
    line = Penalised(Columns.of(np.zeros((2, 1)), False), Logistic.loss(y), np.ones(2), 1.0)
    first, last = (
        Point(1.0, np.zeros(1), 0.0, np.zeros(2), y * a, np.zeros(1)) for a in (0.1, 0.9)
    )
    s = np.linspace(0.0, 1.0, 41)
    gaps, ends = line.gaps(first.towards(last, s)), first.towards(last, np.array([0.0, 1.0]))
    assert (gaps <= gaps[0] + s * (1 - s) * line.bends(ends)[0] + 1e-12).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_is_what_it_states(name):
    """Its derivatives are those of its values, and no f is better than the one of a dual."""
    r = np.random.default_rng(0)
    y = np.where(r.uniform(size=50) > 0.5, 1.0, -1.0) if name == "logistic" else r.poisson(3.0, 50)
    loss, f, h = LOSSES[name](y.astype(float)), r.normal(size=50), 1e-4
    up, down = loss.value(f + h), loss.value(f - h)
    assert (loss.value(f) >= 0.0).all()
    np.testing.assert_allclose(loss.dual(f), (down - up) / (2 * h), atol=1e-6)
    np.testing.assert_allclose(
        loss.curvature(f), (up - 2 * loss.value(f) + down) / h**2, rtol=1e-5, atol=1e-5
    )
    u = loss.dual(f)
    np.testing.assert_allclose(loss.conjugate(u), -u * f - loss.value(f), atol=1e-12)
    others = r.normal(size=(200, 50)) * 3
    assert (-u * others - loss.value(others) <= loss.conjugate(u) + 1e-12).all()
    np.testing.assert_allclose(loss.inverse_conjugate_curvature(u, u), loss.curvature(f), rtol=1e-9)
    third = (loss.curvature(f + h) - loss.curvature(f - h)) / (2 * h)
    assert (np.abs(third) <= loss.third_derivative_bound(f, f + h) + 1e-6).all()
    weights = r.uniform(size=50)
    best = weights @ loss.value(np.full(50, loss.centre(weights)))
    assert best <= min(weights @ loss.value(np.full(50, c)) for c in np.linspace(-3, 3, 601))
    balanced = loss.balanced(u, weights)
    assert abs(weights @ balanced) <= 1e-12
    assert np.isfinite(loss.conjugate(balanced)).all()
    middle = np.linspace(0.0, 1.0, 21)[:, None]
    du = loss.dual(r.normal(size=50) * 2.0) - u
    between = 1.0 / loss.inverse_conjugate_curvature(u, u + du)
    values = loss.conjugate(u + middle * du)
    second = np.diff(values, 2, axis=0) / 0.05**2  # at least the bound of the second derivative
    assert (second >= between * du**2 - 1e-9).all()


@pytest.mark.slow
@models
@pytest.mark.parametrize("seed", range(12))
def test_a_weight_counts_as_so_many_rows(model, seed):
    X, y, low, high, options, times, rows = weighted(model, seed)
    path = model.path(X, y, low, high, sample_weight=times, **options)
    other = model.path(X[rows], y[rows], low, high, **options)
    assert path.null == pytest.approx(other.null, rel=1e-12)
    assert (path.dual(low)[times == 0] == 0.0).all()
    each, r = np.where(times > 0, times, 1), options["l1_ratio"]
    for lam in low * np.array([1.0, 1.7, 3.0]):
        if lam > high:
            continue
        # the judge of repeated rows says the same of it, and neither path is better than its bound
        w, b = path.coef(lam), path.intercept(lam)
        here = (np.array([lam]), w[:, None], np.array([b]), (path.dual(lam) / each)[rows, None])
        judged = curved.gaps(X[rows], y[rows], *here, l1_ratio=r, loss=model.name)
        assert path.certify(at=lam).gap == pytest.approx(judged.gap[0] / path.null, abs=1e-13)
        again = primal_at(model, other, X[rows], y[rows], lam, r)
        assert abs(primal(model, X, y, lam, r, w, b, times) - again) <= (
            1.0001 * path.eps * path.null
        )


@models
@pytest.mark.parametrize("seed", range(12))
def test_a_row_of_no_weight_is_no_row(model, seed):
    X, y, low, high, options, times, _ = weighted(model, seed)
    kept, weights = np.flatnonzero(times), times * 0.37
    path = model.path(X, y, low, high, sample_weight=weights, **options)
    other = model.path(X[kept], y[kept], low, high, sample_weight=weights[kept], **options)
    np.testing.assert_array_equal(path.breakpoints, other.breakpoints)
    np.testing.assert_array_equal(path.coef(1.3 * low), other.coef(1.3 * low))
    np.testing.assert_array_equal(path.dual(1.3 * low)[kept], other.dual(1.3 * low))


@models
def test_all_weights_alike_are_another_unit_of_lam(model):
    X, y = model.data("normal", 5)
    one, five = (model.path(X, y, c, sample_weight=np.full(len(y), c)) for c in (1.0, 5.0))
    np.testing.assert_allclose(five.breakpoints, 5.0 * one.breakpoints, rtol=1e-9)
    np.testing.assert_allclose(five.coef(9.0), one.coef(1.8), rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(five.dual(9.0), 5.0 * one.dual(1.8), rtol=1e-7, atol=1e-12)


def standardised_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), 2.0 * y - 1.0


def counts():
    r = np.random.default_rng(0)
    X = r.normal(size=(400, 20))
    return X, r.poisson(np.exp(X[:, :5] @ r.normal(size=5) / 2)).astype(float)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "drawn"), [(Logistic, standardised_cancer), (Poisson, counts)])
def test_as_few_lines_as_the_theory_says(model, drawn):
    X, y = drawn()
    top = largest(model, X, y)
    for ratio in (1.0, 0.0):
        lines = []
        for eps in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6):
            path = model.path(X, y, 1e-2 * top, top, l1_ratio=ratio, eps=eps)
            lines.append(len(path.bounds))
            assert lines[-1] <= np.log2(100) / (2 * np.sqrt(eps)) + 8
        exponent = np.log(lines[-1] / lines[1]) / np.log(1e3)
        assert 0.15 <= exponent <= 0.5, lines


@pytest.mark.slow
@models
@pytest.mark.parametrize("seed", range(12))
def test_the_curve_of_errors_is_as_near_as_it_says(model, seed):
    X, y, low, high, options = problem(model, seed)
    path = model.path(X, y, low, high, **options)
    rows, targets = model.data(model.kinds.split()[seed], seed + 500 * (seed % 2))
    if rows.shape[1] != X.shape[1]:
        rows, targets = X, y[::-1]
    r = np.random.default_rng(seed)
    weights = r.uniform(size=len(targets))
    curve = path.error_curve(rows, targets, model.metric, weights)
    assert (curve.edges[0], curve.edges[-1]) == (low, high)
    lam = np.exp(r.uniform(np.log(low), np.log(20 * low), size=300))
    lam = lam[lam < high]
    f = path.decision_function(rows, lam)
    found = weights @ model.errors(targets[:, None], f) / weights.sum()
    largest = largest_at_ends(path, curve, lam)
    assert (np.abs(curve(lam) - found) <= 1.01e-7 * largest + 1e-12).all()


@models
def test_the_judge_is_one_of_its_own(model):
    """It finds what textbook formulas give, and a path that was moved fails."""
    X, y = model.data("normal", 5)
    lam = 0.37
    for weights in (np.ones(len(y)), np.linspace(0.0, 2.0, len(y))):
        path = model.path(X, y, 0.1, l1_ratio=0.3, eps=1e-3, sample_weight=weights)
        u, c = path.dual(lam) / np.maximum(weights, 1e-9), X.T @ path.dual(lam)
        dual = weights @ model.least(y, u)
        dual -= (np.maximum(np.abs(c) - 0.3 * lam, 0) ** 2).sum() / (1.4 * lam)
        gap = (primal_at(model, path, X, y, lam, 0.3, weights) - dual) / path.null
        certificate = path.certify(at=lam)
        assert certificate.gap == pytest.approx(gap, abs=1e-12)
        assert (certificate.limit, certificate.n_points) == (1e-3, 1)
        assert certificate.ok
        assert certificate.reliable
        assert str(certificate).startswith("certificate holds: duality gap")
    path.points.at.unknowns[:, path.statement.held.start] += 0.3  # the first coefficient
    certificate = path.certify()
    assert certificate.status == "fails"
    assert not certificate.reliable
    assert "FAILS" in str(certificate)


def test_errors_are_relative_to_the_best_constant():
    X, y = Poisson.data("normal", 5)
    weights = np.linspace(0.0, 2.0, len(y))
    path = poisson_path(X, y, 0.1, sample_weight=weights)
    constant = np.full(len(y), np.log(np.average(y, weights=weights)))
    assert path.null == pytest.approx(weights @ Poisson.values(y, constant), rel=1e-12)


@pytest.mark.parametrize("ratio", [1.0, 0.5])
def test_the_judge_moves_duals_of_labels_into_their_constraints(ratio):
    X, y = Logistic.data("normal", 5)
    path = logistic_path(X, y, 0.1, l1_ratio=ratio, eps=1e-3)
    lam = np.array([0.2, 0.5])
    w, b, a = path.coef(lam), path.intercept(lam), path.dual(lam)

    def judged(duals):
        return curved.gaps(X, y, lam, w, b, duals, l1_ratio=ratio)

    true, most = judged(a), np.where((y > 0)[:, None], 1.2, 1.0)
    np.testing.assert_allclose(judged(a * most).gap, true.gap, atol=1e-9)  # was unbalanced
    if ratio == 1.0:  # beyond |x_j.a| <= lam
        np.testing.assert_allclose(judged(1.1 * a).gap, true.gap, atol=1e-3 * path.null)
    for label in (1.0, -1.0):  # above 1, or on the other label's side of 0
        outside = a.copy()
        outside[y == label] += 5.0
        box = y[:, None] * np.clip(y[:, None] * outside, 0.0, 1.0)
        np.testing.assert_array_equal(judged(outside).gap, judged(box).gap)
        assert (judged(outside).gap > true.gap).all()


def test_the_judge_moves_duals_of_counts_into_their_constraints():
    X, y = Poisson.data("normal", 5)
    path = poisson_path(X, y, 0.1, eps=1e-3)
    lam = np.array([0.2, 0.5])
    w, b, a = path.coef(lam), path.intercept(lam), path.dual(lam)

    def judged(duals):
        return curved.gaps(X, y, lam, w, b, duals, l1_ratio=1.0, loss="poisson")

    means = y[:, None] - a
    np.testing.assert_allclose(judged(y[:, None] - 1.2 * means).gap, judged(a).gap, atol=1e-9)
    outside = a.copy()
    outside[y == 0.0] += 5.0  # means below zero
    assert (judged(outside).gap > judged(a).gap).all()


@models
def test_a_sparse_matrix_gives_the_same_path(model):
    X, y = model.data("sparse", 8)
    for ratio in (1.0, 0.0):
        sparse, dense = (
            model.path(rows, y, 0.05, l1_ratio=ratio, eps=1e-6) for rows in (X, X.toarray())
        )
        for lam in (0.06, 0.2, 1.0):
            values = [path.decision_function(X, lam) for path in (sparse, dense)]
            np.testing.assert_allclose(*values, atol=2e-3)
        assert sparse.certify().ok


def people(model):
    """Return a data frame, and labels or counts."""
    r = np.random.default_rng(0)
    X = pd.DataFrame(r.normal(size=(40, 2)), columns=["age", "size"])
    if model is Logistic:
        return X, np.where(X["age"] + r.normal(size=40) > 0, "yes", "no"), r.uniform(size=40)
    return X, r.poisson(np.exp(X["age"] + 1)), r.uniform(size=40)


@models
def test_the_face_is_that_of_other_paths(model, tmp_path):
    X, y, weights = people(model)
    path = model.path(X, y, 0.1, sample_weight=weights)
    assert isinstance(path, SolutionPath)
    assert path.range == (0.1, np.inf)
    assert path.feature_names == ["age", "size"]
    assert (path.coef(1e6) == 0.0).all()
    assert path.certify(at=path.breakpoints).gap <= 0.0101 * path.eps
    assert path.plot().get_xlabel() == "lam"
    path.plot("dual")
    path.save(tmp_path / "path.npz")
    for again in (ApproximatePath.load(tmp_path / "path.npz"), pickle.loads(pickle.dumps(path))):
        assert repr(again) == repr(path)
        assert (again.coef(0.3) == path.coef(0.3)).all()
        assert str(again.certify()) == str(path.certify())
        assert again.predict(X, 0.3).tolist() == path.predict(X, 0.3).tolist()
    with pytest.raises(ValueError, match=r"was written by ApproximatePath\.save"):
        SolutionPath.load(tmp_path / "path.npz")
    with pytest.raises(ValueError, match="outside this path"):
        path.coef(0.01)
    with pytest.raises(AttributeError, match="no combination of training rows"):
        path.expansion(0.2)
    for one in (path, ApproximatePath.load(tmp_path / "path.npz")):
        with pytest.raises(ValueError, match="losses of this path are curved"):
            one.stated_at(0.2)
        np.testing.assert_array_equal(one.kinks(), path.breakpoints[1:])  # where its lines turn


def test_labels_and_probabilities_are_those_of_the_decisions():
    X, y, weights = people(Logistic)
    path = logistic_path(X, y, 0.1, sample_weight=weights)
    odds = path.weights[y == "yes"].sum() / path.weights[y == "no"].sum()
    assert path.intercept(1e6) == pytest.approx(np.log(odds))
    f = path.decision_function(X, [0.2, 3.0])
    assert (path.predict(X, [0.2, 3.0]) == np.where(f >= 0, "yes", "no")).all()
    np.testing.assert_allclose(path.mean(X, [0.2, 3.0]), expit(f), rtol=1e-14)
    signs = np.where(y == "yes", 1.0, -1.0)
    a = path.weights * signs * expit(-signs * path.decision_function(X, 0.1))
    np.testing.assert_allclose(path.dual(0.1), a, atol=1e-2)
    assert path.best(X, y).value <= (path.predict(X, 0.2) != y).mean() + 1e-12


def test_counts_are_predicted_by_their_means():
    X, y, _ = people(Poisson)
    path = poisson_path(X, y, 0.1)
    f = path.decision_function(X, [0.2, 3.0])
    np.testing.assert_allclose(path.predict(X, [0.2, 3.0]), np.exp(f))
    np.testing.assert_allclose(path.dual(0.1), y - path.predict(X, 0.1), atol=0.05)
    assert path.intercept(1e6) == pytest.approx(np.log(y.mean()))
    assert path.best(X, y).parameter == 0.1
    assert path.error_curve(X, y)(0.3) == path.error_curve(X, y, "deviance")(0.3)
    with pytest.raises(ValueError, match="not for this path, which predicts counts; use one of"):
        path.error_curve(X, y, "squared")
    with pytest.raises(ValueError, match="y_val has negative entries"):
        path.error_curve(X, -y)


X, Y, COUNTS = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], [0, 1, 0, 4]
LOGISTIC, POISSON = logistic_path, poisson_path
NO_WEIGHTS = "sample_weight is zero for every instance of the class 1"
WRONG = {
    "one class": (LOGISTIC, (X, [1, 1, 1, 1], 0.1), {}, "y must hold exactly two labels"),
    "three classes": (LOGISTIC, (X, [0, 1, 2, 2], 0.1), {}, "y must hold exactly two labels"),
    "lengths": (LOGISTIC, (X, [0, 1], 0.1), {}, "y has shape"),
    "nan": (LOGISTIC, ([[np.nan], [1.0], [2.0], [3.0]], Y, 0.1), {}, "X contains NaN"),
    "lam_min": (LOGISTIC, (X, Y, 0.0), {}, "lam_min must be a finite number > 0"),
    "lam_max": (LOGISTIC, (X, Y, 0.1, 0.1), {}, "lam_max must be a number > 0.1"),
    "l1_ratio": (LOGISTIC, (X, Y, 0.1), {"l1_ratio": 1.5}, "l1_ratio must be a finite number >= 0"),
    "weights": (LOGISTIC, (X, Y, 0.1), {"sample_weight": [1, -1, 1, 1]}, "weight has negative"),
    "no weights": (LOGISTIC, (X, Y, 0.1), {"sample_weight": [1, 0, 1, 0]}, NO_WEIGHTS),
    "few weights": (LOGISTIC, (X, Y, 0.1), {"sample_weight": [1, 1]}, "sample_weight has shape"),
    "eps": (LOGISTIC, (X, Y, 0.1), {"eps": 1e-12}, "eps must be a finite number >= 1e-08"),
    "negative": (POISSON, (X, [0, 1, -1, 2], 0.1), {}, "y has negative entries"),
    "alike": (POISSON, (X, [2, 2, 2, 2], 0.1), {}, "y is 2 in all rows with a weight"),
    "zero": (POISSON, (X, [0, 0, 0, 0], 0.1), {}, "y is 0 in all rows with a weight"),
    "weighted": (POISSON, (X, COUNTS, 0.1), {"sample_weight": [1, 0, 1, 0]}, "y is 0 in all rows"),
    "count lengths": (POISSON, (X, [0, 1], 0.1), {}, "y has shape"),
    "no weight": (POISSON, (X, COUNTS, 0.1), {"sample_weight": [0] * 4}, "is zero everywhere"),
    "least lam": (POISSON, (X, COUNTS, 0.0), {}, "lam_min must be a finite number > 0"),
}


@pytest.mark.parametrize("what", WRONG)
def test_bad_input_is_named(what):
    path, arguments, options, match = WRONG[what]
    with pytest.raises(ValueError, match=match):
        path(*arguments, **options)


def test_where_it_cannot_go_on_it_hands_over_the_part_that_holds(monkeypatch):
    original = module.__globals__["optimum"]

    def until(problem, lam, start, gap):
        return original(problem, lam, start, gap) if lam > 0.1 else None

    monkeypatch.setitem(module.__globals__, "optimum", until)
    with pytest.raises(PathError, match="rounding hides such gaps") as caught:
        logistic_path(X, Y, 0.01)
    assert caught.value.path.range[0] > 0.1
    assert caught.value.path.certify().ok
    with pytest.raises(PathError) as caught:
        logistic_path(X, Y, 0.01, 0.05)
    assert caught.value.path is None


def test_what_has_not_converged_is_no_optimum(monkeypatch):
    optimum = module.__globals__["optimum"]
    X, y = Logistic.data("normal", 5)
    problem = Penalised(Columns.of(X, False), Logistic.loss(y), np.ones(len(y)), 0.5)
    zero = np.zeros(len(y))
    start = problem.point(0.1, np.zeros(X.shape[1]), 0.0, zero)
    assert problem.gaps(optimum(problem, 0.1, start, 1e-9)) <= 1e-9
    monkeypatch.setitem(optimum.__globals__, "MAX_STEPS", 2)
    assert optimum(problem, 0.1, start, 1e-9) is None


def test_a_ridge_whose_matrices_do_not_fit_says_so(monkeypatch):
    monkeypatch.setitem(Columns.of.__func__.__globals__, "total_memory", lambda: 1.0)
    with pytest.raises(MemoryError, match="take l1_ratio > 0, or fewer columns"):
        logistic_path(X, Y, 0.1, l1_ratio=0.0)
    assert logistic_path(X, Y, 0.1).certify().ok
