"""Evaluation of whole paths: carried from node to node, exact, and never expanded to n duals."""

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.small_paths import KINDS, a_path, new_rows, rows
from solution_paths import (
    lasso_path,
    quantile_svm_path,
    svm_path,
    weighted_svm_path,
)
from solution_paths.solution import evaluation
from solution_paths.solution.evaluation import piece_values, positive_length

ALL = [*KINDS, "svm-rbf", "raw", "bounded"]
REGRESSIVE = ["svr", "svm", "svm-rbf"]
LINEAR = [kind for kind in ALL if kind not in ("weighted", "precomputed")]
LINEAR = [kind for kind in LINEAR if "rbf" not in kind]


def any_path(kind):
    X, y = rows(50)
    if kind == "svm-rbf":
        return svm_path(X, y, kernel="rbf", gamma=0.7)
    if kind == "raw":  # duals many orders of magnitude larger than what they combine to
        return quantile_svm_path(X * [30.0, 1.0, 0.05] + [200.0, 0.0, 1.0], y, 1e-2)
    if kind == "bounded":
        return svm_path(X, y, C_max=0.3)
    return a_path(kind)


def rows_for(path, kind, m=40):
    X, _ = new_rows(path, m)
    return X * [30.0, 1.0, 0.05] + [200.0, 0.0, 1.0] if kind == "raw" else X


def nodes(path):
    """Return the recorded points up to the last breakpoint."""
    return path.points.t[:-1] if path.ray else path.points.t


def points_of(path, beyond=True):
    """Nodes, breakpoints, points between, and some on the ray, in no order."""
    t = nodes(path)
    points = [t, path.breakpoints, t[:-1] + 0.37 * np.diff(t)]
    if beyond and path.range[1] == np.inf:
        points.append(t[-1] * np.array([1.5, 40.0]))
    return np.random.default_rng(1).permutation(np.concatenate(points))


# -- many parameters at once ------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", ALL)
def test_many_parameters_at_once_are_what_each_is(kind):
    path = any_path(kind)
    X_new, t = rows_for(path, kind), points_of(path)
    f = np.stack([path.decision_function(X_new, one) for one in t], axis=1)
    scale = np.abs(f).max()
    np.testing.assert_allclose(path.decision_function(X_new, t), f, atol=1e-12 * scale)
    clear = np.abs(f) > 1e-12 * scale
    labels = np.stack([path.predict(X_new, one) for one in t], axis=1)
    if len(path.reading.classes):
        assert (path.predict(X_new, t) == labels)[clear].all()
    else:
        np.testing.assert_allclose(path.predict(X_new, t), labels, atol=1e-12 * scale)
    duals = np.stack([path.dual(one) for one in t], axis=1)
    np.testing.assert_allclose(path.dual(t), duals, atol=1e-12 * np.abs(duals).max())
    bias = np.array([path.intercept(one) for one in t])
    np.testing.assert_allclose(path.intercept(t), bias, atol=1e-12 * max(scale, abs(bias).max()))


