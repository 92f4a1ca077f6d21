"""Rows that are left out exactly: against refits, and against a solver that shares nothing."""

import re

import numpy as np
import pytest
import survey

import solution_paths as paths
from helpers.left_out import REFITS, REFUSED
from path_benchmark.solvers.clarabel_solver import by_clarabel
from solution_paths import PathError, leave_one_out
from solution_paths.problem import Losses, Problem, losses, penalties, pieces
from solution_paths.verify import judge

pytestmark = pytest.mark.slow


def middle(path):
    """Return a parameter between breakpoints, halfway."""
    positive = path.breakpoints[path.breakpoints > 0]
    if not len(positive):
        return None
    t = 0.77 * float(positive[len(positive) // 2])
    return t if path.range[0] <= t <= path.range[1] else float(positive[len(positive) // 2])


def without_row(problem, row):
    """Return a stated problem whose first group of losses has a row less, and the same matrices."""
    own = problem.losses[0]
    kept = np.arange(len(own.pieces)) != row
    f = pieces(
        list(own.pieces.knots[kept].T), list(own.pieces.slopes[kept].T),
        list(own.pieces.curvature[kept].T), value=own.pieces.value[kept],
    )  # fmt: skip
    return Problem(
        Losses(f, own.X[kept], own.free[kept]),
        problem.penalty,
        ridge=problem.ridge,
        linear=problem.linear,
        constraint=problem.constraint,
        kernel=problem.kernel,
    )


@pytest.mark.parametrize("name", [name for name in survey.CASES if name not in REFUSED])
def test_each_model_is_the_optimum_of_the_problem_without_its_row(name):
    for k, kind in enumerate((*survey.KINDS, *survey.HELD_OUT)):
        D = (survey.data if kind in survey.KINDS else survey.held_out)(kind, 1)
        if kind == "one row" or (k % 3 and "kernel" in name):
            continue
        path = survey.CASES[name].path(D)
        t = middle(path)
        if t is None or not path.certify(at=t).ok:  # at costs that double precision can't tell
            continue
        if name == "one_class_nu" and t > (len(D.u) - 1) / len(D.u):
            continue  # fewer rows can't have so large duals
        found = leave_one_out(path, t)
        assert found.certify().ok, (kind, found.certify())
        row = int(np.argmax(np.abs(found.influence)))
        if k % 2:
            continue
        problem = without_row(path.stated_at(t)[0], row)
        outside = judge(problem, by_clarabel(problem))
        models, of = found._models, int(found._of[row])
        kept = np.arange(len(found.decisions)) != row
        own = judge(problem, _answer(models, of, kept))
        assert own.primal <= outside.primal + 1e-9 * max(abs(outside.primal), 1e-3), (kind, row)
        assert own.ok(), (kind, row, own)


def _answer(models, of, kept):
    """Return one model's answer to the problem that lacks its row."""
    from solution_paths.verify import Answer

    multiplier = None if models.multiplier is None else models.multiplier[of]
    return Answer(models.w[of], models.v[of], [models.duals[0][of][kept]], multiplier)


@pytest.mark.parametrize("name", sorted(REFUSED & set(survey.CASES)))
def test_models_without_a_loss_for_each_row_are_refused(name):
    path = survey.CASES[name].path(survey.data("normal", 1))
    with pytest.raises(ValueError, match="leave rows out with sample_weight"):
        leave_one_out(path, middle(path) or 1.0)


@pytest.mark.parametrize("name", REFITS)
@pytest.mark.parametrize("kind", ["normal", "rounded", "duplicates", "one-hot", "wide"])
def test_decisions_are_those_of_refits(name, kind):
    fit, t = REFITS[name]
    for seed in range(2):
        D = survey.data(kind, seed + 10)
        found, size = leave_one_out(fit(D.X, D.u, D.y), t), 1.0 + np.abs(D.u).max()
        for row in range(len(D.u)):
            kept = np.arange(len(D.u)) != row
            if len(np.unique(D.y[kept])) < 2:
                continue
            f = fit(D.X[kept], D.u[kept], D.y[kept]).decision_function(D.X[[row]], t)[0]
            assert abs(f - found.decisions[row]) <= 1e-9 * size, (seed, row)


def test_a_ridge_says_what_its_hat_matrix_does():
    r = np.random.default_rng(0)
    X, y = r.normal(size=(30, 4)), r.normal(size=30)

    def ridge(t):
        return Problem(Losses(losses.squared(y), X, free=1.0), penalties.l1(4, t), ridge=2.0)

    found = leave_one_out(paths.solution_path(ridge, 0.0, 1.0), 0.0)
    A = np.column_stack([X, np.ones(30)])
    H = A @ np.linalg.solve(A.T @ A + np.diag([2.0, 2.0, 2.0, 2.0, 0.0]), A.T)
    expected = y - (y - H @ y) / (1.0 - np.diag(H))
    assert found.decisions == pytest.approx(expected, abs=1e-12)
    assert found.influence == pytest.approx(H @ y - expected, abs=1e-12)
    assert found.n_lines == 0  # all are found at once


def test_kernel_ridge_goes_by_lines_to_the_same():
    r = np.random.default_rng(1)
    X, y = r.normal(size=(20, 2)), r.normal(size=20)
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))

    def machine(t):
        return Problem(Losses(losses.squared(y + t * X[:, 0]), free=1.0), ridge=0.5, kernel=K)

    found = leave_one_out(paths.solution_path(machine, 0.0, 1.0), 0.0)
    one = np.ones((20, 1))
    S = np.block([[K + 0.5 * np.eye(20), one], [one.T, np.zeros((1, 1))]])
    H = (np.hstack([K, one]) @ np.linalg.inv(S))[:, :20]
    assert found.decisions == pytest.approx(y - (y - H @ y) / (1.0 - np.diag(H)), abs=1e-10)
    assert found.n_lines == 20


def test_rows_that_are_no_support_vectors_cost_nothing():
    r = np.random.default_rng(2)
    X = r.normal(size=(80, 3))
    y = np.sign(X[:, 0] + 0.2 * r.normal(size=80))
    path = paths.svm_path(X, y)
    found = leave_one_out(path, 5.0)
    assert found.n_lines <= (path.dual(5.0) > 0).sum() < 40
    idle = path.dual(5.0) == 0
    assert np.array_equal(found.decisions[idle], found.fitted[idle])
    assert found.fitted == pytest.approx(path.decision_function(X, 5.0), abs=1e-12)


def test_errors_are_means_over_rows_each_by_the_model_without_it():
    r = np.random.default_rng(3)
    X = r.normal(size=(25, 2))
    y = np.array(["no", "yes"])[(X[:, 0] + r.normal(size=25) > 0).astype(int)]
    found = leave_one_out(paths.svm_path(X, y), 0.5)
    wrong = found.predictions != y
    assert found.error(y) == pytest.approx(wrong.mean(), abs=1e-15)
    weights = r.uniform(size=25)
    assert found.error(y, sample_weight=weights) == pytest.approx(
        np.average(wrong, weights=weights), abs=1e-15
    )
    both = [wrong[y == label].mean() for label in ("no", "yes")]
    assert found.error(y, "balanced_error") == pytest.approx(np.mean(both), abs=1e-15)
    u = X @ [1.0, 2.0] + r.normal(size=25)
    found = leave_one_out(paths.kernel_quantile_path(X, u, lam=0.3), 0.8)
    off = u - found.decisions
    assert found.error(u) == pytest.approx(np.maximum(0.8 * off, -0.2 * off).mean(), rel=1e-14)
    assert found.error(u, "squared") == pytest.approx((off**2).mean(), rel=1e-14)
    assert found.error(u, ("pinball", 0.1)) == pytest.approx(
        np.maximum(0.1 * off, -0.9 * off).mean(), rel=1e-14
    )


def test_what_can_not_be_judged_or_asked_is_said():
    X, y = np.arange(8.0)[:, None], np.array([0, 0, 1, 0, 0, 1, 1, 1])
    found = leave_one_out(paths.svm_path(X, y), 0.5)
    with pytest.raises(ValueError, match=r"metric='roc_auc' is not for this path"):
        found.error(y, "roc_auc")
    with pytest.raises(ValueError, match="none of the path's classes"):
        found.error(y + 5)
    with pytest.raises(ValueError, match="for models of numbers"):
        found.interval(X, y)
    with pytest.raises(ValueError, match="is outside this path"):
        leave_one_out(paths.svm_path(X, y), -1.0)
    with pytest.raises(ValueError, match="needs two rows or more"):
        leave_one_out(paths.lasso_path([[1.0]], [1.0], fit_intercept=False), 0.1)
    with pytest.raises(PathError, match=r"Row 0 can't be left out: There is no optimum"):
        leave_one_out(paths.one_class_path(X[:3]), 0.9)  # two rows can't have as large duals


def test_a_row_that_alone_says_something_of_a_coefficient_is_left_out():
    r = np.random.default_rng(5)
    X = np.column_stack([r.normal(size=12), np.eye(12)[:, 0], np.eye(12)[:, 5]])
    y = X @ [1.0, 6.0, -5.0] + 0.1 * r.normal(size=12)
    for lam in (1e-6, 1e-3, 0.5):
        found = leave_one_out(paths.lasso_path(X, y), lam)
        assert found.certify().ok
        for i in (0, 3, 5):
            again = paths.lasso_path(np.delete(X, i, 0), np.delete(y, i))
            assert again.predict(X[[i]], lam)[0] == pytest.approx(found.decisions[i], abs=1e-9)


def test_a_row_without_a_coefficient_lets_others_in_as_it_goes():
    X = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    y = np.array([3.0, -2.5, 4.0, 0.5, 1.0])  # the first column has no coefficient
    path = paths.lasso_path(X, y, fit_intercept=False)
    assert path.coef(2.0)[0] == 0.0
    found = leave_one_out(path, 2.0)
    assert found.certify().ok
    assert found.decisions[:2].tolist() == [0.0, 0.75]


def test_where_nothing_moves_the_others_say_the_same():
    X, y = np.array([[1.0], [2.0], [-1.0], [0.5]]), np.array([1.0, -1.0, 2.0, 0.5])
    path = paths.lasso_path(X, y, fit_intercept=False)
    found = leave_one_out(path, 100.0)
    assert found.certify().ok
    assert found.decisions.tolist() == [0.0] * 4


def test_jackknife_plus_is_that_of_its_definition():
    r = np.random.default_rng(4)
    X, new = r.normal(size=(19, 2)), r.normal(size=(5, 2))
    y = X @ [1.0, -1.0] + r.normal(size=19)
    found = leave_one_out(paths.lasso_path(X, y), 1.0)
    models = [
        paths.lasso_path(np.delete(X, i, 0), np.delete(y, i)).predict(np.vstack([new, X[[i]]]), 1.0)
        for i in range(19)
    ]
    f = np.array([own[:5] for own in models]).T
    residual = np.abs(y - [own[5] for own in models])
    assert found.decision_function(new) == pytest.approx(f, abs=1e-12)
    low, high = np.sort(f - residual, axis=1)[:, 1], np.sort(f + residual, axis=1)[:, 17]
    assert found.interval(new, y, 0.1) == pytest.approx(np.column_stack([low, high]), abs=1e-12)
    assert np.isinf(found.interval(new, y, 0.01)).all()  # too few rows for that


def test_it_says_in_a_line_what_it_is():
    path = paths.svm_path([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
    assert repr(leave_one_out(path, 0.5)) == "<LeaveOneOut of 4 rows at C = 0.5>"


def test_the_docstring_is_right_about_its_numbers():
    text = re.sub(r"\s+", " ", leave_one_out.__doc__)
    assert "(n - 1) / n times as large" in text
    X, y = np.arange(6.0)[:, None], np.array([0.0, 1.0, 1.0, 4.0, 2.0, 6.0])
    path = paths.drlad_path(X, y, vary="lam1", lam2=0.5)
    found = leave_one_out(path, 0.3)
    for i in range(6):
        again = paths.drlad_path(np.delete(X, i, 0), np.delete(y, i), vary="lam1", lam2=0.5 * 6 / 5)
        assert again.predict(X[[i]], 0.3 * 6 / 5)[0] == pytest.approx(found.decisions[i], abs=1e-9)


def test_cross_validation_by_rows_chooses_where_the_error_of_single_rows_is_least():
    r = np.random.default_rng(6)
    X = r.normal(size=(30, 3))
    y = (X[:, 0] + r.normal(size=30) > 0).astype(int)
    model = paths.PathSVC(cv="loo").fit(X, y)
    assert len(model.cv_paths_) == 30
    found = leave_one_out(paths.svm_path(X, y), model.C_)
    assert found.error(y) == pytest.approx(model.cv_error_, abs=1e-15)
    for C in (0.01, 0.3, 5.0):
        assert leave_one_out(paths.svm_path(X, y), C).error(y) >= model.cv_error_ - 1e-15
    u = X @ [1.0, 0.0, -1.0] + r.normal(size=30)
    lasso = paths.PathLasso(cv="loo").fit(X, u)
    at = lasso.alpha_ * 29  # the penalty of 29 rows
    assert leave_one_out(paths.lasso_path(X, u), at).error(u) == pytest.approx(lasso.cv_error_)
