"""Conformance: every baseline, the same problems, one judge."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp

from path_benchmark import solvers
from path_benchmark.objectives import Hinge, Tube, quantile_hinge
from path_benchmark.solvers import Answer, judge, liblinear
from solution_paths.kernels import Kernel


def _clouds(n: int = 60, d: int = 4, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3 == 0, -1.0, 1.0)
    return rng.normal(size=(n, d)) + 0.6 * y[:, None], y


def quantile(X, y, tau, lam, **options) -> Hinge:
    return quantile_hinge(X, y, lam, **options).at(tau)


def _problems() -> dict[str, Hinge | Tube]:
    X, y = _clouds()
    each = np.random.default_rng(0).uniform(0.2, 1.0, len(y)) / len(y)
    duplicated = np.vstack([X, X])[:90]
    free = {"cost0": each, "bias": "free"}
    return {
        "linear": quantile(X, y, 0.3, 1e-2),
        "positive label first": quantile(X, -y, 0.6, 0.1),
        "sparse": quantile(sp.csr_matrix(np.where(X > 0.5, X, 0.0)), y, 0.3, 1e-2),
        "last column zero": quantile(np.c_[X, np.zeros(len(y))], y, 0.3, 1e-2),
        "duplicated rows": quantile(duplicated, np.r_[y, y][:90], 0.5, 1e-2),
        "wide bias": quantile(X, y, 0.3, 1e-2, intercept_scaling=3.0),
        "no bias": quantile(X, y, 0.3, 1e-2, intercept_scaling=0.0),
        "one cost each": Hinge(X, y, cost0=each, lam=1e-2, bias="feature"),
        "tau 0": quantile(X, y, 0.0, 1e-2),
        "rbf": quantile(X, y, 0.3, 1e-2, kernel=Kernel("rbf", 0.25)),
        "free bias": Hinge(X, y, lam=1e-2, **free),
        "poly, free bias": Hinge(X, y, lam=1e-1, kernel=Kernel("poly", 0.5, 2, 1.0), **free),
        "a row without a cost": Hinge(X, y, cost0=each * (y * X[:, 0] > -1), lam=1e-2, bias="free"),
        "diagonal": Hinge(X, y, lam=1e-2, diagonal=0.1, **free),
        "diagonal, no bias": Hinge(X, y, cost0=each, lam=1e-2, diagonal=0.1, bias="none"),
        "tube": Tube(X, X[:, 0] + 0.3 * y, epsilon0=0.2, lam=1e-2, **free),
        "tube, rbf": Tube(
            X, 3.0 * X[:, 0], epsilon0=0.1, kernel=Kernel("rbf", 0.25), bias="feature", cost0=each
        ),
    }


PROBLEMS = _problems()
FREE_BIAS_ONLY = ("sklearn_svc", "smo")


@pytest.mark.slow
@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
@pytest.mark.parametrize("name", solvers.BASELINES)
def test_every_baseline_reaches_its_stated_accuracy(name, problem):
    baseline = solvers.get(name)
    answer = solvers.solve(name, problem, baseline.TIGHT_OPTIONS)
    if answer.status == "not available":
        pytest.skip(answer.message)
    if baseline.supports(problem):
        assert answer.status == "not applicable"
        assert answer.message
        return
    oracle = judge(problem, solvers.solve("clarabel", problem))
    verdict = judge(problem, answer, lower_bound=oracle.dual)
    assert verdict.ok(baseline.STATED_GAP, np.inf), (answer.message, verdict)
    assert answer.cpu_s >= 0
    assert answer.wall_s > 0


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
def test_the_oracle_closes_its_gap_to_1e_10(problem):
    verdict = judge(problem, solvers.solve("clarabel", problem))
    assert abs(verdict.gap) < 1e-10
    assert verdict.kkt < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*solvers.BASELINES} - {"clarabel"}))
def test_a_second_call_reuses_what_the_first_one_built(name):
    problem = PROBLEMS["free bias" if name in FREE_BIAS_ONLY else "linear"]
    first = solvers.solve(name, problem)
    if first.status == "not available":
        pytest.skip(first.message)
    other = problem.with_costs(problem.costs() * np.where(problem.y > 0, 0.5, 1.5))
    again = solvers.solve(name, other, start=first)
    fresh = solvers.solve(name, other)
    assert again.state is first.state
    assert again.setup_cpu_s == 0.0
    # LIBLINEAR visits samples in a random order, so two runs agree to its tolerance only.
    assert judge(other, again).primal == pytest.approx(judge(other, fresh).primal, rel=1e-4)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csr_matrix])
def test_objectives_of_the_same_rows_reuse_what_was_built(kind):
    X, y = _clouds()
    X = kind(X)
    first = solvers.solve("lbfgsb", quantile(X, y, 0.3, 1e-2))
    assert solvers.solve("lbfgsb", quantile(X, y, 0.6, 1e-2), start=first).state is first.state
    other = solvers.solve("lbfgsb", quantile(X, -y, 0.6, 1e-2), start=first)
    assert other.state is not first.state


@pytest.mark.parametrize("name", sorted({*solvers.BASELINES} - {"clarabel"}))
def test_state_of_other_data_is_not_reused(name):
    problem = PROBLEMS["free bias" if name in FREE_BIAS_ONLY else "linear"]
    first = solvers.solve(name, problem)
    if first.status == "not available":
        pytest.skip(first.message)
    X, y = _clouds(seed=9)
    other = dataclasses.replace(problem, X=X, y=y)
    assert solvers.solve(name, other, start=first).state is not first.state


def test_liblinear_is_called_with_the_papers_arguments():
    X, y = _clouds()
    tau, lam = 0.3, 1e-3
    words = liblinear._arguments(quantile(X, y, tau, lam), 1e-3).split()
    given = {words[i]: float(words[i + 1]) for i in range(0, len(words), 2)}
    assert given["-s"] == 3
    assert given["-B"] == 1
    assert given["-e"] == 1e-3
    assert given["-w1"] == pytest.approx(2 - 2 * tau)
    assert given["-w-1"] == pytest.approx(2 * tau)
    assert float(words[words.index("-c") + 1]) == pytest.approx(1 / (len(y) * lam))


def test_warm_start_of_lbfgsb_needs_fewer_iterations():
    problem = PROBLEMS["linear"]
    options = solvers.get("lbfgsb").TIGHT_OPTIONS
    cold = solvers.solve("lbfgsb", problem, options)
    warm = solvers.solve("lbfgsb", problem, {**options, "warm": True}, start=cold)
    assert warm.iterations < cold.iterations / 2


@pytest.mark.parametrize(
    ("name", "cut"),
    [
        ("lbfgsb", {"maxiter": 1}),
        ("sklearn_svc", {"max_iter": 2}),
        ("smo", {"max_iterations": 2}),
        ("smo", {"time_limit": 0.0}),
        ("clarabel", {"max_iter": 2}),
    ],
)
def test_a_solve_that_is_cut_short_is_not_called_solved(name, cut):
    problem = PROBLEMS["free bias" if name in FREE_BIAS_ONLY else "linear"]
    assert solvers.solve(name, problem).status == "solved"
    assert solvers.solve(name, problem, cut).status in ("inaccurate", "failed")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("one cost each", "one cost for each class"),  # costs that differ by less than 1
        ("rbf", "the linear kernel only"),
        ("free bias", "penalises the bias"),
        ("tube", "hinge"),
        ("diagonal", "add to the diagonal"),
        ("wide bias", ""),
    ],
)
def test_liblinear_refuses_what_it_does_not_minimise(name, says):
    found = liblinear.supports(PROBLEMS[name])
    assert says in found
    assert bool(found) == bool(says)


def test_liblinear_says_that_it_stopped_at_its_limit(capfd):
    X, y = _clouds()
    hard, easy = (solvers.solve("liblinear", quantile(X, y, 0.3, lam)) for lam in (1e-6, 1e-1))
    if hard.status == "not available":
        pytest.skip(hard.message)
    assert (hard.status, hard.iterations) == ("inaccurate", 300)
    assert hard.message == "stopped at its limit of 300 passes, above its tolerance"
    assert (easy.status, easy.message) == ("solved", "")
    assert 0 < easy.iterations < 300
    assert capfd.readouterr() == ("", "")


def test_liblinear_that_does_not_say_how_it_ended_is_not_called_solved():
    assert liblinear._ending("")[:2] == ("inaccurate", "LIBLINEAR did not say how it ended")


class TestTheJudge:
    problem = PROBLEMS["linear"]

    @pytest.fixture
    def answer(self):
        return solvers.solve("clarabel", self.problem)

    def _refuses(self, answer, **changes):
        return not judge(self.problem, dataclasses.replace(answer, **changes)).ok(1e-9, 1e-6)

    def test_accepts_the_optimum(self, answer):
        assert judge(self.problem, answer).ok(1e-9, 1e-6)
        assert judge(self.problem, Answer(alpha=answer.alpha)).ok(1e-6, 1e-4)

    def test_agrees_with_a_formula_written_out_by_hand(self, answer):
        p = self.problem
        margins = p.y * (p.X @ answer.w + answer.b)
        primal = p.lam / 2 * (answer.w @ answer.w + answer.b**2)
        primal += sum(c * max(0.0, 1.0 - m) for c, m in zip(p.costs(), margins, strict=True))
        assert judge(p, answer).primal == pytest.approx(primal, rel=1e-14)

    @pytest.mark.parametrize("factor", [1.001, 0.999])
    def test_refuses_scaled_weights(self, answer, factor):
        assert self._refuses(answer, w=answer.w * factor)

    def test_refuses_a_shifted_bias(self, answer):
        assert self._refuses(answer, b=answer.b + 1e-3)

    def test_refuses_one_wrong_dual_coefficient(self, answer):
        alpha = answer.alpha.copy()
        alpha[np.argmin(np.abs(alpha - self.problem.costs() / 2))] *= 0.9
        assert self._refuses(answer, alpha=alpha)

    def test_refuses_an_infeasible_dual_however_good_it_looks(self, answer):
        assert self._refuses(answer, alpha=answer.alpha * 1.01)
        assert self._refuses(answer, alpha=answer.alpha - 1e-4 / self.problem.n)

    def test_refuses_nothing_nan_and_wrong_lengths(self, answer):
        assert self._refuses(answer, alpha=None, w=None)
        assert self._refuses(answer, w=answer.w * np.nan)
        assert self._refuses(answer, alpha=answer.alpha[:-1])

    def test_refuses_weights_alone_without_a_bound(self, answer):
        alone = Answer(w=answer.w, b=answer.b)
        assert not judge(self.problem, alone).ok(1e-9, np.inf)
        assert judge(self.problem, alone, lower_bound=judge(self.problem, answer).dual).ok(
            1e-9, np.inf
        )

    def test_refuses_a_bound_above_the_optimum(self, answer):
        alone = Answer(w=answer.w, b=answer.b)
        assert not judge(
            self.problem, alone, lower_bound=2 * judge(self.problem, answer).primal
        ).ok(1e-9, np.inf)

    def test_refuses_a_bias_where_the_problem_has_none(self):
        problem = PROBLEMS["no bias"]
        answer = solvers.solve("clarabel", problem)
        assert judge(problem, answer).ok(1e-9)
        assert not judge(problem, dataclasses.replace(answer, b=0.1)).ok(1e-9)

    def test_refuses_an_unbalanced_dual_when_the_bias_is_free(self):
        problem = PROBLEMS["free bias"]
        answer = solvers.solve("clarabel", problem)
        alpha = answer.alpha.copy()
        alpha[np.argmax(problem.y)] = 0.0
        assert judge(problem, answer).ok(1e-9, 1e-6)
        assert not judge(problem, dataclasses.replace(answer, alpha=alpha)).ok(1e-9, 1e-6)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"bias": "loose"}, "bias"),
        ({"y": np.arange(60.0)}, "y"),
        ({"cost0": -np.ones(60)}, "cost0"),
        ({"cost1": np.ones(9)}, "cost1"),
        ({"lam": 0.0}, "lam"),
    ],
)
def test_a_bad_problem_is_refused_by_name(change, name):
    with pytest.raises(ValueError, match=name):
        dataclasses.replace(PROBLEMS["linear"], **change)


def test_an_unknown_baseline_lists_the_known_ones():
    with pytest.raises(ValueError, match="lbfgsb, liblinear"):
        solvers.get("gurobi")


def test_kernels_match_their_definition():
    X, y = _clouds(n=9)
    for kernel, f in {
        "rbf": lambda a, b: np.exp(-0.3 * np.sum((a - b) ** 2)),
        "poly": lambda a, b: (0.3 * a @ b + 2.0) ** 3,
        "linear": lambda a, b: a @ b,
    }.items():
        K = Hinge(X, y, kernel=Kernel(kernel, gamma=0.3, degree=3, coef0=2.0)).gram()
        expected = np.array([[f(a, b) for b in X] for a in X])
        np.testing.assert_allclose(K, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"name": "cubic"}, "kernel"),
        ({"gamma": 0.0}, "gamma"),
        ({"degree": 1.5}, "degree"),
        ({"coef0": -1.0}, "coef0"),
    ],
)
def test_a_bad_kernel_is_refused_by_name(change, name):
    with pytest.raises(ValueError, match=name):
        dataclasses.replace(Kernel("poly"), **change)


def test_an_objective_that_moves_is_refused():
    with pytest.raises(ValueError, match=r"pass objective\.at"):
        solvers.solve("clarabel", quantile_hinge(*_clouds(), 0.1))
