"""Free variables are in the middle of their optimal values, at every parameter of a path."""

import io

import numpy as np
import pytest
import survey
from sklearn.svm import SVC, SVR, OneClassSVM

import solution_paths as paths
from helpers.middles import ends_of_all, interval, middle_of
from solution_paths import SolutionPath
from solution_paths.compilation import read_only
from solution_paths.problem import Losses, Problem, Product, losses
from solution_paths.solution import undetermined
from solution_paths.solution.envelopes import boxes, on_segments
from solution_paths.solution.evaluation import piece_values
from solution_paths.solution.polytopes import Bounds, TooMany, middle
from solution_paths.solution.tolerances import ROUNDED
from solution_paths.verify import Answer, judge

pytestmark = pytest.mark.slow

ONE = {name: case.path for name, case in survey.CASES.items()} | {
    "weighted_svm": lambda D: paths.weighted_svm_path(D.X, D.y, 1.0, np.where(D.u > 0, 2.0, 0.5)),
    "weights to 0": lambda D: paths.weighted_svm_path(D.X, D.y, 1.0, np.arange(len(D.y)) % 2),
    "weighted_svr": lambda D: paths.weighted_svr_path(D.X, D.u, 1.0, np.arange(len(D.u)), 0.5),
    "quantile with a tie of rounded slopes": lambda D: paths.kernel_quantile_path(
        np.tile(D.X, (5, 1)), np.tile(D.u, 5), vary="lam", tau=0.1
    ),
    "Huber": lambda D: paths.solution_path(
        lambda t: Problem(Losses(losses.huber(D.u, 0.1, t), D.X, 1.0), ridge=1.0), 0.0, np.inf
    ),
}
SEVERAL = (
    "nu_svm",
    "svor_explicit",
    "svor_implicit_kernel",
    "multicategory",
    "pin_twin_C",
    "dm_drsvm_lam1",
    "dm_drsvm_lam2",
)


UNIQUE = ("elastic_net", "fused_lasso", "lasso_intercept", "Huber")


def places(path, seed):
    """Return parameters of the walk: some breakpoints, some between, and behind the last."""
    t, r = path.points.t, np.random.default_rng(seed)
    pieces = r.permutation(np.flatnonzero(np.diff(t) > 0))[:12]
    between = t[pieces] + r.uniform(size=len(pieces)) * (t[pieces + 1] - t[pieces])
    some = [t[:1], r.permutation(t[: -1 if path.ray else None])[:12], between]
    if path.ray:
        last = t[-2]
        some.append(last + (abs(last) or 1.0) * np.array([0.0, 1.3, 7.0, 1e3]))
    return np.concatenate(some)


@pytest.mark.filterwarnings("ignore::solution_paths.PathWarning")
@pytest.mark.parametrize("name", ONE)
def test_one_free_variable_is_in_the_middle(name):
    wide = 0
    for seed, kind in enumerate(survey.KINDS):
        D = survey.data(kind, seed)
        try:
            path = ONE[name](D)
        except ValueError:  # data that the function refuses
            continue
        if path.line.start.n_free != 1:
            pytest.skip("has none, or several")
        for t in places(path, seed):
            (w,), (v,) = path._variables(np.array([t]))
            found = interval(path.line.at(float(t)), w)
            if found is not None:
                wide += 1
                expected = middle_of(*found, v[0])
                assert v[0] == pytest.approx(expected, abs=1e-9 * (1 + np.abs(expected))), (kind, t)
    assert wide or name in UNIQUE, "no optimum of these data is an interval"


