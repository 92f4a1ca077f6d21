"""The dissertation's models as quadratic programmes: all solvers agree, on data with ties, too."""

import numpy as np
import pytest
import scipy.sparse as sp

from path_benchmark.solvers import GRID_SOLVERS, GridSolver
from path_benchmark.solvers.programmes import (
    DoubleMargin,
    DoublyRegularised,
    FactoredDoubleMargin,
    Fixed,
    KernelDoubleMargin,
    LeastDeviations,
    Moving,
    Solution,
)

# What a solver's own default tolerance leaves of the objective, relative.
REACHED = {"cvxpy": 1e-7, "cvxpy_naive": 2e-3, "cvxpy_terms": 2e-3}


def data(seed: int = 0, n: int = 40, d: int = 5):
    """Rows of small integers, some of them twice; two columns alike and one constant."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(n, d)).astype(float)
    X[: n // 4] = X[n // 4 : 2 * (n // 4)]
    X[:, -1], X[:, -2] = X[:, 0], 1.0
    f = X[:, 0] - X[:, 1] + rng.normal(size=n)
    return X, np.round(2 * f) / 2, np.where(f > 0, 1.0, -1.0)


def problems():
    X, y, labels = data()
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    both, s = {"lam1": 0.05, "lam2": 0.1}, {"s": 0.7, "lam2": 0.1}
    return {
        "DrLAD": (LeastDeviations(X, y), s),
        "l1-LAD": (LeastDeviations(X, y), {**s, "lam2": 0.0}),
        "DrSVM": (DoublyRegularised(X, labels), both),
        "l1-SVM": (DoublyRegularised(X, labels), {**both, "lam2": 0.0}),
        "l2-SVM": (DoublyRegularised(X, labels), {**both, "lam1": 0.0}),
        "DM-DrSVM, kappa 1": (DoubleMargin(X, labels, kappa=1.0), both),
        "DM-DrSVM, kappa 5": (DoubleMargin(X, labels, kappa=5.0), both),
        "DM-DrSVM, linear": (DoubleMargin(X, labels, kappa=5.0), {**both, "lam2": 0.0}),
        "DM-KSVM": (KernelDoubleMargin(K, labels, kappa=3.0), {"lam": 0.02}),
        "DM-KSVM, factored": (FactoredDoubleMargin(K, labels, kappa=3.0), {"lam": 0.02}),
        "KSVM": (KernelDoubleMargin(K, labels, kappa=np.inf), {"lam": 0.02}),
    }


PROBLEMS = problems()


def value_of(name, programme, at, **options):
    """Solve at other parameters first, so that what moves is updated."""
    solver = GridSolver(name, programme, **options)
    solver.solve({key: 1.7 * number for key, number in at.items()})
    answer = solver.solve(at)
    assert answer.solved, answer.message
    return programme.value(answer.solution, at), answer.solution


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_direct_solvers_agree_to_1e_8(name):
    programme, at = PROBLEMS[name]
    best, found = value_of("clarabel", programme, at, tolerance=1e-11)
    assert value_of("piqp", programme, at)[0] == pytest.approx(best, rel=1e-8, abs=1e-12)
    if programme.is_linear(at):
        assert value_of("highs", programme, at)[0] == pytest.approx(best, rel=1e-8)
    if "s" in at:
        assert np.abs(found.w).sum() <= at["s"] + 1e-9


@pytest.mark.parametrize("name", PROBLEMS)
def test_cvxpy_agrees_to_its_solvers_tolerance(name):
    programme, at = PROBLEMS[name]
    best, _ = value_of("clarabel", programme, at, tolerance=1e-11)
    value, _ = value_of("cvxpy", programme, at)
    assert value == pytest.approx(best, rel=REACHED["cvxpy"])


def test_the_problem_of_a_careful_user_is_compiled_once():
    for programme, at in PROBLEMS.values():
        solver = GridSolver("cvxpy", programme)
        problem = solver._solver._built[0]
        assert problem.is_dcp(dpp=True)
        compiled = problem._cache.param_prog
        assert compiled is not None
        solver.solve(at)
        assert problem._cache.param_prog is compiled


def test_a_naive_user_builds_anew_and_is_told_what_cvxpy_chose():
    programme, at = PROBLEMS["DrLAD"]
    best, _ = value_of("clarabel", programme, at, tolerance=1e-11)
    value, _ = value_of("cvxpy_naive", programme, at)
    assert value == pytest.approx(best, rel=REACHED["cvxpy_naive"])


@pytest.mark.parametrize("name", ["DrLAD", "DrSVM", "DM-DrSVM, kappa 1"])
def test_a_term_for_each_sample_is_the_same_problem(name):
    programme, at = PROBLEMS[name]
    best, _ = value_of("clarabel", programme, at, tolerance=1e-11)
    value, _ = value_of("cvxpy_terms", programme, at)
    assert value == pytest.approx(best, rel=REACHED["cvxpy_terms"])


@pytest.mark.parametrize("name", ["DrLAD", "DrSVM", "DM-DrSVM, kappa 1", "DM-KSVM"])
def test_values_bound_the_optimum_from_above(name):
    programme, at = PROBLEMS[name]
    best, found = value_of("clarabel", programme, at, tolerance=1e-11)
    rng = np.random.default_rng(1)
    for _ in range(20):
        parts = {
            part: getattr(found, part) * (1.0 - 0.01 * rng.random(np.shape(getattr(found, part))))
            for part in ("w", "alpha")
            if getattr(found, part) is not None
        }
        other = Solution(parts.get("w"), found.b, found.rho, parts.get("alpha"))
        assert programme.value(other, at) >= best * (1.0 - 1e-9)


def test_both_forms_of_the_kernel_machine_find_one_function():
    ours, other = (PROBLEMS[name][0] for name in ("DM-KSVM", "DM-KSVM, factored"))
    at, K = {"lam": 0.02}, PROBLEMS["DM-KSVM"][0].X
    f = [p.decision(value_of("piqp", p, at)[1], K) for p in (ours, other)]
    np.testing.assert_allclose(f[0], f[1], atol=1e-6)


def test_a_quadratic_programme_is_none_for_the_simplex_method():
    programme, at = PROBLEMS["DrLAD"]
    answer = GridSolver("highs", programme).solve(at)
    assert not answer.solved
    assert "HiGHS needs lam2 = 0" in answer.message


class Boxed:
    """min -2 x_1 - x_2 (+ |x|^2 / 2 where ``curved``) subject to x_1 + x_2 <= 4, 0 <= x <= box."""

    dense, curved = False, False
    fixed = Fixed(sp.csc_matrix((0, 2)), np.zeros(0), sp.csc_matrix(np.ones((1, 2))), np.zeros(2))

    def moving(self, at):
        P = sp.csc_matrix((2, 2)) if not self.curved else sp.eye_array(2, format="csc")
        high = None if np.isinf(at["box"]) else np.array([at["box"], np.inf])
        return Moving(P, np.array([-2.0, -1.0]), np.array([4.0]), high)

    def is_linear(self, at):
        return not self.curved

    def read(self, x, multiplier, at):
        return x


@pytest.mark.parametrize("name", ["highs", "piqp", "clarabel"])
def test_bounds_that_a_later_programme_has_not_are_dropped(name):
    programme = Boxed()
    programme.curved = name != "highs"
    solver = GridSolver(name, programme)
    bounded, free = ([1.0, 1.0], [2.0, 1.0]) if programme.curved else ([1.0, 3.0], [4.0, 0.0])
    for box in (1.0, np.inf, 1.0, np.inf, np.inf):
        answer = solver.solve({"box": box})
        assert answer.solved, answer.message
        np.testing.assert_allclose(answer.solution, free if np.isinf(box) else bounded, atol=1e-6)


def test_an_unknown_solver_is_named():
    with pytest.raises(ValueError, match="'gurobi', known are clarabel"):
        GridSolver("gurobi", PROBLEMS["DrLAD"][0])
    assert set(GRID_SOLVERS) == {"piqp", "clarabel", "highs", "cvxpy", "cvxpy_naive", "cvxpy_terms"}
