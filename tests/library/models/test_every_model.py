"""The survey's functions: each against a solver and its documented objective, on awkward data."""

import re

import numpy as np
import pytest
import survey
from sklearn.linear_model import ElasticNet
from sklearn.svm import SVC, SVR, OneClassSVM

import solution_paths as paths
from helpers import ROOT
from solution_paths import SolutionPath
from solution_paths.problem import Losses, Problem, losses, penalties

pytestmark = pytest.mark.slow

MODELS = ROOT / "src/solution_paths/models"
STATED = [  # the models that state their problem, and two curved ones, which have its samples
    file
    for file in sorted(MODELS.glob("*.py"))
    if "from .samples import" in file.read_text("utf-8")
]


@pytest.mark.parametrize("name", survey.CASES)
def test_a_path_is_optimal_and_states_what_its_docstring_says(name):
    for seed in range(10):
        kind = survey.KINDS[seed % len(survey.KINDS)]
        found = survey.look(survey.CASES[name], survey.data(kind, seed), seed)
        assert "told" not in found, (kind, seed, found)
        assert found["off"] <= survey.LIMIT, (kind, seed, found)
        assert found["stated"] <= survey.LIMIT, (kind, seed, found)
        # where data are fitted exactly a gap relative to the objective can't be told
        assert found["status"] in ("holds", "undecided"), (kind, seed, found)
        assert found["status"] == "holds" or found["kkt"] <= 1e-7, (kind, seed, found)


@pytest.mark.parametrize("file", STATED, ids=lambda file: file.stem)
def test_a_model_is_one_short_file(file):
    text = file.read_text("utf-8")
    assert len(text.splitlines()) <= 100
    assert not re.search(r"^ +while .*:$", text, re.MULTILINE)
    assert "..homotopy" not in text


def test_every_model_that_states_its_problem_is_looked_at():
    assert len(STATED) == 41


# ---------------------------------------------------------------------- scikit-learn, without ties


D = survey.data("normal", 3)


def test_the_elastic_net_is_that_of_scikit_learn():
    path, n = paths.elastic_net_path(D.X, D.u, lam2=1.5), len(D.u)
    for lam1 in (0.3, 2.0):
        total = (lam1 + 1.5) / n
        other = ElasticNet(total, l1_ratio=lam1 / (lam1 + 1.5), tol=1e-14, max_iter=100_000)
        other.fit(D.X, D.u)
        np.testing.assert_allclose(path.coef(lam1), other.coef_, rtol=1e-7, atol=1e-9)
        assert path.intercept(lam1) == pytest.approx(other.intercept_, rel=1e-7)


def test_machines_are_those_of_libsvm():
    tight = {"tol": 1e-10, "cache_size": 50}
    r = np.random.default_rng(0)
    new = r.normal(size=(9, D.X.shape[1]))
    gamma = 0.4
    svr = SVR(C=2.0, epsilon=0.2, gamma=gamma, **tight).fit(D.X, D.u)
    path = paths.svr_path(D.X, D.u, epsilon=0.2, kernel="rbf", gamma=gamma)
    np.testing.assert_allclose(path.predict(new, 2.0), svr.predict(new), atol=1e-6)
    one = OneClassSVM(nu=0.37, gamma=gamma, **tight).fit(D.X)
    path = paths.one_class_path(D.X, gamma=gamma)
    scale = 0.37 * len(D.X)  # LIBSVM's is nu n times as large
    np.testing.assert_allclose(
        scale * path.decision_function(new, 0.37), one.decision_function(new), atol=1e-6
    )
    weights = {1.0: 0.7 * 3.0, -1.0: 0.3 * 3.0}
    svc = SVC(C=1.0, class_weight=weights, gamma=gamma, **tight).fit(D.X, D.y)
    path = paths.roc_path(D.X, D.y, C=3.0, kernel="rbf", gamma=gamma)
    np.testing.assert_allclose(
        path.decision_function(new, 0.7), svc.decision_function(new), atol=1e-6
    )


# ---------------------------------------------------------------------- special cases that agree


def test_two_ordered_classes_are_a_machine():
    path, other = paths.svor_path(D.X, D.y), paths.svm_path(D.X, D.y)
    for C in (0.1, 2.0):
        np.testing.assert_allclose(path.coef(C), other.coef(C), rtol=1e-9, atol=1e-12)