@pytest.mark.parametrize("kind", LINEAR)
def test_many_coefficients_at_once(kind):
    path = any_path(kind)
    t = points_of(path)
    w = np.stack([path.coef(one) for one in t], axis=1)
    assert path.coef(t).shape == (path.rows.shape[1], len(t))
    np.testing.assert_allclose(path.coef(t), w, atol=1e-12 * np.abs(w).max())
    some = np.sort(t)[:: max(len(t) // 3, 1)].tolist()  # far apart, and a list
    few = np.stack([path.coef(one) for one in some], axis=1)
    np.testing.assert_allclose(path.coef(some), few, atol=1e-12 * np.abs(w).max())


def test_coefficients_agree_with_decisions_in_kernels_and_sparse_rows():
    path = any_path("quantile-rbf")
    with pytest.raises(AttributeError, match="has no coefficients"):
        path.coef([0.2, 0.4])
    csr = any_path("quantile-csr")
    X_new = sp.csr_array(rows(7)[0])
    np.testing.assert_allclose(
        csr.decision_function(X_new, [0.3, 0.6]), csr.decision_function(X_new.toarray(), [0.3, 0.6])
    )


@pytest.mark.parametrize("n", [300])
def test_a_long_path_does_not_drift(n):
    X, y = rows(n, d=4, seed=5)
    path = quantile_svm_path(X, y, 1e-3)
    t = nodes(path)
    assert len(t) > 2 * n
    some = np.arange(0, len(t), len(t) // 60)
    exact = np.stack([path.coef(one) for one in t[some]], axis=1)
    whole = path.variables_at(some)[0].T[:-1]  # the last one is the bias
    assert np.abs(whole - exact).max() <= 1e-13 * np.abs(exact).max()


def test_kernel_values_in_blocks_of_rows(monkeypatch):
    path = any_path("quantile-rbf")
    X_new, y_new = new_rows(path)
    whole = path.decision_function(X_new, [0.1, 0.5, 0.8])
    crossings, curve = path.crossings(X_new), path.error_curve(X_new, y_new, "absolute")
    best = path.best(X_new, y_new)
    monkeypatch.setattr(evaluation, "DECISIONS_AT_ONCE", 7 * 50)
    np.testing.assert_allclose(path.decision_function(X_new, [0.1, 0.5, 0.8]), whole, atol=1e-13)
    for one, other in zip(path.crossings(X_new), crossings, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-11)
    again = path.error_curve(X_new, y_new, "absolute")
    t = np.linspace(0, 1, 333)
    np.testing.assert_allclose(again(t), curve(t), rtol=1e-12)
    assert path.best(X_new, y_new).value == best.value


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ([0.2, 1.5], r"tau = 1.5 is outside this path, which covers \[0, 1\]"),
        ([0.2, np.nan], r"tau = nan is outside"),
        (np.array([[0.2]]), "tau must be one number, or a list or 1-d array of numbers"),
        (["a"], "tau must be one number, or a list or 1-d array of numbers"),
        ([True, False], "tau must be one number, or a list or 1-d array of numbers"),
        ([0.1, [0.2]], "tau must be one number, or a list or 1-d array of numbers"),
        ([], "tau must be one number, or a list or 1-d array of numbers"),
        ("0.5", "tau must be one number"),
    ],
)
def test_bad_parameters_are_named(bad, said):
    path = any_path("quantile")
    X_new, _ = new_rows(path)
    calls = [path.coef, path.dual, path.intercept, lambda t: path.decision_function(X_new, t)]
    for call in [*calls, lambda t: path.predict(X_new, t)]:
        with pytest.raises(ValueError, match=said):
            call(bad)


@pytest.mark.parametrize("kind", ["quantile", "svm", "svm-rbf", "precomputed"])
def test_both_ends_of_pieces_are_approached_from_inside(kind):
    path = any_path(kind)
    X_new, _ = new_rows(path)
    last = path.breakpoints[-1]
    edges = np.union1d(path.breakpoints, [0.3 * last, 2 * last, 3 * last])
    left, right = piece_values(path, X_new, edges)
    scale = max(np.abs(left).max(), np.abs(right).max())
    inside = np.diff(edges) > 1e-7 * last
    for share in (1e-6, 1e-3, 0.5, 1 - 1e-3):  # a jump is where t has no digits for it
        t = np.minimum(edges[:-1] + share * np.diff(edges), last)
        f, expected = path.decision_function(X_new, t), left + share * (right - left)
        np.testing.assert_allclose(f[:, inside], expected[:, inside], atol=1e-8 * scale)
    jumps = np.abs(left[:, 1:] - right[:, :-1]).max() > 1e-3 * scale
    assert not jumps


@pytest.mark.parametrize(
    "bad", [[0.5], [], [0.0, 1.0], [0.5, 0.2], [-0.1, 0.0], [0.0, np.nan], ["a", "b"], None]
)
def test_edges_that_are_no_pieces_are_refused(bad):
    path = any_path("quantile")
    with pytest.raises(ValueError, match="edges "):
        piece_values(path, new_rows(path)[0], bad)


@pytest.mark.parametrize("kind", ["quantile", "svm-rbf"])
def test_signs_alternate_between_crossings_also_where_a_path_jumps(kind):
    path = any_path(kind)
    X_new = rows(60, seed=7)[0]
    found = path.crossings(X_new)
    assert sum(map(len, found)) > 10
    for row, own in enumerate(found):
        assert (np.diff(own) > 0).all()
        edges = np.concatenate([nodes(path)[:1], own, nodes(path)[-1:]])
        middle = edges[:-1] + 0.5 * np.diff(edges)
        positive = path.predict(X_new[[row]], middle)[0] > 0
        assert (positive[1:] != positive[:-1])[np.diff(edges)[1:] > 1e-9].all()
    length = positive_length(path, X_new)
    (first, last) = nodes(path)[[0, -1]]
    t = first + (np.arange(3000) + 0.5) / 3000 * (last - first)
    share = (path.decision_function(X_new, t) >= 0).mean(axis=1)
    np.testing.assert_allclose(length / (last - first), share, atol=5e-3)


# -- errors as exact functions ----------------------------------------------------------------


def direct(path, X_new, y_new, metric, t):
    residual = path.decision_function(X_new, t) - y_new[:, None]
    return np.abs(residual).mean(axis=0) if metric == "absolute" else (residual**2).mean(axis=0)


@pytest.mark.parametrize("metric", ["absolute", "squared"])
@pytest.mark.parametrize("kind", REGRESSIVE)
def test_a_regression_error_is_known_everywhere(kind, metric):
    path = any_path(kind)
    X_new, _ = new_rows(path)
    y_new = X_new[:, 0] + 0.3 * np.random.default_rng(3).normal(size=len(X_new))
    curve = path.error_curve(X_new, y_new, metric)
    assert (np.diff(curve.edges) > 0).all()
    assert [curve.edges[0], curve.edges[-1]] == list(path.range)
    edges = np.minimum(curve.edges, 10 * nodes(path)[-1])  # of a ray a part
    for share in (0.03, 0.5, 0.98):
        t = edges[:-1] + share * np.diff(edges)
        wide = np.diff(edges) > 1e-9 * edges[1:]
        expected = direct(path, X_new, y_new, metric, t)
        np.testing.assert_allclose(curve(t)[wide], expected[wide], rtol=1e-10)
    best = path.best(X_new, y_new, metric)
    grid = np.linspace(*nodes(path)[[0, -1]], 3000)
    assert best.value <= direct(path, X_new, y_new, metric, grid).min() * (1 + 1e-12)
    at_best = direct(path, X_new, y_new, metric, [best.parameter])[0]
    assert at_best == pytest.approx(best.value, rel=1e-9)


def test_an_absolute_error_bends_where_residuals_vanish():
    X, y = rows(50)
    path = lasso_path(X, X[:, 0] - 0.4 * X[:, 1] + 0.1 * y)
    X_new = rows(40, seed=9)[0]
    y_new = 0.5 * X_new[:, 0]
    curve = path.error_curve(X_new, y_new, "absolute")
    residual = path.decision_function(X_new, curve.edges[:-1]) - y_new[:, None]
    zeros = np.abs(residual).min(axis=0) <= 1e-12 * np.abs(residual).max()
    at_breakpoints = np.isin(curve.edges[:-1], path.breakpoints)
    assert (~at_breakpoints).sum() >= 5
    assert zeros[~at_breakpoints & (curve.edges[:-1] <= path.breakpoints[-1])].all()


def test_errors_on_a_path_of_one_point():
    path = weighted_svm_path(*rows(50), 1.0, 1.0)
    X_new, y_new = new_rows(path)
    error = np.mean(path.predict(X_new, 0.0) != y_new)
    assert path.best(X_new, y_new).value == pytest.approx(error)
    squared = direct(path, X_new, y_new, "squared", [0.0])[0]
    assert path.best(X_new, y_new, "squared").value == pytest.approx(squared)
    assert path.best(X_new, y_new, "absolute").value > 0


# -- weights of rows, and the scale of the parameter ------------------------------------------


@pytest.mark.parametrize("metric", ["zero_one", "absolute", "squared"])
def test_weights_of_rows_repeat_them(metric):
    rng = np.random.default_rng(4)
    X, times = rng.normal(size=(30, 3)), rng.integers(0, 4, 30)
    y = X[:, 0] + rng.normal(size=30)
    y = (y > 0).astype(int) if metric == "zero_one" else y
    path = svm_path(X, y) if metric == "zero_one" else lasso_path(X, y)
    rows = np.repeat(np.arange(30), times)
    weighted = path.error_curve(X, y, metric, sample_weight=times)
    repeated = path.error_curve(X[rows], y[rows], metric)
    t = np.linspace(*path.breakpoints[[0, -1]], 200)
    np.testing.assert_allclose(weighted(t), repeated(t), atol=1e-12)
    with pytest.raises(ValueError, match="sample_weight is zero everywhere"):
        path.error_curve(X, y, metric, sample_weight=0 * times)


def test_a_path_in_a_cost_or_a_penalty_takes_the_middle_of_logarithms():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 0, 1]
    best = svm_path(X, y).best([[0.5], [2.5]], [0, 1])
    first, last = best.intervals[0]
    assert last == np.inf  # of which the part up to the last breakpoint counts
    assert best.parameter == pytest.approx(np.sqrt(first * 2.0))
    assert quantile_svm_path(X, y, 0.1).error_curve(X, y).log is False


@pytest.mark.slow
@pytest.mark.parametrize("kind", ALL)
def test_curves_are_the_same_whatever_is_held_together(monkeypatch, kind):
    """Where weights at all breakpoints are too many, some breakpoints are looked at at a time."""
    path = any_path(kind)
    V = rows_for(path, kind)
    V = np.vstack([V, V[:5], 0.0 * V[:2]])
    v = new_rows(path, len(V))[1]
    v[-7:-2] = -v[:5]  # ties
    metric = "absolute" if kind == "svr" else "zero_one"
    wanted, crossings = path.error_curve(V, v, metric), path.crossings(V)
    monkeypatch.setattr(evaluation, "WEIGHTS_AT_ONCE", 1)
    monkeypatch.setattr(evaluation, "MIN_WINDOW", 3)
    found = path.error_curve(V, v, metric)
    np.testing.assert_allclose(found.edges, wanted.edges, rtol=1e-13)
    np.testing.assert_allclose(found.left, wanted.left, rtol=1e-12, atol=1e-15)
    for own, other in zip(path.crossings(V), crossings, strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-12)
