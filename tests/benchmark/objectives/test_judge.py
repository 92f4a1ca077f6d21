"""Papers' objectives: what solvers state of them, judged."""

from types import SimpleNamespace

import numpy as np
import pytest

from path_benchmark.objectives import Hinge, judge
from solution_paths.kernels import Kernel


def at_their_costs(**options):
    """Two samples with margins 0.2, both duals at the cost 0.1: no value is at a kink."""
    X, y = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    return Hinge(X, y, cost0=0.1, **options), np.array([0.1, 0.1]), np.array([0.2])


def verdict_on(own, alpha, w=None, b=None):
    return judge(own, SimpleNamespace(alpha=alpha, w=w, b=b))


@pytest.mark.parametrize("bias", ["free", "feature", "none"])
@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
def test_an_optimum_holds_and_a_changed_one_fails(bias, kernel):
    own, alpha, w = at_their_costs(bias=bias)
    if kernel == "precomputed":
        K = own.X @ own.X.T
        own, w = Hinge(K, own.y, cost0=0.1, bias=bias, kernel=Kernel(kernel)), None
    assert verdict_on(own, alpha, w, 0.0).status == "holds"
    assert verdict_on(own, 0.99 * alpha, w, 0.0).status == "fails"
    if bias == "free":
        assert verdict_on(own, alpha, w, 5.0).status == "fails"
    if w is not None:
        assert verdict_on(own, alpha, 1.01 * w, 0.0).status == "fails"


def test_a_penalised_bias_counts_as_a_coefficient():
    own, alpha, w = at_their_costs(bias="feature", intercept_scaling=2.0)
    for size, status in ((0.0, "holds"), (1e-3, "fails")):
        assert verdict_on(own, alpha, w, size).status == status
        assert verdict_on(own, alpha, None, size).status == status
    K = own.X @ own.X.T
    own = Hinge(K, own.y, cost0=0.1, bias="feature", kernel=Kernel("precomputed"))
    assert verdict_on(own, alpha, None, 0.0).status == "holds"
    assert np.isnan(verdict_on(own, alpha, None, 0.1).gap)  # not what the duals imply


def test_a_bias_of_a_machine_without_one_is_no_solution():
    own, a, w = at_their_costs(bias="none")
    for b, fine in ((0.0, True), (None, True), (1e-12, False)):
        verdict = judge(own, SimpleNamespace(alpha=a, w=w, b=b))
        assert np.isnan(verdict.primal) != fine
        assert np.isnan([verdict.gap, verdict.kkt]).any() != fine
        assert (verdict.status == "holds") == fine


def test_an_objective_freezes_its_costs_and_shares_its_data():
    own = Hinge(np.eye(2), np.array([1.0, -1.0]), cost0=1.0, cost1=2.0)
    at = own.at(0.5)
    assert own.moves
    assert not at.moves
    assert at.costs().tolist() == at.costs(0.9).tolist() == [2.0, 2.0]
    assert at.problem(at.pieces()).losses[0].X is own.problem(own.pieces()).losses[0].X
