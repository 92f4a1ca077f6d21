"""What is inactive is exactly 0, what is at a bound exactly there (outlier paths excepted)."""

import warnings

import numpy as np
import pytest
from sklearn.svm import SVC

from solution_paths import (
    SolutionPath,
    asymmetric_svm_path,
    dm_drsvm_path,
    dm_ksvm_path,
    dr_regression_path,
    drlad_path,
    drsvm_path,
    l1_svm_path,
    lasso_path,
    quantile_svm_path,
    svm_path,
    weighted_svm_path,
    weighted_svr_path,
)

DATA = ["plain", "one_hot", "duplicates", "integers"]


def data(kind, n=30):
    rng = np.random.default_rng(DATA.index(kind))
    X = rng.normal(size=(n, 3))
    if kind == "one_hot":
        X = np.eye(3)[rng.integers(0, 3, size=n)]
    if kind == "duplicates":
        X = np.repeat(X[: n // 3], 3, axis=0)
    if kind == "integers":
        X = rng.integers(-2, 3, size=(n, 3)).astype(float)
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1, -1)
    return X, y, np.round(X[:, 0] + rng.normal(size=n), 1)


def weights(n):
    rng = np.random.default_rng(9)
    return rng.integers(0, 3, size=n) / 2 + 0.1, rng.integers(0, 3, size=n) / 3.0


# name: the path, and the largest and least dual in units of the cost, if it has such bounds
MODELS = {
    "svm": (lambda X, y, _: svm_path(X, y), (1, 0)),
    "svm_rbf": (lambda X, y, _: svm_path(X, y, kernel="rbf", gamma=1.0, C_max=100.0), (1, 0)),
    "quantile": (lambda X, y, _: quantile_svm_path(X, y, 0.1), (1, 0)),
    "weighted_svm": (lambda X, y, _: weighted_svm_path(X, y, *weights(len(y))), (1, 0)),
    "weighted_svr": (lambda X, _, y: weighted_svr_path(X, y, *weights(len(y)), 0.1), (1, -1)),
    "dm_ksvm": (lambda X, y, _: dm_ksvm_path(X, y, 3.0), (1, -1)),
    "l1_svm": (lambda X, y, _: l1_svm_path(X, y), (1, -1)),
    "lasso": (lambda X, _, y: lasso_path(X, y, fit_intercept=False), None),
    "drlad": (lambda X, _, y: drlad_path(X, y), None),
    "drlad_lam2": (lambda X, _, y: drlad_path(X, y, vary="lam2", s=1.0), None),
    "dr_regression": (lambda X, _, y: dr_regression_path(X, y, "absolute"), None),
    "drsvm": (lambda X, y, _: drsvm_path(X, y), None),
    "dm_drsvm": (lambda X, y, _: dm_drsvm_path(X, y, 3.0, lam1=0.01), None),
}


def costs_of(path, t):
    """Return what bounds duals at t."""
    if isinstance(path, SolutionPath):
        own = path.line.start.losses[0].pieces.slopes
        if path.parameter == "theta":  # whose costs are rounded twice here
            before, after = weights(len(own))
            return ((1.0 - t) * before + t * after) * (1.0 + 2.0**-51)
        return t if path.parameter == "C" else 1.0 / len(own) if path.scale.inverse else 1.0
    return path.objective.costs(t)


def path_of(name, kind):
    X, y, target = data(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MODELS[name][0](X, y, target)


def points(path, size=60):
    """Return random parameters and breakpoints."""
    rng, t = np.random.default_rng(5), path.breakpoints
    if len(t) < 2:
        return np.array([0.5, 2.0])
    between = t[:-1] + rng.uniform(size=(max(size // max(len(t) - 1, 1), 1), len(t) - 1)) * np.diff(
        t
    )
    found = np.concatenate([t, between.ravel()])
    if path.range[1] == np.inf:
        found = np.append(found, [1.5 * t[-1], 1e3 * t[-1]])
    return found


def ghosts(values):
    """Return what is neither 0 nor larger than what rounding makes of 0."""
    return values[(values != 0.0) & (np.abs(values) < 1e-14 * max(np.abs(values).max(), 1e-300))]


@pytest.mark.slow
@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("name", [name for name, (_, box) in MODELS.items() if box])
def test_duals_are_in_their_box_exactly(name, kind):
    path = path_of(name, kind)
    (most, least), ts = MODELS[name][1], points(path)
    many = path.dual(ts)
    for k, t in enumerate(ts.tolist()):
        cost = costs_of(path, t)
        for alpha in (many[:, k], path.dual(t)):
            assert (alpha >= least * cost).all()
            assert (alpha <= most * cost).all()
            assert not np.signbit(alpha[alpha == 0.0]).any()
    np.testing.assert_array_equal(many, np.stack([path.dual(t) for t in ts.tolist()], axis=1))


# Where a knot lies between levels other than 0 an active dual may be 0 by chance, as it often is on
# degenerate data, and then it is rounding.
CHANCE = {
    ("drlad", "integers"),
    ("drlad", "duplicates"),
    ("dr_regression", "integers"),
    ("dr_regression", "duplicates"),
    ("dm_drsvm", "plain"),
    ("dm_drsvm", "duplicates"),
    ("dm_drsvm", "integers"),
    ("dm_ksvm", "integers"),
    ("quantile", "one_hot"),  # of which lam and the shares of samples are rounded
}
SPARSE = ("lasso", "l1_svm", "drlad", "drlad_lam2", "dr_regression", "drsvm", "dm_drsvm")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind"), [(n, k) for n in MODELS for k in DATA if (n, k) not in CHANCE]
)
def test_nothing_is_left_of_what_is_inactive(name, kind):
    path = path_of(name, kind)
    ts = points(path)
    if name != "lasso":  # whose duals are residuals
        for alpha in path.dual(ts).T:
            assert not len(ghosts(alpha))
    if name in SPARSE:
        for w in (path.coef(ts), np.stack([path.coef(t) for t in ts.tolist()], axis=1)):
            for own in w.T:
                assert not len(ghosts(own))


def test_coefficients_are_zero_where_another_solver_has_none():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(35, 40)), rng.normal(size=35)
    path = lasso_path(X, y, fit_intercept=False)
    t = rng.uniform(path.breakpoints[:-1], path.breakpoints[1:])
    for w in (path.coef(t), np.stack([path.coef(v) for v in t], axis=1)):
        assert not len(ghosts(w))
        residual = y[:, None] - X @ w
        active = np.abs(np.abs(X.T @ residual) - t) < 1e-9 * t.max()
        np.testing.assert_array_equal(active, w != 0.0)


@pytest.mark.parametrize("seed", range(3))
def test_points_are_as_exact_as_doubles_are_where_costs_of_many_rows_move(seed):
    """Ages, incomes, dummies: w is zero, and a few duals make up for all those at their bounds."""
    rng, n = np.random.default_rng(seed), 300
    numbers = [rng.integers(18, 90, n), np.round(rng.lognormal(10, 1, n), -2)]
    levels = np.eye(4)[rng.integers(0, 4, n)]
    X = np.column_stack([*numbers, rng.integers(0, 2, (n, 3)), levels]).astype(float)
    u = ((X - X.mean(axis=0)) / X.std(axis=0))[:, :3].sum(axis=1) + rng.normal(size=n)
    y = np.where(u > np.median(u), 1, -1)
    y[rng.random(n) < 0.1] *= -1
    assert asymmetric_svm_path(X, y).certify(at_breakpoints=True).status != "fails"


def test_support_vectors_are_those_of_libsvm():
    rng = np.random.default_rng(94)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + rng.normal(size=60) > 0, 1, -1)
    C = 10 ** rng.uniform(-2, 1)
    own = np.flatnonzero(svm_path(X, y).dual(C))
    support = SVC(C=C, kernel="linear", tol=1e-10).fit(X, y).support_
    np.testing.assert_array_equal(own, np.sort(support))


def test_points_are_optimal_where_costs_vanish():
    """At the last breakpoints the cost, 1 - theta, is 2e-8: theta is rounded by 3e-9 of it."""
    rng = np.random.default_rng(0)
    X, n = rng.normal(size=(30, 3)), 30
    y = np.where(np.round(X[:, 0] + rng.normal(size=n), 1) > 0, 1, -1)
    path = weighted_svm_path(1e3 * X, y, np.ones(n), np.full(n, 1e-12))
    theta = path.breakpoints[path.breakpoints < 1.0]
    assert 1.0 - theta[-1] < 1e-7
    certificate = path.certify(at=theta)
    assert certificate.ok
    assert certificate.gap < 1e-13
    balance = np.abs(np.where(y > 0, 1.0, -1.0) @ path.dual(theta))
    assert (balance < 1e-13 * (1.0 - theta)).all()
