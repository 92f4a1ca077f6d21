"""The procedure that outlier paths are compared with: convex problems, one after the other."""

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.data_makers import clouds
from helpers.outliers import HOMOTOPIES, problem
from path_benchmark.objectives import Hinge, Tube
from path_benchmark.objectives.robust import robust_hinge, robust_tube
from path_benchmark.solvers import Answer, cccp, judge
from path_benchmark.solvers import solve as solve_by
from solution_paths.kernels import Kernel

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("task", ["svm", "svr"])
def test_the_convex_solver_of_cccp_agrees_with_clarabel(task, kernel):
    X, y = problem(task)
    options = {} if kernel == "linear" else {"kernel": Kernel("rbf", 0.5)}
    for C in (0.01, 1.0, 20.0):
        robust = (robust_hinge if task == "svm" else robust_tube)(X, y, C, **options).at(1.0)
        a, values, _ = cccp.standard(robust, cccp.solver_of(robust), 1e-8)
        plain = (Hinge if task == "svm" else Tube)(X, y, cost0=C, bias="none", **options)
        oracle = judge(plain, solve_by("clarabel", plain))
        assert robust.energy(values, a, 0.0) == pytest.approx(oracle.primal, rel=1e-7)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_convex_solver_of_cccp_converges_where_coordinate_descent_does_not(sparse):
    """On w5a it took minutes for one C = 10, and ended 1e-6 above the optimum for C = 100."""
    X, y = clouds(n=150, d=6)
    X = X @ (np.eye(6) + 5.0)  # columns of nearly one direction
    robust = robust_hinge(sp.csr_array(X) if sparse else X, y, 100.0).at(1.0)
    solver = cccp.solver_of(robust)
    low, high = cccp.boxes(robust, np.zeros(150, dtype=np.int8))
    assert solver._descent(robust.y, low, high, np.zeros(150), 1e-8)[2] < 0
    for costs in (1.0, 0.5):  # the second with what is set up for the first
        a, values, _, passes = solver.solve(robust.y, costs * low, costs * high, low, 1e-8)
        assert passes > 0
        plain = Hinge(X, y, cost0=100.0 * costs, bias="none")
        oracle = judge(plain, solve_by("clarabel", plain))
        energy = robust_hinge(X, y, 100.0 * costs).at(1.0).energy(values, a, 0.0)
        assert energy == pytest.approx(oracle.primal, rel=1e-8)


@pytest.mark.parametrize("sparse", [False, True])
def test_dual_coordinate_descent_agrees_with_liblinear(sparse):
    X, y = clouds(n=200, d=5)
    X = sp.csr_array(X) if sparse else X
    plain = Hinge(X, y, cost0=0.5, bias="none")
    answer = solve_by("liblinear", plain, {"tolerance": 1e-8})
    if answer.status == "not available":
        pytest.skip(answer.message)
    robust = robust_hinge(X, y, 0.5).at(1.0)
    found = cccp.solve(robust, {"tolerance": 1e-8})
    ours, theirs = (judge(plain, Answer(w=one.w)).primal for one in (found, answer))
    assert ours <= theirs * (1 + 1e-7)
    assert ours == pytest.approx(theirs, rel=1e-4)  # it stops after 300 passes


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("homotopy", HOMOTOPIES)
@pytest.mark.parametrize("task", ["svm", "svr"])
def test_cccp_never_rises_and_ends_where_its_outliers_say(task, homotopy, kernel):
    X, y = problem(task)
    options = {} if kernel == "linear" else {"kernel": Kernel("rbf", 0.5)}
    moving = (robust_hinge if task == "svm" else robust_tube)(X, y, 1.0, homotopy, **options)
    t = {"theta": 0.25, "s": -0.2 if task == "svm" else 1.0}[homotopy]
    robust = moving.at(t)
    solver = cccp.solver_of(robust)
    start, values, _ = cccp.standard(robust, solver, 1e-8)
    first = robust.energy(values, start, 0.0)
    found = cccp.solve(robust, {"tolerance": 1e-9})
    assert found.status == "solved"
    a = robust.signed_dual(found.alpha)
    last = robust.energy(robust.gram() @ a, a, 0.0)
    assert last <= first * (1 + 1e-9)
    own = robust.partition(robust.gram() @ a, a)
    np.testing.assert_array_equal(own != 0, cccp.outliers(robust, robust.gram() @ a) != 0)
    assert judge(robust, found).gap < 1e-6  # stationary: optimal for its partition
    again = cccp.solve(robust, {"tolerance": 1e-9}, found)
    np.testing.assert_allclose(again.alpha, found.alpha, atol=1e-6)


def test_cccp_refuses_convex_losses():
    plain = Hinge(*clouds(), bias="none")
    assert cccp.solve(plain).status == "not applicable"


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_what_did_not_converge_is_inaccurate(kernel, monkeypatch):
    options = {} if kernel == "linear" else {"kernel": Kernel("rbf", 0.5)}
    robust = robust_hinge(*clouds(), 1.0, "theta", **options).at(0.25)
    assert cccp.solve(robust).status == "solved"
    with monkeypatch.context() as change:
        change.setattr(cccp, "MOST", 1)
        found = cccp.solve(robust)
        assert (found.status, found.iterations) == ("inaccurate", 1)
        assert found.message == "outliers still change after 1 convex problems"
    monkeypatch.setattr(cccp, "PASSES", 1)  # of coordinate descent
    monkeypatch.setattr(cccp, "MOST_STEPS", 1 / robust.n)  # of the SMO: one
    monkeypatch.setattr(cccp.LinearSolver, "_interior_point", lambda *_: None)
    found = cccp.solve(robust)
    assert found.status == "inaccurate"
    assert found.message == "a convex problem was not solved"


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("unsolved", [0, 1])
def test_no_convex_problem_may_stay_unsolved_the_first_neither(kernel, unsolved):
    options = {} if kernel == "linear" else {"kernel": Kernel("rbf", 0.5)}
    robust = robust_hinge(*clouds(), 1.0, "theta", **options).at(0.25)
    solver, calls = cccp.solver_of(robust), []
    solve = solver.solve

    def fails_once(*problem):
        *answer, count = solve(*problem)
        calls.append(count)
        return *answer, -count if len(calls) == unsolved + 1 else count

    solver.solve = fails_once
    _, _, problems, message = cccp.procedure(robust, solver, 1e-6)
    assert problems == len(calls) > 1
    assert message == "a convex problem was not solved"


def test_outliers_that_return_to_an_earlier_set_have_not_settled(monkeypatch):
    robust = robust_hinge(*clouds(), 1.0, "theta").at(0.25)
    sets = np.zeros((2, robust.n), dtype=np.int8)
    sets[1, 0] = robust.y[0]
    given = iter([sets[0], sets[1], sets[0]])
    with monkeypatch.context() as change:
        change.setattr(cccp, "outliers", lambda *_: next(given))
        found = cccp.solve(robust)
    assert (found.status, found.iterations) == ("inaccurate", 3)
    assert found.message == "outliers return to an earlier set, and do not settle"
    assert cccp.solve(robust).message == ""
