"""Linear quantile regression for every tau and lam, against HiGHS on degenerate data."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog
from sklearn.linear_model import QuantileRegressor

from solution_paths import (
    SolutionPath,
    kernel_quantile_path,
    quantile_regression_path,
)

pytestmark = pytest.mark.slow

KINDS = {
    "integers": lambda r, X: X,
    "a column twice": lambda r, X: np.hstack([X, X[:, :1]]),
    "a constant column": lambda r, X: np.hstack([X, np.full((len(X), 1), 7.0)]),
    "a sum of columns": lambda r, X: np.hstack([X, X[:, :1] * 2.0 + X[:, -1:]]),
    "rows three times": lambda r, X: np.vstack([X, X, X]),
    "all groups as dummies": lambda r, X: np.eye(3)[r.integers(0, 3, len(X))],
    "more columns than rows": lambda r, X: r.normal(size=(6, 9)),
    "normal": lambda r, X: r.normal(size=X.shape),
}
WAYS = {
    "tau": {},
    "l1, tau": {"penalty": "l1", "lam": 0.05},
    "l1, lam": {"penalty": "l1", "tau": 0.3},
    "l1, lam at 0": {"penalty": "l1", "tau": 0.0},
    "no weight of l2, tau": {"penalty": "l2", "lam": 0.0},
}


def degenerate(kind, seed):
    """Return rows, targets of few values and weights, some of them 0."""
    r = np.random.default_rng([seed, list(KINDS).index(kind)])
    X = KINDS[kind](r, r.integers(-2, 3, size=(int(r.integers(2, 24)), 2)).astype(float))
    y = r.integers(0, 4, size=len(X)).astype(float)
    y = y + r.normal(size=len(X)) if kind == "normal" and seed % 2 else y
    weights = r.integers(0, 4, size=len(X)).astype(float)
    weights[0] = 1.0
    return X, y, (None if seed % 2 else weights)


def programme(X, y, tau, lam=0.0, weights=None):
    """Return HiGHS's least objective."""
    n, d = X.shape
    shares = np.full(n, 1.0 / n) if weights is None else weights / weights.sum()
    found = linprog(
        np.r_[np.full(2 * d, lam), 0.0, tau * shares, (1.0 - tau) * shares],
        A_eq=np.hstack([X, -X, np.ones((n, 1)), np.eye(n), -np.eye(n)]),
        b_eq=y,
        bounds=[(0, None)] * (2 * d) + [(None, None)] + [(0, None)] * (2 * n),
        method="highs",
    )
    assert found.status == 0
    return found.fun


def loss(path, X, y, t, tau, lam=0.0, weights=None):
    """Return the objective of what a path hands out at t."""
    residual, w = y - path.predict(X, t), path.coef(t)
    shares = np.full(len(y), 1.0 / len(y)) if weights is None else weights / weights.sum()
    return shares @ np.maximum(tau * residual, (tau - 1.0) * residual) + lam * np.abs(w).sum()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS)
