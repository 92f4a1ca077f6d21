"""Directions along which data say nothing: optima exist, and are found; where none is, a proof."""

import pickle
import warnings
from decimal import Decimal, getcontext

import numpy as np
import pytest

import solution_paths as sp
from helpers import DATA
from path_benchmark.solvers.clarabel_solver import by_clarabel
from solution_paths.problem import Losses, Problem, losses, penalties, pieces
from solution_paths.verify import Answer, judge
from solution_paths.verify.unbounded import contradicts, falls

pytestmark = pytest.mark.slow

CASES = DATA / "cases"
getcontext().prec = 60


def near_equal(rng, n, p, apart):
    X = rng.normal(size=(n, p))
    return np.c_[X, X[:, 0] * (1 + apart * rng.normal(size=n))]


def parts_and_total(rng, n):
    X = rng.normal(size=(n, 3))
    return np.c_[X, X.sum(1)]


def two_units(rng, n):
    celsius = rng.normal(15, 8, n).round(1)
    return np.c_[rng.normal(size=(n, 2)), celsius, 1.8 * celsius + 32]


def dummies(rng, n):
    X = np.eye(4)[rng.integers(0, 4, n)]
    return np.c_[rng.normal(size=n), (X - X.mean(0)) / np.where(X.std(0) > 0, X.std(0), 1)]


def shares(rng, n):
    X = rng.dirichlet(np.ones(4), n)
    return np.c_[X, X.sum(1)]


def centred_and_wide(rng, n):
    X = rng.normal(size=(n, n + 7))
    return X - X.mean(0)


DEPENDENT = [parts_and_total, two_units, dummies, shares]


def labels(rng, X):
    y = np.where(X[:, 0] + rng.normal(size=len(X)) > X[:, 0].mean(), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return y


def check_optimal(path, at):
    """Compare objectives with Clarabel's, and ask for a certificate."""
    assert path.certify(n_random=20).ok
    for t in at:
        problem, answer = path.stated_at(t)
        own, other = judge(problem, answer), judge(problem, by_clarabel(problem))
        assert own.primal <= other.primal + 1e-7 * max(abs(other.primal), 1e-6)


@pytest.mark.parametrize(
    ("seed", "n", "values"),
    [
        (6, 60, (0.87569371, 0.87554491)),
        (13, 30, (0.70464232, 0.70432686)),
        (17, 30, (0.82322458, 0.82272540)),
    ],
)
def test_multicategory_machines_of_overlapping_classes_have_optima(seed, n, values):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    path = sp.multicategory_svm_path(X, rng.integers(0, 3, n), check="raise")
    for lam, value in zip((1e-3, 1e-6), values, strict=True):
        assert path.objective_value(lam) == pytest.approx(value, abs=1e-8)


@pytest.mark.parametrize("seed", range(8))
def test_multicategory_machines_are_certified(seed):
    rng = np.random.default_rng(100 + seed)
    X, c = rng.normal(size=(40, 3)), rng.integers(0, 4, 40)
    check_optimal(sp.multicategory_svm_path(X, c, check="raise"), [1e-4, 0.1])


def test_generalised_lasso_on_centred_rows_with_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8, 20))
    X -= X.mean(0)
    y = X[:, 0] + rng.normal(size=8)
    D = np.diff(np.eye(20), axis=0)
    path = sp.generalized_lasso_path(y, D, X=X, fit_intercept=False, check="raise")
    for lam, value in ((1e-6, 0.00212834), (0.1, 0.14096998), (1.0, 1.04044183)):
        assert path.objective_value(lam) == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize("make", [*DEPENDENT, centred_and_wide])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("order", [1, 2])
def test_generalised_lasso_on_dependent_columns(make, intercept, order):
    rng = np.random.default_rng(order)
    X = make(rng, 20)
    y = X @ rng.normal(size=X.shape[1]) + rng.normal(size=20)
    D = np.diff(np.eye(X.shape[1]), n=order, axis=0)
    path = sp.generalized_lasso_path(y, D, X=X, fit_intercept=intercept, check="raise")
    check_optimal(path, [1e-3, 0.3])


