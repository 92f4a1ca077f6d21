"""Weighted SVM and SVR: from any weights to any weights, and on from there."""

import doctest

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.data_makers import sample
from helpers.oracle import (
    assert_least,
    fitted,
    hinge_objective,
    kernel,
    least_hinge,
    least_tube,
    rows_of,
    tube_objective,
)
from solution_paths import update_instances, weighted_svm_path, weighted_svr_path
from solution_paths.models import weighted_svm

pytestmark = pytest.mark.slow

KERNELS = {
    "linear": {},
    "rbf": {"kernel": "rbf", "gamma": 0.4},
    "poly": {"kernel": "poly", "gamma": 0.5, "degree": 2, "coef0": 1.0},
}
EPSILON = 0.15


def some_weights(n, rng, top=3.0, zeros=0.3):
    return rng.uniform(0, top, size=n) * (rng.random(n) > zeros)


class Svm:
    """The classification problem of these tests, and its oracle."""

    path = staticmethod(weighted_svm_path)

    def __init__(self, name="linear", **options):
        self.X, self.y, _ = sample(**options)
        self.name = name
        rest = {k: v for k, v in KERNELS[name].items() if k != "kernel"}
        self.K = kernel(self.X, self.X, name, **rest)

    def solve(self, before, after, **options):
        return weighted_svm_path(self.X, self.y, before, after, **KERNELS[self.name], **options)

    def check(self, path, theta, cost):
        ours = hinge_objective(*fitted(path, theta, K=self.K, y=self.y), self.y, cost)
        assert_least(ours, least_hinge(rows_of(self.K), self.y, cost, free_bias=True))

    def start(self):
        return self.y


class Svr(Svm):
    """The same for regression."""

    def __init__(self, name="linear", **options):
        super().__init__(name, **options)
        _, _, self.y = sample(**options)

    def solve(self, before, after, **options):
        return weighted_svr_path(
            self.X, self.y, before, after, EPSILON, **KERNELS[self.name], **options
        )

    def check(self, path, theta, cost):
        ours = tube_objective(*fitted(path, theta, K=self.K), self.y, cost, EPSILON)
        assert_least(ours, least_tube(rows_of(self.K), self.y, cost, EPSILON))


MACHINES = [Svm, Svr]


def assert_certified(path, **options):
    certificate = path.certify(**options)
    assert certificate.ok, str(certificate)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("machine", MACHINES)
def test_random_weights_with_zeros(machine, name, seed):
    rng = np.random.default_rng(seed)
    problem = machine(name)
    before, after = some_weights(40, rng), some_weights(40, rng, top=10.0 ** rng.integers(-1, 3))
    path = problem.solve(before, after)
    assert path.parameter == "theta"
    assert path.range == (0.0, 1.0)
    assert_certified(path)
    for theta in (0.0, 0.3, 1.0):
        cost = (1 - theta) * before + theta * after
        problem.check(path, theta, cost)
        dual = np.abs(path.dual(theta))
        assert (dual <= cost * (1 + 1e-9) + 1e-12).all()
        assert (dual[cost == 0] == 0).all()


@pytest.mark.parametrize("machine", MACHINES)
def test_one_path_however_the_data_are_held(machine):
    rng = np.random.default_rng(1)
    problem = machine()
    before, after = some_weights(40, rng), some_weights(40, rng)
    first = problem.solve(before, after)
    dense, X = problem.X, problem.X
    others = []
    for held in (sp.csr_array(X), sp.csr_matrix(X)):
        problem.X = held
        others.append(problem.solve(before, after))
    problem.X = dense
    for other in others:
        np.testing.assert_allclose(other.breakpoints, first.breakpoints, atol=1e-9)
        for theta in (0.0, 0.41, 1.0):
            np.testing.assert_allclose(other.dual(theta), first.dual(theta), atol=1e-9)
            np.testing.assert_allclose(other.coef(theta), first.coef(theta), atol=1e-9)


