"""What paths and estimators say of small problems, number by number.

``pytest --write-known`` writes the numbers down, see `helpers.known`.
"""

from functools import cache

import numpy as np
import pytest
from sklearn.base import is_classifier

import solution_paths as sp
from helpers.estimators import ESTIMATORS
from helpers.known import (
    AFTER,
    BEFORE,
    CLASSES,
    COUNTS,
    NEW,
    NEW_U,
    U,
    X,
    Y,
    assert_same,
    digest,
)
from solution_paths.solution.evaluation import positive_length

pytestmark = pytest.mark.slow

# ---------------------------------------------------------------- paths

KERNEL = {"kernel": "rbf", "gamma": 0.3}
PATHS = {
    "svm": lambda: sp.svm_path(X, Y),
    "svm, rbf": lambda: sp.svm_path(X, Y, C_max=10.0, **KERNEL),
    "quantile": lambda: sp.quantile_svm_path(X, Y, 0.1),
    "quantile, rbf": lambda: sp.quantile_svm_path(X, Y, 0.1, **KERNEL),
    "weighted": lambda: sp.weighted_svm_path(X, Y, BEFORE, AFTER),
    "weighted SVR": lambda: sp.weighted_svr_path(X, U, BEFORE, AFTER, 0.1, **KERNEL),
    "lasso": lambda: sp.lasso_path(X, U, fit_intercept=True),
    "l1 svm": lambda: sp.l1_svm_path(X, Y),
    "drsvm": lambda: sp.drsvm_path(X, Y, lam2=0.1),
    "drsvm in lam2": lambda: sp.drsvm_path(X, Y, vary="lam2", lam1=0.02),
    "double margin": lambda: sp.dm_drsvm_path(X, Y, 2.5, vary="lam1", lam2=0.1),
    "double margin, kernel": lambda: sp.dm_ksvm_path(X, Y, 2.5, **KERNEL),
    "DrLAD": lambda: sp.drlad_path(X, U, lam2=0.1),
    "DrLAD in lam2": lambda: sp.drlad_path(X, U, vary="lam2", s=0.5),
    "any loss": lambda: sp.dr_regression_path(X, U, ([-1.0, 0.5], [-1.0, -0.25, 2.0]), lam2=0.1),
    "outliers in theta": lambda: sp.outlier_svm_path(X, Y, 1.0),
    "outliers in s": lambda: sp.outlier_svm_path(X, Y, 1.0, homotopy="s", **KERNEL),
    "outliers of targets": lambda: sp.outlier_svr_path(X, U, 1.0, s=0.8),
    "outliers of targets in s": lambda: sp.outlier_svr_path(X, U, 1.0, homotopy="s", **KERNEL),
    "elastic net": lambda: sp.elastic_net_path(X, U, lam2=1.0),
    "Huber": lambda: sp.almost_quadratic_path(X, U),
    "hhsvm": lambda: sp.hhsvm_path(X, Y, lam2=1.0),
    "rlad": lambda: sp.rlad_path(X, U),
    "svr in epsilon": lambda: sp.svr_path(X, U, vary="epsilon", **KERNEL),
    "nu": lambda: sp.nu_svm_path(X, Y, **KERNEL),
    "one class": lambda: sp.one_class_path(X, **KERNEL),
    "kernel quantile": lambda: sp.kernel_quantile_path(X, U, lam=0.1, gamma=0.3),
    "linear quantile": lambda: sp.quantile_regression_path(X, U),
    "linear quantile, l1": lambda: sp.quantile_regression_path(X, U, penalty="l1", tau=0.3),
    "quantiles together": lambda: sp.noncrossing_quantiles_path(X, U, [0.2, 0.5, 0.9]),
    "ordinal": lambda: sp.svor_path(X, CLASSES),
    "multicategory": lambda: sp.multicategory_svm_path(X, CLASSES),
    "pinball": lambda: sp.pin_svm_path(X, Y, **KERNEL),
    "asymmetric": lambda: sp.asymmetric_svm_path(X, Y),
    "logistic": lambda: sp.logistic_path(X, Y, 0.01, l1_ratio=0.5, eps=1e-8),
    "poisson": lambda: sp.poisson_path(X, COUNTS, 0.01, l1_ratio=0.5, eps=1e-8),
}


@cache
def path_of(name):
    return PATHS[name]()


def points_of(path):
    """Return four parameters between the breakpoints, and one beyond where there is more."""
    known = path.breakpoints[np.isfinite(path.breakpoints)]
    low, high = float(known.min()), float(known.max())
    low = max(low, 1e-3 * high)
    points = [low + share * (high - low) for share in (0.03, 0.21, 0.52, 0.83)]
    return np.array(points + ([2.0 * high] if path.range[1] == np.inf else []))


def asked(path, name):
    """Yield what is asked of a path, and how."""
    t = points_of(path)
    targets = NEW_U if name in REGRESSIONS else np.where(NEW_U > 0, 1.0, -1.0)
    targets = np.clip(np.round(NEW_U), 0, 2) if name in ("ordinal", "multicategory") else targets
    targets = np.arange(9) % 4 if name == "poisson" else targets
    yield "range", lambda: [v if np.isfinite(v) else -1.0 for v in path.range]
    yield "at", lambda: t
    for what in ("coef", "intercept", "dual", "free", "expansion"):
        yield what, lambda what=what: getattr(path, what)(t)
    yield "one coef", lambda: path.coef(float(t[1]))
    yield "one dual", lambda: path.dual(float(t[1]))
    for what in ("decision_function", "predict", "mean"):
        yield what, lambda what=what: np.asarray(getattr(path, what)(NEW, t), dtype=float)
    yield "crossings", lambda: np.concatenate([*path.crossings(NEW), [0.0]])
    yield "positive_length", lambda: positive_length(path, NEW)
    yield "error_steps", lambda: np.concatenate([np.ravel(v) for v in finite_steps(path, targets)])
    yield "outliers", lambda: [path.outliers(v).sum() for v in t]
    yield "objective_value", lambda: [path.objective_value(v) for v in t]
    yield "jumps", lambda: [v for j in path.jumps for v in (j.parameter, j.before, j.after)]
    for metric in ("zero_one", "squared", "absolute"):
        for weights in (None, np.arange(1.0, 10.0)):
            key = f"{metric}{'' if weights is None else ', weighted'}"
            yield key, lambda m=metric, s=weights: curve_of(path, targets, m, s, t)
    yield "certificate", lambda: certificate_of(path)


