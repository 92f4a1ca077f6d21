"""Leave-one-out errors of whole paths: against refits, and against single parameters."""

from functools import partial

import numpy as np
import pytest
import survey

import solution_paths as paths
from helpers.left_out import REFITS, REFUSED
from solution_paths import leave_one_out, leave_one_out_curve
from solution_paths.solution import hat_pieces
from solution_paths.solution import leave_one_out_curve as module

RBF = {"kernel": "rbf", "gamma": 0.5}


def data(n=24, d=3, seed=0):
    r = np.random.default_rng(seed)
    X = r.normal(size=(n, d))
    return X, X[:, 0] - X[:, 1] + r.standard_t(3, n)


def some_parameters(path, count=5):
    """Return parameters between breakpoints and beyond them, and a breakpoint."""
    t = path.breakpoints[path.breakpoints > 0.0]
    low, high = path.range
    inner = np.sqrt(t[:-1] * t[1:])
    inner = inner[np.unique(np.linspace(0, len(inner) - 1, count).astype(int))] if len(t) > 1 else t
    beyond = [2.0 * t[-1]] if np.isinf(high) and len(t) else []
    return [float(v) for v in (*inner, *beyond, *t[len(t) // 2 :][:1]) if low <= v <= high]


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in survey.CASES if name not in REFUSED])
def test_paths_without_rows_are_optimal(name):
    judged, kinds = 0, [*survey.KINDS, *survey.HELD_OUT]
    for kind in kinds[len(name) % 4 :: 4]:
        D = (survey.data if kind in survey.KINDS else survey.held_out)(kind, 2)
        if len(D.u) < 3:
            continue
        path = survey.CASES[name].path(D)
        if not path.certify().ok:
            continue
        model, n = path.line.at, len(D.u)
        cuts, some = module._cuts(path, model), range(0, n, max(n // 3, 1))
        known = hat_pieces.without_each(path, model, some)
        for row in some:
            try:
                without = module._followed(
                    path, partial(module._model_without, model, row), cuts[row]
                )
            except paths.PathError as error:
                assert "no optimum" in str(error) or error.path is not None  # noqa: PT017
                continue
            if row in known:  # judged already: the walk says the same
                for t in some_parameters(path, 3):
                    f = np.interp(path._statement_parameters(t)[0], *known[row])
                    g = without.decision_function(D.X[[row]], t)[0] - path.reading.offset
                    assert f == pytest.approx(g, abs=1e-8 * (1.0 + np.abs(D.u).max())), (kind, row)
            if without is not None:
                assert without.certify(n_random=5).reliable, (kind, row)
                judged += 1
    assert judged or name == "one_class_nu"


@pytest.mark.slow
@pytest.mark.parametrize("name", REFITS)
@pytest.mark.parametrize("kind", ["normal", "rounded", "duplicates", "one-hot", "wide"])
def test_the_curve_is_that_of_refits(name, kind):
    fit, _ = REFITS[name]
    D = survey.data(kind, 11)
    path = fit(D.X, D.u, D.y)
    targets = D.y if len(path.reading.classes) else D.u
    without = []
    for row in range(len(D.u)):
        kept = np.arange(len(D.u)) != row
        if len(np.unique(D.y[kept])) < 2:
            return
        without.append(fit(D.X[kept], D.u[kept], D.y[kept]))
    curve = leave_one_out_curve(path, targets)
    assert len(curve.parts) == len(D.u)
    for row, (own, part) in enumerate(zip(without, curve.parts, strict=True)):
        expected = own.error_curve(D.X[[row]], targets[[row]])
        for t in some_parameters(path):
            if not own.range[0] <= t <= own.range[1]:
                continue
            size = 1.0 + np.abs(D.u).max() ** 2
            if not len(path.reading.classes):
                assert part(t) == pytest.approx(expected(t), abs=1e-9 * size), (row, t)
            elif abs(own.decision_function(D.X[[row]], t)[0]) > 1e-9:
                assert part(t) == expected(t), (row, t)


def test_all_rows_of_a_lasso_share_systems():
    X, y = data(40, 5)
    path = paths.lasso_path(X, y)
    known = hat_pieces.without_each(path, path.line.at, [0, 7, 39])
    assert sorted(known) == list(range(40))
    for row in (0, 17, 39):
        own = paths.lasso_path(np.delete(X, row, 0), np.delete(y, row))
        for t in (*some_parameters(path), *own.breakpoints[1:-1:2]):
            f = np.interp(t, *known[row]) + path.reading.offset
            assert f == pytest.approx(own.predict(X[[row]], t)[0], abs=1e-12)


@pytest.mark.parametrize("columns", ["twins", "constant", "dummies", "dependent"])
def test_rows_that_share_no_systems_are_walked(columns):
    X, y = data(16, 3, seed=3)
    more = {
        "twins": X[:, :1],
        "constant": np.ones((16, 1)),
        "dummies": np.eye(4)[np.arange(16) % 4],
        "dependent": X @ [[1.0], [2.0], [-1.0]],
    }
    X, y = np.column_stack([X, more[columns]]), np.round(y)
    path = paths.lasso_path(X, y)
    curve = leave_one_out_curve(path, y, check="raise")
    for t in some_parameters(path):
        assert curve(t) == pytest.approx(leave_one_out(path, t).error(y), abs=1e-10)


def test_a_wrong_piece_is_told_by_the_judge(monkeypatch):
    X, y = data(20, 3, seed=1)
    path = paths.lasso_path(X, y)
    right = leave_one_out_curve(path, y)
    after = hat_pieces._System.after
    turned = lambda self, condition: -after(self, condition)  # noqa: E731
    monkeypatch.setattr(hat_pieces._System, "after", turned)
    assert len(hat_pieces.without_each(path, path.line.at, range(20))) < 20
    monkeypatch.undo()
    monkeypatch.setattr(hat_pieces, "MIN_LEVERAGE_LEFT", 1.0)  # no row is regular
    assert hat_pieces.without_each(path, path.line.at, range(20)) == {}
    for t in some_parameters(path):
        assert leave_one_out_curve(path, y)(t) == pytest.approx(right(t), abs=1e-12)


def test_rows_without_a_dual_are_walked_no_further():
    r = np.random.default_rng(2)
    X = r.normal(size=(40, 3))
    y = np.sign(X[:, 0] + 0.2 * r.normal(size=40))
    path = paths.svm_path(X, y, C_max=30.0)
    cuts = np.array(module._cuts(path, path.line.at))
    assert (cuts < 30.0).sum() > 20
    curve = leave_one_out_curve(path, y)
    for C in (0.01, 0.3, 2.0, 11.0, 29.0):
        assert curve(C) == pytest.approx(leave_one_out(path, C).error(y), abs=1e-15)
    assert curve.edges[0] == 0.0
    assert curve.edges[-1] == 30.0


def test_where_the_bias_is_undetermined_rows_without_a_dual_matter():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0], [7.0]]), np.array([-1, -1, 1, 1, 1])
    path = paths.svm_path(X, y, C_max=1.0)
    curve = leave_one_out_curve(path, y)
    for C in (0.02, 0.1, 0.3, 0.9):
        assert curve(C) == pytest.approx(leave_one_out(path, C).error(y), abs=1e-15)


