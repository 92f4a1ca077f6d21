"""Arguments that estimators share: progress, ranges of the parameter, signs, factors, bounds."""

import inspect

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.linear_model import ElasticNet, Lasso
from sklearn.model_selection import KFold

import solution_paths
from helpers.estimators import ESTIMATORS, FAST, fitted, targets_of
from helpers.known import CLASSES, U, X, Y

pytestmark = pytest.mark.slow

WEIGHTS = np.random.default_rng(0).integers(0, 4, 30).astype(float)


def into(told):
    """Return a callback that writes down what it is told."""
    return lambda *own: told.append(own)


def stop(done, events):
    raise RuntimeError("enough")


@pytest.mark.parametrize("name", ESTIMATORS)
def test_progress_is_told(name):
    make = getattr(solution_paths, name)
    several = [None]
    if is_classifier(make()) and name not in ("PathNuSVC", "PathLogisticRegression", "PathSVOR"):
        several.append(CLASSES)
    for y in several:
        for cv in (None, 3) if hasattr(make(), "cv") else (None,):
            told = []
            options = {} if cv is None else {"cv": cv}
            model = fitted(make, y, callback=into(told), **options)
            done, events = ([own[k] for own in told] for k in (0, 1))
            assert done == sorted(done)
            assert done[-1] == pytest.approx(1.0)
            assert events == sorted(events)
            paths = model.path_ if isinstance(model.path_, list) else [model.path_]
            if cv is None and name not in FAST:
                assert events[-1] == sum(path.diagnostics["events"] for path in paths)
            if cv is not None:
                assert len([share for share in done if share > 0.26]) >= 3
            assert "_progress" not in vars(model)
    with pytest.raises(RuntimeError, match="enough"):
        fitted(make, callback=stop)
    with pytest.raises(TypeError, match="callback must be callable"):
        fitted(make, callback=1)


def test_folds_in_other_processes_tell_here():
    told = []
    model = solution_paths.PathSVC(cv=3, n_jobs=2, callback=into(told))
    model.fit(X, Y)
    assert told[-1][0] == 1.0
    assert model.C_ == solution_paths.PathSVC(cv=3).fit(X, Y).C_


# name: the limit, its value, the parameter that lies inside, and one that doesn't
LIMITS = {
    "PathSVC": ("C_max", 5.0, 4.0, 6.0),
    "L1SVC": ("lam_min", 0.5, 1.0, 0.4),
    "PathLasso": ("alpha_min", 0.07, 0.1, 0.06),
    "PathElasticNet": ("lam1_min", 0.5, 1.0, 0.4),
    "HuberPath": ("lam_min", 0.5, 1.0, 0.4),
    "PathSVR": ("C_max", 5.0, 4.0, 6.0),
    "KernelQuantileRegressor": ("lam_min", 0.05, 0.1, 0.04),
    "PathQuantileRegressor": ("lam_min", 0.05, 0.1, 0.04),
    "PathSVOR": ("C_max", 5.0, 4.0, 6.0),
    "PathNuSVC": ("nu_max", 0.5, 0.4, 0.6),
    "PathOneClassSVM": ("nu_min", 0.3, 0.4, 0.2),
    "DrLAD": ("s_max", 1.0, 0.7, 1.1),
    "DmKSVC": ("lam_min", 0.05, 0.1, 0.04),
    "DmDrSVC": ("lam1_min", 0.05, 0.1, 0.04),
    "PathLogisticRegression": ("lam_min", 0.5, 1.0, 0.4),
    "PathPoissonRegressor": ("lam_min", 0.5, 1.0, 0.4),
}


@pytest.mark.parametrize("name", LIMITS)
def test_a_path_goes_as_far_as_is_said(name):
    make = getattr(solution_paths, name)
    limit, value, inside, outside = LIMITS[name]
    parameter = next(iter(inspect.signature(make).parameters))
    whole = fitted(make, **{parameter: inside})
    part = fitted(make, **{parameter: inside, limit: value})
    near = 0.05 if name in FAST else 1e-7
    np.testing.assert_allclose(part.predict(X), whole.predict(X), atol=near)
    fitted(make, **{parameter: value, limit: value})
    with pytest.raises(ValueError, match=f"{parameter} must be"):
        fitted(make, **{parameter: outside, limit: value})
    with pytest.raises(ValueError, match=f"{limit} must be"):
        fitted(make, **{limit: -1.0})
    if hasattr(make(), "cv"):
        chosen = getattr(fitted(make, **{limit: value, "cv": KFold(3)}), f"{parameter}_")
        assert chosen <= value if limit.endswith("max") else chosen >= value


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weights"])
def test_positive_coefficients_are_those_of_scikit_learn(weights):
    tight = {"positive": True, "tol": 1e-14, "max_iter": 100_000}
    own = solution_paths.PathLasso(0.05, positive=True).fit(X, U, sample_weight=weights)
    other = Lasso(0.05, **tight).fit(X, U, sample_weight=weights)
    np.testing.assert_allclose(own.coef_, other.coef_, atol=1e-6)
    n = 30.0 if weights is None else weights.sum()
    own = solution_paths.PathElasticNet(0.05 * n, lam2=0.2 * n, positive=True)
    own.fit(X, U, sample_weight=weights)
    other = ElasticNet(0.25, l1_ratio=0.2, **tight).fit(X, U, sample_weight=weights)
    np.testing.assert_allclose(own.coef_, other.coef_, atol=1e-6)
    assert own.intercept_ == pytest.approx(other.intercept_, abs=1e-6)


@pytest.mark.parametrize("name", ["PathLasso", "PathElasticNet", "HuberPath", "L1SVC"])
def test_bounds_and_factors_hold_in_estimators(name):
    make = getattr(solution_paths, name)
    own = {"bounds": (-0.1, [0.2, 0.3, np.inf, 0.0]), "penalty_factor": [0.0, 1.0, 2.0, 1.0]}
    model = fitted(make, cv=3, **own)
    w = np.ravel(model.coef_)
    assert (w >= -0.1 - 1e-12).all()
    assert (w <= np.array([0.2, 0.3, np.inf, 0.0]) + 1e-12).all()
    assert model.path_.certify(5).ok
    with pytest.raises(ValueError, match="penalty_factor has shape"):
        fitted(make, penalty_factor=[1.0])
    with pytest.raises(ValueError, match="bounds must be a pair"):
        fitted(make, bounds=1.0)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_whole_weight_is_as_many_rows(name):
    make = getattr(solution_paths, name)
    y, times = targets_of(make), WEIGHTS.astype(int)
    rows = np.repeat(np.arange(30), times)
    own, other = (make(**FAST.get(name, {})) for _ in range(2))
    own.fit(X, y, sample_weight=WEIGHTS), other.fit(X[rows], y[rows])
    what = "decision_function" if hasattr(own, "decision_function") else "predict"
    found = [getattr(model, what)(X) for model in (own, other)]
    np.testing.assert_allclose(*found, atol=0.05 if name in FAST else 1e-7)
