"""Logistic regressions along lam: against other solvers, and the bound at every lam."""

import pickle
import warnings

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit, xlogy
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

from helpers.curved_paths import (
    RATIOS,
    arguments,
    assert_gaps_are_below_the_bound,
    assert_the_bound_holds,
    two_points,
)
from solution_paths import ApproximatePath, PathError, SolutionPath, logistic_path
from solution_paths.glm import follow as module
from solution_paths.glm.columns import Columns
from solution_paths.glm.losses import Logistic
from solution_paths.glm.penalised import Penalised, Point
from solution_paths.verify import curved

KINDS = "normal wide separable raw constant duplicates integers one_hot rare noise flat sparse"


def data(kind, seed):
    """Return X and labels -1, +1 of a kind, most of them degenerate."""
    r = np.random.default_rng(seed)
    n, d = (12, 40) if kind == "wide" else (int(r.integers(6, 60)), int(r.integers(1, 10)))
    X = r.normal(size=(n, d))
    y = np.where(X @ r.normal(size=d) + r.normal(size=n) > 0.3, 1.0, -1.0)
    if kind == "separable":
        y = np.where(X[:, 0] > 0, 1.0, -1.0)
    elif kind == "raw":
        X = X * 10.0 ** r.integers(-1, 4, size=d) + 10.0 ** r.integers(0, 5, size=d)
    elif kind == "constant":
        X = np.column_stack([X, np.full(n, 5000.1), np.zeros(n)])
    elif kind == "duplicates":
        X, y = np.vstack([X, X[: n // 2]]), np.append(y, -y[: n // 2])
        X = np.column_stack([X, X[:, 0], X])
    elif kind == "integers":
        X = r.integers(-1, 2, size=(n, d)).astype(float)
    elif kind == "one_hot":
        X = np.eye(4)[r.integers(0, 4, size=n)]
    elif kind == "rare":
        y = np.where(np.arange(n) == 3, 1.0, -1.0)
    elif kind == "noise":
        y = np.where(r.normal(size=n) > 0, 1.0, -1.0)
    elif kind == "flat":
        X = np.full((n, 2), 3.0)
    elif kind == "sparse":
        X = sp.random_array((n, d), density=0.3, rng=r, format="csr")
    y[:2] = -1.0, 1.0
    return X, y


def start(X, y):
    """Return the largest |x_j.a| of the best constant."""
    X = X.toarray() if sp.issparse(X) else X
    a = np.where(y > 0, 1.0 - (y > 0).mean(), -(y > 0).mean())
    return np.abs((X - X.mean(axis=0)).T @ a).max() or 1.0


def primal(X, y, lam, r, w, b, weights=1.0):
    """Return the objective as the docstring has it."""
    size = r * np.abs(w).sum() + (1 - r) / 2 * (w @ w)
    return (weights * np.logaddexp(0.0, -y * (X @ w + b))).sum() + lam * size


def problem(seed):
    """Return the arguments of a path, and its options."""
    X, y = data(KINDS.split()[seed % 12], seed)
    return arguments(X, y, start(X, y), seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_the_bound_holds_everywhere(seed):
    X, y, low, high, options = problem(seed)
    path = logistic_path(X, y, low, high, **options)
    assert_the_bound_holds(path, low, high, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_it_is_as_good_as_clarabels_optimum(seed):
    X, y, low, high, options = problem(seed)
    r, eps = options["l1_ratio"], options["eps"]
    path = logistic_path(X, y, low, high, **options)
    lam = path.breakpoints[0] * 1.37
    weights = options.get("sample_weight", np.ones(len(y)))
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    loss = weights @ cp.logistic(-cp.multiply(y, X @ w + b))
    size = r * cp.norm1(w) + (1 - r) / 2 * cp.sum_squares(w)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "inaccurate" where columns differ by 1e4
        cp.Problem(cp.Minimize(loss + lam * size)).solve("CLARABEL")
    other = primal(X, y, lam, r, w.value, float(b.value), weights)
    own = primal(X, y, lam, r, path.coef(lam), path.intercept(lam), weights)
    assert own <= other + eps * path.null


@pytest.mark.parametrize("ratio", [1.0, 0.5, 0.0])
def test_scikit_learn_finds_nothing_better(ratio):
    r = np.random.default_rng(3)
    X = r.normal(size=(80, 5))
    y = np.where(X[:, 0] + r.normal(size=80) > 0.0, 1.0, -1.0)
    path = logistic_path(X, y, 0.05, l1_ratio=ratio, eps=1e-7)
    solver = "saga" if ratio else "newton-cholesky"
    for lam in np.exp(r.uniform(np.log(0.05), np.log(30.0), size=4)):
        model = LogisticRegression(
            C=1 / lam, l1_ratio=ratio, solver=solver, tol=1e-9, max_iter=100_000
        ).fit(X, y)
        other = primal(X, y, lam, ratio, model.coef_[0], model.intercept_[0])
        own = primal(X, y, lam, ratio, path.coef(lam), path.intercept(lam))
        assert abs(own - other) <= 2e-7 * path.null
        np.testing.assert_allclose(path.coef(lam), model.coef_[0], atol=3e-3)


@pytest.mark.parametrize("ratio", RATIOS)
def test_gaps_between_any_two_points_are_below_the_bound(ratio):
    """Not only between optima, nor only where the path goes."""
    for seed in range(20):
        r = np.random.default_rng(seed)
        X, y = r.normal(size=(9, 3)), np.where(np.arange(9) < 4, 1.0, -1.0)
        problem = Penalised(Columns.of(X, False), Logistic(y), r.uniform(0.1, 3.0, 9), ratio)
        ends = two_points(problem, r)
        assert_gaps_are_below_the_bound(problem, ends, int(r.integers(1, 5)))


def test_the_bound_knows_where_entropy_is_flattest():
    """It is at 1/2, within a line from 0.1 to 0.9."""
    y = np.array([1.0, -1.0])
    own = Penalised(Columns.of(np.zeros((2, 1)), False), Logistic(y), np.ones(2), 1.0)
    first, last = (
        Point(1.0, np.zeros(1), 0.0, np.zeros(2), y * a, np.zeros(1)) for a in (0.1, 0.9)
    )
    s = np.linspace(0.0, 1.0, 41)
    gaps, ends = own.gaps(first.towards(last, s)), first.towards(last, np.array([0.0, 1.0]))
    assert (gaps <= gaps[0] + s * (1 - s) * own.bends(ends)[0] + 1e-12).all()


def weighted(seed):
    """Return a problem's data, weights 0 to 3 with some in both classes, and rows so repeated."""
    X, y, low, high, options = problem(seed)
    times = np.random.default_rng(seed).integers(0, 4, len(y))
    times[:2] += 1
    options.pop("sample_weight", None)
    return X, y, low, high, options, times, np.repeat(np.arange(len(y)), times)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_a_weight_counts_as_so_many_rows(seed):
    X, y, low, high, options, times, rows = weighted(seed)
    path = logistic_path(X, y, low, high, sample_weight=times, **options)
    other = logistic_path(X[rows], y[rows], low, high, **options)
    assert path.null == pytest.approx(other.null, rel=1e-14)
    assert (path.dual(low)[times == 0] == 0.0).all()
    each, r = np.where(times > 0, times, 1), options["l1_ratio"]
    for lam in low * np.array([1.0, 1.7, 3.0]):
        if lam > high:
            continue
        w, b = path.coef(lam), path.intercept(lam)
        # the judge of repeated rows says the same of it, and neither path is better than its bound
        here = (np.array([lam]), w[:, None], np.array([b]), (path.dual(lam) / each)[rows, None])
        gap = curved.gaps(X[rows], y[rows], *here, l1_ratio=r).gap[0] / path.null
        assert path.certify(at=lam).gap == pytest.approx(gap, abs=1e-13)
        own = primal(X, y, lam, r, w, b, times)
        again = primal(X[rows], y[rows], lam, r, other.coef(lam), other.intercept(lam))
        assert abs(own - again) <= 1.0001 * path.eps * path.null


@pytest.mark.parametrize("seed", range(12))
def test_a_row_of_no_weight_is_no_row(seed):
    X, y, low, high, options, times, _ = weighted(seed)
    kept, weights = np.flatnonzero(times), times * 0.37
    own = logistic_path(X, y, low, high, sample_weight=weights, **options)
    other = logistic_path(X[kept], y[kept], low, high, sample_weight=weights[kept], **options)
    np.testing.assert_array_equal(own.breakpoints, other.breakpoints)
    np.testing.assert_array_equal(own.coef(1.3 * low), other.coef(1.3 * low))
    np.testing.assert_array_equal(own.dual(1.3 * low)[kept], other.dual(1.3 * low))


def test_all_weights_alike_are_another_unit_of_lam():
    X, y = data("normal", 5)
    one, five = (logistic_path(X, y, c, sample_weight=np.full(len(y), c)) for c in (1.0, 5.0))
    np.testing.assert_allclose(five.breakpoints, 5.0 * one.breakpoints, rtol=1e-9)
    np.testing.assert_allclose(five.coef(9.0), one.coef(1.8), rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(five.dual(9.0), 5.0 * one.dual(1.8), rtol=1e-7, atol=1e-12)


def test_as_few_lines_as_the_theory_says():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    top = start(X, y - 0.5)
    for ratio in (1.0, 0.0):
        counts = []
        for eps in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6):
            path = logistic_path(X, y, 1e-2 * top, top, l1_ratio=ratio, eps=eps)
            counts.append(len(path.bounds))
            assert counts[-1] <= np.log2(100) / (2 * np.sqrt(eps)) + 8
        exponent = np.log(counts[-1] / counts[1]) / np.log(1e3)
        assert 0.15 <= exponent <= 0.5, counts


@pytest.mark.parametrize("seed", range(24))
def test_the_curve_of_log_losses_is_as_near_as_it_says(seed):
    X, y, low, high, options = problem(seed)
    path = logistic_path(X, y, low, high, **options)
    rows, signs = data(KINDS.split()[seed % 12], seed + 500 * (seed % 2))
    if rows.shape[1] != X.shape[1]:
        rows, signs = X, -y
    weights = np.random.default_rng(seed).uniform(size=len(signs))
    curve = path.error_curve(rows, signs, "log_loss", weights)
    assert (curve.edges[0], curve.edges[-1]) == (low, high)
    lam = np.exp(np.random.default_rng(seed).uniform(np.log(low), np.log(20 * low), size=300))
    lam = lam[lam < high]
    losses = np.logaddexp(0.0, -signs[:, None] * path.decision_function(rows, lam))
    found = weights @ losses / weights.sum()
    nodes = np.append(path.breakpoints, path.range[1])
    piece = np.searchsorted(path.breakpoints, lam, side="right")
    largest = curve(np.minimum(nodes, curve.edges[-1]))
    most = np.maximum(np.maximum(largest[piece - 1], largest[piece]), largest[-1])
    assert (np.abs(curve(lam) - found) <= 1.01e-7 * most + 1e-14).all()
    p = path.mean(rows, lam)
    np.testing.assert_allclose(p, expit(path.decision_function(rows, lam)), rtol=1e-14)


def test_the_judge_is_one_of_its_own():
    """It finds what textbook formulas give, and a path that was moved fails."""
    X, y = data("normal", 5)
    path = logistic_path(X, y, 0.1, l1_ratio=0.3, eps=1e-3)
    lam = 0.37
    w, b, a = path.coef(lam), path.intercept(lam), y * path.dual(lam)
    c = X.T @ (y * a)
    entropy = -xlogy(a, a) - xlogy(1 - a, 1 - a)
    dual = entropy.sum() - (np.maximum(np.abs(c) - 0.3 * lam, 0) ** 2).sum() / (1.4 * lam)
    certificate = path.certify(at=lam)
    gap = (primal(X, y, lam, 0.3, w, b) - dual) / path.null
    assert certificate.gap == pytest.approx(gap, abs=1e-12)
    assert (certificate.limit, certificate.n_points) == (1e-3, 1)
    assert certificate.ok
    assert certificate.reliable
    assert str(certificate).startswith("certificate holds: duality gap")
    weights = np.linspace(0.0, 2.0, len(y))
    own = logistic_path(X, y, 0.1, l1_ratio=0.3, eps=1e-3, sample_weight=weights)
    w, b, mean = own.coef(lam), own.intercept(lam), np.maximum(weights, 1e-9)
    a = y * own.dual(lam) / mean
    c = X.T @ own.dual(lam)
    entropy = -(xlogy(a, a) + xlogy(1 - a, 1 - a)) @ weights
    dual = entropy - (np.maximum(np.abs(c) - 0.3 * lam, 0) ** 2).sum() / (1.4 * lam)
    gap = (primal(X, y, lam, 0.3, w, b, weights) - dual) / own.null
    assert own.certify(at=lam).gap == pytest.approx(gap, abs=1e-12)
    path.points.at.unknowns[:, path.statement.held.start] += 0.3  # the first coefficient
    certificate = path.certify()
    assert certificate.status == "fails"
    assert not certificate.reliable
    assert "FAILS" in str(certificate)


@pytest.mark.parametrize("ratio", [1.0, 0.5])
def test_the_judge_moves_duals_into_their_constraints(ratio):
    X, y = data("normal", 5)
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


def test_a_sparse_matrix_gives_the_same_path():
    X, y = data("sparse", 8)
    for ratio in (1.0, 0.0):
        sparse, dense = (
            logistic_path(own, y, 0.05, l1_ratio=ratio, eps=1e-6) for own in (X, X.toarray())
        )
        for lam in (0.06, 0.2, 1.0):
            values = [own.decision_function(X, lam) for own in (sparse, dense)]
            np.testing.assert_allclose(*values, atol=2e-3)
        assert sparse.certify().ok


def test_the_face_is_that_of_other_paths(tmp_path):
    frame = pytest.importorskip("pandas").DataFrame
    r = np.random.default_rng(0)
    X = frame(r.normal(size=(40, 2)), columns=["age", "size"])
    y = np.where(X["age"] + r.normal(size=40) > 0, "yes", "no")
    path = logistic_path(X, y, 0.1, sample_weight=r.uniform(size=40))
    assert isinstance(path, SolutionPath)
    assert path.range == (0.1, np.inf)
    assert path.feature_names == ["age", "size"]
    assert (path.coef(1e6) == 0.0).all()
    odds = path.weights[y == "yes"].sum() / path.weights[y == "no"].sum()
    assert path.intercept(1e6) == pytest.approx(np.log(odds))
    f = path.decision_function(X, [0.2, 3.0])
    assert (path.predict(X, [0.2, 3.0]) == np.where(f >= 0, "yes", "no")).all()
    signs = np.where(y == "yes", 1.0, -1.0)
    np.testing.assert_allclose(
        path.dual(0.1),
        path.weights * signs * expit(-signs * path.decision_function(X, 0.1)),
        atol=1e-2,
    )
    assert path.certify(at=path.breakpoints).gap <= 0.0101 * path.eps
    assert path.best(X, y).value <= (path.predict(X, 0.2) != y).mean() + 1e-12
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
    for own in (path, ApproximatePath.load(tmp_path / "path.npz")):
        with pytest.raises(ValueError, match="losses of this path are curved"):
            own.stated_at(0.2)
        np.testing.assert_array_equal(own.kinks(), path.breakpoints[1:])  # where its lines turn


X, Y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
WRONG = {
    "one class": ((X, [1, 1, 1, 1], 0.1), {}, "y must hold exactly two labels"),
    "three classes": ((X, [0, 1, 2, 2], 0.1), {}, "y must hold exactly two labels"),
    "lengths": ((X, [0, 1], 0.1), {}, "y has shape"),
    "nan": (([[np.nan], [1.0], [2.0], [3.0]], Y, 0.1), {}, "X contains NaN"),
    "lam_min": ((X, Y, 0.0), {}, "lam_min must be a finite number > 0"),
    "lam_max": ((X, Y, 0.1, 0.1), {}, "lam_max must be a number > 0.1"),
    "l1_ratio": ((X, Y, 0.1), {"l1_ratio": 1.5}, "l1_ratio must be a finite number >= 0"),
    "weights": ((X, Y, 0.1), {"sample_weight": [1, -1, 1, 1]}, "sample_weight has negative"),
    "no weights": (
        (X, Y, 0.1),
        {"sample_weight": [1, 0, 1, 0]},
        "sample_weight is zero for every instance of the class 1",
    ),
    "few weights": ((X, Y, 0.1), {"sample_weight": [1, 1]}, "sample_weight has shape"),
    "eps": ((X, Y, 0.1), {"eps": 1e-12}, "eps must be a finite number >= 1e-08"),
}


@pytest.mark.parametrize("what", WRONG)
def test_bad_input_is_named(what):
    arguments, options, match = WRONG[what]
    with pytest.raises(ValueError, match=match):
        logistic_path(*arguments, **options)


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


def test_a_ridge_whose_matrices_do_not_fit_says_so(monkeypatch):
    monkeypatch.setitem(Columns.of.__func__.__globals__, "total_memory", lambda: 1.0)
    with pytest.raises(MemoryError, match="take l1_ratio > 0, or fewer columns"):
        logistic_path(X, Y, 0.1, l1_ratio=0.0)
    assert logistic_path(X, Y, 0.1).certify().ok