REGRESSIONS = (
    *("weighted SVR", "lasso", "DrLAD", "DrLAD in lam2", "any loss", "outliers of targets"),
    "outliers of targets in s",
    *("elastic net", "Huber", "rlad", "svr in epsilon", "kernel quantile"),
    *("linear quantile", "linear quantile, l1", "quantiles together"),
)


def finite_steps(path, targets):
    """Return where errors change and what they are."""
    curve = path.error_curve(NEW, targets, "zero_one")
    return curve.edges[np.isfinite(curve.edges)], curve.left


def curve_of(path, targets, metric, weights, t):
    """Return an error's curve at some points, and its best."""
    curve = path.error_curve(NEW, targets, metric=metric, sample_weight=weights)
    best = path.best(NEW, targets, metric=metric, sample_weight=weights)
    ends = [v for v in np.ravel(best.intervals) if np.isfinite(v)]
    return [*curve(t), best.parameter, best.value, *ends]


def certificate_of(path):
    """Return what does not depend on rounding: that it holds."""
    found = path.certify(8, 1)
    return [found.ok, found.status == "holds", found.reliable]


def readings_of(name):
    """Return all that a path says; what it refuses is none."""
    path, found = path_of(name), {}
    for what, ask in asked(path, name):
        try:
            found[f"{name} | {what}"] = digest(ask())
        except (AttributeError, TypeError, ValueError, NotImplementedError):
            found[f"{name} | {what}"] = []
    return found


@pytest.mark.parametrize("name", PATHS)
def test_what_a_path_says_is_known(name):
    found = readings_of(name)
    assert_same(found, "paths")


# ---------------------------------------------------------------- surfaces

SURFACES = {
    "DrLAD": lambda: sp.drlad_grid(X, U, [0.2, 0.5, 1.0], [0.1, 1.0]),
    "double margin": lambda: sp.dm_drsvm_grid(X, Y, 2.5, [0.02, 0.1], [0.1, 1.0]),
    "lines": lambda: sp.path_lines(
        lambda lam2: sp.elastic_net_path(X, U, lam2=lam2), "lam2", [0.5, 2.0]
    ),
}


def surface_of(name):
    """Return what a surface says at its grid and along its lines."""
    own = SURFACES[name]()
    t = points_of(own.paths[1])[:4]
    targets = np.where(NEW_U > 0, 1.0, -1.0) if name == "double margin" else NEW_U
    asked = {"fixed": lambda: own.fixed_values, "best": lambda: own.best(NEW, targets)[:4]}
    for k, curve in enumerate(own.error(NEW, targets)):
        asked[f"error of line {k}"] = lambda c=curve: [c.best().value, c.best().parameter]
    if own.values is not None:
        asked |= {what: getattr(own, what) for what in ("coefs", "intercepts")}
        asked["coefs between"] = lambda: own.coefs(t)
        asked["intercepts between"] = lambda: own.intercepts(t)
        for what in ("coef", "intercept"):
            asked[what] = lambda what=what: getattr(own, what)(1, t)
        asked["decisions"] = lambda: own.decision_function(1, NEW, t)
        asked["objective"] = lambda: [own.objective(i, v) for i in (0, 1) for v in t]
    return {f"{name} | {what}": digest(ask()) for what, ask in asked.items()}


@pytest.mark.parametrize("name", SURFACES)
def test_what_a_surface_says_is_known(name):
    found = surface_of(name)
    assert_same(found, "surfaces")


# ---------------------------------------------------------------- estimators


def fitted_numbers(name):
    """Return what an estimator holds after it was fitted, and what it predicts."""
    make, found = getattr(sp, name), {}
    told = make().get_params(deep=False)
    for case, options in (("by default", {}), ("cv", {"cv": 3})):
        if not set(options) <= set(told):
            continue
        model = make(**options)
        y = CLASSES if name == "PathSVOR" else Y if is_classifier(model) else U
        y = COUNTS if name == "PathPoissonRegressor" else y
        model = model.fit(X) if name == "PathOneClassSVM" else model.fit(X, y)
        for key, value in sorted(vars(model).items()):
            number = isinstance(value, (int, float, np.ndarray, np.number))
            if key.endswith("_") and number and np.asarray(value).dtype.kind in "fi":
                found[f"{name}, {case} | {key}"] = digest(np.nan_to_num(value, posinf=-1.0))
        for what in ("predict", "decision_function", "predict_proba"):
            if hasattr(model, what):
                found[f"{name}, {case} | {what}"] = digest(getattr(model, what)(NEW))
    return found


@pytest.mark.parametrize("name", ESTIMATORS)
def test_what_an_estimator_finds_is_known(name):
    found = fitted_numbers(name)
    assert len(found) >= 3
    assert_same(found, "estimators")
