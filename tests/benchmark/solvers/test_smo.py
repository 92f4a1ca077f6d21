"""SMO: against an interior-point method, against scikit-learn, and against its own definition."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVR

from path_benchmark.objectives import Hinge
from path_benchmark.solvers import clarabel_solver, judge, smo
from path_benchmark.solvers.smo import SMO, feasible_start
from solution_paths.compilation import cached_njit
from solution_paths.kernels.kernel import KERNELS, Kernel, kernel_row, squared_norms

pytestmark = pytest.mark.slow

TIGHT = {"tol": 1e-8, "time_limit": 20.0}


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    """No time limit is spent on compilation."""
    smo.warm_up()


def _data(n: int = 120, d: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + np.sin(2 * X[:, 1]) + rng.normal(0, 0.5, n) > 0, 1.0, -1.0)
    return X, y, rng.uniform(0.0, 2.0, n)


def _kernel(kernel: str, **shape) -> Kernel:
    return Kernel(kernel, **shape)


def _problem(kernel: str, C: float, n: int = 120, seed: int = 0) -> Hinge:
    X, y, weights = _data(n, seed=seed)
    weights[::7] = 0.0
    kernel = Kernel(kernel, gamma=0.25, degree=2, coef0=1.0)
    return Hinge(X, y, cost0=C * weights, lam=0.5, bias="free", kernel=kernel)


def _violation_svr(K, z, costs, epsilon, b) -> float:
    """Max over pairs of what moving mass from one to the other would save, by the definition."""
    u = K @ b - z
    raise_cost = np.where(b >= 0, u + epsilon, u - epsilon)[b < costs]
    lower_saves = np.where(b > 0, u + epsilon, u - epsilon)[b > -costs]
    return float(lower_saves.max() - raise_cost.min())


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_objective_agrees_with_an_interior_point_method(kernel, C):
    problem = _problem(kernel, C)
    answer = smo.solve(problem, {"tolerance": 1e-8, "time_limit": 20.0})
    oracle = judge(problem, clarabel_solver.solve(problem))
    verdict = judge(problem, answer, lower_bound=oracle.dual)
    assert answer.status == "solved"
    assert verdict.dual == pytest.approx(oracle.dual, rel=1e-6)
    assert verdict.primal == pytest.approx(oracle.primal, rel=1e-6)
    assert verdict.kkt < 1e-6
    assert ((answer.alpha >= 0) & (answer.alpha <= problem.costs())).all()


@cached_njit
def write_row(x, square, columns, squares, out, kind, gamma, degree, coef0):
    kernel_row(x, square, columns, squares, out, kind, gamma, degree, coef0)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_a_row_is_that_of_the_kernel_matrix(kernel):
    X, _, _ = _data(50)
    X[:, 1] = 0.0
    shape = {"gamma": 0.25, "degree": 3, "coef0": 1.0}
    row, kind = np.empty(50), KERNELS.index(kernel)
    for k in range(50):
        write_row(X[k], X[k] @ X[k], X.T.copy(), squared_norms(X), row, kind, *shape.values())
        assert np.allclose(row, Kernel(kernel, **shape)(X[k : k + 1], X), rtol=1e-14)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_the_way_rows_are_come_by_does_not_change_the_solution(kernel, bias):
    X, y, weights = _data(300, seed=2)
    shape = {"kernel": kernel, "gamma": 0.25, "degree": 2, "coef0": 1.0}
    options = {"bias": bias, **TIGHT}
    plain = SMO(X, **shape).solve_svc(y, weights * 20, **options)
    K = _kernel(**shape)(X, X)
    has_rows = SMO(X, **shape)
    has_rows.solve_svc(y, weights, bias=bias)
    others = [
        has_rows.solve_svc(y, weights * 20, **options),
        SMO(K, kernel="precomputed").solve_svc(y, weights * 20, **options),
        SMO(sp.csr_matrix(X), **shape).solve_svc(y, weights * 20, **options),
    ]
    for other in others:
        assert other.status == "solved"
        assert other.objective == pytest.approx(plain.objective, rel=1e-10)
        assert other.b == pytest.approx(plain.b, abs=1e-6)


def test_a_given_matrix_is_neither_copied_nor_changed():
    X, y, weights = _data(100)
    K = Kernel("rbf", 0.25)(X, X)
    before, solver = K.copy(), SMO(K, kernel="precomputed")
    solver.solve_svc(y, 100 * weights, **TIGHT)
    assert np.shares_memory(solver._whole.table, K)
    assert np.array_equal(K, before)


def test_rows_are_computed_when_needed_and_kept():
    X, y, weights = _data(300)
    solver = SMO(X)
    assert solver._whole.used[0] == 0
    solver.solve_svc(y, np.where(np.arange(300) < 40, weights, 0.0))
    first = int(solver._whole.used[0])
    assert 0 < first <= 40
    solver.solve_svc(y, np.where(np.arange(300) < 40, weights, 0.0))
    assert solver._whole.used[0] == first


def test_reported_violation_and_objective_are_those_of_the_definition():
    X, y, weights = _data(400, seed=5)
    K = rbf_kernel(X, gamma=0.5) + 1e-6 * np.eye(400)
    costs = 1e3 * weights
    found = SMO(X, gamma=0.5, ridge=1e-6).solve_svc(y, costs, tol=1e-3)
    b = y * found.alpha
    u = K @ b - y
    can_rise = np.where(y > 0, found.alpha < costs, found.alpha > 0)
    can_fall = np.where(y > 0, found.alpha > 0, found.alpha < costs)
    true = u[can_fall].max() - u[can_rise].min()
    assert found.violation == pytest.approx(true, abs=1e-9)
    assert found.violation <= 1e-3
    assert found.objective == pytest.approx(0.5 * b @ K @ b - found.alpha.sum(), rel=1e-10)
    assert abs(b.sum()) < 1e-10 * costs.sum()


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_svr_is_optimal_and_agrees_with_scikit_learn(C):
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (250, 3))
    z = np.sin(3 * X[:, 0]) + X[:, 1] + rng.normal(0, 0.2, 250)
    weights = rng.uniform(0.1, 2.0, 250)
    found = SMO(X, gamma=0.5).solve_svr(z, C * weights, 0.05, **TIGHT)
    K = rbf_kernel(X, gamma=0.5)
    assert _violation_svr(K, z, C * weights, 0.05, found.alpha) <= 1e-8 + 1e-10
    assert abs(found.alpha.sum()) < 1e-9 * C
    theirs = SVR(C=C, gamma=0.5, epsilon=0.05, tol=1e-6).fit(X, z, sample_weight=weights)
    # LIBSVM's kernel values are float32, which its decision values feel in proportion to the duals.
    float32 = np.finfo(np.float32).eps * np.abs(found.alpha).sum()
    assert np.abs(K @ found.alpha + found.b - theirs.predict(X)).max() < 1e-5 + float32


def test_svr_primal_and_dual_objectives_meet():
    rng = np.random.default_rng(8)
    X, z = rng.normal(size=(80, 2)), rng.normal(size=80)
    costs = rng.uniform(0, 5, 80)
    costs[:10] = 0.0
    found = SMO(X, kernel="poly", gamma=1.0, coef0=1.0, degree=2).solve_svr(z, costs, 0.1, **TIGHT)
    K = (X @ X.T + 1.0) ** 2
    loss = np.maximum(0.0, np.abs(z - K @ found.alpha - found.b) - 0.1)
    primal = 0.5 * found.alpha @ K @ found.alpha + costs @ loss
    assert primal == pytest.approx(-found.objective, rel=1e-6)


class TestWithoutABias:
    """Solutions by their definition: K b - z against the box, and Clarabel's objective."""

    @staticmethod
    def _violation(u, can_rise, can_fall, epsilon=0.0, b=0.0):
        """Largest slope of the objective along one coordinate that may move that way."""
        rising = -(u + np.where(b >= 0, epsilon, -epsilon))[can_rise]
        falling = (u + np.where(b > 0, epsilon, -epsilon))[can_fall]
        return max(rising.max(initial=0.0), falling.max(initial=0.0))

    @pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
    @pytest.mark.parametrize("C", [1.0, 100.0])
    def test_classification(self, kernel, C):
        X, y, weights = _data(150)
        weights[::7] = 0.0
        shape = {"kernel": kernel, "gamma": 0.25, "degree": 2, "coef0": 1.0}
        found = SMO(X, **shape).solve_svc(y, C * weights, bias=False, **TIGHT)
        assert (found.status, found.b) == ("solved", 0.0)
        assert ((found.alpha >= 0) & (found.alpha <= C * weights)).all()
        b = y * found.alpha
        low, high = np.minimum(0, y * C * weights), np.maximum(0, y * C * weights)
        u = _kernel(**shape)(X, X) @ b - y
        assert self._violation(u, b < high, b > low) <= 1e-8 + 1e-10 * C
        problem = Hinge(X, y, cost0=C * weights, bias="none", kernel=_kernel(**shape))
        oracle = judge(problem, clarabel_solver.solve(problem))
        assert -found.objective == pytest.approx(oracle.dual, rel=1e-7)
        answer = smo.solve(problem, {"tolerance": 1e-8, "time_limit": 20.0})
        verdict = judge(problem, answer, lower_bound=oracle.dual)
        assert verdict.primal == pytest.approx(oracle.primal, rel=1e-6)
        assert verdict.kkt < 1e-6

    @pytest.mark.parametrize("kernel", ["rbf", "linear"])
    @pytest.mark.parametrize("epsilon", [0.0, 0.1])
    def test_regression(self, kernel, epsilon):
        rng = np.random.default_rng(3)
        X = rng.uniform(-1, 1, (120, 3))
        z = np.sin(3 * X[:, 0]) + X[:, 1] + 0.5 + rng.normal(0, 0.2, 120)
        costs = rng.uniform(0.0, 5.0, 120)
        costs[:10] = 0.0
        found = SMO(X, kernel=kernel, gamma=0.5).solve_svr(z, costs, epsilon, bias=False, **TIGHT)
        K = Kernel(kernel, 0.5)(X, X)
        b, u = found.alpha, K @ found.alpha - z
        assert found.status == "solved"
        assert (np.abs(b) <= costs).all()
        assert self._violation(u, b < costs, b > -costs, epsilon, b) <= 1e-8 + 1e-10
        loss = np.maximum(0.0, np.abs(z - K @ b) - epsilon)
        primal = 0.5 * b @ K @ b + costs @ loss
        assert primal == pytest.approx(-found.objective, rel=1e-7)

    def test_the_balance_is_not_kept(self):
        X, _, weights = _data(60)
        found = SMO(X).solve_svc(np.ones(60), weights, bias=False, **TIGHT)
        assert found.alpha.sum() > 1.0

    @pytest.mark.parametrize("bias", [True, False])
    def test_the_smallest_problems(self, bias):
        one = SMO([[2.0]], kernel="linear")
        alone = one.solve_svc([1.0], [10.0], bias=bias, **TIGHT)
        assert alone.status == "solved"
        assert alone.alpha[0] == pytest.approx(0.0 if bias else 0.25)
        fitted = one.solve_svr([3.0], [10.0], 0.5, bias=bias, **TIGHT)
        assert 4.0 * fitted.alpha[0] + fitted.b == pytest.approx(3.0 if bias else 2.5)
        two = SMO([[1.0], [-1.0]], kernel="linear").solve_svc(
            [1.0, -1.0], [10.0, 10.0], bias=bias, **TIGHT
        )
        assert two.alpha.sum() == pytest.approx(1.0)
        assert two.b == pytest.approx(0.0)

    def test_a_zero_row_stays_at_its_cost(self):
        X, y, weights = _data(40)
        X[:5] = 0.0
        found = SMO(X, kernel="linear").solve_svc(y, weights, bias=False, **TIGHT)
        assert np.array_equal(found.alpha[:5], weights[:5])

    @pytest.mark.parametrize("factor", [0.3, 5.0])
    def test_hot_starts(self, factor):
        X, y, weights = _data(300, seed=4)
        solver, new = SMO(X, gamma=0.5), factor * weights * np.linspace(0.9, 1.1, 300)
        old = solver.solve_svc(y, weights, bias=False, **TIGHT)
        again = solver.solve_svc(y, weights, bias=False, start=old.alpha, tol=2e-8)
        assert again.iterations == 0
        cold = solver.solve_svc(y, new, bias=False, **TIGHT)
        for costs in (None, weights):
            hot = solver.solve_svc(y, new, bias=False, start=old.alpha, start_costs=costs, **TIGHT)
            assert hot.objective == pytest.approx(cold.objective, rel=1e-10)

    def test_duplicates_that_disagree(self):
        X = np.repeat(np.random.default_rng(0).integers(0, 2, (20, 3)).astype(float), 2, axis=0)
        y = np.tile([1.0, -1.0], 20)
        found = SMO(X).solve_svc(y, np.full(40, 50.0), bias=False, **TIGHT)
        assert found.status == "solved"
        assert found.objective == pytest.approx(-40 * 50.0)


