"""Conformance: every baseline, the same problems, one judge."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp

from solution_paths import baselines
from solution_paths.baselines import (
    Answer,
    HingeProblem,
    judge,
    liblinear,
    quantile_costs,
)
from solution_paths.baselines.problem import gram_matrix


def _clouds(n: int = 60, d: int = 4, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3 == 0, -1.0, 1.0)
    return rng.normal(size=(n, d)) + 0.6 * y[:, None], y


def _problems() -> dict[str, HingeProblem]:
    X, y = _clouds()
    costs = quantile_costs(y, 0.3)
    each = np.random.default_rng(0).uniform(0.2, 1.0, len(y)) / len(y)
    duplicated = np.vstack([X, X])[:90]
    y2 = np.r_[y, y][:90]
    return {
        "linear": HingeProblem(X, y, costs, 1e-2),
        "positive label first": HingeProblem(X, -y, quantile_costs(-y, 0.6), 0.1),
        "sparse": HingeProblem(sp.csr_matrix(np.where(X > 0.5, X, 0.0)), y, costs, 1e-2),
        "last column zero": HingeProblem(np.c_[X, np.zeros(len(y))], y, costs, 1e-2),
        "duplicated rows": HingeProblem(duplicated, y2, quantile_costs(y2, 0.5), 1e-2),
        "wide bias": HingeProblem(X, y, costs, 1e-2, intercept_scaling=3.0),
        "no bias": HingeProblem(X, y, costs, 1e-2, intercept_scaling=0.0),
        "one cost each": HingeProblem(X, y, each, 1e-2),
        "tau 0": HingeProblem(X, y, quantile_costs(y, 0.0), 1e-2),
        "rbf": HingeProblem(X, y, costs, 1e-2, kernel="rbf", gamma=0.25),
        "free bias": HingeProblem(X, y, each, 1e-2, free_bias=True),
        "poly, free bias": HingeProblem(
            X, y, each, 1e-1, free_bias=True, kernel="poly", gamma=0.5, degree=2, coef0=1.0
        ),
    }


PROBLEMS = _problems()
FREE_BIAS_ONLY = ("sklearn_svc", "smo")


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
@pytest.mark.parametrize("name", baselines.BASELINES)
def test_every_baseline_reaches_its_stated_accuracy(name, problem):
    baseline = baselines.get(name)
    answer = baselines.solve(name, problem, baseline.TIGHT_OPTIONS)
    if answer.status == "not available":
        pytest.skip(answer.message)
    if baseline.supports(problem):
        assert answer.status == "not applicable"
        assert answer.message
        return
    oracle = judge(problem, baselines.solve("clarabel", problem))
    verdict = judge(problem, answer, lower_bound=oracle.dual)
    assert verdict.ok(baseline.STATED_GAP), (answer.message, verdict)
    assert answer.cpu_s >= 0
    assert answer.wall_s > 0


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
def test_the_oracle_closes_its_gap_to_1e_10(problem):
    verdict = judge(problem, baselines.solve("clarabel", problem))
    assert abs(verdict.gap) < 1e-10
    assert verdict.kkt < 1e-6


@pytest.mark.parametrize("name", baselines.BASELINES)
def test_a_second_call_reuses_what_the_first_one_built(name):
    problem = PROBLEMS["free bias" if name in FREE_BIAS_ONLY else "linear"]
    first = baselines.solve(name, problem)
    if first.status == "not available":
        pytest.skip(first.message)
    other = problem.with_costs(problem.costs * np.where(problem.y > 0, 0.5, 1.5))
    again = baselines.solve(name, other, start=first)
    fresh = baselines.solve(name, other)
    assert again.state is first.state
    assert again.setup_cpu_s == 0.0
    # LIBLINEAR visits samples in a random order, so two runs agree to its tolerance only.
    assert judge(other, again).primal == pytest.approx(judge(other, fresh).primal, rel=1e-4)


@pytest.mark.parametrize("name", baselines.BASELINES)
def test_state_of_other_data_is_not_reused(name):
    problem = PROBLEMS["free bias" if name in FREE_BIAS_ONLY else "linear"]
    first = baselines.solve(name, problem)
    if first.status == "not available":
        pytest.skip(first.message)
    X, y = _clouds(seed=9)
    other = dataclasses.replace(problem, X=X, y=y)
    assert baselines.solve(name, other, start=first).state is not first.state


def test_liblinear_is_called_with_the_papers_arguments():
    X, y = _clouds()
    tau, lam = 0.3, 1e-3
    words = liblinear._arguments(HingeProblem(X, y, quantile_costs(y, tau), lam), 1e-3).split()
    given = {words[i]: float(words[i + 1]) for i in range(0, 10, 2) if words[i] != "-q"}
    assert given["-s"] == 3
    assert given["-B"] == 1
    assert given["-e"] == 1e-3
    assert given["-w1"] == pytest.approx(2 - 2 * tau)
    assert given["-w-1"] == pytest.approx(2 * tau)
    assert float(words[words.index("-c") + 1]) == pytest.approx(1 / (len(y) * lam))


def test_warm_start_of_lbfgsb_needs_fewer_iterations():
    problem = PROBLEMS["linear"]
    options = baselines.get("lbfgsb").TIGHT_OPTIONS
    cold = baselines.solve("lbfgsb", problem, options)
    warm = baselines.solve("lbfgsb", problem, {**options, "warm": True}, start=cold)
    assert warm.iterations < cold.iterations / 2


class TestTheJudge:
    problem = PROBLEMS["linear"]

    @pytest.fixture
    def answer(self):
        return baselines.solve("clarabel", self.problem)

    def _refuses(self, answer, **changes):
        return not judge(self.problem, dataclasses.replace(answer, **changes)).ok(1e-9, 1e-6)

    def test_accepts_the_optimum(self, answer):
        assert judge(self.problem, answer).ok(1e-9, 1e-6)
        assert judge(self.problem, Answer(alpha=answer.alpha)).ok(1e-6, 1e-4)

    def test_agrees_with_a_formula_written_out_by_hand(self, answer):
        p = self.problem
        margins = p.y * (p.X @ answer.w + answer.b)
        primal = p.lam / 2 * (answer.w @ answer.w + answer.b**2)
        primal += sum(c * max(0.0, 1.0 - m) for c, m in zip(p.costs, margins, strict=True))
        assert judge(p, answer).primal == pytest.approx(primal, rel=1e-14)

    @pytest.mark.parametrize("factor", [1.001, 0.999])
    def test_refuses_scaled_weights(self, answer, factor):
        assert self._refuses(answer, w=answer.w * factor)

    def test_refuses_a_shifted_bias(self, answer):
        assert self._refuses(answer, b=answer.b + 1e-3)

    def test_refuses_one_wrong_dual_coefficient(self, answer):
        alpha = answer.alpha.copy()
        alpha[np.argmin(np.abs(alpha - self.problem.costs / 2))] *= 0.9
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
        assert not judge(self.problem, alone).ok(1e-9)
        assert judge(self.problem, alone, judge(self.problem, answer).dual).ok(1e-9)

    def test_refuses_a_bound_above_the_optimum(self, answer):
        alone = Answer(w=answer.w, b=answer.b)
        assert not judge(self.problem, alone, 2 * judge(self.problem, answer).primal).ok(1e-9)

    def test_refuses_a_bias_where_the_problem_has_none(self):
        problem = PROBLEMS["no bias"]
        answer = baselines.solve("clarabel", problem)
        assert judge(problem, answer).ok(1e-9)
        assert not judge(problem, dataclasses.replace(answer, b=0.1)).ok(1e-9)

    def test_refuses_an_unbalanced_dual_when_the_bias_is_free(self):
        problem = PROBLEMS["free bias"]
        answer = baselines.solve("clarabel", problem)
        alpha = answer.alpha.copy()
        alpha[np.argmax(problem.y)] = 0.0
        assert judge(problem, answer).ok(1e-9, 1e-6)
        assert not judge(problem, dataclasses.replace(answer, alpha=alpha)).ok(1e-9, 1e-6)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"kernel": "cubic"}, "kernel"),
        ({"y": np.arange(60.0)}, "y"),
        ({"costs": -np.ones(60)}, "costs"),
        ({"lam": 0.0}, "lam"),
    ],
)
def test_a_bad_problem_is_refused_by_name(change, name):
    with pytest.raises(ValueError, match=name):
        dataclasses.replace(PROBLEMS["linear"], **change)


def test_an_unknown_baseline_lists_the_known_ones():
    with pytest.raises(ValueError, match="lbfgsb, liblinear"):
        baselines.get("gurobi")


def test_kernels_match_their_definition():
    X, y = _clouds(n=9)
    kwargs = {"gamma": 0.3, "degree": 3, "coef0": 2.0}
    for kernel, f in {
        "rbf": lambda a, b: np.exp(-0.3 * np.sum((a - b) ** 2)),
        "poly": lambda a, b: (0.3 * a @ b + 2.0) ** 3,
        "linear": lambda a, b: a @ b,
    }.items():
        K = gram_matrix(HingeProblem(X, y, quantile_costs(y, 0.5), 1.0, kernel=kernel, **kwargs))
        expected = np.array([[f(a, b) for b in X] for a in X])
        np.testing.assert_allclose(K, expected, rtol=1e-12)