def test_twin_machine_beside_a_total_column():
    rng = np.random.default_rng(0)
    rng.normal(size=(8, 20)), rng.normal(size=8)
    B = rng.normal(size=(30, 3))
    y = np.where(B[:, 0] + rng.normal(size=30) > 0, 1.0, -1.0)
    path = sp.pin_twin_svm_path(np.c_[B, B.sum(1)], y, check="raise")
    assert path.objective_value(0.5) == pytest.approx(8.03289986, abs=1e-7)


@pytest.mark.parametrize("make", DEPENDENT)
@pytest.mark.parametrize("vary", ["tau", "C"])
def test_twin_machines_on_dependent_columns(make, vary):
    rng = np.random.default_rng(3)
    X = make(rng, 40)
    path = sp.pin_twin_svm_path(X, labels(rng, X), vary=vary, check="raise")
    check_optimal(path, [0.2, 0.9])


def unridged(y, X, kind):
    """Absolute errors in a tube, quantiles, and one side ever steeper; without any ridge."""
    by_kind = {
        "tube": lambda t: pieces(knots=[y - t, y + t], slopes=[-1.0, 0.0, 1.0]),
        "quantile": lambda t: pieces(knots=[y], slopes=[t - 1, t]),
        "steeper": lambda t: pieces(knots=[y], slopes=[-1.0, 1.0 + t]),
    }
    return lambda t: Problem(Losses(by_kind[kind](t), X, free=1.0))


@pytest.mark.parametrize("make", DEPENDENT)
@pytest.mark.parametrize(
    ("kind", "ends"), [("tube", (2.0, 0.1)), ("quantile", (0.1, 0.9)), ("steeper", (0.0, 3.0))]
)
def test_linear_programmes_on_dependent_columns(make, kind, ends):
    rng = np.random.default_rng(11)
    X = make(rng, 40)
    y = X @ rng.normal(size=X.shape[1]) + rng.normal(size=40)
    path = sp.solution_path(unridged(y, X, kind), *ends, check="raise")
    check_optimal(path, [0.3 * ends[0] + 0.7 * ends[1]])


PAIRS_IN_S_AND_LAM = {
    "rlad": (
        lambda X, y: sp.rlad_path(X, y, vary="s"),
        lambda X, y: sp.rlad_path(X, y, vary="lam"),
    ),
    "quantile": (
        lambda X, y: sp.dr_regression_path(X, y, ("quantile", 0.3), vary="s", lam2=0.0),
        lambda X, y: sp.dr_regression_path(X, y, ("quantile", 0.3), vary="lam1", lam2=0.0),
    ),
    "l1_svm": (
        lambda X, y: sp.l1_constrained_svm_path(X, np.where(y > np.median(y), 1.0, -1.0)),
        lambda X, y: sp.l1_svm_path(X, np.where(y > np.median(y), 1.0, -1.0)),
    ),
}


@pytest.mark.parametrize("make", DEPENDENT)
@pytest.mark.parametrize("model", PAIRS_IN_S_AND_LAM)
def test_a_radius_ceases_to_bind_at_the_shortest_optimum(model, make):
    """Rounding of dependent columns leaves a slope of 1e-17, which is none."""
    in_s, in_lam = PAIRS_IN_S_AND_LAM[model]
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = make(rng, 40), rng.integers(0, 10, 40) / 10.0
        path = in_s(X, y)
        shortest, far = abs(in_lam(X, y).coef(0.0)).sum(), 1e3 * path.breakpoints[-1]
        assert path.breakpoints[-1] == pytest.approx(shortest, rel=1e-7)
        assert abs(path.coef(far)).sum() == pytest.approx(shortest, rel=1e-7)
        assert path.certify().ok


@pytest.mark.parametrize("seed", range(12))
def test_pinball_machines_begin_at_the_very_end_that_they_allow(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 50))
    X = rng.normal(size=(n, int(rng.integers(1, 5))))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0.5 * rng.normal(), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    small, large = sorted([(y > 0).sum(), (y < 0).sum()])
    path = sp.pin_svm_path(X, y, vary="tau", tau_from=-small / large, check="raise")
    check_optimal(path, [-small / large, 0.0])


def test_the_limit_that_a_message_names_is_accepted():
    X, y = np.arange(5.0)[:, None], np.array([0, 0, 0, 1, 1])
    with pytest.raises(ValueError, match="has no optimum") as error:
        sp.pin_svm_path(X, y, vary="tau", tau_from=-0.9)
    named = float(str(error.value).rsplit(">= ", 1)[1].rstrip("."))
    assert sp.pin_svm_path(X, y, vary="tau", tau_from=named).range[0] == named