def test_two_categories_are_a_machine():
    path, other = paths.multicategory_svm_path(D.X, D.y), paths.svm_path(D.X, D.y)
    for lam in (0.02, 0.3):
        C = 1.0 / (2 * len(D.y) * lam)
        np.testing.assert_allclose(path.coef(lam)[1], other.coef(C), rtol=1e-9, atol=1e-12)


def test_nu_is_a_cost():
    path, other = paths.nu_svm_path(D.X, D.y), paths.svm_path(D.X, D.y)
    rho = path.free(0.9 * path.range[1])[1]
    C = 1.0 / (len(D.y) * rho)
    np.testing.assert_allclose(
        path.coef(0.9 * path.range[1]) / rho, other.coef(C), rtol=1e-8, atol=1e-10
    )


def test_both_forms_of_one_class_agree():
    path, other = paths.one_class_path(D.X), paths.one_class_path(D.X, vary="lam")
    for nu in (0.2, 0.63):
        rho = path.free(nu)[0]
        found = other.expansion(nu * len(D.X) * rho)
        np.testing.assert_allclose(path.expansion(nu) / rho, found, rtol=1e-8, atol=1e-10)


def test_a_penalty_and_a_constraint_have_the_same_solutions():
    path, other = paths.rlad_path(D.X, D.u), paths.rlad_path(D.X, D.u, vary="s")
    w = path.coef(3.0)
    np.testing.assert_allclose(other.coef(np.abs(w).sum()), w, rtol=1e-9, atol=1e-10)
    path, other = paths.l1_svm_path(D.X, D.y), paths.l1_constrained_svm_path(D.X, D.y)
    w = path.coef(1.3)
    np.testing.assert_allclose(other.coef(np.abs(w).sum()), w, rtol=1e-9, atol=1e-10)


def test_without_pinball_and_ridge_a_pin_svm_is_a_machine():
    path, other = paths.pin_svm_path(D.X, D.y, vary="C", tau=0.0), paths.svm_path(D.X, D.y)
    np.testing.assert_allclose(path.coef(0.7), other.coef(0.7), rtol=1e-9, atol=1e-12)


def test_the_lasso_is_an_elastic_net():
    for own in ({}, {"fit_intercept": True}, {"fit_intercept": False}):
        path, other = paths.elastic_net_path(D.X, D.u, **own), paths.lasso_path(D.X, D.u, **own)
        np.testing.assert_allclose(path.coef(0.4), other.coef(0.4), rtol=1e-9, atol=1e-12)
        assert path.intercept(0.4) == pytest.approx(other.intercept(0.4), rel=1e-9)
        assert (path.intercept(0.4) == 0.0) == (own == {"fit_intercept": False})


# ---------------------------------------------------------------------- what they predict