def test_errors_are_means_over_rows_and_have_standard_errors():
    X, u = data(30, 2, seed=5)
    y = np.array(["no", "yes"])[(u > 0).astype(int)]
    path = paths.svm_path(X, y, C_max=3.0, **RBF)
    costs = np.array([[0.0, 1.0], [5.0, 0.0]])
    for metric in ("zero_one", "error", costs):
        curve = leave_one_out_curve(path, y, metric)
        assert curve(0.7) == pytest.approx(leave_one_out(path, 0.7).error(y, metric), abs=1e-14)
    lasso = paths.lasso_path(X, u)
    for metric in ("squared", "absolute", ("pinball", 0.2)):
        curve = leave_one_out_curve(lasso, u, metric)
        assert curve(1.5) == pytest.approx(leave_one_out(lasso, 1.5).error(u, metric), rel=1e-12)
    curve = leave_one_out_curve(lasso, u)
    off = (u - leave_one_out(lasso, 1.5).decisions) ** 2
    assert curve.standard_error(1.5) == pytest.approx(off.std(ddof=1) / np.sqrt(30), rel=1e-9)
    assert curve.best().value <= min(curve(np.linspace(0.0, 40.0, 500)))
    assert curve.simplest(larger=True) > curve.best().parameter


def test_cross_validation_by_rows_has_the_same_curve():
    X, u = data(20, 3, seed=6)
    model = paths.PathLasso(cv="loo").fit(X, u)
    curve = leave_one_out_curve(paths.lasso_path(X, u), u)
    assert model.cv_error_ == pytest.approx(curve.best().value, rel=1e-12)
    assert model.cv_error_ == pytest.approx(curve(19 * model.alpha_), rel=1e-12)


def test_what_is_no_mean_or_no_row_is_refused():
    X, u = data(12)
    y = np.where(u > 0, 1, -1)
    path = paths.svm_path(X, y, C_max=1.0)
    with pytest.raises(ValueError, match=r"'balanced_error' is no mean of the errors of single"):
        leave_one_out_curve(path, y, "balanced_error")
    with pytest.raises(ValueError, match="none of the path's classes"):
        leave_one_out_curve(path, y + 5)
    with pytest.raises(ValueError, match=r"y has shape \(11,\)"):
        leave_one_out_curve(paths.lasso_path(X, u), u[1:])
    with pytest.raises(ValueError, match="leave rows out with sample_weight"):
        leave_one_out_curve(paths.nu_svm_path(X, y), y)
    with pytest.raises(ValueError, match="check must be one of"):
        leave_one_out_curve(path, y, check="maybe")
    with pytest.raises(ValueError, match="losses of this path are curved"):
        leave_one_out_curve(paths.logistic_path(X, y, 1.0), y)