def least_squares(X, y):
    """Return the least sum of squares, in sixty digits."""

    def dot(a, b):
        return sum(x * z for x, z in zip(a, b, strict=True))

    rest, basis = [Decimal(float(v)) for v in y], []
    for column in X.T:
        own = [Decimal(float(v)) for v in column]
        for q, size in (*basis, *basis):
            share = dot(q, own) / size
            own = [x - share * z for x, z in zip(own, q, strict=True)]
        basis.append((own, dot(own, own)))
    for q, size in basis:
        share = dot(q, rest) / size
        rest = [x - share * z for x, z in zip(rest, q, strict=True)]
    return float(dot(rest, rest))


@pytest.mark.parametrize("apart", [1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12])
def test_lasso_of_two_nearly_equal_columns(apart):
    rng = np.random.default_rng(5)
    X = near_equal(rng, 30, 3, apart)
    y = X @ rng.normal(size=4) + rng.normal(size=30)
    path = sp.lasso_path(X, y, fit_intercept=False, check="ignore")
    check_optimal(path._since(1), [1e-5, 1.0])  # beyond what tells the columns apart
    r = y.astype(np.longdouble) - X.astype(np.longdouble) @ path.coef(0.0)
    assert float(r @ r) == pytest.approx(least_squares(X, y), rel=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_cross_validated_lasso_of_two_nearly_equal_columns(seed):
    rng = np.random.default_rng(seed)
    X = near_equal(rng, 40, 3, 10.0 ** rng.uniform(-13, -7))
    y = X @ rng.normal(size=4) + rng.normal(size=40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.PathWarning)  # at lam = 0 weights are large
        model = sp.PathLasso(cv=3).fit(X, y)
    plain = sp.PathLasso(cv=3).fit(X[:, :3], y)
    assert model.cv_error_ == pytest.approx(plain.cv_error_, rel=0.05)


def test_an_unbalanced_l1_machine_ends():
    own = np.load(CASES / "flat" / "l1_unbalanced_endless.npz", allow_pickle=True)
    path = sp.l1_svm_path(own["X"], own["y"], check="raise")
    assert path.diagnostics["events"] < 10_000


def rewarded(t):
    """The bias earns more and more where t < 0.5."""
    loss = losses.pinball_hinge(np.array([-1.0, 1.0, 1.0]), -0.9 + t * 0.8, 1.0)
    return Problem(Losses(loss, [[0.0], [0.5], [1.0]], free=1.0), ridge=1.0)


def test_an_objective_that_falls_for_ever_is_told_with_its_direction():
    with pytest.raises(sp.NoOptimum, match="falls for ever") as error:
        sp.solution_path(rewarded, 1.0, 0.0)
    w, v = error.value.direction
    problem = rewarded(0.0)
    assert falls(problem, w, v) == error.value.slope < 0
    far = [judge_primal(problem, step * w, step * v) for step in (1e6, 1e9)]
    assert far[1] < far[0] < 0
    assert isinstance(error.value, sp.PathError)
    low, high = error.value.path.range  # exact up to where -tau times two is one
    assert high == 1.0
    assert low == pytest.approx(0.5, abs=1e-9)
    copy = pickle.loads(pickle.dumps(error.value))
    assert (type(copy), str(copy), copy.slope) == (sp.NoOptimum, str(error.value), copy.slope)


def judge_primal(problem, w, v):
    return judge(problem, Answer(w, v)).primal


def test_no_optimum_at_the_start_is_told():
    with pytest.raises(sp.NoOptimum, match="There is no optimum at 0"):
        sp.solution_path(rewarded, 0.0, 0.1)


def test_constraints_that_contradict_each_other_are_told_with_duals_that_prove_it():
    def model(t):  # w <= 1 - t, and w >= t
        ends = np.array([t, 1.0 - t])
        low, high = np.array([t, -np.inf]), np.array([np.inf, 1.0 - t])
        order = pieces(knots=[ends], slopes=[0.0, 0.0], low=low, high=high)
        pull = pieces(knots=[np.array([0.0, 1.0])], slopes=[-1.0, 1.0])
        return Problem([Losses(order, [[1.0], [1.0]]), Losses(pull, [[1.0], [2.0]])])

    with pytest.raises(sp.PathError) as error:
        sp.solution_path(model, 0.0, 1.0)
    assert error.value.path.range[1] == pytest.approx(0.5)
    assert isinstance(error.value, sp.NoOptimum)
    assert contradicts(model(1.0), error.value.direction) == error.value.slope > 0


def test_the_judge_of_claims_confirms_none_that_rounding_explains():
    loss = losses.pinball_hinge(np.array([-1.0, 1.0, 1.0]), -0.5, 1.0)
    flat = Problem(Losses(loss, [[0.0], [0.5], [1.0]], free=1.0), ridge=1.0)
    assert falls(flat, np.zeros(1), np.ones(1)) == 0.0
    assert falls(flat, np.ones(1), np.ones(1)) == 0.0  # the ridge grows faster
    hinge = Problem(Losses(losses.hinge([-1.0, 1.0]), [[0.0], [2.0]]), ridge=0.0)
    assert falls(hinge, np.array([1.0]), np.zeros(0)) == 0.0
    assert falls(hinge, np.array([-1.0]), np.zeros(0)) == 0.0
    assert contradicts(hinge, [np.array([1.0, -1.0])]) == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_weights_of_a_constant_target_are_zero(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(19, 3))
    path = sp.svr_path(X, np.full(19, 0.5), vary="epsilon", check="raise")
    assert path.certify().ok
    assert not path.coef([0.0, 0.1, 5.0]).any()
    assert path.intercept([0.0, 0.1, 5.0]) == pytest.approx(0.5)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_smooth_columns_that_are_dependent_but_for_rounding(seed, intercept):
    """Where no penalty decides, 40 Gaussian bumps have no solution that doubles could state."""
    rng = np.random.default_rng(seed)
    grid = np.linspace(0, 1, 40)
    X = np.exp(-((rng.random(60)[:, None] - grid) ** 2) / 0.02) * 1e3
    y = X @ np.sin(6 * grid) + rng.normal(size=60)
    D = np.diff(np.eye(40), n=2, axis=0)
    try:
        path = sp.generalized_lasso_path(y, D, X=X, fit_intercept=intercept, check="ignore")
    except sp.PathError as error:  # the part above
        path = error.path
    assert path.range[0] <= 1e-3
    assert path.range[1] == np.inf
    for lam in np.geomspace(0.1, 1e3, 25):
        assert path.certify(at=lam).ok
    for lam in (0.1, 1.0, 1e3):
        problem, answer = path.stated_at(lam)
        other = judge(problem, by_clarabel(problem))
        assert judge(problem, answer).primal <= other.primal * (1 + 1e-7)


@pytest.mark.parametrize("sizes", [(65, 60), (82, 72), (70, 90)])
def test_dependence_shows_in_systems_of_more_unknowns_than_are_solved_to_rounding(sizes):
    """Beside one class alone the bias is what rho is, the other way round: a pivot of zero."""
    y = np.repeat([1.0, -1.0], sizes)
    path = sp.nu_svm_path(np.eye(len(y)), y, kernel="precomputed")
    assert path.certify().ok
    alike = np.repeat([0.5 / size for size in sizes], sizes)  # nu is shared by the rows of a class
    np.testing.assert_allclose(path.dual(0.8), 0.8 * y * alike, rtol=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_rows_come_to_curved_segments_where_no_value_moves(seed):
    """Where a penalty holds all weights at 0 a Huber loss's own curvature is all that there is."""
    r = np.random.default_rng(seed)
    n, d = r.integers(2, 12), r.integers(1, 4)
    X, y = r.normal(size=(n, d)), 2.0 * r.normal(size=n).round(seed % 2)
    X = X.round() if seed % 3 == 0 else X
    for lam in (0.3, 3.0, 30.0):
        for free in (None, 1.0):

            def model(delta, lam=lam, free=free):
                loss = Losses(losses.huber(y, delta), X, free=free)
                return Problem(loss, penalty=penalties.l1(d, lam))

            for t0, t1 in ((3.0, 0.1), (0.1, 3.0)):
                assert sp.solution_path(model, t0, t1, parameter="delta").certify().ok