def test_the_roc_curve_is_exact():
    r = np.random.default_rng(1)
    X, y = r.normal(size=(30, D.X.shape[1])), r.integers(0, 2, 30) * 2.0 - 1.0
    path = paths.roc_path(D.X, D.y, C=2.0)
    curve = paths.roc_curve(path, X, y)
    middle = (curve.edges[1:] + curve.edges[:-1]) / 2
    positive = path.predict(X, middle) > 0
    np.testing.assert_allclose(curve.false_positive, positive[y < 0].mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(curve.true_positive, positive[y > 0].mean(axis=0), atol=1e-12)
    with pytest.raises(ValueError, match="both labels"):
        paths.roc_curve(path, X, np.ones(30))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("function", [paths.svor_path, paths.multicategory_svm_path])
def test_errors_of_several_classes_are_exact(function, kernel):
    names = np.array(["a", "b", "c"] if function is paths.multicategory_svm_path else [1, 2, 7])
    path = function(D.X, names[D.classes], kernel=kernel)
    r = np.random.default_rng(1)
    X, y = r.normal(size=(25, D.X.shape[1])), names[r.integers(0, 3, 25)]
    curve = path.error_curve(X, y)
    ts = r.uniform(path.breakpoints[1], path.breakpoints[-1], 40)
    np.testing.assert_allclose(curve(ts), (path.predict(X, ts) != y[:, None]).mean(axis=0))
    if function is paths.svor_path:
        far = np.abs(
            np.searchsorted(names, path.predict(X, ts)) - np.searchsorted(names, y)[:, None]
        )
        np.testing.assert_allclose(path.error_curve(X, y, "absolute")(ts), far.mean(axis=0))


def test_planes_predict_by_distance():
    path = paths.pin_twin_svm_path(D.X, D.y)
    w, b = path.coef(0.4), path.intercept(0.4)
    distance = np.abs(D.X @ w.T + b) / np.linalg.norm(w, axis=1)
    np.testing.assert_array_equal(
        path.predict(D.X, 0.4), np.where(distance[:, 1] < distance[:, 0], 1.0, -1.0)
    )
    with pytest.raises(ValueError, match="no error curve"):
        path.error_curve(D.X, D.y)
    with pytest.raises(ValueError, match="one output"):
        path.crossings(D.X)
    assert len(path.plot().lines) >= 2 * D.X.shape[1]


def test_lines_of_a_second_parameter():
    X, u, new = D.X[:-6], D.u[:-6], (D.X[-6:], D.u[-6:])
    lines = paths.path_lines(
        lambda lam2: paths.elastic_net_path(X, u, lam2=lam2), "lam2", [0.1, 1.0, 9.0]
    )
    assert lines.certify().ok
    best = lines.best(*new)
    found = lines.paths[best.line].predict(new[0], best.parameter)
    assert best.value == pytest.approx(((found - new[1]) ** 2).mean(), rel=1e-9)
    grid = np.linspace(0, 10, 200)
    for path in lines.paths:
        errors = (path.predict(new[0], grid) - new[1][:, None]) ** 2
        assert errors.mean(axis=0).min() >= best.value * (1 - 1e-12)
    assert lines.plot(*new).get_xlabel() == "lam1"
    with pytest.raises(ValueError, match="one value at least"):
        paths.path_lines(lambda v: None, "lam2", [])


@pytest.mark.parametrize("name", ["svr_lam_kernel", "one_class_lam", "multicategory", "nu_svm"])
def test_a_saved_path_is_the_same(name, tmp_path):
    path = survey.CASES[name].path(D)
    path.save(tmp_path / "path.npz")
    again = SolutionPath.load(tmp_path / "path.npz")
    t = path.breakpoints[1:3].mean()
    rows = D.K if path.line.start.kernel is not None else D.X
    for method in ("decision_function", "predict"):
        np.testing.assert_array_equal(
            getattr(path, method)(rows, t), getattr(again, method)(rows, t)
        )
    np.testing.assert_array_equal(path.dual([t]), again.dual([t]))
    assert again.certify(10).ok
    assert len(path.plot("dual").lines) > 0


def test_duals_are_those_of_the_stated_objective():
    # mean pinball: between (tau - 1)/n and tau/n, whatever lam divided
    path, n = paths.kernel_quantile_path(D.X, D.u, vary="lam", tau=0.3), len(D.u)
    for lam in (0.0, 1e-3, 0.1, 50.0):
        a = path.dual(lam)
        assert a.min() >= -0.7 / n - 1e-15
        assert a.max() <= 0.3 / n + 1e-15
        if lam > 0:
            np.testing.assert_allclose(path.expansion(lam), a / lam, rtol=1e-9, atol=1e-13)
    # nu-SVM: 0 <= alpha <= 1/n, and they sum to nu
    path = paths.nu_svm_path(D.X, D.y)
    alpha = D.y * path.dual(0.3)
    assert alpha.sum() == pytest.approx(0.3, rel=1e-12)
    assert -1e-15 <= alpha.min() < alpha.max() <= 1 / n + 1e-15


# ---------------------------------------------------------------------- what is refused


X2 = [[0.0], [1.0], [3.0]]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: paths.svr_path(X2, [1.0, 2.0]), "y has shape"),
        (lambda: paths.svr_path(X2, [1.0, 2.0, np.nan]), "y contains NaN"),
        (lambda: paths.svr_path(X2, [1.0, 2.0, 3.0], epsilon=-1), "epsilon must be"),
        (lambda: paths.svr_path(X2, [1.0, 2.0, 3.0], vary="nu"), "vary must be one of"),
        (lambda: paths.svr_path(X2, [1.0, 2.0, 3.0], kernel="cosine"), "kernel must be one of"),
        (lambda: paths.svr_path(X2, [1.0, 2.0, 3.0], check="no"), "check must be one of"),
        (lambda: paths.elastic_net_path(X2, [1, 2, 3], lam2=-1), "lam2 must be"),
        (lambda: paths.elastic_net_path([1.0, 2.0], [1, 2]), r"X must be a non-empty"),
        (lambda: paths.almost_quadratic_path(X2, [1, 2, 3], delta=0), "delta must be"),
        (lambda: paths.almost_quadratic_path(X2, [1, 2, 3], loss="l2"), "loss must be one of"),
        (lambda: paths.rlad_path(X2, [1, 2, 3], vary="t"), "vary must be one of"),
        (lambda: paths.generalized_lasso_path([1, 2, 3], np.eye(2)), "D has 2 columns beside 3"),
        (lambda: paths.nu_svm_path(X2, [1, 1, 1]), "exactly two labels"),
        (lambda: paths.kernel_quantile_path(X2, [1, 2, 3], lam=0), "lam must be"),
        (lambda: paths.kernel_quantile_path(X2, [1, 2, 3], tau=2, vary="lam"), "tau must be"),
        (lambda: paths.one_class_path(X2, vary="C"), "vary must be one of"),
        (lambda: paths.asymmetric_svm_path(X2, [0, 1, 1], costs_to=(1, -1)), ">= 0"),
        (lambda: paths.asymmetric_svm_path(X2, [0, 1, 1], costs_to=1.0), "costs_to has shape"),
        (lambda: paths.pin_svm_path(X2, [0, 1, 1], tau_from=-0.6), "has no optimum: the larger"),
        (lambda: paths.pin_svm_path(X2, [0, 1, 1], tau_from=1), "tau_from must be"),
        (lambda: paths.pin_twin_svm_path(X2, [0, 1, 1], lam=-1), "lam must be"),
        (lambda: paths.ranking_svm_path(X2), "either pairs or scores"),
        (lambda: paths.ranking_svm_path(X2, scores=[1, 1, 1]), "no pairs to rank"),
        (lambda: paths.ranking_svm_path(X2, pairs=[[0, 3]]), "rows, 0 to 2"),
        (lambda: paths.ranking_svm_path(X2, scores=[1, 2, 3], queries=[1]), "queries has shape"),
        (lambda: paths.hhsvm_path(X2, [0, 1, 1], delta=0), "delta must be"),
        (lambda: paths.svor_path(X2, [1, 1, 1]), "one class only"),
        (lambda: paths.svor_path(X2, [1, 2, 3], thresholds="no"), "thresholds must be one of"),
        (lambda: paths.multicategory_svm_path(X2, ["a", "a", "a"]), "one class only, 'a'"),
        (lambda: paths.l1_constrained_svm_path(X2, [1, 2, 3]), "exactly two labels"),
        (lambda: paths.roc_path(X2, [0, 1, 1], C=0), "C must be"),
    ],
)
def test_bad_input_ends_in_a_sentence(call, said):
    with pytest.raises(ValueError, match=said) as found:
        call()
    assert str(found.value).endswith(".")


