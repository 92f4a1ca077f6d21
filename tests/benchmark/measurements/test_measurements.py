"""The measurements' own tests: right answers pass, wrong ones are noticed, nothing runs twice."""

import defaults
import fuzz
import numpy as np
import optimum
import perfect
import pytest
import rays
from resumed import resumed

from solution_paths import lasso_path, quantile_svm_path, svm_path, weighted_svr_path

pytestmark = pytest.mark.slow

LONG = np.longdouble


@pytest.mark.parametrize("estimator", defaults.ESTIMATORS)
def test_a_fit_is_judged_and_a_shifted_one_is_not_right(estimator, monkeypatch):
    name = (
        "linnerud" if estimator in ("PathLasso", "DrLAD", "OutlierSVR", "WeightedSVR") else "iris"
    )
    row = defaults.run_one(name, estimator, True, 60)
    assert row["gap"] <= defaults.PROMISED, row
    assert row["off"] <= defaults.PROMISED, row

    class Shifted(defaults.Answer):
        def __init__(self, *given):
            super().__init__(*given)
            self.b = self.b + LONG(0.1)
            if self.w is not None:
                self.w = self.w + LONG(0.1)
                self.f = given[-1] @ self.w + self.b

    monkeypatch.setattr(defaults, "Answer", Shifted)
    row = defaults.run_one(name, estimator, True, 60)
    assert row["gap"] > 10 * defaults.HARMFUL
    assert row["off"] > defaults.HARMFUL


def _models():
    rng = np.random.default_rng(0)
    y, one, f = np.sign(rng.normal(size=8)), np.ones(8, dtype=LONG), rng.normal(size=8)
    ridge, radius = optimum.Penalty(ridge=0.5), optimum.Penalty(radius=2.0)
    yield "hinge", optimum.hinge(y, one), ridge
    yield "l1", optimum.hinge(y, one), optimum.Penalty(lam1=0.7)
    yield "ball", optimum.tube(f, one, 0.1), radius
    yield "margins", optimum.double_margin(y, one, 2.5), ridge
    yield "labels", optimum.robust(y, f, f, 2.0, 0.0, True), optimum.Penalty(ridge=1.0, free=False)
    yield "values", optimum.robust(f, y, y, 2.0, 0.5, False), optimum.Penalty(ridge=1.0, free=False)


@pytest.mark.parametrize(("name", "losses", "penalty"), [*_models()], ids=lambda v: v)
def test_no_duals_bound_more_than_the_optimum_and_clarabels_bound_it_closely(name, losses, penalty):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(8, 3))
    Z = optimum.centred(X) if penalty.free else X.astype(LONG)
    close = optimum.bound(losses, penalty, optimum.clarabel_duals(losses, penalty, Z), Z)
    for _ in range(50):
        assert optimum.bound(losses, penalty, 10 * rng.normal(size=8), Z) <= close + 1e-7
    best = np.inf
    for scale in 10.0 ** rng.uniform(-4, 0, 400):  # no model is better than the bound
        w, b = scale * rng.normal(size=3), rng.normal() * penalty.free
        f = (Z @ w + b).astype(LONG)
        allowed = ((f >= losses.low) & (f <= losses.high)).all() and np.abs(w).sum() <= 2.0
        best = min(best, losses(f).sum() + penalty(w)) if allowed else best
    assert close <= best


def test_pairs_on_a_graph_are_told_from_those_beside_it():
    hinge = optimum.hinge(np.array([1.0, 1.0, 1.0, -1.0]), np.ones(4, dtype=LONG))
    f, a = np.array([2.0, 1.0, 0.0, -1.0]), np.array([0.0, 0.4, 1.0, -0.5])
    assert hinge.off_graph(f, a, 1.0).max() == 0
    assert hinge.off_graph(f + 0.01, a, 1.0)[1] == pytest.approx(0.01)
    assert hinge.off_graph(f, a - 0.02, 1.0)[2] == pytest.approx(0.02)


