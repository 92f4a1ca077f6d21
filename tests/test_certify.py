"""The checker is checked: it must pass what is right and fail what is not."""

from dataclasses import replace

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp

from solution_paths import (
    Path,
    quantile_svm_path,
    svm_path,
    weighted_svm_path,
    weighted_svr_path,
)
from solution_paths import certify as certification
from solution_paths.problems import Hinge, Tube


def sample(n=40, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + 0.8 * rng.normal(size=n) > 0, 1.0, -1.0)
    return X, y, X[:, 0] - 0.5 * X[:, 1] + 0.3 * rng.normal(size=n)


def a_path(kind):
    X, y, target = sample()
    n = len(y)
    if kind == "quantile":
        return quantile_svm_path(X, y, 0.05)
    if kind == "svm":
        return svm_path(X, y, C_max=10.0)
    before, after = np.linspace(0.5, 2.0, n), np.linspace(3.0, 0.0, n)
    if kind == "weighted":
        return weighted_svm_path(X, y, before, after, kernel="rbf", gamma=0.3)
    return weighted_svr_path(X, target, before, after, 0.1)


KINDS = ["quantile", "svm", "weighted", "tube"]


def corrupted(path, **changes):
    """Return the path with arrays of its longest leg's trace changed."""
    legs = list(path._legs)
    k = max(range(len(legs)), key=lambda k: len(legs[k].trace.t))
    trace = legs[k].trace
    changed = {name: change(trace, getattr(trace, name).copy()) for name, change in changes.items()}
    legs[k] = replace(legs[k], trace=trace._replace(**changed))
    return Path(path.parameter, legs, path.problem, path.diagnostics)


@pytest.mark.parametrize("kind", KINDS)
def test_a_right_path_passes(kind):
    path = a_path(kind)
    certificate = path.certify()
    assert certificate.ok
    assert certificate.n_points == len(path._t) + 100
    assert "holds" in str(certificate)
    # corrupting nothing corrupts nothing: the tests below change what they say
    again = corrupted(path, a=lambda _, a: a).certify()
    assert (again.kkt, again.gap) == (certificate.kkt, certificate.gap)


