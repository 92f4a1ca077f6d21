"""Constant models: paths of one breakpoint, the choice of a limit, folds without an event."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.model_selection import KFold

import solution_paths as sp
from solution_paths import PathWarning
from solution_paths.problem import Losses, Problem, losses, penalties
from solution_paths.solution.curves import Curve, MeanCurve
from solution_paths.verify import Answer, judge

pytestmark = pytest.mark.slow

R = np.random.default_rng(0)
X = R.normal(size=(24, 3))
NEW, TARGETS = R.normal(size=(15, 3)), R.normal(size=15)
FIRST = np.arange(24) < 8

FLAT = {  # targets that a constant fits
    "all alike": np.full(24, 5.0),
    "zero": np.zeros(24),
    "within the tube": 0.01 * R.normal(size=24),
}
FUNCTIONS = {
    "svr C": sp.svr_path,
    "svr lam": lambda X, y: sp.svr_path(X, y, vary="lam"),
    "svr rbf": lambda X, y: sp.svr_path(X, y, kernel="rbf"),
    "quantile": sp.kernel_quantile_path,
    "quantile 0": lambda X, y: sp.kernel_quantile_path(X, y, vary="lam", tau=0.0),
    "quantile 1": lambda X, y: sp.kernel_quantile_path(X, y, vary="lam", tau=1.0),
    "linear quantile": sp.quantile_regression_path,
    "linear quantile l1": lambda X, y: sp.quantile_regression_path(X, y, penalty="l1", tau=0.3),
    "linear quantile l2": lambda X, y: sp.quantile_regression_path(X, y, penalty="l2", tau=1.0),
    "lasso": sp.lasso_path,
    "elastic net": sp.elastic_net_path,
    "least deviations": sp.drlad_path,
    "ridge of deviations": sp.rlad_path,
    "Huber": sp.almost_quadratic_path,
}


@pytest.mark.parametrize("target", FLAT)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_error_of_a_constant_prediction(name, target):
    path = FUNCTIONS[name](X, FLAT[target])
    low, high = path.range
    points = np.linspace(low, min(high, low + 3.0), 9)
    for metric, power in (("absolute", 1), ("squared", 2)):
        curve = path.error_curve(NEW, TARGETS, metric)
        errors = np.abs(path.predict(NEW, points) - TARGETS[:, None]) ** power
        np.testing.assert_allclose(curve(points), errors.mean(axis=0), rtol=1e-9)
        best = path.best(NEW, TARGETS, metric)
        assert np.isfinite(best.parameter)
        again = np.abs(path.predict(NEW, best.parameter) - TARGETS) ** power
        assert again.mean() == pytest.approx(best.value, rel=1e-9)


REGRESSORS = [
    "PathSVR",
    "KernelQuantileRegressor",
    "PathElasticNet",
    "HuberPath",
    "PathLasso",
    "DrLAD",
    "OutlierSVR",
]


@pytest.mark.parametrize("target", [*FLAT, "in one fold"])
@pytest.mark.parametrize("name", REGRESSORS)
def test_estimators_choose_among_constant_predictions(name, target):
    y = np.where(FIRST, TARGETS.mean() + X[:, 0], 2.0) if target == "in one fold" else FLAT[target]
    estimator = getattr(sp, name)
    for options in ({}, {"tau": 0.0}, {"tau": 1.0}, {"rule": "1se"}):
        unknown = set(options) - set(inspect.signature(estimator).parameters)
        if unknown or (name == "OutlierSVR" and "rule" in options):
            continue
        model = estimator(cv=KFold(3), **options).fit(X, y)
        chosen = getattr(model, f"{model._parameter}_")
        assert np.isfinite(chosen)
        assert model.cv_path_(chosen) == pytest.approx(model.cv_error_, rel=1e-9, abs=1e-12)
        found = []
        for train, test in KFold(3).split(X):
            fixed = estimator(**options, **{model._parameter: chosen}).fit(X[train], y[train])
            error, tau = fixed.predict(X[test]) - y[test], getattr(model, "tau", None)
            own = {
                "squared": error**2,
                "absolute": np.abs(error),
                "pinball": None if tau is None else np.maximum((1.0 - tau) * error, -tau * error),
            }
            found.append(np.mean(own[model.scoring]))
        assert model.cv_error_ == pytest.approx(np.mean(found), rel=1e-8, abs=1e-10)


# -- a limit that is the best -------------------------------------------------------------------

LIMITS = {
    "svr": lambda y: sp.svr_path(X, y, vary="lam"),
    "quantile": lambda y: sp.kernel_quantile_path(X, y, vary="lam", tau=0.3),
    "least deviations": lambda y: sp.dr_regression_path(X, y, vary="lam2", lam1=0.0),
}


@pytest.mark.parametrize("name", LIMITS)
def test_where_the_constant_model_is_best_a_finite_parameter_gives_it(name):
    limits = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        path = LIMITS[name](rng.normal(size=24))
        V, v = rng.normal(size=(10, 3)), rng.normal(size=10)
        for metric, power in (("absolute", 1), ("squared", 2)):
            best, curve = path.best(V, v, metric), path.error_curve(V, v, metric)
            assert np.isfinite(best.parameter)
            predicted = path.predict(V, best.parameter)
            assert np.mean(np.abs(predicted - v) ** power) == pytest.approx(best.value, rel=1e-9)
            if path.range[1] == np.inf and best.value == curve(np.inf) < curve(
                path.breakpoints[-1]
            ):
                limits += 1
                assert best.intervals[-1, 1] == np.inf
                assert best.intervals[-1, 0] <= best.parameter
                assert np.ptp(predicted) <= 1e-9
    assert limits > 0 or path.parameter not in ("lam", "lam2")


def test_the_last_piece_of_a_curve_in_an_inverse():
    falls = Curve(
        np.array([0.0, 2.0, np.inf]),
        np.array([3.0, 2.0]),
        np.array([2.0, 1.0]),
        np.zeros(2),
        True,
        True,
    )
    best = falls.best()
    assert best.value == 1.0
    assert 2.0 < best.parameter < np.inf
    assert falls(best.parameter) == pytest.approx(1.0, rel=1e-15)
    mean = MeanCurve.of([falls, falls])
    chosen = mean.simplest(larger=True)
    assert mean(chosen) <= 1.0 + 1e-11
    assert np.isfinite(chosen)


def test_a_quantile_regression_may_choose_the_constant():
    chosen = []
    for seed in (6, 16, 22):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(12, 50))
        rows, y = rng.normal(size=(n, 3)), rng.normal(size=n)
        for rule in ("min", "1se"):
            model = sp.KernelQuantileRegressor(cv=5, rule=rule).fit(rows, y)
            assert np.isfinite(model.lam_)
            assert model.cv_path_(model.lam_) == pytest.approx(model.cv_error_, rel=1e-9)
        chosen.append(np.ptp(model.predict(rows)) < 1e-9)
    assert any(chosen)


# -- folds that tell nothing --------------------------------------------------------------------

COUNTS = np.zeros(24, dtype=int)
COUNTS[3] = 1


def test_a_fold_without_an_event_is_left_out():
    with pytest.warns(PathWarning, match=r"cv chooses lam without fold 1 of 3 \(its training rows"):
        model = sp.PathPoissonRegressor(cv=KFold(3)).fit(X, COUNTS)
    assert len(model.cv_paths_) == 2
    pairs = list(KFold(3).split(X))[1:]
    same = sp.PathPoissonRegressor(cv=pairs).fit(X, COUNTS)
    assert (same.lam_, same.cv_error_) == (model.lam_, model.cv_error_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sp.PathPoissonRegressor(cv=KFold(3), check="ignore").fit(X, COUNTS)
    alike = np.where(FIRST, 4, 2)
    with pytest.warns(PathWarning, match=r"fold 1 of 3 \(its training counts are all 2\)"):
        sp.PathPoissonRegressor(cv=KFold(3)).fit(X, alike)
    first = [(np.arange(8, 24), np.arange(8))]
    with pytest.raises(ValueError, match="cv has no fold to choose lam by: fold 1 of 1"):
        sp.PathPoissonRegressor(cv=first).fit(X, COUNTS)


CLASSIFIERS = [
    "PathSVC",
    "QuantileSVC",
    "L1SVC",
    "DmKSVC",
    "DmDrSVC",
    "OutlierSVC",
    "PathNuSVC",
    "PathSVOR",
    "PathLogisticRegression",
]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_fold_of_one_class_is_left_out(name):
    y = np.where(FIRST & (X[:, 0] > 0), "yes", "no")
    y = (y == "yes").astype(int) if name == "PathSVOR" else y
    estimator = getattr(sp, name)
    with pytest.warns(PathWarning, match=r"without fold 1 of 3 \(its training rows hold the class"):
        model = estimator(cv=KFold(3)).fit(X, y)
    same = estimator(cv=list(KFold(3).split(X))[1:]).fit(X, y)
    assert model.cv_error_ == same.cv_error_
    with pytest.raises(ValueError, match="cv has no fold to choose"):
        estimator(cv=[(np.arange(8, 24), np.arange(8))]).fit(X, y)


def test_folds_without_weight_are_named():
    y = np.where(X[:, 0] > 0, 1, 0)
    weights = np.where(FIRST, 0.0, 1.0)
    with pytest.warns(PathWarning, match=r"fold 1 of 3 \(its test rows have weight 0\)"):
        sp.PathSVC(cv=KFold(3)).fit(X, y, sample_weight=weights)
    only = [(np.arange(8), np.arange(8, 24)), (np.arange(4, 24), np.arange(12, 24))]
    with pytest.warns(PathWarning, match=r"fold 1 of 2 \(its training rows have weight 0\)"):
        sp.PathSVC(cv=only).fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("bias", [False, True])
def test_a_generalized_lasso_of_targets_that_are_all_alike_holds(seed, bias):
    """All knots are zero there: what slopes move values by is the unit of rounding."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(67, 4))
    target = np.full(67, 0.9 if bias else 0.0)
    differences = np.diff(np.eye(4), n=seed % 3, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        path = sp.generalized_lasso_path(target, differences, X=rows, fit_intercept=bias)
    assert path.certify().ok
    np.testing.assert_allclose(path.coef([0.0, 1.0, 10.0]), 0.0, atol=1e-14)


def test_units_where_all_knots_are_zero_find_a_wrong_answer():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(20, 3))
    problem = Problem(
        [Losses(losses.squared(np.zeros(20)), rows), Losses(penalties.l1(3, 2.0), np.eye(3))]
    )
    right = Answer(np.zeros(3), np.zeros(0), [np.zeros(20), np.zeros(3)])
    values = 1e-3 * rows.sum(axis=1)
    wrong = Answer(np.full(3, 1e-3), np.zeros(0), [-values, np.full(3, 2.0)])
    assert judge(problem, right).ok()
    assert not judge(problem, wrong).ok()


@pytest.mark.parametrize("rows", [X, np.round(X), np.repeat(X[:6], 4, axis=0)])
def test_duals_of_double_margins_warn_of_nothing(rows):
    """Several points of the walk lie at its start, where 1 / lam2 is zero."""
    y = np.where(X[:, 0] + X[:, 1] > 0, 1.0, -1.0)
    path = sp.dm_drsvm_path(rows, y, 2.0, vary="lam2", lam1=0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        duals = path.dual(np.append(path.breakpoints, 10 * path.breakpoints[-1]), 0)
    assert np.isfinite(duals).all()


@pytest.mark.parametrize("shape", [(11, 18), (30, 40), (60, 3)])
@pytest.mark.parametrize("scaled", [False, True])
def test_one_class_machines_of_centred_rows_hold_where_all_slopes_cancel(shape, scaled):
    """At nu = 1 all duals are alike, and w is the sum of the rows: zero but for rounding."""
    rows = np.random.default_rng(shape[0]).normal(size=shape)
    rows = (rows - rows.mean(axis=0)) / (rows.std(axis=0) if scaled else 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        path = sp.one_class_path(rows, kernel="linear")
    assert path.certify().ok
