"""`SolutionPath.kinks`: where the solution turns, beside breakpoints at which duals alone do."""

import numpy as np
import pytest

from solution_paths import (
    drlad_path,
    lasso_path,
    outlier_svm_path,
    quantile_svm_path,
    svm_path,
    svr_path,
    weighted_svm_path,
)


def integers(n, d, seed, noise=1.0):
    """Return rows of small integers, many of them equal, and labels."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n, d)).astype(float)
    return X, np.where(X @ np.arange(1, d + 1) + noise * rng.normal(size=n) > d * 3, 1.0, -1.0)


def turns(path, values):
    """Return where a line through these values turns or jumps: by thirds of the pieces."""
    edges = path.breakpoints
    edges = edges[np.diff(edges, prepend=-1.0) > 8 * np.spacing(edges)]
    edges = np.append(edges, 2.0 * edges[-1]) if np.isinf(path.range[1]) else edges
    thirds = edges[:-1, None] + np.diff(edges)[:, None] * np.array([1.0, 2.0]) / 3.0
    f = values(thirds.ravel()).reshape(-1, *thirds.shape)
    moved = f[..., 1] - f[..., 0]  # over a third
    moved = np.where(np.abs(moved) > 1e-12 * np.abs(f).max(axis=-1), moved, 0.0)
    rates, begins, ends = moved / np.diff(edges) * 3.0, f[..., 0] - moved, f[..., 1] + moved
    speed, size = (np.abs(x).max(axis=0) for x in (rates, begins))
    bend = np.abs(np.diff(rates, axis=1)).max(axis=0)
    gap = np.abs(begins[:, 1:] - ends[:, :-1]).max(axis=0)
    turned = bend > 1e-6 * np.maximum(speed[1:], speed[:-1])
    return edges[1:-1][turned | (gap > 1e-6 * np.maximum(size[1:], size[:-1]))]


def solution(path):
    def values(t):
        b = np.atleast_2d(path.intercept(t))
        return np.vstack([path.coef(t), b])

    return values


MODELS = {
    "quantile_svm": lambda X, y: quantile_svm_path(X, y, 0.01),
    "svm": lambda X, y: svm_path(X, y, C_max=3.0),
    "weighted_svm": lambda X, y: weighted_svm_path(X, y, np.ones(len(y)), np.arange(len(y)) % 3.0),
    "lasso": lambda X, y: lasso_path(X, y),
    "svr": lambda X, y: svr_path(X, y, epsilon=0.1, C_max=2.0),
    "drlad": lambda X, y: drlad_path(X, y, vary="s", lam2=0.5),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(4))
def test_kinks_are_where_the_solution_turns(name, seed):
    X, y = integers(40, 3, seed)
    y = y + 0.5 * X[:, 0] if name in ("lasso", "svr", "drlad") else y
    path = MODELS[name](X, y)
    expected = turns(path, solution(path))
    assert path.kinks() == pytest.approx(expected, rel=1e-12)
    assert set(path.kinks()) <= set(path.breakpoints)


def test_kinks_are_fewer_than_breakpoints_where_rows_are_tied():
    X, y = integers(60, 2, 0, noise=3.0)
    path = quantile_svm_path(X, y, 0.01)
    assert len(path.kinks()) < len(path.breakpoints) - 2


@pytest.mark.parametrize("copies", [2, 3])
def test_copies_of_all_rows_have_the_same_kinks(copies):
    X, y = integers(50, 3, 1)
    once = quantile_svm_path(X, y, 0.01)
    several = quantile_svm_path(np.repeat(X, copies, axis=0), np.repeat(y, copies), 0.01)
    assert several.kinks() == pytest.approx(once.kinks(), rel=1e-9)


def test_the_order_of_rows_changes_no_kink():
    X, y = integers(80, 3, 2, noise=2.0)
    order = np.random.default_rng(0).permutation(len(y))
    one, other = quantile_svm_path(X, y, 0.003), quantile_svm_path(X[order], y[order], 0.003)
    assert other.kinks() == pytest.approx(one.kinks(), rel=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_kinks_with_a_kernel_are_those_of_the_function(kernel):
    X, y = integers(40, 2, 3, noise=2.0)
    path = svm_path(X, y, kernel=kernel, gamma=0.5, degree=2, coef0=1.0, C_max=5.0)
    grid = np.random.default_rng(0).uniform(0.0, 3.0, size=(60, 2))
    expected = turns(path, lambda t: path.decision_function(grid, t))
    assert path.kinks() == pytest.approx(expected, rel=1e-12)


def test_a_linear_kernel_has_the_kinks_of_the_weights():
    X, y = integers(40, 3, 4, noise=2.0)
    one = svm_path(X, y, C_max=5.0)
    other = svm_path(X @ X.T, y, kernel="precomputed", C_max=5.0)
    assert other.kinks() == pytest.approx(one.kinks(), rel=1e-9)


@pytest.mark.slow
def test_a_jump_is_a_kink():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] > 0.0, 1.0, -1.0)
    y[rng.random(60) < 0.25] *= -1
    path = outlier_svm_path(X, y, 1.0, kernel="rbf", gamma=1.0)
    at = {jump.parameter for jump in path.jumps}
    assert at
    assert at <= set(path.kinks())


def test_kinks_of_a_kept_path_are_the_same(tmp_path):
    X, y = integers(40, 3, 6)
    path = quantile_svm_path(X, y, 0.01)
    path.save(tmp_path / "path.npz")
    assert type(path).load(tmp_path / "path.npz").kinks().tolist() == path.kinks().tolist()


def test_units_change_no_kink():
    X, y = integers(60, 3, 7, noise=2.0)
    one = quantile_svm_path(X, y, 0.01)
    other = quantile_svm_path(2.0**20 * X, y, 0.01 * 4.0**20, intercept_scaling=2.0**20)
    assert other.kinks() == pytest.approx(one.kinks(), rel=1e-9)