@pytest.mark.parametrize("kind", KINDS)
def test_one_changed_dual_fails(kind):
    def change(trace, a):
        middle = trace.start[len(trace.t) // 2]
        a[middle] += 1e-4 * max(np.abs(a).max(), 1e-3)
        return a

    certificate = corrupted(a_path(kind), a=change).certify()
    assert not certificate.ok
    assert "FAILS" in str(certificate)


@pytest.mark.parametrize("kind", KINDS)
def test_one_wrong_state_fails(kind):
    def change(trace, state):
        left = np.flatnonzero(state % 2 == 0)  # which kink matters, not which pinned dual
        k = left[len(left) // 2]
        state[k] = 0 if state[k] >= 2 else 2
        return state

    assert not corrupted(a_path(kind), state=change).certify().ok


@pytest.mark.parametrize("kind", KINDS)
def test_one_moved_node_fails(kind):
    def change(trace, t):
        gaps = np.diff(t)
        k = int(np.argmax(np.minimum(gaps[:-1], gaps[1:]))) + 1
        t[k] += 0.3 * gaps[k]
        return t

    assert not corrupted(a_path(kind), t=change).certify().ok


@pytest.mark.parametrize("kind", KINDS)
def test_the_duals_of_two_swapped_nodes_fail(kind):
    path = a_path(kind)
    good, k = path._node_duals, len(path._t) // 2
    swap = {k: k + 1, k + 1: k}
    path._node_duals = lambda node: good(swap.get(node, node))
    assert not path.certify(n_random=0).ok


@pytest.mark.parametrize("kind", KINDS)
def test_nan_fails(kind):
    def change(trace, a):
        a[trace.start[len(trace.t) // 2]] = np.nan
        return a

    certificate = corrupted(a_path(kind), a=change).certify()
    assert not certificate.ok
    assert certificate.kkt == np.inf


@pytest.mark.parametrize("kind", ["svm", "weighted", "tube"])
def test_a_wrong_bias_fails(kind):
    path = a_path(kind)
    good = path._node_duals

    def shifted(node):
        duals = good(node)
        duals[-1] += 1e-5
        return duals

    path._node_duals = shifted
    assert not path.certify(n_random=0).ok


# -- against a solver that knows no path ------------------------------------------------------


def dual_solution(K, y, cost, epsilon=None):
    """Return signed duals (n,) and the bias of min 1/2 a'Ka - y'a (+ eps |a|), sum a = 0."""
    n = len(y)
    one = np.ones((1, n))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-13
    if epsilon is None:
        P, q = K, -y
        low, high = np.minimum(y * cost, 0), np.maximum(y * cost, 0)
        A = np.vstack([one, np.eye(n), -np.eye(n)])
        b = np.concatenate([[0.0], high, -low])
    else:  # a = p - m
        P = np.block([[K, -K], [-K, K]])
        q = np.concatenate([epsilon - y, epsilon + y])
        A = np.vstack([np.hstack([one, -one]), np.eye(2 * n), -np.eye(2 * n)])
        b = np.concatenate([[0.0], cost, cost, np.zeros(2 * n)])
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(len(b) - 1)]
    P = sp.csc_matrix(np.triu(P))
    found = clarabel.DefaultSolver(P, q, sp.csc_matrix(A), b, cones, settings).solve()
    assert str(found.status) == "Solved"
    a = np.asarray(found.x) if epsilon is None else np.asarray(found.x)[:n] - found.x[n:]
    return a, found.z[0]


def judged(problem, a, bias):
    duals = np.append(a, -bias)[:, None]
    return certification.certify(problem, np.zeros(1), lambda index: duals)


def machines():
    X, y, target = sample(n=30)
    cost = np.linspace(0.5, 2.0, 30)
    common = ("linear", 1.0, 3, 0.0, 1.0, "free", 0.0, cost, 0 * cost)
    return X, y, target, cost, common


def test_a_solvers_hinge_solution_passes_and_a_perturbed_one_fails():
    X, y, _, cost, common = machines()
    problem = Hinge(X, y, np.array([-1.0, 1.0]), *common)
    a, bias = dual_solution(X @ X.T, y, cost)
    assert judged(problem, a, bias).ok
    inside = int(np.argmax(np.minimum(np.abs(a), cost - np.abs(a))))
    for wrong in (a * (1 - 1e-5), a + 1e-5 * (np.arange(30) == inside), a - 1e-4 * y):
        assert not judged(problem, wrong, bias).ok
    assert not judged(problem, a, bias + 1e-5).ok
    assert not judged(problem, a * np.nan, bias).ok


def test_a_solvers_tube_solution_passes_and_a_perturbed_one_fails():
    X, _, target, cost, common = machines()
    problem = Tube(X, target, np.empty(0), *common, epsilon0=0.1)
    a, bias = dual_solution(X @ X.T, target, cost, epsilon=0.1)
    assert judged(problem, a, bias).ok
    inside = int(np.argmax(np.minimum(np.abs(a), cost - np.abs(a))))
    for wrong in (a * (1 - 1e-5), a + 1e-5 * (np.arange(30) == inside), np.clip(a, -0.3, 0.3)):
        assert not judged(problem, wrong, bias).ok
    assert not judged(problem, a, bias - 1e-5).ok


def test_duals_outside_their_box_fail():
    X, y, _, cost, common = machines()
    problem = Hinge(X, y, np.array([-1.0, 1.0]), *common)
    a, bias = dual_solution(X @ X.T, y, cost)
    full = int(np.argmax(np.abs(a) / cost))
    over = a.copy()
    over[full] *= 1 + 1e-6
    assert judged(problem, over, bias).kkt > 1e-7


def test_an_unbalanced_free_bias_fails():
    X, y, _, cost, common = machines()
    zero = np.zeros(30)
    # all duals zero is balanced, but not optimal; all at full level is not even balanced
    problem = Hinge(X, y, np.array([-1.0, 1.0]), *common)
    assert not judged(problem, zero, 0.0).ok
    assert judged(problem, y * cost, 0.0).kkt >= abs(y @ cost) / cost.max() * 0.99


def test_an_unknown_problem_is_named():
    with pytest.raises(TypeError, match="No certificate is known for str"):
        certification.certify("nothing", np.zeros(1), lambda index: np.zeros((1, 1)))