@pytest.mark.parametrize("machine", MACHINES)
def test_scalar_weights_mean_the_same_for_all(machine):
    problem = machine()
    one, all_of_them = problem.solve(0.5, 2.0), problem.solve(np.full(40, 0.5), np.full(40, 2.0))
    np.testing.assert_array_equal(one.breakpoints, all_of_them.breakpoints)
    np.testing.assert_array_equal(one.dual(0.7), all_of_them.dual(0.7))


@pytest.mark.parametrize("machine", MACHINES)
def test_no_change_at_all(machine):
    problem = machine()
    cost = some_weights(40, np.random.default_rng(4))
    path = problem.solve(cost, cost)
    assert_certified(path)
    np.testing.assert_allclose(path.dual(0.0), path.dual(1.0), atol=1e-12)
    np.testing.assert_array_equal(path.breakpoints, [0.0, 1.0])
    problem.check(path, 0.5, cost)
    again = path.continue_to(cost)
    np.testing.assert_array_equal(again.breakpoints, [0.0, 1.0])
    np.testing.assert_allclose(again.dual(1.0), path.dual(0.0), atol=1e-12)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("machine", MACHINES)
def test_instances_that_enter_and_leave(machine, name):
    problem = machine(name)
    ones, without = np.ones(40), np.ones(40)
    gone = np.array([0, 3, 17, 25, 39])
    without[gone] = 0.0
    leaving = problem.solve(ones, without)
    assert_certified(leaving)
    assert (leaving.dual(1.0)[gone] == 0).all()
    problem.check(leaving, 1.0, without)
    # what is left is the problem that never had them
    rest = np.setdiff1d(np.arange(40), gone)
    smaller = machine(name)
    smaller.X, smaller.y = problem.X[rest], problem.y[rest]
    alone = smaller.solve(1.0, 1.0)
    f = alone.decision_function(problem.X, 0.0)
    np.testing.assert_allclose(leaving.decision_function(problem.X, 1.0), f, atol=1e-7)
    entering = leaving.continue_to(ones)
    assert_certified(entering)
    np.testing.assert_allclose(
        entering.decision_function(problem.X, 1.0),
        leaving.decision_function(problem.X, 0.0),
        atol=1e-7,
    )


@pytest.mark.parametrize("machine", MACHINES)
def test_continuing_begins_where_the_path_ended(machine):
    rng = np.random.default_rng(7)
    problem = machine("rbf")
    cost = some_weights(40, rng, zeros=0.0)
    path = problem.solve(cost, some_weights(40, rng))
    for _ in range(6):
        end = path.dual(1.0)
        reached, f = path.onward.weights, path.decision_function(problem.X, 1.0)
        new = some_weights(40, rng, top=10.0 ** rng.uniform(-1, 2))
        onward = path.continue_to(new)
        np.testing.assert_allclose(onward.dual(0.0), end, atol=1e-12 * reached.max())
        np.testing.assert_allclose(onward.decision_function(problem.X, 0.0), f, atol=1e-9)
        assert_certified(onward)
        problem.check(onward, 1.0, new)
        # the path that was continued still gives what it gave
        np.testing.assert_array_equal(path.dual(1.0), end)
        with pytest.raises(ValueError, match="can't be continued"):
            path.continue_to(new)
        path = onward


@pytest.mark.parametrize("name", ["linear", "rbf"])
@pytest.mark.parametrize("machine", MACHINES)
def test_thousand_successive_updates_do_not_drift(machine, name):
    rng = np.random.default_rng(8)
    problem = machine(name, n=20)
    cost = np.ones(20)
    path = problem.solve(cost, cost)
    events = 0
    for step in range(1000):
        cost = np.where(rng.random(20) < 0.2, rng.integers(0, 4, size=20) / 2, cost)
        cost[:2] = np.maximum(cost[:2], 0.5)
        side = problem.y > 0
        cost[np.argmax(side)], cost[np.argmin(side)] = 1.0, 1.0
        path = path.continue_to(cost)
        events += path.diagnostics["events"]
        if step % 50 == 49:
            assert_certified(path, n_random=3)
    assert events > 1000
    problem.check(path, 1.0, cost)