def test_a_middle_that_is_what_was_walked_but_for_rounding_is_no_point_of_its_own():
    corner = np.array([0, 0, 2, 0, 2, 2, 1, 0, 0, 1, 3, 1, 1, 2])
    X, y = np.column_stack([corner // 2, corner % 2]), [0, 1, 1, 1, 0, 0, 1, 0, 1, 0, 1, 1, 0, 1]
    path = paths.nu_svm_path(X, y, kernel="rbf", gamma=0.5)
    assert (path.points.t[:-1:2] < path.points.t[1::2]).all()


@pytest.mark.filterwarnings("ignore::solution_paths.PathWarning")
@pytest.mark.parametrize("name", SEVERAL)
def test_of_several_each_is_in_the_middle_beside_those_before(name):
    wide, r = 0, np.random.default_rng(1)
    for seed, kind in enumerate(survey.KINDS):
        D = survey.data(kind, seed)
        path = survey.CASES[name].path(D)
        some = places(path, seed)
        for t in r.choice(some, min(len(some), 8), replace=False):
            (w,), (v,) = path._variables(np.array([t]))
            problem = path.line.at(float(t))
            if any(group.pieces.curvature.any() for group in problem.losses):
                pytest.skip("has losses that aren't piecewise linear")
            found = ends_of_all(problem, w)
            if found is not None and np.ptp(found, axis=1).max() > 1e-5:
                wide += 1
                expected = [middle_of(*ends, np.nan) for ends in found]
                np.testing.assert_allclose(v, expected, atol=1e-6 * (1 + np.abs(v).max()))
    assert wide, "no optimum of these data is a polytope"


# ------------------------------------------------------------------------------------------ LIBSVM

TOL = {"kernel": "linear", "tol": 1e-10}


def balanced(seed=0, n=20):
    r = np.random.default_rng(seed)
    return r.normal(size=(n, 3)), np.repeat([-1.0, 1.0], n // 2), r.normal(size=n)


@pytest.mark.parametrize("seed", range(4))
def test_biases_are_those_of_libsvm(seed):
    X, y, u = balanced(seed)
    path = paths.svm_path(X, y)
    for C in path.breakpoints[1] * np.array([0.01, 0.5, 0.9]):  # all rows within the margins
        assert path.intercept(C) == pytest.approx(SVC(C=C, **TOL).fit(X, y).intercept_[0], abs=1e-6)
    tube = paths.svr_path(X, u, vary="epsilon", C=0.7)
    last = tube.breakpoints[-1]
    for epsilon in [0.3, 0.95 * last, 1.01 * last, 2 * last, 1e3 * last]:
        known = SVR(C=0.7, epsilon=epsilon, **TOL).fit(X, u).intercept_[0]
        assert tube.intercept(epsilon) == pytest.approx(known, abs=1e-6)
    X = X + 3.0
    one = paths.one_class_path(X, kernel="linear")
    own = OneClassSVM(nu=0.25, **TOL).fit(X)  # five rows are at their bounds
    f = one.decision_function(X, 0.25) / one.free(0.25)[0]
    np.testing.assert_allclose(f, own.decision_function(X) / -own.intercept_, atol=1e-6)


# ------------------------------------------------------------------------------- what users look at


def test_behind_the_last_breakpoint_of_epsilon_the_middle_of_all_targets_is_predicted():
    X, y = np.arange(5.0)[:, None], np.arange(5.0)
    path = paths.svr_path(X, y, vary="epsilon")
    far = [2.0, 3.0, 1e3, 1e9]
    assert path.intercept(far).tolist() == [2.0] * 4
    np.testing.assert_array_equal(path.predict(X, far), 2.0)
    curve = path.error_curve(X, y, "squared")
    np.testing.assert_allclose(curve(far), 2.0, rtol=1e-12)
    assert path.best(X, y).value == pytest.approx(0.0, abs=1e-12)


def test_the_middle_bends_where_another_row_becomes_the_bound():
    path = paths.svr_path(np.ones((3, 1)), [0.0, 1.0, 5.0], vary="epsilon")
    np.testing.assert_allclose(path.breakpoints, [0.0, 0.5, 2.0, 2.5], atol=1e-14)
    epsilon = np.array([0.0, 0.4, 0.5, 1.0, 1.7, 2.0, 2.3, 2.5, 4.0, 1e6])
    low = np.where(epsilon < 2.5, np.maximum(1 - epsilon, epsilon), 5.0 - epsilon)
    high = np.where(epsilon < 2.5, np.minimum(1 + epsilon, 5 - epsilon), epsilon)
    np.testing.assert_allclose(path.intercept(epsilon), (low + high) / 2, atol=1e-12)
    left, right = piece_values(path, np.ones((1, 1)), path.breakpoints)
    np.testing.assert_allclose([left[0], right[0]], [[1.0, 1.0, 2.5], [1.0, 2.5, 2.5]], atol=1e-12)


@pytest.mark.parametrize("seed", [2, 6, 7])
def test_of_bounds_that_tie_where_a_piece_begins_that_one_counts_that_goes_on(seed):
    r = np.random.default_rng(seed)
    n = int(r.choice([20, 60]))
    X = r.normal(size=(n, 3))
    X = np.round(X, 1) if seed % 2 else X
    y = np.where(X[:, 0] + r.normal(size=n) > 0, 1, -1)
    assert paths.drsvm_path(X, y, vary="lam1", lam2=0.01).certify(at_breakpoints=True).ok


def test_a_median_of_an_even_count_is_the_usual_one():
    r = np.random.default_rng(2)
    X, y = r.normal(size=(12, 2)), r.normal(size=12)
    assert paths.drlad_path(X, y).intercept(0.0) == pytest.approx(np.median(y), abs=1e-12)
    rlad = paths.rlad_path(X, y)
    top = 2 * rlad.breakpoints[-1]
    assert rlad.intercept(top) == pytest.approx(np.median(y), abs=1e-12)
    K = np.zeros((12, 12))
    quantile = paths.kernel_quantile_path(K, y, lam=1.0, kernel="precomputed")
    tau = np.array([1, 3, 6, 11]) / 12
    ranked = np.sort(y)
    middles = [(ranked[k - 1] + ranked[k]) / 2 for k in (1, 3, 6, 11)]
    np.testing.assert_allclose(quantile.intercept(tau), middles, atol=1e-12)


@pytest.mark.parametrize("name", ["svr_epsilon", "svm", "kernel_quantile_tau", "drsvm_lam2"])
def test_a_saved_path_and_its_curve_say_the_same(name):
    D = survey.data("rounded", 1)
    path = survey.CASES[name].path(D)
    file = io.BytesIO()
    path.save(file)
    loaded = SolutionPath.load(io.BytesIO(file.getvalue()))
    t = np.sort(path.scale.value(places(path, 3)))
    t = t[np.isfinite(t)]
    np.testing.assert_array_equal(path.free(t), loaded.free(t))
    np.testing.assert_array_equal(path.breakpoints, loaded.breakpoints)
    assert path.certify(at=t).ok or path.certify(at=t).reliable
    if path.reading.kind == "value" and path.reading.kernel.name == "linear":
        curve = path.error_curve(D.X, D.u, "absolute")
        inner = (t[1:] + t[:-1]) / 2
        off = np.abs(path.predict(D.X, inner) - D.u[:, None]).mean(axis=0)
        np.testing.assert_allclose(curve(inner), off, rtol=1e-9)


def test_a_wrong_bias_beyond_the_interval_fails():
    path = paths.svr_path(np.arange(5.0)[:, None], np.arange(5.0), vary="epsilon")
    problem, answer = path.stated_at(3.0)
    for shift, status in ((0.99, "holds"), (1.01, "fails")):  # of 1: epsilon less half the range
        moved = Answer(answer.w, answer.free + shift, answer.duals)
        assert judge(problem, moved).status == status


# --------------------------------------------------------------------------------------- polytopes

NOTHING = np.zeros(2)


def at(found, tau):
    where, lines = found
    return lines[np.searchsorted(where, tau, side="right") - 1] @ (1.0, tau)


def test_the_middle_of_moving_bounds_is_piecewise_linear():
    # s <= 5 - tau, s <= 2, s >= -tau, s >= -2 tau + 1, and what is no bound before tau = 60
    lines = np.array([[5.0, -1], [2, 0], [0, 1], [-1, 2], [57, -1.9]])
    bounds = Bounds(np.array([[1.0], [1], [-1], [-1], [1]]), lines)
    found = middle(bounds, np.zeros((1, 2)), 0.0, 60.0, NOTHING)
    np.testing.assert_allclose(found[0], [0.0, 1.0, 3.0, 520 / 9])
    for tau in (0.0, 0.3, 1.0, 1.6, 3.0, 50.0, 59.0):
        both = min(5 - tau, 2, 57 - 1.9 * tau), max(-tau, 1 - 2 * tau)
        assert at(found, tau)[0] == pytest.approx(np.mean(both))
    endless = middle(
        Bounds(bounds.directions[:4], lines[:4]), np.zeros((1, 2)), 2.0, np.inf, NOTHING
    )
    np.testing.assert_allclose(endless[0], [2.0, 3.0])


def test_a_box_a_chain_and_half_lines():
    own = np.array([[7.0, 0.0], [8.0, 1.0]])
    box = Bounds.between(np.eye(2), np.array([[0.0, 1], [2, 0]]), np.array([[4.0, 1], [4, 2]]))
    np.testing.assert_allclose(at(middle(box, own, 0.0, 9.0, NOTHING), 2.0), [4.0, 5.0])
    chain = np.array([[-1.0, 0], [1, -1], [0, 1]])  # 0 <= first <= second <= 6
    order = Bounds(chain, np.array([[0.0, 0], [0, 0], [6, 0]]))
    np.testing.assert_allclose(at(middle(order, own, 0.0, 1.0, NOTHING), 0.5), [3.0, 4.5])
    half = Bounds(np.array([[1.0, 0.0]]), np.array([[5.0, 1.0]]))
    np.testing.assert_allclose(at(middle(half, own, 0.0, 3.0, NOTHING), 2.0), [7.0, 10.0])


def test_too_many_inequalities_are_told(monkeypatch):
    monkeypatch.setattr("solution_paths.solution.polytopes.MAX_INEQUALITIES", 3)
    square = Bounds.between(np.array([[1.0, 1], [1, -1]]), np.zeros((2, 2)), np.ones((2, 2)))
    with pytest.raises(TooMany):
        middle(square, np.zeros((2, 2)), 0.0, 1.0, NOTHING)


def test_a_bound_counts_to_the_end_of_its_own_piece():
    """Here s <= 5.5 - tau is no bound on a short piece, and the least one on a longer one."""
    free = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    low = np.array([[0.0, 0], [-9, 0], [0, 0], [-99, 0]])
    high = np.array([[5.0, 0], [5.5, -1], [4, 0], [8, 0]])  # the last one couples both
    low, high = (np.repeat(lines.T[..., None], 2, axis=2) for lines in (low, high))
    none, t = np.zeros((2, 2, 2)), np.array([[0.0, 1.0], [0.1, 4.0]])
    no, pieces = np.zeros(2, dtype=bool), np.arange(2)
    given = undetermined._Pieces(
        pieces, t, no, no, np.zeros((4, 2), dtype=bool), none, none, low, high, np.zeros((2, 2))
    )
    nodes = undetermined._Undetermined(given, pieces, free, pieces, np.eye(2)).nodes()
    where, v = (np.concatenate(parts) for parts in zip(*(own[1:] for own in nodes), strict=True))
    for at, first in ((0.05, 2.5), (1.4, 2.5), (3.0, 1.75), (4.0, 1.25)):
        found = [np.interp(at, where, values) for values in v.T]
        np.testing.assert_allclose(found, [first, 2.0], atol=1e-12)


def test_what_rounding_leaves_of_a_rate_moves_nothing_along_a_ray():
    """Else predictions change far beyond the last breakpoint, on one processor or another."""
    free, one = np.ones((2, 1)), np.ones((1, 1))
    low = np.array([[-3.0, -1.0], [-9.0, -1.0]]).T[..., None]
    high = np.array([[3.0, 1.0 + 2.0**-52], [9.0, 1.0]]).T[..., None]
    t, no, none = np.array([[2.0], [4.0]]), np.zeros(1, dtype=bool), np.zeros((1, 2, 1))
    given = undetermined._Pieces(
        *(np.arange(1), t, ~no, no, np.zeros((2, 1), dtype=bool)),
        *(none, none, low, high, np.full((2, 1), 1e-15)),
    )
    (nodes,) = undetermined._Undetermined(given, np.arange(1), free, np.arange(1), one).nodes()
    assert not nodes.v.any()


def test_columns_of_a_kernel_are_as_large_as_their_largest_absolute_values():
    X = np.array([[1.0, 0.0], [-10.0, 2.0], [3.0, 3.0]])
    path = paths.svm_path(X @ X.T, [1, -1, 1], kernel="precomputed")
    rows = undetermined.Rows.__new__(undetermined.Rows)
    rows.line = path.line
    np.testing.assert_array_equal(rows._largest, [10.0, 104.0, 24.0])


@pytest.mark.parametrize("seed", range(40))
def test_middles_in_a_box_are_those_of_its_least_bounds(seed):
    """Where both sides, one or none bound a variable, on ways that end and that don't."""
    r = np.random.default_rng(seed)
    q, m, P = int(r.integers(1, 4)), 40, 12
    low, high = r.normal(size=(2, 2, m, P))
    c = r.uniform(0.5, 2.0, m) * r.choice([-1.0, 1.0], m)
    low[0], high[0] = -3.0 - np.abs(low[0]), 3.0 + np.abs(high[0])
    for lines, bound in ((low, -np.inf), (high, np.inf)):
        lines[0, r.uniform(size=(m, P)) < 0.5] = bound
    low[0, :, 1], high[0, :, 2], low[0, :, 3], high[0, :, 3] = -np.inf, np.inf, -np.inf, np.inf
    low[1], high[1] = (np.where(np.isfinite(own[0]), own[1], 0.0) for own in (low, high))
    begins, rows = np.linspace(0, m, q + 1).astype(int), r.permutation(m)
    own, end = r.normal(size=(q, 2, P)), np.where(np.arange(P) % 5 == 4, np.inf, 3.0)
    least = np.empty((q, 2, 2, P))
    nothing = np.zeros((m, 0)), np.zeros((0, 2, P))
    given = low, high, *nothing, np.arange(P), rows, c[rows], begins, own, end, np.zeros((2, P))
    of, tau, lines = boxes(*read_only(*given), least)
    assert np.array_equal(np.unique(of), np.arange(P))
    assert np.all(np.diff(of) >= 0)
    for p in range(P):
        for at in (0.0, 0.3, 1.1, 2.9, 47.0 if np.isinf(end[p]) else 3.0):
            k = np.flatnonzero((of == p) & (tau <= at))[-1]
            for j in range(q):
                some = rows[begins[j] : begins[j + 1]]
                bounds = np.stack([(own[0] + at * own[1])[some, p] for own in (low, high)])
                bounds = np.where(c[some] < 0.0, bounds[::-1], bounds) / c[some]
                alone = own[j, 0, p] + at * own[j, 1, p]
                expected = middle_of(bounds[0].max(), bounds[1].min(), alone)
                found = lines[k, j, 0] + at * lines[k, j, 1]
                assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["svr_epsilon", "svor_explicit", "nu_svm", "l1_svm"])
def test_the_middle_does_not_depend_on_what_is_looked_at_together(name, monkeypatch):
    D = survey.data("rounded", 1)
    together = survey.CASES[name].path(D)
    monkeypatch.setattr(undetermined, "PIECE_UNKNOWNS", 1)
    alone = survey.CASES[name].path(D)
    np.testing.assert_allclose(alone.points.t, together.points.t, rtol=1e-14)
    t = places(together, 0)
    np.testing.assert_allclose(alone._variables(t)[1], together._variables(t)[1], rtol=1e-12)


FOLLOWED = {
    "svm": lambda X, y, c: paths.svm_path(X, np.sign(y), sample_weight=c),
    "svr": lambda X, y, c: paths.svr_path(X, y, epsilon=0.3, sample_weight=c),
    "svr_epsilon": lambda X, y, c: paths.svr_path(X, y, vary="epsilon", sample_weight=c),
    "quantile_lam": lambda X, y, c: paths.quantile_regression_path(
        X, y, vary="lam", penalty="l2", tau=0.5, sample_weight=c
    ),
}


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("name", FOLLOWED)
def test_rows_that_are_not_looked_at_bound_nothing(name, rounded, monkeypatch):
    """All rows say the same as those that are looked at, where these are few."""
    r = np.random.default_rng(5)
    seen, near, c = (
        [],
        undetermined.Rows._relevant_rows,
        np.ones(700),
    )  # other costs balance nowhere
    y = r.permutation(np.linspace(-2.0, 2.0, 700))
    X = r.normal(size=(700, 20)) + 0.3 * np.sign(y)[:, None]
    if rounded:
        X, y = X.round(), y.round(1) + 0.05

    def noted(self, *given):
        found = near(self, *given)
        seen.append(len(found[0].coordinates))
        return found

    monkeypatch.setattr(undetermined, "PIECE_UNKNOWNS", 1)
    monkeypatch.setattr(undetermined, "MAX_PIECES_RESTRICTED", 8)
    monkeypatch.setattr(undetermined, "UNKNOWNS_PER_ROW", 1000)
    monkeypatch.setattr(undetermined.Rows, "_relevant_rows", noted)
    some = FOLLOWED[name](X, y, c)
    monkeypatch.setattr(
        undetermined.Rows, "_relevant_rows", lambda self, points, pairs, endless: (self, 50)
    )
    whole = FOLLOWED[name](X, y, c)
    if not rounded and name != "svr_epsilon":
        assert min(seen) < 350  # else nothing was tried
    t = np.unique(np.concatenate([some.points.t, whole.points.t]))
    t = (t[1:] + t[:-1])[np.diff(t) > 1e-9 * t[1:]] / 2.0  # at breakpoints rounding decides
    np.testing.assert_allclose(some.intercept(t), whole.intercept(t), rtol=1e-9, atol=1e-9)


def test_rows_of_a_map_that_is_kept_as_factors_are_all_looked_at(monkeypatch):
    """Of such a map no row is known by itself."""
    monkeypatch.setattr(undetermined, "PIECE_UNKNOWNS", 1)
    r = np.random.default_rng(5)
    y = r.permutation(np.where(np.arange(120) < 60, 1.0, -1.0))
    X = r.normal(size=(120, 4)) + 0.3 * y[:, None]

    def followed(X):
        def model(C):
            return Problem(Losses(losses.hinge(y, C), X, free=1.0), ridge=1.0)

        return paths.solution_path(model, 0.0, np.inf, parameter="C")

    t = np.geomspace(1e-4, 1.0, 50)
    own, other = (followed(rows).intercept(t) for rows in (X, Product(X, np.eye(4))))
    np.testing.assert_allclose(other, own, rtol=1e-9, atol=1e-9)


def test_thresholds_that_nothing_ties_are_not_looked_at_piece_by_piece(monkeypatch):
    looked = []

    def counted(*given):
        looked.append(given)
        return middle(*given)

    monkeypatch.setattr(undetermined, "middle", counted)
    r = np.random.default_rng(1)
    X = r.normal(size=(80, 3))
    y = np.argsort(np.argsort(X @ r.normal(size=3) + r.normal(size=80))) * 4 // 80
    path = paths.svor_path(X, y, check="ignore")
    assert len(looked) < len(path.breakpoints) / 10


@pytest.mark.parametrize("branches", [False, True])
def test_duals_are_on_segments_whose_slopes_they_are_at_both_ends(branches):
    """By the definition: of slopes that differ, but not beyond rounding, none is meant."""
    r = np.random.default_rng(0)
    S, m, P, tiny = 4, 60, 7, 1.5 * ROUNDED
    slopes = r.integers(-1, 2, (2, S, m)).astype(float)
    slopes[:, 1, : m // 2] = slopes[:, 0, : m // 2]
    slopes[0, 1, : m // 4] += r.choice([0.0, tiny, 1e-3], m // 4)
    straight, t = r.uniform(size=(S, m)) < 0.8, np.sort(r.uniform(size=(2, P)), axis=0)
    which, size = r.integers(0, S, (m, P)), r.uniform(1.6, 3.0, P)
    of, own = (
        (r.integers(0, 2, (S, m)), r.integers(0, 2, (m, P)))
        if branches
        else np.zeros((2, 0, 0), int)
    )
    value, rate = (x[which, np.arange(m)[:, None]] for x in slopes)
    a = value + rate * t[:, None] + r.choice([0.0, ROUNDED / 8, 1e-4], (m, P))
    first, last = np.empty((2, m, P), dtype=np.int64)
    given = slopes, straight, np.arange(m), a, t[:, None], size[None], of, own
    on_segments(*given, first, last)
    some = 0
    for i, p in np.ndindex(m, P):
        lines = slopes[0, :, i] + slopes[1, :, i] * t[:, p, None]
        near = straight[:, i] & (np.abs(lines - a[:, i, p, None]) <= ROUNDED * size[p]).all(axis=0)
        if branches:
            near &= of[:, i] == own[i, p]
        k = np.flatnonzero(near)
        spread = np.ptp(lines[:, k], axis=1) if len(k) else np.zeros(2)
        if len(k) and (spread > ROUNDED * np.abs(lines[:, k]).max(axis=1)).any():
            k, some = k[:0], some + 1
        assert [first[i, p], last[i, p]] == ([k[0], k[-1]] if len(k) else [-1, -1])
    assert some
    assert (first < 0).any()
    assert (first >= 0).any()