class TestHotStart:
    def test_the_start_is_made_feasible_whatever_it_is(self):
        rng = np.random.default_rng(1)
        for _ in range(200):
            n = int(rng.integers(2, 30))
            low, high = -rng.exponential(size=n), rng.exponential(size=n)
            one_sided = rng.random(n) < 0.5
            low[one_sided], high[~one_sided] = 0.0, 0.0
            b = feasible_start(rng.normal(0, 3, n), low, high)
            assert ((b >= low) & (b <= high)).all()
            assert abs(b.sum()) <= 1e-13 * (1 + np.abs(b).sum())

    def test_a_feasible_start_is_left_alone(self):
        b = np.array([0.5, -1.0, 0.5, 0.0])
        assert np.array_equal(feasible_start(b, b - 1, b + 1), b)

    def test_what_stands_inside_the_box_gives_way_first(self):
        high = np.array([1.0, 1.0, 0.0])
        b = feasible_start(np.array([1.0, 0.5, -1.0]), np.array([0.0, 0.0, -1.0]), high)
        assert np.allclose(b, [1.0, 0.0, -1.0])

    def test_starting_at_the_solution_takes_no_iteration(self):
        X, y, weights = _data(200)
        solver = SMO(X)
        found = solver.solve_svc(y, weights, **TIGHT)
        again = solver.solve_svc(y, weights, start=found.alpha, tol=2e-8)
        assert again.iterations == 0
        assert again.objective == pytest.approx(found.objective, rel=1e-12)

    @pytest.mark.parametrize("factor", [0.3, 1.02, 5.0])
    def test_it_ends_where_a_cold_start_ends(self, factor):
        X, y, weights = _data(300, seed=4)
        new = factor * weights * np.linspace(0.9, 1.1, 300)
        new[:20] = 0.0
        solver = SMO(X, gamma=0.5)
        old = solver.solve_svc(y, 10 * weights, **TIGHT)
        cold = SMO(X, gamma=0.5).solve_svc(y, 10 * new, **TIGHT)
        hot = solver.solve_svc(y, 10 * new, start=old.alpha, **TIGHT)
        follow = solver.solve_svc(y, 10 * new, start=old.alpha, start_costs=10 * weights, **TIGHT)
        assert hot.objective == pytest.approx(cold.objective, rel=1e-10)
        assert follow.objective == pytest.approx(cold.objective, rel=1e-10)

    def test_a_small_change_takes_far_fewer_iterations(self):
        X, y, weights = _data(300, seed=4)
        solver = SMO(X, gamma=0.5)
        old = solver.solve_svc(y, 10 * weights, tol=1e-3)
        new = 10 * weights * (1 + 1e-4 * np.arange(300) / 300)
        hot = solver.solve_svc(y, new, start=old.alpha, start_costs=10 * weights, tol=1e-3)
        cold = solver.solve_svc(y, new, tol=1e-3)
        assert hot.iterations < cold.iterations / 10

    def test_regression_too(self):
        rng = np.random.default_rng(3)
        X, z = rng.normal(size=(150, 2)), rng.normal(size=150)
        costs = rng.uniform(1, 10, 150)
        solver = SMO(X)
        old = solver.solve_svr(z, costs, 0.1, **TIGHT)
        new = costs * rng.uniform(0.5, 2, 150)
        hot = solver.solve_svr(z, new, 0.1, start=old.alpha, **TIGHT)
        cold = solver.solve_svr(z, new, 0.1, **TIGHT)
        assert hot.objective == pytest.approx(cold.objective, rel=1e-10)


