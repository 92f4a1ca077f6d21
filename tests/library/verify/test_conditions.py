"""Verdicts and certificates: when they hold, and where a local optimum is one."""

from types import SimpleNamespace

import numpy as np
import pytest

from path_benchmark.objectives import Hinge, judge
from solution_paths import verify
from solution_paths.kernels import Kernel
from solution_paths.problem import Losses, Problem
from solution_paths.problem.branches import Branches, robust_hinges
from solution_paths.verify.partitions import at_threshold
from solution_paths.verify.verdict import Certificate, Verdict, status_of, summary, worst_of


def at_their_costs(**options):
    """Two samples with margins 0.2, both duals at the cost 0.1: no value is at a kink."""
    X, y = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    return Hinge(X, y, cost0=0.1, **options), np.array([0.1, 0.1]), np.array([0.2])


def verdict_on(own, alpha, w=None, b=None):
    return judge(own, SimpleNamespace(alpha=alpha, w=w, b=b))


# -- what solvers state --------------------------------------------------------------------------


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


# -- local optima --------------------------------------------------------------------------------


def test_local_optimality_with_many_samples_at_the_threshold_is_undecided():
    """Twice so many samples at the threshold, half of them on either side of the origin."""
    for pairs, decided in ((3, True), (4, False)):
        X = np.array([[1.0, 0.0], *[[0.0, 1.0]] * pairs, *[[0.0, -1.0]] * pairs])
        y = np.ones(len(X))

        def machine(own, X=X):
            return Problem(Losses(own, X), ridge=1.0)

        branches = Branches.along(
            lambda t, y=y: robust_hinges(y, 1.0, t, 0.0), machine, np.ones(len(y), int), (0.0, 1.0)
        )
        a, z = np.array([1.0, *[1.2] * (2 * pairs)]), X @ [1.0, 0.0]
        inliers = np.ones(len(y), int)
        answer = verify.Answer(np.array([1.0, 0.0]), None, [a])
        assert verify.judge(branches.problem(0.4, inliers), answer).status == "holds"
        found = at_threshold(branches, 0.4, inliers, z, a)
        assert len(found.samples) == 2 * pairs
        assert found.decided == decided
        assert (found.local is None) == (not decided)


# -- verdicts and certificates --------------------------------------------------------------------


def test_a_certificate_names_where_each_number_is_worst():
    """The worst gap and the worst violation of conditions are at different places."""
    gap, kkt, nothing = np.array([3e-8, 0.0, 1e-9]), np.array([0.0, 1e-8, 5e-8]), np.zeros(3)
    found = summary(np.array([1.0, 2.0, 3.0]), Verdict(*[nothing] * 2, gap, kkt, *[nothing] * 6))
    assert (found.gap_at, found.kkt_at, found.n_points) == (1.0, 3.0, 3)
    assert (found.gap, found.kkt) == (3e-8, 5e-8)


@pytest.mark.parametrize(
    ("gap", "rounding", "resolution", "status"),
    [
        (0.75, 0.25, 0.0, "holds"),  # just at the limit of 1, however the rounding fell
        (0.75, 0.26, 0.0, "undecided"),
        (1.25, 0.25, 0.0, "undecided"),
        (1.25, 0.24, 0.0, "fails"),
        (3.0, 0.5, 1.25, "undecided"),  # twice what rounding the solution may cause
        (3.0, 0.5, 1.24, "fails"),
        (np.nan, 0.0, 9.0, "fails"),
        (np.inf, np.inf, np.inf, "fails"),
        (np.inf, np.nan, 9.0, "fails"),
    ],
)
def test_a_status_is_sure_or_undecided(gap, rounding, resolution, status):
    assert status_of(gap, rounding, resolution, 1.0) == status
    assert worst_of("holds", status) == status
    assert worst_of(status, "fails") == worst_of("undecided", "fails") == "fails"


def test_an_answer_can_be_relied_on_up_to_a_millionth():
    for error, least, reliable, wrong in (
        (1e-6, 1e-6, True, False),
        (1.01e-6, 1e-6, False, False),
        (1.01e-6, 1.01e-6, False, True),
        (np.nan, np.nan, False, True),
    ):
        verdict = Verdict(1.0, 1.0, 0.0, 0.0, 0.0, error=error, least_error=least)
        assert (bool(verdict.reliable), bool(verdict.wrong)) == (reliable, wrong)
        certificate = Certificate(0.0, 0.0, 0.0, 0.0, 0.0, 1, error=error)
        assert certificate.reliable == reliable
