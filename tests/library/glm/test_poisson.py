"""Poisson regressions along lam: against other solvers, and the bound at every lam."""

import pickle
import warnings

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import xlogy
from sklearn.linear_model import PoissonRegressor
from sklearn.metrics import mean_poisson_deviance

from helpers.curved_paths import (
    RATIOS,
    arguments,
    assert_gaps_are_below_the_bound,
    assert_the_bound_holds,
    two_points,
)
from solution_paths import ApproximatePath, poisson_path
from solution_paths.glm.columns import Columns
from solution_paths.glm.losses import LOSSES, Poisson
from solution_paths.glm.penalised import Penalised
from solution_paths.verify import curved

pytestmark = pytest.mark.slow

KINDS = "normal wide raw constant duplicates integers one_hot rare large rates flat sparse"


def data(kind, seed):
    """Return X and counts of a kind, most of them degenerate."""
    r = np.random.default_rng([seed, 7])
    n, d = (12, 40) if kind == "wide" else (int(r.integers(6, 60)), int(r.integers(1, 8)))
    X = r.normal(size=(n, d))
    y = r.poisson(np.exp(np.clip(X @ r.normal(size=d) / np.sqrt(d), -3.0, 3.0))).astype(float)
    if kind == "raw":
        X = X * 10.0 ** r.integers(-1, 4, size=d) + 10.0 ** r.integers(0, 5, size=d)
    elif kind == "constant":
        X = np.column_stack([X, np.full(n, 5000.1), np.zeros(n)])
    elif kind == "duplicates":
        X, y = np.vstack([X, X[: n // 2]]), np.append(y, y[: n // 2] + 1)
        X = np.column_stack([X, X[:, 0], X])
    elif kind == "integers":
        X = r.integers(-1, 2, size=(n, d)).astype(float)
    elif kind == "one_hot":
        X = np.eye(4)[r.integers(0, 4, size=n)]
    elif kind == "rare":
        y = np.where(np.arange(n) == 3, 5.0, 0.0)
    elif kind == "large":
        y = np.round(y * 1e5 + r.normal(size=n) ** 2)
    elif kind == "rates":
        y = y / r.uniform(0.5, 20.0, size=n)
    elif kind == "flat":
        X = np.full((n, 2), 3.0)
    elif kind == "sparse":
        X = sp.random_array((n, d), density=0.3, rng=r, format="csr")
    y[0] += 1.0
    y[1] = 0.0
    return X, y


def start(X, y):
    """Return the largest |x_j.a| of the best constant."""
    X = X.toarray() if sp.issparse(X) else X
    return np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() or 1.0


def losses(y, f):
    """Return half the deviances of the means exp(f)."""
    return np.exp(f) - y * f + xlogy(y, y) - y


def primal(X, y, lam, r, w, b, weights=1.0):
    """Return the objective as the docstring has it."""
    size = r * np.abs(w).sum() + (1 - r) / 2 * (w @ w)
    return (weights * losses(y, X @ w + b)).sum() + lam * size


def problem(seed):
    """Return the arguments of a path, and its options."""
    X, y = data(KINDS.split()[seed % 12], seed)
    return arguments(X, y, start(X, y), seed)


@pytest.mark.parametrize("seed", range(60))
def test_the_bound_holds_everywhere(seed):
    X, y, low, high, options = problem(seed)
    path = poisson_path(X, y, low, high, **options)
    assert_the_bound_holds(path, low, high, seed)


@pytest.mark.parametrize("seed", [k for k in range(14) if k % 12 != 8])  # but for counts of 1e5
def test_it_is_as_good_as_clarabels_optimum(seed):
    X, y, low, high, options = problem(seed)
    r, eps = options["l1_ratio"], options["eps"]
    path = poisson_path(X, y, low, high, **options)
    lam = path.breakpoints[0] * 1.37
    weights = options.get("sample_weight", np.ones(len(y)))
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    f = X @ w + b
    size = r * cp.norm1(w) + (1 - r) / 2 * cp.sum_squares(w)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "inaccurate" where columns differ by 1e4
        whole = weights @ cp.exp(f) - (weights * y) @ f + lam * size
        cp.Problem(cp.Minimize(whole)).solve("CLARABEL")
    other = primal(X, y, lam, r, w.value, float(b.value), weights)
    own = primal(X, y, lam, r, path.coef(lam), path.intercept(lam), weights)
    assert own <= other + eps * path.null


def test_scikit_learn_finds_nothing_better():
    r = np.random.default_rng(3)
    X, weights = r.normal(size=(80, 5)), r.uniform(size=80)
    y = r.poisson(np.exp(X[:, 0] + 0.5)).astype(float)
    path = poisson_path(X, y, 0.05, l1_ratio=0.0, eps=1e-7, sample_weight=weights)
    for lam in np.exp(r.uniform(np.log(0.05), np.log(30.0), size=4)):
        model = PoissonRegressor(
            alpha=lam / weights.sum(), solver="newton-cholesky", tol=1e-10, max_iter=1000
        ).fit(X, y, sample_weight=weights)
        other = primal(X, y, lam, 0.0, model.coef_, model.intercept_, weights)
        own = primal(X, y, lam, 0.0, path.coef(lam), path.intercept(lam), weights)
        assert abs(own - other) <= 2e-7 * path.null
        np.testing.assert_allclose(path.coef(lam), model.coef_, atol=3e-3)
        np.testing.assert_allclose(path.predict(X, lam), model.predict(X), rtol=1e-2)


@pytest.mark.parametrize("ratio", RATIOS)
def test_gaps_between_any_two_points_are_below_the_bound(ratio):
    """Not only between optima, nor only where the path goes."""
    for seed in range(20):
        r = np.random.default_rng(seed)
        X, y = r.normal(size=(9, 3)), r.poisson(2.0, 9) + (np.arange(9) == 2.0)
        problem = Penalised(Columns.of(X, False), Poisson(y), r.uniform(0.1, 3.0, 9), ratio)
        ends = two_points(problem, r)
        for point in ends:
            assert abs(problem.weights @ point.u) <= 1e-12 * (problem.weights @ y)
            assert (y - point.u >= 0.0).all()
        assert_gaps_are_below_the_bound(problem, ends, int(r.integers(1, 5)))


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


@pytest.mark.parametrize("seed", range(12))
def test_a_weight_counts_as_so_many_rows(seed):
    X, y, low, high, options = problem(seed)
    options.pop("sample_weight", None)
    times = np.random.default_rng(seed).integers(0, 4, len(y))
    times[:2] += 1
    rows, r = np.repeat(np.arange(len(y)), times), options["l1_ratio"]
    path = poisson_path(X, y, low, high, sample_weight=times, **options)
    other = poisson_path(X[rows], y[rows], low, high, **options)
    assert path.null == pytest.approx(other.null, rel=1e-12)
    lam, each = 1.3 * low, np.where(times > 0, times, 1)
    w, b = path.coef(lam), path.intercept(lam)
    here = (np.array([lam]), w[:, None], np.array([b]), (path.dual(lam) / each)[rows, None])
    gap = curved.gaps(X[rows], y[rows], *here, l1_ratio=r, loss="poisson").gap[0] / path.null
    assert path.certify(at=lam).gap == pytest.approx(gap, abs=1e-13)
    own = primal(X, y, lam, r, w, b, times)
    again = primal(X[rows], y[rows], lam, r, other.coef(lam), other.intercept(lam))
    assert abs(own - again) <= 1.0001 * path.eps * path.null


def test_as_few_lines_as_the_theory_says():
    r = np.random.default_rng(0)
    X = r.normal(size=(400, 20))
    y = r.poisson(np.exp(X[:, :5] @ r.normal(size=5) / 2)).astype(float)
    top = start(X, y)
    for ratio in (1.0, 0.0):
        counts = []
        for eps in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6):
            path = poisson_path(X, y, 1e-2 * top, top, l1_ratio=ratio, eps=eps)
            counts.append(len(path.bounds))
            assert counts[-1] <= np.log2(100) / (2 * np.sqrt(eps)) + 8
        exponent = np.log(counts[-1] / counts[1]) / np.log(1e3)
        assert 0.15 <= exponent <= 0.5, counts


def test_the_judge_is_one_of_its_own():
    """It finds what textbook formulas give, and a path that was moved fails."""
    X, y = data("normal", 5)
    weights = np.linspace(0.0, 2.0, len(y))
    path = poisson_path(X, y, 0.1, l1_ratio=0.3, eps=1e-3, sample_weight=weights)
    lam = 0.37
    w, b, a = path.coef(lam), path.intercept(lam), path.dual(lam)
    means, c = y - a / np.maximum(weights, 1e-9), X.T @ a
    dual = -weights @ (xlogy(means, means) - means - xlogy(y, y) + y)
    dual -= (np.maximum(np.abs(c) - 0.3 * lam, 0) ** 2).sum() / (1.4 * lam)
    gap = (primal(X, y, lam, 0.3, w, b, weights) - dual) / path.null
    assert path.certify(at=lam).gap == pytest.approx(gap, abs=1e-12)
    one = np.full(len(y), np.log(np.average(y, weights=weights)))
    assert path.null == pytest.approx(weights @ losses(y, one), rel=1e-12)
    path.points.at.unknowns[:, path.statement.held.start] += 0.3  # the first coefficient
    assert path.certify().status == "fails"


def test_the_judge_moves_duals_into_their_constraints():
    X, y = data("normal", 5)
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


@pytest.mark.parametrize("seed", range(12))
def test_the_curve_of_deviances_is_as_near_as_it_says(seed):
    X, y, low, high, options = problem(seed)
    path = poisson_path(X, y, low, high, **options)
    curve = path.error_curve(X, y[::-1])
    lam = np.exp(np.random.default_rng(seed).uniform(np.log(low), np.log(20 * low), size=100))
    lam = lam[lam < high]
    found = [mean_poisson_deviance(y[::-1], path.predict(X, t)) for t in lam]
    piece = np.searchsorted(path.breakpoints, lam, side="right")
    nodes = np.append(path.breakpoints, path.range[1])
    largest = curve(np.minimum(nodes, curve.edges[-1]))
    most = np.maximum(np.maximum(largest[piece - 1], largest[piece]), largest[-1])
    assert (np.abs(curve(lam) - found) <= 1.01e-7 * most + 1e-12).all()


def test_the_face_is_that_of_other_paths(tmp_path):
    frame = pytest.importorskip("pandas").DataFrame
    r = np.random.default_rng(0)
    X = frame(r.normal(size=(40, 2)), columns=["age", "size"])
    y = r.poisson(np.exp(X["age"] + 1))
    path = poisson_path(X, y, 0.1)
    assert path.feature_names == ["age", "size"]
    f = path.decision_function(X, [0.2, 3.0])
    np.testing.assert_allclose(path.predict(X, [0.2, 3.0]), np.exp(f))
    np.testing.assert_allclose(path.dual(0.1), y - path.predict(X, 0.1), atol=0.05)
    assert path.intercept(1e6) == pytest.approx(np.log(y.mean()))
    assert path.best(X, y).parameter == 0.1
    path.save(tmp_path / "path.npz")
    for again in (ApproximatePath.load(tmp_path / "path.npz"), pickle.loads(pickle.dumps(path))):
        assert repr(again) == repr(path)
        assert str(again.certify()) == str(path.certify())
        assert again.predict(X, 0.3).tolist() == path.predict(X, 0.3).tolist()
    with pytest.raises(ValueError, match="not for this path, which predicts counts; use one of"):
        path.error_curve(X, y, "squared")
    with pytest.raises(ValueError, match="y_val has negative entries"):
        path.error_curve(X, -y)


X, Y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 4]
WRONG = {
    "negative": ((X, [0, 1, -1, 2], 0.1), {}, "y has negative entries"),
    "alike": ((X, [2, 2, 2, 2], 0.1), {}, "y is 2 in all rows with a weight"),
    "zero": ((X, [0, 0, 0, 0], 0.1), {}, "y is 0 in all rows with a weight"),
    "alike where they count": ((X, Y, 0.1), {"sample_weight": [1, 0, 1, 0]}, "y is 0 in all rows"),
    "lengths": ((X, [0, 1], 0.1), {}, "y has shape"),
    "no weight": ((X, Y, 0.1), {"sample_weight": [0] * 4}, "sample_weight is zero everywhere"),
    "lam_min": ((X, Y, 0.0), {}, "lam_min must be a finite number > 0"),
}


@pytest.mark.parametrize("what", WRONG)
def test_bad_input_is_named(what):
    arguments, options, match = WRONG[what]
    with pytest.raises(ValueError, match=match):
        poisson_path(*arguments, **options)