def test_a_pinball_of_negative_tau_goes_as_far_as_there_is_an_optimum():
    path = paths.pin_svm_path(X2, [0, 1, 1], tau_from=-0.5)
    assert path.range[0] == -0.5
    assert path.certify(at_breakpoints=True).ok


def test_one_row_is_enough_where_one_row_says_something():
    for path in (
        paths.svr_path([[2.0]], [3.0]),
        paths.elastic_net_path([[2.0]], [3.0]),
        paths.rlad_path([[2.0]], [3.0], vary="s"),
        paths.kernel_quantile_path([[2.0]], [3.0]),
        paths.one_class_path([[2.0]]),
        paths.generalized_lasso_path([3.0], [[1.0]]),
    ):
        assert path.certify(at_breakpoints=True).ok, path


def test_the_benchmark_counts_what_is_off_without_a_word():
    good = {"off": 1e-12, "stated": 0.0, "status": "holds", "seconds": 1.0}
    off, unknown = good | {"off": 1e-6}, good | {"stated": np.nan, "status": "fails"}
    rows = [good, off, unknown, off | {"told": "wrong"}, {"refused": "one row"}, {"fault": "x"}]
    assert [survey.silent(row) for row in rows] == [False, True, True, False, False, False]
    found = survey.counted("lasso", rows)
    wanted = {"problems": 6, "certificate holds": 3, "told": 1, "refused": 1, "fault": 1}
    assert {key: found[key] for key in wanted} == wanted
    assert (found["silent"], found["certificate fails"]) == (2, 1)
    assert found["worst above the optimum"] == "1.0e-06"