class TestCornerCases:
    def test_one_class_has_no_weight_left(self):
        X, y, weights = _data(50)
        found = SMO(X).solve_svc(y, np.where(y > 0, weights, 0.0))
        assert found.status == "solved"
        assert not found.alpha.any()
        assert (y * (0 * y + found.b) >= 1 - 1e-12)[y > 0].all()

    def test_all_weights_zero(self):
        X, y, _ = _data(20)
        found = SMO(X).solve_svc(y, np.zeros(20))
        assert (found.status, found.b, found.iterations) == ("solved", 0.0, 0)

    def test_duplicate_rows_and_integer_features(self):
        rng = np.random.default_rng(0)
        X = np.repeat(rng.integers(0, 2, (40, 3)).astype(float), 2, axis=0)
        y = np.tile([1.0, -1.0, -1.0, 1.0], 20)
        problem = Hinge(X, y, cost0=50.0, bias="free")
        verdict = judge(problem, smo.solve(problem, {"tolerance": 1e-8}))
        assert verdict.gap < 1e-7

    def test_limits_are_kept_and_said(self):
        X, y, weights = _data(400)
        found = SMO(X).solve_svc(y, 1e4 * weights, max_iterations=700)
        assert found.iterations == 700
        assert found.status == "inaccurate"
        assert "violation" in found.message
        assert abs((y * found.alpha).sum()) < 1e-6

    @pytest.mark.parametrize("bias", [True, False])
    def test_the_time_limit_is_kept(self, bias):
        X, y, weights = _data(400)
        found = SMO(X).solve_svc(y, 1e6 * weights, bias=bias, tol=1e-9, time_limit=0.2)
        assert found.status == "inaccurate"
        assert found.wall_s < 2.0
        K, b = Kernel("rbf", 0.25)(X, X), y * found.alpha
        dual = 0.5 * b @ K @ b - found.alpha.sum()
        assert found.objective == pytest.approx(dual, rel=1e-8)

    def test_a_tolerance_below_rounding_ends(self):
        X, y, weights = _data(60)
        found = SMO(X).solve_svc(y, 1e4 * weights, tol=0.0, time_limit=2.0)
        assert found.violation < 1e-6

    def test_readonly_arrays_are_accepted(self):
        X, y, weights = _data(30)
        for a in (X, y, weights):
            a.setflags(write=False)
        assert SMO(X).solve_svc(y, weights).status == "solved"


