"""The same loop traces models with a saddle map, soft corners of l1 penalties, and walls."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.linear_model import lars_path

from engine_oracle import assert_least, least_hinge
from solution_paths import l1_svm_path, lasso_path
from solution_paths.engine.operators import gram_operator, rows_operator
from solution_paths.engine.staircase import stack, staircases
from solution_paths.engine.starts import start_from_guess
from solution_paths.engine.state import DONE, WALL
from solution_paths.engine.walker import Walker

CASES = ("gauss", "duplicated columns", "wide", "integers")


def data(name):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(15, 40) if name == "wide" else (40, 6))
    if name == "duplicated columns":
        X = np.hstack([X, X[:, :3], -X[:, :1]])
    if name == "integers":
        X = np.round(X)
    return X, X[:, 0] - X[:, 1] + rng.normal(size=len(X))


@pytest.mark.parametrize("name", CASES)
def test_lasso_holds_at_every_knot(name):
    path = lasso_path(*data(name))
    certificate = path.certify()
    assert certificate.ok, certificate


def test_lasso_agrees_with_lars_where_nothing_ties():
    X, y = data("gauss")
    path = lasso_path(X, y)
    alphas, _, coefs = lars_path(X, y, method="lasso")
    for alpha, coef in zip(alphas, coefs.T, strict=True):
        np.testing.assert_allclose(path.coef(alpha * len(y)), coef, atol=1e-9)
    knots = path.breakpoints[1:-1]
    np.testing.assert_allclose(np.sort(alphas[:-1] * len(y))[-len(knots) :], knots, rtol=1e-9)


def test_lasso_on_the_two_row_tie_where_lars_path_is_wrong():
    X = np.array([[0, 0, 0, -1, 0], [0, -1, 0, 0, 0]], dtype=float)
    path = lasso_path(X, [-2.5, -2.5])
    assert path.certify().ok
    np.testing.assert_allclose(path.coef(1.0), [0, 1.5, 0, 1.5, 0], atol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_l1_svm_against_a_linear_programme(name):
    X, y = data(name)
    y = np.sign(y)
    path = l1_svm_path(X, y)
    certificate = path.certify()
    assert certificate.ok, certificate
    assert path.diagnostics["exchanges"] > 0
    for lam in np.quantile(path.breakpoints, [0.1, 0.4, 0.7, 0.9]):
        w, b = path.coef(lam), path.intercept(lam)
        ours = np.maximum(1 - y * (X @ w + b), 0).sum() + lam * np.abs(w).sum()
        assert ours == pytest.approx(programme(X, y, lam), rel=1e-8, abs=1e-9)


def programme(X, y, lam):
    """Return the optimal value by HiGHS."""
    n, d = X.shape
    cost = np.concatenate([np.full(2 * d, lam), [0, 0], np.ones(n)])
    rows = y[:, None] * np.hstack([X, -X, np.ones((n, 1)), -np.ones((n, 1))])
    found = linprog(cost, -np.hstack([rows, np.eye(n)]), -np.ones(n), method="highs")
    return found.fun


def test_a_walk_stops_at_a_wall_and_a_jump_lowers_the_objective():
    # One sample, K = 1, f = a: inlier with 1 > f >= s. Cost C falls from 0.5: f falls with it
    # until it enters the wall at s = 0.2, where it becomes an outlier (theta = 0: no cost at all).
    s = 0.2
    stairs = staircases([s, 1.0], [np.inf, 0.5, 0.0], level_rates=[0.0, -0.5, 0.0], size=1)
    walker = Walker(gram_operator(np.eye(1)), stairs, np.array([2], dtype=np.int8), np.zeros(1))
    walker.begin(stairs, 0.0, walls=np.array([1 << 0]))
    assert walker.walk(1.0) == WALL
    np.testing.assert_allclose(walker.duals(), [s])
    np.testing.assert_allclose(walker.s.clock.t, 1 - s / 0.5)
    # The jump: the sample's level moves from its dual to C theta = 0 on the piece beyond the wall.
    jump = staircases([s], [s, -np.inf], level_rates=[-s, 0.0], size=1)
    flipped = Walker(gram_operator(np.eye(1)), jump, np.array([0], dtype=np.int8), np.zeros(1))
    assert flipped.walk(1.0) == DONE
    np.testing.assert_allclose(flipped.duals(), [0.0], atol=1e-15)
    C = 0.5 * (1 - walker.s.clock.t)
    before = 0.5 * s**2 + C * (1 - s)
    after = 0.0 + C * (1 - s)  # an outlier's loss is capped at 1 - s
    assert after < before


def ramp(z, s, theta):
    """Return the robust SVM's loss: the hinge down to z = s, below it with slope theta."""
    return np.where(z >= s, np.maximum(1 - z, 0.0), (1 - s) + theta * (s - z))


