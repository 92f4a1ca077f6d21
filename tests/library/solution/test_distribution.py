"""Predicted distributions, quantiles that don't cross, and the estimator of both."""

import pickle
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from scipy.stats import kstest
from sklearn.linear_model import QuantileRegressor
from sklearn.model_selection import KFold

from path_benchmark.solvers.clarabel_solver import by_clarabel
from solution_paths import (
    PathQuantileRegressor,
    PredictedDistribution,
    SolutionPath,
    kernel_quantile_path,
    noncrossing_quantiles_path,
    quantile_regression_path,
)
from solution_paths.solution.evaluation import piece_values
from solution_paths.verify import Answer, judge

pytestmark = pytest.mark.slow

TAUS = np.array([0.1, 0.5, 0.9])


# -- distributions ----------------------------------------------------------------------------


def curves(seed, m=6, k=7):
    """Return levels and pieces of curves, some flat, some of which fall, with values that tie."""
    r = np.random.default_rng(seed)
    levels = np.r_[0.0, np.sort(r.uniform(size=k - 1)), 1.0]
    left = np.round(r.normal(size=(m, k)), 1)
    right = left + np.round(r.normal(size=(m, k)), 1) * (r.random((m, k)) < 0.6)
    left[0], right[0] = np.sort(left[0]), np.sort(left[0])  # one that ascends
    return levels, left, right


def share_below(levels, left, right, z):
    """Return the length of all levels at which a curve is at most z: its distribution function."""
    low, high = np.minimum(left, right), np.maximum(left, right)
    inside = (low < z) & (z < high)
    share = (z - low) / np.where(inside, high - low, 1.0)
    return (np.diff(levels) * np.where(inside, share, high <= z)).sum()


def score_by_values(levels, left, right, y):
    """Return the CRPS as an integral over values, of a distribution function of lines."""
    knots, total = np.unique([*left, *right, y]), 0.0
    for a, b in pairwise(knots):
        # the limit from the left at b, where the function may jump
        near = np.nextafter(b, -np.inf)
        ends = np.array([share_below(levels, left, right, z) for z in (a, near)]) - (a >= y)
        total += (b - a) * (ends[0] ** 2 + ends[0] * ends[1] + ends[1] ** 2) / 3.0
    return total


@pytest.mark.parametrize("seed", range(8))
def test_what_a_distribution_says_is_exact(seed):
    levels, left, right = curves(seed)
    found = PredictedDistribution.of_curves(levels, left, right)
    r = np.random.default_rng(seed)
    assert (np.diff(found.levels) >= 0).all()
    assert (found.levels[:, [0, -1]] == [0.0, 1.0]).all()
    assert (found.left <= found.right).all()
    assert (found.right[:, :-1] <= found.left[:, 1:]).all()
    width = np.diff(levels)
    np.testing.assert_allclose(found.mean(), ((left + right) / 2) @ width, atol=1e-13)
    y = np.where(r.random(len(left)) < 0.5, np.round(r.normal(size=len(left)), 1), left[:, 2])
    asked = np.append(r.uniform(size=9), [0.0, 1.0, levels[3]])
    quantiles = found.quantile(asked)
    for i, own in enumerate(zip(left, right, strict=True)):
        assert found.cdf(y)[i] == pytest.approx(share_below(levels, *own, y[i]), abs=1e-14)
        assert found.crps(y)[i] == pytest.approx(score_by_values(levels, *own, y[i]), abs=1e-12)
        for u, q in zip(asked, quantiles[i], strict=True):
            assert share_below(levels, *own, q + 1e-9) >= u - 1e-14
            assert share_below(levels, *own, q - 1e-9) <= u + 1e-14
        falls = (own[1] < own[0]).sum() + (own[0][1:] < own[1][:-1]).sum()
        assert found.crossings[i] == falls
    assert found.crossings[0] == 0
    np.testing.assert_array_equal(found.cdf(np.stack([y, y + 1.0], axis=1))[:, 0], found.cdf(y))


