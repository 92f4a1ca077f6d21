"""Algorithm 1 of the quantile SVM paper: it finds the exact path where nothing is degenerate."""

import numpy as np
import pytest
import scipy.sparse as sp

from path_benchmark.objectives import judge, quantile_hinge
from path_benchmark.papers.quantile_svm.dual_path_finding import (
    DualPath,
    _Homotopy,
    dual_path_finding,
)
from path_benchmark.solvers import Answer, lbfgsb
from solution_paths import quantile_svm_path

pytestmark = pytest.mark.slow

TAUS = [0.05, 0.3, 0.5, 0.7, 0.95]


def clouds(n=60, d=4, seed=0):
    """Return two classes that overlap, in general position."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    return rng.normal(size=(n, d)) + 0.7 * y[:, None], y


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_duals_and_kinks_are_those_of_the_exact_path(seed, sparse):
    X, y = clouds(seed=seed)
    path = quantile_svm_path(X, y, 1e-1)
    objective = quantile_hinge(sp.csr_array(X) if sparse else X, y, 1e-1)
    found = dual_path_finding(objective, TAUS, 1e-13, 60.0)
    assert (found.reached, found.stopped) == (1.0, "")
    assert found.kinks[0] == 0.0
    # The start is L-BFGS-B's, whose error is carried along.
    for tau in TAUS:
        assert judge(objective.at(tau), Answer(alpha=found.duals[tau])).gap < 1e-6
        np.testing.assert_allclose(found.duals[tau], path.dual(tau), atol=1e-4 / len(y))
    # Near both ends that error makes kinks of its own.
    exact, ours = (np.array(k) for k in (path.breakpoints, found.kinks))
    exact, ours = (k[(k > 0.05) & (k < 0.95)] for k in (exact, ours))
    apart = np.abs(exact[:, None] - ours[None, :])
    assert len(exact) > 50
    assert max(apart.min(axis=0).max(), apart.min(axis=1).max()) < 1e-5
    assert found.iterations >= found.solves > 0
    assert found.cpu_s > found.gradients_cpu_s


def test_a_loose_residual_is_seen_in_the_solutions():
    X, y = clouds(n=200, d=8)
    objective = quantile_hinge(X, y, 1e-2)
    gaps = []
    for residual in (1e-1, 1e-13):
        found = dual_path_finding(objective, TAUS, residual, 60.0)
        gaps.append(
            max(judge(objective.at(t), Answer(alpha=a)).gap for t, a in found.duals.items())
        )
    assert gaps[0] > 1e-2 > 1e-6 > gaps[1]


def test_it_is_stopped_at_its_limit_and_says_so():
    X, y = clouds(n=400, d=8)
    found = dual_path_finding(quantile_hinge(X, y, 1e-3), TAUS, 1e-10, 1e-3)
    assert found.stopped == "it had used up 0.001 s"
    assert found.reached < 1.0
    assert set(found.duals) == {0.0, *(tau for tau in TAUS if tau <= found.reached)}


@pytest.mark.parametrize("margin", [1e-4, 1e-3])
def test_index_sets_may_come_from_the_starts_gradient(margin):
    """A start whose gradient is zero to within the margin gives the same solutions."""
    X, y = clouds()
    objective = quantile_hinge(X, y, 1e-1)
    by_duals, by_gradient = (
        dual_path_finding(objective, TAUS, 1e-13, 60.0, by) for by in (None, margin)
    )
    assert by_gradient.reached == 1.0
    for tau in TAUS:
        alpha = by_gradient.duals[tau]
        np.testing.assert_allclose(alpha, by_duals.duals[tau], atol=2.0 * margin)


def test_samples_whose_gradient_is_within_the_margin_are_on_it():
    X, y = clouds()
    objective = quantile_hinge(X, y, 1e-1)
    alpha = lbfgsb.solve(objective.at(0.0), lbfgsb.TIGHT_OPTIONS).alpha
    rows = y[:, None] * objective.features()
    gradient = rows @ (rows.T @ alpha) / objective.lam - 1.0
    homotopy = _Homotopy(objective, DualPath(), 1e-13, margin=0.3)
    assert homotopy.M.tolist() == (np.abs(gradient) <= 0.3).tolist()
    assert homotopy.L.tolist() == (gradient < -0.3).tolist()
    assert 0 < homotopy.M.sum() < len(y)