@pytest.mark.parametrize("machine", MACHINES)
def test_weights_far_apart(machine):
    problem = machine("rbf")
    before, after = np.full(40, 1e-3), np.full(40, 1e4)
    path = problem.solve(before, after)
    assert_certified(path)
    problem.check(path, 0.0, before)
    problem.check(path, 1.0, after)


@pytest.mark.parametrize("machine", MACHINES)
def test_a_diagonal_is_part_of_the_training_kernel(machine):
    problem = machine()
    plain = problem.K
    problem.K = plain + 0.5 * np.eye(40)
    path = problem.solve(0.2, np.linspace(0.1, 2.0, 40), diagonal=0.5)
    assert_certified(path)
    problem.check(path, 0.3, 0.7 * 0.2 + 0.3 * np.linspace(0.1, 2.0, 40))
    # and no part of predictions
    expected = plain @ path.expansion(0.3) + path.intercept(0.3)
    np.testing.assert_allclose(path.decision_function(problem.X, 0.3), expected, atol=1e-12)


def test_targets_that_are_all_the_same():
    X, _, _ = sample()
    path = weighted_svr_path(X, np.full(40, 2.0), 1.0, np.linspace(0.0, 3.0, 40), 0.1)
    assert_certified(path)
    for theta in (0.0, 0.5, 1.0):
        assert not path.dual(theta).any()
        assert abs(path.intercept(theta) - 2.0) <= 0.1 + 1e-12


def test_without_a_tube_the_path_is_weighted_least_absolute_deviations():
    X, _, target = sample()
    after = np.linspace(0.5, 2.0, 40)
    path = weighted_svr_path(X, target, 1.0, after, 0.0)
    assert_certified(path)
    ours = tube_objective(*fitted(path, 1.0, X=X), target, after, 0.0)
    assert_least(ours, least_tube(X, target, after, 0.0))


BAD = [
    ({"weights_from": -1.0}, "weights_from has negative entries"),
    ({"weights_to": [1.0, -2.0, 1.0, 1.0]}, "weights_to has negative entries"),
    ({"weights_to": [1.0, 1.0]}, "weights_to has shape"),
    ({"weights_from": np.nan}, "weights_from contains NaN"),
    ({"weights_to": np.inf}, "weights_to contains NaN or infinity"),
    ({"X": [[np.nan]] * 4}, "X contains NaN"),
    ({"kernel": "laplace"}, "kernel must be one of"),
    ({"kernel": "rbf", "gamma": -1.0}, "gamma must be"),
    ({"y": [1.0, -1.0]}, "y has shape"),
]
SVM_ONLY = [
    ({"y": [1, 1, 1, 1]}, "y must hold exactly two labels"),
    (
        {"weights_from": [1.0, 0.0, 1.0, 0.0]},
        r"weights_from is zero for every instance of the class -1,",
    ),
    (
        {"weights_to": [0.0, 1.0, 0.0, 1.0]},
        r"weights_to is zero for every instance of the class 1,",
    ),
    (
        {"weights_to": [0.0, 1.0, 0.0, 1.0], "y": ["yes", "no", "yes", "no"]},
        r"weights_to is zero for every instance of the class 'yes',",
    ),
]
SVR_ONLY = [
    ({"y": [1.0, np.nan, 1.0, 1.0]}, "y contains NaN"),
    ({"weights_to": 0.0}, "weights_to is zero everywhere"),
    ({"epsilon": -0.1}, "epsilon must be"),
    ({"epsilon": np.nan}, "epsilon must be"),
]