def test_steep_and_tiny_pieces_do_not_hide_each_other():
    """A value that is nearly certain beside others: shares are kept to rounding of themselves."""
    levels = np.array([0.0, 0.5, 0.5 + 1e-13, 1.0])
    left, right = np.array([[1.0, 5.0, -1.0]]), np.array([[1.0 + 1e-15, 6.0, -1.0 - 1e-300]])
    found = PredictedDistribution.of_curves(levels, left, right)
    assert found.cdf([0.0])[0] == pytest.approx(0.5 - 1e-13, rel=1e-14)
    assert 1.0 - found.cdf([5.5])[0] == pytest.approx(5e-14, rel=1e-2)
    assert found.quantile(0.25)[0] == -1.0
    assert found.quantile(0.75)[0] == pytest.approx(1.0, abs=1e-14)


def test_samples_have_the_distribution_and_the_seed_decides():
    found = PredictedDistribution.of_curves(*curves(3))
    drawn = found.sample(2000, random_state=1)
    np.testing.assert_array_equal(drawn, found.sample(2000, random_state=1))
    np.testing.assert_allclose(drawn.mean(axis=1), found.mean(), atol=0.15)
    smooth = PredictedDistribution.between([0.2, 0.5, 0.8], np.array([[0.0, 1.0, 4.0]]))
    inner = smooth.sample(4000, random_state=0)[0]
    inner = inner[(inner > 0.0) & (inner < 4.0)]
    placed = [(smooth.cdf([z])[0] - 0.2) / 0.6 for z in inner]
    assert kstest(placed, "uniform").pvalue > 0.01
    assert len(found) == 6
    assert len(found[2:4]) == 2


def test_distributions_of_a_path_are_its_quantiles():
    r = np.random.default_rng(0)
    X = np.round(r.normal(size=(60, 2)), 1)
    y = np.round(X[:, 0] + (1.5 + X[:, 1] ** 2) * r.normal(size=60), 1)
    for path in (
        quantile_regression_path(X, y),
        quantile_regression_path(X, y, penalty="l1", lam=0.02),
        quantile_regression_path(X, y, penalty="l2", lam=0.02),
        kernel_quantile_path(X, y, lam=0.02, gamma=0.5),
    ):
        found, levels = PredictedDistribution.of_path(path, X), path.breakpoints
        left, right = piece_values(path, X, levels)
        np.testing.assert_allclose(found.mean(), (left + right) @ np.diff(levels) / 2, atol=1e-12)
        for z in (y, np.zeros(60), y + 0.37):
            below = [share_below(levels, *own) for own in zip(left, right, z, strict=True)]
            np.testing.assert_allclose(found.cdf(z), below, atol=1e-13)
        score = [score_by_values(levels, *own) for own in zip(left, right, y, strict=True)]
        np.testing.assert_allclose(found.crps(y), score, atol=1e-12)
        # twice the mean of the curve's own pinball losses is no less
        grid = (np.arange(4000) + 0.5) / 4000
        off = y[:, None] - path.predict(X, grid)
        loss = 2.0 * np.maximum(grid * off, (grid - 1.0) * off).mean(axis=1)
        assert (found.crps(y) <= loss + 1e-3 * np.abs(off).max()).all()
        np.testing.assert_allclose(found.crps(y), loss, atol=0.5)


