"""Behind the last breakpoint the function rests, whatever its duals do."""

import io

import cvxpy as cp
import numpy as np
import pytest

from solution_paths import PathSVC, SolutionPath, dm_ksvm_path, svm_path
from solution_paths.solution.points import Points


def cubes(n=150, seed=2):
    """Rows in raw units: kernel values of 1e18 and more."""
    rng = np.random.default_rng(seed)
    x = 1000 * rng.normal(size=n)
    return x, np.where(x / 1000 + rng.normal(size=n) > 0, 1, -1)


def hinge_loss(f, y):
    return np.maximum(0.0, 1.0 - y * f).sum()


def case(name):
    """Return training arguments of a kernel machine, and rows to predict."""
    x, y = cubes(60)
    rng = np.random.default_rng(3)
    if name == "poly":
        return (x[:, None], y, {"kernel": "poly", "degree": 3, "gamma": 1.0}), x[:, None]
    if name == "quadratic":
        X = np.column_stack([x, 30 * rng.normal(size=60)])
        return (X, y, {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0}), X
    if name == "rbf":
        X, y = np.column_stack([x / 1000, rng.normal(size=60)])[:40], y[:40]
        return (X, y, {"kernel": "rbf", "gamma": 4.0}), X
    rows = np.column_stack([x / 1000, rng.normal(size=60)])
    if name == "separable":
        y = np.where(rows[:, 0] > 0.1, 1, -1)
    K = rows @ rows.T
    return (K, y, {"kernel": "precomputed"}), K


NAMES = ["poly", "quadratic", "rbf", "precomputed", "separable"]
FAR = [1.001, 3.0, 1e3, 1e6, 1e9]


def test_a_machine_in_raw_units_has_the_optimal_loss():
    x, y = cubes()
    machine = PathSVC(1.0, kernel="poly", degree=3, gamma=1.0, check="raise").fit(x[:, None], y)
    unit = np.abs(x).max() ** 3
    v, b = cp.Variable(), cp.Variable()  # K = z z' with z = x^3; the penalty is below 1e-15
    loss = cp.sum(cp.pos(1 - cp.multiply(y, v * (x**3 / unit) + b)))
    best = cp.Problem(cp.Minimize(0.5 * cp.square(v / unit) + loss)).solve(solver=cp.CLARABEL)
    assert best == pytest.approx(110.72689655)
    assert hinge_loss(machine.decision_function(x[:, None]), y) == pytest.approx(best, rel=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["C", "lam"])
@pytest.mark.parametrize("name", NAMES)
def test_the_function_rests_behind_the_last_breakpoint(name, kind):
    (X, y, kernel), X_new = case(name)
    path = svm_path(X, y, **kernel) if kind == "C" else dm_ksvm_path(X, y, 3.0, **kernel)
    if kind == "C":
        last = path.breakpoints[-1]
        t = last * np.array(FAR)
    else:
        last = path.breakpoints[0]
        t = last / np.array(FAR)
    f, b = path.decision_function(X_new, float(last)), path.intercept(float(last))
    file = io.BytesIO()
    path.save(file)
    file.seek(0)
    for own in (path, SolutionPath.load(file)):
        np.testing.assert_allclose(own.intercept(t), b, rtol=1e-9)
        many = own.decision_function(X_new, [float(last), *t])
        np.testing.assert_array_equal(many, np.repeat(many[:, :1], len(t) + 1, axis=1))
        for at in t.tolist():
            np.testing.assert_array_equal(own.decision_function(X_new, at), f)
            np.testing.assert_array_equal(own.predict(X_new, at), own.predict(X_new, float(last)))
            assert own.intercept(at) == b
        costs = t if kind == "C" else 1.0 / len(y)
        assert (np.abs(own.dual(t)).max(axis=0) <= costs).all()
        curve = own.error_curve(X_new, y)
        assert [curve.edges[0], curve.edges[-1]] == list(own.range)
        wrong = (own.predict(X_new, t) != np.asarray(y)[:, None]).mean(axis=0)
        np.testing.assert_array_equal(curve(t), wrong)
        assert own.best(X_new, y).value <= wrong[0]
        near = own.certify(at=t[:2])
        # degree 2 in two columns of raw units: the matrix is known to 1e-8 of the objective
        assert near.ok or (name == "quadratic" and near.gap <= near.resolution)
        assert own.certify(at=t).status != "fails"


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_ray_fails(name):
    (X, y, kernel), _ = case(name)
    path = svm_path(X, y, **kernel)
    recorded = path.points.arrays()
    last, (t, end) = recorded["unknowns"][-1], recorded["t"][-2:]
    k = int(np.argmax(np.abs(path.dual(t) - 0.5 * t) < 0.499 * t))  # at its margin
    last[k] += 0.25 * end if last[k] < 0 else -0.25 * end
    path.points = Points.from_arrays(**recorded)
    assert path.certify(at=float(1.5 * path.breakpoints[-1])).status == "fails"


@pytest.mark.parametrize("metric", ["zero_one", "absolute", "squared"])
def test_an_error_curve_covers_the_path(metric):
    (X, y, kernel), X_new = case("rbf")
    path = svm_path(X, y, **kernel)
    curve = path.error_curve(X_new, y, metric)
    last = float(path.breakpoints[-1])
    assert curve(10 * last) == pytest.approx(curve(last), rel=1e-14)
    assert path.range == (0.0, np.inf)
    inverse = dm_ksvm_path(X, y, 3.0, **kernel)
    curve = inverse.error_curve(X_new, y, metric)
    assert curve(0.0) == pytest.approx(curve(float(inverse.breakpoints[0])), rel=1e-14)
    assert inverse.best(X_new, y, metric).value == curve.best().value