@pytest.mark.parametrize(
    ("function", "wrong", "message"),
    [(weighted_svm_path, *bad) for bad in BAD + SVM_ONLY]
    + [(weighted_svr_path, *bad) for bad in BAD + SVR_ONLY],
)
def test_bad_input_is_named(function, wrong, message):
    arguments = {
        "X": [[0.0], [1.0], [2.0], [3.0]],
        "y": [1, -1, 1, -1],
        "weights_from": 1.0,
        "weights_to": 2.0,
    }
    if function is weighted_svr_path:
        arguments["epsilon"] = 0.1
    with pytest.raises(ValueError, match=message):
        function(**(arguments | wrong))


@pytest.mark.parametrize(
    ("new", "message"),
    [(np.ones(3), "new_weights has shape"), (-1.0, "new_weights has negative entries")],
)
def test_bad_new_weights_are_named_and_cost_nothing(new, message):
    X, y, _ = sample()
    path = weighted_svm_path(X, y, 1.0, 1.0)
    with pytest.raises(ValueError, match=message):
        path.continue_to(new)
    assert path.continue_to(2.0).certify(n_random=3).ok


def test_new_weights_without_a_class_name_its_label():
    path = weighted_svm_path([[0.0], [1.0]], ["no", "yes"], 1.0, 1.0)
    with pytest.raises(ValueError, match=r"new_weights is zero .* of the class 'no',"):
        path.continue_to([0.0, 1.0])


@pytest.mark.parametrize("machine", MACHINES)
def test_instances_enter_and_leave_as_if_trained_anew(machine):
    problem, rng = machine("rbf"), np.random.default_rng(12)
    n = 40
    weights = np.where(np.arange(n) < 30, 2.0, 0.0)
    path = problem.solve(weights, weights)
    for _ in range(5):
        leave = rng.choice(np.flatnonzero(weights), 3, replace=False)
        enter = rng.choice(np.flatnonzero(weights == 0), 3, replace=False)
        path = update_instances(path, enter=enter, leave=leave, weight=[1.0, 2.0, 3.0])
        weights[leave], weights[enter] = 0.0, [1.0, 2.0, 3.0]
        assert_certified(path)
        np.testing.assert_array_equal(path.onward.weights, weights)
        anew = problem.solve(weights, weights)
        f = path.decision_function(problem.X, 1.0)
        np.testing.assert_allclose(f, anew.decision_function(problem.X, 0.0), atol=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"enter": [99]}, "enter names row 99, but X has rows 0 to 39"),
        ({"enter": [3]}, "row 3, which takes part already"),
        ({"leave": [35]}, "row 35, which takes no part"),
    ],
)
def test_instances_that_can_not_enter_or_leave(change, message):
    problem = MACHINES[0]("linear")
    weights = np.where(np.arange(40) < 30, 1.0, 0.0)
    path = problem.solve(weights, weights)
    with pytest.raises(ValueError, match=message):
        update_instances(path, **change)
    assert path.continue_to(weights).certify(n_random=3).ok  # nothing was spent


def test_the_docstring_of_update_instances_tells_the_truth():
    found = doctest.testmod(weighted_svm)
    assert found.attempted > 0
    assert found.failed == 0


def test_an_optimum_of_zero_is_met_to_rounding():
    """Found by hypothesis: at the end two equal samples with equal targets are left."""
    X = np.array([[-1.0, -1.0]] * 3 + [[1.0, 2.0], [-1.0, -1.0], [-1.0, -2.0]])
    target = np.array([1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    before, after = np.array([1.0, 1, 0, 0, 1, 1]), np.array([1.0, 1, 0, 0, 0, 0])
    kernel = {"kernel": "poly", "gamma": 1.0, "degree": 2, "coef0": 1.0}
    certificate = weighted_svr_path(X, target, before, after, 0.0, **kernel).certify()
    assert certificate.ok, str(certificate)