WRONG = {
    "lam": (
        lambda: PredictedDistribution.of_path(
            quantile_regression_path([[0.0], [1.0]], [0.0, 1.0], penalty="l1", tau=0.5), [[0.0]]
        ),
        "a path of quantiles in tau .* not one in lam",
    ),
    "beyond": (lambda: PredictedDistribution.of_curves(*curves(0)).quantile(1.5), "quantiles must"),
    "cover": (lambda: PredictedDistribution.of_curves(*curves(0)).interval(2.0), "coverage must"),
    "y": (lambda: PredictedDistribution.of_curves(*curves(0)).crps([1.0]), "y has shape"),
    "size": (lambda: PredictedDistribution.of_curves(*curves(0)).sample(0), "size must be"),
    "order": (lambda: noncrossing_quantiles_path([[0.0], [1.0]], [0, 1], [0.5, 0.2]), "ascending"),
    "ends": (lambda: noncrossing_quantiles_path([[0.0], [1.0]], [0, 1], [0.0, 0.2]), "ascending"),
    "no cv": (
        lambda: PathQuantileRegressor(penalty=None, cv=2).fit([[0.0], [1.0]], [0, 1]),
        "Without a penalty there is no lam for cv to choose",
    ),
    "unknown": (
        lambda: (
            PathQuantileRegressor(noncrossing=True)
            .fit([[0.0], [1.0], [2.0]], [0, 1, 3])
            .predict_interval([[0.0]], 0.9)
        ),
        "Quantiles from 0.1 to 0.9 alone are known",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused(name):
    call, said = WRONG[name]
    with pytest.raises(ValueError, match=said):
        call()


# -- quantiles that don't cross ---------------------------------------------------------------


def rows_of(kind):
    r = np.random.default_rng(list(KINDS).index(kind))
    X = KINDS[kind](r)
    y = np.round(X[:, 0] + (1.0 + np.abs(X[:, -1])) * r.normal(size=len(X)), 0)
    return X, y


KINDS = {
    "normal": lambda r: r.normal(size=(25, 2)),
    "integers": lambda r: r.integers(-2, 3, size=(24, 2)).astype(float),
    "dependent": lambda r: (lambda a: np.hstack([a, a[:, :1], np.full((18, 1), 3.0)]))(
        r.integers(-1, 2, size=(18, 2)).astype(float)
    ),
    "rows twice": lambda r: np.vstack([r.integers(0, 3, size=(9, 2)).astype(float)] * 2),
    "wide": lambda r: r.normal(size=(7, 9)),
    "far": lambda r: r.normal(size=(20, 2)) + np.array([2000.0, 0.0]),
}


def together(X, y, lam):
    """Return HiGHS's least objective with the l1 penalty, subject to the order of quantiles."""
    (n, d), q = X.shape, len(TAUS)
    k = 2 * d + 1 + 2 * n  # parts of w, b, and of residuals, for each quantile
    cost = [
        np.r_[np.full(2 * d, lam), 0.0, np.full(n, tau / n), np.full(n, (1 - tau) / n)]
        for tau in TAUS
    ]
    line = np.hstack([X, -X, np.ones((n, 1)), np.zeros((n, 2 * n))])
    fit = line + np.hstack([np.zeros((n, 2 * d + 1)), np.eye(n), -np.eye(n)])
    step = np.zeros((q - 1, q))
    step[np.arange(q - 1), np.arange(q - 1)], step[np.arange(q - 1), np.arange(1, q)] = 1.0, -1.0
    found = linprog(
        np.concatenate(cost),
        A_ub=np.kron(step, line),
        b_ub=np.zeros(n * (q - 1)),
        A_eq=np.kron(np.eye(q), fit),
        b_eq=np.tile(y, q),
        bounds=([(0, None)] * (2 * d) + [(None, None)] + [(0, None)] * (2 * n)) * q,
    )
    assert found.status == 0
    assert len(found.x) == k * q
    return found.fun


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_quantiles_together_are_optimal_and_in_order(kind, penalty):
    X, y = rows_of(kind)
    path = noncrossing_quantiles_path(X, y, TAUS, penalty=penalty, check="raise")
    assert path.certify(at_breakpoints=True).ok
    places = path.breakpoints
    places = np.unique([*places[places > 0], *(places[1:] + places[:-1]) / 2])
    mix = np.random.default_rng(1).dirichlet(np.ones(len(X)), 30) @ X
    for lam in places[:: max(1, len(places) // 6)].tolist():
        w, f = path.coef(lam), path.predict(X, lam)
        np.testing.assert_allclose(X @ w.T + path.intercept(lam), f, atol=1e-9)
        off = y[:, None] - f
        value = np.maximum(TAUS * off, (TAUS - 1.0) * off).mean(axis=0).sum()
        value += lam * np.abs(w).sum() if penalty == "l1" else lam / 2 * (w**2).sum()
        assert value == pytest.approx(path.objective_value(lam), rel=1e-9, abs=1e-12)
        if penalty == "l1":
            least = together(X - X.mean(axis=0), y, lam)
        else:
            problem, _ = path.stated_at(lam)
            other = by_clarabel(problem)
            answer = Answer(other.w, other.free, other.duals)
            least = lam * float(judge(problem, answer).primal)
        assert value == pytest.approx(least, rel=1e-7, abs=1e-9)
        assert value <= least * (1 + 1e-9) + 1e-11
        assert (np.diff(path.predict(np.vstack([X, mix]), lam), axis=1) >= -1e-9).all()


def test_one_quantile_together_is_that_by_itself():
    X, y = rows_of("normal")
    for penalty, t in (("l1", 0.05), ("l2", 0.02)):
        path = noncrossing_quantiles_path(X, y, [0.3], penalty=penalty)
        other = quantile_regression_path(X, y, penalty=penalty, tau=0.3)
        np.testing.assert_allclose(path.predict(X, t).ravel(), other.predict(X, t), atol=1e-9)


def test_the_mean_loss_of_several_quantiles_is_exact_and_kept_in_files(tmp_path):
    X, y = rows_of("integers")
    V, v = rows_of("normal")
    path = noncrossing_quantiles_path(X, y, TAUS)
    path.save(tmp_path / "together.npz")
    for own in (path, SolutionPath.load(tmp_path / "together.npz")):
        curve, best = own.error_curve(V, v), own.best(V, v)
        for lam in (*path.breakpoints[1::4].tolist(), best.parameter):
            off = v[:, None] - own.predict(V, lam)
            loss = np.maximum(TAUS * off, (TAUS - 1.0) * off).mean()
            assert curve(lam) == pytest.approx(loss, rel=1e-10)
            assert best.value <= loss * (1 + 1e-12)
    with pytest.raises(ValueError, match="predictions are 3 numbers a row"):
        path.error_curve(V, v, "squared")


# -- the estimator ----------------------------------------------------------------------------


def spread(n=80, seed=0):
    r = np.random.default_rng(seed)
    X = r.normal(size=(n, 3))
    return X, X[:, 0] + (0.5 + np.abs(X[:, 1])) * r.normal(size=n)


WAYS = {
    "l2": {},
    "l1": {"penalty": "l1"},
    "together": {"noncrossing": True},
    "together, l1": {"noncrossing": True, "penalty": "l1"},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("weights", [None, np.random.default_rng(4).integers(0, 3, 80) * 1.0])
def test_lam_is_the_minimiser_of_the_mean_pinball_loss(way, weights):
    X, y = spread()
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    model = PathQuantileRegressor(cv=folds, **WAYS[way]).fit(X, y, sample_weight=weights)
    own = np.ones(80) if weights is None else weights

    def error(lam):
        found = []
        for train, test in folds:
            part = PathQuantileRegressor(lam, **WAYS[way])
            part.fit(X[train], y[train], sample_weight=own[train])
            off = y[test][:, None] - (X[test] @ part.coef_.T + part.intercept_)
            losses = np.maximum(TAUS * off, (TAUS - 1.0) * off).mean(axis=1)
            found.append(np.average(losses, weights=own[test]))
        return np.mean(found)

    assert error(model.lam_) == pytest.approx(model.cv_error_, rel=1e-9)
    for lam in np.geomspace(1e-4, 1.0, 9):
        assert model.cv_path_(lam) == pytest.approx(error(lam), rel=1e-9)
        assert model.cv_path_(lam) >= model.cv_error_ * (1 - 1e-12)
    again = PathQuantileRegressor(model.lam_, **WAYS[way]).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(again.predict_quantiles(X), model.predict_quantiles(X), atol=1e-9)


def test_lines_are_those_of_scikit_learn():
    X, y = spread()
    model = PathQuantileRegressor(0.02, penalty="l1").fit(X, y)
    for k, tau in enumerate(TAUS):
        other = QuantileRegressor(quantile=tau, alpha=0.02).fit(X, y)
        np.testing.assert_allclose(model.coef_[k], other.coef_, atol=1e-9)
        np.testing.assert_allclose(model.intercept_[k], other.intercept_, atol=1e-9)
    np.testing.assert_allclose(model.predict(X), X @ model.coef_[1] + model.intercept_[1])
    plain = PathQuantileRegressor(penalty=None).fit(X, y)
    assert plain.lam_ == 0.0
    other = QuantileRegressor(quantile=0.9, alpha=0.0).fit(X, y)
    np.testing.assert_allclose(plain.coef_[2], other.coef_, atol=1e-9)


@pytest.mark.parametrize("way", WAYS)
def test_predictions_are_in_order_and_crossings_are_counted(way):
    X, y = spread(60)
    new = 4.0 * np.random.default_rng(9).normal(size=(50, 3))
    levels = np.linspace(0.05, 0.95, 13)
    model = PathQuantileRegressor(1e-4, quantiles=levels, **WAYS[way]).fit(X, y)
    frame = pd.DataFrame(X, columns=list("abc"))
    named = PathQuantileRegressor(1e-4, quantiles=levels, **WAYS[way]).fit(frame, y)
    np.testing.assert_array_equal(named.predict_quantiles(frame), model.predict_quantiles(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # its own rows have no names to be missed
        assert named.crossings_ == model.crossings_
    lines = new @ model.coef_.T + model.intercept_
    crossed = (np.diff(lines, axis=1) < -1e-9).sum(axis=1)
    np.testing.assert_array_equal(model.crossings(new), crossed)
    assert crossed.any()
    assert (model.crossings_ == 0) == ("together" in way)
    found = model.predict_quantiles(new)
    assert (np.diff(found, axis=1) >= 0).all()
    if "together" in way:
        np.testing.assert_allclose(found[crossed == 0], lines[crossed == 0], atol=1e-9)
    interval = model.predict_interval(new, 0.8)
    asked = model.predict_quantiles(new, [0.1, 0.9])
    np.testing.assert_allclose(interval, asked, atol=1e-9)
    told = model.predict_distribution(new)
    np.testing.assert_allclose(told.interval(0.8), interval, atol=1e-9)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(new), model.predict(new))
    assert model.score(X, y) > 0.2


def test_intervals_cover_what_they_say():
    X, y = spread(1000)
    model = PathQuantileRegressor(penalty=None).fit(X[:500], y[:500])
    low, high = model.predict_interval(X[500:], 0.8).T
    assert 0.74 <= np.mean((low <= y[500:]) & (y[500:] <= high)) <= 0.86
    placed = model.predict_distribution(X[500:]).cdf(y[500:])
    assert kstest(placed, "uniform").statistic < 0.08


def test_the_score_is_the_share_of_the_losses_that_is_explained():
    X, y = spread()
    weights = np.random.default_rng(0).integers(1, 4, 80)
    model = PathQuantileRegressor(0.01).fit(X, y)
    assert model.score(X, y, weights) == pytest.approx(
        model.score(np.repeat(X, weights, axis=0), np.repeat(y, weights)), rel=1e-9
    )
    off = y[:, None] - model.predict_quantiles(X)
    own = np.maximum(TAUS * off, (TAUS - 1.0) * off).mean(axis=0).sum()
    off = y[:, None] - np.quantile(y, TAUS)
    constant = np.maximum(TAUS * off, (TAUS - 1.0) * off).mean(axis=0).sum()
    assert model.score(X, y) == pytest.approx(1.0 - own / constant, rel=1e-3)