def robust_toy(seed):
    """Return (H, X, y): margins z = H a of a linear machine, four labels of it wrong."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(30) < 15, 1.0, -1.0)
    X = np.column_stack([rng.normal(size=(30, 2)) + 1.2 * y[:, None], np.ones(30)])
    y[[2, 9, 17, 25]] *= -1
    return (X @ X.T) * np.outer(y, y), X, y


@pytest.mark.parametrize(("seed", "s"), [(0, -0.2), (1, 0.4), (2, 0.0), (3, 0.2), (8, 0.0)])
def test_one_outlier_jump_of_the_robust_svm(seed, s):
    """theta falls from 1 until an inlier reaches z = s; its dual then moves at fixed theta."""
    (H, X, y), n, C = robust_toy(seed), 30, 0.5
    plain = staircases([1.0], [C, 0.0], size=n)
    walker = start_from_guess(gram_operator(H), plain, 0.0, np.zeros(n))
    outlier = H @ walker.duals() < s
    assert 0 < outlier.sum() < n

    def levels(first, second, third):
        return [np.where(outlier, first, np.inf), np.where(outlier, -np.inf, second), third]

    rates = [np.where(outlier, -C, 0.0), 0.0, 0.0]
    third = np.where(outlier, -np.inf, 0.0)
    stairs = staircases([s, 1.0], levels(C, C, third), level_rates=rates, size=n)
    a = walker.duals()
    z = H @ a
    state = np.where(outlier, 0, np.where(z < 1 - 1e-9, 2, np.where(z > 1 + 1e-9, 4, 3)))
    walker = Walker(gram_operator(H), stairs, state.astype(np.int8), a)
    walker.begin(stairs, 0.0, walls=np.full(n, 1 << 0))
    assert walker.walk(1.0) == WALL
    theta = 1.0 - walker.s.clock.t
    a, states = walker.duals(), walker.s.state.copy()
    (new,) = np.flatnonzero(states == 1)
    assert not outlier[new]
    z = H @ a
    assert z[new] == pytest.approx(s, abs=1e-12)
    before = 0.5 * a @ z + C * ramp(z, s, theta).sum()

    # The jump: on the piece beyond the wall, its level goes from C to theta C; all others react.
    still = stairs.substitute(1.0 - theta, 0.0)
    still.level0[new] = C, -np.inf, -np.inf
    still.level1[new] = (theta - 1) * C, 0.0, 0.0
    states[new] = 0
    jump = Walker(gram_operator(H), still, states, a)
    assert jump.walk(1.0) == DONE
    a = jump.duals()
    z = H @ a
    outlier[new] = True
    assert (z[outlier] <= s + 1e-12).all()
    assert (z[~outlier] >= s - 1e-12).all()
    cost = np.where(outlier, theta * C, C)
    hinge_part = 0.5 * a @ z + cost @ np.maximum(1 - z, 0.0)
    assert_least(hinge_part, least_hinge(X, y, cost))
    after = 0.5 * a @ z + C * ramp(z, s, theta).sum()
    assert after < before - 1e-4


def test_lines_that_can_not_begin_cost_no_other():
    """A sample and a feature: without softness the feature alone is no regular system."""
    sample = staircases([0.5], [1.0, -1.0])
    feature = staircases([1.0], [0.0, -np.inf], kink_rates=[-1.0])
    op = rows_operator(np.empty((1, 0)), np.ones((1, 1)))
    soft = np.array([[0.0, -1.0], [0.0, 0.0], [0.0, -1.5]])
    states, start = np.array([0, 1], dtype=np.int8), np.zeros(2)
    stairs = stack(sample, feature)
    lines = Walker(op, stairs, states, start, soft=soft).walk_lines(1.0)
    assert "singular" in str(lines[1].error)
    assert len(lines[1].trace.t) == 0
    for line in (lines[0], lines[2]):
        assert line.error is None
        assert line.ending == DONE
        np.testing.assert_allclose(line.duals, line.trace.duals(len(line.trace.t) - 1))
        np.testing.assert_allclose(-line.duals[1], 0.5)
        assert line.trace.t[0] == 0.0
    # a_sample - delta a_feature = 1 - t
    np.testing.assert_allclose(lines[0].duals[0], 0.5)
    alone = Walker(op, stack(sample, replace(feature, soft=soft[0, 1:])), states, start)
    assert alone.walk(1.0) == DONE
    np.testing.assert_array_equal(alone.duals(), lines[0].duals)
    np.testing.assert_array_equal(alone.trace().t, lines[0].trace.t)