def test_the_least_losses_of_a_kernel_are_known():
    X = np.array([[0.0], [0.0], [1.0], [2.0]])
    y = np.array([1.0, -1.0, 1.0, -1.0])
    assert rays.least(X, y, None, np.inf) == pytest.approx(2.0)  # two equal rows differ
    assert rays.least(X, y, rays.monomials(X, 3, 1.0), np.inf) == pytest.approx(2.0)
    assert rays.least(X, y, X, np.inf) == pytest.approx(3.0)
    path = svm_path(X, y)
    f = path.decision_function(X, path.breakpoints[-1:])
    assert max(rays.off(y, f, f[:, 0], np.inf, 3.0)) <= 1e-12
    excess, moved = rays.off(y, 1.001 * f, f[:, 0], np.inf, 3.0)
    assert max(excess, moved) > 1e-4


@pytest.mark.parametrize("kind", rays.KINDS)
@pytest.mark.parametrize("model", rays.MODELS)
def test_a_ray_is_judged(kind, model):
    row = rays.run_one(kind, model, 3)
    assert row["end"] in ("right", "alarmed", "told")


def _shifted(path):
    coef = path.coef
    path.coef = lambda t: 1.001 * coef(t)
    return path


@pytest.mark.parametrize(
    "trace",
    [
        lambda X, y: quantile_svm_path(X, np.sign(y), 1e-2),
        lambda X, y: svm_path(X, np.sign(y)),
        lambda X, y: weighted_svr_path(X, y, 1.0, 9.0, 0.1),
        lambda X, y: lasso_path(X, y, fit_intercept=False),
        lambda X, y: fuzz.drlad_path(X, y, lam2=0.1),
        lambda X, y: fuzz.dr_regression_path(X, y, ("quantile", 0.3), vary="lam1", lam2=0.1),
        lambda X, y: fuzz.l1_svm_path(X, np.sign(y)),
    ],
)
def test_a_shifted_path_does_harm(trace):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    path = trace(X, y)
    t = path.breakpoints[len(path.breakpoints) // 2]
    assert fuzz.judge(path)[-1] <= 1e-9
    assert fuzz.at_each(path).off_graphs(t) <= 1e-9
    assert fuzz.judge(_shifted(path))[-1] > fuzz.HARMFUL


def test_a_gap_beside_an_objective_of_almost_zero_is_no_harm():
    row = fuzz.run_one("quantile", "year", 900003)  # at tau = 0, lam = 1e-6
    assert row["harm"] <= fuzz.HARMFUL
    assert row["user"] in ("right", "alarmed")


@pytest.mark.parametrize(
    ("row", "harm", "met"),
    [
        ({"end": "wrong", "told": False, "alarm": ""}, 1e-5, "silent"),
        ({"end": "wrong", "told": True, "alarm": "wrong"}, 1e-5, "told"),
        ({"end": "PathError"}, 0.0, "told"),
        ({"end": "exact", "told": True, "alarm": "wrong"}, 1e-12, "alarmed"),
        ({"end": "exact", "told": True, "alarm": ""}, 1e-12, "right"),
    ],
)
def test_what_a_user_meets(row, harm, met):
    assert fuzz._met(row, harm) == met


@pytest.mark.parametrize("case", perfect.CASES)
def test_perfect_fits_are_compared_with_what_is_right(case):
    row = perfect.run_one(case, 40)
    assert row["off"] <= 1e-9


def test_a_stopped_measurement_goes_on(tmp_path):
    done, file = [], tmp_path / "new" / "rows.jsonl"

    def run(name, k):
        done.append(k)
        return {"name": name, "k": k, "value": k**2}

    assert [row["value"] for row in resumed(file, [("a", 2)], run, ("name", "k"))] == [4]
    again = resumed(file, [("a", 2), ("a", 3)], run, ("name", "k"))
    assert [row["value"] for row in again] == [4, 9]
    assert done == [2, 3]