class TestAsABaseline:
    def test_the_cache_is_kept_for_the_same_data_unless_it_is_to_be_cleared(self):
        problem = _problem("rbf", 10.0)
        first = smo.solve(problem)
        other = problem.with_costs(1.1 * problem.costs())
        assert smo.solve(other, start=first).state is first.state
        assert smo.solve(other, {"clear_cache": True}, start=first).state is not first.state
        ridged = replace(other, diagonal=1e-6)
        assert smo.solve(ridged, start=first).state is not first.state

    def test_start_costs_are_in_the_problems_units(self):
        problem = _problem("rbf", 1.0)
        first = smo.solve(problem, {"tolerance": 1e-6})
        other = problem.with_costs(2.0 * problem.costs())
        at_cost = (first.alpha == problem.costs()) & (problem.costs() > 0)
        assert at_cost.sum() > 10
        start_only = {"max_iterations": 0, "start_costs": problem.costs()}
        followed = smo.solve(other, start_only, start=first)
        clipped = smo.solve(other, {"max_iterations": 0}, start=first)
        assert np.median(followed.alpha[at_cost] / first.alpha[at_cost]) == pytest.approx(2.0)
        assert np.allclose(clipped.alpha, first.alpha)

    def test_a_penalised_bias_is_not_applicable(self):
        X, y, weights = _data(20)
        assert smo.solve(Hinge(X, y, cost0=weights, bias="feature")).status == "not applicable"


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda X, y, c: SMO(X, kernel="tanh"), "kernel"),
        (lambda X, y, c: SMO(X, kernel="precomputed"), "square"),
        (lambda X, y, c: SMO(X * np.nan), "finite"),
        (lambda X, y, c: SMO(X, ridge=-1.0), "ridge"),
        (lambda X, y, c: SMO(X).solve_svc(y + 1, c), "y holds"),
        (lambda X, y, c: SMO(X).solve_svc(y, -c), "costs"),
        (lambda X, y, c: SMO(X).solve_svc(y, c, start=c[:3]), "start"),
        (lambda X, y, c: SMO(X).solve_svr(y, c, -0.1), "epsilon"),
    ],
)
def test_bad_input_is_named(make, word):
    with pytest.raises(ValueError, match=word):
        make(*_data(20))