@pytest.mark.parametrize("kind", survey.HELD_OUT)
def test_held_out_data_are_what_their_name_says(kind):
    D = survey.held_out(kind, 3)
    assert len(D.X) == len(D.u) == len(D.y) == len(D.classes) == len(D.K)
    again = survey.held_out(kind, 3)
    np.testing.assert_array_equal(D.X, again.X)
    if kind == "one positive":
        assert (D.y > 0).sum() == 1
    if kind == "copied columns":
        assert np.linalg.matrix_rank(D.X) < D.X.shape[1]
    if kind == "conflicting copies":
        assert len(np.unique(D.X, axis=0)) < len(D.X)


# ---------------------------------------------------------------------- any units


@pytest.mark.parametrize("y_unit", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("x_unit", [1e-9, 1.0, 1e9])
def test_a_lasso_is_the_same_in_any_units(x_unit, y_unit):
    """A penalty of 2^40 once counted as the end of all paths: beyond, breakpoints were missed."""
    X = np.random.default_rng(3).normal(size=(50, 3))
    y = X @ [1.0, -0.5, 0.1] + np.random.default_rng(4).normal(size=50)
    plain = paths.lasso_path(X, y, fit_intercept=True)
    path = paths.lasso_path(x_unit * X, y_unit * y, fit_intercept=True)
    unit = x_unit * y_unit
    np.testing.assert_allclose(path.breakpoints, unit * plain.breakpoints, rtol=1e-9)
    t = np.linspace(0.0, 1.2, 7) * plain.breakpoints[-1]
    w = path.coef(unit * t) * x_unit / y_unit
    np.testing.assert_allclose(w, plain.coef(t), rtol=0, atol=1e-12)
    assert path.certify().ok


@pytest.mark.parametrize("seed", range(3))
def test_signs_at_a_penalty_of_zero_are_those_beyond(seed):
    """A start at lam = 0, where knots of penalties coincide, lost on which side weights were."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 6)) * 1e7
    y = X @ rng.normal(size=6) / 1e7 + rng.normal(size=60)
    t1 = 0.5 * np.abs(X.T @ y).max()
    data = losses.squared(y)

    def model(lam):
        return Problem(Losses(data, X), penalties.l1(6, lam))

    path = paths.solution_path(model, 0.0, t1)  # ends before all weights are 0
    assert path.certify(at_breakpoints=True).ok
    np.testing.assert_allclose(path.coef(0.0), np.linalg.lstsq(X, y, rcond=None)[0], rtol=1e-9)


def test_an_intercept_that_passes_zero_is_no_breakpoint():
    X = np.random.default_rng(0).normal(size=(40, 3)) + np.array([5.0, 0.0, 0.0])
    y = X @ [1.0, -1.0, 0.0] - 2.0 + 0.3 * np.random.default_rng(1).normal(size=40)
    path = paths.lasso_path(X, y, fit_intercept=True)
    assert np.ptp(np.sign(path.intercept(path.breakpoints))) == 2
    centred = paths.lasso_path(X - X.mean(axis=0), y, fit_intercept=True)
    np.testing.assert_allclose(path.breakpoints, centred.breakpoints, rtol=1e-9)
    np.testing.assert_array_equal((path.coef(path.breakpoints) != 0).sum(axis=0)[-2:], [1, 0])


def test_a_constant_target_has_a_path():
    for columns in (np.eye(4)[np.arange(12) % 4], np.full((12, 2), 1e6 + 0.1)):
        path = paths.elastic_net_path(columns, np.full(12, 0.3))
        assert not path.coef([0.0, 1.0]).any()
        assert path.intercept([0.0, 1.0]).tolist() == [0.3, 0.3]


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_costs_that_grow_beside_a_penalty_that_stands_still(unit):
    """The solution at C is that of the l1-penalised machine at lam = 1 / C."""
    X = unit * np.random.default_rng(3).normal(size=(40, 3))
    y = np.where(X[:, 0] + unit * np.random.default_rng(4).normal(size=40) > 0, 1.0, -1.0)

    def model(C):
        return Problem(Losses(losses.hinge(y, C), X, 1.0), penalties.l1(3, 1.0))

    path = paths.solution_path(model, 0.0, np.inf, parameter="C")
    other = paths.l1_svm_path(X, y)
    lam = np.linspace(0.05, 0.9, 6) * other.breakpoints[-1]
    found, expected = unit * path.coef(1.0 / lam), unit * other.coef(lam)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    assert np.abs(expected).max() > 0.5