def test_a_path_is_optimal_where_rows_and_columns_depend(kind, way):
    for seed in range(4):
        X, y, weights = degenerate(kind, seed)
        path = quantile_regression_path(X, y, sample_weight=weights, check="raise", **WAYS[way])
        assert path.certify(at_breakpoints=True).ok
        places = path.breakpoints
        beyond = [2.0 * places[-1] + 1.0] if path.range[1] == np.inf else []
        places = np.unique([*places, *(places[1:] + places[:-1]) / 2, *beyond])
        for t in places[:: max(1, len(places) // 9)].tolist():
            own = {"tau": WAYS[way].get("tau", t), "lam": WAYS[way].get("lam", t)}
            own |= {} if WAYS[way].get("penalty") == "l1" else {"lam": 0.0}
            value = loss(path, X, y, t, **own, weights=weights)
            least = programme(X, y, **own, weights=weights)
            np.testing.assert_allclose(value, least, rtol=1e-10, atol=1e-12)
            assert path.objective_value(t) == pytest.approx(value, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("held", [{"lam": 0.1}, {"tau": 0.0}, {"tau": 0.7}])
def test_a_ridge_gives_the_path_of_the_linear_kernel(kind, held):
    X, y, weights = degenerate(kind, 2)
    path = quantile_regression_path(X, y, penalty="l2", sample_weight=weights, **held)
    other = kernel_quantile_path(X, y, kernel="linear", sample_weight=weights, **held)
    assert path.certify(at_breakpoints=True).ok
    t = np.linspace(0.01, 0.99, 23)
    np.testing.assert_allclose(path.predict(X, t), other.predict(X, t), atol=1e-9)


def test_without_columns_that_tell_anything_it_is_the_sample_quantile():
    """It changes at cumulated shares, at which any value between two is a quantile."""
    y = np.array([3.0, 1.0, 1.0, 8.0, 5.0, 3.0, 0.0])
    weights = np.array([1.0, 2.0, 1.0, 1.0, 0.0, 3.0, 2.0])
    path = quantile_regression_path(np.full((7, 2), 4.0), y, sample_weight=weights)
    known = path.breakpoints
    assert all(np.isclose(known, share, rtol=0.0, atol=1e-15).any() for share in (0.2, 0.5, 0.9))
    found = path.predict(np.full((1, 2), 4.0), [0.0, 0.1, 0.2, 0.3, 0.6, 0.9, 0.95, 1.0])
    np.testing.assert_allclose(found[0], [0.0, 0.0, 0.5, 1.0, 3.0, 5.5, 8.0, 8.0], atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_theorem_of_koenker_and_bassett(seed):
    """In general position d + 1 residuals vanish, and tau n lies between the counts of signs."""
    r = np.random.default_rng(seed)
    X, n, d = r.normal(size=(50, 3)), 50, 3
    y = X @ [1.0, -1.0, 0.5] + (1.0 + X[:, 0] ** 2) * r.normal(size=n)
    path = quantile_regression_path(X, y)
    middles = (path.breakpoints[1:] + path.breakpoints[:-1]) / 2
    residuals = y[:, None] - path.predict(X, middles)
    zero = np.abs(residuals) <= 1e-10
    below = ((residuals < 0) & ~zero).sum(axis=0)
    np.testing.assert_array_equal(zero.sum(axis=0), d + 1)
    assert (below <= n * middles).all()
    assert (n * middles <= below + d + 1).all()
    # the least loss is concave in tau, linear between breakpoints, and bends at each of them
    values = [programme(X, y, tau) for tau in path.breakpoints]
    np.testing.assert_allclose(
        [path.objective_value(t) for t in path.breakpoints], values, atol=1e-12
    )
    between = [programme(X, y, tau) for tau in middles]
    np.testing.assert_allclose(between, (np.array(values)[1:] + values[:-1]) / 2, atol=1e-12)
    slopes = np.diff(values) / np.diff(path.breakpoints)
    assert (np.diff(slopes) < 0).all()


def test_it_moves_with_targets_and_columns():
    """Quantiles of targets that are scaled, shifted or turned round, and of other units."""
    r = np.random.default_rng(5)
    X = np.round(r.normal(size=(40, 2)), 1)
    y, t = np.round(X @ [1.0, 2.0] + r.standard_t(3, size=40), 1), np.linspace(0.013, 0.987, 31)
    path = quantile_regression_path(X, y)
    larger = quantile_regression_path(X, 3.0 * y - 100.0 + X @ [5.0, 1.0])
    np.testing.assert_allclose(larger.coef(t), 3.0 * path.coef(t) + [[5.0], [1.0]], atol=1e-9)
    np.testing.assert_allclose(larger.intercept(t), 3.0 * path.intercept(t) - 100.0, atol=1e-9)
    turned = quantile_regression_path(X, -y)
    np.testing.assert_allclose(turned.coef(1.0 - t), -path.coef(t), atol=1e-9)
    units = quantile_regression_path(X * [20.0, 0.1] + [50.0, 0.0], y)
    np.testing.assert_allclose(units.coef(t) * [[20.0], [0.1]], path.coef(t), atol=1e-9)


def test_the_l1_penalty_is_that_of_scikit_learn():
    r = np.random.default_rng(0)
    X = r.normal(size=(60, 4))
    y = X @ [2.0, 0.0, -1.0, 0.0] + r.exponential(size=60)
    path = quantile_regression_path(X, y, penalty="l1", tau=0.8)
    places = path.breakpoints
    for lam in (places[1:] + places[:-1])[3::7] / 2:
        other = QuantileRegressor(quantile=0.8, alpha=lam, solver="highs").fit(X, y)
        np.testing.assert_allclose(path.coef(float(lam)), other.coef_, atol=1e-9)
    assert not path.coef(float(places[-1]) * 1.01).any()


def test_sparse_rows_limits_files_and_pictures(tmp_path):
    r = np.random.default_rng(1)
    X, y, told = np.round(r.normal(size=(30, 3))), r.normal(size=30), []
    path = quantile_regression_path(X, y, callback=lambda *done: told.append(done))
    assert told[-1] == (1.0, path.diagnostics["events"])
    other = quantile_regression_path(sp.csr_array(X), y)
    np.testing.assert_allclose(other.coef(0.37), path.coef(0.37), atol=1e-12)
    cut = quantile_regression_path(X, y, penalty="l1", tau=0.4, lam_min=0.02)
    assert cut.range == (0.02, np.inf)
    path.save(tmp_path / "quantiles.npz")
    again = SolutionPath.load(tmp_path / "quantiles.npz")
    np.testing.assert_array_equal(again.predict(X, 0.37), path.predict(X, 0.37))
    assert again.certify().ok
    assert path.plot().get_xlabel() == "tau"
    with pytest.raises(KeyboardInterrupt):
        quantile_regression_path(X, y, callback=stop)


def stop(done, n_events):
    raise KeyboardInterrupt


def test_the_pinball_loss_is_what_it_is_judged_by():
    r = np.random.default_rng(2)
    X, y = r.normal(size=(50, 2)), r.normal(size=50)
    V, v = r.normal(size=(20, 2)), r.normal(size=20)
    path = quantile_regression_path(X, y, penalty="l1", tau=0.9)
    best = path.best(V, v)
    off = v - path.predict(V, best.parameter)
    assert np.mean(np.maximum(0.9 * off, -0.1 * off)) == pytest.approx(best.value, rel=1e-9)
    for lam in path.breakpoints:
        off = v - path.predict(V, float(lam))
        assert np.mean(np.maximum(0.9 * off, -0.1 * off)) >= best.value * (1 - 1e-12)


ALONE = 'There is no lam without a penalty, and tau varies; name "l1" or "l2"'
REFUSED = {
    "no penalty": ({"lam": 1.0}, ALONE),
    "lam alone": ({"vary": "lam"}, ALONE),
    "its limit": ({"lam_min": 0.1}, "lam_min is a limit of a path in lam, but tau varies"),
    "a name": ({"penalty": "l0"}, "penalty must be one of l1, l2"),
    "no name": ({"penalty": 1}, "penalty must be one of l1, l2"),
    "tau alone": ({"tau": 0.5}, ALONE),
    "negative": ({"penalty": "l1", "lam": -1.0}, "lam must be"),
    "above 1": ({"penalty": "l1", "tau": 1.5}, "tau must be"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    options, said = REFUSED[name]
    with pytest.raises(ValueError, match=said):
        quantile_regression_path([[0.0], [1.0], [3.0]], [1.0, 2.0, 5.0], **options)
